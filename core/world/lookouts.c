// core/world/lookouts.c: see lookouts.h. Three counting sorts, by sight, team and tile; then those
// that are alike stand beside each other but for their cells, of which a tile has few.

#include "core/world/lookouts.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define SIGHT_COUNT (FM_SENSE_RADIUS_MAX + 1)

// ---- gathering ---------------------------------------------------------------------------------

static bool reserve(fm_world *world)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    fm_lookouts *lookouts = &orders->lookouts;
    if (lookouts->first == NULL) {
        lookouts->tile_count = orders->unit_index.columns * orders->unit_index.rows;
        lookouts->first = fm_memory_allocate_zeroed(
            fm_world_memory(world), (size_t)lookouts->tile_count + 1, sizeof *lookouts->first);
    }
    return lookouts->first != NULL && FM_RESERVE(world, lookouts->begins, lookouts->begin_capacity,
                                                 fm_world_team_count(world) + 1);
}

// Lists the eyes of one agent.
static bool add_eyes(fm_world *world, fm_lookouts *lookouts, const struct fm_agent *agent)
{
    fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
    uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
    if (!FM_RESERVE(world, lookouts->list, lookouts->capacity, lookouts->count + eye_count)) {
        return false;
    }
    for (uint32_t eye = 0; eye < eye_count; eye++) {
        lookouts->list[lookouts->count++] = (fm_lookout){eyes[eye], agent->team, agent->sight};
    }
    return true;
}

// In the order of the slots. False when out of memory.
//
// @param sights_differ  receives whether some see other than by the rules
static bool list_eyes(fm_world *world, fm_lookouts *lookouts, bool *sights_differ)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    *sights_differ = false;
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        uint64_t bits = agents->marks[i].of[FM_MARK_LIVE];
        uint64_t ahead = i + 1 < fm_mark_words(world) ? agents->marks[i + 1].of[FM_MARK_LIVE] : 0;
        for (; bits != 0; bits &= bits - 1) {
            ahead = fm_agents_fetch_next(agents, i + 1, ahead);
            const struct fm_agent *agent = &agents->slots[i * 64 + (uint32_t)__builtin_ctzll(bits)];
            if (!add_eyes(world, lookouts, agent)) {
                return false;
            }
            *sights_differ = *sights_differ || agent->sight != 0;
        }
    }
    return FM_RESERVE(world, lookouts->sorted, lookouts->sorted_capacity, lookouts->count);
}

static void swap(fm_lookouts *lookouts)
{
    fm_lookout *list = lookouts->list;
    uint32_t capacity = lookouts->capacity;
    lookouts->list = lookouts->sorted;
    lookouts->capacity = lookouts->sorted_capacity;
    lookouts->sorted = list;
    lookouts->sorted_capacity = capacity;
}

typedef uint32_t key_fn(const fm_unit_index *unit_index, const fm_lookout *lookout);

static uint32_t sight_of(const fm_unit_index *unit_index, const fm_lookout *lookout)
{
    (void)unit_index;
    return lookout->sight;
}

static uint32_t team_of(const fm_unit_index *unit_index, const fm_lookout *lookout)
{
    (void)unit_index;
    return lookout->team;
}

static uint32_t tile_of(const fm_unit_index *unit_index, const fm_lookout *lookout)
{
    return fm_unit_index_tile_of(unit_index, lookout->eye);
}

// Equal ones keep their order. `begins` has room for each key, and in the end says where those with
// it begin.
static inline void sort_by(fm_lookouts *lookouts, const fm_unit_index *unit_index, key_fn *key,
                           uint32_t *begins, uint32_t key_count)
{
    memset(begins, 0, key_count * sizeof *begins);
    for (uint32_t i = 0; i < lookouts->count; i++) {
        begins[key(unit_index, &lookouts->list[i])] += 1;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < key_count; i++) {
        sum += begins[i];
        begins[i] = sum;
    }
    for (uint32_t i = lookouts->count; i-- > 0;) {
        const fm_lookout *lookout = &lookouts->list[i];
        lookouts->sorted[--begins[key(unit_index, lookout)]] = *lookout;
    }
    swap(lookouts);
}

// Drops those that look as others do.
static void drop_doubles(fm_lookouts *lookouts)
{
    uint32_t kept = 0;
    for (uint32_t tile = 0; tile < lookouts->tile_count; tile++) {
        uint32_t end = lookouts->first[tile + 1];
        fm_tile_marks seen = {{0}};
        const fm_lookout *before = NULL;
        uint32_t i = lookouts->first[tile];
        lookouts->first[tile] = kept;
        for (; i < end; i++) {
            fm_lookout lookout = lookouts->list[i];
            if (before != NULL &&
                (before->team != lookout.team || before->sight != lookout.sight)) {
                seen = (fm_tile_marks){{0}};
            }
            if (!fm_tile_marks_add(&seen, lookout.eye)) {
                before = &lookouts->list[kept];
                lookouts->list[kept++] = lookout;
            }
        }
    }
    lookouts->first[lookouts->tile_count] = kept;
    lookouts->count = kept;
}

void fm_lookouts_refresh(fm_world *world)
{
    struct fm_world_orders *orders = fm_world_edit_orders(world);
    fm_lookouts *lookouts = &orders->lookouts;
    const fm_unit_index *unit_index = &orders->unit_index;
    if (lookouts->gathering == unit_index->gatherings) {
        return;
    }
    lookouts->gathering = unit_index->gatherings;
    lookouts->count = 0;
    bool sights_differ;
    if (unit_index->slots == NULL || !reserve(world) ||
        !list_eyes(world, lookouts, &sights_differ)) {
        lookouts->count = 0;
        return; // no enemy is seen in this tick
    }
    if (sights_differ) {
        uint32_t begins[SIGHT_COUNT];
        sort_by(lookouts, unit_index, sight_of, begins, SIGHT_COUNT);
    }
    sort_by(lookouts, unit_index, team_of, lookouts->begins, fm_world_team_count(world) + 1);
    sort_by(lookouts, unit_index, tile_of, lookouts->first, lookouts->tile_count);
    lookouts->first[lookouts->tile_count] = lookouts->count;
    drop_doubles(lookouts);
}

void fm_lookouts_fini(fm_lookouts *lookouts, const fm_memory *memory)
{
    fm_memory_release(memory, lookouts->list, lookouts->capacity * sizeof *lookouts->list);
    fm_memory_release(memory, lookouts->sorted,
                      lookouts->sorted_capacity * sizeof *lookouts->sorted);
    fm_memory_release(memory, lookouts->first,
                      ((size_t)lookouts->tile_count + 1) * sizeof *lookouts->first);
    fm_memory_release(memory, lookouts->begins,
                      lookouts->begin_capacity * sizeof *lookouts->begins);
    *lookouts = (fm_lookouts){0};
}

// ---- asking ------------------------------------------------------------------------------------

// The first one of a tile that is of this team or a later one.
static uint32_t first_of(const fm_lookouts *lookouts, uint32_t tile, uint32_t team)
{
    uint32_t low = lookouts->first[tile], high = lookouts->first[tile + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lookouts->list[middle].team < team) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool tile_sees(const fm_world *world, uint32_t tile, uint32_t team, fm_cell cell)
{
    const fm_lookouts *lookouts = &fm_world_orders(world)->lookouts;
    const struct fm_world_map *map = fm_world_map(world);
    uint32_t end = lookouts->first[tile + 1];
    for (uint32_t i = first_of(lookouts, tile, team); i < end && lookouts->list[i].team == team;
         i++) {
        const fm_lookout *lookout = &lookouts->list[i];
        const fm_line_of_sight *sight =
            lookout->sight == 0 ? map->sight : map->other_sights[lookout->sight];
        if (fm_line_of_sight_sees(sight, &map->grid->blocked, lookout->eye, cell)) {
            return true;
        }
    }
    return false;
}

bool fm_lookouts_see(const fm_world *world, uint32_t team, fm_cell cell)
{
    const struct fm_world_orders *orders = fm_world_orders(world);
    if (orders->lookouts.count == 0) {
        return false;
    }
    fm_unit_tiles tiles =
        fm_unit_index_tiles_around(&orders->unit_index, cell, fm_world_map(world)->sight_reach);
    for (uint32_t y = tiles.y_first; y <= tiles.y_last; y++) {
        for (uint32_t x = tiles.x_first; x <= tiles.x_last; x++) {
            if (tile_sees(world, y * orders->unit_index.columns + x, team, cell)) {
                return true;
            }
        }
    }
    return false;
}

bool fm_lookouts_see_agent(const fm_world *world, uint32_t team, const struct fm_agent *agent)
{
    uint32_t size = fm_world_class_size(world, agent->class_index);
    for (uint32_t dy = 0; dy < size; dy++) {
        for (uint32_t dx = 0; dx < size; dx++) {
            fm_cell cell = fm_cell_at(fm_cell_x(agent->cell) + dx, fm_cell_y(agent->cell) + dy);
            if (fm_lookouts_see(world, team, cell)) {
                return true;
            }
        }
    }
    return false;
}
