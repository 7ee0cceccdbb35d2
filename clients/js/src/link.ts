// A connection to one server: requests and their answers, notifications, the end.

import { decode, encode } from "@msgpack/msgpack";

/** Carries whole messages. */
export interface Carrier {
  /** Queues bytes; never waits. */
  send(bytes: Uint8Array): void;
  close(): void;
  /** Bytes that are not sent yet. */
  unsent(): number;
  /** Set by the client. One call per message. */
  onMessage: (message: Uint8Array) => void;
  /** Set by the client. Called once; `reason` is a sentence for people. */
  onClose: (reason: string) => void;
  /** Set by the client. Carriers that see pieces of messages call it with each; those of browsers do not. */
  onPiece?: () => void;
  readonly seesPieces?: boolean;
}

/** An error that the server answered. */
export class RequestError extends Error {
  constructor(
    readonly code: number,
    readonly status: string,
    message: string,
    readonly method: string,
    /** The whole error; `moved` says where the world is. */
    readonly sent: unknown = undefined,
  ) {
    super(message);
    this.name = "RequestError";
  }
}

/** The connection ended, or never began. */
export class ConnectionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConnectionError";
  }
}

/** A call has taken longer than `timeoutMs`. Its answer is dropped when it comes later. */
export class TimeoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TimeoutError";
  }
}

/** A view is over, but the connection is not: other views go on, and calls are answered. */
export class ViewEnded extends Error {
  /** `address`: of the node that has the view's world now; empty: none is known. */
  constructor(message: string, readonly address = "") {
    super(message);
    this.name = "ViewEnded";
  }
}

interface Waiting {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Answer = [1, number, { code?: number; name?: string; message?: string } | null, unknown];
type Notification = [2, string, [Record<string, unknown>]];

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

// Those of errors and notifications that the library itself reads.
const NUMBERS = ["subscription", "world", "code"];
const TEXTS = ["name", "message", "node", "tcp", "http", "ticket"];

const hasKnownFields = (fields: Record<string, unknown>): boolean =>
  NUMBERS.every((name) => fields[name] === undefined || isWhole(fields[name])) &&
  TEXTS.every((name) => fields[name] === undefined || typeof fields[name] === "string");

function isAnswer(message: unknown): message is Answer {
  return Array.isArray(message) && message.length === 4 && message[0] === 1 && typeof message[1] === "number" &&
    (message[2] === null || (isMap(message[2]) && hasKnownFields(message[2])));
}

// What the library itself needs of a result.
function isResult(method: string, result: unknown): boolean {
  if (method !== "hello" && method !== "subscribe" && method !== "world.locate") {
    return true;
  }
  if (!isMap(result) || !hasKnownFields(result)) {
    return false;
  }
  const { resume, seeds = [], subscription, stream, resumed, here, tcp } = result;
  switch (method) {
    case "hello":
      return typeof resume === "string" && Array.isArray(seeds) &&
        seeds.every((seed) => isMap(seed) && hasKnownFields(seed) && typeof seed["tcp"] === "string");
    case "subscribe":
      return isWhole(subscription) && isWhole(stream) && typeof resumed === "boolean";
    default:
      return typeof here === "boolean" && (here || typeof tcp === "string");
  }
}

function isNotification(message: unknown): message is Notification {
  return Array.isArray(message) && message.length === 3 && message[0] === 2 && typeof message[1] === "string" &&
    Array.isArray(message[2]) && message[2].length === 1 && isMap(message[2][0]) && hasKnownFields(message[2][0]);
}

/** After so long without a message from its node, a client asks whether it is there. */
export const QUIET_MS = 1000;
/** For one node to answer. */
export const NODE_PATIENCE_MS = 2000;
/** The same where a large message shows only when it is whole. */
const WHOLE_PATIENCE_MS = 5000;
/** Milliseconds by a clock that nobody sets. */
export const nowMs = (): number => performance.now();
/** Why a connection ends that was watched. */
export const SILENT = "the node is silent";
const LOOK_MS = 250;
/** Bytes; a larger request may take long to send, and the ping waits behind it. */
const LARGE_REQUEST = 65536;
/** Bytes in a millisecond that a line carries at least. */
const SLOW_LINE = 64;

export class Link {
  /** Why the connection ended; undefined while it is open. */
  closed: string | undefined;
  /** The server has sent what is no message: another node would as well. */
  isStrange = false;
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private looking: ReturnType<typeof setInterval> | undefined;
  private heardAt = nowMs(); // or asked
  private isAsked = false;
  private sentBy = 0; // when large requests have been sent, on a slow line

  /**
   * @param onNotification  called with each notification
   * @param onBytes         called with the size of each message
   * @param onEnd           called once
   */
  constructor(
    private readonly carrier: Carrier,
    private readonly onNotification: (link: Link, name: string, params: unknown) => void,
    private readonly onBytes: (size: number) => void,
    private readonly onEnd: (link: Link, reason: string) => void,
  ) {
    carrier.onMessage = (message) => this.take(message);
    carrier.onClose = (reason) => this.end(reason);
    carrier.onPiece = () => this.hear();
  }

  unsent(): number {
    return this.carrier.unsent();
  }

  /** Rejects with RequestError or ConnectionError. */
  ask(method: string, params: unknown): Promise<unknown> {
    if (this.closed !== undefined) {
      return Promise.reject(new ConnectionError(this.closed));
    }
    const id = this.next;
    this.next = (this.next + 1) >>> 0;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { method, resolve, reject });
      const bytes = encode([0, id, method, [params]], { ignoreUndefined: true });
      if (bytes.length > LARGE_REQUEST) {
        this.sentBy = Math.max(this.sentBy, nowMs()) + bytes.length / SLOW_LINE;
      }
      this.carrier.send(bytes);
    });
  }

  notify(method: string, params: unknown): void {
    if (this.closed === undefined) {
      this.carrier.send(encode([2, method, [params]], { ignoreUndefined: true }));
    }
  }

  /** From now on it ends when the server is silent: one that is frozen, or without power, does not disconnect.
   *  `times`: how much longer than usual it is waited for. */
  watch(times: number): void {
    const patience = times * (this.carrier.seesPieces === true ? NODE_PATIENCE_MS : WHOLE_PATIENCE_MS);
    let before = this.heardAt = nowMs();
    this.looking = setInterval(() => {
      const now = nowMs();
      if (now - before > 4 * LOOK_MS || now < this.sentBy) { // this program stood still: what came meanwhile is not read yet
        this.heardAt = now;
      } else if (this.isAsked && now - this.heardAt > patience) {
        this.close(SILENT);
      } else if (!this.isAsked && now - this.heardAt > QUIET_MS) {
        this.isAsked = true;
        this.heardAt = now;
        this.ask("ping", {}).catch(() => {});
      }
      before = now;
    }, LOOK_MS);
    (this.looking as { unref?: () => void }).unref?.(); // Node.js may end meanwhile
  }

  close(reason: string): void {
    this.carrier.close();
    this.end(reason);
  }

  private closeStrange(reason: string): void {
    this.isStrange = true;
    this.close(reason);
  }

  private hear(): void {
    this.heardAt = nowMs();
    this.isAsked = false;
  }

  private take(bytes: Uint8Array): void {
    this.onBytes(bytes.length);
    this.hear();
    let message: unknown;
    try {
      message = decode(bytes);
    } catch (error) {
      this.closeStrange(`the server sent what is no msgpack: ${String(error)}`);
      return;
    }
    if (this.closed !== undefined) {
      return;
    }
    if (isAnswer(message)) {
      this.answer(message[1], message[2], message[3]);
    } else if (isNotification(message)) {
      const [, name, [params]] = message;
      if (name === "idle") { // the server checks whether the client is alive
        this.notify("ping", { time: params["time"] ?? 0 });
      }
      this.onNotification(this, name, params);
    } else {
      this.closeStrange("the server sent something else than answers and notifications");
    }
  }

  private answer(id: number, error: Answer[2], result: unknown): void {
    const waiting = this.waiting.get(id);
    if (error === null && waiting !== undefined && !isResult(waiting.method, result)) {
      this.closeStrange(`the server answered ${waiting.method} with something else than its result`);
      return;
    }
    this.waiting.delete(id);
    if (error !== null) {
      const { code = 0, name = "", message = "the server gave no reason" } = error;
      waiting?.reject(new RequestError(code, name, message, waiting.method, error));
    } else {
      waiting?.resolve(result);
    }
  }

  private end(reason: string): void {
    if (this.closed !== undefined) {
      return;
    }
    this.closed = reason;
    clearInterval(this.looking);
    for (const { reject } of this.waiting.values()) {
      reject(new ConnectionError(reason));
    }
    this.waiting.clear();
    this.onEnd(this, reason);
  }
}
