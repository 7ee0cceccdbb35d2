// clients/cli/commands/token_commands.c: `token` and `revoke`.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/parse.h"

#include <stdio.h>
#include <string.h>

// The world is wanted for players only; the others may act in every one.
static int run_token(fm_cli *cli)
{
    const char *role = cli->arguments[0];
    fm_cli_connect(cli);
    if (strcmp(role, fm_role_name(FM_ROLE_PLAYER)) == 0) {
        fm_params_uint(&cli->params, FM_FIELD_WORLD, fm_cli_world_option(cli));
    } else if (fm_cli_value(cli, "world") != NULL) {
        fm_cli_usage_error(cli, "only players have a world");
    }
    fm_params_text(&cli->params, FM_FIELD_ROLE, role);
    fm_cli_pack_options(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_TOKEN_CREATE);
    if (!fm_cli_print_json(cli, result)) {
        char token[257] = "";
        fm_object_text(result, "token", token, sizeof token);
        printf("%s\n", token);
    }
    return 0;
}

static int run_revoke(fm_cli *cli)
{
    uint64_t number;
    if (!fm_parse_uint(cli->arguments[0], (uint64_t)FM_UINT_MAX, &number) || number == 0) {
        fm_cli_usage_error(cli, "'%s' is not the number of a token", cli->arguments[0]);
    }
    fm_cli_connect(cli);
    fm_params_uint(&cli->params, FM_FIELD_NUMBER, number);
    fm_cli_print_json(cli, fm_cli_call(cli, FM_METHOD_TOKEN_REVOKE));
    return 0;
}

static void print_seconds(const msgpack_object *token, const char *key)
{
    const msgpack_object *seconds = fm_object_get(token, key);
    if (seconds == NULL) {
        printf("  %10s", "never");
    } else {
        printf("  %10llu", (unsigned long long)seconds->via.u64);
    }
}

static void print_token(const msgpack_object *token)
{
    char role[16] = "";
    fm_object_text(token, "role", role, sizeof role);
    printf("%6llu  %-8s", (unsigned long long)fm_object_uint(token, "number", 0), role);
    if (fm_object_get(token, "world") == NULL) {
        printf("  %5s  %5s", "", "");
    } else {
        printf("  %5llu  %5llu", (unsigned long long)fm_object_uint(token, "world", 0),
               (unsigned long long)fm_object_uint(token, "team", 0));
    }
    print_seconds(token, "expires_s");
    print_seconds(token, "used_s");
    putchar('\n');
}

static int run_tokens(fm_cli *cli)
{
    fm_cli_connect(cli);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_TOKEN_LIST);
    if (!fm_cli_print_json(cli, result)) {
        const msgpack_object *tokens = fm_object_get(result, "tokens");
        uint32_t count = tokens == NULL ? 0 : tokens->via.array.size;
        puts("NUMBER  ROLE      WORLD   TEAM  EXPIRES IN    USED AGO");
        for (uint32_t i = 0; i < count; i++) {
            print_token(&tokens->via.array.ptr[i]);
        }
    }
    return 0;
}

const fm_cli_command fm_cli_tokens = {
    .name = "tokens",
    .arguments = "",
    .summary = "list the tokens that were made",
    .details =
        "Lists the tokens that `fogmarch token` and token.create made and that are good, with\n"
        "the seconds until each expires and since a client used it last.",
    .examples = "fogmarch tokens",
    .run = run_tokens,
};

static const fm_cli_option token_options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "TEAM", "of the player", FM_FIELD_TEAM},
    {"expires", 0, FM_CLI_UINT, "SECONDS", "how long it is good for; until it is revoked",
     FM_FIELD_EXPIRES_S},
    {.name = NULL},
};

const fm_cli_command fm_cli_token = {
    .name = "token",
    .arguments = "ROLE",
    .summary = "make a token for a player, observer, debugger or admin",
    .details =
        "Makes a secret that lets a client in with a role, and prints it, once. A player's is\n"
        "for its seat: one team of one world. It ends with its world, with --expires, with a\n"
        "server that keeps no journals, or with `fogmarch revoke`, which wants the number that\n"
        "--json and `fogmarch tokens` print.",
    .examples = "FOGMARCH_TOKEN=$(fogmarch token player --team 1) fogmarch watch\n"
                "fogmarch token observer > observer.token",
    .options = token_options,
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_token,
};

const fm_cli_command fm_cli_revoke = {
    .name = "revoke",
    .arguments = "NUMBER",
    .summary = "end a token that was made",
    .details = "Ends a token by its number, and the sessions that were opened with it.",
    .examples = "fogmarch revoke 3",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_revoke,
};
