// core/planners/auto.c: the planner that chooses for the user. It asks three things of the
// situation: do jump points apply (equal weights, FM_CONNECT_8), what do searches turn out to cost,
// and does the grant suffice? How far agents see and how much of the map changes show in the
// second.
//
//   jumps    where they apply, repeated-jps searches the shortest path again whenever it breaks.
//            On game maps, rooms and random blocks that is the fastest there is (loadtest/results).
//   engine   elsewhere an incremental search, which continues after the agent has moved, that of
//            dstar-lite, or of dstar-extra-lite where it takes over from jumps. It does so until
//            the next goal when jumps have cost JUMPS_EXCESS_MAX more than JUMPS_WORTH for each
//            search, all of them taken together (narrow mazes, seen from near), or
//            JUMPS_UNANSWERED_MAX since the last answer (small grants; terrain that is known but
//            for many single cells).
//   guide    tbaa-star moves the agent whenever the search of the one above is not finished within
//            the grant: at once when the order is new, and always while the engine searches. For
//            the answer of jumps an agent that has a path behind it waits JUMPS_WAIT ticks first: a
//            step to anywhere else would make them restart.
//
// Three quarters of a grant are for the search, the rest for the guide; of one that is smaller than
// JUMPS_GRANT jumps get none, because it would not pay to begin. When a deadline
// has cut the search short, the guide still gets GUIDE_UNITS_LATE. Mostly the search ends before
// that, and the guide is never asked.
//
//        ┌── not finished: wake ──┐              notified of      asked for answers
//        │                        v     idle     cheaper steps    never
//      idle                    guiding  guiding  every change     while the search has none
//        ^                        │
//        └── search finished ─────┘
//
// The engine is notified of what the guide's agent sees, but not of its steps, until it has
// finished for the cell where it was asked; then it continues to where the agent is by now.
// If it were notified of each step, it would spend its grants on renewing the keys of its open list
// (on the twelve game maps, 550 expansions in an interval: 2640 intervals to the goal in place of
// 1870).
//
// While a path by jump points is followed (walk()), nothing else is asked; one that is broken
// farther ahead is followed until the search has another (PARTIAL), and the guide is left
// asleep.
//
// Whichever of search and guide proves first that there is no path is believed: one exhausts the
// goal's side, the other the agent's. A complete path of the guide is as good as one of the search,
// which then uses the grant to catch up.

#include "core/planners/auto.h"

#include "core/planners/dstar_extra_lite.h"
#include "core/planners/dstar_lite.h"
#include "core/planners/repeated_jps.h"
#include "core/planners/time_bounded.h"

#include "core/search/jump_search.h"

#define GUIDE_UNITS_LATE 32u // once the deadline has passed
#define JUMPS_GRANT      16u // a smaller grant goes to the guide: starting a search costs as much

// In jump points. Found by sweeps over the twelve game maps and two mazes; between half and twice
// of each little changes. See loadtest/results/README.md.
#define JUMPS_WORTH          128    // what the engine's repair costs where jumps are costliest
#define JUMPS_EXCESS_MAX     65536  // about what the first search of the engine costs
#define JUMPS_SAVED_MAX      131072 // of an earlier saving, what makes up for an excess
#define JUMPS_UNANSWERED_MAX 1024u
#define JUMPS_WAIT           4u // ticks

// One of the planners that this one is made of.
struct part {
    const fm_planner_ops *ops;
    void *self; // NULL until needed
};

struct automatic {
    const fm_view *view;
    const fm_memory *memory;
    fm_cell goal;
    bool rejoin;   // fm_planner_options.rejoin
    fm_cell start; // FM_CELL_NONE before the first

    struct part search; // jumps or engine
    struct part guide;
    bool guiding;
    bool exhausted; // memory ran out

    bool pending;          // the search was asked and has not answered yet
    bool has_answered;     // since the goal was set
    fm_cell searched_from; // the start that the search knows of
    uint32_t waited;       // ticks for jumps, since their last answer

    // In jump points.
    uint32_t jumps_unanswered; // since their last answer
    int32_t jumps_excess;      // above JUMPS_WORTH for each search; below 0: what they saved
};

// ---- parts --------------------------------------------------------------------------------------

// Makes a part if it is not there. False when out of memory.
static bool need(struct automatic *a, struct part *part)
{
    if (part->self != NULL) {
        return true;
    }
    const fm_planner_options options = {.rejoin = a->rejoin};
    void *self = fm_memory_allocate_zeroed(a->memory, 1, part->ops->size);
    if (self == NULL || part->ops->init(self, a->view, &options, a->memory, a->goal) != FM_OK) {
        fm_memory_release(a->memory, self, part->ops->size);
        return false;
    }
    part->self = self;
    part->ops->set_starts(self, &a->start, 1);
    return true;
}

static bool need_search(struct automatic *a)
{
    a->searched_from = a->search.self == NULL ? a->start : a->searched_from;
    return need(a, &a->search);
}

static void drop(struct automatic *a, struct part *part, fm_slab *slab)
{
    if (part->self != NULL) {
        part->ops->fini(part->self, slab);
        fm_memory_release(a->memory, part->self, part->ops->size);
        part->self = NULL;
    }
}

// What a part says, RUNNING while it does not exist.
static fm_plan_state state_of(const struct part *part, fm_cell start)
{
    return part->self == NULL ? FM_PLAN_RUNNING : part->ops->state_at(part->self, start);
}

static bool is_answer(fm_plan_state state)
{
    return state == FM_PLAN_FOUND || state == FM_PLAN_UNREACHABLE;
}

// What the search says about where the agent stands.
static fm_plan_state search_state(const struct automatic *a, fm_cell start)
{
    return a->searched_from == start ? state_of(&a->search, start) : FM_PLAN_RUNNING;
}

static bool searches_by_jumps(const struct automatic *a)
{
    return a->search.ops == &fm_repeated_jps;
}

static void tell_search_start(struct automatic *a)
{
    if (a->search.self != NULL && a->start != FM_CELL_NONE) {
        a->search.ops->set_starts(a->search.self, &a->start, 1);
        a->searched_from = a->start;
    }
}

static void use(struct automatic *a, const fm_planner_ops *ops, fm_slab *slab)
{
    if (a->search.ops != ops) {
        drop(a, &a->search, slab);
        a->search.ops = ops;
    }
    a->pending = false;
    a->waited = 0;
    a->jumps_unanswered = 0;
    a->jumps_excess = 0;
}

// The rule of this file's opening lines, for a new goal or a new map.
static void choose_search(struct automatic *a, fm_slab *slab)
{
    use(a, fm_jump_search_applies(a->view) ? &fm_repeated_jps : &fm_dstar_lite, slab);
    a->has_answered = false;
}

static bool jumps_cost_too_much(const struct automatic *a)
{
    return searches_by_jumps(a) &&
           (a->jumps_excess > JUMPS_EXCESS_MAX || a->jumps_unanswered > JUMPS_UNANSWERED_MAX);
}

// The part that answers now.
static const struct part *speaker(const struct automatic *a)
{
    return a->guiding && !is_answer(search_state(a, a->start)) ? &a->guide : &a->search;
}

// ---- searching ----------------------------------------------------------------------------------

// Lends a part up to `units` of the work. Returns true when it has an answer.
static bool advance_part(struct part *part, uint32_t units, fm_work *work)
{
    uint32_t granted = work->expansions_max;
    work->expansions_max = units;
    fm_plan_state state = part->ops->advance(part->self, work);
    work->expansions_max = granted;
    return is_answer(state);
}

// The guide restarts from where the agent stands, with all the estimates it has learned.
static bool wake_guide(struct automatic *a, fm_slab *slab)
{
    bool is_new = a->guide.self == NULL;
    if (!need(a, &a->guide)) {
        return false;
    }
    if (!is_new) {
        a->guide.ops->set_goal(a->guide.self, a->goal, slab);
        a->guide.ops->set_starts(a->guide.self, &a->start, 1);
    }
    a->guiding = true;
    return true;
}

static void advance_guide(struct automatic *a, uint32_t units, fm_work *work)
{
    if (!a->guiding && !wake_guide(a, work->slab)) {
        a->exhausted = true;
        return;
    }
    if (!work->cut) {
        advance_part(&a->guide, units, work);
        return;
    }
    fm_work late = *work; // the deadline has stopped the search, but a move is still needed
    late.deadline = (fm_deadline){0};
    late.cut = false;
    late.cut_at = 0;
    advance_part(&a->guide, fm_min(units, GUIDE_UNITS_LATE), &late);
    work->expansions = late.expansions;
    work->secondary = late.secondary;
}

// Savings count like costs: a few costly searches among cheap ones are not worth the engine. Its
// first search covers all that jumps would have to search, and its repairs cost more than jumps
// once searches are cheap again.
static void count_jumps(struct automatic *a, uint32_t jump_points, bool answered)
{
    a->jumps_unanswered += jump_points;
    if (answered && a->jumps_unanswered > 0) {
        int64_t excess = (int64_t)a->jumps_excess + a->jumps_unanswered - JUMPS_WORTH;
        a->jumps_excess = excess < -JUMPS_SAVED_MAX ? -JUMPS_SAVED_MAX
                          : excess > INT32_MAX      ? INT32_MAX
                                                    : (int32_t)excess;
        a->jumps_unanswered = 0;
    }
}

// Returns true when the search has an answer.
static bool advance_search(struct automatic *a, uint32_t units, fm_work *work)
{
    uint32_t expansions_at_start = work->expansions;
    bool answered = advance_part(&a->search, units, work);
    uint32_t used = work->expansions - expansions_at_start;
    if (searches_by_jumps(a)) {
        count_jumps(a, used, answered);
    } else if (answered && a->searched_from != a->start) {
        tell_search_start(a); // the guide has moved the agent since the search was asked
        answered = !work->cut && used < units && advance_part(&a->search, units - used, work);
    }
    a->pending = !answered;
    if (answered) {
        a->guiding = false;
        if (searches_by_jumps(a)) {
            drop(a, &a->guide, work->slab); // ten times as large as the path
        }
        a->has_answered = true;
        a->waited = 0;
    }
    return answered;
}

// Divides the grant: three quarters to the search, then a quarter to the guide.
static void deal(struct automatic *a, fm_work *work)
{
    bool is_spared =
        a->has_answered && (a->waited < JUMPS_WAIT || search_state(a, a->start) == FM_PLAN_PARTIAL);
    bool waits = searches_by_jumps(a) && !a->guiding && (is_spared || work->in_turn);
    uint32_t expansions_at_start = work->expansions, granted = work->expansions_max;
    bool is_scarce = searches_by_jumps(a) && granted < JUMPS_GRANT;
    uint32_t guide_units = waits ? 0 : granted < 4 ? 1 : granted / 4;
    if (is_scarce) {
        a->jumps_unanswered += granted - guide_units;
        a->pending = true;
        fm_work_charge(work, waits ? granted : 0);
    } else if (granted > guide_units && advance_search(a, granted - guide_units, work)) {
        return;
    }
    if (!waits) {
        advance_guide(a, granted - (work->expansions - expansions_at_start), work);
    }
}

// ---- planner interface --------------------------------------------------------------------------

static fm_status auto_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    struct automatic *a = self;
    *a = (struct automatic){.view = view,
                            .memory = memory,
                            .goal = goal,
                            .rejoin = options->rejoin,
                            .start = FM_CELL_NONE,
                            .searched_from = FM_CELL_NONE};
    a->search.ops = fm_jump_search_applies(view) ? &fm_repeated_jps : &fm_dstar_lite;
    a->guide.ops = &fm_tbaa_star;
    return FM_OK;
}

static void auto_fini(void *self, fm_slab *slab)
{
    struct automatic *a = self;
    drop(a, &a->search, slab);
    drop(a, &a->guide, slab);
}

static void auto_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    struct automatic *a = self;
    a->goal = goal;
    a->guiding = false;
    a->exhausted = false;
    choose_search(a, slab);
    if (a->search.self != NULL) {
        a->search.ops->set_goal(a->search.self, goal, slab);
        tell_search_start(a);
    }
    if (a->guide.self != NULL) {
        a->guide.ops->set_goal(a->guide.self, goal, slab);
    }
}

static void auto_forget(void *self, fm_slab *slab)
{
    struct automatic *a = self;
    a->guiding = false;
    a->exhausted = false;
    choose_search(a, slab);
    if (a->search.self != NULL) {
        a->search.ops->forget(a->search.self, slab);
        tell_search_start(a);
    }
    if (a->guide.self != NULL) {
        a->guide.ops->forget(a->guide.self, slab);
    }
}

static void auto_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct automatic *a = self;
    FM_ASSERT(count == 1);
    a->start = cells[0];
    a->waited += a->pending && !a->guiding;
    if (!a->pending || searches_by_jumps(a)) {
        tell_search_start(a);
    }
    if (a->guiding) {
        a->guide.ops->set_starts(a->guide.self, cells, 1);
    }
}

static bool any_cheaper(const fm_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (changes[i].cheaper) {
            return true;
        }
    }
    return false;
}

static void auto_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                   fm_work *work)
{
    struct automatic *a = self;
    if (a->search.self != NULL) {
        a->search.ops->knowledge_changed(a->search.self, changes, count, work);
    }
    // Estimates stay valid while steps get costlier, and the idle guide keeps nothing else.
    if (a->guide.self != NULL && (a->guiding || any_cheaper(changes, count))) {
        a->guide.ops->knowledge_changed(a->guide.self, changes, count, work);
    }
}

static fm_plan_state auto_state_at(const void *self, fm_cell start)
{
    const struct automatic *a = self;
    if (start == a->goal) {
        return FM_PLAN_FOUND;
    }
    fm_plan_state state = search_state(a, start);
    if (a->exhausted || is_answer(state) || !a->guiding) {
        return a->exhausted ? FM_PLAN_EXHAUSTED : state;
    }
    fm_plan_state guided = state_of(&a->guide, start);
    return guided == FM_PLAN_EXHAUSTED ? state : guided; // the search continues without it
}

// On its path, as in most ticks.
static bool auto_is_done(const void *self)
{
    const struct automatic *a = self;
    if (a->start == a->goal || a->exhausted) {
        return true;
    }
    bool answered = is_answer(search_state(a, a->start));
    if (!searches_by_jumps(a) || (!answered && jumps_cost_too_much(a))) {
        return false;
    }
    return a->guiding ? !a->rejoin && is_answer(state_of(&a->guide, a->start)) : answered;
}

static fm_plan_state auto_advance(void *self, fm_work *work)
{
    struct automatic *a = self;
    if (auto_is_done(a)) {
        return auto_state_at(a, a->start);
    }
    if (jumps_cost_too_much(a) && !is_answer(search_state(a, a->start))) {
        use(a, &fm_dstar_extra_lite, work->slab);
    }
    if (!need_search(a)) {
        a->exhausted = true;
    } else if (!a->guiding || !is_answer(state_of(&a->guide, a->start))) {
        deal(a, work);
    } else if (!searches_by_jumps(a) || a->rejoin) {
        // The guide has moved the agent: the search catches up. Where agents push each other jumps
        // also do, because their paths tolerate it better.
        advance_search(a, work->expansions_max, work);
    }
    return auto_state_at(a, a->start);
}

static fm_cell auto_next_step(const void *self, fm_cell start)
{
    const struct automatic *a = self;
    if (start == a->goal) {
        return start;
    }
    fm_plan_state state = auto_state_at(a, start);
    if (state != FM_PLAN_FOUND && state != FM_PLAN_PARTIAL) {
        return FM_CELL_NONE;
    }
    const struct part *part = speaker(a);
    return part->ops->next_step(part->self, start);
}

static void auto_distances(const void *self, fm_cell start, uint32_t moves,
                           uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const struct automatic *a = self;
    const struct part *part = speaker(a);
    if (part->self != NULL) {
        fm_planner_distances(part->ops, part->self, a->view, a->goal, start, moves, distances);
    } else {
        fm_planner_guess_distances(a->view, a->goal, start, moves, distances);
    }
}

static uint32_t auto_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct automatic *a = self;
    if (start == a->goal) {
        if (capacity > 0) {
            cells[0] = start;
        }
        return 1;
    }
    const struct part *part = speaker(a);
    return auto_state_at(a, start) == FM_PLAN_FOUND
               ? part->ops->path(part->self, start, cells, capacity)
               : 0;
}

static fm_cell auto_nearest(const void *self, fm_cell start)
{
    const struct automatic *a = self;
    const struct part *part = speaker(a);
    return auto_state_at(a, start) == FM_PLAN_UNREACHABLE && part->ops->nearest != NULL
               ? part->ops->nearest(part->self, start)
               : FM_CELL_NONE;
}

static const fm_planner_ops *auto_runs(const void *self)
{
    return speaker(self)->ops;
}

static void auto_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct part *part = speaker(self);
    if (part->self != NULL) {
        part->ops->inspect(part->self, visit, context);
    }
}

static size_t auto_bytes(const void *self)
{
    const struct automatic *a = self;
    return sizeof *a + (a->search.self == NULL ? 0 : a->search.ops->bytes(a->search.self)) +
           (a->guide.self == NULL ? 0 : a->guide.ops->bytes(a->guide.self));
}

// ---- walking ------------------------------------------------------------------------------------

static bool auto_is_walking(const void *self)
{
    const struct automatic *a = self;
    return searches_by_jumps(a) && a->search.self != NULL && !a->guiding && !a->pending &&
           !a->exhausted && a->searched_from == a->start &&
           a->search.ops->is_walking(a->search.self);
}

static bool auto_go_via(void *self, fm_cell start, const fm_cell *turns, uint32_t count)
{
    struct automatic *a = self;
    return start == a->start && auto_is_walking(a) &&
           a->search.ops->go_via(a->search.self, start, turns, count);
}

static fm_cell auto_via(const void *self)
{
    const struct automatic *a = self;
    bool may = searches_by_jumps(a) && a->search.self != NULL;
    return may ? a->search.ops->via(a->search.self) : FM_CELL_NONE;
}

static void auto_fetch(const void *self, uint32_t depth)
{
    const struct automatic *a = self;
    if (a->search.self == NULL) {
        return;
    }
    if (depth == 0) {
        __builtin_prefetch(a->search.self);
        __builtin_prefetch((const char *)a->search.self + 64);
    } else if (a->search.ops->fetch != NULL) {
        a->search.ops->fetch(a->search.self, 0);
    }
}

static fm_plan_state auto_walk(void *self, fm_cell start, uint32_t steps)
{
    struct automatic *a = self;
    a->start = start;
    a->searched_from = start;
    return a->search.ops->walk(a->search.self, start, steps);
}

// ---- saved worlds -------------------------------------------------------------------------------

// A path of jump points is small. The guide is idle then and is dropped with what it has learned.
static bool auto_settle(void *self, fm_slab *slab)
{
    struct automatic *a = self;
    if (!searches_by_jumps(a) || a->search.self == NULL || a->guiding || a->pending ||
        a->exhausted || search_state(a, a->start) != FM_PLAN_FOUND ||
        !a->search.ops->settle(a->search.self, slab)) {
        return false;
    }
    drop(a, &a->guide, slab);
    return true;
}

static void auto_save(const void *self, fm_writer *writer)
{
    const struct automatic *a = self;
    fm_writer_put_varint(writer, a->start);
    fm_writer_put_varint(writer, a->waited);
    fm_writer_put_varint(writer, a->has_answered);
    fm_writer_put_varint(writer, a->jumps_unanswered);
    fm_writer_put_varint(writer, (uint32_t)a->jumps_excess);
    a->search.ops->save(a->search.self, writer);
}

static fm_status auto_load(void *self, fm_reader *reader)
{
    struct automatic *a = self;
    if (!searches_by_jumps(a)) {
        fm_reader_fail(reader, "There is a path by jump points where they do not apply.");
        return FM_ERR_BAD_FORMAT;
    }
    fm_cell start = (fm_cell)fm_reader_take_bounded(reader, FM_CELL_NONE - 1, "start");
    if (fm_cell_x(start) >= a->view->width || fm_cell_y(start) >= a->view->height) {
        fm_reader_fail(reader, "A planner's agent stood off the map.");
    }
    a->waited = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "ticks waited");
    a->has_answered = fm_reader_take_bool(reader, "has_answered");
    a->jumps_unanswered = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "jump points");
    a->jumps_excess = (int32_t)(uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "jump points");
    if (a->jumps_excess < -JUMPS_SAVED_MAX) {
        fm_reader_fail(reader, "A planner saved more jump points than are counted.");
    }
    if (reader->failed) {
        return FM_ERR_BAD_FORMAT;
    }
    a->start = start;
    if (!need_search(a)) {
        return FM_ERR_NO_MEMORY;
    }
    return a->search.ops->load(a->search.self, reader);
}

const fm_planner_ops fm_auto = {
    .name = "auto",
    .summary = "chooses by costs, neighbours and grant: jump points or D* Lite, and moves at once",
    .size = sizeof(struct automatic),
    .real_time = true,
    .joins_groups = true,
    .waits_for_grant = true,
    .init = auto_init,
    .fini = auto_fini,
    .set_goal = auto_set_goal,
    .set_starts = auto_set_starts,
    .knowledge_changed = auto_knowledge_changed,
    .forget = auto_forget,
    .advance = auto_advance,
    .is_done = auto_is_done,
    .state_at = auto_state_at,
    .next_step = auto_next_step,
    .distances = auto_distances,
    .path = auto_path,
    .nearest = auto_nearest,
    .runs = auto_runs,
    .inspect = auto_inspect,
    .bytes = auto_bytes,
    .is_walking = auto_is_walking,
    .walk = auto_walk,
    .go_via = auto_go_via,
    .via = auto_via,
    .fetch = auto_fetch,
    .settle = auto_settle,
    .save = auto_save,
    .load = auto_load,
};
