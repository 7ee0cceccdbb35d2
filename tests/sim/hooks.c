// tests/sim/hooks.c: see hooks.h. The linker replaces the real functions with these (--wrap).

#include "tests/sim/hooks.h"

#include "core/tick/tick.h"
#include "server/base/pacer.h"
#include "server/worlds/recording.h"
#include "tests/sim/etcd/etcd_store.h"
#include "tests/sim/ledger.h"
#include "tests/sim/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t __wrap_write(int file, const void *bytes, size_t size);
void __wrap_randombytes_buf(void *bytes, size_t size);
uint32_t __real_randombytes_random(void);
uint32_t __wrap_randombytes_random(void);
_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);
void __real_fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result);
void __wrap_fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result);
fm_pace __real_fm_pacer_begin(fm_pacer *pacer, uint64_t now_ns);
fm_pace __wrap_fm_pacer_begin(fm_pacer *pacer, uint64_t now_ns);
void __real_fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions,
                        const fm_tick_clock *clock, fm_tick_report *report);
void __real_fm_recording_add_tick(fm_host *host, const fm_config *config,
                                  const fm_tick_record *record);
void __wrap_fm_recording_add_tick(fm_host *host, const fm_config *config,
                                  const fm_tick_record *record);
bool __real_fm_recording_hold(fm_host *host, fm_event *event);
bool __wrap_fm_recording_hold(fm_host *host, fm_event *event);
fm_status __real_fm_recording_go_on(fm_journals *journals, fm_host *host, const char *path,
                                    const fm_journal_tail *tail, char *error);
fm_status __wrap_fm_recording_go_on(fm_journals *journals, fm_host *host, const char *path,
                                    const fm_journal_tail *tail, char *error);
void __wrap_fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions,
                        const fm_tick_clock *clock, fm_tick_report *report);

uint64_t __wrap_fm_journal_boot(void);
bool __real_fm_recording_add_last_keyframe(fm_host *host, bool is_left);
bool __wrap_fm_recording_add_last_keyframe(fm_host *host, bool is_left);

void (*sim_on_exit)(int code);

static uint64_t late_max_ns, tick_count;

uint64_t sim_tick_late_max_ns(void)
{
    return late_max_ns;
}

uint64_t sim_tick_count(void)
{
    return tick_count;
}

// A power failure boots the machine again.
uint64_t __wrap_fm_journal_boot(void)
{
    return 1 + sim_told->power_failures;
}

// The server writes nothing but its log.
ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    (void)file;
    const char *line = bytes;
    int length = (int)(size > 0 && line[size - 1] == '\n' ? size - 1 : size);
    sim_trace("log %.*s", length, line);
    return (ssize_t)size;
}

void __wrap_randombytes_buf(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)sim_below(256);
    }
}

uint32_t __wrap_randombytes_random(void)
{
    return sim_etcd == NULL ? __real_randombytes_random() : sim_below(UINT32_MAX);
}

void __wrap__exit(int code)
{
    if (sim_on_exit != NULL && sim_task_current() != NULL) {
        sim_on_exit(code);
    }
    __real__exit(code);
}

fm_pace __wrap_fm_pacer_begin(fm_pacer *pacer, uint64_t now_ns)
{
    if (sim_bug_shows(SIM_BUG_LATE_TICK, 100)) {
        sim_charge(200 * SIM_NS_MS);
        now_ns += 200 * SIM_NS_MS;
    }
    uint64_t due_ns = fm_pacer_due_ns(pacer);
    uint64_t late_ns = now_ns > due_ns ? now_ns - due_ns : 0;
    uint64_t stalled_ns = sim_stalled_ns(due_ns - (late_ns > 0 ? SIM_NS_S : 0), now_ns);
    late_ns = late_ns > stalled_ns ? late_ns - stalled_ns : 0;
    late_max_ns = late_ns > late_max_ns ? late_ns : late_max_ns;
    return __real_fm_pacer_begin(pacer, now_ns);
}

// Checks that a refused command changes nothing.
void __wrap_fm_world_apply(fm_world *world, const fm_command *command, fm_command_result *result)
{
    uint64_t before = fm_world_digest(world);
    __real_fm_world_apply(world, command, result);
    if (result->status != FM_OK && fm_world_digest(world) != before) {
        sim_fail("a command of kind %d was refused with %s and changed the world",
                 (int)command->kind, fm_status_name(result->status));
    }
}

void __wrap_fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions,
                        const fm_tick_clock *clock, fm_tick_report *report)
{
    __real_fm_tick_run(world, workers, expansions, clock, report);
    tick_count++;
    sim_trace("tick %" PRIu64 " digest %016" PRIx64, report->record.tick, report->record.digest);
}

// ---- journals ----------------------------------------------------------------------------------

void __wrap_fm_recording_add_tick(fm_host *host, const fm_config *config,
                                  const fm_tick_record *record)
{
    if (host->recording.journal != NULL) {
        sim_ledger_tick(host->number, record->tick, record->digest);
    }
    __real_fm_recording_add_tick(host, config, record);
}

bool __wrap_fm_recording_hold(fm_host *host, fm_event *event)
{
    return sim_bug_planted != SIM_BUG_EARLY_NEWS && __real_fm_recording_hold(host, event);
}

// One of four worlds that leave with a keyframe finds no memory for it.
bool __wrap_fm_recording_add_last_keyframe(fm_host *host, bool is_left)
{
    bool fails = is_left && sim_etcd != NULL && fm_mix64(host->tick + host->number * 1000) % 4 == 0;
    if (fails) {
        sim_memory_fail(0, SIM_NEVER - 1);
    }
    bool made = __real_fm_recording_add_last_keyframe(host, is_left);
    if (fails) {
        sim_memory_fail(SIM_MEMORY_PLENTY, 0);
    }
    return made;
}

// A world has come back.
fm_status __wrap_fm_recording_go_on(fm_journals *journals, fm_host *host, const char *path,
                                    const fm_journal_tail *tail, char *error)
{
    sim_trace("world %" PRIu64 " is back at tick %" PRIu64, host->number, host->tick);
    sim_ledger_compare(host->number, host->tick, host->digest);
    return __real_fm_recording_go_on(journals, host, path, tail, error);
}
