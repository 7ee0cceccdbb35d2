// clients/cli/watch/screen.c: see screen.h.

#include "clients/cli/watch/screen.h"

#include "clients/cli/base/colours.h"
#include "clients/cli/base/report.h"
#include "clients/cli/base/terminal.h"
#include "clients/cli/watch/paint.h"
#include "core/world/words.h"

#include <string.h>

#define HEAD_ROWS         3u
#define DETAIL_ROWS       3u
#define FOOT_ROWS         1u
#define COLUMNS_FOR_WORDS 40u
#define ROWS_FOR_WORDS    8u
#define COLOUR_NAME       0xffffffu
#define COLOUR_TEXT       0xb9c0c8u
#define COLOUR_DIM        0x757d86u
#define COLOUR_BAD        0xff6a5fu

static const char *const help_lines[] = {
    "arrows, h j k l   move the map",
    "+  -  0           larger, smaller, the whole map",
    "Tab, Shift-Tab    next, previous agent",
    "f                 follow the selected agent",
    "Esc               select none",
    "t                 the next team's view, then everything",
    "p                 pause or resume the world (admin)",
    "s                 one tick of a paused world (admin)",
    "c                 colours or letters",
    "Ctrl-L            draw everything again",
    "?                 this help, or not",
    "q, Ctrl-C         end",
    "",
    "@ selected   X its goal   digits: agents of teams",
    "letters: . ground  # blocked  T trees  S swamp",
    "~ water  H building; in fog: blank ground, + blocked",
};

static bool has_words(const fm_canvas *canvas)
{
    return canvas->columns >= COLUMNS_FOR_WORDS && canvas->rows >= ROWS_FOR_WORDS;
}

static uint32_t detail_rows(const fm_watch *watch)
{
    return watch->selected != 0 ? DETAIL_ROWS : 0;
}

// Rows of the map, behind the head's.
static uint32_t map_rows(const fm_watch *watch)
{
    const fm_canvas *canvas = &watch->canvas;
    return has_words(canvas) ? canvas->rows - HEAD_ROWS - FOOT_ROWS - detail_rows(watch)
                             : canvas->rows;
}

void fm_watch_map_size(const fm_watch *watch, uint32_t *width, uint32_t *height)
{
    *width = watch->canvas.columns == 0 ? 1 : watch->canvas.columns;
    *height = watch->canvas.rows == 0 ? 1 : map_rows(watch) * 2;
}

// ---- the head -----------------------------------------------------------------------------------

// The newest tick times as bars, a full one for the budget.
static void draw_bars(fm_watch *watch, uint32_t column, uint32_t row, uint32_t count)
{
    const fm_pulse *pulse = &watch->pulse;
    double full_us = watch->budget_ms > 0 ? watch->budget_ms * 1000 : 50000;
    if (pulse->tick_count < count) {
        count = (uint32_t)pulse->tick_count;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = pulse->tick_count - count + i;
        double share = (double)pulse->tick_us[number % FM_PULSE_TICKS] / full_us;
        uint32_t eighths = share >= 1 ? 7 : (uint32_t)(share * 8);
        fm_canvas_put(
            &watch->canvas, column++, row,
            (fm_glyph){0x2581 + eighths, share > 1 ? COLOUR_BAD : COLOUR_DIM, FM_CANVAS_DEFAULT});
    }
}

// "whole map", or how large cells are.
static uint32_t draw_zoom(fm_watch *watch, uint32_t column)
{
    const fm_viewport *viewport = &watch->viewport;
    if (viewport->whole) {
        return column;
    }
    bool large = viewport->zoom > 0;
    uint32_t ratio = 1u << (large ? viewport->zoom : -viewport->zoom);
    return fm_canvas_printf(&watch->canvas, column + 2, 0, COLOUR_DIM,
                            large ? "1/%u cell a character" : "%u cell%s a character", ratio,
                            ratio == 1 ? "" : "s");
}

static void draw_title(fm_watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_mirror *view = watch->view;
    uint32_t column = fm_canvas_printf(canvas, 1, 0, COLOUR_NAME, "%s", watch->name);
    column =
        fm_canvas_printf(canvas, column + 2, 0, COLOUR_DIM, "world %llu  %ux%u",
                         (unsigned long long)watch->world, view->rect.width, view->rect.height);
    column = fm_canvas_printf(canvas, column + 2, 0, COLOUR_TEXT, "tick %s",
                              fm_report_grouped(fm_watch_newest_tick(watch)));
    if (view->team != 0) {
        column = fm_canvas_printf(canvas, column + 2, 0, fm_colour_of_team((uint32_t)view->team),
                                  "as team %llu sees it", (unsigned long long)view->team);
    }
    column = draw_zoom(watch, column);
    static const char *const hints[] = {"? keys  Ctrl-C ends", "? keys"};
    for (uint32_t i = 0; i < FM_COUNT_OF(hints); i++) {
        uint32_t width = (uint32_t)strlen(hints[i]);
        if (canvas->columns > column + 2 + width) {
            fm_canvas_write(canvas, canvas->columns - width - 1, 0, COLOUR_DIM, hints[i]);
            return;
        }
    }
}

static void draw_tick_times(fm_watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_pulse *pulse = &watch->pulse;
    uint32_t column = 1;
    if (pulse->tick_count > 0) {
        double now_ms = (double)watch->load.tick_us / 1000;
        column = fm_canvas_printf(canvas, column, 1,
                                  now_ms > watch->budget_ms ? COLOUR_BAD : COLOUR_TEXT,
                                  "tick %6.2f ms of %g  search %6.2f ms  p50 %.2f  p99 %.2f",
                                  now_ms, watch->budget_ms, (double)watch->load.search_us / 1000,
                                  fm_pulse_tick_ms(pulse, 500), fm_pulse_tick_ms(pulse, 990));
        column += 2;
    }
    if (watch->paused) {
        column = fm_canvas_write(canvas, column, 1, COLOUR_NAME, "paused");
    } else {
        column = fm_canvas_printf(canvas, column, 1, COLOUR_TEXT, "%.1f of %g ticks/s",
                                  pulse->ticks_per_second, watch->tick_hz);
    }
    column += 2;
    if (canvas->columns > column + 1) {
        draw_bars(watch, column, 1, canvas->columns - column - 1);
    }
}

static void draw_rates(fm_watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_pulse *pulse = &watch->pulse;
    uint32_t column = 1;
    if (fm_pulse_clock_ms() < watch->message_end_ms) {
        fm_canvas_write(canvas, column, 2, COLOUR_NAME, watch->message);
        return;
    }
    if (pulse->tick_count > 0) {
        column = fm_canvas_printf(canvas, column, 2, COLOUR_TEXT, "%s moves/s  %s expansions/s  ",
                                  fm_report_grouped((uint64_t)pulse->moves_per_second),
                                  fm_report_grouped((uint64_t)pulse->expansions_per_second));
    }
    column = fm_canvas_printf(canvas, column, 2, COLOUR_TEXT, "%s/s in  ",
                              fm_report_size((uint64_t)pulse->bytes_per_second));
    column = fm_canvas_write(canvas, column, 2, COLOUR_DIM, "orders ended:");
    bool none = true;
    for (uint32_t i = 0; i < FM_COUNT_OF(fm_order_end_names); i++) {
        if (watch->view->ended[i] > 0) {
            column =
                fm_canvas_printf(canvas, column + 1, 2, COLOUR_TEXT, "%s %s",
                                 fm_report_grouped(watch->view->ended[i]), fm_order_end_names[i]);
            none = false;
        }
    }
    if (watch->view->untold > 0) {
        fm_canvas_write(canvas, column + 1, 2, COLOUR_DIM, "and more, not told");
    } else if (none) {
        fm_canvas_write(canvas, column + 1, 2, COLOUR_DIM, "none");
    }
}

// ---- the foot -----------------------------------------------------------------------------------

static uint32_t count_agents(const fm_mirror *view, uint64_t team, bool busy_only)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->agent_count; i++) {
        count +=
            view->agents[i].team == team && (!busy_only || view->agents[i].state != FM_AGENT_IDLE);
    }
    return count;
}

static void draw_team(fm_watch *watch, uint32_t *column, uint64_t team, const fm_mirror *known)
{
    uint32_t row = watch->canvas.rows - 1;
    *column = fm_canvas_printf(&watch->canvas, *column, row, fm_colour_of_team((uint32_t)team),
                               "\u25cf team %llu", (unsigned long long)team);
    *column = fm_canvas_printf(&watch->canvas, *column + 1, row, COLOUR_TEXT, "%u busy of %u",
                               count_agents(watch->view, team, true),
                               count_agents(watch->view, team, false));
    if (known != NULL) {
        *column = fm_canvas_printf(&watch->canvas, *column, row, COLOUR_TEXT, ", %.1f %% known",
                                   fm_watch_known_percent(known));
    }
    *column += 3;
}

static void draw_teams(fm_watch *watch)
{
    uint32_t column = 1;
    if (watch->view->team != 0) {
        draw_team(watch, &column, watch->view->team, watch->view);
        return;
    }
    for (uint32_t i = 1; i < watch->views.count; i++) {
        const fm_mirror *known = &watch->views.mirrors[i];
        draw_team(watch, &column, known->team, known);
    }
    for (uint32_t team = 1; watch->views.count == 1 && team <= watch->known_teams && team <= 8;
         team++) {
        draw_team(watch, &column, team, NULL);
    }
}

// What the view shows of the selected agent, and what debug.inspect says where the role allows it.
static void draw_agent(fm_watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_mirror_agent *agent = fm_mirror_find(watch->view, watch->selected);
    const fm_watch_agent *report = &watch->agent;
    bool is_reported = report->id == watch->selected;
    uint32_t row = canvas->rows - FOOT_ROWS - DETAIL_ROWS;
    uint32_t column = fm_canvas_printf(canvas, 1, row, COLOUR_NAME, "@ agent %llu",
                                       (unsigned long long)watch->selected);
    if (agent == NULL) {
        column = fm_canvas_write(canvas, column + 2, row, COLOUR_TEXT, "not in sight");
    } else {
        column = fm_canvas_printf(canvas, column + 2, row, fm_colour_of_team(agent->team),
                                  "team %u", agent->team);
        column = fm_canvas_printf(canvas, column + 2, row, COLOUR_TEXT, "%s at %u,%u",
                                  fm_agent_state_names[agent->state], fm_cell_x(agent->cell),
                                  fm_cell_y(agent->cell));
    }
    if (is_reported && report->goal != FM_CELL_NONE) {
        column = fm_canvas_printf(canvas, column + 2, row, COLOUR_TEXT, "goal %u,%u",
                                  fm_cell_x(report->goal), fm_cell_y(report->goal));
    }
    if (is_reported) {
        column = fm_canvas_printf(canvas, column + 2, row, COLOUR_TEXT, "order %s", report->order);
    }
    if (watch->following) {
        fm_canvas_write(canvas, column + 2, row, COLOUR_DIM, "followed");
    }
    if (is_reported) {
        fm_canvas_printf(canvas, 1, row + 1, COLOUR_TEXT, "planner %s", report->planner);
        fm_canvas_printf(canvas, 1, row + 2, COLOUR_TEXT, "search  %s", report->search);
    } else if (!watch->may_inspect) {
        fm_canvas_write(canvas, 1, row + 1, COLOUR_DIM,
                        "its goal, order and planner are shown to the role debug");
    }
}

// ---- all of it ----------------------------------------------------------------------------------

static void draw_help(fm_canvas *canvas)
{
    uint32_t width = 0, height = FM_COUNT_OF(help_lines) + 2;
    for (uint32_t i = 0; i < FM_COUNT_OF(help_lines); i++) {
        uint32_t length = (uint32_t)strlen(help_lines[i]);
        width = length > width ? length : width;
    }
    width += 4;
    uint32_t left = canvas->columns > width ? (canvas->columns - width) / 2 : 0;
    uint32_t top = canvas->rows > height ? (canvas->rows - height) / 2 : 0;
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++) {
            bool corner_row = row == 0 || row == height - 1;
            bool side = column == 0 || column == width - 1;
            uint32_t code = corner_row && side ? '+' : corner_row ? '-' : side ? '|' : ' ';
            fm_canvas_put(canvas, left + column, top + row,
                          (fm_glyph){code, COLOUR_TEXT, FM_CANVAS_DEFAULT});
        }
        if (row > 0 && row < height - 1) {
            fm_canvas_write(canvas, left + 2, top + row, COLOUR_NAME, help_lines[row - 1]);
        }
    }
}

static void draw_map(fm_watch *watch)
{
    const fm_mirror_agent *agent = fm_mirror_find(watch->view, watch->selected);
    fm_scene scene = fm_scene_of(watch->view);
    scene.teams = &watch->views.mirrors[1];
    scene.team_count = watch->views.count - 1;
    scene.viewport = &watch->viewport;
    if (agent != NULL) {
        scene.selected = agent->cell;
    }
    if (watch->selected != 0 && watch->agent.id == watch->selected) {
        scene.goal = watch->agent.goal;
        scene.path = watch->agent.path;
        scene.path_count = watch->agent.path_count;
    }
    if (watch->following && agent != NULL) {
        fm_viewport_center(&watch->viewport, agent->cell);
    }
    fm_paint_scene(&watch->canvas, has_words(&watch->canvas) ? HEAD_ROWS : 0, map_rows(watch),
                   &scene);
}

void fm_watch_draw(fm_watch *watch)
{
    uint32_t columns, rows;
    fm_terminal_size(&columns, &rows);
    if ((columns != watch->canvas.columns || rows != watch->canvas.rows) &&
        !fm_canvas_resize(&watch->canvas, columns, rows)) {
        return; // out of memory: perhaps not the next time
    }
    fm_canvas_clear(&watch->canvas);
    draw_map(watch);
    if (has_words(&watch->canvas)) {
        draw_title(watch);
        draw_tick_times(watch);
        draw_rates(watch);
        draw_teams(watch);
        if (watch->selected != 0) {
            draw_agent(watch);
        }
    }
    if (watch->helping) {
        draw_help(&watch->canvas);
    }
    fm_canvas_show(&watch->canvas);
}
