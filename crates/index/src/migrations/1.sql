-- What a data folder holds: files that were found, how far each was read, and the sessions they gave.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    root BLOB NOT NULL,
    path BLOB NOT NULL UNIQUE,
    role TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    state TEXT NOT NULL,
    presence TEXT NOT NULL,
    -- The commit that last wrote this row; above the text index's own, the file is due again.
    generation INTEGER NOT NULL
);

-- Apart from files, so that a look at all files stays a scan of narrow rows.
CREATE TABLE reads (
    file INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
    -- Packed; a window of hashes makes up most of it.
    cursor BLOB,
    account TEXT NOT NULL,
    error TEXT
);

CREATE TABLE sessions (
    ordinal INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    cwd TEXT,
    created_at INTEGER,
    updated_at INTEGER,
    -- Prompts and replies with words: of several files with one session the fullest counts.
    turns INTEGER NOT NULL,
    first_copy_key INTEGER NOT NULL,
    -- Of the sessions with this agent and id, the fullest: it stands for all of them in hits.
    leader INTEGER NOT NULL,
    header TEXT NOT NULL,
    facts TEXT NOT NULL,
    shadowed TEXT NOT NULL,
    resume TEXT
);
CREATE INDEX sessions_by_id ON sessions (agent, session_id);
CREATE INDEX sessions_by_file ON sessions (file);
-- All that ranking needs of every session, as one narrow scan.
CREATE INDEX sessions_for_ranking
    ON sessions (hidden, ordinal, leader, updated_at, created_at, kind, first_copy_key);

CREATE TABLE titles (
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY (agent, session_id)
) WITHOUT ROWID;
