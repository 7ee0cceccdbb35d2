// What ticks cost, over the last few hundred of them.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { make } from "../common/dom.js";

const KEPT = 400;

interface Line {
  label: string;
  colour: string;
  dash?: number[];
}

class Chart {
  private readonly data: number[][];
  private readonly plot: uPlot;
  private drawn = 0;

  constructor(parent: HTMLElement, title: string, lines: readonly Line[]) {
    this.data = [[], ...lines.map(() => [])];
    const box = make("div", { class: "chart" });
    parent.append(box);
    this.plot = new uPlot({
      title,
      width: 240,
      height: 130,
      legend: { show: true, live: false },
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        { stroke: "#b8bcc4", grid: { stroke: "#2a2d34" }, size: 24 },
        { stroke: "#b8bcc4", grid: { stroke: "#2a2d34" }, size: 48 },
      ],
      series: [{}, ...lines.map((line) => ({ label: line.label, stroke: line.colour, width: 1.5,
                                            ...(line.dash ? { dash: line.dash } : {}) }))],
    }, this.data as uPlot.AlignedData, box);
  }

  add(tick: number, values: readonly number[]): void {
    if ((this.data[0]!.at(-1) ?? -1) >= tick) {
      this.data.forEach((column) => column.splice(0)); // another world, or the past
    }
    [tick, ...values].forEach((value, i) => this.data[i]!.push(value));
    if (this.data[0]!.length > KEPT) {
      this.data.forEach((column) => column.shift());
    }
    const now = performance.now();
    if (now - this.drawn > 200) {
      this.drawn = now;
      this.plot.setData(this.data as uPlot.AlignedData);
    }
  }
}

export class Charts {
  private readonly time: Chart;
  private readonly work: Chart;
  private readonly agents: Chart;
  private readonly memory: Chart;

  constructor(parent: HTMLElement) {
    this.time = new Chart(parent, "ms per tick", [
      { label: "tick", colour: "#56b4e9" },
      { label: "search", colour: "#e69f00", dash: [6, 3] },
      { label: "budget", colour: "#d55e00", dash: [2, 3] },
    ]);
    this.work = new Chart(parent, "expansions per tick", [
      { label: "expansions", colour: "#009e73" },
    ]);
    this.agents = new Chart(parent, "agents", [
      { label: "alive", colour: "#cc79a7" },
      { label: "moved", colour: "#f0e442", dash: [6, 3] },
    ]);
    this.memory = new Chart(parent, "MiB", [
      { label: "search", colour: "#e69f00" },
      { label: "knowledge", colour: "#0072b2", dash: [6, 3] },
    ]);
  }

  /** `load` of a delta. */
  addLoad(tick: number, load: readonly number[], budgetMs: number): void {
    const [tickUs = 0, searchUs = 0, expansions = 0, moved = 0, alive = 0] = load;
    this.time.add(tick, [tickUs / 1000, searchUs / 1000, budgetMs]);
    this.work.add(tick, [expansions]);
    this.agents.add(tick, [alive, moved]);
  }

  addMemory(tick: number, searchBytes: number, knowledgeBytes: number): void {
    this.memory.add(tick, [searchBytes / 2 ** 20, knowledgeBytes / 2 ** 20]);
  }
}
