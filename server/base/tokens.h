// server/base/tokens.h: which secret gives which role and seat.
//
// A token is a secret of 16 to 256 printable characters. What is kept of it is its BLAKE2b hash of
// 256 bits, made with libsodium: a token should be random (openssl rand -hex 32), then a fast hash
// is as good as a slow one, and guessing cannot keep the loop busy.
//
// A file or variable has one token a line (a variable may use ';' instead of line ends):
//
//   admin TOKEN
//   observer TOKEN
//   debug TOKEN
//   player WORLD TEAM TOKEN      a seat: one team of the world of that name
//   TOKEN                        admin
//
// TOKEN may be "blake2b:" and 64 hexadecimal digits, so that the secret itself need not be there:
//   printf %s "$TOKEN" | b2sum -l 256
// Empty lines and lines that begin with '#' are skipped.
//
// Threads: the event loop; parsing also before it starts.

#pragma once

#include "proto/protocol.h"

#define FM_TOKEN_MIN           16u  // bytes of a token
#define FM_TOKEN_MAX           256u // bytes of a token; the protocol takes no longer ones
#define FM_TOKEN_HASH_SIZE     32u
#define FM_TOKENS_CONFIGURED   256u         // tokens in a file or variable
#define FM_TOKENS_CREATED_MAX  4096u        // valid tokens made by token.create
#define FM_TOKEN_FILE_SIZE_MAX (128u << 10) // bytes
#define FM_TOKEN_TEXT_SIZE     44u          // of a token that was made here, NUL included
#define FM_SEAT_WORLD_MAX      64u          // bytes; FM_WORLD_NAME_MAX

// What a player may act for. All zero for the other roles.
typedef struct fm_seat {
    char world[FM_SEAT_WORLD_MAX + 1]; // name; empty: see number
    uint64_t number;                   // of the world, with an empty name
    uint32_t team;
} fm_seat;

// One token and what it gives.
typedef struct fm_grant {
    uint8_t hash[FM_TOKEN_HASH_SIZE];
    fm_role role;
    fm_seat seat;
    uint64_t number;    // of one that was made by token.create; 0 for configured ones
    uint64_t expires_s; // since 1970: when it expires; 0: never
    uint64_t used_s;    // since 1970: when hello took it last; 0: never
} fm_grant;

// Configured tokens, as a plain value.
typedef struct fm_grants {
    uint32_t count;
    fm_grant list[FM_TOKENS_CONFIGURED];
} fm_grants;

/// Makes libsodium ready. Before anything else here, once. @return false when that fails
bool fm_tokens_start(void);

/// Reads the lines of a file or variable. Not one byte of a token is ever repeated in an error.
///
/// @param separator  ends a line, besides '\n'
/// @param grants     receives them, after those that it holds; left alone on failure
/// @param error      receives what is wrong, with the line; room for `error_size`
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_LIMIT
FM_CHECKED fm_status fm_grants_parse(fm_grants *grants, const char *text, size_t size,
                                     char separator, char *error, size_t error_size);

/// The same, from a file.
///
/// @param may_be_empty  a file without a token is no error
/// @return also FM_ERR_IO
FM_CHECKED fm_status fm_grants_read_file(fm_grants *grants, const char *path, bool may_be_empty,
                                         char *error, size_t error_size);

/// Adds the token of the role admin. @return NULL, or what is wrong with it: a static text
const char *fm_grants_add_admin(fm_grants *grants, const char *token, size_t size);

// All valid tokens.
typedef struct fm_tokens {
    fm_grants configured;
    fm_grant *created; // owned
    uint32_t created_count, created_capacity;
    uint64_t last; // number given out
} fm_tokens;

void fm_tokens_fini(fm_tokens *tokens);

/// Whether a session needs a token at all.
bool fm_tokens_are_needed(const fm_tokens *tokens);

/// What a token gives. Compares with every token, whatever was found, so that timing reveals
/// nothing. @return NULL when it is not valid
const fm_grant *fm_tokens_find(const fm_tokens *tokens, const char *token, size_t size);

/// What the token with this hash gives. NULL when it is no longer valid
const fm_grant *fm_tokens_find_hash(const fm_tokens *tokens,
                                    const uint8_t hash[FM_TOKEN_HASH_SIZE]);

/// Takes in a token that was made before a restart.
/// @return FM_OK, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_tokens_restore(fm_tokens *tokens, const fm_grant *grant);

/// Whether the token with this hash is still valid.
bool fm_tokens_have(const fm_tokens *tokens, const uint8_t hash[FM_TOKEN_HASH_SIZE]);

// The hashes of all valid tokens, in order: to ask for many in a row.
typedef struct fm_token_index {
    const fm_tokens *tokens; // unchanged while it is used
    const uint8_t **hashes;  // owned; NULL: there was no memory, and each question looks at all
    uint32_t count;
} fm_token_index;

void fm_token_index_init(fm_token_index *index, const fm_tokens *tokens);

void fm_token_index_fini(fm_token_index *index);

/// As fm_tokens_have(), in fewer steps. Its time depends on the hash: not for what a stranger
/// shows.
bool fm_token_index_has(const fm_token_index *index, const uint8_t hash[FM_TOKEN_HASH_SIZE]);

/// Draws a random token that is not registered yet. @param token  receives the secret
void fm_tokens_draw(fm_grant *grant, char token[FM_TOKEN_TEXT_SIZE]);

/// Replaces all tokens that were made; keeps their times of last use.
///
/// @param grants  by their numbers; those that have expired are left out
/// @return FM_OK, FM_ERR_LIMIT: some are left out, or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_tokens_replace(fm_tokens *tokens, const fm_grant *grants, uint32_t count,
                                       uint64_t now_s);

/// Makes a random token.
///
/// @param grant  role and seat of it; receives hash and number
/// @param token  receives the secret, which is kept nowhere else
/// @return FM_OK, FM_ERR_LIMIT or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_tokens_create(fm_tokens *tokens, fm_grant *grant,
                                      char token[FM_TOKEN_TEXT_SIZE]);

/// Ends a token that was made. @return false when there is none of this number
bool fm_tokens_revoke(fm_tokens *tokens, uint64_t number);

/// Notes that the token with this hash was used.
void fm_tokens_note_use(fm_tokens *tokens, const uint8_t hash[FM_TOKEN_HASH_SIZE], uint64_t now_s);

/// Number of a token that was made and has expired. @return 0: there is none
uint64_t fm_tokens_expired(const fm_tokens *tokens, uint64_t now_s);

/// Whether there is a token of that number that was made.
bool fm_tokens_have_number(const fm_tokens *tokens, uint64_t number);

/// World of the seat of a token that was made; 0: it has none, or there is no such token.
uint64_t fm_tokens_world_of(const fm_tokens *tokens, uint64_t number);

/// Ends the tokens that were made for seats of a world.
void fm_tokens_end_world(fm_tokens *tokens, uint64_t world);
