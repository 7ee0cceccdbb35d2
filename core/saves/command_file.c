// core/saves/command_file.c: see command_file.h.
//
// A field that is zero is not written; a field that is marked as set but zero is refused. So
// whatever is accepted has one form, and packing it again gives the same bytes.

#include "core/saves/command_file.h"

#define COMMAND_MARK 'C'
#define RECORD_MARK  'T'

// Kinds of command, as a set: those that share a struct in the union of fm_command.
#define OF(kind) (1u << FM_COMMAND_##kind)
#define ANY      UINT32_MAX
#define PLANS    (OF(TEAM) | OF(SPAWN) | OF(PLANNER))
#define ORDERS   OF(ORDER)
#define AREAS    (OF(TERRAIN) | OF(BUILD) | OF(COST))
#define EDITS    (OF(TERRAIN) | OF(BUILD))
#define REMOVES  OF(DEMOLISH)
#define SETS     OF(SET)
#define PLACES   OF(PLACE)
#define NAMES    (OF(ORDER) | OF(CANCEL))
#define RESUMES  OF(RESUME)
#define BOARDS   (OF(BOARD) | OF(UNBOARD))

// X(kinds that have it, member of fm_command, largest value, what it is called in errors). Bools
// have no value behind the mask. Entries are only ever added, at the end of the last list: between
// two of them lie the bits of a command's id, and of its orders.
#define EARLIER_LIST(X)                                                                            \
    X(ANY, team, UINT32_MAX, "team")                                                               \
    X(ORDERS, order, FM_ORDER_KIND_COUNT - 1, "order")                                             \
    X(ORDERS, on_unreachable, FM_UNREACHABLE_WAIT, "on_unreachable")                               \
    X(EDITS, terrain, FM_TERRAIN_COUNT - 1, "terrain")                                             \
    X(AREAS, cost, UINT8_MAX, "cost")                                                              \
    X(PLANS | SETS, class_index, UINT32_MAX, "class")                                              \
    X(EDITS, on_units, FM_UNITS_REFUSE, "on_units")                                                \
    X(REMOVES, building, UINT32_MAX, "building")                                                   \
    X(ORDERS, queue, 1, "queue")                                                                   \
    X(ORDERS | BOARDS, radius, UINT32_MAX, "radius")                                               \
    X(ORDERS, loop, 1, "loop")                                                                     \
    X(ORDERS, spread, 1, "spread")                                                                 \
    X(ORDERS, formation, FM_FORMATION_BOX, "formation")                                            \
    X(ORDERS, common_speed, 1, "common_speed")                                                     \
    X(ORDERS, max_detour, UINT32_MAX, "max_detour")                                                \
    X(PLANS | PLACES, placing, FM_PLACE_NEAREST, "placing")                                        \
    X(PLANS | SETS, speed, UINT32_MAX, "speed")                                                    \
    X(PLANS, weight, UINT32_MAX, "weight")                                                         \
    X(ORDERS, agents_a_tick, UINT32_MAX, "agents_a_tick")

#define LATER_LIST(X)                                                                              \
    X(SETS, set, UINT8_MAX, "set")                                                                 \
    X(SETS, frozen, 1, "frozen")

#define LATEST_LIST(X)                                                                             \
    X(ORDERS, turn, FM_TURN_INSTEAD, "turn")                                                       \
    X(ORDERS, at, UINT32_MAX, "at")                                                                \
    X(ORDERS, deadline, UINT32_MAX, "deadline")                                                    \
    X(SETS, tag_shown, 1, "tag_shown")                                                             \
    X(SETS, sight, UINT8_MAX, "sight")                                                             \
    X(SETS, new_team, UINT32_MAX, "new team")                                                      \
    X(ORDERS, once, 1, "once")                                                                     \
    X(ORDERS, alert, UINT32_MAX, "alert")                                                          \
    X(RESUMES, ticks, UINT32_MAX, "ticks")

#define NUMBER_LIST(X) EARLIER_LIST(X) LATER_LIST(X) LATEST_LIST(X)

// Bits of the mask of fields that are set.
enum field {
    FIELD_AGENTS,
    FIELD_CELLS,
    FIELD_RECTS,
    FIELD_PLANNER,
    FIELD_TARGET,
#define X(kinds, member, limit, what) FIELD_##member,
    EARLIER_LIST(X) FIELD_ID,
    LATER_LIST(X) FIELD_ORDERS,
    LATEST_LIST(X) FIELD_TAG,
#undef X
    FIELD_COUNT,
};

static inline uint64_t bit(enum field field)
{
    return (uint64_t)1 << field;
}

// ---- parts of both ------------------------------------------------------------------------------

static void put_head(fm_writer *writer, char mark, uint32_t version)
{
    fm_writer_put_u8(writer, (uint8_t)mark);
    fm_writer_put_varint(writer, version);
}

static void take_head(fm_reader *reader, char mark, uint32_t version, const char *what)
{
    uint8_t found = fm_reader_take_u8(reader);
    if (found != (uint8_t)mark) {
        fm_reader_fail(reader, "This is not a %s: it begins with %u, not with %u.", what, found,
                       (uint8_t)mark);
    }
    uint64_t number = fm_reader_take_varint(reader);
    if (number < 1 || number > version) {
        fm_reader_fail(reader, "Version %llu of a %s is unknown; this program knows 1 to %u.",
                       (unsigned long long)number, what, version);
    }
}

// The number at `difference` from the one before. Wraps only for invalid bytes.
static uint32_t take_next(fm_reader *reader, uint32_t before, const char *what)
{
    int64_t difference = fm_reader_take_signed(reader);
    if (difference < -(int64_t)before || difference > (int64_t)UINT32_MAX - before) {
        fm_reader_fail(reader, "%s: a number is outside 0..%u.", what, UINT32_MAX);
        return 0;
    }
    return (uint32_t)(before + difference);
}

// ---- commands: writing --------------------------------------------------------------------------

// Which fields a kind of command can have.
static uint64_t fields_of(fm_command_kind kind)
{
    uint32_t is = 1u << kind;
    uint64_t fields = bit(FIELD_AGENTS) | bit(FIELD_CELLS) | bit(FIELD_ID) |
                      (is & AREAS ? bit(FIELD_RECTS) : 0) | (is & PLANS ? bit(FIELD_PLANNER) : 0) |
                      (is & (ORDERS | BOARDS) ? bit(FIELD_TARGET) : 0) |
                      (is & NAMES ? bit(FIELD_ORDERS) : 0) | (is & SETS ? bit(FIELD_TAG) : 0);
#define X(kinds, member, limit, what) fields |= is & (kinds) ? bit(FIELD_##member) : 0;
    NUMBER_LIST(X)
#undef X
    return fields;
}

// Which fields are set, of those that the kind can have: the union holds nothing else.
static uint64_t mask_of(const fm_command *command)
{
    uint32_t is = 1u << command->kind;
    uint64_t mask = (command->agent_count > 0 ? bit(FIELD_AGENTS) : 0) |
                    (command->cell_count > 0 ? bit(FIELD_CELLS) : 0);
    mask |= command->id != NULL ? bit(FIELD_ID) : 0;
    mask |= is & NAMES && command->order_count > 0 ? bit(FIELD_ORDERS) : 0;
    mask |= is & AREAS && command->rect_count > 0 ? bit(FIELD_RECTS) : 0;
    mask |= is & PLANS && command->planner.ops != NULL ? bit(FIELD_PLANNER) : 0;
    mask |=
        is & (ORDERS | BOARDS) && fm_agent_id_pack(command->target) != 0 ? bit(FIELD_TARGET) : 0;
    mask |= is & SETS && command->tag_size > 0 ? bit(FIELD_TAG) : 0;
#define X(kinds, member, limit, what)                                                              \
    mask |= is & (kinds) && command->member != 0 ? bit(FIELD_##member) : 0;
    NUMBER_LIST(X)
#undef X
    return mask;
}

static void put_agents(fm_writer *writer, const fm_command *command)
{
    fm_writer_put_varint(writer, command->agent_count);
    uint32_t before = 0;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        fm_agent_id id = command->agents[i];
        fm_writer_put_signed(writer, (int64_t)id.index1 - before);
        fm_writer_put_varint(writer, id.generation);
        before = id.index1;
    }
}

static void put_cells(fm_writer *writer, const fm_command *command)
{
    fm_writer_put_varint(writer, command->cell_count);
    uint32_t before = 0;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        fm_writer_put_signed(writer, (int64_t)command->cells[i] - before);
        before = command->cells[i];
    }
}

static void put_orders(fm_writer *writer, const fm_command *command)
{
    fm_writer_put_varint(writer, command->order_count);
    for (uint32_t i = 0; i < command->order_count; i++) {
        fm_writer_put_varint(writer, command->orders[i]);
    }
}

static void put_rects(fm_writer *writer, const fm_command *command)
{
    fm_writer_put_varint(writer, command->rect_count);
    for (uint32_t i = 0; i < command->rect_count; i++) {
        const fm_rect *rect = &command->rects[i];
        fm_writer_put_varint(writer, rect->x);
        fm_writer_put_varint(writer, rect->y);
        fm_writer_put_varint(writer, rect->width);
        fm_writer_put_varint(writer, rect->height);
    }
}

fm_status fm_command_pack(const fm_command *command, fm_writer *writer)
{
    FM_ASSERT(command->kind <= FM_COMMAND_KIND_LAST);
    uint64_t mask = mask_of(command);
    put_head(writer, COMMAND_MARK, FM_COMMAND_VERSION);
    fm_writer_put_varint(writer, command->kind);
    fm_writer_put_varint(writer, mask);
    if (mask & bit(FIELD_AGENTS)) {
        put_agents(writer, command);
    }
    if (mask & bit(FIELD_CELLS)) {
        put_cells(writer, command);
    }
    if (mask & bit(FIELD_ORDERS)) {
        put_orders(writer, command);
    }
    if (mask & bit(FIELD_RECTS)) {
        put_rects(writer, command);
    }
    if (mask & bit(FIELD_PLANNER)) {
        char planner[FM_PLANNER_SPEC_SIZE];
        fm_planner_spec_format(&command->planner, planner, sizeof planner);
        fm_writer_put_text(writer, planner);
    }
    if (mask & bit(FIELD_TARGET)) {
        fm_writer_put_varint(writer, command->target.index1);
        fm_writer_put_varint(writer, command->target.generation);
    }
#define X(kinds, member, limit, what)                                                              \
    if ((mask & bit(FIELD_##member)) && (limit) > 1) {                                             \
        fm_writer_put_varint(writer, (uint64_t)command->member);                                   \
    }
    NUMBER_LIST(X)
#undef X
    if (mask & bit(FIELD_TAG)) {
        fm_writer_put_u8(writer, command->tag_size);
        fm_writer_put_bytes(writer, command->tag, command->tag_size);
    }
    if (mask & bit(FIELD_ID)) {
        fm_writer_put_varint(writer, command->id->seat);
        fm_writer_put_varint(writer, command->id->id);
        fm_writer_put_u64(writer, command->id->request);
    }
    return writer->failed ? FM_ERR_NO_MEMORY : FM_OK;
}

// ---- commands: reading --------------------------------------------------------------------------

// What a command's bytes say, before there is memory for its arrays.
struct draft {
    fm_command command;
    fm_command_id id;                       // the command points to it when there is one
    fm_reader agents, cells, orders, rects; // each at the first item of its array
};

static fm_agent_id take_agent(fm_reader *reader, uint32_t before)
{
    uint32_t index1 = take_next(reader, before, "agents");
    return (fm_agent_id){.index1 = index1,
                         .generation =
                             (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "generation")};
}

static fm_rect take_rect(fm_reader *reader)
{
    fm_rect rect;
    rect.x = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "x of a rectangle");
    rect.y = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "y of a rectangle");
    rect.width = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "width of a rectangle");
    rect.height = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "height of a rectangle");
    return rect;
}

// Walks over the arrays, so that all is checked before memory is allocated.
static void draft_agents(fm_reader *reader, struct draft *draft)
{
    draft->command.agent_count = fm_reader_take_count(reader, UINT32_MAX, 2, "agents");
    draft->agents = *reader;
    uint32_t before = 0;
    for (uint32_t i = 0; i < draft->command.agent_count && !reader->failed; i++) {
        before = take_agent(reader, before).index1;
    }
}

static void draft_cells(fm_reader *reader, struct draft *draft)
{
    draft->command.cell_count = fm_reader_take_count(reader, UINT32_MAX, 1, "cells");
    draft->cells = *reader;
    uint32_t before = 0;
    for (uint32_t i = 0; i < draft->command.cell_count && !reader->failed; i++) {
        before = take_next(reader, before, "cells");
    }
}

static void draft_orders(fm_reader *reader, struct draft *draft)
{
    draft->command.order_count = fm_reader_take_count(reader, UINT32_MAX, 1, "orders");
    draft->orders = *reader;
    for (uint32_t i = 0; i < draft->command.order_count && !reader->failed; i++) {
        (void)fm_reader_take_varint(reader);
    }
}

static void draft_rects(fm_reader *reader, struct draft *draft)
{
    draft->command.rect_count = fm_reader_take_count(reader, UINT32_MAX, 4, "rectangles");
    draft->rects = *reader;
    for (uint32_t i = 0; i < draft->command.rect_count && !reader->failed; i++) {
        take_rect(reader);
    }
}

static void take_planner(fm_reader *reader, fm_planner_spec *spec)
{
    char planner[FM_PLANNER_SPEC_SIZE], error[120];
    fm_reader_take_text(reader, planner, sizeof planner, "planner");
    if (!reader->failed && fm_planner_spec_parse(planner, spec, error, sizeof error) != FM_OK) {
        fm_reader_fail(reader, "planner: %s", error);
    }
}

static void take_target(fm_reader *reader, fm_agent_id *target)
{
    target->index1 = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "target");
    target->generation = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "target");
}

static void take_tag(fm_reader *reader, struct draft *draft)
{
    draft->command.tag_size = fm_reader_take_u8(reader);
    draft->command.tag = fm_reader_take_bytes(reader, draft->command.tag_size, "tag");
}

static void take_command_id(fm_reader *reader, struct draft *draft)
{
    draft->id.seat = (uint32_t)fm_reader_take_bounded(reader, FM_TEAMS_MAX, "seat of an id");
    draft->id.id = fm_reader_take_varint(reader);
    draft->id.request = fm_reader_take_u64(reader);
    draft->command.id = &draft->id;
    if (!reader->failed && draft->id.id == 0) {
        fm_reader_fail(reader, "The id of a command is 0.");
    }
}

static uint64_t take_number(fm_reader *reader, uint64_t limit, const char *what)
{
    return limit > 1 ? fm_reader_take_bounded(reader, limit, what) : limit;
}

static void take_command(fm_reader *reader, struct draft *draft)
{
    fm_command *command = &draft->command;
    take_head(reader, COMMAND_MARK, FM_COMMAND_VERSION, "command");
    command->kind =
        (fm_command_kind)fm_reader_take_bounded(reader, FM_COMMAND_KIND_LAST, "kind of command");
    uint64_t mask = fm_reader_take_bounded(reader, bit(FIELD_COUNT) - 1, "fields of the command");
    if (mask & ~fields_of(command->kind)) {
        fm_reader_fail(reader, "The command has a field that its kind does not have.");
        return;
    }
    if (mask & bit(FIELD_AGENTS)) {
        draft_agents(reader, draft);
    }
    if (mask & bit(FIELD_CELLS)) {
        draft_cells(reader, draft);
    }
    if (mask & bit(FIELD_ORDERS)) {
        draft_orders(reader, draft);
    }
    if (mask & bit(FIELD_RECTS)) {
        draft_rects(reader, draft);
    }
    if (mask & bit(FIELD_PLANNER)) {
        take_planner(reader, &command->planner);
    }
    if (mask & bit(FIELD_TARGET)) {
        take_target(reader, &command->target);
    }
    // A cast to the type of the member: some are enums, some bytes.
#define X(kinds, member, limit, what)                                                              \
    if (mask & bit(FIELD_##member)) {                                                              \
        command->member = (__typeof__(command->member))take_number(reader, limit, what);           \
    }
    NUMBER_LIST(X)
#undef X
    if (mask & bit(FIELD_TAG)) {
        take_tag(reader, draft);
    }
    if (mask & bit(FIELD_ID)) {
        take_command_id(reader, draft);
    }
    if (!reader->failed && mask_of(command) != mask) {
        fm_reader_fail(reader, "A field of the command is said to be set, and is zero.");
    }
}

static uint32_t rect_count_of(const fm_command *command)
{
    return 1u << command->kind & AREAS ? command->rect_count : 0;
}

static uint32_t tag_size_of(const fm_command *command)
{
    return command->kind == FM_COMMAND_SET ? command->tag_size : 0;
}

// The arrays lie behind the command: orders, ids, rectangles, cells, a tag, each aligned as the
// next smaller one.
static void fill(fm_command_copy *copy, struct draft *draft)
{
    fm_command *command = &copy->command;
    *command = draft->command;
    uint64_t *orders = (uint64_t *)(copy + 1);
    fm_agent_id *agents = (fm_agent_id *)(orders + command->order_count);
    fm_rect *rects = (fm_rect *)(agents + command->agent_count);
    uint32_t rect_count = rect_count_of(command);
    fm_cell *cells = (fm_cell *)(rects + rect_count);
    uint32_t before = 0;
    for (uint32_t i = 0; i < command->agent_count; i++) {
        agents[i] = take_agent(&draft->agents, before);
        before = agents[i].index1;
    }
    for (uint32_t i = 0; i < command->order_count; i++) {
        orders[i] = fm_reader_take_varint(&draft->orders);
    }
    for (uint32_t i = 0; i < rect_count; i++) {
        rects[i] = take_rect(&draft->rects);
    }
    before = 0;
    for (uint32_t i = 0; i < command->cell_count; i++) {
        before = cells[i] = take_next(&draft->cells, before, "cells");
    }
    if (command->id != NULL) {
        copy->id = draft->id;
        command->id = &copy->id;
    }
    uint32_t tag_size = tag_size_of(command);
    if (tag_size > 0) {
        uint8_t *tag = (uint8_t *)(cells + command->cell_count);
        memcpy(tag, command->tag, tag_size);
        command->tag = tag;
    }
    command->agents = command->agent_count > 0 ? agents : NULL;
    command->cells = command->cell_count > 0 ? cells : NULL;
    command->orders = command->order_count > 0 ? orders : NULL;
    if (rect_count > 0) {
        command->rects = rects;
    }
}

fm_status fm_command_unpack(const void *bytes, size_t size, const fm_memory *memory,
                            fm_command_copy **out, fm_bytes_error *error)
{
    fm_reader reader = fm_reader_init(bytes, size, error);
    struct draft draft = {0};
    take_command(&reader, &draft);
    fm_status status = fm_reader_finish(&reader);
    if (status != FM_OK) {
        return status;
    }
    size_t block_size = sizeof(fm_command_copy) + draft.command.order_count * sizeof(uint64_t) +
                        draft.command.agent_count * sizeof(fm_agent_id) +
                        rect_count_of(&draft.command) * sizeof(fm_rect) +
                        draft.command.cell_count * sizeof(fm_cell) + tag_size_of(&draft.command);
    fm_command_copy *copy = fm_memory_allocate(memory, block_size);
    if (copy == NULL) {
        fm_reader_fail(&reader, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        return FM_ERR_NO_MEMORY;
    }
    copy->size = block_size;
    fill(copy, &draft);
    *out = copy;
    return FM_OK;
}

void fm_command_copy_destroy(fm_command_copy *copy, const fm_memory *memory)
{
    if (copy != NULL) {
        fm_memory_release(memory, copy, copy->size);
    }
}

// ---- records ------------------------------------------------------------------------------------

fm_status fm_record_pack(const fm_tick_record *record, fm_writer *writer)
{
    put_head(writer, RECORD_MARK, FM_RECORD_VERSION);
    fm_writer_put_varint(writer, record->tick);
    fm_writer_put_varint(writer, record->expansions_budget);
    fm_writer_put_varint(writer, record->rounds);
    fm_writer_put_varint(writer, record->cut_count);
    uint32_t round = 0, planner = 0;
    for (uint32_t i = 0; i < record->cut_count; i++) {
        const fm_cut *cut = &record->cuts[i];
        FM_ASSERT(cut->round >= round);
        fm_writer_put_varint(writer, cut->round - round);
        fm_writer_put_signed(writer, (int64_t)cut->planner - planner);
        fm_writer_put_varint(writer, cut->expansions);
        round = cut->round;
        planner = cut->planner;
    }
    fm_writer_put_u64(writer, record->digest);
    return writer->failed ? FM_ERR_NO_MEMORY : FM_OK;
}

// The cut after `before`.
static fm_cut take_cut(fm_reader *reader, fm_cut before)
{
    uint64_t grown = fm_reader_take_bounded(reader, FM_SEARCH_ROUNDS_MAX, "round of a cut");
    uint64_t round = before.round + grown;
    if (round >= FM_SEARCH_ROUNDS_MAX) {
        fm_reader_fail(reader, "A cut is in round %llu; there are %u.", (unsigned long long)round,
                       FM_SEARCH_ROUNDS_MAX);
    }
    fm_cut cut = {.planner = take_next(reader, before.planner, "planner of a cut"),
                  .round = (uint32_t)round};
    cut.expansions = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "expansions of a cut");
    return cut;
}

fm_status fm_record_unpack(const void *bytes, size_t size, const fm_memory *memory,
                           fm_record_copy **out, fm_bytes_error *error)
{
    fm_reader reader = fm_reader_init(bytes, size, error);
    fm_tick_record record = {0};
    take_head(&reader, RECORD_MARK, FM_RECORD_VERSION, "tick record");
    record.tick = fm_reader_take_varint(&reader);
    record.expansions_budget = fm_reader_take_varint(&reader);
    record.rounds = (uint32_t)fm_reader_take_bounded(&reader, FM_SEARCH_ROUNDS_MAX, "rounds");
    record.cut_count = fm_reader_take_count(&reader, UINT32_MAX, 3, "cuts");
    fm_reader cuts = reader;
    fm_cut cut = {0};
    for (uint32_t i = 0; i < record.cut_count && !reader.failed; i++) {
        cut = take_cut(&reader, cut);
    }
    record.digest = fm_reader_take_u64(&reader);
    fm_status status = fm_reader_finish(&reader);
    if (status != FM_OK) {
        return status;
    }
    size_t block_size = sizeof(fm_record_copy) + record.cut_count * sizeof(fm_cut);
    fm_record_copy *copy = fm_memory_allocate(memory, block_size);
    if (copy == NULL) {
        fm_reader_fail(&reader, "%s", fm_status_text(FM_ERR_NO_MEMORY));
        return FM_ERR_NO_MEMORY;
    }
    *copy = (fm_record_copy){.record = record, .size = block_size};
    cut = (fm_cut){0};
    for (uint32_t i = 0; i < record.cut_count; i++) {
        cut = copy->cuts[i] = take_cut(&cuts, cut);
    }
    copy->record.cuts = copy->cuts;
    *out = copy;
    return FM_OK;
}

void fm_record_copy_destroy(fm_record_copy *copy, const fm_memory *memory)
{
    if (copy != NULL) {
        fm_memory_release(memory, copy, copy->size);
    }
}
