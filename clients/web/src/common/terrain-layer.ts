// The terrain of a view as one texture, a texel per cell.

import { BufferImageSource, Sprite, Texture } from "pixi.js";
import type { Mirror } from "fogmarch";
import { lookColour, scale, UNKNOWN } from "./palette.js";

export class TerrainLayer {
  readonly sprite = new Sprite();
  private pixels = new Uint8Array(0);
  private source: BufferImageSource | undefined;
  private readonly colours = new Map<number, number>();

  /**
   * Repaints rows of the view. With `truth`, what a team does not know shows through darkly, and where
   * it believes something else than what is true, the cell is marked.
   */
  paint(view: Mirror, rows: readonly [number, number], truth?: Mirror): void {
    const [, , width, height] = view.rect;
    if (this.pixels.length !== width * height * 4) {
      this.resize(view);
      rows = [0, height];
    }
    if (rows[0] >= rows[1]) {
      return;
    }
    const compared = truth !== undefined && truth.looks.length === view.looks.length;
    for (let at = rows[0] * width; at < rows[1] * width; at++) {
      const look = view.looks[at]!;
      let colour = this.colourOf(look);
      if (compared) {
        const real = truth.looks[at]!;
        if (look === 0) {
          colour = scale(this.colourOf(real), 0.35);
        } else if (look !== real && (at + Math.floor(at / width)) % 2 === 0) {
          colour = 0xff40ff;
        }
      }
      this.pixels[at * 4] = colour >> 16;
      this.pixels[at * 4 + 1] = (colour >> 8) & 255;
      this.pixels[at * 4 + 2] = colour & 255;
      this.pixels[at * 4 + 3] = 255;
    }
    this.source!.update();
  }

  private colourOf(look: number): number {
    let colour = this.colours.get(look);
    if (colour === undefined) {
      colour = look === 0 ? UNKNOWN : lookColour(look);
      this.colours.set(look, colour);
    }
    return colour;
  }

  private resize(view: Mirror): void {
    const [left, top, width, height] = view.rect;
    this.pixels = new Uint8Array(width * height * 4);
    this.source?.destroy();
    this.source = new BufferImageSource({
      resource: this.pixels, width, height, scaleMode: "nearest", alphaMode: "no-premultiply-alpha",
    });
    this.sprite.texture = new Texture({ source: this.source });
    this.sprite.position.set(left, top);
    this.sprite.setSize(width, height);
  }
}
