// clients/cli/base/colours.h: the colours that pictures and the live map have in common.

#pragma once

#include "core/base/base.h"

/// Colour of a team's agents, 0xRRGGBB; the ninth team has the first one's again.
uint32_t fm_colour_of_team(uint32_t team);
