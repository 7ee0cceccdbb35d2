// server/worlds/conductor.c: see conductor.h. This file has the thread, and decides which world has
// its turn when. live.c and playback.c define what a turn is, jobs.c what a job does.

#include "server/worlds/conductor.h"

#include "server/base/clock.h"
#include "server/worlds/following.h"
#include "server/worlds/jobs.h"
#include "server/worlds/live.h"
#include "server/worlds/outbox.h"
#include "server/worlds/playback.h"
#include "server/worlds/publish.h"
#include "server/worlds/queries.h"
#include "server/worlds/recording.h"
#include "server/worlds/shares.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define JOBS_AT_LEAST  64u                // of a world in one round, whatever is due ...
#define JOBS_SLICE_NS  (2 * FM_NS_PER_MS) // ... unless those of all worlds take longer than this
#define SMALL_TICK_NS  500000.0           // worlds whose ticks are shorter ...
#define SMALL_AGENTS   1000u              // ... and that have fewer agents run one per worker
#define QUERY_SLICE_NS (FM_NS_PER_MS / 4) // queries get at least this between two ticks ...
#define QUERY_SHARE    16u // ... and this part of the time where ticks are always late
#define REPLAYS_NICE   10  // as in nice(1)

// A world's place among those of a conductor: all that a turn reads of worlds where nothing
// happens, of which there may be thousands.
struct place {
    fm_host *host;
    uint64_t wanted_ns; // when it wants its next turn
    bool rests;         // until then, unless something is posted
    bool is_busy;       // listed in `busy`
};

struct fm_conductor {
    const fm_config *config;
    const fm_host_kind *kind; // of all its worlds but those that follow another server's
    fm_mailbox mailbox;
    fm_journals *journals; // owned; NULL: worlds have none

    // The thread's own.
    pthread_t thread;
    bool has_thread; // false: the caller drives it by fm_conductor_turn()
    bool for_replays;
    bool is_fenced;   // its worlds' journals go to a cluster's log first
    fm_event stopped; // its last event
    fm_workers *workers;
    fm_scratch scratches[FM_WORKERS_MAX]; // for queries; by worker
    struct place *places;                 // owned array
    uint32_t host_count, place_capacity;
    fm_host **due; // of this turn; room for all hosts, like `busy`
    uint32_t due_capacity;
    uint32_t due_count;
    fm_host **busy; // hosts that want more of this turn than their jobs
    uint32_t busy_capacity;
    uint32_t busy_count;
    uint64_t idle_until_ns; // when the first of the others wants a turn
    uint64_t soonest_ns;    // when the first of all does; never later than that
    uint32_t query_turn;    // index of the world whose queries search first
};

// ---- for the event loop ------------------------------------------------------------------------

fm_status fm_conductor_post(fm_conductor *conductor, fm_job *job)
{
    return fm_mailbox_post(&conductor->mailbox, job);
}

fm_event *fm_conductor_receive(fm_conductor *conductor)
{
    return fm_mailbox_receive(&conductor->mailbox);
}

fm_host_summary fm_conductor_summary(fm_conductor *conductor, const fm_host *host)
{
    return fm_mailbox_summary(&conductor->mailbox, host);
}

uint64_t fm_conductor_nudge(fm_conductor *conductor)
{
    return fm_mailbox_nudge(&conductor->mailbox);
}

void fm_conductor_set_standby(fm_conductor *conductor, bool has_standby, bool waits_for_it,
                              bool is_in_step)
{
    atomic_store(&conductor->mailbox.has_standby, has_standby);
    atomic_store(&conductor->mailbox.waits_for_copies, waits_for_it);
    atomic_store(&conductor->mailbox.is_in_step, is_in_step);
    if (conductor->journals != NULL) {
        fm_journals_look_again(conductor->journals);
    }
}

fm_journals *fm_conductor_journals(const fm_conductor *conductor)
{
    return conductor->journals;
}

static const fm_host_kind *kind_of(const fm_conductor *conductor, const fm_host *host)
{
    return fm_following_does(host) ? &fm_following_kind : conductor->kind;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

// A new world, or a job that may have made its world's next tick due.
static void note_due(fm_conductor *conductor, const fm_host *host)
{
    uint64_t due_ns = kind_of(conductor, host)->due_ns(conductor->config, host);
    conductor->soonest_ns = earlier(conductor->soonest_ns, due_ns);
}

// ---- hosts -------------------------------------------------------------------------------------

static bool hosts_reserve(fm_conductor *conductor)
{
    uint32_t wanted = conductor->host_count + 1;
    return fm_reserve(&fm_memory_libc, (void **)&conductor->places, &conductor->place_capacity,
                      wanted, sizeof(struct place)) &&
           fm_reserve(&fm_memory_libc, (void **)&conductor->due, &conductor->due_capacity, wanted,
                      sizeof(fm_host *)) &&
           fm_reserve(&fm_memory_libc, (void **)&conductor->busy, &conductor->busy_capacity, wanted,
                      sizeof(fm_host *));
}

static void add_host(fm_conductor *conductor, fm_job *job, uint64_t now_ns)
{
    fm_host *host = job->host;
    if (!hosts_reserve(conductor)) {
        fm_outbox_finish_at_once(&conductor->mailbox, job, FM_ERR_NO_MEMORY);
        return;
    }
    host->place = conductor->host_count++;
    conductor->places[host->place] = (struct place){.host = host};
    fm_pacer_init(&host->pacer, host->tick_hz, host->budget_ms, host->overload, now_ns);
    note_due(conductor, host);
    kind_of(conductor, host)->show(&conductor->mailbox, host);
    // Where a standby must have everything first, its position must be known.
    if (conductor->config->durability == FM_DURABILITY_REPLICA) {
        fm_outbox_finish_at_once(&conductor->mailbox, job, FM_OK);
    } else {
        fm_outbox_finish(&conductor->mailbox, job, FM_OK);
    }
}

// What is asked of a world that is about to be destroyed is answered so. In a cluster another node
// may have it, as the end of its log will show.
static fm_status status_of_end(const fm_conductor *conductor, const fm_host *host)
{
    return conductor->is_fenced && host->recording.journal != NULL ? FM_ERR_NOT_READY
                                                                   : FM_ERR_NO_WORLD;
}

static void remove_host(fm_conductor *conductor, fm_job *job)
{
    fm_host *host = job->host;
    fm_following_discard(host);
    bool is_lost = host->recording.journal != NULL && fm_journal_is_lost(host->recording.journal);
    bool is_left = job->remove.is_left;
    fm_jobs_abandon(&conductor->mailbox, host,
                    is_lost || is_left ? FM_ERR_MOVED : status_of_end(conductor, host));
    if (is_left && (job->remove.with_keyframe || fm_recording_has_lost_track(host))) {
        fm_recording_flush(&conductor->mailbox, host); // a batch has room for one
        bool made = fm_recording_add_last_keyframe(host, true);
        if (!made && job->remove.with_keyframe) {
            fm_recording_keep_owner(host);
        }
    }
    struct place last = conductor->places[--conductor->host_count];
    conductor->places[host->place] = last;
    last.host->place = host->place;
    // Behind this the loop may have released the host.
    if (host->recording.journal == NULL) {
        fm_outbox_finish(&conductor->mailbox, job, FM_OK);
    } else {
        fm_outbox_close(job, FM_OK);
        fm_recording_end(host, &job->event, is_left);
    }
}

// ---- ticking -----------------------------------------------------------------------------------

static void tick_small_hosts(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_conductor *conductor = context;
    for (uint32_t i = begin; i < end; i++) {
        fm_host *host = conductor->due[i];
        kind_of(conductor, host)->turn(&conductor->mailbox, host, NULL);
    }
}

// Small worlds go to the front of `due`. Returns how many there are.
static uint32_t collect_due(fm_conductor *conductor, uint64_t now_ns)
{
    uint32_t small_count = 0;
    conductor->due_count = 0;
    for (uint32_t i = 0; i < conductor->busy_count; i++) {
        fm_host *host = conductor->busy[i];
        if (kind_of(conductor, host)->due_ns(conductor->config, host) > now_ns) {
            continue;
        }
        conductor->due[conductor->due_count++] = host;
        if (host->tick_ns < SMALL_TICK_NS && host->agents < SMALL_AGENTS) {
            conductor->due[conductor->due_count - 1] = conductor->due[small_count];
            conductor->due[small_count++] = host;
        }
    }
    return small_count;
}

static void run_due_ticks(fm_conductor *conductor, uint64_t now_ns)
{
    uint32_t small_count = collect_due(conductor, now_ns);
    if (small_count > 1) {
        fm_workers_run(conductor->workers, small_count, 1, tick_small_hosts, conductor);
    }
    for (uint32_t i = small_count > 1 ? small_count : 0; i < conductor->due_count; i++) {
        fm_host *host = conductor->due[i];
        kind_of(conductor, host)->turn(&conductor->mailbox, host, conductor->workers);
    }
}

// A snapshot of a view may be large: the next one waits until the loop has taken in the others.
static bool waits_for_loop(const fm_conductor *conductor, const fm_host *host)
{
    return host->backlog.first != NULL &&
           ((const fm_job *)host->backlog.first)->kind == FM_JOB_WATCH &&
           atomic_load(&host->published_unread_size) >= FM_PUBLISHED_UNREAD_MAX &&
           !kind_of(conductor, host)->refuses(conductor->config, host, FM_JOB_WATCH);
}

// When a world wants its next turn; UINT64_MAX: only after a job.
static uint64_t wanted_ns(const fm_conductor *conductor, const fm_host *host, uint64_t now_ns)
{
    uint64_t due_ns = kind_of(conductor, host)->due_ns(conductor->config, host);
    bool is_held_up = fm_recording_is_watched(host) || waits_for_loop(conductor, host);
    return is_held_up && due_ns > now_ns + FM_HELD_UP_NS ? now_ns + FM_HELD_UP_NS : due_ns;
}

static void note_busy(fm_conductor *conductor, struct place *place)
{
    place->is_busy = true;
    conductor->busy[conductor->busy_count++] = place->host;
}

// A world whose jobs had their turn. The rest of the turn goes through those that are busy.
static void note_world(fm_conductor *conductor, struct place *place, uint64_t now_ns)
{
    fm_host *host = place->host;
    place->wanted_ns = wanted_ns(conductor, host, now_ns);
    place->rests = place->is_busy = false;
    if (place->wanted_ns <= now_ns || host->backlog.first != NULL || host->queries.count > 0) {
        note_busy(conductor, place);
        return;
    }
    // Another thread may change a world that follows, or that the cluster takes away.
    place->rests = !conductor->is_fenced && !fm_following_does(host) &&
                   fm_recording_is_at_rest(conductor->config, host);
    conductor->idle_until_ns = earlier(conductor->idle_until_ns, place->wanted_ns);
}

static void note_none(fm_conductor *conductor)
{
    conductor->busy_count = 0;
    conductor->idle_until_ns = UINT64_MAX;
}

// While jobs were done, others have become due.
static void note_those_due(fm_conductor *conductor, uint64_t now_ns)
{
    conductor->idle_until_ns = UINT64_MAX;
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        struct place *place = &conductor->places[i];
        if (!place->is_busy && place->wanted_ns <= now_ns) {
            place->rests = false;
            note_busy(conductor, place);
        } else if (!place->is_busy) {
            conductor->idle_until_ns = earlier(conductor->idle_until_ns, place->wanted_ns);
        }
    }
}

// What was written may have changed any of them.
static void note_all_again(fm_conductor *conductor, uint64_t now_ns)
{
    note_none(conductor);
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        note_world(conductor, &conductor->places[i], now_ns);
    }
}

static uint64_t find_soonest(const fm_conductor *conductor, uint64_t now_ns)
{
    uint64_t soonest_ns = conductor->idle_until_ns;
    for (uint32_t i = 0; i < conductor->busy_count; i++) {
        soonest_ns = earlier(soonest_ns, wanted_ns(conductor, conductor->busy[i], now_ns));
    }
    return soonest_ns;
}

// ---- jobs --------------------------------------------------------------------------------------

// A job under way may block the next ones, so that pipelined requests are done in order, and so may
// snapshots that the loop has not taken in.
static bool must_wait(const fm_conductor *conductor, const fm_host *host)
{
    return kind_of(conductor, host)->holds_up_jobs(conductor->config, host) ||
           waits_for_loop(conductor, host);
}

// The end of the world, which is always the last job, does not wait: those before it that would
// have to are not done.
static bool is_to_end(const fm_conductor *conductor, const fm_host *host)
{
    return ((const fm_job *)host->backlog.last)->kind == FM_JOB_REMOVE &&
           must_wait(conductor, host);
}

// Takes the end out of the backlog. @return it; NULL: nothing is to end
static fm_job *take_end(fm_host *host)
{
    fm_job *end = NULL;
    fm_events before = {0};
    while (host->backlog.first != NULL) {
        fm_job *job = fm_shares_take(host);
        if (job->kind == FM_JOB_REMOVE) {
            end = job;
        } else {
            fm_events_append(&before, &job->event);
        }
    }
    host->backlog = before;
    return end;
}

// Whether the world is about to end and what comes before that was asked by somebody else: it would
// only hold up the end. What the same session asked for is done first, in order.
static bool comes_too_late(const fm_host *host, const fm_job *job)
{
    const fm_job *last = (const fm_job *)host->backlog.last;
    return host->backlog.first != NULL && last->kind == FM_JOB_REMOVE && !last->remove.is_left &&
           job->session != last->session;
}

// While the journal cannot be written, a refusal must not wait for it.
static void run_job(fm_conductor *conductor, fm_host *host, fm_job *job)
{
    const fm_host_kind *kind = kind_of(conductor, host);
    if (kind->refuses(conductor->config, host, job->kind)) {
        fm_outbox_finish_at_once(&conductor->mailbox, job, FM_ERR_IO);
    } else {
        fm_jobs_run(&conductor->mailbox, host, kind, job);
    }
}

// Jobs must progress even if ticks are always late, but requests must not make ticks late. So each
// world does at least one job.
static bool is_enough(fm_conductor *conductor, uint32_t done, uint64_t begun_ns, uint64_t now_ns)
{
    bool much = done >= JOBS_AT_LEAST || (done > 0 && now_ns - begun_ns > JOBS_SLICE_NS);
    return much && conductor->soonest_ns <= now_ns;
}

// Returns whether the world goes on: once it has ended, the loop may have released it.
static bool run_backlog(fm_conductor *conductor, fm_host *host, uint64_t begun_ns)
{
    kind_of(conductor, host)->prepare(&conductor->mailbox, host);
    bool worked = false;
    for (uint32_t done = 0; host->backlog.first != NULL; done++) {
        if (is_to_end(conductor, host)) {
            remove_host(conductor, take_end(host));
            return false;
        }
        if (must_wait(conductor, host)) {
            break;
        }
        uint64_t now_ns = fm_clock_now_ns();
        if (is_enough(conductor, done, begun_ns, now_ns)) {
            break;
        }
        fm_job *job = fm_shares_take(host);
        fm_shares_begin(job);
        if (job->kind == FM_JOB_REMOVE) {
            remove_host(conductor, job);
            return false;
        }
        if (comes_too_late(host, job)) {
            fm_outbox_finish(&conductor->mailbox, job, status_of_end(conductor, host));
            continue;
        }
        run_job(conductor, host, job);
        note_due(conductor, host);
        if (!host->paused) { // removed worlds cannot be late
            fm_pacer_spend(&host->pacer, fm_clock_now_ns() - now_ns);
        }
        worked = true;
    }
    if (worked) {
        kind_of(conductor, host)->show(&conductor->mailbox, host);
    }
    fm_recording_flush(&conductor->mailbox, host);
    return true;
}

// From the last to the first, because a world that ends is replaced in the list by the last one.
static void run_backlogs(fm_conductor *conductor)
{
    uint64_t begun_ns = fm_clock_now_ns();
    note_none(conductor);
    for (uint32_t i = conductor->host_count; i-- > 0;) {
        struct place *place = &conductor->places[i];
        if (place->rests && place->wanted_ns > begun_ns) {
            conductor->idle_until_ns = earlier(conductor->idle_until_ns, place->wanted_ns);
        } else if (run_backlog(conductor, place->host, begun_ns)) {
            note_world(conductor, place, begun_ns);
        }
    }
}

// Takes in what the loop has posted. New worlds, announced by their first job, join the others.
static void take_posted(fm_conductor *conductor)
{
    fm_host *host;
    while ((host = fm_mailbox_take(&conductor->mailbox)) != NULL) {
        if (((fm_job *)host->backlog.first)->kind == FM_JOB_ADD) {
            add_host(conductor, fm_shares_take(host), fm_clock_now_ns());
        } else {
            conductor->places[host->place].rests = false;
        }
    }
}

// ---- the thread --------------------------------------------------------------------------------

static uint32_t count_asked(const fm_conductor *conductor)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < conductor->busy_count; i++) {
        count += conductor->busy[i]->queries.count > 0;
    }
    return count;
}

// Each world that is asked something searches for an equal part of the time left, QUERY_SLICE_NS at
// least. Those that get no turn in the time come first the next time; so does another one if all
// have had theirs. Returns whether some are still running.
static bool search_in_turn(fm_conductor *conductor, uint64_t end_ns)
{
    uint32_t asked_count = count_asked(conductor), host_count = conductor->host_count;
    uint32_t first = host_count == 0 ? 0 : conductor->query_turn % host_count;
    uint32_t left = asked_count, unfinished = 0;
    for (uint32_t i = 0; i < host_count && left > 0; i++) {
        fm_host *host = conductor->places[(first + i) % host_count].host;
        if (host->queries.count == 0) {
            continue;
        }
        uint64_t now_ns = fm_clock_now_ns();
        if (left < asked_count && now_ns >= end_ns) {
            conductor->query_turn = (first + i) % host_count;
            return true;
        }
        uint64_t part_ns = now_ns < end_ns ? (end_ns - now_ns) / left : 0;
        part_ns = part_ns < QUERY_SLICE_NS ? QUERY_SLICE_NS : part_ns;
        unfinished += fm_queries_search(&conductor->mailbox, host, conductor->workers,
                                        conductor->scratches, now_ns + part_ns);
        left -= 1;
    }
    conductor->query_turn = first + 1;
    return unfinished > 0;
}

// What queries get whatever is due. A fixed slice would be nothing beside ticks of 100 ms: where
// ticks are always late, a field of 4096 x 4096 cells took 187 s, and now takes 0.8 to 3.4 s.
static uint64_t least_ns_for_queries(uint64_t worked_ns, uint64_t budget_ns)
{
    uint64_t share_ns = worked_ns / (QUERY_SHARE - 1);
    share_ns = share_ns < budget_ns ? share_ns : budget_ns;
    return share_ns < QUERY_SLICE_NS ? QUERY_SLICE_NS : share_ns;
}

// Lets queries search until the next tick is due, for query_budget_ms at most and for their share
// at least. Returns whether some are still running.
//
// @param begun_ns  when this turn's jobs and ticks began; time asleep gives queries no share
static bool run_queries(fm_conductor *conductor, uint64_t begun_ns)
{
    uint64_t now_ns = fm_clock_now_ns();
    uint64_t budget_ns = (uint64_t)(conductor->config->query_budget_ms * 1e6);
    uint64_t least_ns = least_ns_for_queries(now_ns - begun_ns, budget_ns);
    uint64_t end_ns = now_ns + budget_ns;
    uint64_t due_ns = find_soonest(conductor, now_ns);
    end_ns = due_ns < end_ns ? due_ns : end_ns;
    end_ns = end_ns < now_ns + least_ns ? now_ns + least_ns : end_ns;
    bool running = search_in_turn(conductor, end_ns);
    for (uint32_t i = 0; i < conductor->busy_count; i++) {
        fm_recording_flush(&conductor->mailbox, conductor->busy[i]);
    }
    return running;
}

static bool has_backlog(const fm_conductor *conductor)
{
    for (uint32_t i = 0; i < conductor->busy_count; i++) {
        const fm_host *host = conductor->busy[i];
        if (host->backlog.first != NULL &&
            (!must_wait(conductor, host) || is_to_end(conductor, host))) {
            return true;
        }
    }
    return false;
}

// A world whose end was asked for ends before all do: when its last job is given back, the loop
// releases it, whatever this thread and the journals' still want of it.
static void end_if_asked(fm_conductor *conductor, fm_host *host)
{
    fm_job *end = take_end(host);
    fm_jobs_abandon(&conductor->mailbox, host, FM_ERR_GOING_DOWN);
    if (end != NULL) {
        remove_host(conductor, end);
    }
}

static void say_stopped(fm_conductor *conductor)
{
    conductor->stopped.kind = FM_EVENT_STOPPED;
    take_posted(conductor);
    for (uint32_t i = conductor->host_count; i-- > 0;) {
        end_if_asked(conductor, conductor->places[i].host);
    }
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        fm_host *host = conductor->places[i].host;
        fm_following_end(host);
        (void)fm_recording_add_last_keyframe(host, false);
        fm_recording_flush(&conductor->mailbox, host);
    }
    if (conductor->journals != NULL) {
        fm_journals_stop(conductor->journals);
    }
    for (uint32_t i = 0; i < conductor->host_count; i++) {
        fm_recording_give_up(&conductor->mailbox,
                             conductor->places[i].host); // for which memory ran out
    }
    fm_mailbox_emit(&conductor->mailbox, &conductor->stopped, &conductor->stopped);
}

uint64_t fm_conductor_turn(fm_conductor *conductor)
{
    uint64_t begun_ns = fm_clock_now_ns();
    take_posted(conductor);
    run_backlogs(conductor);
    uint64_t now_ns = fm_clock_now_ns();
    if (conductor->idle_until_ns <= now_ns) {
        note_those_due(conductor, now_ns);
    }
    run_due_ticks(conductor, now_ns);
    bool busy = run_queries(conductor, begun_ns) || has_backlog(conductor);
    uint64_t written_ns = UINT64_MAX;
    if (conductor->journals != NULL && !conductor->has_thread) {
        written_ns = fm_journals_turn(conductor->journals);
        note_all_again(conductor, fm_clock_now_ns());
    }
    conductor->soonest_ns = find_soonest(conductor, fm_clock_now_ns());
    return busy ? 0 : earlier(conductor->soonest_ns, written_ns);
}

static void *conduct(void *context)
{
    fm_conductor *conductor = context;
    bool stop = false;
    // For top(1) and gdb.
    pthread_setname_np(pthread_self(), conductor->for_replays ? "replays" : "conductor");
    if (conductor->for_replays) {
        // Lowers the priority of this thread. Ignores a refusal: configs/fogmarchd.service forbids
        // it.
        (void)setpriority(PRIO_PROCESS, 0, REPLAYS_NICE);
    }
    while (!stop) {
        uint64_t until_ns = fm_conductor_turn(conductor);
        stop = fm_mailbox_wait(&conductor->mailbox, until_ns);
    }
    say_stopped(conductor);
    return NULL;
}

// ---- beginning and end -------------------------------------------------------------------------

static void release(fm_conductor *conductor)
{
    fm_journals_destroy(conductor->journals);
    fm_workers_destroy(conductor->workers);
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_fini(&conductor->scratches[i]);
    }
    fm_mailbox_fini(&conductor->mailbox);
    free(conductor->places);
    free(conductor->due);
    free(conductor->busy);
    free(conductor);
}

static uint32_t worker_count_of(const fm_config *config)
{
    if (config->workers > 0) {
        return (uint32_t)config->workers;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1) {
        return 1;
    }
    return processors > FM_WORKERS_MAX ? FM_WORKERS_MAX : (uint32_t)processors;
}

static fm_status create_journals(fm_conductor *conductor, bool driven,
                                 const fm_journal_fence *fence)
{
    const fm_config *config = conductor->config;
    if (config->journal_dir[0] == '\0') {
        return FM_OK;
    }
    const fm_journal_options options = {
        .folder = config->journal_dir,
        .durability =
            config->durability == FM_DURABILITY_REPLICA ? FM_DURABILITY_TICK : config->durability,
        .interval_ms = config->journal_interval_ms,
        .retry_ms = FM_JOURNAL_RETRY_MS,
        .size_max = config->journal_size_max,
        .keep = config->journal_keep,
        .driven = driven,
        .released = fm_recording_released,
        .failed = fm_recording_failed,
        .committed = fm_recording_committed,
        .copied = config->durability == FM_DURABILITY_REPLICA ? fm_recording_copied : NULL,
        .context = &conductor->mailbox,
        .fence = fence,
    };
    return fm_journals_create(&options, &conductor->journals);
}

static fm_status create(const fm_config *config, bool driven, bool for_replays,
                        const fm_journal_fence *fence, void (*on_event)(void *context),
                        void *context, fm_conductor **out)
{
    fm_conductor *conductor = calloc(1, sizeof *conductor);
    if (conductor == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    conductor->config = config;
    conductor->kind = for_replays ? &fm_playback_kind : &fm_live_kind;
    fm_mailbox_init(&conductor->mailbox, config, on_event, context);
    atomic_store(&conductor->mailbox.waits_for_copies,
                 config->durability == FM_DURABILITY_REPLICA &&
                     config->replica_missing == FM_REPLICA_BLOCK);
    for (uint32_t i = 0; i < FM_WORKERS_MAX; i++) {
        fm_scratch_init(&conductor->scratches[i], &fm_memory_libc);
    }
    conductor->for_replays = for_replays;
    conductor->is_fenced = fence != NULL;
    uint32_t worker_count = for_replays ? 1 : worker_count_of(config);
    if (fm_workers_create(worker_count, &conductor->workers) != FM_OK ||
        (!for_replays && create_journals(conductor, driven, fence) != FM_OK)) {
        release(conductor);
        return FM_ERR_NO_MEMORY;
    }
    *out = conductor;
    return FM_OK;
}

fm_status fm_conductor_create_driven(const fm_config *config, bool for_replays,
                                     void (*on_event)(void *context), void *context,
                                     fm_conductor **out)
{
    return create(config, true, for_replays, NULL, on_event, context, out);
}

static fm_status start(fm_conductor *conductor, fm_conductor **out)
{
    conductor->has_thread = true; // before the thread reads it
    if (pthread_create(&conductor->thread, NULL, conduct, conductor) != 0) {
        release(conductor);
        return FM_ERR_NO_MEMORY;
    }
    *out = conductor;
    return FM_OK;
}

fm_status fm_conductor_create(const fm_config *config, const fm_journal_fence *fence,
                              void (*on_event)(void *context), void *context, fm_conductor **out)
{
    fm_conductor *conductor;
    fm_status status = create(config, false, false, fence, on_event, context, &conductor);
    return status == FM_OK ? start(conductor, out) : status;
}

fm_status fm_conductor_create_for_replays(const fm_config *config, void (*on_event)(void *context),
                                          void *context, fm_conductor **out)
{
    fm_conductor *conductor;
    fm_status status = create(config, false, true, NULL, on_event, context, &conductor);
    return status == FM_OK ? start(conductor, out) : status;
}

void fm_conductor_stop(fm_conductor *conductor)
{
    fm_mailbox_stop(&conductor->mailbox);
    if (!conductor->has_thread) {
        say_stopped(conductor);
    }
}

void fm_conductor_destroy(fm_conductor *conductor)
{
    if (conductor != NULL) {
        if (conductor->has_thread) {
            pthread_join(conductor->thread, NULL);
        }
        release(conductor);
    }
}

uint32_t fm_conductor_worker_count(const fm_conductor *conductor)
{
    return fm_workers_count(conductor->workers);
}
