// tests/sim/actors.h: the clients of a run, and what they do turn by turn. The first is the auditor
// (audit.h), which is prompt and never disturbed.

#pragma once

#include "tests/sim/client.h"
#include "tests/sim/plan.h"

#define SIM_ACTORS_MAX 16u

typedef struct sim_actor {
    sim_client client;
    sim_source turn;
    bool is_prompt, is_hostile;
    bool is_open; // its connection
    bool is_used; // client was opened at least once
} sim_actor;

extern sim_actor sim_actors[SIM_ACTORS_MAX];
extern uint32_t sim_actor_count;

/// Before everything else. `plan` lasts.
void sim_actors_prepare(const sim_plan *plan);

/// Opens an actor's connection and sends hello.
void sim_actor_open(sim_actor *actor, bool is_auditor);

/// The clients begin to take turns.
void sim_actors_begin(void);

/// Ends the turns. Some clients disconnect; the others read, over quick links.
void sim_actors_calm(void);

/// From now on the server may disconnect any client.
void sim_actors_expect_end(void);

/// Prints which client waits for which answers.
void sim_actors_describe(void);

/// Whether no client waits for an answer.
bool sim_actors_are_quiet(void);

// The last answer that the auditor got.
typedef struct sim_last_answer {
    uint64_t id;
    fm_status status;
    uint64_t worlds[64]; // of world.list
    uint32_t world_count;
} sim_last_answer;

extern sim_last_answer sim_auditor_heard;

extern uint64_t sim_answers_count;
