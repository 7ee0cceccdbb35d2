// clients/cli/picture/style.c: see style.h.

#include "clients/cli/picture/style.h"

#define PIXELS_WANTED   1200u // width of the picture on a screen
#define MARK_PIXELS_MIN 9u

// Colours by terrain: unknown, ground, out of bounds, trees, swamp, water, wall, building.
static const uint32_t terrain_colours[] = {
    FM_PICTURE_BACKGROUND, 0xcfc8b4, 0x4a443c, 0x4f6b45, 0x8f9468, 0x4d7ea8, 0x6b5648, 0x8c7a9c};

uint32_t fm_picture_colour(uint32_t look)
{
    uint32_t terrain = look & 15;
    return terrain < FM_COUNT_OF(terrain_colours) ? terrain_colours[terrain] : 0xff00ff;
}

uint32_t fm_picture_search_colour(uint64_t flags)
{
    return flags & 1 ? 0xf0e442 : flags & 2 ? 0xc4268f : 0x808080;
}

uint32_t fm_picture_scale(const fm_mirror *view)
{
    uint32_t scale = PIXELS_WANTED / view->rect.width;
    return scale > 1 ? scale : 1;
}

double fm_picture_mark_radius(const fm_mirror *view)
{
    double least = (double)MARK_PIXELS_MIN / fm_picture_scale(view);
    return least > 0.7 ? least : 0.7;
}
