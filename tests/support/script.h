// script.h: made-up games for tests of the whole simulation: a random world with fog,
// several teams and movement classes, and random commands of every kind before each of its ticks.
// Some of them are refused, which must leave no trace.
//
// The first run of a script is the original: it is written while it is played, tick by tick
// (fm_script_write, fm_script_apply, fm_script_run). Any world may then run the same steps
// (fm_script_apply, fm_tick_replay).

#pragma once

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"

#define FM_SCRIPT_TICKS        120u
#define FM_SCRIPT_COMMANDS_MAX 16u // before one tick
#define FM_SCRIPT_AGENTS_MAX   96u // that are given commands
// Alive: where those that were to die are refused, others are born all the same.
#define FM_SCRIPT_LOOKS_MAX (FM_SCRIPT_AGENTS_MAX + 3 * FM_SCRIPT_TICKS)

typedef struct fm_script_step {
    fm_command commands[FM_SCRIPT_COMMANDS_MAX];
    bool refused[FM_SCRIPT_COMMANDS_MAX]; // in the original run
    uint32_t command_count;
    fm_tick_record record;
    fm_cut *cuts;
} fm_script_step;

typedef struct fm_script {
    fm_world_rules rules;
    fm_generate_options map;
    bool weights; // terrain commands change costs
    fm_script_step steps[FM_SCRIPT_TICKS];
    fm_agent_id agents[FM_SCRIPT_AGENTS_MAX];
    uint32_t agent_count;
    uint32_t team_count;
    // The deadline of the original run passes at a random look at it, for the rest of the tick.
    uint64_t looks, look_every; // look_every 0: never
    bool struck;
} fm_script;

/// A script without commands. Never NULL.
fm_script *fm_script_create(fm_random *random);
void fm_script_destroy(fm_script *script);

/// Any planner of the catalogue that the rules allow.
fm_planner_spec fm_script_random_planner(fm_random *random, const fm_world_rules *rules);

/// The world at its beginning.
fm_world *fm_script_make_world(const fm_script *script);

/// Makes up the commands of the next step of the original run.
void fm_script_write(fm_script *script, fm_world *world, fm_random *random, uint32_t step);

/// Gives a step's commands to a world.
///
/// @param is_original  the run in which the step was written: notes the agents that are spawned
void fm_script_apply(fm_script *script, fm_world *world, uint32_t step, bool is_original);

/// The same for one command of the step.
void fm_script_apply_one(fm_script *script, fm_world *world, uint32_t step, uint32_t command,
                         bool is_original);

/// Adds a command to a step that was written, and takes over its arrays, which were malloc()ed:
/// agents, cells and, where it changes terrain or costs, rectangles.
void fm_script_add(fm_script *script, uint32_t step, const fm_command *command);

/// Runs a step's tick in the original run, with a random budget, and keeps its record.
void fm_script_run(fm_script *script, fm_world *world, fm_random *random, uint32_t step);

/// Runs a step's tick again. Fails the test if its record, its digest, or the digest computed from
/// scratch differs. `what` names the run in messages.
void fm_script_replay(const fm_script *script, fm_world *world, fm_workers *workers, uint32_t step,
                      const char *what);

bool fm_script_is_exclusive(const fm_world *world);

/// Whether a team has costs of its own.
bool fm_script_has_costs(const fm_world *world);

/// Whether an agent is carried.
bool fm_script_has_carried(const fm_world *world);

/// Whether an agent's alias does not follow from its slot, because it has changed its team.
bool fm_script_has_renamed(const fm_world *world);
