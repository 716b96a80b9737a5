// What `lookback relay` takes and gives.
// Written by `cargo xtask docs` from docs/reference/session-query.schema.json. Change the Rust types, not this file.

/** Each method with its params and its result. */
export interface SessionQueryMethods {
  "sessionQuery.appendLive": { params: AppendLiveRequest; result: AppendLiveResult };
  "sessionQuery.attachLive": { params: AttachLiveRequest; result: AttachLiveResult };
  "sessionQuery.detachLive": { params: SessionRequest; result: DetachLiveResult };
  "sessionQuery.filterEventResults": { params: FilterEventResultsRequest; result: EventRecord[] };
  "sessionQuery.filterSessionResults": { params: FilterSessionResultsRequest; result: SessionRecord[] };
  "sessionQuery.listEvents": { params: SessionRequest; result: EventRecord[] };
  "sessionQuery.listSessions": { params: ListSessionsRequest; result: SessionRecord[] };
  "sessionQuery.readEvent": { params: ReadEventRequest; result: ReadEventResult };
  "sessionQuery.searchEvents": { params: SessionEventSearchRequest; result: EventHitPage };
  "sessionQuery.searchSessions": { params: SessionSearchRequest; result: SessionHitPage };
  "sessionQuery.traceEvent": { params: TraceEventRequest; result: EventTrace };
  "sessionQuery.traceSession": { params: SessionRequest; result: SessionTrace };
}

/** What has happened since. */
export interface AppendLiveRequest {
  /** The session. */
  sessionId: string;
  /** The events; all of them are appended, or none. */
  events: AppendedEvent[];
}

/** Where the events were appended. */
export interface AppendLiveResult {
  /** Their seqs, in the order they were given. */
  seqs: number[];
}

/** The members of AppendedEvent beside its choices. */
export interface AppendedEventFields {
  /** When it happened. */
  time: Timestamp;
  /** The program's own id of it. */
  nativeId?: string;
  /** Its position in the log. Absent means the next one; when it is given it must be that. */
  seq?: number;
  /** Earlier events it was made from. */
  sourceEventSeqs?: number[];
  /** What it does to the surface; only of a type that may stand there. */
  surfaceOp?: SurfaceOp;
}

/** An event to be appended. */
export type AppendedEvent = AppendedEventFields & EventData;

/** A session that is running, and what has happened in it. */
export interface AttachLiveRequest {
  /** Its immutable header. */
  header: SessionHeader;
  /** Its log so far: event `i` has seq `i`. Absent means none yet. */
  events?: Event[];
}

/** What is known of the session now. */
export interface AttachLiveResult {
  /** Its id. */
  sessionId: string;
  /** How many events its log has. */
  length: number;
}

/** Where a session is held. */
export type Availability =
  /** Running in this process. */
  | "live"
  /** In the mounted persistence. */
  | "persisted";

/** Payload of `prompt/blocked`. */
export interface BlockedPrompt {
  /** The prompt. */
  content: ContentBlock[];
  /** Why it was refused. */
  reason: string;
  /** Where it came from. */
  source?: unknown;
}

/** Words. */
export interface TextContentBlock {
  type: "text";
  /** The words. */
  text: string;
}

/** The agent's reasoning. */
export interface ReasoningContentBlock {
  type: "reasoning";
  /** The words. */
  text: string;
}

/** A call of a tool inside a message. */
export interface ToolCallContentBlock {
  type: "tool-call";
  /** The agent's id of the call. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** Arguments as the agent wrote them, unparsed. */
  arguments: string;
}

/** A tool's answer inside a message. */
export interface ToolResultContentBlock {
  type: "tool-result";
  /** The call it answers. */
  id: string;
  /** The answer. */
  content: ContentBlock[];
}

/** An image or document. Its bytes are never held, only what they were. */
export interface MediaContentBlock {
  type: "media";
  /** MIME type, empty when unknown. */
  media_type: string;
  /** Length of the encoded data in the transcript, in bytes. */
  bytes: number;
}

/** A block of another owner. */
export interface OtherContentBlock {
  [member: string]: unknown;
}

/** The alternatives of ContentBlock that have a name. */
export type KnownContentBlock =
  | TextContentBlock
  | ReasoningContentBlock
  | ToolCallContentBlock
  | ToolResultContentBlock
  | MediaContentBlock;

/** A piece of a message. The vocabulary is open: a block not listed is `ContentBlock::Other`. */
export type ContentBlock = KnownContentBlock | OtherContentBlock;

/** The session is no longer running. */
export interface DetachLiveResult {
  /** Its id. */
  sessionId: string;
}

/** The members of Event beside its choices. */
export interface EventFields {
  /** Position in the log, from 0 without gaps. */
  seq: number;
  /** When it happened. */
  time: Timestamp;
  /** The agent's own id of the record, where it gives one. */
  nativeId?: string;
  /** Earlier events this one was made from. */
  sourceEventSeqs?: number[];
  /**
   * What the event does to the surface. Only surface-eligible types carry one; a type that may and
   * does not is log-only.
   */
  surfaceOp?: SurfaceOp;
}

/** One entry of a session's log. Event `i` of a log has `seq` `i`. */
export type Event = EventFields & EventData;

/** A turn began. */
export interface TurnStartEventData {
  type: "turn/start";
  data: unknown;
}

/** A turn ended. */
export interface TurnEndEventData {
  type: "turn/end";
  data: TurnEnd;
}

/** A step of a turn began. */
export interface StepStartEventData {
  type: "step/start";
  data: unknown;
}

/** A step of a turn ended. */
export interface StepEndEventData {
  type: "step/end";
  data: unknown;
}

/** What the person said. */
export interface UserMessageEventData {
  type: "user/message";
  data: Message;
}

/** What the agent said, its reasoning and its tool calls. */
export interface AssistantMessageEventData {
  type: "assistant/message";
  data: Message;
}

/** What a tool answered. */
export interface ToolResultEventData {
  type: "tool/result";
  data: ToolResult;
}

/** Context put in by the agent's program: instructions, reminders, summaries. Not a prompt. */
export interface ContextMessageEventData {
  type: "context/message";
  data: Message;
}

/** A message given while the agent was at work. */
export interface SteeringMessageEventData {
  type: "steering/message";
  data: Message;
}

/** A prompt that was refused. */
export interface PromptBlockedEventData {
  type: "prompt/blocked";
  data: BlockedPrompt;
}

/** A tool call as its own record. */
export interface ToolCallEventData {
  type: "tool/call";
  data: ToolCall;
}

/** The whole list of things to do; the last one holds. */
export interface TodoWriteEventData {
  type: "todo/write";
  data: TodoList;
}

/** A piece of a streamed answer. */
export interface AssistantChunkEventData {
  type: "assistant/chunk";
  data: unknown;
}

/** The envelope of a request. */
export interface RequestHeaderEventData {
  type: "request/header";
  data: unknown;
}

/** A change to it. */
export interface RequestHeaderDeltaEventData {
  type: "request/header-delta";
  data: unknown;
}

/** The alternatives of EventData that have a name. */
export type KnownEventData =
  | TurnStartEventData
  | TurnEndEventData
  | StepStartEventData
  | StepEndEventData
  | UserMessageEventData
  | AssistantMessageEventData
  | ToolResultEventData
  | ContextMessageEventData
  | SteeringMessageEventData
  | PromptBlockedEventData
  | ToolCallEventData
  | TodoWriteEventData
  | AssistantChunkEventData
  | RequestHeaderEventData
  | RequestHeaderDeltaEventData;

/**
 * Type and payload of an event. The vocabulary is open: a type not listed is `EventData::Other`.
 */
export type EventData = KnownEventData | OtherEvent;

/** An event that was found. */
export interface EventHit {
  /** The session it belongs to. */
  sessionId: string;
  /** Position in the log, from 0. */
  seq: number;
  /** When it happened. */
  time: Timestamp;
  /** The type's name, such as `user/message`. */
  type: string;
  /** Where it stands after the fold. */
  surface: SurfaceState;
  /** Words around the match, as plain text without marks. */
  snippet: string;
}

/** A page of hits, best first. No scores: those of two providers cannot be compared. */
export interface EventHitPage {
  /** The provider that answered. */
  providerId: string;
  /** The hits, at most the limit. */
  items: EventHit[];
  /** Where the next page begins; absent when there is none. */
  nextCursor?: string;
}

/** An event of a session, without its payload. */
export interface EventRecord {
  /** The session it belongs to. */
  sessionId: string;
  /** Position in the log, from 0. */
  seq: number;
  /** When it happened. */
  time: Timestamp;
  /** The type's name, such as `user/message`. */
  type: string;
  /** Where it stands after the fold. */
  surface: SurfaceState;
}

/** By position in the log. */
export interface SeqEventResultFilter {
  kind: "seq";
  /** Not before this; absent means any. */
  from?: number;
  /** Not after this; absent means any. */
  to?: number;
}

/** By the time they happened, in milliseconds. */
export interface TimeEventResultFilter {
  kind: "time";
  /** Not before this; absent means any. */
  from?: number;
  /** Not after this; absent means any. */
  to?: number;
}

/** By type. The vocabulary is open: any name is a valid value. */
export interface TypeEventResultFilter {
  kind: "type";
  /** The names. */
  values: string[];
}

/** By where they stand. */
export interface SurfaceEventResultFilter {
  kind: "surface";
  /** The states. */
  values: SurfaceState[];
}

/** Lets events through. */
export type EventResultFilter =
  | SeqEventResultFilter
  | TimeEventResultFilter
  | TypeEventResultFilter
  | SurfaceEventResultFilter;

/**
 * What an event was made from, and what replaced it. Related events are seqs: their content is
 * read.
 */
export interface EventTrace {
  /** The event that was asked for. */
  target: EventRecord;
  /** The replacer, its replacer, and so on to the event now on the surface. */
  replacementChain: number[];
  /** What the event itself took off the surface, in surface order. */
  shadows: number[];
  /** The event's own sources, in its order. */
  references: number[];
  /** Events that name it as a source, in log order. */
  referencedBy: number[];
  /** The event that took its place on the surface. */
  shadowedBy?: number;
}

/** Events, or hits of events, and filters over them. */
export interface FilterEventResultsRequest {
  /** Records, or hits. They come back as they are, with whatever else they hold. */
  items: EventRecord[];
  /** All must let an item through. */
  filters: EventResultFilter[];
}

/** Sessions, or hits of sessions, and filters over them. */
export interface FilterSessionResultsRequest {
  /** Records, or hits. They come back as they are, with whatever else they hold. */
  items: SessionRecord[];
  /** All must let an item through. */
  filters: SessionResultFilter[];
}

/** No parameters. */
export type ListSessionsRequest = Record<string, never>;

/** Payload of user, assistant, context and steering messages. */
export interface Message {
  /** What was said, in order. */
  content: ContentBlock[];
  /** Where it came from: `compaction`, `rollback`, `reminder`, `queue`, … */
  source?: unknown;
  /** Step within the turn. */
  step?: number;
  /** Turn number, where the agent counts turns. */
  turn?: number;
  /** Token usage as the agent reports it. */
  usage?: unknown;
}

/** An event of a type this crate does not know. */
export interface OtherEvent {
  /** The type's name. */
  type: string;
  /** Its payload. */
  data: unknown;
}

/** Which event to read, and how many raw events around it. */
export interface ReadEventRequest {
  /** The session. */
  sessionId: string;
  /** The event. A number without such an event, negative and fractional ones too, is not found. */
  seq: number;
  /** Events after it, 0 to the configured `readWindowMax`; absent means 0. */
  after?: number;
  /** Events before it, 0 to the configured `readWindowMax`; absent means 0. */
  before?: number;
}

/** An event in full, and the raw events around it. */
export interface ReadEventResult {
  /** The session. */
  session: SessionRecord;
  /** The event that was asked for. */
  target: Event;
  /** The window, the target included, in log order. */
  events: Event[];
  /** Seq of the first event of the window. */
  startSeq: number;
  /** Seq of the last event of the window. */
  endSeq: number;
}

/** A search over the events of one session, as a caller asks for it. */
export interface SessionEventSearchRequest {
  /** The session. */
  sessionId: string;
  /** What is looked for; not blank. */
  query: string;
  /** Where the last page ended. */
  cursor?: string;
  /** Which events may be found, applied before ranking. */
  filters?: EventResultFilter[];
  /** Hits on a page, 1 to the configured `maxLimit`; absent means `defaultLimit`. */
  limit?: number;
}

/** The immutable facts of a session, kept outside its event log. */
export interface SessionHeader {
  /** Format version of the log; 0 is the only one so far. */
  version: number;
  /** The agent's own id of the session. */
  id: string;
  /** When the session began. */
  createdAt: Timestamp;
  /** Which composition of tools and prompts the session used. */
  agentPreset?: string;
  /** Working directory at the start; absolute on the machine that wrote it. */
  cwd?: string;
  /** 0 for a top-level session, parent + 1 for a delegated one; absent means 0. */
  delegationDepth?: number;
  /** `"subagent"` when an agent started it; for display only. */
  origin?: string;
  /** The session this one was forked from or delegated by. */
  parentSession?: string;
  /** How many leading events were inherited from the parent; absent means none. */
  seedLength?: number;
  [member: string]: unknown;
}

/** A session that was found. */
export interface SessionHit {
  /** Its immutable header. */
  header: SessionHeader;
  /** Whether it is running in this process. */
  live: boolean;
  /** Whether the mounted persistence has it. Independent of `live`. */
  persisted: boolean;
  /** Its best event. */
  bestMatch: EventHit;
}

/** A page of hits, best first. No scores: those of two providers cannot be compared. */
export interface SessionHitPage {
  /** The provider that answered. */
  providerId: string;
  /** The hits, at most the limit. */
  items: SessionHit[];
  /** Where the next page begins; absent when there is none. */
  nextCursor?: string;
}

/** A descendant and its own descendants. */
export interface SessionNode {
  /** The session. */
  session: SessionRecord;
  /** Its children; siblings by creation, then by id. */
  children: SessionNode[];
}

/** Why an operation of a session query failed. The set is closed: no other code exists. */
export type SessionQueryErrorCode =
  /** The caller's signal was aborted before the answer was there. */
  | "SESSION_QUERY_ABORTED"
  /** The event type or block type has an extractor already. */
  | "SESSION_QUERY_DUPLICATE_EXTRACTOR"
  /** A provider of this id is registered already. */
  | "SESSION_QUERY_DUPLICATE_PROVIDER"
  /** The session has no event of this seq. */
  | "SESSION_QUERY_EVENT_NOT_FOUND"
  /** The provider's documents could not be brought up to date. */
  | "SESSION_QUERY_INDEX_FAILED"
  /** The configuration makes no sense. */
  | "SESSION_QUERY_INVALID_CONFIG"
  /** An extractor's version is blank. */
  | "SESSION_QUERY_INVALID_EXTRACTOR"
  /** A filter has an impossible range, an unknown value or another shape. */
  | "SESSION_QUERY_INVALID_FILTER"
  /** The limit is no whole number from 1 to `maxLimit`. */
  | "SESSION_QUERY_INVALID_LIMIT"
  /** The session descends from itself. */
  | "SESSION_QUERY_INVALID_LINEAGE"
  /** The query is blank, or no text. */
  | "SESSION_QUERY_INVALID_QUERY"
  /** The log cannot be folded. */
  | "SESSION_QUERY_INVALID_SURFACE"
  /** `before` or `after` is no whole number from 0 to `readWindowMax`. */
  | "SESSION_QUERY_INVALID_WINDOW"
  /** The mounted persistence cannot be read. */
  | "SESSION_QUERY_PERSISTENCE_FAILED"
  /** Several providers are available and none is configured. */
  | "SESSION_QUERY_PROVIDER_AMBIGUOUS"
  /** The configured provider is not registered. */
  | "SESSION_QUERY_PROVIDER_CONFIGURED_MISSING"
  /** The configured provider is not available. */
  | "SESSION_QUERY_PROVIDER_CONFIGURED_UNAVAILABLE"
  /** The provider failed, or answered against the contract. */
  | "SESSION_QUERY_PROVIDER_ERROR"
  /** No provider is available. */
  | "SESSION_QUERY_PROVIDER_UNAVAILABLE"
  /** No session has this id. */
  | "SESSION_QUERY_SESSION_NOT_FOUND"
  /** Two sources disagree about an immutable header. */
  | "SESSION_QUERY_SOURCE_CONFLICT";

/** What `error.data` holds when an operation failed, with the code -32000. */
export interface SessionQueryErrorData {
  /** Why it failed. */
  code: SessionQueryErrorCode;
  /** What it was caused by, where that says more. */
  cause?: string;
  /** `stale-cursor` or `malformed-cursor`, when a cursor was refused. */
  reason?: string;
}

/** A session of the logical corpus: one for each id, wherever it is held. */
export interface SessionRecord {
  /** Its immutable header. */
  header: SessionHeader;
  /** Whether it is running in this process. */
  live: boolean;
  /** Whether the mounted persistence has it. Independent of `live`. */
  persisted: boolean;
}

/** Which session. */
export interface SessionRequest {
  /** Its id. */
  sessionId: string;
}

/** By id. */
export interface IdSessionResultFilter {
  kind: "id";
  /** The ids. */
  values: string[];
}

/** By working directory, exactly. */
export interface CwdSessionResultFilter {
  kind: "cwd";
  /** The folders; `null` stands for sessions without one. */
  values: (string | null)[];
}

/** By the time they were created, in milliseconds. */
export interface CreatedAtSessionResultFilter {
  kind: "created-at";
  /** Not before this; absent means any. */
  from?: number;
  /** Not after this; absent means any. */
  to?: number;
}

/** By parent. */
export interface ParentSessionResultFilter {
  kind: "parent";
  /** The ids of parents; `null` stands for sessions without one. */
  values: (string | null)[];
}

/** By where they are held; a session that is in any of these places passes. */
export interface AvailabilitySessionResultFilter {
  kind: "availability";
  /** The places. */
  values: Availability[];
}

/** Lets sessions through. */
export type SessionResultFilter =
  | IdSessionResultFilter
  | CwdSessionResultFilter
  | CreatedAtSessionResultFilter
  | ParentSessionResultFilter
  | AvailabilitySessionResultFilter;

/** A search over all sessions, as a caller asks for it. */
export interface SessionSearchRequest {
  /** What is looked for; not blank. */
  query: string;
  /** Where the last page ended. */
  cursor?: string;
  /** Which events may be found, applied before ranking. */
  eventFilters?: EventResultFilter[];
  /** Hits on a page, 1 to the configured `maxLimit`; absent means `defaultLimit`. */
  limit?: number;
  /** Which sessions may be found, applied before ranking. */
  sessionFilters?: SessionResultFilter[];
}

/** A session's lineage. */
export interface SessionTrace {
  /** The session that was asked for. */
  target: SessionRecord;
  /** Its parents, nearest first, as far as the corpus has them. */
  parents: SessionRecord[];
  /** Everything that descends from the target; siblings by creation, then by id. */
  children: SessionNode[];
  /**
   * The last parent, or the target itself when it has none. Absent when a parent is not in the
   * corpus.
   */
  root?: SessionRecord;
  /** The first parent id that is not in the corpus. Present exactly when `root` is absent. */
  unresolvedParentId?: string;
}

/** Adds the event at the end. */
export interface AppendSurfaceOp {
  op: "append";
}

/**
 * Puts the event in the place of the inclusive slice from `start` to `end`, both on the surface,
 * `start` not after `end` by position.
 */
export interface ReplaceSurfaceOp {
  op: "replace";
  /** First event of the slice. */
  start: number;
  /** Last event of the slice. */
  end: number;
}

/** What a surface-eligible event does to the surface. */
export type SurfaceOp =
  | AppendSurfaceOp
  | ReplaceSurfaceOp;

/** Where an event stands after the fold. */
export type SurfaceState =
  /** On the surface. */
  | "current"
  /** Was on the surface and has been replaced. */
  | "shadowed"
  /** Never was on the surface. */
  | "log-only";

/** Milliseconds since the Unix epoch, UTC. */
export type Timestamp = number;

/** One thing to do. */
export interface Todo {
  /** What. */
  content: string;
  /** `pending`, `in_progress` or `completed`. */
  status: string;
}

/** Payload of `todo/write`. */
export interface TodoList {
  /** All things to do, done or not. */
  todos: Todo[];
}

/** Payload of `tool/call`. */
export interface ToolCall {
  /** The agent's id of the call. */
  callId: string;
  /** Name of the tool. */
  name: string;
  /** Arguments as the agent wrote them, unparsed. */
  arguments: string;
  /** Step within the turn. */
  step?: number;
  /** Turn number, where the agent counts turns. */
  turn?: number;
}

/** A named tool failure. */
export interface ToolError {
  /** Name of the failure. */
  name: string;
  /** Its code. */
  code?: string;
}

/** Payload of `tool/result`. */
export interface ToolResult {
  /** The call it answers; empty where the agent gives none. */
  callId: string;
  /** What the tool answered. */
  content: ContentBlock[];
  /** Whether the tool failed. */
  isError: boolean;
  /** The failure, where it has a name. */
  error?: ToolError;
  /** Whether it quotes other sessions, see `crate::recall`. */
  isRecalled?: boolean;
  /** Opaque extra of the tool. */
  meta?: unknown;
  /** Step within the turn. */
  step?: number;
  /** Turn number, where the agent counts turns. */
  turn?: number;
}

/** Which event of which session. */
export interface TraceEventRequest {
  /** The session. */
  sessionId: string;
  /** The event. A number without such an event, negative and fractional ones too, is not found. */
  seq: number;
}

/** Payload of `turn/end`. */
export interface TurnEnd {
  /** Why it ended; open to extension. */
  reason: TurnEndReason;
  /** Turn number, where the agent counts turns. */
  turn?: number;
}

/** Why a turn ended. */
export interface TurnEndReason {
  /**
   * `completed`, `aborted`, `error`, `disposed`, `max-tokens`, `rejected`, `interrupted` or
   * another.
   */
  kind: string;
  /** Of `error`. */
  code?: string;
  /** Of `error`. */
  message?: string;
  /** Of `aborted` and `rejected`. */
  reason?: string;
}
