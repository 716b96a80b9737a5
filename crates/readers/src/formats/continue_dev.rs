//! Continue, in editors and as the command `cn`: one JSON document a session, rewritten whole at every step,
//! and a list of all of them, which alone knows when a session began.

use crate::document::{self, Document, items, no_session, text, words};
use crate::log::{Draft, Placement, SessionLog};
use crate::vscode;
use crate::walk::{Class, Walk};
use lookback_model::copies::chained_key;
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use lookback_model::facts::TitleRank;
use lookback_model::source::{
    Discovery, EventSink, FileRole, IssueCode, RawWords, ReadCursor, ReadError, ReadOutcome, ResumeCommand,
    SinkClosed, SourceFile,
};
use lookback_model::{Environment, SessionFacts, SessionHeader, SessionSource, Timestamp};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads Continue's sessions.
pub struct Continue;

const AGENT: &str = "continue";
const LIST: &str = "sessions.json";

/// Members that are long and repeat what stands elsewhere: whole prompts, attached files, the editor's own form
/// of what was typed.
const SKIPPED: &[&str] = &["promptLogs", "contextItems", "editorState", "parsedArgs"];

/// What a session is called before it has a title.
const PLACEHOLDERS: &[&str] = &["Untitled Session", "New Session"];

impl SessionSource for Continue {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let moved = environment.variable("CONTINUE_GLOBAL_DIR").map(PathBuf::from);
        let folder = moved.unwrap_or_else(|| environment.home.join(".continue"));
        vec![folder.join("sessions")]
    }

    fn discover(&self, root: &Path, found: &mut Discovery) {
        // The list may lack sessions, or be emptied, so it is not what says which there are.
        Walk {
            agent: AGENT,
            root,
            depth: 0,
            classify: &|path| match path.extension() {
                Some(extension) if extension == "json" && path != Path::new(LIST) => {
                    Class::File(FileRole::Transcript)
                }
                _ => Class::Other,
            },
            enter: &|_| false,
        }
        .run(found);
    }

    fn read(
        &self,
        file: &SourceFile,
        cursor: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        document::refuse(file, cursor)?;
        let session = Document::read(&file.path, SKIPPED)?;
        let root = &session.root;
        if !root.get("history").is_some_and(Value::is_array) {
            return Err(no_session(
                &file.path,
                IssueCode::NoSessionHeader,
                "it holds no history",
            ));
        }
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        let id = words(root, "sessionId").unwrap_or(&stem);
        let mut account = session.account();
        let mut talk = Talk {
            log: SessionLog::begin(sink, id, None)?,
            chain: chained_key(0, "agent", AGENT),
            time: began(&file.path, id).unwrap_or_else(|| file.stamp.modified()),
            reasoning: Vec::new(),
            answered: answered(root),
        };
        take_facts(root, talk.log.facts());
        let history = items(root, "history");
        for (at, item) in history.iter().enumerate() {
            account.lines += 1;
            if item.get("message").is_some_and(Value::is_object) {
                account.records += 1;
                talk.item(item)?;
            } else {
                account.lost += 1;
                account.note(at as u64 + 1, IssueCode::NotARecord, "not a message");
            }
        }
        session.account_for_end(history.len(), &mut account);
        talk.log.saw_time(talk.time);
        talk.log.saw_time(file.stamp.modified().max(talk.time));
        talk.log.finish()?;
        Ok(document::outcome(account))
    }

    fn raw_words(&self, _: &SourceFile) -> RawWords {
        RawWords {
            is_json: true,
            added: &[],
        }
    }

    fn resume(&self, session: &SessionHeader, facts: &SessionFacts) -> Option<ResumeCommand> {
        // Only the last session can be gone on with; any can be copied and gone on with.
        Some(ResumeCommand {
            arguments: ["cn", "--fork", &session.id].map(str::to_owned).to_vec(),
            directory: facts.cwd.clone(),
        })
    }
}

/// When a session began, by the list beside it.
fn began(path: &Path, id: &str) -> Option<Timestamp> {
    let bytes = fs::read(path.with_file_name(LIST)).ok()?;
    memchr::memmem::find(&bytes, id.as_bytes())?;
    let list = Document::parse(&bytes, &[]).root;
    let entry = list
        .as_array()?
        .iter()
        .find(|entry| text(entry, "sessionId") == id)?;
    entry.get("dateCreated").and_then(Timestamp::from_json)
}

fn take_facts(root: &Value, facts: &mut SessionFacts) {
    let title = text(root, "title");
    if !PLACEHOLDERS.contains(&title) {
        facts.offer_title(title, TitleRank::Given);
    }
    facts.cwd = words(root, "workspaceDirectory").map(vscode::path_of_uri);
    facts.model = words(root, "chatModelTitle").map(str::to_owned);
}

/// Calls whose answers have messages of their own.
fn answered(root: &Value) -> HashSet<String> {
    let messages = items(root, "history")
        .iter()
        .filter_map(|item| item.get("message"));
    messages
        .filter(|message| text(message, "role") == "tool")
        .filter_map(|message| words(message, "toolCallId"))
        .map(str::to_owned)
        .collect()
}

/// A session as it is told.
struct Talk<'s> {
    log: SessionLog<'s>,
    /// Chains over what was said: a copy of a session has no ids in common with it.
    chain: u64,
    /// No message tells its own time.
    time: Timestamp,
    /// Reasoning that stands before the reply it belongs to.
    reasoning: Vec<ContentBlock>,
    answered: HashSet<String>,
}

impl Talk<'_> {
    fn item(&mut self, item: &Value) -> Result<(), SinkClosed> {
        let message = item.get("message").unwrap_or(&Value::Null);
        match text(message, "role") {
            "user" => {
                let content = content(message);
                if !content.is_empty() {
                    self.say("user", EventData::UserMessage(of(content)))?;
                }
            }
            "thinking" => self.reasoning.extend(reasoning(content(message))),
            "assistant" => self.reply(item, message)?,
            "tool" => {
                let result = ToolResult {
                    call_id: text(message, "toolCallId").to_owned(),
                    content: content(message),
                    ..ToolResult::default()
                };
                self.say("tool", EventData::ToolResult(result))?;
            }
            _ => {}
        }
        for state in items(item, "toolCallStates") {
            self.answer(state)?;
        }
        if let Some(summary) = words(item, "conversationSummary") {
            let summary = Message::text(summary).from_source("compaction");
            let mut draft = Draft::new(EventData::ContextMessage(summary), Some(self.time));
            draft.placement = Placement::ReplaceAll;
            self.log.facts().compactions += 1;
            self.log.append(draft)?;
        }
        Ok(())
    }

    fn reply(&mut self, item: &Value, message: &Value) -> Result<(), SinkClosed> {
        let mut said = std::mem::take(&mut self.reasoning);
        let beside = item.get("reasoning").or_else(|| message.get("reasoning"));
        let beside = beside.and_then(|reasoning| words(reasoning, "text"));
        said.extend(beside.map(|text| ContentBlock::Reasoning {
            text: text.to_owned(),
        }));
        said.extend(content(message));
        for call in items(message, "toolCalls") {
            let function = call.get("function").unwrap_or(&Value::Null);
            said.push(ContentBlock::ToolCall {
                id: text(call, "id").to_owned(),
                name: text(function, "name").to_owned(),
                arguments: function.get("arguments").map(document::plain).unwrap_or_default(),
            });
        }
        if let Some(model) = message.get("usage").and_then(|usage| words(usage, "model")) {
            self.log.facts().model = Some(model.to_owned());
        }
        if said.is_empty() {
            return Ok(());
        }
        self.say("agent", EventData::AssistantMessage(of(said)))
    }

    /// The answer that is noted with the state of its call.
    fn answer(&mut self, state: &Value) -> Result<(), SinkClosed> {
        let call_id = text(state, "toolCallId").to_owned();
        let output = items(state, "output");
        if output.is_empty() || self.answered.contains(&call_id) {
            return Ok(());
        }
        let contents = output.iter().filter_map(|part| words(part, "content"));
        let result = ToolResult {
            call_id,
            content: contents.map(ContentBlock::text).collect(),
            is_error: matches!(text(state, "status"), "errored" | "canceled"),
            ..ToolResult::default()
        };
        self.say("tool", EventData::ToolResult(result))
    }

    fn say(&mut self, role: &str, data: EventData) -> Result<(), SinkClosed> {
        let mut draft = Draft::new(data, Some(self.time));
        if let EventData::UserMessage(message) | EventData::AssistantMessage(message) = &draft.data {
            for block in &message.content {
                if let ContentBlock::Text { text } = block {
                    self.chain = chained_key(self.chain, role, text);
                }
            }
            // Many sessions begin with the same prompt.
            if self.log.facts().replies > 0 || role == "agent" {
                draft.copy_key = self.chain;
            }
        }
        self.log.append(draft).map(drop)
    }
}

fn of(content: Vec<ContentBlock>) -> Message {
    Message {
        content,
        ..Message::default()
    }
}

/// What a message says: a text, or parts.
fn content(message: &Value) -> Vec<ContentBlock> {
    match message.get("content") {
        Some(Value::String(text)) if !text.trim().is_empty() => vec![ContentBlock::text(text)],
        Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Option<ContentBlock> {
    if text(part, "type") == "imageUrl" {
        let url = part.get("imageUrl").map_or("", |image| text(image, "url"));
        let media_type = url.strip_prefix("data:").and_then(|data| data.split(';').next());
        return Some(ContentBlock::Media {
            media_type: media_type.unwrap_or_default().to_owned(),
            bytes: url.len() as u64,
        });
    }
    words(part, "text").map(ContentBlock::text)
}

fn reasoning(content: Vec<ContentBlock>) -> impl Iterator<Item = ContentBlock> {
    content.into_iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(ContentBlock::Reasoning { text }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    //! Property: the agent's variable moves its sessions.
    use super::*;

    #[test]
    fn the_agents_variable_moves_its_sessions() {
        let mut environment = Environment::at_home("/home/ada");
        assert_eq!(
            Continue.roots(&environment),
            [Path::new("/home/ada/.continue/sessions")]
        );
        environment
            .variables
            .insert("CONTINUE_GLOBAL_DIR".into(), "/c".into());
        assert_eq!(Continue.roots(&environment), [Path::new("/c/sessions")]);
    }
}
