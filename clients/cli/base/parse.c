// clients/cli/base/parse.c: see parse.h.

#include "clients/cli/base/parse.h"

#include "core/base/memory.h"
#include "proto/protocol.h"

#include <errno.h>
#include <stdlib.h>

// Reads digits at *text and moves it behind them.
static bool take_uint(const char **text, uint64_t maximum, uint64_t *number)
{
    if (**text < '0' || **text > '9') {
        return false;
    }
    char *end;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *number <= maximum;
}

// Reads `count` numbers with commas between them, and nothing else.
static bool take_list(const char *text, uint64_t maximum, uint64_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((i > 0 && *text++ != ',') || !take_uint(&text, maximum, &numbers[i])) {
            return false;
        }
    }
    return *text == '\0';
}

bool fm_parse_uint(const char *text, uint64_t maximum, uint64_t *number)
{
    return take_list(text, maximum, number, 1);
}

bool fm_parse_real(const char *text, double *real)
{
    char *end;
    *real = strtod(text, &end);
    return end != text && *end == '\0' && *real == *real;
}

bool fm_parse_cell(const char *text, fm_cell *cell)
{
    uint64_t place[2];
    if (!take_list(text, FM_SIDE_MAX - 1, place, 2)) {
        return false;
    }
    *cell = fm_cell_at((uint32_t)place[0], (uint32_t)place[1]);
    return true;
}

uint32_t fm_parse_cells(const char *text, fm_cell *cells, uint32_t count_max)
{
    uint32_t count = 0;
    for (;; text++) {
        uint64_t x, y;
        if (count == count_max || !take_uint(&text, FM_SIDE_MAX - 1, &x) || *text++ != ',' ||
            !take_uint(&text, FM_SIDE_MAX - 1, &y)) {
            return 0;
        }
        cells[count++] = fm_cell_at((uint32_t)x, (uint32_t)y);
        if (*text != '/') {
            return *text == '\0' ? count : 0;
        }
    }
}

bool fm_parse_rect(const char *text, fm_rect *rect)
{
    uint64_t sides[4];
    if (!take_list(text, FM_SIDE_MAX, sides, 4) || sides[2] == 0 || sides[3] == 0) {
        return false;
    }
    *rect =
        (fm_rect){(uint32_t)sides[0], (uint32_t)sides[1], (uint32_t)sides[2], (uint32_t)sides[3]};
    return true;
}

bool fm_id_list_add(fm_id_list *list, uint64_t id)
{
    if (list->count == FM_AGENTS_MAX ||
        !FM_RESERVE_FROM(&fm_memory_libc, list->ids, list->capacity, list->count + 1)) {
        return false;
    }
    list->ids[list->count++] = id;
    return true;
}

bool fm_parse_ids(const char *text, fm_id_list *list)
{
    const uint64_t maximum = (uint64_t)FM_UINT_MAX;
    for (;;) {
        uint64_t first, last;
        if (!take_uint(&text, maximum, &first)) {
            return false;
        }
        last = first;
        if (*text == '-') {
            text++;
            if (!take_uint(&text, maximum, &last) || last < first) {
                return false;
            }
        }
        for (uint64_t id = first; id <= last; id++) {
            if (!fm_id_list_add(list, id)) {
                return false;
            }
        }
        if (*text == '\0') {
            return true;
        }
        if (*text++ != ',') {
            return false;
        }
    }
}

struct place {
    uint64_t id;
    uint32_t index;
};

static int by_id_then_index(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->id != b->id ? (a->id < b->id ? -1 : 1)
                          : (a->index > b->index) - (a->index < b->index);
}

bool fm_id_list_drop_doubles(fm_id_list *list)
{
    struct place *places = malloc((list->count + 1u) * sizeof *places);
    bool *is_double = calloc(list->count + 1u, sizeof *is_double);
    if (places != NULL && is_double != NULL) {
        for (uint32_t i = 0; i < list->count; i++) {
            places[i] = (struct place){list->ids[i], i};
        }
        qsort(places, list->count, sizeof *places, by_id_then_index);
        for (uint32_t i = 1; i < list->count; i++) {
            is_double[places[i].index] = places[i].id == places[i - 1].id;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < list->count; i++) {
            list->ids[kept] = list->ids[i];
            kept += is_double[i] ? 0 : 1;
        }
        list->count = kept;
    }
    bool is_done = places != NULL && is_double != NULL;
    free(places);
    free(is_double);
    return is_done;
}
