// server/process/options.c: see options.h.

#include "server/process/options.h"

#include "core/base/name_hint.h"
#include "server/base/config_file.h"
#include "server/base/config_print.h"
#include "server/cluster/etcd_access.h"
#include "server/process/membership.h"
#include "server/process/standby.h"
#include "server/process/variables.h"
#include "server/relay/relay.h"
#include "server/wire/tls.h"

#include <errno.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#define NAME_SIZE FM_VARIABLE_NAME_SIZE // bytes of a flag's name, NUL included

enum source_kind {
    SOURCE_DEFAULT,
    SOURCE_FILE,
    SOURCE_VARIABLE,
    SOURCE_FLAG,
};

struct options {
    // What the command line requests.
    bool help, version, print_config, check_config;
    const char *config_path;
    const char *flags[FM_CONFIG_KEY_COUNT]; // text of each flag, NULL when not given

    const char *const *environment;
    fm_config_entry entries[FM_CONFIG_KEY_COUNT];
    enum source_kind sources[FM_CONFIG_KEY_COUNT]; // the source of each key
    fm_config config;

    FILE *errors;
    uint32_t error_count;
    int exit_code; // of the most severe error
};

// ---- errors -------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static void complain(struct options *options, int exit_code,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(options->errors, "fogmarchd: ");
    vfprintf(options->errors, format, arguments);
    fputc('\n', options->errors);
    va_end(arguments);
    options->error_count++;
    if (exit_code > options->exit_code) {
        options->exit_code = exit_code;
    }
}

static void flag_name(const fm_config_key *key, char *name)
{
    snprintf(name, NAME_SIZE, "--%s", key->name);
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = *letter == '_' ? '-' : *letter;
    }
}

// Says what is wrong with a key, in the words of the one who set it.
static void complain_about(struct options *options, const fm_config_key *key,
                           enum source_kind source, const char *error)
{
    char name[NAME_SIZE];
    switch (source) {
    case SOURCE_DEFAULT:
        complain(options, FM_EXIT_FAILURE, "%s: %s", key->name, error);
        return;
    case SOURCE_FILE:
        complain(options, FM_EXIT_FAILURE, "%s:%u: %s: %s", options->config_path,
                 options->entries[key - fm_config_keys].line, key->name, error);
        return;
    case SOURCE_VARIABLE:
        fm_variable_name(key, name);
        complain(options, FM_EXIT_FAILURE, "%s: %s", name, error);
        return;
    case SOURCE_FLAG:
        flag_name(key, name);
        complain(options, FM_EXIT_USAGE, "%s: %s", name, error);
        return;
    }
    FM_UNREACHABLE();
}

// ---- the command line ---------------------------------------------------------------------------

// Whether an argument is this flag; `value` receives what follows "=", or NULL.
static bool is_flag(const char *argument, const char *name, const char **value)
{
    size_t size = strlen(name);
    if (strncmp(argument, name, size) != 0 || (argument[size] != '\0' && argument[size] != '=')) {
        return false;
    }
    *value = argument[size] == '=' ? argument + size + 1 : NULL;
    return true;
}

static const fm_config_key *find_flag(const char *argument, const char **value)
{
    char name[NAME_SIZE];
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        flag_name(&fm_config_keys[i], name);
        if (is_flag(argument, name, value)) {
            return &fm_config_keys[i];
        }
    }
    return NULL;
}

// Flags that are no keys and take no value.
static const struct {
    const char *name, *letter;
    size_t wanted; // offset of a bool of the options
} switches[] = {
    {"--help", "-h", offsetof(struct options, help)},
    {"--version", "-V", offsetof(struct options, version)},
    {"--print-config", NULL, offsetof(struct options, print_config)},
    {"--check-config", NULL, offsetof(struct options, check_config)},
};

static bool take_switch(struct options *options, const char *argument)
{
    for (size_t i = 0; i < FM_COUNT_OF(switches); i++) {
        if (strcmp(argument, switches[i].name) == 0 ||
            (switches[i].letter != NULL && strcmp(argument, switches[i].letter) == 0)) {
            *(bool *)((char *)options + switches[i].wanted) = true;
            return true;
        }
    }
    return false;
}

// Says that there is no such option, and which one may be meant.
static void complain_about_option(struct options *options, const char *argument)
{
    char name[FM_EDIT_DISTANCE_MAX + 1];
    fm_name_hint hint;
    size_t size = strcspn(argument, "=");
    bool is_long = strncmp(argument, "--", 2) == 0 && size < sizeof name;
    snprintf(name, sizeof name, "%.*s", is_long ? (int)size : 0, argument);
    fm_name_hint_begin(&hint, name); // nothing is like ""
    for (size_t i = 0; i < FM_COUNT_OF(switches); i++) {
        fm_name_hint_offer(&hint, switches[i].name);
    }
    fm_name_hint_offer(&hint, "--config");
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        flag_name(&fm_config_keys[i], name);
        fm_name_hint_offer(&hint, name);
    }
    complain(options, FM_EXIT_USAGE, "%s: there is no such option%s; see fogmarchd --help",
             argument, fm_name_hint_text(&hint));
}

// Takes a flag with a value. Returns how many arguments that took; 0 when it is no such flag.
static size_t take_setting(struct options *options, const char *const *arguments)
{
    const char *value = NULL;
    bool is_config = is_flag(arguments[0], "--config", &value);
    const fm_config_key *key = is_config ? NULL : find_flag(arguments[0], &value);
    if (!is_config && key == NULL) {
        return 0;
    }
    size_t taken = 1;
    if (value == NULL && key != NULL && key->kind == FM_CONFIG_KIND_BOOL) {
        value = "true";
    } else if (value == NULL) {
        value = arguments[1];
        taken = value == NULL ? 1 : 2;
    }
    if (value == NULL) {
        complain(options, FM_EXIT_USAGE, "%s: a value is missing", arguments[0]);
    } else if (is_config) {
        options->config_path = value;
    } else {
        options->flags[key - fm_config_keys] = value;
    }
    return taken;
}

static void read_command_line(struct options *options, const char *const *arguments)
{
    while (*arguments != NULL) {
        if (take_switch(options, *arguments)) {
            arguments++;
            continue;
        }
        size_t taken = take_setting(options, arguments);
        if (taken == 0 && **arguments == '-') {
            complain_about_option(options, *arguments);
        } else if (taken == 0) {
            complain(options, FM_EXIT_USAGE, "%s: no argument is expected; see fogmarchd --help",
                     *arguments);
        }
        arguments += taken == 0 ? 1 : taken;
    }
}

// ---- environment and file -----------------------------------------------------------------------

static const char *variable(const struct options *options, const char *name)
{
    size_t size = strlen(name);
    for (const char *const *entry = options->environment; *entry != NULL; entry++) {
        if (strncmp(*entry, name, size) == 0 && (*entry)[size] == '=') {
            return *entry + size + 1;
        }
    }
    return NULL;
}

static void on_file_fault(void *context, const char *error)
{
    complain(context, FM_EXIT_FAILURE, "%s", error);
}

// Errors are printed by then; values are still checked.
static void read_file(struct options *options)
{
    if (options->config_path == NULL) {
        options->config_path = variable(options, "FOGMARCH_CONFIG");
    }
    if (options->config_path == NULL) {
        return;
    }
    fm_status status =
        fm_config_file_read(options->config_path, options->entries, on_file_fault, options);
    FM_ASSERT((status == FM_OK) == (options->error_count == 0));
}

// Sets one key from one source. A value that a stronger source overrides must be valid as well.
static void set_key(struct options *options, uint32_t index, enum source_kind source,
                    const char *text)
{
    char error[FM_CONFIG_ERROR_SIZE];
    if (text == NULL) {
        return;
    }
    options->sources[index] = source;
    if (fm_config_set(&options->config, &fm_config_keys[index], text, error) != FM_OK) {
        complain_about(options, &fm_config_keys[index], source, error);
    }
}

static void set_keys(struct options *options)
{
    char name[NAME_SIZE];
    options->config = fm_config_default();
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        fm_variable_name(&fm_config_keys[i], name);
        set_key(options, i, SOURCE_FILE, options->entries[i].text);
        set_key(options, i, SOURCE_VARIABLE, variable(options, name));
        set_key(options, i, SOURCE_FLAG, options->flags[i]);
    }
}

// ---- tokens, and what keys demand of each other -------------------------------------------------

static void complain_about_token_file(struct options *options, const char *error)
{
    const fm_config_key *key = fm_config_key_find("token_file");
    char text[FM_CONFIG_ERROR_SIZE];
    snprintf(text, sizeof text, "%s: %.200s", options->config.token_file, error);
    complain_about(options, key, options->sources[key - fm_config_keys], text);
}

// Variables override the file, as everywhere.
static void find_tokens(struct options *options)
{
    fm_grants *grants = &options->config.grants;
    char wrong[FM_CONFIG_ERROR_SIZE];
    const char *token = variable(options, "FOGMARCH_TOKEN");
    const char *tokens = variable(options, "FOGMARCH_TOKENS");
    if (token != NULL) {
        const char *error = fm_grants_add_admin(grants, token, strlen(token));
        if (error != NULL) {
            complain(options, FM_EXIT_FAILURE, "FOGMARCH_TOKEN: %s", error);
        }
    }
    if (tokens != NULL &&
        fm_grants_parse(grants, tokens, strlen(tokens), ';', wrong, sizeof wrong) != FM_OK) {
        complain(options, FM_EXIT_FAILURE, "FOGMARCH_TOKENS: %s", wrong);
    }
    if (token != NULL || tokens != NULL || options->config.token_file[0] == '\0') {
        return;
    }
    options->config.grants_from_file = true;
    if (fm_grants_read_file(grants, options->config.token_file, options->config.allow_no_tokens,
                            wrong, sizeof wrong) != FM_OK) {
        complain_about_token_file(options, wrong);
    }
}

// A server that the network can reach must be configured twice: the address, and allow_remote. It
// also needs tokens and TLS.
static void check_remote(struct options *options, const char *name, const char *listen,
                         bool asks_for_token)
{
    const fm_config *config = &options->config;
    char address[FM_CONFIG_TEXT_MAX + 1], text[FM_CONFIG_ERROR_SIZE];
    uint16_t port;
    bool is_loopback;
    if (listen[0] == '\0') {
        return;
    }
    fm_status status = fm_listen_parse(listen, address, &port, &is_loopback);
    FM_ASSERT(status == FM_OK); // checked when it was set
    const struct {
        bool missing;
        const char *what;
    } needs[] = {
        {!config->allow_remote, "allow_remote: true"},
        {asks_for_token && config->grants.count == 0, "a token (token_file or FOGMARCH_TOKEN)"},
        {config->tls_certificate[0] == '\0' && !config->allow_plaintext,
         "tls_certificate (or allow_plaintext: true)"},
    };
    int size =
        snprintf(text, sizeof text, "%s can be reached from other machines; that needs ", listen);
    uint32_t count = 0;
    for (size_t i = 0; i < FM_COUNT_OF(needs); i++) {
        if (needs[i].missing) {
            size += snprintf(text + size, sizeof text - (size_t)size, "%s%s",
                             count++ == 0 ? "" : " and ", needs[i].what);
        }
    }
    if (!is_loopback && count > 0) {
        const fm_config_key *key = fm_config_key_find(name);
        complain_about(options, key, options->sources[key - fm_config_keys], text);
    }
}

// ---- files that --check-config looks into ------------------------------------------------------

const char *fm_options_token_file_warning(const fm_config *config)
{
    struct stat about;
    if (config->token_file[0] == '\0' || stat(config->token_file, &about) != 0) {
        return NULL;
    }
    return (about.st_mode & (S_IROTH | S_IWOTH)) != 0 ? "every user of this machine can read or "
                                                        "write it; chmod 600 is enough"
           : (about.st_mode & S_IWGRP) != 0 ? "its group can write it; chmod 640 is enough"
                                            : NULL;
}

bool fm_options_token_file_is_passed_over(const fm_config *config)
{
    return config->token_file[0] != '\0' && !config->grants_from_file;
}

static void check_certificate(struct options *options)
{
    const fm_config *config = &options->config;
    bool has_key = config->tls_key[0] != '\0';
    char error[FM_TLS_ERROR_SIZE] = "there is no tls_certificate for it";
    bool good =
        config->tls_certificate[0] == '\0'
            ? !has_key
            : fm_tls_check(config->tls_certificate,
                           has_key ? config->tls_key : config->tls_certificate, error) == FM_OK;
    if (!good) {
        const fm_config_key *key =
            fm_config_key_find(config->tls_certificate[0] == '\0' ? "tls_key" : "tls_certificate");
        complain_about(options, key, options->sources[key - fm_config_keys], error);
    }
}

static void check_folder(struct options *options, const char *name, const char *path)
{
    struct stat about;
    bool is_found = path[0] == '\0' || stat(path, &about) == 0;
    if (path[0] == '\0' || (is_found && S_ISDIR(about.st_mode))) {
        return;
    }
    char text[FM_CONFIG_ERROR_SIZE];
    snprintf(text, sizeof text, "%.200s: %s", path, strerror(is_found ? ENOTDIR : errno));
    const fm_config_key *key = fm_config_key_find(name);
    complain_about(options, key, options->sources[key - fm_config_keys], text);
}

static void complain_about_variable(void *context, const char *name, const char *meant)
{
    complain(context, FM_EXIT_FAILURE, "%s: there is no such variable%s%s", name,
             meant == NULL ? "" : "; perhaps ", meant == NULL ? "" : meant);
}

static void check_files(struct options *options)
{
    const char *warning = fm_options_token_file_warning(&options->config);
    check_certificate(options);
    check_folder(options, "journal_dir", options->config.journal_dir);
    check_folder(options, "web_root", options->config.web_root);
    if (fm_options_token_file_is_passed_over(&options->config)) {
        fprintf(options->errors,
                "fogmarchd: warning: token_file %s: is not read: FOGMARCH_TOKEN or FOGMARCH_TOKENS "
                "in the environment takes its place\n",
                options->config.token_file);
    } else if (warning != NULL) {
        fprintf(options->errors, "fogmarchd: warning: token_file %s: %s\n",
                options->config.token_file, warning);
    }
}

// ---- what needs no server -----------------------------------------------------------------------

static void print_help(FILE *out)
{
    fputs("Usage: fogmarchd [OPTION]...\n"
          "Pathfinding server for real-time strategy games: moves tens of thousands of\n"
          "agents through terrain that their teams do not know yet.\n"
          "\n"
          "Every setting below is also a key of the YAML file (--tick-hz is tick_hz) and\n"
          "an environment variable (FOGMARCH_TICK_HZ). A flag beats a variable, a variable\n"
          "beats the file, the file beats the default.\n"
          "\n"
          "General:\n"
          "  --config FILE\n"
          "          Read settings from this YAML file. FOGMARCH_CONFIG does the same.\n"
          "  --check-config\n"
          "          Check all settings, the files and folders that they name, report\n"
          "          what is wrong, and exit.\n"
          "  --print-config\n"
          "          Print all settings as a YAML file with comments, and exit.\n"
          "  -h, --help\n"
          "          Print this text and exit.\n"
          "  -V, --version\n"
          "          Print the version and exit.\n",
          out);
    fm_config_print_flags(out);
    fputs("\n"
          "Environment:\n"
          "  FOGMARCH_TOKEN\n"
          "          Secret that gives a client the role admin, instead of a token file.\n"
          "  FOGMARCH_TOKENS\n"
          "          Lines as in a token file, ended by line ends or ';'.\n"
          "          Tokens are never given on the command line, where every user could\n"
          "          read them.\n"
          "  The log names variables that begin with FOGMARCH_ and that nobody reads;\n"
          "  --check-config refuses them.\n"
          "\n"
          "Signals:\n"
          "  SIGTERM, SIGINT\n"
          "          Notify the clients, end the running ticks, write what is left, exit.\n"
          "  SIGHUP\n"
          "          Read the settings, tokens and certificates again.\n"
          "\n"
          "Exit status:\n"
          "  0  all went well\n"
          "  1  a setting is wrong, or the server could not start or continue\n"
          "  2  the command line is wrong\n"
          "  70  the event loop stood still for --loop-stall-s, or did not end in time\n"
          "\n"
          "Examples:\n"
          "  fogmarchd\n"
          "          Serve this machine on port 7421.\n"
          "  fogmarchd --config configs/match-server.yaml --workers 8\n"
          "  fogmarchd --print-config > fogmarch.yaml\n",
          out);
}

// Does what was asked for. Returns whether there was anything.
static bool print_wanted(const struct options *options, FILE *out)
{
    if (options->help) {
        print_help(out);
    } else if (options->version) {
        fprintf(out, "fogmarchd %s\n", FOGMARCH_VERSION);
    } else if (options->print_config) {
        fm_config_print(&options->config, out);
    } else {
        return options->check_config;
    }
    return true;
}

// A node needs etcd, and a folder for what it has taken over. With etcd and without a name it would
// be a server of its own, and make worlds that the cluster does not know.
static void check_cluster(struct options *options)
{
    const fm_config *config = &options->config;
    char error[FM_ETCD_ERROR_SIZE];
    fm_etcd_access access;
    if (config->cluster_name[0] == '\0') {
        if (config->cluster_endpoints[0] != '\0') {
            fprintf(options->errors,
                    "fogmarchd: warning: cluster_endpoints is set and cluster_name "
                    "is not: this server is in no cluster\n");
        }
        return;
    }
    fm_secrets secrets;
    if (fm_membership_find_etcd(config, &access, error) == FM_OK) {
        fm_etcd_access_fini(&access);
    } else {
        complain(options, FM_EXIT_FAILURE, "%s", error);
    }
    if (fm_membership_read_secrets(config, &secrets, error) != FM_OK) {
        complain(options, FM_EXIT_FAILURE, "%s", error);
    }
    sodium_memzero(&secrets, sizeof secrets);
}

fm_status fm_options_check_relay(const fm_config *config, char *error)
{
    char reason[FM_ETCD_ERROR_SIZE];
    fm_status status = config->relay_of[0] == '\0' ? FM_OK : fm_relay_check(config, error);
    if (status != FM_OK || config->relay_of[0] == '\0' || config->relay_ca_file[0] == '\0') {
        return status;
    }
    status = fm_etcd_ca_check("relay_ca_file", config->relay_ca_file, reason);
    snprintf(error, FM_RELAY_ERROR_SIZE, "%s", status == FM_OK ? "" : reason);
    return status;
}

static void check_relay(struct options *options)
{
    char error[FM_RELAY_ERROR_SIZE];
    if (fm_options_check_relay(&options->config, error) != FM_OK) {
        complain(options, FM_EXIT_FAILURE, "%s", error);
    }
}

static void check_standby(struct options *options)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    if (fm_standby_check(&options->config, error) != FM_OK) {
        complain(options, FM_EXIT_FAILURE, "%s", error);
    }
}

static void read_settings(struct options *options)
{
    read_file(options);
    set_keys(options);
    if (options->error_count == 0) { // later checks would report the values that were kept instead
        find_tokens(options);
        check_remote(options, "listen", options->config.listen, true);
        check_remote(options, "http", options->config.http, true);
        check_remote(options, "metrics_listen", options->config.metrics_listen, false);
    }
}

bool fm_options_read(const char *const *arguments, const char *const *environment,
                     fm_config *config, FILE *out, FILE *errors, int *exit_code)
{
    struct options options = {.environment = environment, .errors = errors};
    bool may_start = false;
    read_command_line(&options, arguments);
    bool is_asking = options.help || options.version;
    if (options.error_count == 0 && !is_asking) {
        read_settings(&options);
    }
    if (options.error_count == 0 && options.check_config) {
        check_files(&options);
        check_cluster(&options);
        check_relay(&options);
        check_standby(&options);
        fm_variables_find_unknown(environment, complain_about_variable, &options);
    }
    if (options.error_count == 0) {
        may_start = !print_wanted(&options, out);
        if (fflush(out) != 0) {
            complain(&options, FM_EXIT_FAILURE, "writing failed: %s", strerror(errno));
        }
    }
    if (may_start) {
        *config = options.config;
    }
    *exit_code = options.exit_code;
    fm_config_entries_fini(options.entries);
    explicit_bzero(&options.config, sizeof options.config);
    return may_start;
}
