// The map: terrain, agents, overlays; pan, zoom, and what the mouse and the keys mean.
//
//   drag with the middle or the right button, or with Space held; arrow keys   pan
//   wheel, + and -                                                           zoom
//   Home                                                                     everything
//   Enter                                       a click on the cross in the middle, which keys bring up
//
// All layers lie in one container whose unit is a cell.

import "pixi.js/unsafe-eval";
import { Application, Container, Graphics } from "pixi.js";
import type { Mirror } from "fogmarch";
import { showProblem } from "./dom.js";
import { AgentLayer } from "./agent-layer.js";
import { TerrainLayer } from "./terrain-layer.js";

const ZOOM_MIN = 0.25; // pixels per cell
const ZOOM_MAX = 96;
const DOUBLE_CLICK_MS = 400;

export interface Cell {
  x: number;
  y: number;
}

/** A press of a button of the mouse, or of Enter. */
export interface Press {
  shiftKey: boolean;
  byKeyboard: boolean;
  /** Clicks shortly after each other, this one included. */
  clicks: number;
}

export interface PointerHandlers {
  /** Left button; `drag` is given while and after it moves, from where it went down. */
  down?(cell: Cell, press: Press): void;
  drag?(from: Cell, to: Cell, press: Press): void;
  up?(from: Cell, to: Cell, press: Press): void;
  /** Right button without a drag. */
  command?(cell: Cell, press: Press): void;
}

export class MapView {
  readonly terrain = new TerrainLayer();
  readonly agents = new AgentLayer();
  /** What a team sees of the agents, above all agents. */
  readonly seen = new AgentLayer();
  /** Between terrain and agents. */
  readonly under = new Container();
  /** Above the agents. */
  readonly over = new Container();
  readonly world = new Container();
  readonly marks = new Graphics();
  private readonly cross = new Graphics();
  handlers: PointerHandlers = {};
  /** Called after each pan and zoom. */
  onMoved: () => void = () => {};
  /** Called every frame, before drawing. */
  onFrame: () => void = () => {};
  frames = 0;
  private view: Mirror | undefined;
  private seenView: Mirror | undefined;

  private constructor(
    readonly app: Application,
    private readonly element: HTMLElement,
  ) {
    this.world.addChild(this.terrain.sprite, this.under, this.agents.container,
                        this.seen.container, this.over);
    this.over.addChild(this.marks);
    this.cross.visible = false;
    app.stage.addChild(this.world, this.cross);
    app.ticker.add(() => {
      if (this.view !== undefined) {
        this.agents.move(this.view);
      }
      if (this.seenView !== undefined) {
        this.seen.move(this.seenView);
      }
      this.agents.setZoom(this.zoom);
      this.seen.setZoom(this.zoom);
      this.onFrame();
      this.frames++;
    });
    this.listen();
  }

  static async create(element: HTMLElement): Promise<MapView> {
    const app = new Application();
    try {
      await app.init({
        background: 0x0c0d10,
        resizeTo: element,
        autoDensity: true,
        resolution: Math.min(2, devicePixelRatio),
        preference: ["webgl"],
        preserveDrawingBuffer: true,
      });
    } catch (error) {
      console.warn(error);
      throw new Error("This browser cannot draw the map: it needs WebGL, which is off or missing here.");
    }
    app.canvas.addEventListener("webglcontextlost", () => {
      showProblem("The browser took the graphics card away from the map; it comes back by itself, or reload.");
    });
    app.canvas.addEventListener("webglcontextrestored", () => showProblem(""));
    app.canvas.dataset["role"] = "map";
    element.append(app.canvas);
    new ResizeObserver(() => app.resize()).observe(element);
    return new MapView(app, element);
  }

  /** Shows another view; undefined: none. */
  show(view: Mirror | undefined): void {
    const isFirst = this.view === undefined;
    this.view = view;
    if (view !== undefined && isFirst && view.rect[2] > 0) {
      this.fit();
    }
  }

  /** What a team sees, drawn above the rest, which is dimmed; undefined: nothing dims it. */
  showSeen(view: Mirror | undefined): void {
    this.seenView = view;
    this.seen.container.visible = view !== undefined;
    this.agents.container.alpha = view === undefined ? 1 : 0.3;
  }

  /** The whole map in sight. */
  fit(): void {
    if (this.view === undefined) {
      return;
    }
    const [left, top, width, height] = this.view.rect;
    const { width: screenWidth, height: screenHeight } = this.app.screen;
    const zoom = Math.min(screenWidth / width, screenHeight / height) * 0.98;
    this.world.scale.set(zoom);
    this.centre({ x: left + width / 2, y: top + height / 2 });
  }

  /** Cells of the map that is shown. */
  get mapSize(): { width: number; height: number } | undefined {
    return this.view === undefined || this.view.rect[2] === 0
      ? undefined : { width: this.view.rect[2], height: this.view.rect[3] };
  }

  get zoom(): number {
    return this.world.scale.x;
  }

  /** Middle of the screen, in cells. */
  get middle(): Cell {
    const { width, height } = this.app.screen;
    return this.cellAtPixel(width / 2, height / 2, false);
  }

  /** Cells in sight. */
  get bounds(): { x: number; y: number; width: number; height: number } {
    const from = this.cellAtPixel(0, 0, false);
    const { width, height } = this.app.screen;
    return { x: from.x, y: from.y, width: width / this.zoom, height: height / this.zoom };
  }

  centre(cell: Cell, zoom = this.zoom): void {
    this.world.scale.set(Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, zoom)));
    const { width, height } = this.app.screen;
    this.world.position.set(width / 2 - cell.x * this.zoom, height / 2 - cell.y * this.zoom);
    this.onMoved();
  }

  pan(dx: number, dy: number): void {
    this.world.position.set(this.world.position.x + dx, this.world.position.y + dy);
    this.onMoved();
  }

  zoomAt(x: number, y: number, factor: number): void {
    const zoom = Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, this.zoom * factor));
    const cell = this.cellAtPixel(x, y, false);
    this.world.scale.set(zoom);
    this.world.position.set(x - cell.x * zoom, y - cell.y * zoom);
    this.onMoved();
  }

  /** Pixel of the canvas to cell. */
  cellAtPixel(x: number, y: number, whole = true): Cell {
    const cell = {
      x: (x - this.world.position.x) / this.zoom,
      y: (y - this.world.position.y) / this.zoom,
    };
    return whole ? { x: Math.floor(cell.x), y: Math.floor(cell.y) } : cell;
  }

  /** Middle of a cell to pixel of the canvas. */
  pixelOfCell(cell: Cell): { x: number; y: number } {
    return {
      x: (cell.x + 0.5) * this.zoom + this.world.position.x,
      y: (cell.y + 0.5) * this.zoom + this.world.position.y,
    };
  }

  /** The cell in the middle of the screen, where keys act. */
  get middleCell(): Cell {
    const { x, y } = this.middle;
    return { x: Math.floor(x), y: Math.floor(y) };
  }

  // Keys are in use: the cell that they mean is marked.
  private showCross(visible: boolean): void {
    this.cross.visible = visible;
    if (visible) {
      const { width, height } = this.app.screen;
      const [x, y] = [width / 2, height / 2];
      for (const [lineWidth, color] of [[5, 0x000000], [2, 0xffffff]] as const) {
        if (lineWidth === 5) {
          this.cross.clear();
        }
        this.cross.moveTo(x - 14, y).lineTo(x - 4, y).moveTo(x + 4, y).lineTo(x + 14, y)
          .moveTo(x, y - 14).lineTo(x, y - 4).moveTo(x, y + 4).lineTo(x, y + 14)
          .stroke({ width: lineWidth, color });
      }
    }
  }

  private cellOf(event: PointerEvent): Cell {
    return this.cellAtPixel(event.offsetX, event.offsetY);
  }

  private listen(): void {
    const canvas = this.app.canvas;
    let from: Cell | undefined; // left button is down
    let pan: { x: number; y: number; moved: boolean; button: number } | undefined;
    let space = false;
    let last: { time: number; cell: Cell; clicks: number } | undefined;
    const pressOf = (event: PointerEvent): Press =>
      ({ shiftKey: event.shiftKey, byKeyboard: false, clicks: last?.clicks ?? 1 });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.0015));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      this.element.focus();
      this.showCross(false);
      canvas.setPointerCapture(event.pointerId);
      if (event.button !== 0 || space) {
        pan = { x: event.clientX, y: event.clientY, moved: false, button: event.button };
      } else {
        from = this.cellOf(event);
        const again = last !== undefined && event.timeStamp - last.time < DOUBLE_CLICK_MS &&
                      last.cell.x === from.x && last.cell.y === from.y;
        last = { time: event.timeStamp, cell: from, clicks: again ? last!.clicks + 1 : 1 };
        this.handlers.down?.(from, pressOf(event));
      }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (pan !== undefined) {
        const dx = event.clientX - pan.x;
        const dy = event.clientY - pan.y;
        if (pan.moved || Math.abs(dx) + Math.abs(dy) > 4) {
          pan = { ...pan, x: event.clientX, y: event.clientY, moved: true };
          this.pan(dx, dy);
        }
      } else if (from !== undefined) {
        this.handlers.drag?.(from, this.cellOf(event), pressOf(event));
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (pan !== undefined) {
        if (!pan.moved && pan.button === 2) {
          this.handlers.command?.(this.cellOf(event), pressOf(event));
        }
        pan = undefined;
      } else if (from !== undefined) {
        this.handlers.up?.(from, this.cellOf(event), pressOf(event));
        from = undefined;
      }
    });
    this.element.addEventListener("keydown", (event) => {
      const step = 80;
      const { width, height } = this.app.screen;
      switch (event.key) {
        case " ": space = true; break;
        case "ArrowLeft": this.pan(step, 0); break;
        case "ArrowRight": this.pan(-step, 0); break;
        case "ArrowUp": this.pan(0, step); break;
        case "ArrowDown": this.pan(0, -step); break;
        case "+": case "=": this.zoomAt(width / 2, height / 2, 1.25); break;
        case "-": this.zoomAt(width / 2, height / 2, 0.8); break;
        case "Home": this.fit(); break;
        case "Enter": {
          const press = { shiftKey: event.shiftKey, byKeyboard: true, clicks: 1 };
          this.handlers.down?.(this.middleCell, press);
          this.handlers.up?.(this.middleCell, this.middleCell, press);
          break;
        }
        default: return;
      }
      this.showCross(event.key !== " ");
      event.preventDefault();
    });
    this.element.addEventListener("keyup", (event) => {
      if (event.key === " ") {
        space = false;
      }
    });
  }
}
