// test_workers.c: the worker pool does all of a job, each item once, and waits for nobody who does
// not take part.
//
// Method: jobs of all sizes one after the other, some at once and some after the helpers have gone
// to sleep; each item counts how often it was handled. Then a helper that sleeps is held up by a
// signal handler, and jobs must be over without it.

#include "core/base/random.h"
#include "core/base/workers.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ITEMS_MAX 3000u
#define JOBS      3000u

static atomic_uint handled[ITEMS_MAX];
static atomic_uint by_worker[FM_WORKERS_MAX];

static void sleep_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void handle(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)context;
    for (uint32_t i = begin; i < end; i++) {
        atomic_fetch_add_explicit(&handled[i], 1, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&by_worker[worker], 1, memory_order_relaxed);
}

static void check_job(uint32_t item_count)
{
    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        // What workers have written can be read without further ado once the job is over.
        assert_int_equal(atomic_load_explicit(&handled[i], memory_order_relaxed), i < item_count);
        atomic_store_explicit(&handled[i], 0, memory_order_relaxed);
    }
}

static void each_item_is_handled_once(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static const uint32_t worker_counts[] = {1, 2, 3, 8};
    for (uint32_t i = 0; i < FM_COUNT_OF(worker_counts); i++) {
        fm_workers *workers;
        assert_int_equal(fm_workers_create(worker_counts[i], &workers), FM_OK);
        assert_int_equal(fm_workers_count(workers), worker_counts[i]);
        for (uint32_t job = 0; job < JOBS; job++) {
            uint32_t items = fm_random_below(&random, fm_random_below(&random, ITEMS_MAX) + 1);
            uint32_t block = 1 + fm_random_below(&random, 40);
            if (fm_random_below(&random, 2) == 0) {
                fm_workers_run(workers, items, block, handle, NULL);
            } else {
                fm_workers_run_parts(workers, items, block, handle, NULL);
            }
            check_job(items);
            if (fm_random_below(&random, 64) == 0) {
                sleep_briefly();
            }
        }
        fm_workers_destroy(workers);
    }
}

// ---- a helper that is held up -------------------------------------------------------------------

static atomic_bool is_held, is_released;

static void hold(int number)
{
    (void)number;
    atomic_store(&is_held, true);
    while (!atomic_load(&is_released)) {
        sleep_briefly();
    }
}

// The one thread of this process that is not the caller.
static pid_t find_helper(void)
{
    pid_t found = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        pid_t id = (pid_t)atoi(entry->d_name);
        found = id > 0 && id != getpid() ? id : found;
    }
    closedir(tasks);
    assert_int_not_equal(found, 0);
    return found;
}

static bool is_asleep(pid_t thread)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int read = fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return read == 1 && state == 'S';
}

static void nobody_waits_for_a_helper_that_sleeps(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); // has a thread of its own, and delays signals
#endif
    fm_workers *workers;
    assert_int_equal(fm_workers_create(2, &workers), FM_OK);
    pid_t helper = find_helper();
    while (!is_asleep(helper)) {
        sleep_briefly();
    }
    struct sigaction action = {.sa_handler = hold, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(syscall(SYS_tgkill, getpid(), helper, SIGUSR1), 0);
    while (!atomic_load(&is_held)) {
        sleep_briefly();
    }
    atomic_store(&by_worker[1], 0);
    for (uint32_t job = 0; job < 10; job++) {
        fm_workers_run(workers, ITEMS_MAX, 10, handle, NULL);
        check_job(ITEMS_MAX);
        fm_workers_run_parts(workers, ITEMS_MAX, 10, handle, NULL);
        check_job(ITEMS_MAX);
    }
    assert_int_equal(atomic_load(&by_worker[1]), 0);

    // Awake again, it takes part.
    atomic_store(&is_released, true);
    while (atomic_load(&by_worker[1]) == 0) {
        fm_workers_run(workers, ITEMS_MAX, 1, handle, NULL);
        check_job(ITEMS_MAX);
    }
    fm_workers_destroy(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_is_handled_once),
        cmocka_unit_test(nobody_waits_for_a_helper_that_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
