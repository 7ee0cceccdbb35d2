// clients/cli/views/pulse.c: see pulse.h.

#include "clients/cli/views/pulse.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t fm_pulse_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void fm_pulse_init(fm_pulse *pulse, uint64_t tick, uint64_t bytes_in)
{
    *pulse = (fm_pulse){
        .begin_ms = fm_pulse_clock_ms(),
        .begin_tick = tick,
        .begin_bytes = bytes_in,
    };
}

void fm_pulse_note(fm_pulse *pulse, const fm_mirror_load *load)
{
    pulse->tick_us[pulse->tick_count++ % FM_PULSE_TICKS] = load->tick_us;
    pulse->expansions += load->expansions;
    pulse->moves += load->moved;
}

void fm_pulse_turn(fm_pulse *pulse, uint64_t tick, uint64_t bytes_in)
{
    uint64_t now_ms = fm_pulse_clock_ms();
    if (now_ms == pulse->begin_ms) {
        return;
    }
    double seconds = (double)(now_ms - pulse->begin_ms) / 1000;
    pulse->ticks_per_second = (double)(tick - pulse->begin_tick) / seconds;
    pulse->moves_per_second = (double)(pulse->moves - pulse->begin_moves) / seconds;
    pulse->expansions_per_second = (double)(pulse->expansions - pulse->begin_expansions) / seconds;
    pulse->bytes_per_second = (double)(bytes_in - pulse->begin_bytes) / seconds;
    pulse->begin_ms = now_ms;
    pulse->begin_tick = tick;
    pulse->begin_moves = pulse->moves;
    pulse->begin_expansions = pulse->expansions;
    pulse->begin_bytes = bytes_in;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

double fm_pulse_tick_ms(const fm_pulse *pulse, uint32_t permille)
{
    uint64_t sorted[FM_PULSE_TICKS];
    size_t count = pulse->tick_count < FM_PULSE_TICKS ? pulse->tick_count : FM_PULSE_TICKS;
    if (count == 0) {
        return 0;
    }
    memcpy(sorted, pulse->tick_us, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return (double)sorted[(count - 1) * permille / 1000] / 1000;
}
