// The cells of a search, as debug.inspect, debug.subscribe and debug.compare list them.

/** Costs from here on mean that there is none. */
export const NO_COST = 2 ** 30 - 1;

const ENTRIES = 6; // x, y, flags, g, h, rhs
const DETAILS = 5; // key's halves, x and y of the parent, by how much h was raised
const OPEN = 1;
const CLOSED = 2;
const STALE = 4;

export interface SearchCell {
  x: number;
  y: number;
  open: boolean;
  closed: boolean;
  /** Of a tile of a goal field that has changed since. */
  stale: boolean;
  g: number;
  h: number;
  rhs: number;
  /** Only where the channel `details` was asked for. */
  details?: {
    /** Upper and lower half of the key on the open list. */
    key: readonly [number, number];
    parent: readonly [number, number];
    learned: number;
  };
}

/** What was searched: lists as they come over the wire. */
export interface SearchLists {
  search?: readonly number[];
  details?: readonly number[];
}

export function searchCells({ search = [], details = [] }: SearchLists): SearchCell[] {
  const cells: SearchCell[] = [];
  const isDetailed = details.length / DETAILS === search.length / ENTRIES;
  for (let i = 0, d = 0; i + ENTRIES <= search.length; i += ENTRIES, d += DETAILS) {
    const flags = search[i + 2]!;
    cells.push({
      x: search[i]!, y: search[i + 1]!, open: (flags & OPEN) !== 0, closed: (flags & CLOSED) !== 0,
      stale: (flags & STALE) !== 0,
      g: search[i + 3]!, h: search[i + 4]!, rhs: search[i + 5]!,
      ...(isDetailed ? { details: {
        key: [details[d]!, details[d + 1]!], parent: [details[d + 2]!, details[d + 3]!],
        learned: details[d + 4]!,
      } } : {}),
    });
  }
  return cells;
}
