// core/base/random.h: a small seeded generator, the same on every machine (xoshiro256**, Blackman
// and Vigna 2018, seeded through splitmix64). For maps, tests and load, never for secrets.

#pragma once

#include "core/base/base.h"

typedef struct fm_random {
    uint64_t state[4];
} fm_random;

static inline uint64_t fm_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}

static inline fm_random fm_random_seed(uint64_t seed)
{
    fm_random random;
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        random.state[i] = fm_mix64(seed);
    }
    return random;
}

static inline uint64_t fm_random_next(fm_random *random)
{
    uint64_t *s = random->state;
    uint64_t product = s[1] * 5;
    uint64_t result = ((product << 7) | (product >> 57)) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/// A number in 0..bound-1, each as likely as the others. bound >= 1.
static inline uint32_t fm_random_below(fm_random *random, uint32_t bound)
{
    // Lemire 2019: multiply and keep the high half; reject the few that would make some results too
    // likely.
    uint64_t product = (uint64_t)(uint32_t)fm_random_next(random) * bound;
    if ((uint32_t)product < bound) {
        uint32_t floor = -bound % bound;
        while ((uint32_t)product < floor) {
            product = (uint64_t)(uint32_t)fm_random_next(random) * bound;
        }
    }
    return (uint32_t)(product >> 32);
}

/// Mixes one more value into a digest.
static inline uint64_t fm_digest_mix(uint64_t digest, uint64_t value)
{
    return fm_mix64(digest ^ (value + 0x9e3779b97f4a7c15u + (digest << 6)));
}
