-- A project's database of Crush, as far as it is read.
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
INSERT INTO sessions VALUES ('c-2', NULL, 'Older columns', 1780304400000, 1780304400000);
INSERT INTO messages VALUES ('m1', 'c-2', 'user', '[{"type":"text","data":{"text":"in milliseconds"}}]', NULL, 1780304400000, 1780304400000);
