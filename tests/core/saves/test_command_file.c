// test_command_file.c: goal: a command or tick record is unpacked as it was packed, and other bytes
// are refused or mean exactly one thing. Method: random commands and records with any fields of
// their kind are packed and unpacked; the bytes are cut at every length and bits flipped. Accepted
// bytes must pack to the same bytes again.

#include "core/base/random.h"
#include "core/saves/command_file.h"
#include "tests/support/support.h"

#define RUNS      400u
#define ITEMS_MAX 40u

// ---- random commands ----------------------------------------------------------------------------

struct sample {
    fm_command command;
    fm_command_id id; // the command may point to it
    fm_agent_id agents[ITEMS_MAX];
    fm_cell cells[ITEMS_MAX];
    uint64_t orders[ITEMS_MAX];
    fm_rect rects[ITEMS_MAX];
    uint8_t tag[UINT8_MAX];
};

// Small, large or zero.
static uint32_t any_number(fm_random *random, uint32_t limit)
{
    uint32_t kind = fm_random_below(random, 4);
    uint64_t bound = (uint64_t)limit + 1;
    if (kind == 0) {
        return 0;
    }
    if (kind == 1) {
        return limit;
    }
    uint64_t value = fm_random_next(random) % bound;
    return (uint32_t)(kind == 2 && bound > 100 ? value % 100 : value);
}

static fm_planner_spec any_planner(fm_random *random)
{
    static const char *const names[] = {"dstar-lite", "dstar-lite:queue=heap,ties=larger-g", "auto",
                                        "repeated-forward-astar:heuristic=landmarks",
                                        "rtaa-star:lookahead=40"};
    uint32_t kind = fm_random_below(random, FM_COUNT_OF(names) + 1);
    fm_planner_spec spec = {0};
    if (kind < FM_COUNT_OF(names)) {
        assert_int_equal(fm_planner_spec_parse(names[kind], &spec, NULL, 0), FM_OK);
    }
    return spec;
}

static void make_sample(fm_random *random, struct sample *sample)
{
    for (uint32_t i = 0; i < ITEMS_MAX; i++) {
        sample->agents[i] = (fm_agent_id){.index1 = any_number(random, UINT32_MAX),
                                          .generation = any_number(random, UINT32_MAX)};
        sample->cells[i] = any_number(random, UINT32_MAX);
        sample->orders[i] = fm_random_next(random) >> fm_random_below(random, 64);
        sample->rects[i] =
            (fm_rect){any_number(random, UINT32_MAX), any_number(random, 4096),
                      any_number(random, UINT32_MAX), any_number(random, UINT32_MAX)};
    }
    sample->id = (fm_command_id){.seat = any_number(random, FM_TEAMS_MAX),
                                 .id = 1 + (uint64_t)any_number(random, UINT32_MAX),
                                 .request = fm_random_next(random)};
    fm_command *command = &sample->command;
    *command = (fm_command){
        .id = any_number(random, 1) == 1 ? &sample->id : NULL,
        .kind = (fm_command_kind)fm_random_below(random, FM_COMMAND_KIND_LAST + 1),
        .team = any_number(random, UINT32_MAX),
        .agents = sample->agents,
        .agent_count = any_number(random, ITEMS_MAX),
        .cells = sample->cells,
        .cell_count = any_number(random, ITEMS_MAX),
        .orders = sample->orders,
    };
    switch (command->kind) {
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_PLANNER:
        command->planner = any_planner(random);
        command->class_index = any_number(random, UINT32_MAX);
        command->placing = (fm_placing)any_number(random, FM_PLACE_NEAREST);
        command->speed = any_number(random, UINT32_MAX);
        command->weight = any_number(random, UINT32_MAX);
        return;
    case FM_COMMAND_ORDER:
        command->order = (fm_order_kind)any_number(random, FM_ORDER_KIND_COUNT - 1);
        command->on_unreachable = (fm_on_unreachable)any_number(random, FM_UNREACHABLE_WAIT);
        command->queue = any_number(random, 1) == 1;
        command->target = sample->agents[0];
        command->radius = any_number(random, UINT32_MAX);
        command->loop = any_number(random, 1) == 1;
        command->spread = any_number(random, 1) == 1;
        command->formation = (fm_formation)any_number(random, FM_FORMATION_BOX);
        command->common_speed = any_number(random, 1) == 1;
        command->max_detour = any_number(random, UINT32_MAX);
        command->agents_a_tick = any_number(random, UINT32_MAX);
        command->turn = (fm_turn)any_number(random, FM_TURN_INSTEAD);
        command->at = any_number(random, UINT32_MAX);
        command->deadline = any_number(random, UINT32_MAX);
        command->alert = any_number(random, UINT32_MAX);
        command->once = any_number(random, 1) == 1;
        command->order_count = any_number(random, ITEMS_MAX);
        return;
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_BUILD:
        command->rects = sample->rects;
        command->rect_count = any_number(random, ITEMS_MAX);
        command->terrain = (fm_terrain)any_number(random, FM_TERRAIN_COUNT - 1);
        command->cost = (uint8_t)any_number(random, UINT8_MAX);
        command->on_units = (fm_on_units)any_number(random, FM_UNITS_REFUSE);
        return;
    case FM_COMMAND_DEMOLISH:
        command->building = any_number(random, UINT32_MAX);
        return;
    case FM_COMMAND_SET:
        command->class_index = any_number(random, UINT32_MAX);
        command->speed = any_number(random, UINT32_MAX);
        command->set = (uint8_t)any_number(random, UINT8_MAX);
        command->frozen = any_number(random, 1) == 1;
        command->tag_shown = any_number(random, 1) == 1;
        command->sight = (uint8_t)any_number(random, UINT8_MAX);
        command->new_team = any_number(random, UINT32_MAX);
        command->tag_size = (uint8_t)any_number(random, UINT8_MAX);
        command->tag = sample->tag;
        for (uint32_t i = 0; i < command->tag_size; i++) {
            sample->tag[i] = (uint8_t)fm_random_next(random);
        }
        return;
    case FM_COMMAND_PLACE:
        command->placing = (fm_placing)any_number(random, FM_PLACE_NEAREST);
        return;
    case FM_COMMAND_CANCEL:
        command->order_count = any_number(random, ITEMS_MAX);
        return;
    case FM_COMMAND_RESUME:
        command->ticks = any_number(random, UINT32_MAX);
        return;
    case FM_COMMAND_COST:
        command->rects = sample->rects;
        command->rect_count = any_number(random, ITEMS_MAX);
        command->cost = (uint8_t)any_number(random, UINT8_MAX);
        return;
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        command->target = sample->agents[0];
        command->radius = any_number(random, UINT32_MAX);
        return;
    case FM_COMMAND_REMOVE:
        return;
    }
}

// Every member except the arrays and the planner must compare equal. A new member of fm_command
// that the packing lacks fails here once make_sample() sets it; the size below is a reminder.
_Static_assert(sizeof(fm_command) == 136, "a new member: pack it, and set it in make_sample()");

#define SAME(member) assert_int_equal(a->member, b->member)

static void check_same_planner(const fm_command *a, const fm_command *b)
{
    char planner_a[FM_PLANNER_SPEC_SIZE] = "", planner_b[FM_PLANNER_SPEC_SIZE] = "";
    assert_true((a->planner.ops == NULL) == (b->planner.ops == NULL));
    if (a->planner.ops != NULL) {
        fm_planner_spec_format(&a->planner, planner_a, sizeof planner_a);
        fm_planner_spec_format(&b->planner, planner_b, sizeof planner_b);
    }
    assert_string_equal(planner_a, planner_b);
    SAME(class_index);
    SAME(placing);
    SAME(speed);
    SAME(weight);
}

static void check_same_order(const fm_command *a, const fm_command *b)
{
    SAME(order);
    SAME(on_unreachable);
    SAME(queue);
    SAME(target.index1);
    SAME(target.generation);
    SAME(radius);
    SAME(loop);
    SAME(spread);
    SAME(formation);
    SAME(common_speed);
    SAME(max_detour);
    SAME(agents_a_tick);
    SAME(turn);
    SAME(at);
    SAME(deadline);
    SAME(alert);
    SAME(once);
}

static void check_same_area(const fm_command *a, const fm_command *b)
{
    SAME(rect_count);
    if (a->rect_count > 0) {
        assert_memory_equal(a->rects, b->rects, a->rect_count * sizeof *a->rects);
    }
    SAME(terrain);
    SAME(cost);
    SAME(on_units);
}

static void check_same(const fm_command *a, const fm_command *b)
{
    SAME(kind);
    assert_true((a->id == NULL) == (b->id == NULL));
    if (a->id != NULL) {
        SAME(id->seat);
        SAME(id->id);
        SAME(id->request);
    }
    SAME(team);
    SAME(agent_count);
    SAME(cell_count);
    SAME(order_count);
    if (a->order_count > 0) {
        assert_memory_equal(a->orders, b->orders, a->order_count * sizeof *a->orders);
    }
    if (a->agent_count > 0) {
        assert_memory_equal(a->agents, b->agents, a->agent_count * sizeof *a->agents);
    }
    if (a->cell_count > 0) {
        assert_memory_equal(a->cells, b->cells, a->cell_count * sizeof *a->cells);
    }
    switch (a->kind) {
    case FM_COMMAND_TEAM:
    case FM_COMMAND_SPAWN:
    case FM_COMMAND_PLANNER:
        check_same_planner(a, b);
        return;
    case FM_COMMAND_ORDER:
        check_same_order(a, b);
        return;
    case FM_COMMAND_TERRAIN:
    case FM_COMMAND_BUILD:
        check_same_area(a, b);
        return;
    case FM_COMMAND_DEMOLISH:
        SAME(building);
        return;
    case FM_COMMAND_SET:
        SAME(class_index);
        SAME(speed);
        SAME(set);
        SAME(frozen);
        SAME(tag_shown);
        SAME(sight);
        SAME(new_team);
        SAME(tag_size);
        if (a->tag_size > 0) {
            assert_memory_equal(a->tag, b->tag, a->tag_size);
        }
        return;
    case FM_COMMAND_PLACE:
        SAME(placing);
        return;
    case FM_COMMAND_RESUME:
        SAME(ticks);
        return;
    case FM_COMMAND_COST:
        SAME(rect_count);
        if (a->rect_count > 0) {
            assert_memory_equal(a->rects, b->rects, a->rect_count * sizeof *a->rects);
        }
        SAME(cost);
        return;
    case FM_COMMAND_BOARD:
    case FM_COMMAND_UNBOARD:
        SAME(target.index1);
        SAME(target.generation);
        SAME(radius);
        return;
    case FM_COMMAND_CANCEL:
    case FM_COMMAND_REMOVE:
        return;
    }
}

// ---- what must hold for any bytes ---------------------------------------------------------------

// The bytes are copied to their own block, so that a sanitizer finds reads past their end.
static void check_command_bytes(const uint8_t *bytes, size_t size, bool must_fail)
{
    uint8_t *block = malloc(size + (size == 0));
    memcpy(block, bytes, size);
    fm_bytes_error error = {0};
    fm_command_copy *copy = NULL;
    fm_status status = fm_command_unpack(block, size, &fm_memory_libc, &copy, &error);
    if (status == FM_OK) {
        assert_false(must_fail);
        assert_true(copy->size <= sizeof *copy + 8 * size);
        fm_writer again = fm_writer_init(&fm_memory_libc);
        assert_int_equal(fm_command_pack(&copy->command, &again), FM_OK);
        // A planner may be named in several ways.
        bool plans = copy->command.kind == FM_COMMAND_TEAM ||
                     copy->command.kind == FM_COMMAND_SPAWN ||
                     copy->command.kind == FM_COMMAND_PLANNER;
        if (!plans || copy->command.planner.ops == NULL) {
            assert_int_equal(again.size, size);
            assert_memory_equal(again.data, block, size);
        }
        fm_writer_fini(&again);
        fm_command_copy_destroy(copy, &fm_memory_libc);
    } else {
        assert_int_equal(status, FM_ERR_BAD_FORMAT);
        assert_null(copy);
        assert_true(error.message[0] != '\0' && error.offset <= size);
    }
    free(block);
}

static void check_record_bytes(const uint8_t *bytes, size_t size, bool must_fail)
{
    uint8_t *block = malloc(size + (size == 0));
    memcpy(block, bytes, size);
    fm_bytes_error error = {0};
    fm_record_copy *copy = NULL;
    fm_status status = fm_record_unpack(block, size, &fm_memory_libc, &copy, &error);
    if (status == FM_OK) {
        assert_false(must_fail);
        assert_true(copy->size <= sizeof *copy + 8 * size);
        fm_writer again = fm_writer_init(&fm_memory_libc);
        assert_int_equal(fm_record_pack(&copy->record, &again), FM_OK);
        assert_int_equal(again.size, size);
        again.data[1] = block[1]; // written in the newest version
        assert_memory_equal(again.data, block, size);
        fm_writer_fini(&again);
        fm_record_copy_destroy(copy, &fm_memory_libc);
    } else {
        assert_int_equal(status, FM_ERR_BAD_FORMAT);
        assert_null(copy);
        assert_true(error.message[0] != '\0' && error.offset <= size);
    }
    free(block);
}

static void damage(fm_random *random, const fm_writer *packed,
                   void (*check)(const uint8_t *bytes, size_t size, bool must_fail))
{
    for (size_t size = 0; size < packed->size; size++) {
        check(packed->data, size, true);
    }
    uint8_t *bytes = malloc(packed->size + 1);
    for (uint32_t i = 0; i < 100; i++) {
        memcpy(bytes, packed->data, packed->size);
        for (uint32_t flips = 1 + fm_random_below(random, 3); flips > 0; flips--) {
            bytes[fm_random_below(random, (uint32_t)packed->size)] ^=
                (uint8_t)(1u << fm_random_below(random, 8));
        }
        check(bytes, packed->size, false);
    }
    memcpy(bytes, packed->data, packed->size);
    bytes[packed->size] = 0;
    check(bytes, packed->size + 1, true);
    free(bytes);
}

// ---- tests --------------------------------------------------------------------------------------

static void commands_come_back(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_writer packed = fm_writer_init(&fm_memory_libc);
    for (uint32_t run = 0; run < RUNS; run++) {
        struct sample sample;
        make_sample(&random, &sample);
        fm_writer_clear(&packed);
        assert_int_equal(fm_command_pack(&sample.command, &packed), FM_OK);
        fm_command_copy *copy;
        fm_bytes_error error = {0};
        if (fm_command_unpack(packed.data, packed.size, &fm_memory_libc, &copy, &error) != FM_OK) {
            fail_msg("run %u: at %zu: %s", run, error.offset, error.message);
        }
        check_same(&sample.command, &copy->command);
        fm_command_copy_destroy(copy, &fm_memory_libc);
        damage(&random, &packed, check_command_bytes);
    }
    fm_writer_fini(&packed);
}

static void records_come_back(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    fm_writer packed = fm_writer_init(&fm_memory_libc);
    for (uint32_t run = 0; run < RUNS; run++) {
        fm_cut cuts[ITEMS_MAX];
        fm_tick_record record = {.tick = fm_random_next(&random) >> fm_random_below(&random, 64),
                                 .expansions_budget = any_number(&random, UINT32_MAX),
                                 .rounds = any_number(&random, FM_SEARCH_ROUNDS_MAX),
                                 .cuts = cuts,
                                 .cut_count = any_number(&random, ITEMS_MAX),
                                 .digest = fm_random_next(&random)};
        uint32_t round = 0;
        for (uint32_t i = 0; i < record.cut_count; i++) {
            round += round + 1 < FM_SEARCH_ROUNDS_MAX && fm_random_below(&random, 9) == 0;
            cuts[i] = (fm_cut){.planner = fm_random_below(&random, 5) == 0
                                              ? FM_CUT_SURVEY + fm_random_below(&random, 9)
                                              : any_number(&random, 100000),
                               .round = round,
                               .expansions = any_number(&random, UINT32_MAX)};
        }
        fm_writer_clear(&packed);
        assert_int_equal(fm_record_pack(&record, &packed), FM_OK);
        fm_record_copy *copy;
        assert_int_equal(fm_record_unpack(packed.data, packed.size, &fm_memory_libc, &copy, NULL),
                         FM_OK);
        assert_int_equal(copy->record.tick, record.tick);
        assert_int_equal(copy->record.expansions_budget, record.expansions_budget);
        assert_int_equal(copy->record.rounds, record.rounds);
        assert_int_equal(copy->record.digest, record.digest);
        assert_int_equal(copy->record.cut_count, record.cut_count);
        assert_memory_equal(copy->record.cuts, cuts, record.cut_count * sizeof *cuts);
        fm_record_copy_destroy(copy, &fm_memory_libc);
        damage(&random, &packed, check_record_bytes);
    }
    fm_writer_fini(&packed);
}

// Bytes of version 1, which every later version must read. Add the bytes of a new version beside
// these; never change them.
static void first_version_is_read(void **state)
{
    (void)state;
    static const uint8_t move[] = {'C',  1,    FM_COMMAND_ORDER,
                                   0x23, // agents, cells, team
                                   2,    14,   0,
                                   3,    5, // agents 7 and, of generation 5, 5
                                   1,    0x82, 0x80,
                                   0x01, // cell (1, 2): 8193, folded 16386
                                   3};
    fm_command_copy *copy;
    fm_bytes_error error = {0};
    if (fm_command_unpack(move, sizeof move, &fm_memory_libc, &copy, &error) != FM_OK) {
        fail_msg("at %zu: %s", error.offset, error.message);
    }
    assert_int_equal(copy->command.kind, FM_COMMAND_ORDER);
    assert_int_equal(copy->command.team, 3);
    assert_int_equal(copy->command.agent_count, 2);
    assert_int_equal(copy->command.agents[0].index1, 7);
    assert_int_equal(copy->command.agents[1].index1, 5);
    assert_int_equal(copy->command.agents[1].generation, 5);
    assert_int_equal(copy->command.cell_count, 1);
    assert_int_equal(copy->command.cells[0], fm_cell_at(1, 2));
    fm_command_copy_destroy(copy, &fm_memory_libc);

    static const uint8_t record[] = {'T', 1, 9, 0xe8, 0x07, 2, 1, 1, 8, 33, 1, 2, 3, 4, 5, 6, 7, 8};
    fm_record_copy *copied;
    assert_int_equal(fm_record_unpack(record, sizeof record, &fm_memory_libc, &copied, NULL),
                     FM_OK);
    assert_int_equal(copied->record.tick, 9);
    assert_int_equal(copied->record.expansions_budget, 1000);
    assert_int_equal(copied->record.cuts[0].planner, 4);
    assert_int_equal(copied->record.cuts[0].round, 1);
    assert_int_equal(copied->record.cuts[0].expansions, 33);
    assert_int_equal(copied->record.digest, 0x0807060504030201u);
    fm_record_copy_destroy(copied, &fm_memory_libc);

    static const uint8_t second[] = {'T', 2, 9, 0xe8, 0x07, 2, 1, 1, 8, 33, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_int_equal(fm_record_unpack(second, sizeof second, &fm_memory_libc, &copied, NULL),
                     FM_OK);
    assert_int_equal(copied->record.tick, 9);
    assert_int_equal(copied->record.digest, 0x0807060504030201u);
    fm_record_copy_destroy(copied, &fm_memory_libc);
}

static void fields_of_other_kinds_are_refused(void **state)
{
    (void)state;
    static const uint8_t demolish[] = {'C', 1, FM_COMMAND_DEMOLISH, 0x40, 1}; // an order
    fm_command_copy *copy;
    fm_bytes_error error;
    assert_int_equal(fm_command_unpack(demolish, sizeof demolish, &fm_memory_libc, &copy, &error),
                     FM_ERR_BAD_FORMAT);
    assert_string_equal(error.message, "The command has a field that its kind does not have.");
}

static void newer_versions_are_refused_by_name(void **state)
{
    (void)state;
    static const uint8_t newer[] = {'C', 2, 0, 0};
    fm_command_copy *copy;
    fm_bytes_error error;
    assert_int_equal(fm_command_unpack(newer, sizeof newer, &fm_memory_libc, &copy, &error),
                     FM_ERR_BAD_FORMAT);
    assert_string_equal(error.message,
                        "Version 2 of a command is unknown; this program knows 1 to 1.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_come_back),
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(first_version_is_read),
        cmocka_unit_test(fields_of_other_kinds_are_refused),
        cmocka_unit_test(newer_versions_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
