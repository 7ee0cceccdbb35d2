// core/generate/generate_skirmish.h: the skirmish map, for generate.c only. See generate.h for what
// it promises.

#pragma once

#include "core/generate/generate.h"

/// Fills a grid of open floor.
///
/// @param players  FM_GENERATE_PLAYERS_MIN..FM_GENERATE_PLAYERS_MAX (asserted)
/// @param grid     sides from FM_SKIRMISH_SIDE_MIN on (asserted); half filled on failure
/// @param bases    receives `players` cells
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_generate_skirmish(uint32_t players, fm_random *random, fm_grid *grid,
                                          fm_cell *bases);
