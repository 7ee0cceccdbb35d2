// core/map/movement.c: see movement.h.

#include "core/map/movement.h"

#include "core/base/name_hint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fm_movement_class fm_movement_class_ground(void)
{
    return (fm_movement_class){
        .name = "ground", .size = 1, .cost = {[FM_TERRAIN_GROUND] = FM_COST_FLOOR}};
}

static bool is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!is_name_letter(name[i])) {
            return false;
        }
    }
    return length >= 1 && length < FM_CLASS_NAME_SIZE;
}

bool fm_movement_class_is_valid(const fm_movement_class *movement)
{
    bool enters = false;
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_COUNT; terrain++) {
        enters = enters || movement->cost[terrain] != 0;
        if (movement->cost[terrain] > FM_COST_MAX) {
            return false;
        }
    }
    return enters && movement->cost[FM_TERRAIN_BUILDING] == 0 && movement->size >= 1 &&
           movement->size <= FM_CLASS_SIZE_MAX &&
           is_name(movement->name, strnlen(movement->name, sizeof movement->name));
}

bool fm_movement_class_is_ground(const fm_movement_class *movement)
{
    fm_movement_class ground = fm_movement_class_ground();
    return movement->size == ground.size &&
           memcmp(movement->cost, ground.cost, sizeof ground.cost) == 0;
}

bool fm_movement_class_is_weighted(const fm_movement_class *movement)
{
    for (uint32_t terrain = 0; terrain < FM_TERRAIN_COUNT; terrain++) {
        if (movement->cost[terrain] > FM_COST_FLOOR) {
            return true;
        }
    }
    return false;
}

// ---- as text ------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static bool refuse(char *error, size_t error_size,
                                                         const char *format, ...)
{
    if (error != NULL && error_size > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error, error_size, format, arguments);
        va_end(arguments);
    }
    return false;
}

static fm_terrain terrain_by_name(const char *name)
{
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        if (strcmp(fm_terrain_name((fm_terrain)terrain), name) == 0) {
            return (fm_terrain)terrain;
        }
    }
    return FM_TERRAIN_UNKNOWN;
}

// UINT32_MAX for what is no decimal number of up to three digits.
static uint32_t parse_number(const char *digits)
{
    size_t length = strlen(digits);
    if (length < 1 || length > 3 || strspn(digits, "0123456789") != length) {
        return UINT32_MAX;
    }
    return (uint32_t)strtoul(digits, NULL, 10);
}

static bool refuse_item(const fm_movement_class *movement, const char *item, char *error,
                        size_t error_size)
{
    fm_name_hint hint;
    fm_name_hint_begin(&hint, item);
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_BUILDING; terrain++) {
        fm_name_hint_offer(&hint, fm_terrain_name((fm_terrain)terrain));
    }
    fm_name_hint_offer(&hint, "size");
    return refuse(error, error_size, "class '%s': '%.40s' is neither a terrain nor 'size'%s",
                  movement->name, item, fm_name_hint_text(&hint));
}

// `given` has a bit for each item that was read: 0 for the size, others for terrains.
static bool parse_item(fm_movement_class *movement, char *item, uint32_t *given, char *error,
                       size_t error_size)
{
    char *value = strchr(item, '=');
    if (value == NULL) {
        return refuse(error, error_size, "'%.40s' of class '%s' has no value", item,
                      movement->name);
    }
    *value++ = '\0';
    uint32_t number = parse_number(value);
    bool is_size = strcmp(item, "size") == 0;
    fm_terrain terrain = is_size ? FM_TERRAIN_UNKNOWN : terrain_by_name(item);
    if (!is_size && terrain == FM_TERRAIN_UNKNOWN) {
        return refuse_item(movement, item, error, error_size);
    }
    if ((*given & 1u << terrain) != 0) {
        return refuse(error, error_size, "class '%s' has '%s' twice", movement->name, item);
    }
    *given |= 1u << terrain;
    if (is_size) {
        movement->size = (uint8_t)number;
        return (number >= 1 && number <= FM_CLASS_SIZE_MAX) ||
               refuse(error, error_size, "the size of class '%s' must be 1..%u cells",
                      movement->name, FM_CLASS_SIZE_MAX);
    }
    movement->cost[terrain] = (uint8_t)number;
    return number <= FM_COST_MAX ||
           refuse(error, error_size, "the cost of %s for class '%s' must be 0..%u", item,
                  movement->name, FM_COST_MAX);
}

// Items have their numbers in errors: an empty one has nothing else.
static bool parse_items(fm_movement_class *movement, char *items, char *error, size_t error_size)
{
    uint32_t number = 0, given = 0;
    for (char *item = items, *next = NULL; item != NULL; item = next) {
        next = strchr(item, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        number++;
        if (item[0] == '\0') {
            return refuse(error, error_size, "item %u of class '%s' is empty", number,
                          movement->name);
        }
        if (!parse_item(movement, item, &given, error, error_size)) {
            return false;
        }
    }
    return true;
}

static bool names_terrain(const char *items)
{
    return strncmp(items, "size=", 5) != 0 || strchr(items, ',') != NULL;
}

static bool parse(char *text, fm_movement_class *movement, char *error, size_t error_size)
{
    char *items = strchr(text, ':');
    if (items != NULL) {
        *items++ = '\0';
    }
    if (!is_name(text, strlen(text))) {
        return refuse(error, error_size,
                      "the name of a class is 1..%u letters, digits, '-' and '_', not '%.40s'",
                      FM_CLASS_NAME_SIZE - 1, text);
    }
    *movement = (fm_movement_class){.size = 1};
    memcpy(movement->name, text, strlen(text) + 1);
    if (items == NULL || !names_terrain(items)) {
        movement->cost[FM_TERRAIN_GROUND] = FM_COST_FLOOR;
    }
    if (items != NULL && !parse_items(movement, items, error, error_size)) {
        return false;
    }
    return fm_movement_class_is_valid(movement) ||
           refuse(error, error_size, "class '%s' can enter no terrain", movement->name);
}

fm_status fm_movement_class_parse(const char *text, fm_movement_class *movement, char *error,
                                  size_t error_size)
{
    char copy[FM_CLASS_TEXT_SIZE];
    if (strlen(text) >= sizeof copy) {
        refuse(error, error_size, "class '%.40s...' is too long", text);
        return FM_ERR_BAD_VALUE;
    }
    memcpy(copy, text, strlen(text) + 1);
    fm_movement_class parsed;
    if (!parse(copy, &parsed, error, error_size)) {
        return FM_ERR_BAD_VALUE;
    }
    *movement = parsed;
    return FM_OK;
}

void fm_movement_class_format(const fm_movement_class *movement, char *text, size_t size)
{
    char whole[FM_CLASS_TEXT_SIZE];
    int length =
        snprintf(whole, sizeof whole, "%s:size=%u", movement->name, (uint32_t)movement->size);
    for (uint32_t terrain = FM_TERRAIN_UNKNOWN + 1; terrain < FM_TERRAIN_COUNT; terrain++) {
        if (movement->cost[terrain] != 0) {
            length += snprintf(whole + length, sizeof whole - (size_t)length, ",%s=%u",
                               fm_terrain_name((fm_terrain)terrain), movement->cost[terrain]);
        }
    }
    FM_ASSERT((size_t)length < sizeof whole);
    snprintf(text, size, "%s", whole);
}

static bool is_named(const fm_movement_class *classes, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(classes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

fm_status fm_movement_classes_parse(const char *text, fm_movement_class *classes, uint32_t *count,
                                    char *error, size_t error_size)
{
    *count = 0;
    for (const char *rest = text; rest != NULL;) {
        if (*count == FM_CLASSES_MAX) {
            refuse(error, error_size, "a world has at most %u movement classes", FM_CLASSES_MAX);
            return FM_ERR_LIMIT;
        }
        const char *end = strchr(rest, ';');
        size_t length = end == NULL ? strlen(rest) : (size_t)(end - rest);
        char one[FM_CLASS_TEXT_SIZE];
        if (length >= sizeof one) {
            refuse(error, error_size, "class '%.40s...' is too long", rest);
            return FM_ERR_BAD_VALUE;
        }
        if (length == 0) {
            refuse(error, error_size, "class %u of '%.60s' is empty", *count + 1, text);
            return FM_ERR_BAD_VALUE;
        }
        memcpy(one, rest, length);
        one[length] = '\0';
        fm_status status = fm_movement_class_parse(one, &classes[*count], error, error_size);
        if (status != FM_OK) {
            return status;
        }
        if (is_named(classes, *count, classes[*count].name)) {
            refuse(error, error_size, "there are two movement classes '%s'", classes[*count].name);
            return FM_ERR_BAD_VALUE;
        }
        *count += 1;
        rest = end == NULL ? NULL : end + 1;
    }
    return FM_OK;
}
