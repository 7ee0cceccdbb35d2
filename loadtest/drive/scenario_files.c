// loadtest/drive/scenario_files.c: see scenario_files.h.

#include "loadtest/drive/scenario_files.h"

#include "loadtest/drive/beside.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "../share/fogmarch/scenarios"

static int is_scenario(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return size > strlen(".yaml") && strcmp(entry->d_name + size - strlen(".yaml"), ".yaml") == 0;
}

// "blitz, classes, ...", as far as it fits.
static void list_scenarios(const char *folder, char *list, size_t size)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_scenario, alphasort);
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < count; i++) {
        int length = (int)(strlen(entries[i]->d_name) - strlen(".yaml"));
        if (used < size) {
            used += (size_t)snprintf(list + used, size - used, "%s%.*s", i == 0 ? "" : ", ", length,
                                     entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}

fm_status fm_scenario_open(const char *name, fm_scenario *scenario, char *error)
{
    char folder[PATH_MAX], path[2 * PATH_MAX], list[512];
    bool is_bare = name[0] != '\0' && strpbrk(name, "./") == NULL;
    if (!is_bare || !fm_beside_program(FOLDER, folder, sizeof folder)) {
        return fm_scenario_read(name, scenario, error);
    }
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    if (access(path, F_OK) == 0) {
        return fm_scenario_read(path, scenario, error);
    }
    if (access(name, F_OK) == 0) {
        return fm_scenario_read(name, scenario, error);
    }
    list_scenarios(folder, list, sizeof list);
    snprintf(error, FM_SCENARIO_ERROR_SIZE, "%.60s: no such scenario; there are: %s", name,
             list[0] == '\0' ? "none" : list);
    return FM_ERR_IO;
}
