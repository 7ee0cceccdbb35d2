// server/process/variables.c: see variables.h.

#include "server/process/variables.h"

#include "core/base/edit_distance.h"

#include <ctype.h>
#include <string.h>

#define PREFIX       "FOGMARCH_"
#define DISTANCE_MAX 2u // of a name to the one that is suggested for it

// Variables that are no keys: the server's, the clients', and those that are set for all tests.
static const char *const others[] = {
    "FOGMARCH_CONFIG",  "FOGMARCH_TOKEN",  "FOGMARCH_TOKENS",
    "FOGMARCH_CONNECT", "FOGMARCH_TLS_CA", // clients
    "FOGMARCH_MAPS",    "FOGMARCH_SEED",   // tests
};

void fm_variable_name(const fm_config_key *key, char *name)
{
    snprintf(name, FM_VARIABLE_NAME_SIZE, PREFIX "%s", key->name);
    for (char *letter = name; *letter != '\0'; letter++) {
        *letter = (char)toupper((unsigned char)*letter);
    }
}

static bool is_of_a_container(const char *name)
{
    const char *rest = name + strlen(PREFIX);
    return strcmp(rest, "PORT") == 0 || strncmp(rest, "PORT_", 5) == 0 ||
           strncmp(rest, "SERVICE_", 8) == 0;
}

// The name of a key's or another variable that is most like this one, and how far it is.
static uint32_t find_nearest(const char *name, char *nearest)
{
    char known[FM_VARIABLE_NAME_SIZE];
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < FM_CONFIG_KEY_COUNT + FM_COUNT_OF(others); i++) {
        if (i < FM_CONFIG_KEY_COUNT) {
            fm_variable_name(&fm_config_keys[i], known);
        } else {
            snprintf(known, sizeof known, "%s", others[i - FM_CONFIG_KEY_COUNT]);
        }
        uint32_t distance = fm_edit_distance(name, known);
        if (distance < best) {
            best = distance;
            snprintf(nearest, FM_VARIABLE_NAME_SIZE, "%s", known);
        }
    }
    return best;
}

void fm_variables_find_unknown(const char *const *environment,
                               void (*tell)(void *context, const char *name, const char *meant),
                               void *context)
{
    char name[256], nearest[FM_VARIABLE_NAME_SIZE];
    for (const char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        if (is_of_a_container(name)) {
            continue;
        }
        uint32_t distance = find_nearest(name, nearest);
        if (distance > 0) {
            tell(context, name, distance <= DISTANCE_MAX ? nearest : NULL);
        }
    }
}
