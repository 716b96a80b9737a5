//! Lineage: a session's parents up to the root, and all that descends from it (contract B, B.4).

use super::corpus::{Corpus, not_found};
use lookback_model::session_query::{
    SessionNode, SessionQueryError, SessionQueryErrorCode, SessionRecord, SessionTrace,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The lineage of a session within the whole corpus.
pub(super) fn trace_session(corpus: &Corpus, id: &str) -> Result<SessionTrace, SessionQueryError> {
    let records = corpus.records()?;
    let target = records.get(id).ok_or_else(|| not_found(id))?;
    let (parents, unresolved_parent_id) = ancestry(&records, target)?;
    let root = match &unresolved_parent_id {
        Some(_) => None,
        None => Some(parents.last().unwrap_or(target).clone()),
    };
    Ok(SessionTrace {
        target: target.clone(),
        root,
        parents,
        unresolved_parent_id,
        children: descendants(&records, id),
    })
}

/// The parents, nearest first, and the first that is not there.
fn ancestry(
    records: &BTreeMap<String, SessionRecord>,
    target: &SessionRecord,
) -> Result<(Vec<SessionRecord>, Option<String>), SessionQueryError> {
    let mut seen = HashSet::from([target.header.id.as_str()]);
    let mut parents = Vec::new();
    let mut next = target.header.parent_session.as_deref();
    while let Some(id) = next {
        if !seen.insert(id) {
            let message = format!("session {} descends from itself", target.header.id);
            return Err(SessionQueryError::new(
                SessionQueryErrorCode::InvalidLineage,
                message,
            ));
        }
        let Some(parent) = records.get(id) else {
            return Ok((parents, Some(id.to_owned())));
        };
        parents.push(parent.clone());
        next = parent.header.parent_session.as_deref();
    }
    Ok((parents, None))
}

/// The tree below a session. It has no cycle: one could only be reached through the session's own ancestry.
/// Built without recursion, because chains of forks may be long.
fn descendants(records: &BTreeMap<String, SessionRecord>, id: &str) -> Vec<SessionNode> {
    let mut children: HashMap<&str, Vec<&SessionRecord>> = HashMap::new();
    for record in records.values() {
        if let Some(parent) = &record.header.parent_session {
            children.entry(parent).or_default().push(record);
        }
    }
    let children_of = |id: &str| -> Vec<&SessionRecord> {
        let mut found = children.get(id).cloned().unwrap_or_default();
        // Stable: those of one instant stay in the order of their ids. The first is taken last.
        found.sort_by_key(|record| record.header.created_at);
        found.reverse();
        found
    };
    let mut built = Vec::new();
    // Every entry is a session whose tree is being built: itself, children that wait, children that are built.
    let mut open: Vec<(&SessionRecord, Vec<&SessionRecord>, Vec<SessionNode>)> = Vec::new();
    let mut waiting = children_of(id);
    loop {
        let next = match open.last_mut() {
            Some((_, waiting, _)) => waiting.pop(),
            None => waiting.pop(),
        };
        if let Some(record) = next {
            open.push((record, children_of(&record.header.id), Vec::new()));
            continue;
        }
        let Some((record, _, children)) = open.pop() else {
            return built;
        };
        let session = record.clone();
        let siblings = open.last_mut().map_or(&mut built, |(_, _, siblings)| siblings);
        siblings.push(SessionNode { session, children });
    }
}
