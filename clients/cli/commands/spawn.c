// clients/cli/commands/spawn.c: `spawn`: agents on given cells, or on free ones that it picks.
//
// The server puts agents where a request says and nowhere else. Random places are drawn here, from
// the cells that a keyframe shows free and empty, in the largest connected part of the map.

#include "clients/cli/commands/commands.h"

#include "clients/cli/views/snapshot.h"
#include "core/base/name_hint.h"
#include "core/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_AT_ONCE 16384u // of one request

struct places {
    fm_cell *cells;
    uint32_t count;
};

static struct places read_places(fm_cli *cli)
{
    struct places places = {.cells = fm_cli_need(cli, malloc(FM_CLI_GIVEN_MAX * sizeof(fm_cell)))};
    for (const char *at; (at = fm_cli_value_at(cli, "at", places.count)) != NULL; places.count++) {
        if (!fm_parse_cell(at, &places.cells[places.count])) {
            fm_cli_usage_error(cli, "--at: '%s' is not of the form X,Y, each 0 to %u", at,
                               FM_SIDE_MAX - 1u);
        }
    }
    return places;
}

static int compare_cells(const void *a, const void *b)
{
    fm_cell left = *(const fm_cell *)a, right = *(const fm_cell *)b;
    return (left > right) - (left < right);
}

// Drops the cells that agents stand on; keeps the order of the others.
static void drop_taken(const fm_cli *cli, const fm_mirror *mirror, struct places *places)
{
    fm_cell *taken = fm_cli_need(cli, malloc((mirror->agent_count + 1) * sizeof *taken));
    for (uint32_t i = 0; i < mirror->agent_count; i++) {
        taken[i] = mirror->agents[i].cell;
    }
    qsort(taken, mirror->agent_count, sizeof *taken, compare_cells);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        if (bsearch(&places->cells[i], taken, mirror->agent_count, sizeof *taken, compare_cells) ==
            NULL) {
            places->cells[kept++] = places->cells[i];
        }
    }
    places->count = kept;
    free(taken);
}

// Brings `count` random cells to the front.
static void shuffle(struct places *places, uint32_t count, fm_random *random)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = i + fm_random_below(random, places->count - i);
        fm_cell cell = places->cells[i];
        places->cells[i] = places->cells[other];
        places->cells[other] = cell;
    }
}

// Keeps the first places, and of the others those whose squares overlap none that is kept.
static void keep_apart(const fm_cli *cli, struct places *places, uint32_t size)
{
    fm_bitmap covered;
    if (fm_bitmap_init(&covered, FM_SIDE_MAX, FM_SIDE_MAX, false, &fm_memory_libc) != FM_OK) {
        fm_cli_need(cli, NULL);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        bool overlaps = false;
        for (uint32_t k = 0; k < size * size && !overlaps; k++) {
            overlaps = fm_bitmap_get(&covered, places->cells[i] + fm_cell_at(k % size, k / size));
        }
        for (uint32_t k = 0; k < size * size && !overlaps; k++) {
            fm_bitmap_set(&covered, places->cells[i] + fm_cell_at(k % size, k / size));
        }
        places->cells[kept] = places->cells[i];
        kept += !overlaps;
    }
    places->count = kept;
    fm_bitmap_fini(&covered, &fm_memory_libc);
}

// The movement class of --class, as the world's rules have it.
static fm_movement_class class_of(fm_cli *cli, uint64_t world)
{
    const char *name = fm_cli_value(cli, "class");
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    const msgpack_object *rules = fm_object_get(fm_cli_call(cli, FM_METHOD_WORLD_INFO), "rules");
    const msgpack_object *classes = rules == NULL ? NULL : fm_object_get(rules, "classes");
    uint32_t count =
        classes == NULL || classes->type != MSGPACK_OBJECT_ARRAY ? 0 : classes->via.array.size;
    fm_name_hint hint;
    fm_name_hint_begin(&hint, name == NULL ? "" : name);
    for (uint32_t i = 0; i < count; i++) {
        const msgpack_object *text = &classes->via.array.ptr[i];
        char copy[FM_CLASS_TEXT_SIZE];
        fm_movement_class movement;
        if (text->type != MSGPACK_OBJECT_STR || text->via.str.size >= sizeof copy) {
            continue;
        }
        memcpy(copy, text->via.str.ptr, text->via.str.size);
        copy[text->via.str.size] = '\0';
        if (fm_movement_class_parse(copy, &movement, NULL, 0) == FM_OK &&
            (name == NULL || strcmp(movement.name, name) == 0)) {
            return movement;
        }
        *strchrnul(copy, ':') = '\0';
        fm_name_hint_offer(&hint, copy);
    }
    if (name != NULL) {
        fm_cli_die(cli, "--class: the world has no movement class '%s'%s", name,
                   fm_name_hint_text(&hint));
    }
    return fm_movement_class_ground();
}

static fm_cell base_of(fm_cli *cli, uint64_t world, uint64_t base)
{
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    fm_numbers bases = fm_object_numbers(fm_cli_call(cli, FM_METHOD_WORLD_INFO), "bases");
    if (base > bases.count / 2) {
        fm_cli_die(cli, "--base: there is no base %llu: the world has %u bases",
                   (unsigned long long)base, bases.count / 2);
    }
    uint32_t at = (uint32_t)(base - 1) * 2;
    return fm_cell_at((uint32_t)fm_numbers_at(bases, at) & 0xfffu,
                      (uint32_t)fm_numbers_at(bases, at + 1) & 0xfffu);
}

// Draws places as --rect, --base and --near say.
static struct places draw_places(fm_cli *cli, uint64_t world, uint32_t count)
{
    const char *rect_text = fm_cli_value(cli, "rect"), *near_text = fm_cli_value(cli, "near");
    fm_rect rect;
    fm_cell near = FM_CELL_NONE;
    if (rect_text != NULL && !fm_parse_rect(rect_text, &rect)) {
        fm_cli_usage_error(cli, "--rect: '%s' is not of the form X,Y,WIDTH,HEIGHT", rect_text);
    }
    if (near_text != NULL && !fm_parse_cell(near_text, &near)) {
        fm_cli_usage_error(cli, "--near: '%s' is not of the form X,Y, each 0 to %u", near_text,
                           FM_SIDE_MAX - 1u);
    }
    uint64_t base = fm_cli_uint(cli, "base", 1, 8, 0);
    if (base != 0) {
        near = base_of(cli, world, base);
    }
    fm_mirror mirror;
    fm_snapshot_take(cli, world, 0, rect_text == NULL ? NULL : &rect, &mirror);
    fm_movement_class movement = class_of(cli, world);
    fm_snapshot_fit(&mirror, &movement);
    struct places places = {.cells = NULL};
    fm_cell from = fm_snapshot_mainland(cli, &mirror, near == FM_CELL_NONE ? 0 : near);
    if (from != FM_CELL_NONE) {
        // Around a place: twice as many as wanted, so that the crowd has gaps to move in.
        uint32_t area = (uint32_t)movement.size * movement.size;
        uint32_t count_max =
            near == FM_CELL_NONE ? UINT32_MAX : 2 * count * area + mirror.agent_count;
        places.count = fm_snapshot_flood(cli, &mirror, from, count_max, &places.cells);
    }
    drop_taken(cli, &mirror, &places);
    fm_mirror_fini(&mirror);
    fm_random random = fm_random_seed(fm_cli_uint(cli, "seed", 0, (uint64_t)FM_UINT_MAX, 1));
    if (movement.size > 1) {
        shuffle(&places, places.count, &random);
        keep_apart(cli, &places, movement.size);
    } else if (places.count >= count) {
        shuffle(&places, count, &random);
    }
    if (places.count < count) {
        fm_cli_die(cli, "there is room for %u agents, not for %u", places.count, count);
    }
    places.count = count;
    return places;
}

static void add_spawned(const fm_cli *cli, const msgpack_object *result, fm_id_list *spawned)
{
    fm_numbers agents = fm_object_numbers(result, "agents");
    for (uint32_t i = 0; i < agents.count; i++) {
        if (!fm_id_list_add(spawned, fm_numbers_at(agents, i))) {
            fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        }
    }
}

// Ids as short as they can be written: "1-20,33".
static void print_ids(const fm_id_list *list)
{
    for (uint32_t i = 0; i < list->count;) {
        uint32_t end = i + 1;
        while (end < list->count && list->ids[end] == list->ids[end - 1] + 1) {
            end++;
        }
        printf("%s%llu", i == 0 ? "" : ",", (unsigned long long)list->ids[i]);
        if (end - i > 1) {
            printf("-%llu", (unsigned long long)list->ids[end - 1]);
        }
        i = end;
    }
}

static void print_spawned(const fm_cli *cli, const fm_id_list *spawned)
{
    if (cli->json) {
        printf("{\"agents\":[");
        for (uint32_t i = 0; i < spawned->count; i++) {
            printf("%s%llu", i == 0 ? "" : ",", (unsigned long long)spawned->ids[i]);
        }
        puts("]}");
        return;
    }
    printf("%u agent%s: ", spawned->count, spawned->count == 1 ? "" : "s");
    print_ids(spawned);
    putchar('\n');
}

static int run_spawn(fm_cli *cli)
{
    uint64_t team = fm_cli_uint(cli, "team", 1, FM_TEAMS_MAX, 0);
    uint32_t count = (uint32_t)fm_cli_uint(cli, "count", 1, FM_AGENTS_MAX, 0);
    if (team == 0) {
        fm_cli_usage_error(cli, "--team N is needed ('fogmarch team' makes one)");
    }
    if ((count == 0) == (fm_cli_value(cli, "at") == NULL)) {
        fm_cli_usage_error(cli, "%s",
                           count == 0 ? "one of --at X,Y and --count N is needed"
                                      : "--at X,Y and --count N exclude each other");
    }
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    struct places places = count == 0 ? read_places(cli) : draw_places(cli, world, count);
    const char *planner = fm_cli_value(cli, "planner"), *class = fm_cli_value(cli, "class");
    fm_id_list spawned = {.ids = NULL};
    for (uint32_t i = 0; i < places.count; i += CELLS_AT_ONCE) {
        uint32_t left = places.count - i;
        fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
        fm_params_uint(&cli->params, FM_FIELD_TEAM, team);
        fm_params_cells(&cli->params, FM_FIELD_CELLS, places.cells + i,
                        left < CELLS_AT_ONCE ? left : CELLS_AT_ONCE);
        if (planner != NULL) {
            fm_params_text(&cli->params, FM_FIELD_PLANNER, planner);
        }
        if (class != NULL) {
            fm_params_text(&cli->params, FM_FIELD_CLASS, class);
        }
        fm_cli_pack_options(cli);
        add_spawned(cli, fm_cli_call(cli, FM_METHOD_AGENT_SPAWN), &spawned);
    }
    print_spawned(cli, &spawned);
    free(places.cells);
    free(spawned.ids);
    return 0;
}

static const fm_cli_option options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "N", "whose agents", 0},
    {"at", 'a', FM_CLI_TEXT, "X,Y", "put one here; may be given many times", 0},
    {"count", 'n', FM_CLI_UINT, "N",
     "put so many on random free cells, all in the\n"
     "largest connected part of the map",
     0},
    {"rect", 'r', FM_CLI_TEXT, "X,Y,W,H", "... of this rectangle; X,Y is its north-west cell", 0},
    {"base", 'b', FM_CLI_UINT, "N", "... around base N of a skirmish map", 0},
    {"near", 0, FM_CLI_TEXT, "X,Y", "... around this cell", 0},
    {"seed", 's', FM_CLI_UINT, "N", "the same seed draws the same cells; 1", 0},
    {"planner", 'p', FM_CLI_TEXT, "SPEC", "their planner; the team's", 0},
    {"class", 0, FM_CLI_TEXT, "NAME", "their movement class; the world's first", 0},
    {"speed", 0, FM_CLI_REAL, "CELLS", "cells per second; one step a tick", FM_FIELD_SPEED},
    {"place", 0, FM_CLI_TEXT, "HOW",
     "exact: there or nowhere; nearest: on the nearest\ncells that can hold them; exact",
     FM_FIELD_PLACE},
    {.name = NULL},
};

const fm_cli_command fm_cli_spawn = {
    .name = "spawn",
    .arguments = "",
    .summary = "put agents of a team into a world",
    .details = "Puts agents on the cells given, or on random free ones, and prints their ids.",
    .examples = "fogmarch spawn --team 1 --at 10,12 --at 11,12\n"
                "fogmarch spawn --team 2 --count 100 --base 2",
    .options = options,
    .run = run_spawn,
};
