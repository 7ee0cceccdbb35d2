// Tags that a game has attached to agents (agent.set), as labels below them where there is room.
//
// The server keeps a tag as bytes and does not look into it: text is shown as text, anything else as
// hexadecimal digits.

import { BitmapFont, BitmapText, Container } from "pixi.js";
import type { Mirror } from "fogmarch";
import type { AgentLayer } from "./agent-layer.js";

const ZOOM_MIN = 9;      // pixels per cell
const LABELS_MAX = 300;
const LETTERS_MAX = 20;  // of a label
const PIXELS = 13;       // high
const FONT_SIZE = 26;

// One font for all labels: see debug/overlay.ts.
const FONT = "fogmarch tags";
let fontIsThere = false;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** A tag as text; empty: there is none. */
export function tagWords(tag: Uint8Array | undefined): string {
  if (tag === undefined) {
    return "";
  }
  try {
    const text = decoder.decode(tag);
    if (!/\p{Cc}/u.test(text)) {
      return text;
    }
  } catch {
    // not UTF-8
  }
  return `0x${[...tag].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function labelText(tag: Uint8Array): string {
  const letters = [...tagWords(tag)].map((letter) => (/[ -~\u00a1-\u00ff]/.test(letter) ? letter : "?"));
  return letters.length <= LETTERS_MAX ? letters.join("")
    : `${letters.slice(0, LETTERS_MAX - 3).join("")}...`;
}

function makeLabel(): BitmapText {
  if (!fontIsThere) {
    fontIsThere = true;
    BitmapFont.install({ name: FONT, chars: [[" ", "~"], ["\u00a1", "\u00ff"]],
                         style: { fontFamily: "sans-serif", fontSize: FONT_SIZE, fill: 0xffffff,
                                  stroke: { color: 0, width: 5 } } });
  }
  const label = new BitmapText({ text: "", style: { fontFamily: FONT, fontSize: FONT_SIZE } });
  label.anchor.set(0.5, 0);
  return label;
}

interface Label {
  tag: Uint8Array;
  text: BitmapText;
}

export class TagLayer {
  readonly container = new Container();
  private readonly labels = new Map<number, Label>(); // by agent
  private readonly spare: BitmapText[] = [];

  /** Agents whose tag is drawn. */
  get shown(): number[] {
    return [...this.labels.keys()];
  }

  /** Called every frame. `bounds`: cells in sight; `zoom`: pixels per cell. */
  draw(view: Mirror | undefined, agents: AgentLayer, zoom: number,
       bounds: { x: number; y: number; width: number; height: number }): void {
    const isWanted = view !== undefined && view.tags.size > 0 && zoom >= ZOOM_MIN;
    for (const [id, { text, tag }] of this.labels) {
      if (!isWanted || view.tags.get(id) !== tag || !isInside(view, id, bounds)) {
        this.labels.delete(id);
        this.container.removeChild(text);
        this.spare.push(text);
      }
    }
    if (!isWanted) {
      return;
    }
    for (const [id, tag] of view.tags) {
      if (!isInside(view, id, bounds)) {
        continue;
      }
      const label = this.labels.get(id) ?? this.add(id, tag);
      if (label === undefined) {
        break;
      }
      const place = view.placeOf(id)!;
      const { x, y } = agents.positionOf(view, place);
      label.text.position.set(x, y + 0.6 * agents.sideOf(view, place));
      label.text.scale.set(PIXELS / FONT_SIZE / zoom);
    }
  }

  private add(id: number, tag: Uint8Array): Label | undefined {
    if (this.labels.size >= LABELS_MAX) {
      return undefined;
    }
    const label = { tag, text: this.spare.pop() ?? makeLabel() };
    label.text.text = labelText(tag);
    this.labels.set(id, label);
    this.container.addChild(label.text);
    return label;
  }
}

function isInside(view: Mirror, id: number,
                  { x, y, width, height }: { x: number; y: number; width: number; height: number }): boolean {
  const place = view.placeOf(id);
  return place !== undefined && view.xs[place]! >= x - 1 && view.xs[place]! <= x + width &&
         view.ys[place]! >= y - 1 && view.ys[place]! <= y + height;
}
