// Keeps the selected agent in the middle of the map, as F does in `fogmarch watch`. Panning ends it,
// zooming does not.

import type { Mirror } from "fogmarch";
import type { MapView } from "../common/map-view.js";

export class Follow {
  private on = false;
  private put: { x: number; y: number; zoom: number } | undefined; // where follow last put the map
  private readonly onKey = (event: KeyboardEvent): void => {
    const { target } = event;
    if (event.key.toLowerCase() === "f" && !event.ctrlKey && !event.altKey && !event.metaKey &&
        !(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) {
      this.toggle();
    }
  };

  constructor(private readonly map: MapView, private readonly button: HTMLButtonElement,
              private readonly view: () => Mirror | undefined,
              private readonly agent: () => number | undefined) {
    button.addEventListener("click", () => this.toggle());
    document.addEventListener("keydown", this.onKey);
  }

  end(): void {
    document.removeEventListener("keydown", this.onKey);
  }

  toggle(): void {
    this.set(!this.on);
  }

  private set(on: boolean): void {
    this.on = on;
    this.put = undefined;
    this.button.setAttribute("aria-pressed", String(on));
  }

  /** Called every frame. */
  frame(): void {
    const view = this.view();
    const agent = this.agent();
    const place = agent === undefined ? undefined : view?.placeOf(agent);
    if (!this.on || place === undefined) {
      return;
    }
    const { middle, zoom } = this.map;
    const { put } = this;
    if (put !== undefined && zoom === put.zoom &&
        Math.hypot(middle.x - put.x, middle.y - put.y) * zoom > 2) {
      this.set(false);
      return;
    }
    const at = this.map.agents.positionOf(view!, place);
    if (put === undefined || zoom !== put.zoom || Math.hypot(at.x - middle.x, at.y - middle.y) * zoom > 0.5) {
      this.map.centre(at);
      this.put = { ...this.map.middle, zoom }; // at the map's edge the agent is not in the middle
    }
  }
}
