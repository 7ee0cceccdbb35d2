// The points of a patrol, while they are being chosen.

import { Graphics } from "pixi.js";
import type { Cell, MapView } from "../common/map-view.js";

const POINTS_MAX = 32; // as agent.order takes
const ROUND = 2;       // cells between the last point and the first: it is a round

export class Patrol {
  private readonly line = new Graphics();
  private points: Cell[] = [];

  constructor(private readonly map: MapView) {
    map.over.addChild(this.line);
  }

  end(): void {
    this.line.destroy();
  }

  get length(): number {
    return this.points.length;
  }

  /** Adds a point; returns how many there are. */
  add(cell: Cell): number {
    if (this.points.length < POINTS_MAX) {
      this.points.push(cell);
    }
    this.draw();
    return this.points.length;
  }

  clear(): void {
    this.points = [];
    this.line.clear();
  }

  /** The chosen points, for agent.order; forgets them. A patrol that ends where it began is a loop. */
  take(): { goals: number[]; loop: boolean; last: Cell } {
    const { points } = this;
    const [first] = points;
    const last = points.at(-1)!;
    const loop = points.length > 2 && Math.max(Math.abs(last.x - first!.x), Math.abs(last.y - first!.y)) <= ROUND;
    this.clear();
    return { goals: (loop ? points.slice(0, -1) : points).flatMap(({ x, y }) => [x, y]), loop, last };
  }

  private draw(): void {
    const pixel = 1 / this.map.zoom;
    this.line.clear();
    for (const [width, color] of [[5 * pixel, 0x101010], [2.5 * pixel, 0xf0e442]] as const) {
      this.points.forEach(({ x, y }, i) => {
        if (i === 0) {
          this.line.moveTo(x + 0.5, y + 0.5);
        } else {
          this.line.lineTo(x + 0.5, y + 0.5);
        }
      });
      this.line.stroke({ width, color });
      this.points.forEach(({ x, y }) => this.line.circle(x + 0.5, y + 0.5, Math.max(0.3, 5 * pixel)));
      this.line.stroke({ width, color });
    }
  }
}
