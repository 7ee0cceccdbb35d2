// server/streams/scenes.c: see scenes.h.

#include "server/streams/scenes.h"

#include "server/base/clock.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

// ---- scenes ------------------------------------------------------------------------------------

fm_scene *fm_scenes_find(const fm_host *host, uint32_t team)
{
    fm_scene *scene = host->scenes_by_team[team % FM_HOST_SCENE_HEADS];
    while (scene != NULL && scene->team != team) {
        scene = scene->next_of_team;
    }
    return scene;
}

static fm_job *make_watch(const fm_scene *scene, fm_job_kind kind)
{
    fm_job *job = fm_job_create(kind, scene->host);
    if (job != NULL) {
        job->watch.team = scene->team;
        job->watch.serial = scene->serial;
        job->watch.sight = scene->sight_asked;
        job->watch.motion = scene->motion_asked;
    }
    return job;
}

// @param session  that waits for it; NULL: none
// @return FM_OK, FM_ERR_NO_MEMORY or as fm_mailbox_post()
static fm_status post_watch(fm_hub *hub, const fm_scene *scene, fm_job_kind kind,
                            fm_session *session)
{
    fm_job *job = make_watch(scene, kind);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    job->session = session == NULL ? 0 : session->number;
    fm_status status = FM_OK;
    if (hub->on_watch != NULL) {
        hub->on_watch(hub, job);
    } else {
        status = fm_conductor_post(fm_hub_conductor(hub, job->host), job);
    }
    if (status != FM_OK) {
        fm_job_destroy(job);
    } else if (session != NULL) {
        session->jobs_waiting += FM_SESSION_WATCH_JOBS;
    }
    return status;
}

static fm_scene *longer_idle(fm_scene *longest, const fm_host *host)
{
    for (fm_scene *scene = host->scenes; scene != NULL; scene = scene->next) {
        bool waits = scene->subscriptions == NULL && !scene->is_kept;
        if (waits && (longest == NULL || scene->idle_ns < longest->idle_ns)) {
            longest = scene;
        }
    }
    return longest;
}

static fm_scene *longest_idle(const fm_hub *hub)
{
    fm_scene *longest = NULL;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        longest = longer_idle(longest, hub->hosts[i]);
    }
    for (uint32_t i = 0; i < hub->replay_count; i++) {
        longest = longer_idle(longest, hub->replays[i]);
    }
    return longest;
}

// Closes the scene that has waited longest for its readers.
static bool make_room(fm_hub *hub, size_t size)
{
    fm_scene *scene;
    while (hub->scenes_size + size > FM_SCENES_SIZE_MAX && (scene = longest_idle(hub)) != NULL) {
        fm_scenes_close(hub, scene);
    }
    return hub->scenes_size + size <= FM_SCENES_SIZE_MAX;
}

// Unique, also across restarts. Its two low bits are for what a reader wants of it.
uint64_t fm_scenes_make_stream(void)
{
    uint64_t stream;
    randombytes_buf(&stream, sizeof stream);
    stream = (stream & FM_UINT_MAX) >> 2 << 2;
    return stream == 0 ? 4 : stream;
}

static void link_scene(fm_scene *scene)
{
    fm_host *host = scene->host;
    fm_scene **head = &host->scenes_by_team[scene->team % FM_HOST_SCENE_HEADS];
    scene->next_of_team = *head;
    *head = scene;
    scene->next = host->scenes;
    scene->link = &host->scenes;
    if (scene->next != NULL) {
        scene->next->link = &scene->next;
    }
    host->scenes = scene;
}

static void unlink_scene(fm_scene *scene)
{
    fm_scene **of_team = &scene->host->scenes_by_team[scene->team % FM_HOST_SCENE_HEADS];
    while (*of_team != scene) {
        of_team = &(*of_team)->next_of_team;
    }
    *of_team = scene->next_of_team;
    *scene->link = scene->next;
    if (scene->next != NULL) {
        scene->next->link = scene->link;
    }
}

static fm_status add_scene(fm_hub *hub, fm_host *host, uint32_t team, fm_scene **out)
{
    size_t size = fm_scene_size(host);
    if (!make_room(hub, size)) {
        return FM_ERR_LIMIT;
    }
    fm_scene *scene = fm_scene_create(host, team, ++hub->serial_last);
    if (scene == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    scene->stream = fm_scenes_make_stream();
    hub->scenes_size += size;
    link_scene(scene);
    *out = scene;
    return FM_OK;
}

static void remove_scene(fm_hub *hub, fm_scene *scene)
{
    fm_host *host = scene->host;
    unlink_scene(scene);
    hub->scenes_size -= fm_scene_size(host);
    fm_scene_destroy(scene);
}

fm_status fm_scenes_open(fm_hub *hub, fm_session *session, fm_host *host, uint32_t team, bool sight,
                         fm_scene **out)
{
    fm_scene *scene;
    if (host->state >= FM_HOST_ENDING) {
        return FM_ERR_MOVED; // it is on its way to another node
    }
    fm_status status = add_scene(hub, host, team, &scene);
    if (status != FM_OK) {
        return status;
    }
    scene->sight_asked = sight;
    status = post_watch(hub, scene, FM_JOB_WATCH, session);
    if (status != FM_OK) {
        remove_scene(hub, scene);
        return status;
    }
    *out = scene;
    return FM_OK;
}

fm_status fm_scenes_ask_for_sight(fm_session *session, fm_scene *scene)
{
    if (scene->sight_asked) {
        return FM_OK;
    }
    scene->sight_asked = true;
    fm_status status = post_watch(session->hub, scene, FM_JOB_WATCH, session);
    scene->sight_asked = status == FM_OK;
    return status;
}

void fm_scenes_close(fm_hub *hub, fm_scene *scene)
{
    // A world that ends drops its watches. A conductor that was not notified publishes in vain,
    // which costs time but does no harm.
    if (scene->host->state == FM_HOST_LIVE && !hub->going_down) {
        (void)post_watch(hub, scene, FM_JOB_UNWATCH, NULL);
    }
    remove_scene(hub, scene);
}

// ---- from node to node -------------------------------------------------------------------------

size_t fm_scenes_describe(const fm_host *host, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (const fm_scene *scene = host->scenes; scene != NULL; scene = scene->next) {
        char one[48];
        int count = snprintf(one, sizeof one, "%" PRIu32 " %" PRIu64 " %d,", scene->team,
                             scene->stream, scene->sight_asked);
        if (scene->live && length + (size_t)count < size) { // readers without room get a keyframe
            memcpy(text + length, one, (size_t)count + 1);
            length += (size_t)count;
        }
    }
    return length;
}

fm_job *fm_scenes_expect(fm_hub *hub, fm_host *host, const char *text)
{
    fm_job *jobs = NULL;
    uint32_t team;
    uint64_t stream;
    int sight, length = 0;
    while (hub->config->resume_s > 0 &&
           sscanf(text, "%" SCNu32 " %" SCNu64 " %d,%n", &team, &stream, &sight, &length) == 3 &&
           length > 0) {
        fm_scene *scene;
        if (fm_scenes_find(host, team) != NULL || add_scene(hub, host, team, &scene) != FM_OK) {
            break;
        }
        scene->sight_asked = sight != 0;
        fm_job *job = make_watch(scene, FM_JOB_WATCH);
        if (job == NULL) {
            remove_scene(hub, scene);
            break;
        }
        scene->stream = stream;
        scene->idle_ns = fm_clock_now_ns();
        job->event.next = jobs == NULL ? NULL : &jobs->event;
        jobs = job;
        text += length;
        length = 0;
    }
    return jobs;
}

void fm_scenes_forget(fm_hub *hub, fm_host *host, fm_job *jobs)
{
    while (jobs != NULL) {
        fm_job *next = (fm_job *)jobs->event.next;
        fm_job_destroy(jobs);
        jobs = next;
    }
    while (host->scenes != NULL) {
        remove_scene(hub, host->scenes);
    }
}

fm_status fm_scenes_ask_for_motion(fm_hub *hub, fm_session *session, fm_scene *scene)
{
    if (scene->motion_asked) {
        return FM_OK;
    }
    fm_status status = fm_scene_keep_motion(scene);
    if (status == FM_OK) {
        scene->motion_asked = true;
        status = post_watch(hub, scene, FM_JOB_WATCH, session);
        scene->motion_asked = status == FM_OK;
    }
    return status;
}
