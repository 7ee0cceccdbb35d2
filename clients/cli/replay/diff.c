// clients/cli/replay/diff.c: `replay diff`: the first tick in which two journals differ, and the
// differences of their worlds after it.

#include "clients/cli/replay/findings.h"
#include "clients/cli/replay/journals.h"
#include "clients/cli/replay/progress.h"
#include "clients/cli/replay/replay.h"

#include <stdio.h>

// The common part of two journals.
struct parting {
    fm_cli *cli;
    fm_replay *replays[2];
    uint64_t from, to; // ticks that both have
    uint64_t tick;     // the first that differs; 0: none
    bool by_command;   // the commands of that tick differ
    uint64_t digests[2];
    fm_findings findings;
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
    fm_findings_print(&parting->findings, diff_sides);
}

static void print_json_parting(const struct parting *parting)
{
    printf("{\"from\":%llu,\"to\":%llu,\"first_difference\":%llu,\"commands_differ\":%s,"
           "\"first_digest\":\"%016llx\",\"second_digest\":\"%016llx\"",
           (unsigned long long)parting->from, (unsigned long long)parting->to,
           (unsigned long long)parting->tick, parting->by_command ? "true" : "false",
           (unsigned long long)parting->digests[0], (unsigned long long)parting->digests[1]);
    fm_findings_print_json(&parting->findings, diff_keys);
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
        fm_findings_find(cli, fm_replay_world(parting.replays[0]),
                         fm_replay_world(parting.replays[1]), parting.tick, &parting.findings);
    }
    if (cli->json) {
        print_json_parting(&parting);
    } else {
        print_parting(&parting);
    }
    for (int i = 0; i < 2; i++) {
        fm_replay_close_opened(parting.replays[i]);
    }
    fm_workers_destroy(workers);
    return parting.tick == 0 ? 0 : FM_EXIT_FAILED;
}
