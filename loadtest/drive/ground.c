// loadtest/drive/ground.c: see ground.h.

#include "loadtest/drive/ground.h"

#include "clients/maps/maps.h"
#include "core/map/map_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOAL_DRAWS 48u
#define WALL_DRAWS 16u

struct fm_ground {
    fm_grid *grid;
    char *text; // of the .map file, or NULL
    size_t text_size;
    fm_cell bases[FM_GENERATE_PLAYERS_MAX];
    fm_random random;
    fm_cell *home;       // cells of the largest connected part
    uint32_t home_count; // of them
    fm_cell *outside;    // all others
    uint32_t outside_count;
    uint8_t *marks; // per cell, row by row: MARK_*
};

enum {
    MARK_HOME = 1, // in the largest part
    MARK_SEEN = 2, // of walks over the map
    MARK_WALL = 4, // a wall stands here now
    MARK_USED = 8, // an agent begins here
};

double fm_ground_draw(fm_ground *ground, fm_range range)
{
    double unit = (double)(fm_random_next(&ground->random) >> 11) * 0x1p-53;
    return range.low + unit * (range.high - range.low);
}

const fm_grid *fm_ground_grid(const fm_ground *ground)
{
    return ground->grid;
}

const char *fm_ground_map_text(const fm_ground *ground, size_t *size)
{
    *size = ground->text_size;
    return ground->text;
}

// ---- the map ------------------------------------------------------------------------------------

// The server is sent the map in the one format that it reads.
static fm_status read_map(fm_ground *ground, const char *path, char *error)
{
    char fault[FM_MAP_FAULT_SIZE];
    fm_status status = fm_map_load(path, &fm_memory_libc, &ground->grid, fault);
    if (status != FM_OK) {
        snprintf(error, FM_SCENARIO_ERROR_SIZE, "%s", fault);
        return status;
    }
    ground->text_size = fm_map_written_size(ground->grid);
    ground->text = malloc(ground->text_size);
    if (ground->text == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_map_write(ground->grid, ground->text);
    return FM_OK;
}

static fm_status generate_map(fm_ground *ground, const fm_scenario *scenario, char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) [enumerator] = name,
        FM_GENERATOR_LIST(X)
#undef X
    };
    fm_generate_options options = fm_generate_options_default();
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        if (strcmp(scenario->map_generator, names[i]) == 0) {
            options.generator = (fm_generator)i;
        }
    }
    options.width = (uint32_t)scenario->map_width;
    options.height = (uint32_t)scenario->map_height;
    options.seed = scenario->seed;
    options.walls_removed = (uint32_t)scenario->map_walls_removed;
    options.room_side = (uint32_t)scenario->map_room_side;
    options.blocked_permille = (uint32_t)scenario->map_blocked_permille;
    options.players = (uint32_t)scenario->map_players;
    return fm_generate(&options, &fm_memory_libc, &ground->grid, ground->bases, error,
                       FM_SCENARIO_ERROR_SIZE);
}

// ---- connected parts ----------------------------------------------------------------------------

// Walks over everything that can be reached from cells[0], nearest first, and lists it in `cells`.
static uint32_t flood(fm_ground *ground, const fm_view *view, fm_cell *cells, uint32_t count_max)
{
    uint32_t count = 1;
    ground->marks[fm_grid_index(ground->grid, cells[0])] |= MARK_SEEN;
    for (uint32_t i = 0; i < count && count < count_max; i++) {
        uint32_t moves = fm_view_moves(view, cells[i]);
        for (uint32_t d = 0; d < FM_DIRECTION_COUNT && count < count_max; d++) {
            fm_cell next = fm_cell_step(cells[i], d);
            if ((moves >> d & 1) != 0 &&
                (ground->marks[fm_grid_index(ground->grid, next)] & MARK_SEEN) == 0) {
                ground->marks[fm_grid_index(ground->grid, next)] |= MARK_SEEN;
                cells[count++] = next;
            }
        }
    }
    return count;
}

static void clear_marks(fm_ground *ground, uint8_t mark)
{
    size_t size = (size_t)ground->grid->width * ground->grid->height;
    for (size_t i = 0; i < size; i++) {
        ground->marks[i] &= (uint8_t)~mark;
    }
}

fm_view fm_ground_view(const fm_ground *ground, const fm_scenario *scenario)
{
    fm_connectivity connectivity = scenario->neighbours == 4  ? FM_CONNECT_4
                                   : scenario->corner_cutting ? FM_CONNECT_8_CORNERS
                                                              : FM_CONNECT_8;
    return fm_view_of_grid(ground->grid, connectivity,
                           connectivity == FM_CONNECT_4 ? FM_STEPS_1 : FM_STEPS_10_14);
}

// Splits the map's cells into `home` and `outside`.
static fm_status find_home(fm_ground *ground, const fm_scenario *scenario)
{
    const fm_grid *grid = ground->grid;
    size_t size = (size_t)grid->width * grid->height;
    ground->marks = calloc(size, 1);
    ground->home = malloc(size * sizeof(fm_cell));
    ground->outside = malloc(size * sizeof(fm_cell));
    fm_cell *part = malloc(size * sizeof(fm_cell));
    if (ground->marks == NULL || ground->home == NULL || ground->outside == NULL || part == NULL) {
        free(part);
        return FM_ERR_NO_MEMORY;
    }
    fm_view view = fm_ground_view(ground, scenario);
    for (size_t i = 0; i < size; i++) {
        part[0] = fm_cell_at((uint32_t)(i % grid->width), (uint32_t)(i / grid->width));
        if (ground->marks[i] != 0 || fm_grid_is_blocked(grid, part[0])) {
            continue;
        }
        uint32_t count = flood(ground, &view, part, (uint32_t)size);
        if (count > ground->home_count) {
            fm_cell *smaller = ground->home;
            ground->home = part;
            part = smaller;
            ground->home_count = count;
        }
    }
    free(part);
    for (uint32_t i = 0; i < ground->home_count; i++) {
        ground->marks[fm_grid_index(grid, ground->home[i])] |= MARK_HOME;
    }
    for (size_t i = 0; i < size; i++) {
        if ((ground->marks[i] & MARK_HOME) == 0) {
            ground->outside[ground->outside_count++] =
                fm_cell_at((uint32_t)(i % grid->width), (uint32_t)(i / grid->width));
        }
    }
    clear_marks(ground, MARK_SEEN);
    return FM_OK;
}

fm_status fm_ground_create(const fm_scenario *scenario, fm_ground **out, char *error)
{
    snprintf(error, FM_SCENARIO_ERROR_SIZE, "out of memory for the map");
    fm_ground *ground = calloc(1, sizeof *ground);
    if (ground == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < FM_GENERATE_PLAYERS_MAX; i++) {
        ground->bases[i] = FM_CELL_NONE;
    }
    // Not the stream that the map is made from: cells must not follow its pattern.
    ground->random = fm_random_seed(fm_mix64(scenario->seed + 1));
    fm_status status = scenario->map_file[0] != '\0' ? read_map(ground, scenario->map_file, error)
                                                     : generate_map(ground, scenario, error);
    if (status == FM_OK) {
        status = find_home(ground, scenario);
    }
    if (status == FM_OK && scenario->agents > ground->home_count) {
        snprintf(error, FM_SCENARIO_ERROR_SIZE,
                 "agents.count: %llu do not fit on the %u connected free cells of the map",
                 (unsigned long long)scenario->agents, ground->home_count);
        status = FM_ERR_BAD_VALUE;
    }
    if (status != FM_OK) {
        fm_ground_destroy(ground);
        return status;
    }
    *out = ground;
    return FM_OK;
}

void fm_ground_destroy(fm_ground *ground)
{
    if (ground == NULL) {
        return;
    }
    fm_grid_destroy(ground->grid);
    free(ground->text);
    free(ground->home);
    free(ground->outside);
    free(ground->marks);
    free(ground);
}

// ---- starts -------------------------------------------------------------------------------------

// The first `count` elements become a random choice, in random order.
static void shuffle(fm_random *random, fm_cell *cells, uint32_t cell_count, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = i + fm_random_below(random, cell_count - i);
        fm_cell kept = cells[i];
        cells[i] = cells[other];
        cells[other] = kept;
    }
}

static bool is_home(const fm_ground *ground, fm_cell cell)
{
    return (ground->marks[fm_grid_index(ground->grid, cell)] & MARK_HOME) != 0;
}

// The base of a team: the map's, or any cell where it has none.
static fm_cell base_of(fm_ground *ground, uint32_t team)
{
    fm_cell base = team < FM_GENERATE_PLAYERS_MAX ? ground->bases[team] : (fm_cell)FM_CELL_NONE;
    return base != FM_CELL_NONE && is_home(ground, base)
               ? base
               : ground->home[fm_random_below(&ground->random, ground->home_count)];
}

// The free cells nearest to the team's base, as the walk goes, that no other team has taken.
static void take_around(fm_ground *ground, const fm_view *view, fm_cell base, fm_cell *scratch,
                        fm_cell *cells, uint32_t count)
{
    scratch[0] = base;
    uint32_t reached = flood(ground, view, scratch, ground->home_count);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < reached && taken < count; i++) {
        uint8_t *mark = &ground->marks[fm_grid_index(ground->grid, scratch[i])];
        if ((*mark & MARK_USED) == 0) {
            *mark |= MARK_USED;
            cells[taken++] = scratch[i];
        }
    }
    FM_ASSERT(taken == count);
    clear_marks(ground, MARK_SEEN);
}

fm_status fm_ground_draw_starts(fm_ground *ground, const fm_scenario *scenario, fm_cell *cells)
{
    uint32_t agents = (uint32_t)scenario->agents, teams = fm_scenario_team_count(scenario);
    if (strcmp(scenario->placement, "bases") != 0) {
        shuffle(&ground->random, ground->home, ground->home_count, agents);
        memcpy(cells, ground->home, agents * sizeof(fm_cell));
        return FM_OK;
    }
    fm_cell *scratch = malloc((size_t)ground->home_count * sizeof(fm_cell));
    if (scratch == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_view view = fm_ground_view(ground, scenario);
    for (uint32_t team = 0; team < teams; team++) {
        uint32_t first = (uint32_t)((uint64_t)agents * team / teams);
        uint32_t end = (uint32_t)((uint64_t)agents * (team + 1) / teams);
        take_around(ground, &view, base_of(ground, team), scratch, cells + first, end - first);
    }
    free(scratch);
    clear_marks(ground, MARK_USED);
    return FM_OK;
}

// ---- goals and walls ----------------------------------------------------------------------------

fm_cell fm_ground_draw_goal(fm_ground *ground, fm_cell from, fm_range distance)
{
    fm_cell goal = from;
    for (uint32_t i = 0; i < GOAL_DRAWS; i++) {
        goal = ground->home[fm_random_below(&ground->random, ground->home_count)];
        uint32_t dx = fm_cell_dx(from, goal), dy = fm_cell_dy(from, goal);
        double far = dx > dy ? dx : dy;
        if (far >= distance.low && far <= distance.high) {
            break;
        }
    }
    return goal;
}

fm_cell fm_ground_draw_unreachable(fm_ground *ground)
{
    return ground->outside_count == 0
               ? FM_CELL_NONE
               : ground->outside[fm_random_below(&ground->random, ground->outside_count)];
}

// A wall may stand on plain floor only: when it is lowered, the cell gets cost 1.
static bool can_hold_wall(const fm_ground *ground, int64_t x, int64_t y)
{
    const fm_grid *grid = ground->grid;
    if (!fm_grid_contains(grid, x, y)) {
        return false;
    }
    size_t index = (size_t)y * grid->width + (size_t)x;
    return (ground->marks[index] & (MARK_HOME | MARK_WALL)) == MARK_HOME &&
           grid->cost[index] == FM_COST_FLOOR;
}

uint32_t fm_ground_raise_wall(fm_ground *ground, fm_range length, fm_cell *cells)
{
    uint32_t length_max = (uint32_t)floor(fm_ground_draw(ground, length) + 0.5);
    uint32_t count = 0;
    for (uint32_t i = 0; i < WALL_DRAWS && count == 0; i++) {
        fm_cell first = ground->home[fm_random_below(&ground->random, ground->home_count)];
        bool upright = fm_random_below(&ground->random, 2) == 0;
        int64_t x = fm_cell_x(first), y = fm_cell_y(first);
        while (count < length_max && can_hold_wall(ground, x, y)) {
            cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
            x += upright ? 0 : 1;
            y += upright ? 1 : 0;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ground->marks[fm_grid_index(ground->grid, cells[i])] |= MARK_WALL;
    }
    return count;
}

uint32_t fm_ground_raise_crater(fm_ground *ground, fm_range length, fm_cell *cells)
{
    uint32_t side = (uint32_t)floor(sqrt(fm_ground_draw(ground, length)) + 0.5);
    uint32_t count = 0;
    for (uint32_t i = 0; i < WALL_DRAWS && count == 0; i++) {
        fm_cell corner = ground->home[fm_random_below(&ground->random, ground->home_count)];
        for (uint32_t place = 0; place < side * side; place++) {
            int64_t x = fm_cell_x(corner) + place % side, y = fm_cell_y(corner) + place / side;
            if (can_hold_wall(ground, x, y)) {
                cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ground->marks[fm_grid_index(ground->grid, cells[i])] |= MARK_WALL;
    }
    return count;
}

static bool can_be_enclosed(const fm_ground *ground, fm_cell cell)
{
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            if (!can_hold_wall(ground, (int64_t)fm_cell_x(cell) + dx,
                               (int64_t)fm_cell_y(cell) + dy)) {
                return false;
            }
        }
    }
    return true;
}

fm_cell fm_ground_enclose(fm_ground *ground, fm_cell walls[8])
{
    fm_cell middle = fm_cell_at(ground->grid->width / 2, ground->grid->height / 2);
    fm_cell best = FM_CELL_NONE;
    uint32_t best_distance = UINT32_MAX;
    for (uint32_t i = 0; i < ground->home_count; i++) {
        fm_cell cell = ground->home[i];
        uint32_t distance = fm_cell_dx(cell, middle) + fm_cell_dy(cell, middle);
        if (distance < best_distance && can_be_enclosed(ground, cell)) {
            best = cell;
            best_distance = distance;
        }
    }
    for (uint32_t d = 0; best != FM_CELL_NONE && d < FM_DIRECTION_COUNT; d++) {
        walls[d] = fm_cell_step(best, d);
        ground->marks[fm_grid_index(ground->grid, walls[d])] |= MARK_WALL;
    }
    return best;
}

void fm_ground_lower_wall(fm_ground *ground, const fm_cell *cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ground->marks[fm_grid_index(ground->grid, cells[i])] &= (uint8_t)~MARK_WALL;
    }
}
