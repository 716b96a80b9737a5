//! From records to events: what each says, and where it stands on the surface.

use super::content::{hash_of, media, reply_block, result_content, take_apart};
use super::conversation::{Conversation, Halt, Origin, draft};
use super::record::{Attachment, Block, Content, Record};
use super::words;
use crate::log::Placement;
use crate::window::{Anchor, hash_of_id};
use lookback_model::event::{ContentBlock, EventData, Message, ToolResult};

impl Conversation<'_> {
    pub(super) fn user(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        if record.compact_summary.0 {
            return self.compaction(record, origin);
        }
        let mut spoken = Vec::new();
        let mut injected = Vec::new();
        let mut answered = false;
        match &record.message.content {
            Content::Text(text) => take_apart(text, &mut spoken, &mut injected),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind.0 {
                        "text" => take_apart(&block.text.0, &mut spoken, &mut injected),
                        "image" | "document" => spoken.push(media(block)),
                        "tool_result" => {
                            answered = true;
                            self.tool_result(block, origin)?;
                        }
                        _ => {}
                    }
                }
            }
        }
        let program = program_source(record).or(answered.then_some("tool"));
        let own = !spoken.is_empty() && program.is_none() && !origin.aside;
        for (source, text) in injected {
            let placement = if own {
                Placement::LogOnly
            } else {
                Placement::Append
            };
            let message = Message::text(text).from_source(program.filter(|_| !own).unwrap_or(source));
            self.emit(EventData::ContextMessage(message), placement, origin)?;
        }
        if own {
            return self.prompt(spoken, origin);
        }
        if !spoken.is_empty() {
            let source = program.unwrap_or("subagent");
            let message = Message {
                content: spoken,
                ..Message::default()
            }
            .from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::Append, origin)?;
        }
        Ok(())
    }

    fn compaction(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let mut spoken = Vec::new();
        match &record.message.content {
            Content::Text(text) => spoken.push(ContentBlock::text(&**text)),
            Content::Blocks(blocks) => {
                spoken.extend(
                    blocks
                        .iter()
                        .filter_map(|block| block.text.get())
                        .map(ContentBlock::text),
                );
            }
        }
        let message = Message {
            content: spoken,
            ..Message::default()
        }
        .from_source("compaction");
        if origin.aside {
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
            return Ok(());
        }
        let placement = self.place_summary()?;
        self.emit(EventData::ContextMessage(message), placement, origin)?;
        self.log.facts().compactions += 1;
        self.state.prompts.clear();
        // What was kept stands between the summary and what is said next.
        if let Some(&last) = self.log.surface().current().last() {
            origin.anchor = Anchor::Event(last);
        }
        Ok(())
    }

    /// A summary stands for everything before what the compaction kept.
    fn place_summary(&mut self) -> Result<Placement, Halt> {
        let Some(head) = self.state.kept_from.take() else {
            return Ok(Placement::ReplaceAll);
        };
        let kept = match self.state.window.anchor(head) {
            Anchor::Forgotten => return Err(Halt::Stale),
            Anchor::Start => return Ok(Placement::ReplaceAll),
            Anchor::Event(kept) => kept,
        };
        let surface = self.log.surface();
        let before = surface
            .position(kept)
            .map(|at| surface.current().get(..at).unwrap_or_default());
        Ok(match before {
            None => Placement::ReplaceAll,
            Some([]) => Placement::Append,
            Some(&[only]) => Placement::ReplaceOne(only),
            Some(&[first, .., last]) => Placement::ReplaceRange(first, last),
        })
    }

    /// A prompt the person typed.
    fn prompt(&mut self, content: Vec<ContentBlock>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        self.note_arrival(&content);
        let said = hash_of(&content);
        let steered = std::mem::take(&mut self.state.steered);
        let unconfirmed = std::mem::take(&mut self.state.unconfirmed);
        self.state.last_prompt = Some((said, origin.time));
        let message = Message {
            content,
            ..Message::default()
        };
        // Given while the agent was at work, and written again when its turn came.
        if steered.contains(&said) {
            return Ok(());
        }
        if unconfirmed.contains(&said) {
            self.log.count_prompt(&message);
            return Ok(());
        }
        let placement = self.place_prompt(origin)?;
        let seq = self.emit(EventData::UserMessage(message), placement, origin)?;
        self.state.prompts.add(seq);
        Ok(())
    }

    /// A prompt that hangs from before another prompt of the surface begins a new branch.
    fn place_prompt(&mut self, origin: &Origin<'_>) -> Result<Placement, Halt> {
        match origin.parent {
            Anchor::Forgotten => Err(Halt::Stale),
            Anchor::Event(anchor) if self.state.prompts.any_after(anchor) => Ok(self.rewind(anchor)),
            _ => Ok(Placement::Append),
        }
    }

    /// A second reply to one prompt takes the place of the first and all that came of it.
    fn place_reply(&mut self, reply: &str, origin: &Origin<'_>) -> Result<Placement, Halt> {
        match origin.parent {
            _ if origin.aside => Ok(Placement::Append),
            Anchor::Forgotten => Err(Halt::Stale),
            Anchor::Event(prompt) if self.state.prompts.answered_anew(prompt, reply) => {
                Ok(self.rewind(prompt))
            }
            _ => Ok(Placement::Append),
        }
    }

    /// Goes back to just after `anchor`, when it is on the surface.
    fn rewind(&mut self, anchor: u64) -> Placement {
        if self.log.surface().position(anchor).is_none() {
            return Placement::Append;
        }
        self.state.prompts.go_back(anchor);
        self.log.facts().rewinds += 1;
        Placement::ReplaceAfter(anchor)
    }

    fn tool_result(&mut self, block: &Block<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        let (content, reminders) = result_content(&block.content, self.log.tool_text_wanted());
        let result = ToolResult {
            call_id: block.call.0.clone().into_owned(),
            content,
            is_error: block.is_error.0,
            ..ToolResult::default()
        };
        self.emit(EventData::ToolResult(result), Placement::Append, origin)?;
        for (source, text) in reminders {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
        }
        Ok(())
    }

    pub(super) fn assistant(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        if !origin.aside {
            self.say_what_is_overdue(origin.time)?;
        }
        let body = &record.message;
        let content = match &body.content {
            Content::Text(text) => vec![ContentBlock::text(&**text)],
            Content::Blocks(blocks) => blocks.iter().filter_map(reply_block).collect(),
        };
        let message = Message {
            content,
            ..Message::default()
        };
        if record.api_error.0 {
            let message = message.from_source("error");
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
            return Ok(());
        }
        let reply = body.id.get().or(origin.uuid).unwrap_or_default();
        // The program itself may answer first, and the model after it.
        let placement = match body.model.get() {
            Some("<synthetic>") => Placement::Append,
            _ => self.place_reply(reply, origin)?,
        };
        let mut draft = draft(EventData::AssistantMessage(message), placement, origin);
        draft.reply_id = body.id.get().map(str::to_owned);
        self.append(draft, origin)?;
        Ok(())
    }

    pub(super) fn attachment(
        &mut self,
        attachment: &Attachment<'_>,
        origin: &mut Origin<'_>,
    ) -> Result<(), Halt> {
        if attachment.kind.get() != Some("queued_command") {
            return Ok(());
        }
        let mut spoken = Vec::new();
        let mut injected = Vec::new();
        match &attachment.prompt {
            Content::Text(text) => take_apart(text, &mut spoken, &mut injected),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind.0 {
                        "text" => take_apart(&block.text.0, &mut spoken, &mut injected),
                        "image" | "document" => spoken.push(media(block)),
                        _ => {}
                    }
                }
            }
        }
        for (source, text) in injected {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::Append, origin)?;
        }
        if spoken.is_empty() {
            return Ok(());
        }
        let message = Message {
            content: spoken,
            ..Message::default()
        };
        let typed = attachment.mode.get().is_none_or(|mode| mode == "prompt");
        if !typed || origin.aside {
            let source = if typed { "subagent" } else { "queue" };
            self.emit(
                EventData::ContextMessage(message.from_source(source)),
                Placement::Append,
                origin,
            )?;
            return Ok(());
        }
        self.note_arrival(&message.content);
        let said = hash_of(&message.content);
        let queued = attachment.time.0.or(origin.time);
        if self
            .state
            .last_prompt
            .is_some_and(|(last, time)| last == said && queued <= time)
        {
            return Ok(());
        }
        self.state.steered.push(said);
        if let Some(at) = self.state.unconfirmed.iter().position(|&text| text == said) {
            self.state.unconfirmed.remove(at);
            self.log.count_prompt(&message);
            return Ok(());
        }
        self.emit(EventData::SteeringMessage(message), Placement::Append, origin)?;
        Ok(())
    }

    pub(super) fn system(&mut self, record: &Record<'_>, origin: &mut Origin<'_>) -> Result<(), Halt> {
        if &*record.subtype.0 == "compact_boundary" && !origin.aside {
            self.state.kept_from = record.compacted.kept.head.get().map(hash_of_id);
        }
        let text = &*record.content.0;
        let injected = match &*record.subtype.0 {
            "local_command" => words::of_user(text).injected,
            "away_summary" => vec![("away-summary", text.to_owned())],
            _ => Vec::new(),
        };
        for (source, text) in injected.into_iter().filter(|(_, text)| !text.is_empty()) {
            let message = Message::text(text).from_source(source);
            self.emit(EventData::ContextMessage(message), Placement::LogOnly, origin)?;
        }
        Ok(())
    }
}

/// Why a user record is the program's as a whole, if it is.
pub(super) fn program_source<'r>(record: &'r Record<'_>) -> Option<&'r str> {
    if record.meta.0 {
        return Some("meta");
    }
    if record.source_tool_use.get().is_some() {
        return Some("skill");
    }
    if record.row_source.get() == Some("harness") {
        return Some("harness");
    }
    record.origin.kind.get().filter(|&kind| kind != "human")
}
