//! Properties: a file means one session and no other; whatever a person can mistype in one is refused.

use super::*;
use serde_json::json;

/// A file with these events and questions.
fn parse(rest: &str) -> Result<Session> {
    let head = "agent = \"codex\"\ncwd = \"/w\"\nstarted = \"2026-03-02T09:14:00Z\"\n";
    Session::parse("slug", &format!("{head}{rest}"))
}

#[test]
fn each_event_is_of_its_sort() {
    let session = parse(concat!(
        "[[event]]\nuser = \"u\"\n",
        "[[event]]\nagent = \"a\"\n",
        "[[event]]\ncall = \"Bash\"\ninput = { command = \"ls\", deep = [1, { a = true }] }\nresult = \"r\"\n",
        "[[event]]\ncall = \"Bare\"\n",
        "[[question]]\nask = \"q\"\nkind = \"prose\"\nalso = [\"other\"]\n",
    ))
    .unwrap();
    let input = json!({"command": "ls", "deep": [1, {"a": true}]});
    let expected = [
        Event::User("u".to_owned()),
        Event::Agent("a".to_owned()),
        Event::Call(Call {
            tool: "Bash".to_owned(),
            input: input.as_object().unwrap().clone(),
            result: Some("r".to_owned()),
        }),
        Event::Call(Call {
            tool: "Bare".to_owned(),
            input: Map::new(),
            result: None,
        }),
    ];
    assert_eq!(session.events, expected);
    assert_eq!(session.slug, "slug");
    assert_eq!(session.questions[0].kind, Kind::Prose);
    assert_eq!(session.questions[0].also, ["other"]);
}

#[test]
fn what_a_file_cannot_mean_is_refused() {
    for wrong in [
        "",
        "[[event]]\n",
        "[[event]]\nuser = \"u\"\nagent = \"a\"\n",
        "[[event]]\nagent = \"a\"\ncall = \"Bash\"\n",
        "[[event]]\nuser = \"u\"\nresult = \"r\"\n",
        "[[event]]\ninput = {}\n",
        "[[event]]\nusr = \"u\"\n",
        "[[event]]\nuser = \"u\"\n[[question]]\nask = \"q\"\nkind = \"proze\"\n",
        "[[event]]\nuser = \"u\"\n[[question]]\nkind = \"prose\"\n",
        "title = \"t\"\n[[event]]\nuser = \"u\"\n",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
    let undated = "agent = \"codex\"\ncwd = \"/w\"\nstarted = \"yesterday\"\n[[event]]\nuser = \"u\"\n";
    assert!(Session::parse("slug", undated).is_err());
}

#[test]
fn kinds_are_shown_as_they_are_written() {
    for word in "identifier path code error decision change language typo prose".split(' ') {
        let kind: Kind = serde_json::from_value(json!(word)).unwrap();
        assert_eq!(kind.to_string(), word);
    }
}

#[test]
fn events_follow_forty_seconds_apart() {
    let session = parse("[[event]]\nuser = \"u\"\n").unwrap();
    assert_eq!(session.moment(0, 0).unwrap(), "2026-03-02T09:14:00.000Z");
    assert_eq!(
        session.moment(2, ANSWER_AFTER).unwrap(),
        "2026-03-02T09:15:28.000Z"
    );
    assert!(session.moment(usize::MAX / STEP, 0).is_err());
}

/// Property: ids have the form of random UUIDs, and each name has one of its own, the same on every run.
#[test]
fn ids_come_from_names() {
    let session = parse("[[event]]\nuser = \"u\"\n").unwrap();
    let id = session.id();
    assert_eq!(id, Session::id_of("slug"));
    assert_ne!(id, Session::id_of("slug2"));
    assert_ne!(session.event_id(0, "call"), session.event_id(0, "result"));
    assert_ne!(session.event_id(0, "call"), session.event_id(1, "call"));
    let lengths: Vec<usize> = id.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert_eq!(&id[14..15], "4");
    assert!("89ab".contains(&id[19..20]), "{id}");
}
