// core/views/waypoints.c: see waypoints.h.
//
// A square that is moved along a line covers, between two columns, what it covers in both of them,
// over all rows that it passes meanwhile. A view says where the whole square can stand, so the line
// is followed by the north-west cell alone, and both columns and both rows around it must be free.

#include "core/views/waypoints.h"

#include "core/views/inspect.h"
#include "core/world/agent.h"
#include "core/world/team.h"
#include "core/world/world_classes.h"

struct eyes {
    const fm_view *view;
    const fm_bitmap *known;
    uint32_t size;
    uint32_t weight; // of the cell from which the line goes
};

static struct eyes eyes_of(const fm_world *world, uint32_t team, uint32_t class_index, fm_cell from)
{
    const fm_view *view = fm_world_class_view(world, team, class_index);
    return (struct eyes){.view = view,
                         .known = &fm_team_of(world, team)->knowledge->known,
                         .size = fm_world_class_size(world, class_index),
                         .weight = fm_view_weight(view, from)};
}

static bool is_free(const struct eyes *eyes, uint32_t x, uint32_t y)
{
    fm_cell cell = fm_cell_at(x, y);
    if (x >= eyes->view->width || y >= eyes->view->height || fm_view_is_blocked(eyes->view, cell) ||
        fm_view_weight(eyes->view, cell) != eyes->weight) {
        return false;
    }
    for (uint32_t i = 0; i < eyes->size * eyes->size; i++) {
        if (!fm_bitmap_get(eyes->known, fm_cell_at(x + i % eyes->size, y + i / eyes->size))) {
            return false;
        }
    }
    return true;
}

// Along a line of dx columns and dy rows, dx >= dy: whether the squares between column i and the
// next are free. `swapped`: columns are rows; down: -1 or 1.
static bool is_column_free(const struct eyes *eyes, fm_cell from, bool swapped, const int32_t *sign,
                           uint32_t dx, uint32_t dy, uint32_t i)
{
    uint32_t first = dx == 0 ? 0 : i * dy / dx;
    uint32_t last = dx == 0 ? 0 : ((i + 1) * dy + dx - 1) / dx;
    for (uint32_t column = i; column <= i + 1 && column <= dx; column++) {
        for (uint32_t row = first; row <= last; row++) {
            uint32_t along = swapped ? row : column, across = swapped ? column : row;
            uint32_t x = fm_cell_x(from) + (uint32_t)sign[0] * along;
            uint32_t y = fm_cell_y(from) + (uint32_t)sign[1] * across;
            if (!is_free(eyes, x, y)) {
                return false;
            }
        }
    }
    return true;
}

static bool is_line_free(const struct eyes *eyes, fm_cell from, fm_cell to)
{
    uint32_t dx = fm_cell_dx(from, to), dy = fm_cell_dy(from, to);
    const int32_t sign[] = {fm_cell_x(to) < fm_cell_x(from) ? -1 : 1,
                            fm_cell_y(to) < fm_cell_y(from) ? -1 : 1};
    bool swapped = dy > dx;
    uint32_t length = swapped ? dy : dx, height = swapped ? dx : dy;
    for (uint32_t i = 0; i < length; i++) {
        if (!is_column_free(eyes, from, swapped, sign, length, height, i)) {
            return false;
        }
    }
    return true;
}

// How many cells of a path the line from its first one can pass over, at least one: by doubling the
// step while the line is free, then by bisection.
static uint32_t reach_of(const struct eyes *eyes, const fm_cell *path, uint32_t last)
{
    uint32_t free = 1, blocked = last + 1;
    for (uint32_t next = 2; free < last && blocked == last + 1; next *= 2) {
        uint32_t at = next < last ? next : last;
        bool is_free = is_line_free(eyes, path[0], path[at]);
        free = is_free ? at : free;
        blocked = is_free ? blocked : at;
    }
    while (free + 1 < blocked) {
        uint32_t middle = (free + blocked) / 2;
        bool is_free = is_line_free(eyes, path[0], path[middle]);
        free = is_free ? middle : free;
        blocked = is_free ? blocked : middle;
    }
    return free;
}

uint32_t fm_world_waypoints(const fm_world *world, fm_agent_id id, fm_waypoint *points,
                            uint32_t capacity)
{
    fm_cell path[FM_WAYPOINT_CELLS];
    const struct fm_agent *agent = fm_world_find(world, id);
    uint32_t count = fm_world_agent_path(world, id, path, FM_WAYPOINT_CELLS), made = 0;
    for (uint32_t at = 0; at + 1 < count && made < capacity;) {
        struct eyes eyes = eyes_of(world, agent->team, agent->class_index, path[at]);
        at += reach_of(&eyes, path + at, count - 1 - at);
        points[made++] = (fm_waypoint){.x2 = 2 * fm_cell_x(path[at]) + eyes.size,
                                       .y2 = 2 * fm_cell_y(path[at]) + eyes.size};
    }
    return made;
}

static bool is_own(uint32_t team, const fm_agent_look *look)
{
    return team == FM_ALL_TEAMS || look->team == team;
}

uint32_t fm_world_courses(const fm_world *world, uint32_t team, const fm_agent_look *looks,
                          uint32_t look_count, fm_course *courses, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < look_count && count < capacity; i++) {
        if (!is_own(team, &looks[i])) {
            continue;
        }
        fm_course *course = &courses[count++];
        *course = (fm_course){.name = looks[i].name};
        if (looks[i].state == FM_AGENT_MOVING || looks[i].state == FM_AGENT_WAITING) {
            course->count =
                fm_world_waypoints(world, looks[i].id, course->points, FM_COURSE_POINTS_MAX);
        }
    }
    return count;
}
