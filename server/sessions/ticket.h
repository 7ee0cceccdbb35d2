// server/sessions/ticket.h: tickets: a client that is sent to another process (a node that has the
// world now, or a relay) shows one there in place of its token.
//
//   base64url(version  flags  role  team  world  expires  name of the seat's world
//             hash of the token behind it, veiled  keyed hash of all that)
//
// A ticket says which role and seat its holder has, and is valid for FM_TICKET_LASTS_S,
// or for less where the node does not know the token behind it. A holder of
// the key can check it without knowing the token behind it. A token made by token.create is known
// to all nodes, and a ticket is invalid once that token has ended.
//
// Threads: any; nothing is shared.

#pragma once

#include "server/base/tokens.h"
#include "server/sessions/secret.h"

#define FM_TICKET_LASTS_S   60u  // until it must be shown; clocks of nodes may differ by as much
#define FM_TICKET_TEXT_SIZE 256u // NUL included

typedef struct fm_ticket {
    bool has_token;  // else its holder needed none
    bool is_created; // the token was made by token.create
    fm_role role;
    fm_seat seat; // of a player
    uint8_t token_hash[FM_TOKEN_HASH_SIZE];
    uint64_t expires_s; // since 1970
} fm_ticket;

/// Makes its text. `secrets` has one at least (asserted).
void fm_ticket_make(const fm_secrets *secrets, const fm_ticket *ticket,
                    char text[FM_TICKET_TEXT_SIZE]);

/// Compares in constant time.
///
/// @param now_s   since 1970
/// @param ticket  receives its contents @return false: not signed with a key of ours, or expired
bool fm_ticket_read(const fm_secrets *secrets, const char *text, size_t size, uint64_t now_s,
                    fm_ticket *ticket);
