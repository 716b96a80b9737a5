//! Reading transcripts in tests: what a source makes of a home folder, and the property that every
//! format must have: a file read in parts, at any cut, gives what reading it whole gives.

use lookback_model::source::{
    Discovery, EventSink, FileStamp, ReadAccount, ReadCursor, ReadError, ReadSession, SideTitle, SinkClosed,
    SourceFile,
};
use lookback_model::{Environment, Event, SessionSource, Surface, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Keeps everything a reader hands on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Sessions by id, in the order they began: the events, and the session as it ended.
    pub sessions: Vec<KeptSession>,
    /// Titles from side files.
    pub titles: Vec<SideTitle>,
}

/// A session as a reader handed it on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptSession {
    /// Its id.
    pub id: String,
    /// Its events.
    pub events: Vec<Event>,
    /// Header and facts.
    pub session: Option<ReadSession>,
}

impl EventSink for Kept {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed> {
        let known = self.sessions.iter().position(|session| session.id == session_id);
        let session = match known {
            Some(at) if resumed => self.sessions.remove(at),
            _ => KeptSession {
                id: session_id.to_owned(),
                ..KeptSession::default()
            },
        };
        self.sessions.push(session);
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        let session = self.sessions.last_mut().ok_or(SinkClosed)?;
        session.events.push(event);
        Ok(())
    }

    fn end(&mut self, read: ReadSession) -> Result<(), SinkClosed> {
        let session = self.sessions.last_mut().ok_or(SinkClosed)?;
        session.session = Some(read);
        Ok(())
    }

    fn title(&mut self, title: SideTitle) {
        self.titles.push(title);
    }
}

/// Everything a source finds under an environment, files in order of path.
pub fn discover(source: &dyn SessionSource, environment: &Environment) -> Discovery {
    let mut found = Discovery::default();
    for root in source.roots(environment) {
        source.discover(&root, &mut found);
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A file with its marks as they are now.
pub fn source_file(file: &SourceFile) -> SourceFile {
    let size = fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    SourceFile {
        stamp: FileStamp { size, ..file.stamp },
        ..file.clone()
    }
}

/// What a source makes of a home folder, as JSON for comparison with an expected file.
pub fn describe(source: &dyn SessionSource, home: &Path) -> Value {
    let found = discover(source, &Environment::at_home(home));
    let relative = |path: &Path| path.strip_prefix(home).unwrap_or(path).display().to_string();
    let mut files = Vec::new();
    for file in &found.files {
        let mut kept = Kept::default();
        let outcome = source.read(&at_any_time(file), None, &mut kept);
        files.push(describe_file(
            &relative(&file.path),
            source,
            &kept,
            outcome.map(|outcome| outcome.account),
        ));
    }
    let issues: Vec<Value> = found
        .issues
        .iter()
        .map(|issue| json!({"path": relative(&issue.path), "code": issue.code}))
        .collect();
    let mut described = json!({"files": files, "issues": issues});
    hide_home(&mut described, &home.display().to_string());
    described
}

/// A file with a time of change that is the same on every machine, for sessions that tell no time.
fn at_any_time(file: &SourceFile) -> SourceFile {
    let modified_ns = 1_780_000_000_000_000_000;
    let stamp = FileStamp {
        modified_ns,
        ..file.stamp
    };
    SourceFile {
        stamp,
        ..file.clone()
    }
}

/// Puts `~` for the place of the home folder, which is another on every machine.
fn hide_home(value: &mut Value, home: &str) {
    match value {
        Value::String(text) if text.contains(home) => *text = text.replace(home, "~"),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_home(item, home)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide_home(field, home)),
        _ => {}
    }
}

fn describe_file(
    path: &str,
    source: &dyn SessionSource,
    kept: &Kept,
    account: Result<ReadAccount, ReadError>,
) -> Value {
    let account = match account {
        Ok(account) => json!({
            "lines": account.lines, "records": account.records, "bookkeeping": account.bookkeeping,
            "blank": account.blank, "lost": account.lost, "unknownTypes": account.unknown_types,
            "issues": account.issue_counts,
        }),
        Err(ReadError::NoSession { code, .. }) => json!({"error": code}),
        Err(error) => json!({"error": error.to_string().replace(path, "")}),
    };
    let sessions: Vec<Value> = kept
        .sessions
        .iter()
        .map(|session| describe_session(source, session))
        .collect();
    let titles: BTreeMap<_, _> = kept
        .titles
        .iter()
        .map(|title| (&title.session_id, &title.title))
        .collect();
    json!({"path": path, "account": account, "sessions": sessions, "titles": titles})
}

fn describe_session(source: &dyn SessionSource, kept: &KeptSession) -> Value {
    let states = Surface::of(&kept.events).map(|surface| surface.states(kept.events.len() as u64));
    let events: Vec<Value> = kept
        .events
        .iter()
        .map(|event| {
            let texts: BTreeMap<_, _> = text::pieces(event)
                .into_iter()
                .map(|piece| (format!("{:?}", piece.kind).to_lowercase(), piece.text.chars().take(200).collect::<String>()))
                .collect();
            let state = states.as_ref().ok().and_then(|states| states.get(usize::try_from(event.seq).ok()?));
            json!({"seq": event.seq, "type": event.type_name(), "time": event.time.to_rfc3339(), "surface": state, "text": texts})
        })
        .collect();
    let (header, facts, resume) = match &kept.session {
        Some(read) => (
            json!(read.header),
            json!(read.facts),
            source
                .resume(&read.header, &read.facts)
                .map(|resume| resume.arguments.join(" ")),
        ),
        None => (Value::Null, Value::Null, None),
    };
    json!({"id": kept.id, "header": header, "facts": without_defaults(facts), "resume": resume, "events": events})
}

/// Facts without the fields that say nothing, and without hashes.
fn without_defaults(facts: Value) -> Value {
    let Value::Object(fields) = facts else {
        return facts;
    };
    let says_something =
        |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && *value != json!(0);
    Value::Object(
        fields
            .into_iter()
            .filter(|(name, value)| name != "firstCopyKey" && says_something(value))
            .collect(),
    )
}

/// Checks that a transcript that grew from its first `cut` bytes to the whole, and was read both times,
/// gives what reading it whole gives. Works on a copy in `folder`, which must be empty.
///
/// # Errors
/// Which session differed, and how.
pub fn read_in_parts(
    source: &dyn SessionSource,
    file: &SourceFile,
    cut: usize,
    folder: &Path,
) -> Result<(), String> {
    let whole = fs::read(&file.path).map_err(|error| error.to_string())?;
    let name = file.path.file_name().ok_or("no file name")?;
    let path = folder.join(name);
    let copy = SourceFile {
        path: path.clone(),
        ..file.clone()
    };
    let write = |bytes: &[u8]| fs::write(&path, bytes).map_err(|error| error.to_string());
    let read = |cursor: Option<&ReadCursor>, kept: &mut Kept| source.read(&source_file(&copy), cursor, kept);

    write(whole.get(..cut).unwrap_or(&whole))?;
    let mut parts = Kept::default();
    let first = read(None, &mut parts);
    write(&whole)?;
    let mut at_once = Kept::default();
    let whole_outcome = read(None, &mut at_once);
    // A first part without a session, or one that must be read anew, has nothing to go on from.
    let Ok(first) = first else {
        return Ok(());
    };
    let second = match read(Some(&first.cursor), &mut parts) {
        Err(ReadError::StaleCursor { .. }) => return Ok(()),
        other => other.map_err(|error| format!("cut at {cut}: {error}"))?,
    };
    let whole_outcome = whole_outcome.map_err(|error| format!("whole: {error}"))?;
    if parts.sessions != at_once.sessions {
        return Err(format!(
            "cut at {cut}: {:#?}\n is not\n{:#?}",
            parts.sessions, at_once.sessions
        ));
    }
    let mut account = first.account;
    account.add(&second.account);
    if (account.records, account.lost) != (whole_outcome.account.records, whole_outcome.account.lost) {
        return Err(format!(
            "cut at {cut}: account {account:?} is not {:?}",
            whole_outcome.account
        ));
    }
    Ok(())
}
