// Colours and shapes. Teams differ in both, and the colours are those of Okabe and Ito, so that no user
// has to tell red from green.

export const TEAM_COLOURS = [
  0x56b4e9, 0xe69f00, 0x009e73, 0xf0e442, 0xcc79a7, 0xd55e00, 0x0072b2, 0xf5f5f5,
] as const;

export const TEAM_SHAPES = [
  "circle", "square", "triangle", "diamond", "hexagon", "cross", "star", "ring",
] as const;

export function teamColour(team: number): number {
  return TEAM_COLOURS[(team - 1) & 7] ?? 0xffffff;
}

export function css(colour: number): string {
  return "#" + colour.toString(16).padStart(6, "0");
}

export const UNKNOWN = 0x14161a;
// By terrain: unknown, ground, out of bounds, trees, swamp, water, wall, building.
const TERRAIN_COLOURS = [UNKNOWN, 0xcfc8b4, 0x4a443c, 0x4f6b45, 0x8f9468, 0x4d7ea8, 0x6b5648, 0x8a4f4a];

/** Colour of a look (see PROTOCOL.md): costlier cells are darker. */
export function lookColour(look: number): number {
  const colour = TERRAIN_COLOURS[look & 15] ?? 0xff00ff;
  const cost = (look >> 4) + 1;
  return look === 0 || cost === 1 ? colour : scale(colour, 1 / (1 + Math.log2(cost) * 0.18));
}

export function scale(colour: number, factor: number): number {
  const part = (shift: number): number =>
    Math.min(255, Math.round(((colour >> shift) & 255) * factor)) << shift;
  return part(16) | part(8) | part(0);
}

/** A scale from dark blue over green to yellow; brightness rises along it; share 0..1. */
export function heat(share: number): number {
  const stops = [0x2a1a5e, 0x31688e, 0x35b779, 0xfde725];
  const at = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  const from = stops[Math.floor(at)]!;
  const to = stops[Math.floor(at) + 1]!;
  const t = at - Math.floor(at);
  const mix = (shift: number): number =>
    Math.round(((from >> shift) & 255) * (1 - t) + ((to >> shift) & 255) * t) << shift;
  return mix(16) | mix(8) | mix(0);
}
