// core/map/labels.c: see labels.h.

#include "core/map/labels.h"

#include "core/base/random.h"
#include "core/map/box.h"

#define SIDE         FM_LABELS_BLOCK_SIDE
#define RUNS_MAX     (SIDE * SIDE / 2) // of one block: a chessboard
#define ANSWERS_KEPT 64u               // of fm_labels_nearest(); a power of two

// Two parts that touch: one of a block, one of the block to the east or south of it.
struct edge {
    uint16_t here, there;
};

struct edges {
    struct edge *list;
    uint32_t count, capacity;
};

struct block {
    uint16_t *runs; // part of each run, row by row; NULL with fewer than two parts
    uint16_t *rows; // first run of each row; NULL with `runs`
    uint16_t run_count;
    uint16_t part_count;
    bool dirty;        // cells have changed
    bool edges_dirty;  // its parts or those east or south of it have changed
    uint32_t node;     // of part 0 in the graph; the others follow
    struct edges east; // to the next block of the row
    struct edges south;
};

struct answer {
    fm_cell goal;
    uint32_t label;
    fm_cell cell;
    uint64_t version; // of the labels plus 1; 0: empty
};

// Where a label is to be looked for: columns and rows of blocks, all inside.
struct extent {
    uint8_t left, top, right, bottom;
};

struct fm_labels {
    const fm_view *view;
    const fm_memory *memory;
    uint32_t columns, rows; // blocks
    struct block *blocks;   // columns * rows
    uint32_t *dirty;        // blocks with `dirty`; room for all, like `loose`
    uint32_t dirty_count;
    uint32_t *loose; // blocks with `edges_dirty`
    uint32_t loose_count;
    bool graph_dirty;
    uint32_t *nodes; // label of each part of each block
    uint32_t node_count, node_capacity;
    struct extent *extents; // by label - 1, as of `extents_version`; room for `extent_capacity`
    uint32_t extent_capacity;
    uint64_t extents_version; // of the graph
    uint64_t version;         // counts updates that changed anything
    uint64_t graph_version;
    struct answer *answers; // ANSWERS_KEPT, once the first was asked for
};

fm_status fm_labels_create(const fm_view *view, const fm_memory *memory, fm_labels **out)
{
    fm_labels *labels = fm_memory_allocate_zeroed(memory, 1, sizeof *labels);
    if (labels == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *labels = (fm_labels){.view = view,
                          .memory = memory,
                          .columns = (view->width + SIDE - 1) / SIDE,
                          .rows = (view->height + SIDE - 1) / SIDE};
    uint32_t count = labels->columns * labels->rows;
    labels->blocks = fm_memory_allocate_zeroed(memory, count, sizeof *labels->blocks);
    labels->dirty = fm_memory_allocate_zeroed(memory, count, sizeof *labels->dirty);
    labels->loose = fm_memory_allocate_zeroed(memory, count, sizeof *labels->loose);
    if (labels->blocks == NULL || labels->dirty == NULL || labels->loose == NULL) {
        fm_labels_destroy(labels);
        return FM_ERR_NO_MEMORY;
    }
    fm_labels_touch_all(labels);
    *out = labels;
    return FM_OK;
}

static void drop_runs(fm_labels *labels, struct block *block)
{
    fm_memory_release(labels->memory, block->rows, (SIDE + block->run_count) * sizeof(uint16_t));
    block->rows = NULL;
    block->runs = NULL;
    block->run_count = 0;
}

static void drop_edges(fm_labels *labels, struct edges *edges)
{
    fm_memory_release(labels->memory, edges->list, edges->capacity * sizeof *edges->list);
    *edges = (struct edges){0};
}

void fm_labels_destroy(fm_labels *labels)
{
    if (labels == NULL) {
        return;
    }
    const fm_memory *memory = labels->memory;
    uint32_t count = labels->columns * labels->rows;
    for (uint32_t i = 0; labels->blocks != NULL && i < count; i++) {
        drop_runs(labels, &labels->blocks[i]);
        drop_edges(labels, &labels->blocks[i].east);
        drop_edges(labels, &labels->blocks[i].south);
    }
    fm_memory_release(memory, labels->blocks, count * sizeof *labels->blocks);
    fm_memory_release(memory, labels->dirty, count * sizeof *labels->dirty);
    fm_memory_release(memory, labels->loose, count * sizeof *labels->loose);
    fm_memory_release(memory, labels->nodes, labels->node_capacity * sizeof *labels->nodes);
    fm_memory_release(memory, labels->extents, labels->extent_capacity * sizeof *labels->extents);
    fm_memory_release(memory, labels->answers, ANSWERS_KEPT * sizeof *labels->answers);
    fm_memory_release(memory, labels, sizeof *labels);
}

static void touch_block(fm_labels *labels, uint32_t i)
{
    if (!labels->blocks[i].dirty) {
        labels->blocks[i].dirty = true;
        labels->dirty[labels->dirty_count++] = i;
    }
}

void fm_labels_touch(fm_labels *labels, fm_cell cell)
{
    touch_block(labels, fm_cell_y(cell) / SIDE * labels->columns + fm_cell_x(cell) / SIDE);
}

void fm_labels_touch_all(fm_labels *labels)
{
    for (uint32_t i = 0; i < labels->columns * labels->rows; i++) {
        touch_block(labels, i);
    }
}

bool fm_labels_are_current(const fm_labels *labels)
{
    return labels->dirty_count == 0 && labels->loose_count == 0 && !labels->graph_dirty;
}

// ---- runs of a word -----------------------------------------------------------------------------

// Where runs of ones begin.
static uint64_t starts_of(uint64_t bits)
{
    return bits & ~(bits << 1);
}

// The bits 0..x.
static uint64_t up_to(uint32_t x)
{
    return UINT64_MAX >> (63 - x);
}

// The ones of `bits` from x, which is one of them, to the next zero.
static uint64_t run_from(uint64_t bits, uint32_t x)
{
    uint64_t zeros = ~(bits >> x);
    uint32_t length = zeros == 0 ? 64 : (uint32_t)__builtin_ctzll(zeros);
    return up_to(length - 1) << x;
}

// Which run of the word the one at x belongs to.
static uint32_t run_index(uint64_t bits, uint32_t x)
{
    return (uint32_t)__builtin_popcountll(starts_of(bits) & up_to(x)) - 1;
}

// Free cells of row y, 0..SIDE - 1, of a block. Rows below the map have none.
static uint64_t free_word(const fm_labels *labels, uint32_t i, uint32_t y)
{
    uint32_t map_y = i / labels->columns * SIDE + y;
    return map_y < labels->view->height
               ? ~fm_bitmap_row(labels->view->blocked, (int32_t)map_y)[i % labels->columns]
               : 0;
}

// The part that a free cell of a block belongs to. `bits` is its row's free_word().
static uint32_t part_of(const struct block *block, uint64_t bits, uint32_t x, uint32_t y)
{
    return block->runs == NULL ? 0 : block->runs[block->rows[y] + run_index(bits, x)];
}

// ---- one block ----------------------------------------------------------------------------------

// The runs of a block while they are being joined: `parents` of a forest whose roots are the
// smallest runs of their trees.
struct forest {
    uint16_t parents[RUNS_MAX];
    uint16_t rows[SIDE];
    uint32_t count;
};

static uint32_t root_of(uint16_t *parents, uint32_t run)
{
    while (parents[run] != run) {
        parents[run] = parents[parents[run]];
        run = parents[run];
    }
    return run;
}

static void join(uint16_t *parents, uint32_t a, uint32_t b)
{
    a = root_of(parents, a);
    b = root_of(parents, b);
    parents[a > b ? a : b] = (uint16_t)(a < b ? a : b);
}

// Joins a run with all runs of the row above that it touches.
static void join_above(struct forest *forest, uint32_t run, uint64_t mask, uint64_t above,
                       uint32_t first_above)
{
    for (uint64_t touching = mask & above; touching != 0;) {
        uint32_t x = (uint32_t)__builtin_ctzll(touching);
        join(forest->parents, run, first_above + run_index(above, x));
        touching &= ~run_from(above, x);
    }
}

static void plant(const fm_labels *labels, uint32_t i, struct forest *forest)
{
    uint64_t above = 0;
    forest->count = 0;
    for (uint32_t y = 0; y < SIDE; y++) {
        uint64_t bits = free_word(labels, i, y);
        uint32_t first_above = y == 0 ? 0 : forest->rows[y - 1];
        forest->rows[y] = (uint16_t)forest->count;
        for (uint64_t left = bits; left != 0;) {
            uint64_t mask = run_from(left, (uint32_t)__builtin_ctzll(left));
            forest->parents[forest->count] = (uint16_t)forest->count;
            join_above(forest, forest->count, mask, above, first_above);
            forest->count += 1;
            left &= ~mask;
        }
        above = bits;
    }
}

// Numbers the trees by their first runs, in place: afterwards `parents` are parts. Returns how
// many.
static uint32_t number_parts(struct forest *forest)
{
    uint32_t part_count = 0;
    for (uint32_t run = 0; run < forest->count; run++) {
        // Parents are smaller: theirs is a part already, and a root's own number is not below it.
        uint32_t parent = forest->parents[run];
        forest->parents[run] = parent == run ? (uint16_t)part_count++ : forest->parents[parent];
    }
    return part_count;
}

// Whether the whole of a block is free: what nobody has seen yet is.
static bool is_open(const fm_labels *labels, uint32_t i)
{
    uint64_t bits = UINT64_MAX;
    for (uint32_t y = 0; y < SIDE && bits == UINT64_MAX; y++) {
        bits = free_word(labels, i, y);
    }
    return bits == UINT64_MAX;
}

// False when out of memory.
static bool build_block(fm_labels *labels, uint32_t i, uint64_t *units)
{
    struct block *block = &labels->blocks[i];
    struct forest forest;
    uint32_t part_count = 1;
    *units += FM_LABELS_BLOCK_UNITS;
    if (!is_open(labels, i)) {
        plant(labels, i, &forest);
        part_count = number_parts(&forest);
        *units += forest.count / FM_LABELS_RUN_STRIDE;
    }
    uint16_t *rows = NULL;
    if (part_count > 1) {
        rows = fm_memory_allocate(labels->memory, (SIDE + forest.count) * sizeof *rows);
        if (rows == NULL) {
            return false;
        }
        memcpy(rows, forest.rows, sizeof forest.rows);
        memcpy(rows + SIDE, forest.parents, forest.count * sizeof *rows);
    }
    drop_runs(labels, block);
    if (rows != NULL) {
        block->rows = rows;
        block->runs = rows + SIDE;
        block->run_count = (uint16_t)forest.count;
    }
    labels->graph_dirty |= part_count != block->part_count;
    block->part_count = (uint16_t)part_count;
    return true;
}

// ---- edges of the graph -------------------------------------------------------------------------

// Edges of one rim while they are being found. Each has a pair of cells that no other one has.
struct rim {
    struct edge list[SIDE];
    uint32_t count;
};

static void add_edge(struct rim *rim, uint32_t here, uint32_t there)
{
    for (uint32_t k = 0; k < rim->count; k++) {
        if (rim->list[k].here == here && rim->list[k].there == there) {
            return;
        }
    }
    rim->list[rim->count++] = (struct edge){.here = (uint16_t)here, .there = (uint16_t)there};
}

// Two blocks of one part each have one edge at most: unseen land is full of them.
static bool is_complete(const struct rim *rim, const struct block *here, const struct block *there)
{
    return rim->count == 1 && here->runs == NULL && there->runs == NULL;
}

static void link_east(const fm_labels *labels, uint32_t i, struct rim *rim)
{
    const struct block *here = &labels->blocks[i], *there = &labels->blocks[i + 1];
    for (uint32_t y = 0; y < SIDE && !is_complete(rim, here, there); y++) {
        uint64_t west = free_word(labels, i, y), east = free_word(labels, i + 1, y);
        if ((west >> (SIDE - 1) & east & 1) != 0) {
            add_edge(rim, part_of(here, west, SIDE - 1, y), part_of(there, east, 0, y));
        }
    }
}

static void link_south(const fm_labels *labels, uint32_t i, struct rim *rim)
{
    uint32_t below = i + labels->columns;
    const struct block *here = &labels->blocks[i], *there = &labels->blocks[below];
    uint64_t north = free_word(labels, i, SIDE - 1), south = free_word(labels, below, 0);
    for (uint64_t touching = north & south; touching != 0 && !is_complete(rim, here, there);) {
        uint32_t x = (uint32_t)__builtin_ctzll(touching);
        add_edge(rim, part_of(here, north, x, SIDE - 1), part_of(there, south, x, 0));
        touching &= ~run_from(touching, x);
    }
}

typedef void link_fn(const fm_labels *labels, uint32_t i, struct rim *rim);

// Finds the edges again and notes whether they are others. False when out of memory.
static bool relink(fm_labels *labels, uint32_t i, struct edges *edges, link_fn *link)
{
    struct rim fresh = {.count = 0};
    link(labels, i, &fresh);
    size_t size = fresh.count * sizeof *fresh.list;
    if (fresh.count == edges->count &&
        (fresh.count == 0 || memcmp(fresh.list, edges->list, size) == 0)) {
        return true;
    }
    if (fresh.count > edges->capacity) {
        struct edge *list = fm_memory_allocate(labels->memory, size);
        if (list == NULL) {
            return false;
        }
        drop_edges(labels, edges);
        edges->list = list;
        edges->capacity = fresh.count;
    }
    memcpy(edges->list, fresh.list, size);
    edges->count = fresh.count;
    labels->graph_dirty = true;
    return true;
}

static bool relink_block(fm_labels *labels, uint32_t i)
{
    struct block *block = &labels->blocks[i];
    bool has_east = i % labels->columns + 1 < labels->columns;
    bool has_south = i / labels->columns + 1 < labels->rows;
    if ((has_east && !relink(labels, i, &block->east, link_east)) ||
        (has_south && !relink(labels, i, &block->south, link_south))) {
        return false;
    }
    block->edges_dirty = false;
    return true;
}

// ---- the graph ----------------------------------------------------------------------------------

static uint32_t node_root(uint32_t *nodes, uint32_t node)
{
    while (nodes[node] != node) {
        nodes[node] = nodes[nodes[node]];
        node = nodes[node];
    }
    return node;
}

static void join_nodes(uint32_t *nodes, const struct edges *edges, uint32_t here, uint32_t there)
{
    for (uint32_t k = 0; k < edges->count; k++) {
        uint32_t a = node_root(nodes, here + edges->list[k].here);
        uint32_t b = node_root(nodes, there + edges->list[k].there);
        nodes[a > b ? a : b] = a < b ? a : b;
    }
}

static bool reserve_nodes(fm_labels *labels, uint32_t count)
{
    if (count <= labels->node_capacity) {
        return true;
    }
    uint32_t capacity = count + count / 4;
    uint32_t *nodes = fm_memory_resize(labels->memory, labels->nodes, labels->node_capacity,
                                       capacity, sizeof *nodes);
    if (nodes == NULL) {
        return false;
    }
    labels->nodes = nodes;
    labels->node_capacity = capacity;
    return true;
}

static bool label_nodes(fm_labels *labels)
{
    uint32_t block_count = labels->columns * labels->rows, count = 0;
    for (uint32_t i = 0; i < block_count; i++) {
        labels->blocks[i].node = count;
        count += labels->blocks[i].part_count;
    }
    if (!reserve_nodes(labels, count)) {
        return false;
    }
    uint32_t *nodes = labels->nodes;
    labels->node_count = count;
    for (uint32_t node = 0; node < count; node++) {
        nodes[node] = node;
    }
    for (uint32_t i = 0; i < block_count; i++) {
        const struct block *block = &labels->blocks[i];
        if (block->east.count > 0) {
            join_nodes(nodes, &block->east, block->node, block[1].node);
        }
        if (block->south.count > 0) {
            join_nodes(nodes, &block->south, block->node, block[labels->columns].node);
        }
    }
    // Roots are the smallest nodes of their trees, so each is numbered before what hangs on it.
    uint32_t label_count = 0;
    for (uint32_t node = 0; node < count; node++) {
        nodes[node] = nodes[node] == node ? ++label_count : nodes[nodes[node]];
    }
    labels->graph_dirty = false;
    labels->graph_version += 1;
    return true;
}

// ---- update -------------------------------------------------------------------------------------

static void loosen(fm_labels *labels, uint32_t i)
{
    if (!labels->blocks[i].edges_dirty) {
        labels->blocks[i].edges_dirty = true;
        labels->loose[labels->loose_count++] = i;
    }
}

// The edges between two blocks belong to the one in the west or north.
static void loosen_around(fm_labels *labels, uint32_t i)
{
    loosen(labels, i);
    if (i % labels->columns > 0) {
        loosen(labels, i - 1);
    }
    if (i >= labels->columns) {
        loosen(labels, i - labels->columns);
    }
}

fm_status fm_labels_update(fm_labels *labels, uint64_t units_max, uint64_t *units)
{
    if (fm_labels_are_current(labels)) {
        return FM_OK;
    }
    uint64_t done = 0;
    bool has_memory = true;
    while (labels->dirty_count > 0 && has_memory && (done == 0 || done < units_max)) {
        uint32_t i = labels->dirty[labels->dirty_count - 1];
        has_memory = build_block(labels, i, &done);
        if (has_memory) {
            labels->blocks[i].dirty = false;
            labels->dirty_count -= 1;
            loosen_around(labels, i);
        }
    }
    while (labels->dirty_count == 0 && labels->loose_count > 0 && has_memory) {
        has_memory = relink_block(labels, labels->loose[labels->loose_count - 1]);
        labels->loose_count -= has_memory;
    }
    if (labels->dirty_count == 0 && has_memory) {
        if (labels->graph_dirty) {
            has_memory = label_nodes(labels);
            done += labels->node_count / FM_LABELS_NODE_STRIDE;
        }
        labels->version += has_memory;
    }
    *units += done;
    return has_memory ? FM_OK : FM_ERR_NO_MEMORY;
}

// ---- reading ------------------------------------------------------------------------------------

uint32_t fm_labels_of(const fm_labels *labels, fm_cell cell)
{
    FM_ASSERT(fm_labels_are_current(labels));
    uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    uint64_t bits = ~fm_bitmap_row(labels->view->blocked, (int32_t)y)[x / SIDE];
    if ((bits >> x % SIDE & 1) == 0) {
        return FM_LABEL_NONE;
    }
    const struct block *block = &labels->blocks[y / SIDE * labels->columns + x / SIDE];
    return labels->nodes[block->node + part_of(block, bits, x % SIDE, y % SIDE)];
}

uint64_t fm_labels_graph_version(const fm_labels *labels)
{
    return labels->graph_version;
}

size_t fm_labels_bytes(const fm_labels *labels)
{
    uint32_t count = labels->columns * labels->rows;
    size_t size = sizeof *labels + count * (sizeof *labels->blocks + 2 * sizeof *labels->dirty) +
                  labels->node_capacity * sizeof *labels->nodes +
                  labels->extent_capacity * sizeof *labels->extents +
                  (labels->answers == NULL ? 0 : ANSWERS_KEPT * sizeof *labels->answers);
    for (uint32_t i = 0; i < count; i++) {
        const struct block *block = &labels->blocks[i];
        size += (block->rows == NULL ? 0 : (SIDE + block->run_count) * sizeof(uint16_t)) +
                (block->east.capacity + block->south.capacity) * sizeof(struct edge);
    }
    return size;
}

// ---- the nearest cell of a component ------------------------------------------------------------

struct best {
    fm_cell cell;
    uint32_t distance;
    uint64_t square;
};

static void consider(const fm_view *view, fm_cell goal, fm_cell cell, struct best *best)
{
    uint32_t distance = fm_view_distance(view, cell, goal);
    uint64_t dx = fm_cell_dx(cell, goal), dy = fm_cell_dy(cell, goal);
    uint64_t square = dx * dx + dy * dy;
    if (distance < best->distance ||
        (distance == best->distance &&
         (square < best->square || (square == best->square && cell < best->cell)))) {
        *best = (struct best){cell, distance, square};
    }
}

// Makes room for the extents of all labels, of which there are no more than nodes.
static bool reserve_extents(fm_labels *labels)
{
    if (labels->extent_capacity >= labels->node_count) {
        return true;
    }
    uint32_t capacity = labels->node_capacity;
    struct extent *extents = fm_memory_allocate(labels->memory, capacity * sizeof *extents);
    if (extents == NULL) {
        return false;
    }
    fm_memory_release(labels->memory, labels->extents,
                      labels->extent_capacity * sizeof *labels->extents);
    labels->extents = extents;
    labels->extent_capacity = capacity;
    labels->extents_version = 0; // no graph has that
    return true;
}

static void extend(struct extent *extent, uint32_t column, uint32_t row)
{
    extent->left = (uint8_t)fm_min(extent->left, column);
    extent->top = (uint8_t)fm_min(extent->top, row);
    extent->right = extent->right > column ? extent->right : (uint8_t)column;
    extent->bottom = extent->bottom > row ? extent->bottom : (uint8_t)row;
}

static bool find_extents(fm_labels *labels)
{
    if (!reserve_extents(labels)) {
        return false;
    }
    if (labels->extents_version == labels->graph_version) {
        return true;
    }
    for (uint32_t node = 0; node < labels->node_count; node++) {
        labels->extents[node] = (struct extent){.left = UINT8_MAX, .top = UINT8_MAX};
    }
    for (uint32_t i = 0; i < labels->columns * labels->rows; i++) {
        const struct block *block = &labels->blocks[i];
        const uint32_t *nodes = labels->nodes + block->node;
        for (uint32_t part = 0; part < block->part_count; part++) {
            extend(&labels->extents[nodes[part] - 1], i % labels->columns, i / labels->columns);
        }
    }
    labels->extents_version = labels->graph_version;
    return true;
}

// Without memory it may be anywhere. What is found, and charged, is the same.
static struct extent extent_of(fm_labels *labels, uint32_t label)
{
    return label - 1 < labels->node_count && find_extents(labels)
               ? labels->extents[label - 1]
               : (struct extent){.right = (uint8_t)(labels->columns - 1),
                                 .bottom = (uint8_t)(labels->rows - 1)};
}

// A look around for the nearest cell.
struct look {
    const fm_labels *labels;
    fm_cell goal;
    uint32_t label;
    struct extent within; // blocks
    struct best best;
    uint64_t units;
};

static bool has_label(const struct look *look, const struct block *block)
{
    const uint32_t *nodes = look->labels->nodes + block->node;
    for (uint32_t part = 0; part < block->part_count; part++) {
        if (nodes[part] == look->label) {
            return true;
        }
    }
    return false;
}

// Of each run with the label, the cell next to the goal's column is the nearest.
static void look_through_block(struct look *look, uint32_t i)
{
    const fm_labels *labels = look->labels;
    const fm_view *view = labels->view;
    const struct block *block = &labels->blocks[i];
    uint32_t left = i % labels->columns * SIDE, top = i / labels->columns * SIDE;
    for (uint32_t y = 0; y < SIDE; y++) {
        uint32_t dy = fm_cell_dy(fm_cell_at(0, top + y), look->goal);
        if (view->step[0] * dy > look->best.distance) {
            continue;
        }
        uint64_t bits = free_word(labels, i, y);
        for (uint64_t rest = bits; rest != 0;) {
            uint32_t x = (uint32_t)__builtin_ctzll(rest);
            uint64_t mask = run_from(rest, x);
            rest &= ~mask;
            if (labels->nodes[block->node + part_of(block, bits, x, y)] == look->label) {
                uint32_t first = left + x, last = left + 63 - (uint32_t)__builtin_clzll(mask);
                uint32_t goal_x = fm_cell_x(look->goal);
                uint32_t nearest = goal_x < first ? first : goal_x > last ? last : goal_x;
                consider(view, look->goal, fm_cell_at(nearest, top + y), &look->best);
            }
        }
    }
}

static bool may_be_nearer(const struct look *look, uint32_t column, uint32_t row)
{
    fm_box box = {.left = (int32_t)(column * SIDE),
                  .top = (int32_t)(row * SIDE),
                  .right = (int32_t)(column * SIDE + SIDE - 1),
                  .bottom = (int32_t)(row * SIDE + SIDE - 1)};
    const fm_view *view = look->labels->view;
    return fm_box_distance(view, view->connectivity == FM_CONNECT_4, &box, look->goal) <=
           look->best.distance;
}

static void look_at_block(struct look *look, int32_t column, int32_t row)
{
    const struct extent *within = &look->within;
    if (column < within->left || column > within->right || row < within->top ||
        row > within->bottom) {
        return;
    }
    uint32_t i = (uint32_t)row * look->labels->columns + (uint32_t)column;
    if (has_label(look, &look->labels->blocks[i]) &&
        may_be_nearer(look, (uint32_t)column, (uint32_t)row)) {
        look_through_block(look, i);
        look->units += FM_LABELS_BLOCK_UNITS;
    }
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static void look_along_ring(struct look *look, int32_t column, int32_t row, int32_t ring)
{
    const struct extent *within = &look->within;
    int32_t end = -larger(-ring, column - within->right);
    for (int32_t at = larger(-ring, within->left - column); at <= end; at++) {
        look_at_block(look, column + at, row - ring);
        if (ring > 0) {
            look_at_block(look, column + at, row + ring);
        }
    }
    end = -larger(-ring + 1, row - within->bottom);
    for (int32_t at = larger(-ring + 1, within->top - row); at <= end; at++) {
        look_at_block(look, column - ring, row + at);
        look_at_block(look, column + ring, row + at);
    }
}

// Rings of blocks around the goal's. A cell of ring k is more than (k - 1) * SIDE steps away. Where
// the ground is in many small pieces, only the few blocks are examined where the label is.
static fm_cell look_around(fm_labels *labels, fm_cell goal, uint32_t label, uint64_t *units)
{
    struct look look = {
        .labels = labels,
        .goal = goal,
        .label = label,
        .within = extent_of(labels, label),
        .best = {.cell = FM_CELL_NONE, .distance = UINT32_MAX, .square = UINT64_MAX},
    };
    int32_t column = (int32_t)(fm_cell_x(goal) / SIDE), row = (int32_t)(fm_cell_y(goal) / SIDE);
    int32_t rings = (int32_t)(labels->columns > labels->rows ? labels->columns : labels->rows);
    for (int32_t k = 0; k < rings; k++) {
        if (k > 0 && (uint64_t)(k - 1) * SIDE * labels->view->step[0] > look.best.distance) {
            break;
        }
        look_along_ring(&look, column, row, k);
        look.units += 1;
    }
    *units += look.units;
    return look.best.cell;
}

fm_cell fm_labels_nearest(fm_labels *labels, fm_cell goal, uint32_t label, uint64_t *units)
{
    FM_ASSERT(fm_labels_are_current(labels));
    if (labels->answers == NULL) {
        labels->answers =
            fm_memory_allocate_zeroed(labels->memory, ANSWERS_KEPT, sizeof *labels->answers);
        if (labels->answers == NULL) {
            return look_around(labels, goal, label, units);
        }
    }
    uint64_t place = fm_mix64((uint64_t)label << 32 | goal) % ANSWERS_KEPT;
    struct answer *answer = &labels->answers[place];
    if (answer->version != labels->version + 1 || answer->goal != goal || answer->label != label) {
        *answer = (struct answer){.goal = goal,
                                  .label = label,
                                  .cell = look_around(labels, goal, label, units),
                                  .version = labels->version + 1};
    }
    return answer->cell;
}

void fm_labels_forget_answers(fm_labels *labels)
{
    fm_memory_release(labels->memory, labels->answers, ANSWERS_KEPT * sizeof *labels->answers);
    labels->answers = NULL;
}
