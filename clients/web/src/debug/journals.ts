// The list of journals that can be opened as replays.

import type { Client } from "fogmarch";
import { wordsFor } from "../common/connection.js";
import { bytes, count, make } from "../common/dom.js";

interface Journal { file: string; bytes: number; changed: number; name: string; first_tick: number;
                    last_tick: number; runs: boolean; error: string }

export class Journals {
  readonly element: HTMLDetailsElement;
  private readonly list = make("div", { class: "tools", role: "group", "aria-label": "journals" });

  constructor(private readonly client: Client, private readonly open: (file: string) => void) {
    this.element = make("details", { id: "journals" }, make("summary", {}, "Journals"), this.list,
                        make("button", { type: "button", onclick: () => void this.fill() },
                             "look again"));
    this.element.addEventListener("toggle", () => {
      if (this.element.open) {
        void this.fill();
      }
    });
  }

  private async fill(): Promise<void> {
    try {
      const { journals } = await this.client.call("replay.list", {});
      const rows = journals as unknown as Journal[];
      this.list.replaceChildren(...rows.map((row) => this.entry(row)));
      if (rows.length === 0) {
        this.list.textContent = "There is no journal yet: a world that is made has one.";
      }
    } catch (error) {
      this.list.textContent = wordsFor(error);
    }
  }

  private entry(row: Journal): HTMLElement {
    if (row.error !== "") {
      return make("p", { class: "hint" }, `cannot be opened: ${row.error}`);
    }
    const when = new Date(row.changed * 1000).toLocaleString();
    return make("button", { type: "button", title: `${bytes(row.bytes)}, written last ${when}`,
                            onclick: () => this.open(row.file) },
                row.file, make("span", {}, ` ticks ${count(row.first_tick)} to ` +
                  `${count(row.last_tick)}${row.runs ? ", runs" : ""}`));
  }
}
