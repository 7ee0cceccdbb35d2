// server/methods/cluster_methods.h: world.locate and cluster.status.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_world_locate, fm_take_cluster_status;
