// core/saves/world_load_agents.c: see world_load_agents.h.

#include "core/saves/world_load_agents.h"

#include "core/commands/placing.h"
#include "core/crowd/busy.h"
#include "core/crowd/crowd.h"
#include "core/orders/detour.h"
#include "core/saves/world_file_state.h"
#include "core/saves/world_rows.h"
#include "core/world/planner_table.h"
#include "core/world/world_classes.h"
#include "core/world/world_state.h"

// ---- what a team knows --------------------------------------------------------------------------

static fm_status recall_stale(fm_world_loader *loader, fm_knowledge *knowledge, fm_cell cell)
{
    fm_reader *reader = &loader->reader;
    fm_learned look = {.cell = cell, .terrain = fm_reader_take_u8(reader), .cost = FM_COST_FLOOR};
    if (loader->world->map.grid->weighted) {
        look.cost = fm_reader_take_u8(reader);
    }
    if (look.terrain <= FM_TERRAIN_UNKNOWN || look.terrain >= FM_TERRAIN_COUNT ||
        look.cost < FM_COST_FLOOR || look.cost > FM_COST_MAX) {
        fm_reader_fail(reader, "A cell that was seen before an edit has terrain %u, cost %u.",
                       look.terrain, look.cost);
        return FM_OK;
    }
    return fm_knowledge_recall_stale(knowledge, look);
}

// The cells of one word of a row.
static fm_status recall_word(fm_world_loader *loader, fm_knowledge *knowledge, fm_cell first,
                             uint64_t known, uint64_t stale)
{
    fm_knowledge_recall_word(knowledge, fm_cell_y(first), fm_cell_x(first) / 64, known & ~stale);
    fm_status status = FM_OK;
    for (; stale != 0 && status == FM_OK; stale &= stale - 1) {
        status = recall_stale(loader, knowledge, first + (uint32_t)__builtin_ctzll(stale));
    }
    return status;
}

static fm_status recall_cells(fm_world_loader *loader, fm_knowledge *knowledge,
                              const fm_bitmap *known, const fm_bitmap *stale)
{
    const fm_grid *grid = loader->world->map.grid;
    fm_status status = FM_OK;
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t word = 0; word < (grid->width + 63) / 64 && status == FM_OK; word++) {
            status = recall_word(loader, knowledge, fm_cell_at(word * 64, y),
                                 fm_bitmap_row(known, (int32_t)y)[word],
                                 fm_bitmap_row(stale, (int32_t)y)[word]);
        }
    }
    return status;
}

// Stale cells are known, and a team that sees everything has none.
static void check_cells(fm_world_loader *loader, const fm_bitmap *known, const fm_bitmap *stale)
{
    const fm_grid *grid = loader->world->map.grid;
    uint64_t stale_count = fm_bitmap_count(stale);
    for (uint32_t y = 0; y < grid->height && stale_count > 0; y++) {
        for (uint32_t word = 0; word < (grid->width + 63) / 64; word++) {
            if ((fm_bitmap_row(stale, (int32_t)y)[word] &
                 ~fm_bitmap_row(known, (int32_t)y)[word]) != 0) {
                fm_reader_fail(&loader->reader, "A cell in row %u is remembered but not known.", y);
            }
        }
    }
    if (loader->rules.omniscient &&
        (fm_bitmap_count(known) != (uint64_t)grid->width * grid->height || stale_count > 0)) {
        fm_reader_fail(&loader->reader, "A team does not know the whole map, as the rules say.");
    }
}

// The cells that a team knows, into bitmaps that hold nothing yet.
static fm_status take_cells(fm_world_loader *loader, fm_knowledge *knowledge, fm_bitmap *known,
                            fm_bitmap *stale)
{
    fm_reader *reader = &loader->reader;
    fm_rows_take_bits(reader, known, "known cells");
    if (fm_reader_take_bool(reader, "remembered cells")) {
        fm_rows_take_bits(reader, stale, "remembered cells");
    }
    check_cells(loader, known, stale);
    bool has_cells = !reader->failed && !loader->rules.omniscient;
    return has_cells ? recall_cells(loader, knowledge, known, stale) : FM_OK;
}

static fm_status load_cells(fm_world_loader *loader, fm_knowledge *knowledge)
{
    const fm_memory *memory = loader->memory;
    fm_bitmap known = {0}, stale = {0};
    fm_status status = FM_ERR_NO_MEMORY;
    if (fm_bitmap_init(&known, loader->width, loader->height, false, memory) == FM_OK &&
        fm_bitmap_init(&stale, loader->width, loader->height, false, memory) == FM_OK) {
        status = take_cells(loader, knowledge, &known, &stale);
    }
    fm_bitmap_fini(&known, memory);
    fm_bitmap_fini(&stale, memory);
    return status;
}

static void take_building_look(fm_world_loader *loader, const fm_buildings_seen *seen,
                               fm_building_look *look)
{
    fm_reader *reader = &loader->reader;
    look->id = (uint32_t)fm_reader_take_bounded(reader, loader->world->map.buildings.placed,
                                                "building that was seen");
    look->name = (uint32_t)fm_reader_take_bounded(reader, seen->named, "name of a building");
    look->team = fm_loader_take_team(loader, true, "owner of a building");
    look->rect = fm_loader_take_rect(loader);
    if (look->id == 0 || (seen->count > 0 && look->id <= seen->list[seen->count - 1].id)) {
        fm_reader_fail(reader, "Building %u is out of order among those seen.", look->id);
    }
}

// Of each building the team has seen a cell, and knows that cell.
static fm_status load_buildings_seen(fm_world_loader *loader, fm_knowledge *knowledge)
{
    fm_reader *reader = &loader->reader;
    fm_buildings_seen *seen = &knowledge->buildings_seen;
    seen->named = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "buildings named");
    uint32_t count = fm_reader_take_count(reader, UINT32_MAX, 7, "buildings seen");
    if (count > knowledge->known_count) {
        fm_reader_fail(reader, "A team that knows %llu cells has seen %u buildings.",
                       (unsigned long long)knowledge->known_count, count);
        return FM_OK;
    }
    if (!FM_RESERVE(loader->world, seen->list, seen->capacity, count)) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        take_building_look(loader, seen, &seen->list[i]);
        seen->count += 1;
    }
    if (!reader->failed) {
        fm_buildings_seen_index(seen, &loader->world->map.buildings);
    }
    return FM_OK;
}

// What the game adds to the team's costs, over the cells that it knows by now.
static fm_status load_layer(fm_world_loader *loader, fm_knowledge *knowledge)
{
    if (loader->reader.failed) {
        return FM_OK;
    }
    fm_status status = fm_knowledge_prepare_layer(knowledge);
    if (status == FM_OK) {
        fm_rows_take_bytes(&loader->reader, knowledge->layer.added, loader->width, loader->height,
                           0, FM_ADDED_COST_MAX, "costs of a team");
        fm_knowledge_use_layer(knowledge);
        fm_cost_layer_sum(&knowledge->layer, knowledge->weights);
    }
    return status;
}

static fm_status load_knowledge(fm_world_loader *loader, struct fm_team *team)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint64_t digest = fm_reader_take_u64(reader);
    uint64_t form = fm_reader_take_bounded(
        reader, loader->version < 6 ? FM_WEIGHTS_SEEN : FM_WEIGHTS_LAYER, "costs of a team");
    bool wants_weights = fm_reader_take_bool(reader, "wants_weights");
    // Each row takes a byte at least, so a few bytes cannot claim much memory.
    if (fm_reader_left(reader) < loader->height) {
        fm_reader_fail(reader, "What a team knows is cut off.");
        return FM_OK;
    }
    if (!world->map.grid->weighted && (form == FM_WEIGHTS_SEEN || wants_weights)) {
        fm_reader_fail(reader, "A team knows of costs that the map does not have.");
        return FM_OK;
    }
    fm_status status = fm_knowledge_create(
        world->map.grid, world->map.sight, world->rules.connectivity, world->rules.steps,
        world->rules.omniscient, &world->memory, &team->knowledge);
    if (status != FM_OK) {
        return status;
    }
    fm_knowledge *knowledge = team->knowledge;
    knowledge->buildings = &world->map.buildings;
    knowledge->digest = digest;
    knowledge->wants_weights = wants_weights;
    if (form == FM_WEIGHTS_SEEN) { // those of a layer are used once cells are known
        fm_knowledge_use_weights(knowledge);
        knowledge->wants_weights = wants_weights;
    } else if (form == FM_WEIGHTS_NONE && knowledge->view.weights != NULL) {
        fm_reader_fail(reader, "A team that sees everything does not know of costs.");
    }
    status = load_cells(loader, knowledge);
    if (status == FM_OK) {
        status = load_buildings_seen(loader, knowledge);
    }
    return status == FM_OK && form == FM_WEIGHTS_LAYER ? load_layer(loader, knowledge) : status;
}

// ---- a team -------------------------------------------------------------------------------------

// Takes a slot, as the difference to the one before. False: it is not below `slot_count`.
static bool take_slot(fm_reader *reader, uint32_t slot_count, int64_t *slot)
{
    int64_t difference = fm_reader_take_signed(reader);
    if (difference < -*slot || difference >= (int64_t)slot_count - *slot) {
        return false;
    }
    *slot += difference;
    return true;
}

static fm_status load_members(fm_world_loader *loader, struct fm_team *team, uint32_t number)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint32_t count = fm_reader_take_count(reader, loader->agent_slots, 1, "slots of a team");
    if (!FM_RESERVE(world, team->members, team->member_capacity, count)) {
        return FM_ERR_NO_MEMORY;
    }
    int64_t slot = 0;
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        if (!take_slot(reader, loader->agent_slots, &slot)) {
            fm_reader_fail(reader, "A slot of team %u is not below %u.", number,
                           loader->agent_slots);
            break;
        }
        struct fm_agent *agent = &world->agents.slots[slot];
        if (agent->team != FM_ALL_TEAMS) {
            fm_reader_fail(reader, "Slot %u belongs to two teams.", (uint32_t)slot);
        }
        agent->team = number;
        agent->member = team->member_count;
        team->members[team->member_count++] = (uint32_t)slot;
    }
    return FM_OK;
}

// The list of free slots, first to last. Until the agents are read, `is_ready` says who is in one.
static void take_free_slots(fm_world_loader *loader, struct fm_team *team, uint32_t number)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint32_t count = fm_reader_take_count(reader, team->member_count, 1, "free slots of a team");
    uint32_t *link = &team->agent_free;
    *link = FM_SLOT_NONE;
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        uint32_t slot =
            (uint32_t)fm_reader_take_bounded(reader, loader->agent_slots - 1, "free slot");
        struct fm_agent *agent = &world->agents.slots[slot];
        if (agent->team != number || agent->is_ready) {
            fm_reader_fail(reader, "Slot %u is not one of team %u, or free twice.", slot, number);
            return;
        }
        agent->is_ready = true;
        agent->planner = FM_SLOT_NONE;
        *link = slot;
        link = &agent->planner;
    }
}

static fm_status load_labels(fm_world_loader *loader, struct fm_team *team)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint64_t labeled =
        fm_reader_take_bounded(reader, (1u << FM_LABELED_MAPS) - 1, "labels of a team");
    fm_status status = FM_OK;
    for (uint32_t map = 0; map < FM_LABELED_MAPS && status == FM_OK && !reader->failed; map++) {
        if (!(labeled >> map & 1)) {
            continue;
        }
        if (map > 0) {
            uint32_t class_index = map - 1;
            const fm_movement_class *movement = &world->rules.classes[class_index];
            if (class_index >= world->rules.class_count || fm_movement_class_is_ground(movement)) {
                fm_reader_fail(reader, "Class %u of a team has no map of its own.", class_index);
                break;
            }
            status = fm_knowledge_prepare_class(team->knowledge, class_index, movement, UINT32_MAX);
        }
        status = status == FM_OK ? fm_team_labels_begin(world, team, map) : status;
    }
    return status;
}

static fm_status load_team(fm_world_loader *loader, struct fm_team *team, uint32_t number)
{
    fm_reader *reader = &loader->reader;
    fm_loader_take_spec(loader, &team->spec);
    fm_account *account = &team->account;
    account->weight = (uint32_t)fm_reader_take_bounded(reader, FM_TEAM_WEIGHT_MAX, "weight");
    account->share = fm_reader_take_bounded(reader, FM_BUDGET_MAX, "share of a team");
    account->saved =
        fm_reader_take_bounded(reader, FM_BUDGET_MAX * FM_SAVED_TICKS_MAX, "savings of a team");
    account->used = fm_reader_take_varint(reader);
    account->used_total = fm_reader_take_varint(reader);
    team->orders_given = fm_reader_take_varint(reader);
    if (account->weight == 0) {
        fm_reader_fail(reader, "Team %u has no weight.", number);
    }
    fm_status status = reader->failed ? FM_OK : load_knowledge(loader, team);
    if (status == FM_OK && !reader->failed) {
        status = load_members(loader, team, number);
    }
    if (status == FM_OK && !reader->failed) {
        take_free_slots(loader, team, number);
        status = load_labels(loader, team);
    }
    return status;
}

static fm_status reserve_slots(fm_world_loader *loader)
{
    fm_world *world = loader->world;
    uint32_t count = loader->agent_slots;
    if (!fm_agents_reserve(world, count) || !fm_crowd_reserve(world, count)) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t slot = 0; slot < count; slot++) {
        world->agents.slots[slot] = (struct fm_agent){
            .next = FM_CELL_NONE,
            .planner = FM_SLOT_NONE,
            .home = FM_CELL_NONE,
            .anchor = FM_CELL_NONE,
            .order = {.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE},
        };
    }
    world->agents.slot_count = count;
    return FM_OK;
}

fm_status fm_load_teams(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    // A slot is in the list of its team, and each team has a head of some bytes.
    if (loader->agent_slots > fm_reader_left(reader) ||
        loader->team_count > fm_reader_left(reader)) {
        fm_reader_fail(reader, "There are fewer teams and slots here than the head says.");
        return FM_OK;
    }
    fm_status status = reserve_slots(loader);
    if (status == FM_OK &&
        (!FM_RESERVE(world, world->teams.list, world->teams.capacity, loader->team_count) ||
         !fm_busy_reserve(world, loader->team_count))) {
        status = FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < loader->team_count && status == FM_OK && !reader->failed; i++) {
        world->teams.list[i] = (struct fm_team){.agent_free = FM_SLOT_NONE};
        world->teams.count += 1;
        status = load_team(loader, &world->teams.list[i], i + 1);
    }
    return status;
}

// ---- orders -------------------------------------------------------------------------------------

// Members that are numbers or cells, by a mask of those that are there.
#define COUNT(...)    +1
#define ORDER_MEMBERS (0 FM_ORDER_MEMBER_LIST(COUNT, COUNT))
#define AGENT_MEMBERS (0 FM_AGENT_MEMBER_LIST(COUNT, COUNT))

_Static_assert(ORDER_MEMBERS < 64 && AGENT_MEMBERS < 64, "a mask holds no more");

// A number that is said not to be zero.
static uint64_t take_number(fm_reader *reader, uint64_t limit, const char *what)
{
    uint64_t value = fm_reader_take_bounded(reader, limit, what);
    if (value == 0) {
        fm_reader_fail(reader, "%s is said to be set, and is 0.", what);
    }
    return value;
}

// Files of older programs may have members that the order's kind does not use: they are left out.
static void take_order_members(fm_world_loader *loader, struct fm_order *order)
{
    fm_reader *reader = &loader->reader;
    uint64_t mask =
        fm_reader_take_bounded(reader, ((uint64_t)1 << ORDER_MEMBERS) - 1, "members of an order");
    uint32_t count = 0;
#define NUMBER(kinds, member, limit)                                                               \
    {                                                                                              \
        uint64_t number = mask >> count++ & 1 ? take_number(reader, limit, #member) : 0;           \
        if (1u << order->kind & (kinds)) {                                                         \
            order->member = (__typeof__(order->member))number;                                     \
        }                                                                                          \
    }
#define CELL(kinds, member)                                                                        \
    {                                                                                              \
        fm_cell cell = mask >> count++ & 1 ? fm_loader_take_cell(loader, #member) : FM_CELL_NONE;  \
        if (1u << order->kind & (kinds)) {                                                         \
            order->member = cell;                                                                  \
        }                                                                                          \
    }
    FM_ORDER_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
}

// What reading the agents needs besides.
struct agents {
    fm_world_loader *loader;
    struct fm_route *route;      // read last
    const fm_planner_spec *spec; // read last as text
    uint32_t carried;
};

static fm_status take_route_cells(struct agents *a, struct fm_order *order)
{
    fm_reader *reader = &a->loader->reader;
    fm_world *world = a->loader->world;
    uint32_t count = fm_reader_take_count(reader, FM_WAYPOINTS_MAX, 1, "waypoints");
    if (count == 0) {
        fm_reader_fail(reader, "An order's list of cells is empty.");
    }
    struct fm_route *route =
        fm_memory_allocate(&world->memory, sizeof *route + count * sizeof(fm_cell));
    if (route == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    route->users = 1;
    route->count = count;
    for (uint32_t i = 0; i < count; i++) {
        route->cells[i] = fm_loader_take_cell(a->loader, "waypoint");
    }
    order->route = route;
    a->route = route;
    return FM_OK;
}

static fm_status take_route(struct agents *a, struct fm_order *order)
{
    fm_reader *reader = &a->loader->reader;
    uint64_t form = fm_reader_take_bounded(reader, FM_ROUTE_CELLS, "route");
    if (form == FM_ROUTE_CELLS) {
        return take_route_cells(a, order);
    }
    if (form == FM_ROUTE_AGAIN && a->route == NULL) {
        fm_reader_fail(reader, "An order has the cells of the one before, and that has none.");
    } else if (form == FM_ROUTE_AGAIN) {
        order->route = a->route;
        a->route->users += 1;
    }
    return FM_OK;
}

// The version of this world's labels that stands for the saved word.
static void take_retry_memory(struct agents *a, const struct fm_agent *agent,
                              struct fm_order *order)
{
    fm_reader *reader = &a->loader->reader;
    const struct fm_team *team = fm_team_of(a->loader->world, agent->team);
    uint64_t memory = fm_reader_take_bounded(reader, FM_RETRY_IS_OTHER, "change of a retry");
    const fm_labels *labels =
        team->labels.maps[fm_team_labels_map(team, agent->class_index)].orders.labels;
    if (memory == FM_RETRY_IS_SAME && labels == NULL) {
        fm_reader_fail(reader, "An order was refused by labels that are not there.");
    } else if (memory == FM_RETRY_IS_SAME) {
        order->retry.change = fm_labels_graph_version(labels);
    } else {
        order->retry.change = memory == FM_RETRY_HAD_NONE ? 0 : UINT64_MAX;
    }
}

static bool speed_fits(const fm_world *world, uint32_t speed)
{
    return (uint64_t)speed * FM_SPEED_STRAIGHT <=
           (uint64_t)world->rules.tick_millihertz * FM_SPEED_DIAGONAL;
}

// Only a move without a group has a bound for its path, and only with that is there something to
// measure.
static bool detour_fits(const struct fm_order *order)
{
    if (order->kind != FM_ORDER_MOVE) {
        return true;
    }
    if (order->max_detour == 0) {
        return order->move.first_steps == 0 && !order->is_too_long;
    }
    return !order->marches && order->max_detour <= FM_DETOUR_PERCENT_MAX;
}

static bool patrol_has_its_cells(const struct fm_order *order, bool is_queued)
{
    if (order->route == NULL) {
        return false;
    }
    bool comes_home = order->route->count == 1;
    return order->patrol.waypoint < (comes_home ? 2 : order->route->count) &&
           (is_queued || !comes_home || order->home != FM_CELL_NONE);
}

static bool has_its_cells(const struct fm_order *order, bool is_queued)
{
    const struct fm_route *route = order->route;
    switch (order->kind) {
    case FM_ORDER_PATROL:
        return patrol_has_its_cells(order, is_queued);
    case FM_ORDER_MOVE:
        return route == NULL && order->goal != FM_CELL_NONE &&
               (!order->marches || order->move.own_goal != FM_CELL_NONE);
    case FM_ORDER_FOLLOW:
    case FM_ORDER_GUARD:
        return route == NULL && (is_queued || order->follow.post != FM_CELL_NONE);
    case FM_ORDER_FLEE:
        return true;
    case FM_ORDER_HOLD:
    case FM_ORDER_EXPLORE:
        return route == NULL;
    case FM_ORDER_KEEP_DISTANCE:
        return route == NULL && (order->follow.has_target || order->follow.target.index1 == 0);
    case FM_ORDER_SCATTER:
    case FM_ORDER_STOP:
    case FM_ORDER_KIND_COUNT:
        break;
    }
    return false;
}

static void check_order(struct agents *a, const struct fm_agent *agent,
                        const struct fm_order *order, bool is_queued)
{
    fm_reader *reader = &a->loader->reader;
    const fm_world *world = a->loader->world;
    if (order->id > world->orders.given || order->number == 0 ||
        order->number > fm_team_of(world, agent->team)->orders_given) {
        fm_reader_fail(reader, "An order has a number that was never given.");
    } else if (!has_its_cells(order, is_queued)) {
        fm_reader_fail(reader, "Order %llu has not the cells that its kind needs.",
                       (unsigned long long)order->id);
    } else if (!speed_fits(world, fm_order_speed(order)) || !detour_fits(order)) {
        fm_reader_fail(reader, "Order %llu has a speed or detour out of range.",
                       (unsigned long long)order->id);
    }
}

static fm_status load_order(struct agents *a, const struct fm_agent *agent, struct fm_order *order,
                            bool is_queued)
{
    fm_world_loader *loader = a->loader;
    *order = (struct fm_order){.goal = FM_CELL_NONE, .substitute = FM_CELL_NONE};
    uint64_t id = fm_reader_take_varint(&loader->reader);
    if (id == 0) {
        return FM_OK;
    }
    take_order_members(loader, order);
    order->id = id;
    take_retry_memory(a, agent, order);
    fm_status status = take_route(a, order);
    if (status == FM_OK && !loader->reader.failed) {
        check_order(a, agent, order, is_queued);
        loader->world->orders.live += 1;
    }
    return status;
}

static fm_status load_queue(struct agents *a, struct fm_agent *agent)
{
    fm_reader *reader = &a->loader->reader;
    uint32_t count = fm_reader_take_count(reader, FM_ORDER_QUEUE_MAX, 4, "queued orders");
    if (!FM_RESERVE(a->loader->world, agent->queue, agent->queue_capacity, count)) {
        return FM_ERR_NO_MEMORY;
    }
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK && !reader->failed; i++) {
        agent->queue_count += 1;
        status = load_order(a, agent, &agent->queue[i], true);
        if (agent->queue[i].id == 0) {
            fm_reader_fail(reader, "A queued order has no number.");
        }
    }
    return status;
}

// ---- agents -------------------------------------------------------------------------------------

static void take_agent_members(fm_world_loader *loader, struct fm_agent *agent)
{
    fm_reader *reader = &loader->reader;
    uint64_t mask =
        fm_reader_take_bounded(reader, ((uint64_t)1 << AGENT_MEMBERS) - 1, "members of an agent");
    uint32_t count = 0;
#define NUMBER(member, limit)                                                                      \
    if (mask >> count++ & 1) {                                                                     \
        agent->member = (__typeof__(agent->member))take_number(reader, limit, #member);            \
    }
#define CELL(member)                                                                               \
    agent->member = mask >> count++ & 1 ? fm_loader_take_cell(loader, #member) : FM_CELL_NONE;
    FM_AGENT_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
    agent->credit = (int32_t)((int64_t)fm_reader_take_bounded(
                                  reader, FM_CREDIT_BIAS + FM_CREDIT_MAX, "credit") -
                              FM_CREDIT_BIAS);
}

// False when out of memory.
static bool take_tag(fm_world_loader *loader, struct fm_agent *agent)
{
    const uint8_t *bytes = fm_reader_take_bytes(&loader->reader, agent->tag_size, "tag");
    if (bytes == NULL || agent->tag_size == 0) {
        agent->tag_size = 0;
        return true;
    }
    if (!fm_agent_reserve_tag(loader->world, agent)) {
        return false;
    }
    memcpy(agent->tag->bytes, bytes, agent->tag_size);
    return true;
}

static void take_agent_spec(struct agents *a, struct fm_agent *agent)
{
    fm_reader *reader = &a->loader->reader;
    uint64_t form = fm_reader_take_bounded(reader, FM_SPEC_TEXT, "planner of an agent");
    if (form == FM_SPEC_OF_TEAM) {
        agent->spec = fm_team_of(a->loader->world, agent->team)->spec;
    } else if (form == FM_SPEC_TEXT) {
        fm_loader_take_spec(a->loader, &agent->spec);
        a->spec = &agent->spec;
    } else if (a->spec != NULL) {
        agent->spec = *a->spec;
    } else {
        fm_reader_fail(reader, "An agent has the planner of the one before, and there is none.");
    }
}

// Whether an agent can stand where it does.
static bool stands(const fm_world *world, const struct fm_agent *agent)
{
    uint32_t size = world->rules.classes[agent->class_index].size;
    bool on_map = agent->cell != FM_CELL_NONE &&
                  fm_cell_x(agent->cell) + size <= world->map.grid->width &&
                  fm_cell_y(agent->cell) + size <= world->map.grid->height;
    return on_map && (world->crowd.occupancy == NULL ||
                      fm_occupancy_is_free(world->crowd.occupancy, agent->cell, size, 0));
}

// From version 7 on.
static bool is_carried(const struct fm_agent *agent)
{
    return agent->state == FM_AGENT_CARRIED;
}

static void check_agent(struct agents *a, const struct fm_agent *agent)
{
    fm_reader *reader = &a->loader->reader;
    const fm_world *world = a->loader->world;
    if (reader->failed) {
        return;
    }
    uint32_t slot = (uint32_t)(agent - world->agents.slots);
    bool is_somewhere = is_carried(agent) ? agent->cell == FM_CELL_NONE : stands(world, agent);
    if (agent->class_index >= world->rules.class_count || !is_somewhere) {
        fm_reader_fail(reader, "Agent %u has no class, or stands off the map or in another.", slot);
    } else if (!speed_fits(world, agent->speed) || agent->born >= world->agents.born) {
        fm_reader_fail(reader, "Agent %u has a speed or birth out of range.", slot);
    } else if (!fm_world_planner_fits(world, &agent->spec, agent->team, agent->class_index)) {
        fm_reader_fail(reader, "Agent %u has a planner that cannot work on this map.", slot);
    }
}

static void come_in(fm_world *world, struct fm_agent *agent)
{
    if (is_carried(agent)) {
        fm_agent_mark_set(world, agent, FM_MARK_REHASH);
        return;
    }
    agent->alive = true;
    fm_agent_be_born(world, agent);
    fm_agent_mark_clear(world, agent, FM_MARK_CHANGED); // later watchers see it
    if (!agent->must_sense) {
        fm_agent_mark_clear(world, agent, FM_MARK_LOOK);
    }
    fm_agent_enter(world, agent);
}

static fm_status load_agent(struct agents *a, struct fm_agent *agent)
{
    fm_world_loader *loader = a->loader;
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    take_agent_members(loader, agent);
    if (!take_tag(loader, agent)) {
        return FM_ERR_NO_MEMORY;
    }
    take_agent_spec(a, agent);
    check_agent(a, agent);
    if (reader->failed) {
        return FM_OK;
    }
    world->agents.count += 1;
    fm_team_of(world, agent->team)->account.agents += 1;
    come_in(world, agent);
    fm_status status = fm_world_prepare_class(world, agent->team, agent->class_index);
    if (status == FM_OK && agent->sight != 0) {
        status = fm_world_prepare_sight(world, agent->sight);
    }
    if (status == FM_OK) {
        status = load_order(a, agent, &agent->order, false);
    }
    if (status == FM_OK && !reader->failed) {
        status = load_queue(a, agent);
    }
    if (fm_order_is_watched(&agent->order)) {
        fm_agent_mark_set(world, agent, FM_MARK_WATCH);
    }
    a->carried += is_carried(agent);
    if (is_carried(agent) && (agent->order.id != 0 || agent->queue_count > 0)) {
        fm_reader_fail(reader, "Slot %u is carried and has orders.",
                       fm_agent_id_of(world, agent).index1 - 1);
    }
    return status;
}

static fm_status load_slot(struct agents *a, uint32_t slot)
{
    fm_reader *reader = &a->loader->reader;
    struct fm_agent *agent = &a->loader->world->agents.slots[slot];
    uint32_t bits = a->loader->version < 5 ? 1 : 2;
    uint64_t word = fm_reader_take_bounded(
        reader, (((uint64_t)FM_AGENT_GENERATION_MAX + 1) << bits) - 1, "generation of an agent");
    bool alive = word & FM_SLOT_ALIVE, is_free = agent->is_ready;
    agent->generation = (uint32_t)(word >> bits);
    agent->name_generation = agent->generation;
    if (bits > 1 && word & FM_SLOT_RENAMED) {
        agent->name_generation = (uint32_t)fm_reader_take_bounded(reader, FM_AGENT_GENERATION_MAX,
                                                                  "generation of a name");
    }
    agent->is_ready = false;
    if (agent->team == FM_ALL_TEAMS || is_free != (!alive && fm_agent_slot_can_return(agent))) {
        fm_reader_fail(reader, "Slot %u has no team, or is not free as it should be.", slot);
    }
    return alive && !reader->failed ? load_agent(a, agent) : FM_OK;
}

static void take_passengers(struct agents *a)
{
    fm_world *world = a->loader->world;
    fm_reader *reader = &a->loader->reader;
    uint32_t slots = a->loader->agent_slots;
    for (uint32_t i = 0; i < a->carried && !reader->failed; i++) {
        uint32_t by = (uint32_t)fm_reader_take_bounded(reader, slots, "carrier");
        uint32_t who = (uint32_t)fm_reader_take_bounded(reader, slots, "agent carried");
        struct fm_agent *carrier = by > 0 ? fm_agent_at(world, by - 1) : NULL;
        struct fm_agent *agent = who > 0 ? fm_agent_at(world, who - 1) : NULL;
        if (reader->failed || carrier == NULL || agent == NULL || !carrier->alive ||
            !is_carried(agent) || agent->carrier != 0 || agent->team != carrier->team ||
            carrier->passenger_count == FM_PASSENGERS_MAX) {
            fm_reader_fail(reader, "Agent %u cannot carry agent %u.", by, who);
            return;
        }
        fm_agent_take_aboard(world, carrier, agent);
    }
}

fm_status fm_load_agents(fm_world_loader *loader)
{
    fm_world *world = loader->world;
    struct agents agents = {.loader = loader};
    fm_status status = FM_OK;
    for (uint32_t slot = 0; slot < loader->agent_slots && status == FM_OK; slot++) {
        status = load_slot(&agents, slot);
        if (loader->reader.failed) {
            return FM_OK;
        }
    }
    if (status != FM_OK) {
        return status;
    }
    if (world->agents.count != loader->agent_count) {
        fm_reader_fail(&loader->reader, "%u agents are alive, not %u as the head says.",
                       world->agents.count, loader->agent_count);
    }
    take_passengers(&agents);
    // Room for the end of each order, as commands leave it.
    return fm_interval_reserve(world, world->orders.live, 0) ? FM_OK : FM_ERR_NO_MEMORY;
}

// ---- planners -----------------------------------------------------------------------------------

fm_status fm_load_planners(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint32_t count = fm_reader_take_count(reader, loader->agent_count, 4, "planners");
    int64_t slot = 0;
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK; i++) {
        bool is_slot = take_slot(reader, world->agents.slot_count, &slot);
        if (reader->failed) {
            return FM_OK;
        }
        struct fm_agent *agent = is_slot ? &world->agents.slots[slot] : NULL;
        if (agent == NULL || !agent->alive || agent->planner != FM_SLOT_NONE ||
            agent->order.id == 0 ||
            (agent->order.goal == FM_CELL_NONE && agent->order.substitute == FM_CELL_NONE)) {
            fm_reader_fail(reader, "A planner belongs to no agent that could have one.");
            return FM_OK;
        }
        status = fm_planner_restore(world, agent, reader);
    }
    return status == FM_ERR_BAD_FORMAT ? FM_OK : status;
}
