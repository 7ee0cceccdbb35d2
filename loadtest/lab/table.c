// loadtest/lab/table.c: see table.h.

#include "loadtest/lab/table.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_SIZE 128u // bytes of a number or a mean as text

void fm_table_init(fm_table *table, const fm_column *columns, uint32_t column_count)
{
    FM_ASSERT(column_count <= FM_TABLE_COLUMNS_MAX);
    *table = (fm_table){.columns = columns, .column_count = column_count};
}

static void fail_without_memory(void)
{
    fputs("fogmarch-lab: out of memory\n", stderr);
    exit(1);
}

void fm_table_fini(fm_table *table)
{
    size_t cell_count = 0;
    if (table->row_count > 0) {
        cell_count = (size_t)(table->row_count - 1) * table->column_count + table->filled;
    }
    for (size_t i = 0; i < cell_count; i++) {
        free(table->cells[i].text);
    }
    free(table->cells);
}

void fm_table_row(fm_table *table)
{
    FM_ASSERT(table->row_count == 0 || table->filled == table->column_count);
    if (!fm_reserve(&fm_memory_libc, (void **)&table->cells, &table->capacity, table->row_count + 1,
                    table->column_count * sizeof *table->cells)) {
        fail_without_memory();
    }
    table->row_count += 1;
    table->filled = 0;
}

static fm_table_cell *next_cell(fm_table *table, fm_column_kind kind)
{
    FM_ASSERT(table->row_count > 0 && table->filled < table->column_count);
    FM_ASSERT(table->columns[table->filled].kind == kind);
    fm_table_cell *cell =
        &table->cells[(size_t)(table->row_count - 1) * table->column_count + table->filled++];
    *cell = (fm_table_cell){.number = (double)NAN, .ci95 = (double)NAN};
    return cell;
}

void fm_table_text(fm_table *table, const char *text)
{
    fm_table_cell *cell = next_cell(table, FM_COLUMN_TEXT);
    cell->text = strdup(text);
    if (cell->text == NULL) {
        fail_without_memory();
    }
}

void fm_table_number(fm_table *table, double number)
{
    next_cell(table, FM_COLUMN_NUMBER)->number = number;
}

void fm_table_interval(fm_table *table, double mean, double ci95)
{
    fm_table_cell *cell = next_cell(table, FM_COLUMN_MEAN);
    cell->number = mean;
    cell->ci95 = ci95;
}

void fm_table_mean(fm_table *table, const fm_sample *sample)
{
    fm_table_interval(table, sample->count == 0 ? (double)NAN : sample->mean,
                      fm_sample_ci95(sample));
}

// ---- for people --------------------------------------------------------------------------------

// A cell as it is shown to people. A number is written into `text`, of SHOWN_SIZE bytes.
static const char *show(const fm_table *table, uint32_t row, uint32_t column, char *text)
{
    const fm_column *kind = &table->columns[column];
    const fm_table_cell *cell = &table->cells[(size_t)row * table->column_count + column];
    if (kind->kind == FM_COLUMN_TEXT) {
        return cell->text;
    }
    if (isnan(cell->number)) {
        snprintf(text, SHOWN_SIZE, "-");
    } else if (kind->kind == FM_COLUMN_NUMBER || isnan(cell->ci95)) {
        snprintf(text, SHOWN_SIZE, "%.*f", kind->decimals, cell->number);
    } else {
        snprintf(text, SHOWN_SIZE, "%.*f ± %.*f", kind->decimals, cell->number, kind->decimals,
                 cell->ci95);
    }
    return text;
}

// Columns on a terminal: bytes of UTF-8 that do not continue a character.
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) {
        width += ((uint8_t)*text & 0xc0) != 0x80;
    }
    return width;
}

static void pad(int width, FILE *file)
{
    for (; width > 0; width--) {
        fputc(' ', file);
    }
}

static void print_aligned(const char *text, int width, bool left, FILE *file)
{
    pad(left ? 0 : width - width_of(text), file);
    fputs(text, file);
    pad(left ? width - width_of(text) : 0, file);
}

static void print_lines(const fm_table *table, const char *before, const char *between,
                        const char *after, bool ruled, FILE *file)
{
    int widths[FM_TABLE_COLUMNS_MAX];
    char text[SHOWN_SIZE];
    for (uint32_t c = 0; c < table->column_count; c++) {
        widths[c] = table->columns[c].heading == NULL ? 0 : width_of(table->columns[c].heading);
        for (uint32_t r = 0; r < table->row_count; r++) {
            int width = width_of(show(table, r, c, text));
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (int64_t r = ruled ? -2 : -1; r < (int64_t)table->row_count; r++) {
        // With a rule: the headings are row -2 and the rule is row -1.
        bool heading = r == (ruled ? -2 : -1), rule = ruled && r == -1;
        const char *separator = before;
        for (uint32_t c = 0; c < table->column_count; c++) {
            bool left = table->columns[c].kind == FM_COLUMN_TEXT;
            if (table->columns[c].heading == NULL) {
                continue;
            }
            const char *shown = table->columns[c].heading;
            if (rule) {
                shown = left ? "---" : "---:";
            } else if (!heading) {
                shown = show(table, (uint32_t)r, c, text);
            }
            fputs(separator, file);
            print_aligned(shown, widths[c], left, file);
            separator = between;
        }
        fputs(after, file);
    }
}

void fm_table_print(const fm_table *table, FILE *file)
{
    print_lines(table, "", "  ", "\n", false, file);
}

void fm_table_print_markdown(const fm_table *table, FILE *file)
{
    print_lines(table, "| ", " | ", " |\n", true, file);
}

// ---- for programs ------------------------------------------------------------------------------

static void print_csv_cell(const fm_column *column, const fm_table_cell *cell, FILE *file)
{
    switch (column->kind) {
    case FM_COLUMN_TEXT:
        fprintf(file, strchr(cell->text, ',') == NULL ? "%s" : "\"%s\"", cell->text);
        return;
    case FM_COLUMN_NUMBER:
        fprintf(file, "%.*f", column->decimals, cell->number);
        return;
    case FM_COLUMN_MEAN:
        fprintf(file, "%.*f,%.*f", column->decimals, cell->number, column->decimals, cell->ci95);
        return;
    }
    FM_UNREACHABLE();
}

void fm_table_print_csv(const fm_table *table, FILE *file)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        const char *key = table->columns[c].key, *separator = c == 0 ? "" : ",";
        if (table->columns[c].kind == FM_COLUMN_MEAN) {
            fprintf(file, "%s%s_mean,%s_ci95", separator, key, key);
        } else {
            fprintf(file, "%s%s", separator, key);
        }
    }
    fputc('\n', file);
    for (uint32_t r = 0; r < table->row_count; r++) {
        for (uint32_t c = 0; c < table->column_count; c++) {
            fputs(c == 0 ? "" : ",", file);
            print_csv_cell(&table->columns[c], &table->cells[(size_t)r * table->column_count + c],
                           file);
        }
        fputc('\n', file);
    }
}

// A text as a JSON string.
static void put_json_text(const char *text, FILE *file)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(file, "\\%c", *text);
        } else if ((uint8_t)*text < ' ') {
            fprintf(file, "\\u%04x", (unsigned)*text);
        } else {
            fputc(*text, file);
        }
    }
    fputc('"', file);
}

static void print_json_number(double number, FILE *file)
{
    if (isfinite(number)) {
        fprintf(file, "%.10g", number);
    } else {
        fputs("null", file);
    }
}

static void print_json_cell(const fm_column *column, const fm_table_cell *cell, FILE *file)
{
    switch (column->kind) {
    case FM_COLUMN_TEXT:
        fprintf(file, "\"%s\":", column->key);
        put_json_text(cell->text, file);
        return;
    case FM_COLUMN_NUMBER:
        fprintf(file, "\"%s\":", column->key);
        print_json_number(cell->number, file);
        return;
    case FM_COLUMN_MEAN:
        fprintf(file, "\"%s_mean\":", column->key);
        print_json_number(cell->number, file);
        fprintf(file, ",\"%s_ci95\":", column->key);
        print_json_number(cell->ci95, file);
        return;
    }
    FM_UNREACHABLE();
}

void fm_table_print_json(const fm_table *table, FILE *file)
{
    fputc('[', file);
    for (uint32_t r = 0; r < table->row_count; r++) {
        fputs(r == 0 ? "{" : ",{", file);
        for (uint32_t c = 0; c < table->column_count; c++) {
            fputs(c == 0 ? "" : ",", file);
            print_json_cell(&table->columns[c], &table->cells[(size_t)r * table->column_count + c],
                            file);
        }
        fputc('}', file);
    }
    fputc(']', file);
}
