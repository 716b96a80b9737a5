//! Properties: one more message costs reading one message; a session whose earlier rows changed is told anew,
//! and no other; a session that is gone from the store takes no other with it; a damaged row or page costs
//! itself; each row is accounted for once, however often it is read.
use super::*;
use crate::log::Draft;
use crate::sqlite::Fields;
use crate::walk;
use lookback_model::event::{Event, EventData, Message};
use lookback_model::source::{FileRole, ReadSession, SideTitle};
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Messages of sessions: `m (id, session, body)` with bodies of JSON.
struct Chats;

impl RowFormat for Chats {
    fn sessions(&self, store: &Store) -> Result<Vec<Listed>, ReadError> {
        let list = || -> rusqlite::Result<Vec<Listed>> {
            let mut statement = store.connection().prepare(
                "SELECT session, count(*), max(id), sum(length(body)) FROM m GROUP BY session ORDER BY 1",
            )?;
            let rows = statement.query_map([], |row| {
                let id: String = row.get(0)?;
                Ok(Listed {
                    key: id.clone(),
                    id,
                    mark: mark(row)?,
                })
            })?;
            rows.collect()
        };
        list().map_err(|error| store.error(error))
    }

    fn mark_up_to(&self, store: &Store, session: &Listed, row: i64) -> rusqlite::Result<u64> {
        store.connection().query_row(
            "SELECT count(*), sum(length(body)) FROM m WHERE session = ?1 AND id <= ?2",
            (&session.key, row),
            mark,
        )
    }

    fn tell(
        &self,
        store: &Store,
        session: &Listed,
        after: Option<i64>,
        telling: &mut Telling<'_>,
    ) -> Result<(), Stop> {
        let mut statement = store
            .connection()
            .prepare("SELECT id, body FROM m WHERE session = ?1 AND id > ?2 ORDER BY id")?;
        let mut rows = statement.query((&session.key, after.unwrap_or(0)))?;
        while let Some(row) = rows.next()? {
            let body = Fields(row).bytes("body");
            if let Some(text) = telling.json::<String>(body) {
                telling
                    .log
                    .append(Draft::new(EventData::UserMessage(Message::text(text)), None))?;
                telling.record(body.len());
            }
            telling.settled(row.get(0)?);
        }
        Ok(())
    }
}

/// What a read handed on: of each session whether it was resumed, and its texts.
#[derive(Default)]
struct Heard {
    sessions: Vec<(String, bool, Vec<String>)>,
    ended: Vec<ReadSession>,
}

impl EventSink for Heard {
    fn begin(&mut self, session_id: &str, resumed: bool) -> Result<(), SinkClosed> {
        self.sessions.push((session_id.to_owned(), resumed, Vec::new()));
        Ok(())
    }
    fn event(&mut self, event: Event) -> Result<(), SinkClosed> {
        let EventData::UserMessage(message) = &event.data else {
            panic!("{event:?}");
        };
        let text = serde_json::to_value(&message.content[0]).unwrap()["text"]
            .as_str()
            .unwrap()
            .to_owned();
        self.sessions.last_mut().unwrap().2.push(text);
        Ok(())
    }
    fn end(&mut self, session: ReadSession) -> Result<(), SinkClosed> {
        self.ended.push(session);
        Ok(())
    }
    fn title(&mut self, _: SideTitle) {}
}

fn run(path: &Path, script: &str) {
    Connection::open(path).unwrap().execute_batch(script).unwrap();
}

fn file(path: &Path) -> SourceFile {
    SourceFile {
        agent: "chats".to_owned(),
        root: path.parent().unwrap().to_owned(),
        path: path.to_owned(),
        role: FileRole::Transcript,
        stamp: walk::stamp(&fs::metadata(path).unwrap()),
    }
}

fn read_on(path: &Path, cursor: Option<&ReadCursor>) -> (Heard, ReadOutcome) {
    let mut heard = Heard::default();
    let outcome = read(&Chats, &file(path), cursor, &mut heard).unwrap();
    (heard, outcome)
}

fn told(id: &str, resumed: bool, texts: &[&str]) -> (String, bool, Vec<String>) {
    let texts = texts.iter().map(|&text| text.to_owned()).collect();
    (id.to_owned(), resumed, texts)
}

const TWO: &str = r#"CREATE TABLE m (id INTEGER PRIMARY KEY, session, body);
    INSERT INTO m (session, body) VALUES ('a', '"one"'), ('b', '"two"'), ('a', '"three"');"#;

#[test]
fn one_more_message_costs_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    let (heard, first) = read_on(&path, None);
    let whole = [told("a", false, &["one", "three"]), told("b", false, &["two"])];
    assert_eq!(heard.sessions, whole);
    assert_eq!((first.account.lines, first.account.records), (3, 3));
    assert_eq!(first.cursor.position, Position::Rows { sessions: 2 });

    let (heard, same) = read_on(&path, Some(&first.cursor));
    assert!(heard.sessions.is_empty());
    assert_eq!(same.account.lines, 0);

    run(&path, r#"INSERT INTO m (session, body) VALUES ('a', '"four"');"#);
    let (heard, second) = read_on(&path, Some(&same.cursor));
    assert_eq!(heard.sessions, [told("a", true, &["four"])]);
    assert_eq!((second.account.lines, heard.ended[0].facts.prompts), (1, 3));
    assert_eq!(second.account.bytes, "\"four\"".len() as u64);
}

#[test]
fn a_row_changed_in_place_costs_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    let (_, first) = read_on(&path, None);
    run(
        &path,
        r#"UPDATE m SET body = '"one, edited"' WHERE id = 1; INSERT INTO m (session, body) VALUES ('a', '"four"');"#,
    );
    let (heard, second) = read_on(&path, Some(&first.cursor));
    assert_eq!(
        heard.sessions,
        [told("a", false, &["one, edited", "three", "four"])]
    );
    assert_eq!(second.account.lines, 1, "two rows were accounted for before");
    run(&path, "DELETE FROM m WHERE id = 3;");
    let (heard, third) = read_on(&path, Some(&second.cursor));
    assert_eq!(heard.sessions, [told("a", false, &["one, edited", "four"])]);
    assert_eq!(third.account.lines, 0);
}

#[test]
fn a_session_that_is_gone_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    let (_, first) = read_on(&path, None);
    run(
        &path,
        r#"DELETE FROM m WHERE session = 'a'; INSERT INTO m (session, body) VALUES ('c', '"new"');"#,
    );
    let (heard, second) = read_on(&path, Some(&first.cursor));
    assert_eq!(heard.sessions, [told("c", false, &["new"])]);
    assert_eq!(second.cursor.position, Position::Rows { sessions: 2 });
    run(&path, r#"INSERT INTO m (session, body) VALUES ('a', '"back"');"#);
    let (heard, _) = read_on(&path, Some(&second.cursor));
    assert_eq!(heard.sessions, [told("a", false, &["back"])]);
}

#[test]
fn a_damaged_row_costs_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    run(
        &path,
        r#"INSERT INTO m (session, body) VALUES ('a', '"cut'), ('a', '"half \ud83d"'), ('a', '"whole"');"#,
    );
    let (heard, outcome) = read_on(&path, None);
    assert_eq!(
        heard.sessions[0],
        told("a", false, &["one", "three", "half \u{FFFD}", "whole"])
    );
    let account = outcome.account;
    assert_eq!((account.lines, account.records, account.lost), (6, 5, 1));
    assert_eq!(
        (account.issue_counts["not_json"], account.issue_counts["repaired"]),
        (1, 1)
    );
}

#[test]
fn a_truncated_store_gives_what_is_left_or_says_that_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    let filler = format!("\"{}\"", "x".repeat(3_000));
    for session in 0..30 {
        let connection = Connection::open(&path).unwrap();
        connection
            .execute(
                "INSERT INTO m (session, body) VALUES (?1, ?2)",
                (format!("s{session}"), &filler),
            )
            .unwrap();
    }
    let whole = fs::read(&path).unwrap();
    let mut outcomes = [0, 0];
    for length in (0..whole.len()).step_by(1_777) {
        fs::write(&path, &whole[..length]).unwrap();
        let mut heard = Heard::default();
        match read(&Chats, &file(&path), None, &mut heard) {
            Ok(outcome) => {
                outcomes[0] += 1;
                assert_eq!(heard.sessions.len(), heard.ended.len());
                assert!(outcome.account.lost > 0 || heard.sessions.len() == 32);
            }
            Err(ReadError::NoSession { code, .. }) => {
                outcomes[1] += 1;
                let known = [IssueCode::EmptyFile, IssueCode::DamagedDatabase];
                assert!(known.contains(&code), "{code:?}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(outcomes[1] > 0, "{outcomes:?}");
}

#[test]
fn a_cursor_of_another_kind_is_stale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    run(&path, TWO);
    for (position, state) in [
        (Position::Whole, "{}"),
        (Position::Rows { sessions: 1 }, "no state"),
    ] {
        let cursor = ReadCursor {
            position,
            state: state.to_owned(),
        };
        let read = read(&Chats, &file(&path), Some(&cursor), &mut Heard::default());
        assert!(matches!(read, Err(ReadError::StaleCursor { .. })));
    }
}
