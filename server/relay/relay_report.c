// server/relay/relay_report.c: what a relay says of itself and its worlds. See relay.h.

#include "proto/pack.h"
#include "server/relay/relay_state.h"

#include <stdio.h>
#include <string.h>

struct fm_relay_world *fm_relay_find_world(const fm_relay *relay, uint64_t number)
{
    struct fm_relay_world *world = relay->worlds;
    while (world != NULL && world->host->number != number) {
        world = world->next;
    }
    return world;
}

bool fm_relay_is_ready(const fm_relay *relay)
{
    for (uint32_t i = 0; i < relay->source_count; i++) {
        const struct fm_relay_source *source = &relay->sources[i];
        bool waits = fm_upstream_is_open(source->upstream) && source->reason[0] == '\0';
        if (!source->was_tried || (waits && !source->has_listed)) {
            return false;
        }
    }
    return true;
}

static void add_number(uint64_t numbers[FM_RELAY_RELAYS_MAX], uint32_t *count, uint64_t number)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (numbers[i] == number) {
            return;
        }
    }
    if (*count < FM_RELAY_RELAYS_MAX) {
        numbers[(*count)++] = number;
    }
}

void fm_relay_pack_relays(const fm_relay *relay, msgpack_packer *packer)
{
    uint64_t numbers[FM_RELAY_RELAYS_MAX];
    uint32_t count = 0;
    if (relay != NULL) {
        add_number(numbers, &count, relay->number);
    }
    for (uint32_t i = 0; relay != NULL && i < relay->source_count; i++) {
        for (uint32_t k = 0; k < relay->sources[i].relays_count; k++) {
            add_number(numbers, &count, relay->sources[i].relays[k]);
        }
    }
    fm_pack_text(packer, "relays");
    msgpack_pack_array(packer, count);
    for (uint32_t i = 0; i < count; i++) {
        msgpack_pack_uint64(packer, numbers[i]);
    }
}

static bool is_missing(const struct fm_relay_source *source)
{
    return source->named_ns == UINT64_MAX && !source->has_listed;
}

void fm_relay_describe_missing(const fm_relay *relay, char text[FM_ERROR_TEXT_SIZE])
{
    const struct fm_relay_source *first = NULL;
    uint32_t count = 0;
    text[0] = '\0';
    for (uint32_t i = 0; relay != NULL && i < relay->source_count; i++) {
        const struct fm_relay_source *source = &relay->sources[i];
        first = first == NULL && is_missing(source) ? source : first;
        count += is_missing(source);
    }
    if (first != NULL) {
        char others[32] = "";
        if (count > 1) {
            snprintf(others, sizeof others, ", and %u more", count - 1);
        }
        snprintf(text, FM_ERROR_TEXT_SIZE, "%.64s is not relayed: %.120s%s", first->address,
                 first->reason[0] == '\0' ? "it has not answered yet" : first->reason, others);
    }
}

const char *fm_relay_owner(const fm_relay *relay, const fm_host *host)
{
    const struct fm_relay_world *world =
        host == NULL ? NULL : fm_relay_find_world(relay, host->number);
    return world == NULL ? relay->hub->config->relay_of : relay->sources[world->used].address;
}

// Entries of world.info that differ from the world's own server.
static bool pack_own(const char *key, size_t size, const fm_host_summary *summary,
                     msgpack_packer *packer)
{
    if (size == 4 && memcmp(key, "tick", size) == 0) {
        fm_pack_key_uint(packer, "tick", summary->tick);
    } else if (size == 6 && memcmp(key, "paused", size) == 0) {
        fm_pack_key_bool(packer, "paused", summary->paused);
    } else if (size == 7 && memcmp(key, "tick_hz", size) == 0) {
        fm_pack_key_real(packer, "tick_hz", summary->tick_hz);
    } else if (size == 6 && memcmp(key, "agents", size) == 0) {
        fm_pack_key_uint(packer, "agents", summary->agents);
    } else if (size == 5 && memcmp(key, "teams", size) == 0) {
        fm_pack_key_uint(packer, "teams", summary->teams);
    } else if (size == 6 && memcmp(key, "halted", size) == 0) {
        fm_pack_key_text(packer, "halted", summary->halted);
    } else if (size == 6 && memcmp(key, "digest", size) == 0) {
        fm_pack_key_digest(packer, 0); // the relay does not know it
    } else {
        return false;
    }
    return true;
}

bool fm_relay_pack_info(const fm_relay *relay, const fm_host *host, const fm_host_summary *summary,
                        msgpack_packer *packer)
{
    const struct fm_relay_world *world = fm_relay_find_world(relay, host->number);
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t at = 0;
    bool is_map = world != NULL &&
                  msgpack_unpack_next(&unpacked, world->info.data, world->info.size, &at) ==
                      MSGPACK_UNPACK_SUCCESS &&
                  unpacked.data.type == MSGPACK_OBJECT_MAP;
    if (is_map) {
        msgpack_pack_map(packer, unpacked.data.via.map.size);
    }
    for (uint32_t i = 0; is_map && i < unpacked.data.via.map.size; i++) {
        const msgpack_object_kv *entry = &unpacked.data.via.map.ptr[i];
        bool is_text = entry->key.type == MSGPACK_OBJECT_STR;
        if (!is_text ||
            !pack_own(entry->key.via.str.ptr, entry->key.via.str.size, summary, packer)) {
            msgpack_pack_object(packer, entry->key);
            msgpack_pack_object(packer, entry->val);
        }
    }
    msgpack_unpacked_destroy(&unpacked);
    return is_map;
}

fm_relay_numbers fm_relay_count(const fm_relay *relay)
{
    fm_relay_numbers numbers = {
        .sources = relay->source_count,
        .lost_total = relay->counts.breaks,
        .keyframes = relay->counts.keyframes,
        .deltas = relay->counts.deltas,
        .held_size = relay->counts.held_size,
        .pauses = relay->counts.pauses,
        .bytes_in = relay->bytes_in_before,
    };
    for (uint32_t i = 0; i < relay->source_count; i++) {
        numbers.sources_connected += fm_upstream_is_open(relay->sources[i].upstream);
    }
    for (const struct fm_relay_world *world = relay->worlds; world != NULL && world->feed != NULL;
         world = world->next) {
        numbers.views += fm_feed_view_count(world->feed);
        numbers.feeds_lost += !fm_feed_is_well(world->feed);
        numbers.bytes_in += fm_feed_bytes_in(world->feed);
    }
    return numbers;
}
