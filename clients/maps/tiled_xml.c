// clients/maps/tiled_xml.c: Tiled's .tmx and .tsx, read by libxml2 as a stream, so that memory
// depends on the map and not on the number of elements.
//
// libxml2 gets only bytes: it opens no file and no connection. A document type is where entities,
// and files to be fetched, are declared; Tiled writes none, so a file with one is refused before
// libxml2 sees it. Files must be UTF-8, so that none hides in another encoding.

#include "clients/maps/tiled.h"

#include <libxml/xmlreader.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX  32          // elements inside each other; groups of layers are
#define VALUE_SIZE 512u        // of an attribute
#define DATA_MAX   (96u << 20) // bytes of one layer's text

// What an element is, by its name and the one around it.
enum kind {
    KIND_OTHER, // whatever is inside is skipped
    KIND_MAP,
    KIND_TILESET,
    KIND_TILE, // of a tileset
    KIND_GROUP,
    KIND_LAYER,
    KIND_DATA,
    KIND_CHUNK,
    KIND_NUMBER, // a tile of a layer, in files that are neither CSV nor base64
    KIND_PROPERTIES,
    KIND_PROPERTY,
};

struct reader {
    const fm_map_input *input;
    fm_tiled *map;
    xmlTextReaderPtr xml;
    bool is_tileset; // the file is one
    bool has_root;
    char place[FM_MAP_PLACE_SIZE];
    char complaint[160]; // of libxml2
    int complaint_line;
    enum kind stack[DEPTH_MAX];
    int depth;
    fm_map_look tile, layer, floor; // as far as they have been read
    uint64_t tile_id;
    fm_tiled_data data; // of the layer, or the chunk in it
    char encoding[16], compression[16];
    uint64_t layer_width, layer_height;
    bool has_chunks;
    char *text; // of the layer or chunk
    size_t text_size, text_capacity;
};

static const char *place(struct reader *reader)
{
    int line = xmlTextReaderGetParserLineNumber(reader->xml);
    return fm_map_place_line(reader->place, reader->input->name, line > 0 ? (uint64_t)line : 1, 0);
}

static void on_error(void *context, const char *message, xmlParserSeverities severity,
                     xmlTextReaderLocatorPtr locator)
{
    struct reader *reader = context;
    (void)severity;
    if (reader->complaint[0] == '\0') {
        size_t size = strcspn(message, "\n");
        snprintf(reader->complaint, sizeof reader->complaint, "%.*s",
                 (int)(size < 150 ? size : 150), message);
        reader->complaint_line = xmlTextReaderLocatorLineNumber(locator);
    }
}

// ---- attributes ---------------------------------------------------------------------------------

// Empty when there is none.
static void get_text(struct reader *reader, const char *name, char *text, size_t size)
{
    xmlChar *value = xmlTextReaderGetAttribute(reader->xml, (const xmlChar *)name);
    snprintf(text, size, "%s", value == NULL ? "" : (const char *)value);
    xmlFree(value);
}

// 0 when there is none, or it is no number.
static int64_t get_number(struct reader *reader, const char *name)
{
    char text[VALUE_SIZE];
    get_text(reader, name, text, sizeof text);
    return strtoll(text, NULL, 10);
}

static uint64_t get_count(struct reader *reader, const char *name)
{
    int64_t number = get_number(reader, name);
    return number < 0 ? 0 : (uint64_t)number;
}

// ---- elements that begin ------------------------------------------------------------------------

static fm_status begin_map(struct reader *reader)
{
    char orientation[VALUE_SIZE];
    get_text(reader, "orientation", orientation, sizeof orientation);
    return fm_tiled_begin(reader->map, place(reader), orientation, get_count(reader, "width"),
                          get_count(reader, "height"), get_number(reader, "infinite") != 0);
}

static fm_status begin_tileset(struct reader *reader)
{
    char source[VALUE_SIZE];
    if (reader->is_tileset) {
        fm_tiled_set_tile_count(reader->map, get_count(reader, "tilecount"));
        return FM_OK;
    }
    get_text(reader, "source", source, sizeof source);
    return fm_tiled_add_tileset(reader->map, place(reader), get_count(reader, "firstgid"),
                                get_count(reader, "tilecount"), source);
}

static void begin_tile(struct reader *reader)
{
    char name[VALUE_SIZE];
    reader->tile = (fm_map_look){0, 0};
    reader->tile_id = get_count(reader, "id");
    get_text(reader, "type", name, sizeof name);
    fm_tiled_name(name, &reader->tile);
    get_text(reader, "class", name, sizeof name); // as Tiled 1.9 has it
    fm_tiled_name(name, &reader->tile);
}

static fm_status begin_layer(struct reader *reader)
{
    char name[VALUE_SIZE];
    get_text(reader, "name", name, sizeof name);
    reader->layer = (fm_map_look){0, 0};
    reader->layer_width = get_count(reader, "width");
    reader->layer_height = get_count(reader, "height");
    return fm_tiled_add_layer(reader->map, place(reader), name);
}

static void begin_data(struct reader *reader)
{
    get_text(reader, "encoding", reader->encoding, sizeof reader->encoding);
    get_text(reader, "compression", reader->compression, sizeof reader->compression);
    reader->data = (fm_tiled_data){.width = reader->layer_width,
                                   .height = reader->layer_height,
                                   .encoding = reader->encoding,
                                   .compression = reader->compression};
    if (reader->encoding[0] == '\0') {
        strcpy(reader->encoding, "csv"); // elements become CSV
    }
    reader->has_chunks = false;
    reader->text_size = 0;
}

static void begin_chunk(struct reader *reader)
{
    reader->has_chunks = true;
    reader->data.x = get_number(reader, "x");
    reader->data.y = get_number(reader, "y");
    reader->data.width = get_count(reader, "width");
    reader->data.height = get_count(reader, "height");
    reader->text_size = 0;
}

static fm_status add_text(struct reader *reader, const char *text, size_t size)
{
    if (reader->text_size + size > DATA_MAX) {
        return fm_map_refuse(reader->input, FM_ERR_LIMIT, place(reader),
                             "a layer of more than %u MiB of text", DATA_MAX >> 20);
    }
    if (reader->text_size + size > reader->text_capacity) {
        size_t grown = 2 * reader->text_capacity + size;
        char *moved = realloc(reader->text, grown);
        if (moved == NULL) {
            return fm_map_refuse_memory(reader->input);
        }
        reader->text = moved;
        reader->text_capacity = grown;
    }
    if (size > 0) {
        memcpy(reader->text + reader->text_size, text, size);
        reader->text_size += size;
    }
    return FM_OK;
}

static fm_status add_number(struct reader *reader)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%llu,", (unsigned long long)get_count(reader, "gid"));
    return add_text(reader, text, (size_t)size);
}

// The element that a property belongs to stands two above it.
static fm_status read_property(struct reader *reader)
{
    char name[VALUE_SIZE], value[VALUE_SIZE];
    enum kind owner = reader->depth >= 2 ? reader->stack[reader->depth - 2] : KIND_OTHER;
    get_text(reader, "name", name, sizeof name);
    get_text(reader, "value", value, sizeof value);
    fm_map_look ignored;
    fm_map_look *look = owner == KIND_MAP     ? &reader->floor
                        : owner == KIND_TILE  ? &reader->tile
                        : owner == KIND_LAYER ? &reader->layer
                                              : &ignored;
    return look == &ignored ? FM_OK
                            : fm_tiled_property(reader->map, place(reader), name, value, look);
}

// ---- the tree of elements -----------------------------------------------------------------------

static enum kind kind_of(const struct reader *reader, const char *name)
{
    static const struct {
        const char *name;
        enum kind around, kind;
    } kinds[] = {
        {"tileset", KIND_MAP, KIND_TILESET},
        {"layer", KIND_MAP, KIND_LAYER},
        {"layer", KIND_GROUP, KIND_LAYER},
        {"group", KIND_MAP, KIND_GROUP},
        {"group", KIND_GROUP, KIND_GROUP},
        {"tile", KIND_TILESET, KIND_TILE},
        {"data", KIND_LAYER, KIND_DATA},
        {"chunk", KIND_DATA, KIND_CHUNK},
        {"tile", KIND_DATA, KIND_NUMBER},
        {"tile", KIND_CHUNK, KIND_NUMBER},
        {"properties", KIND_MAP, KIND_PROPERTIES},
        {"properties", KIND_TILE, KIND_PROPERTIES},
        {"properties", KIND_LAYER, KIND_PROPERTIES},
        {"property", KIND_PROPERTIES, KIND_PROPERTY},
    };
    if (reader->depth == 0) {
        return strcmp(name, reader->is_tileset ? "tileset" : "map") != 0 ? KIND_OTHER
               : reader->is_tileset                                      ? KIND_TILESET
                                                                         : KIND_MAP;
    }
    for (size_t i = 0; i < FM_COUNT_OF(kinds); i++) {
        if (kinds[i].around == reader->stack[reader->depth - 1] &&
            strcmp(kinds[i].name, name) == 0) {
            return kinds[i].kind;
        }
    }
    return KIND_OTHER;
}

static fm_status begin_element(struct reader *reader, enum kind kind)
{
    switch (kind) {
    case KIND_MAP:
        return begin_map(reader);
    case KIND_TILESET:
        return begin_tileset(reader);
    case KIND_TILE:
        begin_tile(reader);
        return FM_OK;
    case KIND_LAYER:
        return begin_layer(reader);
    case KIND_DATA:
        begin_data(reader);
        return FM_OK;
    case KIND_CHUNK:
        begin_chunk(reader);
        return FM_OK;
    case KIND_NUMBER:
        return add_number(reader);
    case KIND_PROPERTY:
        return read_property(reader);
    case KIND_GROUP:
    case KIND_PROPERTIES:
    case KIND_OTHER:
        return FM_OK;
    }
    FM_UNREACHABLE();
}

static fm_status end_piece(struct reader *reader)
{
    if (reader->text == NULL && add_text(reader, "", 0) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    reader->data.text = reader->text;
    reader->data.size = reader->text_size;
    fm_status status = fm_tiled_add_data(reader->map, place(reader), &reader->data);
    reader->text_size = 0;
    return status;
}

static fm_status end_element(struct reader *reader, enum kind kind)
{
    if (kind == KIND_CHUNK || (kind == KIND_DATA && !reader->has_chunks)) {
        fm_tiled_set_layer(reader->map, reader->layer);
        return end_piece(reader);
    }
    if (kind == KIND_TILE) {
        return fm_tiled_add_tile(reader->map, place(reader), reader->tile_id, reader->tile);
    }
    if (kind == KIND_LAYER) {
        fm_tiled_set_layer(reader->map, reader->layer);
    } else if (kind == KIND_MAP) {
        fm_tiled_set_floor(reader->map, reader->floor);
    }
    return FM_OK;
}

static fm_status read_start(struct reader *reader)
{
    const char *name = (const char *)xmlTextReaderConstLocalName(reader->xml);
    enum kind kind = kind_of(reader, name);
    if (reader->depth == 0) {
        reader->has_root = true;
        if (kind == KIND_OTHER) {
            return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, place(reader),
                                 "this XML is no %s of Tiled: it begins with <%.40s>",
                                 reader->is_tileset ? "tileset" : "map", name);
        }
    }
    if (reader->depth == DEPTH_MAX) {
        return fm_map_refuse(reader->input, FM_ERR_LIMIT, place(reader),
                             "more than %d elements inside each other", DEPTH_MAX);
    }
    bool is_empty = xmlTextReaderIsEmptyElement(reader->xml) != 0;
    fm_status status = begin_element(reader, kind);
    if (status == FM_OK && is_empty) {
        return end_element(reader, kind);
    }
    reader->stack[reader->depth++] = kind;
    return status;
}

static fm_status read_node(struct reader *reader)
{
    enum kind around = reader->depth > 0 ? reader->stack[reader->depth - 1] : KIND_OTHER;
    switch (xmlTextReaderNodeType(reader->xml)) {
    case XML_READER_TYPE_ELEMENT:
        return read_start(reader);
    case XML_READER_TYPE_END_ELEMENT:
        reader->depth--;
        return end_element(reader, around);
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
        if (around == KIND_DATA || around == KIND_CHUNK) {
            const char *text = (const char *)xmlTextReaderConstValue(reader->xml);
            return add_text(reader, text, text == NULL ? 0 : strlen(text));
        }
        return FM_OK;
    default:
        return FM_OK;
    }
}

// ---- the file -----------------------------------------------------------------------------------

// Refuses words that no file of Tiled has; see the top.
static fm_status refuse_tricks(const fm_map_input *input)
{
    char where[FM_MAP_PLACE_SIZE];
    uint64_t line = 1;
    for (size_t i = 0; i < input->size; i++) {
        char letter = input->bytes[i];
        line += letter == '\n';
        if (letter == '\0') {
            return fm_map_refuse(input, FM_ERR_BAD_FORMAT,
                                 fm_map_place_line(where, input->name, line, 0),
                                 "a zero byte; wanted: XML in UTF-8");
        }
        bool is_mark = letter == '<' && input->size - i > 9 && input->bytes[i + 1] == '!';
        if (is_mark && (memcmp(input->bytes + i, "<!DOCTYPE", 9) == 0 ||
                        memcmp(input->bytes + i, "<!ENTITY", 8) == 0)) {
            return fm_map_refuse(input, FM_ERR_BAD_FORMAT,
                                 fm_map_place_line(where, input->name, line, 0),
                                 "a document type or an entity is declared; files of Tiled have "
                                 "none");
        }
    }
    return FM_OK;
}

static fm_status refuse_xml(struct reader *reader)
{
    fm_map_place_line(reader->place, reader->input->name,
                      reader->complaint_line > 0 ? (uint64_t)reader->complaint_line : 1, 0);
    return fm_map_refuse(reader->input, FM_ERR_BAD_FORMAT, reader->place, "no XML: %s",
                         reader->complaint[0] == '\0' ? "it ends too early" : reader->complaint);
}

static fm_status read_nodes(struct reader *reader)
{
    for (;;) {
        int result = xmlTextReaderRead(reader->xml);
        if (result != 1) {
            return result == 0 && reader->has_root && reader->complaint[0] == '\0'
                       ? FM_OK
                       : refuse_xml(reader);
        }
        fm_status status = read_node(reader);
        if (status != FM_OK) {
            return status;
        }
    }
}

static fm_status read_file(struct reader *reader)
{
    const fm_map_input *input = reader->input;
    fm_status status = refuse_tricks(input);
    if (status != FM_OK) {
        return status;
    }
    // HUGE lifts the limit of 10 MB for a text, which a layer may exceed; our own limits are above.
    reader->xml = xmlReaderForMemory(input->bytes, (int)input->size, NULL, "UTF-8",
                                     XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_IGNORE_ENC);
    if (reader->xml == NULL) {
        return fm_map_refuse_memory(input);
    }
    xmlTextReaderSetErrorHandler(reader->xml, on_error, reader);
    status = read_nodes(reader);
    xmlFreeTextReader(reader->xml);
    free(reader->text);
    return status;
}

fm_status fm_tiled_xml_tileset(fm_tiled *map, const fm_map_input *input)
{
    struct reader reader = {.input = input, .map = map, .is_tileset = true};
    return read_file(&reader);
}

fm_status fm_tiled_xml_map(fm_tiled *map, const fm_map_input *input)
{
    struct reader reader = {.input = input, .map = map};
    return read_file(&reader);
}
