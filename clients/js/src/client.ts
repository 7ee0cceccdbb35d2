// One session with a server: requests and their answers, notifications, errors, the end.
//
//   const client = await connect("ws://127.0.0.1:7422/ws", { name: "my bot" });
//   const { worlds } = await client.call("world.list", {});
//   client.on("delta", (delta) => ...);
//
// Messages are MessagePack-RPC; see proto/PROTOCOL.md. What carries the bytes is a Carrier:
// websocket.ts in browsers, node.ts over TCP.

import {
  FOLLOW_MS, GONE_MS, PAUSE_FIRST_MS, PAUSE_LAST_MS, Follow, Late, mayRepeat, sleep, within, type Dialer, type Place,
} from "./follow.js";
import {
  ConnectionError, Link, NODE_PATIENCE_MS, RequestError, SILENT, TimeoutError, ViewEnded, nowMs, type Carrier,
} from "./link.js";
import { PROTOCOL, type Notifications, type Params, type Results } from "./protocol.js";

export { ConnectionError, RequestError, TimeoutError, ViewEnded, type Carrier } from "./link.js";

export interface Hello {
  /** Name of the program, for the server's log; 64 bytes at most. */
  name?: string;
  /** Secret that decides the role; not needed on loopback. */
  token?: string;
  /** `welcome.resume` of a client whose connection broke: gives the same role and seat. */
  resume?: string;
  /**
   * In a cluster the client goes where its world is: when its node dies, or no longer has the world, it searches for
   * the next one for so many milliseconds; its views continue, and commands are carried out once. 0: it does not. No
   * effect without a cluster. 30000.
   */
  followMs?: number;
  /** For how many milliseconds a call is waited for, with all its repeats in a cluster. 0: for ever. 30000. */
  timeoutMs?: number;
  /** More nodes of the cluster, for when the first does not answer: addresses like the first one. */
  nodes?: string[];
}

/** A view that continues when the client has gone to another node. */
export interface Kept {
  readonly world: number;
  /** Of its subscription; undefined while there is none. */
  readonly number: number | undefined;
  /** Subscribes again. */
  again(ask: (params: Record<string, unknown>) => Promise<Results["subscribe"]>): Promise<void>;
  /** The node does not have it any more. */
  left(): void;
  /** The view cannot continue, and is no longer kept. */
  lost(error: Error): void;
}

/** What `moved` and `world_ended` say, and world.locate. */
type Leaving = { subscription: number; world: number } & Partial<Place> & { node?: string };

// Answers to subscribe after which the world may still come.
const NOT_HERE = new Set(["moved", "not_ready", "no_world"]);
// Answers to subscribe after which the same node is asked again.
const FOR_NOW = new Set(["busy", "going_down"]);

const UNMET_MAX = 64;
const TIMEOUT_MS = 30000;
const HELLO_MS = 30000; // for the last of the first addresses to answer hello
const NEXT_MS = 10000; // for one before it; then the next is asked

type Method = keyof Params & keyof Results & string;
type Event = keyof Notifications & string;
type Listener<E extends Event> = (params: Notifications[E]) => void;

export class Client {
  /** The answer to hello; in a cluster, that of the current node. */
  readonly welcome: Results["hello"];
  /** Bytes received. */
  received = 0;
  private link: Link;
  private readonly kept = new Set<Kept>();
  // What came of subscriptions of this link that no view is known to have, yet: the answer may be on its way to the view.
  private unmet: { name: "world_ended" | "moved"; params: Leaving }[] = [];
  private readonly listeners = new Map<string, Set<(params: never) => void>>();
  private readonly endListeners = new Set<(reason: string) => void>();
  private readonly nodeListeners = new Set<() => void>();
  private world: number | undefined; // the last one that a call named
  private seeking: Promise<void> | undefined;
  private closed: string | undefined;

  private constructor(carrier: Carrier, private readonly hello: Hello,
                      private readonly follow?: Follow) {
    this.welcome = undefined as never;
    this.link = this.linkOf(carrier);
  }

  /** Says hello over a carrier that is connected. */
  static async begin(carrier: Carrier, hello: Hello = {}): Promise<Client> {
    const client = new Client(carrier, { ...hello });
    client.settle("", await client.greet(client.link));
    return client;
  }

  /** Connects to the first of `addresses` that answers, says hello, and follows in a cluster. */
  static async open(addresses: string[], dialer: Dialer, hello: Hello = {}): Promise<Client> {
    const follow = new Follow([...addresses], dialer, hello.followMs ?? FOLLOW_MS);
    let failure: unknown;
    for (const [i, address] of addresses.entries()) {
      const patienceMs = i + 1 < addresses.length ? NEXT_MS : HELLO_MS;
      const dialing = dialer.dial(address);
      let carrier: Carrier;
      try {
        carrier = await within(patienceMs, dialing);
      } catch (error) {
        dialing.then((late) => late.close(), () => {});
        failure = error instanceof Late ? new ConnectionError(`${address} does not answer`) : error;
        continue;
      }
      const client = new Client(carrier, { ...hello }, follow);
      try {
        client.settle(address, await within(patienceMs, client.greet(client.link)));
        return client;
      } catch (error) {
        client.close();
        if (error instanceof RequestError) {
          throw error;
        }
        failure = error instanceof ConnectionError ? error : new ConnectionError(`${address} does not answer`);
      }
    }
    throw addresses.length > 1 && failure instanceof Error
      ? new ConnectionError(`no server answers at ${addresses.join(", ")}; the last: ${failure.message}`) : failure;
  }

  get isOpen(): boolean {
    return this.closed === undefined;
  }

  /** The server that it is connected to now. */
  get address(): string {
    return this.follow?.address ?? "";
  }

  /** Bytes that are not sent yet. */
  get unsent(): number {
    return this.link.unsent();
  }

  /** Calls a method. Rejects with RequestError, ConnectionError or TimeoutError. */
  async call<M extends Method>(method: M, params: Params[M]): Promise<Results[M]> {
    const over = { isOver: false };
    const asking = this.repeat(method, params, over);
    return await this.inTime(method, asking, () => {
      over.isOver = true;
      asking.then((result) => {
        if (method === "subscribe") { // it came too late
          const { subscription } = result as Results["subscribe"];
          return this.callHere("unsubscribe", { subscription });
        }
        return undefined;
      }).catch(() => {});
    });
  }

  /** What is waited for, for as long as a call may take. Rejects with TimeoutError. `late`: called then. */
  async inTime<T>(method: string, waited: Promise<T>, late: () => void): Promise<T> {
    const ms = this.hello.timeoutMs ?? TIMEOUT_MS;
    if (ms <= 0) {
      return await waited;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late();
        reject(new TimeoutError(`no answer to ${method} within ${ms} ms`));
      }, ms);
    });
    try {
      return await Promise.race([waited, end]);
    } finally {
      clearTimeout(timer);
    }
  }

  // Asks until a node answers something else than `moved`, or the call is over.
  private async repeat<M extends Method>(method: M, params: Params[M], over: { isOver: boolean }): Promise<Results[M]> {
    const given = this.follow?.prepare(method, params as never) ?? params;
    this.world = (given as { world?: number }).world ?? this.world;
    for (;;) {
      if (this.seeking !== undefined) {
        await this.seeking;
      }
      if (this.closed !== undefined || over.isOver) {
        throw new ConnectionError(this.closed ?? "the call is over");
      }
      const link = this.link;
      try {
        return await link.ask(method, given) as Results[M];
      } catch (error) {
        const world = (given as { world?: number }).world;
        if (over.isOver) {
          throw error;
        }
        if (error instanceof RequestError && error.status === "moved" && this.mayGo(world)) {
          this.go(link, world, error, error.sent);
        } else if (!(error instanceof ConnectionError) || this.closed !== undefined ||
                   this.follow?.isOn !== true || !mayRepeat(method) || "subscription" in given) {
          throw error;
        }
      }
    }
  }

  /** Calls a method on this connection only: what it names would be another thing on another node. */
  async callHere<M extends Method>(method: M, params: Params[M]): Promise<Results[M]> {
    return await this.link.ask(method, params) as Results[M];
  }

  /** Calls a method without an answer. */
  notify<M extends Method>(method: M, params: Params[M]): void {
    this.link.notify(method, params);
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

  /** Listens to changes of the node, in a cluster: `address` and `welcome` are those of the new one. Returns the
   *  function that stops it. */
  onNode(listener: () => void): () => void {
    this.nodeListeners.add(listener);
    return () => this.nodeListeners.delete(listener);
  }

  /** Keeps a view when the client goes to another node. Returns the function that ends that. */
  keep(view: Kept): () => void {
    this.kept.add(view);
    this.meet(view);
    return () => this.kept.delete(view);
  }

  /** @param reason  that onEnd() tells */
  close(reason = "closed by this program"): void {
    this.end(reason);
    this.link.close(reason);
  }

  private linkOf(carrier: Carrier): Link {
    return new Link(carrier, (link, name, params) => this.deliver(link, name, params as never),
                    (size) => { this.received += size; },
                    (link, reason) => this.onLinkEnd(link, reason));
  }

  private async greet(link: Link): Promise<Results["hello"]> {
    const { name, token, resume } = this.hello;
    return await link.ask("hello", {
      protocol: PROTOCOL, client: name ?? "fogmarch-js", token, resume, ticket: this.follow?.ticket,
    }) as Results["hello"];
  }

  private settle(address: string, welcome: Results["hello"]): void {
    (this as { welcome: Results["hello"] }).welcome = welcome;
    this.hello.resume = welcome.resume;
    this.follow?.settle(address, welcome);
    if (this.follow?.isOn === true) {
      this.link.watch(this.follow.patience);
    }
    for (const listener of this.nodeListeners) {
      listener();
    }
  }

  private deliver(link: Link, name: string, params: never): void {
    if (link !== this.link) {
      return;
    }
    if (name === "world_ended" || name === "moved") {
      this.leaves(link, name, params);
    } else {
      this.tell(name, params);
    }
  }

  // The world of a view is not on this node any more.
  private leaves(link: Link, name: "world_ended" | "moved", params: Leaving): void {
    const view = [...this.kept].find((one) => one.number === params.subscription);
    const { world } = params;
    const isMoved = name === "moved";
    if (view === undefined) {
      this.unmet = [...this.unmet.slice(1 - UNMET_MAX), { name, params }];
    }
    view?.left();
    if (isMoved && view !== undefined && this.seeking !== undefined && this.mayGo(world)) {
      void this.seeking.then(() => { // when it has ended at this very node, another search begins
        if (link === this.link && this.closed === undefined && this.kept.has(view) && view.number === undefined) {
          this.leaves(link, name, params);
        }
      });
      return;
    }
    if (!isMoved && this.follow?.isOn === true) {
      void this.look(link, params, view, true);
      return;
    }
    if (isMoved && this.mayGo(world)) {
      this.go(link, world, new ConnectionError(`world ${world} is on another node now`), params);
    } else if (isMoved && this.follow?.isOn === true && view !== undefined && (params.node ?? "") === "") {
      void this.look(link, params, view, false);
    } else {
      this.lose(view, isMoved ? this.movedTo(params) : new ViewEnded("the world has ended"));
    }
    this.tell(name, params as never);
  }

  // A view has its number. Its world may have left before that.
  private meet(view: Kept): void {
    const early = this.unmet.find(({ params }) => params.subscription === view.number);
    if (early !== undefined) {
      this.unmet = this.unmet.filter((one) => one !== early);
      this.leaves(this.link, early.name, early.params);
    }
  }

  private lose(view: Kept | undefined, error: Error): void {
    if (view !== undefined && this.kept.delete(view)) {
      view.lost(error);
    }
  }

  // Why a view ends whose world another node has.
  private movedTo({ world, tcp = "", http = "" }: Leaving): ViewEnded {
    const address = this.follow === undefined ? tcp : this.follow.dialer.addressOf({ tcp, http }) ?? "";
    const where = address === "" ? "and not known yet where" : `at ${address}`;
    return new ViewEnded(`world ${world} is on another node now, ${where}`, address);
  }

  private tell(name: string, params: never): void {
    for (const listener of this.listeners.get(name) ?? []) {
      listener(params);
    }
  }

  private onLinkEnd(link: Link, reason: string): void {
    if (link !== this.link) {
      return;
    }
    if (this.follow?.isOn === true && !link.isStrange) {
      if (reason === SILENT) {
        this.follow.noteSilence(this.address);
      }
      this.go(link, [...this.kept][0]?.world ?? this.world, new ConnectionError(reason));
    } else {
      this.end(reason);
    }
  }

  private end(reason: string): void {
    if (this.closed !== undefined) {
      return;
    }
    this.closed = reason;
    for (const listener of this.endListeners) {
      listener(reason);
    }
  }

  // ---- in a cluster ------------------------------------------------------------------------------

  // Whether to go to the node of a world: a client with views stays with their worlds.
  private mayGo(world: number | undefined): world is number {
    return this.follow?.isOn === true && world !== undefined &&
      [...this.kept].every((view) => view.world === world);
  }

  // Begins to look for the node of a world, unless a search is under way.
  private go(link: Link, world: number | undefined, error: Error, place: unknown = {}): void {
    if (link === this.link && this.seeking === undefined && this.closed === undefined) {
      this.follow?.notePlace((place ?? {}) as object);
      this.seeking = this.seek(world, error).finally(() => {
        this.seeking = undefined;
      });
    }
  }

  private async seek(world: number | undefined, error: Error): Promise<void> {
    const worlds = [...(world === undefined ? [] : [world]), ...[...this.kept].map((view) => view.world)];
    if (this.link.closed === undefined) {
      await sleep(this.follow!.pauseBefore());
    }
    const reason = await this.follow!.search(worlds, error, () => this.closed !== undefined,
                                             (address, sought) => this.attempt(address, sought));
    if (reason !== undefined) {
      this.end(reason);
    }
  }

  // Goes to a node, or to the one that it says has the first of these worlds that is found.
  private async attempt(address: string, worlds: number[]): Promise<void> {
    let [link, welcome] = await this.dial(address);
    try {
      const { place, world } = await this.locate(link, worlds);
      if (!place.here) {
        const right = this.follow!.dialer.addressOf(place);
        if (right === undefined || this.follow!.refused.has(right) || this.follow!.isSilent(right)) {
          throw new ConnectionError("the world's node cannot be reached from here");
        }
        link.close("another node is the right one");
        [link, welcome] = await this.dial(right);
        address = right;
      }
      const before = this.link;
      this.link = link;
      this.unmet = [];
      before.close("the client has gone to another node");
      this.settle(address, welcome);
      for (const view of [...this.kept]) {
        if (await this.continueView(view, link, world) !== undefined) {
          void this.look(link, { world: view.world, subscription: 0 }, view, false);
        }
      }
      if (link.closed !== undefined) { // after its last answer
        throw new ConnectionError(link.closed);
      }
      if (this.closed !== undefined) {
        link.close(this.closed);
      }
    } catch (error) {
      link.close(String(error));
      throw error;
    }
  }

  // The place of the first world that is found, and that world.
  private async locate(link: Link, worlds: number[]): Promise<{ place: Place & { here: boolean }; world?: number }> {
    let refusal: unknown;
    for (const world of worlds) {
      try {
        const place = await within(NODE_PATIENCE_MS, link.ask("world.locate", { world }));
        return { place: place as Place & { here: boolean }, world };
      } catch (error) {
        if (!(error instanceof RequestError)) {
          throw error;
        }
        refusal ??= error;
      }
    }
    if (refusal !== undefined) {
      throw refusal;
    }
    return { place: { here: true, tcp: "", http: "" } };
  }

  // Subscribes to a view again, or ends it. Resolves with why it is neither, yet: the world is not here, or the node is
  // busy. Rejects where the world that was sought is not here.
  private async continueView(view: Kept, link: Link, sought?: number): Promise<RequestError | undefined> {
    try {
      await view.again((params) => {
        const asking = link.ask("subscribe", params) as Promise<Results["subscribe"]>;
        return within(NODE_PATIENCE_MS, asking).catch((error: unknown) => {
          asking.then(({ subscription }) => link.ask("unsubscribe", { subscription })) // it came too late
            .catch(() => {});
          throw error;
        });
      });
      if (link === this.link && this.kept.has(view)) {
        this.meet(view);
      }
    } catch (error) {
      if (!(error instanceof RequestError) || (NOT_HERE.has(error.status) && view.world === sought)) {
        throw error;
      }
      const place = { ...(error.sent as Partial<Place> & { node?: string }), world: view.world, subscription: 0 };
      if (FOR_NOW.has(error.status) ||
          (NOT_HERE.has(error.status) && ((place.node ?? "") === "" || this.mayGo(view.world)))) {
        return error;
      }
      this.lose(view, error.status === "moved" ? this.movedTo(place) : new ViewEnded(error.message));
    }
    return undefined;
  }

  private async dial(address: string): Promise<[Link, Results["hello"]]> {
    const dialing = this.follow!.dialer.dial(address);
    const link = this.linkOf(await within(NODE_PATIENCE_MS, dialing).catch((error: unknown) => {
      void dialing.then((late) => late.close(), () => {});
      throw error;
    }));
    try {
      return [link, await within(NODE_PATIENCE_MS, this.greet(link))];
    } catch (error) {
      this.follow!.noteHello(address, error);
      link.close(String(error));
      throw error;
    }
  }

  // A world is not on this node, but may come, or be elsewhere. Asks until that is known; other views go on. `hadIt`: this
  // node has had it, so when it knows no such world, there is none.
  private async look(link: Link, params: Leaving, view: Kept | undefined, hadIt: boolean): Promise<void> {
    const { world } = params;
    const begun = nowMs();
    let deniedSince: number | undefined;
    let pause = PAUSE_FIRST_MS;
    let refusal: RequestError | undefined;
    while (link === this.link && this.closed === undefined && (view === undefined || this.kept.has(view))) {
      try {
        const place = { ...params, ...await link.ask("world.locate", { world }) as Place & { here: boolean; node: string } };
        deniedSince = refusal = undefined;
        const mayGo = this.mayGo(world);
        if (!place.here && mayGo && this.seeking === undefined) {
          this.go(link, world, new ConnectionError(`world ${world} is on another node now`), place);
          return;
        }
        if (!place.here && place.node !== "" && !mayGo) {
          this.lose(view, this.movedTo(place));
          return;
        }
        if (place.here && view !== undefined && this.seeking === undefined) {
          refusal = await this.continueView(view, link);
          if (refusal === undefined) {
            return;
          }
        }
      } catch (error) {
        if (error instanceof ConnectionError) {
          return;
        }
        deniedSince = error instanceof RequestError && error.status === "no_world" ? deniedSince ?? nowMs() : undefined;
      }
      if (deniedSince !== undefined && (hadIt || nowMs() - deniedSince > GONE_MS)) {
        this.lose(view, new ViewEnded("the world has ended"));
        this.tell("world_ended", params as never);
        return;
      }
      if (nowMs() - begun > this.follow!.followMs) {
        this.lose(view, new ViewEnded(refusal?.message ?? `the node of world ${world} was not found`));
        return;
      }
      await sleep(pause);
      pause = Math.min(2 * pause, PAUSE_LAST_MS);
    }
  }
}
