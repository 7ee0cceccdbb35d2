// test_growth.c: the cost of every command grows in proportion to what it names.
//
// Every kind of command, the tick after it, and everything that reads a world runs with 1, 2 and 4
// times as many agents, cells or teams. The work must not grow much faster than the number:
// quadratic work stops all worlds of a server for seconds, long before a limit refuses it.
// tests/server/methods/test_method_growth.c does the same with whole requests. Work is counted, not
// timed.

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/commands/order_command.h"
#include "core/orders/orders.h"
#include "core/saves/settle.h"
#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/tick/tick.h"
#include "core/views/explain.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "tests/support/counted_work.h"
#include "tests/support/support.h"

#define UNITS       1000u // at scale 1
#define ENEMIES     64u
#define SIDE        256u
#define SCALE_MOST  4u
#define UNITS_MOST  (UNITS * SCALE_MOST)
#define TEAMS       64u // at scale 1, where teams are counted
#define TICK_BUDGET 1000u

// Four times as many may cost 4 times as much, or a little more where something is sorted.
#define GROWTH_MOST 5.0

// ---- a world ------------------------------------------------------------------------------------

struct scene {
    uint32_t scale;
    fm_world *world;
    uint32_t count; // agents
    fm_agent_id agents[UNITS_MOST];
    fm_cell homes[UNITS_MOST];
    fm_cell goals[UNITS_MOST];
};

static struct scene scene;

static fm_command_result apply(fm_command command)
{
    fm_command_result result = {.spawned = NULL};
    if (command.kind == FM_COMMAND_SPAWN) {
        result.spawned = scene.agents + scene.count;
    }
    fm_world_apply(scene.world, &command, &result);
    if (result.status != FM_OK) {
        fail_msg("command %d: status %d at %u", (int)command.kind, (int)result.status,
                 result.failed_index);
    }
    return result;
}

static void tick(void)
{
    fm_tick_report report;
    fm_tick_run(scene.world, NULL, TICK_BUDGET, NULL, &report);
}

// Units stand in rows of 64, every other cell.
static fm_cell home(uint32_t i)
{
    return fm_cell_at(8 + 2 * (i % 64), 8 + 2 * (i / 64));
}

static void add_team(void)
{
    apply((fm_command){.kind = FM_COMMAND_TEAM});
}

static void spawn(uint32_t team, uint32_t count)
{
    apply((fm_command){.kind = FM_COMMAND_SPAWN,
                       .team = team,
                       .cells = scene.homes + scene.count,
                       .cell_count = count});
    scene.count += count;
}

// An open map, but for one walled-in cell in its south-east, and a team.
static void make_world(fm_world_rules rules)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(SIDE, SIDE, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 239; y <= 241; y++) {
        for (uint32_t x = 239; x <= 241; x++) {
            if (x != 240 || y != 240) {
                (void)fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, 1);
            }
        }
    }
    assert_int_equal(fm_world_create(&rules, grid, &fm_memory_libc, &scene.world), FM_OK);
    scene.count = 0;
    for (uint32_t i = 0; i < UNITS_MOST; i++) {
        scene.homes[i] = home(i);
        scene.goals[i] = fm_cell_at(200 - i % 64, 200 - i / 64);
    }
    add_team();
}

static fm_world_rules rules_with(const char *planner)
{
    fm_world_rules rules = fm_world_rules_default();
    char error[160];
    assert_int_equal(fm_planner_spec_parse(planner, &rules.planner, error, sizeof error), FM_OK);
    rules.omniscient = true;
    return rules;
}

static void order(fm_order_kind kind, const fm_cell *cells, uint32_t cell_count)
{
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = kind,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .cells = cells,
                       .cell_count = cell_count});
}

#define GOAL       fm_cell_at(220, 220)
#define OTHER_GOAL fm_cell_at(220, 30)
#define WALLED_IN  fm_cell_at(240, 240)

static void go_to(fm_cell goal)
{
    order(FM_ORDER_MOVE, &goal, 1);
}

// ---- what is done -------------------------------------------------------------------------------

// A world of scale * UNITS units that stand still.
static void units_with(const char *planner)
{
    make_world(rules_with(planner));
    spawn(1, UNITS * scene.scale);
    tick();
}

static void units(void)
{
    units_with("auto");
}

static void units_one_per_cell(void)
{
    fm_world_rules rules = rules_with("auto");
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    make_world(rules);
    spawn(1, UNITS * scene.scale);
    tick();
}

// The same with units under way.
static void units_on_the_way_with(const char *planner)
{
    units_with(planner);
    go_to(GOAL);
    tick();
}

static void jps_on_the_way(void)
{
    units_on_the_way_with("repeated-jps");
}

static void auto_on_the_way(void)
{
    units_on_the_way_with("auto");
}

static void astar_on_the_way(void)
{
    units_on_the_way_with("repeated-forward-astar");
}

static void dstar_on_the_way(void)
{
    units_on_the_way_with("dstar-lite");
}

// Where jump points do not apply, auto goes in groups.
static void groups_on_the_way(void)
{
    fm_world_rules rules = rules_with("auto");
    rules.connectivity = FM_CONNECT_4;
    rules.steps = FM_STEPS_1;
    make_world(rules);
    spawn(1, UNITS * scene.scale);
    go_to(GOAL);
    tick();
}

static void units_each_its_own_way(void)
{
    units();
    order(FM_ORDER_MOVE, scene.goals, scene.count);
    tick();
}

static void units_with_full_queues(void)
{
    units();
    for (uint32_t i = 0; i < FM_ORDER_QUEUE_MAX; i++) {
        apply((fm_command){.kind = FM_COMMAND_ORDER,
                           .order = FM_ORDER_HOLD,
                           .agents = scene.agents,
                           .agent_count = scene.count,
                           .queue = true});
    }
}

static void nobody(void)
{
    make_world(rules_with("auto"));
}

static void many_teams(void)
{
    make_world(rules_with("auto"));
    for (uint32_t i = 1; i < TEAMS * scene.scale; i++) {
        add_team();
    }
    for (uint32_t team = 1; team <= TEAMS * scene.scale; team++) {
        spawn(team, 4);
    }
    tick();
}

// Each with a unit that is under way.
static void many_teams_on_the_way(void)
{
    make_world(rules_with("auto"));
    for (uint32_t team = 1; team <= 12 * TEAMS * scene.scale; team++) {
        if (team > 1) {
            add_team();
        }
        spawn(team, 1);
    }
    go_to(GOAL);
    tick();
}

static void send_elsewhere(void)
{
    go_to(OTHER_GOAL);
}

static void send_elsewhere_and_tick(void)
{
    go_to(OTHER_GOAL);
    tick();
}

// Without the ticks in between.
static void send_elsewhere_in_parts(void)
{
    fm_cell goal = OTHER_GOAL;
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .cells = &goal,
                       .cell_count = 1,
                       .agents_a_tick = UNITS / 10});
    while (fm_world_left_to_do(scene.world) > 0) {
        fm_orders_carry_on(scene.world);
    }
}

static void send_to_where_nobody_comes(void)
{
    go_to(WALLED_IN);
    tick();
    tick();
}

static void send_each(void)
{
    order(FM_ORDER_MOVE, scene.goals, scene.count);
    tick();
}

static void order_without_cells(fm_order_kind kind)
{
    order(kind, NULL, 0);
    tick();
}

static void stop(void)
{
    order_without_cells(FM_ORDER_STOP);
}

static void hold(void)
{
    order_without_cells(FM_ORDER_HOLD);
}

static void explore(void)
{
    order_without_cells(FM_ORDER_EXPLORE);
}

static void flee(void)
{
    fm_cell danger = fm_cell_at(0, 0);
    order(FM_ORDER_FLEE, &danger, 1);
    tick();
}

// All see enemies among them and have to search for a way out.
static void units_among_enemies(void)
{
    units();
    add_team();
    fm_agent_id enemies[ENEMIES];
    fm_command_result result = {.spawned = enemies};
    fm_world_apply(
        scene.world,
        &(fm_command){
            .kind = FM_COMMAND_SPAWN, .team = 2, .cells = scene.homes, .cell_count = ENEMIES},
        &result);
    assert_int_equal(result.status, FM_OK);
    tick();
}

static void keep_distance(void)
{
    order_without_cells(FM_ORDER_KEEP_DISTANCE);
}

static void scatter(void)
{
    order_without_cells(FM_ORDER_SCATTER);
}

static void patrol(void)
{
    fm_cell cells[] = {GOAL, OTHER_GOAL};
    order(FM_ORDER_PATROL, cells, 2);
    tick();
}

static void guard_a_cell(void)
{
    fm_cell cell = GOAL;
    order(FM_ORDER_GUARD, &cell, 1);
    tick();
}

static void follow_one(void)
{
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_FOLLOW,
                       .agents = scene.agents + 1,
                       .agent_count = scene.count - 1,
                       .target = scene.agents[0]});
    tick();
}

static void append_to_queues(void)
{
    fm_cell goal = GOAL;
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .cells = &goal,
                       .cell_count = 1,
                       .queue = true});
    tick();
}

static void send_as_group(fm_formation formation)
{
    fm_cell goal = fm_cell_at(128, 128);
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_MOVE,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .cells = &goal,
                       .cell_count = 1,
                       .spread = formation == FM_FORMATION_NONE,
                       .formation = formation,
                       .common_speed = true});
    tick();
}

static void spread(void)
{
    send_as_group(FM_FORMATION_NONE);
}

static void go_in_a_box(void)
{
    send_as_group(FM_FORMATION_BOX);
}

static void go_in_formation(void)
{
    send_as_group(FM_FORMATION_KEEP);
}

static void put_down(void)
{
    spawn(1, UNITS * scene.scale);
    tick();
}

static void nobody_one_per_cell(void)
{
    fm_world_rules rules = rules_with("auto");
    rules.occupancy = FM_OCCUPANCY_EXCLUSIVE;
    make_world(rules);
}

static void put_down_around_one_cell(void)
{
    static fm_cell cells[UNITS_MOST];
    for (uint32_t i = 0; i < UNITS * scene.scale; i++) {
        cells[i] = fm_cell_at(SIDE / 2, SIDE / 2);
    }
    apply((fm_command){.kind = FM_COMMAND_SPAWN,
                       .team = 1,
                       .cells = cells,
                       .cell_count = UNITS * scene.scale,
                       .placing = FM_PLACE_NEAREST});
    scene.count += UNITS * scene.scale;
    tick();
}

static void remove_all(void)
{
    apply((fm_command){
        .kind = FM_COMMAND_REMOVE, .agents = scene.agents, .agent_count = scene.count});
    tick();
}

// Half of all units follow the last one.
static void many_followers(void)
{
    units();
    apply((fm_command){.kind = FM_COMMAND_ORDER,
                       .order = FM_ORDER_FOLLOW,
                       .agents = scene.agents,
                       .agent_count = scene.count / 2,
                       .target = scene.agents[scene.count - 1]});
    tick();
}

static void remove_those_who_do_not_follow(void)
{
    apply((fm_command){.kind = FM_COMMAND_REMOVE,
                       .agents = scene.agents + scene.count / 2,
                       .agent_count = scene.count / 2});
    tick();
}

static void change_planners(void)
{
    fm_planner_spec spec;
    char error[160];
    assert_int_equal(fm_planner_spec_parse("repeated-forward-astar", &spec, error, sizeof error),
                     FM_OK);
    apply((fm_command){.kind = FM_COMMAND_PLANNER,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .planner = spec});
    tick();
}

static void change_cells(void)
{
    apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                       .cells = scene.goals,
                       .cell_count = scene.scale * UNITS,
                       .terrain = FM_TERRAIN_WATER});
    tick();
}

static void change_rectangles(void)
{
    static fm_rect rects[FM_RECTS_MAX];
    for (uint32_t i = 0; i < scene.scale * UNITS; i++) {
        rects[i] = (fm_rect){.x = 80 + i % 64, .y = 80 + i / 64, .width = 4, .height = 4};
    }
    apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = rects,
                       .rect_count = scene.scale * UNITS,
                       .terrain = FM_TERRAIN_WATER});
    tick();
}

// Units stand close together, in a square.
static void one_block_of_units(fm_occupancy_rule occupancy)
{
    fm_world_rules rules = rules_with("auto");
    rules.occupancy = occupancy;
    make_world(rules);
    uint32_t side = 1;
    while (side * side < UNITS * scene.scale) {
        side++;
    }
    for (uint32_t i = 0; i < UNITS_MOST; i++) {
        scene.homes[i] = fm_cell_at(96 + i % side, 96 + i / side);
    }
    spawn(1, UNITS * scene.scale);
    tick();
}

static void a_block_of_units(void)
{
    one_block_of_units(FM_OCCUPANCY_NONE);
}

static void a_block_of_units_one_per_cell(void)
{
    one_block_of_units(FM_OCCUPANCY_EXCLUSIVE);
}

// A wall over all of them: of as many cells as there are units.
static void wall_up_the_block(void)
{
    apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                       .cells = scene.homes,
                       .cell_count = UNITS * scene.scale,
                       .terrain = FM_TERRAIN_WALL,
                       .cost = 1});
}

static void edit(uint32_t cell_count, fm_terrain terrain, uint16_t cost)
{
    apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                       .cells = scene.goals,
                       .cell_count = cell_count,
                       .terrain = terrain,
                       .cost = cost});
    tick();
}

static void change_one_cell(void)
{
    edit(1, FM_TERRAIN_WATER, 0);
}

static void change_some_cells(void)
{
    edit(8, FM_TERRAIN_WATER, 0);
}

// Some part of the map is of another cost now, which all teams see at once.
static void change_costs_of_the_map(void)
{
    edit(8, FM_TERRAIN_GROUND, 5);
}

static void build(uint32_t i)
{
    fm_rect rect = {.x = 8 + 6 * (i % 32), .y = 180 + 4 * (i / 32), .width = 3, .height = 3};
    apply((fm_command){.kind = FM_COMMAND_BUILD, .team = 1, .rects = &rect, .rect_count = 1});
}

static void many_buildings(void)
{
    nobody();
    for (uint32_t i = 0; i < scene.scale * TEAMS; i++) {
        build(i);
    }
    tick();
}

static void build_one(void)
{
    build(scene.scale * TEAMS);
    tick();
}

static void make_teams(void)
{
    for (uint32_t i = 0; i < TEAMS * scene.scale; i++) {
        add_team();
    }
    tick();
}

static void run_tick(void)
{
    tick();
}

static void watch_everything(void)
{
    assert_int_equal(fm_world_watch(scene.world, FM_ALL_TEAMS, true), FM_OK);
    assert_int_equal(fm_world_watch(scene.world, 1, true), FM_OK);
    tick();
}

static void watch_one_team(void)
{
    assert_int_equal(fm_world_watch(scene.world, 1, true), FM_OK);
    tick();
}

static void ask_for_numbers(void)
{
    static fm_team_counts teams[TEAMS * SCALE_MOST];
    static fm_top_row rows[16];
    fm_world_counts counts;
    fm_world_counts_get(scene.world, &counts);
    (void)fm_world_team_counts(scene.world, teams, TEAMS * SCALE_MOST);
    (void)fm_world_top(scene.world, FM_TOP_PLANNERS, rows, 16);
    (void)fm_world_top(scene.world, FM_TOP_TEAMS, rows, 16);
}

static void look_at_each(void)
{
    fm_agent_report report;
    for (uint32_t i = 0; i < scene.count; i++) {
        assert_int_equal(fm_world_inspect(scene.world, scene.agents[i], &report), FM_OK);
    }
}

static void save_and_load(void)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_world *copy;
    fm_bytes_error error;
    fm_world_settle(scene.world);
    assert_int_equal(fm_world_save(scene.world, &writer), FM_OK);
    assert_int_equal(fm_world_load(writer.data, writer.size, &fm_memory_libc, &copy, &error),
                     FM_OK);
    fm_writer_fini(&writer);
    fm_world_destroy(copy);
}

struct deed {
    const char *name;
    void (*prepare)(void); // makes the world; not counted
    void (*act)(void);
};

// ---- what somebody might do to stop a server ----------------------------------------------------

static void set_costs(fm_rect rect)
{
    apply((fm_command){
        .kind = FM_COMMAND_COST, .team = 1, .rects = &rect, .rect_count = 1, .cost = 9});
}

// Scale * 100 searches, each of which knows most of the map.
static void searches_of_the_whole_map(void)
{
    make_world(rules_with("dstar-lite"));
    spawn(1, 100 * scene.scale);
    set_costs((fm_rect){0, 0, 1, 1}); // the first costs of a team let all searches begin again
    order(FM_ORDER_MOVE, scene.goals, scene.count);
    for (uint32_t i = 0; i < 4; i++) {
        fm_tick_report report;
        fm_tick_run(scene.world, NULL, UINT32_MAX, NULL, &report);
    }
}

// Nearly as many cells as a team may change between two ticks, at scale 4.
static void change_costs_for_all_searches(void)
{
    set_costs((fm_rect){0, 1, SIDE, 60 * scene.scale});
    tick();
    tick(); // planners are told once their agents have moved
}

static void wall_up_all_searches(void)
{
    fm_rect rect = {8, 100, 240, 32 * scene.scale};
    apply((fm_command){.kind = FM_COMMAND_TERRAIN,
                       .rects = &rect,
                       .rect_count = 1,
                       .terrain = FM_TERRAIN_WALL,
                       .cost = 1});
    tick();
}

// Two teams in sight of each other, as nobody knows the map.
static void enemies(void)
{
    fm_world_rules rules = rules_with("auto");
    rules.omniscient = false;
    make_world(rules);
    add_team();
    spawn(1, UNITS / 2 * scene.scale);
    spawn(2, UNITS / 2 * scene.scale);
    tick();
}

static void follow_enemies_one_by_one(void)
{
    uint32_t count = UNITS / 2 * scene.scale;
    for (uint32_t i = 0; i < 200 * scene.scale; i++) {
        apply((fm_command){.kind = FM_COMMAND_ORDER,
                           .order = FM_ORDER_FOLLOW,
                           .team = 1,
                           .agents = &scene.agents[count - 1],
                           .agent_count = 1,
                           .target = scene.agents[count]});
    }
    tick();
}

// As many enemies as units, on given cells, in sight.
static void meet(const fm_cell *units, const fm_cell *enemies)
{
    fm_world_rules rules = rules_with("auto");
    rules.omniscient = false;
    make_world(rules);
    add_team();
    uint32_t count = UNITS * scene.scale;
    apply((fm_command){.kind = FM_COMMAND_SPAWN, .team = 1, .cells = units, .cell_count = count});
    scene.count = count;
    fm_agent_id *names = malloc(count * sizeof *names);
    fm_command_result result = {.spawned = names};
    fm_world_apply(
        scene.world,
        &(fm_command){.kind = FM_COMMAND_SPAWN, .team = 2, .cells = enemies, .cell_count = count},
        &result);
    free(names);
    assert_int_equal(result.status, FM_OK);
    tick();
}

static void as_many_enemies(void)
{
    fm_cell cells[UNITS_MOST];
    for (uint32_t i = 0; i < UNITS_MOST; i++) {
        cells[i] = home(i);
    }
    meet(cells, cells);
}

static void two_crowds_on_two_cells(void)
{
    fm_cell cells[UNITS_MOST], others[UNITS_MOST];
    for (uint32_t i = 0; i < UNITS_MOST; i++) {
        cells[i] = fm_cell_at(100, 100);
        others[i] = fm_cell_at(103, 103);
    }
    meet(cells, others);
}

// Commands all units, and lets those whom an enemy stops continue.
static void command_twice(fm_command command)
{
    command.agents = scene.agents;
    command.agent_count = scene.count;
    for (uint32_t i = 0; i < 2; i++) {
        apply(command);
        tick();
    }
}

static void keep_far_away(void)
{
    command_twice((fm_command){
        .kind = FM_COMMAND_ORDER, .order = FM_ORDER_KEEP_DISTANCE, .radius = FM_ORDER_RADIUS_MAX});
}

static void flee_far_away(void)
{
    command_twice((fm_command){
        .kind = FM_COMMAND_ORDER, .order = FM_ORDER_FLEE, .radius = FM_ORDER_RADIUS_MAX});
}

static void be_on_the_alert(void)
{
    command_twice((fm_command){
        .kind = FM_COMMAND_ORDER, .order = FM_ORDER_HOLD, .alert = FM_ORDER_RADIUS_MAX});
}

static void place_in_two_places_in_turn(void)
{
    fm_cell *cells = malloc(scene.count * sizeof *cells);
    for (uint32_t i = 0; i < scene.count; i++) {
        cells[i] = i % 2 == 0 ? fm_cell_at(60, 60) : fm_cell_at(200, 200);
    }
    apply((fm_command){.kind = FM_COMMAND_PLACE,
                       .agents = scene.agents,
                       .agent_count = scene.count,
                       .cells = cells,
                       .cell_count = scene.count,
                       .placing = FM_PLACE_NEAREST});
    free(cells);
    tick();
}

static const struct deed deeds[] = {
    {"agent.order move to one goal, jps", jps_on_the_way, send_elsewhere},
    {"agent.order move to one goal, auto", auto_on_the_way, send_elsewhere},
    {"agent.order move to one goal, auto, in parts", auto_on_the_way, send_elsewhere_in_parts},
    {"agent.order move to one goal, A*", astar_on_the_way, send_elsewhere},
    {"agent.order move to one goal, dstar-lite", dstar_on_the_way, send_elsewhere},
    {"agent.order move to one goal, auto in groups", groups_on_the_way, send_elsewhere},
    {"agent.order move to one goal and a tick", auto_on_the_way, send_elsewhere_and_tick},
    {"agent.order move to a walled-in goal", auto_on_the_way, send_to_where_nobody_comes},
    {"agent.order move to goals of their own", units_each_its_own_way, send_each},
    {"agent.order stop", auto_on_the_way, stop},
    {"agent.order stop, full queues", units_with_full_queues, stop},
    {"agent.order hold", auto_on_the_way, hold},
    {"agent.order explore", units, explore},
    {"agent.order flee", units, flee},
    {"agent.order keep_distance", units_among_enemies, keep_distance},
    {"agent.order scatter", auto_on_the_way, scatter},
    {"agent.order patrol", auto_on_the_way, patrol},
    {"agent.order guard", auto_on_the_way, guard_a_cell},
    {"agent.order follow", auto_on_the_way, follow_one},
    {"agent.order queued", auto_on_the_way, append_to_queues},
    {"agent.order spread", auto_on_the_way, spread},
    {"agent.order formation box", auto_on_the_way, go_in_a_box},
    {"agent.order formation keep", auto_on_the_way, go_in_formation},
    {"agent.order one unit per cell", units_one_per_cell, send_elsewhere_and_tick},
    {"agent.order spread, one unit per cell", units_one_per_cell, spread},
    {"agent.spawn", nobody, put_down},
    {"agent.spawn one unit per cell", nobody_one_per_cell, put_down},
    {"agent.spawn around one cell", nobody_one_per_cell, put_down_around_one_cell},
    {"agent.remove", auto_on_the_way, remove_all},
    {"agent.remove with many followers", many_followers, remove_those_who_do_not_follow},
    {"agent.set_planner", auto_on_the_way, change_planners},
    {"terrain.set cells", nobody, change_cells},
    {"terrain.set one cell", auto_on_the_way, change_one_cell},
    {"terrain.set some cells, many teams", many_teams_on_the_way, change_some_cells},
    {"terrain.set the first costs, many teams", many_teams_on_the_way, change_costs_of_the_map},
    {"terrain.set over units", a_block_of_units, wall_up_the_block},
    {"terrain.set over units, one per cell", a_block_of_units_one_per_cell, wall_up_the_block},
    {"terrain.set rectangles", nobody, change_rectangles},
    {"building.place", many_buildings, build_one},
    {"building.place among units", auto_on_the_way, build_one},
    {"team.create", nobody, make_teams},
    {"tick of units on the way", auto_on_the_way, run_tick},
    {"tick of units in groups", groups_on_the_way, run_tick},
    {"tick of many teams", many_teams, run_tick},
    {"subscribe", auto_on_the_way, watch_everything},
    {"subscribe team by team", many_teams, watch_one_team},
    {"stats", many_teams_on_the_way, ask_for_numbers},
    {"debug.inspect", jps_on_the_way, look_at_each},
    {"world.save and world.load", auto_on_the_way, save_and_load},
    {"team.cost for many searches", searches_of_the_whole_map, change_costs_for_all_searches},
    {"terrain.set for many searches", searches_of_the_whole_map, wall_up_all_searches},
    {"agent.order keep_distance, as many enemies", as_many_enemies, keep_far_away},
    {"agent.order keep_distance, crowds on two cells", two_crowds_on_two_cells, keep_far_away},
    {"agent.order flee, as many enemies", as_many_enemies, flee_far_away},
    {"agent.order flee, crowds on two cells", two_crowds_on_two_cells, flee_far_away},
    {"agent.order with alert, as many enemies", as_many_enemies, be_on_the_alert},
    {"agent.order with alert, crowds on two cells", two_crowds_on_two_cells, be_on_the_alert},
    {"agent.order follow an enemy, one by one", enemies, follow_enemies_one_by_one},
    {"agent.place in two places in turn", units_one_per_cell, place_in_two_places_in_turn},
};

static uint64_t count(const struct deed *deed, uint32_t scale)
{
    scene.scale = scale;
    deed->prepare();
    uint64_t before = counted_work();
    deed->act();
    uint64_t spent = counted_work() - before;
    fm_world_destroy(scene.world);
    return spent;
}

static void everything_grows_with_what_it_names(void **state)
{
    (void)state;
    uint32_t failures = 0;
    for (uint32_t i = 0; i < FM_COUNT_OF(deeds); i++) {
        uint64_t once = count(&deeds[i], 1);
        uint64_t twice = count(&deeds[i], 2);
        uint64_t four_times = count(&deeds[i], SCALE_MOST);
        bool failed = (double)four_times > GROWTH_MOST * (double)once;
        print_message("%-48s %10llu %10llu %10llu  x%.2f%s\n", deeds[i].name,
                      (unsigned long long)once, (unsigned long long)twice,
                      (unsigned long long)four_times, (double)four_times / (double)once,
                      failed ? "  TOO MUCH" : "");
        failures += failed;
    }
    assert_int_equal(failures, 0);
    counted_work_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_grows_with_what_it_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
