// fog.c: see fog.h.

#include "tests/support/fog.h"

#include "tests/support/reference.h"

#include <stdlib.h>
#include <string.h>

// ---- memory ----

static void *count_allocate(void *context, size_t size)
{
    fog_memory *memory = context;
    if (memory->left == 0) {
        return NULL;
    }
    memory->left -= 1;
    // Blocks remember their size, and are aligned so that a slab's chunks all hold as many.
    size_t rounded = (size + 63) / 64 * 64 + 64;
    uint8_t *block = aligned_alloc(64, rounded);
    FM_ASSERT(block != NULL);
    memcpy(block, &size, sizeof size);
    memset(block + 64, 0xa5, size);
    memory->held += size;
    return block + 64;
}

static void count_release(void *context, void *pointer, size_t size)
{
    fog_memory *memory = context;
    uint8_t *block = (uint8_t *)pointer - 64;
    size_t size_asked;
    memcpy(&size_asked, block, sizeof size_asked);
    FM_ASSERT(size == size_asked);
    memory->held -= size;
    free(block);
}

void fog_memory_init(fog_memory *memory)
{
    *memory = (fog_memory){
        .memory = {.allocate = count_allocate, .release = count_release, .context = memory},
        .left = UINT64_MAX};
}

// ---- world ----

static void set_blocked(fog *world, fm_cell cell, bool blocked)
{
    fm_cell transposed = fm_cell_at(fm_cell_y(cell), fm_cell_x(cell));
    if (blocked) {
        fm_bitmap_set(&world->blocked, cell);
        fm_bitmap_set(&world->blocked_transposed, transposed);
    } else {
        fm_bitmap_reset(&world->blocked, cell);
        fm_bitmap_reset(&world->blocked_transposed, transposed);
    }
}

static fm_cell random_cell(fog *world)
{
    return fm_cell_at(fm_random_below(&world->random, world->width),
                      fm_random_below(&world->random, world->height));
}

static bool chance(fog *world, uint32_t of_256)
{
    return fm_random_below(&world->random, 256) < of_256;
}

static size_t index_of(const fog *world, fm_cell cell)
{
    return (size_t)fm_cell_y(cell) * world->width + fm_cell_x(cell);
}

static uint32_t random_weight(fog *world)
{
    return chance(world, 40) ? world->costliest
                             : 1 + fm_random_below(&world->random, world->costliest);
}

static void choose_rules(fog *world, bool uniform)
{
    static const fm_connectivity connectivities[] = {FM_CONNECT_4, FM_CONNECT_8,
                                                     FM_CONNECT_8_CORNERS};
    static const fm_step_costs steps[] = {FM_STEPS_10_14, FM_STEPS_70_99, FM_STEPS_1};
    fm_connectivity connectivity =
        uniform ? FM_CONNECT_8 : connectivities[fm_random_below(&world->random, 3)];
    uint32_t step_count = connectivity == FM_CONNECT_4 ? 3 : 2;
    fm_view_set_rules(&world->view, connectivity,
                      steps[fm_random_below(&world->random, step_count)]);
}

void fog_init(fog *world, uint64_t seed, uint32_t side_min, uint32_t side_max, bool uniform)
{
    *world = (fog){.random = fm_random_seed(seed)};
    fog_memory_init(&world->memory);
    const fm_memory *memory = &world->memory.memory;
    world->width = side_min + fm_random_below(&world->random, side_max - side_min + 1);
    world->height = side_min + fm_random_below(&world->random, side_max - side_min + 1);
    fm_status status = fm_bitmap_init(&world->blocked, world->width, world->height, true, memory);
    FM_ASSERT(status == FM_OK);
    status = fm_bitmap_init(&world->blocked_transposed, world->height, world->width, true, memory);
    FM_ASSERT(status == FM_OK);
    if (!uniform && chance(world, 100)) {
        world->weights = malloc((size_t)world->width * world->height);
        FM_ASSERT(world->weights != NULL);
    }
    world->costliest = chance(world, 128) ? 4 : FM_COST_MAX;
    uint32_t cheap = chance(world, 200) ? 128 : 0;           // of 256 cells
    uint32_t density = fm_random_below(&world->random, 120); // of 256
    for (uint32_t y = 0; y < world->height; y++) {
        for (uint32_t x = 0; x < world->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            set_blocked(world, cell, chance(world, density));
            if (world->weights != NULL) {
                world->weights[index_of(world, cell)] =
                    (uint8_t)(chance(world, cheap) ? 1 : random_weight(world));
            }
        }
    }
    world->view = (fm_view){.blocked = &world->blocked,
                            .blocked_transposed = &world->blocked_transposed,
                            .weights = world->weights,
                            .width = world->width,
                            .height = world->height};
    choose_rules(world, uniform);
}

void fog_fini(fog *world)
{
    fm_bitmap_fini(&world->blocked, &world->memory.memory);
    fm_bitmap_fini(&world->blocked_transposed, &world->memory.memory);
    free(world->weights);
    FM_ASSERT(world->memory.held == 0);
}

fm_cell fog_free_cell(fog *world)
{
    for (uint32_t i = 0; i < 64; i++) {
        fm_cell cell = random_cell(world);
        if (!fm_bitmap_get(&world->blocked, cell)) {
            return cell;
        }
    }
    return random_cell(world);
}

static void note(fog *world, fm_change change)
{
    FM_ASSERT(world->change_count < FOG_CHANGES_MAX);
    world->changes[world->change_count++] = change;
}

void fog_toggle(fog *world, fm_cell cell)
{
    bool blocked = !fm_bitmap_get(&world->blocked, cell);
    set_blocked(world, cell, blocked);
    note(world,
         (fm_change){.cell = cell, .blocked = blocked, .cheaper = !blocked, .costlier = blocked});
}

void fog_weigh(fog *world, fm_cell cell, uint8_t weight)
{
    uint8_t *place = &world->weights[index_of(world, cell)];
    note(world, (fm_change){.cell = cell,
                            .blocked = fm_bitmap_get(&world->blocked, cell),
                            .cheaper = weight<*place, .costlier = weight> * place});
    *place = weight;
}

// All cells of a block of 2 to 5 cells' side become walls, or floor.
static void edit_block(fog *world, fm_cell spared)
{
    fm_cell corner = random_cell(world);
    uint32_t side = 2 + fm_random_below(&world->random, 4);
    bool blocked = chance(world, 128);
    for (uint32_t y = fm_cell_y(corner); y < fm_cell_y(corner) + side && y < world->height; y++) {
        for (uint32_t x = fm_cell_x(corner); x < fm_cell_x(corner) + side && x < world->width;
             x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (fm_bitmap_get(&world->blocked, cell) != blocked &&
                (cell != spared || chance(world, 20))) {
                fog_toggle(world, cell);
            }
        }
    }
}

void fog_edit(fog *world, fm_cell spared)
{
    if (chance(world, 40)) {
        edit_block(world, spared);
    }
    uint32_t count = 1 + fm_random_below(&world->random, 4);
    fm_cell last = random_cell(world);
    for (uint32_t i = 0; i < count; i++) {
        fm_cell cell = chance(world, 60) ? last : random_cell(world);
        if (cell == spared && !chance(world, 20)) {
            continue;
        }
        if (world->weights != NULL && chance(world, 100)) {
            fog_weigh(world, cell, (uint8_t)random_weight(world));
        } else {
            fog_toggle(world, cell);
        }
        last = cell;
    }
}

void fog_settle_changes(fog *world)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->change_count; i++) {
        fm_change change = world->changes[i];
        change.blocked = fm_bitmap_get(&world->blocked, change.cell);
        bool merged = false;
        for (uint32_t j = 0; j < kept && !merged; j++) {
            if (world->changes[j].cell == change.cell && chance(world, 128)) {
                world->changes[j].cheaper |= change.cheaper;
                world->changes[j].costlier |= change.costlier;
                merged = true;
            }
        }
        if (!merged) {
            world->changes[kept++] = change;
        }
    }
    world->change_count = kept;
}

// ---- tables of heuristics ----

static void make_landmarks(fog_tables *made, fog *world, fm_landmark_table *table)
{
    table->count = 1 + fm_random_below(&world->random, 4);
    for (uint32_t i = 0; i < table->count; i++) {
        free(made->landmarks[i]);
        made->landmarks[i] = reference_measure(&world->view, fog_free_cell(world)).cost;
        table->costs[i] = made->landmarks[i];
    }
    table->stale = false;
    table->generation += 1;
}

static uint32_t tile_of(const fm_cluster_table *table, uint32_t x, uint32_t y)
{
    return y / table->side * table->columns + x / table->side;
}

// From every cell to every other.
void fog_tables_measure_clusters(fog_tables *made, fog *world, fm_cluster_table *table)
{
    free(made->clusters);
    made->clusters = malloc((size_t)table->count * table->count * sizeof *made->clusters);
    FM_ASSERT(made->clusters != NULL);
    for (uint32_t i = 0; i < table->count * table->count; i++) {
        made->clusters[i] = FM_COST_INFINITE;
    }
    uint32_t cell_count = world->width * world->height;
    for (uint32_t from = 0; from < cell_count; from++) {
        uint32_t x = from % world->width, y = from / world->width;
        if (fm_bitmap_get(&world->blocked, fm_cell_at(x, y))) {
            continue;
        }
        reference costs = reference_measure(&world->view, fm_cell_at(x, y));
        uint32_t *row = &made->clusters[(size_t)tile_of(table, x, y) * table->count];
        for (uint32_t to = 0; to < cell_count; to++) {
            uint32_t *least = &row[tile_of(table, to % world->width, to / world->width)];
            *least = costs.cost[to] < *least ? costs.cost[to] : *least;
        }
        reference_fini(&costs);
    }
    table->costs = made->clusters;
    table->stale = false;
    table->generation += 1;
}

static void make_clusters(fog_tables *made, fog *world, fm_cluster_table *table)
{
    table->side = 2 + fm_random_below(&world->random, 4);
    table->columns = (world->width + table->side - 1) / table->side;
    table->count = table->columns * ((world->height + table->side - 1) / table->side);
    fog_tables_measure_clusters(made, world, table);
}

void fog_tables_make(fog_tables *made, fog *world, fm_heuristic_kind kind,
                     fm_heuristic_tables *tables)
{
    if (kind == FM_HEURISTIC_LANDMARKS) {
        make_landmarks(made, world, &tables->landmarks);
    } else if (kind == FM_HEURISTIC_CLUSTER) {
        make_clusters(made, world, &tables->clusters);
    }
}

void fog_tables_fini(fog_tables *made)
{
    for (uint32_t i = 0; i < FM_LANDMARKS_MAX; i++) {
        free(made->landmarks[i]);
    }
    free(made->clusters);
}

void fog_tables_follow(const fog *world, fm_heuristic_tables *tables)
{
    for (uint32_t i = 0; i < world->change_count; i++) {
        if (world->changes[i].cheaper) {
            tables->landmarks.stale = tables->clusters.stale = true;
            tables->landmarks.generation += 1;
            tables->clusters.generation += 1;
        }
    }
}

// ---- planner ----

bool fog_promises_cheapest(const fm_planner_spec *spec, const fm_view *view)
{
    bool must_be_consistent = spec->ops->guidance != FM_GUIDED_BY_ANY;
    if (spec->ops->takes_weight && spec->options.field.weight != FM_WEIGHT_UNIT) {
        return false;
    }
    switch (spec->ops->finding) {
    case FM_FINDS_CHEAPEST:
        return fm_heuristic_towards(view, spec->options.heuristic, 0, must_be_consistent)
            .admissible;
    case FM_FINDS_SHORTEST:
        return view->connectivity == FM_CONNECT_4 && view->weights == NULL; // equal steps
    case FM_FINDS_ANY:
        return false;
    }
    FM_UNREACHABLE();
}

void fog_planner_init(fog_planner *planner, fog *world, const fm_planner_ops *ops,
                      const fm_planner_options *options)
{
    *planner = (fog_planner){.world = world, .ops = ops, .goal = fog_free_cell(world)};
    fm_slab_init(&planner->slab, &world->memory.memory);
    planner->work = (fm_work){.slab = &planner->slab};
    planner->start_count = ops->shared ? 1 + fm_random_below(&world->random, FOG_STARTS_MAX) : 1;
    for (uint32_t i = 0; i < planner->start_count; i++) {
        planner->starts[i] = fog_free_cell(world);
    }
    planner->self = calloc(1, ops->size);
    FM_ASSERT(planner->self != NULL);
    fm_status status =
        ops->init(planner->self, &world->view, options, &world->memory.memory, planner->goal);
    FM_ASSERT(status == FM_OK);
}

// Checks that all blocks of all chunks are free again.
static void check_balance(const fm_slab *slab)
{
    for (uint32_t i = 0; i < FM_SLAB_CLASSES; i++) {
        FM_ASSERT(slab->free_counts[i] == slab->carved_counts[i]);
    }
}

void fog_planner_fini(fog_planner *planner)
{
    planner->ops->fini(planner->self, &planner->slab);
    check_balance(&planner->slab);
    fm_slab_fini(&planner->slab);
    free(planner->self);
}

void fog_planner_tell(fog_planner *planner)
{
    if (planner->world->change_count > 0) {
        planner->ops->knowledge_changed(planner->self, planner->world->changes,
                                        planner->world->change_count, &planner->work);
    }
    planner->ops->set_starts(planner->self, planner->starts, planner->start_count);
}

struct clock {
    fm_random *random;
    uint32_t strikes;
};

static bool clock_passed(void *context)
{
    struct clock *clock = context;
    return fm_random_below(clock->random, 256) < clock->strikes;
}

fm_plan_state fog_planner_advance(fog_planner *planner, uint32_t expansions_max, uint32_t strikes)
{
    struct clock clock = {.random = &planner->world->random, .strikes = strikes};
    planner->work.expansions_max = expansions_max;
    planner->work.cut = false;
    planner->work.cut_at = 0;
    planner->work.deadline =
        strikes > 0 ? (fm_deadline){.passed = clock_passed, .context = &clock} : (fm_deadline){0};
    fm_plan_state state = planner->ops->advance(planner->self, &planner->work);
    planner->work.deadline = (fm_deadline){0};
    return state;
}

fm_plan_state fog_planner_repeat(fog_planner *planner, const fm_work *recorded)
{
    planner->work.expansions_max = recorded->expansions_max;
    planner->work.cut = false;
    planner->work.cut_at = recorded->cut ? recorded->cut_at : 0;
    return planner->ops->advance(planner->self, &planner->work);
}
