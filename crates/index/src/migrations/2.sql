-- Ranking weighs what is said against how long a session is, and whether it only asked the history.
ALTER TABLE sessions ADD COLUMN recalls INTEGER NOT NULL DEFAULT 0;
DROP INDEX sessions_for_ranking;
CREATE INDEX sessions_for_ranking
    ON sessions (hidden, ordinal, leader, updated_at, created_at, kind, first_copy_key, turns, recalls);
