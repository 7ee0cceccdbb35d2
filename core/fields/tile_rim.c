// core/fields/tile_rim.c: see tile_rim.h.

#include "core/fields/tile_rim.h"

static size_t rim_size(bool is_wide)
{
    return FM_SIDE_COUNT * FM_TILE_SIDE * (is_wide ? sizeof(uint32_t) : sizeof(uint16_t));
}

void fm_tile_rim_read_side(const fm_tile *tile, uint32_t side, uint32_t costs[FM_TILE_SIDE])
{
    if (tile->is_rim_wide) {
        memcpy(costs, tile->rim->wide[side], FM_TILE_SIDE * sizeof *costs);
        return;
    }
    const uint32_t low = tile->low;
    const uint16_t *values = tile->rim->narrow[side];
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        costs[i] = values[i] == FM_TILE_NOWHERE ? FM_COST_INFINITE : low + values[i];
    }
}

void fm_tile_rim_read(const fm_tile *tile, fm_tile_border *border)
{
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        fm_tile_rim_read_side(tile, side, (*border)[side]);
    }
}

void fm_tile_rim_drop(fm_tile_field *field, fm_tile *tile, fm_slab *slab)
{
    if (tile->rim != NULL) {
        field->wide_rim_count -= tile->is_rim_wide;
        field->rim_count -= !tile->is_rim_wide;
        fm_slab_give(slab, tile->rim, rim_size(tile->is_rim_wide));
        tile->rim = NULL;
    }
}

static void copy_narrow(fm_tile_rim *rim, const fm_tile_body *body)
{
    const uint32_t last = FM_TILE_SIDE - 1;
    memcpy(rim->narrow[FM_SIDE_NORTH], body->narrow[0], sizeof rim->narrow[0]);
    memcpy(rim->narrow[FM_SIDE_SOUTH], body->narrow[last], sizeof rim->narrow[0]);
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        rim->narrow[FM_SIDE_EAST][i] = body->narrow[i][last];
        rim->narrow[FM_SIDE_WEST][i] = body->narrow[i][0];
    }
}

static void copy_wide(fm_tile_rim *rim, const fm_tile_body *body)
{
    const uint32_t last = FM_TILE_SIDE - 1;
    for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
        rim->wide[FM_SIDE_NORTH][i] = body->wide[0][i];
        rim->wide[FM_SIDE_EAST][i] = body->wide[i][last];
        rim->wide[FM_SIDE_SOUTH][i] = body->wide[last][i];
        rim->wide[FM_SIDE_WEST][i] = body->wide[i][0];
    }
}

// Whether 16 bits are enough for all finite costs.
static bool fits(const fm_tile_rim *wide, uint32_t base)
{
    for (uint32_t i = 0; i < FM_SIDE_COUNT * FM_TILE_SIDE; i++) {
        uint32_t cost = wide->wide[i / FM_TILE_SIDE][i % FM_TILE_SIDE];
        if (cost < FM_COST_INFINITE && cost - base >= FM_TILE_NOWHERE) {
            return false;
        }
    }
    return true;
}

static void narrow_down(fm_tile_rim *narrow, const fm_tile_rim *wide, uint32_t base)
{
    for (uint32_t i = 0; i < FM_SIDE_COUNT * FM_TILE_SIDE; i++) {
        uint32_t cost = wide->wide[i / FM_TILE_SIDE][i % FM_TILE_SIDE];
        narrow->narrow[i / FM_TILE_SIDE][i % FM_TILE_SIDE] =
            (uint16_t)(cost < FM_COST_INFINITE ? cost - base : FM_TILE_NOWHERE);
    }
}

bool fm_tile_rim_keep(fm_tile_field *field, fm_tile *tile, const fm_tile_body *body, fm_slab *slab)
{
    fm_tile_rim wide;
    bool is_wide = false;
    if (body->is_wide) {
        copy_wide(&wide, body);
        is_wide = !fits(&wide, body->base);
    }
    if (tile->rim != NULL && tile->is_rim_wide != is_wide) {
        fm_tile_rim_drop(field, tile, slab);
    }
    if (tile->rim == NULL) {
        tile->rim = fm_slab_take(slab, rim_size(is_wide));
        if (tile->rim == NULL) {
            return false;
        }
        field->wide_rim_count += is_wide;
        field->rim_count += !is_wide;
    }
    tile->is_rim_wide = is_wide;
    tile->low = body->base;
    if (is_wide) {
        memcpy(tile->rim, &wide, sizeof wide);
    } else if (body->is_wide) {
        narrow_down(tile->rim, &wide, body->base);
    } else {
        copy_narrow(tile->rim, body);
    }
    return true;
}

void fm_tile_rim_cut(fm_tile *tile, uint32_t limit)
{
    for (uint32_t side = 0; side < FM_SIDE_COUNT; side++) {
        for (uint32_t i = 0; i < FM_TILE_SIDE; i++) {
            if (fm_tile_rim_cost(tile, side, i) <= limit) {
                continue;
            }
            if (tile->is_rim_wide) {
                tile->rim->wide[side][i] = FM_COST_INFINITE;
            } else {
                tile->rim->narrow[side][i] = FM_TILE_NOWHERE;
            }
        }
    }
}

size_t fm_tile_rim_bytes(const fm_tile_field *field)
{
    return field->rim_count * rim_size(false) + field->wide_rim_count * rim_size(true);
}
