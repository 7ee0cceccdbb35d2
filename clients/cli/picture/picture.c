// clients/cli/picture/picture.c: the subcommand `snapshot`: one look at a world, drawn into a file.

#include "clients/cli/picture/picture.h"

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"
#include "clients/cli/picture/png.h"
#include "clients/cli/picture/svg.h"
#include "clients/cli/views/snapshot.h"

#include <stdio.h>
#include <string.h>

#define SEARCH_CELLS_MAX 16384u // that debug.inspect lists

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

static void tell(const fm_cli *cli, const char *name, const fm_mirror *view,
                 const msgpack_object *agent)
{
    uint32_t cells = fm_object_numbers(agent, "search").count / 6;
    if (cli->json) {
        printf("{\"width\":%u,\"height\":%u,\"search\":%u", view->rect.width, view->rect.height,
               cells);
        fm_json_print_member("file", name);
        puts("}");
        return;
    }
    printf("%s: %ux%u cells", name, view->rect.width, view->rect.height);
    if (cells > 0) {
        printf(cells == SEARCH_CELLS_MAX ? ", and the first %s cells of the search"
                                         : ", %s of them searched",
               fm_report_grouped(cells));
    }
    putchar('\n');
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
    FILE *out = fm_cli_create_file(cli, name);
    if (!png) {
        fm_picture_write_svg(out, &view, agent);
    } else if (!fm_picture_write_png(out, &view, agent)) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    fm_cli_close_file(cli, out, name);
    if (strcmp(name, "-") != 0) {
        tell(cli, name, &view, agent);
    }
    fm_mirror_fini(&view);
    return 0;
}

static const fm_cli_option snapshot_options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "TEAM", "whose view it is; without it everything", 0},
    {"agent", 0, FM_CLI_UINT, "AGENT", "mark this agent, draw its path and search", 0},
    {"rect", 'r', FM_CLI_TEXT, "X,Y,W,H", "part of the map; X,Y is its north-west cell", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_snapshot = {
    .name = "snapshot",
    .arguments = "FILE",
    .summary = "draw a world into an SVG or PNG file",
    .details = "Draws what a team sees, or everything: terrain, fog, agents. With an agent also a\n"
               "ring around it, a square around its goal, its path and its search, magenta where\n"
               "closed and yellow where open (at most 16384 cells of it). FILE ends in .svg or in\n"
               ".png; - is the standard output, as SVG.",
    .examples = "fogmarch snapshot arena.png\n"
                "fogmarch snapshot search.svg --team 1 --agent 17 --rect 100,100,120,80",
    .options = snapshot_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_snapshot,
};
