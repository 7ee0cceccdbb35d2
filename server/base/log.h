// server/base/log.h: lines for the operator.
//
// A line has a level, a message that never varies (so that it can be searched for and counted), and
// fields that do:
//
//   fm_log(FM_LOG_INFO, "session opened", fm_log_uint("session", 3), fm_log_text("client", name));
//
//   2025-01-31T12:00:00.123Z info session opened session=3 client="a b"
//   {"time":"2025-01-31T12:00:00.123Z","level":"info","message":"session opened","session":3,...}
//
// Values may come from a client: quotes, control characters and bytes that are not UTF-8 are
// escaped, so no client can forge a line or send commands to a terminal.
//
// Threads: any. A line goes out in one write(2) and is cut at FM_LOG_LINE_MAX bytes.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"

#include <string.h>

#define FM_LOG_LINE_MAX  4096u  // bytes of a line, line end included; PIPE_BUF, so lines never mix
#define FM_LOG_BURST     5u     // lines a call site may log ...
#define FM_LOG_PERIOD_MS 10000u // ... in this time, when it is limited

// X(enumerator, name)
#define FM_LOG_LEVEL_LIST(X)                                                                       \
    X(FM_LOG_DEBUG, "debug")     /* for debugging; may be many */                                  \
    X(FM_LOG_INFO, "info")       /* worlds, sessions, start and end */                             \
    X(FM_LOG_WARNING, "warning") /* works on, but somebody should look */                          \
    X(FM_LOG_ERROR, "error")     /* something that was asked for failed */

typedef enum fm_log_level {
#define X(enumerator, name) enumerator,
    FM_LOG_LEVEL_LIST(X)
#undef X
} fm_log_level;

// X(enumerator, name)
#define FM_LOG_FORMAT_LIST(X)                                                                      \
    X(FM_LOG_FORMAT_TEXT, "text")                                                                  \
    X(FM_LOG_FORMAT_JSON, "json")

typedef enum fm_log_format {
#define X(enumerator, name) enumerator,
    FM_LOG_FORMAT_LIST(X)
#undef X
} fm_log_format;

typedef struct fm_log_options {
    fm_log_level level; // lines below it are dropped
    fm_log_format format;
    int file;                 // descriptor to write to; stays the caller's
    uint64_t (*now_ms)(void); // Unix time; NULL: the system's clock
} fm_log_options;

/// Sets where lines go. Before the first call they go to standard error, as text, from info up.
/// Before other threads log.
void fm_log_start(const fm_log_options *options);

/// Writes the counts that limited call sites still hold, a line each. After other threads have
/// ended.
void fm_log_stop(void);

/// Sets the least important level that is written. At any time.
void fm_log_set_level(fm_log_level level);

// ---- fields -------------------------------------------------------------------------------------

typedef enum fm_log_kind {
    FM_LOG_KIND_TEXT,
    FM_LOG_KIND_BOOL,
    FM_LOG_KIND_INT,
    FM_LOG_KIND_UINT,
    FM_LOG_KIND_REAL,
} fm_log_kind;

// Made by the functions below; texts need live only as long as the call of fm_log().
typedef struct fm_log_field {
    const char *key; // letters, digits, underscores
    fm_log_kind kind;
    union {
        struct {
            const char *bytes;
            size_t size;
        } text;
        bool flag;
        int64_t number;
        uint64_t count;
        double real;
    };
} fm_log_field;

/// Text that need not end with NUL.
static inline fm_log_field fm_log_bytes(const char *key, const char *bytes, size_t size)
{
    return (fm_log_field){.key = key, .kind = FM_LOG_KIND_TEXT, .text = {bytes, size}};
}

/// NULL counts as an empty text.
static inline fm_log_field fm_log_text(const char *key, const char *text)
{
    return fm_log_bytes(key, text, text == NULL ? 0 : strlen(text));
}

static inline fm_log_field fm_log_bool(const char *key, bool flag)
{
    return (fm_log_field){.key = key, .kind = FM_LOG_KIND_BOOL, .flag = flag};
}

static inline fm_log_field fm_log_int(const char *key, int64_t number)
{
    return (fm_log_field){.key = key, .kind = FM_LOG_KIND_INT, .number = number};
}

static inline fm_log_field fm_log_uint(const char *key, uint64_t count)
{
    return (fm_log_field){.key = key, .kind = FM_LOG_KIND_UINT, .count = count};
}

/// Written with up to six significant digits.
static inline fm_log_field fm_log_real(const char *key, double real)
{
    return (fm_log_field){.key = key, .kind = FM_LOG_KIND_REAL, .real = real};
}

static inline fm_log_field fm_log_status(const char *key, fm_status status)
{
    return fm_log_text(key, fm_status_text(status));
}

// ---- lines --------------------------------------------------------------------------------------

// Counts the lines of one call site that may repeat without end (a client can cause it again and
// again). Static storage, zeroed: static fm_log_site slow_readers;
typedef struct fm_log_site {
    fm_log_level level;
    const char *message;
    uint64_t period_start_ms;
    uint32_t written;    // in this period
    uint32_t suppressed; // since the last line that was written
    struct fm_log_site *next;
    bool listed;
} fm_log_site;

// fm_log(level, message, fields...): writes a line.
#define fm_log(level, ...) fm_log_fields(level, FM_LOG_PACK(__VA_ARGS__, FM_LOG_LAST))

// fm_log_limited(site, level, message, fields...): the same, but FM_LOG_BURST lines per
// FM_LOG_PERIOD_MS at most. The next line that is written has a field suppressed=COUNT.
#define fm_log_limited(site, level, ...)                                                           \
    fm_log_fields_limited(site, level, FM_LOG_PACK(__VA_ARGS__, FM_LOG_LAST))

// A message and fields as two arguments: the message, and an array that ends with FM_LOG_LAST.
#define FM_LOG_PACK(message, ...)                                                                  \
    message, (const fm_log_field[])                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define FM_LOG_LAST ((fm_log_field){.key = NULL})

/// What fm_log() expands to. `fields` ends with an entry whose key is NULL.
void fm_log_fields(fm_log_level level, const char *message, const fm_log_field *fields);

/// What fm_log_limited() expands to.
void fm_log_fields_limited(fm_log_site *site, fm_log_level level, const char *message,
                           const fm_log_field *fields);
