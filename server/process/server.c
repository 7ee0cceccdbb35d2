// server/process/server.c: see server.h. One libuv loop, from the first listener to the last close.
//
//   STARTING ── listening ──> SERVING ── signal ──> STOPPING ── conductors stopped ──> FLUSHING
//                                └── signal, other nodes ──> DRAINING ──^
//
// DRAINING: the server continues, and the worlds go to other nodes, for cluster_drain_s at most.
// STOPPING: no client is accepted, clients have been sent going_down, running ticks are finished.
// FLUSHING: queued bytes are written, for grace_s at most; then all clients are disconnected.

#include "server/process/server.h"

#include "proto/pack.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/reload.h"
#include "server/process/descriptors.h"
#include "server/process/http.h"
#include "server/process/membership.h"
#include "server/process/notify.h"
#include "server/process/options.h"
#include "server/process/recovery.h"
#include "server/process/standby.h"
#include "server/process/syscall_filter.h"
#include "server/process/warnings.h"
#include "server/process/watchdog.h"
#include "server/methods/issuance.h"
#include "server/methods/methods.h"
#include "server/relay/relay.h"
#include "server/sessions/hub.h"
#include "server/sessions/ledger.h"
#include "server/streams/shipping.h"
#include "server/streams/stream.h"
#include "server/wire/proxy.h"
#include "server/wire/tls.h"
#include "server/wire/transport_tcp.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BUFFER_SIZE (64u << 10)
#define CHECK_PERIOD_MS  100u              // how often time-outs are checked
#define WATCHDOG_SHARE   4u                // signs of life per time that the watchdog waits
#define STOP_EXTRA_S     1.0               // beside grace_s, for a loop that was asked to end
#define CLUSTER_EXTRA_S  10.0              // the same, for calls of etcd that nobody answers
#define PAUSE_NS         (FM_NS_PER_S / 2) // between two checks of time-outs: worth a warning

struct server {
    fm_hub hub;                                        // first
    fm_config config;                                  // the hub's
    const char *const *arguments, *const *environment; // read again on SIGHUP
    bool is_explained;                                 // the log says why the server cannot start
    fm_notify notify;
    uint64_t checked_ns;            // when time-outs were last checked
    uint64_t looked_ns, turn_count; // when the conductor was last checked, and its turns then
    uv_loop_t loop;
    uv_signal_t terminate, interrupt, reload;
    uv_async_t event;
    uv_timer_t check, grace;
    fm_tcp_listener *listener;
    fm_proxies *proxies;     // before TLS and sessions; NULL: not made yet
    fm_http *http;           // NULL: none
    fm_http *operators;      // of metrics_listen; NULL: none
    fm_watchdog *watchdog;   // NULL: none
    fm_tls *tls;             // NULL: none
    char *read_buffer;       // owned
    uint64_t drain_until_ns; // 0: not draining
    int journal_lock;        // -1: none
    bool stopped;            // the conductors have stopped
    bool finishes;           // and sessions end
    uint32_t last_words;     // of conductors
    bool closing;            // only handles of our own are left, and they are closing
};

// ---- the end -----------------------------------------------------------------------------------

static void close_own_handles(struct server *server)
{
    if (!server->closing) {
        server->closing = true;
        fm_watchdog_let_wait(server->watchdog);
        uv_close((uv_handle_t *)&server->terminate, NULL);
        uv_close((uv_handle_t *)&server->interrupt, NULL);
        uv_close((uv_handle_t *)&server->reload, NULL);
        uv_close((uv_handle_t *)&server->event, NULL);
        uv_close((uv_handle_t *)&server->check, NULL);
        uv_close((uv_handle_t *)&server->grace, NULL);
        fm_proxies_close(server->proxies);
        fm_http_close(server->http);
        fm_http_close(server->operators);
        fm_relay_close(server->hub.relay);
    }
}

static void end_if_all_are_gone(struct server *server)
{
    if (server->finishes && server->hub.session_count == 0) {
        close_own_handles(server);
    }
}

static void on_session_gone(fm_hub *hub)
{
    end_if_all_are_gone((struct server *)hub);
}

static void on_grace_over(uv_timer_t *timer)
{
    struct server *server = timer->data;
    for (uint32_t i = 0; i < server->hub.session_count; i++) {
        fm_session_disconnect(server->hub.sessions[i], "server goes down");
    }
}

// Once the last changes of tokens are answered.
static void finish_sessions(struct server *server)
{
    if (!server->stopped || server->finishes || fm_issuance_is_writing(&server->hub)) {
        return;
    }
    server->finishes = true;
    fm_shipping_end(&server->hub);
    for (uint32_t i = 0; i < server->hub.session_count; i++) {
        fm_stream_catch_up(server->hub.sessions[i]);
        fm_session_finish(server->hub.sessions[i], "server goes down");
    }
    uint64_t grace_ms = (uint64_t)(server->hub.config->grace_s * 1000);
    uv_timer_start(&server->grace, on_grace_over, grace_ms, 0);
    end_if_all_are_gone(server);
}

static void flush(struct server *server)
{
    server->stopped = true;
    fm_membership_leave(&server->hub); // all is written: other nodes may take over
    fm_issuance_check(&server->hub);   // nothing is awaited now
    finish_sessions(server);
}

static void announce_end(struct server *server)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, fm_frame_write);
    fm_pack_notification(&packer, FM_NOTIFY_GOING_DOWN);
    msgpack_pack_map(&packer, 2);
    fm_pack_key_uint(&packer, "in_ms", (uint64_t)(server->hub.config->grace_s * 1000));
    fm_pack_key_text(&packer, "reason", "the server was asked to stop");
    fm_frame *frame = fm_frame_take(&buffer);
    for (uint32_t i = 0; frame != NULL && i < server->hub.session_count; i++) {
        fm_session_send(server->hub.sessions[i], &frame, 1);
    }
    fm_frame_drop(frame);
}

static void stop(struct server *server)
{
    server->hub.going_down = true;
    fm_notify_stopping(&server->notify);
    fm_tcp_listener_destroy(server->listener);
    server->listener = NULL;
    announce_end(server);
    fm_stream_forget(&server->hub);
    fm_standby_stop(&server->hub);
    fm_conductor_stop(server->hub.conductor);
    if (server->hub.replayer != NULL) {
        fm_conductor_stop(server->hub.replayer);
    }
}

// Moved worlds were paused for some milliseconds, worlds taken over for some hundred.
static bool begin_to_drain(struct server *server)
{
    uint64_t longest_ns = (uint64_t)(server->config.cluster_drain_s * (double)FM_NS_PER_S);
    if (server->drain_until_ns != 0 || longest_ns == 0 ||
        !fm_membership_begin_to_drain(&server->hub)) {
        return false;
    }
    server->drain_until_ns = fm_clock_now_ns() + longest_ns;
    fm_notify_stopping(&server->notify);
    return true;
}

static void check_drain(struct server *server, uint64_t now_ns)
{
    if (server->drain_until_ns != 0 && !server->hub.going_down &&
        (now_ns >= server->drain_until_ns || fm_membership_is_drained(&server->hub))) {
        fm_log(FM_LOG_INFO, "drained", fm_log_uint("worlds_left", server->hub.host_count));
        stop(server);
    }
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct server *server = signal->data;
    if (server->hub.going_down) {
        fm_log(FM_LOG_WARNING, "ended at once", fm_log_text("signal", strsignal(number)));
        _exit(1);
    }
    fm_log(FM_LOG_INFO, "going down", fm_log_text("signal", strsignal(number)),
           fm_log_uint("sessions", server->hub.session_count),
           fm_log_uint("worlds", server->hub.host_count));
    if (!begin_to_drain(server)) {
        stop(server);
    }
}

// ---- reading files again -----------------------------------------------------------------------

static void tell_change(const fm_config_key *key, const char *text, bool taken)
{
    if (taken) {
        fm_log(FM_LOG_INFO, "setting changed", fm_log_text("key", key->name),
               fm_log_text("value", text));
    } else {
        fm_log(FM_LOG_WARNING, "setting needs a restart", fm_log_text("key", key->name),
               fm_log_text("value", text));
    }
}

static void take_settings(struct server *server, const fm_config *fresh)
{
    uint32_t count = fm_reload_take(&server->config, fresh, tell_change);
    fm_log(FM_LOG_INFO, "settings read again", fm_log_uint("changed", count));
    fm_descriptors_reserve(&server->config);
    server->hub.tokens.configured = fresh->grants;
    fm_warn_of_settings(fresh);
    if (fresh->grants_from_file) {
        fm_log(FM_LOG_INFO, "tokens read again", fm_log_uint("count", fresh->grants.count));
    }
    fm_log_set_level(server->config.log_level);
    fm_sessions_check_tokens(&server->hub, NULL);
}

// On any error the old settings stay: a typing error must not lock all clients out.
static void reload_settings(struct server *server)
{
    static fm_config fresh; // too large for the stack
    char *errors = NULL, *rest = NULL;
    size_t size = 0;
    int exit_code;
    FILE *stream = open_memstream(&errors, &size);
    if (stream == NULL) {
        fm_log(FM_LOG_ERROR, "settings and tokens kept as they were",
               fm_log_text("reason", "out of memory"));
        return;
    }
    bool good =
        fm_options_read(server->arguments, server->environment, &fresh, stream, stream, &exit_code);
    if (fclose(stream) == 0 && good) {
        take_settings(server, &fresh);
    }
    for (char *line = strtok_r(errors, "\n", &rest); !good && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        fm_log(FM_LOG_ERROR, "settings and tokens kept as they were", fm_log_text("reason", line));
    }
    free(errors);
}

static void reload_certificate(struct server *server)
{
    char error[FM_TLS_ERROR_SIZE];
    if (fm_tls_reload(server->tls, error) != FM_OK ||
        fm_http_renew_certificate(server->http, error) != FM_OK ||
        fm_http_renew_certificate(server->operators, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "certificate kept as it was", fm_log_text("reason", error));
        return;
    }
    fm_log(FM_LOG_INFO, "certificate read again",
           fm_log_text("file", server->hub.config->tls_certificate));
}

static void on_reload(uv_signal_t *signal, int number)
{
    (void)number;
    struct server *server = signal->data;
    fm_notify_reloading(&server->notify);
    reload_settings(server);
    fm_membership_reload(&server->hub);
    fm_standby_reload(&server->hub);
    fm_relay_reload(&server->hub);
    if (server->tls != NULL) {
        reload_certificate(server);
    }
    fm_http_read_files(server->http);
    const fm_trouble trouble = fm_trouble_find(&server->hub);
    fm_notify_ready(&server->notify, server->hub.host_count, server->hub.session_count, &trouble);
}

// ---- events from the conductor -----------------------------------------------------------------

static void job_done(struct server *server, fm_job *job)
{
    if (job->is_scrape) {
        fm_http_take_scrape(server->operators != NULL ? server->operators : server->http, job);
        return;
    }
    fm_methods_job_done(&server->hub, job);
}

static void take_event(struct server *server, fm_event *event)
{
    switch (event->kind) {
    case FM_EVENT_JOB:
        job_done(server, (fm_job *)event);
        break;
    case FM_EVENT_PUBLICATION:
        fm_stream_publish(&server->hub, (fm_publication *)event);
        break;
    case FM_EVENT_STOPPED:
        if (++server->last_words == (server->hub.replayer == NULL ? 1 : 2)) {
            flush(server);
        }
        break;
    }
}

static void take_events(struct server *server, fm_conductor *conductor)
{
    for (fm_event *event = fm_conductor_receive(conductor); event != NULL;) {
        fm_event *next = event->next;
        take_event(server, event);
        event = next;
    }
}

static void on_event(uv_async_t *async)
{
    struct server *server = async->data;
    fm_sessions_take_turns(&server->hub);
    fm_stream_take_turn(&server->hub);
    fm_membership_take_orders(&server->hub);
    fm_take_cluster_tokens(&server->hub);
    take_events(server, server->hub.conductor);
    if (server->hub.replayer != NULL) {
        take_events(server, server->hub.replayer);
    }
    fm_standby_take(&server->hub);
    fm_shipping_feed(&server->hub);
}

static void wake_loop(void *context)
{
    struct server *server = context;
    uv_async_send(&server->event);
}

// In the loop's next round, after other handles had their turn.
static void on_yield(fm_hub *hub)
{
    uv_async_send(&((struct server *)hub)->event);
}

// Only while both threads make progress: this one, and the conductor unless it has ended.
static void feed_watchdog(struct server *server, uint64_t now_ns)
{
    const fm_notify *notify = &server->notify;
    if (notify->watchdog_ns == 0 ||
        now_ns - server->looked_ns < notify->watchdog_ns / WATCHDOG_SHARE) {
        return;
    }
    server->looked_ns = now_ns;
    uint64_t turn_count = fm_conductor_nudge(server->hub.conductor);
    if (turn_count != server->turn_count || server->stopped) {
        server->turn_count = turn_count;
        const fm_trouble trouble = fm_trouble_find(&server->hub);
        fm_notify_alive(notify, server->hub.host_count, server->hub.session_count, &trouble);
    }
}

// After SIGSTOP, or on a machine that was suspended or starved, bytes that clients have sent
// meanwhile may not be read yet, and no pings were sent. So time-outs do not count the time by
// which this check was late, however short: a time-out may be as short.
static void forgive_pause(struct server *server, uint64_t now_ns)
{
    uint64_t pause_ns = now_ns - server->checked_ns;
    server->checked_ns = now_ns;
    if (pause_ns > PAUSE_NS) {
        static fm_log_site site;
        fm_log_limited(&site, FM_LOG_WARNING, "the server stood still",
                       fm_log_uint("ms", pause_ns / FM_NS_PER_MS));
    }
    if (pause_ns <= CHECK_PERIOD_MS * FM_NS_PER_MS) {
        return;
    }
    for (uint32_t i = 0; i < server->hub.session_count; i++) {
        fm_session_forgive(server->hub.sessions[i], pause_ns - CHECK_PERIOD_MS * FM_NS_PER_MS,
                           now_ns);
    }
    fm_http_forgive(server->http, pause_ns - CHECK_PERIOD_MS * FM_NS_PER_MS, now_ns);
    fm_http_forgive(server->operators, pause_ns - CHECK_PERIOD_MS * FM_NS_PER_MS, now_ns);
}

// What clients are sent from now on may contradict what they hear from the other server; what is
// written stays, for the standby that this server may become.
static void check_still_owner(const fm_hub *hub)
{
    if (hub->replaced != 0) {
        fm_log(
            FM_LOG_ERROR, "this server was replaced: it ends", fm_log_uint("epoch", hub->replaced),
            fm_log_text("hint", "start it with follow, as a standby of the server that took over"));
        fm_log_stop();
        _exit(1);
    }
}

static void on_check(uv_timer_t *timer)
{
    struct server *server = timer->data;
    uint64_t now_ns = fm_clock_now_ns();
    fm_hub_beat(&server->hub);
    check_still_owner(&server->hub);
    forgive_pause(server, now_ns);
    for (uint32_t i = 0; i < server->hub.session_count; i++) {
        fm_session_check_time(server->hub.sessions[i], now_ns);
    }
    fm_proxies_check_time(server->proxies, now_ns,
                          (uint64_t)(server->config.hello_timeout_s * 1e9));
    fm_http_check_time(server->http, now_ns);
    fm_http_check_time(server->operators, now_ns);
    fm_stream_flush(&server->hub);
    if (server->hub.standby == NULL) {
        fm_expire_tokens(&server->hub);
    }
    fm_issuance_check(&server->hub);
    finish_sessions(server);
    fm_standby_take(&server->hub);
    fm_shipping_check_time(&server->hub, now_ns);
    fm_membership_tell_load(&server->hub);
    fm_syscall_filter_report();
    check_drain(server, now_ns);
    feed_watchdog(server, now_ns);
}

// ---- the beginning -----------------------------------------------------------------------------

// Written atomically: a reader that waits for the file never reads half a number.
static bool write_port_file(const char *path, uint16_t port)
{
    char temporary[FM_CONFIG_TEXT_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        return false;
    }
    bool written = fprintf(file, "%u\n", port) > 0;
    written = fclose(file) == 0 && written;
    return written && rename(temporary, path) == 0;
}

static bool save_port(const char *path, uint16_t port)
{
    if (path[0] == '\0' || write_port_file(path, port)) {
        return true;
    }
    fm_log(FM_LOG_ERROR, "cannot write the port file", fm_log_text("file", path),
           fm_log_text("reason", strerror(errno)));
    return false;
}

static bool start_tls(struct server *server)
{
    const fm_config *config = server->hub.config;
    char error[FM_TLS_ERROR_SIZE];
    if (config->tls_certificate[0] == '\0') {
        if (config->tls_key[0] != '\0') {
            fm_log(FM_LOG_ERROR, "cannot speak TLS",
                   fm_log_text("reason", "there is a tls_key but no tls_certificate"));
        }
        return config->tls_key[0] == '\0';
    }
    const char *key = config->tls_key[0] == '\0' ? config->tls_certificate : config->tls_key;
    if (fm_tls_create(config->tls_certificate, key, fm_session_accept, &server->hub, &server->tls,
                      error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot speak TLS", fm_log_text("reason", error));
        return false;
    }
    return true;
}

static void warn_of_plaintext(const struct server *server, const char *listen, bool is_loopback)
{
    if (server->tls == NULL && !is_loopback) {
        fm_log(FM_LOG_WARNING, "tokens cross the network as they are: there is no tls_certificate",
               fm_log_text("listen", listen));
    }
}

static bool start_listening(struct server *server)
{
    const fm_config *config = server->hub.config;
    char address[FM_CONFIG_TEXT_MAX + 1];
    uint16_t port;
    bool is_loopback;
    if (fm_listen_parse(config->listen, address, &port, &is_loopback) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot listen", fm_log_text("listen", config->listen),
               fm_log_text("reason", "not ADDRESS:PORT"));
        return false;
    }
    const char *error = "";
    bool secret = server->tls != NULL;
    warn_of_plaintext(server, config->listen, is_loopback);
    uv_buf_t read_buffer = uv_buf_init(server->read_buffer, READ_BUFFER_SIZE);
    server->proxies =
        fm_proxies_create(config->trusted_proxies, secret ? fm_tls_accept : fm_session_accept,
                          secret ? (void *)server->tls : (void *)&server->hub);
    error = "out of memory";
    if (server->proxies == NULL ||
        fm_tcp_listen(&server->loop, address, port, read_buffer, fm_proxies_accept, server->proxies,
                      &port, &server->listener, &error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot listen", fm_log_text("listen", config->listen),
               fm_log_text("reason", error));
        return false;
    }
    fm_log(FM_LOG_INFO, "listening", fm_log_text("address", address), fm_log_uint("port", port),
           fm_log_text("tls", secret ? "yes" : "no"),
           fm_log_uint("workers", fm_conductor_worker_count(server->hub.conductor)));
    if (fm_membership_join(&server->hub, address, port, wake_loop, server) != FM_OK) {
        return false;
    }
    fm_take_cluster_tokens(&server->hub);
    return save_port(config->port_file, port);
}

// @param accept  NULL: the port is for operators
static bool start_http_port(struct server *server, const char *key, const char *listen,
                            fm_accept_fn *accept, const char *port_file, fm_http **http)
{
    char address[FM_CONFIG_TEXT_MAX + 1];
    uint16_t port;
    bool is_loopback;
    const char *error = "not ADDRESS:PORT";
    if (listen[0] == '\0') {
        return true;
    }
    *http = fm_http_create(&server->hub, accept);
    if (*http == NULL) {
        error = "out of memory";
    }
    if (*http == NULL || fm_listen_parse(listen, address, &port, &is_loopback) != FM_OK ||
        fm_http_listen(*http, address, port, uv_buf_init(server->read_buffer, READ_BUFFER_SIZE),
                       &port, &error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot serve HTTP", fm_log_text(key, listen),
               fm_log_text("reason", error));
        return false;
    }
    warn_of_plaintext(server, listen, is_loopback);
    fm_log(FM_LOG_INFO, accept == NULL ? "serving metrics" : "serving HTTP",
           fm_log_text("address", address), fm_log_uint("port", port),
           fm_log_text("tls", server->tls == NULL ? "no" : "yes"));
    return save_port(port_file, port);
}

static bool start_http(struct server *server)
{
    const fm_config *config = server->hub.config;
    return start_http_port(server, "http", config->http, fm_session_accept, config->http_port_file,
                           &server->http) &&
           start_http_port(server, "metrics_listen", config->metrics_listen, NULL,
                           config->metrics_port_file, &server->operators);
}

// The last step: from here on nothing needs to be opened but files and connections.
static bool start_filter(const fm_config *config)
{
    char error[FM_SYSCALL_FILTER_ERROR_SIZE];
    bool connects =
        config->follow[0] != '\0' || config->relay_of[0] != '\0' || config->cluster_name[0] != '\0';
    if (fm_syscall_filter_enter(config->syscall_filter, connects, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot filter system calls", fm_log_text("reason", error));
        return false;
    }
    if (config->syscall_filter != FM_SYSCALL_FILTER_NONE) {
        fm_log(FM_LOG_INFO, "system calls are filtered");
    }
    return true;
}

static bool start_watchdog(struct server *server)
{
    const fm_config *config = server->hub.config;
    double extra_s = STOP_EXTRA_S + (config->cluster_name[0] != '\0' ? CLUSTER_EXTRA_S : 0);
    if (config->loop_stall_s > 0 &&
        fm_watchdog_create(&server->hub.beats, config->loop_stall_s, config->grace_s + extra_s,
                           &server->watchdog) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot watch the event loop",
               fm_log_text("reason", "out of memory or threads"));
        return false;
    }
    return true;
}

static bool start_relay(struct server *server)
{
    char error[FM_RELAY_ERROR_SIZE];
    if (server->config.relay_of[0] == '\0' ||
        (fm_options_check_relay(&server->config, error) == FM_OK &&
         fm_relay_start(&server->hub, error) == FM_OK)) {
        return true;
    }
    fm_log(FM_LOG_ERROR, "cannot relay", fm_log_text("reason", error));
    return false;
}

static void init_handles(struct server *server)
{
    uv_loop_t *loop = &server->loop;
    uv_signal_init(loop, &server->terminate);
    uv_signal_init(loop, &server->interrupt);
    uv_signal_init(loop, &server->reload);
    uv_timer_init(loop, &server->check);
    uv_timer_init(loop, &server->grace);
    server->terminate.data = server->interrupt.data = server->reload.data = server;
    server->check.data = server->grace.data = server->event.data = server;
    uv_signal_start(&server->terminate, on_signal, SIGTERM);
    uv_signal_start(&server->interrupt, on_signal, SIGINT);
    uv_signal_start(&server->reload, on_reload, SIGHUP);
    uv_timer_start(&server->check, on_check, CHECK_PERIOD_MS, CHECK_PERIOD_MS);
}

// Without journals there is nothing to replay.
static bool create_conductors(struct server *server)
{
    fm_hub *hub = &server->hub;
    fm_status status = fm_membership_prepare(hub);
    if (status != FM_OK) {
        server->is_explained = status == FM_ERR_BAD_VALUE;
        return false;
    }
    const fm_journal_fence *fence =
        hub->log_store == NULL ? NULL : fm_world_log_store_fence(hub->log_store);
    if (fm_conductor_create(hub->config, fence, wake_loop, server, &hub->conductor) != FM_OK) {
        fm_membership_end(hub);
        return false;
    }
    if (hub->config->journal_dir[0] == '\0' ||
        fm_conductor_create_for_replays(hub->config, wake_loop, server, &hub->replayer) == FM_OK) {
        return true;
    }
    fm_conductor_stop(hub->conductor);
    fm_conductor_destroy(hub->conductor);
    fm_membership_end(hub);
    return false;
}

// Creates all that may fail. On failure nothing needs undoing.
static bool server_init(struct server *server, const fm_config *config)
{
    *server = (struct server){.hub = {.session_events = &fm_methods_session_events,
                                      .on_session_gone = on_session_gone,
                                      .on_yield = on_yield},
                              .config = *config,
                              .journal_lock = -1};
    server->hub.config = &server->config;
    server->hub.tokens.configured = config->grants;
    server->hub.start_ns = fm_clock_now_ns();
    fm_resume_key_make(&server->hub.resume_key);
    server->hub.loop = &server->loop;
    server->read_buffer = malloc(READ_BUFFER_SIZE);
    if (server->read_buffer == NULL) {
        return false;
    }
    if (uv_loop_init(&server->loop) < 0) {
        free(server->read_buffer);
        return false;
    }
    if (uv_async_init(&server->loop, &server->event, on_event) < 0) {
        uv_loop_close(&server->loop);
        free(server->read_buffer);
        return false;
    }
    init_handles(server);
    if (!create_conductors(server)) {
        close_own_handles(server);
        uv_run(&server->loop, UV_RUN_DEFAULT);
        uv_loop_close(&server->loop);
        free(server->read_buffer);
        return false;
    }
    return true;
}

static void note_uses(const fm_hub *hub)
{
    char error[FM_LEDGER_ERROR_SIZE];
    if (hub->ledger != NULL && hub->log_store == NULL && hub->tokens.created_count > 0 &&
        fm_ledger_note_uses(hub->ledger, &hub->tokens, error) != FM_OK) {
        fm_log(FM_LOG_WARNING, "last use of tokens not written", fm_log_text("reason", error));
    }
}

static void server_fini(struct server *server)
{
    // First, because the last to close a journal cleans it up, and that should be its writer.
    fm_standby_end(&server->hub);
    fm_conductor_destroy(server->hub.replayer);
    for (uint32_t i = 0; i < server->hub.replay_count; i++) {
        fm_host_destroy(server->hub.replays[i]);
    }
    fm_conductor_destroy(server->hub.conductor);
    fm_relay_destroy(server->hub.relay);
    fm_membership_end(&server->hub);
    fm_http_destroy(server->http);
    fm_http_destroy(server->operators);
    fm_proxies_destroy(server->proxies);
    fm_tls_destroy(server->tls);
    for (uint32_t i = 0; i < server->hub.host_count; i++) {
        fm_host_destroy(server->hub.hosts[i]);
    }
    note_uses(&server->hub);
    fm_ledger_close(server->hub.ledger);
    fm_tokens_fini(&server->hub.tokens);
    sodium_memzero(&server->hub.resume_key, sizeof server->hub.resume_key);
    sodium_memzero(&server->hub.secrets, sizeof server->hub.secrets);
    fm_quotas_fini(&server->hub.address_quotas);
    fm_quotas_fini(&server->hub.token_quotas);
    free(server->hub.hosts);
    free(server->hub.sessions);
    uv_loop_close(&server->loop);
    free(server->read_buffer);
    if (server->journal_lock >= 0) {
        close(server->journal_lock);
    }
}

// A world that does not exist has no seats, and its number may be reused.
static void forget_seats(fm_hub *hub)
{
    char error[FM_LEDGER_ERROR_SIZE];
    for (uint32_t i = hub->tokens.created_count; i-- > 0;) {
        uint64_t world = hub->tokens.created[i].seat.number;
        if (world != 0 && fm_hub_find_host(hub, world) == NULL &&
            !fm_recovery_has_file(hub->config->journal_dir, world)) {
            if (fm_ledger_remove_world(hub->ledger, world, error) != FM_OK) {
                fm_log(FM_LOG_ERROR, "token not struck out", fm_log_text("reason", error));
            }
            (void)fm_tokens_revoke(&hub->tokens, hub->tokens.created[i].number);
        }
    }
}

// Another server has, or may have, the worlds: its standby has taken over while this server was
// away, or this is the folder of a standby that was not promoted. Clients would be in two matches
// at once.
static fm_status check_ownership(fm_hub *hub, char *error)
{
    uint64_t epoch;
    bool is_copy = false;
    fm_status status = fm_ledger_read_replaced(hub->ledger, &epoch, error);
    if (status == FM_OK) {
        status = fm_ledger_read_copy(hub->ledger, &is_copy, error);
    }
    if (status != FM_OK || (epoch == 0 && !is_copy) || hub->standby != NULL) {
        return status;
    }
    if (!hub->config->accept_rollback) {
        char why[200] = "this is the folder of a standby that has not taken over. Start it with "
                        "follow and promote it (fogmarch standby promote)";
        if (epoch != 0) {
            snprintf(why, sizeof why,
                     "this server was replaced: its standby has taken over, epoch %llu. Start it "
                     "as a standby of that one (follow)",
                     (unsigned long long)epoch);
        }
        snprintf(error, FM_LEDGER_ERROR_SIZE,
                 "%s, or, to go on with the worlds as they are here, once with --accept-rollback, "
                 "while the other one is down",
                 why);
        return FM_ERR_BAD_VALUE;
    }
    hub->epoch = (epoch > hub->epoch ? epoch : hub->epoch) + 1;
    fm_log(FM_LOG_WARNING, "another server may have the worlds, and this one goes on all the same",
           fm_log_uint("epoch", hub->epoch));
    return fm_ledger_insist(hub->ledger, hub->epoch, error);
}

static bool start_ledger(fm_hub *hub)
{
    char error[FM_LEDGER_ERROR_SIZE];
    fm_status status =
        fm_ledger_open(hub->config->journal_dir, &hub->resume_key, &hub->ledger, error);
    bool is_node = hub->log_store != NULL; // its tokens are in etcd
    if (status == FM_OK && !is_node) {
        status = fm_ledger_read(hub->ledger, &hub->tokens, error);
    }
    if (status == FM_OK) {
        status = fm_ledger_read_epoch(hub->ledger, &hub->epoch, error);
    }
    if (status == FM_OK) {
        status = check_ownership(hub, error);
    }
    if (status != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot go on with the ledger", fm_log_text("reason", error));
        return false;
    }
    if (!is_node && hub->standby == NULL) { // else its worlds are still to come
        forget_seats(hub);
    }
    return true;
}

// Worlds are restored before clients can ask for them.
static bool start_journal(struct server *server)
{
    const fm_config *config = server->hub.config;
    char error[FM_JOURNAL_ERROR_SIZE];
    if (fm_standby_check(config, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "settings do not fit together", fm_log_text("reason", error));
        return false;
    }
    if (config->journal_dir[0] == '\0') {
        return true;
    }
    if (fm_recovery_lock(config->journal_dir, &server->journal_lock, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot keep journals", fm_log_text("reason", error));
        return false;
    }
    // A node's worlds are in the cluster's log, and another node may own them now.
    bool is_elsewhere = server->hub.log_store != NULL || config->follow[0] != '\0';
    fm_status status = is_elsewhere ? FM_OK : fm_recovery_run(&server->hub);
    if (status != FM_OK) {
        fm_log(FM_LOG_ERROR, "cannot bring worlds back", fm_log_text("folder", config->journal_dir),
               fm_log_status("reason", status));
    }
    return status == FM_OK && fm_standby_prepare(&server->hub, wake_loop, server) == FM_OK &&
           start_ledger(&server->hub);
}

static bool start_following(fm_hub *hub)
{
    bool begun = fm_standby_begin(hub) == FM_OK;
    if (!begun) {
        fm_log(FM_LOG_ERROR, "cannot follow", fm_log_text("reason", "out of memory or threads"));
    }
    return begun;
}

int fm_server_run(const fm_config *config, const char *const *arguments,
                  const char *const *environment, const char *commit)
{
    fm_methods_check();
    signal(SIGPIPE, SIG_IGN); // a closed peer is an error of the write, not of the process
    signal(SIGXFSZ, SIG_IGN); // and a file that may not grow
    fm_descriptors_reserve(config);
    struct server server;
    if (!server_init(&server, config)) {
        if (!server.is_explained) {
            fm_log(FM_LOG_ERROR, "cannot start", fm_log_text("reason", "out of memory or threads"));
        }
        return 1;
    }
    server.arguments = arguments;
    server.environment = environment;
    server.hub.commit = commit;
    fm_notify_init(&server.notify);
    fm_warn_of_root();
    fm_warn_of_settings(config);
    bool started = start_relay(&server) && start_journal(&server) && start_tls(&server) &&
                   start_http(&server) && start_listening(&server) && start_watchdog(&server) &&
                   start_filter(config) && start_following(&server.hub);
    if (started) {
        fm_notify_ready(&server.notify, 0, 0, &(fm_trouble){.word = "ok"});
    } else {
        stop(&server);
    }
    server.checked_ns = fm_clock_now_ns();
    uv_run(&server.loop, UV_RUN_DEFAULT);
    fm_watchdog_destroy(server.watchdog);
    server_fini(&server);
    fm_notify_fini(&server.notify);
    if (started) {
        fm_log(FM_LOG_INFO, "ended", fm_log_uint("messages", server.hub.counts.messages));
    }
    return started ? 0 : 1;
}
