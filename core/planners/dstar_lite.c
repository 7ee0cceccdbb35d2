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
//   CalculateKey          key_of()              Initialize           begin()
//   UpdateVertex          update()              changed edges        repair_around()
//   ComputeShortestPath   run(), expand_over(), expand_under()
//   the agent's next step fm_field_step()       km                   fm_starts_rebase()
//
// Sources: S. Koenig, M. Likhachev, "D* Lite", AAAI 2002; "Fast Replanning for Navigation in
// Unknown Terrain", IEEE TRO 2005 (the optimized version, which updates rhs incrementally).

#include "core/planners/dstar_lite.h"

#include "core/search/planner.h"
#include "core/search/dstar_around.h"
#include "core/search/dstar_open.h"
#include "core/search/field.h"
#include "core/search/starts.h"

// Of rhs after a change, mostly to find that it holds.
#define RENEWALS_PER_UNIT 4u

// What the inner loops are compiled for: constants wherever it is passed.
struct shape {
    fm_dstar_order order;
    bool four; // 4 neighbours
    bool weighted;
};

struct dstar {
    const fm_view *view;
    struct shape shape;
    fm_cell goal;
    fm_step_choice step;

    fm_pages pages;
    fm_dstar_open open;
    fm_starts starts;

    uint64_t top;   // nothing on the open list has a smaller key
    bool done;      // every start is settled
    bool begun;     // the goal has been queued
    bool exhausted; // memory ran out
};

static const fm_dstar_node blank_in_buckets = {
    .g = FM_COST_INFINITE, .rhs = FM_COST_INFINITE, .links = {FM_NODE_NONE, FM_NODE_NONE}};
static const fm_dstar_node blank_in_heap = {
    .g = FM_COST_INFINITE, .rhs = FM_COST_INFINITE, .place = 0};

// What the loops read over and over. It is copied once per call: were it read from the planner,
// every store to a node would make the compiler read it again.
struct frame {
    fm_view view;
    fm_bitmap blocked;
    fm_box box;
    uint32_t km;
};

static inline struct frame frame_of(const struct dstar *d)
{
    return (struct frame){
        .view = *d->view, .blocked = *d->view->blocked, .box = d->starts.box, .km = d->starts.km};
}

// A cell with everything needed to reach its neighbours.
struct spot {
    fm_page *page;
    uint32_t position;
    fm_cell cell;
    fm_dstar_node *node;
};

FM_INLINE struct spot spot_at(fm_page *page, uint32_t position)
{
    return (struct spot){page, position, fm_page_cell(page, position),
                         fm_dstar_node_at(page, position)};
}

FM_INLINE struct spot spot_of(const struct dstar *d, uint32_t ref)
{
    return spot_at(fm_node_page(&d->pages, ref), fm_node_position(ref));
}

// The neighbour in direction i, for reading only: a blank node where no page was taken.
FM_INLINE const fm_dstar_node *seen(const struct spot *u, uint32_t i)
{
    fm_page_step step = fm_page_steps[u->position][i];
    return fm_dstar_node_at(u->page->near[step.page], step.position);
}

// The neighbour in direction i; a page is taken for it if need be. node is NULL when out of memory.
FM_INLINE struct spot neighbour(struct dstar *d, const struct spot *u, uint32_t i, fm_slab *slab)
{
    fm_page_step step = fm_page_steps[u->position][i];
    fm_page *page = u->page->near[step.page];
    if (__builtin_expect(page == d->pages.nowhere, 0)) {
        page = fm_pages_get_near(&d->pages, u->page, step.page, slab);
        if (page == NULL) {
            d->exhausted = true;
            return (struct spot){0};
        }
    }
    return (struct spot){page, step.position, fm_cell_step(u->cell, i),
                         fm_dstar_node_at(page, step.position)};
}

// ---- keys, rhs ----------------------------------------------------------------------------------

FM_INLINE uint64_t key_of(const struct frame *frame, struct shape shape, fm_cell cell,
                          const fm_dstar_node *node)
{
    uint32_t least = node->g < node->rhs ? node->g : node->rhs;
    uint32_t h = fm_box_distance(&frame->view, shape.four, &frame->box, cell);
    return fm_dstar_key(shape.order, least + h + frame->km, node);
}

// Puts a cell that is not queued into a bucket.
FM_INLINE void push(struct dstar *d, fm_dstar_node *node, uint32_t ref, uint32_t key, fm_slab *slab)
{
    if (!fm_bucket_queue_push(&d->open.buckets, &d->pages, key, ref, &node->links, slab)) {
        d->exhausted = true;
    }
}

// Puts an inconsistent cell where its key says, takes a consistent one off the open list.
FM_INLINE void update(struct dstar *d, const struct frame *frame, struct shape shape,
                      const struct spot *u, fm_slab *slab)
{
    uint32_t ref = fm_node_ref(u->page, u->position);
    if (u->node->g == u->node->rhs) {
        fm_dstar_open_remove(&d->open, &d->pages, shape.order, u->node, ref, slab);
        return;
    }
    uint64_t key = key_of(frame, shape, u->cell, u->node);
    if (!fm_dstar_open_put(&d->open, &d->pages, shape.order, u->node, ref, key, slab)) {
        d->exhausted = true;
    }
}

// The key of an underconsistent cell does not depend on its rhs: in buckets it stays where it is.
FM_INLINE void set_rhs(struct dstar *d, const struct frame *frame, struct shape shape,
                       const struct spot *u, uint32_t rhs, fm_slab *slab)
{
    uint32_t g = u->node->g;
    bool stays = shape.order == FM_DSTAR_BUCKET && g < u->node->rhs && g < rhs;
    u->node->rhs = rhs;
    if (!stays) {
        update(d, frame, shape, u, slab);
    }
}

FM_INLINE uint32_t moves_from(const struct frame *frame, fm_cell cell)
{
    return frame->view.moves[fm_bitmap_window(&frame->blocked, cell)];
}

// fm_view_cost(), with what is constant known.
FM_INLINE uint32_t cost_of(const struct frame *frame, struct shape shape, fm_cell from, uint32_t i)
{
    return shape.weighted ? fm_view_cost(&frame->view, from, i, fm_cell_step(from, i))
                          : frame->view.step[shape.four ? 0 : i & 1];
}

// rhs from the definition. Without weights it looks at all neighbours and makes illegal ones
// infinite, instead of branching on what nobody can predict.
FM_INLINE uint32_t best_successor(const struct frame *frame, struct shape shape,
                                  const struct spot *u)
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
FM_INLINE void renew(struct dstar *d, const struct frame *frame, struct shape shape,
                     const struct spot *u, fm_slab *slab)
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
    struct spot next;
    // The first start that is not settled, what it held when it was last looked at, and its key
    // then: until it changes or the key is reached there is no need to look again.
    const fm_dstar_node *start;
    uint64_t start_then; // g and rhs
    uint64_t start_key;
    uint32_t expansions_at_start; // of the call
    uint32_t units;               // until the grant and the deadline are checked
};

// Queues the cell that was kept back after all.
FM_INLINE void put_next(struct dstar *d, struct loop *loop, fm_slab *slab)
{
    if (loop->next.page != NULL) {
        uint32_t ref = fm_node_ref(loop->next.page, loop->next.position);
        push(d, loop->next.node, ref, (uint32_t)loop->top.key, slab);
        loop->next.page = NULL;
    }
}

FM_INLINE void expand_over(struct dstar *d, const struct frame *frame, struct shape shape,
                           const struct spot *u, const fm_dstar_around *around, struct loop *loop,
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
        struct spot v = neighbour(d, u, i, slab);
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
        uint64_t key = key_of(frame, shape, v.cell, v.node);
        fm_dstar_open_remove(&d->open, &d->pages, shape.order, v.node, ref, slab);
        if (key == loop->top.key) {
            put_next(d, loop, slab);
            loop->next = v;
        } else {
            push(d, v.node, ref, (uint32_t)key, slab);
        }
    }
}

FM_INLINE void expand_under(struct dstar *d, const struct frame *frame, struct shape shape,
                            const struct spot *u, const fm_dstar_around *around, fm_slab *slab)
{
    uint32_t g = u->node->g;
    u->node->g = FM_COST_INFINITE;
    uint32_t moves = moves_from(frame, u->cell);
    if (!shape.weighted) {
        moves &= fm_dstar_reached(around, shape.four, g, frame->view.step);
    }
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        struct spot v = neighbour(d, u, i, slab);
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

// Whether a start's rhs is its true distance, given its key and the smallest key of the open list.
FM_INLINE bool is_settled(const fm_dstar_node *node, uint64_t key, uint64_t top)
{
    return top >= key && node->rhs <= node->g && node->rhs < FM_COST_INFINITE;
}

// Whether all starts are settled.
FM_INLINE bool all_settled(struct dstar *d, const struct frame *frame, struct shape shape,
                           uint64_t top)
{
    while (d->starts.settled_count < d->starts.count) {
        fm_cell start = fm_starts_next(&d->starts);
        const fm_dstar_node *node = fm_starts_next_node(&d->starts, &d->pages);
        if (start != d->goal &&
            (node == NULL || !is_settled(node, key_of(frame, shape, start, node), top))) {
            return false;
        }
        fm_starts_settle(&d->starts, d->starts.settled_count + 1);
    }
    return true;
}

FM_INLINE void watch_start(const struct dstar *d, const struct frame *frame, struct shape shape,
                           struct loop *loop)
{
    const fm_dstar_node *node = d->starts.node;
    loop->start = node == NULL ? &blank_in_buckets : node; // its page is not touched: ask always
    loop->start_then = fm_dstar_costs(loop->start);
    loop->start_key =
        node == NULL ? 0 : key_of(frame, shape, fm_starts_next(&d->starts), loop->start);
}

FM_INLINE bool start_may_be_settled(const struct loop *loop)
{
    return loop->top.key >= loop->start_key || fm_dstar_costs(loop->start) != loop->start_then;
}

// For the open list: the key that an entry ought to have.
struct renewal {
    const struct dstar *d;
    const struct frame *frame;
    struct shape shape;
};

FM_INLINE uint32_t renewed_key(const void *context, uint32_t ref)
{
    const struct renewal *renewal = context;
    struct spot u = spot_of(renewal->d, ref);
    return (uint32_t)key_of(renewal->frame, renewal->shape, u.cell, u.node);
}

// Renews keys at the top that were computed before the agents moved. Returns false when there was
// nothing to renew: the top's key holds.
FM_INLINE bool renew_keys(struct dstar *d, const struct frame *frame, struct shape shape,
                          struct loop *loop, const struct spot *u, fm_work *work)
{
    uint64_t key = key_of(frame, shape, u->cell, u->node);
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
FM_INLINE enum turn take_top(struct dstar *d, const struct frame *frame, struct shape shape,
                             struct loop *loop, struct spot *u, fm_work *work)
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

FM_INLINE void run(struct dstar *d, struct shape shape, fm_work *work)
{
    const struct frame frame = frame_of(d);
    struct loop loop = {.expansions_at_start = work->expansions};
    struct spot u;
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

typedef void run_fn(struct dstar *d, fm_work *work);
typedef void renew_fn(struct dstar *d, const struct frame *frame, const struct spot *u,
                      fm_slab *slab);

// So that no inner loop tests which shape it has.
#define SHAPE(run_name, renew_name, ...)                                                           \
    static void run_name(struct dstar *d, fm_work *work)                                           \
    {                                                                                              \
        run(d, (struct shape){__VA_ARGS__}, work);                                                 \
    }                                                                                              \
    static void renew_name(struct dstar *d, const struct frame *frame, const struct spot *u,       \
                           fm_slab *slab)                                                          \
    {                                                                                              \
        renew(d, frame, (struct shape){__VA_ARGS__}, u, slab);                                     \
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

static void renew_in_shape(struct dstar *d, const struct frame *frame, const struct spot *u,
                           fm_slab *slab)
{
    in_shape[d->shape.order][d->shape.four][d->shape.weighted].renew(d, frame, u, slab);
}

// The common change: a cell that was reached turns out to be blocked, and all weights are equal.
// Only cells whose rhs came through it, or past its corners, can be wrong. Returns how many were
// looked at.
static uint32_t repair_blocked(struct dstar *d, const struct frame *frame, const struct spot *b,
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
        struct spot v = spot_at(b->page->near[step.page], step.position);
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
static uint32_t repair_around(struct dstar *d, const struct frame *frame, const fm_change *change,
                              fm_page *page, fm_slab *slab)
{
    // Not even its page was touched. (What its node holds now would not show it: an earlier change
    // of the same batch may have taken its rhs away, while diagonals past its corners are still in
    // use.)
    if (page == NULL && (change->blocked || !change->cheaper)) {
        return 0;
    }
    if (change->blocked && !d->shape.weighted && change->cell != d->goal) {
        struct spot b = spot_at(page, fm_page_position(change->cell));
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
            struct spot u = spot_at(page, fm_page_position(cells[i]));
            renew_in_shape(d, frame, &u, slab);
        }
    }
    return count;
}

// ---- planner interface --------------------------------------------------------------------------

// Forgets the search, not the goal or the starts.
static void start_over(struct dstar *d, fm_slab *slab)
{
    fm_dstar_open_clear(&d->open, slab);
    fm_pages_clear(&d->pages, slab);
    fm_starts_settle(&d->starts, 0);
    d->top = 0;
    d->done = false;
    d->begun = false;
    d->exhausted = false;
}

static void begin(struct dstar *d, fm_slab *slab)
{
    fm_page *page = fm_pages_get(&d->pages, d->goal, slab);
    d->begun = true;
    fm_starts_begin(&d->starts);
    if (page == NULL) {
        d->exhausted = true;
        return;
    }
    struct spot goal = spot_at(page, fm_page_position(d->goal));
    const struct frame frame = frame_of(d);
    goal.node->rhs = 0;
    update(d, &frame, d->shape, &goal, slab);
}

// The agents have moved: keys are computed again from here on.
static void rebase(struct dstar *d, fm_slab *slab)
{
    if (!fm_starts_rebase(&d->starts, d->view)) {
        start_over(d, slab);
        begin(d, slab);
    }
}

// What depends on the view's costs, which change when a map gets its first weight.
static void set_scale(struct dstar *d)
{
    d->shape.four = d->view->connectivity == FM_CONNECT_4;
    d->shape.weighted = d->view->weights != NULL;
}

static fm_status dstar_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    struct dstar *d = self;
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
    struct dstar *d = self;
    fm_dstar_open_fini(&d->open, slab);
    fm_pages_fini(&d->pages, slab);
    fm_starts_fini(&d->starts);
}

static void dstar_forget(void *self, fm_slab *slab)
{
    struct dstar *d = self;
    set_scale(d);
    start_over(d, slab);
}

// Every distance is to the goal, so a new one leaves nothing to keep.
static void dstar_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    struct dstar *d = self;
    d->goal = goal;
    start_over(d, slab);
}

static void dstar_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    struct dstar *d = self;
    d->exhausted |= !fm_starts_set(&d->starts, cells, count);
    d->done = false;
}

// For debug builds: rhs is as defined, and exactly the inconsistent cells are queued.
__attribute__((unused)) static bool is_sound(const struct dstar *d)
{
    const struct frame frame = frame_of(d);
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            struct spot u = spot_at(d->pages.by_slot[slot], position);
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
    struct dstar *d = self;
    if (!d->begun || d->exhausted) {
        return;
    }
    const struct frame frame = frame_of(d);
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
    struct dstar *d = self;
    if (!d->begun && !d->exhausted) {
        begin(d, work->slab);
    }
    if (!d->done && !d->exhausted) {
        // Checks before rebasing: most moves along a path leave nothing to do, and km should stay
        // small.
        fm_dstar_top top;
        bool any = fm_dstar_open_top(&d->open, d->shape.order, &top);
        d->top = any ? top.key : UINT64_MAX;
        const struct frame frame = frame_of(d);
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

// The answer at a start that is not the goal. `page` is the start's, NULL when it is not touched.
static fm_plan_state state_on(const struct dstar *d, fm_cell start, const fm_page *page)
{
    if (d->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    const fm_dstar_node *node =
        page == NULL ? NULL : fm_dstar_node_at(page, fm_page_position(start));
    if (d->done) {
        return node != NULL && node->rhs < FM_COST_INFINITE ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
    }
    const struct frame frame = frame_of(d);
    bool settled = node != NULL && is_settled(node, key_of(&frame, d->shape, start, node), d->top);
    return settled ? FM_PLAN_FOUND : FM_PLAN_RUNNING;
}

static fm_plan_state dstar_state_at(const void *self, fm_cell start)
{
    const struct dstar *d = self;
    return start == d->goal ? FM_PLAN_FOUND : state_on(d, start, fm_pages_find(&d->pages, start));
}

static fm_field field_of(const struct dstar *d)
{
    return (fm_field){.view = d->view, .pages = &d->pages, .goal = d->goal};
}

static fm_plan_state dstar_answer(const void *self, fm_cell start, fm_cell *next)
{
    const struct dstar *d = self;
    const fm_field field = field_of(d);
    if (start == d->goal) {
        *next = start;
        return FM_PLAN_FOUND;
    }
    const fm_page *page = fm_pages_find(&d->pages, start);
    fm_plan_state state = state_on(d, start, page);
    *next =
        state == FM_PLAN_FOUND ? fm_field_step_from(&field, page, start, d->step) : FM_CELL_NONE;
    return state;
}

static fm_cell dstar_next_step(const void *self, fm_cell start)
{
    fm_cell next;
    dstar_answer(self, start, &next);
    return next;
}

// dstar_distances() of a cell where no page was taken.
static void distances_from_outside(const struct dstar *d, fm_cell start, uint32_t moves,
                                   uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    distances[FM_DIRECTION_COUNT] = FM_COST_INFINITE;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_cell next = fm_cell_step(start, i);
        uint32_t behind = FM_COST_INFINITE + fm_view_cost(d->view, start, i, next);
        const fm_dstar_node *node = fm_pages_node(&d->pages, next);
        distances[i] = node != NULL && node->rhs < behind ? node->rhs : behind;
    }
}

// A neighbour that was not looked at lies behind the agent: the path from there leads back.
static void dstar_distances(const void *self, fm_cell start, uint32_t moves,
                            uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    const struct dstar *d = self;
    const fm_page *page = fm_pages_find(&d->pages, start);
    if (page == NULL) {
        distances_from_outside(d, start, moves, distances);
        return;
    }
    uint32_t position = fm_page_position(start);
    uint32_t own = fm_dstar_node_at(page, position)->rhs;
    distances[FM_DIRECTION_COUNT] = own;
    for (; moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[position][i];
        uint32_t rhs = fm_dstar_node_at(page->near[step.page], step.position)->rhs;
        uint32_t behind = own + fm_view_cost(d->view, start, i, fm_cell_step(start, i));
        distances[i] = rhs < behind ? rhs : behind;
    }
}

static uint32_t dstar_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct dstar *d = self;
    const fm_field field = field_of(d);
    return dstar_state_at(d, start) == FM_PLAN_FOUND
               ? fm_field_path(&field, start, d->step, cells, capacity)
               : 0;
}

static void dstar_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct dstar *d = self;
    const fm_field field = field_of(d);
    const struct frame frame = frame_of(d);
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            const struct spot u = spot_at(d->pages.by_slot[slot], position);
            if (u.node->g == FM_COST_INFINITE && u.node->rhs == FM_COST_INFINITE) {
                continue;
            }
            bool open = u.node->g != u.node->rhs;
            // Out of memory: a cell that should be queued is not.
            bool queued = open && fm_dstar_is_queued(d->shape.order, u.node);
            fm_inspection inspection = {
                .cell = u.cell,
                .open = open,
                .closed = !open,
                .g = u.node->g,
                .h = fm_box_distance(d->view, d->shape.four, &d->starts.box, u.cell),
                .rhs = u.node->rhs,
                .key = queued ? key_of(&frame, d->shape, u.cell, u.node) : 0,
                .parent =
                    u.cell == d->goal ? FM_CELL_NONE : fm_field_step(&field, u.cell, d->step)};
            visit(&inspection, context);
        }
    }
}

static size_t dstar_bytes(const void *self)
{
    const struct dstar *d = self;
    return sizeof *d + fm_pages_bytes(&d->pages) + fm_dstar_open_bytes(&d->open) +
           fm_starts_bytes(&d->starts);
}

const fm_planner_ops fm_dstar_lite = {
    .name = "dstar-lite",
    .summary = "incremental search from the goal; shared by agents with the same goal",
    .size = sizeof(struct dstar),
    .shared = true,
    .init = dstar_init,
    .fini = dstar_fini,
    .set_goal = dstar_set_goal,
    .set_starts = dstar_set_starts,
    .knowledge_changed = dstar_knowledge_changed,
    .forget = dstar_forget,
    .advance = dstar_advance,
    .state_at = dstar_state_at,
    .next_step = dstar_next_step,
    .answer = dstar_answer,
    .distances = dstar_distances,
    .exact_distances = true,
    .path = dstar_path,
    .inspect = dstar_inspect,
    .bytes = dstar_bytes,
};
