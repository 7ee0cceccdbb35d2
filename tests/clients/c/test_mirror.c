// test_mirror.c: the mirror of a view against a model that is changed at random.
//
// Goal: after any sequence of keyframes and deltas the mirror holds exactly the view that they
// describe, and a damaged delta is refused and has no other effect. Method: a small world of cells
// and agents changes at random; each change goes into a delta, and after each delta both are
// compared. Then the same with random numbers in the delta, for the sanitizers.

#include "tests/support/support.h"

#include <fogmarch/mirror.h>
#include "core/base/random.h"

#include <msgpack.h>

#define WIDTH       37u
#define HEIGHT      23u
#define LEFT        5u
#define TOP         9u
#define SLOTS       60u
#define NUMBERS_MAX 8192u
#define BUILDINGS   9u

struct model_agent {
    bool there;
    uint64_t id;
    uint32_t team, x, y, state, class_index;
    uint32_t heading, speed, point_count; // heading 8 and no points: unknown
    uint32_t points[2 * FM_MIRROR_WAYPOINTS_MAX];
    uint32_t tag; // its size, which is also the value of each of its bytes
};

struct model {
    uint16_t looks[HEIGHT][WIDTH];
    struct model_agent agents[SLOTS + 1]; // by index1
    uint32_t generations[SLOTS + 1];
    uint64_t buildings[BUILDINGS][6]; // number, owner, x, y, width, height
    uint32_t building_count;
    uint64_t tick;
    uint64_t moves, ended, died;
    fm_random random;
};

struct list {
    uint64_t numbers[NUMBERS_MAX];
    uint32_t count;
};

struct delta {
    struct list moved, enter, leave, cells, ended, died, classes, motion, tagged, buildings;
    bool tells_buildings; // all of them, possibly none
};

static void add(struct list *list, uint64_t number)
{
    assert_true(list->count < NUMBERS_MAX);
    list->numbers[list->count++] = number;
}

static uint32_t draw(struct model *model, uint32_t bound)
{
    return fm_random_below(&model->random, bound);
}

static uint16_t draw_look(struct model *model)
{
    uint32_t terrain = draw(model, FM_TERRAIN_COUNT);
    return (uint16_t)(terrain == 0 ? 0 : draw(model, FM_COST_MAX) << 4 | terrain);
}

static void add_motion(struct list *list, const struct model_agent *agent)
{
    add(list, agent->id);
    add(list, agent->heading);
    add(list, agent->speed);
    add(list, agent->point_count);
    for (uint32_t i = 0; i < 2 * agent->point_count; i++) {
        add(list, agent->points[i]);
    }
}

// ---- packing ------------------------------------------------------------------------------------

static void pack_list(msgpack_packer *packer, const char *name, const struct list *list)
{
    msgpack_pack_str_with_body(packer, name, strlen(name));
    msgpack_pack_array(packer, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        msgpack_pack_uint64(packer, list->numbers[i]);
    }
}

// Packs tags of the sizes in `tagged`: the value of each byte is the size.
static void pack_tags(msgpack_packer *packer, const struct list *tagged)
{
    static uint8_t bytes[NUMBERS_MAX / 2 * FM_TAG_SIZE_MAX];
    size_t size = 0;
    for (uint32_t i = 0; i + 1 < tagged->count; i += 2) {
        uint64_t one = tagged->numbers[i + 1] & (2 * FM_TAG_SIZE_MAX - 1); // may be damaged
        one = one <= FM_TAG_SIZE_MAX ? one : FM_TAG_SIZE_MAX;
        memset(bytes + size, (int)one, one);
        size += one;
    }
    msgpack_pack_str_with_body(packer, "tags", strlen("tags"));
    msgpack_pack_bin_with_body(packer, bytes, size);
}

static void pack_number(msgpack_packer *packer, const char *name, uint64_t number)
{
    msgpack_pack_str_with_body(packer, name, strlen(name));
    msgpack_pack_uint64(packer, number);
}

static fm_status apply(fm_mirror *mirror, fm_notification notification,
                       const msgpack_sbuffer *bytes)
{
    msgpack_unpacked message;
    size_t offset = 0;
    msgpack_unpacked_init(&message);
    assert_int_equal(msgpack_unpack_next(&message, bytes->data, bytes->size, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    fm_status status = fm_mirror_apply(mirror, notification, &message.data);
    msgpack_unpacked_destroy(&message);
    return status;
}

static fm_status apply_keyframe_with(struct model *model, fm_mirror *mirror, bool untold)
{
    static struct list cells, agents, classes, motion, tagged, buildings;
    cells.count = agents.count = classes.count = motion.count = tagged.count = buildings.count = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT;) {
        uint16_t look = model->looks[i / WIDTH][i % WIDTH];
        uint32_t end = i;
        while (end < WIDTH * HEIGHT && model->looks[end / WIDTH][end % WIDTH] == look) {
            end++;
        }
        add(&cells, end - i);
        add(&cells, look);
        i = end;
    }
    for (uint32_t slot = 1; slot <= SLOTS; slot++) {
        const struct model_agent *agent = &model->agents[slot];
        if (agent->there) {
            add(&agents, agent->id);
            add(&agents, agent->team);
            add(&agents, agent->x);
            add(&agents, agent->y);
            add(&agents, agent->state);
        }
        if (agent->there && agent->class_index != 0) {
            add(&classes, agent->id);
            add(&classes, agent->class_index);
        }
        if (agent->there && agent->heading != FM_MIRROR_HEADING_UNKNOWN) {
            add_motion(&motion, agent);
        }
        if (agent->there && agent->tag != 0) {
            add(&tagged, agent->id);
            add(&tagged, agent->tag);
        }
    }
    for (uint32_t i = 0; i < model->building_count * 6; i++) {
        add(&buildings, model->buildings[i / 6][i % 6]);
    }
    struct list rect = {.numbers = {LEFT, TOP, WIDTH, HEIGHT}, .count = 4};
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, untold ? 13 : 12);
    pack_number(&packer, "subscription", 3);
    pack_number(&packer, "world", 8);
    pack_number(&packer, "team", 2);
    pack_number(&packer, "tick", model->tick);
    pack_list(&packer, "rect", &rect);
    pack_list(&packer, "cells", &cells);
    pack_list(&packer, "agents", &agents);
    pack_list(&packer, "classes", &classes);
    pack_list(&packer, "motion", &motion);
    pack_list(&packer, "tagged", &tagged);
    pack_tags(&packer, &tagged);
    pack_list(&packer, "buildings", &buildings);
    if (untold) {
        msgpack_pack_str_with_body(&packer, "untold", strlen("untold"));
        msgpack_pack_true(&packer);
    }
    fm_status status = apply(mirror, FM_NOTIFY_KEYFRAME, &bytes);
    msgpack_sbuffer_destroy(&bytes);
    return status;
}

static fm_status apply_keyframe(struct model *model, fm_mirror *mirror)
{
    return apply_keyframe_with(model, mirror, false);
}

// Empty entries are left out, as the protocol says.
static fm_status apply_delta(const struct delta *delta, uint64_t tick, fm_mirror *mirror)
{
    const struct {
        const char *name;
        const struct list *list;
    } entries[] = {
        {"moved", &delta->moved},   {"enter", &delta->enter},   {"leave", &delta->leave},
        {"cells", &delta->cells},   {"ended", &delta->ended},   {"classes", &delta->classes},
        {"motion", &delta->motion}, {"tagged", &delta->tagged}, {"died", &delta->died}};
    uint32_t count = 3 + delta->tells_buildings + (delta->tagged.count > 0);
    for (size_t i = 0; i < FM_COUNT_OF(entries); i++) {
        count += entries[i].list->count > 0;
    }
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, count);
    pack_number(&packer, "subscription", 3);
    pack_number(&packer, "world", 8);
    pack_number(&packer, "tick", tick);
    for (size_t i = 0; i < FM_COUNT_OF(entries); i++) {
        if (entries[i].list->count > 0) {
            pack_list(&packer, entries[i].name, entries[i].list);
        }
    }
    if (delta->tagged.count > 0) {
        pack_tags(&packer, &delta->tagged);
    }
    if (delta->tells_buildings) {
        pack_list(&packer, "buildings", &delta->buildings);
    }
    fm_status status = apply(mirror, FM_NOTIFY_DELTA, &bytes);
    msgpack_sbuffer_destroy(&bytes);
    return status;
}

// ---- the model ----------------------------------------------------------------------------------

static void change_motion(struct model *model, struct delta *delta, struct model_agent *agent)
{
    agent->heading = draw(model, FM_MIRROR_HEADING_UNKNOWN);
    agent->speed = draw(model, 2000);
    agent->point_count = draw(model, FM_MIRROR_WAYPOINTS_MAX + 1);
    for (uint32_t i = 0; i < 2 * agent->point_count; i++) {
        agent->points[i] = draw(model, 2 * FM_SIDE_MAX);
    }
    add_motion(&delta->motion, agent);
}

static void change_tag(struct model *model, struct delta *delta, struct model_agent *agent)
{
    agent->tag = draw(model, 2) * draw(model, FM_TAG_SIZE_MAX + 1);
    add(&delta->tagged, agent->id);
    add(&delta->tagged, agent->tag);
}

static void change_agent(struct model *model, struct delta *delta, uint32_t slot)
{
    struct model_agent *agent = &model->agents[slot];
    if (agent->there && draw(model, 6) == 0) {
        agent->there = false;
        add(&delta->leave, agent->id);
        add(&delta->leave, draw(model, 3));
        if (draw(model, 2) == 0) {
            return; // else the slot's next agent enters at once
        }
    } else if (agent->there) {
        uint32_t x = LEFT + draw(model, WIDTH), y = TOP + draw(model, HEIGHT);
        model->moves += x != agent->x || y != agent->y;
        agent->x = x;
        agent->y = y;
        agent->state = draw(model, FM_AGENT_STATE_COUNT);
        add(&delta->moved, agent->id);
        add(&delta->moved, x);
        add(&delta->moved, y);
        add(&delta->moved, agent->state);
        if (draw(model, 2) == 0) {
            change_motion(model, delta, agent);
        }
        if (draw(model, 3) == 0) {
            change_tag(model, delta, agent);
        }
        return;
    }
    *agent = (struct model_agent){
        .there = true,
        .id = fm_agent_id_pack((fm_agent_id){slot, model->generations[slot]++}),
        .team = 1 + draw(model, 3),
        .x = LEFT + draw(model, WIDTH),
        .y = TOP + draw(model, HEIGHT),
        .state = draw(model, FM_AGENT_STATE_COUNT),
        .class_index = draw(model, 2) * draw(model, FM_CLASSES_MAX),
        .heading = FM_MIRROR_HEADING_UNKNOWN,
    };
    if (draw(model, 3) == 0) {
        change_motion(model, delta, agent);
    }
    if (draw(model, 3) == 0) {
        change_tag(model, delta, agent);
    }
    if (agent->class_index != 0) {
        add(&delta->classes, agent->id);
        add(&delta->classes, agent->class_index);
    }
    add(&delta->enter, agent->id);
    add(&delta->enter, agent->team);
    add(&delta->enter, agent->x);
    add(&delta->enter, agent->y);
    add(&delta->enter, agent->state);
}

static void change_cells(struct model *model, struct delta *delta)
{
    uint32_t row = draw(model, HEIGHT), column = draw(model, WIDTH);
    uint32_t count = 1 + draw(model, WIDTH - column);
    uint16_t look = draw_look(model);
    for (uint32_t i = 0; i < count; i++) {
        model->looks[row][column + i] = look;
    }
    add(&delta->cells, LEFT + column);
    add(&delta->cells, TOP + row);
    add(&delta->cells, count);
    add(&delta->cells, look);
}

static void change_buildings(struct model *model, struct delta *delta)
{
    model->building_count = draw(model, BUILDINGS + 1);
    for (uint32_t i = 0; i < model->building_count; i++) {
        uint32_t x = draw(model, FM_SIDE_MAX), y = draw(model, FM_SIDE_MAX);
        const uint64_t numbers[6] = {i + 1,
                                     draw(model, 5),
                                     x,
                                     y,
                                     1 + draw(model, FM_SIDE_MAX - x),
                                     1 + draw(model, FM_SIDE_MAX - y)};
        memcpy(model->buildings[i], numbers, sizeof numbers);
        for (uint32_t k = 0; k < 6; k++) {
            add(&delta->buildings, numbers[k]);
        }
    }
    delta->tells_buildings = true;
}

static void change(struct model *model, struct delta *delta)
{
    delta->classes.count = delta->motion.count = delta->tagged.count = delta->buildings.count = 0;
    delta->tells_buildings = false;
    if (draw(model, 4) == 0) {
        change_buildings(model, delta);
    }
    delta->moved.count = delta->enter.count = delta->leave.count = 0;
    delta->cells.count = delta->ended.count = delta->died.count = 0;
    model->tick += 1 + draw(model, 3);
    for (uint32_t slot = 1; slot <= SLOTS; slot++) {
        if (draw(model, 3) == 0) {
            change_agent(model, delta, slot);
        }
    }
    for (uint32_t i = draw(model, 10); i > 0; i--) {
        change_cells(model, delta);
    }
    for (uint32_t i = draw(model, FM_AGENT_STATE_COUNT); i > 0; i--) {
        add(&delta->died, ++model->died);
        model->ended++;
        add(&delta->ended, model->ended);
        add(&delta->ended, 1 + draw(model, SLOTS));
        add(&delta->ended, draw(model, FM_END_COUNT));
        add(&delta->ended, LEFT);
        add(&delta->ended, TOP);
    }
}

static void compare_motion(const struct model_agent *agent, const fm_mirror *mirror)
{
    const fm_mirror_motion *motion = fm_mirror_motion_of(mirror, agent->id);
    assert_int_equal(motion == NULL, agent->heading == FM_MIRROR_HEADING_UNKNOWN);
    if (motion == NULL) {
        return;
    }
    assert_int_equal(motion->heading, agent->heading);
    assert_int_equal(motion->speed, agent->speed);
    assert_int_equal(motion->waypoint_count, agent->point_count);
    for (uint32_t i = 0; i < agent->point_count; i++) {
        assert_int_equal(motion->waypoints[i].x2, agent->points[2 * i]);
        assert_int_equal(motion->waypoints[i].y2, agent->points[2 * i + 1]);
    }
}

static void compare(const struct model *model, const fm_mirror *mirror)
{
    uint32_t agent_count = 0;
    uint64_t known_count = 0, ended = 0;
    assert_int_equal(mirror->tick, model->tick);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            assert_int_equal(fm_mirror_look(mirror, LEFT + x, TOP + y), model->looks[y][x]);
            known_count += model->looks[y][x] != 0;
        }
    }
    assert_int_equal(mirror->known_count, known_count);
    for (uint32_t slot = 1; slot <= SLOTS; slot++) {
        const struct model_agent *agent = &model->agents[slot];
        const fm_mirror_agent *found = fm_mirror_find(mirror, agent->id);
        if (!agent->there) {
            assert_true(agent->id == 0 || found == NULL);
            continue;
        }
        assert_non_null(found);
        assert_int_equal(found->id, agent->id);
        assert_int_equal(found->team, agent->team);
        assert_int_equal(found->cell, fm_cell_at(agent->x, agent->y));
        assert_int_equal(found->state, agent->state);
        assert_int_equal(found->class_index, agent->class_index);
        compare_motion(agent, mirror);
        uint32_t size;
        const uint8_t *tag = fm_mirror_tag_of(mirror, found, &size);
        assert_int_equal(size, agent->tag);
        for (uint32_t i = 0; i < size; i++) {
            assert_int_equal(tag[i], size);
        }
        agent_count++;
    }
    assert_int_equal(mirror->agent_count, agent_count);
    assert_int_equal(mirror->building_count, model->building_count);
    for (uint32_t i = 0; i < model->building_count; i++) {
        const fm_building_look *building = &mirror->buildings[i];
        const uint64_t numbers[6] = {building->id,     building->team,       building->rect.x,
                                     building->rect.y, building->rect.width, building->rect.height};
        assert_memory_equal(numbers, model->buildings[i], sizeof numbers);
    }
    assert_int_equal(mirror->moves, model->moves);
    for (uint32_t i = 0; i < FM_END_COUNT; i++) {
        ended += mirror->ended[i];
    }
    assert_int_equal(ended, model->ended);
}

static struct model new_model(uint64_t seed)
{
    struct model model = {.random = fm_random_seed(seed)};
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        model.looks[i / WIDTH][i % WIDTH] = draw(&model, 3) == 0 ? draw_look(&model) : 0;
    }
    return model;
}

// ---- the tests ----------------------------------------------------------------------------------

struct told {
    uint64_t moves, ended, died, updates;
};

static void on_moved(void *context, const fm_mirror_agent *agent, fm_cell from)
{
    struct told *told = context;
    told->moves += agent->cell != from;
}

static void on_died(void *context, uint64_t agent)
{
    struct told *told = context;
    told->died++;
    assert_int_equal(agent, told->died);
}

static void on_ended(void *context, const fm_mirror_ended *ended)
{
    struct told *told = context;
    told->ended++;
    assert_int_equal(ended->order, told->ended);
}

static void on_updated(void *context, const fm_mirror *mirror, fm_notification notification)
{
    struct told *told = context;
    told->updates++;
    assert_int_equal(mirror->subscription, 3);
    assert_true(notification == FM_NOTIFY_KEYFRAME || notification == FM_NOTIFY_DELTA);
}

static void test_mirror_equals_the_model(void **state)
{
    (void)state;
    static const fm_mirror_ops ops = {
        .moved = on_moved, .ended = on_ended, .updated = on_updated, .died = on_died};
    static struct delta delta;
    struct model model = new_model(fm_test_seed());
    struct told told = {0};
    fm_mirror mirror;
    fm_mirror_init(&mirror, 0, &ops, &told);
    assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
    compare(&model, &mirror);
    for (uint32_t round = 0; round < 400; round++) {
        change(&model, &delta);
        // Sometimes a keyframe replaces a delta; moves in between are not sent.
        if (draw(&model, 20) == 0) {
            model.moves = mirror.moves;
            model.ended = told.ended;
            model.died = told.died;
            assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
        } else {
            assert_int_equal(apply_delta(&delta, model.tick, &mirror), FM_OK);
        }
        compare(&model, &mirror);
    }
    assert_int_equal(told.moves, mirror.moves);
    assert_int_equal(told.ended, model.ended);
    assert_int_equal(told.died, model.died);
    assert_int_equal(told.updates, mirror.keyframes + mirror.deltas);
    assert_int_equal(mirror.world, 8);
    assert_int_equal(mirror.team, 2);
    fm_mirror_fini(&mirror);
}

static void test_spoilt_deltas_do_no_harm(void **state)
{
    (void)state;
    static struct delta delta;
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        struct model model = new_model(fm_test_seed() + round);
        fm_mirror mirror;
        fm_mirror_init(&mirror, 3, NULL, NULL);
        change(&model, &delta);
        assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
        for (uint32_t step = 0; step < 3; step++) {
            change(&model, &delta);
            struct list *lists[] = {&delta.moved,     &delta.enter,  &delta.leave,
                                    &delta.cells,     &delta.ended,  &delta.classes,
                                    &delta.buildings, &delta.motion, &delta.tagged};
            struct list *list = lists[draw(&model, FM_COUNT_OF(lists))];
            if (list->count > 0) {
                list->numbers[draw(&model, list->count)] =
                    fm_random_next(&model.random) >> draw(&model, 64);
            }
            if (draw(&model, 4) == 0) {
                list->count -= list->count > 0;
            }
            fm_status status = apply_delta(&delta, model.tick, &mirror);
            assert_true(status == FM_OK || status == FM_ERR_BAD_MESSAGE);
            refused += status != FM_OK;
            if (status != FM_OK) {
                break;
            }
        }
        fm_mirror_fini(&mirror);
    }
    assert_true(refused > 1000); // else this test checks nothing
}

static void expect_refusal(fm_mirror *mirror, uint32_t which, const uint64_t *numbers,
                           uint32_t count)
{
    static struct delta delta;
    delta = (struct delta){.moved.count = 0};
    struct list *lists[] = {&delta.moved,     &delta.enter,  &delta.leave,
                            &delta.cells,     &delta.ended,  &delta.classes,
                            &delta.buildings, &delta.motion, &delta.tagged};
    delta.tells_buildings = which == 6;
    for (uint32_t i = 0; i < count; i++) {
        add(lists[which], numbers[i]);
    }
    assert_int_equal(apply_delta(&delta, 1000000, mirror), FM_ERR_BAD_MESSAGE);
}

static void note_ended(void *context, const fm_mirror_ended *ended)
{
    *(fm_mirror_ended *)context = *ended;
}

// A newer server may have reasons for which orders end that this library does not know.
static void test_an_unknown_reason_is_passed_on(void **state)
{
    (void)state;
    static const fm_mirror_ops ops = {.ended = note_ended};
    struct model model = new_model(1);
    fm_mirror_ended ended = {0};
    fm_mirror mirror;
    fm_mirror_init(&mirror, 0, &ops, &ended);
    assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
    static struct delta delta;
    delta = (struct delta){.moved.count = 0};
    static const uint64_t numbers[] = {7, 1, 99, 6, 10};
    for (uint32_t i = 0; i < FM_COUNT_OF(numbers); i++) {
        add(&delta.ended, numbers[i]);
    }
    assert_int_equal(apply_delta(&delta, 1000000, &mirror), FM_OK);
    assert_int_equal(ended.order, 7);
    assert_int_equal(ended.reason, 99);
    assert_int_equal(ended.cell, fm_cell_at(6, 10));
    fm_mirror_fini(&mirror);
}

static void note_untold(void *context)
{
    ++*(uint32_t *)context;
}

static void test_ends_that_were_not_told_are_told_of(void **state)
{
    (void)state;
    static const fm_mirror_ops ops = {.untold = note_untold};
    struct model model = new_model(1);
    uint32_t told = 0;
    fm_mirror mirror;
    fm_mirror_init(&mirror, 0, &ops, &told);
    assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
    assert_int_equal(told, 0);
    assert_int_equal(apply_keyframe_with(&model, &mirror, true), FM_OK);
    assert_int_equal(told, 1);
    assert_int_equal(mirror.untold, 1);
    assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
    assert_int_equal(told, 1);
    fm_mirror_fini(&mirror);
}

static void test_each_contradiction_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t which;
        uint32_t count;
        uint64_t numbers[6];
    } wrong[] = {
        {0, 4, {999, 6, 10, 0}},                  // moves, but never entered
        {0, 4, {1, 5000, 10, 0}},                 // off every map
        {0, 4, {1, 6, 10, FM_AGENT_STATE_COUNT}}, // unknown state
        {0, 3, {1, 6, 10}},                       // cut short
        {0, 4, {(1ull << 32) | 1, 6, 10, 0}},     // the slot's next agent, not this one
        {1, 5, {1, 1, 6, 10, 0}},                 // enters twice
        {1, 5, {0, 1, 6, 10, 0}},                 // no agent has this id
        {1, 5, {(1u << 21) + 1, 1, 6, 10, 0}},    // past the last slot
        {2, 2, {999, 0}},                         // leaves, but was not there
        {3, 4, {LEFT + WIDTH, TOP, 1, 0}},        // east of the rectangle
        {3, 4, {LEFT, TOP + HEIGHT, 1, 0}},       // south of it
        {3, 4, {LEFT - 1, TOP, 1, 0}},            // west of it
        {3, 4, {LEFT, TOP, WIDTH + 1, 0}},        // past the end of the row
        {3, 4, {LEFT, TOP, 1, 15}},               // unknown terrain
        {4, 5, {1, 1, 1ull << 31, 6, 10}},        // impossible reason
        {5, 2, {999, 1}},                         // class of an unknown agent
        {5, 2, {1, FM_CLASSES_MAX}},              // impossible class
        {5, 1, {1}},                              // cut short
        {6, 6, {1, 1, 0, 0, 0, 1}},               // an empty building
        {6, 6, {1, 1, 4095, 0, 2, 1}},            // off every map
        {6, 6, {1, 1u << 20, 0, 0, 2, 1}},        // impossible team
        {6, 5, {1, 1, 0, 0, 2}},                  // cut short
        {7, 4, {999, 0, 0, 0}},                   // motion of an unknown agent
        {7, 4, {1, 9, 0, 0}},                     // unknown heading
        {7, 3, {1, 0, 0}},                        // cut short
        {7, 4, {1, 0, 0, 1}},                     // fewer waypoints than it claims
        {7, 6, {1, 0, 0, 1, 8193, 0}},            // off every map
        {8, 2, {999, 1}},                         // tag of an unknown agent
        {8, 2, {1, 65}},                          // longer than the longest tag
        {8, 1, {1}},                              // cut short
    };
    for (size_t i = 0; i < FM_COUNT_OF(wrong); i++) {
        struct model model = new_model(1);
        model.agents[1] = (struct model_agent){.there = true, .id = 1, .team = 1, .x = 6, .y = 10};
        fm_mirror mirror;
        fm_mirror_init(&mirror, 0, NULL, NULL);
        assert_int_equal(apply_keyframe(&model, &mirror), FM_OK);
        expect_refusal(&mirror, wrong[i].which, wrong[i].numbers, wrong[i].count);
        fm_mirror_fini(&mirror);
    }
}

static void test_other_subscriptions_are_ignored(void **state)
{
    (void)state;
    static struct delta delta;
    struct model model = new_model(1);
    fm_mirror mirror;
    fm_mirror_init(&mirror, 4, NULL, NULL);
    assert_int_equal(apply_keyframe(&model, &mirror), FM_OK); // of subscription 3
    assert_int_equal(mirror.keyframes, 0);
    assert_int_equal(mirror.rect.width, 0);
    assert_int_equal(fm_mirror_look(&mirror, LEFT, TOP), 0);
    fm_mirror_fini(&mirror);

    fm_mirror_init(&mirror, 3, NULL, NULL);
    assert_int_equal(apply_delta(&delta, 5, &mirror), FM_ERR_BAD_MESSAGE); // before any keyframe
    fm_mirror_fini(&mirror);
}

static fm_status apply_end(fm_mirror *mirror, fm_notification notification)
{
    msgpack_sbuffer bytes;
    msgpack_packer packer;
    msgpack_sbuffer_init(&bytes);
    msgpack_packer_init(&packer, &bytes, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, 1);
    pack_number(&packer, "subscription", mirror->subscription);
    fm_status status = apply(mirror, notification, &bytes);
    msgpack_sbuffer_destroy(&bytes);
    return status;
}

static void test_a_world_that_moved_has_not_ended(void **state)
{
    (void)state;
    fm_mirror mirror;
    fm_mirror_init(&mirror, 3, NULL, NULL);
    assert_int_equal(apply_end(&mirror, FM_NOTIFY_MOVED), FM_OK);
    assert_true(mirror.over && mirror.has_moved);
    fm_mirror_resume(&mirror, 4);
    assert_false(mirror.over || mirror.has_moved);
    assert_int_equal(apply_end(&mirror, FM_NOTIFY_WORLD_ENDED), FM_OK);
    assert_true(mirror.over && !mirror.has_moved);
    fm_mirror_fini(&mirror);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirror_equals_the_model),
        cmocka_unit_test(test_spoilt_deltas_do_no_harm),
        cmocka_unit_test(test_an_unknown_reason_is_passed_on),
        cmocka_unit_test(test_ends_that_were_not_told_are_told_of),
        cmocka_unit_test(test_each_contradiction_is_refused),
        cmocka_unit_test(test_other_subscriptions_are_ignored),
        cmocka_unit_test(test_a_world_that_moved_has_not_ended),
    };
    return cmocka_run_group_tests_name("mirror", tests, NULL, NULL);
}
