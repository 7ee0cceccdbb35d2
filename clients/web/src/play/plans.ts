// What the player's units are to do, as this page has ordered it. An order is forgotten when it ends,
// which the view's deltas tell.

import type { Ended } from "fogmarch";
import type { Step } from "./markers.js";

interface Planned extends Step {
  order: number;
}

export class Plans {
  private readonly byAgent = new Map<number, Planned[]>();

  /** What was answered to agent.order: the first agent's order is `order`, the others count on from it. */
  given(agents: readonly number[], order: number, queued: boolean, step: Step): void {
    agents.forEach((agent, i) => {
      const before = queued ? this.byAgent.get(agent) ?? [] : [];
      this.byAgent.set(agent, [...before, { ...step, order: order + i }]);
    });
  }

  /** These have nothing to do that has a place. */
  forget(agents: readonly number[]): void {
    agents.forEach((agent) => this.byAgent.delete(agent));
  }

  take(ended: readonly Ended[]): void {
    for (const { agent, order } of ended) {
      const left = this.byAgent.get(agent)?.filter((planned) => planned.order !== order);
      if (left === undefined || left.length === 0) {
        this.byAgent.delete(agent);
      } else {
        this.byAgent.set(agent, left);
      }
    }
  }

  of(agent: number): readonly Step[] {
    return this.byAgent.get(agent) ?? [];
  }
}
