// The four things to do, for first-time users: each is ticked off when it is done. And the list of all
// keys.

import { make } from "../common/dom.js";

const SEEN = "fogmarch-guide-seen";
const BYE_MS = 2500;

export type Deed = "select" | "send" | "look" | "explore";

export function hasFingers(): boolean {
  return matchMedia("(pointer: coarse)").matches;
}

function wordsFor(deed: Deed): [string, string] {
  const touch = hasFingers();
  switch (deed) {
    case "select":
      return ["Select units", touch ? "tap one, or press \"box\" and drag around some"
        : "drag a box around them, or click one"];
    case "send":
      return ["Send them", touch ? "press and hold where they shall go, or tap there with two fingers"
        : "right click where they shall go, on the map or on the small one"];
    case "look":
      return ["Look around", touch ? "drag with one finger, zoom with two"
        : "arrow keys, or the mouse at an edge; the wheel zooms"];
    case "explore":
      return ["Find the others", touch ? "press \"explore\": what your units see, you see"
        : "press E to explore: what your units see, you see"];
  }
}

/** Ticks things off until all are done or the player closes the list. */
export class Guide {
  readonly element = make("section", { id: "guide", "aria-label": "four things to do", hidden: true });
  private readonly entries = new Map<Deed, HTMLElement>();
  private bye: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const list = make("ol", {});
    for (const deed of ["select", "send", "look", "explore"] as const) {
      const [title, how] = wordsFor(deed);
      const entry = make("li", {}, make("strong", {}, title), make("span", {}, how));
      this.entries.set(deed, entry);
      list.append(entry);
    }
    this.element.append(make("h2", {}, "Four things to do"), list,
                        make("button", { type: "button", onclick: () => this.close() }, "got it"));
  }

  /** Shows it to users who have not seen it. */
  greet(): void {
    this.element.hidden = localStorage.getItem(SEEN) !== null;
  }

  open(): void {
    clearTimeout(this.bye);
    this.entries.forEach((entry) => entry.removeAttribute("data-done"));
    this.element.hidden = false;
  }

  done(deed: Deed): void {
    const entry = this.entries.get(deed)!;
    if (this.element.hidden || entry.hasAttribute("data-done")) {
      return;
    }
    entry.setAttribute("data-done", "");
    entry.append(make("span", { class: "only-read" }, " (done)"));
    if ([...this.entries.values()].every((one) => one.hasAttribute("data-done"))) {
      this.bye = setTimeout(() => this.close(), BYE_MS);
    }
  }

  close(): void {
    this.element.hidden = true;
    localStorage.setItem(SEEN, "yes");
  }
}

const KEYS: readonly (readonly [string, string])[] = [
  ["drag, click", "select; with Shift more of them"],
  ["double click", "all of that kind on the screen"],
  ["right click", "go there; on a unit: follow it, an enemy until they have caught up with it; with Shift " +
                  "after what they do now"],
  ["Ctrl A", "select all"],
  [".", "next unit that has nothing to do"],
  ["Ctrl 1 to 9", "make a group; 1 to 9 calls it, twice goes there"],
  ["S, H, E", "stop, hold, explore"],
  ["K, D", "keep away from every enemy in sight; scatter: spread out from where they are"],
  ["A", "attack-move to the next click, also on the small map: they stop when they see an enemy, and the " +
        "news say where"],
  ["R", "who has stopped for an enemy goes on"],
  ["P", "patrol to the next click; with Shift held over all points that are clicked, from the last to the " +
        "first where that is the same place"],
  ["G, F", "guard the place, follow the unit of the next click"],
  ["Backspace", "take back the last order that they have; a click on × any of them"],
  ["B, N, T", "build a wall, build a house, tear down: drag, or Enter at both ends"],
  ["L", "go to the newest news"],
  ["C", "go to the selected units, or home"],
  ["V", "keep the selected units in view: the map follows them until you drag or scroll it, or V again"],
  ["arrows, edges, middle button", "look around"],
  ["wheel, + and -", "zoom; Home shows all"],
  ["without a mouse", "a cross is in the middle of the map: Enter clicks it, X selects around it, M " +
                      "sends the selected units there"],
  ["fingers", "tap selects, one finger looks around, two zoom; press and hold, or tap with two " +
              "fingers, sends; a patrol's points are tapped, then \"patrol\" again"],
];

export function helpDialog(again: () => void): HTMLDialogElement {
  const dialog = make("dialog", { id: "help", "aria-labelledby": "help-title" });
  dialog.append(
    make("h2", { id: "help-title", tabindex: -1, autofocus: true }, "Mouse, fingers and keys"), // the list from its top
    make("dl", {}, ...(hasFingers() ? [KEYS.at(-1)!, ...KEYS.slice(0, -1)] : KEYS).flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)])),
    make("div", { class: "row" },
         make("button", { type: "button", onclick: () => dialog.close() }, "close"),
         make("button", { type: "button", onclick: () => {
           dialog.close();
           again();
         } }, "show the four things again")));
  return dialog;
}
