// tests/fuzz/fuzz_tokens.c: any bytes as a token file or variable: refused with a sentence that
// repeats no secret, or grants whose roles and seats make sense. The first byte chooses what ends
// a line.

#include "tests/fuzz/fuzz.h"

#include "server/base/tokens.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_SIZE 512u

static void check_grant(const fm_grant *grant)
{
    FM_ASSERT(grant->role > FM_ROLE_NONE && grant->role < FM_ROLE_COUNT && grant->number == 0);
    bool has_seat = grant->seat.world[0] != '\0';
    FM_ASSERT(has_seat == (grant->role == FM_ROLE_PLAYER));
    FM_ASSERT(has_seat == (grant->seat.team > 0));
    FM_ASSERT(memchr(grant->seat.world, '\0', sizeof grant->seat.world) != NULL);
}

// Words that are long enough for a token must not be in messages and logs.
static void check_error(const char *error, const char *text)
{
    FM_ASSERT(error[0] != '\0');
    for (const char *word = text; *word != '\0';) {
        size_t size = strcspn(word, " \t\r\n;");
        if (size >= FM_TOKEN_MIN) {
            char start[FM_TOKEN_MIN + 1] = "";
            memcpy(start, word, FM_TOKEN_MIN);
            FM_ASSERT(strstr(error, start) == NULL);
        }
        word += size + (word[size] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static fm_grants grants;
    static bool started;
    if (!started) {
        started = fm_tokens_start();
        FM_ASSERT(started);
    }
    if (size < 1) {
        return 0;
    }
    char separator = bytes[0] % 2 == 0 ? '\n' : ';';
    char error[ERROR_SIZE] = "";
    char *text = fm_fuzz_text(bytes + 1, size - 1);
    grants.count = 0;
    if (fm_grants_parse(&grants, text, size - 1, separator, error, sizeof error) == FM_OK) {
        FM_ASSERT(grants.count <= FM_TOKENS_CONFIGURED);
        for (uint32_t i = 0; i < grants.count; i++) {
            check_grant(&grants.list[i]);
        }
    } else {
        FM_ASSERT(grants.count == 0);
        check_error(error, text);
    }
    free(text);
    return 0;
}
