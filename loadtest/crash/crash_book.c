// loadtest/crash/crash_book.c: see crash_book.h.

#include "loadtest/crash/crash_book.h"

#include "core/saves/command_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 1024u // digests

fm_status fm_crash_book_init(fm_crash_book *book, uint32_t side)
{
    uint8_t *costs = calloc((size_t)side * side, sizeof *costs);
    if (costs == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    *book = (fm_crash_book){.costs = costs, .side = side};
    return FM_OK;
}

void fm_crash_book_fini(fm_crash_book *book)
{
    free(book->commands);
    free(book->sights);
    free(book->digests);
    free(book->costs);
    *book = (fm_crash_book){.side = 0};
}

// ---- what clients send and are sent ------------------------------------------------------------

fm_status fm_crash_book_send(fm_crash_book *book, fm_command_kind kind, fm_cell cell, uint32_t mark,
                             uint32_t *index)
{
    if (!FM_RESERVE_FROM(&fm_memory_libc, book->commands, book->command_capacity,
                         book->command_count + 1)) {
        return FM_ERR_NO_MEMORY;
    }
    *index = book->command_count++;
    book->commands[*index] = (fm_crash_command){.kind = kind, .cell = cell, .mark = mark};
    return FM_OK;
}

fm_status fm_crash_book_hear(fm_crash_book *book, uint64_t tick, uint64_t digest)
{
    book->tick_told = tick > book->tick_told ? tick : book->tick_told;
    const fm_crash_sight *last =
        book->sight_count == 0 ? NULL : &book->sights[book->sight_count - 1];
    bool is_news = last == NULL || last->tick != tick || last->digest != digest;
    if (digest == 0 || tick == 0 || !is_news) {
        return FM_OK;
    }
    if (!FM_RESERVE_FROM(&fm_memory_libc, book->sights, book->sight_capacity,
                         book->sight_count + 1)) {
        return FM_ERR_NO_MEMORY;
    }
    book->sights[book->sight_count++] = (fm_crash_sight){tick, digest};
    return FM_OK;
}

// ---- what the journal says ---------------------------------------------------------------------

static uint32_t mark_of(const fm_command *command)
{
    switch (command->kind) {
    case FM_COMMAND_TEAM:
        return command->weight;
    case FM_COMMAND_SPAWN:
        return command->cell_count;
    case FM_COMMAND_ORDER:
        return command->max_detour;
    case FM_COMMAND_TERRAIN:
        return command->cost;
    case FM_COMMAND_REMOVE:
    case FM_COMMAND_BUILD:
    case FM_COMMAND_DEMOLISH:
    case FM_COMMAND_PLANNER:
    case FM_COMMAND_SET:
    case FM_COMMAND_PLACE:
    case FM_COMMAND_CANCEL:
    case FM_COMMAND_RESUME:
    case FM_COMMAND_COST:
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        return 0;
    }
    FM_UNREACHABLE();
}

static bool is_the_same(const fm_crash_command *sent, const fm_command *command)
{
    fm_cell cell = command->cell_count > 0 ? command->cells[0] : FM_CELL_NONE;
    return sent->kind == command->kind && sent->cell == cell && sent->mark == mark_of(command);
}

static void take_command(fm_crash_book *book, const fm_command *command)
{
    uint32_t i = book->next;
    while (i < book->command_count && !is_the_same(&book->commands[i], command)) {
        i++;
    }
    if (i == book->command_count) {
        book->strangers++;
        return;
    }
    fm_crash_command *sent = &book->commands[i];
    book->next = i + 1;
    sent->found = true;
    book->strangers += sent->answer == FM_CRASH_REFUSED;
    if (sent->kind == FM_COMMAND_TERRAIN) {
        size_t place = (size_t)fm_cell_y(sent->cell) * book->side + fm_cell_x(sent->cell);
        book->costs[place] = (uint8_t)sent->mark;
    }
}

static fm_status take_digest(fm_crash_book *book, uint64_t tick, uint64_t digest)
{
    if (tick >= book->digest_capacity) {
        uint64_t capacity = tick + tick / 2 + CAPACITY_FIRST;
        uint64_t *digests = realloc(book->digests, capacity * sizeof *digests);
        if (digests == NULL) {
            return FM_ERR_NO_MEMORY;
        }
        memset(digests + book->digest_capacity, 0,
               (capacity - book->digest_capacity) * sizeof *digests);
        book->digests = digests;
        book->digest_capacity = capacity;
    }
    book->digests[tick] = digest;
    book->tick_last = tick;
    return FM_OK;
}

static fm_status take_row(fm_crash_book *book, const fm_journal_row *row)
{
    fm_status status = FM_OK;
    fm_command_copy *command;
    fm_record_copy *record;
    book->position = row->position;
    if (row->kind == FM_JOURNAL_COMMAND) {
        status = fm_command_unpack(row->bytes, row->size, &fm_memory_libc, &command, NULL);
        if (status == FM_OK) {
            take_command(book, &command->command);
            fm_command_copy_destroy(command, &fm_memory_libc);
        }
    } else if (row->kind == FM_JOURNAL_TICK) {
        status = fm_record_unpack(row->bytes, row->size, &fm_memory_libc, &record, NULL);
        if (status == FM_OK) {
            status = take_digest(book, record->record.tick, record->record.digest);
            fm_record_copy_destroy(record, &fm_memory_libc);
        }
    }
    return status;
}

static fm_status read_rows(fm_crash_book *book, fm_journal_reader *reader, char *error)
{
    bool more = true;
    fm_status status = fm_journal_reader_seek(reader, book->position, error);
    while (status == FM_OK && more) {
        fm_journal_row row;
        status = fm_journal_reader_next(reader, &row, &more, error);
        if (status == FM_OK && more) {
            status = take_row(book, &row);
            if (status != FM_OK) {
                snprintf(error, FM_JOURNAL_ERROR_SIZE, "row %llu of the journal: %s",
                         (unsigned long long)row.position, fm_status_text(status));
            }
        }
    }
    return status;
}

static void compare(fm_crash_book *book)
{
    if (book->tick_told > book->tick_last) {
        book->lost_ticks += book->tick_told - book->tick_last;
    }
    while (book->sight_checked < book->sight_count) {
        const fm_crash_sight *sight = &book->sights[book->sight_checked++];
        bool is_there = sight->tick <= book->tick_last;
        book->digests_compared++;
        book->digest_differences += !is_there || book->digests[sight->tick] != sight->digest;
    }
}

fm_status fm_crash_book_check(fm_crash_book *book, const char *path, char *error)
{
    fm_journal_reader *reader;
    fm_status status = fm_journal_reader_open(path, &reader, error);
    if (status != FM_OK) {
        return status;
    }
    status = read_rows(book, reader, error);
    fm_journal_reader_close(reader);
    if (status == FM_OK) {
        compare(book);
        book->next = book->command_count; // what was sent before a crash does not come after it
    }
    return status;
}

void fm_crash_book_rewind(fm_crash_book *book)
{
    for (uint32_t i = 0; i < book->command_count; i++) {
        book->commands[i].found = false;
    }
    if (book->digests != NULL) {
        memset(book->digests, 0, book->digest_capacity * sizeof *book->digests);
    }
    memset(book->costs, 0, (size_t)book->side * book->side);
    book->next = 0;
    book->sight_checked = 0;
    book->tick_last = book->position = 0;
    book->strangers = book->lost_ticks = 0;
    book->digests_compared = book->digest_differences = 0;
}

static uint64_t count(const fm_crash_book *book, bool only_lost)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < book->command_count; i++) {
        const fm_crash_command *command = &book->commands[i];
        sum += command->answer == FM_CRASH_DONE && !(only_lost && command->found);
    }
    return sum;
}

uint64_t fm_crash_book_lost(const fm_crash_book *book)
{
    return count(book, true);
}

uint64_t fm_crash_book_done(const fm_crash_book *book)
{
    return count(book, false);
}
