// clients/cli/base/canvas.h: a screen of coloured characters that is redrawn each time; only
// differences are printed.

#pragma once

#include "core/base/base.h"

#define FM_CANVAS_DEFAULT UINT32_MAX // the terminal's own colour

typedef struct fm_glyph {
    uint32_t code;       // Unicode
    uint32_t foreground; // 0xRRGGBB or FM_CANVAS_DEFAULT
    uint32_t background;
} fm_glyph;

typedef enum fm_canvas_colours {
    FM_COLOURS_NONE,
    FM_COLOURS_256,
    FM_COLOURS_TRUE, // 24 bits
} fm_canvas_colours;

typedef struct fm_canvas {
    uint32_t columns, rows;
    fm_canvas_colours colours;
    fm_glyph *glyphs; // columns * rows, row by row: what is to be shown
    fm_glyph *shown;  // what the terminal shows; code 0 where that is not known
} fm_canvas;

/// Makes a canvas of this size, or resizes one; everything is redrawn. A zeroed canvas is allowed.
/// @return false when out of memory (the canvas is empty then)
bool fm_canvas_resize(fm_canvas *canvas, uint32_t columns, uint32_t rows);

void fm_canvas_fini(fm_canvas *canvas);

/// Blanks everything.
void fm_canvas_clear(fm_canvas *canvas);

/// Places one character; ignored outside the canvas.
void fm_canvas_put(fm_canvas *canvas, uint32_t column, uint32_t row, fm_glyph glyph);

/// Writes UTF-8 text in one row, cut at its end.
/// @return the column behind it
uint32_t fm_canvas_write(fm_canvas *canvas, uint32_t column, uint32_t row, uint32_t colour,
                         const char *text);

/// As fm_canvas_write(), formatted; at most 511 bytes.
uint32_t fm_canvas_printf(fm_canvas *canvas, uint32_t column, uint32_t row, uint32_t colour,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/// Prints the differences to standard output.
void fm_canvas_show(fm_canvas *canvas);
