//! A provider that holds live documents in memory and looks through all of them. A search for a gate's word
//! waits until the gate is opened or the search is aborted.

use lookback_model::session_query::abort::AbortListener;
use lookback_model::session_query::{
    AbortSignal, EventHit, EventRecord, InventoryEntry, ProviderError, ProviderStatus, SearchPage,
    SearchProvider, SessionEventSearchSpec, SessionHit, SessionRecord, SessionSearchSpec, SessionSnapshot,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};

/// A search for this waits at the gate.
pub(crate) const GATED: &str = "gated";

#[derive(Default)]
pub(crate) struct Scan {
    live: Mutex<BTreeMap<String, SessionSnapshot>>,
    pub(crate) gate: Arc<Gate>,
}

/// Lets searches through once it is open.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    open: bool,
    aborted: bool,
    waiting: usize,
}

impl Gate {
    pub(crate) fn open(&self) {
        self.state.lock().unwrap().open = true;
        self.changed.notify_all();
    }

    /// Blocks until a search stands at the gate.
    pub(crate) fn until_somebody_waits(&self) {
        let state = self.state.lock().unwrap();
        drop(
            self.changed
                .wait_while(state, |state| state.waiting == 0)
                .unwrap(),
        );
    }

    fn pass(self: &Arc<Self>, abort: &AbortSignal) {
        abort.listen(self);
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        self.changed.notify_all();
        drop(
            self.changed
                .wait_while(state, |state| !state.open && !state.aborted)
                .unwrap(),
        );
    }
}

impl AbortListener for Gate {
    fn aborted(&self) {
        self.state.lock().unwrap().aborted = true;
        self.changed.notify_all();
    }
}

impl Scan {
    fn hits(&self, query: &str) -> Vec<SessionHit> {
        let live = self.live.lock().unwrap();
        let hit = |snapshot: &SessionSnapshot| {
            let document = snapshot
                .documents
                .iter()
                .find(|document| document.text().contains(query))?;
            Some(SessionHit {
                session: SessionRecord {
                    header: snapshot.header.clone(),
                    live: snapshot.live,
                    persisted: snapshot.persisted,
                },
                best_match: EventHit {
                    event: EventRecord {
                        session_id: snapshot.header.id.clone(),
                        seq: document.seq,
                        time: document.time,
                        r#type: document.type_name.clone(),
                        surface: snapshot.surface(document),
                    },
                    snippet: document.text(),
                },
            })
        };
        live.values().filter_map(hit).collect()
    }
}

impl SearchProvider for Scan {
    fn id(&self) -> &str {
        "scan"
    }

    fn status(&self) -> ProviderStatus {
        ProviderStatus::Available
    }

    fn persisted_inventory(&self) -> Result<Vec<InventoryEntry>, ProviderError> {
        Ok(Vec::new())
    }

    fn replace_persisted(&self, _: &SessionSnapshot) -> Result<(), ProviderError> {
        Ok(())
    }

    fn remove_persisted(&self, _: &str) -> Result<(), ProviderError> {
        Ok(())
    }

    fn set_persisted_active(&self, _: bool) -> Result<(), ProviderError> {
        Ok(())
    }

    fn replace_live(&self, snapshot: &SessionSnapshot) -> Result<(), ProviderError> {
        let mut live = self.live.lock().unwrap();
        live.insert(snapshot.header.id.clone(), snapshot.clone());
        Ok(())
    }

    fn remove_live(&self, session_id: &str) -> Result<(), ProviderError> {
        self.live.lock().unwrap().remove(session_id);
        Ok(())
    }

    fn search_sessions(
        &self,
        spec: &SessionSearchSpec,
        abort: &AbortSignal,
    ) -> Result<SearchPage<SessionHit>, ProviderError> {
        if spec.query == GATED {
            self.gate.pass(abort);
        }
        Ok(SearchPage {
            provider_id: self.id().to_owned(),
            items: self.hits(&spec.query),
            next_cursor: None,
        })
    }

    fn search_events(
        &self,
        spec: &SessionEventSearchSpec,
        _: &AbortSignal,
    ) -> Result<SearchPage<EventHit>, ProviderError> {
        let hits = self.hits(&spec.query).into_iter().map(|hit| hit.best_match);
        Ok(SearchPage {
            provider_id: self.id().to_owned(),
            items: hits
                .filter(|hit| hit.event.session_id == spec.session_id)
                .collect(),
            next_cursor: None,
        })
    }
}
