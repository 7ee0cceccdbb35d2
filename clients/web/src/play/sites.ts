// Buildings of the player: where one may stand, drawn before the click and while it is dragged; placing
// and tearing down.

import type { Client, Mirror, Results } from "fogmarch";
import { Graphics } from "pixi.js";
import { count } from "../common/dom.js";
import type { Cell } from "../common/map-view.js";

export type SiteMode = "wall" | "house";
type Rect = [number, number, number, number];

const BUILDING_CELLS_MAX = 64; // of one building of a player
const CROSSES_MAX = 400;       // cells that are marked as forbidden
const GROUND = 1;
const GOOD = 0x56b4e9;
const BAD = 0xd55e00;

export class Sites {
  readonly graphics = new Graphics();

  /** `visible`: which cells the team sees now, if the page knows. */
  constructor(private readonly client: Client, private readonly world: Results["world.info"],
              private readonly team: number, private readonly view: Mirror,
              private readonly visible: () => Uint8Array | undefined) {}

  clear(): void {
    this.graphics.clear();
  }

  /** Draws what would be built and the cells that forbid it. Returns why it is forbidden; "": it is not. */
  draw(from: Cell, to: Cell, mode: SiteMode): string {
    const rect = this.rectOf(from, to, mode);
    const [x, y, width, height] = rect;
    const { words, cells } = this.check(rect, mode);
    const color = words === "" ? GOOD : BAD;
    this.graphics.clear().rect(x, y, width, height).fill({ color, alpha: 0.45 })
      .stroke({ width: 0.15, color: 0xffffff });
    for (const cell of cells.slice(0, CROSSES_MAX)) {
      this.graphics.moveTo(cell.x + 0.2, cell.y + 0.2).lineTo(cell.x + 0.8, cell.y + 0.8)
        .moveTo(cell.x + 0.8, cell.y + 0.2).lineTo(cell.x + 0.2, cell.y + 0.8);
    }
    if (cells.length > 0) {
      this.graphics.stroke({ width: 0.16, color: 0x101010 });
    }
    return words;
  }

  // A long wall is several buildings, because the server limits the size of one.
  async build(from: Cell, to: Cell, mode: SiteMode): Promise<void> {
    const rect = this.rectOf(from, to, mode);
    const { words } = this.check(rect, mode);
    if (words !== "") {
      throw new Error(words);
    }
    const [x, y, width, height] = rect;
    const length = Math.max(width, height);
    for (let at = 0; at < length; at += BUILDING_CELLS_MAX) {
      const part = Math.min(BUILDING_CELLS_MAX, length - at);
      await this.client.call("building.place", {
        world: this.world.world, team: this.team, on_units: "refuse",
        rect: mode === "house" ? rect : width >= height ? [x + at, y, part, 1] : [x, y + at, 1, part],
      });
    }
  }

  async tearDown(cell: Cell): Promise<void> {
    const own = this.view.buildings.find((building) =>
      building.team === this.team && building.x <= cell.x && cell.x < building.x + building.width &&
      building.y <= cell.y && cell.y < building.y + building.height);
    if (own === undefined) {
      throw new Error("None of your buildings stands there.");
    }
    await this.client.call("building.remove", { world: this.world.world, building: own.number });
  }

  // A wall is a row or a column of cells along the longer side of the drag, a house all of it.
  private rectOf(from: Cell, to: Cell, mode: SiteMode): Rect {
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most - 1, value));
    const across = Math.abs(to.x - from.x) >= Math.abs(to.y - from.y);
    const end = mode === "house" ? to : across ? { x: to.x, y: from.y } : { x: from.x, y: to.y };
    const x = clamp(Math.min(from.x, end.x), this.world.width);
    const y = clamp(Math.min(from.y, end.y), this.world.height);
    return [x, y, clamp(Math.max(from.x, end.x), this.world.width) - x + 1,
            clamp(Math.max(from.y, end.y), this.world.height) - y + 1];
  }

  // What the server would answer, as far as a player can know.
  private check([x, y, width, height]: Rect, mode: SiteMode): { words: string; cells: Cell[] } {
    if (mode === "house" && width * height > BUILDING_CELLS_MAX) {
      return { cells: [], words: `A house has at most ${BUILDING_CELLS_MAX} cells; this one would have ` +
                                 `${count(width * height)}.` };
    }
    const most = Number(this.world.rules["players_build"] ?? 0);
    const own = this.view.buildings.filter(({ team }) => team === this.team).length;
    if (most > 0 && own >= most) {
      return { cells: [], words: `You have all the ${count(most)} buildings that you may have.` };
    }
    const [left, top, mapWidth] = this.view.rect;
    const visible = this.visible();
    const taken: Cell[] = [];
    const unseen: Cell[] = [];
    for (let at = 0; at < width * height; at++) {
      const cell = { x: x + (at % width), y: y + Math.floor(at / width) };
      const look = this.view.lookAt(cell.x, cell.y);
      const seen = visible === undefined || visible[(cell.y - top) * mapWidth + cell.x - left] !== 0;
      if (look === 0 || !seen) {
        unseen.push(cell);
      } else if ((look & 15) !== GROUND) {
        taken.push(cell);
      }
    }
    for (let place = 0; place < this.view.agentCount; place++) {
      const [unitX, unitY] = [this.view.xs[place]!, this.view.ys[place]!];
      if (unitX >= x && unitX < x + width && unitY >= y && unitY < y + height) {
        taken.push({ x: unitX, y: unitY });
      }
    }
    const words = unseen.length > 0 ? "Your units must see all of the ground that you build on."
      : taken.length > 0 ? "Only on free ground: something stands there." : "";
    return { words, cells: [...unseen, ...taken] };
  }
}
