// clients/c/silence.h: whether a node of a cluster is still there. One that is frozen, or without
// power, does not disconnect.
//
// After FM_QUIET_MS without a byte a client asks its node with a ping; if nothing comes for
// FM_NODE_PATIENCE_MS after that, it counts as gone. While a large request is on its way the ping
// waits behind it, so the client waits, too.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FM_QUIET_MS         1000u
#define FM_NODE_PATIENCE_MS 2000u  // for one node to answer
#define FM_LARGE_REQUEST    65536u // bytes; a larger one may take long to send
#define FM_SLOW_LINE        64u    // bytes in a millisecond that a line carries at least

typedef struct fm_silence {
    uint64_t bytes;    // that had come when it was last looked at
    uint64_t since_ms; // something came then, or the node was asked
    bool is_asked;
} fm_silence;

typedef enum fm_silence_step {
    FM_SILENCE_WAIT,
    FM_SILENCE_ASK,  // now
    FM_SILENCE_GONE, // the node
} fm_silence_step;

/// Begins with a node. @param bytes  that have come from it, a count that only grows
static inline fm_silence fm_silence_begin(uint64_t bytes, uint64_t now_ms)
{
    return (fm_silence){.bytes = bytes, .since_ms = now_ms};
}

/// When to look next, if nothing comes.
static inline uint64_t fm_silence_due_ms(const fm_silence *silence)
{
    return silence->since_ms + (silence->is_asked ? FM_NODE_PATIENCE_MS : FM_QUIET_MS);
}

/// What to do. Read first what has come, also after a long time without reading.
static inline fm_silence_step fm_silence_look(fm_silence *silence, uint64_t bytes, uint64_t now_ms)
{
    if (bytes != silence->bytes) {
        *silence = fm_silence_begin(bytes, now_ms);
    }
    if (now_ms < fm_silence_due_ms(silence)) {
        return FM_SILENCE_WAIT;
    }
    if (silence->is_asked) {
        return FM_SILENCE_GONE;
    }
    silence->is_asked = true;
    silence->since_ms = now_ms;
    return FM_SILENCE_ASK;
}
