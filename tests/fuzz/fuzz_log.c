// fuzz_log.c: what a node reads from etcd: a world's log, the gateway's answers, owners and tokens.
//
// What must hold: any bytes are refused with a sentence and without a leak, or they are a log. A
// log becomes a journal in the given folder, under the world's own number and name, which holds
// each row of the log once and in order. An accepted owner or token is one that a node could have
// written. An HTTP answer is taken as a whole or not at all.
//
// The first byte says what the others are. A simulated member of etcd answers with them (--wrap of
// fm_etcd_link_*). If a log is `sound` its checksums are corrected, if it is `plain` its bytes are
// packed first, so that the code behind those checks is tested.

#include "server/base/clock.h"
#include "server/cluster/etcd_link.h"
#include "server/cluster/world_log_state.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define VALUES_MAX 24u
#define NUMBER     1u
#define EPOCH      9u // of the node that reads

enum {
    FLAG_KIND = 3,
    FLAG_SOUND = 4,
    FLAG_PLAIN = 8,
    FLAG_CHUNKED = 16
};
enum {
    KIND_LOG,
    KIND_ANSWER,
    KIND_TEXTS
};

bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns);
void __wrap_fm_etcd_link_close(fm_etcd_link *link);
bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns);
size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns);
uint64_t __wrap_fm_clock_now_ns(void);
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout_ms);

// ---- the member --------------------------------------------------------------------------------

static struct {
    uint8_t flags;
    fm_writer values[VALUES_MAX]; // keyframe, its bytes, records
    uint32_t count;
    uint64_t position; // of the first record; known from the request
    fm_writer request, answer;
    size_t given; // bytes of the answer so far
    uint64_t now_ns;
} member;

uint64_t __wrap_fm_clock_now_ns(void)
{
    return member.now_ns;
}

// A pause before the next try.
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    (void)files;
    FM_ASSERT(count == 0);
    member.now_ns += (uint64_t)timeout_ms * FM_NS_PER_MS;
    return 0;
}

bool __wrap_fm_etcd_link_open(fm_etcd_link *link, const fm_etcd_access *access, const char *host,
                              const char *port, uint64_t deadline_ns)
{
    (void)access, (void)host, (void)port, (void)deadline_ns;
    *link = (fm_etcd_link){.fd = 0};
    return true;
}

void __wrap_fm_etcd_link_close(fm_etcd_link *link)
{
    link->fd = -1;
}

bool __wrap_fm_etcd_link_send(fm_etcd_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns)
{
    (void)link, (void)deadline_ns;
    fm_writer_put_bytes(&member.request, bytes, size);
    return true;
}

static void add_kv(json_t *kvs, const char *key, const fm_writer *value)
{
    fm_writer text = fm_writer_init(&fm_memory_libc);
    fm_etcd_put(&text, "{");
    fm_etcd_put_text(&text, "key", key);
    fm_etcd_put(&text, ",");
    fm_etcd_put_bytes(&text, "value", value->data, value->size);
    fm_etcd_put(&text, "}");
    json_array_append_new(kvs, json_loadb((const char *)text.data, text.size, 0, NULL));
    fm_writer_fini(&text);
}

// The value at the key; for records also all values behind it.
static json_t *find(const char *key)
{
    json_t *kvs = json_array();
    const char *part = strstr(key, "/part/"), *log = strstr(key, "/log/");
    if (part == NULL && log == NULL && member.count > 0) {
        add_kv(kvs, key, &member.values[0]);
    } else if (part != NULL && member.count > 1 && strcmp(key + strlen(key) - 8, "00000000") == 0) {
        add_kv(kvs, key, &member.values[1]);
    } else if (log != NULL) {
        uint64_t from = strtoull(strrchr(key, '/') + 1, NULL, 16);
        member.position = member.position == UINT64_MAX ? from : member.position;
        for (uint64_t i = from - member.position; i + 2 < member.count; i++) {
            char one[FM_WORLD_LOG_KEY_SIZE];
            snprintf(one, sizeof one, "/fogmarch/fuzz/" FM_WORLD_LOG_RECORD_KEY, (uint64_t)NUMBER,
                     member.position + i);
            add_kv(kvs, one, &member.values[2 + i]);
        }
    }
    return kvs;
}

static void answer_request(void)
{
    const char *body = memmem(member.request.data, member.request.size, "\r\n\r\n", 4);
    FM_ASSERT(body != NULL);
    body += 4;
    size_t size = member.request.size - (size_t)(body - (const char *)member.request.data), length;
    json_t *json = json_loadb(body, size, 0, NULL);
    char *key = fm_etcd_bytes(json, "key", &length);
    json_t *answer = json_pack("{s:o}", "kvs", find(key));
    char *text = json_dumps(answer, JSON_COMPACT), head[160];
    snprintf(head, sizeof head,
             member.flags & FLAG_CHUNKED
                 ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n"
                 : "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
             strlen(text));
    fm_etcd_put(&member.answer, head);
    fm_etcd_put(&member.answer, text);
    fm_etcd_put(&member.answer, member.flags & FLAG_CHUNKED ? "\r\n0\r\n\r\n" : "");
    free(text), free(key);
    json_decref(answer), json_decref(json);
}

// Answers in at least two pieces. When no more is left, so much time passes that the reader does
// not try again.
size_t __wrap_fm_etcd_link_receive(fm_etcd_link *link, void *bytes, size_t size,
                                   uint64_t deadline_ns)
{
    (void)link, (void)deadline_ns;
    if (member.request.size > 0 && (member.flags & FLAG_KIND) == KIND_LOG) {
        fm_writer_clear(&member.answer);
        member.given = 0;
        answer_request();
    }
    fm_writer_clear(&member.request);
    size_t left = member.answer.size - member.given;
    size_t count = left > 100 ? left / 2 : left;
    count = count < size ? count : size;
    if (count == 0) {
        member.now_ns += 60 * FM_NS_PER_S;
        return 0;
    }
    memcpy(bytes, member.answer.data + member.given, count);
    member.given += count;
    return count;
}

// ---- a log -------------------------------------------------------------------------------------

static void put_u64_at(fm_writer *value, size_t offset, uint64_t number)
{
    if (value->size >= offset + 8) {
        fm_bytes_put_u64(value->data + offset, number);
    }
}

// Keyframe: version, position, epoch, part_count, size, checksum, ...
static void make_sound(void)
{
    fm_writer *keyframe = &member.values[0];
    const fm_writer *world = &member.values[1];
    if (member.count > 1 && keyframe->size >= 21) {
        keyframe->data[0] = FM_WORLD_LOG_VERSION;
        memcpy(keyframe->data + 17, "\1\0\0\0", 4);
        put_u64_at(keyframe, 21, world->size);
        put_u64_at(keyframe, 29, fm_bytes_checksum(world->data, world->size));
    }
    for (uint32_t i = 2; i < member.count; i++) {
        fm_writer *record = &member.values[i];
        if (record->size >= FM_WORLD_LOG_HEAD_SIZE) {
            record->data[0] = FM_WORLD_LOG_VERSION;
            put_u64_at(record, 10,
                       fm_bytes_checksum(record->data + FM_WORLD_LOG_HEAD_SIZE,
                                         record->size - FM_WORLD_LOG_HEAD_SIZE));
        }
    }
}

// In a plain record the first two bytes are `more` and the epoch.
static void put_plain(fm_writer *value, uint32_t index, const uint8_t *bytes, size_t size)
{
    size_t head = index > 1 && size >= 2 ? 2 : 0;
    if (head > 0) {
        fm_writer_put_u8(value, FM_WORLD_LOG_VERSION);
        fm_writer_put_u8(value, bytes[0] & 1);
        fm_writer_put_u64(value, bytes[1]);
        fm_writer_put_u64(value, 0);
    }
    FM_ASSERT(fm_world_log_compress(bytes + head, size - head, value) == FM_OK);
}

// Splits the input into values, each behind its size.
static void take_values(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 2 <= size && member.count < VALUES_MAX;) {
        size_t length = bytes[at] | (size_t)bytes[at + 1] << 8;
        at += 2;
        length = length < size - at ? length : size - at;
        fm_writer *value = &member.values[member.count];
        if (member.count > 0 && (member.flags & FLAG_PLAIN)) {
            put_plain(value, member.count, bytes + at, length);
        } else {
            fm_writer_put_bytes(value, bytes + at, length);
        }
        member.count++;
        at += length;
    }
    if (member.flags & FLAG_SOUND) {
        make_sound();
    }
}

// The journal holds the rows of the log, and the folder holds nothing else.
static void check_journal(const struct log_taking *taking, const char *path)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader;
    fm_reader rows = fm_reader_init(taking->rows.data, taking->rows.size, NULL);
    fm_journal_row wanted, row;
    bool more = true;
    FM_ASSERT(strncmp(path, fm_fuzz_folder(), strlen(fm_fuzz_folder())) == 0 &&
              strrchr(path, '/') == path + strlen(fm_fuzz_folder()));
    if (fm_journal_reader_open(path, &reader, error) != FM_OK) {
        FM_ASSERT(error[0] != '\0'); // the keyframe's world is invalid; its reader says so
        return;
    }
    const fm_journal_info *info = fm_journal_reader_info(reader);
    FM_ASSERT(info->number == NUMBER && strcmp(info->name, taking->name) == 0 &&
              info->last_tick >= info->first_tick);
    fm_status status = fm_journal_reader_seek_tick(reader, 0, error);
    while (status == FM_OK && fm_journal_rows_take(&rows, &wanted)) {
        status = fm_journal_reader_next(reader, &row, &more, error);
        while (status == FM_OK && more && row.kind == FM_JOURNAL_KEYFRAME) { // the first one
            status = fm_journal_reader_next(reader, &row, &more, error);
        }
        FM_ASSERT(status != FM_OK ||
                  (more && row.kind == wanted.kind && row.tick == wanted.tick &&
                   row.size == wanted.size &&
                   (row.size == 0 || memcmp(row.bytes, wanted.bytes, row.size) == 0)));
    }
    fm_journal_reader_close(reader);
}

static void empty_folder(void)
{
    DIR *entries = opendir(fm_fuzz_folder());
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        unlinkat(dirfd(entries), entry->d_name, 0); // "." and ".." stay
    }
    closedir(entries);
}

static void try_log(fm_world_log_store *store)
{
    struct log_taking taking;
    char error[FM_JOURNAL_ERROR_SIZE] = "", path[512];
    fm_journal_file *file = NULL;
    FM_ASSERT(fm_world_log_taking_init(store, NUMBER, error, &taking) == FM_OK);
    taking.epoch = EPOCH;
    fm_status status = fm_world_log_read(&taking);
    if (status == FM_OK) {
        status = fm_world_log_write_journal(&taking, fm_fuzz_folder(), path, sizeof path, &file);
    }
    fm_journal_file_close(file);
    if (status == FM_OK) {
        check_journal(&taking, path);
    } else {
        FM_ASSERT(error[0] != '\0');
    }
    empty_folder();
    fm_world_log_taking_fini(&taking);
}

// ---- answers and texts -------------------------------------------------------------------------

static void try_answer(const fm_etcd_access *access)
{
    fm_etcd *etcd;
    json_t *answer = NULL;
    char error[FM_ETCD_ERROR_SIZE];
    fm_writer body = fm_writer_init(&fm_memory_libc);
    FM_ASSERT(fm_etcd_create(access, &etcd) == FM_OK);
    fm_etcd_put(&body, "{}");
    if (fm_etcd_call(etcd, "kv/range", &body, 1000, &answer, error) == FM_ETCD_DONE) {
        size_t size = 0;
        char *value = fm_etcd_response_value(answer, 0, &size);
        FM_ASSERT(value == NULL || value[size] == '\0');
        free(value);
        (void)fm_etcd_number(json_object_get(answer, "header"), "revision");
        FM_ASSERT(!fm_etcd_response_is(answer, 1, "x", 1) ||
                  !fm_etcd_response_is(answer, 1, "y", 1));
        json_decref(answer);
    } else {
        FM_ASSERT(error[0] != '\0' && memchr(error, '\0', sizeof error) != NULL);
    }
    fm_writer_fini(&body);
    fm_etcd_destroy(etcd);
}

static void try_texts(const char *text)
{
    uint64_t epoch, incarnation, epoch_again, incarnation_again;
    char node[FM_CLUSTER_NAME_MAX + 1], node_again[FM_CLUSTER_NAME_MAX + 1];
    char again[FM_CLUSTER_OWNER_MAX];
    fm_grant grant;
    if (fm_world_log_owner_parse(text, &epoch, node, &incarnation)) {
        fm_world_log_owner_text(again, epoch, node, incarnation);
        FM_ASSERT(fm_world_log_owner_parse(again, &epoch_again, node_again, &incarnation_again) &&
                  epoch == epoch_again && incarnation == incarnation_again &&
                  strcmp(node, node_again) == 0);
    }
    if (fm_token_log_parse("/fogmarch/fuzz/tokens/0000000000000001/0000000000000002", text,
                           &grant)) {
        FM_ASSERT(grant.number == 2 && grant.role == FM_ROLE_PLAYER && grant.seat.number == 1);
    }
    if (fm_token_log_parse(text, "", &grant)) {
        FM_ASSERT(false);
    }
}

static void lost(void *context, uint64_t world)
{
    (void)context, (void)world;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const fm_etcd_access access = {.members = "fuzz:1", .user = ""};
    static fm_world_log_store *store;
    const fm_world_log_options options = {
        .access = &access, .cluster = "fuzz", .node = "me", .lost = lost};
    if (store == NULL) {
        FM_ASSERT(fm_world_log_store_create(&options, &store) == FM_OK);
    }
    if (size == 0) {
        return 0;
    }
    memset(&member, 0, sizeof member);
    member.flags = bytes[0];
    member.position = UINT64_MAX;
    member.now_ns = FM_NS_PER_S;
    member.request = fm_writer_init(&fm_memory_libc);
    member.answer = fm_writer_init(&fm_memory_libc);
    for (uint32_t i = 0; i < VALUES_MAX; i++) {
        member.values[i] = fm_writer_init(&fm_memory_libc);
    }
    if ((member.flags & FLAG_KIND) == KIND_LOG) {
        take_values(bytes + 1, size - 1);
        try_log(store);
    } else if ((member.flags & FLAG_KIND) == KIND_ANSWER) {
        fm_writer_put_bytes(&member.answer, bytes + 1, size - 1);
        try_answer(&access);
    } else {
        char *text = fm_fuzz_text(bytes + 1, size - 1);
        try_texts(text);
        free(text);
    }
    fm_writer_fini(&member.request);
    fm_writer_fini(&member.answer);
    for (uint32_t i = 0; i < VALUES_MAX; i++) {
        fm_writer_fini(&member.values[i]);
    }
    return 0;
}
