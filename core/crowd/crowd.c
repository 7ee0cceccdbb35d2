// core/crowd/crowd.c: see crowd.h. The move stage where a cell holds one unit.

#include "core/crowd/crowd.h"

#include "core/crowd/around.h"
#include "core/crowd/busy.h"
#include "core/crowd/bypass.h"
#include "core/crowd/escort.h"
#include "core/crowd/flow.h"
#include "core/crowd/jam.h"
#include "core/crowd/lanes.h"
#include "core/crowd/passing.h"
#include "core/crowd/patience.h"
#include "core/crowd/preferences.h"
#include "core/crowd/step.h"
#include "core/crowd/turns.h"
#include "core/orders/homecoming.h"
#include "core/orders/order_kinds.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#define WORDS_A_TURN 4u  // of marks, 64 agents each, that a worker takes at a time
#define MORE_WORDS   16u // the same, where little is to be done for each
#define FETCH_AHEAD  4u  // agents

bool fm_crowd_reserve(fm_world *world, uint32_t agent_count)
{
    struct fm_world_crowd *crowd = &world->crowd;
    if (crowd->occupancy == NULL) {
        return true;
    }
    uint32_t before = crowd->mover_capacity;
    if (!FM_RESERVE(world, crowd->movers, crowd->mover_capacity, agent_count)) {
        return false;
    }
    // What the last tick has left is read in the next one.
    for (uint32_t i = before; i < crowd->mover_capacity; i++) {
        crowd->movers[i] = (fm_mover){0};
    }
    return FM_RESERVE(world, crowd->passed_teams, crowd->passed_capacity, 2 * agent_count) &&
           fm_flow_reserve(world, agent_count) &&
           FM_RESERVE(world, crowd->frames, crowd->frame_capacity, agent_count) &&
           fm_turns_reserve(world, agent_count);
}

const fm_mover *fm_crowd_mover(const fm_world *world, uint32_t slot)
{
    return &world->crowd.movers[slot];
}

uint32_t fm_crowd_passed_team(const fm_world *world, uint32_t slot)
{
    // What was found in the tick before the last, and went for the last one.
    return world->crowd.passed_teams[fm_crowd_turn(slot, world->tick)];
}

fm_cell fm_crowd_via(const fm_world *world, uint32_t slot)
{
    return fm_around_via(world->crowd.around, &world->crowd.movers[slot]);
}

void fm_crowd_fini(fm_world *world)
{
    const fm_memory *memory = &world->memory;
    fm_memory_release(memory, world->crowd.movers,
                      world->crowd.mover_capacity * sizeof *world->crowd.movers);
    fm_memory_release(memory, world->crowd.frames,
                      world->crowd.frame_capacity * sizeof *world->crowd.frames);
    fm_memory_release(memory, world->crowd.passed_teams,
                      world->crowd.passed_capacity * sizeof *world->crowd.passed_teams);
    fm_flow_fini(world);
    fm_turns_fini(world);
    fm_jam_drop_all(world);
    fm_lanes_drop_all(world);
    fm_busy_fini(world);
    fm_bypass_fini(world);
    fm_around_fini(world);
    fm_occupancy_destroy(world->crowd.occupancy);
}

// ---- after the resolution -----------------------------------------------------------------------

// How often each kind of conflict was met, and who does what, in one worker's part.
struct tally {
    uint64_t conflicts[FM_CONFLICT_COUNT];
    uint32_t passing, conceding; // as in fm_world_counts
};

// A step that is not the one that the unit wanted most.
static void note_other_step(struct tally *tally, const fm_mover *mover)
{
    bool has_way = !mover->aside && (mover->preferences & 15) < FM_PREFERENCE_STAY;
    tally->conflicts[has_way ? FM_CONFLICT_SIDESTEPPED : FM_CONFLICT_PUSHED] += 1;
}

static void move_to(fm_world *world, struct fm_agent *agent, const fm_mover *mover,
                    struct tally *tally)
{
    uint32_t d = fm_cell_direction(agent->cell, mover->next);
    if (d != (mover->preferences & 15)) {
        note_other_step(tally, mover);
    }
    if (agent->order.id != 0) {
        fm_patience_count(world, agent, mover);
    }
    bool is_idle = agent->order.id == 0;
    if (is_idle || (world->rules.blocked_ticks > 0 && agent->hindered == 0)) {
        agent->stalled_ticks = 0;
    }
    if (is_idle && d != (mover->preferences & 15)) {
        fm_home_pushed(world, agent);
    }
    if (fm_agent_step(world, agent, d)) {
        fm_order_leg_over(world, agent, FM_END_ARRIVED);
    } else if (is_idle) {
        fm_home_stepped(world, agent);
    }
}

// A unit that `mover` would meet in `cell`, and that `accepts` says is of the kind that is looked
// for. Outside the map there is nobody: the goal may be where the unit does not fit, as long as
// that is not proven.
typedef bool accepts_unit(const fm_mover *mover, const fm_mover *other);

static const fm_mover *find_under(const fm_world *world, const fm_mover *mover, fm_cell cell,
                                  accepts_unit *accepts)
{
    for (uint32_t i = 0; i < (uint32_t)mover->size * mover->size; i++) {
        fm_cell part = cell + fm_cell_at(i % mover->size, i / mover->size);
        uint32_t unit =
            fm_world_contains(world, part) ? fm_occupancy_at(world->crowd.occupancy, part)->now : 0;
        const fm_mover *other = unit == 0 ? NULL : &world->crowd.movers[unit - 1];
        if (other != NULL && other != mover && accepts(mover, other)) {
            return other;
        }
    }
    return NULL;
}

static bool is_settled_friend(const fm_mover *mover, const fm_mover *other)
{
    return other->settled && other->team == mover->team && other->aim == mover->aim;
}

// Whether settled friends stand on every cell that it would rather have.
static bool is_at_the_crowd(const fm_world *world, const fm_mover *mover)
{
    uint64_t preferences = mover->preferences;
    if ((preferences & 15) >= FM_PREFERENCE_STAY) {
        return false;
    }
    for (; (preferences & 15) < FM_PREFERENCE_STAY; preferences >>= 4) {
        fm_cell cell = fm_cell_step(mover->cell, (uint32_t)(preferences & 15));
        if (find_under(world, mover, cell, is_settled_friend) == NULL) {
            return false;
        }
    }
    return true;
}

// Whether `other` stands there, is not under way, and does not go for the agent's sake: it
// may not be pushed, or is too large for any place around it.
static bool is_in_the_way(const fm_mover *mover, const fm_mover *other)
{
    bool stuck = other->size > mover->size && other->next == other->cell;
    return other->aside && !other->yields &&
           (other->team != mover->team || !other->pushable || stuck);
}

// Whether one such unit stands on the goal and the agent is beside it.
static bool is_goal_taken(const fm_world *world, const fm_mover *mover)
{
    uint32_t d = (uint32_t)(mover->preferences & 15);
    if (d >= FM_PREFERENCE_STAY) {
        return false;
    }
    fm_cell next = fm_cell_step(mover->cell, d);
    const fm_mover *other = find_under(world, mover, next, is_in_the_way);
    return other != NULL && other == find_under(world, mover, mover->aim, is_in_the_way);
}

static bool stands_still(const fm_mover *mover, const fm_mover *other)
{
    (void)mover;
    return other->next == other->cell;
}

// For how many ticks units of other teams that stand still have blocked every way on, this tick
// included; 0: some way is open. A friend that waits for such units blocks as long as they do, so
// the count spreads backwards through a queue. One whose order ended for this reason keeps its
// count until it steps or gets another order.
static uint32_t blocked_ticks(const fm_world *world, const struct fm_agent *agent,
                              const fm_mover *mover)
{
    uint64_t preferences = mover->preferences;
    uint32_t ticks = (preferences & 15) < FM_PREFERENCE_STAY ? agent->stalled_ticks + 1u : 0;
    for (; ticks > 0 && (preferences & 15) < FM_PREFERENCE_STAY; preferences >>= 4) {
        fm_cell cell = fm_cell_step(mover->cell, (uint32_t)(preferences & 15));
        const fm_mover *other = find_under(world, mover, cell, stands_still);
        if (other == NULL) {
            return 0;
        }
        uint32_t its_ticks = world->agents.slots[other - world->crowd.movers].stalled_ticks;
        if (other->team == mover->team && its_ticks < ticks) {
            ticks = its_ticks;
        }
    }
    return ticks;
}

// Counts a tick of a unit that others do not let through. Ends its leg, perhaps.
static void count_stalled(fm_world *world, struct fm_agent *agent, const fm_mover *mover)
{
    bool is_taken = is_goal_taken(world, mover);
    uint32_t limit = is_taken ? FM_TAKEN_TICKS : world->rules.blocked_ticks;
    uint32_t ticks = is_taken     ? agent->stalled_ticks + 1u
                     : limit == 0 ? 0
                                  : blocked_ticks(world, agent, mover);
    agent->stalled_ticks = (uint16_t)ticks;
    if (ticks == 0 || ticks < limit) {
        return;
    }
    agent->stalled_ticks = 0;
    fm_order_give_up_leg(world, agent, FM_END_CROWDED);
    if (!is_taken && agent->order.id == 0) {
        agent->stalled_ticks = (uint16_t)limit;
        agent->settled = false; // it may block others
    }
}

static void stay(fm_world *world, struct fm_agent *agent, const fm_mover *mover,
                 struct tally *tally)
{
    if (agent->order.id == 0 || !agent->is_ready) {
        return;
    }
    tally->conflicts[FM_CONFLICT_WAITED] += (mover->preferences & 15) < FM_PREFERENCE_STAY;
    if (agent->state == FM_AGENT_MOVING) {
        fm_agent_set_state(world, agent, FM_AGENT_WAITING);
    }
    if (is_at_the_crowd(world, mover)) {
        fm_order_leg_over(world, agent, FM_END_CROWDED);
    } else if (fm_patience_count(world, agent, mover)) {
        agent->stalled_ticks = 0;
    } else {
        count_stalled(world, agent, mover);
    }
}

// ---- what the resolution asks -------------------------------------------------------------------

static uint32_t ground_moves(void *context, uint32_t slot, fm_cell cell)
{
    const fm_world *world = context;
    const struct fm_agent *agent = &world->agents.slots[slot];
    return fm_view_moves(fm_world_class_view(world, agent->team, agent->class_index), cell);
}

static uint32_t ground_ahead(void *context, uint32_t slot, fm_cell cell, uint32_t moves)
{
    const fm_world *world = context;
    const struct fm_agent *agent = &world->agents.slots[slot];
    bool has_answer = agent->plan_state == FM_PLAN_FOUND || agent->plan_state == FM_PLAN_PARTIAL;
    if (agent->planner == FM_SLOT_NONE || !has_answer) {
        return 0; // a search without an answer has no distances yet
    }
    const struct fm_planner *planner = &world->planners.slots[agent->planner];
    const fm_view *view = fm_world_truth(world, agent->class_index);
    uint32_t distances[FM_DIRECTION_COUNT + 1], ahead = 0;
    fm_planner_distances(planner->spec.ops, planner->self, view, planner->goal, cell, moves,
                         distances);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        bool is_nearer = distances[d] < distances[FM_DIRECTION_COUNT];
        ahead |= (uint32_t)is_nearer << d;
    }
    return distances[FM_DIRECTION_COUNT] < FM_COST_INFINITE ? ahead : 0;
}

static uint64_t ground_retreat(void *context, uint32_t slot)
{
    const fm_world *world = context;
    const struct fm_agent *agent = &world->agents.slots[slot];
    return fm_crowd_retreat(world, agent, &world->planners.slots[agent->planner]);
}

// ---- the stage ----------------------------------------------------------------------------------

static bool steps(const fm_mover *mover)
{
    return mover->progress == FM_MOVER_DECIDED && mover->next != mover->cell;
}

// Whether what follows for an agent may concern more than itself: its leg may end, or it may be at
// home again, or how long others stand still counts.
static bool may_end(const fm_world *world, const struct fm_agent *agent, const fm_mover *mover)
{
    if (agent->order.id == 0) {
        return steps(mover) && mover->next == agent->home;
    }
    if (agent->hindered + 2u >= 2 * FM_PATIENCE_TICKS || mover->shut) {
        return true;
    }
    return steps(mover)
               ? mover->next == agent->order.goal
               : world->rules.blocked_ticks > 0 || agent->stalled_ticks + 1u >= FM_TAKEN_TICKS ||
                     is_at_the_crowd(world, mover);
}

// Prefetches what the stage needs of an agent.
static void fetch(const fm_world *world, uint32_t slot)
{
    fm_agent_fetch(world, slot);
    __builtin_prefetch(&world->agents.slots[slot].settled_aim);
    __builtin_prefetch(&world->agents.slots[slot].hindered);
}

static void follow_up(fm_world *world, uint32_t slot, struct tally *tally)
{
    const fm_mover *mover = &world->crowd.movers[slot];
    struct fm_agent *agent = &world->agents.slots[slot];
    tally->passing += mover->to_right && !mover->planned;
    tally->conceding += mover->concedes;
    if (steps(mover)) {
        move_to(world, agent, mover, tally);
    } else {
        stay(world, agent, mover, tally);
    }
    if (agent->order.id != 0) {
        fm_escort_count(world, agent, mover);
    }
}

static void add_tally(fm_world *world, const struct tally *tally)
{
    for (uint32_t i = 0; i < FM_CONFLICT_COUNT; i++) {
        __atomic_fetch_add(&world->counts.conflicts[i], tally->conflicts[i], __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&world->counts.passing, tally->passing, __ATOMIC_RELAXED);
    __atomic_fetch_add(&world->counts.conceding, tally->conceding, __ATOMIC_RELAXED);
}

static uint32_t slot_end(const fm_world *world, uint32_t words)
{
    return fm_min(words * 64, world->agents.slot_count);
}

static void claim_decided(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    const fm_world *world = context;
    fm_pibt_claim_decided(world->crowd.occupancy, world->crowd.movers, begin * 64,
                          slot_end(world, end));
}

static void leave_cells(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    const fm_world *world = context;
    fm_pibt_leave(world->crowd.occupancy, world->crowd.movers, begin * 64, slot_end(world, end));
}

static void enter_cells(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    const fm_world *world = context;
    fm_pibt_enter(world->crowd.occupancy, world->crowd.movers, begin * 64, slot_end(world, end));
}

// What follows for agents themselves. Those whose leg may end are marked and left as they are.
static void follow_up_most(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    fm_world *world = context;
    struct tally tally = {0};
    for (uint32_t i = begin; i < end; i++) {
        uint64_t bits = world->agents.marks[i].of[FM_MARK_LIVE], ahead = bits;
        for (uint32_t j = 0; j < FETCH_AHEAD && ahead != 0; j++, ahead &= ahead - 1) {
            fetch(world, i * 64 + (uint32_t)__builtin_ctzll(ahead));
        }
        for (; bits != 0; bits &= bits - 1, ahead &= ahead - 1) {
            if (ahead != 0) {
                fetch(world, i * 64 + (uint32_t)__builtin_ctzll(ahead));
            }
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct fm_agent *agent = &world->agents.slots[slot];
            if (may_end(world, agent, &world->crowd.movers[slot])) {
                fm_agent_mark_set(world, agent, FM_MARK_OVER);
            } else {
                follow_up(world, slot, &tally);
            }
        }
    }
    add_tally(world, &tally);
}

// Whether an agent that has stayed where it is ends there, as others have settled since.
static bool ends_here(const fm_world *world, uint32_t slot)
{
    const struct fm_agent *agent = &world->agents.slots[slot];
    const fm_mover *mover = &world->crowd.movers[slot];
    return agent->order.id != 0 && agent->is_ready && !steps(mover) &&
           is_at_the_crowd(world, mover);
}

// Marks those around an agent that end because it has settled.
static void mark_behind(fm_world *world, uint32_t slot)
{
    fm_mover *mover = &world->crowd.movers[slot];
    const struct fm_agent *agent = &world->agents.slots[slot];
    if (agent->order.id != 0 || !agent->settled) {
        return;
    }
    mover->settled = true;
    uint32_t side = mover->size + 2u;
    for (uint32_t i = 0; i < side * side; i++) {
        fm_cell cell = agent->cell + fm_cell_at(i % side, i / side) - fm_cell_at(1, 1);
        uint32_t unit =
            fm_world_contains(world, cell) ? fm_occupancy_at(world->crowd.occupancy, cell)->now : 0;
        if (unit != 0 && ends_here(world, unit - 1)) {
            fm_agent_mark_set(world, &world->agents.slots[unit - 1], FM_MARK_OVER);
        }
    }
}

// Returns whether some agent was marked.
static bool take_marked(fm_world *world, void (*follow)(fm_world *, uint32_t, struct tally *),
                        struct tally *tally)
{
    bool any = false;
    for (uint32_t i = 0; i < fm_mark_words(world); i++) {
        uint64_t bits = world->agents.marks[i].of[FM_MARK_OVER];
        world->agents.marks[i].of[FM_MARK_OVER] = 0;
        any = any || bits != 0;
        for (; bits != 0; bits &= bits - 1) {
            uint32_t slot = i * 64 + (uint32_t)__builtin_ctzll(bits);
            bool had_order = world->agents.slots[slot].order.id != 0;
            follow(world, slot, tally);
            if (had_order) {
                mark_behind(world, slot);
            }
        }
    }
    return any;
}

static void end_behind(fm_world *world, uint32_t slot, struct tally *tally)
{
    (void)tally;
    if (ends_here(world, slot)) {
        fm_order_leg_over(world, &world->agents.slots[slot], FM_END_CROWDED);
    }
}

// The others, in slot order; then those who wait behind one that has ended there, and so on: they
// would end one after the other in as many ticks.
static void follow_up_rest(fm_world *world)
{
    struct tally tally = {0};
    take_marked(world, follow_up, &tally);
    while (take_marked(world, end_behind, &tally)) {
    }
    add_tally(world, &tally);
}

struct resolution {
    fm_world *world;
    fm_turns turns;
};

// Decides for some parts of the turns.
static void resolve(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    (void)worker;
    const struct resolution *resolution = context;
    fm_world *world = resolution->world;
    const fm_pibt_ground ground = {
        .context = world, .moves = ground_moves, .ahead = ground_ahead, .retreat = ground_retreat};
    struct tally tally = {0};
    for (uint32_t i = begin; i < end; i++) {
        const fm_turns_part *part = &resolution->turns.parts[i];
        tally.conflicts[FM_CONFLICT_SWAP] +=
            fm_pibt_resolve(&ground, world->crowd.occupancy, world->crowd.movers,
                            resolution->turns.slots + part->begin, part->end - part->begin,
                            world->crowd.frames + part->first_frame);
    }
    add_tally(world, &tally);
}

uint64_t fm_crowd_move(fm_world *world, fm_workers *workers, uint64_t work)
{
    uint32_t words = fm_mark_words(world);
    world->counts.passing = world->counts.conceding = 0;
    fm_lanes_attend(world);
    fm_passing_attend(world, workers);
    uint64_t paid = fm_around_attend(world, work / 4);
    paid += fm_bypass_attend(world, work / 2 - paid);
    uint64_t used = paid + fm_jam_attend(world, workers, work - paid);
    world->counts.expansions_by_kind[FM_SEARCH_JOINT] += paid;
    struct resolution resolution = {.world = world};
    resolution.turns = fm_turns_list(world, fm_workers_count(workers) > 1);
    if (resolution.turns.has_decided) {
        fm_workers_run_parts(workers, words, MORE_WORDS, claim_decided, world);
    }
    fm_workers_run(workers, resolution.turns.part_count, 1, resolve, &resolution);
    fm_workers_run_parts(workers, words, MORE_WORDS, leave_cells, world);
    fm_workers_run_parts(workers, words, MORE_WORDS, enter_cells, world);
    fm_workers_run_parts(workers, words, WORDS_A_TURN, follow_up_most, world);
    follow_up_rest(world);
    return used;
}
