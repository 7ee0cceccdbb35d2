// Where orders went: a ring that closes on the place, and lines from each selected unit through all its
// orders, along the cells of its path as far as these are known.

import { Graphics } from "pixi.js";
import type { Mirror } from "fogmarch";
import type { Cell, MapView } from "../common/map-view.js";
import type { Plans } from "./plans.js";

const MARK_MS = 900;
const LINES_MAX = 250; // units whose orders are drawn
const QUEUES_MAX = 6;  // of more units, one line leads to each place of their queues
const COLOURS = { go: 0xffffff, follow: 0xf0e442, build: 0x56b4e9, attack: 0xd55e00 } as const;

export type MarkKind = keyof typeof COLOURS;

/** What a unit is to do: first what it does now. */
export interface Step {
  kind: string;
  x: number;
  y: number;
}

export class Markers {
  private readonly marks = new Graphics();
  private readonly lines = new Graphics();
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private shown: { cell: Cell; kind: MarkKind; since: number }[] = [];
  private hadLines = false;

  constructor(private readonly view: Mirror, private readonly map: MapView,
              private readonly plans: Plans) {
    map.under.addChild(this.lines);
    map.over.addChild(this.marks);
  }

  end(): void {
    this.marks.destroy();
    this.lines.destroy();
  }

  put(cell: Cell, kind: MarkKind): void {
    this.shown.push({ cell, kind, since: performance.now() });
  }

  /** Called every frame. */
  draw(selected: ReadonlySet<number>): void {
    this.drawMarks();
    this.drawLines(selected);
  }

  private drawMarks(): void {
    if (this.shown.length === 0) {
      return;
    }
    const now = performance.now();
    this.shown = this.shown.filter(({ since }) => now - since < MARK_MS);
    this.marks.clear();
    const pixel = 1 / this.map.zoom;
    for (const { cell, kind, since } of this.shown) {
      const left = this.calm.matches ? 0.4 : 1 - (now - since) / MARK_MS;
      const [x, y] = [cell.x + 0.5, cell.y + 0.5];
      const radius = Math.max(0.5, 7 * pixel) + left * Math.max(0.9, 14 * pixel);
      for (const [width, color] of [[5, 0x101010], [2.5, COLOURS[kind]]] as const) {
        this.marks.circle(x, y, radius)
          .moveTo(x - 0.4, y).lineTo(x + 0.4, y).moveTo(x, y - 0.4).lineTo(x, y + 0.4)
          .stroke({ width: width * pixel, color, alpha: 0.35 + 0.65 * left });
      }
    }
  }

  private drawLines(selected: ReadonlySet<number>): void {
    if (selected.size === 0 && !this.hadLines) {
      return;
    }
    this.lines.clear();
    this.hadLines = false;
    const pixel = 1 / this.map.zoom;
    const ends = new Map<string, Cell>();
    const legs = new Map<string, Cell[]>(); // from where units come to a place of their queue
    let drawn = 0;
    for (const id of selected) {
      const place = this.view.placeOf(id);
      const steps = place === undefined ? [] : this.plans.of(id);
      if (place === undefined || steps.length === 0) {
        continue;
      }
      if (++drawn > LINES_MAX) {
        break;
      }
      const { x, y } = this.map.agents.positionOf(this.view, place);
      const half = this.map.agents.sideOf(this.view, place) / 2; // paths are of north-west cells
      this.lines.moveTo(x, y);
      const path = this.plans.path(id, this.view.xs[place]!, this.view.ys[place]!);
      for (let i = 0; i + 1 < path.length; i += 2) {
        this.lines.lineTo(path[i]! + half, path[i + 1]! + half);
      }
      steps.forEach((step, i) => {
        const key = `${step.x},${step.y}`;
        const before = steps[i - 1];
        ends.set(key, step);
        if (before === undefined) {
          this.lines.lineTo(step.x + 0.5, step.y + 0.5);
        } else {
          const from = legs.get(key);
          from === undefined ? legs.set(key, [before]) : from.push(before);
        }
      });
    }
    if (drawn === 0) {
      return;
    }
    this.hadLines = true;
    this.lines.stroke({ width: 1.6 * pixel, color: 0xffffff, alpha: drawn > 20 ? 0.16 : 0.65 });
    this.drawLegs(legs, ends, pixel);
    for (const { x, y } of ends.values()) {
      this.lines.circle(x + 0.5, y + 0.5, Math.max(0.16, 2.5 * pixel));
    }
    this.lines.fill({ color: 0xffffff }).stroke({ width: pixel, color: 0x101010 });
  }

  // Units that were sent together and stand apart come to the next place from their middle.
  private drawLegs(legs: ReadonlyMap<string, readonly Cell[]>, ends: ReadonlyMap<string, Cell>, pixel: number): void {
    if (legs.size === 0) {
      return;
    }
    for (const [key, from] of legs) {
      const to = ends.get(key)!;
      const middle = { x: from.reduce((sum, { x }) => sum + x, 0) / from.length,
                       y: from.reduce((sum, { y }) => sum + y, 0) / from.length };
      for (const { x, y } of from.length > QUEUES_MAX ? [middle] : from) {
        this.lines.moveTo(x + 0.5, y + 0.5).lineTo(to.x + 0.5, to.y + 0.5);
      }
    }
    this.lines.stroke({ width: 1.6 * pixel, color: 0xffffff, alpha: 0.65 });
  }
}
