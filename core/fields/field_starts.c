// core/fields/field_starts.c: see field_starts.h.

#include "core/fields/field_starts.h"

static bool reserve(fm_field_starts *starts, uint32_t count, uint32_t words,
                    const fm_memory *memory)
{
    return FM_RESERVE_FROM(memory, starts->cells, starts->capacity, count) &&
           FM_RESERVE_FROM(memory, starts->seats, starts->seat_words, words);
}

static uint32_t words_for(uint32_t tiles)
{
    return tiles / 64 + 1;
}

// The place of a tile's bit; UINT32_MAX: outside the box.
static uint32_t seat_of(const fm_field_starts *starts, const fm_tile_map *map, uint32_t tile)
{
    uint32_t column = tile % map->columns - starts->column;
    uint32_t row = tile / map->columns - starts->row;
    return column < starts->columns && row < starts->rows ? row * starts->columns + column
                                                          : UINT32_MAX;
}

bool fm_field_starts_set(fm_field_starts *starts, const fm_cell *cells, uint32_t count,
                         const fm_memory *memory)
{
    fm_box box = fm_box_around(cells, count);
    uint32_t column = (uint32_t)box.left / FM_TILE_SIDE, row = (uint32_t)box.top / FM_TILE_SIDE;
    uint32_t columns = count == 0 ? 0 : (uint32_t)box.right / FM_TILE_SIDE + 1 - column;
    uint32_t rows = count == 0 ? 0 : (uint32_t)box.bottom / FM_TILE_SIDE + 1 - row;
    if (!reserve(starts, count, words_for(columns * rows), memory)) {
        return false;
    }
    starts->box = box;
    starts->column = column;
    starts->row = row;
    starts->columns = columns;
    starts->rows = rows;
    starts->count = count;
    memset(starts->seats, 0, words_for(columns * rows) * sizeof *starts->seats);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = (fm_cell_y(cells[i]) / FM_TILE_SIDE - row) * columns +
                        (fm_cell_x(cells[i]) / FM_TILE_SIDE - column);
        starts->cells[i] = cells[i];
        starts->seats[seat / 64] |= (uint64_t)1 << seat % 64;
    }
    fm_field_starts_doubt(starts);
    return true;
}

void fm_field_starts_fini(fm_field_starts *starts, const fm_memory *memory)
{
    fm_memory_release(memory, starts->cells, starts->capacity * sizeof *starts->cells);
    fm_memory_release(memory, starts->seats, starts->seat_words * sizeof *starts->seats);
    *starts = (fm_field_starts){0};
}

size_t fm_field_starts_bytes(const fm_field_starts *starts)
{
    return starts->capacity * sizeof *starts->cells + starts->seat_words * sizeof *starts->seats;
}

bool fm_field_starts_are_in(const fm_field_starts *starts, const fm_tile_map *map, uint32_t tile)
{
    uint32_t seat = seat_of(starts, map, tile);
    return seat != UINT32_MAX && (starts->seats[seat / 64] >> seat % 64 & 1) != 0;
}

void fm_field_starts_doubt(fm_field_starts *starts)
{
    starts->is_farthest_known = false;
    starts->waiting = 0;
}

void fm_field_starts_note(fm_field_starts *starts, uint32_t tile)
{
    starts->is_farthest_known = starts->is_farthest_known && tile != starts->decisive;
}

// ---- distances ----------------------------------------------------------------------------------

bool fm_field_start_is_hopeless(const fm_tile_field *field, fm_cell start)
{
    return start != field->goal &&
           (fm_view_moves(field->view, start) == 0 || fm_view_is_blocked(field->view, field->goal));
}

uint32_t fm_field_start_cost(const fm_tile_field *field, fm_cell start)
{
    const fm_tile *tile = fm_tile_at(field, start);
    return tile != NULL && tile->body != NULL ? fm_tile_field_cost(field, start) : FM_COST_INFINITE;
}

// How far the search has to get for a start.
static uint32_t wanted_cost(const fm_tile_field *field, fm_cell start)
{
    return start == field->goal || fm_field_start_is_hopeless(field, start)
               ? 0
               : fm_field_start_cost(field, start);
}

// Whether all have a distance. One that has keeps it until distances rise.
static bool pass_waiting(fm_field_starts *starts, const fm_tile_field *field)
{
    while (starts->waiting < starts->count &&
           wanted_cost(field, starts->cells[starts->waiting]) < FM_COST_INFINITE) {
        starts->waiting += 1;
    }
    return starts->waiting == starts->count;
}

static void find_farthest(fm_field_starts *starts, const fm_tile_field *field)
{
    starts->farthest = 0;
    starts->decisive = FM_TILE_NONE;
    for (uint32_t i = 0; i < starts->count; i++) {
        uint32_t cost = wanted_cost(field, starts->cells[i]);
        if (cost > starts->farthest) {
            starts->farthest = cost;
            starts->decisive = fm_tile_of(field->map, starts->cells[i]);
        }
    }
}

uint32_t fm_field_starts_farthest(fm_field_starts *starts, const fm_tile_field *field)
{
    if (starts->is_farthest_known) {
        return starts->farthest;
    }
    if (pass_waiting(starts, field)) {
        find_farthest(starts, field);
    } else {
        starts->farthest = FM_COST_INFINITE;
        starts->decisive = fm_tile_of(field->map, starts->cells[starts->waiting]);
    }
    starts->is_farthest_known = true;
    return starts->farthest;
}
