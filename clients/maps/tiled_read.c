// clients/maps/tiled_read.c: a map of Tiled from its file and the files of its tilesets.

#include "clients/maps/readers.h"
#include "clients/maps/tiled.h"

#include <stdlib.h>
#include <string.h>

// The first letter decides between XML and JSON.
static char first_letter(const fm_map_input *input)
{
    size_t at = input->size >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < input->size && input->bytes[at] != '\0' &&
           strchr(" \t\r\n", input->bytes[at]) != NULL) {
        at++;
    }
    return at < input->size ? input->bytes[at] : '\0';
}

static fm_status read_tileset(fm_tiled *map, const fm_map_input *input, const char *source,
                              const char *place)
{
    char why[FM_MAP_PLACE_SIZE], *bytes = NULL;
    fm_map_input beside = *input;
    fm_status status = input->files->read(input->files->context, source, &bytes, &beside.size, why);
    if (status != FM_OK) {
        return fm_map_refuse(input, status, place, "tileset %.200s: %.200s", source, why);
    }
    beside.name = source;
    beside.bytes = bytes;
    switch (first_letter(&beside)) {
    case '<':
        status = fm_tiled_xml_tileset(map, &beside);
        break;
    case '{':
        status = fm_tiled_json_tileset(map, &beside);
        break;
    default:
        status = fm_map_refuse(input, FM_ERR_BAD_FORMAT, place,
                               "tileset %.200s: neither XML (.tsx) nor JSON (.tsj)", source);
    }
    free(bytes);
    return status;
}

static fm_status read_map(const fm_map_input *input, fm_grid **out,
                          fm_status (*read)(fm_tiled *map, const fm_map_input *input))
{
    fm_tiled *map = fm_tiled_create(input);
    if (map == NULL) {
        return fm_map_refuse_memory(input);
    }
    const char *source, *place;
    fm_status status = read(map, input);
    while (status == FM_OK && fm_tiled_next_source(map, &source, &place)) {
        status = read_tileset(map, input, source, place);
    }
    if (status == FM_OK) {
        status = fm_tiled_paint(map, out);
    }
    fm_tiled_destroy(map);
    return status;
}

fm_status fm_read_tiled_json(const fm_map_input *input, fm_grid **out)
{
    return read_map(input, out, fm_tiled_json_map);
}

fm_status fm_read_tiled_xml(const fm_map_input *input, fm_grid **out)
{
    return read_map(input, out, fm_tiled_xml_map);
}
