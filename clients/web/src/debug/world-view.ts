// One world on the debug page: its streams, its map, its panels. Ends with end().

import {
  ORDER_ENDS, subscribe, type Client, type Ended, type Mirror, type Results, type Subscription,
} from "fogmarch";
import { BuildingLayer } from "../common/building-layer.js";
import { movementClasses } from "../common/classes.js";
import { attempt, watchView, wordsFor } from "../common/connection.js";
import { choice, count, fillChoice, find, group, make, showProblem } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import { tabs } from "../common/tabs.js";
import { tagWords } from "../common/tag-layer.js";
import { Charts } from "./charts.js";
import { Compare } from "./compare.js";
import { Costs } from "./costs.js";
import { mapText, Recorder, save } from "./export.js";
import { Follow } from "./follow.js";
import { Inspector } from "./inspector.js";
import { addressOf, readLink, writeLink, type Look } from "./link.js";
import { Pair } from "./pair.js";
import { replayOf, Scrubber } from "./scrubber.js";
import { Tools } from "./tools.js";
import { Waits } from "./waits.js";

const STATS_PERIOD_MS = 1000;
const INFO_PERIOD_MS = 3000;
const ENDED_SHOWN = 24;

type World = Results["world.info"];

export class WorldView {
  private readonly ends: (() => void)[] = [];
  private truth: Subscription | undefined;
  private belief: Subscription | undefined;
  private isOver = false;
  private team = 0;
  readonly inspector: Inspector;
  private readonly tools: Tools;
  private readonly compare: Compare;
  private readonly pair: Pair;
  private readonly waits: Waits;
  private readonly following: Follow;
  private readonly charts = new Charts();
  private readonly buildings = new BuildingLayer();
  private readonly costs: Costs;
  private readonly clock = make("p", { id: "clock" }, "tick -");
  private readonly endedList = make("ol", { id: "ended", "aria-label": "orders that ended" });
  private readonly statsProblem = make("p", { id: "stats-problem", class: "hint" });
  private readonly teams;
  private recorder: Recorder | undefined;
  private paused: boolean;
  private nameTime: () => void = () => {}; // of the buttons that stop and start the clock
  private infoRead = 0;
  private tab = "charts";
  private readonly scrubber: Scrubber | undefined; // only of a replay
  private readonly file: string | undefined;       // the journal of a replay

  constructor(
    private readonly client: Client,
    private readonly world: World,
    private readonly map: MapView,
    close: () => void,
  ) {
    const link = readLink();
    this.file = replayOf(world)?.file;
    this.paused = world.paused;
    const sides = movementClasses(world.rules).map(({ side }) => side);
    map.agents.setClassSides(sides);
    map.seen.setClassSides(sides);
    map.under.addChild(this.buildings.graphics);
    const mirror = (): Mirror | undefined => this.truth?.mirror;
    const selected = (): number | undefined => this.inspector.agent;
    this.waits = new Waits(client, world.world, map, mirror, selected,
                           (agent) => void attempt(() => this.inspector.select(agent, true)));
    this.inspector = new Inspector(find("right"), this.waits.panel, client, world.world, map, link.overlay);
    this.compare = new Compare(client, world.world, map, this.inspector);
    this.pair = new Pair(client, world.world, map, this.inspector);
    this.pair.onChanged = () => this.writeLink();
    this.inspector.onReport = () => this.pair.show();
    this.inspector.tagOf = (agent) => tagWords(this.truth?.mirror.tags.get(agent));
    this.following = new Follow(map, this.inspector.followButton, mirror, selected);
    map.onFrame = () => {
      this.following.frame();
      this.inspector.frame();
      this.waits.draw();
    };
    this.costs = new Costs(client, world.world, (agent) => {
      void attempt(() => this.inspector.select(agent, true));
    });
    let agent: number | undefined;
    this.inspector.onChanged = () => {
      if (agent !== this.inspector.agent) {
        agent = this.inspector.agent;
        this.compare.clear();
      }
      this.writeLink();
    };
    this.tools = new Tools(client, world, map, this.inspector, () => this.truth?.mirror);
    this.teams = choice("fog of", this.teamOptions(), (team) => {
      void attempt(() => this.showTeam(Number(team)));
    });
    this.teams.select.id = "team";
    find("bottom").replaceChildren(tabs([
      { name: "charts", title: "Charts", content: this.charts.panel },
      { name: "costs", title: "Costs", content: this.costs.panel },
      { name: "compare", title: "Compare planners", content: this.compare.panel },
      { name: "pair", title: "Two agents", content: this.pair.panel },
      { name: "orders", title: "Orders that ended", content: make("div", {}, this.endedList) },
    ], "about the world", (name) => {
      this.tab = name;
      void this.readCosts();
    }), this.statsProblem);
    if (this.file === undefined) {
      find("left").append(this.timePanel(), this.tools.panel, this.recordPanel());
    } else {
      this.scrubber = new Scrubber(find("scrubber"), client, world, close);
      map.app.resize(); // its row was added
      this.scrubber.onArrived = () => {
        void this.inspector.lookAgain();
        this.infoRead = 0; // there may be other teams
        this.writeLink();
      };
      find("left").append(group("Replay", this.clock, this.teams.element,
        make("p", { class: "hint" }, "A replay shows what was, and cannot be changed. The slider " +
             "takes arrow keys, with Shift ten ticks at a time, Home, End and Space.")),
        this.recordPanel());
    }
    map.onMoved = () => {
      this.inspector.mapMoved();
      this.compare.mapMoved();
      this.writeLink();
    };
  }

  /** `close`: called when the user leaves the replay. */
  static async begin(client: Client, world: World, map: MapView,
                     close: () => void): Promise<WorldView> {
    const view = new WorldView(client, world, map, close);
    const link = readLink();
    await view.follow();
    if (view.isMeant(link)) {
      await view.goWhere(link);
    }
    return view;
  }

  private isMeant(link: Look): boolean {
    return this.file === undefined ? link.world === this.world.world : link.replay === this.file;
  }

  private async goWhere(link: Look): Promise<void> {
    if (link.tick !== undefined) {
      this.scrubber?.seek(link.tick);
    }
    if (link.team !== undefined && link.team > 0) {
      await this.showTeam(link.team);
    }
    if (link.at !== undefined) {
      this.map.centre({ x: link.at[0], y: link.at[1] }, link.at[2]);
    }
    if (link.agent !== undefined) {
      await this.inspector.select(link.agent);
    }
    if (link.with !== undefined) {
      await this.pair.keep(link.with);
    }
    const { tick } = this.truth!.mirror;
    if (this.file === undefined && link.tick !== undefined && link.tick < tick) {
      showProblem(`This link shows tick ${count(link.tick)}, and the world has gone on to ${count(tick)}. ` +
                  "Nothing was kept to go back to: start the server with --journal-dir.");
    }
  }

  end(): void {
    this.isOver = true;
    this.ends.forEach((end) => end());
    this.tools.end();
    this.scrubber?.end();
    this.inspector.end();
    this.pair.end();
    this.waits.end();
    this.following.end();
    this.map.onFrame = () => {};
    this.map.onMoved = () => {};
    if (this.truth !== undefined) {
      this.map.terrain.paintSight(this.truth.mirror, undefined);
    }
    this.map.show(undefined);
    this.map.showSeen(undefined);
    this.map.under.removeChildren();
    this.map.marks.clear();
    void this.truth?.end().catch(() => {});
    void this.belief?.end().catch(() => {});
  }

  private teamOptions(): [string, string][] {
    const teams: [string, string][] = [["0", "nobody: the truth"]];
    for (let team = 1; team <= this.world.teams; team++) {
      teams.push([String(team), `team ${team}`]);
    }
    return teams;
  }

  private async follow(): Promise<void> {
    this.truth = await subscribe(this.client, { world: this.world.world });
    watchView(this.client, this.truth, () => !this.isOver);
    const { mirror } = this.truth;
    mirror.onChange = ({ keyframe, rows, ended, untold }) => {
      if (untold) {
        this.endedList.prepend(make("li", {}, "more orders ended than are kept for a view"));
      }
      this.paint(rows, keyframe);
      this.take(mirror, ended);
    };
    this.map.show(mirror);
    this.map.fit();
    this.paint([0, mirror.rect[3]], true);
    this.take(mirror, []);
    const timer = setInterval(() => void this.readStats(), STATS_PERIOD_MS);
    this.ends.push(() => clearInterval(timer));
    void this.readStats();
  }

  private get interval(): number {
    return this.scrubber?.interval ?? (this.paused ? 1 : 1000 / this.world.tick_hz);
  }

  private take(mirror: Mirror, ended: readonly Ended[]): void {
    this.map.agents.take(mirror, this.interval);
    this.buildings.draw((this.belief?.mirror ?? mirror).buildings);
    this.showTick(mirror.tick);
    this.scrubber?.take(mirror.tick);
    if (mirror.load.length > 0) {
      this.charts.addLoad(mirror.tick, mirror.load, this.world.budget_ms);
    }
    for (const end of ended.slice(-ENDED_SHOWN)) {
      this.endedList.prepend(make("li", {},
        `order ${end.order} of agent ${end.agent}: ${ORDER_ENDS[end.reason] ?? end.reason}`));
    }
    while (this.endedList.children.length > ENDED_SHOWN) {
      this.endedList.lastChild!.remove();
    }
    this.recorder?.take(mirror);
  }

  // Ticks in which nothing changed send no message: stats tells the tick.
  private showTick(tick: number): void {
    const agents = this.truth?.mirror.agentCount ?? 0;
    this.clock.textContent = `tick ${count(tick)}, ${count(agents)} agents`;
    this.clock.dataset["tick"] = String(tick);
  }

  private paint(rows: readonly [number, number], all = false): void {
    const truth = this.truth!.mirror;
    const height = truth.rect[3];
    if (this.belief === undefined) {
      this.map.terrain.paint(truth, all ? [0, height] : rows);
    } else {
      this.map.terrain.paint(this.belief.mirror, all ? [0, height] : rows, truth);
    }
  }

  // A replay offers all teams that existed at some tick.
  private takeTeams(teams: number): void {
    if (this.file === undefined ? teams !== this.world.teams : teams > this.world.teams) {
      this.world.teams = teams;
      fillChoice(this.teams.select, this.teamOptions());
    }
  }

  private async showTeam(team: number): Promise<void> {
    if (this.file !== undefined) {
      this.takeTeams(team);
    }
    const before = this.belief;
    this.belief = undefined;
    this.team = team;
    await before?.end();
    if (team > 0) {
      const belief = await subscribe(this.client, { world: this.world.world, team, sight: true });
      this.belief = belief;
      watchView(this.client, belief, () => !this.isOver && this.belief === belief);
      const look = (): void => this.map.terrain.paintSight(belief.mirror, belief.mirror.visible, true);
      look();
      belief.mirror.onChange = ({ keyframe, rows, sight }) => {
        this.paint(rows, keyframe);
        if (sight || keyframe || rows[0] < rows[1]) {
          look();
        }
        this.map.seen.take(belief.mirror, this.interval);
      };
      this.map.seen.take(belief.mirror, this.interval);
    } else {
      this.map.terrain.paintSight(this.truth!.mirror, undefined);
    }
    this.map.showSeen(this.belief?.mirror);
    this.teams.select.value = String(team);
    this.paint([0, 0], true);
    this.writeLink();
  }

  private get look(): Look {
    const { x, y } = this.map.middle;
    return {
      ...(this.file === undefined ? { world: this.world.world }
        : { replay: this.file, tick: this.scrubber!.tick }),
      ...(this.team > 0 ? { team: this.team } : {}),
      ...(this.inspector.agent === undefined ? {} : { agent: this.inspector.agent }),
      ...(this.pair.agent === undefined ? {} : { with: this.pair.agent }),
      at: [x, y, this.map.zoom],
      ...(this.inspector.overlayName === "none" ? {} : { overlay: this.inspector.overlayName }),
    };
  }

  private writeLink(): void {
    writeLink(this.look);
  }

  // A link to exactly this, tick included. It leads to the world's journal if there is one: the world goes on.
  private async exactLink(): Promise<string> {
    const { world: _, ...look } = { ...this.look, tick: this.scrubber?.tick ?? this.truth!.mirror.tick };
    if (this.file === undefined) {
      const { journals } = await this.client.call("replay.list", {}).catch(() => ({ journals: [] }));
      const row = (journals as unknown as { file: string; world: number; runs: boolean }[])
        .find(({ world, runs }) => runs && world === this.world.world);
      return addressOf(row === undefined ? { world: this.world.world, ...look } : { replay: row.file, ...look });
    }
    return addressOf(look);
  }

  private timePanel(): HTMLElement {
    const pause = make("button", { type: "button", id: "pause" });
    const step = make("button", { type: "button", id: "step" }, "one tick");
    const rate = make("input", { type: "number", min: 0.1, max: 1000, step: "any", name: "rate",
                                 value: this.world.tick_hz });
    const name = (): void => {
      pause.textContent = this.paused ? "resume" : "pause";
      step.disabled = !this.paused;
    };
    this.nameTime = name;
    const world = this.world.world;
    pause.addEventListener("click", () => void attempt(async () => {
      const paused = !this.paused; // it may be heard of before the answer comes
      if (paused) {
        await this.client.call("world.pause", { world });
      } else {
        await this.client.call("world.resume", { world });
      }
      this.paused = paused;
      name();
    }));
    step.addEventListener("click", () => void attempt(async () => {
      await this.client.call("world.step", { world, ticks: 1 });
    }));
    rate.addEventListener("change", () => void attempt(async () => {
      const tick_hz = Number(rate.value);
      await this.client.call("world.resume", { world, tick_hz });
      this.world.tick_hz = tick_hz;
      this.paused = false;
      name();
    }));
    name();
    return group("Time", this.clock, make("div", { class: "row" }, pause, step),
                 make("label", {}, "ticks per second ", rate), this.teams.element);
  }

  private recordPanel(): HTMLElement {
    const button = make("button", { type: "button", id: "record" }, "record the run");
    button.addEventListener("click", () => {
      if (this.recorder === undefined) {
        this.recorder = new Recorder(this.world.rules["neighbours"] === 8);
        if (this.truth !== undefined) {
          this.recorder.take(this.truth.mirror);
        }
        button.textContent = "save the run for PlanViz";
      } else {
        save(`${this.world.name}.json`, this.recorder.plan());
        this.recorder = undefined;
        button.textContent = "record the run";
      }
    });
    const map = make("button", { type: "button", id: "save-map", onclick: () => {
      if (this.truth !== undefined) {
        save(`${this.world.name}.map`, mapText(this.truth.mirror));
      }
    } }, "save its map");
    const shown = make("input", { id: "exact-link", readonly: true, hidden: true,
                                  "aria-label": "link to exactly this" });
    const link = make("button", { type: "button", id: "copy-link", onclick: () => void attempt(async () => {
      shown.value = await this.exactLink();
      shown.hidden = false;
      shown.select();
      link.textContent = await navigator.clipboard.writeText(shown.value).then(
        () => "link copied", () => "copy this link:");
    }) }, "link to exactly this");
    return group("Take away", make("div", { class: "tools" }, button, map, link, shown));
  }

  private async readCosts(): Promise<void> {
    if (this.tab === "costs") {
      await this.costs.refresh();
    }
  }

  private async readStats(): Promise<void> {
    const world = this.world.world;
    void this.readCosts();
    try {
      const stats = await this.client.call("stats", { world, teams: true });
      this.charts.addStats(stats, this.world.budget_ms);
      this.showTick(Math.max(this.truth?.mirror.tick ?? 0, Number(stats.world["tick"])));
      this.costs.showStages(stats.world);
      this.statsProblem.textContent = "";
      if (performance.now() - this.infoRead > INFO_PERIOD_MS) {
        this.infoRead = performance.now();
        this.takeInfo(await this.client.call("world.info", { world }));
      }
    } catch (error) {
      this.statsProblem.textContent = wordsFor(error);
    }
  }

  // Other clients may have made a team, or stopped the clock.
  private takeInfo(info: World): void {
    this.takeTeams(info.teams);
    this.world.tick_hz = info.tick_hz;
    this.world.budget_ms = info.budget_ms;
    if (info.paused !== this.paused) {
      this.paused = info.paused;
      this.nameTime();
    }
  }
}
