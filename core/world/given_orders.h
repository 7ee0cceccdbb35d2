// core/world/given_orders.h: what the orders of a world share.

#pragma once

#include "core/world/enemy_near.h"
#include "core/world/lookouts.h"
#include "core/world/tile_cells.h"
#include "core/world/unit_index.h"
#include "core/world/world.h"

struct fm_order_rest;

// What orders share. Whose: core/orders, core/commands/order_command.c, which counts those that it
// gives, and core/saves; unit_index.c gathers the index, lookouts.c theirs.
struct fm_world_orders {
    uint64_t given;
    uint64_t live;              // given and not ended, queued ones too
    struct fm_order_rest *rest; // of an order that continues over ticks (order_command.c); or NULL
    bool seeks;                 // some agent explores or flees in this tick
    fm_unit_index unit_index;   // who stands where, for follow and flee
    uint64_t unit_index_tick;   // assign stage that it was gathered in, counted from 1
    fm_lookouts lookouts;       // from where teams look, by the index
    fm_cells_of_tiles cells_of_tiles; // tile_cells.c: who stands on which cell, by the index
    fm_enemy_tiles enemy_tiles;       // enemy_near.c: what teams see, as long as the index holds
};

const struct fm_world_orders *fm_world_orders(const fm_world *world);
struct fm_world_orders *fm_world_edit_orders(fm_world *world);
