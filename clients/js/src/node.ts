// The carrier of Node.js: TCP, or TLS over TCP. Messages follow each other with nothing between them.

import { readFile } from "node:fs/promises";
import { createConnection, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Client, ConnectionError, type Carrier, type Hello } from "./client.js";
import { messageSize } from "./measure.js";

class TcpCarrier implements Carrier {
  onMessage: (message: Uint8Array) => void = () => {};
  onClose: (reason: string) => void = () => {};
  onPiece: () => void = () => {};
  readonly seesPieces = true;
  private pieces: Uint8Array[] = [];
  private size = 0;
  private wanted = 1; // bytes needed before the next look at the buffer

  constructor(private readonly socket: Socket) {
    socket.on("data", (piece: Buffer) => this.take(piece));
    socket.on("error", () => {});
    socket.on("close", () => this.onClose("the server is gone"));
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  unsent(): number {
    return this.socket.writableLength;
  }

  private take(piece: Uint8Array): void {
    this.onPiece();
    this.pieces.push(piece);
    this.size += piece.length;
    if (this.size < this.wanted) {
      return;
    }
    let bytes: Uint8Array = this.pieces.length === 1 ? piece : Buffer.concat(this.pieces);
    while (bytes.length > 0) {
      const size = messageSize(bytes);
      if (size > bytes.length) {
        this.keep(bytes, size);
        return;
      }
      const message = bytes.subarray(0, size);
      bytes = bytes.subarray(size);
      this.keep(bytes, 1);
      try {
        this.onMessage(message);
      } catch (error) { // of a listener: no message may come twice, and none be lost
        setImmediate(() => this.take(new Uint8Array(0)));
        throw error;
      }
    }
  }

  private keep(bytes: Uint8Array, wanted: number): void {
    this.pieces = bytes.length === 0 ? [] : [bytes];
    this.size = bytes.length;
    this.wanted = wanted;
  }
}

export interface Security {
  /** Talk TLS, and trust the certificates that Node.js knows. */
  tls?: boolean;
  /** Talk TLS, and trust the certificates in this file (PEM) instead. */
  caFile?: string;
}

async function open(host: string, port: number, { tls, caFile }: Security): Promise<Socket> {
  if (tls !== true && caFile === undefined) {
    return createConnection({ host, port, noDelay: true });
  }
  const socket = connectTls({
    host, port, minVersion: "TLSv1.2",
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(caFile === undefined ? {} : { ca: await readFile(caFile) }),
  });
  return socket.setNoDelay(true);
}

async function dial(address: string, security: Security): Promise<Carrier> {
  const [host, port] = split(address);
  const secure = security.tls === true || security.caFile !== undefined;
  const socket = await open(host, port, security);
  await new Promise<void>((resolve, reject) => {
    socket.once(secure ? "secureConnect" : "connect", resolve);
    socket.once("error", (error) => {
      reject(new ConnectionError(`no server answers at ${host}:${port}: ${error.message}`));
    });
    socket.once("close", () => {
      reject(new ConnectionError(`no server answers at ${host}:${port}: it disconnected`));
    });
  });
  socket.removeAllListeners("error");
  socket.removeAllListeners("close");
  return new TcpCarrier(socket);
}

function split(address: string): [string, number] {
  const colon = address.lastIndexOf(":");
  return [address.slice(0, colon).replace(/^\[|\]$/g, ""), Number(address.slice(colon + 1))];
}

/** Connects to fogmarchd's TCP port and says hello. Rejects with ConnectionError or RequestError. */
export function connectTcp(
  host: string, port: number, hello: Hello & Security = {},
): Promise<Client> {
  const first = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return Client.open([...new Set([first, ...(hello.nodes ?? [])])], {
    dial: (address) => dial(address, hello),
    addressOf: ({ tcp }) => tcp,
  }, hello);
}
