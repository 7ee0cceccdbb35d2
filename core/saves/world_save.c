// core/saves/world_save.c: writes a world that is settled; see world_file.h, and world_file_state.h
// for what is written how.
//
// Two worlds with equal futures have equal bytes. What may still differ between them is not
// written, or is written in a neutral form: version numbers of logs and labels, capacities, free
// room, what only views and debugging show.

#include "core/saves/world_save.h"

#include "core/saves/world_file_state.h"
#include "core/saves/world_rows.h"
#include "core/world/planner_table.h"
#include "core/world/world_state.h"

struct save {
    const fm_world *world;
    fm_writer *writer;
    const struct fm_route *route; // written last, NULL: none yet
    const fm_planner_spec *spec;  // written last as text
};

// ---- sections -----------------------------------------------------------------------------------

static size_t begin_section(fm_writer *writer, fm_world_section section)
{
    fm_writer_put_u8(writer, (uint8_t)section);
    fm_writer_put_u64(writer, 0); // becomes the size
    return writer->size;
}

static void end_section(fm_writer *writer, size_t begin)
{
    if (writer->failed) {
        return;
    }
    size_t size = writer->size - begin;
    for (uint32_t i = 0; i < 8; i++) {
        writer->data[begin - 8 + i] = (uint8_t)((uint64_t)size >> 8 * i);
    }
    fm_writer_put_u64(writer, fm_bytes_checksum(writer->data + begin, size));
}

// ---- small parts --------------------------------------------------------------------------------

static void put_cell(struct save *s, fm_cell cell)
{
    fm_writer_put_varint(s->writer, cell);
}

static void put_rect(struct save *s, const fm_rect *rect)
{
    fm_writer_put_varint(s->writer, rect->x);
    fm_writer_put_varint(s->writer, rect->y);
    fm_writer_put_varint(s->writer, rect->width);
    fm_writer_put_varint(s->writer, rect->height);
}

static void put_spec(struct save *s, const fm_planner_spec *spec)
{
    char text[FM_PLANNER_SPEC_SIZE];
    fm_planner_spec_format(spec, text, sizeof text);
    fm_writer_put_text(s->writer, text);
}

static void put_id(struct save *s, fm_agent_id id)
{
    fm_writer_put_varint(s->writer, id.index1);
    fm_writer_put_varint(s->writer, id.generation);
}

// ---- head, rules, map ---------------------------------------------------------------------------

static void put_counts(struct save *s)
{
    const fm_world_counts *counts = &s->world->counts;
    for (uint32_t i = 0; i < FM_ENDS_OF_HEAD; i++) {
        fm_writer_put_varint(s->writer, counts->orders_ended[i]);
    }
    fm_writer_put_varint(s->writer, counts->expansions);
    fm_writer_put_varint(s->writer, counts->moves);
    fm_writer_put_varint(s->writer, counts->cells_edited);
    fm_writer_put_varint(s->writer, counts->first_move_ticks_sum);
    fm_writer_put_varint(s->writer, counts->first_move_count);
    for (uint32_t i = 0; i < FM_COUNT_OF(counts->first_move_histogram); i++) {
        fm_writer_put_varint(s->writer, counts->first_move_histogram[i]);
    }
}

// Agents removed since the last tick, whose followers are not notified yet.
static void put_removed(struct save *s)
{
    const fm_world *world = s->world;
    uint32_t count = world->interval.streamed ? 0 : world->interval.removed_count, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        kept += world->interval.removed[i].is_followed;
    }
    fm_writer_put_varint(s->writer, kept);
    for (uint32_t i = 0; i < count; i++) {
        if (!world->interval.removed[i].is_followed) {
            continue;
        }
        put_id(s, world->interval.removed[i].id);
        put_id(s, world->interval.removed[i].name);
        fm_writer_put_varint(s->writer, world->interval.removed[i].team);
        put_cell(s, world->interval.removed[i].cell);
    }
}

static void put_head(struct save *s)
{
    const fm_world *world = s->world;
    fm_writer_put_varint(s->writer, world->tick);
    fm_writer_put_varint(s->writer, world->map.grid->width);
    fm_writer_put_varint(s->writer, world->map.grid->height);
    fm_writer_put_varint(s->writer, world->teams.count);
    fm_writer_put_varint(s->writer, world->agents.count);
    fm_writer_put_varint(s->writer, world->agents.slot_count);
    fm_writer_put_u64(s->writer, world->digest);
    fm_writer_put_varint(s->writer, world->agents.born);
    fm_writer_put_varint(s->writer, world->orders.given);
    fm_writer_put_varint(s->writer, world->interval.map_edited);
    put_counts(s);
    put_removed(s);
    fm_writer_put_varint(s->writer, world->counts.orders_ended[FM_END_CROWDED]);
    fm_writer_put_varint(s->writer, world->counts.orders_ended[FM_END_DEADLINE]);
    fm_writer_put_varint(s->writer, world->counts.orders_ended[FM_END_BOARDED]);
}

static void put_rules(struct save *s)
{
    const fm_world_rules *rules = &s->world->rules;
    fm_writer_put_varint(s->writer, rules->connectivity);
    fm_writer_put_varint(s->writer, rules->steps);
    fm_writer_put_varint(s->writer, rules->sense.radius);
    fm_writer_put_varint(s->writer, rules->sense.shape);
    fm_writer_put_varint(s->writer, rules->sense.line_of_sight);
    put_spec(s, &rules->planner);
    fm_writer_put_varint(s->writer, rules->omniscient);
    fm_writer_put_varint(s->writer, rules->agents_max);
    fm_writer_put_varint(s->writer, rules->teams_max);
    fm_writer_put_varint(s->writer, rules->saved_ticks);
    fm_writer_put_varint(s->writer, rules->landmarks.count);
    fm_writer_put_varint(s->writer, rules->landmarks.placement);
    fm_writer_put_varint(s->writer, rules->landmarks.adaptive);
    fm_writer_put_varint(s->writer, rules->landmarks.allow_stale);
    // Rules that came later have bits beside the older one: older files are read as they are.
    fm_writer_put_varint(s->writer, rules->occupancy | (uint32_t)rules->pushed_stay << 1 |
                                        rules->blocked_ticks << 2);
    fm_writer_put_varint(s->writer, rules->tick_millihertz);
    fm_writer_put_varint(s->writer, rules->players_build);
    fm_writer_put_varint(s->writer, rules->class_count);
    for (uint32_t i = 0; i < rules->class_count; i++) {
        char text[FM_CLASS_TEXT_SIZE];
        fm_movement_class_format(&rules->classes[i], text, sizeof text);
        fm_writer_put_text(s->writer, text);
    }
}

static void put_map(struct save *s)
{
    const fm_grid *grid = s->world->map.grid;
    fm_rows_put_bytes(s->writer, grid->terrain, grid->width, grid->height);
    fm_writer_put_varint(s->writer, grid->weighted);
    if (grid->weighted) {
        fm_rows_put_bytes(s->writer, grid->cost, grid->width, grid->height);
    }
}

static void put_buildings(struct save *s)
{
    const fm_buildings *buildings = &s->world->map.buildings;
    fm_writer_put_varint(s->writer, buildings->placed);
    fm_writer_put_varint(s->writer, buildings->count);
    for (uint32_t i = 0; i < buildings->count; i++) {
        const fm_building *building = &buildings->list[i];
        fm_writer_put_varint(s->writer, building->id);
        fm_writer_put_varint(s->writer, building->team);
        put_rect(s, &building->rect);
        fm_rows_put_bytes(s->writer, building->under, building->rect.width, building->rect.height);
    }
}

// ---- teams --------------------------------------------------------------------------------------

static void put_stale_cells(struct save *s, const fm_knowledge *knowledge)
{
    uint32_t width = knowledge->truth->width, words = (width + 63) / 64;
    uint64_t rows[2][FM_SIDE_MAX / 64];
    for (uint32_t y = 0; y < knowledge->truth->height; y++) {
        uint64_t *row = rows[y & 1], *above = y == 0 ? NULL : rows[~y & 1];
        for (uint32_t word = 0; word < words; word++) {
            row[word] = fm_stale_word(&knowledge->stale, y, word);
        }
        fm_rows_put_bit_row(s->writer, row, above, width);
    }
}

static void put_stale_look(struct save *s, const fm_knowledge *knowledge, fm_cell cell)
{
    fm_learned look = fm_knowledge_look_up(knowledge, cell);
    fm_writer_put_u8(s->writer, look.terrain);
    if (s->world->map.grid->weighted) {
        fm_writer_put_u8(s->writer, look.cost);
    }
}

// How cells looked that have been edited since.
static void put_stale(struct save *s, const fm_knowledge *knowledge)
{
    bool any = fm_stale_count(&knowledge->stale) > 0;
    fm_writer_put_varint(s->writer, any);
    if (!any) {
        return;
    }
    put_stale_cells(s, knowledge);
    for (uint32_t y = 0; y < knowledge->truth->height; y++) {
        for (uint32_t word = 0; word < (knowledge->truth->width + 63) / 64; word++) {
            uint64_t bits = fm_stale_word(&knowledge->stale, y, word);
            for (; bits != 0; bits &= bits - 1) {
                put_stale_look(s, knowledge,
                               fm_cell_at(word * 64 + (uint32_t)__builtin_ctzll(bits), y));
            }
        }
    }
}

static void put_buildings_seen(struct save *s, const fm_buildings_seen *seen)
{
    fm_writer_put_varint(s->writer, seen->named);
    fm_writer_put_varint(s->writer, seen->count);
    for (uint32_t i = 0; i < seen->count; i++) {
        fm_writer_put_varint(s->writer, seen->list[i].id);
        fm_writer_put_varint(s->writer, seen->list[i].name);
        fm_writer_put_varint(s->writer, seen->list[i].team);
        put_rect(s, &seen->list[i].rect);
    }
}

static void put_knowledge(struct save *s, const fm_knowledge *knowledge)
{
    fm_writer_put_u64(s->writer, knowledge->digest);
    enum fm_weights_form form = knowledge->layer.added != NULL    ? FM_WEIGHTS_LAYER
                                : knowledge->view.weights != NULL ? FM_WEIGHTS_SEEN
                                                                  : FM_WEIGHTS_NONE;
    fm_writer_put_varint(s->writer, form);
    fm_writer_put_varint(s->writer, knowledge->wants_weights);
    fm_rows_put_bits(s->writer, &knowledge->known);
    put_stale(s, knowledge);
    put_buildings_seen(s, &knowledge->buildings_seen);
    if (form == FM_WEIGHTS_LAYER) {
        fm_rows_put_bytes(s->writer, knowledge->layer.added, s->world->map.grid->width,
                          s->world->map.grid->height);
    }
}

static void put_slots(struct save *s, const struct fm_team *team)
{
    const fm_world *world = s->world;
    uint32_t before = 0, free_count = 0;
    fm_writer_put_varint(s->writer, team->member_count);
    for (uint32_t i = 0; i < team->member_count; i++) {
        fm_writer_put_signed(s->writer, (int64_t)team->members[i] - before);
        before = team->members[i];
    }
    for (uint32_t slot = team->agent_free; slot != FM_SLOT_NONE;
         slot = world->agents.slots[slot].planner) {
        free_count += 1;
    }
    fm_writer_put_varint(s->writer, free_count);
    for (uint32_t slot = team->agent_free; slot != FM_SLOT_NONE;
         slot = world->agents.slots[slot].planner) {
        fm_writer_put_varint(s->writer, slot);
    }
}

static void put_team(struct save *s, const struct fm_team *team)
{
    const fm_account *account = &team->account;
    put_spec(s, &team->spec);
    fm_writer_put_varint(s->writer, account->weight);
    fm_writer_put_varint(s->writer, account->share);
    fm_writer_put_varint(s->writer, account->saved);
    fm_writer_put_varint(s->writer, account->used);
    fm_writer_put_varint(s->writer, account->used_total);
    fm_writer_put_varint(s->writer, team->orders_given);
    put_knowledge(s, team->knowledge);
    put_slots(s, team);
    uint32_t labeled = 0;
    for (uint32_t map = 0; map < FM_LABELED_MAPS; map++) {
        labeled |= (team->labels.maps[map].orders.labels != NULL ? 1u : 0u) << map;
    }
    fm_writer_put_varint(s->writer, labeled);
}

static void put_teams(struct save *s)
{
    for (uint32_t i = 0; i < s->world->teams.count; i++) {
        put_team(s, &s->world->teams.list[i]);
    }
}

// ---- agents and orders --------------------------------------------------------------------------

static void put_route(struct save *s, const struct fm_route *route)
{
    bool again = route != NULL && s->route != NULL && route->count == s->route->count &&
                 memcmp(route->cells, s->route->cells, route->count * sizeof(fm_cell)) == 0;
    if (route == NULL || again) {
        fm_writer_put_varint(s->writer, route == NULL ? FM_ROUTE_NONE : FM_ROUTE_AGAIN);
        return;
    }
    s->route = route;
    fm_writer_put_varint(s->writer, FM_ROUTE_CELLS);
    fm_writer_put_varint(s->writer, route->count);
    for (uint32_t i = 0; i < route->count; i++) {
        put_cell(s, route->cells[i]);
    }
}

static enum fm_retry_memory retry_memory(const fm_world *world, const struct fm_agent *agent,
                                         const struct fm_order *order)
{
    const struct fm_team *team = fm_team_of(world, agent->team);
    uint32_t map = fm_team_labels_map(team, agent->class_index);
    const fm_labels *labels = team->labels.maps[map].orders.labels;
    if (order->retry.change == 0) {
        return FM_RETRY_HAD_NONE;
    }
    return labels != NULL && fm_labels_graph_version(labels) == order->retry.change
               ? FM_RETRY_IS_SAME
               : FM_RETRY_IS_OTHER;
}

// A settled one stays settled as long as its team learns nothing.
static bool is_settled_still(const fm_world *world, const struct fm_agent *agent,
                             const struct fm_order *order)
{
    const fm_knowledge *knowledge = fm_team_of(world, agent->team)->knowledge;
    return fm_order_follows(order) && order->follow.settled &&
           order->follow.settled_version ==
               fm_knowledge_log(knowledge, agent->class_index)->version;
}

static void put_order(struct save *s, const struct fm_agent *agent, const struct fm_order *given)
{
    fm_writer_put_varint(s->writer, given->id);
    if (given->id == 0) {
        return;
    }
    struct fm_order copy = *given;
    const struct fm_order *order = &copy;
    if (fm_order_follows(order)) {
        bool settled = is_settled_still(s->world, agent, given);
        copy.follow.settled = settled;
        copy.follow.settled_cell = settled ? copy.follow.settled_cell : FM_CELL_NONE;
    }
    uint32_t is = 1u << order->kind;
    uint64_t mask = 0;
    uint32_t count = 0;
#define NUMBER(kinds, member, limit)                                                               \
    mask |= (uint64_t)(is & (kinds) && order->member != 0) << count++;
#define CELL(kinds, member)                                                                        \
    mask |= (uint64_t)(is & (kinds) && order->member != FM_CELL_NONE) << count++;
    FM_ORDER_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
    fm_writer_put_varint(s->writer, mask);
    count = 0;
#define NUMBER(kinds, member, limit)                                                               \
    if (mask >> count++ & 1) {                                                                     \
        fm_writer_put_varint(s->writer, (uint64_t)order->member);                                  \
    }
#define CELL(kinds, member)                                                                        \
    if (mask >> count++ & 1) {                                                                     \
        put_cell(s, order->member);                                                                \
    }
    FM_ORDER_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
    fm_writer_put_varint(s->writer, retry_memory(s->world, agent, order));
    put_route(s, order->route);
}

static void put_agent_spec(struct save *s, const struct fm_agent *agent)
{
    if (fm_planner_spec_equals(&agent->spec, &fm_team_of(s->world, agent->team)->spec)) {
        fm_writer_put_varint(s->writer, FM_SPEC_OF_TEAM);
    } else if (s->spec != NULL && fm_planner_spec_equals(&agent->spec, s->spec)) {
        fm_writer_put_varint(s->writer, FM_SPEC_AGAIN);
    } else {
        fm_writer_put_varint(s->writer, FM_SPEC_TEXT);
        put_spec(s, &agent->spec);
        s->spec = &agent->spec;
    }
}

static void put_agent(struct save *s, const struct fm_agent *agent)
{
    uint64_t mask = 0;
    uint32_t count = 0;
#define NUMBER(member, limit) mask |= (uint64_t)(agent->member != 0) << count++;
#define CELL(member)          mask |= (uint64_t)(agent->member != FM_CELL_NONE) << count++;
    FM_AGENT_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
    fm_writer_put_varint(s->writer, mask);
#define NUMBER(member, limit)                                                                      \
    if (agent->member != 0) {                                                                      \
        fm_writer_put_varint(s->writer, (uint64_t)agent->member);                                  \
    }
#define CELL(member)                                                                               \
    if (agent->member != FM_CELL_NONE) {                                                           \
        put_cell(s, agent->member);                                                                \
    }
    FM_AGENT_MEMBER_LIST(NUMBER, CELL)
#undef NUMBER
#undef CELL
    fm_writer_put_varint(s->writer, (uint64_t)(agent->credit + FM_CREDIT_BIAS));
    if (agent->tag_size > 0) {
        fm_writer_put_bytes(s->writer, agent->tag->bytes, agent->tag_size);
    }
    put_agent_spec(s, agent);
    put_order(s, agent, &agent->order);
    fm_writer_put_varint(s->writer, agent->queue_count);
    for (uint32_t i = 0; i < agent->queue_count; i++) {
        put_order(s, agent, &agent->queue[i]);
    }
}

// Carrier and passenger, for each agent that is carried, in the order in which they came aboard.
static void put_passengers(struct save *s)
{
    const struct fm_world_agents *agents = &s->world->agents;
    for (uint32_t slot = 0; slot < agents->slot_count; slot++) {
        uint32_t next = agents->slots[slot].alive ? agents->slots[slot].passengers : 0;
        for (; next != 0; next = agents->slots[next - 1].next_passenger) {
            fm_writer_put_varint(s->writer, slot + 1);
            fm_writer_put_varint(s->writer, next);
        }
    }
}

static void put_agents(struct save *s)
{
    for (uint32_t slot = 0; slot < s->world->agents.slot_count; slot++) {
        const struct fm_agent *agent = &s->world->agents.slots[slot];
        bool renamed = agent->name_generation != agent->generation;
        bool is_there = agent->alive || agent->carrier != 0;
        fm_writer_put_varint(s->writer, (uint64_t)agent->generation << 2 |
                                            (renamed ? FM_SLOT_RENAMED : 0) | is_there);
        if (renamed) {
            fm_writer_put_varint(s->writer, agent->name_generation);
        }
        if (is_there) {
            put_agent(s, agent);
        }
    }
    put_passengers(s);
}

// ---- planners -----------------------------------------------------------------------------------

static void put_planners(struct save *s)
{
    const fm_world *world = s->world;
    fm_writer_put_varint(s->writer, world->planners.slot_count);
    uint32_t before = 0;
    for (uint32_t i = 0; i < world->planners.slot_count; i++) {
        uint32_t slot = world->planners.slots[i].first_agent;
        FM_ASSERT(world->planners.slots[i].in_use && world->agents.slots[slot].planner == i);
        fm_writer_put_signed(s->writer, (int64_t)slot - before);
        fm_planner_save(&world->planners.slots[i], s->writer);
        before = slot;
    }
}

// ---- receipts -----------------------------------------------------------------------------------

static void put_receipt(struct save *s, const fm_receipt *receipt)
{
    fm_writer_put_varint(s->writer, receipt->id);
    fm_writer_put_u64(s->writer, receipt->request);
    fm_writer_put_varint(s->writer, receipt->kind);
    fm_writer_put_varint(s->writer, receipt->first_order);
    fm_writer_put_varint(s->writer, receipt->first_number);
    fm_writer_put_varint(s->writer, receipt->changed_count);
    fm_writer_put_varint(s->writer, receipt->made);
    fm_writer_put_varint(s->writer, receipt->made_name);
    fm_writer_put_varint(s->writer, receipt->agent_count);
    for (uint32_t i = 0; i < receipt->agent_count; i++) {
        put_id(s, receipt->agents[i].id);
        fm_writer_put_varint(s->writer, receipt->agents[i].name_index1);
    }
}

// The seat that was used first after `used`, which is how they are ordered: where each stands in
// memory depends on commands that were refused. NULL: there are no more.
static const fm_receipt_seat *seat_after(const fm_receipts *receipts, uint64_t used)
{
    const fm_receipt_seat *next = NULL;
    for (uint32_t i = 0; i < receipts->count; i++) {
        const fm_receipt_seat *seat = &receipts->seats[i];
        next = seat->used > used && (next == NULL || seat->used < next->used) ? seat : next;
    }
    return next;
}

static void put_receipts(struct save *s)
{
    const fm_receipts *receipts = &s->world->receipts;
    uint32_t count = 0;
    for (uint32_t i = 0; i < receipts->count; i++) {
        count += receipts->seats[i].count > 0;
    }
    fm_writer_put_varint(s->writer, count);
    const fm_receipt_seat *seat = seat_after(receipts, 0);
    for (; seat != NULL; seat = seat_after(receipts, seat->used)) {
        fm_writer_put_varint(s->writer, seat->seat);
        fm_writer_put_varint(s->writer, seat->count);
        for (uint32_t age = seat->count; age > 0; age--) {
            put_receipt(s, fm_receipt_at(seat, age - 1));
        }
    }
}

// ---- the file -----------------------------------------------------------------------------------

fm_status fm_world_save(const fm_world *world, fm_writer *writer)
{
    FM_ASSERT(world->settled);
    static void (*const sections[FM_SECTION_COUNT])(struct save *) = {
        [FM_SECTION_HEAD] = put_head,         [FM_SECTION_RULES] = put_rules,
        [FM_SECTION_MAP] = put_map,           [FM_SECTION_BUILDINGS] = put_buildings,
        [FM_SECTION_TEAMS] = put_teams,       [FM_SECTION_AGENTS] = put_agents,
        [FM_SECTION_PLANNERS] = put_planners, [FM_SECTION_RECEIPTS] = put_receipts,
    };
    struct save save = {.world = world, .writer = writer};
    fm_writer_put_bytes(writer, FM_WORLD_MAGIC, FM_WORLD_MAGIC_SIZE);
    fm_writer_put_u32(writer, FM_WORLD_FILE_VERSION);
    for (uint32_t i = 0; i < FM_SECTION_COUNT; i++) {
        size_t begin = begin_section(writer, (fm_world_section)i);
        sections[i](&save);
        end_section(writer, begin);
    }
    return writer->failed ? FM_ERR_NO_MEMORY : FM_OK;
}
