//! Properties of `grep`: it finds what no index holds, in words as they were said and not as they were
//! written down; it names where; it narrows, counts and stops as asked; what is gone is looked through too.

use crate::person::{Call, Person, append, lines, record};
use serde_json::{Value, json};

const A: &str = "a0000000-0000-4000-8000-00000000000a";
const B: &str = "b0000000-0000-4000-8000-00000000000b";

/// A session with a tool result of a thousand lines; line 900 names a walrus.
fn with_long_log(person: &Person) -> std::path::PathBuf {
    let log: Vec<String> = (1..=1_000)
        .map(|line| match line {
            900 => "error: walrus \"refused\" the C:\\kettle".to_owned(),
            line => format!("line {line} of nothing in particular"),
        })
        .collect();
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make\ntea"}}]);
    let answer = json!([{"type": "tool_result", "tool_use_id": "t1", "content": log.join("\n")}]);
    let records = [
        record(A, 0, None, "user", json!("please make\ntea")),
        record(A, 1, Some(0), "assistant", call),
        record(A, 2, Some(1), "user", answer),
        record(A, 3, Some(2), "assistant", json!("the walrus has refused")),
    ];
    person.claude_records(A, &records)
}

/// The hits of a call with `--json`.
fn hits(call: &Call) -> Vec<Value> {
    assert_eq!(call.code, 0, "{}", call.err);
    call.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn what_is_beyond_the_cap_is_found_with_its_place() {
    let person = Person::new();
    let path = with_long_log(&person);
    let found = hits(&person.call(&["grep", "--json", "-F", "walrus \"refused\" the C:\\kettle"]));
    let wanted = json!({"agent": "claude", "sessionId": A, "filePath": path, "seq": 2,
        "time": "2026-05-04T09:02:00.000Z", "role": "tool", "kind": "result", "line": 900,
        "text": "error: walrus \"refused\" the C:\\kettle", "matches": [{"start": 7, "end": 37}]});
    assert_eq!(found, [wanted]);
    assert!(!person.data().exists(), "no index is written");

    let shown = person
        .call(&["show", A, "--at", "2", "--before", "0", "--after", "0", "--json"])
        .json();
    let text = shown["events"][0]["text"].as_str().unwrap();
    assert!(text.lines().nth(899).unwrap().contains("walrus"));
    assert_eq!(person.call(&["search", "C:\\kettle"]).code, 1);
}

#[test]
fn people_see_session_event_and_line() {
    let person = Person::new();
    with_long_log(&person);
    let call = person.call(&["grep", "-C1", r"walrus.*refused"]);
    let expected = format!(
        "claude - {A} - /srv/shop - please make tea\n  #2  tool result  2026-05-04 09:02\n     \
        899- line 899 of nothing in particular\n     900: error: walrus \"refused\" the C:\\kettle\n     \
        901- line 901 of nothing in particular\n  #3  agent  2026-05-04 09:03\n       \
        1: the walrus has refused\n"
    );
    assert_eq!((call.code, call.out), (0, expected), "{}", call.err);
    assert!(
        call.err.contains("2 hits in 1 session of 1 transcript"),
        "{}",
        call.err
    );
}

#[test]
fn phrases_go_across_line_breaks() {
    let person = Person::new();
    with_long_log(&person);
    for arguments in [
        &["make tea"][..],
        &["-F", "make tea"],
        &[r"make\s+te."],
        &["-w", "Make Tea", "-i"],
    ] {
        let found = hits(&person.call(&[&["grep", "--json"], arguments].concat()));
        let at: Vec<_> = found
            .iter()
            .map(|hit| (hit["seq"].as_u64(), hit["kind"].as_str()))
            .collect();
        assert_eq!(
            at,
            [(Some(0), Some("user")), (Some(1), Some("call"))],
            "{arguments:?}"
        );
        assert_eq!(found[0]["text"], "please make\ntea");
        // The call's name is the first line of its words.
        assert_eq!(found[1]["line"], 2);
    }
    assert_eq!(
        hits(&person.call(&["grep", "--json", "make te."])),
        Vec::<Value>::new()
    );
}

#[test]
fn what_is_found_is_narrowed() {
    let person = Person::new();
    with_long_log(&person);
    person.codex(B, "count the walrus", "there is one");
    let ids = |arguments: &[&str]| {
        let mut ids: Vec<String> =
            hits(&person.call(&[&["grep", "--json", "-l", "walrus"], arguments].concat()))
                .iter()
                .map(|hit| hit["sessionId"].as_str().unwrap().to_owned())
                .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&[]), [A, B]);
    assert_eq!(ids(&["--agent", "codex"]), [B]);
    assert_eq!(ids(&["--path", "/srv/shop"]), [A]);
    assert_eq!(ids(&["--since", "2026-05-04T15:00:00Z"]), [B]);
    assert_eq!(ids(&["--limit", "1"]).len(), 1);
    let said = hits(&person.call(&[
        "grep",
        "--json",
        "--scope",
        "conversation",
        "--agent",
        "claude",
        "walrus",
    ]));
    assert_eq!(said.len(), 1);
    assert_eq!(
        (&said[0]["seq"], &said[0]["role"]),
        (&json!(3), &json!("assistant"))
    );
}

#[test]
fn sessions_are_listed_and_hits_counted() {
    let person = Person::new();
    with_long_log(&person);
    let call = person.call(&["grep", "-l", "nothing in particular"]);
    assert_eq!(call.out, format!("claude - {A} - /srv/shop - please make tea\n"));
    let call = person.call(&["grep", "-c", "nothing in particular"]);
    assert_eq!(
        call.out,
        format!("   999  claude - {A} - /srv/shop - please make tea\n")
    );
    let counted = hits(&person.call(&["grep", "-c", "--json", "-m", "7", "nothing in particular"]));
    assert_eq!((counted.len(), &counted[0]["count"]), (1, &json!(7)));
    let first = hits(&person.call(&["grep", "--json", "-m2", "nothing in particular"]));
    assert_eq!(
        first
            .iter()
            .map(|hit| hit["line"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2]
    );
    let call = person.call(&["grep", "--limit", "3", "nothing in particular"]);
    assert_eq!(
        call.out
            .lines()
            .filter(|line| line.contains("particular"))
            .count(),
        3
    );
    assert!(call.err.contains("--limit"), "{}", call.err);
    let call = person.call(&["grep", "--limit", "1000", "nothing in particular"]);
    assert!(!call.err.contains("--limit"), "{}", call.err);
}

#[test]
fn case_is_as_it_is_asked_for() {
    let person = Person::new();
    person.claude(A, &["the KETTLE", "a kettle"]);
    let count = |arguments: &[&str]| hits(&person.call(&[&["grep", "--json"], arguments].concat())).len();
    assert_eq!(count(&["kettle"]), 2);
    assert_eq!(count(&["KETTLE"]), 1);
    assert_eq!(count(&["-i", "KETTLE"]), 2);
    assert_eq!(count(&["-s", "kettle"]), 1);
    assert_eq!(count(&["-w", "kett"]), 0);
}

#[test]
fn nothing_and_nonsense_have_their_codes() {
    let person = Person::new();
    with_long_log(&person);
    let call = person.call(&["grep", "xylophone"]);
    assert_eq!((call.code, call.out.as_str()), (1, ""));
    assert!(call.err.contains("0 hits"), "{}", call.err);
    assert_eq!(
        hits(&person.call(&["grep", "--json", "xylophone"])),
        Vec::<Value>::new()
    );
    let call = person.call(&["grep", "wal(rus"]);
    assert_eq!((call.code, call.out.as_str()), (2, ""));
    assert!(
        call.err.contains("at character 4: unclosed group") && call.err.contains("hint: with -F"),
        "{}",
        call.err
    );
    for wrong in [
        &["grep"][..],
        &["grep", ""],
        &["grep", "-m0", "x"],
        &["grep", "--agent", "nobody", "x"],
    ] {
        assert_eq!(person.call(wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(person.call(&["grep", "-F", "wal(rus"]).code, 1);
}

#[test]
fn nothing_of_a_transcript_reaches_the_terminal_as_control() {
    let person = Person::new();
    let words = "kettle \u{1b}]0;owned\u{7} \u{1b}[2J \u{9b}31m \u{202e}drawkcab\u{2066} zero\u{200b}width\r\u{7f} end";
    person.claude(A, &[words, "lid\n\u{1b}[2Kkettle"]);
    let call = person.call(&["grep", "-C2", "kettle"]);
    assert_eq!(call.code, 0, "{}", call.err);
    let is_control = |character: char| {
        character != '\n' && (character.is_control() || "\u{202e}\u{2066}\u{200b}".contains(character))
    };
    assert!(!call.out.contains(is_control), "{:?}", call.out);
    assert!(call.out.contains("kettle ]0;owned"), "{}", call.out);
    let found = hits(&person.call(&["grep", "--json", "zero"]));
    assert_eq!(found[0]["text"], words);
}

#[test]
fn escapes_do_not_hide_words() {
    let person = Person::new();
    let path = person.claude(A, &["plain", "words"]);
    let record = record(A, 2, Some(1), "user", json!("@@")).to_string();
    append(
        &path,
        &format!(
            "{}\n",
            record.replace("@@", r"\u7ea0\u7F20 k\u0065ttle caf\u00e9")
        ),
    );
    for words in ["纠缠", "kettle", "CAFÉ", "kettle café"] {
        assert_eq!(
            hits(&person.call(&["grep", "--json", "-i", words])).len(),
            1,
            "{words}"
        );
    }
}

#[test]
fn sessions_whose_transcripts_are_gone_are_looked_through() {
    let person = Person::new();
    let path = with_long_log(&person);
    person.codex(B, "count the walrus", "there is one");
    assert_eq!(person.call(&["index"]).code, 0);
    std::fs::remove_file(&path).unwrap();
    // Whether or not anybody has noticed yet.
    for _ in 0..2 {
        let found = hits(&person.call(&["grep", "--json", "walrus HAS", "-i"]));
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0]["sessionId"], &found[0]["seq"]), (&json!(A), &json!(3)));
        assert_eq!(
            (&found[0]["fromArchive"], &found[0]["filePath"]),
            (&json!(true), &json!(path))
        );
        let call = person.call(&["grep", "has refused"]);
        assert!(call.out.contains("transcript is gone"), "{}", call.out);
        assert!(
            call.err
                .contains("1 session of 1 transcript and 1 session without one"),
            "{}",
            call.err
        );
        assert_eq!(
            person
                .call(&["grep", "--json", "--agent", "codex", "walrus"])
                .out
                .lines()
                .count(),
            1
        );
        assert_eq!(person.call(&["index"]).code, 0);
    }
}

#[test]
fn a_search_without_hits_offers_it() {
    let person = Person::new();
    person.claude(A, &["kettle", "lid"]);
    let call = person.call(&["search", "it's", "\"a xylophone\"", "repo:shop"]);
    assert_eq!(call.code, 1);
    let offer =
        "tool output is indexed up to 3072 characters: `lookback grep -F 'it'\\''s a xylophone'` looks";
    assert!(call.err.contains(offer), "{}", call.err);
    assert!(
        !person
            .call(&["search", "--json", "xylophone"])
            .err
            .contains("grep")
    );
    assert!(!person.call(&["search", "kettle"]).err.contains("grep"));
}

#[test]
fn a_larger_limit_reads_again_and_finds_more() {
    let person = Person::new();
    with_long_log(&person);
    let search = |limit: Option<&str>, arguments: &[&str]| {
        let mut command = person.command(arguments);
        limit.map(|limit| command.env("LOOKBACK_TOOL_TEXT_LIMIT", limit));
        crate::person::finish(&mut command)
    };
    let words = ["search", "--json", "\"refused the C\""];
    assert_eq!(search(None, &words).hits(), Vec::<String>::new());
    let read = search(Some("100000"), &["index", "--json"]).json();
    assert_eq!(read["filesRead"], 1);
    assert_eq!(search(Some("100000"), &words).hits(), [A]);
    assert_eq!(
        search(Some("100000"), &["index", "--json"]).json()["filesRead"],
        0
    );
    assert_eq!(search(None, &words).hits(), Vec::<String>::new());
    let call = search(Some("many"), &["index"]);
    assert_eq!(call.code, 2);
    assert!(call.err.contains("LOOKBACK_TOOL_TEXT_LIMIT"), "{}", call.err);
}

#[test]
fn damaged_lines_cost_themselves() {
    let person = Person::new();
    let path = person.claude(A, &["kettle", "lid"]);
    let next = lines(&[record(A, 2, Some(1), "user", json!("another kettle"))]);
    append(&path, &format!("{{\"type\":\"user\",\"mess\n{next}"));
    assert_eq!(hits(&person.call(&["grep", "--json", "kettle"])).len(), 2);
}
