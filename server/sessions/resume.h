// server/sessions/resume.h: resume tokens: a client that lost its connection comes back with its
// role and seat.
//
//   base64url(version  has_token  epoch  session  hash of the token that was shown, veiled
//             keyed hash of all that)
//
// The server stores nothing for them: the contents are trusted when the keyed hash is right, which
// only a holder of the key can make. A resume token gives what the token behind it gives now, and
// nothing once that has ended. It does not contain that token, nor anything to guess it by; a
// stolen one ends with that token.
//
// The key is made at the start, or kept in the ledger, so that resume tokens outlive the server.
//
// Threads: any; nothing is shared.

#pragma once

#include "server/base/tokens.h"

#define FM_RESUME_KEY_SIZE  32u
#define FM_RESUME_TEXT_SIZE 128u // of a resume token, NUL included

typedef struct fm_resume_key {
    uint8_t bytes[FM_RESUME_KEY_SIZE];
    uint64_t epoch; // of this process: numbers of sessions restart with each
} fm_resume_key;

// What a resume token says.
typedef struct fm_resume {
    bool has_token; // false: a session that needed none
    uint8_t token_hash[FM_TOKEN_HASH_SIZE];
    uint64_t epoch, session; // alias of the one that it was given to
} fm_resume;

/// Makes a new key and epoch, at random.
void fm_resume_key_make(fm_resume_key *key);

/// Makes the text of one, with the key's epoch.
void fm_resume_make(const fm_resume_key *key, const fm_resume *resume,
                    char text[FM_RESUME_TEXT_SIZE]);

/// Compares in constant time.
///
/// @param resume  receives the contents, even when the hash is wrong; all zero but has_token when
///                it cannot be parsed
/// @return false when it was not made with this key
bool fm_resume_read(const fm_resume_key *key, const char *text, size_t size, fm_resume *resume);
