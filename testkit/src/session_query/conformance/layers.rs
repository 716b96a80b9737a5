//! The two layers: the durable base, and the live override before it.

use super::Opened;
use super::made::{self, Grow};
use lookback_model::TextKind;
use lookback_model::session_query::{InventoryEntry, SessionSnapshot};

const NONE: [&str; 0] = [];
const NO_EVENTS: [u64; 0] = [];

fn inventory(opened: &Opened<'_>) -> Vec<InventoryEntry> {
    let mut entries = opened.provider().persisted_inventory().unwrap();
    entries.sort_by(|left, right| left.session_id.cmp(&right.session_id));
    entries
}

fn inventory_ids(opened: &Opened<'_>) -> Vec<String> {
    inventory(opened)
        .into_iter()
        .map(|entry| entry.session_id)
        .collect()
}

fn put(opened: &Opened<'_>, snapshot: &SessionSnapshot) {
    opened.provider().replace_persisted(snapshot).unwrap();
}

fn activate(opened: &Opened<'_>, active: bool) {
    opened.provider().set_persisted_active(active).unwrap();
}

/// Property: the base is not seen until it is activated, nor after it is deactivated, and stays what it is.
pub fn the_base_begins_inactive_and_deactivating_removes_nothing(opened: &mut Opened<'_>) {
    put(opened, &made::persisted("a").saying(TextKind::User, "quokka"));
    assert_eq!(opened.found("quokka"), NONE);
    assert_eq!(opened.found_in("a", "quokka"), NO_EVENTS);
    let held = inventory(opened);
    for active in [true, true, false, false, true] {
        activate(opened, active);
        let expected: &[&str] = if active { &["a"] } else { &NONE };
        assert_eq!(opened.found("quokka"), expected);
        assert_eq!(opened.found_in("a", "quokka").len(), usize::from(active));
        assert_eq!(inventory(opened), held);
    }
    activate(opened, false);
    put(opened, &made::persisted("b").saying(TextKind::User, "quokka"));
    assert_eq!(opened.found("quokka"), NONE, "writing activates nothing");
    activate(opened, true);
    assert_eq!(opened.found("quokka"), ["a", "b"]);
}

/// Property: the inventory names each session of the base once, with the fingerprint, revision and extractors of
/// its last replacement; the override is no part of it.
pub fn the_inventory_is_what_was_put_in(opened: &mut Opened<'_>) {
    assert_eq!(inventory(opened), []);
    let first = made::persisted("a").saying(TextKind::User, "quokka");
    let silent = SessionSnapshot {
        revision: None,
        extractors: "vendor/note@1,vendor/plan@2.0".to_owned(),
        fingerprint: "ab".repeat(32),
        ..made::persisted("silent").silent()
    };
    put(opened, &first);
    put(opened, &silent);
    opened
        .provider()
        .replace_live(&made::live("live").saying(TextKind::User, "quokka"))
        .unwrap();
    let entry = |snapshot: &SessionSnapshot| InventoryEntry {
        session_id: snapshot.header.id.clone(),
        fingerprint: snapshot.fingerprint.clone(),
        revision: snapshot.revision.clone(),
        extractors: snapshot.extractors.clone(),
    };
    assert_eq!(inventory(opened), [entry(&first), entry(&silent)]);
    let second = SessionSnapshot {
        revision: Some("12-34-56".to_owned()),
        extractors: "vendor/note@1".to_owned(),
        fingerprint: "cd".repeat(32),
        ..first
    };
    put(opened, &second);
    assert_eq!(inventory(opened), [entry(&second), entry(&silent)]);
    opened.provider().remove_persisted("silent").unwrap();
    assert_eq!(inventory(opened), [entry(&second)]);
}

/// Property: after a session of the base was replaced, nothing of what it was is found.
pub fn replacing_in_the_base_replaces_all(opened: &mut Opened<'_>) {
    activate(opened, true);
    put(
        opened,
        &made::persisted("a")
            .saying(TextKind::User, "quokka")
            .saying(TextKind::Agent, "pelican"),
    );
    put(opened, &made::persisted("a").saying(TextKind::User, "zirconium"));
    assert_eq!(opened.found("quokka"), NONE);
    assert_eq!(opened.found("pelican"), NONE);
    assert_eq!(opened.found_in("a", "pelican"), NO_EVENTS);
    assert_eq!(opened.found("zirconium"), ["a"]);
    put(opened, &made::persisted("a"));
    assert_eq!(opened.found("zirconium"), NONE);
    assert_eq!(inventory_ids(opened), ["a"]);
}

/// Property: after a live session was replaced, nothing of what it was is found.
pub fn replacing_in_the_override_replaces_all(opened: &mut Opened<'_>) {
    let feed = |opened: &Opened<'_>, snapshot: SessionSnapshot| {
        opened.provider().replace_live(&snapshot).unwrap();
    };
    feed(
        opened,
        made::live("a")
            .saying(TextKind::User, "quokka")
            .saying(TextKind::Agent, "pelican"),
    );
    feed(opened, made::live("a").saying(TextKind::User, "zirconium"));
    assert_eq!(opened.found("quokka"), NONE);
    assert_eq!(opened.found("pelican"), NONE);
    assert_eq!(opened.found_in("a", "pelican"), NO_EVENTS);
    assert_eq!(opened.found("zirconium"), ["a"]);
    feed(opened, made::live("a"));
    assert_eq!(opened.found("zirconium"), NONE);
}

/// Property: while a session is live its persisted text is not found, and afterwards it is.
pub fn live_hides_the_base_and_reveals_it_again(opened: &mut Opened<'_>) {
    activate(opened, true);
    put(opened, &made::persisted("a").saying(TextKind::User, "quokka"));
    put(opened, &made::persisted("b").saying(TextKind::User, "quokka"));
    let live = SessionSnapshot {
        persisted: true,
        ..made::live("a").saying(TextKind::User, "pelican")
    };
    opened.provider().replace_live(&live).unwrap();
    assert_eq!(opened.found("quokka"), ["b"]);
    assert_eq!(opened.found_in("a", "quokka"), NO_EVENTS);
    assert_eq!(opened.found("pelican"), ["a"]);
    assert_eq!(inventory_ids(opened), ["a", "b"]);
    opened.provider().remove_live("a").unwrap();
    assert_eq!(opened.found("quokka"), ["a", "b"]);
    assert_eq!(opened.found_in("a", "quokka"), [0]);
    assert_eq!(opened.found("pelican"), NONE);
}

/// Property: a live session that has said nothing yet hides its persisted text as well.
pub fn a_live_session_without_text_hides_the_base(opened: &mut Opened<'_>) {
    activate(opened, true);
    put(opened, &made::persisted("a").saying(TextKind::User, "quokka"));
    opened.provider().replace_live(&made::live("a")).unwrap();
    assert_eq!(opened.found("quokka"), NONE);
    assert_eq!(opened.found_in("a", "quokka"), NO_EVENTS);
    opened.provider().remove_live("a").unwrap();
    assert_eq!(opened.found("quokka"), ["a"]);
}

/// Property: what is put into, or taken out of, the base beneath a live session shows when that one ends.
pub fn the_base_changes_unseen_beneath_a_live_session(opened: &mut Opened<'_>) {
    activate(opened, true);
    for id in ["changed", "removed"] {
        put(opened, &made::persisted(id).saying(TextKind::User, "quokka"));
        let live = made::live(id).saying(TextKind::User, "pelican");
        opened.provider().replace_live(&live).unwrap();
    }
    put(
        opened,
        &made::persisted("changed").saying(TextKind::User, "zirconium"),
    );
    opened.provider().remove_persisted("removed").unwrap();
    assert_eq!(opened.found("zirconium"), NONE);
    assert_eq!(opened.found("pelican"), ["changed", "removed"]);
    for id in ["changed", "removed"] {
        opened.provider().remove_live(id).unwrap();
    }
    assert_eq!(opened.found("zirconium"), ["changed"]);
    assert_eq!(opened.found("quokka"), NONE);
}

/// Property: the next search after a feed sees it, each time.
pub fn live_text_is_found_as_soon_as_it_was_fed(opened: &mut Opened<'_>) {
    let mut snapshot = made::live("a");
    for round in 0..40 {
        snapshot = snapshot.saying(TextKind::User, &format!("quokka number{round}x"));
        opened.provider().replace_live(&snapshot).unwrap();
        assert_eq!(opened.found_in("a", "quokka").len(), round + 1);
        let newest = opened.found_in("a", &format!("number{round}x"));
        assert!(newest.contains(&(round as u64)), "round {round}: {newest:?}");
    }
}

/// Property: a live session that grows shadows events that were fed before, though their documents are the same.
pub fn a_live_session_grows(opened: &mut Opened<'_>) {
    let provider = opened.provider();
    let begun = made::live("a")
        .saying(TextKind::User, "quokka")
        .saying(TextKind::Agent, "quokka");
    provider.replace_live(&begun).unwrap();
    let rewound = SessionSnapshot {
        shadowed: vec![(0, 1)],
        ..begun.saying(TextKind::User, "quokka")
    };
    provider.replace_live(&rewound).unwrap();
    let mut items = opened.events(&super::over_events("a", "quokka")).items;
    items.sort_by_key(|hit| hit.event.seq);
    let states: Vec<_> = items
        .iter()
        .map(|hit| (hit.event.seq, hit.event.surface))
        .collect();
    use lookback_model::SurfaceState::{Current, Shadowed};
    assert_eq!(states, [(0, Shadowed), (1, Shadowed), (2, Current)]);
}

/// Property: taking out what is not there succeeds and changes nothing.
pub fn removing_what_is_absent_is_no_error(opened: &mut Opened<'_>) {
    let provider = opened.provider();
    provider.remove_persisted("nobody").unwrap();
    provider.remove_live("nobody").unwrap();
    activate(opened, true);
    put(opened, &made::persisted("a").saying(TextKind::User, "quokka"));
    let live = made::live("b").saying(TextKind::User, "quokka");
    provider.replace_live(&live).unwrap();
    provider.remove_persisted("b").unwrap();
    provider.remove_live("a").unwrap();
    assert_eq!(opened.found("quokka"), ["a", "b"]);
    assert_eq!(inventory_ids(opened), ["a"]);
}

/// Property: what was taken out is not found, and may come back.
pub fn removed_sessions_are_gone(opened: &mut Opened<'_>) {
    activate(opened, true);
    let base = made::persisted("a").saying(TextKind::User, "quokka");
    let live = made::live("b").saying(TextKind::User, "quokka");
    for _ in 0..2 {
        put(opened, &base);
        opened.provider().replace_live(&live).unwrap();
        assert_eq!(opened.found("quokka"), ["a", "b"]);
        opened.provider().remove_persisted("a").unwrap();
        assert_eq!(opened.found("quokka"), ["b"]);
        assert_eq!(opened.found_in("a", "quokka"), NO_EVENTS);
        opened.provider().remove_live("b").unwrap();
        assert_eq!(opened.found("quokka"), NONE);
        assert_eq!(inventory(opened), []);
    }
}

/// Property: a durable base is there when it is opened again, inactive and whole; live sessions are not, and hide
/// nothing any more. A base that is not durable is empty.
pub fn the_base_survives_and_live_does_not(opened: &mut Opened<'_>) {
    activate(opened, true);
    for id in ["a", "b", "c"] {
        let snapshot = made::persisted(id)
            .saying(TextKind::User, "quokka")
            .saying(TextKind::Agent, "pelican");
        put(opened, &snapshot);
    }
    opened.provider().remove_persisted("c").unwrap();
    for id in ["a", "live"] {
        let live = made::live(id).saying(TextKind::User, "zirconium");
        opened.provider().replace_live(&live).unwrap();
    }
    let held = inventory(opened);
    opened.reopen();
    assert_eq!(opened.found("quokka"), NONE, "a base begins inactive");
    activate(opened, true);
    assert_eq!(opened.found("zirconium"), NONE);
    if opened.subject.is_durable() {
        assert_eq!(inventory(opened), held);
        assert_eq!(opened.found("quokka"), ["a", "b"]);
        assert_eq!(opened.found_in("a", "pelican"), [1]);
        opened.provider().remove_persisted("a").unwrap();
        opened.reopen();
        activate(opened, true);
        assert_eq!(opened.found("quokka"), ["b"], "removals survive as well");
    } else {
        assert_eq!(inventory(opened), []);
        assert_eq!(opened.found("quokka"), NONE);
    }
}
