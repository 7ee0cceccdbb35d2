// tests/server/methods/growth_scene.h: the servers, worlds and units of test_method_growth.c and
// test_session_growth.c.
//
// A deed prepares a server and then sends requests; the number of things in them grows with
// scene.scale.
//
// Threads: one.

#pragma once

#include "tests/server/methods/asking.h"

#define SIDE        128u // of the map, cells
#define UNITS       300u // at scale 1
#define MANY        24u  // of costlier things, at scale 1
#define CLIENTS     2u   // at scale 1
#define TEAM_MEMBER 1u

// One method, called with more and more of something.
struct deed {
    fm_method method;
    const char *of;        // what there is more of
    void (*prepare)(void); // not counted
    void (*act)(void);     // counted
};

struct scene {
    uint32_t scale;
    uint64_t first_world;
    char map[SIDE * (SIDE + 1) + 64];
    size_t map_size;
    fm_config config;
};

extern struct scene scene;

/// Of the group of tests: logs errors only, and writes scene.map.
int set_up_scene(void **state);

/// Fills in scene.config with its defaults. Call it before each deed.
void make_config(void);

// ---- fields -------------------------------------------------------------------------------------

/// `count` cells, one after the other from `first`, which is counted row by row.
void put_cells(fm_field field, uint32_t first, uint32_t count);

/// The first `count` agents of a world that lost none.
void put_agents(uint32_t count);

/// The first world.
void put_world(void);

// ---- servers and worlds -------------------------------------------------------------------------

/// Connects a client, which sends hello.
void come(uint32_t client);

/// A server with ADMIN as its client.
void start(void);

/// Requests a paused world.
void make_named(const char *name);

/// A server with one world.
void world(void);

void add_teams(uint32_t count);
void world_with_a_team(void);

/// Runs ticks of the first world.
void step_ticks(uint32_t ticks);
void step(void);

// ---- units --------------------------------------------------------------------------------------

/// Adds units to team TEAM_MEMBER.
void spawn(uint32_t count);

/// Sends the first `count` units to one cell.
void order(uint32_t count);

/// A world with UNITS * scale units: standing, under way, or holding with an alert.
void units(void);
void marching_units(void);
void alert_units(void);

/// A world with UNITS units under way, whatever the scale.
void some_marching_units(void);
