// Panels on a small screen: sheets over the map, one at a time, a bar of buttons that open them, and a grip with which
// a sheet is made larger, smaller or closed. Where a sheet is low, more than half of the map is seen above it, and what
// is below the map (orders, a replay's slider) stays in sight. On a large screen the panels are beside the map, and bar
// and grip are hidden; style.css has the limit, and the heights.

import { find, make } from "./dom.js";

const SLIP = 6;        // pixels that a finger may move during a tap on the grip
const CLOSES = 0.6;    // a sheet that is released below this part of its low height closes

export interface Sheet {
  /** Id of the panel's element. */
  id: string;
  title: string;
}

/** Opens a sheet, or with undefined closes the one that is open. */
export type OpenSheet = (id: string | undefined) => void;

/**
 * Fills the element #sheets, and puts the grip behind it.
 *
 * @param onCover  called with the pixels of the map, from its lower edge up, that a sheet covers from now on
 */
export function sheets(list: readonly Sheet[], onCover: (pixels: number) => void): OpenSheet {
  const bar = find("sheets");
  const buttons = new Map<string, HTMLButtonElement>();
  const isOpen = (id: string): boolean => find(id).hasAttribute("data-open");
  const grip = new Grip(() => list.find(({ id }) => isOpen(id))?.id, () => open(undefined));
  const map = find("map");
  const measure = (): void => {
    const main = map.parentElement!.getBoundingClientRect();
    const under = Math.max(0, main.bottom - map.getBoundingClientRect().bottom);
    document.body.style.setProperty("--under", `${under}px`);
    const box = grip.element.getBoundingClientRect();
    onCover(box.width > 0 && box.width >= map.clientWidth ? Math.max(0, main.bottom - under - box.top) : 0);
  };
  const open: OpenSheet = (wanted) => {
    for (const { id } of list) {
      find(id).toggleAttribute("data-open", id === wanted);
      buttons.get(id)!.setAttribute("aria-expanded", String(id === wanted));
    }
    document.body.toggleAttribute("data-sheet", wanted !== undefined);
    measure();
  };
  grip.onResized = measure;
  for (const { id, title } of list) {
    find(id).classList.add("sheet");
    const button = make("button", { type: "button", "aria-controls": id, "aria-expanded": "false",
                                    "data-sheet": id, onclick: () => open(isOpen(id) ? undefined : id) },
                        title);
    buttons.set(id, button);
    bar.append(button);
  }
  bar.after(grip.element);
  new ResizeObserver(measure).observe(map);
  document.addEventListener("keydown", (event) => {
    const shown = list.find(({ id }) => isOpen(id));
    if (event.key === "Escape" && shown !== undefined) {
      const button = buttons.get(shown.id)!;
      open(undefined);
      if (button.offsetParent !== null) {
        button.focus();
      }
    }
  });
  return open;
}

/** The grip on top of the open sheet: a tap makes the sheet high or low again, a drag sets its height. */
class Grip {
  readonly element = make("button", { type: "button", id: "grip" });
  onResized: () => void = () => {};
  private from: { y: number; height: number; dragged: boolean } | undefined;

  constructor(private readonly shown: () => string | undefined, private readonly close: () => void) {
    const { element } = this;
    this.setHigh(false);
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.from = { y: event.clientY, height: this.height, dragged: false };
    });
    element.addEventListener("pointermove", (event) => this.move(event.clientY));
    element.addEventListener("pointerup", () => this.release());
    element.addEventListener("pointercancel", () => this.release());
    element.addEventListener("click", () => {
      if (this.from?.dragged !== true) { // a drag ends with a click, too
        this.setHigh(!this.isHigh);
      }
      this.from = undefined;
    });
  }

  private get isHigh(): boolean {
    return document.body.hasAttribute("data-high");
  }

  private get height(): number {
    const id = this.shown();
    return id === undefined ? 0 : find(id).offsetHeight;
  }

  private setHigh(isHigh: boolean): void {
    document.body.toggleAttribute("data-high", isHigh);
    this.element.setAttribute("aria-label", isHigh ? "make the panel smaller" : "make the panel larger");
    this.onResized();
  }

  private move(y: number): void {
    const { from } = this;
    if (from !== undefined && (from.dragged || Math.abs(y - from.y) > SLIP)) {
      from.dragged = true;
      document.body.style.setProperty("--sheet", `${Math.max(0, from.height + from.y - y)}px`);
      this.onResized();
    }
  }

  // A sheet that was dragged becomes low or high, whichever is nearer, or closes.
  private release(): void {
    if (this.from?.dragged !== true) {
      return;
    }
    const { height } = this;
    document.body.style.removeProperty("--sheet");
    this.setHigh(false);
    const low = this.height;
    this.setHigh(true);
    const high = this.height;
    this.setHigh(height > (low + high) / 2);
    if (height < low * CLOSES) {
      this.close();
    }
  }
}
