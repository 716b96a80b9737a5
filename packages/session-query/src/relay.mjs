// A client of `lookback relay`: starts it, writes requests as lines, and gives each answer to who asked.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class RelayError extends Error {
  constructor({ code, message, data }) {
    super(message);
    this.name = "RelayError";
    this.code = code;
    this.data = data;
    this.queryCode = data?.code;
  }
}

export class Relay {
  #child;
  #ended;
  #waiting = new Map();
  #lastId = 0;

  constructor({ program = "lookback", args = [], env = process.env } = {}) {
    this.#child = spawn(program, ["relay", ...args], { env, stdio: ["pipe", "pipe", "inherit"] });
    // A relay that is gone fails the calls that wait; writing to it is then no error of its own.
    this.#child.stdin.on("error", () => {});
    const lines = createInterface({ input: this.#child.stdout, crlfDelay: Infinity });
    lines.on("line", (line) => this.#take(JSON.parse(line)));
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", (error) => this.#fail(error, resolve));
      this.#child.on("close", (code) => this.#fail(new Error(`the relay ended with code ${code}`), resolve, code));
    });
  }

  call(method, params = {}) {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#waiting === null) {
        reject(new Error("the relay has ended"));
        return;
      }
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method, params = {}) {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  filterSessionResults(items, filters) {
    return this.call("sessionQuery.filterSessionResults", { items, filters });
  }

  filterEventResults(items, filters) {
    return this.call("sessionQuery.filterEventResults", { items, filters });
  }

  close() {
    this.#child.stdin.end();
    return this.#ended;
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #take(answer) {
    const call = this.#waiting?.get(answer.id);
    // The answer to a line that was no request has no id of ours.
    if (call === undefined) return;
    this.#waiting.delete(answer.id);
    if (answer.error) call.reject(new RelayError(answer.error));
    else call.resolve(answer.result);
  }

  #fail(error, resolve, code = null) {
    const waiting = this.#waiting ?? new Map();
    this.#waiting = null;
    for (const call of waiting.values()) call.reject(error);
    resolve(code);
  }
}
