// clients/cli/commands/inspect.c: `inspect`: everything about one agent.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SHOWN_MAX 12u // cells

static void print_place(const char *name, fm_numbers place)
{
    if (place.count < 2) {
        printf("%-12s -\n", name);
    } else {
        printf("%-12s %llu,%llu\n", name, (unsigned long long)fm_numbers_at(place, 0),
               (unsigned long long)fm_numbers_at(place, 1));
    }
}

static void print_path(fm_numbers path)
{
    uint32_t count = path.count / 2;
    printf("%-12s ", "path");
    if (count == 0) {
        puts("-");
        return;
    }
    printf("%u cells:", count);
    for (uint32_t i = 0; i < count && i < PATH_SHOWN_MAX; i++) {
        printf(" %llu,%llu", (unsigned long long)fm_numbers_at(path, 2 * i),
               (unsigned long long)fm_numbers_at(path, 2 * i + 1));
    }
    puts(count > PATH_SHOWN_MAX ? " ..." : "");
}

static void print_order(const msgpack_object *result, uint64_t order)
{
    char kind[32];
    fm_object_text(result, "kind", kind, sizeof kind);
    printf("%-12s %llu, %s", "order", (unsigned long long)order, kind);
    uint64_t target = fm_object_uint(result, "target", 0);
    if (target != 0) {
        printf(" %llu", (unsigned long long)target);
    }
    uint32_t waiting = fm_object_numbers(result, "queue").count;
    if (waiting > 0) {
        printf("; %u more wait%s", waiting, waiting == 1 ? "s" : "");
    }
    putchar('\n');
}

static void print_agent(const msgpack_object *result)
{
    char state[32], planner[128], plan[32];
    fm_object_text(result, "state", state, sizeof state);
    fm_report_inspected_planner(result, planner, sizeof planner);
    fm_object_text(result, "plan", plan, sizeof plan);
    uint64_t order = fm_object_uint(result, "order", 0);
    printf("%-12s %llu of team %llu, %s\n", "agent",
           (unsigned long long)fm_object_uint(result, "agent", 0),
           (unsigned long long)fm_object_uint(result, "team", 0), state);
    print_place("cell", fm_object_numbers(result, "cell"));
    print_place("goal", fm_object_numbers(result, "goal"));
    print_place("substitute", fm_object_numbers(result, "substitute"));
    if (order == 0) {
        printf("%-12s -\n", "order");
    } else {
        print_order(result, order);
    }
    printf("%-12s %s: %s, shared by %llu\n", "planner", planner, plan,
           (unsigned long long)fm_object_uint(result, "sharers", 0));
    print_path(fm_object_numbers(result, "path"));
    printf("%-12s %s cells open, %s closed; %s expansions since it began; %s\n", "search",
           fm_report_grouped(fm_object_uint(result, "open", 0)),
           fm_report_grouped(fm_object_uint(result, "closed", 0)),
           fm_report_grouped(fm_object_uint(result, "expansions", 0)),
           fm_report_size(fm_object_uint(result, "bytes", 0)));
    printf("%-12s %s cells known to the team, %s\n", "knowledge",
           fm_report_grouped(fm_object_uint(result, "known", 0)),
           fm_report_size(fm_object_uint(result, "knowledge_bytes", 0)));
    printf("%-12s %s moves, %s replans\n", "life",
           fm_report_grouped(fm_object_uint(result, "moves", 0)),
           fm_report_grouped(fm_object_uint(result, "replans", 0)));
}

struct searched_cell {
    uint64_t x, y, flags;
    uint64_t costs[3]; // g, h, rhs; 2^30 - 1: none
};

#define SEARCHED_CELL_NUMBERS 6u

static int by_row(const void *left, const void *right)
{
    const struct searched_cell *a = left, *b = right;
    return a->y != b->y ? (a->y < b->y ? -1 : 1) : (a->x > b->x) - (a->x < b->x);
}

static void print_searched_cell(const struct searched_cell *cell)
{
    char place[24];
    snprintf(place, sizeof place, "%llu,%llu", (unsigned long long)cell->x,
             (unsigned long long)cell->y);
    printf("%9s  %-4s %-6s", place, cell->flags & 1 ? "open" : "", cell->flags & 2 ? "closed" : "");
    for (uint32_t i = 0; i < 3; i++) {
        if (cell->costs[i] >= FM_COST_INFINITE) {
            printf(" %10s", "-");
        } else {
            printf(" %10llu", (unsigned long long)cell->costs[i]);
        }
    }
    putchar('\n');
}

// The server sends cells page by page; people read row by row.
static void print_search(fm_cli *cli, fm_numbers search)
{
    uint32_t count = search.count / SEARCHED_CELL_NUMBERS;
    if (count == 0) {
        return;
    }
    struct searched_cell *cells = fm_cli_need(cli, calloc(count, sizeof *cells));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i * SEARCHED_CELL_NUMBERS;
        cells[i] = (struct searched_cell){
            fm_numbers_at(search, at),
            fm_numbers_at(search, at + 1),
            fm_numbers_at(search, at + 2),
            {fm_numbers_at(search, at + 3), fm_numbers_at(search, at + 4),
             fm_numbers_at(search, at + 5)},
        };
    }
    qsort(cells, count, sizeof *cells, by_row);
    printf("\n%9s  %-11s %10s %10s %10s\n", "CELL", "LISTS", "G", "H", "RHS");
    for (uint32_t i = 0; i < count; i++) {
        print_searched_cell(&cells[i]);
    }
    free(cells);
}

static int run_inspect(fm_cli *cli)
{
    uint64_t agent;
    const char *rect_text = fm_cli_value(cli, "rect");
    fm_rect rect;
    if (!fm_parse_uint(cli->arguments[0], (uint64_t)FM_UINT_MAX, &agent)) {
        fm_cli_usage_error(cli, "'%s' is not an agent's id", cli->arguments[0]);
    }
    if (rect_text != NULL && !fm_parse_rect(rect_text, &rect)) {
        fm_cli_usage_error(cli, "--rect: '%s' is not of the form X,Y,WIDTH,HEIGHT", rect_text);
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_params_uint(&cli->params, FM_FIELD_AGENT, agent);
    if (rect_text != NULL) {
        uint64_t sides[4] = {rect.x, rect.y, rect.width, rect.height};
        fm_params_uints(&cli->params, FM_FIELD_RECT, sides, 4);
    }
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_DEBUG_INSPECT);
    if (!fm_cli_print_json(cli, result)) {
        print_agent(result);
        print_search(cli, fm_object_numbers(result, "search"));
    }
    return 0;
}

static const fm_cli_option inspect_options[] = {
    FM_CLI_OPTION_WORLD,
    {"rect", 'r', FM_CLI_TEXT, "X,Y,W,H",
     "list the cells of its search in here, too;\nX,Y is the north-west cell", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_inspect = {
    .name = "inspect",
    .arguments = "AGENT",
    .summary = "show everything about one agent",
    .details =
        "Shows the state, order, planner, path, search and knowledge of the agent with this id.\n"
        "`auto (NAME)` is a planner that auto has chosen. Behind it stands what the search has:\n"
        "found, a path to the goal; partial, a step that is sound, while the rest is still to be\n"
        "searched or walked; running, nothing yet; unreachable; exhausted, no memory. Search:\n"
        "  open        cells that have a cost and wait for their expansion\n"
        "  closed      cells that the present search has expanded, whose cost is settled\n"
        "  expansions  work since the planner began, over all its searches. A goal field closes\n"
        "              the 1,024 cells of a tile together, for the work of some dozens\n"
        "  g, h, rhs   of a cell, with --rect: the cost that the search has found for it (from\n"
        "              the goal, or where it searches forward, from the agent), the estimate of\n"
        "              the rest, and the cost by its neighbours, as D* Lite has it. One search\n"
        "              may serve many agents: h is then the way to the rectangle that they\n"
        "              stand in, and 0 within it. A straight step on plain ground costs 10, a\n"
        "              diagonal one 14; - is no cost",
    .examples = "fogmarch inspect 17\n"
                "fogmarch inspect 17 --rect 100,100,8,8",
    .options = inspect_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_inspect,
};
