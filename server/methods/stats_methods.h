// server/methods/stats_methods.h: stats: the numbers of the server and of a world.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_stats;

/// With a world the server's part is packed at the same moment as the world's.
fm_reply_fn fm_reply_stats;
