// clients/maps/tiled_json.c: Tiled's .tmj and .tsj, read by jansson.
//
// jansson takes some forty bytes for each number, so the commas of a file are counted before it is
// read. It reports invalid JSON by line; errors in valid JSON are named by path, such as layers[2].

#include "clients/maps/tiled.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX ((size_t)8 << 20) // of a file; about 320 MB in memory
#define GROUPS_MAX 16                // inside each other

struct reader {
    const fm_map_input *input;
    fm_tiled *map;
    char place[FM_MAP_PLACE_SIZE]; // "NAME: PATH"
};

// ---- values -------------------------------------------------------------------------------------

static fm_status parse(const fm_map_input *input, json_t **root)
{
    size_t value_count = 1;
    for (size_t i = 0; i < input->size; i++) {
        value_count += input->bytes[i] == ',' || input->bytes[i] == '[' || input->bytes[i] == '{';
    }
    if (value_count > VALUES_MAX) {
        return fm_map_refuse(input, FM_ERR_LIMIT, input->name,
                             "more than %zu values; with the layer format \"Base64 (zlib "
                             "compressed)\" in Tiled's map properties such a map can be read",
                             VALUES_MAX);
    }
    bool has_mark = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0;
    json_error_t error;
    *root = json_loadb(input->bytes + 3 * has_mark, input->size - 3 * has_mark, 0, &error);
    if (*root == NULL) {
        char place[FM_MAP_PLACE_SIZE];
        fm_map_place_line(place, input->name, error.line > 0 ? (uint64_t)error.line : 1,
                          error.column > 0 ? (uint64_t)error.column : 1);
        return fm_map_refuse(input, FM_ERR_BAD_FORMAT, place, "no JSON: %s", error.text);
    }
    return FM_OK;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key)); // 0 when there is none
}

static uint64_t count_of(const json_t *object, const char *key)
{
    int64_t number = number_of(object, key);
    return number < 0 ? 0 : (uint64_t)number;
}

// Each array may be missing, but must not be of another type.
static fm_status get_array(struct reader *reader, const json_t *object, const char *key,
                           json_t **array)
{
    *array = json_object_get(object, key);
    return *array == NULL || json_is_array(*array)
               ? FM_OK
               : fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place,
                               "\"%s\" must be an array", key);
}

// Goes one step down for messages. @return what fm_step_up() takes
static size_t step_down(struct reader *reader, const char *key, size_t index)
{
    size_t length = strlen(reader->place);
    const char *between = length == strlen(reader->input->name) ? ": " : ".";
    snprintf(reader->place + length, sizeof reader->place - length, "%s%s[%zu]", between, key,
             index);
    return length;
}

static void step_up(struct reader *reader, size_t length)
{
    reader->place[length] = '\0';
}

// ---- properties ---------------------------------------------------------------------------------

static void print_value(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value)) {
        snprintf(text, size, "%s", json_string_value(value));
    } else if (json_is_boolean(value)) {
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    } else if (json_is_number(value)) {
        snprintf(text, size, "%.17g", json_number_value(value));
    } else {
        text[0] = '\0';
    }
}

static fm_status read_properties(struct reader *reader, const json_t *object, fm_map_look *look)
{
    json_t *properties;
    fm_status status = get_array(reader, object, "properties", &properties);
    for (size_t i = 0; status == FM_OK && i < json_array_size(properties); i++) {
        const json_t *property = json_array_get(properties, i);
        char value[64];
        size_t up = step_down(reader, "properties", i);
        print_value(json_object_get(property, "value"), value, sizeof value);
        status =
            fm_tiled_property(reader->map, reader->place, text_of(property, "name"), value, look);
        step_up(reader, up);
    }
    return status;
}

// ---- tilesets -----------------------------------------------------------------------------------

static fm_status read_tiles(struct reader *reader, const json_t *set)
{
    json_t *tiles;
    fm_status status = get_array(reader, set, "tiles", &tiles);
    for (size_t i = 0; status == FM_OK && i < json_array_size(tiles); i++) {
        const json_t *tile = json_array_get(tiles, i);
        fm_map_look look = {0, 0};
        size_t up = step_down(reader, "tiles", i);
        status = read_properties(reader, tile, &look);
        fm_tiled_name(text_of(tile, "type"), &look); // of Tiled 1.9: class
        fm_tiled_name(text_of(tile, "class"), &look);
        if (status == FM_OK) {
            status = fm_tiled_add_tile(reader->map, reader->place, count_of(tile, "id"), look);
        }
        step_up(reader, up);
    }
    return status;
}

static fm_status read_tileset(struct reader *reader, const json_t *set)
{
    const char *source = text_of(set, "source");
    fm_status status = fm_tiled_add_tileset(reader->map, reader->place, count_of(set, "firstgid"),
                                            count_of(set, "tilecount"), source);
    return status == FM_OK && source[0] == '\0' ? read_tiles(reader, set) : status;
}

fm_status fm_tiled_json_tileset(fm_tiled *map, const fm_map_input *input)
{
    json_t *root;
    struct reader reader = {.input = input, .map = map};
    fm_map_place_line(reader.place, input->name, 0, 0);
    fm_status status = parse(input, &root);
    if (status != FM_OK) {
        return status;
    }
    fm_tiled_set_tile_count(map, count_of(root, "tilecount"));
    status = read_tiles(&reader, root);
    json_decref(root);
    return status;
}

// ---- layers -------------------------------------------------------------------------------------

static fm_status read_numbers(struct reader *reader, const json_t *array, fm_tiled_data *data)
{
    fm_status status = fm_tiled_check_piece(reader->map, reader->place, data);
    if (status != FM_OK) {
        return status;
    }
    size_t count = (size_t)(data->width * data->height);
    if (json_array_size(array) != count) {
        return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place,
                             "\"data\" has %zu tiles; wanted: %llu x %llu", json_array_size(array),
                             (unsigned long long)data->width, (unsigned long long)data->height);
    }
    uint32_t *tiles = malloc(count * sizeof *tiles);
    if (tiles == NULL) {
        return fm_map_refuse_memory(reader->input);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_integer(number) || json_integer_value(number) < 0 ||
            json_integer_value(number) > UINT32_MAX) {
            free(tiles);
            return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place,
                                 "data[%zu], the tile at %llu,%llu, is no whole number of 32 bits",
                                 i, (unsigned long long)(i % data->width),
                                 (unsigned long long)(i / data->width));
        }
        tiles[i] = (uint32_t)json_integer_value(number);
    }
    return fm_tiled_add_tiles(reader->map, reader->place, data, tiles);
}

// A layer of a map that is not infinite, or a chunk.
static fm_status read_piece(struct reader *reader, const json_t *piece, const json_t *layer)
{
    const json_t *value = json_object_get(piece, "data");
    fm_tiled_data data = {.x = number_of(piece, "x"),
                          .y = number_of(piece, "y"),
                          .width = count_of(piece, "width"),
                          .height = count_of(piece, "height"),
                          .encoding = text_of(layer, "encoding"),
                          .compression = text_of(layer, "compression")};
    if (json_is_array(value)) {
        return read_numbers(reader, value, &data);
    }
    if (!json_is_string(value)) {
        return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place,
                             "\"data\" must be an array of numbers, or a string of base64");
    }
    data.text = json_string_value(value);
    data.size = json_string_length(value);
    return fm_tiled_add_data(reader->map, reader->place, &data);
}

static fm_status read_tile_layer(struct reader *reader, const json_t *layer)
{
    json_t *chunks;
    fm_map_look look = {0, 0};
    fm_status status = fm_tiled_add_layer(reader->map, reader->place, text_of(layer, "name"));
    if (status == FM_OK) {
        status = read_properties(reader, layer, &look);
    }
    if (status == FM_OK) {
        fm_tiled_set_layer(reader->map, look);
        status = get_array(reader, layer, "chunks", &chunks);
    }
    if (status != FM_OK || chunks == NULL) {
        return status != FM_OK ? status : read_piece(reader, layer, layer);
    }
    for (size_t i = 0; status == FM_OK && i < json_array_size(chunks); i++) {
        size_t up = step_down(reader, "chunks", i);
        status = read_piece(reader, json_array_get(chunks, i), layer);
        step_up(reader, up);
    }
    return status;
}

// Calls itself for groups.
static fm_status read_layers(struct reader *reader, const json_t *object, int depth)
{
    json_t *layers;
    if (depth > GROUPS_MAX) {
        return fm_map_refuse(reader->input, FM_ERR_LIMIT, reader->input->name,
                             "more than %d groups of layers inside each other", GROUPS_MAX);
    }
    fm_status status = get_array(reader, object, "layers", &layers);
    for (size_t i = 0; status == FM_OK && i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *type = text_of(layer, "type");
        size_t up = step_down(reader, "layers", i);
        if (strcmp(type, "tilelayer") == 0) {
            status = read_tile_layer(reader, layer);
        } else if (strcmp(type, "group") == 0) {
            status = read_layers(reader, layer, depth + 1);
        }
        step_up(reader, up);
    }
    return status;
}

// ---- maps ---------------------------------------------------------------------------------------

static fm_status read_map(struct reader *reader, const json_t *root)
{
    json_t *tilesets;
    fm_map_look look = {0, 0};
    const json_t *orientation = json_object_get(root, "orientation");
    if (!json_is_object(root) || !json_is_string(orientation)) {
        return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place,
                             "this JSON is no map of Tiled: it has no \"orientation\"");
    }
    fm_status status = fm_tiled_begin(reader->map, reader->place, json_string_value(orientation),
                                      count_of(root, "width"), count_of(root, "height"),
                                      json_is_true(json_object_get(root, "infinite")));
    if (status == FM_OK) {
        status = read_properties(reader, root, &look);
    }
    if (status == FM_OK) {
        fm_tiled_set_floor(reader->map, look);
        status = get_array(reader, root, "tilesets", &tilesets);
    }
    for (size_t i = 0; status == FM_OK && i < json_array_size(tilesets); i++) {
        size_t up = step_down(reader, "tilesets", i);
        status = read_tileset(reader, json_array_get(tilesets, i));
        step_up(reader, up);
    }
    return status == FM_OK ? read_layers(reader, root, 0) : status;
}

fm_status fm_tiled_json_map(fm_tiled *map, const fm_map_input *input)
{
    json_t *root;
    struct reader reader = {.input = input, .map = map};
    fm_map_place_line(reader.place, input->name, 0, 0);
    fm_status status = parse(input, &root);
    if (status == FM_OK) {
        status = read_map(&reader, root);
        json_decref(root);
    }
    return status;
}
