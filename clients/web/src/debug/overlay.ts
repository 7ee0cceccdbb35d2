// The search of one agent, cell by cell: as a heat map, and as numbers when there is room for them.

import { BitmapText, BufferImageSource, Container, Graphics, Sprite, Texture } from "pixi.js";
import type { Results } from "fogmarch";
import { heat } from "../common/palette.js";

export const OVERLAYS = [
  ["none", "nothing"],
  ["state", "open and closed"],
  ["g", "g"],
  ["h", "h"],
  ["rhs", "rhs"],
  ["f", "g + h"],
] as const;
export type Overlay = (typeof OVERLAYS)[number][0];

export const NO_COST = 2 ** 30 - 1;
const ENTRIES = 6; // x, y, flags, g, h, rhs
const OPEN = 1;
const CLOSED = 2;
const NUMBERS_ZOOM = 36; // pixels per cell from which numbers are written
const NUMBERS_MAX = 1200;

export interface SearchCell {
  x: number;
  y: number;
  open: boolean;
  closed: boolean;
  g: number;
  h: number;
  rhs: number;
}

export function searchCells(result: Results["debug.inspect"]): SearchCell[] {
  const list = result.search ?? [];
  const cells: SearchCell[] = [];
  for (let i = 0; i + ENTRIES <= list.length; i += ENTRIES) {
    const flags = list[i + 2]!;
    cells.push({ x: list[i]!, y: list[i + 1]!, open: (flags & OPEN) !== 0,
                 closed: (flags & CLOSED) !== 0, g: list[i + 3]!, h: list[i + 4]!,
                 rhs: list[i + 5]! });
  }
  return cells;
}

function valueOf(cell: SearchCell, overlay: Overlay): number {
  switch (overlay) {
    case "g": return cell.g;
    case "h": return cell.h;
    case "rhs": return cell.rhs;
    case "f": {
      const g = Math.min(cell.g, cell.rhs);
      return g >= NO_COST || cell.h >= NO_COST ? NO_COST : g + cell.h;
    }
    default: return NO_COST;
  }
}

export class SearchOverlay {
  readonly container = new Container();
  /** Cells drawn the last time. */
  count = 0;
  private readonly sprite = new Sprite();
  private readonly numbers = new Container();
  private readonly path = new Graphics();
  private source: BufferImageSource | undefined;

  constructor() {
    this.sprite.alpha = 0.75;
    this.container.addChild(this.sprite, this.path, this.numbers);
  }

  clear(): void {
    this.count = 0;
    this.sprite.visible = false;
    this.numbers.removeChildren().forEach((child) => child.destroy());
    this.path.clear();
  }

  draw(result: Results["debug.inspect"], overlay: Overlay, zoom: number): void {
    this.clear();
    this.drawPath(result);
    const cells = overlay === "none" ? [] : searchCells(result);
    this.count = cells.length;
    if (cells.length === 0) {
      return;
    }
    this.drawHeat(cells, overlay);
    if (zoom >= NUMBERS_ZOOM && cells.length <= NUMBERS_MAX) {
      this.writeNumbers(cells, overlay);
    }
  }

  private drawPath(result: Results["debug.inspect"]): void {
    const line = (list: readonly number[], width: number, color: number): void => {
      for (let i = 0; i + 1 < list.length; i += 2) {
        const x = list[i]! + 0.5;
        const y = list[i + 1]! + 0.5;
        if (i === 0) {
          this.path.moveTo(x, y);
        } else {
          this.path.lineTo(x, y);
        }
      }
      this.path.stroke({ width, color, join: "round" });
    };
    if (result.path.length > 0) {
      line([...result.cell, ...result.path], 0.34, 0x000000);
      line([...result.cell, ...result.path], 0.2, 0xffffff);
    }
    const mark = (cell: readonly number[], color: number): void => {
      if (cell.length === 2) {
        this.path.rect(cell[0]! + 0.1, cell[1]! + 0.1, 0.8, 0.8)
          .moveTo(cell[0]! + 0.1, cell[1]! + 0.1).lineTo(cell[0]! + 0.9, cell[1]! + 0.9)
          .moveTo(cell[0]! + 0.9, cell[1]! + 0.1).lineTo(cell[0]! + 0.1, cell[1]! + 0.9)
          .stroke({ width: 0.16, color });
      }
    };
    mark(result.goal, 0xd55e00);
    mark(result.substitute, 0xf0e442);
  }

  private drawHeat(cells: readonly SearchCell[], overlay: Overlay): void {
    let left = Infinity, top = Infinity, right = 0, bottom = 0, least = Infinity, most = 0;
    for (const cell of cells) {
      left = Math.min(left, cell.x);
      top = Math.min(top, cell.y);
      right = Math.max(right, cell.x + 1);
      bottom = Math.max(bottom, cell.y + 1);
      const value = valueOf(cell, overlay);
      if (value < NO_COST) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
    const width = right - left;
    const height = bottom - top;
    const pixels = new Uint8Array(width * height * 4);
    for (const cell of cells) {
      let colour: number;
      if (overlay === "state") {
        colour = cell.open ? 0xf0e442 : cell.closed ? 0x0072b2 : 0x808080;
      } else {
        const value = valueOf(cell, overlay);
        colour = value >= NO_COST ? 0x808080 : heat((value - least) / Math.max(1, most - least));
      }
      const at = ((cell.y - top) * width + (cell.x - left)) * 4;
      pixels[at] = colour >> 16;
      pixels[at + 1] = (colour >> 8) & 255;
      pixels[at + 2] = colour & 255;
      pixels[at + 3] = 255;
    }
    this.source?.destroy();
    this.source = new BufferImageSource({ resource: pixels, width, height, scaleMode: "nearest",
                                          alphaMode: "no-premultiply-alpha" });
    this.sprite.texture = new Texture({ source: this.source });
    this.sprite.position.set(left, top);
    this.sprite.setSize(width, height);
    this.sprite.visible = true;
  }

  private writeNumbers(cells: readonly SearchCell[], overlay: Overlay): void {
    const short = (value: number): string => (value >= NO_COST ? "-" : String(value));
    for (const cell of cells) {
      const text = overlay === "state"
        ? `${short(cell.g)}\n${short(cell.rhs)}\n${short(cell.h)}`
        : short(valueOf(cell, overlay));
      const label = new BitmapText({ text, style: { fontFamily: "sans-serif", fontSize: 32,
                                                    fill: 0xffffff, stroke: { color: 0, width: 6 } } });
      label.anchor.set(0.5);
      label.position.set(cell.x + 0.5, cell.y + 0.5);
      label.scale.set(overlay === "state" ? 0.0085 : 0.011);
      this.numbers.addChild(label);
    }
  }
}
