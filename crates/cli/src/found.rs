//! What `grep` finds, as people and programs read it: one block for each session, or one line of JSON for
//! each hit, handed on session by session.

use crate::error::CommandError;
use crate::hits::speaker;
use crate::layout;
use crate::output::Printer;
use crate::paint::{Paint, Tone};
use lookback_engine::{GrepHit, SessionHits};
use lookback_model::TextKind;
use lookback_wire::convert;
use lookback_wire::grep::{self, ByteRange, GrepSession};
use std::fmt::Display;
use std::ops::{ControlFlow, Range};

/// What is printed of each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Its hits.
    Lines,
    /// How many it has.
    Counts,
    /// That it has one.
    Sessions,
}

/// A line of more characters than this is shown around its first match only; such lines are whole files on
/// one line.
const LONG: usize = 1_000;
/// So many characters are shown before the match then.
const BEFORE_MATCH: usize = 200;

/// Prints sessions, and counts what it printed.
pub(crate) struct Shown {
    shape: Shape,
    json: bool,
    /// How much may still be printed: hits, or sessions.
    left: Option<u64>,
    /// Hits found in what was printed.
    pub(crate) hits: u64,
    /// Sessions printed.
    pub(crate) sessions: u64,
}

impl Shown {
    pub(crate) fn new(shape: Shape, json: bool, limit: Option<u64>) -> Self {
        Self {
            shape,
            json,
            left: limit,
            hits: 0,
            sessions: 0,
        }
    }

    /// Prints a session's hits and hands them on; says whether more may follow.
    pub(crate) fn print(
        &mut self,
        mut session: SessionHits,
        printer: &mut Printer,
    ) -> Result<ControlFlow<()>, CommandError> {
        if self.shape == Shape::Lines {
            let room = self
                .left
                .map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
            session.hits.truncate(room);
            session.count = session.hits.len() as u64;
        }
        match (self.json, self.shape) {
            (true, Shape::Lines) => {
                for hit in &session.hits {
                    printer.json(&encode(&session, hit))?;
                }
            }
            (true, _) => printer.json(&self.summary(&session))?,
            (false, Shape::Lines) => self.block(&session, printer)?,
            (false, Shape::Sessions) => printer.data(head(&session, printer))?,
            (false, Shape::Counts) => {
                let count = printer.paint().bold(&format!("{:>6}", session.count));
                printer.data(format!("{count}  {}", head(&session, printer)))?;
            }
        }
        printer.flush()?;
        self.hits += session.count;
        self.sessions += 1;
        let taken = if self.shape == Shape::Lines {
            session.count
        } else {
            1
        };
        self.left = self.left.map(|left| left - taken);
        Ok(if self.is_full() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    /// Whether nothing more may be printed.
    pub(crate) fn is_full(&self) -> bool {
        self.left == Some(0)
    }

    fn summary(&self, session: &SessionHits) -> GrepSession {
        GrepSession {
            agent: session.agent.clone(),
            session_id: session.session_id.clone(),
            title: session.title.clone(),
            cwd: session.cwd.clone(),
            file_path: session.path.to_string_lossy().into_owned(),
            count: (self.shape == Shape::Counts).then_some(session.count),
            from_archive: session.from_archive,
        }
    }

    fn block(&self, session: &SessionHits, printer: &mut Printer) -> Result<(), CommandError> {
        if self.sessions > 0 {
            printer.data("")?;
        }
        printer.data(head(session, printer))?;
        let paint = printer.paint();
        let mut last = None;
        for hit in &session.hits {
            if last != Some((hit.seq, hit.kind)) {
                printer.data(event(hit, paint))?;
            }
            last = Some((hit.seq, hit.kind));
            lines(hit, printer)?;
        }
        Ok(())
    }
}

/// Which session it is: agent, id, folder, title.
fn head(session: &SessionHits, printer: &Printer) -> String {
    let paint = printer.paint();
    // Ids and folders come from transcripts, and may hold line breaks; they are not cut.
    let one_line = |text: &str| layout::cut(text, usize::MAX);
    let mut parts = vec![
        paint.who(&session.agent),
        paint.bold(&one_line(&session.session_id)),
    ];
    parts.extend(session.cwd.as_deref().map(|cwd| paint.dim(&one_line(cwd))));
    parts.extend(session.from_archive.then(|| "transcript is gone".to_owned()));
    let title = session.title.as_deref();
    parts.extend(title.map(|title| paint.plain(&layout::cut(title, printer.terminal.width))));
    parts.join(&paint.dim(" - "))
}

/// Which event it is, by the number that `show --at` takes.
fn event(hit: &GrepHit, paint: Paint) -> String {
    let mut parts = vec![paint.bold(&format!("#{}", hit.seq)), paint.who(speaker(hit.kind))];
    let time = crate::when::local(hit.time);
    parts.extend((!time.is_empty()).then(|| paint.dim(&time)));
    format!("  {}", parts.join("  "))
}

/// The lines of a hit with those around it, each with its number.
fn lines(hit: &GrepHit, printer: &mut Printer) -> Result<(), CommandError> {
    let paint = printer.paint();
    let numbered = |number: u64, sign: &str, line: &dyn Display| {
        let margin = paint.dim(&format!("{number:>6}{sign}"));
        format!("  {margin} {line}").trim_end().to_owned()
    };
    let mut number = hit.line.saturating_sub(hit.before.len() as u64);
    for line in &hit.before {
        printer.data(numbered(number, "-", &cut(line, &[], paint)))?;
        number += 1;
    }
    let mut start = 0;
    for line in hit.text.split('\n') {
        let matches = within(&hit.matches, start..start + line.len());
        printer.data(numbered(number, ":", &cut(line, &matches, paint)))?;
        start += line.len() + 1;
        number += 1;
    }
    for line in &hit.after {
        printer.data(numbered(number, "-", &cut(line, &[], paint)))?;
        number += 1;
    }
    Ok(())
}

/// The parts of matches on one line, from its beginning.
fn within(matches: &[Range<usize>], line: Range<usize>) -> Vec<Range<usize>> {
    let on_line = |matched: &Range<usize>| {
        let (start, end) = (matched.start.max(line.start), matched.end.min(line.end));
        (start < end).then(|| start - line.start..end - line.start)
    };
    matches.iter().filter_map(on_line).collect()
}

/// A line with its matches painted; of a long one what is around the first match.
fn cut(line: &str, matches: &[Range<usize>], paint: Paint) -> String {
    let is_long = line.len() > LONG && line.chars().count() > LONG;
    if !is_long {
        return painted(line, 0, line.len(), matches, paint);
    }
    let first = matches.first().map_or(0, |matched| matched.start);
    let before = line.get(..first).unwrap_or_default();
    let start = before.char_indices().rev().take(BEFORE_MATCH).last();
    let start = start.map_or(first, |(at, _)| at);
    let rest = line.get(start..).unwrap_or_default();
    let end = rest
        .char_indices()
        .nth(LONG)
        .map_or(line.len(), |(at, _)| start + at);
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    let shown = painted(line, start, end, matches, paint);
    format!("{}{shown}{}", ellipsis(start > 0), ellipsis(end < line.len()))
}

fn painted(line: &str, start: usize, end: usize, matches: &[Range<usize>], paint: Paint) -> String {
    let mut shown = String::new();
    let mut at = start;
    let part = |range: Range<usize>| line.get(range).unwrap_or_default();
    for matched in matches {
        let (from, to) = (matched.start.clamp(at, end), matched.end.clamp(at, end));
        shown.push_str(&paint.plain(part(at..from)));
        shown.push_str(&paint.tone(Tone::Match, part(from..to)));
        at = to;
    }
    shown.push_str(&paint.plain(part(at..end)));
    shown
}

fn encode(session: &SessionHits, hit: &GrepHit) -> grep::GrepHit {
    let range = |matched: &Range<usize>| ByteRange {
        start: matched.start,
        end: matched.end,
    };
    grep::GrepHit {
        agent: session.agent.clone(),
        session_id: session.session_id.clone(),
        file_path: session.path.to_string_lossy().into_owned(),
        seq: hit.seq,
        time: convert::time(hit.time),
        role: hit.kind.role().to_owned(),
        kind: kind_name(hit.kind).to_owned(),
        line: hit.line,
        text: hit.text.clone(),
        matches: hit.matches.iter().map(range).collect(),
        before: hit.before.clone(),
        after: hit.after.clone(),
        from_archive: session.from_archive,
    }
}

/// What programs call a kind of text.
pub(crate) fn kind_name(kind: TextKind) -> &'static str {
    match kind {
        TextKind::User => "user",
        TextKind::Agent => "agent",
        TextKind::Reasoning => "reasoning",
        TextKind::Call => "call",
        TextKind::Result => "result",
        TextKind::Context => "context",
    }
}

#[cfg(test)]
mod tests {
    //! Properties: a long line is cut around its match and nowhere inside a character; matches keep their
    //! place; nothing of a transcript paints.
    use super::*;

    const PLAIN: Paint = Paint { colour: false };
    const COLOUR: Paint = Paint { colour: true };

    fn only(range: Range<usize>) -> Vec<Range<usize>> {
        std::iter::once(range).collect()
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}needle{}", "é".repeat(5_000), "日".repeat(5_000));
        let start = 10_000;
        let shown = cut(&line, &only(start..start + 6), PLAIN);
        let wanted = format!(
            "…{}needle{}…",
            "é".repeat(BEFORE_MATCH),
            "日".repeat(LONG - BEFORE_MATCH - 6)
        );
        assert_eq!(shown, wanted);
        let short = "é".repeat(LONG);
        assert_eq!(cut(&short, &[], PLAIN), short);
    }

    #[test]
    fn matches_are_painted_where_they_are() {
        let shown = cut("a\u{1b}[31m needle", &only(7..13), COLOUR);
        assert!(
            shown.starts_with("a[31m \u{1b}[") && shown.contains("needle\u{1b}[0m"),
            "{shown:?}"
        );
        assert_eq!(within(&only(2..9), 4..6), only(0..2));
        assert_eq!(within(&only(2..4), 4..6), Vec::<Range<usize>>::new());
    }
}
