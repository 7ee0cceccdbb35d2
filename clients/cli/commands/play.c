// clients/cli/commands/play.c: `play`: gives orders to all teams until it is asked to stop, for
// demonstrations.
//
// Each period every team gets one order for one group: the idle agents nearest to one of them (or,
// when nobody is idle, now and then a group that is busy) march to a cell that can be reached, half
// the time close by and else anywhere. Enemies do not let each other through, so groups that meet
// in a gate would stand there forever: when a part of a team waits, a group of those goes back to
// where the team started. Orders are sent without waiting; the mirror of everything shows their
// results. At the end it prints counts, and fails if nothing happened.

#include "clients/cli/commands/commands.h"

#include "clients/cli/base/report.h"
#include "clients/cli/base/terminal.h"
#include "clients/cli/views/pulse.h"
#include "clients/cli/views/snapshot.h"
#include "clients/cli/views/views.h"
#include "core/base/random.h"
#include "core/world/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_CELLS 3000u // reachable cells that count as close by
#define MANY_WAIT  8u    // part of a team that must wait for a group to go back

struct member {
    uint64_t id;
    fm_cell cell;
    uint32_t distance; // to the group's leader
};

struct play {
    fm_cli *cli;
    uint64_t world;
    fm_views views;
    const fm_mirror *view;
    fm_random random;
    uint32_t group_percent;
    struct member *members;
    uint32_t member_capacity;
    fm_cell *homes; // by team - 1: where its first agent stood
    uint32_t home_count;
    uint64_t begin_tick;
    uint64_t orders_given;            // to single agents
    uint64_t refused;                 // requests
    char refusal[FM_ERROR_TEXT_SIZE]; // the last one
};

static void on_ordered(void *context, uint64_t id, const fm_client_error *error,
                       const msgpack_object *result)
{
    (void)id;
    struct play *play = context;
    if (error == NULL) {
        play->orders_given += fm_object_uint(result, "count", 0);
    } else {
        play->refused++;
        snprintf(play->refusal, sizeof play->refusal, "%s", error->message);
    }
}

// ---- one order ----------------------------------------------------------------------------------

#define ANY_STATE UINT32_MAX

// Lists a team's agents in a state (fm_agent_state or ANY_STATE). @return how many
static uint32_t list_members(struct play *play, uint32_t team, uint32_t state)
{
    const fm_mirror *view = play->view;
    uint32_t count = 0;
    if (view->agent_count > play->member_capacity) {
        free(play->members);
        play->members = fm_cli_need(play->cli, malloc(view->agent_count * sizeof *play->members));
        play->member_capacity = view->agent_count;
    }
    for (uint32_t i = 0; i < view->agent_count; i++) {
        const fm_mirror_agent *agent = &view->agents[i];
        if (agent->team == team && (state == ANY_STATE || (uint32_t)agent->state == state)) {
            play->members[count++] = (struct member){.id = agent->id, .cell = agent->cell};
        }
    }
    return count;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->distance != right->distance) {
        return left->distance < right->distance ? -1 : 1;
    }
    return (left->id > right->id) - (left->id < right->id);
}

// Brings those nearest to a random one to the front.
static void gather(struct play *play, uint32_t count)
{
    fm_cell leader = play->members[fm_random_below(&play->random, count)].cell;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dx = fm_cell_dx(leader, play->members[i].cell);
        uint32_t dy = fm_cell_dy(leader, play->members[i].cell);
        play->members[i].distance = dx > dy ? dx : dy;
    }
    qsort(play->members, count, sizeof *play->members, compare_members);
}

// A cell that can be reached on the true map, among the `most` nearest ones.
static fm_cell choose_goal(struct play *play, fm_cell from, uint32_t most)
{
    fm_cell *cells;
    uint32_t count = fm_snapshot_flood(play->cli, play->view, from, most, &cells);
    fm_cell goal = count == 0 ? from : cells[fm_random_below(&play->random, count)];
    free(cells);
    return goal;
}

// Goals for a group: cells around `goal`, every other one when there are enough, so that it stands
// in loose order. @return how many; fewer than `count` where there is no room
static uint32_t spread_goals(struct play *play, fm_cell goal, uint32_t count, fm_cell **goals)
{
    uint32_t found = fm_snapshot_flood(play->cli, play->view, goal, 2 * count, goals);
    if (found < 2 * count) {
        return found < count ? found : count;
    }
    for (uint32_t i = 0; i < count; i++) {
        (*goals)[i] = (*goals)[2 * i];
    }
    return count;
}

static void send_order(struct play *play, fm_cell goal, uint32_t count)
{
    fm_cell *goals;
    count = spread_goals(play, goal, count, &goals);
    uint64_t *ids = fm_cli_need(play->cli, malloc(count * sizeof *ids));
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = play->members[i].id;
    }
    fm_params *params = &play->cli->params;
    fm_params_uint(params, FM_FIELD_WORLD, play->world);
    fm_params_uints(params, FM_FIELD_AGENTS, ids, count);
    fm_params_text(params, FM_FIELD_KIND, "move");
    fm_params_cells(params, FM_FIELD_GOALS, goals, count);
    free(goals);
    fm_status status =
        fm_client_send(play->cli->client, FM_METHOD_AGENT_ORDER, params, on_ordered, play, NULL);
    fm_params_clear(params);
    free(ids);
    if (status != FM_OK) {
        fm_cli_die_of_client(play->cli);
    }
}

// Sends the group of the first of `count` members to a cell.
static void order_group(struct play *play, uint32_t count, uint32_t group, fm_cell goal)
{
    group = group < count ? group : count;
    send_order(play, goal, group < FM_CLI_AGENTS_AT_ONCE ? group : FM_CLI_AGENTS_AT_ONCE);
}

// Sends a group of those who wait home, if they are many. @return whether it did
static bool send_home(struct play *play, uint32_t team, uint32_t all, uint32_t group)
{
    uint32_t waiting = list_members(play, team, FM_AGENT_WAITING);
    if (waiting == 0 || waiting < all / MANY_WAIT) {
        return false;
    }
    gather(play, waiting);
    order_group(play, waiting, group, choose_goal(play, play->homes[team - 1], NEAR_CELLS));
    return true;
}

static void order_team(struct play *play, uint32_t team)
{
    uint32_t all = list_members(play, team, ANY_STATE);
    uint32_t group = (all * play->group_percent + 99) / 100;
    bool withdraws = fm_random_below(&play->random, 3) == 0;
    if (all == 0 || (withdraws && send_home(play, team, all, group))) {
        return;
    }
    uint32_t idle = list_members(play, team, FM_AGENT_IDLE);
    if (idle == 0) {
        if (fm_random_below(&play->random, 4) != 0) {
            return;
        }
        idle = list_members(play, team, ANY_STATE);
    }
    gather(play, idle);
    bool near = fm_random_below(&play->random, 2) == 0;
    order_group(play, idle, group,
                choose_goal(play, play->members[0].cell, near ? NEAR_CELLS : UINT32_MAX));
}

// ---- the loop and its end -----------------------------------------------------------------------

static uint32_t last_team(const fm_mirror *view)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < view->agent_count; i++) {
        last = view->agents[i].team > last ? view->agents[i].team : last;
    }
    return last;
}

// Notes where teams start that were not there before.
static void find_homes(struct play *play, uint32_t teams)
{
    if (teams <= play->home_count) {
        return;
    }
    play->homes = fm_cli_need(play->cli, realloc(play->homes, teams * sizeof *play->homes));
    for (; play->home_count < teams; play->home_count++) {
        bool any = list_members(play, play->home_count + 1, ANY_STATE) > 0;
        play->homes[play->home_count] = any ? play->members[0].cell : 0;
    }
}

static void play_on(struct play *play, double seconds, double period)
{
    uint64_t begin_ms = fm_pulse_clock_ms(), next_ms = begin_ms;
    while (!fm_terminal_is_stopped() && !play->view->over) {
        uint64_t now_ms = fm_pulse_clock_ms();
        if (seconds > 0 && (double)(now_ms - begin_ms) >= seconds * 1000) {
            break;
        }
        if (now_ms >= next_ms) {
            uint32_t teams = last_team(play->view);
            find_homes(play, teams);
            for (uint32_t team = 1; team <= teams; team++) {
                order_team(play, team);
            }
            next_ms = now_ms + (uint64_t)(period * 1000);
        }
        if (fm_client_wait(play->cli->client, 20) != FM_OK && !play->views.going_down) {
            fm_cli_die_of_client(play->cli);
        }
        fm_views_check(play->cli, &play->views);
    }
}

static uint64_t ended_count(const struct play *play)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(fm_order_end_names); i++) {
        count += play->view->ended[i];
    }
    return count;
}

static void print_json_summary(const struct play *play, const msgpack_object *tick_ms)
{
    printf("{\"ticks\":%llu,\"tick_ms\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f},\"moves\":%llu,"
           "\"orders_given\":%llu,\"orders_ended\":{",
           (unsigned long long)(play->view->tick - play->begin_tick),
           fm_object_real(tick_ms, "p50", 0), fm_object_real(tick_ms, "p99", 0),
           fm_object_real(tick_ms, "max", 0), (unsigned long long)play->view->moves,
           (unsigned long long)play->orders_given);
    for (uint32_t i = 0; i < FM_COUNT_OF(fm_order_end_names); i++) {
        printf("%s\"%s\":%llu", i == 0 ? "" : ",", fm_order_end_names[i],
               (unsigned long long)play->view->ended[i]);
    }
    printf("},\"refused\":%llu}\n", (unsigned long long)play->refused);
}

static void print_summary(const struct play *play, const msgpack_object *tick_ms)
{
    printf("ticks          %s\n", fm_report_grouped(play->view->tick - play->begin_tick));
    printf("tick time      p50 %.2f ms, p99 %.2f ms, max %.2f ms\n",
           fm_object_real(tick_ms, "p50", 0), fm_object_real(tick_ms, "p99", 0),
           fm_object_real(tick_ms, "max", 0));
    printf("moves          %s by %u agents\n", fm_report_grouped(play->view->moves),
           play->view->agent_count);
    printf("orders given   %s\n", fm_report_grouped(play->orders_given));
    printf("orders ended   %s", fm_report_grouped(ended_count(play)));
    const char *separator = ": ";
    for (uint32_t i = 0; i < FM_COUNT_OF(fm_order_end_names); i++) {
        if (play->view->ended[i] > 0) {
            printf("%s%s %s", separator, fm_report_grouped(play->view->ended[i]),
                   fm_order_end_names[i]);
            separator = ", ";
        }
    }
    putchar('\n');
}

// Prints the counts. @return the exit code
static int conclude(struct play *play)
{
    if (play->view->over) {
        fm_cli_die(play->cli, "the world %s",
                   play->view->has_moved ? "went to another node" : "was destroyed");
    }
    fm_params_uint(&play->cli->params, FM_FIELD_WORLD, play->world);
    const msgpack_object *stats = fm_cli_call(play->cli, FM_METHOD_STATS);
    const msgpack_object *tick_ms = fm_object_get(fm_object_get(stats, "world"), "tick_ms");
    if (play->cli->json) {
        print_json_summary(play, tick_ms);
    } else {
        print_summary(play, tick_ms);
    }
    if (play->refused > 0) {
        fm_cli_die(play->cli, "%llu requests were refused; the last one: %s",
                   (unsigned long long)play->refused, play->refusal);
    }
    if (play->view->moves == 0) {
        fm_cli_die(play->cli, "no agent moved");
    }
    if (ended_count(play) == 0) {
        fm_cli_die(play->cli, "no order ended");
    }
    return 0;
}

static int run_play(fm_cli *cli)
{
    static struct play play; // too large for some stacks
    double seconds = fm_cli_real(cli, "seconds", 0.1, 1e9, 0);
    double period = fm_cli_real(cli, "period", 0.01, 3600, 0.5);
    play.cli = cli;
    play.group_percent = (uint32_t)fm_cli_uint(cli, "group", 1, 100, 10);
    play.random = fm_random_seed(fm_cli_uint(cli, "seed", 0, (uint64_t)FM_UINT_MAX, 1));
    fm_cli_connect(cli);
    play.world = fm_cli_world_option(cli);
    fm_views_init(cli, &play.views);
    play.view = fm_views_add(cli, &play.views, play.world, 0, NULL, 1, NULL, NULL);
    play.begin_tick = play.view->tick;
    if (play.view->agent_count == 0) {
        fm_cli_die(cli, "the world has no agents; 'fogmarch spawn' puts some there");
    }
    fm_terminal_catch_stops();
    play_on(&play, seconds, period);
    int code = conclude(&play);
    free(play.members);
    free(play.homes);
    fm_views_fini(cli, &play.views);
    return code;
}

static const fm_cli_option options[] = {
    FM_CLI_OPTION_WORLD,
    {"seconds", 's', FM_CLI_REAL, "N", "end after so many seconds; at Ctrl-C", 0},
    {"period", 0, FM_CLI_REAL, "SECONDS", "between two orders to a team; 0.5", 0},
    {"group", 0, FM_CLI_UINT, "PERCENT", "share of a team that one order goes to; 10", 0},
    {"seed", 0, FM_CLI_UINT, "N", "of the random choices; 1", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_play = {
    .name = "play",
    .arguments = "",
    .summary = "give random orders to all teams, for a demonstration",
    .details =
        "Sends groups of every team's agents to random cells that can be reached, all the time,\n"
        "until Ctrl-C. Then prints what happened; fails when no agent moved, no order ended, or\n"
        "the server refused something.",
    .examples = "fogmarch play --seconds 30 --json",
    .options = options,
    .run = run_play,
};
