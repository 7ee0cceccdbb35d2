// loadtest/lab/plot.c: see plot.h.

#include "loadtest/lab/plot.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void fm_plot_text(FILE *plot, const char *text)
{
    fputc('\'', plot);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, plot);
    }
    fputc('\'', plot);
}

FILE *fm_plot_open(const fm_lab *lab)
{
    if (lab->svg == NULL) {
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); // a missing gnuplot shows in the exit status
    FILE *plot = popen("gnuplot", "w");
    if (plot == NULL) {
        fm_lab_die(lab, "gnuplot cannot be started");
    }
    fputs("set terminal svg size 900,540 font 'sans-serif,13' background '#ffffff'\n"
          "set encoding utf8\nset grid ytics lc '#dddddd'\nset border 3\nset tics nomirror\n"
          "set output ",
          plot);
    fm_plot_text(plot, lab->svg);
    fputc('\n', plot);
    return plot;
}

void fm_plot_close(const fm_lab *lab, FILE *plot)
{
    if (pclose(plot) != 0) {
        fm_lab_die(lab, "%s: gnuplot could not draw it (Debian package: gnuplot-nox)", lab->svg);
    }
}

static uint32_t column_of(const fm_table *table, const char *key)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (strcmp(table->columns[c].key, key) == 0) {
            return c;
        }
    }
    FM_UNREACHABLE();
}

void fm_plot_bars(const fm_lab *lab, const fm_table *table, const char *title, const char *name_key,
                  const char *mean_key, const char *y_label)
{
    FILE *plot = fm_plot_open(lab);
    if (plot == NULL) {
        return;
    }
    uint32_t name = column_of(table, name_key), mean = column_of(table, mean_key);
    fputs("$bars << END\n", plot);
    for (uint32_t r = 0; r < table->row_count; r++) {
        const fm_table_cell *cells = &table->cells[(size_t)r * table->column_count];
        fprintf(plot, "\"%s\" %g %g\n", cells[name].text, cells[mean].number,
                isnan(cells[mean].ci95) ? 0 : cells[mean].ci95);
    }
    fputs("END\nset title ", plot);
    fm_plot_text(plot, title);
    fputs("\nset ylabel ", plot);
    fm_plot_text(plot, y_label);
    fputs("\nset style fill solid 0.8\nset boxwidth 0.6\nset yrange [0:*]\n"
          "set xtics rotate by -20\nset bars 0.5\n"
          "plot $bars using 0:2:xtic(1) with boxes lc '#4477aa' notitle, "
          "$bars using 0:2:3 with yerrorbars lc '#222222' pt 0 notitle\n",
          plot);
    fm_plot_close(lab, plot);
}
