//! Properties: a reader that fails, or cannot open its file, is told and hides no other; every session of a
//! file is looked through by itself; the search ends when nobody wants more; side files give titles.

use super::pattern::PatternOptions;
use super::*;
use crate::engine::Parts;
use lookback_model::document::TextCaps;
use lookback_model::event::{EventData, Message};
use lookback_model::source::{
    Discovery, EventSink, FileStamp, Position, ReadAccount, ReadCursor, ReadOutcome, ReadSession,
    ResumeCommand, SideTitle,
};
use lookback_model::{Environment, Event, SessionFacts, SessionHeader, SessionSource};
use lookback_testkit::memory::Memory;
use std::path::Path;
use std::sync::Arc;

/// Files by name, sessions by blank lines, events by lines. The first line of a session is its id.
struct Lines(&'static [(&'static str, &'static str)]);

impl SessionSource for Lines {
    fn agent(&self) -> &'static str {
        "lines"
    }
    fn roots(&self, _: &Environment) -> Vec<PathBuf> {
        vec!["/root".into()]
    }
    fn discover(&self, root: &Path, found: &mut Discovery) {
        for (name, _) in self.0 {
            let is_side = name.ends_with(".titles");
            found.files.push(SourceFile {
                agent: "lines".into(),
                root: root.into(),
                path: root.join(name),
                role: if is_side {
                    FileRole::Side
                } else {
                    FileRole::Transcript
                },
                stamp: FileStamp::default(),
            });
        }
    }
    fn read(
        &self,
        file: &SourceFile,
        _: Option<&ReadCursor>,
        sink: &mut dyn EventSink,
    ) -> Result<ReadOutcome, ReadError> {
        let (_, text) = self.0.iter().find(|(name, _)| file.path.ends_with(name)).unwrap();
        assert!(!text.starts_with("panic"), "for the test");
        if text.starts_with("refuse") {
            let (path, source) = (file.path.clone(), std::io::ErrorKind::PermissionDenied.into());
            return Err(ReadError::Io { path, source });
        }
        if file.role == FileRole::Side {
            let (id, title) = text.split_once('=').unwrap();
            let (agent, session_id, title) = ("lines".into(), id.into(), title.into());
            sink.title(SideTitle {
                agent,
                session_id,
                title,
            });
        }
        for session in text.split("\n\n").filter(|_| file.role == FileRole::Transcript) {
            let (id, words) = session.split_once('\n').unwrap();
            sink.begin(id, false)?;
            for (seq, line) in (0..).zip(words.lines()) {
                let data = EventData::UserMessage(Message::text(line));
                let (surface_op, source_event_seqs, native_id) = (None, None, None);
                let (time, copy_key) = (Timestamp(1), 0);
                sink.event(Event {
                    seq,
                    time,
                    data,
                    surface_op,
                    source_event_seqs,
                    native_id,
                    copy_key,
                })?;
            }
            let (header, facts) = (SessionHeader::new(id, Timestamp(1)), SessionFacts::default());
            sink.end(ReadSession {
                header,
                facts,
                shadowed: Vec::new(),
            })?;
        }
        let (position, state) = (Position::Whole, String::new());
        Ok(ReadOutcome {
            cursor: ReadCursor { position, state },
            account: ReadAccount::default(),
        })
    }
    fn resume(&self, _: &SessionHeader, _: &SessionFacts) -> Option<ResumeCommand> {
        None
    }
}

static SOURCES: &[&dyn SessionSource] = &[&Lines(&[
    (
        "a",
        "one\nred kettle\nblue kettle\n\ntwo\ngreen cup\n\nthree\nno kettle",
    ),
    ("b", "panic"),
    ("c", "refuse"),
    ("d", "four\nkettle"),
    ("e.titles", "four=The kettle"),
])];

fn grep(each: &mut dyn FnMut(SessionHits) -> ControlFlow<()>) -> GrepReport {
    let memory = Arc::new(Memory::default());
    let engine = Engine::new(Parts {
        environment: Environment::at_home("/home"),
        sources: SOURCES,
        catalogue: memory.clone(),
        provider: memory.clone(),
        sink: memory,
        caps: TextCaps::default(),
        workers: 1,
        clock: || Timestamp(1),
    });
    let request = GrepRequest {
        pattern: Pattern::new("kettle", PatternOptions::default()).unwrap(),
        view: View::Everything,
        filter: SessionFilter::default(),
        per_session: u64::MAX,
        context: Some((0, 0)),
        workers: 3,
    };
    engine.grep(&request, each)
}

#[test]
fn everything_that_can_be_read_is_looked_through() {
    let mut found = Vec::new();
    let report = grep(&mut |session| {
        found.push((session.session_id, session.count, session.title));
        ControlFlow::Continue(())
    });
    found.sort();
    let title = Some("The kettle".to_owned());
    let wanted = [("four", 1, title), ("one", 2, None), ("three", 1, None)];
    assert_eq!(
        found,
        wanted.map(|(id, count, title)| (id.to_owned(), count, title))
    );
    let mut issues: Vec<_> = report
        .issues
        .iter()
        .map(|issue| (issue.path.as_path(), &*issue.detail))
        .collect();
    issues.sort();
    let refused = std::io::Error::from(std::io::ErrorKind::PermissionDenied).to_string();
    assert_eq!(
        issues,
        [
            (Path::new("/root/b"), "the reader failed"),
            (Path::new("/root/c"), &refused)
        ]
    );
    assert_eq!((report.files, report.files_decoded), (4, 4));
}

#[test]
fn the_search_ends_when_nobody_wants_more() {
    let mut taken = 0;
    grep(&mut |_| {
        taken += 1;
        ControlFlow::Break(())
    });
    assert_eq!(taken, 1);
}
