// core/map/buildings.c: see buildings.h. Both lists are short and sorted by id; entries are found
// by binary search, and later ones are moved to make room.

#include "core/map/buildings.h"

#define CELLS_PER_ROW 8u // of a map are gone through in the time for one row of a building

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

// What a rectangle has in common with what is covered becomes shared. Most never need the bitmap.
static void share(fm_buildings_seen *seen, const fm_buildings *buildings, const fm_rect *rect)
{
    fm_bitmap *shared = &seen->shared;
    if (!seen->overlaps) {
        seen->overlaps = true;
        if (shared->words == NULL && fm_bitmap_init(shared, buildings->width, buildings->height,
                                                    false, buildings->memory) != FM_OK) {
            return;
        }
    }
    uint32_t right = rect->x + rect->width - 1;
    for (uint32_t y = rect->y; shared->words != NULL && y < rect->y + rect->height; y++) {
        uint64_t *row = fm_bitmap_row(shared, (int32_t)y);
        const uint64_t *covered = fm_bitmap_row(&seen->covered, (int32_t)y);
        for (uint32_t word = rect->x >> 6; word <= right >> 6; word++) {
            row[word] |= covered[word] & fm_bitmap_span(word, rect->x, right);
        }
    }
}

static void cover_rect(fm_buildings_seen *seen, const fm_buildings *buildings, const fm_rect *rect)
{
    if (fm_bitmap_any(&seen->covered, *rect)) {
        share(seen, buildings, rect);
    }
    fm_bitmap_fill(&seen->covered, *rect, true);
}

// Notes the cells of the building that has just joined the list. Without memory for the bitmap any
// cell may be one, until the list is empty again.
static void cover(fm_buildings_seen *seen, const fm_buildings *buildings, const fm_rect *rect)
{
    fm_bitmap *covered = &seen->covered;
    bool is_first = seen->count == 1;
    if (covered->words == NULL &&
        (!is_first || fm_bitmap_init(covered, buildings->width, buildings->height, false,
                                     buildings->memory) != FM_OK)) {
        return;
    }
    seen->overlaps = seen->overlaps && !is_first;
    cover_rect(seen, buildings, rect);
}

// What two rectangles have in common. False: nothing.
static bool intersect(const fm_rect *a, const fm_rect *b, fm_rect *common)
{
    uint32_t right = fm_min(a->x + a->width, b->x + b->width);
    uint32_t bottom = fm_min(a->y + a->height, b->y + b->height);
    *common = (fm_rect){.x = a->x > b->x ? a->x : b->x, .y = a->y > b->y ? a->y : b->y};
    if (common->x >= right || common->y >= bottom) {
        return false;
    }
    common->width = right - common->x;
    common->height = bottom - common->y;
    return true;
}

// Covers within `box` what buildings that are still in the list have there, and nothing else.
static void cover_again(fm_buildings_seen *seen, const fm_buildings *buildings, const fm_rect *box)
{
    fm_rect common;
    fm_bitmap_fill(&seen->covered, *box, false);
    if (seen->shared.words != NULL) {
        fm_bitmap_fill(&seen->shared, *box, false);
    }
    for (uint32_t i = 0; i < seen->count; i++) {
        if (intersect(&seen->list[i].rect, box, &common)) {
            cover_rect(seen, buildings, &common);
        }
    }
}

static fm_rect around(const fm_rect *a, const fm_rect *b)
{
    uint32_t right = a->x + a->width, bottom = a->y + a->height;
    fm_rect box = {.x = fm_min(a->x, b->x), .y = fm_min(a->y, b->y)};
    box.width = (right > b->x + b->width ? right : b->x + b->width) - box.x;
    box.height = (bottom > b->y + b->height ? bottom : b->y + b->height) - box.y;
    return box;
}

static void forget_others(fm_buildings_seen *seen, const fm_buildings *buildings, fm_cell cell,
                          uint32_t id)
{
    uint32_t kept = 0;
    fm_rect gone = {fm_cell_x(cell), fm_cell_y(cell), 1, 1};
    for (uint32_t i = 0; i < seen->count; i++) {
        const fm_building_look *look = &seen->list[i];
        if (look->id == id || !fm_rect_contains(&look->rect, cell)) {
            seen->list[kept++] = *look;
            continue;
        }
        gone = around(&gone, &look->rect);
        if (seen->covered.words != NULL) {
            fm_bitmap_fill(&seen->covered, look->rect, false);
        }
    }
    bool some_left = kept < seen->count;
    seen->changed = seen->changed || some_left;
    seen->count = kept;
    if (some_left && seen->overlaps && seen->covered.words != NULL) {
        cover_again(seen, buildings, &gone);
    }
}

static bool is_listed(const fm_buildings_seen *seen, uint32_t place, uint32_t id)
{
    return place < seen->count && seen->list[place].id == id;
}

static void add_seen(fm_buildings_seen *seen, const fm_buildings *buildings, uint32_t place,
                     const fm_building *building)
{
    if (!FM_RESERVE_FROM(buildings->memory, seen->list, seen->capacity, seen->count + 1)) {
        return;
    }
    memmove(&seen->list[place + 1], &seen->list[place], (seen->count - place) * sizeof *seen->list);
    seen->list[place] = (fm_building_look){
        .id = building->id, .name = ++seen->named, .team = building->team, .rect = building->rect};
    seen->count += 1;
    seen->changed = true;
    cover(seen, buildings, &building->rect);
}

// Going through the list would take too long for each cell that a team sees: thousands of buildings
// have tens of thousands of cells.
void fm_buildings_seen_note(fm_buildings_seen *seen, const fm_buildings *buildings, fm_cell cell)
{
    uint32_t id = fm_buildings_at(buildings, cell), place = place_of(seen, id);
    bool has_lost = seen->covered.words == NULL && seen->count > 0;
    bool is_covered = has_lost || (seen->count > 0 && fm_bitmap_get(&seen->covered, cell));
    bool covers_it = is_listed(seen, place, id);
    bool is_shared =
        seen->overlaps && (seen->shared.words == NULL || fm_bitmap_get(&seen->shared, cell));
    if (is_covered && (!covers_it || is_shared || has_lost)) {
        forget_others(seen, buildings, cell, id);
        place = place_of(seen, id);
    }
    if (id != 0 && !covers_it) {
        add_seen(seen, buildings, place, fm_buildings_find(buildings, id));
    }
}

// Whether the buildings have so many rows, lying on each other or not, that marking them one by one
// takes longer than going through the map.
static bool has_many_rows(const fm_buildings_seen *seen, const fm_buildings *buildings)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < seen->count; i++) {
        rows += seen->list[i].rect.height;
    }
    return rows > (uint64_t)buildings->width * buildings->height / CELLS_PER_ROW;
}

// Where a corner of a rectangle lies, counts change by one: `counts` summed up over rows and
// columns is how many buildings a cell belongs to.
static void count_corners(const fm_buildings_seen *seen, uint32_t pitch, int32_t *counts)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        const fm_rect *rect = &seen->list[i].rect;
        int32_t *top = counts + (size_t)rect->y * pitch + rect->x;
        int32_t *bottom = top + (size_t)rect->height * pitch;
        top[0] += 1;
        top[rect->width] -= 1;
        bottom[0] -= 1;
        bottom[rect->width] += 1;
    }
}

static void cover_counted(fm_buildings_seen *seen, const fm_buildings *buildings, uint32_t pitch,
                          int32_t *counts)
{
    fm_bitmap *covered = &seen->covered;
    for (uint32_t y = 0; y < covered->height; y++) {
        int32_t *row = counts + (size_t)y * pitch, of_row = 0;
        for (uint32_t x = 0; x < covered->width; x++) {
            of_row += row[x];
            row[x] = of_row + (y > 0 ? row[(ptrdiff_t)x - pitch] : 0);
            if (row[x] > 0) {
                fm_bitmap_set(covered, fm_cell_at(x, y));
            }
            if (row[x] > 1) {
                share(seen, buildings, &(fm_rect){x, y, 1, 1});
            }
        }
    }
}

// False when out of memory: nothing is covered then.
static bool cover_all_at_once(fm_buildings_seen *seen, const fm_buildings *buildings)
{
    uint32_t pitch = buildings->width + 1;
    size_t count = (size_t)pitch * (buildings->height + 1);
    int32_t *counts = fm_memory_allocate_zeroed(buildings->memory, count, sizeof *counts);
    bool is_done =
        counts != NULL && fm_bitmap_init(&seen->covered, buildings->width, buildings->height, false,
                                         buildings->memory) == FM_OK;
    if (is_done) {
        count_corners(seen, pitch, counts);
        cover_counted(seen, buildings, pitch, counts);
    }
    fm_memory_release(buildings->memory, counts, count * sizeof *counts);
    return is_done;
}

static void cover_one_by_one(fm_buildings_seen *seen, const fm_buildings *buildings)
{
    uint32_t count = seen->count;
    for (seen->count = 1; seen->count <= count; seen->count++) {
        cover(seen, buildings, &seen->list[seen->count - 1].rect);
    }
    seen->count = count;
}

// A forged file may say that millions of buildings lie on each other.
void fm_buildings_seen_index(fm_buildings_seen *seen, const fm_buildings *buildings)
{
    fm_bitmap_fini(&seen->covered, buildings->memory);
    fm_bitmap_fini(&seen->shared, buildings->memory);
    seen->overlaps = false;
    if (!has_many_rows(seen, buildings) || !cover_all_at_once(seen, buildings)) {
        cover_one_by_one(seen, buildings);
    }
}

void fm_buildings_seen_fini(fm_buildings_seen *seen, const fm_memory *memory)
{
    fm_memory_release(memory, seen->list, seen->capacity * sizeof *seen->list);
    fm_bitmap_fini(&seen->covered, memory);
    fm_bitmap_fini(&seen->shared, memory);
    *seen = (fm_buildings_seen){0};
}
