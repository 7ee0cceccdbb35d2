// How orders ended: a line for each, newest first; a click moves the screen to the place. Units that
// stopped for an enemy can be told to continue in that line.
//
// A group arrives over some seconds. Ends of the same kind, near each other, shortly after each other,
// are one line with a number.

import { ORDER_ENDS, type Alert, type Ended } from "fogmarch";
import { make } from "../common/dom.js";
import type { Cell } from "../common/map-view.js";

const SHOWN = 6;
const TOGETHER_MS = 6000;
const NEAR = 14; // cells

const WORDS: Record<string, string> = {
  arrived: "arrived",
  nearest_reached: "came as near as they can",
  crowded: "found the place taken",
  unreachable: "cannot get there",
  died: "lost",
  out_of_memory: "gave up: the server is out of memory",
  target_lost: "lost sight of their target",
  target_died: "have a target that is no more",
  explored: "found nothing more to explore",
  deadline: "had no more time",
  boarded: "are aboard",
};
const STOPPED = "stopped";
// The player's own actions are no news.
const OWN_DOING = ["replaced", "cancelled"];

interface Line {
  reason: string;
  count: number;
  x: number;
  y: number;
  agents: Set<number>;
  at: number;
  button: HTMLButtonElement;
}

export class News {
  readonly list = make("ol", { id: "news", "aria-label": "news", "aria-live": "polite" });
  private lines: Line[] = [];

  /** `go`: called with the place of the line that was clicked, and its agents; `resume`: with those that
   * stopped and shall continue. */
  constructor(private readonly go: (cell: Cell, agents: number[]) => void,
              private readonly resume: (agents: number[]) => void) {}

  /** Words of the page itself. */
  tell(words: string): void {
    this.put(make("li", {}, words));
  }

  take(ended: readonly Ended[]): void {
    for (const { agent, reason: number, x, y } of ended) {
      const reason = ORDER_ENDS[number] ?? String(number);
      if (!OWN_DOING.includes(reason)) {
        this.note(reason, agent, x, y);
      }
    }
  }

  /** Units stopped for an enemy; the line leads to where the enemy stood. */
  takeAlerts(alerts: readonly Alert[]): void {
    for (const { agent, x, y } of alerts) {
      this.note(STOPPED, agent, x, y);
    }
  }

  /** Units died while others carried them. */
  takeDeaths(died: readonly number[]): void {
    if (died.length > 0) {
      this.tell(`${died.length} ${died.length === 1 ? "unit" : "units"}: died aboard`);
    }
  }

  private note(reason: string, agent: number, x: number, y: number): void {
    const now = performance.now();
    const line = this.lines.find((other) => other.reason === reason && now - other.at < TOGETHER_MS &&
        Math.hypot(other.x - x, other.y - y) < NEAR);
    if (line === undefined) {
      this.add(reason, agent, x, y, now);
    } else {
      line.count++;
      line.agents.add(agent);
      line.x += (x - line.x) / line.count;
      line.y += (y - line.y) / line.count;
      line.at = now;
      this.write(line);
    }
  }

  /** Moves the screen to the place of the newest line. */
  goToNewest(): void {
    const line = this.lines[0];
    if (line !== undefined) {
      this.go({ x: line.x, y: line.y }, [...line.agents]);
    }
  }

  private add(reason: string, agent: number, x: number, y: number, at: number): void {
    const button = make("button", { type: "button" });
    const line = { reason, count: 1, x, y, agents: new Set([agent]), at, button };
    button.addEventListener("click", () => this.go({ x: line.x, y: line.y }, [...line.agents]));
    this.lines = [line, ...this.lines].slice(0, SHOWN);
    this.write(line);
    this.put(make("li", {}, button, ...(reason === STOPPED
      ? [make("button", { type: "button", onclick: () => this.resume([...line.agents]) }, "go on")] : [])));
  }

  private write({ reason, count: ends, agents, x, y, button }: Line): void {
    const words = reason === STOPPED ? "stopped for an enemy" : WORDS[reason] ?? reason.replaceAll("_", " ");
    const count = reason === STOPPED ? agents.size : ends; // a unit that continues may stop again
    button.replaceChildren(`${count} ${count === 1 ? "unit" : "units"}: ${words} `,
                           make("span", {}, `${Math.round(x)}, ${Math.round(y)}`));
  }

  private put(entry: HTMLElement): void {
    this.list.prepend(entry);
    while (this.list.children.length > SHOWN) {
      this.list.lastChild!.remove();
    }
  }
}
