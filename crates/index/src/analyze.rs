//! Analysis: which terms a text has, the same for what is indexed and for what is typed.
//!
//! Text is cut into *runs* of letters, digits and underscores. A run gives its parts (`getUserById` →
//! `get` `user` `by` `id`) at ascending positions and, when it has several, itself as a whole at the
//! position of its first part (not in the text of tools, see [`BULK`]). So an identifier is found whole, by
//! its parts, and by its parts typed in any other convention, and punctuation between runs is a matter of neighbouring positions only.
//! Scripts that write no spaces give each character and each pair of neighbours. Case, compatibility
//! forms and diacritics of Latin and Greek are folded.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Name of the tokenizer of what people and agents say.
pub const SPOKEN: &str = "spoken";
/// Name of the tokenizer of what tools are told and answer, which is nearly all there is: it leaves wholes
/// out. They would double the dictionary, and a phrase of the parts finds the same places.
pub const BULK: &str = "bulk";
/// Longer terms are cut to this many bytes, in text and query alike.
pub const TERM_LIMIT: usize = 256;
/// Hashes are cut to this many digits, which no two share by chance: of the rest every one would be a term
/// of its own that costs as much as all words of a sentence.
const HASH_LIMIT: usize = 16;
/// Shorter ones may be names with numbers (`B2`, `F16`); from here on they are no names, in either case.
const SHORTEST_HASH: usize = 8;
/// A run has at most this many parts; the rest of it is its last part.
const PARTS_LIMIT: usize = 64;

/// A term and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// The folded text.
    pub text: String,
    /// Byte range in the source.
    pub range: (usize, usize),
    /// Position, in parts.
    pub position: usize,
    /// What it is in its run.
    pub role: TermRole,
}

/// What a term is in its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermRole {
    /// A part, or a run of one part, or one character of an unspaced script.
    #[default]
    Part,
    /// A run of several parts, whole; it covers this many positions.
    Whole(usize),
    /// A name with its trailing signs (`c++`, `f#`).
    Signed,
    /// Two neighbouring characters of an unspaced script.
    Pair,
}

/// Walks over the terms of a text, reusing its buffers.
#[derive(Clone, Default)]
pub struct Analyzer {
    without_wholes: bool,
    /// The terms of the current run; what lies beyond `filled` is of earlier ones.
    slots: Vec<Slot>,
    /// The current run in small letters, when it is ASCII.
    lowered: String,
    filled: usize,
    given: usize,
}

/// A term in the form in which tantivy takes it.
#[derive(Clone, Default)]
struct Slot {
    token: Token,
    role: TermRole,
}

/// All terms of a text, in order of position, wholes before their first part.
pub fn terms(text: &str) -> Vec<Term> {
    let mut analyzer = Analyzer::default();
    let mut cursor = Cursor {
        text,
        at: 0,
        position: 0,
    };
    let mut all = Vec::new();
    while analyzer.fill(&mut cursor) {
        let run = analyzer.slots.get(..analyzer.filled).unwrap_or_default();
        all.extend(run.iter().map(|Slot { token, role }| Term {
            text: token.text.clone(),
            range: (token.offset_from, token.offset_to),
            position: token.position,
            role: *role,
        }));
    }
    all
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    position: usize,
}

impl Analyzer {
    /// The analyzer of [`BULK`].
    pub fn without_wholes() -> Self {
        Self {
            without_wholes: true,
            ..Self::default()
        }
    }

    /// Puts the terms of the next run into the buffer; `false` at the end.
    fn fill(&mut self, cursor: &mut Cursor<'_>) -> bool {
        (self.filled, self.given) = (0, 0);
        let bytes = cursor.text.as_bytes();
        loop {
            let rest = bytes.get(cursor.at..).unwrap_or_default();
            let Some(skipped) = rest.iter().position(|&byte| class(byte) != SEPARATOR) else {
                return false;
            };
            cursor.at += skipped;
            let start = cursor.at;
            let run = AsciiRun::at(rest.get(skipped..).unwrap_or_default());
            if let Some(run) = run {
                cursor.at += run.length;
                match run.is_plain {
                    true => self.plain(cursor, start, run.has_large),
                    false => self.ascii_run(cursor, start),
                }
                if self.filled > 0 {
                    return true;
                }
                continue;
            }
            if rest.get(skipped).is_some_and(|&byte| class(byte) == BEYOND_ASCII) {
                let character = char_at(cursor.text, start);
                if !character.is_alphanumeric() {
                    cursor.at += character.len_utf8();
                    continue;
                }
                if is_unspaced(character) {
                    self.unspaced(cursor);
                    return true;
                }
            }
            cursor.at = run_end(cursor.text, start);
            self.run(cursor, start);
            if self.filled > 0 {
                return true;
            }
        }
    }

    /// The term of a run that is one part, which most are.
    fn plain(&mut self, cursor: &mut Cursor<'_>, start: usize, has_large: bool) {
        let text = cursor.text.get(start..cursor.at).unwrap_or_default();
        let text = cut_ascii(text);
        let term = self.slot((start, cursor.at), cursor.position, TermRole::Part);
        term.push_str(text);
        if has_large {
            term.make_ascii_lowercase();
        }
        cursor.position += 1;
        self.signs(cursor, start);
    }

    /// The terms of a run of ASCII letters, digits and underscores.
    fn ascii_run(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        let run = cursor.text.get(start..cursor.at).unwrap_or_default();
        if run.len() >= SHORTEST_HASH && is_hash(run) {
            self.plain(cursor, start, true);
            return;
        }
        let mut lowered = std::mem::take(&mut self.lowered);
        lowered.clear();
        lowered.push_str(run);
        lowered.make_ascii_lowercase();
        self.parts(cursor, start, Parts::of(run), |part, folded| {
            folded.push_str(cut_ascii(slice(&lowered, part)));
        });
        self.lowered = lowered;
    }

    /// The terms of any run of letters, digits and underscores.
    fn run(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        let text = cursor.text;
        let run = text.get(start..cursor.at).unwrap_or_default();
        self.parts(cursor, start, Parts::of(run), |part, folded| {
            fold_into(slice(run, part), folded)
        });
    }

    /// The terms of a run by its parts; `fold` appends what is kept of a range of the run to a term.
    fn parts(
        &mut self,
        cursor: &mut Cursor<'_>,
        start: usize,
        mut parts: Parts<'_>,
        fold: impl Fn((usize, usize), &mut String),
    ) {
        let first = cursor.position;
        let Some(first_part) = parts.next() else {
            return;
        };
        let mut next = parts.next();
        let several = next.is_some() && !self.without_wholes;
        if several {
            // Keeps its place before the parts; what it is is known once the last of them is.
            self.slot((0, 0), first, TermRole::Part);
        }
        fold(
            first_part,
            self.slot(offset(first_part, start), first, TermRole::Part),
        );
        cursor.position += 1;
        let mut end = first_part.1;
        while let Some(part) = next {
            fold(
                part,
                self.slot(offset(part, start), cursor.position, TermRole::Part),
            );
            cursor.position += 1;
            end = part.1;
            next = parts.next();
        }
        if several {
            let whole = (first_part.0, end);
            let role = TermRole::Whole(cursor.position - first);
            fold(whole, self.reset(0, offset(whole, start), first, role));
        }
        self.signs(cursor, start);
    }

    /// `c++`, `f#`: short names that signs belong to.
    fn signs(&mut self, cursor: &mut Cursor<'_>, start: usize) {
        if cursor.at - start > 3 {
            return;
        }
        let after = cursor.text.as_bytes().get(cursor.at..).unwrap_or_default();
        let signs = match after {
            [b'+', b'+', b'+', ..] => return,
            [b'+', b'+', ..] => 2,
            [b'#', next, ..] if is_word(*next) || *next >= 0x80 => return,
            [b'#', ..] => 1,
            _ => return,
        };
        let range = (start, cursor.at + signs);
        let text = cursor.text.get(range.0..range.1).unwrap_or_default();
        let term = self.slot(range, cursor.position - 1, TermRole::Signed);
        fold_into(text, term);
        cursor.at += signs;
    }

    /// Characters and pairs of an unspaced script.
    fn unspaced(&mut self, cursor: &mut Cursor<'_>) {
        let start = cursor.at;
        let rest = cursor.text.get(start..).unwrap_or_default();
        let length = rest
            .char_indices()
            .find(|(_, c)| !continues_unspaced(*c))
            .map_or(rest.len(), |(at, _)| at);
        let run = rest.get(..length).unwrap_or_default();
        cursor.at += length;
        let plain = unicode_normalization::is_nfkc(run);
        let folded: Vec<(usize, char)> = if plain {
            run.char_indices().collect()
        } else {
            run.nfkc().map(|character| (0, character)).collect()
        };
        let range = |at: usize, character: char| match plain {
            true => (start + at, start + at + character.len_utf8()),
            false => (start, start + length),
        };
        let mut buffer = String::new();
        for (index, &(at, character)) in folded.iter().enumerate() {
            let here = range(at, character);
            buffer.clear();
            buffer.extend(character.to_lowercase());
            self.slot(here, cursor.position, TermRole::Part).push_str(&buffer);
            if let Some(&(next_at, next)) = folded.get(index + 1) {
                buffer.extend(next.to_lowercase());
                self.slot((here.0, range(next_at, next).1), cursor.position, TermRole::Pair)
                    .push_str(&buffer);
            }
            cursor.position += 1;
        }
    }

    /// The emptied text of the next slot.
    fn slot(&mut self, range: (usize, usize), position: usize, role: TermRole) -> &mut String {
        let at = self.filled;
        self.filled += 1;
        if self.slots.len() < self.filled {
            self.slots.push(Slot::default());
        }
        self.reset(at, range, position, role)
    }

    /// The emptied text of a slot that is there.
    #[expect(clippy::indexing_slicing, reason = "slots are never taken away")]
    fn reset(&mut self, at: usize, range: (usize, usize), position: usize, role: TermRole) -> &mut String {
        let slot = &mut self.slots[at];
        slot.role = role;
        (slot.token.offset_from, slot.token.offset_to) = range;
        slot.token.position = position;
        slot.token.text.clear();
        &mut slot.token.text
    }
}

fn slice(run: &str, (from, to): (usize, usize)) -> &str {
    run.get(from..to).unwrap_or_default()
}

fn offset((from, to): (usize, usize), start: usize) -> (usize, usize) {
    (start + from, start + to)
}

const SEPARATOR: u8 = 0;
const SMALL: u8 = 1;
const LARGE: u8 = 2;
const DIGIT: u8 = 4;
const UNDERSCORE: u8 = 8;
const BEYOND_ASCII: u8 = 16;

/// What each byte is, as a bit.
#[expect(
    clippy::indexing_slicing,
    reason = "in a constant, where a bad index would not compile"
)]
static CLASSES: [u8; 256] = {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => SMALL,
            b'A'..=b'Z' => LARGE,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            0x80.. => BEYOND_ASCII,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(SEPARATOR)
}

fn is_word(byte: u8) -> bool {
    class(byte) & (SMALL | LARGE | DIGIT | UNDERSCORE) != 0
}

/// A run of nothing but ASCII, which nearly all are.
#[derive(Clone, Copy)]
struct AsciiRun {
    length: usize,
    has_large: bool,
    /// Letters of one case, a capitalised word, or what begins with a digit: one part.
    is_plain: bool,
}

impl AsciiRun {
    /// The run at the start of `bytes`; `None` leaves it to a closer look.
    fn at(bytes: &[u8]) -> Option<Self> {
        let (first, others) = bytes.split_first()?;
        let first = class(*first);
        if first == BEYOND_ASCII {
            return None;
        }
        let mut rest = SEPARATOR;
        let mut length = 1;
        for &byte in others {
            let class = class(byte);
            match class {
                SEPARATOR => break,
                // Decided at once: text of unspaced scripts has no separator for long.
                BEYOND_ASCII => return None,
                _ => rest |= class,
            }
            length += 1;
        }
        let is_plain = match first {
            SMALL => rest & !SMALL == 0,
            LARGE => rest & !SMALL == 0 || rest & !LARGE == 0,
            DIGIT => rest & UNDERSCORE == 0,
            _ => false,
        };
        Some(Self {
            length,
            has_large: (first | rest) & LARGE != 0,
            is_plain,
        })
    }
}

fn char_at(text: &str, at: usize) -> char {
    text.get(at..)
        .and_then(|rest| rest.chars().next())
        .unwrap_or('\u{FFFD}')
}

/// Where the run that starts at `start` ends.
fn run_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            if !is_word(byte) {
                return at;
            }
            at += 1;
            continue;
        }
        let character = char_at(text, at);
        if is_unspaced(character) || !(character.is_alphanumeric() || is_mark(character)) {
            return at;
        }
        at += character.len_utf8();
    }
    at
}

/// The parts of a run, as byte ranges.
struct Parts<'a> {
    run: &'a str,
    is_ascii: bool,
    at: usize,
    count: usize,
}

impl<'a> Parts<'a> {
    fn of(run: &'a str) -> Self {
        Self {
            run,
            is_ascii: run.is_ascii(),
            at: 0,
            count: 0,
        }
    }

    fn next(&mut self) -> Option<(usize, usize)> {
        let bytes = self.run.as_bytes();
        while bytes.get(self.at) == Some(&b'_') {
            self.at += 1;
        }
        let start = self.at;
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        self.count += 1;
        let length = match self.count {
            // What begins with a digit is a number, a date, a hash or a size, and no name of several words.
            1 if rest.first().is_some_and(u8::is_ascii_digit) => {
                rest.iter().position(|&byte| byte == b'_').unwrap_or(rest.len())
            }
            PARTS_LIMIT.. => rest.iter().rposition(|&byte| byte != b'_').map_or(0, |at| at + 1),
            _ if self.is_ascii => ascii_part_length(rest),
            _ => part_length(self.run.get(start..).unwrap_or_default()),
        };
        self.at += length.max(1);
        (length > 0).then_some((start, start + length))
    }
}

/// Length of the part at the start of `rest`, which does not begin with an underscore. A part ends before
/// an underscore, where small letters turn large (`get|User`), before the last of large ones that a small
/// one follows (`HTTP|Server`), and around a number that ends a name of letters (`Config|2`).
fn part_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().peekable();
    let Some((_, first)) = characters.next() else {
        return 0;
    };
    let mut before = first;
    let mut letters_only = first.is_alphabetic();
    while let Some((at, here)) = characters.next() {
        if here == '_' {
            return at;
        }
        let next = characters.peek().map(|&(_, next)| next);
        if here.is_uppercase() {
            let word_begins = before.is_uppercase() && next.is_some_and(char::is_lowercase);
            if word_begins || !before.is_uppercase() {
                return at;
            }
        }
        if here.is_numeric()
            && letters_only
            && at >= 2
            && number_ends_name(rest.get(at..).unwrap_or_default())
        {
            return at;
        }
        letters_only &= here.is_alphabetic();
        before = here;
    }
    rest.len()
}

/// The same for ASCII, which nearly all names are.
fn ascii_part_length(rest: &[u8]) -> usize {
    let Some((&first, mut after)) = rest.split_first() else {
        return 0;
    };
    let mut before = class(first);
    let mut letters_only = before != DIGIT;
    let mut at = 1;
    while let Some((&byte, next)) = after.split_first() {
        let here = class(byte);
        let is_boundary = match here {
            SEPARATOR | UNDERSCORE => true,
            LARGE => before != LARGE || next.first().is_some_and(|&next| class(next) == SMALL),
            DIGIT if letters_only && at >= 2 => {
                let after_number = next.iter().find(|&&byte| class(byte) != DIGIT);
                after_number.is_none_or(|&byte| class(byte) != SMALL)
            }
            _ => false,
        };
        if is_boundary {
            return at;
        }
        letters_only &= here != DIGIT;
        (before, after, at) = (here, next, at + 1);
    }
    at
}

/// Whether a number at the start of `rest` is followed by the end of a name or by a large letter.
fn number_ends_name(rest: &str) -> bool {
    let after = rest.trim_start_matches(|c: char| c.is_numeric());
    after
        .chars()
        .next()
        .is_none_or(|next| next == '_' || next.is_uppercase())
}

/// Scripts that put no space between words; Hangul is among them because its words carry endings.
pub fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{0F00}'..='\u{0FFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}'
        | '\u{1780}'..='\u{17FF}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}'
        | '\u{3131}'..='\u{318E}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7FB}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{20000}'..='\u{3FFFF}')
}

fn continues_unspaced(character: char) -> bool {
    is_unspaced(character)
        && (character.is_alphanumeric() || is_mark(character) || !character.is_ascii_punctuation())
}

/// Marks that belong to the letter before them.
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05C7}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{06D6}'..='\u{06ED}' | '\u{0900}'..='\u{0DFF}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200C}' | '\u{200D}' | '\u{FE20}'..='\u{FE2F}')
}

/// What is kept of a term of ASCII.
fn cut_ascii(text: &str) -> &str {
    let limit = match text.len() {
        ..=HASH_LIMIT => return text,
        _ if is_hash(text) => HASH_LIMIT,
        _ => TERM_LIMIT,
    };
    text.get(..limit).unwrap_or(text)
}

/// Whether text is a number in hexadecimal; one without letters may be counted up, so that only its end
/// tells it from others.
fn is_hash(text: &str) -> bool {
    let (mut digits, mut letters) = (0, 0);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'f' | b'A'..=b'F' => letters += 1,
            _ => return false,
        }
    }
    digits > 0 && letters > 0
}

/// Appends a term as it is kept.
fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        folded.push_str(cut_ascii(text));
        folded.make_ascii_lowercase();
        return;
    }
    for character in text.nfkc() {
        fold_char(character, folded);
        if folded.len() >= TERM_LIMIT {
            return;
        }
    }
}

fn fold_char(character: char, folded: &mut String) {
    let replaced = match character {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ł' | 'Ł' => "l",
        'þ' | 'Þ' => "th",
        'ı' | 'İ' => "i",
        _ => "",
    };
    if !replaced.is_empty() {
        folded.push_str(replaced);
        return;
    }
    let has_diacritics = matches!(character, '\u{00C0}'..='\u{03FF}' | '\u{1E00}'..='\u{1FFF}');
    if has_diacritics {
        decompose_canonical(character, |base| {
            if !matches!(base, '\u{0300}'..='\u{036F}') {
                folded.extend(base.to_lowercase());
            }
        });
    } else if !matches!(character, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05C7}' | '\u{064B}'..='\u{0652}')
    {
        folded.extend(character.to_lowercase());
    }
}

/// The terms of one text, as tantivy walks over them.
pub struct Terms<'a> {
    analyzer: &'a mut Analyzer,
    cursor: Cursor<'a>,
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        if self.slots.is_empty() {
            self.slots.push(Slot::default());
        }
        (self.filled, self.given) = (0, 0);
        Terms {
            analyzer: self,
            cursor: Cursor {
                text,
                at: 0,
                position: 0,
            },
        }
    }
}

impl Terms<'_> {
    fn at(&self) -> usize {
        self.analyzer.given.saturating_sub(1)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "there is always a first slot, and only filled ones are given"
)]
impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        if self.analyzer.given == self.analyzer.filled && !self.analyzer.fill(&mut self.cursor) {
            return false;
        }
        self.analyzer.given += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.analyzer.slots[self.at()].token
    }

    fn token_mut(&mut self) -> &mut Token {
        let at = self.at();
        &mut self.analyzer.slots[at].token
    }

    /// A run at a time, as indexing takes every term there is.
    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let Terms { analyzer, cursor } = self;
        loop {
            let run = &analyzer.slots[analyzer.given..analyzer.filled];
            run.iter().for_each(|slot| sink(&slot.token));
            if !analyzer.fill(cursor) {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "analyze_tests.rs"]
mod tests;
