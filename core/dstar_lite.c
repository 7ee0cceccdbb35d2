// core/dstar_lite.c: D* Lite, an incremental search from the goal that survives both the agent's
// moves and the map's changes.
//
// Every touched cell keeps two estimates of its distance to the goal: g, and rhs, which looks one
// step ahead: rhs(u) = min over moves of c(u, v) + g(v). Where the two agree the cell is
// consistent; the open list holds exactly the others, and expanding one makes it consistent again.
// A changed cell only makes the rhs of its surroundings wrong, so a repair costs what the change
// affects, not the map.
//
// Keys are f = min(g, rhs) + h + km, where h is the distance to the agents. When the agents move, h
// shrinks; instead of touching every key, km grows by as much (`rebase`), and a key that turns out
// to be too small is renewed when it comes up.
//
// One search serves many agents: h is then the distance to the box around them, and the search goes
// on until the last of them is settled. With one agent the box is its cell, and this is the plain
// algorithm.
//
// Open list: buckets on 2f + (over- or consistent ? 1 : 0), newest first; or a binary heap with
// ties to the smaller or larger g. `inspect` shows all of it.
//
// Sources: S. Koenig, M. Likhachev, "D* Lite", AAAI 2002; "Fast Replanning for Navigation in
// Unknown Terrain", IEEE TRO 2005 (the optimized version, which updates rhs incrementally); the
// bucket key and the larger-g triple follow the conditions of the authors' later work on
// tie-breaking.

#include "core/planner.h"

#include "core/box.h"
#include "core/bucket_queue.h"
#include "core/heap.h"
#include "core/pages.h"

struct node {
    uint32_t g;
    uint32_t rhs;
    uint32_t place; // buckets: the key it is queued under, or FM_BUCKET_KEY_NONE; heap: see heap.h
};

// How the open list orders cells. A constant wherever it is passed, so each has loops of its own.
enum order {
    ORDER_BUCKET,
    ORDER_HEAP_SMALLER_G,
    ORDER_HEAP_LARGER_G,
};

// What the innermost loop is compiled for: constants wherever it is passed.
struct shape {
    enum order order;
    bool four; // 4 neighbours
    bool weighted;
};

struct dstar {
    const fm_view *view;
    const fm_memory *memory;
    struct shape shape;
    uint32_t key_shift; // 1 where costs may be odd: makes room for the last bit of a bucket's key
    fm_cell goal;
    fm_step_choice step;

    fm_pages pages;
    fm_bucket_queue buckets;
    fm_heap heap;
    uint32_t queued; // cells in `buckets`, leftovers not counted

    uint32_t km;
    fm_box box;      // around the agents when keys were last rebased
    fm_box next_box; // around the agents now
    fm_cell *starts;
    uint32_t start_count, start_capacity;
    uint32_t settled_count;    // the first so many starts are known to be settled
    struct node *start_node;   // of starts[settled_count], NULL while its page is not touched
    uint32_t start_node_pages; // page count when that was looked up
    struct node start_then;    // what it held when start_key was computed
    uint64_t start_key;

    uint64_t top;   // nothing on the open list has a smaller key
    bool done;      // every start is settled
    bool begun;     // the goal has been queued
    bool exhausted; // memory ran out
};

static const struct node blank_in_buckets = {FM_COST_INFINITE, FM_COST_INFINITE,
                                             FM_BUCKET_KEY_NONE};
static const struct node blank_in_heap = {FM_COST_INFINITE, FM_COST_INFINITE, 0};

// What the loops read over and over. It is copied once per call: were it read from the planner,
// every store to a node would make the compiler read it again.
struct frame {
    fm_view view;
    fm_bitmap blocked;
    fm_box box;
    uint32_t km;
    uint32_t key_shift;
};

static inline struct frame frame_of(const struct dstar *d)
{
    return (struct frame){.view = *d->view,
                          .blocked = *d->view->blocked,
                          .box = d->box,
                          .km = d->km,
                          .key_shift = d->key_shift};
}

FM_INLINE uint32_t moves_from(const struct frame *frame, fm_cell cell)
{
    return frame->view.moves[fm_bitmap_window(&frame->blocked, cell)];
}

// A cell with everything needed to reach its neighbours.
struct spot {
    fm_page *page;
    uint32_t position;
    fm_cell cell;
    struct node *node;
};

FM_INLINE struct node *node_at(const fm_page *page, uint32_t position)
{
    return (struct node *)(void *)page->nodes + position;
}

FM_INLINE struct spot spot_at(fm_page *page, uint32_t position)
{
    return (struct spot){page, position, fm_page_cell(page, position), node_at(page, position)};
}

static struct node *find_node(const struct dstar *d, fm_cell cell)
{
    fm_page *page = fm_pages_find(&d->pages, cell);
    return page == NULL ? NULL : node_at(page, fm_page_position(cell));
}

// The neighbour in direction i; a page is taken for it if need be. node is NULL when memory is out.
FM_INLINE struct spot neighbour(struct dstar *d, const struct spot *u, uint32_t i, fm_slab *slab)
{
    fm_page_step step = fm_page_steps[u->position][i];
    fm_page *page = u->page->near[step.page];
    if (__builtin_expect(page == NULL, 0)) {
        page = fm_pages_get_near(&d->pages, u->page, step.page, slab);
        if (page == NULL) {
            d->exhausted = true;
            return (struct spot){0};
        }
    }
    return (struct spot){page, step.position, fm_cell_step(u->cell, i),
                         node_at(page, step.position)};
}

// ---- keys
// ----------------------------------------------------------------------------------------

FM_INLINE uint64_t key_of(const struct frame *frame, struct shape shape, fm_cell cell,
                          const struct node *node)
{
    bool under = node->g < node->rhs;
    uint32_t least = under ? node->g : node->rhs;
    uint32_t f = least + fm_box_distance(&frame->view, shape.four, &frame->box, cell) + frame->km;
    switch (shape.order) {
    case ORDER_BUCKET:
        return f << frame->key_shift | (uint32_t)!under;
    case ORDER_HEAP_SMALLER_G:
        return (uint64_t)f << 32 | least;
    case ORDER_HEAP_LARGER_G:
        return (uint64_t)f << 32 | (under ? node->g : 0xffffffffu - node->rhs);
    }
    FM_UNREACHABLE();
}

// fm_view_cost(), with what is constant known.
FM_INLINE uint32_t cost_of(const fm_view *view, struct shape shape, fm_cell from, uint32_t i,
                           fm_cell to)
{
    return shape.weighted ? fm_view_cost(view, from, i, to) : view->step[shape.four ? 0 : i & 1];
}

// ---- open list
// -----------------------------------------------------------------------------------

static inline uint32_t *heap_place(const void *context, uint32_t ref)
{
    const fm_pages *pages = context;
    return &node_at(fm_node_page(pages, ref), fm_node_position(ref))->place;
}

// Puts an inconsistent cell where its key says, takes a consistent one out.
FM_INLINE void update(struct dstar *d, const struct frame *frame, struct shape shape,
                      const struct spot *u, fm_slab *slab)
{
    struct node *node = u->node;
    uint32_t ref = fm_node_ref(u->page, u->position);
    if (node->g != node->rhs) {
        uint64_t key = key_of(frame, shape, u->cell, node);
        if (shape.order == ORDER_BUCKET) {
            if (node->place != (uint32_t)key) {
                d->queued += node->place == FM_BUCKET_KEY_NONE;
                node->place = (uint32_t)key;
                d->exhausted |= !fm_bucket_queue_push(&d->buckets, (uint32_t)key, ref, slab);
            }
        } else {
            d->exhausted |= !fm_heap_set(&d->heap, key, ref, heap_place, &d->pages);
        }
    } else if (shape.order == ORDER_BUCKET) {
        d->queued -= node->place != FM_BUCKET_KEY_NONE;
        node->place = FM_BUCKET_KEY_NONE;
    } else {
        fm_heap_remove(&d->heap, ref, heap_place, &d->pages);
    }
}

// The cell at the top of the open list.
struct top {
    uint64_t key;
    uint32_t ref;
    fm_bucket_top bucket;
};

// Finds the cell with the smallest key. False when the open list is empty.
FM_INLINE bool top_of(struct dstar *d, struct shape shape, struct top *top, fm_slab *slab)
{
    if (shape.order != ORDER_BUCKET) {
        if (d->heap.count == 0) {
            return false;
        }
        top->key = d->heap.entries[0].key;
        top->ref = d->heap.entries[0].ref;
        return true;
    }
    for (;;) {
        top->bucket = fm_bucket_queue_peek(&d->buckets);
        top->key = top->bucket.key;
        top->ref = top->bucket.ref;
        if (top->bucket.key == FM_BUCKET_KEY_NONE) {
            return false;
        }
        if (node_at(fm_node_page(&d->pages, top->ref), fm_node_position(top->ref))->place ==
            top->bucket.key) {
            return true;
        }
        fm_bucket_queue_take(&d->buckets, &top->bucket, slab); // a leftover
    }
}

static bool is_queued_under(const void *context, uint32_t key, uint32_t ref)
{
    const struct dstar *d = context;
    return node_at(fm_node_page(&d->pages, ref), fm_node_position(ref))->place == key;
}

// Leftovers cost memory. Two of them for each queued cell is the most we keep.
static void sweep_leftovers(struct dstar *d, fm_slab *slab)
{
    if (d->shape.order == ORDER_BUCKET && d->buckets.live > 3 * d->queued + 256) {
        fm_bucket_queue_sweep(&d->buckets, slab, is_queued_under, d);
    }
}

// ---- the search
// ----------------------------------------------------------------------------------

// rhs from the definition. Pages that were never touched hold nothing but infinity. Stops looking
// once a cost as small as `enough` is found: pass a lower bound of the answer if there is one, else
// 0.
FM_INLINE uint32_t best_successor(const struct frame *frame, struct shape shape,
                                  const struct spot *u, uint32_t enough)
{
    uint32_t best = FM_COST_INFINITE;
    for (uint32_t moves = moves_from(frame, u->cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[u->position][i];
        const fm_page *page = u->page->near[step.page];
        if (page == NULL) {
            continue;
        }
        uint32_t cost = cost_of(&frame->view, shape, u->cell, i, fm_cell_step(u->cell, i)) +
                        node_at(page, step.position)->g;
        best = cost < best ? cost : best;
        if (best <= enough) {
            return best;
        }
    }
    return best;
}

FM_INLINE void expand_over(struct dstar *d, const struct frame *frame, struct shape shape,
                           const struct spot *u, fm_slab *slab)
{
    uint32_t g = u->node->g = u->node->rhs;
    if (shape.order != ORDER_BUCKET) { // a bucket's entry has been taken out already
        update(d, frame, shape, u, slab);
    }
    for (uint32_t moves = moves_from(frame, u->cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        struct spot v = neighbour(d, u, i, slab);
        if (v.node == NULL) {
            return;
        }
        uint32_t cost = cost_of(&frame->view, shape, u->cell, i, v.cell) + g;
        if (v.node->rhs > cost) {
            v.node->rhs = cost;
            update(d, frame, shape, &v, slab);
        }
    }
}

FM_INLINE void expand_under(struct dstar *d, const struct frame *frame, struct shape shape,
                            const struct spot *u, fm_slab *slab)
{
    uint32_t g = u->node->g;
    u->node->g = FM_COST_INFINITE;
    for (uint32_t moves = moves_from(frame, u->cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        struct spot v = neighbour(d, u, i, slab);
        if (v.node == NULL) {
            return;
        }
        uint32_t rhs = cost_of(&frame->view, shape, u->cell, i, v.cell) + g;
        if (v.node->rhs == rhs && v.cell != d->goal) {
            // Often another neighbour is as good; none is better.
            v.node->rhs = best_successor(frame, shape, &v, rhs);
            if (v.node->rhs != rhs) {
                update(d, frame, shape, &v, slab);
            }
        }
    }
    if (u->cell != d->goal && u->node->rhs == g) {
        u->node->rhs = best_successor(frame, shape, u, g);
    }
    update(d, frame, shape, u, slab);
}

// Whether a start's rhs is its true distance, given its key and the smallest key of the open list.
FM_INLINE bool is_settled(const struct node *node, uint64_t key, uint64_t top)
{
    return top >= key && node->rhs <= node->g && node->rhs < FM_COST_INFINITE;
}

static void begin_settling(struct dstar *d, uint32_t settled_count)
{
    d->settled_count = settled_count;
    d->start_node = NULL;
    d->start_node_pages = 0;
}

// Whether all starts are settled. Settled ones stay so until the map changes, so it looks at the
// first other one only, and computes its key again only when the cell has changed.
FM_INLINE bool all_settled(struct dstar *d, const struct frame *frame, struct shape shape,
                           uint64_t top)
{
    while (d->settled_count < d->start_count) {
        fm_cell start = d->starts[d->settled_count];
        if (start == d->goal) {
            begin_settling(d, d->settled_count + 1);
            continue;
        }
        if (d->start_node == NULL) {
            if (d->start_node_pages == d->pages.page_count) {
                return false;
            }
            d->start_node_pages = d->pages.page_count;
            d->start_node = find_node(d, start);
            if (d->start_node == NULL) {
                return false;
            }
            d->start_then = (struct node){FM_COST_INFINITE, FM_COST_INFINITE, 0};
            d->start_key = UINT64_MAX;
        }
        const struct node *node = d->start_node;
        if (node->g != d->start_then.g || node->rhs != d->start_then.rhs) {
            d->start_then = *node;
            d->start_key = key_of(frame, shape, start, node);
        }
        if (!is_settled(node, d->start_key, top)) {
            return false;
        }
        begin_settling(d, d->settled_count + 1);
    }
    return true;
}

// Tells `work` what was done since it was last told, and returns whether to stop. *pause receives
// the number of units until it has to be asked again.
static bool must_stop(fm_work *work, uint32_t expansions_at_start, uint32_t *pause)
{
    if (fm_work_must_stop(work, expansions_at_start)) {
        return true;
    }
    uint32_t done = work->expansions - expansions_at_start;
    uint32_t look_in = FM_DEADLINE_STRIDE - (done + 1) % FM_DEADLINE_STRIDE;
    uint32_t left = work->expansions_max - done;
    *pause = left < look_in ? left : look_in;
    return false;
}

FM_INLINE void run(struct dstar *d, struct shape shape, fm_work *work)
{
    const struct frame frame = frame_of(d);
    const uint32_t expansions_at_start = work->expansions;
    uint32_t pause = 0; // units until the grant and the deadline are looked at
    // The start that is not settled yet, what it held when its key was computed, and that key.
    const struct node *start = NULL;
    struct node then = {0};
    uint64_t start_key = 0;
    struct top top;
    while (!d->exhausted) {
        if (!top_of(d, shape, &top, work->slab)) {
            d->top = UINT64_MAX;
            d->done = true;
            return;
        }
        if (start == NULL || top.key >= start_key || start->g != then.g || start->rhs != then.rhs) {
            d->top = top.key;
            d->done = all_settled(d, &frame, shape, top.key);
            if (d->done) {
                return;
            }
            start = d->start_node;
            then = d->start_then;
            start_key = d->start_key;
        }
        if (pause == 0 && must_stop(work, expansions_at_start, &pause)) {
            d->top = top.key;
            return;
        }
        pause -= 1;
        work->expansions += 1;
        struct spot u = spot_at(fm_node_page(&d->pages, top.ref), fm_node_position(top.ref));
        uint64_t key = key_of(&frame, shape, u.cell, u.node);
        if (shape.order == ORDER_BUCKET) {
            fm_bucket_queue_take(&d->buckets, &top.bucket, work->slab);
        }
        if (key > top.key) { // the agents have moved since it was queued
            if (shape.order == ORDER_BUCKET) {
                u.node->place = (uint32_t)key;
                d->exhausted |=
                    !fm_bucket_queue_push(&d->buckets, (uint32_t)key, top.ref, work->slab);
            } else {
                update(d, &frame, shape, &u, work->slab);
            }
            work->secondary += 1;
            continue;
        }
        if (shape.order == ORDER_BUCKET) {
            u.node->place = FM_BUCKET_KEY_NONE;
            d->queued -= 1;
        }
        if (u.node->g > u.node->rhs) {
            expand_over(d, &frame, shape, &u, work->slab);
        } else {
            expand_under(d, &frame, shape, &u, work->slab);
        }
    }
}

// One loop for each shape, so that none of them asks in its innermost part what it is.
#define RUN(name, order_value, four_value, weighted_value)                                         \
    static void name(struct dstar *d, fm_work *work)                                               \
    {                                                                                              \
        run(d, (struct shape){order_value, four_value, weighted_value}, work);                     \
    }
RUN(run_bucket_8, ORDER_BUCKET, false, false)
RUN(run_bucket_8_weighted, ORDER_BUCKET, false, true)
RUN(run_bucket_4, ORDER_BUCKET, true, false)
RUN(run_bucket_4_weighted, ORDER_BUCKET, true, true)
RUN(run_smaller_g_8, ORDER_HEAP_SMALLER_G, false, false)
RUN(run_smaller_g_8_weighted, ORDER_HEAP_SMALLER_G, false, true)
RUN(run_smaller_g_4, ORDER_HEAP_SMALLER_G, true, false)
RUN(run_smaller_g_4_weighted, ORDER_HEAP_SMALLER_G, true, true)
RUN(run_larger_g_8, ORDER_HEAP_LARGER_G, false, false)
RUN(run_larger_g_8_weighted, ORDER_HEAP_LARGER_G, false, true)
RUN(run_larger_g_4, ORDER_HEAP_LARGER_G, true, false)
RUN(run_larger_g_4_weighted, ORDER_HEAP_LARGER_G, true, true)
#undef RUN

typedef void run_fn(struct dstar *d, fm_work *work);

// By order, four and weighted.
static run_fn *const runs[3][2][2] = {
    [ORDER_BUCKET] = {{run_bucket_8, run_bucket_8_weighted}, {run_bucket_4, run_bucket_4_weighted}},
    [ORDER_HEAP_SMALLER_G] = {{run_smaller_g_8, run_smaller_g_8_weighted},
                              {run_smaller_g_4, run_smaller_g_4_weighted}},
    [ORDER_HEAP_LARGER_G] = {{run_larger_g_8, run_larger_g_8_weighted},
                             {run_larger_g_4, run_larger_g_4_weighted}},
};

static void update_in_any_shape(struct dstar *d, const struct spot *u, fm_slab *slab)
{
    const struct frame frame = frame_of(d);
    update(d, &frame, d->shape, u, slab);
}

static uint32_t best_successor_in_any_shape(const struct dstar *d, const struct spot *u)
{
    const struct frame frame = frame_of(d);
    return best_successor(&frame, d->shape, u, 0);
}

// Forgets the search, not the goal or the starts.
static void start_over(struct dstar *d, fm_slab *slab)
{
    fm_bucket_queue_clear(&d->buckets, slab);
    d->heap.count = 0;
    fm_pages_clear(&d->pages, slab);
    d->queued = 0;
    d->km = 0;
    d->top = 0;
    d->done = false;
    d->begun = false;
    d->exhausted = false;
    begin_settling(d, 0);
}

static void begin(struct dstar *d, fm_slab *slab)
{
    fm_page *page = fm_pages_get(&d->pages, d->goal, slab);
    d->begun = true;
    d->box = d->next_box;
    if (page == NULL) {
        d->exhausted = true;
        return;
    }
    struct spot goal = spot_at(page, fm_page_position(d->goal));
    goal.node->rhs = 0;
    update_in_any_shape(d, &goal, slab);
}

// Keys were computed for the old box. The heuristic to the new one is smaller by at most the
// distance between the boxes, so adding that to km keeps every stored key a lower bound.
static void rebase(struct dstar *d, fm_slab *slab)
{
    d->km += fm_box_shift(d->view, &d->box, &d->next_box);
    d->box = d->next_box;
    begin_settling(d, d->settled_count);
    if (d->km > FM_COST_INFINITE / 4) { // keys would outgrow 32 bits; once in a very long life
        start_over(d, slab);
        begin(d, slab);
    }
}

// ---- planner interface
// ---------------------------------------------------------------------------

// What depends on the view's costs, which change when a map gets its first weight.
static void set_scale(struct dstar *d)
{
    d->shape.four = d->view->connectivity == FM_CONNECT_4;
    d->shape.weighted = d->view->weights != NULL;
    // Weights make odd costs out of even steps: half a step times an odd sum.
    d->key_shift = d->shape.weighted || ((d->view->step[0] | d->view->step[1]) & 1);
}

static fm_status dstar_init(void *self, const fm_view *view, const fm_planner_options *options,
                            const fm_memory *memory, fm_cell goal)
{
    struct dstar *d = self;
    bool heap = options->queue == FM_QUEUE_HEAP;
    d->view = view;
    d->memory = memory;
    d->goal = goal;
    d->step = options->step;
    d->shape.order = !heap                                ? ORDER_BUCKET
                     : options->ties == FM_TIES_SMALLER_G ? ORDER_HEAP_SMALLER_G
                                                          : ORDER_HEAP_LARGER_G;
    set_scale(d);
    fm_pages_init(&d->pages, heap ? &blank_in_heap : &blank_in_buckets, sizeof(struct node),
                  memory);
    fm_bucket_queue_init(&d->buckets, memory);
    fm_heap_init(&d->heap, memory);
    return FM_OK;
}

static void dstar_fini(void *self, fm_slab *slab)
{
    struct dstar *d = self;
    fm_bucket_queue_fini(&d->buckets, slab);
    fm_heap_fini(&d->heap);
    fm_pages_fini(&d->pages, slab);
    fm_memory_release(d->memory, d->starts, d->start_capacity * sizeof *d->starts);
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
    if (count > d->start_capacity) {
        uint32_t capacity = count <= 1 ? 1 : count + count / 2;
        fm_cell *starts = fm_memory_allocate(d->memory, capacity * sizeof *starts);
        if (starts == NULL) {
            d->exhausted = true;
            return;
        }
        fm_memory_release(d->memory, d->starts, d->start_capacity * sizeof *d->starts);
        d->starts = starts;
        d->start_capacity = capacity;
    }
    memcpy(d->starts, cells, count * sizeof *cells);
    d->start_count = count;
    begin_settling(d, 0);
    d->done = false;
    d->next_box = fm_box_around(cells, count);
}

// Recomputes the rhs of a cell from its definition.
static void repair(struct dstar *d, fm_page *page, fm_cell cell, fm_slab *slab)
{
    struct spot u = spot_at(page, fm_page_position(cell));
    uint32_t rhs = best_successor_in_any_shape(d, &u);
    if (rhs != u.node->rhs) {
        u.node->rhs = rhs;
        update_in_any_shape(d, &u, slab);
        d->done = false;
    }
}

// The common change: a cell that was reached turns out to be blocked, and all weights are equal.
// Only cells whose rhs came through it, or past its corners, can be wrong.
static void repair_blocked(struct dstar *d, fm_cell b, struct node *node, fm_slab *slab)
{
    uint32_t g = node->g;
    fm_page *page = fm_pages_find(&d->pages, b);
    repair(d, page, b, slab);
    fm_cell around[FM_DIRECTION_COUNT];
    fm_page *pages[FM_DIRECTION_COUNT];
    uint32_t stride = d->shape.four ? 2 : 1;
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i += stride) {
        int64_t x = (int64_t)fm_cell_x(b) + fm_direction_dx[i];
        int64_t y = (int64_t)fm_cell_y(b) + fm_direction_dy[i];
        bool inside = x >= 0 && y >= 0 && x < d->view->width && y < d->view->height;
        around[i] = inside ? fm_cell_step(b, i) : FM_CELL_NONE;
        pages[i] = inside ? page->near[fm_page_steps[fm_page_position(b)][i].page] : NULL;
    }
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i += stride) {
        if (pages[i] == NULL || around[i] == d->goal) {
            continue;
        }
        uint32_t rhs = node_at(pages[i], fm_page_position(around[i]))->rhs;
        bool through = rhs == d->view->step[i & 1] + g;
        for (uint32_t turn = 2; !d->shape.four && !(i & 1) && turn <= 6; turn += 4) {
            uint32_t beside = (i + turn) % FM_DIRECTION_COUNT; // the step past a corner of b
            through =
                through || (pages[beside] != NULL &&
                            rhs == d->view->step[1] +
                                       node_at(pages[beside], fm_page_position(around[beside]))->g);
        }
        if (through) {
            repair(d, pages[i], around[i], slab);
        }
    }
}

// All edges that a change of cell b can touch join two of the nine cells around it: those incident
// to b, and the diagonals that squeeze past its corners. So it is enough to renew the rhs of these
// nine. What only became dearer cannot matter where no search has been.
static void repair_around(struct dstar *d, const fm_change *change, fm_slab *slab)
{
    struct node *node = find_node(d, change->cell);
    // Not even its page was touched. (What its node holds now would not tell: an earlier change of
    // the same batch may have taken its rhs away, while diagonals past its corners are still in
    // use.)
    if (node == NULL && (change->blocked || !change->cheaper)) {
        return;
    }
    if (change->blocked && !d->shape.weighted && change->cell != d->goal) {
        repair_blocked(d, change->cell, node, slab);
        return;
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
    // A cell next to what was searched may have become reachable, so it needs a page by now.
    for (uint32_t i = 0; touched > 0 && i < count; i++) {
        fm_page *page = change->cheaper ? fm_pages_get(&d->pages, cells[i], slab)
                                        : fm_pages_find(&d->pages, cells[i]);
        d->exhausted |= page == NULL && change->cheaper;
        if (page != NULL && cells[i] != d->goal) {
            repair(d, page, cells[i], slab);
        }
    }
}

// For debug builds: rhs is what its definition says, and exactly the inconsistent cells are queued.
__attribute__((unused)) static bool is_sound(const struct dstar *d)
{
    uint32_t none = ((const struct node *)d->pages.blank)->place;
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            struct spot u = spot_at(d->pages.by_slot[slot], position);
            bool inside = fm_cell_x(u.cell) < d->view->width && fm_cell_y(u.cell) < d->view->height;
            uint32_t rhs =
                u.cell == d->goal || !inside ? u.node->rhs : best_successor_in_any_shape(d, &u);
            bool queued = u.node->place != none;
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
    for (uint32_t i = 0; i < count; i++) {
        repair_around(d, &changes[i], work->slab);
    }
    FM_VALIDATE(d->exhausted || is_sound(d));
    if (!d->done) {
        d->top = 0;
        begin_settling(d, 0);
    }
}

static fm_plan_state dstar_advance(void *self, fm_work *work)
{
    struct dstar *d = self;
    if (!d->begun && !d->exhausted) {
        begin(d, work->slab);
    }
    if (!d->done && !d->exhausted) {
        struct top top;
        // Look before rebasing: most moves along a path leave nothing to do, and km is better kept
        // small.
        d->top = top_of(d, d->shape, &top, work->slab) ? top.key : UINT64_MAX;
        const struct frame frame = frame_of(d);
        d->done = all_settled(d, &frame, d->shape, d->top);
    }
    if (!d->done && !d->exhausted) {
        if (!fm_box_equals(&d->box, &d->next_box)) {
            rebase(d, work->slab);
        }
        runs[d->shape.order][d->shape.four][d->shape.weighted](d, work);
        sweep_leftovers(d, work->slab);
        FM_VALIDATE(d->exhausted || is_sound(d));
    }
    if (d->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    if (!d->done) {
        return FM_PLAN_RUNNING;
    }
    return d->settled_count == d->start_count ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
}

static fm_plan_state dstar_state_at(const void *self, fm_cell start)
{
    const struct dstar *d = self;
    if (start == d->goal) {
        return FM_PLAN_FOUND;
    }
    if (d->exhausted) {
        return FM_PLAN_EXHAUSTED;
    }
    const struct node *node = find_node(d, start);
    if (d->done) {
        return node != NULL && node->rhs < FM_COST_INFINITE ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
    }
    const struct frame frame = frame_of(d);
    bool settled = node != NULL && is_settled(node, key_of(&frame, d->shape, start, node), d->top);
    return settled ? FM_PLAN_FOUND : FM_PLAN_RUNNING;
}

// The best neighbour; among equals the one nearest to the goal as the crow flies, which wastes
// fewer moves than the first in some fixed order (3 % on game maps, 7 % in mazes). Published
// experiments took the first: FM_STEP_FIRST.
static fm_cell best_step(const struct dstar *d, fm_cell cell)
{
    fm_cell best = FM_CELL_NONE;
    uint32_t best_cost = FM_COST_INFINITE, best_square = 0;
    const fm_page *from = fm_pages_find(&d->pages, cell);
    if (from == NULL) {
        return FM_CELL_NONE;
    }
    for (uint32_t moves = fm_view_moves(d->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[fm_page_position(cell)][i];
        const fm_page *page = from->near[step.page];
        if (page == NULL || node_at(page, step.position)->g >= FM_COST_INFINITE) {
            continue;
        }
        fm_cell next = fm_cell_step(cell, i);
        uint32_t cost = fm_view_cost(d->view, cell, i, next) + node_at(page, step.position)->g;
        uint32_t dx = fm_cell_dx(next, d->goal), dy = fm_cell_dy(next, d->goal);
        uint32_t square = dx * dx + dy * dy;
        if (cost < best_cost ||
            (cost == best_cost && square < best_square && d->step == FM_STEP_NEAREST)) {
            best = next;
            best_cost = cost;
            best_square = square;
        }
    }
    return best;
}

static fm_cell dstar_next_step(const void *self, fm_cell start)
{
    const struct dstar *d = self;
    if (start == d->goal) {
        return start;
    }
    return dstar_state_at(d, start) == FM_PLAN_FOUND ? best_step(d, start) : FM_CELL_NONE;
}

static uint32_t dstar_path(const void *self, fm_cell start, fm_cell *cells, uint32_t capacity)
{
    const struct dstar *d = self;
    if (start != d->goal && dstar_state_at(d, start) != FM_PLAN_FOUND) {
        return 0;
    }
    uint32_t length = 0;
    for (fm_cell cell = start; cell != FM_CELL_NONE; cell = best_step(d, cell)) {
        if (length < capacity) {
            cells[length] = cell;
        }
        length += 1;
        if (cell == d->goal) {
            return length;
        }
    }
    return 0;
}

static void dstar_inspect(const void *self, fm_inspect_fn *visit, void *context)
{
    const struct dstar *d = self;
    for (uint32_t slot = 0; slot < d->pages.page_count; slot++) {
        const fm_page *page = d->pages.by_slot[slot];
        for (uint32_t position = 0; position < FM_PAGE_CELLS; position++) {
            const struct node *node = node_at(page, position);
            if (node->g == FM_COST_INFINITE && node->rhs == FM_COST_INFINITE) {
                continue;
            }
            bool open = node->g != node->rhs;
            fm_cell cell = fm_page_cell(page, position);
            // A cell that is not queued though it should be: memory ran out before it could be.
            bool queued = open && node->place != ((const struct node *)d->pages.blank)->place;
            uint64_t key = !queued                          ? 0
                           : d->shape.order == ORDER_BUCKET ? node->place
                                                            : d->heap.entries[node->place - 1].key;
            fm_inspection inspection = {.cell = cell,
                                        .open = open,
                                        .closed = !open,
                                        .g = node->g,
                                        .h = fm_box_distance(d->view, d->shape.four, &d->box, cell),
                                        .rhs = node->rhs,
                                        .key = key,
                                        .parent =
                                            cell == d->goal ? FM_CELL_NONE : best_step(d, cell)};
            visit(&inspection, context);
        }
    }
}

static size_t dstar_bytes(const void *self)
{
    const struct dstar *d = self;
    return sizeof *d + fm_pages_bytes(&d->pages) + fm_bucket_queue_bytes(&d->buckets) +
           fm_heap_bytes(&d->heap) + d->start_capacity * sizeof *d->starts;
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
    .path = dstar_path,
    .inspect = dstar_inspect,
    .bytes = dstar_bytes,
};
