// server/process/recovery.c: see recovery.h.

#include "server/process/recovery.h"

#include "core/saves/settle.h"
#include "core/views/inspect.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/journal/journal_apply.h"
#include "server/journal/journal_file.h"
#include "server/worlds/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PATH_SIZE   4096u
#define PROGRESS_NS (2 * FM_NS_PER_S) // between two lines of the log

struct fm_recovery {
    fm_hub *hub;
    fm_workers *workers;
    char path[PATH_SIZE]; // of the journal under way
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_reader *reader;
    fm_host *host;
    uint64_t progress_ns;  // of the last line in the log
    uint64_t tick_count;   // replayed
    uint64_t number, tick; // of the world that was restored last
    fm_journal_tail tail;  // where its journal continues
    bool is_broken;        // the rows could be read up to here
    bool is_alone;         // off the event loop: the hub is not used
    bool is_doubtful;      // ticks that were written are lost: an operator has to accept that
    char doubt[FM_JOURNAL_ERROR_SIZE]; // what is lost
};

// ---- the folder --------------------------------------------------------------------------------

fm_status fm_recovery_lock(const char *folder, int *lock, char *error)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || access(folder, W_OK | X_OK) != 0) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE,
                 "%.300s: %m; journal_dir is a folder that exists and that this user may write to",
                 folder);
        if (fd >= 0) {
            close(fd);
        }
        return FM_ERR_IO;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "%.300s: another server uses this folder", folder);
        close(fd);
        return FM_ERR_IO;
    }
    *lock = fd;
    return FM_OK;
}

static int is_journal(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), suffix_size = strlen(FM_JOURNAL_SUFFIX);
    return size > suffix_size && strcmp(entry->d_name + size - suffix_size, FM_JOURNAL_SUFFIX) == 0;
}

// ---- replay ------------------------------------------------------------------------------------

__attribute__((format(printf, 4, 5))) static fm_status
refuse(fm_recovery *recovery, fm_status status, uint64_t tick, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[FM_JOURNAL_ERROR_SIZE];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(recovery->error, sizeof recovery->error, "%.250s: tick %llu: %.200s", recovery->path,
             (unsigned long long)tick, text);
    return status;
}

static void take_row(fm_recovery *recovery, const fm_journal_row *row,
                     const fm_journal_applied *applied)
{
    fm_host *host = recovery->host;
    if (row->kind == FM_JOURNAL_TICK) {
        host->tick = row->tick;
        host->digest = applied->digest;
        recovery->tick_count++;
    } else if (row->kind == FM_JOURNAL_PACE) { // while a journal still grows; else it is known
        host->paused = row->pace.paused;
        host->tick_hz = row->pace.tick_hz;
        host->budget_ms = row->pace.budget_ms;
    }
}

static fm_status do_row(fm_recovery *recovery, const fm_journal_row *row)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_journal_applied applied;
    fm_host *host = recovery->host;
    fm_status status =
        fm_journal_apply(host->world, host->tick, recovery->workers, row, &applied, error);
    if (status != FM_OK) {
        if (applied.differs && !recovery->is_alone) {
            recovery->hub->counts.recovery_mismatches++;
        }
        return refuse(recovery, status, row->tick, "%.400s", error);
    }
    take_row(recovery, row, &applied);
    return FM_OK;
}

// A world that runs out of memory here differs from the recorded one. The file is valid.
static fm_status replay_row(fm_recovery *recovery, const fm_journal_row *row)
{
    fm_status status = do_row(recovery, row);
    return status == FM_OK && fm_world_is_starved(recovery->host->world)
               ? refuse(recovery, FM_ERR_NO_MEMORY, row->tick, "memory ran out in bringing it back")
               : status;
}

static void tell_progress(fm_recovery *recovery)
{
    const fm_journal_info *info = fm_journal_reader_info(recovery->reader);
    uint64_t now_ns = fm_clock_now_ns();
    if (now_ns - recovery->progress_ns < PROGRESS_NS) {
        return;
    }
    recovery->progress_ns = now_ns;
    fm_log(FM_LOG_INFO, "bringing a world back", fm_log_text("name", info->name),
           fm_log_uint("tick", recovery->host->tick), fm_log_uint("last_tick", info->last_tick));
}

static fm_status replay_all(fm_recovery *recovery)
{
    fm_journal_row row;
    bool more = true;
    fm_status status = FM_OK;
    // With other workers the same ticks may take a little more than they took.
    fm_memory_arena_limit(recovery->host->arena, SIZE_MAX);
    while (status == FM_OK && more) {
        status = fm_journal_reader_next(recovery->reader, &row, &more, recovery->error);
        recovery->is_broken = status == FM_ERR_BAD_FORMAT;
        if (status == FM_OK && more) {
            status = replay_row(recovery, &row);
            tell_progress(recovery);
        }
    }
    fm_memory_arena_limit(recovery->host->arena, recovery->hub->config->world_memory_max);
    return status;
}

static fm_status replay(fm_recovery *recovery, const fm_journal_keyframe *keyframe)
{
    fm_status status =
        fm_journal_reader_seek(recovery->reader, keyframe->position, recovery->error);
    return status == FM_OK ? replay_all(recovery) : status;
}

// ---- one world ---------------------------------------------------------------------------------

static fm_status load(fm_recovery *recovery, const fm_journal_keyframe *keyframe)
{
    uint8_t *bytes;
    size_t size;
    fm_bytes_error wrong;
    fm_status status =
        fm_journal_reader_load(recovery->reader, keyframe, &bytes, &size, recovery->error);
    if (status != FM_OK) {
        return status;
    }
    const fm_host_restoration restoration = {
        .info = fm_journal_reader_info(recovery->reader),
        .bytes = bytes,
        .size = size,
        .memory_max = recovery->hub->config->world_memory_max,
    };
    status = fm_host_restore(&restoration, &recovery->host, &wrong);
    free(bytes);
    if (status != FM_OK) {
        return refuse(recovery, status, keyframe->tick, "its keyframe: %s",
                      status == FM_ERR_BAD_FORMAT ? wrong.message : fm_status_text(status));
    }
    recovery->host->recording.keyframe_tick = keyframe->tick;
    recovery->host->digest = keyframe->digest;
    return FM_OK;
}

// The newest keyframe that can be read, and all that came after it.
static fm_status bring_to_the_end(fm_recovery *recovery)
{
    uint32_t i;
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(recovery->reader, &i);
    fm_status status = FM_ERR_BAD_FORMAT;
    while (status == FM_ERR_BAD_FORMAT && i > 0) {
        status = load(recovery, &keyframes[--i]);
        if (status == FM_ERR_BAD_FORMAT && i > 0) {
            fm_log(FM_LOG_WARNING, "keyframe damaged, going back to the one before",
                   fm_log_text("reason", recovery->error));
        }
    }
    return status == FM_OK ? replay(recovery, &keyframes[i]) : status;
}

static fm_status check_names(fm_recovery *recovery)
{
    const fm_journal_info *info = fm_journal_reader_info(recovery->reader);
    const fm_hub *hub = recovery->hub;
    if (fm_hub_find_host(hub, info->number) != NULL ||
        fm_hub_find_host_by_name(hub, info->name, strlen(info->name)) != NULL) {
        return refuse(recovery, FM_ERR_EXISTS, info->last_tick,
                      "world %llu, '%s', has the number or name of another one",
                      (unsigned long long)info->number, info->name);
    }
    // A world that was being destroyed when the server was killed may come back although a new one
    // has its name: refusing the new one would lose a world that clients have seen.
    if (hub->host_count >= hub->config->worlds_max) {
        fm_log(FM_LOG_WARNING, "more worlds come back than worlds_max",
               fm_log_text("file", recovery->path),
               fm_log_uint("worlds_max", hub->config->worlds_max));
    }
    return FM_OK;
}

static void finish_host(fm_host *host)
{
    fm_world_counts counts;
    fm_world_counts_get(host->world, &counts);
    host->agents = counts.agents;
    host->teams = counts.teams;
    host->shared.summary.tick = host->tick;
    host->shared.summary.digest = host->digest;
    host->shared.summary.agents = counts.agents;
    host->shared.summary.teams = counts.teams;
    host->shared.summary.timeline = host->timeline;
    host->state = FM_HOST_LIVE;
}

// The conductor takes the world in before the loop's first turn.
//
// @param jobs  that are done before its first tick; NULL: none
static fm_status hand_over(fm_recovery *recovery, fm_job *jobs)
{
    fm_hub *hub = recovery->hub;
    fm_host *host = recovery->host;
    fm_job *job = fm_hub_reserve_host(hub) ? fm_job_create(FM_JOB_ADD, host) : NULL;
    if (job == NULL) {
        return refuse(recovery, FM_ERR_NO_MEMORY, host->tick, "out of memory");
    }
    job->event.next = jobs == NULL ? NULL : &jobs->event;
    recovery->tick = host->tick; // before it is the conductor's
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        return refuse(recovery, FM_ERR_NO_MEMORY, host->tick, "out of memory");
    }
    fm_hub_add_host(hub, host);
    hub->host_last = host->number > hub->host_last ? host->number : hub->host_last;
    recovery->number = host->number;
    recovery->host = NULL;
    return FM_OK;
}

// @param to  receives the name, of PATH_SIZE + 16 bytes
static bool rename_files(const fm_recovery *recovery, const char *ending, char *to)
{
    snprintf(to, PATH_SIZE + 16, "%s.%s", recovery->path, ending);
    return fm_journal_file_set_aside(recovery->path, ending);
}

// ---- journals that went back -------------------------------------------------------------------

// Clients have seen ticks that are missing. The operator decides whether the world continues
// without them.
static fm_status doubt(fm_recovery *recovery)
{
    recovery->is_doubtful = true;
    if (recovery->hub->config->accept_rollback) {
        return FM_OK;
    }
    snprintf(recovery->error, sizeof recovery->error,
             "%.380s. To bring it back as it is, start once with --accept-rollback",
             recovery->doubt);
    return FM_ERR_IO; // the file stays where it is
}

static fm_status check_end(fm_recovery *recovery)
{
    if (fm_journal_reader_info(recovery->reader)->end == FM_JOURNAL_END_KNOWN) {
        return FM_OK;
    }
    fm_journal_reader_doubt(recovery->reader, recovery->doubt);
    return doubt(recovery);
}

// The rows end before the journal does.
static fm_status note_break(fm_recovery *recovery)
{
    unsigned long long tick = recovery->host->tick;
    unsigned long long last = fm_journal_reader_info(recovery->reader)->last_tick;
    snprintf(recovery->doubt, sizeof recovery->doubt,
             "%.300s. It can be read up to tick %llu: %llu ticks are lost", recovery->error, tick,
             last > tick ? last - tick : 0);
    return doubt(recovery);
}

// The world continues in a new file, so that nothing is appended to a damaged one.
static fm_status begin_again(fm_recovery *recovery)
{
    char to[PATH_SIZE + 16];
    fm_host *host = recovery->host;
    if (!rename_files(recovery, "damaged", to)) {
        return refuse(recovery, FM_ERR_IO, host->tick, "cannot be renamed to .damaged: %m");
    }
    host->timeline++;
    host->shared.summary.timeline = host->timeline;
    fm_log(FM_LOG_WARNING, "rollback accepted", fm_log_text("reason", recovery->doubt),
           fm_log_uint("world", host->number), fm_log_uint("tick", host->tick),
           fm_log_text("file", to));
    return fm_recording_begin(fm_conductor_journals(recovery->hub->conductor), host,
                              recovery->error);
}

static fm_status record(fm_recovery *recovery)
{
    if (recovery->is_doubtful) {
        return begin_again(recovery);
    }
    return fm_recording_go_on(fm_conductor_journals(recovery->hub->conductor), recovery->host,
                              recovery->path, &recovery->tail, recovery->error);
}

static fm_status begin(fm_recovery *recovery)
{
    recovery->is_broken = recovery->is_doubtful = false;
    fm_status status = fm_journal_reader_open(recovery->path, &recovery->reader, recovery->error);
    if (status == FM_OK && !recovery->is_alone) {
        status = check_names(recovery);
    }
    if (status == FM_OK) {
        status = check_end(recovery);
    }
    if (status == FM_OK) {
        status = bring_to_the_end(recovery);
    }
    if (status == FM_ERR_BAD_FORMAT && recovery->is_broken) {
        status = note_break(recovery);
    }
    return status;
}

static fm_status finish(fm_recovery *recovery, fm_status status)
{
    if (status == FM_OK) {
        recovery->tail = fm_journal_reader_tail(recovery->reader);
    }
    fm_journal_reader_close(recovery->reader); // before anything is written
    recovery->reader = NULL;
    if (status == FM_OK) {
        finish_host(recovery->host);
        status = record(recovery);
    }
    if (status == FM_OK) { // a client may ask before the conductor has taken it in
        recovery->host->shared.summary.journal =
            fm_recording_state(recovery->hub->config, recovery->host);
        fm_recording_describe_halt(recovery->hub->config, recovery->host,
                                   recovery->host->shared.summary.halted);
    }
    return status;
}

static fm_status bring_back(fm_recovery *recovery)
{
    return finish(recovery, begin(recovery));
}

// ---- one that still grows ----------------------------------------------------------------------

fm_status fm_recovery_begin(fm_hub *hub, const char *path, fm_recovery **out, char *error)
{
    fm_recovery *recovery = calloc(1, sizeof *recovery);
    if (recovery == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    *recovery = (fm_recovery){.hub = hub, .is_alone = true, .progress_ns = fm_clock_now_ns()};
    snprintf(recovery->path, sizeof recovery->path, "%s", path);
    fm_status status =
        fm_workers_create(fm_conductor_worker_count(hub->conductor), &recovery->workers);
    if (status == FM_OK) {
        status = begin(recovery);
    }
    memcpy(error, recovery->error, FM_JOURNAL_ERROR_SIZE);
    if (status != FM_OK) {
        fm_recovery_drop(recovery);
        return status;
    }
    *out = recovery;
    return FM_OK;
}

fm_status fm_recovery_go_on(fm_recovery *recovery, char *error)
{
    fm_status status = replay_all(recovery);
    memcpy(error, recovery->error, FM_JOURNAL_ERROR_SIZE);
    return status;
}

fm_status fm_recovery_finish(fm_recovery *recovery, fm_host **out, char *error)
{
    fm_status status = finish(recovery, FM_OK);
    memcpy(error, recovery->error, FM_JOURNAL_ERROR_SIZE);
    if (status == FM_OK) {
        *out = recovery->host;
        recovery->host = NULL;
    }
    fm_recovery_drop(recovery);
    return status;
}

void fm_recovery_follow(fm_recovery *recovery, fm_followed *followed, fm_journal_tail *tail,
                        fm_host **out)
{
    fm_host *host = recovery->host;
    *tail = fm_journal_reader_tail(recovery->reader);
    finish_host(host);
    atomic_store(&followed->position, tail->position);
    atomic_store(&followed->done, tail->position);
    fm_following_begin(host, followed, recovery->reader);
    recovery->reader = NULL;
    recovery->host = NULL;
    *out = host;
    fm_recovery_drop(recovery);
}

void fm_recovery_drop(fm_recovery *recovery)
{
    if (recovery != NULL) {
        fm_journal_reader_close(recovery->reader);
        fm_workers_destroy(recovery->workers);
        fm_host_destroy(recovery->host);
        free(recovery);
    }
}

fm_status fm_recovery_bring_back(fm_hub *hub, const char *path, fm_host **out, char *error)
{
    fm_recovery recovery = {.hub = hub, .is_alone = true, .progress_ns = fm_clock_now_ns()};
    snprintf(recovery.path, sizeof recovery.path, "%s", path);
    fm_status status =
        fm_workers_create(fm_conductor_worker_count(hub->conductor), &recovery.workers);
    if (status == FM_OK) {
        status = bring_back(&recovery);
        fm_workers_destroy(recovery.workers);
    }
    memcpy(error, recovery.error, FM_JOURNAL_ERROR_SIZE);
    if (status != FM_OK) {
        fm_host_destroy(recovery.host);
        return status;
    }
    *out = recovery.host;
    return FM_OK;
}

fm_status fm_recovery_hand_over(fm_hub *hub, fm_host *host, fm_job *jobs, char *error)
{
    fm_recovery recovery = {.hub = hub, .host = host};
    fm_status status = hand_over(&recovery, jobs);
    memcpy(error, recovery.error, FM_JOURNAL_ERROR_SIZE);
    return status;
}

// Damaged files are renamed, so that the next start does not meet them again. Temporary errors,
// such as missing memory or rights, leave the file where it is.
static void set_aside(fm_recovery *recovery, fm_status status)
{
    char to[PATH_SIZE + 16];
    bool damaged = status == FM_ERR_BAD_FORMAT && rename_files(recovery, "damaged", to);
    fm_log(FM_LOG_ERROR, "world not brought back", fm_log_text("reason", recovery->error),
           fm_log_text("file", damaged ? to : recovery->path));
}

static void try_file(fm_recovery *recovery)
{
    uint64_t begun_ns = fm_clock_now_ns();
    recovery->progress_ns = begun_ns;
    recovery->tick_count = 0;
    fm_status status = bring_back(recovery);
    if (status == FM_OK) {
        status = hand_over(recovery, NULL);
    }
    if (status != FM_OK) {
        fm_host_destroy(recovery->host);
        recovery->host = NULL;
        set_aside(recovery, status);
        return;
    }
    fm_log(FM_LOG_INFO, "world brought back", fm_log_uint("world", recovery->number),
           fm_log_text("file", recovery->path), fm_log_uint("tick", recovery->tick),
           fm_log_uint("ticks_replayed", recovery->tick_count),
           fm_log_real("ms", (double)(fm_clock_now_ns() - begun_ns) / (double)FM_NS_PER_MS));
}

bool fm_recovery_has_file(const char *folder, uint64_t world)
{
    struct dirent **entries;
    bool found = false;
    int count = scandir(folder, &entries, is_journal, alphasort);
    for (int i = 0; i < count; i++) {
        found = found || strtoull(entries[i]->d_name, NULL, 10) == world;
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return found;
}

static const char *name_of(const struct dirent *entry)
{
    const char *dash = strchr(entry->d_name, '-');
    return dash == NULL ? entry->d_name : dash + 1;
}

// Names are unique among living worlds. So if a later file has the same name, the earlier world was
// destroyed, and only the removal of its file was lost in a power failure: it must not come back in
// place of the later one.
static bool is_replaced(struct dirent *const *entries, int i, int count)
{
    for (int k = i + 1; k < count; k++) {
        if (strcmp(name_of(entries[k]), name_of(entries[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void end_file(const fm_recovery *recovery)
{
    char to[PATH_SIZE + 16];
    bool renamed = rename_files(recovery, "ended", to);
    fm_log(FM_LOG_WARNING, "world was destroyed, a later one has its name",
           fm_log_text("file", renamed ? to : recovery->path));
}

fm_status fm_recovery_run(fm_hub *hub)
{
    fm_recovery recovery = {.hub = hub};
    struct dirent **entries;
    int count = scandir(hub->config->journal_dir, &entries, is_journal, versionsort);
    if (count < 0) {
        return FM_ERR_IO;
    }
    fm_status status =
        fm_workers_create(fm_conductor_worker_count(hub->conductor), &recovery.workers);
    for (int i = 0; i < count; i++) {
        snprintf(recovery.path, sizeof recovery.path, "%s/%s", hub->config->journal_dir,
                 entries[i]->d_name);
        // Whatever happens to it, no other world gets its number.
        uint64_t number = strtoull(entries[i]->d_name, NULL, 10);
        hub->host_last = number > hub->host_last && number < INT64_MAX ? number : hub->host_last;
        bool was_ended = fm_journal_file_finish_aside(recovery.path);
        if (was_ended) {
            fm_log(FM_LOG_INFO, "journal was being set aside", fm_log_text("file", recovery.path));
        } else if (fm_journal_file_remove_unbegun(recovery.path)) {
            fm_log(FM_LOG_INFO, "world was being created", fm_log_text("file", recovery.path));
        } else if (status == FM_OK && is_replaced(entries, i, count)) {
            end_file(&recovery);
        } else if (status == FM_OK) {
            try_file(&recovery);
        }
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    fm_workers_destroy(recovery.workers);
    return status;
}
