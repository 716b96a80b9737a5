//! Filters: applied before ranking and paging, so that a page is never short while matches remain.
//!
//! What must be found is worked out from the fed records by the filters' own pure functions.

use super::made::{self, Grow};
use super::{Opened, over_all, over_events, paging};
use lookback_model::session_query::{
    Availability, EventDocument, EventRecord, EventResultFilter, SessionRecord, SessionResultFilter,
    SessionSnapshot,
};
use lookback_model::{SurfaceState, TextKind, Timestamp};

/// How many made-up sessions are in each layer.
const SESSIONS: i64 = 24;
/// Pages this small are cut many times.
const LIMIT: usize = 2;

/// Sessions that differ in every fact a filter can name; a third each persisted, live and both.
fn fed(opened: &Opened<'_>) -> Vec<SessionRecord> {
    let mut records = Vec::new();
    for number in 0..SESSIONS * 3 {
        let (live, persisted) =
            [(false, true), (true, false), (true, true)][usize::try_from(number).unwrap() % 3];
        let mut snapshot = made::persisted(&format!("s{number:02}"));
        snapshot.header.created_at = Timestamp(made::BEGIN + number * 60_000);
        snapshot.header.cwd = [
            None,
            Some("/work/one"),
            Some("/work/one/deeper"),
            Some("/WORK/one"),
        ][usize::try_from(number).unwrap() % 4]
            .map(str::to_owned);
        snapshot.header.parent_session = [None, Some("s00"), Some("gone"), None, None]
            [usize::try_from(number).unwrap() % 5]
            .map(str::to_owned);
        let snapshot = snapshot.saying(TextKind::User, "quokka");
        if persisted {
            opened.provider().replace_persisted(&snapshot).unwrap();
        }
        if live {
            let snapshot = SessionSnapshot {
                live,
                persisted,
                fingerprint: String::new(),
                revision: None,
                ..snapshot.clone()
            };
            opened.provider().replace_live(&snapshot).unwrap();
        }
        records.push(SessionRecord {
            header: snapshot.header,
            live,
            persisted,
        });
    }
    opened.provider().set_persisted_active(true).unwrap();
    records
}

fn some(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn options(values: &[Option<&str>]) -> Vec<Option<String>> {
    values.iter().map(|value| value.map(str::to_owned)).collect()
}

fn created(from: Option<f64>, to: Option<f64>) -> SessionResultFilter {
    SessionResultFilter::CreatedAt { from, to }
}

/// Every kind of session filter, with its corners.
fn session_filters() -> Vec<SessionResultFilter> {
    use SessionResultFilter::{Cwd, Id, Parent};
    let id = |values: &[&str]| Id { values: some(values) };
    let cwd = |values: &[Option<&str>]| Cwd {
        values: options(values),
    };
    let parent = |values: &[Option<&str>]| Parent {
        values: options(values),
    };
    let held = |values: &[Availability]| SessionResultFilter::Availability {
        values: values.to_vec(),
    };
    let at = |minute: i64| (made::BEGIN + minute * 60_000) as f64;
    vec![
        id(&["s03", "s04", "s05", "s03", "nobody"]),
        id(&["S03"]),
        id(&[]),
        cwd(&[Some("/work/one")]),
        cwd(&[None]),
        cwd(&[None, Some("/WORK/one")]),
        cwd(&[Some("/work/")]),
        cwd(&[]),
        parent(&[None]),
        parent(&[Some("s00")]),
        parent(&[Some("gone"), None]),
        parent(&[]),
        held(&[Availability::Live]),
        held(&[Availability::Persisted]),
        held(&[Availability::Live, Availability::Persisted]),
        held(&[]),
        created(Some(at(10)), Some(at(20))),
        created(Some(at(10) + 0.5), Some(at(20) - 0.5)),
        created(Some(at(60)), None),
        created(None, Some(at(6))),
        created(None, None),
        created(Some(-1e300), Some(1e300)),
        created(Some(1e300), None),
    ]
}

/// Property: with each filter the pages hold exactly the sessions that it lets through, and are full to the last.
pub fn each_session_filter_is_applied_before_paging(opened: &mut Opened<'_>) {
    let records = fed(opened);
    let mut narrowed = 0;
    for filter in session_filters() {
        let mut expected: Vec<_> = records.iter().filter(|record| filter.takes(record)).collect();
        narrowed += usize::from(!expected.is_empty() && expected.len() < records.len());
        let mut spec = over_all("quokka");
        spec.session_filters = vec![filter.clone()];
        let hits = paging::all_sessions(opened, &spec, &[LIMIT]);
        let mut found: Vec<_> = hits.iter().map(|hit| &hit.session).collect();
        found.sort_by(|left, right| left.header.id.cmp(&right.header.id));
        expected.sort_by(|left, right| left.header.id.cmp(&right.header.id));
        assert_eq!(found, expected, "{filter:?}");
    }
    assert!(narrowed > 10, "the filters must tell sessions apart");
}

/// A session of events that differ in every fact a filter can name.
fn eventful(snapshot: SessionSnapshot) -> SessionSnapshot {
    let kinds = [
        TextKind::User,
        TextKind::Agent,
        TextKind::Call,
        TextKind::Result,
        TextKind::Context,
    ];
    let mut snapshot = (0..40).fold(snapshot, |snapshot, number: usize| {
        snapshot.saying(kinds[number % kinds.len()], "quokka")
    });
    snapshot = snapshot.with(EventDocument {
        type_name: "vendor/\"note\"".to_owned(),
        has_marker: false,
        ..made::document(TextKind::Context, "quokka")
    });
    snapshot.shadowed = vec![(3, 11), (20, 20)];
    snapshot
}

fn event_records(snapshot: &SessionSnapshot) -> Vec<EventRecord> {
    let record = |document: &EventDocument| EventRecord {
        session_id: snapshot.header.id.clone(),
        seq: document.seq,
        time: document.time,
        r#type: document.type_name.clone(),
        surface: snapshot.surface(document),
    };
    snapshot
        .documents
        .iter()
        .map(|document| record(document))
        .collect()
}

/// Every kind of event filter, with its corners.
fn event_filters() -> Vec<EventResultFilter> {
    use EventResultFilter::{Seq, Surface, Time, Type};
    use SurfaceState::{Current, LogOnly, Shadowed};
    let at = |seq: i64| Some((made::BEGIN + seq * 1_000) as f64);
    let seq = |from, to| Seq { from, to };
    let time = |from, to| Time { from, to };
    let types = |values: &[&str]| Type { values: some(values) };
    let surface = |values: &[SurfaceState]| Surface {
        values: values.to_vec(),
    };
    vec![
        seq(Some(5.0), Some(9.0)),
        seq(Some(4.5), Some(9.5)),
        seq(Some(39.0), None),
        seq(None, Some(0.0)),
        seq(Some(-3.0), Some(-1.0)),
        seq(None, None),
        seq(Some(1e300), None),
        time(at(5), at(9)),
        time(at(38), None),
        time(None, at(1)),
        time(Some(-1e300), Some(1e300)),
        types(&["user/message"]),
        types(&["tool/call", "vendor/\"note\"", "nothing/like-it"]),
        types(&["USER/message"]),
        types(&[]),
        surface(&[Current]),
        surface(&[Shadowed]),
        surface(&[LogOnly]),
        surface(&[Shadowed, LogOnly]),
        surface(&[]),
    ]
}

/// Property: with each filter the pages hold exactly the events that it lets through, and are full to the last.
pub fn each_event_filter_is_applied_before_paging(opened: &mut Opened<'_>) {
    let live = eventful(made::live("live"));
    let base = eventful(made::persisted("base"));
    opened.provider().replace_live(&live).unwrap();
    opened.provider().replace_persisted(&base).unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    for snapshot in [&live, &base] {
        let records = event_records(snapshot);
        for filter in event_filters() {
            let expected: Vec<_> = records.iter().filter(|record| filter.takes(record)).collect();
            let mut spec = over_events(&snapshot.header.id, "quokka");
            spec.filters = vec![filter.clone()];
            let hits = paging::all_events(opened, &spec, &[LIMIT]);
            let mut found: Vec<_> = hits.iter().map(|hit| &hit.event).collect();
            found.sort_by_key(|event| event.seq);
            assert_eq!(found, expected, "{filter:?} in {}", snapshot.header.id);
        }
    }
}

/// Property: a session is found exactly when an event with the words passes the event filters, and its best match
/// is such an event.
pub fn event_filters_decide_which_sessions_are_found(opened: &mut Opened<'_>) {
    let eventful = eventful(made::persisted("eventful"));
    let short = made::persisted("short")
        .saying(TextKind::User, "quokka")
        .saying(TextKind::Agent, "pelican");
    let live = made::live("live")
        .saying(TextKind::User, "pelican")
        .saying(TextKind::Agent, "quokka");
    opened.provider().replace_persisted(&eventful).unwrap();
    opened.provider().replace_persisted(&short).unwrap();
    opened.provider().replace_live(&live).unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    let matching = |snapshot: &SessionSnapshot, filter: &EventResultFilter| {
        let has_word = |seq: u64| {
            snapshot
                .documents
                .iter()
                .any(|document| document.seq == seq && document.text().contains("quokka"))
        };
        event_records(snapshot)
            .into_iter()
            .filter(|record| filter.takes(record) && has_word(record.seq))
            .collect::<Vec<_>>()
    };
    for filter in event_filters() {
        let mut spec = over_all("quokka");
        spec.event_filters = vec![filter.clone()];
        let hits = paging::all_sessions(opened, &spec, &[1]);
        for snapshot in [&eventful, &short, &live] {
            let passing = matching(snapshot, &filter);
            let hit = hits
                .iter()
                .find(|hit| hit.session.header.id == snapshot.header.id);
            assert_eq!(
                hit.is_some(),
                !passing.is_empty(),
                "{filter:?} {}",
                snapshot.header.id
            );
            if let Some(hit) = hit {
                assert!(passing.contains(&hit.best_match.event), "{filter:?} {hit:?}");
            }
        }
    }
}

/// Property: every filter of a list must let a hit through, by any of its values.
pub fn filters_are_an_and_chain_of_alternatives(opened: &mut Opened<'_>) {
    let records = fed(opened);
    let filters = vec![
        SessionResultFilter::Availability {
            values: vec![Availability::Live],
        },
        SessionResultFilter::Cwd {
            values: options(&[None, Some("/work/one")]),
        },
        created(Some((made::BEGIN + 600_000) as f64), None),
        SessionResultFilter::Parent {
            values: options(&[None, Some("gone")]),
        },
    ];
    let takes = |record: &&SessionRecord| filters.iter().all(|filter| filter.takes(record));
    let expected: Vec<_> = records
        .iter()
        .filter(takes)
        .map(|record| &record.header.id)
        .collect();
    assert!(expected.len() > LIMIT && expected.len() < records.len() / 2);
    let mut spec = over_all("quokka");
    spec.session_filters = filters.clone();
    let hits = paging::all_sessions(opened, &spec, &[LIMIT]);
    let mut found: Vec<_> = hits.iter().map(|hit| &hit.session.header.id).collect();
    found.sort();
    assert_eq!(found, expected);

    let snapshot = eventful(made::live("eventful"));
    opened.provider().replace_live(&snapshot).unwrap();
    let mut spec = over_events("eventful", "quokka");
    spec.filters = vec![
        EventResultFilter::Seq {
            from: Some(2.0),
            to: Some(25.0),
        },
        EventResultFilter::Type {
            values: some(&["user/message", "assistant/message"]),
        },
        EventResultFilter::Surface {
            values: vec![SurfaceState::Shadowed],
        },
    ];
    let mut found: Vec<_> = paging::all_events(opened, &spec, &[LIMIT])
        .iter()
        .map(|hit| hit.event.seq)
        .collect();
    found.sort_unstable();
    assert_eq!(found, [5, 6, 10, 11, 20]);
}

/// Property: an event that a fork copied is found in the fork when filters leave only that, and by a search of
/// the fork's events.
pub fn copies_of_one_event_pass_filters_each_for_itself(opened: &mut Opened<'_>) {
    let copied = EventDocument {
        copy_key: 77,
        ..made::document(TextKind::Agent, "quokka")
    };
    for id in ["fork", "parent"] {
        let mut snapshot = made::persisted(id).with(copied.clone());
        snapshot.header.parent_session = (id == "fork").then(|| "parent".to_owned());
        opened.provider().replace_persisted(&snapshot).unwrap();
    }
    opened.provider().set_persisted_active(true).unwrap();
    for id in ["fork", "parent"] {
        let mut spec = over_all("quokka");
        spec.session_filters = vec![SessionResultFilter::Id {
            values: vec![id.to_owned()],
        }];
        let hits = paging::all_sessions(opened, &spec, &[LIMIT]);
        let found: Vec<_> = hits.iter().map(|hit| hit.session.header.id.as_str()).collect();
        assert_eq!(found, [id]);
        assert_eq!(opened.found_in(id, "quokka"), [0]);
    }
}
