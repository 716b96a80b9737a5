-- A store of OpenCode, as far as it is read.
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL, permission text, agent text, revert text, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq integer, type text, data text);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
INSERT INTO session (id, project_id, parent_id, directory, title, version, permission, agent, revert, time_created, time_updated, time_archived) VALUES ('ses_t', 'p1', NULL, '/home/dev/shop', 'Port of the shop', '1.18.3', NULL, NULL, NULL, 1780304400000, 1780304400000, NULL);
INSERT INTO message VALUES ('msg_01', 'ses_t', 1780304401000, 1780304401000, '{"role": "user", "time": {"created": 1780304401000}}');
INSERT INTO part VALUES ('prt_001', 'msg_01', 'ses_t', 1780304401000, 1780304401000, '{"type": "text", "text": "which port does the shop use?"}');
INSERT INTO message VALUES ('msg_02', 'ses_t', 1780304402000, 1780304402000, '{"role": "assistant", "time": {"created": 1780304402000, "completed": 1780304402900}, "parentID": "x", "modelID": "model-9", "providerID": "acme", "path": {"cwd": "/home/dev/shop", "root": "/home/dev/shop"}}');
INSERT INTO part VALUES ('prt_002', 'msg_02', 'ses_t', 1780304402000, 1780304402000, '{"type": "text", "text": "Let me see."}');
INSERT INTO part VALUES ('prt_003', 'msg_02', 'ses_t', 1780304402000, 1780304402000, '{"type": "tool", "tool": "read", "callID": "c1", "state": {"status": "completed", "input": {"filePath": "shop.toml"}, "title": "read", "metadata": {}, "time": {"start": 1780304402010, "end": 1780304402500}, "output": "port = 8080"}}');
INSERT INTO part VALUES ('prt_004', 'msg_02', 'ses_t', 1780304402000, 1780304402000, '{"type": "text", "text": "It is 8080."}');
INSERT INTO message VALUES ('msg_03', 'ses_t', 1780304409000, 1780304409000, '{"role": "user", "time": {"created": 1780304409000}}');
INSERT INTO part VALUES ('prt_005', 'msg_03', 'ses_t', 1780304409000, 1780304409000, '{"type": "text", "text": "and the admin port?"}');
