// clients/cli/replay/export.c: `replay export`: the map of a journal and the moves that were
// ordered in it, as NAME.map and NAME.scen in the MovingAI formats.
//
// The map is that of the first tick; what was edited later is not in it, and moves that it does not
// allow are left out and counted, like those of units that do not move as such maps mean it, and
// those that waited for their turn, whose beginning nobody ordered. Lengths are optimal ones on the
// whole map, under the world's rules for steps.

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"
#include "clients/cli/replay/journals.h"
#include "clients/cli/replay/progress.h"
#include "clients/cli/replay/replay.h"
#include "core/map/map_file.h"
#include "core/planners/query.h"
#include "core/saves/experiment.h"
#include "core/search/scratch.h"
#include "core/views/inspect.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BUCKET_LENGTH 4.0 // of the problems in one bucket, as in the published files

struct errand {
    fm_cell start, goal;
    double length;
};

struct export
{
    fm_cli *cli;
    fm_replay *replay;
    fm_workers *workers;
    uint64_t from, to; // ticks
    struct errand *errands;
    uint32_t count, capacity;
    uint64_t left_out, edits; // moves; commands that changed the map
};

static void add_errand(struct export *export, fm_cell start, fm_cell goal)
{
    fm_cli_reserve(export->cli, (void **)&export->errands, &export->capacity, export->count + 1,
                   sizeof *export->errands);
    export->errands[export->count++] = (struct errand){.start = start, .goal = goal};
}

// One command that was carried out.
static void take_command(struct export *export, const fm_command *command)
{
    const fm_world *world = fm_replay_world(export->replay);
    export->edits += command->kind == FM_COMMAND_TERRAIN || command->kind == FM_COMMAND_BUILD ||
                     command->kind == FM_COMMAND_DEMOLISH;
    if (command->kind != FM_COMMAND_ORDER || command->order != FM_ORDER_MOVE) {
        return;
    }
    for (uint32_t i = 0; i < command->agent_count; i++) {
        fm_agent_report agent;
        if (command->queue || fm_world_describe(world, command->agents[i], &agent) != FM_OK ||
            agent.class_index != 0 || fm_world_rules_get(world)->classes[0].size != 1) {
            export->left_out++;
            continue;
        }
        add_errand(export, agent.cell, command->cells[command->cell_count == 1 ? 0 : i]);
    }
}

static void collect(struct export *export)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_cli_progress progress = fm_cli_progress_begin(export->cli, export->from, export->to);
    fm_replay_step step;
    bool more = true;
    while (more && fm_replay_position(export->replay) < export->to) {
        fm_cli_progress_at(&progress, fm_replay_position(export->replay));
        if (fm_replay_step_next(export->replay, export->workers, &step, &more, error) != FM_OK) {
            fm_cli_progress_end(&progress);
            fm_cli_die(export->cli, "%s", error);
        }
        if (more && step.command != NULL && step.result.status == FM_OK) {
            take_command(export, step.command);
        }
    }
    fm_cli_progress_end(&progress);
}

// ---- lengths -----------------------------------------------------------------------------------

// @return whether there is a path
static bool measure(const struct export *export, const fm_view *view, struct errand *errand,
                    fm_work *work)
{
    fm_query *query;
    fm_status status =
        fm_query_create(view, errand->start, errand->goal, UINT64_MAX, &fm_memory_libc, &query);
    if (status == FM_ERR_BLOCKED_CELL) {
        return false;
    }
    if (status != FM_OK) {
        fm_cli_die(export->cli, "%s", fm_status_text(status));
    }
    fm_query_state state;
    do {
        work->expansions = 0;
        state = fm_query_advance(query, work);
    } while (state == FM_QUERY_RUNNING);
    fm_query_answer answer = fm_query_result(query);
    errand->length = answer.length;
    fm_query_destroy(query);
    return state == FM_QUERY_FOUND;
}

// Keeps the errands that can be done on the map.
static void measure_all(struct export *export, const fm_view *view)
{
    fm_slab slab;
    fm_scratch scratch;
    fm_slab_init(&slab, &fm_memory_libc);
    fm_scratch_init(&scratch, &fm_memory_libc);
    fm_work work = {.slab = &slab, .scratch = &scratch, .expansions_max = UINT32_MAX};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < export->count; i++) {
        struct errand *errand = &export->errands[i];
        if (measure(export, view, errand, &work)) {
            export->errands[kept++] = *errand;
        } else {
            export->left_out++;
        }
    }
    export->count = kept;
    fm_scratch_fini(&scratch);
    fm_slab_fini(&slab);
}

// ---- files -------------------------------------------------------------------------------------

static void write_map(const struct export *export, const fm_grid *grid, const char *path)
{
    size_t size = fm_map_written_size(grid);
    char *text = fm_cli_need(export->cli, malloc(size));
    fm_map_write(grid, text);
    FILE *out = fm_cli_create_file(export->cli, path);
    (void)!fwrite(text, 1, size, out); // what fails shows when it is closed
    fm_cli_close_file(export->cli, out, path);
    free(text);
}

static void write_scen(const struct export *export, const fm_grid *grid, const char *path)
{
    FILE *out = fm_cli_create_file(export->cli, path);
    fputs("version 1\n", out);
    for (uint32_t i = 0; i < export->count; i++) {
        const struct errand *errand = &export->errands[i];
        fprintf(out, "%u\t%s.map\t%u\t%u\t%u\t%u\t%u\t%u\t%.8f\n",
                (uint32_t)(errand->length / BUCKET_LENGTH), fm_replay_info(export->replay)->name,
                grid->width, grid->height, fm_cell_x(errand->start), fm_cell_y(errand->start),
                fm_cell_x(errand->goal), fm_cell_y(errand->goal), errand->length);
    }
    fm_cli_close_file(export->cli, out, path);
}

static void make_path(const struct export *export, const char *ending, char *path)
{
    const char *folder = fm_cli_value(export->cli, "out");
    int size = snprintf(path, PATH_MAX, "%s/%s.%s", folder == NULL ? "." : folder,
                        fm_replay_info(export->replay)->name, ending);
    if (size >= PATH_MAX) {
        fm_cli_die(export->cli, "--out: the name is too long");
    }
}

static void make_folder(const fm_cli *cli)
{
    const char *folder = fm_cli_value(cli, "out");
    if (folder != NULL && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fm_cli_die(cli, "%s: %s", folder, strerror(errno));
    }
}

static void print_export(const struct export *export, const char *map, const char *scen)
{
    if (export->cli->json) {
        fputs("{\"map\":", stdout);
        fm_json_print_text(map, strlen(map));
        fputs(",\"scen\":", stdout);
        fm_json_print_text(scen, strlen(scen));
        printf(",\"from\":%llu,\"to\":%llu,\"moves\":%u,\"left_out\":%llu,\"edits\":%llu}\n",
               (unsigned long long)export->from, (unsigned long long)export->to, export->count,
               (unsigned long long)export->left_out, (unsigned long long)export->edits);
        return;
    }
    printf("%s: the map as of tick %llu%s\n%s: %s moves", map, (unsigned long long)export->from - 1,
           export->edits > 0 ? "; it was edited later" : "", scen,
           fm_report_grouped(export->count));
    if (export->left_out > 0) {
        printf("; %s left out", fm_report_grouped(export->left_out));
    }
    putchar('\n');
}

int fm_replay_export(fm_cli *cli)
{
    struct export export = {.cli = cli};
    export.replay = fm_replay_open_or_die(cli, cli->arguments[1]);
    const fm_journal_info *info = fm_replay_info(export.replay);
    export.from = fm_cli_uint(cli, "from", info->first_tick + 1, INT64_MAX, info->first_tick + 1);
    export.to = fm_cli_uint(cli, "to", 0, info->last_tick, info->last_tick);
    export.workers = fm_replay_workers(cli);
    char map[PATH_MAX], scen[PATH_MAX];
    make_path(&export, "map", map);
    make_path(&export, "scen", scen);
    make_folder(cli);
    fm_replay_seek_or_die(cli, export.replay, export.from - 1, export.workers);
    collect(&export);
    fm_replay_seek_or_die(cli, export.replay, export.from - 1, export.workers);
    const fm_world *world = fm_replay_world(export.replay);
    measure_all(&export, fm_world_view(world, FM_ALL_TEAMS));
    write_map(&export, fm_world_grid(world), map);
    write_scen(&export, fm_world_grid(world), scen);
    print_export(&export, map, scen);
    free(export.errands);
    fm_replay_close_opened(export.replay);
    fm_workers_destroy(export.workers);
    return 0;
}
