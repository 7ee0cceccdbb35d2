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

const fm_cli_command fm_cli_token = {
    .name = "token",
    .arguments = "ROLE",
    .summary = "make a token for a player, observer, debugger or admin",
    .details =
        "Makes a secret that lets a client in with a role, and prints it, once. A player's is\n"
        "for its seat: one team of one world. It ends with its world, with the server, or\n"
        "with `fogmarch revoke`, which wants the number that --json prints.",
    .examples = "FOGMARCH_TOKEN=$(fogmarch token player --team 1) fogmarch watch\n"
                "fogmarch token observer > observer.token",
    .options =
        (const fm_cli_option[]){
            FM_CLI_OPTION_WORLD,
            {.name = "team",
             .letter = 't',
             .kind = FM_CLI_UINT,
             .argument = "TEAM",
             .text = "of the player",
             .field = FM_FIELD_TEAM},
            {.name = NULL},
        },
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
