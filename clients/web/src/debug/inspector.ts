// The panel of the selected agent: everything that debug.subscribe says, after every tick, and its
// search drawn over the map.

import type { Client } from "fogmarch";
import { attempt, wordsFor } from "../common/connection.js";
import { bytes, choice, count, facts, group, make } from "../common/dom.js";
import type { MapView } from "../common/map-view.js";
import { plannerOf } from "./costs.js";
import { Explanation } from "./explanation.js";
import { save, searchTrace } from "./export.js";
import { needsDetails, OVERLAYS, SearchOverlay, type Overlay } from "./overlay.js";
import { AgentTrace, type Inspection } from "./trace.js";

const SEARCH_CELLS_MAX = 16384; // of one report
const MOVED_MS = 150;           // this long after the map has moved, other cells are requested
const NOBODY = "Click an agent on the map, or type its id.";

export class Inspector {
  readonly overlay = new SearchOverlay();
  readonly trace: AgentTrace;
  agent: number | undefined;
  /** The newest report about it. */
  last: Inspection | undefined;
  /** Called when another agent, or another overlay, was chosen. */
  onChanged: () => void = () => {};
  /** Called after each report. */
  onReport: () => void = () => {};
  /** The tag that the game has attached to an agent; empty: none. */
  tagOf: (agent: number) => string = () => "";
  private lastExpansions: { tick: number; expansions: number } | undefined;
  private pace = "-";
  private ringAt = ""; // where the ring is drawn
  private wished: readonly [number, number, number, number] | undefined; // the cells that reports should hold
  private moved: ReturnType<typeof setTimeout> | undefined;
  private readonly explanation: Explanation;
  private readonly body = make("div", { id: "agent-facts", "aria-live": "off" });
  readonly followButton = make("button", { type: "button", id: "follow", "aria-pressed": "false",
                                           "aria-keyshortcuts": "f" }, "follow ", make("kbd", {}, "F"));
  private readonly legend = make("p", { id: "legend", class: "hint" });
  private readonly search = make("input", { type: "number", min: 1, step: 1, name: "agent",
                                            placeholder: "id" });
  private readonly overlayChoice;

  constructor(
    parent: HTMLElement,
    more: HTMLElement,
    private readonly client: Client,
    private readonly world: number,
    private readonly map: MapView,
    overlay: string | undefined,
  ) {
    this.trace = new AgentTrace(client, world);
    this.trace.onReport = (report, tick) => this.show(report, tick);
    this.trace.onSilence = (words) => this.showNothing(words);
    this.explanation = new Explanation(client, world);
    this.overlayChoice = choice("show its", OVERLAYS, () => {
      this.onChanged();
      void attempt(() => this.follow());
    });
    if (OVERLAYS.some(([name]) => name === overlay)) {
      this.overlayChoice.select.value = overlay!;
    }
    this.overlayChoice.select.id = "overlay";
    const find = make("form", { onsubmit: (event: Event) => {
      event.preventDefault();
      void attempt(() => this.select(Number(this.search.value), true));
    } }, make("label", {}, "agent ", this.search), make("button", {}, "find"));
    const exportButton = make("button", { type: "button", id: "save-trace",
                                          onclick: () => void attempt(() => this.saveTrace()) },
                              "save search as trace");
    const explainButton = make("button", { type: "button", id: "explain",
                                           onclick: () => void this.explanation.open() }, "why?");
    parent.replaceChildren(group("Agent", find, this.overlayChoice.element, this.legend, more, this.body,
                                 this.explanation.last,
                                 make("div", { class: "row" }, this.followButton, explainButton, exportButton),
                                 this.explanation.lists));
    map.under.addChild(this.overlay.container);
    this.showNothing(NOBODY);
  }

  end(): void {
    clearTimeout(this.moved);
    this.trace.end();
    this.explanation.end();
  }

  get overlayName(): Overlay {
    return this.overlayChoice.select.value as Overlay;
  }

  async select(agent: number | undefined, centre = false): Promise<void> {
    this.agent = agent;
    this.last = undefined;
    this.lastExpansions = undefined;
    this.pace = "-";
    this.explanation.select(agent);
    this.search.value = agent === undefined ? "" : String(agent);
    this.onChanged();
    await this.follow();
    if (centre && this.last !== undefined) {
      const [x = 0, y = 0] = (this.last as Inspection).cell;
      this.map.centre({ x: x + 0.5, y: y + 0.5 }, Math.max(this.map.zoom, 8));
    }
  }

  /** The map shows another part. */
  mapMoved(): void {
    if (this.overlayName !== "none" && this.agent !== undefined) {
      this.moved ??= setTimeout(() => {
        this.moved = undefined;
        void attempt(() => this.follow());
      }, MOVED_MS);
    }
  }

  /** A replay went to another tick: the agent may be gone, or be back. */
  async lookAgain(): Promise<void> {
    this.lastExpansions = undefined;
    try {
      await this.trace.ask();
    } catch (error) {
      this.showNothing(wordsFor(error));
    }
  }

  /** Something was done that a stopped world does not report. */
  async refresh(): Promise<void> {
    await this.trace.ask();
  }

  // Subscribes to what the panel and the overlay show.
  private async follow(): Promise<void> {
    const { agent, overlayName } = this;
    if (agent === undefined) {
      await this.trace.want(undefined);
      this.showNothing(NOBODY);
      return;
    }
    const rect = this.rectInSight();
    this.wished = rect;
    const channels = rect === undefined ? "report path"
      : needsDetails(overlayName) ? "report path search details" : "report path search";
    await this.trace.want({ agent, channels, ...(rect === undefined ? {} : { rect }) });
    if (this.last !== undefined) {
      this.draw(this.last); // the same report, with another overlay or at another zoom
    }
  }

  // The whole search around the agent as a trace, whatever the overlay shows.
  private async saveTrace(): Promise<void> {
    const { agent } = this;
    if (agent === undefined) {
      throw new Error("Select an agent first.");
    }
    const rect = this.rectInSight(true);
    const report = await this.client.call("debug.inspect", {
      world: this.world, agent, channels: "report path search details",
      ...(rect === undefined ? {} : { rect: [...rect] }),
    });
    save(`agent-${agent}.trace.yaml`, searchTrace(report));
  }

  // The cells in sight, or as many around the agent as one report holds.
  private rectInSight(always = false): [number, number, number, number] | undefined {
    const view = this.map.mapSize;
    if ((this.overlayName === "none" && !always) || view === undefined) {
      return undefined;
    }
    const bounds = this.map.bounds;
    let left = Math.max(0, Math.floor(bounds.x));
    let top = Math.max(0, Math.floor(bounds.y));
    let width = Math.min(view.width, Math.ceil(bounds.x + bounds.width)) - left;
    let height = Math.min(view.height, Math.ceil(bounds.y + bounds.height)) - top;
    if (width <= 0 || height <= 0) {
      return undefined;
    }
    const excess = Math.sqrt((width * height) / SEARCH_CELLS_MAX);
    if (excess > 1) {
      const [x = 0, y = 0] = this.last?.cell ?? [left + width / 2, top + height / 2];
      width = Math.floor(width / excess);
      height = Math.floor(height / excess);
      left = Math.max(0, Math.min(view.width - width, Math.floor(x - width / 2)));
      top = Math.max(0, Math.min(view.height - height, Math.floor(y - height / 2)));
    }
    return [left, top, width, height];
  }

  private showNothing(words: string): void {
    this.last = undefined;
    this.overlay.clear();
    this.legend.textContent = "";
    this.body.textContent = words;
  }

  private show(result: Inspection, tick: number | undefined): void {
    if (result.agent !== this.agent) {
      return; // another agent was chosen meanwhile
    }
    const before = this.last;
    this.last = result;
    this.notePace(result, tick);
    const cell = (list: readonly number[]): string =>
      list.length === 2 ? `${list[0]}, ${list[1]}` : "none";
    const tag = this.tagOf(result.agent);
    const waiting = result.queue_kinds.length === 0 ? "" : `, then ${result.queue_kinds.join(", ")}`;
    this.body.replaceChildren(facts([
      ["id", String(result.agent)],
      ["team", String(result.team)],
      ...(tag === "" ? [] : [["tag", tag] as const]),
      ["class", result.class],
      ["cell", cell(result.cell)],
      ["state", result.state],
      ["order", result.order === 0 ? "none" : `${result.order}: ${result.kind}${waiting}`],
      ["goal", cell(result.goal)],
      ["goes to instead", cell(result.substitute)],
      ["planner", plannerOf(result)],
      ["plan", result.plan],
      ["shared by", count(result.sharers)],
      ["path", `${result.path.length / 2} cells`],
      ["open", count(result.open)],
      ["closed", count(result.closed)],
      ["expansions", count(result.expansions)],
      ["last tick", this.pace],
      ["per tick lately", `${result.per_tick.toFixed(1)}, ${result.us_per_tick.toFixed(1)} µs`],
      ["replans", count(result.replans)],
      ["moves", count(result.moves)],
      ["search memory", bytes(result.bytes)],
      ["team knows", `${count(result.known)} cells, ${bytes(result.knowledge_bytes)}`],
    ]));
    if (before?.replans !== result.replans || before.order !== result.order ||
        before.state !== result.state) {
      this.explanation.refresh();
    }
    this.draw(result);
    this.onReport();
    if (this.hasLeft()) {
      void attempt(() => this.follow());
    }
  }

  // The visible map is larger than a report, and the agent is no longer in the middle of the report.
  private hasLeft(): boolean {
    const [left, top, width, height] = this.wished ?? [0, 0, 0, 0];
    const [nowLeft, nowTop] = this.rectInSight() ?? [left, top];
    return Math.abs(nowLeft - left) > width / 4 || Math.abs(nowTop - top) > height / 4;
  }

  private draw(result: Inspection): void {
    this.overlay.draw(result, this.overlayName, this.map.zoom);
    this.legend.textContent = this.overlay.legend;
  }

  /** Called every frame: the ring goes with the agent, and is as large as that. */
  frame(): void {
    const ring = this.last === undefined ? undefined : this.map.ringAround(this.last.agent);
    const at = ring === undefined ? "" : `${ring.x} ${ring.y} ${ring.radius} ${this.map.zoom}`;
    if (at === this.ringAt) {
      return;
    }
    this.ringAt = at;
    this.map.marks.clear();
    for (const [width, color] of ring === undefined ? [] : [[0.34, 0x101010], [0.2, 0xffffff]] as const) {
      this.map.marks.circle(ring!.x, ring!.y, ring!.radius)
        .stroke({ width: Math.max(width, 12 * width / this.map.zoom), color });
    }
  }

  // Expansions in the last tick, from two reports.
  private notePace(result: Inspection, tick: number | undefined): void {
    if (tick === undefined) {
      return;
    }
    const before = this.lastExpansions;
    this.lastExpansions = { tick, expansions: result.expansions };
    const ticks = before === undefined ? 0 : tick - before.tick;
    const done = before === undefined ? -1 : result.expansions - before.expansions;
    this.pace = ticks <= 0 || done < 0 ? "-" : `${count(Math.round(done / ticks))} expansions`;
  }
}
