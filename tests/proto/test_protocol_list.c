// test_protocol_list.c: protocol.def as a list: roles, names, limits in order.
//
// Method: who may call what is written out by hand, because loosening a role by accident is what
// the test is for; the rest are properties of the whole list, which is expanded once more.

#include "tests/support/params.h"
#include "tests/support/support.h"

#include "proto/protocol.h"

static const char *const *const results_of[FM_METHOD_COUNT] = {
#define PARAM(field, type, need, minimum, maximum, text)
#define RESULT(name, type, text) name,
#define FM_METHOD(enumerator, name, role, text, fields)                                            \
    [enumerator] = (const char *const[]){fields NULL},
#include "proto/protocol.def"
#undef FM_METHOD
#undef RESULT
#undef PARAM
};

static const char *const *const entries_of[FM_NOTIFICATION_COUNT] = {
#define RESULT(name, type, text) name,
#define FM_NOTIFICATION(enumerator, name, text, fields)                                            \
    [enumerator] = (const char *const[]){fields NULL},
#include "proto/protocol.def"
#undef FM_NOTIFICATION
#undef RESULT
};

// Who may call what. Renewed by hand, and only when a role is meant to gain or lose a method.
static void test_matrix_of_roles(void **state)
{
    (void)state;
    const struct {
        fm_method method;
        fm_role role;
    } matrix[] = {
        {FM_METHOD_HELLO, FM_ROLE_NONE},
        {FM_METHOD_PING, FM_ROLE_NONE},
        {FM_METHOD_TOKEN_CREATE, FM_ROLE_ADMIN},
        {FM_METHOD_TOKEN_REVOKE, FM_ROLE_ADMIN},
        {FM_METHOD_MAP_UPLOAD, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_CREATE, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_LIST, FM_ROLE_PLAYER},
        {FM_METHOD_WORLD_INFO, FM_ROLE_PLAYER},
        {FM_METHOD_WORLD_DESTROY, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_PAUSE, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_RESUME, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_STEP, FM_ROLE_ADMIN},
        {FM_METHOD_TEAM_CREATE, FM_ROLE_ADMIN},
        {FM_METHOD_TEAM_COST, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_SPAWN, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_REMOVE, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_ORDER, FM_ROLE_PLAYER},
        {FM_METHOD_AGENT_CANCEL, FM_ROLE_PLAYER},
        {FM_METHOD_AGENT_RESUME, FM_ROLE_PLAYER},
        {FM_METHOD_AGENT_PLANNER, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_SET, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_PLACE, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_BOARD, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_UNBOARD, FM_ROLE_ADMIN},
        {FM_METHOD_AGENT_REPORT, FM_ROLE_PLAYER},
        {FM_METHOD_TERRAIN_SET, FM_ROLE_ADMIN},
        {FM_METHOD_BUILDING_PLACE, FM_ROLE_PLAYER},
        {FM_METHOD_BUILDING_REMOVE, FM_ROLE_PLAYER},
        {FM_METHOD_PATH_QUERY, FM_ROLE_PLAYER},
        {FM_METHOD_PATH_DISTANCE, FM_ROLE_PLAYER},
        {FM_METHOD_PATH_REACHABLE, FM_ROLE_PLAYER},
        {FM_METHOD_PATH_NEAREST, FM_ROLE_PLAYER},
        {FM_METHOD_PATH_FIELD, FM_ROLE_PLAYER},
        {FM_METHOD_SUBSCRIBE, FM_ROLE_PLAYER},
        {FM_METHOD_SUBSCRIPTION_MOVE, FM_ROLE_PLAYER},
        {FM_METHOD_UNSUBSCRIBE, FM_ROLE_PLAYER},
        {FM_METHOD_STATS, FM_ROLE_OBSERVER},
        {FM_METHOD_DEBUG_INSPECT, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_SUBSCRIBE, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_UNSUBSCRIBE, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_EXPLAIN, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_COMPARE, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_TOP, FM_ROLE_DEBUG},
        {FM_METHOD_DEBUG_JAMS, FM_ROLE_DEBUG},
        {FM_METHOD_WORLD_SAVE, FM_ROLE_ADMIN},
        {FM_METHOD_SAVE_DOWNLOAD, FM_ROLE_ADMIN},
        {FM_METHOD_WORLD_LOAD, FM_ROLE_ADMIN},
        {FM_METHOD_REPLAY_LIST, FM_ROLE_DEBUG},
        {FM_METHOD_REPLAY_OPEN, FM_ROLE_DEBUG},
        {FM_METHOD_REPLAY_SEEK, FM_ROLE_DEBUG},
        {FM_METHOD_REPLAY_PLAY, FM_ROLE_DEBUG},
        {FM_METHOD_REPLAY_PAUSE, FM_ROLE_DEBUG},
        {FM_METHOD_REPLAY_CLOSE, FM_ROLE_DEBUG},
        {FM_METHOD_WORLD_LOCATE, FM_ROLE_PLAYER},
        {FM_METHOD_CLUSTER_STATUS, FM_ROLE_ADMIN},
        {FM_METHOD_TOKEN_LIST, FM_ROLE_ADMIN},
        {FM_METHOD_CLUSTER_MOVE, FM_ROLE_ADMIN},
        {FM_METHOD_CLUSTER_DRAIN, FM_ROLE_ADMIN},
        {FM_METHOD_CLUSTER_UNDRAIN, FM_ROLE_ADMIN},
        {FM_METHOD_JOURNAL_FOLLOW, FM_ROLE_ADMIN},
        {FM_METHOD_JOURNAL_HAVE, FM_ROLE_ADMIN},
        {FM_METHOD_STANDBY_STATUS, FM_ROLE_ADMIN},
        {FM_METHOD_STANDBY_PROMOTE, FM_ROLE_ADMIN},
    };
    assert_int_equal(FM_COUNT_OF(matrix), FM_METHOD_COUNT);
    for (size_t i = 0; i < FM_COUNT_OF(matrix); i++) {
        assert_int_equal(matrix[i].method, i);
        assert_int_equal(fm_method_role(matrix[i].method), matrix[i].role);
        for (fm_role role = FM_ROLE_NONE; role <= FM_ROLE_ADMIN; role++) {
            bool acts = matrix[i].method == FM_METHOD_AGENT_ORDER ||
                        matrix[i].method == FM_METHOD_AGENT_CANCEL ||
                        matrix[i].method == FM_METHOD_AGENT_RESUME ||
                        matrix[i].method == FM_METHOD_BUILDING_PLACE ||
                        matrix[i].method == FM_METHOD_BUILDING_REMOVE;
            bool only_looks = role == FM_ROLE_OBSERVER || role == FM_ROLE_DEBUG;
            assert_int_equal(fm_role_may(role, matrix[i].method),
                             role >= matrix[i].role && !(acts && only_looks));
        }
    }
    assert_true(FM_ROLE_NONE < FM_ROLE_PLAYER && FM_ROLE_PLAYER < FM_ROLE_OBSERVER);
    assert_true(FM_ROLE_OBSERVER < FM_ROLE_DEBUG && FM_ROLE_DEBUG < FM_ROLE_ADMIN);
}

static void test_roles_have_names(void **state)
{
    (void)state;
    fm_role role = FM_ROLE_COUNT;
    for (uint32_t i = 0; i < FM_ROLE_COUNT; i++) {
        assert_true(fm_role_by_name(fm_role_name((fm_role)i), &role));
        assert_int_equal(role, i);
    }
    assert_false(fm_role_by_name("king", &role));
    assert_false(fm_role_by_name("", &role));
    assert_int_equal(role, FM_ROLE_COUNT - 1); // untouched
}

static void assert_distinct(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(names[i] != NULL && names[i][0] != '\0');
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(names[i], names[j]);
        }
    }
}

static size_t count_names(const char *const *names)
{
    size_t count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return count;
}

static void test_names_are_unique(void **state)
{
    (void)state;
    const char *names[128];
    size_t count = 0;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        names[count++] = fm_method_name(method);
        assert_distinct(results_of[method], count_names(results_of[method]));
    }
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        names[count++] = fm_notification_name((fm_notification)i);
        assert_distinct(entries_of[i], count_names(entries_of[i]));
    }
    assert_distinct(names, count);

    for (count = 0; count < FM_FIELD_COUNT; count++) {
        names[count] = fm_field_name((fm_field)count);
    }
    assert_distinct(names, count);
    for (count = 0; count < FM_ROLE_COUNT; count++) {
        names[count] = fm_role_name((fm_role)count);
    }
    assert_distinct(names, count);
    const char *const statuses[] = {
#define X(enumerator, name, text) name,
        FM_STATUS_LIST(X)
#undef X
    };
    assert_distinct(statuses, FM_COUNT_OF(statuses));
}

// Every field belongs to some method, once in each, with limits in order.
static void test_the_list_is_in_order(void **state)
{
    (void)state;
    bool is_used[FM_FIELD_COUNT] = {false};
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        bool is_own[FM_FIELD_COUNT] = {false};
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            assert_false(is_own[param->field]);
            is_own[param->field] = is_used[param->field] = true;
            assert_true(param->minimum <= param->maximum);
            assert_true(param->minimum >= (param->type == UINTS ? 1 : 0));
            assert_true(param->maximum <= (double)FM_UINT_MAX);
        }
    }
    for (uint32_t field = 0; field < FM_FIELD_COUNT; field++) {
        if (!is_used[field]) {
            fail_msg("no method has the field '%s'", fm_field_name((fm_field)field));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_of_roles),
        cmocka_unit_test(test_roles_have_names),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_the_list_is_in_order),
    };
    return cmocka_run_group_tests_name("protocol list", tests, NULL, NULL);
}
