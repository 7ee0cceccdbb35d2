// The terrain of a view as one texture, a texel per cell, which a shader draws as a landscape.

import { BufferImageSource, Container, Mesh, MeshGeometry, Shader } from "pixi.js";
import type { Mirror } from "fogmarch";
import { lookColour, scale, UNKNOWN } from "./palette.js";
import { FRAGMENT, VERTEX } from "./terrain-shader.js";

const EXPLORED = 128; // of 255, in the texture of what is visible

export class TerrainLayer {
  readonly container = new Container();
  private pixels = new Uint8Array(0);
  private sight = new Uint8Array(0);
  private sightWidth = 0;
  private cells: BufferImageSource | undefined;
  private seen: BufferImageSource | undefined;
  private mesh: Mesh<MeshGeometry, Shader> | undefined;
  private readonly colours = new Map<number, number>();
  private view = new Float32Array(4);
  private site = 0;

  /**
   * Repaints rows of the view. With `truth`, cells that a team does not know show through darkly, and where
   * its knowledge is wrong, the cell is marked.
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
      let kind = look & 15;
      if (compared) {
        const real = truth.looks[at]!;
        if (look === 0) {
          colour = scale(this.colourOf(real), 0.35);
          kind = real & 15;
        } else if (look !== real && (at + Math.floor(at / width)) % 2 === 0) {
          colour = 0xff40ff;
          kind = 0;
        }
      }
      this.pixels[at * 4] = colour >> 16;
      this.pixels[at * 4 + 1] = (colour >> 8) & 255;
      this.pixels[at * 4 + 2] = colour & 255;
      this.pixels[at * 4 + 3] = kind;
    }
    this.cells!.update();
  }

  /**
   * Says which cells of the view are visible, 1 each; undefined: the page does not know. `unknownToo`:
   * what is painted where the view knows nothing is shown, too.
   */
  paintSight(view: Mirror, visible: Uint8Array | undefined, unknownToo = false): void {
    const [, , width, height] = view.rect;
    this.view[3] = visible === undefined ? 0 : 1;
    if (visible === undefined || this.seen === undefined || visible.length !== width * height) {
      return;
    }
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        const isKnown = view.looks[at] !== 0;
        this.sight[y * this.sightWidth + x] = visible[at] !== 0 ? 255 : isKnown ? EXPLORED
          : unknownToo ? 255 : 0;
      }
    }
    this.seen.update();
  }

  /** Pixels of the screen per cell. */
  setZoom(pixels: number): void {
    this.view[2] = pixels;
  }

  /** Shows where a building may stand. */
  showSites(shown: boolean): void {
    this.site = shown ? 1 : 0;
    if (this.mesh !== undefined) {
      this.mesh.shader!.resources["look"].uniforms.uSite = this.site;
    }
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
    this.sightWidth = (width + 3) & ~3; // rows of a texture of bytes begin at multiples of four
    this.sight = new Uint8Array(this.sightWidth * height);
    this.mesh?.destroy();
    this.cells?.destroy();
    this.seen?.destroy();
    this.cells = new BufferImageSource({
      resource: this.pixels, width, height, scaleMode: "nearest", alphaMode: "no-premultiply-alpha",
    });
    this.seen = new BufferImageSource({
      resource: this.sight, width: this.sightWidth, height, format: "r8unorm", scaleMode: "linear",
    });
    this.view = new Float32Array([width, height, this.view[2]!, this.view[3]!]);
    const geometry = new MeshGeometry({
      positions: new Float32Array([0, 0, width, 0, width, height, 0, height]),
      uvs: new Float32Array([0, 0, 1, 0, 1, 1, 0, 1]),
      indices: new Uint32Array([0, 1, 2, 0, 2, 3]),
    });
    const shader = Shader.from({
      gl: { vertex: VERTEX, fragment: FRAGMENT },
      resources: {
        uCells: this.cells, uSight: this.seen,
        look: { uView: { value: this.view, type: "vec4<f32>" }, uSite: { value: this.site, type: "f32" } },
      },
    });
    this.mesh = new Mesh({ geometry, shader });
    this.mesh.position.set(left, top);
    this.container.addChild(this.mesh);
  }
}
