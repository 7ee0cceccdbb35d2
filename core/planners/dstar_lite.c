// core/planners/dstar_lite.c: D* Lite, an incremental search from the goal that survives both the
// agent's moves and the map's changes.
//
// Every touched cell keeps two estimates of its distance to the goal: g, and rhs, which looks one
// step ahead: rhs(u) = min over moves of c(u, v) + g(v). Where the two agree the cell is
// consistent; the open list holds exactly the others, and expanding one makes it consistent again.
// A changed cell only makes the rhs of its surroundings wrong, so a repair costs what the change
// affects, not the map.
//
// The key of a cell is f = min(g, rhs) + h + km, with h the distance to the agents (starts.h), and
// what breaks its ties (dstar_open.h). Queued keys are lower bounds: they are renewed when they
// come up after the agents have moved.
//
// One search serves many agents, and continues until the last of them is settled. With one agent
// this is the plain algorithm. Where its procedures are:
//
//   CalculateKey          fm_dstar_key_of()     Initialize           begin()
//   UpdateVertex          update()              changed edges        repair_around()
//   ComputeShortestPath   run(), expand_over(), expand_under()
//   the agent's next step fm_field_step()       km                   fm_starts_rebase()
//
// Sources: S. Koenig, M. Likhachev, "D* Lite", AAAI 2002; "Fast Replanning for Navigation in
// Unknown Terrain", IEEE TRO 2005 (the optimized version, which updates rhs incrementally).

#include "core/planners/dstar_lite.h"

#include "core/planners/dstar_state.h"
#include "core/search/dstar_around.h"

// Of rhs after a change, mostly to find that it holds.
#define RENEWALS_PER_UNIT 4u

static const fm_dstar_node blank_in_buckets = {
    .g = FM_COST_INFINITE, .rhs = FM_COST_INFINITE, .links = {FM_NODE_NONE, FM_NODE_NONE}};
static const fm_dstar_node blank_in_heap = {
    .g = FM_COST_INFINITE, .rhs = FM_COST_INFINITE, .place = 0};

FM_INLINE fm_dstar_spot spot_of(const fm_dstar *d, uint32_t ref)
{
    return fm_dstar_spot_at(fm_node_page(&d->pages, ref), fm_node_position(ref));
}

// The neighbour in direction i, for reading only: a blank node where no page was taken.
FM_INLINE const fm_dstar_node *seen(const fm_dstar_spot *u, uint32_t i)
{
    fm_page_step step = fm_page_steps[u->position][i];
    return fm_dstar_node_at(u->page->near[step.page], step.position);
}

// The neighbour in direction i; a page is taken for it if need be. node is NULL when out of memory.
FM_INLINE fm_dstar_spot neighbour(fm_dstar *d, const fm_dstar_spot *u, uint32_t i, fm_slab *slab)
{
    fm_page_step step = fm_page_steps[u->position][i];
    fm_page *page = u->page->near[step.page];
    if (__builtin_expect(page == d->pages.nowhere, 0)) {
        page = fm_pages_get_near(&d->pages, u->page, step.page, slab);
        if (page == NULL) {
            d->exhausted = true;
            return (fm_dstar_spot){0};
        }
    }
    return (fm_dstar_spot){page, step.position, fm_cell_step(u->cell, i),
                           fm_dstar_node_at(page, step.position)};
}

// ---- keys, rhs ----------------------------------------------------------------------------------

// Puts a cell that is not queued into a bucket.
FM_INLINE void push(fm_dstar *d, fm_dstar_node *node, uint32_t ref, uint32_t key, fm_slab *slab)
{
    if (!fm_bucket_queue_push(&d->open.buckets, &d->pages, key, ref, &node->links, slab)) {
        d->exhausted = true;
    }
}

// Puts an inconsistent cell where its key says, takes a consistent one off the open list.
FM_INLINE void update(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                      const fm_dstar_spot *u, fm_slab *slab)
{
    uint32_t ref = fm_node_ref(u->page, u->position);
    if (u->node->g == u->node->rhs) {
        fm_dstar_open_remove(&d->open, &d->pages, shape.order, u->node, ref, slab);
        return;
    }
    uint64_t key = fm_dstar_key_of(frame, shape, u->cell, u->node);
    if (!fm_dstar_open_put(&d->open, &d->pages, shape.order, u->node, ref, key, slab)) {
        d->exhausted = true;
    }
}

// The key of an underconsistent cell does not depend on its rhs: in buckets it stays where it is.
FM_INLINE void set_rhs(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                       const fm_dstar_spot *u, uint32_t rhs, fm_slab *slab)
{
    uint32_t g = u->node->g;
    bool stays = shape.order == FM_DSTAR_BUCKET && g < u->node->rhs && g < rhs;
    u->node->rhs = rhs;
    if (!stays) {
        update(d, frame, shape, u, slab);
    }
}

FM_INLINE uint32_t moves_from(const fm_dstar_frame *frame, fm_cell cell)
{
    return frame->view.moves[fm_bitmap_window(&frame->blocked, cell)];
}

// fm_view_cost(), with what is constant known.
FM_INLINE uint32_t cost_of(const fm_dstar_frame *frame, fm_dstar_shape shape, fm_cell from,
                           uint32_t i)
{
    return shape.weighted ? fm_view_cost(&frame->view, from, i, fm_cell_step(from, i))
                          : frame->view.step[shape.four ? 0 : i & 1];
}

// rhs from the definition. Without weights it looks at all neighbours and makes illegal ones
// infinite, instead of branching on what nobody can predict.
FM_INLINE uint32_t best_successor(const fm_dstar_frame *frame, fm_dstar_shape shape,
                                  const fm_dstar_spot *u)
{
    uint32_t best = FM_COST_INFINITE;
    uint32_t moves = moves_from(frame, u->cell);
    if (shape.weighted) {
        for (; moves != 0; moves &= moves - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(moves);
            uint32_t rhs = seen(u, i)->g + cost_of(frame, shape, u->cell, i);
            best = rhs < best ? rhs : best;
        }
        return best;
    }
    FM_UNROLL
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i += fm_dstar_stride(shape.four)) {
        uint32_t illegal = (moves >> i & 1) - 1; // all ones or none
        uint32_t rhs = (seen(u, i)->g + cost_of(frame, shape, u->cell, i)) | illegal;
        best = rhs < best ? rhs : best;
    }
    return best;
}

// Recomputes the rhs of a cell other than the goal.
FM_INLINE void renew(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                     const fm_dstar_spot *u, fm_slab *slab)
{
    uint32_t rhs = best_successor(frame, shape, u);
    if (rhs != u->node->rhs) {
        set_rhs(d, frame, shape, u, rhs, slab);
        d->done = false;
    }
}

// ---- the search ---------------------------------------------------------------------------------

// What run() knows from one expansion to the next.
struct loop {
    fm_dstar_top top; // the smallest key, as of the last expansion
    // With buckets, a neighbour that gets that key would be pushed now and popped next. The last
    // such one is kept back instead, and not queued. No page: there is none.
    fm_dstar_spot next;
    // The first start that is not settled, what it held when it was last looked at, and its key
    // then: until it changes or the key is reached there is no need to look again.
    const fm_dstar_node *start;
    uint64_t start_then; // g and rhs
    uint64_t start_key;
    uint32_t expansions_at_start; // of the call
    uint32_t units;               // until the grant and the deadline are checked
};

// Queues the cell that was kept back after all.
FM_INLINE void put_next(fm_dstar *d, struct loop *loop, fm_slab *slab)
{
    if (loop->next.page != NULL) {
        uint32_t ref = fm_node_ref(loop->next.page, loop->next.position);
        push(d, loop->next.node, ref, (uint32_t)loop->top.key, slab);
        loop->next.page = NULL;
    }
}

FM_INLINE void expand_over(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                           const fm_dstar_spot *u, const fm_dstar_around *around, struct loop *loop,
                           fm_slab *slab)
{
    uint32_t g = u->node->g = u->node->rhs;
    uint32_t moves =
        shape.weighted ? 0xff : fm_dstar_improved(around, shape.four, g, frame->view.step);
    if (moves == 0) {
        return;
    }
    moves &= moves_from(frame, u->cell);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        uint32_t rhs = g + cost_of(frame, shape, u->cell, i);
        fm_dstar_spot v = neighbour(d, u, i, slab);
        if (v.node == NULL) {
            return;
        }
        if (v.node->rhs <= rhs) {
            continue;
        }
        if (shape.order != FM_DSTAR_BUCKET || v.node->g <= rhs) {
            set_rhs(d, frame, shape, &v, rhs, slab);
            continue;
        }
        uint32_t ref = fm_node_ref(v.page, v.position);
        v.node->rhs = rhs;
        uint64_t key = fm_dstar_key_of(frame, shape, v.cell, v.node);
        fm_dstar_open_remove(&d->open, &d->pages, shape.order, v.node, ref, slab);
        if (key == loop->top.key) {
            put_next(d, loop, slab);
            loop->next = v;
        } else {
            push(d, v.node, ref, (uint32_t)key, slab);
        }
    }
}

FM_INLINE void expand_under(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                            const fm_dstar_spot *u, const fm_dstar_around *around, fm_slab *slab)
{
    uint32_t g = u->node->g;
    u->node->g = FM_COST_INFINITE;
    uint32_t moves = moves_from(frame, u->cell);
    if (!shape.weighted) {
        moves &= fm_dstar_reached(around, shape.four, g, frame->view.step);
    }
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_dstar_spot v = neighbour(d, u, i, slab);
        if (v.node == NULL) {
            return;
        }
        if (v.cell != d->goal && v.node->rhs == g + cost_of(frame, shape, u->cell, i)) {
            renew(d, frame, shape, &v, slab);
        }
    }
    if (u->cell != d->goal && u->node->rhs == g) {
        u->node->rhs = best_successor(frame, shape, u);
    }
    update(d, frame, shape, u, slab);
}

// Whether all starts are settled.
FM_INLINE bool all_settled(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                           uint64_t top)
{
    while (d->starts.settled_count < d->starts.count) {
        fm_cell start = fm_starts_next(&d->starts);
        const fm_dstar_node *node = fm_starts_next_node(&d->starts, &d->pages);
        if (start != d->goal &&
            (node == NULL ||
             !fm_dstar_is_settled(node, fm_dstar_key_of(frame, shape, start, node), top))) {
            return false;
        }
        fm_starts_settle(&d->starts, d->starts.settled_count + 1);
    }
    return true;
}

FM_INLINE void watch_start(const fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                           struct loop *loop)
{
    const fm_dstar_node *node = d->starts.node;
    loop->start = node == NULL ? &blank_in_buckets : node; // its page is not touched: ask always
    loop->start_then = fm_dstar_costs(loop->start);
    loop->start_key =
        node == NULL ? 0 : fm_dstar_key_of(frame, shape, fm_starts_next(&d->starts), loop->start);
}

FM_INLINE bool start_may_be_settled(const struct loop *loop)
{
    return loop->top.key >= loop->start_key || fm_dstar_costs(loop->start) != loop->start_then;
}

// For the open list: the key that an entry ought to have.
struct renewal {
    const fm_dstar *d;
    const fm_dstar_frame *frame;
    fm_dstar_shape shape;
};

FM_INLINE uint32_t renewed_key(const void *context, uint32_t ref)
{
    const struct renewal *renewal = context;
    fm_dstar_spot u = spot_of(renewal->d, ref);
    return (uint32_t)fm_dstar_key_of(renewal->frame, renewal->shape, u.cell, u.node);
}

// Renews keys at the top that were computed before the agents moved. Returns false when there was
// nothing to renew: the top's key holds.
FM_INLINE bool renew_keys(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                          struct loop *loop, const fm_dstar_spot *u, fm_work *work)
{
    uint64_t key = fm_dstar_key_of(frame, shape, u->cell, u->node);
    uint32_t renewed = 1;
    if (key <= loop->top.key) {
        return false;
    }
    if (shape.order == FM_DSTAR_BUCKET) {
        const struct renewal renewal = {d, frame, shape};
        const fm_bucket_top top = {.key = (uint32_t)loop->top.key, .ref = loop->top.ref};
        fm_bucket_renewal done =
            fm_bucket_queue_renew(&d->open.buckets, &d->pages, &top, (uint32_t)key, loop->units,
                                  renewed_key, &renewal, work->slab);
        d->exhausted |= done.failed;
        renewed = done.moved;
    } else {
        update(d, frame, shape, u, work->slab);
    }
    fm_work_charge(work, renewed);
    loop->units -= renewed;
    return true;
}

// How run() continues.
enum turn {
    TURN_EXPAND, // the cell that take_top() gave
    TURN_AGAIN,  // keys were renewed: look at the top again
    TURN_OVER,   // the search is over, or the grant is
};

// Takes the cell with the smallest key off the open list.
FM_INLINE enum turn take_top(fm_dstar *d, const fm_dstar_frame *frame, fm_dstar_shape shape,
                             struct loop *loop, fm_dstar_spot *u, fm_work *work)
{
    if (loop->next.page != NULL && !start_may_be_settled(loop) && loop->units > 0) {
        *u = loop->next;
        loop->next.page = NULL;
        return TURN_EXPAND;
    }
    put_next(d, loop, work->slab);
    if (!fm_dstar_open_top(&d->open, shape.order, &loop->top)) {
        d->top = UINT64_MAX;
        d->done = true;
        return TURN_OVER;
    }
    if (start_may_be_settled(loop)) {
        d->top = loop->top.key;
        d->done = all_settled(d, frame, shape, d->top);
        if (d->done) {
            return TURN_OVER;
        }
        watch_start(d, frame, shape, loop);
    }
    if (loop->units == 0) {
        loop->units = fm_work_units(work, loop->expansions_at_start);
        if (loop->units == 0) {
            d->top = loop->top.key;
            return TURN_OVER;
        }
    }
    *u = spot_of(d, loop->top.ref);
    if (renew_keys(d, frame, shape, loop, u, work)) {
        return TURN_AGAIN;
    }
    fm_dstar_open_take(&d->open, &d->pages, shape.order, u->node, &loop->top, work->slab);
    return TURN_EXPAND;
}

FM_INLINE void run(fm_dstar *d, fm_dstar_shape shape, fm_work *work)
{
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    struct loop loop = {.expansions_at_start = work->expansions};
    fm_dstar_spot u;
    enum turn turn;
    watch_start(d, &frame, shape, &loop);
    while (!d->exhausted && (turn = take_top(d, &frame, shape, &loop, &u, work)) != TURN_OVER) {
        if (turn == TURN_AGAIN) {
            continue;
        }
        work->expansions += 1;
        loop.units -= 1;
        const fm_dstar_around around = fm_dstar_around_of(u.page, u.position, shape.four);
        if (u.node->g > u.node->rhs) {
            expand_over(d, &frame, shape, &u, &around, &loop, work->slab);
        } else {
            expand_under(d, &frame, shape, &u, &around, work->slab);
        }
    }
}

// ---- one copy for each shape --------------------------------------------------------------------

typedef void run_fn(fm_dstar *d, fm_work *work);
typedef void renew_fn(fm_dstar *d, const fm_dstar_frame *frame, const fm_dstar_spot *u,
                      fm_slab *slab);

// So that no inner loop tests which shape it has.
#define SHAPE(run_name, renew_name, ...)                                                           \
    static void run_name(fm_dstar *d, fm_work *work)                                               \
    {                                                                                              \
        run(d, (fm_dstar_shape){__VA_ARGS__}, work);                                               \
    }                                                                                              \
    static void renew_name(fm_dstar *d, const fm_dstar_frame *frame, const fm_dstar_spot *u,       \
                           fm_slab *slab)                                                          \
    {                                                                                              \
        renew(d, frame, (fm_dstar_shape){__VA_ARGS__}, u, slab);                                   \
    }
// clang-format off
SHAPE(run_bucket_8, renew_bucket_8, FM_DSTAR_BUCKET, false, false)
SHAPE(run_bucket_8_weighted, renew_bucket_8_weighted, FM_DSTAR_BUCKET, false, true)
SHAPE(run_bucket_4, renew_bucket_4, FM_DSTAR_BUCKET, true, false)
SHAPE(run_bucket_4_weighted, renew_bucket_4_weighted, FM_DSTAR_BUCKET, true, true)
SHAPE(run_smaller_8, renew_smaller_8, FM_DSTAR_HEAP_SMALLER_G, false, false)
SHAPE(run_smaller_8_weighted, renew_smaller_8_weighted, FM_DSTAR_HEAP_SMALLER_G, false, true)
SHAPE(run_smaller_4, renew_smaller_4, FM_DSTAR_HEAP_SMALLER_G, true, false)
SHAPE(run_smaller_4_weighted, renew_smaller_4_weighted, FM_DSTAR_HEAP_SMALLER_G, true, true)
SHAPE(run_larger_8, renew_larger_8, FM_DSTAR_HEAP_LARGER_G, false, false)
SHAPE(run_larger_8_weighted, renew_larger_8_weighted, FM_DSTAR_HEAP_LARGER_G, false, true)
SHAPE(run_larger_4, renew_larger_4, FM_DSTAR_HEAP_LARGER_G, true, false)
SHAPE(run_larger_4_weighted, renew_larger_4_weighted, FM_DSTAR_HEAP_LARGER_G, true, true)
#undef SHAPE

// By order, four and weighted.
static const struct {
    run_fn *run;
    renew_fn *renew;
} in_shape[3][2][2] = {
    [FM_DSTAR_BUCKET] = {
        {{run_bucket_8, renew_bucket_8}, {run_bucket_8_weighted, renew_bucket_8_weighted}},
        {{run_bucket_4, renew_bucket_4}, {run_bucket_4_weighted, renew_bucket_4_weighted}},
    },
    [FM_DSTAR_HEAP_SMALLER_G] = {
        {{run_smaller_8, renew_smaller_8}, {run_smaller_8_weighted, renew_smaller_8_weighted}},
        {{run_smaller_4, renew_smaller_4}, {run_smaller_4_weighted, renew_smaller_4_weighted}},
    },
    [FM_DSTAR_HEAP_LARGER_G] = {
        {{run_larger_8, renew_larger_8}, {run_larger_8_weighted, renew_larger_8_weighted}},
        {{run_larger_4, renew_larger_4}, {run_larger_4_weighted, renew_larger_4_weighted}},
    },
};
// clang-format on

// ---- changes of the map -------------------------------------------------------------------------

static void renew_in_shape(fm_dstar *d, const fm_dstar_frame *frame, const fm_dstar_spot *u,
                           fm_slab *slab)
{
    in_shape[d->shape.order][d->shape.four][d->shape.weighted].renew(d, frame, u, slab);
}

// The common change: a cell that was reached turns out to be blocked, and all weights are equal.
// Only cells whose rhs came through it, or past its corners, can be wrong. Returns how many were
// looked at.
static uint32_t repair_blocked(fm_dstar *d, const fm_dstar_frame *frame, const fm_dstar_spot *b,
                               fm_slab *slab)
{
    const fm_dstar_around around = fm_dstar_around_of(b->page, b->position, d->shape.four);
    uint32_t wrong = fm_dstar_reached(&around, d->shape.four, b->node->g, frame->view.step);
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT && !d->shape.four; i += 2) {
        uint32_t rhs = around.rhs[i]; // may have come diagonally past a corner of b
        bool past = rhs == frame->view.step[1] + seen(b, (i + 2) % FM_DIRECTION_COUNT)->g ||
                    rhs == frame->view.step[1] + seen(b, (i + 6) % FM_DIRECTION_COUNT)->g;
        wrong |= (uint32_t)past << i;
    }
    uint32_t count = 1;
    if (b->node->rhs != FM_COST_INFINITE) {
        set_rhs(d, frame, d->shape, b, FM_COST_INFINITE, slab);
        d->done = false;
    }
    for (; wrong != 0; wrong &= wrong - 1) {
        count += 1;
        uint32_t i = (uint32_t)__builtin_ctz(wrong);
        fm_page_step step = fm_page_steps[b->position][i];
        fm_dstar_spot v = fm_dstar_spot_at(b->page->near[step.page], step.position);
        if (v.page != d->pages.nowhere && v.cell != d->goal) {
            renew_in_shape(d, frame, &v, slab);
        }
    }
    return count;
}

// All edges that a change of cell b can touch join two of the nine cells around it: those incident
// to b, and the diagonals that squeeze past its corners. So it is enough to renew the rhs of these
// nine. What only became costlier cannot matter where no search has been. `page` is that of b, or
// NULL. Returns how many were looked at.
static uint32_t repair_around(fm_dstar *d, const fm_dstar_frame *frame, const fm_change *change,
                              fm_page *page, fm_slab *slab)
{
    // Not even its page was touched. (What its node holds now would not show it: an earlier change
    // of the same batch may have taken its rhs away, while diagonals past its corners are still in
    // use.)
    if (page == NULL && (change->blocked || !change->cheaper)) {
        return 0;
    }
    if (change->blocked && !d->shape.weighted && change->cell != d->goal) {
        fm_dstar_spot b = fm_dstar_spot_at(page, fm_page_position(change->cell));
        return repair_blocked(d, frame, &b, slab);
    }
    fm_cell cells[FM_DIRECTION_COUNT + 1];
    uint32_t count = 0, touched = 0;
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            int32_t x = (int32_t)fm_cell_x(change->cell) + dx;
            int32_t y = (int32_t)fm_cell_y(change->cell) + dy;
            if (x >= 0 && y >= 0 && x < (int32_t)d->view->width && y < (int32_t)d->view->height) {
                cells[count] = fm_cell_at((uint32_t)x, (uint32_t)y);
                touched += fm_pages_find(&d->pages, cells[count]) != NULL;
                count += 1;
            }
        }
    }
    // A cell next to the searched area may have become reachable, so it needs a page now.
    for (uint32_t i = 0; touched > 0 && i < count; i++) {
        page = change->cheaper ? fm_pages_get(&d->pages, cells[i], slab)
                               : fm_pages_find(&d->pages, cells[i]);
        d->exhausted |= page == NULL && change->cheaper;
        if (page != NULL && cells[i] != d->goal) {
            fm_dstar_spot u = fm_dstar_spot_at(page, fm_page_position(cells[i]));
            renew_in_shape(d, frame, &u, slab);
        }
    }
    return count;
}

// ---- planner interface --------------------------------------------------------------------------

// Forgets the search, not the goal or the starts.
static void start_over(fm_dstar *d, fm_slab *slab)
{
    fm_dstar_open_clear(&d->open, slab);
    fm_pages_clear(&d->pages, slab);
    fm_starts_settle(&d->starts, 0);
    d->top = 0;
    d->done = false;
    d->begun = false;
    d->exhausted = false;
}

static void begin(fm_dstar *d, fm_slab *slab)
{
    fm_page *page = fm_pages_get(&d->pages, d->goal, slab);
    d->begun = true;
    fm_starts_begin(&d->starts);
    if (page == NULL) {
        d->exhausted = true;
        return;
    }
    fm_dstar_spot goal = fm_dstar_spot_at(page, fm_page_position(d->goal));
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    goal.node->rhs = 0;
    update(d, &frame, d->shape, &goal, slab);
}

// The agents have moved: keys are computed again from here on.
static void rebase(fm_dstar *d, fm_slab *slab)
{
    if (!fm_starts_rebase(&d->starts, d->view)) {
        start_over(d, slab);
        begin(d, slab);
    }
}

// What depends on the view's costs, which change when a map gets its first weight.
static void set_scale(fm_dstar *d)
{
    d->shape.four = d->view->connectivity == FM_CONNECT_4;
    d->shape.weighted = d->view->weights != NULL;
}

static fm_status dstar_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    fm_dstar *d = self;
    bool heap = options->queue == FM_QUEUE_HEAP;
    d->view = view;
    d->goal = goal;
    d->step = options->step;
    d->shape.order = !heap                                ? FM_DSTAR_BUCKET
                     : options->ties == FM_TIES_SMALLER_G ? FM_DSTAR_HEAP_SMALLER_G
                                                          : FM_DSTAR_HEAP_LARGER_G;
    set_scale(d);
    fm_pages_init(&d->pages, heap ? &blank_in_heap : &blank_in_buckets, sizeof(fm_dstar_node),
                  memory);
    fm_dstar_open_init(&d->open, &d->pages, memory);
    fm_starts_init(&d->starts, memory);
    return FM_OK;
}

static void dstar_fini(void *self, fm_slab *slab)
{
    fm_dstar *d = self;
    fm_dstar_open_fini(&d->open, slab);
    fm_pages_fini(&d->pages, slab);
    fm_starts_fini(&d->starts);
}

static void dstar_forget(void *self, fm_slab *slab)
{
    fm_dstar *d = self;
    set_scale(d);
    start_over(d, slab);
}

// Every distance is to the goal, so a new one leaves nothing to keep.
static void dstar_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    fm_dstar *d = self;
    d->goal = goal;
    start_over(d, slab);
}

static void dstar_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    fm_dstar *d = self;
    d->exhausted |= !fm_starts_set(&d->starts, cells, count);
    d->done = false;
}

// For debug builds: rhs is as defined, and exactly the inconsistent cells are queued.
__attribute__((unused)) static bool is_sound(const fm_dstar *d)
{
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            fm_dstar_spot u = fm_dstar_spot_at(d->pages.by_slot[slot], position);
            bool inside = fm_cell_x(u.cell) < d->view->width && fm_cell_y(u.cell) < d->view->height;
            uint32_t rhs =
                u.cell == d->goal || !inside ? u.node->rhs : best_successor(&frame, d->shape, &u);
            bool queued = fm_dstar_is_queued(d->shape.order, u.node);
            if (u.node->rhs != rhs || queued != (u.node->g != u.node->rhs)) {
                return false;
            }
        }
    }
    return true;
}

static void dstar_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                    fm_work *work)
{
    fm_dstar *d = self;
    if (!d->begun || d->exhausted) {
        return;
    }
    const fm_dstar_frame frame = fm_dstar_frame_of(d);
    uint32_t renewed = 0;
    fm_page *page = NULL;
    for (uint32_t i = 0; i < count; i++) {
        fm_cell cell = changes[i].cell;
        if (page == NULL || page->corner != fm_page_corner(cell)) { // mostly they lie together
            page = fm_pages_find(&d->pages, cell);
        }
        renewed += repair_around(d, &frame, &changes[i], page, work->slab);
    }
    fm_work_charge(work, (renewed + RENEWALS_PER_UNIT - 1) / RENEWALS_PER_UNIT);
    FM_VALIDATE(d->exhausted || is_sound(d));
    if (!d->done) {
        d->top = 0;
        fm_starts_settle(&d->starts, 0);
    }
}

static fm_plan_state dstar_advance(void *self, fm_work *work)
{
    fm_dstar *d = self;
    if (!d->begun && !d->exhausted) {
        begin(d, work->slab);
    }
    if (!d->done && !d->exhausted) {
        // Checks before rebasing: most moves along a path leave nothing to do, and km should stay
        // small.
        fm_dstar_top top;
        bool any = fm_dstar_open_top(&d->open, d->shape.order, &top);
        d->top = any ? top.key : UINT64_MAX;
        const fm_dstar_frame frame = fm_dstar_frame_of(d);
        d->done = all_settled(d, &frame, d->shape, d->top);
    }
    if (!d->done && !d->exhausted) {
        if (fm_starts_have_moved(&d->starts)) {
            rebase(d, work->slab);
        }
        in_shape[d->shape.order][d->shape.four][d->shape.weighted].run(d, work);
        FM_VALIDATE(d->exhausted || is_sound(d));
    }
    if (d->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    if (!d->done) {
        return FM_PLAN_RUNNING;
    }
    return d->starts.settled_count == d->starts.count ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
}

static size_t dstar_bytes(const void *self)
{
    const fm_dstar *d = self;
    return sizeof *d + fm_pages_bytes(&d->pages) + fm_dstar_open_bytes(&d->open) +
           fm_starts_bytes(&d->starts);
}

const fm_planner_ops fm_dstar_lite = {
    .name = "dstar-lite",
    .summary = "incremental search from the goal; shared by agents with the same goal",
    .size = sizeof(fm_dstar),
    .shared = true,
    .init = dstar_init,
    .fini = dstar_fini,
    .set_goal = dstar_set_goal,
    .set_starts = dstar_set_starts,
    .knowledge_changed = dstar_knowledge_changed,
    .forget = dstar_forget,
    .advance = dstar_advance,
    .state_at = fm_dstar_state_at,
    .next_step = fm_dstar_next_step,
    .answer = fm_dstar_answer,
    .distances = fm_dstar_distances,
    .exact_distances = true,
    .path = fm_dstar_path,
    .inspect = fm_dstar_inspect,
    .bytes = dstar_bytes,
};
