// test_scenario.c: scenario files are read correctly, and wrong ones are refused with the line and
// the key at fault.
//
// Method: the load generator's own files must all pass; small files made here have one mistake
// each, on a known line.

#include "tests/support/support.h"

#include "loadtest/drive/scenario_files.h"

#include <unistd.h>

// Reads a scenario from text, as a file whose name ends in "test.yaml".
static fm_status read_text(const char *text, fm_scenario *scenario, char *error)
{
    char folder[] = "/tmp/fogmarch-scenario-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/test.yaml", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    fclose(file);
    fm_status status = fm_scenario_read(path, scenario, error);
    unlink(path);
    rmdir(folder);
    return status;
}

static void test_own_scenarios_are_sound(void **state)
{
    (void)state;
    static const char *const names[] = {"solo", "skirmish", "classes", "siege", "blitz"};
    for (size_t i = 0; i < FM_COUNT_OF(names); i++) {
        char path[128], error[FM_SCENARIO_ERROR_SIZE] = "";
        snprintf(path, sizeof path, "loadtest/scenarios/%s.yaml", names[i]);
        fm_scenario scenario;
        if (fm_scenario_read(path, &scenario, error) != FM_OK ||
            fm_scenario_check(&scenario, error) != FM_OK) {
            fail_msg("%s", error);
        }
        assert_string_equal(scenario.name, names[i]);
        assert_int_equal(scenario.map_width, 512);
        assert_int_equal(scenario.map_height, 512);
    }
}

static void test_values_and_defaults(void **state)
{
    (void)state;
    fm_scenario scenario, plain = fm_scenario_default();
    char error[FM_SCENARIO_ERROR_SIZE];
    fm_status status = read_text("# a comment\n"
                                 "name: small\n"
                                 "seed: 9007199254740991\n"
                                 "map: {generator: maze, width: 33}\n"
                                 "rules:\n  line_of_sight: true\n"
                                 "agents:\n  count: 12\n  teams: 0\n"
                                 "orders:\n  group_size: [2, 5]\n  again_s: [0, 0.25]\n",
                                 &scenario, error);
    assert_int_equal(status, FM_OK);
    assert_string_equal(scenario.name, "small");
    assert_true(scenario.seed == 9007199254740991u);
    assert_string_equal(scenario.map_generator, "maze");
    assert_int_equal(scenario.map_width, 33);
    assert_true(scenario.line_of_sight);
    assert_int_equal(fm_scenario_team_count(&scenario), 12);
    assert_true(scenario.group_size.low == 2 && scenario.group_size.high == 5);
    assert_true(scenario.again_s.low == 0 && scenario.again_s.high == 0.25);

    assert_int_equal(scenario.map_height, plain.map_height);
    assert_true(scenario.tick_hz == plain.tick_hz);
    assert_string_equal(scenario.planner, plain.planner);
    assert_true(scenario.wall_length.high == plain.wall_length.high);
}

static void test_mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *what;
    } cases[] = {
        {"seed: 1\nagnets:\n  count: 3\n", "test.yaml:2", "agnets"},
        {"seed: 1\nagents:\n  cuont: 3\n", "test.yaml:3", "cuont"},
        {"agents:\n  count: 3\nagnets: 1\n", "test.yaml:3", "agnets"},
        {"agents:\n  count: 3\n  cuont: 1\n", "test.yaml:3", "cuont"},
        {"agents:\n\n  count: many\n", "test.yaml:3", "agents.count"},
        {"agents:\n  count: -4\n", "test.yaml:2", "agents.count"},
        {"agents:\n  count: 1.5\n", "test.yaml:2", "agents.count"},
        {"server:\n  workers: 2\n  tick_hz: fast\n", "test.yaml:3", "server.tick_hz"},
        {"server:\n  tick_hz: 10Hz\n", "test.yaml:2", "server.tick_hz"},
        {"rules:\n  omniscient: perhaps\n", "test.yaml:2", "rules.omniscient"},
        {"orders: 7\n", "test.yaml:1", "orders"},
        {"orders:\n  every_s: [1, 2, 3]\n", "test.yaml:2", "orders.every_s"},
        {"orders:\n  every_s: [1]\n", "test.yaml:2", "orders.every_s"},
        {"orders:\n  every_s: [1, soon]\n", "test.yaml:2", "orders.every_s"},
        {"orders:\n  every_s: 4\n", "test.yaml:2", "orders.every_s"},
        // Well-formed, but out of range: the reader must find the line again.
        {"seed: 1\n\nagents:\n  teams: 4\n  count: 0\n", "test.yaml:5", "agents.count"},
        {"server:\n  tick_hz: 1e9\n", "test.yaml:2", "server.tick_hz"},
        {"server:\n  tick_hz: .nan\n", "test.yaml:2", "server.tick_hz"},
        {"map: {width: 8,\n  height: 5000}\n", "test.yaml:2", "map.height"},
        {"map:\n  generator: labyrinth\n", "test.yaml:2", "map.generator"},
        {"orders:\n  group_size: [9, 3]\n", "test.yaml:2", "orders.group_size"},
        {"duration_s: 0\n", "test.yaml:1", "duration_s"},
        {"name: a-name-that-is-longer-than-thirty-two-bytes\n", "test.yaml:1", "name"},
        // Not YAML.
        {"agents:\n\tcount: 3\n", "test.yaml:", "character"},
        {"agents: {count: 3\n", "test.yaml:", ""},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        fm_scenario scenario = {.seed = 77};
        char error[FM_SCENARIO_ERROR_SIZE] = "";
        fm_status status = read_text(cases[i].text, &scenario, error);
        if (status == FM_OK || strstr(error, cases[i].place) == NULL ||
            strstr(error, cases[i].what) == NULL) {
            fail_msg("%s\ngives status %s and '%s', not '%s ... %s'", cases[i].text,
                     fm_status_name(status), error, cases[i].place, cases[i].what);
        }
        assert_true(scenario.seed == 77); // unchanged
    }
}

static void test_missing_file(void **state)
{
    (void)state;
    fm_scenario scenario;
    char error[FM_SCENARIO_ERROR_SIZE];
    assert_int_equal(fm_scenario_read("/nonexistent/x.yaml", &scenario, error), FM_ERR_IO);
    assert_non_null(strstr(error, "/nonexistent/x.yaml: No such file"));
}

static void test_flags(void **state)
{
    (void)state;
    fm_scenario scenario = fm_scenario_default();
    char error[FM_SCENARIO_ERROR_SIZE];
    assert_int_equal(fm_scenario_set(&scenario, "agents", "count", "250", error), FM_OK);
    assert_int_equal(scenario.agents, 250);
    assert_int_equal(fm_scenario_set(&scenario, "", "duration_s", "2.5", error), FM_OK);
    assert_true(scenario.duration_s == 2.5);
    assert_int_equal(fm_scenario_set(&scenario, "agents", "count", "2.5", error), FM_ERR_BAD_VALUE);
    assert_int_equal(fm_scenario_set(&scenario, "agents", "count", "", error), FM_ERR_BAD_VALUE);
    assert_int_equal(fm_scenario_set(&scenario, "agents", "count", "nan", error), FM_ERR_BAD_VALUE);
    assert_int_equal(fm_scenario_set(&scenario, "server", "overload", "panic", error),
                     FM_ERR_BAD_VALUE);
    assert_non_null(strstr(error, "slip skip degrade"));
    assert_int_equal(scenario.agents, 250);
}

static void test_contradictions(void **state)
{
    (void)state;
    char error[FM_SCENARIO_ERROR_SIZE];
    fm_scenario scenario = fm_scenario_default();
    assert_int_equal(fm_scenario_check(&scenario, error), FM_OK);
    scenario.neighbours = 6;
    assert_int_equal(fm_scenario_check(&scenario, error), FM_ERR_BAD_VALUE);
    scenario = fm_scenario_default();
    scenario.agents = 3;
    scenario.teams = 4;
    assert_int_equal(fm_scenario_check(&scenario, error), FM_ERR_BAD_VALUE);
    assert_non_null(strstr(error, "agents.teams"));
    scenario = fm_scenario_default();
    scenario.agents = FM_TEAMS_MAX + 1;
    scenario.teams = 0;
    assert_int_equal(fm_scenario_check(&scenario, error), FM_ERR_BAD_VALUE);
}

// The output of --keys is a valid scenario file with the defaults.
static void test_printed_keys_are_the_defaults(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fm_scenario_print_keys(out);
    fclose(out);
    fm_scenario scenario, plain = fm_scenario_default();
    char error[FM_SCENARIO_ERROR_SIZE] = "";
    if (read_text(text, &scenario, error) != FM_OK) {
        fail_msg("%s\n%s", error, text);
    }
    free(text);
#define FM_SCENARIO_TEXT(member, section, key, default_text, size_max, text)                       \
    assert_string_equal(scenario.member, plain.member);
#define FM_SCENARIO_CHOICE(member, section, key, default_text, choices, text)                      \
    assert_string_equal(scenario.member, plain.member);
#define FM_SCENARIO_BOOL(member, section, key, default_value, text)                                \
    assert_true(scenario.member == plain.member);
#define FM_SCENARIO_UINT(member, section, key, default_value, minimum, maximum, text)              \
    assert_true(scenario.member == plain.member);
#define FM_SCENARIO_REAL(member, section, key, default_value, minimum, maximum, text)              \
    assert_true(scenario.member == plain.member);
#define FM_SCENARIO_RANGE(member, section, key, low_value, high_value, minimum, maximum, text)     \
    assert_true(scenario.member.low == plain.member.low);                                          \
    assert_true(scenario.member.high == plain.member.high);
#include "loadtest/drive/scenario.def"
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_scenarios_are_sound),
        cmocka_unit_test(test_values_and_defaults),
        cmocka_unit_test(test_mistakes_are_named_with_their_line),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_printed_keys_are_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
