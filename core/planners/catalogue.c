// core/planners/catalogue.c: see catalogue.h.

#include "core/planners/catalogue.h"

#include "core/base/name_hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fm_planner_ops *const fm_planner_catalogue[] = {
    &fm_dstar_lite,
    &fm_dstar_extra_lite,
    &fm_repeated_forward_astar,
    &fm_repeated_backward_astar,
    &fm_adaptive_astar,
    &fm_mpgaa_star,
    &fm_repeated_jps,
    &fm_tba_star,
    &fm_rtba_star,
    &fm_tbaa_star,
    &fm_rtaa_star,
    &fm_artaa_star,
    &fm_dartaa_star,
    &fm_lss_lrta_star,
    &fm_alss_lrta_star,
    &fm_dalss_lrta_star,
    &fm_auto,
    &fm_breadth_first,
    &fm_depth_first,
    &fm_greedy_best_first,
    &fm_dijkstra,
    &fm_astar,
    &fm_goal_field,
    NULL,
};
_Static_assert(FM_COUNT_OF(fm_planner_catalogue) == FM_PLANNER_COUNT + 1,
               "FM_PLANNER_COUNT is the length of the catalogue");

uint32_t fm_planner_index(const fm_planner_ops *ops)
{
    uint32_t i = 0;
    while (i < FM_PLANNER_COUNT && fm_planner_catalogue[i] != ops) {
        i++;
    }
    FM_ASSERT(i < FM_PLANNER_COUNT);
    return i;
}

const fm_planner_ops *fm_planner_by_name(const char *name)
{
    for (uint32_t i = 0; fm_planner_catalogue[i] != NULL; i++) {
        if (strcmp(fm_planner_catalogue[i]->name, name) == 0) {
            return fm_planner_catalogue[i];
        }
    }
    return NULL;
}

static fm_status fail(char *error, size_t error_size, fm_status status, const char *format,
                      const char *name)
{
    if (error != NULL && error_size > 0) {
        snprintf(error, error_size, format, name);
    }
    return status;
}

static bool read_lookahead(const char *value, uint32_t *lookahead)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number > FM_LOOKAHEAD_MAX) {
        return false;
    }
    *lookahead = (uint32_t)number;
    return true;
}

static bool read_count(const char *value, uint32_t least, uint32_t most, uint16_t *count)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number < least || number > most) {
        return false;
    }
    *count = (uint16_t)number;
    return true;
}

// Says that there is no such planner, and which one may be meant.
static fm_status refuse_name(char *error, size_t error_size, const char *name)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, name);
    for (uint32_t i = 0; fm_planner_catalogue[i] != NULL; i++) {
        fm_name_hint_offer(&hint, fm_planner_catalogue[i]->name);
    }
    if (error != NULL && error_size > 0) {
        snprintf(error, error_size, "there is no planner '%s'%s", name, fm_name_hint_text(&hint));
    }
    return FM_ERR_NO_PLANNER;
}

// "1.1" is 1100 thousandths.
static bool read_weight(const char *value, uint16_t *weight)
{
    uint32_t number = 0, places = 0;
    const char *digit = value;
    for (; *digit >= '0' && *digit <= '9' && number <= FM_WEIGHT_MAX; digit++) {
        number = number * 10 + (uint32_t)(*digit - '0');
    }
    bool has_point = digit > value && *digit == '.';
    for (digit += has_point; has_point && *digit >= '0' && *digit <= '9' && places < 3; digit++) {
        number = number * 10 + (uint32_t)(*digit - '0');
        places += 1;
    }
    for (; places < 3 && number <= FM_WEIGHT_MAX; places++) {
        number *= 10;
    }
    if (digit == value || *digit != '\0' || number < FM_WEIGHT_UNIT || number > FM_WEIGHT_MAX) {
        return false;
    }
    *weight = (uint16_t)number;
    return true;
}

static const char *const option_names[] = {"queue",  "ties",   "step", "lookahead", "heuristic",
                                           "weight", "period", "full", "horizon"};

// `value`: the option has no such value. NULL: there is no such option.
static fm_status refuse_option(char *error, size_t error_size, const char *key, const char *value)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, key);
    for (uint32_t i = 0; i < FM_COUNT_OF(option_names); i++) {
        fm_name_hint_offer(&hint, option_names[i]);
    }
    if (error != NULL && error_size > 0 && value != NULL) {
        snprintf(error, error_size, "planner option '%s' has no value '%s'", key, value);
    } else if (error != NULL && error_size > 0) {
        snprintf(error, error_size, "there is no planner option '%s'%s", key,
                 fm_name_hint_text(&hint));
    }
    return FM_ERR_BAD_VALUE;
}

// Whether an option's name is that of one before it. Names and values end with NUL up to there.
static bool is_among(const char *options, const char *key)
{
    for (const char *one = options; one != key; one += strlen(one) + 1) {
        if (strcmp(one, key) == 0) {
            return true;
        }
        one += strlen(one) + 1; // its value
    }
    return false;
}

// Options of goal fields. Like read_option().
static bool read_field_option(const char *key, const char *value, fm_field_options *field,
                              bool *known)
{
    if (strcmp(key, "weight") == 0) {
        return read_weight(value, &field->weight);
    }
    if (strcmp(key, "period") == 0) {
        return read_count(value, 1, FM_PERIOD_MAX, &field->period);
    }
    if (strcmp(key, "full") == 0) {
        return read_count(value, 1, FM_PERIOD_MAX, &field->full);
    }
    if (strcmp(key, "horizon") == 0) {
        bool fits = read_count(value, 0, FM_HORIZON_MAX, &field->horizon);
        field->horizon = fits && field->horizon == 0 ? FM_HORIZON_NONE : field->horizon;
        return fits;
    }
    *known = false;
    return false;
}

// One "key=value". Returns false when the value does not fit; *known: whether the key exists.
static bool read_option(const char *key, const char *value, fm_planner_options *options,
                        bool *known)
{
    *known = true;
    if (strcmp(key, "queue") == 0) {
        options->queue = strcmp(value, "heap") == 0 ? FM_QUEUE_HEAP : FM_QUEUE_BUCKET;
        return strcmp(value, "heap") == 0 || strcmp(value, "bucket") == 0;
    }
    if (strcmp(key, "ties") == 0) {
        options->ties = strcmp(value, "larger-g") == 0 ? FM_TIES_LARGER_G : FM_TIES_SMALLER_G;
        return strcmp(value, "larger-g") == 0 || strcmp(value, "smaller-g") == 0;
    }
    if (strcmp(key, "step") == 0) {
        options->step = strcmp(value, "first") == 0 ? FM_STEP_FIRST : FM_STEP_NEAREST;
        return strcmp(value, "first") == 0 || strcmp(value, "nearest") == 0;
    }
    if (strcmp(key, "lookahead") == 0) {
        return read_lookahead(value, &options->lookahead);
    }
    if (strcmp(key, "heuristic") == 0) {
        return fm_heuristic_by_name(value, &options->heuristic);
    }
    return read_field_option(key, value, &options->field, known);
}

// Manhattan distances may or may not be consistent: that depends on the world.
static bool takes_heuristic(const fm_planner_ops *ops, fm_heuristic_kind heuristic)
{
    return heuristic == FM_HEURISTIC_DEFAULT || ops->guidance == FM_GUIDED_BY_ANY ||
           (ops->guidance == FM_GUIDED_BY_CONSISTENT &&
            fm_heuristic_kind_is_consistent(heuristic, FM_CONNECT_4));
}

fm_status fm_planner_spec_parse(const char *text, fm_planner_spec *spec, char *error,
                                size_t error_size)
{
    char copy[FM_PLANNER_SPEC_SIZE];
    if (strlen(text) >= sizeof copy) {
        return fail(error, error_size, FM_ERR_BAD_VALUE, "planner '%.40s...' is too long", text);
    }
    strcpy(copy, text);
    char *rest = strchr(copy, ':');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    fm_planner_spec result = {.ops = fm_planner_by_name(copy)};
    if (result.ops == NULL) {
        return refuse_name(error, error_size, copy);
    }
    for (char *key = rest, *next = NULL; key != NULL; key = next) {
        next = strchr(key, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (key[0] == '\0') {
            return fail(error, error_size, FM_ERR_BAD_VALUE, "an option of planner '%s' is empty",
                        text);
        }
        char *value = strchr(key, '=');
        if (value == NULL) {
            return fail(error, error_size, FM_ERR_BAD_VALUE, "planner option '%s' has no value",
                        key);
        }
        *value++ = '\0';
        if (is_among(rest, key)) {
            return fail(error, error_size, FM_ERR_BAD_VALUE, "planner option '%s' is there twice",
                        key);
        }
        bool known;
        if (!read_option(key, value, &result.options, &known)) {
            return refuse_option(error, error_size, key, known ? value : NULL);
        }
    }
    if (!takes_heuristic(result.ops, result.options.heuristic)) {
        return fail(error, error_size, FM_ERR_BAD_VALUE,
                    result.ops->guidance == FM_GUIDED_BY_ITS_OWN
                        ? "planner '%s' takes no heuristic"
                        : "planner '%s' needs a consistent heuristic",
                    copy);
    }
    *spec = result;
    return FM_OK;
}
