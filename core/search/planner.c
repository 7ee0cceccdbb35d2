// core/search/planner.c: see planner.h. What is the same for all planners.

#include "core/search/planner.h"

#include <stdio.h>
#include <string.h>

bool fm_planner_spec_equals(const fm_planner_spec *a, const fm_planner_spec *b)
{
    return a->ops == b->ops && a->options.queue == b->options.queue &&
           a->options.ties == b->options.ties && a->options.step == b->options.step &&
           a->options.lookahead == b->options.lookahead &&
           a->options.field.weight == b->options.field.weight &&
           a->options.field.period == b->options.field.period &&
           a->options.field.horizon == b->options.field.horizon &&
           a->options.field.full == b->options.field.full &&
           a->options.heuristic == b->options.heuristic;
}

bool fm_planner_spec_fits(const fm_planner_spec *spec, fm_connectivity connectivity, bool weighted)
{
    bool uniform = connectivity == FM_CONNECT_8 && !weighted;
    bool consistent = fm_heuristic_kind_is_consistent(spec->options.heuristic, connectivity);
    return (!spec->ops->uniform_only || uniform) &&
           (spec->ops->guidance != FM_GUIDED_BY_CONSISTENT || consistent);
}

// "1.1," for 1100: without trailing zeros.
static void format_field(const fm_field_options *field, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    if (field->weight != 0) {
        char digits[8];
        snprintf(digits, sizeof digits, "%03u", field->weight % FM_WEIGHT_UNIT);
        size_t kept = 3;
        while (kept > 0 && digits[kept - 1] == '0') {
            digits[--kept] = '\0';
        }
        length += (size_t)snprintf(text + length, size - length, "weight=%u%s%s,",
                                   field->weight / FM_WEIGHT_UNIT, kept > 0 ? "." : "", digits);
    }
    if (field->period != 0) {
        length += (size_t)snprintf(text + length, size - length, "period=%u,", field->period);
    }
    if (field->horizon != 0) {
        length += (size_t)snprintf(text + length, size - length, "horizon=%u,",
                                   field->horizon == FM_HORIZON_NONE ? 0u : field->horizon);
    }
    if (field->full != 0) {
        snprintf(text + length, size - length, "full=%u,", field->full);
    }
}

void fm_planner_spec_format(const fm_planner_spec *spec, char *text, size_t size)
{
    const fm_planner_options *options = &spec->options;
    char lookahead[32] = "";
    if (options->lookahead != 0) {
        snprintf(lookahead, sizeof lookahead, "lookahead=%u,", options->lookahead);
    }
    char heuristic[32] = "";
    if (options->heuristic != FM_HEURISTIC_DEFAULT) {
        snprintf(heuristic, sizeof heuristic, "heuristic=%s,",
                 fm_heuristic_name(options->heuristic));
    }
    char field[64] = "";
    format_field(&options->field, field, sizeof field);
    char list[FM_PLANNER_SPEC_SIZE + 64];
    snprintf(list, sizeof list, "%s%s%s%s%s%s",
             options->queue == FM_QUEUE_HEAP ? "queue=heap," : "",
             options->ties == FM_TIES_DEFAULT     ? ""
             : options->ties == FM_TIES_SMALLER_G ? "ties=smaller-g,"
                                                  : "ties=larger-g,",
             options->step == FM_STEP_FIRST ? "step=first," : "", lookahead, heuristic, field);
    size_t length = strlen(list);
    if (length > 0) {
        list[length - 1] = '\0'; // the last comma
    }
    snprintf(text, size, "%s%s%s", spec->ops->name, length > 0 ? ":" : "", list);
}

void fm_planner_guess_distances(const fm_view *view, fm_cell goal, fm_cell start, uint32_t moves,
                                uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    distances[FM_DIRECTION_COUNT] = fm_view_distance(view, start, goal);
    for (; moves != 0; moves &= moves - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(moves);
        distances[d] = fm_view_distance(view, fm_cell_step(start, d), goal);
    }
}

void fm_planner_distances(const fm_planner_ops *ops, const void *self, const fm_view *view,
                          fm_cell goal, fm_cell start, uint32_t moves,
                          uint32_t distances[FM_DIRECTION_COUNT + 1])
{
    if (ops->distances != NULL) {
        ops->distances(self, start, moves, distances);
    } else {
        fm_planner_guess_distances(view, goal, start, moves, distances);
    }
}
