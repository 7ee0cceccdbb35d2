// server/methods/replay_methods.c: see replay_methods.h.

#include "server/methods/replay_methods.h"

#include "server/methods/replays.h"

static fm_status check_possible(const fm_session *session, char *error)
{
    if (fm_replays_are_possible(session->hub)) {
        return FM_OK;
    }
    snprintf(error, FM_ERROR_TEXT_SIZE, "this server keeps no journals: it has no journal_dir");
    return FM_ERR_NOT_READY;
}

fm_status fm_take_replay_list(fm_session *session, const fm_request *request, char *error)
{
    fm_status status = check_possible(session, error);
    return status == FM_OK ? fm_replays_list(session, request) : status;
}

fm_status fm_take_replay_open(fm_session *session, const fm_request *request, char *error)
{
    fm_status status = check_possible(session, error);
    return status == FM_OK
               ? fm_replays_open(session, request, &request->values[FM_FIELD_FILE], error)
               : status;
}

static fm_status make_job(fm_session *session, const fm_request *request, fm_job_kind kind,
                          fm_job **job)
{
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    *job = fm_request_make_job(session, request, kind, host);
    return *job == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

fm_status fm_take_replay_seek(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_job *job;
    fm_status status = make_job(session, request, FM_JOB_SEEK, &job);
    if (status != FM_OK) {
        return status;
    }
    job->seek.wanted = request->values[FM_FIELD_TICK].number;
    return fm_request_post(session, job);
}

void fm_answer_replay_seek(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 5);
    fm_pack_key_uint(packer, "tick", job->tick);
    fm_pack_key_digest(packer, job->seek.digest);
    fm_pack_key_uint(packer, "first_tick", job->seek.first_tick);
    fm_pack_key_uint(packer, "last_tick", job->seek.last_tick);
    fm_pack_key_uint(packer, "differences", job->seek.differences);
}

fm_status fm_take_replay_play(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_job *job;
    fm_status status = make_job(session, request, FM_JOB_RESUME, &job);
    if (status != FM_OK) {
        return status;
    }
    job->pace.tick_hz = request->values[FM_FIELD_TICK_HZ].real;
    return fm_request_post(session, job);
}

fm_status fm_take_replay_pause(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_job *job;
    fm_status status = make_job(session, request, FM_JOB_PAUSE, &job);
    return status == FM_OK ? fm_request_post(session, job) : status;
}

fm_status fm_take_replay_close(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_job *job;
    fm_status status = make_job(session, request, FM_JOB_REMOVE, &job);
    if (status != FM_OK) {
        return status;
    }
    status = fm_replays_close(session->hub, job->host, job);
    if (status == FM_OK) {
        session->jobs_waiting++;
    } else {
        fm_job_destroy(job);
    }
    return status;
}
