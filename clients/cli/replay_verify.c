// clients/cli/replay_verify.c: `replay verify` and `replay diff`: whether a journal can be
// repeated, and where two of them part.
//
// A digest says that worlds differ, not where. A journal holds whole worlds now and then, so verify
// goes on after the first difference to the next keyframe and compares world with world there. diff
// has both journals and compares at the very tick.

#include "clients/cli/pulse.h"
#include "clients/cli/replay.h"
#include "clients/cli/report.h"
#include "clients/cli/world_diff.h"
#include "core/saves/world_file.h"

#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_SHOWN 20u

// What differs between two worlds at a tick.
struct findings {
    fm_difference list[DIFFERENCES_SHOWN];
    uint64_t total;
    uint64_t tick; // ticks completed in both worlds
    bool looked;   // false: there was no keyframe that differs
};

static void find_differences(const fm_cli *cli, fm_world *a, fm_world *b, uint64_t tick,
                             struct findings *findings)
{
    fm_world *const worlds[2] = {a, b};
    if (fm_world_diff(worlds, findings->list, DIFFERENCES_SHOWN, &findings->total) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    findings->tick = tick;
    findings->looked = true;
}

static uint32_t shown_count(const struct findings *findings)
{
    return findings->total < DIFFERENCES_SHOWN ? (uint32_t)findings->total : DIFFERENCES_SHOWN;
}

static void print_subject(const fm_difference *difference)
{
    printf("  %s", fm_difference_kind_name(difference->kind));
    if (difference->kind == FM_DIFFERENCE_CELL) {
        printf(" %u,%u", fm_cell_x(difference->cell), fm_cell_y(difference->cell));
    } else if (difference->kind != FM_DIFFERENCE_WORLD) {
        printf(" %llu", (unsigned long long)difference->id);
    }
    printf(", %s: ", difference->field);
}

// @param names  of the two sides
static void print_findings(const struct findings *findings, const char *const names[2])
{
    if (findings->total == 0) {
        printf("After tick %llu agents, teams and maps are alike: only searches differ.\n",
               (unsigned long long)findings->tick);
        return;
    }
    printf("After tick %llu there %s %s difference%s:\n", (unsigned long long)findings->tick,
           findings->total == 1 ? "is" : "are", fm_report_grouped(findings->total),
           findings->total == 1 ? "" : "s");
    for (uint32_t i = 0; i < shown_count(findings); i++) {
        const fm_difference *difference = &findings->list[i];
        print_subject(difference);
        printf("%s %s, %s %s\n", difference->values[0], names[0], difference->values[1], names[1]);
    }
    if (findings->total > DIFFERENCES_SHOWN) {
        puts("  ...");
    }
}

static void print_json_text(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    fm_json_print_text(text, strlen(text));
}

static void print_json_findings(const struct findings *findings, const char *const names[2])
{
    printf(",\"looked\":%s,\"compared_tick\":%llu,\"different_fields\":%llu,\"fields\":[",
           findings->looked ? "true" : "false", (unsigned long long)findings->tick,
           (unsigned long long)findings->total);
    for (uint32_t i = 0; i < shown_count(findings); i++) {
        const fm_difference *difference = &findings->list[i];
        printf("%s{\"of\":\"%s\",\"id\":%llu", i == 0 ? "" : ",",
               fm_difference_kind_name(difference->kind), (unsigned long long)difference->id);
        if (difference->kind == FM_DIFFERENCE_CELL) {
            printf(",\"cell\":[%u,%u]", fm_cell_x(difference->cell), fm_cell_y(difference->cell));
        }
        print_json_text("field", difference->field);
        print_json_text(names[0], difference->values[0]);
        print_json_text(names[1], difference->values[1]);
        putchar('}');
    }
    putchar(']');
}

// ---- verify ------------------------------------------------------------------------------------

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
    struct findings findings;
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
            find_differences(v->cli, recorded, world, keyframe->tick, &v->findings);
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

// After a difference it goes on to the next keyframe, which can tell what it is. At the end of the
// journal it takes in the keyframe that may follow the last tick.
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
        print_findings(&v->findings, verify_sides);
    } else {
        puts(v->later_keyframes > 0 ? "The keyframes that follow are as recorded."
                                    : "No keyframe follows that could tell which agents differ.");
    }
}

static void print_json_verification(const struct verification *v, const char *path)
{
    const fm_replay_verdict verdict = fm_replay_verdict_get(v->replay);
    const fm_journal_info *info = fm_replay_info(v->replay);
    fputs("{\"file\":", stdout);
    fm_json_print_text(path, strlen(path));
    print_json_text("name", info->name);
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
    print_json_findings(&v->findings, verify_sides);
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
    fm_replay_close(v.replay);
    fm_workers_destroy(v.workers);
    bool good = verdict.differences == 0 && v.different_keyframes == 0 && verdict.refused == 0;
    return good ? 0 : FM_EXIT_FAILED;
}

// ---- diff --------------------------------------------------------------------------------------

// What two journals have in common, and where that ends.
struct parting {
    fm_cli *cli;
    fm_replay *replays[2];
    uint64_t from, to; // ticks that both have
    uint64_t tick;     // the first that differs; 0: none
    bool by_command;   // the commands of that tick differ
    uint64_t digests[2];
    struct findings findings;
};

static const char *const diff_sides[2] = {"in the first", "in the second"};
static const char *const diff_keys[2] = {"first", "second"};

// One journal read without its world.
struct strand {
    const fm_cli *cli;
    fm_journal_reader *reader;
    fm_journal_row row;
    bool more;
    uint64_t tick;   // that was read last
    uint64_t sum;    // over the commands of the tick
    uint64_t digest; // of the tick's end
};

// Memory ran out in some ticks: their records are in gaps.
static bool ends_tick(const fm_journal_row *row, uint64_t tick_before)
{
    return row->kind == FM_JOURNAL_TICK ||
           (row->kind == FM_JOURNAL_GAP && row->size > 0 && row->tick > tick_before);
}

// Reads up to the end of a tick.
static void read_tick(struct strand *strand)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    uint64_t tick_before = strand->tick;
    strand->sum = 0;
    do {
        if (fm_journal_reader_next(strand->reader, &strand->row, &strand->more, error) != FM_OK) {
            fm_cli_die(strand->cli, "%s", error);
        }
        if (strand->more && strand->row.kind == FM_JOURNAL_COMMAND) {
            strand->sum = strand->sum * 31 + fm_bytes_checksum(strand->row.bytes, strand->row.size);
        }
    } while (strand->more && !ends_tick(&strand->row, tick_before));
    if (!strand->more) {
        return;
    }
    strand->tick = strand->row.tick;
    fm_bytes_error wrong = {.offset = 0};
    fm_record_copy *record;
    fm_status status =
        fm_record_unpack(strand->row.bytes, strand->row.size, &fm_memory_libc, &record, &wrong);
    if (status != FM_OK) {
        fm_cli_die(strand->cli, "tick %llu: %s", (unsigned long long)strand->row.tick,
                   status == FM_ERR_BAD_FORMAT ? wrong.message : fm_status_text(status));
    }
    strand->digest = record->record.digest;
    fm_record_copy_destroy(record, &fm_memory_libc);
}

static struct strand begin_strand(const struct parting *parting, int side)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    struct strand strand = {.cli = parting->cli,
                            .reader = fm_replay_reader(parting->replays[side])};
    if (fm_journal_reader_seek_tick(strand.reader, parting->from, error) != FM_OK) {
        fm_cli_die(parting->cli, "%s", error);
    }
    return strand;
}

static void find_parting(struct parting *parting)
{
    struct strand a = begin_strand(parting, 0), b = begin_strand(parting, 1);
    fm_cli_progress progress = fm_cli_progress_begin(parting->cli, parting->from, parting->to);
    for (;;) {
        read_tick(&a);
        read_tick(&b);
        while (a.more && b.more && a.row.tick != b.row.tick) { // one of them has a gap
            read_tick(a.row.tick < b.row.tick ? &a : &b);
        }
        if (!a.more || !b.more || a.row.tick > parting->to) {
            break;
        }
        fm_cli_progress_at(&progress, a.row.tick);
        if (a.sum != b.sum || a.digest != b.digest) {
            parting->tick = a.row.tick;
            parting->by_command = a.sum != b.sum;
            parting->digests[0] = a.digest;
            parting->digests[1] = b.digest;
            break;
        }
    }
    fm_cli_progress_end(&progress);
}

static void print_parting(const struct parting *parting)
{
    if (parting->tick == 0) {
        printf("ticks %llu to %llu, which both hold, are alike\n",
               (unsigned long long)parting->from, (unsigned long long)parting->to);
        return;
    }
    printf("tick %llu is the first that differs%s: digest %016llx %s, %016llx %s\n",
           (unsigned long long)parting->tick,
           parting->by_command ? ", as do its commands" : ", though its commands are alike",
           (unsigned long long)parting->digests[0], diff_sides[0],
           (unsigned long long)parting->digests[1], diff_sides[1]);
    print_findings(&parting->findings, diff_sides);
}

static void print_json_parting(const struct parting *parting)
{
    printf("{\"from\":%llu,\"to\":%llu,\"first_difference\":%llu,\"commands_differ\":%s,"
           "\"first_digest\":\"%016llx\",\"second_digest\":\"%016llx\"",
           (unsigned long long)parting->from, (unsigned long long)parting->to,
           (unsigned long long)parting->tick, parting->by_command ? "true" : "false",
           (unsigned long long)parting->digests[0], (unsigned long long)parting->digests[1]);
    print_json_findings(&parting->findings, diff_keys);
    puts("}");
}

int fm_replay_diff(fm_cli *cli)
{
    static struct parting parting; // large
    parting.cli = cli;
    const fm_journal_info *info[2];
    for (int i = 0; i < 2; i++) {
        parting.replays[i] = fm_replay_open_or_die(cli, cli->arguments[1 + i]);
        info[i] = fm_replay_info(parting.replays[i]);
    }
    parting.from =
        1 + (info[0]->first_tick > info[1]->first_tick ? info[0]->first_tick : info[1]->first_tick);
    parting.to = info[0]->last_tick < info[1]->last_tick ? info[0]->last_tick : info[1]->last_tick;
    if (parting.from > parting.to) {
        fm_cli_die(cli, "they have no ticks in common: %llu to %llu, and %llu to %llu",
                   (unsigned long long)info[0]->first_tick, (unsigned long long)info[0]->last_tick,
                   (unsigned long long)info[1]->first_tick, (unsigned long long)info[1]->last_tick);
    }
    find_parting(&parting);
    fm_workers *workers = fm_replay_workers(cli);
    if (parting.tick != 0) {
        for (int i = 0; i < 2; i++) {
            fm_replay_seek_or_die(cli, parting.replays[i], parting.tick, workers);
        }
        find_differences(cli, fm_replay_world(parting.replays[0]),
                         fm_replay_world(parting.replays[1]), parting.tick, &parting.findings);
    }
    if (cli->json) {
        print_json_parting(&parting);
    } else {
        print_parting(&parting);
    }
    for (int i = 0; i < 2; i++) {
        fm_replay_close(parting.replays[i]);
    }
    fm_workers_destroy(workers);
    return parting.tick == 0 ? 0 : FM_EXIT_FAILED;
}
