// core/base/noise.h: smooth noise from integers, the same on every machine.
//
// Value noise: each point of a lattice has a random value, between them a smoothstep blends the
// four around. Octaves of half the wavelength and half the height are added for detail.

#pragma once

#include "core/base/base.h"

#define FM_NOISE_ONE 32768 // noise lies in -FM_NOISE_ONE..FM_NOISE_ONE - 1

static inline int32_t fm_noise_lattice(uint32_t seed, uint32_t x, uint32_t y)
{
    uint32_t h = seed + x * 0x9e3779b1u + y * 0x85ebca77u;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (int32_t)((h ^ h >> 15) >> 16) - FM_NOISE_ONE;
}

static inline int32_t fm_noise_smoothstep(uint32_t fraction)
{
    return (int32_t)((uint64_t)fraction * fraction * (3 * FM_NOISE_ONE - 2 * fraction) >> 30);
}

static inline int32_t fm_noise_blend(int32_t a, int32_t b, int32_t weight)
{
    return a + (int32_t)((int64_t)(b - a) * weight / FM_NOISE_ONE);
}

/// Noise of one wavelength.
///
/// @param x, y   -2^24 .. 2^24
/// @param shift  the wavelength is 2^shift, 1..24
static inline int32_t fm_noise_at(uint32_t seed, int64_t x, int64_t y, uint32_t shift)
{
    uint32_t ux = (uint32_t)(x + (1 << 24)), uy = (uint32_t)(y + (1 << 24));
    uint32_t mask = (1u << shift) - 1;
    int32_t wx = fm_noise_smoothstep((uint32_t)((uint64_t)(ux & mask) * FM_NOISE_ONE >> shift));
    int32_t wy = fm_noise_smoothstep((uint32_t)((uint64_t)(uy & mask) * FM_NOISE_ONE >> shift));
    ux >>= shift;
    uy >>= shift;
    int32_t north =
        fm_noise_blend(fm_noise_lattice(seed, ux, uy), fm_noise_lattice(seed, ux + 1, uy), wx);
    int32_t south = fm_noise_blend(fm_noise_lattice(seed, ux, uy + 1),
                                   fm_noise_lattice(seed, ux + 1, uy + 1), wx);
    return fm_noise_blend(north, south, wy);
}
