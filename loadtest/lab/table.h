// loadtest/lab/table.h: the rows that an experiment ends in, printed as aligned text for people, as
// JSON for programs, or as markdown for a README.
//
// Each column knows its key in JSON and its heading for people. A mean with its confidence interval
// is one column: "1234.5 ± 6.7" for people, two members KEY_mean and KEY_ci95 in JSON.

#pragma once

#include "loadtest/lab/statistics.h"

#include <stdio.h>

#define FM_TABLE_COLUMNS_MAX 24u

typedef enum fm_column_kind {
    FM_COLUMN_TEXT,
    FM_COLUMN_NUMBER, // may be NAN: a dash, and null in JSON
    FM_COLUMN_MEAN,   // with its interval
} fm_column_kind;

typedef struct fm_column {
    const char *key;     // in JSON
    const char *heading; // for people; NULL: in JSON only
    fm_column_kind kind;
    int decimals;
} fm_column;

typedef struct fm_table_cell {
    char *text; // of the table; NULL in columns of numbers
    double number;
    double ci95;
} fm_table_cell;

typedef struct fm_table {
    const fm_column *columns;
    uint32_t column_count;
    uint32_t row_count;
    uint32_t filled; // cells of the last row
    fm_table_cell *cells;
    uint32_t capacity; // rows
} fm_table;

/// Sets up an empty table. `columns` outlive it.
void fm_table_init(fm_table *table, const fm_column *columns, uint32_t column_count);

void fm_table_fini(fm_table *table);

/// Begins a row; its cells are then added from left to right, each as its column's kind wants it
/// (asserted). Texts of any length are copied. Without memory the program ends.
void fm_table_row(fm_table *table);
void fm_table_text(fm_table *table, const char *text);
void fm_table_number(fm_table *table, double number);
void fm_table_mean(fm_table *table, const fm_sample *sample);
void fm_table_interval(fm_table *table, double mean, double ci95);

void fm_table_print(const fm_table *table, FILE *file);
void fm_table_print_markdown(const fm_table *table, FILE *file);

/// With a line of keys first; texts that hold commas are quoted.
void fm_table_print_csv(const fm_table *table, FILE *file);

/// A JSON array of objects, one for each row.
void fm_table_print_json(const fm_table *table, FILE *file);
