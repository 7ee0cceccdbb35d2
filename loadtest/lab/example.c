// loadtest/lab/example.c: `fogmarch-lab example`, the textbook example of Adaptive A*, drawn cell
// by cell.
//
//        1   2   3   4   5
//     A  .   .   .   .   .
//     B  .   .   #   .   .
//     C  .   .   #   .   .       start E3, goal E5; the agent sees the four cells beside it
//     D  .   .   #   #   .
//     E  .   .   S   #   G
//
// In its first two searches, which are what the example shows, Repeated Forward A* expands 10 + 13
// cells. Adaptive A* raises h(s) to f* - g(s) for the cells that a search has expanded, and so
// expands 10 + 10: in the second search E1, E2 and E3 no longer look promising. The counts depend
// on ties: larger g first, then first in, first out, with neighbours in the order west, south,
// east, north.
//
// The search here is plain textbook A* on 25 cells, so that it can be read beside the drawing. The
// planners of the catalogue play the same mission for comparison; they break ties by a rule of
// their own.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/mission.h"
#include "loadtest/lab/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE       5
#define CELL_COUNT (SIDE * SIDE)
#define INFINITE   1000
#define START      (4 * SIDE + 2) // E3
#define GOAL       (4 * SIDE + 4) // E5

#define SHOWN_SEARCHES      2u // so many searches are in the example; the counts are theirs
#define FORWARD_EXPANSIONS  23u
#define ADAPTIVE_EXPANSIONS 20u

static const char maze[] = "....."
                           "..#.."
                           "..#.."
                           "..##."
                           "...#.";

// Neighbours in the order that the counts depend on.
static const int west_south_east_north[4][2] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};

struct search {
    bool adaptive;
    bool known_blocked[CELL_COUNT];
    int h[CELL_COUNT];
    // of this search
    int g[CELL_COUNT], parent[CELL_COUNT];
    unsigned born[CELL_COUNT]; // when g was last set, for first in, first out
    bool open[CELL_COUNT], closed[CELL_COUNT], on_path[CELL_COUNT];
    unsigned clock, expansions;
};

static const fm_lab_option options[] = {{.name = NULL}};

// ---- the search --------------------------------------------------------------------------------

// The neighbour in direction i, or -1 beyond the border.
static int neighbour(int cell, int i)
{
    int x = cell % SIDE + west_south_east_north[i][0];
    int y = cell / SIDE + west_south_east_north[i][1];
    return x < 0 || y < 0 || x >= SIDE || y >= SIDE ? -1 : y * SIDE + x;
}

// Whether open cell a comes before open cell b.
static bool comes_before(const struct search *s, int a, int b)
{
    int f_a = s->g[a] + s->h[a], f_b = s->g[b] + s->h[b];
    if (f_a != f_b) {
        return f_a < f_b;
    }
    return s->g[a] != s->g[b] ? s->g[a] > s->g[b] : s->born[a] < s->born[b];
}

static int first_open(const struct search *s)
{
    int first = -1;
    for (int cell = 0; cell < CELL_COUNT; cell++) {
        if (s->open[cell] && (first == -1 || comes_before(s, cell, first))) {
            first = cell;
        }
    }
    return first;
}

static void reach(struct search *s, int cell, int g, int parent)
{
    s->g[cell] = g;
    s->parent[cell] = parent;
    s->born[cell] = s->clock++;
    s->open[cell] = true;
}

// One A* search on what is known. The goal itself is not expanded. Leaves the path in `on_path`.
static void find_path(struct search *s, int start)
{
    s->expansions = 0;
    for (int cell = 0; cell < CELL_COUNT; cell++) {
        s->g[cell] = INFINITE;
        s->open[cell] = s->closed[cell] = s->on_path[cell] = false;
    }
    reach(s, start, 0, -1);
    int cell;
    while ((cell = first_open(s)) != GOAL) {
        FM_ASSERT(cell != -1);
        s->open[cell] = false;
        s->closed[cell] = true;
        s->expansions += 1;
        for (int i = 0; i < 4; i++) {
            int next = neighbour(cell, i);
            if (next != -1 && !s->known_blocked[next] && s->g[cell] + 1 < s->g[next]) {
                reach(s, next, s->g[cell] + 1, cell);
            }
        }
    }
    for (cell = GOAL; cell != -1; cell = s->parent[cell]) {
        s->on_path[cell] = true;
    }
}

// What Adaptive A* learns from a search that has ended.
static void learn(struct search *s)
{
    for (int cell = 0; cell < CELL_COUNT; cell++) {
        if (s->closed[cell]) {
            s->h[cell] = s->g[GOAL] - s->g[cell];
        }
    }
}

// ---- the mission -------------------------------------------------------------------------------

static void look(struct search *s, int cell)
{
    for (int i = 0; i < 4; i++) {
        int next = neighbour(cell, i);
        if (next != -1 && maze[next] == '#') {
            s->known_blocked[next] = true;
        }
    }
}

// The cell after `cell` on the path.
static int next_on_path(const struct search *s, int cell)
{
    int next = GOAL;
    while (s->parent[next] != cell) {
        next = s->parent[next];
    }
    return next;
}

// Whether something blocked is now known on the path.
static bool path_is_broken(const struct search *s)
{
    for (int cell = 0; cell < CELL_COUNT; cell++) {
        if (s->on_path[cell] && s->known_blocked[cell]) {
            return true;
        }
    }
    return false;
}

// Walks the path until it ends or breaks. Returns where the agent stands then.
static int walk(struct search *s, int cell)
{
    while (cell != GOAL && !path_is_broken(s)) {
        cell = next_on_path(s, cell);
        look(s, cell);
    }
    return cell;
}

static void draw_rule(void)
{
    fputs("    ", stdout);
    for (int x = 0; x < SIDE; x++) {
        fputs("+--------", stdout);
    }
    puts("+");
}

// Two lines for each cell: g and h, then f and the cell's state.
static void draw(const struct search *s, int start)
{
    puts("         1        2        3        4        5");
    for (int y = 0; y < SIDE; y++) {
        draw_rule();
        for (int line = 0; line < 2; line++) {
            printf("  %c ", line == 0 ? 'A' + y : ' ');
            for (int x = 0; x < SIDE; x++) {
                int cell = y * SIDE + x;
                const char *mark = cell == start      ? "S"
                                   : cell == GOAL     ? "G"
                                   : s->on_path[cell] ? "o"
                                   : s->open[cell]    ? "?"
                                                      : " ";
                if (s->known_blocked[cell]) {
                    fputs("|########", stdout);
                } else if (s->g[cell] == INFINITE && line == 0) {
                    printf("|    h=%-2d", s->h[cell]);
                } else if (s->g[cell] == INFINITE) {
                    fputs("|        ", stdout);
                } else if (line == 0) {
                    printf("|g=%-2dh=%-2d", s->g[cell], s->h[cell]);
                } else {
                    printf("|f=%-2d %s %s", s->g[cell] + s->h[cell], mark,
                           s->closed[cell] ? "x" : " ");
                }
            }
            puts("|");
        }
    }
    draw_rule();
}

static void add_total(fm_table *table, const char *name, double expansions)
{
    fm_table_row(table);
    fm_table_text(table, name);
    fm_table_number(table, 0);
    fm_table_number(table, expansions);
    fm_table_number(table, (double)NAN);
}

// Plays the mission, a row of the table for each search. Returns the expansions of the searches
// that the example shows.
static unsigned play(const fm_lab *lab, bool adaptive, fm_table *table)
{
    struct search s = {.adaptive = adaptive};
    const char *name = adaptive ? "Adaptive A*" : "Repeated Forward A*";
    unsigned total = 0, shown = 0, searches = 0;
    for (int cell = 0; cell < CELL_COUNT; cell++) {
        s.h[cell] = abs(cell % SIDE - GOAL % SIDE) + abs(cell / SIDE - GOAL / SIDE);
    }
    int at = START;
    look(&s, at);
    while (at != GOAL) {
        find_path(&s, at);
        total += s.expansions;
        searches += 1;
        shown += searches <= SHOWN_SEARCHES ? s.expansions : 0;
        if (!lab->json) {
            printf("%s, search %u from %c%d: %u cells expanded, path of %d steps\n", name, searches,
                   'A' + at / SIDE, at % SIDE + 1, s.expansions, s.g[GOAL]);
            draw(&s, at);
            putchar('\n');
        }
        fm_table_row(table);
        fm_table_text(table, name);
        fm_table_number(table, searches);
        fm_table_number(table, s.expansions);
        fm_table_number(table, s.g[GOAL]);
        if (s.adaptive) {
            learn(&s);
        }
        at = walk(&s, at);
    }
    add_total(table, name, total);
    return shown;
}

// The same mission by a planner of the catalogue.
static void play_planner(const fm_lab *lab, const fm_planner_ops *ops, fm_table *table)
{
    fm_grid *grid;
    fm_line_of_sight *sight;
    fm_lab_worker worker;
    fm_lab_mission mission;
    fm_lab_check(lab, fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), "maze");
    for (uint32_t cell = 0; cell < CELL_COUNT; cell++) {
        if (maze[cell] == '#') {
            fm_grid_set(grid, fm_cell_at(cell % SIDE, cell / SIDE), FM_TERRAIN_WALL, 1);
        }
    }
    fm_lab_check(lab,
                 fm_line_of_sight_create((fm_sense_rules){.radius = 1, .shape = FM_SENSE_DIAMOND},
                                         &fm_memory_libc, &sight),
                 "sight");
    fm_lab_worker_init(&worker);
    const fm_planner_spec spec = {.ops = ops};
    const fm_lab_ground ground = {
        .truth = grid, .sight = sight, .connectivity = FM_CONNECT_4, .steps = FM_STEPS_1};
    fm_lab_check(lab,
                 fm_lab_mission_play(&ground, &spec, fm_cell_at(START % SIDE, START / SIDE),
                                     fm_cell_at(GOAL % SIDE, GOAL / SIDE), &worker, &mission),
                 ops->name);
    add_total(table, ops->name, (double)mission.expansions);
    fm_lab_worker_fini(&worker);
    fm_line_of_sight_destroy(sight);
    fm_grid_destroy(grid);
}

static const fm_column columns[] = {
    {"planner", "planner", FM_COLUMN_TEXT, 0},
    {"search", "search (0: all)", FM_COLUMN_NUMBER, 0},
    {"expansions", "expansions", FM_COLUMN_NUMBER, 0},
    {"path_steps", "path", FM_COLUMN_NUMBER, 0},
};

static int run(fm_lab *lab)
{
    fm_table table;
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    if (!lab->json) {
        puts("x: expanded; ?: open; o: on the path; ####: known to be blocked\n");
    }
    unsigned forward = play(lab, false, &table);
    unsigned adaptive = play(lab, true, &table);
    play_planner(lab, &fm_repeated_forward_astar, &table);
    play_planner(lab, &fm_adaptive_astar, &table);
    const fm_report_fact facts[] = {{"shown_searches", SHOWN_SEARCHES},
                                    {"repeated_forward_astar", forward},
                                    {"adaptive_astar", adaptive},
                                    {"published_repeated_forward_astar", FORWARD_EXPANSIONS},
                                    {"published_adaptive_astar", ADAPTIVE_EXPANSIONS}};
    fm_lab_report(lab, &table, facts, FM_COUNT_OF(facts));
    fm_table_fini(&table);
    return forward == FORWARD_EXPANSIONS && adaptive == ADAPTIVE_EXPANSIONS ? FM_LAB_OK
                                                                            : FM_LAB_FAILED;
}

const fm_lab_command fm_lab_example = {
    .name = "example",
    .arguments = "",
    .summary = "the worked example of Adaptive A* on 5 x 5 cells, drawn cell by cell",
    .details = "Draws each search of Repeated Forward A* and of Adaptive A* on the maze by which\n"
               "the latter is taught: g, h and f of every cell, what was expanded, and the path.\n"
               "Exit status 1 when the first two searches do not expand 23 and 20 cells together.",
    .options = options,
    .run = run,
};
