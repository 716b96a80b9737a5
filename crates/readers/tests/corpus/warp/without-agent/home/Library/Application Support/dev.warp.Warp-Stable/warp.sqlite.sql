-- Of a time before there was an agent.
CREATE TABLE blocks (id INTEGER PRIMARY KEY, pwd TEXT);
