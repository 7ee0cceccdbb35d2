// clients/cli/picture/png.c: see png.h. What is drawn, in which order and in which colours, is as
// in svg.c. libpng writes the file.

#include "clients/cli/picture/png.h"

#include "clients/cli/base/colours.h"
#include "clients/cli/picture/style.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>

#define SEARCH_SHARE 55u // per cent of a cell's colour that its search gives

struct raster {
    uint8_t *rgb;
    fm_rect rect;
    uint32_t scale; // pixels per cell
    uint32_t width, height;
};

static void set_pixel(struct raster *raster, int64_t x, int64_t y, uint32_t colour, uint32_t share)
{
    if (x < 0 || y < 0 || x >= raster->width || y >= raster->height) {
        return;
    }
    uint8_t *pixel = raster->rgb + ((size_t)y * raster->width + (size_t)x) * 3;
    for (int i = 0; i < 3; i++) {
        uint32_t part = colour >> (16 - 8 * i) & 255;
        pixel[i] = (uint8_t)((pixel[i] * (100 - share) + part * share) / 100);
    }
}

static void fill_cell(struct raster *raster, uint64_t x, uint64_t y, uint32_t colour,
                      uint32_t share)
{
    int64_t left = ((int64_t)x - raster->rect.x) * raster->scale;
    int64_t top = ((int64_t)y - raster->rect.y) * raster->scale;
    for (uint32_t i = 0; i < raster->scale * raster->scale; i++) {
        set_pixel(raster, left + i % raster->scale, top + i / raster->scale, colour, share);
    }
}

// A disc around a point in pixels; of a radius below one at least that pixel.
static void fill_disc(struct raster *raster, double x, double y, double radius, uint32_t colour)
{
    int64_t reach = (int64_t)radius + 1;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        for (int64_t dx = -reach; dx <= reach; dx++) {
            if ((double)(dx * dx + dy * dy) <= radius * radius) {
                set_pixel(raster, (int64_t)x + dx, (int64_t)y + dy, colour, 100);
            }
        }
    }
}

// Middle of a cell in pixels.
static double middle(const struct raster *raster, uint64_t cell, uint32_t from)
{
    return ((double)cell - from + 0.5) * raster->scale;
}

static void draw_agents(struct raster *raster, const fm_mirror *view)
{
    for (uint32_t i = 0; i < view->agent_count; i++) {
        const fm_mirror_agent *agent = &view->agents[i];
        double x = middle(raster, fm_cell_x(agent->cell), raster->rect.x);
        double y = middle(raster, fm_cell_y(agent->cell), raster->rect.y);
        if (raster->scale >= 4) {
            fill_disc(raster, x, y, 0.5 * raster->scale, 0x101010);
        }
        fill_disc(raster, x, y, 0.4 * raster->scale, fm_colour_of_team(agent->team));
    }
}

static void draw_search(struct raster *raster, fm_numbers search)
{
    for (uint32_t i = 0; i + 5 < search.count; i += 6) {
        fill_cell(raster, fm_numbers_at(search, i), fm_numbers_at(search, i + 1),
                  fm_picture_search_colour(fm_numbers_at(search, i + 2)), SEARCH_SHARE);
    }
}

static void draw_line(struct raster *raster, const double from[2], const double to[2])
{
    double dx = to[0] - from[0], dy = to[1] - from[1];
    uint32_t steps = (uint32_t)((dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy)) + 1;
    for (uint32_t i = 0; i <= steps; i++) {
        fill_disc(raster, from[0] + dx * i / steps, from[1] + dy * i / steps, 0.15 * raster->scale,
                  0xffffff);
    }
}

static void draw_path(struct raster *raster, const msgpack_object *agent)
{
    fm_numbers cell = fm_object_numbers(agent, "cell"), path = fm_object_numbers(agent, "path");
    if (cell.count < 2) {
        return;
    }
    double from[2] = {middle(raster, fm_numbers_at(cell, 0), raster->rect.x),
                      middle(raster, fm_numbers_at(cell, 1), raster->rect.y)};
    for (uint32_t i = 0; i + 1 < path.count; i += 2) {
        const double to[2] = {middle(raster, fm_numbers_at(path, i), raster->rect.x),
                              middle(raster, fm_numbers_at(path, i + 1), raster->rect.y)};
        draw_line(raster, from, to);
        from[0] = to[0];
        from[1] = to[1];
    }
}

// How far a point is from the middle of a mark, where all points of the mark's line are as far.
static double distance_of_ring(double x, double y)
{
    return sqrt(x * x + y * y);
}

static double distance_of_square(double x, double y)
{
    return fmax(fabs(x), fabs(y));
}

// White, with a dark edge.
static void draw_mark(struct raster *raster, fm_numbers cell, double radius,
                      double (*distance)(double x, double y))
{
    if (cell.count < 2) {
        return;
    }
    double x = middle(raster, fm_numbers_at(cell, 0), raster->rect.x);
    double y = middle(raster, fm_numbers_at(cell, 1), raster->rect.y);
    int64_t reach = (int64_t)(radius * 1.2) + 1;
    for (int64_t dy = -reach; dy <= reach; dy++) {
        for (int64_t dx = -reach; dx <= reach; dx++) {
            double off = fabs(distance((double)dx, (double)dy) - radius) / radius;
            if (off <= 0.2) {
                set_pixel(raster, (int64_t)x + dx, (int64_t)y + dy,
                          off <= 0.1 ? 0xffffff : 0x101010, 100);
            }
        }
    }
}

static void draw_marks(struct raster *raster, const fm_mirror *view, const msgpack_object *agent)
{
    double radius = fm_picture_mark_radius(view) * raster->scale;
    draw_mark(raster, fm_object_numbers(agent, "cell"), radius, distance_of_ring);
    draw_mark(raster, fm_object_numbers(agent, "goal"), radius, distance_of_square);
}

// Errors of the stream stay in its error flag; libpng itself only fails when it is out of memory.
static bool write_file(FILE *out, const struct raster *raster)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = raster->width,
                       .height = raster->height,
                       .format = PNG_FORMAT_RGB};
    return png_image_write_to_stdio(&image, out, 0, raster->rgb, 0, NULL) != 0 || ferror(out) != 0;
}

bool fm_picture_write_png(FILE *out, const fm_mirror *view, const msgpack_object *agent)
{
    struct raster raster = {.rect = view->rect, .scale = fm_picture_scale(view)};
    raster.width = view->rect.width * raster.scale;
    raster.height = view->rect.height * raster.scale;
    raster.rgb = calloc((size_t)raster.width * raster.height, 3);
    if (raster.rgb == NULL) {
        return false;
    }
    for (uint32_t y = view->rect.y; y < view->rect.y + view->rect.height; y++) {
        for (uint32_t x = view->rect.x; x < view->rect.x + view->rect.width; x++) {
            fill_cell(&raster, x, y, fm_picture_colour(fm_mirror_look(view, x, y)), 100);
        }
    }
    if (agent != NULL) {
        draw_search(&raster, fm_object_numbers(agent, "search"));
    }
    draw_agents(&raster, view);
    if (agent != NULL) {
        draw_path(&raster, agent);
        draw_marks(&raster, view, agent);
    }
    bool written = write_file(out, &raster);
    free(raster.rgb);
    return written;
}
