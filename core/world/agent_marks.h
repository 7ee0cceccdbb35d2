// core/world/agent_marks.h: which agents a stage has to visit: bits by slot, so that a tick costs
// what happens in it, not what exists.
//
// A stage walks words, 64 slots at a time, and visits the agents whose bits are set, in slot order.
//
//   mark        set by                                         taken by
//   ----------  ---------------------------------------------  ------------------------------------
//   LIVE        spawning, loading                              who asks for everybody
//   LOOK        born, moved; all after an edit                 sense, which clears it
//   NEWS        sense: there is something that it would learn  sense
//   ATTEND      orders that began, ended, or got another leg;  assign, which keeps it while the
//               no planner, or one that has not FOUND          order needs a look in every tick
//   ATTENDED    assign: visited in this tick                   assign
//   WATCH       orders that began with a deadline or `alert`,  assign, which clears it when nothing
//               or go on after one                             is left to look for
//   UNDER_WAY   a planner taken, MOVING, credit to be gained   choose and move, which clear it when
//                                                              none of these is left
//   STEPPED     a step in this tick                            move, observe
//   OVER        move: its leg is over, or may be               move, serially
//   HELD        choose: one that stands is in its way, and it   move, when it has looked for a way
//               looks for a way round it (core/crowd/around.h)  round
//   CHANGED     born, moved, another team or class, another    observe, which clears it
//               tag that others are told: what everybody sees
//               who sees it
//   STATE       another state or tag: what only its owner is   observe, which clears it
//               told
//   REHASH      something that the digest counts has changed   digest, which clears it
//
// Threads: serial stages set any; in a parallel stage a worker has whole words to itself.

#pragma once

#include "core/world/agent.h"

typedef enum fm_agent_mark {
    FM_MARK_LIVE,
    FM_MARK_LOOK,
    FM_MARK_NEWS,
    FM_MARK_ATTEND,
    FM_MARK_ATTENDED,
    FM_MARK_WATCH,
    FM_MARK_UNDER_WAY,
    FM_MARK_STEPPED,
    FM_MARK_OVER,
    FM_MARK_HELD,
    FM_MARK_CHANGED,
    FM_MARK_STATE,
    FM_MARK_REHASH,
    FM_MARK_COUNT,
} fm_agent_mark;

// The marks of 64 slots.
struct fm_agent_marks {
    uint64_t of[FM_MARK_COUNT];
};

// The hashes of an agent that the last digest counted.
struct fm_agent_hash {
    uint64_t whole;  // 0: the slot is free
    uint64_t orders; // the part of it that stays while the agent walks
};

// Slots of agents with the same planner, FM_SLOT_NONE: none. Good for agents that have one. Apart
// from the agents, so that a list of them is walked in few lines of cache. Whose: planner_table.c.
struct fm_agent_mates {
    uint32_t before, after;
};

// The agents. Whose: core/commands/spawning.c and core/saves, which fill and free slots;
// agent_marks.c has the marks, core/tick/digest.c the hashes.
struct fm_world_agents {
    struct fm_agent *slots;
    uint32_t slot_count, capacity;
    uint32_t count;     // alive
    uint32_t tag_count; // of these, agents that were given a tag
    uint64_t born;
    struct fm_agent_marks *marks; // by slot / 64
    uint32_t mark_capacity;
    uint32_t hash_capacity, mate_capacity;
    struct fm_agent_hash *hashes; // by slot
    uint64_t hash_sum;            // of `whole`
    struct fm_agent_mates *mates; // by slot
};

const struct fm_world_agents *fm_world_agents(const fm_world *world);
struct fm_world_agents *fm_world_edit_agents(fm_world *world);

/// Prefetches what nearly all stages need of one agent, the first that is marked in a word, and
/// takes its mark away. So a stage that walks a word prefetches those of the next one meanwhile.
static inline uint64_t fm_agents_fetch_next(const struct fm_world_agents *agents, uint32_t word,
                                            uint64_t bits)
{
    if (bits == 0) {
        return 0;
    }
    __builtin_prefetch(&agents->slots[word * 64 + (uint32_t)__builtin_ctzll(bits)]);
    return bits & (bits - 1);
}

/// Words of marks for so many slots.
static inline uint32_t fm_mark_words_for(uint32_t slots)
{
    return slots / 64 + (slots % 64 != 0);
}

/// The same for all slots of a world.
uint32_t fm_mark_words(const fm_world *world);

void fm_agent_mark_set(fm_world *world, const struct fm_agent *agent, fm_agent_mark mark);

/// Makes room for so many slots, and what goes with them. False when out of memory.
FM_CHECKED bool fm_agents_reserve(fm_world *world, uint32_t slots);

/// Bytes of that.
size_t fm_agents_bytes(const fm_world *world);

/// Releases that. The world's agents hold nothing then.
void fm_agents_fini(fm_world *world);

/// Marks all that live.
void fm_agents_mark_all(fm_world *world, fm_agent_mark mark);

/// An agent is in its slot now: all stages visit it in the next tick.
void fm_agent_be_born(fm_world *world, const struct fm_agent *agent);

/// The agent is gone, for stages and for the digest.
void fm_agent_be_gone(fm_world *world, const struct fm_agent *agent);
