// tests/sim/book.h: what clients know of the worlds, from the answers that any of them got. Random
// commands take their numbers from it, so that many of them make sense. It may be out of date.

#pragma once

#include "tests/sim/client.h"

#define SIM_BOOK_WORLDS_MAX 16u
#define SIM_BOOK_AGENTS_MAX 256u
#define SIM_BOOK_GIVEN_MAX  4096u
#define SIM_BOOK_TOKENS_MAX 32u
#define SIM_BOOK_TOKEN_SIZE 257u

// Acknowledged orders: `count` of them from `first` on.
typedef struct sim_given {
    uint64_t first;
    uint32_t count;
} sim_given;

typedef struct sim_world {
    uint64_t number;
    uint32_t width, height;
    uint32_t team_count;
    uint64_t agents[SIM_BOOK_AGENTS_MAX]; // ids, some of them dead
    uint32_t agent_count;
    uint32_t building_last;
    sim_given given[SIM_BOOK_GIVEN_MAX];
    uint32_t given_count;
    bool is_kept; // no client destroys it
} sim_world;

typedef struct sim_token {
    char secret[SIM_BOOK_TOKEN_SIZE];
    uint64_t number; // for token.revoke; 0: a configured one
} sim_token;

typedef struct sim_book {
    sim_world worlds[SIM_BOOK_WORLDS_MAX];
    uint32_t world_count;
    sim_token tokens[SIM_BOOK_TOKENS_MAX];
    uint32_t token_count;
    const char *admin_token; // NULL: none is needed
} sim_book;

extern sim_book sim_known;

/// @return NULL when it is not in the book, or was dropped from it
sim_world *sim_book_world(uint64_t number);

/// A random one; NULL: there is none.
sim_world *sim_book_draw_world(void);

/// Notes what an answer says.
void sim_book_learn(const sim_request *request, const msgpack_object *result);
