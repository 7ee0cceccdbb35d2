// tests/sim/loop.c: libuv's event loop, timers, signals, async handles and thread pool, over the
// kernel. Streams are in tcp.c. The build checks that no function of the real libuv that does I/O
// is linked in.
//
// An iteration is like libuv's: timers, then ready handles, then closing handles. Ready handles are
// served in random order.

#include "tests/sim/loop.h"

#include "tests/sim/memory.h"
#include "tests/sim/sockets.h"

#include <signal.h>
#include <string.h>

#define HANDLES_MAX  2048u
#define POOL_THREADS 4u // as libuv has them

// What a callback costs that moves no bytes: nothing is free.
#define CALLBACK_NS (5 * SIM_NS_US)

struct loop {
    uv_loop_t *uv;
    sim_handle *handles[HANDLES_MAX]; // owned
    uint32_t handle_count;
    uint64_t now_ms; // as of this iteration
    uint64_t timer_last;
    uv_work_t *work_first, *work_last; // jobs that wait for a thread; linked by work_req.wq
    uv_work_t *done_first;             // jobs whose callbacks are due
    uint32_t working, work_count;
    sim_task *pool[POOL_THREADS];
    bool wake; // something happened since the loop last looked
};

static struct loop loops[SIM_NODES];

static const char wakes; // what the loops wait for

static struct loop *own(void)
{
    return &loops[sim_node()];
}

// All of them: it may be called outside of tasks.
void sim_loop_wake(void)
{
    for (uint32_t i = 0; i < SIM_NODES; i++) {
        loops[i].wake = true;
    }
    sim_wake(&wakes);
}

// ---- handles -----------------------------------------------------------------------------------

sim_handle *sim_handle_init(uv_loop_t *uv, void *memory, uv_handle_type type)
{
    FM_ASSERT(own()->handle_count < HANDLES_MAX && uv == own()->uv);
    sim_handle *handle = sim_own_allocate(sizeof *handle);
    uv_handle_t *head = memory;
    *handle = (sim_handle){.handle = head};
    head->loop = uv;
    head->type = type;
    head->close_cb = NULL;
    head->u.reserved[0] = handle;
    own()->handles[own()->handle_count++] = handle;
    return handle;
}

void uv_close(uv_handle_t *memory, uv_close_cb on_close)
{
    sim_handle *handle = sim_handle_of(memory);
    FM_ASSERT(!handle->is_closing);
    handle->is_closing = true;
    handle->is_active = false;
    memory->close_cb = on_close;
    if (memory->type == UV_TCP) {
        sim_stream_close(handle);
    }
    sim_loop_wake();
}

int uv_is_closing(const uv_handle_t *memory)
{
    return sim_handle_of(memory)->is_closing;
}

int uv_is_active(const uv_handle_t *memory)
{
    return sim_handle_of(memory)->is_active;
}

void uv_walk(uv_loop_t *uv, uv_walk_cb callback, void *context)
{
    FM_ASSERT(uv == own()->uv);
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        callback(own()->handles[i]->handle, context);
    }
}

// Calls the close callbacks of the handles that are closing when it begins.
static void close_handles(void)
{
    uint32_t count = own()->handle_count;
    for (uint32_t i = 0; i < count; i++) {
        sim_handle *handle = own()->handles[i];
        if (!handle->is_closing || handle->is_closed) {
            continue;
        }
        if (handle->handle->type == UV_TCP) {
            sim_stream_cancel(handle);
        }
        handle->is_closed = true;
        if (handle->handle->close_cb != NULL) {
            handle->handle->close_cb(handle->handle);
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        if (own()->handles[i]->is_closed) {
            sim_own_release(own()->handles[i]);
        } else {
            own()->handles[kept++] = own()->handles[i];
        }
    }
    own()->handle_count = kept;
}

// ---- timers ------------------------------------------------------------------------------------

int uv_timer_init(uv_loop_t *uv, uv_timer_t *timer)
{
    sim_handle_init(uv, timer, UV_TIMER);
    return 0;
}

int uv_timer_start(uv_timer_t *timer, uv_timer_cb callback, uint64_t timeout_ms, uint64_t repeat_ms)
{
    sim_handle *handle = sim_handle_of(timer);
    if (handle->is_closing || callback == NULL) {
        return UV_EINVAL;
    }
    timer->timer_cb = callback;
    timer->timeout = own()->now_ms + timeout_ms;
    timer->repeat = repeat_ms;
    timer->start_id = own()->timer_last++;
    handle->is_active = true;
    return 0;
}

int uv_timer_stop(uv_timer_t *timer)
{
    sim_handle_of(timer)->is_active = false;
    return 0;
}

// The timer that is due first; NULL: no timer is active.
static uv_timer_t *first_timer(void)
{
    uv_timer_t *first = NULL;
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        if (own()->handles[i]->handle->type != UV_TIMER || !own()->handles[i]->is_active) {
            continue;
        }
        uv_timer_t *timer = (uv_timer_t *)own()->handles[i]->handle;
        if (first == NULL || timer->timeout < first->timeout ||
            (timer->timeout == first->timeout && timer->start_id < first->start_id)) {
            first = timer;
        }
    }
    return first;
}

static void run_timers(void)
{
    for (uv_timer_t *timer = first_timer(); timer != NULL && timer->timeout <= own()->now_ms;
         timer = first_timer()) {
        sim_handle_of(timer)->is_active = false;
        if (timer->repeat > 0) {
            uv_timer_start(timer, timer->timer_cb, timer->repeat, timer->repeat);
        }
        sim_charge(CALLBACK_NS);
        timer->timer_cb(timer);
        sim_preempt();
    }
}

// ---- async handles and signals -----------------------------------------------------------------

int uv_async_init(uv_loop_t *uv, uv_async_t *async, uv_async_cb callback)
{
    sim_handle_init(uv, async, UV_ASYNC)->is_active = true;
    async->async_cb = callback;
    async->pending = 0;
    return 0;
}

int uv_async_send(uv_async_t *async)
{
    sim_preempt();
    async->pending = 1;
    sim_loop_wake();
    sim_preempt();
    return 0;
}

int uv_signal_init(uv_loop_t *uv, uv_signal_t *signal)
{
    sim_handle_init(uv, signal, UV_SIGNAL);
    return 0;
}

int uv_signal_start(uv_signal_t *signal, uv_signal_cb callback, int number)
{
    signal->signal_cb = callback;
    signal->signum = number;
    sim_handle_of(signal)->is_active = true;
    return 0;
}

int uv_signal_stop(uv_signal_t *signal)
{
    sim_handle_of(signal)->is_active = false;
    return 0;
}

void sim_signal(uint32_t node, int number)
{
    struct loop *loop = &loops[node];
    sim_trace("signal %d", number);
    for (uint32_t i = 0; i < loop->handle_count; i++) {
        sim_handle *handle = loop->handles[i];
        if (handle->handle->type == UV_SIGNAL && handle->is_active &&
            ((uv_signal_t *)handle->handle)->signum == number) {
            handle->signals++;
        }
    }
    sim_loop_wake();
}

// ---- descriptors, and what is done in each turn of the loop -------------------------------------

int uv_poll_init(uv_loop_t *uv, uv_poll_t *poll, int fd)
{
    sim_handle_init(uv, poll, UV_POLL)->fd = fd;
    return 0;
}

int uv_poll_start(uv_poll_t *poll, int events, uv_poll_cb on_poll)
{
    sim_handle *handle = sim_handle_of(poll);
    FM_ASSERT(!handle->is_closing && (events & ~(UV_READABLE | UV_WRITABLE)) == 0);
    handle->events = events;
    handle->on_poll = on_poll;
    handle->is_active = events != 0;
    return 0;
}

int uv_poll_stop(uv_poll_t *poll)
{
    sim_handle_of(poll)->is_active = false;
    return 0;
}

// Only listening ports are polled in this way.
static bool can_poll(const sim_handle *handle)
{
    return handle->is_active && (handle->events & UV_READABLE) != 0 &&
           sim_socket_can_read(handle->fd);
}

static void serve_poll(sim_handle *handle)
{
    sim_charge(CALLBACK_NS);
    handle->on_poll((uv_poll_t *)handle->handle, 0, UV_READABLE);
}

// ---- the thread pool ---------------------------------------------------------------------------

static void *work_on(void *argument)
{
    uv_work_t *work = argument;
    sim_preempt();
    work->work_cb(work);
    sim_preempt();
    work->work_req.wq[0] = own()->done_first;
    own()->done_first = work;
    own()->working--;
    sim_loop_wake();
    return NULL;
}

static void release_idle_threads(void)
{
    for (uint32_t i = 0; i < POOL_THREADS; i++) {
        if (own()->pool[i] != NULL && sim_task_is_done(own()->pool[i])) {
            sim_task_release(own()->pool[i]);
            own()->pool[i] = NULL;
        }
    }
}

static void give_work(void)
{
    release_idle_threads();
    for (uint32_t i = 0; i < POOL_THREADS && own()->work_first != NULL; i++) {
        if (own()->pool[i] == NULL) {
            uv_work_t *work = own()->work_first;
            own()->work_first = work->work_req.wq[0];
            own()->working++;
            own()->pool[i] = sim_task_create("pool", work_on, work);
        }
    }
}

int uv_queue_work(uv_loop_t *uv, uv_work_t *work, uv_work_cb run, uv_after_work_cb after)
{
    work->loop = uv;
    work->work_cb = run;
    work->after_work_cb = after;
    work->work_req.wq[0] = NULL;
    if (own()->work_first == NULL) {
        own()->work_first = work;
    } else {
        own()->work_last->work_req.wq[0] = work;
    }
    own()->work_last = work;
    own()->work_count++;
    give_work();
    sim_preempt();
    return 0;
}

// The job that was done last comes first: libuv does not promise an order.
static void finish_work(void)
{
    uv_work_t *work = own()->done_first;
    own()->done_first = work->work_req.wq[0];
    own()->work_count--;
    work->after_work_cb(work, 0);
    give_work();
}

// ---- the loop ----------------------------------------------------------------------------------

int uv_loop_init(uv_loop_t *uv)
{
    memset(own(), 0, sizeof *own());
    own()->uv = uv;
    own()->now_ms = sim_now_ns() / SIM_NS_MS;
    return 0;
}

int uv_loop_close(uv_loop_t *uv)
{
    (void)uv;
    if (own()->handle_count > 0 || own()->work_count > 0) {
        sim_fail("the loop is closed with %u handles", own()->handle_count);
    }
    while (own()->working > 0) {
        sim_wait(&wakes, SIM_NEVER);
    }
    release_idle_threads();
    own()->uv = NULL;
    return 0;
}

uint64_t uv_hrtime(void)
{
    return sim_now_ns();
}

static bool is_ready(const sim_handle *handle)
{
    if (handle->is_closing) {
        return false;
    }
    switch (handle->handle->type) {
    case UV_ASYNC:
        return ((const uv_async_t *)handle->handle)->pending != 0;
    case UV_SIGNAL:
        return handle->signals > 0;
    case UV_POLL:
        return can_poll(handle);
    case UV_TCP:
        return sim_stream_is_ready(handle);
    default:
        return false;
    }
}

static void serve(sim_handle *handle)
{
    if (handle->handle->type == UV_ASYNC) {
        uv_async_t *async = (uv_async_t *)handle->handle;
        async->pending = 0;
        async->async_cb(async);
    } else if (handle->handle->type == UV_SIGNAL) {
        uv_signal_t *signal = (uv_signal_t *)handle->handle;
        handle->signals--;
        signal->signal_cb(signal, signal->signum);
    } else if (handle->handle->type == UV_POLL) {
        serve_poll(handle);
    } else {
        sim_stream_serve(handle);
    }
}

// Serves all ready handles once, in random order. Handles that get ready meanwhile are served the
// next time. @return whether any handle was ready
static bool poll_once(void)
{
    sim_handle *ready[HANDLES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        if (is_ready(own()->handles[i])) {
            uint32_t at = sim_below(++count);
            ready[count - 1] = ready[at];
            ready[at] = own()->handles[i];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (is_ready(ready[i])) {
            serve(ready[i]);
            sim_preempt();
        }
    }
    bool worked = own()->done_first != NULL;
    while (own()->done_first != NULL) {
        finish_work();
        sim_preempt();
    }
    return count > 0 || worked;
}

void uv_stop(uv_loop_t *uv)
{
    (void)uv;
    sim_fail("somebody stops the loop, which ends by itself");
}

static bool is_alive(void)
{
    bool alive = own()->work_count > 0;
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        alive |= own()->handles[i]->is_active || own()->handles[i]->is_closing;
    }
    return alive;
}

static bool has_closing(void)
{
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        if (own()->handles[i]->is_closing) {
            return true;
        }
    }
    return false;
}

int uv_run(uv_loop_t *uv, uv_run_mode mode)
{
    FM_ASSERT(uv == own()->uv && mode == UV_RUN_DEFAULT);
    while (is_alive()) {
        own()->now_ms = sim_now_ns() / SIM_NS_MS;
        run_timers();
        own()->wake = false;
        bool worked = poll_once();
        if (!worked && !own()->wake && !has_closing() && is_alive()) {
            const uv_timer_t *timer = first_timer();
            sim_wait(&wakes, timer == NULL ? SIM_NEVER : timer->timeout * SIM_NS_MS);
        }
        close_handles();
        sim_preempt();
    }
    return 0;
}

// ---- other functions of libuv ------------------------------------------------------------------

int uv_resident_set_memory(size_t *size)
{
    *size = 1u << 20;
    return 0;
}

size_t sim_stream_unsent_max(void)
{
    size_t most = 0;
    for (uint32_t i = 0; i < own()->handle_count; i++) {
        if (own()->handles[i]->handle->type == UV_TCP) {
            size_t size = ((const uv_stream_t *)own()->handles[i]->handle)->write_queue_size;
            most = size > most ? size : most;
        }
    }
    return most;
}
