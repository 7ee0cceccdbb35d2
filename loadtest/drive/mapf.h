// loadtest/drive/mapf.h: multi-agent path finding problems over the real server: a map, a problem
// file, one agent for each of its first lines, known terrain, and a cell holds one agent.
//
// All agents set out at once. The run ends when all stand on their goals at the same time; when
// every order has ended and nobody moves; or after four times as many ticks as the longest
// of the agents' paths is long. An independent check of every tick, from what the server streams,
// counts agents that share a cell, have exchanged places or have crossed on the diagonals of one
// square.
//
// Source: R. Stern et al., "Multi-Agent Pathfinding: Definitions, Variants, and Benchmarks", SoCS
// 2019, for the maps and problem files.

#pragma once

#include "loadtest/drive/mapf_score.h"
#include "loadtest/drive/run.h"

#define FM_MAPF_TICKS_FACTOR 16u   // ticks at most, by the longest path of any agent ...
#define FM_MAPF_TICKS_MIN    1024u // ... but at least so many: jams are searched for at intervals
#define FM_MAPF_STILL_TICKS  512u  // without a move, after the last order: no agent will move again
#define FM_MAPF_STUCK_MAX    32u   // that are named

typedef struct fm_mapf_options {
    const char *map;     // .map file
    const char *scen;    // .scen file
    const char *planner; // spec; NULL: dstar-lite
    uint32_t agents;     // 0: one for each line
    uint32_t workers;    // of a server of its own
} fm_mapf_options;

typedef struct fm_mapf_result {
    uint32_t agents;
    uint32_t arrived; // agents whose order ended on its goal
    fm_mapf_score score;
    uint32_t collisions;   // pairs that shared a cell, swapped or crossed, over all ticks
    uint32_t ticks;        // of the run
    uint32_t ticks_95;     // until 95 % of the agents had arrived; 0: they have not
    uint32_t ticks_max;    // when it would be stopped
    double longest_length; // of the agents' shortest paths, each alone
    uint64_t moves;
    struct {
        uint32_t agent; // line of the .scen file, from 0
        fm_cell cell;   // where it is at the end
        fm_cell goal;
    } stuck[FM_MAPF_STUCK_MAX]; // the first ones of score.stuck
} fm_mapf_result;

/// Plays a problem.
///
/// @param run    where, see fm_run()
/// @param error  receives what failed; room for FM_RUN_ERROR_SIZE
/// @return FM_OK; FM_ERR_BAD_VALUE or FM_ERR_BAD_FORMAT (files, planner); FM_ERR_IO or
///         FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_mapf_run(const fm_mapf_options *options, const fm_run_options *run,
                                 fm_mapf_result *result, char *error);

/// Prints a result for people, or as one JSON object.
void fm_mapf_print(const fm_mapf_result *result, FILE *file);
void fm_mapf_print_json(const fm_mapf_result *result, FILE *file);
