// core/planners/goal_field.c: goal fields: one search from the goal for everybody who wants to get
// there, at the grain of tiles.
//
// tile_field.h keeps the distances; this file decides when they are computed and repaired. A repair
// goes through these phases, one unit of work after the other, and may be interrupted between any
// two:
//
//     AUDIT ──> SEATS ──> SEARCH ──> WALK ──> DONE
//       ^         ^                   │        │
//       │         └── something rose ─┘        │
//       └──────────── it is due again ─────────┘
//
//   AUDIT   refreshes changed tiles in use; if some step has become cheaper, all changed tiles
//   SEATS   makes bodies for the tiles where agents stand
//   SEARCH  computes tiles in A* order until every agent has a distance, and no smaller one can
//           come
//   WALK    follows everybody's path through the next tiles, refreshing what has changed there,
//           until it meets a path that was walked before. A distance without a legal step is
//           dropped
//   DONE    nothing to do
//
// Whenever a refresh raises distances, all above the first one raised are dropped, and the search
// continues from what is left (SEATS). A repair is due every `period` ticks if anything changed in
// a tile in use, and at once when an agent has no step. In between agents go by distances that may
// be a few ticks old, each step checked against the map as it is known: that is PARTIAL. FOUND is
// everybody's answer when all paths were walked to the goal and nothing has changed since.
//
// With weight 1, period 1 and no horizon, paths are shortest on what is known, in every tick.
//
// Why agents arrive: between changes of knowledge distances fall along every step, and only a reset
// raises them; each reset uses up a stale tile or a change. So each move brings an agent nearer by
// the cost of a step, and integers end at 0.

#include "core/fields/field_starts.h"
#include "core/fields/tile_field.h"
#include "core/planners/goal_field.h"

#define TILE_UNITS     16u // work charged for a tile that is computed or refreshed, or gets a body
#define LOOKS_PER_UNIT 8u  // at records or starts
#define STEPS_PER_UNIT 32u // of paths that are walked

#define WEIGHT_DEFAULT  1100u
#define PERIOD_DEFAULT  4u
#define HORIZON_DEFAULT 4u
#define FULL_DEFAULT    32u

enum phase {
    PHASE_AUDIT,
    PHASE_SEATS,
    PHASE_SEARCH,
    PHASE_WALK,
    PHASE_DONE,
};

struct goal_field {
    fm_tile_field field;
    fm_tile_map own_map; // where the view has none; notified by knowledge_changed()
    const fm_memory *memory;
    uint32_t period, horizon, full;

    fm_field_starts starts;

    enum phase phase;
    uint32_t cursor; // AUDIT: of tiles; SEATS: of starts
    uint32_t owed;   // units of work that were done and are not charged yet
    uint32_t raised; // AUDIT: the smallest distance that has become larger
    bool audits_all;
    uint64_t freed_seen; // of the map, when the audit began

    // WALK: the path that is followed, and how many are left, its own included.
    uint32_t walk_start, walks_left;
    fm_cell walk_cell; // FM_CELL_NONE: the next path begins
    uint32_t walk_tile;
    uint32_t walk_tiles; // entered
    uint32_t walk_tiles_max;

    uint32_t tick; // set_starts() so far
    uint32_t repaired_at, checked_at;
    uint64_t changes_seen; // of the map, when nothing in use was known to be stale
    bool is_whole;         // all paths were walked to the goal
};

// ---- small questions ----------------------------------------------------------------------------

static bool has_horizon(const struct goal_field *f)
{
    return f->horizon != FM_HORIZON_NONE;
}

static bool is_hopeless(const struct goal_field *f, fm_cell start)
{
    return fm_field_start_is_hopeless(&f->field, start);
}

static bool is_freed(const struct goal_field *f)
{
    return f->field.map->freed != f->freed_seen;
}

// Whether some tile in use has changed.
static bool is_any_stale(const struct goal_field *f)
{
    for (uint32_t i = 0; i < f->field.count; i++) {
        const fm_tile *tile = f->field.tiles[i];
        if (tile->is_computed && tile->is_used && fm_tile_is_stale(&f->field, tile)) {
            return true;
        }
    }
    return false;
}

// Whether something may have changed that steps from a cell depend on.
static bool is_any_stale_at(const struct goal_field *f, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell) % FM_TILE_SIDE, y = fm_cell_y(cell) % FM_TILE_SIDE;
    bool at_side = x == 0 || y == 0 || x == FM_TILE_SIDE - 1 || y == FM_TILE_SIDE - 1;
    return at_side || fm_tile_is_stale(&f->field, fm_tile_at(&f->field, cell));
}

// Of a tile with a body.
static bool is_walked_in(const fm_tile *tile, fm_cell cell)
{
    uint32_t row = tile->body->walked[fm_cell_y(cell) % FM_TILE_SIDE];
    return (row >> fm_cell_x(cell) % FM_TILE_SIDE & 1) != 0;
}

static bool is_walked(const struct goal_field *f, fm_cell cell)
{
    const fm_tile *tile = fm_tile_at(&f->field, cell);
    return tile != NULL && tile->body != NULL && is_walked_in(tile, cell);
}

static uint32_t start_cost(const struct goal_field *f, fm_cell start)
{
    return fm_field_start_cost(&f->field, start);
}

// ---- work ---------------------------------------------------------------------------------------

static void owe(struct goal_field *f, uint32_t units)
{
    f->owed += units;
}

// Charges what is owed. False when advance() has to return first.
static bool pay(struct goal_field *f, fm_work *work, uint32_t expansions_at_start)
{
    while (f->owed > 0) {
        uint32_t units = fm_work_units(work, expansions_at_start);
        if (units == 0) {
            return false;
        }
        units = units < f->owed ? units : f->owed;
        work->expansions += units;
        f->owed -= units;
    }
    return true;
}

static void go_to(struct goal_field *f, enum phase phase)
{
    f->phase = phase;
    f->cursor = 0;
}

static void begin_audit(struct goal_field *f)
{
    f->audits_all = is_freed(f);
    f->freed_seen = f->field.map->freed;
    f->raised = FM_COST_INFINITE;
    go_to(f, PHASE_AUDIT);
}

static void reset(struct goal_field *f, uint32_t limit, fm_slab *slab)
{
    fm_tile_reset(&f->field, limit, slab);
    owe(f, 1 + f->field.count / LOOKS_PER_UNIT);
    go_to(f, PHASE_SEATS);
}

// ---- AUDIT --------------------------------------------------------------------------------------

static void audit(struct goal_field *f, fm_slab *slab)
{
    uint32_t begin = f->cursor;
    while (f->cursor < f->field.count) {
        fm_tile *tile = f->field.tiles[f->cursor++];
        if (tile->is_computed && (tile->is_used || f->audits_all) &&
            fm_tile_is_stale(&f->field, tile)) {
            uint32_t raised = fm_tile_refresh(&f->field, tile, false, slab);
            f->raised = raised < f->raised ? raised : f->raised;
            owe(f, TILE_UNITS);
            return;
        }
    }
    owe(f, (f->cursor - begin) / LOOKS_PER_UNIT);
    if (f->raised < FM_COST_INFINITE) {
        reset(f, f->raised, slab);
        f->raised = FM_COST_INFINITE;
    }
    if (is_freed(f)) {
        begin_audit(f);
    } else {
        go_to(f, PHASE_SEATS);
    }
}

// ---- SEATS --------------------------------------------------------------------------------------

static void seat(struct goal_field *f, fm_slab *slab)
{
    uint32_t begin = f->cursor;
    while (f->cursor < f->starts.count) {
        fm_tile *tile = fm_tile_at(&f->field, f->starts.cells[f->cursor++]);
        if (tile == NULL || !tile->is_computed || tile->body != NULL) {
            continue;
        }
        owe(f, TILE_UNITS);
        if (!fm_tile_is_stale(&f->field, tile)) {
            fm_tile_make_body(&f->field, tile, slab);
            return;
        }
        uint32_t raised = fm_tile_refresh(&f->field, tile, true, slab);
        if (raised < FM_COST_INFINITE) {
            reset(f, raised, slab);
        }
        return;
    }
    owe(f, (f->cursor - begin) / LOOKS_PER_UNIT);
    fm_tile_field_aim(&f->field, f->starts.box, slab);
    fm_field_starts_doubt(&f->starts);
    go_to(f, PHASE_SEARCH);
}

// ---- SEARCH -------------------------------------------------------------------------------------

static void begin_walks(struct goal_field *f)
{
    for (uint32_t i = 0; i < f->field.count; i++) {
        fm_tile *tile = f->field.tiles[i];
        tile->is_used = tile->is_seat = false;
        if (tile->body != NULL) {
            memset(tile->body->walked, 0, sizeof tile->body->walked);
        }
    }
    owe(f, f->field.count / LOOKS_PER_UNIT);
    bool to_goal = !has_horizon(f) || f->tick - f->checked_at >= f->full;
    f->walk_tiles_max = to_goal ? UINT32_MAX : f->horizon;
    f->checked_at = to_goal ? f->tick : f->checked_at;
    f->is_whole = true;
    f->walks_left = f->starts.count;
    f->walk_cell = FM_CELL_NONE;
    FM_VALIDATE(f->field.is_exhausted || fm_tile_field_is_sound(&f->field));
    go_to(f, PHASE_WALK);
}

static void search(struct goal_field *f, fm_slab *slab)
{
    uint32_t least = fm_tile_field_least(&f->field);
    if (f->field.queue.count == 0 || least >= fm_field_starts_farthest(&f->starts, &f->field)) {
        begin_walks(f);
        return;
    }
    fm_tile *tile = fm_tile_field_take(&f->field);
    if (tile == NULL) {
        owe(f, 1);
        return;
    }
    owe(f, TILE_UNITS);
    bool is_seat = fm_field_starts_are_in(&f->starts, f->field.map, tile->number);
    if (!tile->is_computed || !fm_tile_is_stale(&f->field, tile)) {
        fm_field_starts_note(&f->starts, tile->number);
        fm_tile_compute(&f->field, tile, is_seat, slab);
        return;
    }
    if (is_seat) {
        fm_field_starts_doubt(&f->starts); // those inside may be farther, though no border is
    }
    uint32_t raised = fm_tile_refresh(&f->field, tile, is_seat, slab);
    if (raised < FM_COST_INFINITE) {
        reset(f, raised, slab);
    }
}

// ---- WALK ---------------------------------------------------------------------------------------

// Brings the tile that a path enters up to date. Returns whether the walk continues.
static bool enter_tile(struct goal_field *f, fm_tile *tile, fm_slab *slab)
{
    if (fm_tile_is_stale(&f->field, tile)) {
        owe(f, TILE_UNITS);
        uint32_t raised = fm_tile_refresh(&f->field, tile, true, slab);
        if (raised < FM_COST_INFINITE) {
            reset(f, raised, slab);
        } else {
            go_to(f, PHASE_SEATS); // something may have become cheaper
        }
        return false;
    }
    if (tile->body == NULL) {
        owe(f, TILE_UNITS);
        fm_tile_make_body(&f->field, tile, slab);
        return false;
    }
    tile->is_used = true;
    return true;
}

static void end_walk(struct goal_field *f, bool is_whole)
{
    f->is_whole &= is_whole;
    f->walk_cell = FM_CELL_NONE;
    f->walk_start = f->walk_start + 1;
    f->walks_left -= 1;
}

// The next path. It begins at another agent than last time, so that agents that keep moving do not
// keep others from being checked.
static void begin_walk(struct goal_field *f)
{
    f->walk_start %= f->starts.count;
    fm_cell start = f->starts.cells[f->walk_start];
    fm_tile *tile = fm_tile_at(&f->field, start);
    if (start == f->field.goal || start_cost(f, start) >= FM_COST_INFINITE) {
        if (tile != NULL && tile->body != NULL) {
            tile->is_used = tile->is_seat = true;
        }
        end_walk(f, true);
        return;
    }
    tile->is_seat = true;
    f->walk_cell = start;
    f->walk_tile = tile->number;
    f->walk_tiles = 0;
}

// One step of a path, or the end of it. Returns whether the next one may follow at once.
static bool walk_step(struct goal_field *f, fm_slab *slab)
{
    fm_cell cell = f->walk_cell;
    fm_tile *tile = fm_tile_at(&f->field, cell);
    if (tile->number != f->walk_tile) {
        f->walk_tile = tile->number;
        f->walk_tiles += 1;
        if (f->walk_tiles >= f->walk_tiles_max) {
            end_walk(f, false);
            return true;
        }
    }
    if ((!tile->is_used || tile->body == NULL) && !enter_tile(f, tile, slab)) {
        return false;
    }
    uint32_t x = fm_cell_x(cell) % FM_TILE_SIDE, y = fm_cell_y(cell) % FM_TILE_SIDE;
    if ((tile->body->walked[y] >> x & 1) != 0) {
        end_walk(f, true);
        return true;
    }
    tile->body->walked[y] |= (uint32_t)1 << x;
    if (cell == f->field.goal) {
        end_walk(f, true);
        return true;
    }
    fm_cell next = fm_tile_field_step(&f->field, cell);
    if (next == FM_CELL_NONE && fm_tile_is_stale(&f->field, tile)) {
        return enter_tile(f, tile, slab);
    }
    if (next == FM_CELL_NONE) {
        reset(f, fm_tile_field_cost(&f->field, cell) - 1, slab);
        return false;
    }
    f->walk_cell = next;
    return true;
}

// All paths lead somewhere, as far as they were walked.
static void finish(struct goal_field *f, fm_slab *slab)
{
    for (uint32_t i = 0; i < f->field.count; i++) {
        if (!f->field.tiles[i]->is_used) {
            fm_tile_drop_body(&f->field, f->field.tiles[i], slab);
        }
    }
    owe(f, f->field.count / LOOKS_PER_UNIT);
    f->repaired_at = f->tick;
    f->changes_seen = f->field.map->changes;
    go_to(f, PHASE_DONE);
}

static void walk(struct goal_field *f, fm_slab *slab)
{
    for (uint32_t i = 0; i < STEPS_PER_UNIT && f->walks_left > 0; i++) {
        if (f->walk_cell == FM_CELL_NONE) {
            begin_walk(f);
        } else if (!walk_step(f, slab)) {
            return;
        }
    }
    owe(f, 1);
    if (f->walks_left > 0) {
        return;
    }
    if (is_freed(f) || is_any_stale(f)) {
        begin_audit(f); // something has changed on a part already walked
    } else {
        finish(f, slab);
    }
}

// ---- when a repair is due -----------------------------------------------------------------------

// Whether it is known if a cell has a distance: its tile has a body, or the search has ended
// without reaching it.
static bool is_cost_known(const struct goal_field *f, fm_cell start)
{
    const fm_tile *tile = fm_tile_at(&f->field, start);
    return tile != NULL && tile->is_computed ? tile->body != NULL : f->field.queue.count == 0;
}

// Whether a start cannot wait: it has no step, and may have one.
static bool is_urgent(const struct goal_field *f, fm_cell start)
{
    if (is_walked(f, start) && !is_any_stale_at(f, start)) {
        return false; // it had a step when paths were walked
    }
    if (start == f->field.goal || is_hopeless(f, start)) {
        return false;
    }
    if (start_cost(f, start) >= FM_COST_INFINITE) {
        return f->field.queue.count > 0 || !is_cost_known(f, start) || is_freed(f);
    }
    return fm_tile_field_step(&f->field, start) == FM_CELL_NONE;
}

// Whether a start stands where none did when paths were walked last.
static bool is_elsewhere(const struct goal_field *f, fm_cell start)
{
    if (start == f->field.goal || start_cost(f, start) >= FM_COST_INFINITE) {
        return false;
    }
    return has_horizon(f) ? !fm_tile_at(&f->field, start)->is_seat : !is_walked(f, start);
}

static bool is_due(const struct goal_field *f)
{
    bool is_elsewhere_somebody = false;
    for (uint32_t i = 0; i < f->starts.count; i++) {
        if (is_urgent(f, f->starts.cells[i])) {
            return true;
        }
        is_elsewhere_somebody |= is_elsewhere(f, f->starts.cells[i]);
    }
    if (f->tick - f->repaired_at < f->period) {
        return false;
    }
    bool is_unchecked = !f->is_whole && f->tick - f->checked_at >= f->full;
    return is_elsewhere_somebody || is_unchecked || is_freed(f) || is_any_stale(f);
}

// ---- planner interface --------------------------------------------------------------------------

static void forget_all(struct goal_field *f, fm_slab *slab)
{
    fm_tile_field_clear(&f->field, slab);
    f->owed = 0;
    f->is_whole = false;
    begin_audit(f);
}

static fm_status goal_field_init(void *self, const fm_view *view, const fm_planner_options *options,
                                 const fm_memory *memory, fm_cell goal)
{
    struct goal_field *f = self;
    const fm_field_options *field = &options->field;
    if (view->tiles == NULL && fm_tile_map_init(&f->own_map, view, memory) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    uint32_t weight = field->weight == 0 ? WEIGHT_DEFAULT : field->weight;
    f->memory = memory;
    f->period = field->period == 0 ? PERIOD_DEFAULT : field->period;
    f->horizon = field->horizon == 0 ? HORIZON_DEFAULT : field->horizon;
    f->full = field->full == 0 ? FULL_DEFAULT : field->full;
    f->checked_at = 0u - goal % f->full; // not all fields in the same tick
    const fm_tile_map *map = view->tiles == NULL ? &f->own_map : view->tiles;
    fm_tile_field_init(&f->field, view, map, memory, goal, weight * 1024 / FM_WEIGHT_UNIT);
    begin_audit(f);
    return FM_OK;
}

static void goal_field_fini(void *self, fm_slab *slab)
{
    struct goal_field *f = self;
    fm_tile_field_fini(&f->field, slab);
    fm_tile_map_fini(&f->own_map, f->memory);
    fm_field_starts_fini(&f->starts, f->memory);
}

static void goal_field_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    struct goal_field *f = self;
    f->field.goal = goal;
    forget_all(f, slab);
}

static void goal_field_forget(void *self, fm_slab *slab)
{
    struct goal_field *f = self;
    if (f->own_map.tiles != NULL) {
        fm_tile_map_renew(&f->own_map, f->field.view);
    }
    forget_all(f, slab);
}

static void goal_field_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct goal_field *f = self;
    bool are_same = count == f->starts.count &&
                    (count == 0 || memcmp(cells, f->starts.cells, count * sizeof *cells) == 0);
    f->tick += 1;
    fm_field_starts_doubt(&f->starts);
    if (!are_same && !fm_field_starts_set(&f->starts, cells, count, f->memory)) {
        f->field.is_exhausted = true;
        return;
    }
    switch (f->phase) {
    case PHASE_AUDIT:
        break;
    case PHASE_SEATS:
    case PHASE_SEARCH:
    case PHASE_WALK:
        if (is_freed(f)) {
            begin_audit(f);
        } else if (!are_same) {
            go_to(f, PHASE_SEATS);
        }
        break;
    case PHASE_DONE:
        if (is_due(f)) {
            begin_audit(f);
        } else if (!is_any_stale(f) && !is_freed(f)) {
            f->changes_seen = f->field.map->changes;
        }
        break;
    }
}

static void goal_field_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                         fm_work *work)
{
    struct goal_field *f = self;
    (void)work; // fields that share a tile map read its versions
    for (uint32_t i = 0; f->own_map.tiles != NULL && i < count; i++) {
        fm_tile_map_note(&f->own_map, f->field.view, changes[i].cell, changes[i].cheaper);
    }
}

static fm_plan_state goal_field_answer(const void *self, fm_cell start, fm_cell *next)
{
    const struct goal_field *f = self;
    *next = start;
    if (start == f->field.goal) {
        return FM_PLAN_FOUND;
    }
    if (f->field.is_exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    bool is_done = f->phase == PHASE_DONE;
    if (is_done && fm_view_is_blocked(f->field.view, f->field.goal)) {
        return FM_PLAN_UNREACHABLE;
    }
    const fm_tile *tile = fm_tile_at(&f->field, start);
    *next = fm_tile_step(&f->field, tile, start);
    if (*next == FM_CELL_NONE) {
        bool is_proven =
            is_done && (is_hopeless(f, start) ||
                        (is_cost_known(f, start) && start_cost(f, start) >= FM_COST_INFINITE));
        return is_proven ? FM_PLAN_UNREACHABLE : FM_PLAN_RUNNING;
    }
    bool is_proven = is_done && f->is_whole && f->changes_seen == f->field.map->changes &&
                     is_walked_in(tile, start);
    return is_proven ? FM_PLAN_FOUND : FM_PLAN_PARTIAL;
}

static fm_plan_state goal_field_state_at(const void *self, fm_cell start)
{
    fm_cell next;
    return goal_field_answer(self, start, &next);
}

// The planner's state by the work that is left.
static int urgency_of(fm_plan_state state)
{
    switch (state) {
    case FM_PLAN_EXHAUSTED:
        return 4;
    case FM_PLAN_RUNNING:
        return 3;
    case FM_PLAN_PARTIAL:
        return 2;
    case FM_PLAN_UNREACHABLE:
        return 1;
    case FM_PLAN_FOUND:
        return 0;
    }
    FM_UNREACHABLE();
}

// Once all paths have been walked: no start is without a step, unless there is none.
static fm_plan_state state_when_done(const struct goal_field *f)
{
    for (uint32_t i = 0; i < f->starts.count; i++) {
        fm_cell start = f->starts.cells[i];
        if (start != f->field.goal && start_cost(f, start) >= FM_COST_INFINITE) {
            return FM_PLAN_UNREACHABLE;
        }
    }
    bool is_proven = f->is_whole && f->changes_seen == f->field.map->changes;
    return is_proven ? FM_PLAN_FOUND : FM_PLAN_PARTIAL;
}

// What no start's state can be worse than.
static fm_plan_state worst_state(const struct goal_field *f)
{
    return f->field.is_exhausted ? FM_PLAN_EXHAUSTED : FM_PLAN_RUNNING;
}

// While the search goes on, the first start that has no distance tells at once.
static fm_plan_state state_of_all(const struct goal_field *f)
{
    if (f->phase == PHASE_DONE && !f->field.is_exhausted) {
        return state_when_done(f);
    }
    fm_plan_state worst = FM_PLAN_FOUND, limit = worst_state(f);
    uint32_t count = f->starts.count, at = f->starts.waiting < count ? f->starts.waiting : 0;
    for (uint32_t i = 0; i < count && worst != limit; i++) {
        fm_plan_state state = goal_field_state_at(f, f->starts.cells[at]);
        worst = urgency_of(state) > urgency_of(worst) ? state : worst;
        at = at + 1 == count ? 0 : at + 1;
    }
    return worst;
}

static fm_plan_state goal_field_advance(void *self, fm_work *work)
{
    struct goal_field *f = self;
    uint32_t expansions_at_start = work->expansions;
    while (!f->field.is_exhausted && pay(f, work, expansions_at_start) && f->phase != PHASE_DONE) {
        switch (f->phase) {
        case PHASE_AUDIT:
            audit(f, work->slab);
            break;
        case PHASE_SEATS:
            seat(f, work->slab);
            break;
        case PHASE_SEARCH:
            search(f, work->slab);
            break;
        case PHASE_WALK:
            walk(f, work->slab);
            break;
        case PHASE_DONE:
            break;
        }
    }
    return state_of_all(f);
}

static bool goal_field_is_done(const void *self)
{
    const struct goal_field *f = self;
    return f->phase == PHASE_DONE && f->owed == 0 && !f->field.is_exhausted;
}

static fm_cell goal_field_next_step(const void *self, fm_cell start)
{
    const struct goal_field *f = self;
    if (start == f->field.goal) {
        return start;
    }
    bool is_known_not_to =
        f->field.is_exhausted || (f->phase == PHASE_DONE && is_hopeless(f, start));
    return is_known_not_to ? FM_CELL_NONE : fm_tile_field_step(&f->field, start);
}

// A neighbour whose distance is not kept lies behind the agent: the path from there leads back over
// its cell.
static void goal_field_distances(const void *self, fm_cell start, uint32_t moves,
                                 uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const struct goal_field *f = self;
    fm_tile_field_costs(&f->field, start, moves, distances);
    uint32_t own = distances[FM_DIRECTION_COUNT];
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        uint32_t behind = own + fm_view_cost(f->field.view, start, d, fm_cell_step(start, d));
        distances[d] = distances[d] < behind ? distances[d] : behind;
    }
}

// As agents would go now, PARTIAL or not.
static uint32_t goal_field_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct goal_field *f = self;
    bool has_step = goal_field_next_step(self, start) != FM_CELL_NONE;
    return has_step ? fm_tile_field_path(&f->field, start, cells, capacity) : 0;
}

// Tiles that are queued are open. Where a tile has changed since it was computed, cells are stale,
// and rhs is left out.
static void inspect_tile(const struct goal_field *f, const fm_tile *tile, fm_inspect_fn *visit,
                         void *context)
{
    uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE];
    fm_cell corner = fm_tile_corner(f->field.map, tile->number);
    const fm_view *view = f->field.view;
    bool is_open = tile->place != 0;
    fm_tile_read(&f->field, tile, distances);
    for (uint32_t i = 0; i < FM_TILE_CELLS; i++) {
        uint32_t x = i % FM_TILE_SIDE, y = i / FM_TILE_SIDE, g = distances[y][x];
        fm_cell cell = corner + fm_cell_at(x, y);
        if (g >= FM_COST_INFINITE) {
            continue;
        }
        fm_inspection inspection = {
            .cell = cell,
            .open = is_open,
            .closed = !is_open,
            .stale = fm_tile_is_stale(&f->field, tile),
            .g = g,
            .h = fm_box_distance(view, view->connectivity == FM_CONNECT_4, &f->field.estimate.box,
                                 cell),
            .rhs = fm_tile_is_stale(&f->field, tile) ? FM_COST_INFINITE : g,
            .key = is_open ? f->field.queue.entries[tile->place - 1].key >> 16 : 0,
            .parent = cell == f->field.goal ? FM_CELL_NONE : fm_tile_field_step(&f->field, cell)};
        visit(&inspection, context);
    }
}

static void goal_field_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct goal_field *f = self;
    for (uint32_t i = 0; i < f->field.count; i++) {
        if (f->field.tiles[i]->is_computed) {
            inspect_tile(f, f->field.tiles[i], visit, context);
        }
    }
}

static size_t goal_field_bytes(const void *self)
{
    const struct goal_field *f = self;
    return sizeof *f + fm_tile_field_bytes(&f->field) + fm_tile_map_bytes(&f->own_map) +
           fm_field_starts_bytes(&f->starts);
}

const fm_planner_ops fm_goal_field = {
    .name = "goal-field",
    .summary = "distances from the goal in tiles, mended where knowledge breaks them; shared by "
               "agents with the same goal",
    .size = sizeof(struct goal_field),
    .shared = true,
    .real_time = true,
    .uses_tiles = true,
    .keeps_field = true,
    .takes_weight = true,
    .init = goal_field_init,
    .fini = goal_field_fini,
    .set_goal = goal_field_set_goal,
    .set_starts = goal_field_set_starts,
    .knowledge_changed = goal_field_knowledge_changed,
    .forget = goal_field_forget,
    .advance = goal_field_advance,
    .is_done = goal_field_is_done,
    .state_at = goal_field_state_at,
    .next_step = goal_field_next_step,
    .answer = goal_field_answer,
    .distances = goal_field_distances,
    .exact_distances = true,
    .path = goal_field_path,
    .inspect = goal_field_inspect,
    .bytes = goal_field_bytes,
};
