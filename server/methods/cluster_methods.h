// server/methods/cluster_methods.h: world.locate and cluster.status, .move, .drain, .undrain.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_world_locate, fm_take_cluster_status, fm_take_cluster_move,
    fm_take_cluster_drain, fm_take_cluster_undrain;

/// Packs `seeds`: nodes for clients to try when this one dies, or does not have their world.
void fm_pack_seeds(msgpack_packer *packer, const fm_hub *hub);
