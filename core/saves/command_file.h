// core/saves/command_file.h: commands and tick records as bytes, for journals. Together with a
// saved world (world_file.h) they determine all later ticks.
//
// One blob holds one command or one record; a caller that keeps several puts their sizes beside
// them. The first byte says what it is, the second in which version of its form:
//
//     'C' version  kind  varint: which of the fields below are not zero  those fields, in order
//     'T' version  tick  budget  rounds  cuts (round grown by, slot, expansions)  digest
//
// Numbers are as in bytes.h. A planner goes by its name and options, as fm_planner_spec_format()
// writes it. Cells and agents are written as differences to the one before: two or three bytes each
// where they lie together. A command's id (core/world/receipts.h) comes last. Two equal commands
// have equal bytes.
//
// A newer program reads all older versions; an older one refuses newer versions.
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/bytes.h"
#include "core/tick/tick.h"

#define FM_COMMAND_VERSION 1u
#define FM_RECORD_VERSION  46u // read alike; runs of older ones have other digests

/// Appends a command: the fields of its kind that are set. A planner whose `ops` is NULL comes back
/// as NULL.
///
/// @param command  of a kind that there is (asserted); fm_world_apply() has accepted it, or may
/// @return FM_OK or FM_ERR_NO_MEMORY; then the writer has failed, too
FM_CHECKED fm_status fm_command_pack(const fm_command *command, fm_writer *writer);

// A command with arrays of its own.
typedef struct fm_command_copy {
    fm_command command;
    fm_command_id id;
    size_t size; // bytes of this block, arrays included
} fm_command_copy;

/// Reads one command, whatever the bytes are. What comes back has enumerators that exist and arrays
/// of the lengths that it says, and is safe to give to fm_world_apply(), which checks the rest.
/// Takes at most some eight times `size` of memory, in one block.
///
/// @param out    receives the command, to be released with fm_command_copy_destroy(); left alone on
///               failure
/// @param error  receives what was wrong and where; may be NULL
/// @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_command_unpack(const void *bytes, size_t size, const fm_memory *memory,
                                       fm_command_copy **out, fm_bytes_error *error);

/// NULL is allowed.
void fm_command_copy_destroy(fm_command_copy *copy, const fm_memory *memory);

/// Appends a tick's record.
///
/// @return FM_OK or FM_ERR_NO_MEMORY; then the writer has failed, too
FM_CHECKED fm_status fm_record_pack(const fm_tick_record *record, fm_writer *writer);

// A record with cuts of its own.
typedef struct fm_record_copy {
    fm_tick_record record;
    size_t size; // bytes of this block
    fm_cut cuts[];
} fm_record_copy;

/// Reads one record, whatever the bytes are; like fm_command_unpack(). Its rounds are at most
/// FM_SEARCH_ROUNDS_MAX, its cuts in order of rounds. Cuts of planners that a world does not have
/// are ignored by fm_tick_replay().
///
/// @return FM_OK, FM_ERR_BAD_FORMAT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_record_unpack(const void *bytes, size_t size, const fm_memory *memory,
                                      fm_record_copy **out, fm_bytes_error *error);

/// NULL is allowed.
void fm_record_copy_destroy(fm_record_copy *copy, const fm_memory *memory);
