// What ticks cost, over the last few hundred of them. Lines differ in colour and in dashes.
//
// The numbers come with deltas. A tick in which nothing changed has none: while a world ticks and nothing
// happens, stats is asked once a second. While the world is stopped there is nothing to draw, and an empty
// chart says so.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { make } from "../common/dom.js";

const KEPT = 400;
const DRAWN_EVERY_MS = 200;
const HEIGHT = 104; // of the lines and their axes, in pixels
const PADDING = 8;
const DIGITS_MAX = 5;
const FONT = "13px system-ui, sans-serif";

interface Line {
  label: string;
  colour: string;
  dash?: number[];
}

const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#f5f5f5",
                 "#8f8fff"]; // as many as a tick has stages
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2], [10, 4], [4, 4], [12, 3, 2, 3, 2, 3]];

function linesOf(labels: readonly string[]): Line[] {
  return labels.map((label, i) => ({ label, colour: COLOURS[i % COLOURS.length]!,
                                     dash: DASHES[i % DASHES.length]! }));
}

// Numbers that fit beside a small chart, with as many digits as it takes to distinguish them and to be right: one that
// stands alone at 0.05 is not "0".
function short(_: uPlot, values: number[]): string[] {
  const notation = Math.max(...values.map(Math.abs)) >= 10000 ? "compact" : "standard";
  for (let digits = 0; digits < DIGITS_MAX; digits++) {
    const format = new Intl.NumberFormat("en", { notation, maximumFractionDigits: digits });
    const texts = values.map((value) => format.format(value));
    const right = notation === "compact" ||
      values.every((value) => Math.abs(Number(value.toFixed(digits)) - value) <= Math.abs(value) / 100);
    if (right && new Set(texts).size === texts.length) {
      return texts;
    }
  }
  return values.map((value) => value.toLocaleString("en"));
}

function ticks(_: uPlot, values: number[]): string[] {
  return values.map((value) => (Number.isInteger(value) ? `tick ${value.toLocaleString("en")}` : ""));
}

function emptyWords(): HTMLElement {
  return make("p", { class: "hint empty" }, "nothing yet: the world has not ticked since this page looks");
}

class Chart {
  private readonly data: number[][];
  private readonly plot: uPlot;
  private readonly words = emptyWords();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parent: HTMLElement, title: string, lines: readonly Line[]) {
    this.data = [[], ...lines.map(() => [])];
    const box = make("div", { class: "chart", "data-chart": title });
    box.append(make("h2", {}, title), this.words);
    parent.append(box);
    this.plot = new uPlot({
      width: 200,
      height: HEIGHT,
      legend: { show: true, live: false },
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        { stroke: "#b8bcc4", grid: { stroke: "#2a2d34" }, size: 26, space: 100, values: ticks, font: FONT },
        { stroke: "#b8bcc4", grid: { stroke: "#2a2d34" }, size: 54, space: 24, values: short, font: FONT },
      ],
      series: [{}, ...lines.map((line) => ({ label: line.label, stroke: line.colour, width: 1.5,
                                            points: { show: () => this.length === 1 },
                                            ...(line.dash?.length ? { dash: line.dash } : {}) }))],
    }, this.data as uPlot.AlignedData, box);
    new ResizeObserver(() => {
      const width = box.clientWidth - PADDING;
      if (width > 0 && width !== this.plot.width) { // a hidden tab has none
        this.plot.setSize({ width, height: HEIGHT });
      }
    }).observe(box);
  }

  get length(): number {
    return this.data[0]!.length;
  }

  add(tick: number, values: readonly number[]): void {
    const last = this.data[0]!.at(-1) ?? -1;
    if (last === tick) {
      return;
    }
    if (last > tick) {
      this.data.forEach((column) => column.splice(0)); // another world, or an earlier tick
    }
    [tick, ...values].forEach((value, i) => this.data[i]!.push(value));
    this.words.hidden = true;
    if (this.data[0]!.length > KEPT) {
      this.data.forEach((column) => column.shift());
    }
    // The last value is drawn too, even if it comes soon after the one before and none follows for long.
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.plot.setData(this.data as uPlot.AlignedData);
    }, DRAWN_EVERY_MS);
  }
}

/** The answer of stats. */
interface Stats {
  server: Record<string, unknown>;
  world: Record<string, unknown>;
  teams?: readonly number[];
}

const STAGES = "ms by stage";
const TEAM_ENTRIES = 8;
const TEAM_WAITING = 3; // place of `waiting` among them

export class Charts {
  readonly panel = make("div", { class: "charts" });
  private readonly time: Chart;
  private stages: Chart | undefined; // made once the names of the stages are known
  private readonly work: Chart;
  private readonly queues: Chart;
  private readonly memory: Chart;
  private readonly agents: Chart;
  private readonly stagesBox = make("div", { class: "stages" });
  private before: { ticks: number; stages: Record<string, number>; expansions: number; moves: number } | undefined;
  private told = 0; // deltas with a load since the last answer of stats

  constructor() {
    this.stagesBox.append(make("div", { class: "chart" }, make("h2", {}, STAGES), emptyWords()));
    this.time = new Chart(this.panel, "ms per tick", linesOf(["tick", "search", "budget"]));
    this.panel.append(this.stagesBox);
    this.work = new Chart(this.panel, "expansions per tick", linesOf(["expansions"]));
    this.queues = new Chart(this.panel, "agents waiting, ticks late", linesOf(
      ["for a search", "stuck", "client late", "disk late"]));
    this.memory = new Chart(this.panel, "memory, MiB", linesOf(["search", "knowledge"]));
    this.agents = new Chart(this.panel, "agents", linesOf(["alive", "moved"]));
  }

  /** `load` of a delta. */
  addLoad(tick: number, load: readonly number[], budgetMs: number): void {
    const [tickUs = 0, searchUs = 0, expansions = 0, moved = 0, alive = 0] = load;
    this.told++;
    this.time.add(tick, [tickUs / 1000, searchUs / 1000, budgetMs]);
    this.work.add(tick, [expansions]);
    this.agents.add(tick, [alive, moved]);
  }

  addStats({ server, world, teams = [] }: Stats, budgetMs: number): void {
    const number = (from: Record<string, unknown>, name: string): number => Number(from[name] ?? 0);
    const tick = number(world, "tick");
    const journal = (world["journal"] ?? {}) as Record<string, unknown>;
    let waiting = 0;
    for (let i = TEAM_WAITING; i < teams.length; i += TEAM_ENTRIES) {
      waiting += teams[i]!;
    }
    this.queues.add(tick, [waiting, number(world, "stuck"), number(server, "client_lag_ticks"),
                           number(journal, "waiting_ticks")]);
    this.memory.add(tick, [number(world, "search_bytes") / 2 ** 20,
                           number(world, "knowledge_bytes") / 2 ** 20]);
    this.addStages(tick, world, budgetMs);
    if (this.agents.length === 0) {
      this.agents.add(tick, [number(world, "agents"), 0]);
    }
  }

  // stats has means since the world began. The time of the ticks between two answers is the difference
  // of the sums.
  private addStages(tick: number, world: Record<string, unknown>, budgetMs: number): void {
    const [expansions, moves] = [Number(world["expansions"] ?? 0), Number(world["moves"] ?? 0)];
    const stages = (world["stages_ms"] ?? {}) as Record<string, number>;
    const ticks = Number((world["tick_ms"] as { count?: number } | undefined)?.count ?? 0);
    const { before } = this;
    if (before === undefined || ticks !== before.ticks) {
      this.before = { ticks, stages, expansions, moves };
    }
    if (before === undefined || ticks <= before.ticks) {
      return;
    }
    const passed = ticks - before.ticks;
    const names = Object.keys(stages);
    if (this.stages === undefined) {
      this.stagesBox.replaceChildren();
      this.stages = new Chart(this.stagesBox, STAGES, linesOf(names));
    }
    const took = names.map((name) => Math.max(0,
      (stages[name]! * ticks - (before.stages[name] ?? 0) * before.ticks) / passed));
    this.stages.add(tick, took);
    if (this.told === 0) {
      this.time.add(tick, [took.reduce((sum, ms) => sum + ms, 0), took[names.indexOf("search")] ?? 0, budgetMs]);
      this.work.add(tick, [Math.max(0, expansions - before.expansions) / passed]);
      this.agents.add(tick, [Number(world["agents"] ?? 0), Math.max(0, moves - before.moves) / passed]);
    }
    this.told = 0;
  }
}
