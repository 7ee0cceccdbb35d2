// tests/server/methods/growth_orders.h: each kind of order, edits of queues, and what changes
// living units, as deeds for test_method_growth.c.

#pragma once

#include "tests/server/methods/growth_scene.h"

extern const struct deed deeds_of_orders[];
extern const uint32_t deeds_of_orders_count;
