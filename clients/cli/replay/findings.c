// clients/cli/replay/findings.c: see findings.h.

#include "clients/cli/replay/findings.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"

#include <stdio.h>

void fm_findings_find(const fm_cli *cli, fm_world *a, fm_world *b, uint64_t tick,
                      fm_findings *findings)
{
    fm_world *const worlds[2] = {a, b};
    if (fm_world_diff(worlds, findings->list, FM_FINDINGS_SHOWN, &findings->total) != FM_OK) {
        fm_cli_die(cli, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    }
    findings->tick = tick;
    findings->looked = true;
}

static uint32_t shown_count(const fm_findings *findings)
{
    return findings->total < FM_FINDINGS_SHOWN ? (uint32_t)findings->total : FM_FINDINGS_SHOWN;
}

static void print_subject(const fm_difference *difference)
{
    printf("  %s", fm_difference_kind_name(difference->kind));
    if (difference->kind == FM_DIFFERENCE_CELL) {
        printf(" %u,%u", fm_cell_x(difference->cell), fm_cell_y(difference->cell));
    } else if (difference->kind != FM_DIFFERENCE_WORLD) {
        printf(" %llu", (unsigned long long)difference->id);
    }
    printf(", %s: ", difference->field);
}

void fm_findings_print(const fm_findings *findings, const char *const names[2])
{
    if (findings->total == 0) {
        printf("After tick %llu agents, teams and maps are alike: only searches differ.\n",
               (unsigned long long)findings->tick);
        return;
    }
    printf("After tick %llu there %s %s difference%s:\n", (unsigned long long)findings->tick,
           findings->total == 1 ? "is" : "are", fm_report_grouped(findings->total),
           findings->total == 1 ? "" : "s");
    for (uint32_t i = 0; i < shown_count(findings); i++) {
        const fm_difference *difference = &findings->list[i];
        print_subject(difference);
        printf("%s %s, %s %s\n", difference->values[0], names[0], difference->values[1], names[1]);
    }
    if (findings->total > FM_FINDINGS_SHOWN) {
        puts("  ...");
    }
}

void fm_findings_print_json(const fm_findings *findings, const char *const names[2])
{
    printf(",\"looked\":%s,\"compared_tick\":%llu,\"different_fields\":%llu,\"fields\":[",
           findings->looked ? "true" : "false", (unsigned long long)findings->tick,
           (unsigned long long)findings->total);
    for (uint32_t i = 0; i < shown_count(findings); i++) {
        const fm_difference *difference = &findings->list[i];
        printf("%s{\"of\":\"%s\",\"id\":%llu", i == 0 ? "" : ",",
               fm_difference_kind_name(difference->kind), (unsigned long long)difference->id);
        if (difference->kind == FM_DIFFERENCE_CELL) {
            printf(",\"cell\":[%u,%u]", fm_cell_x(difference->cell), fm_cell_y(difference->cell));
        }
        fm_json_print_member("field", difference->field);
        fm_json_print_member(names[0], difference->values[0]);
        fm_json_print_member(names[1], difference->values[1]);
        putchar('}');
    }
    putchar(']');
}
