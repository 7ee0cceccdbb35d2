// tests/clients/maps/test_maps.c: maps from files of every format.
//
// Goal: a map is the same in every format, however its layers are packed; a wrong file is refused
// with the place of the fault and with what was expected; a file that claims more than it holds, or
// unpacks to more than is allowed, costs no memory. Method: the examples of clients/maps, random
// maps from a printed seed, written as Tiled does, a table of damaged files, random damage, and an
// allocator that counts.

#include "tests/support/support.h"

#include "clients/maps/maps.h"
#include "core/base/random.h"
#include "core/map/map_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define EXAMPLES "clients/maps/examples/"

// ---- made-up files ------------------------------------------------------------------------------

// A map, and one file beside it.
struct made_up {
    const char *name, *text;
    size_t size; // 0: until NUL
    const char *beside_name, *beside_text;
};

static bool made_up_exists(void *context, const char *name)
{
    const struct made_up *file = context;
    return file->beside_name != NULL && strcmp(file->beside_name, name) == 0;
}

static fm_status made_up_read(void *context, const char *name, char **bytes, size_t *size,
                              char *why)
{
    const struct made_up *file = context;
    if (!made_up_exists(context, name)) {
        snprintf(why, FM_MAP_PLACE_SIZE, "there is no such file");
        return FM_ERR_IO;
    }
    *size = strlen(file->beside_text);
    *bytes = malloc(*size + 1);
    memcpy(*bytes, file->beside_text, *size);
    return FM_OK;
}

static fm_status read_made_up(const struct made_up *file, fm_grid **grid, char *fault)
{
    const fm_map_files files = {made_up_exists, made_up_read, (void *)file};
    size_t size = file->size > 0 ? file->size : strlen(file->text);
    char *exact = malloc(size > 0 ? size : 1); // ASan finds a read past the end
    memcpy(exact, file->text, size);
    const fm_map_input input = {file->name, exact, size, &files, &fm_memory_libc, fault};
    fault[0] = '\0';
    *grid = NULL;
    fm_status status = fm_map_load_bytes(&input, NULL, grid);
    free(exact);
    return status;
}

static void assert_same(const fm_grid *grid, const fm_grid *wanted, bool costs)
{
    size_t cell_count = (size_t)wanted->width * wanted->height;
    assert_int_equal(grid->width, wanted->width);
    assert_int_equal(grid->height, wanted->height);
    assert_memory_equal(grid->terrain, wanted->terrain, cell_count);
    if (costs) {
        assert_memory_equal(grid->cost, wanted->cost, cell_count);
    }
}

// ---- the examples -------------------------------------------------------------------------------

static void all_examples_are_the_same_map(void **state)
{
    (void)state;
    static const char *const names[] = {"forest.map",  "weighted.map", "forest.txt",
                                        "letters.txt", "forest.png",   "forest.ppm",
                                        "hills.pgm",   "forest.tmx",   "forest.tmj"};
    char fault[FM_MAP_FAULT_SIZE] = "";
    fm_grid *wanted, *grid;
    assert_int_equal(fm_map_load(EXAMPLES "forest.map", &fm_memory_libc, &wanted, fault), FM_OK);
    assert_int_equal(wanted->width, 12);
    assert_int_equal(wanted->height, 8);
    assert_int_equal(wanted->cost[2 * 12 + 7], 4);
    for (size_t i = 0; i < FM_COUNT_OF(names); i++) {
        char path[100];
        snprintf(path, sizeof path, EXAMPLES "%s", names[i]);
        if (fm_map_load(path, &fm_memory_libc, &grid, fault) != FM_OK) {
            fail_msg("%s", fault);
        }
        assert_same(grid, wanted, true);
        fm_grid_destroy(grid);
    }
    fm_grid_destroy(wanted);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"a.map", "a.txt", "a.png", "a.ppm"};
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 40; round++) {
        fm_grid *wanted, *grid;
        uint32_t width = 1 + fm_random_below(&random, 60);
        assert_int_equal(
            fm_grid_create(width, 1 + fm_random_below(&random, 40), &fm_memory_libc, &wanted),
            FM_OK);
        for (uint32_t i = 0; i < wanted->width * wanted->height; i++) {
            fm_terrain terrain = 1 + fm_random_below(&random, FM_TERRAIN_BUILDING - 1);
            fm_grid_set(wanted, fm_cell_at(i % width, i / width), terrain, 1);
        }
        const char *name = names[round % FM_COUNT_OF(names)];
        char fault[FM_MAP_FAULT_SIZE], *bytes;
        size_t size;
        assert_int_equal(fm_map_convert(wanted, name, &bytes, &size, fault), FM_OK);
        const struct made_up file = {.name = name, .text = bytes, .size = size};
        if (read_made_up(&file, &grid, fault) != FM_OK) {
            fail_msg("%s", fault);
        }
        assert_same(grid, wanted, true);
        free(bytes);
        fm_grid_destroy(grid);
        fm_grid_destroy(wanted);
    }
}

static void what_a_format_cannot_hold_is_refused(void **state)
{
    (void)state;
    char fault[FM_MAP_FAULT_SIZE], *bytes;
    size_t size;
    fm_grid *grid;
    assert_int_equal(fm_grid_create(3, 3, &fm_memory_libc, &grid), FM_OK);
    fm_grid_set(grid, fm_cell_at(1, 1), FM_TERRAIN_GROUND, 9);
    assert_int_equal(fm_map_convert(grid, "a.txt", &bytes, &size, fault), FM_OK);
    assert_memory_equal(bytes, "...\n.9.\n...\n", 12);
    free(bytes);
    assert_int_equal(fm_map_convert(grid, "a.png", &bytes, &size, fault), FM_ERR_BAD_VALUE);
    assert_non_null(strstr(fault, "costs"));
    fm_grid_set(grid, fm_cell_at(1, 1), FM_TERRAIN_GROUND, 10);
    assert_int_equal(fm_map_convert(grid, "a.txt", &bytes, &size, fault), FM_ERR_BAD_VALUE);
    assert_int_equal(fm_map_convert(grid, "a.gif", &bytes, &size, fault), FM_ERR_BAD_VALUE);
    assert_non_null(strstr(fault, ".map, .txt, .png and .ppm"));
    fm_grid_destroy(grid);
}

// ---- Tiled, in all its encodings ----------------------------------------------------------------

struct text {
    char *bytes;
    size_t size, capacity;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    for (;;) {
        va_start(arguments, format);
        int size =
            vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
        va_end(arguments);
        if (text->size + (size_t)size < text->capacity) {
            text->size += (size_t)size;
            return;
        }
        text->capacity = 2 * text->capacity + (size_t)size + 1;
        text->bytes = realloc(text->bytes, text->capacity);
    }
}

static void add_base64(struct text *text, const uint8_t *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < size ? bytes[i + 2] : 0;
        add(text, "%c%c%c%c", letters[bits >> 18], letters[bits >> 12 & 63],
            i + 1 < size ? letters[bits >> 6 & 63] : '=', i + 2 < size ? letters[bits & 63] : '=');
    }
}

enum way {
    ELEMENTS,
    CSV,
    PLAIN,
    ZLIB,
    GZIP,
    ZSTD,
    WAY_COUNT
};

static const char *const encodings[] = {"", "csv", "base64", "base64", "base64", "base64"};
static const char *const compressions[] = {"", "", "", "zlib", "gzip", "zstd"};

static size_t pack(enum way way, const void *bytes, size_t size, uint8_t *packed, size_t room)
{
    if (way == ZSTD) {
        return ZSTD_compress(packed, room, bytes, size, 3);
    }
    z_stream stream = {.next_in = (uint8_t *)bytes,
                       .avail_in = (uInt)size,
                       .next_out = packed,
                       .avail_out = (uInt)room};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + (way == GZIP ? 16 : 0), 8, Z_DEFAULT_STRATEGY);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

// The text of a layer or chunk.
static void add_data(struct text *text, enum way way, const uint32_t *tiles, size_t count)
{
    if (way == ELEMENTS || way == CSV) {
        for (size_t i = 0; i < count; i++) {
            add(text, way == CSV ? "%s%u" : "%.0s<tile gid=\"%u\"/>\n",
                i == 0       ? ""
                : i % 7 == 0 ? ",\n"
                             : ",",
                tiles[i]);
        }
        return;
    }
    size_t size = count * sizeof *tiles, room = size + size / 2 + 1000;
    uint8_t *packed = malloc(room);
    memcpy(packed, tiles, size);
    size = way == PLAIN ? size : pack(way, tiles, size, packed, room);
    add_base64(text, packed, size);
    free(packed);
}

static void write_tmx(struct text *text, enum way way, uint32_t width, uint32_t height,
                      const uint32_t *tiles)
{
    add(text,
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- a comment -->\n<map orientation=\"orthogonal\""
        " width=\"%u\" height=\"%u\" infinite=\"0\">\n<tileset firstgid=\"1\">\n",
        width, height);
    for (uint32_t terrain = 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        add(text,
            "<tile id=\"%u\"><properties><property name=\"terrain\" value=\"%s\"/></properties>"
            "</tile>\n",
            terrain - 1, fm_terrain_name((fm_terrain)terrain));
    }
    add(text,
        "</tileset><objectgroup><object id=\"3\"/></objectgroup><group><layer name=\"a\" "
        "width=\"%u\" height=\"%u\"><data",
        width, height);
    if (way != ELEMENTS) {
        add(text, " encoding=\"%s\"", encodings[way]);
    }
    if (way > PLAIN) {
        add(text, " compression=\"%s\"", compressions[way]);
    }
    add(text, ">\n  ");
    add_data(text, way, tiles, (size_t)width * height);
    add(text, "\n</data></layer></group></map>\n");
}

static void write_tmj(struct text *text, enum way way, uint32_t width, uint32_t height,
                      const uint32_t *tiles)
{
    add(text,
        "{\"layers\":[{\"type\":\"group\",\"layers\":[{\"type\":\"tilelayer\",\"name\":\"a\","
        "\"width\":%u,\"height\":%u,\"encoding\":\"%s\",\"compression\":\"%s\",\"data\":%s",
        width, height, encodings[way], compressions[way], way == CSV ? "[" : "\"");
    add_data(text, way, tiles, (size_t)width * height);
    add(text,
        "%s}]},{\"type\":\"objectgroup\"}],\"orientation\":\"isometric\",\"width\":%u,"
        "\"height\":%u,\"tilesets\":[{\"firstgid\":1,\"tiles\":[",
        way == CSV ? "]" : "\"", width, height);
    for (uint32_t terrain = 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        add(text, "%s{\"id\":%u,\"properties\":[{\"name\":\"terrain\",\"value\":\"%s\"}]}",
            terrain == 1 ? "" : ",", terrain - 1, fm_terrain_name((fm_terrain)terrain));
    }
    add(text, "]}]}");
}

static void layers_may_be_packed_in_any_way(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 8 * WAY_COUNT; round++) {
        uint32_t width = 1 + fm_random_below(&random, 50),
                 height = 1 + fm_random_below(&random, 50);
        uint32_t *tiles = malloc(width * height * sizeof *tiles);
        for (uint32_t i = 0; i < width * height; i++) { // 0: no tile; the upper bits turn the tile
            tiles[i] = fm_random_below(&random, FM_TERRAIN_BUILDING);
            tiles[i] |= tiles[i] == 0 ? 0 : fm_random_below(&random, 16) << 28;
        }
        tiles[0] = 1;
        struct text text = {NULL, 0, 0};
        enum way way = round % WAY_COUNT;
        bool is_json = way != ELEMENTS && round / WAY_COUNT % 2 == 1;
        (is_json ? write_tmj : write_tmx)(&text, way, width, height, tiles);
        char fault[FM_MAP_FAULT_SIZE];
        fm_grid *grid;
        const struct made_up file = {
            .name = is_json ? "a.tmj" : "a.tmx", .text = text.bytes, .size = text.size};
        if (read_made_up(&file, &grid, fault) != FM_OK) {
            fail_msg("way %d: %s", (int)way, fault);
        }
        for (uint32_t i = 0; i < width * height; i++) {
            uint32_t number = tiles[i] & 0x0fffffff;
            assert_int_equal(grid->terrain[i], number == 0 ? FM_TERRAIN_GROUND : number);
        }
        fm_grid_destroy(grid);
        free(text.bytes);
        free(tiles);
    }
}

static void assert_map(const struct made_up *file, const char *rows)
{
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid;
    if (read_made_up(file, &grid, fault) != FM_OK) {
        fail_msg("%s", fault);
    }
    char *bytes;
    size_t size;
    assert_int_equal(fm_map_convert(grid, "a.txt", &bytes, &size, fault), FM_OK);
    assert_int_equal(size, strlen(rows));
    assert_memory_equal(bytes, rows, size);
    free(bytes);
    fm_grid_destroy(grid);
}

#define TMX(attributes, rest) "<map orientation=\"orthogonal\" " attributes ">" rest "</map>"
#define SET                                                                                        \
    "<tileset firstgid=\"1\"><tile id=\"0\" type=\"water\"/><tile id=\"1\" class=\"Wall\"/>"       \
    "<tile id=\"2\"><properties><property name=\"cost\" value=\"5\"/></properties></tile>"         \
    "<tile id=\"3\"><properties><property name=\"blocked\" value=\"true\"/></properties></tile>"   \
    "</tileset>"

static void infinite_maps_begin_at_their_first_tile(void **state)
{
    (void)state;
    assert_map(&(struct made_up){.name = "a.tmx",
                                 .text = TMX("infinite=\"1\" width=\"1\" height=\"1\"", SET
                                             "<layer name=\"l\"><data encoding=\"csv\">"
                                             "<chunk x=\"-2\" y=\"-2\" width=\"2\" height=\"2\">"
                                             "0,0,0,2</chunk>"
                                             "<chunk x=\"0\" y=\"-2\" width=\"2\" height=\"2\">"
                                             "0,0,0,1</chunk>"
                                             "<chunk x=\"0\" y=\"0\" width=\"2\" height=\"2\">"
                                             "3,0,0,0</chunk></data></layer>")},
               "O.W\n.5.\n");
    assert_map(
        &(struct made_up){
            .name = "a.tmj",
            .text = "{\"orientation\":\"orthogonal\",\"infinite\":true,\"tilesets\":[{\"firstgid\":"
                    "1}],\"layers\":[{\"type\":\"tilelayer\",\"name\":\"Water\",\"chunks\":[{\"x\":"
                    "-16,\"y\":3,\"width\":2,\"height\":1,\"data\":[1,1]},{\"x\":-13,\"y\":3,"
                    "\"width\":1,\"height\":1,\"data\":[1]}]}]}"},
        "WW.W\n");
}

static void upper_layers_lie_over_lower_ones(void **state)
{
    (void)state;
    assert_map(
        &(struct made_up){.name = "a.tmx",
                          .text = TMX("width=\"4\" height=\"2\"", SET
                                      "<layer name=\"Swamp\" width=\"4\" height=\"2\">"
                                      "<data encoding=\"csv\">9,9,1,1,\n9,9,2,0</data></layer>"
                                      "<layer name=\"decoration\" width=\"4\" height=\"2\">"
                                      "<data encoding=\"csv\">9,0,9,0,0,0,0,9</data></layer>"
                                      "<layer name=\"road\" width=\"4\" height=\"2\"><properties>"
                                      "<property name=\"terrain\" value=\"ground\"/>"
                                      "<property name=\"cost\" value=\"2\"/></properties>"
                                      "<data encoding=\"csv\">0,9,0,4,0,3,0,0</data></layer>")},
        "S2WO\nS5O.\n");
}

static void a_map_says_what_lies_under_its_tiles(void **state)
{
    (void)state;
    assert_map(&(struct made_up){.name = "a.tmx",
                                 .text = TMX("width=\"2\" height=\"1\"",
                                             "<properties><property name=\"terrain\" "
                                             "value=\"out_of_bounds\"/></properties>" SET
                                             "<layer name=\"ground\" width=\"2\" height=\"1\">"
                                             "<data encoding=\"csv\">0,9</data></layer>")},
               "@.\n");
}

static void tilesets_may_be_files(void **state)
{
    (void)state;
    const char *map =
        TMX("width=\"2\" height=\"1\"", "<tileset firstgid=\"5\" source=\"../sets/a.tsx\"/>"
                                        "<layer name=\"l\" width=\"2\" height=\"1\">"
                                        "<data encoding=\"csv\">5,6</data></layer>");
    assert_map(&(struct made_up){.name = "a.tmx",
                                 .text = map,
                                 .beside_name = "../sets/a.tsx",
                                 .beside_text = "<tileset tilecount=\"2\"><tile id=\"1\" "
                                                "type=\"water\"/></tileset>"},
               ".W\n");
    assert_map(&(struct made_up){.name = "a.tmx",
                                 .text = map,
                                 .beside_name = "../sets/a.tsx",
                                 .beside_text = "{\"tilecount\":2,\"tiles\":[{\"id\":0,\"type\":"
                                                "\"trees\"}]}"},
               "T.\n");
}

static void short_rows_of_a_drawing_are_filled_up(void **state)
{
    (void)state;
    assert_map(&(struct made_up){.name = "a.txt", .text = ".#\r\n.\n....\n\n\n"},
               ".O@@\n.@@@\n....\n");
}

static void heights_of_sixteen_bits_are_whole(void **state)
{
    (void)state;
    const char *legend =
        "heights: [{up_to: 257, terrain: water}, {up_to: 60000, terrain: ground}]\n"
        "other: wall\n";
    assert_map(&(struct made_up){.name = "a.pgm",
                                 .text = "P2 4 1 65535 0 257 258 60001",
                                 .beside_name = "a.pgm.yaml",
                                 .beside_text = legend},
               "WW.O\n");
}

// ---- refused files ------------------------------------------------------------------------------

struct damage {
    struct made_up file;
    const char *words[2]; // in the fault's text
};

static void wrong_files_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        {{.name = "a.map", .text = ""}, {"a.map: the file is empty", "a map is expected"}},
        {{.name = "a.png", .text = ""}, {"a.png: the file is empty", "a map is expected"}},
        {{.name = "a.txt", .text = ""}, {"a.txt: the file is empty", "a map is expected"}},
        {{.name = "a", .text = ""}, {"a: the file is empty", "a map is expected"}},
        {{.name = "a.gif", .text = "GIF89a"}, {"a.gif: neither content", "Tiled (.tmj, .tmx)"}},
        {{.name = "a.map", .text = "tpe octile\n"}, {"a.map:1:1:", "Known formats: MovingAI"}},
        {{.name = "a.map", .text = "type octile\nheight 1\nwidth 2\nmap\n.x\n"},
         {"a.map:5:2: 'x' is no terrain", "letters are . @ G O S T W"}},
        {{.name = "a.map",
          .text = "type octile\nheight 1\nwidth 1\nmap\n.\n",
          .beside_name = "a.map.cost",
          .beside_text = ". 1\n@ 1.5\n"},
         {"a.map.cost:2:1:", "whole number in 1..250"}},
        {{.name = "a.txt", .text = "...\n..?\n"}, {"a.txt:2:3: '?'", "a.txt.yaml"}},
        {{.name = "a.txt", .text = "\n"}, {"0 x ", "1 to 4096"}},
        {{.name = "a.txt",
          .text = "..\n.\n",
          .beside_name = "a.txt.yaml",
          .beside_text = "letters: {'.': ground}"},
         {"a.txt:2: this row", "has 2 letters"}},
        // legends
        {{.name = "a.txt", .text = ".", .beside_name = "a.txt.yaml", .beside_text = "colour: 3"},
         {"a.txt.yaml:1:1: 'colour'", "colours, heights, letters or other"}},
        {{.name = "a.txt",
          .text = ".",
          .beside_name = "a.txt.yaml",
          .beside_text = "letters:\n  '.': lava\n"},
         {"a.txt.yaml:2:8: 'lava' is no terrain", "out_of_bounds"}},
        {{.name = "a.txt",
          .text = ".",
          .beside_name = "a.txt.yaml",
          .beside_text = "letters:\n  '.': {terrain: ground, cost: 251}\n"},
         {"a.txt.yaml:2:", "cost must be a whole number in 1..250"}},
        {{.name = "a.txt", .text = ".", .beside_name = "a.txt.yaml", .beside_text = "letters: [\n"},
         {"a.txt.yaml:2:1: no YAML", ""}},
        {{.name = "a.txt",
          .text = ".",
          .beside_name = "a.txt.yaml",
          .beside_text = "colours: {red: wall}"},
         {"a.txt.yaml:1:11:", "\"#rrggbb\""}},
        {{.name = "a.txt",
          .text = ".",
          .beside_name = "a.txt.yaml",
          .beside_text = "heights:\n- {up_to: 9, terrain: wall}\n- {up_to: 9, terrain: wall}"},
         {"a.txt.yaml:3:3:", "more than the 9"}},
        // pictures
        {{.name = "a.png", .text = "\x89PNG\r\n\x1a\n"}, {"near byte 8", "ends too early"}},
        {{.name = "a.png", .text = "P4 1 1 x"},
         {"a.png:1: the file must begin", "P2, P3, P5 or P6"}},
        {{.name = "a.ppm", .text = "P3 2 1 255\n255 255 255\n1 2 3\n"},
         {"a.ppm: pixel 1,0: #010203", "a.ppm.yaml"}},
        {{.name = "a.ppm", .text = "P3 2 1 255\n255 255 255\n1 2 300\n"},
         {"a.ppm:3: wanted: a number", "largest value"}},
        {{.name = "a.ppm", .text = "P6 4096 4096 255\n"}, {"ends too early", ""}},
        {{.name = "a.ppm", .text = "P6 4097 1 255\n"}, {"4097 x 1 cells", "1 to 4096"}},
        // JSON
        {{.name = "a.tmj", .text = "{\n\"orientation\": }"}, {"a.tmj:2:", "no JSON"}},
        {{.name = "a.tmj", .text = "{}"}, {"no map of Tiled", "orientation"}},
        {{.name = "a.tmj", .text = "{\"orientation\":\"hexagonal\",\"width\":1,\"height\":1}"},
         {"'hexagonal'", "wanted: orthogonal or isometric"}},
        {{.name = "a.tmj", .text = "{\"orientation\":\"orthogonal\",\"width\":5000,\"height\":1}"},
         {"5000 x 1 cells", ""}},
        {{.name = "a.tmj",
          .text = "{\"orientation\":\"orthogonal\",\"width\":2,\"height\":1,\"layers\":[{\"type\":"
                  "\"tilelayer\",\"width\":2,\"height\":1,\"data\":[0,\"x\"]}]}"},
         {"a.tmj: layers[0]: data[1]", "the tile at 1,0"}},
        {{.name = "a.tmj",
          .text =
              "{\"orientation\":\"orthogonal\",\"width\":2,\"height\":1,\"tilesets\":[{"
              "\"firstgid\":1,\"tiles\":[{\"id\":0,\"properties\":[{\"name\":\"cost\",\"value\":"
              "1.5}]}]}]}"},
         {"a.tmj: tilesets[0].tiles[0].properties[0]:", "cost is '1.5'"}},
        // XML
        {{.name = "a.tmx", .text = "<map\n>"}, {"a.tmx:", ""}},
        {{.name = "a.tmx", .text = "<?xml version=\"1.0\"?>\n<svg/>"},
         {"a.tmx:2:", "begins with <svg>"}},
        {{.name = "a.tmx", .text = TMX("width=\"1\" height=\"1\"", "<tileset firstgid=\"0\"/>")},
         {"firstgid is 0", "at least 1"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"1\" height=\"1\"", "<tileset firstgid=\"1\" source=\"b.tsx\"/>")},
         {"tileset b.tsx: there is no such file", ""}},
        {{.name = "a.tmx",
          .text = TMX("width=\"1\" height=\"1\"",
                      "\n<tileset firstgid=\"1\"><tile id=\"0\"><properties>\n"
                      "<property name=\"terrain\" value=\"mud\"/></properties></tile></tileset>")},
         {"a.tmx:3: the property terrain is 'mud'", "wanted: ground, water"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"1\" height=\"1\"", "<layer name=\"wall\" width=\"1\" height=\"1\">"
                                                  "<data encoding=\"csv\">7</data></layer>")},
         {"a.tmx: tile 0,0: layer 'wall' has number 7", "in no tileset"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"", SET "<layer name=\"x\" width=\"2\" height=\"1\">"
                                                      "<data encoding=\"csv\">9,9</data></layer>")},
         {"nothing says which cells", "no layer with tiles is called"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"", "<layer name=\"x\" width=\"2\" height=\"1\">"
                                                  "<data encoding=\"csv\">1,a</data></layer>")},
         {"tile number 2", "at 1,0"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"", "<layer name=\"x\" width=\"2\" height=\"1\">"
                                                  "<data encoding=\"csv\">1,2,3</data></layer>")},
         {"more than the 2 tiles", "2 x 1 cells"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"",
                      "<layer name=\"x\" width=\"2\" height=\"1\">"
                      "<data encoding=\"base64\">AAAAAAAA*AA=</data></layer>")},
         {"character 9", "no base64"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"",
                      "<layer name=\"x\" width=\"2\" height=\"1\">"
                      "<data encoding=\"base64\" compression=\"lzma\">AAAA</data>"
                      "</layer>")},
         {"'lzma' is not known", "zlib, gzip, zstd or none"}},
        {{.name = "a.tmx",
          .text = TMX("width=\"2\" height=\"1\"",
                      "<layer name=\"x\" width=\"2\" height=\"1\">"
                      "<data encoding=\"base64\" compression=\"zlib\">AAAA</data>"
                      "</layer>")},
         {"cannot be unpacked as zlib", ""}},
        {{.name = "a.tmx",
          .text = "<!DOCTYPE map [<!ENTITY a \"aaaa\">]>\n" TMX("width=\"1\" height=\"1\"", "&a;")},
         {"a.tmx:1: a document type", ""}},
        {{.name = "a.tmx", .text = "<\0m\0", .size = 4}, {"a.tmx:1: a zero byte", "UTF-8"}},
    };
    for (size_t i = 0; i < FM_COUNT_OF(damages); i++) {
        const struct damage *damage = &damages[i];
        char fault[FM_MAP_FAULT_SIZE];
        fm_grid *grid;
        fm_status status = read_made_up(&damage->file, &grid, fault);
        if (status == FM_OK || strstr(fault, damage->words[0]) == NULL ||
            strstr(fault, damage->words[1]) == NULL) {
            fail_msg("%s, row %zu: %s: \"%s\"; expected \"%s\" and \"%s\"", damage->file.name, i,
                     fm_status_name(status), fault, damage->words[0], damage->words[1]);
        }
        assert_null(grid);
    }
}

static void deep_files_are_refused(void **state)
{
    (void)state;
    struct text json = {NULL, 0, 0}, xml = {NULL, 0, 0};
    add(&json, "{\"orientation\":\"orthogonal\",\"width\":1,\"height\":1,\"layers\":");
    add(&xml, "<map orientation=\"orthogonal\" width=\"1\" height=\"1\">");
    for (int i = 0; i < 600; i++) {
        add(&json, "[{\"type\":\"group\",\"layers\":");
        add(&xml, "<group>");
    }
    add(&json, "[]");
    for (int i = 0; i < 600; i++) {
        add(&json, "}]");
    }
    add(&json, "}");
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid;
    struct made_up file = {.name = "a.tmj", .text = json.bytes, .size = json.size};
    assert_int_equal(read_made_up(&file, &grid, fault), FM_ERR_LIMIT);
    assert_non_null(strstr(fault, "groups of layers inside each other"));
    file = (struct made_up){.name = "a.tmx", .text = xml.bytes, .size = xml.size};
    assert_int_equal(read_made_up(&file, &grid, fault), FM_ERR_LIMIT);
    assert_non_null(strstr(fault, "elements inside each other"));
    free(json.bytes);
    free(xml.bytes);
}

// A layer of one cell whose data unpacks to 64 MiB.
static void what_unpacks_to_more_is_refused(void **state)
{
    (void)state;
    size_t size = (size_t)64 << 20;
    uint8_t *zeros = calloc(size, 1), *packed = malloc(size);
    for (enum way way = ZLIB; way <= ZSTD; way++) {
        struct text text = {NULL, 0, 0};
        add(&text,
            "<map orientation=\"orthogonal\" width=\"1\" height=\"1\"><layer name=\"wall\" "
            "width=\"1\" height=\"1\"><data encoding=\"base64\" compression=\"%s\">",
            compressions[way]);
        add_base64(&text, packed, pack(way, zeros, size, packed, size));
        add(&text, "</data></layer></map>");
        char fault[FM_MAP_FAULT_SIZE];
        fm_grid *grid;
        const struct made_up file = {.name = "a.tmx", .text = text.bytes, .size = text.size};
        assert_int_equal(read_made_up(&file, &grid, fault), FM_ERR_BAD_FORMAT);
        assert_non_null(strstr(fault, "more than the 1 tiles"));
        free(text.bytes);
    }
    free(zeros);
    free(packed);
}

// A PNG's head may claim any size; libpng gets our limit.
static void sides_are_checked_before_pixels(void **state)
{
    (void)state;
    static const uint8_t head[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0,
                                   0,    13,  'I', 'H', 'D',  'R',  0,    1,    0, 0,
                                   0,    1,   0,   0,   8,    2,    0,    0,    0};
    uint8_t bytes[sizeof head + 4];
    memcpy(bytes, head, sizeof head);
    uint32_t sum = (uint32_t)crc32(0, head + 12, 17);
    for (int i = 0; i < 4; i++) {
        bytes[sizeof head + i] = (uint8_t)(sum >> (24 - 8 * i));
    }
    char fault[FM_MAP_FAULT_SIZE];
    fm_grid *grid;
    const struct made_up file = {.name = "a.png", .text = (char *)bytes, .size = sizeof bytes};
    assert_int_equal(read_made_up(&file, &grid, fault), FM_ERR_BAD_FORMAT);
    assert_non_null(strstr(fault, "1 to 4096 pixels"));
}

// Every example with changed, missing and repeated bytes is accepted, or refused with a fault.
static void any_damage_is_accepted_or_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"forest.map", "weighted.map", "letters.txt", "forest.png",
                                        "forest.ppm", "hills.pgm",    "forest.tmx",  "forest.tmj"};
    fm_random random = fm_random_seed(fm_test_seed());
    for (uint32_t round = 0; round < 4000; round++) {
        char path[100], why[FM_MAP_PLACE_SIZE], fault[FM_MAP_FAULT_SIZE], *bytes;
        size_t size;
        const char *name = names[round % FM_COUNT_OF(names)];
        snprintf(path, sizeof path, EXAMPLES "%s", name);
        assert_int_equal(fm_map_read_whole(path, &bytes, &size, why), FM_OK);
        for (uint32_t i = fm_random_below(&random, 4); i-- > 0;) {
            bytes[fm_random_below(&random, (uint32_t)size)] = (char)fm_random_below(&random, 256);
        }
        size =
            fm_random_below(&random, 4) == 0 ? 1 + fm_random_below(&random, (uint32_t)size) : size;
        fm_grid *grid;
        const struct made_up file = {.name = name, .text = bytes, .size = size};
        fm_status status = read_made_up(&file, &grid, fault);
        assert_true((status == FM_OK) == (grid != NULL));
        assert_true((status == FM_OK) == (fault[0] == '\0'));
        fm_grid_destroy(grid);
        free(bytes);
    }
}

static void without_memory_nothing_is_left_behind(void **state)
{
    (void)state;
    char fault[FM_MAP_FAULT_SIZE];
    fm_test_memory scarce;
    for (uint32_t allowed = 0;; allowed++) {
        fm_grid *grid = NULL;
        fm_test_memory_init(&scarce, allowed);
        fm_status status = fm_map_load(EXAMPLES "forest.tmx", &scarce.memory, &grid, fault);
        assert_true(status == FM_OK || (status == FM_ERR_NO_MEMORY && grid == NULL));
        fm_grid_destroy(grid);
        assert_int_equal(scarce.held, 0);
        if (status == FM_OK) {
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_examples_are_the_same_map),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_a_format_cannot_hold_is_refused),
        cmocka_unit_test(layers_may_be_packed_in_any_way),
        cmocka_unit_test(infinite_maps_begin_at_their_first_tile),
        cmocka_unit_test(upper_layers_lie_over_lower_ones),
        cmocka_unit_test(a_map_says_what_lies_under_its_tiles),
        cmocka_unit_test(tilesets_may_be_files),
        cmocka_unit_test(short_rows_of_a_drawing_are_filled_up),
        cmocka_unit_test(heights_of_sixteen_bits_are_whole),
        cmocka_unit_test(wrong_files_are_refused_with_their_place),
        cmocka_unit_test(deep_files_are_refused),
        cmocka_unit_test(what_unpacks_to_more_is_refused),
        cmocka_unit_test(sides_are_checked_before_pixels),
        cmocka_unit_test(any_damage_is_accepted_or_refused),
        cmocka_unit_test(without_memory_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
