// clients/cli/commands/commands.h: the subcommands of this room, as a list for the table in
// clients/cli/main.c, its only reader: each is a constant at the bottom of the file named here, so
// one list in place of twenty headers of a line each. `snapshot`, `watch`, `replay` and `cluster`
// have rooms of their own.

#pragma once

#include "clients/cli/base/cli.h"
#include "clients/cli/base/parse.h"
#include "core/map/grid.h"

extern const fm_cli_command fm_cli_ping;        // server_commands.c
extern const fm_cli_command fm_cli_stats;       // server_commands.c
extern const fm_cli_command fm_cli_standby;     // standby_commands.c
extern const fm_cli_command fm_cli_healthcheck; // healthcheck.c
extern const fm_cli_command fm_cli_worlds;      // world_commands.c
extern const fm_cli_command fm_cli_info;        // world_commands.c
extern const fm_cli_command fm_cli_destroy;     // world_commands.c
extern const fm_cli_command fm_cli_pause;       // world_commands.c
extern const fm_cli_command fm_cli_resume;      // world_commands.c
extern const fm_cli_command fm_cli_step;        // world_commands.c
extern const fm_cli_command fm_cli_create;      // create.c
extern const fm_cli_command fm_cli_save;        // save_commands.c
extern const fm_cli_command fm_cli_load;        // save_commands.c
extern const fm_cli_command fm_cli_team;        // agent_commands.c
extern const fm_cli_command fm_cli_remove;      // agent_commands.c
extern const fm_cli_command fm_cli_order;       // agent_commands.c
extern const fm_cli_command fm_cli_spawn;       // spawn.c
extern const fm_cli_command fm_cli_set;         // unit_commands.c
extern const fm_cli_command fm_cli_go_on;       // agent_commands.c
extern const fm_cli_command fm_cli_cancel;      // agent_commands.c
extern const fm_cli_command fm_cli_place;       // unit_commands.c
extern const fm_cli_command fm_cli_board;       // unit_commands.c
extern const fm_cli_command fm_cli_unboard;     // unit_commands.c
extern const fm_cli_command fm_cli_report;      // unit_commands.c
extern const fm_cli_command fm_cli_terrain;     // map_commands.c
extern const fm_cli_command fm_cli_cost;        // map_commands.c
extern const fm_cli_command fm_cli_build;       // map_commands.c
extern const fm_cli_command fm_cli_demolish;    // map_commands.c
extern const fm_cli_command fm_cli_path;        // path.c
extern const fm_cli_command fm_cli_distance;    // path.c
extern const fm_cli_command fm_cli_reachable;   // path.c
extern const fm_cli_command fm_cli_nearest;     // path.c
extern const fm_cli_command fm_cli_field;       // path.c
extern const fm_cli_command fm_cli_inspect;     // inspect.c
extern const fm_cli_command fm_cli_explain;     // explain.c
extern const fm_cli_command fm_cli_top;         // top.c
extern const fm_cli_command fm_cli_token;       // token_commands.c
extern const fm_cli_command fm_cli_revoke;      // token_commands.c
extern const fm_cli_command fm_cli_tokens;      // token_commands.c
extern const fm_cli_command fm_cli_play;        // play.c
extern const fm_cli_command fm_cli_map;         // map_files.c

/// The agents named by arguments from `first` on and by --team, each once, at least one, or dies.
/// The caller frees `ids`. agent_commands.c
fm_id_list fm_cli_read_agents(fm_cli *cli, uint64_t world, int first);

/// Reads a map file of any format, or dies. The caller destroys it.
fm_grid *fm_cli_load_map(const fm_cli *cli, const char *path);
