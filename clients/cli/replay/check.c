// clients/cli/replay/check.c: `replay check`: whether a journal is whole: every row follows the one
// before, every keyframe belongs to its row, and the end is the one that was written. It replays
// nothing, so it is as fast as reading the file.

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"
#include "clients/cli/replay/replay.h"
#include "server/journal/journal_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    fm_journal_reader *reader;
    uint64_t rows;
    uint32_t keyframes, damaged_keyframes;
    uint64_t last_tick;                 // that can be reached
    char damage[FM_JOURNAL_ERROR_SIZE]; // of the first row or keyframe that is damaged
    char doubt[FM_JOURNAL_ERROR_SIZE];  // about the end
};

static void check_keyframes(struct check *check)
{
    const fm_journal_keyframe *keyframes =
        fm_journal_reader_keyframes(check->reader, &check->keyframes);
    for (uint32_t i = 0; i < check->keyframes; i++) {
        uint8_t *bytes;
        size_t size;
        char error[FM_JOURNAL_ERROR_SIZE];
        if (fm_journal_reader_load(check->reader, &keyframes[i], &bytes, &size, error) == FM_OK) {
            free(bytes);
            continue;
        }
        if (check->damaged_keyframes++ == 0) {
            memcpy(check->damage, error, sizeof check->damage);
        }
    }
}

static void check_rows(struct check *check)
{
    fm_journal_row row;
    char error[FM_JOURNAL_ERROR_SIZE];
    bool more = true;
    fm_status status = fm_journal_reader_seek(check->reader, 0, error);
    while (status == FM_OK && more) {
        status = fm_journal_reader_next(check->reader, &row, &more, error);
        if (status == FM_OK && more) {
            check->rows++;
            check->last_tick = fm_journal_ticks_at(row.kind, row.tick);
        }
    }
    if (status != FM_OK) {
        memcpy(check->damage, error, sizeof check->damage);
    }
}

static void print_check(const struct check *check, const fm_journal_info *info)
{
    printf("world %llu, %s: format %u, ticks %llu to %llu, %s row%s, %u keyframe%s\n",
           (unsigned long long)info->number, info->name, info->format,
           (unsigned long long)info->first_tick, (unsigned long long)check->last_tick,
           fm_report_grouped(check->rows), check->rows == 1 ? "" : "s", check->keyframes,
           check->keyframes == 1 ? "" : "s");
    if (check->damage[0] != '\0') {
        printf("damaged: %s\n", check->damage);
    }
    if (check->doubt[0] != '\0') {
        printf("rolled back: %s\n", check->doubt);
    }
    if (check->damage[0] == '\0' && check->doubt[0] == '\0') {
        puts(info->format == 1 ? "All rows are whole. A journal of format 1 does not tell whether "
                                 "it is all that was written."
                               : "All rows are whole, and it ends where it was written to.");
    }
}

static void print_json_check(const struct check *check, const fm_journal_info *info,
                             const char *path)
{
    static const char *const ends[] = {"known", "unknown", "shorter", "other"};
    fputs("{\"file\":", stdout);
    fm_json_print_text(path, strlen(path));
    fm_json_print_member("name", info->name);
    printf(",\"world\":%llu,\"format\":%u,\"first_tick\":%llu,\"last_tick\":%llu,\"rows\":%llu,"
           "\"keyframes\":%u,\"damaged_keyframes\":%u",
           (unsigned long long)info->number, info->format, (unsigned long long)info->first_tick,
           (unsigned long long)check->last_tick, (unsigned long long)check->rows, check->keyframes,
           check->damaged_keyframes);
    fm_json_print_member("end", ends[info->end]);
    fm_json_print_member("damage", check->damage);
    fm_json_print_member("doubt", check->doubt);
    puts("}");
}

int fm_replay_check(fm_cli *cli)
{
    struct check check = {.rows = 0};
    char error[FM_JOURNAL_ERROR_SIZE];
    if (fm_journal_reader_open(cli->arguments[1], &check.reader, error) != FM_OK) {
        fm_cli_die(cli, "%s", error);
    }
    const fm_journal_info *info = fm_journal_reader_info(check.reader);
    if (info->end != FM_JOURNAL_END_KNOWN) {
        fm_journal_reader_doubt(check.reader, check.doubt);
    }
    check_keyframes(&check);
    check_rows(&check);
    if (cli->json) {
        print_json_check(&check, info, cli->arguments[1]);
    } else {
        print_check(&check, info);
    }
    bool good = check.damage[0] == '\0' && check.doubt[0] == '\0';
    fm_journal_reader_close(check.reader);
    return good ? 0 : FM_EXIT_FAILED;
}
