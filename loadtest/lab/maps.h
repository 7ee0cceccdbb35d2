// loadtest/lab/maps.h: benchmark maps and problems, found and read.
//
// The folder of maps is --maps, else FOGMARCH_MAPS in the environment, else share/fogmarch/maps
// beside the folder of this program; a build tree has a link there to ../shared/maps beside the
// source tree. A map is given as a path, or as a bare name such as brc202d, which is then looked up
// one folder below (MAPS/*/brc202d.map).

#pragma once

#include "loadtest/lab/lab.h"

#include "core/map/map_file.h"

#define FM_LAB_PATH_SIZE 4096u

// For the options of an experiment that reads maps.
#define FM_LAB_OPTION_MAPS                                                                         \
    {                                                                                              \
        "maps", "DIR",                                                                             \
            "folder of the benchmark maps; else FOGMARCH_MAPS, else\n"                             \
            "../share/fogmarch/maps from this program's folder"                                    \
    }

/// The file of a map, or with `ending` ".map.scen" of its problems, by a path that exists or by its
/// bare name. `path` has room for FM_LAB_PATH_SIZE bytes. Ends the process with a message when
/// there is none.
void fm_lab_find_or_die(const fm_lab *lab, const char *name, const char *ending, char *path);

/// Reads a map, or ends the process. The caller destroys it.
fm_grid *fm_lab_read_map(const fm_lab *lab, const char *path);

/// Reads a problem file whose problems fit a map, or ends the process. The caller frees them.
fm_problem *fm_lab_read_problems(const fm_lab *lab, const char *path, const fm_grid *map,
                                 uint32_t *count);

// A start and a goal.
typedef struct fm_lab_errand {
    fm_cell start, goal;
} fm_lab_errand;

/// Up to `count` errands on a map: problems of the file beside it (its name and ".scen"), where
/// there is one: one from each of `count` equal parts, with the seed 1 the middle one, else drawn.
/// Where there is none, drawn from the largest component. Fewer when the file holds fewer. Both
/// ends are free and differ. The caller frees them.
fm_lab_errand *fm_lab_errands(const fm_lab *lab, const char *map_path, const fm_grid *map,
                              uint32_t *count);

/// `count` errands drawn from the largest component. The caller frees them.
fm_lab_errand *fm_lab_random_errands(const fm_lab *lab, const fm_grid *map, uint64_t seed,
                                     uint32_t count);

/// What an experiment does on a map.
typedef void fm_lab_on_map(void *context, const fm_grid *map, const fm_lab_errand *errands);

/// Does it on each map of --map, or of `fallback`, with `count` errands that are drawn for each map
/// from a seed of its own.
void fm_lab_each_map(const fm_lab *lab, const char *fallback, uint32_t count, fm_lab_on_map *play,
                     void *context);

/// How many maps --map, or `fallback`, names.
uint32_t fm_lab_map_count(const fm_lab *lab, const char *fallback);

// The twelve game maps on which the literature on real-time search reports.
#define FM_LAB_TWELVE_MAPS                                                                         \
    "brc202d,orz702d,orz900d,ost000a,ost000t,ost100d,"                                             \
    "ArcticStation,Enigma,Inferno,JungleSiege,Ramparts,WheelofWar"
