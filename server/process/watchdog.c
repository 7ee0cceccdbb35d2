// server/process/watchdog.c: see watchdog.h.

#include "server/process/watchdog.h"

#include "server/base/clock.h"
#include "server/base/log.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define LOOK_MS     250u
#define STALL_MIN_S 1.0

struct fm_watchdog {
    _Atomic uint64_t beats;
    uint32_t stall_looks, stop_looks;
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

uint32_t fm_watch_look(fm_watch *watch, uint64_t beats)
{
    watch->idle_looks = beats == watch->beats ? watch->idle_looks + 1 : 0;
    watch->beats = beats;
    return watch->idle_looks;
}

// @return false: there is nothing left to watch
static bool sleep_until_look(fm_watchdog *watchdog)
{
    uint64_t until_ns = fm_clock_now_ns() + LOOK_MS * FM_NS_PER_MS;
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
        uint32_t looks = fm_watch_look(&seen, atomic_load(&watchdog->beats));
        bool ends = atomic_load(&asked_to_end);
        if (looks >= watchdog->stall_looks || (ends && looks >= watchdog->stop_looks)) {
            fm_log(FM_LOG_ERROR, "the event loop stands still: the process ends",
                   fm_log_uint("ms", (uint64_t)looks * LOOK_MS), fm_log_bool("asked_to_end", ends),
                   fm_log_uint("exit_code", FM_WATCHDOG_EXIT));
            _exit(FM_WATCHDOG_EXIT);
        }
    }
}

void fm_watchdog_beat(fm_watchdog *watchdog)
{
    if (watchdog != NULL) {
        atomic_fetch_add(&watchdog->beats, 1);
    }
}

// ---- beginning and end --------------------------------------------------------------------------

static uint32_t looks_of(double seconds)
{
    seconds = seconds < STALL_MIN_S ? STALL_MIN_S : seconds;
    return (uint32_t)(seconds * 1000 / LOOK_MS);
}

fm_status fm_watchdog_create(double stall_s, double stop_s, fm_watchdog **out)
{
    fm_watchdog *watchdog = calloc(1, sizeof *watchdog);
    if (watchdog == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    watchdog->stall_looks = looks_of(stall_s);
    watchdog->stop_looks = looks_of(stop_s);
    uv_mutex_init(&watchdog->lock);
    uv_cond_init(&watchdog->changed);
    if (uv_thread_create(&watchdog->thread, watch, watchdog) != 0) {
        uv_cond_destroy(&watchdog->changed);
        uv_mutex_destroy(&watchdog->lock);
        free(watchdog);
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
    uv_cond_destroy(&watchdog->changed);
    uv_mutex_destroy(&watchdog->lock);
    free(watchdog);
}
