// loadtest/lab/report.h: prints an experiment's table on stdout, as text or (--json) as one JSON
// object, and as markdown in the file that --table names.

#pragma once

#include "loadtest/lab/lab.h"
#include "loadtest/lab/table.h"

// A number that holds for the whole experiment.
typedef struct fm_report_fact {
    const char *key;
    double number;
} fm_report_fact;

/// Prints {"experiment": ..., "seed": ..., facts..., "rows": [...]} or the table, above it a line
/// with the seed and the facts. Ends the process when a file cannot be written.
void fm_lab_report(const fm_lab *lab, const fm_table *table, const fm_report_fact *facts,
                   uint32_t fact_count);

/// The same for one row of numbers, one for each column.
void fm_lab_report_numbers(const fm_lab *lab, const fm_column *columns, const double *numbers,
                           uint32_t count);

/// The same, with one table for programs and another for people.
void fm_lab_report_both(const fm_lab *lab, const fm_table *for_programs, const fm_table *for_people,
                        const fm_report_fact *facts, uint32_t fact_count);
