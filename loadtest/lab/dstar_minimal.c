// loadtest/lab/dstar_minimal.c: see dstar_minimal.h.
//
// One flat array of nodes of 16 bytes for the whole map, with a margin. A node is linked into the
// list of its bucket itself, both ways, so the open list takes no memory of its own but a head for
// each key. The key of a queued cell is computed where it is needed. A blocked cell has an rhs of 0
// in its node, which no path improves, so the map is not asked.

#include "loadtest/lab/dstar_minimal.h"

#include <stdlib.h>

#define KEYS_MAX (1u << 16)
#define WORDS    (KEYS_MAX / 64)
#define HEAD_BIT ((uint32_t)1 << 31)

struct node {
    uint32_t g, rhs;
    uint32_t next; // 0: the last of its list
    uint32_t prev; // 0: not queued; HEAD_BIT | key: the first of its list
};

struct dstar {
    const fm_view *view;
    struct node *nodes;
    uint32_t shift; // log2 of the row length
    uint32_t goal, at, last, km;
    uint32_t word; // no smaller key than this * 64 is queued
    uint64_t filled[WORDS];
    uint32_t heads[KEYS_MAX];
};

static uint32_t id_of(const struct dstar *d, fm_cell cell)
{
    return (fm_cell_y(cell) + 1) << d->shift | (fm_cell_x(cell) + 1);
}

static fm_cell cell_of(const struct dstar *d, uint32_t id)
{
    return fm_cell_at((id & ((1u << d->shift) - 1)) - 1, (id >> d->shift) - 1);
}

FM_INLINE uint32_t distance(const struct dstar *d, uint32_t a, uint32_t b)
{
    uint32_t mask = (1u << d->shift) - 1;
    int32_t dx = (int32_t)(a & mask) - (int32_t)(b & mask);
    int32_t dy = (int32_t)(a >> d->shift) - (int32_t)(b >> d->shift);
    return (uint32_t)(dx < 0 ? -dx : dx) + (uint32_t)(dy < 0 ? -dy : dy);
}

FM_INLINE uint32_t key_of(const struct dstar *d, uint32_t u, const struct node *node)
{
    uint32_t least = node->g < node->rhs ? node->g : node->rhs;
    uint32_t f = least + distance(d, u, d->last) + d->km;
    return f << 1 | (uint32_t)(node->g >= node->rhs);
}

FM_INLINE void push(struct dstar *d, uint32_t u, uint32_t key)
{
    struct node *node = &d->nodes[u];
    uint32_t head = d->heads[key];
    node->next = head;
    node->prev = HEAD_BIT | key;
    d->nodes[head].prev = u; // node 0 takes what nobody reads
    d->heads[key] = u;
    d->filled[key >> 6] |= (uint64_t)1 << (key & 63);
    d->word = key >> 6 < d->word ? key >> 6 : d->word;
}

FM_INLINE void unlink_node(struct dstar *d, struct node *node)
{
    uint32_t next = node->next, prev = node->prev;
    d->nodes[next].prev = prev;
    if (prev & HEAD_BIT) {
        uint32_t key = prev & ~HEAD_BIT;
        d->heads[key] = next;
        d->filled[key >> 6] &= ~((uint64_t)(next == 0) << (key & 63));
    } else {
        d->nodes[prev].next = next;
    }
    node->prev = 0;
}

FM_INLINE void update(struct dstar *d, uint32_t u)
{
    struct node *node = &d->nodes[u];
    if (node->prev != 0) {
        unlink_node(d, node);
    }
    if (node->g != node->rhs) {
        push(d, u, key_of(d, u, node));
    }
}

FM_INLINE uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Blocked cells have an infinite g.
FM_INLINE uint32_t best_successor(const struct dstar *d, uint32_t u)
{
    const struct node *node = &d->nodes[u];
    ptrdiff_t row = (ptrdiff_t)1 << d->shift;
    uint32_t g = smaller(smaller(node[-1].g, node[1].g), smaller(node[-row].g, node[row].g));
    return smaller(g + 1, FM_COST_INFINITE);
}

FM_INLINE void renew(struct dstar *d, uint32_t u)
{
    struct node *node = &d->nodes[u];
    uint32_t rhs = best_successor(d, u), before = node->rhs;
    if (rhs == before) {
        return;
    }
    node->rhs = rhs;
    if (node->g >= before || node->g >= rhs) { // else its key stays
        update(d, u);
    }
}

FM_INLINE void expand_over(struct dstar *d, uint32_t u)
{
    struct node *node = &d->nodes[u];
    uint32_t rhs = node->rhs + 1;
    node->g = node->rhs;
    const uint32_t row = (uint32_t)1 << d->shift;
    const uint32_t around[4] = {u - row, u + 1, u + row, u - 1};
    uint32_t improved = 0;
    FM_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        improved |= (uint32_t)(d->nodes[around[i]].rhs > rhs) << i;
    }
    for (; improved != 0; improved &= improved - 1) {
        uint32_t v = around[__builtin_ctz(improved)];
        d->nodes[v].rhs = rhs;
        update(d, v);
    }
}

// Cells whose rhs came through u, which had this g.
FM_INLINE void renew_around(struct dstar *d, uint32_t u, uint32_t g)
{
    const uint32_t row = (uint32_t)1 << d->shift;
    const uint32_t around[4] = {u - row, u + 1, u + row, u - 1};
    uint32_t reached = 0;
    FM_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        reached |= (uint32_t)(d->nodes[around[i]].rhs == g + 1) << i;
    }
    for (; reached != 0; reached &= reached - 1) {
        renew(d, around[__builtin_ctz(reached)]);
    }
}

FM_INLINE void expand_under(struct dstar *d, uint32_t u)
{
    struct node *node = &d->nodes[u];
    uint32_t g = node->g;
    node->g = FM_COST_INFINITE;
    renew_around(d, u, g);
    update(d, u);
}

static fm_status minimal_init(void *self, const fm_view *view, const fm_planner_options *options,
                              const fm_memory *memory, fm_cell goal)
{
    (void)options;
    (void)memory;
    struct dstar *d = self;
    d->view = view;
    while (1u << d->shift < view->width + 2) {
        d->shift += 1;
    }
    size_t count = (size_t)(view->height + 2) << d->shift;
    d->nodes = malloc(count * sizeof *d->nodes);
    if (d->nodes == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        d->nodes[i] = (struct node){.g = FM_COST_INFINITE};
    }
    for (uint32_t y = 0; y < view->height; y++) {
        for (uint32_t x = 0; x < view->width; x++) {
            d->nodes[id_of(d, fm_cell_at(x, y))].rhs = FM_COST_INFINITE;
        }
    }
    d->goal = id_of(d, goal);
    d->word = WORDS;
    return FM_OK;
}

static void minimal_fini(void *self, fm_slab *slab)
{
    (void)slab;
    struct dstar *d = self;
    free(d->nodes);
}

static void minimal_set_starts(void *self, const fm_cell *cells, uint32_t count)
{
    (void)count;
    struct dstar *d = self;
    d->at = id_of(d, cells[0]);
}

// In the mazes cells are only ever found to be blocked. One that was reached is expanded at once,
// as an underconsistent one.
static void minimal_knowledge_changed(void *self, const fm_change *changes, uint32_t count,
                                      fm_work *work)
{
    struct dstar *d = self;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t u = id_of(d, changes[i].cell);
        struct node *node = &d->nodes[u];
        FM_ASSERT(changes[i].blocked && u != d->goal);
        if (node->prev != 0) {
            unlink_node(d, node);
        }
        uint32_t g = node->g;
        work->expansions += g < FM_COST_INFINITE;
        node->g = FM_COST_INFINITE;
        node->rhs = 0;
        renew_around(d, u, g);
    }
}

static bool any(struct dstar *d)
{
    while (d->word < WORDS && d->filled[d->word] == 0) {
        d->word += 1;
    }
    return d->word < WORDS;
}

static fm_plan_state minimal_advance(void *self, fm_work *work)
{
    struct dstar *d = self;
    struct node *nodes = d->nodes;
    if (d->last == 0) {
        d->last = d->at;
        nodes[d->goal].rhs = 0;
        push(d, d->goal, key_of(d, d->goal, &nodes[d->goal]));
    }
    const struct node *start = &nodes[d->at];
    bool rebased = false;
    while (any(d)) {
        uint32_t key = d->word * 64 + (uint32_t)__builtin_ctzll(d->filled[d->word]);
        if (key >= key_of(d, d->at, start) && start->rhs <= start->g &&
            start->rhs < FM_COST_INFINITE) {
            break;
        }
        if (!rebased) {
            d->km += distance(d, d->last, d->at);
            d->last = d->at;
            rebased = true;
        }
        uint32_t u = d->heads[key];
        struct node *node = &nodes[u];
        uint32_t key_now = key_of(d, u, node);
        unlink_node(d, node);
        if (key_now != key) {
            push(d, u, key_now);
            fm_work_charge(work, 1);
            continue;
        }
        work->expansions += 1;
        if (node->g > node->rhs) {
            expand_over(d, u);
        } else {
            expand_under(d, u);
        }
    }
    return start->rhs < FM_COST_INFINITE ? FM_PLAN_FOUND : FM_PLAN_UNREACHABLE;
}

static fm_cell minimal_next_step(const void *self, fm_cell start)
{
    const struct dstar *d = self;
    uint32_t u = id_of(d, start);
    const uint32_t row = (uint32_t)1 << d->shift;
    const uint32_t around[4] = {u - row, u + 1, u + row, u - 1};
    uint32_t best = 0;
    for (uint32_t i = 1; i < 4; i++) {
        best = d->nodes[around[i]].g < d->nodes[around[best]].g ? i : best;
    }
    return cell_of(d, around[best]);
}

static size_t minimal_bytes(const void *self)
{
    const struct dstar *d = self;
    return sizeof *d + ((size_t)(d->view->height + 2) << d->shift) * sizeof *d->nodes;
}

const fm_planner_ops fm_lab_dstar_minimal = {
    .name = "dstar-minimal",
    .size = sizeof(struct dstar),
    .init = minimal_init,
    .fini = minimal_fini,
    .set_starts = minimal_set_starts,
    .knowledge_changed = minimal_knowledge_changed,
    .advance = minimal_advance,
    .next_step = minimal_next_step,
    .bytes = minimal_bytes,
};
