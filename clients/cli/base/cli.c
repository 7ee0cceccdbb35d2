// clients/cli/base/cli.c: see cli.h.

#include "clients/cli/base/cli.h"

#include "clients/cli/base/parse.h"
#include "clients/cli/base/terminal.h"
#include "core/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fm_cli_option fm_cli_world_options[] = {FM_CLI_OPTION_WORLD, {.name = NULL}};

// ---- failing ------------------------------------------------------------------------------------

static void print_complaint(const fm_cli *cli, const char *format, va_list arguments)
{
    fm_terminal_leave(); // else the message would vanish with the screen
    fflush(stdout);
    fprintf(stderr, cli->command == NULL ? "fogmarch%s: " : "fogmarch %s: ",
            cli->command == NULL ? "" : cli->command->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

_Noreturn void fm_cli_usage_error(const fm_cli *cli, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(cli, format, arguments);
    va_end(arguments);
    if (cli->command != NULL) {
        fprintf(stderr, "Try 'fogmarch %s --help'.\n", cli->command->name);
    } else {
        fputs("Try 'fogmarch --help'.\n", stderr);
    }
    exit(FM_EXIT_USAGE);
}

_Noreturn void fm_cli_die(const fm_cli *cli, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(cli, format, arguments);
    va_end(arguments);
    exit(FM_EXIT_FAILED);
}

_Noreturn void fm_cli_die_of_client(const fm_cli *cli)
{
    const fm_client_error *error = fm_client_error_last(cli->client);
    fm_cli_die(cli, "%s (%s)", error->message, error->name);
}

void *fm_cli_need(const fm_cli *cli, void *block)
{
    if (block == NULL) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    return block;
}

void fm_cli_reserve(const fm_cli *cli, void **array, uint32_t *capacity, uint32_t wanted,
                    size_t size)
{
    if (!fm_reserve(&fm_memory_libc, array, capacity, wanted, size)) {
        fm_cli_need(cli, NULL);
    }
}

// ---- options ------------------------------------------------------------------------------------

const char *fm_cli_value_at(const fm_cli *cli, const char *name, uint32_t index)
{
    for (uint32_t i = 0; i < cli->given_count; i++) {
        if (strcmp(cli->given[i].option->name, name) == 0 && index-- == 0) {
            return cli->given[i].value;
        }
    }
    return NULL;
}

// Position of the last occurrence of an option; given_count when there is none.
static uint32_t find_last(const fm_cli *cli, const char *name)
{
    for (uint32_t i = cli->given_count; i-- > 0;) {
        if (strcmp(cli->given[i].option->name, name) == 0) {
            return i;
        }
    }
    return cli->given_count;
}

const char *fm_cli_value(const fm_cli *cli, const char *name)
{
    uint32_t last = find_last(cli, name);
    return last == cli->given_count ? NULL : cli->given[last].value;
}

uint64_t fm_cli_uint(const fm_cli *cli, const char *name, uint64_t minimum, uint64_t maximum,
                     uint64_t fallback)
{
    const char *value = fm_cli_value(cli, name);
    uint64_t number = fallback;
    if (value != NULL && (!fm_parse_uint(value, maximum, &number) || number < minimum)) {
        fm_cli_usage_error(cli, "--%s: '%s' is not a whole number in %llu..%llu", name, value,
                           (unsigned long long)minimum, (unsigned long long)maximum);
    }
    return number;
}

double fm_cli_real(const fm_cli *cli, const char *name, double minimum, double maximum,
                   double fallback)
{
    const char *value = fm_cli_value(cli, name);
    double real = fallback;
    if (value != NULL && (!fm_parse_real(value, &real) || real < minimum || real > maximum)) {
        fm_cli_usage_error(cli, "--%s: '%s' is not a number in %g..%g", name, value, minimum,
                           maximum);
    }
    return real;
}

void fm_cli_pack_options(fm_cli *cli)
{
    for (uint32_t i = 0; i < cli->given_count; i++) {
        const fm_cli_option *option = cli->given[i].option;
        // A map may hold each name once: of an option that is given several times, the last counts.
        if (option->field == 0 || find_last(cli, option->name) != i) {
            continue;
        }
        switch (option->kind) {
        case FM_CLI_FLAG:
            fm_params_bool(&cli->params, option->field, true);
            break;
        case FM_CLI_UINT:
            fm_params_uint(&cli->params, option->field,
                           fm_cli_uint(cli, option->name, 0, (uint64_t)FM_UINT_MAX, 0));
            break;
        case FM_CLI_REAL:
            fm_params_real(&cli->params, option->field,
                           fm_cli_real(cli, option->name, 0, FM_UINT_MAX, 0));
            break;
        case FM_CLI_TEXT:
            fm_params_text(&cli->params, option->field, cli->given[i].value);
            break;
        }
    }
}

// ---- talking to the server ----------------------------------------------------------------------

void fm_cli_connect(fm_cli *cli)
{
    fm_client_options options = fm_client_options_default();
    options.name = "fogmarch " FOGMARCH_VERSION;
    options.token = cli->token[0] == '\0' ? NULL : cli->token;
    options.tls = cli->tls;
    options.tls_ca_file = cli->tls_ca_file;
    options.timeout_ms = cli->timeout_ms;
    options.follow_ms = cli->timeout_ms; // in a cluster: to the node that has the world
    fm_client_error error;
    fm_status status = fm_client_connect(cli->address, &options, &cli->client, &error);
    if (status == FM_ERR_BAD_VALUE) {
        fm_cli_usage_error(cli, "--connect: %s", error.message);
    }
    if (status != FM_OK) {
        fm_cli_die(cli, "%s", error.message);
    }
    status = fm_client_hello(cli->client, &cli->welcome);
    if (status == FM_ERR_IO && !cli->tls) {
        fm_cli_die(cli, "%s: %s; if it speaks TLS: --tls, or --tls-ca FILE", cli->address,
                   fm_client_error_last(cli->client)->message);
    }
    if (status != FM_OK) {
        fm_cli_die_of_client(cli);
    }
}

const msgpack_object *fm_cli_call_unless(fm_cli *cli, fm_method method, fm_status refusal)
{
    const msgpack_object *result = NULL;
    fm_status status = fm_client_call_patiently(cli->client, method, &cli->params, &result);
    fm_params_clear(&cli->params);
    if (status != FM_OK && status != refusal) {
        fm_cli_die_of_client(cli);
    }
    return status == FM_OK ? result : NULL;
}

const msgpack_object *fm_cli_call(fm_cli *cli, fm_method method)
{
    return fm_cli_call_unless(cli, method, FM_OK);
}

// Counts worlds, and keeps the last that is not `known`; and why some may be missing.
static uint32_t count_worlds(fm_cli *cli, fm_method method, uint64_t known, uint64_t *world,
                             char missing[FM_ERROR_TEXT_SIZE])
{
    const msgpack_object *result = fm_cli_call(cli, method);
    fm_numbers worlds = fm_object_numbers(result, "worlds");
    fm_object_text(result, "missing", missing, FM_ERROR_TEXT_SIZE);
    uint32_t count = 0;
    for (uint32_t i = 0; i < worlds.count; i++) {
        uint64_t number = fm_object_uint(&worlds.elements[i], "world", 0);
        if (number != known) {
            *world = number;
            count++;
        }
    }
    return count;
}

// In a cluster the world may be on another node; an admin may see that list, in which one that was
// made just now is still missing.
static uint64_t only_world(fm_cli *cli)
{
    uint64_t world = 0;
    char missing[FM_ERROR_TEXT_SIZE], none[FM_ERROR_TEXT_SIZE];
    uint32_t count = count_worlds(cli, FM_METHOD_WORLD_LIST, 0, &world, missing);
    if (cli->welcome.node[0] != '\0' && strcmp(cli->welcome.role, "admin") == 0) {
        count += count_worlds(cli, FM_METHOD_CLUSTER_STATUS, world, &world, none);
    }
    if (count == 0 && missing[0] != '\0') {
        fm_cli_die(cli, "no world is here: %s", missing);
    }
    if (count == 0) {
        fm_cli_die(cli, "there is no world yet; 'fogmarch create' makes one");
    }
    if (count > 1) {
        fm_cli_die(cli, "there are %u worlds; say which one ('fogmarch worlds' lists them)", count);
    }
    return world;
}

uint64_t fm_cli_world(fm_cli *cli, const char *given)
{
    uint64_t number;
    if (given == NULL) {
        return only_world(cli);
    }
    if (fm_parse_uint(given, (uint64_t)FM_UINT_MAX, &number)) {
        return number;
    }
    fm_params_text(&cli->params, FM_FIELD_NAME, given);
    return fm_object_uint(fm_cli_call(cli, FM_METHOD_WORLD_LOCATE), "world", 0);
}

uint64_t fm_cli_world_option(fm_cli *cli)
{
    return fm_cli_world(cli, fm_cli_value(cli, "world"));
}
