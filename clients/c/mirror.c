// clients/c/mirror.c: see mirror.h.
//
// A delta is applied in the order leave, enter, tags, moved, cells, ended, so that a slot whose
// agent died and whose next one was born in the same (merged) delta ends up with the new one.

#include <fogmarch/mirror.h>

#include "clients/c/contents.h"
#include "clients/c/mirror_agents.h"
#include "clients/c/mirror_motion.h"
#include "clients/c/mirror_sight.h"
#include "proto/dense.h"
#include "proto/protocol.h"

#include <stdlib.h>
#include <string.h>

#define KEYFRAME_AGENT_SIZE 5u // numbers per entry of `agents` and `enter`
#define MOVED_SIZE          4u
#define LEAVE_SIZE          2u
#define CELLS_RUN_SIZE      4u
#define ENDED_SIZE          5u
#define ALERT_SIZE          5u
#define LOAD_SIZE           5u
#define CLASS_SIZE          2u // of `classes`
#define BUILDING_SIZE       6u
#define TAG_SIZE            2u // of `tagged`

void fm_mirror_init(fm_mirror *mirror, uint64_t subscription, const fm_mirror_ops *ops,
                    void *context)
{
    *mirror = (fm_mirror){.subscription = subscription, .ops = ops, .context = context};
}

void fm_mirror_fini(fm_mirror *mirror)
{
    free(mirror->looks);
    free(mirror->agents);
    free(mirror->tags);
    free(mirror->buildings);
    free(mirror->slots);
    free(mirror->visible);
    free(mirror->motions);
    *mirror = (fm_mirror){.ops = NULL};
}

void fm_mirror_resume(fm_mirror *mirror, uint64_t subscription)
{
    mirror->subscription = subscription;
    mirror->over = mirror->has_moved = false;
}

bool fm_mirror_wants(const fm_mirror *mirror, fm_notification notification,
                     const msgpack_object *params)
{
    uint64_t subscription = fm_object_uint(params, "subscription", 0);
    switch (notification) {
    case FM_NOTIFY_KEYFRAME:
        return mirror->subscription == 0 || mirror->subscription == subscription;
    case FM_NOTIFY_DELTA:
    case FM_NOTIFY_WORLD_ENDED:
    case FM_NOTIFY_MOVED:
        return mirror->subscription != 0 && mirror->subscription == subscription;
    case FM_NOTIFY_DEBUG:
    case FM_NOTIFY_IDLE:
    case FM_NOTIFY_GOING_DOWN:
    case FM_NOTIFY_SHIPMENT:
    case FM_NOTIFICATION_COUNT:
        break;
    }
    return false;
}

// ---- agents -------------------------------------------------------------------------------------

static fm_mirror_agent *find(const fm_mirror *mirror, uint64_t id)
{
    uint32_t index = fm_mirror_index_of(mirror, id);
    return index == mirror->agent_count ? NULL : &mirror->agents[index];
}

const fm_mirror_agent *fm_mirror_find(const fm_mirror *mirror, uint64_t id)
{
    return find(mirror, id);
}

// As fm_reserve_zeroed(), which is not part of the library.
static bool reserve(void **array, uint32_t *capacity, uint32_t wanted, size_t size)
{
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t grown = *capacity == 0 ? 256 : *capacity;
    while (grown < wanted) {
        grown *= 2;
    }
    char *block = realloc(*array, grown * size);
    if (block == NULL) {
        return false;
    }
    memset(block + *capacity * size, 0, (grown - *capacity) * size);
    *array = block;
    *capacity = grown;
    return true;
}

static void forget_tag(fm_mirror *mirror, uint32_t place)
{
    if (place < mirror->tag_capacity) {
        mirror->tags[place].size = 0;
    }
}

// Room for one more agent, in slot `slot`.
static fm_status reserve_agent(fm_mirror *mirror, uint32_t slot)
{
    bool reserved =
        reserve((void **)&mirror->slots, &mirror->slot_capacity, slot + 1, sizeof *mirror->slots) &&
        reserve((void **)&mirror->agents, &mirror->agent_capacity, mirror->agent_count + 1,
                sizeof *mirror->agents);
    return reserved ? FM_OK : FM_ERR_NO_MEMORY;
}

static bool read_place(fm_numbers numbers, uint32_t at, fm_cell *cell)
{
    uint64_t x = fm_numbers_at(numbers, at), y = fm_numbers_at(numbers, at + 1);
    *cell = fm_cell_at((uint32_t)x & 0xfffu, (uint32_t)y & 0xfffu);
    return x < FM_SIDE_MAX && y < FM_SIDE_MAX;
}

// id, team, x, y, state
static fm_status add_agent(fm_mirror *mirror, fm_numbers numbers, uint32_t at)
{
    uint64_t id = fm_numbers_at(numbers, at), team = fm_numbers_at(numbers, at + 1);
    uint64_t state = fm_numbers_at(numbers, at + 4);
    uint32_t slot = fm_agent_id_unpack(id).index1;
    fm_cell cell;
    if (slot == 0 || slot > 2 * FM_AGENTS_MAX || team > FM_TEAMS_MAX ||
        state >= FM_AGENT_STATE_COUNT || !read_place(numbers, at + 2, &cell)) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_status status = reserve_agent(mirror, slot);
    if (status != FM_OK) {
        return status;
    }
    if (mirror->slots[slot] != 0) {
        return FM_ERR_BAD_MESSAGE; // came in twice
    }
    fm_mirror_forget_motion(mirror, mirror->agent_count);
    forget_tag(mirror, mirror->agent_count);
    mirror->agents[mirror->agent_count++] = (fm_mirror_agent){
        .id = id,
        .team = (uint32_t)team,
        .cell = cell,
        .state = (fm_agent_state)state,
    };
    mirror->slots[slot] = mirror->agent_count;
    return FM_OK;
}

static fm_status add_agents(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % KEYFRAME_AGENT_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < numbers.count && status == FM_OK; i += KEYFRAME_AGENT_SIZE) {
        status = add_agent(mirror, numbers, i);
    }
    return status;
}

static void move_tag(fm_mirror *mirror, uint32_t from, uint32_t to)
{
    forget_tag(mirror, to);
    if (from < mirror->tag_capacity) {
        mirror->tags[to] = mirror->tags[from];
    }
}

static fm_status remove_agents(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % LEAVE_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += LEAVE_SIZE) {
        fm_mirror_agent *agent = find(mirror, fm_numbers_at(numbers, i));
        if (agent == NULL) {
            return FM_ERR_BAD_MESSAGE;
        }
        const fm_mirror_agent *last = &mirror->agents[--mirror->agent_count];
        mirror->slots[fm_agent_id_unpack(last->id).index1] = (uint32_t)(agent - mirror->agents) + 1;
        mirror->slots[fm_agent_id_unpack(agent->id).index1] = 0;
        fm_mirror_carry_motion(mirror, (uint32_t)(agent - mirror->agents), mirror->agent_count);
        move_tag(mirror, mirror->agent_count, (uint32_t)(agent - mirror->agents));
        *agent = *last;
    }
    return FM_OK;
}

static void move_agent(fm_mirror *mirror, fm_mirror_agent *agent, fm_cell cell,
                       fm_agent_state state)
{
    fm_cell from = agent->cell;
    agent->cell = cell;
    agent->state = state;
    mirror->moves += cell != from;
    if (mirror->ops != NULL && mirror->ops->moved != NULL) {
        mirror->ops->moved(mirror->context, agent, from);
    }
}

static fm_status move_agents(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % MOVED_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += MOVED_SIZE) {
        fm_mirror_agent *agent = find(mirror, fm_numbers_at(numbers, i));
        uint64_t state = fm_numbers_at(numbers, i + 3);
        fm_cell cell;
        if (agent == NULL || state >= FM_AGENT_STATE_COUNT || !read_place(numbers, i + 1, &cell)) {
            return FM_ERR_BAD_MESSAGE;
        }
        move_agent(mirror, agent, cell, (fm_agent_state)state);
    }
    return FM_OK;
}

// The steps of a dense delta: see proto/dense.h.
static fm_status take_steps(fm_mirror *mirror, const msgpack_object *params)
{
    size_t size = 0;
    const uint8_t *at = fm_object_bytes(params, "steps", &size);
    const uint8_t *end = at == NULL ? NULL : at + size;
    for (fm_dense_step step = {0}; at != end;) {
        at = fm_dense_get_step(at, end, &step);
        if (at == NULL || step.place >= mirror->slot_capacity || mirror->slots[step.place] == 0 ||
            (step.has_state && step.state >= FM_AGENT_STATE_COUNT)) {
            return FM_ERR_BAD_MESSAGE;
        }
        fm_mirror_agent *agent = &mirror->agents[mirror->slots[step.place] - 1];
        fm_cell from = agent->cell;
        uint32_t x = step.x, y = step.y;
        if (step.direction != FM_DENSE_ELSEWHERE) {
            x = fm_cell_x(from);
            y = fm_cell_y(from);
            fm_dense_move(step.direction, &x, &y);
        }
        if (x >= FM_SIDE_MAX || y >= FM_SIDE_MAX) {
            return FM_ERR_BAD_MESSAGE;
        }
        fm_agent_state state = step.has_state ? (fm_agent_state)step.state : agent->state;
        move_agent(mirror, agent, fm_cell_at(x, y), state);
    }
    return FM_OK;
}

static fm_status set_classes(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % CLASS_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += CLASS_SIZE) {
        fm_mirror_agent *agent = find(mirror, fm_numbers_at(numbers, i));
        uint64_t class_index = fm_numbers_at(numbers, i + 1);
        if (agent == NULL || class_index >= FM_CLASSES_MAX) {
            return FM_ERR_BAD_MESSAGE;
        }
        agent->class_index = (uint32_t)class_index;
    }
    return FM_OK;
}

static fm_status set_tag(fm_mirror *mirror, const fm_mirror_agent *agent, const uint8_t *bytes,
                         uint8_t size)
{
    if (!reserve((void **)&mirror->tags, &mirror->tag_capacity, mirror->agent_capacity,
                 sizeof *mirror->tags)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_mirror_tag *tag = &mirror->tags[agent - mirror->agents];
    tag->size = size;
    memcpy(tag->bytes, bytes, size);
    return FM_OK;
}

const uint8_t *fm_mirror_tag_of(const fm_mirror *mirror, const fm_mirror_agent *agent,
                                uint32_t *size)
{
    size_t place = (size_t)(agent - mirror->agents);
    *size = place < mirror->tag_capacity ? mirror->tags[place].size : 0;
    return *size > 0 ? mirror->tags[place].bytes : NULL;
}

// `tagged` says whose, and how long each is; `tags` has them one after the other.
static fm_status set_tags(fm_mirror *mirror, const msgpack_object *params)
{
    fm_numbers numbers = fm_object_numbers(params, "tagged");
    size_t left = 0;
    const uint8_t *bytes = fm_object_bytes(params, "tags", &left);
    if (numbers.count % TAG_SIZE != 0 || (numbers.count > 0 && bytes == NULL)) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += TAG_SIZE) {
        fm_mirror_agent *agent = find(mirror, fm_numbers_at(numbers, i));
        uint64_t size = fm_numbers_at(numbers, i + 1);
        if (agent == NULL || size > FM_TAG_SIZE_MAX || size > left) {
            return FM_ERR_BAD_MESSAGE;
        }
        fm_status status = set_tag(mirror, agent, bytes, (uint8_t)size);
        if (status != FM_OK) {
            return status;
        }
        bytes += size;
        left -= size;
    }
    return FM_OK;
}

static fm_status end_orders(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % ENDED_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += ENDED_SIZE) {
        uint64_t reason = fm_numbers_at(numbers, i + 2);
        fm_mirror_ended ended = {
            .order = fm_numbers_at(numbers, i),
            .agent = fm_numbers_at(numbers, i + 1),
            .reason = (fm_order_end)reason,
        };
        if (reason > INT32_MAX || !read_place(numbers, i + 3, &ended.cell)) {
            return FM_ERR_BAD_MESSAGE;
        }
        if (reason < FM_END_COUNT) {
            mirror->ended[reason]++;
        }
        if (mirror->ops != NULL && mirror->ops->ended != NULL) {
            mirror->ops->ended(mirror->context, &ended);
        }
    }
    return FM_OK;
}

static fm_status tell_alerts(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % ALERT_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    for (uint32_t i = 0; i < numbers.count; i += ALERT_SIZE) {
        fm_mirror_alert alert = {.order = fm_numbers_at(numbers, i),
                                 .agent = fm_numbers_at(numbers, i + 1),
                                 .enemy = fm_numbers_at(numbers, i + 2)};
        if (!read_place(numbers, i + 3, &alert.cell)) {
            return FM_ERR_BAD_MESSAGE;
        }
        if (mirror->ops != NULL && mirror->ops->alerted != NULL) {
            mirror->ops->alerted(mirror->context, &alert);
        }
    }
    return FM_OK;
}

static void tell_deaths(const fm_mirror *mirror, fm_numbers ids)
{
    for (uint32_t i = 0; i < ids.count; i++) {
        if (mirror->ops != NULL && mirror->ops->died != NULL) {
            mirror->ops->died(mirror->context, fm_numbers_at(ids, i));
        }
    }
}

// ---- cells --------------------------------------------------------------------------------------

static bool is_look(uint64_t look)
{
    return look <= UINT16_MAX && (look & 15) < FM_TERRAIN_COUNT;
}

static void set_looks(fm_mirror *mirror, uint64_t begin, uint64_t count, uint32_t look)
{
    uint16_t *looks = mirror->looks + begin;
    for (uint64_t i = 0; i < count; i++) {
        mirror->known_count += (uint64_t)(look != 0) - (uint64_t)(looks[i] != 0);
        looks[i] = (uint16_t)look;
    }
}

// The runs of a dense delta: see proto/dense.h.
static fm_status take_runs(fm_mirror *mirror, const msgpack_object *params)
{
    uint64_t cells = (uint64_t)mirror->rect.width * mirror->rect.height;
    size_t size = 0;
    const uint8_t *at = fm_object_bytes(params, "runs", &size);
    const uint8_t *end = at == NULL ? NULL : at + size;
    for (fm_dense_run run = {0}; at != end;) {
        at = fm_dense_get_run(at, end, &run);
        if (at == NULL || run.begin > cells || run.count > cells - run.begin ||
            !is_look(run.look)) {
            return FM_ERR_BAD_MESSAGE;
        }
        set_looks(mirror, run.begin, run.count, run.look);
    }
    return FM_OK;
}

// x, y, count, look ... each within one row of the rectangle
static fm_status change_cells(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count % CELLS_RUN_SIZE != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    const fm_rect *rect = &mirror->rect;
    for (uint32_t i = 0; i < numbers.count; i += CELLS_RUN_SIZE) {
        uint64_t column = fm_numbers_at(numbers, i) - rect->x;
        uint64_t row = fm_numbers_at(numbers, i + 1) - rect->y;
        uint64_t count = fm_numbers_at(numbers, i + 2), look = fm_numbers_at(numbers, i + 3);
        if (column >= rect->width || row >= rect->height || count > rect->width - column ||
            !is_look(look)) {
            return FM_ERR_BAD_MESSAGE;
        }
        set_looks(mirror, row * rect->width + column, count, (uint32_t)look);
    }
    return FM_OK;
}

// count, look ... over the whole rectangle, row by row
static fm_status fill_cells(fm_mirror *mirror, fm_numbers numbers)
{
    uint64_t left = (uint64_t)mirror->rect.width * mirror->rect.height;
    uint16_t *looks = mirror->looks;
    if (numbers.count % 2 != 0) {
        return FM_ERR_BAD_MESSAGE;
    }
    mirror->known_count = 0;
    for (uint32_t i = 0; i < numbers.count; i += 2) {
        uint64_t count = fm_numbers_at(numbers, i), look = fm_numbers_at(numbers, i + 1);
        if (count > left || !is_look(look)) {
            return FM_ERR_BAD_MESSAGE;
        }
        for (uint64_t k = 0; k < count; k++) {
            *looks++ = (uint16_t)look;
        }
        left -= count;
        mirror->known_count += look != 0 ? count : 0;
    }
    return left == 0 ? FM_OK : FM_ERR_BAD_MESSAGE;
}

// ---- whole notifications ------------------------------------------------------------------------

// Four numbers from `at` on.
static bool read_rect(fm_numbers numbers, uint32_t at, fm_rect *rect)
{
    if (numbers.count < at + 4) {
        return false;
    }
    uint64_t x = fm_numbers_at(numbers, at), y = fm_numbers_at(numbers, at + 1);
    uint64_t width = fm_numbers_at(numbers, at + 2), height = fm_numbers_at(numbers, at + 3);
    *rect = (fm_rect){(uint32_t)x, (uint32_t)y, (uint32_t)width, (uint32_t)height};
    return x < FM_SIDE_MAX && y < FM_SIDE_MAX && width >= 1 && width <= FM_SIDE_MAX - x &&
           height >= 1 && height <= FM_SIDE_MAX - y;
}

// number, owner, x, y, width, height; all of them
static fm_status set_buildings(fm_mirror *mirror, fm_numbers numbers)
{
    uint32_t count = numbers.count / BUILDING_SIZE;
    if (numbers.count % BUILDING_SIZE != 0 || count > FM_BUILDINGS_MAX) {
        return FM_ERR_BAD_MESSAGE;
    }
    fm_building_look *buildings = calloc(count + 1u, sizeof *buildings);
    if (buildings == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    free(mirror->buildings);
    mirror->buildings = buildings;
    mirror->building_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i * BUILDING_SIZE;
        uint64_t id = fm_numbers_at(numbers, at), team = fm_numbers_at(numbers, at + 1);
        fm_rect rect;
        if (id > UINT32_MAX || team > FM_TEAMS_MAX || !read_rect(numbers, at + 2, &rect)) {
            return FM_ERR_BAD_MESSAGE;
        }
        buildings[i] = (fm_building_look){
            .id = (uint32_t)id,
            .name = (uint32_t)id,
            .team = (uint32_t)team,
            .rect = rect,
        };
    }
    return FM_OK;
}

static fm_status apply_keyframe(fm_mirror *mirror, const msgpack_object *params)
{
    fm_rect rect;
    if (!read_rect(fm_object_numbers(params, "rect"), 0, &rect)) {
        return FM_ERR_BAD_MESSAGE;
    }
    uint16_t *looks = malloc((size_t)rect.width * rect.height * sizeof *looks);
    if (looks == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    free(mirror->looks);
    mirror->looks = looks;
    mirror->rect = rect;
    mirror->subscription = fm_object_uint(params, "subscription", 0);
    mirror->world = fm_object_uint(params, "world", 0);
    mirror->team = fm_object_uint(params, "team", 0);
    mirror->tick = fm_object_uint(params, "tick", 0);
    mirror->keyframes++;
    mirror->agent_count = 0;
    if (mirror->slots != NULL) {
        memset(mirror->slots, 0, mirror->slot_capacity * sizeof *mirror->slots);
    }
    fm_status status = fill_cells(mirror, fm_object_numbers(params, "cells"));
    if (status == FM_OK) {
        status = add_agents(mirror, fm_object_numbers(params, "agents"));
    }
    if (status == FM_OK) {
        status = set_buildings(mirror, fm_object_numbers(params, "buildings"));
    }
    if (status == FM_OK) {
        status = set_classes(mirror, fm_object_numbers(params, "classes"));
    }
    if (status == FM_OK) {
        status = fm_mirror_set_motions(mirror, fm_object_numbers(params, "motion"));
    }
    if (status == FM_OK) {
        status = set_tags(mirror, params);
    }
    return status == FM_OK ? fm_mirror_fill_sight(mirror, params) : status;
}

static void tell_untold(fm_mirror *mirror, const msgpack_object *params)
{
    if (fm_object_bool(params, "untold", false)) {
        mirror->untold++;
        if (mirror->ops != NULL && mirror->ops->untold != NULL) {
            mirror->ops->untold(mirror->context);
        }
    }
}

static void read_load(fm_mirror *mirror, fm_numbers numbers)
{
    if (numbers.count >= LOAD_SIZE) {
        mirror->load = (fm_mirror_load){
            .tick_us = fm_numbers_at(numbers, 0),
            .search_us = fm_numbers_at(numbers, 1),
            .expansions = fm_numbers_at(numbers, 2),
            .moved = fm_numbers_at(numbers, 3),
            .agents = fm_numbers_at(numbers, 4),
        };
    }
}

// The view has moved: keeps what it still shows; the rest is unknown.
static fm_status move_rect(fm_mirror *mirror, fm_numbers numbers)
{
    fm_rect rect;
    if (numbers.count == 0) {
        return FM_OK;
    }
    if (!read_rect(numbers, 0, &rect)) {
        return FM_ERR_BAD_MESSAGE;
    }
    uint16_t *looks = malloc((size_t)rect.width * rect.height * sizeof *looks);
    if (looks == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    mirror->known_count = 0;
    for (uint32_t y = 0; y < rect.height; y++) {
        for (uint32_t x = 0; x < rect.width; x++) {
            uint32_t look = fm_mirror_look(mirror, rect.x + x, rect.y + y);
            looks[(size_t)y * rect.width + x] = (uint16_t)look;
            mirror->known_count += look != 0;
        }
    }
    free(mirror->looks);
    mirror->looks = looks;
    mirror->rect = rect;
    return FM_OK;
}

static fm_status apply_delta(fm_mirror *mirror, const msgpack_object *params)
{
    // One row per entry that changes something, in the order in which they are applied.
    static const struct {
        const char *name;
        fm_status (*apply)(fm_mirror *mirror, fm_numbers numbers);
    } entries[] = {
        {"leave", remove_agents}, {"rect", move_rect},    {"enter", add_agents},
        {"classes", set_classes}, {"moved", move_agents}, {"motion", fm_mirror_set_motions},
        {"cells", change_cells},
    };
    if (mirror->looks == NULL) {
        return FM_ERR_BAD_MESSAGE; // there was no keyframe
    }
    uint64_t tick = fm_object_uint(params, "tick", 0);
    if (tick < mirror->tick) {
        return FM_ERR_BAD_MESSAGE;
    }
    mirror->tick = tick;
    mirror->deltas++;
    for (size_t i = 0; i < FM_COUNT_OF(entries); i++) {
        fm_status status = entries[i].apply(mirror, fm_object_numbers(params, entries[i].name));
        if (status != FM_OK) {
            return status;
        }
    }
    fm_status status = set_tags(mirror, params);
    if (status == FM_OK) {
        status = take_steps(mirror, params);
    }
    if (status == FM_OK) {
        status = take_runs(mirror, params);
    }
    if (status == FM_OK) {
        bool rect_changed = fm_object_get(params, "rect") != NULL;
        status = fm_mirror_change_sight(mirror, params, rect_changed);
    }
    if (status == FM_OK) {
        status = end_orders(mirror, fm_object_numbers(params, "ended"));
    }
    if (status == FM_OK) {
        status = tell_alerts(mirror, fm_object_numbers(params, "alerts"));
    }
    if (status != FM_OK) {
        return status;
    }
    tell_deaths(mirror, fm_object_numbers(params, "died"));
    read_load(mirror, fm_object_numbers(params, "load"));
    // Left out when none has come or gone; empty when the last has gone.
    return fm_object_get(params, "buildings") == NULL
               ? FM_OK
               : set_buildings(mirror, fm_object_numbers(params, "buildings"));
}

// Notifies the owner after success.
static fm_status finish(const fm_mirror *mirror, fm_notification notification, fm_status status)
{
    if (status == FM_OK && mirror->ops != NULL && mirror->ops->updated != NULL) {
        mirror->ops->updated(mirror->context, mirror, notification);
    }
    return status;
}

static fm_status take_keyframe(fm_mirror *mirror, const msgpack_object *params)
{
    fm_status status = apply_keyframe(mirror, params);
    if (status == FM_OK) {
        tell_untold(mirror, params);
    }
    return finish(mirror, FM_NOTIFY_KEYFRAME, status);
}

fm_status fm_mirror_apply(fm_mirror *mirror, fm_notification notification,
                          const msgpack_object *params)
{
    if (!fm_mirror_wants(mirror, notification, params)) {
        return FM_OK;
    }
    bool is_view = notification == FM_NOTIFY_KEYFRAME || notification == FM_NOTIFY_DELTA;
    if (is_view && !fm_contents_are_view(params)) {
        return FM_ERR_BAD_MESSAGE;
    }
    switch (notification) {
    case FM_NOTIFY_KEYFRAME:
        return take_keyframe(mirror, params);
    case FM_NOTIFY_DELTA:
        return finish(mirror, notification, apply_delta(mirror, params));
    case FM_NOTIFY_WORLD_ENDED:
    case FM_NOTIFY_MOVED: // its user may subscribe elsewhere, and resume
        mirror->over = true;
        mirror->has_moved = notification == FM_NOTIFY_MOVED;
        return FM_OK;
    case FM_NOTIFY_DEBUG:
    case FM_NOTIFY_IDLE:
    case FM_NOTIFY_GOING_DOWN:
    case FM_NOTIFY_SHIPMENT:
    case FM_NOTIFICATION_COUNT:
        break;
    }
    return FM_OK;
}
