// What the page shows, in the address: #world=1&team=2&agent=117&at=40.5,7.5,12&overlay=g, or of a
// replay #replay=1-arena.journal&tick=250&... With `with` two agents are side by side.

const PERIOD_MS = 250; // between two addresses

export interface Look {
  world?: number;
  /** A journal in place of a world, and where in it. */
  replay?: string;
  tick?: number;
  team?: number;
  agent?: number;
  /** The agent beside it. */
  with?: number;
  /** Middle of the screen in cells, and pixels per cell. */
  at?: [number, number, number];
  overlay?: string;
}

export function readLink(): Look {
  const entries = new URLSearchParams(location.hash.slice(1));
  const number = (name: string): number | undefined => {
    const value = Number(entries.get(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const at = (entries.get("at") ?? "").split(",").map(Number);
  const world = number("world");
  const team = number("team");
  const agent = number("agent");
  const beside = number("with");
  const overlay = entries.get("overlay");
  const replay = entries.get("replay");
  const tick = number("tick");
  return {
    ...(replay === null ? {} : { replay }),
    ...(tick === undefined ? {} : { tick }),
    ...(world === undefined ? {} : { world }),
    ...(team === undefined ? {} : { team }),
    ...(agent === undefined ? {} : { agent }),
    ...(beside === undefined ? {} : { with: beside }),
    ...(at.length === 3 && at.every(Number.isFinite)
      ? { at: at as [number, number, number] } : {}),
    ...(overlay === null ? {} : { overlay }),
  };
}

function textOf(look: Look): string {
  const entries = Object.entries(look)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value)
      ? value.map((part) => Number(part.toFixed(2))).join(",") : String(value)]);
  return "#" + entries.map((entry) => entry.join("=")).join("&");
}

let writing: ReturnType<typeof setTimeout> | undefined;
let wanted = "";
let written = 0;

/** Browsers accept a new address a few times a second; of more frequent ones, the newest is set. */
export function writeLink(look: Look): void {
  wanted = textOf(look);
  writing ??= setTimeout(() => {
    writing = undefined;
    written = performance.now();
    history.replaceState(null, "", wanted);
  }, Math.max(0, written + PERIOD_MS - performance.now()));
}

/** The address of this page with another look. */
export function addressOf(look: Look): string {
  return location.origin + location.pathname + textOf(look);
}
