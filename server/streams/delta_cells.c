// server/streams/delta_cells.c: see delta_cells.h.

#include "server/streams/delta_cells.h"

#include "proto/dense.h"

#include <stdlib.h>

static int compare_cells(const void *a, const void *b)
{
    fm_cell x = *(const fm_cell *)a, y = *(const fm_cell *)b;
    return (x > y) - (x < y);
}

// Adds the cells that changed to those that are listed; all in map order, each once.
static uint32_t list_cells(const fm_scene *scene, const fm_rect *rect, uint64_t first,
                           fm_cell *cells, uint32_t count)
{
    for (uint64_t i = first; i < scene->cell_log.end; i++) {
        fm_cell cell = *(const fm_cell *)fm_tick_log_at(&scene->cell_log, i);
        if (fm_rect_contains(rect, cell)) {
            cells[count++] = cell;
        }
    }
    if (count == 0) {
        return 0;
    }
    qsort(cells, count, sizeof *cells, compare_cells);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (cells[i] != cells[kept - 1]) {
            cells[kept++] = cells[i];
        }
    }
    return kept;
}

// Length of the run of neighbours in a row that look the same.
static uint32_t run_length(const fm_scene *scene, const fm_cell *cells, uint32_t count)
{
    uint32_t y = fm_cell_y(cells[0]);
    uint16_t look = fm_scene_look_at(scene, fm_cell_x(cells[0]), y);
    uint32_t length = 1;
    while (length < count && cells[length] == cells[0] + length && fm_cell_y(cells[length]) == y &&
           fm_scene_look_at(scene, fm_cell_x(cells[length]), y) == look) {
        length++;
    }
    return length;
}

static void pack_cell_runs(fm_body_packer *body, const fm_scene *scene, const fm_cell *cells,
                           uint32_t count)
{
    size_t run_count = 0;
    for (uint32_t i = 0; i < count; i += run_length(scene, &cells[i], count - i)) {
        run_count++;
    }
    fm_body_array(body, "cells", run_count * 4);
    for (uint32_t i = 0; i < count;) {
        uint32_t length = run_length(scene, &cells[i], count - i);
        fm_body_xy(body, cells[i]);
        fm_body_uint(body, length);
        fm_body_uint(body, fm_scene_look_at(scene, fm_cell_x(cells[i]), fm_cell_y(cells[i])));
        i += length;
    }
}

static bool pack_dense_runs(fm_body_packer *body, const fm_scene *scene, const fm_rect *rect,
                            const fm_cell *cells, uint32_t count)
{
    uint8_t *bytes = malloc((size_t)count * FM_DENSE_RUN_SIZE_MAX);
    if (bytes == NULL) {
        return false;
    }
    uint8_t *at = bytes;
    fm_dense_run before = {0};
    for (uint32_t i = 0; i < count; i += before.count) {
        uint32_t x = fm_cell_x(cells[i]), y = fm_cell_y(cells[i]);
        fm_dense_run run = {
            .begin = (uint64_t)(y - rect->y) * rect->width + (x - rect->x),
            .count = run_length(scene, &cells[i], count - i),
            .look = fm_scene_look_at(scene, x, y),
        };
        at = fm_dense_put_run(at, &run, &before);
        before = run;
    }
    fm_body_bytes(body, "runs", bytes, (size_t)(at - bytes));
    free(bytes);
    return true;
}

// The cells that a view uncovers by moving. Cells that the reader did not show are unknown to it.
static uint32_t list_uncovered(const fm_scene *scene, const fm_view_shift *shift, fm_cell *cells)
{
    const fm_rect *to = shift->to;
    uint32_t count = 0;
    for (uint32_t y = to->y; fm_view_shift_moves(shift) && y < to->y + to->height; y++) {
        for (uint32_t x = to->x; x < to->x + to->width; x++) {
            if (!fm_rect_contains(shift->from, fm_cell_at(x, y)) &&
                fm_scene_look_at(scene, x, y) != 0) {
                cells[count++] = fm_cell_at(x, y);
            }
        }
    }
    return count;
}

bool fm_delta_cells_pack(fm_body_packer *body, const fm_scene *scene, const fm_view_shift *shift,
                         uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->cell_log, since);
    size_t count_max = scene->cell_log.end - first;
    if (fm_view_shift_moves(shift)) {
        count_max += (size_t)shift->to->width * shift->to->height;
    }
    if (count_max == 0) {
        return true;
    }
    fm_cell *cells = malloc(count_max * sizeof *cells);
    if (cells == NULL) {
        return false;
    }
    uint32_t uncovered = list_uncovered(scene, shift, cells);
    uint32_t count = list_cells(scene, shift->to, first, cells, uncovered);
    bool packed = true;
    if (count > 0 && body->form.dense) {
        packed = pack_dense_runs(body, scene, shift->to, cells, count);
    } else if (count > 0) {
        pack_cell_runs(body, scene, cells, count);
    }
    free(cells);
    return packed;
}
