// clients/cli/views/pulse.h: what happens in a view per second, and how long its last ticks took.
//
// fm_pulse_note() takes the load of each delta; fm_pulse_turn() closes a period of
// about a second and makes rates of what was counted in it.

#pragma once

#include <fogmarch/mirror.h>

#define FM_PULSE_TICKS 128u // tick times kept

typedef struct fm_pulse {
    uint64_t tick_us[FM_PULSE_TICKS]; // ring of the newest
    uint64_t tick_count;              // ever noted
    uint64_t expansions, moves;       // ever noted

    uint64_t begin_ms; // of the period under way
    uint64_t begin_tick, begin_expansions, begin_moves, begin_bytes;

    double ticks_per_second; // of the last period
    double moves_per_second;
    double expansions_per_second;
    double bytes_per_second;
} fm_pulse;

/// Monotonic milliseconds.
uint64_t fm_pulse_clock_ms(void);

/// @param tick      ticks completed
/// @param bytes_in  received since the connection was made
void fm_pulse_init(fm_pulse *pulse, uint64_t tick, uint64_t bytes_in);

/// After a delta that carried a load.
void fm_pulse_note(fm_pulse *pulse, const fm_mirror_load *load);

/// Closes the period. Parameters as above.
void fm_pulse_turn(fm_pulse *pulse, uint64_t tick, uint64_t bytes_in);

/// The tick time below which `permille` of the last ticks stayed, in milliseconds; 0 without ticks.
double fm_pulse_tick_ms(const fm_pulse *pulse, uint32_t permille);
