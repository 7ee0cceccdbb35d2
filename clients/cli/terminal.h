// clients/cli/terminal.h: the terminal as a full screen, and the signals that end a long command.

#pragma once

#include "clients/cli/canvas.h"

/// From here on SIGINT, SIGTERM and SIGHUP only set what fm_terminal_is_stopped() tells.
void fm_terminal_catch_stops(void);

bool fm_terminal_is_stopped(void);

/// Whether standard output is a terminal that can be drawn on.
bool fm_terminal_is_screen(void);

/// How many colours it has, from TERM, COLORTERM and NO_COLOR.
fm_canvas_colours fm_terminal_colours(void);

/// Takes the whole screen; given back at exit, however the process ends (but for SIGKILL).
void fm_terminal_enter(void);

/// Gives the screen back now.
void fm_terminal_leave(void);

/// Columns and rows, 80 x 24 when nobody knows.
void fm_terminal_size(uint32_t *columns, uint32_t *rows);
