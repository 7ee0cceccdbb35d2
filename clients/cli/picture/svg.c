// clients/cli/picture/svg.c: see svg.h.
//
// Cells of one colour that follow each other in a row are one rectangle, so that a picture of a
// large map stays small. One cell is one unit of the picture's coordinates.

#include "clients/cli/picture/svg.h"

#include "clients/cli/base/colours.h"
#include "clients/cli/picture/style.h"

#define NO_COLOUR 0x01000000u

static void write_cells(FILE *out, const fm_mirror *view)
{
    const fm_rect *rect = &view->rect;
    fputs("<g shape-rendering=\"crispEdges\">\n", out);
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        uint32_t begin = rect->x, colour = NO_COLOUR;
        for (uint32_t x = rect->x; x <= rect->x + rect->width; x++) {
            bool over = x == rect->x + rect->width;
            uint32_t here = over ? NO_COLOUR : fm_picture_colour(fm_mirror_look(view, x, y));
            if (here != colour) {
                if (colour != NO_COLOUR && colour != FM_PICTURE_BACKGROUND) {
                    fprintf(out,
                            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"1\" fill=\"#%06x\"/>\n",
                            begin, y, x - begin, colour);
                }
                begin = x;
                colour = here;
            }
        }
    }
    fputs("</g>\n", out);
}

static void write_agents(FILE *out, const fm_mirror *view)
{
    fputs("<g stroke=\"#101010\" stroke-width=\"0.1\">\n", out);
    for (uint32_t i = 0; i < view->agent_count; i++) {
        const fm_mirror_agent *agent = &view->agents[i];
        fprintf(out, "<circle cx=\"%g\" cy=\"%g\" r=\"0.45\" fill=\"#%06x\"/>\n",
                fm_cell_x(agent->cell) + 0.5, fm_cell_y(agent->cell) + 0.5,
                fm_colour_of_team(agent->team));
    }
    fputs("</g>\n", out);
}

// x, y, flags, g, h, rhs of each cell: magenta when closed, yellow when open.
static void write_search(FILE *out, fm_numbers search)
{
    fputs("<g shape-rendering=\"crispEdges\" fill-opacity=\"0.55\">\n", out);
    for (uint32_t i = 0; i + 5 < search.count; i += 6) {
        fprintf(out, "<rect x=\"%llu\" y=\"%llu\" width=\"1\" height=\"1\" fill=\"#%06x\"/>\n",
                (unsigned long long)fm_numbers_at(search, i),
                (unsigned long long)fm_numbers_at(search, i + 1),
                fm_picture_search_colour(fm_numbers_at(search, i + 2)));
    }
    fputs("</g>\n", out);
}

static void write_path(FILE *out, const msgpack_object *agent)
{
    fm_numbers cell = fm_object_numbers(agent, "cell"), path = fm_object_numbers(agent, "path");
    if (cell.count < 2 || path.count == 0) {
        return;
    }
    fprintf(out, "<polyline fill=\"none\" stroke=\"#ffffff\" stroke-width=\"0.3\" points=\"%g,%g",
            (double)fm_numbers_at(cell, 0) + 0.5, (double)fm_numbers_at(cell, 1) + 0.5);
    for (uint32_t i = 0; i + 1 < path.count; i += 2) {
        fprintf(out, " %g,%g", (double)fm_numbers_at(path, i) + 0.5,
                (double)fm_numbers_at(path, i + 1) + 0.5);
    }
    fputs("\"/>\n", out);
}

// A ring around the agent and a square around its goal, white with a dark edge.
static void write_marks(FILE *out, const fm_mirror *view, const msgpack_object *agent)
{
    fm_numbers cell = fm_object_numbers(agent, "cell"), goal = fm_object_numbers(agent, "goal");
    double radius = fm_picture_mark_radius(view);
    static const struct {
        const char *colour;
        double width; // of the radius
    } strokes[] = {{"#101010", 0.4}, {"#ffffff", 0.2}};
    for (size_t i = 0; i < FM_COUNT_OF(strokes); i++) {
        fprintf(out, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"%g\">\n", strokes[i].colour,
                strokes[i].width * radius);
        if (cell.count >= 2) {
            fprintf(out, "<path d=\"M%g,%ga%g,%g 0 1 0 %g,0a%g,%g 0 1 0 %g,0\"/>\n",
                    (double)fm_numbers_at(cell, 0) + 0.5 - radius,
                    (double)fm_numbers_at(cell, 1) + 0.5, radius, radius, 2 * radius, radius,
                    radius, -2 * radius);
        }
        if (goal.count >= 2) {
            fprintf(out, "<path d=\"M%g,%gh%gv%gh%gz\"/>\n",
                    (double)fm_numbers_at(goal, 0) + 0.5 - radius,
                    (double)fm_numbers_at(goal, 1) + 0.5 - radius, 2 * radius, 2 * radius,
                    -2 * radius);
        }
        fputs("</g>\n", out);
    }
}

void fm_picture_write_svg(FILE *out, const fm_mirror *view, const msgpack_object *agent)
{
    const fm_rect *rect = &view->rect;
    uint32_t scale = fm_picture_scale(view);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "viewBox=\"%u %u %u %u\">\n<title>world %llu, tick %llu</title>\n"
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%06x\"/>\n",
            rect->width * scale, rect->height * scale, rect->x, rect->y, rect->width, rect->height,
            (unsigned long long)view->world, (unsigned long long)view->tick, rect->x, rect->y,
            rect->width, rect->height, FM_PICTURE_BACKGROUND);
    write_cells(out, view);
    if (agent != NULL) {
        write_search(out, fm_object_numbers(agent, "search"));
    }
    write_agents(out, view);
    if (agent != NULL) {
        write_path(out, agent);
        write_marks(out, view, agent);
    }
    fputs("</svg>\n", out);
}
