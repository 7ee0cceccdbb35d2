// core/tick/tick.c: see tick.h for the stages and why their order gives determinism.

#include "core/tick/tick.h"

#include "core/commands/edits.h"
#include "core/commands/order_command.h"
#include "core/crowd/jam.h"
#include "core/crowd/move_stage.h"
#include "core/orders/assign.h"
#include "core/tick/digest.h"
#include "core/tick/search_stage.h"
#include "core/tick/tick_state.h"
#include "core/views/presence.h"
#include "core/views/endings.h"
#include "core/views/view_delta.h"
#include "core/world/world_classes.h"
#include "core/world/planner_table.h"
#include "core/world/world_state.h"

#define JOINT_SHARE 4u // this part of the budget is for joint searches, whatever others used

#define MANY_TEAMS 64u // from which on prefetching pays
#define MANY_UNITS 64u // of a team, which then notes from where it has looked

// ---- sense --------------------------------------------------------------------------------------

// With thousands of teams their knowledge does not fit the caches: the rows that the next agent's
// team has seen, and the pointers to those of the one after it, are prefetched. Where each of 2,000
// agents is a team, sensing takes a fifth less time.
static void fetch_ahead(const fm_world *world, uint32_t word, uint64_t bits)
{
    if (bits == 0) {
        return;
    }
    const struct fm_agent *next = &world->agents.slots[word * 64 + (uint32_t)__builtin_ctzll(bits)];
    fm_knowledge_fetch(fm_team_of(world, next->team)->knowledge, next->cell);
    bits &= bits - 1;
    if (bits != 0) {
        const struct fm_agent *then =
            &world->agents.slots[word * 64 + (uint32_t)__builtin_ctzll(bits)];
        const fm_knowledge *knowledge = fm_team_of(world, then->team)->knowledge;
        __builtin_prefetch(knowledge);
        __builtin_prefetch(&knowledge->known);
    }
    bits &= bits - 1;
    if (bits != 0) {
        fm_agent_fetch(world, word * 64 + (uint32_t)__builtin_ctzll(bits));
    }
}

static bool has_news(const fm_world *world, const struct fm_agent *agent)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
    uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
    for (uint32_t eye = 0; eye < eye_count; eye++) {
        if (fm_knowledge_has_news(knowledge, fm_agent_sight(world, agent), eyes[eye])) {
            return true;
        }
    }
    return false;
}

// Nearly all agents walk where their team has been. Agents that see nothing new are sorted out
// first, in parallel across teams, while no knowledge changes.
static void find_news(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    bool many_teams = world->teams.count > MANY_TEAMS;
    uint64_t visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_agent_marks *marks = &world->agents.marks[i];
        uint64_t news = 0, ahead = i + 1 < end ? marks[1].of[FM_MARK_LOOK] : 0;
        visits += (uint64_t)__builtin_popcountll(marks->of[FM_MARK_LOOK]);
        for (uint64_t bits = marks->of[FM_MARK_LOOK]; bits != 0; bits &= bits - 1) {
            if (many_teams) {
                fetch_ahead(world, i, bits & (bits - 1));
            }
            ahead = fm_agents_fetch_next(&world->agents, i + 1, ahead);
            uint32_t bit = (uint32_t)__builtin_ctzll(bits);
            news |= (uint64_t)has_news(world, &world->agents.slots[i * 64 + bit]) << bit;
        }
        marks->of[FM_MARK_LOOK] = 0;
        marks->of[FM_MARK_NEWS] = news;
    }
    fm_agents_note_visits(world, visits);
}

static void sense_teams(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    for (uint32_t i = begin; i < end; i++) {
        struct fm_team *team = &world->teams.list[i];
        for (uint32_t j = 0; j < team->sensing_count; j++) {
            const struct fm_agent *agent =
                &world->agents.slots[world->lists.sensing[team->first_sensing + j]];
            fm_cell eyes[FM_CLASS_SIZE_MAX * FM_CLASS_SIZE_MAX];
            uint32_t eye_count = fm_agent_eyes(world, agent, eyes);
            for (uint32_t eye = 0; eye < eye_count; eye++) {
                fm_knowledge_sense(team->knowledge, fm_agent_sight(world, agent), eyes[eye]);
            }
        }
        fm_team_labels_follow(team);
    }
}

// Calls a function for each agent with news, in slot order.
typedef void with_news_fn(fm_world *world, struct fm_team *team, uint32_t slot);

static void for_all_with_news(fm_world *world, with_news_fn *fn)
{
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        for (uint64_t bits = world->agents.marks[i].of[FM_MARK_NEWS]; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            fn(world, fm_team_of(world, world->agents.slots[slot].team), slot);
        }
    }
}

static void count_sensing(fm_world *world, struct fm_team *team, uint32_t slot)
{
    (void)world, (void)slot;
    team->sensing_count += 1;
}

static void list_sensing(fm_world *world, struct fm_team *team, uint32_t slot)
{
    world->lists.sensing[team->first_sensing + team->sensing_count++] = slot;
}

// Lists the agents that learn something by team, in slot order within each.
static void stage_sense(struct fm_tick *t)
{
    fm_world *world = t->world;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].labels.units = 0; // what the last tick's work is charged by
        world->teams.list[i].seekers.cells_used = 0;
    }
    if (!FM_RESERVE(world, world->lists.sensing, world->lists.sensing_capacity,
                    world->agents.slot_count)) {
        return; // these agents look around in the next tick
    }
    if (world->interval.map_edited) {
        fm_agents_mark_all(world, FM_MARK_LOOK);
        world->interval.map_edited = false;
    }
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        team->sensing_count = 0;
        if (team->account.agents >= MANY_UNITS) {
            fm_knowledge_keep_sensed_from(team->knowledge);
        }
    }
    fm_workers_run_parts(t->workers, fm_mark_words(world), 4, find_news, world);
    for_all_with_news(world, count_sensing);
    uint32_t first = 0;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].first_sensing = first;
        first += world->teams.list[i].sensing_count;
        world->teams.list[i].sensing_count = 0;
    }
    for_all_with_news(world, list_sensing);
    uint32_t block = world->teams.count > MANY_TEAMS ? 16 : 1;
    fm_workers_run_parts(t->workers, world->teams.count, block, sense_teams, world);
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

// How much joint searches may do. There is no deadline for them: what is left of the budget when it
// has passed is no measure of time.
static uint64_t joint_work(const struct fm_tick *t)
{
    uint64_t share = t->granted / JOINT_SHARE, left = t->deadline_met ? 0 : t->budget;
    uint64_t most = left > share ? left : share;
    return most > FM_JAM_WORK_LEAST ? most : FM_JAM_WORK_LEAST;
}

static void stage_move(struct fm_tick *t)
{
    uint64_t before = t->world->counts.moves;
    t->report->joint_expansions = fm_agents_move(t->world, t->workers, joint_work(t));
    t->report->expansions += t->report->joint_expansions;
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
    fm_endings_divide(world);
    fm_presence_follow(world, t->workers);
    fm_workers_run_parts(t->workers, world->teams.count + 1, world->teams.count > 64 ? 64 : 1,
                         observe_teams, world);
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        world->agents.marks[i].of[FM_MARK_CHANGED] = 0;
        world->agents.marks[i].of[FM_MARK_STATE] = 0;
    }
    world->interval.streamed = true;
}

// ---- digest -------------------------------------------------------------------------------------

static void stage_digest(struct fm_tick *t)
{
    t->report->record.digest = fm_digest_follow(t->world, t->workers);
}

// ---- the row ------------------------------------------------------------------------------------

static void (*const stages[FM_STAGE_COUNT])(struct fm_tick *) = {
    [FM_STAGE_SENSE] = stage_sense,      [FM_STAGE_ASSIGN] = stage_assign,
    [FM_STAGE_SEARCH] = fm_stage_search, [FM_STAGE_CHOOSE] = stage_choose,
    [FM_STAGE_MOVE] = stage_move,        [FM_STAGE_OBSERVE] = stage_observe,
    [FM_STAGE_DIGEST] = stage_digest,
};

// Whether no stage would find anything to do. Where a cell holds one unit, standing units may be
// part of a jam, so such worlds are never still.
static bool has_nothing_to_do(const fm_world *world)
{
    if (world->planners.count > 0 || world->crowd.occupancy != NULL || world->orders.seeks ||
        world->interval.map_edited || fm_world_left_to_do(world) > 0) {
        return false;
    }
    for (uint32_t i = 0; i < world->surveys.count; i++) {
        if (fm_heuristic_survey_is_busy(world->surveys.list[i].survey)) {
            return false;
        }
    }
    uint64_t marked = 0;
    for (uint32_t i = 0; i < fm_mark_words(world) && marked == 0; i++) {
        for (uint32_t mark = 0; mark < FM_MARK_COUNT; mark++) {
            marked |= mark == FM_MARK_LIVE ? 0 : world->agents.marks[i].of[mark];
        }
    }
    return marked == 0;
}

// A world in which nothing happens until its teams have saved all that they may stays as it is
// until a command changes it. What the last command ended and removed was shown in the first of
// these ticks; a still one shows nothing, so one more comes between.
static bool is_still(const fm_world *world)
{
    return world->still_ticks > world->rules.saved_ticks && world->still_ticks > 1;
}

static void note_stillness(struct fm_tick *t, bool had_nothing_to_do)
{
    fm_world *world = t->world;
    bool still = had_nothing_to_do && t->report->moved_count == 0 && t->report->ended_count == 0 &&
                 t->report->expansions == 0 && has_nothing_to_do(world);
    world->still_ticks = still ? world->still_ticks + 1 : 0;
}

// A tick of a world that is still: time passes, and teams save what the tick's budget lets them.
// When a world begins to be still depends on who watches it, so such a tick must do what a whole
// one would.
static void stand_still(struct fm_tick *t)
{
    fm_world *world = t->world;
    t->report->still = true;
    world->lists.cut_count = 0;
    fm_world_begin_interval(world);
    world->interval.streamed = true;
    stages[FM_STAGE_SEARCH](t);
    t->report->record.digest = fm_digest_still(world);
    world->tick += 1;
    t->report->record.tick = world->tick;
    t->report->starved = world->allocations.starved;
}

static void run(struct fm_tick *t)
{
    fm_world *world = t->world;
    *t->report = (fm_tick_report){0};
    world->settled = false;
    world->agents_visited = 0;
    fm_world_expect_workers(world, fm_workers_count(t->workers));
    if (is_still(world)) {
        stand_still(t);
        return;
    }
    bool had_nothing_to_do = has_nothing_to_do(world);
    fm_world_begin_interval(world);
    uint32_t ended_before = world->interval.ended_count;

    world->teams.label_units = 0;
    world->teams.label_units_max =
        t->budget > FM_TEAM_LABELS_UNITS_MAX ? t->budget : FM_TEAM_LABELS_UNITS_MAX;
    uint64_t stage_begin = fm_tick_now(t);
    uint32_t refusals_before = fm_world_refusals(world);
    fm_orders_carry_on(world); // counts as part of the first stage
    world->allocations.starved |= fm_world_refusals(world) != refusals_before;
    for (uint32_t i = 0; i < FM_STAGE_COUNT; i++) {
        uint32_t refusals = fm_world_refusals(world);
        stages[i](t);
        // Views have no effect on the simulation.
        world->allocations.starved |= i != FM_STAGE_OBSERVE && fm_world_refusals(world) != refusals;
        uint64_t stage_end = fm_tick_now(t);
        t->report->stage_ns[i] = stage_end - stage_begin;
        stage_begin = stage_end;
    }
    world->teams.label_units_max = 0;
    fm_slabs_level(world->workers.slabs, world->workers.count);
    world->tick += 1;
    world->counts.expansions += t->report->expansions;
    t->report->ended_count = world->interval.ended_count - ended_before;
    t->report->record.tick = world->tick;
    t->report->starved = world->allocations.starved;
    t->report->record.cuts = world->lists.cuts;
    t->report->record.cut_count = world->lists.cut_count;
    t->report->agents_visited = world->agents_visited;
    note_stillness(t, had_nothing_to_do);
}

void fm_tick_run(fm_world *world, fm_workers *workers, uint64_t expansions_budget,
                 const fm_tick_clock *clock, fm_tick_report *report)
{
    uint64_t budget = expansions_budget < 1 ? 1 : expansions_budget;
    struct fm_tick t = {.world = world,
                        .workers = workers,
                        .clock = clock,
                        .report = report,
                        .granted = budget,
                        .budget = budget};
    run(&t);
    report->record.expansions_budget = budget;
}

void fm_tick_replay(fm_world *world, fm_workers *workers, const fm_tick_record *record,
                    fm_tick_report *report)
{
    uint64_t budget = record->expansions_budget; // 0 only in records that this did not write
    struct fm_tick t = {.world = world,
                        .workers = workers,
                        .recorded = record,
                        .report = report,
                        .granted = budget < 1 ? 1 : budget,
                        .budget = budget < 1 ? 1 : budget};
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
