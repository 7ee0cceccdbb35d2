// loadtest/lab/report.c: see report.h.

#include "loadtest/lab/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void print_json(const fm_lab *lab, const fm_table *table, const fm_report_fact *facts,
                       uint32_t fact_count)
{
    printf("{\"experiment\":\"%s\",\"seed\":%" PRIu64, lab->command->name, lab->seed);
    for (uint32_t i = 0; i < fact_count; i++) {
        printf(",\"%s\":%.10g", facts[i].key, facts[i].number);
    }
    fputs(",\"rows\":", stdout);
    fm_table_print_json(table, stdout);
    puts("}");
}

static void print_text(const fm_lab *lab, const fm_table *table, const fm_report_fact *facts,
                       uint32_t fact_count)
{
    printf("%s: seed %" PRIu64, lab->command->name, lab->seed);
    for (uint32_t i = 0; i < fact_count; i++) {
        printf(", %s %.10g", facts[i].key, facts[i].number);
    }
    puts("; ± is the 95 % confidence interval of the mean\n");
    fm_table_print(table, stdout);
}

void fm_lab_report_both(const fm_lab *lab, const fm_table *for_programs, const fm_table *for_people,
                        const fm_report_fact *facts, uint32_t fact_count)
{
    if (lab->json) {
        print_json(lab, for_programs, facts, fact_count);
    } else {
        print_text(lab, for_people, facts, fact_count);
    }
    if (lab->table == NULL) {
        return;
    }
    FILE *file = fopen(lab->table, "w");
    if (file != NULL) {
        fm_table_print_markdown(for_people, file);
    }
    if (file == NULL || fclose(file) != 0) {
        fm_lab_die(lab, "%s: %s", lab->table, strerror(errno));
    }
}

void fm_lab_report(const fm_lab *lab, const fm_table *table, const fm_report_fact *facts,
                   uint32_t fact_count)
{
    fm_lab_report_both(lab, table, table, facts, fact_count);
}

void fm_lab_report_numbers(const fm_lab *lab, const fm_column *columns, const double *numbers,
                           uint32_t count)
{
    fm_table table;
    fm_table_init(&table, columns, count);
    fm_table_row(&table);
    for (uint32_t i = 0; i < count; i++) {
        fm_table_number(&table, numbers[i]);
    }
    fm_lab_report(lab, &table, NULL, 0);
    fm_table_fini(&table);
}
