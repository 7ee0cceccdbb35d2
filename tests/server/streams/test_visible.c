// test_visible.c: the visible cells that a client knows are those that its team sees.
//
// Method: worlds in fog, with every shape of sight and with lines of sight, in which units of two
// teams are born, walk and die and walls come and go. Readers of a scene, plain and dense, of the
// whole map or a moving part, read mostly after every tick and sometimes much later, and keep
// mirrors of the C library. After each message a mirror is compared cell by cell with the core's
// set, and that set with what the units see from their cells. Readers of the same view get the same
// frame.

#include <fogmarch/mirror.h>

#include "core/base/random.h"
#include "core/commands/apply.h"
#include "core/commands/create.h"
#include "core/tick/tick.h"
#include "core/views/view_delta.h"
#include "proto/pack.h"
#include "server/streams/scene.h"
#include "tests/support/support.h"

#define WIDTH      150u // three words of bits, the last one not full
#define HEIGHT     40u
#define PITCH      3u
#define TICKS      40u
#define WORLDS     12u
#define READERS    8u
#define AGENTS_MAX 512u
#define PLAYER     1u

struct reader {
    fm_mirror mirror;
    fm_rect rect;
    fm_form form;
    uint64_t tick;
    bool begun;
};

struct run {
    fm_random random;
    fm_world *world;
    fm_world_rules rules;
    fm_host host;
    fm_scene *scene;
    fm_agent_id agents[AGENTS_MAX];
    uint32_t agent_count;
    struct reader readers[READERS];
    uint64_t messages, dense_size, plain_size, changed;
};

// ---- the world ----------------------------------------------------------------------------------

static fm_cell some_cell(struct run *run)
{
    return fm_cell_at(fm_random_below(&run->random, WIDTH), fm_random_below(&run->random, HEIGHT));
}

static fm_command_result apply(struct run *run, fm_command command)
{
    fm_command_result result = {.spawned = &run->agents[run->agent_count]};
    fm_world_apply(run->world, &command, &result);
    return result;
}

static void spawn(struct run *run)
{
    fm_cell cells[6];
    uint32_t count = 1 + fm_random_below(&run->random, FM_COUNT_OF(cells));
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = some_cell(run);
    }
    fm_command command = {.kind = FM_COMMAND_SPAWN,
                          .team = 1 + fm_random_below(&run->random, 2),
                          .cells = cells,
                          .cell_count = count};
    if (run->agent_count + count <= AGENTS_MAX && apply(run, command).status == FM_OK) {
        run->agent_count += count;
    }
}

static void do_something(struct run *run)
{
    fm_cell cell = some_cell(run);
    uint32_t at = run->agent_count == 0 ? 0 : fm_random_below(&run->random, run->agent_count);
    switch (fm_random_below(&run->random, 8)) {
    case 0:
        spawn(run);
        return;
    case 1:
        apply(run, (fm_command){.kind = FM_COMMAND_REMOVE,
                                .agents = &run->agents[at],
                                .agent_count = run->agent_count > 0});
        run->agents[at] = run->agents[run->agent_count == 0 ? 0 : --run->agent_count];
        return;
    case 2:
    case 3:
        apply(run, (fm_command){.kind = FM_COMMAND_TERRAIN,
                                .cells = &cell,
                                .cell_count = 1,
                                .terrain = fm_random_below(&run->random, 2) ? FM_TERRAIN_WALL
                                                                            : FM_TERRAIN_GROUND,
                                .cost = FM_COST_FLOOR});
        return;
    default:
        apply(run, (fm_command){.kind = FM_COMMAND_ORDER,
                                .agents = &run->agents[at],
                                .agent_count = run->agent_count > 0,
                                .order = FM_ORDER_MOVE,
                                .cells = &cell,
                                .cell_count = 1});
    }
}

// The whole of the view, or, of a scene that is live, what is visible alone.
static void show(struct run *run, bool whole)
{
    static fm_agent_look looks[2 * AGENTS_MAX];
    fm_publication publication = {.tick = run->scene->tick, .is_snapshot = whole};
    if (whole) {
        publication.changes.entered = looks;
        publication.changes.entered_count =
            fm_world_agents_in_view(run->world, PLAYER, looks, FM_COUNT_OF(looks));
        publication.looks = malloc(WIDTH * HEIGHT * sizeof *publication.looks);
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            publication.looks[i] = (uint16_t)fm_look_pack(
                fm_world_look_up(run->world, PLAYER, fm_cell_at(i % WIDTH, i / WIDTH)));
        }
    } else {
        assert_int_equal(fm_world_watch_sight(run->world, PLAYER), FM_OK);
        publication.sight = malloc(PITCH * HEIGHT * sizeof *publication.sight);
        fm_world_sight(run->world, PLAYER, publication.sight);
    }
    assert_int_equal(fm_scene_apply(run->scene, &publication), FM_OK);
    free(publication.looks);
    free(publication.sight);
}

static void begin_run(struct run *run, uint64_t seed)
{
    static const fm_sense_shape shapes[] = {FM_SENSE_SQUARE, FM_SENSE_DISC, FM_SENSE_DIAMOND};
    *run = (struct run){.random = fm_random_seed(seed)};
    fm_grid *grid;
    assert_int_equal(fm_grid_create(WIDTH, HEIGHT, &fm_memory_libc, &grid), FM_OK);
    run->rules = fm_world_rules_default();
    run->rules.sense.radius = 1 + fm_random_below(&run->random, 6);
    run->rules.sense.shape = shapes[fm_random_below(&run->random, FM_COUNT_OF(shapes))];
    run->rules.sense.line_of_sight = fm_random_below(&run->random, 3) == 0;
    if (run->rules.sense.shape == FM_SENSE_DIAMOND) {
        run->rules.connectivity = FM_CONNECT_4;
        run->rules.steps = FM_STEPS_1;
    }
    assert_int_equal(fm_world_create(&run->rules, grid, &fm_memory_libc, &run->world), FM_OK);
    apply(run, (fm_command){.kind = FM_COMMAND_TEAM});
    apply(run, (fm_command){.kind = FM_COMMAND_TEAM});
    for (uint32_t i = 0; i < 6; i++) {
        spawn(run);
    }
    run->host = (fm_host){.number = 1, .width = WIDTH, .height = HEIGHT};
    run->scene = fm_scene_create(&run->host, PLAYER, 1);
    assert_non_null(run->scene);
    assert_int_equal(fm_world_watch(run->world, PLAYER, true), FM_OK);
    show(run, true);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = &run->readers[i];
        fm_mirror_init(&reader->mirror, 0, NULL, NULL);
        reader->form = (fm_form){.veiled = true, .dense = i % 2 == 1, .sight = true};
        reader->rect = i < 4 ? (fm_rect){.width = WIDTH, .height = HEIGHT}
                             : (fm_rect){.x = 9 * i, .y = i, .width = 70 + i, .height = 20};
    }
}

static void end_run(struct run *run)
{
    for (uint32_t i = 0; i < READERS; i++) {
        fm_mirror_fini(&run->readers[i].mirror);
    }
    fm_scene_destroy(run->scene);
    fm_world_destroy(run->world);
}

// ---- readers ------------------------------------------------------------------------------------

static void hear(struct reader *reader, fm_notification notification, fm_body body)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_unpacked message;
    size_t offset = 0;
    assert_non_null(body.frame);
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    msgpack_pack_map(&packer, body.entries + 1);
    fm_pack_key_uint(&packer, "subscription", 1);
    msgpack_sbuffer_write(&buffer, (const char *)body.frame->bytes, body.frame->size);
    msgpack_unpacked_init(&message);
    assert_int_equal(msgpack_unpack_next(&message, buffer.data, buffer.size, &offset),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(fm_mirror_apply(&reader->mirror, notification, &message.data), FM_OK);
    msgpack_unpacked_destroy(&message);
    msgpack_sbuffer_destroy(&buffer);
}

static void compare_with_core(struct run *run, const struct reader *reader)
{
    uint64_t rows[HEIGHT][PITCH];
    fm_world_sight(run->world, PLAYER, rows[0]);
    const fm_rect *rect = &reader->mirror.rect;
    assert_memory_equal(rect, &reader->rect, sizeof *rect);
    for (uint32_t y = rect->y; y < rect->y + rect->height; y++) {
        for (uint32_t x = rect->x; x < rect->x + rect->width; x++) {
            assert_int_equal(fm_mirror_sees(&reader->mirror, x, y), rows[y][x / 64] >> x % 64 & 1);
        }
    }
    assert_false(fm_mirror_sees(&reader->mirror, rect->x + rect->width, rect->y));
}

static void bring_up_to_date(struct run *run, struct reader *reader)
{
    fm_body body;
    if (!reader->begun || fm_random_below(&run->random, 30) == 0) {
        hear(reader, FM_NOTIFY_KEYFRAME,
             fm_scene_keyframe(run->scene, &reader->rect, reader->form));
        reader->begun = true;
    } else if (run->readers + 4 <= reader && fm_random_below(&run->random, 4) == 0) {
        fm_rect to = reader->rect;
        to.x = fm_random_below(&run->random, WIDTH - to.width + 1);
        to.y = fm_random_below(&run->random, HEIGHT - to.height + 1);
        body = fm_scene_shift(run->scene, &reader->rect, &to, reader->tick, reader->form);
        reader->rect = to;
        if (body.frame != NULL) {
            hear(reader, FM_NOTIFY_DELTA, body);
        }
        fm_frame_drop(body.frame);
    } else {
        body = fm_scene_delta(run->scene, &reader->rect, reader->tick, reader->form);
        fm_body again = fm_scene_delta(run->scene, &reader->rect, reader->tick, reader->form);
        assert_ptr_equal(body.frame, again.frame);
        if (body.frame != NULL) {
            hear(reader, FM_NOTIFY_DELTA, body);
            *(reader->form.dense ? &run->dense_size : &run->plain_size) += body.sight_size;
        }
    }
    reader->tick = run->scene->tick;
    run->messages++;
    compare_with_core(run, reader);
}

// Square sights without lines of sight are simple enough to compute again here.
static void compare_with_units(struct run *run)
{
    static uint8_t seen[HEIGHT][WIDTH];
    static fm_agent_look looks[2 * AGENTS_MAX];
    if (run->rules.sense.shape != FM_SENSE_SQUARE || run->rules.sense.line_of_sight) {
        return;
    }
    memset(seen, 0, sizeof seen);
    uint32_t radius = run->rules.sense.radius;
    uint32_t count = fm_world_agents_in_view(run->world, PLAYER, looks, FM_COUNT_OF(looks));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t ax = fm_cell_x(looks[i].cell), ay = fm_cell_y(looks[i].cell);
        for (uint32_t y = ay < radius ? 0 : ay - radius;
             looks[i].team == PLAYER && y <= ay + radius && y < HEIGHT; y++) {
            for (uint32_t x = ax < radius ? 0 : ax - radius; x <= ax + radius && x < WIDTH; x++) {
                seen[y][x] = 1;
            }
        }
    }
    uint64_t rows[HEIGHT][PITCH];
    fm_world_sight(run->world, PLAYER, rows[0]);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t x = i % WIDTH, y = i / WIDTH;
        assert_int_equal(rows[y][x / 64] >> x % 64 & 1, seen[y][x]);
    }
}

static void tick(struct run *run, uint64_t number)
{
    fm_tick_report report;
    for (uint32_t i = fm_random_below(&run->random, 4); i > 0; i--) {
        do_something(run);
    }
    fm_tick_run(run->world, NULL, 1u << 20, NULL, &report);
    fm_changes changes = fm_world_changes(run->world, PLAYER);
    fm_publication publication = {.tick = number, .changes = changes};
    assert_int_equal(fm_scene_apply(run->scene, &publication), FM_OK);
    run->changed += changes.sight_count;
    compare_with_units(run);
    for (uint32_t i = 0; i < READERS; i++) {
        bool is_slow = i % 4 >= 2 && fm_random_below(&run->random, 4) > 0;
        if (!is_slow) {
            bring_up_to_date(run, &run->readers[i]);
        }
    }
}

static void mirrors_know_what_is_visible(void **state)
{
    (void)state;
    static struct run run;
    uint64_t dense_size = 0, plain_size = 0, changed = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        begin_run(&run, fm_mix64(fm_test_seed() + i));
        // A client that does not ask for visible cells gets none, and the first that asks gets all.
        fm_form form = {.veiled = true};
        fm_body body = fm_scene_keyframe(run.scene, &run.readers[0].rect, form);
        assert_int_equal(body.sight_size, 0);
        show(&run, false);
        for (uint64_t number = 1; number <= TICKS; number++) {
            tick(&run, number);
        }
        dense_size += run.dense_size;
        plain_size += run.plain_size;
        changed += run.changed;
        end_run(&run);
    }
    assert_true(changed > WORLDS * TICKS);
    assert_true(dense_size > 0 && dense_size < plain_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrors_know_what_is_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
