#!/usr/bin/env python3
"""Turns a coloured terminal screen into an SVG picture.

Reads the output of `tmux capture-pane -ep` on standard input: text with SGR colour sequences, a line per
row. Half blocks (the map of `fogmarch watch`) become rectangles, two pixels to a character, merged along
each row; everything else becomes text in a monospaced font with its characters one cell apart, so that the
picture does not depend on the width of the reader's font.

Usage: ansi_to_svg.py [TITLE] < screen > picture.svg
"""

import re
import sys
from xml.sax.saxutils import escape

PIXEL = 8  # side of a half block; a character is one pixel wide and two high
FONT_SIZE = 13
MARGIN = 12
INK, PAPER = "#c9d1d9", "#0d0f12"
BASE_COLOURS = ("#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 "
                "#666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff").split()
SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[A-Za-z]|[\x0e\x0f]")


def indexed(number):
    """A colour of the standard 256-colour table."""
    if number < 16:
        return BASE_COLOURS[number]
    if number < 232:
        levels = (0, 95, 135, 175, 215, 255)
        number -= 16
        rgb = (levels[number // 36], levels[number // 6 % 6], levels[number % 6])
    else:
        rgb = (8 + 10 * (number - 232),) * 3
    return "#%02x%02x%02x" % rgb


class Pen:
    """The colours that the next character gets."""

    def __init__(self):
        self.ink, self.paper = INK, PAPER

    def change(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.ink, self.paper = INK, PAPER
            elif code in (38, 48):
                kind = codes.pop(0)
                colour = indexed(codes.pop(0)) if kind == 5 else "#%02x%02x%02x" % tuple(codes[:3])
                if kind == 2:
                    del codes[:3]
                if code == 38:
                    self.ink = colour
                else:
                    self.paper = colour
            elif code == 39:
                self.ink = INK
            elif code == 49:
                self.paper = PAPER
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = BASE_COLOURS[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.paper = BASE_COLOURS[code - 40 if code < 100 else code - 92]


def read_screen(text):
    """Rows of (character, ink, paper). Colours carry over from line to line."""
    pen, rows = Pen(), []
    for line in text.split("\n"):
        row, place = [], 0
        while place < len(line):
            sequence = SEQUENCE.match(line, place)
            if sequence:
                if sequence.group(1) is not None:
                    pen.change(sequence.group(1))
                place = sequence.end()
            else:
                row.append((line[place], pen.ink, pen.paper))
                place += 1
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def is_blank(row):
    return all(character == " " and paper == PAPER for character, _, paper in row)


def without_gap(rows):
    """The screen with a single blank row between the map and the lines below it."""
    kept = []
    for row in rows:
        if not (is_blank(row) and kept and is_blank(kept[-1])):
            kept.append(row)
    return kept


def halves(cell):
    """Colours of a character's upper and lower half, or None for text."""
    character, ink, paper = cell
    return {"▀": (ink, paper), "▄": (paper, ink), "█": (ink, ink), " ": (paper, paper)}.get(character)


def runs(values):
    """Runs of equal neighbours as (first, count, value)."""
    first = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[first]:
            yield first, i - first, values[first]
            first = i


def add_pixels(pixels, row, y, is_map):
    """Appends the runs of a row to the outline of each colour, in units of one pixel."""
    for half in (0, 1):
        colours = [(halves(cell) if is_map else None) or (cell[2], cell[2]) for cell in row]
        for first, count, colour in runs([pair[half] for pair in colours]):
            if colour != PAPER:
                pixels.setdefault(colour, []).append("M%d %dh%dv1h-%dz" % (first, 2 * y + half, count, count))


def draw_text(row, y, is_map):
    letters = [None if (is_map and halves(cell)) or cell[0] == " " else cell[1] for cell in row]
    for first, count, colour in runs(letters):
        if colour:
            text = "".join(cell[0] for cell in row[first:first + count])
            places = " ".join(str((first + i) * PIXEL) for i in range(count))
            yield '<text fill="%s" x="%s" y="%d">%s</text>' % (
                colour, places, (2 * y + 2) * PIXEL - 4, escape(text))


def draw(rows, title):
    pixels, texts = {}, []
    for y, row in enumerate(rows):
        is_map = sum(cell[0] == "▀" for cell in row) * 2 > len(row)
        add_pixels(pixels, row, y, is_map)
        texts += draw_text(row, y, is_map)
    width = max(map(len, rows)) * PIXEL + 2 * MARGIN
    height = len(rows) * 2 * PIXEL + 2 * MARGIN
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"'
        % (width, height, width, height),
        ' font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="%d">'
        % FONT_SIZE,
        "<title>%s</title>" % escape(title),
        '<rect width="%d" height="%d" rx="8" fill="%s"/>' % (width, height, PAPER),
        '<g transform="translate(%d %d)">' % (MARGIN, MARGIN),
        '<g transform="scale(%d)" shape-rendering="crispEdges">' % PIXEL,
        *('<path fill="%s" d="%s"/>' % (colour, "".join(runs_)) for colour, runs_ in pixels.items()),
        "</g>", *texts, "</g>", "</svg>", ""])


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else "a terminal"
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(draw(without_gap(read_screen(sys.stdin.read())), title))


if __name__ == "__main__":
    main()
