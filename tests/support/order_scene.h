// order_scene.h: a small world for tests of orders, and a list of how orders ended.

#pragma once

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/commands/order_command.h"
#include "core/generate/generate.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"

#define SCENE_BUDGET 20000u // expansions per tick, unless a test says otherwise

struct order_scene {
    fm_world *world;
    uint32_t budget;
    fm_order_ended ended[256]; // all so far
    uint32_t ended_count;
};

/// A world from rows of text, '#' blocked, or an open one (rows NULL); teams 1 and 2. The test
/// destroys scene.world.
struct order_scene scene_make(const char *const *rows, uint32_t width, uint32_t height,
                              bool omniscient);

/// A generated map in fog with sides of `side`, random sensing and a random budget; teams 1 and 2.
struct order_scene scene_make_fog(fm_random *random, fm_generator generator, uint32_t side,
                                  bool exclusive);

/// Spawns an agent. Fails the test when that fails.
fm_agent_id scene_spawn(struct order_scene *scene, uint32_t team, uint32_t x, uint32_t y);

/// Removes an agent, which must be there.
void scene_remove(struct order_scene *scene, fm_agent_id agent);

/// Gives an order, whose kind and agents the command names.
fm_command_result scene_give(struct order_scene *scene, fm_command command);

/// Gives one agent an order that must be accepted. Returns the order's id.
uint64_t scene_order(struct order_scene *scene, fm_agent_id agent, fm_command command);

/// The same for a move.
uint64_t scene_move_to(struct order_scene *scene, fm_agent_id agent, uint32_t x, uint32_t y,
                       bool queue);

void scene_wall(struct order_scene *scene, fm_rect wall);

/// Runs ticks, and adds the orders that end to the list.
void scene_run(struct order_scene *scene, uint32_t ticks);

fm_agent_report scene_look(const struct order_scene *scene, fm_agent_id agent);

/// How an order ended. Fails the test when it did not end exactly once.
fm_order_ended scene_ending(const struct order_scene *scene, uint64_t id);

/// A random cell that is not blocked.
fm_cell scene_free_cell(const struct order_scene *scene, fm_random *random);

/// Steps between two cells on open ground.
uint32_t cells_apart(fm_cell a, fm_cell b);
