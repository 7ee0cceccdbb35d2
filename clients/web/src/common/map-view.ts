// The map: terrain, agents, overlays; pan and zoom. What mouse, fingers and keys mean: map-input.ts.
//
// All layers lie in one container whose unit is a cell.

import "pixi.js/unsafe-eval";
import { Application, Container, Graphics } from "pixi.js";
import type { Mirror } from "fogmarch";
import { showProblem } from "./dom.js";
import { AgentLayer } from "./agent-layer.js";
import { MapInput, type PointerHandlers } from "./map-input.js";
import { TagLayer } from "./tag-layer.js";
import { TerrainLayer } from "./terrain-layer.js";

const ZOOM_MIN = 0.25; // pixels per cell
const ZOOM_MAX = 96;

export interface Cell {
  x: number;
  y: number;
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
  readonly tags = new TagLayer();
  private readonly cross = new Graphics();
  readonly input: MapInput;
  /** Called after each pan and zoom. */
  onMoved: () => void = () => {};
  /** Set while something is kept in view (keep-in-view.ts); called when anything else moves the map. */
  onTaken: (() => void) | undefined;
  /** Called every frame, before drawing. */
  onFrame: () => void = () => {};
  frames = 0;
  /** Milliseconds of a frame that the page takes, without drawing; smoothed. */
  ownMs = 0;
  private covered = 0; // pixels at the lower edge
  private view: Mirror | undefined;
  private seenView: Mirror | undefined;

  private constructor(
    readonly app: Application,
    element: HTMLElement,
  ) {
    this.world.addChild(this.terrain.container, this.under, this.agents.container,
                        this.seen.container, this.tags.container, this.over);
    this.over.addChild(this.marks);
    this.cross.visible = false;
    app.stage.addChild(this.world, this.cross);
    app.ticker.add(() => this.frame());
    this.input = new MapInput(this, app.canvas, element);
  }

  get handlers(): PointerHandlers {
    return this.input.handlers;
  }

  set handlers(handlers: PointerHandlers) {
    this.input.handlers = handlers;
  }

  private frame(): void {
    const start = performance.now();
    this.input.frame(this.app.ticker.deltaMS);
    this.terrain.setZoom(this.zoom * this.app.renderer.resolution);
    this.agents.setZoom(this.zoom);
    this.seen.setZoom(this.zoom);
    if (this.view !== undefined) {
      this.agents.move(this.view);
    }
    if (this.seenView !== undefined) {
      this.seen.move(this.seenView);
    }
    this.tags.draw(this.view, this.agents, this.zoom, this.bounds);
    this.onFrame();
    this.frames++;
    this.ownMs += (performance.now() - start - this.ownMs) / 30;
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

  /** A circle around an agent where it is drawn now, in cells; undefined: it is not there. */
  ringAround(agent: number): { x: number; y: number; radius: number } | undefined {
    const { view } = this;
    const place = view?.placeOf(agent);
    return view === undefined || place === undefined ? undefined
      : { ...this.agents.positionOf(view, place),
          radius: Math.max(this.agents.sideOf(view, place) / 2 + 0.4, 7 / this.zoom) };
  }

  /** What a team sees, drawn above the rest, which is dimmed; undefined: nothing is dimmed. */
  showSeen(view: Mirror | undefined): void {
    this.seenView = view;
    this.seen.container.visible = view !== undefined;
    this.agents.container.alpha = view === undefined ? 1 : 0.3;
  }

  /** So many pixels at the lower edge are under something else: the middle of the screen is that of the rest. */
  cover(pixels: number): void {
    this.covered = Math.min(pixels, this.app.screen.height);
    this.showCross(this.cross.visible);
  }

  /** Pixel in the middle of what is seen of the map. */
  get middlePixel(): { x: number; y: number } {
    const { width, height } = this.app.screen;
    return { x: width / 2, y: (height - this.covered) / 2 };
  }

  /** Shows the whole map. */
  fit(): void {
    if (this.view === undefined) {
      return;
    }
    const [left, top, width, height] = this.view.rect;
    const { width: screenWidth, height: screenHeight } = this.app.screen;
    const zoom = Math.min(screenWidth / width, Math.max(screenHeight / 4, screenHeight - this.covered) / height) * 0.98;
    this.onTaken?.();
    this.world.scale.set(zoom);
    this.moveTo({ x: left + width / 2, y: top + height / 2 });
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
    const { x, y } = this.middlePixel;
    return this.cellAtPixel(x, y, false);
  }

  /** Cells in sight. */
  get bounds(): { x: number; y: number; width: number; height: number } {
    const from = this.cellAtPixel(0, 0, false);
    const { width, height } = this.app.screen;
    return { x: from.x, y: from.y, width: width / this.zoom, height: height / this.zoom };
  }

  centre(cell: Cell, zoom = this.zoom): void {
    this.onTaken?.();
    this.world.scale.set(Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, zoom)));
    this.moveTo(cell);
  }

  /** For what is kept in view: puts a place into the middle of the screen. */
  moveTo(cell: Cell): void {
    const { x, y } = this.middlePixel;
    this.place(x - cell.x * this.zoom, y - cell.y * this.zoom);
  }

  pan(dx: number, dy: number): void {
    this.onTaken?.();
    this.place(this.world.position.x + dx, this.world.position.y + dy);
  }

  /** Around a pixel; around the middle while something is kept in view. */
  zoomAt(x: number, y: number, factor: number): void {
    if (this.onTaken !== undefined) {
      ({ x, y } = this.middlePixel);
    }
    const zoom = Math.max(ZOOM_MIN, Math.min(ZOOM_MAX, this.zoom * factor));
    const cell = this.cellAtPixel(x, y, false);
    this.world.scale.set(zoom);
    this.place(x - cell.x * zoom, y - cell.y * zoom);
  }

  // The middle of the screen stays on the map, so that users do not get lost beside it.
  private place(x: number, y: number): void {
    const [left, top, width, height] = this.view?.rect ?? [0, 0, 0, 0];
    const middlePixel = this.middlePixel;
    const within = (at: number, middle: number, from: number, side: number): number =>
      side === 0 ? at : Math.max(middle - (from + side) * this.zoom, Math.min(middle - from * this.zoom, at));
    this.world.position.set(within(x, middlePixel.x, left, width), within(y, middlePixel.y, top, height));
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

  /** The cell of the map that is nearest to `cell`, which may be beside it. */
  onMap(cell: Cell): Cell {
    const [left, top, width, height] = this.view?.rect ?? [0, 0, 0, 0];
    const within = (at: number, from: number, side: number): number =>
      side === 0 ? at : Math.max(from, Math.min(from + side - 1, at));
    return { x: within(cell.x, left, width), y: within(cell.y, top, height) };
  }

  /** The cell in the middle of the screen, where keys act. */
  get middleCell(): Cell {
    const { x, y } = this.middle;
    return { x: Math.floor(x), y: Math.floor(y) };
  }

  /** Marks the middle of the screen: keys are in use. */
  showCross(visible: boolean): void {
    this.cross.visible = visible;
    if (visible) {
      const { x, y } = this.middlePixel;
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
}
