// The search of one agent, cell by cell, and its path: as a heat map, and as numbers when there is
// room for them. Parents are lines from each cell to the one it was reached from, thick at the cell.

import { BitmapFont, BitmapText, BufferImageSource, Container, Graphics, Sprite, Texture } from "pixi.js";
import type { Results } from "fogmarch";
import { heat } from "../common/palette.js";
import { NO_COST, searchCells, type SearchCell, type SearchLists } from "./search-cells.js";

export const OVERLAYS = [
  ["none", "nothing"],
  ["state", "open and closed"],
  ["open", "open only"],
  ["closed", "closed only"],
  ["g", "g"],
  ["h", "h"],
  ["rhs", "rhs"],
  ["f", "g + h"],
  ["key", "key"],
  ["learned", "learned h"],
  ["parents", "parents"],
] as const;
export type Overlay = (typeof OVERLAYS)[number][0];

const NUMBERS_ZOOM = 36; // pixels per cell from which numbers are written
const NUMBERS_MAX = 1200;
const PARENTS_MAX = 6000;

// One font for all numbers: each stroked style of its own would be another font with textures of
// its own, which are never given back.
const NUMBERS_FONT = "fogmarch numbers";
let numbersFontIsThere = false;

function makeNumber(): BitmapText {
  if (!numbersFontIsThere) {
    numbersFontIsThere = true;
    BitmapFont.install({ name: NUMBERS_FONT, chars: [["0", "9"], "-"],
                         style: { fontFamily: "sans-serif", fontSize: 32, fill: 0xffffff,
                                  stroke: { color: 0, width: 6 } } });
  }
  const label = new BitmapText({ text: "", style: { fontFamily: NUMBERS_FONT, fontSize: 32, align: "center" } });
  label.anchor.set(0.5);
  return label;
}

const OPEN_COLOUR = 0xf0e442;
const CLOSED_COLOUR = 0x0072b2;
const NEITHER_COLOUR = 0x808080;
const STALE_COLOUR = 0xcc79a7;

/** Whether the channel `details` is needed for it. */
export function needsDetails(overlay: Overlay): boolean {
  return overlay === "key" || overlay === "learned" || overlay === "parents";
}

// Keys of one number are in the lower half; keys of two numbers have the first in the upper half.
function hasPairs(cells: readonly SearchCell[]): boolean {
  return cells.some(({ open, details }) => open && details !== undefined && details.key[0] > 0);
}

// NO_COST: there is none. `pairs`: keys have two numbers; this takes the first.
function valueOf(cell: SearchCell, overlay: Overlay, pairs: boolean): number {
  switch (overlay) {
    case "g": return cell.g;
    case "h": return cell.h;
    case "rhs": return cell.rhs;
    case "f": {
      const g = Math.min(cell.g, cell.rhs);
      return g >= NO_COST || cell.h >= NO_COST ? NO_COST : g + cell.h;
    }
    case "key": return cell.open ? cell.details?.key[pairs ? 0 : 1] ?? NO_COST : NO_COST;
    case "learned": return cell.details?.learned ?? NO_COST;
    default: return NO_COST;
  }
}

function isShown(cell: SearchCell, overlay: Overlay): boolean {
  return overlay === "open" ? cell.open : overlay === "closed" ? cell.closed : true;
}

function textOf(cell: SearchCell, overlay: Overlay, pairs: boolean): string {
  const short = (value: number): string => (value >= NO_COST ? "-" : String(value));
  switch (overlay) {
    case "state": case "open": case "closed":
      return `${short(cell.g)}\n${short(cell.rhs)}\n${short(cell.h)}`;
    case "key":
      return pairs && cell.open && cell.details !== undefined
        ? cell.details.key.map(short).join("\n") : short(valueOf(cell, overlay, pairs));
    default:
      return short(valueOf(cell, overlay, pairs));
  }
}

// Tiles of a goal field that changed since are chequered.
function staleWords(cells: readonly SearchCell[]): string {
  const stale = cells.filter((cell) => cell.stale).length;
  return stale === 0 ? "" : `; ${stale} chequered pink are stale: their tile has changed since`;
}

/** What the colours mean, in words. */
function legendOf(cells: readonly SearchCell[], overlay: Overlay, least: number, most: number): string {
  switch (overlay) {
    case "state": case "open": case "closed": {
      const open = cells.filter((cell) => cell.open).length;
      const closed = cells.filter((cell) => cell.closed).length;
      return `here ${open} open (bright), ${closed} closed (dark); numbers: g, rhs, h`;
    }
    case "parents": return "each line leads to a cell's parent and is thick at the cell";
    default:
      return least > most ? "no cell here has one" : `dark ${least} to bright ${most}; grey has none`;
  }
}

export class SearchOverlay {
  readonly container = new Container();
  /** Cells that were drawn last. */
  count = 0;
  /** What the colours mean, in words. */
  legend = "";
  private readonly sprite = new Sprite();
  private readonly numbers = new Container();
  private readonly spareNumbers: BitmapText[] = []; // labels are used again
  private readonly parents = new Graphics();
  private readonly path = new Graphics();
  private source: BufferImageSource | undefined;

  constructor() {
    this.sprite.alpha = 0.75;
    this.container.addChild(this.sprite, this.parents, this.path, this.numbers);
  }

  clear(): void {
    this.count = 0;
    this.legend = "";
    this.sprite.visible = false;
    this.spareNumbers.push(...this.numbers.removeChildren() as BitmapText[]);
    this.parents.clear();
    this.path.clear();
  }

  /** An agent's path and search. */
  draw(result: Results["debug.inspect"], overlay: Overlay, zoom: number): void {
    this.clear();
    this.drawPath(result);
    this.drawSearch(result, overlay, zoom);
  }

  /** A search without an agent, above what is drawn already. */
  drawSearch(lists: SearchLists, overlay: Overlay, zoom: number): void {
    const cells = overlay === "none" ? []
      : searchCells(lists).filter((cell) => isShown(cell, overlay));
    this.count = cells.length;
    if (cells.length === 0) {
      this.legend = overlay === "none" ? "" : "its search holds no cell in sight";
      return;
    }
    this.drawHeat(cells, overlay);
    if (overlay === "parents") {
      this.drawParents(cells, zoom);
    } else if (zoom >= NUMBERS_ZOOM && cells.length <= NUMBERS_MAX) {
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
    const pairs = hasPairs(cells);
    let left = Infinity, top = Infinity, right = 0, bottom = 0, least = Infinity, most = -Infinity;
    for (const cell of cells) {
      left = Math.min(left, cell.x);
      top = Math.min(top, cell.y);
      right = Math.max(right, cell.x + 1);
      bottom = Math.max(bottom, cell.y + 1);
      const value = valueOf(cell, overlay, pairs);
      if (value < NO_COST) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
    this.legend = legendOf(cells, overlay, least, most) + staleWords(cells);
    const width = right - left;
    const height = bottom - top;
    const pixels = new Uint8Array(width * height * 4);
    const byState = ["state", "open", "closed", "parents"].includes(overlay);
    for (const cell of cells) {
      let colour: number;
      if (byState) {
        colour = cell.open ? OPEN_COLOUR : cell.closed ? CLOSED_COLOUR : NEITHER_COLOUR;
      } else {
        const value = valueOf(cell, overlay, pairs);
        colour = value >= NO_COST ? NEITHER_COLOUR : heat((value - least) / Math.max(1, most - least));
      }
      if (cell.stale && (cell.x + cell.y) % 2 === 0) {
        colour = STALE_COLOUR;
      }
      const at = ((cell.y - top) * width + (cell.x - left)) * 4;
      pixels[at] = colour >> 16;
      pixels[at + 1] = (colour >> 8) & 255;
      pixels[at + 2] = colour & 255;
      pixels[at + 3] = 255;
    }
    this.showPixels(pixels, width, height);
    this.sprite.position.set(left, top);
    this.sprite.setSize(width, height);
    this.sprite.visible = true;
  }

  // A source of the same size is written again: new ones would be released late.
  private showPixels(pixels: Uint8Array, width: number, height: number): void {
    const { source } = this;
    if (source !== undefined && source.pixelWidth === width && source.pixelHeight === height) {
      source.resource = pixels;
      source.update();
      return;
    }
    this.source = new BufferImageSource({ resource: pixels, width, height, scaleMode: "nearest",
                                          alphaMode: "no-premultiply-alpha" });
    this.sprite.texture = new Texture({ source: this.source });
    source?.destroy();
  }

  private drawParents(cells: readonly SearchCell[], zoom: number): void {
    const thick = Math.max(0.16, 1.5 / zoom);
    for (const { x, y, details } of cells.slice(0, PARENTS_MAX)) {
      if (details === undefined) {
        continue;
      }
      const dx = details.parent[0] - x;
      const dy = details.parent[1] - y;
      const length = Math.hypot(dx, dy);
      if (length === 0) {
        continue; // its own parent means that it has none
      }
      const sideX = (-dy / length) * thick;
      const sideY = (dx / length) * thick;
      const from = { x: x + 0.5, y: y + 0.5 };
      this.parents.poly([from.x + sideX, from.y + sideY, from.x - sideX, from.y - sideY,
                         from.x + dx, from.y + dy]);
    }
    this.parents.fill({ color: 0xffffff }).stroke({ width: 0.03, color: 0x000000 });
  }

  private writeNumbers(cells: readonly SearchCell[], overlay: Overlay): void {
    const pairs = hasPairs(cells);
    for (const cell of cells) {
      const text = textOf(cell, overlay, pairs);
      const lines = text.split("\n").length;
      const label = this.spareNumbers.pop() ?? makeNumber();
      label.text = text;
      label.position.set(cell.x + 0.5, cell.y + 0.5);
      label.scale.set(lines > 1 ? 0.0085 : 0.011);
      this.numbers.addChild(label);
    }
  }
}
