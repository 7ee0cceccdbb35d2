// clients/maps/maps.c: see maps.h: files, and which reader they are for.

#include "clients/maps/maps.h"

#include "clients/maps/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- files --------------------------------------------------------------------------------------

// Reads to the end, or one byte more than allowed.
static fm_status read_open(int file, char **bytes, size_t *size, char *why)
{
    size_t capacity = (size_t)1 << 16, count = 0;
    char *read_bytes = malloc(capacity);
    ssize_t got = 1;
    while (read_bytes != NULL && got > 0 && count <= FM_MAP_FILE_MAX) {
        if (count == capacity) {
            char *moved = realloc(read_bytes, capacity *= 2);
            if (moved == NULL) {
                free(read_bytes);
                read_bytes = NULL;
                break;
            }
            read_bytes = moved;
        }
        got = read(file, read_bytes + count, capacity - count);
        count += got > 0 ? (size_t)got : 0;
        got = got < 0 && errno == EINTR ? 1 : got;
    }
    if (read_bytes != NULL && got == 0) {
        *bytes = read_bytes;
        *size = count;
        return FM_OK;
    }
    snprintf(why, FM_MAP_PLACE_SIZE, "%s",
             read_bytes == NULL ? "out of memory"
             : got < 0          ? strerror(errno)
                                : "larger than 128 MiB");
    fm_status status = read_bytes == NULL ? FM_ERR_NO_MEMORY : got < 0 ? FM_ERR_IO : FM_ERR_LIMIT;
    free(read_bytes);
    return status;
}

fm_status fm_map_read_whole(const char *path, char **bytes, size_t *size, char *why)
{
    if (strcmp(path, "-") == 0) {
        return read_open(STDIN_FILENO, bytes, size, why);
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        snprintf(why, FM_MAP_PLACE_SIZE, "%s", strerror(errno));
        return FM_ERR_IO;
    }
    fm_status status = read_open(file, bytes, size, why);
    close(file);
    return status;
}

// `context` is the path of the map.
static void path_beside(const void *context, const char *name, char *path, size_t size)
{
    const char *map = context;
    int folder = (int)(fm_map_base_name(map) - map);
    snprintf(path, size, "%.*s%s", name[0] == '/' ? 0 : folder, map, name);
}

static bool is_regular(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

static bool exists_beside(void *context, const char *name)
{
    char path[4096];
    path_beside(context, name, path, sizeof path);
    return strcmp(context, "-") != 0 && is_regular(path);
}

// A name in a map may be anything: only regular files are opened, no pipes.
static fm_status read_beside(void *context, const char *name, char **bytes, size_t *size, char *why)
{
    char path[4096];
    path_beside(context, name, path, sizeof path);
    if (!is_regular(path)) {
        snprintf(why, FM_MAP_PLACE_SIZE, "there is no such file");
        return FM_ERR_IO;
    }
    return fm_map_read_whole(path, bytes, size, why);
}

// ---- formats ------------------------------------------------------------------------------------

typedef fm_status fm_map_reader(const fm_map_input *input, fm_grid **out);

static const struct format {
    const char *name;
    const char *endings[4];
    fm_map_reader *read;
} formats[] = {
    {"MovingAI", {".map"}, fm_read_moving_ai},
    {"ASCII", {".txt", ".asc"}, fm_read_ascii},
    {"PNG", {".png"}, fm_read_png},
    {"PNM", {".ppm", ".pgm", ".pnm"}, fm_read_pnm},
    {"Tiled JSON", {".tmj", ".json"}, fm_read_tiled_json},
    {"Tiled XML", {".tmx", ".xml"}, fm_read_tiled_xml},
};

enum {
    MOVING_AI,
    ASCII,
    PNG,
    PNM,
    TILED_JSON,
    TILED_XML
};

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), ending_size = strlen(ending);
    return size >= ending_size && strcasecmp(name + size - ending_size, ending) == 0;
}

static bool begins_with(const fm_map_input *input, size_t at, const char *text)
{
    size_t size = strlen(text);
    return input->size - at >= size && memcmp(input->bytes + at, text, size) == 0;
}

// NULL when the content does not tell.
static const struct format *by_content(const fm_map_input *input)
{
    if (begins_with(input, 0, "\x89PNG\r\n\x1a\n")) {
        return &formats[PNG];
    }
    if (begins_with(input, 0, "type ")) {
        return &formats[MOVING_AI];
    }
    if (input->size > 2 && input->bytes[0] == 'P' && input->bytes[1] >= '1' &&
        input->bytes[1] <= '7' && strchr(" \t\r\n#", input->bytes[2]) != NULL) {
        return &formats[PNM];
    }
    size_t at = begins_with(input, 0, "\xef\xbb\xbf") ? 3 : 0;
    while (at < input->size && input->bytes[at] != '\0' &&
           strchr(" \t\r\n", input->bytes[at]) != NULL) {
        at++;
    }
    if (begins_with(input, at, "{")) {
        return &formats[TILED_JSON];
    }
    return begins_with(input, at, "<?xml") || begins_with(input, at, "<map") ||
                   begins_with(input, at, "<!")
               ? &formats[TILED_XML]
               : NULL;
}

static const struct format *by_ending(const char *name)
{
    for (size_t i = 0; i < FM_COUNT_OF(formats); i++) {
        for (size_t n = 0; n < FM_COUNT_OF(formats[i].endings); n++) {
            if (formats[i].endings[n] != NULL && ends_with(name, formats[i].endings[n])) {
                return &formats[i];
            }
        }
    }
    return NULL;
}

static const struct format *find_format(const fm_map_input *input)
{
    const struct format *ending = by_ending(input->name);
    if (ending == &formats[ASCII]) {
        return ending; // its letters may be any
    }
    const struct format *content = by_content(input);
    if (content == NULL && ending == NULL && strcmp(input->name, "-") == 0) {
        return &formats[ASCII];
    }
    return content != NULL ? content : ending;
}

fm_status fm_map_load_bytes(const fm_map_input *input, const char **format, fm_grid **out)
{
    if (input->size == 0) { // each format would complain of something that it lacks
        return fm_map_refuse(input, FM_ERR_BAD_FORMAT, input->name,
                             "the file is empty; a map is expected");
    }
    const struct format *found = find_format(input);
    if (found == NULL) {
        return fm_map_refuse(input, FM_ERR_BAD_FORMAT, input->name,
                             "neither content nor ending is of a format that is known: %s",
                             FM_MAP_FORMATS);
    }
    if (format != NULL) {
        *format = found->name;
    }
    fm_status status = found->read(input, out);
    if (status == FM_ERR_BAD_FORMAT) { // perhaps it is another format
        size_t length = strlen(input->fault);
        snprintf(input->fault + length, FM_MAP_FAULT_SIZE - length,
                 "\nIt was read as %s. Known formats: %s.", found->name, FM_MAP_FORMATS);
    }
    return status;
}

fm_status fm_map_load(const char *path, const fm_memory *memory, fm_grid **out, char *fault)
{
    const fm_map_files files = {exists_beside, read_beside, (void *)path};
    fm_map_input input = {.name = path, .files = &files, .memory = memory, .fault = fault};
    char why[FM_MAP_PLACE_SIZE], *bytes = NULL;
    fm_status status = fm_map_read_whole(path, &bytes, &input.size, why);
    if (status != FM_OK) {
        return fm_map_refuse(&input, status, path, "%s", why);
    }
    input.bytes = bytes;
    status = fm_map_load_bytes(&input, NULL, out);
    free(bytes);
    return status;
}
