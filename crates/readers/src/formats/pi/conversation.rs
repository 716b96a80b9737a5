//! What the records of Pi mean, and of its descendants.
//!
//! Entries hang in a tree, and branches that were left stay in the file; the first version had neither ids nor
//! branches. A fork begins with the entries of the session it was forked from, which are older than itself.

use super::record::{Entry, Said};
use crate::blocks::{Blocks, message};
use crate::journal::{Records, Stop, Took};
use crate::log::{Placement, SessionLog};
use crate::telling::{Chain, Telling, content_of, hash_of};
use crate::tree::Tree;
use crate::window::Anchor;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult, TurnEnd, TurnEndReason};
use lookback_model::facts::TitleRank;
use lookback_model::session::SessionKind;
use lookback_model::{SourceFile, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Entries that hold no part of the conversation.
const BOOKKEEPING: &[&str] = &[
    "thinking_level_change",
    "label",
    "custom",
    "mode_change",
    "service_tier_change",
    "session_init",
];

/// A session as far as it was read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::formats) struct Conversation {
    tree: Tree,
    /// A title that came before the session's header.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<(String, bool)>,
    /// Entries so far, the header included, by which the first versions count.
    entries: u64,
    /// When the session began that copied another.
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_at: Option<Timestamp>,
    /// Key of the last message of a version without ids.
    #[serde(skip_serializing_if = "Chain::is_empty")]
    chain: Chain,
    #[serde(skip)]
    agent: String,
    /// The first events of the entries of this read.
    #[serde(skip)]
    places: Vec<(u64, u64)>,
    /// Entries before this read.
    #[serde(skip)]
    read_before: u64,
}

impl Records for Conversation {
    type Record<'a> = Entry<'a>;

    fn session_id(&mut self, entry: &Entry<'_>, file: &SourceFile) -> Option<String> {
        match entry.kind.get() {
            "session" => {
                let id = entry.id.get().trim();
                Some(if id.is_empty() {
                    id_in_name(&file.path)
                } else {
                    id.to_owned()
                })
            }
            "title" => {
                let by_person = entry.source.get() == "user";
                self.title = Some((entry.title.get().to_owned(), by_person));
                None
            }
            // The header is damaged, or it is no session.
            "message" => entry.message.0.as_ref().map(|_| id_in_name(&file.path)),
            _ => None,
        }
    }

    fn look_around(&mut self, file: &SourceFile, log: &mut SessionLog<'_>) {
        self.agent.clone_from(&file.agent);
        self.read_before = self.entries;
        if let Some((title, by_person)) = self.title.take() {
            offer_title(log, &title, by_person);
        }
        if let Some(parent) = delegating_session(file) {
            let facts = log.facts();
            facts.kind = SessionKind::Subagent;
            facts.parent = Some(parent);
        }
    }

    fn take(&mut self, entry: Entry<'_>, log: &mut SessionLog<'_>) -> Result<Took, Stop> {
        let number = self.entries;
        self.entries += 1;
        let time = entry.time();
        let id = entry
            .id
            .0
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(str::to_owned);
        if entry.kind.get() == "session" {
            self.header(&entry, log);
            return Ok(Took::Bookkeeping);
        }
        if let Some(id) = &id
            && self.tree.knows(id, &entry.parent_id, time)?
        {
            return Ok(Took::Bookkeeping);
        }
        let follows = entry.parent_id.clone();
        let agent = std::mem::take(&mut self.agent);
        let before = (log.next_seq(), log.surface().current().last().copied());
        let mut telling = Telling::new(&agent, log, time);
        telling.id.clone_from(&id);
        let placed = self.tree.place(&follows, telling.log.surface());
        let took = placed.and_then(|placement| {
            telling.placement = placement;
            self.entry(entry, &mut telling)
        });
        self.agent = agent;
        let took = took?;
        if log.next_seq() > before.0 {
            self.places.push((number, before.0));
            if self
                .forked_at
                .is_some_and(|forked| time.is_some_and(|time| time < forked))
            {
                log.seed_ends_here();
            }
        }
        if let Some(id) = &id {
            let told = log.surface().current().last().copied() != before.1;
            self.tree.add(id, &follows, time, (told, log.surface()));
        }
        Ok(took)
    }

    fn pause(&mut self, log: &mut SessionLog<'_>) -> Result<(), Stop> {
        // Every start of the program leaves a session, whether or not anything is asked of it.
        let facts = log.facts();
        facts.hidden = facts.message_count() == 0;
        Ok(())
    }
}

impl Conversation {
    fn header(&mut self, entry: &Entry<'_>, log: &mut SessionLog<'_>) {
        let time = Timestamp::parse(entry.timestamp.get());
        if let Some(time) = time {
            log.saw_time(time);
        }
        offer_title(log, entry.title.get(), false);
        let facts = log.facts();
        let cwd = entry.cwd.get();
        if !cwd.is_empty() {
            facts.cwd = Some(cwd.to_owned());
        }
        if !entry.model_id.get().is_empty() {
            facts.model = Some(entry.model_id.get().to_owned());
        }
        let origin = [&entry.parent_session, &entry.branched_from];
        let origin = origin
            .into_iter()
            .map(|path| path.get())
            .find(|path| !path.is_empty());
        if let Some(origin) = origin {
            // Paths of any system.
            let name = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
            facts.forked_from = Some(id_in_name(Path::new(name)));
            self.forked_at = time;
        }
    }

    fn entry(&mut self, entry: Entry<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
        match entry.kind.get() {
            "message" => {
                let Some(said) = entry.message.0 else {
                    return Ok(Took::Unknown("message without a body".to_owned()));
                };
                return self.message(said, telling);
            }
            "custom_message" => {
                let said = entry.content.message();
                if let Some(message) = said {
                    let message = message.from_source(entry.custom_type.get());
                    self.tell(EventData::ContextMessage(message), telling)?;
                }
            }
            "branch_summary" => self.summary(entry.summary.get(), "branch", telling)?,
            "compaction" => self.compaction(&entry, telling)?,
            "session_info" => {
                offer_title(telling.log, entry.name.get(), true);
                mark_delegated(entry.name.get(), telling.log);
            }
            "title" | "title_change" => {
                offer_title(telling.log, entry.title.get(), entry.source.get() == "user")
            }
            "model_change" => {
                let model = [&entry.model_id, &entry.model].map(|model| model.get());
                if let Some(model) = model.into_iter().find(|model| !model.is_empty()) {
                    telling.log.facts().model = Some(model.to_owned());
                }
                return Ok(Took::Bookkeeping);
            }
            kind if BOOKKEEPING.contains(&kind) => return Ok(Took::Bookkeeping),
            "" => return Ok(Took::Unknown("(none)".to_owned())),
            other => return Ok(Took::Unknown(other.to_owned())),
        }
        Ok(Took::Record)
    }

    fn message(&mut self, said: Said<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
        let data = match said.role.get() {
            "user" if said.attribution.get() == "agent" => context(&said.content, "agent"),
            "user" => said.content.message().map(EventData::UserMessage),
            "assistant" => return self.reply(&said, telling),
            "toolResult" => Some(EventData::ToolResult(ToolResult {
                call_id: said.tool_call_id.get().to_owned(),
                content: said.content.content(),
                is_error: said.is_error.0,
                ..ToolResult::default()
            })),
            "bashExecution" => {
                let texts = [said.command.get(), said.output.get()];
                let content = texts.map(ContentBlock::text).to_vec();
                let message = Message {
                    content,
                    ..Message::default()
                }
                .from_source("bash");
                if said.exclude_from_context.0 {
                    telling.aside(EventData::ContextMessage(message))?;
                    return Ok(Took::Record);
                }
                Some(EventData::ContextMessage(message))
            }
            "branchSummary" => {
                return self
                    .summary(said.summary.get(), "branch", telling)
                    .map(|()| Took::Record);
            }
            "compactionSummary" => {
                return self
                    .summary(said.summary.get(), "compaction", telling)
                    .map(|()| Took::Record);
            }
            "custom" | "hookMessage" => context(&said.content, said.custom_type.get()),
            other => return Ok(Took::Unknown(format!("message/{other}"))),
        };
        if let Some(data) = data {
            self.tell(data, telling)?;
        }
        Ok(Took::Record)
    }

    fn reply(&mut self, said: &Said<'_>, telling: &mut Telling<'_, '_>) -> Result<Took, Stop> {
        if !said.model.get().is_empty() {
            telling.log.facts().model = Some(said.model.get().to_owned());
        }
        // An empty reply counts: it says why it is empty.
        let message = said.content.message().unwrap_or_default();
        self.tell(EventData::AssistantMessage(message), telling)?;
        let why = said.stop_reason.get();
        if matches!(why, "error" | "aborted") {
            let detail = said.error_message.get();
            let reason = TurnEndReason {
                kind: why.to_owned(),
                message: (!detail.is_empty()).then(|| detail.to_owned()),
                ..TurnEndReason::default()
            };
            telling.aside(EventData::TurnEnd(TurnEnd { turn: None, reason }))?;
        }
        Ok(Took::Record)
    }

    fn summary(&mut self, text: &str, source: &str, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let message = Message::text(text).from_source(source);
        self.tell(EventData::ContextMessage(message), telling)
    }

    /// A summary takes the place of what was said before the first entry that is kept.
    fn compaction(&mut self, entry: &Entry<'_>, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
        let kept = match &entry.first_kept_entry_id.0 {
            Some(id) => match self.tree.event_of(id) {
                Anchor::Event(seq) => Some(seq),
                Anchor::Forgotten => return Err(Stop::Stale),
                Anchor::Start => None,
            },
            None => self.first_event_from(entry.first_kept_entry_index.0)?,
        };
        let surface = telling.log.surface();
        let position = kept.and_then(|seq| surface.position(seq));
        let current = surface.current();
        let placement = match position {
            None => Placement::ReplaceAll,
            Some(at) => {
                let last = at.checked_sub(1).and_then(|at| current.get(at));
                let range = current.first().zip(last);
                range.map_or(Placement::LogOnly, |(&first, &last)| {
                    Placement::ReplaceRange(first, last)
                })
            }
        };
        telling.log.facts().compactions += 1;
        telling.placement = Placement::Append;
        let message = Message::text(entry.summary.get()).from_source("compaction");
        telling.place(EventData::ContextMessage(message), placement)?;
        Ok(())
    }

    /// The first event of the entry of a number, or after it.
    fn first_event_from(&self, number: Option<u64>) -> Result<Option<u64>, Stop> {
        let Some(number) = number else {
            return Ok(None);
        };
        if number < self.read_before {
            return Err(Stop::Stale);
        }
        let at = self.places.partition_point(|&(entry, _)| entry < number);
        Ok(self.places.get(at).map(|&(_, seq)| seq))
    }

    fn tell(&mut self, data: EventData, telling: &mut Telling<'_, '_>) -> Result<(), Stop> {
        if telling.id.is_some() {
            // Ids are short, so that two sessions may have the same one by chance.
            telling.part = format!("#{:x}", hash_of(content_of(&data)));
            telling.event(data)?;
        } else {
            telling.chained(data, &mut self.chain)?;
        }
        Ok(())
    }
}

fn context(content: &Blocks<'_>, source: &str) -> Option<EventData> {
    message(content.content()).map(|message| EventData::ContextMessage(message.from_source(source)))
}

fn offer_title(log: &mut SessionLog<'_>, title: &str, by_person: bool) {
    let rank = if by_person {
        TitleRank::Custom
    } else {
        TitleRank::Given
    };
    log.facts().offer_title(title, rank);
}

/// Extensions that delegate name the session of a run `subagent-<role>-<run>-<number>`.
fn mark_delegated(name: &str, log: &mut SessionLog<'_>) {
    let Some(rest) = name.strip_prefix("subagent-") else {
        return;
    };
    let mut parts = rest.rsplitn(3, '-');
    let (Some(number), Some(run), Some(role)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let is_run = run.len() == 8 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_run && number.bytes().all(|byte| byte.is_ascii_digit()) {
        let facts = log.facts();
        facts.kind = SessionKind::Subagent;
        facts.agent_type = Some(role.to_owned());
    }
}

/// The id in a file's name, `<time>_<id>`.
fn id_in_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = stem.split_once('_').map_or(&*stem, |(_, id)| id);
    id.to_owned()
}

/// The session whose folder of artifacts a file lies in: a folder beside the session's file, of its name.
fn delegating_session(file: &SourceFile) -> Option<String> {
    let below = file.path.strip_prefix(&file.root).ok()?;
    let mut folders = below.parent()?.components().map(|part| part.as_os_str());
    let name = folders.find_map(|folder| {
        let name = folder.to_str()?;
        let (time, id) = name.split_once('_')?;
        (time.ends_with('Z') && time.starts_with("20")).then_some(id)
    })?;
    Some(name.to_owned())
}
