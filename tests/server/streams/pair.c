// tests/server/streams/pair.c: see pair.h.

#include "tests/server/streams/pair.h"

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

static const char *const planners[] = {"dstar-lite",     "repeated-jps", "auto",
                                       "adaptive-astar", "tbaa-star",    "dstar-extra-lite"};

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

void pair_side_init(struct side *side, const fm_world_rules *rules, fm_random shared, uint64_t seed)
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

void pair_side_fini(struct side *side)
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

void pair_do_hidden_thing(struct side *side)
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

void pair_spawn(struct pair *pair)
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

// ---- what happens -------------------------------------------------------------------------------

void pair_act(struct pair *pair)
{
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t n = fm_random_below(&pair->sides[i].hidden, 4); n > 0; n--) {
            pair_do_hidden_thing(&pair->sides[i]);
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
            pair_spawn(pair);
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
}
