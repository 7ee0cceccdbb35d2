// Which of the team's units are selected, and the groups that keys 1 to 9 call back.

import { Graphics } from "pixi.js";
import { AGENT_STATES, type Mirror } from "fogmarch";
import type { Target } from "../common/keep-in-view.js";
import type { Cell, MapView } from "../common/map-view.js";
import type { Memory } from "./memory.js";

const REACH = 1.5;         // cells from a click to the unit that is meant, at least
const REACH_PIXELS = 10;   // and in pixels of the screen
const FINGER_PIXELS = 24;
const IDLE = AGENT_STATES.indexOf("idle");

export class Selection {
  readonly ids = new Set<number>();
  /** Called when other units are selected. */
  onChanged: () => void = () => {};
  private readonly box = new Graphics();
  private lastIdle = 0;

  constructor(private readonly view: Mirror, private readonly team: number,
              private readonly map: MapView, private readonly memory: Memory) {
    map.over.addChild(this.box);
    map.agents.select(this.ids);
  }

  end(): void {
    this.box.destroy();
    this.map.agents.select(new Set());
  }

  get list(): number[] {
    return [...this.ids];
  }

  /** A message came: units that are gone are no longer selected. */
  refresh(): void {
    for (const id of this.ids) {
      if (this.view.placeOf(id) === undefined) {
        this.ids.delete(id);
      }
    }
  }

  /** A box is being drawn. */
  stretch(from: Cell, to: Cell): void {
    const x = Math.min(from.x, to.x);
    const y = Math.min(from.y, to.y);
    this.box.clear().rect(x, y, Math.abs(from.x - to.x) + 1, Math.abs(from.y - to.y) + 1)
      .fill({ color: 0xffffff, alpha: 0.12 })
      .stroke({ width: 1.5 / this.map.zoom, color: 0xffffff });
  }

  clearBox(): void {
    this.box.clear();
  }

  /** The box is done, or it was a click. With `add`, what was selected stays. */
  choose(from: Cell, to: Cell, add: boolean, byFinger = false): void {
    this.box.clear();
    if (from.x === to.x && from.y === to.y) {
      const unit = this.nearest(to, byFinger);
      if (!add && !(byFinger && unit === undefined)) { // a tap beside all units keeps the selection
        this.ids.clear();
      }
      if (unit !== undefined && add && this.ids.has(unit)) {
        this.ids.delete(unit);
      } else if (unit !== undefined) {
        this.ids.add(unit);
      }
    } else {
      if (!add) {
        this.ids.clear();
      }
      const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
      const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
      this.addWhere((x, y) => x >= left && x <= right && y >= top && y <= bottom);
    }
    this.onChanged();
  }

  /** The team's units on the screen that have the class of the one at a cell. */
  chooseAlike(cell: Cell, byFinger = false): void {
    const unit = this.nearest(cell, byFinger);
    const place = unit === undefined ? undefined : this.view.placeOf(unit);
    if (place === undefined) {
      return;
    }
    const kind = this.view.classes[place];
    const { x: left, y: top, width, height } = this.map.bounds;
    this.addWhere((x, y, other) => this.view.classes[other] === kind &&
      x >= left && x <= left + width && y >= top && y <= top + height);
    this.onChanged();
  }

  chooseAll(): void {
    this.addWhere(() => true);
    this.onChanged();
  }

  chooseNone(): void {
    this.ids.clear();
    this.onChanged();
  }

  /** These and no others. */
  chooseThese(ids: Iterable<number>): void {
    this.ids.clear();
    for (const id of ids) {
      if (this.view.placeOf(id) !== undefined) {
        this.ids.add(id);
      }
    }
    this.onChanged();
  }

  /** Units of the team that have nothing to do. */
  countIdle(): number {
    let count = 0;
    for (let place = 0; place < this.view.agentCount; place++) {
      count += this.isIdle(place) ? 1 : 0;
    }
    return count;
  }

  /** Selects the next idle unit by id after the one selected last; undefined: all are busy. */
  chooseNextIdle(): Cell | undefined {
    let next: number | undefined;
    let first: number | undefined;
    for (let place = 0; place < this.view.agentCount; place++) {
      if (this.isIdle(place)) {
        const id = this.view.ids[place]!;
        first = first === undefined || id < first ? id : first;
        next = id > this.lastIdle && (next === undefined || id < next) ? id : next;
      }
    }
    const id = next ?? first;
    if (id === undefined) {
      return undefined;
    }
    this.lastIdle = id;
    this.chooseThese([id]);
    return this.middle();
  }

  saveGroup(number: number): void {
    this.memory.groups.set(number, this.list);
    this.memory.keep();
    this.onChanged();
  }

  callGroup(number: number): void {
    this.chooseThese(this.memory.groups.get(number) ?? []);
  }

  /** Units of a group that are alive. */
  sizeOfGroup(number: number): number {
    return (this.memory.groups.get(number) ?? [])
      .reduce((sum, id) => sum + (this.view.placeOf(id) === undefined ? 0 : 1), 0);
  }

  /** Middle of the selected units; undefined: none. */
  middle(): Cell | undefined {
    let x = 0, y = 0, count = 0;
    for (const id of this.ids) {
      const place = this.view.placeOf(id);
      if (place !== undefined) {
        x += this.view.xs[place]!;
        y += this.view.ys[place]!;
        count++;
      }
    }
    return count === 0 ? undefined : { x: x / count + 0.5, y: y / count + 0.5 };
  }

  /** Middle of the selected units as they are drawn now; undefined: none. */
  drawnMiddle(): Target | undefined {
    let x = 0, y = 0, count = 0, of = 0;
    for (const id of this.ids) {
      const place = this.view.placeOf(id);
      if (place !== undefined) {
        const at = this.map.agents.positionOf(this.view, place);
        x += at.x;
        y += at.y;
        of += id;
        count++;
      }
    }
    return count === 0 ? undefined : { x: x / count, y: y / count, of };
  }

  /** Any agent near a cell, and whose it is. */
  agentAt(cell: Cell, byFinger = false): { id: number; team: number } | undefined {
    let best: { id: number; team: number } | undefined;
    let bestDistance = Math.max(REACH, (byFinger ? FINGER_PIXELS : REACH_PIXELS) / this.map.zoom) + 0.01;
    for (let place = 0; place < this.view.agentCount; place++) {
      const middle = (this.map.agents.sideOf(this.view, place) - 1) / 2;
      const distance = Math.hypot(this.view.xs[place]! + middle - cell.x,
                                  this.view.ys[place]! + middle - cell.y);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = { id: this.view.ids[place]!, team: this.view.teams[place]! };
      }
    }
    return best;
  }

  private isIdle(place: number): boolean {
    return this.view.teams[place] === this.team && this.view.states[place] === IDLE;
  }

  private nearest(cell: Cell, byFinger: boolean): number | undefined {
    const found = this.agentAt(cell, byFinger);
    return found?.team === this.team ? found.id : undefined;
  }

  private addWhere(isMeant: (x: number, y: number, place: number) => boolean): void {
    for (let place = 0; place < this.view.agentCount; place++) {
      if (this.view.teams[place] === this.team &&
          isMeant(this.view.xs[place]!, this.view.ys[place]!, place)) {
        this.ids.add(this.view.ids[place]!);
      }
    }
  }
}
