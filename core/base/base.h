// core/base/base.h: the few things every file needs.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The caller must look at the returned fm_status.
#define FM_CHECKED __attribute__((warn_unused_result))

// For the innermost loops of a search, where one body is compiled once for each constant argument.
// Sanitizer builds leave that to the compiler, because they would take too long to compile.
#ifdef FM_VALIDATE_ENABLED
#define FM_INLINE static inline
#else
#define FM_INLINE static inline __attribute__((always_inline))
#endif

// Before a small loop in such a body. Not in sanitizer builds, where it would only make compiling
// slow.
#if defined(FM_VALIDATE_ENABLED) || defined(__SANITIZE_THREAD__)
#define FM_UNROLL
#else
#define FM_UNROLL _Pragma("GCC unroll 8")
#endif

// A function that is compiled twice, for every x86-64 and for those with AVX2 and BMI (from 2013
// on); the loader picks by the processor's features, not by its maker as `arch=haswell` would. For
// loops over words of bits, which gain a tenth. Not in sanitizer builds, nor in builds for one
// named processor.
#if defined(__x86_64__) && !defined(__BMI2__) && !defined(FM_VALIDATE_ENABLED) &&                  \
    !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define FM_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define FM_CLONES
#endif

#define FM_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline uint32_t fm_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Stops the process because the program itself is wrong. On in every build. Never put it on
// anything that a client, a map file or a config file can cause.
#define FM_ASSERT(condition)                                                                       \
    (__builtin_expect(!!(condition), 1) ? (void)0 : fm_panic(__FILE__, __LINE__, #condition))

// The same, for checks that cost more than the work they guard. Debug and asan builds only.
#ifdef FM_VALIDATE_ENABLED
#define FM_VALIDATE(condition) FM_ASSERT(condition)
#else
#define FM_VALIDATE(condition) ((void)sizeof(condition))
#endif

// Marks the line after an exhaustive switch.
#define FM_UNREACHABLE() fm_panic(__FILE__, __LINE__, "unreachable")

_Noreturn void fm_panic(const char *file, int line, const char *condition);
