// core/crowd/knot.c: see knot.h.

#include "core/crowd/knot.h"

#include "core/base/random.h"

#include <string.h>

#define TABLE_SIZE      8192u // a power of two, more than nodes
#define CONSTRAINTS_MAX (8u * FM_KNOT_NODES_MAX)
#define OPTIONS_MAX     (FM_DIRECTION_COUNT + 1u) // cells around and one's own

// "Unit goes to cell", besides what `parent` says.
struct constraint {
    uint32_t parent; // index, 0: none
    uint32_t next;   // of the same configuration, in the order in which they are tried; 0: last
    uint16_t unit, cell;
    uint16_t depth; // how many units have a fixed next cell
};

struct node {
    uint32_t parent;      // from which it was made; itself for the first
    uint32_t first, last; // constraints not tried yet; first 0: none
    uint32_t chain;       // node + 1 with the same hash
    bool began;           // the empty constraint was tried
};

struct fm_knot {
    const fm_memory *memory;
    size_t size;
    uint32_t cell_count, unit_count;
    fm_random random;
    uint32_t node_count, constraint_count, depth;
    uint32_t path_length; // of the plan that was found
    fm_knot_state state;
    uint32_t table[TABLE_SIZE];
    uint32_t stack[2 * FM_KNOT_NODES_MAX];
    struct node nodes[FM_KNOT_NODES_MAX];
    struct constraint constraints[CONSTRAINTS_MAX];
    uint16_t now[FM_KNOT_CELLS_MAX], then[FM_KNOT_CELLS_MAX]; // unit + 1 in a cell, 0: nobody
    uint16_t to[FM_KNOT_UNITS_MAX]; // where each goes; FM_KNOT_NONE: not decided
    fm_knot_cell cells[FM_KNOT_CELLS_MAX];
    fm_knot_unit units[FM_KNOT_UNITS_MAX];
    uint16_t *distances; // to the goal of each unit, cell by cell
    uint16_t *places;    // of each node: where each unit is,
    uint16_t *orders;    // in which order they are asked,
    uint16_t *waits;     // and for how many steps each was not at its goal
};

static uint16_t distance(const fm_knot *knot, uint32_t unit, uint32_t cell)
{
    return knot->units[unit].goal == FM_KNOT_NONE ? 0
                                                  : knot->distances[unit * knot->cell_count + cell];
}

static uint16_t *places_of(const fm_knot *knot, uint32_t node)
{
    return knot->places + (size_t)node * knot->unit_count;
}

// ---- setting up ---------------------------------------------------------------------------------

static void measure(fm_knot *knot, uint32_t unit)
{
    uint16_t queue[FM_KNOT_CELLS_MAX];
    uint16_t *distances = knot->distances + unit * knot->cell_count;
    memset(distances, 0xff, knot->cell_count * sizeof *distances);
    uint32_t count = 0;
    queue[count++] = knot->units[unit].goal;
    distances[queue[0]] = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            uint16_t next = knot->cells[queue[i]].next[d];
            if (next != FM_KNOT_NONE && distances[next] == UINT16_MAX) {
                distances[next] = (uint16_t)(distances[queue[i]] + 1);
                queue[count++] = next;
            }
        }
    }
}

static uint32_t hash_of(const fm_knot *knot, const uint16_t *places)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        hash = fm_mix64(hash + places[i] + 1);
    }
    return (uint32_t)hash & (TABLE_SIZE - 1);
}

// Who has been off its goal for longest is asked first.
static void set_order(fm_knot *knot, uint32_t node, uint32_t parent)
{
    size_t begin = (size_t)node * knot->unit_count;
    uint16_t *order = knot->orders + begin, *waits = knot->waits + begin;
    const uint16_t *waits_before = knot->waits + (size_t)parent * knot->unit_count;
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        uint16_t left = distance(knot, i, places_of(knot, node)[i]);
        waits[i] = left == 0 ? 0 : node == parent ? left : (uint16_t)(waits_before[i] + 1);
        uint32_t j = i;
        for (; j > 0 && waits[order[j - 1]] < waits[i]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = (uint16_t)i;
    }
}

// The node of a configuration, made if there is none; FM_KNOT_NODES_MAX when there is no room.
static uint32_t find_or_add(fm_knot *knot, const uint16_t *places, uint32_t parent)
{
    uint32_t *slot = &knot->table[hash_of(knot, places)];
    size_t size = knot->unit_count * sizeof *places;
    for (uint32_t i = *slot; i != 0; i = knot->nodes[i - 1].chain) {
        if (memcmp(places_of(knot, i - 1), places, size) == 0) {
            return i - 1;
        }
    }
    if (knot->node_count == FM_KNOT_NODES_MAX) {
        return FM_KNOT_NODES_MAX;
    }
    uint32_t node = knot->node_count++;
    knot->nodes[node] = (struct node){.parent = parent, .chain = *slot};
    *slot = node + 1;
    memcpy(places_of(knot, node), places, size);
    set_order(knot, node, parent);
    return node;
}

fm_status fm_knot_create(const fm_knot_cell *cells, uint32_t cell_count, const fm_knot_unit *units,
                         uint32_t unit_count, uint64_t seed, const fm_memory *memory, fm_knot **out)
{
    FM_ASSERT(cell_count <= FM_KNOT_CELLS_MAX && unit_count <= FM_KNOT_UNITS_MAX);
    size_t per_node = (size_t)FM_KNOT_NODES_MAX * unit_count * sizeof(uint16_t);
    size_t size =
        sizeof(fm_knot) + (size_t)unit_count * cell_count * sizeof(uint16_t) + 3 * per_node;
    fm_knot *knot = fm_memory_allocate_zeroed(memory, 1, size);
    if (knot == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    knot->memory = memory;
    knot->size = size;
    knot->cell_count = cell_count;
    knot->unit_count = unit_count;
    knot->random = fm_random_seed(seed);
    knot->constraint_count = 1; // 0 is none
    knot->distances = (uint16_t *)(knot + 1);
    knot->places = knot->distances + (size_t)unit_count * cell_count;
    knot->orders = knot->places + (size_t)FM_KNOT_NODES_MAX * unit_count;
    knot->waits = knot->orders + (size_t)FM_KNOT_NODES_MAX * unit_count;
    memcpy(knot->cells, cells, cell_count * sizeof *cells);
    memcpy(knot->units, units, unit_count * sizeof *units);
    uint16_t starts[FM_KNOT_UNITS_MAX];
    for (uint32_t i = 0; i < unit_count; i++) {
        starts[i] = units[i].start;
        if (units[i].goal != FM_KNOT_NONE) {
            measure(knot, i);
        }
    }
    knot->stack[knot->depth++] = find_or_add(knot, starts, 0);
    *out = knot;
    return FM_OK;
}

void fm_knot_destroy(fm_knot *knot)
{
    if (knot != NULL) {
        fm_memory_release(knot->memory, knot, knot->size);
    }
}

// ---- one configuration from another ------------------------------------------------------------

// Whether two who go from `from` to `to` and back, or over the diagonals of one square, would meet.
static bool meets(const fm_knot *knot, uint16_t from, uint16_t to)
{
    uint16_t other = knot->now[to];
    if (other != 0 && knot->to[other - 1] == from) {
        return true;
    }
    for (uint32_t d = 1; d < FM_DIRECTION_COUNT; d += 2) {
        if (knot->cells[from].next[d] == to) {
            uint16_t left = knot->cells[from].next[d - 1];
            uint16_t right = knot->cells[from].next[(d + 1) % FM_DIRECTION_COUNT];
            uint16_t one = left == FM_KNOT_NONE ? 0 : knot->now[left];
            uint16_t two = right == FM_KNOT_NONE ? 0 : knot->now[right];
            return (one != 0 && right != FM_KNOT_NONE && knot->to[one - 1] == right) ||
                   (two != 0 && left != FM_KNOT_NONE && knot->to[two - 1] == left);
        }
    }
    return false;
}

// The cells that a unit may go to, its own among them; the nearest to its goal first, equals in any
// order, cells where nobody is before others.
static uint32_t list_options(fm_knot *knot, uint32_t unit, uint16_t at, uint16_t *cells)
{
    uint32_t keys[OPTIONS_MAX], count = 0;
    for (uint32_t d = 0; d < OPTIONS_MAX; d++) {
        uint16_t cell = d == FM_DIRECTION_COUNT ? at : knot->cells[at].next[d];
        if (cell == FM_KNOT_NONE) {
            continue;
        }
        bool taken = cell != at && knot->now[cell] != 0;
        uint32_t key = (uint32_t)distance(knot, unit, cell) << 8 | (uint32_t)taken << 7 |
                       ((uint32_t)fm_random_next(&knot->random) & 127);
        uint32_t j = count++;
        for (; j > 0 && keys[j - 1] > key; j--) {
            keys[j] = keys[j - 1];
            cells[j] = cells[j - 1];
        }
        keys[j] = key;
        cells[j] = cell;
    }
    return count;
}

// Priority inheritance for one unit. Not deeper than there are units.
static bool decide(fm_knot *knot, const uint16_t *places, uint32_t unit)
{
    uint16_t at = places[unit], cells[OPTIONS_MAX];
    uint32_t count = list_options(knot, unit, at, cells);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t cell = cells[i];
        if (knot->then[cell] != 0 || (cell != at && meets(knot, at, cell))) {
            continue;
        }
        knot->then[cell] = (uint16_t)(unit + 1);
        knot->to[unit] = cell;
        uint16_t other = knot->now[cell];
        if (other == 0 || other == unit + 1 || knot->to[other - 1] != FM_KNOT_NONE ||
            decide(knot, places, other - 1u)) {
            return true;
        }
    }
    knot->then[at] = (uint16_t)(unit + 1);
    knot->to[unit] = at;
    return false;
}

static bool obey(fm_knot *knot, const uint16_t *places, uint32_t constraint)
{
    for (uint32_t i = constraint; i != 0; i = knot->constraints[i].parent) {
        const struct constraint *c = &knot->constraints[i];
        if (c->depth == 0) {
            continue;
        }
        uint16_t at = places[c->unit];
        if (knot->then[c->cell] != 0 || (c->cell != at && meets(knot, at, c->cell))) {
            return false;
        }
        knot->then[c->cell] = (uint16_t)(c->unit + 1);
        knot->to[c->unit] = c->cell;
    }
    return true;
}

// Whether there is a successor of a node under a constraint; it is in `to`.
static bool make_next(fm_knot *knot, uint32_t node, uint32_t constraint)
{
    const uint16_t *places = places_of(knot, node);
    const uint16_t *order = knot->orders + (size_t)node * knot->unit_count;
    memset(knot->now, 0, sizeof knot->now);
    memset(knot->then, 0, sizeof knot->then);
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        knot->now[places[i]] = (uint16_t)(i + 1);
        knot->to[i] = FM_KNOT_NONE;
    }
    if (!obey(knot, places, constraint)) {
        return false;
    }
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        if (knot->to[order[i]] == FM_KNOT_NONE && !decide(knot, places, order[i])) {
            return false;
        }
    }
    return true;
}

// ---- the search ---------------------------------------------------------------------------------

static void add_constraint(fm_knot *knot, struct node *node, uint32_t parent, uint32_t depth,
                           uint16_t unit, uint16_t cell)
{
    if (knot->constraint_count == CONSTRAINTS_MAX) {
        return; // the search gets less thorough
    }
    uint32_t index = knot->constraint_count++;
    knot->constraints[index] =
        (struct constraint){.parent = parent, .unit = unit, .cell = cell, .depth = (uint16_t)depth};
    if (node->first == 0) {
        node->first = index;
    } else {
        knot->constraints[node->last].next = index;
    }
    node->last = index;
}

// Fixes the next cell of one more unit, in every possible way.
static void branch(fm_knot *knot, uint32_t at, uint32_t constraint, uint32_t depth)
{
    if (depth == knot->unit_count) {
        return;
    }
    uint16_t unit = knot->orders[(size_t)at * knot->unit_count + depth], cells[OPTIONS_MAX];
    memset(knot->now, 0, sizeof knot->now);
    uint32_t count = list_options(knot, unit, places_of(knot, at)[unit], cells);
    for (uint32_t i = 0; i < count; i++) {
        add_constraint(knot, &knot->nodes[at], constraint, depth + 1, unit, cells[i]);
    }
}

static bool is_goal(const fm_knot *knot, uint32_t node)
{
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        if (distance(knot, i, places_of(knot, node)[i]) != 0) {
            return false;
        }
    }
    return true;
}

// One configuration is made, or found to have nothing left. Returns whether the search continues.
static bool open_next(fm_knot *knot)
{
    uint32_t at = knot->stack[knot->depth - 1];
    struct node *node = &knot->nodes[at];
    uint32_t constraint = node->first;
    if (node->began && constraint == 0) {
        knot->depth -= 1;
        return true;
    }
    if (node->began) {
        node->first = knot->constraints[constraint].next;
    }
    node->began = true;
    branch(knot, at, constraint, constraint == 0 ? 0 : knot->constraints[constraint].depth);
    if (!make_next(knot, at, constraint)) {
        return true;
    }
    uint32_t next = find_or_add(knot, knot->to, at);
    if (next == FM_KNOT_NODES_MAX) {
        return false;
    }
    if (next != at && knot->depth < FM_COUNT_OF(knot->stack)) {
        knot->stack[knot->depth++] = next;
    }
    return true;
}

// The plan goes from parent to parent; the stack receives it, the first step first.
static void unfold(fm_knot *knot, uint32_t node)
{
    uint32_t length = 0;
    for (uint32_t i = node; i != 0; i = knot->nodes[i].parent) {
        length += 1;
    }
    knot->path_length = length;
    knot->stack[0] = 0;
    for (uint32_t i = node; i != 0; i = knot->nodes[i].parent) {
        knot->stack[length--] = i;
    }
}

fm_knot_state fm_knot_search(fm_knot *knot, uint32_t work)
{
    for (uint32_t i = 0; i < work && knot->state == FM_KNOT_RUNNING; i++) {
        if (knot->depth == 0) {
            knot->state = FM_KNOT_FAILED;
        } else if (is_goal(knot, knot->stack[knot->depth - 1])) {
            unfold(knot, knot->stack[knot->depth - 1]);
            knot->state = FM_KNOT_FOUND;
        } else if (!open_next(knot)) {
            knot->state = FM_KNOT_FAILED;
        }
    }
    return knot->state;
}

uint32_t fm_knot_steps(const fm_knot *knot)
{
    return knot->path_length;
}

const uint16_t *fm_knot_at(const fm_knot *knot, uint32_t step)
{
    return places_of(knot, knot->stack[step]);
}
