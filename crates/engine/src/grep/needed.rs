//! What must stand in a file's bytes for its words to match, so that most files need not be decoded.
//!
//! Words stand in JSON, and in JSON within JSON, where anything may be escaped; and a reader sets words side
//! by side that stand apart in the file. So of an expression only *pieces* are used: runs of letters, digits,
//! `_` and `-`, which no writer of JSON escapes, and runs of other letters, either as they are or as `\u`
//! escapes. A file in which an escape stands for an ASCII letter all the same is decoded whatever is looked
//! for. What remains is a word that a reader makes by taking something out of its middle, such as a reminder
//! that an agent put inside a word; such a word is found when its file is decoded for another reason.

use memchr::memmem::Finder;
use regex_automata::{meta, util::syntax};
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use std::io::{self, Read};

/// Bytes looked at at once; they stay in the processor's cache.
const BLOCK: usize = 128 << 10;
/// Bytes of the first look, which is all it takes to find a common word.
const FIRST: usize = 16 << 10;
/// So many bytes of a block are looked at again with the next: more than any piece takes.
const OVERLAP: usize = 1 << 10;
/// Pieces are cut to so many bytes of ASCII, or to so many other characters, each of which may be an escape.
const ASCII_KEPT: usize = 64;
const OTHERS_KEPT: usize = 8;
/// Of more alternatives than this nothing is learnt.
const ALTERNATIVES: usize = 16;
/// More pieces that must all be there tell no more.
const PIECES: usize = 4;
/// So much white space between two words is looked at.
const SPACES: usize = 32;
/// Numbers of fewer digits than this are written as they are read.
const EXACT_DIGITS: usize = 16;

/// What must stand in a file, all of it.
#[derive(Clone, Debug)]
pub(super) struct Needed {
    all: Vec<AnyOf>,
    ignore_case: bool,
    escape: Finder<'static>,
}

/// Pieces of which one must stand there, or two that must stand side by side.
#[derive(Clone, Debug)]
struct AnyOf {
    pieces: Vec<String>,
    expression: meta::Regex,
}

impl Needed {
    /// What an expression needs. It must be one that tells letters by their case, even if `ignore_case`.
    pub(super) fn of(hir: &Hir, ignore_case: bool) -> Self {
        let mut sets = needed(hir, ignore_case);
        // The longest are the rarest.
        sets.sort_by_key(|pieces| std::cmp::Reverse(shortest(pieces)));
        sets.dedup();
        sets.truncate(PIECES);
        let pieces = sets
            .into_iter()
            .filter_map(|pieces| AnyOf::of(pieces, ignore_case));
        let pairs = pairs(hir)
            .into_iter()
            .take(PIECES)
            .filter_map(|pair| AnyOf::side_by_side(pair, ignore_case));
        let all = pieces.chain(pairs).collect();
        Self {
            all,
            ignore_case,
            escape: Finder::new(b"\\u00").into_owned(),
        }
    }

    /// Whether any file can be ruled out at all. `added` are words that need not stand in it.
    pub(super) fn rules_out(&self, added: &[&str]) -> bool {
        self.usable(added).next().is_some()
    }

    /// Whether all that is needed stands in a file, which `open` opens.
    ///
    /// # Errors
    /// What the file fails with.
    pub(super) fn stands_in<R: Read>(
        &self,
        added: &[&str],
        block: &mut Vec<u8>,
        open: impl Fn() -> io::Result<R>,
    ) -> io::Result<bool> {
        block.resize(OVERLAP + BLOCK, 0);
        for any in self.usable(added) {
            if !self.one_stands_in(any, block, open()?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all that is needed stands in a record.
    pub(super) fn stands_in_record(&self, added: &[&str], record: &[u8]) -> bool {
        self.usable(added).all(|any| any.expression.is_match(record)) || self.has_escaped_letter(record)
    }

    fn usable<'a>(&'a self, added: &'a [&str]) -> impl Iterator<Item = &'a AnyOf> {
        let may_be_added = |any: &AnyOf| any.pieces.iter().any(|piece| self.is_part_of(piece, added));
        self.all.iter().filter(move |any| !may_be_added(any))
    }

    fn is_part_of(&self, piece: &str, added: &[&str]) -> bool {
        if self.ignore_case {
            let piece = piece.to_lowercase();
            added.iter().any(|word| word.to_lowercase().contains(&piece))
        } else {
            added.iter().any(|word| word.contains(piece))
        }
    }

    fn one_stands_in(&self, any: &AnyOf, block: &mut [u8], mut input: impl Read) -> io::Result<bool> {
        let (mut kept, mut room) = (0, FIRST);
        loop {
            let room_end = block.len().min(kept + std::mem::replace(&mut room, BLOCK));
            let count = match input.read(block.get_mut(kept..room_end).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) => return Ok(false),
                other => other?,
            };
            let end = kept + count;
            let bytes = block.get(..end).unwrap_or_default();
            if any.expression.is_match(bytes) || self.has_escaped_letter(bytes) {
                return Ok(true);
            }
            kept = end.min(OVERLAP);
            block.copy_within(end - kept..end, 0);
        }
    }

    /// Whether an escape stands for a character of a piece of ASCII.
    fn has_escaped_letter(&self, bytes: &[u8]) -> bool {
        self.escape.find_iter(bytes).any(|at| {
            let digits = bytes
                .get(at + 4..at + 6)
                .and_then(|digits| str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            byte.is_some_and(|byte| is_plain(char::from(byte)))
        })
    }
}

impl AnyOf {
    fn of(pieces: Vec<String>, ignore_case: bool) -> Option<Self> {
        let alternatives: Vec<String> = pieces.iter().map(|piece| expression_of(piece)).collect();
        Self::with(&alternatives.join("|"), pieces, ignore_case)
    }

    /// Two pieces with nothing but white space between them. A reader may have brought them together: then
    /// the first is followed by what ends a string or a value, or begins a tag, or by an escape that may
    /// stand for anything.
    fn side_by_side((first, second): (String, String), ignore_case: bool) -> Option<Self> {
        let space = r"(?:\s|\\+[nrtf])";
        let most = SPACES;
        let end = if first.ends_with(|last: char| last.is_ascii_digit() || last.eq_ignore_ascii_case(&'e')) {
            // A number or a truth value.
            r#"\\*["_<,}\]\x00]|\\+u"#
        } else {
            r#"\\*["_<\x00]|\\+u"#
        };
        let (a, b) = (regex_syntax::escape(&first), regex_syntax::escape(&second));
        let expression =
            format!("{a}(?:{space}{{1,{most}}}{b}|{space}{{0,{most}}}(?:{end})|{space}{{{most}}})");
        Self::with(&expression, vec![first, second], ignore_case)
    }

    fn with(expression: &str, pieces: Vec<String>, ignore_case: bool) -> Option<Self> {
        // Two letters beyond ASCII are the other case of `s` and `k`, and may be escapes.
        let is_folded = |piece: &String| ignore_case && piece.contains(['s', 'S', 'k', 'K']);
        let folds = if pieces.iter().any(is_folded) {
            "|u017f|u212a"
        } else {
            ""
        };
        let expression = meta::Builder::new()
            .syntax(syntax::Config::new().case_insensitive(ignore_case).utf8(false))
            .configure(meta::Config::new().utf8_empty(false))
            .build(&format!("{expression}{folds}"))
            .ok()?;
        Some(Self { pieces, expression })
    }
}

/// A piece as it may stand in a file. The first backslash of an escape is left out, because a search for
/// so common a sign is slow; of JSON within JSON the others are several.
fn expression_of(piece: &str) -> String {
    if piece.is_ascii() {
        return regex_syntax::escape(piece);
    }
    let mut expression = String::new();
    for (number, character) in piece.chars().enumerate() {
        let mut units = [0; 2];
        let escapes: Vec<String> = character
            .encode_utf16(&mut units)
            .iter()
            .map(|unit| format!("u(?i:{unit:04x})"))
            .collect();
        let slash = if number > 0 { r"\\+" } else { "" };
        expression.push_str(&format!("(?:{character}|{slash}{})", escapes.join(r"\\+")));
    }
    expression
}

/// Sets of pieces: one of each set stands in every text that matches.
fn needed(hir: &Hir, ignore_case: bool) -> Vec<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).unwrap_or_default();
            pieces(text, ignore_case)
                .into_iter()
                .map(|piece| vec![piece])
                .collect()
        }
        HirKind::Capture(capture) => needed(&capture.sub, ignore_case),
        HirKind::Repetition(repetition) if repetition.min > 0 => needed(&repetition.sub, ignore_case),
        HirKind::Concat(parts) => parts.iter().flat_map(|part| needed(part, ignore_case)).collect(),
        HirKind::Alternation(branches) => {
            let best = |branch: &Hir| {
                let sets = needed(branch, ignore_case);
                sets.into_iter().max_by_key(|pieces| shortest(pieces))
            };
            let sets: Option<Vec<_>> = branches.iter().map(best).collect();
            let pieces: Vec<String> = sets.into_iter().flatten().flatten().collect();
            let is_usable = (1..=ALTERNATIVES).contains(&pieces.len());
            is_usable.then_some(pieces).into_iter().collect()
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) | HirKind::Repetition(_) => Vec::new(),
    }
}

/// Neighbouring words of a phrase. Where two common words are in nearly every file, few hold them side by
/// side.
fn pairs(hir: &Hir) -> Vec<(String, String)> {
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        HirKind::Capture(capture) => return pairs(&capture.sub),
        _ => std::slice::from_ref(hir),
    };
    // The texts of the phrase: white space ends one, anything else that is no text ends them all.
    let mut texts: Vec<Option<&str>> = vec![None];
    let mut is_apart = true;
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) if is_apart => {
                let text = str::from_utf8(&literal.0).unwrap_or_default();
                texts.extend(text.split(' ').map(Some));
                is_apart = false;
            }
            _ if is_white_space(part) => is_apart = true,
            _ => {
                texts.push(None);
                is_apart = false;
            }
        }
    }
    let pair = |pair: &[Option<&str>]| {
        let [Some(first), Some(second)] = pair else {
            return None;
        };
        let plain = first.char_indices().rev().take_while(|(_, last)| is_plain(*last));
        let start = plain.last().map_or(first.len(), |(at, _)| at);
        let end = second.find(|next| !is_plain(next)).unwrap_or(second.len());
        let (first, second) = (first.get(start..)?, second.get(..end)?);
        let fits = |piece: &str| (1..=ASCII_KEPT).contains(&piece.len()) && !is_number(piece);
        (fits(first) && fits(second)).then(|| (first.to_owned(), second.to_owned()))
    };
    texts.windows(2).filter_map(pair).collect()
}

/// Whether a part of an expression is `\s` or `\s+`.
fn is_white_space(hir: &Hir) -> bool {
    let class = match hir.kind() {
        HirKind::Repetition(repetition) if repetition.min > 0 => repetition.sub.kind(),
        other => other,
    };
    let HirKind::Class(Class::Unicode(class)) = class else {
        return false;
    };
    let is_space = |range: &ClassUnicodeRange| (range.start()..=range.end()).all(char::is_whitespace);
    !class.ranges().is_empty() && class.ranges().iter().all(is_space)
}

fn shortest(pieces: &[String]) -> usize {
    pieces.iter().map(String::len).min().unwrap_or(0)
}

/// The pieces of a text.
fn pieces(text: &str, ignore_case: bool) -> Vec<String> {
    let mut found: Vec<(Sort, String)> = Vec::new();
    let mut last = Sort::Unusable;
    for character in text.chars() {
        let sort = Sort::of(character, ignore_case);
        match found.last_mut().filter(|_| sort == last) {
            Some((_, piece)) => piece.push(character),
            None => found.push((sort, character.into())),
        }
        last = sort;
    }
    found
        .into_iter()
        .filter_map(|(sort, piece)| sort.cut(piece))
        .collect()
}

/// How a character stands in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// As it is.
    Plain,
    /// As it is or as an escape.
    Other,
    /// Not to be told; or a reader may have put it there.
    Unusable,
}

impl Sort {
    fn of(character: char, ignore_case: bool) -> Self {
        if is_plain(character) {
            return Self::Plain;
        }
        // The replacement character stands for bytes that are no text. A letter of another case has
        // another escape.
        let has_case = character.to_lowercase().ne([character]) || character.to_uppercase().ne([character]);
        if character.is_alphanumeric() && !character.is_ascii() && !(ignore_case && has_case) {
            Self::Other
        } else {
            Self::Unusable
        }
    }

    fn cut(self, piece: String) -> Option<String> {
        match self {
            Self::Plain if is_number(&piece) => None,
            Self::Plain => Some(piece.chars().take(ASCII_KEPT).collect()),
            Self::Other => Some(piece.chars().take(OTHERS_KEPT).collect()),
            Self::Unusable => None,
        }
    }
}

/// Characters that no writer of JSON escapes, and that no reader puts between words.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Whether a piece may be part of a number that is shown otherwise than it is written: `1e3` as `1000.0`.
fn is_number(piece: &str) -> bool {
    let is_digits = piece
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'e' | b'E' | b'-'));
    is_digits && (piece.len() >= EXACT_DIGITS || piece.contains(['e', 'E']))
}

#[cfg(test)]
#[path = "needed_tests.rs"]
mod tests;
