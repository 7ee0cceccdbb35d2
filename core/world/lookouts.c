// core/world/lookouts.c: see lookouts.h. Three counting sorts, by sight, team and tile; then those
// that are alike stand beside each other but for their cells, of which a tile has few.
//
// A question goes through the lookouts around the cell until one sees it. With line of sight,
// enemies behind a wall would take time by the product of both numbers, so once a team's questions
// have cost about as much as looking from all its lookouts does, that is done (a word of eyes at
// once), and its bits answer the rest. 5,000 units that look out for 5,000 in a dense block behind
// a wall, with a radius of 64, take 46 ms of processor time a tick, and took 900.

#include "core/world/lookouts.h"

#include "core/world/agent_marks.h"
#include "core/world/given_orders.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define SIGHT_COUNT (FM_SENSE_RADIUS_MAX + 1)
#define WORD_TILES  (64u >> FM_UNIT_INDEX_TILE_SHIFT) // tiles side by side that a word covers
#define TILE_SIDE   (1u << FM_UNIT_INDEX_TILE_SHIFT)

// A lookout that is examined for one cell costs about as much as a word of them for eight.
#define CELLS_PER_LOOKOUT 8u
#define WANTED_FIRST      4096u

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
    return lookouts->first != NULL &&
           FM_RESERVE(world, lookouts->begins, lookouts->begin_capacity,
                      fm_world_team_count(world) + 1) &&
           fm_reserve_zeroed(fm_world_memory(world), (void **)&lookouts->sights,
                             &lookouts->sight_capacity, fm_world_team_count(world) + 1,
                             sizeof *lookouts->sights);
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
    for (uint32_t i = 0; i < lookouts->sight_capacity; i++) {
        lookouts->sights[i].examined /= 2; // who asked much will do so again
        lookouts->sights[i].wanted = WANTED_FIRST;
    }
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
    for (uint32_t i = 0; i < lookouts->sight_capacity; i++) {
        fm_bitmap_fini(&lookouts->sights[i].seen, memory);
    }
    fm_memory_release(memory, lookouts->sights,
                      lookouts->sight_capacity * sizeof *lookouts->sights);
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

static const fm_line_of_sight *sight_of_lookout(const struct fm_world_map *map, uint32_t sight)
{
    return sight == 0 ? map->sight : map->other_sights[sight];
}

static bool tile_sees(const fm_world *world, uint32_t tile, uint32_t team, fm_cell cell)
{
    const fm_lookouts *lookouts = &fm_world_orders(world)->lookouts;
    const struct fm_world_map *map = fm_world_map(world);
    uint32_t end = lookouts->first[tile + 1], first = first_of(lookouts, tile, team), i = first;
    bool seen = false;
    for (; !seen && i < end && lookouts->list[i].team == team; i++) {
        const fm_lookout *lookout = &lookouts->list[i];
        seen = fm_line_of_sight_sees(sight_of_lookout(map, lookout->sight), &map->grid->blocked,
                                     lookout->eye, cell);
    }
    lookouts->sights[team].examined += i - first;
    return seen;
}

// ---- all that a team sees ----------------------------------------------------------------------

// Of some tiles side by side: the eyes of the team with one sight, a word for each row.
//
// @return the next larger sight that some of its lookouts there have; SIGHT_COUNT: none
static uint32_t collect_eyes(const fm_lookouts *lookouts, uint32_t tile, uint32_t tile_count,
                             uint32_t team, uint32_t sight, uint64_t rows[TILE_SIDE])
{
    uint32_t next = SIGHT_COUNT;
    memset(rows, 0, TILE_SIDE * sizeof *rows);
    for (uint32_t t = tile; t < tile + tile_count; t++) {
        uint32_t end = lookouts->first[t + 1];
        uint32_t i = lookouts->first[t] == end ? end : first_of(lookouts, t, team);
        for (; i < end && lookouts->list[i].team == team; i++) {
            const fm_lookout *lookout = &lookouts->list[i];
            if (lookout->sight == sight) {
                rows[fm_cell_y(lookout->eye) % TILE_SIDE] |= UINT64_C(1)
                                                             << fm_cell_x(lookout->eye) % 64;
            } else if (lookout->sight > sight) {
                next = fm_min(next, lookout->sight);
            }
        }
    }
    return next;
}

// Looks from all words of eyes.
//
// @param seen  NULL: only counts
// @return cells that they look at, those of a word together
static uint64_t look_from_all(const fm_world *world, uint32_t team, fm_bitmap *seen)
{
    const struct fm_world_orders *orders = fm_world_orders(world);
    const struct fm_world_map *map = fm_world_map(world);
    uint32_t columns = orders->unit_index.columns;
    uint64_t rows[TILE_SIDE], cells = 0;
    for (uint32_t tile_y = 0; tile_y < orders->unit_index.rows; tile_y++) {
        for (uint32_t tile_x = 0; tile_x < columns; tile_x += WORD_TILES) {
            uint32_t tile = tile_y * columns + tile_x, count = fm_min(WORD_TILES, columns - tile_x);
            for (uint32_t sight = 0, next; sight < SIGHT_COUNT; sight = next) {
                next = collect_eyes(&orders->lookouts, tile, count, team, sight, rows);
                for (uint32_t y = 0; y < TILE_SIDE; y++) {
                    if (rows[y] == 0) {
                        continue;
                    }
                    const fm_line_of_sight *lines = sight_of_lookout(map, sight);
                    cells += lines->ray_count;
                    if (seen != NULL) {
                        fm_line_of_sight_look_from_word(lines, map->grid, tile_x / WORD_TILES,
                                                        tile_y * TILE_SIDE + y, rows[y], seen);
                    }
                }
            }
        }
    }
    return cells;
}

static bool is_up_to_date(const fm_world *world, const fm_lookouts_sight *sight)
{
    return sight->gathering == fm_world_orders(world)->lookouts.gathering &&
           sight->cells_edited == fm_world_counted(world)->cells_edited &&
           sight->seen.words != NULL;
}

// Whether `seen` has the answers: makes it once the questions have become more expensive.
static bool knows_all(const fm_world *world, uint32_t team, fm_lookouts_sight *sight)
{
    const struct fm_world_map *map = fm_world_map(world);
    if (!map->sight->rules.line_of_sight) {
        return false; // one step decides
    }
    if (is_up_to_date(world, sight)) {
        return true;
    }
    if (sight->examined < sight->wanted) {
        return false;
    }
    uint64_t cost = look_from_all(world, team, NULL) / CELLS_PER_LOOKOUT;
    if (sight->examined < cost) {
        sight->wanted = cost;
        return false;
    }
    if (sight->seen.words == NULL &&
        fm_bitmap_init(&sight->seen, map->grid->width, map->grid->height, false,
                       fm_world_memory(world)) != FM_OK) {
        sight->wanted = UINT64_MAX; // until they are gathered again
        return false;
    }
    fm_bitmap_clear(&sight->seen);
    (void)look_from_all(world, team, &sight->seen);
    sight->gathering = fm_world_orders(world)->lookouts.gathering;
    sight->cells_edited = fm_world_counted(world)->cells_edited;
    return true;
}

bool fm_lookouts_see(const fm_world *world, uint32_t team, fm_cell cell)
{
    const struct fm_world_orders *orders = fm_world_orders(world);
    if (orders->lookouts.count == 0) {
        return false;
    }
    fm_lookouts_sight *sight = &orders->lookouts.sights[team];
    if (knows_all(world, team, sight)) {
        return fm_bitmap_get(&sight->seen, cell);
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
