// core/generate/generate.c: the checks in front of every generator, and the four plain ones: open,
// maze, rooms, random. The skirmish map has a file of its own, generate_skirmish.c.
//
// Where an exact number of cells has to change, one walk over the map decides for each candidate
// in turn with probability needed / remaining (Knuth, "The Art of Computer Programming", volume 2,
// Algorithm S). Every choice of cells is equally likely, and no list of candidates is kept.

#include "core/generate/generate.h"

#include "core/generate/generate_skirmish.h"

#include <stdarg.h>
#include <stdio.h>

fm_generate_options fm_generate_options_default(void)
{
    return (fm_generate_options){.generator = FM_GENERATOR_SKIRMISH,
                                 .width = 512,
                                 .height = 512,
                                 .seed = 1,
                                 .walls_removed = 750,
                                 .room_side = 16,
                                 .blocked_permille = 300,
                                 .players = 4};
}

struct complaint {
    char *text; // may be NULL
    size_t size;
};

__attribute__((format(printf, 3, 4))) static fm_status
refuse(struct complaint complaint, fm_status status, const char *format, ...)
{
    if (complaint.text != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(complaint.text, complaint.size, format, arguments);
        va_end(arguments);
    }
    return status;
}

// A perfect maze on a lattice of n cells has n - 1 openings between them; the rest of the interior
// is blocked.
static uint32_t maze_blocked_count(uint32_t width, uint32_t height)
{
    uint32_t lattice_count = (width / 2) * (height / 2);
    return (width - 2) * (height - 2) - (2 * lattice_count - 1);
}

static fm_status check_maze(const fm_generate_options *options, struct complaint complaint)
{
    if (options->width < FM_MAZE_SIDE_MIN || options->width % 2 == 0) {
        return refuse(complaint, FM_ERR_BAD_VALUE, "width: a maze wants an odd number from %u on.",
                      FM_MAZE_SIDE_MIN);
    }
    if (options->height < FM_MAZE_SIDE_MIN || options->height % 2 == 0) {
        return refuse(complaint, FM_ERR_BAD_VALUE, "height: a maze wants an odd number from %u on.",
                      FM_MAZE_SIDE_MIN);
    }
    uint32_t walls_max = maze_blocked_count(options->width, options->height);
    if (options->walls_removed > walls_max) {
        return refuse(complaint, FM_ERR_BAD_VALUE,
                      "walls_removed: a maze of this size has %u walls inside.", walls_max);
    }
    return FM_OK;
}

static fm_status check_skirmish(const fm_generate_options *options, struct complaint complaint)
{
    if (options->width < FM_SKIRMISH_SIDE_MIN) {
        return refuse(complaint, FM_ERR_BAD_VALUE, "width: a skirmish map wants %u or more.",
                      FM_SKIRMISH_SIDE_MIN);
    }
    if (options->height < FM_SKIRMISH_SIDE_MIN) {
        return refuse(complaint, FM_ERR_BAD_VALUE, "height: a skirmish map wants %u or more.",
                      FM_SKIRMISH_SIDE_MIN);
    }
    if (options->players < FM_GENERATE_PLAYERS_MIN || options->players > FM_GENERATE_PLAYERS_MAX) {
        return refuse(complaint, FM_ERR_BAD_VALUE, "players: must be %u..%u.",
                      FM_GENERATE_PLAYERS_MIN, FM_GENERATE_PLAYERS_MAX);
    }
    return FM_OK;
}

static fm_status check_options(const fm_generate_options *options, struct complaint complaint)
{
    if (options->width < 1 || options->width > FM_SIDE_MAX) {
        return refuse(complaint, FM_ERR_BAD_SIZE, "width: must be 1..%u.", FM_SIDE_MAX);
    }
    if (options->height < 1 || options->height > FM_SIDE_MAX) {
        return refuse(complaint, FM_ERR_BAD_SIZE, "height: must be 1..%u.", FM_SIDE_MAX);
    }
    switch (options->generator) {
    case FM_GENERATOR_OPEN:
        return FM_OK;
    case FM_GENERATOR_MAZE:
        return check_maze(options, complaint);
    case FM_GENERATOR_ROOMS:
        if (options->room_side < FM_ROOM_SIDE_MIN || options->room_side > FM_SIDE_MAX) {
            return refuse(complaint, FM_ERR_BAD_VALUE, "room_side: must be %u..%u.",
                          FM_ROOM_SIDE_MIN, FM_SIDE_MAX);
        }
        return FM_OK;
    case FM_GENERATOR_RANDOM:
        if (options->blocked_permille > 1000) {
            return refuse(complaint, FM_ERR_BAD_VALUE, "blocked_permille: must be 0..1000.");
        }
        return FM_OK;
    case FM_GENERATOR_SKIRMISH:
        return check_skirmish(options, complaint);
    }
    return refuse(complaint, FM_ERR_BAD_VALUE, "generator: there is no such generator.");
}

static void block(fm_grid *grid, uint32_t x, uint32_t y)
{
    fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
}

static void unblock(fm_grid *grid, uint32_t x, uint32_t y)
{
    fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_GROUND, FM_COST_FLOOR);
}

static bool is_blocked(const fm_grid *grid, uint32_t x, uint32_t y)
{
    return fm_grid_is_blocked(grid, fm_cell_at(x, y));
}

static void block_all(fm_grid *grid)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            block(grid, x, y);
        }
    }
}

// The straight directions in which the lattice has a cell that is not carved yet.
static uint32_t uncarved_around(const fm_grid *grid, fm_cell cell, uint32_t directions[4])
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d += 2) {
        int64_t x = (int64_t)fm_cell_x(cell) + 2 * fm_direction_dx[d];
        int64_t y = (int64_t)fm_cell_y(cell) + 2 * fm_direction_dy[d];
        if (fm_grid_contains(grid, x, y) && is_blocked(grid, (uint32_t)x, (uint32_t)y)) {
            directions[count++] = d;
        }
    }
    return count;
}

static void carve(fm_grid *grid, fm_cell cell)
{
    unblock(grid, fm_cell_x(cell), fm_cell_y(cell));
}

// Randomized depth-first search over the odd lattice. The stack holds the path back to the start,
// at most every lattice cell.
static void carve_corridors(fm_grid *grid, fm_random *random, fm_cell *stack)
{
    uint32_t stack_count = 0;
    // One draw in a statement: each compiler evaluates arguments in an order of its own.
    uint32_t column = fm_random_below(random, grid->width / 2);
    uint32_t row = fm_random_below(random, grid->height / 2);
    fm_cell cell = fm_cell_at(2 * column + 1, 2 * row + 1);
    carve(grid, cell);
    stack[stack_count++] = cell;
    while (stack_count > 0) {
        cell = stack[stack_count - 1];
        uint32_t directions[4];
        uint32_t count = uncarved_around(grid, cell, directions);
        if (count == 0) {
            stack_count -= 1;
            continue;
        }
        uint32_t d = directions[fm_random_below(random, count)];
        fm_cell wall = fm_cell_step(cell, d);
        fm_cell next = fm_cell_step(wall, d);
        carve(grid, wall);
        carve(grid, next);
        stack[stack_count++] = next;
    }
}

static void remove_walls(fm_grid *grid, fm_random *random, uint32_t needed)
{
    uint32_t remaining = maze_blocked_count(grid->width, grid->height);
    for (uint32_t y = 1; y + 1 < grid->height; y++) {
        for (uint32_t x = 1; x + 1 < grid->width; x++) {
            if (is_blocked(grid, x, y) && fm_random_below(random, remaining--) < needed) {
                unblock(grid, x, y);
                needed -= 1;
            }
        }
    }
}

static fm_status make_maze(const fm_generate_options *options, fm_random *random, fm_grid *grid)
{
    size_t stack_size = (size_t)(grid->width / 2) * (grid->height / 2) * sizeof(fm_cell);
    fm_cell *stack = fm_memory_allocate(grid->memory, stack_size);
    if (stack == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    block_all(grid);
    carve_corridors(grid, random, stack);
    fm_memory_release(grid->memory, stack, stack_size);
    remove_walls(grid, random, options->walls_removed);
    return FM_OK;
}

// Cells of a room that begins at `from` and is cut off by the map's edge.
static uint32_t room_extent(uint32_t from, uint32_t room_side, uint32_t map_side)
{
    return map_side - from < room_side ? map_side - from : room_side;
}

static bool has_door(fm_random *random)
{
    return fm_random_below(random, 10) < 9;
}

// Walls stand one room apart, none along the map's edge. Rooms at the far edges may be smaller.
static void make_rooms(const fm_generate_options *options, fm_random *random, fm_grid *grid)
{
    uint32_t side = options->room_side;
    uint32_t pitch = side + 1;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            if (x % pitch == side || y % pitch == side) {
                block(grid, x, y);
            }
        }
    }
    for (uint32_t y = 0; y < grid->height; y += pitch) {
        for (uint32_t x = 0; x < grid->width; x += pitch) {
            if (x + pitch < grid->width && has_door(random)) {
                uint32_t along = room_extent(y, side, grid->height);
                unblock(grid, x + side, y + fm_random_below(random, along));
            }
            if (y + pitch < grid->height && has_door(random)) {
                uint32_t along = room_extent(x, side, grid->width);
                unblock(grid, x + fm_random_below(random, along), y + side);
            }
        }
    }
}

static void make_random(const fm_generate_options *options, fm_random *random, fm_grid *grid)
{
    uint32_t remaining = grid->width * grid->height;
    uint32_t needed = (uint32_t)(((uint64_t)remaining * options->blocked_permille + 500) / 1000);
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            if (fm_random_below(random, remaining--) < needed) {
                block(grid, x, y);
                needed -= 1;
            }
        }
    }
}

static fm_status make(const fm_generate_options *options, fm_grid *grid, fm_cell *bases)
{
    fm_random random = fm_random_seed(options->seed);
    switch (options->generator) {
    case FM_GENERATOR_OPEN:
        return FM_OK;
    case FM_GENERATOR_MAZE:
        return make_maze(options, &random, grid);
    case FM_GENERATOR_ROOMS:
        make_rooms(options, &random, grid);
        return FM_OK;
    case FM_GENERATOR_RANDOM:
        make_random(options, &random, grid);
        return FM_OK;
    case FM_GENERATOR_SKIRMISH:
        return fm_generate_skirmish(options->players, &random, grid, bases);
    }
    FM_UNREACHABLE();
}

fm_status fm_generate(const fm_generate_options *options, const fm_memory *memory, fm_grid **out,
                      fm_cell *bases, char *error, size_t error_size)
{
    struct complaint complaint = {.text = error_size > 0 ? error : NULL, .size = error_size};
    fm_status status = check_options(options, complaint);
    if (status != FM_OK) {
        return status;
    }
    fm_grid *grid = NULL;
    fm_cell base_cells[FM_GENERATE_PLAYERS_MAX];
    for (uint32_t i = 0; i < FM_GENERATE_PLAYERS_MAX; i++) {
        base_cells[i] = FM_CELL_NONE;
    }
    status = fm_grid_create(options->width, options->height, memory, &grid);
    if (status == FM_OK) {
        status = make(options, grid, base_cells);
    }
    if (status != FM_OK) {
        fm_grid_destroy(grid);
        return refuse(complaint, status, "%s", fm_status_text(status));
    }
    if (bases != NULL) {
        memcpy(bases, base_cells, sizeof base_cells);
    }
    *out = grid;
    return FM_OK;
}
