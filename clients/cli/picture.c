// clients/cli/picture.c: `snapshot`: a picture of a world: terrain, fog, agents, and one agent's
// path and search. Here as SVG, in picture_png.c as PNG.
//
// Cells of one colour that follow each other in a row are one rectangle, so that a picture of a
// large map stays small. One cell is one unit of the picture's coordinates.

#include "clients/cli/picture.h"

#include "clients/cli/commands.h"
#include "clients/cli/paint.h"
#include "clients/cli/parse.h"
#include "clients/cli/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIXELS_WANTED 1200u // width of the picture on a screen
#define NO_COLOUR     0x01000000u

// Colours by terrain: unknown, ground, out of bounds, trees, swamp, water, wall, building.
static const uint32_t terrain_colours[] = {0x14161a, 0xcfc8b4, 0x4a443c, 0x4f6b45,
                                           0x8f9468, 0x4d7ea8, 0x6b5648, 0x8c7a9c};

uint32_t fm_picture_colour(uint32_t look)
{
    uint32_t terrain = look & 15;
    return terrain < FM_COUNT_OF(terrain_colours) ? terrain_colours[terrain] : 0xff00ff;
}

uint32_t fm_picture_search_colour(uint64_t flags)
{
    return flags & 1 ? 0xf0e442 : flags & 2 ? 0x0072b2 : 0x808080;
}

uint32_t fm_picture_scale(const fm_mirror *view)
{
    uint32_t scale = PIXELS_WANTED / view->rect.width;
    return scale > 1 ? scale : 1;
}

static void write_cells(FILE *out, const fm_mirror *view)
{
    const fm_rect *rect = &view->rect;
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        uint32_t begin = rect->x, colour = NO_COLOUR;
        for (uint32_t x = rect->x; x <= rect->x + rect->width; x++) {
            bool over = x == rect->x + rect->width;
            uint32_t here = over ? NO_COLOUR : fm_picture_colour(fm_mirror_look(view, x, y));
            if (here != colour) {
                if (colour != NO_COLOUR && colour != terrain_colours[0]) {
                    fprintf(out,
                            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"1\" fill=\"#%06x\"/>\n",
                            begin, y, x - begin, colour);
                }
                begin = x;
                colour = here;
            }
        }
    }
    fputs("</g>\n", out);
}

static void write_agents(FILE *out, const fm_mirror *view)
{
    fputs("<g stroke=\"#101010\" stroke-width=\"0.1\">\n", out);
    for (uint32_t i = 0; i < view->agent_count; i++) {
        const fm_mirror_agent *agent = &view->agents[i];
        fprintf(out, "<circle cx=\"%g\" cy=\"%g\" r=\"0.45\" fill=\"#%06x\"/>\n",
                fm_cell_x(agent->cell) + 0.5, fm_cell_y(agent->cell) + 0.5,
                fm_paint_team_colour(agent->team));
    }
    fputs("</g>\n", out);
}

// x, y, flags, g, h, rhs of each cell: blue when closed, yellow when open.
static void write_search(FILE *out, fm_numbers search)
{
    fputs("<g shape-rendering=\"crispEdges\" fill-opacity=\"0.55\">\n", out);
    for (uint32_t i = 0; i + 5 < search.count; i += 6) {
        fprintf(out, "<rect x=\"%llu\" y=\"%llu\" width=\"1\" height=\"1\" fill=\"#%06x\"/>\n",
                (unsigned long long)fm_numbers_at(search, i),
                (unsigned long long)fm_numbers_at(search, i + 1),
                fm_picture_search_colour(fm_numbers_at(search, i + 2)));
    }
    fputs("</g>\n", out);
}

static void write_path(FILE *out, const msgpack_object *agent)
{
    fm_numbers cell = fm_object_numbers(agent, "cell"), path = fm_object_numbers(agent, "path");
    if (cell.count < 2 || path.count == 0) {
        return;
    }
    fprintf(out, "<polyline fill=\"none\" stroke=\"#ffffff\" stroke-width=\"0.3\" points=\"%g,%g",
            (double)fm_numbers_at(cell, 0) + 0.5, (double)fm_numbers_at(cell, 1) + 0.5);
    for (uint32_t i = 0; i + 1 < path.count; i += 2) {
        fprintf(out, " %g,%g", (double)fm_numbers_at(path, i) + 0.5,
                (double)fm_numbers_at(path, i + 1) + 0.5);
    }
    fputs("\"/>\n", out);
}

void fm_picture_write(FILE *out, const fm_mirror *view, const msgpack_object *agent)
{
    const fm_rect *rect = &view->rect;
    uint32_t scale = fm_picture_scale(view);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"%u %u %u %u\">\n<title>world %llu, tick %llu</title>\n"
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%06x\"/>\n",
            rect->width * scale, rect->height * scale, rect->x, rect->y, rect->width, rect->height,
            (unsigned long long)view->world, (unsigned long long)view->tick, rect->x, rect->y,
            rect->width, rect->height, terrain_colours[0]);
    write_cells(out, view);
    if (agent != NULL) {
        write_search(out, fm_object_numbers(agent, "search"));
    }
    write_agents(out, view);
    if (agent != NULL) {
        write_path(out, agent);
    }
    fputs("</svg>\n", out);
}

// Everything about the agent of --agent, its search in the whole picture too.
static const msgpack_object *inspect(fm_cli *cli, uint64_t world, const fm_mirror *view)
{
    uint64_t agent = fm_cli_uint(cli, "agent", 1, (uint64_t)FM_UINT_MAX, 0);
    if (agent == 0) {
        return NULL;
    }
    uint64_t sides[4] = {view->rect.x, view->rect.y, view->rect.width, view->rect.height};
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uint(&cli->params, FM_FIELD_AGENT, agent);
    fm_params_uints(&cli->params, FM_FIELD_RECT, sides, 4);
    return fm_cli_call(cli, FM_METHOD_DEBUG_INSPECT);
}

// Which of the two it is, by the end of the file's name.
static bool is_png(fm_cli *cli, const char *name)
{
    const char *end = strrchr(name, '.');
    if (end != NULL && strcmp(end, ".png") == 0) {
        return true;
    }
    if (strcmp(name, "-") != 0 && (end == NULL || strcmp(end, ".svg") != 0)) {
        fm_cli_usage_error(cli, "FILE: '%s' ends neither in .svg nor in .png", name);
    }
    return false;
}

static int run_snapshot(fm_cli *cli)
{
    const char *name = cli->arguments[0], *rect_text = fm_cli_value(cli, "rect");
    uint64_t team = fm_cli_uint(cli, "team", 0, FM_TEAMS_MAX, 0);
    fm_rect rect;
    if (rect_text != NULL && !fm_parse_rect(rect_text, &rect)) {
        fm_cli_usage_error(cli, "--rect: '%s' is not of the form X,Y,WIDTH,HEIGHT", rect_text);
    }
    bool png = is_png(cli, name);
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_mirror view;
    fm_snapshot_take(cli, world, team, rect_text == NULL ? NULL : &rect, &view);
    const msgpack_object *agent = inspect(cli, world, &view);
    FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    if (out == NULL) {
        fm_cli_die(cli, "%s: %s", name, strerror(errno));
    }
    bool failed = false;
    if (png) {
        failed = !fm_picture_write_png(out, &view, agent);
    } else {
        fm_picture_write(out, &view, agent);
    }
    failed = ferror(out) != 0 || failed;
    failed = (out == stdout ? fflush(out) : fclose(out)) != 0 || failed;
    if (failed) {
        fm_cli_die(cli, "%s: cannot be written", name);
    }
    fm_mirror_fini(&view);
    return 0;
}

const fm_cli_command fm_cli_snapshot = {
    .name = "snapshot",
    .arguments = "FILE",
    .summary = "draw a world into an SVG or PNG file",
    .details =
        "Draws what a team sees, or everything: terrain, fog, agents. With an agent also its\n"
        "path and its search, blue where closed and yellow where open (at most 16384 cells\n"
        "of it). FILE ends in .svg or in .png; - is the standard output, as SVG.",
    .examples = "fogmarch snapshot arena.png\n"
                "fogmarch snapshot search.svg --team 1 --agent 17 --rect 100,100,120,80",
    .options = (const fm_cli_option[]){FM_CLI_OPTION_WORLD,
                                       {.name = "team",
                                        .letter = 't',
                                        .kind = FM_CLI_UINT,
                                        .argument = "TEAM",
                                        .text = "whose view it is; without it everything"},
                                       {.name = "agent",
                                        .kind = FM_CLI_UINT,
                                        .argument = "AGENT",
                                        .text = "draw this agent's path and search"},
                                       {.name = "rect",
                                        .letter = 'r',
                                        .kind = FM_CLI_TEXT,
                                        .argument = "X,Y,W,H",
                                        .text = "part of the map"},
                                       {.name = NULL}},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_snapshot,
};
