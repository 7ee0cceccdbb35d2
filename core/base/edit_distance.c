// core/base/edit_distance.c: see edit_distance.h.

#include "core/base/edit_distance.h"

#include "core/base/base.h"

#include <stdio.h>
#include <string.h>

// Row `i` of the table is the distance from the first i bytes of `one` to each beginning of
// `other`; a row needs only the one before it.
uint32_t fm_edit_distance(const char *one, const char *other)
{
    size_t one_size = strlen(one), other_size = strlen(other);
    uint32_t row[FM_EDIT_DISTANCE_MAX + 1];
    if (one_size > FM_EDIT_DISTANCE_MAX || other_size > FM_EDIT_DISTANCE_MAX) {
        return UINT32_MAX;
    }
    for (uint32_t k = 0; k <= other_size; k++) {
        row[k] = k;
    }
    for (uint32_t i = 1; i <= one_size; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= other_size; k++) {
            uint32_t replaced = diagonal + (one[i - 1] != other[k - 1]);
            diagonal = row[k];
            row[k] = fm_min(replaced, fm_min(row[k], row[k - 1]) + 1);
        }
    }
    return row[other_size];
}

#define HINT_DISTANCE_MAX 2u // edits

// Copies a name with '-' for '_'. One that is too long becomes empty.
static void copy_plain(char *out, const char *name)
{
    size_t size = strlen(name);
    size = size > FM_EDIT_DISTANCE_MAX ? 0 : size;
    for (size_t i = 0; i < size; i++) {
        out[i] = name[i] == '_' ? '-' : name[i];
    }
    out[size] = '\0';
}

void fm_nearest_init(fm_nearest *nearest, const char *given)
{
    *nearest = (fm_nearest){.distance = UINT32_MAX};
    copy_plain(nearest->given, given);
}

void fm_nearest_offer(fm_nearest *nearest, const char *known)
{
    char plain[FM_EDIT_DISTANCE_MAX + 1];
    copy_plain(plain, known);
    uint32_t distance = fm_edit_distance(nearest->given, plain);
    if (plain[0] != '\0' && distance < nearest->distance) {
        nearest->distance = distance;
        snprintf(nearest->name, sizeof nearest->name, "%s", known);
    }
}

const char *fm_nearest_hint(fm_nearest *nearest)
{
    nearest->hint[0] = '\0';
    if (nearest->distance <= HINT_DISTANCE_MAX && nearest->distance <= strlen(nearest->given) / 2) {
        snprintf(nearest->hint, sizeof nearest->hint, "; perhaps %s", nearest->name);
    }
    return nearest->hint;
}
