// clients/cli/main.c: the program `fogmarch`: finds the subcommand, reads its options, runs it.
//
// Options that all subcommands have may stand before or after the subcommand's name.

#include "clients/cli/cluster/cluster.h"
#include "clients/cli/commands/commands.h"
#include "clients/cli/picture/picture.h"
#include "clients/cli/replay/replay.h"
#include "clients/cli/watch/watch.h"
#include "core/base/edit_distance.h"
#include "core/base/name_hint.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIONS_MAX     64
#define FIRST_LONG_ONLY 256 // values of getopt_long() for options without a letter
#define HELP_COLUMN     30  // where the text of an option begins

// clang-format off
// The table of subcommands. A row with a heading begins a group of the list in --help.
static const struct row {
    const char *heading;
    const fm_cli_command *command;
} table[] = {
    {"Server", &fm_cli_ping},
    {NULL, &fm_cli_healthcheck},
    {NULL, &fm_cli_stats},
    {NULL, &fm_cli_cluster},
    {NULL, &fm_cli_standby},
    {NULL, &fm_cli_token},
    {NULL, &fm_cli_revoke},
    {NULL, &fm_cli_tokens},
    {"Worlds", &fm_cli_worlds},
    {NULL, &fm_cli_create},
    {NULL, &fm_cli_info},
    {NULL, &fm_cli_pause},
    {NULL, &fm_cli_resume},
    {NULL, &fm_cli_step},
    {NULL, &fm_cli_save},
    {NULL, &fm_cli_load},
    {NULL, &fm_cli_terrain},
    {NULL, &fm_cli_cost},
    {NULL, &fm_cli_build},
    {NULL, &fm_cli_demolish},
    {NULL, &fm_cli_destroy},
    {NULL, &fm_cli_map},
    {"Teams and agents", &fm_cli_team},
    {NULL, &fm_cli_spawn},
    {NULL, &fm_cli_order},
    {NULL, &fm_cli_set},
    {NULL, &fm_cli_cancel},
    {NULL, &fm_cli_go_on},
    {NULL, &fm_cli_place},
    {NULL, &fm_cli_board},
    {NULL, &fm_cli_unboard},
    {NULL, &fm_cli_report},
    {NULL, &fm_cli_remove},
    {NULL, &fm_cli_play},
    {"Looking", &fm_cli_watch},
    {NULL, &fm_cli_path},
    {NULL, &fm_cli_distance},
    {NULL, &fm_cli_reachable},
    {NULL, &fm_cli_nearest},
    {NULL, &fm_cli_field},
    {NULL, &fm_cli_inspect},
    {NULL, &fm_cli_explain},
    {NULL, &fm_cli_top},
    {NULL, &fm_cli_snapshot},
    {NULL, &fm_cli_replay},
};
// clang-format on

static const fm_cli_option common_options[] = {
    {"connect", 'c', FM_CLI_TEXT, "ADDRESS:PORT",
     "server to talk to; FOGMARCH_CONNECT in the environment,\n"
     "else " FM_CLIENT_ADDRESS,
     0},
    {"token-file", 0, FM_CLI_TEXT, "FILE",
     "its first line is the token to say hello with;\n"
     "else FOGMARCH_TOKEN in the environment, else none",
     0},
    {"tls", 0, FM_CLI_FLAG, NULL, "talk to it over TLS", 0},
    {"tls-ca", 0, FM_CLI_TEXT, "FILE",
     "the same, and trust these certificates (PEM);\n"
     "FOGMARCH_TLS_CA in the environment, else the system's",
     0},
    {"timeout", 0, FM_CLI_REAL, "SECONDS", "how long to wait for an answer; 30", 0},
    {"json", 'j', FM_CLI_FLAG, NULL, "print JSON, for programs", 0},
    {"help", 'h', FM_CLI_FLAG, NULL, "print this help", 0},
    {"version", 'V', FM_CLI_FLAG, NULL, "print the version", 0},
    {.name = NULL},
};

// ---- help ---------------------------------------------------------------------------------------

static void print_option(const fm_cli_option *option)
{
    char head[80], letter[8] = "    ";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(head, sizeof head, "  %s--%s%s%s", letter, option->name,
             option->argument == NULL ? "" : " ", option->argument == NULL ? "" : option->argument);
    printf("%-*s", HELP_COLUMN, head);
    if (strlen(head) >= HELP_COLUMN) {
        printf("\n%-*s", HELP_COLUMN, "");
    }
    for (const char *c = option->text; *c != '\0'; c++) {
        putchar(*c);
        if (*c == '\n') {
            printf("%-*s", HELP_COLUMN, "");
        }
    }
    putchar('\n');
}

static void print_options(const char *heading, const fm_cli_option *options)
{
    printf("\n%s:\n", heading);
    for (const fm_cli_option *option = options; option->name != NULL; option++) {
        print_option(option);
    }
}

static void print_help(void)
{
    puts("Usage: fogmarch [OPTION...] COMMAND [ARGUMENT...]\n"
         "\n"
         "Talks to a fogmarch server: makes worlds, gives orders to the agents in them, and shows\n"
         "what happens.");
    for (size_t i = 0; i < FM_COUNT_OF(table); i++) {
        if (table[i].heading != NULL) {
            printf("\n%s:\n", table[i].heading);
        }
        printf("  %-13s%s\n", table[i].command->name, table[i].command->summary);
    }
    print_options("Options of every command", common_options);
    puts("\n"
         "'fogmarch COMMAND --help' says more about each.\n"
         "\n"
         "Exit status: 0 done, 1 refused or no connection, 2 wrong usage.");
}

static void print_indented(const char *lines)
{
    for (bool fresh = true; *lines != '\0'; lines++) {
        if (fresh) {
            fputs("  ", stdout);
        }
        putchar(*lines);
        fresh = *lines == '\n';
    }
    putchar('\n');
}

static void print_command_help(const fm_cli_command *command)
{
    printf("Usage: fogmarch %s [OPTION...]%s%s\n\n%s\n", command->name,
           command->arguments[0] == '\0' ? "" : " ", command->arguments, command->details);
    if (command->options != NULL) {
        print_options("Options", command->options);
    }
    print_options("Options of every command", common_options);
    if (command->examples != NULL) {
        puts("\nExamples:");
        print_indented(command->examples);
    }
}

// ---- options ------------------------------------------------------------------------------------

// The arguments of getopt_long() for the options of a command (or NULL) and the common ones.
struct parser {
    const fm_cli_option *known[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 1];
    char letters[2 * OPTIONS_MAX + 3];
    int count;
};

static void add_options(struct parser *parser, const fm_cli_option *options)
{
    for (const fm_cli_option *option = options; option != NULL && option->name != NULL; option++) {
        FM_ASSERT(parser->count < OPTIONS_MAX);
        bool takes_value = option->kind != FM_CLI_FLAG;
        parser->known[parser->count] = option;
        parser->longs[parser->count] = (struct option){
            .name = option->name,
            .has_arg = takes_value ? required_argument : no_argument,
            .val = option->letter != 0 ? option->letter : FIRST_LONG_ONLY + parser->count,
        };
        parser->count++;
        if (option->letter != 0) {
            size_t length = strlen(parser->letters);
            parser->letters[length] = option->letter;
            parser->letters[length + 1] = takes_value ? ':' : '\0';
        }
    }
}

static const fm_cli_option *find_option(const struct parser *parser, int value)
{
    for (int i = 0; i < parser->count; i++) {
        if (parser->longs[i].val == value) {
            return parser->known[i];
        }
    }
    FM_UNREACHABLE();
}

// After getopt_long() returned '?' or ':'. Of a letter it tells only the letter: the argument
// before `optind` may be another one then.
_Noreturn static void refuse_option(const fm_cli *cli, const struct parser *parser, int value,
                                    const char *argument)
{
    fm_name_hint hint;
    if (value == ':') {
        fm_cli_usage_error(cli, "option '%s' needs a value", argument);
    }
    if (optopt != 0 && strncmp(argument, "--", 2) == 0) {
        fm_cli_usage_error(cli, "option '%s' takes no value", argument);
    }
    if (optopt != 0) {
        fm_cli_usage_error(cli, "no such option: '-%c'", optopt);
    }
    fm_name_hint_of_option(&hint, argument, parser->longs);
    fm_cli_usage_error(cli, "no such option: '%s'%s", argument, fm_name_hint_text(&hint));
}

// Reads options into `cli`. @return index of the first argument that is none
static int parse_options(fm_cli *cli, int argc, char **argv, bool before_command)
{
    struct parser parser = {.letters = ":"};
    if (before_command) {
        strcpy(parser.letters, "+:"); // stop at the command's name
    }
    add_options(&parser, cli->command == NULL ? NULL : cli->command->options);
    add_options(&parser, common_options);
    optind = 0; // start over
    opterr = 0; // our own messages
    for (;;) {
        int value = getopt_long(argc, argv, parser.letters, parser.longs, NULL);
        if (value == -1) {
            return optind;
        }
        if (value == '?' || value == ':') {
            refuse_option(cli, &parser, value, argv[optind - 1]);
        }
        if (cli->given_count == FM_CLI_GIVEN_MAX) {
            fm_cli_usage_error(cli, "more than %u options", FM_CLI_GIVEN_MAX);
        }
        cli->given[cli->given_count].option = find_option(&parser, value);
        cli->given[cli->given_count].value = optarg == NULL ? "" : optarg;
        cli->given_count++;
    }
}

// ---- what all commands need ---------------------------------------------------------------------

static void set_token(fm_cli *cli, const char *token)
{
    size_t size = strcspn(token, "\r\n");
    if (size >= sizeof cli->token) {
        fm_cli_usage_error(cli, "the token has more than %zu bytes", sizeof cli->token - 1);
    }
    memcpy(cli->token, token, size);
    cli->token[size] = '\0';
}

static void read_token(fm_cli *cli)
{
    const char *path = fm_cli_value(cli, "token-file");
    const char *given = getenv("FOGMARCH_TOKEN");
    if (path == NULL) {
        set_token(cli, given == NULL ? "" : given);
        return;
    }
    char line[512] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof line, file) == NULL) {
        fm_cli_die(cli, "--token-file %s: %s", path,
                   file == NULL ? strerror(errno) : "there is no token in it");
    }
    fclose(file);
    set_token(cli, line);
}

// A variable that is nearly one of these is most likely a mistyped one. Those of the server, which
// share the prefix, are less like them; FOGMARCH_TOKENS is one.
static void warn_of_variable(const char *name)
{
    static const char *const known[] = {"FOGMARCH_CONNECT", "FOGMARCH_TOKEN", "FOGMARCH_TLS_CA"};
    for (size_t i = 0; i < FM_COUNT_OF(known); i++) {
        uint32_t distance = fm_edit_distance(name, known[i]);
        if (distance > 0 && distance <= 2 && strcmp(name, "FOGMARCH_TOKENS") != 0) {
            fprintf(stderr, "fogmarch: warning: %s: there is no such variable; perhaps %s\n", name,
                    known[i]);
        }
    }
}

static void warn_of_variables(void)
{
    static const char prefix[] = "FOGMARCH_";
    for (char **entry = environ; *entry != NULL; entry++) {
        char name[FM_EDIT_DISTANCE_MAX + 1];
        size_t size = strcspn(*entry, "=");
        if (strncmp(*entry, prefix, sizeof prefix - 1) == 0 && size < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)size, *entry);
            warn_of_variable(name);
        }
    }
}

static void read_common_options(fm_cli *cli)
{
    warn_of_variables();
    const char *from_environment = getenv("FOGMARCH_CONNECT");
    const char *given = fm_cli_value(cli, "connect");
    if (given == NULL && from_environment != NULL && from_environment[0] != '\0') {
        given = from_environment;
    }
    cli->address = given == NULL ? FM_CLIENT_ADDRESS : given;
    const char *ca_from_environment = getenv("FOGMARCH_TLS_CA");
    cli->tls_ca_file = fm_cli_value(cli, "tls-ca");
    if (cli->tls_ca_file == NULL && ca_from_environment != NULL && ca_from_environment[0] != '\0') {
        cli->tls_ca_file = ca_from_environment;
    }
    cli->tls = fm_cli_value(cli, "tls") != NULL || cli->tls_ca_file != NULL;
    cli->json = fm_cli_value(cli, "json") != NULL;
    cli->timeout_ms = (uint32_t)(fm_cli_real(cli, "timeout", 0.001, 86400, 30) * 1000);
    read_token(cli);
}

static const fm_cli_command *find_command(const fm_cli *cli, const char *name)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, name);
    for (size_t i = 0; i < FM_COUNT_OF(table); i++) {
        if (strcmp(table[i].command->name, name) == 0) {
            return table[i].command;
        }
        fm_name_hint_offer(&hint, table[i].command->name);
    }
    fm_cli_usage_error(cli, "no such command: '%s'%s", name, fm_name_hint_text(&hint));
}

// Prints help or the version when that is what was asked for, and ends.
static void answer_questions(const fm_cli *cli)
{
    if (fm_cli_value(cli, "version") != NULL) {
        puts("fogmarch " FOGMARCH_VERSION);
        exit(0);
    }
    if (fm_cli_value(cli, "help") == NULL) {
        return;
    }
    if (cli->command == NULL) {
        print_help();
    } else {
        print_command_help(cli->command);
    }
    exit(0);
}

static bool has_option(const fm_cli_command *command, const char *name)
{
    const fm_cli_option *option = command->options;
    while (option != NULL && option->name != NULL && strcmp(option->name, name) != 0) {
        option++;
    }
    return option != NULL && option->name != NULL;
}

static void check_argument_count(const fm_cli *cli)
{
    const fm_cli_command *command = cli->command;
    if (cli->argument_count < command->arguments_min) {
        fm_cli_usage_error(cli, "too few arguments; wanted: %s", command->arguments);
    }
    if (cli->argument_count > command->arguments_max) {
        fm_cli_usage_error(cli, "'%s' is one argument too many%s",
                           cli->arguments[command->arguments_max],
                           has_option(command, "world") ? "; a world is named by --world" : "");
    }
}

// A full disk, or a closed pipe, must not look like success.
static int close_output(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "fogmarch: cannot write the output: %s\n", strerror(errno));
        return code == 0 ? FM_EXIT_FAILED : code;
    }
    return code;
}

int main(int argc, char **argv)
{
    static fm_cli cli; // too large for some stacks
    int first = parse_options(&cli, argc, argv, true);
    if (first < argc && strcmp(argv[first], "help") == 0) { // `fogmarch help create`
        cli.command = first + 1 < argc ? find_command(&cli, argv[first + 1]) : NULL;
        if (cli.command == NULL) {
            print_help();
        } else {
            print_command_help(cli.command);
        }
        return close_output(0);
    }
    if (first == argc) {
        answer_questions(&cli);
        fm_cli_usage_error(&cli, "which command?");
    }
    cli.command = find_command(&cli, argv[first]);
    int rest = parse_options(&cli, argc - first, argv + first, false);
    cli.argument_count = argc - first - rest;
    cli.arguments = argv + first + rest;
    answer_questions(&cli);
    check_argument_count(&cli);
    read_common_options(&cli);
    fm_params_init(&cli.params);
    int code = cli.command->run(&cli);
    fm_params_fini(&cli.params);
    fm_client_destroy(cli.client);
    return close_output(code);
}
