-- The first columns only.
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, parent_session_id TEXT, started_at REAL NOT NULL, end_reason TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, timestamp REAL NOT NULL);
INSERT INTO sessions VALUES ('01H', 'telegram', NULL, 1780304400.5, NULL);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('01H', 'user', 'few columns', 1780304400.5);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('01H', 'assistant', 'enough', 1e300);
