// loadtest/crash/crash_book.h: what clients sent to a world and received from it, to be compared
// with its journal after the server was killed.
//
//   sent ──┬── answered: done ──> must be in the journal
//          ├── refused        ──> must not be
//          └── no answer      ──> may be, as if the crash had come a little later
//
// One client sends all commands of a world, so the journal has those that it has in the order in
// which they were sent. Each is known by its kind, its first cell and a number that it carries,
// which together are unique among the commands that may be in flight at the same time.
//
// Threads: one at a time.

#pragma once

#include "core/world/world.h"
#include "server/journal/journal_reader.h"

typedef enum fm_crash_answer {
    FM_CRASH_NO_ANSWER,
    FM_CRASH_DONE,
    FM_CRASH_REFUSED,
} fm_crash_answer;

typedef struct fm_crash_command {
    fm_command_kind kind;
    fm_cell cell;  // the first; FM_CELL_NONE without cells
    uint32_t mark; // TEAM: weight; SPAWN: cells; ORDER: max_detour; TERRAIN: cost
    fm_crash_answer answer;
    bool found; // in the journal
} fm_crash_command;

// A digest that a client was sent.
typedef struct fm_crash_sight {
    uint64_t tick, digest;
} fm_crash_sight;

typedef struct fm_crash_book {
    fm_crash_command *commands; // owned; as they were sent
    uint32_t command_count, command_capacity;
    uint32_t next;          // command that the next one of the journal may be
    fm_crash_sight *sights; // owned
    uint32_t sight_count, sight_capacity, sight_checked;
    uint64_t tick_told; // the last that a client was sent
    uint64_t *digests;  // owned; by tick, as the journal has them; 0: it has none
    uint64_t tick_last, digest_capacity;
    uint64_t position;   // of the last row that was read
    uint8_t *costs;      // owned; by fm_cell_y * side + fm_cell_x: of the last edit; 0: none
    uint32_t side;       // cells
    uint64_t strangers;  // commands in the journal that were never sent, or refused
    uint64_t lost_ticks; // that a client was sent, but the journal has not
    uint64_t digests_compared, digest_differences;
} fm_crash_book;

/// @param side  of the world's map, at most FM_SIDE_MAX
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_crash_book_init(fm_crash_book *book, uint32_t side);
void fm_crash_book_fini(fm_crash_book *book);

/// Notes a command that is sent now.
/// @param index  receives its place
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_crash_book_send(fm_crash_book *book, fm_command_kind kind, fm_cell cell,
                                        uint32_t mark, uint32_t *index);

/// Notes that a client was sent a tick, and of its digest unless that is 0.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_crash_book_hear(fm_crash_book *book, uint64_t tick, uint64_t digest);

/// Reads what the journal has got since the last time, and compares.
///
/// @param error  receives what is wrong with the file; room for FM_JOURNAL_ERROR_SIZE
/// @return FM_OK, FM_ERR_IO, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_crash_book_check(fm_crash_book *book, const char *path, char *error);

/// Starts over: the next check reads the whole journal and compares everything.
void fm_crash_book_rewind(fm_crash_book *book);

/// Commands that were answered as done but are not in the journal, as of the last check.
uint64_t fm_crash_book_lost(const fm_crash_book *book);

/// Commands that were answered as done.
uint64_t fm_crash_book_done(const fm_crash_book *book);
