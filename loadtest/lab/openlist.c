// loadtest/lab/openlist.c: `fogmarch-lab openlist`, one A*, five open lists.
//
// It shows why the default open list was chosen. The search is the same each time: A* on a known
// map, dense arrays, octile distance, a node's record found by its index; only the list of open
// cells differs:
//
//   unsorted   a linked list; the smallest is searched each time
//   sorted     a linked list in order; each cell is put where it belongs
//   binary     a heap with two children to a node
//   4-ary      a heap with four
//   buckets    a list for each value of f, newest first
//
// All but the buckets prefer the larger g among equal f exactly; last in, first out comes close to
// it. Each list must find paths of the same cost, or the experiment ends.

#include "loadtest/lab/lab.h"
#include "loadtest/lab/maps.h"
#include "loadtest/lab/plot.h"
#include "loadtest/lab/report.h"
#include "loadtest/lab/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

#define MAPS_DEFAULT "arena2,den520d,brc202d,32room_000"

enum list_kind {
    LIST_UNSORTED,
    LIST_SORTED,
    LIST_BINARY,
    LIST_QUATERNARY,
    LIST_BUCKETS,
    LIST_KINDS,
};

static const char *const list_names[] = {"unsorted", "sorted", "binary", "4-ary", "buckets"};

// A cell, by its place in the padded map: row y + 1, column x + 1.
struct node {
    uint32_t g;
    uint32_t search; // the last one that touched it
    uint64_t key;    // f above, what breaks ties below
    uint32_t next, previous;
    uint32_t place; // in the heap; OPEN or CLOSED in the others
};

enum {
    PLACE_OPEN = 0,
    PLACE_CLOSED = 0xffffffff,
};

struct search {
    const fm_view *view;
    struct node *nodes; // one for each fm_cell up to the last row
    uint32_t number;    // of this search
    uint32_t goal;
    uint32_t head;   // unsorted and sorted: first cell
    uint32_t *heap;  // cells
    uint32_t *heads; // buckets: first cell by f
    uint32_t head_count;
    uint32_t cursor; // no bucket below holds anything
    uint32_t count;  // open cells
    uint64_t expansions;
};

static const fm_lab_option options[] = {
    {"map", "LIST", "maps, separated by commas; " MAPS_DEFAULT},
    {"problems", "N", "of each map's .scen file, spread evenly; 10"},
    {"lists", "LIST", "unsorted, sorted, binary, 4-ary, buckets; all of them"},
    FM_LAB_OPTION_MAPS,
    {.name = NULL},
};

// ---- linked lists ------------------------------------------------------------------------------

FM_INLINE void link_before(struct search *s, uint32_t *head, uint32_t previous, uint32_t next,
                           uint32_t cell)
{
    s->nodes[cell].previous = previous;
    s->nodes[cell].next = next;
    if (previous == NONE) {
        *head = cell;
    } else {
        s->nodes[previous].next = cell;
    }
    if (next != NONE) {
        s->nodes[next].previous = cell;
    }
}

FM_INLINE void unlink_cell(struct search *s, uint32_t *head, uint32_t cell)
{
    uint32_t previous = s->nodes[cell].previous, next = s->nodes[cell].next;
    if (previous == NONE) {
        *head = next;
    } else {
        s->nodes[previous].next = next;
    }
    if (next != NONE) {
        s->nodes[next].previous = previous;
    }
}

static void put_in_order(struct search *s, uint32_t cell)
{
    uint32_t previous = NONE, next = s->head;
    while (next != NONE && s->nodes[next].key < s->nodes[cell].key) {
        previous = next;
        next = s->nodes[next].next;
    }
    link_before(s, &s->head, previous, next, cell);
}

static uint32_t smallest_of_all(const struct search *s)
{
    uint32_t best = s->head;
    for (uint32_t cell = s->head; cell != NONE; cell = s->nodes[cell].next) {
        best = s->nodes[cell].key < s->nodes[best].key ? cell : best;
    }
    return best;
}

// ---- heaps -------------------------------------------------------------------------------------

FM_INLINE void heap_put(struct search *s, uint32_t place, uint32_t cell)
{
    s->heap[place] = cell;
    s->nodes[cell].place = place;
}

FM_INLINE void sift_up(struct search *s, uint32_t arity, uint32_t place, uint32_t cell)
{
    while (place > 0) {
        uint32_t above = (place - 1) / arity;
        if (s->nodes[s->heap[above]].key <= s->nodes[cell].key) {
            break;
        }
        heap_put(s, place, s->heap[above]);
        place = above;
    }
    heap_put(s, place, cell);
}

FM_INLINE void sift_down(struct search *s, uint32_t arity, uint32_t cell)
{
    uint32_t place = 0;
    for (;;) {
        uint32_t first = place * arity + 1, best = NONE;
        for (uint32_t child = first; child < first + arity && child < s->count; child++) {
            if (best == NONE || s->nodes[s->heap[child]].key < s->nodes[s->heap[best]].key) {
                best = child;
            }
        }
        if (best == NONE || s->nodes[s->heap[best]].key >= s->nodes[cell].key) {
            break;
        }
        heap_put(s, place, s->heap[best]);
        place = best;
    }
    heap_put(s, place, cell);
}

FM_INLINE uint32_t heap_take(struct search *s, uint32_t arity)
{
    uint32_t cell = s->heap[0];
    s->count -= 1;
    if (s->count > 0) {
        sift_down(s, arity, s->heap[s->count]);
    }
    return cell;
}

// ---- any of the five ---------------------------------------------------------------------------

FM_INLINE uint32_t *bucket_of(struct search *s, uint32_t cell)
{
    uint32_t f = (uint32_t)(s->nodes[cell].key >> 32);
    FM_ASSERT(f < s->head_count);
    return &s->heads[f];
}

// Adds an open cell, or (`again`) moves it after its key fell from `old_key`.
FM_INLINE void add(struct search *s, enum list_kind kind, uint32_t cell, bool again,
                   uint64_t new_key)
{
    if (again && kind == LIST_BUCKETS) {
        unlink_cell(s, bucket_of(s, cell), cell);
    } else if (again && kind == LIST_SORTED) {
        unlink_cell(s, &s->head, cell);
    }
    s->nodes[cell].key = new_key;
    s->count += !again;
    switch (kind) {
    case LIST_UNSORTED:
        if (!again) {
            link_before(s, &s->head, NONE, s->head, cell);
        }
        return;
    case LIST_SORTED:
        put_in_order(s, cell);
        return;
    case LIST_BINARY:
        sift_up(s, 2, again ? s->nodes[cell].place : s->count - 1, cell);
        return;
    case LIST_QUATERNARY:
        sift_up(s, 4, again ? s->nodes[cell].place : s->count - 1, cell);
        return;
    case LIST_BUCKETS:
        link_before(s, bucket_of(s, cell), NONE, *bucket_of(s, cell), cell);
        s->cursor = (new_key >> 32) < s->cursor ? (uint32_t)(new_key >> 32) : s->cursor;
        return;
    case LIST_KINDS:
        break;
    }
    FM_UNREACHABLE();
}

// Takes the open cell with the smallest key. There is one.
FM_INLINE uint32_t take(struct search *s, enum list_kind kind)
{
    uint32_t cell = NONE;
    switch (kind) {
    case LIST_UNSORTED:
    case LIST_SORTED:
        cell = kind == LIST_SORTED ? s->head : smallest_of_all(s);
        unlink_cell(s, &s->head, cell);
        s->count -= 1;
        return cell;
    case LIST_BINARY:
        return heap_take(s, 2);
    case LIST_QUATERNARY:
        return heap_take(s, 4);
    case LIST_BUCKETS:
        while (s->heads[s->cursor] == NONE) {
            s->cursor += 1;
        }
        cell = s->heads[s->cursor];
        unlink_cell(s, &s->heads[s->cursor], cell);
        s->count -= 1;
        return cell;
    case LIST_KINDS:
        break;
    }
    FM_UNREACHABLE();
}

// ---- the search --------------------------------------------------------------------------------

FM_INLINE void reach(struct search *s, enum list_kind kind, fm_cell cell, uint32_t g)
{
    struct node *node = &s->nodes[cell];
    bool again = node->search == s->number;
    if (again && (node->place == PLACE_CLOSED || node->g <= g)) {
        return;
    }
    uint32_t f = g + fm_view_distance(s->view, cell, s->goal);
    node->g = g;
    node->search = s->number;
    if (!again) {
        node->place = PLACE_OPEN;
    }
    add(s, kind, cell, again, (uint64_t)f << 32 | (UINT32_MAX - g));
}

// Cost of a cheapest path; FM_COST_INFINITE when there is none.
FM_INLINE uint32_t run_search(struct search *s, enum list_kind kind, fm_cell start)
{
    reach(s, kind, start, 0);
    while (s->count > 0) {
        fm_cell cell = take(s, kind);
        s->nodes[cell].place = PLACE_CLOSED;
        if (cell == s->goal) {
            return s->nodes[cell].g;
        }
        s->expansions += 1;
        for (uint32_t moves = fm_view_moves(s->view, cell); moves != 0; moves &= moves - 1) {
            uint32_t d = (uint32_t)__builtin_ctz(moves);
            reach(s, kind, fm_cell_step(cell, d), s->nodes[cell].g + s->view->step[d & 1]);
        }
    }
    return FM_COST_INFINITE;
}

// Each kind has a loop of its own.
static uint32_t find(struct search *s, enum list_kind kind, fm_cell start, fm_cell goal)
{
    s->number += 1;
    s->goal = goal;
    s->head = NONE;
    s->count = 0;
    s->expansions = 0;
    if (kind == LIST_BUCKETS) {
        memset(s->heads, 0xff, s->head_count * sizeof *s->heads);
        s->cursor = s->head_count - 1;
    }
    switch (kind) {
    case LIST_UNSORTED:
        return run_search(s, LIST_UNSORTED, start);
    case LIST_SORTED:
        return run_search(s, LIST_SORTED, start);
    case LIST_BINARY:
        return run_search(s, LIST_BINARY, start);
    case LIST_QUATERNARY:
        return run_search(s, LIST_QUATERNARY, start);
    case LIST_BUCKETS:
        return run_search(s, LIST_BUCKETS, start);
    case LIST_KINDS:
        break;
    }
    FM_UNREACHABLE();
}

// ---- maps and results --------------------------------------------------------------------------

struct score {
    fm_sample expansions, us;
};

// The lists that take part.
struct choice {
    bool chosen[LIST_KINDS];
};

static void solve(fm_lab *lab, struct search *s, const struct choice *choice,
                  const fm_lab_errand *errand, uint32_t turn, struct score *scores)
{
    uint32_t cost = FM_COST_INFINITE, solved_count = 0;
    for (uint32_t i = 0; i < LIST_KINDS; i++) {
        enum list_kind kind = (enum list_kind)((i + turn) % LIST_KINDS);
        if (!choice->chosen[kind]) {
            continue;
        }
        uint64_t begun = fm_lab_ticks();
        uint32_t found = find(s, kind, errand->start, errand->goal);
        uint64_t ended = fm_lab_ticks();
        if (solved_count++ > 0 && found != cost) {
            fm_lab_die(lab, "%s finds a path of cost %u where another list finds %u",
                       list_names[kind], found, cost);
        }
        cost = found;
        fm_sample_add(&scores[kind].expansions, (double)s->expansions);
        fm_sample_add(&scores[kind].us, fm_lab_ns(ended - begun) / 1e3);
    }
}

static void add_rows(fm_table *table, const char *map, const struct choice *choice,
                     const struct score *scores)
{
    for (uint32_t kind = 0; kind < LIST_KINDS; kind++) {
        if (!choice->chosen[kind]) {
            continue;
        }
        fm_table_row(table);
        fm_table_text(table, map);
        fm_table_text(table, list_names[kind]);
        fm_table_mean(table, &scores[kind].expansions);
        fm_table_mean(table, &scores[kind].us);
        fm_table_number(table, scores[kind].us.mean * 1e3 / scores[kind].expansions.mean);
        fm_table_number(table, choice->chosen[LIST_BUCKETS]
                                   ? scores[kind].us.mean / scores[LIST_BUCKETS].us.mean
                                   : (double)NAN);
    }
}

// Cost of the costliest of some errands; those that lead nowhere are dropped.
static uint32_t costliest(struct search *s, fm_lab_errand *errands, uint32_t *count)
{
    uint32_t kept = 0, most = 0;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t cost = find(s, LIST_BINARY, errands[i].start, errands[i].goal);
        if (cost < FM_COST_INFINITE) {
            errands[kept++] = errands[i];
            most = cost > most ? cost : most;
        }
    }
    *count = kept;
    return most;
}

static void play_map(fm_lab *lab, const char *name, uint32_t problems, const struct choice *choice,
                     fm_table *table)
{
    char path[FM_LAB_PATH_SIZE];
    struct score scores[LIST_KINDS] = {0};
    fm_lab_find_or_die(lab, name, ".map", path);
    fm_grid *map = fm_lab_read_map(lab, path);
    fm_lab_errand *errands = fm_lab_errands(lab, path, map, &problems);
    fm_view view = fm_view_of_grid(map, FM_CONNECT_8, FM_STEPS_10_14);
    size_t node_count = fm_cell_at(map->width - 1, map->height - 1) + 1;
    struct search s = {
        .view = &view,
        .nodes = fm_lab_need(lab, calloc(node_count, sizeof *s.nodes)),
        .heap = fm_lab_need(lab, calloc(map->free_count, sizeof *s.heap)),
    };
    // A cell is reached from one whose f is at most the cost of the path, and a step raises f by
    // twice its cost at most.
    s.head_count = costliest(&s, errands, &problems) + 2 * view.step[1] + 1;
    s.heads = fm_lab_need(lab, calloc(s.head_count, sizeof *s.heads));
    for (uint32_t i = 0; i < problems; i++) {
        fm_lab_progress(lab, i, problems);
        solve(lab, &s, choice, &errands[i], i, scores);
    }
    fm_lab_progress(lab, 1, 1);
    add_rows(table, name, choice, scores);
    free(s.heads);
    free(s.heap);
    free(s.nodes);
    free(errands);
    fm_grid_destroy(map);
}

static const fm_column columns[] = {
    {"map", "map", FM_COLUMN_TEXT, 0},
    {"list", "open list", FM_COLUMN_TEXT, 0},
    {"expansions", "expansions", FM_COLUMN_MEAN, 0},
    {"search_us", "µs per search", FM_COLUMN_MEAN, 1},
    {"ns_per_expansion", "ns per expansion", FM_COLUMN_NUMBER, 1},
    {"time_ratio", "time / buckets", FM_COLUMN_NUMBER, 2},
};

static void plot(const fm_lab *lab, const fm_table *table, const struct choice *choice)
{
    uint32_t chosen_count = 0;
    for (uint32_t kind = 0; kind < LIST_KINDS; kind++) {
        chosen_count += choice->chosen[kind];
    }
    FILE *plot = fm_plot_open(lab);
    if (plot == NULL) {
        return;
    }
    fputs("$times << END\n", plot);
    for (uint32_t first = 0; first < table->row_count; first += chosen_count) {
        const fm_table_cell *row = &table->cells[(size_t)first * table->column_count];
        fprintf(plot, "\"%s\"", row[0].text);
        for (uint32_t i = 0; i < chosen_count; i++, row += table->column_count) {
            fprintf(plot, " %g", row[4].number);
        }
        fputc('\n', plot);
    }
    fputs("END\nset title 'A* with five open lists'\nset ylabel 'ns per expansion'\n"
          "set logscale y\nset style data histograms\nset style fill solid 0.8\n"
          "set key outside right top\nplot ",
          plot);
    uint32_t drawn_count = 0;
    for (uint32_t kind = 0; kind < LIST_KINDS; kind++) {
        if (choice->chosen[kind]) {
            fprintf(plot, "%s$times using %u%s title ", drawn_count == 0 ? "" : ", ",
                    drawn_count + 2, drawn_count == 0 ? ":xtic(1)" : "");
            fm_plot_text(plot, list_names[kind]);
            drawn_count += 1;
        }
    }
    fputc('\n', plot);
    fm_plot_close(lab, plot);
}

static struct choice read_lists(const fm_lab *lab)
{
    const char *list = fm_lab_value(lab, "lists");
    struct choice choice = {{false}};
    if (list == NULL) {
        memset(choice.chosen, true, sizeof choice.chosen);
    }
    while (list != NULL) {
        char item[16];
        list = fm_lab_next_item(list, item, sizeof item);
        uint32_t kind = 0;
        while (kind < LIST_KINDS && strcmp(item, list_names[kind]) != 0) {
            kind += 1;
        }
        if (kind == LIST_KINDS) {
            fm_lab_usage_error(lab, "--lists: there is no open list '%s'", item);
        }
        choice.chosen[kind] = true;
    }
    return choice;
}

static int run(fm_lab *lab)
{
    struct choice choice = read_lists(lab);
    fm_table table;
    const char *maps = fm_lab_value(lab, "map");
    char name[FM_LAB_PATH_SIZE];
    uint32_t problems = (uint32_t)fm_lab_uint(lab, "problems", 1, 100000, 10);
    fm_table_init(&table, columns, FM_COUNT_OF(columns));
    for (const char *list = maps == NULL ? MAPS_DEFAULT : maps; list != NULL;) {
        list = fm_lab_next_item(list, name, sizeof name);
        play_map(lab, name, problems, &choice, &table);
    }
    const fm_report_fact facts[] = {{"problems_per_map", problems}};
    fm_lab_report(lab, &table, facts, FM_COUNT_OF(facts));
    plot(lab, &table, &choice);
    fm_table_fini(&table);
    return FM_LAB_OK;
}

const fm_lab_command fm_lab_openlist = {
    .name = "openlist",
    .arguments = "",
    .summary = "one A* with five open lists",
    .details = "Solves problems on known game maps by one and the same A* with an unsorted and a\n"
               "sorted linked list, a binary and a 4-ary heap, and buckets as its open list.",
    .options = options,
    .run = run,
};
