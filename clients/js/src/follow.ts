// What a client knows of its cluster, and when it searches for another node.
//
// A client is on one node at a time. It goes to another one when its connection ends, when the node is
// silent, when a call is answered `moved`, and when a world that it views ends here but continues elsewhere; but
// not away from the world of another view (clients/README.md, Views of several worlds).
// It asks the nodes that it knows where the world is (world.locate), repeatedly for `followMs` with growing pauses. On the
// new node it subscribes to its views again and sends calls without an answer again; commands have a
// command_id, so that each is carried out once.

import { NODE_PATIENCE_MS, nowMs, type Carrier } from "./link.js";
import { COMMANDS, type Results } from "./protocol.js";

export const FOLLOW_MS = 30000;
export const GONE_MS = 3000; // for how long all nodes must deny the world: a new node knows of none yet
export const PAUSE_FIRST_MS = 50;
export const PAUSE_LAST_MS = 1000;
/** So long only the oldest view's world is looked for, then those of the others as well. */
const FIRST_MS = 5000;
const NODES_MAX = 64;
const PATIENCE_MAX = 16;

// Sent again without a command_id, these might be done twice, or name something that only one node has.
const ONCE = new Set([
  "map.upload", "replay.close", "replay.open", "replay.pause", "replay.play", "replay.seek",
  "save.download", "token.create", "token.revoke", "world.create", "world.destroy", "world.load",
  "world.save", "world.step",
]);

/** A node of a cluster, as hello and world.locate name it. */
export interface Place {
  tcp: string;
  http: string;
}

/** How a client reaches the nodes of a cluster. */
export interface Dialer {
  /** Connects; rejects with ConnectionError. */
  dial(address: string): Promise<Carrier>;
  /** The address for dial(), or undefined where the node has none of this kind. */
  addressOf(place: Place): string | undefined;
}

export const mayRepeat = (method: string): boolean => !ONCE.has(method);

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** within() has waited long enough. */
export class Late extends Error {}

/** Rejects when the promise takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late("no answer in time")), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The nodes of a cluster, and the ids of commands. */
export class Follow {
  /** The server is a node of a cluster. */
  isOn = false;
  /** Nodes that refused hello for good; each is asked once in a search. */
  readonly refused = new Set<string>();
  /** From `moved`: shown to the node where the world is. */
  ticket: string | undefined;
  private guess: string | undefined; // the address of that node
  private silent: string | undefined; // the node that the client has left because it was silent
  private silentUntil = 0; // when to ask it as well
  /** How much longer than usual a silent node is waited for: it was only slow, when the client comes back to it. */
  patience = 1;
  private left: string | undefined; // the node that the client left last because of a `moved`
  private leftAt = 0;
  private leftPause = 0; // after which pause
  private command = 1 + Math.floor(Math.random() * 2 ** 51);

  /** `nodes`: addresses for dial(), the best guess first. */
  constructor(private nodes: string[], readonly dialer: Dialer, readonly followMs: number) {}

  get address(): string {
    return this.nodes[0]!;
  }

  get candidates(): string[] {
    const known = this.guess === undefined ? this.nodes : [...new Set([this.guess, ...this.nodes])];
    const nodes = known.filter((address) => !this.refused.has(address));
    const others = nodes.filter((address) => address !== this.silent);
    if (others.length === nodes.length || others.length === 0) {
      return nodes;
    }
    return this.isSilent(this.silent!) ? others : [...others, this.silent!];
  }

  /** The node has said `moved`. Where it does so again and again, and has the world as others say: how many milliseconds
   *  to wait before the next search. Otherwise 0. */
  pauseBefore(): number {
    const again = this.address === this.left && nowMs() - this.leftAt < GONE_MS;
    this.leftPause = again ? Math.min(Math.max(2 * this.leftPause, PAUSE_FIRST_MS), PAUSE_LAST_MS) : 0;
    this.left = this.address;
    this.leftAt = nowMs() + this.leftPause;
    return this.leftPause;
  }

  /** A node did not answer hello well. */
  noteHello(address: string, error: unknown): void {
    const { status } = error as { status?: string };
    if (status === "denied" || status === "bad_value") {
      this.refused.add(address);
    }
  }

  /** A node is silent. The others will soon say who has its worlds; it is asked last, and later. */
  noteSilence(address: string): void {
    this.silent = address;
    this.silentUntil = nowMs() + NODE_PATIENCE_MS;
  }

  /** Whether not to go there yet, though it is said to have the world. */
  isSilent(address: string): boolean {
    return address === this.silent && nowMs() < this.silentUntil;
  }

  /** The client is on a node, whose hello names the others. */
  settle(address: string, welcome: Results["hello"]): void {
    this.patience = this.silent !== address ? 1 : Math.min(2 * this.patience, PATIENCE_MAX);
    this.isOn = this.followMs > 0 && (welcome.node ?? "") !== "";
    this.ticket = this.guess = this.silent = undefined;
    const seeds = ((welcome.seeds ?? []) as unknown as Place[])
      .map((place) => this.dialer.addressOf(place))
      .filter((seed) => seed !== undefined);
    this.nodes = [...new Set([address, ...seeds, ...this.nodes])].slice(0, NODES_MAX);
  }

  /** `moved` has said where a world is, and has the ticket for that node. */
  notePlace(place: Partial<Place> & { ticket?: string }): void {
    const address = this.dialer.addressOf({ tcp: place.tcp ?? "", http: place.http ?? "" });
    this.guess = address === "" ? undefined : address;
    this.ticket = place.ticket === "" ? undefined : place.ticket;
  }

  /** Gives a command its id, unless it has one. */
  prepare(method: string, params: Record<string, unknown>): Record<string, unknown> {
    if (!this.isOn || !COMMANDS.has(method) || params["command_id"] !== undefined) {
      return params;
    }
    return { ...params, command_id: ++this.command };
  }

  /** Tries nodes until one is right. Resolves with undefined, or with the reason for giving up. */
  async search(all: number[], first: Error, isOver: () => boolean,
               attempt: (address: string, worlds: number[]) => Promise<void>): Promise<string | undefined> {
    const worlds = [...new Set(all)]; // the first of them is sought, then the others as well
    const begun = nowMs();
    let goneSince: number | undefined;
    let reason = first.message;
    let pause = PAUSE_FIRST_MS;
    const isGone = (): boolean => goneSince !== undefined && nowMs() - goneSince > GONE_MS;
    this.refused.clear();
    while (nowMs() - begun < this.followMs && !(isGone() && worlds.length < 2) && !isOver() &&
           this.candidates.length > 0) {
      for (const address of this.candidates) {
        const isFirst = nowMs() - begun < FIRST_MS && !isGone();
        try {
          await attempt(address, isFirst ? worlds.slice(0, 1) : worlds);
          return undefined;
        } catch (error) {
          const failure = error as Error & { status?: string };
          reason = `${address}: ${failure.message}`;
          goneSince = failure.status === "no_world" ? goneSince ?? nowMs() : undefined;
        }
      }
      await sleep(pause * (0.5 + Math.random() / 2));
      pause = Math.min(2 * pause, PAUSE_LAST_MS);
    }
    const sought = worlds.length === 0 ? "a node" : `the node of world ${worlds[0]}`;
    const seconds = Math.round((nowMs() - begun) / 1000);
    return `${sought} was not found within ${seconds} s among ${this.nodes.length}; ${reason}`;
  }
}
