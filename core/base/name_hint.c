// core/base/name_hint.c: see name_hint.h.

#include "core/base/name_hint.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DISTANCE_MAX 2u // edits

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

void fm_name_hint_begin(fm_name_hint *hint, const char *given)
{
    *hint = (fm_name_hint){.distance = UINT32_MAX};
    copy_plain(hint->given, given);
}

void fm_name_hint_offer(fm_name_hint *hint, const char *known)
{
    char plain[FM_EDIT_DISTANCE_MAX + 1];
    copy_plain(plain, known);
    uint32_t distance = fm_edit_distance(hint->given, plain);
    if (plain[0] != '\0' && distance < hint->distance) {
        hint->distance = distance;
        snprintf(hint->name, sizeof hint->name, "%s", known);
    }
}

void fm_name_hint_of_option(fm_name_hint *hint, const char *argument, const struct option *longs)
{
    char name[FM_EDIT_DISTANCE_MAX + 1];
    size_t size = strcspn(argument, "=");
    snprintf(name, sizeof name, "%.*s", size < sizeof name ? (int)size : 0, argument);
    fm_name_hint_begin(hint, name);
    for (; longs->name != NULL; longs++) {
        snprintf(name, sizeof name, "--%s", longs->name);
        fm_name_hint_offer(hint, name);
    }
}

const char *fm_name_hint_best(const fm_name_hint *hint)
{
    bool is_like = hint->distance <= DISTANCE_MAX && hint->distance <= strlen(hint->given) / 2;
    return is_like ? hint->name : NULL;
}

const char *fm_name_hint_text(fm_name_hint *hint)
{
    const char *best = fm_name_hint_best(hint);
    hint->text[0] = '\0';
    if (best != NULL) {
        snprintf(hint->text, sizeof hint->text, "; perhaps %s", best);
    }
    return hint->text;
}
