// server/methods/creation.c: see creation.h.

#include "server/methods/creation.h"

#include "core/saves/settle.h"
#include "core/saves/world_save.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/methods/issuance.h"
#include "server/methods/request.h"
#include "server/streams/shipping.h"
#include "server/streams/stream.h"
#include "server/worlds/recording.h"

#include <stdlib.h>
#include <string.h>

struct fm_creation {
    uv_work_t work; // work.data points back here
    fm_creation *next;
    fm_hub *hub;
    fm_host_options options;
    uint64_t begun_ns;
    uint64_t number;     // of the world
    bool is_reserved;    // in the cluster
    bool is_elsewhere;   // it begins on another node with more capacity left
    fm_node_entry place; // that node

    // Who asked.
    uint64_t session;
    uint64_t request;
    bool is_notification;

    // Results of the work.
    fm_host *host;
    uint64_t tick, digest; // ticks completed; of the last
    fm_status status;
    char error[FM_ERROR_TEXT_SIZE];
};

bool fm_creation_has_name(const fm_hub *hub, const char *name)
{
    for (const fm_creation *creation = hub->creations; creation != NULL;
         creation = creation->next) {
        if (strcmp(creation->options.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void link_creation(fm_creation *creation)
{
    fm_hub *hub = creation->hub;
    creation->next = hub->creations;
    hub->creations = creation;
    hub->creation_count++;
}

static void unlink_and_free(fm_creation *creation)
{
    fm_hub *hub = creation->hub;
    fm_creation **link = &hub->creations;
    while (*link != creation) {
        link = &(*link)->next;
    }
    *link = creation->next;
    hub->creation_count--;
    free(creation->options.map);
    free(creation);
}

// ---- answering ---------------------------------------------------------------------------------

// Gives back the session that waits for an answer, NULL when it has gone.
static fm_session *end_wait(fm_hub *hub, uint64_t number)
{
    fm_session *session = number == 0 ? NULL : fm_hub_find_session(hub, number);
    if (session != NULL) {
        fm_session_job_done(session);
    }
    return session;
}

static void answer_error(const fm_creation *creation, fm_status status)
{
    fm_session *session = end_wait(creation->hub, creation->session);
    if (session != NULL && !creation->is_notification) {
        const char *error = creation->error[0] == '\0' ? NULL : creation->error;
        fm_reply_error(session, creation->request, status, error);
    }
}

static void answer_created(const fm_creation *creation)
{
    fm_session *session = end_wait(creation->hub, creation->session);
    if (session == NULL || creation->is_notification) {
        return;
    }
    const fm_host *host = creation->host;
    fm_reply reply;
    fm_reply_begin(&reply, creation->request);
    msgpack_pack_map(&reply.packer, creation->options.is_save ? 7 : 5);
    if (creation->options.is_save) {
        fm_pack_key_uint(&reply.packer, "tick", creation->tick);
        fm_pack_key_digest(&reply.packer, creation->digest);
    }
    fm_pack_key_uint(&reply.packer, "world", host->number);
    fm_pack_key_text(&reply.packer, "name", host->name);
    fm_pack_key_uint(&reply.packer, "width", host->width);
    fm_pack_key_uint(&reply.packer, "height", host->height);
    fm_pack_key_cells(&reply.packer, "bases", host->bases, host->base_count);
    fm_reply_send(session, &reply);
}

// ---- making ------------------------------------------------------------------------------------

static void fail(fm_creation *creation, fm_status status)
{
    fm_hub *hub = creation->hub;
    hub->host_last -= creation->number == hub->host_last; // not known to anyone yet
    fm_log(FM_LOG_WARNING, "world not created", fm_log_text("name", creation->options.name),
           fm_log_status("reason", status), fm_log_text("detail", creation->error));
    answer_error(creation, status);
    if (creation->host != NULL) {
        fm_recording_discard(creation->host);
    }
    fm_host_destroy(creation->host);
    unlink_and_free(creation);
}

// The journal comes first: a world that was reported as created exists after a crash as well.
static fm_status begin_journal(fm_creation *creation)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_journals *journals = fm_conductor_journals(creation->hub->conductor);
    fm_status status = fm_recording_begin(journals, creation->host, error);
    snprintf(creation->error, sizeof creation->error, "%.*s", (int)sizeof creation->error - 1,
             error);
    return status;
}

// In a cluster all nodes share numbers and names.
static fm_status take_number(fm_creation *creation)
{
    fm_world_log_store *store = creation->hub->log_store;
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    if (store == NULL) {
        return FM_OK;
    }
    fm_status status = fm_world_log_reserve(store, creation->options.name, creation->options.number,
                                            &creation->number, error);
    creation->is_reserved = status == FM_OK;
    snprintf(creation->error, sizeof creation->error, "%.*s", (int)sizeof creation->error - 1,
             error);
    return status;
}

static void give_number_back(const fm_creation *creation)
{
    if (creation->is_reserved && creation->status != FM_OK) {
        fm_world_log_release(creation->hub->log_store, creation->number, creation->options.name);
    }
}

static void name_owner(const fm_creation *creation, char *owner)
{
    fm_world_log_owner_text(owner, 1, creation->place.name, creation->place.incarnation);
}

// Writes only its log: the other node takes it like a world that was moved to it.
static fm_status place_elsewhere(fm_creation *creation)
{
    const fm_host *host = creation->host;
    char owner[FM_CLUSTER_OWNER_MAX], error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_world_settle(host->world);
    fm_status status = fm_world_save(host->world, &bytes);
    const fm_journal_head head = {.name = host->name,
                                  .number = host->number,
                                  .overload = host->overload,
                                  .timeline = host->timeline,
                                  .bases = host->bases,
                                  .base_count = host->base_count};
    const fm_journal_world world = {
        .tick = host->tick,
        .digest = host->digest,
        .pace = {.paused = host->paused, .tick_hz = host->tick_hz, .budget_ms = host->budget_ms},
        .bytes = bytes.data,
        .size = bytes.size};
    name_owner(creation, owner);
    if (status == FM_OK) {
        status = fm_world_log_place(creation->hub->log_store, &head, &world, owner, error);
    }
    snprintf(creation->error, sizeof creation->error, "%.*s", (int)sizeof creation->error - 1,
             error);
    fm_writer_fini(&bytes);
    return status;
}

static void make(uv_work_t *work)
{
    fm_creation *creation = work->data;
    creation->status = fm_host_create(&creation->options, &creation->host, creation->error);
    if (creation->status == FM_OK) {
        creation->status = take_number(creation);
    }
    if (creation->status == FM_OK) {
        creation->host->number = creation->number;
        creation->tick = creation->host->tick;
        creation->digest = creation->host->digest;
        creation->status =
            creation->is_elsewhere ? place_elsewhere(creation) : begin_journal(creation);
    }
    give_number_back(creation);
}

static void on_placed(fm_creation *creation)
{
    fm_hub *hub = creation->hub;
    char owner[FM_CLUSTER_OWNER_MAX];
    name_owner(creation, owner);
    if (hub->node != NULL) {
        fm_node_note_placed(hub->node, creation->host->number, creation->host->name, owner);
    }
    fm_log(FM_LOG_INFO, "world begins on another node",
           fm_log_uint("world", creation->host->number), fm_log_text("name", creation->host->name),
           fm_log_text("node", creation->place.name));
    answer_created(creation);
    fm_host_destroy(creation->host);
    unlink_and_free(creation);
}

// The world is made; the conductor must have it before clients can use it.
static void on_made(uv_work_t *work, int error)
{
    fm_creation *creation = work->data;
    fm_hub *hub = creation->hub;
    fm_hub_beat(hub);
    if (error < 0 || creation->status != FM_OK) {
        fail(creation, error < 0 ? FM_ERR_IO : creation->status);
        return;
    }
    if (hub->going_down) {
        fail(creation, FM_ERR_GOING_DOWN);
        return;
    }
    if (creation->is_elsewhere) {
        on_placed(creation);
        return;
    }
    fm_job *job = fm_job_create(FM_JOB_ADD, creation->host);
    if (job == NULL) {
        fail(creation, FM_ERR_NO_MEMORY);
        return;
    }
    job->creation = creation;
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        fail(creation, FM_ERR_BUSY);
    }
}

static void log_created(const fm_creation *creation)
{
    const fm_host *host = creation->host;
    uint64_t took_ns = fm_clock_now_ns() - creation->begun_ns;
    fm_log(FM_LOG_INFO, "world created", fm_log_uint("world", host->number),
           fm_log_text("name", host->name), fm_log_uint("width", host->width),
           fm_log_uint("height", host->height),
           fm_log_real("ms", (double)took_ns / (double)FM_NS_PER_MS));
}

// @param is_safe  false: the server ends before its standby has the world
static void on_copied(void *context, bool is_safe)
{
    fm_creation *creation = context;
    if (fm_hub_find_host(creation->hub, creation->number) != creation->host) {
        answer_error(creation, FM_ERR_NO_WORLD); // it was destroyed again
    } else if (is_safe) {
        log_created(creation);
        answer_created(creation);
    } else {
        answer_error(creation, FM_ERR_GOING_DOWN);
    }
    unlink_and_free(creation);
}

// Whatever came of the answer, the conductor has the world, and ticks it: it is listed, so that it
// is released with the others while the server goes down, and dropped where another node of the
// cluster took it before anybody was told of it.
void fm_creation_added(fm_hub *hub, fm_job *job)
{
    fm_creation *creation = job->creation;
    fm_status status = job->status;
    fm_job_destroy(job);
    if (creation == NULL) {
        return; // restored by server/process/recovery.h, which has listed it
    }
    if (status == FM_ERR_NO_MEMORY) {
        fail(creation, status); // the conductor has no room for it
        return;
    }
    creation->host->state = FM_HOST_LIVE;
    fm_hub_add_host(hub, creation->host);
    if (hub->node != NULL) {
        fm_node_note_created(hub->node, creation->host->number, creation->host->name);
    }
    if (status == FM_OK) {
        fm_shipping_note_world(hub, creation->host, on_copied, creation);
    } else {
        answer_error(creation, status == FM_ERR_MOVED ? FM_ERR_NOT_READY : status);
        unlink_and_free(creation);
    }
}

fm_status fm_creation_begin(fm_session *session, const fm_request *request,
                            const fm_host_options *options)
{
    fm_hub *hub = session->hub;
    fm_creation *creation = fm_hub_reserve_host(hub) ? calloc(1, sizeof *creation) : NULL;
    if (creation == NULL) {
        free(options->map);
        return FM_ERR_NO_MEMORY;
    }
    creation->work.data = creation;
    creation->hub = hub;
    creation->options = *options;
    creation->begun_ns = fm_clock_now_ns();
    creation->number = ++hub->host_last;
    creation->is_elsewhere = hub->node != NULL && fm_node_place(hub->node, &creation->place);
    creation->session = session->number;
    creation->request = request->id;
    creation->is_notification = request->is_notification;
    link_creation(creation);
    if (uv_queue_work(hub->loop, &creation->work, make, on_made) < 0) {
        hub->host_last--;
        unlink_and_free(creation);
        return FM_ERR_IO;
    }
    session->jobs_waiting++;
    return FM_OK;
}

// ---- dropping ----------------------------------------------------------------------------------

struct removal {
    uv_work_t work; // work.data points back here
    fm_hub *hub;
    fm_job *job;
    uint64_t world;
};

static void answer_removed(fm_hub *hub, fm_job *job, uint64_t world)
{
    fm_session *session = end_wait(hub, job->session);
    if (session != NULL && !job->is_notification && job->status == FM_ERR_MOVED) {
        fm_reply_moved(session, job->request, world);
    } else if (session != NULL && !job->is_notification && job->status != FM_OK) {
        fm_reply_error(session, job->request, job->status, NULL);
    } else if (session != NULL && !job->is_notification) {
        fm_reply reply;
        fm_reply_begin(&reply, job->request);
        msgpack_pack_map(&reply.packer, 0);
        fm_reply_send(session, &reply);
    }
    fm_job_destroy(job);
}

// @param is_safe  false: the server ends before its standby knows
static void on_end_copied(void *context, bool is_safe)
{
    struct removal *removal = context;
    removal->job->status = is_safe ? removal->job->status : FM_ERR_GOING_DOWN;
    answer_removed(removal->hub, removal->job, removal->world);
    free(removal);
}

static void drop(uv_work_t *work)
{
    struct removal *removal = work->data;
    fm_host_destroy(removal->job->host);
}

static void on_dropped(uv_work_t *work, int error)
{
    (void)error;
    struct removal *removal = work->data;
    fm_hub_beat(removal->hub);
    if (removal->job->status == FM_OK && removal->job->session != 0) {
        fm_shipping_note_end(removal->hub, removal->world, on_end_copied, removal);
    } else {
        on_end_copied(removal, true);
    }
}

void fm_creation_end(fm_hub *hub, fm_host *host)
{
    fm_stream_end_host(hub, host, NULL, 0);
    fm_hub_drop_host(hub, host);
    fm_revoke_world(hub, host->number);
    if (hub->node != NULL) {
        fm_node_note_destroyed(hub->node, host->number);
    }
    fm_log(FM_LOG_INFO, "world destroyed", fm_log_uint("world", host->number),
           fm_log_text("name", host->name));
}

// Worlds of a cluster are listed until it is known what became of them, unless they were lost and
// dropped at once.
static void end_listed(fm_hub *hub, const fm_job *job)
{
    fm_host *host = job->host;
    if (fm_hub_find_host(hub, host->number) != host) {
        return;
    }
    if (host->state == FM_HOST_DESTROYING && job->status == FM_OK) {
        fm_creation_end(hub, host);
    } else if (host->state == FM_HOST_DESTROYING || job->remove.is_left) {
        hub->on_left(hub, host);
    }
}

void fm_creation_removed(fm_hub *hub, fm_job *job)
{
    uint64_t world = job->host->number;
    end_listed(hub, job);
    struct removal *removal = calloc(1, sizeof *removal);
    if (removal != NULL) {
        *removal = (struct removal){.work.data = removal, .hub = hub, .job = job, .world = world};
        if (uv_queue_work(hub->loop, &removal->work, drop, on_dropped) == 0) {
            return;
        }
        free(removal);
    }
    fm_host_destroy(job->host); // on this thread: slow, but done
    answer_removed(hub, job, world);
}
