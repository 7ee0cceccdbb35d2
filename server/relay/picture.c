// server/relay/picture.c: see picture.h. Entries are counted first, so that all arrays of a
// publication lie in one block, and read then.

#include "server/relay/picture.h"

#include "core/views/view_delta.h"
#include "proto/dense.h"
#include "proto/protocol.h"

#include <stdlib.h>
#include <string.h>

// Numbers of one entry of each list.
#define AGENT_SIZE    5u
#define CLASS_SIZE    2u
#define LEAVE_SIZE    2u
#define BUILDING_SIZE 6u
#define ENDED_SIZE    5u
#define ALERT_SIZE    5u
#define TAGGED_SIZE   2u
#define LOAD_SIZE     5u
#define MOTION_SIZE   4u // besides waypoints

#define STEPS_MAX (2u * FM_AGENTS_MAX)

// A publication that is being made.
struct draft {
    const fm_scene *scene;
    const msgpack_object *params;
    fm_numbers agents, classes, leave, died, buildings, ended, alerts, motion, tagged;
    const uint8_t *steps, *runs, *tags;
    size_t steps_size, runs_size, tags_size;
    fm_publication *block;
    // The arrays, which the block's `changes` show as constant, and their room.
    fm_agent_look *entered, *changed;
    fm_agent_left *left;
    fm_learned *cells;
    fm_order_ended *ended_orders;
    fm_alert *alert_looks;
    fm_building_look *building_looks;
    fm_sight_flip *flips;
    uint32_t changed_room, cell_room, flip_room, course_room;
    // By slot of the name: 1 + the place of its look, of those that entered and then of those that
    // changed; 0: none. NULL unless classes or tags name agents.
    uint32_t *places;
    uint32_t slot_count; // the last slot that it has
};

static bool is_look(uint64_t look)
{
    return look <= UINT16_MAX && (look & 15) < FM_TERRAIN_COUNT;
}

static bool read_cell(const fm_host *host, fm_numbers numbers, uint32_t at, fm_cell *cell)
{
    uint64_t x = fm_numbers_at(numbers, at), y = fm_numbers_at(numbers, at + 1);
    if (x >= host->width || y >= host->height) {
        return false;
    }
    *cell = fm_cell_at((uint32_t)x, (uint32_t)y);
    return true;
}

static bool is_agent(uint64_t id)
{
    uint32_t index1 = fm_agent_id_unpack(id).index1;
    return index1 > 0 && index1 <= 2 * FM_AGENTS_MAX;
}

// ---- counting ----------------------------------------------------------------------------------

// @return whether `steps` holds well-formed entries; counts them
static bool count_steps(struct draft *draft)
{
    const uint8_t *at = draft->steps, *end = at == NULL ? NULL : at + draft->steps_size;
    for (fm_dense_step step = {0}; at != end;) {
        at = fm_dense_get_step(at, end, &step);
        if (at == NULL || draft->changed_room == STEPS_MAX) {
            return false;
        }
        draft->changed_room++;
    }
    return true;
}

static bool count_cells(struct draft *draft)
{
    const fm_host *host = draft->scene->host;
    uint64_t cells = (uint64_t)host->width * host->height;
    const uint8_t *at = draft->runs, *end = at == NULL ? NULL : at + draft->runs_size;
    for (fm_dense_run run = {0}; at != end;) {
        at = fm_dense_get_run(at, end, &run);
        if (at == NULL || run.begin > cells || run.count > cells - run.begin ||
            !is_look(run.look)) {
            return false;
        }
        draft->cell_room += run.count; // runs do not overlap
    }
    return true;
}

static bool count_courses(struct draft *draft)
{
    fm_numbers motion = draft->motion;
    for (uint32_t at = 0; at < motion.count;) {
        uint64_t points = motion.count - at < MOTION_SIZE ? FM_COURSE_POINTS_MAX + 1
                                                          : fm_numbers_at(motion, at + 3);
        if (points > FM_COURSE_POINTS_MAX || motion.count - at < MOTION_SIZE + 2 * points) {
            return false;
        }
        at += MOTION_SIZE + 2 * (uint32_t)points;
        draft->course_room++;
    }
    return true;
}

// Whether `tags` has the bytes that `tagged` counts.
static bool are_tags_whole(const struct draft *draft)
{
    uint64_t size = 0;
    for (uint32_t at = 1; at < draft->tagged.count; at += TAGGED_SIZE) {
        uint64_t tag_size = fm_numbers_at(draft->tagged, at);
        if (tag_size > FM_TAG_SIZE_MAX) {
            return false;
        }
        size += tag_size;
    }
    return draft->tagged.count % TAGGED_SIZE == 0 && size == draft->tags_size;
}

static bool draft_init(struct draft *draft, const fm_scene *scene, const msgpack_object *params,
                       const char *agents)
{
    *draft = (struct draft){
        .scene = scene,
        .params = params,
        .agents = fm_object_numbers(params, agents),
        .classes = fm_object_numbers(params, "classes"),
        .leave = fm_object_numbers(params, "leave"),
        .died = fm_object_numbers(params, "died"),
        .buildings = fm_object_numbers(params, "buildings"),
        .ended = fm_object_numbers(params, "ended"),
        .alerts = fm_object_numbers(params, "alerts"),
        .tagged = fm_object_numbers(params, "tagged"),
        .motion = fm_object_numbers(params, "motion"),
    };
    draft->steps = fm_object_bytes(params, "steps", &draft->steps_size);
    draft->runs = fm_object_bytes(params, "runs", &draft->runs_size);
    draft->tags = fm_object_bytes(params, "tags", &draft->tags_size);
    bool are_whole =
        draft->agents.count % AGENT_SIZE == 0 && draft->classes.count % CLASS_SIZE == 0 &&
        draft->leave.count % LEAVE_SIZE == 0 && draft->buildings.count % BUILDING_SIZE == 0 &&
        draft->buildings.count / BUILDING_SIZE <= FM_BUILDINGS_MAX &&
        draft->ended.count % ENDED_SIZE == 0 && draft->alerts.count % ALERT_SIZE == 0;
    return are_whole && are_tags_whole(draft) && count_steps(draft) && count_cells(draft) &&
           count_courses(draft);
}

// ---- the block ---------------------------------------------------------------------------------

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void *take_array(char **cursor, size_t count, size_t size)
{
    void *array = *cursor;
    *cursor += padded(count * size);
    return array;
}

// Slots of all agents that a message may name.
static uint32_t count_slots(const struct draft *draft)
{
    uint32_t count = draft->scene->slot_count;
    for (uint32_t at = 0; at < draft->agents.count; at += AGENT_SIZE) {
        uint64_t id = fm_numbers_at(draft->agents, at);
        uint32_t index1 = is_agent(id) ? fm_agent_id_unpack(id).index1 : 0;
        count = index1 > count ? index1 : count;
    }
    return count;
}

static bool make_places(struct draft *draft)
{
    if (draft->classes.count == 0 && draft->tagged.count == 0) {
        return true;
    }
    draft->slot_count = count_slots(draft);
    draft->places = calloc((size_t)draft->slot_count + 1, sizeof *draft->places);
    return draft->places != NULL;
}

static uint32_t count_left(const struct draft *draft)
{
    return draft->leave.count / LEAVE_SIZE + draft->died.count;
}

static bool make_block(struct draft *draft)
{
    const fm_scene *scene = draft->scene;
    // Those who did not move may have another class, or another tag.
    draft->changed_room += draft->classes.count / CLASS_SIZE + draft->tagged.count / TAGGED_SIZE;
    size_t size = padded(sizeof *draft->block) +
                  padded(draft->agents.count / AGENT_SIZE * sizeof *draft->entered) +
                  padded(draft->changed_room * sizeof *draft->changed) +
                  padded(count_left(draft) * sizeof *draft->left) +
                  padded(draft->cell_room * sizeof *draft->cells) +
                  padded(draft->ended.count / ENDED_SIZE * sizeof *draft->ended_orders) +
                  padded(draft->alerts.count / ALERT_SIZE * sizeof *draft->alert_looks) +
                  padded(draft->tagged.count / TAGGED_SIZE * sizeof *draft->block->tags) +
                  padded(draft->buildings.count / BUILDING_SIZE * sizeof *draft->building_looks) +
                  padded(draft->flip_room * sizeof *draft->flips) +
                  padded(draft->course_room * sizeof *draft->block->courses);
    fm_publication *block = make_places(draft) ? calloc(1, size) : NULL;
    if (block == NULL) {
        return false;
    }
    // The conductor counts publications that the loop has not taken in; this one is taken in at
    // once, so it counts 0.
    *block = (fm_publication){
        .event = {.kind = FM_EVENT_PUBLICATION},
        .host = scene->host,
        .team = scene->team,
        .serial = scene->serial,
        .tick = fm_object_uint(draft->params, "tick", 0),
        .load = scene->load,
    };
    char *cursor = (char *)block + padded(sizeof *block);
    draft->block = block;
    draft->entered = take_array(&cursor, draft->agents.count / AGENT_SIZE, sizeof *draft->entered);
    draft->changed = take_array(&cursor, draft->changed_room, sizeof *draft->changed);
    draft->left = take_array(&cursor, count_left(draft), sizeof *draft->left);
    draft->cells = take_array(&cursor, draft->cell_room, sizeof *draft->cells);
    draft->ended_orders =
        take_array(&cursor, draft->ended.count / ENDED_SIZE, sizeof *draft->ended_orders);
    draft->alert_looks =
        take_array(&cursor, draft->alerts.count / ALERT_SIZE, sizeof *draft->alert_looks);
    block->tags = take_array(&cursor, draft->tagged.count / TAGGED_SIZE, sizeof *block->tags);
    draft->building_looks =
        take_array(&cursor, draft->buildings.count / BUILDING_SIZE, sizeof *draft->building_looks);
    draft->flips = take_array(&cursor, draft->flip_room, sizeof *draft->flips);
    block->courses = take_array(&cursor, draft->course_room, sizeof *block->courses);
    block->changes.entered = draft->entered;
    block->changes.changed = draft->changed;
    block->changes.left = draft->left;
    block->changes.cells = draft->cells;
    block->changes.ended = draft->ended_orders;
    block->changes.alerts = draft->alert_looks;
    block->changes.buildings = draft->building_looks;
    block->changes.sight = draft->flips;
    return true;
}

static void drop_block(struct draft *draft)
{
    if (draft->block != NULL) {
        fm_publication_destroy(draft->block);
    }
}

// ---- agents ------------------------------------------------------------------------------------

static void note_place(struct draft *draft, fm_agent_id name, uint32_t place)
{
    if (draft->places != NULL && draft->places[name.index1] == 0) {
        draft->places[name.index1] = 1 + place;
    }
}

// The look that entered or changed in an agent's slot. NULL: none.
static fm_agent_look *look_in(const struct draft *draft, uint32_t index1)
{
    uint32_t entered = draft->block->changes.entered_count, place = draft->places[index1];
    if (place == 0) {
        return NULL;
    }
    return place <= entered ? &draft->entered[place - 1] : &draft->changed[place - 1 - entered];
}

static bool read_agents(struct draft *draft)
{
    fm_numbers numbers = draft->agents;
    for (uint32_t at = 0; at < numbers.count; at += AGENT_SIZE) {
        uint64_t id = fm_numbers_at(numbers, at), team = fm_numbers_at(numbers, at + 1);
        uint64_t state = fm_numbers_at(numbers, at + 4);
        fm_agent_look *look = &draft->entered[draft->block->changes.entered_count++];
        look->id = look->name = fm_agent_id_unpack(id);
        look->team = (uint32_t)team;
        look->state = (fm_agent_state)state;
        if (!is_agent(id) || team > FM_TEAMS_MAX || state >= FM_AGENT_STATE_COUNT ||
            !read_cell(draft->scene->host, numbers, at + 2, &look->cell)) {
            return false;
        }
        note_place(draft, look->name, at / AGENT_SIZE);
    }
    return true;
}

static bool read_leave(struct draft *draft)
{
    fm_numbers numbers = draft->leave;
    for (uint32_t at = 0; at < numbers.count; at += LEAVE_SIZE) {
        uint64_t id = fm_numbers_at(numbers, at);
        fm_agent_left *left = &draft->left[draft->block->changes.left_count++];
        left->id = left->name = fm_agent_id_unpack(id);
        uint64_t reason = fm_numbers_at(numbers, at + 1);
        left->reason = reason == FM_LEAVE_REMOVED   ? FM_LEAVE_REMOVED
                       : reason == FM_LEAVE_BOARDED ? FM_LEAVE_BOARDED
                                                    : FM_LEAVE_FOG;
        if (!is_agent(id)) {
            return false;
        }
    }
    return true;
}

static bool read_died(struct draft *draft)
{
    for (uint32_t at = 0; at < draft->died.count; at++) {
        uint64_t id = fm_numbers_at(draft->died, at);
        fm_agent_left *left = &draft->left[draft->block->changes.left_count++];
        left->id = left->name = fm_agent_id_unpack(id);
        left->reason = FM_LEAVE_DIED;
        if (!is_agent(id)) {
            return false;
        }
    }
    return true;
}

// What the scene shows in a slot. NULL: nothing
static const fm_scene_agent *shown_at(const fm_scene *scene, uint32_t index1)
{
    bool is_there = index1 > 0 && index1 <= scene->slot_count;
    return is_there && scene->agents[index1 - 1].in_view ? &scene->agents[index1 - 1] : NULL;
}

static fm_agent_look look_of(const fm_scene_agent *agent)
{
    return (fm_agent_look){
        .id = fm_agent_id_unpack(agent->id),
        .name = fm_agent_id_unpack(agent->name),
        .team = agent->team,
        .cell = agent->cell,
        .state = (fm_agent_state)agent->state,
        .class_index = agent->class_index,
    };
}

// A look of an agent that is shown.
static fm_agent_look *add_changed(struct draft *draft, const fm_scene_agent *agent)
{
    fm_changes *changes = &draft->block->changes;
    fm_agent_look *look = &draft->changed[changes->changed_count];
    *look = look_of(agent);
    note_place(draft, look->name, changes->entered_count + changes->changed_count);
    changes->changed_count += 1;
    return look;
}

static bool read_steps(struct draft *draft)
{
    const fm_host *host = draft->scene->host;
    const uint8_t *at = draft->steps, *end = at == NULL ? NULL : at + draft->steps_size;
    for (fm_dense_step step = {0}; at != end;) {
        at = fm_dense_get_step(at, end, &step);
        const fm_scene_agent *agent = shown_at(draft->scene, step.place);
        if (agent == NULL || (step.has_state && step.state >= FM_AGENT_STATE_COUNT)) {
            return false;
        }
        uint32_t x = step.x, y = step.y;
        if (step.direction != FM_DENSE_ELSEWHERE) {
            x = fm_cell_x(agent->cell);
            y = fm_cell_y(agent->cell);
            fm_dense_move(step.direction, &x, &y);
        }
        if (x >= host->width || y >= host->height) {
            return false;
        }
        fm_agent_look *look = add_changed(draft, agent);
        look->cell = fm_cell_at(x, y);
        look->state = step.has_state ? (fm_agent_state)step.state : look->state;
    }
    return true;
}

// An agent's look among those that came or changed; one that is shown and did neither changes now.
// NULL: nobody knows it.
static fm_agent_look *need_look(struct draft *draft, uint64_t id)
{
    uint32_t index1 = fm_agent_id_unpack(id).index1;
    const fm_scene_agent *agent = shown_at(draft->scene, index1);
    fm_agent_look *look = index1 <= draft->slot_count ? look_in(draft, index1) : NULL;
    if (look != NULL && fm_agent_id_pack(look->id) == id) {
        return look;
    }
    return agent != NULL && agent->id == id ? add_changed(draft, agent) : NULL;
}

static bool read_classes(struct draft *draft)
{
    fm_numbers numbers = draft->classes;
    for (uint32_t at = 0; at < numbers.count; at += CLASS_SIZE) {
        uint64_t class_index = fm_numbers_at(numbers, at + 1);
        fm_agent_look *look = need_look(draft, fm_numbers_at(numbers, at));
        if (look == NULL || class_index >= FM_CLASSES_MAX) {
            return false;
        }
        look->class_index = (uint32_t)class_index;
    }
    return true;
}

static bool read_tags(struct draft *draft)
{
    fm_numbers numbers = draft->tagged;
    const uint8_t *bytes = draft->tags;
    for (uint32_t at = 0; at < numbers.count; at += TAGGED_SIZE) {
        fm_agent_look *look = need_look(draft, fm_numbers_at(numbers, at));
        if (look == NULL) {
            return false;
        }
        look->tells_tag = true;
        fm_tag_look *tag = &draft->block->tags[draft->block->tag_count++];
        tag->name = look->name;
        tag->size = (uint8_t)fm_numbers_at(numbers, at + 1);
        if (tag->size > 0) {
            memcpy(tag->bytes, bytes, tag->size);
            bytes += tag->size;
        }
    }
    return true;
}

// The scene sees agents' steps by itself; only the world knows their courses.
static bool read_motion(struct draft *draft)
{
    fm_numbers motion = draft->motion;
    for (uint32_t at = 0; at < motion.count;) {
        uint64_t id = fm_numbers_at(motion, at);
        fm_course *course = &draft->block->courses[draft->block->course_count++];
        course->name = fm_agent_id_unpack(id);
        course->count = (uint32_t)fm_numbers_at(motion, at + 3);
        for (uint32_t i = 0; i < course->count; i++) {
            course->points[i].x2 = (uint32_t)fm_numbers_at(motion, at + MOTION_SIZE + 2 * i);
            course->points[i].y2 = (uint32_t)fm_numbers_at(motion, at + MOTION_SIZE + 2 * i + 1);
        }
        if (!is_agent(id)) {
            return false;
        }
        at += MOTION_SIZE + 2 * course->count;
    }
    return true;
}

static bool read_ended(struct draft *draft)
{
    fm_numbers numbers = draft->ended;
    for (uint32_t at = 0; at < numbers.count; at += ENDED_SIZE) {
        fm_order_ended *ended = &draft->ended_orders[draft->block->changes.ended_count++];
        uint64_t reason = fm_numbers_at(numbers, at + 2);
        ended->order = ended->number = fm_numbers_at(numbers, at);
        ended->agent = ended->name = fm_agent_id_unpack(fm_numbers_at(numbers, at + 1));
        ended->reason = (fm_order_end)reason;
        if (reason >= FM_END_COUNT ||
            !read_cell(draft->scene->host, numbers, at + 3, &ended->cell)) {
            return false;
        }
    }
    return true;
}

static bool read_alerts(struct draft *draft)
{
    fm_numbers numbers = draft->alerts;
    for (uint32_t at = 0; at < numbers.count; at += ALERT_SIZE) {
        fm_alert *alert = &draft->alert_looks[draft->block->changes.alert_count++];
        alert->order = alert->number = fm_numbers_at(numbers, at);
        alert->agent = alert->name = fm_agent_id_unpack(fm_numbers_at(numbers, at + 1));
        alert->seen = alert->seen_name = fm_agent_id_unpack(fm_numbers_at(numbers, at + 2));
        if (!read_cell(draft->scene->host, numbers, at + 3, &alert->cell)) {
            return false;
        }
    }
    return true;
}

// ---- the map -----------------------------------------------------------------------------------

static void read_runs(struct draft *draft)
{
    uint32_t width = draft->scene->host->width;
    const uint8_t *at = draft->runs, *end = at == NULL ? NULL : at + draft->runs_size;
    for (fm_dense_run run = {0}; at != end;) {
        at = fm_dense_get_run(at, end, &run); // counted before, so well-formed
        for (uint32_t i = 0; i < run.count; i++) {
            uint64_t cell = run.begin + i;
            draft->cells[draft->block->changes.cell_count++] = (fm_learned){
                .cell = fm_cell_at((uint32_t)(cell % width), (uint32_t)(cell / width)),
                .terrain = (uint8_t)(run.look & 15),
                .cost = (uint8_t)((run.look >> 4) + 1),
            };
        }
    }
}

static bool read_buildings(struct draft *draft)
{
    const fm_host *host = draft->scene->host;
    fm_numbers numbers = draft->buildings;
    for (uint32_t at = 0; at < numbers.count; at += BUILDING_SIZE) {
        uint64_t id = fm_numbers_at(numbers, at), team = fm_numbers_at(numbers, at + 1);
        uint64_t x = fm_numbers_at(numbers, at + 2), y = fm_numbers_at(numbers, at + 3);
        uint64_t width = fm_numbers_at(numbers, at + 4), height = fm_numbers_at(numbers, at + 5);
        if (id > UINT32_MAX || team > FM_TEAMS_MAX || x >= host->width || y >= host->height ||
            width > host->width - x || height > host->height - y) {
            return false;
        }
        draft->building_looks[draft->block->changes.building_count++] = (fm_building_look){
            .id = (uint32_t)id,
            .name = (uint32_t)id,
            .team = (uint32_t)team,
            .rect = {(uint32_t)x, (uint32_t)y, (uint32_t)width, (uint32_t)height},
        };
    }
    return true;
}

static bool is_whole_map(const fm_host *host, fm_numbers rect)
{
    return rect.count == 4 && fm_numbers_at(rect, 0) == 0 && fm_numbers_at(rect, 1) == 0 &&
           fm_numbers_at(rect, 2) == host->width && fm_numbers_at(rect, 3) == host->height;
}

static fm_status fill_looks(struct draft *draft)
{
    const fm_host *host = draft->scene->host;
    size_t cell_count = (size_t)host->width * host->height, left = cell_count;
    fm_numbers numbers = fm_object_numbers(draft->params, "cells");
    uint16_t *looks = draft->block->looks = malloc(cell_count * sizeof *looks);
    if (looks == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t at = 0; at + 1 < numbers.count; at += 2) {
        uint64_t count = fm_numbers_at(numbers, at), look = fm_numbers_at(numbers, at + 1);
        if (count > left || !is_look(look)) {
            return FM_ERR_BAD_MESSAGE;
        }
        left -= count;
        for (uint64_t i = 0; i < count; i++) {
            *looks++ = (uint16_t)look;
        }
    }
    return left == 0 ? FM_OK : FM_ERR_BAD_MESSAGE;
}

// ---- what is visible ---------------------------------------------------------------------------

static void mark(uint64_t *words, const fm_host *host, uint64_t cell)
{
    uint32_t x = (uint32_t)(cell % host->width), y = (uint32_t)(cell / host->width);
    words[(size_t)y * fm_sight_pitch(host->width) + x / 64] |= (uint64_t)1 << x % 64;
}

static uint64_t *make_sight(const fm_host *host)
{
    return calloc((size_t)fm_sight_pitch(host->width) * host->height, sizeof(uint64_t));
}

// A keyframe's `visible`: so many cells are not visible, so many are ...
static fm_status fill_sight(struct draft *draft)
{
    const fm_host *host = draft->scene->host;
    fm_numbers numbers = fm_object_numbers(draft->params, "visible");
    uint64_t at = 0, cells = (uint64_t)host->width * host->height;
    if (fm_object_get(draft->params, "visible") == NULL) {
        return FM_OK;
    }
    draft->block->sight = make_sight(host);
    if (draft->block->sight == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < numbers.count; i++) {
        uint64_t count = fm_numbers_at(numbers, i);
        if (count > cells - at) {
            return FM_ERR_BAD_MESSAGE;
        }
        for (uint64_t k = 0; i % 2 == 1 && k < count; k++) {
            mark(draft->block->sight, host, at + k);
        }
        at += count;
    }
    return at == cells ? FM_OK : FM_ERR_BAD_MESSAGE;
}

// A dense delta's `sight`: edges, above and below which cells are marked or not; marks are what is
// visible, or what is not as it was.
static fm_status read_marks(const struct draft *draft, const uint8_t *bytes, size_t size,
                            uint64_t *words)
{
    const fm_host *host = draft->scene->host;
    uint64_t cells = (uint64_t)host->width * host->height;
    const uint8_t *at = bytes + 1, *end = bytes + size;
    for (fm_dense_span span = {0}; at != end;) {
        at = fm_dense_get_span(at, end, &span);
        if (at == NULL || span.begin > cells || span.count > cells - span.begin) {
            return FM_ERR_BAD_MESSAGE;
        }
        for (uint64_t i = 0; i < span.count; i++) {
            mark(words, host, span.begin + i);
        }
    }
    size_t pitch = fm_sight_pitch(host->width);
    for (size_t i = pitch; i < pitch * host->height; i++) {
        words[i] ^= words[i - pitch];
    }
    return FM_OK;
}

// The cells to flip, as words; NULL: no entry.
static fm_status read_sight(struct draft *draft, uint64_t **out)
{
    const fm_scene *scene = draft->scene;
    size_t size = 0, count = (size_t)fm_sight_pitch(scene->host->width) * scene->host->height;
    const uint8_t *bytes = fm_object_bytes(draft->params, "sight", &size);
    if (bytes == NULL || scene->visible == NULL) {
        return FM_OK;
    }
    if (size == 0 || bytes[0] > FM_DENSE_SIGHT_FLIPS) {
        return FM_ERR_BAD_MESSAGE;
    }
    uint64_t *words = make_sight(scene->host);
    if (words == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = read_marks(draft, bytes, size, words);
    if (status != FM_OK) {
        free(words);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        words[i] ^= bytes[0] == FM_DENSE_SIGHT_WHOLE ? scene->visible[i] : 0;
        draft->flip_room += words[i] != 0;
    }
    *out = words;
    return FM_OK;
}

static void list_flips(struct draft *draft, const uint64_t *words)
{
    const fm_host *host = draft->scene->host;
    uint32_t pitch = fm_sight_pitch(host->width);
    for (uint32_t y = 0; words != NULL && y < host->height; y++) {
        for (uint32_t word = 0; word < pitch; word++) {
            uint64_t cells = words[(size_t)y * pitch + word];
            if (cells != 0) {
                draft->flips[draft->block->changes.sight_count++] =
                    (fm_sight_flip){.y = y, .word = word, .cells = cells};
            }
        }
    }
}

// ---- whole notifications -----------------------------------------------------------------------

static fm_status read_keyframe(struct draft *draft)
{
    if (!is_whole_map(draft->scene->host, fm_object_numbers(draft->params, "rect"))) {
        return FM_ERR_BAD_MESSAGE;
    }
    draft->block->is_snapshot = true;
    draft->block->is_cut = draft->scene->live && draft->block->tick <= draft->scene->tick;
    draft->block->ended_lost = fm_object_get(draft->params, "untold") != NULL;
    draft->block->changes.buildings_changed = true;
    if (!read_agents(draft) || !read_classes(draft) || !read_tags(draft) || !read_motion(draft) ||
        !read_buildings(draft)) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_status status = fill_looks(draft);
    return status == FM_OK ? fill_sight(draft) : status;
}

fm_status fm_picture_of_keyframe(const fm_scene *scene, const msgpack_object *params,
                                 fm_publication **out)
{
    struct draft draft;
    if (!draft_init(&draft, scene, params, "agents") || draft.steps != NULL || draft.runs != NULL ||
        draft.leave.count > 0 || draft.ended.count > 0 || draft.alerts.count > 0 ||
        draft.died.count > 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    if (!make_block(&draft)) {
        free(draft.places);
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = read_keyframe(&draft);
    free(draft.places);
    if (status != FM_OK) {
        drop_block(&draft);
        return status;
    }
    *out = draft.block;
    return FM_OK;
}

static void read_load(struct draft *draft)
{
    fm_numbers load = fm_object_numbers(draft->params, "load");
    if (load.count >= LOAD_SIZE) {
        draft->block->load = (fm_load){
            .tick_us = fm_numbers_at(load, 0),
            .search_us = fm_numbers_at(load, 1),
            .expansions = fm_numbers_at(load, 2),
            .moved = fm_numbers_at(load, 3),
            .agents = fm_numbers_at(load, 4),
        };
    }
}

static bool read_delta(struct draft *draft)
{
    draft->block->changes.buildings_changed =
        fm_object_get(draft->params, "buildings") != NULL; // empty when the last one has gone
    read_load(draft);
    read_runs(draft);
    return read_leave(draft) && read_agents(draft) && read_steps(draft) && read_classes(draft) &&
           read_tags(draft) && read_motion(draft) && read_buildings(draft) && read_ended(draft) &&
           read_alerts(draft) && read_died(draft);
}

fm_status fm_picture_of_delta(const fm_scene *scene, const msgpack_object *params,
                              fm_publication **out)
{
    struct draft draft;
    uint64_t *flips = NULL;
    if (!scene->live || fm_object_uint(params, "tick", 0) < scene->tick ||
        !draft_init(&draft, scene, params, "enter")) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_status status = read_sight(&draft, &flips);
    if (status == FM_OK && !make_block(&draft)) {
        status = FM_ERR_NO_MEMORY;
    }
    if (status == FM_OK && !read_delta(&draft)) {
        status = FM_ERR_BAD_MESSAGE;
    }
    free(draft.places);
    if (status != FM_OK) {
        drop_block(&draft);
        free(flips);
        return status;
    }
    list_flips(&draft, flips);
    free(flips);
    *out = draft.block;
    return FM_OK;
}
