// clients/cli/replay/show.c: `replay seek`: the world as it was after a tick.

#include "clients/cli/base/files.h"
#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"
#include "clients/cli/picture/svg.h"
#include "clients/cli/replay/journals.h"
#include "clients/cli/replay/replay.h"
#include "core/saves/experiment.h"
#include "core/saves/settle.h"
#include "core/saves/world_save.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The agents of a view, by slot.
struct roll {
    fm_agent_look *agents;
    uint32_t count;
};

static struct roll call_roll(const fm_cli *cli, fm_world *world, uint32_t team)
{
    if (fm_world_watch(world, team, true) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    struct roll roll = {.count = fm_world_agents_in_view(world, team, NULL, 0)};
    roll.agents = fm_cli_need(cli, calloc((size_t)roll.count + 1, sizeof *roll.agents));
    fm_world_agents_in_view(world, team, roll.agents, roll.count);
    return roll;
}

// ---- words -------------------------------------------------------------------------------------

static void print_summary(fm_replay *replay, uint64_t digest)
{
    fm_world *world = fm_replay_world(replay);
    const fm_journal_info *info = fm_replay_info(replay);
    fm_journal_pace pace = fm_replay_pace(replay);
    const fm_grid *grid = fm_world_grid(world);
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    printf("%-12s %llu, %s, %ux%u cells\n", "world", (unsigned long long)info->number, info->name,
           grid->width, grid->height);
    printf("%-12s %s of %s to %s\n", "tick", fm_report_grouped(counts.tick),
           fm_report_grouped(info->first_tick), fm_report_grouped(info->last_tick));
    if (digest != 0) {
        printf("%-12s %016llx, as recorded\n", "digest", (unsigned long long)digest);
    }
    printf("%-12s %g Hz, %g ms%s\n", "pace", pace.tick_hz, pace.budget_ms,
           pace.paused ? ", paused" : "");
    printf("%-12s %s in %u team%s:", "agents", fm_report_grouped(counts.agents), counts.teams,
           counts.teams == 1 ? "" : "s");
    for (uint32_t i = 0; i < FM_AGENT_STATE_COUNT; i++) {
        printf(" %s %s", fm_report_grouped(counts.agents_by_state[i]), fm_agent_state_names[i]);
    }
    printf("\n%-12s %s given; ended:", "orders", fm_report_grouped(counts.orders_given));
    bool any_ended = false;
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        if (counts.orders_ended[i] > 0) {
            printf(" %s %s", fm_report_grouped(counts.orders_ended[i]), fm_order_end_names[i]);
            any_ended = true;
        }
    }
    printf("%s\n%-12s %s, %s; %s moves so far\n", any_ended ? "" : " none", "searches",
           fm_report_grouped(counts.planners), fm_report_size(counts.search_bytes),
           fm_report_grouped(counts.moves));
}

static void format_cell(fm_cell cell, char *text, size_t size)
{
    if (cell == FM_CELL_NONE) {
        snprintf(text, size, "-");
    } else {
        snprintf(text, size, "%u,%u", fm_cell_x(cell), fm_cell_y(cell));
    }
}

static void print_agent(const fm_agent_report *agent)
{
    char cell[24], goal[24], planner[128];
    fm_report_planner(agent->planner, agent->planner_runs, planner, sizeof planner);
    format_cell(agent->cell, cell, sizeof cell);
    format_cell(agent->goal, goal, sizeof goal);
    printf("%10llu %5u %11s  %-8s %10llu  %-8s %11s  %-9s %s\n",
           (unsigned long long)fm_agent_id_pack(agent->id), agent->team, cell,
           fm_agent_state_names[agent->state], (unsigned long long)agent->order,
           agent->has_order ? fm_order_kind_names[agent->order_kind] : "-", goal,
           agent->planner_agents > 0 ? fm_plan_state_names[agent->plan_state] : "-", planner);
}

static void print_agents(const fm_world *world, const struct roll *roll)
{
    printf("\n%10s %5s %11s  %-8s %10s  %-8s %11s  %-9s %s\n", "AGENT", "TEAM", "CELL", "STATE",
           "ORDER", "KIND", "GOAL", "PLAN", "PLANNER");
    for (uint32_t i = 0; i < roll->count; i++) {
        fm_agent_report report;
        if (fm_world_describe(world, roll->agents[i].id, &report) == FM_OK) {
            print_agent(&report);
        }
    }
}

// ---- JSON --------------------------------------------------------------------------------------

static void print_json_cell(const char *name, fm_cell cell)
{
    if (cell == FM_CELL_NONE) {
        printf(",\"%s\":[]", name);
    } else {
        printf(",\"%s\":[%u,%u]", name, fm_cell_x(cell), fm_cell_y(cell));
    }
}

static void print_json_agent(const fm_agent_report *agent)
{
    printf("{\"agent\":%llu,\"team\":%u,\"state\":\"%s\",\"order\":%llu,\"kind\":\"%s\"",
           (unsigned long long)fm_agent_id_pack(agent->id), agent->team,
           fm_agent_state_names[agent->state], (unsigned long long)agent->order,
           agent->has_order ? fm_order_kind_names[agent->order_kind] : "none");
    print_json_cell("cell", agent->cell);
    print_json_cell("goal", agent->goal);
    print_json_cell("substitute", agent->goal_substitute);
    printf(",\"planner\":\"%s\",\"runs\":\"%s\",\"plan\":\"%s\",\"sharers\":%u,\"moves\":%llu}",
           agent->planner, agent->planner_runs,
           agent->planner_agents > 0 ? fm_plan_state_names[agent->plan_state] : "none",
           agent->planner_agents, (unsigned long long)agent->moves);
}

static void print_json(fm_replay *replay, uint64_t digest, const struct roll *roll)
{
    fm_world *world = fm_replay_world(replay);
    const fm_journal_info *info = fm_replay_info(replay);
    const fm_grid *grid = fm_world_grid(world);
    fm_world_counts counts;
    fm_world_counts_get(world, &counts);
    printf("{\"world\":%llu,\"name\":", (unsigned long long)info->number);
    fm_json_print_text(info->name, strlen(info->name));
    printf(",\"width\":%u,\"height\":%u,\"tick\":%llu,\"first_tick\":%llu,\"last_tick\":%llu,"
           "\"digest\":\"%016llx\",\"teams\":%u,\"agents_alive\":%u,\"orders_given\":%llu,"
           "\"moves\":%llu,\"expansions\":%llu,\"states\":{",
           grid->width, grid->height, (unsigned long long)counts.tick,
           (unsigned long long)info->first_tick, (unsigned long long)info->last_tick,
           (unsigned long long)digest, counts.teams, counts.agents,
           (unsigned long long)counts.orders_given, (unsigned long long)counts.moves,
           (unsigned long long)counts.expansions);
    for (uint32_t i = 0; i < FM_AGENT_STATE_COUNT; i++) {
        printf("%s\"%s\":%u", i == 0 ? "" : ",", fm_agent_state_names[i],
               counts.agents_by_state[i]);
    }
    fputs("},\"orders_ended\":{", stdout);
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        printf("%s\"%s\":%llu", i == 0 ? "" : ",", fm_order_end_names[i],
               (unsigned long long)counts.orders_ended[i]);
    }
    putchar('}');
    for (uint32_t i = 0; i < roll->count; i++) {
        fm_agent_report report;
        fputs(i == 0 ? ",\"agents\":[" : ",", stdout);
        if (fm_world_describe(world, roll->agents[i].id, &report) == FM_OK) {
            print_json_agent(&report);
        }
    }
    puts(roll->count > 0 ? "]}" : "}");
}

// ---- files -------------------------------------------------------------------------------------

// What a subscription would show now.
static void draw(const fm_cli *cli, fm_replay *replay, uint32_t team, const char *path)
{
    fm_world *world = fm_replay_world(replay);
    if (team != FM_ALL_TEAMS && !fm_world_has_team(world, team)) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_TEAM));
    }
    const fm_grid *grid = fm_world_grid(world);
    struct roll roll = call_roll(cli, world, team);
    fm_mirror view = {
        .world = fm_replay_info(replay)->number,
        .team = team,
        .tick = fm_replay_position(replay),
        .rect = {0, 0, grid->width, grid->height},
        .looks = fm_cli_need(cli, calloc((size_t)grid->width * grid->height, sizeof *view.looks)),
        .agents = fm_cli_need(cli, calloc((size_t)roll.count + 1, sizeof *view.agents)),
        .agent_count = roll.count,
    };
    for (uint32_t i = 0; i < grid->width * grid->height; i++) {
        fm_learned look =
            fm_world_look_up(world, team, fm_cell_at(i % grid->width, i / grid->width));
        view.looks[i] = (uint16_t)fm_look_pack(look);
    }
    for (uint32_t i = 0; i < roll.count; i++) {
        const fm_agent_look *look = &roll.agents[i];
        view.agents[i] = (fm_mirror_agent){.id = fm_agent_id_pack(look->id),
                                           .team = look->team,
                                           .cell = look->cell,
                                           .state = look->state,
                                           .class_index = look->class_index};
    }
    FILE *out = fm_cli_create_file(cli, path);
    fm_picture_write_svg(out, &view, NULL);
    fm_cli_close_file(cli, out, path);
    free(view.looks);
    free(view.agents);
    free(roll.agents);
}

static void save(const fm_cli *cli, fm_world *world, const char *path)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_world_settle(world);
    if (fm_world_save(world, &writer) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    fm_cli_write_file(cli, path, (const char *)writer.data, writer.size);
    fm_writer_fini(&writer);
}

// ---- the action --------------------------------------------------------------------------------

// Whether a file is standard output; then nothing else is printed there.
static bool is_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

int fm_replay_show(fm_cli *cli)
{
    uint64_t tick = fm_replay_tick_argument(cli, 2);
    uint32_t team = (uint32_t)fm_cli_uint(cli, "team", 1, FM_TEAMS_MAX, FM_ALL_TEAMS);
    const char *picture = fm_cli_value(cli, "picture"), *file = fm_cli_value(cli, "save");
    if (team != FM_ALL_TEAMS && picture == NULL) {
        fm_cli_usage_error(cli, "--team is for --picture");
    }
    fm_replay *replay = fm_replay_open_or_die(cli, cli->arguments[1]);
    fm_workers *workers = fm_replay_workers(cli);
    fm_replay_seek_or_die(cli, replay, tick, workers);
    fm_replay_verdict verdict = fm_replay_verdict_get(replay);
    if (verdict.differences > 0) {
        fm_cli_die(cli, "%s: the digest of tick %llu is not the recorded one; see replay verify",
                   cli->arguments[1], (unsigned long long)verdict.first_difference);
    }
    fm_world *world = fm_replay_world(replay);
    struct roll roll = {.agents = NULL};
    if (fm_cli_value(cli, "agents") != NULL) {
        roll = call_roll(cli, world, FM_ALL_TEAMS);
    }
    if (picture != NULL) {
        draw(cli, replay, team, picture);
    }
    bool quiet = is_output(picture) || is_output(file);
    if (!quiet && cli->json) {
        print_json(replay, fm_replay_digest(replay), &roll);
    } else if (!quiet) {
        print_summary(replay, fm_replay_digest(replay));
    }
    if (!quiet && !cli->json && roll.agents != NULL) {
        print_agents(world, &roll);
    }
    if (file != NULL) {
        save(cli, world, file); // last, because it ends the world's searches
    }
    free(roll.agents);
    fm_replay_close_opened(replay);
    fm_workers_destroy(workers);
    return 0;
}
