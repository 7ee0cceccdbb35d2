// loadtest/drive/scenario.c: see scenario.h.
//
// The schema is built at run time: one cyaml field per entry of the list, each a pointer that stays
// NULL when the file does not have the key. libcyaml checks the keys and which of them are
// mappings, lists or single values; the values come as text, because its own conversion would take
// 10Hz for 10 and any word for true. The text goes through the same checks as a flag's. A value
// that fails them is looked up again with libyaml to say on which line it stands; that happens on
// the way out only.

#include "loadtest/drive/scenario.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum kind {
    KIND_TEXT,
    KIND_CHOICE,
    KIND_BOOL,
    KIND_UINT,
    KIND_REAL,
    KIND_RANGE,
};

struct key {
    const char *section;
    const char *name;
    enum kind kind;
    size_t offset; // of the member in fm_scenario
    double minimum, maximum;
    const char *choices;
    const char *text;
};

static const struct key keys[] = {
#define FM_SCENARIO_TEXT(member, section, key, default_text, size_max, text)                       \
    {section, key, KIND_TEXT, offsetof(fm_scenario, member), 0, size_max, NULL, text},
#define FM_SCENARIO_CHOICE(member, section, key, default_text, choices, text)                      \
    {section, key, KIND_CHOICE, offsetof(fm_scenario, member), 0, 15, choices, text},
#define FM_SCENARIO_BOOL(member, section, key, default_value, text)                                \
    {section, key, KIND_BOOL, offsetof(fm_scenario, member), 0, 1, NULL, text},
#define FM_SCENARIO_UINT(member, section, key, default_value, minimum, maximum, text)              \
    {section, key, KIND_UINT, offsetof(fm_scenario, member), minimum, maximum, NULL, text},
#define FM_SCENARIO_REAL(member, section, key, default_value, minimum, maximum, text)              \
    {section, key, KIND_REAL, offsetof(fm_scenario, member), minimum, maximum, NULL, text},
#define FM_SCENARIO_RANGE(member, section, key, low_value, high_value, minimum, maximum, text)     \
    {section, key, KIND_RANGE, offsetof(fm_scenario, member), minimum, maximum, NULL, text},
#include "loadtest/drive/scenario.def"
};

#define KEY_COUNT    FM_COUNT_OF(keys)
#define SECTIONS_MAX 8u

fm_scenario fm_scenario_default(void)
{
    return (fm_scenario){
#define FM_SCENARIO_TEXT(member, section, key, default_text, size_max, text) .member = default_text,
#define FM_SCENARIO_CHOICE(member, section, key, default_text, choices, text)                      \
    .member = default_text,
#define FM_SCENARIO_BOOL(member, section, key, default_value, text) .member = default_value,
#define FM_SCENARIO_UINT(member, section, key, default_value, minimum, maximum, text)              \
    .member = default_value,
#define FM_SCENARIO_REAL(member, section, key, default_value, minimum, maximum, text)              \
    .member = default_value,
#define FM_SCENARIO_RANGE(member, section, key, low_value, high_value, minimum, maximum, text)     \
    .member = {low_value, high_value},
#include "loadtest/drive/scenario.def"
    };
}

// ---- one value ----------------------------------------------------------------------------------

// Whether `text` is one of the words of `choices`.
static bool is_choice(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (const char *word = choices; *word != '\0'; word += strspn(word, " ")) {
        size_t word_size = strcspn(word, " ");
        if (word_size == size && memcmp(word, text, size) == 0) {
            return true;
        }
        word += word_size;
    }
    return false;
}

fm_status fm_scenario_refuse(char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, FM_SCENARIO_ERROR_SIZE, format, arguments);
    va_end(arguments);
    return FM_ERR_BAD_VALUE;
}

static fm_status store_number(const struct key *key, double number, void *member, char *error)
{
    if (!(number >= key->minimum && number <= key->maximum)) {
        return fm_scenario_refuse(error, "%.16g is not in %.16g..%.16g", number, key->minimum,
                                  key->maximum);
    }
    if (key->kind == KIND_UINT && number != floor(number)) {
        return fm_scenario_refuse(error, "%.16g is not a whole number", number);
    }
    if (key->kind == KIND_UINT) {
        *(uint64_t *)member = (uint64_t)number;
    } else {
        *(double *)member = number;
    }
    return FM_OK;
}

static fm_status store_text(const struct key *key, const char *text, char *member, char *error)
{
    size_t size = strlen(text);
    if ((double)size > key->maximum) {
        return fm_scenario_refuse(error, "longer than %.0f bytes", key->maximum);
    }
    if (key->kind == KIND_CHOICE && !is_choice(key->choices, text)) {
        return fm_scenario_refuse(error, "'%s' is none of: %s", text, key->choices);
    }
    memcpy(member, text, size + 1);
    return FM_OK;
}

static fm_status read_number(const char *text, double *number, char *error)
{
    char *end;
    *number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*number)) {
        return fm_scenario_refuse(error, "'%s' is not a number", text);
    }
    return FM_OK;
}

static fm_status store_range(const struct key *key, char *const *pair, fm_range *member,
                             char *error)
{
    double low, high;
    fm_status status = read_number(pair[0], &low, error);
    if (status == FM_OK) {
        status = read_number(pair[1], &high, error);
    }
    if (status == FM_OK && !(low >= key->minimum && high <= key->maximum && low <= high)) {
        status =
            fm_scenario_refuse(error, "[%s, %s] is not two numbers that grow within %.16g..%.16g",
                               pair[0], pair[1], key->minimum, key->maximum);
    }
    if (status == FM_OK) {
        *member = (fm_range){low, high};
    }
    return status;
}

static fm_status store_bool(const char *text, bool *member, char *error)
{
    bool is_true = strcmp(text, "true") == 0;
    if (!is_true && strcmp(text, "false") != 0) {
        return fm_scenario_refuse(error, "'%s' is neither true nor false", text);
    }
    *member = is_true;
    return FM_OK;
}

// `given` is the value's text; of a range, an array of two texts.
static fm_status store(fm_scenario *scenario, const struct key *key, const void *given, char *error)
{
    void *member = (char *)scenario + key->offset;
    double number;
    switch (key->kind) {
    case KIND_TEXT:
    case KIND_CHOICE:
        return store_text(key, given, member, error);
    case KIND_BOOL:
        return store_bool(given, member, error);
    case KIND_UINT:
    case KIND_REAL:
        if (read_number(given, &number, error) != FM_OK) {
            return FM_ERR_BAD_VALUE;
        }
        return store_number(key, number, member, error);
    case KIND_RANGE:
        return store_range(key, given, member, error);
    }
    FM_UNREACHABLE();
}

fm_status fm_scenario_set(fm_scenario *scenario, const char *section, const char *name,
                          const char *text, char *error)
{
    const struct key *key = NULL;
    for (size_t i = 0; i < KEY_COUNT && key == NULL; i++) {
        bool same = strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0;
        key = same ? &keys[i] : NULL;
    }
    FM_ASSERT(key != NULL && key->kind != KIND_RANGE);
    return store(scenario, key, text, error);
}

// ---- lines --------------------------------------------------------------------------------------

// The pair of a mapping whose key is `name`; NULL when there is none.
static yaml_node_pair_t *find_pair(yaml_document_t *document, yaml_node_t *mapping,
                                   const char *name)
{
    if (mapping == NULL || mapping->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    yaml_node_pair_t *end = mapping->data.mapping.pairs.top;
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < end; pair++) {
        yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if (key != NULL && key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, name) == 0) {
            return pair;
        }
    }
    return NULL;
}

// The line on which a key stands, from 1; 0 when it cannot be found.
static size_t find_line(const char *path, const char *section, const char *name)
{
    size_t line = 0;
    yaml_parser_t parser;
    yaml_document_t document;
    FILE *file = fopen(path, "rb");
    if (file == NULL || !yaml_parser_initialize(&parser)) {
        goto close;
    }
    yaml_parser_set_input_file(&parser, file);
    if (yaml_parser_load(&parser, &document)) {
        yaml_node_t *mapping = yaml_document_get_root_node(&document);
        yaml_node_pair_t *pair;
        if (section[0] != '\0') {
            pair = find_pair(&document, mapping, section);
            mapping = pair == NULL ? NULL : yaml_document_get_node(&document, pair->value);
        }
        pair = find_pair(&document, mapping, name);
        yaml_node_t *key = pair == NULL ? NULL : yaml_document_get_node(&document, pair->key);
        line = key == NULL ? 0 : key->start_mark.line + 1;
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
close:
    if (file != NULL) {
        fclose(file);
    }
    return line;
}

// ---- the file -----------------------------------------------------------------------------------

// libcyaml's messages while it reads: first what is wrong, then a backtrace from the innermost
// place outward, from which come the line and the path of keys.
struct complaint {
    char what[256];
    char path[256]; // "agents.count"
    unsigned line;  // 0: not known
};

static void on_cyaml_log(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    (void)level;
    struct complaint *complaint = context;
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const char *place = strstr(text, "(line: ");
    if (place != NULL && complaint->line == 0) {
        complaint->line = (unsigned)strtoul(place + strlen("(line: "), NULL, 10);
    }
    const char *field = strstr(text, "mapping field '");
    if (place != NULL && field != NULL) {
        field += strlen("mapping field '");
        char inner[sizeof complaint->path];
        memcpy(inner, complaint->path, sizeof inner);
        snprintf(complaint->path, sizeof complaint->path, "%.*s%s%.200s", (int)strcspn(field, "'"),
                 field, inner[0] == '\0' ? "" : ".", inner);
    } else if (place == NULL && complaint->what[0] == '\0') {
        const char *what = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
        snprintf(complaint->what, sizeof complaint->what, "%.250s", what);
    }
}

// The schema of one file: the fields of each section, then the section as a field of the top level.
struct schema {
    cyaml_schema_field_t top[KEY_COUNT + SECTIONS_MAX + 1];
    cyaml_schema_field_t inner[KEY_COUNT + SECTIONS_MAX];
    cyaml_schema_value_t value;
};

// What libcyaml fills: one pointer per key, NULL where the file has none.
struct given {
    void *values[KEY_COUNT];
};

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static cyaml_schema_field_t field_of(const struct key *key, size_t offset)
{
    cyaml_schema_field_t field = {
        .key = key->name,
        .data_offset = (uint32_t)offset,
        .value = text_schema,
    };
    if (key->kind == KIND_RANGE) {
        field.value = (cyaml_schema_value_t){
            .type = CYAML_SEQUENCE_FIXED,
            .flags = CYAML_FLAG_POINTER,
            .data_size = sizeof(char *),
            .sequence = {.entry = &text_schema, .min = 2, .max = 2},
        };
    }
    field.value.flags |= CYAML_FLAG_OPTIONAL;
    return field;
}

static void schema_build(struct schema *schema)
{
    memset(schema, 0, sizeof *schema);
    size_t top_count = 0, inner_count = 0, section_begin = 0;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (keys[i].section[0] == '\0') {
            schema->top[top_count++] = field_of(&keys[i], i * sizeof(void *));
            continue;
        }
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0) {
            inner_count += inner_count > 0; // leaves a zeroed field: the end of the section before
            section_begin = i;
            schema->top[top_count++] = (cyaml_schema_field_t){
                .key = keys[i].section,
                .data_offset = (uint32_t)(i * sizeof(void *)),
                .value = {.type = CYAML_MAPPING,
                          .flags = CYAML_FLAG_OPTIONAL,
                          .mapping.fields = &schema->inner[inner_count]},
            };
        }
        schema->inner[inner_count++] = field_of(&keys[i], (i - section_begin) * sizeof(void *));
        schema->top[top_count - 1].value.data_size =
            (uint32_t)((i - section_begin + 1) * sizeof(void *));
    }
    FM_ASSERT(top_count < FM_COUNT_OF(schema->top) && inner_count < FM_COUNT_OF(schema->inner));
    schema->value = (cyaml_schema_value_t){
        .type = CYAML_MAPPING,
        .flags = CYAML_FLAG_POINTER,
        .data_size = sizeof(struct given),
        .mapping.fields = schema->top,
    };
}

static fm_status refuse_file(const char *path, cyaml_err_t code, const struct complaint *complaint,
                             char *error)
{
    if (code == CYAML_ERR_OOM) {
        snprintf(error, FM_SCENARIO_ERROR_SIZE, "%s: out of memory", path);
        return FM_ERR_NO_MEMORY;
    }
    if (code == CYAML_ERR_FILE_OPEN) {
        snprintf(error, FM_SCENARIO_ERROR_SIZE, "%s: %s", path, strerror(errno));
        return FM_ERR_IO;
    }
    size_t found = complaint->line;
    const char *unknown = strstr(complaint->what, "key: ");
    if (code == CYAML_ERR_INVALID_KEY && unknown != NULL) {
        // libcyaml gives the line of what it read before.
        found = find_line(path, complaint->path, unknown + strlen("key: "));
    }
    char line[24] = "";
    if (found > 0) {
        snprintf(line, sizeof line, ":%zu", found);
    }
    snprintf(error, FM_SCENARIO_ERROR_SIZE, "%s%s: %s%s%s", path, line, complaint->path,
             complaint->path[0] == '\0' ? "" : ": ",
             complaint->what[0] == '\0' ? cyaml_strerror(code) : complaint->what);
    return FM_ERR_BAD_FORMAT;
}

static fm_status store_all(const char *path, fm_scenario *scenario, const struct given *given,
                           char *error)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char reason[FM_SCENARIO_ERROR_SIZE];
        if (given->values[i] == NULL ||
            store(scenario, &keys[i], given->values[i], reason) == FM_OK) {
            continue;
        }
        snprintf(error, FM_SCENARIO_ERROR_SIZE, "%.1000s:%zu: %s%s%s: %.300s", path,
                 find_line(path, keys[i].section, keys[i].name), keys[i].section,
                 keys[i].section[0] == '\0' ? "" : ".", keys[i].name, reason);
        return FM_ERR_BAD_VALUE;
    }
    return FM_OK;
}

fm_status fm_scenario_read(const char *path, fm_scenario *scenario, char *error)
{
    struct schema schema;
    schema_build(&schema);
    struct complaint complaint = {0};
    const cyaml_config_t config = {
        .log_fn = on_cyaml_log,
        .log_ctx = &complaint,
        .log_level = CYAML_LOG_ERROR,
        .mem_fn = cyaml_mem,
    };
    struct given *given = NULL;
    cyaml_err_t code = cyaml_load_file(path, &config, &schema.value, (void **)&given, NULL);
    if (code != CYAML_OK) {
        return refuse_file(path, code, &complaint, error);
    }
    fm_scenario read = fm_scenario_default();
    fm_status status = given == NULL ? FM_OK : store_all(path, &read, given, error);
    if (status == FM_OK) {
        *scenario = read;
    }
    cyaml_free(&config, &schema.value, given, 0);
    return status;
}

// ---- the whole ----------------------------------------------------------------------------------

fm_status fm_scenario_check(const fm_scenario *scenario, char *error)
{
    if (scenario->neighbours != 4 && scenario->neighbours != 8) {
        return fm_scenario_refuse(error, "rules.neighbours: %llu is neither 4 nor 8",
                                  (unsigned long long)scenario->neighbours);
    }
    if (scenario->neighbours == 4 && scenario->corner_cutting) {
        return fm_scenario_refuse(error, "rules.corner_cutting: needs 8 neighbours");
    }
    uint32_t team_count = fm_scenario_team_count(scenario);
    if (team_count > scenario->agents) {
        return fm_scenario_refuse(error,
                                  "agents.teams: %u teams want at least as many agents, not %llu",
                                  team_count, (unsigned long long)scenario->agents);
    }
    if (team_count > FM_TEAMS_MAX) {
        return fm_scenario_refuse(error, "agents.teams: %u are more than a world can have (%u)",
                                  team_count, FM_TEAMS_MAX);
    }
    if (strcmp(scenario->placement, "bases") == 0 &&
        (strcmp(scenario->map_generator, "skirmish") != 0 || scenario->map_file[0] != '\0') &&
        team_count > FM_GENERATE_PLAYERS_MAX) {
        return fm_scenario_refuse(error, "agents.placement: bases are for %u teams at most",
                                  FM_GENERATE_PLAYERS_MAX);
    }
    if (scenario->name[strspn(scenario->name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0') {
        return fm_scenario_refuse(error,
                                  "name: only small letters, digits, _ and - go into file names");
    }
    return FM_OK;
}

void fm_scenario_print_keys(FILE *out)
{
    const char *section = "";
#define BEGIN(key_section)                                                                         \
    if (strcmp(section, key_section) != 0) {                                                       \
        fprintf(out, "%s:\n", key_section);                                                        \
        section = key_section;                                                                     \
    }
#define INDENT(key_section) ((int)(sizeof(key_section) > 1 ? 2 : 0))
#define FM_SCENARIO_TEXT(member, key_section, key, default_text, size_max, text)                   \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: \"%s\" # %s\n", INDENT(key_section), "", key, default_text, text);
#define FM_SCENARIO_CHOICE(member, key_section, key, default_text, choices, text)                  \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: %s # %s: %s\n", INDENT(key_section), "", key, default_text, choices, text);
#define FM_SCENARIO_BOOL(member, key_section, key, default_value, text)                            \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: %s # %s\n", INDENT(key_section), "", key,                                 \
            default_value ? "true" : "false", text);
#define FM_SCENARIO_UINT(member, key_section, key, default_value, minimum, maximum, text)          \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: %u # %.16g..%.16g: %s\n", INDENT(key_section), "", key, default_value,    \
            (double)(minimum), (double)(maximum), text);
#define FM_SCENARIO_REAL(member, key_section, key, default_value, minimum, maximum, text)          \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: %.16g # %.16g..%.16g: %s\n", INDENT(key_section), "", key,                \
            (double)(default_value), (double)(minimum), (double)(maximum), text);
#define FM_SCENARIO_RANGE(member, key_section, key, low_value, high_value, minimum, maximum, text) \
    BEGIN(key_section)                                                                             \
    fprintf(out, "%*s%s: [%.16g, %.16g] # %.16g..%.16g: %s\n", INDENT(key_section), "", key,       \
            (double)(low_value), (double)(high_value), (double)(minimum), (double)(maximum),       \
            text);
#include "loadtest/drive/scenario.def"
#undef BEGIN
#undef INDENT
}
