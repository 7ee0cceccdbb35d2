// server/worlds/queries.c: see queries.h.

#include "server/worlds/queries.h"

#include "core/map/view_copy.h"
#include "core/views/inspect.h"
#include "core/world/team_labels.h"
#include "core/world/world_classes.h"
#include "server/base/clock.h"
#include "server/worlds/outbox.h"

#include <stdlib.h>

#define RUNNING_PER_WORKER 2u     // questions that search at the same time
#define LABEL_UNITS        4096u  // work on labels between readings of the clock, and of one job
#define CLASS_CELLS        16384u // of a class's view that are made in that time
#define TRIAL_CELLS_MAX    16384u // cells of searches that the trials of one job list together

// A copy of a map for the jobs that had begun to read it.
struct fm_query_copy {
    fm_view_copy *view;
    uint32_t users; // jobs
};

// ---- making and releasing -----------------------------------------------------------------------

static void release_copy(fm_query_copy *copy)
{
    if (copy != NULL && --copy->users == 0) {
        fm_view_copy_destroy(copy->view);
        free(copy);
    }
}

static const fm_view *view_of(const fm_host *host, const fm_job_query *query)
{
    return fm_world_class_view(host->world, query->team, query->class_index);
}

// ---- the maps that jobs read --------------------------------------------------------------------

// Different maps that begun jobs read. Each is a copy, or will be once the world changes.
struct maps {
    const void *items[FM_HOST_COPIES_MAX]; // a copy or a view
    uint64_t holders[FM_HOST_COPIES_MAX];  // who began to read it
    uint32_t count;
};

static bool reads_map(const fm_job_query *query)
{
    return query->begun && query->unfinished > 0 && (!query->is_detached || query->copy != NULL);
}

static bool is_read(const struct maps *maps, const void *map)
{
    for (uint32_t i = 0; i < maps->count; i++) {
        if (maps->items[i] == map) {
            return true;
        }
    }
    return false;
}

static void note_map(struct maps *maps, const void *map, uint64_t holder)
{
    if (!is_read(maps, map)) {
        FM_ASSERT(maps->count < FM_HOST_COPIES_MAX);
        maps->items[maps->count] = map;
        maps->holders[maps->count++] = holder;
    }
}

static struct maps list_maps(const fm_host *host)
{
    struct maps maps = {.count = 0};
    for (uint32_t i = 0; i < host->queries.count; i++) {
        const fm_job_query *query = &host->queries.jobs[i]->query;
        if (reads_map(query)) {
            const void *map = query->copy;
            note_map(&maps, map != NULL ? map : view_of(host, query), query->asker->holder);
        }
    }
    return maps;
}

// Each may take all places but one, so that nobody's long searches hold up all others.
static bool has_room(const struct maps *maps, const void *map, uint64_t holder)
{
    uint32_t own_count = 0;
    for (uint32_t i = 0; i < maps->count; i++) {
        own_count += maps->holders[i] == holder;
    }
    return is_read(maps, map) ||
           (maps->count < FM_HOST_COPIES_MAX && own_count < FM_HOST_COPIES_MAX - 1);
}

// ---- beginning: what labels say -----------------------------------------------------------------

static void answer_now(fm_job_query *query, fm_query_item *item, fm_query_state state)
{
    item->answer = (fm_query_answer){.state = state, .target = FM_CELL_NONE};
    query->unfinished -= 1;
}

static fm_status begin_pair(fm_job_query *query, uint32_t i, const fm_view *view, fm_labels *labels,
                            uint64_t *units)
{
    fm_query_item *item = &query->items[i];
    fm_cell from = query->cells[2 * i], to = query->cells[2 * i + 1];
    bool connected = fm_labels_connect(labels, from, to);
    if (query->kind == FM_ASK_REACHABLE || (query->kind == FM_ASK_DISTANCE && !connected)) {
        answer_now(query, item, connected ? FM_QUERY_FOUND : FM_QUERY_UNREACHABLE);
        return FM_OK;
    }
    fm_status status =
        fm_query_create(view, from, to, query->expansions_max, &fm_memory_libc, &item->query);
    if (status == FM_OK) {
        fm_query_keep_cells(item->query, query->kind == FM_ASK_DISTANCE ? 0 : FM_PATH_CELLS_MAX);
    }
    if (status == FM_OK && query->planner.ops != NULL) {
        status = fm_query_use_planner(item->query, &query->planner);
    }
    // On large maps with many such questions, the rest search for themselves, on the workers.
    if (status == FM_OK && !connected && *units < LABEL_UNITS) {
        uint32_t label = fm_labels_of(labels, from);
        fm_query_use_substitute(item->query, fm_labels_nearest(labels, to, label, units));
    }
    return status;
}

static fm_status begin_nearest(fm_job_query *query, const fm_view *view, const fm_labels *labels)
{
    fm_cell from = query->cells[0];
    bool any = false;
    for (uint32_t i = 1; i < query->cell_count; i++) {
        any = any || fm_labels_connect(labels, from, query->cells[i]);
    }
    if (!any && !fm_view_is_blocked(view, from)) {
        answer_now(query, &query->items[0], FM_QUERY_UNREACHABLE);
        return FM_OK;
    }
    fm_status status =
        fm_query_create_nearest(view, from, query->cells + 1, query->cell_count - 1,
                                query->expansions_max, &fm_memory_libc, &query->items[0].query);
    if (status == FM_OK) {
        fm_query_keep_cells(query->items[0].query, FM_PATH_CELLS_MAX);
    }
    return status;
}

static fm_status begin_field(fm_job_query *query, const fm_view *view, const fm_labels *labels)
{
    const fm_rect *rect = &query->rect;
    uint32_t reachable = 0;
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            reachable += fm_labels_connect(labels, query->cells[0], fm_cell_at(x, y));
        }
    }
    fm_box box = {.left = (int32_t)rect->x,
                  .top = (int32_t)rect->y,
                  .right = (int32_t)(rect->x + rect->width - 1),
                  .bottom = (int32_t)(rect->y + rect->height - 1)};
    return fm_query_create_field(view, query->cells[0], box, reachable, query->expansions_max,
                                 &fm_memory_libc, &query->items[0].query);
}

static fm_status begin_trials(fm_job_query *query, const fm_view *view)
{
    const fm_rect *rect = &query->rect;
    fm_query_trial trial = {
        .from = query->cells[0],
        .to = query->cells[1],
        .box = {.left = (int32_t)rect->x,
                .top = (int32_t)rect->y,
                .right = (int32_t)(rect->x + rect->width - 1),
                .bottom = (int32_t)(rect->y + rect->height - 1)},
        .cells_max = query->has_rect ? TRIAL_CELLS_MAX / query->item_count : 0,
    };
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < query->item_count; i++) {
        fm_query_item *item = &query->items[i];
        trial.spec = &query->planners[i];
        status = fm_query_create_trial(view, &trial, query->expansions_max, &fm_memory_libc,
                                       &item->query);
        if (status == FM_ERR_BAD_VALUE) {
            item->is_unfit = true;
            answer_now(query, item, FM_QUERY_UNREACHABLE);
            status = FM_OK;
        }
    }
    return status;
}

// All questions of a job, whole or not at all. `labels` are up to date.
static fm_status begin_items(fm_job_query *query, const fm_view *view, fm_labels *labels)
{
    fm_status status = FM_OK;
    uint64_t units = 0;
    query->unfinished = query->item_count;
    switch (query->kind) {
    case FM_ASK_PATH:
    case FM_ASK_DISTANCE:
    case FM_ASK_REACHABLE:
        for (uint32_t i = 0; status == FM_OK && i < query->item_count; i++) {
            query->failed_index = i;
            status = begin_pair(query, i, view, labels, &units);
        }
        return status;
    case FM_ASK_NEAREST:
        return begin_nearest(query, view, labels);
    case FM_ASK_FIELD:
        return begin_field(query, view, labels);
    case FM_ASK_TRIAL:
        return begin_trials(query, view);
    }
    FM_UNREACHABLE();
}

// Reads the trial agent's knowledge, position and goal.
static fm_status look_up_agent(const fm_host *host, fm_job_query *query)
{
    fm_agent_report report;
    fm_status status = fm_world_inspect(host->world, query->agent, &report);
    if (status != FM_OK) {
        return status;
    }
    query->team = report.team;
    query->class_index = report.class_index;
    query->cells[0] = report.cell;
    query->cells[1] = query->goal != FM_CELL_NONE ? query->goal : report.goal;
    return query->cells[1] == FM_CELL_NONE ? FM_ERR_NOT_READY : FM_OK;
}

// Each time: a replay may have another world by now, without the team or the agent, or none.
// Makes a view that nobody has needed so far, or as much of it as there is time for: one part at
// least, but no other job's after that.
//
// @param is_late  set when there is no more time for parts of views
static fm_status find_view(fm_host *host, fm_job_query *query, uint64_t deadline_ns, bool *is_late)
{
    if (host->world == NULL) {
        return FM_ERR_IO;
    }
    if (query->kind == FM_ASK_TRIAL) {
        fm_status status = look_up_agent(host, query);
        if (status != FM_OK) {
            return status;
        }
    }
    if (*is_late && query->class_index < fm_world_rules_get(host->world)->class_count &&
        view_of(host, query) == NULL) {
        return FM_OK;
    }
    // Call before any query on a map that this changes: others may be reading it.
    fm_status status;
    do {
        status =
            fm_world_prepare_class_part(host->world, query->team, query->class_index, CLASS_CELLS);
    } while (status == FM_OK && view_of(host, query) == NULL && fm_clock_now_ns() < deadline_ns);
    *is_late = *is_late || (status == FM_OK && view_of(host, query) == NULL);
    return status;
}

// Brings labels up to date, and begins the job once they are and `maps` has room for its own. What
// labels alone answer needs no map.
static fm_status begin_job(fm_host *host, fm_job *job, struct maps *maps, uint64_t deadline_ns,
                           bool *is_late)
{
    fm_job_query *query = &job->query;
    fm_status found = find_view(host, query, deadline_ns, is_late);
    const fm_view *view = found == FM_OK ? view_of(host, query) : NULL;
    if (view == NULL) {
        return found;
    }
    if (query->kind != FM_ASK_REACHABLE && !has_room(maps, view, query->asker->holder)) {
        return FM_OK;
    }
    fm_labels *labels = fm_team_labels_for_queries(host->world, query->team, query->class_index);
    if (labels == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    while (!fm_labels_are_current(labels)) {
        uint64_t units = 0;
        fm_status status = fm_labels_update(labels, LABEL_UNITS, &units);
        if (status != FM_OK) {
            return status;
        }
        if (fm_clock_now_ns() >= deadline_ns) {
            break;
        }
    }
    if (!fm_labels_are_current(labels)) {
        return FM_OK;
    }
    query->begun = true;
    query->tick = host->tick;
    fm_status status = begin_items(query, view, labels);
    if (status == FM_OK && reads_map(query)) {
        note_map(maps, view, query->asker->holder);
    }
    return status;
}

static uint32_t count_items(const fm_job_query *query)
{
    switch (query->kind) {
    case FM_ASK_PATH:
    case FM_ASK_DISTANCE:
    case FM_ASK_REACHABLE:
        return query->cell_count / 2;
    case FM_ASK_NEAREST:
    case FM_ASK_FIELD:
        return 1;
    case FM_ASK_TRIAL:
        return query->planner_count;
    }
    FM_UNREACHABLE();
}

// Nobody has more jobs here than there are places left. So each gets some, and one that is alone
// half of all.
static bool has_place(const fm_host *host, const fm_asker *asker)
{
    uint32_t own_count = 0;
    for (uint32_t i = 0; i < host->queries.count; i++) {
        own_count += host->queries.jobs[i]->query.asker->holder == asker->holder;
    }
    return own_count < FM_HOST_QUERIES_MAX - host->queries.count;
}

fm_status fm_queries_take(fm_host *host, fm_job *job)
{
    fm_job_query *query = &job->query;
    if (!has_place(host, query->asker)) {
        return FM_ERR_BUSY;
    }
    query->item_count = count_items(query);
    query->items = calloc(query->item_count, sizeof *query->items);
    if (query->items == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    // One piece of work on labels is nearly always enough; the rest waits for idle time.
    struct maps maps = list_maps(host);
    bool is_late = host->queries.count > 0;
    fm_status status = begin_job(host, job, &maps, 0, &is_late);
    if (status == FM_OK) {
        host->queries.jobs[host->queries.count++] = job;
    }
    return status;
}

// ---- copies -------------------------------------------------------------------------------------

static fm_query_copy *make_copy(const fm_view *view)
{
    fm_query_copy *copy = calloc(1, sizeof *copy);
    if (copy != NULL && fm_view_copy_create(view, &fm_memory_libc, &copy->view) != FM_OK) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

// Moves a job to a copy of its map. When out of memory the questions are answered as exhausted.
static void use_copy(fm_job_query *query, fm_query_copy *copy)
{
    for (uint32_t i = 0; i < query->item_count; i++) {
        fm_query *item = query->items[i].query;
        if (item != NULL && copy != NULL) {
            fm_query_move(item, &copy->view->view);
        } else if (item != NULL) {
            fm_query_give_up(item);
        }
    }
    query->is_detached = true;
    query->copy = copy;
    if (copy != NULL) {
        copy->users += 1;
    }
}

void fm_queries_detach(fm_host *host)
{
    for (uint32_t i = 0; i < host->queries.count; i++) {
        fm_job_query *query = &host->queries.jobs[i]->query;
        if (!reads_map(query) || query->is_detached) {
            continue;
        }
        fm_query_copy *copy = make_copy(view_of(host, query));
        use_copy(query, copy);
        for (uint32_t k = i + 1; copy != NULL && k < host->queries.count; k++) {
            fm_job_query *other = &host->queries.jobs[k]->query;
            if (reads_map(other) && !other->is_detached &&
                view_of(host, other) == view_of(host, query)) {
                use_copy(other, copy);
            }
        }
    }
}

// ---- searching ----------------------------------------------------------------------------------

struct search {
    fm_query_item *running[RUNNING_PER_WORKER * FM_WORKERS_MAX];
    uint64_t holders[RUNNING_PER_WORKER * FM_WORKERS_MAX];
    uint32_t count, count_max;
    fm_scratch *scratches; // by worker
    uint64_t deadline_ns;
};

static bool deadline_passed(void *context)
{
    const struct search *search = context;
    return fm_clock_now_ns() >= search->deadline_ns;
}

static void search_range(uint32_t begin, uint32_t end, uint32_t worker, void *context)
{
    struct search *search = context;
    for (uint32_t i = begin; i < end; i++) {
        fm_work work = {
            .expansions_max = UINT32_MAX,
            .scratch = &search->scratches[worker],
            .deadline = {.passed = deadline_passed, .context = search},
        };
        fm_query_item *item = search->running[i];
        uint64_t start_ns = fm_clock_now_ns();
        item->answer.state = fm_query_advance(item->query, &work);
        item->work_ns += fm_clock_now_ns() - start_ns;
    }
}

static uint32_t running_of(const struct search *search, uint64_t holder)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        count += search->holders[i] == holder;
    }
    return count;
}

static bool is_listed(const struct search *search, const fm_query_item *item)
{
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->running[i] == item) {
            return true;
        }
    }
    return false;
}

// Adds the job's questions as long as who asks has fewer than `share` that run.
static void list_items(struct search *search, const fm_job *job, uint32_t share)
{
    const fm_job_query *query = &job->query;
    for (uint32_t i = 0; i < query->item_count && search->count < search->count_max; i++) {
        fm_query_item *item = &query->items[i];
        if (running_of(search, query->asker->holder) >= share) {
            return;
        }
        if (item->query != NULL && item->answer.state == FM_QUERY_RUNNING &&
            !is_listed(search, item)) {
            search->holders[search->count] = query->asker->holder;
            search->running[search->count++] = item;
        }
    }
}

static void list_running(struct search *search, const fm_host *host)
{
    search->count = 0;
    uint32_t before = UINT32_MAX;
    for (uint32_t share = 1; search->count < search->count_max && search->count != before;
         share++) {
        before = share == 1 ? UINT32_MAX : search->count;
        for (uint32_t i = 0; i < host->queries.count; i++) {
            if (host->queries.jobs[i]->query.begun) {
                list_items(search, host->queries.jobs[i], share);
            }
        }
    }
}

// Takes the answer over. A path for which there is no room with the others is left out.
static void take_answer(fm_job_query *query, fm_query_item *item)
{
    item->answer = fm_query_result(item->query);
    if (item->answer.cell_count > FM_PATH_CELLS_MAX - query->path_cells) {
        fm_query_drop_cells(item->query);
        item->answer = fm_query_result(item->query);
    }
    query->path_cells += item->answer.cell_count;
    if (item->answer.cells_dropped && query->kind != FM_ASK_DISTANCE) {
        item->answer.state = FM_QUERY_LIMIT;
    }
    item->is_done = true;
    query->unfinished -= 1;
}

static bool is_finished(fm_job_query *query)
{
    for (uint32_t i = 0; i < query->item_count; i++) {
        fm_query_item *item = &query->items[i];
        if (item->query != NULL && item->answer.state != FM_QUERY_RUNNING && !item->is_done) {
            take_answer(query, item);
        }
    }
    return query->unfinished == 0;
}

static bool is_wanted(const fm_job_query *query)
{
    return !atomic_load(&query->asker->is_gone);
}

// Begins jobs that wait, gives back those that are done or that nobody waits for, and keeps the
// others in their order. While a replay is between two ticks that were asked for, none begins.
static void turn_over(fm_mailbox *mailbox, fm_host *host, uint64_t deadline_ns)
{
    uint32_t kept = 0;
    struct maps maps = list_maps(host);
    bool is_late = false;
    for (uint32_t i = 0; i < host->queries.count; i++) {
        fm_job *job = host->queries.jobs[i];
        fm_status status = !is_wanted(&job->query) ? FM_ERR_NOT_READY // which nobody sees
                           : job->query.begun || fm_host_is_seeking(host)
                               ? FM_OK
                               : begin_job(host, job, &maps, deadline_ns, &is_late);
        if (status == FM_OK && (!job->query.begun || !is_finished(&job->query))) {
            host->queries.jobs[kept++] = job;
        } else {
            release_copy(job->query.copy);
            job->query.copy = NULL;
            fm_outbox_finish(mailbox, job, status);
        }
    }
    host->queries.count = kept;
}

bool fm_queries_search(fm_mailbox *mailbox, fm_host *host, fm_workers *workers,
                       fm_scratch *scratches, uint64_t deadline_ns)
{
    struct search search = {.count_max = RUNNING_PER_WORKER * fm_workers_count(workers),
                            .scratches = scratches,
                            .deadline_ns = deadline_ns};
    turn_over(mailbox, host, deadline_ns);
    while (host->queries.count > 0 && !deadline_passed(&search)) {
        list_running(&search, host);
        if (search.count == 0 && fm_host_is_seeking(host)) {
            return false;
        }
        fm_workers_run(workers, search.count, 1, search_range, &search);
        turn_over(mailbox, host, deadline_ns);
    }
    return host->queries.count > 0;
}

void fm_queries_abandon(fm_mailbox *mailbox, fm_host *host, fm_status status)
{
    uint32_t query_count = host->queries.count;
    host->queries.count = 0;
    for (uint32_t i = 0; i < query_count; i++) {
        release_copy(host->queries.jobs[i]->query.copy);
        host->queries.jobs[i]->query.copy = NULL;
        fm_outbox_finish(mailbox, host->queries.jobs[i], status);
    }
}
