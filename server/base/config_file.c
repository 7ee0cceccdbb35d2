// server/base/config_file.c: see config_file.h.
//
// The file is walked twice. libyaml says on which line each key stands; libcyaml checks the
// document against the schema: known keys only, each once, each with a single value. Values stay
// texts here, because libcyaml 1.3 takes "3x" for 3 and any word for true; fm_config_set() is
// stricter, and it is the same for flags and variables.

#include "server/base/config_file.h"

#include "core/base/name_hint.h"
#include "server/base/settings_read.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdlib.h>
#include <yaml.h>

#define FILE_SIZE_MAX   (1u << 20) // bytes; a config is some kilobytes
#define KEYS_MAX        256u       // of a file, unknown ones included; more is refused
#define KEY_NAME_MAX    63u        // bytes of a name that is remembered; known keys are shorter
#define SCALAR_SIZE_MAX 4096u      // bytes of a value; fm_config_set() has tighter bounds

// What libcyaml fills: one text per key, NULL where the file has none.
struct document {
#define FM_CONFIG_TEXT(member, ...)   char *member;
#define FM_CONFIG_BOOL(member, ...)   char *member;
#define FM_CONFIG_UINT(member, ...)   char *member;
#define FM_CONFIG_REAL(member, ...)   char *member;
#define FM_CONFIG_CHOICE(member, ...) char *member;
#include "server/base/config.def"
};

#define FIELD(member)                                                                              \
    CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_OPTIONAL, struct document, member, 0,               \
                           SCALAR_SIZE_MAX)

static const cyaml_schema_field_t document_fields[] = {
#define FM_CONFIG_TEXT(member, ...)   FIELD(member),
#define FM_CONFIG_BOOL(member, ...)   FIELD(member),
#define FM_CONFIG_UINT(member, ...)   FIELD(member),
#define FM_CONFIG_REAL(member, ...)   FIELD(member),
#define FM_CONFIG_CHOICE(member, ...) FIELD(member),
#include "server/base/config.def"
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t document_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct document, document_fields),
};

// A key as it stands in the file, known or not.
struct position {
    char name[KEY_NAME_MAX + 1]; // cut
    uint32_t line;
    char *value; // owned; NULL: not a scalar, too long, or with a NUL
};

struct file {
    const char *path;
    uint8_t *bytes; // owned
    size_t size;
    struct position keys[KEYS_MAX];
    uint32_t key_count;
    char error[FM_CONFIG_ERROR_SIZE];
    fm_config_tell *tell;
    void *context;
    char complaint[FM_CONFIG_ERROR_SIZE / 4]; // libcyaml's first message
};

// ---- reading ------------------------------------------------------------------------------------

static fm_status read_bytes(struct file *file)
{
    file->bytes = malloc(FILE_SIZE_MAX + 1);
    const char *wrong = file->bytes == NULL ? "out of memory"
                                            : fm_settings_read(file->path, file->bytes,
                                                               FILE_SIZE_MAX + 1, &file->size);
    if (wrong != NULL) {
        snprintf(file->error, FM_CONFIG_ERROR_SIZE, "%.300s: %s", file->path, wrong);
    } else if (file->size > FILE_SIZE_MAX) {
        snprintf(file->error, FM_CONFIG_ERROR_SIZE, "%.300s: larger than %u bytes", file->path,
                 FILE_SIZE_MAX);
        return FM_ERR_BAD_FORMAT;
    }
    return wrong == NULL ? FM_OK : FM_ERR_IO;
}

// ---- where the keys are -------------------------------------------------------------------------

static void remember_key(struct file *file, const yaml_event_t *event)
{
    if (file->key_count == KEYS_MAX) {
        return;
    }
    struct position *position = &file->keys[file->key_count++];
    snprintf(position->name, sizeof position->name, "%s", event->data.scalar.value);
    position->line = (uint32_t)event->start_mark.line + 1;
}

static bool is_good_value(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length <= SCALAR_SIZE_MAX &&
           strlen((const char *)event->data.scalar.value) == event->data.scalar.length;
}

// A value beyond KEYS_MAX goes to the last key, which already has one then.
static void remember_value(struct position *position, const yaml_event_t *event)
{
    if (position->value == NULL && is_good_value(event)) {
        position->value = strdup((const char *)event->data.scalar.value);
    }
}

// Takes one event. The document's own mapping is at depth 1; in there, keys and values take turns.
static void walk(struct file *file, const yaml_event_t *event, uint32_t *depth, bool *is_key)
{
    bool is_value = event->type == YAML_SCALAR_EVENT || event->type == YAML_ALIAS_EVENT ||
                    event->type == YAML_MAPPING_START_EVENT ||
                    event->type == YAML_SEQUENCE_START_EVENT;
    if (is_value && *depth == 1) {
        if (*is_key && event->type == YAML_SCALAR_EVENT) {
            remember_key(file, event);
        } else if (!*is_key && file->key_count > 0) {
            remember_value(&file->keys[file->key_count - 1], event);
        }
        *is_key = !*is_key;
    }
    if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT) {
        ++*depth;
    }
    if (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT) {
        --*depth;
    }
}

// Finds all keys. The document must be a mapping, and the only one in the file.
static fm_status find_keys(struct file *file)
{
    yaml_parser_t parser;
    yaml_event_t event;
    uint32_t depth = 0, document_count = 0;
    bool is_key = true, at_end = false;
    fm_status status = FM_OK;
    if (!yaml_parser_initialize(&parser)) {
        return FM_ERR_NO_MEMORY;
    }
    yaml_parser_set_input_string(&parser, file->bytes, file->size);
    while (status == FM_OK && !at_end) {
        if (!yaml_parser_parse(&parser, &event)) {
            snprintf(file->error, FM_CONFIG_ERROR_SIZE, "%.300s:%zu: %s", file->path,
                     parser.problem_mark.line + 1,
                     parser.problem != NULL ? parser.problem : "not YAML");
            status = FM_ERR_BAD_FORMAT;
            break;
        }
        document_count += event.type == YAML_DOCUMENT_START_EVENT;
        bool is_list = depth == 0 &&
                       (event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT);
        if (is_list || document_count > 1) {
            snprintf(file->error, FM_CONFIG_ERROR_SIZE, "%.300s:%zu: %s", file->path,
                     event.start_mark.line + 1,
                     is_list ? "lines of 'key: value' are expected" : "a second document");
            status = FM_ERR_BAD_FORMAT;
        }
        walk(file, &event, &depth, &is_key);
        at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

// ---- checking against the schema ----------------------------------------------------------------

// Keeps the first message; those that follow are only the path to it.
__attribute__((format(printf, 3, 0))) static void
on_cyaml_log(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    struct file *file = context;
    if (level == CYAML_LOG_ERROR && file->complaint[0] == '\0') {
        vsnprintf(file->complaint, sizeof file->complaint, format, arguments);
        file->complaint[strcspn(file->complaint, "\n")] = '\0';
    }
}

static uint32_t count_before(const struct file *file, uint32_t index)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < index; i++) {
        count += strcmp(file->keys[i].name, file->keys[index].name) == 0;
    }
    return count;
}

// "; perhaps tick_hz" for the name of a key that there is not, or "".
static const char *hint_for(const char *name, fm_name_hint *hint)
{
    fm_name_hint_begin(hint, name);
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        fm_name_hint_offer(hint, fm_config_keys[i].name);
    }
    return fm_name_hint_text(hint);
}

static const char *fault_of(const struct file *file, uint32_t index)
{
    if (fm_config_key_find(file->keys[index].name) == NULL) {
        return "there is no such key";
    }
    if (count_before(file, index) > 0) {
        return "given twice";
    }
    return file->keys[index].value != NULL ? NULL : "a single short value is expected";
}

// Reports all faults among the keys, and keeps the valid keys so that their values can be checked.
// Returns whether there was a fault.
static bool explain(struct file *file, fm_config_entry *entries)
{
    bool is_wrong = false;
    for (uint32_t i = 0; i < file->key_count; i++) {
        const char *fault = fault_of(file, i);
        if (fault != NULL) {
            const char *name = file->keys[i].name;
            fm_name_hint hint;
            snprintf(file->error, sizeof file->error, "%.300s:%u: %s: %s%s", file->path,
                     file->keys[i].line, name, fault,
                     fm_config_key_find(name) == NULL ? hint_for(name, &hint) : "");
            file->tell(file->context, file->error);
            is_wrong = true;
        }
    }
    for (uint32_t i = 0; is_wrong && i < file->key_count; i++) {
        if (fault_of(file, i) == NULL) {
            fm_config_entry *entry =
                &entries[fm_config_key_find(file->keys[i].name) - fm_config_keys];
            *entry = (fm_config_entry){file->keys[i].value, file->keys[i].line};
            file->keys[i].value = NULL;
        }
    }
    file->error[0] = '\0';
    return is_wrong;
}

static uint32_t line_of(const struct file *file, const char *name)
{
    for (uint32_t i = 0; i < file->key_count; i++) {
        if (strcmp(file->keys[i].name, name) == 0) {
            return file->keys[i].line;
        }
    }
    return 0;
}

static fm_status check_schema(struct file *file, fm_config_entry *entries)
{
    const cyaml_config_t options = {
        .log_fn = on_cyaml_log,
        .log_ctx = file,
        .log_level = CYAML_LOG_WARNING,
        .mem_fn = cyaml_mem,
        .flags = CYAML_CFG_NO_ALIAS,
    };
    struct document *document = NULL;
    cyaml_err_t result = cyaml_load_data(file->bytes, file->size, &options, &document_schema,
                                         (cyaml_data_t **)&document, NULL);
    if (result == CYAML_ERR_OOM) {
        return FM_ERR_NO_MEMORY;
    }
    // libcyaml stops at the first key that it refuses, but reports the line of the value before it,
    // in words for programmers; the keys found by the walk give better messages. It also cuts a
    // value at a NUL where it should refuse it.
    bool is_explained = explain(file, entries);
    if (is_explained || result != CYAML_OK) {
        if (!is_explained) {
            snprintf(file->error, FM_CONFIG_ERROR_SIZE, "%.300s: %s", file->path,
                     file->complaint[0] != '\0' ? file->complaint : cyaml_strerror(result));
        }
        cyaml_free(&options, &document_schema, document, 0);
        return FM_ERR_BAD_FORMAT;
    }
    // Takes over the texts: cyaml_mem() is realloc() and free().
    char **texts = (char **)document;
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        entries[i] = (fm_config_entry){0};
        if (texts != NULL && texts[i] != NULL) {
            entries[i].text = texts[i];
            entries[i].line = line_of(file, fm_config_keys[i].name);
            texts[i] = NULL;
        }
    }
    cyaml_free(&options, &document_schema, document, 0);
    return FM_OK;
}

// ---- what others call ---------------------------------------------------------------------------

fm_status fm_config_file_read(const char *path, fm_config_entry *entries, fm_config_tell *tell,
                              void *context)
{
    struct file *file = calloc(1, sizeof *file);
    char error[FM_CONFIG_ERROR_SIZE];
    snprintf(error, sizeof error, "%.300s: out of memory", path);
    if (file == NULL) {
        tell(context, error);
        return FM_ERR_NO_MEMORY;
    }
    file->path = path;
    file->tell = tell;
    file->context = context;
    fm_status status = read_bytes(file);
    if (status == FM_OK) {
        status = find_keys(file);
    }
    if (status == FM_OK) {
        status = check_schema(file, entries);
    }
    if (status == FM_ERR_NO_MEMORY) {
        tell(context, error);
    } else if (file->error[0] != '\0') {
        tell(context, file->error);
    }
    for (uint32_t i = 0; i < file->key_count; i++) {
        free(file->keys[i].value);
    }
    free(file->bytes);
    free(file);
    return status;
}

void fm_config_entries_fini(fm_config_entry *entries)
{
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        free(entries[i].text);
        entries[i].text = NULL;
    }
}
