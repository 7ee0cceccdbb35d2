// A mirror of one subscription: what its view shows, as of its last message.
//
// Agents are in typed arrays, by place, so that tens of thousands of them can be drawn without an
// object each. When an agent has left, another one gets its place; `placeOf` finds an agent's place.

import { ConnectionError, ViewEnded, type Client } from "./client.js";
import { NotShown, check, checkRun, type Delta, type Keyframe } from "./message.js";
import { TERRAINS, type Results } from "./protocol.js";

export { NotShown, type Delta, type Keyframe } from "./message.js";

/** What a message has changed. `rows`: the first row with changed cells, and the one behind the last; `sight`: whether
 *  what is visible changed; `died`: own agents that died while others carried them; `untold`: more orders ended, or alerts
 *  came, than the server keeps for a view: those that it kept come with the next message, the others never. agent.report
 *  tells which orders units still have. */
export interface Change {
  keyframe: boolean;
  rows: [number, number];
  ended: Ended[];
  alerts: Alert[];
  died: readonly number[];
  sight: boolean;
  untold: boolean;
}

const SLOTS_MAX = 1 << 24;

/** An order that ended. */
export interface Ended {
  order: number;
  agent: number;
  reason: number;
  x: number;
  y: number;
}

/** A unit that stopped for an enemy (0: out of sight again), and where the enemy stood. */
export interface Alert {
  order: number;
  agent: number;
  enemy: number;
  x: number;
  y: number;
}

/** A building that the view believes in. */
export interface Building {
  number: number;
  team: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How an agent moves, in a view with `motion`. */
export interface Motion {
  /** Of its last step: 0 east, 1 south-east and so on; 8 unknown. */
  heading: number;
  /** Of its last step, in cells a tick; 0 unknown. */
  speed: number;
  /** x, y, x, y ... in cells: where the middle of an own agent goes next. */
  waypoints: readonly number[];
}

// Directions of dense deltas: east, south-east and so on, clockwise.
const COLUMNS = [1, 1, 0, -1, -1, -1, 0, 1];
const ROWS = [0, 1, 1, 1, 0, -1, -1, -1];

/** Reads the numbers of a dense delta one by one. */
class Numbers {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    if (this.isAtEnd) {
      throw new NotShown("its bytes are cut short");
    }
    return this.bytes[this.at++]!;
  }

  /** LEB128, below 2^32. */
  number(): number {
    let sum = 0;
    let unit = 1;
    for (;;) {
      const byte = this.byte();
      sum += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        return sum;
      }
      unit *= 128;
    }
  }
}

/** The low 32 bits of an id. */
function slotOf(id: number): number {
  return id % 0x100000000;
}

export class Mirror {
  tick = 0;
  /** x, y, width, height of the part that is shown. */
  rect: readonly [number, number, number, number] = [0, 0, 0, 0];
  /** Look of each cell of the rectangle, row by row; 0 unknown. */
  looks = new Uint16Array(0);
  /** 1 for each cell that the team sees now, ordered as `looks`; undefined unless subscribed with `sight`. */
  visible: Uint8Array | undefined;
  /** Places in use are those below `agentCount`. */
  agentCount = 0;
  ids = new Float64Array(1024);
  teams = new Uint32Array(1024);
  xs = new Uint16Array(1024);
  ys = new Uint16Array(1024);
  /** Where each agent stood one message ago. */
  previousXs = new Uint16Array(1024);
  previousYs = new Uint16Array(1024);
  states = new Uint8Array(1024);
  /** Movement class of each: its place in world.info's rules.classes. */
  classes = new Uint8Array(1024);
  /** By id: tags of agents that the view may see. */
  readonly tags = new Map<number, Uint8Array>();
  /** By id, in a view with `motion`: the agents whose motion is known. */
  readonly motions = new Map<number, Motion>();
  buildings: readonly Building[] = [];
  /** `load` of the last delta: see PROTOCOL.md; empty for players. */
  load: readonly number[] = [];
  private readonly places = new Map<number, number>();
  /** By the low 32 bits of the id: place + 1, 0 for none. Dense deltas count in these. */
  private slots = new Uint32Array(1024);

  /** Called after each message. */
  onChange: (change: Change) => void = () => {};

  placeOf(id: number): number | undefined {
    return this.places.get(id);
  }

  /** A cell's terrain and cost in one number, as in PROTOCOL.md; 0: unknown, or not in view. */
  lookAt(x: number, y: number): number {
    const [left, top, width, height] = this.rect;
    const inside = x >= left && y >= top && x < left + width && y < top + height;
    return inside ? this.looks[(y - top) * width + (x - left)]! : 0;
  }

  /** Name of a cell's terrain; "unknown" also where it is not in view. */
  terrainAt(x: number, y: number): (typeof TERRAINS)[number] {
    return TERRAINS[this.lookAt(x, y) & 15] ?? "unknown";
  }

  /** How many times the cost of open floor a known cell has. */
  costAt(x: number, y: number): number {
    return (this.lookAt(x, y) >> 4) + 1;
  }

  /** Whether a cell is hidden, explored or visible; the last only in a view with `sight`. */
  fogAt(x: number, y: number): "hidden" | "explored" | "visible" {
    const [left, top, width, height] = this.rect;
    const inside = x >= left && y >= top && x < left + width && y < top + height;
    if (inside && this.visible?.[(y - top) * width + (x - left)] === 1) {
      return "visible"; // its look comes with the next tick
    }
    return this.lookAt(x, y) === 0 ? "hidden" : "explored";
  }

  /** Takes a keyframe. Throws NotShown when it is none, and what onChange() throws. */
  applyKeyframe(keyframe: Keyframe): void {
    this.onChange(this.replace(keyframe));
  }

  /** Takes a delta. Throws as applyKeyframe(). */
  applyDelta(delta: Delta): void {
    this.onChange(this.change(delta));
  }

  private replace(keyframe: Keyframe): Change {
    check(keyframe, true);
    this.tick = keyframe.tick;
    this.rect = keyframe.rect as unknown as [number, number, number, number];
    const [, , width, height] = this.rect;
    this.looks = new Uint16Array(width * height);
    let at = 0;
    for (let i = 0; i + 1 < keyframe.cells.length; i += 2) {
      const end = at + keyframe.cells[i]!;
      checkRun(at, keyframe.cells[i]!, this.looks.length);
      this.looks.fill(keyframe.cells[i + 1]!, at, end);
      at = end;
    }
    this.places.clear();
    this.motions.clear();
    this.tags.clear();
    this.slots.fill(0);
    this.agentCount = 0;
    for (let i = 0; i + 4 < keyframe.agents.length; i += 5) {
      this.enter(keyframe.agents, i);
    }
    this.classify(keyframe.classes ?? []);
    this.tag(keyframe.tagged ?? [], keyframe.tags);
    this.setMotions(keyframe.motion ?? []);
    this.build(keyframe.buildings ?? []);
    this.visible = keyframe.visible === undefined ? undefined : new Uint8Array(width * height);
    at = 0;
    keyframe.visible?.forEach((count, i) => {
      checkRun(at, count, width * height);
      this.visible!.fill(i & 1, at, at + count);
      at += count;
    });
    return { keyframe: true, rows: [0, height], ended: [], alerts: [], died: [], sight: true,
             untold: keyframe.untold ?? false };
  }

  private change(delta: Delta): Change {
    check(delta, false);
    this.tick = delta.tick;
    this.previousXs.set(this.xs.subarray(0, this.agentCount));
    this.previousYs.set(this.ys.subarray(0, this.agentCount));
    const { leave = [], enter = [], moved = [], cells = [], ended = [], alerts = [], died = [] } = delta;
    for (let i = 0; i + 1 < leave.length; i += 2) {
      this.leave(leave[i]!);
    }
    if (delta.rect !== undefined) {
      this.moveTo(delta.rect as unknown as [number, number, number, number]);
    }
    for (let i = 0; i + 4 < enter.length; i += 5) {
      this.enter(enter, i);
    }
    this.classify(delta.classes ?? []);
    this.tag(delta.tagged ?? [], delta.tags);
    this.setMotions(delta.motion ?? []);
    if (delta.buildings !== undefined) {
      this.build(delta.buildings);
    }
    for (let i = 0; i + 3 < moved.length; i += 4) {
      const place = this.places.get(moved[i]!);
      if (place !== undefined) {
        this.xs[place] = moved[i + 1]!;
        this.ys[place] = moved[i + 2]!;
        this.states[place] = moved[i + 3]!;
      }
    }
    if (delta.steps !== undefined) {
      this.applySteps(delta.steps);
    }
    this.load = delta.load ?? this.load;
    const endedList: Ended[] = [];
    for (let i = 0; i + 4 < ended.length; i += 5) {
      endedList.push({ order: ended[i]!, agent: ended[i + 1]!, reason: ended[i + 2]!,
                       x: ended[i + 3]!, y: ended[i + 4]! });
    }
    const alertList: Alert[] = [];
    for (let i = 0; i + 4 < alerts.length; i += 5) {
      alertList.push({ order: alerts[i]!, agent: alerts[i + 1]!, enemy: alerts[i + 2]!,
                       x: alerts[i + 3]!, y: alerts[i + 4]! });
    }
    const rows = delta.runs !== undefined ? this.applyRuns(delta.runs) : this.applyCells(cells);
    const isMoved = delta.rect !== undefined;
    const sight = this.applySight(delta);
    return { keyframe: isMoved, rows: isMoved ? [0, this.rect[3]] : rows, ended: endedList, alerts: alertList, died, sight,
             untold: false };
  }

  /** The view has moved: cells that it did not show before are unknown. */
  private moveTo(rect: [number, number, number, number]): void {
    const [left, top, width, height] = rect;
    const looks = new Uint16Array(width * height);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        looks[y * width + x] = this.lookAt(left + x, top + y);
      }
    }
    this.looks = looks;
    this.rect = rect;
  }

  private applyCells(cells: readonly number[]): [number, number] {
    const [left, top, width, height] = this.rect;
    let first = height;
    let end = 0;
    for (let i = 0; i + 3 < cells.length; i += 4) {
      const row = cells[i + 1]! - top;
      const at = row * width + (cells[i]! - left);
      checkRun(at, cells[i + 2]!, this.looks.length);
      this.looks.fill(cells[i + 3]!, at, at + cells[i + 2]!);
      first = Math.min(first, row);
      end = Math.max(end, row + 1);
    }
    return first < end ? [first, end] : [0, 0];
  }

  /** The steps of a dense delta: see PROTOCOL.md, Dense deltas. */
  private applySteps(steps: Uint8Array): void {
    const reader = new Numbers(steps);
    let slot = 0;
    while (!reader.isAtEnd) {
      const head = reader.byte();
      slot += 1 + (head >> 5) + (head >= 0xe0 ? reader.number() : 0);
      const place = (this.slots[slot] ?? 0) - 1;
      if (place < 0) {
        throw new NotShown("it moves an agent that is not in view");
      }
      const direction = head & 15;
      if (direction < 8) {
        this.xs[place]! += COLUMNS[direction]!;
        this.ys[place]! += ROWS[direction]!;
      } else if (direction === 9) {
        this.xs[place] = reader.number();
        this.ys[place] = reader.number();
      }
      if ((head & 16) !== 0) {
        this.states[place] = reader.byte();
      }
    }
  }

  /** The runs of a dense delta; returns the rows that they change. */
  private applyRuns(runs: Uint8Array): [number, number] {
    const width = this.rect[2];
    const reader = new Numbers(runs);
    let first = -1;
    let at = 0;
    let look = 0;
    while (!reader.isAtEnd) {
      at += reader.number();
      const length = reader.number();
      look = (length & 1) !== 0 ? look : reader.number();
      first = first < 0 ? Math.floor(at / width) : first;
      const end = at + Math.floor(length / 2) + 1;
      checkRun(at, end - at, this.looks.length);
      this.looks.fill(look, at, end);
      at = end;
    }
    return first < 0 ? [0, 0] : [first, Math.ceil(at / width)];
  }

  /** Takes what is visible; returns whether it changed. */
  private applySight({ rect, visible = [], sight }: Delta): boolean {
    const [left, top, width, height] = this.rect;
    if (this.visible === undefined) {
      return false;
    }
    if (rect !== undefined) {
      this.visible = new Uint8Array(width * height);
    }
    for (let i = 0; i + 3 < visible.length; i += 4) {
      const at = (visible[i + 1]! - top) * width + (visible[i]! - left);
      checkRun(at, visible[i + 2]!, this.visible.length);
      this.visible.fill(visible[i + 3]!, at, at + visible[i + 2]!);
    }
    if (sight !== undefined) {
      this.visible = this.marks(sight, this.visible);
    }
    return rect !== undefined || sight !== undefined || visible.length > 0;
  }

  /** The edges of a dense delta: cells that differ from the one above them. See PROTOCOL.md. */
  private marks(sight: Uint8Array, before: Uint8Array): Uint8Array {
    const width = this.rect[2];
    const marks = new Uint8Array(before.length);
    const reader = new Numbers(sight);
    const isFlips = reader.byte() === 1;
    let at = 0;
    while (!reader.isAtEnd) {
      at += reader.number();
      const end = at + reader.number() + 1;
      checkRun(at, end - at, marks.length);
      marks.fill(1, at, end);
      at = end;
    }
    for (let i = width; i < marks.length; i++) {
      marks[i]! ^= marks[i - width]!;
    }
    for (let i = 0; isFlips && i < marks.length; i++) {
      marks[i]! ^= before[i]!;
    }
    return marks;
  }

  private enter(list: readonly number[], at: number): void {
    const id = list[at]!;
    const place = this.places.get(id) ?? this.agentCount++;
    if (place >= this.ids.length) {
      this.grow();
    }
    this.setPlace(id, place);
    this.ids[place] = id;
    this.teams[place] = list[at + 1]!;
    this.xs[place] = this.previousXs[place] = list[at + 2]!;
    this.ys[place] = this.previousYs[place] = list[at + 3]!;
    this.states[place] = list[at + 4]!;
    this.classes[place] = 0;
  }

  private setPlace(id: number, place: number): void {
    this.places.set(id, place);
    const slot = slotOf(id);
    if (slot > SLOTS_MAX) {
      throw new NotShown("an id that is none");
    }
    if (slot >= this.slots.length) {
      const slots = new Uint32Array(2 * Math.max(slot, this.slots.length));
      slots.set(this.slots);
      this.slots = slots;
    }
    this.slots[slot] = place + 1;
  }

  private classify(classes: readonly number[]): void {
    for (let i = 0; i + 1 < classes.length; i += 2) {
      const place = this.places.get(classes[i]!);
      if (place === undefined) {
        throw new NotShown("it has the class of an agent that is not in view");
      }
      this.classes[place] = classes[i + 1]!;
    }
  }

  private tag(list: readonly number[], bytes: Uint8Array = new Uint8Array(0)): void {
    let at = 0;
    for (let i = 0; i + 1 < list.length; i += 2) {
      const [id = 0, size = 0] = list.slice(i, i + 2);
      if (at + size > bytes.length) {
        throw new NotShown("its tags are cut short");
      }
      if (size > 0) {
        this.tags.set(id, bytes.slice(at, at + size));
      } else {
        this.tags.delete(id);
      }
      at += size;
    }
  }

  private setMotions(list: readonly number[]): void {
    for (let at = 0; at < list.length;) {
      const [id = 0, heading = 0, speed = 0, count = 0] = list.slice(at, at + 4);
      const end = at + 4 + 2 * count;
      if (!(end <= list.length)) {
        throw new NotShown("motion is cut short");
      }
      const waypoints = list.slice(at + 4, end).map((half) => half / 2);
      this.motions.set(id, { heading, speed: speed / 1000, waypoints });
      at = end;
    }
  }

  private build(list: readonly number[]): void {
    const buildings: Building[] = [];
    for (let i = 0; i + 5 < list.length; i += 6) {
      const [number = 0, team = 0, x = 0, y = 0, width = 0, height = 0] = list.slice(i, i + 6);
      buildings.push({ number, team, x, y, width, height });
    }
    this.buildings = buildings;
  }

  // The last agent takes the place of the one that left.
  private leave(id: number): void {
    const place = this.places.get(id);
    if (place === undefined) {
      return;
    }
    this.places.delete(id);
    this.motions.delete(id);
    this.tags.delete(id);
    this.slots[slotOf(id)] = 0;
    const last = --this.agentCount;
    if (place !== last) {
      for (const array of [this.ids, this.teams, this.xs, this.ys, this.previousXs,
                           this.previousYs, this.states, this.classes]) {
        array[place] = array[last]!;
      }
      this.setPlace(this.ids[place]!, place);
    }
  }

  private grow(): void {
    const size = this.ids.length * 2;
    const copy = <A extends { set(from: A): void }>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    this.ids = copy(this.ids, new Float64Array(size));
    this.teams = copy(this.teams, new Uint32Array(size));
    this.xs = copy(this.xs, new Uint16Array(size));
    this.ys = copy(this.ys, new Uint16Array(size));
    this.previousXs = copy(this.previousXs, new Uint16Array(size));
    this.previousYs = copy(this.previousYs, new Uint16Array(size));
    this.states = copy(this.states, new Uint8Array(size));
    this.classes = copy(this.classes, new Uint8Array(size));
  }
}

/** A subscription with its mirror. */
export interface Subscription {
  /** Changes when the client goes to another node of a cluster. */
  readonly number: number;
  /** Its number, to resume it. */
  readonly stream: number;
  mirror: Mirror;
  /** Whether it continued an earlier subscription without a keyframe. */
  resumed: boolean;
  /**
   * Called once when it is over without end(). A ViewEnded: only this view; the world has ended, or is on another
   * node (`address`) while other views stay. A ConnectionError: all of the connection.
   */
  onEnd: (error: Error) => void;
  /** Ends it. */
  end(): Promise<void>;
}

export interface View {
  world: number;
  /** 0 or absent: everything. */
  team?: number;
  rect?: [number, number, number, number];
  every?: number;
  /** With which cells are visible now. */
  sight?: boolean;
  /** With how agents move. */
  motion?: boolean;
}

/** Subscribes to a view, waits for its first keyframe, and updates its mirror until the subscription ends. */
export function subscribe(client: Client, view: View, mirror = new Mirror()): Promise<Subscription> {
  return begin(client, view, mirror, {});
}

/**
 * Continues a subscription whose connection broke, on a new connection. The mirror stays, and gets what
 * it missed, or a keyframe if the server no longer knows the view. `view` is the same as before.
 */
export function resume(client: Client, view: View, earlier: Subscription): Promise<Subscription> {
  const { mirror, stream } = earlier;
  return begin(client, { ...view, rect: [...mirror.rect] }, mirror, { stream, since: mirror.tick });
}

async function begin(client: Client, view: View, mirror: Mirror,
                     place: { stream?: number; since?: number }): Promise<Subscription> {
  let number: number | undefined;
  let stream = 0;
  let hasBegun = false;
  let begun: () => void = () => {};
  let broken: (error: Error) => void = () => {};
  const keyframe = new Promise<void>((resolve, reject) => {
    begun = () => {
      hasBegun = true;
      resolve();
    };
    broken = reject;
  });
  keyframe.catch(() => {});
  let isAsking = true; // and an answer is to come
  let forget = (): void => {}; // the client no longer keeps it
  let isOver = false;
  let failure: Error | undefined; // why it is over
  // Messages of views whose number is not known yet; the keyframe may come before the answer.
  let early: [boolean, Keyframe | Delta][] = [];
  const take = (isKeyframe: boolean, message: Keyframe | Delta): void => {
    if (isAsking && message.world === view.world) {
      early.push([isKeyframe, message]);
    } else if (message.subscription === number) {
      try {
        if (isKeyframe) {
          mirror.applyKeyframe(message as Keyframe);
          begun();
        } else {
          mirror.applyDelta(message as Delta);
        }
      } catch (error) {
        if (!(error instanceof NotShown)) {
          throw error; // of the program
        }
        client.callHere("unsubscribe", { subscription: message.subscription }).catch(() => {});
        forget();
        lost(new ViewEnded(error.message));
      }
    }
  };
  const start = (answer: Results["subscribe"]): void => {
    isAsking = false;
    if (isOver) { // ended by the program meanwhile
      client.callHere("unsubscribe", { subscription: answer.subscription }).catch(() => {});
      return;
    }
    number = answer.subscription;
    stream = answer.stream;
    const waited = early;
    early = [];
    for (const [isKeyframe, message] of waited) {
      take(isKeyframe, message);
    }
  };
  const leave = (): void => {
    number = undefined;
    early = [];
  };
  const wanted = { encoding: "dense", ...view };
  const ends = [
    client.on("keyframe", (message) => take(true, message)),
    client.on("delta", (message) => take(false, message)),
    client.onNode(leave),
    client.onEnd((reason) => lost(new ConnectionError(reason))),
  ];
  const stop = (): void => {
    isOver = true;
    ends.forEach((end) => end());
  };
  const lost = (error: Error): void => {
    failure = error;
    stop();
    leave();
    broken(error);
    subscription.onEnd(error);
  };
  const subscription: Subscription = {
    get number() {
      return number ?? 0;
    },
    get stream() {
      return stream;
    },
    mirror,
    resumed: false,
    onEnd: () => {},
    async end() {
      const subscribed = number;
      stop();
      leave();
      if (client.isOpen && subscribed !== undefined) {
        await client.callHere("unsubscribe", { subscription: subscribed }).catch((error: unknown) => {
          if (!(error instanceof ConnectionError)) { // where the connection ended, the subscription has as well
            throw error;
          }
        });
      }
    },
  };
  try {
    const answer = await client.call("subscribe", { ...wanted, ...place } as never);
    subscription.resumed = answer.resumed;
    start(answer);
  } catch (error) {
    stop();
    throw error;
  }
  if (failure !== undefined) {
    throw failure;
  }
  forget = client.keep({
    world: view.world,
    get number() {
      return number;
    },
    left: leave,
    lost,
    async again(ask) { // on another node of a cluster
      leave();
      isAsking = true;
      try {
        start(await ask(hasBegun || subscription.resumed
          ? { ...wanted, rect: [...mirror.rect], stream, since: mirror.tick } : wanted));
      } finally {
        isAsking = false;
        early = [];
      }
    },
  });
  ends.push(forget);
  if (!subscription.resumed) {
    await client.inTime("subscribe", keyframe, () => void subscription.end().catch(() => {}));
  }
  if (failure !== undefined) { // before the program could listen to it
    throw failure;
  }
  return subscription;
}
