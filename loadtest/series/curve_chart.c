// loadtest/series/curve_chart.c: see curve_chart.h.
//
// Panels stand two by two. All have the same horizontal axis, the number of agents; the vertical
// axis of each begins at 0 and ends at the next round number. Coordinates are pixels, from the top
// left.

#include "loadtest/series/curve_chart.h"

#include <math.h>
#include <string.h>

#define WIDTH        960
#define HEIGHT       700
#define PLOT_WIDTH   370.0
#define PLOT_HEIGHT  205.0
#define STEPS_WANTED 5 // of an axis
#define LINES_MAX    3 // of a panel

struct line {
    const char *name;
    const char *color;
    bool dashed; // a bound that was not measured
    double (*value)(const fm_result *);
};

struct panel {
    const char *title; // with the unit
    struct line lines[LINES_MAX];
    uint32_t line_count;
    double step_min; // of the vertical axis
};

static double moves(const fm_result *result)
{
    return result->moves_per_second;
}

static double moves_of_all(const fm_result *result)
{
    return (double)result->agents * result->tick_hz;
}

static double waiting(const fm_result *result)
{
    return result->waiting_percent;
}

static double tick_p50(const fm_result *result)
{
    return result->tick_ms.p50;
}

static double tick_p99(const fm_result *result)
{
    return result->tick_ms.p99;
}

static double budget(const fm_result *result)
{
    return result->budget_ms;
}

#define BLUE   "#1f6fb4"
#define ORANGE "#d1661a"
#define GRAY   "#777777"

static const struct panel panels[] = {
    {"moves a second",
     {{"done", BLUE, false, moves}, {"all agents, every tick", GRAY, true, moves_of_all}},
     2,
     0},
    {"agents that wait for a search, %", {{"waiting", BLUE, false, waiting}}, 1, 0},
    {"ticks from order to first move (64: or more)",
     {{"p50", BLUE, false, fm_result_first_move_p50},
      {"p99", ORANGE, false, fm_result_first_move_p99}},
     2,
     1},
    {"time of a tick, ms",
     {{"p50", BLUE, false, tick_p50},
      {"p99", ORANGE, false, tick_p99},
      {"budget", GRAY, true, budget}},
     3,
     0},
};

// ---- axes ---------------------------------------------------------------------------------------

struct axis {
    double step, end; // from 0
};

// Steps of 1, 2 or 5 times a power of ten.
static struct axis axis_to(double largest, double step_min)
{
    if (!(largest > 0)) {
        largest = 1;
    }
    double power = pow(10, floor(log10(largest / STEPS_WANTED)));
    double rough = largest / STEPS_WANTED / power; // 1..10
    double step = power * (rough <= 1 ? 1 : rough <= 2 ? 2 : rough <= 5 ? 5 : 10);
    step = fmax(step, step_min);
    return (struct axis){step, step * ceil(largest / step - 1e-9)};
}

// 1500000 as "1.5 M", 20000 as "20 k".
static void put_number(double number, FILE *out)
{
    if (number >= 1e6) {
        fprintf(out, "%g M", number / 1e6);
    } else if (number >= 1e4) {
        fprintf(out, "%g k", number / 1e3);
    } else {
        fprintf(out, "%g", number);
    }
}

static void put_text(const char *text, FILE *out)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        default:
            fputc(*c, out);
        }
    }
}

// Where a panel stands, and what its axes measure.
struct plot {
    double left, top;
    struct axis x, y;
};

static double x_of(const struct plot *plot, double agents)
{
    return plot->left + PLOT_WIDTH * agents / plot->x.end;
}

static double y_of(const struct plot *plot, double value)
{
    return plot->top + PLOT_HEIGHT * (1 - value / plot->y.end);
}

static void put_axes(const struct plot *plot, FILE *out)
{
    double bottom = plot->top + PLOT_HEIGHT, right = plot->left + PLOT_WIDTH;
    for (double value = 0; value <= plot->y.end * (1 + 1e-9); value += plot->y.step) {
        double y = y_of(plot, value);
        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", plot->left, y, right);
        fprintf(out, "<text class=\"y\" x=\"%.1f\" y=\"%.1f\">", plot->left - 7, y + 4);
        put_number(value, out);
        fputs("</text>\n", out);
    }
    for (double value = 0; value <= plot->x.end * (1 + 1e-9); value += plot->x.step) {
        double x = x_of(plot, value);
        fprintf(out, "<path class=\"tick\" d=\"M%.1f %.1fv5\"/>", x, bottom);
        fprintf(out, "<text class=\"x\" x=\"%.1f\" y=\"%.1f\">", x, bottom + 19);
        put_number(value, out);
        fputs("</text>\n", out);
    }
    fprintf(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", plot->left, plot->top, bottom,
            right);
    fprintf(out, "<text class=\"x\" x=\"%.1f\" y=\"%.1f\">agents</text>\n",
            plot->left + PLOT_WIDTH / 2, bottom + 37);
}

// ---- panels -------------------------------------------------------------------------------------

// The vertical axis covers what was measured. Bounds widen it only when nothing much is lost by it.
static double largest_of(const struct panel *panel, const fm_result *results, uint32_t count)
{
    double measured = 0, bound = 0;
    for (uint32_t k = 0; k < panel->line_count; k++) {
        for (uint32_t i = 0; i < count; i++) {
            double value = panel->lines[k].value(&results[i]);
            double *largest = panel->lines[k].dashed ? &bound : &measured;
            *largest = fmax(*largest, value);
        }
    }
    return bound <= 2 * measured ? fmax(measured, bound) : measured;
}

static void put_line(const struct plot *plot, const struct line *line, const fm_result *results,
                     uint32_t count, FILE *out)
{
    fprintf(out, "<path class=\"line\" stroke=\"%s\"%s d=\"", line->color,
            line->dashed ? " stroke-dasharray=\"5 4\"" : "");
    char verb = 'M';
    for (uint32_t i = 0; i < count; i++) {
        double value = line->value(&results[i]);
        if (!isnan(value)) {
            fprintf(out, "%c%.1f %.1f", verb, x_of(plot, (double)results[i].agents),
                    y_of(plot, value));
            verb = 'L';
        }
    }
    fputs("\"/>\n", out);
    for (uint32_t i = 0; i < count && !line->dashed; i++) {
        if (isnan(line->value(&results[i]))) {
            continue;
        }
        fprintf(out, "<circle fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", line->color,
                x_of(plot, (double)results[i].agents), y_of(plot, line->value(&results[i])));
    }
}

// The names of the lines, in one row above the plot.
static void put_legend(const struct plot *plot, const struct panel *panel, FILE *out)
{
    double x = plot->left;
    for (uint32_t k = 0; k < panel->line_count; k++) {
        const struct line *line = &panel->lines[k];
        fprintf(out, "<path class=\"line\" stroke=\"%s\"%s d=\"M%.1f %.1fh22\"/>", line->color,
                line->dashed ? " stroke-dasharray=\"5 4\"" : "", x, plot->top - 13);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 28, plot->top - 9, line->name);
        x += 50 + 7.5 * (double)strlen(line->name);
    }
}

static void put_panel(uint32_t index, const fm_result *results, uint32_t count, FILE *out)
{
    const struct panel *panel = &panels[index];
    struct plot plot = {
        .left = 70 + 475.0 * (index % 2),
        .top = 118 + 300.0 * (index / 2),
        .x = axis_to((double)results[count - 1].agents, 1),
        .y = axis_to(largest_of(panel, results, count), panel->step_min),
    };
    fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", plot.left - 48,
            plot.top - 30, panel->title);
    put_axes(&plot, out);
    if (panel->line_count > 1) {
        put_legend(&plot, panel, out);
    }
    // Bounds may leave the plot at the top.
    fprintf(out,
            "<svg x=\"0\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" viewBox=\"0 %.1f %d %.1f\">\n",
            plot.top - 5, WIDTH, PLOT_HEIGHT + 10, plot.top - 5, WIDTH, PLOT_HEIGHT + 10);
    for (uint32_t k = 0; k < panel->line_count; k++) {
        put_line(&plot, &panel->lines[k], results, count, out);
    }
    fputs("</svg>\n", out);
}

void fm_curve_print_svg(const fm_result *results, uint32_t count, FILE *out)
{
    static const char style[] = "text{font:13px sans-serif;fill:#222}.head{font-weight:bold;"
                                "font-size:17px}.title{font-weight:bold}.x{text-anchor:middle}"
                                ".y{text-anchor:end}.grid{stroke:#ddd}.tick,.axis{stroke:#222}"
                                "path{fill:none}.line{stroke-width:2;stroke-linejoin:round}";
    const fm_result *last = &results[count - 1];
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<style>%s</style>\n<rect width=\"%d\" height=\"%d\" "
            "fill=\"#fff\"/>\n<text class=\"head\" x=\"22\" y=\"32\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, style, WIDTH, HEIGHT);
    put_text(last->scenario, out);
    fputs(" by number of agents</text>\n<text x=\"22\" y=\"54\">", out);
    put_text(last->map, out);
    fprintf(out, ", %llu teams, %g Hz, budget %g ms, %llu workers, ",
            (unsigned long long)last->teams, last->tick_hz, last->budget_ms,
            (unsigned long long)last->workers);
    put_text(last->planner, out);
    fputs("; ", out);
    put_text(last->cpu, out);
    fprintf(out, ", %llu cores, %.10s</text>\n", (unsigned long long)last->cores, last->time);
    for (uint32_t i = 0; i < FM_COUNT_OF(panels); i++) {
        put_panel(i, results, count, out);
    }
    fputs("</svg>\n", out);
}
