// core/auto.c: the planner that chooses for the user. Rule:
//
//   jumps    where jump points apply (equal weights, FM_CONNECT_8) the shortest way is searched
//            anew by repeated-jps whenever it breaks. On every kind of map measured, game maps,
//            rooms, random blocks and mazes, that takes half to a sixth of D* Lite's time per move.
//   engine   elsewhere by dstar-lite with buckets, which goes on after the agent has moved. It also
//            takes over from jumps, until the next goal, when the agent has walked away from
//            JUMPS_LOST_MAX of their searches in a row before the grants let them end.
//   guide    tbaa-star moves the agent whenever the search of the one above is not finished within
//            the grant. So there is a move in every tick, though not always a proven one.
//
// Three quarters of a grant are for the search, the rest for the guide. When a deadline
// has cut the search short, the guide still gets GUIDE_UNITS_LATE. Mostly the search ends before
// that, and the guide is never asked.
//
//        ┌── not finished: wake ──┐              told of          asked for answers
//        │                        v     idle     cheaper steps    never
//      idle                    guiding  guiding  every change     while the search has none
//        ^                        │
//        └── search finished ─────┘
//
// Whichever of search and guide proves first that there is no way is believed: one exhausts the
// goal's side, the other the agent's. A complete path of the guide is as good as one of the search,
// which then uses the grant to catch up.

#include "core/planner.h"

#include "core/jump_search.h"

#define GUIDE_UNITS_LATE 32u // once the deadline has passed
#define JUMPS_LOST_MAX   4u

// One of the planners that this one is made of.
struct part {
    const fm_planner_ops *ops;
    void *self; // NULL until it is needed
};

struct automatic {
    const fm_view *view;
    const fm_memory *memory;
    fm_cell goal;
    fm_cell start; // FM_CELL_NONE before the first

    struct part search; // jumps or engine
    struct part guide;
    bool guiding;
    bool jumps_pending;  // jumps have begun a search and not ended it
    uint32_t jumps_lost; // such searches in a row that the agent has walked away from
    bool exhausted;      // memory ran out
};

// ---- parts --------------------------------------------------------------------------------------

// Makes a part if it is not there. False when memory is out.
static bool need(struct automatic *a, struct part *part)
{
    if (part->self != NULL) {
        return true;
    }
    const fm_planner_options options = {0};
    void *self = fm_memory_allocate_zeroed(a->memory, 1, part->ops->size);
    if (self == NULL || part->ops->init(self, a->view, &options, a->memory, a->goal) != FM_OK) {
        fm_memory_release(a->memory, self, part->ops->size);
        return false;
    }
    part->self = self;
    part->ops->set_starts(self, &a->start, 1);
    return true;
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

static void use(struct automatic *a, const fm_planner_ops *ops, fm_slab *slab)
{
    if (a->search.ops != ops) {
        drop(a, &a->search, slab);
        a->search.ops = ops;
    }
    a->jumps_pending = false;
    a->jumps_lost = 0;
}

// The rule of this file's opening lines, for a new goal or a new map.
static void choose_search(struct automatic *a, fm_slab *slab)
{
    use(a, fm_jump_search_applies(a->view) ? &fm_repeated_jps : &fm_dstar_lite, slab);
}

// The part that answers now.
static const struct part *speaker(const struct automatic *a)
{
    return a->guiding && !is_answer(state_of(&a->search, a->start)) ? &a->guide : &a->search;
}

// ---- searching ----------------------------------------------------------------------------------

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Lends a part up to `units` of the work. Returns true when it has an answer.
static bool advance_part(struct part *part, uint32_t units, fm_work *work)
{
    uint32_t granted = work->expansions_max;
    work->expansions_max = units;
    fm_plan_state state = part->ops->advance(part->self, work);
    work->expansions_max = granted;
    return is_answer(state);
}

// The guide begins anew from where the agent stands, with all the estimates it has learned.
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
    fm_work late = *work; // the deadline has stopped the search; a move is due all the same
    late.deadline = (fm_deadline){0};
    late.cut = false;
    late.cut_at = 0;
    advance_part(&a->guide, smaller(units, GUIDE_UNITS_LATE), &late);
    work->expansions = late.expansions;
    work->secondary = late.secondary;
}

// Returns true when the search has an answer.
static bool advance_search(struct automatic *a, uint32_t units, fm_work *work)
{
    bool answered = advance_part(&a->search, units, work);
    a->jumps_pending = !answered && a->search.ops == &fm_repeated_jps;
    if (answered) {
        a->guiding = false;
        a->jumps_lost = 0;
    }
    return answered;
}

// Deals the grant out: three quarters to the search, then a quarter to the guide.
static void deal(struct automatic *a, fm_work *work)
{
    uint32_t expansions_at_start = work->expansions, granted = work->expansions_max;
    uint32_t guide_units = granted < 4 ? 1 : granted / 4;
    if (granted > guide_units && advance_search(a, granted - guide_units, work)) {
        return;
    }
    uint32_t left = granted - (work->expansions - expansions_at_start);
    advance_guide(a, left, work);
}

// ---- planner interface --------------------------------------------------------------------------

static fm_status auto_init(void *self, const fm_view *view, const fm_planner_options *options,
                           const fm_memory *memory, fm_cell goal)
{
    (void)options;
    struct automatic *a = self;
    *a = (struct automatic){.view = view, .memory = memory, .goal = goal, .start = FM_CELL_NONE};
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
    }
    if (a->guide.self != NULL) {
        a->guide.ops->forget(a->guide.self, slab);
    }
}

static void auto_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct automatic *a = self;
    FM_ASSERT(count == 1);
    a->jumps_lost += a->jumps_pending && cells[0] != a->start;
    a->jumps_pending = a->jumps_pending && cells[0] == a->start;
    a->start = cells[0];
    if (a->search.self != NULL) {
        a->search.ops->set_starts(a->search.self, cells, 1);
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
    // Estimates stay good while steps get dearer, and the idle guide has nothing else of use.
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
    fm_plan_state state = state_of(&a->search, start);
    if (a->exhausted || is_answer(state) || !a->guiding) {
        return a->exhausted ? FM_PLAN_EXHAUSTED : state;
    }
    fm_plan_state guided = state_of(&a->guide, start);
    return guided == FM_PLAN_EXHAUSTED ? state : guided; // the search goes on without it
}

static fm_plan_state auto_advance(void *self, fm_work *work)
{
    struct automatic *a = self;
    if (a->start == a->goal || a->exhausted) {
        return auto_state_at(a, a->start);
    }
    if (a->jumps_lost >= JUMPS_LOST_MAX) {
        use(a, &fm_dstar_lite, work->slab);
    }
    if (!need(a, &a->search)) {
        a->exhausted = true;
    } else if (!a->guiding || !is_answer(state_of(&a->guide, a->start))) {
        deal(a, work);
    } else if (a->search.ops == &fm_dstar_lite) {
        advance_search(a, work->expansions_max, work); // the guide has led on; time to catch up
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

const fm_planner_ops fm_auto = {
    .name = "auto",
    .summary = "chooses by costs, neighbours and grant: jump points or D* Lite, and moves at once",
    .size = sizeof(struct automatic),
    .real_time = true,
    .init = auto_init,
    .fini = auto_fini,
    .set_goal = auto_set_goal,
    .set_starts = auto_set_starts,
    .knowledge_changed = auto_knowledge_changed,
    .forget = auto_forget,
    .advance = auto_advance,
    .state_at = auto_state_at,
    .next_step = auto_next_step,
    .path = auto_path,
    .nearest = auto_nearest,
    .inspect = auto_inspect,
    .bytes = auto_bytes,
};
