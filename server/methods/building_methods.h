// server/methods/building_methods.h: building.place and building.remove.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_building_place, fm_take_building_remove;
fm_answer_fn fm_answer_building_place, fm_answer_building_remove;
