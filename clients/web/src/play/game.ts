// One seat in a match: the team's view, its units, its orders.

import {
  AGENT_STATES, ORDER_ENDS, subscribe,
  type Client, type ORDER_KINDS, type Results, type Subscription,
} from "fogmarch";
import { Graphics } from "pixi.js";
import { CLASS_MARKS } from "../common/agent-layer.js";
import { BuildingLayer } from "../common/building-layer.js";
import { movementClasses, type MovementClass } from "../common/classes.js";
import { attempt } from "../common/connection.js";
import { count, facts, find, group, make } from "../common/dom.js";
import type { Cell, MapView, Press } from "../common/map-view.js";
import { css, TEAM_SHAPES, teamColour } from "../common/palette.js";
import { Minimap } from "./minimap.js";
import { Selection } from "./selection.js";

type Mode = "command" | "patrol" | "guard" | "wall" | "house" | "tear";

type OrderKind = (typeof ORDER_KINDS)[number];

const FLASH_MS = 500;
const AROUND = 8;             // cells from the cross to whom a key selects
const BUILDING_CELLS_MAX = 64; // of one building of a player
const NEWS_SHOWN = 6;

/** What outlives a connection. */
export interface Memory {
  groups: Map<number, number[]>;
  /** Middle of the screen in cells, and pixels per cell. */
  at?: { x: number; y: number; zoom: number };
}

export class Game {
  private readonly selection: Selection;
  private readonly minimap: Minimap;
  private readonly facts = make("div", { id: "selection", role: "status" });
  private readonly news = make("ol", { id: "news", "aria-label": "orders that ended" });
  private readonly flashes = new Graphics();
  private mode: Mode = "command";
  private readonly modeButtons = new Map<Mode, HTMLButtonElement>();
  private readonly buildings = new BuildingLayer();
  private readonly site = new Graphics(); // of a building that is being drawn
  private readonly classes: MovementClass[];
  private corner: Cell | undefined; // where a building begins, given by the keyboard
  private flash: { cell: Cell; until: number } | undefined;
  private readonly onKey = (event: KeyboardEvent): void => this.key(event);

  private constructor(
    private readonly client: Client,
    readonly world: Results["world.info"],
    private readonly team: number,
    private readonly map: MapView,
    private readonly view: Subscription,
    private readonly memory: Memory,
  ) {
    const { mirror } = view;
    this.classes = movementClasses(world.rules);
    map.agents.setClassSides(this.classes.map(({ side }) => side));
    this.selection = new Selection(mirror, team, map, memory.groups);
    this.minimap = new Minimap(mirror, map);
    this.selection.onChanged = () => this.showSelection();
    map.under.addChild(this.buildings.graphics);
    map.over.addChild(this.flashes, this.site);
    mirror.onChange = ({ rows, ended }) => {
      map.terrain.paint(mirror, rows);
      map.agents.take(mirror, 1000 / world.tick_hz);
      if (rows[0] < rows[1]) {
        this.minimap.terrainChanged();
      }
      this.buildings.draw(mirror.buildings);
      for (const { reason } of ended.slice(-NEWS_SHOWN)) {
        this.tell(ORDER_ENDS[reason] ?? String(reason));
      }
      this.showSelection();
    };
    this.buildings.draw(mirror.buildings);
    map.terrain.paint(mirror, [0, mirror.rect[3]]);
    map.agents.take(mirror, 1000 / world.tick_hz);
    map.show(mirror);
    map.onFrame = () => {
      this.selection.draw();
      this.minimap.draw();
      this.drawFlash();
    };
    map.handlers = {
      drag: (from, to) => {
        if (this.mode === "command") {
          this.selection.stretch(from, to);
        } else if (this.mode === "wall" || this.mode === "house") {
          this.drawSite(from, to);
        }
      },
      up: (from, to, press) => this.leftUp(from, to, press),
      command: (cell, press) => void attempt(() => this.goOrFollow(cell, press.shiftKey)),
    };
    document.addEventListener("keydown", this.onKey);
    this.buildPanel();
    if (memory.at === undefined) {
      this.goHome();
    } else {
      map.centre(memory.at, memory.at.zoom);
    }
  }

  static async begin(client: Client, world: Results["world.info"], team: number,
                     map: MapView, memory: Memory): Promise<Game> {
    const view = await subscribe(client, { world: world.world, team });
    return new Game(client, world, team, map, view, memory);
  }

  end(): void {
    this.memory.at = { ...this.map.middle, zoom: this.map.zoom };
    document.removeEventListener("keydown", this.onKey);
    this.map.handlers = {};
    this.map.onFrame = () => {};
    this.selection.end();
    this.flashes.destroy();
    this.site.destroy();
    this.buildings.graphics.destroy();
    this.map.agents.setClassSides([]);
    this.map.show(undefined);
    void this.view.end().catch(() => {});
  }

  private get mayBuild(): boolean {
    return this.client.welcome.role === "admin" || Number(this.world.rules["players_build"] ?? 0) > 0;
  }

  // ---- the panel --------------------------------------------------------------------------------

  private buildPanel(): void {
    const orders = make("div", { class: "tools", role: "group", "aria-label": "orders" });
    const act = (title: string, key: string, action: () => void): HTMLButtonElement => {
      const button = make("button", { type: "button", onclick: action, "aria-keyshortcuts": key },
                          `${title} `, make("span", {}, key));
      orders.append(button);
      return button;
    };
    act("stop", "S", () => void attempt(() => this.send("stop")));
    act("hold", "H", () => void attempt(() => this.send("hold")));
    this.modeButtons.set("patrol", act("patrol to a click", "P", () => this.use("patrol")));
    this.modeButtons.set("guard", act("guard a click", "G", () => this.use("guard")));
    act("explore", "E", () => void attempt(() => this.send("explore")));
    act("select all", "A", () => this.selection.chooseAll());
    if (this.mayBuild) {
      this.modeButtons.set("wall", act("build a wall", "B", () => this.use("wall")));
      this.modeButtons.set("house", act("build a house", "N", () => this.use("house")));
      this.modeButtons.set("tear", act("tear down", "T", () => this.use("tear")));
    }
    const colour = css(teamColour(this.team));
    find("right").replaceChildren(
      this.minimap.canvas,
      group(`Team ${this.team}`, make("p", { colour },
        `You are the ${TEAM_SHAPES[(this.team - 1) & 7]}s.`), this.facts),
      group("Orders", orders),
      group("News", this.news),
      make("p", { class: "hint" },
        "Drag to select, double click for all alike, right click to go; with Shift after what they do " +
        "now. Ctrl+1 to 9 makes a group, 1 to 9 calls it. Arrow keys pan, + and - zoom, C goes home. " +
        "Without a mouse: a cross is in the middle of the map; Enter clicks it, X selects around it, M " +
        "goes there."));
    this.showSelection();
  }

  private showSelection(): void {
    const { mirror } = this.view;
    const states = new Map<string, number>();
    const kinds = this.classes.map(() => 0);
    const chosen = this.classes.map(() => 0);
    let mine = 0;
    for (let place = 0; place < mirror.agentCount; place++) {
      if (mirror.teams[place] !== this.team) {
        continue;
      }
      mine++;
      const kind = mirror.classes[place]!;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (this.selection.ids.has(mirror.ids[place]!)) {
        const state = AGENT_STATES[mirror.states[place]!] ?? "?";
        states.set(state, (states.get(state) ?? 0) + 1);
        chosen[kind] = (chosen[kind] ?? 0) + 1;
      }
    }
    const own = mirror.buildings.filter(({ team }) => team === this.team).length;
    const most = Number(this.world.rules["players_build"] ?? 0);
    this.facts.dataset["selected"] = String(this.selection.ids.size);
    this.facts.dataset["chosen"] = chosen.join(",");
    this.facts.replaceChildren(facts([
      ["units", count(mine)],
      ["selected", count(this.selection.ids.size)],
      ...(this.classes.length < 2 ? [] : this.classes.map(({ name, terrains }, i): [string, string] =>
        [`${name} (${CLASS_MARKS[i & 7]})`, `${chosen[i]} of ${kinds[i]}, on ${terrains.join(", ")}`])),
      ...[...states].map(([state, number]): [string, string] => [state, count(number)]),
      ["others in sight", count(mirror.agentCount - mine)],
      ...(this.mayBuild ? [["buildings", most === 0 ? count(own) : `${own} of ${most}`] as const] : []),
    ]));
  }

  private tell(news: string): void {
    this.news.prepend(make("li", {}, news.replaceAll("_", " ")));
    while (this.news.children.length > NEWS_SHOWN) {
      this.news.lastChild!.remove();
    }
  }

  private use(mode: Mode): void {
    this.mode = this.mode === mode ? "command" : mode;
    if (["wall", "house", "tear"].includes(this.mode) && !this.mayBuild) {
      this.mode = "command";
    }
    this.corner = undefined;
    this.site.clear();
    for (const [name, button] of this.modeButtons) {
      button.setAttribute("aria-pressed", String(name === this.mode));
    }
  }

  // ---- mouse and keys ---------------------------------------------------------------------------

  private leftUp(from: Cell, to: Cell, press: Press): void {
    const mode = this.mode;
    if (mode === "command") {
      if (press.clicks === 2) {
        this.selection.chooseAlike(to);
      } else {
        this.selection.choose(from, to, press.shiftKey);
      }
      return;
    }
    if ((mode === "wall" || mode === "house") && press.byKeyboard && this.corner === undefined) {
      this.corner = to;
      this.drawSite(to, to);
      this.tell("go to the other end and press Enter");
      return;
    }
    const start = press.byKeyboard ? this.corner ?? from : from;
    this.corner = undefined;
    this.site.clear();
    void attempt(async () => {
      if (mode === "wall" || mode === "house") {
        await this.build(start, to, mode);
      } else if (mode === "tear") {
        await this.tearDown(to);
      } else {
        await this.send(mode, to, press.shiftKey);
        this.use("command");
      }
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.target instanceof HTMLInputElement || event.altKey || event.metaKey) {
      return;
    }
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    if (digit !== undefined) {
      event.preventDefault();
      if (event.ctrlKey) {
        this.selection.saveGroup(Number(digit));
        this.tell(`group ${digit}: ${this.selection.ids.size} units`);
      } else {
        this.selection.callGroup(Number(digit));
      }
      return;
    }
    if (event.ctrlKey) {
      return;
    }
    switch (event.key.toLowerCase()) {
      case "s": void attempt(() => this.send("stop")); break;
      case "h": void attempt(() => this.send("hold")); break;
      case "e": void attempt(() => this.send("explore")); break;
      case "p": this.use("patrol"); break;
      case "g": this.use("guard"); break;
      case "b": this.use("wall"); break;
      case "n": this.use("house"); break;
      case "t": this.use("tear"); break;
      case "m": void attempt(() => this.goOrFollow(this.map.middleCell, event.shiftKey)); break;
      case "x": this.chooseAround(event.shiftKey); break;
      case "a": this.selection.chooseAll(); break;
      case "escape": this.use("command"); break;
      case "c": this.goHome(); break;
      default: return;
    }
    event.preventDefault();
  }

  private chooseAround(add: boolean): void {
    const { x, y } = this.map.middleCell;
    this.selection.choose({ x: x - AROUND, y: y - AROUND }, { x: x + AROUND, y: y + AROUND }, add);
  }

  /** Looks at what is selected, or at the team's units. */
  private goHome(): void {
    const wasEmpty = this.selection.ids.size === 0;
    if (wasEmpty) {
      this.selection.chooseAll();
    }
    const middle = this.selection.middle();
    if (wasEmpty) {
      this.selection.ids.clear();
      this.showSelection();
    }
    if (middle !== undefined) {
      this.map.centre(middle, Math.max(10, this.map.zoom));
    }
  }

  private drawFlash(): void {
    this.flashes.clear();
    if (this.flash !== undefined) {
      const left = this.flash.until - performance.now();
      if (left <= 0) {
        this.flash = undefined;
      } else {
        this.flashes.circle(this.flash.cell.x + 0.5, this.flash.cell.y + 0.5, 0.3 + left / 400)
          .stroke({ width: 0.15, color: 0xffffff });
      }
    }
  }

  // ---- orders -----------------------------------------------------------------------------------

  // To a cell, or after the unit that stands there.
  private async goOrFollow(cell: Cell, queue: boolean): Promise<void> {
    const target = this.selection.agentAt(cell);
    if (target === undefined || this.selection.ids.has(target.id) || this.map.zoom < 4) {
      await this.send("move", cell, queue);
    } else {
      await this.send("follow", undefined, queue, target.id);
    }
  }

  private async send(kind: OrderKind, cell?: Cell, queue = false, target?: number): Promise<void> {
    const agents = this.selection.list;
    if (agents.length === 0) {
      throw new Error("Select some units first: drag a box around them.");
    }
    if (cell !== undefined) {
      this.flash = { cell, until: performance.now() + FLASH_MS };
    }
    await this.client.call("agent.order", {
      world: this.world.world, agents, kind,
      ...(cell === undefined ? {} : { goal: [cell.x, cell.y] }),
      ...(target === undefined ? {} : { target }),
      ...(queue ? { queue } : {}),
      ...(kind === "move" && agents.length > 1 ? { spread: true } : {}),
    });
  }

  // A wall is a row or a column of cells along the longer side of the drag, a house all of it.
  private siteOf(from: Cell, to: Cell, mode: "wall" | "house"): [number, number, number, number] {
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most - 1, value));
    const across = Math.abs(to.x - from.x) >= Math.abs(to.y - from.y);
    const end = mode === "house" ? to : across ? { x: to.x, y: from.y } : { x: from.x, y: to.y };
    const x = clamp(Math.min(from.x, end.x), this.world.width);
    const y = clamp(Math.min(from.y, end.y), this.world.height);
    return [x, y, clamp(Math.max(from.x, end.x), this.world.width) - x + 1,
            clamp(Math.max(from.y, end.y), this.world.height) - y + 1];
  }

  private drawSite(from: Cell, to: Cell): void {
    if (this.mode === "wall" || this.mode === "house") {
      this.site.clear().rect(...this.siteOf(from, to, this.mode))
        .fill({ color: teamColour(this.team), alpha: 0.4 }).stroke({ width: 0.15, color: 0xffffff });
    }
  }

  // A long wall is several buildings, for the server bounds the size of one.
  private async build(from: Cell, to: Cell, mode: "wall" | "house"): Promise<void> {
    const [x, y, width, height] = this.siteOf(from, to, mode);
    const world = this.world.world;
    if (mode === "house" && width * height > BUILDING_CELLS_MAX) {
      throw new Error(`A house has at most ${BUILDING_CELLS_MAX} cells; this one would have ` +
                      `${count(width * height)}.`);
    }
    const length = Math.max(width, height);
    for (let at = 0; at < length; at += BUILDING_CELLS_MAX) {
      const part = Math.min(BUILDING_CELLS_MAX, length - at);
      const rect = mode === "house" ? [x, y, width, height]
        : width >= height ? [x + at, y, part, 1] : [x, y + at, 1, part];
      await this.client.call("building.place", { world, team: this.team, rect, on_units: "refuse" });
    }
  }

  private async tearDown(cell: Cell): Promise<void> {
    const own = this.view.mirror.buildings.find((building) =>
      building.team === this.team && building.x <= cell.x && cell.x < building.x + building.width &&
      building.y <= cell.y && cell.y < building.y + building.height);
    if (own === undefined) {
      throw new Error("None of your buildings stands there.");
    }
    await this.client.call("building.remove", { world: this.world.world, building: own.number });
  }
}
