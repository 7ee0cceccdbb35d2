// server/streams/delta_agents.c: see delta_agents.h.

#include "server/streams/delta_agents.h"

#include "proto/dense.h"
#include "server/streams/motion_pack.h"
#include "server/streams/scene_pack.h"
#include "server/streams/tag_pack.h"

#include <stdlib.h>
#include <string.h>

// The agents that changed, by kind of change, as slots or log entries. Arrays are parts of one
// block.
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
    uint32_t *tagged;      // has a new tag
    struct left_agent {
        uint64_t name, id;
    } * left;
    uint8_t *left_reasons;
    uint32_t moved_count, entered_count, other_class_count, left_count, motion_count, tagged_count;
    bool wants_motion;
    uint64_t since;
};

static bool lists_init(struct agent_lists *lists, size_t changes)
{
    size_t size = changes * (sizeof *lists->left + sizeof *lists->moved + sizeof *lists->entered +
                             sizeof *lists->other_class + sizeof *lists->motion +
                             sizeof *lists->tagged + sizeof *lists->left_reasons);
    char *block = malloc(size + 1);
    if (block == NULL) {
        return false;
    }
    lists->left = (struct left_agent *)block;
    lists->moved = (struct moved_agent *)(lists->left + changes);
    lists->entered = (uint32_t *)(lists->moved + changes);
    lists->other_class = lists->entered + changes;
    lists->motion = lists->other_class + changes;
    lists->tagged = lists->motion + changes;
    lists->left_reasons = (uint8_t *)(lists->tagged + changes);
    return true;
}

static void lists_fini(struct agent_lists *lists)
{
    free(lists->left);
}

// Why a reader must stop showing an agent. An agent whose slot was reused is gone, but a team that
// lost sight of it before must not learn that.
static uint8_t leave_reason(const fm_scene_agent *agent, uint64_t name)
{
    if (agent->name != name) {
        return FM_LEAVE_FOG;
    }
    return agent->in_view ? FM_LEAVE_OUTSIDE : agent->left_reason;
}

static void sort_agent(const fm_scene *scene, const fm_view_shift *shift,
                       const fm_agent_before *before, struct agent_lists *lists)
{
    uint32_t slot = fm_agent_id_unpack(before->name).index1 - 1;
    const fm_scene_agent *agent = &scene->agents[slot];
    bool was_shown = before->in_view && fm_rect_contains(shift->from, before->cell);
    bool shown = agent->name == before->name && fm_scene_shows(agent, shift->to);
    bool turned = shown && was_shown && (uint16_t)agent->team != before->team;
    if ((!shown && was_shown) || turned) {
        lists->left_reasons[lists->left_count] =
            turned ? FM_LEAVE_TURNED : leave_reason(agent, before->name);
        lists->left[lists->left_count++] =
            (struct left_agent){.name = before->name, .id = before->id};
        was_shown = false;
    }
    if (shown && !was_shown) {
        lists->entered[lists->entered_count++] = slot;
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
    if (shown && fm_tag_is_news(scene, slot, was_shown, lists->since)) {
        lists->tagged[lists->tagged_count++] = slot;
    }
}

// Agents that have not changed, but the view has moved over them.
static void sort_unchanged(const fm_scene *scene, const fm_view_shift *shift,
                           struct agent_lists *lists)
{
    for (uint32_t slot = 0; slot < scene->slot_count; slot++) {
        const fm_scene_agent *agent = &scene->agents[slot];
        bool dealt_with = agent->stamp == scene->stamp && agent->stamp_name == agent->name;
        if (!dealt_with && agent->in_view) {
            fm_agent_before before = fm_agent_as_before(agent);
            sort_agent(scene, shift, &before, lists);
        }
    }
}

static void sort_agents(fm_scene *scene, const fm_view_shift *shift, uint64_t first,
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
            sort_agent(scene, shift, before, lists);
        }
    }
    if (fm_view_shift_moves(shift)) {
        sort_unchanged(scene, shift, lists);
    }
}

static void pack_moved(fm_body_packer *body, const fm_scene *scene, const struct agent_lists *lists)
{
    fm_body_array(body, "moved", (size_t)lists->moved_count * 4);
    for (uint32_t i = 0; i < lists->moved_count; i++) {
        const fm_scene_agent *agent = &scene->agents[lists->moved[i].slot];
        fm_body_uint(body, body->form.veiled ? agent->name : agent->id);
        fm_body_xy(body, agent->cell);
        fm_body_uint(body, agent->state);
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

static bool pack_steps(fm_body_packer *body, const fm_scene *scene, struct agent_lists *lists)
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
    fm_body_bytes(body, "steps", bytes, (size_t)(at - bytes));
    free(bytes);
    return true;
}

static bool pack_agent_lists(fm_body_packer *body, const fm_scene *scene, struct agent_lists *lists)
{
    if (lists->moved_count > 0 && body->form.dense && !pack_steps(body, scene, lists)) {
        return false;
    }
    if (lists->moved_count > 0 && !body->form.dense) {
        pack_moved(body, scene, lists);
    }
    if (lists->entered_count > 0) {
        fm_body_array(body, "enter", (size_t)lists->entered_count * 5);
    }
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        fm_body_agent(body, &scene->agents[lists->entered[i]]);
    }
    if (lists->left_count > 0) {
        fm_body_array(body, "leave", (size_t)lists->left_count * 2);
    }
    for (uint32_t i = 0; i < lists->left_count; i++) {
        fm_body_uint(body, body->form.veiled ? lists->left[i].name : lists->left[i].id);
        fm_body_uint(body, lists->left_reasons[i]);
    }
    return true;
}

// Of agents that came into view, if it is not the first class, and of those that have another now.
static void pack_new_classes(fm_body_packer *body, const fm_scene *scene,
                             const struct agent_lists *lists)
{
    size_t count = lists->other_class_count;
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        count += scene->agents[lists->entered[i]].class_index != 0;
    }
    if (count > 0) {
        fm_body_array(body, "classes", count * 2);
    }
    for (uint32_t i = 0; i < lists->entered_count; i++) {
        if (scene->agents[lists->entered[i]].class_index != 0) {
            fm_body_class(body, &scene->agents[lists->entered[i]]);
        }
    }
    for (uint32_t i = 0; i < lists->other_class_count; i++) {
        fm_body_class(body, &scene->agents[lists->other_class[i]]);
    }
}

bool fm_delta_agents_pack(fm_body_packer *body, fm_scene *scene, const fm_view_shift *shift,
                          uint64_t since)
{
    uint64_t first = fm_tick_log_find(&scene->agent_log, since);
    struct agent_lists lists = {.wants_motion = body->form.motion && scene->motions != NULL,
                                .since = since};
    size_t unchanged = fm_view_shift_moves(shift) ? scene->slot_count : 0;
    if (!lists_init(&lists, scene->agent_log.end - first + unchanged)) {
        return false;
    }
    sort_agents(scene, shift, first, &lists);
    bool packed = pack_agent_lists(body, scene, &lists);
    pack_new_classes(body, scene, &lists);
    fm_body_motion(body, scene, lists.motion, lists.motion_count);
    fm_tags_pack(scene, lists.tagged, lists.tagged_count, body->form.veiled, &body->packer,
                 &body->entries);
    lists_fini(&lists);
    return packed;
}
