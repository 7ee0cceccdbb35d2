// server/streams/scene_pack.c: keyframes and deltas of a scene, each packed once for all who want
// it. See scene.h for the idea.

#include "server/streams/scene_pack.h"

#include "server/streams/delta_agents.h"
#include "server/streams/delta_cells.h"
#include "server/streams/keyframe_pack.h"
#include "server/streams/sight_pack.h"

#include <string.h>

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

// Evicts the oldest answer.
static void keep_cached(fm_scene *scene, const fm_cached_body *made)
{
    fm_cached_body *place = &scene->cache[scene->cached_count % FM_SCENE_CACHE_MAX];
    if (scene->cached_count >= FM_SCENE_CACHE_MAX) {
        fm_frame_drop(place->body.frame);
    }
    *place = *made;
    scene->cached_count++;
}

// ---- deltas ------------------------------------------------------------------------------------

static bool pack_sight_since(fm_body_packer *body, const fm_scene *scene,
                             const fm_view_shift *shift, uint64_t since)
{
    size_t size = body->buffer.size;
    bool packed = !body->form.sight ||
                  fm_sight_pack_delta(scene, shift->to,
                                      fm_view_shift_moves(shift) ? FM_SIGHT_ELSEWHERE : since,
                                      body->form.dense, &body->packer, &body->entries);
    body->sight_size += body->buffer.size - size;
    return packed;
}

static void pack_ended(fm_body_packer *body, const fm_scene *scene, uint64_t since, uint64_t until)
{
    const fm_tick_log *log = &scene->ended_log;
    uint64_t first = fm_tick_log_find(log, since), end = fm_tick_log_find(log, until);
    if (first == end) {
        return;
    }
    fm_body_array(body, "ended", (size_t)(end - first) * 5);
    for (uint64_t i = first; i < end; i++) {
        const fm_order_ended *ended = fm_tick_log_at(log, i);
        fm_body_uint(body, body->form.veiled ? ended->number : ended->order);
        fm_body_uint(body, fm_agent_id_pack(body->form.veiled ? ended->name : ended->agent));
        fm_body_uint(body, ended->reason);
        fm_body_xy(body, ended->cell);
    }
}

static void pack_alerts(fm_body_packer *body, const fm_scene *scene, uint64_t since, uint64_t until)
{
    const fm_tick_log *log = &scene->alert_log;
    uint64_t first = fm_tick_log_find(log, since), end = fm_tick_log_find(log, until);
    if (first == end) {
        return;
    }
    fm_body_array(body, "alerts", (size_t)(end - first) * 5);
    for (uint64_t i = first; i < end; i++) {
        const fm_alert *alert = fm_tick_log_at(log, i);
        bool veiled = body->form.veiled;
        fm_body_uint(body, veiled ? alert->number : alert->order);
        fm_body_uint(body, fm_agent_id_pack(veiled ? alert->name : alert->agent));
        fm_body_uint(body, fm_agent_id_pack(veiled ? alert->seen_name : alert->seen));
        fm_body_xy(body, alert->cell);
    }
}

static void pack_died(fm_body_packer *body, const fm_scene *scene, uint64_t since, uint64_t until)
{
    const fm_tick_log *log = &scene->died_log;
    uint64_t first = fm_tick_log_find(log, since), end = fm_tick_log_find(log, until);
    if (first == end) {
        return;
    }
    fm_body_array(body, "died", (size_t)(end - first));
    for (uint64_t i = first; i < end; i++) {
        const fm_agent_left *left = fm_tick_log_at(log, i);
        fm_body_uint(body, fm_agent_id_pack(body->form.veiled ? left->name : left->id));
    }
}

static void begin_delta(fm_body_packer *body, const fm_scene *scene, uint64_t tick, fm_form form)
{
    fm_body_begin(body, form);
    fm_body_number(body, "world", scene->host->number);
    fm_body_number(body, "tick", tick);
}

// A delta with nothing but rectangle and tick is empty.
static fm_body finish_delta(fm_body_packer *body, bool complete)
{
    if (!complete || body->entries == 2) {
        msgpack_sbuffer_destroy(&body->buffer);
        return (fm_body){.entries = complete ? 0 : body->entries};
    }
    return fm_body_take(body);
}

static fm_body make_delta(fm_scene *scene, const fm_view_shift *shift, uint64_t since, fm_form form)
{
    fm_body_packer body;
    begin_delta(&body, scene, scene->tick, form);
    if (fm_view_shift_moves(shift)) {
        fm_body_rect(&body, shift->to);
    }
    bool complete = fm_delta_agents_pack(&body, scene, shift, since) &&
                    fm_delta_cells_pack(&body, scene, shift, since) &&
                    pack_sight_since(&body, scene, shift, since);
    if (scene->buildings_tick > since || fm_view_shift_moves(shift)) {
        fm_body_buildings(&body, scene, shift->to);
    }
    pack_ended(&body, scene, since, scene->tick);
    pack_alerts(&body, scene, since, scene->tick);
    pack_died(&body, scene, since, scene->tick);
    return finish_delta(&body, complete);
}

// ---- interface --------------------------------------------------------------------------

static fm_body cached_or_made(fm_scene *scene, fm_cached_body wanted)
{
    const fm_cached_body *cached = find_cached(scene, &wanted);
    if (cached != NULL) {
        return cached->body;
    }
    wanted.body = wanted.is_keyframe
                      ? fm_keyframe_pack(scene, &wanted.rect, wanted.form)
                      : make_delta(scene, &(fm_view_shift){&wanted.rect, &wanted.rect},
                                   wanted.since, wanted.form);
    if (wanted.body.frame != NULL || wanted.body.entries == 0) {
        keep_cached(scene, &wanted); // else out of memory; perhaps not the next time
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
    return make_delta(scene, &(fm_view_shift){from, to}, since, form);
}

fm_body fm_scene_ended(fm_scene *scene, uint64_t since, uint64_t until, fm_form form)
{
    fm_body_packer body;
    begin_delta(&body, scene, until, form);
    pack_ended(&body, scene, since, until);
    pack_alerts(&body, scene, since, until);
    pack_died(&body, scene, since, until);
    return finish_delta(&body, true);
}

fm_body fm_scene_untold(void)
{
    fm_body_packer body;
    fm_body_begin(&body, (fm_form){0});
    fm_body_entry(&body, "untold");
    msgpack_pack_true(&body.packer);
    return fm_body_take(&body);
}

fm_body fm_scene_load(fm_scene *scene)
{
    if (scene->load_body.frame == NULL) {
        fm_body_packer body;
        fm_body_begin(&body, (fm_form){0});
        fm_body_array(&body, "load", 5);
        fm_body_uint(&body, scene->load.tick_us);
        fm_body_uint(&body, scene->load.search_us);
        fm_body_uint(&body, scene->load.expansions);
        fm_body_uint(&body, scene->load.moved);
        fm_body_uint(&body, scene->load.agents);
        scene->load_body = fm_body_take(&body);
    }
    return scene->load_body;
}
