// The client against the real program, whose path is in LOOKBACK.

import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Relay, RelayError } from "../src/relay.mjs";

const program = process.env.LOOKBACK;
assert.ok(program, "LOOKBACK must be the path of a built lookback");

let folder;
let relay;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "session-query-"));
  const home = join(folder, "home");
  await mkdir(home);
  const env = { ...process.env, HOME: home, USERPROFILE: home, LOOKBACK_DATA_DIR: join(folder, "data") };
  relay = new Relay({ program, env });
});

after(async () => {
  assert.equal(await relay.close(), 0);
  await rm(folder, { recursive: true });
});

const said = (text) => ({
  time: 5,
  type: "user/message",
  data: { content: [{ type: "text", text }] },
  surfaceOp: { op: "append" },
});
const header = (id, more = {}) => ({ version: 0, id, createdAt: 1, ...more });

test("a live session is attached, grown, read, traced and ended", async () => {
  const attached = await relay.call("sessionQuery.attachLive", { header: header("one"), events: [{ ...said("first"), seq: 0 }] });
  assert.deepEqual(attached, { sessionId: "one", length: 1 });
  const rewritten = { ...said("again"), surfaceOp: { op: "replace", start: 0, end: 0 }, sourceEventSeqs: [0] };
  const appended = await relay.call("sessionQuery.appendLive", { sessionId: "one", events: [rewritten] });
  assert.deepEqual(appended, { seqs: [1] });
  const page = await relay.call("sessionQuery.searchSessions", { query: "again" });
  assert.deepEqual(page.items.map((hit) => [hit.header.id, hit.bestMatch.seq]), [["one", 1]]);
  const events = await relay.call("sessionQuery.listEvents", { sessionId: "one" });
  assert.deepEqual(events.map((event) => event.surface), ["shadowed", "current"]);
  const trace = await relay.call("sessionQuery.traceEvent", { sessionId: "one", seq: 0 });
  assert.deepEqual([trace.shadowedBy, trace.replacementChain, trace.referencedBy], [1, [1], [1]]);
  const read = await relay.call("sessionQuery.readEvent", { sessionId: "one", seq: 1, before: 1 });
  assert.deepEqual(read.target, { ...rewritten, seq: 1 });
  assert.deepEqual([read.startSeq, read.endSeq], [0, 1]);
  await relay.call("sessionQuery.attachLive", { header: header("child", { parentSession: "one", createdAt: 2 }) });
  const lineage = await relay.call("sessionQuery.traceSession", { sessionId: "child" });
  assert.deepEqual(lineage.parents.map((parent) => parent.header.id), ["one"]);
  assert.equal(lineage.root.header.id, "one");
  const sessions = await relay.call("sessionQuery.listSessions");
  assert.deepEqual(sessions.map((session) => session.header.id), ["child", "one"]);
  const kept = await relay.filterSessionResults(sessions, [{ kind: "parent", values: [null] }]);
  assert.deepEqual(kept, [sessions[1]]);
  for (const sessionId of ["child", "one"]) await relay.call("sessionQuery.detachLive", { sessionId });
  assert.deepEqual(await relay.call("sessionQuery.listSessions"), []);
});

test("a failure is an error with the contract's code", async () => {
  const failure = async (method, params) => {
    const error = await relay.call(`sessionQuery.${method}`, params).then(() => undefined, (error) => error);
    assert.ok(error instanceof RelayError, `${method} did not fail as it should`);
    return [error.code, error.queryCode];
  };
  assert.deepEqual(await failure("listEvents", { sessionId: "none" }), [-32000, "SESSION_QUERY_SESSION_NOT_FOUND"]);
  assert.deepEqual(await failure("searchSessions", { query: "x", limit: "10" }), [-32000, "SESSION_QUERY_INVALID_LIMIT"]);
  assert.deepEqual(await failure("listEvents", {}), [-32602, undefined]);
  assert.deepEqual(await failure("unknown", {}), [-32601, undefined]);
});

test("calls that are made at once are each given their own answer", async () => {
  const ids = Array.from({ length: 100 }, (_, number) => `many-${number}`);
  const attached = ids.map((id) => relay.call("sessionQuery.attachLive", { header: header(id) }));
  const counts = ids.map((sessionId) => relay.call("sessionQuery.listEvents", { sessionId }));
  assert.deepEqual((await Promise.all(attached)).map((answer) => answer.sessionId), ids);
  assert.deepEqual(await Promise.all(counts), ids.map(() => []));
  for (const sessionId of ids) relay.notify("sessionQuery.detachLive", { sessionId });
  assert.deepEqual(await relay.call("sessionQuery.listSessions"), []);
});

test("what is waiting fails when the relay is not there", async () => {
  const absent = new Relay({ program: join(folder, "no-such-program") });
  await assert.rejects(absent.call("sessionQuery.listSessions"), { code: "ENOENT" });
  await assert.rejects(absent.call("sessionQuery.listSessions"), /has ended/);
  await absent.close();
});
