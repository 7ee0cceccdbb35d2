// The agents of a view, two particles each: a plate with the team's shape and colour, and a figure of
// the movement class that faces where the agent goes.
//
// Messages come with the ticks, frames far more often. An agent glides from where it is drawn to its
// new cell in about the time that its last steps took. So an agent that steps every third tick does not
// stop between its steps, and uneven arrival of messages is not visible. Beyond a few cells it jumps.
// Where the view says which way an agent goes (`motion`), it is drawn on the straight lines of its
// waypoints, and faces the direction of its last step.

import { Container, Particle, ParticleContainer } from "pixi.js";
import type { Mirror, Motion } from "fogmarch";
import { TEAM_SHAPES, teamColour } from "./palette.js";
import { hasRoom, straighten, type Point } from "./straighten.js";
import { CLASS_FIGURES, makeUnitSprites, SPRITE_SIZE } from "./unit-sprites.js";

const JUMP = 4;            // cells; beyond that an agent jumps
const SLACK = 1.08;        // a glide takes a little longer than a step, so that it does not end early
const STEP_TICKS_MAX = 8;  // a step that took longer than so many ticks says nothing about the next one
const TURN_PER_MS = 0.014; // radians
const FIGURE_PIXELS = 9;   // a unit smaller than that is a plate alone
const HEADINGS = 8;        // of a motion; larger numbers mean unknown
const AT_WAYPOINT = 0.01;  // cells

/** Where agents are drawn, by the low 32 bits of their ids. */
class Glides {
  ids = new Float64Array(0);
  cellX = new Uint16Array(0); // where the agent stands
  cellY = new Uint16Array(0);
  turnX = new Float32Array(0); // the middle of its next waypoint
  turnY = new Float32Array(0);
  toX = new Float32Array(0); // where its glide ends: its north-west corner
  toY = new Float32Array(0);
  fromX = new Float32Array(0);
  fromY = new Float32Array(0);
  start = new Float64Array(0);
  span = new Float32Array(0);
  angle = new Float32Array(0);
  heading = new Float32Array(0);

  reserve(slot: number): void {
    if (slot < this.ids.length) {
      return;
    }
    const size = Math.max(1024, 2 * slot);
    const grown = <A extends { set(from: A): void }>(to: A, from: A): A => {
      to.set(from);
      return to;
    };
    this.ids = grown(new Float64Array(size), this.ids);
    this.cellX = grown(new Uint16Array(size), this.cellX);
    this.cellY = grown(new Uint16Array(size), this.cellY);
    this.turnX = grown(new Float32Array(size), this.turnX);
    this.turnY = grown(new Float32Array(size), this.turnY);
    this.toX = grown(new Float32Array(size), this.toX);
    this.toY = grown(new Float32Array(size), this.toY);
    this.fromX = grown(new Float32Array(size), this.fromX);
    this.fromY = grown(new Float32Array(size), this.fromY);
    this.start = grown(new Float64Array(size), this.start);
    this.span = grown(new Float32Array(size), this.span);
    this.angle = grown(new Float32Array(size), this.angle);
    this.heading = grown(new Float32Array(size), this.heading);
  }
}

// The heading as an angle; undefined: unknown.
function headingOf(motion: Motion | undefined): number | undefined {
  return motion === undefined || motion.heading >= HEADINGS ? undefined : motion.heading * Math.PI / 4;
}

function slotOf(id: number): number {
  return id % 0x100000000;
}

export class AgentLayer {
  readonly container = new Container();
  private readonly units: ParticleContainer;
  private readonly rings: ParticleContainer;
  private readonly sprites = makeUnitSprites();
  private readonly plates: Particle[] = [];
  private readonly figures: Particle[] = [];
  private readonly ringPool: Particle[] = [];
  private readonly glides = new Glides();
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");
  private selected: ReadonlySet<number> = new Set();
  private now = performance.now();
  private settled = true;
  private size = 1.15; // of an agent of one cell, in cells
  private figureSize = 1;
  private sides: readonly number[] = []; // cells of each movement class; 1 where unknown

  constructor() {
    const dynamicProperties = { position: true, color: false, uvs: false, vertex: false, rotation: true };
    this.units = new ParticleContainer({ dynamicProperties, texture: this.sprites.ring });
    this.rings = new ParticleContainer({
      dynamicProperties: { ...dynamicProperties, rotation: false }, texture: this.sprites.ring,
    });
    this.container.addChild(this.rings, this.units);
  }

  /** Cells from side to side of each movement class, in the order of the world's rules. */
  setClassSides(sides: readonly number[]): void {
    this.sides = sides;
  }

  /** Cells from side to side of an agent. */
  sideOf(view: Mirror, place: number): number {
    return this.sides[view.classes[place]!] ?? 1;
  }

  /** Agents with rings around them; read in each frame. */
  select(ids: ReadonlySet<number>): void {
    this.selected = ids;
  }

  /** A message came, `interval` milliseconds after the one before: agents start towards their cells. */
  take(view: Mirror, interval: number): void {
    this.now = performance.now();
    this.settled = false;
    const children = this.units.particleChildren as Particle[];
    for (let place = 0; place < view.agentCount; place++) {
      this.setOut(view, place, interval);
      const kind = view.classes[place]!;
      const team = view.teams[place]!;
      const plate = this.plates[place] ?? this.makeUnit(place);
      const figure = this.figures[place]!;
      plate.texture = this.sprites.plates[(team - 1) % TEAM_SHAPES.length] ?? this.sprites.plates[0]!;
      plate.tint = teamColour(team);
      plate.scaleX = plate.scaleY = (this.size * this.sideOf(view, place)) / SPRITE_SIZE;
      figure.texture = this.sprites.figures[kind % CLASS_FIGURES.length]!;
      figure.scaleX = figure.scaleY = plate.scaleX * this.figureSize;
      children[2 * place] = plate;
      children[2 * place + 1] = figure;
    }
    children.length = 2 * view.agentCount;
    this.units.update();
    this.move(view);
  }

  /** Pixels per cell: from far away agents are drawn larger than a cell. */
  setZoom(zoom: number): void {
    const size = Math.max(1.15, 5 / zoom);
    const figureSize = size * zoom < FIGURE_PIXELS ? 0 : 1;
    if (size === this.size && figureSize === this.figureSize) {
      return;
    }
    const factor = size / this.size;
    this.size = size;
    this.figureSize = figureSize;
    this.plates.forEach((plate, i) => {
      const figure = this.figures[i]!;
      plate.scaleX = plate.scaleY = plate.scaleX * factor;
      figure.scaleX = figure.scaleY = plate.scaleX * figureSize;
    });
    this.units.update();
  }

  /** Where an agent is drawn now: its middle, in cells. */
  positionOf(view: Mirror, place: number): { x: number; y: number } {
    const slot = slotOf(view.ids[place]!);
    const half = this.sideOf(view, place) / 2;
    const { toX, toY, fromX, fromY } = this.glides;
    if (slot >= toX.length) {
      return { x: view.xs[place]! + half, y: view.ys[place]! + half };
    }
    const t = this.shareOf(slot, performance.now());
    return { x: fromX[slot]! + (toX[slot]! - fromX[slot]!) * t + half,
             y: fromY[slot]! + (toY[slot]! - fromY[slot]!) * t + half };
  }

  /** Called every frame. */
  move(view: Mirror): void {
    const now = performance.now();
    const elapsed = now - this.now;
    this.now = now;
    if (!this.settled) {
      this.moveUnits(view, now, this.calm.matches ? 10 : elapsed * TURN_PER_MS);
    }
    if (this.selected.size > 0 || this.rings.particleChildren.length > 0) {
      this.moveRings(view, now);
    }
  }

  private moveUnits(view: Mirror, now: number, turnMost: number): void {
    const { ids, classes, agentCount } = view;
    const { toX, toY, fromX, fromY, angle, heading } = this.glides;
    const { sides, plates, figures } = this;
    let moving = false;
    for (let place = 0; place < agentCount; place++) {
      const slot = slotOf(ids[place]!);
      const t = this.shareOf(slot, now);
      const half = (sides[classes[place]!] ?? 1) / 2;
      const figure = figures[place]!;
      const plate = plates[place]!;
      figure.x = plate.x = fromX[slot]! + (toX[slot]! - fromX[slot]!) * t + half;
      figure.y = plate.y = fromY[slot]! + (toY[slot]! - fromY[slot]!) * t + half;
      let turn = heading[slot]! - angle[slot]!;
      if (turn !== 0) {
        turn -= 2 * Math.PI * Math.round(turn / (2 * Math.PI));
        angle[slot] = Math.abs(turn) <= turnMost ? heading[slot]!
          : angle[slot]! + Math.sign(turn) * turnMost;
        moving = true;
      }
      figure.rotation = angle[slot]!;
      moving = moving || t < 1;
    }
    this.settled = !moving;
  }

  private moveRings(view: Mirror, now: number): void {
    const children = this.rings.particleChildren as Particle[];
    let isStale = false;
    const { toX, toY, fromX, fromY } = this.glides;
    let count = 0;
    for (const id of this.selected) {
      const place = view.placeOf(id);
      if (place === undefined) {
        continue;
      }
      const ring = this.ringPool[count] ?? this.makeRing();
      const slot = slotOf(id);
      const t = this.shareOf(slot, now);
      const side = this.sideOf(view, place);
      ring.x = fromX[slot]! + (toX[slot]! - fromX[slot]!) * t + side / 2;
      ring.y = fromY[slot]! + (toY[slot]! - fromY[slot]!) * t + side / 2;
      const scale = (this.size * (side + 0.42)) / SPRITE_SIZE;
      if (ring.scaleX !== scale) {
        ring.scaleX = ring.scaleY = scale;
        isStale = true;
      }
      isStale = isStale || children[count] !== ring;
      children[count++] = ring;
    }
    isStale = isStale || children.length !== count;
    children.length = count;
    if (isStale) {
      this.rings.update();
    }
  }

  // Starts a glide from where the agent is drawn now, to its cell or to where it is drawn instead.
  private setOut(view: Mirror, place: number, interval: number): void {
    const id = view.ids[place]!;
    const slot = slotOf(id);
    const { glides, now } = this;
    glides.reserve(slot);
    const [x, y] = [view.xs[place]!, view.ys[place]!];
    const motion = view.motions.get(id);
    const [turnX, turnY] = motion?.waypoints ?? [];
    const isNew = glides.ids[slot] !== id;
    if (isNew) {
      glides.ids[slot] = id;
      glides.span[slot] = interval;
      glides.angle[slot] = glides.heading[slot] = headingOf(motion) ?? Math.PI / 2;
    } else if (glides.cellX[slot] === x && glides.cellY[slot] === y &&
               (turnX !== undefined || (glides.toX[slot] === x && glides.toY[slot] === y))) {
      return;
    }
    const t = this.shareOf(slot, now);
    const at = isNew ? { x, y } : {
      x: glides.fromX[slot]! + (glides.toX[slot]! - glides.fromX[slot]!) * t,
      y: glides.fromY[slot]! + (glides.toY[slot]! - glides.fromY[slot]!) * t,
    };
    const to = isNew || turnX === undefined || turnY === undefined ? { x, y }
      : this.onTheLine(view, place, at, { x: turnX, y: turnY });
    const [stepX, stepY] = [x - glides.cellX[slot]!, y - glides.cellY[slot]!];
    if (!isNew && turnX !== undefined && (to.x !== at.x || to.y !== at.y)) {
      glides.heading[slot] = Math.atan2(to.y - at.y, to.x - at.x);
    } else if (!isNew && (stepX !== 0 || stepY !== 0)) {
      glides.heading[slot] = headingOf(motion) ?? Math.atan2(stepY, stepX);
    }
    const jumps = isNew || Math.max(Math.abs(to.x - at.x), Math.abs(to.y - at.y)) > JUMP;
    if (!jumps) {
      const took = now - glides.start[slot]!;
      const span = took > STEP_TICKS_MAX * interval ? interval
        : Math.max(interval * 0.7, 0.5 * (glides.span[slot]! / SLACK + took));
      glides.span[slot] = span * SLACK;
    }
    glides.start[slot] = isNew ? 0 : now;
    glides.fromX[slot] = jumps ? to.x : at.x;
    glides.fromY[slot] = jumps ? to.y : at.y;
    glides.toX[slot] = to.x;
    glides.toY[slot] = to.y;
    glides.cellX[slot] = x;
    glides.cellY[slot] = y;
    glides.turnX[slot] = turnX ?? x;
    glides.turnY[slot] = turnY ?? y;
  }

  // Where an agent with a waypoint is drawn next; it is drawn at `at` now; both are corners. At a waypoint
  // it is drawn where it stands: there may be a wall on the inner side of the turn.
  private onTheLine(view: Mirror, place: number, at: Point, turn: Point): Point {
    const side = this.sideOf(view, place);
    const half = side / 2;
    const { turnX, turnY } = this.glides;
    const slot = slotOf(view.ids[place]!);
    const cell = { x: view.xs[place]!, y: view.ys[place]! };
    const stands = { x: cell.x + half, y: cell.y + half };
    const isAtTurn = Math.hypot(stands.x - turnX[slot]!, stands.y - turnY[slot]!) < AT_WAYPOINT;
    if (isAtTurn || Math.hypot(cell.x - at.x, cell.y - at.y) > JUMP) {
      return cell;
    }
    const to = straighten({ x: at.x + half, y: at.y + half }, stands, turn);
    return hasRoom(view, to, stands, side) ? { x: to.x - half, y: to.y - half } : cell;
  }

  private shareOf(slot: number, now: number): number {
    return Math.min(1, (now - this.glides.start[slot]!) / this.glides.span[slot]!);
  }

  private makeUnit(place: number): Particle {
    const make = (): Particle =>
      new Particle({ texture: this.sprites.plates[0]!, anchorX: 0.5, anchorY: 0.5 });
    this.figures[place] = make();
    return (this.plates[place] = make());
  }

  private makeRing(): Particle {
    const ring = new Particle({ texture: this.sprites.ring, anchorX: 0.5, anchorY: 0.5 });
    this.ringPool.push(ring);
    return ring;
  }
}
