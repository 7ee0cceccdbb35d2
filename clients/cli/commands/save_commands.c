// clients/cli/commands/save_commands.c: `save` and `load`: a world as one file.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- save --------------------------------------------------------------------------------------

struct saved {
    uint64_t save, tick;
    size_t total;
    char digest[17];
};

static void print_saved(const fm_cli *cli, const char *path, const struct saved *saved)
{
    if (cli->json) {
        printf("{\"tick\":%llu,\"bytes\":%zu,\"digest\":\"%s\"}\n", (unsigned long long)saved->tick,
               saved->total, saved->digest);
    } else {
        printf("%s: the world after tick %llu, digest %s, %zu bytes\n", path,
               (unsigned long long)saved->tick, saved->digest, saved->total);
    }
}

static int run_save(fm_cli *cli)
{
    const char *path = cli->arguments[0];
    fm_cli_connect(cli);
    uint64_t world = fm_cli_world_option(cli);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_SAVE);
    struct saved saved = {
        .save = fm_object_uint(result, "save", 0),
        .tick = fm_object_uint(result, "tick", 0),
        .total = (size_t)fm_object_uint(result, "total", 0),
    };
    fm_object_text(result, "digest", saved.digest, sizeof saved.digest);
    char *bytes;
    if (fm_client_download(cli->client, saved.save, saved.total, &bytes) != FM_OK) {
        fm_cli_die_of_client(cli);
    }
    fm_cli_write_file(cli, path, bytes, saved.total);
    free(bytes);
    if (strcmp(path, "-") != 0) {
        print_saved(cli, path, &saved);
    }
    return 0;
}

const fm_cli_command fm_cli_save = {
    .name = "save",
    .arguments = "FILE",
    .summary = "save a world as one file",
    .details =
        "Saves a world as it is between two ticks: map, teams and what\n"
        "they know, agents and their orders. FILE may be - for standard output. The world goes\n"
        "on; searches that are under way begin again. FILE appears when it is whole.",
    .options = fm_cli_world_options,
    .examples = "fogmarch save arena.world\n"
                "fogmarch save arena.world --world arena",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_save,
};

// ---- load --------------------------------------------------------------------------------------

static void print_loaded(const msgpack_object *result)
{
    char name[65], digest[17];
    fm_object_text(result, "name", name, sizeof name);
    fm_object_text(result, "digest", digest, sizeof digest);
    bool known = strspn(digest, "0") < strlen(digest); // not of a world of `replay seek --save`
    printf("world %llu: %s, %llux%llu cells, after tick %llu%s%s\n",
           (unsigned long long)fm_object_uint(result, "world", 0), name,
           (unsigned long long)fm_object_uint(result, "width", 0),
           (unsigned long long)fm_object_uint(result, "height", 0),
           (unsigned long long)fm_object_uint(result, "tick", 0), known ? ", digest " : "",
           known ? digest : "");
}

static int run_load(fm_cli *cli)
{
    fm_cli_connect(cli);
    fm_cli_upload(cli, cli->arguments[1], FM_UPLOAD_BYTES_MAX);
    fm_params_text(&cli->params, FM_FIELD_NAME, cli->arguments[0]);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_WORLD_LOAD);
    if (!fm_cli_print_json(cli, result)) {
        print_loaded(result);
    }
    return 0;
}

static const fm_cli_option load_options[] = {
    {"tick-hz", 0, FM_CLI_REAL, "RATE", "ticks per second; as saved", FM_FIELD_TICK_HZ},
    {"budget-ms", 0, FM_CLI_REAL, "TIME", "milliseconds a tick may take; as saved",
     FM_FIELD_BUDGET_MS},
    {"overload", 0, FM_CLI_TEXT, "POLICY", "slip, skip or degrade when ticks are late; as\nsaved",
     FM_FIELD_OVERLOAD},
    {"paused", 0, FM_CLI_FLAG, NULL, "begin paused; as saved", FM_FIELD_PAUSED},
    {.name = NULL},
};

const fm_cli_command fm_cli_load = {
    .name = "load",
    .arguments = "NAME FILE",
    .summary = "make a world from a saved one",
    .details =
        "Makes a world from a file that 'fogmarch save' wrote, on this server or another one. It\n"
        "continues at the pace that it was saved with, and is paused if it was, unless options "
        "say\n"
        "something else. FILE may be - for standard input.",
    .options = load_options,
    .examples = "fogmarch load rematch arena.world --paused",
    .arguments_min = 2,
    .arguments_max = 2,
    .run = run_load,
};
