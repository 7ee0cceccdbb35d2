// Which cells a brush covers, along a line from where it was to where it is.

import type { Cell } from "../common/map-view.js";

export const BRUSHES = [["square", "square"], ["disc", "disc"]] as const;
export type BrushShape = (typeof BRUSHES)[number][0];

/** Rows of one stamp, relative to its middle: x, y, width. */
function rowsOf(shape: BrushShape, size: number): [x: number, y: number, width: number][] {
  const first = -Math.floor((size - 1) / 2);
  if (shape === "square") {
    return Array.from({ length: size }, (_, i) => [first, first + i, size]);
  }
  const middle = first + (size - 1) / 2;
  const rows: [number, number, number][] = [];
  for (let i = 0; i < size; i++) {
    const dy = first + i - middle;
    const reach = Math.sqrt(Math.max(0, (size / 2) ** 2 - dy * dy));
    const left = Math.ceil(middle - reach);
    const right = Math.floor(middle + reach);
    if (left <= right) {
      rows.push([left, first + i, right - left + 1]);
    }
  }
  return rows;
}

/** Rectangles as terrain.set takes them: x, y, width, height; inside the map, possibly none. */
export function strokeRects(from: Cell, to: Cell, shape: BrushShape, size: number,
                            width: number, height: number): number[] {
  const rows = rowsOf(shape, size);
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1);
  const spans = new Map<string, [number, number, number]>();
  for (let step = 0; step <= steps; step++) {
    const x = Math.round(from.x + ((to.x - from.x) * step) / steps);
    const y = Math.round(from.y + ((to.y - from.y) * step) / steps);
    for (const [dx, dy, length] of rows) {
      const left = Math.max(0, x + dx);
      const right = Math.min(width, x + dx + length);
      const row = y + dy;
      if (row >= 0 && row < height && left < right) {
        spans.set(`${left},${row},${right}`, [left, row, right - left]);
      }
    }
  }
  return [...spans.values()].flatMap(([x, y, length]) => [x, y, length, 1]);
}
