// test_config.c: settings of the server, from flags, environment and file.
//
// Goal: every key of the list can be set from every source, the stronger source wins, printed
// settings can be read back, and an error says where and what. Method: fm_options_read() with
// arguments and variables made here, and files in a folder of its own; memory streams take its
// output. The cases come from the list itself where possible.

#include "tests/support/support.h"

#include "server/base/config_file.h"
#include "server/base/config_print.h"
#include "server/process/options.h"

#include <unistd.h>

#define PATH_SIZE 256u

static char folder[] = "/tmp/fogmarch-config-XXXXXX";
static char config_path[PATH_SIZE], token_path[PATH_SIZE];

// The results of one call.
struct outcome {
    bool may_start;
    int exit_code;
    fm_config config;
    char *out;    // owned
    char *errors; // owned
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct outcome run(const char *const *arguments, const char *const *environment)
{
    struct outcome outcome = {.exit_code = -1};
    size_t out_size, errors_size;
    FILE *out = open_memstream(&outcome.out, &out_size);
    FILE *errors = open_memstream(&outcome.errors, &errors_size);
    outcome.may_start =
        fm_options_read(arguments, environment, &outcome.config, out, errors, &outcome.exit_code);
    fclose(out);
    fclose(errors);
    return outcome;
}

// Up to three arguments, no variables.
static struct outcome run_arguments(const char *first, const char *second, const char *third)
{
    const char *arguments[] = {first, second, third, NULL};
    const char *environment[] = {NULL};
    return run(arguments, environment);
}

static void outcome_fini(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->errors);
}

static struct outcome run_file(const char *yaml)
{
    write_file(config_path, yaml);
    return run_arguments("--check-config", "--config", config_path);
}

// Whether a key names other machines that somebody connects to.
static bool names_places(const fm_config_key *key)
{
    return strcmp(key->name, "follow") == 0 || strcmp(key->name, "relay_of") == 0 ||
           strcmp(key->name, "cluster_endpoints") == 0 ||
           strncmp(key->name, "cluster_advertise", 17) == 0;
}

// A valid value that differs from the default.
static void other_value(const fm_config_key *key, char *text, size_t size)
{
    switch (key->kind) {
    case FM_CONFIG_KIND_TEXT:
        snprintf(text, size, "%s",
                 strcmp(key->name, "listen") == 0 || strcmp(key->name, "http") == 0 ||
                         strcmp(key->name, "metrics_listen") == 0
                     ? "[::1]:7000"
                 : strcmp(key->name, "planner") == 0         ? "dstar-lite:queue=heap"
                 : strcmp(key->name, "http_origins") == 0    ? "https://a.example"
                 : names_places(key)                         ? "[::1]:7000"
                 : strncmp(key->name, "cluster_n", 9) == 0   ? "a.name-of_1"
                 : strcmp(key->name, "trusted_proxies") == 0 ? "10.0.0.0/8, ::1"
                 : strcmp(key->name, "token_file") == 0      ? token_path
                                                             : "a \"quoted\" \\ file: #1");
        return;
    case FM_CONFIG_KIND_BOOL:
        snprintf(text, size, "%s", strcmp(key->default_text, "true") == 0 ? "false" : "true");
        return;
    case FM_CONFIG_KIND_UINT:
    case FM_CONFIG_KIND_REAL:
        snprintf(text, size, "%.0f", key->maximum);
        return;
    case FM_CONFIG_KIND_CHOICE:
        snprintf(text, size, "%s",
                 key->names[strcmp(key->names[0], key->default_text) == 0 ? 1 : 0]);
        return;
    }
    FM_UNREACHABLE();
}

static void to_flag(const fm_config_key *key, const char *value, char *text, size_t size)
{
    snprintf(text, size, "--%s=%s", key->name, value);
    for (char *letter = text; *letter != '='; letter++) {
        *letter = *letter == '_' ? '-' : *letter;
    }
}

static void to_variable(const fm_config_key *key, const char *value, char *text, size_t size)
{
    snprintf(text, size, "FOGMARCH_%s=%s", key->name, value);
    for (char *letter = text; *letter != '='; letter++) {
        *letter = *letter >= 'a' && *letter <= 'z' ? (char)(*letter - 'a' + 'A') : *letter;
    }
}

static void write_yaml(const fm_config_key *key, const char *value)
{
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fprintf(file, "# a comment\n%s: '%s'\n", key->name, value);
    fclose(file);
}

// ---- sources ------------------------------------------------------------------------------------

// For each key and each set of sources that give it: the strongest has another value than the
// default, all weaker ones spell the default out. Then the other way round.
static void check_precedence(const fm_config_key *key, uint32_t sources, bool strongest_is_default)
{
    char other[FM_CONFIG_TEXT_MAX + 1], flag[512], entry[512], expected[512], found[512];
    other_value(key, other, sizeof other);
    const char *strong = strongest_is_default ? key->default_text : other;
    const char *weak = strongest_is_default ? other : key->default_text;
    uint32_t strongest = (sources & 4) ? 4 : (sources & 2) ? 2 : 1;

    to_flag(key, strongest == 4 ? strong : weak, flag, sizeof flag);
    to_variable(key, strongest == 2 ? strong : weak, entry, sizeof entry);
    write_yaml(key, strongest == 1 ? strong : weak);
    const char *arguments[] = {"--config", config_path, (sources & 4) ? flag : NULL, NULL};
    const char *environment[] = {"HOME=/", (sources & 2) ? entry : NULL, NULL};
    if (!(sources & 1)) {
        write_file(config_path, "");
    }

    struct outcome outcome = run(arguments, environment);
    if (!outcome.may_start) {
        fail_msg("%s: %s", key->name, outcome.errors);
    }
    fm_config wanted = fm_config_default();
    assert_int_equal(fm_config_set(&wanted, key, strong, found), FM_OK);
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) { // and no other key has changed
        fm_config_format(&wanted, &fm_config_keys[i], expected, sizeof expected);
        fm_config_format(&outcome.config, &fm_config_keys[i], found, sizeof found);
        assert_string_equal(found, expected);
    }
    outcome_fini(&outcome);
}

static void test_every_key_from_every_source(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        for (uint32_t sources = 1; sources < 8; sources++) {
            check_precedence(&fm_config_keys[i], sources, false);
            check_precedence(&fm_config_keys[i], sources, true);
        }
    }
}

static void test_defaults(void **state)
{
    (void)state;
    struct outcome outcome = run_arguments(NULL, NULL, NULL);
    assert_true(outcome.may_start);
    assert_int_equal(outcome.exit_code, FM_EXIT_OK);
    assert_string_equal(outcome.config.listen, "127.0.0.1:7421");
    assert_false(outcome.config.allow_remote);
    assert_int_equal(outcome.config.grants.count, 0);
    assert_true(outcome.config.tick_hz == 10 && outcome.config.budget_ms == 50);
    assert_int_equal(outcome.config.overload, FM_OVERLOAD_SLIP);
    assert_string_equal(outcome.config.planner, "auto");
    assert_int_equal(outcome.config.log_level, FM_LOG_INFO);
    outcome_fini(&outcome);
}

static void test_ways_to_write_flags(void **state)
{
    (void)state;
    struct outcome outcome = run_arguments("--tick-hz", "20", "--allow-remote");
    assert_true(outcome.may_start);
    assert_true(outcome.config.tick_hz == 20);
    assert_true(outcome.config.allow_remote);
    outcome_fini(&outcome);

    outcome = run_arguments("--allow-remote", "--allow-remote=no", "--tick-hz=2.5e1");
    assert_true(outcome.may_start);
    assert_true(outcome.config.tick_hz == 25);
    assert_false(outcome.config.allow_remote);
    outcome_fini(&outcome);
}

static void test_config_from_environment(void **state)
{
    (void)state;
    char entry[PATH_SIZE + 32];
    snprintf(entry, sizeof entry, "FOGMARCH_CONFIG=%s", config_path);
    write_file(config_path, "workers: 3\n");
    const char *arguments[] = {NULL}, *environment[] = {entry, NULL};
    struct outcome outcome = run(arguments, environment);
    assert_true(outcome.may_start);
    assert_int_equal(outcome.config.workers, 3);
    outcome_fini(&outcome);
}

// ---- what is printed ----------------------------------------------------------------------------

static void assert_same_settings(const fm_config *left, const fm_config *right)
{
    char first[FM_CONFIG_TEXT_MAX + 1], second[FM_CONFIG_TEXT_MAX + 1];
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        fm_config_format(left, &fm_config_keys[i], first, sizeof first);
        fm_config_format(right, &fm_config_keys[i], second, sizeof second);
        assert_string_equal(first, second);
    }
}

static void check_round_trip(const fm_config *config)
{
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fm_config_print(config, file);
    fclose(file);
    struct outcome outcome = run_arguments("--config", config_path, NULL);
    if (!outcome.may_start) {
        fail_msg("%s", outcome.errors);
    }
    assert_same_settings(&outcome.config, config);
    outcome_fini(&outcome);
}

static void test_printed_config_reads_back(void **state)
{
    (void)state;
    char text[FM_CONFIG_ERROR_SIZE], error[FM_CONFIG_ERROR_SIZE];
    fm_config config = fm_config_default();
    check_round_trip(&config);
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        other_value(&fm_config_keys[i], text, sizeof text);
        assert_int_equal(fm_config_set(&config, &fm_config_keys[i], text, error), FM_OK);
    }
    config.tick_hz = 1.0 / 3.0; // needs all digits of a double
    check_round_trip(&config);
}

static void test_print_config_keeps_the_secret(void **state)
{
    (void)state;
    const char *arguments[] = {"--print-config", NULL};
    const char *environment[] = {"FOGMARCH_TOKEN=0123456789abcdefXYZ", "FOGMARCH_TICK_HZ=12.5",
                                 NULL};
    struct outcome outcome = run(arguments, environment);
    assert_false(outcome.may_start);
    assert_int_equal(outcome.exit_code, FM_EXIT_OK);
    assert_non_null(strstr(outcome.out, "\ntick_hz: 12.5\n"));
    assert_null(strstr(outcome.out, "0123456789abcdefXYZ"));
    outcome_fini(&outcome);
}

static void test_help_names_every_flag(void **state)
{
    (void)state;
    char flag[128];
    struct outcome outcome = run_arguments("--help", "--tick-hz", "10");
    assert_int_equal(outcome.exit_code, FM_EXIT_OK);
    assert_string_equal(outcome.errors, "");
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        to_flag(&fm_config_keys[i], "", flag, sizeof flag);
        *strchr(flag, '=') = fm_config_keys[i].value_name != NULL ? ' ' : '\n';
        assert_non_null(strstr(outcome.out, flag));
    }
    for (const char *line = outcome.out; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strcspn(line, "\n") > 79) {
            fail_msg("too wide: %.*s", (int)strcspn(line, "\n"), line);
        }
    }
    outcome_fini(&outcome);
}

static void test_version(void **state)
{
    (void)state;
    struct outcome outcome = run_arguments("--version", NULL, NULL);
    assert_false(outcome.may_start);
    assert_string_equal(outcome.out, "fogmarchd " FOGMARCH_VERSION "\n");
    outcome_fini(&outcome);
}

// ---- errors -------------------------------------------------------------------------------------

// Mistakes in a file; the message begins with the file's name, and continues as given here.
static const struct {
    const char *yaml, *message;
} file_mistakes[] = {
    {"tick_hz: 10\n\ntick_herz: 20\n", ":3: tick_herz: there is no such key; perhaps tick_hz"},
    {"tick-hz: 10\n", ":1: tick-hz: there is no such key; perhaps tick_hz"},
    {"speed: 10\n", ":1: speed: there is no such key"},
    {"tick_hz: fast\n", ":1: tick_hz: 'fast' is not a number"},
    {"workers: 2\ntick_hz: 0\n", ":2: tick_hz: 0 is outside 0.1 to 1000"},
    {"tick_hz: nan\n", ":1: tick_hz: 'nan' is not a number"},
    {"tick_hz: 1e999\n", ":1: tick_hz: 1e999 is outside 0.1 to 1000"},
    {"workers: 3x\n", ":1: workers: '3x' is not a whole number"},
    {"workers: -1\n", ":1: workers: '-1' is not a whole number"},
    {"workers: 1.5\n", ":1: workers: '1.5' is not a whole number"},
    {"workers: 65\n", ":1: workers: 65 is outside 0 to 64"},
    {"workers: 99999999999999999999\n", ":1: workers: 99999999999999999999 is outside 0 to 64"},
    {"workers:\n", ":1: workers: '' is not a whole number"},
    {"# c\nworkers: [1, 2]\n", ":2: workers: a single short value is expected"},
    {"workers: 1\nlisten: {port: 1}\n", ":2: listen: a single short value is expected"},
    {"workers: &a 1\nmessage_depth_max: *a\n",
     ":2: message_depth_max: a single short value is expected"},
    {"workers: 1\ntick_hz: 1\nworkers: 1\n", ":3: workers: given twice"},
    {"allow_remote: maybe\n", ":1: allow_remote: 'maybe' is not true or false"},
    {"overload: panic\n", ":1: overload: 'panic' is none of slip, skip, degrade"},
    {"listen: localhost:1\n",
     ":1: listen: 'localhost:1' is not a numeric ADDRESS:PORT such as 127.0.0.1:7421 or "
     "[::1]:7421"},
    {"planner: teleport\n", ":1: planner: there is no planner 'teleport'"},
    {"planner: dstar_light\n", ":1: planner: there is no planner 'dstar_light'"},
    {"planner: dstar_lite\n", ":1: planner: there is no planner 'dstar_lite'; perhaps dstar-lite"},
    {"trusted_proxies: 10.0.0.1,\n", ":1: trusted_proxies: item 2 of '10.0.0.1,' is empty"},
    {"trusted_proxies: \"10.0.0.1, ,::1\"\n",
     ":1: trusted_proxies: item 2 of '10.0.0.1, ,::1' is empty"},
    {"trusted_proxies: \",\"\n", ":1: trusted_proxies: item 1 of ',' is empty"},
    {"http_origins: \",https://a.example\"\n",
     ":1: http_origins: item 1 of ',https://a.example' is empty"},
    {"http_origins: \"https://a.example https://b.example,,null\"\n",
     ":1: http_origins: item 3 of 'https://a.example https://b.example,,null' is empty"},
    {"port_file: \"a\\nb\"\n", ":1: port_file: control characters are not allowed"},
    {"port_file: \"a\\0b\"\n", ":1: port_file: a single short value is expected"},
    {"listen: [1\n", ":2: did not find expected ',' or ']'"},
    {"\ttick_hz: 1\n", ":1: found character that cannot start any token"},
    {"- tick_hz\n", ":1: lines of 'key: value' are expected"},
    {"tick_hz\n", ":1: lines of 'key: value' are expected"},
    {"workers: 1\n---\nworkers: 2\n", ":2: a second document"},
    {"workers: 1\nlisten: 0.0.0.0:7421\n",
     ":2: listen: 0.0.0.0:7421 can be reached from other machines; that needs allow_remote: true "
     "and a token (token_file or FOGMARCH_TOKEN) and tls_certificate (or allow_plaintext: true)"},
    {"token_file: /nonexistent/token\n",
     ":1: token_file: /nonexistent/token: No such file or directory"},
};

static void test_mistakes_in_a_file(void **state)
{
    (void)state;
    char expected[1024];
    for (size_t i = 0; i < FM_COUNT_OF(file_mistakes); i++) {
        struct outcome outcome = run_file(file_mistakes[i].yaml);
        assert_false(outcome.may_start);
        assert_string_equal(outcome.out, "");
        if (outcome.exit_code != FM_EXIT_FAILURE) {
            fail_msg("accepted: %s", file_mistakes[i].yaml);
        }
        snprintf(expected, sizeof expected, "fogmarchd: %s%s\n", config_path,
                 file_mistakes[i].message);
        assert_string_equal(outcome.errors, expected);
        outcome_fini(&outcome);
    }
}

static void test_all_wrong_values_are_reported(void **state)
{
    (void)state;
    struct outcome outcome = run_file("tick_hz: x\nworkers: y\nbudget_ms: 1\noverload: z\n");
    assert_non_null(strstr(outcome.errors, ":1: tick_hz: "));
    assert_non_null(strstr(outcome.errors, ":2: workers: "));
    assert_non_null(strstr(outcome.errors, ":4: overload: "));
    outcome_fini(&outcome);
}

static void test_right_files(void **state)
{
    (void)state;
    static const char *const files[] = {
        "",
        "# nothing\n",
        "{workers: 2, tick_hz: 5}\n",
        "\"workers\": '2'\r\n",
        "---\nworkers: 0\n...\n",
    };
    for (size_t i = 0; i < FM_COUNT_OF(files); i++) {
        struct outcome outcome = run_file(files[i]);
        assert_string_equal(outcome.errors, "");
        assert_int_equal(outcome.exit_code, FM_EXIT_OK);
        assert_false(outcome.may_start);
        outcome_fini(&outcome);
    }
}

static void check_refused(struct outcome outcome, int exit_code, const char *errors)
{
    assert_false(outcome.may_start);
    assert_string_equal(outcome.errors, errors);
    assert_int_equal(outcome.exit_code, exit_code);
    outcome_fini(&outcome);
}

static void test_mistakes_elsewhere(void **state)
{
    (void)state;
    check_refused(run_arguments("--tick-herz=1", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: --tick-herz=1: there is no such option; perhaps --tick-hz; see "
                  "fogmarchd --help\n");
    check_refused(run_arguments("--check_confg", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: --check_confg: there is no such option; perhaps --check-config; see "
                  "fogmarchd --help\n");
    check_refused(run_arguments("-x", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: -x: there is no such option; see fogmarchd --help\n");
    check_refused(run_arguments("now", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: now: no argument is expected; see fogmarchd --help\n");
    check_refused(run_arguments("--workers", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: --workers: a value is missing\n");
    check_refused(run_arguments("--workers=many", NULL, NULL), FM_EXIT_USAGE,
                  "fogmarchd: --workers: 'many' is not a whole number\n");
    check_refused(run_arguments("--config", "/nonexistent/file", NULL), FM_EXIT_FAILURE,
                  "fogmarchd: /nonexistent/file: No such file or directory\n");
    const char *arguments[] = {NULL}, *environment[] = {"FOGMARCH_BUDGET_MS=x", NULL};
    check_refused(run(arguments, environment), FM_EXIT_FAILURE,
                  "fogmarchd: FOGMARCH_BUDGET_MS: 'x' is not a number\n");
}

// Variables that nobody reads: --check-config refuses them, a start does not.
static void test_unknown_variables(void **state)
{
    (void)state;
    const char *none[] = {NULL}, *check[] = {"--check-config", NULL};
    const char *wrong[] = {"FOGMARCH_TICK_HERZ=20",   "FOGMARCH_=1", "FOGMARCH_tick_hz=2",
                           "FOGMARCH_MAX_SESSIONS=9", "FOGMARCHD=x", NULL};
    const char *good[] = {"FOGMARCH_TICK_HZ=20",
                          "FOGMARCH_TOKEN=0123456789abcdef",
                          "FOGMARCH_CONNECT=127.0.0.1:1",
                          "FOGMARCH_TLS_CA=ca.pem",
                          "FOGMARCH_SEED=1",
                          "FOGMARCH_MAPS=maps",
                          "FOGMARCH_PORT=tcp://10.0.0.1:7421",
                          "FOGMARCH_PORT_7421_TCP_ADDR=10.0.0.1",
                          "FOGMARCH_SERVICE_HOST=10.0.0.1",
                          NULL};
    check_refused(run(check, wrong), FM_EXIT_FAILURE,
                  "fogmarchd: FOGMARCH_TICK_HERZ: there is no such variable; perhaps "
                  "FOGMARCH_TICK_HZ\n"
                  "fogmarchd: FOGMARCH_: there is no such variable\n"
                  "fogmarchd: FOGMARCH_tick_hz: there is no such variable\n"
                  "fogmarchd: FOGMARCH_MAX_SESSIONS: there is no such variable\n");
    struct outcome outcome = run(none, wrong);
    assert_true(outcome.may_start);
    assert_string_equal(outcome.errors, "");
    outcome_fini(&outcome);
    outcome = run(check, good);
    assert_int_equal(outcome.exit_code, 0);
    assert_string_equal(outcome.errors, "");
    outcome_fini(&outcome);
}

// Addresses of other machines are checked when they are read, with the place where they stand.
static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *flag, *fault; // fault NULL: it is accepted
    } cases[] = {
        {"--cluster-advertise=10.0.0.1:7421", NULL},
        {"--cluster-advertise=", NULL},
        {"--cluster-advertise=a-b.example:7421", NULL},
        {"--cluster-advertise=10.0.0.1", "'10.0.0.1' is not ADDRESS:PORT"},
        {"--cluster-advertise=10.0.0.1:0", "is not ADDRESS:PORT"},
        {"--cluster-advertise=10.0.0.1:65536", "is not ADDRESS:PORT"},
        {"--cluster-advertise=10.0.0.1:+80", "is not ADDRESS:PORT"},
        {"--cluster-advertise=:7421", "is not ADDRESS:PORT"},
        {"--cluster-advertise=::1:7421", "is not ADDRESS:PORT"},
        {"--cluster-advertise=0.0.0.0:7421", "no address that others can connect to"},
        {"--cluster-advertise-http=[::]:7422", "no address that others can connect to"},
        {"--follow=[::1]:7421", NULL},
        {"--follow=http://10.0.0.1:7421", "is not ADDRESS:PORT"},
        {"--follow=10.0.0.1:7421,10.0.0.2:7421", "is not ADDRESS:PORT"},
        {"--cluster-endpoints=10.0.0.1:2379, m2:2379", NULL},
        {"--cluster-endpoints=10.0.0.1:2379,http://10.0.0.2:2379",
         "'http://10.0.0.2:2379' is not ADDRESS:PORT"},
        {"--cluster-endpoints=10.0.0.1:2379,,m2:2379",
         "item 2 of '10.0.0.1:2379,,m2:2379' is empty"},
        {"--relay-of=10.0.0.1:7421,", "item 2 of '10.0.0.1:7421,' is empty"},
        {"--trusted-proxies=::1,10.0.0.0/33,10.0.0.1",
         "'10.0.0.0/33' is no numeric address or network"},
        {"--planner=auto:queu=heap", "there is no planner option 'queu'; perhaps queue"},
        {"--planner=auto:queue=heep", "planner option 'queue' has no value 'heep'"},
        {"--planner=auto:queue=heap,ties=larger-g,queue=heap",
         "planner option 'queue' is there twice"},
        {"--cluster-endpoints=10.0.0.1:2379,", "item 2 of '10.0.0.1:2379,' is empty"},
        {"--relay-of=10.0.0.1:7421 , [::1]:7421", NULL},
        {"--relay-of=10.0.0.1", "'10.0.0.1' is not ADDRESS:PORT"},
        {"--http-origins=https://a.example, http://[::1]:80,null", NULL},
        {"--http-origins=a.example", "'a.example' is not the origin of a page"},
        {"--http-origins=null,https://a.example/", "'https://a.example/' is not the origin"},
        {"--http-origins=https://", "is not the origin of a page"},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        struct outcome outcome = run_arguments(cases[i].flag, NULL, NULL);
        bool is_right = cases[i].fault == NULL ? outcome.may_start
                                               : strstr(outcome.errors, cases[i].fault) != NULL &&
                                                     outcome.exit_code == FM_EXIT_USAGE;
        if (!is_right) {
            fail_msg("%s: %s", cases[i].flag, outcome.errors);
        }
        outcome_fini(&outcome);
    }
}

// ---- tokens and addresses -----------------------------------------------------------------------

static void check_only_admin(const fm_config *config, const char *token)
{
    fm_tokens tokens = {.configured = config->grants};
    const fm_grant *grant = fm_tokens_find(&tokens, token, strlen(token));
    assert_int_equal(config->grants.count, 1);
    assert_non_null(grant);
    assert_int_equal(grant->role, FM_ROLE_ADMIN);
}

// Rules for addresses other than loopback, on either port.
static void test_what_remote_needs(void **state)
{
    (void)state;
    const char *secure[] = {"--listen=0.0.0.0:0", "--http=0.0.0.0:0", "--allow-remote",
                            "--tls-certificate=x.pem", NULL};
    const char *plain[] = {"--listen=0.0.0.0:0", "--allow-remote", "--allow-plaintext", NULL};
    const char *without_tls[] = {"--listen=0.0.0.0:0", "--allow-remote", NULL};
    const char *http_without_tls[] = {"--http=0.0.0.0:0", "--allow-remote", NULL};
    const char *metrics[] = {"--metrics-listen=0.0.0.0:0", "--allow-remote", "--allow-plaintext",
                             NULL};
    const char *only_metrics[] = {"--metrics-listen=0.0.0.0:0", NULL};
    const char *not_allowed[] = {"--listen=[::]:0", "--tls-certificate=x.pem", NULL};
    const char *none[] = {NULL};
    const char *token[] = {"FOGMARCH_TOKEN=0123456789abcdef", NULL};
    const char *short_token[] = {"FOGMARCH_TOKEN=0123456789abcde", NULL};

    struct outcome outcome = run(secure, token);
    assert_true(outcome.may_start);
    check_only_admin(&outcome.config, "0123456789abcdef");
    outcome_fini(&outcome);
    outcome = run(plain, token);
    assert_true(outcome.may_start);
    outcome_fini(&outcome);

    outcome = run(metrics, none); // that port asks for no token
    assert_true(outcome.may_start);
    outcome_fini(&outcome);

    check_refused(
        run(only_metrics, none), FM_EXIT_USAGE,
        "fogmarchd: --metrics-listen: 0.0.0.0:0 can be reached from other machines; that needs "
        "allow_remote: true and tls_certificate (or allow_plaintext: true)\n");
    check_refused(run(plain, none), FM_EXIT_USAGE,
                  "fogmarchd: --listen: 0.0.0.0:0 can be reached from other machines; that needs a "
                  "token (token_file or FOGMARCH_TOKEN)\n");
    check_refused(run(secure, none), FM_EXIT_USAGE,
                  "fogmarchd: --listen: 0.0.0.0:0 can be reached from other machines; that needs a "
                  "token (token_file or FOGMARCH_TOKEN)\n"
                  "fogmarchd: --http: 0.0.0.0:0 can be reached from other machines; that needs a "
                  "token (token_file or FOGMARCH_TOKEN)\n");
    check_refused(run(without_tls, token), FM_EXIT_USAGE,
                  "fogmarchd: --listen: 0.0.0.0:0 can be reached from other machines; that needs "
                  "tls_certificate (or allow_plaintext: true)\n");
    check_refused(run(http_without_tls, token), FM_EXIT_USAGE,
                  "fogmarchd: --http: 0.0.0.0:0 can be reached from other machines; that needs "
                  "tls_certificate (or allow_plaintext: true)\n");
    check_refused(run(not_allowed, token), FM_EXIT_USAGE,
                  "fogmarchd: --listen: [::]:0 can be reached from other machines; that needs "
                  "allow_remote: true\n");
    check_refused(run(none, short_token), FM_EXIT_FAILURE,
                  "fogmarchd: FOGMARCH_TOKEN: a token has 16 to 256 bytes\n");
}

static void test_token_file(void **state)
{
    (void)state;
    char flag[PATH_SIZE + 16], expected[512];
    snprintf(flag, sizeof flag, "--token-file=%s", token_path);
    struct outcome outcome = run_arguments(flag, NULL, NULL);
    assert_true(outcome.may_start);
    check_only_admin(&outcome.config, "a-secret-of-the-tests");
    outcome_fini(&outcome);

    // The variable wins.
    const char *arguments[] = {flag, NULL},
               *environment[] = {"FOGMARCH_TOKEN=0123456789abcdef", NULL};
    outcome = run(arguments, environment);
    check_only_admin(&outcome.config, "0123456789abcdef");
    outcome_fini(&outcome);
    const char *check[] = {flag, "--check-config", NULL}, *nothing[] = {NULL};
    outcome = run(check, environment);
    snprintf(expected, sizeof expected,
             "fogmarchd: warning: token_file %s: is not read: FOGMARCH_TOKEN or FOGMARCH_TOKENS in "
             "the environment takes its place\n",
             token_path);
    assert_string_equal(outcome.errors, expected);
    outcome_fini(&outcome);
    outcome = run(check, nothing);
    assert_null(strstr(outcome.errors, "is not read"));
    outcome_fini(&outcome);

    char path[PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s.bad", token_path);
    snprintf(flag, sizeof flag, "--token-file=%.200s", path);
    write_file(path, "");
    snprintf(expected, sizeof expected, "fogmarchd: --token-file: %s: there is no token in it\n",
             path);
    check_refused(run_arguments(flag, NULL, NULL), FM_EXIT_USAGE, expected);

    // As the package's unit has it; wrong lines are refused all the same, and so is the network.
    outcome = run_arguments(flag, "--allow-no-tokens", NULL);
    assert_true(outcome.may_start);
    assert_int_equal(outcome.config.grants.count, 0);
    outcome_fini(&outcome);
    const char *no_variables[] = {NULL};
    const char *remote[] = {
        flag, "--allow-no-tokens", "--listen=0.0.0.0:0", "--allow-remote", "--allow-plaintext",
        NULL};
    check_refused(run(remote, no_variables), FM_EXIT_USAGE,
                  "fogmarchd: --listen: 0.0.0.0:0 can be reached from other machines; that needs a "
                  "token (token_file or FOGMARCH_TOKEN)\n");
    write_file(path, "admin short\n");
    snprintf(expected, sizeof expected,
             "fogmarchd: --token-file: %s: line 1: a token has 16 to 256 bytes\n", path);
    check_refused(run_arguments(flag, "--allow-no-tokens", NULL), FM_EXIT_USAGE, expected);
    char long_token[300];
    memset(long_token, 'x', sizeof long_token - 1);
    long_token[sizeof long_token - 1] = '\0';
    write_file(path, long_token);
    check_refused(run_arguments(flag, NULL, NULL), FM_EXIT_USAGE, expected);
    unlink(path);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *address; // address NULL: refused
        uint16_t port;
        bool is_loopback;
    } cases[] = {
        {"127.0.0.1:7421", "127.0.0.1", 7421, true},
        {"127.8.9.1:0", "127.8.9.1", 0, true},
        {"[::1]:65535", "::1", 65535, true},
        {"0.0.0.0:1", "0.0.0.0", 1, false},
        {"[::]:1", "::", 1, false},
        {"[::ffff:127.0.0.1]:1", "::ffff:127.0.0.1", 1, false},
        {"128.0.0.1:1", "128.0.0.1", 1, false},
        {"127.0.0.1:65536", NULL, 0, false},
        {"127.0.0.1:", NULL, 0, false},
        {"127.0.0.1", NULL, 0, false},
        {":80", NULL, 0, false},
        {"::1:80", NULL, 0, false},
        {"[::1]80", NULL, 0, false},
        {"[]:80", NULL, 0, false},
        {"[:80", NULL, 0, false},
        {"localhost:80", NULL, 0, false},
        {"127.0.0.1:+80", NULL, 0, false},
        {"", NULL, 0, false},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        char address[FM_CONFIG_TEXT_MAX + 1];
        uint16_t port;
        bool is_loopback;
        fm_status status = fm_listen_parse(cases[i].listen, address, &port, &is_loopback);
        assert_int_equal(status, cases[i].address == NULL ? FM_ERR_BAD_VALUE : FM_OK);
        if (status == FM_OK) {
            assert_string_equal(address, cases[i].address);
            assert_int_equal(port, cases[i].port);
            assert_int_equal(is_loopback, cases[i].is_loopback);
        }
    }
}

static void test_overload_names(void **state)
{
    (void)state;
    fm_overload overload;
    assert_true(fm_overload_by_name("degraded", 7, &overload));
    assert_int_equal(overload, FM_OVERLOAD_DEGRADE);
    assert_string_equal(fm_overload_name(overload), "degrade");
    assert_false(fm_overload_by_name("degraded", 8, &overload));
    assert_false(fm_overload_by_name("", 0, &overload));
}

// ---- the files in configs/ ----------------------------------------------------------------------

// Their certificates are not on this machine, and --check-config would read them.
static void test_shipped_configs(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "configs/development.yaml",
        "configs/match-server.yaml",
        "configs/public-server.yaml",
    };
    const char *environment[] = {"FOGMARCH_TOKEN=0123456789abcdef", NULL};
    for (size_t i = 0; i < FM_COUNT_OF(paths); i++) {
        const char *arguments[] = {"--print-config", "--config", paths[i], NULL};
        struct outcome outcome = run(arguments, environment);
        assert_string_equal(outcome.errors, "");
        assert_int_equal(outcome.exit_code, FM_EXIT_OK);
        outcome_fini(&outcome);
    }
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(config_path, sizeof config_path, "%s/config.yaml", folder);
    snprintf(token_path, sizeof token_path, "%s/token", folder);
    write_file(token_path, "# who may do everything\r\n\na-secret-of-the-tests\r\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(config_path);
    unlink(token_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_from_every_source),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_ways_to_write_flags),
        cmocka_unit_test(test_config_from_environment),
        cmocka_unit_test(test_printed_config_reads_back),
        cmocka_unit_test(test_print_config_keeps_the_secret),
        cmocka_unit_test(test_help_names_every_flag),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_mistakes_in_a_file),
        cmocka_unit_test(test_all_wrong_values_are_reported),
        cmocka_unit_test(test_right_files),
        cmocka_unit_test(test_mistakes_elsewhere),
        cmocka_unit_test(test_unknown_variables),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_what_remote_needs),
        cmocka_unit_test(test_token_file),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_overload_names),
        cmocka_unit_test(test_shipped_configs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
