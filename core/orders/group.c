// core/orders/group.c: see group.h.

#include "core/orders/group.h"

#include "core/orders/deal.h"
#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/team_labels.h"
#include "core/world/world_classes.h"
#include "core/world/world_parts.h"

#define SNAP_RADIUS    8u  // cells around a place that are tried before any other
#define LINE_WIDTH_MIN 16u // units

// One command being worked on.
struct group {
    const fm_world *world;
    const fm_command *command;
    fm_group_ground ground;
    fm_wave wave;    // from the meeting cell over free cells
    fm_bitmap taken; // goals given out
    fm_cell meeting;
    uint32_t count;       // agents
    int64_t mid_x, mid_y; // of the units, in 1 / count cells
    int64_t dx, dy;       // direction of march, any length but 0
    int64_t length;       // of it, in cells
};

static fm_cell cell_of(const struct group *group, uint32_t i)
{
    return fm_world_find(group->world, group->command->agents[i])->cell;
}

// ---- the meeting cell and the direction ---------------------------------------------------------

fm_cell fm_group_reachable(fm_world *world, const fm_group_ground *ground, fm_cell named)
{
    if (ground->labels == NULL || fm_labels_connect(ground->labels, ground->from, named) ||
        fm_view_is_blocked(ground->view, ground->from)) {
        return named;
    }
    fm_cell nearest = fm_team_labels_nearest(world, ground->team, ground->labels, named,
                                             fm_labels_of(ground->labels, ground->from));
    return nearest == FM_CELL_NONE ? named : nearest;
}

// Only with on_unreachable = nearest a group goes where it was not sent.
static fm_cell choose_meeting(fm_world *world, const struct group *group)
{
    fm_cell named = group->command->cells[0];
    return group->command->on_unreachable == FM_UNREACHABLE_NEAREST
               ? fm_group_reachable(world, &group->ground, named)
               : named;
}

static void find_direction(struct group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        group->mid_x += fm_cell_x(cell_of(group, i));
        group->mid_y += fm_cell_y(cell_of(group, i));
    }
    int64_t count = group->count;
    group->dx = (fm_cell_x(group->meeting) * count - group->mid_x) / count;
    group->dy = (fm_cell_y(group->meeting) * count - group->mid_y) / count;
    if (group->dx == 0 && group->dy == 0) {
        group->dy = -1; // they are there: they face north
    }
    group->length = fm_square_root(group->dx * group->dx + group->dy * group->dy);
}

// ---- places -------------------------------------------------------------------------------------

static bool is_free(const struct group *group, int64_t x, int64_t y)
{
    if (!fm_grid_contains(fm_world_grid(group->world), x, y)) {
        return false;
    }
    fm_cell cell = fm_cell_at((uint32_t)x, (uint32_t)y);
    return !fm_view_is_blocked(group->ground.view, cell) && !fm_bitmap_get(&group->taken, cell) &&
           (group->ground.labels == NULL ||
            fm_labels_connect(group->ground.labels, group->meeting, cell));
}

// Marks the cells in which no other unit's corner may be once a unit stands on this one.
static void take(struct group *group, fm_cell cell)
{
    int64_t x = fm_cell_x(cell), y = fm_cell_y(cell), reach = group->ground.spacing - 1;
    for (int64_t j = y - reach; j <= y + reach; j++) {
        for (int64_t i = x - reach; i <= x + reach; i++) {
            if (fm_grid_contains(fm_world_grid(group->world), i, j)) {
                fm_bitmap_set(&group->taken, fm_cell_at((uint32_t)i, (uint32_t)j));
            }
        }
    }
}

// The next free cell of the wave; the meeting cell itself when there is none.
static fm_cell next_of_wave(struct group *group)
{
    for (;;) {
        fm_cell cell = fm_wave_take(&group->wave);
        if (cell == FM_CELL_NONE) {
            return group->meeting;
        }
        fm_wave_spread(&group->wave, cell, fm_world_memory(group->world));
        if (is_free(group, fm_cell_x(cell), fm_cell_y(cell))) {
            take(group, cell);
            return cell;
        }
    }
}

// The free cell nearest to a place, ring by ring; further away the next one of the wave.
static fm_cell snap(struct group *group, int64_t x, int64_t y)
{
    for (int64_t k = 0; k <= SNAP_RADIUS; k++) {
        for (int64_t j = -k; j <= k; j++) {
            int64_t step = j == -k || j == k || k == 0 ? 1 : 2 * k;
            for (int64_t i = -k; i <= k; i += step) {
                if (is_free(group, x + i, y + j)) {
                    fm_cell cell = fm_cell_at((uint32_t)(x + i), (uint32_t)(y + j));
                    take(group, cell);
                    return cell;
                }
            }
        }
    }
    return next_of_wave(group);
}

// Rounds a / b to the nearest, halves upward, so that values one apart stay one apart; b > 0.
static int64_t divide_rounded(int64_t a, int64_t b)
{
    int64_t twice = 2 * a + b;
    return twice >= 0 ? twice / (2 * b) : -((2 * b - 1 - twice) / (2 * b));
}

// Rows across the direction of march, the first one in front.
static void place_rows(struct group *group, uint32_t width, fm_cell *goals)
{
    int64_t depth = (group->count - 1) / width + 1, spacing = group->ground.spacing;
    for (uint32_t i = 0; i < group->count; i++) {
        int64_t row = i / width, in_row = group->count - row * width;
        in_row = in_row < width ? in_row : width;
        // Twice the distance from the middle, ahead and to the right.
        int64_t ahead = spacing * (depth - 1 - 2 * row);
        int64_t right = spacing * (2 * (int64_t)(i % width) - (in_row - 1));
        int64_t x = ahead * group->dx - right * group->dy;
        int64_t y = ahead * group->dy + right * group->dx;
        goals[i] = snap(group, fm_cell_x(group->meeting) + divide_rounded(x, 2 * group->length),
                        fm_cell_y(group->meeting) + divide_rounded(y, 2 * group->length));
    }
}

static void place_as_they_stand(struct group *group, fm_cell *goals)
{
    int64_t count = group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        fm_cell cell = cell_of(group, i);
        goals[i] = snap(group,
                        fm_cell_x(group->meeting) +
                            divide_rounded(fm_cell_x(cell) * count - group->mid_x, count),
                        fm_cell_y(group->meeting) +
                            divide_rounded(fm_cell_y(cell) * count - group->mid_y, count));
    }
}

static void place(struct group *group, fm_cell *goals)
{
    uint32_t count = group->count;
    uint32_t side = (uint32_t)fm_square_root(count),
             line = (uint32_t)fm_square_root(4 * (int64_t)count);
    switch (group->command->formation) {
    case FM_FORMATION_NONE:
        for (uint32_t i = 0; i < count; i++) {
            goals[i] = next_of_wave(group);
        }
        return;
    case FM_FORMATION_KEEP:
        place_as_they_stand(group, goals);
        return;
    case FM_FORMATION_LINE:
        place_rows(group, line < LINE_WIDTH_MIN ? LINE_WIDTH_MIN : line, goals);
        return;
    case FM_FORMATION_BOX:
        place_rows(group, side * side < count ? side + 1 : side, goals);
        return;
    }
    FM_UNREACHABLE();
}

// ---- the command --------------------------------------------------------------------------------

fm_status fm_group_survey(fm_world *world, const fm_command *command, fm_group_ground *ground,
                          uint32_t *failed_index)
{
    const struct fm_agent *first = fm_world_find(world, command->agents[0]);
    *ground = (fm_group_ground){.team = first->team, .spacing = 1, .from = first->cell};
    for (uint32_t i = 0; i < command->agent_count; i++) {
        const struct fm_agent *agent = fm_world_find(world, command->agents[i]);
        uint32_t size = fm_world_class_size(world, agent->class_index);
        ground->spacing = size > ground->spacing ? size : ground->spacing;
        if (agent->team != first->team) {
            *failed_index = i;
            return FM_ERR_BAD_VALUE;
        }
    }
    const fm_knowledge *knowledge = fm_team_of(world, first->team)->knowledge;
    ground->view = fm_knowledge_view(knowledge, first->class_index);
    ground->labels = fm_team_labels_for_orders(world, first->team, first->class_index);
    return FM_OK;
}

static fm_status begin(fm_world *world, struct group *group, uint32_t *failed_index)
{
    fm_status status = fm_group_survey(world, group->command, &group->ground, failed_index);
    if (status != FM_OK) {
        return status;
    }
    group->meeting = choose_meeting(world, group);
    return fm_bitmap_init(&group->taken, group->ground.view->width, group->ground.view->height,
                          true, fm_world_memory(world));
}

fm_status fm_group_place(fm_world *world, const fm_command *command, fm_cell *goals,
                         fm_cell *meeting, uint32_t *failed_index)
{
    struct group group = {.world = world, .command = command, .count = command->agent_count};
    fm_status status = begin(world, &group, failed_index);
    if (status == FM_OK) {
        status =
            fm_wave_begin(&group.wave, group.ground.view, group.meeting, fm_world_memory(world));
    }
    if (status == FM_OK) {
        find_direction(&group);
        place(&group, goals);
        *meeting = group.meeting;
        status = group.wave.exhausted ? FM_ERR_NO_MEMORY : FM_OK;
        if (status == FM_OK && command->formation != FM_FORMATION_KEEP) {
            status = fm_deal_goals(world, command, group.dx, group.dy, goals);
        }
    }
    fm_wave_fini(&group.wave, fm_world_memory(world));
    fm_bitmap_fini(&group.taken, fm_world_memory(world));
    return status;
}

uint32_t fm_group_speed(const fm_world *world, const fm_command *command)
{
    uint32_t slowest = UINT32_MAX;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        uint32_t speed = fm_world_find(world, command->agents[i])->speed;
        speed = speed == 0 ? fm_world_rules_get(world)->tick_millihertz : speed;
        slowest = speed < slowest ? speed : slowest;
    }
    return slowest;
}
