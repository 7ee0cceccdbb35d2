// Who waits for whom: an arrow from an agent that cannot continue to the one that blocks it. For the
// selected agent the whole chain, also in words, by debug.explain. On request also for all waiting agents
// in sight, and by debug.jams for all stuck agents of the map, with rings around them. Then those that are let
// through a press have a ring of another colour, an arrow to their next place, and lines to those who stand for
// them. Passages where two streams keep to lanes have a frame, and an arrow on each lane. Who keeps to the right to
// pass units of another team has a square, and who lets these push it a diamond.

import { Graphics } from "pixi.js";
import { AGENT_STATES, type Client, type Mirror } from "fogmarch";
import { count, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";

const PERIOD_MS = 1000;
const ASKED_MAX = 40; // agents in sight; each request searches the world's events
const LINK = 3;       // numbers of each of a chain: id, x, y
const WAITING = ["waiting", "blocked"].map((state) => AGENT_STATES.indexOf(state as never));

interface Place {
  readonly x: number;
  readonly y: number;
}

interface Escort {
  readonly agent: number;
  readonly size: number;
  readonly next: readonly number[]; // x, y, or empty
  readonly stands: readonly number[];
}

interface Lanes {
  readonly passage: readonly number[]; // x, y, width, height
  readonly vertical: boolean;
  readonly open: boolean;
  readonly directions: readonly number[]; // of each lane: 0 to the east or south, 1 back
}

interface Everybody {
  readonly stuck: readonly number[];
  readonly escorts: readonly Escort[];
  readonly lanes: readonly Lanes[];
  readonly passing: readonly number[];
  readonly conceding: readonly number[];
}

const NOBODY: Everybody = { stuck: [], escorts: [], lanes: [], passing: [], conceding: [] };

export class Waits {
  readonly panel: HTMLElement;
  private readonly words = make("p", { id: "waits", class: "hint", role: "status" });
  private readonly box = make("input", { type: "checkbox", id: "waits-all" });
  private readonly next = make("button", { type: "button", id: "next-stuck", hidden: true,
                                           onclick: () => this.goToStuck() }, "next one");
  private readonly arrows = new Graphics();
  private readonly timer: ReturnType<typeof setInterval>;
  private pairs = new Map<number, number>(); // who waits, for whom
  private shown = NOBODY;
  private jams = ""; // in words
  private shownStuck = 0; // the stuck agent shown last
  private asking = false;
  private ended = false;

  constructor(private readonly client: Client, private readonly world: number,
              private readonly map: MapView, private readonly view: () => Mirror | undefined,
              private readonly selected: () => number | undefined,
              private readonly select: (agent: number) => void) {
    this.panel = make("div", {}, make("label", {}, this.box, " who waits for whom, everybody"), this.words,
                      this.next);
    this.box.addEventListener("change", () => void this.ask());
    map.over.addChild(this.arrows);
    this.timer = setInterval(() => void this.ask(), PERIOD_MS);
  }

  end(): void {
    this.ended = true;
    clearInterval(this.timer);
    this.arrows.destroy();
  }

  /** Agents and who stands in their way, as last drawn. */
  get found(): [number, number][] {
    return [...this.pairs];
  }

  /** Stuck agents, as last drawn. */
  get foundStuck(): readonly number[] {
    return this.shown.stuck;
  }

  /** Agents that are let through a press, and who stands for them, as last drawn. */
  get foundEscorts(): [number, readonly number[]][] {
    return this.shown.escorts.map(({ agent, stands }) => [agent, stands]);
  }

  /** Passages with lanes that are kept to, as last drawn: x, y, width, height of each. */
  get foundLanes(): (readonly number[])[] {
    return this.shown.lanes.map(({ passage }) => passage);
  }

  /** Agents that keep to the right to pass others, and those that let others push them, as last drawn. */
  get foundMeetings(): [readonly number[], readonly number[]] {
    return [this.shown.passing, this.shown.conceding];
  }

  /** Called every frame. */
  draw(): void {
    this.arrows.clear();
    const view = this.view();
    if (view === undefined) {
      return;
    }
    this.drawWaits(view);
    this.drawEscorts(view);
    this.drawLanes();
    this.drawMarks(view, this.shown.passing, 0x6a3d9a, ({ x, y }, r) => this.arrows.rect(x - r, y - r, 2 * r, 2 * r));
    this.drawMarks(view, this.shown.conceding, 0x000000, ({ x, y }, r) =>
      this.arrows.poly([x, y - r, x + r, y, x, y + r, x - r, y]));
  }

  private drawWaits(view: Mirror): void {
    const pixel = 1 / this.map.zoom;
    for (const [from, to] of this.pairs) {
      const [a, b] = [view.placeOf(from), view.placeOf(to)];
      if (a === undefined || b === undefined) {
        continue;
      }
      this.drawArrow(this.map.agents.positionOf(view, a), this.map.agents.positionOf(view, b));
    }
    this.arrows.stroke({ width: Math.max(0.14, 2.5 * pixel), color: 0xd55e00 });
    for (const agent of this.shown.stuck) {
      const place = view.placeOf(agent);
      if (place !== undefined) {
        const { x, y } = this.map.agents.positionOf(view, place);
        this.arrows.circle(x, y, Math.max(0.8, 9 * pixel));
      }
    }
    this.arrows.stroke({ width: Math.max(0.12, 2 * pixel), color: 0xcc79a7 });
  }

  private drawArrow(start: Place, end: Place): void {
    const length = Math.hypot(end.x - start.x, end.y - start.y);
    const [dx, dy] = length === 0 ? [0, 0] : [(end.x - start.x) / length, (end.y - start.y) / length];
    const head = Math.max(0.35, 6 / this.map.zoom);
    this.arrows.moveTo(start.x, start.y).lineTo(end.x, end.y)
      .moveTo(end.x - head * (dx + dy * 0.6), end.y - head * (dy - dx * 0.6)).lineTo(end.x, end.y)
      .lineTo(end.x - head * (dx - dy * 0.6), end.y - head * (dy + dx * 0.6));
  }

  private drawEscorts(view: Mirror): void {
    const pixel = 1 / this.map.zoom;
    for (const { agent, size, next, stands } of this.shown.escorts) {
      const place = view.placeOf(agent);
      if (place === undefined) {
        continue;
      }
      const { x, y } = this.map.agents.positionOf(view, place);
      this.arrows.circle(x, y, Math.max(0.8 * size, 9 * pixel));
      if (next.length === 2) {
        this.drawArrow({ x, y }, { x: next[0]! + size / 2, y: next[1]! + size / 2 });
      }
      for (const other of stands) {
        const at = view.placeOf(other);
        if (at !== undefined) {
          const end = this.map.agents.positionOf(view, at);
          this.arrows.moveTo(x, y).lineTo(end.x, end.y);
        }
      }
    }
    this.arrows.stroke({ width: Math.max(0.08, 1.5 * pixel), color: 0x009e73 });
  }

  private drawMarks(view: Mirror, agents: readonly number[], color: number,
                    draw: (at: Place, radius: number) => void): void {
    const pixel = 1 / this.map.zoom;
    for (const agent of agents) {
      const place = view.placeOf(agent);
      if (place !== undefined) {
        draw(this.map.agents.positionOf(view, place), Math.max(0.5, 6 * pixel));
      }
    }
    this.arrows.stroke({ width: Math.max(0.1, 1.5 * pixel), color });
  }

  private drawLanes(): void {
    for (const { passage, vertical, directions } of this.shown.lanes) {
      const [x, y, width, height] = passage as [number, number, number, number];
      this.arrows.rect(x, y, width, height);
      directions.forEach((direction, i) => {
        const ends = vertical ? [{ x: x + i + 0.5, y }, { x: x + i + 0.5, y: y + height }] as const
          : [{ x, y: y + i + 0.5 }, { x: x + width, y: y + i + 0.5 }] as const;
        this.drawArrow(ends[direction === 0 ? 0 : 1], ends[direction === 0 ? 1 : 0]);
      });
    }
    this.arrows.stroke({ width: Math.max(0.1, 2 / this.map.zoom), color: 0xf0e442 });
  }

  private goToStuck(): void {
    const { stuck } = this.shown;
    const agent = stuck.find((id) => id > this.shownStuck) ?? stuck[0];
    if (agent !== undefined) {
      this.shownStuck = agent;
      this.select(agent);
    }
  }

  private async ask(): Promise<void> {
    if (this.asking || !this.client.isOpen) {
      return;
    }
    this.asking = true;
    try {
      const agent = this.selected();
      const pairs = new Map<number, number>();
      const chain = agent === undefined ? [] : await this.chainOf(agent, pairs);
      const found = this.box.checked ? await this.everybody(pairs) : NOBODY;
      if (!this.ended) {
        this.pairs = pairs;
        this.shown = found;
        this.say(chain);
      }
    } catch {
      this.pairs = new Map(); // the world, or an agent, is gone
      this.shown = NOBODY;
    } finally {
      this.asking = false;
    }
  }

  // The selected agent, the one it waits for, the one that one waits for, and so on; a circle ends with an
  // agent that was named before.
  private async chainOf(agent: number, pairs: Map<number, number>): Promise<number[]> {
    const { waits_for } = await this.client.call("debug.explain", { world: this.world, agent });
    const chain = [agent, ...waits_for.filter((_, i) => i % LINK === 0)];
    chain.slice(1).forEach((to, i) => pairs.set(chain[i]!, to));
    return chain;
  }

  // The ids of stuck agents, the escorts, and lanes that are kept to; notes for whom they and the agents in sight
  // wait.
  private async everybody(pairs: Map<number, number>): Promise<Everybody> {
    const found = await this.client.call("debug.jams", { world: this.world });
    const { stuck, groups, agents, escorts, lanes, passing, conceding } = found;
    const list = agents as unknown as { agent: number; blocker: number }[];
    list.filter(({ blocker }) => blocker !== 0).forEach(({ agent, blocker }) => pairs.set(agent, blocker));
    for (const agent of this.waitingInSight()) {
      if (!pairs.has(agent)) {
        const { blocker } = await this.client.call("debug.explain", { world: this.world, agent });
        if (blocker !== 0) {
          pairs.set(agent, blocker);
        }
      }
    }
    this.jams = stuck === 0 ? "nobody is stuck"
      : `${count(stuck)} ${stuck === 1 ? "is" : "are"} stuck (ringed), in ${count(groups)} ` +
        (groups === 1 ? "jam" : "jams");
    if (escorts.length > 0) {
      this.jams += `, ${count(escorts.length)} ${escorts.length === 1 ? "is" : "are"} let through a press (green)`;
    }
    const open = (lanes as unknown as Lanes[]).filter((one) => one.open);
    if (open.length > 0) {
      this.jams += `, ${count(open.length)} ${open.length === 1 ? "passage has" : "passages have"} lanes (yellow)`;
    }
    if (passing.length > 0) {
      this.jams += `, ${count(passing.length)} ${passing.length === 1 ? "keeps" : "keep"} to the right (violet)`;
    }
    if (conceding.length > 0) {
      this.jams += `, ${count(conceding.length)} ${conceding.length === 1 ? "concedes" : "concede"} (black)`;
    }
    return { stuck: list.map(({ agent }) => agent).sort((a, b) => a - b), escorts: escorts as unknown as Escort[],
             lanes: open, passing, conceding };
  }

  private waitingInSight(): number[] {
    const view = this.view();
    const { x, y, width, height } = this.map.bounds;
    const found: number[] = [];
    for (let place = 0; view !== undefined && place < view.agentCount && found.length < ASKED_MAX; place++) {
      const [atX, atY] = [view.xs[place]!, view.ys[place]!];
      if (WAITING.includes(view.states[place]!) && atX >= x && atX <= x + width && atY >= y &&
          atY <= y + height) {
        found.push(view.ids[place]!);
      }
    }
    return found;
  }

  private say(chain: readonly number[]): void {
    const all = this.box.checked ? `${count(this.pairs.size)} wait for somebody, ${this.jams}.` : "";
    const circle = chain.length > 1 && chain.indexOf(chain.at(-1)!) < chain.length - 1;
    const words = chain.length < 2 ? ""
      : `${chain.join(" waits for ")}${circle ? ": a circle" : ", who waits for nobody"}.`;
    const text = `${words} ${all}`.trim();
    if (this.words.textContent !== text) {
      this.words.textContent = text;
    }
    this.next.hidden = this.shown.stuck.length === 0;
  }
}
