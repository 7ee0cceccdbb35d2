// Where to draw a unit that follows the straight lines of its waypoints, in any direction, while the
// server moves it from cell to cell in eight directions.
//
// The drawn unit is as far from the next waypoint as the true one, on a line of its own: while the
// waypoint stays the same, it moves straight on. It stays near the true unit, whose lines to its
// waypoints are free, and never on ground of another kind than the true unit stands on.

import type { Mirror } from "fogmarch";

export interface Point {
  x: number;
  y: number;
}

/** Cells that a unit is drawn off its true place at most. */
export const DRIFT_MAX = 1.25;

const TERRAIN_BITS = 15;
const INSET = 0.1; // share of a unit's square that may touch other ground

/** The place to draw at next. `stands` and `drawn` are middles, in cells; `next` is where it turns. */
export function straighten(drawn: Point, stands: Point, next: Point): Point {
  const left = Math.hypot(stands.x - next.x, stands.y - next.y);
  const drawnLeft = Math.hypot(drawn.x - next.x, drawn.y - next.y);
  const share = drawnLeft > left ? left / drawnLeft : 1; // a drawn unit that is ahead waits
  const to = { x: next.x + (drawn.x - next.x) * share, y: next.y + (drawn.y - next.y) * share };
  const drift = Math.hypot(to.x - stands.x, to.y - stands.y);
  const pull = drift > DRIFT_MAX ? DRIFT_MAX / drift : 1;
  return { x: stands.x + (to.x - stands.x) * pull, y: stands.y + (to.y - stands.y) * pull };
}

/** Whether a unit of `side` cells that stands at `stands` may be drawn at `at`; both are middles. */
export function hasRoom(view: Mirror, at: Point, stands: Point, side: number): boolean {
  const known = terrainsUnder(view, stands, side);
  return [...terrainsUnder(view, at, side)].every((terrain) => known.has(terrain));
}

function terrainsUnder(view: Mirror, middle: Point, side: number): Set<number> {
  const reach = side / 2 - INSET;
  const found = new Set<number>();
  for (let y = Math.floor(middle.y - reach); y <= Math.floor(middle.y + reach); y++) {
    for (let x = Math.floor(middle.x - reach); x <= Math.floor(middle.x + reach); x++) {
      found.add(view.lookAt(x, y) & TERRAIN_BITS);
    }
  }
  return found;
}
