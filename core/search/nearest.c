// core/search/nearest.c: see nearest.h.
//
//   FLOOD    all that can be reached (core/search/reach.h)
//   RANK     the smallest distance to the goal, and how many cells have it. In a row the distance
//            grows with the columns between, so each row has two candidates.
//   COMPARE  if there are several, the path to each, as long as it is shorter than the best.

#include "core/search/nearest.h"

#include "core/search/reach.h"

#define ROWS_PER_EXPANSION 8u // charged as jumping from one cell

enum phase {
    PHASE_FLOOD,
    PHASE_RANK,
    PHASE_COMPARE,
};

struct fm_nearest {
    const fm_memory *memory;
    const fm_view *view;
    fm_cell start, goal;
    enum phase phase;

    fm_reach reach;
    uint32_t place;    // of the rows, nearest to the goal's first, two candidates in each
    uint32_t distance; // smallest seen
    uint32_t equals;   // cells that have it
    fm_cell best;
    uint32_t best_cost; // of the path to it, once known
    bool comparing;     // the search for the path to candidate `place` has begun
};

fm_status fm_nearest_create(const fm_view *view, fm_cell start, fm_cell goal,
                            const fm_memory *memory, fm_nearest **out)
{
    fm_nearest *n = fm_memory_allocate_zeroed(memory, 1, sizeof *n);
    if (n == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *n = (fm_nearest){.memory = memory,
                      .view = view,
                      .start = start,
                      .goal = goal,
                      .distance = FM_COST_INFINITE,
                      .best = start,
                      .best_cost = FM_COST_INFINITE};
    if (fm_reach_init(&n->reach, view, start, memory) != FM_OK) {
        fm_memory_release(memory, n, sizeof *n);
        return FM_ERR_NO_MEMORY;
    }
    *out = n;
    return FM_OK;
}

void fm_nearest_destroy(fm_nearest *nearest)
{
    if (nearest == NULL) {
        return;
    }
    const fm_memory *memory = nearest->memory;
    fm_reach_fini(&nearest->reach);
    fm_memory_release(memory, nearest, sizeof *nearest);
}

// ---- candidates ---------------------------------------------------------------------------------

// Row of a place in the order of scanning: the goal's, the one below it, the one above it ... False
// when that lies outside the map.
static bool row_of(const fm_nearest *n, uint32_t place, uint32_t *y)
{
    uint32_t offset = (place / 2 + 1) / 2, goal_y = fm_cell_y(n->goal);
    *y = place / 2 % 2 == 1 ? goal_y + offset : goal_y - offset;
    return *y < n->view->height;
}

// The candidate of a place: the reached cell of its row that is next to the goal's column, on the
// west side (that column included) or on the east side. FM_CELL_NONE where there is none.
static fm_cell candidate(const fm_nearest *n, uint32_t place)
{
    uint32_t y;
    if (!row_of(n, place, &y)) {
        return FM_CELL_NONE;
    }
    const uint64_t *row = fm_bitmap_row(&n->reach.reached, (int32_t)y);
    uint32_t goal_x = fm_cell_x(n->goal), i = goal_x / 64;
    uint64_t to_goal = UINT64_MAX >> (63 - goal_x % 64);
    if (place % 2 == 0) {
        uint64_t word = row[i] & to_goal;
        while (word == 0 && i > 0) {
            word = row[--i];
        }
        return word == 0 ? FM_CELL_NONE
                         : fm_cell_at(i * 64 + 63 - (uint32_t)__builtin_clzll(word), y);
    }
    uint64_t word = row[i] & ~to_goal;
    while (word == 0) { // the margin ends the loop
        word = row[++i];
    }
    uint32_t x = i * 64 + (uint32_t)__builtin_ctzll(word);
    return x < n->view->width ? fm_cell_at(x, y) : FM_CELL_NONE;
}

// Whether no row from this one on can have anything nearer.
static bool is_past_the_best(const fm_nearest *n, uint32_t place)
{
    uint32_t offset = (place / 2 + 1) / 2;
    return offset >= n->view->height || offset * n->view->step[0] > n->distance;
}

static void rank(fm_nearest *n, fm_cell cell)
{
    uint32_t distance = fm_view_distance(n->view, cell, n->goal);
    if (distance < n->distance) {
        n->distance = distance;
        n->best = cell;
        n->equals = 0;
    }
    n->equals += distance == n->distance;
}

// ---- the phases ---------------------------------------------------------------------------------

static fm_jump_state flood(fm_nearest *n, fm_work *work)
{
    if (!fm_reach_advance(&n->reach, work)) {
        return FM_JUMP_RUNNING;
    }
    n->phase = PHASE_RANK;
    return n->reach.exhausted ? FM_JUMP_EXHAUSTED : FM_JUMP_FOUND;
}

static fm_jump_state rank_all(fm_nearest *n, fm_work *work, uint32_t expansions_at_start)
{
    for (; !is_past_the_best(n, n->place); n->place++) {
        if (n->place % (2 * ROWS_PER_EXPANSION) == 0) {
            if (fm_work_must_stop(work, expansions_at_start)) {
                return FM_JUMP_RUNNING;
            }
            work->expansions += 1;
            work->secondary += 1;
        }
        fm_cell cell = candidate(n, n->place);
        if (cell != FM_CELL_NONE) {
            rank(n, cell);
        }
    }
    n->place = 0;
    n->phase = PHASE_COMPARE;
    return FM_JUMP_FOUND;
}

static fm_jump_state compare_all(fm_nearest *n, fm_jump_search *search, fm_work *work,
                                 uint32_t expansions_at_start)
{
    for (; n->equals > 1 && !is_past_the_best(n, n->place); n->place++) {
        fm_cell cell = candidate(n, n->place);
        if (cell == FM_CELL_NONE || fm_view_distance(n->view, cell, n->goal) != n->distance) {
            continue;
        }
        if (!n->comparing) {
            fm_jump_search_begin(search, n->view, n->start, cell, n->best_cost);
            n->comparing = true;
        }
        fm_work part = *work;
        part.expansions_max -= work->expansions - expansions_at_start;
        fm_jump_state state = fm_jump_search_advance(search, &part);
        work->expansions = part.expansions;
        work->cut = part.cut;
        work->cut_at = part.cut_at; // of the tick's record: without it a replay stops elsewhere
        if (state == FM_JUMP_RUNNING || state == FM_JUMP_EXHAUSTED) {
            return state;
        }
        if (state == FM_JUMP_FOUND) {
            n->best = cell;
            n->best_cost = fm_jump_search_cost(search);
        }
        n->comparing = false;
    }
    return FM_JUMP_FOUND;
}

fm_jump_state fm_nearest_advance(fm_nearest *nearest, fm_jump_search *search, fm_work *work,
                                 fm_cell *cell)
{
    uint32_t expansions_at_start = work->expansions;
    fm_jump_state state = FM_JUMP_FOUND;
    if (nearest->phase == PHASE_FLOOD) {
        state = flood(nearest, work);
    }
    if (state == FM_JUMP_FOUND && nearest->phase == PHASE_RANK) {
        state = rank_all(nearest, work, expansions_at_start);
    }
    if (state == FM_JUMP_FOUND) {
        state = compare_all(nearest, search, work, expansions_at_start);
    }
    *cell = nearest->best;
    return state;
}

size_t fm_nearest_bytes(const fm_nearest *nearest)
{
    return sizeof *nearest + fm_reach_bytes(&nearest->reach);
}
