// clients/maps/tiled.c: see tiled.h.

#include "clients/maps/tiled.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The upper bits of a tile say how it is turned.
#define TILE_BITS 0x0fffffffu

struct tile {
    uint32_t number; // as layers have it: first of its tileset and id
    fm_map_look look;
};

struct tileset {
    uint32_t first, count; // count 0: not known
    char *source, *place;  // NULL: it stands in the map
};

struct chunk {
    int32_t x, y;
    uint32_t width, height;
    uint32_t *tiles;
};

struct layer {
    char name[FM_TILED_NAME_SIZE];
    fm_map_look look;
    uint32_t chunk_first; // in `chunks`
};

struct fm_tiled {
    const fm_map_input *input;
    uint32_t width, height; // of a map that is not infinite
    bool infinite;
    fm_map_look floor;
    uint64_t tile_total;
    struct tileset *tilesets;
    struct tile *tiles;
    struct layer *layers;
    struct chunk *chunks; // of all layers, one after the other
    uint32_t tileset_count, tileset_capacity;
    uint32_t current;      // tileset that was begun last
    uint32_t sources_read; // tilesets up to this one need no more files
    uint32_t special_count, special_capacity;
    uint32_t layer_count, layer_capacity;
    uint32_t chunk_count, chunk_capacity;
};

fm_tiled *fm_tiled_create(const fm_map_input *input)
{
    fm_tiled *map = calloc(1, sizeof *map);
    if (map != NULL) {
        map->input = input;
        map->floor = (fm_map_look){FM_TERRAIN_GROUND, FM_COST_FLOOR};
    }
    return map;
}

void fm_tiled_destroy(fm_tiled *map)
{
    if (map == NULL) {
        return;
    }
    for (uint32_t i = 0; i < map->chunk_count; i++) {
        free(map->chunks[i].tiles);
    }
    for (uint32_t i = 0; i < map->tileset_count; i++) {
        free(map->tilesets[i].source);
        free(map->tilesets[i].place);
    }
    free(map->tilesets);
    free(map->tiles);
    free(map->layers);
    free(map->chunks);
    free(map);
}

// Makes room for one element more.
static fm_status make_room(fm_tiled *map, const char *place, const char *what, void **array,
                           uint32_t count, uint32_t *capacity, uint32_t max, size_t size)
{
    if (count == max) {
        return fm_map_refuse(map->input, FM_ERR_LIMIT, place, "more than %u %s", max, what);
    }
    return fm_reserve(&fm_memory_libc, array, capacity, count + 1, size)
               ? FM_OK
               : fm_map_refuse_memory(map->input);
}

// ---- what a map has -----------------------------------------------------------------------------

fm_status fm_tiled_begin(fm_tiled *map, const char *place, const char *orientation, uint64_t width,
                         uint64_t height, bool infinite)
{
    if (strcmp(orientation, "orthogonal") != 0 && strcmp(orientation, "isometric") != 0) {
        return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, place,
                             "the orientation '%.40s' has no cells in rows and columns; wanted: "
                             "orthogonal or isometric",
                             orientation);
    }
    map->infinite = infinite;
    if (infinite) {
        return FM_OK; // the chunks say
    }
    map->width = (uint32_t)(width > UINT32_MAX ? UINT32_MAX : width);
    map->height = (uint32_t)(height > UINT32_MAX ? UINT32_MAX : height);
    return fm_map_check_sides(map->input, place, width, height);
}

void fm_tiled_name(const char *name, fm_map_look *look)
{
    static const struct {
        const char *name;
        fm_terrain terrain;
    } names[] = {
        {"ground", FM_TERRAIN_GROUND},     {"floor", FM_TERRAIN_GROUND},
        {"water", FM_TERRAIN_WATER},       {"swamp", FM_TERRAIN_SWAMP},
        {"trees", FM_TERRAIN_TREES},       {"forest", FM_TERRAIN_TREES},
        {"wall", FM_TERRAIN_WALL},         {"walls", FM_TERRAIN_WALL},
        {"blocked", FM_TERRAIN_WALL},      {"collision", FM_TERRAIN_WALL},
        {"obstacles", FM_TERRAIN_WALL},    {"out_of_bounds", FM_TERRAIN_OUT},
        {"out of bounds", FM_TERRAIN_OUT},
    };
    for (size_t i = 0; i < FM_COUNT_OF(names) && look->terrain == FM_TERRAIN_UNKNOWN; i++) {
        if (strcasecmp(name, names[i].name) == 0) {
            look->terrain = (uint8_t)names[i].terrain;
        }
    }
}

static fm_status set_cost(const fm_tiled *map, const char *place, const char *value,
                          fm_map_look *look)
{
    char *end = NULL;
    double cost = strtod(value, &end);
    if (end == value || *end != '\0' || !(cost >= 1 && cost <= FM_COST_MAX) ||
        cost != (double)(int)cost) {
        return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, place,
                             "the property cost is '%.40s'; wanted: a whole number in 1..%u", value,
                             FM_COST_MAX);
    }
    look->cost = (uint8_t)cost;
    return FM_OK;
}

fm_status fm_tiled_property(const fm_tiled *map, const char *place, const char *name,
                            const char *value, fm_map_look *look)
{
    if (strcmp(name, "terrain") == 0) {
        look->terrain = (uint8_t)fm_legend_terrain(value);
        return look->terrain != FM_TERRAIN_UNKNOWN
                   ? FM_OK
                   : fm_map_refuse(map->input, FM_ERR_BAD_VALUE, place,
                                   "the property terrain is '%.40s'; wanted: " FM_LEGEND_TERRAINS,
                                   value);
    }
    if (strcmp(name, "blocked") == 0) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
            return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, place,
                                 "the property blocked is '%.40s'; wanted: true or false", value);
        }
        if (look->terrain == FM_TERRAIN_UNKNOWN) {
            look->terrain = value[0] == 't' ? FM_TERRAIN_WALL : FM_TERRAIN_GROUND;
        }
        return FM_OK;
    }
    return strcmp(name, "cost") == 0 ? set_cost(map, place, value, look) : FM_OK;
}

void fm_tiled_set_floor(fm_tiled *map, fm_map_look look)
{
    map->floor.terrain = look.terrain != FM_TERRAIN_UNKNOWN ? look.terrain : map->floor.terrain;
    map->floor.cost = look.cost != 0 ? look.cost : map->floor.cost;
}

fm_status fm_tiled_add_tileset(fm_tiled *map, const char *place, uint64_t first,
                               uint64_t tile_count, const char *source)
{
    const struct tileset *last =
        map->tileset_count == 0 ? NULL : &map->tilesets[map->tileset_count - 1];
    if (first < 1 || first > TILE_BITS || (last != NULL && first <= last->first)) {
        return fm_map_refuse(map->input, FM_ERR_BAD_FORMAT, place,
                             "the tileset's firstgid is %llu; wanted: a number above that of the "
                             "tileset before, at least 1",
                             (unsigned long long)first);
    }
    fm_status status =
        make_room(map, place, "tilesets", (void **)&map->tilesets, map->tileset_count,
                  &map->tileset_capacity, FM_TILED_TILESETS_MAX, sizeof *map->tilesets);
    if (status != FM_OK) {
        return status;
    }
    struct tileset *set = &map->tilesets[map->tileset_count];
    *set = (struct tileset){.first = (uint32_t)first};
    map->current = map->tileset_count++;
    fm_tiled_set_tile_count(map, tile_count);
    if (source[0] != '\0') {
        set->source = strdup(source);
        set->place = strdup(place);
    }
    return source[0] == '\0' || (set->source != NULL && set->place != NULL)
               ? FM_OK
               : fm_map_refuse_memory(map->input);
}

bool fm_tiled_next_source(fm_tiled *map, const char **source, const char **place)
{
    while (map->sources_read < map->tileset_count) {
        map->current = map->sources_read++;
        const struct tileset *set = &map->tilesets[map->current];
        if (set->source != NULL) {
            *source = set->source;
            *place = set->place;
            return true;
        }
    }
    return false;
}

void fm_tiled_set_tile_count(fm_tiled *map, uint64_t tile_count)
{
    map->tilesets[map->current].count = (uint32_t)(tile_count > TILE_BITS ? TILE_BITS : tile_count);
}

fm_status fm_tiled_add_tile(fm_tiled *map, const char *place, uint64_t id, fm_map_look look)
{
    if (look.terrain == FM_TERRAIN_UNKNOWN && look.cost == 0) {
        return FM_OK;
    }
    uint64_t number = map->tilesets[map->current].first + id;
    if (id > TILE_BITS || number > TILE_BITS) {
        return fm_map_refuse(map->input, FM_ERR_BAD_FORMAT, place,
                             "tile %llu: no tileset has so many tiles", (unsigned long long)id);
    }
    fm_status status =
        make_room(map, place, "tiles with properties", (void **)&map->tiles, map->special_count,
                  &map->special_capacity, FM_TILED_SPECIAL_MAX, sizeof *map->tiles);
    if (status == FM_OK) {
        map->tiles[map->special_count++] = (struct tile){(uint32_t)number, look};
    }
    return status;
}

fm_status fm_tiled_add_layer(fm_tiled *map, const char *place, const char *name)
{
    fm_status status = make_room(map, place, "layers", (void **)&map->layers, map->layer_count,
                                 &map->layer_capacity, FM_TILED_LAYERS_MAX, sizeof *map->layers);
    if (status == FM_OK) {
        struct layer *layer = &map->layers[map->layer_count++];
        *layer = (struct layer){.chunk_first = map->chunk_count};
        strncpy(layer->name, name, sizeof layer->name - 1);
    }
    return status;
}

void fm_tiled_set_layer(fm_tiled *map, fm_map_look look)
{
    struct layer *layer = &map->layers[map->layer_count - 1];
    layer->look = look;
    fm_tiled_name(layer->name, &layer->look);
}

fm_status fm_tiled_check_piece(fm_tiled *map, const char *place, const fm_tiled_data *data)
{
    fm_status status = fm_map_check_sides(map->input, place, data->width, data->height);
    if (status != FM_OK) {
        return status;
    }
    if (map->tile_total + data->width * data->height > FM_TILED_TILES_MAX) {
        return fm_map_refuse(map->input, FM_ERR_LIMIT, place,
                             "all layers together have more than %llu tiles",
                             (unsigned long long)FM_TILED_TILES_MAX);
    }
    if (data->x < INT16_MIN || data->x > INT16_MAX || data->y < INT16_MIN || data->y > INT16_MAX) {
        return fm_map_refuse(map->input, FM_ERR_BAD_SIZE, place,
                             "a chunk at %lld,%lld is too far away for a map of %u x %u cells",
                             (long long)data->x, (long long)data->y, FM_SIDE_MAX, FM_SIDE_MAX);
    }
    return FM_OK;
}

fm_status fm_tiled_add_tiles(fm_tiled *map, const char *place, const fm_tiled_data *data,
                             uint32_t *tiles)
{
    fm_status status = make_room(map, place, "chunks", (void **)&map->chunks, map->chunk_count,
                                 &map->chunk_capacity, FM_TILED_CHUNKS_MAX, sizeof *map->chunks);
    if (status != FM_OK) {
        free(tiles);
        return status;
    }
    map->chunks[map->chunk_count++] = (struct chunk){.x = (int32_t)data->x,
                                                     .y = (int32_t)data->y,
                                                     .width = (uint32_t)data->width,
                                                     .height = (uint32_t)data->height,
                                                     .tiles = tiles};
    map->tile_total += data->width * data->height;
    return FM_OK;
}

fm_status fm_tiled_add_data(fm_tiled *map, const char *place, const fm_tiled_data *data)
{
    uint32_t *tiles;
    fm_status status = fm_tiled_check_piece(map, place, data);
    if (status == FM_OK) {
        status = fm_tiled_decode(map->input, place, data, &tiles);
    }
    return status == FM_OK ? fm_tiled_add_tiles(map, place, data, tiles) : status;
}

// ---- painting -----------------------------------------------------------------------------------

struct bounds {
    int64_t left, top, right, bottom; // right and bottom belong to it
};

struct painting {
    fm_tiled *map;
    struct bounds bounds;
    fm_grid *grid;
    uint64_t told;    // tiles of which something was said
    uint32_t last;    // tile that was looked up last
    fm_map_look look; // of it
};

static int compare_tiles(const void *a, const void *b)
{
    const struct tile *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

// All tiles that are not empty.
static bool find_bounds(const fm_tiled *map, struct bounds *bounds)
{
    *bounds = (struct bounds){INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN};
    for (uint32_t i = 0; i < map->chunk_count; i++) {
        const struct chunk *chunk = &map->chunks[i];
        for (size_t n = 0; n < (size_t)chunk->width * chunk->height; n++) {
            if ((chunk->tiles[n] & TILE_BITS) != 0) {
                int64_t x = chunk->x + (int64_t)(n % chunk->width);
                int64_t y = chunk->y + (int64_t)(n / chunk->width);
                bounds->left = x < bounds->left ? x : bounds->left;
                bounds->right = x > bounds->right ? x : bounds->right;
                bounds->top = y < bounds->top ? y : bounds->top;
                bounds->bottom = y > bounds->bottom ? y : bounds->bottom;
            }
        }
    }
    return bounds->left <= bounds->right;
}

// False when no tileset has that tile.
static bool is_of_a_tileset(const fm_tiled *map, uint32_t number)
{
    for (uint32_t i = map->tileset_count; i-- > 0;) {
        const struct tileset *set = &map->tilesets[i];
        if (number >= set->first) {
            return set->count == 0 || number - set->first < set->count;
        }
    }
    return false;
}

static fm_status look_up(struct painting *painting, const struct layer *layer, int64_t x, int64_t y,
                         uint32_t number)
{
    fm_tiled *map = painting->map;
    if (number == painting->last) {
        return FM_OK;
    }
    if (!is_of_a_tileset(map, number)) {
        char place[FM_MAP_PLACE_SIZE];
        fm_map_place_cell(place, map->input->name, "tile", (uint64_t)(x - painting->bounds.left),
                          (uint64_t)(y - painting->bounds.top));
        return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, place,
                             "layer '%s' has number %u there, which is in no tileset", layer->name,
                             number);
    }
    const struct tile wanted = {.number = number};
    const struct tile *found =
        map->special_count == 0
            ? NULL
            : bsearch(&wanted, map->tiles, map->special_count, sizeof wanted, compare_tiles);
    painting->last = number;
    painting->look = found != NULL ? found->look : (fm_map_look){0, 0};
    return FM_OK;
}

static void paint_cell(struct painting *painting, const struct layer *layer, fm_cell cell)
{
    fm_grid *grid = painting->grid;
    fm_map_look tile = painting->look;
    bool has_terrain = tile.terrain != FM_TERRAIN_UNKNOWN;
    uint8_t terrain = has_terrain ? tile.terrain : layer->look.terrain;
    uint8_t cost = tile.cost != 0 || has_terrain ? tile.cost : layer->look.cost;
    if (terrain == FM_TERRAIN_UNKNOWN && cost == 0) {
        return; // decoration
    }
    painting->told++;
    if (terrain != FM_TERRAIN_UNKNOWN) {
        cost = cost != 0 ? cost : FM_COST_FLOOR;
    } else {
        terrain = grid->terrain[fm_grid_index(grid, cell)];
    }
    fm_grid_set(grid, cell, (fm_terrain)terrain, cost);
}

static fm_status paint_chunk(struct painting *painting, const struct layer *layer,
                             const struct chunk *chunk)
{
    const struct bounds *bounds = &painting->bounds;
    for (size_t n = 0; n < (size_t)chunk->width * chunk->height; n++) {
        uint32_t number = chunk->tiles[n] & TILE_BITS;
        int64_t x = chunk->x + (int64_t)(n % chunk->width);
        int64_t y = chunk->y + (int64_t)(n / chunk->width);
        if (number == 0 || x < bounds->left || x > bounds->right || y < bounds->top ||
            y > bounds->bottom) {
            continue;
        }
        fm_status status = look_up(painting, layer, x, y, number);
        if (status != FM_OK) {
            return status;
        }
        paint_cell(painting, layer,
                   fm_cell_at((uint32_t)(x - bounds->left), (uint32_t)(y - bounds->top)));
    }
    return FM_OK;
}

static fm_status paint_layers(struct painting *painting)
{
    fm_tiled *map = painting->map;
    for (uint32_t i = 0; i < map->layer_count; i++) {
        uint32_t end = i + 1 < map->layer_count ? map->layers[i + 1].chunk_first : map->chunk_count;
        for (uint32_t n = map->layers[i].chunk_first; n < end; n++) {
            fm_status status = paint_chunk(painting, &map->layers[i], &map->chunks[n]);
            if (status != FM_OK) {
                return status;
            }
        }
    }
    if (painting->told == 0) {
        return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, map->input->name,
                             "nothing says which cells can be entered: no tile has a property "
                             "terrain, blocked or cost, and no layer with tiles is called by a "
                             "terrain (" FM_LEGEND_TERRAINS ")");
    }
    return FM_OK;
}

static fm_status make_floor(struct painting *painting)
{
    const struct bounds *bounds = &painting->bounds;
    fm_tiled *map = painting->map;
    fm_status status = fm_map_check_sides(map->input, map->input->name,
                                          (uint64_t)(bounds->right - bounds->left + 1),
                                          (uint64_t)(bounds->bottom - bounds->top + 1));
    if (status == FM_OK) {
        status = fm_map_make_grid(map->input, (uint32_t)(bounds->right - bounds->left + 1),
                                  (uint32_t)(bounds->bottom - bounds->top + 1), &painting->grid);
    }
    if (status != FM_OK ||
        (map->floor.terrain == FM_TERRAIN_GROUND && map->floor.cost == FM_COST_FLOOR)) {
        return status; // a new grid is open floor
    }
    fm_grid *grid = painting->grid;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            fm_grid_set(grid, fm_cell_at(x, y), (fm_terrain)map->floor.terrain, map->floor.cost);
        }
    }
    return FM_OK;
}

fm_status fm_tiled_paint(fm_tiled *map, fm_grid **out)
{
    struct painting painting = {
        .map = map, .bounds = {0, 0, (int64_t)map->width - 1, (int64_t)map->height - 1}};
    if (map->infinite && !find_bounds(map, &painting.bounds)) {
        return fm_map_refuse(map->input, FM_ERR_BAD_VALUE, map->input->name,
                             "there is no tile in any layer");
    }
    if (map->special_count > 0) {
        qsort(map->tiles, map->special_count, sizeof *map->tiles, compare_tiles);
    }
    fm_status status = make_floor(&painting);
    if (status == FM_OK) {
        status = paint_layers(&painting);
    }
    if (status != FM_OK) {
        fm_grid_destroy(painting.grid);
        return status;
    }
    *out = painting.grid;
    return FM_OK;
}
