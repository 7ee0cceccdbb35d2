// Who waits for whom: an arrow from an agent that cannot continue to the one that stands in its way, by
// debug.explain. Of the selected agent the whole chain, also in words; if one asks for it, of all that
// wait in sight.

import { Graphics } from "pixi.js";
import { AGENT_STATES, type Client, type Mirror } from "fogmarch";
import { count, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";

const PERIOD_MS = 1000;
const CHAIN_MAX = 16;  // agents of the chain
const ASKED_MAX = 40;  // agents in sight; each question looks through the world's events
const WAITING = ["waiting", "blocked"].map((state) => AGENT_STATES.indexOf(state as never));

export class Waits {
  readonly panel: HTMLElement;
  private readonly words = make("p", { id: "waits", class: "hint", role: "status" });
  private readonly box = make("input", { type: "checkbox", id: "waits-all" });
  private readonly arrows = new Graphics();
  private readonly timer: ReturnType<typeof setInterval>;
  private pairs = new Map<number, number>(); // who waits, for whom
  private asking = false;
  private ended = false;

  constructor(private readonly client: Client, private readonly world: number,
              private readonly map: MapView, private readonly view: () => Mirror | undefined,
              private readonly selected: () => number | undefined) {
    this.panel = make("div", {}, make("label", {}, this.box, " who waits for whom, all in sight"), this.words);
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

  /** Called every frame. */
  draw(): void {
    this.arrows.clear();
    const view = this.view();
    if (view === undefined || this.pairs.size === 0) {
      return;
    }
    const pixel = 1 / this.map.zoom;
    for (const [from, to] of this.pairs) {
      const [a, b] = [view.placeOf(from), view.placeOf(to)];
      if (a === undefined || b === undefined) {
        continue;
      }
      const start = this.map.agents.positionOf(view, a);
      const end = this.map.agents.positionOf(view, b);
      const length = Math.hypot(end.x - start.x, end.y - start.y);
      const [dx, dy] = length === 0 ? [0, 0] : [(end.x - start.x) / length, (end.y - start.y) / length];
      const head = Math.max(0.35, 6 * pixel);
      this.arrows.moveTo(start.x, start.y).lineTo(end.x, end.y)
        .moveTo(end.x - head * (dx + dy * 0.6), end.y - head * (dy - dx * 0.6)).lineTo(end.x, end.y)
        .lineTo(end.x - head * (dx - dy * 0.6), end.y - head * (dy + dx * 0.6));
    }
    this.arrows.stroke({ width: Math.max(0.14, 2.5 * pixel), color: 0xd55e00 });
  }

  private async ask(): Promise<void> {
    if (this.asking || !this.client.isOpen) {
      return;
    }
    this.asking = true;
    try {
      const pairs = new Map<number, number>();
      const chain = await this.chainOf(this.selected(), pairs);
      if (this.box.checked) {
        for (const agent of this.waitingInSight()) {
          if (!pairs.has(agent)) {
            await this.blockerOf(agent, pairs);
          }
        }
      }
      if (!this.ended) {
        this.pairs = pairs;
        this.say(chain);
      }
    } catch {
      this.pairs = new Map(); // the world, or an agent, is no more
    } finally {
      this.asking = false;
    }
  }

  // The selected agent, whom it waits for, whom that one waits for, and so on; a circle ends with whom
  // it began.
  private async chainOf(agent: number | undefined, pairs: Map<number, number>): Promise<number[]> {
    const chain: number[] = [];
    let next = agent !== undefined && this.isWaiting(agent) ? agent : undefined;
    while (next !== undefined && chain.length < CHAIN_MAX) {
      const isCircle = chain.includes(next);
      chain.push(next);
      next = isCircle ? undefined : await this.blockerOf(next, pairs);
    }
    return chain;
  }

  private async blockerOf(agent: number, pairs: Map<number, number>): Promise<number | undefined> {
    const { blocker } = await this.client.call("debug.explain", { world: this.world, agent });
    if (blocker === 0) {
      return undefined;
    }
    pairs.set(agent, blocker);
    return blocker;
  }

  private isWaiting(agent: number): boolean {
    const view = this.view();
    const place = view?.placeOf(agent);
    return place !== undefined && WAITING.includes(view!.states[place]!);
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
    const all = this.box.checked
      ? `${count(this.pairs.size)} in sight wait for somebody, at most ${ASKED_MAX} are asked. ` : "";
    const circle = chain.length > 1 && chain.indexOf(chain.at(-1)!) < chain.length - 1;
    const words = chain.length < 2 ? ""
      : `${chain.join(" waits for ")}${circle ? ": a circle" : ", who waits for nobody"}.`;
    if (this.words.textContent !== all + words) {
      this.words.textContent = all + words;
    }
  }
}
