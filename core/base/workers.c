// core/base/workers.c: see workers.h. One job at a time, behind a gate: helpers enter while it is
// open, and the caller shuts it when all blocks are taken.
//
//   SHUT ── the caller has written `job` ──> OPEN ── no block is left ──> SHUT, helpers inside
//     ^                                       │                                │
//     └─────────── the last helper leaves ────┴────────────────────────────────┘
//
// `job` changes only while the gate is shut and nobody is inside. A helper that wakes up late finds
// it shut, and nobody waits for it.
//
// A tick has half a dozen parallel stages, each often shorter than the time it takes to wake a
// thread. Helpers therefore spin for a short while before they sleep, also after they were woken
// for a job that was over.

#include "core/base/workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOOKS_BEFORE_SLEEP 2000u // about 20 to 40 microseconds

#define GATE_OPEN   ((uint64_t)1 << 31)
#define GATE_INSIDE (GATE_OPEN - 1)

// Blocks that are claimed one after the other: all of a job, or a worker's part of it. On a line of
// cache of its own, so that workers disturb each other only where they take from the same part.
struct part {
    _Alignas(64) atomic_uint next_block; // the one thing workers race for
    uint32_t block_end;
};

struct job {
    fm_range_fn *fn;
    void *context;
    uint32_t item_count;
    uint32_t block_size;
    uint32_t part_count;
    struct part parts[FM_WORKERS_MAX];
};

struct helper {
    struct fm_workers *workers;
    pthread_t thread;
    uint32_t index;
};

struct fm_workers {
    pthread_mutex_t lock; // the one lock of core/: guards stopping, and orders gate with sleeping
    pthread_cond_t work_ready;
    pthread_cond_t work_done;
    _Atomic uint64_t gate; // number of the job << 32, GATE_OPEN, helpers inside
    bool stopping;

    struct job job;
    uint32_t helper_count;
    struct helper helpers[FM_WORKERS_MAX];
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void drain_part(struct job *job, struct part *part, uint32_t worker)
{
    for (;;) {
        uint32_t block = atomic_fetch_add_explicit(&part->next_block, 1, memory_order_relaxed);
        if (block >= part->block_end) {
            return;
        }
        uint32_t begin = block * job->block_size;
        uint32_t end = begin + job->block_size;
        job->fn(begin, end < job->item_count ? end : job->item_count, worker, job->context);
    }
}

// The worker's own part first, then what others have left of theirs.
static void drain(struct job *job, uint32_t worker)
{
    for (uint32_t i = 0; i < job->part_count; i++) {
        drain_part(job, &job->parts[(worker + i) % job->part_count], worker);
    }
}

// Whether there is a job to enter that the helper has not taken part in.
static bool lets_in(uint64_t gate, uint64_t job_seen)
{
    return (gate & GATE_OPEN) != 0 && gate >> 32 != job_seen;
}

// Spins, then sleeps until something happens. Returns whether the threads are to go on.
static bool await_job(struct fm_workers *workers, uint64_t job_seen)
{
    for (uint32_t i = 0; i < LOOKS_BEFORE_SLEEP; i++) {
        if (lets_in(atomic_load_explicit(&workers->gate, memory_order_relaxed), job_seen)) {
            return true;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&workers->lock);
    if (!workers->stopping && !lets_in(atomic_load(&workers->gate), job_seen)) {
        pthread_cond_wait(&workers->work_ready, &workers->lock);
    }
    bool stopping = workers->stopping;
    pthread_mutex_unlock(&workers->lock);
    return !stopping;
}

static bool enter(struct fm_workers *workers, uint64_t *job_seen)
{
    uint64_t gate = atomic_load_explicit(&workers->gate, memory_order_relaxed);
    while (lets_in(gate, *job_seen)) {
        if (atomic_compare_exchange_weak_explicit(&workers->gate, &gate, gate + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            *job_seen = gate >> 32;
            return true;
        }
    }
    return false;
}

static void leave(struct fm_workers *workers)
{
    uint64_t before = atomic_fetch_sub_explicit(&workers->gate, 1, memory_order_acq_rel);
    if ((before & (GATE_OPEN | GATE_INSIDE)) == 1) { // shut, and the last one
        pthread_mutex_lock(&workers->lock);
        pthread_cond_signal(&workers->work_done);
        pthread_mutex_unlock(&workers->lock);
    }
}

static void *helper_main(void *argument)
{
    struct helper *self = argument;
    fm_workers *workers = self->workers;
    uint64_t job_seen = 0;

    while (await_job(workers, job_seen)) {
        if (enter(workers, &job_seen)) {
            drain(&workers->job, self->index);
            leave(workers);
        }
    }
    return NULL;
}

fm_status fm_workers_create(uint32_t worker_count, fm_workers **out)
{
    FM_ASSERT(worker_count >= 1 && worker_count <= FM_WORKERS_MAX);

    fm_workers *workers = aligned_alloc(_Alignof(fm_workers), sizeof *workers);
    if (workers == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    memset(workers, 0, sizeof *workers);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->work_ready, NULL);
    pthread_cond_init(&workers->work_done, NULL);

    for (uint32_t i = 0; i < worker_count - 1; i++) {
        struct helper *helper = &workers->helpers[i];
        *helper = (struct helper){.workers = workers, .index = i + 1};
        if (pthread_create(&helper->thread, NULL, helper_main, helper) != 0) {
            fm_workers_destroy(workers);
            return FM_ERR_NO_MEMORY;
        }
        workers->helper_count += 1;
    }
    *out = workers;
    return FM_OK;
}

void fm_workers_destroy(fm_workers *workers)
{
    if (workers == NULL) {
        return;
    }
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->work_ready);
    pthread_mutex_unlock(&workers->lock);

    for (uint32_t i = 0; i < workers->helper_count; i++) {
        pthread_join(workers->helpers[i].thread, NULL);
    }
    pthread_cond_destroy(&workers->work_done);
    pthread_cond_destroy(&workers->work_ready);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}

uint32_t fm_workers_count(const fm_workers *workers)
{
    return workers == NULL ? 1 : workers->helper_count + 1;
}

// Lets no helper in any more, and waits for those inside.
static void shut(fm_workers *workers)
{
    uint64_t gate = atomic_fetch_and_explicit(&workers->gate, ~GATE_OPEN, memory_order_acq_rel);
    for (uint32_t i = 0; i < LOOKS_BEFORE_SLEEP && (gate & GATE_INSIDE) != 0; i++) {
        pause_briefly();
        gate = atomic_load_explicit(&workers->gate, memory_order_acquire);
    }
    if ((gate & GATE_INSIDE) == 0) {
        return;
    }
    pthread_mutex_lock(&workers->lock);
    while ((atomic_load_explicit(&workers->gate, memory_order_acquire) & GATE_INSIDE) != 0) {
        pthread_cond_wait(&workers->work_done, &workers->lock);
    }
    pthread_mutex_unlock(&workers->lock);
}

// Under the lock a helper is either asleep and gets the broadcast, or has not looked at the gate
// yet and sees it open.
static void open_gate(fm_workers *workers)
{
    uint64_t next = (atomic_load_explicit(&workers->gate, memory_order_relaxed) >> 32) + 1;
    pthread_mutex_lock(&workers->lock);
    atomic_store_explicit(&workers->gate, next << 32 | GATE_OPEN, memory_order_release);
    pthread_cond_broadcast(&workers->work_ready);
    pthread_mutex_unlock(&workers->lock);
}

static void run(fm_workers *workers, uint32_t item_count, uint32_t block_size, bool in_parts,
                fm_range_fn *fn, void *context)
{
    FM_ASSERT(block_size > 0);

    if (item_count == 0) {
        return;
    }
    if (workers == NULL || workers->helper_count == 0 || item_count <= block_size) {
        fn(0, item_count, 0, context);
        return;
    }
    FM_ASSERT((atomic_load(&workers->gate) & (GATE_OPEN | GATE_INSIDE)) == 0);
    struct job *job = &workers->job;
    job->fn = fn;
    job->context = context;
    job->item_count = item_count;
    job->block_size = block_size;
    job->part_count = in_parts ? workers->helper_count + 1 : 1;
    uint64_t block_count = (item_count - 1) / block_size + 1;
    for (uint32_t i = 0; i < job->part_count; i++) {
        uint32_t begin = (uint32_t)(block_count * i / job->part_count);
        job->parts[i].block_end = (uint32_t)(block_count * (i + 1) / job->part_count);
        atomic_store_explicit(&job->parts[i].next_block, begin, memory_order_relaxed);
    }
    open_gate(workers);
    drain(job, 0);
    shut(workers);
}

void fm_workers_run(fm_workers *workers, uint32_t item_count, uint32_t block_size, fm_range_fn *fn,
                    void *context)
{
    run(workers, item_count, block_size, false, fn, context);
}

void fm_workers_run_parts(fm_workers *workers, uint32_t item_count, uint32_t block_size,
                          fm_range_fn *fn, void *context)
{
    run(workers, item_count, block_size, true, fn, context);
}
