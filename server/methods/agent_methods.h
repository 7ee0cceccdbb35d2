// server/methods/agent_methods.h: team.*, agent.* and terrain.set: the commands that act inside a
// world.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_team_create, fm_take_team_cost, fm_take_agent_spawn, fm_take_agent_remove,
    fm_take_agent_order, fm_take_agent_cancel, fm_take_agent_resume, fm_take_agent_planner,
    fm_take_agent_set, fm_take_agent_place, fm_take_agent_board, fm_take_agent_unboard,
    fm_take_terrain_set;
fm_answer_fn fm_answer_team_create, fm_answer_agent_spawn, fm_answer_agent_remove,
    fm_answer_agent_order, fm_answer_agent_count, fm_answer_terrain_set;
