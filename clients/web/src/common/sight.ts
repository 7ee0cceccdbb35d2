// Which cells a team sees now, worked out from where its units stand and from the world's rules: the
// server tells what a team knows, and what it sees follows from that. A cell is seen when it lies in
// the shape around a cell of a unit; with line of sight, when the cell before it on the straight line
// is seen and does not block (core/map/line_of_sight.c).

import type { Mirror, Results } from "fogmarch";

const GROUND = 1;

interface Ray {
  dx: number;
  dy: number;
  /** The ray of the cell before it. */
  parent: number;
}

function halfWidth(shape: string, radius: number, dy: number): number {
  switch (shape) {
    case "diamond": return radius - dy;
    case "disc": return Math.floor(Math.sqrt(radius * (radius + 1) - dy * dy));
    default: return radius;
  }
}

// To the nearest, halves away from zero.
function rounded(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}

// Ring by ring, so that parents come first.
function listRays(shape: string, radius: number): Ray[] {
  const rays: Ray[] = [];
  const places = new Map<string, number>();
  for (let ring = 0; ring <= radius; ring++) {
    for (let dy = -ring; dy <= ring; dy++) {
      const reach = halfWidth(shape, radius, Math.abs(dy));
      for (let dx = -ring; dx <= ring; dx++) {
        if (Math.max(Math.abs(dx), Math.abs(dy)) !== ring || Math.abs(dx) > reach) {
          continue;
        }
        const share = ring === 0 ? 0 : (ring - 1) / ring;
        places.set(`${dx},${dy}`, rays.length);
        const parent = places.get(`${rounded(dx * share) + 0},${rounded(dy * share) + 0}`) ?? 0;
        rays.push({ dx, dy, parent });
      }
    }
  }
  return rays;
}

export class Sight {
  /** 1 for each cell of the view that is seen. */
  visible = new Uint8Array(0);
  private readonly radius: number;
  private readonly shape: string;
  private readonly rays: Ray[] | undefined; // with line of sight
  private readonly all: boolean;
  private readonly passes: Uint8Array;
  private before = "";

  constructor(private readonly view: Mirror, private readonly team: number, rules: Results["world.info"]["rules"],
              private readonly sideOf: (place: number) => number) {
    this.radius = Number(rules["sense_radius"] ?? 0);
    this.shape = String(rules["sense_shape"] ?? "square");
    this.all = Boolean(rules["omniscient"]);
    this.rays = rules["line_of_sight"] ? listRays(this.shape, this.radius) : undefined;
    this.passes = new Uint8Array(this.rays?.length ?? 0);
  }

  /** A message came, in which cells may have changed; returns whether others are seen than before. */
  look(cellsChanged: boolean): boolean {
    const [left, top, width, height] = this.view.rect;
    const eyes = this.eyes();
    const before = eyes.join();
    if (before === this.before && !(cellsChanged && this.rays !== undefined) &&
        this.visible.length === width * height) {
      return false;
    }
    this.before = before;
    if (this.visible.length !== width * height) {
      this.visible = new Uint8Array(width * height);
    }
    this.visible.fill(this.all ? 1 : 0);
    for (let i = 0; i + 1 < eyes.length && !this.all; i += 2) {
      if (this.rays === undefined) {
        this.lookAround(eyes[i]! - left, eyes[i + 1]! - top, width, height);
      } else {
        this.lookAlong(this.rays, eyes[i]!, eyes[i + 1]!);
      }
    }
    return true;
  }

  // All cells that the team's units cover.
  private eyes(): number[] {
    const eyes: number[] = [];
    for (let place = 0; place < this.view.agentCount; place++) {
      if (this.view.teams[place] === this.team) {
        const side = this.sideOf(place);
        for (let i = 0; i < side * side; i++) {
          eyes.push(this.view.xs[place]! + (i % side), this.view.ys[place]! + Math.floor(i / side));
        }
      }
    }
    return eyes;
  }

  private lookAround(x: number, y: number, width: number, height: number): void {
    for (let dy = -this.radius; dy <= this.radius; dy++) {
      if (y + dy >= 0 && y + dy < height) {
        const reach = halfWidth(this.shape, this.radius, Math.abs(dy));
        const row = (y + dy) * width;
        this.visible.fill(1, row + Math.max(0, x - reach), row + Math.min(width, x + reach + 1));
      }
    }
  }

  private lookAlong(rays: readonly Ray[], x: number, y: number): void {
    const [left, top, width, height] = this.view.rect;
    const { passes } = this;
    rays.forEach(({ dx, dy, parent }, i) => {
      const [column, row] = [x + dx - left, y + dy - top];
      const isInside = column >= 0 && row >= 0 && column < width && row < height;
      const seen = isInside && (i === 0 || passes[parent] === 1);
      passes[i] = 0;
      if (seen) {
        const at = row * width + column;
        this.visible[at] = 1;
        passes[i] = i === 0 || (this.view.looks[at]! & 15) === GROUND ? 1 : 0;
      }
    });
  }
}
