// core/fields/tile_records.c: see tile_records.h. A hash table of places in the list of records,
// with open addressing, finds them by the number of the tile.

#include "core/fields/tile_records.h"

#include "core/fields/tile_field.h"

static uint32_t place_of(const fm_tile_field *field, uint32_t number)
{
    return number * 0x9e3779b1u >> 16 & field->table_mask;
}

fm_tile *fm_tile_find(const fm_tile_field *field, uint32_t number)
{
    if (field->table == NULL || number == FM_TILE_NONE) {
        return NULL;
    }
    for (uint32_t i = place_of(field, number); field->table[i] != 0;
         i = (i + 1) & field->table_mask) {
        if (field->table[i] >> 16 == number) {
            return field->tiles[(field->table[i] & UINT16_MAX) - 1];
        }
    }
    return NULL;
}

static void enlist(fm_tile_field *field, const fm_tile *tile)
{
    uint32_t i = place_of(field, tile->number);
    while (field->table[i] != 0) {
        i = (i + 1) & field->table_mask;
    }
    field->table[i] = tile->number << 16 | (tile->index + 1);
}

// The table has twice as many places as the list.
static bool grow(fm_tile_field *field)
{
    uint32_t capacity = field->capacity == 0 ? 16 : field->capacity * 2;
    uint32_t *table = fm_memory_allocate_zeroed(field->memory, 2 * (size_t)capacity, sizeof *table);
    fm_tile **tiles = table == NULL ? NULL
                                    : fm_memory_resize(field->memory, field->tiles, field->capacity,
                                                       capacity, sizeof(fm_tile *));
    if (tiles == NULL) {
        fm_memory_release(field->memory, table, 2 * (size_t)capacity * sizeof *table);
        return false;
    }
    fm_memory_release(field->memory, field->table, 2 * (size_t)field->capacity * sizeof *table);
    field->tiles = tiles;
    field->capacity = capacity;
    field->table = table;
    field->table_mask = 2 * capacity - 1;
    for (uint32_t i = 0; i < field->count; i++) {
        enlist(field, field->tiles[i]);
    }
    return true;
}

fm_tile *fm_tile_get(fm_tile_field *field, uint32_t number, fm_slab *slab)
{
    fm_tile *tile = fm_tile_find(field, number);
    if (tile != NULL) {
        return tile;
    }
    if ((field->count == field->capacity && !grow(field)) ||
        (tile = fm_slab_take(slab, sizeof *tile)) == NULL) {
        field->is_exhausted = true;
        return NULL;
    }
    *tile = (fm_tile){.number = number, .index = field->count, .low = FM_COST_INFINITE};
    field->tiles[field->count++] = tile;
    enlist(field, tile);
    return tile;
}
