import type {
  EventRecord,
  EventResultFilter,
  SessionQueryErrorData,
  SessionQueryMethods,
  SessionRecord,
  SessionResultFilter,
} from "./types.ts";

export type * from "./types.ts";

/** The name of a method. */
export type MethodName = keyof SessionQueryMethods;

/** What a method is given. Methods without parameters are called without. */
export type ParamsOf<Method extends MethodName> =
  Record<string, never> extends SessionQueryMethods[Method]["params"]
    ? [params?: SessionQueryMethods[Method]["params"]]
    : [params: SessionQueryMethods[Method]["params"]];

/** How to start the relay. */
export interface RelayOptions {
  /** The program; `lookback` as the shell finds it when absent. */
  program?: string;
  /** Arguments after `relay`. */
  args?: string[];
  /** Its environment; this process's own when absent. */
  env?: Record<string, string | undefined>;
}

/** A `lookback relay` in a process of its own. Its errors and warnings go to this process's stderr. */
export class Relay {
  constructor(options?: RelayOptions);

  /** Calls a method. Calls run side by side; what is live changes in the order of the calls. */
  call<Method extends MethodName>(
    method: Method,
    ...params: ParamsOf<Method>
  ): Promise<SessionQueryMethods[Method]["result"]>;

  /** Calls a method without waiting for anything, its failure included. */
  notify<Method extends MethodName>(method: Method, ...params: ParamsOf<Method>): void;

  /** The sessions, or hits, that every filter lets through. */
  filterSessionResults<Item extends SessionRecord>(
    items: Item[],
    filters: SessionResultFilter[],
  ): Promise<Item[]>;

  /** The events, or hits, that every filter lets through. */
  filterEventResults<Item extends EventRecord>(items: Item[], filters: EventResultFilter[]): Promise<Item[]>;

  /** Ends the relay when all calls are answered; gives its exit code. */
  close(): Promise<number | null>;
}

/** A call that failed. */
export class RelayError extends Error {
  /** -32000 when the operation failed; see `data` for why. */
  readonly code: number;
  /** For -32000 a `SessionQueryErrorData`. */
  readonly data: unknown;
  /** The contract's code, where there is one. */
  readonly queryCode: SessionQueryErrorData["code"] | undefined;
}
