// The pictures of units, drawn once into one texture: a plate in the team's shape, a figure in the
// movement class's shape that faces where the unit goes, and the ring of a selected unit.

import { Rectangle, Texture } from "pixi.js";
import { TEAM_SHAPES } from "./palette.js";

export const SPRITE_SIZE = 64;

/** What distinguishes the classes of a world, in their order. */
export const CLASS_FIGURES = [
  "a walker", "a boat", "a glider", "a wagon", "a wing", "a beetle", "a double arrow", "a block",
] as const;

const MIDDLE = SPRITE_SIZE / 2;
const INK = "#15171c";
const PAPER = "#fdf8ec";

type Pen = CanvasRenderingContext2D;

function polygon(pen: Pen, corners: readonly (readonly [number, number])[]): void {
  pen.beginPath();
  corners.forEach(([x, y]) => pen.lineTo(MIDDLE + x, MIDDLE + y));
  pen.closePath();
}

function star(pen: Pen, corners: number, radius: number, turn: number, inner = 1): void {
  polygon(pen, Array.from({ length: corners }, (_, i) => {
    const angle = turn + (i * 2 * Math.PI) / corners;
    const distance = i % 2 === 1 ? radius * inner : radius;
    return [distance * Math.sin(angle), -distance * Math.cos(angle)] as const;
  }));
}

function drawPlate(pen: Pen, shape: (typeof TEAM_SHAPES)[number]): void {
  const radius = SPRITE_SIZE * 0.42;
  switch (shape) {
    case "square": star(pen, 4, radius * 1.16, Math.PI / 4); break;
    case "triangle": star(pen, 3, radius * 1.22, 0); break;
    case "diamond": star(pen, 4, radius * 1.1, 0); break;
    case "hexagon": star(pen, 6, radius, 0); break;
    case "star": star(pen, 10, radius * 1.15, 0, 0.55); break;
    case "cross": {
      const [a, r] = [radius * 0.5, radius];
      polygon(pen, [[-a, -r], [a, -r], [a, -a], [r, -a], [r, a], [a, a], [a, r], [-a, r], [-a, a],
                    [-r, a], [-r, -a], [-a, -a]]);
      break;
    }
    default:
      pen.beginPath();
      pen.arc(MIDDLE, MIDDLE, radius, 0, 2 * Math.PI);
  }
  pen.lineJoin = "round";
  pen.strokeStyle = INK;
  pen.lineWidth = 6;
  pen.stroke();
  pen.fillStyle = "#ffffff";
  pen.fill();
  if (shape === "ring") {
    pen.beginPath();
    pen.arc(MIDDLE, MIDDLE, radius * 0.62, 0, 2 * Math.PI);
    pen.fillStyle = "#6b6b6b";
    pen.fill();
  }
}

// All face right.
function drawFigure(pen: Pen, figure: (typeof CLASS_FIGURES)[number]): void {
  pen.lineJoin = "round";
  pen.strokeStyle = INK;
  pen.fillStyle = PAPER;
  pen.lineWidth = 4;
  const show = (): void => {
    pen.stroke();
    pen.fill();
  };
  const ellipse = (x: number, y: number, width: number, height: number): void => {
    pen.beginPath();
    pen.ellipse(MIDDLE + x, MIDDLE + y, width, height, 0, 0, 2 * Math.PI);
  };
  switch (figure) {
    case "a walker": // shoulders, a head, and a spear
      polygon(pen, [[2, 9], [22, 9], [22, 11], [2, 11]]);
      show();
      ellipse(-3, 0, 8, 13);
      show();
      ellipse(1, 0, 6.5, 6.5);
      pen.fillStyle = "#c9b48a";
      show();
      break;
    case "a boat":
      pen.beginPath();
      pen.moveTo(MIDDLE + 20, MIDDLE);
      pen.quadraticCurveTo(MIDDLE + 6, MIDDLE - 13, MIDDLE - 15, MIDDLE - 8);
      pen.lineTo(MIDDLE - 15, MIDDLE + 8);
      pen.quadraticCurveTo(MIDDLE + 6, MIDDLE + 13, MIDDLE + 20, MIDDLE);
      pen.closePath();
      show();
      polygon(pen, [[-3, -14], [3, 0], [-3, 14]]);
      pen.fillStyle = "#8fb8d8";
      show();
      break;
    case "a glider":
      polygon(pen, [[-4, -17], [6, -17], [6, 17], [-4, 17]]);
      show();
      ellipse(2, 0, 15, 9);
      show();
      ellipse(8, 0, 4, 4);
      pen.fillStyle = "#8fb8d8";
      show();
      break;
    case "a wagon":
      polygon(pen, [[-16, -14], [14, -14], [14, 14], [-16, 14]]);
      pen.fillStyle = "#8b8f98";
      show();
      polygon(pen, [[-12, -8], [8, -8], [8, 8], [-12, 8]]);
      pen.fillStyle = PAPER;
      show();
      polygon(pen, [[4, -2.5], [23, -2.5], [23, 2.5], [4, 2.5]]);
      show();
      break;
    case "a wing":
      polygon(pen, [[18, 0], [-14, -18], [-7, 0], [-14, 18]]);
      show();
      break;
    case "a beetle":
      ellipse(-3, 0, 13, 11);
      show();
      polygon(pen, [[8, -7], [19, -10], [13, 0], [19, 10], [8, 7]]);
      show();
      break;
    case "a double arrow":
      polygon(pen, [[18, 0], [3, -14], [3, -5], [-2, -14], [-16, -14], [-4, 0], [-16, 14], [-2, 14],
                    [3, 5], [3, 14]]);
      show();
      break;
    case "a block":
      polygon(pen, [[-14, -12], [8, -12], [18, 0], [8, 12], [-14, 12]]);
      show();
      ellipse(-4, 0, 5, 5);
      pen.fillStyle = INK;
      pen.fill();
      break;
  }
}

function drawRing(pen: Pen): void {
  for (const [width, colour] of [[8, "#000000"], [4, "#ffffff"]] as const) {
    pen.beginPath();
    pen.arc(MIDDLE, MIDDLE, MIDDLE - 5, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

export interface UnitSprites {
  /** By shape of the team. */
  plates: Texture[];
  /** By movement class. */
  figures: Texture[];
  ring: Texture;
}

export function makeUnitSprites(): UnitSprites {
  const canvas = document.createElement("canvas");
  canvas.width = SPRITE_SIZE * TEAM_SHAPES.length;
  canvas.height = SPRITE_SIZE * 3;
  const pen = canvas.getContext("2d")!;
  const frames: Rectangle[] = [];
  const draw = (column: number, row: number, how: () => void): void => {
    const frame = new Rectangle(column * SPRITE_SIZE, row * SPRITE_SIZE, SPRITE_SIZE, SPRITE_SIZE);
    pen.save();
    pen.translate(frame.x, frame.y);
    how();
    pen.restore();
    frames.push(frame);
  };
  TEAM_SHAPES.forEach((shape, i) => draw(i, 0, () => drawPlate(pen, shape)));
  CLASS_FIGURES.forEach((figure, i) => draw(i, 1, () => drawFigure(pen, figure)));
  draw(0, 2, () => drawRing(pen));
  const { source } = Texture.from(canvas);
  const textures = frames.map((frame) => new Texture({ source, frame }));
  const shapes = TEAM_SHAPES.length;
  return { plates: textures.slice(0, shapes), ring: textures.at(-1)!,
           figures: textures.slice(shapes, shapes + CLASS_FIGURES.length) };
}
