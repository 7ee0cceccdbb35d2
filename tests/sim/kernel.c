// tests/sim/kernel.c: see kernel.h. Tasks are contexts of ucontext.h; AddressSanitizer is notified
// of every switch between their stacks.

#include "tests/sim/kernel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN
#endif
#endif
#ifdef SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE (1u << 20)
#define GUARD_SIZE 4096u
#define STALLS_MAX 512u // latest stalls that are kept

typedef enum task_state {
    TASK_READY, // runs from until_ns on
    TASK_WAITING,
    TASK_DONE,
} task_state;

struct sim_task {
    const char *name;
    void *(*run)(void *argument);
    void *argument;
    task_state state;
    const void *thing; // WAITING: what for
    uint64_t until_ns; // WAITING: until when at most
    bool woken;
    uint32_t node;
    char *stack; // owned
    ucontext_t context;
    void *fake_stack; // AddressSanitizer's
};

static struct {
    fm_random random;
    fm_random bugs; // decides when a planted bug shows
    uint64_t now_ns;
    bool print_trace;
    uint64_t hash;
    uint64_t steps;

    uint32_t next_node; // of tasks that are made outside of tasks
    sim_task *tasks[SIM_TASKS_MAX];
    uint32_t task_count;
    sim_task *current;
    ucontext_t context; // of sim_run()
    void *fake_stack;
    const void *stack_bottom; // of sim_run()
    size_t stack_size;

    sim_source *sources[SIM_SOURCES_MAX];
    uint32_t source_count;

    struct {
        uint64_t begin_ns, end_ns;
    } stalls[STALLS_MAX];
    uint64_t stall_count;
} kernel;

sim_roughness sim_rough;
uint64_t sim_fault_counts[SIM_FAULT_COUNT];
sim_bug sim_bug_planted;
void (*sim_describe)(void);

void sim_kernel_start(uint64_t seed, bool print_trace)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.random = fm_random_seed(seed);
    kernel.bugs = fm_random_seed(~seed);
    kernel.print_trace = print_trace;
    kernel.hash = 0xcbf29ce484222325u;
    kernel.now_ns = 1000 * SIM_NS_S; // a machine that has been up for a while
}

void sim_kernel_begin_life(uint32_t life)
{
    if (life > 0) {
        kernel.random = fm_random_seed(fm_random_next(&kernel.random) + life);
    }
}

// ---- chance ------------------------------------------------------------------------------------

uint32_t sim_below(uint32_t bound)
{
    return fm_random_below(&kernel.random, bound);
}

uint32_t sim_between(uint32_t least, uint32_t most)
{
    return least + sim_below(most - least + 1);
}

bool sim_chance(uint32_t permille)
{
    return permille > 0 && sim_below(1000) < permille;
}

// Planted bugs have their own random numbers, so the run is the same until the bug shows.
bool sim_bug_shows(sim_bug bug, uint32_t times)
{
    return sim_bug_planted == bug && fm_random_below(&kernel.bugs, times) == 0;
}

// ---- the trace ---------------------------------------------------------------------------------

void sim_trace(const char *format, ...)
{
    char line[512];
    va_list arguments;
    int size = snprintf(line, sizeof line, "%12" PRIu64 " %-9s ", kernel.now_ns - 1000 * SIM_NS_S,
                        kernel.current == NULL ? "-" : kernel.current->name);
    va_start(arguments, format);
    size += vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
    va_end(arguments);
    size = size < (int)sizeof line ? size : (int)sizeof line - 1;
    for (int i = 0; i < size; i++) {
        kernel.hash = (kernel.hash ^ (uint8_t)line[i]) * 0x100000001b3u;
    }
    if (kernel.print_trace) {
        puts(line);
    }
}

uint64_t sim_trace_hash(void)
{
    return kernel.hash;
}

_Noreturn void __real__exit(int code);

// Not by way of hooks.c: found by a task of the server, it would count as the server's own exit,
// which some plans want.
void sim_fail(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "violated at %.6f s: ", (double)(kernel.now_ns - 1000 * SIM_NS_S) / 1e9);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (sim_describe != NULL) {
        sim_describe();
    }
    fflush(stderr);
    __real__exit(1);
}

// ---- time --------------------------------------------------------------------------------------

uint64_t sim_now_ns(void)
{
    return kernel.now_ns;
}

void sim_charge(uint64_t ns)
{
    kernel.now_ns += ns;
}

uint64_t sim_stalled_ns(uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t sum = 0;
    uint64_t first = kernel.stall_count > STALLS_MAX ? kernel.stall_count - STALLS_MAX : 0;
    for (uint64_t i = first; i < kernel.stall_count; i++) {
        uint64_t begin = kernel.stalls[i % STALLS_MAX].begin_ns;
        uint64_t end = kernel.stalls[i % STALLS_MAX].end_ns;
        begin = begin > begin_ns ? begin : begin_ns;
        end = end < end_ns ? end : end_ns;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

// ---- tasks -------------------------------------------------------------------------------------

static void leave(sim_task *task)
{
#ifdef SIM_ASAN
    __sanitizer_start_switch_fiber(task->state == TASK_DONE ? NULL : &task->fake_stack,
                                   kernel.stack_bottom, kernel.stack_size);
#endif
    swapcontext(&task->context, &kernel.context);
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(task->fake_stack, &kernel.stack_bottom, &kernel.stack_size);
#endif
}

static void enter(sim_task *task)
{
    kernel.current = task;
#ifdef SIM_ASAN
    __sanitizer_start_switch_fiber(&kernel.fake_stack, task->stack + GUARD_SIZE, STACK_SIZE);
#endif
    swapcontext(&kernel.context, &task->context);
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(kernel.fake_stack, NULL, NULL);
#endif
    kernel.current = NULL;
}

static void task_main(void)
{
    sim_task *task = kernel.current;
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(NULL, &kernel.stack_bottom, &kernel.stack_size);
#endif
    task->run(task->argument);
    task->state = TASK_DONE;
    sim_wake(task);
    leave(task);
    FM_UNREACHABLE();
}

// Stacks come from the system: the allocator counts only the simulated server's memory.
static void *map_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FM_ASSERT(memory != MAP_FAILED);
    return memory;
}

sim_task *sim_task_create(const char *name, void *(*run)(void *argument), void *argument)
{
    FM_ASSERT(kernel.task_count < SIM_TASKS_MAX);
    sim_task *task = map_memory(sizeof *task);
    *task = (sim_task){.name = name, .run = run, .argument = argument, .until_ns = kernel.now_ns};
    task->node = kernel.current == NULL ? kernel.next_node : kernel.current->node;
    task->stack = map_memory(GUARD_SIZE + STACK_SIZE);
    mprotect(task->stack, GUARD_SIZE, PROT_NONE);
    getcontext(&task->context);
    task->context.uc_stack.ss_sp = task->stack + GUARD_SIZE;
    task->context.uc_stack.ss_size = STACK_SIZE;
    makecontext(&task->context, task_main, 0);
    kernel.tasks[kernel.task_count++] = task;
    sim_trace("thread %s begins", name);
    return task;
}

uint32_t sim_node(void)
{
    return kernel.current == NULL ? 0 : kernel.current->node;
}

void sim_kernel_set_node(uint32_t node)
{
    kernel.next_node = node;
}

sim_task *sim_task_current(void)
{
    return kernel.current;
}

bool sim_task_is_done(const sim_task *task)
{
    return task->state == TASK_DONE;
}

void sim_task_release(sim_task *task)
{
    FM_ASSERT(task->state == TASK_DONE);
    for (uint32_t i = 0; i < kernel.task_count; i++) {
        if (kernel.tasks[i] == task) {
            kernel.tasks[i] = kernel.tasks[--kernel.task_count];
            break;
        }
    }
    munmap(task->stack, GUARD_SIZE + STACK_SIZE);
    munmap(task, sizeof *task);
}

bool sim_wait(const void *thing, uint64_t until_ns)
{
    sim_task *task = kernel.current;
    FM_ASSERT(task != NULL);
    task->state = TASK_WAITING;
    task->thing = thing;
    task->until_ns = until_ns;
    task->woken = false;
    leave(task);
    return task->woken;
}

static void wake(sim_task *task)
{
    task->state = TASK_READY;
    task->until_ns = kernel.now_ns;
    task->woken = true;
}

void sim_wake(const void *thing)
{
    for (uint32_t i = 0; i < kernel.task_count; i++) {
        if (kernel.tasks[i]->state == TASK_WAITING && kernel.tasks[i]->thing == thing) {
            wake(kernel.tasks[i]);
        }
    }
}

void sim_wake_one(const void *thing)
{
    sim_task *chosen = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel.task_count; i++) {
        bool waits = kernel.tasks[i]->state == TASK_WAITING && kernel.tasks[i]->thing == thing;
        if (waits && sim_below(++count) == 0) {
            chosen = kernel.tasks[i];
        }
    }
    if (chosen != NULL) {
        wake(chosen);
    }
}

static void stall(sim_task *task)
{
    uint64_t end_ns = kernel.now_ns + sim_between(1, sim_rough.stall_max_us) * SIM_NS_US;
    uint64_t at = kernel.stall_count++ % STALLS_MAX;
    kernel.stalls[at].begin_ns = kernel.now_ns;
    kernel.stalls[at].end_ns = end_ns;
    sim_note_fault(SIM_FAULT_STALLED);
    sim_trace("stalls for %" PRIu64 " us", (end_ns - kernel.now_ns) / SIM_NS_US);
    task->until_ns = end_ns;
    leave(task);
}

void sim_preempt(void)
{
    sim_task *task = kernel.current;
    if (task == NULL) {
        return;
    }
    if (sim_chance(sim_rough.stall_permille)) {
        stall(task);
    } else if (sim_chance(sim_rough.preempt_permille)) {
        sim_note_fault(SIM_FAULT_PREEMPTED);
        task->until_ns = kernel.now_ns;
        leave(task);
    }
}

// ---- sources -----------------------------------------------------------------------------------

void sim_source_add(sim_source *source)
{
    FM_ASSERT(kernel.source_count < SIM_SOURCES_MAX);
    kernel.sources[kernel.source_count++] = source;
}

void sim_source_remove(sim_source *source)
{
    for (uint32_t i = 0; i < kernel.source_count; i++) {
        if (kernel.sources[i] == source) {
            kernel.sources[i] = kernel.sources[--kernel.source_count];
            return;
        }
    }
}

// ---- running -----------------------------------------------------------------------------------

// Draws one of the tasks and sources that can go on now. Tasks are numbered before sources; -1:
// none can.
static int64_t choose(uint64_t *next_ns)
{
    uint32_t candidates[SIM_TASKS_MAX + SIM_SOURCES_MAX];
    uint32_t count = 0;
    *next_ns = SIM_NEVER;
    for (uint32_t i = 0; i < kernel.task_count; i++) {
        const sim_task *task = kernel.tasks[i];
        if (task->state == TASK_DONE) {
            continue;
        }
        if (task->until_ns <= kernel.now_ns) {
            candidates[count++] = i;
        } else if (task->until_ns < *next_ns) {
            *next_ns = task->until_ns;
        }
    }
    for (uint32_t i = 0; i < kernel.source_count; i++) {
        uint64_t due_ns = kernel.sources[i]->due_ns;
        if (due_ns <= kernel.now_ns) {
            candidates[count++] = SIM_TASKS_MAX + i;
        } else if (due_ns < *next_ns) {
            *next_ns = due_ns;
        }
    }
    return count == 0 ? -1 : (int64_t)candidates[count == 1 ? 0 : sim_below(count)];
}

static void happen(uint32_t candidate)
{
    if (candidate >= SIM_TASKS_MAX) {
        sim_source *source = kernel.sources[candidate - SIM_TASKS_MAX];
        source->happen(source->owner);
        return;
    }
    sim_task *task = kernel.tasks[candidate];
    task->state = TASK_READY;
    enter(task);
}

static void describe_tasks(void)
{
    for (uint32_t i = 0; i < kernel.task_count; i++) {
        const sim_task *task = kernel.tasks[i];
        static const char *const names[] = {"is ready", "waits", "is done"};
        fprintf(stderr, "thread %s %s\n", task->name, names[task->state]);
    }
}

void sim_run(bool (*is_over)(void *context), void *context, uint64_t limit_ns, const char *what)
{
    while (!is_over(context)) {
        uint64_t next_ns;
        int64_t candidate = choose(&next_ns);
        if (candidate >= 0) {
            happen((uint32_t)candidate);
        } else if (next_ns == SIM_NEVER) {
            describe_tasks();
            sim_fail("%s: nothing can ever happen again", what);
        } else {
            kernel.now_ns = next_ns;
        }
        if (kernel.now_ns > limit_ns) {
            describe_tasks();
            sim_fail("%s: not over in time", what);
        }
    }
}
