// server/process/standby.c: see standby.h.

#include "server/process/standby.h"

#include "proto/pack.h"
#include "server/base/first_line.h"
#include "server/base/log.h"
#include "server/cluster/etcd_access.h"
#include "server/process/copies.h"
#include "server/process/recovery.h"
#include "server/process/standby_link.h"
#include "server/sessions/ledger.h"
#include "server/sessions/session.h"
#include "server/streams/stream.h"

#include <dirent.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define AGAIN_MS       500u  // until the next try to connect
#define ANNOUNCE_MS    1000u // until the server that was followed is told again
#define LOOK_MS        2u    // between two checks whether a world has ended
#define ADDRESS_SIZE   256u
#define TOKEN_SIZE     (FM_TOKEN_MAX + 2)
#define REPLAY_NUMBERS ((uint64_t)1 << 40) // numbers of replays, above those of the worlds followed

enum state {
    STATE_CONNECTING,
    STATE_FOLLOWING,
    STATE_REFUSED,
};

static const char *const state_names[] = {"connecting", "following", "refused"};

// Messages of the thread to the loop.
struct news {
    struct news *next;
    fm_host *host;  // a world that has come
    uint64_t world; // one that ends; 0: none
    bool is_ledger; // the next three
    fm_tokens tokens;
    fm_resume_key key;
    uint64_t epoch, world_last;
};

struct fm_standby {
    fm_hub *hub;
    void (*wake)(void *context);
    void *wake_context;
    char host[ADDRESS_SIZE], port[8];
    fm_etcd_access access;
    fm_copies copies; // the thread's; until it begins and once it has ended, the loop's
    fm_standby_link link;
    uv_thread_t thread;
    bool has_thread; // it was begun, and has not been joined
    atomic_bool stop, is_ending;
    atomic_bool may_lack; // ticks that clients have seen may be missing here
    uv_mutex_t lock;      // guards the next group
    char token[TOKEN_SIZE];
    enum state state;
    char error[FM_JOURNAL_ERROR_SIZE];
    struct news *first, *last;
    uint64_t epoch;         // as of the ledger; the thread's, like the next two
    fm_journal_link ledger; // its name
    uint64_t number;        // of the last shipment
    // ---- the loop's
    uint64_t world_last;  // number given out there
    struct news *waiting; // worlds whose end could not be posted yet
    bool is_promoting, is_handed_over;
    uint64_t session, request; // session that asked for it; 0: none waits
    bool is_notification;
    uv_work_t work; // of the promotion; work.data points back here
    fm_status status;
    char promote_error[FM_JOURNAL_ERROR_SIZE];
};

// ---- settings ----------------------------------------------------------------------------------

// ADDRESS:PORT, or [ADDRESS]:PORT.
static bool parse_address(const char *text, char *host, char *port, size_t port_size)
{
    const char *colon = strrchr(text, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon - text);
    bool is_bracketed = size > 2 && text[0] == '[' && text[size - 1] == ']';
    if (size == 0 || size >= ADDRESS_SIZE || strlen(colon + 1) >= port_size || colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
        return false;
    }
    memcpy(host, text + is_bracketed, size - 2 * is_bracketed);
    host[size - 2 * is_bracketed] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static fm_status read_token(const fm_config *config, char token[TOKEN_SIZE], char *error)
{
    token[0] = '\0';
    return config->follow_token_file[0] == '\0'
               ? FM_OK
               : fm_first_line_read("follow_token_file", config->follow_token_file, token,
                                    TOKEN_SIZE, error, FM_JOURNAL_ERROR_SIZE);
}

static fm_status read_settings(const fm_config *config, fm_standby *standby, char *error)
{
    const fm_etcd_settings settings = {.members = config->follow,
                                       .ca_key = "follow_ca_file",
                                       .ca_file = config->follow_ca_file,
                                       .certificate = "",
                                       .key = "",
                                       .user = "",
                                       .password_file = ""};
    char tls_error[FM_ETCD_ERROR_SIZE] = "";
    if (config->journal_dir[0] == '\0' || config->cluster_name[0] != '\0') {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "follow needs journal_dir, and no cluster_name");
        return FM_ERR_BAD_VALUE;
    }
    if (!parse_address(config->follow, standby->host, standby->port, sizeof standby->port)) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "follow: '%.200s' is no ADDRESS:PORT",
                 config->follow);
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = read_token(config, standby->token, error);
    if (status == FM_OK) {
        status = fm_etcd_access_init(&settings, &standby->access, tls_error);
        if (status != FM_OK) {
            snprintf(error, FM_JOURNAL_ERROR_SIZE, "%s", tls_error);
        }
    }
    return status;
}

fm_status fm_standby_check(const fm_config *config, char *error)
{
    fm_standby standby = {.has_thread = false};
    if (config->follow[0] == '\0') {
        if (config->durability == FM_DURABILITY_REPLICA &&
            (config->journal_dir[0] == '\0' || config->cluster_name[0] != '\0')) {
            snprintf(error, FM_JOURNAL_ERROR_SIZE,
                     "durability replica needs journal_dir, and no cluster_name");
            return FM_ERR_BAD_VALUE;
        }
        return FM_OK;
    }
    fm_status status = read_settings(config, &standby, error);
    if (status == FM_OK) {
        fm_etcd_access_fini(&standby.access);
    }
    sodium_memzero(standby.token, sizeof standby.token);
    return status;
}

// ---- from the thread to the loop ---------------------------------------------------------------

static struct news *make_news(void)
{
    return calloc(1, sizeof(struct news));
}

static void put_news(fm_standby *standby, struct news *news)
{
    uv_mutex_lock(&standby->lock);
    if (standby->first == NULL) {
        standby->first = news;
    } else {
        standby->last->next = news;
    }
    standby->last = news;
    uv_mutex_unlock(&standby->lock);
    standby->wake(standby->wake_context);
}

static void set_state(fm_standby *standby, enum state state, const char *error)
{
    uv_mutex_lock(&standby->lock);
    bool is_news = standby->state != state || strcmp(standby->error, error) != 0;
    standby->state = state;
    snprintf(standby->error, sizeof standby->error, "%s", error);
    uv_mutex_unlock(&standby->lock);
    if (is_news) {
        fm_log(state == STATE_FOLLOWING ? FM_LOG_INFO : FM_LOG_WARNING, "standby",
               fm_log_text("state", state_names[state]),
               fm_log_text("of", standby->hub->config->follow), fm_log_text("reason", error));
    }
}

static fm_status on_come(void *context, fm_copy *copy, char *error)
{
    fm_standby *standby = context;
    fm_recovery *recovery;
    fm_journal_tail tail;
    struct news *news = make_news();
    fm_status status = news == NULL
                           ? FM_ERR_NO_MEMORY
                           : fm_recovery_begin(standby->hub, copy->followed.path, &recovery, error);
    if (status != FM_OK) {
        free(news);
        return status;
    }
    fm_recovery_follow(recovery, &copy->followed, &tail, &news->host);
    put_news(standby, news);
    return FM_OK;
}

static void on_gone(void *context, fm_copy *copy)
{
    fm_standby *standby = context;
    struct news *news = make_news();
    while (news == NULL) {
        uv_sleep(LOOK_MS);
        news = make_news();
    }
    news->world = copy->followed.world;
    put_news(standby, news);
    while (!atomic_load(&copy->followed.is_over) && !atomic_load(&standby->is_ending)) {
        uv_sleep(LOOK_MS);
    }
}

static void on_grown(void *context)
{
    const fm_standby *standby = context;
    (void)fm_conductor_nudge(standby->hub->conductor);
}

// ---- the thread --------------------------------------------------------------------------------

static fm_status take_grants(fm_reader *reader, const fm_shipment *shipment, fm_tokens *tokens)
{
    fm_status status = FM_OK;
    tokens->last = shipment->token_last;
    for (uint32_t i = 0; i < shipment->grant_count && status == FM_OK; i++) {
        fm_grant grant;
        status = fm_shipment_take_grant(reader, &grant);
        if (status == FM_OK) {
            status = fm_tokens_restore(tokens, &grant);
        }
    }
    return status == FM_OK ? fm_reader_finish(reader) : status;
}

static void free_news(struct news *news)
{
    fm_tokens_fini(&news->tokens);
    sodium_memzero(&news->key, sizeof news->key);
    free(news);
}

static fm_status take_ledger(fm_standby *standby, fm_reader *reader, const fm_shipment *shipment,
                             char *error)
{
    struct news *news = make_news();
    if (news == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    news->is_ledger = true;
    news->epoch = shipment->epoch;
    news->world_last = shipment->world_last;
    memcpy(news->key.bytes, shipment->key, sizeof news->key.bytes);
    fm_status status = take_grants(reader, shipment, &news->tokens);
    if (status == FM_OK && news->epoch < standby->epoch) {
        status = FM_ERR_BAD_FORMAT;
    }
    if (status != FM_OK) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "its ledger is damaged");
    } else {
        status =
            fm_ledger_copy(standby->hub->ledger, &news->key, &news->tokens, news->epoch, error);
    }
    if (status != FM_OK) {
        free_news(news);
        return status;
    }
    standby->epoch = news->epoch;
    standby->ledger = fm_ledger_name(&news->key);
    put_news(standby, news);
    return FM_OK;
}

static fm_status take_shipment(fm_standby *standby, const fm_standby_message *message, char *error)
{
    fm_bytes_error wrong = {.message = "one is missing, or its checksum is another"};
    size_t size = message->size;
    fm_shipment shipment;
    bool is_whole =
        message->number == standby->number + 1 && fm_shipment_is_whole(message->data, &size);
    fm_reader reader = fm_reader_init(message->data, is_whole ? size : 0, &wrong);
    if (!is_whole || fm_shipment_take(&reader, &shipment) != FM_OK) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "a shipment is damaged: %s", wrong.message);
        return FM_ERR_BAD_FORMAT;
    }
    if (shipment.kind == FM_SHIPMENT_LEDGER) {
        return take_ledger(standby, &reader, &shipment, error);
    }
    return shipment.kind == FM_SHIPMENT_BEAT ? FM_OK
                                             : fm_copies_take(&standby->copies, &shipment, error);
}

// Takes shipments that have come in, and acknowledges them.
static fm_status take_input(fm_standby *standby, char *error)
{
    fm_standby_message message;
    uint64_t number = 0;
    bool is_bad = false;
    fm_status status = FM_OK;
    while (status == FM_OK && fm_standby_link_take(&standby->link, &message, &is_bad)) {
        if (message.is_shipment) {
            status = take_shipment(standby, &message, error);
            number = status == FM_OK ? message.number : number;
            standby->number = message.number;
        }
    }
    if (is_bad) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "what it sends is no message");
        return FM_ERR_BAD_FORMAT;
    }
    if (number > 0 && !fm_standby_link_say(&standby->link, number) && status == FM_OK) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "the connection broke");
        return FM_ERR_IO;
    }
    return status;
}

// Connects with the token as it is now.
static fm_status open_link(fm_standby *standby, const fm_writer *places, uint64_t *epoch,
                           bool *replica, char *error)
{
    char token[TOKEN_SIZE];
    uv_mutex_lock(&standby->lock);
    memcpy(token, standby->token, sizeof token);
    uv_mutex_unlock(&standby->lock);
    fm_status status = fm_standby_link_open(&standby->link, &standby->access, standby->host,
                                            standby->port, token, places, epoch, replica, error);
    sodium_memzero(token, sizeof token);
    return status;
}

static fm_status connect_to(fm_standby *standby, char *error)
{
    fm_writer places = fm_writer_init(&fm_memory_libc);
    bool replica = false;
    uint64_t epoch = standby->epoch;
    fm_shipment_put_claim(&places, &(fm_shipment_claim){.ledger = standby->ledger});
    fm_copies_put_places(&standby->copies, &places);
    fm_status status = open_link(standby, &places, &epoch, &replica, error);
    fm_writer_fini(&places);
    standby->number = 0;
    if (status == FM_OK) {
        atomic_store(&standby->may_lack, !replica);
    }
    return status;
}

static void follow_once(fm_standby *standby)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    (void)fm_copies_drop_stuck(&standby->copies);
    fm_status status = connect_to(standby, error);
    if (status != FM_OK) {
        set_state(standby, status == FM_ERR_DENIED ? STATE_REFUSED : STATE_CONNECTING, error);
        return;
    }
    set_state(standby, STATE_FOLLOWING, "");
    status = take_input(standby, error); // what came with the answers
    while (status == FM_OK && !atomic_load(&standby->stop)) {
        if (fm_copies_drop_stuck(&standby->copies)) {
            snprintf(error, sizeof error, "a world starts over");
            status = FM_ERR_IO;
        } else if (!fm_standby_link_wait(&standby->link)) {
            snprintf(error, sizeof error, "the connection broke");
            status = FM_ERR_IO;
        } else {
            status = take_input(standby, error);
        }
    }
    fm_standby_link_close(&standby->link);
    if (!atomic_load(&standby->stop)) {
        set_state(standby, STATE_CONNECTING, error);
    }
}

static void follow(void *context)
{
    fm_standby *standby = context;
    while (!atomic_load(&standby->stop)) {
        follow_once(standby);
        for (uint32_t i = 0; i < AGAIN_MS / 10 && !atomic_load(&standby->stop); i++) {
            uv_sleep(10);
        }
    }
}

// ---- the thread, after a promotion --------------------------------------------------------------

// @return whether the server that was followed knows now that it was replaced
static bool announce_once(fm_standby *standby)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_writer claim = fm_writer_init(&fm_memory_libc);
    bool replica;
    uint64_t epoch = standby->epoch;
    fm_shipment_put_claim(&claim,
                          &(fm_shipment_claim){.has_taken_over = true, .ledger = standby->ledger});
    fm_status status = open_link(standby, &claim, &epoch, &replica, error);
    fm_writer_fini(&claim);
    fm_standby_link_close(&standby->link);
    return status == FM_ERR_DENIED && strstr(error, "has been replaced") != NULL;
}

// A server that comes back as it was would go on with its own copies of the worlds. It is told as
// long as this one lives, for it may come back at any time, and from an old disk, too.
static void announce(void *context)
{
    fm_standby *standby = context;
    while (!atomic_load(&standby->stop)) {
        if (announce_once(standby)) {
            fm_log(FM_LOG_WARNING,
                   "the server that was followed is back, and knows now that it was "
                   "replaced",
                   fm_log_text("followed", standby->hub->config->follow));
        }
        for (uint32_t i = 0; i < ANNOUNCE_MS / 10 && !atomic_load(&standby->stop); i++) {
            uv_sleep(10);
        }
    }
}

static void begin_to_announce(fm_standby *standby)
{
    atomic_store(&standby->stop, false);
    fm_standby_link_renew(&standby->link);
    standby->epoch = standby->hub->epoch;
    standby->has_thread = uv_thread_create(&standby->thread, announce, standby) == 0;
    if (!standby->has_thread) {
        fm_log(FM_LOG_WARNING, "the server that was followed cannot be told that it was replaced",
               fm_log_text("reason", "out of threads"));
    }
}

static void stop_thread(fm_standby *standby)
{
    if (standby->has_thread) {
        atomic_store(&standby->stop, true);
        fm_standby_link_interrupt(&standby->link);
        uv_thread_join(&standby->thread);
        standby->has_thread = false;
    }
}

// ---- the loop: what has come -------------------------------------------------------------------

static void enter_world(fm_hub *hub, fm_host *host)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    const fm_host *other = fm_hub_find_host(hub, host->number);
    uint64_t last = hub->host_last;
    if (other == NULL && fm_recovery_hand_over(hub, host, NULL, error) == FM_OK) {
        hub->host_last = last;
        return;
    }
    fm_log(FM_LOG_ERROR, "world cannot be shown", fm_log_uint("world", host->number),
           fm_log_text("reason", other != NULL ? "there is one of this number" : error));
    fm_following_end(host);
    fm_host_destroy(host);
}

// @return false: it has to be tried again
static bool end_world(fm_hub *hub, uint64_t world)
{
    fm_host *host = fm_hub_find_host(hub, world);
    if (host == NULL) {
        return true;
    }
    fm_job *job = fm_job_create(FM_JOB_REMOVE, host);
    if (job == NULL) {
        return false;
    }
    job->is_notification = true;
    if (fm_conductor_post(hub->conductor, job) != FM_OK) {
        fm_job_destroy(job);
        return hub->going_down; // the conductor ends them all
    }
    host->state = FM_HOST_ENDING;
    fm_stream_end_host(hub, host, NULL, 0);
    fm_hub_drop_host(hub, host);
    return true;
}

static void take_tokens(fm_hub *hub, struct news *news)
{
    news->tokens.configured = hub->tokens.configured;
    fm_tokens_fini(&hub->tokens);
    hub->tokens = news->tokens;
    news->tokens = (fm_tokens){.last = 0};
    memcpy(hub->resume_key.bytes, news->key.bytes, sizeof hub->resume_key.bytes);
    hub->epoch = news->epoch;
    hub->standby->world_last = news->world_last;
    fm_sessions_check_tokens(hub, NULL);
}

static struct news *pop_news(fm_standby *standby)
{
    uv_mutex_lock(&standby->lock);
    struct news *news = standby->first;
    if (news != NULL) {
        standby->first = news->next;
    }
    uv_mutex_unlock(&standby->lock);
    return news;
}

static void take_news(fm_hub *hub)
{
    fm_standby *standby = hub->standby;
    struct news *news = standby->waiting;
    standby->waiting = NULL;
    while (news != NULL || (news = pop_news(standby)) != NULL) {
        if (news->world != 0 && !end_world(hub, news->world)) {
            standby->waiting = news;
            return;
        }
        if (news->host != NULL) {
            enter_world(hub, news->host);
        } else if (news->is_ledger) {
            take_tokens(hub, news);
        }
        free_news(news);
        news = NULL;
    }
}

// ---- the loop: promotion -----------------------------------------------------------------------

// On a thread of the pool. The epoch is on the disk before any world continues.
static void end_following(uv_work_t *work)
{
    fm_standby *standby = work->data;
    stop_thread(standby);
    standby->status =
        fm_ledger_write_epoch(standby->hub->ledger, standby->epoch + 1, standby->promote_error);
    if (standby->status == FM_OK) {
        fm_copies_close(&standby->copies);
    }
}

// The promotion failed.
static void follow_again(fm_standby *standby)
{
    atomic_store(&standby->stop, false);
    fm_standby_link_renew(&standby->link);
    standby->has_thread = uv_thread_create(&standby->thread, follow, standby) == 0;
    if (!standby->has_thread) {
        set_state(standby, STATE_REFUSED, "out of threads");
    }
}

static void answer(fm_hub *hub, fm_standby *standby, fm_status status, uint32_t worlds)
{
    fm_session *session = standby->session == 0 ? NULL : fm_hub_find_session(hub, standby->session);
    if (session == NULL) {
        return;
    }
    fm_session_job_done(session);
    if (standby->is_notification) {
        return;
    }
    if (status != FM_OK) {
        fm_reply_error(session, standby->request, status, standby->promote_error);
        return;
    }
    fm_reply reply;
    fm_reply_begin(&reply, standby->request);
    msgpack_pack_map(&reply.packer, 2);
    fm_pack_key_uint(&reply.packer, "epoch", hub->epoch);
    fm_pack_key_uint(&reply.packer, "worlds", worlds);
    fm_reply_send(session, &reply);
}

static void hand_over(fm_standby *standby)
{
    bool may_lack = atomic_load(&standby->may_lack);
    for (fm_copy *copy = standby->copies.first; copy != NULL; copy = copy->next) {
        if (copy->has_world) {
            atomic_store(&copy->followed.may_lack, may_lack);
            atomic_store(&copy->followed.go_on, true);
        }
    }
    standby->is_handed_over = true;
    (void)fm_conductor_nudge(standby->hub->conductor);
}

static void on_ended(uv_work_t *work, int error)
{
    fm_standby *standby = work->data;
    fm_hub *hub = standby->hub;
    fm_hub_beat(hub);
    if (error < 0 || standby->status != FM_OK) {
        fm_log(FM_LOG_ERROR, "standby cannot take over",
               fm_log_text("reason", standby->promote_error));
        answer(hub, standby, FM_ERR_IO, 0);
        standby->is_promoting = false; // the request may be repeated
        if (!standby->has_thread) {
            follow_again(standby);
        }
        return;
    }
    take_news(hub);
    hub->epoch = standby->epoch + 1;
    hand_over(standby);
    fm_standby_take(hub);
}

// Whether all worlds that can live do. A disk that cannot be written for long holds up its world
// alone, which continues when it can.
static bool all_live(const fm_standby *standby, uint32_t *count)
{
    *count = 0;
    for (const fm_copy *copy = standby->copies.first; copy != NULL; copy = copy->next) {
        bool is_over = atomic_load(&copy->followed.is_over); // before the check whether
        bool lives = atomic_load(&copy->followed.lives);
        bool is_waited_for = copy->has_world && !lives && !is_over;
        if (is_waited_for && !atomic_load(&copy->followed.is_stuck) &&
            !atomic_load(&copy->followed.is_late)) {
            return false;
        }
        *count += lives;
    }
    return true;
}

static void finish_promotion(fm_hub *hub, uint32_t worlds)
{
    fm_standby *standby = hub->standby;
    uint64_t last = standby->world_last;
    for (uint32_t i = 0; i < hub->host_count; i++) {
        last = hub->hosts[i]->number > last ? hub->hosts[i]->number : last;
    }
    hub->host_last = last;
    hub->standby = NULL;
    hub->former_standby = standby;
    hub->ledger_version++;
    fm_log(FM_LOG_INFO, "standby has taken over", fm_log_uint("epoch", hub->epoch),
           fm_log_uint("worlds", worlds), fm_log_text("followed", hub->config->follow),
           fm_log_text("complete", atomic_load(&standby->may_lack)
                                       ? "not known: clients did not wait for this server"
                                       : "yes"));
    begin_to_announce(standby);
    answer(hub, standby, FM_OK, worlds);
}

void fm_standby_take(fm_hub *hub)
{
    uint32_t worlds;
    if (hub->standby == NULL) {
        return;
    }
    take_news(hub);
    if (hub->standby->is_handed_over && all_live(hub->standby, &worlds)) {
        finish_promotion(hub, worlds);
    }
}

static fm_status promote(fm_standby *standby, fm_session *session, uint64_t request,
                         bool is_notification)
{
    if (standby->is_promoting) {
        return FM_ERR_BUSY;
    }
    standby->work.data = standby;
    if (uv_queue_work(standby->hub->loop, &standby->work, end_following, on_ended) < 0) {
        return FM_ERR_NO_MEMORY;
    }
    standby->is_promoting = true;
    standby->session = session->number;
    standby->request = request;
    standby->is_notification = is_notification;
    session->jobs_waiting++;
    return FM_OK;
}

static void report(fm_standby *standby, fm_standby_report *report)
{
    uv_mutex_lock(&standby->lock);
    *report = (fm_standby_report){.role = standby->is_promoting ? "promoting" : "standby",
                                  .state = state_names[standby->state],
                                  .peer = standby->hub->config->follow};
    snprintf(report->error, sizeof report->error, "%.*s", (int)sizeof report->error - 1,
             standby->error);
    uv_mutex_unlock(&standby->lock);
}

static const fm_standby_calls calls = {.report = report, .promote = promote};

// ---- beginning and end -------------------------------------------------------------------------

static int is_journal(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), suffix_size = strlen(FM_JOURNAL_SUFFIX);
    return size > suffix_size && strcmp(entry->d_name + size - suffix_size, FM_JOURNAL_SUFFIX) == 0;
}

// What cannot be continued is sent again.
static void bring_back(fm_standby *standby, const char *path, uint64_t world)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "out of memory";
    fm_recovery *recovery = NULL;
    fm_journal_tail tail;
    fm_host *host = NULL;
    fm_copy *copy = fm_copy_create(&standby->copies, world, path);
    if (copy == NULL || fm_recovery_begin(standby->hub, path, &recovery, error) != FM_OK) {
        goto fail;
    }
    fm_recovery_follow(recovery, &copy->followed, &tail, &host);
    if (host->number != world || fm_hub_find_host(standby->hub, world) != NULL ||
        fm_copies_add(&standby->copies, copy, &tail, error) == NULL) {
        goto fail;
    }
    fm_log(FM_LOG_INFO, "world brought back", fm_log_uint("world", world),
           fm_log_text("file", path), fm_log_uint("tick", host->tick));
    enter_world(standby->hub, host);
    return;
fail:
    if (host != NULL) {
        fm_following_end(host);
        fm_host_destroy(host);
    }
    if (copy != NULL) {
        fm_copy_destroy(copy);
    }
    (void)fm_journal_file_set_aside(path, "former");
    fm_log(FM_LOG_WARNING, "copy of a journal set aside", fm_log_text("file", path),
           fm_log_text("reason", error));
}

static fm_status bring_all_back(fm_standby *standby, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_journal, versionsort);
    if (count < 0) {
        return FM_ERR_IO;
    }
    for (int i = 0; i < count; i++) {
        char path[FM_FOLLOWED_PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!fm_journal_file_finish_aside(path)) {
            bring_back(standby, path, strtoull(entries[i]->d_name, NULL, 10));
        }
        free(entries[i]);
    }
    free(entries);
    return FM_OK;
}

static fm_status make(fm_hub *hub, fm_standby **out, char *error)
{
    fm_standby *standby = calloc(1, sizeof *standby);
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
    if (standby == NULL || uv_mutex_init(&standby->lock) < 0) {
        free(standby);
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = fm_standby_link_init(&standby->link);
    if (status != FM_OK) {
        uv_mutex_destroy(&standby->lock);
        free(standby);
        return status;
    }
    standby->hub = hub;
    standby->copies = (fm_copies){.folder = hub->config->journal_dir,
                                  .journals = fm_conductor_journals(hub->conductor),
                                  .come = on_come,
                                  .gone = on_gone,
                                  .grown = on_grown,
                                  .context = standby};
    atomic_store(&standby->may_lack, true);
    *out = standby;
    return read_settings(hub->config, standby, error);
}

fm_status fm_standby_prepare(fm_hub *hub, void (*wake)(void *context), void *context)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    if (hub->config->follow[0] == '\0') {
        return FM_OK;
    }
    fm_status status = make(hub, &hub->standby, error);
    if (status == FM_OK) {
        hub->standby_calls = &calls;
        hub->standby->wake = wake;
        hub->standby->wake_context = context;
        hub->host_last = REPLAY_NUMBERS;
        snprintf(error, sizeof error, "the folder cannot be read");
        status = bring_all_back(hub->standby, hub->config->journal_dir);
    }
    if (status != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot be a standby", fm_log_text("reason", error));
    }
    return status;
}

fm_status fm_standby_begin(fm_hub *hub)
{
    fm_standby *standby = hub->standby;
    if (standby == NULL) {
        return FM_OK;
    }
    standby->epoch = hub->epoch;
    standby->ledger = fm_ledger_name(&hub->resume_key);
    standby->has_thread = uv_thread_create(&standby->thread, follow, standby) == 0;
    return standby->has_thread ? FM_OK : FM_ERR_NO_MEMORY;
}

void fm_standby_reload(fm_hub *hub)
{
    fm_standby *standby = hub->standby != NULL ? hub->standby : hub->former_standby;
    char token[TOKEN_SIZE], error[FM_JOURNAL_ERROR_SIZE];
    if (standby == NULL || hub->config->follow_token_file[0] == '\0') {
        return;
    }
    if (read_token(hub->config, token, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "token of the standby kept as it was", fm_log_text("reason", error));
        return;
    }
    uv_mutex_lock(&standby->lock);
    memcpy(standby->token, token, sizeof token);
    uv_mutex_unlock(&standby->lock);
    sodium_memzero(token, sizeof token);
    fm_log(FM_LOG_INFO, "token of the standby read again",
           fm_log_text("file", hub->config->follow_token_file));
}

void fm_standby_stop(fm_hub *hub)
{
    fm_standby *standby = hub->standby != NULL ? hub->standby : hub->former_standby;
    if (standby != NULL) {
        atomic_store(&standby->stop, true);
        fm_standby_link_interrupt(&standby->link);
    }
}

void fm_standby_end(fm_hub *hub)
{
    fm_standby *standby = hub->standby != NULL ? hub->standby : hub->former_standby;
    if (standby == NULL) {
        return;
    }
    atomic_store(&standby->is_ending, true); // the conductor has released all worlds
    stop_thread(standby);
    fm_copies_close(&standby->copies);
    for (struct news *news = standby->waiting != NULL ? standby->waiting : pop_news(standby);
         news != NULL; news = pop_news(standby)) {
        fm_host_destroy(news->host);
        free_news(news);
    }
    fm_copies_fini(&standby->copies);
    fm_standby_link_fini(&standby->link);
    fm_etcd_access_fini(&standby->access);
    sodium_memzero(standby->token, sizeof standby->token);
    uv_mutex_destroy(&standby->lock);
    free(standby);
    hub->standby = hub->former_standby = NULL;
}
