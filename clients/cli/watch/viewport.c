// clients/cli/watch/viewport.c: see viewport.h.

#include "clients/cli/watch/viewport.h"

#define PAN_PARTS 8 // a step moves by this fraction of what is shown

// The largest frame of the map's proportions in so many pixels.
static fm_frame fit(const fm_rect *rect, uint32_t width_max, uint32_t height_max)
{
    fm_frame frame = {.rect = *rect, .width = width_max, .height = height_max};
    if ((uint64_t)rect->width * height_max > (uint64_t)rect->height * width_max) {
        frame.height = (uint32_t)((uint64_t)rect->height * width_max / rect->width);
    } else {
        frame.width = (uint32_t)((uint64_t)rect->width * height_max / rect->height);
    }
    frame.width = frame.width == 0 ? 1 : frame.width;
    frame.height = frame.height == 0 ? 1 : frame.height;
    return frame;
}

// How many of `count` cells are shown by so many pixels; at least one.
static uint32_t cells_shown(int zoom, uint32_t pixels, uint32_t count)
{
    uint64_t shown = zoom >= 0 ? pixels >> zoom : (uint64_t)pixels << -zoom;
    return shown >= count ? count : shown == 0 ? 1 : (uint32_t)shown;
}

// How many pixels so many cells take, rounded up.
static uint32_t pixels_taken(int zoom, uint32_t cells, uint32_t pixels_max)
{
    uint64_t taken =
        zoom >= 0 ? (uint64_t)cells << zoom : ((uint64_t)cells + (1u << -zoom) - 1) >> -zoom;
    return taken > pixels_max ? pixels_max : (uint32_t)taken;
}

// Where the shown cells begin so that `middle` is in their middle, within begin..begin + count.
static uint32_t first_shown(uint32_t middle, uint32_t shown, uint32_t begin, uint32_t count)
{
    uint32_t first = middle > begin + shown / 2 ? middle - shown / 2 : begin;
    return first > begin + count - shown ? begin + count - shown : first;
}

fm_frame fm_viewport_frame(const fm_viewport *viewport, const fm_rect *bounds, uint32_t width_max,
                           uint32_t height_max)
{
    fm_frame frame;
    if (viewport->whole) {
        frame = fit(bounds, width_max, height_max);
    } else {
        uint32_t width = cells_shown(viewport->zoom, width_max, bounds->width);
        uint32_t height = cells_shown(viewport->zoom, height_max, bounds->height);
        frame = (fm_frame){
            .rect = {first_shown(viewport->x, width, bounds->x, bounds->width),
                     first_shown(viewport->y, height, bounds->y, bounds->height), width, height},
            .width = pixels_taken(viewport->zoom, width, width_max),
            .height = pixels_taken(viewport->zoom, height, height_max),
        };
    }
    frame.left = (width_max - frame.width) / 2;
    return frame;
}

// The largest zoom at which the whole map is shown, which may be below FM_ZOOM_MIN.
static int whole_zoom(const fm_rect *bounds, uint32_t width_max, uint32_t height_max)
{
    int zoom = FM_ZOOM_MAX;
    while (zoom >= FM_ZOOM_MIN &&
           (cells_shown(zoom, width_max, bounds->width) < bounds->width ||
            cells_shown(zoom, height_max, bounds->height) < bounds->height)) {
        zoom--;
    }
    return zoom;
}

void fm_viewport_zoom(fm_viewport *viewport, int steps, const fm_rect *bounds, uint32_t width_max,
                      uint32_t height_max)
{
    int whole = whole_zoom(bounds, width_max, height_max);
    int zoom = (viewport->whole ? whole : viewport->zoom) + steps;
    if (viewport->whole) {
        viewport->x = bounds->x + bounds->width / 2;
        viewport->y = bounds->y + bounds->height / 2;
    }
    viewport->zoom = zoom > FM_ZOOM_MAX ? FM_ZOOM_MAX : zoom;
    viewport->whole = viewport->zoom <= whole;
}

// One direction of fm_viewport_pan(): the new middle, one that the shown cells really have.
static uint32_t pan(uint32_t first, uint32_t shown, int parts, uint32_t begin, uint32_t count)
{
    int64_t step = shown / PAN_PARTS == 0 ? 1 : shown / PAN_PARTS;
    int64_t next = (int64_t)first + parts * step, last = (int64_t)begin + count - shown;
    next = next < begin ? begin : next > last ? last : next;
    return (uint32_t)next + shown / 2;
}

void fm_viewport_pan(fm_viewport *viewport, int right, int down, const fm_rect *bounds,
                     uint32_t width_max, uint32_t height_max)
{
    fm_rect shown = fm_viewport_frame(viewport, bounds, width_max, height_max).rect;
    viewport->x = pan(shown.x, shown.width, right, bounds->x, bounds->width);
    viewport->y = pan(shown.y, shown.height, down, bounds->y, bounds->height);
}

void fm_viewport_center(fm_viewport *viewport, fm_cell cell)
{
    viewport->x = fm_cell_x(cell);
    viewport->y = fm_cell_y(cell);
}

bool fm_frame_find(const fm_frame *frame, fm_cell cell, uint32_t *px, uint32_t *py)
{
    // Left of the rectangle or above it the difference wraps and is large.
    uint32_t column = fm_cell_x(cell) - frame->rect.x, row = fm_cell_y(cell) - frame->rect.y;
    if (column >= frame->rect.width || row >= frame->rect.height) {
        return false;
    }
    *px = (uint32_t)(((uint64_t)column * 2 + 1) * frame->width / (2 * (uint64_t)frame->rect.width));
    *py = (uint32_t)(((uint64_t)row * 2 + 1) * frame->height / (2 * (uint64_t)frame->rect.height));
    return true;
}
