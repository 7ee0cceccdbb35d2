// The agents of a view: one particle each, moved between the cells of two ticks by the clock.

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

function makeShapes(): Texture[] {
  const canvas = document.createElement("canvas");
  canvas.width = SHAPE_SIZE * TEAM_SHAPES.length;
  canvas.height = SHAPE_SIZE;
  const context = canvas.getContext("2d")!;
  TEAM_SHAPES.forEach((shape, i) => {
    context.save();
    context.translate(i * SHAPE_SIZE, 0);
    drawShape(context, shape);
    context.restore();
  });
  const { source } = Texture.from(canvas);
  return TEAM_SHAPES.map(
    (_, i) => new Texture({ source, frame: new Rectangle(i * SHAPE_SIZE, 0, SHAPE_SIZE, SHAPE_SIZE) }),
  );
}

export class AgentLayer {
  readonly container: ParticleContainer;
  private readonly shapes = makeShapes();
  private readonly pool: Particle[] = [];
  private arrivedAt = 0;
  private interval = 100;
  private settled = true;
  private size = 1.15; // cells

  constructor() {
    this.container = new ParticleContainer({
      dynamicProperties: { position: true, color: false, uvs: false, vertex: false, rotation: false },
      texture: this.shapes[0]!,
    });
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
      particle.texture = this.shapes[(team - 1) & 7]!;
      particle.tint = teamColour(team);
      particle.scaleX = particle.scaleY = this.size / SHAPE_SIZE;
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
      this.size = size;
      for (const particle of this.pool) {
        particle.scaleX = particle.scaleY = size / SHAPE_SIZE;
      }
      this.container.update();
    }
  }

  /** Where an agent is drawn now. */
  positionOf(view: Mirror, place: number): { x: number; y: number } {
    const t = this.share();
    return {
      x: view.previousXs[place]! + (view.xs[place]! - view.previousXs[place]!) * t + 0.5,
      y: view.previousYs[place]! + (view.ys[place]! - view.previousYs[place]!) * t + 0.5,
    };
  }

  /** Called every frame. */
  move(view: Mirror): void {
    if (this.settled) {
      return;
    }
    const t = this.share();
    const children = this.container.particleChildren as Particle[];
    const { xs, ys, previousXs, previousYs } = view;
    for (let place = 0; place < children.length; place++) {
      const particle = children[place]!;
      const fromX = previousXs[place]!;
      const fromY = previousYs[place]!;
      particle.x = fromX + (xs[place]! - fromX) * t + 0.5;
      particle.y = fromY + (ys[place]! - fromY) * t + 0.5;
    }
    this.settled = t >= 1;
  }

  private share(): number {
    return Math.min(1, (performance.now() - this.arrivedAt) / this.interval);
  }
}
