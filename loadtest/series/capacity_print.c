// loadtest/series/capacity_print.c: a capacity report as text, JSON and CSV. See capacity.h.

#include "loadtest/series/capacity.h"

#include <stdlib.h>

static void print_held(const fm_capacity_cell *cell, FILE *out)
{
    if (cell->was_held) {
        fprintf(out, "; over %llu ticks p99.9 %.1f ms%s%s", (unsigned long long)cell->held.ticks,
                cell->held.tick_ms.p999,
                cell->held_reason[0] == '\0' ? "" : ", not carried: ", cell->held_reason);
    }
}

void fm_capacity_print(const fm_capacity *capacity, FILE *out)
{
    fprintf(out, "%s on %s, %.0f s\n", capacity->mix, capacity->map, capacity->seconds);
    if (capacity->others_share >= FM_CAPACITY_OTHERS_MANY) {
        fprintf(out, "Other programs took %.0f %% of the processors: the machine carries more.\n",
                100 * capacity->others_share);
    }
    fputc('\n', out);
    fputs("workers    Hz  budget ms   agents  p50 ms  p99 ms  waiting %  why not more\n", out);
    for (uint32_t i = 0; i < capacity->cell_count; i++) {
        const fm_capacity_cell *cell = &capacity->cells[i];
        fprintf(out, "%7u %5g %10.1f %8u %7.1f %7.1f %10.1f  ", cell->workers, cell->tick_hz,
                cell->budget_ms, cell->agents, cell->result.tick_ms.p50, cell->result.tick_ms.p99,
                cell->result.waiting_percent);
        if (cell->agents_over > 0) {
            fprintf(out, "%u: %s", cell->agents_over, cell->reason);
        } else {
            fputs("no time to try", out);
        }
        print_held(cell, out);
        fputc('\n', out);
    }
    if (capacity->budget_count > 0) {
        fprintf(out,
                "\n%llu agents, %g Hz\n"
                "budget ms  path / shortest  stalls per agent  first move p99  waiting %%\n",
                (unsigned long long)capacity->budgets[0].agents, capacity->budgets[0].tick_hz);
    }
    for (uint32_t i = 0; i < capacity->budget_count; i++) {
        const fm_result *result = &capacity->budgets[i];
        double stalled = result->waiting_percent + result->blocked_percent;
        fprintf(out, "%9.1f %16.3f %17.2f %15.0f %10.1f\n", result->budget_ms, result->detour,
                stalled / 100 * (double)result->ticks, result->order_to_first_move_ticks.p99,
                result->waiting_percent);
    }
    if (capacity->budget_count > 0) {
        fputs("Where agents stall, only the beginnings of their paths are seen, which are "
              "straighter.\n",
              out);
    }
}

// ---- JSON ---------------------------------------------------------------------------------------

// A page ends its script at "</script>", wherever that stands.
static void print_escaped(const char *text, size_t size, FILE *out)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '<') {
            fputs("\\u003c", out);
        } else {
            fputc(text[i], out);
        }
    }
}

static void print_cells(const fm_capacity *capacity, FILE *out)
{
    fputs("\"cells\": [", out);
    for (uint32_t i = 0; i < capacity->cell_count; i++) {
        const fm_capacity_cell *cell = &capacity->cells[i];
        fprintf(out,
                "%s\n{\"workers\": %u, \"tick_hz\": %g, \"budget_ms\": %.9g, \"agents\": %u, "
                "\"agents_over\": %u, \"why_not_more\": ",
                i == 0 ? "" : ",", cell->workers, cell->tick_hz, cell->budget_ms, cell->agents,
                cell->agents_over);
        fm_result_print_text(cell->reason, out);
        fputs(", \"result\": ", out);
        if (cell->agents > 0) {
            fm_result_print_json(&cell->result, out);
        } else {
            fputs("null", out);
        }
        fputs(", \"held_reason\": ", out);
        fm_result_print_text(cell->held_reason, out);
        fputs(", \"held\": ", out);
        if (cell->was_held) {
            fm_result_print_json(&cell->held, out);
        } else {
            fputs("null", out);
        }
        fputs("}", out);
    }
    fputs("],\n", out);
}

static void print_tries(const fm_capacity *capacity, FILE *out)
{
    fputs("\"tries\": [", out);
    for (uint32_t i = 0; i < capacity->try_count; i++) {
        const fm_capacity_try *tried = &capacity->tries[i];
        fprintf(out,
                "%s\n{\"workers\": %u, \"tick_hz\": %g, \"budget_ms\": %.9g, \"agents\": %u, "
                "\"ticks\": %llu, \"p99_ms\": %g, \"why_not\": ",
                i == 0 ? "" : ",", tried->workers, tried->tick_hz, tried->budget_ms, tried->agents,
                (unsigned long long)tried->ticks, tried->p99_ms);
        fm_result_print_text(tried->reason, out);
        fputs("}", out);
    }
    fputs("]", out);
}

static void print_json(const fm_capacity *capacity, FILE *out)
{
    fputs("{\"mix\": ", out);
    fm_result_print_text(capacity->mix, out);
    fputs(", \"map\": ", out);
    fm_result_print_text(capacity->map, out);
    fprintf(out,
            ", \"seconds\": %.1f, \"budget_share\": %g, \"others_share\": %.3f, "
            "\"exclusive\": %s,\n",
            capacity->seconds, capacity->budget_share, capacity->others_share,
            capacity->exclusive ? "true" : "false");
    print_cells(capacity, out);
    fputs("\"budgets\": [", out);
    for (uint32_t i = 0; i < capacity->budget_count; i++) {
        fputs(i == 0 ? "\n" : ",\n", out);
        fm_result_print_json(&capacity->budgets[i], out);
    }
    fputs("],\n", out);
    print_tries(capacity, out);
    fputs("}\n", out);
}

void fm_capacity_print_json(const fm_capacity *capacity, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL) {
        print_json(capacity, memory);
        if (fclose(memory) == 0) {
            print_escaped(text, size, out);
        }
    }
    free(text);
}

// ---- CSV ----------------------------------------------------------------------------------------

static void print_row(const char *part, const fm_result *result, uint32_t over, FILE *out)
{
    fprintf(out, "%s,%u,", part, over);
    fm_result_print_csv(result, out);
}

void fm_capacity_print_csv(const fm_capacity *capacity, FILE *out)
{
    fputs("part,agents_over,", out);
    fm_result_print_csv_header(out);
    for (uint32_t i = 0; i < capacity->cell_count; i++) {
        const fm_capacity_cell *cell = &capacity->cells[i];
        if (cell->agents > 0) {
            print_row("carried", &cell->result, cell->agents_over, out);
        }
        if (cell->was_held) {
            print_row("held", &cell->held, 0, out);
        }
    }
    for (uint32_t i = 0; i < capacity->budget_count; i++) {
        print_row("budget", &capacity->budgets[i], 0, out);
    }
}
