//! What a message says: the person's own words apart from what the program put in, and the agent's words
//! apart from its reasoning.

use super::calls::answers;
use super::record::{Content, Data, Part, Record};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};
use std::collections::HashSet;
use xxhash_rust::xxh3::Xxh3;

/// Begins the files that the program adds to a prompt that names them.
const REFERENCES: &str = "--- Content from referenced files ---";
/// Ends them.
const REFERENCES_END: &str = "--- End of content ---";
/// Begin parts that the program puts in by itself.
const INJECTED: [&str; 4] = [
    "<session_context>",
    "<hook_context>",
    "<qwen:user-prompt-submit-context>",
    "<system-reminder>",
];
/// Begins the summary that takes the place of compressed history.
const SNAPSHOT: &str = "<state_snapshot>";

/// Who speaks, as far as messages of one id are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum Speaker {
    Person,
    Agent,
    Program,
}

/// A message taken apart.
#[derive(Debug)]
pub(in crate::formats) struct Said {
    pub(in crate::formats) speaker: Speaker,
    /// The message itself, without tool calls; `None` when it holds nothing.
    pub(in crate::formats) main: Option<EventData>,
    /// Whether the main event belongs to what the model is sent.
    pub(in crate::formats) sent: bool,
    /// What the program added to it.
    pub(in crate::formats) added: Vec<Message>,
    /// Answers that stand in the content and belong to no call of the same record.
    pub(in crate::formats) answers: Vec<ToolResult>,
    /// Hash of all text but reasoning.
    pub(in crate::formats) hash: u64,
    /// A summary of compressed history.
    pub(in crate::formats) is_summary: bool,
}

impl Said {
    /// Takes a message apart. Answers to `calls`, told apart by [`super::calls::call_key`], are left out of it, because they
    /// are told with the call.
    pub(in crate::formats) fn of(record: &Record<'_>, calls: &HashSet<u64>) -> Self {
        match record.r#type.get() {
            "user" => person(record, calls),
            "gemini" => agent(record),
            other => program(record, other),
        }
    }

    /// Whether it gives any event of its own.
    pub(in crate::formats) fn is_empty(&self) -> bool {
        self.main.is_none() && self.added.is_empty() && self.answers.is_empty()
    }

    /// The words of the main event, as text blocks.
    pub(in crate::formats) fn words(&self) -> Vec<ContentBlock> {
        let content = match &self.main {
            Some(
                EventData::UserMessage(m) | EventData::AssistantMessage(m) | EventData::ContextMessage(m),
            ) => &m.content,
            _ => return Vec::new(),
        };
        content
            .iter()
            .filter(|block| matches!(block, ContentBlock::Text { .. }))
            .cloned()
            .collect()
    }
}

fn program(record: &Record<'_>, kind: &str) -> Said {
    let mut hash = Xxh3::new();
    let blocks = blocks(&record.content, &mut hash);
    let source = if kind.is_empty() { "untyped" } else { kind };
    Said {
        speaker: Speaker::Program,
        main: message(blocks).map(|message| EventData::ContextMessage(message.from_source(source))),
        sent: false,
        added: Vec::new(),
        answers: Vec::new(),
        hash: hash.digest(),
        is_summary: false,
    }
}

fn agent(record: &Record<'_>) -> Said {
    let mut hash = Xxh3::new();
    let words = blocks(&record.content, &mut hash);
    let mut content = reasoning(record);
    content.extend(words);
    Said {
        speaker: Speaker::Agent,
        main: message(content).map(EventData::AssistantMessage),
        sent: true,
        added: Vec::new(),
        answers: Vec::new(),
        hash: hash.digest(),
        is_summary: false,
    }
}

/// The thoughts the program recorded, else those among the parts.
fn reasoning(record: &Record<'_>) -> Vec<ContentBlock> {
    let summaries = record.thoughts.get().iter().map(|thought| {
        let (subject, description) = (thought.subject.get().trim(), thought.description.get().trim());
        let between = if subject.is_empty() || description.is_empty() {
            ""
        } else {
            "\n"
        };
        format!("{subject}{between}{description}")
    });
    let parts = record
        .content
        .0
        .iter()
        .filter(|part| part.thought.0)
        .map(|part| part.text.get().to_owned());
    let mut texts: Vec<String> = summaries.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        texts.extend(parts.filter(|text| !text.trim().is_empty()));
    }
    texts
        .into_iter()
        .map(|text| ContentBlock::Reasoning { text })
        .collect()
}

fn person(record: &Record<'_>, calls: &HashSet<u64>) -> Said {
    let mut hash = Xxh3::new();
    let answers = answers(&record.content, calls);
    let is_answer = record
        .content
        .0
        .iter()
        .any(|part| part.function_response.0.is_some());
    let mut sorted = Sorted::default();
    for part in &record.content.0 {
        sorted.part(part);
    }
    let shown = texts(&record.display_content);
    let is_shown = !shown.is_empty();
    if is_shown {
        sorted.prefer(shown);
    }
    let main = main_event(sorted.own, is_answer, is_shown);
    let main = main.or_else(|| {
        let context = std::mem::take(&mut sorted.context);
        message(context).map(|context| EventData::ContextMessage(context.from_source("injected")))
    });
    let added: Vec<Message> = [(sorted.context, "injected"), (sorted.files, "referenced-files")]
        .into_iter()
        .filter_map(|(blocks, source)| message(blocks).map(|message| message.from_source(source)))
        .collect();
    let is_summary = is_from(main.as_ref(), "compaction");
    hash_event(main.as_ref(), &mut hash);
    added
        .iter()
        .for_each(|message| hash_blocks(&message.content, &mut hash));
    answers
        .iter()
        .for_each(|answer| hash_blocks(&answer.content, &mut hash));
    Said {
        speaker: Speaker::Person,
        main,
        sent: true,
        added,
        answers,
        hash: hash.digest(),
        is_summary,
    }
}

/// The event of a person's own part of a message, when there is such a part.
fn main_event(own: Vec<ContentBlock>, is_answer: bool, is_shown: bool) -> Option<EventData> {
    let first = own.iter().find_map(|block| match block {
        ContentBlock::Text { text } => Some(text.trim_start()),
        _ => None,
    });
    let source = match first {
        _ if is_answer => Some("injected"),
        Some(text) if text.starts_with(SNAPSHOT) => Some("compaction"),
        // What is shown beside other content is what the person typed to have it expanded.
        Some(text) if !is_shown && is_command(text) => Some("command"),
        _ => None,
    };
    let message = message(own)?;
    Some(match source {
        Some(source) => EventData::ContextMessage(message.from_source(source)),
        None => EventData::UserMessage(message),
    })
}

fn is_from(main: Option<&EventData>, source: &str) -> bool {
    matches!(main, Some(EventData::ContextMessage(message)) if message.source.as_ref().is_some_and(|own| own == source))
}

/// `/name …` or `?`; a path at the start of a prompt is no command.
fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let Some(name) = first.strip_prefix('/') else {
        return first == "?";
    };
    let in_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | ':');
    name.chars().all(in_name)
}

/// The content of a person's message by origin.
#[derive(Default)]
struct Sorted {
    /// The person's own.
    own: Vec<ContentBlock>,
    /// The program's.
    context: Vec<ContentBlock>,
    /// Files that the program added because the prompt names them.
    files: Vec<ContentBlock>,
    in_files: bool,
}

impl Sorted {
    fn part(&mut self, part: &Part<'_>) {
        if let Some(block) = media(part) {
            let into = if self.in_files {
                &mut self.files
            } else {
                &mut self.own
            };
            into.push(block);
        }
        let text = part.text.get();
        if text.trim().is_empty() || part.thought.0 {
            return;
        }
        let start = text.trim_start();
        if !self.in_files && INJECTED.iter().any(|tag| start.starts_with(tag)) {
            self.context.push(ContentBlock::text(text));
            return;
        }
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        let marker = if self.in_files { REFERENCES_END } else { REFERENCES };
        let Some(at) = text.find(marker) else {
            push_text(
                if self.in_files {
                    &mut self.files
                } else {
                    &mut self.own
                },
                text,
            );
            return;
        };
        // A marker belongs to the files, at whichever end.
        let at = if self.in_files { at + marker.len() } else { at };
        let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
        if self.in_files {
            push_text(&mut self.files, before);
            push_text(&mut self.own, after);
            self.in_files = false;
            return;
        }
        push_text(&mut self.own, before);
        self.in_files = true;
        match after.find(REFERENCES_END) {
            Some(end) => {
                let end = end + REFERENCES_END.len();
                push_text(&mut self.files, after.get(..end).unwrap_or_default());
                self.in_files = false;
                push_text(&mut self.own, after.get(end..).unwrap_or_default());
            }
            None => push_text(&mut self.files, after),
        }
    }

    /// Takes what was shown as the person's words; what was sent instead is the program's.
    fn prefer(&mut self, shown: Vec<&str>) {
        let (sent, media): (Vec<_>, Vec<_>) = std::mem::take(&mut self.own)
            .into_iter()
            .partition(|block| matches!(block, ContentBlock::Text { .. }));
        let differs = !sent.is_empty() && joined_blocks(&sent) != joined(&shown);
        if differs {
            self.context.splice(..0, sent);
        }
        self.own = shown.into_iter().map(ContentBlock::text).collect();
        self.own.extend(media);
    }
}

pub(in crate::formats) fn push_text(blocks: &mut Vec<ContentBlock>, text: &str) {
    if !text.trim().is_empty() {
        blocks.push(ContentBlock::text(text));
    }
}

fn texts<'r>(content: &'r Content<'_>) -> Vec<&'r str> {
    content
        .0
        .iter()
        .map(|part| part.text.get())
        .filter(|text| !text.trim().is_empty())
        .collect()
}

/// Without white space, which expansion changes.
fn joined(texts: &[&str]) -> String {
    texts.iter().flat_map(|text| text.split_whitespace()).collect()
}

fn joined_blocks(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    joined(&texts.collect::<Vec<_>>())
}

fn message(content: Vec<ContentBlock>) -> Option<Message> {
    (!content.is_empty()).then(|| Message {
        content,
        ..Message::default()
    })
}

/// Text and media of content, and their hash.
fn blocks(content: &Content<'_>, hash: &mut Xxh3) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    for part in &content.0 {
        if !part.thought.0 {
            push_text(&mut blocks, part.text.get());
        }
        blocks.extend(media(part));
    }
    hash_blocks(&blocks, hash);
    blocks
}

pub(in crate::formats) fn media(part: &Part<'_>) -> Option<ContentBlock> {
    let of = |data: &Data<'_>| ContentBlock::Media {
        media_type: data.mime_type.get().to_owned(),
        bytes: data.data.0,
    };
    part.inline_data.0.as_ref().or(part.file_data.0.as_ref()).map(of)
}

fn hash_event(main: Option<&EventData>, hash: &mut Xxh3) {
    if let Some(EventData::UserMessage(message) | EventData::ContextMessage(message)) = main {
        hash_blocks(&message.content, hash);
    }
}

fn hash_blocks(blocks: &[ContentBlock], hash: &mut Xxh3) {
    for block in blocks {
        match block {
            ContentBlock::Text { text } => hash.update(text.as_bytes()),
            ContentBlock::Media { media_type, bytes } => {
                hash.update(media_type.as_bytes());
                hash.update(&bytes.to_le_bytes());
            }
            _ => {}
        }
        hash.update(&[0]);
    }
}

/// The working directory that the program tells the model at the start of a session.
pub(in crate::formats) fn told_directory(main: &EventData) -> Option<&str> {
    let EventData::ContextMessage(message) = main else {
        return None;
    };
    let text = message.content.iter().find_map(|block| match block {
        ContentBlock::Text { text } if text.trim_start().starts_with("<session_context>") => Some(text),
        _ => None,
    })?;
    let (_, after) = ["in the directory:", "directories:", "Directories:"]
        .iter()
        .find_map(|words| text.split_once(words))?;
    let line = after
        .lines()
        .map(|line| line.trim_matches([' ', '*', '-', '\t', '\r']))
        .find(|line| !line.is_empty())?;
    is_absolute(line).then_some(line)
}

/// Absolute on any system, because the transcript may come from another.
fn is_absolute(path: &str) -> bool {
    let drive = path
        .get(1..3)
        .is_some_and(|after| after == ":\\" || after == ":/");
    path.starts_with('/') || path.starts_with("\\\\") || drive
}

#[cfg(test)]
mod tests {
    //! Property: of a prompt's content, the person's own words and nothing else are the prompt.
    use super::*;

    fn said(json: &str) -> Said {
        Said::of(&serde_json::from_str(json).unwrap(), &HashSet::new())
    }

    fn own(json: &str) -> (String, Vec<String>) {
        let said = said(json);
        let text = |blocks: &[ContentBlock]| joined_with_spaces(blocks);
        let kind = said.main.as_ref().map_or("", EventData::type_name);
        let words = format!("{kind}: {}", text(&said.words()));
        (
            words,
            said.added.iter().map(|message| text(&message.content)).collect(),
        )
    }

    fn joined_with_spaces(blocks: &[ContentBlock]) -> String {
        let texts = blocks.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.trim()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn referenced_files_are_split_off_wherever_they_stand() {
        let (words, added) = own(
            r#"{"type":"user","content":"fix @a.rs\n--- Content from referenced files ---\nfn a() {}\n--- End of content ---\nsoon"}"#,
        );
        assert_eq!(words, "user/message: fix @a.rs soon");
        assert_eq!(
            added,
            ["--- Content from referenced files ---\nfn a() {}\n--- End of content ---"]
        );
        let (words, added) = own(
            r#"{"type":"user","content":[{"text":"fix @a.rs"},{"text":"\n--- Content from referenced files ---"},{"text":"fn a() {}"},{"text":"\n--- End of content ---"},{"text":"soon"}]}"#,
        );
        assert_eq!(words, "user/message: fix @a.rs soon");
        assert_eq!(added.len(), 1);
    }

    #[test]
    fn what_was_shown_is_preferred_and_what_was_sent_is_kept() {
        let (words, added) = own(
            r#"{"type":"user","content":[{"text":"Review with these rules"}],"displayContent":"/review now"}"#,
        );
        assert_eq!(words, "user/message: /review now");
        assert_eq!(added, ["Review with these rules"]);
        let (words, added) = own(
            r#"{"type":"user","content":[{"text":"same  words"}],"displayContent":[{"text":"same words"}]}"#,
        );
        assert_eq!((words.as_str(), added.len()), ("user/message: same words", 0));
    }

    #[test]
    fn the_programs_text_is_no_prompt() {
        for text in [
            "<session_context>\\nx",
            "<hook_context>x",
            "/chat save a",
            "?",
            "<state_snapshot>x",
        ] {
            let (words, _) = own(&format!(r#"{{"type":"user","content":"{text}"}}"#));
            assert!(words.starts_with("context/message: "), "{words}");
        }
        let (words, added) = own(
            r#"{"type":"user","content":[{"text":"a question"},{"text":"<hook_context>rules</hook_context>"}]}"#,
        );
        assert_eq!((words.as_str(), added.len()), ("user/message: a question", 1));
        assert!(
            own(r#"{"type":"user","content":"/etc/hosts is wrong"}"#)
                .0
                .starts_with("user/message")
        );
        assert!(said(r#"{"type":"user","content":" "}"#).is_empty());
    }

    #[test]
    fn directories_are_found_in_all_forms() {
        for text in [
            "<session_context>\\nI'm currently working in the directory: /w/a b\\n",
            "<session_context>\\nI'm currently working in the following directories:\\n  - /w/a b\\n  - /w/c\\n",
            "<session_context>\\n- **Workspace Directories:**\\n  - /w/a b\\n",
        ] {
            let said = said(&format!(r#"{{"type":"user","content":"{text}"}}"#));
            assert_eq!(
                said.main.as_ref().and_then(told_directory),
                Some("/w/a b"),
                "{text}"
            );
        }
        let said = said(r#"{"type":"user","content":"<session_context>\nin the directory: unknown"}"#);
        assert_eq!(said.main.as_ref().and_then(told_directory), None);
    }
}
