// crowd.c: see crowd.h.

#include "tests/support/crowd.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/map/map_file.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/views/view_delta.h"
#include "core/world/world_classes.h"

#define SIDE 4096u

fm_world_rules crowd_rules(void)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    rules.omniscient = true;
    return rules;
}

fm_world_rules crowd_rules_of_sizes(void)
{
    static const char *const classes[] = {"one", "two:size=2,ground=1", "three:size=3,ground=1",
                                          "four:size=4,ground=1"};
    fm_world_rules rules = crowd_rules();
    for (uint32_t i = 0; i < FM_CLASS_SIZE_MAX; i++) {
        assert_int_equal(fm_movement_class_parse(classes[i], &rules.classes[i], NULL, 0), FM_OK);
    }
    rules.class_count = FM_CLASS_SIZE_MAX;
    return rules;
}

void crowd_init(crowd *c, const fm_world_rules *rules, fm_grid *grid)
{
    memset(c, 0, sizeof *c);
    assert_int_equal(fm_world_create(rules, grid, &fm_memory_libc, &c->world), FM_OK);
    assert_int_equal(fm_world_watch(c->world, FM_ALL_TEAMS, true), FM_OK);
    c->grid = fm_world_grid(c->world);
    c->holders = calloc((size_t)SIDE * SIDE, sizeof *c->holders);
    c->cells = malloc(CROWD_UNITS_MAX * sizeof *c->cells);
    assert_true(c->holders != NULL && c->cells != NULL);
    memset(c->cells, 0xff, CROWD_UNITS_MAX * sizeof *c->cells);
}

void crowd_init_rows(crowd *c, const fm_world_rules *rules, const char *const *rows,
                     uint32_t height)
{
    uint32_t width = (uint32_t)strlen(rows[0]);
    fm_grid *grid;
    assert_int_equal(fm_grid_create(width, height, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < height; y++) {
        assert_int_equal(strlen(rows[y]), width);
        for (uint32_t x = 0; x < width; x++) {
            fm_grid_set(grid, fm_cell_at(x, y),
                        rows[y][x] == '@' ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND, FM_COST_FLOOR);
        }
    }
    crowd_init(c, rules, grid);
}

void crowd_fini(crowd *c)
{
    fm_world_destroy(c->world);
    free(c->holders);
    free(c->cells);
}

uint32_t crowd_team(crowd *c)
{
    fm_command command = {.kind = FM_COMMAND_TEAM};
    fm_command_result result = {0};
    fm_world_apply(c->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    return result.team;
}

uint32_t crowd_spawn(crowd *c, fm_command command)
{
    assert_true(c->unit_count + command.cell_count <= CROWD_UNITS_MAX);
    command.kind = FM_COMMAND_SPAWN;
    fm_command_result result = {.spawned = &c->units[c->unit_count]};
    fm_world_apply(c->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
    c->unit_count += command.cell_count;
    return c->unit_count - command.cell_count;
}

uint32_t crowd_spawn_at(crowd *c, uint32_t team, fm_cell cell)
{
    return crowd_spawn(c, (fm_command){.team = team, .cells = &cell, .cell_count = 1});
}

void crowd_spawn_to(crowd *c, uint32_t team, uint32_t size, uint32_t x, uint32_t y, uint32_t to_x,
                    uint32_t to_y)
{
    fm_cell cell = fm_cell_at(x, y);
    uint32_t unit = crowd_spawn(
        c, (fm_command){.team = team, .cells = &cell, .cell_count = 1, .class_index = size - 1});
    crowd_order(c, unit, fm_cell_at(to_x, to_y), FM_UNREACHABLE_NEAREST);
}

void crowd_order(crowd *c, uint32_t index, fm_cell goal, fm_on_unreachable on_unreachable)
{
    fm_command command = {.kind = FM_COMMAND_ORDER,
                          .agents = &c->units[index],
                          .agent_count = 1,
                          .cells = &goal,
                          .cell_count = 1,
                          .order = FM_ORDER_MOVE,
                          .on_unreachable = on_unreachable};
    fm_command_result result = {0};
    fm_world_apply(c->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

static uint32_t size_of(const crowd *c, const fm_agent_look *look)
{
    return fm_world_rules_get(c->world)->classes[look->class_index].size;
}

// Writes a unit into the cells that it covers, or takes it out of them (value 0).
static void hold(crowd *c, const fm_agent_look *look, uint32_t value)
{
    uint32_t size = size_of(c, look);
    for (uint32_t i = 0; i < size * size; i++) {
        uint32_t *holder = &c->holders[look->cell + fm_cell_at(i % size, i / size)];
        c->collisions += value != 0 && *holder != 0;
        *holder = value;
    }
}

static fm_cell cell_before(const crowd *c, uint32_t unit)
{
    return unit == 0 ? FM_CELL_NONE : c->cells[unit - 1];
}

static bool overlap(fm_cell a, uint32_t a_size, fm_cell b, uint32_t b_size)
{
    return fm_cell_x(a) < fm_cell_x(b) + b_size && fm_cell_x(b) < fm_cell_x(a) + a_size &&
           fm_cell_y(a) < fm_cell_y(b) + b_size && fm_cell_y(b) < fm_cell_y(a) + a_size;
}

// For units of any size: the unit that now stands where this one stood must not have come from
// where this one stands now. `holders` is of this tick, `cells` still of the one before.
static void look_for_swaps(crowd *c, const fm_agent_look *look, fm_cell from)
{
    uint32_t size = size_of(c, look);
    for (uint32_t i = 0; i < size * size; i++) {
        uint32_t follower = c->holders[from + fm_cell_at(i % size, i / size)];
        fm_cell before = cell_before(c, follower);
        c->swaps += follower != look->id.index1 && before != FM_CELL_NONE &&
                    overlap(before, c->sizes[follower - 1], look->cell, size);
    }
}

// Two units of one cell on crossing diagonals of one square.
static void look_for_crossings(crowd *c, const fm_agent_look *look, fm_cell from)
{
    uint32_t d = fm_cell_direction(from, look->cell);
    assert_true(d < FM_DIRECTION_COUNT);
    if ((d & 1) && size_of(c, look) == 1) {
        fm_cell right = fm_cell_step(from, (d + 1) % FM_DIRECTION_COUNT);
        fm_cell left = fm_cell_step(from, d - 1);
        c->crossings += cell_before(c, c->holders[left]) == right;
        c->crossings += cell_before(c, c->holders[right]) == left;
    }
}

static void witness(crowd *c)
{
    for (uint32_t i = 0; i < c->look_count; i++) {
        hold(c, &c->looks[i], 0);
    }
    c->look_count = fm_world_agents_in_view(c->world, FM_ALL_TEAMS, c->looks, CROWD_UNITS_MAX);
    for (uint32_t i = 0; i < c->look_count; i++) {
        hold(c, &c->looks[i], c->looks[i].id.index1);
        c->sizes[c->looks[i].id.index1 - 1] = size_of(c, &c->looks[i]);
    }
    for (uint32_t i = 0; i < c->look_count; i++) {
        const fm_agent_look *look = &c->looks[i];
        fm_cell from = cell_before(c, look->id.index1);
        assert_false(fm_view_is_blocked(
            fm_world_class_view(c->world, FM_ALL_TEAMS, look->class_index), look->cell));
        if (from != FM_CELL_NONE && from != look->cell) {
            c->moves += 1;
            look_for_swaps(c, look, from);
            look_for_crossings(c, look, from);
        }
    }
    for (uint32_t i = 0; i < c->look_count; i++) {
        c->cells[c->looks[i].id.index1 - 1] = c->looks[i].cell;
    }
}

void crowd_set_terrain(crowd *c, fm_cell cell, fm_terrain terrain)
{
    fm_command command = {.kind = FM_COMMAND_TERRAIN,
                          .cells = &cell,
                          .cell_count = 1,
                          .terrain = terrain,
                          .cost = FM_COST_FLOOR};
    fm_command_result result = {0};
    fm_world_apply(c->world, &command, &result);
    assert_int_equal(result.status, FM_OK);
}

void crowd_tick(crowd *c, fm_workers *workers)
{
    fm_tick_report report;
    fm_tick_run(c->world, workers, 1u << 30, NULL, &report);
    fm_changes changes = fm_world_changes(c->world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        c->ended[changes.ended[i].reason] += 1;
    }
    c->ended_count += changes.ended_count;
    witness(c);
    assert_int_equal(c->collisions, 0);
    assert_int_equal(c->swaps, 0);
    assert_int_equal(c->crossings, 0);
}

uint32_t crowd_run(crowd *c, uint32_t wanted, uint32_t ticks_max)
{
    uint32_t ticks = 0;
    while (c->ended_count < wanted && ticks < ticks_max) {
        crowd_tick(c, NULL);
        ticks += 1;
    }
    return ticks;
}

fm_cell crowd_cell(const crowd *c, uint32_t index)
{
    return c->cells[c->units[index].index1 - 1];
}

fm_world *crowd_copy(const crowd *c)
{
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    assert_int_equal(fm_world_save(c->world, &bytes), FM_OK);
    fm_world *copy;
    fm_bytes_error error = {0};
    assert_int_equal(fm_world_load(bytes.data, bytes.size, &fm_memory_libc, &copy, &error), FM_OK);
    fm_writer_fini(&bytes);
    return copy;
}

void crowd_tick_both(crowd *c, fm_world *copy)
{
    fm_tick_report report;
    crowd_tick(c, NULL);
    fm_tick_run(copy, NULL, 1u << 30, NULL, &report);
    assert_int_equal(fm_world_digest(c->world), report.record.digest);
}

uint32_t crowd_play_on_workers(crowd *c, void (*begin)(void), uint32_t wanted, uint32_t ticks_max)
{
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    uint64_t *digests = calloc(ticks_max, sizeof *digests);
    assert_non_null(digests);
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
        begin();
        fm_workers *workers;
        assert_int_equal(fm_workers_create(worker_counts[i], &workers), FM_OK);
        for (uint32_t tick = 0; tick < ticks_max && c->ended_count < wanted; tick++) {
            crowd_tick(c, workers);
            uint64_t digest = fm_world_digest(c->world);
            assert_true(i == 0 || digest == digests[tick]);
            digests[tick] = digest;
        }
        arrived = c->ended[FM_END_ARRIVED];
        fm_workers_destroy(workers);
        crowd_fini(c);
    }
    free(digests);
    return arrived;
}
