// core/map/buildings.c: see buildings.h. Both lists are short and sorted by id; entries are found
// by binary search, and later ones are moved to make room.

#include "core/map/buildings.h"

void fm_buildings_init(fm_buildings *buildings, uint32_t width, uint32_t height,
                       const fm_memory *memory)
{
    *buildings = (fm_buildings){.memory = memory, .width = width, .height = height};
}

static size_t cell_count(const fm_rect *rect)
{
    return (size_t)rect->width * rect->height;
}

void fm_buildings_fini(fm_buildings *buildings)
{
    const fm_memory *memory = buildings->memory;
    for (uint32_t i = 0; i < buildings->count; i++) {
        fm_memory_release(memory, buildings->list[i].under, cell_count(&buildings->list[i].rect));
    }
    fm_memory_release(memory, buildings->list, buildings->capacity * sizeof *buildings->list);
    fm_memory_release(memory, buildings->at,
                      (size_t)buildings->width * buildings->height * sizeof *buildings->at);
    *buildings = (fm_buildings){0};
}

fm_status fm_buildings_reserve(fm_buildings *buildings)
{
    const fm_memory *memory = buildings->memory;
    if (buildings->count == FM_BUILDINGS_MAX || buildings->placed == UINT32_MAX) {
        return FM_ERR_LIMIT;
    }
    if (buildings->at == NULL) {
        buildings->at = fm_memory_allocate_zeroed(
            memory, (size_t)buildings->width * buildings->height, sizeof *buildings->at);
    }
    bool is_room =
        FM_RESERVE_FROM(memory, buildings->list, buildings->capacity, buildings->count + 1);
    return is_room && buildings->at != NULL ? FM_OK : FM_ERR_NO_MEMORY;
}

static void write_id(fm_buildings *buildings, const fm_rect *rect, uint32_t id)
{
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        uint32_t *row = buildings->at + (size_t)y * buildings->width;
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            row[x] = id;
        }
    }
}

const fm_building *fm_buildings_add(fm_buildings *buildings, uint32_t team, fm_rect rect,
                                    uint8_t *under)
{
    FM_ASSERT(buildings->count < buildings->capacity && buildings->at != NULL);
    fm_building *building = &buildings->list[buildings->count++];
    buildings->placed += 1;
    *building = (fm_building){.id = buildings->placed, .team = team, .rect = rect, .under = under};
    write_id(buildings, &rect, building->id);
    return building;
}

const fm_building *fm_buildings_find(const fm_buildings *buildings, uint32_t id)
{
    uint32_t first = 0, end = buildings->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (buildings->list[middle].id < id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    bool found = first < buildings->count && buildings->list[first].id == id;
    return found ? &buildings->list[first] : NULL;
}

fm_building fm_buildings_take(fm_buildings *buildings, uint32_t id)
{
    const fm_building *building = fm_buildings_find(buildings, id);
    FM_ASSERT(building != NULL);
    fm_building taken = *building;
    uint32_t place = (uint32_t)(building - buildings->list);
    write_id(buildings, &taken.rect, 0);
    buildings->count -= 1;
    memmove(&buildings->list[place], &buildings->list[place + 1],
            (buildings->count - place) * sizeof *buildings->list);
    return taken;
}

// ---- what a team has seen -----------------------------------------------------------------------

static bool covers(const fm_rect *rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect->x < rect->width && fm_cell_y(cell) - rect->y < rect->height;
}

// Index at which the building of that id is, or would be inserted.
static uint32_t place_of(const fm_buildings_seen *seen, uint32_t id)
{
    uint32_t first = 0, end = seen->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (seen->list[middle].id < id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

static void forget_others(fm_buildings_seen *seen, fm_cell cell, uint32_t id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < seen->count; i++) {
        const fm_building_look *look = &seen->list[i];
        if (look->id == id || !covers(&look->rect, cell)) {
            seen->list[kept++] = *look;
        }
    }
    seen->changed = seen->changed || kept < seen->count;
    seen->count = kept;
}

static void add_seen(fm_buildings_seen *seen, const fm_building *building, const fm_memory *memory)
{
    uint32_t place = place_of(seen, building->id);
    if (place < seen->count && seen->list[place].id == building->id) {
        return;
    }
    if (!FM_RESERVE_FROM(memory, seen->list, seen->capacity, seen->count + 1)) {
        return;
    }
    memmove(&seen->list[place + 1], &seen->list[place], (seen->count - place) * sizeof *seen->list);
    seen->list[place] = (fm_building_look){
        .id = building->id, .name = ++seen->named, .team = building->team, .rect = building->rect};
    seen->count += 1;
    seen->changed = true;
}

void fm_buildings_seen_note(fm_buildings_seen *seen, const fm_buildings *buildings, fm_cell cell)
{
    uint32_t id = fm_buildings_at(buildings, cell);
    forget_others(seen, cell, id);
    if (id != 0) {
        add_seen(seen, fm_buildings_find(buildings, id), buildings->memory);
    }
}

void fm_buildings_seen_fini(fm_buildings_seen *seen, const fm_memory *memory)
{
    fm_memory_release(memory, seen->list, seen->capacity * sizeof *seen->list);
    *seen = (fm_buildings_seen){0};
}
