// tests/sim/etcd/etcd_log.c: see etcd_log.h.

#include "tests/sim/etcd/etcd_log.h"

#include "core/saves/command_file.h"
#include "server/cluster/world_log_state.h"
#include "server/journal/journal_batch.h"
#include "tests/sim/ledger.h"
#include "tests/sim/neighbour.h"
#include "tests/sim/rival.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX            "/fogmarch/" SIM_ETCD_CLUSTER "/"
#define KEYFRAME_POSITION 1u // bytes before it in kf/W
#define KEYFRAME_TICK     37u

static uint64_t record_count;

uint64_t sim_etcd_log_count(void)
{
    return record_count;
}

static sim_etcd_log *log_of(uint64_t world)
{
    return world < SIM_ETCD_WORLDS_MAX ? &sim_etcd->logs[world] : NULL;
}

// The numbers behind a kind of key. @return how many, 0: it is of another kind
static int parse(const char *name, const char *kind, uint64_t *world, uint64_t *position)
{
    const char *rest = name + strlen(PREFIX);
    size_t size = strlen(kind);
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strncmp(rest, kind, size) != 0) {
        return 0;
    }
    int count = sscanf(rest + size, "%16" SCNx64 "/%16" SCNx64, world, position);
    return count < 0 ? 0 : count;
}

// ---- records -----------------------------------------------------------------------------------

static void take_tick(uint64_t world, sim_etcd_log *log, const fm_journal_row *row)
{
    fm_record_copy *copy;
    fm_bytes_error error;
    if (row->tick != log->tick + 1) {
        sim_fail("world %" PRIu64 ": in the log tick %" PRIu64 " follows %" PRIu64, world,
                 row->tick, log->tick);
    }
    FM_ASSERT(fm_record_unpack(row->bytes, row->size, &fm_memory_libc, &copy, &error) == FM_OK);
    if (!sim_ledger_is_digest(world, row->tick, copy->record.digest)) {
        sim_fail("world %" PRIu64 ": in the log tick %" PRIu64 " has another digest", world,
                 row->tick);
    }
    fm_record_copy_destroy(copy, &fm_memory_libc);
    log->tick = row->tick;
}

static void take_rows(uint64_t world, sim_etcd_log *log)
{
    fm_writer packed = fm_writer_init(&fm_memory_libc), rows = fm_writer_init(&fm_memory_libc);
    fm_writer_put_bytes(&packed, log->parts, log->parts_size);
    if (fm_world_log_uncompress(&packed, FM_WORLD_LOG_ROWS_MAX, &rows) != FM_OK) {
        sim_fail("world %" PRIu64 ": a record of its log cannot be unpacked", world);
    }
    fm_reader reader = fm_reader_init(rows.data, rows.size, NULL);
    fm_journal_row row;
    while (fm_journal_rows_take(&reader, &row)) {
        if (row.kind == FM_JOURNAL_TICK) {
            take_tick(world, log, &row);
        } else if (row.kind == FM_JOURNAL_GAP) {
            log->tick = row.tick;
        }
    }
    if (reader.failed) {
        sim_fail("world %" PRIu64 ": a record of its log has rows of no kind", world);
    }
    fm_writer_fini(&packed);
    fm_writer_fini(&rows);
    log->parts_size = 0;
    record_count++;
}

static void must_own(uint64_t world, uint64_t epoch)
{
    char node[FM_CLUSTER_NAME_MAX + 1];
    uint64_t owner_epoch = 0, incarnation;
    const sim_etcd_key *owner = sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, world);
    if (owner == NULL ||
        !fm_world_log_owner_parse((const char *)owner->value, &owner_epoch, node, &incarnation) ||
        owner_epoch != epoch) {
        sim_fail("world %" PRIu64 ": a record of epoch %" PRIu64 " is written, its owner is %s",
                 world, epoch, owner == NULL ? "nobody" : (const char *)owner->value);
    }
}

static void take_record(uint64_t world, uint64_t position, const sim_etcd_key *key)
{
    sim_etcd_log *log = log_of(world);
    fm_reader reader = fm_reader_init(key->value, key->size, NULL);
    (void)fm_reader_take_u8(&reader);
    bool more = fm_reader_take_u8(&reader) != 0;
    uint64_t epoch = fm_reader_take_u64(&reader);
    if (log == NULL) {
        return;
    }
    must_own(world, epoch);
    if (position < log->keyframe && epoch == log->epoch) {
        return; // sent again, and late: its place is free once more, and nobody reads it
    }
    if (!log->is_there || position != log->position || epoch < log->epoch) {
        sim_fail("world %" PRIu64 ": a record of epoch %" PRIu64 " at %" PRIu64 ", after %" PRIu64
                 " at %" PRIu64,
                 world, epoch, position, log->epoch, log->position);
    }
    if (epoch != log->epoch) {
        log->parts_size = 0; // left unfinished by an earlier owner
    }
    size_t size = key->size - FM_WORLD_LOG_HEAD_SIZE;
    uint8_t *joined = sim_etcd_room(log->parts_size + size);
    if (log->parts_size > 0) {
        memcpy(joined, log->parts, log->parts_size);
    }
    memcpy(joined + log->parts_size, key->value + FM_WORLD_LOG_HEAD_SIZE, size);
    log->parts = joined;
    log->parts_size += size;
    log->epoch = epoch;
    log->position++;
    if (!more) {
        take_rows(world, log);
    }
}

static uint64_t u64_at(const sim_etcd_key *key, size_t offset)
{
    fm_reader reader = fm_reader_init(key->value + offset, 8, NULL);
    return fm_reader_take_u64(&reader);
}

static void take_keyframe(sim_etcd_log *log, const sim_etcd_key *key)
{
    if (!log->is_there) {
        *log = (sim_etcd_log){.is_there = true, .position = 1, .tick = u64_at(key, KEYFRAME_TICK)};
    }
    log->keyframe = u64_at(key, KEYFRAME_POSITION);
}

void sim_etcd_log_put(const sim_etcd_key *key)
{
    uint64_t world, position;
    sim_trace("etcd: put %s, %zu bytes", key->name + strlen(PREFIX), key->size);
    if (parse(key->name, "log/", &world, &position) == 2) {
        take_record(world, position, key);
    } else if (parse(key->name, "kf/", &world, &position) == 1 && log_of(world) != NULL) {
        take_keyframe(log_of(world), key);
    } else if (parse(key->name, "owner/", &world, &position) == 1 && log_of(world) != NULL) {
        const sim_etcd_key *keyframe = sim_etcd_find(FM_WORLD_LOG_KEYFRAME_KEY, world);
        bool is_last = keyframe != NULL && u64_at(keyframe, KEYFRAME_TICK) == log_of(world)->tick;
        sim_rival_check_gift(world, key, is_last);
        sim_neighbour_check_owner(world, key);
    }
}

void sim_etcd_log_removed(const char *name)
{
    uint64_t world, position;
    sim_trace("etcd: %s is removed", name + strlen(PREFIX));
    if (parse(name, "owner/", &world, &position) == 1 && log_of(world) != NULL) {
        *log_of(world) = (sim_etcd_log){0};
    }
}

// ---- what is told ------------------------------------------------------------------------------

void sim_etcd_log_told(uint64_t world, uint64_t tick)
{
    const sim_etcd_log *log = sim_etcd == NULL ? NULL : log_of(world);
    if (log != NULL && log->is_there && tick > log->tick) {
        sim_fail("world %" PRIu64 ": a client is told of tick %" PRIu64
                 ", and the log in etcd ends with %" PRIu64,
                 world, tick, log->tick);
    }
}
