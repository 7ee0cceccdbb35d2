// clients/cli/replay/journals.c: see journals.h.

#include "clients/cli/replay/journals.h"

#include "clients/cli/base/parse.h"
#include "clients/cli/replay/progress.h"

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

fm_replay *fm_replay_open_or_die(const fm_cli *cli, const char *path)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_replay *replay;
    if (fm_replay_open(path, &fm_memory_libc, &replay, error) != FM_OK) {
        fm_cli_die(cli, "%s", error);
    }
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
