// One session with a server: requests and their answers, notifications, errors, the end.
//
//   const client = await connect("ws://127.0.0.1:7422/ws", { name: "my bot" });
//   const { worlds } = await client.call("world.list", {});
//   client.on("delta", (delta) => ...);
//
// Messages are MessagePack-RPC; see proto/PROTOCOL.md. What carries the bytes is a Carrier:
// websocket.ts in browsers, node.ts over TCP.

import { decode, encode } from "@msgpack/msgpack";
import { PROTOCOL, type Notifications, type Params, type Results } from "./protocol.js";

/** Carries whole messages. */
export interface Carrier {
  /** Queues bytes; never waits. */
  send(bytes: Uint8Array): void;
  close(): void;
  /** Bytes that have not left yet. */
  unsent(): number;
  /** Set by the client. One call per message. */
  onMessage: (message: Uint8Array) => void;
  /** Set by the client. Called once; `reason` is a sentence for people. */
  onClose: (reason: string) => void;
}

/** An error that the server answered. */
export class RequestError extends Error {
  constructor(
    readonly code: number,
    readonly status: string,
    message: string,
    readonly method: string,
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

export interface Hello {
  /** Name of the program, for the server's log; 64 bytes at most. */
  name?: string;
  /** Secret that decides the role; not needed on loopback. */
  token?: string;
  /** `welcome.resume` of a client whose connection broke: role and seat are as they were. */
  resume?: string;
}

type Method = keyof Params & keyof Results & string;
type Event = keyof Notifications & string;
type Listener<E extends Event> = (params: Notifications[E]) => void;

interface Waiting {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Client {
  /** What hello was answered with. */
  readonly welcome: Results["hello"];
  /** Bytes received, for those who count. */
  received = 0;
  private readonly carrier: Carrier;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Map<string, Set<(params: never) => void>>();
  private readonly endListeners = new Set<(reason: string) => void>();
  private next = 1;
  private closed: string | undefined;

  private constructor(carrier: Carrier) {
    this.carrier = carrier;
    this.welcome = undefined as never;
    carrier.onMessage = (message) => this.take(message);
    carrier.onClose = (reason) => this.end(reason);
  }

  /** Says hello over a carrier that is connected. */
  static async begin(carrier: Carrier, hello: Hello = {}): Promise<Client> {
    const client = new Client(carrier);
    const welcome = await client.call("hello", {
      protocol: PROTOCOL,
      client: hello.name ?? "fogmarch-js",
      ...(hello.token === undefined ? {} : { token: hello.token }),
      ...(hello.resume === undefined ? {} : { resume: hello.resume }),
    });
    (client as { welcome: Results["hello"] }).welcome = welcome;
    return client;
  }

  get isOpen(): boolean {
    return this.closed === undefined;
  }

  /** Bytes that have not left yet. */
  get unsent(): number {
    return this.carrier.unsent();
  }

  /** Calls a method. Rejects with RequestError or ConnectionError. */
  call<M extends Method>(method: M, params: Params[M]): Promise<Results[M]> {
    if (this.closed !== undefined) {
      return Promise.reject(new ConnectionError(this.closed));
    }
    const id = this.next;
    this.next = (this.next + 1) >>> 0;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { method, resolve: resolve as (result: unknown) => void, reject });
      this.carrier.send(encode([0, id, method, [params]], { ignoreUndefined: true }));
    });
  }

  /** Calls a method and asks for no answer. */
  notify<M extends Method>(method: M, params: Params[M]): void {
    if (this.closed === undefined) {
      this.carrier.send(encode([2, method, [params]], { ignoreUndefined: true }));
    }
  }

  /** Listens to a notification. Returns the function that ends it. */
  on<E extends Event>(event: E, listener: Listener<E>): () => void {
    const set = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, set);
    set.add(listener as (params: never) => void);
    return () => set.delete(listener as (params: never) => void);
  }

  /** Listens to the end of the connection, which comes once. Returns the function that stops it. */
  onEnd(listener: (reason: string) => void): () => void {
    this.endListeners.add(listener);
    return () => this.endListeners.delete(listener);
  }

  close(): void {
    this.carrier.close();
    this.end("closed by this program");
  }

  private take(bytes: Uint8Array): void {
    this.received += bytes.length;
    let message: unknown;
    try {
      message = decode(bytes);
    } catch (error) {
      this.carrier.close();
      this.end(`the server sent what is no msgpack: ${String(error)}`);
      return;
    }
    if (!Array.isArray(message)) {
      return;
    }
    if (message[0] === 1) {
      this.answer(message[1] as number, message[2], message[3]);
    } else if (message[0] === 2) {
      const params = (message[2] as unknown[])[0] as never;
      if (message[1] === "idle") { // the server asks whether anybody is there
        this.notify("ping", { time: (params as { time: number }).time });
      }
      for (const listener of this.listeners.get(message[1] as string) ?? []) {
        listener(params);
      }
    }
  }

  private answer(id: number, error: unknown, result: unknown): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error !== null && error !== undefined) {
      const { code, name, message } = error as { code: number; name: string; message: string };
      waiting?.reject(new RequestError(code, name, message, waiting.method));
    } else {
      waiting?.resolve(result);
    }
  }

  private end(reason: string): void {
    if (this.closed !== undefined) {
      return;
    }
    this.closed = reason;
    for (const { reject } of this.waiting.values()) {
      reject(new ConnectionError(reason));
    }
    this.waiting.clear();
    for (const listener of this.endListeners) {
      listener(reason);
    }
  }
}
