// core/crowd/knot.c: see knot.h.

#include "core/crowd/knot.h"

#include "core/base/random.h"
#include "core/crowd/knot_step.h"

#include <string.h>

#define TABLE_SIZE      16384u     // a power of two
#define BYTES_MAX       (8u << 20) // of all configurations
#define BYTES_EACH      2u         // of a configuration for each unit, sizeof(uint16_t)
#define CONSTRAINTS_MAX 8u         // for each configuration that there may be

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
    uint32_t unit_count, nodes_max;
    fm_knot_state state;
    // Growing.
    struct node *nodes;
    struct constraint *constraints;
    uint32_t *stack;
    uint16_t *places; // of each node: where each unit is,
    uint16_t *waits;  // and for how many steps it was not at its goal
    uint32_t node_count, node_capacity;
    uint32_t constraint_count, constraint_capacity;
    uint32_t depth, stack_capacity;
    uint32_t place_capacity, wait_capacity;
    uint32_t path_length; // of the plan that was found
    uint32_t order_of;    // the node whose order stands in `order`
    uint32_t table[TABLE_SIZE];
    uint16_t order[FM_KNOT_UNITS_MAX]; // in which units are asked
    fm_knot_unit units[FM_KNOT_UNITS_MAX];
    fm_knot_cell beside[FM_KNOT_CELLS_MAX];
    fm_knot_kind kinds[FM_KNOT_KINDS_MAX];
    fm_knot_step step;
    uint16_t distances[]; // to the goal of each unit, cell by cell
};

static uint16_t *places_of(const fm_knot *knot, uint32_t node)
{
    return knot->places + (size_t)node * knot->unit_count;
}

// ---- setting up ---------------------------------------------------------------------------------

static void measure(fm_knot *knot, uint32_t unit)
{
    uint16_t queue[FM_KNOT_CELLS_MAX];
    uint32_t cell_count = knot->step.ground.cell_count;
    uint16_t *distances = knot->distances + unit * cell_count;
    const fm_knot_cell *steps = knot->kinds[knot->units[unit].kind].steps;
    memset(distances, 0xff, cell_count * sizeof *distances);
    uint32_t count = 0;
    queue[count++] = knot->units[unit].goal;
    distances[queue[0]] = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
            uint16_t next = steps[queue[i]].next[d];
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

static void count_waits(fm_knot *knot, uint32_t node, uint32_t parent)
{
    uint16_t *waits = knot->waits + (size_t)node * knot->unit_count;
    const uint16_t *waits_before = knot->waits + (size_t)parent * knot->unit_count;
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        uint16_t left = fm_knot_distance(&knot->step, i, places_of(knot, node)[i]);
        waits[i] = left == 0 ? 0 : node == parent ? left : (uint16_t)(waits_before[i] + 1);
    }
}

// Makes room for one node more.
static bool reserve(fm_knot *knot)
{
    uint32_t count = knot->node_count + 1;
    return knot->node_count < knot->nodes_max &&
           FM_RESERVE_FROM(knot->memory, knot->nodes, knot->node_capacity, count) &&
           FM_RESERVE_FROM(knot->memory, knot->places, knot->place_capacity,
                           count * knot->unit_count) &&
           FM_RESERVE_FROM(knot->memory, knot->waits, knot->wait_capacity,
                           count * knot->unit_count);
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
    if (!reserve(knot)) {
        return FM_KNOT_NODES_MAX;
    }
    uint32_t node = knot->node_count++;
    knot->nodes[node] = (struct node){.parent = parent, .chain = *slot};
    *slot = node + 1;
    memcpy(places_of(knot, node), places, size);
    count_waits(knot, node, parent);
    return node;
}

static bool push(fm_knot *knot, uint32_t node)
{
    if (!FM_RESERVE_FROM(knot->memory, knot->stack, knot->stack_capacity, knot->depth + 1)) {
        return false;
    }
    knot->stack[knot->depth++] = node;
    return true;
}

static void copy_ground(fm_knot *knot, const fm_knot_ground *ground)
{
    memcpy(knot->beside, ground->beside, ground->cell_count * sizeof *ground->beside);
    memcpy(knot->kinds, ground->kinds, ground->kind_count * sizeof *ground->kinds);
    knot->step.ground = *ground;
    knot->step.ground.beside = knot->beside;
    knot->step.ground.kinds = knot->kinds;
}

fm_status fm_knot_create(const fm_knot_ground *ground, const fm_knot_unit *units,
                         uint32_t unit_count, uint32_t nodes_max, uint64_t seed,
                         const fm_memory *memory, fm_knot **out)
{
    FM_ASSERT(ground->cell_count <= FM_KNOT_CELLS_MAX && unit_count <= FM_KNOT_UNITS_MAX &&
              ground->kind_count <= FM_KNOT_KINDS_MAX && nodes_max <= FM_KNOT_NODES_MAX);
    size_t size = sizeof(fm_knot) + (size_t)unit_count * ground->cell_count * sizeof(uint16_t);
    fm_knot *knot = fm_memory_allocate_zeroed(memory, 1, size);
    if (knot == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    uint32_t fitting = BYTES_MAX / (2 * BYTES_EACH * unit_count);
    knot->memory = memory;
    knot->size = size;
    knot->unit_count = unit_count;
    knot->nodes_max = nodes_max < fitting ? nodes_max : fitting;
    knot->order_of = FM_KNOT_NODES_MAX;
    knot->constraint_count = 1; // 0 is none
    memcpy(knot->units, units, unit_count * sizeof *units);
    copy_ground(knot, ground);
    knot->step.units = knot->units;
    knot->step.unit_count = unit_count;
    knot->step.distances = knot->distances;
    knot->step.random = fm_random_seed(seed);
    fm_knot_step_init(&knot->step);
    uint16_t starts[FM_KNOT_UNITS_MAX];
    for (uint32_t i = 0; i < unit_count; i++) {
        starts[i] = units[i].start;
        if (units[i].goal != FM_KNOT_NONE) {
            measure(knot, i);
        }
    }
    uint32_t node = find_or_add(knot, starts, 0);
    if (node == FM_KNOT_NODES_MAX || !push(knot, node)) {
        fm_knot_destroy(knot);
        return FM_ERR_NO_MEMORY;
    }
    *out = knot;
    return FM_OK;
}

void fm_knot_destroy(fm_knot *knot)
{
    if (knot == NULL) {
        return;
    }
    const fm_memory *memory = knot->memory;
    fm_memory_release(memory, knot->nodes, knot->node_capacity * sizeof *knot->nodes);
    fm_memory_release(memory, knot->constraints,
                      knot->constraint_capacity * sizeof *knot->constraints);
    fm_memory_release(memory, knot->stack, knot->stack_capacity * sizeof *knot->stack);
    fm_memory_release(memory, knot->places, knot->place_capacity * sizeof *knot->places);
    fm_memory_release(memory, knot->waits, knot->wait_capacity * sizeof *knot->waits);
    fm_memory_release(memory, knot, knot->size);
}

// ---- the search ---------------------------------------------------------------------------------

// Sorts by one byte, keeping the order of equals. Largest first.
static void sort_by_byte(const uint16_t *keys, const uint16_t *from, uint16_t *to, uint32_t count,
                         uint32_t shift)
{
    uint32_t starts[256] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        starts[keys[from[i]] >> shift & 255] += 1;
    }
    for (uint32_t value = 256; value-- > 0;) {
        uint32_t here = starts[value];
        starts[value] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        to[starts[keys[from[i]] >> shift & 255]++] = from[i];
    }
}

// Who has been off its goal for longest is asked first.
static void set_order(fm_knot *knot, uint32_t node)
{
    if (knot->order_of == node) {
        return;
    }
    uint16_t units[FM_KNOT_UNITS_MAX], sorted[FM_KNOT_UNITS_MAX];
    const uint16_t *waits = knot->waits + (size_t)node * knot->unit_count;
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        units[i] = (uint16_t)i;
    }
    sort_by_byte(waits, units, sorted, knot->unit_count, 0);
    sort_by_byte(waits, sorted, knot->order, knot->unit_count, 8);
    knot->order_of = node;
}

static bool obey(fm_knot *knot, uint32_t constraint)
{
    for (uint32_t i = constraint; i != 0; i = knot->constraints[i].parent) {
        const struct constraint *c = &knot->constraints[i];
        if (c->depth > 0 && !fm_knot_step_tell(&knot->step, c->unit, c->cell)) {
            return false;
        }
    }
    return true;
}

static void add_constraint(fm_knot *knot, struct node *node, uint32_t parent, uint32_t depth,
                           uint16_t unit, uint16_t cell)
{
    if (knot->constraint_count == CONSTRAINTS_MAX * knot->nodes_max ||
        !FM_RESERVE_FROM(knot->memory, knot->constraints, knot->constraint_capacity,
                         knot->constraint_count + 1)) {
        return; // the search becomes less thorough
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
    uint16_t unit = knot->order[depth], cells[FM_KNOT_OPTIONS_MAX];
    uint32_t count = fm_knot_step_options(&knot->step, unit, places_of(knot, at)[unit], cells);
    for (uint32_t i = 0; i < count; i++) {
        add_constraint(knot, &knot->nodes[at], constraint, depth + 1, unit, cells[i]);
    }
}

static bool is_goal(const fm_knot *knot, uint32_t node)
{
    for (uint32_t i = 0; i < knot->unit_count; i++) {
        if (fm_knot_distance(&knot->step, i, places_of(knot, node)[i]) != 0) {
            return false;
        }
    }
    return true;
}

// Makes one configuration, or drops one with nothing left to try. Returns whether the search
// continues.
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
    set_order(knot, at);
    fm_knot_step_begin(&knot->step, places_of(knot, at));
    branch(knot, at, constraint, constraint == 0 ? 0 : knot->constraints[constraint].depth);
    if (!obey(knot, constraint) || !fm_knot_step_complete(&knot->step, knot->order)) {
        return true;
    }
    uint32_t next = find_or_add(knot, knot->step.to, at);
    return next != FM_KNOT_NODES_MAX && (next == at || push(knot, next));
}

// The plan goes from parent to parent; the stack receives it, the first step first.
static bool unfold(fm_knot *knot, uint32_t node)
{
    uint32_t length = 0;
    for (uint32_t i = node; i != 0; i = knot->nodes[i].parent) {
        length += 1;
    }
    if (!FM_RESERVE_FROM(knot->memory, knot->stack, knot->stack_capacity, length + 1)) {
        return false;
    }
    knot->path_length = length;
    knot->stack[0] = 0;
    for (uint32_t i = node; i != 0; i = knot->nodes[i].parent) {
        knot->stack[length--] = i;
    }
    return true;
}

fm_knot_state fm_knot_search(fm_knot *knot, uint32_t configurations, uint64_t work, uint64_t *used)
{
    uint64_t done = 0;
    for (uint32_t i = 0; i < configurations && done < work && knot->state == FM_KNOT_RUNNING; i++) {
        if (knot->depth == 0) {
            knot->state = FM_KNOT_FAILED;
        } else if (is_goal(knot, knot->stack[knot->depth - 1])) {
            bool fits = unfold(knot, knot->stack[knot->depth - 1]);
            knot->state = fits ? FM_KNOT_FOUND : FM_KNOT_FAILED;
        } else {
            bool continues = open_next(knot);
            done += fm_knot_step_work(&knot->step);
            knot->state = continues ? FM_KNOT_RUNNING : FM_KNOT_FAILED;
        }
    }
    *used += done;
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
