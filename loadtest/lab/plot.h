// loadtest/lab/plot.h: pictures, drawn by gnuplot, which reads its commands and its data from us.

#pragma once

#include "loadtest/lab/lab.h"
#include "loadtest/lab/table.h"

#include <stdio.h>

/// Begins the picture that --svg asks for. Write gnuplot commands to the returned stream; the size,
/// the output file and a plain style are set already. NULL when no picture was asked for. Ends the
/// process when gnuplot cannot be started.
FILE *fm_plot_open(const fm_lab *lab);

/// Draws it. Ends the process when gnuplot complained.
void fm_plot_close(const fm_lab *lab, FILE *plot);

/// Sends a text as a quoted string of gnuplot.
void fm_plot_text(FILE *plot, const char *text);

/// The whole picture of a table: one bar for each row, named by the text column `name_key`, as high
/// as the mean column `mean_key`, with its interval. Does nothing when no picture was asked for.
void fm_plot_bars(const fm_lab *lab, const fm_table *table, const char *title, const char *name_key,
                  const char *mean_key, const char *y_label);
