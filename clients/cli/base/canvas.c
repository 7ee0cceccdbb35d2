// clients/cli/base/canvas.c: see canvas.h.

#include "clients/cli/base/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fm_glyph blank = {' ', FM_CANVAS_DEFAULT, FM_CANVAS_DEFAULT};

bool fm_canvas_resize(fm_canvas *canvas, uint32_t columns, uint32_t rows)
{
    size_t count = (size_t)columns * rows;
    fm_canvas_fini(canvas);
    canvas->glyphs = calloc(count, sizeof *canvas->glyphs);
    canvas->shown = calloc(count, sizeof *canvas->shown);
    if (canvas->glyphs == NULL || canvas->shown == NULL) {
        fm_canvas_fini(canvas);
        return false;
    }
    canvas->columns = columns;
    canvas->rows = rows;
    fm_canvas_clear(canvas);
    return true;
}

void fm_canvas_fini(fm_canvas *canvas)
{
    free(canvas->glyphs);
    free(canvas->shown);
    *canvas = (fm_canvas){.colours = canvas->colours};
}

void fm_canvas_clear(fm_canvas *canvas)
{
    for (size_t i = 0; i < (size_t)canvas->columns * canvas->rows; i++) {
        canvas->glyphs[i] = blank;
    }
}

void fm_canvas_put(fm_canvas *canvas, uint32_t column, uint32_t row, fm_glyph glyph)
{
    if (column < canvas->columns && row < canvas->rows) {
        canvas->glyphs[(size_t)row * canvas->columns + column] = glyph;
    }
}

// Takes one character of UTF-8; an invalid byte becomes '?'.
static uint32_t take_code(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    uint32_t more = bytes[0] < 0x80   ? 0
                    : bytes[0] < 0xc0 ? 4
                    : bytes[0] < 0xe0 ? 1
                    : bytes[0] < 0xf0 ? 2
                    : bytes[0] < 0xf8 ? 3
                                      : 4;
    uint32_t code = more == 0 ? bytes[0] : bytes[0] & (0x3fu >> more);
    for (uint32_t i = 1; i <= more; i++) {
        if (more == 4 || (bytes[i] & 0xc0) != 0x80) {
            *text += 1;
            return '?';
        }
        code = code << 6 | (bytes[i] & 0x3f);
    }
    *text += more + 1;
    // Drops characters that are not printable or not one column wide.
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code > 0xffff ? '?' : code;
}

uint32_t fm_canvas_write(fm_canvas *canvas, uint32_t column, uint32_t row, uint32_t colour,
                         const char *text)
{
    while (*text != '\0') {
        fm_canvas_put(canvas, column++, row,
                      (fm_glyph){take_code(&text), colour, FM_CANVAS_DEFAULT});
    }
    return column;
}

uint32_t fm_canvas_printf(fm_canvas *canvas, uint32_t column, uint32_t row, uint32_t colour,
                          const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fm_canvas_write(canvas, column, row, colour, text);
}

// ---- printing -----------------------------------------------------------------------------------

static void print_code(uint32_t code)
{
    if (code < 0x80) {
        putchar((int)code);
    } else if (code < 0x800) {
        printf("%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 0x3f)));
    } else {
        printf("%c%c%c", (int)(0xe0 | (code >> 12 & 15)), (int)(0x80 | (code >> 6 & 0x3f)),
               (int)(0x80 | (code & 0x3f)));
    }
}

// The nearest of the 216 colours of the cube or 24 greys that 256-colour terminals have.
static uint32_t nearest_of_256(uint32_t colour)
{
    static const int levels[6] = {0, 95, 135, 175, 215, 255};
    int parts[3] = {(int)(colour >> 16 & 255), (int)(colour >> 8 & 255), (int)(colour & 255)};
    int nearest[3], cube_error = 0, grey_error = 0;
    for (int i = 0; i < 3; i++) {
        nearest[i] = 0;
        for (int level = 1; level < 6; level++) {
            if (abs(levels[level] - parts[i]) < abs(levels[nearest[i]] - parts[i])) {
                nearest[i] = level;
            }
        }
        cube_error += abs(levels[nearest[i]] - parts[i]);
    }
    int grey = ((parts[0] + parts[1] + parts[2]) / 3 - 3) / 10;
    grey = grey < 0 ? 0 : grey > 23 ? 23 : grey;
    for (int i = 0; i < 3; i++) {
        grey_error += abs(8 + 10 * grey - parts[i]);
    }
    return grey_error < cube_error ? 232u + (uint32_t)grey
                                   : 16u + 36u * (uint32_t)nearest[0] + 6u * (uint32_t)nearest[1] +
                                         (uint32_t)nearest[2];
}

static void print_colour(const fm_canvas *canvas, uint32_t colour, bool background)
{
    if (canvas->colours == FM_COLOURS_NONE) {
        return; // not even the default colour: a terminal without colours may not know it
    }
    if (colour == FM_CANVAS_DEFAULT) {
        printf("\033[%dm", background ? 49 : 39);
    } else if (canvas->colours == FM_COLOURS_TRUE) {
        printf("\033[%d;2;%u;%u;%um", background ? 48 : 38, colour >> 16 & 255, colour >> 8 & 255,
               colour & 255);
    } else {
        printf("\033[%d;5;%um", background ? 48 : 38, nearest_of_256(colour));
    }
}

static bool is_same(fm_glyph a, fm_glyph b)
{
    return a.code == b.code && a.foreground == b.foreground && a.background == b.background;
}

void fm_canvas_show(fm_canvas *canvas)
{
    fm_glyph pen = {0, FM_CANVAS_DEFAULT, FM_CANVAS_DEFAULT};
    fputs("\033[0m", stdout);
    for (uint32_t row = 0; row < canvas->rows; row++) {
        bool in_place = false; // the cursor stands where the next character belongs
        for (uint32_t column = 0; column < canvas->columns; column++) {
            size_t i = (size_t)row * canvas->columns + column;
            fm_glyph glyph = canvas->glyphs[i];
            if (is_same(glyph, canvas->shown[i])) {
                in_place = false;
                continue;
            }
            if (!in_place) {
                printf("\033[%u;%uH", row + 1, column + 1);
                in_place = true;
            }
            if (glyph.foreground != pen.foreground) {
                print_colour(canvas, glyph.foreground, false);
            }
            if (glyph.background != pen.background) {
                print_colour(canvas, glyph.background, true);
            }
            print_code(glyph.code);
            pen = glyph;
            canvas->shown[i] = glyph;
        }
    }
    fputs("\033[0m", stdout);
    fflush(stdout);
}
