// One seat in a match: the team's view, its units, its orders.

import { subscribe, type Client, type ORDER_KINDS, type Params, type Results, type Subscription } from "fogmarch";
import { Alerts } from "./alerts.js";
import { BuildingLayer } from "../common/building-layer.js";
import { movementClasses } from "../common/classes.js";
import { attempt, watchView } from "../common/connection.js";
import { find } from "../common/dom.js";
import { KeepInView } from "../common/keep-in-view.js";
import type { Cell, MapView } from "../common/map-view.js";
import type { Press } from "../common/map-input.js";
import type { Guide } from "./guide.js";
import { Markers, type MarkKind } from "./markers.js";
import type { Memory } from "./memory.js";
import { Minimap } from "./minimap.js";
import { News } from "./news.js";
import { MODE_WORDS, Panel, type Mode } from "./panel.js";
import { Patrol } from "./patrol.js";
import { Plans } from "./plans.js";
import { Queue } from "./queue.js";
import { Reports } from "./reports.js";
import { Selection } from "./selection.js";
import { Sites, type SiteMode } from "./sites.js";

type OrderKind = (typeof ORDER_KINDS)[number];

const AROUND = 8;         // cells from the cross to the units that a key selects
const AGAIN_MS = 500;     // calling a group twice within this time moves the screen to it
const CELLS_AROUND = 30;  // around a base, on the first screen
const KEEP_PERIOD_MS = 1000;
const ALERT = 8;          // cells from a unit to an enemy at which it stops, unless the world has a sight radius
const ALERT_MAX = 64;
const GO_ON_S = 5;        // for so long a continuing unit stops for no enemy: the enemy is still there

type AimMode = "attack" | "patrol" | "guard" | "follow";

function isSite(mode: Mode): mode is SiteMode {
  return mode === "wall" || mode === "house";
}

// Whether the mode asks for a place or a unit to send the selected units to.
function isAim(mode: Mode): mode is AimMode {
  return mode === "attack" || mode === "patrol" || mode === "guard" || mode === "follow";
}

export class Game {
  private readonly selection: Selection;
  private readonly minimap: Minimap;
  private readonly panel: Panel;
  private readonly news: News;
  private readonly plans = new Plans();
  private readonly markers: Markers;
  private readonly reports: Reports;
  private readonly sites: Sites;
  private readonly alerts: Alerts;
  private readonly patrol: Patrol;
  private readonly queue: Queue;
  private readonly kept: KeepInView;
  private readonly buildings = new BuildingLayer();
  private readonly tip = find("tip");
  private mode: Mode = "command";
  private isOver = false;
  private corner: Cell | undefined; // a corner of a building, set by the keyboard
  private called: { group: number; at: number } | undefined;
  private deadline = 0; // seconds after which orders end; 0: no deadline
  private isDone = false; // an order was given in this mode, which Shift keeps
  private readonly onKey = (event: KeyboardEvent): void => this.key(event);
  private readonly onKeyUp = (event: KeyboardEvent): void => {
    if (event.key === "Shift") {
      this.shiftUp();
    }
  };
  private readonly keeping: ReturnType<typeof setInterval>;
  private readonly onHide = (): void => this.keep();

  private constructor(
    private readonly client: Client,
    readonly world: Results["world.info"],
    private readonly team: number,
    private readonly map: MapView,
    private readonly view: Subscription,
    private readonly memory: Memory,
    private readonly guide: Guide,
  ) {
    const { mirror } = view;
    const classes = movementClasses(world.rules);
    map.agents.setClassSides(classes.map(({ side }) => side));
    map.input.edgeScroll = true;
    this.selection = new Selection(mirror, team, map, memory);
    this.minimap = new Minimap(mirror, map);
    this.minimap.onCommand = (cell, queue) => void attempt(() => this.send("move", cell, queue));
    this.minimap.onAim = (cell, queue) => {
      const isAimed = isAim(this.mode) && this.mode !== "follow";
      if (isAimed) {
        this.aim(cell, { shiftKey: queue, byTouch: false });
      }
      return isAimed;
    };
    this.news = new News((cell, agents) => this.goTo(cell, agents),
                         (agents) => void attempt(() => this.goOn(agents)));
    this.alerts = new Alerts(mirror, map);
    this.patrol = new Patrol(map);
    this.kept = new KeepInView(map, () => this.selection.drawnMiddle(), (isOn) => this.panel.showKept(isOn));
    this.queue = new Queue(client, world.world, this.plans, () => void this.reports.ask());
    find("news-box").replaceChildren(this.news.list);
    this.markers = new Markers(mirror, map, this.plans);
    this.reports = new Reports(client, world.world, () => this.selection.list);
    this.reports.onReport = (units) => {
      this.plans.told(units);
      this.alerts.told(units);
      this.refresh();
    };
    this.minimap.visible = () => mirror.visible;
    this.sites = new Sites(client, world, team, mirror, () => mirror.visible);
    this.panel = new Panel(mirror, team, world, classes, this.selection, this.plans, this.mayBuild,
                           () => this.alerts.list, {
      use: (mode) => this.use(mode),
      send: (kind) => void attempt(() => this.send(kind)),
      goOn: () => void attempt(() => this.goOn()),
      setDeadline: (seconds) => {
        this.deadline = seconds;
      },
      nextIdle: () => this.nextIdle(),
      callGroup: (number) => this.callGroup(number),
      keepInView: () => void attempt(() => this.keepInView()),
    }, this.minimap.canvas, this.queue.list);
    this.selection.onChanged = () => {
      if (this.selection.ids.size > 0) {
        guide.done("select");
      }
      this.refresh();
      void this.reports.ask();
    };
    map.under.addChild(this.buildings.graphics);
    map.over.addChild(this.sites.graphics);
    mirror.onChange = ({ rows, ended, alerts, died, sight, untold }) => {
      map.terrain.paint(mirror, rows);
      map.agents.take(mirror, 1000 / world.tick_hz);
      if (sight || rows[0] < rows[1]) {
        map.terrain.paintSight(mirror, mirror.visible);
        this.minimap.terrainChanged();
      }
      this.buildings.draw(mirror.buildings);
      if (untold) {
        this.missEnds();
      }
      this.plans.take(ended);
      this.alerts.take(alerts, ended);
      this.news.take(ended);
      this.news.takeAlerts(alerts);
      this.news.takeDeaths(died);
      alerts.forEach((alert) => this.minimap.ring(alert));
      this.selection.refresh();
      this.refresh();
    };
    this.buildings.draw(mirror.buildings);
    map.terrain.paint(mirror, [0, mirror.rect[3]]);
    map.terrain.paintSight(mirror, mirror.visible);
    map.agents.take(mirror, 1000 / world.tick_hz);
    map.show(mirror);
    map.onFrame = () => {
      if (this.selection.ids.size === 0) {
        this.kept.end();
      }
      this.kept.frame();
      this.minimap.draw();
      this.markers.draw(this.selection.ids);
      this.alerts.draw();
    };
    map.handlers = this.makeHandlers();
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("keyup", this.onKeyUp);
    if (memory.at === undefined) {
      this.goHome();
    } else {
      map.centre(memory.at, memory.at.zoom);
    }
    map.onMoved = () => {
      if (!this.kept.isOn) {
        guide.done("look");
      }
    };
    if (memory.selected.length > 0) {
      this.selection.chooseThese(memory.selected);
    }
    this.keeping = setInterval(() => this.keep(), KEEP_PERIOD_MS);
    window.addEventListener("pagehide", this.onHide);
  }

  static async begin(client: Client, world: Results["world.info"], team: number,
                     map: MapView, memory: Memory, guide: Guide): Promise<Game> {
    const view = await subscribe(client, { world: world.world, team, sight: true, motion: true });
    const game = new Game(client, world, team, map, view, memory, guide);
    watchView(client, view, () => !game.isOver);
    return game;
  }

  end(): void {
    this.isOver = true;
    this.keep();
    clearInterval(this.keeping);
    window.removeEventListener("pagehide", this.onHide);
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("keyup", this.onKeyUp);
    this.use("command");
    this.kept.end();
    this.map.handlers = {};
    this.map.onFrame = () => {};
    this.map.onMoved = () => {};
    this.map.input.edgeScroll = false;
    this.reports.end();
    this.panel.end();
    this.selection.end();
    this.markers.end();
    this.alerts.end();
    this.patrol.end();
    this.sites.graphics.destroy();
    this.buildings.graphics.destroy();
    this.map.agents.setClassSides([]);
    this.map.terrain.paintSight(this.view.mirror, undefined);
    this.map.show(undefined);
    void this.view.end().catch(() => {});
  }

  // More orders ended than the server keeps for a view: what this page knows of orders may be over. A report tells
  // it again for what is selected.
  private missEnds(): void {
    this.plans.forgetAll();
    this.alerts.missEnds();
    this.news.tell("more orders ended than are listed");
    void this.reports.ask();
  }

  private get mayBuild(): boolean {
    return this.client.welcome.role === "admin" || Number(this.world.rules["players_build"] ?? 0) > 0;
  }

  // For the next load of the page.
  private keep(): void {
    this.memory.at = { ...this.map.middle, zoom: this.map.zoom };
    this.memory.selected = this.selection.list;
    this.memory.keep();
  }

  private refresh(): void {
    this.panel.refresh();
    this.queue.refresh(this.selection.list);
  }

  private use(mode: Mode): void {
    if (mode === "patrol" && this.mode === "patrol" && this.patrol.length > 0) {
      this.sendPatrol(false);
      return;
    }
    const isAllowed = this.mayBuild || !(isSite(mode) || mode === "tear");
    this.mode = this.mode === mode || !isAllowed ? "command" : mode;
    this.corner = undefined;
    this.isDone = false;
    this.sites.clear();
    this.patrol.clear();
    this.selection.clearBox();
    this.map.terrain.showSites(isSite(this.mode));
    this.panel.showMode(this.mode);
    this.say(this.mode === "command" ? "" : MODE_WORDS[this.mode]);
  }

  private say(words: string): void {
    if (this.tip.textContent !== words) {
      this.tip.textContent = words;
      this.tip.hidden = words === "";
    }
  }

  // ---- mouse, fingers and keys ------------------------------------------------------------------

  private makeHandlers(): MapView["handlers"] {
    return {
      drag: (from, to) => {
        if (this.mode === "command" || this.mode === "box") {
          this.selection.stretch(from, to);
        } else {
          this.showSite(from, to);
        }
      },
      up: (from, to, press) => this.leftUp(from, to, press),
      cancel: () => {
        this.selection.clearBox();
        this.sites.clear();
      },
      command: (cell, press) => {
        if (this.mode === "command") {
          void attempt(() => this.goOrFollow(cell, press.shiftKey, press.byTouch));
        } else {
          this.use("command"); // the right button ends the mode, as everywhere
        }
      },
      hover: (cell) => {
        if (cell === undefined) {
          this.sites.clear();
        } else {
          this.showSite(this.corner ?? cell, cell);
        }
      },
      fingerDraws: () => this.mode === "box" || isSite(this.mode),
    };
  }

  private showSite(from: Cell, to: Cell): void {
    if (isSite(this.mode)) {
      const words = this.sites.draw(from, to, this.mode);
      this.say(words === "" ? MODE_WORDS[this.mode] : words);
    }
  }

  private leftUp(from: Cell, to: Cell, press: Press): void {
    const mode = this.mode;
    if (mode === "command" || mode === "box") {
      if (press.clicks === 2 && mode === "command") {
        this.selection.chooseAlike(to, press.byTouch);
      } else {
        this.selection.choose(from, to, press.shiftKey, press.byTouch);
      }
      if (mode === "box") {
        this.use("command");
      }
      return;
    }
    if (isSite(mode) && press.byKeyboard && this.corner === undefined) {
      this.corner = to;
      this.sites.draw(to, to, mode);
      this.say("Go to the other end and press Enter.");
      return;
    }
    const start = press.byKeyboard ? this.corner ?? from : from;
    this.corner = undefined;
    this.sites.clear();
    void attempt(async () => {
      if (isSite(mode)) {
        await this.sites.build(start, to, mode);
        this.markers.put(to, "build");
      } else if (mode === "tear") {
        await this.sites.tearDown(to);
      } else if (isAim(mode)) {
        this.aim(to, press);
      }
    });
  }

  // A place or a unit for the order of this mode. Shift keeps the mode, and puts the order behind the
  // orders that the units have.
  private aim(cell: Cell, { shiftKey, byTouch }: { shiftKey: boolean; byTouch: boolean }): void {
    const { mode } = this;
    if (mode === "patrol" && (shiftKey || byTouch)) {
      const points = this.patrol.add(this.map.onMap(cell));
      this.say(`${points} ${points === 1 ? "point" : "points"} of a patrol. ` +
               (byTouch ? "\"patrol\" again sends them." : "It begins when you let go of Shift."));
      return;
    }
    void attempt(async () => {
      switch (mode) {
        case "attack": await this.send("move", cell, shiftKey, { alert: this.alertRadius }); break;
        case "guard": await this.send("guard", cell, shiftKey); break;
        case "patrol": await this.send("patrol", cell); break;
        case "follow": {
          const target = this.selection.agentAt(cell, byTouch);
          if (target === undefined) {
            throw new Error("Nobody stands there whom they could follow.");
          }
          await this.follow(cell, shiftKey, target.id, false);
          break;
        }
        default: return;
      }
      if (shiftKey) {
        this.isDone = true;
      } else {
        this.use("command");
      }
    });
  }

  private shiftUp(): void {
    if (this.mode === "patrol" && this.patrol.length > 0) {
      this.sendPatrol(true);
    } else if (this.isDone) {
      this.use("command");
    }
  }

  private sendPatrol(queue: boolean): void {
    const { goals, loop, last } = this.patrol.take();
    this.use("command");
    void attempt(() => (goals.length === 2 ? this.send("patrol", last, queue)
      : this.send("patrol", last, queue, { goals, ...(loop ? { loop } : {}) })));
  }

  // As far as units see, so that an enemy is noticed as soon as possible.
  private get alertRadius(): number {
    const sight = Number(this.world.rules["sense_radius"] ?? 0);
    return sight > 0 ? Math.min(ALERT_MAX, sight) : ALERT;
  }

  private key(event: KeyboardEvent): void {
    const { target } = event;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement || event.altKey ||
        event.metaKey || document.querySelector("dialog[open]") !== null) {
      return;
    }
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
    if (digit !== undefined) {
      event.preventDefault();
      if (event.ctrlKey) {
        this.selection.saveGroup(Number(digit));
        this.news.tell(`group ${digit}: ${this.selection.ids.size} units`);
      } else {
        this.callGroup(Number(digit));
      }
      return;
    }
    if (event.ctrlKey) {
      if (event.key.toLowerCase() === "a") {
        event.preventDefault();
        this.selection.chooseAll();
      }
      return;
    }
    switch (event.key.toLowerCase()) {
      case "a": this.use("attack"); break;
      case "f": this.use("follow"); break;
      case "r": void attempt(() => this.goOn()); break;
      case "backspace": void attempt(() => this.queue.cancelLast()); break;
      case "s": void attempt(() => this.send("stop")); break;
      case "h": void attempt(() => this.send("hold")); break;
      case "e": void attempt(() => this.send("explore")); break;
      case "k": void attempt(() => this.send("keep_distance")); break;
      case "d": void attempt(() => this.send("scatter")); break;
      case "p": this.use("patrol"); break;
      case "g": this.use("guard"); break;
      case "b": this.use("wall"); break;
      case "n": this.use("house"); break;
      case "t": this.use("tear"); break;
      case "m": void attempt(() => this.goOrFollow(this.map.middleCell, event.shiftKey)); break;
      case "x": this.chooseAround(event.shiftKey); break;
      case ".": this.nextIdle(); break;
      case "l": this.news.goToNewest(); break;
      case "escape": this.use("command"); break;
      case "c": this.goHome(); break;
      case "v": void attempt(() => this.keepInView()); break;
      default: return;
    }
    event.preventDefault();
  }

  private chooseAround(add: boolean): void {
    const { x, y } = this.map.middleCell;
    this.selection.choose({ x: x - AROUND, y: y - AROUND }, { x: x + AROUND, y: y + AROUND }, add);
  }

  private async keepInView(): Promise<void> {
    if (this.selection.ids.size === 0) {
      throw new Error("Select the units first that shall stay in view.");
    }
    this.kept.toggle();
  }

  // While the selected units are kept in view, the map goes to them by itself.
  private goToSelected(middle: Cell, zoom = this.map.zoom): void {
    if (!this.kept.isOn) {
      this.map.centre(middle, zoom);
    }
  }

  // Called twice, the screen moves to the group.
  private callGroup(group: number): void {
    const now = performance.now();
    this.selection.callGroup(group);
    const middle = this.selection.middle();
    if (this.called?.group === group && now - this.called.at < AGAIN_MS && middle !== undefined) {
      this.goToSelected(middle);
    }
    this.called = { group, at: now };
  }

  private nextIdle(): void {
    const middle = this.selection.chooseNextIdle();
    if (middle === undefined) {
      this.news.tell("everybody has something to do");
    } else {
      this.goToSelected(middle, Math.max(8, this.map.zoom));
    }
  }

  private goTo(cell: Cell, agents: readonly number[]): void {
    this.map.centre({ x: cell.x + 0.5, y: cell.y + 0.5 }, Math.max(8, this.map.zoom));
    this.selection.chooseThese(agents);
  }

  /** Moves the screen to the selected units, or to the team's units. */
  private goHome(): void {
    const wasEmpty = this.selection.ids.size === 0;
    if (wasEmpty) {
      this.selection.chooseAll();
    }
    const middle = this.selection.middle();
    if (wasEmpty) {
      this.selection.chooseNone();
    }
    if (middle !== undefined) {
      this.goToSelected(middle, Math.max(this.homeZoom, this.map.zoom));
    }
  }

  // Pixels per cell at which there is room for a base and what is around it.
  private get homeZoom(): number {
    const { width, height } = this.map.app.screen;
    return Math.max(10, Math.min(28, Math.min(width, height) / CELLS_AROUND));
  }

  // ---- orders -----------------------------------------------------------------------------------

  // Sends units to a cell, or after the unit that stands there; an enemy is followed until it is caught.
  private async goOrFollow(cell: Cell, queue: boolean, byFinger = false): Promise<void> {
    const target = this.map.zoom < 4 ? undefined : this.selection.agentAt(cell, byFinger);
    if (target === undefined || target.team === this.team || this.selection.ids.has(target.id)) {
      await this.send("move", cell, queue);
    } else {
      await this.follow(cell, queue, target.id, true);
    }
  }

  private async follow(cell: Cell, queue: boolean, target: number, isChase: boolean): Promise<void> {
    this.markers.put(cell, "follow");
    await this.send("follow", undefined, queue, { target, ...(isChase ? { once: true } : {}) });
  }

  // Those selected units that stopped for an enemy, or all units that did.
  private async goOn(agents = this.alerts.list.filter((id) => this.selection.ids.has(id))): Promise<void> {
    const list = agents.length > 0 ? agents : this.alerts.list;
    if (list.length === 0) {
      throw new Error("Nobody has stopped for an enemy.");
    }
    const ticks = Math.max(1, Math.round(GO_ON_S * this.world.tick_hz));
    await this.client.call("agent.resume", { world: this.world.world, agents: list, ticks });
    this.alerts.resumed(list);
    this.refresh();
  }

  // A place beside the map means the map's edge.
  private async send(kind: OrderKind, place?: Cell, queue = false,
                     more: Partial<Params["agent.order"]> = {}): Promise<void> {
    const cell = place === undefined ? undefined : this.map.onMap(place);
    const agents = this.selection.list;
    if (agents.length === 0) {
      throw new Error("Select some units first: drag a box around them.");
    }
    if (cell !== undefined) {
      const mark: MarkKind = more.alert !== undefined ? "attack" : kind === "move" ? "go" : "follow";
      this.markers.put(cell, mark);
    }
    this.reports.orderGiven();
    const { order } = await this.client.call("agent.order", {
      world: this.world.world, agents, kind,
      ...(cell === undefined || more.goals !== undefined ? {} : { goal: [cell.x, cell.y] }),
      ...(queue ? { queue } : {}),
      ...(kind === "move" && agents.length > 1 ? { spread: true } : {}),
      ...(kind === "keep_distance" ? { radius: this.alertRadius } : {}), // from every enemy in sight
      ...(kind === "stop" || this.deadline === 0 ? {}
        : { deadline: Math.max(1, Math.round(this.deadline * this.world.tick_hz)) }),
      ...more,
    });
    this.reports.orderGiven(); // an answer that is under way may be older than the order
    if (kind === "stop") {
      this.plans.forget(agents);
    } else {
      this.plans.given(agents, order, queue, { kind, ...(cell === undefined ? {} : { x: cell.x, y: cell.y }) });
    }
    this.refresh();
    this.guide.done(kind === "explore" ? "explore" : "send");
  }
}
