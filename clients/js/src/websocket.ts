// The carrier of browsers: one WebSocket message per message.

import { Client, ConnectionError, type Carrier, type Hello } from "./client.js";
import type { Place } from "./follow.js";

class WebSocketCarrier implements Carrier {
  onMessage: (message: Uint8Array) => void = () => {};
  onClose: (reason: string) => void = () => {};

  constructor(private readonly socket: WebSocket) {
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => {
      this.onMessage(new Uint8Array(event.data));
    };
    socket.onclose = (event) => this.onClose(reasonOf(event));
  }

  send(bytes: Uint8Array): void {
    this.socket.send(bytes as Uint8Array<ArrayBuffer>);
  }

  close(): void {
    this.socket.close();
  }

  unsent(): number {
    return this.socket.bufferedAmount;
  }
}

function reasonOf(event: CloseEvent): string {
  if (event.reason !== "") {
    return event.reason;
  }
  return event.code === 1001 ? "the server goes down" : "the server is gone";
}

const PATIENCE_MS = 30000; // for one server to accept the connection

function open(url: string): WebSocket {
  try {
    return new WebSocket(url, "fogmarch");
  } catch {
    throw new ConnectionError(`${url} is no address of a server; one looks like ws://127.0.0.1:7422/ws`);
  }
}

async function dial(url: string): Promise<Carrier> {
  const socket = open(url);
  socket.binaryType = "arraybuffer";
  let late: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      late = setTimeout(() => {
        reject(new ConnectionError(`${url} does not answer`));
        socket.close();
      }, PATIENCE_MS);
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new ConnectionError(`no server answers at ${url}`));
    });
  } finally {
    clearTimeout(late);
  }
  socket.onerror = null;
  return new WebSocketCarrier(socket);
}

/** Connects to ws://HOST:PORT/ws and says hello. Rejects with ConnectionError or RequestError. */
export async function connect(url: string, hello: Hello = {}): Promise<Client> {
  const scheme = url.startsWith("wss:") ? "wss" : "ws";
  const addressOf = ({ http }: Place): string | undefined =>
    http === "" ? undefined : `${scheme}://${http}/ws`;
  return Client.open([url, ...(hello.nodes ?? [])], { dial, addressOf }, hello);
}
