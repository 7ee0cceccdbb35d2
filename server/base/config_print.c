// server/base/config_print.c: see config_print.h.

#include "server/base/config_print.h"

#include "proto/quoted.h"
#include "server/base/reload.h"

#define TEXT_COLUMNS 80u // lines end before this column
#define FLAG_INDENT  10u // columns before the text of a flag

// The values a key can have, such as "0.1 to 1000, "; empty for texts.
static void describe_values(const fm_config_key *key, char *text, size_t size)
{
    text[0] = '\0';
    if (key->kind == FM_CONFIG_KIND_UINT || key->kind == FM_CONFIG_KIND_REAL) {
        snprintf(text, size, "%.15g to %.15g, ", key->minimum, key->maximum);
    }
    for (uint32_t i = 0; key->kind == FM_CONFIG_KIND_CHOICE && key->names[i] != NULL; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s, ", key->names[i]);
    }
}

// The text for a key: its text, then the values it can have, then its default.
static void describe(const fm_config_key *key, char *text, size_t size)
{
    char values[256];
    describe_values(key, values, sizeof values);
    int used = key->default_text[0] == '\0' ? snprintf(text, size, "%s", key->text)
                                            : snprintf(text, size, "%s (%sdefault %s)", key->text,
                                                       values, key->default_text);
    FM_ASSERT(used >= 0 && (size_t)used < size);
}

// Writes words, each line behind `prefix`.
static void print_wrapped(FILE *out, const char *prefix, const char *text)
{
    size_t column = TEXT_COLUMNS; // starts as if the line before were full
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column + 1 + word >= TEXT_COLUMNS) {
            fprintf(out, "%s%s", column == TEXT_COLUMNS ? "" : "\n", prefix);
            column = strlen(prefix);
        } else {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void fm_config_print(const fm_config *config, FILE *out)
{
    char text[1024];
    fprintf(out, "# Settings of fogmarchd. The token is not among them: see token_file.\n");
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        const fm_config_key *key = &fm_config_keys[i];
        const char *title = fm_config_group_title(key);
        if (title != NULL) {
            fprintf(out, "\n# ---- %s ----\n", title);
        }
        describe(key, text, sizeof text);
        if (fm_reload_is_possible(key)) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, " SIGHUP reads it again.");
        }
        fputc('\n', out);
        print_wrapped(out, "# ", text);
        fm_config_format(config, key, text, sizeof text);
        fprintf(out, "%s: ", key->name);
        if (key->kind == FM_CONFIG_KIND_TEXT) {
            fm_print_quoted(out, text);
        } else {
            fputs(text, out);
        }
        fputc('\n', out);
    }
}

void fm_config_print_flags(FILE *out)
{
    char text[1024], prefix[FLAG_INDENT + 1];
    snprintf(prefix, sizeof prefix, "%*s", (int)FLAG_INDENT, "");
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        const fm_config_key *key = &fm_config_keys[i];
        const char *title = fm_config_group_title(key);
        if (title != NULL) {
            fprintf(out, "\n%s:\n", title);
        }
        fprintf(out, "  --");
        for (const char *letter = key->name; *letter != '\0'; letter++) {
            fputc(*letter == '_' ? '-' : *letter, out);
        }
        if (key->value_name != NULL) {
            fprintf(out, " %s", key->value_name);
        }
        fputc('\n', out);
        describe(key, text, sizeof text);
        print_wrapped(out, prefix, text);
    }
}
