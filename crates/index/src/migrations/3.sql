-- What a session query fed of a session, and from what; empty of sessions that were read from a transcript.
ALTER TABLE sessions ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN extractors TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN revision TEXT;

-- Rows that stand for sessions which were fed and no transcript holds.
CREATE INDEX files_fed ON files (path) WHERE role = 'fed';

-- Numbers of event types beyond the vocabulary, as columns of the text index hold them.
CREATE TABLE event_types (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
