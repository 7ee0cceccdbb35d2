// clients/c/mirror_motion.c: see mirror_motion.h.
//
// The motions lie beside `agents`, in an array that is there from the first entry `motion` on:
// views without it pay nothing.

#include "clients/c/mirror_motion.h"

#include "clients/c/mirror_agents.h"

#include <stdlib.h>

#define HEAD_SIZE 4u // numbers of an agent before its waypoints: id, heading, speed, count

static const fm_mirror_motion unknown = {.heading = FM_MIRROR_HEADING_UNKNOWN};

static fm_status reserve(fm_mirror *mirror)
{
    if (mirror->motion_capacity >= mirror->agent_capacity) {
        return FM_OK;
    }
    fm_mirror_motion *motions =
        realloc(mirror->motions, mirror->agent_capacity * sizeof *mirror->motions);
    if (motions == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = mirror->motion_capacity; i < mirror->agent_capacity; i++) {
        motions[i] = unknown;
    }
    mirror->motions = motions;
    mirror->motion_capacity = mirror->agent_capacity;
    return FM_OK;
}

void fm_mirror_forget_motion(fm_mirror *mirror, uint32_t index)
{
    if (index < mirror->motion_capacity) {
        mirror->motions[index] = unknown;
    }
}

void fm_mirror_carry_motion(fm_mirror *mirror, uint32_t to, uint32_t from)
{
    if (to < mirror->motion_capacity) {
        mirror->motions[to] = from < mirror->motion_capacity ? mirror->motions[from] : unknown;
    }
}

// Of one agent, from number `at` on. Waypoints beyond those that there is room for are passed over.
static fm_status set_motion(fm_mirror *mirror, fm_numbers numbers, uint32_t at, uint32_t count)
{
    uint32_t index = fm_mirror_index_of(mirror, fm_numbers_at(numbers, at));
    uint64_t heading = fm_numbers_at(numbers, at + 1), speed = fm_numbers_at(numbers, at + 2);
    if (index == mirror->agent_count || heading > FM_MIRROR_HEADING_UNKNOWN || speed > UINT32_MAX) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_mirror_motion *motion = &mirror->motions[index];
    *motion = (fm_mirror_motion){.speed = (uint32_t)speed, .heading = (uint8_t)heading};
    for (uint32_t i = 0; i < count && i < FM_MIRROR_WAYPOINTS_MAX; i++) {
        uint64_t x2 = fm_numbers_at(numbers, at + HEAD_SIZE + 2 * i);
        uint64_t y2 = fm_numbers_at(numbers, at + HEAD_SIZE + 2 * i + 1);
        if (x2 > 2 * FM_SIDE_MAX || y2 > 2 * FM_SIDE_MAX) {
            *motion = unknown;
            return FM_ERR_BAD_MESSAGE;
        }
        motion->waypoints[motion->waypoint_count++] =
            (fm_mirror_waypoint){.x2 = (uint16_t)x2, .y2 = (uint16_t)y2};
    }
    return FM_OK;
}

fm_status fm_mirror_set_motions(fm_mirror *mirror, fm_numbers numbers)
{
    fm_status status = numbers.count == 0 ? FM_OK : reserve(mirror);
    for (uint32_t at = 0; at < numbers.count && status == FM_OK;) {
        uint32_t left = numbers.count - at;
        uint64_t count = left < HEAD_SIZE ? UINT64_MAX : fm_numbers_at(numbers, at + HEAD_SIZE - 1);
        if (left < HEAD_SIZE || count > (left - HEAD_SIZE) / 2) {
            return FM_ERR_BAD_MESSAGE;
        }
        status = set_motion(mirror, numbers, at, (uint32_t)count);
        at += HEAD_SIZE + 2 * (uint32_t)count;
    }
    return status;
}
