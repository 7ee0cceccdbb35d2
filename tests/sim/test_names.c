// tests/sim/test_names.c: names and numbers of worlds that are released late, or twice, never touch
// a later reservation, or a world, of the same name and number (server/cluster/world_log_names.c).
//
// The same of records: one that comes late changes nothing of a log from which it was removed.
//
// And where there is no memory for an answer of etcd, nobody takes that for the absence of a key.
//
// Two nodes, as two stores, call the simulated etcd (etcd_store.h) in place of the client of etcd.
// The test says of each transaction whether it is carried out, whether its answer arrives, and
// which is kept and carried out later.

#include "server/cluster/world_log_state.h"
#include "tests/sim/etcd/etcd_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define NAME "arena"

struct fm_etcd {
    const char *path; // what was begun
    const fm_writer *body;
};

typedef enum fate {
    ANSWERED,
    ANSWER_LOST, // carried out
    LATE,        // kept, no answer
    TWICE,       // carried out, and kept: it was sent to two members
} fate;

static fate next_fate;     // of the next transaction that writes
static bool has_no_memory; // for values in answers
static char *late_body;

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

void __wrap_fm_etcd_begin(fm_etcd *etcd, const char *path, const fm_writer *body);
fm_etcd_outcome __wrap_fm_etcd_finish(fm_etcd *etcd, uint32_t timeout_ms, json_t **answer,
                                      char *error);

void __wrap_fm_etcd_begin(fm_etcd *etcd, const char *path, const fm_writer *body)
{
    *etcd = (fm_etcd){.path = path, .body = body};
}

fm_etcd_outcome __wrap_fm_etcd_finish(fm_etcd *etcd, uint32_t timeout_ms, json_t **answer,
                                      char *error)
{
    return __wrap_fm_etcd_call(etcd, etcd->path, etcd->body, timeout_ms, answer, error);
}

_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code); // as kernel.c wants it

void __wrap__exit(int code)
{
    __real__exit(code);
}

char *__real_fm_etcd_bytes(const json_t *object, const char *name, size_t *size);
char *__wrap_fm_etcd_bytes(const json_t *object, const char *name, size_t *size);
char *__real_fm_etcd_response_value(const json_t *answer, size_t index, size_t *size);
char *__wrap_fm_etcd_response_value(const json_t *answer, size_t index, size_t *size);

// The simulated etcd reads requests with it, too.
char *__wrap_fm_etcd_bytes(const json_t *object, const char *name, size_t *size)
{
    bool is_request = json_object_get(object, "mod_revision") == NULL;
    return has_no_memory && !is_request ? NULL : __real_fm_etcd_bytes(object, name, size);
}

char *__wrap_fm_etcd_response_value(const json_t *answer, size_t index, size_t *size)
{
    return has_no_memory ? NULL : __real_fm_etcd_response_value(answer, index, size);
}

static json_t *carry_out(const char *path, const char *body, size_t size)
{
    int code;
    json_t *request = json_loadb(body, size, 0, NULL);
    assert_non_null(request);
    json_t *answer = sim_etcd_answer(path, request, false, &code);
    json_decref(request);
    assert_int_equal(code, 200);
    return answer;
}

static bool writes(const fm_writer *body)
{
    return memmem(body->data, body->size, "requestPut", 10) != NULL ||
           memmem(body->data, body->size, "requestDelete", 13) != NULL;
}

fm_etcd_outcome __wrap_fm_etcd_call(fm_etcd *etcd, const char *path, const fm_writer *body,
                                    uint32_t timeout_ms, json_t **answer, char *error)
{
    (void)etcd, (void)timeout_ms;
    fate drawn = writes(body) && strcmp(path, "kv/txn") == 0 ? next_fate : ANSWERED;
    next_fate = writes(body) ? ANSWERED : next_fate;
    snprintf(error, FM_ETCD_ERROR_SIZE, "lost");
    if (drawn == LATE || drawn == TWICE) {
        late_body = strndup((const char *)body->data, body->size);
    }
    if (drawn == LATE) {
        return FM_ETCD_UNREACHABLE;
    }
    *answer = carry_out(path, (const char *)body->data, body->size);
    if (drawn == ANSWER_LOST) {
        json_decref(*answer);
        return FM_ETCD_UNREACHABLE;
    }
    return FM_ETCD_DONE;
}

static void late_one_arrives(void)
{
    assert_non_null(late_body);
    json_decref(carry_out("kv/txn", late_body, strlen(late_body)));
    free(late_body);
    late_body = NULL;
}

// ---- two nodes ---------------------------------------------------------------------------------

static fm_world_log_store *first, *second;
static char error_text[FM_JOURNAL_ERROR_SIZE];

static void lost(void *context, uint64_t world)
{
    (void)context, (void)world;
}

static void forget_put(const sim_etcd_key *key)
{
    (void)key;
}

static void forget_removal(const char *name)
{
    (void)name;
}

static fm_world_log_store *make_store(const char *node, uint64_t incarnation)
{
    fm_world_log_store *store;
    int code;
    const fm_world_log_options options = {
        .cluster = SIM_ETCD_CLUSTER, .node = node, .incarnation = incarnation, .lost = lost};
    assert_int_equal(fm_world_log_store_create(&options, &store), FM_OK);
    json_t *request = json_pack("{s:s}", "TTL", "2");
    json_t *answer = sim_etcd_answer("lease/grant", request, false, &code);
    fm_world_log_set_lease(store, fm_etcd_number(answer, "ID"));
    json_decref(request);
    json_decref(answer);
    return store;
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
    next_fate = ANSWERED;
    first = make_store("first", 1);
    second = make_store("second", 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fm_world_log_store_destroy(first);
    fm_world_log_store_destroy(second);
    munmap(sim_etcd, sizeof *sim_etcd);
    return 0;
}

static fm_status reserve(fm_world_log_store *store, uint64_t wanted, uint64_t *number)
{
    return fm_world_log_reserve(store, NAME, wanted, number, error_text);
}

// Begins the world that a node has reserved.
static fm_status begin(fm_world_log_store *store, uint64_t number)
{
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    const fm_journal_head head = {.name = NAME, .number = number};
    const fm_journal_world world = {.bytes = (const uint8_t *)"world", .size = 5};
    return fence->create(fence->context, &head, &world, error_text);
}

static void must_be_reserved(void)
{
    assert_non_null(sim_etcd_find("names/" NAME));
    assert_non_null(sim_etcd_find(FM_WORLD_LOG_WORLD_KEY, (uint64_t)1));
}

static void must_be_free(void)
{
    assert_null(sim_etcd_find("names/" NAME));
    assert_null(sim_etcd_find(FM_WORLD_LOG_WORLD_KEY, (uint64_t)1));
    assert_null(sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, (uint64_t)1));
}

static bool is_owner(const char *node)
{
    const sim_etcd_key *owner = sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, (uint64_t)1);
    return owner != NULL && strstr((const char *)owner->value, node) != NULL;
}

// ---- cases -------------------------------------------------------------------------------------

static void a_release_leaves_nothing(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(number, 1);
    must_be_reserved();
    assert_int_equal(reserve(second, 0, &number), FM_ERR_EXISTS);
    fm_world_log_release(second, 1, NAME); // not its own
    must_be_reserved();
    fm_world_log_release(first, 1, NAME);
    must_be_free();
}

static void a_doubt_spares_a_later_reservation(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    next_fate = ANSWER_LOST;
    fm_world_log_release(first, 1, NAME);
    must_be_free();
    assert_int_equal(reserve(second, 1, &number), FM_OK);
    fm_world_log_settle_names(first);
    must_be_reserved();
    assert_int_equal(begin(second, 1), FM_OK);
}

static void a_late_release_spares_a_world(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    next_fate = LATE;
    fm_world_log_release(first, 1, NAME);
    must_be_reserved();
    fm_world_log_settle_names(first);
    must_be_free();
    assert_int_equal(reserve(second, 1, &number), FM_OK);
    assert_int_equal(begin(second, 1), FM_OK);
    late_one_arrives();
    must_be_reserved();
    assert_true(is_owner("second"));
}

static void a_late_world_does_not_begin_under_another_reservation(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    next_fate = LATE;
    assert_int_equal(begin(first, 1), FM_ERR_IO);
    fm_world_log_release(first, 1, NAME);
    must_be_free();
    assert_int_equal(reserve(second, 1, &number), FM_OK);
    late_one_arrives();
    assert_null(sim_etcd_find(FM_WORLD_LOG_OWNER_KEY, (uint64_t)1));
    assert_int_equal(begin(second, 1), FM_OK);
    assert_true(is_owner("second"));
}

static void a_lost_reservation_is_removed(void **state)
{
    (void)state;
    uint64_t number;
    next_fate = ANSWER_LOST;
    assert_int_equal(reserve(first, 0, &number), FM_ERR_IO);
    must_be_reserved();
    fm_world_log_settle_names(first);
    must_be_free();
    next_fate = LATE;
    assert_int_equal(reserve(first, 0, &number), FM_ERR_IO);
    fm_world_log_settle_names(first);
    late_one_arrives(); // the counter has moved on
    assert_null(sim_etcd_find("names/" NAME));
}

// The second copy of a reservation reserves nothing, whether or not the counter has moved.
static void a_reservation_that_comes_twice_counts_once(void **state)
{
    (void)state;
    uint64_t number;
    for (uint64_t wanted = 0; wanted < 2; wanted++) { // then one below the counter
        next_fate = TWICE;
        assert_int_equal(reserve(first, wanted, &number), FM_OK);
        assert_int_equal(number, 1);
        fm_world_log_release(first, 1, NAME);
        must_be_free();
        late_one_arrives();
        must_be_free();
    }
}

// The same where nobody knows whether it was made.
static void a_lost_reservation_below_the_counter_is_removed(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    fm_world_log_release(first, 1, NAME);
    next_fate = LATE;
    assert_int_equal(reserve(first, 1, &number), FM_ERR_IO);
    fm_world_log_settle_names(first);
    late_one_arrives();
    must_be_free();
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(number, 2); // no number was used up
}

// A world that could not begin leaves no parts of its keyframe.
static void nothing_stays_of_a_world_that_did_not_begin(void **state)
{
    (void)state;
    uint64_t number;
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    next_fate = LATE;
    assert_int_equal(begin(first, 1), FM_ERR_IO);
    assert_non_null(sim_etcd_find(FM_WORLD_LOG_PART_KEY, (uint64_t)1, (uint64_t)0, (uint64_t)1, 0));
    fm_world_log_release(first, 1, NAME);
    assert_null(sim_etcd_find(FM_WORLD_LOG_PART_KEY, (uint64_t)1, (uint64_t)0, (uint64_t)1, 0));
    late_one_arrives();
    must_be_free();
}

// ---- records -----------------------------------------------------------------------------------

// Appends one record to world 1, with or without a keyframe.
static void append(fm_world_log_store *store, bool has_keyframe, fate drawn)
{
    const fm_journal_fence *fence = fm_world_log_store_fence(store);
    fm_journal_batch *batch = fm_journal_batch_create();
    assert_non_null(batch);
    if (has_keyframe) {
        batch->has_keyframe = true;
        fm_writer_put_text(&batch->world, "world");
    }
    fm_journal_rows_put(&batch->rows, has_keyframe ? FM_JOURNAL_KEYFRAME : FM_JOURNAL_COMMAND, 1,
                        "row", 3);
    fm_fence_verdict verdict = FM_FENCE_GOING_ON;
    fence->begin(fence->context, 0, 1, batch);
    while (verdict == FM_FENCE_GOING_ON) {
        bool is_record = strcmp(store->lanes[0].etcd->path, "kv/txn") == 0;
        next_fate = is_record ? drawn : ANSWERED;
        verdict = fence->finish(fence->context, 0, error_text);
    }
    assert_int_equal(verdict, FM_FENCE_COMMITTED);
    assert_true(batch->is_committed);
    fm_journal_batch_destroy(batch);
}

// A member of etcd was frozen with a copy of a record, and wakes when that was removed from the
// log, behind the keyframe before the newest: it must not bring back what was read then.
static void a_late_record_changes_nothing(uint64_t position, bool has_keyframe)
{
    uint64_t number;
    char newest[256];
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(begin(first, 1), FM_OK);
    for (uint64_t i = 1; i < 8; i++) {
        append(first, i == position ? has_keyframe : i % 2 == 0, i == position ? TWICE : ANSWERED);
    }
    const sim_etcd_key *keyframe = sim_etcd_find(FM_WORLD_LOG_KEYFRAME_KEY, (uint64_t)1);
    assert_true(keyframe->size < sizeof newest);
    memcpy(newest, keyframe->value, keyframe->size);
    assert_null(sim_etcd_find(FM_WORLD_LOG_RECORD_KEY, (uint64_t)1, position));
    late_one_arrives();
    assert_null(sim_etcd_find(FM_WORLD_LOG_RECORD_KEY, (uint64_t)1, position));
    keyframe = sim_etcd_find(FM_WORLD_LOG_KEYFRAME_KEY, (uint64_t)1);
    assert_memory_equal(newest, keyframe->value, keyframe->size);
    append(first, false, ANSWERED);
}

static void a_late_first_record_changes_nothing(void **state)
{
    (void)state;
    a_late_record_changes_nothing(1, false);
}

static void a_late_first_record_with_a_keyframe_changes_nothing(void **state)
{
    (void)state;
    a_late_record_changes_nothing(1, true);
}

static void a_late_keyframe_does_not_come_back(void **state)
{
    (void)state;
    a_late_record_changes_nothing(2, true);
}

// ---- answers without memory --------------------------------------------------------------------

static void put(const char *key, const char *value)
{
    char name[SIM_ETCD_KEY_SIZE];
    snprintf(name, sizeof name, "/fogmarch/" SIM_ETCD_CLUSTER "/%s", key);
    sim_etcd_put(name, value, strlen(value), 0);
}

static void a_living_owner_is_not_taken_for_dead(void **state)
{
    (void)state;
    uint64_t number;
    char path[64];
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(begin(first, 1), FM_OK);
    put("nodes/first", "{\"incarnation\":\"0000000000000001\"}");
    has_no_memory = true;
    assert_int_equal(fm_world_log_take(second, 1, "1 first 0000000000000001", "/nonexistent", path,
                                       sizeof path, error_text),
                     FM_ERR_NO_MEMORY);
    has_no_memory = false;
    assert_true(is_owner("first"));
    assert_int_equal(fm_world_log_take(second, 1, "1 first 0000000000000001", "/nonexistent", path,
                                       sizeof path, error_text),
                     FM_ERR_EXISTS);
}

static void a_world_of_another_is_not_taken_for_gone(void **state)
{
    (void)state;
    uint64_t number;
    const fm_journal_fence *fence = fm_world_log_store_fence(first);
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(begin(first, 1), FM_OK);
    put("owner/0000000000000001", "2 second 0000000000000002");
    has_no_memory = true;
    assert_int_equal(fence->end(fence->context, 1, false, error_text), FM_FENCE_LOST);
    has_no_memory = false;
    assert_true(is_owner("second"));
}

static void a_seats_world_is_not_taken_for_gone(void **state)
{
    (void)state;
    uint64_t number, revision;
    const fm_token_log_place place = fm_world_log_token_place(first);
    fm_grant grant = {.role = FM_ROLE_PLAYER, .seat = {.number = 1, .team = 1}};
    assert_int_equal(fm_token_log_add(&place, &grant, 0, &revision, error_text), FM_ERR_NO_WORLD);
    assert_int_equal(reserve(first, 0, &number), FM_OK);
    assert_int_equal(begin(first, 1), FM_OK);
    assert_int_equal(fm_token_log_add(&place, &grant, 0, &revision, error_text), FM_OK);
    has_no_memory = true;
    assert_int_equal(fm_token_log_add(&place, &grant, 0, &revision, error_text), FM_ERR_IO);
    has_no_memory = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_release_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_doubt_spares_a_later_reservation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_release_spares_a_world, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_world_does_not_begin_under_another_reservation,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_reservation_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reservation_that_comes_twice_counts_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_lost_reservation_below_the_counter_is_removed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_late_first_record_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_first_record_with_a_keyframe_changes_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_late_keyframe_does_not_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_living_owner_is_not_taken_for_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_world_of_another_is_not_taken_for_gone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_seats_world_is_not_taken_for_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_stays_of_a_world_that_did_not_begin, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
