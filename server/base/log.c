// server/base/log.c: see log.h. A line is put together in a buffer on the stack; nothing is
// allocated and the only lock guards the counters of limited call sites.

#include "server/base/log.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

// The end of a JSON line must fit whatever its fields hold.
#define LINE_RESERVE 8u

struct line {
    char bytes[FM_LOG_LINE_MAX];
    size_t size;
    bool full; // a field did not fit; nothing more is added
};

static uint64_t system_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static _Atomic fm_log_level current_level = FM_LOG_INFO;
static fm_log_options current = {
    .format = FM_LOG_FORMAT_TEXT,
    .file = STDERR_FILENO,
    .now_ms = system_now_ms,
};

// Guards every fm_log_site and the list of those that hold lines back.
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static fm_log_site *sites;

static const char *level_name(fm_log_level level)
{
    switch (level) {
#define X(enumerator, name)                                                                        \
    case enumerator:                                                                               \
        return name;
        FM_LOG_LEVEL_LIST(X)
#undef X
    }
    FM_UNREACHABLE();
}

// ---- building a line ----------------------------------------------------------------------------

static void put(struct line *line, const char *bytes, size_t size)
{
    if (line->full || size > FM_LOG_LINE_MAX - LINE_RESERVE - line->size) {
        line->full = true;
        return;
    }
    memcpy(line->bytes + line->size, bytes, size);
    line->size += size;
}

__attribute__((format(printf, 2, 3))) static void put_format(struct line *line, const char *format,
                                                             ...)
{
    char text[64];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    FM_ASSERT(size >= 0 && (size_t)size < sizeof text);
    put(line, text, (size_t)size);
}

static void put_time(struct line *line, uint64_t now_ms)
{
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm date;
    char text[32];
    gmtime_r(&seconds, &date);
    size_t size = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
    put(line, text, size);
    put_format(line, ".%03uZ", (unsigned)(now_ms % 1000));
}

// Bytes of the UTF-8 character at the start, and its code point; 0 when the bytes are invalid.
// Overlong forms, surrogates and code points beyond U+10FFFF are invalid (RFC 3629).
static size_t utf8_size(const unsigned char *bytes, size_t size, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (bytes[0] < 0x80) {
        *point = bytes[0];
        return 1;
    }
    size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : bytes[0] >= 0xc0 ? 2 : 0;
    if (length == 0 || length > size || bytes[0] >= 0xf8) {
        return 0;
    }
    uint32_t value = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
        return 0;
    }
    *point = value;
    return length;
}

// C0, DEL and C1: what a terminal or a line-based tool could take for a command. Ends of lines and
// paragraphs, and marks of direction, with which a name could show the rest of its line reversed.
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e ||
           point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

static void put_escape(struct line *line, uint32_t point, fm_log_format format)
{
    if (point == '\n') {
        put(line, "\\n", 2);
    } else if (point == '\t') {
        put(line, "\\t", 2);
    } else if (format == FM_LOG_FORMAT_JSON || point > 0xff) {
        put_format(line, "\\u%04x", (unsigned)point);
    } else {
        put_format(line, "\\x%02x", (unsigned)point);
    }
}

// A text within quotes, one character at a time, so that a full line never ends inside an escape.
static void put_quoted(struct line *line, const char *bytes, size_t size, fm_log_format format)
{
    put(line, "\"", 1);
    for (size_t i = 0; i < size;) {
        uint32_t point = 0;
        size_t length = utf8_size((const unsigned char *)bytes + i, size - i, &point);
        if (length == 0 && format == FM_LOG_FORMAT_JSON) {
            put(line, "\xef\xbf\xbd", 3); // U+FFFD: JSON cannot say "this byte"
            length = 1;
        } else if (length == 0) {
            put_escape(line, (unsigned char)bytes[i], format);
            length = 1;
        } else if (is_control(point)) {
            put_escape(line, point, format);
        } else if (point == '"' || point == '\\') {
            char escaped[2] = {'\\', bytes[i]};
            put(line, escaped, 2);
        } else {
            put(line, bytes + i, length);
        }
        i += length;
    }
    put(line, "\"", 1);
    if (line->full) { // there is room for this one in the reserve
        line->bytes[line->size++] = '"';
    }
}

// Whether a text can stand in a line without quotes.
static bool is_plain(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte <= ' ' || byte >= 0x7f || byte == '"' || byte == '\\' || byte == '=') {
            return false;
        }
    }
    return size > 0;
}

static void put_text(struct line *line, const char *bytes, size_t size, fm_log_format format)
{
    if (format == FM_LOG_FORMAT_TEXT && is_plain(bytes, size)) {
        put(line, bytes, size);
    } else {
        put_quoted(line, bytes, size, format);
    }
}

static void put_real(struct line *line, double real, fm_log_format format)
{
    if (format == FM_LOG_FORMAT_JSON && !isfinite(real)) {
        put(line, "null", 4); // JSON has no other numbers
    } else {
        put_format(line, "%.6g", real);
    }
}

static void put_value(struct line *line, const fm_log_field *field, fm_log_format format)
{
    switch (field->kind) {
    case FM_LOG_KIND_TEXT:
        put_text(line, field->text.bytes, field->text.size, format);
        return;
    case FM_LOG_KIND_BOOL:
        put_format(line, "%s", field->flag ? "true" : "false");
        return;
    case FM_LOG_KIND_INT:
        put_format(line, "%lld", (long long)field->number);
        return;
    case FM_LOG_KIND_UINT:
        put_format(line, "%llu", (unsigned long long)field->count);
        return;
    case FM_LOG_KIND_REAL:
        put_real(line, field->real, format);
        return;
    }
    FM_UNREACHABLE();
}

// A field goes in whole or, when its text is long, cut; a field that has no room for its key and a
// few bytes is left out with all that follow.
static void put_field(struct line *line, const fm_log_field *field, fm_log_format format)
{
    size_t key_size = strlen(field->key);
    if (line->full || key_size + 40 > FM_LOG_LINE_MAX - LINE_RESERVE - line->size) {
        line->full = true;
        return;
    }
    put(line, format == FM_LOG_FORMAT_JSON ? ",\"" : " ", format == FM_LOG_FORMAT_JSON ? 2 : 1);
    put(line, field->key, key_size);
    put(line, format == FM_LOG_FORMAT_JSON ? "\":" : "=", format == FM_LOG_FORMAT_JSON ? 2 : 1);
    put_value(line, field, format);
}

static void put_head(struct line *line, fm_log_level level, const char *message, uint64_t now_ms,
                     fm_log_format format)
{
    if (format == FM_LOG_FORMAT_JSON) {
        put(line, "{\"time\":\"", 9);
        put_time(line, now_ms);
        put_format(line, "\",\"level\":\"%s\",\"message\":", level_name(level));
        put_quoted(line, message, strlen(message), format);
    } else {
        put_time(line, now_ms);
        put_format(line, " %s ", level_name(level));
        put(line, message, strlen(message));
    }
}

static void put_end(struct line *line, fm_log_format format)
{
    if (format == FM_LOG_FORMAT_JSON) {
        line->bytes[line->size++] = '}';
    }
    line->bytes[line->size++] = '\n';
}

// If the log cannot be written, the line is lost.
static void send(const struct line *line)
{
    size_t sent = 0;
    while (sent < line->size) {
        ssize_t size = write(current.file, line->bytes + sent, line->size - sent);
        if (size < 0 && errno != EINTR) {
            return;
        }
        sent += size > 0 ? (size_t)size : 0;
    }
}

static void write_line(fm_log_level level, const char *message, const fm_log_field *fields,
                       uint32_t suppressed, uint64_t now_ms)
{
    struct line line;
    line.size = 0;
    line.full = false;
    put_head(&line, level, message, now_ms, current.format);
    if (suppressed > 0) {
        fm_log_field field = fm_log_uint("suppressed", suppressed);
        put_field(&line, &field, current.format);
    }
    for (const fm_log_field *field = fields; field->key != NULL; field++) {
        put_field(&line, field, current.format);
    }
    put_end(&line, current.format);
    send(&line);
}

// ---- what others call ---------------------------------------------------------------------------

void fm_log_start(const fm_log_options *options)
{
    current = *options;
    current_level = options->level;
    if (current.now_ms == NULL) {
        current.now_ms = system_now_ms;
    }
}

static bool is_enabled(fm_log_level level)
{
    return level >= current_level;
}

void fm_log_set_level(fm_log_level level)
{
    current_level = level;
}

void fm_log_fields(fm_log_level level, const char *message, const fm_log_field *fields)
{
    if (is_enabled(level)) {
        write_line(level, message, fields, 0, current.now_ms());
    }
}

// Counts a line. Returns whether it may be written, and how many were suppressed before it.
// sites_lock is held.
static bool site_take(fm_log_site *site, uint64_t now_ms, uint32_t *suppressed)
{
    // A clock that was set back begins a new period too: the difference wraps and is large.
    if (site->written == 0 || now_ms - site->period_start_ms >= FM_LOG_PERIOD_MS) {
        site->period_start_ms = now_ms;
        site->written = 0;
    }
    if (site->written == FM_LOG_BURST) {
        site->suppressed++;
        return false;
    }
    site->written++;
    *suppressed = site->suppressed;
    site->suppressed = 0;
    return true;
}

void fm_log_fields_limited(fm_log_site *site, fm_log_level level, const char *message,
                           const fm_log_field *fields)
{
    if (!is_enabled(level)) {
        return;
    }
    uint64_t now_ms = current.now_ms();
    uint32_t suppressed = 0;
    pthread_mutex_lock(&sites_lock);
    if (!site->listed) {
        site->listed = true;
        site->level = level;
        site->message = message;
        site->next = sites;
        sites = site;
    }
    bool may_write = site_take(site, now_ms, &suppressed);
    pthread_mutex_unlock(&sites_lock);
    if (may_write) {
        write_line(level, message, fields, suppressed, now_ms);
    }
}

void fm_log_stop(void)
{
    pthread_mutex_lock(&sites_lock);
    for (fm_log_site *site = sites; site != NULL; site = site->next) {
        if (site->suppressed > 0) {
            const fm_log_field none = FM_LOG_LAST;
            write_line(site->level, site->message, &none, site->suppressed, current.now_ms());
        }
        *site = (fm_log_site){.next = site->next};
    }
    sites = NULL;
    pthread_mutex_unlock(&sites_lock);
}
