// server/methods/replay_methods.h: replay.*: looking at journals. Whether `world` is a replay was
// checked before, see check_world() in server/methods/methods.c.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_replay_list, fm_take_replay_open, fm_take_replay_seek, fm_take_replay_play,
    fm_take_replay_pause, fm_take_replay_close;
fm_answer_fn fm_answer_replay_seek;
