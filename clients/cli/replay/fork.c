// clients/cli/replay/fork.c: `replay fork`: replays the same commands with another planner or
// another budget.
//
// Two worlds go side by side from the same tick: the recorded one is replayed, the other one is
// given the same commands, and its own ticks. With the recorded budget it gets the recorded number
// of expansions and no deadline, so its outcome is the same on every machine; with --budget-ms the
// server's own pacer turns milliseconds of this machine into expansions.

#include "clients/cli/base/report.h"
#include "clients/cli/replay/journals.h"
#include "clients/cli/replay/progress.h"
#include "clients/cli/replay/replay.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/saves/experiment.h"
#include "core/saves/settle.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/words.h"
#include "server/base/pacer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Ids of orders that one command gave.
struct given {
    uint64_t first, count;
    uint64_t tick; // the first that they take part in
};

// One of the two worlds, and its results.
struct side {
    fm_cli *cli;
    fm_world *world;
    struct given *given; // by id
    uint32_t given_count, given_capacity;
    uint32_t *arrivals; // ticks from order to arrival
    uint32_t arrival_count, arrival_capacity;
    uint32_t *tick_us; // how long each tick took
    uint32_t tick_count, tick_capacity;
    uint64_t ended[FM_END_COUNT];
    uint64_t moves, expansions;
    uint64_t refused;                    // commands
    uint64_t agent_ticks, waiting_ticks; // sums over ticks
    uint64_t last_arrival;               // tick
};

struct fork {
    fm_cli *cli;
    fm_workers *workers;
    fm_replay *replay; // of the recorded side
    struct side sides[2];
    uint64_t from, to; // ticks completed
    fm_planner_spec planner;
    bool has_planner;
    double budget_ms; // 0: as recorded
    fm_pacer pacer;
    uint32_t kept;    // agents that the planner cannot serve
    uint32_t bridged; // ticks in which the recorded run's searches are not known
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns_for_stages(void *context)
{
    (void)context;
    return now_ns();
}

static bool deadline_passed(void *context)
{
    const fm_pace *pace = context;
    return now_ns() >= pace->deadline_ns;
}

// ---- what comes of a world ---------------------------------------------------------------------

static void append(const fm_cli *cli, uint32_t **list, uint32_t *count, uint32_t *capacity,
                   uint64_t value)
{
    fm_cli_reserve(cli, (void **)list, capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void note_given(struct side *side, const fm_command *command,
                       const fm_command_result *result, uint64_t tick)
{
    side->refused += result->status != FM_OK;
    if (result->status != FM_OK || command->kind != FM_COMMAND_ORDER || result->first_order == 0) {
        return;
    }
    fm_cli_reserve(side->cli, (void **)&side->given, &side->given_capacity, side->given_count + 1,
                   sizeof *side->given);
    side->given[side->given_count++] =
        (struct given){.first = result->first_order, .count = command->agent_count, .tick = tick};
}

// When an order was given; orders from before the fork count from there.
static uint64_t tick_given(const struct side *side, uint64_t order, uint64_t fork_tick)
{
    uint32_t low = 0, high = side->given_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (side->given[middle].first + side->given[middle].count <= order) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < side->given_count && side->given[low].first <= order ? side->given[low].tick
                                                                      : fork_tick + 1;
}

static void note_tick(struct side *side, const fm_tick_report *report, uint64_t us,
                      uint64_t fork_tick)
{
    uint64_t tick = report->record.tick;
    fm_changes changes = fm_world_changes(side->world, FM_ALL_TEAMS);
    for (uint32_t i = 0; i < changes.ended_count; i++) {
        const fm_order_ended *ended = &changes.ended[i];
        side->ended[ended->reason]++;
        if (ended->reason == FM_END_ARRIVED) {
            append(side->cli, &side->arrivals, &side->arrival_count, &side->arrival_capacity,
                   tick + 1 - tick_given(side, ended->order, fork_tick));
            side->last_arrival = tick;
        }
    }
    fm_world_counts counts;
    fm_world_counts_get(side->world, &counts);
    side->agent_ticks += counts.agents;
    side->waiting_ticks += counts.agents_by_state[FM_AGENT_WAITING];
    side->moves += report->moved_count;
    side->expansions += report->expansions;
    append(side->cli, &side->tick_us, &side->tick_count, &side->tick_capacity, us);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

// The value below which `permille` of a sorted list are; 0 of an empty one.
static uint32_t quantile(const uint32_t *sorted, uint32_t count, uint32_t permille)
{
    return count == 0 ? 0 : sorted[(uint64_t)(count - 1) * permille / 1000];
}

// ---- continuing ---------------------------------------------------------------------------------

static void apply(struct fork *fork, const fm_command *recorded, uint64_t tick)
{
    struct side *side = &fork->sides[1];
    fm_command command = *recorded;
    fm_command_result result = {.status = FM_OK};
    bool takes_planner = command.kind == FM_COMMAND_TEAM || command.kind == FM_COMMAND_SPAWN;
    if (fork->has_planner && takes_planner) {
        command.planner = fork->planner;
        fm_world_apply(side->world, &command, &result);
        if (result.status == FM_OK) {
            return;
        }
        command.planner = recorded->planner; // a class that it cannot serve
        result = (fm_command_result){.status = FM_OK};
    }
    fm_world_apply(side->world, &command, &result);
    note_given(side, &command, &result, tick);
}

static void run_tick(struct fork *fork, const fm_tick_record *record)
{
    struct side *side = &fork->sides[1];
    fm_tick_report report;
    uint64_t begin_ns = now_ns();
    if (fork->budget_ms == 0) {
        fm_tick_run(side->world, fork->workers, record->expansions_budget, NULL, &report);
    } else {
        fm_pace pace = fm_pacer_begin_step(&fork->pacer, begin_ns);
        fm_tick_clock clock = {.deadline = {.passed = deadline_passed, .context = &pace},
                               .now_ns = now_ns_for_stages};
        fm_tick_run(side->world, fork->workers, pace.expansions, &clock, &report);
        fm_pacer_end(&fork->pacer, &pace, &report, now_ns());
    }
    note_tick(side, &report, (now_ns() - begin_ns) / 1000, fork->from);
}

static void watch(const struct fork *fork, fm_world *world)
{
    if (fm_world_watch(world, FM_ALL_TEAMS, true) != FM_OK) {
        fm_cli_die(fork->cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
}

// Memory ran out in the recorded run, and the replay has another world now. What that run searched
// in the tick is not known; the fork runs it with the recorded grants.
static void cross_bridge(struct fork *fork, const fm_tick_record *record)
{
    struct side *recorded = &fork->sides[0];
    fm_world_counts counts;
    fm_world_counts_get(fork->sides[1].world, &counts);
    recorded->world = fm_replay_world(fork->replay);
    watch(fork, recorded->world);
    if (record->tick > counts.tick) {
        run_tick(fork, record);
        fork->bridged++;
    }
    fm_world_settle(fork->sides[1].world);
}

static void follow(struct fork *fork, const fm_replay_step *step, uint64_t us)
{
    struct side *recorded = &fork->sides[0];
    switch (step->row.kind) {
    case FM_JOURNAL_COMMAND:
        note_given(recorded, step->command, &step->result, step->row.tick);
        apply(fork, step->command, step->row.tick);
        break;
    case FM_JOURNAL_TICK:
        note_tick(recorded, step->report, us, fork->from);
        run_tick(fork, &step->report->record);
        break;
    case FM_JOURNAL_KEYFRAME:
        fm_world_settle(fork->sides[1].world); // as the recorded run had to start over
        break;
    case FM_JOURNAL_GAP:
        if (step->bridged.tick > 0) {
            cross_bridge(fork, &step->bridged);
            break;
        }
        fm_cli_die(fork->cli, "%s: ticks behind %llu were not written; --ticks %llu ends there",
                   fork->cli->arguments[1], (unsigned long long)step->row.tick,
                   (unsigned long long)(step->row.tick - fork->from));
    case FM_JOURNAL_PACE:
        break;
    }
}

static void go(struct fork *fork)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    fm_cli_progress progress = fm_cli_progress_begin(fork->cli, fork->from, fork->to);
    fm_replay_step step;
    bool more = true;
    while (more && fm_replay_position(fork->replay) < fork->to) {
        fm_cli_progress_at(&progress, fm_replay_position(fork->replay));
        uint64_t begin_ns = now_ns();
        if (fm_replay_step_next(fork->replay, fork->workers, &step, &more, error) != FM_OK) {
            fm_cli_progress_end(&progress);
            fm_cli_die(fork->cli, "%s", error);
        }
        if (more) {
            follow(fork, &step, (now_ns() - begin_ns) / 1000);
        }
    }
    fm_cli_progress_end(&progress);
}

// ---- results -----------------------------------------------------------------------------------

// One line of the table: a name and both sides' numbers.
static void print_row(const char *name, const char *recorded, const char *forked)
{
    printf("%-28s %16s %16s\n", name, recorded, forked);
}

static void print_real_row(const char *name, double recorded, double forked)
{
    char texts[2][32];
    snprintf(texts[0], sizeof texts[0], "%.2f", recorded);
    snprintf(texts[1], sizeof texts[1], "%.2f", forked);
    print_row(name, texts[0], texts[1]);
}

static void print_count_row(const char *name, uint64_t recorded, uint64_t forked)
{
    print_row(name, fm_report_grouped(recorded), fm_report_grouped(forked));
}

// Of orders that arrived: nothing where none did.
static void print_arrival_row(const char *name, const struct fork *fork, const uint64_t values[2])
{
    const char *texts[2];
    for (uint32_t i = 0; i < 2; i++) {
        texts[i] = fork->sides[i].arrival_count == 0 ? "-" : fm_report_grouped(values[i]);
    }
    print_row(name, texts[0], texts[1]);
}

static void print_arrivals(const struct fork *fork)
{
    const struct side *a = &fork->sides[0], *b = &fork->sides[1];
    const uint64_t p50[2] = {quantile(a->arrivals, a->arrival_count, 500),
                             quantile(b->arrivals, b->arrival_count, 500)};
    const uint64_t p99[2] = {quantile(a->arrivals, a->arrival_count, 990),
                             quantile(b->arrivals, b->arrival_count, 990)};
    const uint64_t last[2] = {a->last_arrival, b->last_arrival};
    print_arrival_row("ticks to arrive, p50", fork, p50);
    print_arrival_row("ticks to arrive, p99", fork, p99);
    print_arrival_row("last arrival in tick", fork, last);
}

static double waiting_percent(const struct side *side)
{
    return side->agent_ticks == 0 ? 0
                                  : 100.0 * (double)side->waiting_ticks / (double)side->agent_ticks;
}

static double tick_ms(const struct side *side, uint32_t permille)
{
    return quantile(side->tick_us, side->tick_count, permille) / 1000.0;
}

static void print_table(const struct fork *fork)
{
    const struct side *a = &fork->sides[0], *b = &fork->sides[1];
    printf("ticks %llu to %llu\n", (unsigned long long)fork->from + 1,
           (unsigned long long)fork->to);
    print_row("", "RECORDED", "FORK");
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        if (i == FM_END_ARRIVED || a->ended[i] > 0 || b->ended[i] > 0) {
            char name[48];
            snprintf(name, sizeof name, "orders %s", fm_order_end_names[i]);
            print_count_row(name, a->ended[i], b->ended[i]);
        }
    }
    print_arrivals(fork);
    print_count_row("moves", a->moves, b->moves);
    print_count_row("expansions", a->expansions, b->expansions);
    print_real_row("ms per tick here, p50", tick_ms(a, 500), tick_ms(b, 500));
    print_real_row("ms per tick here, p99", tick_ms(a, 990), tick_ms(b, 990));
    print_real_row("agents waiting, %", waiting_percent(a), waiting_percent(b));
    if (a->refused > 0 || b->refused > 0) {
        print_count_row("commands refused", a->refused, b->refused);
    }
    if (fork->bridged > 0) {
        printf(
            "Memory ran out in %s of the recorded ticks: what was done in them is not counted.\n",
            fm_report_grouped(fork->bridged));
    }
    if (fork->kept > 0) {
        printf("%s agents keep their planner: the other one cannot lead their class here.\n",
               fm_report_grouped(fork->kept));
    }
}

static void print_json_side(const char *name, const struct side *side)
{
    printf(",\"%s\":{\"orders_ended\":{", name);
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        printf("%s\"%s\":%llu", i == 0 ? "" : ",", fm_order_end_names[i],
               (unsigned long long)side->ended[i]);
    }
    printf("},\"ticks_to_arrive\":{\"p50\":%u,\"p99\":%u},\"last_arrival\":%llu,\"moves\":%llu,"
           "\"expansions\":%llu,\"tick_ms\":{\"p50\":%.3f,\"p99\":%.3f},\"waiting_percent\":%.3f,"
           "\"refused\":%llu}",
           quantile(side->arrivals, side->arrival_count, 500),
           quantile(side->arrivals, side->arrival_count, 990),
           (unsigned long long)side->last_arrival, (unsigned long long)side->moves,
           (unsigned long long)side->expansions, tick_ms(side, 500), tick_ms(side, 990),
           waiting_percent(side), (unsigned long long)side->refused);
}

static void print_json(const struct fork *fork)
{
    printf("{\"from\":%llu,\"to\":%llu,\"workers\":%u,\"kept_planner\":%u,"
           "\"bridged\":%u",
           (unsigned long long)fork->from, (unsigned long long)fork->to,
           fm_workers_count(fork->workers), fork->kept, fork->bridged);
    print_json_side("recorded", &fork->sides[0]);
    print_json_side("fork", &fork->sides[1]);
    puts("}");
}

// ---- the action --------------------------------------------------------------------------------

static void read_options(struct fork *fork)
{
    const fm_cli *cli = fork->cli;
    const char *planner = fm_cli_value(cli, "planner");
    char wrong[FM_ERROR_TEXT_SIZE];
    fork->has_planner = planner != NULL;
    if (planner != NULL &&
        fm_planner_spec_parse(planner, &fork->planner, wrong, sizeof wrong) != FM_OK) {
        fm_cli_usage_error(cli, "--planner: %s", wrong);
    }
    fork->budget_ms = fm_cli_real(cli, "budget-ms", 0.05, 10000, 0);
    if (!fork->has_planner && fork->budget_ms == 0) {
        fm_cli_usage_error(cli, "one of --planner and --budget-ms is needed");
    }
    fork->from = fm_replay_tick_argument(cli, 2);
}

// The second world, which leaves the recorded path.
static void branch_off(struct fork *fork)
{
    const char *path = fork->cli->arguments[1];
    fm_replay *other = fm_replay_open_or_die(fork->cli, path);
    fm_replay_seek_or_die(fork->cli, other, fork->from, fork->workers);
    fork->sides[1].world = fm_replay_take_world(other);
    fm_replay_close_opened(other);
    if (fork->has_planner &&
        fm_world_use_planner(fork->sides[1].world, &fork->planner, &fork->kept) != FM_OK) {
        fm_cli_die(fork->cli, "--planner: %s cannot work by the rules of this world, or on its map",
                   fork->planner.ops->name);
    }
    fm_journal_pace pace = fm_replay_pace(fork->replay);
    fm_pacer_init(&fork->pacer, pace.tick_hz, fork->budget_ms == 0 ? 1 : fork->budget_ms,
                  FM_OVERLOAD_SLIP, now_ns());
}

static void end_side(struct side *side)
{
    free(side->given);
    free(side->arrivals);
    free(side->tick_us);
}

int fm_replay_fork(fm_cli *cli)
{
    static struct fork fork; // large
    fork.cli = fork.sides[0].cli = fork.sides[1].cli = cli;
    read_options(&fork);
    fork.replay = fm_replay_open_or_die(cli, cli->arguments[1]);
    uint64_t last = fm_replay_info(fork.replay)->last_tick;
    uint64_t ticks = fm_cli_uint(cli, "ticks", 1, INT64_MAX, INT64_MAX);
    fork.workers = fm_replay_workers(cli);
    fm_replay_seek_or_die(cli, fork.replay, fork.from, fork.workers);
    if (fork.from == last) {
        fm_cli_die(cli, "%s: nothing is recorded behind tick %llu, the last one", cli->arguments[1],
                   (unsigned long long)last);
    }
    fork.to = ticks > last - fork.from ? last : fork.from + ticks;
    branch_off(&fork);
    fork.sides[0].world = fm_replay_world(fork.replay);
    for (int i = 0; i < 2; i++) {
        watch(&fork, fork.sides[i].world);
    }
    go(&fork);
    for (int i = 0; i < 2; i++) {
        struct side *side = &fork.sides[i];
        qsort(side->arrivals, side->arrival_count, sizeof *side->arrivals, compare_numbers);
        qsort(side->tick_us, side->tick_count, sizeof *side->tick_us, compare_numbers);
    }
    if (cli->json) {
        print_json(&fork);
    } else {
        print_table(&fork);
    }
    fm_world_destroy(fork.sides[1].world);
    end_side(&fork.sides[0]);
    end_side(&fork.sides[1]);
    fm_replay_close_opened(fork.replay);
    fm_workers_destroy(fork.workers);
    return 0;
}
