// test_scanner.c: the frame scanner accepts exactly what msgpack-c can decode within the
// limits, however the bytes are cut.
//
// Method: random messages in every encoding that the format has, also needlessly long ones, then
// mutated and truncated. A scan under wide limits, which keep msgpack-c from allocating without
// end, must agree with msgpack-c about whole, cut and broken messages. What msgpack-c decoded is
// then measured, and a scan under random narrow limits must accept it when, and only when, it fits.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "proto/scanner.h"

#include <msgpack.h>

#define ROUNDS 10000u

// The generator opens no array after OPEN_SIZE_MAX bytes and begins no text after TEXT_SIZE_MAX, so
// that what is then still wanted, 400 scalars of 9 bytes in each of 32 arrays, fits.
#define OPEN_SIZE_MAX    1024u // bytes
#define TEXT_SIZE_MAX    2048u
#define MESSAGE_SIZE_MAX 131072u

static const fm_scan_limits wide_limits = {
    .size_max = 1u << 20,
    .depth_max = FM_SCANNER_DEPTH_MAX,
    .elements_max = 100000,
};

struct message {
    uint8_t bytes[MESSAGE_SIZE_MAX];
    size_t size;
};

// ---- generator ----------------------------------------------------------------------------------

static void put(struct message *message, uint64_t value, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        message->bytes[message->size++] = (uint8_t)(value >> 8 * (size - 1 - i));
    }
}

static void put_random(struct message *message, fm_random *random, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        put(message, fm_random_next(random) & 0xff, 1);
    }
}

// A number, nil or truth value.
static void put_scalar(struct message *message, fm_random *random)
{
    static const struct {
        uint8_t byte, size;
    } kinds[] = {{0xc0, 0}, {0xc2, 0}, {0xc3, 0}, {0xca, 4}, {0xcb, 8}, {0xcc, 1}, {0xcd, 2},
                 {0xce, 4}, {0xcf, 8}, {0xd0, 1}, {0xd1, 2}, {0xd2, 4}, {0xd3, 8}};
    uint32_t kind = fm_random_below(random, FM_COUNT_OF(kinds) + 2);
    if (kind < FM_COUNT_OF(kinds)) {
        put(message, kinds[kind].byte, 1);
        put_random(message, random, kinds[kind].size);
    } else if (kind == FM_COUNT_OF(kinds)) {
        put(message, fm_random_below(random, 0x80), 1);
    } else {
        put(message, 0xe0 + fm_random_below(random, 0x20), 1);
    }
}

static void put_text(struct message *message, fm_random *random)
{
    static const struct {
        uint8_t byte, length_size, is_ext;
    } kinds[] = {{0xc4, 1, 0}, {0xc5, 2, 0}, {0xc6, 4, 0}, {0xd9, 1, 0}, {0xda, 2, 0},
                 {0xdb, 4, 0}, {0xc7, 1, 1}, {0xc8, 2, 1}, {0xc9, 4, 1}};
    uint32_t kind = fm_random_below(random, FM_COUNT_OF(kinds) + 2);
    if (kind < FM_COUNT_OF(kinds)) {
        uint32_t size = fm_random_below(random, fm_random_below(random, 16) == 0 ? 256 : 20);
        put(message, kinds[kind].byte, 1);
        put(message, size, kinds[kind].length_size);
        put_random(message, random, size + kinds[kind].is_ext);
    } else if (kind == FM_COUNT_OF(kinds)) {
        uint32_t size = fm_random_below(random, 32);
        put(message, 0xa0 + size, 1);
        put_random(message, random, size);
    } else {
        uint32_t power = fm_random_below(random, 5); // fixext 1, 2, 4, 8, 16
        put(message, 0xd4 + power, 1);
        put_random(message, random, 1 + (1u << power));
    }
}

static void put_array_header(struct message *message, fm_random *random, bool is_map,
                             uint32_t count)
{
    uint32_t length_size = fm_random_below(random, 4);
    if (length_size < 2 && count < 16) {
        put(message, (is_map ? 0x80 : 0x90) + count, 1);
    } else if (length_size < 3) {
        put(message, is_map ? 0xde : 0xdc, 1);
        put(message, count, 2);
    } else {
        put(message, is_map ? 0xdf : 0xdd, 1);
        put(message, count, 4);
    }
}

// Values one after the other; an array begins by adding its elements to those still wanted.
static void generate(struct message *message, fm_random *random)
{
    uint32_t wanted[FM_SCANNER_DEPTH_MAX];
    uint32_t depth = 1;
    uint32_t shape = fm_random_below(random, 4); // from flat to deep
    message->size = 0;
    wanted[0] = 1;
    while (depth > 0) {
        if (wanted[depth - 1] == 0) {
            depth--;
            continue;
        }
        wanted[depth - 1]--;
        bool may_open = depth < FM_SCANNER_DEPTH_MAX && message->size < OPEN_SIZE_MAX;
        if (may_open && fm_random_below(random, 8) < 1 + shape * 2) {
            bool is_map = fm_random_below(random, 3) == 0;
            uint32_t count = fm_random_below(random, shape == 0 ? 200 : 5 - shape);
            put_array_header(message, random, is_map, count);
            wanted[depth++] = is_map ? 2 * count : count;
        } else if (message->size < TEXT_SIZE_MAX && fm_random_below(random, 3) == 0) {
            put_text(message, random);
        } else {
            put_scalar(message, random);
        }
    }
    assert_true(message->size <= MESSAGE_SIZE_MAX);
}

static void mutate(struct message *message, fm_random *random)
{
    static const uint8_t telling[] = {0xc1, 0xdd, 0xdf, 0xdb, 0xc6, 0xc9, 0xdc, 0xde,
                                      0x91, 0x81, 0x90, 0xa0, 0xff, 0x00, 0xcf, 0xd8};
    uint32_t count = fm_random_below(random, 4);
    for (uint32_t i = 0; i < count && message->size > 0; i++) {
        uint32_t at = fm_random_below(random, (uint32_t)message->size);
        switch (fm_random_below(random, 4)) {
        case 0:
            message->bytes[at] ^= (uint8_t)(1u << fm_random_below(random, 8));
            break;
        case 1:
            message->bytes[at] = telling[fm_random_below(random, FM_COUNT_OF(telling))];
            break;
        case 2:
            message->size--;
            memmove(message->bytes + at, message->bytes + at + 1, message->size - at);
            break;
        default:
            message->size = at;
            break;
        }
    }
}

// ---- scanning -----------------------------------------------------------------------------------

struct outcome {
    fm_scan_state state;
    size_t taken; // bytes
};

// Feeds pieces of 1..piece_max bytes until the scanner does not want more.
static struct outcome scan(const fm_scan_limits *limits, const uint8_t *bytes, size_t size,
                           size_t piece_max, fm_random *random)
{
    fm_scanner scanner;
    fm_scanner_init(&scanner, limits);
    size_t at = 0;
    while (at < size && scanner.state == FM_SCAN_MORE) {
        size_t piece = piece_max == 1 ? 1 : 1 + fm_random_below(random, (uint32_t)piece_max);
        piece = piece < size - at ? piece : size - at;
        size_t taken = fm_scanner_feed(&scanner, bytes + at, piece);
        assert_true(taken == piece || (taken < piece && scanner.state != FM_SCAN_MORE));
        at += taken;
    }
    bool is_refused = scanner.state == FM_SCAN_BAD || scanner.state == FM_SCAN_LARGE;
    assert_int_equal(is_refused, scanner.reason != NULL);
    assert_int_equal(scanner.size, at);
    return (struct outcome){scanner.state, at};
}

// One verdict for a message, whole, byte by byte and in random pieces.
static struct outcome scan_all_ways(const fm_scan_limits *limits, const struct message *message,
                                    fm_random *random)
{
    fm_scanner scanner;
    fm_scanner_init(&scanner, limits);
    size_t taken = fm_scanner_feed(&scanner, message->bytes, message->size);
    const size_t pieces[] = {1, 2, 7, 64, 1000};
    for (size_t i = 0; i < FM_COUNT_OF(pieces); i++) {
        struct outcome outcome = scan(limits, message->bytes, message->size, pieces[i], random);
        assert_int_equal(outcome.state, scanner.state);
        assert_int_equal(outcome.taken, taken);
    }
    return (struct outcome){scanner.state, taken};
}

static uint32_t greater(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// What the limits limit, counted on what msgpack-c made of the message.
static uint32_t measure(const msgpack_object *object, uint64_t *elements)
{
    uint32_t below = 0;
    if (object->type == MSGPACK_OBJECT_ARRAY) {
        *elements += object->via.array.size;
        for (uint32_t i = 0; i < object->via.array.size; i++) {
            below = greater(below, measure(&object->via.array.ptr[i], elements));
        }
        return below + 1;
    }
    if (object->type == MSGPACK_OBJECT_MAP) {
        *elements += 2 * (uint64_t)object->via.map.size;
        for (uint32_t i = 0; i < object->via.map.size; i++) {
            below = greater(below, measure(&object->via.map.ptr[i].key, elements));
            below = greater(below, measure(&object->via.map.ptr[i].val, elements));
        }
        return below + 1;
    }
    return 0;
}

// Limits around what a message needs, some of them just too narrow.
static fm_scan_limits narrow_limits(size_t size, uint32_t depth, uint64_t elements,
                                    fm_random *random)
{
    uint32_t lack = fm_random_below(random, 4);
    fm_scan_limits limits = {
        .size_max = (uint32_t)size - (lack == 1 && size > 1),
        .depth_max = depth - (lack == 2 && depth > 1),
        .elements_max = (uint32_t)elements - (lack == 3 && elements > 0),
    };
    limits.depth_max = greater(limits.depth_max, 1);
    return limits;
}

static void check_decoded(const struct message *message, size_t size, const msgpack_object *object,
                          fm_random *random)
{
    uint64_t elements = 0;
    uint32_t depth = measure(object, &elements);
    fm_scan_limits limits = narrow_limits(size, depth, elements, random);
    bool fits =
        size <= limits.size_max && depth <= limits.depth_max && elements <= limits.elements_max;
    struct outcome outcome = scan_all_ways(&limits, message, random);
    assert_int_equal(outcome.state, fits ? FM_SCAN_DONE : FM_SCAN_LARGE);
    assert_true(outcome.taken <= limits.size_max);
    if (fits) {
        assert_int_equal(outcome.taken, size);
    }
}

static fm_scan_state check_against_msgpack(const struct message *message, fm_random *random)
{
    struct outcome outcome = scan_all_ways(&wide_limits, message, random);
    if (outcome.state == FM_SCAN_LARGE) {
        return outcome.state; // its headers promise so much that msgpack-c is not to be asked
    }
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    msgpack_unpack_return result =
        msgpack_unpack_next(&unpacked, (const char *)message->bytes, message->size, &offset);
    switch (outcome.state) {
    case FM_SCAN_DONE:
        assert_int_equal(result, MSGPACK_UNPACK_SUCCESS);
        assert_int_equal(offset, outcome.taken);
        check_decoded(message, offset, &unpacked.data, random);
        break;
    case FM_SCAN_MORE:
        assert_int_equal(result, MSGPACK_UNPACK_CONTINUE);
        assert_int_equal(outcome.taken, message->size);
        break;
    case FM_SCAN_BAD:
        assert_int_equal(result, MSGPACK_UNPACK_PARSE_ERROR);
        break;
    case FM_SCAN_LARGE:
        break;
    }
    msgpack_unpacked_destroy(&unpacked);
    return outcome.state;
}

// ---- properties ---------------------------------------------------------------------------------

static void test_takes_every_valid_message(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    struct message message;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        generate(&message, &random);
        assert_int_equal(check_against_msgpack(&message, &random), FM_SCAN_DONE);
    }
}

static void test_agrees_on_broken_messages(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 1);
    struct message message;
    uint32_t counts[FM_SCAN_LARGE + 1] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        generate(&message, &random);
        mutate(&message, &random);
        counts[check_against_msgpack(&message, &random)]++;
    }
    for (uint32_t i = 0; i <= FM_SCAN_LARGE; i++) {
        assert_true(counts[i] > 0); // the mutations reach every verdict
    }
}

static void test_wants_more_of_every_truncation(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed() + 2);
    struct message message;
    for (uint32_t round = 0; round < 200; round++) {
        generate(&message, &random);
        for (size_t size = 0; size < message.size; size += 1 + size / 32) {
            struct outcome outcome = scan(&wide_limits, message.bytes, size, 100, &random);
            assert_int_equal(outcome.state, FM_SCAN_MORE);
        }
    }
}

static void test_separates_pipelined_messages(void **state)
{
    (void)state;
    enum {
        MESSAGE_COUNT = 50
    };
    fm_random random = fm_random_seed(fm_test_seed() + 3);
    static uint8_t stream[MESSAGE_COUNT * MESSAGE_SIZE_MAX];
    size_t ends[MESSAGE_COUNT];
    struct message message;
    for (uint32_t round = 0; round < 50; round++) {
        size_t size = 0;
        for (uint32_t i = 0; i < MESSAGE_COUNT; i++) {
            generate(&message, &random);
            memcpy(stream + size, message.bytes, message.size);
            ends[i] = size += message.size;
        }
        fm_scanner scanner;
        fm_scanner_init(&scanner, &wide_limits);
        uint32_t found = 0;
        for (size_t at = 0; at < size;) {
            size_t piece = 1 + fm_random_below(&random, 3000);
            piece = piece < size - at ? piece : size - at;
            at += fm_scanner_feed(&scanner, stream + at, piece);
            if (scanner.state == FM_SCAN_DONE) {
                assert_int_equal(at, ends[found++]);
                fm_scanner_reset(&scanner);
            }
        }
        assert_int_equal(found, MESSAGE_COUNT);
        assert_int_equal(scanner.state, FM_SCAN_MORE);
    }
}

// ---- edges --------------------------------------------------------------------------------------

static const fm_scan_limits edge_limits = {.size_max = 1000, .depth_max = 4, .elements_max = 20};

static struct outcome scan_bytes(const fm_scan_limits *limits, const uint8_t *bytes, size_t size)
{
    struct outcome bytewise = scan(limits, bytes, size, 1, NULL);
    fm_scanner scanner;
    fm_scanner_init(&scanner, limits);
    size_t taken = fm_scanner_feed(&scanner, bytes, size);
    assert_int_equal(scanner.state, bytewise.state);
    assert_int_equal(taken, bytewise.taken);
    return bytewise;
}

static void test_size_limit_is_exact(void **state)
{
    (void)state;
    uint8_t text[1001] = {0xda, 997 >> 8, 997 & 0xff}; // 3 bytes of header and 997 of text
    struct outcome outcome = scan_bytes(&edge_limits, text, 1000);
    assert_int_equal(outcome.state, FM_SCAN_DONE);
    assert_int_equal(outcome.taken, 1000);

    text[2]++;
    outcome = scan_bytes(&edge_limits, text, 1001);
    assert_int_equal(outcome.state, FM_SCAN_LARGE);
    assert_int_equal(outcome.taken, 3); // refused at its header, not after a thousand bytes

    fm_scan_limits limits = {.size_max = 10, .depth_max = 1, .elements_max = 100};
    uint8_t array[11] = {0x99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_int_equal(scan_bytes(&limits, array, 10).state, FM_SCAN_DONE);
    array[0] = 0x9a;
    outcome = scan_bytes(&limits, array, 11);
    assert_int_equal(outcome.state, FM_SCAN_LARGE);
    assert_int_equal(outcome.taken, 10);
}

static void test_depth_limit_is_exact(void **state)
{
    (void)state;
    for (uint32_t depth_max = 1; depth_max <= FM_SCANNER_DEPTH_MAX; depth_max++) {
        fm_scan_limits limits = {.size_max = 100, .depth_max = depth_max, .elements_max = 100};
        uint8_t nest[FM_SCANNER_DEPTH_MAX + 2];
        memset(nest, 0x91, sizeof(nest));
        nest[depth_max] = 0xc0;
        assert_int_equal(scan_bytes(&limits, nest, depth_max + 1).state, FM_SCAN_DONE);
        nest[depth_max] = 0x90; // an empty array is an array
        struct outcome outcome = scan_bytes(&limits, nest, depth_max + 1);
        assert_int_equal(outcome.state, FM_SCAN_LARGE);
        assert_int_equal(outcome.taken, depth_max + 1);
    }
}

static void test_element_limit_is_exact(void **state)
{
    (void)state;
    const struct {
        uint8_t bytes[32];
        uint32_t size;
        fm_scan_state state;
        uint32_t taken;
    } cases[] = {
        {{0xdc, 0, 20}, 23, FM_SCAN_DONE, 23},
        {{0xdc, 0, 21}, 24, FM_SCAN_LARGE, 3},
        {{0xde, 0, 10}, 23, FM_SCAN_DONE, 23},
        {{0xde, 0, 11}, 25, FM_SCAN_LARGE, 3},
        {{0x8a}, 21, FM_SCAN_DONE, 21},
        {{0x8b}, 23, FM_SCAN_LARGE, 1},
        {{0x92, 0x99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99}, 21, FM_SCAN_DONE, 21},
        {{0x92, 0x99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x9a}, 22, FM_SCAN_LARGE, 12},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        struct outcome outcome = scan_bytes(&edge_limits, cases[i].bytes, cases[i].size);
        assert_int_equal(outcome.state, cases[i].state);
        assert_int_equal(outcome.taken, cases[i].taken);
    }
}

static void test_promises_are_refused_at_once(void **state)
{
    (void)state;
    const struct {
        uint8_t bytes[6];
        uint32_t taken;
    } cases[] = {
        {{0xdd, 0xff, 0xff, 0xff, 0xff, 0x00}, 5}, // array of 2^32 - 1
        {{0xdf, 0xff, 0xff, 0xff, 0xff, 0x00}, 5}, // map of 2^32 - 1
        {{0xdb, 0x40, 0x00, 0x00, 0x00, 0x00}, 5}, // text of 1 GiB
        {{0xc6, 0xff, 0xff, 0xff, 0xff, 0x00}, 5}, // binary of 4 GiB
        {{0xc9, 0xff, 0xff, 0xff, 0xff, 0x00}, 5}, // extension of 4 GiB
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        struct outcome outcome = scan_bytes(&fm_scan_limits_default, cases[i].bytes, 6);
        assert_int_equal(outcome.state, FM_SCAN_LARGE);
        assert_int_equal(outcome.taken, cases[i].taken);
    }

    static uint8_t nest[10000];
    memset(nest, 0x91, sizeof(nest));
    struct outcome outcome = scan_bytes(&fm_scan_limits_default, nest, sizeof(nest));
    assert_int_equal(outcome.state, FM_SCAN_LARGE);
    assert_int_equal(outcome.taken, fm_scan_limits_default.depth_max + 1);
    assert_true(sizeof(fm_scanner) <= 512); // all the memory that there is
}

// A promise that the limits allow costs nothing either: whatever follows is bounded by the size.
static void test_the_largest_allowed_promise_runs_into_the_size(void **state)
{
    (void)state;
    fm_scan_limits limits = {.size_max = 500, .depth_max = 2, .elements_max = UINT32_MAX};
    uint8_t bytes[600] = {0xdd, 0xff, 0xff, 0xff, 0xff};
    struct outcome outcome = scan_bytes(&limits, bytes, sizeof(bytes));
    assert_int_equal(outcome.state, FM_SCAN_LARGE);
    assert_int_equal(outcome.taken, 500);
}

static void test_a_refused_scanner_takes_nothing(void **state)
{
    (void)state;
    fm_scanner scanner;
    fm_scanner_init(&scanner, &fm_scan_limits_default);
    const uint8_t bytes[] = {0x92, 0xc1, 0x00, 0x00};
    assert_int_equal(fm_scanner_feed(&scanner, bytes, 0), 0);
    assert_int_equal(scanner.state, FM_SCAN_MORE);
    assert_int_equal(fm_scanner_feed(&scanner, bytes, sizeof(bytes)), 2);
    assert_int_equal(scanner.state, FM_SCAN_BAD);
    assert_int_equal(fm_scanner_feed(&scanner, bytes, sizeof(bytes)), 0);
    assert_int_equal(scanner.state, FM_SCAN_BAD);
}

// Every first byte is judged as msgpack-c judges it.
static void test_knows_every_first_byte(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(1);
    struct message message;
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (message.size = 1; message.size < 40; message.size++) {
            memset(message.bytes, 0, message.size);
            message.bytes[0] = (uint8_t)byte;
            check_against_msgpack(&message, &random);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_every_valid_message),
        cmocka_unit_test(test_agrees_on_broken_messages),
        cmocka_unit_test(test_wants_more_of_every_truncation),
        cmocka_unit_test(test_separates_pipelined_messages),
        cmocka_unit_test(test_size_limit_is_exact),
        cmocka_unit_test(test_depth_limit_is_exact),
        cmocka_unit_test(test_element_limit_is_exact),
        cmocka_unit_test(test_promises_are_refused_at_once),
        cmocka_unit_test(test_the_largest_allowed_promise_runs_into_the_size),
        cmocka_unit_test(test_a_refused_scanner_takes_nothing),
        cmocka_unit_test(test_knows_every_first_byte),
    };
    return cmocka_run_group_tests_name("scanner", tests, NULL, NULL);
}
