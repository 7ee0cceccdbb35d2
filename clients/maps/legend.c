// clients/maps/legend.c: see legend.h. libyaml makes a document of the file; an alias there is the
// node that it stands for, so nothing is ever multiplied.

#include "clients/maps/legend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// ---- terrain ------------------------------------------------------------------------------------

static const uint32_t colours[FM_TERRAIN_COUNT] = {
    [FM_TERRAIN_GROUND] = 0xffffff, [FM_TERRAIN_OUT] = 0x404040,   [FM_TERRAIN_TREES] = 0x008000,
    [FM_TERRAIN_SWAMP] = 0x808000,  [FM_TERRAIN_WATER] = 0x0000ff, [FM_TERRAIN_WALL] = 0x000000,
};

uint32_t fm_legend_colour_of(fm_terrain terrain)
{
    return colours[terrain];
}

fm_terrain fm_legend_terrain(const char *name)
{
    for (fm_terrain terrain = FM_TERRAIN_GROUND; terrain < FM_TERRAIN_BUILDING; terrain++) {
        if (strcmp(fm_terrain_name(terrain), name) == 0) {
            return terrain;
        }
    }
    return FM_TERRAIN_UNKNOWN;
}

// ---- looking up ---------------------------------------------------------------------------------

static int compare_colours(const void *a, const void *b)
{
    const fm_legend_colour *left = a, *right = b;
    return (left->rgb > right->rgb) - (left->rgb < right->rgb);
}

bool fm_legend_find_colour(const fm_legend *legend, uint32_t rgb, fm_map_look *look)
{
    const fm_legend_colour wanted = {.rgb = rgb};
    const fm_legend_colour *found = bsearch(&wanted, legend->colours, legend->colour_count,
                                            sizeof *legend->colours, compare_colours);
    *look = found != NULL ? found->look : legend->other;
    return look->terrain != FM_TERRAIN_UNKNOWN;
}

bool fm_legend_find_height(const fm_legend *legend, uint32_t height, fm_map_look *look)
{
    uint32_t low = 0;
    for (uint32_t i = 0; i < legend->band_count; i++) {
        const fm_legend_band *band = &legend->bands[i];
        if (height <= band->up_to) {
            uint32_t span = band->up_to - low;
            int64_t rise = (int64_t)band->cost_high - band->cost_low;
            int64_t part = span == 0 ? 0 : rise * (height - low) / span;
            *look = (fm_map_look){band->terrain, (uint8_t)(band->cost_low + part)};
            return true;
        }
        low = band->up_to + 1;
    }
    *look = legend->other;
    return look->terrain != FM_TERRAIN_UNKNOWN;
}

static void add_colour(fm_legend *legend, uint32_t rgb, fm_map_look look)
{
    legend->colours[legend->colour_count++] = (fm_legend_colour){rgb, look};
}

static void sort_colours(fm_legend *legend)
{
    qsort(legend->colours, legend->colour_count, sizeof *legend->colours, compare_colours);
}

static void set_default(fm_legend *legend, const fm_map_letters *letters)
{
    *legend = (fm_legend){.letters = *letters, .transparent = {FM_TERRAIN_OUT, FM_COST_FLOOR}};
    for (fm_terrain terrain = FM_TERRAIN_GROUND; terrain < FM_TERRAIN_BUILDING; terrain++) {
        add_colour(legend, colours[terrain], (fm_map_look){(uint8_t)terrain, FM_COST_FLOOR});
    }
    sort_colours(legend);
}

// ---- reading ------------------------------------------------------------------------------------

struct reader {
    const fm_map_input *input;
    yaml_document_t *document;
    fm_legend *legend;
};

__attribute__((format(printf, 3, 4))) static fm_status
refuse(const struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
    char place[FM_MAP_PLACE_SIZE], message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fm_map_place_line(place, reader->input->name, node->start_mark.line + 1,
                      node->start_mark.column + 1);
    return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, place, "%s", message);
}

static yaml_node_t *node_at(const struct reader *reader, int index)
{
    return yaml_document_get_node(reader->document, index);
}

// NULL when it is no scalar, or has a NUL in it.
static const char *text_of(const yaml_node_t *node)
{
    if (node->type != YAML_SCALAR_NODE) {
        return NULL;
    }
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

static fm_status read_number(const struct reader *reader, const yaml_node_t *node, const char *name,
                             uint32_t min, uint32_t max, uint32_t *out)
{
    const char *text = text_of(node);
    char *end = NULL;
    unsigned long number =
        text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || number < min || number > max) {
        return refuse(reader, node, "%s must be a whole number in %u..%u", name, min, max);
    }
    *out = (uint32_t)number;
    return FM_OK;
}

static fm_status read_terrain(const struct reader *reader, const yaml_node_t *node, uint8_t *out)
{
    const char *text = text_of(node);
    *out = text == NULL ? FM_TERRAIN_UNKNOWN : (uint8_t)fm_legend_terrain(text);
    return *out != FM_TERRAIN_UNKNOWN
               ? FM_OK
               : refuse(reader, node, "'%.40s' is no terrain; wanted: " FM_LEGEND_TERRAINS,
                        text == NULL ? "" : text);
}

// A cost, or the costs of the two ends of a band.
static fm_status read_costs(const struct reader *reader, const yaml_node_t *node,
                            fm_legend_band *band)
{
    uint32_t low = 0, high = 0;
    fm_status status;
    if (node->type == YAML_SEQUENCE_NODE) {
        const yaml_node_item_t *items = node->data.sequence.items.start;
        if (node->data.sequence.items.top - items != 2) {
            return refuse(reader, node, "cost must be a number, or two in brackets");
        }
        status = read_number(reader, node_at(reader, items[0]), "cost", 1, FM_COST_MAX, &low);
        if (status == FM_OK) {
            status = read_number(reader, node_at(reader, items[1]), "cost", 1, FM_COST_MAX, &high);
        }
    } else {
        status = read_number(reader, node, "cost", 1, FM_COST_MAX, &low);
        high = low;
    }
    band->cost_low = (uint8_t)low;
    band->cost_high = (uint8_t)high;
    return status;
}

// Reads {terrain: ..., cost: ..., up_to: ...}, or a bare terrain.
//
// @param is_band  whether up_to is wanted, and a cost may rise
static fm_status read_band(const struct reader *reader, const yaml_node_t *node, bool is_band,
                           fm_legend_band *band)
{
    *band = (fm_legend_band){.cost_low = FM_COST_FLOOR, .cost_high = FM_COST_FLOOR};
    if (node->type == YAML_SCALAR_NODE && !is_band) {
        return read_terrain(reader, node, &band->terrain);
    }
    if (node->type != YAML_MAPPING_NODE) {
        return refuse(reader, node,
                      is_band ? "a band must be {up_to: HEIGHT, terrain: NAME}"
                              : "wanted: a terrain, or {terrain: NAME, cost: N}");
    }
    bool has_end = false;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_at(reader, pair->key), *value = node_at(reader, pair->value);
        const char *name = text_of(key) == NULL ? "" : text_of(key);
        fm_status status;
        if (strcmp(name, "terrain") == 0) {
            status = read_terrain(reader, value, &band->terrain);
        } else if (strcmp(name, "cost") == 0) {
            status = read_costs(reader, value, band);
        } else if (is_band && strcmp(name, "up_to") == 0) {
            has_end = true;
            status = read_number(reader, value, "up_to", 0, UINT16_MAX, &band->up_to);
        } else {
            status = refuse(reader, key, "'%.40s' is not known here; wanted: terrain, cost%s", name,
                            is_band ? ", up_to" : "");
        }
        if (status != FM_OK) {
            return status;
        }
    }
    if (band->terrain == FM_TERRAIN_UNKNOWN || (is_band && !has_end)) {
        return refuse(reader, node, "%s is missing",
                      band->terrain == FM_TERRAIN_UNKNOWN ? "terrain" : "up_to");
    }
    return !is_band && band->cost_low != band->cost_high
               ? refuse(reader, node, "only the cost of a height can rise")
               : FM_OK;
}

static fm_status read_look(const struct reader *reader, const yaml_node_t *node, fm_map_look *look)
{
    fm_legend_band band;
    fm_status status = read_band(reader, node, false, &band);
    *look = (fm_map_look){band.terrain, band.cost_low};
    return status;
}

static bool parse_colour(const char *text, uint32_t *rgb)
{
    char *end;
    if (text == NULL || text[0] != '#' || strlen(text) != 7 ||
        strspn(text + 1, "0123456789abcdefABCDEF") != 6) {
        return false;
    }
    *rgb = (uint32_t)strtoul(text + 1, &end, 16);
    return true;
}

static fm_status read_colour(const struct reader *reader, const yaml_node_t *key,
                             const yaml_node_t *value)
{
    const char *text = text_of(key);
    fm_map_look look;
    uint32_t rgb;
    fm_status status = read_look(reader, value, &look);
    if (status != FM_OK) {
        return status;
    }
    if (text != NULL && strcmp(text, "transparent") == 0) {
        reader->legend->transparent = look;
        return FM_OK;
    }
    if (!parse_colour(text, &rgb)) {
        return refuse(reader, key, "a colour must read \"#rrggbb\", in quotes, or transparent");
    }
    if (reader->legend->colour_count == FM_LEGEND_COLOURS_MAX) {
        return refuse(reader, key, "more than %u colours", FM_LEGEND_COLOURS_MAX);
    }
    for (uint32_t i = 0; i < reader->legend->colour_count; i++) {
        if (reader->legend->colours[i].rgb == rgb) {
            return refuse(reader, key, "%s is listed twice", text);
        }
    }
    add_colour(reader->legend, rgb, look);
    return FM_OK;
}

static fm_status read_letter(const struct reader *reader, const yaml_node_t *key,
                             const yaml_node_t *value)
{
    const char *text = text_of(key);
    fm_map_look look;
    fm_status status = read_look(reader, value, &look);
    if (status != FM_OK) {
        return status;
    }
    if (text == NULL || text[0] < ' ' || text[0] > '~' || text[1] != '\0') {
        return refuse(reader, key, "a letter must be one ASCII character, such as \"f\"");
    }
    reader->legend->letters.terrain[(uint8_t)text[0]] = look.terrain;
    reader->legend->letters.cost[(uint8_t)text[0]] = look.cost;
    return FM_OK;
}

static fm_status read_list(const struct reader *reader, const yaml_node_t *node, const char *name,
                           fm_status (*read)(const struct reader *, const yaml_node_t *key,
                                             const yaml_node_t *value))
{
    if (node->type != YAML_MAPPING_NODE) {
        return refuse(reader, node, "%s must be a list of names and terrains", name);
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        fm_status status = read(reader, node_at(reader, pair->key), node_at(reader, pair->value));
        if (status != FM_OK) {
            return status;
        }
    }
    return FM_OK;
}

static fm_status read_heights(const struct reader *reader, const yaml_node_t *node)
{
    fm_legend *legend = reader->legend;
    if (node->type != YAML_SEQUENCE_NODE) {
        return refuse(reader, node, "heights must be a list of {up_to: HEIGHT, terrain: NAME}");
    }
    legend->band_count = 0;
    for (yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++) {
        const yaml_node_t *entry = node_at(reader, *item);
        if (legend->band_count == FM_LEGEND_BANDS_MAX) {
            return refuse(reader, entry, "more than %u heights", FM_LEGEND_BANDS_MAX);
        }
        fm_legend_band *band = &legend->bands[legend->band_count];
        fm_status status = read_band(reader, entry, true, band);
        if (status != FM_OK) {
            return status;
        }
        if (legend->band_count > 0 && band->up_to <= band[-1].up_to) {
            return refuse(reader, entry, "up_to must be more than the %u before it",
                          band[-1].up_to);
        }
        legend->band_count++;
    }
    return FM_OK;
}

static fm_status read_entry(const struct reader *reader, const yaml_node_t *key,
                            const yaml_node_t *value)
{
    const char *name = text_of(key) == NULL ? "" : text_of(key);
    if (strcmp(name, "colours") == 0) {
        reader->legend->colour_count = 0;
        fm_status status = read_list(reader, value, name, read_colour);
        sort_colours(reader->legend);
        return status;
    }
    if (strcmp(name, "letters") == 0) {
        reader->legend->letters = (fm_map_letters){.cost = {0}};
        return read_list(reader, value, name, read_letter);
    }
    if (strcmp(name, "heights") == 0) {
        return read_heights(reader, value);
    }
    if (strcmp(name, "other") == 0) {
        return read_look(reader, value, &reader->legend->other);
    }
    return refuse(reader, key,
                  "'%.40s' is not known here; wanted: colours, heights, letters or other", name);
}

static fm_status read_document(const struct reader *reader)
{
    const yaml_node_t *root = yaml_document_get_root_node(reader->document);
    if (root == NULL) {
        return FM_OK; // an empty legend
    }
    return read_list(reader, root, "a legend", read_entry);
}

static fm_status refuse_yaml(const fm_map_input *input, const yaml_parser_t *parser)
{
    char place[FM_MAP_PLACE_SIZE];
    if (parser->error == YAML_MEMORY_ERROR) {
        return fm_map_refuse_memory(input);
    }
    bool has_mark = parser->error == YAML_SCANNER_ERROR || parser->error == YAML_PARSER_ERROR;
    fm_map_place_line(place, input->name, has_mark ? parser->problem_mark.line + 1 : 0,
                      has_mark ? parser->problem_mark.column + 1 : 0);
    return fm_map_refuse(input, FM_ERR_BAD_FORMAT, place, "no YAML: %s",
                         parser->problem == NULL ? "it cannot be read" : parser->problem);
}

static fm_status read_legend(const fm_map_input *input, fm_legend *legend)
{
    if (input->size > FM_LEGEND_SIZE_MAX) {
        return fm_map_refuse(input, FM_ERR_LIMIT, input->name, "a legend has at most %zu KiB",
                             FM_LEGEND_SIZE_MAX >> 10);
    }
    yaml_parser_t parser;
    yaml_document_t document;
    if (yaml_parser_initialize(&parser) == 0) {
        return fm_map_refuse_memory(input);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)input->bytes, input->size);
    fm_status status;
    if (yaml_parser_load(&parser, &document) == 0) {
        status = refuse_yaml(input, &parser);
    } else {
        status = read_document(&(struct reader){input, &document, legend});
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return status;
}

fm_status fm_legend_find(const fm_map_input *input, const fm_map_letters *letters,
                         fm_legend *legend)
{
    char place[FM_MAP_PLACE_SIZE];
    char *bytes;
    fm_map_input beside;
    set_default(legend, letters);
    fm_status status = fm_map_read_beside(input, ".yaml", place, &bytes, &beside);
    if (status == FM_OK && bytes != NULL) {
        status = read_legend(&beside, legend);
        free(bytes);
    }
    return status;
}
