// tests/sim/verify.c: see verify.h.

#include "tests/sim/verify.h"

#include "server/journal/replay.h"
#include "tests/sim/etcd/etcd_store.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int is_journal(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), suffix_size = strlen(FM_JOURNAL_SUFFIX);
    return size > suffix_size && strcmp(entry->d_name + size - suffix_size, FM_JOURNAL_SUFFIX) == 0;
}

static void must(fm_status status, const char *path, const char *error)
{
    if (status != FM_OK) {
        sim_fail("the journal %s cannot be replayed: %s", path, error);
    }
}

// A node does not look at the files that an earlier process has left: one may be half made, of a
// world that was never begun.
static bool is_left_over(const char *path)
{
    return sim_etcd != NULL && sim_etcd_find("owner/%016llx", strtoull(path, NULL, 10)) == NULL;
}

static uint64_t verify(const char *path, fm_workers *workers)
{
    fm_replay *replay;
    fm_replay_step step;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    uint32_t count;
    bool more = true;
    must(fm_replay_open(path, &fm_memory_libc, &replay, error), path, error);
    must(fm_replay_begin(replay, fm_journal_reader_keyframes(fm_replay_reader(replay), &count),
                         error),
         path, error);
    while (more) {
        must(fm_replay_tick(replay, workers, &step, &more, error), path, error);
    }
    fm_replay_verdict verdict = fm_replay_verdict_get(replay);
    if (verdict.differences > 0 || verdict.refused > 0) {
        sim_fail("the journal %s: %" PRIu64 " ticks have other digests, from %" PRIu64
                 " on, %" PRIu64 " commands were refused",
                 path, verdict.differences, verdict.first_difference, verdict.refused);
    }
    fm_replay_close(replay);
    return verdict.ticks;
}

uint64_t sim_verify_journals(void)
{
    struct dirent **entries;
    fm_workers *workers;
    uint64_t ticks = 0;
    int count = scandir(".", &entries, is_journal, alphasort);
    FM_ASSERT(count >= 0);
    must(fm_workers_create(1, &workers), ".", "no memory");
    for (int i = 0; i < count; i++) {
        ticks += is_left_over(entries[i]->d_name) ? 0 : verify(entries[i]->d_name, workers);
        free(entries[i]);
    }
    free(entries);
    fm_workers_destroy(workers);
    return ticks;
}
