// core/saves/world_load.c: makes a world from a file that may be anything; see world_file.h.
//
// Sizes and checksums of all sections are checked first: accidental damage is found there. A forged
// file gets further, so every number is checked against its range where it is read. What cannot be
// checked (whether a world could ever get into this state) does no harm: the tick accepts any state
// whose parts are in their ranges.

#include "core/saves/world_load.h"

#include "core/commands/create.h"
#include "core/commands/permit.h"
#include "core/saves/world_file_state.h"
#include "core/saves/world_load_agents.h"
#include "core/saves/world_loader.h"
#include "core/saves/world_rows.h"
#include "core/world/world_state.h"

static uint32_t take_limited(fm_world_loader *loader, uint64_t first, uint64_t last,
                             const char *what)
{
    uint64_t value = fm_reader_take_bounded(&loader->reader, last, what);
    if (value < first) {
        fm_reader_fail(&loader->reader, "%s: %llu is less than %llu.", what,
                       (unsigned long long)value, (unsigned long long)first);
    }
    return (uint32_t)value;
}

// ---- the file as a whole ------------------------------------------------------------------------

static fm_reader begin_file(const void *bytes, size_t size, uint32_t *version,
                            fm_bytes_error *error)
{
    fm_reader reader = fm_reader_init(bytes, size, error);
    const uint8_t *magic = fm_reader_take_bytes(&reader, FM_WORLD_MAGIC_SIZE, "the first line");
    if (magic != NULL && memcmp(magic, FM_WORLD_MAGIC, FM_WORLD_MAGIC_SIZE) != 0) {
        reader.offset = 0;
        fm_reader_fail(&reader, "This is not a saved world: it does not begin with \"FMWORLD\".");
    }
    *version = fm_reader_take_u32(&reader);
    if (!reader.failed && (*version < 1 || *version > FM_WORLD_FILE_VERSION)) {
        fm_reader_fail(&reader,
                       "Version %u of a saved world is unknown; this program knows 1 to %u.",
                       *version, FM_WORLD_FILE_VERSION);
    }
    return reader;
}

// Moves to a section's first byte and sets the end behind its last. Returns where the next begins.
static size_t begin_section(fm_reader *reader, size_t file_size, fm_world_section section)
{
    const char *name = fm_world_section_name(section);
    reader->size = file_size;
    uint8_t which = fm_reader_take_u8(reader);
    uint64_t size = fm_reader_take_u64(reader);
    if (which != section) {
        fm_reader_fail(reader, "Section \"%s\" should begin here, not number %u.", name, which);
    }
    size_t left = fm_reader_left(reader);
    if (left < FM_SECTION_TAIL_SIZE || size > left - FM_SECTION_TAIL_SIZE) {
        fm_reader_fail(reader, "Section \"%s\" of %llu bytes is cut off.", name,
                       (unsigned long long)size);
        return file_size;
    }
    reader->size = reader->offset + (size_t)size;
    return reader->size + FM_SECTION_TAIL_SIZE;
}

static void check_section(fm_reader *reader, size_t file_size, fm_world_section section)
{
    size_t next = begin_section(reader, file_size, section);
    if (reader->failed) {
        return;
    }
    uint64_t sum = fm_bytes_checksum(reader->data + reader->offset, reader->size - reader->offset);
    reader->offset = reader->size;
    reader->size = file_size;
    if (fm_reader_take_u64(reader) != sum) {
        fm_reader_fail(reader, "Section \"%s\" is damaged: its checksum is another.",
                       fm_world_section_name(section));
    }
    FM_ASSERT(reader->failed || reader->offset == next);
}

static fm_status check_sections(const void *bytes, size_t size, fm_bytes_error *error)
{
    uint32_t version;
    fm_reader reader = begin_file(bytes, size, &version, error);
    for (uint32_t i = 0; i < fm_world_section_count(version) && !reader.failed; i++) {
        check_section(&reader, size, (fm_world_section)i);
    }
    return fm_reader_finish(&reader);
}

// ---- head ---------------------------------------------------------------------------------------

// What a file says of its world first.
struct file_info {
    uint64_t tick; // ticks completed
    uint32_t width, height;
    uint32_t teams, agents; // agents alive
    uint32_t agent_slots;
};

static void take_info(fm_reader *reader, struct file_info *info)
{
    info->tick = fm_reader_take_varint(reader);
    info->width = (uint32_t)fm_reader_take_bounded(reader, FM_SIDE_MAX, "width of the map");
    info->height = (uint32_t)fm_reader_take_bounded(reader, FM_SIDE_MAX, "height of the map");
    info->teams = (uint32_t)fm_reader_take_bounded(reader, FM_TEAMS_MAX, "teams");
    info->agents = (uint32_t)fm_reader_take_bounded(reader, FM_AGENTS_MAX, "agents");
    info->agent_slots = (uint32_t)fm_reader_take_bounded(reader, FM_AGENTS_MAX, "slots of agents");
    if (!reader->failed && (info->width == 0 || info->height == 0)) {
        fm_reader_fail(reader, "The map has no cells.");
    }
    if (info->agents > info->agent_slots) {
        fm_reader_fail(reader, "There are %u agents in %u slots.", info->agents, info->agent_slots);
    }
}

// What the head says that has its place in the world only once there is one.
struct head {
    uint64_t tick, digest, agents_born, orders_given;
    bool map_edited;
    fm_world_counts counts;
    fm_reader removed; // at the list of removed agents
};

static void take_counts(fm_reader *reader, fm_world_counts *counts)
{
    for (uint32_t i = 0; i < FM_ENDS_OF_HEAD; i++) {
        counts->orders_ended[i] = fm_reader_take_varint(reader);
    }
    counts->expansions = fm_reader_take_varint(reader);
    counts->moves = fm_reader_take_varint(reader);
    counts->cells_edited = fm_reader_take_varint(reader);
    counts->first_move_ticks_sum = fm_reader_take_varint(reader);
    counts->first_move_count = fm_reader_take_varint(reader);
    for (uint32_t i = 0; i < FM_COUNT_OF(counts->first_move_histogram); i++) {
        counts->first_move_histogram[i] =
            (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "first moves");
    }
}

static fm_agent_id take_id(fm_reader *reader, uint32_t index1_max, const char *what)
{
    fm_agent_id id = {.index1 = (uint32_t)fm_reader_take_bounded(reader, index1_max, what)};
    id.generation = (uint32_t)fm_reader_take_bounded(reader, FM_AGENT_GENERATION_MAX, what);
    if (id.index1 == 0) {
        fm_reader_fail(reader, "%s: ids begin at 1.", what);
    }
    return id;
}

static void take_removed(fm_world_loader *loader, fm_agent_left *left)
{
    fm_reader *reader = &loader->reader;
    left->id = take_id(reader, loader->agent_slots, "agent removed");
    left->name = take_id(reader, UINT32_MAX, "name of an agent removed");
    left->team = fm_loader_take_team(loader, false, "team of an agent removed");
    left->cell = fm_loader_take_cell(loader, "cell of an agent removed");
    left->reason = FM_LEAVE_REMOVED;
    left->is_followed = true;
}

// Each is named by an order at least. Older files list others, too.
static uint32_t take_removed_count(fm_reader *reader)
{
    return fm_reader_take_count(reader, UINT32_MAX, 6, "agents removed");
}

static void take_head(fm_world_loader *loader, struct head *head)
{
    fm_reader *reader = &loader->reader;
    struct file_info info;
    take_info(reader, &info);
    head->tick = info.tick;
    loader->width = info.width;
    loader->height = info.height;
    loader->team_count = info.teams;
    loader->agent_count = info.agents;
    loader->agent_slots = info.agent_slots;
    head->digest = fm_reader_take_u64(reader);
    head->agents_born = fm_reader_take_varint(reader);
    head->orders_given = fm_reader_take_varint(reader);
    head->map_edited = fm_reader_take_bool(reader, "map_edited");
    take_counts(reader, &head->counts);
    head->removed = *reader;
    uint32_t count = take_removed_count(reader);
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        fm_agent_left left;
        take_removed(loader, &left);
    }
    if (loader->version >= 3 || (!reader->failed && fm_reader_left(reader) > 0)) {
        head->counts.orders_ended[FM_END_CROWDED] = fm_reader_take_varint(reader);
    }
    if (loader->version >= 5) {
        head->counts.orders_ended[FM_END_DEADLINE] = fm_reader_take_varint(reader);
    }
    if (loader->version >= 7) {
        head->counts.orders_ended[FM_END_BOARDED] = fm_reader_take_varint(reader);
    }
}

// Reads the list again, now that it is checked.
static fm_status fill_removed(fm_world_loader *loader, const struct head *head)
{
    fm_world *world = loader->world;
    fm_reader reader = loader->reader;
    loader->reader = head->removed;
    uint32_t count = take_removed_count(&loader->reader);
    fm_status status =
        FM_RESERVE(world, world->interval.removed, world->interval.removed_capacity, count)
            ? FM_OK
            : FM_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < count && status == FM_OK; i++) {
        take_removed(loader, &world->interval.removed[world->interval.removed_count++]);
    }
    loader->reader = reader;
    return status;
}

static fm_status fill_head(fm_world_loader *loader, const struct head *head)
{
    fm_world *world = loader->world;
    world->tick = head->tick;
    world->digest = head->digest;
    world->agents.born = head->agents_born;
    world->orders.given = head->orders_given;
    world->interval.map_edited = head->map_edited;
    world->counts = head->counts;
    return fill_removed(loader, head);
}

// ---- rules and map ------------------------------------------------------------------------------

static void take_classes(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    fm_world_rules *rules = &loader->rules;
    rules->class_count = take_limited(loader, 1, FM_CLASSES_MAX, "movement classes");
    for (uint32_t i = 0; i < rules->class_count && !reader->failed; i++) {
        char text[FM_CLASS_TEXT_SIZE], error[120];
        fm_reader_take_text(reader, text, sizeof text, "movement class");
        if (!reader->failed &&
            fm_movement_class_parse(text, &rules->classes[i], error, sizeof error) != FM_OK) {
            fm_reader_fail(reader, "movement class: %s", error);
        }
    }
}

static void take_rules(fm_world_loader *loader)
{
    fm_world_rules *rules = &loader->rules;
    rules->connectivity =
        (fm_connectivity)take_limited(loader, 0, FM_CONNECT_8_CORNERS, "connectivity");
    rules->steps = (fm_step_costs)take_limited(loader, 0, FM_STEPS_70_99, "step costs");
    rules->sense.radius = take_limited(loader, 1, FM_SENSE_RADIUS_MAX, "sense radius");
    rules->sense.shape = (fm_sense_shape)take_limited(loader, 0, FM_SENSE_DISC, "sense shape");
    rules->sense.line_of_sight = take_limited(loader, 0, 1, "line of sight") == 1;
    fm_loader_take_spec(loader, &rules->planner);
    rules->omniscient = take_limited(loader, 0, 1, "omniscient") == 1;
    rules->agents_max = take_limited(loader, 1, FM_AGENTS_MAX, "agents_max");
    rules->teams_max = take_limited(loader, 1, FM_TEAMS_MAX, "teams_max");
    rules->saved_ticks = take_limited(loader, 0, FM_SAVED_TICKS_MAX, "saved_ticks");
    rules->landmarks.count = take_limited(loader, 0, FM_LANDMARKS_MAX, "landmarks");
    rules->landmarks.placement =
        (fm_placement)take_limited(loader, 0, FM_PLACE_PAST_THE_GOAL, "placement of landmarks");
    rules->landmarks.adaptive = take_limited(loader, 0, 1, "landmarks that move") == 1;
    rules->landmarks.allow_stale = take_limited(loader, 0, 1, "stale landmarks") == 1;
    uint32_t occupancy = take_limited(loader, 0, FM_BLOCKED_TICKS_MAX << 2 | 3, "occupancy");
    rules->occupancy = (fm_occupancy_rule)(occupancy & 1);
    rules->pushed_stay = (occupancy >> 1 & 1) == 1;
    rules->blocked_ticks = occupancy >> 2;
    if (loader->version == 1 && rules->occupancy == FM_OCCUPANCY_EXCLUSIVE) {
        fm_reader_fail(
            &loader->reader,
            "Version 1 of a saved world where a cell holds one unit cannot be read any more.");
    }
    rules->tick_millihertz = take_limited(loader, 1, FM_TICK_MILLIHERTZ_MAX, "tick rate");
    rules->players_build = take_limited(loader, 0, FM_PERMIT_COUNT_MAX, "players_build");
    take_classes(loader);
    if (loader->team_count > rules->teams_max || loader->agent_count > rules->agents_max) {
        fm_reader_fail(&loader->reader, "There are more teams or agents than the rules allow.");
    }
}

static void fill_grid(fm_grid *grid, const uint8_t *terrain, const uint8_t *cost)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            size_t i = (size_t)y * grid->width + x;
            fm_grid_set(grid, fm_cell_at(x, y), (fm_terrain)terrain[i],
                        cost == NULL ? FM_COST_FLOOR : cost[i]);
        }
    }
    if (cost != NULL) {
        fm_grid_make_weighted(grid);
    }
}

static fm_status take_map(fm_world_loader *loader, fm_grid *grid)
{
    fm_reader *reader = &loader->reader;
    size_t cell_count = (size_t)grid->width * grid->height;
    uint8_t *layers = fm_memory_allocate(loader->memory, 2 * cell_count);
    if (layers == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    uint8_t *terrain = layers, *cost = layers + cell_count;
    fm_rows_take_bytes(reader, terrain, grid->width, grid->height, FM_TERRAIN_GROUND,
                       FM_TERRAIN_COUNT - 1, "terrain");
    bool weighted = fm_reader_take_bool(reader, "weighted");
    if (weighted) {
        fm_rows_take_bytes(reader, cost, grid->width, grid->height, FM_COST_FLOOR, FM_COST_MAX,
                           "costs");
    }
    if (!reader->failed) {
        fill_grid(grid, terrain, weighted ? cost : NULL);
    }
    fm_memory_release(loader->memory, layers, 2 * cell_count);
    return FM_OK;
}

// Makes the world, which has no teams yet.
static fm_status load_map(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    // Each row takes a byte at least, so a few bytes cannot claim a large map.
    if (fm_reader_left(reader) < loader->height) {
        fm_reader_fail(reader, "The map is cut off.");
        return FM_OK;
    }
    fm_grid *grid;
    fm_status status = fm_grid_create(loader->width, loader->height, loader->memory, &grid);
    if (status != FM_OK) {
        return status;
    }
    status = take_map(loader, grid);
    if (status == FM_OK && !reader->failed) {
        status = fm_world_create(&loader->rules, grid, loader->memory, &loader->world);
    }
    if (loader->world == NULL) {
        fm_grid_destroy(grid);
    }
    if (status == FM_ERR_BAD_VALUE) {
        fm_reader_fail(reader, "The rules of the world contradict each other, or the map.");
        return FM_OK;
    }
    return status;
}

// ---- buildings ----------------------------------------------------------------------------------

static bool is_site(const fm_world *world, const fm_rect *rect)
{
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            if (world->map.grid->terrain[fm_grid_index(world->map.grid, cell)] !=
                    FM_TERRAIN_BUILDING ||
                fm_buildings_at(&world->map.buildings, cell) != 0) {
                return false;
            }
        }
    }
    return true;
}

static fm_status take_building(fm_world_loader *loader, uint32_t placed)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    fm_buildings *buildings = &world->map.buildings;
    uint32_t id = (uint32_t)fm_reader_take_bounded(reader, placed, "building");
    uint32_t team = fm_loader_take_team(loader, true, "owner of a building");
    fm_rect rect = fm_loader_take_rect(loader);
    if (id <= buildings->placed || !is_site(world, &rect)) {
        fm_reader_fail(reader, "Building %u is out of order, or not where the map has one.", id);
    }
    if (reader->failed) {
        return FM_OK;
    }
    size_t cell_count = (size_t)rect.width * rect.height;
    uint8_t *under = fm_memory_allocate(&world->memory, cell_count);
    fm_status status = fm_buildings_reserve(buildings);
    if (under == NULL || status != FM_OK) {
        fm_memory_release(&world->memory, under, cell_count);
        return FM_ERR_NO_MEMORY;
    }
    fm_rows_take_bytes(reader, under, rect.width, rect.height, FM_TERRAIN_GROUND,
                       FM_TERRAIN_BUILDING - 1, "terrain under a building");
    buildings->placed = id - 1;
    fm_buildings_add(buildings, team, rect, under);
    fm_buildings_seen_note(&world->map.buildings_shown, buildings, fm_cell_at(rect.x, rect.y));
    return FM_OK;
}

// In the view of everything a building's alias is its id.
static void name_buildings(fm_world *world)
{
    for (uint32_t i = 0; i < world->map.buildings_shown.count; i++) {
        world->map.buildings_shown.list[i].name = world->map.buildings_shown.list[i].id;
    }
    world->map.buildings_shown.named = world->map.buildings.placed;
    world->map.buildings_shown.changed = false;
}

static uint64_t count_building_cells(const fm_grid *grid)
{
    uint64_t count = 0;
    for (size_t i = 0; i < (size_t)grid->width * grid->height; i++) {
        count += grid->terrain[i] == FM_TERRAIN_BUILDING;
    }
    return count;
}

static fm_status load_buildings(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    fm_world *world = loader->world;
    uint32_t placed = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "buildings placed");
    uint32_t count = fm_reader_take_count(reader, FM_BUILDINGS_MAX, 7, "buildings");
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        fm_status status = take_building(loader, placed);
        if (status != FM_OK) {
            return status;
        }
    }
    uint64_t cell_count = 0;
    for (uint32_t i = 0; i < world->map.buildings.count; i++) {
        const fm_rect *rect = &world->map.buildings.list[i].rect;
        cell_count += (uint64_t)rect->width * rect->height;
    }
    if (cell_count != count_building_cells(world->map.grid)) {
        fm_reader_fail(reader, "The map has cells of buildings that are not there.");
    }
    world->map.buildings.placed = placed;
    name_buildings(world);
    return FM_OK;
}

// ---- receipts -----------------------------------------------------------------------------------

static fm_status take_receipt(fm_world_loader *loader, uint32_t seat)
{
    fm_reader *reader = &loader->reader;
    fm_receipts *receipts = &loader->world->receipts;
    const fm_memory *memory = &loader->world->memory;
    fm_receipt receipt = {.id = fm_reader_take_varint(reader)};
    receipt.request = fm_reader_take_u64(reader);
    receipt.kind = (fm_command_kind)take_limited(loader, 0, FM_COMMAND_KIND_LAST, "receipt");
    receipt.first_order = fm_reader_take_varint(reader);
    receipt.first_number = fm_reader_take_varint(reader);
    receipt.changed_count = take_limited(loader, 0, UINT32_MAX, "count of a receipt");
    receipt.made = take_limited(loader, 0, UINT32_MAX, "receipt");
    receipt.made_name = take_limited(loader, 0, UINT32_MAX, "receipt");
    receipt.agent_count =
        fm_reader_take_count(reader, FM_COMMAND_CELLS_MAX, 3, "agents of a receipt");
    if (!reader->failed && (receipt.id == 0 || fm_receipts_find(receipts, seat, receipt.id))) {
        fm_reader_fail(reader, "The id of a receipt is 0, or there twice.");
    }
    if (reader->failed) {
        return FM_OK;
    }
    if (fm_receipts_reserve(receipts, memory, seat, receipt.agent_count, &receipt.agents) !=
        FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < receipt.agent_count; i++) {
        receipt.agents[i].id = take_id(reader, UINT32_MAX, "agent of a receipt");
        receipt.agents[i].name_index1 = take_limited(loader, 0, UINT32_MAX, "name in a receipt");
    }
    fm_receipts_add(receipts, memory, seat, &receipt);
    return FM_OK;
}

static fm_status take_receipt_seat(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    uint32_t seat = take_limited(loader, 0, FM_TEAMS_MAX, "seat of receipts");
    uint32_t count = fm_reader_take_count(reader, FM_RECEIPTS_OF_SEAT, 16, "receipts of a seat");
    if (!reader->failed && count == 0) {
        fm_reader_fail(reader, "A seat has no receipts.");
    }
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK && !reader->failed; i++) {
        status = take_receipt(loader, seat);
    }
    return status;
}

static fm_status load_receipts(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    uint32_t count = fm_reader_take_count(reader, FM_RECEIPTS_SEATS_MAX, 18, "seats of receipts");
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK && !reader->failed; i++) {
        status = take_receipt_seat(loader);
    }
    return status;
}

// ---- all of it ----------------------------------------------------------------------------------

static fm_status load_sections(fm_world_loader *loader, size_t file_size)
{
    static fm_status (*const sections[FM_SECTION_COUNT])(fm_world_loader *) = {
        [FM_SECTION_MAP] = load_map,
        [FM_SECTION_BUILDINGS] = load_buildings,
        [FM_SECTION_TEAMS] = fm_load_teams,
        [FM_SECTION_AGENTS] = fm_load_agents,
        [FM_SECTION_PLANNERS] = fm_load_planners,
        [FM_SECTION_RECEIPTS] = load_receipts,
    };
    fm_reader *reader = &loader->reader;
    struct head head = {0};
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < fm_world_section_count(loader->version); i++) {
        size_t next = begin_section(reader, file_size, (fm_world_section)i);
        if (i == FM_SECTION_HEAD) {
            take_head(loader, &head);
        } else if (i == FM_SECTION_RULES) {
            take_rules(loader);
        } else {
            status = sections[i](loader);
        }
        if (status == FM_OK && i == FM_SECTION_MAP && !reader->failed) {
            status = fill_head(loader, &head);
        }
        if (status == FM_OK) {
            status = fm_reader_finish(reader);
        }
        if (status != FM_OK) {
            return status;
        }
        reader->offset = next;
    }
    return FM_OK;
}

fm_status fm_world_load(const void *bytes, size_t size, const fm_memory *memory, fm_world **out,
                        fm_bytes_error *error)
{
    fm_status status = check_sections(bytes, size, error);
    if (status != FM_OK) {
        return status;
    }
    fm_world_loader loader = {.memory = memory};
    loader.reader = begin_file(bytes, size, &loader.version, error);
    status = load_sections(&loader, size);
    if (status != FM_OK) {
        if (status == FM_ERR_NO_MEMORY) {
            fm_reader_fail(&loader.reader, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        }
        fm_world_destroy(loader.world);
        return status;
    }
    loader.world->settled = true;
    *out = loader.world;
    return FM_OK;
}
