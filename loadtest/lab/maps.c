// loadtest/lab/maps.c: see maps.h.

#include "loadtest/lab/maps.h"

#include "clients/maps/maps.h"
#include "loadtest/lab/child.h"
#include "loadtest/lab/mission.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// share/fogmarch/maps beside the folder of this program.
static void find_beside(const fm_lab *lab, char *path)
{
    char self[FM_LAB_PATH_SIZE - 64];
    fm_lab_child_self(lab, self, sizeof self);
    snprintf(path, FM_LAB_PATH_SIZE, "%s/../share/fogmarch/maps", dirname(self));
}

// The folder; `path` has room for FM_LAB_PATH_SIZE bytes. Ends the process with a message when
// there is none.
static void maps_folder(const fm_lab *lab, char *path)
{
    const char *folder = fm_lab_value(lab, "maps");
    if (folder == NULL) {
        folder = getenv("FOGMARCH_MAPS");
    }
    if (folder == NULL || folder[0] == '\0') {
        find_beside(lab, path);
    } else {
        snprintf(path, FM_LAB_PATH_SIZE, "%s", folder);
    }
    if (!is_folder(path)) {
        fm_lab_die(lab, "no folder of maps at %s; --maps or FOGMARCH_MAPS names another", path);
    }
}

// Finds the file of a map, or with `ending` ".map.scen" of its problems: a path that exists, or a
// bare name. `path` has room for FM_LAB_PATH_SIZE bytes. False when there is none.
static bool find(const fm_lab *lab, const char *name, const char *ending, char *path)
{
    snprintf(path, FM_LAB_PATH_SIZE, "%s", name);
    if (is_file(path)) {
        return true;
    }
    // Bare names may come with their ending.
    size_t length = strlen(name), ending_length = strlen(ending);
    bool ends = length > ending_length && strcmp(name + length - ending_length, ending) == 0;
    char pattern[2 * FM_LAB_PATH_SIZE], folder[FM_LAB_PATH_SIZE];
    maps_folder(lab, folder);
    int needed = snprintf(pattern, sizeof pattern, "%s/%s%s%s", folder,
                          strchr(name, '/') == NULL ? "*/" : "", name, ends ? "" : ending);
    glob_t found;
    if (needed >= (int)sizeof pattern || glob(pattern, 0, NULL, &found) != 0) {
        return false;
    }
    bool fits = strlen(found.gl_pathv[0]) < FM_LAB_PATH_SIZE;
    if (fits) {
        strcpy(path, found.gl_pathv[0]);
    }
    globfree(&found);
    return fits;
}

void fm_lab_find_or_die(const fm_lab *lab, const char *name, const char *ending, char *path)
{
    if (!find(lab, name, ending, path)) {
        char folder[FM_LAB_PATH_SIZE];
        maps_folder(lab, folder);
        fm_lab_die(lab, "there is no file %s, and no %s%s in %s", name, name, ending, folder);
    }
}

// The whole file, to be freed.
static char *read_file(const fm_lab *lab, const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        fm_lab_die(lab, "%s: %s", path, strerror(errno));
    }
    *size = (size_t)status.st_size;
    char *bytes = fm_lab_need(lab, malloc(*size + 1));
    if (fread(bytes, 1, *size, file) != *size) {
        fm_lab_die(lab, "%s: cannot be read whole", path);
    }
    fclose(file);
    return bytes;
}

fm_grid *fm_lab_read_map(const fm_lab *lab, const char *path)
{
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid = NULL;
    if (fm_map_load(path, &fm_memory_libc, &grid, fault) != FM_OK) {
        fm_lab_die(lab, "%s", fault);
    }
    return grid;
}

fm_problem *fm_lab_read_problems(const fm_lab *lab, const char *path, const fm_grid *map,
                                 uint32_t *count)
{
    size_t size;
    fm_problem *problems;
    fm_text_error error;
    char *text = read_file(lab, path, &size);
    if (fm_scen_read(text, size, &fm_memory_libc, &problems, count, &error) != FM_OK) {
        fm_lab_die(lab, "%s:%u:%u: %s", path, error.line, error.column, error.message);
    }
    free(text);
    for (uint32_t i = 0; i < *count; i++) {
        if (problems[i].map_width != map->width || problems[i].map_height != map->height) {
            fm_lab_die(lab, "%s: problem %u is for a map of %u x %u, not %u x %u", path, i,
                       problems[i].map_width, problems[i].map_height, map->width, map->height);
        }
    }
    return problems;
}

static uint32_t errands_of_file(const fm_lab *lab, const char *path, const fm_grid *map,
                                fm_lab_errand *errands, uint32_t wanted)
{
    uint32_t count, kept = 0;
    fm_problem *problems = fm_lab_read_problems(lab, path, map, &count);
    fm_random random = fm_random_seed(lab->seed);
    for (uint32_t i = 0; i < wanted && i < count; i++) {
        uint32_t parts = wanted < count ? wanted : count;
        uint32_t first = (uint32_t)((uint64_t)i * count / parts);
        uint32_t end = (uint32_t)((uint64_t)(i + 1) * count / parts);
        uint32_t middle = (uint32_t)(((uint64_t)i * 2 + 1) * count / (2 * (uint64_t)parts));
        const fm_problem *problem = &problems[lab->seed == FM_LAB_SEED_DEFAULT
                                                  ? middle
                                                  : first + fm_random_below(&random, end - first)];
        if (problem->start != problem->goal && !fm_grid_is_blocked(map, problem->start) &&
            !fm_grid_is_blocked(map, problem->goal)) {
            errands[kept++] = (fm_lab_errand){problem->start, problem->goal};
        }
    }
    free(problems);
    return kept;
}

fm_lab_errand *fm_lab_random_errands(const fm_lab *lab, const fm_grid *map, uint64_t seed,
                                     uint32_t count)
{
    uint32_t cell_count;
    fm_lab_errand *errands = fm_lab_need(lab, calloc(count, sizeof *errands));
    fm_cell *cells = fm_lab_need(lab, fm_lab_largest_component(map, &cell_count));
    fm_random random = fm_random_seed(seed);
    if (cell_count < 2) {
        fm_lab_die(lab, "the map has no two cells to walk between");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start = fm_random_below(&random, cell_count);
        uint32_t goal = (start + 1 + fm_random_below(&random, cell_count - 1)) % cell_count;
        errands[i] = (fm_lab_errand){cells[start], cells[goal]};
    }
    free(cells);
    return errands;
}

fm_lab_errand *fm_lab_errands(const fm_lab *lab, const char *map_path, const fm_grid *map,
                              uint32_t *count)
{
    char path[FM_LAB_PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s.scen", map_path);
    if (!is_file(path)) {
        return fm_lab_random_errands(lab, map, lab->seed, *count);
    }
    fm_lab_errand *errands = fm_lab_need(lab, calloc(*count, sizeof *errands));
    *count = errands_of_file(lab, path, map, errands, *count);
    return errands;
}

static const char *map_list(const fm_lab *lab, const char *fallback)
{
    const char *maps = fm_lab_value(lab, "map");
    return maps == NULL ? fallback : maps;
}

void fm_lab_each_map(const fm_lab *lab, const char *fallback, uint32_t count, fm_lab_on_map *play,
                     void *context)
{
    uint64_t seed = lab->seed;
    for (const char *list = map_list(lab, fallback); list != NULL; seed++) {
        char name[FM_LAB_PATH_SIZE], path[FM_LAB_PATH_SIZE];
        list = fm_lab_next_item(list, name, sizeof name);
        fm_lab_find_or_die(lab, name, ".map", path);
        fm_grid *map = fm_lab_read_map(lab, path);
        fm_lab_errand *errands = fm_lab_random_errands(lab, map, seed, count);
        play(context, map, errands);
        free(errands);
        fm_grid_destroy(map);
    }
}

uint32_t fm_lab_map_count(const fm_lab *lab, const char *fallback)
{
    uint32_t count = 1;
    for (const char *list = map_list(lab, fallback); *list != '\0'; list++) {
        count += *list == ',';
    }
    return count;
}
