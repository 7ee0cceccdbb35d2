// tests/sim/kernel.h: time, threads and random numbers of a simulated process.
//
// Everything runs on one real thread. The server's threads are tasks with their own stacks; one
// task runs until it waits or is preempted. Everything else that happens by itself, such as
// arriving bytes, is a source. The seed draws the next one among the tasks and sources that can go
// on. The clock moves only a little for each look at it; when nothing can go on, it jumps to the
// next moment at which something is due. So a seed determines a whole run, and minutes of simulated
// time take only as long as the computations in them.
//
// Every step is traced. Two runs are compared by the hashes of their traces.

#pragma once

#include "core/base/base.h"
#include "core/base/random.h"
#include "tests/sim/bugs.h"
#include "tests/sim/faults.h"

#define SIM_NEVER       UINT64_MAX
#define SIM_NS_US       UINT64_C(1000)
#define SIM_NS_MS       UINT64_C(1000000)
#define SIM_NS_S        UINT64_C(1000000000)
#define SIM_TASKS_MAX   64u
#define SIM_SOURCES_MAX 4096u
#define SIM_NODES       2u // that are simulated at most

// How rough the run is.
typedef struct sim_roughness {
    uint32_t preempt_permille;  // of the preemption points: the task loses its turn
    uint32_t stall_permille;    // of the preemption points: the task is stalled
    uint32_t stall_max_us;      // longest stall
    uint32_t spurious_permille; // of the waits for a condition variable: woken spuriously
    uint32_t look_max_ns;       // most that a look at the clock costs
} sim_roughness;

/// Call it before everything else.
void sim_kernel_start(uint64_t seed, bool print_trace);

/// Changes the random numbers: from here on those of a machine that has been started again.
void sim_kernel_begin_life(uint32_t life);

/// May be changed at any time.
extern sim_roughness sim_rough;

// ---- chance -------------------------------------------------------------------------------------

/// 0..bound-1; bound >= 1.
uint32_t sim_below(uint32_t bound);

/// least..most.
uint32_t sim_between(uint32_t least, uint32_t most);

bool sim_chance(uint32_t permille);

// ---- the trace, and the end ---------------------------------------------------------------------

/// sim_fail() calls it to print more; NULL: nothing.
extern void (*sim_describe)(void);

/// Adds a line to the trace.
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t sim_trace_hash(void);

/// Reports a broken promise and ends the process.
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- time ---------------------------------------------------------------------------------------

uint64_t sim_now_ns(void);

/// Lets time pass for the running task, as work that takes so long.
void sim_charge(uint64_t ns);

/// How long tasks were stalled between two moments, in total.
uint64_t sim_stalled_ns(uint64_t begin_ns, uint64_t end_ns);

// ---- tasks --------------------------------------------------------------------------------------

typedef struct sim_task sim_task;

/// Makes a task, which begins to run later. Release it with sim_task_release().
sim_task *sim_task_create(const char *name, void *(*run)(void *argument), void *argument);

/// The node that the running task belongs to: that of the task that made it. Outside of tasks it is
/// the first one, 0.
uint32_t sim_node(void);

/// Tasks that are made outside of tasks belong to this node from now on.
void sim_kernel_set_node(uint32_t node);

/// The running task; NULL outside of tasks.
sim_task *sim_task_current(void);

bool sim_task_is_done(const sim_task *task);

/// Releases a task that is done.
void sim_task_release(sim_task *task);

/// The running task waits until sim_wake() names the same thing, or until `until_ns`.
/// @return whether it was woken
bool sim_wait(const void *thing, uint64_t until_ns);

/// Wakes all tasks that wait for a thing.
void sim_wake(const void *thing);

/// Wakes a random one of them.
void sim_wake_one(const void *thing);

/// A point at which the running task may lose its turn or be stalled. Does nothing outside of
/// tasks.
void sim_preempt(void);

// ---- sources ------------------------------------------------------------------------------------

// Something that happens by itself. The owner holds its memory.
typedef struct sim_source {
    uint64_t due_ns; // SIM_NEVER: not at the moment
    void (*happen)(void *owner);
    void *owner;
} sim_source;

/// From now on `happen` is called whenever the source is due; it must set due_ns again.
void sim_source_add(sim_source *source);

void sim_source_remove(sim_source *source);

/// Runs tasks and sources until `is_over`.
///
/// @param limit_ns  when it must be over at the latest
/// @param what      what is waited for, for the message when it is not over in time
void sim_run(bool (*is_over)(void *context), void *context, uint64_t limit_ns, const char *what);
