// server/methods/methods.c: see methods.h.

#include "server/methods/methods.h"

#include "server/base/log.h"
#include "server/methods/agent_methods.h"
#include "server/methods/agent_report.h"
#include "server/methods/building_methods.h"
#include "server/methods/cluster_methods.h"
#include "server/methods/creation.h"
#include "server/methods/debug_methods.h"
#include "server/methods/failure.h"
#include "server/methods/path_methods.h"
#include "server/methods/replay_methods.h"
#include "server/methods/replays.h"
#include "server/methods/save_methods.h"
#include "server/methods/session_methods.h"
#include "server/methods/standby_methods.h"
#include "server/methods/stats_methods.h"
#include "server/methods/stream_methods.h"
#include "server/methods/world_methods.h"
#include "server/relay/relay.h"
#include "server/streams/shipping.h"
#include "server/streams/stream.h"

// ---- the table ---------------------------------------------------------------------------------

// Which worlds a method is for.
enum method_worlds {
    WORLDS_LIVE, // not for replays, which cannot be changed
    WORLDS_ALL,
    WORLDS_REPLAYS,
};

struct method {
    fm_take_fn *take;
    fm_answer_fn *answer; // NULL: `take` or `reply` answers
    fm_reply_fn *reply;   // NULL: `answer` packs the whole result
    /// How much it takes from `meter`, besides a message and its bytes; NULL: nothing.
    uint64_t (*amount)(const fm_request *request);
    fm_meter_kind meter;
    enum method_worlds worlds; // field `world`
    bool needs_no_world;       // a relay answers it as well; see also refuse_on_relay()
    bool is_harmless;          // a standby answers it too, like these and what is for all worlds
};

static uint64_t count_orders(const fm_request *request)
{
    return request->values[FM_FIELD_AGENTS].count;
}

static uint64_t count_edits(const fm_request *request)
{
    return request->values[FM_FIELD_CELLS].count / 2 + request->values[FM_FIELD_RECTS].count / 4;
}

static uint64_t count_one(const fm_request *request)
{
    (void)request;
    return 1;
}

static uint64_t count_questions(const fm_request *request)
{
    uint64_t pairs = request->values[FM_FIELD_PAIRS].count / 4;
    return pairs > 0 ? pairs : 1;
}

// Sixteen cost as much as a path.
static uint64_t count_reports(const fm_request *request)
{
    return (request->values[FM_FIELD_AGENTS].count + 15) / 16;
}

// An upper bound: planners are words.
static uint64_t count_planners(const fm_request *request)
{
    const fm_value *value = &request->values[FM_FIELD_PLANNERS];
    uint64_t count = 1;
    for (uint32_t i = 0; i < value->size; i++) {
        count += value->bytes[i] == ' ';
    }
    return count;
}

static const struct method methods[FM_METHOD_COUNT] = {
    [FM_METHOD_HELLO] = {.take = fm_take_hello, .needs_no_world = true},
    [FM_METHOD_PING] = {.take = fm_take_ping, .needs_no_world = true},
    [FM_METHOD_TOKEN_CREATE] = {.take = fm_take_token_create},
    [FM_METHOD_TOKEN_REVOKE] = {.take = fm_take_token_revoke},
    [FM_METHOD_TOKEN_LIST] = {.take = fm_take_token_list, .is_harmless = true},
    [FM_METHOD_MAP_UPLOAD] = {.take = fm_take_map_upload},
    [FM_METHOD_WORLD_CREATE] = {.take = fm_take_world_create},
    [FM_METHOD_WORLD_LIST] = {.take = fm_take_world_list, .needs_no_world = true},
    [FM_METHOD_WORLD_LOCATE] = {.take = fm_take_world_locate,
                                .worlds = WORLDS_ALL,
                                .needs_no_world = true},
    [FM_METHOD_CLUSTER_STATUS] = {.take = fm_take_cluster_status, .is_harmless = true},
    [FM_METHOD_CLUSTER_MOVE] = {.take = fm_take_cluster_move},
    [FM_METHOD_CLUSTER_DRAIN] = {.take = fm_take_cluster_drain},
    [FM_METHOD_CLUSTER_UNDRAIN] = {.take = fm_take_cluster_undrain},
    [FM_METHOD_WORLD_INFO] = {.take = fm_take_world_info,
                              .worlds = WORLDS_ALL,
                              .needs_no_world = true},
    [FM_METHOD_WORLD_DESTROY] = {.take = fm_take_world_destroy},
    [FM_METHOD_WORLD_PAUSE] = {.take = fm_take_world_pause, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_RESUME] = {.take = fm_take_world_resume, .answer = fm_answer_tick},
    [FM_METHOD_WORLD_STEP] = {.take = fm_take_world_step, .answer = fm_answer_step},
    [FM_METHOD_TEAM_CREATE] = {.take = fm_take_team_create, .answer = fm_answer_team_create},
    [FM_METHOD_TEAM_COST] = {.take = fm_take_team_cost,
                             .answer = fm_answer_terrain_set,
                             .amount = count_edits,
                             .meter = FM_METER_EDITS},
    [FM_METHOD_AGENT_SPAWN] = {.take = fm_take_agent_spawn, .answer = fm_answer_agent_spawn},
    [FM_METHOD_AGENT_REMOVE] = {.take = fm_take_agent_remove, .answer = fm_answer_agent_remove},
    [FM_METHOD_AGENT_ORDER] = {.take = fm_take_agent_order,
                               .answer = fm_answer_agent_order,
                               .amount = count_orders,
                               .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_CANCEL] = {.take = fm_take_agent_cancel,
                                .answer = fm_answer_agent_count,
                                .amount = count_orders,
                                .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_RESUME] = {.take = fm_take_agent_resume,
                                .answer = fm_answer_agent_count,
                                .amount = count_orders,
                                .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_PLANNER] = {.take = fm_take_agent_planner,
                                 .answer = fm_answer_agent_count,
                                 .amount = count_orders,
                                 .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_SET] = {.take = fm_take_agent_set,
                             .answer = fm_answer_agent_count,
                             .amount = count_orders,
                             .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_PLACE] = {.take = fm_take_agent_place,
                               .answer = fm_answer_agent_count,
                               .amount = count_orders,
                               .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_BOARD] = {.take = fm_take_agent_board,
                               .answer = fm_answer_agent_count,
                               .amount = count_orders,
                               .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_UNBOARD] = {.take = fm_take_agent_unboard,
                                 .answer = fm_answer_agent_count,
                                 .amount = count_orders,
                                 .meter = FM_METER_ORDERS},
    [FM_METHOD_AGENT_REPORT] = {.take = fm_take_agent_report,
                                .answer = fm_answer_agent_report,
                                .amount = count_reports,
                                .meter = FM_METER_QUERIES,
                                .worlds = WORLDS_ALL},
    [FM_METHOD_TERRAIN_SET] = {.take = fm_take_terrain_set,
                               .answer = fm_answer_terrain_set,
                               .amount = count_edits,
                               .meter = FM_METER_EDITS},
    [FM_METHOD_BUILDING_PLACE] = {.take = fm_take_building_place,
                                  .answer = fm_answer_building_place,
                                  .amount = count_one,
                                  .meter = FM_METER_EDITS},
    [FM_METHOD_BUILDING_REMOVE] = {.take = fm_take_building_remove,
                                   .answer = fm_answer_building_remove,
                                   .amount = count_one,
                                   .meter = FM_METER_EDITS},
    [FM_METHOD_PATH_QUERY] = {.take = fm_take_path_query,
                              .answer = fm_answer_path,
                              .amount = count_questions,
                              .meter = FM_METER_QUERIES,
                              .worlds = WORLDS_ALL},
    [FM_METHOD_PATH_DISTANCE] = {.take = fm_take_path_distance,
                                 .answer = fm_answer_path,
                                 .amount = count_questions,
                                 .meter = FM_METER_QUERIES,
                                 .worlds = WORLDS_ALL},
    [FM_METHOD_PATH_REACHABLE] = {.take = fm_take_path_reachable,
                                  .answer = fm_answer_reachable,
                                  .amount = count_questions,
                                  .meter = FM_METER_QUERIES,
                                  .worlds = WORLDS_ALL},
    [FM_METHOD_PATH_NEAREST] = {.take = fm_take_path_nearest,
                                .answer = fm_answer_nearest,
                                .amount = count_questions,
                                .meter = FM_METER_QUERIES,
                                .worlds = WORLDS_ALL},
    [FM_METHOD_PATH_FIELD] = {.take = fm_take_path_field,
                              .answer = fm_answer_field,
                              .amount = count_questions,
                              .meter = FM_METER_QUERIES,
                              .worlds = WORLDS_ALL},
    [FM_METHOD_SUBSCRIBE] = {.take = fm_take_subscribe,
                             .worlds = WORLDS_ALL,
                             .needs_no_world = true},
    [FM_METHOD_SUBSCRIPTION_MOVE] = {.take = fm_take_subscription_move, .needs_no_world = true},
    [FM_METHOD_UNSUBSCRIBE] = {.take = fm_take_unsubscribe, .needs_no_world = true},
    [FM_METHOD_STATS] = {.take = fm_take_stats,
                         .reply = fm_reply_stats,
                         .worlds = WORLDS_ALL,
                         .needs_no_world = true},
    [FM_METHOD_DEBUG_INSPECT] = {.take = fm_take_debug_inspect,
                                 .answer = fm_answer_debug_inspect,
                                 .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_SUBSCRIBE] = {.take = fm_take_debug_subscribe,
                                   .answer = fm_answer_debug_subscribe,
                                   .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_UNSUBSCRIBE] = {.take = fm_take_debug_unsubscribe,
                                     .answer = fm_answer_debug_unsubscribe,
                                     .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_EXPLAIN] = {.take = fm_take_debug_explain,
                                 .answer = fm_answer_debug_explain,
                                 .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_COMPARE] = {.take = fm_take_debug_compare,
                                 .answer = fm_answer_debug_compare,
                                 .amount = count_planners,
                                 .meter = FM_METER_QUERIES,
                                 .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_TOP] = {.take = fm_take_debug_top,
                             .answer = fm_answer_debug_top,
                             .worlds = WORLDS_ALL},
    [FM_METHOD_DEBUG_JAMS] = {.take = fm_take_debug_jams,
                              .answer = fm_answer_debug_jams,
                              .worlds = WORLDS_ALL},
    [FM_METHOD_WORLD_SAVE] = {.take = fm_take_world_save, .reply = fm_reply_world_save},
    [FM_METHOD_SAVE_DOWNLOAD] = {.take = fm_take_save_download, .is_harmless = true},
    [FM_METHOD_WORLD_LOAD] = {.take = fm_take_world_load},
    [FM_METHOD_REPLAY_LIST] = {.take = fm_take_replay_list,
                               .is_harmless = true,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES},
    [FM_METHOD_REPLAY_OPEN] = {.take = fm_take_replay_open,
                               .is_harmless = true,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES},
    [FM_METHOD_REPLAY_SEEK] = {.take = fm_take_replay_seek,
                               .answer = fm_answer_replay_seek,
                               .amount = count_one,
                               .meter = FM_METER_QUERIES,
                               .worlds = WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_PLAY] = {.take = fm_take_replay_play,
                               .answer = fm_answer_tick,
                               .worlds = WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_PAUSE] = {.take = fm_take_replay_pause,
                                .answer = fm_answer_tick,
                                .worlds = WORLDS_REPLAYS},
    [FM_METHOD_REPLAY_CLOSE] = {.take = fm_take_replay_close, .worlds = WORLDS_REPLAYS},
    [FM_METHOD_JOURNAL_FOLLOW] = {.take = fm_take_journal_follow},
    [FM_METHOD_JOURNAL_HAVE] = {.take = fm_take_journal_have},
    [FM_METHOD_STANDBY_STATUS] = {.take = fm_take_standby_status, .is_harmless = true},
    [FM_METHOD_STANDBY_PROMOTE] = {.take = fm_take_standby_promote, .is_harmless = true},
};

// ---- requests ----------------------------------------------------------------------------------

// Every message is metered, also one that will be refused.
static fm_status pay_for_message(fm_session *session, char *error)
{
    fm_status status = fm_session_meter(session, FM_METER_MESSAGES, 1, error);
    return status == FM_OK ? fm_session_meter(session, FM_METER_BYTES, session->message_size, error)
                           : status;
}

static fm_status pay_for_work(fm_session *session, const fm_request *request, char *error)
{
    const struct method *method = &methods[request->method];
    return method->amount == NULL
               ? FM_OK
               : fm_session_meter(session, method->meter, method->amount(request), error);
}

// Replays cannot be changed, and worlds cannot go back in time. For a session that may not know the
// world, the handler reports that there is none.
static fm_status check_world(fm_session *session, const fm_request *request, char *error)
{
    const fm_value *number = &request->values[FM_FIELD_WORLD];
    const fm_host *host = number->present ? fm_hub_find_host(session->hub, number->number) : NULL;
    enum method_worlds worlds = methods[request->method].worlds;
    if (host == NULL || !fm_request_may_know(session, host)) {
        return FM_OK;
    }
    if (fm_host_is_replay(host) && worlds == WORLDS_LIVE) {
        snprintf(error, FM_ERROR_TEXT_SIZE,
                 "world %llu is a replay of %.100s, which cannot be changed",
                 (unsigned long long)host->number, host->playback.file);
        return FM_ERR_READ_ONLY;
    }
    if (!fm_host_is_replay(host) && worlds == WORLDS_REPLAYS) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "world %llu is no replay; replay.open makes one",
                 (unsigned long long)host->number);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

// A request for a moved world is redirected to its node, not from seed to seed.
static fm_status refuse_at_the_end(const fm_session *session, const fm_request *request)
{
    const fm_value *world = &request->values[FM_FIELD_WORLD];
    bool has_moved = world->present && fm_hub_find_host(session->hub, world->number) == NULL &&
                     fm_request_missing(session, world->number) == FM_ERR_MOVED;
    return has_moved ? FM_ERR_MOVED : FM_ERR_GOING_DOWN;
}

// Refuses what only the world's own server can do.
static fm_status refuse_on_relay(const fm_session *session, const fm_request *request, char *error)
{
    const fm_hub *hub = session->hub;
    bool of_world = request->values[FM_FIELD_WORLD].present;
    bool stats_of_world = request->method == FM_METHOD_STATS && of_world;
    if (hub->relay == NULL || (methods[request->method].needs_no_world && !stats_of_world)) {
        return FM_OK;
    }
    const fm_host *host =
        of_world ? fm_hub_find_host(hub, request->values[FM_FIELD_WORLD].number) : NULL;
    snprintf(error, FM_ERROR_TEXT_SIZE,
             "this is a relay, which shows worlds and runs none: send %s to %.120s",
             fm_method_name(request->method), fm_relay_owner(hub->relay, host));
    return FM_ERR_DENIED;
}

// Refuses changes: only the server that worlds live on can make them.
static fm_status check_standby(const fm_hub *hub, const fm_request *request, char *error)
{
    const struct method *method = &methods[request->method];
    if (hub->standby == NULL || method->is_harmless || method->needs_no_world ||
        method->worlds != WORLDS_LIVE) {
        return FM_OK;
    }
    fm_standby_report report = {.peer = ""};
    hub->standby_calls->report(hub->standby, &report);
    snprintf(error, FM_ERROR_TEXT_SIZE, "this server is the standby of %.100s: ask that one",
             report.peer);
    return FM_ERR_READ_ONLY;
}

static fm_status take(fm_session *session, const fm_request *request, char *error)
{
    if (!fm_role_may(session->role, request->method)) {
        bool greets = session->state == FM_SESSION_GREETING;
        snprintf(error, FM_ERROR_TEXT_SIZE, greets ? "say hello first" : "%s is not for role %s",
                 fm_method_name(request->method), fm_role_name(session->role));
        return FM_ERR_DENIED;
    }
    if (session->hub->going_down && request->method != FM_METHOD_JOURNAL_HAVE) {
        return refuse_at_the_end(session, request);
    }
    fm_status status = refuse_on_relay(session, request, error);
    if (status == FM_OK) {
        status = check_standby(session->hub, request, error);
    }
    if (status == FM_OK) {
        status = check_world(session, request, error);
    }
    if (status == FM_OK) {
        status = pay_for_work(session, request, error);
    }
    return status == FM_OK ? fm_request_take(methods[request->method].take, session, request, error)
                           : status;
}

static void disconnect_for_nonsense(fm_session *session, const char *error)
{
    static fm_log_site refused;
    fm_log_limited(&refused, FM_LOG_WARNING, "message refused",
                   fm_log_uint("session", session->number),
                   fm_log_text("peer", session->transport->peer), fm_log_text("reason", error));
    fm_session_finish(session, "bad message");
}

static void receive(fm_session *session, const msgpack_object *message)
{
    fm_request request = {.is_notification = true};
    char error[FM_ERROR_TEXT_SIZE] = "";
    fm_status status = fm_request_check(message, &request, error);
    session->hub->counts.protocol_errors += status != FM_OK;
    if (status != FM_ERR_BAD_MESSAGE) {
        char busy[FM_ERROR_TEXT_SIZE];
        fm_status paid = pay_for_message(session, busy);
        if (paid != FM_OK) {
            fm_request_refuse(session, &request, paid, busy);
            return;
        }
    }
    if (status == FM_OK) {
        status = take(session, &request, error);
    }
    if (status == FM_ERR_BAD_MESSAGE) {
        disconnect_for_nonsense(session, error);
    } else if (status != FM_OK) {
        fm_request_refuse(session, &request, status, error);
    }
}

// ---- jobs that come back -----------------------------------------------------------------------

static void answer_job(fm_session *session, fm_job *job)
{
    if (job->is_notification) {
        return;
    }
    if (job->status == FM_ERR_MOVED) {
        fm_reply_moved(session, job->request, job->host->number);
        return;
    }
    if (job->status != FM_OK) {
        char error[FM_ERROR_TEXT_SIZE] = "";
        fm_failure_describe(job, error);
        fm_reply_error(session, job->request, job->status, error[0] == '\0' ? NULL : error);
        return;
    }
    const struct method *method = &methods[job->method];
    if (method->reply != NULL) {
        method->reply(session, job);
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, job->request);
    method->answer(&reply.packer, job);
    fm_reply_send(session, &reply);
}

static fm_session *asker(const fm_hub *hub, const fm_job *job)
{
    return job->session == 0 ? NULL : fm_hub_find_session(hub, job->session);
}

static void take_answer(fm_hub *hub, fm_job *job)
{
    fm_session *session = asker(hub, job);
    if (session != NULL) {
        session->queries_waiting -= job->kind == FM_JOB_QUERY;
        answer_job(session, job);
        fm_session_job_done(session);
    }
    fm_job_destroy(job);
}

static void take_added(fm_hub *hub, fm_job *job)
{
    if (fm_host_is_replay(job->host)) {
        fm_replays_added(hub, job);
    } else {
        fm_creation_added(hub, job);
    }
}

static void take_inspection(fm_hub *hub, fm_job *job)
{
    if (job->inspect.trace == 0) {
        take_answer(hub, job);
        return;
    }
    fm_debug_send_trace(hub, asker(hub, job), job);
    fm_job_destroy(job);
}

static void take_save(fm_hub *hub, fm_job *job)
{
    fm_save_end(hub, asker(hub, job));
    take_answer(hub, job);
}

static void take_watch(fm_hub *hub, fm_job *job)
{
    fm_stream_watched(hub, job);
    fm_job_destroy(job);
}

static void take_nothing(fm_hub *hub, fm_job *job)
{
    (void)hub;
    fm_job_destroy(job);
}

// Handles a kind of job that came back. Each takes the job over.
static void (*const returns[FM_JOB_KIND_COUNT])(fm_hub *hub, fm_job *job) = {
    [FM_JOB_ADD] = take_added,      [FM_JOB_REMOVE] = fm_creation_removed,
    [FM_JOB_COMMAND] = take_answer, [FM_JOB_PAUSE] = take_answer,
    [FM_JOB_RESUME] = take_answer,  [FM_JOB_STEP] = take_answer,
    [FM_JOB_SEEK] = take_answer,    [FM_JOB_QUERY] = take_answer,
    [FM_JOB_STATS] = take_answer,   [FM_JOB_INSPECT] = take_inspection,
    [FM_JOB_TRACE] = take_answer,   [FM_JOB_UNTRACE] = take_answer,
    [FM_JOB_EXPLAIN] = take_answer, [FM_JOB_TOP] = take_answer,
    [FM_JOB_JAMS] = take_answer,    [FM_JOB_UNITS] = take_answer,
    [FM_JOB_WATCH] = take_watch,    [FM_JOB_UNWATCH] = take_nothing,
    [FM_JOB_SAVE] = take_save,
};

// Deltas of earlier ticks are sent before the answer.
void fm_methods_job_done(fm_hub *hub, fm_job *job)
{
    fm_session *session = asker(hub, job);
    if (session != NULL) {
        fm_stream_catch_up(session);
    }
    returns[job->kind](hub, job);
}

void fm_methods_check(void)
{
    for (uint32_t method = 0; method < FM_METHOD_COUNT; method++) {
        FM_ASSERT(methods[method].take != NULL);
    }
    for (uint32_t kind = 0; kind < FM_JOB_KIND_COUNT; kind++) {
        FM_ASSERT(returns[kind] != NULL);
    }
}

// ---- sessions ----------------------------------------------------------------------------------

static void end_session(fm_session *session)
{
    fm_stream_end_session(session);
    fm_replays_end_session(session->hub, session->number);
    fm_shipping_end_session(session);
    fm_path_end_session(session);
}

const fm_session_events fm_methods_session_events = {
    .received = receive,
    .drained = fm_stream_drained,
    .closed = end_session,
};
