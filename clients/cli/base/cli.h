// clients/cli/base/cli.h: what all subcommands of `fogmarch` share: their table, options,
// connection, and how they fail.
//
// A subcommand is one row of the table in clients/cli/main.c: its help, its options, and a
// function. main.c parses the command line into fm_cli, the function does its work and returns the
// exit code.
//
// Exit codes  0 done; 1 refused by the server, or the connection failed; 2 wrong usage.
// Failures    a subcommand that cannot continue prints an error and ends the process, only through
//             the functions below; cleanup (the terminal) is registered with atexit().

#pragma once

#include <fogmarch/connection.h>
#include <fogmarch/object.h>

#define FM_EXIT_FAILED        1
#define FM_EXIT_USAGE         2
#define FM_CLI_GIVEN_MAX      4096u  // options on one command line
#define FM_CLI_AGENTS_AT_ONCE 16384u // agents in one request

typedef enum fm_cli_kind {
    FM_CLI_FLAG,
    FM_CLI_UINT,
    FM_CLI_REAL,
    FM_CLI_TEXT,
} fm_cli_kind;

typedef struct fm_cli_option {
    const char *name;     // without the dashes; NULL ends a list
    char letter;          // short form, or 0
    fm_cli_kind kind;     // how its value is checked and sent
    const char *argument; // of its value in the help; NULL for flags
    const char *text;     // in the help, lines separated by \n
    fm_field field;       // parameter that fm_cli_pack_options() makes of it; 0: none
} fm_cli_option;

typedef struct fm_cli fm_cli;

typedef struct fm_cli_command {
    const char *name;
    const char *arguments;        // as in "usage: fogmarch NAME [OPTION...] ARGUMENTS"
    const char *summary;          // one line for the list
    const char *details;          // paragraphs for its own help
    const char *examples;         // lines, without the leading spaces; may be NULL
    const fm_cli_option *options; // its own, besides those that all have; may be NULL
    int arguments_min, arguments_max;
    int (*run)(fm_cli *cli);
} fm_cli_command;

struct fm_cli {
    const fm_cli_command *command;
    struct {
        const fm_cli_option *option;
        const char *value;
    } given[FM_CLI_GIVEN_MAX];
    uint32_t given_count;
    int argument_count;
    char **arguments;
    bool json;
    const char *address;
    char token[257];
    bool tls;
    const char *tls_ca_file; // NULL: those of the system
    uint32_t timeout_ms;
    fm_client *client; // after fm_cli_connect()
    fm_client_welcome welcome;
    fm_params params; // for whatever request comes next
};

// ---- options ------------------------------------------------------------------------------------

/// The value of an option (of flags: ""), the last one when it was given several times; NULL when
/// not given.
const char *fm_cli_value(const fm_cli *cli, const char *name);

/// Occurrence number `index` of an option; NULL after the last.
const char *fm_cli_value_at(const fm_cli *cli, const char *name, uint32_t index);

/// A number in minimum..maximum; `fallback` when the option was not given. Ends in a usage error.
uint64_t fm_cli_uint(const fm_cli *cli, const char *name, uint64_t minimum, uint64_t maximum,
                     uint64_t fallback);

/// A number in minimum..maximum; `fallback` when the option was not given. Ends in a usage error.
double fm_cli_real(const fm_cli *cli, const char *name, double minimum, double maximum,
                   double fallback);

/// Adds a parameter to cli->params for each option that has a field. Ends in a usage error.
void fm_cli_pack_options(fm_cli *cli);

// ---- failing ------------------------------------------------------------------------------------

/// "fogmarch COMMAND: ..." on stderr, exit code 2.
_Noreturn void fm_cli_usage_error(const fm_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// "fogmarch COMMAND: ..." on stderr, exit code 1.
_Noreturn void fm_cli_die(const fm_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// @return `block`; or dies when it is NULL (out of memory)
void *fm_cli_need(const fm_cli *cli, void *block);

/// As fm_reserve() (core/base/memory.h), of memory for free(); or dies when out of memory.
void fm_cli_reserve(const fm_cli *cli, void **array, uint32_t *capacity, uint32_t wanted,
                    size_t size);

// ---- talking to the server ----------------------------------------------------------------------

/// Connects and says hello, or dies.
void fm_cli_connect(fm_cli *cli);

/// Sends cli->params and clears them; again while the server is busy. @return the result, good
/// until the next call; or dies
const msgpack_object *fm_cli_call(fm_cli *cli, fm_method method);

/// As fm_cli_call(), but for one refusal. @return NULL: the server has refused it so
const msgpack_object *fm_cli_call_unless(fm_cli *cli, fm_method method, fm_status refusal);

/// Dies with the client's last error.
_Noreturn void fm_cli_die_of_client(const fm_cli *cli);

/// The number of a world that is given by number or name; NULL: the only one there is. Or dies.
uint64_t fm_cli_world(fm_cli *cli, const char *given);

/// The world of --world.
uint64_t fm_cli_world_option(fm_cli *cli);

// ---- options that several commands have ---------------------------------------------------------

#define FM_CLI_OPTION_WORLD                                                                        \
    {                                                                                              \
        "world", 'w', FM_CLI_TEXT, "WORLD",                                                        \
            "number or name; may be left out when there is only one", FM_FIELD_PROTOCOL            \
    }

/// For a command that has that option and no other.
extern const fm_cli_option fm_cli_world_options[];
