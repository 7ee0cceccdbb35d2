// server/base/config.c: see config.h. The table of keys, and the conversion from text to value and
// back.

#include "server/base/config.h"

#include "server/base/networks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

// Names of choices, by value.
static const char *const overload_names[] = {
#define X(enumerator, name) name,
    FM_OVERLOAD_LIST(X)
#undef X
        NULL,
};
static const char *const durability_names[] = {
#define X(enumerator, name) name,
    FM_DURABILITY_LIST(X)
#undef X
        NULL,
};
static const char *const replica_missing_names[] = {
#define X(enumerator, name) name,
    FM_REPLICA_MISSING_LIST(X)
#undef X
        NULL,
};
static const char *const journal_on_error_names[] = {
#define X(enumerator, name) name,
    FM_JOURNAL_ON_ERROR_LIST(X)
#undef X
        NULL,
};
static const char *const syscall_filter_names[] = {
#define X(enumerator, name) name,
    FM_SYSCALL_FILTER_LIST(X)
#undef X
        NULL,
};
static const char *const log_level_names[] = {
#define X(enumerator, name) name,
    FM_LOG_LEVEL_LIST(X)
#undef X
        NULL,
};
static const char *const log_format_names[] = {
#define X(enumerator, name) name,
    FM_LOG_FORMAT_LIST(X)
#undef X
        NULL,
};

// ---- checks of single texts ---------------------------------------------------------------------

static bool any_text(const char *text, char *error)
{
    (void)text;
    (void)error;
    return true;
}

// The text goes into keys and texts that are separated by blanks and slashes.
static bool word_text(const char *text, char *error)
{
    size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
    if (text[good] == '\0') {
        return true;
    }
    snprintf(error, FM_CONFIG_ERROR_SIZE,
             "'%.200s' must consist of letters, digits, '.', '-' and '_'", text);
    return false;
}

static bool address_text(const char *text, char *error)
{
    char address[FM_CONFIG_TEXT_MAX + 1];
    uint16_t port;
    bool is_loopback;
    if (fm_listen_parse(text, address, &port, &is_loopback) == FM_OK) {
        return true;
    }
    snprintf(error, FM_CONFIG_ERROR_SIZE,
             "'%s' is not a numeric ADDRESS:PORT such as 127.0.0.1:7421 or [::1]:7421", text);
    return false;
}

static bool http_text(const char *text, char *error)
{
    return text[0] == '\0' || address_text(text, error);
}

// Whether HOST:PORT, with a name or a number, is a place that others can connect to.
static bool is_place(const char *text, size_t size)
{
    const char *colon = memrchr(text, ':', size);
    if (colon == NULL) {
        return false;
    }
    size_t host = (size_t)(colon - text), digits = size - host - 1;
    bool in_brackets = host > 2 && text[0] == '[' && text[host - 1] == ']';
    const char *const letters = in_brackets ? "0123456789abcdefABCDEF:.[]"
                                            : "0123456789abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
    unsigned long port = strtoul(colon + 1, NULL, 10);
    return host > 0 && strspn(text, letters) >= host && digits >= 1 && digits <= 5 &&
           strspn(colon + 1, "0123456789") == digits && port >= 1 && port <= UINT16_MAX;
}

static bool place_text(const char *text, char *error)
{
    if (text[0] == '\0' || is_place(text, strlen(text))) {
        return true;
    }
    snprintf(error, FM_CONFIG_ERROR_SIZE,
             "'%.200s' is not ADDRESS:PORT such as 10.0.0.1:7421, [::1]:7421 or a.example:7421",
             text);
    return false;
}

// Blanks or a comma end an item; before and after a comma there must be one.
static bool has_empty_item(const char *text, char *error)
{
    uint32_t number = 1;
    const char *entry = text + strspn(text, " ");
    bool is_empty = *entry == ',';
    while (*entry != '\0' && !is_empty) {
        entry += strcspn(entry, ", ");
        entry += strspn(entry, " ");
        number++;
        if (*entry == ',') {
            entry += 1 + strspn(entry + 1, " ");
            is_empty = *entry == ',' || *entry == '\0';
        }
    }
    if (is_empty) {
        snprintf(error, FM_CONFIG_ERROR_SIZE, "item %u of '%.200s' is empty", number, text);
    }
    return is_empty;
}

static bool places_text(const char *text, char *error)
{
    if (has_empty_item(text, error)) {
        return false;
    }
    const char *rest = text + strspn(text, " ");
    while (*rest != '\0') {
        size_t size = strcspn(rest, ", ");
        if (!is_place(rest, size)) {
            snprintf(
                error, FM_CONFIG_ERROR_SIZE,
                "'%.*s' is not ADDRESS:PORT such as 10.0.0.1:7421, [::1]:7421 or a.example:7421; "
                "several are separated by commas",
                (int)(size < 120 ? size : 120), rest);
            return false;
        }
        rest += size;
        rest += strspn(rest, ", ");
    }
    return true;
}

// Clients are sent there, so "all addresses of this machine" is none.
static bool advertised_text(const char *text, char *error)
{
    if (strncmp(text, "0.0.0.0:", 8) == 0 || strncmp(text, "[::]:", 5) == 0) {
        snprintf(error, FM_CONFIG_ERROR_SIZE, "'%.200s' is no address that others can connect to",
                 text);
        return false;
    }
    return place_text(text, error);
}

// As a browser sends it in Origin: SCHEME://HOST[:PORT], or null.
static bool origins_text(const char *text, char *error)
{
    if (has_empty_item(text, error)) {
        return false;
    }
    for (const char *entry = text + strspn(text, ", "); *entry != '\0';) {
        size_t size = strcspn(entry, ", ");
        const char *sign = strstr(entry, "://");
        size_t scheme = sign == NULL ? size : (size_t)(sign - entry);
        bool is_null = size == 4 && strncmp(entry, "null", 4) == 0;
        if (!is_null &&
            (scheme == 0 || scheme + 3 >= size || strcspn(sign + 3, "/, ") + scheme + 3 != size)) {
            snprintf(error, FM_CONFIG_ERROR_SIZE,
                     "'%.*s' is not the origin of a page, such as https://example.org or "
                     "http://10.0.0.1:8080",
                     (int)(size < 120 ? size : 120), entry);
            return false;
        }
        entry += size;
        entry += strspn(entry, ", ");
    }
    return true;
}

static bool networks_text(const char *text, char *error)
{
    if (has_empty_item(text, error)) {
        return false;
    }
    for (const char *entry = text + strspn(text, ", "); *entry != '\0';) {
        char one[FM_CONFIG_TEXT_MAX + 1];
        size_t size = strcspn(entry, ", ");
        snprintf(one, sizeof one, "%.*s", (int)size, entry);
        if (!fm_networks_have(one, NULL)) {
            snprintf(error, FM_CONFIG_ERROR_SIZE,
                     "'%.200s' is no numeric address or network such as ::1 or 10.0.0.0/8", one);
            return false;
        }
        entry += size;
        entry += strspn(entry, ", ");
    }
    return true;
}

static bool planner_text(const char *text, char *error)
{
    fm_planner_spec spec;
    return fm_planner_spec_parse(text, &spec, error, FM_CONFIG_ERROR_SIZE) == FM_OK;
}

// ---- the table ----------------------------------------------------------------------------------

// clang-format off
const fm_config_key fm_config_keys[FM_CONFIG_KEY_COUNT] = {
#define FM_CONFIG_TEXT(member, default_text_, size_max, check_, value_name_, text_)                \
    {.name = #member, .kind = FM_CONFIG_KIND_TEXT, .offset = offsetof(fm_config, member),          \
     .default_text = default_text_, .maximum = size_max, .check = check_,                          \
     .value_name = value_name_, .text = text_},
#define FM_CONFIG_BOOL(member, default_text_, text_)                                               \
    {.name = #member, .kind = FM_CONFIG_KIND_BOOL, .offset = offsetof(fm_config, member),          \
     .default_text = default_text_, .text = text_},
#define FM_CONFIG_UINT(member, default_text_, minimum_, maximum_, value_name_, text_)              \
    {.name = #member, .kind = FM_CONFIG_KIND_UINT, .offset = offsetof(fm_config, member),          \
     .default_text = default_text_, .minimum = minimum_, .maximum = maximum_,                      \
     .value_name = value_name_, .text = text_},
#define FM_CONFIG_REAL(member, default_text_, minimum_, maximum_, value_name_, text_)              \
    {.name = #member, .kind = FM_CONFIG_KIND_REAL, .offset = offsetof(fm_config, member),          \
     .default_text = default_text_, .minimum = minimum_, .maximum = maximum_,                      \
     .value_name = value_name_, .text = text_},
#define FM_CONFIG_CHOICE(member, default_text_, type, names_, value_name_, text_)                  \
    {.name = #member, .kind = FM_CONFIG_KIND_CHOICE, .offset = offsetof(fm_config, member),        \
     .default_text = default_text_, .names = names_, .value_name = value_name_, .text = text_},
#include "server/base/config.def"
};
// clang-format on

// Choices are read and written as unsigned numbers, whatever their enum.
#define FM_CONFIG_CHOICE(member, default_text, type, names, value_name, text)                      \
    _Static_assert(sizeof(type) == sizeof(unsigned), "a choice is as large as an unsigned");
#include "server/base/config.def"

const char *fm_config_group_title(const fm_config_key *key)
{
    static const struct {
        size_t offset; // of the group's first member
        const char *title;
    } groups[] = {
#define FM_CONFIG_GROUP(first_member, title) {offsetof(fm_config, first_member), title},
#include "server/base/config.def"
    };
    for (size_t i = 0; i < FM_COUNT_OF(groups); i++) {
        if (groups[i].offset == key->offset) {
            return groups[i].title;
        }
    }
    return NULL;
}

const fm_config_key *fm_config_key_find(const char *name)
{
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        if (strcmp(fm_config_keys[i].name, name) == 0) {
            return &fm_config_keys[i];
        }
    }
    return NULL;
}

fm_config fm_config_default(void)
{
    fm_config config;
    char error[FM_CONFIG_ERROR_SIZE];
    memset(&config, 0, sizeof config);
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        const fm_config_key *key = &fm_config_keys[i];
        fm_status status = fm_config_set(&config, key, key->default_text, error);
        FM_ASSERT(status == FM_OK);
    }
    return config;
}

// ---- text to value ------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static fm_status refuse(char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, FM_CONFIG_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return FM_ERR_BAD_VALUE;
}

static fm_status set_text(char *member, const fm_config_key *key, const char *text, char *error)
{
    size_t size = strlen(text);
    if ((double)size > key->maximum) {
        return refuse(error, "a text of %zu bytes is longer than %.0f", size, key->maximum);
    }
    for (const char *byte = text; *byte != '\0'; byte++) {
        if ((unsigned char)*byte < ' ' || *byte == 0x7f) {
            return refuse(error, "control characters are not allowed");
        }
    }
    if (!key->check(text, error)) {
        return FM_ERR_BAD_VALUE;
    }
    memcpy(member, text, size + 1);
    return FM_OK;
}

static fm_status set_bool(bool *member, const char *text, char *error)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < FM_COUNT_OF(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            *member = i % 2 == 1;
            return FM_OK;
        }
    }
    return refuse(error, "'%.64s' is not true or false", text);
}

static fm_status set_uint(uint64_t *member, const fm_config_key *key, const char *text, char *error)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text)) {
        return refuse(error, "'%.64s' is not a whole number", text);
    }
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno == ERANGE || (double)value < key->minimum || (double)value > key->maximum) {
        return refuse(error, "%.64s is outside %.0f to %.0f", text, key->minimum, key->maximum);
    }
    *member = value;
    return FM_OK;
}

static fm_status set_real(double *member, const fm_config_key *key, const char *text, char *error)
{
    char *end;
    double value = strtod(text, &end);
    // strtod() also takes "inf", "nan", hexadecimal and leading spaces, which are mistakes.
    if (end == text || *end != '\0' || strspn(text, "+-.0123456789eE") != strlen(text)) {
        return refuse(error, "'%.64s' is not a number", text);
    }
    if (!(value >= key->minimum && value <= key->maximum)) {
        return refuse(error, "%.64s is outside %g to %g", text, key->minimum, key->maximum);
    }
    *member = value;
    return FM_OK;
}

static fm_status set_choice(unsigned *member, const fm_config_key *key, const char *text,
                            char *error)
{
    char names[FM_CONFIG_ERROR_SIZE / 2] = "";
    for (unsigned i = 0; key->names[i] != NULL; i++) {
        if (strcmp(key->names[i], text) == 0) {
            *member = i;
            return FM_OK;
        }
        size_t size = strlen(names);
        snprintf(names + size, sizeof names - size, "%s%s", i == 0 ? "" : ", ", key->names[i]);
    }
    return refuse(error, "'%.64s' is none of %s", text, names);
}

fm_status fm_config_set(fm_config *config, const fm_config_key *key, const char *text, char *error)
{
    void *member = (char *)config + key->offset;
    switch (key->kind) {
    case FM_CONFIG_KIND_TEXT:
        return set_text(member, key, text, error);
    case FM_CONFIG_KIND_BOOL:
        return set_bool(member, text, error);
    case FM_CONFIG_KIND_UINT:
        return set_uint(member, key, text, error);
    case FM_CONFIG_KIND_REAL:
        return set_real(member, key, text, error);
    case FM_CONFIG_KIND_CHOICE:
        return set_choice(member, key, text, error);
    }
    FM_UNREACHABLE();
}

// ---- value to text ------------------------------------------------------------------------------

// The shortest text that reads back as the same number.
static void format_real(double value, char *text, size_t size)
{
    snprintf(text, size, "%.15g", value);
    if (strtod(text, NULL) != value) {
        snprintf(text, size, "%.17g", value);
    }
}

void fm_config_format(const fm_config *config, const fm_config_key *key, char *text, size_t size)
{
    FM_ASSERT(size > FM_CONFIG_TEXT_MAX);
    const void *member = (const char *)config + key->offset;
    switch (key->kind) {
    case FM_CONFIG_KIND_TEXT:
        snprintf(text, size, "%s", (const char *)member);
        return;
    case FM_CONFIG_KIND_BOOL:
        snprintf(text, size, "%s", *(const bool *)member ? "true" : "false");
        return;
    case FM_CONFIG_KIND_UINT:
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)member);
        return;
    case FM_CONFIG_KIND_REAL:
        format_real(*(const double *)member, text, size);
        return;
    case FM_CONFIG_KIND_CHOICE:
        snprintf(text, size, "%s", key->names[*(const unsigned *)member]);
        return;
    }
    FM_UNREACHABLE();
}

// ---- small vocabularies -------------------------------------------------------------------------

static bool port_parse(const char *text, uint16_t *port)
{
    if (*text == '\0' || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text)) {
        return false;
    }
    unsigned long value = strtoul(text, NULL, 10);
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

// Whether a numeric address is one, and whether it is loopback.
static bool address_parse(const char *address, bool is_ipv6, bool *is_loopback)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;
    if (is_ipv6) {
        bool is_valid = inet_pton(AF_INET6, address, &ipv6) == 1;
        *is_loopback = is_valid && IN6_IS_ADDR_LOOPBACK(&ipv6);
        return is_valid;
    }
    bool is_valid = inet_pton(AF_INET, address, &ipv4) == 1;
    *is_loopback = is_valid && ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
    return is_valid;
}

fm_status fm_listen_parse(const char *listen, char *address, uint16_t *port, bool *is_loopback)
{
    char copy[FM_CONFIG_TEXT_MAX + 1];
    uint16_t number;
    bool is_local;
    size_t size = strlen(listen);
    if (size > FM_CONFIG_TEXT_MAX) {
        return FM_ERR_BAD_VALUE;
    }
    memcpy(copy, listen, size + 1);
    char *colon = strrchr(copy, ':');
    if (colon == NULL || !port_parse(colon + 1, &number)) {
        return FM_ERR_BAD_VALUE;
    }
    *colon = '\0';
    char *host = copy;
    bool is_ipv6 = *host == '[';
    if (is_ipv6) {
        if (colon == host + 1 || colon[-1] != ']') {
            return FM_ERR_BAD_VALUE;
        }
        colon[-1] = '\0';
        host++;
    }
    if (!address_parse(host, is_ipv6, &is_local)) {
        return FM_ERR_BAD_VALUE;
    }
    strcpy(address, host);
    *port = number;
    *is_loopback = is_local;
    return FM_OK;
}

const char *fm_overload_name(fm_overload overload)
{
    FM_ASSERT(overload < FM_COUNT_OF(overload_names) - 1);
    return overload_names[overload];
}

bool fm_overload_by_name(const char *name, size_t size, fm_overload *overload)
{
    for (unsigned i = 0; overload_names[i] != NULL; i++) {
        if (strlen(overload_names[i]) == size && memcmp(overload_names[i], name, size) == 0) {
            *overload = (fm_overload)i;
            return true;
        }
    }
    return false;
}
