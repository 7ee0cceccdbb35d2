// Goal: fields of distances in tiles are right after computing, dropping and editing in any order,
// and all units of a group with a goal field arrive, whatever its settings and its budget. Method:
// whole fields on random maps with random edits, resets and dropped bodies, compared cell by cell
// with a plain reference; and missions to the end, in fog, on mazes, rooms, random and game maps,
// with walls that are built and removed but leave everything connected.

#include "core/fields/field_starts.h"
#include "core/fields/tile_field.h"
#include "core/generate/generate.h"
#include "core/map/knowledge.h"
#include "core/map/map_file.h"
#include "core/planners/catalogue.h"
#include "tests/support/fog.h"
#include "tests/support/reference.h"
#include "tests/support/support.h"

// ---- whole fields ----

struct whole {
    fog world;
    fm_tile_map map;
    fm_slab slab;
    fm_tile_field field;
};

static void whole_init(struct whole *whole, uint64_t seed, uint32_t weight_1024)
{
    fog_init(&whole->world, seed, 20, 110, false);
    const fm_memory *memory = &whole->world.memory.memory;
    assert_int_equal(fm_tile_map_init(&whole->map, &whole->world.view, memory), FM_OK);
    fm_slab_init(&whole->slab, memory);
    fm_tile_field_init(&whole->field, &whole->world.view, &whole->map, memory,
                       fog_free_cell(&whole->world), weight_1024);
}

static void whole_fini(struct whole *whole)
{
    fm_tile_field_fini(&whole->field, &whole->slab);
    fm_slab_fini(&whole->slab);
    fm_tile_map_fini(&whole->map, &whole->world.memory.memory);
    fog_fini(&whole->world);
}

static uint32_t below(struct whole *whole, uint32_t bound)
{
    return fm_random_below(&whole->world.random, bound);
}

// Refreshes what is stale, and drops what that leaves without support.
static void catch_up(struct whole *whole)
{
    uint32_t raised = FM_COST_INFINITE;
    for (uint32_t i = 0; i < whole->field.count; i++) {
        fm_tile *tile = whole->field.tiles[i];
        if (tile->is_computed && fm_tile_is_stale(&whole->field, tile)) {
            uint32_t least =
                fm_tile_refresh(&whole->field, tile, below(whole, 2) == 0, &whole->slab);
            raised = least < raised ? least : raised;
        }
    }
    if (raised < FM_COST_INFINITE) {
        fm_tile_reset(&whole->field, raised, &whole->slab);
    }
}

static void search_a_while(struct whole *whole, uint32_t tiles)
{
    while (whole->field.queue.count > 0 && tiles > 0) {
        fm_tile *tile = fm_tile_field_take(&whole->field);
        if (tile != NULL) {
            fm_tile_compute(&whole->field, tile, below(whole, 2) == 0, &whole->slab);
            tiles -= 1;
        }
    }
}

static fm_box random_box(struct whole *whole)
{
    fm_cell cells[2] = {fog_free_cell(&whole->world), fog_free_cell(&whole->world)};
    return fm_box_around(cells, 2);
}

static void edit(struct whole *whole)
{
    fog *world = &whole->world;
    fog_edit(world, whole->field.goal);
    fog_settle_changes(world);
    for (uint32_t i = 0; i < world->change_count; i++) {
        fm_tile_map_note(&whole->map, &world->view, world->changes[i].cell,
                         world->changes[i].cheaper);
    }
    world->change_count = 0;
}

static void drop_bodies(struct whole *whole)
{
    for (uint32_t i = 0; i < whole->field.count; i++) {
        if (below(whole, 3) == 0) {
            fm_tile_drop_body(&whole->field, whole->field.tiles[i], &whole->slab);
        }
    }
}

static void check_whole(struct whole *whole)
{
    const fog *world = &whole->world;
    reference costs = reference_measure(&world->view, whole->field.goal);
    bool blocked = fm_view_is_blocked(&world->view, whole->field.goal);
    uint32_t distances[FM_TILE_SIDE][FM_TILE_SIDE];
    for (uint32_t number = 0; number < whole->map.columns * whole->map.rows; number++) {
        const fm_tile *tile = fm_tile_find(&whole->field, number);
        fm_cell corner = fm_tile_corner(&whole->map, number);
        if (tile != NULL && tile->is_computed) {
            fm_tile_read(&whole->field, tile, distances);
        } else {
            memset(distances, 0x7f, sizeof distances); // as good as infinite
        }
        for (uint32_t i = 0; i < FM_TILE_CELLS; i++) {
            fm_cell cell = corner + fm_cell_at(i % FM_TILE_SIDE, i / FM_TILE_SIDE);
            if (fm_cell_x(cell) >= world->width || fm_cell_y(cell) >= world->height ||
                (blocked && cell == whole->field.goal)) {
                continue;
            }
            uint32_t found = distances[i / FM_TILE_SIDE][i % FM_TILE_SIDE];
            uint32_t expected = reference_cost(&costs, cell);
            bool none = found >= FM_COST_INFINITE && expected >= FM_COST_INFINITE;
            if (!none && found != expected) {
                fail_msg("cell %u, %u: %u instead of %u", fm_cell_x(cell), fm_cell_y(cell), found,
                         expected);
            }
        }
    }
    reference_fini(&costs);
}

// Edits, searches that end anywhere, drops and moving boxes, then a search to the end.
static void play_whole(uint64_t seed)
{
    struct whole whole;
    whole_init(&whole, seed, seed % 2 == 0 ? 1024 : 1500);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t turn = below(&whole, 12); turn > 0; turn--) {
            edit(&whole);
            if (below(&whole, 2) == 0) {
                catch_up(&whole);
                if (below(&whole, 4) == 0) {
                    fm_tile_reset(&whole.field, below(&whole, 1500), &whole.slab);
                }
                drop_bodies(&whole);
                fm_tile_field_aim(&whole.field, random_box(&whole), &whole.slab);
                search_a_while(&whole, below(&whole, 12));
            }
        }
        catch_up(&whole);
        fm_tile_field_aim(&whole.field, random_box(&whole), &whole.slab);
        search_a_while(&whole, UINT32_MAX);
        assert_true(fm_tile_field_is_sound(&whole.field));
        check_whole(&whole);
    }
    whole_fini(&whole);
}

static void whole_fields_are_right(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        play_whole(fm_test_seed() + i);
    }
}

static void finish_search(fm_tile_field *field, fm_slab *slab)
{
    while (field->queue.count > 0) {
        fm_tile *tile = fm_tile_field_take(field);
        if (tile != NULL) {
            fm_tile_compute(field, tile, false, slab);
        }
    }
}

// A distance that was reached by a diagonal step past a cell whose own distance had been dropped
// does not outlive that cell.
static void steps_past_dropped_cells_are_dropped(void **state)
{
    (void)state;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(32, 64, &fm_memory_libc, &grid), FM_OK);
    fm_view view = fm_view_of_grid(grid, FM_CONNECT_8, FM_STEPS_70_99);
    fm_tile_map map;
    fm_tile_field field;
    fm_slab slab;
    fm_cell start = fm_cell_at(10, 0), goal = fm_cell_at(10, 63);
    fm_cell passed = fm_cell_at(11, 32), reached = fm_cell_at(11, 31);
    fm_slab_init(&slab, &fm_memory_libc);
    assert_int_equal(fm_tile_map_init(&map, &view, &fm_memory_libc), FM_OK);
    fm_tile_field_init(&field, &view, &map, &fm_memory_libc, goal, 1024);
    fm_tile_field_aim(&field, fm_box_around(&start, 1), &slab);
    finish_search(&field, &slab);
    uint32_t above_goal = fm_tile_field_cost(&field, fm_cell_at(10, 32));
    fm_tile_reset(&field, above_goal, &slab);
    assert_true(fm_tile_field_cost(&field, passed) >= FM_COST_INFINITE);
    fm_tile *north = fm_tile_find(&field, 0), *south = fm_tile_find(&field, 1);
    fm_tile_compute(&field, north, false, &slab);
    assert_int_equal(fm_tile_field_cost(&field, reached), above_goal + view.step[1]);

    fm_grid_set(grid, passed, FM_TERRAIN_OUT, 1);
    fm_tile_map_note(&map, &view, passed, false);
    uint32_t raised = fm_tile_refresh(&field, south, false, &slab);
    assert_in_range(raised, 0, above_goal);
    fm_tile_reset(&field, raised, &slab);
    assert_true(fm_tile_field_is_sound(&field));
    finish_search(&field, &slab);
    assert_true(fm_tile_field_cost(&field, reached) > above_goal + view.step[1]);
    fm_tile_field_fini(&field, &slab);
    fm_slab_fini(&slab);
    fm_tile_map_fini(&map, &fm_memory_libc);
    fm_grid_destroy(grid);
}

// The distances around a cell are those that it and its neighbours have.
// ---- where agents stand ----

static uint32_t plain_farthest(const fm_field_starts *starts, const fm_tile_field *field)
{
    uint32_t farthest = 0;
    for (uint32_t i = 0; i < starts->count; i++) {
        fm_cell start = starts->cells[i];
        bool counts = start != field->goal && !fm_field_start_is_hopeless(field, start);
        uint32_t cost = counts ? fm_field_start_cost(field, start) : 0;
        farthest = cost > farthest ? cost : farthest;
    }
    return farthest;
}

static bool plain_are_in(const fm_field_starts *starts, const fm_tile_map *map, uint32_t tile)
{
    uint32_t i = 0;
    while (i < starts->count && fm_tile_of(map, starts->cells[i]) != tile) {
        i++;
    }
    return i < starts->count;
}

// Computes tiles until all starts have their distances, or nothing is left.
static void search_for(fm_tile_field *field, fm_field_starts *starts, fm_slab *slab)
{
    fm_tile_field_aim(field, starts->box, slab);
    while (field->queue.count > 0 &&
           fm_tile_field_least(field) < fm_field_starts_farthest(starts, field)) {
        fm_tile *tile = fm_tile_field_take(field);
        if (tile == NULL) {
            continue;
        }
        bool is_seat = fm_field_starts_are_in(starts, field->map, tile->number);
        fm_field_starts_note(starts, tile->number);
        fm_tile_compute(field, tile, is_seat, slab);
        assert_int_equal(is_seat, plain_are_in(starts, field->map, tile->number));
        assert_int_equal(fm_field_starts_farthest(starts, field), plain_farthest(starts, field));
    }
}

static void searches_know_how_far_they_have_to_get(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 100; round++) {
        struct whole whole;
        whole_init(&whole, fm_test_seed() + round, round % 2 == 0 ? 1024 : 1500);
        fm_field_starts starts = {0};
        for (uint32_t turn = 0; turn < 6; turn++) {
            fm_cell cells[40];
            uint32_t count = 1 + below(&whole, FM_COUNT_OF(cells));
            for (uint32_t i = 0; i < count; i++) {
                cells[i] = below(&whole, 8) == 0 ? fm_cell_at(below(&whole, whole.world.width),
                                                              below(&whole, whole.world.height))
                                                 : fog_free_cell(&whole.world);
            }
            assert_true(fm_field_starts_set(&starts, cells, count, &fm_memory_libc));
            edit(&whole);
            catch_up(&whole);
            search_for(&whole.field, &starts, &whole.slab);
        }
        fm_field_starts_fini(&starts, &fm_memory_libc);
        whole_fini(&whole);
    }
}

static void expect_costs_around(const fm_tile_field *field, fm_cell cell)
{
    uint32_t costs[FM_DIRECTION_COUNT + 1], moves = fm_view_moves(field->view, cell);
    fm_tile_field_costs(field, cell, moves, costs);
    assert_int_equal(costs[FM_DIRECTION_COUNT], fm_tile_field_cost(field, cell));
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        assert_int_equal(costs[d], fm_tile_field_cost(field, fm_cell_step(cell, d)));
    }
}

// A tile where distances lie too far apart for 16 bits: a maze with costly steps.
static void mazes_need_wide_tiles(void **state)
{
    (void)state;
    fm_generate_options options = fm_generate_options_default();
    options.generator = FM_GENERATOR_MAZE;
    options.width = options.height = 301;
    options.walls_removed = 0;
    options.seed = fm_test_seed();
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    fm_view view = fm_view_of_grid(grid, FM_CONNECT_8, FM_STEPS_70_99);
    fm_tile_map map;
    fm_tile_field field;
    fm_slab slab;
    fm_cell goal = fm_cell_at(1, 1);
    fm_slab_init(&slab, &fm_memory_libc);
    assert_int_equal(fm_tile_map_init(&map, &view, &fm_memory_libc), FM_OK);
    fm_tile_field_init(&field, &view, &map, &fm_memory_libc, goal, 1024);
    fm_tile_field_aim(&field, fm_box_around(&goal, 1), &slab);
    while (field.queue.count > 0) {
        fm_tile *tile = fm_tile_field_take(&field);
        if (tile != NULL) {
            fm_tile_compute(&field, tile, true, &slab);
        }
    }
    assert_true(field.wide_count > 0);
    reference costs = reference_measure(&view, goal);
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            uint32_t expected = reference_cost(&costs, cell);
            uint32_t found = fm_tile_field_cost(&field, cell);
            assert_true(found == expected || (found >= FM_COST_INFINITE && expected >= found));
            expect_costs_around(&field, cell);
        }
    }
    reference_fini(&costs);
    fm_tile_field_fini(&field, &slab);
    fm_tile_map_fini(&map, &fm_memory_libc);
    fm_slab_fini(&slab);
    fm_grid_destroy(grid);
}

// ---- missions ----

#define GROUPS_MAX 3u
#define GROUP_MAX  8u

struct group {
    void *self;
    fm_slab slab;
    fm_work work;
    fm_cell goal;
    fm_cell cells[GROUP_MAX]; // of units that have not arrived
    uint32_t count;
    uint64_t travel; // cost of all steps
};

struct mission {
    fm_random random;
    fm_grid *grid;
    fm_view truth;
    fm_line_of_sight *sight;
    fm_knowledge *knowledge;
    struct group groups[GROUPS_MAX];
    fm_planner_spec spec;
    const char *map_name;
    uint32_t grant_max; // 0: no bound
    bool has_edits;
    fm_cell built[64]; // walls that were built
    uint32_t built_count;
    uint32_t tick;
};

static uint32_t draw(struct mission *m, uint32_t bound)
{
    return fm_random_below(&m->random, bound);
}

#define CHECK(m, condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char spec_name[FM_PLANNER_SPEC_SIZE];                                                  \
            fm_planner_spec_format(&(m)->spec, spec_name, sizeof spec_name);                       \
            fail_msg("%s on %s, grants to %u, tick %u: %s", spec_name, (m)->map_name,              \
                     (m)->grant_max, (m)->tick, #condition);                                       \
        }                                                                                          \
    } while (0)

static void place_group(struct mission *m, struct group *group)
{
    reference costs = {0};
    uint32_t reached = 0;
    do { // until the goal lies in a component of some size
        reference_fini(&costs);
        group->goal = fm_cell_at(draw(m, m->grid->width), draw(m, m->grid->height));
        costs = reference_measure(&m->truth, group->goal);
        reached = 0;
        for (uint32_t i = 0; i < m->grid->width * m->grid->height; i++) {
            reached += costs.cost[i] < FM_COST_INFINITE;
        }
    } while (fm_grid_is_blocked(m->grid, group->goal) || reached < 100);
    while (group->count < GROUP_MAX) {
        fm_cell cell = fm_cell_at(draw(m, m->grid->width), draw(m, m->grid->height));
        if (reference_cost(&costs, cell) < FM_COST_INFINITE) {
            group->cells[group->count++] = cell;
        }
    }
    reference_fini(&costs);
}

static void mission_init(struct mission *m, fm_grid *grid, fm_connectivity connectivity,
                         fm_step_costs steps)
{
    static const fm_movement_class *ground;
    static fm_movement_class the_ground;
    the_ground = fm_movement_class_ground();
    ground = &the_ground;
    m->grid = grid;
    m->truth = fm_view_of_grid(grid, connectivity, steps);
    const fm_sense_rules rules = {.radius = 5, .shape = FM_SENSE_SQUARE};
    assert_int_equal(fm_line_of_sight_create(rules, &fm_memory_libc, &m->sight), FM_OK);
    assert_int_equal(fm_knowledge_create(grid, m->sight, connectivity, steps, false,
                                         &fm_memory_libc, &m->knowledge),
                     FM_OK);
    assert_int_equal(fm_knowledge_prepare_class(m->knowledge, 0, ground, UINT32_MAX), FM_OK);
    assert_int_equal(fm_knowledge_prepare_tiles(m->knowledge, 0), FM_OK);
    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        struct group *group = &m->groups[i];
        place_group(m, group);
        fm_slab_init(&group->slab, &fm_memory_libc);
        group->work = (fm_work){.slab = &group->slab};
        group->self = calloc(1, m->spec.ops->size);
        assert_non_null(group->self);
        assert_int_equal(m->spec.ops->init(group->self, fm_knowledge_view(m->knowledge, 0),
                                           &m->spec.options, &fm_memory_libc, group->goal),
                         FM_OK);
    }
}

static void mission_fini(struct mission *m)
{
    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        m->spec.ops->fini(m->groups[i].self, &m->groups[i].slab);
        fm_slab_fini(&m->groups[i].slab);
        free(m->groups[i].self);
    }
    fm_knowledge_destroy(m->knowledge);
    fm_line_of_sight_destroy(m->sight);
    fm_grid_destroy(m->grid);
}

static void set_terrain(struct mission *m, fm_cell cell, fm_terrain terrain)
{
    uint32_t bit = fm_cell_x(cell) % 64;
    fm_edited_word edited = {
        .y = fm_cell_y(cell), .word = fm_cell_x(cell) / 64, .mask = UINT64_C(1) << bit};
    edited.terrain_before[bit] = m->grid->terrain[fm_grid_index(m->grid, cell)];
    assert_int_equal(fm_knowledge_prepare_for_edits(m->knowledge, &edited, 1), FM_OK);
    if (fm_grid_set(m->grid, cell, terrain, FM_COST_FLOOR)) {
        fm_knowledge_note_edits(m->knowledge, &edited, 1);
    }
}

static bool is_taken(const struct mission *m, fm_cell cell)
{
    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        const struct group *group = &m->groups[i];
        for (uint32_t k = 0; k < group->count; k++) {
            if (group->cells[k] == cell) {
                return true;
            }
        }
        if (group->goal == cell) {
            return true;
        }
    }
    return false;
}

// Builds a wall of one cell without blocked neighbours, which cuts nothing off; or removes one.
static void edit_mission(struct mission *m)
{
    uint32_t x = 1 + draw(m, m->grid->width - 2), y = 1 + draw(m, m->grid->height - 2);
    fm_cell cell = fm_cell_at(x, y);
    if (m->built_count > 0 && draw(m, 2) == 0) {
        uint32_t i = draw(m, m->built_count);
        set_terrain(m, m->built[i], FM_TERRAIN_GROUND);
        m->built[i] = m->built[--m->built_count];
    } else if (fm_grid_is_blocked(m->grid, cell)) {
        set_terrain(m, cell, FM_TERRAIN_GROUND); // a hole in a wall of the map
    } else if (fm_bitmap_window(&m->grid->blocked, cell) == 0 && !is_taken(m, cell) &&
               m->built_count < FM_COUNT_OF(m->built)) {
        set_terrain(m, cell, FM_TERRAIN_WALL);
        m->built[m->built_count++] = cell;
    }
}

static void look_around(struct mission *m)
{
    for (uint32_t i = 0; i < GROUPS_MAX; i++) {
        for (uint32_t k = 0; k < m->groups[i].count; k++) {
            fm_knowledge_sense(m->knowledge, NULL, m->groups[i].cells[k]);
        }
    }
    fm_knowledge_trim_logs(m->knowledge);
}

// Follows the path on the known map.
static void check_shortest(struct mission *m, const struct group *group)
{
    const fm_view *view = fm_knowledge_view(m->knowledge, 0);
    reference costs = reference_measure(view, group->goal);
    for (uint32_t k = 0; k < group->count; k++) {
        fm_cell next = m->spec.ops->next_step(group->self, group->cells[k]);
        CHECK(m, m->spec.ops->state_at(group->self, group->cells[k]) == FM_PLAN_FOUND);
        CHECK(m, reference_step_cost(view, group->cells[k], next) + reference_cost(&costs, next) ==
                     reference_cost(&costs, group->cells[k]));
    }
    reference_fini(&costs);
}

static void search_group(struct mission *m, struct group *group)
{
    const fm_planner_ops *ops = m->spec.ops;
    ops->set_starts(group->self, group->cells, group->count);
    group->work.expansions_max = m->grant_max == 0 ? UINT32_MAX : 1 + draw(m, m->grant_max);
    group->work.cut = false;
    uint32_t before = group->work.expansions;
    fm_plan_state state = ops->advance(group->self, &group->work);
    CHECK(m, group->work.expansions - before <= group->work.expansions_max);
    CHECK(m, state != FM_PLAN_UNREACHABLE && state != FM_PLAN_EXHAUSTED);
    CHECK(m, m->grant_max != 0 || state != FM_PLAN_RUNNING);
}

static void walk_group(struct mission *m, struct group *group)
{
    uint32_t left = 0;
    for (uint32_t k = 0; k < group->count; k++) {
        fm_cell cell = group->cells[k], next = m->spec.ops->next_step(group->self, cell);
        CHECK(m, m->spec.ops->state_at(group->self, cell) != FM_PLAN_UNREACHABLE);
        if (next != FM_CELL_NONE && next != cell) {
            CHECK(m, reference_is_legal(&m->truth, cell, next));
            group->travel += reference_step_cost(&m->truth, cell, next);
        }
        next = next == FM_CELL_NONE ? cell : next;
        if (next != group->goal) {
            group->cells[left++] = next;
        }
    }
    group->count = left;
}

static void play_mission(struct mission *m, bool is_exact)
{
    uint32_t ticks_max = 4 * m->grid->width * m->grid->height, left = GROUPS_MAX;
    for (m->tick = 0; left > 0; m->tick++) {
        CHECK(m, m->tick < ticks_max);
        if (m->has_edits && m->tick < 2000) {
            edit_mission(m);
        }
        look_around(m);
        left = 0;
        for (uint32_t i = 0; i < GROUPS_MAX; i++) {
            struct group *group = &m->groups[i];
            if (group->count > 0) {
                search_group(m, group);
                if (is_exact && (m->tick + i) % 4 == 0) {
                    check_shortest(m, group);
                }
                walk_group(m, group);
                left += group->count > 0;
            }
        }
    }
}

static fm_grid *make_map(fm_generator generator, uint32_t side, uint32_t blocked_permille,
                         uint64_t seed)
{
    fm_generate_options options = fm_generate_options_default();
    options.generator = generator;
    options.width = options.height = side;
    options.walls_removed = side / 2;
    options.room_side = 9;
    options.blocked_permille = blocked_permille;
    options.seed = seed;
    fm_grid *grid;
    assert_int_equal(fm_generate(&options, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    return grid;
}

static fm_grid *draw_map(struct mission *m)
{
    static const struct {
        const char *name;
        fm_generator generator;
        uint32_t side, blocked_permille;
    } maps[] = {{"maze", FM_GENERATOR_MAZE, 101, 0},
                {"rooms", FM_GENERATOR_ROOMS, 121, 0},
                {"random 25 %", FM_GENERATOR_RANDOM, 130, 250},
                {"random 35 %", FM_GENERATOR_RANDOM, 130, 350},
                {"open", FM_GENERATOR_OPEN, 96, 0}};
    uint32_t i = draw(m, FM_COUNT_OF(maps));
    m->map_name = maps[i].name;
    return make_map(maps[i].generator, maps[i].side, maps[i].blocked_permille,
                    fm_random_next(&m->random));
}

static void draw_rules(struct mission *m, fm_connectivity *connectivity, fm_step_costs *steps)
{
    static const fm_connectivity connectivities[] = {FM_CONNECT_8, FM_CONNECT_8, FM_CONNECT_4,
                                                     FM_CONNECT_8_CORNERS};
    *connectivity = connectivities[draw(m, FM_COUNT_OF(connectivities))];
    *steps = draw(m, 3) == 0 ? FM_STEPS_70_99 : FM_STEPS_10_14;
}

static void draw_settings(struct mission *m)
{
    static const uint16_t weights[] = {0, 1000, 1100, 1500},
                          horizons[] = {0, 1, 2, 4, FM_HORIZON_NONE};
    m->spec.ops = &fm_goal_field;
    m->spec.options.field = (fm_field_options){.weight = weights[draw(m, FM_COUNT_OF(weights))],
                                               .period = (uint16_t)draw(m, 6),
                                               .horizon = horizons[draw(m, FM_COUNT_OF(horizons))],
                                               .full = (uint16_t)draw(m, 40)};
}

static void missions_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        struct mission m = {.random = fm_random_seed(fm_test_seed() + 100 + i)};
        fm_connectivity connectivity;
        fm_step_costs steps;
        draw_settings(&m);
        draw_rules(&m, &connectivity, &steps);
        m.has_edits = i % 2 == 0;
        m.grant_max = i % 3 == 0 ? 0 : i % 3 == 1 ? 200 : 20;
        mission_init(&m, draw_map(&m), connectivity, steps);
        play_mission(&m, false);
        mission_fini(&m);
    }
}

static void exact_fields_lead_along_shortest_paths(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct mission m = {.random = fm_random_seed(fm_test_seed() + 500 + i)};
        fm_connectivity connectivity;
        fm_step_costs steps;
        m.spec = (fm_planner_spec){
            .ops = &fm_goal_field,
            .options.field = {.weight = 1000, .period = 1, .horizon = FM_HORIZON_NONE}};
        draw_rules(&m, &connectivity, &steps);
        m.has_edits = i % 2 == 0;
        mission_init(&m, draw_map(&m), connectivity, steps);
        play_mission(&m, true);
        mission_fini(&m);
    }
}

// By default paths are checked a few tiles ahead, and answers are PARTIAL; there is still a path,
// and agents follow it.
static void partial_answers_have_paths(void **state)
{
    (void)state;
    static fm_cell cells[4096];
    struct mission m = {.random = fm_random_seed(fm_test_seed() + 300), .map_name = "random"};
    m.spec.ops = &fm_goal_field;
    m.spec.options.field = (fm_field_options){.horizon = 1, .full = 1000};
    mission_init(&m, make_map(FM_GENERATOR_RANDOM, 200, 100, fm_test_seed()), FM_CONNECT_8,
                 FM_STEPS_10_14);
    uint32_t partial_count = 0, broken_count = 0;
    for (m.tick = 0; m.tick < 40; m.tick++) {
        look_around(&m);
        for (uint32_t i = 0; i < GROUPS_MAX && m.groups[i].count > 0; i++) {
            struct group *group = &m.groups[i];
            search_group(&m, group);
            for (uint32_t k = 0; k < group->count; k++) {
                fm_cell cell = group->cells[k];
                uint32_t length = m.spec.ops->path(group->self, cell, cells, FM_COUNT_OF(cells));
                partial_count += m.spec.ops->state_at(group->self, cell) == FM_PLAN_PARTIAL;
                if (length == 0) {
                    broken_count += 1; // by a wall seen since the last repair
                    continue;
                }
                CHECK(&m, length > 1 && length <= FM_COUNT_OF(cells));
                CHECK(&m, cells[1] == m.spec.ops->next_step(group->self, cell));
                CHECK(&m, cells[length - 1] == group->goal);
            }
            walk_group(&m, group);
        }
    }
    assert_true(partial_count > 0 && broken_count < partial_count / 2);
    mission_fini(&m);
}

// ---- twins ----

static void drop_all_bodies(void *self, fm_slab *slab)
{
    fm_tile_field *field = self; // a goal field's first member
    for (uint32_t i = 0; i < field->count; i++) {
        fm_tile_drop_body(field, field->tiles[i], slab);
    }
}

// Two searches for the same agents: one in one go, the other suspended at random, and, when it is
// exact, with all bodies dropped after each tick. Agents get the same steps from both.
static void play_twins(struct mission *m, bool drops)
{
    const fm_planner_ops *ops = m->spec.ops;
    struct group *group = &m->groups[0];
    fm_slab slab;
    fm_work work = {.slab = &slab};
    fm_slab_init(&slab, &fm_memory_libc);
    void *twin = calloc(1, ops->size);
    assert_non_null(twin);
    assert_int_equal(ops->init(twin, fm_knowledge_view(m->knowledge, 0), &m->spec.options,
                               &fm_memory_libc, group->goal),
                     FM_OK);
    for (m->tick = 0; m->tick < 120 && group->count > 0; m->tick++) {
        edit_mission(m);
        look_around(m);
        search_group(m, group);
        ops->set_starts(twin, group->cells, group->count);
        while (!ops->is_done(twin)) {
            work.expansions_max = 1 + draw(m, 60);
            (void)ops->advance(twin, &work);
        }
        for (uint32_t k = 0; k < group->count; k++) {
            fm_cell cell = group->cells[k];
            CHECK(m, ops->next_step(twin, cell) == ops->next_step(group->self, cell));
            CHECK(m, ops->state_at(twin, cell) == ops->state_at(group->self, cell));
        }
        if (drops) {
            drop_all_bodies(twin, &slab);
        }
        walk_group(m, group);
    }
    ops->fini(twin, &slab);
    fm_slab_fini(&slab);
    free(twin);
}

static void suspended_fields_and_those_without_bodies_agree(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        struct mission m = {.random = fm_random_seed(fm_test_seed() + 1100 + i)};
        fm_connectivity connectivity;
        fm_step_costs steps;
        bool drops = i % 2 == 0;
        draw_settings(&m);
        if (drops) {
            m.spec.options.field =
                (fm_field_options){.weight = 1000, .period = 1, .horizon = FM_HORIZON_NONE};
        }
        draw_rules(&m, &connectivity, &steps);
        mission_init(&m, draw_map(&m), connectivity, steps);
        play_twins(&m, drops);
        mission_fini(&m);
    }
}

// The benchmark's game maps, a few of them.
static void missions_on_game_maps_end(void **state)
{
    (void)state;
    glob_t files = fm_test_find_maps("*.map");
    fm_random random = fm_random_seed(fm_test_seed() + 900);
    for (uint32_t i = 0; i < 4 && files.gl_pathc > 0; i++) {
        struct mission m = {.random = fm_random_seed(fm_random_next(&random)),
                            .grant_max = i % 2 == 0 ? 0 : 300,
                            .has_edits = i % 2 == 1};
        m.map_name = files.gl_pathv[draw(&m, (uint32_t)files.gl_pathc)];
        size_t size;
        char *text = fm_test_read_file(m.map_name, &size);
        fm_grid *grid;
        fm_text_error error;
        assert_int_equal(fm_map_read(text, size, &fm_memory_libc, &grid, &error), FM_OK);
        free(text);
        if (grid->width > 600 || grid->height > 600) {
            fm_grid_destroy(grid); // this map takes too long
            continue;
        }
        draw_settings(&m);
        mission_init(&m, grid, FM_CONNECT_8, FM_STEPS_10_14);
        play_mission(&m, false);
        mission_fini(&m);
    }
    globfree(&files);
}

// ---- tile maps ----

// A team's tiles agree with its map, and versions change with every change.
static void tile_maps_follow_knowledge(void **state)
{
    (void)state;
    struct mission m = {.random = fm_random_seed(fm_test_seed() + 700), .map_name = "random"};
    draw_settings(&m);
    mission_init(&m, make_map(FM_GENERATOR_RANDOM, 100, 300, fm_test_seed()), FM_CONNECT_8,
                 FM_STEPS_10_14);
    const fm_view *view = fm_knowledge_view(m.knowledge, 0);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t before[16][FM_TILE_SIDE], versions[16];
        for (uint32_t tile = 0; tile < 16; tile++) {
            fm_tile_map_read(view->tiles, view, tile, before[tile]);
            versions[tile] = view->tiles->tiles[tile].version;
        }
        edit_mission(&m);
        fm_knowledge_sense(m.knowledge, NULL, fm_cell_at(draw(&m, 100), draw(&m, 100)));
        fm_tile_map again;
        assert_int_equal(fm_tile_map_init(&again, view, &fm_memory_libc), FM_OK);
        for (uint32_t tile = 0; tile < 16; tile++) {
            uint32_t free[FM_TILE_SIDE];
            const fm_tile_look *look = &view->tiles->tiles[tile];
            fm_tile_map_read(view->tiles, view, tile, free);
            assert_memory_equal(look->sides, again.tiles[tile].sides, sizeof look->sides);
            assert_true(look->version != versions[tile] ||
                        memcmp(free, before[tile], sizeof free) == 0);
        }
        fm_tile_map_fini(&again, &fm_memory_libc);
    }
    mission_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_fields_are_right),
        cmocka_unit_test(steps_past_dropped_cells_are_dropped),
        cmocka_unit_test(searches_know_how_far_they_have_to_get),
        cmocka_unit_test(mazes_need_wide_tiles),
        cmocka_unit_test(tile_maps_follow_knowledge),
        cmocka_unit_test(missions_end),
        cmocka_unit_test(exact_fields_lead_along_shortest_paths),
        cmocka_unit_test(partial_answers_have_paths),
        cmocka_unit_test(suspended_fields_and_those_without_bodies_agree),
        cmocka_unit_test(missions_on_game_maps_end),
    };
    fm_test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
