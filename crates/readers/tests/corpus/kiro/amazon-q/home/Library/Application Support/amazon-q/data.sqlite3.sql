-- Amazon Q's database: the first table only.
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO conversations VALUES ('/home/dev/q', '{"conversation_id": "q-1", "history": [{"user": {"content": {"Prompt": {"prompt": "asked of Q"}}, "timestamp": "2026-06-01T09:00:00Z", "images": null}, "assistant": {"Response": {"content": "Q answers."}}, "request_metadata": null}], "model_info": {"model_id": "model-2"}, "latest_summary": null, "transcript": ["> which rooms are free?"]}');
