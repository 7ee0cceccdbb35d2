// clients/cli/replay/journals.c: see journals.h.

#include "clients/cli/replay/journals.h"

#include "clients/cli/base/parse.h"
#include "clients/cli/replay/progress.h"

#include <stdlib.h>
#include <unistd.h>

fm_workers *fm_replay_workers(const fm_cli *cli)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t fallback = processors < 1                ? 1
                        : processors > FM_WORKERS_MAX ? FM_WORKERS_MAX
                                                      : (uint64_t)processors;
    fm_workers *workers;
    if (fm_workers_create((uint32_t)fm_cli_uint(cli, "workers", 1, FM_WORKERS_MAX, fallback),
                          &workers) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    return workers;
}

#define OPEN_MAX 2u // at a time

static fm_replay *open_replays[OPEN_MAX];

static void close_all(void)
{
    for (uint32_t i = 0; i < OPEN_MAX; i++) {
        fm_replay_close(open_replays[i]);
        open_replays[i] = NULL;
    }
}

static void note(fm_replay *replay)
{
    static bool is_first = true;
    if (is_first) {
        is_first = false;
        atexit(close_all);
    }
    uint32_t i = 0;
    while (open_replays[i] != NULL) {
        i++;
        FM_ASSERT(i < OPEN_MAX);
    }
    open_replays[i] = replay;
}

void fm_replay_close_opened(fm_replay *replay)
{
    for (uint32_t i = 0; i < OPEN_MAX; i++) {
        if (open_replays[i] == replay) {
            open_replays[i] = NULL;
        }
    }
    fm_replay_close(replay);
}

fm_replay *fm_replay_open_or_die(const fm_cli *cli, const char *path)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay *replay;
    if (fm_replay_open(path, &fm_memory_libc, &replay, error) != FM_OK) {
        fm_cli_die(cli, "%s", error);
    }
    note(replay);
    return replay;
}

void fm_replay_seek_or_die(const fm_cli *cli, fm_replay *replay, uint64_t tick, fm_workers *workers)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_journal_keyframe *from =
        fm_journal_reader_keyframe_before(fm_replay_reader(replay), tick == 0 ? 0 : tick - 1);
    fm_cli_progress progress = fm_cli_progress_begin(cli, from == NULL ? 0 : from->tick, tick);
    fm_status status = fm_replay_seek(replay, tick, workers, fm_cli_progress_at, &progress, error);
    fm_cli_progress_end(&progress);
    if (status != FM_OK) {
        fm_cli_die(cli, "%s", error);
    }
}

uint64_t fm_replay_tick_argument(const fm_cli *cli, int index)
{
    uint64_t tick;
    if (!fm_parse_uint(cli->arguments[index], INT64_MAX, &tick)) {
        fm_cli_usage_error(cli, "'%s' is not the number of a tick", cli->arguments[index]);
    }
    return tick;
}
