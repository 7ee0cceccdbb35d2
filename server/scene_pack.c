// server/scene_pack.c: keyframes and deltas of a scene, as msgpack. See scene.h for the idea and
// proto/protocol.def for the entries.

#include "server/scene_pack.h"

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
};

static void body_init(struct body_packer *body)
{
    msgpack_sbuffer_init(&body->buffer);
    msgpack_packer_init(&body->packer, &body->buffer, msgpack_sbuffer_write);
    body->entries = 0;
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
    return (fm_body){.frame = frame, .entries = body->entries};
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
        if (cached->is_keyframe == wanted->is_keyframe && cached->since == wanted->since &&
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
        while (walk->x < rect->width && row[walk->x] == walk->look) {
            walk->x++;
            walk->count++;
        }
        if (walk->x < rect->width) {
            break;
        }
        walk->x = 0;
        walk->y++;
    }
    return walk->count > 0;
}

static void pack_keyframe_cells(struct body_packer *body, const fm_scene *scene,
                                const fm_rect *rect)
{
    size_t run_count = 0;
    for (struct run_walk walk = {.scene = scene, .rect = rect}; next_run(&walk);) {
        run_count++;
    }
    pack_array(body, "cells", run_count * 2);
    for (struct run_walk walk = {.scene = scene, .rect = rect}; next_run(&walk);) {
        pack_uint(body, walk.count);
        pack_uint(body, walk.look);
    }
}

static bool is_shown(const fm_scene_agent *agent, const fm_rect *rect)
{
    return agent->in_view && rect_contains(rect, agent->cell);
}

static void pack_agent(struct body_packer *body, const fm_scene_agent *agent)
{
    pack_uint(body, agent->id);
    pack_uint(body, agent->team);
    pack_xy(body, agent->cell);
    pack_uint(body, agent->state);
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

static fm_body make_keyframe(const fm_scene *scene, const fm_rect *rect)
{
    struct body_packer body;
    body_init(&body);
    pack_number(&body, "world", scene->host->number);
    pack_number(&body, "team", scene->team);
    pack_number(&body, "tick", scene->tick);
    pack_array(&body, "rect", 4);
    pack_uint(&body, rect->x);
    pack_uint(&body, rect->y);
    pack_uint(&body, rect->width);
    pack_uint(&body, rect->height);
    pack_keyframe_cells(&body, scene, rect);
    pack_keyframe_agents(&body, scene, rect);
    return body_take(&body);
}

// ---- deltas ------------------------------------------------------------------------------------

// What became of the agents that changed, as slots or ids. Arrays are parts of one block.
struct agent_lists {
    uint32_t *moved, *entered;
    uint64_t *left;
    uint8_t *left_reasons;
    uint32_t moved_count, entered_count, left_count;
};

static bool lists_init(struct agent_lists *lists, size_t changes)
{
    *lists = (struct agent_lists){0};
    size_t size = changes * (sizeof *lists->left + sizeof *lists->moved + sizeof *lists->entered +
                             sizeof *lists->left_reasons);
    char *block = malloc(size + 1);
    if (block == NULL) {
        return false;
    }
    lists->left = (uint64_t *)block;
    lists->moved = (uint32_t *)(lists->left + changes);
    lists->entered = lists->moved + changes;
    lists->left_reasons = (uint8_t *)(lists->entered + changes);
    return true;
}

static void lists_fini(struct agent_lists *lists)
{
    free(lists->left);
}

// Why a reader must stop showing an agent. One whose slot was given to another since is gone, but
// a team that lost sight of it before is not told.
static uint8_t leave_reason(const fm_scene_agent *agent, uint64_t id)
{
    if (agent->id != id) {
        return FM_LEAVE_FOG;
    }
    return agent->in_view ? FM_LEAVE_OUTSIDE : agent->left_reason;
}

static void sort_agent(const fm_scene *scene, const fm_rect *rect, const fm_agent_before *before,
                       struct agent_lists *lists)
{
    uint32_t slot = fm_agent_id_unpack(before->id).index1 - 1;
    const fm_scene_agent *agent = &scene->agents[slot];
    bool was_shown = before->in_view && rect_contains(rect, before->cell);
    bool shown = agent->id == before->id && is_shown(agent, rect);
    if (shown && !was_shown) {
        lists->entered[lists->entered_count++] = slot;
    } else if (!shown && was_shown) {
        lists->left_reasons[lists->left_count] = leave_reason(agent, before->id);
        lists->left[lists->left_count++] = before->id;
    } else if (shown && (agent->cell != before->cell || agent->state != before->state)) {
        lists->moved[lists->moved_count++] = slot;
    }
}

static void sort_agents(fm_scene *scene, const fm_rect *rect, uint64_t first,
                        struct agent_lists *lists)
{
    scene->stamp++;
    for (uint64_t i = first; i < scene->agent_log.end; i++) {
        const fm_agent_before *before = fm_tick_log_at(&scene->agent_log, i);
        fm_scene_agent *agent = &scene->agents[fm_agent_id_unpack(before->id).index1 - 1];
        bool dealt_with = agent->stamp == scene->stamp && agent->stamp_id == before->id;
        if (!dealt_with) {
            agent->stamp = scene->stamp;
            agent->stamp_id = before->id;
            sort_agent(scene, rect, before, lists);
        }
    }
}

static void pack_agent_lists(struct body_packer *body, const fm_scene *scene,
                             const struct agent_lists *lists)
{
    if (lists->moved_count > 0) {
        pack_array(body, "moved", (size_t)lists->moved_count * 4);
    }
    for (uint32_t i = 0; i < lists->moved_count; i++) {
        const fm_scene_agent *agent = &scene->agents[lists->moved[i]];
        pack_uint(body, agent->id);
        pack_xy(body, agent->cell);
        pack_uint(body, agent->state);
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
        pack_uint(body, lists->left[i]);
        pack_uint(body, lists->left_reasons[i]);
    }
}

static bool pack_agents_since(struct body_packer *body, fm_scene *scene, const fm_rect *rect,
                              uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->agent_log, since);
    struct agent_lists lists;
    if (!lists_init(&lists, scene->agent_log.end - first)) {
        return false;
    }
    sort_agents(scene, rect, first, &lists);
    pack_agent_lists(body, scene, &lists);
    lists_fini(&lists);
    return true;
}

static int compare_cells(const void *a, const void *b)
{
    fm_cell x = *(const fm_cell *)a, y = *(const fm_cell *)b;
    return (x > y) - (x < y);
}

// The cells that changed, in map order, each once.
static uint32_t list_cells(const fm_scene *scene, const fm_rect *rect, uint64_t first,
                           fm_cell *cells)
{
    uint32_t count = 0;
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

static bool pack_cells_since(struct body_packer *body, const fm_scene *scene, const fm_rect *rect,
                             uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->cell_log, since);
    if (first == scene->cell_log.end) {
        return true;
    }
    fm_cell *cells = malloc((scene->cell_log.end - first) * sizeof *cells);
    if (cells == NULL) {
        return false;
    }
    uint32_t count = list_cells(scene, rect, first, cells);
    if (count > 0) {
        pack_cell_runs(body, scene, cells, count);
    }
    free(cells);
    return true;
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
        pack_uint(body, ended->order);
        pack_uint(body, fm_agent_id_pack(ended->agent));
        pack_uint(body, ended->reason);
        pack_xy(body, ended->cell);
    }
}

static void begin_delta(struct body_packer *body, const fm_scene *scene)
{
    body_init(body);
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

static fm_body make_delta(fm_scene *scene, const fm_rect *rect, uint64_t since)
{
    struct body_packer body;
    begin_delta(&body, scene);
    bool complete =
        pack_agents_since(&body, scene, rect, since) && pack_cells_since(&body, scene, rect, since);
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
    wanted.body = wanted.is_keyframe ? make_keyframe(scene, &wanted.rect)
                                     : make_delta(scene, &wanted.rect, wanted.since);
    keep_cached(scene, &wanted);
    return wanted.body;
}

fm_body fm_scene_keyframe(fm_scene *scene, const fm_rect *rect)
{
    return cached_or_made(scene, (fm_cached_body){.is_keyframe = true, .rect = *rect});
}

fm_body fm_scene_delta(fm_scene *scene, const fm_rect *rect, uint64_t since)
{
    return cached_or_made(scene, (fm_cached_body){.since = since, .rect = *rect});
}

fm_body fm_scene_ended(fm_scene *scene, uint64_t since)
{
    struct body_packer body;
    begin_delta(&body, scene);
    pack_ended_since(&body, scene, since);
    return finish_delta(&body, true);
}

fm_body fm_scene_load(fm_scene *scene)
{
    if (scene->load_body.frame == NULL) {
        struct body_packer body;
        body_init(&body);
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
