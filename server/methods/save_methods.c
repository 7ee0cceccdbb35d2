// server/methods/save_methods.c: see save_methods.h.

#include "server/methods/save_methods.h"

#include "server/methods/creation.h"
#include "server/methods/world_methods.h"
#include "server/worlds/save_file.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE (256u << 10) // bytes, by default

// ---- world.save, save.download -----------------------------------------------------------------

fm_status fm_take_world_save(fm_session *session, const fm_request *request, char *error)
{
    fm_hub *hub = session->hub;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK || request->is_notification) {
        return status;
    }
    if (session->saving || hub->saves_waiting >= FM_SAVES_WAITING_MAX) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "%s",
                 session->saving ? "this session is saving a world already"
                                 : "too many worlds are being saved");
        return FM_ERR_BUSY;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_SAVE, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    status = fm_request_post(session, job);
    if (status == FM_OK) {
        session->saving = true;
        hub->saves_waiting++;
    }
    return status;
}

static void drop_download(fm_session *session)
{
    session->hub->uploads_size -= session->download.total;
    free(session->download.bytes);
    session->download = (fm_download){0};
}

void fm_save_end(fm_hub *hub, fm_session *session)
{
    hub->saves_waiting--;
    if (session != NULL) {
        session->saving = false;
    }
}

void fm_reply_world_save(fm_session *session, fm_job *job)
{
    fm_hub *hub = session->hub;
    fm_writer *file = &job->save.file;
    drop_download(session);
    if (hub->uploads_size + file->size > hub->config->uploads_max_bytes ||
        file->size > FM_UPLOAD_BYTES_MAX) {
        char error[FM_ERROR_TEXT_SIZE];
        snprintf(error, sizeof error, "the file has %zu bytes, more than uploads_max_bytes leaves",
                 file->size);
        fm_reply_error(session, job->request, FM_ERR_LIMIT, error);
        return;
    }
    session->download =
        (fm_download){.number = ++hub->download_last, .bytes = file->data, .total = file->size};
    hub->uploads_size += file->size;
    *file = fm_writer_init(&fm_memory_libc);
    fm_reply reply;
    fm_reply_begin(&reply, job->request);
    msgpack_pack_map(&reply.packer, 4);
    fm_pack_key_uint(&reply.packer, "save", session->download.number);
    fm_pack_key_uint(&reply.packer, "total", session->download.total);
    fm_pack_key_uint(&reply.packer, "tick", job->tick);
    fm_pack_key_digest(&reply.packer, job->save.digest);
    fm_reply_send(session, &reply);
}

static void send_piece(fm_session *session, const fm_request *request, size_t offset, size_t size)
{
    fm_reply reply;
    fm_reply_begin(&reply, request->id);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_text(&reply.packer, "data");
    msgpack_pack_bin(&reply.packer, size);
    msgpack_pack_bin_body(&reply.packer, session->download.bytes + offset, size);
    fm_pack_key_uint(&reply.packer, "total", session->download.total);
    fm_reply_send(session, &reply);
}

fm_status fm_take_save_download(fm_session *session, const fm_request *request, char *error)
{
    const fm_download *download = &session->download;
    uint64_t offset = request->values[FM_FIELD_OFFSET].number;
    const fm_value *wanted = &request->values[FM_FIELD_SIZE];
    if (download->number != request->values[FM_FIELD_SAVE].number) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "this session has no such saved world, or no longer");
        return FM_ERR_BAD_VALUE;
    }
    if (offset >= download->total) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "offset: the file has %zu bytes", download->total);
        return FM_ERR_BAD_VALUE;
    }
    if (request->is_notification) {
        return FM_OK;
    }
    size_t left = download->total - (size_t)offset;
    size_t size = wanted->present ? (size_t)wanted->number : PIECE_SIZE;
    size = size < left ? size : left;
    send_piece(session, request, (size_t)offset, size);
    if (size == left) {
        drop_download(session);
    }
    return FM_OK;
}

// ---- world.load --------------------------------------------------------------------------------

static fm_status read_name(const fm_session *session, const fm_request *request,
                           fm_host_options *options, char *error)
{
    const fm_value *name = &request->values[FM_FIELD_NAME];
    if (!name->present && options->name[0] == '\0') {
        snprintf(error, FM_ERROR_TEXT_SIZE, "name: the file says none");
        return FM_ERR_BAD_VALUE;
    }
    const char *bytes = name->present ? name->bytes : options->name;
    size_t size = name->present ? name->size : strlen(options->name);
    return fm_request_new_name(session, bytes, size, options->name, error);
}

// Overrides the file by what the request says.
static fm_status read_changes(const fm_session *session, const fm_request *request,
                              fm_host_options *options, char *error)
{
    const fm_value *hz = &request->values[FM_FIELD_TICK_HZ];
    const fm_value *budget = &request->values[FM_FIELD_BUDGET_MS];
    const fm_value *paused = &request->values[FM_FIELD_PAUSED];
    options->tick_hz = hz->present ? hz->real : options->tick_hz;
    options->budget_ms = budget->present ? budget->real : options->budget_ms;
    options->paused = paused->present ? paused->number != 0 : options->paused;
    fm_status status = fm_request_overload(request, &options->overload, error);
    return status == FM_OK ? read_name(session, request, options, error) : status;
}

static fm_status read_head(const fm_config *config, fm_host_options *options, char *error)
{
    fm_save_head head;
    fm_bytes_error wrong = {0};
    size_t world;
    fm_status status = fm_save_read(options->map, options->map_size, &head, &world, &wrong);
    if (status != FM_OK) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "saved world: byte %zu: %s", wrong.offset,
                 wrong.message);
        return status;
    }
    bool has_head = head.name[0] != '\0';
    memcpy(options->name, head.name, sizeof options->name);
    options->tick_hz = has_head ? head.tick_hz : config->tick_hz;
    options->budget_ms = has_head ? head.budget_ms : config->budget_ms;
    options->overload = has_head ? head.overload : config->overload;
    options->paused = head.paused;
    return FM_OK;
}

fm_status fm_take_world_load(fm_session *session, const fm_request *request, char *error)
{
    fm_host_options options = {.is_save = true,
                               .memory_max = session->hub->config->world_memory_max};
    fm_status status = fm_request_new_world(session, error);
    if (status == FM_OK) {
        status = fm_request_take_upload(session, request, &options.map, &options.map_size, error);
    }
    if (status != FM_OK) {
        return status;
    }
    options.number = request->values[FM_FIELD_NUMBER].number;
    if (options.number != 0 && session->hub->log_store == NULL) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world.load: 'number' is for nodes of a cluster");
        status = FM_ERR_BAD_VALUE;
    }
    if (status == FM_OK) {
        status = read_head(session->hub->config, &options, error);
    }
    if (status == FM_OK) {
        status = read_changes(session, request, &options, error);
    }
    if (status != FM_OK) {
        free(options.map);
        return status;
    }
    return fm_creation_begin(session, request, &options);
}
