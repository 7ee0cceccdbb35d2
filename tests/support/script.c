// script.c: see script.h.

#include "tests/support/script.h"

#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/commands/permit.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"
#include "tests/support/support.h"

// A copy of the numbers that a command points to; released with the script.
static void *keep(const void *numbers, size_t size)
{
    if (size == 0) {
        return NULL;
    }
    void *copy = malloc(size);
    memcpy(copy, numbers, size);
    return copy;
}

static fm_cell random_cell(fm_random *random, const fm_grid *grid)
{
    return fm_cell_at(fm_random_below(random, grid->width), fm_random_below(random, grid->height));
}

// Of any kind; some are refused, which must leave no trace.
static fm_command order_command(fm_script *script, fm_random *random, const fm_grid *grid)
{
    fm_agent_id agents[16];
    fm_cell cells[16];
    uint32_t count = 1 + fm_random_below(random, 12);
    bool one_goal = fm_random_below(random, 2) == 0;
    fm_cell goal = random_cell(random, grid);
    // Neighbours in the list are mostly of one team, as a group must be.
    bool grouped = one_goal && fm_random_below(random, 2) == 0;
    uint32_t first = fm_random_below(random, script->agent_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pick = grouped ? (first + i) % script->agent_count
                                : fm_random_below(random, script->agent_count);
        agents[i] = script->agents[pick];
        cells[i] = one_goal ? goal : random_cell(random, grid);
    }
    fm_order_kind kind = fm_random_below(random, 2) == 0
                             ? FM_ORDER_MOVE
                             : (fm_order_kind)fm_random_below(random, FM_ORDER_KIND_COUNT);
    fm_agent_id target = script->agents[fm_random_below(random, script->agent_count)];
    bool may_target = kind == FM_ORDER_GUARD || kind == FM_ORDER_KEEP_DISTANCE;
    bool has_target = kind == FM_ORDER_FOLLOW || (may_target && fm_random_below(random, 2) == 0);
    bool follows = kind == FM_ORDER_FOLLOW || kind == FM_ORDER_KEEP_DISTANCE;
    one_goal = one_goal || kind == FM_ORDER_GUARD || kind == FM_ORDER_SCATTER;
    return (fm_command){
        .kind = FM_COMMAND_ORDER,
        .agents = keep(agents, count * sizeof *agents),
        .agent_count = count,
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = has_target ? 0
                      : one_goal ? 1
                                 : count,
        .order = kind,
        .on_unreachable = (fm_on_unreachable)fm_random_below(random, 3),
        .queue = fm_random_below(random, 3) == 0,
        .loop = fm_random_below(random, 2) == 0,
        .target = has_target ? target : (fm_agent_id){0},
        .radius = fm_random_below(random, 12),
        .spread = grouped && kind == FM_ORDER_MOVE,
        .formation = grouped && kind == FM_ORDER_MOVE ? (fm_formation)fm_random_below(random, 4)
                                                      : FM_FORMATION_NONE,
        .common_speed = grouped && kind == FM_ORDER_MOVE && fm_random_below(random, 2) == 0,
        .agents_a_tick = fm_random_below(random, 4) == 0 ? 1 + fm_random_below(random, 3) : 0,
        .once = follows && fm_random_below(random, 3) == 0,
        .alert = (kind == FM_ORDER_MOVE || kind == FM_ORDER_PATROL || kind == FM_ORDER_GUARD) &&
                         fm_random_below(random, 4) == 0
                     ? 1 + fm_random_below(random, 12)
                     : 0,
        .deadline = kind != FM_ORDER_STOP && fm_random_below(random, 6) == 0
                        ? 1 + fm_random_below(random, 60)
                        : 0,
    };
}

static fm_command terrain_command(fm_random *random, const fm_grid *grid, bool weights)
{
    fm_cell cells[6];
    uint32_t count = 1 + fm_random_below(random, 6);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = random_cell(random, grid);
    }
    uint32_t kind = fm_random_below(random, weights ? 3 : 2);
    return (fm_command){
        .kind = FM_COMMAND_TERRAIN,
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = count,
        .terrain = kind == 0   ? (fm_terrain)(FM_TERRAIN_OUT + fm_random_below(random, 5))
                   : kind == 1 ? FM_TERRAIN_GROUND
                               : FM_TERRAIN_UNKNOWN,
        .cost = kind == 2 ? (uint8_t)(1 + fm_random_below(random, 9)) : 0,
    };
}

// Agents change planners under way; planners that cannot work here are refused.
static fm_command planner_command(fm_script *script, fm_random *random)
{
    uint32_t planner_count = 0;
    while (fm_planner_catalogue[planner_count] != NULL) {
        planner_count += 1;
    }
    uint32_t count = 1 + fm_random_below(random, 4);
    fm_agent_id agents[4];
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = script->agents[fm_random_below(random, script->agent_count)];
    }
    uint32_t planner = fm_random_below(random, planner_count + 1);
    return (fm_command){
        .kind = FM_COMMAND_PLANNER,
        .agents = keep(agents, count * sizeof *agents),
        .agent_count = count,
        .planner = {.ops = fm_planner_catalogue[planner]}, // NULL at the end: its team's
    };
}

// Agents are placed elsewhere or changed; those that do not fit are refused.
static fm_command unit_command(fm_script *script, fm_random *random, const fm_grid *grid)
{
    uint32_t count = 1 + fm_random_below(random, 4);
    fm_agent_id agents[4];
    fm_cell cells[4];
    for (uint32_t i = 0; i < count; i++) {
        agents[i] = script->agents[fm_random_below(random, script->agent_count)];
        cells[i] = random_cell(random, grid);
    }
    fm_command command = {.agents = keep(agents, count * sizeof *agents), .agent_count = count};
    if (fm_random_below(random, 2) == 0) {
        command.kind = FM_COMMAND_PLACE;
        command.cells = keep(cells, count * sizeof *cells);
        command.cell_count = count;
        command.placing = (fm_placing)fm_random_below(random, 2);
    } else {
        command.kind = FM_COMMAND_SET;
        command.set = (uint8_t)(1 + fm_random_below(random, FM_SET_ALL));
        command.class_index = fm_random_below(random, 4);
        command.speed = fm_random_below(random, 2) == 0 ? 0 : 500 + fm_random_below(random, 13000);
        command.frozen = fm_random_below(random, 3) == 0;
        static const uint8_t tag[FM_TAG_SIZE_MAX] = "a tag that nobody understands";
        command.tag = tag;
        command.tag_size = (uint8_t)fm_random_below(random, FM_TAG_SIZE_MAX + 1);
        command.tag_shown = fm_random_below(random, 2) == 0;
        command.sight = (uint8_t)fm_random_below(random, 12);
        command.new_team = 1 + fm_random_below(random, script->team_count);
    }
    return command;
}

// Many are refused; that must be the same in every run, too.
static fm_command building_command(fm_random *random, const fm_grid *grid, uint32_t team_count)
{
    if (fm_random_below(random, 3) == 0) {
        return (fm_command){.kind = FM_COMMAND_DEMOLISH,
                            .building = 1 + fm_random_below(random, 20)};
    }
    fm_cell corner = random_cell(random, grid);
    fm_rect rect = {fm_cell_x(corner), fm_cell_y(corner), 1 + fm_random_below(random, 4),
                    1 + fm_random_below(random, 4)};
    return (fm_command){
        .kind = FM_COMMAND_BUILD,
        .team = fm_random_below(random, team_count + 1),
        .rects = keep(&rect, sizeof rect),
        .rect_count = 1,
        .on_units = (fm_on_units)fm_random_below(random, 2),
    };
}

static fm_command *add(fm_script_step *step)
{
    assert_true(step->command_count < FM_SCRIPT_COMMANDS_MAX);
    return &step->commands[step->command_count++];
}

// Cells that one team's paths avoid. It has its own random numbers, so other games do not change.
static void write_cost(const fm_script *script, const fm_grid *grid, fm_script_step *step,
                       uint32_t i)
{
    fm_random random = fm_random_seed(fm_mix64(script->map.seed + i));
    if (script->map.seed % 3 != 0 || fm_random_below(&random, 6) != 0) {
        return;
    }
    fm_cell corner = random_cell(&random, grid), cell = random_cell(&random, grid);
    uint32_t right = grid->width - fm_cell_x(corner), below = grid->height - fm_cell_y(corner);
    fm_rect rect = {fm_cell_x(corner), fm_cell_y(corner),
                    1 + fm_random_below(&random, right < 12 ? right : 12),
                    1 + fm_random_below(&random, below < 12 ? below : 12)};
    *add(step) = (fm_command){
        .kind = FM_COMMAND_COST,
        .team = 1 + fm_random_below(&random, script->team_count),
        .cells = keep(&cell, sizeof cell),
        .cell_count = 1,
        .rects = keep(&rect, sizeof rect),
        .rect_count = 1,
        .cost = (uint8_t)(fm_random_below(&random, 3) == 0 ? 0 : fm_random_below(&random, 250)),
    };
}

// Who carries others now; all zero: nobody of the script's.
static fm_agent_id find_carrier(const fm_script *script, const fm_world *world)
{
    for (uint32_t i = 0; i < script->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, script->agents[i]);
        if (agent != NULL && agent->passenger_count > 0) {
            return script->agents[i];
        }
    }
    return (fm_agent_id){0};
}

// Up to four agents near an agent board it; or some come out again, named or all. It has its own
// random numbers, so other games do not change.
static void write_boarding(const fm_script *script, const fm_world *world, fm_script_step *step,
                           uint32_t i)
{
    fm_random random = fm_random_seed(fm_mix64(script->map.seed * 3 + i));
    if (script->map.seed % 3 != 1 || fm_random_below(&random, 4) != 0 || script->agent_count == 0) {
        return;
    }
    fm_agent_id target = script->agents[fm_random_below(&random, script->agent_count)];
    fm_agent_id carrier = find_carrier(script, world), agents[4];
    const struct fm_agent *to = fm_world_find(world, target);
    uint32_t count = 0;
    if (carrier.index1 != 0 && fm_random_below(&random, 3) == 0) {
        *add(step) = (fm_command){
            .kind = FM_COMMAND_UNBOARD, .target = carrier, .radius = fm_random_below(&random, 3)};
        return;
    }
    for (uint32_t n = 0; to != NULL && n < script->agent_count && count < 4; n++) {
        const struct fm_agent *agent = fm_world_find(world, script->agents[n]);
        bool is_near = agent != NULL && agent != to && agent->team == to->team &&
                       agent->passenger_count == 0 &&
                       fm_cell_x(agent->cell) / 6 == fm_cell_x(to->cell) / 6 &&
                       fm_cell_y(agent->cell) / 6 == fm_cell_y(to->cell) / 6;
        if (is_near) {
            agents[count++] = script->agents[n];
        }
    }
    if (count == 0) {
        agents[count++] = script->agents[fm_random_below(&random, script->agent_count)];
    }
    bool boards = fm_random_below(&random, 5) != 0;
    *add(step) = (fm_command){.kind = boards ? FM_COMMAND_BOARD : FM_COMMAND_UNBOARD,
                              .agents = keep(agents, count * sizeof *agents),
                              .agent_count = count,
                              .target = boards ? target : (fm_agent_id){0},
                              .radius = 1 + fm_random_below(&random, 8)};
}

bool fm_script_has_carried(const fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        if (agents->slots[slot].carrier != 0) {
            return true;
        }
    }
    return false;
}

bool fm_script_is_exclusive(const fm_world *world)
{
    return fm_world_rules_get(world)->occupancy == FM_OCCUPANCY_EXCLUSIVE;
}

bool fm_script_has_costs(const fm_world *world)
{
    bool has = false;
    for (uint32_t team = 1; team <= fm_world_team_count(world); team++) {
        has = has || fm_team_of(world, team)->knowledge->layer.added != NULL;
    }
    return has;
}

bool fm_script_has_renamed(const fm_world *world)
{
    const struct fm_world_agents *agents = fm_world_agents(world);
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        if (agents->slots[slot].name_generation != agents->slots[slot].generation) {
            return true;
        }
    }
    return false;
}

// Half of a team's agents, of one class; fewer where the class fits almost nowhere.
static void spawn_half(fm_script *script, fm_world *world, fm_random *random, fm_script_step *step,
                       uint32_t team, uint32_t half)
{
    fm_cell cells[FM_SCRIPT_AGENTS_MAX];
    uint32_t wanted = FM_SCRIPT_AGENTS_MAX / script->team_count / 2, count = 0;
    uint32_t class_index = (team + half) % fm_world_rules_get(world)->class_count;
    const fm_view *truth = fm_world_class_view(world, FM_ALL_TEAMS, class_index);
    for (uint32_t tries = 0; count < wanted && tries < 4000; tries++) {
        fm_cell cell = random_cell(random, fm_world_grid(world));
        if (!fm_view_is_blocked(truth, cell)) {
            cells[count++] = cell;
        }
    }
    *add(step) = (fm_command){
        .kind = FM_COMMAND_SPAWN,
        .team = team,
        .class_index = class_index,
        .planner = fm_random_below(random, 3) == 0
                       ? fm_script_random_planner(random, fm_world_rules_get(world))
                       : (fm_planner_spec){0},
        .placing = fm_script_is_exclusive(world) ? FM_PLACE_NEAREST : FM_PLACE_EXACT,
        .speed = fm_random_below(random, 2) == 0 ? 0 : 500 + fm_random_below(random, 13000),
        .cells = keep(cells, count * sizeof *cells),
        .cell_count = count};
}

static void populate(fm_script *script, fm_world *world, fm_random *random, fm_script_step *step)
{
    for (uint32_t i = 0; i < script->team_count; i++) {
        *add(step) = (fm_command){.kind = FM_COMMAND_TEAM, .weight = fm_random_below(random, 10)};
    }
    for (uint32_t team = 1; team <= script->team_count; team++) {
        for (uint32_t half = 0; half < 2; half++) {
            spawn_half(script, world, random, step, team, half);
        }
    }
}

static bool is_among(const fm_agent_id *agents, uint32_t count, fm_agent_id agent)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fm_agent_id_pack(agents[i]) == fm_agent_id_pack(agent)) {
            return true;
        }
    }
    return false;
}

// Some agents die, and as many are spawned for a random team, unless they do not fit.
static void write_life(fm_script *script, fm_world *world, fm_random *random, fm_script_step *step)
{
    fm_agent_id dying[3];
    fm_cell cells[3];
    uint32_t count = 1 + fm_random_below(random, 3), births = 0;
    for (uint32_t i = 0; i < count; i++) {
        dying[i] = script->agents[fm_random_below(random, script->agent_count)];
        if (!is_among(dying, i, dying[i])) {
            cells[births++] = random_cell(random, fm_world_grid(world));
        }
    }
    *add(step) = (fm_command){.kind = FM_COMMAND_REMOVE,
                              .agents = keep(dying, count * sizeof *dying),
                              .agent_count = count};
    if (fm_random_below(random, 2) == 0) {
        *add(step) = order_command(script, random, fm_world_grid(world)); // may name dead agents
    }
    *add(step) = (fm_command){
        .kind = FM_COMMAND_SPAWN,
        .team = 1 + fm_random_below(random, script->team_count),
        .class_index = fm_random_below(random, fm_world_rules_get(world)->class_count),
        .placing = (fm_placing)fm_random_below(random, 2),
        .cells = keep(cells, births * sizeof *cells),
        .cell_count = births,
    };
}

void fm_script_write(fm_script *script, fm_world *world, fm_random *random, uint32_t i)
{
    fm_script_step *step = &script->steps[i];
    const fm_grid *grid = fm_world_grid(world);
    if (i == 0) {
        populate(script, world, random, step);
        return;
    }
    for (uint32_t n = fm_random_below(random, 3); n > 0 && script->agent_count > 0; n--) {
        *add(step) = order_command(script, random, grid);
    }
    if (fm_random_below(random, 4) == 0 && script->agent_count > 0) {
        *add(step) = planner_command(script, random);
    }
    if (fm_random_below(random, 3) == 0 && script->agent_count > 0) {
        *add(step) = unit_command(script, random, grid);
    }
    if (fm_random_below(random, 3) == 0) {
        *add(step) = building_command(random, grid, script->team_count);
    }
    if (fm_random_below(random, 2) == 0) {
        *add(step) = terrain_command(random, grid, script->weights);
    }
    if (fm_random_below(random, 8) == 0 && script->agent_count > 0) {
        write_life(script, world, random, step);
    }
    write_cost(script, grid, step, i);
    write_boarding(script, world, step, i);
}

static void note_removed(fm_script *script, const fm_command *command)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < script->agent_count; i++) {
        if (!is_among(command->agents, command->agent_count, script->agents[i])) {
            script->agents[kept++] = script->agents[i];
        }
    }
    script->agent_count = kept;
}

static void note_command(fm_script *script, const fm_world *world, const fm_command *command,
                         const fm_command_result *result, bool is_first)
{
    if (command->kind == FM_COMMAND_REMOVE && result->status == FM_OK) {
        note_removed(script, command);
    }
    if (command->kind != FM_COMMAND_SPAWN) {
        return;
    }
    // A map may be too small for so many large units.
    assert_true(!is_first || result->status == FM_OK ||
                (fm_script_is_exclusive(world) && result->status == FM_ERR_OCCUPIED_CELL));
    for (uint32_t i = 0; i < result->changed_count; i++) {
        if (script->agent_count < FM_SCRIPT_AGENTS_MAX) {
            script->agents[script->agent_count++] = result->spawned[i];
        }
    }
}

void fm_script_apply_one(fm_script *script, fm_world *world, uint32_t i, uint32_t n,
                         bool is_original)
{
    fm_script_step *step = &script->steps[i];
    fm_agent_id spawned[FM_SCRIPT_AGENTS_MAX];
    fm_command_result result = {.spawned = spawned};
    fm_world_apply(world, &step->commands[n], &result);
    if (is_original) {
        step->refused[n] = result.status != FM_OK;
        note_command(script, world, &step->commands[n], &result, i == 0);
    }
}

void fm_script_apply(fm_script *script, fm_world *world, uint32_t i, bool is_original)
{
    for (uint32_t n = 0; n < script->steps[i].command_count; n++) {
        fm_script_apply_one(script, world, i, n, is_original);
    }
}

void fm_script_add(fm_script *script, uint32_t i, const fm_command *command)
{
    *add(&script->steps[i]) = *command;
}

// ---- ticks --------------------------------------------------------------------------------------

static bool strike(void *context)
{
    fm_script *script = context;
    uint64_t look = script->looks++;
    script->struck =
        script->struck || (script->look_every != 0 && fm_mix64(look) % script->look_every == 0);
    return script->struck;
}

void fm_script_run(fm_script *script, fm_world *world, fm_random *random, uint32_t i)
{
    fm_script_step *step = &script->steps[i];
    fm_tick_clock clock = {.deadline = {.passed = strike, .context = script}};
    uint64_t budget = 1 + fm_random_below(random, 4000);
    fm_tick_report report;
    script->struck = false;
    fm_tick_run(world, NULL, budget, &clock, &report);
    step->record = report.record;
    step->cuts = keep(report.record.cuts, report.record.cut_count * sizeof *step->cuts);
    step->record.cuts = step->cuts;
}

void fm_script_replay(const fm_script *script, fm_world *world, fm_workers *workers, uint32_t i,
                      const char *what)
{
    const fm_tick_record *record = &script->steps[i].record;
    fm_tick_report report;
    fm_tick_replay(world, workers, record, &report);
    if (report.record.digest != record->digest) {
        char planner[FM_PLANNER_SPEC_SIZE];
        fm_planner_spec_format(&script->rules.planner, planner, sizeof planner);
        fail_msg("%s: tick %u differs with %u workers, %s", planner, i + 1,
                 fm_workers_count(workers), what);
    }
    assert_int_equal(fm_world_digest(world), record->digest);
    assert_int_equal(report.record.cut_count, record->cut_count);
    assert_int_equal(report.record.rounds, record->rounds);
}

// ---- rules --------------------------------------------------------------------------------------

// Up to three classes, most of them of equal costs, so that all planners get their turn.
static void choose_classes(fm_random *random, fm_world_rules *rules)
{
    static const char *const texts[] = {"ground", "tank:size=2", "hover:ground=1,water=1,swamp=1",
                                        "giant:size=4,ground=1,trees=1,swamp=1",
                                        "legs:size=3,ground=1,swamp=3,trees=2,wall=9"};
    uint32_t count = fm_random_below(random, 4), first = fm_random_below(random, 5);
    for (uint32_t i = 0; i < count; i++) {
        fm_movement_class *movement = &rules->classes[rules->class_count++];
        const char *text = texts[(first + i) % FM_COUNT_OF(texts)];
        assert_int_equal(fm_movement_class_parse(text, movement, NULL, 0), FM_OK);
    }
}

static bool has_costs(const fm_world_rules *rules)
{
    bool costs = false;
    for (uint32_t i = 0; i < rules->class_count; i++) {
        costs = costs || fm_movement_class_is_weighted(&rules->classes[i]);
    }
    return costs;
}

fm_planner_spec fm_script_random_planner(fm_random *random, const fm_world_rules *rules)
{
    uint32_t count = 0;
    while (fm_planner_catalogue[count] != NULL) {
        count += 1;
    }
    fm_planner_spec spec = {0};
    do {
        spec.ops = fm_planner_catalogue[fm_random_below(random, count)];
    } while (spec.ops->uniform_only && (rules->connectivity != FM_CONNECT_8 || has_costs(rules)));
    spec.options.queue = (fm_queue_kind)fm_random_below(random, 2);
    spec.options.lookahead = fm_random_below(random, 2) * 20;
    spec.options.heuristic =
        fm_random_below(random, 3) > 0 ? FM_HEURISTIC_LANDMARKS : FM_HEURISTIC_CLUSTER;
    if (spec.ops->guidance == FM_GUIDED_BY_ITS_OWN ||
        !fm_planner_spec_fits(&spec, rules->connectivity, has_costs(rules))) {
        spec.options.heuristic = FM_HEURISTIC_DEFAULT;
    }
    return spec;
}

static void choose_rules(fm_random *random, fm_world_rules *rules)
{
    *rules = fm_world_rules_default();
    rules->connectivity = (fm_connectivity)fm_random_below(random, 3);
    bool four = rules->connectivity == FM_CONNECT_4;
    rules->steps = four ? FM_STEPS_1 : fm_random_below(random, 2) ? FM_STEPS_10_14 : FM_STEPS_70_99;
    rules->sense.radius = 1 + fm_random_below(random, 6);
    rules->sense.shape = four ? FM_SENSE_DIAMOND : FM_SENSE_SQUARE;
    rules->sense.line_of_sight = fm_random_below(random, 3) == 0;
    rules->occupancy = (fm_occupancy_rule)fm_random_below(random, 2);
    choose_classes(random, rules);
    rules->planner = fm_script_random_planner(random, rules);
    rules->saved_ticks = fm_random_below(random, 20);
    rules->players_build = fm_random_below(random, FM_PERMIT_COUNT_MAX + 1);
    rules->pushed_stay = rules->players_build % 4 == 3; // draws nothing: seeds keep their games
    rules->blocked_ticks = rules->players_build % 4 == 1 ? 20 : 0;
    rules->omniscient = fm_random_below(random, 8) == 0;
    rules->landmarks = (fm_landmark_rules){.count = fm_random_below(random, 5),
                                           .placement = (fm_placement)fm_random_below(random, 4),
                                           .adaptive = fm_random_below(random, 2) == 0,
                                           .allow_stale = fm_random_below(random, 4) == 0};
}

static void choose_map(fm_random *random, fm_generate_options *map)
{
    *map = fm_generate_options_default();
    map->generator = fm_random_below(random, 2) ? FM_GENERATOR_RANDOM : FM_GENERATOR_ROOMS;
    map->width = 20 + fm_random_below(random, 80);
    map->height = 20 + fm_random_below(random, 80);
    map->room_side = 7;
    map->blocked_permille = fm_random_below(random, 350);
    map->seed = fm_random_next(random);
}

fm_script *fm_script_create(fm_random *random)
{
    fm_script *script = calloc(1, sizeof *script);
    assert_non_null(script);
    choose_rules(random, &script->rules);
    choose_map(random, &script->map);
    script->team_count = 1 + fm_random_below(random, 3);
    script->weights = fm_random_below(random, 3) == 0;
    script->look_every = fm_random_below(random, 2) == 0 ? 0 : 2 + fm_random_below(random, 400);
    return script;
}

void fm_script_destroy(fm_script *script)
{
    for (uint32_t i = 0; i < FM_SCRIPT_TICKS; i++) {
        for (uint32_t j = 0; j < script->steps[i].command_count; j++) {
            const fm_command *command = &script->steps[i].commands[j];
            free((void *)command->agents);
            free((void *)command->cells);
            if (command->kind == FM_COMMAND_TERRAIN || command->kind == FM_COMMAND_BUILD ||
                command->kind == FM_COMMAND_COST) {
                free((void *)command->rects);
            }
        }
        free(script->steps[i].cuts);
    }
    free(script);
}

fm_world *fm_script_make_world(const fm_script *script)
{
    fm_grid *grid;
    fm_world *world;
    assert_int_equal(fm_generate(&script->map, &fm_memory_libc, &grid, NULL, NULL, 0), FM_OK);
    assert_int_equal(fm_world_create(&script->rules, grid, &fm_memory_libc, &world), FM_OK);
    return world;
}
