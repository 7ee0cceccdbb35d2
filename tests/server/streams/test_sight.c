// test_sight.c: a player never learns what its team cannot see.
//
// Method: pairs of worlds that differ only in cells and agents out of a team's sight. Both get the
// same random commands: agents of the team and of its enemies are spawned, removed, changed and
// carried, walls and buildings near them come and go, the game adds cost for the team, the player
// orders, asks for paths, and names agents that are not its own or do not exist. In the hidden part
// each world has its own walls, births, deaths and orders. Everything that the player receives must
// be the same in both: results of its commands, answers to its queries, and every byte of its
// keyframes and deltas, after one tick or fifty, of the whole map or a moving part.
//
//   +---------------+--------+------------------+
//   | both teams    | solid  | hidden: differs  |
//   | the same      | wall   | in every way     |
//   +---------------+--------+------------------+
//
// The wall is thicker than any sight, so its middle is hidden and differs, too. Goals may lie
// anywhere, so orders must fail because of what is known, not of what is true.

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/orders/order_kinds.h"
#include "core/planners/query.h"
#include "core/tick/tick.h"
#include "core/views/inspect.h"
#include "core/views/unit_report.h"
#include "core/views/view_delta.h"
#include "core/world/names.h"
#include "tests/server/streams/pair.h"

#define TICKS        150u
#define REPORT_CELLS 16u // of a unit's path
#define RUNS         25u
#define BUDGET       (1u << 24)

// ---- what the player receives -------------------------------------------------------------------

static void expect_equal_bodies(struct pair *pair, fm_body a, fm_body b)
{
    assert_int_equal(a.entries, b.entries);
    assert_int_equal(a.frame == NULL, b.frame == NULL);
    if (a.frame != NULL) {
        assert_int_equal(a.frame->size, b.frame->size);
        assert_memory_equal(a.frame->bytes, b.frame->bytes, a.frame->size);
        pair->bytes_compared += a.frame->size;
    }
}

static fm_form draw_form(struct pair *pair)
{
    return (fm_form){.veiled = true,
                     .dense = fm_random_below(&pair->random, 2) == 0,
                     .sight = fm_random_below(&pair->random, 2) == 0,
                     .motion = fm_random_below(&pair->random, 2) == 0};
}

// Moves the rectangle of a reader.
static void move_reader(struct pair *pair, uint32_t reader)
{
    fm_rect *from = &pair->rects[reader];
    fm_rect to = *from;
    to.x = fm_random_below(&pair->random, WIDTH - to.width + 1);
    to.y = fm_random_below(&pair->random, HEIGHT - to.height + 1);
    fm_form form = draw_form(pair);
    fm_body bodies[2];
    for (uint32_t i = 0; i < 2; i++) {
        bodies[i] = fm_scene_shift(pair->sides[i].scene, from, &to, pair->told[reader], form);
    }
    expect_equal_bodies(pair, bodies[0], bodies[1]);
    fm_frame_drop(bodies[0].frame);
    fm_frame_drop(bodies[1].frame);
    *from = to;
    pair->told[reader] = pair->sides[0].scene->tick;
}

static void compare_views(struct pair *pair)
{
    fm_scene *a = pair->sides[0].scene, *b = pair->sides[1].scene;
    assert_int_equal(a->tick, b->tick); // the worlds publish in the same ticks
    for (uint32_t i = 0; i < READERS; i++) {
        if (i > 0 && fm_random_below(&pair->random, 1 + 6 * i) > 0) {
            continue; // this one is slow
        }
        const fm_rect *rect = &pair->rects[i];
        if (i % 2 == 1 && fm_random_below(&pair->random, 3) == 0) {
            move_reader(pair, i);
        }
        fm_form form = draw_form(pair);
        expect_equal_bodies(pair, fm_scene_delta(a, rect, pair->told[i], form),
                            fm_scene_delta(b, rect, pair->told[i], form));
        pair->told[i] = a->tick;
        if (fm_random_below(&pair->random, 20) == 0) {
            expect_equal_bodies(pair, fm_scene_keyframe(a, rect, form),
                                fm_scene_keyframe(b, rect, form));
        }
    }
}

static uint32_t add_tags(const struct side *side, const fm_agent_look *looks, uint32_t look_count,
                         fm_tag_look *tags, uint32_t count)
{
    for (uint32_t i = 0; i < look_count; i++) {
        uint32_t size;
        const uint8_t *bytes = fm_world_tag(side->world, PLAYER, looks[i].id, &size);
        if (looks[i].tells_tag) {
            tags[count] = (fm_tag_look){.name = looks[i].name, .size = (uint8_t)size};
            if (size > 0) {
                memcpy(tags[count].bytes, bytes, size);
            }
            count++;
        }
    }
    return count;
}

static bool publish(struct side *side, uint64_t tick)
{
    fm_changes changes = fm_world_changes(side->world, PLAYER);
    if (changes.entered_count + changes.changed_count + changes.left_count + changes.cell_count +
            changes.ended_count + changes.buildings_changed + changes.sight_count ==
        0) {
        return false;
    }
    static fm_course courses[3 * AGENTS_MAX];
    fm_publication publication = {.tick = tick, .changes = changes, .courses = courses};
    publication.course_count = fm_world_courses(
        side->world, PLAYER, changes.changed, changes.changed_count, courses, FM_COUNT_OF(courses));
    static fm_tag_look tags[6 * AGENTS_MAX];
    publication.tags = tags;
    publication.tag_count = add_tags(side, changes.entered, changes.entered_count, tags, 0);
    publication.tag_count =
        add_tags(side, changes.changed, changes.changed_count, tags, publication.tag_count);
    assert_int_equal(fm_scene_apply(side->scene, &publication), FM_OK);
    return true;
}

// What the player's own units do, without the numbers that no player gets. Nothing of one that died
// with its carrier.
static fm_unit_report report_of(const struct side *side, uint32_t i, fm_cell *cells)
{
    fm_unit_report report;
    fm_agent_id agent = side->agents[PLAYER - 1][i];
    fm_status status = fm_world_report_unit(side->world, agent, &report, cells, REPORT_CELLS);
    if (status != FM_OK) {
        assert_int_equal(status, FM_ERR_NO_AGENT);
        return (fm_unit_report){0};
    }
    report.agent = report.target = report.blocker = (fm_agent_id){0};
    for (uint32_t n = 0; n < report.order_count; n++) {
        report.orders[n].id = 0;
    }
    return report;
}

static void compare_reports(const struct pair *pair)
{
    for (uint32_t i = 0; i < pair->sides[0].agent_counts[PLAYER - 1]; i++) {
        fm_cell cells[2][REPORT_CELLS];
        fm_unit_report a = report_of(&pair->sides[0], i, cells[0]);
        fm_unit_report b = report_of(&pair->sides[1], i, cells[1]);
        assert_int_equal(a.name.index1, b.name.index1);
        assert_int_equal(a.cell, b.cell);
        assert_int_equal(a.state, b.state);
        assert_int_equal(a.frozen, b.frozen);
        assert_int_equal(a.has_order, b.has_order);
        assert_int_equal(a.order_count, b.order_count);
        assert_memory_equal(a.orders, b.orders, a.order_count * sizeof *a.orders);
        assert_int_equal(a.substitute, b.substitute);
        assert_int_equal(fm_agent_id_pack(a.target_name), fm_agent_id_pack(b.target_name));
        assert_int_equal(a.why, b.why);
        assert_int_equal(fm_agent_id_pack(a.blocker_name), fm_agent_id_pack(b.blocker_name));
        assert_int_equal(a.blocked_at, b.blocked_at);
        assert_int_equal(a.waits_ticks, b.waits_ticks);
        assert_int_equal(a.path_count, b.path_count);
        if (a.path_count > 0) {
            assert_memory_equal(cells[0], cells[1], a.path_count * sizeof **cells);
        }
    }
}

static void tick(struct pair *pair, uint64_t number)
{
    fm_tick_report report;
    bool published[2];
    for (uint32_t i = 0; i < 2; i++) {
        fm_tick_run(pair->sides[i].world, NULL, BUDGET, NULL, &report);
        published[i] = publish(&pair->sides[i], number);
    }
    compare_reports(pair);
    assert_int_equal(published[0], published[1]);
    if (published[0]) {
        compare_views(pair);
    }
}

// ---- runs ---------------------------------------------------------------------------------------

// Counts over several runs: a single run may have no refusal.
struct seen {
    uint64_t bytes, commands, refusals, boarded;
};

static void check_seen(const struct seen *seen)
{
    assert_true(seen->bytes > 10000 * RUNS && seen->commands > 50 * RUNS && seen->refusals > 0 &&
                seen->boarded > 0);
}

static void run_pair(uint64_t seed, bool exclusive, bool costs, struct seen *seen)
{
    static struct pair pair;
    pair = (struct pair){.random = fm_random_seed(seed), .costs = costs};
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = SENSE;
    rules.sense.line_of_sight = fm_random_below(&pair.random, 2) == 0;
    rules.occupancy = exclusive ? FM_OCCUPANCY_EXCLUSIVE : FM_OCCUPANCY_NONE;
    pair_side_init(&pair.sides[0], &rules, pair.random, seed + 1);
    pair_side_init(&pair.sides[1], &rules, pair.random, seed + 2);
    pair.sides[0].costs = pair.sides[1].costs = costs;
    for (uint32_t i = 0; i < READERS; i++) {
        pair.rects[i] = (fm_rect){.width = WIDTH, .height = HEIGHT};
        if (i % 2 == 1) {
            pair.rects[i] = (fm_rect){.x = 2 * i, .y = i, .width = 12, .height = 10};
        }
    }
    for (uint32_t i = 0; i < 12; i++) {
        pair_spawn(&pair);
    }
    for (uint64_t number = 1; number <= TICKS; number++) {
        pair_act(&pair);
        tick(&pair, number);
    }
    seen->bytes += pair.bytes_compared;
    seen->commands += pair.commands_compared;
    seen->refusals += pair.refusals;
    seen->boarded += pair.boarded;
    pair_side_fini(&pair.sides[0]);
    pair_side_fini(&pair.sides[1]);
}

static void test_pairs_look_the_same(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + run), false, false, &seen);
    }
    check_seen(&seen);
}

static void test_pairs_look_the_same_when_units_take_room(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + 100 + run), true, false, &seen);
    }
    check_seen(&seen);
}

static void test_pairs_look_the_same_when_costs_are_hidden(void **state)
{
    (void)state;
    struct seen seen = {0};
    for (uint32_t run = 0; run < RUNS; run++) {
        run_pair(fm_mix64(fm_test_seed() + 200 + run), run % 2 == 0, true, &seen);
    }
    check_seen(&seen);
}

// Two worlds after a hundred hidden commands each. Returns whether their units differ, too, which
// may fail by chance.
static bool hidden_parts_differ(uint64_t seed)
{
    fm_world_rules rules = fm_world_rules_default();
    rules.sense.radius = SENSE;
    struct side sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        pair_side_init(&sides[i], &rules, fm_random_seed(seed), seed + 1 + i);
        for (uint32_t n = 0; n < 100; n++) {
            pair_do_hidden_thing(&sides[i]);
        }
    }
    uint32_t different = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        fm_cell cell = fm_cell_at(i % WIDTH, i / WIDTH);
        different += fm_look_pack(fm_world_look_up(sides[0].world, FM_ALL_TEAMS, cell)) !=
                     fm_look_pack(fm_world_look_up(sides[1].world, FM_ALL_TEAMS, cell));
    }
    assert_true(different > 50);
    fm_world_counts counts[2];
    fm_world_counts_get(sides[0].world, &counts[0]);
    fm_world_counts_get(sides[1].world, &counts[1]);
    pair_side_fini(&sides[0]);
    pair_side_fini(&sides[1]);
    return counts[0].orders_given != counts[1].orders_given || counts[0].agents != counts[1].agents;
}

// Checks the test itself: the pairs do differ, and the views of everything show it.
static void test_hidden_parts_differ(void **state)
{
    (void)state;
    uint32_t differ = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        differ += hidden_parts_differ(fm_mix64(fm_test_seed() + 300 + run));
    }
    assert_true(differ > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_look_the_same),
        cmocka_unit_test(test_pairs_look_the_same_when_units_take_room),
        cmocka_unit_test(test_pairs_look_the_same_when_costs_are_hidden),
        cmocka_unit_test(test_hidden_parts_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
