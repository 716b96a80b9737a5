//! A provider that is two maps of documents, finds words as parts of texts, and writes down what it is told.
//!
//! A call has a name, such as `live s1`; a test may have the next call of a name fail, panic or wait.

use super::{Gate, Scripted};
use lookback_model::session_query::{
    AbortSignal, CursorRefusal, EventDocument, EventHit, EventRecord, InventoryEntry, ProviderError,
    ProviderStatus, SearchPage, SearchProvider, SessionEventSearchSpec, SessionHit, SessionQueryError,
    SessionQueryErrorCode, SessionRecord, SessionSearchSpec, SessionSnapshot,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

pub(crate) struct ScriptedProvider {
    id: String,
    state: Mutex<State>,
}

struct State {
    status: ProviderStatus,
    statuses: usize,
    persisted: BTreeMap<String, SessionSnapshot>,
    live: BTreeMap<String, SessionSnapshot>,
    active: bool,
    calls: Vec<String>,
    faults: BTreeMap<String, Fault>,
    gates: BTreeMap<String, Arc<Gate>>,
    answers_as: Option<String>,
    extra_hits: bool,
    sessions_spec: Option<SessionSearchSpec>,
    events_spec: Option<SessionEventSearchSpec>,
    signal: Option<AbortSignal>,
}

/// How a call fails.
#[derive(Clone)]
pub(crate) enum Fault {
    Own(&'static str),
    /// The session that was to be replaced is lost as well.
    Lose,
    Typed(SessionQueryErrorCode),
    Cursor(CursorRefusal),
    Panic,
    /// It aborts this signal and succeeds.
    Abort(AbortSignal),
    /// It aborts this signal and fails.
    AbortAndFail(AbortSignal),
}

impl ScriptedProvider {
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            state: Mutex::new(State {
                status: ProviderStatus::Available,
                statuses: 0,
                persisted: BTreeMap::new(),
                live: BTreeMap::new(),
                active: false,
                calls: Vec::new(),
                faults: BTreeMap::new(),
                gates: BTreeMap::new(),
                answers_as: None,
                extra_hits: false,
                sessions_spec: None,
                events_spec: None,
                signal: None,
            }),
        }
    }

    pub(crate) fn set_status(&self, status: ProviderStatus) {
        self.state().status = status;
    }

    /// How often it was asked whether it is available.
    pub(crate) fn statuses(&self) -> usize {
        self.state().statuses
    }

    /// Has the next call of this name fail.
    pub(crate) fn fail(&self, call: &str, fault: Fault) {
        self.state().faults.insert(call.to_owned(), fault);
    }

    /// Has the next call of this name wait.
    pub(crate) fn stop(&self, call: &str) -> Arc<Gate> {
        let gate = Arc::<Gate>::default();
        self.state().gates.insert(call.to_owned(), Arc::clone(&gate));
        gate
    }

    /// Answers in another's name.
    pub(crate) fn answer_as(&self, id: &str) {
        self.state().answers_as = Some(id.to_owned());
    }

    /// Answers with a hit more than it may, when it has that many.
    pub(crate) fn answer_too_much(&self) {
        self.state().extra_hits = true;
    }

    /// The calls since this was last asked.
    pub(crate) fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    pub(crate) fn is_active(&self) -> bool {
        self.state().active
    }

    pub(crate) fn persisted_ids(&self) -> Vec<String> {
        self.state().persisted.keys().cloned().collect()
    }

    pub(crate) fn persisted(&self, id: &str) -> Option<SessionSnapshot> {
        self.state().persisted.get(id).cloned()
    }

    pub(crate) fn live(&self, id: &str) -> Option<SessionSnapshot> {
        self.state().live.get(id).cloned()
    }

    /// Changes what the base holds, as another process would.
    pub(crate) fn edit_base(&self, edit: impl FnOnce(&mut BTreeMap<String, SessionSnapshot>)) {
        edit(&mut self.state().persisted);
    }

    pub(crate) fn last_sessions_spec(&self) -> SessionSearchSpec {
        self.state().sessions_spec.clone().unwrap()
    }

    pub(crate) fn last_events_spec(&self) -> SessionEventSearchSpec {
        self.state().events_spec.clone().unwrap()
    }

    pub(crate) fn last_signal(&self) -> AbortSignal {
        self.state().signal.clone().unwrap()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Writes a call down, waits and fails as told.
    fn called(&self, call: &str) -> Result<(), ProviderError> {
        let (gate, fault) = {
            let mut state = self.state();
            state.calls.push(call.to_owned());
            (state.gates.remove(call), state.faults.remove(call))
        };
        if let Some(gate) = gate {
            gate.pass();
        }
        match fault {
            None => Ok(()),
            Some(Fault::Own(text)) => Err(ProviderError::other(Scripted(text))),
            Some(Fault::Lose) => {
                let id = call.split(' ').next_back().unwrap_or_default();
                self.state().live.remove(id);
                Err(ProviderError::other(Scripted("lost")))
            }
            Some(Fault::Typed(code)) => Err(SessionQueryError::new(code, "scripted").into()),
            Some(Fault::Cursor(refusal)) => Err(ProviderError::other(refusal)),
            Some(Fault::Panic) => panic!("scripted"),
            Some(Fault::Abort(signal)) => {
                signal.abort();
                Ok(())
            }
            Some(Fault::AbortAndFail(signal)) => {
                signal.abort();
                Err(ProviderError::other(Scripted("after an abort")))
            }
        }
    }
}

impl State {
    /// The sessions that a search sees.
    fn visible(&self) -> Vec<&SessionSnapshot> {
        let base = self.persisted.values().filter(|_| self.active);
        let base = base.filter(|snapshot| !self.live.contains_key(&snapshot.header.id));
        base.chain(self.live.values()).collect()
    }

    fn page<T>(&self, id: &str, hits: Vec<T>, limit: usize, cursor: Option<&String>) -> SearchPage<T> {
        let from: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let taken = limit + usize::from(self.extra_hits);
        let more = hits.len() > from + taken;
        SearchPage {
            provider_id: self.answers_as.clone().unwrap_or_else(|| id.to_owned()),
            items: hits.into_iter().skip(from).take(taken).collect(),
            next_cursor: more.then(|| (from + taken).to_string()),
        }
    }
}

fn hit(snapshot: &SessionSnapshot, document: &EventDocument) -> EventHit {
    EventHit {
        event: EventRecord {
            session_id: snapshot.header.id.clone(),
            seq: document.seq,
            time: document.time,
            r#type: document.type_name.clone(),
            surface: snapshot.surface(document),
        },
        snippet: document.text(),
    }
}

impl SearchProvider for ScriptedProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn status(&self) -> ProviderStatus {
        let (status, gate) = {
            let mut state = self.state();
            state.statuses += 1;
            (state.status, state.gates.remove("status"))
        };
        if let Some(gate) = gate {
            gate.pass();
        }
        status
    }

    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError> {
        self.called("inventory")?;
        let entry = |snapshot: &SessionSnapshot| InventoryEntry {
            session_id: snapshot.header.id.clone(),
            fingerprint: snapshot.fingerprint.clone(),
            revision: snapshot.revision.clone(),
            extractors: snapshot.extractors.clone(),
        };
        Ok(self.state().persisted.values().map(entry).collect())
    }

    fn replace_persisted(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        let id = &snapshot.header.id;
        self.called(&format!("replace {id}"))?;
        self.state().persisted.insert(id.clone(), snapshot.clone());
        Ok(())
    }

    fn remove_persisted(&self, session_id: &str) -> Result<(), ProviderError> {
        self.called(&format!("remove {session_id}"))?;
        self.state().persisted.remove(session_id);
        Ok(())
    }

    fn set_persisted_active(&self, active: bool) -> Result<(), ProviderError> {
        self.called(if active { "activate" } else { "deactivate" })?;
        self.state().active = active;
        Ok(())
    }

    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        let id = &snapshot.header.id;
        self.called(&format!("live {id}"))?;
        self.state().live.insert(id.clone(), snapshot.clone());
        Ok(())
    }

    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError> {
        self.called(&format!("unlive {session_id}"))?;
        self.state().live.remove(session_id);
        Ok(())
    }

    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError> {
        {
            let mut state = self.state();
            state.sessions_spec = Some(spec.clone());
            state.signal = Some(abort.clone());
        }
        self.called("query")?;
        let mut state = self.state();
        state.calls.push("answer".to_owned());
        let mut hits = Vec::new();
        for snapshot in state.visible() {
            let session = SessionRecord {
                header: snapshot.header.clone(),
                live: snapshot.live,
                persisted: snapshot.persisted,
            };
            if !spec.session_filters.iter().all(|filter| filter.takes(&session)) {
                continue;
            }
            let mut found = snapshot
                .documents
                .iter()
                .filter(|document| document.text().contains(&spec.query));
            let best_match = found.find_map(|document| {
                let hit = hit(snapshot, document);
                let passes = spec.event_filters.iter().all(|filter| filter.takes(&hit.event));
                passes.then_some(hit)
            });
            hits.extend(best_match.map(|best_match| SessionHit { session, best_match }));
        }
        Ok(state.page(&self.id, hits, spec.limit, spec.cursor.as_ref()))
    }

    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError> {
        {
            let mut state = self.state();
            state.events_spec = Some(spec.clone());
            state.signal = Some(abort.clone());
        }
        self.called("query")?;
        let mut state = self.state();
        state.calls.push("answer".to_owned());
        let visible = state.visible();
        let of_target = visible
            .iter()
            .filter(|snapshot| snapshot.header.id == spec.session_id);
        let hits = of_target.flat_map(|snapshot| {
            let found = snapshot
                .documents
                .iter()
                .filter(|document| document.text().contains(&spec.query));
            found.map(|document| hit(snapshot, document))
        });
        let hits = hits
            .filter(|hit| spec.filters.iter().all(|filter| filter.takes(&hit.event)))
            .collect();
        Ok(state.page(&self.id, hits, spec.limit, spec.cursor.as_ref()))
    }
}
