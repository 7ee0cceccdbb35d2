// clients/cli/views/snapshot.h: one look at a world, taken from the keyframe of a short
// subscription.

#pragma once

#include <fogmarch/mirror.h>
#include "clients/cli/base/cli.h"
#include "clients/cli/base/parse.h"

/// Takes a snapshot, or dies.
///
/// @param team    whose view; 0: everything
/// @param rect    part of the map; NULL: all of it
/// @param mirror  receives the view, to be released with fm_mirror_fini()
void fm_snapshot_take(fm_cli *cli, uint64_t world, uint64_t team, const fm_rect *rect,
                      fm_mirror *mirror);

/// Adds the ids of a team's agents (team 0: everybody's), smallest first.
void fm_snapshot_agents(const fm_cli *cli, const fm_mirror *mirror, uint64_t team,
                        fm_id_list *list);

/// Replaces the looks of a mirror's cells by where units of a class fit: ground where one may stand
/// with its north-west corner, wall elsewhere. For a private mirror.
void fm_snapshot_fit(fm_mirror *mirror, const fm_movement_class *movement);

/// The cell nearest to `near` of the largest connected part of the free cells, not in an enclosed
/// pocket. FM_CELL_NONE when no cell is free.
fm_cell fm_snapshot_mainland(const fm_cli *cli, const fm_mirror *mirror, fm_cell near);

/// The free cells that can be reached from `from` by straight steps, `from` included even if it is
/// not free; nearest first, at most `count_max`.
///
/// @param from   inside the mirror's rectangle
/// @param cells  receives them, to be released with free()
/// @return how many
uint32_t fm_snapshot_flood(const fm_cli *cli, const fm_mirror *mirror, fm_cell from,
                           uint32_t count_max, fm_cell **cells);
