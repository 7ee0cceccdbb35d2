// Whether keyframes and deltas are what PROTOCOL.md says: the types of what is in them, and how long lists are. What
// they name, such as cells and agents, the mirror looks at itself.

import type { Notifications } from "./protocol.js";

export type Keyframe = Notifications["keyframe"];
export type Delta = Notifications["delta"];

/** The server sent a keyframe or a delta that is none. */
export class NotShown extends Error {
  constructor(what: string) {
    super(`the server sent a keyframe or a delta that is none: ${what}`);
    this.name = "NotShown";
  }
}

const CELLS_MAX = 1 << 24; // of a view
const BYTES = ["tags", "steps", "runs", "sight"];
// Numbers for each thing in a list; `cells` has two in a keyframe.
const LISTS: readonly (readonly [string, number])[] = [
  ["rect", 4], ["cells", 4], ["agents", 5], ["enter", 5], ["moved", 4], ["leave", 2], ["buildings", 6], ["classes", 2],
  ["tagged", 2], ["motion", 1], ["visible", 1], ["ended", 5], ["alerts", 5], ["died", 1],
];

const isNumber = (value: unknown): boolean => typeof value === "number" && value >= 0;

function checkList(name: string, value: unknown, width: number): void {
  if (!Array.isArray(value) || value.length % width !== 0) {
    throw new NotShown(`${name} is no whole list`);
  }
  for (let i = 0; i < value.length; i++) {
    if (!isNumber(value[i])) {
      throw new NotShown(`${name} has something else than numbers`);
    }
  }
}

/** Throws NotShown. */
export function check(message: Keyframe | Delta, isKeyframe: boolean): void {
  const entries = message as unknown as Record<string, unknown>;
  if (!isNumber(entries["tick"])) {
    throw new NotShown("it has no tick");
  }
  for (const [name, width] of LISTS) {
    if (entries[name] !== undefined) {
      checkList(name, entries[name], isKeyframe && name === "cells" ? 2 : width);
    }
  }
  for (const name of BYTES) {
    if (entries[name] !== undefined && !(entries[name] instanceof Uint8Array)) {
      throw new NotShown(`${name} is something else than bytes`);
    }
  }
  if (entries["untold"] !== undefined && typeof entries["untold"] !== "boolean") {
    throw new NotShown("untold is neither true nor false");
  }
  for (const name of isKeyframe ? ["rect", "cells", "agents"] : []) {
    if (entries[name] === undefined) {
      throw new NotShown(`it has no ${name}`);
    }
  }
  const rect = entries["rect"] as number[] | undefined;
  if (rect !== undefined && !(rect.length === 4 && rect.every(Number.isInteger) && rect[2]! > 0 && rect[3]! > 0 &&
                              rect[2]! * rect[3]! <= CELLS_MAX)) {
    throw new NotShown("its rectangle is none, or too large");
  }
}

/** Throws NotShown unless so many cells from a place on are in a rectangle of `size` cells. */
export function checkRun(at: number, count: number, size: number): void {
  if (!(at >= 0 && at + count <= size)) {
    throw new NotShown("it has cells outside of the rectangle");
  }
}
