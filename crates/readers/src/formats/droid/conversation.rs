//! What Droid's lines mean.
//!
//! Prompts begin with reminders of the program, some in blocks of their own and some before the person's words.
//! Notices are written as messages of the person that only the person, or only the model, is shown.

use super::AGENT;
use crate::beside;
use crate::blocks::{Block, Blocks, message};
use crate::journal::{Records, Stop, Took};
use crate::lenient::{Flag, Object, Words};
use crate::log::{Placement, SessionLog};
use crate::telling::{Telling, hash_of};
use crate::tree::{Follows, Tree};
use crate::window::Anchor;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};

/// Lines that hold no part of the conversation.
const BOOKKEEPING: &[&str] = &["todo_state", "session_end"];
/// The title of a session that has none.
const UNTITLED: &str = "New Session";
const REMINDER: &str = "<system-reminder>";
const REMINDER_END: &str = "</system-reminder>";
/// Stands in a reminder before the branch.
const BRANCH: &str = "% git rev-parse --abbrev-ref HEAD\n";

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    tree: Tree,
    /// A message named its model, which the settings do not know better.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    model_is_told: bool,
}

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    parent_id: Follows<'a>,
    #[serde(borrow)]
    timestamp: Words<'a>,
    #[serde(borrow)]
    message: Object<Said<'a>>,
    #[serde(borrow)]
    title: Words<'a>,
    #[serde(borrow)]
    session_title: Words<'a>,
    is_session_title_manually_set: Flag,
    #[serde(borrow)]
    cwd: Words<'a>,
    /// The session that was forked.
    #[serde(borrow)]
    parent: Words<'a>,
    /// The session that delegated to this one.
    #[serde(borrow)]
    calling_session_id: Words<'a>,
    /// The part that a session has in a mission.
    #[serde(borrow)]
    decomp_session_type: Words<'a>,
    #[serde(borrow)]
    summary_text: Words<'a>,
    #[serde(borrow)]
    anchor_message: Object<Kept<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow)]
    role: Words<'a>,
    #[serde(borrow)]
    content: Blocks<'a>,
    #[serde(borrow)]
    model_id: Words<'a>,
    #[serde(borrow)]
    visibility: Words<'a>,
}

/// The message that a compaction kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Kept<'a> {
    #[serde(borrow)]
    id: Words<'a>,
}

impl Records for Conversation {
    type Record<'a> = Line<'a>;

    fn session_id(&mut self, line: &Line<'_>, file: &SourceFile) -> Option<String> {
        let stem = || {
            file.path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        match line.kind.get() {
            "session_start" if !line.id.get().trim().is_empty() => Some(line.id.get().to_owned()),
            "session_start" => Some(stem()),
            // The first line is damaged.
            "message" => line.message.0.as_ref().map(|_| stem()),
            _ => None,
        }
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Settings {
            model: Option<String>,
        }
        let settings: Option<Settings> = beside::json(&file.path.with_extension("settings.json"));
        if let Some(model) = settings.and_then(|settings| settings.model)
            && !self.model_is_told
        {
            log.facts().model = Some(model);
        }
    }

    fn take(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        match line.kind.get() {
            "session_start" => {
                take_header(&line, log);
                Ok(Took::Bookkeeping)
            }
            "message" => self.message(line, log),
            "compaction_state" => self.compaction(&line, log),
            kind if BOOKKEEPING.contains(&kind) => Ok(Took::Bookkeeping),
            "" => Ok(Took::Unknown("(none)".to_owned())),
            other => Ok(Took::Unknown(other.to_owned())),
        }
    }

    fn pause(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        // Every start of the program leaves a session, whether or not anything is asked of it.
        let facts = log.facts();
        facts.hidden = facts.message_count() == 0;
        Ok(())
    }
}

fn take_header(line: &Line<'_>, log: &mut SessionLog<'_>) {
    let facts = log.facts();
    let (title, first) = (line.session_title.get(), line.title.get());
    if title != UNTITLED {
        let rank = if line.is_session_title_manually_set.0 {
            TitleRank::Custom
        } else {
            TitleRank::Given
        };
        facts.offer_title(title, rank);
    }
    if first != UNTITLED && !first.trim_start().starts_with(REMINDER) {
        facts.offer_title(first, TitleRank::Prompt);
    }
    let said = |words: &Words<'_>| {
        words
            .0
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    facts.cwd = said(&line.cwd).or(facts.cwd.take());
    facts.forked_from = said(&line.parent).or(facts.forked_from.take());
    facts.agent_type = said(&line.decomp_session_type).or(facts.agent_type.take());
    if let Some(caller) = said(&line.calling_session_id) {
        facts.kind = SessionKind::Subagent;
        facts.parent = Some(caller);
    }
}

impl Conversation {
    fn message(&mut self, line: Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let Some(said) = line.message.0 else {
            return Ok(Took::Unknown("message without a body".to_owned()));
        };
        if !matches!(said.role.get(), "user" | "assistant") {
            return Ok(Took::Unknown(format!("message/{}", said.role.get())));
        }
        if !said.model_id.get().is_empty() {
            log.facts().model = Some(said.model_id.get().to_owned());
            self.model_is_told = true;
        }
        let time = Timestamp::parse(line.timestamp.get());
        let id = line
            .id
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        let follows = line.parent_id;
        let before = log.surface().current().last().copied();
        let mut telling = Telling::new(AGENT, log, time);
        let parts = Parts::of(&said, id.as_deref());
        if let Some(id) = &id {
            // A notice about a message may have the message's id.
            if self.tree.knows(id, &follows, time)? {
                telling.part = format!("#{:x}", parts.hash());
            } else if !parts.own.is_empty() && !parts.is_notice {
                telling.placement = self.tree.place(&follows, telling.log.surface())?;
            }
        }
        telling.id.clone_from(&id);
        if said.role.get() == "assistant" {
            reply(&said, &mut telling)?;
        } else {
            parts.tell(&mut telling)?;
        }
        if let Some(id) = &id {
            let told = log.surface().current().last().copied() != before;
            self.tree.add(id, &follows, time, (told, log.surface()));
        }
        Ok(Took::Record)
    }

    /// A summary takes the place of what was said before the message that is kept.
    fn compaction(&mut self, line: &Line<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let kept = line.anchor_message.0.as_ref().map_or("", |kept| kept.id.get());
        let surface = log.surface();
        let at = match self.tree.event_of(kept) {
            Anchor::Forgotten if !kept.is_empty() => return Err(Stop::Stale),
            Anchor::Event(seq) => surface.position(seq),
            _ => None,
        };
        let last = at
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| surface.current().get(at));
        let range = surface.current().first().zip(last);
        let placement = range.map_or(Placement::ReplaceAll, |(&first, &last)| {
            Placement::ReplaceRange(first, last)
        });
        log.facts().compactions += 1;
        let mut telling = Telling::new(AGENT, log, Timestamp::parse(line.timestamp.get()));
        telling.id = line.id.0.as_deref().map(str::to_owned);
        let summary = Message::text(line.summary_text.get()).from_source("compaction");
        telling.place(EventData::ContextMessage(summary), placement)?;
        Ok(Took::Record)
    }
}

fn reply(said: &Said<'_>, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
    let message = said.content.message().unwrap_or_default();
    let data = EventData::AssistantMessage(message);
    if said.visibility.get() == "user_only" {
        telling.aside(data)?;
    } else {
        telling.event(data)?;
    }
    Ok(())
}

/// A message of the person taken apart.
#[derive(Default)]
struct Parts {
    /// The person's words.
    own: Vec<ContentBlock>,
    /// The program's.
    reminders: Vec<ContentBlock>,
    answers: Vec<ToolResult>,
    /// It is the program's, although it stands as the person's.
    is_notice: bool,
    /// The model is not sent it.
    is_hidden: bool,
}

impl Parts {
    fn of(said: &Said<'_>, id: Option<&str>) -> Self {
        let visibility = said.visibility.get();
        let mut parts = Self {
            is_notice: matches!(visibility, "user_only" | "llm_only")
                || id.is_some_and(|id| id.starts_with("context-")),
            is_hidden: visibility == "user_only",
            ..Self::default()
        };
        for block in &said.content.0 {
            if block.is_answer() {
                parts.answers.push(answer(block));
            } else {
                parts.block(block);
            }
        }
        parts
    }

    fn block(&mut self, block: &Block<'_>) {
        let text = block.text.get();
        let Some(start) = text
            .find(REMINDER)
            .filter(|_| text.trim_start().starts_with(REMINDER))
        else {
            self.own.extend(block.content());
            return;
        };
        // Reminders may have others in them, so that the last end counts.
        let end = text
            .rfind(REMINDER_END)
            .map_or(text.len(), |at| at + REMINDER_END.len());
        let (reminder, own) = text.split_at_checked(end).unwrap_or((text, ""));
        let reminder = reminder.get(start..).unwrap_or_default();
        self.reminders.push(ContentBlock::text(reminder));
        if !own.trim().is_empty() {
            self.own.push(ContentBlock::text(own.trim_start()));
        }
    }

    fn hash(&self) -> u64 {
        let answers = self.answers.iter().flat_map(|answer| &answer.content);
        let content = self.own.iter().chain(&self.reminders).chain(answers);
        hash_of(&content.cloned().collect::<Vec<_>>())
    }

    fn tell(self, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
        let (is_notice, is_hidden) = (self.is_notice, self.is_hidden);
        let mut tell = |data| match is_hidden {
            true => telling.aside(data),
            false => telling.event(data),
        };
        for answer in self.answers {
            tell(EventData::ToolResult(answer))?;
        }
        if let Some(own) = message(self.own) {
            tell(if is_notice {
                EventData::ContextMessage(own.from_source("notice"))
            } else {
                EventData::UserMessage(own)
            })?;
        }
        let branch = self.reminders.iter().find_map(branch);
        if let Some(reminders) = message(self.reminders) {
            tell(EventData::ContextMessage(reminders.from_source("reminder")))?;
        }
        if branch.is_some() {
            telling.log.facts().branch = branch;
        }
        Ok(())
    }
}

fn answer(block: &Block<'_>) -> ToolResult {
    ToolResult {
        call_id: block.call_id().to_owned(),
        content: block.content.content(),
        is_error: block.is_error.0,
        ..ToolResult::default()
    }
}

/// The branch that a reminder names.
fn branch(reminder: &ContentBlock) -> Option<String> {
    let ContentBlock::Text { text } = reminder else {
        return None;
    };
    let (_, after) = text.split_once(BRANCH)?;
    let name = after.lines().next()?.trim();
    let is_name = !name.is_empty() && name != "HEAD" && !name.contains([' ', '%']);
    is_name.then(|| name.to_owned())
}
