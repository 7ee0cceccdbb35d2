// server/methods/replays.c: see replays.h.

#include "server/methods/replays.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/methods/request.h"
#include "server/streams/stream.h"
#include "server/worlds/playback.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define JOURNALS_SEEN_MAX 65536u // of which the newest are listed
#define PATH_SIZE         (FM_CONFIG_TEXT_MAX + FM_JOURNAL_FILE_SIZE + 2)

// Who asked.
struct asker {
    uint64_t session;
    uint64_t request;
    bool is_notification;
};

static struct asker asker_of(fm_session *session, const fm_request *request)
{
    session->jobs_waiting++;
    return (struct asker){.session = session->number,
                          .request = request->id,
                          .is_notification = request->is_notification};
}

// Gives back the session that waits for an answer; NULL when it has gone.
static fm_session *end_wait(fm_hub *hub, const struct asker *asker)
{
    fm_session *session = fm_hub_find_session(hub, asker->session);
    if (session != NULL) {
        fm_session_job_done(session);
    }
    return session;
}

bool fm_replays_are_possible(const fm_hub *hub)
{
    return hub->replayer != NULL;
}

// ---- names of files ----------------------------------------------------------------------------

// NUMBER-NAME.journal, also of a world that was destroyed, or that could not be restored.
static bool is_journal_name(const char *name, size_t size)
{
    static const char *const endings[] = {FM_JOURNAL_SUFFIX, FM_JOURNAL_SUFFIX ".ended",
                                          FM_JOURNAL_SUFFIX ".damaged"};
    if (size >= FM_JOURNAL_FILE_SIZE || memchr(name, '/', size) != NULL ||
        memchr(name, '\0', size) != NULL || name[0] == '.') {
        return false;
    }
    for (uint32_t i = 0; i < FM_COUNT_OF(endings); i++) {
        size_t ending = strlen(endings[i]);
        if (size > ending && memcmp(name + size - ending, endings[i], ending) == 0) {
            return true;
        }
    }
    return false;
}

// Only files in the folder itself: no links to elsewhere, nothing on which opening would block.
static bool is_file(const char *path, struct stat *about)
{
    return lstat(path, about) == 0 && S_ISREG(about->st_mode);
}

// The end of a sentence that begins with a path, from the file's name on.
static void copy_error(char *to, size_t size, const char *error, const char *file)
{
    const char *from = strstr(error, file);
    snprintf(to, size, "%.*s", (int)size - 1, from == NULL ? error : from);
}

// ---- listing -----------------------------------------------------------------------------------

struct entry {
    char file[FM_JOURNAL_FILE_SIZE];
    struct timespec changed;
    uint64_t size; // bytes, with the write-ahead file
    fm_journal_info info;
    char error[FM_ERROR_TEXT_SIZE]; // empty: `info` is there
};

struct listing {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    struct asker asker;
    char folder[FM_CONFIG_TEXT_MAX + 1];
    struct entry *entries; // owned; newest first
    uint32_t count, capacity;
    bool failed;
};

static int newer_first(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    if (a->changed.tv_sec != b->changed.tv_sec) {
        return a->changed.tv_sec < b->changed.tv_sec ? 1 : -1;
    }
    if (a->changed.tv_nsec != b->changed.tv_nsec) {
        return a->changed.tv_nsec < b->changed.tv_nsec ? 1 : -1;
    }
    return strcmp(a->file, b->file);
}

// The journal of a running world grows in its write-ahead file first.
static void measure(const char *path, const struct stat *about, struct entry *entry)
{
    char wal[PATH_SIZE + 8];
    struct stat beside;
    snprintf(wal, sizeof wal, "%s-wal", path);
    entry->size = (uint64_t)about->st_size;
    entry->changed = about->st_mtim;
    if (is_file(wal, &beside)) {
        entry->size += (uint64_t)beside.st_size;
        entry->changed =
            beside.st_mtim.tv_sec > entry->changed.tv_sec ? beside.st_mtim : entry->changed;
    }
}

static void add_entry(struct listing *listing, const char *name)
{
    char path[PATH_SIZE];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", listing->folder, name);
    if (listing->count == JOURNALS_SEEN_MAX || !is_journal_name(name, strlen(name)) ||
        !is_file(path, &about)) {
        return;
    }
    if (!fm_reserve(&fm_memory_libc, (void **)&listing->entries, &listing->capacity,
                    listing->count + 1, sizeof *listing->entries)) {
        listing->failed = true;
        return;
    }
    struct entry *entry = &listing->entries[listing->count++];
    *entry = (struct entry){.error = ""};
    snprintf(entry->file, sizeof entry->file, "%s", name);
    measure(path, &about, entry);
}

static void look_into(const struct listing *listing, struct entry *entry)
{
    char path[PATH_SIZE], error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader;
    snprintf(path, sizeof path, "%s/%s", listing->folder, entry->file);
    if (fm_journal_reader_open(path, &reader, error) == FM_OK) {
        entry->info = *fm_journal_reader_info(reader);
        fm_journal_reader_close(reader);
    } else {
        copy_error(entry->error, sizeof entry->error, error, entry->file);
    }
}

static void list(uv_work_t *work)
{
    struct listing *listing = work->data;
    DIR *folder = opendir(listing->folder);
    if (folder == NULL) {
        listing->failed = true;
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        add_entry(listing, entry->d_name);
    }
    closedir(folder);
    if (listing->count > 0) {
        qsort(listing->entries, listing->count, sizeof *listing->entries, newer_first);
    }
    listing->count =
        listing->count < FM_JOURNALS_LISTED_MAX ? listing->count : FM_JOURNALS_LISTED_MAX;
    for (uint32_t i = 0; i < listing->count; i++) {
        look_into(listing, &listing->entries[i]);
    }
}

static void pack_entry(msgpack_packer *packer, const fm_hub *hub, const struct entry *entry)
{
    const fm_host *host = fm_hub_find_host(hub, entry->info.number);
    bool runs =
        host != NULL && !fm_host_is_replay(host) && strcmp(host->name, entry->info.name) == 0;
    msgpack_pack_map(packer, 9);
    fm_pack_key_text(packer, "file", entry->file);
    fm_pack_key_uint(packer, "bytes", entry->size);
    fm_pack_key_uint(packer, "changed", (uint64_t)entry->changed.tv_sec);
    fm_pack_key_uint(packer, "world", entry->info.number);
    fm_pack_key_text(packer, "name", entry->info.name);
    fm_pack_key_uint(packer, "first_tick", entry->info.first_tick);
    fm_pack_key_uint(packer, "last_tick", entry->info.last_tick);
    fm_pack_key_bool(packer, "runs", runs);
    fm_pack_key_text(packer, "error", entry->error);
}

static void pack_replay(msgpack_packer *packer, const fm_hub *hub, const fm_host *host)
{
    fm_host_summary summary = fm_conductor_summary(hub->replayer, host);
    msgpack_pack_map(packer, 4);
    fm_pack_key_uint(packer, "world", host->number);
    fm_pack_key_text(packer, "file", host->playback.file);
    fm_pack_key_uint(packer, "tick", summary.tick);
    fm_pack_key_bool(packer, "paused", summary.paused);
}

static void answer_listing(const struct listing *listing, fm_session *session)
{
    const fm_hub *hub = listing->hub;
    if (listing->failed) {
        fm_reply_error(session, listing->asker.request, FM_ERR_IO,
                       "the folder of the journals cannot be read");
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, listing->asker.request);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_text(&reply.packer, "journals");
    msgpack_pack_array(&reply.packer, listing->count);
    for (uint32_t i = 0; i < listing->count; i++) {
        pack_entry(&reply.packer, hub, &listing->entries[i]);
    }
    fm_pack_text(&reply.packer, "replays");
    msgpack_pack_array(&reply.packer, hub->replay_count);
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        pack_replay(&reply.packer, hub, hub->replays[i]);
    }
    fm_reply_send(session, &reply);
}

static void on_listed(uv_work_t *work, int error)
{
    struct listing *listing = work->data;
    listing->failed |= error < 0;
    fm_hub_beat(listing->hub);
    listing->hub->listing_count--;
    fm_session *session = end_wait(listing->hub, &listing->asker);
    if (session != NULL && !listing->asker.is_notification) {
        answer_listing(listing, session);
    }
    free(listing->entries);
    free(listing);
}

fm_status fm_replays_list(fm_session *session, const fm_request *request)
{
    fm_hub *hub = session->hub;
    if (hub->listing_count == FM_LISTINGS_MAX) {
        return FM_ERR_BUSY;
    }
    struct listing *listing = calloc(1, sizeof *listing);
    if (listing == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    listing->work.data = listing;
    listing->hub = hub;
    snprintf(listing->folder, sizeof listing->folder, "%s", hub->config->journal_dir);
    if (uv_queue_work(hub->loop, &listing->work, list, on_listed) < 0) {
        free(listing);
        return FM_ERR_IO;
    }
    listing->asker = asker_of(session, request);
    hub->listing_count++;
    return FM_OK;
}

// ---- opening -----------------------------------------------------------------------------------

struct fm_opening {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    struct asker asker;
    char file[FM_JOURNAL_FILE_SIZE];
    char path[PATH_SIZE];
    size_t memory_max;
    uint64_t number, begun_ns;
    fm_host *host;
    fm_status status;
    char error[FM_JOURNAL_ERROR_SIZE];
};

static void fail(struct fm_opening *opening, fm_status status)
{
    fm_hub *hub = opening->hub;
    hub->opening_count--;
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "replay not opened", fm_log_text("file", opening->path),
                   fm_log_status("reason", status), fm_log_text("detail", opening->error));
    fm_session *session = end_wait(hub, &opening->asker);
    if (session != NULL && !opening->asker.is_notification) {
        char error[FM_ERROR_TEXT_SIZE];
        copy_error(error, sizeof error, opening->error, opening->file);
        fm_reply_error(session, opening->asker.request, status, error[0] == '\0' ? NULL : error);
    }
    fm_host_destroy(opening->host);
    free(opening);
}

static void open_journal(uv_work_t *work)
{
    struct fm_opening *opening = work->data;
    struct stat about;
    if (!is_file(opening->path, &about)) {
        opening->status = FM_ERR_NO_JOURNAL;
        return;
    }
    opening->status =
        fm_host_open_replay(opening->path, opening->memory_max, &opening->host, opening->error);
    if (opening->status == FM_OK) {
        opening->host->number = opening->number;
        memcpy(opening->host->playback.file, opening->file, sizeof opening->file);
    }
}

static void on_opened(uv_work_t *work, int error)
{
    struct fm_opening *opening = work->data;
    fm_hub *hub = opening->hub;
    fm_hub_beat(hub);
    if (error < 0 || opening->status != FM_OK) {
        fail(opening, error < 0 ? FM_ERR_IO : opening->status);
        return;
    }
    if (hub->going_down) {
        fail(opening, FM_ERR_GOING_DOWN);
        return;
    }
    fm_job *job = fm_job_create(FM_JOB_ADD, opening->host);
    if (job == NULL) {
        fail(opening, FM_ERR_NO_MEMORY);
        return;
    }
    job->opening = opening;
    if (fm_conductor_post(hub->replayer, job) != FM_OK) {
        fm_job_destroy(job);
        fail(opening, FM_ERR_BUSY);
    }
}

static void answer_opened(const struct fm_opening *opening, fm_session *session)
{
    const fm_host *host = opening->host;
    fm_host_summary summary = fm_conductor_summary(opening->hub->replayer, host);
    fm_reply reply;
    fm_reply_begin(&reply, opening->asker.request);
    msgpack_pack_map(&reply.packer, 7);
    fm_pack_key_uint(&reply.packer, "world", host->number);
    fm_pack_key_text(&reply.packer, "name", host->name);
    fm_pack_key_uint(&reply.packer, "width", host->width);
    fm_pack_key_uint(&reply.packer, "height", host->height);
    fm_pack_key_uint(&reply.packer, "tick", summary.tick);
    fm_pack_key_uint(&reply.packer, "first_tick", summary.replay.first_tick);
    fm_pack_key_uint(&reply.packer, "last_tick", summary.replay.last_tick);
    fm_reply_send(session, &reply);
}

static void close_unasked(fm_hub *hub, fm_host *host)
{
    fm_job *job = hub->going_down ? NULL : fm_job_create(FM_JOB_REMOVE, host);
    host->playback.owner = 0;
    if (job != NULL && fm_replays_close(hub, host, job) != FM_OK) {
        fm_job_destroy(job); // it stays until a client closes it
    }
}

// While the server goes down the replay is listed all the same: it is released with the others.
void fm_replays_added(fm_hub *hub, fm_job *job)
{
    struct fm_opening *opening = job->opening;
    fm_host *host = opening->host;
    fm_status status = job->status;
    fm_job_destroy(job);
    if (status != FM_OK && status != FM_ERR_GOING_DOWN) {
        fail(opening, status);
        return;
    }
    hub->opening_count--;
    host->state = FM_HOST_LIVE;
    host->playback.owner = opening->asker.session;
    fm_hub_add_replay(hub, host);
    fm_session *session = end_wait(hub, &opening->asker);
    if (session == NULL) {
        close_unasked(hub, host);
    } else if (!opening->asker.is_notification) {
        answer_opened(opening, session);
    }
    static fm_log_site site;
    fm_log_limited(
        &site, FM_LOG_INFO, "replay opened", fm_log_uint("world", host->number),
        fm_log_text("file", opening->file), fm_log_uint("session", opening->asker.session),
        fm_log_real("ms", (double)(fm_clock_now_ns() - opening->begun_ns) / FM_NS_PER_MS));
    free(opening);
}

fm_status fm_replays_open(fm_session *session, const fm_request *request, const fm_value *file,
                          char *error)
{
    fm_hub *hub = session->hub;
    const fm_config *config = hub->config;
    if (!is_journal_name(file->bytes, file->size)) {
        return FM_ERR_NO_JOURNAL;
    }
    uint64_t most = config->replays_max < FM_REPLAYS_MAX ? config->replays_max : FM_REPLAYS_MAX;
    if (hub->replay_count + hub->opening_count >= most) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this server shows %llu replays at most; close one",
                 (unsigned long long)most);
        return FM_ERR_LIMIT;
    }
    struct fm_opening *opening = calloc(1, sizeof *opening);
    if (opening == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    opening->work.data = opening;
    opening->hub = hub;
    memcpy(opening->file, file->bytes, file->size);
    snprintf(opening->path, sizeof opening->path, "%s/%s", config->journal_dir, opening->file);
    opening->memory_max = config->world_memory_max;
    opening->begun_ns = fm_clock_now_ns();
    opening->number = ++hub->host_last;
    if (uv_queue_work(hub->loop, &opening->work, open_journal, on_opened) < 0) {
        free(opening);
        return FM_ERR_IO;
    }
    opening->asker = asker_of(session, request);
    hub->opening_count++;
    return FM_OK;
}

// ---- closing -----------------------------------------------------------------------------------

fm_status fm_replays_close(fm_hub *hub, fm_host *host, fm_job *job)
{
    fm_replay_summary summary = fm_conductor_summary(hub->replayer, host).replay;
    fm_status status = fm_conductor_post(hub->replayer, job);
    if (status == FM_OK) {
        hub->counts.replay_mismatches += summary.differences;
        host->state = FM_HOST_ENDING;
        fm_stream_end_host(hub, host, NULL, 0);
        fm_hub_drop_replay(hub, host);
        static fm_log_site site;
        fm_log_limited(&site, FM_LOG_INFO, "replay closed", fm_log_uint("world", host->number),
                       fm_log_text("file", host->playback.file));
    }
    return status;
}

void fm_replays_end_session(fm_hub *hub, uint64_t session)
{
    for (uint32_t i = hub->replay_count; i-- > 0;) {
        if (hub->replays[i]->playback.owner == session) {
            close_unasked(hub, hub->replays[i]);
        }
    }
}
