// Outlines of the buildings that a view believes in, in the colours of their owners.

import { Graphics } from "pixi.js";
import type { Building } from "fogmarch";
import { teamColour } from "./palette.js";

const NOBODY = 0x9a9a9a;

export class BuildingLayer {
  readonly graphics = new Graphics();
  private drawn: readonly Building[] = [];

  /** Draws what is there now; does nothing when that is drawn already. */
  draw(buildings: readonly Building[]): void {
    if (buildings === this.drawn) {
      return;
    }
    this.drawn = buildings;
    this.graphics.clear();
    for (const { team, x, y, width, height } of buildings) {
      this.graphics.rect(x + 0.12, y + 0.12, width - 0.24, height - 0.24)
        .stroke({ width: 0.2, color: team === 0 ? NOBODY : teamColour(team) });
    }
  }
}
