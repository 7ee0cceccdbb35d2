// Which of the team's units are selected, and the groups that keys 1 to 9 call back.

import { Graphics } from "pixi.js";
import type { Mirror } from "fogmarch";
import type { Cell, MapView } from "../common/map-view.js";

const CLICK_REACH = 1.5; // cells

export class Selection {
  readonly ids = new Set<number>();
  /** Called when other units are selected. */
  onChanged: () => void = () => {};
  private readonly rings = new Graphics();
  private readonly box = new Graphics();

  /** `groups`: kept by the caller, for when the connection comes back. */
  constructor(private readonly view: Mirror, private readonly team: number,
              private readonly map: MapView, private readonly groups: Map<number, number[]>) {
    map.over.addChild(this.rings, this.box);
  }

  end(): void {
    this.rings.destroy();
    this.box.destroy();
  }

  get list(): number[] {
    return [...this.ids];
  }

  /** A box is being drawn. */
  stretch(from: Cell, to: Cell): void {
    const x = Math.min(from.x, to.x);
    const y = Math.min(from.y, to.y);
    this.box.clear().rect(x, y, Math.abs(from.x - to.x) + 1, Math.abs(from.y - to.y) + 1)
      .fill({ color: 0xffffff, alpha: 0.12 })
      .stroke({ width: 1.5 / this.map.zoom, color: 0xffffff });
  }

  /** The box is done, or it was a click. With `add`, what was selected stays. */
  choose(from: Cell, to: Cell, add: boolean): void {
    this.box.clear();
    if (!add) {
      this.ids.clear();
    }
    if (from.x === to.x && from.y === to.y) {
      const unit = this.nearest(to);
      if (unit !== undefined) {
        this.ids.add(unit);
      }
    } else {
      const left = Math.min(from.x, to.x);
      const right = Math.max(from.x, to.x);
      const top = Math.min(from.y, to.y);
      const bottom = Math.max(from.y, to.y);
      for (let place = 0; place < this.view.agentCount; place++) {
        const x = this.view.xs[place]!;
        const y = this.view.ys[place]!;
        if (this.view.teams[place] === this.team && x >= left && x <= right && y >= top && y <= bottom) {
          this.ids.add(this.view.ids[place]!);
        }
      }
    }
    this.onChanged();
  }

  /** The team's units of the class of the one at a cell, as far as they are on the screen. */
  chooseAlike(cell: Cell): void {
    const unit = this.nearest(cell);
    const place = unit === undefined ? undefined : this.view.placeOf(unit);
    if (place === undefined) {
      return;
    }
    const { x, y, width, height } = this.map.bounds;
    for (let other = 0; other < this.view.agentCount; other++) {
      const [otherX, otherY] = [this.view.xs[other]!, this.view.ys[other]!];
      if (this.view.teams[other] === this.team && this.view.classes[other] === this.view.classes[place] &&
          otherX >= x && otherX <= x + width && otherY >= y && otherY <= y + height) {
        this.ids.add(this.view.ids[other]!);
      }
    }
    this.onChanged();
  }

  chooseAll(): void {
    for (let place = 0; place < this.view.agentCount; place++) {
      if (this.view.teams[place] === this.team) {
        this.ids.add(this.view.ids[place]!);
      }
    }
    this.onChanged();
  }

  saveGroup(number: number): void {
    this.groups.set(number, this.list);
  }

  callGroup(number: number): void {
    this.ids.clear();
    for (const id of this.groups.get(number) ?? []) {
      if (this.view.placeOf(id) !== undefined) {
        this.ids.add(id);
      }
    }
    this.onChanged();
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

  /** Any agent near a cell, and whose it is. */
  agentAt(cell: Cell): { id: number; team: number } | undefined {
    let best: { id: number; team: number } | undefined;
    let bestDistance = CLICK_REACH + 0.01;
    for (let place = 0; place < this.view.agentCount; place++) {
      const distance = Math.hypot(this.view.xs[place]! - cell.x, this.view.ys[place]! - cell.y);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = { id: this.view.ids[place]!, team: this.view.teams[place]! };
      }
    }
    return best;
  }

  private nearest(cell: Cell): number | undefined {
    const found = this.agentAt(cell);
    return found?.team === this.team ? found.id : undefined;
  }

  /** Called every frame. */
  draw(): void {
    this.rings.clear();
    for (const id of this.ids) {
      const place = this.view.placeOf(id);
      if (place === undefined) {
        this.ids.delete(id);
        continue;
      }
      const { x, y } = this.map.agents.positionOf(this.view, place);
      this.rings.circle(x, y, 0.2 + 0.5 * this.map.agents.sideOf(this.view, place));
    }
    if (this.ids.size > 0) {
      this.rings.stroke({ width: Math.max(0.12, 1.2 / this.map.zoom), color: 0xffffff });
    }
  }
}
