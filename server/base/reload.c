// server/base/reload.c: see reload.h.

#include "server/base/reload.h"

#include <string.h>

// Not here: what is read once (addresses, files, threads, descriptors), and query_budget_ms, which
// the conductor reads.
static const char *const names[] = {
    "sessions_max",
    "sessions_per_address_max",
    "http_connections_max",
    "subscriptions_per_token_max",
    "subscriptions_per_address_max",
    "auth_failures_per_minute",
    "rate_connections",
    "rate_messages",
    "rate_bytes",
    "rate_orders",
    "rate_queries",
    "rate_edits",
    "hello_timeout_s",
    "slow_reader_timeout_s",
    "resume_s",
    "message_timeout_s",
    "idle_timeout_s",
    "session_unsent_max",
    "message_size_max",
    "message_depth_max",
    "message_elements_max",
    "uploads_max_bytes",
    "http_origins",
    "worlds_max",
    "world_memory_max",
    "replays_max",
    "tick_hz",
    "budget_ms",
    "overload",
    "planner",
    "inbox_commands_max",
    "session_queries_max",
    "log_level",
    "grace_s",
};

bool fm_reload_is_possible(const fm_config_key *key)
{
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        if (strcmp(names[i], key->name) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t fm_reload_take(fm_config *config, const fm_config *fresh,
                        void (*on_change)(const fm_config_key *key, const char *text, bool taken))
{
    char before[FM_CONFIG_TEXT_MAX + 1], after[FM_CONFIG_TEXT_MAX + 1];
    char error[FM_CONFIG_ERROR_SIZE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        const fm_config_key *key = &fm_config_keys[i];
        fm_config_format(config, key, before, sizeof before);
        fm_config_format(fresh, key, after, sizeof after);
        if (strcmp(before, after) == 0) {
            continue;
        }
        bool taken = fm_reload_is_possible(key);
        if (taken) {
            fm_status status = fm_config_set(config, key, after, error);
            FM_ASSERT(status == FM_OK); // its own format
            count++;
        }
        on_change(key, after, taken);
    }
    return count;
}
