// core/search/wave.c: see wave.h.

#include "core/search/wave.h"

static bool push(fm_wave *wave, fm_cell cell, const fm_memory *memory)
{
    if (!FM_RESERVE_FROM(memory, wave->queue, wave->capacity, wave->tail + 1)) {
        wave->exhausted = true;
        return false;
    }
    wave->queue[wave->tail++] = cell;
    fm_bitmap_set(&wave->reached, cell);
    return true;
}

fm_status fm_wave_begin(fm_wave *wave, const fm_view *view, fm_cell from, const fm_memory *memory)
{
    if (wave->reached.words == NULL &&
        fm_bitmap_init(&wave->reached, view->width, view->height, true, memory) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < wave->tail; i++) {
        fm_bitmap_reset(&wave->reached, wave->queue[i]);
    }
    wave->view = view;
    wave->head = wave->tail = wave->depth = 0;
    wave->exhausted = false;
    bool pushed = push(wave, from, memory);
    wave->ring_end = wave->tail;
    return pushed ? FM_OK : FM_ERR_NO_MEMORY;
}

void fm_wave_begin_also(fm_wave *wave, fm_cell from, const fm_memory *memory)
{
    FM_ASSERT(wave->head == 0);
    if (!fm_bitmap_get(&wave->reached, from) && push(wave, from, memory)) {
        wave->ring_end = wave->tail;
    }
}

void fm_wave_fini(fm_wave *wave, const fm_memory *memory)
{
    fm_bitmap_fini(&wave->reached, memory);
    fm_memory_release(memory, wave->queue, wave->capacity * sizeof *wave->queue);
    *wave = (fm_wave){0};
}

fm_cell fm_wave_take(fm_wave *wave)
{
    if (wave->head == wave->tail) {
        return FM_CELL_NONE;
    }
    if (wave->head == wave->ring_end) {
        wave->depth += 1;
        wave->ring_end = wave->tail;
    }
    return wave->queue[wave->head++];
}

void fm_wave_spread(fm_wave *wave, fm_cell cell, const fm_memory *memory)
{
    // Straight steps first: of two cells at the same number of steps the straight one is better.
    uint32_t moves = fm_view_moves(wave->view, cell);
    for (uint32_t i = 0; i < FM_DIRECTION_COUNT; i++) {
        uint32_t d = i < 4 ? 2 * i : 2 * i - 7;
        if (moves >> d & 1) {
            fm_cell neighbour = fm_cell_step(cell, d);
            if (!fm_bitmap_get(&wave->reached, neighbour) && !push(wave, neighbour, memory)) {
                return;
            }
        }
    }
}
