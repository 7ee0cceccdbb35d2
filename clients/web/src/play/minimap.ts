// The whole map, small: what the team knows, who stands where, what is on the screen.

import type { Mirror } from "fogmarch";
import { lookColour, teamColour } from "../common/palette.js";
import type { MapView } from "../common/map-view.js";
import { make } from "../common/dom.js";

const SIDE = 240;

export class Minimap {
  readonly canvas = make("canvas", { id: "minimap", width: SIDE, height: SIDE,
                                     "aria-label": "minimap; click to look there" });
  private readonly context = this.canvas.getContext("2d")!;
  private readonly terrain = document.createElement("canvas");
  private terrainDue = true;
  private drawn = 0;

  constructor(private readonly view: Mirror, private readonly map: MapView) {
    const go = (event: MouseEvent): void => {
      const share = { x: event.offsetX / this.canvas.clientWidth,
                      y: event.offsetY / this.canvas.clientHeight };
      const [left, top, width, height] = view.rect;
      map.centre({ x: left + share.x * width, y: top + share.y * height });
    };
    this.canvas.addEventListener("pointerdown", go);
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) {
        go(event);
      }
    });
  }

  /** Cells of the view changed. */
  terrainChanged(): void {
    this.terrainDue = true;
  }

  /** Called often; draws four times a second. */
  draw(): void {
    const now = performance.now();
    if (now - this.drawn < 250) {
      return;
    }
    this.drawn = now;
    const [left, top, width, height] = this.view.rect;
    const scale = SIDE / Math.max(width, height);
    if (this.canvas.width !== Math.round(width * scale) ||
        this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.terrainDue = true;
    }
    if (this.terrainDue) {
      this.drawTerrain(width, height);
    }
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(this.terrain, 0, 0, this.canvas.width, this.canvas.height);
    for (let place = 0; place < this.view.agentCount; place++) {
      this.context.fillStyle = "#" + teamColour(this.view.teams[place]!).toString(16).padStart(6, "0");
      this.context.fillRect((this.view.xs[place]! - left) * scale - 1,
                            (this.view.ys[place]! - top) * scale - 1, 3, 3);
    }
    const bounds = this.map.bounds;
    this.context.strokeStyle = "#ffffff";
    this.context.strokeRect((bounds.x - left) * scale + 0.5, (bounds.y - top) * scale + 0.5,
                            bounds.width * scale, bounds.height * scale);
  }

  private drawTerrain(width: number, height: number): void {
    this.terrainDue = false;
    this.terrain.width = width;
    this.terrain.height = height;
    const context = this.terrain.getContext("2d")!;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const colours = new Map<number, number>();
    for (let at = 0; at < pixels.length; at++) {
      const look = this.view.looks[at]!;
      let colour = colours.get(look);
      if (colour === undefined) {
        const rgb = lookColour(look);
        colour = 0xff000000 | (rgb & 255) << 16 | (rgb & 0xff00) | rgb >> 16;
        colours.set(look, colour);
      }
      pixels[at] = colour;
    }
    context.putImageData(image, 0, 0);
  }
}
