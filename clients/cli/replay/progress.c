// clients/cli/replay/progress.c: see progress.h.

#include "clients/cli/replay/progress.h"

#include "clients/cli/base/report.h"
#include "clients/cli/views/pulse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 30u // characters
#define SHOW_MS   100u

fm_cli_progress fm_cli_progress_begin(const fm_cli *cli, uint64_t first, uint64_t last)
{
    uint64_t now_ms = fm_pulse_clock_ms();
    return (fm_cli_progress){
        .shown = !cli->json && isatty(STDERR_FILENO) && last > first,
        .first = first,
        .last = last,
        .begin_ms = now_ms,
        .next_ms = now_ms + SHOW_MS, // short commands need no bar
    };
}

bool fm_cli_progress_at(void *context, uint64_t tick)
{
    fm_cli_progress *progress = context;
    uint64_t now_ms = fm_pulse_clock_ms();
    if (!progress->shown || now_ms < progress->next_ms || tick < progress->first) {
        return true;
    }
    progress->next_ms = now_ms + SHOW_MS;
    uint64_t done = tick - progress->first, all = progress->last - progress->first;
    uint32_t full = (uint32_t)(done >= all ? BAR_WIDTH : done * BAR_WIDTH / all);
    char bar[BAR_WIDTH + 1];
    memset(bar, '#', full);
    memset(bar + full, '.', BAR_WIDTH - full);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] tick %s of %s, %s ticks/s\033[K", bar, fm_report_grouped(tick),
            fm_report_grouped(progress->last),
            fm_report_grouped(done * 1000 / (now_ms - progress->begin_ms + 1)));
    return true;
}

void fm_cli_progress_end(fm_cli_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
    }
}
