// core/orders/deal.c: see deal.h.

#include "core/orders/deal.h"

#include "core/world/agent.h"
#include "core/world/world_parts.h"

#include <stdlib.h>

#define EXCHANGES_MAX   (1u << 18) // pairs examined, for one command
#define EXCHANGE_PASSES 4u
#define NEIGHBOURS_MAX  64u // next ones in strip order that a unit may exchange goals with

int64_t fm_square_root(int64_t square)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 31; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= square) {
            root += bit;
        }
    }
    return root;
}

// A unit or a goal, as seen in the direction of march.
struct spot {
    int64_t right, ahead;
    uint32_t index;
    fm_cell cell;
};

static struct spot spot_of(int64_t dx, int64_t dy, uint32_t index, fm_cell cell)
{
    int64_t x = fm_cell_x(cell), y = fm_cell_y(cell);
    return (struct spot){
        .right = y * dx - x * dy, .ahead = x * dx + y * dy, .index = index, .cell = cell};
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int from_left_to_right(const void *a, const void *b)
{
    const struct spot *first = a, *second = b;
    int by_place = compare(first->right, second->right);
    return by_place != 0 ? by_place : compare(first->index, second->index);
}

static int from_front_to_back(const void *a, const void *b)
{
    const struct spot *first = a, *second = b;
    int by_place = compare(second->ahead, first->ahead);
    return by_place != 0 ? by_place : compare(first->index, second->index);
}

// Strips from left to right, each from front to back.
static void sort_into_strips(struct spot *spots, uint32_t count)
{
    uint32_t strip_count = (uint32_t)fm_square_root(count);
    qsort(spots, count, sizeof *spots, from_left_to_right);
    for (uint32_t strip = 0; strip < strip_count; strip++) {
        uint32_t begin = (uint32_t)((uint64_t)count * strip / strip_count);
        uint32_t end = (uint32_t)((uint64_t)count * (strip + 1) / strip_count);
        qsort(spots + begin, end - begin, sizeof *spots, from_front_to_back);
    }
}

// Length of a path as the crow flies, in 1 / 65536 cells. Paths that cross are longer in sum than
// paths that do not, often by very little; octile distance would not show it.
static uint64_t length_of(fm_cell from, fm_cell to)
{
    uint64_t dx = fm_cell_dx(from, to), dy = fm_cell_dy(from, to);
    uint64_t square = (dx * dx + dy * dy) << 32;
    uint64_t root = (uint64_t)__builtin_sqrt((double)square); // one off at most; made exact
    root -= root * root > square;
    root += (root + 1) * (root + 1) <= square;
    return root;
}

// Pairs near each other in strip order exchange goals while that shortens their paths in sum.
static void exchange(uint32_t count, const struct spot *units, struct spot *goals,
                     uint64_t *lengths)
{
    uint32_t reach = EXCHANGES_MAX / EXCHANGE_PASSES / count;
    reach = reach < 1 ? 1 : reach > NEIGHBOURS_MAX ? NEIGHBOURS_MAX : reach;
    for (uint32_t i = 0; i < count; i++) {
        lengths[i] = length_of(units[i].cell, goals[i].cell);
    }
    bool changed = true;
    for (uint32_t pass = 0; pass < EXCHANGE_PASSES && changed; pass++) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t own = length_of(units[i].cell, goals[i].cell);
            for (uint32_t j = i + 1; j < count && j <= i + reach; j++) {
                uint64_t now = own + lengths[j];
                uint64_t own_then = length_of(units[i].cell, goals[j].cell);
                uint64_t other_then = length_of(units[j].cell, goals[i].cell);
                if (own_then + other_then < now) {
                    struct spot goal = goals[i];
                    goals[i] = goals[j];
                    goals[j] = goal;
                    own = own_then;
                    lengths[j] = other_then;
                    changed = true;
                }
            }
            lengths[i] = own;
        }
    }
}

fm_status fm_deal_goals(const fm_world *world, const fm_command *command, int64_t dx, int64_t dy,
                        fm_cell *goals)
{
    const fm_memory *memory = fm_world_memory(world);
    uint32_t count = command->agent_count;
    struct spot *units = fm_memory_allocate(memory, 2 * (size_t)count * sizeof *units);
    uint64_t *lengths = fm_memory_allocate(memory, count * sizeof *lengths);
    if (units == NULL || lengths == NULL) {
        fm_memory_release(memory, units, 2 * (size_t)count * sizeof *units);
        fm_memory_release(memory, lengths, count * sizeof *lengths);
        return FM_ERR_NO_MEMORY;
    }
    struct spot *spots = units + count;
    for (uint32_t i = 0; i < count; i++) {
        units[i] = spot_of(dx, dy, i, fm_world_find(world, command->agents[i])->cell);
        spots[i] = spot_of(dx, dy, i, goals[i]);
    }
    sort_into_strips(units, count);
    sort_into_strips(spots, count);
    exchange(count, units, spots, lengths);
    for (uint32_t i = 0; i < count; i++) {
        goals[units[i].index] = spots[i].cell;
    }
    fm_memory_release(memory, units, 2 * (size_t)count * sizeof *units);
    fm_memory_release(memory, lengths, count * sizeof *lengths);
    return FM_OK;
}
