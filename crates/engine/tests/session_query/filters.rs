//! Filters over records, hits and pages (contract B, B.7).

use crate::scripted::{World, child, code, header, sessions_with};
use lookback_model::session_query::filter::{HasSession, filter_event_results, filter_session_results};
use lookback_model::session_query::{
    AbortSignal, Availability, EventRecord, EventResultFilter, SessionQueryErrorCode, SessionRecord,
    SessionResultFilter, SessionSearchRequest,
};
use lookback_model::{SessionHeader, SurfaceState, Timestamp};
use serde_json::json;

fn record(id: &str, cwd: Option<&str>, parent: Option<&str>) -> SessionRecord {
    SessionRecord {
        header: SessionHeader {
            cwd: cwd.map(str::to_owned),
            parent_session: parent.map(str::to_owned),
            ..header(id)
        },
        live: true,
        persisted: false,
    }
}

fn event(seq: u64, r#type: &str, surface: SurfaceState) -> EventRecord {
    EventRecord {
        session_id: "s".to_owned(),
        seq,
        time: Timestamp(10 * seq as i64),
        r#type: r#type.to_owned(),
        surface,
    }
}

fn ids<T: HasSession>(items: &[T]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item.session().header.id.as_str())
        .collect()
}

fn passing<'a>(records: &'a [SessionRecord], filters: &[SessionResultFilter]) -> Vec<&'a str> {
    let passed: Vec<&SessionRecord> = filter_session_results(records, filters).unwrap();
    passed
        .into_iter()
        .map(|record| record.header.id.as_str())
        .collect()
}

fn seqs(records: &[EventRecord], filters: &[EventResultFilter]) -> Vec<u64> {
    let passed = filter_event_results(records, filters).unwrap();
    passed.into_iter().map(|record| record.seq).collect()
}

fn id(values: &[&str]) -> SessionResultFilter {
    SessionResultFilter::Id {
        values: values.iter().map(|id| (*id).to_owned()).collect(),
    }
}

fn seq(from: Option<f64>, to: Option<f64>) -> EventResultFilter {
    EventResultFilter::Seq { from, to }
}

fn events() -> Vec<EventRecord> {
    vec![
        event(0, "user/message", SurfaceState::Shadowed),
        event(1, "turn/end", SurfaceState::LogOnly),
        event(2, "assistant/message", SurfaceState::Current),
        event(3, "vendor/thing", SurfaceState::LogOnly),
    ]
}

/// Property: several filters must all pass, of the values of one filter any.
#[test]
fn filters_are_all_and_values_are_any() {
    let records = [
        record("s1", Some("/a"), None),
        record("s2", Some("/b"), None),
        record("s3", Some("/a"), None),
    ];
    let in_a = SessionResultFilter::Cwd {
        values: vec![Some("/a".to_owned())],
    };
    assert_eq!(passing(&records, &[id(&["s1", "s2"]), in_a]), ["s1"]);
    let types = EventResultFilter::Type {
        values: vec!["user/message".to_owned(), "vendor/thing".to_owned()],
    };
    assert_eq!(seqs(&events(), std::slice::from_ref(&types)), [0, 3]);
    assert_eq!(seqs(&events(), &[types, seq(Some(1.0), None)]), [3]);
}

/// Property: what passes are the very items, in their order.
#[test]
fn items_keep_their_identity_and_order() {
    let records = [
        record("s3", None, None),
        record("s1", None, None),
        record("s2", None, None),
    ];
    let passed: Vec<&SessionRecord> = filter_session_results(&records, &[id(&["s1", "s3"])]).unwrap();
    assert_eq!(passed.len(), 2);
    assert!(std::ptr::eq(passed[0], &raw const records[0]));
    assert!(std::ptr::eq(passed[1], &raw const records[1]));
}

/// Property: the input stays as it was, and the answer is a list of its own.
#[test]
fn the_input_is_untouched_and_the_answer_is_fresh() {
    let records = vec![record("s1", None, None), record("s2", None, None)];
    let before = records.clone();
    let mut passed = filter_session_results(records.clone(), &[]).unwrap();
    passed.clear();
    let kept: Vec<&SessionRecord> = filter_session_results(&records, &[id(&["s2"])]).unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(records, before);
}

/// Property: a cwd of null matches exactly the sessions without one.
#[test]
fn a_null_cwd_is_no_cwd() {
    let records = [
        record("s1", None, None),
        record("s2", Some("/a"), None),
        record("s3", Some("/a/b"), None),
    ];
    let cwd = |values: Vec<Option<String>>| [SessionResultFilter::Cwd { values }];
    assert_eq!(passing(&records, &cwd(vec![None])), ["s1"]);
    assert_eq!(passing(&records, &cwd(vec![Some("/a".to_owned())])), ["s2"]);
    assert_eq!(
        passing(&records, &cwd(vec![None, Some("/a".to_owned())])),
        ["s1", "s2"]
    );
}

/// Property: a parent of null matches exactly the roots.
#[test]
fn a_null_parent_is_a_root() {
    let records = [
        record("s1", None, None),
        record("s2", None, Some("s1")),
        record("s3", None, Some("gone")),
    ];
    let parent = |values: Vec<Option<String>>| [SessionResultFilter::Parent { values }];
    assert_eq!(passing(&records, &parent(vec![None])), ["s1"]);
    assert_eq!(
        passing(&records, &parent(vec![Some("s1".to_owned()), None])),
        ["s1", "s2"]
    );
}

/// Property: a session passes that is in any of the named places.
#[test]
fn availability_is_a_union() {
    let held = |id, live, persisted| SessionRecord {
        live,
        persisted,
        ..record(id, None, None)
    };
    let records = [
        held("none", false, false),
        held("live", true, false),
        held("kept", false, true),
        held("both", true, true),
    ];
    let filter = |values: &[Availability]| {
        [SessionResultFilter::Availability {
            values: values.to_vec(),
        }]
    };
    use Availability::{Live, Persisted};
    assert_eq!(passing(&records, &filter(&[Live])), ["live", "both"]);
    assert_eq!(passing(&records, &filter(&[Persisted])), ["kept", "both"]);
    assert_eq!(
        passing(&records, &filter(&[Live, Persisted])),
        ["live", "kept", "both"]
    );
}

/// Property: a filter without values lets nothing through.
#[test]
fn no_values_match_nothing() {
    let records = [record("s1", None, None)];
    for filter in [
        id(&[]),
        SessionResultFilter::Cwd { values: vec![] },
        SessionResultFilter::Parent { values: vec![] },
        SessionResultFilter::Availability { values: vec![] },
    ] {
        assert_eq!(passing(&records, &[filter]), [""; 0]);
    }
    for filter in [
        EventResultFilter::Type { values: vec![] },
        EventResultFilter::Surface { values: vec![] },
    ] {
        assert_eq!(seqs(&events(), &[filter]), [0; 0]);
    }
}

/// Property: no filters let everything through.
#[test]
fn no_filters_match_everything() {
    let records = [record("s1", None, None), record("s2", None, None)];
    assert_eq!(passing(&records, &[]), ["s1", "s2"]);
    assert_eq!(seqs(&events(), &[]), [0, 1, 2, 3]);
}

/// Property: both ends of a range belong to it.
#[test]
fn ranges_include_both_ends() {
    assert_eq!(seqs(&events(), &[seq(Some(1.0), Some(2.0))]), [1, 2]);
    let time = EventResultFilter::Time {
        from: Some(10.0),
        to: Some(20.0),
    };
    assert_eq!(seqs(&events(), &[time]), [1, 2]);
    let records = [
        record("s1", None, None),
        record("s2", None, None),
        record("s3", None, None),
    ];
    let created = SessionResultFilter::CreatedAt {
        from: Some(2.0),
        to: Some(2.0),
    };
    assert_eq!(passing(&records, &[created]), ["s2"]);
}

/// Property: a range without an end is open there, and one without both takes all.
#[test]
fn ranges_may_be_open() {
    assert_eq!(seqs(&events(), &[seq(Some(2.0), None)]), [2, 3]);
    assert_eq!(seqs(&events(), &[seq(None, Some(1.5))]), [0, 1]);
    assert_eq!(seqs(&events(), &[seq(None, None)]), [0, 1, 2, 3]);
}

/// Property: a range that runs backwards is refused, even when there is nothing to filter.
#[test]
fn a_backward_range_is_refused_for_no_items_too() {
    let none: [EventRecord; 0] = [];
    let backward = code(filter_event_results(none, &[seq(Some(2.0), Some(1.0))]));
    assert_eq!(backward, SessionQueryErrorCode::InvalidFilter);
    let none: [SessionRecord; 0] = [];
    let created = SessionResultFilter::CreatedAt {
        from: Some(1.0),
        to: Some(0.0),
    };
    assert_eq!(
        code(filter_session_results(none, &[created])),
        SessionQueryErrorCode::InvalidFilter
    );
}

/// Property: a bound must be a finite number.
#[test]
fn unbounded_numbers_are_refused() {
    for bound in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for filter in [seq(Some(bound), None), seq(None, Some(bound))] {
            let none: [EventRecord; 0] = [];
            assert_eq!(
                code(filter_event_results(none, &[filter])),
                SessionQueryErrorCode::InvalidFilter,
                "{bound}"
            );
        }
    }
}

/// Property: places and states that there are not are refused.
#[test]
fn unknown_values_are_refused() {
    let availability = json!({"kind": "availability", "values": ["live", "archived"]});
    assert_eq!(
        code(SessionResultFilter::from_json(&availability)),
        SessionQueryErrorCode::InvalidFilter
    );
    let surface = json!({"kind": "surface", "values": ["current", "hidden"]});
    assert_eq!(
        code(EventResultFilter::from_json(&surface)),
        SessionQueryErrorCode::InvalidFilter
    );
}

/// Property: kinds that there are not, and other shapes, are refused; a good one is read as it was written.
#[test]
fn unknown_kinds_and_shapes_are_refused() {
    for filter in [
        json!({"kind": "colour", "values": []}),
        json!({"values": ["s1"]}),
        json!({"kind": "id", "values": "s1"}),
        json!({"kind": "id", "values": [1]}),
        json!({"kind": "id", "values": ["s1"], "also": 1}),
        json!({"kind": "created-at", "from": "yesterday"}),
        json!([]),
        json!(["id", ["s1"]]),
        json!(["seq", 1, 2]),
        json!(null),
    ] {
        assert_eq!(
            code(SessionResultFilter::from_json(&filter)),
            SessionQueryErrorCode::InvalidFilter,
            "{filter}"
        );
        assert_eq!(
            code(EventResultFilter::from_json(&filter)),
            SessionQueryErrorCode::InvalidFilter,
            "{filter}"
        );
    }
    let good = json!({"kind": "cwd", "values": [null, "/a"]});
    let read = SessionResultFilter::from_json(&good).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), good);
}

/// Property: filtering a page afterwards leaves fewer hits; none are fetched in their place.
#[test]
fn filtering_a_page_fetches_nothing() {
    let world = World::new();
    for id in ["s1", "s2", "s3"] {
        world.session(id, &["word"]);
    }
    let request = SessionSearchRequest {
        limit: Some(2.0),
        ..sessions_with("word")
    };
    let page = world
        .query
        .search_sessions(&request, &AbortSignal::new())
        .unwrap();
    assert_eq!(ids(&page.items), ["s1", "s2"]);
    world.provider.take_calls();
    let rest = filter_session_results(page.items, &[id(&["s2", "s3"])]).unwrap();
    assert_eq!(ids(&rest), ["s2"]);
    assert_eq!(world.provider.take_calls(), [""; 0]);
}

/// Property: filters of a request are applied before the page is cut, and records of children count as such.
#[test]
fn filters_of_a_request_come_before_the_limit() {
    let world = World::new();
    world.session("s1", &["word"]);
    let kept = world.live.create(child("s2", "s1"), Vec::new()).unwrap();
    crate::scripted::say(&kept, "word");
    let request = SessionSearchRequest {
        limit: Some(1.0),
        session_filters: vec![SessionResultFilter::Parent {
            values: vec![Some("s1".to_owned())],
        }],
        ..sessions_with("word")
    };
    let page = world
        .query
        .search_sessions(&request, &AbortSignal::new())
        .unwrap();
    assert_eq!(ids(&page.items), ["s2"]);
}
