// server/streams/scene_pack.c: keyframes and deltas of a scene, as msgpack. See scene.h for the
// idea and proto/protocol.def for the entries.

#include "server/streams/scene_pack.h"

#include "proto/dense.h"
#include "server/streams/motion_pack.h"
#include "server/streams/sight_pack.h"

#include <stdlib.h>
#include <string.h>

#define FM_LEAVE_OUTSIDE 2u // reason on the wire, besides those of fm_leave_reason

static bool rect_contains(const fm_rect *rect, fm_cell cell)
{
    return fm_cell_x(cell) - rect->x < rect->width && fm_cell_y(cell) - rect->y < rect->height;
}

// ---- packing -----------------------------------------------------------------------------------

// One body on its way. The map's entries are counted as they are packed.
struct body_packer {
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    uint32_t entries;
    size_t sight_size;
    fm_form form;
};

static void body_init(struct body_packer *body, fm_form form)
{
    body->form = form;
    msgpack_sbuffer_init(&body->buffer);
    msgpack_packer_init(&body->packer, &body->buffer, fm_frame_write);
    body->entries = 0;
    body->sight_size = 0;
}

static void pack_uint(struct body_packer *body, uint64_t number)
{
    msgpack_pack_uint64(&body->packer, number);
}

static void pack_entry(struct body_packer *body, const char *name)
{
    body->entries++;
    fm_pack_text(&body->packer, name);
}

static void pack_number(struct body_packer *body, const char *name, uint64_t number)
{
    pack_entry(body, name);
    pack_uint(body, number);
}

static void pack_array(struct body_packer *body, const char *name, size_t count)
{
    pack_entry(body, name);
    msgpack_pack_array(&body->packer, count);
}

static void pack_xy(struct body_packer *body, fm_cell cell)
{
    pack_uint(body, fm_cell_x(cell));
    pack_uint(body, fm_cell_y(cell));
}

static fm_body body_take(struct body_packer *body)
{
    fm_frame *frame = fm_frame_take(&body->buffer);
    return (fm_body){.frame = frame, .entries = body->entries, .sight_size = body->sight_size};
}

// ---- the cache ---------------------------------------------------------------------------------

static uint32_t cache_size(const fm_scene *scene)
{
    return scene->cached_count < FM_SCENE_CACHE_MAX ? (uint32_t)scene->cached_count
                                                    : FM_SCENE_CACHE_MAX;
}

void fm_scene_forget_bodies(fm_scene *scene)
{
    for (uint32_t i = 0; i < cache_size(scene); i++) {
        fm_frame_drop(scene->cache[i].body.frame);
    }
    scene->cached_count = 0;
    fm_frame_drop(scene->load_body.frame);
    scene->load_body = (fm_body){0};
}

static const fm_cached_body *find_cached(const fm_scene *scene, const fm_cached_body *wanted)
{
    for (uint32_t i = 0; i < cache_size(scene); i++) {
        const fm_cached_body *cached = &scene->cache[i];
        if (cached->is_keyframe == wanted->is_keyframe &&
            cached->form.veiled == wanted->form.veiled &&
            cached->form.dense == wanted->form.dense && cached->form.sight == wanted->form.sight &&
            cached->form.motion == wanted->form.motion && cached->since == wanted->since &&
            memcmp(&cached->rect, &wanted->rect, sizeof wanted->rect) == 0) {
            return cached;
        }
    }
    return NULL;
}

// The oldest answer makes room.
static void keep_cached(fm_scene *scene, const fm_cached_body *made)
{
    fm_cached_body *place = &scene->cache[scene->cached_count % FM_SCENE_CACHE_MAX];
    if (scene->cached_count >= FM_SCENE_CACHE_MAX) {
        fm_frame_drop(place->body.frame);
    }
    *place = *made;
    scene->cached_count++;
}

// ---- keyframes ---------------------------------------------------------------------------------

static uint16_t look_at(const fm_scene *scene, uint32_t x, uint32_t y)
{
    return scene->looks[(size_t)y * scene->host->width + x];
}

// Walks over the rectangle as one long row of looks, run by run.
struct run_walk {
    const fm_scene *scene;
    const fm_rect *rect;
    uint32_t x, y; // relative to the rectangle
    uint32_t count;
    uint16_t look;
};

// How many cells from the first one on have this look. Four at a time.
static uint32_t count_alike(const uint16_t *looks, uint32_t count, uint16_t look)
{
    uint64_t four_alike = look * UINT64_C(0x0001000100010001), four;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        memcpy(&four, looks + i, sizeof four);
        if (four != four_alike) {
            break;
        }
    }
    while (i < count && looks[i] == look) {
        i++;
    }
    return i;
}

static bool next_run(struct run_walk *walk)
{
    const fm_rect *rect = walk->rect;
    walk->count = 0;
    while (walk->y < rect->height) {
        const uint16_t *row =
            &walk->scene->looks[(size_t)(rect->y + walk->y) * walk->scene->host->width + rect->x];
        if (walk->count == 0) {
            walk->look = row[walk->x];
        }
        uint32_t alike = count_alike(row + walk->x, rect->width - walk->x, walk->look);
        walk->x += alike;
        walk->count += alike;
        if (walk->x < rect->width) {
            break;
        }
        walk->x = 0;
        walk->y++;
    }
    return walk->count > 0;
}

#define LONG_ARRAY_SIZE 5u // bytes of the head of a msgpack array of any length: 0xdd, count

// An array whose length is known when it has been packed: a map of 16 million cells is walked over
// once.
static size_t begin_array(struct body_packer *body, const char *name)
{
    pack_entry(body, name);
    size_t head = body->buffer.size;
    msgpack_pack_array(&body->packer, UINT32_MAX);
    return head;
}

static void end_array(struct body_packer *body, size_t head, uint32_t count)
{
    if (body->buffer.size < head + LONG_ARRAY_SIZE) {
        return; // out of memory, and the body will not be taken
    }
    for (uint32_t i = 1; i < LONG_ARRAY_SIZE; i++) {
        body->buffer.data[head + i] = (char)(count >> 8 * (LONG_ARRAY_SIZE - 1 - i));
    }
}

static void pack_keyframe_cells(struct body_packer *body, const fm_scene *scene,
                                const fm_rect *rect)
{
    uint32_t count = 0;
    size_t head = begin_array(body, "cells");
    for (struct run_walk walk = {.scene = scene, .rect = rect}; next_run(&walk);) {
        pack_uint(body, walk.count);
        pack_uint(body, walk.look);
        count += 2;
    }
    end_array(body, head, count);
}

static bool is_shown(const fm_scene_agent *agent, const fm_rect *rect)
{
    return agent->in_view && rect_contains(rect, agent->cell);
}

static void pack_agent(struct body_packer *body, const fm_scene_agent *agent)
{
    pack_uint(body, body->form.veiled ? agent->name : agent->id);
    pack_uint(body, agent->team);
    pack_xy(body, agent->cell);
    pack_uint(body, agent->state);
}

static void pack_class(struct body_packer *body, const fm_scene_agent *agent)
{
    pack_uint(body, body->form.veiled ? agent->name : agent->id);
    pack_uint(body, agent->class_index);
}

static void pack_keyframe_agents(struct body_packer *body, const fm_scene *scene,
                                 const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        count += is_shown(&scene->agents[slot], rect);
    }
    pack_array(body, "agents", count * 5);
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        if (is_shown(&scene->agents[slot], rect)) {
            pack_agent(body, &scene->agents[slot]);
        }
    }
}

static void pack_motion(struct body_packer *body, const fm_scene *scene, const uint32_t *slots,
                        uint32_t count)
{
    if (count > 0) {
        pack_entry(body, "motion");
        fm_motion_pack(scene, slots, count, body->form.veiled, &body->packer);
    }
}

static bool pack_keyframe_motion(struct body_packer *body, const fm_scene *scene,
                                 const fm_rect *rect)
{
    if (!body->form.motion || scene->motions == NULL) {
        return true;
    }
    uint32_t *slots = malloc((scene->slot_count + 1) * sizeof *slots), count = 0;
    for (uint32_t slot = 0; slots != NULL && slot < scene->slot_count; slot++) {
        if (is_shown(&scene->agents[slot], rect) && fm_motion_is_known(scene, slot)) {
            slots[count++] = slot;
        }
    }
    pack_motion(body, scene, slots, count);
    free(slots);
    return slots != NULL;
}

static bool touches(const fm_rect *rect, const fm_building_look *building)
{
    const fm_rect *other = &building->rect;
    return other->x < rect->x + rect->width && rect->x < other->x + other->width &&
           other->y < rect->y + rect->height && rect->y < other->y + other->height;
}

static size_t count_buildings(const fm_scene *scene, const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t i = 0; i < scene->building_count; i++) {
        count += touches(rect, &scene->buildings[i]);
    }
    return count;
}

static void pack_buildings(struct body_packer *body, const fm_scene *scene, const fm_rect *rect)
{
    pack_array(body, "buildings", count_buildings(scene, rect) * 6);
    for (uint32_t i = 0; i < scene->building_count; i++) {
        const fm_building_look *building = &scene->buildings[i];
        if (touches(rect, building)) {
            pack_uint(body, body->form.veiled ? building->name : building->id);
            pack_uint(body, building->team);
            pack_uint(body, building->rect.x);
            pack_uint(body, building->rect.y);
            pack_uint(body, building->rect.width);
            pack_uint(body, building->rect.height);
        }
    }
}

// Of agents of another movement class than the first; most worlds have none.
static void pack_keyframe_classes(struct body_packer *body, const fm_scene *scene,
                                  const fm_rect *rect)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        count += is_shown(agent, rect) && agent->class_index != 0;
    }
    if (count == 0) {
        return;
    }
    pack_array(body, "classes", count * 2);
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        if (is_shown(agent, rect) && agent->class_index != 0) {
            pack_class(body, agent);
        }
    }
}

static void pack_rect(struct body_packer *body, const fm_rect *rect)
{
    pack_array(body, "rect", 4);
    pack_uint(body, rect->x);
    pack_uint(body, rect->y);
    pack_uint(body, rect->width);
    pack_uint(body, rect->height);
}

static bool pack_keyframe_sight(struct body_packer *body, const fm_scene *scene,
                                const fm_rect *rect)
{
    size_t size = body->buffer.size;
    bool packed =
        !body->form.sight || fm_sight_pack_keyframe(scene, rect, &body->packer, &body->entries);
    body->sight_size += body->buffer.size - size;
    return packed;
}

static fm_body make_keyframe(const fm_scene *scene, const fm_rect *rect, fm_form form)
{
    struct body_packer body;
    body_init(&body, form);
    pack_number(&body, "world", scene->host->number);
    pack_number(&body, "team", scene->team);
    pack_number(&body, "tick", scene->tick);
    pack_rect(&body, rect);
    pack_keyframe_cells(&body, scene, rect);
    bool complete =
        pack_keyframe_sight(&body, scene, rect) && pack_keyframe_motion(&body, scene, rect);
    pack_keyframe_agents(&body, scene, rect);
    pack_keyframe_classes(&body, scene, rect);
    if (count_buildings(scene, rect) > 0) {
        pack_buildings(&body, scene, rect);
    }
    if (!complete) {
        msgpack_sbuffer_destroy(&body.buffer);
        return (fm_body){.entries = body.entries};
    }
    return body_take(&body);
}

// ---- deltas ------------------------------------------------------------------------------------

// What became of the agents that changed, as slots or log entries. Arrays are parts of one block.
struct agent_lists {
    struct moved_agent {
        uint32_t place; // in the numbers that the reader knows, for dense steps
        uint32_t slot;
        fm_cell from;
        bool has_state; // another one than before
    } * moved;
    uint32_t *entered;
    uint32_t *other_class; // shown before, as of another class
    uint32_t *motion;      // moves otherwise than before
    struct left_agent {
        uint64_t name, id;
    } * left;
    uint8_t *left_reasons;
    uint32_t moved_count, entered_count, other_class_count, left_count, motion_count;
    bool wants_motion;
    uint64_t since;
};

static bool lists_init(struct agent_lists *lists, size_t changes)
{
    size_t size = changes * (sizeof *lists->left + sizeof *lists->moved + sizeof *lists->entered +
                             sizeof *lists->other_class + sizeof *lists->motion +
                             sizeof *lists->left_reasons);
    char *block = malloc(size + 1);
    if (block == NULL) {
        return false;
    }
    lists->left = (struct left_agent *)block;
    lists->moved = (struct moved_agent *)(lists->left + changes);
    lists->entered = (uint32_t *)(lists->moved + changes);
    lists->other_class = lists->entered + changes;
    lists->motion = lists->other_class + changes;
    lists->left_reasons = (uint8_t *)(lists->motion + changes);
    return true;
}

static void lists_fini(struct agent_lists *lists)
{
    free(lists->left);
}

// Why a reader must stop showing an agent. One whose slot was given to another since is gone, but
// a team that lost sight of it before is not notified.
static uint8_t leave_reason(const fm_scene_agent *agent, uint64_t name)
{
    if (agent->name != name) {
        return FM_LEAVE_FOG;
    }
    return agent->in_view ? FM_LEAVE_OUTSIDE : agent->left_reason;
}

// What a reader shows and what it is to show: two rectangles when its view has moved.
struct frames {
    const fm_rect *from, *to;
};

static bool has_moved(const struct frames *frames)
{
    return memcmp(frames->from, frames->to, sizeof *frames->from) != 0;
}

static void sort_agent(const fm_scene *scene, const struct frames *frames,
                       const fm_agent_before *before, struct agent_lists *lists)
{
    uint32_t slot = fm_agent_id_unpack(before->name).index1 - 1;
    const fm_scene_agent *agent = &scene->agents[slot];
    bool was_shown = before->in_view && rect_contains(frames->from, before->cell);
    bool shown = agent->name == before->name && is_shown(agent, frames->to);
    if (shown && !was_shown) {
        lists->entered[lists->entered_count++] = slot;
    } else if (!shown && was_shown) {
        lists->left_reasons[lists->left_count] = leave_reason(agent, before->name);
        lists->left[lists->left_count++] =
            (struct left_agent){.name = before->name, .id = before->id};
    } else if (shown && (agent->cell != before->cell || agent->state != before->state)) {
        lists->moved[lists->moved_count++] = (struct moved_agent){
            .slot = slot, .from = before->cell, .has_state = agent->state != before->state};
    }
    if (shown && was_shown && agent->class_index != before->class_index) {
        lists->other_class[lists->other_class_count++] = slot;
    }
    if (shown && lists->wants_motion &&
        (was_shown ? scene->motions[slot].changed_tick > lists->since
                   : fm_motion_is_known(scene, slot))) {
        lists->motion[lists->motion_count++] = slot;
    }
}

// Agents that have not changed, but the view has moved over them.
static void sort_unchanged(const fm_scene *scene, const struct frames *frames,
                           struct agent_lists *lists)
{
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        bool dealt_with = agent->stamp == scene->stamp && agent->stamp_name == agent->name;
        if (!dealt_with && agent->in_view) {
            fm_agent_before before = {.name = agent->name,
                                      .id = agent->id,
                                      .cell = agent->cell,
                                      .state = agent->state,
                                      .class_index = agent->class_index,
                                      .in_view = true};
            sort_agent(scene, frames, &before, lists);
        }
    }
}

static void sort_agents(fm_scene *scene, const struct frames *frames, uint64_t first,
                        struct agent_lists *lists)
{
    scene->stamp++;
    for (uint64_t i = first; i < scene->agent_log.end; i++) {
        const fm_agent_before *before = fm_tick_log_at(&scene->agent_log, i);
        fm_scene_agent *agent = &scene->agents[fm_agent_id_unpack(before->name).index1 - 1];
        bool dealt_with = agent->stamp == scene->stamp && agent->stamp_name == before->name;
        if (!dealt_with) {
            agent->stamp = scene->stamp;
            agent->stamp_name = before->name;
            sort_agent(scene, frames, before, lists);
        }
    }
    if (has_moved(frames)) {
        sort_unchanged(scene, frames, lists);
    }
}

static void pack_moved(struct body_packer *body, const fm_scene *scene,
                       const struct agent_lists *lists)
{
    pack_array(body, "moved", (size_t)lists->moved_count * 4);
    for (uint32_t i = 0; i < lists->moved_count; i++) {
        const fm_scene_agent *agent = &scene->agents[lists->moved[i].slot];
        pack_uint(body, body->form.veiled ? agent->name : agent->id);
        pack_xy(body, agent->cell);
        pack_uint(body, agent->state);
    }
}

// Places are mostly in order already. If not: radix sort, a byte at a time.
static bool sort_by_place(struct moved_agent *moved, uint32_t count)
{
    uint32_t ordered = 1, highest = 0;
    for (uint32_t i = 0; i < count; i++) {
        ordered += i > 0 && moved[i - 1].place < moved[i].place;
        highest |= moved[i].place;
    }
    if (ordered >= count) {
        return true;
    }
    struct moved_agent *other = malloc(count * sizeof *other);
    if (other == NULL) {
        return false;
    }
    for (uint32_t shift = 0; shift < 32 && highest >> shift != 0; shift += 8) {
        uint32_t begins[257] = {0};
        for (uint32_t i = 0; i < count; i++) {
            begins[(moved[i].place >> shift & 255) + 1]++;
        }
        for (uint32_t i = 1; i < 257; i++) {
            begins[i] += begins[i - 1];
        }
        for (uint32_t i = 0; i < count; i++) {
            other[begins[moved[i].place >> shift & 255]++] = moved[i];
        }
        memcpy(moved, other, count * sizeof *moved);
    }
    free(other);
    return true;
}

static fm_dense_step step_of(const fm_scene_agent *agent, const struct moved_agent *moved)
{
    uint32_t x = fm_cell_x(agent->cell), y = fm_cell_y(agent->cell);
    return (fm_dense_step){
        .place = moved->place,
        .direction = fm_dense_direction(fm_cell_x(moved->from), fm_cell_y(moved->from), x, y),
        .x = x,
        .y = y,
        .has_state = moved->has_state,
        .state = agent->state,
    };
}

static void pack_bytes(struct body_packer *body, const char *name, const uint8_t *bytes,
                       size_t size)
{
    pack_entry(body, name);
    msgpack_pack_bin(&body->packer, size);
    msgpack_pack_bin_body(&body->packer, bytes, size);
}

static bool pack_steps(struct body_packer *body, const fm_scene *scene, struct agent_lists *lists)
{
    uint32_t count = lists->moved_count, before = 0;
    for (uint32_t i = 0; i < count; i++) {
        const fm_scene_agent *agent = &scene->agents[lists->moved[i].slot];
        lists->moved[i].place =
            fm_agent_id_unpack(body->form.veiled ? agent->name : agent->id).index1;
    }
    uint8_t *bytes = malloc((size_t)count * FM_DENSE_STEP_SIZE_MAX);
    if (bytes == NULL || !sort_by_place(lists->moved, count)) {
        free(bytes);
        return false;
    }
    uint8_t *at = bytes;
    for (uint32_t i = 0; i < count; i++) {
        fm_dense_step step = step_of(&scene->agents[lists->moved[i].slot], &lists->moved[i]);
        at = fm_dense_put_step(at, &step, before);
        before = step.place;
    }
    pack_bytes(body, "steps", bytes, (size_t)(at - bytes));
    free(bytes);
    return true;
}

static bool pack_agent_lists(struct body_packer *body, const fm_scene *scene,
                             struct agent_lists *lists)
{
    if (lists->moved_count > 0 && body->form.dense && !pack_steps(body, scene, lists)) {
        return false;
    }
    if (lists->moved_count > 0 && !body->form.dense) {
        pack_moved(body, scene, lists);
    }
    if (lists->entered_count > 0) {
        pack_array(body, "enter", (size_t)lists->entered_count * 5);
    }
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        pack_agent(body, &scene->agents[lists->entered[i]]);
    }
    if (lists->left_count > 0) {
        pack_array(body, "leave", (size_t)lists->left_count * 2);
    }
    for (uint32_t i = 0; i < lists->left_count; i++) {
        pack_uint(body, body->form.veiled ? lists->left[i].name : lists->left[i].id);
        pack_uint(body, lists->left_reasons[i]);
    }
    return true;
}

// Of agents that came into view, if it is not the first class, and of those that have another now.
static void pack_new_classes(struct body_packer *body, const fm_scene *scene,
                             const struct agent_lists *lists)
{
    size_t count = lists->other_class_count;
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        count += scene->agents[lists->entered[i]].class_index != 0;
    }
    if (count > 0) {
        pack_array(body, "classes", count * 2);
    }
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        if (scene->agents[lists->entered[i]].class_index != 0) {
            pack_class(body, &scene->agents[lists->entered[i]]);
        }
    }
    for (uint32_t i = 0; i < lists->other_class_count; i++) {
        pack_class(body, &scene->agents[lists->other_class[i]]);
    }
}

static bool pack_agents_since(struct body_packer *body, fm_scene *scene,
                              const struct frames *frames, uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->agent_log, since);
    struct agent_lists lists = {.wants_motion = body->form.motion && scene->motions != NULL,
                                .since = since};
    size_t unchanged = has_moved(frames) ? scene->slot_count : 0;
    if (!lists_init(&lists, scene->agent_log.end - first + unchanged)) {
        return false;
    }
    sort_agents(scene, frames, first, &lists);
    bool packed = pack_agent_lists(body, scene, &lists);
    pack_new_classes(body, scene, &lists);
    pack_motion(body, scene, lists.motion, lists.motion_count);
    lists_fini(&lists);
    return packed;
}

static int compare_cells(const void *a, const void *b)
{
    fm_cell x = *(const fm_cell *)a, y = *(const fm_cell *)b;
    return (x > y) - (x < y);
}

// Adds the cells that changed to those that are listed; all in map order, each once.
static uint32_t list_cells(const fm_scene *scene, const fm_rect *rect, uint64_t first,
                           fm_cell *cells, uint32_t count)
{
    for (uint64_t i = first; i < scene->cell_log.end; i++) {
        fm_cell cell = *(const fm_cell *)fm_tick_log_at(&scene->cell_log, i);
        if (rect_contains(rect, cell)) {
            cells[count++] = cell;
        }
    }
    if (count == 0) {
        return 0;
    }
    qsort(cells, count, sizeof *cells, compare_cells);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (cells[i] != cells[kept - 1]) {
            cells[kept++] = cells[i];
        }
    }
    return kept;
}

// Length of the run of neighbours in a row that look the same.
static uint32_t run_length(const fm_scene *scene, const fm_cell *cells, uint32_t count)
{
    uint32_t y = fm_cell_y(cells[0]);
    uint16_t look = look_at(scene, fm_cell_x(cells[0]), y);
    uint32_t length = 1;
    while (length < count && cells[length] == cells[0] + length && fm_cell_y(cells[length]) == y &&
           look_at(scene, fm_cell_x(cells[length]), y) == look) {
        length++;
    }
    return length;
}

static void pack_cell_runs(struct body_packer *body, const fm_scene *scene, const fm_cell *cells,
                           uint32_t count)
{
    size_t run_count = 0;
    for (uint32_t i = 0; i < count; i += run_length(scene, &cells[i], count - i)) {
        run_count++;
    }
    pack_array(body, "cells", run_count * 4);
    for (uint32_t i = 0; i < count;) {
        uint32_t length = run_length(scene, &cells[i], count - i);
        pack_xy(body, cells[i]);
        pack_uint(body, length);
        pack_uint(body, look_at(scene, fm_cell_x(cells[i]), fm_cell_y(cells[i])));
        i += length;
    }
}

static bool pack_dense_runs(struct body_packer *body, const fm_scene *scene, const fm_rect *rect,
                            const fm_cell *cells, uint32_t count)
{
    uint8_t *bytes = malloc((size_t)count * FM_DENSE_RUN_SIZE_MAX);
    if (bytes == NULL) {
        return false;
    }
    uint8_t *at = bytes;
    fm_dense_run before = {0};
    for (uint32_t i = 0; i < count; i += before.count) {
        uint32_t x = fm_cell_x(cells[i]), y = fm_cell_y(cells[i]);
        fm_dense_run run = {
            .begin = (uint64_t)(y - rect->y) * rect->width + (x - rect->x),
            .count = run_length(scene, &cells[i], count - i),
            .look = look_at(scene, x, y),
        };
        at = fm_dense_put_run(at, &run, &before);
        before = run;
    }
    pack_bytes(body, "runs", bytes, (size_t)(at - bytes));
    free(bytes);
    return true;
}

// The cells that a view has come upon by moving. What a reader did not show is unknown to it.
static uint32_t list_uncovered(const fm_scene *scene, const struct frames *frames, fm_cell *cells)
{
    const fm_rect *to = frames->to;
    uint32_t count = 0;
    for (uint32_t y = to->y; has_moved(frames) && y < to->y + to->height; y++) {
        for (uint32_t x = to->x; x < to->x + to->width; x++) {
            if (!rect_contains(frames->from, fm_cell_at(x, y)) && look_at(scene, x, y) != 0) {
                cells[count++] = fm_cell_at(x, y);
            }
        }
    }
    return count;
}

static bool pack_cells_since(struct body_packer *body, const fm_scene *scene,
                             const struct frames *frames, uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->cell_log, since);
    size_t count_max = scene->cell_log.end - first;
    if (has_moved(frames)) {
        count_max += (size_t)frames->to->width * frames->to->height;
    }
    if (count_max == 0) {
        return true;
    }
    fm_cell *cells = malloc(count_max * sizeof *cells);
    if (cells == NULL) {
        return false;
    }
    uint32_t uncovered = list_uncovered(scene, frames, cells);
    uint32_t count = list_cells(scene, frames->to, first, cells, uncovered);
    bool packed = true;
    if (count > 0 && body->form.dense) {
        packed = pack_dense_runs(body, scene, frames->to, cells, count);
    } else if (count > 0) {
        pack_cell_runs(body, scene, cells, count);
    }
    free(cells);
    return packed;
}

static bool pack_sight_since(struct body_packer *body, const fm_scene *scene,
                             const struct frames *frames, uint64_t since)
{
    size_t size = body->buffer.size;
    bool packed =
        !body->form.sight ||
        fm_sight_pack_delta(scene, frames->to, has_moved(frames) ? FM_SIGHT_ELSEWHERE : since,
                            body->form.dense, &body->packer, &body->entries);
    body->sight_size += body->buffer.size - size;
    return packed;
}

static void pack_ended_since(struct body_packer *body, const fm_scene *scene, uint64_t since)
{
    const fm_tick_log *log = &scene->ended_log;
    uint64_t first = fm_tick_log_find(log, since);
    if (first == log->end) {
        return;
    }
    pack_array(body, "ended", (size_t)(log->end - first) * 5);
    for (uint64_t i = first; i < log->end; i++) {
        const fm_order_ended *ended = fm_tick_log_at(log, i);
        pack_uint(body, body->form.veiled ? ended->number : ended->order);
        pack_uint(body, fm_agent_id_pack(body->form.veiled ? ended->name : ended->agent));
        pack_uint(body, ended->reason);
        pack_xy(body, ended->cell);
    }
}

static void begin_delta(struct body_packer *body, const fm_scene *scene, fm_form form)
{
    body_init(body, form);
    pack_number(body, "world", scene->host->number);
    pack_number(body, "tick", scene->tick);
}

// A delta that says no more than where and when says nothing.
static fm_body finish_delta(struct body_packer *body, bool complete)
{
    if (!complete || body->entries == 2) {
        msgpack_sbuffer_destroy(&body->buffer);
        return (fm_body){.entries = complete ? 0 : body->entries};
    }
    return body_take(body);
}

static fm_body make_delta(fm_scene *scene, const struct frames *frames, uint64_t since,
                          fm_form form)
{
    struct body_packer body;
    begin_delta(&body, scene, form);
    if (has_moved(frames)) {
        pack_rect(&body, frames->to);
    }
    bool complete = pack_agents_since(&body, scene, frames, since) &&
                    pack_cells_since(&body, scene, frames, since) &&
                    pack_sight_since(&body, scene, frames, since);
    if (scene->buildings_tick > since || has_moved(frames)) {
        pack_buildings(&body, scene, frames->to);
    }
    pack_ended_since(&body, scene, since);
    return finish_delta(&body, complete);
}

// ---- what others call --------------------------------------------------------------------------

static fm_body cached_or_made(fm_scene *scene, fm_cached_body wanted)
{
    const fm_cached_body *cached = find_cached(scene, &wanted);
    if (cached != NULL) {
        return cached->body;
    }
    wanted.body = wanted.is_keyframe
                      ? make_keyframe(scene, &wanted.rect, wanted.form)
                      : make_delta(scene, &(struct frames){&wanted.rect, &wanted.rect},
                                   wanted.since, wanted.form);
    if (wanted.body.frame != NULL || wanted.body.entries == 0) {
        keep_cached(scene, &wanted); // else out of memory; there may be some the next time
    }
    return wanted.body;
}

fm_body fm_scene_keyframe(fm_scene *scene, const fm_rect *rect, fm_form form)
{
    return cached_or_made(scene,
                          (fm_cached_body){.is_keyframe = true, .form = form, .rect = *rect});
}

fm_body fm_scene_delta(fm_scene *scene, const fm_rect *rect, uint64_t since, fm_form form)
{
    return cached_or_made(scene, (fm_cached_body){.form = form, .since = since, .rect = *rect});
}

fm_body fm_scene_shift(fm_scene *scene, const fm_rect *from, const fm_rect *to, uint64_t since,
                       fm_form form)
{
    return make_delta(scene, &(struct frames){from, to}, since, form);
}

fm_body fm_scene_ended(fm_scene *scene, uint64_t since, fm_form form)
{
    struct body_packer body;
    begin_delta(&body, scene, form);
    pack_ended_since(&body, scene, since);
    return finish_delta(&body, true);
}

fm_body fm_scene_load(fm_scene *scene)
{
    if (scene->load_body.frame == NULL) {
        struct body_packer body;
        body_init(&body, (fm_form){0});
        pack_array(&body, "load", 5);
        pack_uint(&body, scene->load.tick_us);
        pack_uint(&body, scene->load.search_us);
        pack_uint(&body, scene->load.expansions);
        pack_uint(&body, scene->load.moved);
        pack_uint(&body, scene->load.agents);
        scene->load_body = body_take(&body);
    }
    return scene->load_body;
}
