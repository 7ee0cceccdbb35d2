// Units that have stopped for an enemy (orders with `alert`), until they are told to continue. A sign is
// drawn above each.

import { Graphics } from "pixi.js";
import { AGENT_STATES, type Alert, type Ended, type Mirror } from "fogmarch";
import type { MapView } from "../common/map-view.js";
import type { UnitReport } from "./reports.js";

const COLOUR = 0xffb18a;
const BACK = 0x101010;

export class Alerts {
  private readonly stopped = new Map<number, number>(); // agent to order
  private readonly signs = new Graphics();
  private hadSigns = false;

  constructor(private readonly view: Mirror, private readonly map: MapView) {
    map.over.addChild(this.signs);
  }

  end(): void {
    this.signs.destroy();
  }

  /** Units that wait to be told to continue. */
  get list(): number[] {
    return [...this.stopped.keys()];
  }

  /** A message came. */
  take(alerts: readonly Alert[], ended: readonly Ended[]): void {
    for (const { agent, order } of alerts) {
      this.stopped.set(agent, order);
    }
    for (const { agent, order } of ended) {
      if (this.stopped.get(agent) === order) {
        this.stopped.delete(agent);
      }
    }
    for (const agent of this.stopped.keys()) {
      if (this.view.placeOf(agent) === undefined) {
        this.stopped.delete(agent);
      }
    }
  }

  /** Orders have ended, and nobody said which. A unit that waits to be told to continue holds. */
  missEnds(): void {
    for (const agent of this.stopped.keys()) {
      const place = this.view.placeOf(agent);
      if (place === undefined || AGENT_STATES[this.view.states[place]!] !== "holding") {
        this.stopped.delete(agent);
      }
    }
  }

  /** The true state, whatever this page has heard: others may have told them to continue, and a page that was loaded
   * again has heard nothing. */
  told(units: readonly UnitReport[]): void {
    for (const { agent, alerted, orders } of units) {
      const order = orders[0]?.order;
      if (alerted && order !== undefined) {
        this.stopped.set(agent, order);
      } else {
        this.stopped.delete(agent);
      }
    }
  }

  resumed(agents: readonly number[]): void {
    agents.forEach((agent) => this.stopped.delete(agent));
  }

  /** Called every frame. */
  draw(): void {
    if (this.stopped.size === 0 && !this.hadSigns) {
      return;
    }
    this.signs.clear();
    this.hadSigns = this.stopped.size > 0;
    const pixel = 1 / this.map.zoom;
    const height = Math.max(0.9, 11 * pixel);
    for (const agent of this.stopped.keys()) {
      const place = this.view.placeOf(agent);
      if (place === undefined) {
        continue;
      }
      const { x, y } = this.map.agents.positionOf(this.view, place);
      const bottom = y - 0.6 * this.map.agents.sideOf(this.view, place);
      const wide = 0.26 * height;
      this.signs.rect(x - wide / 2, bottom - height, wide, 0.6 * height)
        .circle(x, bottom - 0.13 * height, 0.15 * height);
    }
    this.signs.stroke({ width: 0.22 * height, color: BACK }).fill({ color: COLOUR });
  }
}
