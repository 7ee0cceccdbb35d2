// server/base/tokens.c: see tokens.h.

#include "server/base/tokens.h"

#include "core/base/memory.h"
#include "server/base/settings_read.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_PREFIX   "blake2b:"
#define WORDS_MAX     4u
#define TEAM_MAX      65536u
#define CREATED_BYTES 32u // of randomness

_Static_assert(FM_TOKEN_TEXT_SIZE ==
                   sodium_base64_ENCODED_LEN(CREATED_BYTES,
                                             sodium_base64_VARIANT_URLSAFE_NO_PADDING),
               "room for a token that was made");

bool fm_tokens_start(void)
{
    return sodium_init() >= 0;
}

static void hash_token(const char *token, size_t size, uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    crypto_generichash(hash, FM_TOKEN_HASH_SIZE, (const unsigned char *)token, size, NULL, 0);
}

// ---- lines --------------------------------------------------------------------------------------

struct word {
    const char *text;
    size_t size;
};

static bool is_hash(const struct word *word)
{
    return word->size >= strlen(HASH_PREFIX) &&
           memcmp(word->text, HASH_PREFIX, strlen(HASH_PREFIX)) == 0;
}

// @return NULL, or what is wrong
static const char *read_token(const struct word *word, fm_grant *grant)
{
    if (is_hash(word)) {
        size_t skipped = strlen(HASH_PREFIX), size = 0;
        bool read = sodium_hex2bin(grant->hash, FM_TOKEN_HASH_SIZE, word->text + skipped,
                                   word->size - skipped, NULL, &size, NULL) == 0;
        return read && size == FM_TOKEN_HASH_SIZE && word->size - skipped == 2 * size
                   ? NULL
                   : "blake2b: is followed by 64 hexadecimal digits";
    }
    if (word->size < FM_TOKEN_MIN || word->size > FM_TOKEN_MAX) {
        return "a token has 16 to 256 bytes";
    }
    for (size_t i = 0; i < word->size; i++) {
        if (word->text[i] <= ' ' || word->text[i] > '~') {
            return "a token consists of printable ASCII characters without spaces";
        }
    }
    hash_token(word->text, word->size, grant->hash);
    return NULL;
}

static bool is_word(const struct word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(text, word->text, word->size) == 0;
}

static bool read_role(const struct word *word, fm_role *role)
{
    for (fm_role r = FM_ROLE_PLAYER; r <= FM_ROLE_ADMIN; r++) {
        if (is_word(word, fm_role_name(r))) {
            *role = r;
            return true;
        }
    }
    return false;
}

// As world.create demands: no world can have another name.
static bool is_world_name(const struct word *word)
{
    for (size_t i = 0; i < word->size; i++) {
        char c = word->text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_digit = c >= '0' && c <= '9';
        if (!is_letter && !is_digit && c != '.' && c != '_' && c != '-') {
            return false;
        }
    }
    return true;
}

static const char *read_seat(const struct word *world, const struct word *team, fm_seat *seat)
{
    if (world->size > FM_SEAT_WORLD_MAX) {
        return "the name of a world has 64 bytes at most";
    }
    if (!is_world_name(world)) {
        return "the name of a world has letters, digits, '.', '_' and '-' only";
    }
    memcpy(seat->world, world->text, world->size);
    uint64_t number = 0;
    for (size_t i = 0; i < team->size && number <= TEAM_MAX; i++) {
        char digit = team->text[i];
        if (digit < '0' || digit > '9') {
            return "a team is a number";
        }
        number = number * 10 + (uint64_t)(digit - '0');
    }
    if (number < 1 || number > TEAM_MAX) {
        return "a team is a number from 1 to 65536";
    }
    seat->team = (uint32_t)number;
    return NULL;
}

static const char *read_words(const struct word *words, uint32_t count, fm_grant *grant)
{
    if (count == 1) {
        grant->role = FM_ROLE_ADMIN;
        return read_token(&words[0], grant);
    }
    if (!read_role(&words[0], &grant->role)) {
        return "a line is ROLE TOKEN, player WORLD TEAM TOKEN, or TOKEN";
    }
    if (grant->role != FM_ROLE_PLAYER) {
        return count == 2 ? read_token(&words[1], grant) : "ROLE TOKEN is wanted";
    }
    if (count != 4) {
        return "player WORLD TEAM TOKEN is wanted";
    }
    const char *wrong = read_seat(&words[1], &words[2], &grant->seat);
    return wrong == NULL ? read_token(&words[3], grant) : wrong;
}

// Splits at blanks. @return how many words; WORDS_MAX + 1: more than there may be
static uint32_t split(const char *line, size_t size, struct word words[WORDS_MAX])
{
    uint32_t count = 0;
    for (size_t i = 0; i < size;) {
        if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
            i++;
            continue;
        }
        size_t begin = i;
        while (i < size && line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            i++;
        }
        if (count == WORDS_MAX) {
            return WORDS_MAX + 1;
        }
        words[count++] = (struct word){.text = line + begin, .size = i - begin};
    }
    return count;
}

static bool has_hash(const fm_grants *grants, const uint8_t *hash)
{
    for (uint32_t i = 0; i < grants->count; i++) {
        if (memcmp(grants->list[i].hash, hash, FM_TOKEN_HASH_SIZE) == 0) {
            return true;
        }
    }
    return false;
}

// @return NULL, or what is wrong
static const char *read_line(const char *line, size_t size, fm_grants *grants)
{
    struct word words[WORDS_MAX];
    uint32_t count = split(line, size, words);
    if (count == 0 || words[0].text[0] == '#') {
        return NULL;
    }
    if (count > WORDS_MAX) {
        return "too many words";
    }
    fm_grant grant = {.role = FM_ROLE_NONE};
    const char *wrong = read_words(words, count, &grant);
    if (wrong != NULL) {
        return wrong;
    }
    if (has_hash(grants, grant.hash)) {
        return "this token stands in a line before";
    }
    if (grants->count == FM_TOKENS_CONFIGURED) {
        return "more than 256 tokens";
    }
    grants->list[grants->count++] = grant;
    return NULL;
}

static fm_status parse_lines(fm_grants *grants, const char *text, size_t size, char separator,
                             char *error, size_t error_size)
{
    uint32_t count_before = grants->count, line = 1;
    bool has_mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; // of editors, for UTF-8
    for (size_t begin = has_mark ? 3 : 0; begin < size; line++) {
        size_t end = begin;
        while (end < size && text[end] != '\n' && text[end] != separator) {
            end++;
        }
        const char *wrong = read_line(text + begin, end - begin, grants);
        if (wrong != NULL) {
            snprintf(error, error_size, "line %u: %s", line, wrong);
            grants->count = count_before;
            return FM_ERR_BAD_VALUE;
        }
        begin = end + 1;
    }
    return FM_OK;
}

fm_status fm_grants_parse(fm_grants *grants, const char *text, size_t size, char separator,
                          char *error, size_t error_size)
{
    uint32_t count_before = grants->count;
    fm_status status = parse_lines(grants, text, size, separator, error, error_size);
    if (status == FM_OK && grants->count == count_before) {
        snprintf(error, error_size, "there is no token in it");
        return FM_ERR_BAD_VALUE;
    }
    return status;
}

fm_status fm_grants_read_file(fm_grants *grants, const char *path, bool may_be_empty, char *error,
                              size_t error_size)
{
    char *text = malloc(FM_TOKEN_FILE_SIZE_MAX + 1);
    size_t size = 0;
    const char *wrong = text == NULL
                            ? "out of memory"
                            : fm_settings_read(path, text, FM_TOKEN_FILE_SIZE_MAX + 1, &size);
    fm_status status = FM_ERR_IO;
    if (wrong != NULL) {
        snprintf(error, error_size, "%s", wrong);
    } else if (size > FM_TOKEN_FILE_SIZE_MAX) {
        snprintf(error, error_size, "larger than %u bytes", FM_TOKEN_FILE_SIZE_MAX);
        status = FM_ERR_LIMIT;
    } else {
        status = (may_be_empty ? parse_lines : fm_grants_parse)(grants, text, size, '\n', error,
                                                                error_size);
    }
    if (text != NULL) {
        sodium_memzero(text, FM_TOKEN_FILE_SIZE_MAX + 1);
        free(text);
    }
    return status;
}

const char *fm_grants_add_admin(fm_grants *grants, const char *token, size_t size)
{
    FM_ASSERT(grants->count < FM_TOKENS_CONFIGURED);
    fm_grant grant = {.role = FM_ROLE_ADMIN};
    const char *wrong = read_token(&(struct word){.text = token, .size = size}, &grant);
    if (wrong == NULL) {
        grants->list[grants->count++] = grant;
    }
    return wrong;
}

// ---- valid tokens -----------------------------------------------------------------------

void fm_tokens_fini(fm_tokens *tokens)
{
    free(tokens->created);
    tokens->created = NULL;
    tokens->created_count = tokens->created_capacity = 0;
}

bool fm_tokens_are_needed(const fm_tokens *tokens)
{
    return tokens->configured.count > 0;
}

_Static_assert(FM_TOKEN_HASH_SIZE == crypto_verify_32_BYTES, "hashes are compared as 32 bytes");

// Takes the same time whatever differs. Hello asks it for each of up to 4,352 tokens: 30 us, and
// 316 with sodium_memcmp(), which goes byte by byte.
static bool is_same_hash(const uint8_t a[FM_TOKEN_HASH_SIZE], const uint8_t b[FM_TOKEN_HASH_SIZE])
{
    return crypto_verify_32(a, b) == 0;
}

const fm_grant *fm_tokens_find_hash(const fm_tokens *tokens, const uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    const fm_grant *found = NULL;
    for (uint32_t i = 0; i < tokens->configured.count; i++) {
        const fm_grant *grant = &tokens->configured.list[i];
        found = is_same_hash(grant->hash, hash) ? grant : found;
    }
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        const fm_grant *grant = &tokens->created[i];
        found = is_same_hash(grant->hash, hash) ? grant : found;
    }
    return found;
}

const fm_grant *fm_tokens_find(const fm_tokens *tokens, const char *token, size_t size)
{
    uint8_t hash[FM_TOKEN_HASH_SIZE];
    hash_token(token, size, hash);
    return fm_tokens_find_hash(tokens, hash);
}

bool fm_tokens_have(const fm_tokens *tokens, const uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    return fm_tokens_find_hash(tokens, hash) != NULL;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(*(const uint8_t *const *)a, *(const uint8_t *const *)b, FM_TOKEN_HASH_SIZE);
}

void fm_token_index_init(fm_token_index *index, const fm_tokens *tokens)
{
    uint32_t count = tokens->configured.count + tokens->created_count;
    *index = (fm_token_index){.tokens = tokens,
                              .hashes = count == 0 ? NULL : malloc(count * sizeof *index->hashes)};
    if (index->hashes == NULL) {
        return;
    }
    for (uint32_t i = 0; i < tokens->configured.count; i++) {
        index->hashes[index->count++] = tokens->configured.list[i].hash;
    }
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        index->hashes[index->count++] = tokens->created[i].hash;
    }
    qsort(index->hashes, index->count, sizeof *index->hashes, compare_hashes);
}

void fm_token_index_fini(fm_token_index *index)
{
    free(index->hashes);
    *index = (fm_token_index){.count = 0};
}

bool fm_token_index_has(const fm_token_index *index, const uint8_t hash[FM_TOKEN_HASH_SIZE])
{
    return index->hashes == NULL ? fm_tokens_have(index->tokens, hash)
                                 : bsearch(&hash, index->hashes, index->count,
                                           sizeof *index->hashes, compare_hashes) != NULL;
}

static bool reserve_created(fm_tokens *tokens)
{
    return fm_reserve(&fm_memory_libc, (void **)&tokens->created, &tokens->created_capacity,
                      tokens->created_count + 1, sizeof *tokens->created);
}

void fm_tokens_draw(fm_grant *grant, char token[FM_TOKEN_TEXT_SIZE])
{
    uint8_t bytes[CREATED_BYTES];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(token, FM_TOKEN_TEXT_SIZE, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
    hash_token(token, strlen(token), grant->hash);
}

fm_status fm_tokens_replace(fm_tokens *tokens, const fm_grant *grants, uint32_t count,
                            uint64_t now_s)
{
    fm_grant *fresh = count == 0 ? NULL : malloc(count * sizeof *fresh);
    uint32_t fresh_count = 0, left_out = 0, k = 0;
    if (fresh == NULL && count > 0) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (grants[i].expires_s != 0 && grants[i].expires_s <= now_s) {
            continue;
        }
        if (fresh_count == FM_TOKENS_CREATED_MAX) {
            left_out++;
            continue;
        }
        while (k < tokens->created_count && tokens->created[k].number < grants[i].number) {
            k++;
        }
        bool known = k < tokens->created_count && tokens->created[k].number == grants[i].number;
        fresh[fresh_count] = grants[i];
        fresh[fresh_count++].used_s = known ? tokens->created[k].used_s : 0;
    }
    free(tokens->created);
    tokens->created = fresh;
    tokens->created_count = fresh_count;
    tokens->created_capacity = count;
    return left_out > 0 ? FM_ERR_LIMIT : FM_OK;
}

fm_status fm_tokens_create(fm_tokens *tokens, fm_grant *grant, char token[FM_TOKEN_TEXT_SIZE])
{
    if (tokens->created_count == FM_TOKENS_CREATED_MAX) {
        return FM_ERR_LIMIT;
    }
    if (!reserve_created(tokens)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_tokens_draw(grant, token);
    grant->number = ++tokens->last;
    tokens->created[tokens->created_count++] = *grant;
    return FM_OK;
}

fm_status fm_tokens_restore(fm_tokens *tokens, const fm_grant *grant)
{
    if (tokens->created_count == FM_TOKENS_CREATED_MAX) {
        return FM_ERR_LIMIT;
    }
    if (!reserve_created(tokens)) {
        return FM_ERR_NO_MEMORY;
    }
    tokens->created[tokens->created_count++] = *grant;
    tokens->last = grant->number > tokens->last ? grant->number : tokens->last;
    return FM_OK;
}

static void drop_created(fm_tokens *tokens, uint32_t index)
{
    tokens->created[index] = tokens->created[--tokens->created_count];
}

bool fm_tokens_revoke(fm_tokens *tokens, uint64_t number)
{
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        if (tokens->created[i].number == number) {
            drop_created(tokens, i);
            return true;
        }
    }
    return false;
}

void fm_tokens_note_use(fm_tokens *tokens, const uint8_t hash[FM_TOKEN_HASH_SIZE], uint64_t now_s)
{
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        if (is_same_hash(tokens->created[i].hash, hash)) {
            tokens->created[i].used_s = now_s;
        }
    }
}

uint64_t fm_tokens_expired(const fm_tokens *tokens, uint64_t now_s)
{
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        uint64_t expires_s = tokens->created[i].expires_s;
        if (expires_s != 0 && expires_s <= now_s) {
            return tokens->created[i].number;
        }
    }
    return 0;
}

bool fm_tokens_have_number(const fm_tokens *tokens, uint64_t number)
{
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        if (tokens->created[i].number == number) {
            return true;
        }
    }
    return false;
}

uint64_t fm_tokens_world_of(const fm_tokens *tokens, uint64_t number)
{
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        if (tokens->created[i].number == number) {
            return tokens->created[i].seat.number;
        }
    }
    return 0;
}

void fm_tokens_end_world(fm_tokens *tokens, uint64_t world)
{
    for (uint32_t i = tokens->created_count; i-- > 0;) {
        if (tokens->created[i].seat.number == world) {
            drop_created(tokens, i);
        }
    }
}
