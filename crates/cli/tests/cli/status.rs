//! Properties of `status`: contract A's fields, before and after the first pass; it looks at no transcript.

use crate::person::Person;

#[test]
fn status_tells_idle_then_current() {
    let person = Person::new();
    person.claude("a0000000-0000-4000-8000-00000000000a", &["kettle", "lid"]);
    let before = person.call(&["status", "--json"]).json();
    assert_eq!(before["phase"], "idle");
    assert!(
        before["lastReconcileAt"].is_null() && before["filesIndexed"] == 0,
        "{before}"
    );
    assert!(!person.data().exists(), "a look leaves nothing behind");
    person.call(&["index"]);
    let after = person.call(&["status", "--json"]).json();
    assert_eq!(
        (after["phase"].as_str(), after["filesIndexed"].as_u64()),
        (Some("current"), Some(1))
    );
    assert!(after["lastSweepCompletedAt"].as_i64() > Some(0), "{after}");
    assert_eq!(after["enabled"], true);
    let call = person.call(&["status"]);
    assert!(
        call.out.contains("current") && call.out.contains("1 read, 0 to read, 0 failed"),
        "{}",
        call.out
    );
}
