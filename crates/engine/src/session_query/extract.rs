//! Extractors: what words an event holds (contract B, B.9).
//!
//! Core types have theirs in [`lookback_model::text`], so that a session query finds by the words that every
//! other search does. Types of other owners have no text until their owner registers an extractor; what one
//! says of an event becomes context, and what one says of a content block stands where the block does.

use super::outside::catching;
use super::registration::{Accepted, Registration, Work};
use lookback_model::event::{BlockedPrompt, ContentBlock, EventData, Message, ToolResult};
use lookback_model::session_query::{
    EventDocument, ExtractorVersions, SessionQueryError, SessionQueryErrorCode,
};
use lookback_model::{Event, TextKind, text};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

/// Why an extractor failed.
pub type ExtractError = Box<dyn Error + Send + Sync>;

/// Says what words events of one type hold.
pub trait EventTextExtractor: Send + Sync {
    /// Names what it does; not blank, and another one whenever it would say other words of the same event.
    /// Looked at when it is registered.
    fn version(&self) -> &str;

    /// The words of an event of its type, in pieces. They are trimmed, blank ones are dropped, the others stand
    /// on lines of their own.
    ///
    /// # Errors
    /// Whatever keeps it from saying; searches then fail with `SESSION_QUERY_INDEX_FAILED` and this cause.
    fn fragments(&self, event: &Event) -> Result<Vec<String>, ExtractError>;
}

/// Says what words content blocks of one type hold.
pub trait ContentTextExtractor: Send + Sync {
    /// See [`EventTextExtractor::version`].
    fn version(&self) -> &str;

    /// The words of a block of its type, as [`EventTextExtractor::fragments`].
    ///
    /// # Errors
    /// As [`EventTextExtractor::fragments`].
    fn fragments(&self, block: &Value) -> Result<Vec<String>, ExtractError>;
}

/// Event types whose text [`lookback_model::text`] extracts, with the version of what it does to each. Whoever
/// changes the words of a type raises its version.
const CORE_EVENTS: [(&str, &str); 9] = [
    ("assistant/message", FIRST),
    ("context/message", FIRST),
    ("prompt/blocked", FIRST),
    ("steering/message", FIRST),
    ("todo/write", FIRST),
    ("tool/call", FIRST),
    ("tool/result", FIRST),
    ("turn/end", FIRST),
    ("user/message", FIRST),
];
/// The same of content blocks.
const CORE_BLOCKS: [(&str, &str); 4] = [
    ("reasoning", FIRST),
    ("text", FIRST),
    ("tool-call", FIRST),
    ("tool-result", FIRST),
];
const FIRST: &str = "1";

/// The registry of extractors.
pub(super) struct Extractors {
    current: Arc<RwLock<Arc<ExtractorSet>>>,
}

/// The extractors of one moment. A new one takes its place when one is registered or unregistered.
#[derive(Clone)]
pub(super) struct ExtractorSet {
    generation: u64,
    events: BTreeMap<String, Registered<dyn EventTextExtractor>>,
    blocks: BTreeMap<String, Registered<dyn ContentTextExtractor>>,
    versions: ExtractorVersions,
}

/// Extractors in use. None of them is drained before this is dropped, so that what is made with them, and named
/// after their versions, is made with all of them.
pub(super) struct AcceptedExtractors {
    set: Arc<ExtractorSet>,
    _accepted: Vec<Accepted>,
}

impl Deref for AcceptedExtractors {
    type Target = ExtractorSet;

    fn deref(&self) -> &ExtractorSet {
        &self.set
    }
}

struct Registered<T: ?Sized> {
    extractor: Arc<T>,
    work: Arc<Work>,
}

impl<T: ?Sized> Clone for Registered<T> {
    fn clone(&self) -> Self {
        Self {
            extractor: Arc::clone(&self.extractor),
            work: Arc::clone(&self.work),
        }
    }
}

impl Extractors {
    pub(super) fn new() -> Self {
        let owned = |core: &[(&str, &str)]| {
            let pairs = core.iter();
            pairs
                .map(|&(name, version)| (name.to_owned(), version.to_owned()))
                .collect()
        };
        let set = ExtractorSet {
            generation: 0,
            events: BTreeMap::new(),
            blocks: BTreeMap::new(),
            versions: ExtractorVersions {
                events: owned(&CORE_EVENTS),
                blocks: owned(&CORE_BLOCKS),
            },
        };
        Self {
            current: Arc::new(RwLock::new(Arc::new(set))),
        }
    }

    /// The extractors that are registered now, all of which have accepted to be used.
    pub(super) fn accepted(&self) -> AcceptedExtractors {
        loop {
            let set = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
            let works = set.works();
            // One may have been unregistered meanwhile; then there is another set.
            if let Some(accepted) = works.map(|work| work.begin()).collect() {
                return AcceptedExtractors {
                    set,
                    _accepted: accepted,
                };
            }
        }
    }

    pub(super) fn register_event(
        &self,
        type_name: &str,
        extractor: Arc<dyn EventTextExtractor>,
    ) -> Result<Registration, SessionQueryError> {
        let version = checked_version(type_name, extractor.version())?;
        let work = Arc::new(Work::default());
        let registered = Registered {
            extractor,
            work: Arc::clone(&work),
        };
        self.change(|set| {
            add_version(&mut set.versions.events, type_name, version)?;
            set.events.insert(type_name.to_owned(), registered);
            Ok(())
        })?;
        Ok(self.guard(work, type_name, |set, name| {
            set.versions.events.remove(name);
            set.events.remove(name);
        }))
    }

    pub(super) fn register_block(
        &self,
        block_type: &str,
        extractor: Arc<dyn ContentTextExtractor>,
    ) -> Result<Registration, SessionQueryError> {
        let version = checked_version(block_type, extractor.version())?;
        let work = Arc::new(Work::default());
        let registered = Registered {
            extractor,
            work: Arc::clone(&work),
        };
        self.change(|set| {
            add_version(&mut set.versions.blocks, block_type, version)?;
            set.blocks.insert(block_type.to_owned(), registered);
            Ok(())
        })?;
        Ok(self.guard(work, block_type, |set, name| {
            set.versions.blocks.remove(name);
            set.blocks.remove(name);
        }))
    }

    fn guard(&self, work: Arc<Work>, name: &str, remove: fn(&mut ExtractorSet, &str)) -> Registration {
        let (current, name) = (Arc::clone(&self.current), name.to_owned());
        Registration::new(work, move || {
            let removed: Result<(), SessionQueryError> = change(&current, |set| {
                remove(set, &name);
                Ok(())
            });
            debug_assert!(removed.is_ok(), "removing cannot fail");
        })
    }

    fn change(
        &self,
        make: impl FnOnce(&mut ExtractorSet) -> Result<(), SessionQueryError>,
    ) -> Result<(), SessionQueryError> {
        change(&self.current, make)
    }
}

fn change(
    current: &RwLock<Arc<ExtractorSet>>,
    make: impl FnOnce(&mut ExtractorSet) -> Result<(), SessionQueryError>,
) -> Result<(), SessionQueryError> {
    let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
    let mut set = ExtractorSet::clone(&current);
    make(&mut set)?;
    set.generation += 1;
    *current = Arc::new(set);
    Ok(())
}

fn checked_version(name: &str, version: &str) -> Result<String, SessionQueryError> {
    if version.trim().is_empty() {
        let message = format!("the extractor of {name} has a blank version");
        return Err(SessionQueryError::new(
            SessionQueryErrorCode::InvalidExtractor,
            message,
        ));
    }
    Ok(version.to_owned())
}

fn add_version(
    versions: &mut BTreeMap<String, String>,
    name: &str,
    version: String,
) -> Result<(), SessionQueryError> {
    if versions.contains_key(name) {
        let message = format!("{name} has an extractor already");
        return Err(SessionQueryError::new(
            SessionQueryErrorCode::DuplicateExtractor,
            message,
        ));
    }
    versions.insert(name.to_owned(), version);
    Ok(())
}

impl ExtractorSet {
    fn works(&self) -> impl Iterator<Item = &Arc<Work>> {
        let events = self.events.values().map(|registered| &registered.work);
        events.chain(self.blocks.values().map(|registered| &registered.work))
    }

    /// Another number whenever another extractor is registered or one is unregistered.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn versions(&self) -> &ExtractorVersions {
        &self.versions
    }

    /// See `SessionSnapshot::extractors`.
    pub(super) fn signature(&self) -> String {
        let is_first = |core: &[(&str, &str)], name: &str, version: &str| {
            version == FIRST && core.iter().any(|&(core, _)| core == name)
        };
        let events = self.versions.events.iter();
        let events = events
            .filter(|(name, version)| !is_first(&CORE_EVENTS, name, version))
            .map(|(name, version)| format!("{name}@{version}"));
        let blocks = self.versions.blocks.iter();
        let blocks = blocks
            .filter(|(name, version)| !is_first(&CORE_BLOCKS, name, version))
            .map(|(name, version)| format!("[{name}]@{version}"));
        let mut named: Vec<String> = events.chain(blocks).collect();
        named.sort_unstable();
        named.join(",")
    }

    /// The document of an event, if it has text.
    pub(super) fn document(&self, event: &Event) -> Result<Option<EventDocument>, SessionQueryError> {
        let pieces = self.pieces(event)?;
        if pieces.is_empty() {
            return Ok(None);
        }
        Ok(Some(EventDocument {
            seq: event.seq,
            time: event.time,
            type_name: event.type_name().to_owned(),
            has_marker: event.surface_op.is_some() && event.data.surface_eligible(),
            copy_key: event.copy_key,
            pieces,
        }))
    }

    fn pieces(&self, event: &Event) -> Result<Vec<(TextKind, String)>, SessionQueryError> {
        if let Some(registered) = self.events.get(event.type_name()) {
            let text = registered.text(event.type_name(), |extractor| extractor.fragments(event))?;
            return Ok(text.map(|text| (TextKind::Context, text)).into_iter().collect());
        }
        let event = self.with_texts_of_blocks(event)?;
        let pieces = text::pieces(&event).into_iter();
        Ok(pieces
            .map(|piece| (piece.kind, piece.text.into_owned()))
            .collect())
    }

    /// The event with a text block in the place of every block that an extractor is registered for.
    fn with_texts_of_blocks<'a>(&self, event: &'a Event) -> Result<Cow<'a, Event>, SessionQueryError> {
        if self.blocks.is_empty() {
            return Ok(Cow::Borrowed(event));
        }
        let data = match &event.data {
            EventData::UserMessage(message) => self.message(message)?.map(EventData::UserMessage),
            EventData::AssistantMessage(message) => self.message(message)?.map(EventData::AssistantMessage),
            EventData::ContextMessage(message) => self.message(message)?.map(EventData::ContextMessage),
            EventData::SteeringMessage(message) => self.message(message)?.map(EventData::SteeringMessage),
            EventData::ToolResult(result) => self.blocks(&result.content)?.map(|content| {
                EventData::ToolResult(ToolResult {
                    content,
                    ..result.clone()
                })
            }),
            EventData::PromptBlocked(prompt) => self.blocks(&prompt.content)?.map(|content| {
                EventData::PromptBlocked(BlockedPrompt {
                    content,
                    ..prompt.clone()
                })
            }),
            _ => None,
        };
        Ok(match data {
            Some(data) => Cow::Owned(Event {
                data,
                source_event_seqs: None,
                native_id: None,
                ..*event
            }),
            None => Cow::Borrowed(event),
        })
    }

    fn message(&self, message: &Message) -> Result<Option<Message>, SessionQueryError> {
        let content = self.blocks(&message.content)?;
        Ok(content.map(|content| Message {
            content,
            ..Message::default()
        }))
    }

    /// The blocks with texts in the place of some; `None` when there are none to replace.
    fn blocks(&self, blocks: &[ContentBlock]) -> Result<Option<Vec<ContentBlock>>, SessionQueryError> {
        let mut replaced: Option<Vec<ContentBlock>> = None;
        for (place, block) in blocks.iter().enumerate() {
            if let Some(block) = self.block(block)? {
                let all = replaced.get_or_insert_with(|| blocks.to_vec());
                if let Some(slot) = all.get_mut(place) {
                    *slot = block;
                }
            }
        }
        Ok(replaced)
    }

    fn block(&self, block: &ContentBlock) -> Result<Option<ContentBlock>, SessionQueryError> {
        let value = match block {
            ContentBlock::ToolResult { id, content } => {
                let content = self.blocks(content)?;
                return Ok(content.map(|content| ContentBlock::ToolResult {
                    id: id.clone(),
                    content,
                }));
            }
            ContentBlock::Other(value) => Cow::Borrowed(value),
            ContentBlock::Media { .. } => Cow::Owned(serde_json::to_value(block).unwrap_or_default()),
            ContentBlock::Text { .. } | ContentBlock::Reasoning { .. } | ContentBlock::ToolCall { .. } => {
                return Ok(None);
            }
        };
        let block_type = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some(registered) = self.blocks.get(block_type) else {
            return Ok(None);
        };
        let text = registered.text(block_type, |extractor| extractor.fragments(&value))?;
        Ok(text.map(ContentBlock::text))
    }
}

impl<T: ?Sized> Registered<T> {
    /// What the extractor says, as one text; `None` when it says nothing.
    fn text(
        &self,
        name: &str,
        extract: impl FnOnce(&T) -> Result<Vec<String>, ExtractError>,
    ) -> Result<Option<String>, SessionQueryError> {
        let extracted = catching(|| extract(&self.extractor)).unwrap_or_else(|panicked| Err(panicked.into()));
        let fragments = extracted.map_err(|cause| {
            let message = format!("the extractor of {name} failed");
            SessionQueryError::new(SessionQueryErrorCode::IndexFailed, message).caused_by(cause)
        })?;
        let fragments = fragments.iter().map(|fragment| fragment.trim());
        let said: Vec<&str> = fragments.filter(|fragment| !fragment.is_empty()).collect();
        Ok((!said.is_empty()).then(|| said.join("\n")))
    }
}
