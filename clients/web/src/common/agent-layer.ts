// The agents of a view: one particle each, moved between the cells of two ticks by the clock. The shape
// is the team's; the mark on it, and the size, are the movement class's.

import { Particle, ParticleContainer, Rectangle, Texture } from "pixi.js";
import type { Mirror } from "fogmarch";
import { TEAM_SHAPES, teamColour } from "./palette.js";

const SHAPE_SIZE = 64;

function drawShape(context: CanvasRenderingContext2D, shape: string): void {
  const middle = SHAPE_SIZE / 2;
  const radius = SHAPE_SIZE * 0.4;
  const polygon = (corners: number, turn: number, inner = 1): void => {
    context.beginPath();
    for (let i = 0; i < corners; i++) {
      const angle = turn + (i * 2 * Math.PI) / corners;
      const distance = i % 2 === 1 ? radius * inner : radius;
      context.lineTo(middle + distance * Math.sin(angle), middle - distance * Math.cos(angle));
    }
    context.closePath();
  };
  context.fillStyle = "#ffffff";
  context.strokeStyle = "#101010";
  context.lineWidth = 5;
  switch (shape) {
    case "square": polygon(4, Math.PI / 4); break;
    case "triangle": polygon(3, 0); break;
    case "diamond": polygon(4, 0); break;
    case "hexagon": polygon(6, 0); break;
    case "star": polygon(10, 0, 0.45); break;
    case "cross": {
      context.beginPath();
      const arm = radius * 0.42;
      for (const [x, y] of [[-arm, -radius], [arm, -radius], [arm, -arm], [radius, -arm],
                            [radius, arm], [arm, arm], [arm, radius], [-arm, radius],
                            [-arm, arm], [-radius, arm], [-radius, -arm], [-arm, -arm]]) {
        context.lineTo(middle + x!, middle + y!);
      }
      context.closePath();
      break;
    }
    default:
      context.beginPath();
      context.arc(middle, middle, radius, 0, 2 * Math.PI);
  }
  context.stroke();
  context.fill();
  if (shape === "ring") {
    context.beginPath();
    context.arc(middle, middle, radius * 0.45, 0, 2 * Math.PI);
    context.fillStyle = "#101010";
    context.fill();
  }
}

/** What tells the classes of a world apart, in their order: the first has no mark. */
export const CLASS_MARKS = [
  "plain", "a bar", "a dot", "an upright bar", "two bars", "a cross", "two upright bars", "a frame",
] as const;

function drawMark(context: CanvasRenderingContext2D, mark: (typeof CLASS_MARKS)[number]): void {
  const middle = SHAPE_SIZE / 2;
  const bar = (x: number, y: number, width: number, height: number): void =>
    context.fillRect(middle + x - width / 2, middle + y - height / 2, width, height);
  context.fillStyle = context.strokeStyle = "#101010";
  switch (mark) {
    case "plain": break;
    case "a bar": bar(0, 0, 26, 8); break;
    case "an upright bar": bar(0, 0, 8, 26); break;
    case "two bars": bar(0, -7, 22, 6); bar(0, 7, 22, 6); break;
    case "two upright bars": bar(-7, 0, 6, 22); bar(7, 0, 6, 22); break;
    case "a cross": bar(0, 0, 24, 7); bar(0, 0, 7, 24); break;
    case "a dot":
      context.beginPath();
      context.arc(middle, middle, 8, 0, 2 * Math.PI);
      context.fill();
      break;
    case "a frame":
      context.lineWidth = 5;
      context.strokeRect(middle - 9, middle - 9, 18, 18);
      break;
  }
}

// Shapes side by side, marks below each other; the texture of a shape with a mark is at
// mark * TEAM_SHAPES.length + shape.
function makeShapes(): Texture[] {
  const canvas = document.createElement("canvas");
  canvas.width = SHAPE_SIZE * TEAM_SHAPES.length;
  canvas.height = SHAPE_SIZE * CLASS_MARKS.length;
  const context = canvas.getContext("2d")!;
  const frames: Rectangle[] = [];
  CLASS_MARKS.forEach((mark, row) => TEAM_SHAPES.forEach((shape, column) => {
    const frame = new Rectangle(column * SHAPE_SIZE, row * SHAPE_SIZE, SHAPE_SIZE, SHAPE_SIZE);
    context.save();
    context.translate(frame.x, frame.y);
    drawShape(context, shape);
    drawMark(context, mark);
    context.restore();
    frames.push(frame);
  }));
  const { source } = Texture.from(canvas);
  return frames.map((frame) => new Texture({ source, frame }));
}

export class AgentLayer {
  readonly container: ParticleContainer;
  private readonly shapes = makeShapes();
  private readonly pool: Particle[] = [];
  private arrivedAt = 0;
  private interval = 100;
  private settled = true;
  private size = 1.15; // of an agent of one cell, in cells
  private sides: readonly number[] = []; // cells of each movement class; 1 where it is not known

  constructor() {
    this.container = new ParticleContainer({
      dynamicProperties: { position: true, color: false, uvs: false, vertex: false, rotation: false },
      texture: this.shapes[0]!,
    });
  }

  /** Cells from side to side of each movement class, in the order of the world's rules. */
  setClassSides(sides: readonly number[]): void {
    this.sides = sides;
  }

  /** Cells from side to side of an agent. */
  sideOf(view: Mirror, place: number): number {
    return this.sides[view.classes[place]!] ?? 1;
  }

  /** A message came: its agents are drawn on their way to where they are now. */
  take(view: Mirror, interval: number): void {
    this.arrivedAt = performance.now();
    this.interval = interval;
    this.settled = false;
    const children = this.container.particleChildren;
    for (let place = 0; place < view.agentCount; place++) {
      let particle = this.pool[place];
      if (particle === undefined) {
        particle = new Particle({ texture: this.shapes[0]!, anchorX: 0.5, anchorY: 0.5 });
        this.pool.push(particle);
      }
      const team = view.teams[place]!;
      particle.texture = this.shapes[(view.classes[place]! & 7) * TEAM_SHAPES.length + ((team - 1) & 7)]!;
      particle.tint = teamColour(team);
      particle.scaleX = particle.scaleY = (this.size * this.sideOf(view, place)) / SHAPE_SIZE;
      children[place] = particle;
    }
    children.length = view.agentCount;
    this.container.update();
    this.move(view);
  }

  /** Pixels per cell: from far away agents are drawn larger than a cell. */
  setZoom(zoom: number): void {
    const size = Math.max(1.15, 5 / zoom);
    if (size !== this.size) {
      const factor = size / this.size;
      this.size = size;
      for (const particle of this.pool) {
        particle.scaleX = particle.scaleY = particle.scaleX * factor;
      }
      this.container.update();
    }
  }

  /** Where an agent is drawn now. */
  positionOf(view: Mirror, place: number): { x: number; y: number } {
    const t = this.share();
    const half = this.sideOf(view, place) / 2;
    return {
      x: view.previousXs[place]! + (view.xs[place]! - view.previousXs[place]!) * t + half,
      y: view.previousYs[place]! + (view.ys[place]! - view.previousYs[place]!) * t + half,
    };
  }

  /** Called every frame. */
  move(view: Mirror): void {
    if (this.settled) {
      return;
    }
    const t = this.share();
    const children = this.container.particleChildren as Particle[];
    const { xs, ys, previousXs, previousYs, classes } = view;
    const { sides } = this;
    for (let place = 0; place < children.length; place++) {
      const particle = children[place]!;
      const fromX = previousXs[place]!;
      const fromY = previousYs[place]!;
      const half = (sides[classes[place]!] ?? 1) / 2;
      particle.x = fromX + (xs[place]! - fromX) * t + half;
      particle.y = fromY + (ys[place]! - fromY) * t + half;
    }
    this.settled = t >= 1;
  }

  private share(): number {
    return Math.min(1, (performance.now() - this.arrivedAt) / this.interval);
  }
}
