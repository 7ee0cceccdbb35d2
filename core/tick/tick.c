// core/tick/tick.c: see tick.h for the stages and why their order gives determinism.

#include "core/tick/tick.h"

#include "core/base/random.h"
#include "core/commands/edits.h"
#include "core/commands/order_command.h"
#include "core/crowd/move_stage.h"
#include "core/orders/assign.h"
#include "core/orders/orders.h"
#include "core/tick/search_stage.h"
#include "core/tick/tick_state.h"
#include "core/views/view_delta.h"
#include "core/world/world_classes.h"

// ---- sense --------------------------------------------------------------------------------------

// With thousands of teams what each of them knows is far from the processor: the rows that the next
// team's first agent will see, and what names the rows of the one after it, are asked for ahead.
// Where each of 2,000 agents is a team, sensing takes a fifth less time.
static void fetch_ahead(const fm_world *world, uint32_t next, uint32_t end)
{
    if (next < end && world->teams.list[next].sensing_count > 0) {
        const struct fm_team *team = &world->teams.list[next];
        const struct fm_agent *agent =
            &world->agents.slots[world->lists.sensing[team->first_sensing]];
        fm_knowledge_fetch(team->knowledge, agent->cell);
    }
    if (next + 1 < end && world->teams.list[next + 1].sensing_count > 0) {
        const struct fm_team *team = &world->teams.list[next + 1];
        __builtin_prefetch(team->knowledge);
        __builtin_prefetch(&team->knowledge->known);
        __builtin_prefetch(&world->agents.slots[world->lists.sensing[team->first_sensing]]);
    }
}

static void sense_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_team *team = &world->teams.list[i];
        fetch_ahead(world, i + 1, end);
        for (uint32_t j = 0; j < team->sensing_count; j++) {
            struct fm_agent *agent =
                &world->agents.slots[world->lists.sensing[team->first_sensing + j]];
            fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
            uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
            for (uint32_t eye = 0; eye < eye_count; eye++) {
                fm_knowledge_sense(team->knowledge, eyes[eye]);
            }
        }
        team->labels.units = 0;
        team->seekers.cells_used = 0;
        fm_team_labels_follow(team);
    }
}

// Lists the agents that must look around by team, in slot order within each.
static void stage_sense(struct fm_tick *t)
{
    fm_world *world = t->world;
    if (!FM_RESERVE(world, world->lists.sensing, world->lists.sensing_capacity,
                    world->agents.slot_count)) {
        return; // they look around in the next tick
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].sensing_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        struct fm_agent *agent = &world->agents.slots[slot];
        agent->must_sense = agent->alive && (agent->must_sense || world->interval.map_edited);
        if (agent->must_sense) {
            fm_team_of(world, agent->team)->sensing_count += 1;
        }
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].first_sensing = first;
        first += world->teams.list[i].sensing_count;
        world->teams.list[i].sensing_count = 0;
    }
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        struct fm_agent *agent = &world->agents.slots[slot];
        if (agent->must_sense) {
            struct fm_team *team = fm_team_of(world, agent->team);
            world->lists.sensing[team->first_sensing + team->sensing_count++] = slot;
            agent->must_sense = false;
        }
    }
    world->interval.map_edited = false;
    uint32_t block = world->teams.count > 64 ? 16 : 1;
    fm_workers_run(t->workers, world->teams.count, block, sense_teams, world);
    fm_world_use_seen_weights(world);
}

// ---- stages of other rooms ----------------------------------------------------------------------

static void stage_assign(struct fm_tick *t)
{
    uint64_t used = fm_orders_assign(t->world, t->workers, t->budget);
    t->report->expansions += used;
    // Planners keep half of the budget at least: a leg is of no use without a path there.
    uint64_t half = t->budget - t->budget / 2;
    t->budget = used < t->budget - half ? t->budget - used : half;
}

static void stage_choose(struct fm_tick *t)
{
    fm_agents_choose(t->world, t->workers);
}

static void stage_move(struct fm_tick *t)
{
    uint64_t before = t->world->counts.moves;
    fm_agents_move(t->world);
    t->report->moved_count = (uint32_t)(t->world->counts.moves - before);
}

// ---- observe ------------------------------------------------------------------------------------

static void observe_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        // Item 0 is everything, item t is team t.
        struct fm_view_delta *delta =
            i == 0 ? world->interval.delta_all : world->teams.list[i - 1].delta;
        if (delta != NULL) {
            fm_view_delta_observe(world, i, delta);
        }
    }
}

static void stage_observe(struct fm_tick *t)
{
    fm_world *world = t->world;
    fm_workers_run(t->workers, world->teams.count + 1, world->teams.count > 64 ? 64 : 1,
                   observe_teams, world);
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        world->agents.slots[slot].changed = false;
    }
    world->interval.streamed = true;
}

// ---- digest -------------------------------------------------------------------------------------

static uint64_t digest_among_others(uint64_t digest, const struct fm_agent *agent)
{
    digest = fm_digest_mix(digest, agent->asking_since << 8 | agent->heading);
    digest = fm_digest_mix(digest, agent->pushed_tick << 24 | (uint64_t)agent->stalled_ticks << 8 |
                                       agent->trail_count);
    digest = fm_digest_mix(digest, agent->trail);
    return agent->settled ? fm_digest_mix(digest, agent->settled_aim) : digest;
}

uint64_t fm_world_digest(const fm_world *world)
{
    uint64_t digest = fm_digest_mix(world->digest, world->tick);
    for (uint32_t slot = 0; slot < world->agents.slot_count; slot++) {
        const struct fm_agent *agent = &world->agents.slots[slot];
        if (agent->alive) {
            digest = fm_digest_mix(digest, (uint64_t)slot << 32 | agent->cell);
            digest = fm_digest_mix(digest, agent->order.id << 3 | agent->state);
            digest = fm_digest_mix(digest, (uint64_t)agent->class_index << 56 |
                                               (uint64_t)agent->generation << 32 |
                                               agent->order.substitute);
            digest = fm_agent_mix_orders(agent, digest);
            digest = agent->speed == 0 && fm_order_speed(&agent->order) == 0
                         ? digest
                         : fm_digest_mix(digest, (uint32_t)agent->credit);
            digest = world->crowd.occupancy == NULL ? digest : digest_among_others(digest, agent);
            digest =
                fm_digest_mix(digest, agent->order.retry.due_tick << 8 | agent->order.retry.wait);
        }
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        digest = fm_digest_mix(digest, world->teams.list[i].knowledge->digest);
        digest = fm_digest_mix(digest, world->teams.list[i].account.saved);
    }
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        const struct fm_planner *planner = &world->planners.slots[slot];
        if (planner->in_use) {
            digest = fm_digest_mix(digest, (uint64_t)slot << 32 | planner->goal);
            digest = fm_digest_mix(digest, planner->expansions << 3 | planner->state);
        }
    }
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        digest = fm_digest_mix(digest, fm_heuristic_survey_digest(world->surveys.list[i].survey));
    }
    return fm_orders_mix_rest(world, digest);
}

static void stage_digest(struct fm_tick *t)
{
    t->report->record.digest = fm_world_digest(t->world);
}

// ---- the row ------------------------------------------------------------------------------------

static void (*const stages[FM_STAGE_COUNT])(struct fm_tick *) = {
    [FM_STAGE_SENSE] = stage_sense,      [FM_STAGE_ASSIGN] = stage_assign,
    [FM_STAGE_SEARCH] = fm_stage_search, [FM_STAGE_CHOOSE] = stage_choose,
    [FM_STAGE_MOVE] = stage_move,        [FM_STAGE_OBSERVE] = stage_observe,
    [FM_STAGE_DIGEST] = stage_digest,
};

static void run(struct fm_tick *t)
{
    fm_world *world = t->world;
    *t->report = (fm_tick_report){0};
    world->settled = false;
    uint32_t worker_count = fm_workers_count(t->workers);
    world->workers.count =
        worker_count > world->workers.count ? worker_count : world->workers.count;
    fm_world_begin_interval(world);
    uint32_t ended_before = world->interval.ended_count;

    uint64_t stage_begin = fm_tick_now(t);
    uint32_t refusals_before = fm_world_refusals(world);
    fm_orders_carry_on(world); // counts as part of the first stage
    world->allocations.starved |= fm_world_refusals(world) != refusals_before;
    for (uint32_t i = 0; i < FM_STAGE_COUNT; i++) {
        uint32_t refusals = fm_world_refusals(world);
        stages[i](t);
        // What views are told decides nothing.
        world->allocations.starved |= i != FM_STAGE_OBSERVE && fm_world_refusals(world) != refusals;
        uint64_t stage_end = fm_tick_now(t);
        t->report->stage_ns[i] = stage_end - stage_begin;
        stage_begin = stage_end;
    }
    fm_slabs_level(world->workers.slabs, world->workers.count);
    world->tick += 1;
    world->counts.expansions += t->report->expansions;
    t->report->ended_count = world->interval.ended_count - ended_before;
    t->report->record.tick = world->tick;
    t->report->starved = world->allocations.starved;
    t->report->record.cuts = world->lists.cuts;
    t->report->record.cut_count = world->lists.cut_count;
}

void fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions_budget,
                 const fm_tick_clock *clock, fm_tick_report *report)
{
    uint64_t budget = expansions_budget < 1 ? 1 : expansions_budget;
    struct fm_tick t = {
        .world = world, .workers = workers, .clock = clock, .report = report, .budget = budget};
    run(&t);
    report->record.expansions_budget = budget;
}

void fm_tick_replay(fm_world *world, fm_workers *workers, const fm_tick_record *record,
                    fm_tick_report *report)
{
    struct fm_tick t = {.world = world,
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
