// server/sessions/hub.c: see hub.h.

#include "server/sessions/hub.h"

#include "server/sessions/session.h"

#include <stdlib.h>
#include <string.h>

const uint64_t fm_hub_size_edges[FM_TALLY_EDGES] = {
    256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304,
};
const uint64_t fm_hub_tick_edges[FM_TALLY_EDGES] = {1, 2, 3, 5, 10, 20, 50, 100};

// @return where it is, or the next one
static uint32_t place_of_session(const fm_hub *hub, uint64_t number)
{
    uint32_t low = 0, high = hub->session_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hub->sessions[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

fm_session *fm_hub_find_session(const fm_hub *hub, uint64_t number)
{
    uint32_t i = place_of_session(hub, number);
    bool found = i < hub->session_count && hub->sessions[i]->number == number;
    return found ? hub->sessions[i] : NULL;
}

// Aliases are random: their low bits say which chain.
fm_session *fm_hub_find_session_by_alias(const fm_hub *hub, uint64_t alias)
{
    fm_session *session = hub->by_alias[alias % FM_HUB_ALIAS_HEADS];
    while (session != NULL && session->alias != alias) {
        session = session->next_of_alias;
    }
    return session;
}

static fm_host *find_replay(const fm_hub *hub, uint64_t number)
{
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        if (hub->replays[i]->number == number) {
            return hub->replays[i];
        }
    }
    return NULL;
}

fm_host *fm_hub_find_host(const fm_hub *hub, uint64_t number)
{
    uint32_t low = 0, high = hub->host_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hub->hosts[middle]->number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < hub->host_count && hub->hosts[low]->number == number;
    return found ? hub->hosts[low] : find_replay(hub, number);
}

fm_host *fm_hub_find_host_by_name(const fm_hub *hub, const char *name, size_t size)
{
    for (uint32_t i = 0; i < hub->host_count; i++) {
        const char *other = hub->hosts[i]->name;
        if (strlen(other) == size && memcmp(other, name, size) == 0) {
            return hub->hosts[i];
        }
    }
    return NULL;
}

bool fm_hub_add_session(fm_hub *hub, fm_session *session)
{
    if (!fm_reserve(&fm_memory_libc, (void **)&hub->sessions, &hub->session_capacity,
                    hub->session_count + 1, sizeof(fm_session *))) {
        return false;
    }
    fm_session **head = &hub->by_alias[session->alias % FM_HUB_ALIAS_HEADS];
    session->next_of_alias = *head;
    *head = session;
    hub->sessions[hub->session_count++] = session;
    return true;
}

bool fm_hub_reserve_host(fm_hub *hub)
{
    return FM_RESERVE_FROM(&fm_memory_libc, hub->hosts, hub->host_capacity,
                           hub->host_count + hub->creation_count + 1);
}

void fm_hub_add_host(fm_hub *hub, fm_host *host)
{
    FM_ASSERT(hub->host_count < hub->host_capacity);
    uint32_t i = hub->host_count++;
    for (; i > 0 && hub->hosts[i - 1]->number > host->number; i--) {
        hub->hosts[i] = hub->hosts[i - 1];
    }
    hub->hosts[i] = host;
}

void fm_hub_drop_session(fm_hub *hub, const fm_session *session)
{
    fm_session **link = &hub->by_alias[session->alias % FM_HUB_ALIAS_HEADS];
    while (*link != session) {
        link = &(*link)->next_of_alias;
    }
    *link = session->next_of_alias;
    uint32_t i = place_of_session(hub, session->number);
    FM_ASSERT(i < hub->session_count && hub->sessions[i] == session);
    memmove(&hub->sessions[i], &hub->sessions[i + 1],
            (hub->session_count - i - 1) * sizeof(fm_session *));
    hub->session_count--;
}

void fm_hub_drop_host(fm_hub *hub, const fm_host *host)
{
    for (uint32_t i = 0; i < hub->host_count; i++) {
        if (hub->hosts[i] == host) {
            memmove(&hub->hosts[i], &hub->hosts[i + 1],
                    (hub->host_count - i - 1) * sizeof(fm_host *));
            hub->host_count--;
            return;
        }
    }
}

void fm_hub_add_replay(fm_hub *hub, fm_host *host)
{
    FM_ASSERT(hub->replay_count < FM_REPLAYS_MAX);
    hub->replays[hub->replay_count++] = host;
}

void fm_hub_drop_replay(fm_hub *hub, const fm_host *host)
{
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        if (hub->replays[i] == host) {
            memmove(&hub->replays[i], &hub->replays[i + 1],
                    (hub->replay_count - i - 1) * sizeof(fm_host *));
            hub->replay_count--;
            return;
        }
    }
}

fm_conductor *fm_hub_conductor(const fm_hub *hub, const fm_host *host)
{
    return fm_host_is_replay(host) ? hub->replayer : hub->conductor;
}

void fm_hub_count_ending(fm_hub *hub, const char *reason)
{
    uint32_t i = 0;
    while (i < hub->ending_count && strcmp(hub->endings[i].reason, reason) != 0) {
        i++;
    }
    if (i == FM_ENDINGS_MAX) {
        i--; // the last one counts all that have no row
    } else if (i == hub->ending_count) {
        hub->endings[hub->ending_count++] = (fm_ending){.reason = reason};
    }
    hub->endings[i].count++;
}
