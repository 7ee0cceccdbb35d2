// core/tick/notice.c: wakes the planners that are affected by what teams have learned.
//
// Planners are not asked one by one what a change means to them. Eager ones are notified when their
// agents have moved, or after FM_LOG_TICKS ticks. Those that walk check the next steps of their
// path, only where something has changed near their agents in this tick; they check the whole path
// after an edit, and every FULL_LOOK_TICKS ticks, each in its turn. A cell that became cheaper may
// shorten any path: then, which is rare, all of a team's planners are notified.
//
// What a command changes for a team at once (its costs; the map, where there is no fog) may be far
// more than what its agents see in a tick. Then all of its planners begin again. Only what they
// would be told counts: what else the team keeps (views of classes that only queries ask for, or
// whose units have died) must show nowhere.

#include "core/tick/notice.h"
#include "core/world/due.h"
#include "core/world/planner_fetch.h"
#include "core/world/world_state.h"

#define WORDS_A_TURN    8u // of marks, 64 agents each, that a worker takes at a time
#define FULL_LOOK_TICKS 16u
#define STEPS_AHEAD     (FM_FRESH_SIDE / 2)

// Changes of one tick, each times the planners told of it. A planner repairs its search change by
// change, without an end before all are done: 1,000 took 4.5 s for 65,536 cells. Searches that
// begin again keep to the budget. A repair takes about as long as an expansion, so half of the
// budget may be repairs. At most as many as take 20 ms of one worker: with 2^20, ticks of 1,000
// searches on a cost layer that changed in each took up to 87 ms, and 40 was their budget. However
// small the budget is, a tick may do 65,536, and a team 1,024.
#define REPAIRS_MAX        ((uint64_t)1 << 18)
#define REPAIRS_LEAST      ((uint64_t)1 << 16)
#define REPAIRS_TEAM_LEAST ((uint64_t)1 << 10)
#define REPAIRS_SHARE      2u // of the budget, one in so many

// Checking steps changes nothing: whatever it finds, the planner searches in its turn.
static void look_ahead(fm_world *world, const struct fm_agent *agent, const fm_change_log *log,
                       uint32_t steps)
{
    struct fm_planner *planner = &world->planners.slots[agent->planner];
    fm_plan_state state = planner->spec.ops->walk(planner->self, agent->cell, steps);
    if (state == FM_PLAN_FOUND) {
        return;
    }
    planner->state = (uint8_t)state;
    planner->disturbed = true;
    planner->asked_tick = world->tick;
    planner->turns = 0;
    planner->edited = log->edited > log->trimmed;
    planner->change_count = (uint32_t)(log->version - log->trimmed);
    planner->change_cell = FM_CELL_NONE;
    fm_planner_wake(world, agent->planner);
}

// Whether an agent's path is to be looked at in this tick, and how far.
static uint32_t steps_to_check(const fm_world *world, const struct fm_agent *agent)
{
    if (agent->planner == FM_SLOT_NONE || !fm_planner_walks(world, agent->planner)) {
        return 0;
    }
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    const fm_change_log *log = fm_knowledge_log(knowledge, agent->class_index);
    // By its number in its team, and the team's number: slots would depend on how many agents
    // others have.
    bool in_full = (agent->member + agent->team + world->tick) % FULL_LOOK_TICKS == 0 ||
                   log->edited > log->trimmed;
    return in_full ? FM_STEPS_ALL : fm_change_log_is_fresh(log, agent->cell) ? STEPS_AHEAD : 0;
}

static void look_ahead_of_listed(fm_world *world, const uint32_t *slots, const uint32_t *steps,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fm_planners_fetch_ahead(&world->agents, &world->planners, slots, i, count);
        const struct fm_agent *agent = &world->agents.slots[slots[i]];
        const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
        look_ahead(world, agent, fm_knowledge_log(knowledge, agent->class_index), steps[i]);
    }
}

static void look_ahead_of_agents(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    uint32_t slots[WORDS_A_TURN * 64], steps[WORDS_A_TURN * 64], count = 0;
    uint64_t visits = 0;
    for (uint32_t i = begin; i < end; i++) {
        if (count + 64 > FM_COUNT_OF(slots)) {
            look_ahead_of_listed(world, slots, steps, count);
            count = 0;
        }
        uint64_t bits = world->agents.marks[i].of[FM_MARK_UNDER_WAY];
        uint64_t ahead = i + 1 < end ? world->agents.marks[i + 1].of[FM_MARK_UNDER_WAY] : 0;
        visits += (uint64_t)__builtin_popcountll(bits);
        for (; bits != 0; bits &= bits - 1) {
            ahead = fm_agents_fetch_next(&world->agents, i + 1, ahead);
            slots[count] = i * 64 + (uint32_t)__builtin_ctzll(bits);
            steps[count] = steps_to_check(world, &world->agents.slots[slots[count]]);
            count += steps[count] != 0;
        }
    }
    look_ahead_of_listed(world, slots, steps, count);
    fm_agents_note_visits(world, visits);
}

// The most that any planner of the team can be told.
static uint64_t changes_of_tick(const struct fm_team *team)
{
    uint64_t most = 0;
    for (uint32_t ready = team->knowledge->classes_ready; ready != 0; ready &= ready - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(ready);
        const fm_change_log *log = fm_knowledge_log(team->knowledge, i);
        uint64_t changes = log->version - log->trimmed;
        most = changes > most ? changes : most;
    }
    return most;
}

static void count_told(fm_world *world)
{
    for (uint32_t i = 0; i < world->teams.count; i++) {
        world->teams.list[i].told = 0;
    }
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        const struct fm_planner *planner = &world->planners.slots[slot];
        if (!planner->in_use) {
            continue;
        }
        struct fm_team *team = fm_team_of(world, planner->team);
        const fm_change_log *log = fm_knowledge_log(team->knowledge, planner->class_index);
        if (fm_change_log_has_cheaper(log) || !fm_planner_walks(world, slot)) {
            uint64_t since = planner->cursor > log->trimmed ? planner->cursor : log->trimmed;
            team->told += log->version - since;
        }
    }
}

// All teams together: each may do as large a part of them as its share of the budget is.
static uint64_t repairs_of_tick(uint64_t budget)
{
    uint64_t repairs = budget / REPAIRS_SHARE;
    repairs = repairs < REPAIRS_MAX ? repairs : REPAIRS_MAX;
    return repairs > REPAIRS_LEAST ? repairs : REPAIRS_LEAST;
}

static uint64_t repairs_of_team(const struct fm_team *team, uint64_t budget)
{
    uint64_t in_1024ths = team->account.share * 1024 / budget;
    uint64_t repairs = repairs_of_tick(budget) * in_1024ths / 1024;
    return repairs > REPAIRS_TEAM_LEAST ? repairs : REPAIRS_TEAM_LEAST;
}

// Whether commands have changed more for the team in this tick than its agents may have seen.
static bool is_edited(const fm_world *world, const struct fm_team *team)
{
    return world->rules.omniscient || (team->cost_tick == world->tick && team->cost_cells > 0);
}

// Only the team's own planners count: how many others have must show nowhere.
static void spare_planners(fm_world *world, uint64_t budget)
{
    bool may_be_many = false, are_many = false;
    for (uint32_t i = 0; i < world->teams.count && !may_be_many; i++) {
        const struct fm_team *team = &world->teams.list[i];
        may_be_many = is_edited(world, team) &&
                      changes_of_tick(team) * world->planners.count > repairs_of_team(team, budget);
    }
    if (!may_be_many) {
        return;
    }
    count_told(world);
    for (uint32_t i = 0; i < world->teams.count; i++) {
        struct fm_team *team = &world->teams.list[i];
        team->forgets = is_edited(world, team) && team->told > repairs_of_team(team, budget);
        are_many = are_many || team->forgets;
    }
    if (are_many) {
        fm_planners_forget(world);
    }
}

// The planner's view may have become better than its search knows.
static void wake_for_cheaper(fm_world *world)
{
    for (uint32_t slot = 0; slot < world->planners.slot_count; slot++) {
        const struct fm_planner *planner = &world->planners.slots[slot];
        if (planner->in_use) {
            const fm_knowledge *knowledge = fm_team_of(world, planner->team)->knowledge;
            if (fm_change_log_has_cheaper(fm_knowledge_log(knowledge, planner->class_index))) {
                fm_planner_wake(world, slot);
            }
        }
    }
}

void fm_search_notice(struct fm_tick *t)
{
    fm_world *world = t->world;
    bool any_cheaper = false;
    for (uint32_t i = 0; i < world->teams.count; i++) {
        any_cheaper |= fm_knowledge_stamp_logs(world->teams.list[i].knowledge);
    }
    if (world->planners.count == 0) {
        return;
    }
    fm_workers_run_parts(t->workers, fm_mark_words(world), WORDS_A_TURN, look_ahead_of_agents,
                         world);
    spare_planners(world, t->budget);
    if (any_cheaper) {
        wake_for_cheaper(world);
    }
    fm_due_wake_stale(world);
}
