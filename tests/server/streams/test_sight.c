// test_sight.c: a player never learns what its team cannot see.
//
// Method: pairs of worlds that differ only in cells and agents out of a team's sight. Both get the
// same random commands: agents of the team and of its enemies are spawned, removed, changed and
// carried, walls and buildings near them come and go, the game adds cost for the team, the player
// orders, asks for paths, and names agents that are not its own or do not exist. In the hidden part
// each world has its own walls, births, deaths and orders. Everything that the player receives must
// be the same in both: results of its commands, answers to its queries, and every byte of its
// keyframes and deltas, after one tick or fifty, of the whole map or a moving part.
//
//   +---------------+--------+------------------+
//   | both teams    | solid  | hidden: differs  |
//   | the same      | wall   | in every way     |
//   +---------------+--------+------------------+
//
// The wall is thicker than any sight, so its middle is hidden and differs, too. Goals may lie
// anywhere, so orders must fail because of what is known, not of what is true.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/orders/order_kinds.h"
#include "core/planners/query.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/unit_report.h"
#include "core/views/view_delta.h"
#include "core/world/names.h"
#include "server/streams/scene.h"
#include "tests/support/support.h"

#define WIDTH         56u
#define HEIGHT        24u
#define OPEN_WIDTH    26u // the part that both worlds share
#define WALL_WIDTH    14u
#define HIDDEN_X      (OPEN_WIDTH + WALL_WIDTH)
#define SENSE         4u
#define TICKS         150u
#define AGENTS_MAX    64u
#define BUILDINGS_MAX 12u
#define READERS       6u
#define REPORT_CELLS  16u // of a unit's path
#define RUNS          25u
#define BUDGET        (1u << 24)
#define PLAYER        1u
#define ENEMY         2u
#define HIDDEN_TEAM   3u

static const char *const planners[] = {"dstar-lite",     "repeated-jps", "auto",
                                       "adaptive-astar", "tbaa-star",    "dstar-extra-lite"};

// One world of a pair.
struct side {
    fm_world *world;
    fm_host host; // what the scene reads of it
    fm_scene *scene;
    fm_random hidden;                  // for the commands to this world only
    fm_agent_id agents[3][AGENTS_MAX]; // by team - 1; the hidden ones differ
    uint32_t agent_counts[3];
    uint32_t buildings[BUILDINGS_MAX]; // ids in the open part, the same ones in both
    uint32_t building_count;
    uint32_t hidden_building; // id, 0: none stands
    bool costs;
};

struct pair {
    struct side sides[2];
    fm_random random; // for the commands to both worlds
    uint64_t told[READERS];
    fm_rect rects[READERS];
    uint64_t bytes_compared, queries_compared, commands_compared, refusals, boarded;
    bool costs; // hidden cells get costs, which planners for equal costs do not allow
};

// ---- worlds -------------------------------------------------------------------------------------

static bool is_open(uint32_t x, uint32_t y)
{
    return x < OPEN_WIDTH && y < HEIGHT;
}

// Whether no agent of the open part can ever see the cell.
static bool is_hidden(uint32_t x)
{
    return x >= OPEN_WIDTH + SENSE;
}

static fm_grid *make_grid(fm_random shared, fm_random *hidden)
{
    fm_grid *grid;
    assert_int_equal(fm_grid_create(WIDTH, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            bool blocked = is_hidden(x)    ? fm_random_below(hidden, 3) == 0
                           : is_open(x, y) ? fm_random_below(&shared, 6) == 0
                                           : true;
            // The hidden part must stay hidden: no agent may get through the wall.
            blocked = blocked || (x >= OPEN_WIDTH && x < OPEN_WIDTH + SENSE + 1) ||
                      (x >= HIDDEN_X - SENSE - 1 && x < HIDDEN_X);
            if (blocked) {
                fm_grid_set(grid, fm_cell_at(x, y), FM_TERRAIN_WALL, FM_COST_FLOOR);
            }
        }
    }
    return grid;
}

static fm_command_result apply(struct side *side, fm_command command)
{
    fm_command_result result = {.status = FM_OK};
    fm_agent_id spawned[AGENTS_MAX];
    result.spawned = spawned;
    fm_world_apply(side->world, &command, &result);
    if (command.kind == FM_COMMAND_SPAWN && result.status == FM_OK) {
        for (uint32_t i = 0; i < command.cell_count; i++) {
            side->agents[command.team - 1][side->agent_counts[command.team - 1]++] = spawned[i];
        }
    }
    result.spawned = NULL;
    return result;
}

static void take_snapshot(struct side *side)
{
    static fm_agent_look looks[3 * AGENTS_MAX];
    uint16_t *cells = malloc(WIDTH * HEIGHT * sizeof *cells);
    assert_non_null(cells);
    uint64_t *sight = malloc(HEIGHT * sizeof *sight); // a word for each row
    assert_non_null(sight);
    assert_int_equal(fm_world_watch(side->world, PLAYER, true), FM_OK);
    assert_int_equal(fm_world_watch_sight(side->world, PLAYER), FM_OK);
    fm_world_sight(side->world, PLAYER, sight);
    uint32_t count = fm_world_agents_in_view(side->world, PLAYER, looks, FM_COUNT_OF(looks));
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        cells[i] = (uint16_t)fm_look_pack(
            fm_world_look_up(side->world, PLAYER, fm_cell_at(i % WIDTH, i / WIDTH)));
    }
    fm_publication snapshot = {
        .is_snapshot = true,
        .looks = cells,
        .sight = sight,
        .changes = {.entered = looks, .entered_count = count},
    };
    assert_int_equal(fm_scene_apply(side->scene, &snapshot), FM_OK);
    free(snapshot.looks);
    free(snapshot.sight);
}

static void side_init(struct side *side, const fm_world_rules *rules, fm_random shared,
                      uint64_t seed)
{
    *side = (struct side){.hidden = fm_random_seed(seed)};
    fm_grid *grid = make_grid(shared, &side->hidden);
    assert_int_equal(fm_world_create(rules, grid, &fm_memory_libc, &side->world), FM_OK);
    for (uint32_t team = 1; team <= 3; team++) {
        assert_int_equal(apply(side, (fm_command){.kind = FM_COMMAND_TEAM}).status, FM_OK);
    }
    side->host.number = 1;
    side->host.width = WIDTH;
    side->host.height = HEIGHT;
    side->scene = fm_scene_create(&side->host, PLAYER, 1);
    assert_non_null(side->scene);
    assert_int_equal(fm_scene_keep_motion(side->scene), FM_OK);
    take_snapshot(side);
}

static void side_fini(struct side *side)
{
    fm_scene_destroy(side->scene);
    fm_world_destroy(side->world);
}

// ---- commands to one world ----------------------------------------------------------------------

static fm_cell hidden_cell(struct side *side)
{
    return fm_cell_at(HIDDEN_X + fm_random_below(&side->hidden, WIDTH - HIDDEN_X),
                      fm_random_below(&side->hidden, HEIGHT));
}

static void build_or_demolish_hidden(struct side *side, fm_cell cell)
{
    if (side->hidden_building != 0) {
        apply(side, (fm_command){.kind = FM_COMMAND_DEMOLISH, .building = side->hidden_building});
        side->hidden_building = 0;
        return;
    }
    fm_rect rect = {.x = fm_cell_x(cell), .y = fm_cell_y(cell), .width = 1, .height = 1};
    fm_command_result result = apply(
        side, (fm_command){
                  .kind = FM_COMMAND_BUILD, .team = HIDDEN_TEAM, .rects = &rect, .rect_count = 1});
    side->hidden_building = result.status == FM_OK ? result.building : 0;
}

static void do_hidden_thing(struct side *side)
{
    fm_cell cell = hidden_cell(side);
    uint32_t team = HIDDEN_TEAM - 1;
    fm_command command = {.cells = &cell, .cell_count = 1};
    switch (fm_random_below(&side->hidden, 7)) {
    case 4:
        build_or_demolish_hidden(side, cell);
        return;
    case 0: // refused on walls and occupied cells
        command.kind = FM_COMMAND_SPAWN;
        command.team = HIDDEN_TEAM;
        if (side->agent_counts[team] < AGENTS_MAX) {
            apply(side, command);
        }
        return;
    case 1:
        if (side->agent_counts[team] > 0) {
            uint32_t i = fm_random_below(&side->hidden, side->agent_counts[team]);
            fm_agent_id id = side->agents[team][i];
            side->agents[team][i] = side->agents[team][--side->agent_counts[team]];
            apply(side, (fm_command){.kind = FM_COMMAND_REMOVE, .agents = &id, .agent_count = 1});
        }
        return;
    case 2:
    case 3:
        if (side->agent_counts[team] > 0) {
            command.kind = FM_COMMAND_ORDER;
            command.agents = side->agents[team];
            command.agent_count = side->agent_counts[team];
            apply(side, command);
        }
        return;
    case 5: // tags and sight of units there: they never see over the wall
        if (side->agent_counts[team] > 0) {
            static const uint8_t tag[] = "hidden";
            command.kind = FM_COMMAND_SET;
            command.agents = side->agents[team];
            command.agent_count = side->agent_counts[team];
            command.set = FM_SET_TAG | FM_SET_TAG_SHOWN | FM_SET_SIGHT;
            command.tag = tag;
            command.tag_size = sizeof tag;
            command.tag_shown = true;
            command.sight = (uint8_t)fm_random_below(&side->hidden, SENSE + 1);
            command.cell_count = 0;
            apply(side, command);
        }
        return;
    default:
        command.kind = FM_COMMAND_TERRAIN;
        command.terrain = fm_random_below(&side->hidden, 2) ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND;
        command.cost =
            side->costs ? (uint8_t)(1 + fm_random_below(&side->hidden, 9)) : FM_COST_FLOOR;
        apply(side, command);
    }
}

// ---- commands to both worlds --------------------------------------------------------------------

static fm_cell open_cell(struct pair *pair)
{
    return fm_cell_at(fm_random_below(&pair->random, OPEN_WIDTH),
                      fm_random_below(&pair->random, HEIGHT));
}

static fm_cell any_cell(struct pair *pair)
{
    return fm_cell_at(fm_random_below(&pair->random, WIDTH),
                      fm_random_below(&pair->random, HEIGHT));
}

static void expect_equal_results(struct pair *pair, const fm_command_result *a,
                                 const fm_command_result *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->failed_index, b->failed_index);
    assert_int_equal(a->first_number, b->first_number);
    assert_int_equal(a->changed_count, b->changed_count);
    pair->commands_compared++;
    pair->refusals += a->status != FM_OK;
}

static void do_both(struct pair *pair, fm_command command)
{
    fm_command_result a = apply(&pair->sides[0], command), b = apply(&pair->sides[1], command);
    expect_equal_results(pair, &a, &b);
}

static void spawn(struct pair *pair)
{
    uint32_t team = 1 + fm_random_below(&pair->random, 2);
    fm_cell cell = open_cell(pair);
    fm_planner_spec spec;
    char error[128];
    const char *name = planners[fm_random_below(&pair->random, FM_COUNT_OF(planners))];
    name = pair->costs ? "dstar-lite" : name;
    assert_int_equal(fm_planner_spec_parse(name, &spec, error, sizeof error), FM_OK);
    if (pair->sides[0].agent_counts[team - 1] < AGENTS_MAX) {
        do_both(pair, (fm_command){.kind = FM_COMMAND_SPAWN,
                                   .team = team,
                                   .cells = &cell,
                                   .cell_count = 1,
                                   .planner = spec});
    }
}

static void remove_one(struct pair *pair)
{
    uint32_t team = fm_random_below(&pair->random, 2);
    if (pair->sides[0].agent_counts[team] == 0) {
        return;
    }
    uint32_t at = fm_random_below(&pair->random, pair->sides[0].agent_counts[team]);
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        fm_agent_id id = side->agents[team][at];
        side->agents[team][at] = side->agents[team][--side->agent_counts[team]];
        fm_command command = {.kind = FM_COMMAND_REMOVE, .agents = &id, .agent_count = 1};
        results[i] = apply(side, command); // refused if it has died with its carrier
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

static bool somebody_stands_at(const struct side *side, fm_cell cell)
{
    for (uint32_t team = 0; team < 2; team++) {
        for (uint32_t i = 0; i < side->agent_counts[team]; i++) {
            fm_agent_report report; // none of those that are carried, or have died with a carrier
            if (fm_world_inspect(side->world, side->agents[team][i], &report) == FM_OK &&
                report.cell == cell) {
                return true;
            }
        }
    }
    return false;
}

static void edit(struct pair *pair)
{
    fm_cell cell = open_cell(pair);
    if (!somebody_stands_at(&pair->sides[0], cell)) {
        do_both(pair, (fm_command){.kind = FM_COMMAND_TERRAIN,
                                   .cells = &cell,
                                   .cell_count = 1,
                                   .terrain = fm_random_below(&pair->random, 2) ? FM_TERRAIN_WALL
                                                                                : FM_TERRAIN_GROUND,
                                   .cost = FM_COST_FLOOR});
    }
}

static void build(struct pair *pair)
{
    fm_cell cell = open_cell(pair);
    fm_rect rect = {.x = fm_cell_x(cell), .y = fm_cell_y(cell), .width = 2, .height = 1};
    uint32_t owner = fm_random_below(&pair->random, 3);
    fm_command_result results[2];
    if (rect.x + rect.width > OPEN_WIDTH || pair->sides[0].building_count == BUILDINGS_MAX) {
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        results[i] = apply(
            side,
            (fm_command){.kind = FM_COMMAND_BUILD, .team = owner, .rects = &rect, .rect_count = 1});
        if (results[i].status == FM_OK) {
            side->buildings[side->building_count++] = results[i].building;
        }
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

static void demolish(struct pair *pair)
{
    if (pair->sides[0].building_count == 0) {
        return;
    }
    uint32_t at = fm_random_below(&pair->random, pair->sides[0].building_count);
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        uint32_t building = side->buildings[at];
        side->buildings[at] = side->buildings[--side->building_count];
        fm_command command = {.kind = FM_COMMAND_DEMOLISH, .building = building};
        assert_int_equal(apply(side, command).status, FM_OK);
    }
}

static void order_enemies(struct pair *pair)
{
    fm_cell goal = open_cell(pair);
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        results[i] = apply(side, (fm_command){.kind = FM_COMMAND_ORDER,
                                              .agents = side->agents[ENEMY - 1],
                                              .agent_count = side->agent_counts[ENEMY - 1],
                                              .cells = &goal,
                                              .cell_count = 1});
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

// Freezes a unit, or changes its tag, its sight or its team.
static fm_command random_set(struct pair *pair)
{
    static const uint8_t tag[] = "a unit's tag";
    uint32_t counts[2] = {pair->sides[0].agent_counts[0], pair->sides[0].agent_counts[1]};
    bool has_room = counts[0] < AGENTS_MAX && counts[1] < AGENTS_MAX;
    fm_command set = {
        .kind = FM_COMMAND_SET,
        .set =
            (uint8_t)(fm_random_below(&pair->random, FM_SET_ALL) & ~(FM_SET_SPEED | FM_SET_CLASS)),
        .frozen = fm_random_below(&pair->random, 3) == 0,
        .tag = tag,
        .tag_size = (uint8_t)fm_random_below(&pair->random, sizeof tag),
        .tag_shown = fm_random_below(&pair->random, 2) == 0,
        .sight = (uint8_t)fm_random_below(&pair->random, SENSE + 1),
        .new_team = 1 + fm_random_below(&pair->random, 2),
    };
    set.set &= (uint8_t)(has_room ? FM_SET_ALL : ~FM_SET_TEAM);
    set.set |= set.set == 0 ? FM_SET_FROZEN : 0;
    return set;
}

// The game changes units of the open part, and places them elsewhere in it.
static void change_units(struct pair *pair)
{
    uint32_t team = fm_random_below(&pair->random, 2);
    uint32_t count = pair->sides[0].agent_counts[team];
    if (count == 0) {
        return;
    }
    uint32_t at = fm_random_below(&pair->random, count);
    fm_cell cell = open_cell(pair);
    bool place = fm_random_below(&pair->random, 3) == 0;
    fm_command set = random_set(pair);
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        fm_command command = {.agents = &side->agents[team][at], .agent_count = 1};
        if (place) {
            command.kind = FM_COMMAND_PLACE;
            command.cells = &cell;
            command.cell_count = 1;
        } else {
            set.agents = command.agents;
            set.agent_count = 1;
            command = set;
        }
        results[i] = apply(side, command);
        if (!place && set.set & FM_SET_TEAM && set.new_team != team + 1) {
            side->agents[1 - team][side->agent_counts[1 - team]++] = side->agents[team][at];
            side->agents[team][at] = side->agents[team][--side->agent_counts[team]];
        }
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

// An alias that the player tries: mostly of an agent in view, sometimes a made-up one.
static fm_agent_id some_name(struct pair *pair)
{
    static fm_agent_look looks[3 * AGENTS_MAX];
    uint32_t count =
        fm_world_agents_in_view(pair->sides[0].world, PLAYER, looks, FM_COUNT_OF(looks));
    if (count == 0 || fm_random_below(&pair->random, 6) == 0) {
        return (fm_agent_id){.index1 = fm_random_below(&pair->random, 2 * AGENTS_MAX),
                             .generation = fm_random_below(&pair->random, 3)};
    }
    return looks[fm_random_below(&pair->random, count)].name;
}

// As the server does: it turns aliases into ids first.
static void order_as_player(struct pair *pair)
{
    fm_agent_id names[4], target = some_name(pair);
    fm_cell cells[4];
    uint32_t count = 1 + fm_random_below(&pair->random, 4);
    bool mixed = fm_random_below(&pair->random, 3) == 0;
    for (uint32_t i = 0; i < count; i++) {
        do {
            names[i] = some_name(pair);
        } while (!mixed && names[i].index1 % 2 == 0 && fm_random_below(&pair->random, 50) > 0);
        cells[i] = any_cell(pair);
    }
    fm_order_kind kind = (fm_order_kind)fm_random_below(&pair->random, FM_ORDER_KIND_COUNT);
    kind = fm_random_below(&pair->random, 2) ? FM_ORDER_MOVE : kind;
    bool has_cells = kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL;
    bool has_target = kind == FM_ORDER_FOLLOW || kind == FM_ORDER_GUARD ||
                      (kind == FM_ORDER_KEEP_DISTANCE && fm_random_below(&pair->random, 2) == 0);
    fm_on_unreachable otherwise = (fm_on_unreachable)fm_random_below(&pair->random, 3);
    bool queue = kind != FM_ORDER_STOP && fm_random_below(&pair->random, 4) == 0;
    bool may_alert = kind != FM_ORDER_STOP && fm_order_kind_may_alert(kind);
    uint32_t alert = may_alert ? fm_random_below(&pair->random, 3) * 4 : 0;
    uint32_t deadline = kind != FM_ORDER_STOP ? (fm_random_below(&pair->random, 5) == 0) * 9u : 0;
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        fm_agent_id ids[4];
        for (uint32_t j = 0; j < count; j++) {
            ids[j] = fm_world_agent_named(side->world, PLAYER, names[j]);
        }
        fm_agent_id target_id = fm_world_agent_named(side->world, PLAYER, target);
        target_id.index1 = target_id.index1 == 0 ? UINT32_MAX : target_id.index1;
        results[i] = apply(side, (fm_command){
                                     .kind = FM_COMMAND_ORDER,
                                     .team = PLAYER,
                                     .agents = ids,
                                     .agent_count = count,
                                     .order = kind,
                                     .on_unreachable = otherwise,
                                     .cells = has_cells ? cells : NULL,
                                     .cell_count = has_cells ? count : 0,
                                     .target = has_target ? target_id : (fm_agent_id){0},
                                     .queue = queue,
                                     .alert = alert,
                                     .deadline = deadline,
                                 });
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

// All units of the team resume, whether an alert has stopped them or not.
static void resume_as_player(struct pair *pair)
{
    uint32_t ticks = fm_random_below(&pair->random, 3) * 3;
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        results[i] = apply(side, (fm_command){.kind = FM_COMMAND_RESUME,
                                              .team = PLAYER,
                                              .agents = side->agents[PLAYER - 1],
                                              .agent_count = side->agent_counts[PLAYER - 1],
                                              .ticks = ticks});
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

// A unit of the team takes others aboard, or all that it carries get off.
static void board_as_player(struct pair *pair)
{
    uint32_t own = pair->sides[0].agent_counts[PLAYER - 1];
    if (own < 2) {
        return;
    }
    uint32_t carrier = fm_random_below(&pair->random, own);
    uint32_t first = fm_random_below(&pair->random, own);
    uint32_t count = 1 + fm_random_below(&pair->random, own - first);
    bool board = fm_random_below(&pair->random, 3) > 0;
    uint32_t radius = 1 + fm_random_below(&pair->random, 8);
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        fm_agent_id *agents = pair->sides[i].agents[PLAYER - 1];
        results[i] = apply(&pair->sides[i],
                           (fm_command){.kind = board ? FM_COMMAND_BOARD : FM_COMMAND_UNBOARD,
                                        .team = PLAYER,
                                        .agents = board ? agents + first : NULL,
                                        .agent_count = board ? count : 0,
                                        .target = agents[carrier],
                                        .radius = radius});
    }
    pair->boarded += board && results[0].status == FM_OK;
    expect_equal_results(pair, &results[0], &results[1]);
}

// The game adds cost to cells for the team, known to it or not.
static void add_cost(struct pair *pair)
{
    fm_cell cells[3];
    for (uint32_t i = 0; i < FM_COUNT_OF(cells); i++) {
        cells[i] = any_cell(pair);
    }
    uint8_t cost = (uint8_t)(fm_random_below(&pair->random, 4) * 10);
    fm_command_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        results[i] = apply(&pair->sides[i], (fm_command){.kind = FM_COMMAND_COST,
                                                         .team = PLAYER,
                                                         .cells = cells,
                                                         .cell_count = FM_COUNT_OF(cells),
                                                         .cost = cost});
    }
    expect_equal_results(pair, &results[0], &results[1]);
}

static void ask_for_path(struct pair *pair)
{
    fm_cell from = open_cell(pair), to = any_cell(pair);
    uint64_t expansions_max = fm_random_below(&pair->random, 4) == 0 ? 20 : UINT64_MAX;
    fm_query *queries[2] = {NULL, NULL};
    fm_query_answer answers[2];
    fm_status statuses[2];
    for (uint32_t i = 0; i < 2; i++) {
        const fm_view *view = fm_world_view(pair->sides[i].world, PLAYER);
        statuses[i] = fm_query_create(view, from, to, expansions_max, &fm_memory_libc, &queries[i]);
        if (statuses[i] == FM_OK) {
            fm_work work = {.expansions_max = UINT32_MAX};
            while (fm_query_advance(queries[i], &work) == FM_QUERY_RUNNING) {
            }
            answers[i] = fm_query_result(queries[i]);
        }
    }
    assert_int_equal(statuses[0], statuses[1]);
    if (statuses[0] == FM_OK) {
        assert_int_equal(answers[0].state, answers[1].state);
        assert_int_equal(answers[0].cost, answers[1].cost);
        assert_int_equal(answers[0].expansions, answers[1].expansions);
        assert_int_equal(answers[0].cell_count, answers[1].cell_count);
        assert_memory_equal(answers[0].cells, answers[1].cells,
                            answers[0].cell_count * sizeof(fm_cell));
        pair->queries_compared++;
    }
    fm_query_destroy(queries[0]);
    fm_query_destroy(queries[1]);
}

// ---- what the player receives -------------------------------------------------------------------

static void expect_equal_bodies(struct pair *pair, fm_body a, fm_body b)
{
    assert_int_equal(a.entries, b.entries);
    assert_int_equal(a.frame == NULL, b.frame == NULL);
    if (a.frame != NULL) {
        assert_int_equal(a.frame->size, b.frame->size);
        assert_memory_equal(a.frame->bytes, b.frame->bytes, a.frame->size);
        pair->bytes_compared += a.frame->size;
    }
}

static fm_form draw_form(struct pair *pair)
{
    return (fm_form){.veiled = true,
                     .dense = fm_random_below(&pair->random, 2) == 0,
                     .sight = fm_random_below(&pair->random, 2) == 0,
                     .motion = fm_random_below(&pair->random, 2) == 0};
}

// Moves the rectangle of a reader.
static void move_reader(struct pair *pair, uint32_t reader)
{
    fm_rect *from = &pair->rects[reader];
    fm_rect to = *from;
    to.x = fm_random_below(&pair->random, WIDTH - to.width + 1);
    to.y = fm_random_below(&pair->random, HEIGHT - to.height + 1);
    fm_form form = draw_form(pair);
    fm_body bodies[2];
    for (uint32_t i = 0; i < 2; i++) {
        bodies[i] = fm_scene_shift(pair->sides[i].scene, from, &to, pair->told[reader], form);
    }
    expect_equal_bodies(pair, bodies[0], bodies[1]);
    fm_frame_drop(bodies[0].frame);
    fm_frame_drop(bodies[1].frame);
    *from = to;
    pair->told[reader] = pair->sides[0].scene->tick;
}

static void compare_views(struct pair *pair)
{
    fm_scene *a = pair->sides[0].scene, *b = pair->sides[1].scene;
    assert_int_equal(a->tick, b->tick); // the worlds publish in the same ticks
    for (uint32_t i = 0; i < READERS; i++) {
        if (i > 0 && fm_random_below(&pair->random, 1 + 6 * i) > 0) {
            continue; // this one is slow
        }
        const fm_rect *rect = &pair->rects[i];
        if (i % 2 == 1 && fm_random_below(&pair->random, 3) == 0) {
            move_reader(pair, i);
        }
        fm_form form = draw_form(pair);
        expect_equal_bodies(pair, fm_scene_delta(a, rect, pair->told[i], form),
                            fm_scene_delta(b, rect, pair->told[i], form));
        pair->told[i] = a->tick;
        if (fm_random_below(&pair->random, 20) == 0) {
            expect_equal_bodies(pair, fm_scene_keyframe(a, rect, form),
                                fm_scene_keyframe(b, rect, form));
        }
    }
}

static uint32_t add_tags(const struct side *side, const fm_agent_look *looks, uint32_t look_count,
                         fm_tag_look *tags, uint32_t count)
{
    for (uint32_t i = 0; i < look_count; i++) {
        uint32_t size;
        const uint8_t *bytes = fm_world_tag(side->world, PLAYER, looks[i].id, &size);
        if (looks[i].tells_tag) {
            tags[count] = (fm_tag_look){.name = looks[i].name, .size = (uint8_t)size};
            if (size > 0) {
                memcpy(tags[count].bytes, bytes, size);
            }
            count++;
        }
    }
    return count;
}

static bool publish(struct side *side, uint64_t tick)
{
    fm_changes changes = fm_world_changes(side->world, PLAYER);
    if (changes.entered_count + changes.changed_count + changes.left_count + changes.cell_count +
            changes.ended_count + changes.buildings_changed + changes.sight_count ==
        0) {
        return false;
    }
    static fm_course courses[3 * AGENTS_MAX];
    fm_publication publication = {.tick = tick, .changes = changes, .courses = courses};
    publication.course_count = fm_world_courses(
        side->world, PLAYER, changes.changed, changes.changed_count, courses, FM_COUNT_OF(courses));
    static fm_tag_look tags[6 * AGENTS_MAX];
    publication.tags = tags;
    publication.tag_count = add_tags(side, changes.entered, changes.entered_count, tags, 0);
    publication.tag_count =
        add_tags(side, changes.changed, changes.changed_count, tags, publication.tag_count);
    assert_int_equal(fm_scene_apply(side->scene, &publication), FM_OK);
    return true;
}

// What the player's own units do, without the numbers that no player gets. Nothing of one that died
// with its carrier.
static fm_unit_report report_of(const struct side *side, uint32_t i, fm_cell *cells)
{
    fm_unit_report report;
    fm_agent_id agent = side->agents[PLAYER - 1][i];
    fm_status status = fm_world_report_unit(side->world, agent, &report, cells, REPORT_CELLS);
    if (status != FM_OK) {
        assert_int_equal(status, FM_ERR_NO_AGENT);
        return (fm_unit_report){0};
    }
    report.agent = report.target = report.blocker = (fm_agent_id){0};
    for (uint32_t n = 0; n < report.order_count; n++) {
        report.orders[n].id = 0;
    }
    return report;
}

static void compare_reports(const struct pair *pair)
{
    for (uint32_t i = 0; i < pair->sides[0].agent_counts[PLAYER - 1]; i++) {
        fm_cell cells[2][REPORT_CELLS];
        fm_unit_report a = report_of(&pair->sides[0], i, cells[0]);
        fm_unit_report b = report_of(&pair->sides[1], i, cells[1]);
        assert_int_equal(a.name.index1, b.name.index1);
        assert_int_equal(a.cell, b.cell);
        assert_int_equal(a.state, b.state);
        assert_int_equal(a.frozen, b.frozen);
        assert_int_equal(a.has_order, b.has_order);
        assert_int_equal(a.order_count, b.order_count);
        assert_memory_equal(a.orders, b.orders, a.order_count * sizeof *a.orders);
        assert_int_equal(a.substitute, b.substitute);
        assert_int_equal(fm_agent_id_pack(a.target_name), fm_agent_id_pack(b.target_name));
        assert_int_equal(a.why, b.why);
        assert_int_equal(fm_agent_id_pack(a.blocker_name), fm_agent_id_pack(b.blocker_name));
        assert_int_equal(a.blocked_at, b.blocked_at);
        assert_int_equal(a.waits_ticks, b.waits_ticks);
        assert_int_equal(a.path_count, b.path_count);
        if (a.path_count > 0) {
            assert_memory_equal(cells[0], cells[1], a.path_count * sizeof **cells);
        }
    }
}

static void tick(struct pair *pair, uint64_t number)
{
    fm_tick_report report;
    bool published[2];
    for (uint32_t i = 0; i < 2; i++) {
        fm_tick_run(pair->sides[i].world, NULL, BUDGET, NULL, &report);
        published[i] = publish(&pair->sides[i], number);
    }
    compare_reports(pair);
    assert_int_equal(published[0], published[1]);
    if (published[0]) {
        compare_views(pair);
    }
}

// ---- runs ---------------------------------------------------------------------------------------

static void step(struct pair *pair, uint64_t number)
{
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t n = fm_random_below(&pair->sides[i].hidden, 4); n > 0; n--) {
            do_hidden_thing(&pair->sides[i]);
        }
    }
    for (uint32_t n = fm_random_below(&pair->random, 4); n > 0; n--) {
        switch (fm_random_below(&pair->random, 19)) {
        case 16:
        case 17:
            board_as_player(pair);
            break;
        case 18:
            add_cost(pair);
            break;
        case 15:
            change_units(pair);
            resume_as_player(pair);
            break;
        case 12:
        case 13:
            build(pair);
            break;
        case 14:
            demolish(pair);
            break;
        case 0:
        case 1:
            spawn(pair);
            break;
        case 2:
            remove_one(pair);
            break;
        case 3:
        case 4:
            edit(pair);
            break;
        case 5:
            order_enemies(pair);
            break;
        case 6:
        case 7:
            ask_for_path(pair);
            break;
        default:
            order_as_player(pair);
        }
    }
    tick(pair, number);
}

// Counts over several runs: a single run may have no refusal.
struct seen {
    uint64_t bytes, commands, refusals, boarded;
};

static void check_seen(const struct seen *seen)
{
    assert_true(seen->bytes > 10000 * RUNS && seen->commands > 50 * RUNS && seen->refusals > 0 &&
                seen->boarded > 0);
}

static void run_pair(uint64_t seed, bool exclusive, bool costs, struct seen *seen)
{
    static struct pair pair;
    pair = (struct pair){.random = fm_random_seed(seed), .costs = costs};
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = SENSE;
    rules.sense.line_of_sight = fm_random_below(&pair.random, 2) == 0;
    rules.occupancy = exclusive ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
    side_init(&pair.sides[0], &rules, pair.random, seed + 1);
    side_init(&pair.sides[1], &rules, pair.random, seed + 2);
    pair.sides[0].costs = pair.sides[1].costs = costs;
    for (uint32_t i = 0; i < READERS; i++) {
        pair.rects[i] = (fm_rect){.width = WIDTH, .height = HEIGHT};
        if (i % 2 == 1) {
            pair.rects[i] = (fm_rect){.x = 2 * i, .y = i, .width = 12, .height = 10};
        }
    }
    for (uint32_t i = 0; i < 12; i++) {
        spawn(&pair);
    }
    for (uint64_t number = 1; number <= TICKS; number++) {
        step(&pair, number);
    }
    seen->bytes += pair.bytes_compared;
    seen->commands += pair.commands_compared;
    seen->refusals += pair.refusals;
    seen->boarded += pair.boarded;
    side_fini(&pair.sides[0]);
    side_fini(&pair.sides[1]);
}

static void test_pairs_look_the_same(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + run), false, false, &seen);
    }
    check_seen(&seen);
}

static void test_pairs_look_the_same_when_units_take_room(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + 100 + run), true, false, &seen);
    }
    check_seen(&seen);
}

static void test_pairs_look_the_same_when_costs_are_hidden(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + 200 + run), run % 2 == 0, true, &seen);
    }
    check_seen(&seen);
}

// Two worlds after a hundred hidden commands each. Returns whether their units differ, too, which
// may fail by chance.
static bool hidden_parts_differ(uint64_t seed)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = SENSE;
    struct side sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        side_init(&sides[i], &rules, fm_random_seed(seed), seed + 1 + i);
        for (uint32_t n = 0; n < 100; n++) {
            do_hidden_thing(&sides[i]);
        }
    }
    uint32_t different = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        fm_cell cell = fm_cell_at(i % WIDTH, i / WIDTH);
        different += fm_look_pack(fm_world_look_up(sides[0].world, FM_ALL_TEAMS, cell)) !=
                     fm_look_pack(fm_world_look_up(sides[1].world, FM_ALL_TEAMS, cell));
    }
    assert_true(different > 50);
    fm_world_counts counts[2];
    fm_world_counts_get(sides[0].world, &counts[0]);
    fm_world_counts_get(sides[1].world, &counts[1]);
    side_fini(&sides[0]);
    side_fini(&sides[1]);
    return counts[0].orders_given != counts[1].orders_given || counts[0].agents != counts[1].agents;
}

// Checks the test itself: the pairs do differ, and the views of everything show it.
static void test_hidden_parts_differ(void **state)
{
    (void)state;
    uint32_t differ = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        differ += hidden_parts_differ(fm_mix64(fm_test_seed() + 300 + run));
    }
    assert_true(differ > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_look_the_same),
        cmocka_unit_test(test_pairs_look_the_same_when_units_take_room),
        cmocka_unit_test(test_pairs_look_the_same_when_costs_are_hidden),
        cmocka_unit_test(test_hidden_parts_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
