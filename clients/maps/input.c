// clients/maps/input.c: see input.h.

#include "clients/maps/input.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Control bytes of a file become question marks.
static void make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if ((uint8_t)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

fm_status fm_map_refuse(const fm_map_input *input, fm_status status, const char *place,
                        const char *format, ...)
{
    int length = snprintf(input->fault, FM_MAP_FAULT_SIZE, "%.*s: ", (int)FM_MAP_PLACE_SIZE, place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(input->fault + length, FM_MAP_FAULT_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    make_printable(input->fault);
    return status;
}

const char *fm_map_place_line(char *place, const char *name, uint64_t line, uint64_t column)
{
    int length = snprintf(place, FM_MAP_PLACE_SIZE, "%.400s", name);
    if (line > 0) {
        length += snprintf(place + length, FM_MAP_PLACE_SIZE - (size_t)length, ":%llu",
                           (unsigned long long)line);
    }
    if (column > 0) {
        snprintf(place + length, FM_MAP_PLACE_SIZE - (size_t)length, ":%llu",
                 (unsigned long long)column);
    }
    return place;
}

const char *fm_map_place_cell(char *place, const char *name, const char *what, uint64_t x,
                              uint64_t y)
{
    snprintf(place, FM_MAP_PLACE_SIZE, "%.400s: %.40s %llu,%llu", name, what, (unsigned long long)x,
             (unsigned long long)y);
    return place;
}

fm_status fm_map_check_sides(const fm_map_input *input, const char *place, uint64_t width,
                             uint64_t height)
{
    if (width >= 1 && width <= FM_SIDE_MAX && height >= 1 && height <= FM_SIDE_MAX) {
        return FM_OK;
    }
    return fm_map_refuse(input, FM_ERR_BAD_SIZE, place,
                         "%llu x %llu cells, but a map has 1 to %u on each side",
                         (unsigned long long)width, (unsigned long long)height, FM_SIDE_MAX);
}

fm_status fm_map_refuse_memory(const fm_map_input *input)
{
    return fm_map_refuse(input, FM_ERR_NO_MEMORY, input->name, "%s",
                         fm_status_text(FM_ERR_NO_MEMORY));
}

fm_status fm_map_make_grid(const fm_map_input *input, uint32_t width, uint32_t height,
                           fm_grid **grid)
{
    fm_status status = fm_grid_create(width, height, input->memory, grid);
    return status == FM_OK ? FM_OK : fm_map_refuse_memory(input);
}

const char *fm_map_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

fm_status fm_map_read_beside(const fm_map_input *input, const char *suffix, char *place,
                             char **bytes, fm_map_input *beside)
{
    char name[FM_MAP_PLACE_SIZE], why[FM_MAP_PLACE_SIZE];
    *bytes = NULL;
    snprintf(name, sizeof name, "%.500s%.10s", fm_map_base_name(input->name), suffix);
    if (!input->files->exists(input->files->context, name)) {
        return FM_OK;
    }
    snprintf(place, FM_MAP_PLACE_SIZE, "%.500s%.10s", input->name, suffix);
    *beside = *input;
    beside->name = place;
    fm_status status = input->files->read(input->files->context, name, bytes, &beside->size, why);
    beside->bytes = *bytes;
    return status == FM_OK ? FM_OK : fm_map_refuse(input, status, place, "%s", why);
}
