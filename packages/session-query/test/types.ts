// Compiled and never run: the types as a program uses them. What must not compile says so.

import { Relay, RelayError } from "../src/relay.mjs";
import type { AppendedEvent, Event, EventHit, KnownEventData, SessionHit } from "../src/relay.mjs";

const said: AppendedEvent = {
  time: 1,
  type: "user/message",
  data: { content: [{ type: "text", text: "words" }] },
  surfaceOp: { op: "append" },
};
const vendor: AppendedEvent = { time: 1, type: "vendor/thing", data: [1] };

export async function use(relay: Relay): Promise<string[]> {
  const sessions = await relay.call("sessionQuery.listSessions");
  const page = await relay.call("sessionQuery.searchSessions", {
    query: "words",
    sessionFilters: [
      { kind: "cwd", values: [null, "/w"] },
      { kind: "created-at", from: 1 },
      { kind: "availability", values: ["live"] },
    ],
    eventFilters: [{ kind: "surface", values: ["log-only"] }],
  });
  await relay.call("sessionQuery.appendLive", { sessionId: "s", events: [said, vendor] });
  // @ts-expect-error: no such kind of filter
  await relay.call("sessionQuery.searchSessions", { query: "words", sessionFilters: [{ kind: "colour", values: [] }] });
  // @ts-expect-error: no such method
  await relay.call("sessionQuery.forget");
  // @ts-expect-error: the session is missing
  await relay.call("sessionQuery.listEvents", {});
  const kept: SessionHit[] = await relay.filterSessionResults(page.items, [{ kind: "id", values: ["s"] }]);
  const best: EventHit[] = kept.map((hit) => hit.bestMatch);
  const cursor: string | undefined = page.nextCursor;
  return [...sessions.map((session) => session.header.id), ...best.map((hit) => hit.snippet), cursor ?? ""];
}

export function words(event: KnownEventData): number {
  // Payloads are told apart by the type.
  return event.type === "user/message" ? event.data.content.length : 0;
}

export function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof RelayError)) return undefined;
  return error.queryCode === "SESSION_QUERY_INVALID_LIMIT" ? "limit" : error.message;
}

export const whole: Event = { ...said, seq: 0 };
