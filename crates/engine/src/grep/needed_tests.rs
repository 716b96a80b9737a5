//! Property: whatever way words are written in JSON, and in JSON within JSON, a file in which a pattern
//! matches is never ruled out; and most others are.

use super::super::pattern::{Case, Pattern, PatternOptions};
use super::*;
use proptest::prelude::*;

fn pattern(text: &str, fixed: bool, case: Case) -> Pattern {
    let options = PatternOptions {
        fixed,
        case,
        words: false,
    };
    Pattern::new(text, options).unwrap()
}

fn stands_in(pattern: &Pattern, raw: &[u8]) -> bool {
    let mut block = Vec::new();
    pattern.needed.stands_in(&[], &mut block, || Ok(raw)).unwrap()
}

/// A JSON string of `text`; where `escape` says so, a character is written as an escape.
fn written(text: &str, escape: &[bool]) -> String {
    let mut json = String::from("\"");
    for (number, character) in text.chars().enumerate() {
        let forced = character < ' ' || matches!(character, '"' | '\\');
        if forced || escape.get(number % escape.len().max(1)).copied().unwrap_or(false) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                json.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            json.push(character);
        }
    }
    json.push('"');
    json
}

/// The pieces that a pattern needs, pairs that it needs side by side last.
fn needs(text: &str, fixed: bool) -> Vec<Vec<String>> {
    let pattern = pattern(text, fixed, Case::Exact);
    pattern.needed.all.into_iter().map(|any| any.pieces).collect()
}

#[test]
fn pieces_are_what_json_leaves_alone() {
    assert_eq!(needs("connection", true), [["connection"]]);
    assert_eq!(
        needs(r#"say "it's" C:\tmp/x-1_y."#, true),
        [["x-1_y"], ["say"], ["tmp"], ["it"]]
    );
    assert_eq!(
        needs("(err|warning): [a-z]+ lost", false),
        [vec!["lost"], vec!["err", "warning"]]
    );
    assert_eq!(needs("x*(retry)?", false), Vec::<Vec<String>>::new());
    assert_eq!(needs("a|b?", false), Vec::<Vec<String>>::new());
    assert_eq!(needs("(?:retry)+", false), [["retry"]]);
    assert_eq!(needs("量子 и \u{fffd}", true), [["量子"], ["и"]]);
    assert_eq!(needs("1e3 12345678901234567890 42", true), [["42"]]);
}

#[test]
fn words_of_a_phrase_stand_side_by_side() {
    let words = needs(r"the connection\s+(?:was) (refused) now", false);
    let pairs: Vec<String> = words
        .into_iter()
        .filter(|pair| pair.len() > 1)
        .map(|pair| pair.join(" "))
        .collect();
    assert_eq!(pairs, ["the connection", "connection was"]);
    let phrase = pattern("connection refused", true, Case::Ignored);
    let gaps = [
        " ",
        "  \t",
        r"\n",
        r"\r\n\t",
        r"\\n   ",
        r"\u00a0",
        "\u{a0}",
        r#""},{"text":""#,
    ];
    for gap in gaps {
        assert!(
            stands_in(&phrase, format!(r#"{{"a":"Connection{gap}refused"}}"#).as_bytes()),
            "{gap}"
        );
    }
    for gap in ["", " was ", "-", r"\nwas\n", ", "] {
        assert!(
            !stands_in(&phrase, format!("a Connection{gap}refused b").as_bytes()),
            "{gap}"
        );
    }
    let long = format!("connection{}refused", r"\n".repeat(2_000));
    assert!(stands_in(&phrase, long.as_bytes()));
    assert!(stands_in(
        &pattern("true 42 refused", true, Case::Exact),
        br#"[true,42,"refused"]"#
    ));
}

#[test]
fn what_a_reader_adds_rules_nothing_out() {
    let pattern = pattern("Apply_Patch", true, Case::Ignored);
    assert!(pattern.needed.rules_out(&[]) && !pattern.needed.rules_out(&["apply_patch"]));
    let mut block = Vec::new();
    let raw = b"patch_apply_end";
    assert!(
        !pattern
            .needed
            .stands_in(&[], &mut block, || Ok(&raw[..]))
            .unwrap()
    );
    assert!(
        pattern
            .needed
            .stands_in(&["apply_patch"], &mut block, || Ok(&raw[..]))
            .unwrap()
    );
}

#[test]
fn letters_are_the_same_in_every_writing() {
    let skills = pattern("skills", true, Case::Ignored);
    for raw in [
        "\"SKILLS\"",
        "\"\u{17f}\u{212a}ills\"",
        r#""\u0053kills""#,
        r#""s\u006bills""#,
    ] {
        assert!(stands_in(&skills, raw.as_bytes()), "{raw}");
    }
    assert!(!stands_in(&skills, br#""skill \u003c \u001b""#));
    let chinese = pattern("纠缠", true, Case::Ignored);
    for raw in ["量子纠缠", r"\u7ea0\u7F20", r"\\\\u7EA0\\\\u7f20", r"纠\u7f20"] {
        assert!(stands_in(&chinese, raw.as_bytes()), "{raw}");
    }
    assert!(!stands_in(&chinese, "纠 缠".as_bytes()));
}

#[test]
fn pieces_are_found_across_blocks() {
    let needle = pattern("brontolith", true, Case::Exact);
    for before in BLOCK - 12..BLOCK + 12 {
        let mut raw = vec![b'x'; before + OVERLAP];
        raw.extend_from_slice(b" brontolith");
        assert!(stands_in(&needle, &raw), "{before}");
    }
}

/// Letters with and without case, with special folds, digits, signs that are escaped, and white space.
const TEXT: &str = "[a-cksKS ſ\u{212a}éÉß纠缠😀0-2eE\"\\\\/<\n\t_.:-]{1,12}";

proptest! {
    #[test]
    fn nothing_that_matches_is_ruled_out(
        before in TEXT,
        words in TEXT,
        after in TEXT,
        escape in prop::collection::vec(any::<bool>(), 1..5),
        nested in any::<bool>(),
        ignored in any::<bool>(),
    ) {
        let case = if ignored { Case::Ignored } else { Case::Exact };
        let pattern = pattern(&words, true, case);
        let cased = if ignored { words.to_uppercase() } else { words.clone() };
        let text = format!("{before}{cased}{after}");
        prop_assume!(pattern.expression.is_match(&text));
        let mut raw = written(&text, &escape);
        if nested {
            raw = written(&raw, &escape);
        }
        prop_assert!(stands_in(&pattern, raw.as_bytes()), "{raw}");
    }

    #[test]
    fn phrases_are_found_however_they_are_broken(
        words in prop::collection::vec("[a-eksKS0-2_-]{1,4}", 2..5),
        gaps in prop::collection::vec("[ \n\t\r\u{b}\u{a0}\u{2028}]{1,40}", 4),
        escape in prop::collection::vec(any::<bool>(), 1..5),
        shorthand in any::<bool>(),
    ) {
        let pattern = pattern(&words.join(" "), true, Case::Ignored);
        let text: String = words.iter().zip(&gaps).flat_map(|(word, gap)| [word.to_uppercase(), gap.clone()]).collect();
        prop_assert!(pattern.expression.is_match(&text));
        let mut raw = if shorthand { serde_json::to_string(&text).unwrap() } else { written(&text, &escape) };
        prop_assert!(stands_in(&pattern, raw.as_bytes()), "{raw}");
        raw = serde_json::to_string(&raw).unwrap();
        prop_assert!(stands_in(&pattern, raw.as_bytes()), "{raw}");
    }

    #[test]
    fn expressions_rule_nothing_out_that_matches(
        source in "(ab|c[kK]|[a-c]{1,2}|k+|(a|bc)?|é|\\\\s|x-1|(?:0b|1)){1,4}",
        text in "[abckK é01x\n-]{0,40}",
        escape in prop::collection::vec(any::<bool>(), 1..5),
        ignored in any::<bool>(),
    ) {
        prop_assume!(!source.is_empty());
        let case = if ignored { Case::Ignored } else { Case::Exact };
        let pattern = pattern(&source, false, case);
        let raw = written(&text, &escape);
        prop_assert!(!pattern.expression.is_match(&text) || stands_in(&pattern, raw.as_bytes()));
    }
}
