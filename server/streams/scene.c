// server/streams/scene.c: see scene.h. This file takes publications in; scene_pack.c packs answers.
// Memory is reserved before anything is taken in, so only logs can lack it later.

#include "server/streams/scene.h"

#include "core/views/view_delta.h"
#include "server/streams/scene_pack.h"

#include <stdlib.h>
#include <string.h>

#define AGENT_LOG_MAX (1u << 18) // changes of agents
#define CELL_LOG_MAX  (1u << 18) // changes of cells
#define ENDED_LOG_MAX (1u << 16) // orders

#define STEP_TICKS_MAX 64u // a step that took longer gives no speed

// Bytes of a set of cells, `visible` or `flipped`.
static size_t sight_size(uint32_t pitch, const fm_host *host)
{
    return (size_t)pitch * host->height * sizeof(uint64_t);
}

size_t fm_scene_size(const fm_host *host)
{
    return (size_t)host->width * host->height * sizeof(uint16_t) +
           2 * sight_size(fm_sight_pitch(host->width), host);
}

fm_scene *fm_scene_create(fm_host *host, uint32_t team, uint64_t serial)
{
    fm_scene *scene = calloc(1, sizeof *scene);
    uint16_t *looks = malloc((size_t)host->width * host->height * sizeof *looks);
    if (scene == NULL || looks == NULL) {
        free(scene);
        free(looks);
        return NULL;
    }
    scene->host = host;
    scene->team = team;
    scene->serial = serial;
    scene->looks = looks;
    scene->sight_pitch = fm_sight_pitch(host->width);
    fm_tick_log_init(&scene->agent_log, sizeof(fm_agent_before), AGENT_LOG_MAX);
    fm_tick_log_init(&scene->cell_log, sizeof(fm_cell), CELL_LOG_MAX);
    fm_tick_log_init(&scene->ended_log, sizeof(fm_order_ended), ENDED_LOG_MAX);
    fm_tick_log_init(&scene->alert_log, sizeof(fm_alert), ENDED_LOG_MAX);
    fm_tick_log_init(&scene->died_log, sizeof(fm_agent_left), ENDED_LOG_MAX);
    return scene;
}

void fm_scene_destroy(fm_scene *scene)
{
    if (scene == NULL) {
        return;
    }
    FM_ASSERT(scene->subscriptions == NULL);
    fm_scene_forget_bodies(scene);
    fm_tick_log_fini(&scene->agent_log);
    fm_tick_log_fini(&scene->cell_log);
    fm_tick_log_fini(&scene->ended_log);
    fm_tick_log_fini(&scene->alert_log);
    fm_tick_log_fini(&scene->died_log);
    free(scene->agents);
    free(scene->motions);
    free(scene->tags);
    free(scene->buildings);
    free(scene->looks);
    free(scene->visible);
    free(scene->flipped);
    free(scene);
}

// ---- agents ------------------------------------------------------------------------------------

static bool reserve_motions(fm_scene *scene, uint32_t count)
{
    return !scene->keeps_motion ||
           fm_reserve_zeroed(&fm_memory_libc, (void **)&scene->motions, &scene->motion_count, count,
                             sizeof *scene->motions);
}

fm_status fm_scene_keep_motion(fm_scene *scene)
{
    if (scene->keeps_motion) {
        return FM_OK;
    }
    scene->keeps_motion = true;
    if (scene->slot_count > 0 && !reserve_motions(scene, scene->slot_count)) {
        scene->keeps_motion = false;
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t slot = 0; slot < scene->motion_count; slot++) {
        scene->motions[slot].heading = FM_DIRECTION_COUNT;
    }
    return FM_OK;
}

static uint32_t slots_of(const fm_agent_look *looks, uint32_t count)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; i++) {
        slots = looks[i].name.index1 > slots ? looks[i].name.index1 : slots;
    }
    return slots;
}

// Makes room for all that the changes bring, before any of it is taken in.
static fm_status reserve(fm_scene *scene, const fm_changes *changes)
{
    uint32_t entered = slots_of(changes->entered, changes->entered_count);
    uint32_t changed = slots_of(changes->changed, changes->changed_count);
    return fm_reserve_zeroed(&fm_memory_libc, (void **)&scene->agents, &scene->slot_count,
                             entered > changed ? entered : changed, sizeof *scene->agents) &&
                   reserve_motions(scene, scene->slot_count) &&
                   FM_RESERVE_FROM(&fm_memory_libc, scene->buildings, scene->building_capacity,
                                   changes->building_count)
               ? FM_OK
               : FM_ERR_NO_MEMORY;
}

static void log_before(fm_scene *scene, uint64_t name, const fm_scene_agent *agent)
{
    fm_agent_before before = {.name = name};
    if (agent->name == name) {
        before = fm_agent_as_before(agent);
    }
    (void)fm_tick_log_add(&scene->agent_log, scene->tick, &before); // or a keyframe shows it
}

// Heading and speed follow from visible steps only, not from orders.
static void note_step(fm_scene *scene, uint64_t name, const fm_scene_agent *agent,
                      const fm_agent_look *look)
{
    fm_scene_motion *motion = &scene->motions[agent - scene->agents];
    if (!agent->in_view || agent->name != name) {
        *motion = (fm_scene_motion){.heading = FM_DIRECTION_COUNT, .changed_tick = scene->tick};
        return;
    }
    if (agent->cell == look->cell) {
        return;
    }
    bool is_step =
        fm_cell_dx(agent->cell, look->cell) <= 1 && fm_cell_dy(agent->cell, look->cell) <= 1;
    uint8_t heading =
        is_step ? (uint8_t)fm_cell_direction(agent->cell, look->cell) : FM_DIRECTION_COUNT;
    uint64_t ticks = scene->tick - motion->stepped_tick;
    bool is_timed = is_step && motion->stepped_tick != 0 && ticks > 0 && ticks <= STEP_TICKS_MAX;
    uint32_t speed = is_timed ? (heading & 1 ? 1414u : 1000u) / (uint32_t)ticks : 0;
    if (heading != motion->heading || speed != motion->speed) {
        motion->changed_tick = scene->tick;
    }
    motion->stepped_tick = scene->tick;
    motion->heading = heading;
    motion->speed = speed;
}

static void note_course(fm_scene *scene, const fm_course *course)
{
    uint32_t slot = course->name.index1 - 1;
    if (scene->motions == NULL || slot >= scene->slot_count) {
        return;
    }
    fm_scene_motion *motion = &scene->motions[slot];
    size_t size = course->count * sizeof *course->points;
    if (motion->point_count != course->count || memcmp(motion->points, course->points, size) != 0) {
        motion->point_count = (uint8_t)course->count;
        memcpy(motion->points, course->points, size);
        motion->changed_tick = scene->tick;
    }
}

static void note_courses(fm_scene *scene, const fm_publication *publication)
{
    for (uint32_t i = 0; i < publication->course_count; i++) {
        note_course(scene, &publication->courses[i]);
    }
}

// A slot that gets another agent has no tag, whatever readers show of the agent before.
static void forget_tag(fm_scene *scene, uint32_t slot)
{
    if (slot < scene->tag_count && scene->tags[slot].size > 0) {
        scene->tags[slot] = (fm_scene_tag){.changed_tick = scene->tick};
    }
}

static void note_tag(fm_scene *scene, const fm_tag_look *look)
{
    fm_scene_tag *tag = &scene->tags[look->name.index1 - 1];
    if (tag->size != look->size || memcmp(tag->bytes, look->bytes, look->size) != 0) {
        tag->changed_tick = scene->tick;
        tag->size = look->size;
        memcpy(tag->bytes, look->bytes, look->size);
    }
}

static void note_tags(fm_scene *scene, const fm_publication *publication)
{
    for (uint32_t i = 0; i < publication->tag_count; i++) {
        note_tag(scene, &publication->tags[i]);
    }
}

static bool reserve_tags(fm_scene *scene, const fm_publication *publication)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < publication->tag_count; i++) {
        uint32_t slot1 = publication->tags[i].name.index1;
        slots = slot1 > slots ? slot1 : slots;
    }
    return fm_reserve_zeroed(&fm_memory_libc, (void **)&scene->tags, &scene->tag_count, slots,
                             sizeof *scene->tags);
}

static void put_agent(fm_scene *scene, const fm_agent_look *look, bool log)
{
    fm_scene_agent *agent = &scene->agents[look->name.index1 - 1];
    uint64_t name = fm_agent_id_pack(look->name);
    if (log) {
        log_before(scene, name, agent);
    }
    if (scene->motions != NULL) {
        note_step(scene, name, agent, look);
    }
    if (!agent->in_view || agent->name != name) {
        forget_tag(scene, look->name.index1 - 1);
    }
    agent->name = name;
    agent->id = fm_agent_id_pack(look->id);
    agent->team = look->team;
    agent->cell = look->cell;
    agent->state = (uint8_t)look->state;
    agent->class_index = look->class_index;
    agent->in_view = true;
}

static void drop_agent(fm_scene *scene, const fm_agent_left *left)
{
    uint32_t slot = left->name.index1 - 1;
    uint64_t name = fm_agent_id_pack(left->name);
    if (slot >= scene->slot_count || scene->agents[slot].name != name) {
        return;
    }
    fm_scene_agent *agent = &scene->agents[slot];
    log_before(scene, name, agent);
    agent->in_view = false;
    agent->left_reason = (uint8_t)left->reason;
}

static bool is_agent(const fm_scene_agent *agent, uint64_t number, bool veiled)
{
    return agent->in_view && (veiled ? agent->name : agent->id) == number;
}

const fm_scene_agent *fm_scene_find(const fm_scene *scene, uint64_t number, bool veiled)
{
    bool by_name = veiled || scene->team == FM_ALL_TEAMS;
    if (by_name) {
        uint32_t slot = fm_agent_id_unpack(number).index1 - 1;
        return slot < scene->slot_count && is_agent(&scene->agents[slot], number, veiled)
                   ? &scene->agents[slot]
                   : NULL;
    }
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        if (is_agent(&scene->agents[slot], number, veiled)) {
            return &scene->agents[slot];
        }
    }
    return NULL;
}

// ---- publications ------------------------------------------------------------------------------

static void take_buildings(fm_scene *scene, const fm_changes *changes)
{
    if (!changes->buildings_changed) {
        return;
    }
    if (changes->building_count > 0) {
        memcpy(scene->buildings, changes->buildings,
               changes->building_count * sizeof *scene->buildings);
    }
    scene->building_count = changes->building_count;
    scene->buildings_tick = scene->tick;
}

// An order ends once, a unit stops once for an enemy and dies once: a scene that cannot show it is
// broken.
static bool note_ended(fm_scene *scene, const fm_changes *changes)
{
    for (uint32_t i = 0; i < changes->ended_count; i++) {
        if (!fm_tick_log_add(&scene->ended_log, scene->tick, &changes->ended[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < changes->alert_count; i++) {
        if (!fm_tick_log_add(&scene->alert_log, scene->tick, &changes->alerts[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < changes->left_count; i++) {
        if (changes->left[i].reason == FM_LEAVE_DIED &&
            !fm_tick_log_add(&scene->died_log, scene->tick, &changes->left[i])) {
            return false;
        }
    }
    return true;
}

// All that is visible. No reader has been sent another set of this tick.
static fm_status take_sight(fm_scene *scene, fm_publication *publication)
{
    if (publication->sight == NULL) {
        return FM_OK;
    }
    size_t size = sight_size(scene->sight_pitch, scene->host);
    if (scene->flipped == NULL) {
        scene->flipped = malloc(size);
    }
    if (scene->flipped == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    uint64_t *visible = scene->visible;
    scene->visible = publication->sight;
    publication->sight = visible;
    memset(scene->flipped, 0, size);
    scene->sight_tick = scene->sight_from = publication->tick;
    return FM_OK;
}

// @param before  the tick that the scene showed
static void flip_sight(fm_scene *scene, const fm_changes *changes, uint64_t before)
{
    if (changes->sight_count == 0 || scene->visible == NULL) {
        return;
    }
    memset(scene->flipped, 0, sight_size(scene->sight_pitch, scene->host));
    for (uint32_t i = 0; i < changes->sight_count; i++) {
        const fm_sight_flip *flip = &changes->sight[i];
        size_t at = (size_t)flip->y * scene->sight_pitch + flip->word;
        scene->visible[at] ^= flip->cells;
        scene->flipped[at] = flip->cells;
    }
    scene->sight_from = before;
    scene->sight_tick = scene->tick;
}

static fm_status apply_snapshot(fm_scene *scene, fm_publication *publication)
{
    // Copying the 32 MiB of a map of 4096 x 4096 cells would keep all other clients waiting.
    uint16_t *looks = scene->looks;
    scene->looks = publication->looks;
    publication->looks = looks;
    fm_tick_log_clear(&scene->agent_log, publication->tick);
    fm_tick_log_clear(&scene->cell_log, publication->tick);
    if (!scene->live || publication->is_cut) {
        fm_tick_log_clear(&scene->ended_log, publication->tick);
        fm_tick_log_clear(&scene->alert_log, publication->tick);
        fm_tick_log_clear(&scene->died_log, publication->tick);
    }
    if (scene->slot_count > 0) {
        memset(scene->agents, 0, scene->slot_count * sizeof *scene->agents);
    }
    if (scene->tag_count > 0) {
        memset(scene->tags, 0, scene->tag_count * sizeof *scene->tags);
    }
    const fm_changes *changes = &publication->changes;
    for (uint32_t i = 0; i < changes->entered_count; i++) {
        put_agent(scene, &changes->entered[i], false);
    }
    take_buildings(scene, changes);
    bool goes_on = scene->live && !publication->is_cut;
    if (scene->live && publication->ended_lost) {
        fm_tick_log_lose(&scene->ended_log, publication->tick);
        fm_tick_log_lose(&scene->alert_log, publication->tick);
    }
    scene->live = true;
    if (goes_on && !note_ended(scene, changes)) {
        return FM_ERR_NO_MEMORY;
    }
    return take_sight(scene, publication);
}

static void apply_cells(fm_scene *scene, const fm_changes *changes)
{
    uint32_t width = scene->host->width;
    for (uint32_t i = 0; i < changes->cell_count; i++) {
        fm_cell cell = changes->cells[i].cell;
        scene->looks[(size_t)fm_cell_y(cell) * width + fm_cell_x(cell)] =
            (uint16_t)fm_look_pack(changes->cells[i]);
        (void)fm_tick_log_add(&scene->cell_log, scene->tick, &cell);
    }
}

// Agents that left go first: another agent may be in the same slot.
static fm_status apply_changes(fm_scene *scene, const fm_changes *changes)
{
    for (uint32_t i = 0; i < changes->left_count; i++) {
        if (changes->left[i].reason != FM_LEAVE_DIED) { // that one was not there
            drop_agent(scene, &changes->left[i]);
        }
    }
    for (uint32_t i = 0; i < changes->entered_count; i++) {
        put_agent(scene, &changes->entered[i], true);
    }
    for (uint32_t i = 0; i < changes->changed_count; i++) {
        put_agent(scene, &changes->changed[i], true);
    }
    apply_cells(scene, changes);
    take_buildings(scene, changes);
    return note_ended(scene, changes) ? FM_OK : FM_ERR_NO_MEMORY;
}

fm_status fm_scene_apply(fm_scene *scene, fm_publication *publication)
{
    uint64_t before = scene->tick;
    fm_scene_forget_bodies(scene);
    scene->tick = publication->tick;
    if (publication->sight != NULL && !publication->is_snapshot) {
        return take_sight(scene, publication); // that is all there is
    }
    scene->load = publication->load;
    fm_status status = reserve(scene, &publication->changes);
    if (status == FM_OK && !reserve_tags(scene, publication)) {
        status = FM_ERR_NO_MEMORY;
    }
    if (status == FM_OK && publication->is_snapshot) {
        status = apply_snapshot(scene, publication);
    } else if (status == FM_OK) {
        flip_sight(scene, &publication->changes, before);
        status = apply_changes(scene, &publication->changes);
    }
    if (status == FM_OK) {
        note_tags(scene, publication);
        note_courses(scene, publication);
    }
    return status;
}

bool fm_scene_has_lost_ends(const fm_scene *scene, uint64_t since)
{
    return fm_tick_log_has_lost(&scene->ended_log, since) ||
           fm_tick_log_has_lost(&scene->alert_log, since);
}

bool fm_scene_reaches(const fm_scene *scene, uint64_t since)
{
    return fm_tick_log_reaches(&scene->agent_log, since) &&
           fm_tick_log_reaches(&scene->cell_log, since) &&
           fm_tick_log_reaches(&scene->ended_log, since) &&
           fm_tick_log_reaches(&scene->alert_log, since) &&
           fm_tick_log_reaches(&scene->died_log, since);
}
