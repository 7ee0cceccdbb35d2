// proto/protocol_doc.c: writes what is generated from protocol.def: the tables in PROTOCOL.md and
// protocol.json, from which the clients in other languages are made.
//
// Both are kept in git, so that nobody needs a build to read them; `check` is the test that they
// are not stale. The program writes the part of PROTOCOL.md between the two marker lines; the rest
// is written by hand.
//
//   protocol_doc write PROTOCOL.md protocol.json
//   protocol_doc check PROTOCOL.md protocol.json

#include "core/planners/catalogue.h"
#include "proto/param_words.h"
#include "proto/protocol.h"
#include "proto/quoted.h"
#include "proto/scanner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char marker_begin[] = "<!-- generated from protocol.def: begin -->\n";
static const char marker_end[] = "<!-- generated from protocol.def: end -->\n";

static const struct {
    const char *name;
    const char *unit; // of the limits
} types[] = {
    [UINT] = {"uint", ""},       [REAL] = {"real", ""},         [BOOL] = {"bool", ""},
    [TEXT] = {"text", " bytes"}, [BYTES] = {"bytes", " bytes"}, [UINTS] = {"[uint]", " numbers"},
};

struct param {
    fm_field field; // FM_FIELD_COUNT ends the list
    enum param_type type;
    enum need need;
    double minimum, maximum;
    const char *text;
};

struct entry {
    const char *name; // NULL ends the list
    const char *type;
    const char *text;
};

struct message {
    const char *name;
    fm_role role;
    const char *text;
    const struct param *params; // NULL for notifications
    const struct entry *entries;
};

// Two passes over the list: one takes the parameters of each method, the other its results.
static const struct param *const params_of[FM_METHOD_COUNT] = {
#define PARAM(field, type, need, minimum, maximum, text)                                           \
    {field, type, need, minimum, maximum, text},
#define RESULT(name, type, text)
#define FM_METHOD(enumerator, name, role, text, fields)                                            \
    [enumerator] = (const struct param[]){fields{.field = FM_FIELD_COUNT}},
#include "proto/protocol.def"
#undef FM_METHOD
#undef RESULT
#undef PARAM
};

static const struct message methods[FM_METHOD_COUNT] = {
#define PARAM(field, type, need, minimum, maximum, text)
#define RESULT(name, type, text) {name, type, text},
#define FM_METHOD(enumerator, name, role, text, fields)                                            \
    [enumerator] = {name, role, text, NULL, (const struct entry[]){fields{NULL, NULL, NULL}}},
#include "proto/protocol.def"
#undef FM_METHOD
#undef PARAM
};

static const struct message notifications[FM_NOTIFICATION_COUNT] = {
#define FM_NOTIFICATION(enumerator, name, text, fields)                                            \
    [enumerator] = {name, FM_ROLE_NONE, text, NULL,                                                \
                    (const struct entry[]){fields{NULL, NULL, NULL}}},
#include "proto/protocol.def"
#undef FM_NOTIFICATION
#undef RESULT
};

// A closed list of numbers with names.
struct number {
    int value;
    const char *name;
    const char *text; // NULL where the name says it all
};

static const struct number roles[] = {
#define FM_ROLE(enumerator, name, text) {enumerator, name, text},
#include "proto/protocol.def"
#undef FM_ROLE
};

#define X(enumerator, name, text) {enumerator, name, text},
static const struct number statuses[] = {FM_STATUS_LIST(X)};
#undef X

#define X(enumerator, letter, name) {enumerator, name, NULL},
static const struct number terrains[] = {FM_TERRAIN_LIST(X)};
#undef X

#define X(enumerator, name) {enumerator, name, NULL},
static const struct number agent_states[] = {FM_AGENT_STATE_LIST(X)};
static const struct number order_kinds[] = {FM_ORDER_KIND_LIST(X)};
static const struct number on_unreachables[] = {FM_ON_UNREACHABLE_LIST(X)};
static const struct number order_ends[] = {FM_ORDER_END_LIST(X)};
#undef X

struct numbers {
    const char *key;   // in protocol.json
    const char *title; // in PROTOCOL.md
    const struct number *rows;
    size_t count;
    bool by_name; // on the wire it is the name that counts, not the number
};

static const struct numbers lists[] = {
    {"roles", "Roles, from least to most", roles, FM_COUNT_OF(roles), true},
    {"statuses", "Statuses: the code and name of an error", statuses, FM_COUNT_OF(statuses), false},
    {"terrains", "Terrains: the low 4 bits of a look", terrains, FM_COUNT_OF(terrains), false},
    {"agent_states", "States of agents", agent_states, FM_COUNT_OF(agent_states), false},
    {"order_ends", "Reasons for which orders end", order_ends, FM_COUNT_OF(order_ends), false},
    {"order_kinds", "Kinds of orders", order_kinds, FM_COUNT_OF(order_kinds), true},
    {"on_unreachable", "What an order does when its goal cannot be reached", on_unreachables,
     FM_COUNT_OF(on_unreachables), true},
};

#define PLANNERS_MAX 64u

// The catalogue is not a preprocessor list: its rows are made on first use.
static const struct numbers *planners(void)
{
    static struct number rows[PLANNERS_MAX];
    static struct numbers list = {"planners", "Planners", rows, 0, true};
    for (; fm_planner_catalogue[list.count] != NULL && list.count < PLANNERS_MAX; list.count++) {
        rows[list.count] =
            (struct number){(int)list.count, fm_planner_catalogue[list.count]->name, NULL};
    }
    return &list;
}

// ---- tables -------------------------------------------------------------------------------------

static void print_limit(FILE *out, double limit)
{
    if (limit == (double)FM_UINT_MAX) {
        fprintf(out, "2^53 - 1");
    } else {
        fprintf(out, "%.16g", limit);
    }
}

static void print_range(FILE *out, const struct param *param)
{
    if (param->type == BOOL) {
        return;
    }
    print_limit(out, param->minimum);
    if (param->minimum != param->maximum) {
        fprintf(out, "..");
        print_limit(out, param->maximum);
    }
    fprintf(out, "%s", types[param->type].unit);
}

static void print_params(FILE *out, const struct param *params)
{
    if (params->field == FM_FIELD_COUNT) {
        fprintf(out, "No parameters.\n\n");
        return;
    }
    fprintf(out, "| parameter | type | needed | range | meaning |\n|---|---|---|---|---|\n");
    for (; params->field != FM_FIELD_COUNT; params++) {
        fprintf(out, "| `%s` | %s | %s | ", fm_field_name(params->field), types[params->type].name,
                params->need == MUST ? "yes" : "");
        print_range(out, params);
        fprintf(out, " | %s |\n", params->text);
    }
    fprintf(out, "\n");
}

static void print_entries(FILE *out, const char *title, const struct entry *entries)
{
    if (entries->name == NULL) {
        fprintf(out, "The %s is an empty map.\n\n", title);
        return;
    }
    fprintf(out, "| %s | type | meaning |\n|---|---|---|\n", title);
    for (; entries->name != NULL; entries++) {
        fprintf(out, "| `%s` | %s | %s |\n", entries->name, entries->type, entries->text);
    }
    fprintf(out, "\n");
}

static void print_numbers(FILE *out, const struct numbers *list)
{
    bool has_texts = list->rows[0].text != NULL;
    fprintf(out, "### %s\n\n", list->title);
    fprintf(out, "| %sname |%s\n", list->by_name ? "" : "number | ", has_texts ? " meaning |" : "");
    fprintf(out, "|---|%s%s\n", list->by_name ? "" : "---|", has_texts ? "---|" : "");
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "| ");
        if (!list->by_name) {
            fprintf(out, "%d | ", list->rows[i].value);
        }
        fprintf(out, "`%s` |", list->rows[i].name);
        if (has_texts) {
            fprintf(out, " %s |", list->rows[i].text);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "\n");
}

static void print_tables(FILE *out)
{
    fprintf(out, "\n## Methods\n\n| method | lowest role | what it does |\n|---|---|---|\n");
    for (uint32_t i = 0; i < FM_METHOD_COUNT; i++) {
        fprintf(out, "| `%s` | %s | %s |\n", methods[i].name, fm_role_name(methods[i].role),
                methods[i].text);
    }
    fprintf(out, "\n");
    for (uint32_t i = 0; i < FM_METHOD_COUNT; i++) {
        fprintf(out, "### %s\n\n%s Lowest role: %s.\n\n", methods[i].name, methods[i].text,
                fm_role_name(methods[i].role));
        print_params(out, params_of[i]);
        print_entries(out, "result", methods[i].entries);
    }
    fprintf(out, "## Notifications\n\n");
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        fprintf(out, "### %s\n\n%s\n\n", notifications[i].name, notifications[i].text);
        print_entries(out, "entry", notifications[i].entries);
    }
    fprintf(out, "## Numbers and names\n\n");
    for (size_t i = 0; i < FM_COUNT_OF(lists); i++) {
        print_numbers(out, &lists[i]);
    }
    print_numbers(out, planners());
}

// ---- JSON ---------------------------------------------------------------------------------------

static void print_json_member(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    fm_print_quoted(out, text);
}

static void print_json_params(FILE *out, const struct param *params)
{
    fprintf(out, "      \"params\": [");
    for (const struct param *param = params; param->field != FM_FIELD_COUNT; param++) {
        fprintf(out, "%s\n        {", param == params ? "" : ",");
        print_json_member(out, "name", fm_field_name(param->field));
        fprintf(out, ", \"type\": \"%s\", \"required\": %s", types[param->type].name,
                param->need == MUST ? "true" : "false");
        if (param->type != BOOL) {
            fprintf(out, ", \"minimum\": %.16g, \"maximum\": %.16g", param->minimum,
                    param->maximum);
        }
        fprintf(out, ", ");
        print_json_member(out, "text", param->text);
        fprintf(out, "}");
    }
    fprintf(out, "],\n");
}

static void print_json_entries(FILE *out, const char *key, const struct entry *entries)
{
    fprintf(out, "      \"%s\": [", key);
    for (const struct entry *entry = entries; entry->name != NULL; entry++) {
        fprintf(out, "%s\n        {", entry == entries ? "" : ",");
        print_json_member(out, "name", entry->name);
        fprintf(out, ", ");
        print_json_member(out, "type", entry->type);
        fprintf(out, ", ");
        print_json_member(out, "text", entry->text);
        fprintf(out, "}");
    }
    fprintf(out, "]\n");
}

static void print_json_numbers(FILE *out, const struct numbers *list)
{
    fprintf(out, ",\n  \"%s\": [", list->key);
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "%s\n    {\"value\": %d, ", i == 0 ? "" : ",", list->rows[i].value);
        print_json_member(out, "name", list->rows[i].name);
        if (list->rows[i].text != NULL) {
            fprintf(out, ", ");
            print_json_member(out, "text", list->rows[i].text);
        }
        fprintf(out, "}");
    }
    fprintf(out, "\n  ]");
}

static void print_json_message_head(FILE *out, const struct message *message, bool is_first)
{
    fprintf(out, "%s\n    {\n      ", is_first ? "" : ",");
    print_json_member(out, "name", message->name);
    fprintf(out, ",\n      ");
    print_json_member(out, "text", message->text);
    fprintf(out, ",\n");
}

static void print_json(FILE *out)
{
    fprintf(out,
            "{\n  \"protocol\": %u,\n  \"uint_max\": %" PRIu64
            ",\n  \"limits\": {\"message_size\": "
            "%" PRIu32 ", \"depth\": %" PRIu32 ", \"elements\": %" PRIu32 "},\n  \"methods\": [",
            FM_PROTOCOL_NUMBER, FM_UINT_MAX, fm_scan_limits_default.size_max,
            fm_scan_limits_default.depth_max, fm_scan_limits_default.elements_max);
    for (uint32_t i = 0; i < FM_METHOD_COUNT; i++) {
        print_json_message_head(out, &methods[i], i == 0);
        fprintf(out, "      \"role\": \"%s\",\n", fm_role_name(methods[i].role));
        print_json_params(out, params_of[i]);
        print_json_entries(out, "results", methods[i].entries);
        fprintf(out, "    }");
    }
    fprintf(out, "\n  ],\n  \"notifications\": [");
    for (uint32_t i = 0; i < FM_NOTIFICATION_COUNT; i++) {
        print_json_message_head(out, &notifications[i], i == 0);
        print_json_entries(out, "entries", notifications[i].entries);
        fprintf(out, "    }");
    }
    fprintf(out, "\n  ]");
    for (size_t i = 0; i < FM_COUNT_OF(lists); i++) {
        print_json_numbers(out, &lists[i]);
    }
    print_json_numbers(out, planners());
    fprintf(out, "\n}\n");
}

// ---- files --------------------------------------------------------------------------------------

static _Noreturn void give_up(const char *path, const char *why)
{
    fprintf(stderr, "protocol_doc: %s: %s\n", path, why);
    exit(2);
}

// The whole file as a string; empty if the file is missing, so that it can be written.
static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return errno == ENOENT ? strdup("") : NULL;
    }
    ssize_t taken = getdelim(&text, &size, '\0', file);
    fclose(file);
    if (taken < 0) {
        free(text);
        return strdup("");
    }
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        give_up(path, strerror(errno));
    }
}

// What PROTOCOL.md should be: its handwritten text around fresh tables.
static char *renew_document(const char *path, const char *old)
{
    const char *begin = strstr(old, marker_begin), *end = strstr(old, marker_end);
    if (begin == NULL || end == NULL || end < begin) {
        give_up(path, "the lines that mark the generated part are missing");
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        give_up(path, strerror(errno));
    }
    begin += strlen(marker_begin);
    fwrite(old, 1, (size_t)(begin - old), out);
    print_tables(out);
    fputs(end, out);
    fclose(out);
    return text;
}

static char *renew_json(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        give_up(path, strerror(errno));
    }
    print_json(out);
    fclose(out);
    return text;
}

// Brings one file up to date, or says that it is not.
static bool settle(const char *path, const char *old, const char *fresh, bool may_write)
{
    if (strcmp(old, fresh) == 0) {
        return true;
    }
    if (may_write) {
        write_file(path, fresh);
        return true;
    }
    fprintf(stderr,
            "%s is older than protocol.def; renew it: cmake --build --preset release "
            "--target protocol-doc\n",
            path);
    return false;
}

int main(int argc, char **argv)
{
    bool may_write = argc == 4 && strcmp(argv[1], "write") == 0;
    if (argc != 4 || (!may_write && strcmp(argv[1], "check") != 0)) {
        fprintf(stderr, "usage: protocol_doc write|check PROTOCOL.md protocol.json\n");
        return 2;
    }
    char *old_document = read_file(argv[2]), *old_json = read_file(argv[3]);
    if (old_document == NULL || old_json == NULL) {
        give_up(old_document == NULL ? argv[2] : argv[3], strerror(errno));
    }
    char *document = renew_document(argv[2], old_document), *json = renew_json(argv[3]);
    bool is_current = settle(argv[2], old_document, document, may_write);
    is_current &= settle(argv[3], old_json, json, may_write);
    free(old_document);
    free(old_json);
    free(document);
    free(json);
    return is_current ? 0 : 1;
}
