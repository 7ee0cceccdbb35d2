// The carrier of browsers: one WebSocket message per message.

import { Client, ConnectionError, type Carrier, type Hello } from "./client.js";

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

/** Connects to ws://HOST:PORT/ws and says hello. Rejects with ConnectionError or RequestError. */
export async function connect(url: string, hello: Hello = {}): Promise<Client> {
  const socket = new WebSocket(url, "fogmarch");
  socket.binaryType = "arraybuffer";
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new ConnectionError(`no server answers at ${url}`));
  });
  socket.onerror = null;
  return Client.begin(new WebSocketCarrier(socket), hello);
}
