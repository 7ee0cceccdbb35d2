// Keeps the selected agent in the middle of the map, as F does in `fogmarch watch`. Panning ends it,
// zooming does not.

import type { Mirror } from "fogmarch";
import { KeepInView } from "../common/keep-in-view.js";
import type { MapView } from "../common/map-view.js";

export class Follow {
  private readonly kept: KeepInView;
  private readonly onKey = (event: KeyboardEvent): void => {
    const { target } = event;
    if (event.key.toLowerCase() === "f" && !event.ctrlKey && !event.altKey && !event.metaKey &&
        !(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) {
      this.kept.toggle();
    }
  };

  constructor(map: MapView, button: HTMLButtonElement, view: () => Mirror | undefined,
              agent: () => number | undefined) {
    this.kept = new KeepInView(map, () => {
      const mirror = view();
      const selected = agent();
      const place = selected === undefined ? undefined : mirror?.placeOf(selected);
      return place === undefined ? undefined : { ...map.agents.positionOf(mirror!, place), of: selected! };
    }, (isOn) => button.setAttribute("aria-pressed", String(isOn)));
    button.addEventListener("click", () => this.kept.toggle());
    document.addEventListener("keydown", this.onKey);
  }

  end(): void {
    this.kept.end();
    document.removeEventListener("keydown", this.onKey);
  }

  /** Called every frame. */
  frame(): void {
    this.kept.frame();
  }
}
