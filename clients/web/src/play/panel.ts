// What is beside the map: the small map, selected units, control groups, orders. A button for everything
// that a key does.

import { AGENT_STATES, type Mirror, type Results } from "fogmarch";
import type { MovementClass } from "../common/classes.js";
import { choice, count, facts, find, make } from "../common/dom.js";
import { css, TEAM_SHAPES, teamColour } from "../common/palette.js";
import { tagWords } from "../common/tag-layer.js";
import { hasFingers } from "./guide.js";
import type { Plans } from "./plans.js";
import type { Selection } from "./selection.js";

export type Mode = "command" | "box" | "attack" | "patrol" | "guard" | "follow" | "wall" | "house" | "tear";

/** What a mode asks of the player. */
export const MODE_WORDS: Record<Exclude<Mode, "command">, string> = {
  box: "Drag a box around your units.",
  attack: "Attack-move to where you click: they stop when they see an enemy.",
  patrol: hasFingers() ? "Tap the points of the patrol, then \"patrol\" again."
    : "Patrol to where you click; hold Shift for several points.",
  guard: "Guard the place that you click.",
  follow: "Follow the unit that you click.",
  wall: "Drag from one end of the wall to the other. Blue ground is free.",
  house: "Drag over the ground of the house, at most 64 cells. Blue ground is free.",
  tear: "Click one of your buildings to tear it down.",
};

export interface Deeds {
  use(mode: Mode): void;
  send(kind: "stop" | "hold" | "explore" | "keep_distance" | "scatter"): void;
  goOn(): void;
  /** From now on orders end after so many seconds; 0: no deadline. */
  setDeadline(seconds: number): void;
  nextIdle(): void;
  callGroup(number: number): void;
  /** Starts or ends keeping the selected units in view. */
  keepInView(): void;
}

const DEADLINES = [["0", "when done"], ["10", "after 10 s"], ["30", "after 30 s"], ["120", "after 2 min"]] as const;
const GROUPS = 9;
const HOLD_MS = 500; // a press on a group's button that replaces the group

export class Panel {
  private readonly facts = make("div", { id: "selection" });
  private readonly modes = new Map<Mode, HTMLButtonElement>();
  private readonly groups: HTMLButtonElement[] = [];
  private idle!: HTMLButtonElement;
  private goOn!: HTMLButtonElement;
  private readonly keep: HTMLButtonElement;
  private shown = "";

  constructor(private readonly view: Mirror, private readonly team: number,
              private readonly world: Results["world.info"], private readonly classes: MovementClass[],
              private readonly selection: Selection, private readonly plans: Plans,
              private readonly mayBuild: boolean, private readonly stopped: () => readonly number[],
              deeds: Deeds, minimap: HTMLCanvasElement, queue: HTMLElement) {
    this.keep = make("button", { type: "button", id: "keep-in-view", "aria-pressed": "false", "aria-keyshortcuts": "V",
                                 title: "The map follows the selected units.", onclick: () => deeds.keepInView() },
                     "keep in view ", make("kbd", { "aria-hidden": "true" }, "V"));
    find("minimap-box").replaceChildren(minimap, this.keep);
    const deadline = choice("orders end", DEADLINES, (seconds) => deeds.setDeadline(Number(seconds)));
    deadline.select.id = "deadline";
    find("orders").replaceChildren(make("h2", {}, "Orders"), this.orderButtons(deeds));
    find("units").replaceChildren(
      make("h2", {}, `Team ${team}`, make("span", { class: "team", colour: css(teamColour(team)) },
                                          `you are the ${TEAM_SHAPES[(team - 1) % TEAM_SHAPES.length]}s`)),
      this.groupRow(deeds), this.facts, queue, deadline.element);
    this.refresh();
  }

  /** The mode of clicks. */
  showMode(mode: Mode): void {
    for (const [name, button] of this.modes) {
      button.setAttribute("aria-pressed", String(name === mode));
    }
  }

  /** Whether the selected units are kept in view. */
  showKept(isKept: boolean): void {
    this.keep.setAttribute("aria-pressed", String(isKept));
  }

  private orderButtons(deeds: Deeds): HTMLElement {
    const box = make("div", { class: "tools", role: "group", "aria-label": "orders" });
    const act = (title: string, key: string, action: () => void, kind = ""): HTMLButtonElement => {
      const button = make("button", { type: "button", onclick: action, class: kind,
                                      ...(key === "" ? {} : { "aria-keyshortcuts": key }) },
                          make("span", { class: "title" }, title), " ",
                          make("kbd", { "aria-hidden": "true" }, key));
      box.append(button);
      return button;
    };
    this.modes.set("box", act("box", "", () => deeds.use("box"), "for-fingers"));
    act("all", "Ctrl A", () => this.selection.chooseAll()).setAttribute("aria-keyshortcuts", "Control+A");
    act("none", "", () => this.selection.chooseNone(), "for-fingers");
    this.idle = act("idle", ".", () => deeds.nextIdle());
    this.idle.id = "idle";
    this.modes.set("attack", act("attack", "A", () => deeds.use("attack")));
    act("stop", "S", () => deeds.send("stop"));
    act("hold", "H", () => deeds.send("hold"));
    act("explore", "E", () => deeds.send("explore"));
    act("keep away", "K", () => deeds.send("keep_distance"));
    act("scatter", "D", () => deeds.send("scatter"));
    this.modes.set("patrol", act("patrol", "P", () => deeds.use("patrol")));
    this.modes.set("guard", act("guard", "G", () => deeds.use("guard")));
    this.modes.set("follow", act("follow", "F", () => deeds.use("follow")));
    this.goOn = act("go on", "R", () => deeds.goOn());
    this.goOn.id = "go-on";
    if (this.mayBuild) {
      this.modes.set("wall", act("wall", "B", () => deeds.use("wall")));
      this.modes.set("house", act("house", "N", () => deeds.use("house")));
      this.modes.set("tear", act("tear down", "T", () => deeds.use("tear")));
    }
    this.showMode("command");
    return box;
  }

  // A click calls a group, or makes one of the selected units if there is none; a long press replaces
  // it.
  private groupRow(deeds: Deeds): HTMLElement {
    const row = make("div", { class: "groups", role: "group", "aria-label": "control groups" });
    for (let number = 1; number <= GROUPS; number++) {
      let held: ReturnType<typeof setTimeout> | undefined;
      let wasHeld = false;
      const button = make("button", { type: "button", onclick: () => {
        if (wasHeld) {
          wasHeld = false;
        } else if (this.selection.sizeOfGroup(number) === 0) {
          this.selection.saveGroup(number);
        } else {
          deeds.callGroup(number);
        }
      } });
      button.addEventListener("pointerdown", () => {
        held = setTimeout(() => {
          wasHeld = true;
          this.selection.saveGroup(number);
        }, HOLD_MS);
      });
      for (const end of ["pointerup", "pointerleave", "pointercancel"]) {
        button.addEventListener(end, () => clearTimeout(held));
      }
      button.addEventListener("contextmenu", (event) => event.preventDefault());
      this.groups.push(button);
      row.append(button);
    }
    return row;
  }

  /** The match is over. */
  end(): void {
    for (const id of ["minimap-box", "orders", "units"]) {
      find(id).replaceChildren();
    }
  }

  /** Shows the current state. */
  refresh(): void {
    const { view, team, selection } = this;
    const states = new Map<string, number>();
    const kinds = this.classes.map(() => 0);
    const chosen = this.classes.map(() => 0);
    let mine = 0;
    for (let place = 0; place < view.agentCount; place++) {
      if (view.teams[place] !== team) {
        continue;
      }
      mine++;
      const kind = view.classes[place]!;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (selection.ids.has(view.ids[place]!)) {
        const state = AGENT_STATES[view.states[place]!] ?? "?";
        states.set(state, (states.get(state) ?? 0) + 1);
        chosen[kind] = (chosen[kind] ?? 0) + 1;
      }
    }
    const own = view.buildings.filter((building) => building.team === team).length;
    const most = Number(this.world.rules["players_build"] ?? 0);
    const [only] = selection.list;
    const why = selection.ids.size === 1 && only !== undefined ? this.plans.why(only) : "";
    const tag = selection.ids.size === 1 && only !== undefined ? tagWords(view.tags.get(only)) : "";
    const rows: (readonly [string, string])[] = [
      ["units", count(mine)],
      ["others in sight", count(view.agentCount - mine)],
      ...(this.mayBuild ? [["buildings", most === 0 ? count(own) : `${own} of ${most}`] as const] : []),
      ["selected", count(selection.ids.size)],
      ...(this.classes.length < 2 ? [] : this.classes.map(({ name, terrains }, i): [string, string] =>
        [name, `${chosen[i]} of ${kinds[i]}, on ${terrains.join(", ")}`])),
      ...(states.size === 0 ? []
        : [[why === "" ? "they are" : "it is", [...states].map(([state, n]) => `${count(n)} ${state}`).join(", ")] as const]),
      ...(why === "" ? [] : [["why", why] as const]),
      ...(tag === "" ? [] : [["tag", tag] as const]),
    ];
    const stopped = this.stopped().length;
    const idle = selection.countIdle();
    const sizes = this.groups.map((_, i) => selection.sizeOfGroup(i + 1));
    const text = JSON.stringify([rows, idle, stopped, sizes]);
    if (text === this.shown) {
      return; // most ticks change nothing here
    }
    this.shown = text;
    this.facts.dataset["selected"] = String(selection.ids.size);
    this.facts.dataset["chosen"] = chosen.join(",");
    this.facts.replaceChildren(facts(rows));
    this.idle.querySelector(".title")!.textContent = `idle ${count(idle)}`;
    this.goOn.querySelector(".title")!.textContent = stopped === 0 ? "go on" : `go on ${count(stopped)}`;
    this.goOn.disabled = stopped === 0;
    this.groups.forEach((button, i) => {
      const size = sizes[i]!;
      button.replaceChildren(String(i + 1), make("span", {}, size === 0 ? "" : count(size)));
      button.setAttribute("aria-label", size === 0 ? `make group ${i + 1}`
        : `call group ${i + 1}, ${size} units`);
    });
  }
}
