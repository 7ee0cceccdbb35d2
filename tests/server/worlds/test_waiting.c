// test_waiting.c: while a world waits, for its disk, for a standby or for an order that takes many
// ticks, nothing that clients do piles up, and what they asked for is done in order or not at all.
//
// The whole server runs in one thread (tests/fuzz/live.h), on a disk that can fail.

#include "core/commands/order_command.h"
#include "server/base/log.h"
#include "server/sessions/hub.h"
#include "server/streams/stream.h"
#include "server/worlds/publish.h"
#include "tests/server/methods/asking.h"
#include "tests/support/failing_disk.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <unistd.h>

#ifdef FOGMARCH_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

#define VISITOR 1u   // a client that comes and goes
#define SIDE    512u // cells
#define MIB     ((size_t)1 << 20)

static struct {
    fm_config config; // of the loop
    fm_config worlds; // of the conductor
    uint64_t world;
} scene;

// Zero without jemalloc: under a sanitizer.
static size_t allocated(void)
{
    size_t size = 0;
#ifdef FOGMARCH_JEMALLOC
    uint64_t epoch = 1;
    size_t length = sizeof size;
    assert_int_equal(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch), 0);
    assert_int_equal(mallctl("stats.allocated", &size, &length, NULL, 0), 0);
#endif
    return size;
}

static void come(uint32_t client)
{
    fm_live_connect(client);
    put_uint(FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    ask_as(client, FM_METHOD_HELLO);
    all_are_answered(FM_METHOD_HELLO);
}

static void put_world(void)
{
    put_uint(FM_FIELD_WORLD, scene.world);
}

static fm_host *host(void)
{
    return fm_hub_find_host(fm_live_hub(), scene.world);
}

static void begin(void)
{
    fm_failing_disk_set(UINT64_MAX);
    fm_live_begin(&scene.config, &scene.worlds);
    come(ADMIN);
    make_open_world(SIDE);
    scene.world = fm_live_hub()->host_last;
}

static int set_up(void **state)
{
    (void)state;
    scene.config = fm_config_default();
    scene.config.workers = 1;
    strcpy(scene.config.journal_dir, "/tmp/fogmarch-waiting-XXXXXX");
    assert_non_null(mkdtemp(scene.config.journal_dir));
    scene.config.durability = FM_DURABILITY_TICK;
    scene.worlds = scene.config;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fm_live_end();
    char path[sizeof scene.config.journal_dir + 256];
    DIR *folder = opendir(scene.config.journal_dir);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", scene.config.journal_dir, entry->d_name);
        (void)unlink(path); // but for . and ..
    }
    closedir(folder);
    assert_int_equal(rmdir(scene.config.journal_dir), 0);
    return 0;
}

// ---- a disk that refuses -----------------------------------------------------------------------

static void edit(void)
{
    put_world();
    put_text(FM_FIELD_SET, "blocked");
    put_numbers(FM_FIELD_CELLS, (const uint64_t[]){1, 1}, 2);
}

static void refused_views_leave_nothing_behind(void **state)
{
    (void)state;
    begin();
    fm_failing_disk_set(0);
    edit();
    ask_in_vain(FM_METHOD_TERRAIN_SET); // waits for the disk
    size_t before = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        before = i == 100 ? allocated() : before;
        put_world();
        ask_in_vain(FM_METHOD_SUBSCRIBE);
    }
    assert_true(allocated() < before + MIB);
    fm_failing_disk_set(UINT64_MAX);
    uint64_t answered = fm_live_answered(FM_METHOD_TERRAIN_SET);
    fm_live_sleep(3000);
    assert_int_equal(fm_live_answered(FM_METHOD_TERRAIN_SET), answered + 1);
    put_world();
    ask(FM_METHOD_SUBSCRIBE);
}

// The view shows how units move once the disk works, though it could not when that was asked for.
static void refused_motion_comes_later(void **state)
{
    (void)state;
    begin();
    put_world();
    ask(FM_METHOD_SUBSCRIBE);
    fm_failing_disk_set(0);
    edit();
    ask_in_vain(FM_METHOD_TERRAIN_SET);
    put_world();
    put_true(FM_FIELD_MOTION);
    ask(FM_METHOD_SUBSCRIBE);
    fm_live_sleep(1000);
    assert_false(host()->watches.items[0].motion);
    fm_failing_disk_set(UINT64_MAX);
    fm_live_sleep(3000);
    assert_true(host()->watches.items[0].motion);
}

// ---- a standby that is away --------------------------------------------------------------------

static void visit_and_leave(void)
{
    come(VISITOR);
    put_world();
    ask_as(VISITOR, FM_METHOD_SUBSCRIBE);
    none_is_answered(FM_METHOD_SUBSCRIBE);
    fm_live_hang_up(VISITOR);
}

// A view that is asked for is held with its snapshot until the standby has what it shows.
static void views_that_nobody_waits_for_do_not_pile_up(void **state)
{
    (void)state;
    scene.worlds.durability = FM_DURABILITY_REPLICA;
    scene.worlds.replica_missing = FM_REPLICA_BLOCK;
    begin();
    size_t before = allocated();
    for (uint32_t i = 0; i < 1000; i++) {
        visit_and_leave();
    }
    size_t snapshot_size = (size_t)SIDE * SIDE * sizeof(uint16_t);
    assert_true(atomic_load(&host()->published_unread_size) <
                FM_PUBLISHED_UNREAD_MAX + 2 * snapshot_size);
    assert_true(allocated() < before + FM_PUBLISHED_UNREAD_MAX + 16 * MIB);
    bool is_slow = before == 0; // under a sanitizer
    for (uint32_t i = 0; i < 4 * FM_WATCHES_MAX && !is_slow; i++) {
        visit_and_leave();
    }
    assert_true(atomic_load(&host()->jobs_waiting) <=
                2 * (4 * FM_WATCHES_MAX + scene.config.inbox_commands_max));
    fm_conductor_set_standby(fm_live_hub()->conductor, false, false,
                             false); // nothing waits for it now
    fm_live_sleep(100);
    put_world();
    ask(FM_METHOD_SUBSCRIBE);
}

// ---- an order that takes many ticks ------------------------------------------------------------

static void world_leaves(void)
{
    fm_hub *hub = fm_live_hub();
    fm_host *leaving = host();
    fm_job *job = fm_job_create(FM_JOB_REMOVE, leaving);
    assert_non_null(job);
    job->remove.is_left = true;
    assert_int_equal(fm_conductor_post(hub->conductor, job), FM_OK);
    leaving->state = FM_HOST_ENDING;
    fm_stream_end_host(hub, leaving, NULL, 0);
    fm_hub_drop_host(hub, leaving);
    fm_live_settle();
}

// The next node goes on with the order, so what waits for it must be asked for there.
static void nothing_overtakes_an_order_when_the_world_leaves(void **state)
{
    (void)state;
    scene.worlds.order_agents_per_tick = 1;
    begin();
    put_world();
    ask(FM_METHOD_TEAM_CREATE);
    put_world();
    put_uint(FM_FIELD_TEAM, 1);
    put_numbers(FM_FIELD_CELLS, (const uint64_t[]){1, 1, 2, 1, 3, 1}, 6);
    ask(FM_METHOD_AGENT_SPAWN);
    put_world();
    ask(FM_METHOD_WORLD_RESUME);
    put_world();
    put_numbers(FM_FIELD_AGENTS, (const uint64_t[]){1, 2, 3}, 3);
    put_text(FM_FIELD_KIND, "move");
    put_numbers(FM_FIELD_GOAL, (const uint64_t[]){9, 9}, 2);
    ask_in_vain(FM_METHOD_AGENT_ORDER);
    put_world();
    ask_in_vain(FM_METHOD_WORLD_PAUSE);
    uint64_t paused = fm_live_answered(FM_METHOD_WORLD_PAUSE);
    assert_int_not_equal(fm_world_left_to_do(host()->world), 0);
    world_leaves();
    assert_int_equal(fm_live_answered(FM_METHOD_WORLD_PAUSE), paused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refused_views_leave_nothing_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_motion_comes_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(views_that_nobody_waits_for_do_not_pile_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nothing_overtakes_an_order_when_the_world_leaves, set_up,
                                        tear_down),
    };
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    fm_failing_disk_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
