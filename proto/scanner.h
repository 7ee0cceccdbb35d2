// proto/scanner.h: measures a msgpack message before anything is allocated for it.
//
// The scanner walks over raw bytes and finds where a message ends. It holds no more than a stack of
// counters, one per open array or map, and refuses a message as soon as its bytes, its depth or the
// elements that its headers promise pass the limits, however the bytes are cut: it can stop and
// continue at any byte. What it accepts, msgpack-c can unpack; only then is it unpacked.
//
//   FM_SCAN_MORE ── bytes ──> FM_SCAN_DONE ── fm_scanner_reset ──> FM_SCAN_MORE
//        └───────── bytes ──> FM_SCAN_BAD, FM_SCAN_LARGE   (for good: disconnect)
//
// Format: https://github.com/msgpack/msgpack/blob/master/spec.md

#pragma once

#include "core/base/base.h"

#define FM_SCANNER_DEPTH_MAX 32u

typedef struct fm_scan_limits {
    uint32_t size_max;     // bytes of a message
    uint32_t depth_max;    // arrays and maps inside each other, 1..FM_SCANNER_DEPTH_MAX
    uint32_t elements_max; // values of all arrays and maps (a map entry counts 2)
} fm_scan_limits;

/// 64 KiB would do for play; the default allows orders and maps of 64 Ki agents: 1 MiB, depth 16,
/// 262144 elements.
extern const fm_scan_limits fm_scan_limits_default;

typedef enum fm_scan_state {
    FM_SCAN_MORE,  // the message continues
    FM_SCAN_DONE,  // the message is whole
    FM_SCAN_BAD,   // byte 0xc1, which msgpack does not use
    FM_SCAN_LARGE, // a limit was passed; scanner.reason says which
} fm_scan_state;

typedef struct fm_scanner {
    fm_scan_limits limits;
    fm_scan_state state;
    const char *reason;                  // static text for FM_SCAN_BAD and FM_SCAN_LARGE
    uint64_t size;                       // bytes of this message so far
    uint64_t elements;                   // promised by this message's headers so far
    uint32_t depth;                      // open arrays and maps
    uint32_t left[FM_SCANNER_DEPTH_MAX]; // values still to come in each
    uint64_t skip;                       // bytes of a text or binary still to come
    uint32_t header_size;                // bytes of the header still to come
    uint64_t header_value;               // what of it came so far, big-endian
    uint8_t header_byte;                 // first byte of the value whose header is being read
} fm_scanner;

/// @param limits  depth_max is asserted to be in range
void fm_scanner_init(fm_scanner *scanner, const fm_scan_limits *limits);

/// Begins the next message after FM_SCAN_DONE.
void fm_scanner_reset(fm_scanner *scanner);

/// Takes bytes up to the end of the message at most.
///
/// @return how many were taken; all of them while the state is FM_SCAN_MORE
size_t fm_scanner_feed(fm_scanner *scanner, const uint8_t *bytes, size_t size);
