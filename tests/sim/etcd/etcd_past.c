// tests/sim/etcd/etcd_past.c: see etcd_past.h.

#include "tests/sim/etcd/etcd_past.h"

#include <inttypes.h>
#include <string.h>

#define REQUESTS_BETWEEN 40u // two compactions, on average

// A sorted list of the newest changes up to some revision.
static const sim_etcd_change *newest[SIM_ETCD_KEYS_MAX];
static const sim_etcd_key *listed[SIM_ETCD_KEYS_MAX];

sim_etcd_age sim_etcd_past_judge(int64_t revision)
{
    if (revision > sim_etcd->revision) {
        return SIM_ETCD_FUTURE;
    }
    return revision > 0 && revision < sim_etcd->compacted ? SIM_ETCD_COMPACTED : SIM_ETCD_KNOWN;
}

// ---- changes -----------------------------------------------------------------------------------

static sim_etcd_change *add(void)
{
    if (sim_etcd->change_count == SIM_ETCD_CHANGES_MAX) {
        sim_etcd_past_compact(sim_etcd->revision);
    }
    FM_ASSERT(sim_etcd->change_count < SIM_ETCD_CHANGES_MAX);
    return &sim_etcd->changes[sim_etcd->change_count++];
}

void sim_etcd_past_put(const sim_etcd_key *key)
{
    *add() = (sim_etcd_change){.key = *key};
}

void sim_etcd_past_remove(const char *name)
{
    sim_etcd_change *change = add();
    *change = (sim_etcd_change){.key.modified = sim_etcd->revision, .is_removal = true};
    memcpy(change->key.name, name, strlen(name) + 1);
}

// ---- reading -----------------------------------------------------------------------------------

// Where a name is among the first `count` of `newest`, or would be.
static uint32_t place_of(const char *name, uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(newest[middle]->key.name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_newest(const sim_etcd_change *change, uint32_t count)
{
    uint32_t at = place_of(change->key.name, count);
    return at < count && newest[at] == change;
}

// Of each key the last change up to a revision. @return how many
static uint32_t find_newest(int64_t revision)
{
    uint32_t count = 0;
    for (uint32_t i = sim_etcd->change_count; i-- > 0;) {
        const sim_etcd_change *change = &sim_etcd->changes[i];
        uint32_t at = place_of(change->key.name, count);
        bool is_there = at < count && strcmp(newest[at]->key.name, change->key.name) == 0;
        if (change->key.modified <= revision && !is_there) {
            FM_ASSERT(count < SIM_ETCD_KEYS_MAX);
            memmove(&newest[at + 1], &newest[at], (count++ - at) * sizeof(void *));
            newest[at] = change;
        }
    }
    return count;
}

uint32_t sim_etcd_past_list(int64_t revision, const sim_etcd_key *const **keys)
{
    uint32_t all = find_newest(revision), count = 0;
    for (uint32_t i = 0; i < all; i++) {
        if (!newest[i]->is_removal) {
            listed[count++] = &newest[i]->key;
        }
    }
    *keys = listed;
    return count;
}

// ---- compaction --------------------------------------------------------------------------------

void sim_etcd_past_compact(int64_t revision)
{
    static bool stays[SIM_ETCD_CHANGES_MAX];
    uint32_t all = find_newest(revision), count = 0;
    for (uint32_t i = 0; i < sim_etcd->change_count; i++) {
        const sim_etcd_change *change = &sim_etcd->changes[i];
        stays[i] =
            change->key.modified > revision || (!change->is_removal && is_newest(change, all));
    }
    for (uint32_t i = 0; i < sim_etcd->change_count; i++) {
        if (stays[i]) {
            sim_etcd->changes[count++] = sim_etcd->changes[i];
        }
    }
    sim_etcd->change_count = count;
    sim_etcd->compacted = revision;
    sim_note_fault(SIM_FAULT_COMPACTED);
    sim_trace("etcd: compacted at %" PRId64 " of %" PRId64, revision, sim_etcd->revision);
}

// Random numbers of its own: a compaction takes no part in what else happens.
void sim_etcd_past_begin(uint64_t seed)
{
    if (sim_etcd->revision == 0) {
        sim_etcd->compactions = fm_random_seed(seed);
    }
}

void sim_etcd_past_turn(void)
{
    fm_random *random = &sim_etcd->compactions;
    int64_t span = sim_etcd->revision - sim_etcd->compacted;
    if (random->state[0] == 0 || span == 0 || fm_random_below(random, REQUESTS_BETWEEN) > 0) {
        return;
    }
    bool to_now = fm_random_below(random, 3) == 0;
    int64_t back = to_now ? 0 : fm_random_below(random, (uint32_t)span);
    sim_etcd_past_compact(sim_etcd->revision - back);
}
