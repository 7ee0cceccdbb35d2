// tests/sim/threads.c: the functions of pthreads and of the clock that the server calls, over the
// kernel's tasks. The linker replaces the real functions with these (--wrap).
//
// A mutex's memory holds its owner. A condition variable's memory is not used: the kernel knows
// which tasks wait. Zeroed memory, such as PTHREAD_MUTEX_INITIALIZER, is a free mutex.

#include "tests/sim/kernel.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define UNIX_TIME_S 1735689600u // when the simulated machine starts

struct mutex {
    const void *owner;
};

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "a mutex must fit");
_Static_assert(sizeof(sim_task *) <= sizeof(pthread_t), "a task must fit");

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_destroy(pthread_cond_t *cond);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

// ---- threads -----------------------------------------------------------------------------------

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    (void)attributes;
    static const char *const names[] = {"thread 1", "thread 2", "thread 3", "thread 4",
                                        "thread 5", "thread 6", "thread 7", "thread 8"};
    static uint32_t count;
    sim_task *task = sim_task_create(names[count++ % FM_COUNT_OF(names)], run, argument);
    memcpy(thread, &task, sizeof task);
    sim_preempt();
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    sim_task *task;
    memcpy(&task, &thread, sizeof task);
    while (!sim_task_is_done(task)) {
        sim_wait(task, SIM_NEVER);
    }
    sim_task_release(task);
    if (result != NULL) {
        *result = NULL; // the server's threads return nothing
    }
    return 0;
}

// The simulation names its tasks itself.
int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread, (void)name;
    return 0;
}

// ---- mutexes -----------------------------------------------------------------------------------

static struct mutex *mutex_of(pthread_mutex_t *mutex)
{
    return (struct mutex *)(void *)mutex;
}

// The owner that a mutex locked now gets: the running task, or a fixed address outside of tasks.
static const void *self(void)
{
    static const char outside;
    return sim_task_current() != NULL ? (const void *)sim_task_current() : &outside;
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    mutex_of(mutex)->owner = NULL;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (mutex_of(mutex)->owner != NULL) {
        sim_fail("a mutex is destroyed while it is held");
    }
    return 0;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sim_preempt();
    if (mutex_of(mutex)->owner == self()) {
        sim_fail("a thread takes a mutex that it holds");
    }
    while (mutex_of(mutex)->owner != NULL) {
        sim_wait(mutex, SIM_NEVER);
    }
    mutex_of(mutex)->owner = self();
    return 0;
}

static void unlock(pthread_mutex_t *mutex)
{
    if (mutex_of(mutex)->owner != self()) {
        sim_fail("a thread gives back a mutex that it does not hold");
    }
    mutex_of(mutex)->owner = NULL;
    sim_wake(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    unlock(mutex);
    sim_preempt();
    return 0;
}

// ---- condition variables -----------------------------------------------------------------------

int __wrap_pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    (void)attributes;
    memset(cond, 0, sizeof *cond);
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static bool wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until_ns)
{
    unlock(mutex);
    bool for_nothing = sim_chance(sim_rough.spurious_permille);
    if (for_nothing) {
        sim_note_fault(SIM_FAULT_WOKEN);
    }
    bool woken = sim_wait(cond, for_nothing ? sim_now_ns() : until_ns) || for_nothing;
    __wrap_pthread_mutex_lock(mutex);
    return woken;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    wait_for(cond, mutex, SIM_NEVER);
    return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    uint64_t until_ns = (uint64_t)until->tv_sec * SIM_NS_S + (uint64_t)until->tv_nsec;
    return wait_for(cond, mutex, until_ns) ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
    sim_wake_one(cond);
    sim_preempt();
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    sim_wake(cond);
    sim_preempt();
    return 0;
}

// ---- the same under libuv's names --------------------------------------------------------------

int uv_thread_create(uv_thread_t *thread, uv_thread_cb run, void *argument)
{
    // A libuv thread returns nothing, and nothing reads the result of a pthread.
    return __wrap_pthread_create(thread, NULL, (void *(*)(void *))(void *)run, argument);
}

int uv_thread_join(uv_thread_t *thread)
{
    return __wrap_pthread_join(*thread, NULL);
}

int uv_mutex_init(uv_mutex_t *mutex)
{
    return __wrap_pthread_mutex_init(mutex, NULL);
}

void uv_mutex_destroy(uv_mutex_t *mutex)
{
    __wrap_pthread_mutex_destroy(mutex);
}

void uv_mutex_lock(uv_mutex_t *mutex)
{
    __wrap_pthread_mutex_lock(mutex);
}

void uv_mutex_unlock(uv_mutex_t *mutex)
{
    __wrap_pthread_mutex_unlock(mutex);
}

int uv_cond_init(uv_cond_t *cond)
{
    return __wrap_pthread_cond_init(cond, NULL);
}

void uv_cond_destroy(uv_cond_t *cond)
{
    __wrap_pthread_cond_destroy(cond);
}

void uv_cond_signal(uv_cond_t *cond)
{
    __wrap_pthread_cond_signal(cond);
}

void uv_cond_broadcast(uv_cond_t *cond)
{
    __wrap_pthread_cond_broadcast(cond);
}

void uv_cond_wait(uv_cond_t *cond, uv_mutex_t *mutex)
{
    __wrap_pthread_cond_wait(cond, mutex);
}

int uv_cond_timedwait(uv_cond_t *cond, uv_mutex_t *mutex, uint64_t timeout_ns)
{
    return wait_for(cond, mutex, sim_now_ns() + timeout_ns) ? 0 : UV_ETIMEDOUT;
}

void uv_sleep(unsigned int ms)
{
    static const char sleeper;
    sim_wait(&sleeper, sim_now_ns() + ms * SIM_NS_MS);
}

// ---- the clock ---------------------------------------------------------------------------------

static void tell_time(clockid_t clock, struct timespec *now)
{
    uint64_t ns = sim_now_ns();
    now->tv_sec = (time_t)(ns / SIM_NS_S) + (clock == CLOCK_REALTIME ? UNIX_TIME_S : 0);
    now->tv_nsec = (long)(ns % SIM_NS_S);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (sim_task_current() != NULL && sim_rough.look_max_ns > 0) {
        sim_charge(sim_below(sim_rough.look_max_ns));
    }
    tell_time(clock, now);
    return 0;
}

// The clock for libraries, at no cost. Outside of tasks it is the system's.
int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (sim_task_current() == NULL) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    tell_time(clock, now);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    *now = (struct timeval){.tv_sec = precise.tv_sec, .tv_usec = precise.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
