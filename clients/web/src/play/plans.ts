// The orders of the player's units: as this page gave them, and as the server reports them, which knows
// orders from before a reload. An order is removed when it ends, as the view's deltas say.

import type { Ended } from "fogmarch";
import type { Step } from "./markers.js";
import type { UnitReport } from "./reports.js";

/** An order that a unit has. */
export interface Planned {
  order: number;
  kind: string;
  /** Where it goes, as far as that is known. */
  x?: number;
  y?: number;
}

export class Plans {
  private readonly byAgent = new Map<number, readonly Planned[]>();
  private readonly reports = new Map<number, UnitReport>();

  /** What was answered to agent.order: the first agent's order is `order`, the others count on from it. */
  given(agents: readonly number[], order: number, queued: boolean, step: Omit<Planned, "order">): void {
    agents.forEach((agent, i) => {
      const before = queued ? this.byAgent.get(agent) ?? [] : [];
      this.byAgent.set(agent, [...before, { ...step, order: order + i }]);
      if (!queued) {
        this.reports.delete(agent);
      }
    });
  }

  /** These units have nothing to do. */
  forget(agents: readonly number[]): void {
    agents.forEach((agent) => this.byAgent.delete(agent));
    agents.forEach((agent) => this.reports.delete(agent));
  }

  /** Orders have ended, and nobody said which. */
  forgetAll(): void {
    this.byAgent.clear();
    this.reports.clear();
  }

  /** The state of these units, as the server reports it. */
  told(units: readonly UnitReport[]): void {
    for (const unit of units) {
      this.reports.set(unit.agent, unit);
      this.keep(unit.agent, unit.orders.map(({ order, kind, goal: [x, y] }) =>
        x === undefined || y === undefined ? { order, kind } : { order, kind, x, y }));
    }
  }

  private keep(agent: number, orders: readonly Planned[]): void {
    if (orders.length === 0) {
      this.byAgent.delete(agent);
    } else {
      this.byAgent.set(agent, orders);
    }
  }

  take(ended: readonly Ended[]): void {
    for (const { agent, order } of ended) {
      this.keep(agent, this.orders(agent).filter((planned) => planned.order !== order));
      this.reports.delete(agent);
    }
  }

  /** All orders of a unit, the current one first. */
  orders(agent: number): readonly Planned[] {
    return this.byAgent.get(agent) ?? [];
  }

  /** Those of them that have a place. */
  of(agent: number): readonly Step[] {
    return this.orders(agent).filter((planned): planned is Planned & Step => planned.x !== undefined);
  }

  /** The cells that it enters next, from where it stands: x, y of each. Empty: not known. */
  path(agent: number, x: number, y: number): readonly number[] {
    const path = this.reports.get(agent)?.path ?? [];
    for (let i = 0; i + 1 < path.length; i += 2) {
      if (path[i] === x && path[i + 1] === y) {
        return path.slice(i + 2);
      }
    }
    const isNext = path.length > 1 && Math.abs(path[0]! - x) <= 1 && Math.abs(path[1]! - y) <= 1;
    return isNext ? path : []; // otherwise it has left that path
  }

  /** Why it does what it does; empty: not known. */
  why(agent: number): string {
    return this.reports.get(agent)?.why ?? "";
  }
}
