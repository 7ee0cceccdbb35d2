// server/cluster/world_log_take.c: takes a world over: becomes its owner, reads its log, and writes
// that into a journal, from which the world is restored as after a restart.
//
//   owner (e, dead) ── txn ──> (e + 1, me) ── read kf/W, parts, log/W/... ──> journal ── replayed
//
// The transaction is the read barrier as well: after it no other node can append, so the log is
// final. It ends at the first missing record; parts of an unfinished record were never shown to
// clients, and the next owner's records follow them.

#include "server/base/log.h"
#include "server/cluster/world_log_state.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_RECORDS 32 // that one range brings
#define WORLD_MAX    FM_JOURNAL_WORLD_MAX
#define OVERLOAD_MAX FM_OVERLOAD_DEGRADE

static fm_status damaged(struct log_taking *taking, const char *what)
{
    snprintf(taking->error, FM_JOURNAL_ERROR_SIZE, "world %" PRIu64 ": its log is damaged: %s",
             taking->number, what);
    return FM_ERR_BAD_FORMAT;
}

// ---- becoming the owner ------------------------------------------------------------------------

// Whether the owner's process is dead. The key under its name must be unchanged when the world is
// taken: a node that seemed dead may have joined again meanwhile, read the owners, and send for its
// worlds again.
//
// @param created  receives the revision at which that was created; 0: there is none
static fm_status check_dead(struct log_taking *taking, const char *key, uint64_t incarnation,
                            int64_t *created)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, incarnation);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{");
    fm_etcd_put_text(&body, "key", key);
    fm_etcd_put(&body, "}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/range", &body, &answer, taking->error) ==
        FM_ETCD_DONE) {
        const json_t *kv = json_array_get(json_object_get(answer, "kvs"), 0);
        size_t size;
        char *value = kv == NULL ? NULL : fm_etcd_bytes(kv, "value", &size);
        status = kv != NULL && value == NULL                 ? FM_ERR_NO_MEMORY
                 : kv != NULL && strstr(value, text) != NULL ? FM_ERR_EXISTS
                                                             : FM_OK;
        *created = kv == NULL ? 0 : fm_etcd_number(kv, "create_revision");
        free(value);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return status;
}

static fm_status become_owner(struct log_taking *taking, const char *owner)
{
    const fm_world_log_store *store = taking->store;
    char node[FM_CLUSTER_NAME_MAX + 1], key[FM_WORLD_LOG_KEY_SIZE], mine[FM_CLUSTER_OWNER_MAX];
    uint64_t incarnation;
    if (!fm_world_log_owner_parse(owner, &taking->epoch, node, &incarnation)) {
        return damaged(taking, "its owner cannot be read");
    }
    // Handed over to this process: the epoch is there already.
    bool is_ours =
        strcmp(node, store->options.node) == 0 && incarnation == store->options.incarnation;
    taking->epoch += !is_ours;
    fm_world_log_key(store, key, FM_WORLD_LOG_OWNER_KEY, taking->number);
    fm_world_log_owner_text(mine, taking->epoch, store->options.node, store->options.incarnation);
    char node_key[FM_WORLD_LOG_KEY_SIZE];
    int64_t created = 0;
    fm_world_log_key(store, node_key, "nodes/%s", node);
    fm_status dead = is_ours ? FM_OK : check_dead(taking, node_key, incarnation, &created);
    if (dead != FM_OK) {
        return dead;
    }
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{\"compare\":[");
    fm_etcd_compare_value(&body, key, owner);
    if (!is_ours) {
        fm_etcd_put(&body, ",");
        fm_etcd_compare_created(&body, node_key, created);
    }
    fm_etcd_put(&body, "],\"success\":[");
    fm_etcd_request_put(&body, key, mine, strlen(mine));
    fm_etcd_put(&body, "],\"failure\":[");
    fm_etcd_request_get(&body, key);
    fm_etcd_put(&body, "]}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/txn", &body, &answer, taking->error) == FM_ETCD_DONE) {
        size_t size;
        char *present = fm_etcd_response_value(answer, 0, &size);
        bool done = fm_etcd_succeeded(answer) || (present != NULL && strcmp(present, mine) == 0);
        status = done ? FM_OK : FM_ERR_EXISTS;
        free(present);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return status;
}

// ---- the keyframe ------------------------------------------------------------------------------

// A value of one key. FM_ERR_BAD_FORMAT: it is not there
fm_status fm_world_log_read_key(struct log_taking *taking, const char *key, fm_writer *out)
{
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{");
    fm_etcd_put_text(&body, "key", key);
    fm_etcd_put(&body, "}");
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/range", &body, &answer, taking->error) ==
        FM_ETCD_DONE) {
        const json_t *kv = json_array_get(json_object_get(answer, "kvs"), 0);
        size_t size = 0;
        char *bytes = kv == NULL ? NULL : fm_etcd_bytes(kv, "value", &size);
        status = bytes == NULL ? damaged(taking, key) : FM_OK;
        fm_writer_put_bytes(out, bytes, size);
        free(bytes);
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return status == FM_OK && out->failed ? FM_ERR_NO_MEMORY : status;
}

// The name becomes a part of a file's.
static bool is_head(const struct log_taking *taking)
{
    const char *name = taking->head.name;
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
           taking->head.number == taking->number && taking->head.overload <= OVERLOAD_MAX &&
           taking->head.timeline <= INT64_MAX;
}

static fm_status read_head(struct log_taking *taking, fm_reader *reader)
{
    fm_writer_put_bytes(&taking->packed_head, reader->data + reader->offset,
                        fm_reader_left(reader));
    fm_reader_take_text(reader, taking->name, sizeof taking->name, "name");
    taking->head = (fm_journal_head){.name = taking->name,
                                     .number = fm_reader_take_u64(reader),
                                     .overload = fm_reader_take_u32(reader),
                                     .timeline = fm_reader_take_u64(reader)};
    taking->head.base_count = fm_reader_take_u32(reader);
    taking->head.bases = taking->bases;
    if (taking->head.base_count > FM_JOURNAL_BASES_MAX) {
        return damaged(taking, "it has too many bases");
    }
    for (uint32_t i = 0; i < taking->head.base_count; i++) {
        taking->bases[i] = fm_reader_take_u32(reader);
    }
    return fm_reader_finish(reader) == FM_OK && is_head(taking) ? FM_OK
                                                                : damaged(taking, "its head");
}

static fm_status read_keyframe(struct log_taking *taking)
{
    char key[FM_WORLD_LOG_KEY_SIZE];
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_world_log_key(taking->store, key, FM_WORLD_LOG_KEYFRAME_KEY, taking->number);
    fm_status status = fm_world_log_read_key(taking, key, &bytes);
    if (status == FM_OK) {
        struct log_keyframe *keyframe = &taking->keyframe;
        fm_reader reader = fm_reader_init(bytes.data, bytes.size, NULL);
        bool known = fm_reader_take_u8(&reader) == FM_WORLD_LOG_VERSION;
        keyframe->position = fm_reader_take_u64(&reader);
        keyframe->epoch = fm_reader_take_u64(&reader);
        keyframe->part_count = fm_reader_take_u32(&reader);
        keyframe->size = fm_reader_take_u64(&reader);
        keyframe->checksum = fm_reader_take_u64(&reader);
        keyframe->tick = fm_reader_take_u64(&reader);
        keyframe->digest = fm_reader_take_u64(&reader);
        keyframe->pace.paused = fm_reader_take_u8(&reader) != 0;
        uint64_t hz = fm_reader_take_u64(&reader), budget = fm_reader_take_u64(&reader);
        memcpy(&keyframe->pace.tick_hz, &hz, sizeof hz);
        memcpy(&keyframe->pace.budget_ms, &budget, sizeof budget);
        status =
            known ? read_head(taking, &reader) : damaged(taking, "a newer program has written it");
    }
    fm_writer_fini(&bytes);
    return status;
}

static fm_status read_world(struct log_taking *taking)
{
    const struct log_keyframe *keyframe = &taking->keyframe;
    fm_writer packed = fm_writer_init(&fm_memory_libc);
    fm_status status = FM_OK;
    for (uint32_t part = 0; part < keyframe->part_count && status == FM_OK; part++) {
        char key[FM_WORLD_LOG_KEY_SIZE];
        fm_world_log_key(taking->store, key, FM_WORLD_LOG_PART_KEY, taking->number,
                         keyframe->position, keyframe->epoch, part);
        status = fm_world_log_read_key(taking, key, &packed);
    }
    if (status == FM_OK && (packed.size != keyframe->size ||
                            fm_bytes_checksum(packed.data, packed.size) != keyframe->checksum)) {
        status = damaged(taking, "the checksum of its keyframe is another");
    }
    if (status == FM_OK) {
        status = fm_world_log_uncompress(&packed, WORLD_MAX, &taking->world);
        status = status == FM_ERR_BAD_FORMAT ? damaged(taking, "its keyframe cannot be unpacked")
                                             : status;
    }
    fm_writer_fini(&packed);
    return status;
}

// ---- records -----------------------------------------------------------------------------------

// Of the record with the keyframe only rows after its KEYFRAME row count.
// @return whether there is one
static bool skip_to_keyframe(fm_writer *rows)
{
    fm_reader reader = fm_reader_init(rows->data, rows->size, NULL);
    fm_journal_row row = {.kind = FM_JOURNAL_COMMAND};
    while (row.kind != FM_JOURNAL_KEYFRAME && fm_journal_rows_take(&reader, &row)) {
    }
    size_t left = fm_reader_left(&reader);
    if (left > 0) {
        memmove(rows->data, rows->data + reader.offset, left);
    }
    rows->size = left;
    return !reader.failed && row.kind == FM_JOURNAL_KEYFRAME;
}

static fm_status end_record(struct log_taking *taking)
{
    struct log_record *record = &taking->record;
    fm_writer rows = fm_writer_init(&fm_memory_libc);
    fm_status status = fm_world_log_uncompress(&record->parts, FM_WORLD_LOG_ROWS_MAX, &rows);
    if (status == FM_ERR_BAD_FORMAT) {
        status = damaged(taking, "a record cannot be unpacked");
    }
    if (status == FM_OK) {
        bool has_keyframe = record->begin == taking->keyframe.position;
        if (has_keyframe && !skip_to_keyframe(&rows)) {
            status = damaged(taking, "its keyframe is not where it should be");
        }
        fm_writer_put_bytes(&taking->rows, rows.data, rows.size);
        status = taking->rows.failed ? FM_ERR_NO_MEMORY : status;
    }
    fm_writer_fini(&rows);
    fm_writer_clear(&record->parts);
    return status;
}

static fm_status take_part(struct log_taking *taking, const char *bytes, size_t size)
{
    struct log_record *record = &taking->record;
    fm_reader reader = fm_reader_init(bytes, size, NULL);
    bool known = fm_reader_take_u8(&reader) == FM_WORLD_LOG_VERSION;
    bool more = fm_reader_take_u8(&reader) != 0;
    uint64_t epoch = fm_reader_take_u64(&reader), checksum = fm_reader_take_u64(&reader);
    if (reader.failed || !known || epoch < record->epoch || epoch > taking->epoch) {
        return damaged(taking, "a record has another form, or its epoch falls");
    }
    if (fm_bytes_checksum(bytes + FM_WORLD_LOG_HEAD_SIZE, size - FM_WORLD_LOG_HEAD_SIZE) !=
        checksum) {
        return damaged(taking, "the checksum of a record is another");
    }
    if (epoch != record->epoch || record->parts.size == 0) {
        fm_writer_clear(&record->parts); // left unfinished by an earlier owner
        record->epoch = epoch;
        record->begin = taking->position;
    }
    fm_writer_put_bytes(&record->parts, bytes + FM_WORLD_LOG_HEAD_SIZE,
                        size - FM_WORLD_LOG_HEAD_SIZE);
    taking->position++;
    return more ? FM_OK : end_record(taking);
}

static fm_status take_page(struct log_taking *taking, const json_t *kvs)
{
    fm_status status = FM_OK;
    size_t i;
    const json_t *kv;
    json_array_foreach(kvs, i, kv)
    {
        char wanted[FM_WORLD_LOG_KEY_SIZE];
        size_t key_size, size;
        char *key = fm_etcd_bytes(kv, "key", &key_size);
        char *value = fm_etcd_bytes(kv, "value", &size);
        fm_world_log_key(taking->store, wanted, FM_WORLD_LOG_RECORD_KEY, taking->number,
                         taking->position);
        if (key == NULL || value == NULL) {
            status = FM_ERR_NO_MEMORY;
        } else if (strcmp(key, wanted) != 0) {
            status = damaged(taking, "a record is missing");
        } else {
            status = take_part(taking, value, size);
        }
        free(key);
        free(value);
        if (status != FM_OK) {
            break;
        }
    }
    return status;
}

static fm_status read_page(struct log_taking *taking, bool *more)
{
    char from[FM_WORLD_LOG_KEY_SIZE], to[FM_WORLD_LOG_KEY_SIZE], rest[48];
    fm_world_log_key(taking->store, from, FM_WORLD_LOG_RECORD_KEY, taking->number,
                     taking->position);
    fm_world_log_key(taking->store, to, "log/%016" PRIx64 "0", taking->number);
    fm_writer body = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&body, "{");
    fm_etcd_put_text(&body, "key", from);
    fm_etcd_put(&body, ",");
    fm_etcd_put_text(&body, "range_end", to);
    snprintf(rest, sizeof rest, ",\"limit\":\"%d\"}", PAGE_RECORDS);
    fm_etcd_put(&body, rest);
    json_t *answer;
    fm_status status = FM_ERR_IO;
    if (fm_world_log_call(taking->etcd, "kv/range", &body, &answer, taking->error) ==
        FM_ETCD_DONE) {
        status = take_page(taking, json_object_get(answer, "kvs"));
        *more = json_is_true(json_object_get(answer, "more"));
        json_decref(answer);
    }
    fm_writer_fini(&body);
    return status;
}

fm_status fm_world_log_read_records(struct log_taking *taking)
{
    bool more = true;
    fm_status status = FM_OK;
    while (status == FM_OK && more) {
        status = read_page(taking, &more);
    }
    return status;
}

// The first keyframe has no record of its own: records begin at 1.
fm_status fm_world_log_read(struct log_taking *taking)
{
    fm_status status = read_keyframe(taking);
    if (status == FM_OK) {
        status = read_world(taking);
    }
    if (status == FM_OK) {
        taking->position = taking->keyframe.position == 0 ? 1 : taking->keyframe.position;
        status = fm_world_log_read_records(taking);
    }
    return status;
}

// ---- the journal -------------------------------------------------------------------------------

fm_status fm_world_log_add_rows(struct log_taking *taking, fm_journal_file *file)
{
    fm_reader rows = fm_reader_init(taking->rows.data, taking->rows.size, NULL);
    fm_journal_row row;
    fm_status status = fm_journal_file_begin(file, taking->error);
    while (status == FM_OK && fm_journal_rows_take(&rows, &row)) {
        if (row.kind == FM_JOURNAL_KEYFRAME) {
            return damaged(taking, "a row is of no kind that it can have");
        }
        status = fm_journal_file_add(file, row.kind, row.tick, row.bytes, row.size, taking->error);
    }
    if (status == FM_OK && rows.failed) {
        return damaged(taking, "a row is of no kind that it can have");
    }
    return status == FM_OK ? fm_journal_file_commit(file, taking->error) : status;
}

fm_status fm_world_log_write_journal(struct log_taking *taking, const char *folder, char *path,
                                     size_t size, fm_journal_file **out)
{
    int length = snprintf(path, size, "%s/%" PRIu64 "-%s" FM_JOURNAL_SUFFIX, folder, taking->number,
                          taking->name);
    if (length < 0 || (size_t)length >= size) {
        return FM_ERR_TOO_LARGE;
    }
    (void)fm_journal_file_set_aside(path, "former"); // if there is one
    const fm_journal_world world = {.tick = taking->keyframe.tick,
                                    .digest = taking->keyframe.digest,
                                    .pace = taking->keyframe.pace,
                                    .bytes = taking->world.data,
                                    .size = taking->world.size};
    fm_journal_file *file;
    fm_status status = fm_journal_file_create(path, &taking->head, &world, FM_DURABILITY_TICK,
                                              &file, taking->error);
    if (status != FM_OK) {
        return status;
    }
    status = fm_world_log_add_rows(taking, file);
    if (status != FM_OK) {
        fm_journal_file_close(file);
        return status;
    }
    *out = file;
    return FM_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

fm_status fm_world_log_taking_init(fm_world_log_store *store, uint64_t number, char *error,
                                   struct log_taking *taking)
{
    *taking = (struct log_taking){.store = store,
                                  .number = number,
                                  .error = error,
                                  .packed_head = fm_writer_init(&fm_memory_libc),
                                  .world = fm_writer_init(&fm_memory_libc),
                                  .rows = fm_writer_init(&fm_memory_libc),
                                  .record.parts = fm_writer_init(&fm_memory_libc)};
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
    if (fm_world_log_knows(store, number)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "it is still being dropped here");
        return FM_ERR_BUSY;
    }
    return fm_etcd_create(store->options.access, &taking->etcd);
}

void fm_world_log_taking_fini(struct log_taking *taking)
{
    fm_writer_fini(&taking->packed_head);
    fm_writer_fini(&taking->world);
    fm_writer_fini(&taking->rows);
    fm_writer_fini(&taking->record.parts);
    fm_etcd_destroy(taking->etcd);
}

fm_status fm_world_log_enter(struct log_taking *taking)
{
    return fm_world_log_add_world(taking->store, taking->number, taking->epoch, taking->position,
                                  taking->keyframe.position, &taking->packed_head)
               ? FM_OK
               : FM_ERR_NO_MEMORY;
}

fm_status fm_world_log_take(fm_world_log_store *store, uint64_t number, const char *owner,
                            const char *folder, char *path, size_t size, char *error)
{
    struct log_taking taking;
    fm_journal_file *file = NULL;
    fm_status status = fm_world_log_taking_init(store, number, error, &taking);
    if (status == FM_OK) {
        status = become_owner(&taking, owner);
    }
    if (status == FM_OK) {
        status = fm_world_log_read(&taking);
    }
    if (status == FM_OK) {
        status = fm_world_log_write_journal(&taking, folder, path, size, &file);
        fm_journal_file_close(file);
    }
    if (status == FM_OK) {
        status = fm_world_log_enter(&taking);
    }
    fm_world_log_taking_fini(&taking);
    return status;
}
