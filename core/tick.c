// core/tick.c: see tick.h for the stages and why their order gives determinism.

#include "core/tick.h"

#include "core/random.h"
#include "core/world_state.h"

#define FIRST_GRANT  64u   // expansions of round 0; covers nine repairs in ten
#define TURNS_STRIDE 7919u // how far the order of turns rotates from tick to tick

// What stages hand to later stages of the same tick.
struct tick {
    fm_world *world;
    fm_workers *workers;
    const fm_tick_clock *clock;
    const fm_tick_record *recorded; // NULL unless this is a replay
    uint32_t recorded_next;         // first cut of `recorded` that was not used yet
    fm_tick_report *report;
    uint64_t budget; // expansions left
    uint32_t round;
    uint32_t grant;    // expansions for each in this round
    bool deadline_met; // the deadline has stopped somebody
};

// ---- sense
// -----------------------------------------------------------------------------------------

static void sense_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_team *team = &world->teams[i];
        for (uint32_t j = 0; j < team->sensing_count; j++) {
            struct fm_agent *agent = &world->agents[world->sensing[team->first_sensing + j]];
            fm_knowledge_sense(team->knowledge, agent->cell);
        }
    }
}

// Lists the agents that must look around by team, in slot order within each.
static void stage_sense(struct tick *t)
{
    fm_world *world = t->world;
    if (!FM_RESERVE(world, world->sensing, world->sensing_capacity, world->agent_slots)) {
        return; // they look around in the next tick
    }
    for (uint32_t i = 0; i < world->team_count; i++) {
        world->teams[i].sensing_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        struct fm_agent *agent = &world->agents[slot];
        agent->must_sense = agent->alive && (agent->must_sense || world->map_edited);
        if (agent->must_sense) {
            fm_team_of(world, agent->team)->sensing_count += 1;
        }
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < world->team_count; i++) {
        world->teams[i].first_sensing = first;
        first += world->teams[i].sensing_count;
        world->teams[i].sensing_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        struct fm_agent *agent = &world->agents[slot];
        if (agent->must_sense) {
            struct fm_team *team = fm_team_of(world, agent->team);
            world->sensing[team->first_sensing + team->sensing_count++] = slot;
            agent->must_sense = false;
        }
    }
    world->map_edited = false;
    uint32_t block = world->team_count > 64 ? 16 : 1;
    fm_workers_run(t->workers, world->team_count, block, sense_teams, world);
}

// ---- assign
// ----------------------------------------------------------------------------------------

static void stage_assign(struct tick *t)
{
    fm_stage_assign(t->world);
}

// ---- search
// ----------------------------------------------------------------------------------------

// The agents that a planner answers for: by planner, in slot order within each.
static bool list_starts(fm_world *world)
{
    if (!FM_RESERVE(world, world->starts, world->starts_capacity, 2 * world->agent_slots)) {
        return false;
    }
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        world->planners[slot].start_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (agent->alive && agent->planner != FM_SLOT_NONE) {
            world->planners[agent->planner].start_count += 1;
            if (agent->detour != FM_SLOT_NONE) {
                world->planners[agent->detour].start_count += 1;
            }
        }
    }
    uint32_t first = 0;
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        world->planners[slot].first_start = first;
        first += world->planners[slot].start_count;
        world->planners[slot].start_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (agent->alive && agent->planner != FM_SLOT_NONE) {
            struct fm_planner *planner = &world->planners[agent->planner];
            world->starts[planner->first_start + planner->start_count++] = agent->cell;
            if (agent->detour != FM_SLOT_NONE) {
                planner = &world->planners[agent->detour];
                world->starts[planner->first_start + planner->start_count++] = agent->cell;
            }
        }
    }
    return true;
}

// All planners, in slot order but beginning somewhere else in every tick; and the floods under way.
static bool list_searchers(fm_world *world)
{
    if (!FM_RESERVE(world, world->searching, world->searching_capacity, world->planner_slots) ||
        !FM_RESERVE(world, world->flooding, world->flooding_capacity, world->team_count)) {
        return false;
    }
    world->searching_count = 0;
    uint32_t first = world->planner_slots == 0
                         ? 0
                         : (uint32_t)(world->tick * TURNS_STRIDE % world->planner_slots);
    for (uint32_t i = 0; i < world->planner_slots; i++) {
        uint32_t slot =
            first + i < world->planner_slots ? first + i : first + i - world->planner_slots;
        if (world->planners[slot].in_use) {
            world->searching[world->searching_count++] = slot;
        }
    }
    world->flooding_count = 0;
    for (uint32_t i = 0; i < world->team_count; i++) {
        if (world->teams[i].reach != NULL && !world->teams[i].reach->done) {
            world->flooding[world->flooding_count++] = i + 1;
        }
    }
    return true;
}

static void tell_changes(struct fm_planner *planner, const fm_knowledge *knowledge, fm_work *work)
{
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_knowledge_changes(knowledge, planner->cursor, &count, &complete);
    if (!complete) {
        planner->spec.ops->forget(planner->self, work->slab);
    } else if (count > 0) {
        planner->spec.ops->knowledge_changed(planner->self, changes, count, work);
    }
    planner->cursor = knowledge->version;
}

// In a replay the cut was written into the planner before the round; see apply_recorded_cuts().
static bool is_turn_skipped(const struct tick *t, bool cut, uint32_t recorded_expansions)
{
    if (t->recorded != NULL) {
        return cut && recorded_expansions == 0;
    }
    return t->clock != NULL && t->clock->deadline.passed != NULL &&
           t->clock->deadline.passed(t->clock->deadline.context);
}

static fm_work lend(const struct tick *t, uint32_t worker, bool cut, uint32_t recorded_expansions)
{
    fm_work work = {.slab = &t->world->slabs[worker],
                    .scratch = &t->world->scratches[worker],
                    .expansions_max = t->grant};
    if (t->recorded != NULL) {
        work.cut_at = cut ? recorded_expansions : 0;
    } else if (t->clock != NULL) {
        work.deadline = t->clock->deadline;
    }
    return work;
}

static void search_planner(struct tick *t, uint32_t slot, uint32_t worker)
{
    fm_world *world = t->world;
    struct fm_planner *planner = &world->planners[slot];
    const fm_planner_ops *ops = planner->spec.ops;
    fm_work work = lend(t, worker, planner->cut, planner->cut_at);

    if (t->round == 0) {
        bool had_answer = planner->state != FM_PLAN_RUNNING;
        tell_changes(planner, fm_team_of(world, planner->team)->knowledge, &work);
        ops->set_starts(planner->self, &world->starts[planner->first_start], planner->start_count);
        planner->expansions += work.expansions;
        planner->replans += had_answer && work.expansions > 0;
    }
    if (is_turn_skipped(t, planner->cut, planner->cut_at)) {
        planner->cut = true;
        planner->cut_at = 0;
        planner->round_expansions = 0;
        planner->wants_search = true;
        planner->state = FM_PLAN_RUNNING;
        return;
    }
    uint32_t before = work.expansions;
    planner->state = (uint8_t)ops->advance(planner->self, &work);
    planner->round_expansions = work.expansions - before;
    planner->expansions += planner->round_expansions;
    planner->cut = work.cut;
    planner->cut_at = work.cut_at;
    // A real-time planner that has a move may still have a search under way.
    bool could_go_on = planner->state == FM_PLAN_PARTIAL && planner->round_expansions >= t->grant;
    planner->wants_search = planner->state == FM_PLAN_RUNNING || could_go_on;
}

static void flood_team(struct tick *t, uint32_t team_number, uint32_t worker)
{
    struct fm_team *team = fm_team_of(t->world, team_number);
    fm_work work = lend(t, worker, team->reach_cut, team->reach_round_expansions);
    if (is_turn_skipped(t, team->reach_cut, team->reach_round_expansions)) {
        team->reach_cut = true;
        team->reach_round_expansions = 0;
        return;
    }
    fm_reach_advance(team->reach, &work);
    team->reach_round_expansions = work.expansions;
    team->reach_cut = work.cut;
}

// Items are the planners that search, then the floods.
static void search_items(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    struct tick *t = context;
    for (uint32_t i = begin; i < end; i++) {
        if (i < t->world->searching_count) {
            search_planner(t, t->world->searching[i], worker);
        } else {
            flood_team(t, t->world->flooding[i - t->world->searching_count], worker);
        }
    }
}

static void apply_recorded_cuts(struct tick *t)
{
    const fm_tick_record *record = t->recorded;
    for (uint32_t i = 0; i < t->world->searching_count; i++) {
        t->world->planners[t->world->searching[i]].cut = false;
    }
    for (uint32_t i = 0; i < t->world->flooding_count; i++) {
        fm_team_of(t->world, t->world->flooding[i])->reach_cut = false;
    }
    while (record != NULL && t->recorded_next < record->cut_count &&
           record->cuts[t->recorded_next].round == t->round) {
        const fm_cut *cut = &record->cuts[t->recorded_next++];
        if (cut->planner < t->world->planner_slots) {
            t->world->planners[cut->planner].cut = true;
            t->world->planners[cut->planner].cut_at = cut->expansions;
        } else if (cut->planner > FM_CUT_FLOOD &&
                   cut->planner - FM_CUT_FLOOD <= t->world->team_count) {
            fm_team_of(t->world, cut->planner - FM_CUT_FLOOD)->reach_cut = true;
            fm_team_of(t->world, cut->planner - FM_CUT_FLOOD)->reach_round_expansions =
                cut->expansions;
        }
    }
}

static void note_cut(struct tick *t, uint32_t searcher, uint32_t expansions)
{
    fm_world *world = t->world;
    t->deadline_met = true;
    // Room for a cut of every searcher in this round was reserved before it.
    FM_ASSERT(world->cut_count < world->cut_capacity);
    world->cuts[world->cut_count++] =
        (fm_cut){.planner = searcher, .round = t->round, .expansions = expansions};
}

// Adds up what the round used, notes who was cut, and keeps those that want to go on.
static void close_round(struct tick *t)
{
    fm_world *world = t->world;
    uint64_t used = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->searching_count; i++) {
        uint32_t slot = world->searching[i];
        struct fm_planner *planner = &world->planners[slot];
        used += planner->round_expansions;
        if (planner->cut) {
            note_cut(t, slot, planner->cut_at);
        }
        if (planner->wants_search) {
            world->searching[kept++] = slot;
        }
    }
    world->searching_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < world->flooding_count; i++) {
        uint32_t team = world->flooding[i];
        used += fm_team_of(world, team)->reach_round_expansions;
        if (fm_team_of(world, team)->reach_cut) {
            note_cut(t, FM_CUT_FLOOD + team, fm_team_of(world, team)->reach_round_expansions);
        }
        if (!fm_team_of(world, team)->reach->done) {
            world->flooding[kept++] = team;
        }
    }
    world->flooding_count = kept;
    t->report->expansions += used;
    t->budget = used < t->budget ? t->budget - used : 0;
}

static void stage_search(struct tick *t)
{
    fm_world *world = t->world;
    world->cut_count = 0;
    if (!list_starts(world) || !list_searchers(world)) {
        return; // memory is out: nobody searches in this tick
    }
    for (t->round = 0; t->round < FM_SEARCH_ROUNDS_MAX; t->round++) {
        uint32_t count = world->searching_count + world->flooding_count;
        if (count == 0 || t->budget == 0 || t->deadline_met ||
            !FM_RESERVE(world, world->cuts, world->cut_capacity, world->cut_count + count)) {
            break;
        }
        uint64_t share = t->budget / count;
        uint64_t grant = t->round == 0 && share > FIRST_GRANT ? FIRST_GRANT : share;
        t->grant = grant < 1 ? 1 : grant > UINT32_MAX ? UINT32_MAX : (uint32_t)grant;
        apply_recorded_cuts(t);
        fm_workers_run(t->workers, count, count > 1024 ? 16 : count > 64 ? 4 : 1, search_items, t);
        close_round(t);
        if (t->round == 0) {
            t->report->planners_searched = world->searching_count;
        }
        t->report->record.rounds = t->round + 1;
    }
    t->report->planners_unfinished = world->searching_count;
    for (uint32_t i = 0; i < world->team_count; i++) {
        fm_knowledge_trim_log(world->teams[i].knowledge);
    }
}

// ---- choose
// ----------------------------------------------------------------------------------------

static fm_cell choose_step(const fm_world *world, uint32_t slot, fm_cell cell, uint8_t *state)
{
    const struct fm_planner *planner = &world->planners[slot];
    const fm_planner_ops *ops = planner->spec.ops;
    *state = (uint8_t)ops->state_at(planner->self, cell);
    return *state == FM_PLAN_FOUND || *state == FM_PLAN_PARTIAL
               ? ops->next_step(planner->self, cell)
               : FM_CELL_NONE;
}

static void choose_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t slot = begin; slot < end; slot++) {
        struct fm_agent *agent = &world->agents[slot];
        agent->next = FM_CELL_NONE;
        if (!agent->alive || agent->planner == FM_SLOT_NONE) {
            continue;
        }
        agent->next = choose_step(world, agent->planner, agent->cell, &agent->plan_state);
        if (agent->next == FM_CELL_NONE && agent->detour != FM_SLOT_NONE) {
            agent->next = choose_step(world, agent->detour, agent->cell, &agent->detour_state);
        }
    }
}

static void stage_choose(struct tick *t)
{
    fm_workers_run(t->workers, t->world->agent_slots, 256, choose_agents, t->world);
}

// ---- move
// ------------------------------------------------------------------------------------------

static void note_first_move(fm_world *world, struct fm_agent *agent)
{
    uint64_t ticks = world->tick + 1 - agent->order.given_tick;
    agent->order.has_moved = true;
    world->counts.first_move_ticks_sum += ticks;
    world->counts.first_move_count += 1;
    world->counts.first_move_histogram[ticks < 64 ? ticks : 64] += 1;
}

static void move_agent(struct tick *t, struct fm_agent *agent)
{
    fm_world *world = t->world;
    if (agent->order.id == 0) {
        return;
    }
    fm_cell next = agent->next;
    uint32_t d = next == FM_CELL_NONE ? FM_DIRECTION_COUNT : fm_cell_direction(agent->cell, next);
    if (d == FM_DIRECTION_COUNT || !(fm_view_moves(&world->truth, agent->cell) >> d & 1)) {
        if (agent->state == FM_AGENT_MOVING) {
            fm_agent_set_state(agent, FM_AGENT_WAITING);
        }
        return;
    }
    agent->cell = next;
    agent->moves += 1;
    agent->must_sense = true;
    agent->changed = true;
    world->counts.moves += 1;
    t->report->moved_count += 1;
    fm_agent_set_state(agent, FM_AGENT_MOVING);
    if (!agent->order.has_moved) {
        note_first_move(world, agent);
    }
    if (agent->cell == agent->order.goal) {
        fm_agent_end_order(world, agent, FM_END_ARRIVED);
    }
}

static void stage_move(struct tick *t)
{
    fm_world *world = t->world;
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        if (world->agents[slot].alive) {
            move_agent(t, &world->agents[slot]);
        }
    }
}

// ---- observe
// ---------------------------------------------------------------------------------------

static void observe_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        // Item 0 is everything, item t is team t.
        struct fm_watch *watch = i == 0 ? world->watch_all : world->teams[i - 1].watch;
        if (watch != NULL) {
            fm_watch_observe(world, i, watch);
        }
    }
}

static void stage_observe(struct tick *t)
{
    fm_world *world = t->world;
    fm_workers_run(t->workers, world->team_count + 1, world->team_count > 64 ? 64 : 1,
                   observe_teams, world);
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        world->agents[slot].changed = false;
    }
    world->streamed = true;
}

// ---- digest
// ----------------------------------------------------------------------------------------

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return fm_mix64(digest ^ (value + 0x9e3779b97f4a7c15u + (digest << 6)));
}

static void stage_digest(struct tick *t)
{
    fm_world *world = t->world;
    uint64_t digest = mix(world->digest, world->tick);
    for (uint32_t slot = 0; slot < world->agent_slots; slot++) {
        const struct fm_agent *agent = &world->agents[slot];
        if (agent->alive) {
            digest = mix(digest, (uint64_t)slot << 32 | agent->cell);
            digest = mix(digest, agent->order.id << 2 | agent->state);
            digest = mix(digest, (uint64_t)agent->generation << 32 | agent->order.substitute);
        }
    }
    for (uint32_t i = 0; i < world->team_count; i++) {
        digest = mix(digest, world->teams[i].knowledge->digest);
    }
    for (uint32_t slot = 0; slot < world->planner_slots; slot++) {
        const struct fm_planner *planner = &world->planners[slot];
        if (planner->in_use) {
            digest = mix(digest, (uint64_t)slot << 32 | planner->goal);
            digest = mix(digest, planner->expansions << 3 | planner->state);
        }
    }
    t->report->record.digest = digest;
}

// ---- the row
// ---------------------------------------------------------------------------------------

static void (*const stages[FM_STAGE_COUNT])(struct tick *) = {
    [FM_STAGE_SENSE] = stage_sense,   [FM_STAGE_ASSIGN] = stage_assign,
    [FM_STAGE_SEARCH] = stage_search, [FM_STAGE_CHOOSE] = stage_choose,
    [FM_STAGE_MOVE] = stage_move,     [FM_STAGE_OBSERVE] = stage_observe,
    [FM_STAGE_DIGEST] = stage_digest,
};

static uint64_t now(const struct tick *t)
{
    return t->clock == NULL || t->clock->now_ns == NULL ? 0
                                                        : t->clock->now_ns(t->clock->now_context);
}

static void run(struct tick *t)
{
    fm_world *world = t->world;
    *t->report = (fm_tick_report){0};
    uint32_t worker_count = fm_workers_count(t->workers);
    world->slab_count = worker_count > world->slab_count ? worker_count : world->slab_count;
    fm_world_begin_interval(world);
    uint32_t ended_before = world->ended_count;

    uint64_t stage_begin = now(t);
    for (uint32_t i = 0; i < FM_STAGE_COUNT; i++) {
        stages[i](t);
        uint64_t stage_end = now(t);
        t->report->stage_ns[i] = stage_end - stage_begin;
        stage_begin = stage_end;
    }
    fm_slabs_level(world->slabs, world->slab_count);
    world->tick += 1;
    world->counts.expansions += t->report->expansions;
    t->report->ended_count = world->ended_count - ended_before;
    t->report->record.tick = world->tick;
    t->report->record.cuts = world->cuts;
    t->report->record.cut_count = world->cut_count;
}

void fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions_budget,
                 const fm_tick_clock *clock, fm_tick_report *report)
{
    uint64_t budget = expansions_budget < 1 ? 1 : expansions_budget;
    struct tick t = {
        .world = world, .workers = workers, .clock = clock, .report = report, .budget = budget};
    run(&t);
    report->record.expansions_budget = budget;
}

void fm_tick_replay(fm_world *world, fm_workers *workers, const fm_tick_record *record,
                    fm_tick_report *report)
{
    struct tick t = {.world = world,
                     .workers = workers,
                     .recorded = record,
                     .report = report,
                     .budget = record->expansions_budget};
    run(&t);
    report->record.expansions_budget = record->expansions_budget;
}

const char *fm_stage_name(fm_stage stage)
{
    switch (stage) {
#define X(enumerator, name)                                                                        \
    case enumerator:                                                                               \
        return name;
        FM_STAGE_LIST(X)
#undef X
    case FM_STAGE_COUNT:
        break;
    }
    FM_UNREACHABLE();
}
