// core/crowd/stuck.c: see stuck.h.

#include "core/crowd/stuck.h"

#include "core/base/random.h"
#include "core/crowd/busy.h"
#include "core/crowd/jam.h"
#include "core/crowd/patience.h"
#include "core/crowd/pibt.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

#include <string.h>

#define HINDERED_MIN (FM_JAM_TICKS / 2) // see patience.c: 2 for each tick, of who is stuck
#define YIELDERS_MAX 8u    // around a unit: where more make way, searches would hold them up
#define SQUARE_SIDE  32u   // cells
#define SQUARES      1024u // counters
#define QUEUE_MAX    3u    // units that wait for each other, as far as is looked

static const fm_mover *mover_at(const fm_world *world, const struct fm_agent *agent)
{
    return &world->crowd.movers[agent - world->agents.slots];
}

// A unit in a queue that moves gets nearer, if slowly.
bool fm_stuck_yet(const fm_world *world, const struct fm_agent *agent)
{
    const fm_mover *mover = mover_at(world, agent);
    bool gets_nearer = agent->order.id != 0 && agent->hindered < HINDERED_MIN;
    return !gets_nearer && (mover->preferences & 15) < FM_PREFERENCE_STAY &&
           agent->anchor != FM_CELL_NONE &&
           fm_cell_dx(agent->cell, agent->anchor) <= FM_JAM_REACH &&
           fm_cell_dy(agent->cell, agent->anchor) <= FM_JAM_REACH;
}

uint32_t fm_stuck_unit_ahead(const fm_world *world, const fm_mover *mover)
{
    uint32_t self = (uint32_t)(mover - world->crowd.movers) + 1;
    uint32_t size = world->rules.classes[world->agents.slots[self - 1].class_index].size;
    fm_cell corner = fm_cell_step(mover->cell, (uint32_t)(mover->preferences & 15));
    for (uint32_t y = 0; y < size; y++) {
        for (uint32_t x = 0; x < size; x++) {
            fm_cell under = fm_cell_at(fm_cell_x(corner) + x, fm_cell_y(corner) + y);
            uint32_t unit = fm_occupancy_at(world->crowd.occupancy, under)->now;
            if (unit != 0 && unit != self) {
                return unit;
            }
        }
    }
    return 0;
}

// Whether it waits in a queue that moves: who stands where it wants to go, or one that this one
// waits for, gets nearer to its goal. A search would hold the queue up.
static bool is_served(const fm_world *world, const fm_mover *mover)
{
    for (uint32_t i = 0; i < QUEUE_MAX; i++) {
        uint32_t unit = fm_stuck_unit_ahead(world, mover);
        const fm_mover *other = unit == 0 ? NULL : &world->crowd.movers[unit - 1];
        if (other == NULL || other->team != mover->team ||
            (other->preferences & 15) >= FM_PREFERENCE_STAY) {
            return false;
        }
        const struct fm_agent *agent = &world->agents.slots[unit - 1];
        if (agent->order.id != 0 && agent->hindered < HINDERED_MIN) {
            return true;
        }
        mover = other;
    }
    return false;
}

// How many units of a team make way for others in this tick (see preferences.c), by squares of the
// map. Squares far from each other may share a counter: then units there get no help for a while.
struct yielders {
    uint32_t counts[SQUARES];
};

static uint32_t square_at(uint32_t x, uint32_t y)
{
    return (uint32_t)(fm_mix64((uint64_t)y << 32 | x) % SQUARES);
}

static void count_yielders(fm_world *world, uint32_t number, struct yielders *yielders)
{
    const struct fm_team *team = fm_team_of(world, number);
    memset(yielders, 0, sizeof *yielders);
    for (uint32_t i = 0; team->large_count > 0 && i < team->member_count; i++) {
        const struct fm_agent *agent = fm_team_member(world, number, i);
        if (agent != NULL && mover_at(world, agent)->yields) {
            yielders->counts[square_at(fm_cell_x(agent->cell) / SQUARE_SIDE,
                                       fm_cell_y(agent->cell) / SQUARE_SIDE)] += 1;
        }
    }
}

// Whether so many make way around a cell that a search would hold them up.
static bool is_pressed(const struct yielders *yielders, fm_cell cell)
{
    uint32_t count = 0, x = fm_cell_x(cell) / SQUARE_SIDE, y = fm_cell_y(cell) / SQUARE_SIDE;
    for (uint32_t i = 0; i < 9; i++) {
        count += yielders->counts[square_at(x + i % 3 - 1, y + i / 3 - 1)];
    }
    return count > YIELDERS_MAX;
}

// Sets the anchor of each unit of the team to its cell, and notes which are stuck.
static void look_around(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    struct yielders yielders;
    count_yielders(world, number, &yielders);
    world->counts.stuck -= team->stuck_count;
    team->stuck_left = team->stuck_count = 0;
    for (uint32_t i = 0; i < team->member_count; i++) {
        struct fm_agent *agent = fm_team_member(world, number, i);
        if (agent == NULL) {
            continue;
        }
        const fm_mover *mover = mover_at(world, agent);
        agent->jammed = fm_stuck_yet(world, agent) && !is_served(world, mover);
        agent->was_escorted = false;
        agent->stuck = agent->jammed && !is_pressed(&yielders, agent->cell);
        team->stuck_count += agent->stuck;
        team->stuck_left += agent->stuck;
        // A unit that goes home again and again, and is pushed away again, is at home at times.
        bool is_pushed = mover->parked && agent->pushed_tick + FM_JAM_TICKS > world->tick;
        bool wants = (mover->preferences & 15) < FM_PREFERENCE_STAY || is_pushed || mover->returns;
        agent->anchor = wants ? agent->cell : FM_CELL_NONE;
    }
    world->counts.stuck += team->stuck_count;
    world->crowd.jams_left += team->stuck_left;
    if (team->stuck_left > 0) {
        fm_busy_note(world, number);
    }
}

void fm_stuck_look_around(fm_world *world)
{
    for (uint64_t i = world->tick % FM_JAM_TICKS; i < world->teams.count; i += FM_JAM_TICKS) {
        look_around(world, (uint32_t)i + 1);
    }
}

// In turns, by their aliases: other teams must not decide which is the first.
const struct fm_agent *fm_stuck_next(fm_world *world, uint32_t number)
{
    struct fm_team *team = fm_team_of(world, number);
    for (uint32_t i = 0; team->stuck_left > 0 && i < team->member_count; i++) {
        team->stuck_next = (team->stuck_next + 1) % team->member_count;
        struct fm_agent *agent = fm_team_member(world, number, team->stuck_next);
        if (agent == NULL || !agent->stuck) {
            continue;
        }
        const fm_mover *mover = mover_at(world, agent);
        agent->stuck = false;
        team->stuck_left -= 1;
        if (fm_stuck_yet(world, agent) && !mover->planned && !mover->escorted) {
            return agent;
        }
    }
    team->stuck_left = 0;
    return NULL;
}

bool fm_stuck_team_stands(fm_world *world, uint32_t number)
{
    const struct fm_team *team = fm_team_of(world, number);
    for (uint32_t i = 0; i < team->member_count; i++) {
        const struct fm_agent *agent = fm_team_member(world, number, i);
        if (agent != NULL && agent->stepped_tick == world->tick && agent->moves > 0) {
            return false;
        }
    }
    return true;
}
