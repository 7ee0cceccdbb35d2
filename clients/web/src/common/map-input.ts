// What mouse, fingers and keys mean on the map.
//
//   mouse: left button          click, or drag; middle or right button, or Space held   pan by dragging
//          right button         order here; wheel                                       zoom
//          resting at an edge   scrolls the map, where the page wants that
//   fingers: tap                a click; one finger dragged   pan, or draw where the page wants that
//          press and hold, or a tap with two fingers          order here
//          two fingers          pan and zoom
//   keys:  arrows pan, + and - zoom, Home shows all, Enter clicks the cross in the middle that keys
//          bring up

import type { Cell, MapView } from "./map-view.js";

const DOUBLE_CLICK_MS = 400;
const HOLD_MS = 450;      // a finger that rests for so long gives an order
const SLIP = 9;           // pixels that a finger may move during a tap
const EDGE = 14;          // pixels from the edge at which the map scrolls
const EDGE_WAIT_MS = 180; // so that a mouse that only passes does not scroll
const EDGE_SPEED = 0.9;   // pixels per millisecond
const KEY_STEP = 80;      // pixels

/** A press of a button of the mouse, of a finger, or of Enter. */
export interface Press {
  shiftKey: boolean;
  byKeyboard: boolean;
  byTouch: boolean;
  /** Clicks shortly after each other, this one included. */
  clicks: number;
}

export interface PointerHandlers {
  /** Left button; `drag` is given while and after it moves, from where it went down. */
  down?(cell: Cell, press: Press): void;
  drag?(from: Cell, to: Cell, press: Press): void;
  up?(from: Cell, to: Cell, press: Press): void;
  /** The drag was cancelled: a second finger went down. */
  cancel?(): void;
  /** Right button without a drag, or its equivalent by fingers. */
  command?(cell: Cell, press: Press): void;
  /** Where the mouse is; undefined: elsewhere. */
  hover?(cell: Cell | undefined): void;
  /** Whether one finger draws, as the left button does; otherwise it pans. */
  fingerDraws?(): boolean;
}

interface Finger { x: number; y: number; startX: number; startY: number }

export class MapInput {
  handlers: PointerHandlers = {};
  /** Whether a mouse that rests at an edge scrolls. */
  edgeScroll = false;
  private from: Cell | undefined; // the left button, or a finger that draws, is down
  private pan: { x: number; y: number; moved: boolean; button: number } | undefined;
  private space = false;
  private last: { time: number; x: number; y: number; clicks: number } | undefined;
  private readonly fingers = new Map<number, Finger>();
  private touch: "tap" | "pan" | "draw" | "two" | "done" = "done";
  private held: ReturnType<typeof setTimeout> | undefined;
  private mouse: { x: number; y: number; since: number } | undefined; // at an edge since

  constructor(private readonly map: MapView, canvas: HTMLCanvasElement,
              private readonly element: HTMLElement) {
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      // A pinch on a touchpad comes as a wheel with Ctrl, in small steps.
      const step = event.deltaMode === 1 ? event.deltaY * 18 : event.deltaY;
      this.map.zoomAt(event.offsetX, event.offsetY, Math.exp(-step * (event.ctrlKey ? 0.01 : 0.0015)));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      this.element.focus({ preventScroll: true });
      this.map.showCross(false);
      try {
        canvas.setPointerCapture(event.pointerId);
      } catch {
        // the pointer is gone already
      }
      if (event.pointerType === "touch") {
        this.fingerDown(event);
      } else {
        this.buttonDown(event);
      }
    });
    canvas.addEventListener("pointermove", (event) =>
      event.pointerType === "touch" ? this.fingerMove(event) : this.mouseMove(event));
    canvas.addEventListener("pointerup", (event) =>
      event.pointerType === "touch" ? this.fingerUp(event) : this.buttonUp(event));
    canvas.addEventListener("pointercancel", (event) => {
      this.fingers.delete(event.pointerId);
      this.pan = undefined;
      this.giveUp();
    });
    canvas.addEventListener("pointerleave", () => {
      this.mouse = undefined;
      this.handlers.hover?.(undefined);
    });
    element.addEventListener("keydown", (event) => this.keyDown(event));
    element.addEventListener("keyup", (event) => {
      this.space = event.key === " " ? false : this.space;
    });
    element.addEventListener("blur", () => {
      this.space = false;
    });
  }

  /** Called every frame. */
  frame(elapsedMs: number): void {
    const { mouse } = this;
    if (mouse === undefined || !this.edgeScroll || this.pan !== undefined || !document.hasFocus()) {
      return;
    }
    const { width, height } = this.map.app.screen;
    const side = (at: number, end: number): number => (at < EDGE ? 1 : at > end - EDGE ? -1 : 0);
    const [dx, dy] = [side(mouse.x, width), side(mouse.y, height)];
    if (dx === 0 && dy === 0) {
      mouse.since = performance.now();
    } else if (performance.now() - mouse.since > EDGE_WAIT_MS) {
      const way = EDGE_SPEED * Math.min(50, elapsedMs);
      this.map.pan(dx * way, dy * way);
    }
  }

  private press(event: PointerEvent): Press {
    return { shiftKey: event.shiftKey, byKeyboard: false, byTouch: event.pointerType === "touch",
             clicks: this.last?.clicks ?? 1 };
  }

  private cellOf(event: PointerEvent): Cell {
    return this.map.cellAtPixel(event.offsetX, event.offsetY);
  }

  private countClick(event: PointerEvent): void {
    const { last } = this;
    const slip = event.pointerType === "touch" ? 3 * SLIP : SLIP;
    const again = last !== undefined && event.timeStamp - last.time < DOUBLE_CLICK_MS &&
                  Math.hypot(last.x - event.offsetX, last.y - event.offsetY) < slip;
    this.last = { time: event.timeStamp, x: event.offsetX, y: event.offsetY,
                  clicks: again ? last.clicks + 1 : 1 };
  }

  private giveUp(): void {
    clearTimeout(this.held);
    if (this.from !== undefined) {
      this.from = undefined;
      this.handlers.cancel?.();
    }
  }

  // ---- mouse ------------------------------------------------------------------------------------

  private buttonDown(event: PointerEvent): void {
    if (event.button !== 0 || this.space) {
      event.preventDefault(); // the middle button would scroll
      this.pan = { x: event.clientX, y: event.clientY, moved: false, button: event.button };
    } else {
      this.from = this.cellOf(event);
      this.countClick(event);
      this.handlers.down?.(this.from, this.press(event));
    }
  }

  private mouseMove(event: PointerEvent): void {
    const { pan, from } = this;
    this.mouse = { x: event.offsetX, y: event.offsetY, since: this.mouse?.since ?? performance.now() };
    if (pan !== undefined) {
      const dx = event.clientX - pan.x;
      const dy = event.clientY - pan.y;
      if (pan.moved || Math.abs(dx) + Math.abs(dy) > 4) {
        this.pan = { ...pan, x: event.clientX, y: event.clientY, moved: true };
        this.map.pan(dx, dy);
      }
    } else if (from !== undefined) {
      this.handlers.drag?.(from, this.cellOf(event), this.press(event));
    }
    this.handlers.hover?.(this.cellOf(event));
  }

  private buttonUp(event: PointerEvent): void {
    const { pan, from } = this;
    if (pan !== undefined) {
      this.pan = undefined;
      if (!pan.moved && pan.button === 2) {
        this.handlers.command?.(this.cellOf(event), this.press(event));
      }
    } else if (from !== undefined) {
      this.from = undefined;
      this.handlers.up?.(from, this.cellOf(event), this.press(event));
    }
  }

  // ---- fingers ----------------------------------------------------------------------------------

  private fingerDown(event: PointerEvent): void {
    this.mouse = undefined;
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY,
                                        startX: event.offsetX, startY: event.offsetY });
    if (this.fingers.size === 1) {
      this.countClick(event);
      if (this.handlers.fingerDraws?.() ?? false) {
        this.touch = "draw";
        this.from = this.cellOf(event);
        this.handlers.down?.(this.from, this.press(event));
      } else {
        this.touch = "tap";
        this.held = setTimeout(() => {
          this.touch = "done";
          this.command(event);
        }, HOLD_MS);
      }
    } else if (this.fingers.size === 2) {
      this.giveUp();
      this.touch = "two";
      for (const finger of this.fingers.values()) {
        [finger.startX, finger.startY] = [finger.x, finger.y];
      }
    }
  }

  private fingerMove(event: PointerEvent): void {
    const finger = this.fingers.get(event.pointerId);
    if (finger === undefined) {
      return;
    }
    const [x, y] = [event.offsetX, event.offsetY];
    if (this.touch === "two") {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other !== undefined) {
        const before = Math.hypot(finger.x - other.x, finger.y - other.y);
        const now = Math.hypot(x - other.x, y - other.y);
        if (this.map.onTaken === undefined) { // two fingers zoom around what is kept in view
          this.map.pan((x - finger.x) / 2, (y - finger.y) / 2);
        }
        this.map.zoomAt((x + other.x) / 2, (y + other.y) / 2, now / Math.max(1, before));
      }
    } else if (this.touch === "draw") {
      this.handlers.drag?.(this.from!, this.cellOf(event), this.press(event));
    } else if (this.touch === "pan" ||
               (this.touch === "tap" && Math.hypot(x - finger.startX, y - finger.startY) > SLIP)) {
      clearTimeout(this.held);
      this.touch = "pan";
      this.map.pan(x - finger.x, y - finger.y);
    }
    [finger.x, finger.y] = [x, y];
  }

  private fingerUp(event: PointerEvent): void {
    clearTimeout(this.held);
    const finger = this.fingers.get(event.pointerId);
    if (finger === undefined) {
      return;
    }
    if (this.touch === "tap") {
      const cell = this.cellOf(event);
      this.handlers.down?.(cell, this.press(event));
      this.handlers.up?.(cell, cell, this.press(event));
    } else if (this.touch === "draw" && this.from !== undefined) {
      const { from } = this;
      this.from = undefined;
      this.handlers.up?.(from, this.cellOf(event), this.press(event));
    } else if (this.touch === "two") {
      const all = [...this.fingers.values()];
      // However long they stayed: two fingers that do not move have no other meaning.
      const still = all.every(({ x, y, startX, startY }) => Math.hypot(x - startX, y - startY) < SLIP);
      if (still && all.length === 2) {
        this.command(event, { x: (all[0]!.x + all[1]!.x) / 2, y: (all[0]!.y + all[1]!.y) / 2 });
      }
    }
    this.fingers.delete(event.pointerId);
    this.touch = "done"; // the remaining finger does nothing
  }

  private command(event: PointerEvent, at = { x: event.offsetX, y: event.offsetY }): void {
    this.last = undefined;
    navigator.vibrate?.(15);
    this.handlers.command?.(this.map.cellAtPixel(at.x, at.y), this.press(event));
  }

  // ---- keys -------------------------------------------------------------------------------------

  private keyDown(event: KeyboardEvent): void {
    const { x, y } = this.map.middlePixel;
    switch (event.key) {
      case " ": this.space = true; break;
      case "ArrowLeft": this.map.pan(KEY_STEP, 0); break;
      case "ArrowRight": this.map.pan(-KEY_STEP, 0); break;
      case "ArrowUp": this.map.pan(0, KEY_STEP); break;
      case "ArrowDown": this.map.pan(0, -KEY_STEP); break;
      case "+": case "=": this.map.zoomAt(x, y, 1.25); break;
      case "-": this.map.zoomAt(x, y, 0.8); break;
      case "Home": this.map.fit(); break;
      case "Enter": {
        const press = { shiftKey: event.shiftKey, byKeyboard: true, byTouch: false, clicks: 1 };
        this.handlers.down?.(this.map.middleCell, press);
        this.handlers.up?.(this.map.middleCell, this.map.middleCell, press);
        break;
      }
      default: return;
    }
    if (event.key !== " ") {
      this.map.showCross(true);
      this.handlers.hover?.(this.map.middleCell);
    }
    event.preventDefault();
  }
}
