// core/world/team_labels.c: see team_labels.h.

#include "core/world/team_labels.h"

#include "core/world/team.h"
#include "core/world/true_map.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

// A part of all teams' units is kept for some of them, who are others in the next tick: teams that
// ask for much in each tick cannot keep those behind them waiting for ever.
#define KEPT_SHARE   4u    // of all units: this part
#define KEPT_TEAMS   8u    // for so many teams
#define TEAMS_STRIDE 7919u // how far the order in which teams are served rotates from tick to tick

// Which of the labels belong to the map that a class sees. `maps` are those of classes that have
// one of their own.
static uint32_t map_index(fm_class_map *const *maps, uint32_t class_index)
{
    return maps[class_index] == NULL ? 0 : 1 + class_index;
}

static const fm_change_log *log_of(const fm_knowledge *knowledge, uint32_t map)
{
    return map == 0 ? &knowledge->log : &knowledge->classes[map - 1]->log;
}

static void follow(fm_followed_labels *followed, const fm_change_log *log)
{
    if (followed->labels == NULL || followed->cursor == log->version) {
        return;
    }
    uint32_t count;
    bool complete;
    const fm_change *changes = fm_change_log_since(log, followed->cursor, &count, &complete);
    if (!complete) {
        fm_labels_touch_all(followed->labels);
    }
    for (uint32_t i = 0; i < count; i++) {
        fm_labels_touch(followed->labels, changes[i].cell);
    }
    followed->cursor = log->version;
}

void fm_team_labels_follow(struct fm_team *team)
{
    for (uint32_t left = team->labels.in_use; left != 0; left &= left - 1) {
        uint32_t map = (uint32_t)__builtin_ctz(left);
        const fm_change_log *log = log_of(team->knowledge, map);
        follow(&team->labels.maps[map].orders, log);
        follow(&team->labels.maps[map].queries, log);
    }
}

// `followed` is one of the two of the team's map that the class sees. False when out of memory.
static bool prepare(fm_world *world, struct fm_team *team, uint32_t class_index,
                    fm_followed_labels *followed)
{
    const fm_knowledge *knowledge = team->knowledge;
    const fm_change_log *log = fm_knowledge_log(knowledge, class_index);
    if (followed->labels == NULL) {
        if (fm_labels_create(fm_knowledge_view(knowledge, class_index), fm_world_memory(world),
                             &followed->labels) != FM_OK) {
            return false;
        }
        followed->cursor = log->version;
        team->labels.in_use |= 1u << map_index(knowledge->classes, class_index);
    }
    follow(followed, log);
    return true;
}

static uint64_t left_of(uint64_t units_max, uint64_t done)
{
    return done < units_max ? units_max - done : 0;
}

// What is kept for a team in this tick, whatever others do.
static uint64_t kept_units(const fm_world *world, const struct fm_team *team)
{
    const struct fm_world_teams *teams = fm_world_teams(world);
    uint32_t turns = teams->count < KEPT_TEAMS ? teams->count : KEPT_TEAMS;
    uint32_t first = (uint32_t)(fm_world_tick(world) * turns % teams->count);
    uint32_t place = ((uint32_t)(team - teams->list) + teams->count - first) % teams->count;
    return place < turns ? teams->label_units_max / KEPT_SHARE / turns : 0;
}

static uint64_t units_left(const fm_world *world, const struct fm_team *team)
{
    const struct fm_world_teams *teams = fm_world_teams(world);
    uint64_t left = left_of(FM_TEAM_LABELS_UNITS_MAX, team->labels.units);
    if (teams->label_units_max == 0) {
        return left;
    }
    uint64_t for_all = teams->label_units_max - teams->label_units_max / KEPT_SHARE;
    uint64_t granted =
        left_of(kept_units(world, team), team->labels.units) + left_of(for_all, teams->label_units);
    return left < granted ? left : granted;
}

// What is kept for the team is used up first.
static void charge(fm_world *world, struct fm_team *team, uint64_t units)
{
    uint64_t kept = left_of(kept_units(world, team), team->labels.units);
    team->labels.units += units;
    fm_world_edit_teams(world)->label_units += left_of(units, kept);
}

fm_labels *fm_team_labels_for_orders(fm_world *world, uint32_t team_number, uint32_t class_index)
{
    struct fm_team *team = fm_team_of(world, team_number);
    fm_followed_labels *followed =
        &team->labels.maps[map_index(team->knowledge->classes, class_index)].orders;
    if (followed->labels == NULL && units_left(world, team) == 0) {
        return NULL;
    }
    if (!prepare(world, team, class_index, followed)) {
        return NULL;
    }
    if (fm_labels_are_current(followed->labels)) {
        return followed->labels;
    }
    uint64_t left = units_left(world, team), units = 0;
    if (left == 0) {
        return NULL;
    }
    fm_status status = fm_labels_update(followed->labels, left, &units);
    charge(world, team, units);
    return status == FM_OK && fm_labels_are_current(followed->labels) ? followed->labels : NULL;
}

const fm_labels *fm_team_labels_known(const struct fm_team *team, uint32_t class_index)
{
    const fm_followed_labels *followed =
        &team->labels.maps[map_index(team->knowledge->classes, class_index)].orders;
    bool is_known = followed->labels != NULL &&
                    followed->cursor == fm_knowledge_log(team->knowledge, class_index)->version &&
                    fm_labels_are_current(followed->labels);
    return is_known ? followed->labels : NULL;
}

void fm_team_labels_want(fm_world *world, uint32_t team, uint32_t class_index)
{
    uint32_t bit = 1u << class_index, *wanted = &fm_team_of(world, team)->labels.wanted;
    if (!(__atomic_load_n(wanted, __ATOMIC_RELAXED) & bit)) {
        __atomic_fetch_or(wanted, bit, __ATOMIC_RELAXED);
        __atomic_store_n(&fm_world_edit_teams(world)->want_labels, true, __ATOMIC_RELAXED);
    }
}

bool fm_team_labels_serve(fm_world *world)
{
    struct fm_world_teams *teams = fm_world_edit_teams(world);
    if (!teams->want_labels) {
        return false;
    }
    teams->want_labels = false;
    for (uint32_t i = 0; i < teams->count; i++) {
        uint32_t team = (uint32_t)((i + fm_world_tick(world) * TEAMS_STRIDE) % teams->count);
        for (uint32_t *wanted = &teams->list[team].labels.wanted; *wanted != 0;
             *wanted &= *wanted - 1) {
            (void)fm_team_labels_for_orders(world, team + 1, (uint32_t)__builtin_ctz(*wanted));
        }
    }
    return true;
}

fm_cell fm_team_labels_nearest(fm_world *world, uint32_t team_number, fm_labels *labels,
                               fm_cell goal, uint32_t label)
{
    struct fm_team *team = fm_team_of(world, team_number);
    if (units_left(world, team) == 0) {
        return FM_CELL_NONE;
    }
    uint64_t units = 0;
    fm_cell cell = fm_labels_nearest(labels, goal, label, &units);
    charge(world, team, units);
    return cell;
}

// ---- saved worlds -------------------------------------------------------------------------------

uint32_t fm_team_labels_map(const struct fm_team *team, uint32_t class_index)
{
    return map_index(team->knowledge->classes, class_index);
}

static fm_status bring_up_to_date(fm_followed_labels *followed, const fm_change_log *log)
{
    uint64_t units = 0;
    follow(followed, log);
    return fm_labels_are_current(followed->labels)
               ? FM_OK
               : fm_labels_update(followed->labels, UINT64_MAX, &units);
}

void fm_team_labels_settle(struct fm_team *team)
{
    team->labels.units = 0;
    for (uint32_t left = team->labels.in_use; left != 0; left &= left - 1) {
        uint32_t map = (uint32_t)__builtin_ctz(left);
        const fm_change_log *log = log_of(team->knowledge, map);
        follow(&team->labels.maps[map].queries, log);
        fm_followed_labels *followed = &team->labels.maps[map].orders;
        if (followed->labels == NULL) {
            continue;
        }
        if (bring_up_to_date(followed, log) != FM_OK) {
            fm_labels_destroy(followed->labels);
            followed->labels = NULL;
            continue;
        }
        fm_labels_forget_answers(followed->labels);
    }
}

fm_status fm_team_labels_begin(fm_world *world, struct fm_team *team, uint32_t map)
{
    const fm_knowledge *knowledge = team->knowledge;
    FM_ASSERT(map == 0 || knowledge->classes[map - 1] != NULL);
    fm_followed_labels *followed = &team->labels.maps[map].orders;
    const fm_view *view = map == 0 ? &knowledge->view : &knowledge->classes[map - 1]->view;
    fm_status status = fm_labels_create(view, fm_world_memory(world), &followed->labels);
    if (status == FM_OK) {
        team->labels.in_use |= 1u << map;
        followed->cursor = log_of(knowledge, map)->version;
        status = bring_up_to_date(followed, log_of(knowledge, map));
    }
    return status;
}

// ---- queries ------------------------------------------------------------------------------------

static fm_labels *truth_labels(fm_world *world, uint32_t class_index)
{
    struct fm_world_map *map = fm_world_edit_map(world);
    fm_labels **labels = &map->labels[map_index(map->class_truth, class_index)];
    if (*labels == NULL && fm_labels_create(fm_world_truth(world, class_index),
                                            fm_world_memory(world), labels) != FM_OK) {
        return NULL;
    }
    return *labels;
}

fm_labels *fm_team_labels_for_queries(fm_world *world, uint32_t team_number, uint32_t class_index)
{
    if (team_number == FM_ALL_TEAMS) {
        return truth_labels(world, class_index);
    }
    struct fm_team *team = fm_team_of(world, team_number);
    fm_followed_labels *followed =
        &team->labels.maps[map_index(team->knowledge->classes, class_index)].queries;
    return prepare(world, team, class_index, followed) ? followed->labels : NULL;
}

// An edit changes all corners from which a unit's square covers the cell.
void fm_team_labels_note_edit(fm_world *world, fm_cell cell)
{
    const struct fm_world_map *truth = fm_world_map(world);
    for (uint32_t map = 0; map < FM_LABELED_MAPS; map++) {
        fm_labels *labels = truth->labels[map];
        if (labels == NULL) {
            continue;
        }
        uint32_t reach = map == 0 ? 0 : truth->class_truth[map - 1]->movement->size - 1u;
        uint32_t x = fm_cell_x(cell), y = fm_cell_y(cell);
        uint32_t west = x < reach ? 0 : x - reach, north = y < reach ? 0 : y - reach;
        // Smaller than a block, so its four corners are in all the blocks that it touches.
        fm_labels_touch(labels, fm_cell_at(x, y));
        fm_labels_touch(labels, fm_cell_at(west, y));
        fm_labels_touch(labels, fm_cell_at(x, north));
        fm_labels_touch(labels, fm_cell_at(west, north));
    }
}

void fm_team_labels_fini(fm_team_labels *labels)
{
    for (uint32_t map = 0; map < FM_LABELED_MAPS; map++) {
        fm_labels_destroy(labels->maps[map].orders.labels);
        fm_labels_destroy(labels->maps[map].queries.labels);
    }
    *labels = (fm_team_labels){0};
}

size_t fm_team_labels_bytes(const fm_team_labels *labels)
{
    size_t size = 0;
    for (uint32_t left = labels->in_use; left != 0; left &= left - 1) {
        const fm_map_labels *map = &labels->maps[__builtin_ctz(left)];
        size += map->orders.labels == NULL ? 0 : fm_labels_bytes(map->orders.labels);
        size += map->queries.labels == NULL ? 0 : fm_labels_bytes(map->queries.labels);
    }
    return size;
}
