// test_load_parts.c: the load generator's own counts and decisions are right.
//
// Method: the schedule against a plain sort; groups whose orders end early, late, twice, or after
// they were replaced; starts, goals and walls on generated maps; results read back from JSON and
// CSV; the judgement of a try at its limits.

#include "tests/support/support.h"

#include "core/world/world.h"
#include "loadtest/report/report.h"
#include "loadtest/series/curve.h"
#include "loadtest/series/bracket.h"
#include "loadtest/series/capacity.h"
#include "loadtest/series/find_max.h"
#include "loadtest/drive/groups.h"
#include "loadtest/drive/mapf_score.h"
#include "loadtest/drive/schedule.h"

static fm_scenario small_scenario(void)
{
    fm_scenario scenario = fm_scenario_default();
    strcpy(scenario.map_generator, "random");
    scenario.map_width = 48;
    scenario.map_height = 40;
    scenario.map_blocked_permille = 250;
    scenario.agents = 100;
    scenario.teams = 4;
    scenario.group_size = (fm_range){3, 7};
    scenario.singles_percent = 20;
    return scenario;
}

static fm_ground *make_ground(const fm_scenario *scenario)
{
    fm_ground *ground = NULL;
    char error[FM_SCENARIO_ERROR_SIZE];
    if (fm_ground_create(scenario, &ground, error) != FM_OK) {
        fail_msg("%s", error);
    }
    return ground;
}

static void test_schedule_sorts(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_schedule schedule = {0};
    fm_event event;
    assert_false(fm_schedule_pop(&schedule, UINT64_MAX, &event));
    uint64_t now_ns = 0;
    uint32_t pushed = 0, popped = 0;
    for (uint32_t round = 0; round < 2000; round++) {
        for (uint32_t i = fm_random_below(&random, 4); i > 0; i--) {
            uint64_t due_ns = now_ns + fm_random_below(&random, 50);
            assert_int_equal(fm_schedule_push(&schedule, due_ns, FM_EVENT_ORDER, pushed++), FM_OK);
        }
        now_ns += fm_random_below(&random, 20);
        uint64_t last_ns = 0, last_serial = 0;
        while (fm_schedule_pop(&schedule, now_ns, &event)) {
            assert_true(event.due_ns <= now_ns);
            assert_true(event.due_ns > last_ns ||
                        (event.due_ns == last_ns && event.serial >= last_serial));
            last_ns = event.due_ns;
            last_serial = event.serial;
            popped++;
        }
        assert_true(fm_schedule_next_ns(&schedule) > now_ns);
    }
    assert_int_equal(pushed - popped, schedule.count);
    fm_schedule_fini(&schedule);
}

// Every agent is in exactly one group, and no group crosses teams.
static void test_groups_divide_the_teams(void **state)
{
    (void)state;
    fm_scenario scenario = small_scenario();
    scenario.seed = fm_test_seed() % 1000;
    fm_ground *ground = make_ground(&scenario);
    fm_cell starts[100];
    fm_groups groups;
    assert_int_equal(fm_ground_draw_starts(ground, &scenario, starts), FM_OK);
    assert_int_equal(fm_groups_init(&groups, &scenario, ground, starts), FM_OK);
    uint32_t at = 0, singles = 0;
    for (uint32_t i = 0; i < groups.group_count; i++) {
        const fm_group *group = &groups.groups[i];
        assert_int_equal(group->first, at);
        assert_in_range(group->count, 1, 7);
        assert_int_equal(group->first / 25, (group->first + group->count - 1) / 25);
        for (uint32_t k = 0; k < group->count; k++) {
            assert_int_equal(groups.members[at + k].group, i);
        }
        singles += group->count == 1;
        at += group->count;
    }
    assert_int_equal(at, 100);
    assert_in_range(singles, 20, 24); // and possibly a remainder per team
    fm_groups_fini(&groups);
    fm_ground_destroy(ground);
}

// Log-uniform sizes: as many groups of 1 to 13 as of 14 to 200, both ends included; each agent is
// in a group.
static void test_group_sizes_can_be_log_uniform(void **state)
{
    (void)state;
    fm_scenario scenario = small_scenario();
    scenario.map_width = scenario.map_height = 256;
    scenario.agents = 30000;
    scenario.teams = 1;
    scenario.singles_percent = 0;
    scenario.group_size = (fm_range){1, 200};
    strcpy(scenario.group_sizes, "log-uniform");
    fm_ground *ground = make_ground(&scenario);
    fm_cell *starts = malloc(scenario.agents * sizeof *starts);
    assert_int_equal(fm_ground_draw_starts(ground, &scenario, starts), FM_OK);
    fm_groups groups;
    assert_int_equal(fm_groups_init(&groups, &scenario, ground, starts), FM_OK);
    uint32_t small = 0, agents = 0, smallest = UINT32_MAX, largest = 0;
    for (uint32_t i = 0; i < groups.group_count; i++) {
        uint32_t count = groups.groups[i].count;
        small += count <= 13;
        agents += count;
        smallest = count < smallest ? count : smallest;
        largest = count > largest ? count : largest;
    }
    assert_int_equal(agents, scenario.agents);
    // About 800 groups, half of them small; uniform sizes would be 300, 7 % of them small.
    assert_in_range(groups.group_count, 600, 1000);
    assert_in_range(small * 100 / groups.group_count, 42, 58);
    assert_int_equal(smallest, 1);
    assert_in_range(largest, 150, 200);
    fm_groups_fini(&groups);
    fm_ground_destroy(ground);
    free(starts);
}

// One team, one group of three agents with ids 11, 12, 13.
static void make_trio(fm_groups *groups, fm_ground **ground)
{
    fm_scenario scenario = small_scenario();
    scenario.agents = 3;
    scenario.teams = 1;
    scenario.group_size = (fm_range){3, 3};
    scenario.singles_percent = 0;
    *ground = make_ground(&scenario);
    fm_cell starts[3];
    assert_int_equal(fm_ground_draw_starts(*ground, &scenario, starts), FM_OK);
    assert_int_equal(fm_groups_init(groups, &scenario, *ground, starts), FM_OK);
    assert_int_equal(groups->group_count, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(fm_groups_name(groups, i, 11 + i), FM_OK);
    }
}

static void test_group_rests_when_its_last_order_ended(void **state)
{
    (void)state;
    fm_groups groups;
    fm_ground *ground;
    make_trio(&groups, &ground);
    fm_groups_begin(&groups, 0, 0);
    assert_false(fm_groups_answered(&groups, 0, groups.groups[0].turn, 100));
    assert_int_equal(fm_groups_ended(&groups, 12, 101), FM_GROUP_NONE);
    assert_int_equal(fm_groups_ended(&groups, 12, 101), FM_GROUP_NONE); // reported twice
    assert_int_equal(fm_groups_ended(&groups, 11, 100), FM_GROUP_NONE);
    assert_int_equal(fm_groups_ended(&groups, 99, 102), FM_GROUP_NONE); // not ours
    assert_int_equal(fm_groups_ended(&groups, 13, 102), 0);
    assert_int_equal(fm_groups_ended(&groups, 13, 102), FM_GROUP_NONE);
    fm_groups_fini(&groups);
    fm_ground_destroy(ground);
}

static void test_ends_may_come_before_the_answer(void **state)
{
    (void)state;
    fm_groups groups;
    fm_ground *ground;
    make_trio(&groups, &ground);
    fm_groups_begin(&groups, 0, 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(fm_groups_ended(&groups, 11 + i, 100 + i), FM_GROUP_NONE);
    }
    assert_true(fm_groups_answered(&groups, 0, groups.groups[0].turn, 100));
    fm_groups_fini(&groups);
    fm_ground_destroy(ground);
}

static void test_ends_of_replaced_orders_do_not_count(void **state)
{
    (void)state;
    fm_groups groups;
    fm_ground *ground;
    make_trio(&groups, &ground);
    fm_groups_begin(&groups, 0, 0);
    uint32_t first_turn = groups.groups[0].turn;
    fm_groups_begin(&groups, 0, 0); // before the first answer
    assert_false(fm_groups_answered(&groups, 0, first_turn, 100));
    assert_int_equal(fm_groups_ended(&groups, 11, 100), FM_GROUP_NONE); // replaced
    assert_int_equal(fm_groups_ended(&groups, 12, 101), FM_GROUP_NONE);
    assert_int_equal(fm_groups_ended(&groups, 13, 102), FM_GROUP_NONE);
    assert_false(fm_groups_answered(&groups, 0, groups.groups[0].turn, 103));
    assert_int_equal(groups.groups[0].open_count, 3);
    // A keyframe shows two of them idle: their ends were lost.
    assert_int_equal(fm_groups_idle(&groups, 11), FM_GROUP_NONE);
    assert_int_equal(fm_groups_idle(&groups, 11), FM_GROUP_NONE);
    assert_int_equal(fm_groups_idle(&groups, 12), FM_GROUP_NONE);
    assert_int_equal(fm_groups_ended(&groups, 13, 105), 0);
    fm_groups_fini(&groups);
    fm_ground_destroy(ground);
}

static int compare_cells(const void *a, const void *b)
{
    fm_cell left = *(const fm_cell *)a, right = *(const fm_cell *)b;
    return left < right ? -1 : left > right;
}

static void check_starts(const fm_scenario *scenario)
{
    fm_ground *ground = make_ground(scenario);
    fm_cell starts[100];
    assert_int_equal(fm_ground_draw_starts(ground, scenario, starts), FM_OK);
    for (uint32_t i = 0; i < 100; i++) {
        assert_false(fm_grid_is_blocked(fm_ground_grid(ground), starts[i]));
    }
    qsort(starts, 100, sizeof *starts, compare_cells);
    for (uint32_t i = 1; i < 100; i++) {
        assert_true(starts[i] != starts[i - 1]);
    }
    for (uint32_t i = 0; i < 200; i++) {
        fm_cell goal = fm_ground_draw_goal(ground, starts[0], (fm_range){1, 4096});
        assert_false(fm_grid_is_blocked(fm_ground_grid(ground), goal));
    }
    fm_ground_destroy(ground);
}

static void test_starts_are_free_and_distinct(void **state)
{
    (void)state;
    fm_scenario scenario = small_scenario();
    for (scenario.seed = 1; scenario.seed <= 20; scenario.seed++) {
        strcpy(scenario.placement, "spread");
        check_starts(&scenario);
        strcpy(scenario.placement, "bases");
        check_starts(&scenario);
    }
}

static void test_too_many_agents_for_the_map(void **state)
{
    (void)state;
    fm_scenario scenario = small_scenario();
    scenario.agents = 48 * 40;
    fm_ground *ground = NULL;
    char error[FM_SCENARIO_ERROR_SIZE];
    assert_int_equal(fm_ground_create(&scenario, &ground, error), FM_ERR_BAD_VALUE);
    assert_non_null(strstr(error, "agents.count"));
    assert_null(ground);
}

// No cell gets two walls, all were floor, and cells of removed walls can be used again.
static void test_walls_do_not_overlap(void **state)
{
    (void)state;
    fm_scenario scenario = small_scenario();
    fm_ground *ground = make_ground(&scenario);
    static uint8_t held[64 * 4096];
    static fm_cell walls[300][256];
    uint32_t counts[300], raised = 0;
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < 300; i++) {
            counts[i] = fm_ground_raise_wall(ground, (fm_range){2, 9}, walls[i]);
            assert_in_range(counts[i], 0, 9);
            raised += counts[i] > 0;
            for (uint32_t k = 0; k < counts[i]; k++) {
                assert_false(fm_grid_is_blocked(fm_ground_grid(ground), walls[i][k]));
                assert_int_equal(held[walls[i][k]]++, 0);
            }
        }
        for (uint32_t i = 0; i < 300; i++) {
            fm_ground_lower_wall(ground, walls[i], counts[i]);
            for (uint32_t k = 0; k < counts[i]; k++) {
                held[walls[i][k]]--;
            }
        }
    }
    assert_true(raised > 500);
    fm_ground_destroy(ground);
}

static fm_result sample_result(void)
{
    fm_result result = {.agents = 1000, .ticks = 100, .ticks_expected = 100, .budget_ms = 50};
    strcpy(result.scenario, "odd, \"name\"\n");
    result.tick_ms = (fm_quantiles){100, 1.5, 20.25, 30, 49.5};
    fm_result_count_error(&result, "agent.order", "busy");
    fm_result_count_error(&result, "agent.order", "busy");
    fm_result_count_error(&result, "terrain.set", "blocked_cell");
    return result;
}

static char *print_to_text(void (*print)(const fm_result *, FILE *), const fm_result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print(result, out);
    fclose(out);
    return text;
}

static void test_json_has_the_keys_that_others_read(void **state)
{
    (void)state;
    fm_result result = sample_result();
    char *json = print_to_text(fm_result_print_json, &result);
    static const char *const parts[] = {
        "{\n  \"scenario\": \"odd, \\\"name\\\"\\u000a\",",
        "\n  \"agents\": 1000,",
        "\n  \"ticks\": 100,",
        "\n  \"tick_ms\": {\"count\": 100, \"p50\": 1.5, \"p99\": 20.25, \"max\": 49.5},",
        "\n  \"overrun_ms\": {\"count\": 0, \"p50\": 0, ",
        "\n  \"order_to_first_move_ticks\": {",
        "\n  \"expansions_per_second\": 0,",
        "\n  \"bytes_per_agent\": 0,",
        "\n  \"rss_bytes\": 0,",
        "\n  \"orders_ended\": {\n    \"arrived\": 0,",
        "\n  \"errors\": {\"agent.order: busy\": 2, \"terrain.set: blocked_cell\": 1}\n}\n",
    };
    for (size_t i = 0; i < FM_COUNT_OF(parts); i++) {
        if (strstr(json, parts[i]) == NULL) {
            fail_msg("no %s in\n%s", parts[i], json);
        }
    }
    free(json);
}

// Columns of a line; quoted ones may hold commas and line ends.
static uint32_t count_columns(const char *line)
{
    uint32_t count = 1;
    bool quoted = false;
    for (const char *c = line; *c != '\0'; c++) {
        quoted ^= *c == '"';
        count += *c == ',' && !quoted;
    }
    return count;
}

static void test_csv_lines_match_their_header(void **state)
{
    (void)state;
    fm_result result = sample_result();
    char *values = print_to_text(fm_result_print_csv, &result);
    char *header = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&header, &size);
    assert_non_null(out);
    fm_result_print_csv_header(out);
    fclose(out);
    assert_int_equal(count_columns(header), count_columns(values));
    assert_non_null(
        strstr(header, ",tick_ms_count,tick_ms_p50,tick_ms_p99,tick_ms_p999,tick_ms_max,"));
    static const char *const ends[] = {
#define X(enumerator, name) ",orders_ended_" name ",",
        FM_ORDER_END_LIST(X)
#undef X
    };
    for (size_t i = 0; i < FM_COUNT_OF(ends); i++) { // whatever the reason, it is counted
        assert_non_null(strstr(header, ends[i]));
    }
    free(header);
    free(values);
}

// p99.9 of fewer than 1,000 values is the largest under another name: no form shows it.
static void test_p999_needs_a_thousand_values(void **state)
{
    (void)state;
    static const struct {
        void (*print)(const fm_result *, FILE *);
        const char *with, *without;
    } forms[] = {
        {fm_result_print_json, "\"p99\": 20.25, \"p999\": 30, \"max\": 49.5}",
         "\"p99\": 20.25, \"max\": 49.5}"},
        {fm_result_print_csv, ",1000,1.5,20.25,30,49.5,", ",999,1.5,20.25,,49.5,"},
        {fm_result_print, "p99    20.250  p99.9    30.000  max    49.500",
         "p99    20.250  max    49.500"},
    };
    for (size_t i = 0; i < FM_COUNT_OF(forms); i++) {
        fm_result result = sample_result();
        result.tick_ms.count = 1000;
        char *with = print_to_text(forms[i].print, &result);
        result.tick_ms.count = 999;
        char *without = print_to_text(forms[i].print, &result);
        assert_non_null(strstr(with, forms[i].with));
        assert_non_null(strstr(without, forms[i].without));
        free(with);
        free(without);
    }
}

static void test_errors_are_counted_by_kind_within_bounds(void **state)
{
    (void)state;
    fm_result result = {0};
    for (uint32_t i = 0; i < 100; i++) {
        char why[16];
        snprintf(why, sizeof why, "kind%u", i);
        fm_result_count_error(&result, "x", why);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < result.error_count; i++) {
        total += result.errors[i].count;
    }
    assert_int_equal(result.error_count, FM_RESULT_ERRORS_MAX);
    assert_true(total == 100 && result.errors_total == 100);
}

// A unit that is pushed off its goal has not arrived; the tick of its return counts. A unit that is
// not on its goal at the end costs the whole run.
static void test_mapf_score_counts_the_last_arrival(void **state)
{
    (void)state;
    // By unit, whether it is on its goal after ticks 1 to 6.
    static const char *const seen[] = {"..xxxx", "x.x..x", "xxxxxx", "xxx..."};
    uint32_t arrivals[5] = {FM_MAPF_OFF_GOAL, FM_MAPF_OFF_GOAL, FM_MAPF_OFF_GOAL, FM_MAPF_OFF_GOAL,
                            0};
    for (uint32_t tick = 1; tick <= 6; tick++) {
        for (uint32_t i = 0; i < 4; i++) {
            fm_mapf_note(&arrivals[i], seen[i][tick - 1] == 'x', tick);
        }
        fm_mapf_note(&arrivals[4], true, tick); // began on its goal and never left it
    }
    static const uint32_t expected[] = {3, 6, 1, FM_MAPF_OFF_GOAL, 0};
    assert_memory_equal(arrivals, expected, sizeof expected);
    fm_mapf_score score = fm_mapf_score_of(arrivals, 5, 9);
    assert_int_equal(score.on_goal_at_end, 4);
    assert_int_equal(score.stuck, 1);
    assert_int_equal(score.makespan, 9);
    assert_int_equal(score.sum_of_costs, 3 + 6 + 1 + 9 + 0);
    score = fm_mapf_score_of(arrivals, 3, 9);
    assert_int_equal(score.stuck, 0);
    assert_int_equal(score.makespan, 6);
    assert_int_equal(score.sum_of_costs, 10);
}

static void check_sizes(const char *text, const char *wrong)
{
    fm_curve_sizes sizes;
    char error[FM_SCENARIO_ERROR_SIZE] = "";
    fm_status status = fm_curve_read_sizes(text, &sizes, error);
    assert_int_equal(status, wrong == NULL ? FM_OK : FM_ERR_BAD_VALUE);
    if (wrong != NULL && strstr(error, wrong) == NULL) {
        fail_msg("'%s': no '%s' in '%s'", text, wrong, error);
    }
}

static void test_curve_sizes(void **state)
{
    (void)state;
    fm_curve_sizes sizes;
    char error[FM_SCENARIO_ERROR_SIZE];
    assert_int_equal(fm_curve_read_sizes("1,20,262144", &sizes, error), FM_OK);
    assert_int_equal(sizes.count, 3);
    assert_int_equal(sizes.agents[0], 1);
    assert_int_equal(sizes.agents[2], 262144);
    check_sizes("7", NULL);
    check_sizes("", "number 1 of the list is empty");
    check_sizes("5,,9", "number 2 of the list is empty");
    check_sizes("5,9,", "number 3 of the list is empty");
    check_sizes("5,12x,9", "'12x' is not a number of agents");
    check_sizes("5, 9", "' 9' is not a number of agents");
    check_sizes("-5", "'-5' is not a number of agents");
    check_sizes("0,5", "0 agents are not in 1..262144");
    check_sizes("5,262145", "262145 agents are not in 1..262144");
    check_sizes("5,99999999999999999999", "agents are not in 1..262144");
    check_sizes("5,9,9", "9 comes after 9");
    check_sizes("5,4", "4 comes after 5");
    char many[512] = "1";
    for (uint32_t i = 2; i <= FM_CURVE_SIZES_MAX + 1; i++) {
        snprintf(many + strlen(many), sizeof many - strlen(many), ",%u", i);
    }
    check_sizes(many, "more than 64 sizes");
    fm_scenario scenario = small_scenario();
    assert_int_equal(fm_curve_read_sizes("3,4", &sizes, error), FM_OK);
    assert_int_equal(fm_curve_check(&scenario, &sizes, error), FM_ERR_BAD_VALUE); // four teams
    assert_non_null(strstr(error, "agents.teams"));
}

static void test_judgement(void **state)
{
    (void)state;
    char reason[128];
    fm_result good = {.ticks = 98, .ticks_expected = 100, .budget_ms = 50, .waiting_percent = 5};
    good.tick_ms.p99 = 50;
    fm_find_max_judge(&good, reason);
    assert_string_equal(reason, "");
    fm_result bad = good;
    bad.tick_ms.p99 = 50.1;
    fm_find_max_judge(&bad, reason);
    assert_non_null(strstr(reason, "p99"));
    bad = good;
    bad.ticks = 90;
    fm_find_max_judge(&bad, reason);
    assert_non_null(strstr(reason, "ticks"));
    bad = good;
    bad.waiting_percent = 5.1;
    fm_find_max_judge(&bad, reason);
    assert_non_null(strstr(reason, "wait"));
    bad = good;
    fm_result_count_error(&bad, "agent.order", "busy");
    fm_find_max_judge(&bad, reason);
    assert_non_null(strstr(reason, "agent.order: busy"));
}

// A machine that can run up to `limit` agents. Its ticks take longer with each agent.
static uint32_t bracket_search(uint32_t begin, double limit, bool by_time, uint32_t *found)
{
    fm_bracket bracket = {.begin = begin};
    uint32_t tries = 0, agents;
    while ((agents = fm_bracket_next(&bracket)) != 0) {
        assert_in_range(agents, FM_BRACKET_MIN, FM_BRACKET_MAX);
        if (bracket.carried != 0 && bracket.over != 0) {
            assert_true(agents > bracket.carried && agents < bracket.over);
        }
        double load = by_time ? agents / limit : 0.5;
        fm_bracket_note(&bracket, agents, load, agents <= limit);
        tries += 1;
        assert_true(tries < 64);
    }
    *found = bracket.carried;
    return tries;
}

static void test_bracket_closes_in(void **state)
{
    (void)state;
    static const double limits[] = {3, 16, 40, 977, 12345, 250000, 1e9};
    static const uint32_t begins[] = {0, 16, 1000, 60000, 262144, 4000000};
    uint32_t found;
    for (size_t i = 0; i < FM_COUNT_OF(limits); i++) {
        for (size_t j = 0; j < FM_COUNT_OF(begins); j++) {
            for (int by_time = 0; by_time < 2; by_time++) {
                (void)bracket_search(begins[j], limits[i], by_time, &found);
                if (limits[i] < FM_BRACKET_MIN) {
                    assert_int_equal(found, 0);
                } else if (limits[i] > FM_BRACKET_MAX) {
                    assert_int_equal(found, FM_BRACKET_MAX);
                } else {
                    assert_true(found <= limits[i] && found * 1.06 + 1 >= limits[i]);
                }
            }
        }
    }
    assert_true(bracket_search(1000, 12345, true, &found) <= 8); // halving would take ten
}

// Where a cell holds one unit, a late first move may be due to the units around it.
static void test_capacity_of_crowds(void **state)
{
    (void)state;
    char reason[FM_CAPACITY_REASON_SIZE];
    fm_result crowd = {.budget_ms = 50, .ticks = 100, .ticks_expected = 100, .waiting_percent = 2};
    crowd.order_to_first_move_ticks.p99 = 17;
    fm_capacity_judge(&crowd, true, reason);
    assert_string_equal(reason, "");
    crowd.waiting_percent = 3.1;
    fm_capacity_judge(&crowd, true, reason);
    assert_non_null(strstr(reason, "wait"));
}

static void test_capacity_has_four_promises(void **state)
{
    (void)state;
    char reason[FM_CAPACITY_REASON_SIZE];
    fm_result good = {.budget_ms = 50, .ticks = 100, .ticks_expected = 100, .waiting_percent = 2.9};
    good.tick_ms.p99 = 49;
    good.order_to_first_move_ticks.p99 = 2;
    fm_capacity_judge(&good, false, reason);
    assert_string_equal(reason, "");
    fm_result bad = good;
    bad.tick_ms.p99 = 51;
    fm_capacity_judge(&bad, false, reason);
    assert_non_null(strstr(reason, "p99 tick"));
    bad = good;
    bad.waiting_percent = 3.1;
    fm_capacity_judge(&bad, false, reason);
    assert_non_null(strstr(reason, "wait"));
    bad = good;
    bad.order_to_first_move_ticks.p99 = 3;
    fm_capacity_judge(&bad, false, reason);
    assert_non_null(strstr(reason, "first move"));
    bad = good;
    bad.ticks = 90;
    fm_capacity_judge(&bad, false, reason);
    assert_non_null(strstr(reason, "ticks"));
}

// Values from files and servers must not end the page's script element.
static void test_capacity_json_is_safe_in_a_page(void **state)
{
    (void)state;
    static fm_capacity capacity;
    strcpy(capacity.mix, "</script><b>\"x\\");
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    fm_capacity_print_json(&capacity, file);
    fclose(file);
    assert_null(strchr(text, '<'));
    assert_non_null(strstr(text, "\\u003c/script>\\u003cb>\\\"x\\\\"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule_sorts),
        cmocka_unit_test(test_bracket_closes_in),
        cmocka_unit_test(test_capacity_has_four_promises),
        cmocka_unit_test(test_capacity_of_crowds),
        cmocka_unit_test(test_capacity_json_is_safe_in_a_page),
        cmocka_unit_test(test_groups_divide_the_teams),
        cmocka_unit_test(test_group_sizes_can_be_log_uniform),
        cmocka_unit_test(test_group_rests_when_its_last_order_ended),
        cmocka_unit_test(test_ends_may_come_before_the_answer),
        cmocka_unit_test(test_ends_of_replaced_orders_do_not_count),
        cmocka_unit_test(test_starts_are_free_and_distinct),
        cmocka_unit_test(test_too_many_agents_for_the_map),
        cmocka_unit_test(test_walls_do_not_overlap),
        cmocka_unit_test(test_json_has_the_keys_that_others_read),
        cmocka_unit_test(test_csv_lines_match_their_header),
        cmocka_unit_test(test_p999_needs_a_thousand_values),
        cmocka_unit_test(test_errors_are_counted_by_kind_within_bounds),
        cmocka_unit_test(test_mapf_score_counts_the_last_arrival),
        cmocka_unit_test(test_curve_sizes),
        cmocka_unit_test(test_judgement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
