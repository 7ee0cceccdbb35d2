// tests/sim/test_node.c: which orders a node of a cluster gives as it reads the directory
// (server/cluster/node.h), where what it has and what etcd says are not the same.
//
// The node's own thread runs, and calls the simulated etcd (etcd_store.h) in place of the client of
// etcd. The test writes owners as another node would, and waits for looks at the directory, never
// for a time.

#include "server/base/clock.h"
#include "server/cluster/node_state.h"
#include "server/cluster/world_log_state.h"
#include "tests/sim/etcd/etcd_store.h"
#include "tests/support/counted_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define ME    "first"
#define WORLD ((uint64_t)7)
#define MANY  (FM_NODE_ORDERS_MAX + 44u)

#define FEW         80u // worlds of each of three nodes
#define GROWTH_MOST 5.0 // for four times as many

struct fm_etcd {
    int unused;
};

static uv_mutex_t lock; // guards the simulated etcd and what follows
static uv_cond_t looked;
static uint64_t look_count;            // looks that have begun
static _Atomic bool has_no_memory;     // for keys and values in answers
static uint64_t released = UINT64_MAX; // up to this look: later ones wait for their answers
static uint32_t looks_at_end;          // that begin before the answer to the end of a world comes
static json_t *last_write;             // the last transaction that wrote or removed something

fm_status __wrap_fm_etcd_create(const fm_etcd_access *access, fm_etcd **out);
void __wrap_fm_etcd_destroy(fm_etcd *etcd);
fm_etcd_outcome __wrap_fm_etcd_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                    uint32_t timeout_ms, json_t **answer, char *error);

fm_status __wrap_fm_etcd_create(const fm_etcd_access *access, fm_etcd **out)
{
    static fm_etcd one;
    (void)access;
    *out = &one;
    return FM_OK;
}

void __wrap_fm_etcd_destroy(fm_etcd *etcd)
{
    (void)etcd;
}

_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code); // as kernel.c wants it

void __wrap__exit(int code)
{
    __real__exit(code);
}

char *__real_fm_etcd_bytes(const json_t *object, const char *name, size_t *size);
char *__wrap_fm_etcd_bytes(const json_t *object, const char *name, size_t *size);

// The simulated etcd reads requests with it, too.
char *__wrap_fm_etcd_bytes(const json_t *object, const char *name, size_t *size)
{
    bool is_request = json_object_get(object, "mod_revision") == NULL;
    return has_no_memory && !is_request ? NULL : __real_fm_etcd_bytes(object, name, size);
}

// The only transaction without conditions that reads more than two ranges: tokens are two.
static bool is_look(const char *path, const fm_writer *body)
{
    static const char range[] = "requestRange";
    const uint8_t *at = body->data, *end = body->data + body->size;
    uint32_t ranges = 0;
    while ((at = memmem(at, (size_t)(end - at), range, sizeof range - 1)) != NULL) {
        at += sizeof range - 1;
        ranges++;
    }
    return strcmp(path, "kv/txn") == 0 && ranges > 2 &&
           memmem(body->data, body->size, "compare", 7) == NULL;
}

fm_etcd_outcome __wrap_fm_etcd_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                    uint32_t timeout_ms, json_t **answer, char *error)
{
    int code;
    (void)etcd, (void)timeout_ms, (void)error;
    json_t *request = json_loadb((const char *)body->data, body->size, 0, NULL);
    uv_mutex_lock(&lock);
    *answer = sim_etcd_answer(path, request, false, &code);
    if (is_look(path, body)) {
        look_count++;
        uv_cond_broadcast(&looked);
        for (uint64_t look = look_count; look > released;) {
            uv_cond_wait(&looked, &lock);
        }
    }
    bool ends = memmem(body->data, body->size, "requestDeleteRange", 18) != NULL;
    while (ends && looks_at_end > 0) {
        looks_at_end--;
        uint64_t before = look_count;
        while (look_count == before) {
            uv_cond_wait(&looked, &lock);
        }
    }
    if (strcmp(path, "kv/txn") == 0 &&
        (ends || memmem(body->data, body->size, "requestPut", 10) != NULL)) {
        json_decref(last_write);
        last_write = json_incref(request);
    }
    uv_mutex_unlock(&lock);
    json_decref(request);
    return FM_ETCD_DONE;
}

// ---- a node ------------------------------------------------------------------------------------

static fm_world_log_store *store;
static fm_node *node;
static char error_text[FM_JOURNAL_ERROR_SIZE];

static void lost(void *context, uint64_t world)
{
    (void)context, (void)world;
}

static void on_order(void *context)
{
    (void)context;
}

static void forget_put(const sim_etcd_key *key)
{
    (void)key;
}

static void forget_removal(const char *name)
{
    (void)name;
}

static int set_up(void **state)
{
    (void)state;
    sim_kernel_start(1, false);
    sim_etcd = mmap(NULL, sizeof *sim_etcd, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(sim_etcd, MAP_FAILED);
    sim_etcd_on_put = forget_put;
    sim_etcd_on_remove = forget_removal;
    assert_int_equal(uv_mutex_init(&lock), 0);
    assert_int_equal(uv_cond_init(&looked), 0);
    const fm_world_log_options options = {
        .cluster = SIM_ETCD_CLUSTER, .node = ME, .incarnation = 1, .lost = lost};
    assert_int_equal(fm_world_log_store_create(&options, &store), FM_OK);
    const fm_node_options own = {.cluster = SIM_ETCD_CLUSTER,
                                 .name = ME,
                                 .incarnation = 1,
                                 .tcp = "127.0.0.1:1",
                                 .http = "",
                                 .version = "1",
                                 .store = store,
                                 .on_order = on_order};
    assert_int_equal(fm_node_create(&own, &node), FM_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fm_node_destroy(node);
    fm_world_log_store_destroy(store);
    munmap(sim_etcd, sizeof *sim_etcd);
    json_decref(last_write);
    last_write = NULL;
    uv_cond_destroy(&looked);
    uv_mutex_destroy(&lock);
    return 0;
}

// Until a look that has begun after this call was taken in. The node's thread is woken for it.
static void wait_for_look(void)
{
    uv_mutex_lock(&lock);
    for (uint64_t until = look_count + 2; look_count < until;) {
        uv_cond_signal(&node->woken);
        (void)uv_cond_timedwait(&looked, &lock, FM_NS_PER_MS);
    }
    uv_mutex_unlock(&lock);
}

// The next look is held after it has read, and taken in when the one after it is held.
static void hold_next_look(void)
{
    uv_mutex_lock(&lock);
    released = released == UINT64_MAX ? look_count : released + 1;
    uv_cond_broadcast(&looked);
    while (look_count <= released) {
        uv_cond_wait(&looked, &lock);
    }
    uv_mutex_unlock(&lock);
}

static void release_looks(void)
{
    uv_mutex_lock(&lock);
    released = UINT64_MAX;
    uv_cond_broadcast(&looked);
    uv_mutex_unlock(&lock);
}

static void owner_key(uint64_t world, char name[SIM_ETCD_KEY_SIZE])
{
    snprintf(name, SIM_ETCD_KEY_SIZE, "/fogmarch/" SIM_ETCD_CLUSTER "/" FM_WORLD_LOG_OWNER_KEY,
             world);
}

static void put_owner_of(uint64_t world, uint64_t epoch, uint64_t incarnation)
{
    char name[SIM_ETCD_KEY_SIZE], text[FM_CLUSTER_OWNER_MAX];
    owner_key(world, name);
    fm_world_log_owner_text(text, epoch, incarnation == 1 ? ME : "second", incarnation);
    uv_mutex_lock(&lock);
    sim_etcd_put(name, text, strlen(text), 0);
    uv_mutex_unlock(&lock);
}

static void put_owner(uint64_t epoch, uint64_t incarnation)
{
    put_owner_of(WORLD, epoch, incarnation);
}

static void remove_owner(void)
{
    char name[SIM_ETCD_KEY_SIZE];
    owner_key(WORLD, name);
    uv_mutex_lock(&lock);
    sim_etcd_remove(name);
    uv_mutex_unlock(&lock);
}

static void put_other_node(void)
{
    static const char text[] = "{\"incarnation\":\"0000000000000002\",\"tcp\":\"127.0.0.1:2\","
                               "\"http\":\"\",\"version\":\"1\"}";
    uv_mutex_lock(&lock);
    sim_etcd_put("/fogmarch/" SIM_ETCD_CLUSTER "/nodes/second", text, sizeof text - 1, 0);
    uv_mutex_unlock(&lock);
}

// The world is here, as fm_journal_create() and fm_world_log_take() leave it.
static void enter_one(uint64_t world, uint64_t epoch)
{
    fm_writer head = fm_writer_init(&fm_memory_libc);
    fm_writer_put_text(&head, "arena");
    assert_true(fm_world_log_add_world(store, world, epoch, 1, 0, &head));
}

static void enter(uint64_t epoch)
{
    enter_one(WORLD, epoch);
}

// First that it is here, or a look between the two would take it.
static void enter_own(void)
{
    enter(1);
    put_owner(1, 1);
}

// All orders up to now. @return the last one's kind. -1: there is none
static int last_order(void)
{
    fm_node_order order;
    int kind = -1;
    while (fm_node_next_order(node, &order)) {
        assert_int_equal(order.world, WORLD);
        kind = (int)order.kind;
    }
    return kind;
}

// What the journals' writer does with a world that is dropped.
static void end_dropped(void)
{
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    assert_int_equal(fence->end(fence->context, WORLD, true, error_text), FM_FENCE_COMMITTED);
}

static bool is_sure(void)
{
    return fm_world_log_is_sure(store, WORLD);
}

// ---- whose worlds ------------------------------------------------------------------------------

static void a_world_of_its_own_stays(void **state)
{
    (void)state;
    put_other_node();
    enter_own();
    wait_for_look();
    assert_int_equal(last_order(), -1);
    assert_true(is_sure());
}

static void a_world_that_another_has_is_dropped(void **state)
{
    (void)state;
    put_other_node();
    enter(1);
    put_owner(2, 2);
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_DROP);
    assert_false(is_sure());
}

// More than there is room for orders: none of them is spoken for meanwhile.
static void many_worlds_that_another_has_are_dropped(void **state)
{
    (void)state;
    fm_node_order order;
    put_other_node();
    for (uint64_t world = 1; world <= MANY; world++) {
        enter_one(world, 1);
        put_owner_of(world, 2, 2);
    }
    wait_for_look();
    for (uint64_t world = 1; world <= MANY; world++) {
        assert_false(fm_world_log_is_sure(store, world));
    }
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    uint32_t left = MANY;
    while (left > 0) {
        while (fm_node_next_order(node, &order)) {
            assert_int_equal(order.kind, FM_NODE_DROP);
            left -= fm_world_log_knows(store, order.world);
            (void)fence->end(fence->context, order.world, true, error_text);
        }
        wait_for_look();
    }
}

// Another node had the world, which was being created here: the order to drop it came before the
// event loop had listed it, and was for nothing. Then it was given back.
static void a_lost_world_that_was_given_back_is_dropped_and_taken(void **state)
{
    (void)state;
    put_other_node();
    enter(1);
    fm_world_log_note_lost(store, WORLD);
    put_owner(3, 1);
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_DROP);
    end_dropped();
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_TAKE);
}

// The same between two looks: what is here is as old as its epoch.
static void an_older_world_than_the_one_given_back_is_dropped_and_taken(void **state)
{
    (void)state;
    put_other_node();
    enter_own();
    wait_for_look();
    put_owner(3, 1);
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_DROP);
    assert_false(is_sure());
    end_dropped();
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_TAKE);
}

// ---- worlds that nobody has --------------------------------------------------------------------

static void a_world_that_another_node_has_destroyed_is_dropped(void **state)
{
    (void)state;
    enter_own();
    wait_for_look();
    assert_true(is_sure());
    remove_owner();
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_DROP);
    assert_false(is_sure());
    wait_for_look(); // there may have been no memory for it
    assert_int_equal(last_order(), FM_NODE_DROP);
    end_dropped();
    wait_for_look();
    (void)last_order();
    wait_for_look();
    assert_int_equal(last_order(), -1);
}

static void a_lost_world_that_is_destroyed_is_dropped(void **state)
{
    (void)state;
    enter(1);
    fm_world_log_note_lost(store, WORLD);
    wait_for_look();
    assert_int_equal(last_order(), FM_NODE_DROP);
}

// It is entered before its owner is written.
static void a_world_that_begins_is_not_dropped(void **state)
{
    (void)state;
    enter(1);
    wait_for_look();
    assert_int_equal(last_order(), -1);
    assert_true(is_sure());
}

static void a_world_is_not_dropped_for_lack_of_memory(void **state)
{
    (void)state;
    enter_own();
    wait_for_look();
    has_no_memory = true;
    wait_for_look();
    has_no_memory = false;
    assert_int_equal(last_order(), -1);
    assert_true(is_sure());
}

// Its client is to hear that it was done, also when the directory is read meanwhile.
static void a_world_that_is_destroyed_here_is_not_lost(void **state)
{
    (void)state;
    enter_own();
    wait_for_look();
    looks_at_end = 2;
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    assert_int_equal(fence->end(fence->context, WORLD, false, error_text), FM_FENCE_COMMITTED);
    assert_int_equal(looks_at_end, 0);
    assert_int_equal(last_order(), -1);
}

// Nobody is told that it has moved: not by what was read before, either.
static void a_world_that_is_destroyed_here_is_forgotten_at_once(void **state)
{
    (void)state;
    fm_node_world world;
    fm_node_entry entry;
    enter_own();
    wait_for_look();
    assert_true(fm_node_locate(node, WORLD, NULL, &world, &entry));
    hold_next_look();
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    assert_int_equal(fence->end(fence->context, WORLD, false, error_text), FM_FENCE_COMMITTED);
    fm_node_note_destroyed(node, WORLD);
    assert_false(fm_node_locate(node, WORLD, NULL, &world, &entry));
    hold_next_look();
    assert_false(fm_node_locate(node, WORLD, NULL, &world, &entry));
    release_looks();
    assert_int_equal(last_order(), -1);
}

// ---- what a look costs -------------------------------------------------------------------------

// The work of one look at `count` worlds of this node, as many of another one, and as many of one
// that is dead.
// ---- changes that arrive late ------------------------------------------------------------------

// Of what the node's thread has written last.
static json_t *copy_of_last_write(void)
{
    uv_mutex_lock(&lock);
    json_t *copy = json_deep_copy(last_write);
    uv_mutex_unlock(&lock);
    assert_non_null(copy);
    return copy;
}

static void arrive_late(json_t *write)
{
    int code;
    uv_mutex_lock(&lock);
    json_decref(sim_etcd_answer("kv/txn", write, false, &code));
    uv_mutex_unlock(&lock);
    json_decref(write);
}

static bool is_draining(void)
{
    fm_node_entry entries[FM_NODES_MAX];
    uint32_t count = fm_node_list(node, entries);
    assert_int_equal(count, 1);
    return entries[0].is_draining;
}

static json_t *set_draining(bool drains)
{
    fm_node_entry entry;
    char error[FM_ETCD_ERROR_SIZE];
    assert_int_equal(fm_node_set_draining(node, ME, drains, &entry, error), FM_OK);
    wait_for_look();
    wait_for_look();
    assert_true(is_draining() == drains);
    return copy_of_last_write();
}

static void a_late_drain_changes_nothing(void **state)
{
    (void)state;
    wait_for_look();
    json_t *first = set_draining(true);
    json_t *second = set_draining(false);
    arrive_late(first);
    wait_for_look();
    assert_false(is_draining());
    json_t *third = set_draining(true);
    arrive_late(second);
    wait_for_look();
    assert_true(is_draining());
    json_decref(third);
}

static bool has_key(const char *format)
{
    uv_mutex_lock(&lock);
    bool has = sim_etcd_find(format, WORLD) != NULL;
    uv_mutex_unlock(&lock);
    return has;
}

static void put_move_key(const char *kind, const char *heir)
{
    char name[SIM_ETCD_KEY_SIZE];
    snprintf(name, sizeof name, "/fogmarch/" SIM_ETCD_CLUSTER "/%s/%016" PRIx64, kind, WORLD);
    uv_mutex_lock(&lock);
    sim_etcd_put(name, heir, strlen(heir), 0);
    uv_mutex_unlock(&lock);
}

static void a_move_that_is_given_up_leaves_nothing(void **state)
{
    (void)state;
    char heir[FM_CLUSTER_OWNER_MAX];
    enter_own();
    fm_world_log_owner_text(heir, 2, "gone", 9);
    put_move_key("ready", heir);
    put_move_key("move", heir);
    wait_for_look();
    wait_for_look();
    assert_false(has_key(FM_WORLD_LOG_MOVE_KEY));
    assert_false(has_key(FM_WORLD_LOG_READY_KEY));
}

static uint64_t work_of_a_look(uint64_t count)
{
    (void)set_up(NULL);
    put_other_node();
    for (uint64_t world = 1; world <= count; world++) {
        enter_one(world, 1);
        put_owner_of(world, 1, 1);
        put_owner_of(count + world, 1, 2);
        put_owner_of(2 * count + world, 1, 3);
    }
    wait_for_look();
    hold_next_look();
    uint64_t before = counted_work();
    hold_next_look();
    uint64_t spent = counted_work() - before;
    release_looks();
    (void)tear_down(NULL);
    return spent;
}

// The event loop waits for the lock meanwhile.
static void a_look_grows_with_the_worlds(void **state)
{
    (void)state;
    uint64_t once = work_of_a_look(FEW), four_times = work_of_a_look(4 * FEW);
    print_message("%llu for %u worlds, %llu for %u: x%.2f\n", (unsigned long long)once, 3 * FEW,
                  (unsigned long long)four_times, 12 * FEW, (double)four_times / (double)once);
    assert_true((double)four_times <= GROWTH_MOST * (double)once);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_world_of_its_own_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_another_has_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_worlds_that_another_has_are_dropped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lost_world_that_was_given_back_is_dropped_and_taken,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_older_world_than_the_one_given_back_is_dropped_and_taken,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_another_node_has_destroyed_is_dropped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lost_world_that_is_destroyed_is_dropped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_begins_is_not_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_is_not_dropped_for_lack_of_memory, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_is_destroyed_here_is_not_lost, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_world_that_is_destroyed_here_is_forgotten_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_late_drain_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_that_is_given_up_leaves_nothing, set_up, tear_down),
        cmocka_unit_test(a_look_grows_with_the_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
