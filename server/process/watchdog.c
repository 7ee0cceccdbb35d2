// server/process/watchdog.c: see watchdog.h.

#include "server/process/watchdog.h"

#include "server/base/clock.h"
#include "server/base/log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define STALL_MIN_S 1.0
#define STAT_SIZE   1024u // of the text of a thread; ours are 200 to 350 bytes

struct fm_watchdog {
    const _Atomic uint64_t *beats;
    uint64_t stall_ns, stop_ns;
    _Atomic bool lets_wait; // stall_ns, also when asked to end
    int stat;               // of the loop's thread; -1: the system does not tell
    uv_thread_t thread;
    uv_mutex_t lock; // of `ended`
    uv_cond_t changed;
    bool ended;
};

// ---- signals ------------------------------------------------------------------------------------
//
// libuv's handler only writes to a pipe that the loop reads. This one runs before it.

static _Atomic bool asked_to_end;
static void (*next_handlers[NSIG])(int);

static void on_signal(int number)
{
    atomic_store(&asked_to_end, true);
    next_handlers[number](number);
}

static void listen_for(int number)
{
    struct sigaction action;
    bool has_handler = sigaction(number, NULL, &action) == 0 &&
                       (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL &&
                       action.sa_handler != SIG_IGN && action.sa_handler != on_signal;
    if (has_handler) {
        next_handlers[number] = action.sa_handler;
        action.sa_handler = on_signal;
        sigaction(number, &action, NULL);
    }
}

// ---- watching -----------------------------------------------------------------------------------

uint64_t fm_watch_look(fm_watch *watch, uint64_t beats, const fm_watch_thread *thread)
{
    uint64_t ran_ns = thread->ran_ns - watch->ran_ns;
    bool is_whole = thread->is_asleep || ran_ns > FM_WATCH_LOOK_NS;
    uint64_t own_ns = is_whole ? FM_WATCH_LOOK_NS : ran_ns;
    watch->idle_ns = beats == watch->beats ? watch->idle_ns + own_ns : 0;
    watch->beats = beats;
    watch->ran_ns = thread->ran_ns;
    return watch->idle_ns;
}

// Behind the name, which may hold anything: state, 10 numbers, ticks of the system's clock that it
// ran for itself and in the kernel.
bool fm_watch_thread_read(const char *text, fm_watch_thread *thread)
{
    const char *behind_name = strrchr(text, ')');
    char state;
    uint64_t user, kernel;
    if (behind_name == NULL ||
        sscanf(behind_name, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
               &state, &user, &kernel) != 3) {
        *thread = (fm_watch_thread){.is_asleep = true};
        return false;
    }
    thread->is_asleep = state == 'S' || state == 'D';
    thread->ran_ns = (user + kernel) * (FM_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
    return true;
}

// Where the system does not tell, all time counts.
static fm_watch_thread read_thread(const fm_watchdog *watchdog)
{
    char text[STAT_SIZE];
    fm_watch_thread thread;
    ssize_t size = watchdog->stat < 0 ? 0 : pread(watchdog->stat, text, sizeof text - 1, 0);
    text[size < 0 ? 0 : size] = '\0';
    (void)fm_watch_thread_read(text, &thread);
    return thread;
}

// @return false: there is nothing left to watch
static bool sleep_until_look(fm_watchdog *watchdog)
{
    uint64_t until_ns = fm_clock_now_ns() + FM_WATCH_LOOK_NS;
    uv_mutex_lock(&watchdog->lock);
    for (uint64_t now_ns = fm_clock_now_ns(); !watchdog->ended && now_ns < until_ns;
         now_ns = fm_clock_now_ns()) {
        (void)uv_cond_timedwait(&watchdog->changed, &watchdog->lock, until_ns - now_ns);
    }
    bool goes_on = !watchdog->ended;
    uv_mutex_unlock(&watchdog->lock);
    return goes_on;
}

static void watch(void *context)
{
    fm_watchdog *watchdog = context;
    fm_watch seen = {0};
    while (sleep_until_look(watchdog)) {
        fm_watch_thread thread = read_thread(watchdog);
        uint64_t idle_ns = fm_watch_look(&seen, atomic_load(watchdog->beats), &thread);
        bool asked = atomic_load(&asked_to_end);
        bool ends = asked && !atomic_load(&watchdog->lets_wait);
        if (idle_ns >= watchdog->stall_ns || (ends && idle_ns >= watchdog->stop_ns)) {
            fm_log(FM_LOG_ERROR, "the event loop stands still: the process ends",
                   fm_log_uint("ms", idle_ns / FM_NS_PER_MS), fm_log_bool("asked_to_end", asked),
                   fm_log_uint("exit_code", FM_WATCHDOG_EXIT));
            _exit(FM_WATCHDOG_EXIT);
        }
    }
}

void fm_watchdog_let_wait(fm_watchdog *watchdog)
{
    if (watchdog != NULL) {
        atomic_store(&watchdog->lets_wait, true);
    }
}

// ---- beginning and end --------------------------------------------------------------------------

static uint64_t ns_of(double seconds)
{
    return (uint64_t)((seconds < STALL_MIN_S ? STALL_MIN_S : seconds) * (double)FM_NS_PER_S);
}

static void release(fm_watchdog *watchdog)
{
    if (watchdog->stat >= 0) {
        close(watchdog->stat);
    }
    uv_cond_destroy(&watchdog->changed);
    uv_mutex_destroy(&watchdog->lock);
    free(watchdog);
}

fm_status fm_watchdog_create(const _Atomic uint64_t *beats, double stall_s, double stop_s,
                             fm_watchdog **out)
{
    fm_watchdog *watchdog = calloc(1, sizeof *watchdog);
    if (watchdog == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    watchdog->beats = beats;
    watchdog->stall_ns = ns_of(stall_s);
    watchdog->stop_ns = ns_of(stop_s);
    watchdog->stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
    uv_mutex_init(&watchdog->lock);
    uv_cond_init(&watchdog->changed);
    if (uv_thread_create(&watchdog->thread, watch, watchdog) != 0) {
        release(watchdog);
        return FM_ERR_NO_MEMORY;
    }
    listen_for(SIGTERM);
    listen_for(SIGINT);
    *out = watchdog;
    return FM_OK;
}

void fm_watchdog_destroy(fm_watchdog *watchdog)
{
    if (watchdog == NULL) {
        return;
    }
    uv_mutex_lock(&watchdog->lock);
    watchdog->ended = true;
    uv_cond_signal(&watchdog->changed);
    uv_mutex_unlock(&watchdog->lock);
    uv_thread_join(&watchdog->thread);
    release(watchdog);
}
