// tests/server/streams/pair.h: two worlds that differ only in what a team cannot see, and what
// happens in them at random. For test_sight.c, which says what must be the same.

#pragma once

#include "core/base/random.h"
#include "server/streams/scene.h"
#include "tests/support/support.h"

#define WIDTH         56u
#define HEIGHT        24u
#define OPEN_WIDTH    26u // the part that both worlds share
#define WALL_WIDTH    14u
#define HIDDEN_X      (OPEN_WIDTH + WALL_WIDTH)
#define SENSE         4u
#define AGENTS_MAX    64u
#define BUILDINGS_MAX 12u
#define READERS       6u
#define PLAYER        1u
#define ENEMY         2u
#define HIDDEN_TEAM   3u

// One world of a pair.
struct side {
    fm_world *world;
    fm_host host; // what the scene reads of it
    fm_scene *scene;
    fm_random hidden;                  // for the commands to this world only
    fm_agent_id agents[3][AGENTS_MAX]; // by team - 1; the hidden ones differ
    uint32_t agent_counts[3];
    uint32_t buildings[BUILDINGS_MAX]; // ids in the open part, the same ones in both
    uint32_t building_count;
    uint32_t hidden_building; // id, 0: none stands
    bool costs;
};

struct pair {
    struct side sides[2];
    fm_random random; // for the commands to both worlds
    uint64_t told[READERS];
    fm_rect rects[READERS];
    uint64_t bytes_compared, queries_compared, commands_compared, refusals, boarded;
    bool costs; // hidden cells get costs, which planners for equal costs do not allow
};

/// Makes one world of a pair. @param shared  draws what both have in common @param hidden  seed of
/// what only this one has
void pair_side_init(struct side *side, const fm_world_rules *rules, fm_random shared,
                    uint64_t hidden);
void pair_side_fini(struct side *side);

/// Something that happens in one world, out of the player's sight.
void pair_do_hidden_thing(struct side *side);

/// Spawns an agent of the player's team or of an enemy's in both worlds.
void pair_spawn(struct pair *pair);

/// A few things that happen to each world alone, out of sight, and a few that happen in both:
/// commands of the player, of its enemies and of the game. What the player is answered is compared.
void pair_act(struct pair *pair);
