// clients/cli/watch/paint.c: see paint.h.

#include "clients/cli/watch/paint.h"

#include "clients/cli/base/colours.h"

#include <stdlib.h>

#define SAMPLES_MAX      4u // cells sampled per pixel and direction
#define COLOUR_FOG       0x101318u
#define COLOUR_PATH      0xf4f4f4u
#define COLOUR_SELECTED  0xffffffu
#define COLOUR_GOAL      0x000000u
#define UPPER_HALF_BLOCK 0x2580u

static uint32_t terrain_colour(fm_terrain terrain)
{
    switch (terrain) {
    case FM_TERRAIN_UNKNOWN:
        return COLOUR_FOG;
    case FM_TERRAIN_GROUND:
        return 0x8d8468;
    case FM_TERRAIN_OUT:
        return 0x23252b;
    case FM_TERRAIN_TREES:
        return 0x2f6b3a;
    case FM_TERRAIN_SWAMP:
        return 0x55602e;
    case FM_TERRAIN_WATER:
        return 0x2b5c94;
    case FM_TERRAIN_WALL:
        return 0x4a4440;
    case FM_TERRAIN_BUILDING:
        return 0x7a5c58;
    case FM_TERRAIN_COUNT:
        break;
    }
    return COLOUR_FOG;
}

static char terrain_letter(fm_terrain terrain)
{
    switch (terrain) {
    case FM_TERRAIN_UNKNOWN:
        return ' ';
    case FM_TERRAIN_GROUND:
        return '.';
    case FM_TERRAIN_TREES:
        return 'T';
    case FM_TERRAIN_SWAMP:
        return 'S';
    case FM_TERRAIN_WATER:
        return '~';
    case FM_TERRAIN_BUILDING:
        return 'H';
    case FM_TERRAIN_OUT:
    case FM_TERRAIN_WALL:
    case FM_TERRAIN_COUNT:
        break;
    }
    return '#';
}

// `share` of 256 of colour b in colour a.
static uint32_t mix(uint32_t a, uint32_t b, uint32_t share)
{
    uint32_t mixed = 0;
    for (uint32_t shift = 0; shift <= 16; shift += 8) {
        uint32_t part = (a >> shift & 255) * (256 - share) + (b >> shift & 255) * share;
        mixed |= (part >> 8) << shift;
    }
    return mixed;
}

// Whether a cell is known, to the view or one of the scene's teams, but visible to none of them.
static bool is_explored(const fm_scene *scene, uint32_t x, uint32_t y)
{
    const fm_mirror *views = scene->team_count == 0 ? scene->view : scene->teams;
    uint32_t count = scene->team_count == 0 ? 1 : scene->team_count;
    bool known = false, seen = false;
    for (uint32_t i = 0; i < count; i++) {
        known |= fm_mirror_look(&views[i], x, y) != 0;
        seen |= fm_mirror_sees(&views[i], x, y);
    }
    return known && !seen;
}

// Costly ground is darker; cells that no team knows lie in fog, cells that none sees now in thinner
// fog; cells that a team knows are tinted with its colour.
static uint32_t cell_colour(const fm_scene *scene, uint32_t x, uint32_t y)
{
    uint32_t look = fm_mirror_look(scene->view, x, y);
    uint32_t colour = terrain_colour(fm_look_terrain(look));
    uint32_t cost = look >> 4;
    if (cost > 0) {
        colour = mix(colour, 0x5a3d22, cost >= 8 ? 200 : 60 + 17 * cost);
    }
    if (is_explored(scene, x, y)) {
        colour = mix(colour, COLOUR_FOG, 88);
    }
    if (scene->team_count == 0) {
        return colour;
    }
    bool known = false;
    for (uint32_t i = 0; i < scene->team_count; i++) {
        if (fm_mirror_look(&scene->teams[i], x, y) != 0) {
            known = true;
            colour = mix(colour, fm_colour_of_team((uint32_t)scene->teams[i].team), 24);
        }
    }
    return known ? colour : mix(colour, COLOUR_FOG, 176);
}

static uint32_t pixel_colour(const fm_scene *scene, const fm_frame *frame, uint32_t px, uint32_t py)
{
    const fm_rect *rect = &frame->rect;
    uint32_t x0 = fm_frame_first_cell(px, frame->width, rect->width);
    uint32_t x1 = fm_frame_first_cell(px + 1, frame->width, rect->width);
    uint32_t y0 = fm_frame_first_cell(py, frame->height, rect->height);
    uint32_t y1 = fm_frame_first_cell(py + 1, frame->height, rect->height);
    uint32_t columns = x1 > x0 ? x1 - x0 : 1, rows = y1 > y0 ? y1 - y0 : 1;
    uint32_t across = columns < SAMPLES_MAX ? columns : SAMPLES_MAX;
    uint32_t down = rows < SAMPLES_MAX ? rows : SAMPLES_MAX;
    uint32_t sums[3] = {0, 0, 0};
    for (uint32_t j = 0; j < down; j++) {
        for (uint32_t i = 0; i < across; i++) {
            uint32_t colour = cell_colour(scene, rect->x + x0 + i * columns / across,
                                          rect->y + y0 + j * rows / down);
            sums[0] += colour >> 16 & 255;
            sums[1] += colour >> 8 & 255;
            sums[2] += colour & 255;
        }
    }
    uint32_t count = across * down;
    return (sums[0] / count) << 16 | (sums[1] / count) << 8 | (sums[2] / count);
}

// Fills `side` x `side` pixels around one.
static void fill(uint32_t *pixels, const fm_frame *frame, uint32_t px, uint32_t py, uint32_t side,
                 uint32_t colour)
{
    uint32_t left = px > side / 2 ? px - side / 2 : 0, top = py > side / 2 ? py - side / 2 : 0;
    for (uint32_t y = top; y < top + side && y < frame->height; y++) {
        for (uint32_t x = left; x < left + side && x < frame->width; x++) {
            pixels[(size_t)y * frame->width + x] = colour;
        }
    }
}

static void draw_agents(uint32_t *pixels, const fm_frame *frame, const fm_mirror *view)
{
    uint32_t cell_side = frame->width / frame->rect.width, px, py; // pixels; 0 for less than one
    uint32_t side = cell_side <= 2 ? cell_side : cell_side * 3 / 4;
    for (uint32_t i = 0; i < view->agent_count; i++) {
        const fm_mirror_agent *agent = &view->agents[i];
        if (fm_frame_find(frame, agent->cell, &px, &py)) {
            uint32_t colour = fm_colour_of_team(agent->team);
            fill(pixels, frame, px, py, side == 0 ? 1 : side,
                 agent->state == FM_AGENT_IDLE ? mix(colour, 0x202020, 90) : colour);
        }
    }
}

static void paint_pixels(fm_canvas *canvas, uint32_t first_row, const fm_frame *frame,
                         const fm_scene *scene)
{
    uint32_t stride = frame->width, px, py;
    uint32_t *pixels = calloc((size_t)stride * frame->height, sizeof *pixels);
    if (pixels == NULL) {
        return; // skip this picture, perhaps not the next
    }
    for (py = 0; py < frame->height; py++) {
        for (px = 0; px < frame->width; px++) {
            pixels[(size_t)py * stride + px] = pixel_colour(scene, frame, px, py);
        }
    }
    for (uint32_t i = 0; i < scene->path_count; i++) {
        if (fm_frame_find(frame, scene->path[i], &px, &py)) {
            pixels[(size_t)py * stride + px] = COLOUR_PATH;
        }
    }
    draw_agents(pixels, frame, scene->view);
    for (py = 0; py < frame->height; py += 2) {
        for (px = 0; px < frame->width; px++) {
            uint32_t upper = pixels[(size_t)py * stride + px];
            uint32_t lower =
                py + 1 < frame->height ? pixels[(size_t)(py + 1) * stride + px] : FM_CANVAS_DEFAULT;
            fm_canvas_put(canvas, frame->left + px, first_row + py / 2,
                          (fm_glyph){UPPER_HALF_BLOCK, upper, lower});
        }
    }
    free(pixels);
}

// Whether the scene has fog and a cell lies in it.
static bool is_in_fog(const fm_scene *scene, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < scene->team_count; i++) {
        if (fm_mirror_look(&scene->teams[i], x, y) != 0) {
            return false;
        }
    }
    return scene->team_count > 0;
}

static char cell_letter(const fm_scene *scene, uint32_t x, uint32_t y)
{
    char letter = terrain_letter(fm_look_terrain(fm_mirror_look(scene->view, x, y)));
    if (!is_in_fog(scene, x, y)) {
        return letter == '.' && is_explored(scene, x, y) ? ',' : letter;
    }
    return letter == '.' ? ' ' : letter == '#' ? '+' : letter;
}

static void put_letter(fm_canvas *canvas, uint32_t column, uint32_t row, uint32_t code)
{
    fm_canvas_put(canvas, column, row, (fm_glyph){code, FM_CANVAS_DEFAULT, FM_CANVAS_DEFAULT});
}

// Letters are twice as high as wide, so a row of letters is two pixels high.
static void paint_letters(fm_canvas *canvas, uint32_t first_row, const fm_frame *frame,
                          const fm_scene *scene)
{
    const fm_rect *rect = &frame->rect;
    uint32_t rows = (frame->height + 1) / 2, px, py;
    for (py = 0; py < rows; py++) {
        for (px = 0; px < frame->width; px++) {
            uint32_t x = rect->x + fm_frame_first_cell(px, frame->width, rect->width);
            uint32_t y = rect->y + fm_frame_first_cell(2 * py, frame->height, rect->height);
            put_letter(canvas, frame->left + px, first_row + py,
                       (uint32_t)cell_letter(scene, x, y));
        }
    }
    for (uint32_t i = 0; i < scene->path_count; i++) {
        if (fm_frame_find(frame, scene->path[i], &px, &py)) {
            put_letter(canvas, frame->left + px, first_row + py / 2, '*');
        }
    }
    for (uint32_t i = 0; i < scene->view->agent_count; i++) {
        const fm_mirror_agent *agent = &scene->view->agents[i];
        if (fm_frame_find(frame, agent->cell, &px, &py)) {
            put_letter(canvas, frame->left + px, first_row + py / 2, '0' + agent->team % 10);
        }
    }
}

// Writes a letter over what is drawn at a cell, on the colour that is there.
static void mark(fm_canvas *canvas, uint32_t first_row, const fm_frame *frame, fm_cell cell,
                 uint32_t letter, uint32_t colour)
{
    uint32_t px, py;
    if (cell == FM_CELL_NONE || !fm_frame_find(frame, cell, &px, &py)) {
        return;
    }
    if (canvas->colours == FM_COLOURS_NONE) {
        put_letter(canvas, frame->left + px, first_row + py / 2, letter);
        return;
    }
    uint32_t column = frame->left + px, row = first_row + py / 2;
    if (column < canvas->columns && row < canvas->rows) {
        fm_glyph under = canvas->glyphs[(size_t)row * canvas->columns + column];
        fm_canvas_put(
            canvas, column, row,
            (fm_glyph){letter, colour, py % 2 == 0 ? under.foreground : under.background});
    }
}

void fm_paint_scene(fm_canvas *canvas, uint32_t first_row, uint32_t rows, const fm_scene *scene)
{
    static const fm_viewport everything = {.whole = true};
    if (rows == 0 || canvas->columns == 0 || scene->view->rect.width == 0) {
        return;
    }
    fm_frame frame = fm_viewport_frame(scene->viewport == NULL ? &everything : scene->viewport,
                                       &scene->view->rect, canvas->columns, rows * 2);
    if (canvas->colours == FM_COLOURS_NONE) {
        paint_letters(canvas, first_row, &frame, scene);
    } else {
        paint_pixels(canvas, first_row, &frame, scene);
    }
    mark(canvas, first_row, &frame, scene->goal, 'X', COLOUR_GOAL);
    mark(canvas, first_row, &frame, scene->selected, '@', COLOUR_SELECTED);
}
