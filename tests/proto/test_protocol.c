// test_protocol.c: the decoder does what protocol.def says, for every field of every method.
//
// Method: the list is expanded a second time, in params.h. For each method a good request is built
// from it, then spoilt in one place: a field missing, of another type, below its minimum, above its
// maximum, given twice. Every refusal must name the method and the field.

#include "tests/support/params.h"
#include "tests/support/support.h"

#include "core/base/random.h"
#include "proto/protocol.h"
#include "proto/scanner.h"

#include <float.h>
#include <math.h>

#define PARAMS_MAX 40u
#define ROUNDS     20000u

// ---- building requests --------------------------------------------------------------------------

static char *many_letters; // FM_MAP_BYTES_MAX + 1 of them
static msgpack_object many_numbers[131073];
static msgpack_object spoilt_numbers[131073]; // the same but for what a test spoils

static int make_values(void **state)
{
    (void)state;
    many_letters = malloc(FM_MAP_BYTES_MAX + 1);
    if (many_letters == NULL) {
        return -1;
    }
    memset(many_letters, 'a', FM_MAP_BYTES_MAX + 1);
    for (size_t i = 0; i < FM_COUNT_OF(many_numbers); i++) {
        many_numbers[i].type = MSGPACK_OBJECT_POSITIVE_INTEGER;
        many_numbers[i].via.u64 = i % 2 == 0 ? i : FM_UINT_MAX;
    }
    memcpy(spoilt_numbers, many_numbers, sizeof(many_numbers));
    return 0;
}

static int drop_values(void **state)
{
    (void)state;
    free(many_letters);
    return 0;
}

static msgpack_object text_object(const char *text, size_t size)
{
    return (msgpack_object){.type = MSGPACK_OBJECT_STR,
                            .via.str = {.size = (uint32_t)size, .ptr = text}};
}

static msgpack_object number_object(double number)
{
    msgpack_object object = {.type = MSGPACK_OBJECT_POSITIVE_INTEGER};
    if (number < 0) {
        object.type = MSGPACK_OBJECT_NEGATIVE_INTEGER;
        object.via.i64 = (int64_t)number;
    } else {
        object.via.u64 = (uint64_t)number;
    }
    return object;
}

static msgpack_object real_object(double number)
{
    return (msgpack_object){.type = MSGPACK_OBJECT_FLOAT64, .via.f64 = number};
}

// A value of the right type whose number, size or count is `amount`.
static msgpack_object value_of(enum param_type type, double amount)
{
    msgpack_object object = {.type = MSGPACK_OBJECT_NIL};
    switch (type) {
    case UINT:
        return number_object(amount);
    case REAL:
        return real_object(amount);
    case BOOL:
        object.type = MSGPACK_OBJECT_BOOLEAN;
        object.via.boolean = amount != 0;
        return object;
    case TEXT:
        return text_object(many_letters, (size_t)amount);
    case BYTES:
        object.type = MSGPACK_OBJECT_BIN;
        object.via.bin.ptr = many_letters;
        object.via.bin.size = (uint32_t)amount;
        return object;
    case UINTS:
        object.type = MSGPACK_OBJECT_ARRAY;
        object.via.array.ptr = many_numbers;
        object.via.array.size = (uint32_t)amount;
        return object;
    }
    FM_UNREACHABLE();
}

// A request as it goes through the tests; more room than any method has parameters.
struct draft {
    fm_method method;
    msgpack_object_kv entries[PARAMS_MAX];
    uint32_t count;
};

static void add(struct draft *draft, const char *name, msgpack_object value)
{
    assert_true(draft->count < PARAMS_MAX);
    draft->entries[draft->count++] =
        (msgpack_object_kv){.key = text_object(name, strlen(name)), .val = value};
}

// All fields, or the required ones only, each at its minimum.
static struct draft good_draft(fm_method method, bool with_optional)
{
    struct draft draft = {.method = method};
    for (const struct param *param = params_of[method]; is_param(param); param++) {
        if (with_optional || param->need == MUST) {
            add(&draft, fm_field_name(param->field), value_of(param->type, param->minimum));
        }
    }
    return draft;
}

static msgpack_object_kv *entry_of(struct draft *draft, fm_field field)
{
    const char *name = fm_field_name(field);
    for (uint32_t i = 0; i < draft->count; i++) {
        const msgpack_object_str *key = &draft->entries[i].key.via.str;
        if (key->size == strlen(name) && memcmp(key->ptr, name, key->size) == 0) {
            return &draft->entries[i];
        }
    }
    fail_msg("no entry %s", name);
    return NULL;
}

struct verdict {
    fm_status status;
    fm_request request;
    char error[FM_ERROR_TEXT_SIZE];
};

static struct verdict check_message(const msgpack_object *parts, uint32_t count)
{
    msgpack_object message = {.type = MSGPACK_OBJECT_ARRAY};
    msgpack_object copies[8];
    memcpy(copies, parts, count * sizeof(*parts));
    message.via.array.ptr = copies;
    message.via.array.size = count;
    struct verdict verdict = {.error = "untouched"};
    verdict.status = fm_request_check(&message, &verdict.request, verdict.error);
    assert_non_null(memchr(verdict.error, '\0', sizeof(verdict.error)));
    return verdict;
}

static struct verdict check(struct draft *draft)
{
    const char *name = fm_method_name(draft->method);
    msgpack_object map = {.type = MSGPACK_OBJECT_MAP};
    map.via.map.ptr = draft->entries;
    map.via.map.size = draft->count;
    msgpack_object params = {.type = MSGPACK_OBJECT_ARRAY};
    params.via.array.ptr = &map;
    params.via.array.size = 1;
    const msgpack_object parts[] = {number_object(FM_MESSAGE_REQUEST), number_object(77),
                                    text_object(name, strlen(name)), params};
    struct verdict verdict = check_message(parts, 4);
    assert_int_equal(verdict.request.id, 77);
    assert_false(verdict.request.is_notification);
    assert_int_equal(verdict.request.method, draft->method);
    return verdict;
}

static void expect_refusal(struct draft *draft, const struct param *param, const char *words)
{
    struct verdict verdict = check(draft);
    char start[96];
    snprintf(start, sizeof(start), "%s: field '%s'", fm_method_name(draft->method),
             fm_field_name(param->field));
    if (verdict.status != FM_ERR_BAD_FIELD || strncmp(verdict.error, start, strlen(start)) != 0 ||
        !strstr(verdict.error, words)) {
        fail_msg("%s...%s expected, got status %s: %s", start, words,
                 fm_status_name(verdict.status), verdict.error);
    }
}

// ---- every field of every method ----------------------------------------------------------------

static void check_amount(const fm_value *value, const struct param *param, double amount)
{
    assert_true(value->present);
    switch (param->type) {
    case UINT:
    case BOOL:
        assert_true(value->number == (uint64_t)amount);
        break;
    case REAL:
        assert_true(value->real == amount);
        break;
    case TEXT:
    case BYTES:
        assert_true(value->size == amount && value->bytes == many_letters);
        break;
    case UINTS:
        assert_true(value->count == amount);
        assert_true(fm_value_at(value, value->count - 1) == many_numbers[value->count - 1].via.u64);
        break;
    }
}

static void test_edges_are_inside(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        struct draft draft = good_draft(method, true);
        struct verdict verdict = check(&draft);
        assert_int_equal(verdict.status, FM_OK);
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            check_amount(&verdict.request.values[param->field], param, param->minimum);
            entry_of(&draft, param->field)->val = value_of(param->type, param->maximum);
        }
        verdict = check(&draft);
        assert_int_equal(verdict.status, FM_OK);
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            check_amount(&verdict.request.values[param->field], param, param->maximum);
        }
    }
}

static void test_beyond_the_edges_is_refused(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            if (param->type == BOOL) {
                continue; // has no range
            }
            struct draft draft = good_draft(method, true);
            msgpack_object *entry = &entry_of(&draft, param->field)->val;
            bool is_real = param->type == REAL;
            bool may_sink = is_real || param->type == UINT || param->minimum > 0;
            if (may_sink) {
                double below = is_real ? nextafter(param->minimum, -1) : param->minimum - 1;
                *entry = value_of(param->type, below);
                expect_refusal(&draft, param, "wanted, got");
            }
            double above = is_real ? nextafter(param->maximum, INFINITY) : param->maximum + 1;
            *entry = value_of(param->type, above);
            expect_refusal(&draft, param, "wanted, got");
        }
    }
}

static void test_missing_fields(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        struct draft lean = good_draft(method, false);
        struct verdict verdict = check(&lean);
        assert_int_equal(verdict.status, FM_OK);
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            assert_int_equal(verdict.request.values[param->field].present, param->need == MUST);
            if (param->need == MUST) {
                struct draft draft = good_draft(method, true);
                entry_of(&draft, param->field)->key = text_object("elsewhere", 9);
                expect_refusal(&draft, param, "is missing");
            }
        }
    }
}

// Whether a value of this msgpack type can ever suit. Text and binary count as the same.
static bool suits(enum param_type type, msgpack_object_type got)
{
    bool is_number = got == MSGPACK_OBJECT_POSITIVE_INTEGER;
    bool is_bytes = got == MSGPACK_OBJECT_STR || got == MSGPACK_OBJECT_BIN;
    switch (type) {
    case UINT:
        return is_number;
    case REAL:
        return is_number || got == MSGPACK_OBJECT_NEGATIVE_INTEGER ||
               got == MSGPACK_OBJECT_FLOAT32 || got == MSGPACK_OBJECT_FLOAT64;
    case BOOL:
        return got == MSGPACK_OBJECT_BOOLEAN;
    case TEXT:
    case BYTES:
        return is_bytes;
    case UINTS:
        return got == MSGPACK_OBJECT_ARRAY;
    }
    FM_UNREACHABLE();
}

static void test_wrong_types_are_refused(void **state)
{
    (void)state;
    const msgpack_object_type types[] = {
        MSGPACK_OBJECT_NIL,     MSGPACK_OBJECT_BOOLEAN, MSGPACK_OBJECT_POSITIVE_INTEGER,
        MSGPACK_OBJECT_FLOAT32, MSGPACK_OBJECT_FLOAT64, MSGPACK_OBJECT_NEGATIVE_INTEGER,
        MSGPACK_OBJECT_STR,     MSGPACK_OBJECT_BIN,     MSGPACK_OBJECT_ARRAY,
        MSGPACK_OBJECT_MAP,     MSGPACK_OBJECT_EXT,
    };
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            for (size_t i = 0; i < FM_COUNT_OF(types); i++) {
                if (suits(param->type, types[i])) {
                    continue;
                }
                struct draft draft = good_draft(method, true);
                entry_of(&draft, param->field)->val = (msgpack_object){.type = types[i]};
                if (types[i] == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
                    entry_of(&draft, param->field)->val.via.i64 = -1;
                }
                expect_refusal(&draft, param, "wanted, got");
            }
        }
    }
}

static void test_fields_given_twice_are_refused(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            struct draft draft = good_draft(method, true);
            add(&draft, fm_field_name(param->field), entry_of(&draft, param->field)->val);
            expect_refusal(&draft, param, "is given twice");
            draft.entries[draft.count - 1].key.type = MSGPACK_OBJECT_BIN; // has str's layout
            expect_refusal(&draft, param, "is given twice");
        }
    }
}

static void test_every_number_of_an_array_is_checked(void **state)
{
    (void)state;
    const msgpack_object bad[] = {
        number_object(-1),   number_object(9007199254740992.0), real_object(1),
        text_object("1", 1), {.type = MSGPACK_OBJECT_NIL},      {.type = MSGPACK_OBJECT_ARRAY},
    };
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            if (param->type != UINTS) {
                continue;
            }
            struct draft draft = good_draft(method, true);
            msgpack_object *entry = &entry_of(&draft, param->field)->val;
            *entry = value_of(UINTS, param->maximum);
            entry->via.array.ptr = spoilt_numbers;
            const uint32_t places[] = {0, (uint32_t)param->maximum - 1};
            for (size_t i = 0; i < FM_COUNT_OF(bad) * FM_COUNT_OF(places); i++) {
                msgpack_object *place = &spoilt_numbers[places[i % FM_COUNT_OF(places)]];
                msgpack_object good = *place;
                *place = bad[i / FM_COUNT_OF(places)];
                expect_refusal(&draft, param, "at index");
                *place = good;
            }
        }
    }
}

static void test_reals_take_whole_numbers_but_no_others(void **state)
{
    (void)state;
    struct draft draft = good_draft(FM_METHOD_WORLD_RESUME, true);
    const struct param *param = &params_of[FM_METHOD_WORLD_RESUME][1];
    assert_int_equal(param->field, FM_FIELD_TICK_HZ);
    msgpack_object *entry = &entry_of(&draft, FM_FIELD_TICK_HZ)->val;
    *entry = number_object(10);
    struct verdict verdict = check(&draft);
    assert_int_equal(verdict.status, FM_OK);
    assert_true(verdict.request.values[FM_FIELD_TICK_HZ].real == 10.0);
    const msgpack_object bad[] = {real_object((double)NAN), real_object((double)INFINITY),
                                  real_object((double)-INFINITY), number_object(-3)};
    for (size_t i = 0; i < FM_COUNT_OF(bad); i++) {
        *entry = bad[i];
        expect_refusal(&draft, param, "0.1..1000 wanted, got");
    }
}

static void test_text_must_be_utf8(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t size;
        bool is_good;
    } cases[] = {
        {"plain", 5, true},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, true}, // 2, 3 and 4 bytes
        {"\xf4\x8f\xbf\xbf", 4, true},                     // U+10FFFF, the last one
        {"\xed\x9f\xbf\xee\x80\x80", 6, true},             // both sides of the surrogates
        {"a\0b", 3, false},
        {"\x80", 1, false},         // a continuation of nothing
        {"\xc3", 1, false},         // cut
        {"\xe2\x82", 2, false},     // cut
        {"\xf0\x9f\x98", 3, false}, // cut
        {"\xc3(", 2, false},
        {"\xe2\x82(", 3, false},
        {"\xc0\xaf", 2, false},         // overlong
        {"\xe0\x9f\xbf", 3, false},     // overlong
        {"\xf0\x8f\xbf\xbf", 4, false}, // overlong
        {"\xed\xa0\x80", 3, false},     // surrogate
        {"\xf4\x90\x80\x80", 4, false}, // above U+10FFFF
        {"\xff", 1, false},
    };
    struct draft draft = good_draft(FM_METHOD_WORLD_CREATE, false);
    msgpack_object *entry = &entry_of(&draft, FM_FIELD_NAME)->val;
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        *entry = text_object(cases[i].text, cases[i].size);
        if (cases[i].is_good) {
            assert_int_equal(check(&draft).status, FM_OK);
        } else {
            expect_refusal(&draft, &params_of[FM_METHOD_WORLD_CREATE][0], "UTF-8");
        }
    }
}

static void test_unknown_fields_are_ignored(void **state)
{
    (void)state;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        struct draft draft = good_draft(method, true);
        add(&draft, "colour", value_of(TEXT, 3));
        add(&draft, "colour", value_of(UINT, 3));
        add(&draft, "", value_of(BOOL, 1));
        bool is_own[FM_FIELD_COUNT] = {false};
        for (const struct param *param = params_of[method]; is_param(param); param++) {
            is_own[param->field] = true;
        }
        for (uint32_t field = 0; field < FM_FIELD_COUNT; field++) {
            if (!is_own[field]) { // another method's field is as unknown as any
                struct draft other = draft;
                add(&other, fm_field_name((fm_field)field), (msgpack_object){0});
                struct verdict verdict = check(&other);
                assert_int_equal(verdict.status, FM_OK);
                assert_false(verdict.request.values[field].present);
            }
        }
    }
}

static void test_names_of_fields_must_be_text(void **state)
{
    (void)state;
    struct draft draft = good_draft(FM_METHOD_PING, false);
    add(&draft, "time", value_of(UINT, 3));
    draft.entries[0].key.type = MSGPACK_OBJECT_BIN;
    assert_int_equal(check(&draft).status, FM_OK);
    draft.entries[0].key = number_object(1);
    assert_int_equal(check(&draft).status, FM_ERR_BAD_FIELD);
}

// ---- envelopes ----------------------------------------------------------------------------------

// Packs with `format`: i number, n nil, s "ping", u unknown method, a empty array, m [{}], b 2
// maps, t [text], x negative number, l number above 2^32 - 1.
static msgpack_object part_of(char letter)
{
    static msgpack_object maps[2] = {{.type = MSGPACK_OBJECT_MAP}, {.type = MSGPACK_OBJECT_MAP}};
    static msgpack_object texts[1] = {{.type = MSGPACK_OBJECT_STR}};
    msgpack_object object = {.type = MSGPACK_OBJECT_ARRAY};
    switch (letter) {
    case 'n':
        return (msgpack_object){.type = MSGPACK_OBJECT_NIL};
    case 's':
        return text_object("ping", 4);
    case 'u':
        return text_object("pi\xff\n", 4);
    case 'a':
        return object;
    case 'm':
    case 'b':
        object.via.array.ptr = maps;
        object.via.array.size = letter == 'm' ? 1 : 2;
        return object;
    case 't':
        object.via.array.ptr = texts;
        object.via.array.size = 1;
        return object;
    case 'x':
        return number_object(-1);
    case 'l':
        return number_object(4294967296.0);
    default:
        return number_object(letter - '0');
    }
}

static struct verdict check_format(const char *format)
{
    msgpack_object parts[8];
    uint32_t count = 0;
    for (; format[count] != '\0'; count++) {
        parts[count] = part_of(format[count]);
    }
    return check_message(parts, count);
}

static void test_envelopes(void **state)
{
    (void)state;
    const struct {
        const char *format;
        fm_status status;
        uint64_t id;
    } cases[] = {
        {"07sa", FM_OK, 7},
        {"07sm", FM_OK, 7},
        {"2sa", FM_OK, 0},
        {"2sm", FM_OK, 0},
        {"07sb", FM_ERR_BAD_FIELD, 7},
        {"07st", FM_ERR_BAD_FIELD, 7},
        {"07sn", FM_ERR_BAD_FIELD, 7},
        {"07s1", FM_ERR_BAD_FIELD, 7},
        {"07ua", FM_ERR_NO_METHOD, 7},
        {"2ua", FM_ERR_NO_METHOD, 0},
        {"071a", FM_ERR_BAD_MESSAGE, 7}, // a method that is a number; still answerable
        {"0xsa", FM_ERR_BAD_MESSAGE, 0},
        {"0lsa", FM_ERR_BAD_MESSAGE, 0},
        {"0nsa", FM_ERR_BAD_MESSAGE, 0},
        {"0ssa", FM_ERR_BAD_MESSAGE, 0},
        {"07s", FM_ERR_BAD_MESSAGE, 0},
        {"07saa", FM_ERR_BAD_MESSAGE, 0},
        {"2s", FM_ERR_BAD_MESSAGE, 0},
        {"27sa", FM_ERR_BAD_MESSAGE, 0},
        {"17na", FM_ERR_BAD_MESSAGE, 0}, // a response: the server never asked
        {"37sa", FM_ERR_BAD_MESSAGE, 0},
        {"x7sa", FM_ERR_BAD_MESSAGE, 0},
        {"n7sa", FM_ERR_BAD_MESSAGE, 0},
        {"", FM_ERR_BAD_MESSAGE, 0},
    };
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        struct verdict verdict = check_format(cases[i].format);
        if (verdict.status != cases[i].status || verdict.request.id != cases[i].id) {
            fail_msg("%s: got %s: %s", cases[i].format, fm_status_name(verdict.status),
                     verdict.error);
        }
    }
    assert_true(check_format("2sa").request.is_notification);
    assert_string_equal(check_format("07ua").error, "there is no method 'pi?"
                                                    "?'");
}

static void test_what_is_no_array_is_no_message(void **state)
{
    (void)state;
    for (const char *letter = "n7sx"; *letter != '\0'; letter++) {
        msgpack_object message = part_of(*letter);
        struct verdict verdict;
        verdict.status = fm_request_check(&message, &verdict.request, verdict.error);
        assert_int_equal(verdict.status, FM_ERR_BAD_MESSAGE);
    }
}

// The answer to a method with a long name is short and is text, whatever the name holds.
static void test_long_names_are_cut(void **state)
{
    (void)state;
    const msgpack_object parts[] = {number_object(0), number_object(1),
                                    text_object(many_letters, FM_MAP_BYTES_MAX), part_of('a')};
    struct verdict verdict = check_message(parts, 4);
    assert_int_equal(verdict.status, FM_ERR_NO_METHOD);
    assert_true(strlen(verdict.error) < 100);
}

// ---- round trips --------------------------------------------------------------------------------

struct packed {
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_unpacked unpacked;
};

static void pack_begin(struct packed *packed)
{
    msgpack_sbuffer_init(&packed->buffer);
    msgpack_packer_init(&packed->packer, &packed->buffer, msgpack_sbuffer_write);
    msgpack_unpacked_init(&packed->unpacked);
}

// What was packed, which must be one whole value; good until pack_end().
static const msgpack_object *pack_read(struct packed *packed)
{
    size_t offset = 0;
    assert_int_equal(
        msgpack_unpack_next(&packed->unpacked, packed->buffer.data, packed->buffer.size, &offset),
        MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(offset, packed->buffer.size);
    return &packed->unpacked.data;
}

static void pack_end(struct packed *packed)
{
    msgpack_unpacked_destroy(&packed->unpacked);
    msgpack_sbuffer_destroy(&packed->buffer);
}

static void assert_text(const msgpack_object *object, const char *text)
{
    assert_int_equal(object->type, MSGPACK_OBJECT_STR);
    assert_int_equal(object->via.str.size, strlen(text));
    assert_memory_equal(object->via.str.ptr, text, strlen(text));
}

static void test_requests_round_trip(void **state)
{
    (void)state;
    const uint64_t ids[] = {0, 1, 200, 70000, UINT32_MAX};
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        for (size_t i = 0; i < FM_COUNT_OF(ids); i++) {
            struct draft draft = good_draft(method, true);
            struct packed packed;
            pack_begin(&packed);
            assert_true(fm_pack_request(&packed.packer, ids[i], method));
            msgpack_pack_map(&packed.packer, draft.count);
            for (uint32_t j = 0; j < draft.count; j++) {
                msgpack_pack_object(&packed.packer, draft.entries[j].key);
                msgpack_pack_object(&packed.packer, draft.entries[j].val);
            }
            struct verdict verdict;
            verdict.status = fm_request_check(pack_read(&packed), &verdict.request, verdict.error);
            assert_int_equal(verdict.status, FM_OK);
            assert_true(verdict.request.id == ids[i]);
            assert_int_equal(verdict.request.method, method);
            for (const struct param *param = params_of[method]; is_param(param); param++) {
                assert_true(verdict.request.values[param->field].present);
            }
            pack_end(&packed);
        }
    }
}

static void test_results_round_trip(void **state)
{
    (void)state;
    struct packed packed;
    pack_begin(&packed);
    assert_true(fm_pack_result(&packed.packer, UINT32_MAX));
    msgpack_pack_map(&packed.packer, 0);
    const msgpack_object *message = pack_read(&packed);
    assert_int_equal(message->via.array.size, 4);
    assert_int_equal(message->via.array.ptr[0].via.u64, FM_MESSAGE_RESPONSE);
    assert_int_equal(message->via.array.ptr[1].via.u64, UINT32_MAX);
    assert_int_equal(message->via.array.ptr[2].type, MSGPACK_OBJECT_NIL);
    assert_int_equal(message->via.array.ptr[3].type, MSGPACK_OBJECT_MAP);
    pack_end(&packed);
}

static void check_error(fm_status status, const char *given, const char *expected)
{
    struct packed packed;
    pack_begin(&packed);
    assert_true(fm_pack_error(&packed.packer, 300, status, given));
    const msgpack_object *message = pack_read(&packed);
    assert_int_equal(message->via.array.size, 4);
    const msgpack_object *part = message->via.array.ptr;
    assert_int_equal(part[0].via.u64, FM_MESSAGE_RESPONSE);
    assert_int_equal(part[1].via.u64, 300);
    assert_int_equal(part[2].type, MSGPACK_OBJECT_MAP);
    assert_int_equal(part[2].via.map.size, 3);
    const msgpack_object_kv *entry = part[2].via.map.ptr;
    assert_text(&entry[0].key, "code");
    assert_int_equal(entry[0].val.via.u64, status);
    assert_text(&entry[1].key, "name");
    assert_text(&entry[1].val, fm_status_name(status));
    assert_text(&entry[2].key, "message");
    assert_text(&entry[2].val, expected);
    assert_int_equal(part[3].type, MSGPACK_OBJECT_NIL);
    pack_end(&packed);
}

static void test_errors_round_trip(void **state)
{
    (void)state;
#define X(enumerator, name, text)                                                                  \
    if (enumerator != FM_OK) {                                                                     \
        check_error(enumerator, NULL, text);                                                       \
        check_error(enumerator, "what went wrong", "what went wrong");                             \
    }
    FM_STATUS_LIST(X)
#undef X
}

static void test_notifications_round_trip(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        struct packed packed;
        pack_begin(&packed);
        assert_true(fm_pack_notification(&packed.packer, (fm_notification)i));
        msgpack_pack_map(&packed.packer, 0);
        const msgpack_object *message = pack_read(&packed);
        assert_int_equal(message->via.array.size, 3);
        assert_int_equal(message->via.array.ptr[0].via.u64, FM_MESSAGE_NOTIFICATION);
        assert_text(&message->via.array.ptr[1], fm_notification_name((fm_notification)i));
        assert_int_equal(message->via.array.ptr[2].via.array.size, 1);
        pack_end(&packed);
    }
}

static int refuse_to_write(void *data, const char *bytes, size_t size)
{
    (void)data, (void)bytes, (void)size;
    return -1;
}

static void test_packing_reports_a_full_buffer(void **state)
{
    (void)state;
    msgpack_packer packer;
    msgpack_packer_init(&packer, NULL, refuse_to_write);
    assert_false(fm_pack_request(&packer, 1, FM_METHOD_PING));
    assert_false(fm_pack_result(&packer, 1));
    assert_false(fm_pack_error(&packer, 1, FM_ERR_BUSY, NULL));
    assert_false(fm_pack_notification(&packer, FM_NOTIFY_DELTA));
    assert_false(fm_pack_text(&packer, "text"));
}

// ---- anything else ------------------------------------------------------------------------------

// Bytes of a good request, one of them spoilt: what the scanner still takes gets an answer.
static void test_spoilt_bytes_do_no_more_than_fail(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    uint32_t counts[2] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        fm_method method = (fm_method)fm_random_below(&random, FM_METHOD_COUNT);
        struct draft draft = good_draft(method, true);
        struct packed packed;
        pack_begin(&packed);
        assert_true(fm_pack_request(&packed.packer, round, method));
        msgpack_pack_map(&packed.packer, draft.count);
        for (uint32_t i = 0; i < draft.count; i++) {
            msgpack_pack_object(&packed.packer, draft.entries[i].key);
            msgpack_pack_object(&packed.packer, draft.entries[i].val);
        }
        packed.buffer.data[fm_random_below(&random, (uint32_t)packed.buffer.size)] =
            (char)fm_random_below(&random, 256);
        fm_scanner scanner;
        fm_scanner_init(&scanner, &fm_scan_limits_default);
        size_t size =
            fm_scanner_feed(&scanner, (const uint8_t *)packed.buffer.data, packed.buffer.size);
        if (scanner.state == FM_SCAN_DONE) {
            size_t offset = 0;
            assert_int_equal(
                msgpack_unpack_next(&packed.unpacked, packed.buffer.data, size, &offset),
                MSGPACK_UNPACK_SUCCESS);
            struct verdict verdict = {.error = ""};
            verdict.status =
                fm_request_check(&packed.unpacked.data, &verdict.request, verdict.error);
            assert_true(verdict.status == FM_OK || verdict.error[0] != '\0');
            counts[verdict.status == FM_OK]++;
        }
        pack_end(&packed);
    }
    assert_true(counts[0] > 0 && counts[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_are_inside),
        cmocka_unit_test(test_beyond_the_edges_is_refused),
        cmocka_unit_test(test_missing_fields),
        cmocka_unit_test(test_wrong_types_are_refused),
        cmocka_unit_test(test_fields_given_twice_are_refused),
        cmocka_unit_test(test_every_number_of_an_array_is_checked),
        cmocka_unit_test(test_reals_take_whole_numbers_but_no_others),
        cmocka_unit_test(test_text_must_be_utf8),
        cmocka_unit_test(test_unknown_fields_are_ignored),
        cmocka_unit_test(test_names_of_fields_must_be_text),
        cmocka_unit_test(test_envelopes),
        cmocka_unit_test(test_what_is_no_array_is_no_message),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_requests_round_trip),
        cmocka_unit_test(test_results_round_trip),
        cmocka_unit_test(test_errors_round_trip),
        cmocka_unit_test(test_notifications_round_trip),
        cmocka_unit_test(test_packing_reports_a_full_buffer),
        cmocka_unit_test(test_spoilt_bytes_do_no_more_than_fail),
    };
    return cmocka_run_group_tests_name("protocol", tests, make_values, drop_values);
}
