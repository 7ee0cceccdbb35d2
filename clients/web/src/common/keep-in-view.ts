// Keeps something in the middle of the map while it moves. The map goes as fast as that, and is drawn to it
// like a weight on a spring that does not swing (critically damped). So it neither lags behind nor jumps: not
// when this starts, and not when a unit dies or is put elsewhere. It ends when anything else moves the map;
// zooming does not end it, and then goes around the middle.

import type { Cell, MapView } from "./map-view.js";

const STIFF = 0.009;      // of the spring, per millisecond: after half a second it is there
const FRAME_MS_MAX = 100; // a longer frame counts as this long, and the map does not leap after a pause
const STILL = 0.25;       // pixels from the middle at which the map stays
const PACE_MS = 150;      // over which the pace of the target is smoothed
const LEAP = 3;           // cells in a frame; what goes farther was put there, and is glided to

/** Where it is drawn now, in cells. */
export interface Target extends Cell {
  /** A number that changes when it is made of other agents. */
  of: number;
}

export class KeepInView {
  private on = false;
  private speed: Cell = { x: 0, y: 0 }; // of the map, cells per millisecond
  private pace: Cell = { x: 0, y: 0 };  // of the target
  private before: Target | undefined;
  private last = 0;
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");

  /** `target`: undefined where there is nothing. `onToggled`: called when this starts and ends. */
  constructor(private readonly map: MapView, private readonly target: () => Target | undefined,
              private readonly onToggled: (isOn: boolean) => void) {}

  get isOn(): boolean {
    return this.on;
  }

  start(): void {
    this.on = true;
    this.speed = this.pace = { x: 0, y: 0 };
    this.before = undefined;
    this.last = performance.now();
    this.map.onTaken = () => this.end();
    this.onToggled(true);
  }

  end(): void {
    if (this.on) {
      this.on = false;
      this.map.onTaken = undefined;
      this.onToggled(false);
    }
  }

  toggle(): void {
    if (this.on) {
      this.end();
    } else {
      this.start();
    }
  }

  /** Called every frame. */
  frame(): void {
    const now = performance.now();
    const since = now - this.last;
    const elapsed = Math.min(FRAME_MS_MAX, since);
    this.last = now;
    const to = this.on ? this.target() : undefined;
    if (to === undefined) {
      this.before = undefined;
      return;
    }
    this.takePace(to, since);
    const { middle, zoom } = this.map;
    const off = Math.hypot(to.x - middle.x, to.y - middle.y) * zoom;
    if (off < STILL && Math.hypot(this.speed.x, this.speed.y) * elapsed * zoom < STILL) {
      return;
    }
    if (this.calm.matches) {
      this.map.moveTo(to);
      return;
    }
    const { pace } = this;
    const x = swing(middle.x - to.x + pace.x * elapsed, this.speed.x - pace.x, elapsed);
    const y = swing(middle.y - to.y + pace.y * elapsed, this.speed.y - pace.y, elapsed);
    this.map.moveTo({ x: to.x + x.off, y: to.y + y.off });
    this.speed = { x: pace.x + x.speed, y: pace.y + y.speed };
  }

  private takePace(to: Target, since: number): void {
    const { before, pace } = this;
    this.before = to;
    if (before === undefined || before.of !== to.of || since === 0 ||
        Math.hypot(to.x - before.x, to.y - before.y) > LEAP) {
      return;
    }
    const share = 1 - Math.exp(-since / PACE_MS);
    this.pace = { x: pace.x + ((to.x - before.x) / since - pace.x) * share,
                  y: pace.y + ((to.y - before.y) / since - pace.y) * share };
  }
}

// How far off the middle is after some milliseconds, and how fast that changes: the exact solution, for frames of any
// length.
function swing(off: number, speed: number, elapsed: number): { off: number; speed: number } {
  const drive = speed + STIFF * off;
  const decay = Math.exp(-STIFF * elapsed);
  return { off: (off + drive * elapsed) * decay, speed: (speed - STIFF * drive * elapsed) * decay };
}
