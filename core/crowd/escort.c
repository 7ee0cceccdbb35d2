// core/crowd/escort.c: see escort.h.

#include "core/crowd/escort.h"

#include "core/crowd/busy.h"
#include "core/crowd/jam.h"
#include "core/crowd/pibt.h"
#include "core/crowd/stuck.h"
#include "core/world/agent.h"
#include "core/world/agent_marks.h"
#include "core/world/crowd_state.h"
#include "core/world/escorts.h"
#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_parts.h"

#define REST_MIN      256u // ticks in one place
#define REST_LONG     384u // who has been there for longer comes first
#define LOOK_TICKS    16u  // between two looks at who might get one
#define HINDERED_MIN  16u  // see patience.h: 2 for each tick
#define ESCORTS_MAX   8u   // of a team at a time
#define BEGIN_PERIOD  2u   // ticks between two beginnings
#define APART         FM_ESCORT_SIDE_MAX
#define OUT           5u  // cells; then the others go on,
#define AWAY          12u // and then it is over
#define STALLED_TICKS 24u
#define TICKS_MAX     128u
#define CHAIN_MAX     8u // units that wait for each other, as far as is looked

static fm_mover *movers_of(fm_world *world)
{
    return fm_world_edit_crowd(world)->movers;
}

static fm_mover *mover_of(fm_world *world, const struct fm_agent *agent)
{
    return &movers_of(world)[agent - fm_world_agents(world)->slots];
}

// Whether a joint search or its plan says where a unit goes. One whose search is under way is held
// only when escorts have been attended to.
static bool is_in_jam(const struct fm_agent *agent, const fm_mover *mover)
{
    return mover->planned || agent->help != FM_HELP_NONE;
}

static bool is_near(fm_cell a, fm_cell b, uint32_t cells)
{
    return fm_cell_dx(a, b) <= cells && fm_cell_dy(a, b) <= cells;
}

static bool wants_to_go(const fm_mover *mover)
{
    return (mover->preferences & 15) < FM_PREFERENCE_STAY;
}

// ---- who has been in one place for long ---------------------------------------------------------

void fm_escort_count(const fm_world *world, struct fm_agent *agent, const fm_mover *mover)
{
    bool sets_out = agent->asking_since > fm_world_tick(world);
    if (sets_out || agent->rest_ticks == 0) {
        agent->rest = mover->cell;
        agent->rest_ticks = 0;
    }
    if (!is_near(agent->cell, agent->rest, FM_JAM_REACH)) {
        agent->rest = agent->cell;
        agent->rest_ticks = 0;
    }
    agent->rest_ticks += agent->rest_ticks < UINT16_MAX;
}

// Whether it wants to go on, and others have not let it. A slow one that has its way does not.
static bool is_held(fm_world *world, const struct fm_agent *agent)
{
    return agent->rest_ticks > REST_MIN && agent->order.id != 0 &&
           agent->hindered >= HINDERED_MIN && wants_to_go(mover_of(world, agent));
}

static void look(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    team->escorts_wanted = 0;
    team->escorts_settled = false;
    for (uint32_t i = 0; team->large_count > 0 && i < team->member_count; i++) {
        const struct fm_agent *agent = fm_team_member(world, number, i);
        team->escorts_wanted += agent != NULL && is_held(world, agent);
    }
    fm_world_edit_crowd(world)->jams_left += team->escorts_wanted;
    if (team->escorts_wanted > 0) {
        fm_busy_note(world, number);
    }
}

void fm_escorts_look(fm_world *world)
{
    uint32_t count = fm_world_team_count(world);
    for (uint32_t i = (uint32_t)(fm_world_tick(world) % LOOK_TICKS); i < count; i += LOOK_TICKS) {
        look(world, i + 1);
    }
}

// ---- one escort ---------------------------------------------------------------------------------

// A list without the steps that come after staying: they do not bring the unit nearer.
static uint64_t only_nearer(uint64_t preferences)
{
    uint32_t count = 0;
    while ((preferences >> 4 * count & 15) < FM_PREFERENCE_STAY) {
        count += 1;
    }
    uint64_t list = FM_PREFERENCES_NONE << 4 | FM_PREFERENCE_STAY;
    while (count-- > 0) {
        list = list << 4 | (preferences >> 4 * count & 15);
    }
    return list;
}

static void let_go_first(fm_mover *mover)
{
    mover->preferences = only_nearer(mover->preferences);
    mover->aside = mover->yields = mover->gentle = mover->narrow = false;
    mover->bold = mover->escorted = true;
    mover->age = UINT16_MAX;
}

// Those around a unit do nothing of their own accord.
static void let_stand(fm_world *world, struct fm_escort *escort, const fm_mover *first)
{
    enum {
        REACH = FM_ESCORT_REACH
    };
    uint32_t x = fm_cell_x(first->cell), y = fm_cell_y(first->cell);
    uint32_t left = x < REACH ? 0 : x - REACH, top = y < REACH ? 0 : y - REACH;
    const fm_occupancy *occupancy = fm_world_occupancy(world);
    uint32_t width = fm_min(x + first->size + REACH, occupancy->width) - left;
    uint32_t height = fm_min(y + first->size + REACH, occupancy->height) - top;
    for (uint32_t i = 0; i < width * height; i++) {
        fm_cell cell = fm_cell_at(left + i % width, top + i / width);
        uint32_t unit = fm_occupancy_at(occupancy, cell)->now;
        fm_mover *mover = unit == 0 ? NULL : &movers_of(world)[unit - 1];
        if (mover != NULL && mover->team == first->team && !mover->escorted &&
            !is_in_jam(fm_agent_at(world, unit - 1), mover)) {
            mover->escorted = true;
            mover->narrow = false;
            mover->yields = mover->yields || !mover->aside || wants_to_go(mover);
            mover->aside = true;
            fm_agent_id id = fm_agent_id_of(world, fm_agent_at(world, unit - 1));
            escort->standing[escort->standing_count++] = id;
        }
    }
}

// Who gets an escort after one that came to nothing: the first of those that the unit waits for,
// one after the other, that wants to go on itself and has had none. Often it wants out of where the
// others want in, has not been there for as long as they have, and could do no more than stand for
// them. 0: there is none.
static uint32_t find_heir(fm_world *world, const struct fm_agent *agent)
{
    const fm_mover *mover = mover_of(world, agent);
    for (uint32_t i = 0; i < CHAIN_MAX && wants_to_go(mover); i++) {
        uint32_t unit = fm_stuck_unit_ahead(world, mover);
        const struct fm_agent *other = unit == 0 ? NULL : fm_agent_at(world, unit - 1);
        if (other == NULL || other->team != agent->team || other->order.id == 0) {
            return 0;
        }
        mover = mover_of(world, other);
        if (!other->was_escorted && wants_to_go(mover)) {
            return unit;
        }
    }
    return 0;
}

// FM_ESCORT_END_COUNT, also below: it goes on.
static fm_escort_end find_end(const fm_world *world, const struct fm_escort *escort,
                              const struct fm_agent *agent)
{
    if (!is_near(agent->cell, escort->begun_at, AWAY)) {
        return FM_ESCORT_AWAY;
    }
    if (fm_world_tick(world) > escort->better_tick + STALLED_TICKS) {
        return FM_ESCORT_STALLED;
    }
    bool is_late = fm_world_tick(world) > escort->begun_tick + TICKS_MAX;
    return is_late ? FM_ESCORT_LATE : FM_ESCORT_END_COUNT;
}

static fm_escort_end attend(fm_world *world, struct fm_escort *escort, uint32_t team)
{
    struct fm_agent *agent = fm_world_find(world, escort->agent);
    escort->place = FM_CELL_NONE;
    escort->standing_count = 0;
    if (agent == NULL || agent->team != team || agent->order.id != escort->order) {
        bool has_arrived = agent != NULL && agent->team == team && agent->cell == escort->aim;
        return has_arrived ? FM_ESCORT_AWAY : FM_ESCORT_DROPPED;
    }
    fm_mover *mover = mover_of(world, agent);
    if (is_in_jam(agent, mover) || mover->escorted || !agent->is_ready || !wants_to_go(mover)) {
        return find_end(world, escort, agent);
    }
    escort->aim = mover->aim;
    if (mover->distance < escort->distance) {
        escort->distance = mover->distance;
        escort->better_tick = fm_world_tick(world);
    }
    fm_escort_end end = find_end(world, escort, agent);
    if (end == FM_ESCORT_END_COUNT) {
        escort->place = fm_cell_step(mover->cell, (uint32_t)(mover->preferences & 15));
        let_go_first(mover);
        if (is_near(agent->cell, escort->begun_at, OUT)) {
            let_stand(world, escort, mover);
        }
    }
    return end;
}

// ---- who gets one -------------------------------------------------------------------------------

static bool is_apart(fm_world *world, const struct fm_team *team, const struct fm_agent *agent)
{
    for (const struct fm_escort *escort = team->escorts; escort != NULL; escort = escort->next) {
        const struct fm_agent *other = fm_world_find(world, escort->agent);
        if (other != NULL && is_near(agent->cell, other->cell, APART)) {
            return false;
        }
    }
    return true;
}

// Larger is sooner. Of those that have been held for very long, the one that has been so for
// longest: each gets its turn.
static uint32_t rank_of(const struct fm_agent *agent, const fm_mover *mover)
{
    uint32_t size = mover->size, ticks = agent->rest_ticks;
    return ticks > REST_LONG ? 1u << 31 | ticks << 4 | size : size << 16 | ticks;
}

// The agent that is to have the next escort, if it still wants one. NULL: none.
static struct fm_agent *take_heir(fm_world *world, struct fm_team *team, uint32_t number)
{
    uint32_t heir = team->escort_heir;
    team->escort_heir = 0;
    struct fm_agent *agent = heir == 0 ? NULL : fm_agent_at(world, heir - 1);
    bool is_fit = agent != NULL && agent->alive && agent->team == number && agent->order.id != 0 &&
                  !agent->was_escorted && wants_to_go(mover_of(world, agent)) &&
                  !is_in_jam(agent, mover_of(world, agent)) && is_apart(world, team, agent);
    return is_fit ? agent : NULL;
}

// Of equals the first member: other teams must not decide. NULL: there is none.
static struct fm_agent *choose(fm_world *world, const struct fm_team *team, uint32_t number)
{
    struct fm_agent *best = NULL;
    uint32_t best_rank = 0;
    for (uint32_t i = 0; i < team->member_count; i++) {
        struct fm_agent *agent = fm_team_member(world, number, i);
        if (agent == NULL || !is_held(world, agent) || agent->was_escorted ||
            is_in_jam(agent, mover_of(world, agent))) {
            continue;
        }
        uint32_t rank = rank_of(agent, mover_of(world, agent));
        if (rank > best_rank && is_apart(world, team, agent)) {
            best = agent;
            best_rank = rank;
        }
    }
    return best;
}

static void begin(fm_world *world, struct fm_team *team, uint32_t number)
{
    struct fm_agent *agent = take_heir(world, team, number);
    agent = agent != NULL ? agent : choose(world, team, number);
    team->escorts_settled = agent == NULL;
    struct fm_escort *escort =
        agent == NULL ? NULL : fm_memory_allocate_zeroed(fm_world_memory(world), 1, sizeof *escort);
    if (escort == NULL) {
        return;
    }
    *escort = (struct fm_escort){.next = team->escorts,
                                 .agent = fm_agent_id_of(world, agent),
                                 .order = agent->order.id,
                                 .begun_at = agent->cell,
                                 .aim = FM_CELL_NONE,
                                 .begun_tick = fm_world_tick(world),
                                 .better_tick = fm_world_tick(world),
                                 .distance = UINT32_MAX};
    team->escorts = escort;
    team->escort_count += 1;
    fm_world_edit_counts(world)->escorts += 1;
    agent->was_escorted = true; // until the next look it is the turn of others
}

static void end(fm_world *world, struct fm_team *team, struct fm_escort **link, fm_escort_end how)
{
    struct fm_escort *escort = *link;
    *link = escort->next;
    team->escort_count -= 1;
    fm_world_edit_counts(world)->escorts -= 1;
    fm_world_edit_counts(world)->escorts_ended[how] += 1;
    team->escorts_settled = false; // others may be far enough from all escorts now
    fm_memory_release(fm_world_memory(world), escort, sizeof *escort);
}

uint32_t fm_escorts_wanted(const struct fm_team *team)
{
    return team->escorts_settled ? 0 : team->escorts_wanted;
}

void fm_escorts_attend(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    if (fm_escorts_wanted(team) > 0 && team->escort_count < ESCORTS_MAX &&
        (fm_world_tick(world) + number) % BEGIN_PERIOD == 0) {
        begin(world, team, number);
    }
    for (struct fm_escort **link = &team->escorts; *link != NULL;) {
        fm_escort_end how = attend(world, *link, number);
        if (how == FM_ESCORT_END_COUNT) {
            link = &(*link)->next;
        } else {
            if (how == FM_ESCORT_STALLED) {
                team->escort_heir = find_heir(world, fm_world_find(world, (*link)->agent));
            }
            end(world, team, link, how);
        }
    }
}

void fm_escorts_drop(fm_world *world, struct fm_team *team)
{
    while (team->escorts != NULL) {
        end(world, team, &team->escorts, FM_ESCORT_DROPPED);
    }
    team->escorts_wanted = team->escort_heir = 0;
    team->escorts_settled = false;
}
