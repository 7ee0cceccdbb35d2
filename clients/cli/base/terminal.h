// clients/cli/base/terminal.h: the terminal as a full screen, and the signals that end a long
// command.
//
// ncurses handles the terminal: its modes, keys, size, and restoring it. The command that took it
// draws: with ncurses (`top`), or as a canvas, which has 24-bit colours that ncurses lacks
// (`watch`). A canvas then belongs to the whole screen, and ncurses never draws.

#pragma once

#include "clients/cli/base/canvas.h"

/// From here on SIGINT, SIGTERM and SIGHUP only set the flag that fm_terminal_is_stopped() returns.
void fm_terminal_catch_stops(void);

bool fm_terminal_is_stopped(void);

/// Whether standard output is a terminal that can be drawn on: one that terminfo knows.
bool fm_terminal_is_screen(void);

/// How many colours it has, from terminfo, COLORTERM and NO_COLOR.
fm_canvas_colours fm_terminal_colours(void);

/// Takes the whole screen of a terminal that fm_terminal_is_screen(); restored at exit, however the
/// process ends (except by SIGKILL).
///
/// @return false when that cannot be done
bool fm_terminal_enter(void);

/// Restores the screen now.
void fm_terminal_leave(void);

/// Columns and rows of the screen that was taken.
void fm_terminal_size(uint32_t *columns, uint32_t *rows);

/// The next key that was pressed, as ncurses names it (curses.h: KEY_LEFT, 'q', ...); never waits
/// and never draws. KEY_RESIZE: the screen has another size, or must be drawn again. -1: none.
int fm_terminal_key(void);
