// core/views/waypoints.c: see waypoints.h.
//
// A square that is moved along a line covers, between two columns, what it covers in both of them,
// over all rows that it passes meanwhile. A view says where the whole square can stand, so the line
// is followed by the north-west cell alone, and both columns and both rows around it must be free.

#include "core/views/waypoints.h"

#include "core/views/inspect.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

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
                         .size = world->rules.classes[class_index].size,
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

bool fm_world_line_is_free(const fm_world *world, uint32_t team, uint32_t class_index, fm_cell from,
                           fm_cell to)
{
    struct eyes eyes = eyes_of(world, team, class_index, from);
    return is_line_free(&eyes, from, to);
}

uint32_t fm_world_waypoints(const fm_world *world, fm_agent_id id, fm_waypoint *points,
                            uint32_t capacity)
{
    fm_cell path[FM_WAYPOINT_CELLS];
    const struct fm_agent *agent = fm_world_find(world, id);
    uint32_t count = fm_world_agent_path(world, id, path, FM_WAYPOINT_CELLS), made = 0;
    for (uint32_t at = 0; at + 1 < count && made < capacity;) {
        struct eyes eyes = eyes_of(world, agent->team, agent->class_index, path[at]);
        uint32_t next = at + 1;
        while (next + 1 < count && is_line_free(&eyes, path[at], path[next + 1])) {
            next += 1;
        }
        points[made++] = (fm_waypoint){.x2 = 2 * fm_cell_x(path[next]) + eyes.size,
                                       .y2 = 2 * fm_cell_y(path[next]) + eyes.size};
        at = next;
    }
    return made;
}
