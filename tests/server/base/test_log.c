// test_log.c: what a log line looks like, whatever its fields hold.
//
// Goal: people and tools can read the lines; nothing that a client sends can forge a line or
// control a terminal; lines of several threads never mix; a repeated warning does not flood.
// Method: the log writes into a file with a clock that the test moves; the file is read back whole.

#include "tests/support/support.h"

#include "core/base/random.h"
#include "server/base/log.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS          4
#define LINES_PER_THREAD 500

static FILE *log_file;
static uint64_t now_ms;

static uint64_t test_now_ms(void)
{
    return now_ms;
}

static void start(fm_log_level level, fm_log_format format)
{
    now_ms = 1738324800123; // 2025-01-31T12:00:00.123Z
    log_file = tmpfile();
    assert_non_null(log_file);
    fm_log_start(&(fm_log_options){
        .level = level,
        .format = format,
        .file = fileno(log_file),
        .now_ms = test_now_ms,
    });
}

// Everything that was logged since start(). The caller frees it.
static char *finish(void)
{
    fm_log_stop();
    long size = lseek(fileno(log_file), 0, SEEK_END);
    assert_true(size >= 0);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(log_file), text, (size_t)size, 0), size);
    fclose(log_file);
    return text;
}

static void assert_logged(const char *expected)
{
    char *text = finish();
    assert_string_equal(text, expected);
    free(text);
}

static void log_one_of_each(void)
{
    fm_log(FM_LOG_WARNING, "all kinds", fm_log_text("text", "plain"), fm_log_bool("flag", true),
           fm_log_int("number", INT64_MIN), fm_log_uint("count", UINT64_MAX),
           fm_log_real("real", 0.25), fm_log_bytes("bytes", "cut here", 3),
           fm_log_status("error", FM_ERR_NO_MEMORY));
}

static void test_text_line(void **state)
{
    (void)state;
    start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
    log_one_of_each();
    assert_logged("2025-01-31T12:00:00.123Z warning all kinds text=plain flag=true "
                  "number=-9223372036854775808 count=18446744073709551615 real=0.25 bytes=cut "
                  "error=\"not enough memory\"\n");
}

static void test_json_line(void **state)
{
    (void)state;
    start(FM_LOG_INFO, FM_LOG_FORMAT_JSON);
    log_one_of_each();
    assert_logged("{\"time\":\"2025-01-31T12:00:00.123Z\",\"level\":\"warning\","
                  "\"message\":\"all kinds\",\"text\":\"plain\",\"flag\":true,"
                  "\"number\":-9223372036854775808,\"count\":18446744073709551615,\"real\":0.25,"
                  "\"bytes\":\"cut\",\"error\":\"not enough memory\"}\n");
}

static void test_line_without_fields(void **state)
{
    (void)state;
    start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
    fm_log(FM_LOG_ERROR, "just words");
    assert_logged("2025-01-31T12:00:00.123Z error just words\n");
}

static void test_levels(void **state)
{
    (void)state;
    start(FM_LOG_WARNING, FM_LOG_FORMAT_TEXT);
    fm_log(FM_LOG_DEBUG, "no");
    fm_log(FM_LOG_INFO, "no");
    fm_log(FM_LOG_WARNING, "yes");
    fm_log(FM_LOG_ERROR, "yes");
    assert_logged("2025-01-31T12:00:00.123Z warning yes\n2025-01-31T12:00:00.123Z error yes\n");
}

// Texts as a client might send them, and how they look in both formats.
static const struct {
    const char *bytes, *text, *json;
} quotings[] = {
    {"", "\"\"", "\"\""},
    {"a b", "\"a b\"", "\"a b\""},
    {"a=b", "\"a=b\"", "\"a=b\""},
    {"say \"hi\"", "\"say \\\"hi\\\"\"", "\"say \\\"hi\\\"\""},
    {"back\\slash", "\"back\\\\slash\"", "\"back\\\\slash\""},
    {"line\nbreak", "\"line\\nbreak\"", "\"line\\nbreak\""},
    {"\x1b[2J", "\"\\x1b[2J\"", "\"\\u001b[2J\""},
    {"\x7f", "\"\\x7f\"", "\"\\u007f\""},
    {"\xc2\x9b", "\"\\x9b\"", "\"\\u009b\""},  // C1 control, as UTF-8
    {"\x9b", "\"\\x9b\"", "\"\xef\xbf\xbd\""}, // the same byte, not UTF-8
    {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"", "\"gr\xc3\xbc\xc3\x9f\""},
    {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\""},
    {"\xc0\xaf", "\"\\xc0\\xaf\"", "\"\xef\xbf\xbd\xef\xbf\xbd\""}, // overlong "/"
    {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\"",
     "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, // surrogate
    {"cut \xc3", "\"cut \\xc3\"", "\"cut \xef\xbf\xbd\""},
    // What turns the rest of a line round, and what ends a line for some.
    {"abc\xe2\x80\xae"
     "fed",
     "\"abc\\u202efed\"", "\"abc\\u202efed\""},
    {"\xe2\x81\xa6 \xe2\x80\xa8 \xd8\x9c", "\"\\u2066 \\u2028 \\u061c\"",
     "\"\\u2066 \\u2028 \\u061c\""},
};

static void test_quoting(void **state)
{
    (void)state;
    char expected[512];
    for (size_t i = 0; i < FM_COUNT_OF(quotings); i++) {
        start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
        fm_log(FM_LOG_INFO, "m", fm_log_text("key", quotings[i].bytes));
        snprintf(expected, sizeof expected, "2025-01-31T12:00:00.123Z info m key=%s\n",
                 quotings[i].text);
        assert_logged(expected);

        start(FM_LOG_INFO, FM_LOG_FORMAT_JSON);
        fm_log(FM_LOG_INFO, "m", fm_log_text("key", quotings[i].bytes));
        snprintf(expected, sizeof expected,
                 "{\"time\":\"2025-01-31T12:00:00.123Z\",\"level\":\"info\",\"message\":\"m\","
                 "\"key\":%s}\n",
                 quotings[i].json);
        assert_logged(expected);
    }
}

static void test_null_text_is_empty(void **state)
{
    (void)state;
    start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
    fm_log(FM_LOG_INFO, "m", fm_log_text("key", NULL));
    assert_logged("2025-01-31T12:00:00.123Z info m key=\"\"\n");
}

// Checks that it is one complete line, not too long, printable, with balanced quotes.
static void check_line(const char *line, fm_log_format format)
{
    size_t length = strlen(line), quotes = 0;
    assert_in_range(length, 1, FM_LOG_LINE_MAX);
    assert_ptr_equal(strchr(line, '\n'), line + length - 1);
    for (size_t i = 0; i + 1 < length; i++) {
        assert_true((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
        if (line[i] == '\\') {
            i++;
        } else {
            quotes += line[i] == '"';
        }
    }
    assert_int_equal(quotes % 2, 0);
    if (format == FM_LOG_FORMAT_JSON) {
        assert_int_equal(line[length - 2], '}');
    }
}

static void log_and_check(const char *bytes, size_t size, fm_log_format format)
{
    start(FM_LOG_INFO, format);
    fm_log(FM_LOG_INFO, "hostile", fm_log_bytes("first", bytes, size / 2),
           fm_log_bytes("second", bytes + size / 2, size - size / 2), fm_log_uint("third", 3));
    char *line = finish();
    check_line(line, format);
    free(line);
}

// Every length around the one that just fills the line.
static void test_full_lines(void **state)
{
    (void)state;
    static char bytes[FM_LOG_LINE_MAX + 64];
    memset(bytes, ' ', sizeof bytes);
    for (size_t size = FM_LOG_LINE_MAX - 192; size <= sizeof bytes; size++) {
        log_and_check(bytes, size, FM_LOG_FORMAT_TEXT);
        log_and_check(bytes, size, FM_LOG_FORMAT_JSON);
    }
}

static void test_hostile_texts(void **state)
{
    (void)state;
    static char bytes[3 * FM_LOG_LINE_MAX];
    fm_random random = fm_random_seed(fm_test_seed());
    for (int i = 0; i < 500; i++) {
        size_t size = fm_random_below(&random, sizeof bytes);
        for (size_t k = 0; k < size; k++) {
            bytes[k] = (char)fm_random_below(&random, 256);
        }
        log_and_check(bytes, size, FM_LOG_FORMAT_TEXT);
        log_and_check(bytes, size, FM_LOG_FORMAT_JSON);
    }
}

static void test_limited_site(void **state)
{
    (void)state;
    static fm_log_site site, other;
    start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
    for (uint32_t i = 0; i < 3 * FM_LOG_BURST; i++) {
        fm_log_limited(&site, FM_LOG_WARNING, "again", fm_log_uint("i", i));
    }
    fm_log_limited(&other, FM_LOG_WARNING, "other"); // has its own count
    now_ms += FM_LOG_PERIOD_MS;
    fm_log_limited(&site, FM_LOG_WARNING, "again", fm_log_uint("i", 99));
    for (uint32_t i = 0; i < FM_LOG_BURST; i++) {
        fm_log_limited(&site, FM_LOG_WARNING, "again", fm_log_uint("i", 100 + i));
    }
    assert_logged("2025-01-31T12:00:00.123Z warning again i=0\n"
                  "2025-01-31T12:00:00.123Z warning again i=1\n"
                  "2025-01-31T12:00:00.123Z warning again i=2\n"
                  "2025-01-31T12:00:00.123Z warning again i=3\n"
                  "2025-01-31T12:00:00.123Z warning again i=4\n"
                  "2025-01-31T12:00:00.123Z warning other\n"
                  "2025-01-31T12:00:10.123Z warning again suppressed=10 i=99\n"
                  "2025-01-31T12:00:10.123Z warning again i=100\n"
                  "2025-01-31T12:00:10.123Z warning again i=101\n"
                  "2025-01-31T12:00:10.123Z warning again i=102\n"
                  "2025-01-31T12:00:10.123Z warning again i=103\n"
                  "2025-01-31T12:00:10.123Z warning again suppressed=1\n"); // fm_log_stop()
}

static void *log_many(void *context)
{
    static fm_log_site site;
    const uint64_t *thread = context;
    for (uint64_t i = 0; i < LINES_PER_THREAD; i++) {
        fm_log(FM_LOG_INFO, "line", fm_log_uint("thread", *thread), fm_log_uint("i", i));
        fm_log_limited(&site, FM_LOG_INFO, "limited");
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t numbers[THREADS], next[THREADS] = {0}, limited = 0, suppressed = 0;
    start(FM_LOG_INFO, FM_LOG_FORMAT_TEXT);
    for (uint64_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    char *text = finish();
    char *rest = text;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        unsigned long long thread, i, held_back;
        if (sscanf(line, "2025-01-31T12:00:00.123Z info line thread=%llu i=%llu", &thread, &i) ==
            2) {
            assert_true(thread < THREADS);
            assert_int_equal(i, next[thread]++);
        } else if (sscanf(line, "2025-01-31T12:00:00.123Z info limited suppressed=%llu",
                          &held_back) == 1) {
            suppressed += held_back;
        } else {
            assert_string_equal(line, "2025-01-31T12:00:00.123Z info limited");
            limited++;
        }
    }
    free(text);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(next[i], LINES_PER_THREAD);
    }
    assert_int_equal(limited, FM_LOG_BURST);
    assert_int_equal(limited + suppressed, THREADS * LINES_PER_THREAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_line),
        cmocka_unit_test(test_json_line),
        cmocka_unit_test(test_line_without_fields),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_quoting),
        cmocka_unit_test(test_null_text_is_empty),
        cmocka_unit_test(test_full_lines),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_limited_site),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
