// server/sessions/resume.c: see resume.h.

#include "server/sessions/resume.h"

#include "core/base/bytes.h"

#include <sodium.h>
#include <string.h>

#define VERSION   1u
#define BODY_SIZE (2u + 8u + 8u + FM_TOKEN_HASH_SIZE)
#define MAC_SIZE  32u
#define VARIANT   sodium_base64_VARIANT_URLSAFE_NO_PADDING

_Static_assert(sodium_base64_ENCODED_LEN(BODY_SIZE + MAC_SIZE, VARIANT) <= FM_RESUME_TEXT_SIZE,
               "room for a resume token");

void fm_resume_key_make(fm_resume_key *key)
{
    randombytes_buf(key->bytes, sizeof key->bytes);
    randombytes_buf(&key->epoch, sizeof key->epoch);
}

// Hides the hash, or reveals it again: the holder of a resume token must not be able to test which
// token it came from.
static void veil(const fm_resume_key *key, const uint8_t place[16],
                 uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    uint8_t mask[FM_TOKEN_HASH_SIZE];
    crypto_generichash(mask, sizeof mask, place, 16, key->bytes, sizeof key->bytes);
    for (uint32_t i = 0; i < FM_TOKEN_HASH_SIZE; i++) {
        hash[i] ^= mask[i];
    }
}

void fm_resume_make(const fm_resume_key *key, const fm_resume *resume,
                    char text[FM_RESUME_TEXT_SIZE])
{
    uint8_t bytes[BODY_SIZE + MAC_SIZE] = {VERSION, resume->has_token};
    fm_bytes_put_u64(bytes + 2, key->epoch);
    fm_bytes_put_u64(bytes + 10, resume->session);
    memcpy(bytes + 18, resume->token_hash, FM_TOKEN_HASH_SIZE);
    veil(key, bytes + 2, bytes + 18);
    crypto_generichash(bytes + BODY_SIZE, MAC_SIZE, bytes, BODY_SIZE, key->bytes,
                       sizeof key->bytes);
    sodium_bin2base64(text, FM_RESUME_TEXT_SIZE, bytes, sizeof bytes, VARIANT);
}

bool fm_resume_read(const fm_resume_key *key, const char *text, size_t size, fm_resume *resume)
{
    uint8_t bytes[BODY_SIZE + MAC_SIZE], mac[MAC_SIZE];
    size_t bytes_size = 0;
    *resume = (fm_resume){.has_token = true};
    if (sodium_base642bin(bytes, sizeof bytes, text, size, NULL, &bytes_size, NULL, VARIANT) != 0 ||
        bytes_size != sizeof bytes || bytes[0] != VERSION) {
        return false;
    }
    resume->has_token = bytes[1] != 0;
    resume->epoch = fm_bytes_get_u64(bytes + 2);
    resume->session = fm_bytes_get_u64(bytes + 10);
    memcpy(resume->token_hash, bytes + 18, FM_TOKEN_HASH_SIZE);
    veil(key, bytes + 2, resume->token_hash);
    crypto_generichash(mac, MAC_SIZE, bytes, BODY_SIZE, key->bytes, sizeof key->bytes);
    return sodium_memcmp(mac, bytes + BODY_SIZE, MAC_SIZE) == 0;
}
