-- Fewer columns than today.
CREATE TABLE session (id text PRIMARY KEY, directory text, title text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, time_updated integer, data text);
INSERT INTO session VALUES ('ses_few', '/home/dev/shop', 'Few columns', 1780304400000);
INSERT INTO session VALUES ('ses_next', '/home/dev/shop', 'Next generation', 1780304400000);
INSERT INTO session_message VALUES ('m', 'ses_next', 'user', 1, 1780304400000, 1780304400000, '{}');
INSERT INTO message VALUES ('msg_01', 'ses_few', 1780304401000, 1780304401000, '{"role": "user", "time": {"created": 1780304401000}}');
INSERT INTO part VALUES ('prt_001', 'msg_01', 'ses_few', 1780304401000, 1780304401000, '{"type": "text", "text": "still here"}');
