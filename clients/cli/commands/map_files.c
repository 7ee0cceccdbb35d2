// clients/cli/commands/map_files.c: `map`: map files of any format, without a server.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"
#include "clients/maps/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_DEFAULT 100u
#define SCALE_MAX       16u
#define PIXELS_MAX      ((uint64_t)8192 * 8192)

// ---- check --------------------------------------------------------------------------------------

struct count {
    uint64_t cells[FM_TERRAIN_COUNT];
    uint32_t costliest;
};

static struct count count_cells(const fm_grid *grid)
{
    struct count count = {.costliest = FM_COST_FLOOR};
    for (size_t i = 0; i < (size_t)grid->width * grid->height; i++) {
        count.cells[grid->terrain[i]]++;
        count.costliest = grid->cost[i] > count.costliest ? grid->cost[i] : count.costliest;
    }
    return count;
}

static void print_map(const char *path, const fm_grid *grid)
{
    struct count count = count_cells(grid);
    printf("%s: %u x %u cells", path, grid->width, grid->height);
    for (uint32_t i = 0; i < FM_TERRAIN_COUNT; i++) {
        if (count.cells[i] > 0) {
            printf(", %llu %s", (unsigned long long)count.cells[i], fm_terrain_name((fm_terrain)i));
        }
    }
    if (count.costliest > FM_COST_FLOOR) {
        printf("; costs up to %u", count.costliest);
    }
    putchar('\n');
}

static void print_json(const char *path, const fm_grid *grid, const char *fault)
{
    fputs("{\"file\":", stdout);
    fm_json_print_text(path, strlen(path));
    if (grid == NULL) {
        fm_json_print_member("error", fault);
    } else {
        struct count count = count_cells(grid);
        printf(",\"width\":%u,\"height\":%u,\"cost_max\":%u,\"terrain\":{", grid->width,
               grid->height, count.costliest);
        for (uint32_t i = FM_TERRAIN_GROUND; i < FM_TERRAIN_BUILDING; i++) {
            printf("%s\"%s\":%llu", i == FM_TERRAIN_GROUND ? "" : ",",
                   fm_terrain_name((fm_terrain)i), (unsigned long long)count.cells[i]);
        }
        putchar('}');
    }
    puts("}");
}

static int check(fm_cli *cli)
{
    int code = 0;
    for (int i = 1; i < cli->argument_count; i++) {
        char fault[FM_MAP_FAULT_SIZE];
        fm_grid *grid = NULL;
        if (fm_map_load(cli->arguments[i], &fm_memory_libc, &grid, fault) != FM_OK) {
            code = FM_EXIT_FAILED;
        }
        if (cli->json) {
            print_json(cli->arguments[i], grid, fault);
        } else if (grid != NULL) {
            print_map(cli->arguments[i], grid);
        } else {
            puts(fault);
        }
        fm_grid_destroy(grid);
    }
    return code;
}

// ---- convert ------------------------------------------------------------------------------------

static int convert(fm_cli *cli)
{
    char fault[FM_MAP_FAULT_SIZE], *bytes;
    size_t size;
    fm_grid *grid = fm_cli_load_map(cli, cli->arguments[1]);
    if (fm_map_convert(grid, cli->arguments[2], &bytes, &size, fault) != FM_OK) {
        fm_cli_die(cli, "%s", fault);
    }
    fm_cli_write_file(cli, cli->arguments[2], bytes, size);
    free(bytes);
    fm_grid_destroy(grid);
    return 0;
}

// ---- draw ---------------------------------------------------------------------------------------

// The terrain that most cells of a square have.
static char letter_of(const fm_grid *grid, uint32_t left, uint32_t top, uint32_t side)
{
    uint32_t counts[FM_TERRAIN_COUNT] = {0}, most = FM_TERRAIN_GROUND;
    uint32_t costliest = FM_COST_FLOOR;
    for (uint32_t y = top; y < top + side && y < grid->height; y++) {
        for (uint32_t x = left; x < left + side && x < grid->width; x++) {
            size_t index = fm_grid_index(grid, fm_cell_at(x, y));
            counts[grid->terrain[index]]++;
            costliest = grid->cost[index] > costliest ? grid->cost[index] : costliest;
        }
    }
    for (uint32_t i = 0; i < FM_TERRAIN_COUNT; i++) {
        most = counts[i] > counts[most] ? i : most;
    }
    bool is_dear = side == 1 && most == FM_TERRAIN_GROUND && costliest > FM_COST_FLOOR;
    return is_dear ? (char)(costliest < 9 ? '0' + costliest : '9')
                   : fm_terrain_letter((fm_terrain)most);
}

static void draw_letters(const fm_cli *cli, const fm_grid *grid)
{
    uint32_t columns = (uint32_t)fm_cli_uint(cli, "columns", 1, FM_SIDE_MAX, COLUMNS_DEFAULT);
    uint32_t side = (grid->width + columns - 1) / columns;
    for (uint32_t y = 0; y < grid->height; y += side) {
        for (uint32_t x = 0; x < grid->width; x += side) {
            putchar(letter_of(grid, x, y, side));
        }
        putchar('\n');
    }
    if (side > 1) {
        fprintf(stderr, "One letter stands for %u x %u cells; --columns %u shows all.\n", side,
                side, grid->width);
    }
}

static void draw_png(fm_cli *cli, const fm_grid *grid, const char *path)
{
    uint32_t scale = (uint32_t)fm_cli_uint(cli, "scale", 1, SCALE_MAX, 1);
    char *bytes;
    size_t size;
    if ((uint64_t)grid->width * grid->height * scale * scale > PIXELS_MAX) {
        fm_cli_die(cli, "--scale %u: the picture would have more than %llu million pixels", scale,
                   (unsigned long long)(PIXELS_MAX / 1000000));
    }
    if (fm_map_draw_png(grid, scale, &bytes, &size) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    fm_cli_write_file(cli, path, bytes, size);
    free(bytes);
}

static int draw(fm_cli *cli)
{
    fm_grid *grid = fm_cli_load_map(cli, cli->arguments[1]);
    if (cli->argument_count == 3) {
        draw_png(cli, grid, cli->arguments[2]);
    } else {
        draw_letters(cli, grid);
    }
    fm_grid_destroy(grid);
    return 0;
}

// ---- the command --------------------------------------------------------------------------------

fm_grid *fm_cli_load_map(const fm_cli *cli, const char *path)
{
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid = NULL;
    if (fm_map_load(path, &fm_memory_libc, &grid, fault) != FM_OK) {
        fm_cli_die(cli, "%s", fault);
    }
    return grid;
}

static int run_map(fm_cli *cli)
{
    const char *action = cli->arguments[0];
    int files = cli->argument_count - 1;
    if (strcmp(action, "check") == 0 && files >= 1) {
        return check(cli);
    }
    if (strcmp(action, "convert") == 0 && files == 2) {
        return convert(cli);
    }
    if (strcmp(action, "draw") == 0 && (files == 1 || files == 2)) {
        return draw(cli);
    }
    fm_cli_usage_error(cli, "wanted: check FILE..., convert FILE FILE or draw FILE [FILE.png]");
}

static const fm_cli_option map_options[] = {
    {"columns", 0, FM_CLI_UINT, "N", "draw: letters in a line; 100", 0},
    {"scale", 0, FM_CLI_UINT, "N", "draw: pixels on each side of a cell, up to 16; 1", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_map = {
    .name = "map",
    .arguments = "check FILE... | convert FILE FILE | draw FILE [FILE.png]",
    .summary = "check, convert or draw map files",
    .details =
        "check FILE...       reads maps and says what is in them, or what is wrong and where;\n"
        "                    exit status 1 when one is wrong\n"
        "convert FILE FILE   writes a map in another format: .map, .txt, .png or .ppm\n"
        "draw FILE           prints a map as letters; draw FILE FILE.png makes a picture\n"
        "\n"
        "Known formats:\n" FM_MAP_FORMATS ".\n"
        "FILE may be - for standard input. No server is needed.",
    .examples = "fogmarch map check forest.tmx\n"
                "fogmarch map convert forest.tmx forest.map\n"
                "fogmarch map draw Ramparts.map --columns 60",
    .options = map_options,
    .arguments_min = 2,
    .arguments_max = FM_CLI_GIVEN_MAX,
    .run = run_map,
};
