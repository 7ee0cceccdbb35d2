// One world on the debug page: its streams, its map, its panels. Ends with end().

import {
  ORDER_ENDS, subscribe, type Client, type Ended, type Mirror, type Results, type Subscription,
} from "fogmarch";
import { attempt, wordsFor } from "../common/connection.js";
import { choice, count, facts, fillChoice, find, group, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import { Charts } from "./charts.js";
import { Recorder, save } from "./export.js";
import { Inspector } from "./inspector.js";
import { readLink, writeLink } from "./link.js";
import { Tools } from "./tools.js";

const STATS_PERIOD_MS = 2000;
const ENDED_SHOWN = 8;

type World = Results["world.info"];

export class WorldView {
  private readonly ends: (() => void)[] = [];
  private truth: Subscription | undefined;
  private belief: Subscription | undefined;
  private team = 0;
  readonly inspector: Inspector;
  private readonly tools: Tools;
  private readonly charts: Charts;
  private readonly top = make("div", { id: "costs" });
  private readonly topTable = make("table", { id: "top" });
  private readonly topBy = choice("most expensive", [
    ["agents", "agents"], ["planners", "searches"], ["teams", "teams"], ["edits", "edits"],
  ], () => void this.readTop());
  private readonly clock = make("p", { id: "clock" }, "tick -");
  private readonly endedList = make("ol", { id: "ended", "aria-label": "orders that ended" });
  private readonly teams;
  private recorder: Recorder | undefined;
  private paused: boolean;

  constructor(
    private readonly client: Client,
    private readonly world: World,
    private readonly map: MapView,
  ) {
    const link = readLink();
    this.paused = world.paused;
    this.inspector = new Inspector(find("right"), client, world.world, map, link.overlay);
    this.inspector.onChanged = () => this.writeLink();
    this.tools = new Tools(client, world, map, this.inspector, () => this.truth?.mirror);
    this.teams = choice("fog of", this.teamOptions(), (team) => {
      void attempt(() => this.showTeam(Number(team)));
    });
    this.teams.select.id = "team";
    const bottom = find("bottom");
    const charts = make("div", { class: "charts" });
    bottom.replaceChildren(charts, make("div", { class: "lists" },
      group("Costs", this.topBy.element, this.topTable),
      group("Stages and memory", this.top), group("Orders that ended", this.endedList)));
    this.charts = new Charts(charts);
    find("left").append(this.timePanel(), this.tools.panel, this.recordPanel());
    map.onMoved = () => this.writeLink();
  }

  static async begin(client: Client, world: World, map: MapView): Promise<WorldView> {
    const view = new WorldView(client, world, map);
    const link = readLink();
    await view.follow();
    if (link.team !== undefined && link.team > 0 && link.world === world.world) {
      await view.showTeam(link.team);
    }
    if (link.at !== undefined && link.world === world.world) {
      map.centre({ x: link.at[0], y: link.at[1] }, link.at[2]);
    }
    if (link.agent !== undefined && link.world === world.world) {
      await view.inspector.select(link.agent);
    }
    return view;
  }

  end(): void {
    this.ends.forEach((end) => end());
    this.tools.end();
    this.map.onMoved = () => {};
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
    const { mirror } = this.truth;
    mirror.onChange = ({ keyframe, rows, ended }) => {
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
    return this.paused ? 1 : 1000 / this.world.tick_hz;
  }

  private take(mirror: Mirror, ended: readonly Ended[]): void {
    this.map.agents.take(mirror, this.interval);
    this.clock.textContent = `tick ${count(mirror.tick)}, ${count(mirror.agentCount)} agents`;
    this.clock.dataset["tick"] = String(mirror.tick);
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
    void this.inspector.refresh(mirror.tick);
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

  private async showTeam(team: number): Promise<void> {
    const before = this.belief;
    this.belief = undefined;
    this.team = team;
    await before?.end();
    if (team > 0) {
      const belief = await subscribe(this.client, { world: this.world.world, team });
      this.belief = belief;
      belief.mirror.onChange = ({ keyframe, rows }) => {
        this.paint(rows, keyframe);
        this.map.seen.take(belief.mirror, this.interval);
      };
      this.map.seen.take(belief.mirror, this.interval);
    }
    this.map.showSeen(this.belief?.mirror);
    this.teams.select.value = String(team);
    this.paint([0, 0], true);
    this.writeLink();
  }

  private writeLink(): void {
    const { x, y } = this.map.middle;
    writeLink({
      world: this.world.world,
      ...(this.team > 0 ? { team: this.team } : {}),
      ...(this.inspector.agent === undefined ? {} : { agent: this.inspector.agent }),
      at: [x, y, this.map.zoom],
      ...(this.inspector.overlayName === "none" ? {} : { overlay: this.inspector.overlayName }),
    });
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
    const world = this.world.world;
    pause.addEventListener("click", () => void attempt(async () => {
      if (this.paused) {
        await this.client.call("world.resume", { world });
      } else {
        await this.client.call("world.pause", { world });
      }
      this.paused = !this.paused;
      name();
    }));
    step.addEventListener("click", () => void attempt(async () => {
      await this.client.call("world.step", { world, ticks: 1 });
      await this.inspector.refresh(this.truth?.mirror.tick);
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
    const button = make("button", { type: "button" }, "record the run");
    button.addEventListener("click", () => {
      if (this.recorder === undefined) {
        this.recorder = new Recorder();
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
    return group("Export", button);
  }

  // Rows of agents select them.
  private async readTop(): Promise<void> {
    const by = this.topBy.select.value;
    try {
      const { rows } = await this.client.call("debug.top", { world: this.world.world, by, rows: 6 });
      const head = by === "edits" ? ["tick", "cells", "expansions"]
        : by === "teams" ? ["team", "agents", "per tick"] : ["agent", "team", "per tick"];
      this.topTable.replaceChildren(
        make("tr", {}, ...head.map((name) => make("th", {}, name))),
        ...rows.map((row) => {
          const number = (name: string): string => count(Number(row[name] ?? 0));
          const agent = Number(row["agent"] ?? 0);
          const cells = by === "edits" ? [number("tick"), number("cells"), number("expansions")]
            : by === "teams" ? [number("team"), number("agents"), Number(row["per_tick"]).toFixed(1)]
            : [String(agent), number("team"), Number(row["per_tick"]).toFixed(1)];
          const [first = "", ...others] = cells;
          const name = agent === 0 ? first : make("button", { type: "button",
            onclick: () => void this.inspector.select(agent, true) }, first);
          return make("tr", {}, make("td", {}, name), ...others.map((cell) => make("td", {}, cell)));
        }));
    } catch (error) {
      this.topTable.replaceChildren(make("tr", {}, make("td", {}, wordsFor(error))));
    }
  }

  private async readStats(): Promise<void> {
    void this.readTop();
    try {
      const { world } = await this.client.call("stats", { world: this.world.world });
      this.showStats(world as Record<string, unknown>);
      const info = await this.client.call("world.info", { world: this.world.world });
      if (info.teams !== this.world.teams) {
        this.world.teams = info.teams;
        fillChoice(this.teams.select, this.teamOptions());
      }
    } catch (error) {
      this.top.textContent = wordsFor(error);
    }
  }

  private showStats(stats: Record<string, unknown>): void {
    const number = (name: string): number => Number(stats[name] ?? 0);
    const tick = stats["tick_ms"] as { p50: number; p99: number } | undefined;
    const stages = stats["stages_ms"] as Record<string, number>;
    this.charts.addMemory(number("tick"), number("search_bytes"), number("knowledge_bytes"));
    this.top.replaceChildren(facts([
      ["tick p50 / p99", `${tick?.p50.toFixed(2)} / ${tick?.p99.toFixed(2)} ms`],
      ["planners", count(number("planners"))],
      ...Object.entries(stages).map(([name, ms]): [string, string] => [name, `${ms.toFixed(3)} ms`]),
    ]));
  }
}
