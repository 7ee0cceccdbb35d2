// The orders of the selected units as a list: current orders first, then queued ones. Each line has a
// button that takes those orders back; all others stay.

import { RequestError, type Client } from "fogmarch";
import { attempt } from "../common/connection.js";
import { count, make } from "../common/dom.js";
import type { Plans } from "./plans.js";
import type { UnitReport } from "./reports.js";

const LINES_MAX = 8;
const ASKED_MAX = 256; // units of one agent.report
const TRIES_MAX = 5;   // an order may end between the report and the request that takes it back

/** Orders of one kind that have the same place in their units' queues. */
interface Line {
  place: number;
  kind: string;
  agents: number[];
  orders: number[];
}

function linesOf(agents: readonly number[], plans: Plans): Line[] {
  const lines = new Map<string, Line>();
  for (const agent of agents) {
    plans.orders(agent).forEach(({ kind, order }, place) => {
      const key = `${place} ${kind}`;
      const line = lines.get(key) ?? { place, kind, agents: [], orders: [] };
      line.agents.push(agent);
      line.orders.push(order);
      lines.set(key, line);
    });
  }
  return [...lines.values()].sort((a, b) => a.place - b.place).slice(0, LINES_MAX);
}

export class Queue {
  readonly list = make("ol", { id: "queue", "aria-label": "orders of the selected units" });
  private shown = "";
  private lines: Line[] = [];

  /** `onCancelled`: called when orders were taken back. */
  constructor(private readonly client: Client, private readonly world: number,
              private readonly plans: Plans, private readonly onCancelled: () => void) {}

  /** Shows the current state. */
  refresh(selected: readonly number[]): void {
    this.lines = linesOf(selected, this.plans);
    const text = JSON.stringify(this.lines.map(({ place, kind, agents }) => [place, kind, agents.length]));
    if (text === this.shown) {
      return;
    }
    this.shown = text;
    const focused = [...this.list.children].findIndex((line) => line.contains(document.activeElement));
    this.list.replaceChildren(...this.lines.map(({ place, kind, agents }) => {
      const who = `${count(agents.length)} ${agents.length === 1 ? "unit" : "units"}`;
      return make("li", {}, make("span", {}, `${place === 0 ? "now" : "then"}: ${kind}, ${who}`),
        make("button", { type: "button", "aria-label": `take back: ${kind}, ${who}`,
                         onclick: () => void attempt(() => this.cancel(place, kind)) }, "×"));
    }));
    if (focused >= 0) { // so that the keyboard can take back one line after the other
      this.list.children[Math.min(focused, this.lines.length - 1)]?.querySelector("button")?.focus();
    }
  }

  /** Takes back the last orders of the queues. */
  async cancelLast(): Promise<void> {
    const last = this.lines.at(-1);
    if (last !== undefined) {
      await this.cancel(last.place, last.kind);
    }
  }

  private async cancel(place: number, kind: string): Promise<void> {
    const line = this.lines.find((one) => one.place === place && one.kind === kind);
    for (let at = 0; line !== undefined && at < line.agents.length; at += ASKED_MAX) {
      for (let tries = 1; ; tries++) {
        try {
          await this.cancelSome(line, line.agents.slice(at, at + ASKED_MAX));
          break;
        } catch (error) {
          if (!(error instanceof RequestError) || error.status !== "no_order" || tries === TRIES_MAX) {
            throw error;
          }
        }
      }
    }
    this.onCancelled();
  }

  // Some of these orders may have ended since they were listed, and one ended order makes all refused.
  private async cancelSome(line: Line, asked: number[]): Promise<void> {
    const { world } = this;
    const { agents: units } = await this.client.call("agent.report", { world, agents: asked, cells_max: 0 });
    const agents: number[] = [];
    const orders: number[] = [];
    for (const { agent, orders: had } of units as unknown as UnitReport[]) {
      const order = line.orders[line.agents.indexOf(agent)]!;
      if (had.some((one) => one.order === order)) {
        agents.push(agent);
        orders.push(order);
      }
    }
    if (agents.length > 0) {
      await this.client.call("agent.cancel", { world, agents, orders });
    }
  }
}
