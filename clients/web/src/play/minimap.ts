// The whole map, small: what the team knows, where units are, what is on the screen. A click moves the
// screen there, or chooses the place for an order that needs one; a right click or a finger that rests
// sends the selected units there. Where units stopped for an enemy, rings close on the place.

import type { Mirror } from "fogmarch";
import { css, lookColour, scale, teamColour } from "../common/palette.js";
import type { Cell, MapView } from "../common/map-view.js";
import { make } from "../common/dom.js";

const SIDE = 240;
const PERIOD_MS = 250;
const HOLD_MS = 450;
const EXPLORED = 0.55; // as bright as what is visible
const RING_MS = 4000;
const RINGS_MAX = 16;

export class Minimap {
  readonly canvas = make("canvas", {
    id: "minimap", width: SIDE, height: SIDE, role: "img",
    "aria-label": "minimap; click to look there, right click to send the selected units there",
  });
  /** Called when the selected units are sent to a cell. */
  onCommand: (cell: Cell, queue: boolean) => void = () => {};
  /** A click, before the screen moves there; true: an order has taken it. */
  onAim: (cell: Cell, queue: boolean) => boolean = () => false;
  /** Which cells are visible, if that is known. */
  visible: () => Uint8Array | undefined = () => undefined;
  private readonly context = this.canvas.getContext("2d")!;
  private readonly terrain = document.createElement("canvas");
  private terrainDue = true;
  private drawn = 0;
  private rings: { cell: Cell; since: number }[] = [];
  private held: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly view: Mirror, private readonly map: MapView) {
    const go = (event: PointerEvent): void => map.centre(this.placeOf(event));
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 2) {
        this.command(event);
        return;
      }
      if (this.onAim(this.cellOf(event), event.shiftKey)) {
        return;
      }
      const { x, y } = map.middle;
      go(event);
      if (event.pointerType === "touch") {
        this.held = setTimeout(() => {
          map.centre({ x, y }); // a finger that sends units does not move the screen
          navigator.vibrate?.(15);
          this.command(event);
        }, HOLD_MS);
      }
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 1 && (event.movementX !== 0 || event.movementY !== 0)) {
        clearTimeout(this.held);
        go(event);
      }
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      this.canvas.addEventListener(end, () => clearTimeout(this.held));
    }
  }

  /** Cells of the view changed. */
  terrainChanged(): void {
    this.terrainDue = true;
  }

  /** Something happened there. */
  ring(cell: Cell): void {
    this.rings = [...this.rings, { cell, since: performance.now() }].slice(-RINGS_MAX);
  }

  private placeOf(event: PointerEvent): Cell {
    const [left, top, width, height] = this.view.rect;
    return { x: left + (event.offsetX / this.canvas.clientWidth) * width,
             y: top + (event.offsetY / this.canvas.clientHeight) * height };
  }

  private cellOf(event: PointerEvent): Cell {
    const { x, y } = this.placeOf(event);
    return { x: Math.floor(x), y: Math.floor(y) };
  }

  private command(event: PointerEvent): void {
    this.onCommand(this.cellOf(event), event.shiftKey);
  }

  /** Called often; draws four times a second. */
  draw(): void {
    const now = performance.now();
    if (now - this.drawn < PERIOD_MS) {
      return;
    }
    this.drawn = now;
    const [left, top, width, height] = this.view.rect;
    const scaled = SIDE / Math.max(width, height);
    const [wide, high] = [Math.round(width * scaled), Math.round(height * scaled)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
      this.terrainDue = true;
    }
    if (this.terrainDue) {
      this.drawTerrain(width, height);
    }
    const { context } = this;
    context.imageSmoothingEnabled = true;
    context.drawImage(this.terrain, 0, 0, wide, high);
    this.drawUnits(left, top, scaled);
    this.rings = this.rings.filter(({ since }) => now - since < RING_MS);
    for (const { cell, since } of this.rings) {
      const radius = 5 + 14 * (1 - (now - since) / RING_MS);
      for (const [lineWidth, colour] of [[5, "#101010"], [2.5, "#ffb18a"]] as const) {
        context.lineWidth = lineWidth;
        context.strokeStyle = colour;
        context.beginPath();
        context.arc((cell.x - left) * scaled, (cell.y - top) * scaled, radius, 0, 2 * Math.PI);
        context.stroke();
      }
    }
    const bounds = this.map.bounds;
    for (const [lineWidth, colour] of [[4, "#101010"], [2, "#ffffff"]] as const) {
      context.lineWidth = lineWidth;
      context.strokeStyle = colour;
      context.strokeRect((bounds.x - left) * scaled, (bounds.y - top) * scaled,
                         bounds.width * scaled, bounds.height * scaled);
    }
  }

  // All outlines first; the colour is set only where the team changes, because that is slower than drawing.
  private drawUnits(left: number, top: number, scaled: number): void {
    const { context, view } = this;
    context.fillStyle = "#101010";
    for (let place = 0; place < view.agentCount; place++) {
      context.fillRect((view.xs[place]! - left) * scaled - 2, (view.ys[place]! - top) * scaled - 2, 5, 5);
    }
    let team = 0;
    for (let place = 0; place < view.agentCount; place++) {
      if (view.teams[place] !== team) {
        team = view.teams[place]!;
        context.fillStyle = css(teamColour(team));
      }
      context.fillRect((view.xs[place]! - left) * scaled - 1, (view.ys[place]! - top) * scaled - 1, 3, 3);
    }
  }

  private drawTerrain(width: number, height: number): void {
    this.terrainDue = false;
    this.terrain.width = width;
    this.terrain.height = height;
    const context = this.terrain.getContext("2d")!;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const visible = this.visible();
    const colours = new Map<number, number>();
    for (let at = 0; at < pixels.length; at++) {
      const isDark = visible !== undefined && visible[at] === 0;
      const look = this.view.looks[at]! + (isDark ? 65536 : 0);
      let colour = colours.get(look);
      if (colour === undefined) {
        const rgb = scale(lookColour(look & 65535), isDark && look !== 65536 ? EXPLORED : 1);
        colour = (0xff000000 | (rgb & 255) << 16 | (rgb & 0xff00) | rgb >> 16) >>> 0;
        colours.set(look, colour);
      }
      pixels[at] = colour;
    }
    context.putImageData(image, 0, 0);
  }
}
