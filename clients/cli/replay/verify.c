// clients/cli/replay/verify.c: `replay verify`: whether a journal can be replayed to the same
// digests.
//
// A digest says that worlds differ, not where. A journal holds whole worlds now and then, so verify
// continues after the first difference at the next keyframe and compares world with world there.

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"
#include "clients/cli/replay/findings.h"
#include "clients/cli/replay/journals.h"
#include "clients/cli/replay/progress.h"
#include "clients/cli/replay/replay.h"
#include "clients/cli/views/pulse.h"
#include "core/commands/create.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verify_sides[2] = {"recorded", "replayed"};

struct verification {
    fm_cli *cli;
    fm_replay *replay;
    fm_workers *workers;
    uint64_t from, to; // ticks
    uint64_t commands, gaps;
    uint64_t keyframes, different_keyframes;
    uint64_t later_keyframes;                  // after the first difference
    uint64_t recorded_digest, replayed_digest; // of the first difference
    fm_findings findings;
    double seconds;
};

static const fm_journal_keyframe *keyframe_at(fm_replay *replay, uint64_t position)
{
    uint32_t count;
    const fm_journal_keyframe *list = fm_journal_reader_keyframes(fm_replay_reader(replay), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].position == position) {
            return &list[i];
        }
    }
    return NULL;
}

static bool has_bytes(const fm_cli *cli, const fm_world *world, const uint8_t *bytes, size_t size)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    if (fm_world_save(world, &writer) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    bool same = writer.size == size && memcmp(writer.data, bytes, size) == 0;
    fm_writer_fini(&writer);
    return same;
}

// Compares the world with the one that the journal holds, at a keyframe.
static void compare_keyframe(struct verification *v, const fm_journal_keyframe *keyframe)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    uint8_t *bytes;
    size_t size;
    if (fm_journal_reader_load(fm_replay_reader(v->replay), keyframe, &bytes, &size, error) !=
        FM_OK) {
        fm_cli_die(v->cli, "%s", error);
    }
    fm_world *world = fm_replay_world(v->replay), *recorded;
    v->keyframes++;
    v->later_keyframes += fm_replay_verdict_get(v->replay).differences > 0;
    if (!has_bytes(v->cli, world, bytes, size)) {
        v->different_keyframes++;
        fm_bytes_error wrong = {.offset = 0};
        fm_status status = fm_world_load(bytes, size, &fm_memory_libc, &recorded, &wrong);
        if (status != FM_OK) {
            fm_cli_die(v->cli, "keyframe of tick %llu: %s", (unsigned long long)keyframe->tick,
                       status == FM_ERR_BAD_FORMAT ? wrong.message : fm_status_text(status));
        }
        if (!v->findings.looked) {
            fm_findings_find(v->cli, recorded, world, keyframe->tick, &v->findings);
        }
        fm_world_destroy(recorded);
    }
    free(bytes);
}

static void note_step(struct verification *v, const fm_replay_step *step)
{
    fm_replay_verdict verdict = fm_replay_verdict_get(v->replay);
    const fm_journal_keyframe *keyframe;
    switch (step->row.kind) {
    case FM_JOURNAL_COMMAND:
        v->commands++;
        break;
    case FM_JOURNAL_TICK:
        if (verdict.differences == 1 && verdict.first_difference == step->report->record.tick) {
            v->recorded_digest = step->recorded_digest;
            v->replayed_digest = step->report->record.digest;
        }
        break;
    case FM_JOURNAL_KEYFRAME:
        keyframe = keyframe_at(v->replay, step->row.position);
        if (keyframe != NULL) {
            compare_keyframe(v, keyframe);
        }
        break;
    case FM_JOURNAL_GAP:
        v->gaps += step->bridged.tick == 0;
        break;
    case FM_JOURNAL_PACE:
        break;
    }
}

// After a difference it continues at the next keyframe, which can show what it is. At the end of
// the journal it takes in the keyframe that may follow the last tick.
static bool is_done(const struct verification *v, fm_journal_kind last_row)
{
    uint64_t tick = fm_replay_position(v->replay);
    if (fm_replay_verdict_get(v->replay).differences > 0) {
        return v->findings.looked;
    }
    return v->to < fm_replay_info(v->replay)->last_tick
               ? tick >= v->to && (last_row == FM_JOURNAL_TICK || last_row == FM_JOURNAL_GAP)
               : tick > v->to || (tick == v->to && last_row == FM_JOURNAL_COMMAND);
}

static void replay_all(struct verification *v)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_cli_progress progress = fm_cli_progress_begin(v->cli, v->from, v->to);
    fm_replay_step step = {.row.kind = FM_JOURNAL_PACE};
    bool more = true;
    while (more && !is_done(v, step.row.kind)) {
        fm_cli_progress_at(&progress, fm_replay_position(v->replay));
        if (fm_replay_step_next(v->replay, v->workers, &step, &more, error) != FM_OK) {
            fm_cli_progress_end(&progress);
            fm_cli_die(v->cli, "%s", error);
        }
        if (more) {
            note_step(v, &step);
        }
    }
    fm_cli_progress_end(&progress);
    v->seconds = (double)(fm_pulse_clock_ms() - progress.begin_ms) / 1000;
}

static void print_verification(const struct verification *v)
{
    const fm_replay_verdict verdict = fm_replay_verdict_get(v->replay);
    const fm_journal_info *info = fm_replay_info(v->replay);
    printf("world %llu, %s: ticks %llu to %llu, %s command%s, %u worker%s, %.1f s\n",
           (unsigned long long)info->number, info->name, (unsigned long long)v->from,
           (unsigned long long)fm_replay_position(v->replay), fm_report_grouped(v->commands),
           v->commands == 1 ? "" : "s", fm_workers_count(v->workers),
           fm_workers_count(v->workers) == 1 ? "" : "s", v->seconds);
    if (v->gaps > 0) {
        printf("%s gap%s: ticks that were not written cannot be replayed\n",
               fm_report_grouped(v->gaps), v->gaps == 1 ? "" : "s");
    }
    if (verdict.bridged > 0) {
        printf("%s tick%s in which memory ran out %s bridged by a keyframe\n",
               fm_report_grouped(verdict.bridged), verdict.bridged == 1 ? "" : "s",
               verdict.bridged == 1 ? "is" : "are each");
    }
    if (verdict.refused > 0) {
        printf("%s recorded commands were refused\n", fm_report_grouped(verdict.refused));
    }
    if (verdict.differences == 0 && v->different_keyframes == 0) {
        printf("%s digest%s and %s keyframe%s are as recorded\n", fm_report_grouped(verdict.ticks),
               verdict.ticks == 1 ? "" : "s", fm_report_grouped(v->keyframes),
               v->keyframes == 1 ? "" : "s");
        return;
    }
    if (verdict.differences > 0) {
        printf("tick %llu is the first whose digest differs: %016llx recorded, %016llx replayed\n",
               (unsigned long long)verdict.first_difference, (unsigned long long)v->recorded_digest,
               (unsigned long long)v->replayed_digest);
    } else {
        puts("All digests are as recorded, but a keyframe is not.");
    }
    if (v->findings.looked) {
        fm_findings_print(&v->findings, verify_sides);
    } else {
        puts(v->later_keyframes > 0 ? "The keyframes that follow are as recorded."
                                    : "No keyframe follows that could show which agents differ.");
    }
}

static void print_json_verification(const struct verification *v, const char *path)
{
    const fm_replay_verdict verdict = fm_replay_verdict_get(v->replay);
    const fm_journal_info *info = fm_replay_info(v->replay);
    fputs("{\"file\":", stdout);
    fm_json_print_text(path, strlen(path));
    fm_json_print_member("name", info->name);
    printf(",\"world\":%llu,\"workers\":%u,\"from\":%llu,\"to\":%llu,\"ticks\":%llu,"
           "\"commands\":%llu,\"gaps\":%llu,\"bridged\":%llu,\"refused\":%llu,\"keyframes\":%llu,"
           "\"different_keyframes\":%llu,\"differences\":%llu,\"first_difference\":%llu",
           (unsigned long long)info->number, fm_workers_count(v->workers),
           (unsigned long long)v->from, (unsigned long long)v->to,
           (unsigned long long)verdict.ticks, (unsigned long long)v->commands,
           (unsigned long long)v->gaps, (unsigned long long)verdict.bridged,
           (unsigned long long)verdict.refused, (unsigned long long)v->keyframes,
           (unsigned long long)v->different_keyframes, (unsigned long long)verdict.differences,
           (unsigned long long)verdict.first_difference);
    printf(",\"recorded_digest\":\"%016llx\",\"replayed_digest\":\"%016llx\"",
           (unsigned long long)v->recorded_digest, (unsigned long long)v->replayed_digest);
    fm_findings_print_json(&v->findings, verify_sides);
    printf(",\"seconds\":%.3f}\n", v->seconds);
}

int fm_replay_verify(fm_cli *cli)
{
    struct verification v = {.cli = cli};
    v.replay = fm_replay_open_or_die(cli, cli->arguments[1]);
    const fm_journal_info *info = fm_replay_info(v.replay);
    v.from = fm_cli_uint(cli, "from", 0, INT64_MAX, info->first_tick + 1);
    v.to = fm_cli_uint(cli, "to", 0, INT64_MAX, info->last_tick);
    if (v.from > v.to && info->last_tick > info->first_tick) {
        fm_cli_usage_error(cli, "--from %llu is behind --to %llu", (unsigned long long)v.from,
                           (unsigned long long)v.to);
    }
    if (v.to > info->last_tick) {
        fm_cli_die(cli, "%s: tick %llu is not in this journal, which holds %llu to %llu",
                   cli->arguments[1], (unsigned long long)v.to,
                   (unsigned long long)info->first_tick, (unsigned long long)info->last_tick);
    }
    v.workers = fm_replay_workers(cli);
    fm_replay_seek_or_die(cli, v.replay, v.from == 0 ? 0 : v.from - 1, v.workers);
    replay_all(&v);
    fm_replay_verdict verdict = fm_replay_verdict_get(v.replay);
    if (cli->json) {
        print_json_verification(&v, cli->arguments[1]);
    } else {
        print_verification(&v);
    }
    fm_replay_close_opened(v.replay);
    fm_workers_destroy(v.workers);
    bool good = verdict.differences == 0 && v.different_keyframes == 0 && verdict.refused == 0;
    return good ? 0 : FM_EXIT_FAILED;
}
