//! Properties: the table of what each kind of text gives; offsets always lie on the text; positions
//! ascend; what is typed is analysed as what is indexed.

use super::*;
use proptest::prelude::*;

fn shown(text: &str) -> Vec<String> {
    terms(text)
        .into_iter()
        .map(|term| format!("{}@{}", term.text, term.position))
        .collect()
}

#[test]
fn identifiers_give_themselves_and_their_parts() {
    assert_eq!(
        shown("getUserById"),
        ["getuserbyid@0", "get@0", "user@1", "by@2", "id@3"]
    );
    assert_eq!(shown("MAX_RETRY x"), ["max_retry@0", "max@0", "retry@1", "x@2"]);
    assert_eq!(
        shown("HTTPServerConfig2"),
        ["httpserverconfig2@0", "http@0", "server@1", "config@2", "2@3"]
    );
    assert_eq!(shown("__init__"), ["init@0"]);
    assert_eq!(shown("a3f9c12"), ["a3f9c12@0"]);
    assert_eq!(
        shown("2026-09-21T01:07Z 3d_model"),
        [
            "2026@0",
            "09@1",
            "21t01@2",
            "07z@3",
            "3d_model@4",
            "3d@4",
            "model@5"
        ]
    );
    assert_eq!(shown("utf8 v2"), ["utf8@0", "utf@0", "8@1", "v2@2"]);
}

#[test]
fn punctuation_separates_without_leaving_gaps() {
    assert_eq!(
        shown("error-401: foo.bar()"),
        ["error@0", "401@1", "foo@2", "bar@3"]
    );
    assert_eq!(shown("/srv/app/.env"), ["srv@0", "app@1", "env@2"]);
}

#[test]
fn signs_stay_with_short_names() {
    assert_eq!(
        shown("c++ and C#, i+++ x"),
        ["c@0", "c++@0", "and@1", "c@2", "c#@2", "i@3", "x@4"]
    );
    assert_eq!(shown("#123 issue#7"), ["123@0", "issue@1", "7@2"]);
}

#[test]
fn unspaced_scripts_give_characters_and_pairs() {
    assert_eq!(shown("令牌x"), ["令@0", "令牌@0", "牌@1", "x@2"]);
    assert_eq!(
        shown("인증"),
        shown("\u{110B}\u{1175}\u{11AB}\u{110C}\u{1173}\u{11BC}")
    );
    assert_eq!(shown("ユーザー").len(), 7);
    assert_eq!(shown("ﾕｰｻﾞｰ"), shown("ユーザー"));
}

#[test]
fn forms_of_one_word_are_one_term() {
    for (a, b) in [
        ("café", "cafe\u{301}"),
        ("CAFÉ", "cafe"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ｆｕｌｌ", "full"),
    ] {
        assert_eq!(shown(a), shown(b), "{a} {b}");
    }
    assert_ne!(shown("мой"), shown("мои"));
}

#[test]
fn long_terms_are_cut_alike() {
    let long = "xy1".repeat(200);
    let cut = terms(&long);
    assert_eq!((cut.len(), cut[0].text.len()), (1, TERM_LIMIT));
}

proptest! {
    #[test]
    fn any_text_has_terms_on_it(text in "\\PC{0,60}") {
        let mut last = 0;
        for term in terms(&text) {
            prop_assert!(text.get(term.range.0..term.range.1).is_some_and(|covered| !covered.is_empty()));
            prop_assert!(term.position >= last || matches!(term.role, TermRole::Whole(_)));
            prop_assert!(!term.text.is_empty() || term.range.0 < term.range.1);
            last = term.position;
        }
    }

    #[test]
    fn names_are_split_alike_in_ascii_and_beyond(name in "[a-zA-Z0-9_]{1,12}") {
        let rest = name.trim_start_matches('_');
        if !rest.is_empty() {
            prop_assert_eq!(ascii_part_length(rest.as_bytes()), part_length(rest), "{}", rest);
        }
    }

    #[test]
    fn the_stream_gives_the_same_terms(text in "[a-zA-Z0-9_ .+#é令牌]{0,60}") {
        let mut analyzer = Analyzer::default();
        // A stream left half-way must not leak into the next one.
        analyzer.token_stream("leftOver words").advance();
        let mut stream = analyzer.token_stream(&text);
        let mut streamed = Vec::new();
        while stream.advance() {
            streamed.push((stream.token().text.clone(), stream.token().position));
        }
        let direct: Vec<_> = terms(&text).into_iter().map(|term| (term.text, term.position)).collect();
        prop_assert_eq!(streamed, direct);
    }
}

/// Property: a hash is one term, found by the whole of it and by any beginning that tells it from others;
/// numbers that are counted up stay apart.
#[test]
fn hashes_are_cut_and_numbers_are_not() {
    let hash = "b28d65aa991abe3c05bd1451d98894c54cc875d5";
    assert_eq!(shown(hash), ["b28d65aa991abe3c@0"]);
    assert_eq!(shown(&hash.to_uppercase()), shown(hash));
    assert_eq!(shown(hash.get(..20).unwrap()), shown(hash));
    assert_eq!(terms(hash)[0].range, (0, hash.len()));
    let number = "12345678901234567890";
    assert_eq!(shown(number), [format!("{number}@0")]);
    assert_eq!(shown("F3C2A1B9-77"), ["f3c2a1b9@0", "77@1"]);
}

/// Property: the time grows with the text alone. Looking at the rest of it at every sign, as text of unspaced
/// scripts has no white space to stop at, this would take minutes.
#[test]
fn long_text_without_white_space_is_soon_done() {
    let sentences = 100_000;
    assert_eq!(terms(&"令牌，".repeat(sentences)).len(), 3 * sentences);
}
