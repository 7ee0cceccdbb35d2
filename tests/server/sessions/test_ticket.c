// test_ticket.c: tickets say what was written into them, to those who have a key, and nothing else.
//
// Method: tickets of two secrets, every character of one changed; and two tickets for one seat in
// one second, whose bytes must not tell how the hashes of their tokens differ.

#include "server/sessions/ticket.h"
#include "tests/support/support.h"

#include <sodium.h>

#define NOW_S 1000u

static fm_secrets secrets_of(const char *text)
{
    char copy[128], error[FM_SECRET_ERROR_SIZE];
    fm_secrets secrets = {0};
    snprintf(copy, sizeof copy, "%s", text);
    assert_int_equal(fm_secrets_parse(copy, &secrets, error), FM_OK);
    return secrets;
}

static fm_ticket a_ticket(uint8_t hash)
{
    fm_ticket ticket = {.has_token = true,
                        .role = FM_ROLE_PLAYER,
                        .seat = {.world = "arena", .team = 3},
                        .expires_s = NOW_S + FM_TICKET_LASTS_S};
    memset(ticket.token_hash, hash, sizeof ticket.token_hash);
    return ticket;
}

static void a_ticket_says_what_was_written(void **state)
{
    (void)state;
    fm_secrets ours = secrets_of("a-secret-of-16-or-more\n"),
               others = secrets_of("another-one-of-them\n");
    fm_secrets both = secrets_of("another-one-of-them\na-secret-of-16-or-more\n");
    fm_ticket ticket = a_ticket(7), read;
    char text[FM_TICKET_TEXT_SIZE];
    fm_ticket_make(&ours, &ticket, text);
    assert_true(fm_ticket_read(&ours, text, strlen(text), NOW_S, &read));
    assert_true(read.has_token && !read.is_created && read.role == FM_ROLE_PLAYER);
    assert_string_equal(read.seat.world, "arena");
    assert_int_equal(read.seat.team, 3);
    assert_memory_equal(read.token_hash, ticket.token_hash, sizeof read.token_hash);
    assert_true(
        fm_ticket_read(&both, text, strlen(text), NOW_S, &read)); // a secret that is changed
    assert_false(fm_ticket_read(&others, text, strlen(text), NOW_S, &read));
    assert_false(fm_ticket_read(&ours, text, strlen(text), ticket.expires_s + 1, &read));
    for (size_t i = 0; i < strlen(text); i++) {
        char changed[FM_TICKET_TEXT_SIZE];
        memcpy(changed, text, sizeof changed);
        changed[i] = changed[i] == 'A' ? 'Q' : 'A';
        assert_false(fm_ticket_read(&ours, changed, strlen(changed), NOW_S, &read));
        assert_false(fm_ticket_read(&ours, text, i, NOW_S, &read));
    }
}

static void two_of_one_second_tell_nothing_about_their_tokens(void **state)
{
    (void)state;
    fm_secrets secrets = secrets_of("a-secret-of-16-or-more\n");
    fm_ticket tickets[2] = {a_ticket(0x0f), a_ticket(0xf0)};
    uint8_t bytes[2][FM_TICKET_TEXT_SIZE];
    size_t size = 0;
    for (uint32_t i = 0; i < 2; i++) {
        char text[FM_TICKET_TEXT_SIZE];
        fm_ticket_make(&secrets, &tickets[i], text);
        assert_int_equal(sodium_base642bin(bytes[i], sizeof bytes[i], text, strlen(text), NULL,
                                           &size, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                         0);
    }
    uint32_t alike = 0; // bytes that differ as the hashes do
    for (size_t i = 0; i < size; i++) {
        alike += (bytes[0][i] ^ bytes[1][i]) == (0x0f ^ 0xf0);
    }
    assert_true(alike < FM_TOKEN_HASH_SIZE / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_says_what_was_written),
        cmocka_unit_test(two_of_one_second_tell_nothing_about_their_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
