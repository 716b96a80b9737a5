//! Pages and cursors.

use super::made::{self, Grow};
use super::{Opened, chain, over_all, over_events, refusal};
use lookback_model::session_query::{
    CursorRefusal, EventHit, EventResultFilter, SessionEventSearchSpec, SessionHit, SessionResultFilter,
    SessionSearchSpec, SessionSnapshot,
};
use lookback_model::{TextKind, Timestamp};

/// More pages than any test here has.
const PAGES: usize = 1_000;

/// All hits of a search, page by page, with the limits in turn. Every page but the last must be full, and a cursor
/// must lead on to at least one hit.
pub(super) fn all_sessions(
    opened: &Opened<'_>,
    spec: &SessionSearchSpec,
    limits: &[usize],
) -> Vec<SessionHit> {
    let mut spec = spec.clone();
    let mut hits = Vec::new();
    for limit in limits.iter().cycle().take(PAGES) {
        spec.limit = *limit;
        let page = opened.sessions(&spec);
        let (is_first, count) = (spec.cursor.is_none(), page.items.len());
        hits.extend(page.items);
        spec.cursor = page.next_cursor;
        check_page(is_first, count, *limit, spec.cursor.is_some());
        if spec.cursor.is_none() {
            return hits;
        }
    }
    panic!("the pages of {spec:?} do not end");
}

/// The same for events.
pub(super) fn all_events(
    opened: &Opened<'_>,
    spec: &SessionEventSearchSpec,
    limits: &[usize],
) -> Vec<EventHit> {
    let mut spec = spec.clone();
    let mut hits = Vec::new();
    for limit in limits.iter().cycle().take(PAGES) {
        spec.limit = *limit;
        let page = opened.events(&spec);
        let (is_first, count) = (spec.cursor.is_none(), page.items.len());
        hits.extend(page.items);
        spec.cursor = page.next_cursor;
        check_page(is_first, count, *limit, spec.cursor.is_some());
        if spec.cursor.is_none() {
            return hits;
        }
    }
    panic!("the pages of {spec:?} do not end");
}

fn check_page(is_first: bool, count: usize, limit: usize, goes_on: bool) {
    assert!(count <= limit, "{count} hits where {limit} were asked for");
    assert!(is_first || count > 0, "a cursor led to nothing");
    assert!(
        !goes_on || count == limit,
        "a page of {count} is short of {limit}"
    );
}

/// Sessions in both layers, all with the same word, among others without it.
fn fed(opened: &Opened<'_>) {
    for number in 0..23_i64 {
        let mut snapshot = if number % 2 == 0 {
            made::persisted(&format!("s{number:02}"))
        } else {
            made::live(&format!("s{number:02}"))
        };
        // Some are equal in everything but their id.
        snapshot.header.created_at = Timestamp(made::BEGIN + number / 3);
        let word = if number % 11 == 10 { "pelican" } else { "quokka" };
        let snapshot = (0..9).fold(snapshot, |snapshot, _| snapshot.saying(TextKind::User, word));
        feed(opened, &snapshot);
    }
    opened.provider().set_persisted_active(true).unwrap();
}

fn feed(opened: &Opened<'_>, snapshot: &SessionSnapshot) {
    if snapshot.live {
        opened.provider().replace_live(snapshot).unwrap();
    } else {
        opened.provider().replace_persisted(snapshot).unwrap();
    }
}

/// Property: whatever the limits, the pages give each hit once, and all in the same order.
pub fn a_page_holds_each_hit_once_whatever_the_limits(opened: &mut Opened<'_>) {
    fed(opened);
    let sessions = all_sessions(opened, &over_all("quokka"), &[100]);
    let events = all_events(opened, &over_events("s01", "quokka"), &[100]);
    assert_eq!((sessions.len(), events.len()), (21, 9));
    for limits in [&[1][..], &[2], &[3], &[7], &[20], &[21], &[22]] {
        assert_eq!(
            all_sessions(opened, &over_all("quokka"), limits),
            sessions,
            "{limits:?}"
        );
        assert_eq!(
            all_events(opened, &over_events("s01", "quokka"), limits),
            events,
            "{limits:?}"
        );
    }
    let mut ids: Vec<_> = sessions.iter().map(|hit| &hit.session.header.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 21);
}

/// Property: a limit beyond what there is gives everything and no cursor.
pub fn a_large_limit_gives_all_and_no_cursor(opened: &mut Opened<'_>) {
    fed(opened);
    for limit in [21, 22, 10_000, 1 << 31] {
        let page = opened.sessions(&SessionSearchSpec {
            limit,
            ..over_all("quokka")
        });
        assert_eq!((page.items.len(), page.next_cursor), (21, None), "limit {limit}");
        let page = opened.events(&SessionEventSearchSpec {
            limit,
            ..over_events("s00", "quokka")
        });
        assert_eq!((page.items.len(), page.next_cursor), (9, None), "limit {limit}");
    }
}

/// Property: pages of one search may have different limits.
pub fn the_limit_may_change_between_pages(opened: &mut Opened<'_>) {
    fed(opened);
    let sessions = all_sessions(opened, &over_all("quokka"), &[100]);
    let events = all_events(opened, &over_events("s02", "quokka"), &[100]);
    for limits in [&[1, 5, 2][..], &[4, 1], &[2, 100], &[20, 1]] {
        assert_eq!(
            all_sessions(opened, &over_all("quokka"), limits),
            sessions,
            "{limits:?}"
        );
        assert_eq!(
            all_events(opened, &over_events("s02", "quokka"), limits),
            events,
            "{limits:?}"
        );
    }
}

/// A cursor after the first hit of a search over all sessions.
fn session_cursor(opened: &Opened<'_>) -> Option<String> {
    let spec = SessionSearchSpec {
        limit: 1,
        ..over_all("quokka")
    };
    let cursor = opened.sessions(&spec).next_cursor;
    assert!(cursor.is_some());
    cursor
}

/// A cursor after the first hit of a search in a session.
fn event_cursor(opened: &Opened<'_>, session: &str) -> Option<String> {
    let spec = SessionEventSearchSpec {
        limit: 1,
        ..over_events(session, "quokka")
    };
    let cursor = opened.events(&spec).next_cursor;
    assert!(cursor.is_some());
    cursor
}

fn assert_session_refusal(
    opened: &Opened<'_>,
    spec: &SessionSearchSpec,
    expected: &CursorRefusal,
    why: &str,
) {
    match opened.try_sessions(spec) {
        Ok(page) => panic!("{why}: {:?} was taken: {page:?}", spec.cursor),
        Err(error) => assert_eq!(
            refusal(&error).as_ref(),
            Some(expected),
            "{why}: {}",
            chain(&error)
        ),
    }
}

fn assert_event_refusal(
    opened: &Opened<'_>,
    spec: &SessionEventSearchSpec,
    expected: &CursorRefusal,
    why: &str,
) {
    match opened.try_events(spec) {
        Ok(page) => panic!("{why}: {:?} was taken: {page:?}", spec.cursor),
        Err(error) => assert_eq!(
            refusal(&error).as_ref(),
            Some(expected),
            "{why}: {}",
            chain(&error)
        ),
    }
}

/// Property: what the service does before every search (deactivate, feed what is fed already, activate) keeps
/// cursors; else nobody would see a second page.
pub fn feeding_nothing_new_keeps_cursors(opened: &mut Opened<'_>) {
    fed(opened);
    let snapshots: Vec<_> = [made::live("t0"), made::live("t1")]
        .into_iter()
        .map(|snapshot| {
            snapshot
                .saying(TextKind::User, "quokka")
                .saying(TextKind::Agent, "quokka")
        })
        .collect();
    snapshots.iter().for_each(|snapshot| feed(opened, snapshot));
    let sessions = all_sessions(opened, &over_all("quokka"), &[100]);
    let events = all_events(opened, &over_events("t0", "quokka"), &[100]);
    let (mut session_spec, mut event_spec) = (over_all("quokka"), over_events("t0", "quokka"));
    (session_spec.cursor, event_spec.cursor) = (session_cursor(opened), event_cursor(opened, "t0"));
    opened.provider().set_persisted_active(false).unwrap();
    opened.provider().persisted_inventory().unwrap();
    opened.provider().remove_persisted("nobody").unwrap();
    opened.provider().set_persisted_active(true).unwrap();
    opened.provider().remove_live("nobody").unwrap();
    snapshots.iter().for_each(|snapshot| feed(opened, snapshot));
    assert_eq!(opened.sessions(&session_spec).items, sessions[1..]);
    assert_eq!(opened.events(&event_spec).items, events[1..]);
}

/// Property: a cursor is refused as stale when what it was given for has changed, in either layer and in each way.
pub fn cursors_of_an_older_state_are_stale(opened: &mut Opened<'_>) {
    fed(opened);
    let grown = |snapshot: SessionSnapshot| {
        let fingerprint = if snapshot.live { "" } else { "99" };
        SessionSnapshot {
            fingerprint: fingerprint.repeat(32),
            ..(0..10).fold(snapshot, |snapshot, _| snapshot.saying(TextKind::User, "quokka"))
        }
    };
    let change: [(&str, &dyn Fn()); 6] = [
        ("a live session grew", &|| feed(opened, &grown(made::live("s01")))),
        ("a live session came", &|| feed(opened, &grown(made::live("new")))),
        ("a live session went", &|| {
            opened.provider().remove_live("s03").unwrap()
        }),
        ("a persisted session grew", &|| {
            feed(opened, &grown(made::persisted("s02")));
        }),
        ("a persisted session went", &|| {
            opened.provider().remove_persisted("s04").unwrap();
        }),
        ("persistence went", &|| {
            opened.provider().set_persisted_active(false).unwrap();
        }),
    ];
    for (why, make) in change {
        let mut spec = over_all("quokka");
        spec.cursor = session_cursor(opened);
        make();
        assert_session_refusal(opened, &spec, &CursorRefusal::Stale, why);
    }
    opened.provider().set_persisted_active(true).unwrap();
    for (id, changed) in [("s05", made::live("s05")), ("s06", made::persisted("s06"))] {
        let mut spec = over_events(id, "quokka");
        spec.cursor = event_cursor(opened, id);
        feed(opened, &grown(changed));
        assert_event_refusal(opened, &spec, &CursorRefusal::Stale, id);
    }
}

/// Property: changes of other sessions, in either layer, keep the cursor of an event search.
pub fn other_sessions_do_not_make_an_event_cursor_stale(opened: &mut Opened<'_>) {
    fed(opened);
    for id in ["s00", "s01"] {
        let events = all_events(opened, &over_events(id, "quokka"), &[100]);
        let mut spec = over_events(id, "quokka");
        spec.cursor = event_cursor(opened, id);
        let said = |snapshot: SessionSnapshot| snapshot.saying(TextKind::User, &format!("quokka {id}"));
        feed(opened, &said(made::live("s03")));
        feed(opened, &said(made::live(&format!("{id}0"))));
        feed(opened, &said(made::persisted("s04")));
        feed(opened, &said(made::persisted(&format!("{id}1"))));
        opened.provider().remove_live(&format!("{id}0")).unwrap();
        opened.provider().remove_persisted(&format!("{id}1")).unwrap();
        assert_eq!(opened.events(&spec).items, events[1..], "{id}");
    }
}

/// Property: a cursor goes on with the request it was given for and with no other.
pub fn cursors_of_another_request_are_malformed(opened: &mut Opened<'_>) {
    fed(opened);
    let malformed = CursorRefusal::Malformed;
    let cursor = session_cursor(opened);
    let with = |spec: SessionSearchSpec| SessionSearchSpec {
        cursor: cursor.clone(),
        ..spec
    };
    assert_session_refusal(opened, &with(over_all("pelican")), &malformed, "another query");
    let spec = with(SessionSearchSpec {
        session_filters: vec![SessionResultFilter::CreatedAt {
            from: None,
            to: Some(made::BEGIN as f64),
        }],
        ..over_all("quokka")
    });
    assert_session_refusal(opened, &spec, &malformed, "another session filter");
    let filter = EventResultFilter::Seq {
        from: Some(1.0),
        to: None,
    };
    let spec = with(SessionSearchSpec {
        event_filters: vec![filter.clone()],
        ..over_all("quokka")
    });
    assert_session_refusal(opened, &spec, &malformed, "another event filter");
    let spec = SessionEventSearchSpec {
        cursor: cursor.clone(),
        ..over_events("s00", "quokka")
    };
    assert_event_refusal(opened, &spec, &malformed, "a search over all sessions");

    let cursor = event_cursor(opened, "s00");
    let with = |spec: SessionEventSearchSpec| SessionEventSearchSpec {
        cursor: cursor.clone(),
        ..spec
    };
    assert_event_refusal(
        opened,
        &with(over_events("s01", "quokka")),
        &malformed,
        "another session",
    );
    assert_event_refusal(
        opened,
        &with(over_events("s00", "pelican")),
        &malformed,
        "another query",
    );
    let spec = with(SessionEventSearchSpec {
        filters: vec![filter],
        ..over_events("s00", "quokka")
    });
    assert_event_refusal(opened, &spec, &malformed, "another filter");
    let spec = SessionSearchSpec {
        cursor: cursor.clone(),
        ..over_all("quokka")
    };
    assert_session_refusal(opened, &spec, &malformed, "a search in one session");
}

/// Property: what is no cursor is refused; one that was tampered with is refused or goes on, and breaks nothing.
pub fn cursors_that_are_none_are_malformed(opened: &mut Opened<'_>) {
    fed(opened);
    let long = "A".repeat(100_000);
    for text in [
        "", " ", "0", "null", "{}", "%00\0", "💥", "../..", "e30", "e30=", &long,
    ] {
        let why = text.chars().take(10).collect::<String>();
        let spec = SessionSearchSpec {
            cursor: Some(text.to_owned()),
            ..over_all("quokka")
        };
        assert_session_refusal(opened, &spec, &CursorRefusal::Malformed, &why);
        let spec = SessionEventSearchSpec {
            cursor: Some(text.to_owned()),
            ..over_events("s00", "quokka")
        };
        assert_event_refusal(opened, &spec, &CursorRefusal::Malformed, &why);
    }
    let cursor = session_cursor(opened).unwrap();
    for at in 0..cursor.chars().count() {
        for other in ['0', '9', 'A', '-', '\u{2028}'] {
            let tampered: String = cursor
                .chars()
                .enumerate()
                .map(|(place, character)| if place == at { other } else { character })
                .collect();
            let spec = SessionSearchSpec {
                cursor: Some(tampered.clone()),
                ..over_all("quokka")
            };
            if let Err(error) = opened.try_sessions(&spec) {
                assert!(refusal(&error).is_some(), "{tampered}: {}", chain(&error));
            }
        }
    }
    let cut = cursor.chars().take(cursor.chars().count() / 2).collect();
    let spec = SessionSearchSpec {
        cursor: Some(cut),
        ..over_all("quokka")
    };
    assert_session_refusal(opened, &spec, &CursorRefusal::Malformed, "half a cursor");
}
