// clients/cli/replay/world_diff.c: see world_diff.h. Compares what core/world/world.h exposes of a
// world, so differences have names that people know; the state of searches shows only in their
// counters.

#include "clients/cli/replay/world_diff.h"

#include "core/saves/experiment.h"
#include "core/views/inspect.h"
#include "core/views/view_delta.h"
#include "core/world/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct comparison {
    fm_world *const *worlds;
    fm_difference *differences;
    uint32_t capacity;
    uint64_t total;
    // Of what is compared now.
    fm_difference_kind kind;
    uint64_t id;
    fm_cell cell;
};

const char *fm_difference_kind_name(fm_difference_kind kind)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_DIFFERENCE_LIST(X)
#undef X
    };
    return names[kind];
}

static void compare_texts(struct comparison *c, const char *field, const char *a, const char *b)
{
    if (strcmp(a, b) == 0) {
        return;
    }
    if (c->total < c->capacity) {
        fm_difference *difference = &c->differences[c->total];
        *difference = (fm_difference){.kind = c->kind, .id = c->id, .cell = c->cell};
        snprintf(difference->field, sizeof difference->field, "%s", field);
        snprintf(difference->values[0], sizeof difference->values[0], "%s", a);
        snprintf(difference->values[1], sizeof difference->values[1], "%s", b);
    }
    c->total++;
}

static void compare_numbers(struct comparison *c, const char *field, uint64_t a, uint64_t b)
{
    if (a != b) {
        char texts[2][24];
        snprintf(texts[0], sizeof texts[0], "%" PRIu64, a);
        snprintf(texts[1], sizeof texts[1], "%" PRIu64, b);
        compare_texts(c, field, texts[0], texts[1]);
    }
}

static void format_cell(fm_cell cell, char *text, size_t size)
{
    if (cell == FM_CELL_NONE) {
        snprintf(text, size, "none");
    } else {
        snprintf(text, size, "%u,%u", fm_cell_x(cell), fm_cell_y(cell));
    }
}

static void compare_cells(struct comparison *c, const char *field, fm_cell a, fm_cell b)
{
    char texts[2][24];
    format_cell(a, texts[0], sizeof texts[0]);
    format_cell(b, texts[1], sizeof texts[1]);
    compare_texts(c, field, texts[0], texts[1]);
}

// ---- agents ------------------------------------------------------------------------------------

static void compare_queues(struct comparison *c, const fm_agent_report *a, const fm_agent_report *b)
{
    compare_numbers(c, "orders that wait", a->queue_count, b->queue_count);
    for (uint32_t i = 0; i < a->queue_count && i < b->queue_count; i++) {
        compare_numbers(c, "order that waits", a->queue_orders[i], b->queue_orders[i]);
        compare_texts(c, "kind of order that waits", fm_order_kind_names[a->queue_kinds[i]],
                      fm_order_kind_names[b->queue_kinds[i]]);
    }
}

static void compare_reports(struct comparison *c, const fm_agent_report *a,
                            const fm_agent_report *b)
{
    compare_cells(c, "cell", a->cell, b->cell);
    compare_texts(c, "state", fm_agent_state_names[a->state], fm_agent_state_names[b->state]);
    compare_numbers(c, "team", a->team, b->team);
    compare_numbers(c, "class", a->class_index, b->class_index);
    compare_numbers(c, "order", a->order, b->order);
    if (a->has_order && b->has_order) {
        compare_texts(c, "kind", fm_order_kind_names[a->order_kind],
                      fm_order_kind_names[b->order_kind]);
        compare_numbers(c, "on_unreachable", a->on_unreachable, b->on_unreachable);
    }
    compare_cells(c, "goal", a->goal, b->goal);
    compare_cells(c, "substitute", a->goal_substitute, b->goal_substitute);
    compare_numbers(c, "target", fm_agent_id_pack(a->target), fm_agent_id_pack(b->target));
    compare_queues(c, a, b);
    compare_texts(c, "planner", a->planner, b->planner);
    compare_numbers(c, "plan", a->plan_state, b->plan_state);
    compare_numbers(c, "sharers", a->planner_agents, b->planner_agents);
    compare_numbers(c, "expansions of its planner", a->planner_expansions, b->planner_expansions);
    compare_numbers(c, "replans", a->replans, b->replans);
    compare_numbers(c, "moves", a->moves, b->moves);
}

// A list of all agents, by slot.
struct census {
    fm_agent_look *agents;
    uint32_t count;
};

static fm_status take_census(fm_world *world, struct census *census)
{
    fm_status status = fm_world_watch(world, FM_ALL_TEAMS, true);
    if (status != FM_OK) {
        return status;
    }
    census->count = fm_world_agents_in_view(world, FM_ALL_TEAMS, NULL, 0);
    census->agents = calloc((size_t)census->count + 1, sizeof *census->agents);
    if (census->agents != NULL) {
        fm_world_agents_in_view(world, FM_ALL_TEAMS, census->agents, census->count);
    }
    (void)!fm_world_watch(world, FM_ALL_TEAMS, false); // nothing can fail in that
    return census->agents == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

static void compare_agent(struct comparison *c, fm_agent_id id, bool first, bool second)
{
    c->id = fm_agent_id_pack(id);
    if (!first || !second) {
        compare_texts(c, "existence", first ? "alive" : "not there",
                      second ? "alive" : "not there");
        return;
    }
    fm_agent_report a, b;
    if (fm_world_describe(c->worlds[0], id, &a) == FM_OK &&
        fm_world_describe(c->worlds[1], id, &b) == FM_OK) {
        compare_reports(c, &a, &b);
    }
}

static int compare_ids(fm_agent_id a, fm_agent_id b)
{
    return a.index1 != b.index1           ? (a.index1 > b.index1) - (a.index1 < b.index1)
           : a.generation != b.generation ? (a.generation > b.generation) * 2 - 1
                                          : 0;
}

static void compare_censuses(struct comparison *c, const struct census *a, const struct census *b)
{
    c->kind = FM_DIFFERENCE_AGENT;
    for (uint32_t i = 0, k = 0; i < a->count || k < b->count;) {
        int order = i == a->count   ? 1
                    : k == b->count ? -1
                                    : compare_ids(a->agents[i].id, b->agents[k].id);
        fm_agent_id id = order <= 0 ? a->agents[i].id : b->agents[k].id;
        compare_agent(c, id, order <= 0, order >= 0);
        i += order <= 0;
        k += order >= 0;
    }
}

static fm_status compare_agents(struct comparison *c)
{
    struct census censuses[2] = {{.agents = NULL}, {.agents = NULL}};
    fm_status status = take_census(c->worlds[0], &censuses[0]);
    if (status == FM_OK) {
        status = take_census(c->worlds[1], &censuses[1]);
    }
    if (status == FM_OK) {
        compare_censuses(c, &censuses[0], &censuses[1]);
    }
    free(censuses[0].agents);
    free(censuses[1].agents);
    return status;
}

// ---- the rest ----------------------------------------------------------------------------------

static fm_status compare_teams(struct comparison *c)
{
    uint32_t counts[2];
    fm_team_counts *teams[2];
    for (int i = 0; i < 2; i++) {
        counts[i] = fm_world_team_counts(c->worlds[i], NULL, 0);
        teams[i] = calloc((size_t)counts[i] + 1, sizeof *teams[i]);
    }
    bool good = teams[0] != NULL && teams[1] != NULL;
    for (int i = 0; good && i < 2; i++) {
        fm_world_team_counts(c->worlds[i], teams[i], counts[i]);
    }
    c->kind = FM_DIFFERENCE_TEAM;
    for (uint32_t i = 0; good && i < counts[0] && i < counts[1]; i++) {
        const fm_team_counts *a = &teams[0][i], *b = &teams[1][i];
        c->id = a->team;
        compare_numbers(c, "weight", a->weight, b->weight);
        compare_numbers(c, "agents", a->agents, b->agents);
        compare_numbers(c, "share of the search", a->share, b->share);
        compare_numbers(c, "saved expansions", a->saved, b->saved);
        compare_numbers(c, "expansions", a->used_total, b->used_total);
    }
    free(teams[0]);
    free(teams[1]);
    return good ? FM_OK : FM_ERR_NO_MEMORY;
}

static void describe_look(fm_learned look, char *text, size_t size)
{
    if (look.terrain == FM_TERRAIN_UNKNOWN) {
        snprintf(text, size, "unknown");
    } else {
        snprintf(text, size, "%s, cost %u", fm_terrain_name(look.terrain), look.cost);
    }
}

// The true map (team FM_ALL_TEAMS), or what a team knows of it.
static void compare_maps(struct comparison *c, uint32_t team)
{
    const fm_grid *grid = fm_world_grid(c->worlds[0]);
    char field[FM_DIFFERENCE_FIELD_SIZE] = "terrain";
    if (team != FM_ALL_TEAMS) {
        snprintf(field, sizeof field, "as team %u knows it", team);
    }
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            c->cell = fm_cell_at(x, y);
            fm_learned a = fm_world_look_up(c->worlds[0], team, c->cell);
            fm_learned b = fm_world_look_up(c->worlds[1], team, c->cell);
            if (a.terrain != b.terrain || a.cost != b.cost) {
                char texts[2][48];
                describe_look(a, texts[0], sizeof texts[0]);
                describe_look(b, texts[1], sizeof texts[1]);
                compare_texts(c, field, texts[0], texts[1]);
            }
        }
    }
}

static void compare_counts(struct comparison *c, const fm_world_counts *a, const fm_world_counts *b)
{
    c->kind = FM_DIFFERENCE_WORLD;
    compare_numbers(c, "tick", a->tick, b->tick);
    compare_numbers(c, "teams", a->teams, b->teams);
    compare_numbers(c, "agents", a->agents, b->agents);
    compare_numbers(c, "searches", a->planners, b->planners);
    compare_numbers(c, "orders given", a->orders_given, b->orders_given);
    compare_numbers(c, "moves", a->moves, b->moves);
    compare_numbers(c, "expansions", a->expansions, b->expansions);
}

fm_status fm_world_diff(fm_world *const worlds[2], fm_difference *differences, uint32_t capacity,
                        uint64_t *total)
{
    struct comparison c = {
        .worlds = worlds, .differences = differences, .capacity = capacity, .cell = FM_CELL_NONE};
    const fm_grid *grids[2] = {fm_world_grid(worlds[0]), fm_world_grid(worlds[1])};
    fm_world_counts counts[2];
    fm_world_counts_get(worlds[0], &counts[0]);
    fm_world_counts_get(worlds[1], &counts[1]);
    c.kind = FM_DIFFERENCE_WORLD;
    compare_numbers(&c, "width", grids[0]->width, grids[1]->width);
    compare_numbers(&c, "height", grids[0]->height, grids[1]->height);
    bool same_size = c.total == 0;
    fm_status status = compare_agents(&c);
    if (status == FM_OK) {
        status = compare_teams(&c);
    }
    c.kind = FM_DIFFERENCE_CELL;
    c.id = 0;
    uint32_t teams = counts[0].teams < counts[1].teams ? counts[0].teams : counts[1].teams;
    for (uint32_t team = 0; same_size && team <= teams && c.total < capacity; team++) {
        compare_maps(&c, team);
    }
    c.cell = FM_CELL_NONE;
    compare_counts(&c, &counts[0], &counts[1]);
    *total = c.total;
    return status;
}
