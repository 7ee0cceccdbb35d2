// What selected units are doing, requested from the server regularly while any are selected. So their
// orders and queues are known after a reload, too, no matter who gave them.

import type { Client } from "fogmarch";

const PERIOD_MS = 1000;
const ASKED_MAX = 64; // units at once; of a larger selection each in its turn
const CELLS = 32;     // of each path

/** The entries of agent.report that are used here. */
export interface UnitReport {
  agent: number;
  orders: readonly { order: number; kind: string; goal: readonly number[] }[];
  path: readonly number[];
  why: string;
  alerted: boolean;
}

export class Reports {
  /** Called with each answer, unless an order was given since it was asked for. */
  onReport: (units: readonly UnitReport[]) => void = () => {};
  private readonly timer: ReturnType<typeof setInterval>;
  private asked = false;
  private orders = 0;
  private turn = 0;

  constructor(private readonly client: Client, private readonly world: number,
              private readonly selected: () => readonly number[]) {
    this.timer = setInterval(() => void this.ask(), PERIOD_MS);
  }

  end(): void {
    clearInterval(this.timer);
    this.onReport = () => {};
  }

  /** An order is sent: an answer that is under way does not know it. */
  orderGiven(): void {
    this.orders++;
  }

  /** Asks now, unless an answer is outstanding: a slow server does not get more requests. */
  async ask(): Promise<void> {
    const all = this.selected();
    if (all.length === 0 || this.asked || document.hidden) {
      return;
    }
    const first = all.length <= ASKED_MAX ? 0 : this.turn % all.length;
    const agents = [...all.slice(first), ...all.slice(0, first)].slice(0, ASKED_MAX);
    this.turn = first + ASKED_MAX;
    const { orders } = this;
    this.asked = true;
    try {
      const { agents: units } = await this.client.call("agent.report",
        { world: this.world, agents, cells_max: CELLS });
      if (orders === this.orders) {
        this.onReport(units as unknown as UnitReport[]);
      }
    } catch {
      // Too many requests, or the connection has ended, which the page reports elsewhere.
    } finally {
      this.asked = false;
    }
  }
}
