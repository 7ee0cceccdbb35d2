// server/relay/relay.c: see relay.h.

#include "server/relay/relay.h"

#include "server/base/clock.h"
#include "server/base/first_line.h"
#include "server/base/log.h"
#include "server/relay/relay_state.h"
#include "server/streams/scenes.h"
#include "server/streams/stream.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_PERIOD_MS 50u
#define LIST_NS         FM_NS_PER_S
#define RETRY_NS        FM_NS_PER_S
#define FORGET_NS       (10 * FM_NS_PER_S) // until a world that no source lists counts as gone
#define BACK_TICKS_MAX  64u // by which two reports of a world's tick may be out of order
#define TICK_HZ_MIN     0.1 // a server may say anything

// ---- worlds ------------------------------------------------------------------------------------

static fm_host *make_host(const msgpack_object *info)
{
    uint64_t number = fm_object_uint(info, "world", 0);
    uint64_t width = fm_object_uint(info, "width", 0), height = fm_object_uint(info, "height", 0);
    fm_host *host = calloc(1, sizeof *host);
    if (host == NULL || number == 0 || number > FM_UINT_MAX || width < 1 || width > FM_SIDE_MAX ||
        height < 1 || height > FM_SIDE_MAX) {
        free(host);
        return NULL;
    }
    host->number = number;
    host->width = (uint32_t)width;
    host->height = (uint32_t)height;
    host->state = FM_HOST_LIVE;
    fm_object_text(info, "name", host->name, sizeof host->name);
    return host;
}

static bool keep_info(struct fm_relay_world *world, const msgpack_object *info)
{
    msgpack_packer packer;
    msgpack_sbuffer_init(&world->info);
    msgpack_packer_init(&packer, &world->info, msgpack_sbuffer_write);
    return msgpack_pack_object(&packer, *info) == 0;
}

static void free_world(struct fm_relay_world *world)
{
    fm_feed_destroy(world->feed);
    fm_host_destroy(world->host);
    msgpack_sbuffer_destroy(&world->info);
    free(world);
}

// Before the first report may be shown, no team is there, and the world goes on at its speed.
static void show_told(struct fm_relay_world *world, uint64_t tick)
{
    fm_host_summary *summary = &world->host->shared.summary;
    uint32_t passed = 0;
    while (passed + 1 < world->told_count && world->told[passed + 1].tick <= tick) {
        passed++;
    }
    world->told_count -= passed;
    memmove(world->told, world->told + passed, world->told_count * sizeof *world->told);
    struct fm_relay_told *told = &world->told[0];
    bool is_due = told->tick <= tick;
    told->tick = is_due ? 0 : told->tick; // and stays so when the world goes back
    summary->teams = is_due ? told->teams : 0;
    summary->paused = is_due && told->paused;
    summary->tick_hz = told->tick_hz;
    summary->budget_ms = told->budget_ms;
}

// Why the world stands still here: because it does there, or because nothing comes from there.
static void describe_halt(const struct fm_relay_world *world, char text[FM_ERROR_TEXT_SIZE])
{
    const struct fm_relay_source *source = &world->relay->sources[world->used];
    const char *reason = fm_feed_reason(world->feed);
    text[0] = '\0';
    bool comes = fm_feed_view_count(world->feed) > 0 && fm_feed_is_well(world->feed);
    if (world->listed_by == 0 && source->reason[0] != '\0' && !comes) {
        snprintf(text, FM_ERROR_TEXT_SIZE, "%.64s is not relayed: %.140s", source->address,
                 source->reason);
    } else if (reason[0] != '\0') {
        snprintf(text, FM_ERROR_TEXT_SIZE, "it is not relayed: %.200s", reason);
    } else if (world->listed_by != 0) {
        memcpy(text, world->halted, sizeof world->halted);
    }
}

// The world's summary is delayed like its picture.
static void show_summary(struct fm_relay_world *world)
{
    fm_host_summary *summary = &world->host->shared.summary;
    const fm_scene *scene = fm_scenes_find(world->host, FM_ALL_TEAMS);
    bool is_live = scene != NULL && scene->live;
    summary->tick = fm_feed_shown_tick(world->feed);
    if (is_live && scene->tick > summary->tick) {
        summary->tick = scene->tick;
    }
    if (world->relay->hub->config->relay_delay_ticks > 0) {
        summary->agents = is_live ? (uint32_t)scene->load.agents : 0;
    }
    show_told(world, summary->tick);
    describe_halt(world, summary->halted);
}

// Two reports may be out of order: the later one counts as of the newest tick.
static void take_told(struct fm_relay_world *world, struct fm_relay_told told)
{
    const struct fm_relay_told *last =
        world->told_count > 0 ? &world->told[world->told_count - 1] : NULL;
    if (last != NULL && told.teams == last->teams && told.paused == last->paused &&
        told.tick_hz == last->tick_hz && told.budget_ms == last->budget_ms) {
        return;
    }
    told.tick = last != NULL && last->tick > told.tick ? last->tick : told.tick;
    world->told_count -= world->told_count == FM_RELAY_TOLD_MAX;
    world->told[world->told_count++] = told;
}

static void take_summary(struct fm_relay_world *world, const msgpack_object *entry)
{
    uint64_t tick = fm_object_uint(entry, "tick", 0);
    if (tick + BACK_TICKS_MAX < world->listed_tick) {
        fm_feed_go_back(world->feed, tick);
        world->told_count = world->told_count > 0 && world->told[0].tick == 0;
    }
    world->listed_tick = tick;
    fm_object_text(entry, "halted", world->halted, sizeof world->halted);
    fm_feed_note_tick(world->feed, tick);
    world->host->shared.summary.agents = (uint32_t)fm_object_uint(entry, "agents", 0);
    take_told(world, (struct fm_relay_told){
                         .tick = tick,
                         .teams = (uint32_t)fm_object_uint(entry, "teams", 0),
                         .paused = fm_object_bool(entry, "paused", false),
                         .tick_hz = fm_object_real(entry, "tick_hz", 0),
                         .budget_ms = fm_object_real(entry, "budget_ms", 0),
                     });
    show_summary(world);
}

static void add_world(struct fm_relay_source *source, const msgpack_object *info)
{
    fm_relay *relay = source->relay;
    fm_hub *hub = relay->hub;
    fm_host *host = make_host(info);
    struct fm_relay_world *world = calloc(1, sizeof *world);
    if (host == NULL || world == NULL || hub->host_count >= hub->config->worlds_max ||
        fm_relay_find_world(relay, host->number) != NULL || !fm_hub_reserve_host(hub)) {
        fm_host_destroy(host);
        free(world);
        return;
    }
    world->relay = relay;
    world->host = host;
    world->listed_by = UINT64_C(1) << source->index;
    world->used = source->index;
    world->feed = fm_feed_create(hub, host, &relay->access, &relay->counts);
    if (world->feed == NULL || !keep_info(world, info)) {
        free_world(world);
        return;
    }
    take_summary(world, info);
    world->next = relay->worlds;
    relay->worlds = world;
    fm_hub_add_host(hub, host);
    fm_log(FM_LOG_INFO, "world found", fm_log_text("world", host->name),
           fm_log_uint("number", host->number), fm_log_text("at", source->address));
}

static void take_jobs(fm_relay *relay)
{
    while (relay->jobs.first != NULL) {
        fm_job *job = (fm_job *)fm_events_pop(&relay->jobs);
        struct fm_relay_world *world = fm_relay_find_world(relay, job->host->number);
        FM_ASSERT(world != NULL && world->host == job->host); // see end_world()
        fm_feed_take(world->feed, job);
    }
}

static void end_world(fm_relay *relay, struct fm_relay_world *world)
{
    struct fm_relay_world **link = &relay->worlds;
    take_jobs(relay);
    while (*link != world) {
        link = &(*link)->next;
    }
    *link = world->next;
    fm_log(FM_LOG_INFO, "world is gone", fm_log_text("world", world->host->name));
    world->host->state = FM_HOST_ENDING; // no more requests
    fm_stream_end_host(relay->hub, world->host, NULL, 0);
    fm_hub_drop_host(relay->hub, world->host);
    relay->bytes_in_before += fm_feed_bytes_in(world->feed);
    free_world(world);
}

// ---- what sources list -------------------------------------------------------------------------

static void on_info(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    if (error == NULL) {
        add_world(context, result);
    }
}

static void ask_about(struct fm_relay_source *source, uint64_t number)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, number);
    fm_status ignored =
        fm_upstream_send(source->upstream, FM_METHOD_WORLD_INFO, &params, on_info, source, NULL);
    (void)ignored; // it is listed again
    fm_params_fini(&params);
}

static bool is_same(const fm_host *host, const msgpack_object *entry)
{
    char name[FM_WORLD_NAME_MAX + 1];
    fm_object_text(entry, "name", name, sizeof name);
    return strcmp(name, host->name) == 0 && fm_object_uint(entry, "width", 0) == host->width &&
           fm_object_uint(entry, "height", 0) == host->height;
}

static void take_list_entry(struct fm_relay_source *source, const msgpack_object *entry)
{
    uint64_t number = fm_object_uint(entry, "world", 0);
    struct fm_relay_world *world = fm_relay_find_world(source->relay, number);
    if (world == NULL) {
        ask_about(source, number);
    } else if (is_same(world->host, entry)) { // else the old one ends because it is not listed
        world->listed_by |= UINT64_C(1) << source->index;
        take_summary(world, entry);
    }
}

static void unlist(struct fm_relay_source *source)
{
    for (struct fm_relay_world *world = source->relay->worlds; world != NULL; world = world->next) {
        world->listed_by &= ~(UINT64_C(1) << source->index);
    }
}

static void take_seeds(struct fm_relay_source *source, const msgpack_object *result);

// Notes which relays a source tells of. @return whether this one is among them: what it shows comes
// from here, and two relays that show each other a world would keep it when its server is gone
static bool is_in_circle(struct fm_relay_source *source, const msgpack_object *result)
{
    fm_numbers relays = fm_object_numbers(result, "relays");
    bool is = false;
    source->relays_count = 0;
    for (uint32_t i = 0; i < relays.count && source->relays_count < FM_RELAY_RELAYS_MAX; i++) {
        uint64_t number = fm_numbers_at(relays, i);
        is |= number == source->relay->number;
        source->relays[source->relays_count++] = number;
    }
    return is;
}

static void refuse_circle(struct fm_relay_source *source)
{
    static fm_log_site site;
    snprintf(source->reason, sizeof source->reason,
             "it shows what this relay shows: a circle of relays (relay_of)");
    fm_log_limited(&site, FM_LOG_WARNING, "worlds of a server are not relayed",
                   fm_log_text("address", source->address), fm_log_text("reason", source->reason));
    source->has_listed = false;
    unlist(source);
}

static void on_list(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    struct fm_relay_source *source = context;
    source->list_waits = false;
    if (error != NULL) {
        snprintf(source->reason, sizeof source->reason, "%s", error->message);
        return;
    }
    if (is_in_circle(source, result)) {
        refuse_circle(source);
        return;
    }
    source->has_listed = true;
    source->reason[0] = '\0';
    take_seeds(source, result);
    unlist(source);
    const msgpack_object *worlds = fm_object_get(result, "worlds");
    for (uint32_t i = 0; i < fm_object_count(worlds); i++) {
        take_list_entry(source, fm_object_at(worlds, i));
    }
}

static void ask_for_list(struct fm_relay_source *source, uint64_t now_ns)
{
    source->listed_ns = now_ns;
    source->list_waits = fm_upstream_send(source->upstream, FM_METHOD_WORLD_LIST, NULL, on_list,
                                          source, NULL) == FM_OK;
}

// ---- sources -----------------------------------------------------------------------------------

static void on_source_opened(void *context);
static void on_source_notified(void *context, fm_notification notification,
                               const msgpack_object *params);
static void on_source_closed(void *context, const char *reason);

static const fm_upstream_events source_events = {
    .opened = on_source_opened,
    .notified = on_source_notified,
    .closed = on_source_closed,
};

static struct fm_relay_source *find_source(fm_relay *relay, const char *address)
{
    for (uint32_t i = 0; i < relay->source_count; i++) {
        if (strcmp(relay->sources[i].address, address) == 0) {
            return &relay->sources[i];
        }
    }
    return NULL;
}

// Nodes come and go, and each process may have another address. NULL: all are there
static struct fm_relay_source *find_gone(fm_relay *relay)
{
    struct fm_relay_source *found = NULL;
    for (uint32_t i = 0; i < relay->source_count; i++) {
        struct fm_relay_source *source = &relay->sources[i];
        if (source->named_ns != UINT64_MAX && fm_upstream_is_closed(source->upstream) &&
            (found == NULL || source->named_ns < found->named_ns)) {
            found = source;
        }
    }
    return found;
}

// The place of a new source. NULL: there is none, or no memory
static struct fm_relay_source *take_place(fm_relay *relay)
{
    if (relay->source_count == FM_RELAY_SOURCES_MAX) {
        return find_gone(relay);
    }
    struct fm_relay_source *source = &relay->sources[relay->source_count];
    *source = (struct fm_relay_source){.relay = relay, .index = relay->source_count};
    source->upstream = fm_upstream_create(relay->hub->loop, &relay->access, &source_events, source);
    relay->source_count += source->upstream != NULL;
    return source->upstream != NULL ? source : NULL;
}

// @param now_ns  UINT64_MAX: the settings name it
// @return whether it is a source now
static bool add_source(fm_relay *relay, const char *address, uint64_t now_ns)
{
    struct fm_relay_source *source = find_source(relay, address);
    bool is_new = source == NULL;
    // One that comes later does not make a relay unready again.
    bool was_ready = relay->source_count > 0 && fm_relay_is_ready(relay);
    source = is_new ? take_place(relay) : source;
    if (source == NULL) {
        return false;
    }
    if (is_new) {
        snprintf(source->address, sizeof source->address, "%s", address);
        source->was_tried = was_ready;
        source->retry_ns = 0;
        source->reason[0] = '\0';
    }
    source->named_ns = !is_new && source->named_ns > now_ns ? source->named_ns : now_ns;
    return true;
}

static void take_seeds(struct fm_relay_source *source, const msgpack_object *result)
{
    char address[FM_UPSTREAM_ADDRESS_SIZE];
    const msgpack_object *seeds = fm_object_get(result, "seeds");
    for (uint32_t i = 0; i < fm_object_count(seeds); i++) {
        if (fm_object_text(fm_object_at(seeds, i), "tcp", address, sizeof address) &&
            address[0] != '\0') {
            (void)add_source(source->relay, address, fm_clock_now_ns());
        }
    }
}

// All nodes of a cluster that one of them names become sources: here, and each time it lists its
// worlds, because nodes join later.
static void on_source_opened(void *context)
{
    struct fm_relay_source *source = context;
    const char(*seeds)[FM_UPSTREAM_ADDRESS_SIZE];
    uint32_t count = fm_upstream_seeds(source->upstream, &seeds);
    source->was_tried = true;
    fm_log(FM_LOG_INFO, "relays the worlds of", fm_log_text("address", source->address));
    for (uint32_t i = 0; i < count; i++) {
        (void)add_source(source->relay, seeds[i], fm_clock_now_ns());
    }
    ask_for_list(source, fm_clock_now_ns());
}

static void on_source_notified(void *context, fm_notification notification,
                               const msgpack_object *params)
{
    (void)context;
    (void)notification;
    (void)params; // nothing was subscribed to
}

static void on_source_closed(void *context, const char *reason)
{
    struct fm_relay_source *source = context;
    static fm_log_site site;
    fm_log_limited(&site, FM_LOG_WARNING, "cannot ask which worlds there are",
                   fm_log_text("address", source->address), fm_log_text("reason", reason));
    snprintf(source->reason, sizeof source->reason, "%s", reason);
    source->was_tried = true;
    source->relays_count = 0;
    source->has_listed = source->list_waits = false;
    source->retry_ns = fm_clock_now_ns() + RETRY_NS;
    unlist(source);
}

static void check_source(struct fm_relay_source *source, uint64_t now_ns)
{
    fm_upstream_check(source->upstream, now_ns);
    if (fm_upstream_is_closed(source->upstream) && now_ns >= source->retry_ns) {
        source->retry_ns = now_ns + RETRY_NS;
        fm_status ignored = fm_upstream_connect(source->upstream, source->address);
        (void)ignored; // out of memory: it is tried again
    }
    if (fm_upstream_is_open(source->upstream) && !source->list_waits &&
        now_ns - source->listed_ns >= LIST_NS) {
        ask_for_list(source, now_ns);
    }
}

// ---- a few times a second ----------------------------------------------------------------------

// The source to connect to: the last one, if it still lists the world.
static const char *find_place(fm_relay *relay, struct fm_relay_world *world)
{
    for (uint32_t i = 0; i < relay->source_count; i++) {
        uint32_t index = (world->used + i) % relay->source_count;
        if ((world->listed_by & UINT64_C(1) << index) != 0) {
            world->used = index;
            return relay->sources[index].address;
        }
    }
    return NULL;
}

static bool knows_lists(const fm_relay *relay)
{
    for (uint32_t i = 0; i < relay->source_count; i++) {
        if (relay->sources[i].has_listed) {
            return true;
        }
    }
    return false;
}

// No source lists a world for a moment while it moves or is taken over.
static bool is_gone(const fm_relay *relay, struct fm_relay_world *world, uint64_t now_ns)
{
    if (fm_feed_has_ended(world->feed)) {
        return true;
    }
    if (world->listed_by != 0 || !knows_lists(relay)) {
        world->unlisted_ns = 0;
        return false;
    }
    world->unlisted_ns = world->unlisted_ns == 0 ? now_ns : world->unlisted_ns;
    return now_ns - world->unlisted_ns >= FORGET_NS;
}

// With a delay the first spectator would have to wait for it: so the view of everything is always
// kept.
static void keep_whole_view(const fm_relay *relay, fm_host *host)
{
    fm_scene *scene;
    if (relay->hub->config->relay_delay_ticks > 0 && !relay->hub->going_down &&
        fm_scenes_find(host, FM_ALL_TEAMS) == NULL &&
        fm_scenes_open(relay->hub, NULL, host, FM_ALL_TEAMS, true, &scene) == FM_OK) {
        scene->is_kept = true;
    }
}

static void check_world(fm_relay *relay, struct fm_relay_world *world, uint64_t now_ns)
{
    const char *node = fm_feed_node(world->feed);
    if (node[0] != '\0') {
        (void)add_source(relay, node,
                         now_ns); // it may have joined the cluster later than the others
    }
    keep_whole_view(relay, world->host);
    fm_feed_check(world->feed, find_place(relay, world), now_ns);
    show_summary(world);
}

static void check(fm_relay *relay)
{
    uint64_t now_ns = fm_clock_now_ns();
    struct fm_relay_world *next;
    take_jobs(relay);
    for (uint32_t i = 0; i < relay->source_count; i++) {
        check_source(&relay->sources[i], now_ns);
    }
    for (struct fm_relay_world *world = relay->worlds; world != NULL; world = next) {
        next = world->next;
        if (is_gone(relay, world, now_ns)) {
            double tick_hz = world->host->shared.summary.tick_hz;
            fm_feed_run_out(world->feed, tick_hz > TICK_HZ_MIN ? tick_hz : TICK_HZ_MIN, now_ns);
        } else {
            fm_feed_go_on(world->feed);
        }
        bool is_over = fm_feed_has_run_out(world->feed);
        check_world(relay, world, now_ns); // shows what may be shown by now
        if (is_over) {
            end_world(relay, world);
        }
    }
}

static void on_check(uv_timer_t *timer)
{
    check(timer->data);
}

static void on_wake(uv_async_t *async)
{
    check(async->data);
}

// The streams start or stop watching a view. Called from inside the streams.
static void on_watch(fm_hub *hub, fm_job *job)
{
    fm_events_append(&hub->relay->jobs, &job->event);
    if (!hub->relay->closing) {
        uv_async_send(&hub->relay->wake);
    }
}

// ---- beginning and end -------------------------------------------------------------------------

static fm_status read_token(const char *path, char token[FM_UPSTREAM_TOKEN_SIZE], char *error)
{
    token[0] = '\0';
    return path[0] == '\0' ? FM_OK
                           : fm_first_line_read("relay_token_file", path, token,
                                                FM_UPSTREAM_TOKEN_SIZE, error, FM_RELAY_ERROR_SIZE);
}

static fm_status add_sources(fm_relay *relay, const char *addresses, char *error)
{
    char copy[FM_CONFIG_TEXT_MAX + 1], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", addresses);
    for (char *address = strtok_r(copy, ", ", &rest); address != NULL;
         address = strtok_r(NULL, ", ", &rest)) {
        if (!add_source(relay, address, UINT64_MAX)) {
            snprintf(error, FM_RELAY_ERROR_SIZE, "out of memory");
            return FM_ERR_NO_MEMORY;
        }
    }
    if (relay->source_count == 0) {
        snprintf(error, FM_RELAY_ERROR_SIZE, "relay_of names no server");
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

static void set_access(fm_relay *relay, const char *ca_file)
{
    snprintf(relay->ca_file, sizeof relay->ca_file, "%s", ca_file);
    bool is_system = strcmp(ca_file, "system") == 0;
    relay->access = (fm_upstream_access){
        .token = relay->token,
        .tls = ca_file[0] != '\0',
        .ca_file = is_system ? NULL : relay->ca_file,
    };
}

static void destroy_sources(fm_relay *relay)
{
    for (uint32_t i = 0; i < relay->source_count; i++) {
        fm_upstream_destroy(relay->sources[i].upstream);
    }
    relay->source_count = 0;
}

// A relay has no worlds of its own, and connects whenever it needs to.
static const char *what_conflicts(const fm_config *config)
{
    bool has_worlds = config->journal_dir[0] != '\0' || config->cluster_name[0] != '\0';
    return has_worlds ? "relay_of: a relay runs no worlds: journal_dir and cluster_name are for "
                        "servers that do"
                      : NULL;
}

fm_status fm_relay_check(const fm_config *config, char error[FM_RELAY_ERROR_SIZE])
{
    char token[FM_UPSTREAM_TOKEN_SIZE];
    const char *conflict = what_conflicts(config);
    if (conflict != NULL) {
        snprintf(error, FM_RELAY_ERROR_SIZE, "%s", conflict);
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = read_token(config->relay_token_file, token, error);
    sodium_memzero(token, sizeof token);
    return status;
}

fm_status fm_relay_start(fm_hub *hub, char error[FM_RELAY_ERROR_SIZE])
{
    const fm_config *config = hub->config;
    const char *conflict = what_conflicts(config);
    if (conflict != NULL) {
        snprintf(error, FM_RELAY_ERROR_SIZE, "%s", conflict);
        return FM_ERR_BAD_VALUE;
    }
    fm_relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL) {
        snprintf(error, FM_RELAY_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    relay->hub = hub;
    relay->number = fm_scenes_make_stream();
    set_access(relay, config->relay_ca_file);
    fm_status status = read_token(config->relay_token_file, relay->token, error);
    if (status == FM_OK) {
        status = add_sources(relay, config->relay_of, error);
    }
    if (status == FM_OK && uv_async_init(hub->loop, &relay->wake, on_wake) < 0) {
        snprintf(error, FM_RELAY_ERROR_SIZE, "out of descriptors");
        status = FM_ERR_IO;
    }
    if (status != FM_OK) {
        destroy_sources(relay);
        free(relay);
        return status;
    }
    uv_timer_init(hub->loop, &relay->check);
    relay->check.data = relay->wake.data = relay;
    uv_timer_start(&relay->check, on_check, 0, CHECK_PERIOD_MS);
    hub->relay = relay;
    hub->on_watch = on_watch;
    return FM_OK;
}

void fm_relay_reload(fm_hub *hub)
{
    char token[FM_UPSTREAM_TOKEN_SIZE], error[FM_RELAY_ERROR_SIZE];
    const char *path = hub->config->relay_token_file;
    if (hub->relay == NULL || path[0] == '\0') {
        return;
    }
    if (read_token(path, token, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "token of the relay kept as it was", fm_log_text("reason", error));
        return;
    }
    memcpy(hub->relay->token, token, sizeof token);
    sodium_memzero(token, sizeof token);
    fm_log(FM_LOG_INFO, "token of the relay read again", fm_log_text("file", path));
}

void fm_relay_close(fm_relay *relay)
{
    if (relay == NULL || relay->closing) {
        return;
    }
    relay->closing = true;
    uv_close((uv_handle_t *)&relay->check, NULL);
    uv_close((uv_handle_t *)&relay->wake, NULL);
    take_jobs(relay);
    for (struct fm_relay_world *world = relay->worlds; world != NULL; world = world->next) {
        relay->bytes_in_before += fm_feed_bytes_in(world->feed);
        fm_feed_destroy(world->feed);
        world->feed = NULL;
    }
    destroy_sources(relay);
}

void fm_relay_destroy(fm_relay *relay)
{
    if (relay == NULL) {
        return;
    }
    while (relay->jobs.first != NULL) {
        fm_job_destroy((fm_job *)fm_events_pop(&relay->jobs));
    }
    while (relay->worlds != NULL) {
        struct fm_relay_world *world = relay->worlds;
        relay->worlds = world->next;
        fm_hub_drop_host(relay->hub, world->host);
        free_world(world);
    }
    sodium_memzero(relay->token, sizeof relay->token);
    free(relay);
}
