// One seat in a match: the team's view, its units, its orders.

import {
  AGENT_STATES, ORDER_ENDS, subscribe,
  type Client, type ORDER_KINDS, type Results, type Subscription,
} from "fogmarch";
import { Graphics } from "pixi.js";
import { attempt } from "../common/connection.js";
import { count, facts, find, group, make } from "../common/dom.js";
import type { Cell, MapView, Press } from "../common/map-view.js";
import { css, TEAM_SHAPES, teamColour } from "../common/palette.js";
import { Minimap } from "./minimap.js";
import { Selection } from "./selection.js";

type Mode = "command" | "patrol" | "guard" | "wall" | "tear";

type OrderKind = (typeof ORDER_KINDS)[number];

const FLASH_MS = 500;

export class Game {
  private readonly selection: Selection;
  private readonly minimap: Minimap;
  private readonly facts = make("div", { id: "selection", role: "status" });
  private readonly news = make("ol", { id: "news", "aria-label": "orders that ended" });
  private readonly flashes = new Graphics();
  private mode: Mode = "command";
  private readonly modeButtons = new Map<Mode, HTMLButtonElement>();
  private flash: { cell: Cell; until: number } | undefined;
  private readonly onKey = (event: KeyboardEvent): void => this.key(event);

  private constructor(
    private readonly client: Client,
    private readonly world: Results["world.info"],
    private readonly team: number,
    private readonly map: MapView,
    private readonly view: Subscription,
  ) {
    const { mirror } = view;
    this.selection = new Selection(mirror, team, map);
    this.minimap = new Minimap(mirror, map);
    this.selection.onChanged = () => this.showSelection();
    map.over.addChild(this.flashes);
    mirror.onChange = ({ rows, ended }) => {
      map.terrain.paint(mirror, rows);
      map.agents.take(mirror, 1000 / world.tick_hz);
      if (rows[0] < rows[1]) {
        this.minimap.terrainChanged();
      }
      for (const { reason } of ended.slice(-6)) {
        this.tell(ORDER_ENDS[reason] ?? String(reason));
      }
      this.showSelection();
    };
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
        }
      },
      up: (from, to, event) => this.leftUp(from, to, event),
      command: (cell, event) => void attempt(() => this.goOrFollow(cell, event.shiftKey)),
    };
    document.addEventListener("keydown", this.onKey);
    this.buildPanel();
    this.goHome();
  }

  static async begin(client: Client, world: Results["world.info"], team: number,
                     map: MapView): Promise<Game> {
    const view = await subscribe(client, { world: world.world, team });
    return new Game(client, world, team, map, view);
  }

  end(): void {
    document.removeEventListener("keydown", this.onKey);
    this.map.handlers = {};
    this.map.onFrame = () => {};
    this.selection.end();
    this.flashes.destroy();
    this.map.show(undefined);
    void this.view.end().catch(() => {});
  }

  // Whether a player may build is the game's decision, so the server leaves it to the game.
  private get mayBuild(): boolean {
    return this.client.welcome.role === "admin";
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
        "Drag to select, right click to go; with Shift after what they do now. Ctrl+1 to 9 makes a " +
        "group, 1 to 9 calls it. Arrow keys pan, + and - zoom."));
    this.showSelection();
  }

  private showSelection(): void {
    const { mirror } = this.view;
    const states = new Map<string, number>();
    let mine = 0;
    for (let place = 0; place < mirror.agentCount; place++) {
      if (mirror.teams[place] !== this.team) {
        continue;
      }
      mine++;
      if (this.selection.ids.has(mirror.ids[place]!)) {
        const state = AGENT_STATES[mirror.states[place]!] ?? "?";
        states.set(state, (states.get(state) ?? 0) + 1);
      }
    }
    this.facts.dataset["selected"] = String(this.selection.ids.size);
    this.facts.replaceChildren(facts([
      ["units", count(mine)],
      ["selected", count(this.selection.ids.size)],
      ...[...states].map(([state, number]): [string, string] => [state, count(number)]),
      ["others in sight", count(mirror.agentCount - mine)],
    ]));
  }

  private tell(news: string): void {
    this.news.prepend(make("li", {}, news.replaceAll("_", " ")));
    while (this.news.children.length > 6) {
      this.news.lastChild!.remove();
    }
  }

  private use(mode: Mode): void {
    this.mode = this.mode === mode ? "command" : mode;
    if ((this.mode === "wall" || this.mode === "tear") && !this.mayBuild) {
      this.mode = "command";
    }
    for (const [name, button] of this.modeButtons) {
      button.setAttribute("aria-pressed", String(name === this.mode));
    }
  }

  // ---- mouse and keys ---------------------------------------------------------------------------

  private leftUp(from: Cell, to: Cell, press: Press): void {
    const mode = this.mode;
    if (mode === "command") {
      this.selection.choose(from, to, press.shiftKey);
      return;
    }
    void attempt(async () => {
      if (mode === "wall" || mode === "tear") {
        await this.build(from, to, mode === "wall");
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
      case "t": this.use("tear"); break;
      case "a": this.selection.chooseAll(); break;
      case "escape": this.use("command"); break;
      case "c": this.goHome(); break;
      default: return;
    }
    event.preventDefault();
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

  // To a cell, or after whoever stands there.
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

  // A wall is a row or a column of cells along the longer side of the drag.
  private async build(from: Cell, to: Cell, up: boolean): Promise<void> {
    const across = Math.abs(to.x - from.x) >= Math.abs(to.y - from.y);
    const clamp = (value: number, most: number): number => Math.max(0, Math.min(most - 1, value));
    const x = clamp(across ? Math.min(from.x, to.x) : from.x, this.world.width);
    const y = clamp(across ? from.y : Math.min(from.y, to.y), this.world.height);
    const rect = [x, y, across ? Math.abs(to.x - from.x) + 1 : 1,
                  across ? 1 : Math.abs(to.y - from.y) + 1];
    const world = this.world.world;
    if (up) {
      await this.client.call("building.place", { world, team: this.team, rect, on_units: "refuse" });
      return;
    }
    const own = this.view.mirror.buildings.filter((building) =>
      building.team === this.team && building.x <= to.x && to.x < building.x + building.width &&
      building.y <= to.y && to.y < building.y + building.height);
    if (own.length === 0) {
      throw new Error("None of your walls stands there.");
    }
    for (const { number } of own) {
      await this.client.call("building.remove", { world, building: number });
    }
  }
}
