// tests/sim/main.c: runs seeds of the simulation.
//
//   sim --seed N [--trace]         one seed, in this process
//   sim --seeds A..B [--jobs N]    each of them in a process of its own
//   sim --twice A..B               each of them twice: both traces must be the same
//   sim --bug NAME --seeds A..B    with a bug planted (bugs.h), until a seed finds it
//   sim --cluster ...              the server is a node of a cluster, with a simulated etcd
//   sim --cluster --nodes 2 ...    two servers (neighbour.h)
//   sim --etcd                     that etcd alone: requests are read, answers printed (etcd_ask.h)
//
// The exit code is 0 when no check failed; with a bug, when one failed. A seed that fails is
// printed with the command that replays it.

#include "tests/sim/etcd/etcd_ask.h"
#include "tests/sim/etcd/etcd_store.h"
#include "tests/sim/ledger.h"
#include "tests/sim/life.h"
#include "tests/sim/neighbour.h"
#include "tests/sim/openssl.h"
#include "tests/sim/sockets.h"

#include "server/base/tokens.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE_LIMIT_S 120 // of processor time: a machine that takes longer hangs
#define JOBS_MAX     64u
#define LIFE_GOES_ON 7 // exit code of a machine that must be started again

struct options {
    uint64_t first, last;
    uint32_t jobs;
    bool one, twice, trace;
};

struct job {
    pid_t process; // 0: none
    int result;    // pipe to read a sim_result from
    uint64_t seed;
};

static const char *program;
static bool is_cluster;

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: %s [--cluster [--nodes 2]] [--bug NAME] --seed N [--trace] | --seeds A..B "
            "[--jobs N] | "
            "--twice A..B | --etcd\n",
            program);
#define X(name, option, text) fprintf(stderr, "  --bug %-12s %s\n", option, text);
    SIM_BUGS(X)
#undef X
    exit(2);
}

static void parse_range(const char *text, struct options *options)
{
    char *end;
    options->first = strtoull(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0) {
        usage();
    }
    const char *second = end + 2;
    options->last = strtoull(second, &end, 10);
    if (end == second || *end != '\0' || options->last < options->first) {
        usage();
    }
}

static sim_bug bug_by_name(const char *name)
{
    static const char *const names[] = {
#define X(name, option, text) option,
        SIM_BUGS(X)
#undef X
    };
    for (uint32_t i = 0; i < SIM_BUG_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            return (sim_bug)i;
        }
    }
    usage();
}

static void parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.jobs = 1};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--trace") == 0) {
            options->trace = true;
        } else if (strcmp(argv[i], "--cluster") == 0) {
            is_cluster = true;
        } else if (value == NULL) {
            usage();
        } else if (strcmp(argv[i], "--seed") == 0) {
            options->one = true;
            options->first = options->last = strtoull(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0 || strcmp(argv[i], "--twice") == 0) {
            options->twice = strcmp(argv[i], "--twice") == 0;
            parse_range(value, options);
            i++;
        } else if (strcmp(argv[i], "--bug") == 0) {
            sim_bug_planted = bug_by_name(value);
            i++;
        } else if (strcmp(argv[i], "--nodes") == 0) {
            sim_node_count = (uint32_t)strtoul(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--jobs") == 0) {
            options->jobs = (uint32_t)strtoul(value, NULL, 10);
            i++;
        } else {
            usage();
        }
    }
    bool can_have_nodes = sim_node_count >= 1 && sim_node_count <= (is_cluster ? SIM_NODES : 1);
    if (!can_have_nodes || options->last == 0 || options->jobs < 1 || options->jobs > JOBS_MAX) {
        usage();
    }
}

static void print_sums(const sim_result *result)
{
    static const char *const faults[] = {
#define X(name, text) text,
        SIM_FAULTS(X)
#undef X
    };
    printf(
        "%.0f virtual seconds, %" PRIu64 " answers, %" PRIu64 " notifications, %" PRIu64
        " pages, %" PRIu64 " ticks, %" PRIu64 " views compared, %" PRIu64
        " orders audited, %" PRIu64
        " ticks replayed from journals; longest ping %.1f ms, answer %.1f ms, tick late %.1f ms; "
        "traces %016" PRIx64 "\n",
        (double)result->virtual_ns / 1e9, result->answers, result->notifications, result->pages,
        result->ticks, result->views_compared, result->orders_audited, result->ticks_replayed,
        (double)result->ping_max_ns / 1e6, (double)result->answer_max_ns / 1e6,
        (double)result->tick_late_max_ns / 1e6, result->trace_hash);
    for (uint32_t i = 0; i < SIM_FAULT_COUNT; i++) {
        printf("%12" PRIu64 " %s, in %" PRIu64 " runs\n", result->faults[i], faults[i],
               result->runs[i]);
    }
}

// ---- processes ---------------------------------------------------------------------------------

static void empty_folder(const char *folder)
{
    char path[300];
    DIR *files = opendir(folder);
    for (const struct dirent *entry = files == NULL ? NULL : readdir(files); entry != NULL;
         entry = readdir(files)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (files != NULL) {
        closedir(files);
    }
}

static void remove_folder(const char *folder)
{
    empty_folder(SIM_NEIGHBOUR_FOLDER);
    rmdir(SIM_NEIGHBOUR_FOLDER);
    empty_folder(".");
    rmdir(folder);
}

// A machine that has crashed is started again in a new process, with the folder and the ledger of
// the one before. Ends this process when a machine fails.
static sim_result run_lives(uint64_t seed, bool trace)
{
    struct shared {
        sim_ledger ledger;
        sim_result result;
        sim_etcd_store etcd;
    };
    char folder[] = "/tmp/fogmarch-sim-XXXXXX";
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        exit(2);
    }
    sim_told = &shared->ledger;
    sim_etcd = is_cluster ? &shared->etcd : NULL;
    int status = LIFE_GOES_ON << 8;
    while (WIFEXITED(status) && WEXITSTATUS(status) == LIFE_GOES_ON) {
        fflush(NULL);
        pid_t process = fork();
        if (process == 0) {
            setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = LIFE_LIMIT_S}, NULL);
            exit(sim_live(seed, trace, &shared->result) ? 0 : LIFE_GOES_ON);
        }
        if (process < 0 || waitpid(process, &status, 0) < 0) {
            perror("fork");
            exit(2);
        }
    }
    remove_folder(folder);
    if (WIFSIGNALED(status)) {
        raise(WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
        exit(WEXITSTATUS(status));
    }
    return shared->result;
}

static void begin(struct job *job, uint64_t seed)
{
    int ends[2];
    if (pipe(ends) != 0) {
        perror("pipe");
        exit(2);
    }
    fflush(NULL);
    job->seed = seed;
    job->result = ends[0];
    job->process = fork();
    if (job->process < 0) {
        perror("fork");
        exit(2);
    }
    if (job->process == 0) {
        sim_result result = run_lives(seed, false);
        FILE *file = fdopen(ends[1], "w");
        fwrite(&result, sizeof result, 1, file);
        fclose(file);
        exit(0);
    }
    close(ends[1]);
}

// @return whether the seed succeeded
static bool end(struct job *job, sim_result *result)
{
    int status;
    bool whole = read(job->result, result, sizeof *result) == sizeof *result;
    close(job->result);
    waitpid(job->process, &status, 0);
    job->process = 0;
    if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    printf("seed %" PRIu64 " FAILED (%s %d). To replay it: %s%s%s --seed %" PRIu64 " --trace\n",
           job->seed, WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), program,
           is_cluster ? " --cluster" : "", sim_node_count > 1 ? " --nodes 2" : "", job->seed);
    fflush(stdout);
    return false;
}

// Processes end in any order; main waits for them in the order of their start. With a bug planted
// no seed begins after one has found it.
// @return how many failed
static uint32_t run_range(const struct options *options, sim_result *sum, uint64_t *ran)
{
    struct job jobs[JOBS_MAX] = {0};
    uint32_t failures = 0;
    for (uint64_t seed = options->first; seed <= options->last + options->jobs; seed++) {
        struct job *job = &jobs[seed % options->jobs];
        sim_result result;
        if (job->process != 0) {
            if (end(job, &result)) {
                sim_result_count_runs(&result);
                sim_result_add(sum, &result);
            } else {
                failures++;
            }
        }
        if (seed <= options->last && (failures == 0 || sim_bug_planted == SIM_BUG_NONE)) {
            begin(job, seed);
            ++*ran;
        }
    }
    return failures;
}

static uint32_t run_twice(const struct options *options, uint64_t *ran)
{
    uint32_t failures = 0;
    for (uint64_t seed = options->first; seed <= options->last; seed++) {
        sim_result results[2];
        struct job job;
        bool good = true;
        for (uint32_t i = 0; i < 2 && good; i++) {
            begin(&job, seed);
            good = end(&job, &results[i]);
        }
        if (good && results[0].trace_hash != results[1].trace_hash) {
            printf("seed %" PRIu64 " FAILED: traces %016" PRIx64 " and %016" PRIx64 "\n", seed,
                   results[0].trace_hash, results[1].trace_hash);
            good = false;
        }
        failures += !good;
        ++*ran;
    }
    return failures;
}

int main(int argc, char **argv)
{
    struct options options;
    program = argv[0];
    if (argc == 2 && strcmp(argv[1], "--etcd") == 0) {
        return sim_etcd_ask();
    }
    parse(argc, argv, &options);
    if (!fm_tokens_start()) {
        fprintf(stderr, "libsodium cannot be used\n");
        return 2;
    }
    sim_openssl_start();
    sim_result result = {0};
    if (options.one) {
        result = run_lives(options.first, options.trace);
        sim_result_count_runs(&result);
        printf("seed %" PRIu64 ": ", options.first);
        print_sums(&result);
        return 0;
    }
    uint64_t ran = 0;
    uint32_t failures =
        options.twice ? run_twice(&options, &ran) : run_range(&options, &result, &ran);
    printf("%" PRIu64 " seeds, %u failed\n", ran, failures);
    if (!options.twice) {
        print_sums(&result);
    }
    if (sim_bug_planted != SIM_BUG_NONE) {
        puts(failures > 0 ? "the planted bug was found" : "NOT FOUND: the planted bug");
        return failures > 0 ? 0 : 1;
    }
    return failures == 0 ? 0 : 1;
}
