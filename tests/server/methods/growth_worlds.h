// tests/server/methods/growth_worlds.h: methods on sessions, tokens, whole worlds and replays, as
// deeds for test_method_growth.c.

#pragma once

#include "tests/server/methods/growth_scene.h"

extern const struct deed deeds_of_worlds[];
extern const uint32_t deeds_of_worlds_count;
