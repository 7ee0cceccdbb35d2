// core/crowd/turns.c: see turns.h.

#include "core/crowd/turns.h"

#include "core/crowd/pibt.h"
#include "core/world/agent_marks.h"
#include "core/world/world_parts.h"

#define DIVIDED_LEAST   512u // slots; to divide fewer costs more than it saves
#define UNDIVIDED_TICKS 15u  // without a look whether a crowd that was one island has parted
#define PART_LEAST      128u // turns; a part of fewer is the last one
#define LARGE_ISLAND                                                                               \
    512u // turns; these come first, so that no worker begins one when others are done

// A turn while it is sorted: label of its place among the islands, age, slot.
#define SLOT_BITS 24u
#define AGE_BITS  16u
_Static_assert(FM_AGENTS_MAX <= 1u << SLOT_BITS, "a slot fits, and a label in the rest");

bool fm_turns_reserve(fm_world *world, uint32_t agent_count)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    const fm_occupancy *occupancy = crowd->occupancy;
    if (crowd->islands == NULL &&
        fm_islands_create(occupancy->width, occupancy->height, fm_world_memory(world),
                          &crowd->islands) != FM_OK) {
        return false;
    }
    return fm_islands_reserve(crowd->islands, agent_count) &&
           FM_RESERVE(world, crowd->turns, crowd->turn_capacity, 2 * agent_count) &&
           FM_RESERVE(world, crowd->turn_parts, crowd->turn_part_capacity,
                      agent_count / PART_LEAST + 1);
}

void fm_turns_fini(fm_world *world)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    const fm_memory *memory = fm_world_memory(world);
    fm_memory_release(memory, crowd->turns, crowd->turn_capacity * sizeof *crowd->turns);
    fm_memory_release(memory, crowd->turn_parts,
                      crowd->turn_part_capacity * sizeof *crowd->turn_parts);
    fm_islands_destroy(crowd->islands);
}

// Sorts by one byte, keeping the order of equals. Largest first.
static void sort_by_byte(const uint64_t *from, uint64_t *to, uint32_t count, uint32_t shift)
{
    uint32_t starts[256] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        starts[from[i] >> shift & 255] += 1;
    }
    for (uint32_t value = 256; value-- > 0;) {
        uint32_t here = starts[value];
        starts[value] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        to[starts[from[i] >> shift & 255]++] = from[i];
    }
}

// Writes all turns, in slot order. Returns how many there are.
static uint32_t write_turns(struct fm_world_crowd *crowd, uint32_t slot_count, bool divides,
                            bool *has_decided)
{
    uint32_t count = 0;
    *has_decided = false;
    for (uint32_t slot = 0; slot < slot_count; slot++) {
        const fm_mover *mover = &crowd->movers[slot];
        if (mover->team == 0) {
            continue;
        }
        *has_decided = *has_decided || mover->progress == FM_MOVER_DECIDED;
        uint64_t label = divides ? fm_islands_add(crowd->islands, mover->cell, mover->size) : 0;
        if (mover->progress == FM_MOVER_UNDECIDED && !mover->yields &&
            (mover->preferences & 15) < FM_PREFERENCE_STAY) {
            crowd->turns[count++] = (label << AGE_BITS | mover->age) << SLOT_BITS | slot;
        }
    }
    return count;
}

static fm_island *island_of(const struct fm_world_crowd *crowd, fm_island *islands, uint64_t turn)
{
    return &islands[fm_islands_of(crowd->islands, (uint32_t)(turn >> (AGE_BITS + SLOT_BITS)))];
}

// Makes parts of the islands, large ones first, and says where the turns of each begin.
static uint32_t make_parts(struct fm_world_crowd *crowd, fm_island *islands, uint32_t count)
{
    fm_turns_part *parts = crowd->turn_parts, part = {0};
    uint32_t part_count = 0, frames = 0;
    for (uint32_t i = 0; i < 2 * count; i++) {
        fm_island *island = &islands[i % count];
        bool is_large = island->turn_count >= LARGE_ISLAND;
        if (is_large != (i < count) || island->turn_count == 0) {
            continue;
        }
        island->first_turn = part.end;
        part.end += island->turn_count;
        frames += island->unit_count;
        if (part.end - part.begin >= PART_LEAST) {
            parts[part_count++] = part;
            part = (fm_turns_part){.begin = part.end, .end = part.end, .first_frame = frames};
        }
    }
    if (part.end > part.begin) {
        parts[part_count++] = part;
    }
    return part_count;
}

// Divides sorted turns among islands.
static uint32_t divide(struct fm_world_crowd *crowd, const uint64_t *turns, uint32_t turn_count,
                       uint32_t *slots)
{
    uint32_t island_count;
    fm_island *islands = fm_islands_join(crowd->islands, &island_count);
    for (uint32_t i = 0; i < turn_count; i++) {
        island_of(crowd, islands, turns[i])->turn_count += 1;
    }
    uint32_t part_count = make_parts(crowd, islands, island_count);
    for (uint32_t i = 0; i < turn_count; i++) {
        slots[island_of(crowd, islands, turns[i])->first_turn++] =
            (uint32_t)turns[i] & ((1u << SLOT_BITS) - 1);
    }
    fm_islands_clear(crowd->islands);
    return part_count;
}

// Where one worker has nearly all to do, dividing only costs.
static bool is_one_island(const fm_turns_part *parts, uint32_t part_count, uint32_t turn_count)
{
    for (uint32_t i = 0; i < part_count; i++) {
        uint32_t turns = parts[i].end - parts[i].begin;
        if (turns > turn_count - turn_count / 8) {
            return true;
        }
    }
    return false;
}

fm_turns fm_turns_list(fm_world *world, bool divides)
{
    struct fm_world_crowd *crowd = fm_world_edit_crowd(world);
    uint32_t slot_count = fm_world_agents(world)->slot_count;
    if (slot_count == 0) {
        return (fm_turns){0}; // there are no turns to point into
    }
    if (crowd->undivided_ticks > 0 || slot_count < DIVIDED_LEAST) {
        crowd->undivided_ticks -= crowd->undivided_ticks > 0;
        divides = false;
    }
    uint64_t *turns = crowd->turns, *sorted = crowd->turns + slot_count;
    bool has_decided;
    uint32_t count = write_turns(crowd, slot_count, divides, &has_decided);
    sort_by_byte(turns, sorted, count, SLOT_BITS);
    sort_by_byte(sorted, turns, count, SLOT_BITS + 8);
    fm_turns list = {.slots = (uint32_t *)(void *)sorted,
                     .parts = crowd->turn_parts,
                     .has_decided = has_decided};
    if (divides) {
        list.part_count = divide(crowd, turns, count, (uint32_t *)(void *)sorted);
        if (is_one_island(list.parts, list.part_count, count)) {
            crowd->undivided_ticks = UNDIVIDED_TICKS;
        }
        return list;
    }
    for (uint32_t i = 0; i < count; i++) {
        ((uint32_t *)(void *)sorted)[i] = (uint32_t)turns[i] & ((1u << SLOT_BITS) - 1);
    }
    crowd->turn_parts[0] = (fm_turns_part){.end = count};
    list.part_count = 1;
    return list;
}
