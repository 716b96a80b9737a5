//! What records say about their session: titles, where and by whom it was held, and what it is a copy of.

use super::conversation::{Conversation, Halt, LinesOf, is_conversation};
use super::messages::program_source;
use super::record::Record;
use crate::window::hash_of_id;
use lookback_model::facts::TitleRank;

/// Summaries that wait for their conversation's last record.
const SUMMARIES_KEPT: usize = 16;

impl Conversation<'_> {
    /// Takes a title that stands on a record of its own; whether the record is one.
    pub(super) fn take_title(&mut self, record: &Record<'_>) -> Result<bool, Halt> {
        let rank = match &*record.kind.0 {
            "custom-title" => TitleRank::Custom,
            "agent-name" => TitleRank::Name,
            "ai-title" => TitleRank::Given,
            "summary" => TitleRank::Summary,
            _ => return Ok(false),
        };
        let title = &*record.title.0;
        if rank != TitleRank::Summary {
            self.log.facts().offer_title(title, rank);
            return Ok(true);
        }
        // Until 2.0 a summary of another conversation of the project could stand here.
        let Some(leaf) = record.leaf.get().map(hash_of_id) else {
            return Ok(true);
        };
        if self.state.window.contains(leaf) {
            self.log.facts().offer_title(title, rank);
        } else if self.state.window.forgot() {
            return Err(Halt::Stale);
        } else {
            if self.state.summaries.len() == SUMMARIES_KEPT {
                self.state.summaries.remove(0);
            }
            self.state.summaries.push((leaf, title.to_owned()));
        }
        Ok(true)
    }

    /// The record of this id was met: is there a summary that ends with it?
    pub(super) fn take_summary_of(&mut self, uuid: u64) {
        if let Some(at) = self.state.summaries.iter().rposition(|(leaf, _)| *leaf == uuid) {
            let (_, title) = self.state.summaries.remove(at);
            self.log.facts().offer_title(&title, TitleRank::Summary);
        }
    }

    /// What a record says about the session, whether or not it is part of the conversation.
    pub(super) fn take_facts(&mut self, record: &Record<'_>) {
        if record.sidechain.0 && self.state.lines_of == LinesOf::Session {
            return;
        }
        let facts = self.log.facts();
        if facts.cwd.is_none() {
            facts.cwd = record.cwd.get().map(str::to_owned);
        }
        replace(
            &mut facts.branch,
            record.branch.get().filter(|&branch| branch != "HEAD"),
        );
        replace(&mut facts.agent_version, record.version.get());
        if record.kind.get() == Some("assistant") {
            replace(
                &mut facts.model,
                record.message.model.get().filter(|&model| model != "<synthetic>"),
            );
        }
        if facts.agent_type.is_none() && self.state.lines_of == LinesOf::Subagent {
            facts.agent_type = record.attribution_agent.get().map(str::to_owned);
        }
        if let Some(origin) = record
            .forked_from
            .session_id
            .get()
            .filter(|&origin| origin != self.id)
        {
            facts.forked_from = Some(origin.to_owned());
        }
        if is_conversation(record) {
            if self.state.other_session.is_none() {
                let other = record.session_id.get().filter(|&session| session != self.id);
                self.state.other_session = other.map(str::to_owned);
            }
            let program = record
                .entrypoint
                .get()
                .is_some_and(|name| name.starts_with("sdk"))
                || record.prompt_source.get() == Some("sdk");
            self.state.by_program |= program;
            // A reply says nothing about who asked when it does not name its entrypoint.
            self.state.by_person |= !program && (record.entrypoint.get().is_some() || is_prompt(record));
        }
    }

    /// Says where copied history ends.
    pub(super) fn note_copies(&mut self, record: &Record<'_>) {
        if record
            .forked_from
            .session_id
            .get()
            .is_some_and(|origin| origin != self.id)
        {
            self.log.seed_ends_here();
            return;
        }
        // Since 2.1.332 a fork rewrites the session's id on every line, and only replies keep the id
        // of the session that asked for them.
        let asked_by = record.request_session_id.get();
        if let Some(asked_by) = asked_by.filter(|&by| by != self.id && record.session_id.get() != Some(by)) {
            self.log.facts().forked_from = Some(asked_by.to_owned());
            self.log.seed_ends_here();
        }
    }
}

/// Whether a record can be a typed prompt.
fn is_prompt(record: &Record<'_>) -> bool {
    record.kind.get() == Some("user") && program_source(record).is_none()
}

fn replace(held: &mut Option<String>, value: Option<&str>) {
    if let Some(value) = value.filter(|&value| held.as_deref() != Some(value)) {
        *held = Some(value.to_owned());
    }
}
