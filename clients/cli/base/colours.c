// clients/cli/base/colours.c: see colours.h.

#include "clients/cli/base/colours.h"

uint32_t fm_colour_of_team(uint32_t team)
{
    static const uint32_t colours[] = {0x4cc2ff, 0xff5a4f, 0xffd23f, 0x7be05a,
                                       0xd783ff, 0xff9b3d, 0x40e0c8, 0xff7ab8};
    return colours[(team - 1) % FM_COUNT_OF(colours)];
}
