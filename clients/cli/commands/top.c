// clients/cli/commands/top.c: `top`: where a world's work goes, as a full screen or as plain lines.
//
// The full screen is drawn with ncurses: it handles keys, resizing and colours.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"
#include "clients/cli/base/terminal.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_MS      1000
#define PLAIN_ROWS     20u
#define ROWS_MAX       100u
#define LINE_SIZE      256u
#define HEADING_COLOUR 1
#define TITLE_COLOUR   2

// What rows can be ordered by.
static const struct view {
    int key;
    const char *by, *heading;
    const char *none; // when there are no rows
} views[] = {
    {'a', "agents",
     "EXPANSIONS/TICK  SEARCH SO FAR       AGENT  TEAM  SHARED      MEMORY  GOAL         PLANNER",
     "No agent has a search."},
    {'p', "planners",
     "EXPANSIONS/TICK  SEARCH SO FAR   ONE AGENT  TEAM  SHARED      MEMORY  GOAL         PLANNER",
     "No agent has a search."},
    {'t', "teams", "EXPANSIONS/TICK         SO FAR              TEAM  AGENTS      MEMORY",
     "There is no team yet."},
    {'e', "edits", "     EXPANSIONS          TICK       CELLS  ONE OF THEM",
     "Nobody has edited the map lately."},
};

static void format_cell(const msgpack_object *row, const char *name, char *text, size_t size)
{
    fm_numbers cell = fm_object_numbers(row, name);
    text[0] = '\0';
    if (cell.count == 2) {
        snprintf(text, size, "%llu,%llu", (unsigned long long)fm_numbers_at(cell, 0),
                 (unsigned long long)fm_numbers_at(cell, 1));
    }
}

static void format_row(const struct view *view, const msgpack_object *row, char *line)
{
    char cell[32], planner[128] = "";
    if (view->key == 'e') {
        format_cell(row, "cell", cell, sizeof cell);
        snprintf(line, LINE_SIZE, "%15s  %12llu  %10s  %s",
                 fm_report_grouped(fm_object_uint(row, "expansions", 0)),
                 (unsigned long long)fm_object_uint(row, "tick", 0),
                 fm_report_grouped(fm_object_uint(row, "cells", 0)), cell);
        return;
    }
    char agent[24] = "";
    if (view->key != 't') {
        snprintf(agent, sizeof agent, "%llu", (unsigned long long)fm_object_uint(row, "agent", 0));
    }
    format_cell(row, "goal", cell, sizeof cell);
    if (view->key != 't') {
        fm_report_inspected_planner(row, planner, sizeof planner);
    }
    snprintf(line, LINE_SIZE, "%15.1f  %13s  %10s  %4llu  %6llu  %10s  %-11s  %s",
             fm_object_real(row, "per_tick", 0),
             fm_report_grouped(fm_object_uint(row, "expansions", 0)), agent,
             (unsigned long long)fm_object_uint(row, "team", 0),
             (unsigned long long)fm_object_uint(row, "agents", 0),
             fm_report_size(fm_object_uint(row, "bytes", 0)), cell, planner);
}

static const msgpack_object *ask_top(fm_cli *cli, uint64_t world, const struct view *view,
                                     uint32_t rows)
{
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_text(&cli->params, FM_FIELD_BY, view->by);
    fm_params_uint(&cli->params, FM_FIELD_ROWS, rows);
    return fm_cli_call(cli, FM_METHOD_DEBUG_TOP);
}

// One line about the world as a whole.
static void ask_summary(fm_cli *cli, uint64_t world, char *line)
{
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    const msgpack_object *stats = fm_object_get(fm_cli_call(cli, FM_METHOD_STATS), "world");
    const msgpack_object *tick_ms = fm_object_get(stats, "tick_ms");
    snprintf(line, LINE_SIZE,
             "tick %s   %s agents   %s searches   tick p50 %.2f ms, p99 %.2f ms   search %s of %s",
             fm_report_grouped(fm_object_uint(stats, "tick", 0)),
             fm_report_grouped(fm_object_uint(stats, "agents", 0)),
             fm_report_grouped(fm_object_uint(stats, "planners", 0)),
             fm_object_real(tick_ms, "p50", 0), fm_object_real(tick_ms, "p99", 0),
             fm_report_size(fm_object_uint(stats, "search_bytes", 0)),
             fm_report_size(fm_object_uint(fm_object_get(stats, "memory"), "bytes", 0)));
}

// ---- plain -------------------------------------------------------------------------------------

static int print_once(fm_cli *cli, uint64_t world, const struct view *view, uint32_t rows)
{
    char line[LINE_SIZE];
    const msgpack_object *result = ask_top(cli, world, view, rows);
    if (fm_cli_print_json(cli, result)) {
        return 0;
    }
    puts(view->heading);
    fm_numbers list = fm_object_numbers(result, "rows");
    for (uint32_t i = 0; i < list.count; i++) {
        format_row(view, &list.elements[i], line);
        puts(line);
    }
    if (list.count == 0) {
        puts(view->none);
    }
    return 0;
}

// ---- full screen -------------------------------------------------------------------------------

static void enter_screen(const fm_cli *cli)
{
    if (!fm_terminal_enter()) {
        fm_cli_die(cli, "the terminal cannot be used; --once prints a table");
    }
    keypad(stdscr, TRUE);
    timeout(PERIOD_MS);
    if (has_colors() && getenv("NO_COLOR") == NULL) {
        start_color();
        use_default_colors();
        init_pair(HEADING_COLOUR, COLOR_BLACK, COLOR_CYAN);
        init_pair(TITLE_COLOUR, COLOR_CYAN, -1);
    }
}

static void draw(fm_cli *cli, uint64_t world, const struct view *view)
{
    char line[LINE_SIZE];
    ask_summary(cli, world, line);
    erase();
    attron(A_BOLD | COLOR_PAIR(TITLE_COLOUR));
    mvaddnstr(0, 0, line, COLS);
    attroff(A_BOLD | COLOR_PAIR(TITLE_COLOUR));
    mvaddnstr(1, 0, "a agents   p planners   t teams   e edits   q quit", COLS);
    attron(COLOR_PAIR(HEADING_COLOUR) | A_REVERSE * !has_colors());
    mvhline(3, 0, ' ', COLS);
    mvaddnstr(3, 0, view->heading, COLS);
    attroff(COLOR_PAIR(HEADING_COLOUR) | A_REVERSE * !has_colors());
    uint32_t room = LINES > 5 ? (uint32_t)LINES - 4 : 1;
    fm_numbers list =
        fm_object_numbers(ask_top(cli, world, view, room < ROWS_MAX ? room : ROWS_MAX), "rows");
    for (uint32_t i = 0; i < list.count; i++) {
        format_row(view, &list.elements[i], line);
        mvaddnstr(4 + (int)i, 0, line, COLS);
    }
    if (list.count == 0) {
        mvaddnstr(4, 0, view->none, COLS);
    }
    refresh();
}

static int show(fm_cli *cli, uint64_t world, const struct view *view)
{
    fm_terminal_catch_stops();
    enter_screen(cli);
    while (!fm_terminal_is_stopped()) {
        draw(cli, world, view);
        int key = getch();
        if (key == 'q' || key == 'Q') {
            break;
        }
        for (uint32_t i = 0; i < FM_COUNT_OF(views); i++) {
            view = key == views[i].key ? &views[i] : view;
        }
    }
    fm_terminal_leave();
    return 0;
}

static int run_top(fm_cli *cli)
{
    const char *by = fm_cli_value(cli, "by");
    const struct view *view = &views[0];
    for (uint32_t i = 0; by != NULL && i < FM_COUNT_OF(views); i++) {
        view = strcmp(by, views[i].by) == 0 ? &views[i] : view;
    }
    if (by != NULL && strcmp(view->by, by) != 0) {
        fm_cli_usage_error(cli, "--by: '%s' is not one of agents, planners, teams, edits", by);
    }
    uint32_t rows = (uint32_t)fm_cli_uint(cli, "rows", 1, ROWS_MAX, PLAIN_ROWS);
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    bool plain = cli->json || fm_cli_value(cli, "once") != NULL || !fm_terminal_is_screen();
    return plain ? print_once(cli, world, view, rows) : show(cli, world, view);
}

static const fm_cli_option top_options[] = {
    FM_CLI_OPTION_WORLD,
    {"by", 0, FM_CLI_TEXT, "WHAT", "agents, planners, teams or edits; agents", 0},
    {"once", 0, FM_CLI_FLAG, NULL, "print one table", 0},
    {"rows", 'n', FM_CLI_UINT, "COUNT", "of a table; 20", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_top = {
    .name = "top",
    .arguments = "",
    .summary = "show where a world's work goes",
    .details =
        "Shows the most expensive agents, planners, teams or edits, every second. The keys\n"
        "a, p, t and e choose, q ends it. Without a terminal it prints one table. Agents that\n"
        "share one search are one row, with the first of them; SHARED says how many they are.\n"
        "EXPANSIONS/TICK is of lately, and by agents one agent's part of its search; all since\n"
        "the search began, and MEMORY, are the whole search's. `auto (NAME)` is a planner that\n"
        "auto has chosen. EXPANSIONS of an edit are those of all searches in the next tick.",
    .examples = "fogmarch top\n"
                "fogmarch top --by teams --once",
    .options = top_options,
    .run = run_top,
};
