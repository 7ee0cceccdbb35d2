// test_tokens.c: which secret gives which role and seat.
//
// Method: files of lines with known outcome; then random tokens are made, revoked and looked up,
// and compared with a plain list. A resume token contains what it was made with, and no other text
// is accepted as one.

#include "core/base/random.h"
#include "server/sessions/resume.h"
#include "tests/support/support.h"

#define SECRET "0123456789abcdef"

static fm_status parse(const char *text, fm_grants *grants, char error[128])
{
    grants->count = 0;
    error[0] = '\0';
    return fm_grants_parse(grants, text, strlen(text), ';', error, 128);
}

static void test_lines_are_read(void **state)
{
    (void)state;
    static fm_tokens tokens;
    char error[128];
    assert_int_equal(parse("# comment\n"
                           "\n"
                           "admin  " SECRET "-admin\r\n"
                           "observer\t" SECRET "-observer;debug " SECRET "-debug\n"
                           "player arena 3 " SECRET "-player\n" SECRET "-alone",
                           &tokens.configured, error),
                     FM_OK);
    assert_int_equal(tokens.configured.count, 5);
    static const struct {
        const char *token;
        fm_role role;
    } wanted[] = {
        {SECRET "-admin", FM_ROLE_ADMIN}, {SECRET "-observer", FM_ROLE_OBSERVER},
        {SECRET "-debug", FM_ROLE_DEBUG}, {SECRET "-player", FM_ROLE_PLAYER},
        {SECRET "-alone", FM_ROLE_ADMIN},
    };
    for (size_t i = 0; i < FM_COUNT_OF(wanted); i++) {
        const fm_grant *grant = fm_tokens_find(&tokens, wanted[i].token, strlen(wanted[i].token));
        assert_non_null(grant);
        assert_int_equal(grant->role, wanted[i].role);
        bool is_player = grant->role == FM_ROLE_PLAYER;
        assert_string_equal(grant->seat.world, is_player ? "arena" : "");
        assert_int_equal(grant->seat.team, is_player ? 3 : 0);
        assert_null(fm_tokens_find(&tokens, wanted[i].token, strlen(wanted[i].token) - 1));
    }
}

// The hash is the one that other tools compute.
static void test_hash_is_that_of_b2sum(void **state)
{
    (void)state;
    static fm_tokens tokens;
    char error[128];
    // printf %s abc-abc-abc-abc-abc | b2sum -l 256
    assert_int_equal(parse("observer blake2b:"
                           "2ef1db6c353c3750c10070ff27624889044cf13dbdfcbd4e1e128093aed8938c",
                           &tokens.configured, error),
                     FM_OK);
    assert_non_null(fm_tokens_find(&tokens, "abc-abc-abc-abc-abc", 19));
    assert_null(fm_tokens_find(&tokens, "abc-abc-abc-abc-abd", 19));
}

// Some editors begin a file with a mark that it is UTF-8.
static void test_a_mark_of_utf8_is_skipped(void **state)
{
    (void)state;
    static fm_grants grants;
    char error[128];
    assert_int_equal(parse("\xef\xbb\xbf"
                           "admin " SECRET "\r\n",
                           &grants, error),
                     FM_OK);
    assert_int_equal(grants.count, 1);
    assert_int_equal(grants.list[0].role, FM_ROLE_ADMIN);
}

static void test_wrong_lines_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrong;
    } cases[] = {
        {"", "there is no token in it"},
        {"# nothing\n", "there is no token in it"},
        {"short", "line 1: a token has 16 to 256 bytes"},
        {"admin short", "line 1: a token has 16 to 256 bytes"},
        {"admin " SECRET "\n\nking " SECRET "x",
         "line 3: a line is ROLE TOKEN, player WORLD TEAM TOKEN, or TOKEN"},
        {"none " SECRET, "line 1: a line is ROLE TOKEN, player WORLD TEAM TOKEN, or TOKEN"},
        {"admin " SECRET " more", "line 1: ROLE TOKEN is wanted"},
        {"player " SECRET, "line 1: player WORLD TEAM TOKEN is wanted"},
        {"player ar/ena 1 " SECRET,
         "line 1: the name of a world has letters, digits, '.', '_' and '-' only"},
        {"player arena x " SECRET, "line 1: a team is a number"},
        {"player arena 0 " SECRET, "line 1: a team is a number from 1 to 65536"},
        {"player arena 65537 " SECRET, "line 1: a team is a number from 1 to 65536"},
        {"player arena 99999999999999999999999 " SECRET,
         "line 1: a team is a number from 1 to 65536"},
        {"player arena 1 " SECRET " more", "line 1: too many words"},
        {"admin " SECRET "\nobserver " SECRET, "line 2: this token stands in a line before"},
        {"admin blake2b:12", "line 1: blake2b: is followed by 64 hexadecimal digits"},
        {"admin 0123456789\xc3\xa4"
         "bcdefgh",
         "line 1: a token consists of printable ASCII characters without spaces"},
    };
    static fm_grants grants;
    char error[128];
    for (size_t i = 0; i < FM_COUNT_OF(cases); i++) {
        assert_int_equal(parse(cases[i].text, &grants, error), FM_ERR_BAD_VALUE);
        assert_string_equal(error, cases[i].wrong);
        assert_null(strstr(error, SECRET));
        assert_int_equal(grants.count, 0);
    }
}

struct made {
    char token[FM_TOKEN_TEXT_SIZE];
    fm_grant grant;
    bool good;
};

static void check_made(const fm_tokens *tokens, const struct made *made)
{
    const fm_grant *grant = fm_tokens_find(tokens, made->token, strlen(made->token));
    assert_int_equal(grant != NULL, made->good);
    fm_token_index index;
    assert_int_equal(fm_tokens_have(tokens, made->grant.hash), made->good);
    fm_token_index_init(&index, tokens);
    assert_int_equal(fm_token_index_has(&index, made->grant.hash), made->good);
    fm_token_index_fini(&index);
    if (grant != NULL) {
        assert_int_equal(grant->number, made->grant.number);
        assert_int_equal(grant->seat.team, made->grant.seat.team);
    }
}

static void test_made_tokens_equal_a_list(void **state)
{
    (void)state;
    fm_random random = fm_random_seed(fm_test_seed());
    static struct made list[300];
    fm_tokens tokens = {0};
    uint32_t count = 0;
    for (uint32_t step = 0; step < 900; step++) {
        uint32_t what = fm_random_below(&random, 8);
        if (what < 5 && count < FM_COUNT_OF(list)) {
            struct made *made = &list[count++];
            made->grant = (fm_grant){.role = FM_ROLE_PLAYER,
                                     .seat = {.number = 1 + fm_random_below(&random, 5),
                                              .team = 1 + fm_random_below(&random, 9)}};
            made->good = true;
            assert_int_equal(fm_tokens_create(&tokens, &made->grant, made->token), FM_OK);
            assert_int_equal(made->grant.number, count);
        } else if (what < 7 && count > 0) {
            struct made *made = &list[fm_random_below(&random, count)];
            assert_int_equal(fm_tokens_revoke(&tokens, made->grant.number), made->good);
            made->good = false;
        } else if (fm_random_below(&random, 10) == 0) {
            uint64_t world = 1 + fm_random_below(&random, 5);
            fm_tokens_end_world(&tokens, world);
            for (uint32_t i = 0; i < count; i++) {
                list[i].good = list[i].good && list[i].grant.seat.number != world;
            }
        }
        if (count > 0) {
            check_made(&tokens, &list[fm_random_below(&random, count)]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        check_made(&tokens, &list[i]);
    }
    fm_tokens_fini(&tokens);
}

static void test_there_is_a_limit(void **state)
{
    (void)state;
    fm_tokens tokens = {0};
    char token[FM_TOKEN_TEXT_SIZE];
    fm_grant grant = {.role = FM_ROLE_OBSERVER};
    for (uint32_t i = 0; i < FM_TOKENS_CREATED_MAX; i++) {
        assert_int_equal(fm_tokens_create(&tokens, &grant, token), FM_OK);
    }
    assert_int_equal(fm_tokens_create(&tokens, &grant, token), FM_ERR_LIMIT);
    assert_true(fm_tokens_revoke(&tokens, 7));
    assert_int_equal(fm_tokens_create(&tokens, &grant, token), FM_OK);
    fm_tokens_fini(&tokens);
}

// Similar texts are refused: one character changed, cut, longer, or made with another key.
static void test_resume_tokens(void **state)
{
    (void)state;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ";
    fm_random random = fm_random_seed(fm_test_seed());
    fm_resume_key key, other;
    fm_resume_key_make(&key);
    fm_resume_key_make(&other);
    for (uint32_t round = 0; round < 2000; round++) {
        fm_resume said, made = {.has_token = round % 2 == 0, .session = fm_random_next(&random)};
        for (uint32_t i = 0; i < FM_TOKEN_HASH_SIZE; i++) {
            made.token_hash[i] = (uint8_t)fm_random_next(&random);
        }
        char text[FM_RESUME_TEXT_SIZE];
        fm_resume_make(&key, &made, text);
        size_t size = strlen(text);
        assert_true(fm_resume_read(&key, text, size, &said));
        assert_int_equal(said.has_token, made.has_token);
        assert_true(said.session == made.session && said.epoch == key.epoch);
        assert_memory_equal(said.token_hash, made.token_hash, FM_TOKEN_HASH_SIZE);
        assert_false(fm_resume_read(&other, text, size, &said));
        assert_false(fm_resume_read(&key, text, fm_random_below(&random, (uint32_t)size), &said));
        char *at = &text[fm_random_below(&random, (uint32_t)size - 1)], before = *at;
        *at = letters[fm_random_below(&random, sizeof letters - 1)];
        assert_true(fm_resume_read(&key, text, size, &said) == (*at == before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_read),
        cmocka_unit_test(test_hash_is_that_of_b2sum),
        cmocka_unit_test(test_a_mark_of_utf8_is_skipped),
        cmocka_unit_test(test_wrong_lines_are_refused),
        cmocka_unit_test(test_made_tokens_equal_a_list),
        cmocka_unit_test(test_there_is_a_limit),
        cmocka_unit_test(test_resume_tokens),
    };
    return fm_tokens_start() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
