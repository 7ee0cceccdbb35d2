// server/worlds/live.h: living worlds: how they tick.
//
// Threads: the conductor's, one per world.

#pragma once

#include "server/worlds/host_kind.h"

extern const fm_host_kind fm_live_kind;
