// server/sessions/ticket.c: see ticket.h.

#include "server/sessions/ticket.h"

#include "core/base/bytes.h"

#include <sodium.h>
#include <string.h>

#define VERSION    1u
#define HAS_TOKEN  1u
#define IS_CREATED 2u
#define PLACE_SIZE 32u // nonce that veils the hash: all bytes before the name
#define MAC_SIZE   32u
#define BODY_MAX   (PLACE_SIZE + 1u + FM_SEAT_WORLD_MAX + FM_TOKEN_HASH_SIZE)
#define VARIANT    sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(sodium_base64_ENCODED_LEN(BODY_MAX + MAC_SIZE, VARIANT) <= FM_TICKET_TEXT_SIZE,
               "room for a ticket");

// As in resume.c: the holder must not be able to test which token it came from.
static void veil(const uint8_t *key, const uint8_t *place, uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    uint8_t mask[FM_TOKEN_HASH_SIZE];
    crypto_generichash(mask, sizeof mask, place, PLACE_SIZE, key, FM_SECRET_KEY_SIZE);
    for (uint32_t i = 0; i < FM_TOKEN_HASH_SIZE; i++) {
        hash[i] ^= mask[i];
    }
}

static void sign(const uint8_t *key, const uint8_t *body, size_t size, uint8_t mac[MAC_SIZE])
{
    crypto_generichash(mac, MAC_SIZE, body, size, key, FM_SECRET_KEY_SIZE);
}

// Bytes 3 to 7 are random: two tickets of one second for one seat would have the same nonce, and
// the two together would tell how the hashes of their tokens differ.
void fm_ticket_make(const fm_secrets *secrets, const fm_ticket *ticket,
                    char text[FM_TICKET_TEXT_SIZE])
{
    FM_ASSERT(secrets->count > 0);
    const uint8_t *key = secrets->keys[0].ticket;
    uint8_t bytes[BODY_MAX + MAC_SIZE] = {VERSION};
    size_t name_size = strlen(ticket->seat.world);
    bytes[1] =
        (uint8_t)((ticket->has_token ? HAS_TOKEN : 0) | (ticket->is_created ? IS_CREATED : 0));
    bytes[2] = (uint8_t)ticket->role;
    randombytes_buf(bytes + 3, 5);
    fm_bytes_put_u64(bytes + 8, ticket->seat.team);
    fm_bytes_put_u64(bytes + 16, ticket->seat.number);
    fm_bytes_put_u64(bytes + 24, ticket->expires_s);
    bytes[PLACE_SIZE] = (uint8_t)name_size;
    memcpy(bytes + PLACE_SIZE + 1, ticket->seat.world, name_size);
    size_t size = PLACE_SIZE + 1 + name_size;
    memcpy(bytes + size, ticket->token_hash, FM_TOKEN_HASH_SIZE);
    veil(key, bytes, bytes + size);
    size += FM_TOKEN_HASH_SIZE;
    sign(key, bytes, size, bytes + size);
    sodium_bin2base64(text, FM_TICKET_TEXT_SIZE, bytes, size + MAC_SIZE, VARIANT);
}

static bool read_with(const uint8_t *key, const uint8_t *bytes, size_t size, fm_ticket *ticket)
{
    uint8_t mac[MAC_SIZE];
    size_t body_size = size - MAC_SIZE, name_size = bytes[PLACE_SIZE];
    sign(key, bytes, body_size, mac);
    if (sodium_memcmp(mac, bytes + body_size, MAC_SIZE) != 0) {
        return false;
    }
    if (bytes[0] != VERSION || name_size > FM_SEAT_WORLD_MAX ||
        body_size != PLACE_SIZE + 1 + name_size + FM_TOKEN_HASH_SIZE || bytes[2] > FM_ROLE_ADMIN) {
        return false; // of a newer program
    }
    *ticket = (fm_ticket){.has_token = (bytes[1] & HAS_TOKEN) != 0,
                          .is_created = (bytes[1] & IS_CREATED) != 0,
                          .role = (fm_role)bytes[2],
                          .seat = {.team = (uint32_t)fm_bytes_get_u64(bytes + 8),
                                   .number = fm_bytes_get_u64(bytes + 16)},
                          .expires_s = fm_bytes_get_u64(bytes + 24)};
    memcpy(ticket->seat.world, bytes + PLACE_SIZE + 1, name_size);
    memcpy(ticket->token_hash, bytes + PLACE_SIZE + 1 + name_size, FM_TOKEN_HASH_SIZE);
    veil(key, bytes, ticket->token_hash);
    return true;
}

bool fm_ticket_read(const fm_secrets *secrets, const char *text, size_t size, uint64_t now_s,
                    fm_ticket *ticket)
{
    uint8_t bytes[BODY_MAX + MAC_SIZE];
    size_t bytes_size = 0;
    if (sodium_base642bin(bytes, sizeof bytes, text, size, NULL, &bytes_size, NULL, VARIANT) != 0 ||
        bytes_size < PLACE_SIZE + 1 + FM_TOKEN_HASH_SIZE + MAC_SIZE) {
        return false;
    }
    for (uint32_t i = 0; i < secrets->count; i++) {
        if (read_with(secrets->keys[i].ticket, bytes, bytes_size, ticket)) {
            return now_s < ticket->expires_s && ticket->expires_s <= now_s + 2 * FM_TICKET_LASTS_S;
        }
    }
    return false;
}
