// server/process/variables.c: see variables.h.

#include "server/process/variables.h"

#include "core/base/name_hint.h"

#include <ctype.h>
#include <string.h>

#define PREFIX "FOGMARCH_"

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

// Offers the names of all keys' variables and the others.
static void offer_all(fm_name_hint *hint)
{
    char known[FM_VARIABLE_NAME_SIZE];
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        fm_variable_name(&fm_config_keys[i], known);
        fm_name_hint_offer(hint, known);
    }
    for (uint32_t i = 0; i < FM_COUNT_OF(others); i++) {
        fm_name_hint_offer(hint, others[i]);
    }
}

void fm_variables_find_unknown(const char *const *environment,
                               void (*tell)(void *context, const char *name, const char *meant),
                               void *context)
{
    char name[256];
    fm_name_hint hint;
    for (const char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        if (is_of_a_container(name)) {
            continue;
        }
        fm_name_hint_begin(&hint, name);
        offer_all(&hint);
        if (strcmp(name, hint.name) != 0) {
            tell(context, name, fm_name_hint_best(&hint));
        }
    }
}
