// Where a unit is drawn that goes along the straight lines of its waypoints, in any direction, while the
// server moves it from cell to cell in eight.
//
// The drawn unit has as far to go to the next waypoint as the true one, on a line of its own: as long as
// the waypoint stays, it goes straight on. It keeps near the true one, whose lines to its waypoints are
// free on the way, and never on ground of another kind than what that one stands on.

import type { Mirror } from "fogmarch";

export interface Point {
  x: number;
  y: number;
}

/** Cells that a unit is drawn off its true place at most. */
export const DRIFT_MAX = 1.25;

const TERRAIN_BITS = 15;
const INSET = 0.1; // of a unit's square that may touch other ground

/** The place to draw at next. `stands` and `drawn` are middles, in cells; `next` is where it turns. */
export function straighten(drawn: Point, stands: Point, next: Point): Point {
  const left = Math.hypot(stands.x - next.x, stands.y - next.y);
  const drawnLeft = Math.hypot(drawn.x - next.x, drawn.y - next.y);
  const share = drawnLeft > left ? left / drawnLeft : 1; // who is ahead waits
  const to = { x: next.x + (drawn.x - next.x) * share, y: next.y + (drawn.y - next.y) * share };
  const drift = Math.hypot(to.x - stands.x, to.y - stands.y);
  const pull = drift > DRIFT_MAX ? DRIFT_MAX / drift : 1;
  return { x: stands.x + (to.x - stands.x) * pull, y: stands.y + (to.y - stands.y) * pull };
}

/** Whether a unit of `side` cells may be drawn at `at`, that stands at `stands`: both middles. */
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
