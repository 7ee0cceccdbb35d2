// core/search/forward_search.c: see forward_search.h.

#include "core/search/forward_search.h"

static const fm_forward_node blank_node = {
    .g = FM_COST_INFINITE, .parent = FM_NO_DIRECTION, .next = FM_NO_DIRECTION};

// ---- nodes ----

fm_forward_node *fm_forward_find(const fm_forward *forward, fm_cell cell)
{
    fm_page *page = fm_pages_find(&forward->pages, cell);
    return page == NULL ? NULL : &fm_forward_nodes(page)[fm_page_position(cell)];
}

// What a node knows once the search that wrote it is over.
static uint32_t learned(const fm_forward *forward, const fm_forward_node *node)
{
    const fm_forward_record *record = &forward->records[node->search];
    uint32_t h = node->h;
    if (node->g < FM_COST_INFINITE && node->g + h < record->cost) {
        h = record->cost - node->g; // only closed cells lie below the smallest f of the open list
    }
    uint64_t shift = forward->shift - record->shift;
    return h > shift ? h - (uint32_t)shift : 0;
}

// The larger of `h` and what was learned.
FM_INLINE uint32_t at_least_learned(const fm_forward *forward, const fm_forward_node *node,
                                    uint32_t h)
{
    if (node != NULL && node->search != 0 && forward->rules.learns) {
        uint32_t better = learned(forward, node);
        return better > h ? better : h;
    }
    return h;
}

uint32_t fm_forward_estimate(const fm_forward *forward, const fm_forward_node *node, fm_cell cell)
{
    return at_least_learned(forward, node, fm_heuristic_estimate(&forward->heuristic, cell));
}

FM_INLINE void enter_search(fm_forward_node *node, uint32_t search, uint32_t h)
{
    node->h = h;
    node->search = search;
    node->g = FM_COST_INFINITE;
    node->parent = FM_NO_DIRECTION;
    node->closed = FM_FORWARD_REACHED;
    node->loose = false;
}

// Brings a node into the current search.
static inline void touch(const fm_forward *forward, fm_forward_node *node, fm_cell cell)
{
    if (node->search != forward->search) {
        enter_search(node, forward->search, fm_forward_estimate(forward, node, cell));
    }
}

uint32_t fm_forward_touch(fm_forward *forward, fm_cell cell, fm_slab *slab)
{
    fm_page *page = fm_pages_get(&forward->pages, cell, slab);
    if (page == NULL) {
        return FM_NODE_NONE;
    }
    uint32_t position = fm_page_position(cell);
    touch(forward, &fm_forward_nodes(page)[position], cell);
    return fm_node_ref(page, position);
}

// Brings all nodes up to date, so that the numbers of searches can begin again.
static void renumber(fm_forward *forward)
{
    for (uint32_t slot = 0; slot < forward->pages.page_count; slot++) {
        fm_page *page = forward->pages.by_slot[slot];
        for (uint32_t i = 0; i < FM_PAGE_CELLS; i++) {
            fm_forward_node *node = &fm_forward_nodes(page)[i];
            if (node->search != 0) {
                node->h = fm_forward_estimate(forward, node, fm_page_cell(page, i));
                node->search = 1;
                node->g = FM_COST_INFINITE;
            }
        }
    }
    forward->search = 1;
    if (forward->rules.learns) {
        forward->records[1] = (fm_forward_record){.shift = forward->shift};
    }
}

// Opens a new number. From here on, what the last search learned counts.
static bool open_number(fm_forward *forward)
{
    uint32_t max = forward->rules.learns ? FM_FORWARD_SEARCHES_MAX : UINT32_MAX;
    if (forward->search + 1 == max) {
        renumber(forward);
    }
    if (forward->rules.learns && !FM_RESERVE_FROM(forward->memory, forward->records,
                                                  forward->record_capacity, forward->search + 2)) {
        return false;
    }
    forward->search += 1;
    if (forward->rules.learns) {
        forward->records[forward->search] = (fm_forward_record){.shift = forward->shift};
    }
    return true;
}

// ---- one search ----

// Buckets order by f alone, so they cannot prefer smaller g; for large costs, which leave most of
// them empty, the heap takes less memory; and estimates that are not consistent let f fall.
static fm_queue_kind choose_queue(const fm_forward *forward)
{
    bool fits = forward->heuristic.consistent && fm_open_span(forward->view) < FM_OPEN_BUCKETS_MAX;
    return forward->options.ties != FM_TIES_SMALLER_G && fits ? forward->options.queue
                                                              : FM_QUEUE_HEAP;
}

// Sets the target, and the estimates by the tables there are now.
static void aim(fm_forward *forward, fm_cell target)
{
    forward->target = target;
    forward->heuristic = fm_heuristic_towards(forward->view, forward->options.heuristic, target,
                                              !forward->rules.any_heuristic);
}

bool fm_forward_begin(fm_forward *forward, fm_slab *slab)
{
    forward->root = forward->rules.backward ? forward->goal : forward->start;
    aim(forward, forward->rules.backward ? forward->start : forward->goal);
    forward->queue = choose_queue(forward);
    if (!open_number(forward) ||
        !fm_open_clear(&forward->open, forward->queue, fm_open_span(forward->view)) ||
        !fm_open_reserve(&forward->open, forward->queue, 1)) {
        return false;
    }
    fm_page *page = fm_pages_get(&forward->pages, forward->root, slab);
    if (page == NULL) {
        return false;
    }
    uint32_t position = fm_page_position(forward->root);
    fm_forward_node *node = &fm_forward_nodes(page)[position];
    touch(forward, node, forward->root);
    node->g = 0;
    uint64_t key = forward->queue == FM_QUEUE_BUCKET
                       ? fm_forward_key(forward, FM_QUEUE_BUCKET, 0, node->h)
                       : fm_forward_key(forward, FM_QUEUE_HEAP, 0, node->h);
    fm_open_push(&forward->open, forward->queue, fm_node_ref(page, position), key);
    forward->searching = true;
    forward->reached = FM_CELL_NONE;
    forward->nearest = FM_CELL_NONE;
    return true;
}

// No path from the cells between `cell` and `end` along the marks is a shortest one.
static void mark_loose(const fm_forward *forward, fm_cell cell, fm_cell end)
{
    for (;;) {
        fm_forward_node *node = fm_forward_find(forward, cell);
        touch(forward, node, cell);
        node->loose = true;
        if (cell == end) {
            return;
        }
        cell = fm_cell_step(cell, node->next);
    }
}

// Whether the marked path from a cell leads to the goal and is a shortest one: h is exact along it.
// Where it is not, no cell up to there is asked again: a search walks no mark twice in vain.
static bool leads_to_goal(const fm_forward *forward, fm_cell first)
{
    fm_cell cell = first;
    const fm_forward_node *node = fm_forward_find(forward, cell);
    uint32_t h = fm_forward_estimate(forward, node, cell);
    while (cell != forward->goal) {
        bool usable = node->next != FM_NO_DIRECTION &&
                      fm_view_moves(forward->view, cell) >> node->next & 1 &&
                      !(node->search == forward->search && node->loose);
        fm_cell next = usable ? fm_cell_step(cell, node->next) : FM_CELL_NONE;
        const fm_forward_node *next_node = usable ? fm_forward_find(forward, next) : NULL;
        uint32_t next_h = usable ? fm_forward_estimate(forward, next_node, next) : 0;
        if (!usable || h != fm_view_cost(forward->view, cell, node->next, next) + next_h) {
            mark_loose(forward, first, cell);
            return false;
        }
        cell = next;
        node = next_node;
        h = next_h;
    }
    return true;
}

// What the loop reads over and over. It is copied once per call: were it read from the search,
// every store to a node would make the compiler read it again.
struct frame {
    fm_view view;
    fm_bitmap blocked;
    const fm_page *nowhere; // of fm_forward.pages
    uint32_t search;
    fm_cell target;
    bool by_distance; // the estimate is fm_view_distance()
};

static inline struct frame frame_of(const fm_forward *forward)
{
    return (struct frame){.view = *forward->view,
                          .blocked = *forward->view->blocked,
                          .nowhere = forward->pages.nowhere,
                          .search = forward->search,
                          .target = forward->target,
                          .by_distance = forward->heuristic.kind == FM_HEURISTIC_DEFAULT};
}

// touch(), with what is constant known.
FM_INLINE void touch_in(const struct frame *frame, const fm_forward *forward, fm_forward_node *node,
                        fm_cell cell)
{
    if (node->search != frame->search) {
        uint32_t h = frame->by_distance ? fm_view_distance(&frame->view, cell, frame->target)
                                        : fm_heuristic_look_up(&forward->heuristic, cell);
        enter_search(node, frame->search, at_least_learned(forward, node, h));
    }
}

// By a cell's parent: where a step need not be looked at, back and diagonally back. The cell there
// is a neighbour of the parent, whose expansion has reached it by a single step for less.
static const uint8_t steps_back[FM_DIRECTION_COUNT + 1] = {0x83, 0x07, 0x0e, 0x1c, 0x38,
                                                           0x70, 0xe0, 0xc1, 0x00};

// Relaxes the edges out of a cell that was taken off the open list.
FM_INLINE bool expand(fm_forward *forward, const struct frame *frame, fm_slab *slab, fm_page *page,
                      uint32_t position, const bool weighted, const fm_queue_kind kind)
{
    fm_forward_node *node = &fm_forward_nodes(page)[position];
    fm_cell cell = fm_page_cell(page, position);
    const fm_view *view = &frame->view;
    const uint32_t g = node->g;
    uint32_t moves =
        view->moves[fm_bitmap_window(&frame->blocked, cell)] & ~(uint32_t)steps_back[node->parent];

    node->closed = FM_FORWARD_CLOSED;
    if (!fm_open_reserve(&forward->open, kind, FM_DIRECTION_COUNT)) {
        return false;
    }
    while (moves != 0) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        moves &= moves - 1;
        fm_page_step step = fm_page_steps[position][d];
        fm_page *there = page->near[step.page];
        if (__builtin_expect(there == frame->nowhere, 0)) {
            there = fm_pages_get_near(&forward->pages, page, step.page, slab);
            if (there == NULL) {
                return false;
            }
        }
        fm_forward_node *to = &fm_forward_nodes(there)[step.position];
        fm_cell to_cell = fm_cell_step(cell, d);
        touch_in(frame, forward, to, to_cell);
        uint32_t to_g = g + (weighted ? fm_view_cost(view, cell, d, to_cell) : view->step[d & 1]);
        if (to_g < to->g) {
            to->g = to_g;
            to->parent = (uint8_t)(d ^ 4);
            fm_open_push(&forward->open, kind, fm_node_ref(there, step.position),
                         fm_forward_key(forward, kind, to_g, to->h));
        }
    }
    return true;
}

FM_INLINE fm_forward_outcome run(fm_forward *forward, fm_work *work, uint32_t expansions_at_start,
                                 const bool weighted, const fm_queue_kind kind)
{
    fm_open_list *open = &forward->open;
    const struct frame frame = frame_of(forward);
    uint32_t units = 0; // until the grant and the deadline are checked
    while (open->count > 0) {
        uint32_t ref = fm_open_top(open, kind);
        fm_page *page = fm_node_page(&forward->pages, ref);
        uint32_t position = fm_node_position(ref);
        fm_forward_node *node = &fm_forward_nodes(page)[position];
        if (fm_forward_key(forward, kind, node->g, node->h) != fm_open_top_key(open, kind)) {
            fm_open_drop(open, kind); // a better path to this cell was found after this push
            continue;
        }
        fm_cell cell = fm_page_cell(page, position);
        if (cell == frame.target ||
            (forward->rules.keeps_paths && node->next != FM_NO_DIRECTION &&
             node->g + node->h < FM_COST_INFINITE && leads_to_goal(forward, cell))) {
            forward->reached = cell;
            return FM_FORWARD_DONE;
        }
        units = units > 0 ? units : fm_work_units(work, expansions_at_start);
        if (units == 0) {
            return FM_FORWARD_SUSPENDED;
        }
        units -= 1;
        fm_open_drop(open, kind);
        work->expansions += 1;
        if (!expand(forward, &frame, work->slab, page, position, weighted, kind)) {
            return FM_FORWARD_NO_MEMORY;
        }
    }
    return FM_FORWARD_EMPTY;
}

fm_forward_outcome fm_forward_run(fm_forward *forward, fm_work *work, uint32_t expansions_at_start)
{
    bool weighted = forward->view->weights != NULL;
    if (forward->queue == FM_QUEUE_BUCKET) {
        return weighted ? run(forward, work, expansions_at_start, true, FM_QUEUE_BUCKET)
                        : run(forward, work, expansions_at_start, false, FM_QUEUE_BUCKET);
    }
    return weighted ? run(forward, work, expansions_at_start, true, FM_QUEUE_HEAP)
                    : run(forward, work, expansions_at_start, false, FM_QUEUE_HEAP);
}

uint32_t fm_forward_top(fm_forward *forward)
{
    while (forward->open.count > 0) {
        uint32_t ref = fm_open_top(&forward->open, forward->queue);
        const fm_forward_node *node = fm_forward_node_at(forward, ref);
        if (fm_forward_key(forward, forward->queue, node->g, node->h) ==
            fm_open_top_key(&forward->open, forward->queue)) {
            return ref;
        }
        fm_open_drop(&forward->open, forward->queue);
    }
    return FM_NODE_NONE;
}

void fm_forward_learn(fm_forward *forward, uint32_t cost)
{
    if (forward->rules.learns) {
        forward->records[forward->search].cost = cost < FM_COST_INFINITE ? cost : FM_COST_INFINITE;
    }
}

// ---- paths ----

// Unmarks every path there is.
static void unmark_all(fm_forward *forward)
{
    for (uint32_t slot = 0; slot < forward->pages.page_count; slot++) {
        fm_forward_node *nodes = fm_forward_nodes(forward->pages.by_slot[slot]);
        for (uint32_t i = 0; i < FM_PAGE_CELLS; i++) {
            nodes[i].next = FM_NO_DIRECTION;
        }
    }
    forward->path_start = FM_CELL_NONE;
}

// A cell's node by its page, so that a path is followed without looking up pages.
struct place {
    const fm_page *page; // without any mark where no page was taken
    uint32_t position;
};

static struct place place_of(const fm_forward *forward, fm_cell cell)
{
    const fm_page *page = fm_pages_find(&forward->pages, cell);
    return (struct place){page == NULL ? forward->pages.nowhere : page, fm_page_position(cell)};
}

static inline struct place place_beside(struct place place, uint32_t direction)
{
    fm_page_step step = fm_page_steps[place.position][direction];
    return (struct place){place.page->near[step.page], step.position};
}

static inline fm_forward_node *node_in(struct place place)
{
    return &fm_forward_nodes(place.page)[place.position];
}

fm_cell fm_forward_unmark(fm_forward *forward, fm_cell first, fm_cell end)
{
    if (first == end || first == FM_CELL_NONE) {
        return first;
    }
    struct place place = place_of(forward, first);
    if (place.page == NULL) {
        return FM_CELL_NONE; // there are no pages
    }
    for (fm_cell cell = first; cell != end;) {
        fm_forward_node *node = node_in(place);
        uint32_t next = node->next;
        if (next == FM_NO_DIRECTION) {
            return FM_CELL_NONE;
        }
        node->next = FM_NO_DIRECTION;
        cell = fm_cell_step(cell, next);
        place = place_beside(place, next);
    }
    return end;
}

// Unmarks the path from where it begins up to `end`, or all of it.
static void unmark(fm_forward *forward, fm_cell end)
{
    forward->path_start = fm_forward_unmark(forward, forward->path_start, end);
}

// Marks the path from the agent to the goal. A forward search traces it back from the cell that was
// reached; the agent may have left the root by now, along the path or not at all.
static void mark(fm_forward *forward)
{
    fm_cell end = forward->rules.backward ? forward->root : forward->start;
    struct place place = place_of(forward, forward->reached);
    for (fm_cell cell = forward->reached; cell != end;) {
        fm_forward_node *node = node_in(place);
        uint32_t up = node->parent;
        place = place_beside(place, up);
        if (forward->rules.backward) {
            node->next = (uint8_t)up;
        } else {
            node_in(place)->next = (uint8_t)(up ^ 4);
        }
        cell = fm_cell_step(cell, up);
    }
    forward->path_start = forward->start;
}

bool fm_forward_follow(fm_forward *forward, fm_cell cell)
{
    if (forward->rules.keeps_paths) {
        const fm_forward_node *node = fm_forward_find(forward, forward->start);
        return node->next != FM_NO_DIRECTION && fm_cell_step(forward->start, node->next) == cell;
    }
    const fm_forward_node *node = fm_forward_find(forward, cell);
    if (node == NULL || (node->next == FM_NO_DIRECTION && cell != forward->goal)) {
        return false;
    }
    unmark(forward, cell);
    return true;
}

// ---- ends of a search ----

void fm_forward_restart(fm_forward *forward)
{
    if (forward->rules.learns && forward->searching && forward->state != FM_PLAN_FOUND) {
        uint32_t top = fm_forward_top(forward);
        if (top != FM_NODE_NONE) {
            const fm_forward_node *node = fm_forward_node_at(forward, top);
            fm_forward_learn(forward, node->g + node->h);
        }
    }
    if (!forward->rules.keeps_paths) {
        unmark(forward, FM_CELL_NONE);
    }
    forward->searching = false;
    forward->nearest = FM_CELL_NONE;
    forward->state = FM_PLAN_RUNNING;
}

static void drop_everything(fm_forward *forward, fm_slab *slab)
{
    fm_pages_clear(&forward->pages, slab);
    forward->repairs.count = 0;
    forward->search = 0;
    forward->shift = 0;
    forward->searching = false;
    forward->path_start = FM_CELL_NONE;
    forward->nearest = FM_CELL_NONE;
    forward->state = FM_PLAN_RUNNING;
}

// Tables were renewed or went stale during the search or since estimates were learned: old and new
// estimates do not fit together.
static void follow_tables(fm_forward *forward, fm_slab *slab)
{
    if (fm_heuristic_is_current(&forward->heuristic)) {
        return;
    }
    if (forward->rules.learns) {
        drop_everything(forward, slab);
    } else {
        fm_forward_restart(forward);
    }
    aim(forward, forward->target);
}

fm_plan_state fm_forward_exhaust(fm_forward *forward, fm_slab *slab)
{
    drop_everything(forward, slab);
    return forward->state = FM_PLAN_EXHAUSTED;
}

fm_plan_state fm_forward_fail(fm_forward *forward)
{
    uint32_t best_h = UINT32_MAX, best_g = UINT32_MAX;
    for (uint32_t slot = 0; slot < forward->pages.page_count; slot++) {
        const fm_page *page = forward->pages.by_slot[slot];
        for (uint32_t i = 0; i < FM_PAGE_CELLS; i++) {
            const fm_forward_node *node = &fm_forward_nodes(page)[i];
            if (node->search != forward->search || node->closed == FM_FORWARD_REACHED) {
                continue;
            }
            fm_cell cell = fm_page_cell(page, i);
            uint32_t h = fm_view_distance(forward->view, cell, forward->goal);
            if (h < best_h || (h == best_h && node->g < best_g)) {
                best_h = h;
                best_g = node->g;
                forward->nearest = cell;
            }
        }
    }
    return forward->state = FM_PLAN_UNREACHABLE;
}

fm_plan_state fm_forward_succeed(fm_forward *forward)
{
    const fm_forward_node *node = fm_forward_find(forward, forward->reached);
    fm_forward_learn(forward, node->g + node->h);
    mark(forward);
    return forward->state = FM_PLAN_FOUND;
}

fm_plan_state fm_forward_conclude(fm_forward *forward, fm_forward_outcome outcome, fm_slab *slab)
{
    switch (outcome) {
    case FM_FORWARD_SUSPENDED:
        return FM_PLAN_RUNNING;
    case FM_FORWARD_DONE:
        return fm_forward_succeed(forward);
    case FM_FORWARD_EMPTY:
        return fm_forward_fail(forward);
    case FM_FORWARD_NO_MEMORY:
        return fm_forward_exhaust(forward, slab);
    }
    FM_UNREACHABLE();
}

// ---- changes ----

// The cells of the map in the 3 x 3 around a cell.
static uint32_t cells_around(const fm_view *view, fm_cell cell, fm_cell cells[9])
{
    uint32_t count = 0;
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            int32_t x = (int32_t)fm_cell_x(cell) + dx, y = (int32_t)fm_cell_y(cell) + dy;
            if (x >= 0 && y >= 0 && (uint32_t)x < view->width && (uint32_t)y < view->height) {
                cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
            }
        }
    }
    return count;
}

// Whether a cell was reached over an edge that cuts a corner and is blocked now.
static bool parent_is_cut_off(const fm_forward *forward, fm_cell cell)
{
    const fm_forward_node *node = fm_forward_find(forward, cell);
    return fm_forward_is_reached(forward, node) && node->parent != FM_NO_DIRECTION &&
           !(fm_view_moves(forward->view, cell) >> node->parent & 1);
}

bool fm_forward_tree_survives(fm_forward *forward, const fm_change *change)
{
    fm_forward_node *node = fm_forward_find(forward, change->cell);
    if (!fm_forward_is_reached(forward, node)) {
        return true; // then no cell beside it was expanded, and no corner of it was cut either
    }
    if (node->closed != FM_FORWARD_REACHED || !fm_view_is_blocked(forward->view, change->cell)) {
        return false;
    }
    fm_cell cells[9];
    uint32_t count = cells_around(forward->view, change->cell, cells);
    for (uint32_t i = 0; i < count; i++) {
        if (cells[i] != change->cell && parent_is_cut_off(forward, cells[i])) {
            return false;
        }
    }
    node->g = FM_COST_INFINITE; // which makes its entry in the open list stale
    return true;
}

bool fm_forward_path_survives(fm_forward *forward, const fm_change *change)
{
    fm_cell cells[9];
    uint32_t count = cells_around(forward->view, change->cell, cells);
    bool survives = true;
    for (uint32_t i = 0; i < count; i++) {
        fm_forward_node *node = fm_forward_find(forward, cells[i]);
        if (node == NULL || node->next == FM_NO_DIRECTION) {
            continue;
        }
        bool touches =
            cells[i] == change->cell || fm_cell_step(cells[i], node->next) == change->cell;
        bool usable = fm_view_moves(forward->view, cells[i]) >> node->next & 1;
        if (!usable || (touches && change->costlier)) {
            survives = false;
            if (forward->rules.keeps_paths) {
                node->next = FM_NO_DIRECTION;
            }
        }
    }
    return survives;
}

bool fm_forward_any_cheaper(const fm_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (changes[i].cheaper) {
            return true;
        }
    }
    return false;
}

// Makes h(cell) <= cost + h. Cells that no search has seen keep their distance as h, which is never
// above that.
static void relax_estimate(fm_forward *forward, uint32_t ref, fm_cell cell, uint32_t bound)
{
    fm_forward_node *node = fm_forward_node_at(forward, ref);
    if (node->search == 0 || fm_forward_estimate(forward, node, cell) <= bound) {
        return;
    }
    touch(forward, node, cell);
    node->h = bound;
    if (forward->rules.keeps_paths) {
        node->next = FM_NO_DIRECTION;
    }
    fm_open_push(&forward->repairs, FM_QUEUE_HEAP, ref, bound);
}

// Lowers the estimates of a cell's neighbours to what its own allows.
static bool relax_neighbours(fm_forward *forward, fm_cell cell)
{
    if (!fm_open_reserve(&forward->repairs, FM_QUEUE_HEAP, FM_DIRECTION_COUNT)) {
        return false;
    }
    uint32_t h = fm_forward_estimate(forward, fm_forward_find(forward, cell), cell);
    for (uint32_t moves = fm_view_moves(forward->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        fm_cell to = fm_cell_step(cell, d);
        const fm_page *page = fm_pages_find(&forward->pages, to);
        if (page != NULL) {
            relax_estimate(forward, fm_node_ref(page, fm_page_position(to)), to,
                           h + fm_view_cost(forward->view, cell, d, to));
        }
    }
    return true;
}

void fm_forward_lower(fm_forward *forward, const fm_change *changes, uint32_t count, fm_work *work)
{
    follow_tables(forward, work->slab);
    if (!forward->rules.learns || forward->search == 0) {
        return;
    }
    bool done = forward->repairs.count > 0 || open_number(forward);
    for (uint32_t i = 0; done && i < count; i++) {
        fm_cell cells[9];
        // Neighbours of the cells around the change are the farthest whose estimates may be
        // lowered.
        bool concerns =
            changes[i].cheaper && fm_pages_may_hold(&forward->pages, changes[i].cell, 2);
        uint32_t around = concerns ? cells_around(forward->view, changes[i].cell, cells) : 0;
        fm_work_charge(work, around);
        for (uint32_t j = 0; done && j < around; j++) {
            done = relax_neighbours(forward, cells[j]);
        }
    }
    if (!done) {
        drop_everything(forward, work->slab); // better to forget than to learn something wrong
    }
}

void fm_forward_lower_relearned(fm_forward *forward, fm_slab *slab)
{
    bool done = true;
    for (uint32_t slot = 0; done && slot < forward->pages.page_count; slot++) {
        fm_page *page = forward->pages.by_slot[slot];
        for (uint32_t i = 0; done && i < FM_PAGE_CELLS; i++) {
            const fm_forward_node *node = &fm_forward_nodes(page)[i];
            if (node->search != 0 && node->closed == FM_FORWARD_RELEARNED) {
                done = relax_neighbours(forward, fm_page_cell(page, i));
            }
        }
    }
    if (!done) {
        drop_everything(forward, slab);
    }
}

bool fm_forward_repair(fm_forward *forward, fm_work *work, uint32_t expansions_at_start)
{
    fm_open_list *repairs = &forward->repairs;
    follow_tables(forward, work->slab);
    while (repairs->count > 0) {
        uint32_t ref = fm_open_top(repairs, FM_QUEUE_HEAP);
        const fm_forward_node *node = fm_forward_node_at(forward, ref);
        if (node->h != fm_open_top_key(repairs, FM_QUEUE_HEAP)) {
            fm_open_drop(repairs, FM_QUEUE_HEAP);
            continue;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return false;
        }
        fm_open_drop(repairs, FM_QUEUE_HEAP);
        fm_work_charge(work, 1);
        const fm_page *page = fm_node_page(&forward->pages, ref);
        if (!relax_neighbours(forward, fm_page_cell(page, fm_node_position(ref)))) {
            drop_everything(forward, work->slab);
        }
    }
    return true;
}

// ---- ops ----

fm_status fm_forward_init(fm_forward *forward, const fm_view *view,
                          const fm_planner_options *options, const fm_memory *memory, fm_cell goal,
                          fm_forward_rules rules)
{
    *forward = (fm_forward){.view = view,
                            .memory = memory,
                            .rules = rules,
                            .options = *options,
                            .state = FM_PLAN_RUNNING,
                            .start = FM_CELL_NONE,
                            .goal = goal,
                            .nearest = FM_CELL_NONE,
                            .path_start = FM_CELL_NONE};
    aim(forward, goal);
    fm_pages_init(&forward->pages, &blank_node, sizeof blank_node, memory);
    fm_open_init(&forward->open, memory);
    fm_open_init(&forward->repairs, memory);
    return FM_OK;
}

void fm_forward_fini(void *self, fm_slab *slab)
{
    fm_forward *forward = self;
    fm_pages_fini(&forward->pages, slab);
    fm_open_fini(&forward->open);
    fm_open_fini(&forward->repairs);
    fm_memory_release(forward->memory, forward->records,
                      forward->record_capacity * sizeof *forward->records);
}

void fm_forward_forget(void *self, fm_slab *slab)
{
    drop_everything(self, slab);
}

void fm_forward_set_goal(void *self, fm_cell goal, fm_slab *slab)
{
    fm_forward *forward = self;
    fm_forward_restart(forward);
    unmark_all(forward);
    follow_tables(forward, slab);
    // Estimates that are not consistent, or not so between three cells, do not carry over.
    if (forward->repairs.count > 0 || (forward->rules.learns && !forward->heuristic.metric)) {
        drop_everything(forward, slab);
    }
    bool carries_over = forward->rules.learns && forward->search != 0;
    if (carries_over) {
        forward->shift += fm_forward_estimate(forward, fm_forward_find(forward, goal), goal);
    }
    forward->goal = goal;
    aim(forward, goal);
    if (carries_over &&
        !open_number(forward)) { // may read every estimate, so the goal is set first
        drop_everything(forward, slab);
    }
}

size_t fm_forward_bytes(const fm_forward *forward, size_t own_size)
{
    return own_size + fm_pages_bytes(&forward->pages) + fm_open_bytes(&forward->open) +
           fm_open_bytes(&forward->repairs) + forward->record_capacity * sizeof *forward->records;
}
