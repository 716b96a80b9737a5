-- A project's database of Crush, as far as it is read.
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, is_summary_message INTEGER NOT NULL DEFAULT 0);
INSERT INTO sessions VALUES ('c-1', NULL, 'Colours of the chart', 1780304400, 1780304400);
INSERT INTO sessions VALUES ('c-1$$call_9', 'c-1', 'New Agent Session', 1780304400, 1780304400);
INSERT INTO sessions VALUES ('title-c-1', NULL, 'Colours', 1780304400, 1780304400);
INSERT INTO sessions VALUES ('c-empty', NULL, 'Untitled Session', 1780304400, 1780304400);
INSERT INTO messages VALUES ('title-m', 'title-c-1', 'user', '[{"type": "text", "data": {"text": "make a title"}}]', NULL, 1780304400, 1780304400, NULL, 0);
INSERT INTO messages VALUES ('m1', 'c-1', 'user', '[{"type": "text", "data": {"text": "make the chart blue"}}, {"type": "binary", "data": {"Path": "a.png", "MIMEType": "image/png", "Data": "AAAABBBB"}}]', NULL, 1780304401, 1780304401, NULL, 0);
INSERT INTO messages VALUES ('m2', 'c-1', 'assistant', '[{"type": "reasoning", "data": {"thinking": "Where are the colours?"}}, {"type": "text", "data": {"text": "Let me look."}}, {"type": "tool_call", "data": {"id": "k1", "name": "grep", "input": "{\"pattern\":\"red\"}", "finished": true}}, {"type": "finish", "data": {"reason": "tool_use"}}]', 'model-7', 1780304402, 1780304402, NULL, 0);
INSERT INTO messages VALUES ('m3', 'c-1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "k1", "name": "grep", "content": "chart.css: red", "is_error": false}}]', NULL, 1780304402, 1780304402, NULL, 0);
INSERT INTO messages VALUES ('m4', 'c-1', 'assistant', '[{"type": "text", "data": {"text": "I will"}}]', 'model-7', 1780304403, 1780304403, NULL, 0);
UPDATE messages SET parts = '[{"type": "text", "data": {"text": "I will stop here."}}, {"type": "finish", "data": {"reason": "canceled", "message": "by the person", "details": "escape"}}]' WHERE id = 'm4';
INSERT INTO messages VALUES ('m5', 'c-1', 'user', '[{"type": "shell_command", "data": {"command": "git diff", "output": "-red\n+blue", "exit_code": 0}}]', NULL, 1780304404, 1780304404, NULL, 0);
INSERT INTO messages VALUES ('s1', 'c-1$$call_9', 'user', '[{"type": "text", "data": {"text": "find other charts"}}]', NULL, 1780304405, 1780304405, NULL, 0);
INSERT INTO messages VALUES ('s2', 'c-1$$call_9', 'assistant', '[{"type": "text", "data": {"text": "There are none."}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1780304409}}]', NULL, 1780304406, 1780304406, NULL, 0);
INSERT INTO messages VALUES ('m6', 'c-1', 'assistant', '[{"type": "text", "data": {"text": "The chart was made blue."}}, {"type": "finish", "data": {"reason": "end_turn", "time": 1780304409}}]', 'model-7', 1780304407, 1780304407, NULL, 1);
INSERT INTO messages VALUES ('m7', 'c-1', 'user', '[{"type": "text", "data": {"text": "and the legend?"}}, {"type": "aura", "data": {"text": "?"}}]', NULL, 1780304408, 1780304408, NULL, 0);
INSERT INTO messages VALUES ('m8', 'c-1', 'assistant', '[{"type":"text","data":{"te', NULL, 1780304409, 1780304409, NULL, 0);
