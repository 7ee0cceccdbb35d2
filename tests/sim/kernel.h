// tests/sim/kernel.h: time, threads and chance of a simulated process.
//
// Everything happens on one thread of the machine. What the server believes to be threads are tasks
// with stacks of their own, of which one runs until it waits or gives up its turn; everything else
// that can happen by itself, such as bytes that arrive, is a source. One after the other is drawn,
// by the seed, among those that can go on. The clock stands still while something can, but for the
// little that looking at it costs, and jumps to the next moment at which something is due when
// nothing can. So a seed is a whole run, and a run of minutes takes as long as its computations.
//
// Every step is traced. The hash of the trace is how two runs are compared.

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

// How rough the run is.
typedef struct sim_roughness {
    uint32_t preempt_permille;  // of the points where a thread may be: it loses its turn
    uint32_t stall_permille;    // of those: it sleeps for a while
    uint32_t stall_max_us;      // longest such sleep
    uint32_t spurious_permille; // of the waits for a condition variable: it returns for nothing
    uint32_t look_max_ns;       // what looking at the clock costs, at most
} sim_roughness;

/// Before everything else.
void sim_kernel_start(uint64_t seed, bool print_trace);

/// From here on chance is another: that of a machine that has been started again.
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

/// What sim_fail() calls to say more; NULL: nothing.
extern void (*sim_describe)(void);

/// Adds a line to the trace.
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t sim_trace_hash(void);

/// What must hold does not: says so and ends the process.
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- time ---------------------------------------------------------------------------------------

uint64_t sim_now_ns(void);

/// Lets time pass for the thread that runs: work that takes so long.
void sim_charge(uint64_t ns);

/// How long tasks were stalled by chance in this time, added up.
uint64_t sim_stalled_ns(uint64_t begin_ns, uint64_t end_ns);

// ---- tasks --------------------------------------------------------------------------------------

typedef struct sim_task sim_task;

/// Makes a thread. It begins to run later. Ends with sim_task_join().
sim_task *sim_task_create(const char *name, void *(*run)(void *argument), void *argument);

/// The one that runs; NULL outside of tasks.
sim_task *sim_task_current(void);

bool sim_task_is_done(const sim_task *task);

/// Releases a task that is done.
void sim_task_release(sim_task *task);

/// The running task waits until sim_wake() names the same thing, or until `until_ns`.
/// @return whether it was woken
bool sim_wait(const void *thing, uint64_t until_ns);

/// Wakes all tasks that wait for a thing.
void sim_wake(const void *thing);

/// Wakes one of them, by chance.
void sim_wake_one(const void *thing);

/// A point at which the running task may lose its turn or be stalled. Outside of tasks: nothing.
void sim_preempt(void);

// ---- sources ------------------------------------------------------------------------------------

// Something that happens by itself. Lives in its owner.
typedef struct sim_source {
    uint64_t due_ns; // SIM_NEVER: not at the moment
    void (*happen)(void *owner);
    void *owner;
} sim_source;

/// From now on it happens whenever it is due. `happen` must move due_ns.
void sim_source_add(sim_source *source);

void sim_source_remove(sim_source *source);

/// Runs tasks and sources until `is_over`.
///
/// @param limit_ns  the latest moment at which it must be
/// @param what      of what, for the message when it is not
void sim_run(bool (*is_over)(void *context), void *context, uint64_t limit_ns, const char *what);
