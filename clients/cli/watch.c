// clients/cli/watch.c: `watch`: a world as it lives.
//
// On a terminal: the map, drawn up to ten times a second, with a few lines of numbers around it.
// Anywhere else: one line each second. The view is a mirror; watch only looks at it. Fog over the
// whole world's view comes from the views of its first teams, which are subscribed to as well.

#include "clients/cli/commands.h"

#include "clients/cli/paint.h"
#include "clients/cli/parse.h"
#include "clients/cli/pulse.h"
#include "clients/cli/report.h"
#include "clients/cli/terminal.h"
#include "clients/cli/views.h"

#include <stdio.h>
#include <string.h>

#define FRAME_MS  100u
#define PERIOD_MS 1000u
#define HEAD_ROWS 3u
#define FOOT_ROWS 1u
#define FOG_TEAMS (FM_VIEWS_MAX - 1)
#define FOG_CELLS                                                                                  \
    (4u << 20) // cells of the largest map that gets fog: each team's view costs memory
#define COLOUR_NAME 0xffffffu
#define COLOUR_TEXT 0xb9c0c8u
#define COLOUR_DIM  0x757d86u
#define COLOUR_BAD  0xff6a5fu

static const char *const end_names[] = {
#define X(enumerator, name) name,
    FM_ORDER_END_LIST(X)
#undef X
};

struct watch {
    fm_cli *cli;
    uint64_t world;
    char name[65];
    double budget_ms, tick_hz;
    bool paused;
    uint64_t info_tick;   // ticks completed, as world.info said last
    uint32_t known_teams; // teams of the world when the watch began
    fm_views views;
    const fm_mirror *view; // the first of views.mirrors
    fm_pulse pulse;
    fm_canvas canvas;
    uint64_t end_ms; // 0: never
};

// ---- beginning
// -----------------------------------------------------------------------------------

static void take_info(struct watch *watch, const msgpack_object *info)
{
    fm_object_text(info, "name", watch->name, sizeof watch->name);
    watch->budget_ms = fm_object_real(info, "budget_ms", 0);
    watch->tick_hz = fm_object_real(info, "tick_hz", 0);
    watch->paused = fm_object_bool(info, "paused", false);
    watch->info_tick = fm_object_uint(info, "tick", 0);
}

static void read_info(struct watch *watch)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    const msgpack_object *info = fm_cli_call(watch->cli, FM_METHOD_WORLD_INFO);
    take_info(watch, info);
    watch->known_teams = (uint32_t)fm_object_uint(info, "teams", 0);
}

static void on_info(void *context, uint64_t id, const fm_client_error *error,
                    const msgpack_object *result)
{
    (void)id;
    if (error == NULL) { // else the world is gone, which its view says too
        take_info(context, result);
    }
}

// A view is silent while nothing changes in it; the world's own account tells how its ticks go on.
static void ask_info(struct watch *watch)
{
    fm_params_uint(&watch->cli->params, FM_FIELD_WORLD, watch->world);
    fm_status status = fm_client_send(watch->cli->client, FM_METHOD_WORLD_INFO, &watch->cli->params,
                                      on_info, watch, NULL);
    fm_params_clear(&watch->cli->params);
    if (status != FM_OK) {
        fm_cli_die_of_client(watch->cli);
    }
}

static uint64_t newest_tick(const struct watch *watch)
{
    return watch->view->tick > watch->info_tick ? watch->view->tick : watch->info_tick;
}

static void on_updated(void *context, const fm_mirror *view, fm_notification notification)
{
    struct watch *watch = context;
    if (notification == FM_NOTIFY_DELTA && view->load.tick_us > 0) {
        fm_pulse_note(&watch->pulse, &view->load);
    }
}

static const fm_mirror_ops view_ops = {.updated = on_updated};

static void subscribe(struct watch *watch, bool fog)
{
    fm_cli *cli = watch->cli;
    const char *rect_text = fm_cli_value(cli, "rect");
    fm_rect rect;
    if (rect_text != NULL && !fm_parse_rect(rect_text, &rect)) {
        fm_cli_usage_error(cli, "--rect: '%s' is not of the form X,Y,WIDTH,HEIGHT", rect_text);
    }
    const fm_rect *part = rect_text == NULL ? NULL : &rect;
    uint64_t team = fm_cli_uint(cli, "team", 1, FM_TEAMS_MAX, 0);
    uint64_t every = fm_cli_uint(cli, "every", 1, 1000, 1);
    fm_views_init(cli, &watch->views);
    watch->view =
        fm_views_add(cli, &watch->views, watch->world, team, part, every, &view_ops, watch);
    fog = fog && (uint64_t)watch->view->rect.width * watch->view->rect.height <= FOG_CELLS;
    for (uint32_t i = 1; fog && team == 0 && i <= watch->known_teams && i <= FOG_TEAMS; i++) {
        // Fog may be some ticks late; that saves most of what these views would cost.
        fm_views_add(cli, &watch->views, watch->world, i, part, every < 3 ? 3 : every, NULL, NULL);
    }
    fm_pulse_init(&watch->pulse, newest_tick(watch), fm_client_traffic_get(cli->client).bytes_in);
}

// ---- the screen
// ----------------------------------------------------------------------------------

// The newest tick times as bars, a full one for the budget.
static uint32_t draw_bars(struct watch *watch, uint32_t column, uint32_t row, uint32_t count)
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
    return column;
}

static void draw_title(struct watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_mirror *view = watch->view;
    uint32_t column = fm_canvas_printf(canvas, 1, 0, COLOUR_NAME, "%s", watch->name);
    column =
        fm_canvas_printf(canvas, column + 2, 0, COLOUR_DIM, "world %llu  %ux%u",
                         (unsigned long long)watch->world, view->rect.width, view->rect.height);
    column = fm_canvas_printf(canvas, column + 2, 0, COLOUR_TEXT, "tick %s",
                              fm_report_grouped(newest_tick(watch)));
    if (view->team != 0) {
        fm_canvas_printf(canvas, column + 2, 0, fm_paint_team_colour((uint32_t)view->team),
                         "as team %llu sees it", (unsigned long long)view->team);
    }
    const char *hint = "Ctrl-C ends";
    uint32_t width = (uint32_t)strlen(hint);
    if (canvas->columns > column + 24 + width) {
        fm_canvas_write(canvas, canvas->columns - width - 1, 0, COLOUR_DIM, hint);
    }
}

static void draw_tick_times(struct watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_pulse *pulse = &watch->pulse;
    uint32_t column = 1;
    if (pulse->tick_count > 0) {
        double now_ms = (double)watch->view->load.tick_us / 1000;
        column = fm_canvas_printf(
            canvas, column, 1, now_ms > watch->budget_ms ? COLOUR_BAD : COLOUR_TEXT,
            "tick %6.2f ms of %g  search %6.2f ms  p50 %.2f  p99 %.2f", now_ms, watch->budget_ms,
            (double)watch->view->load.search_us / 1000, fm_pulse_tick_ms(pulse, 500),
            fm_pulse_tick_ms(pulse, 990));
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

static void draw_rates(struct watch *watch)
{
    fm_canvas *canvas = &watch->canvas;
    const fm_pulse *pulse = &watch->pulse;
    uint32_t column = 1;
    if (pulse->tick_count > 0) {
        column = fm_canvas_printf(canvas, column, 2, COLOUR_TEXT, "%s moves/s  %s expansions/s  ",
                                  fm_report_grouped((uint64_t)pulse->moves_per_second),
                                  fm_report_grouped((uint64_t)pulse->expansions_per_second));
    }
    column = fm_canvas_printf(canvas, column, 2, COLOUR_TEXT, "%s/s in  ",
                              fm_report_size((uint64_t)pulse->bytes_per_second));
    column = fm_canvas_write(canvas, column, 2, COLOUR_DIM, "orders ended:");
    for (uint32_t i = 0; i < FM_COUNT_OF(end_names); i++) {
        if (watch->view->ended[i] > 0) {
            column = fm_canvas_printf(canvas, column + 1, 2, COLOUR_TEXT, "%s %s",
                                      fm_report_grouped(watch->view->ended[i]), end_names[i]);
        }
    }
}

// Percent of the map that a view knows.
static double known_percent(const fm_mirror *view)
{
    return 100.0 * (double)view->known_count / ((double)view->rect.width * view->rect.height);
}

static uint32_t count_agents(const fm_mirror *view, uint64_t team, bool moving_only)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->agent_count; i++) {
        count += view->agents[i].team == team &&
                 (!moving_only || view->agents[i].state != FM_AGENT_IDLE);
    }
    return count;
}

static void draw_team(struct watch *watch, uint32_t *column, uint64_t team, const fm_mirror *known)
{
    uint32_t row = watch->canvas.rows - 1;
    *column = fm_canvas_printf(&watch->canvas, *column, row, fm_paint_team_colour((uint32_t)team),
                               "\u25cf team %llu", (unsigned long long)team);
    *column = fm_canvas_printf(&watch->canvas, *column + 1, row, COLOUR_TEXT, "%u agents, %u busy",
                               count_agents(watch->view, team, false),
                               count_agents(watch->view, team, true));
    if (known != NULL) {
        *column = fm_canvas_printf(&watch->canvas, *column, row, COLOUR_TEXT, ", %.1f %% known",
                                   known_percent(known));
    }
    *column += 3;
}

static void draw_teams(struct watch *watch)
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

static void draw(struct watch *watch)
{
    uint32_t columns, rows;
    fm_terminal_size(&columns, &rows);
    if ((columns != watch->canvas.columns || rows != watch->canvas.rows) &&
        !fm_canvas_resize(&watch->canvas, columns, rows)) {
        return;
    }
    fm_canvas_clear(&watch->canvas);
    draw_title(watch);
    draw_tick_times(watch);
    draw_rates(watch);
    draw_teams(watch);
    fm_scene scene = {
        .view = watch->view,
        .teams = &watch->views.mirrors[1],
        .team_count = watch->views.count - 1,
    };
    if (rows > HEAD_ROWS + FOOT_ROWS) {
        fm_paint_scene(&watch->canvas, HEAD_ROWS, rows - HEAD_ROWS - FOOT_ROWS, &scene);
    }
    fm_canvas_show(&watch->canvas);
}

// ---- lines
// ---------------------------------------------------------------------------------------

static void print_json_line(const struct watch *watch)
{
    const fm_pulse *pulse = &watch->pulse;
    printf("{\"world\":%llu,\"team\":%llu,\"tick\":%llu,\"ticks_per_second\":%.2f,"
           "\"tick_ms\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f},"
           "\"agents\":%u,\"moves_per_second\":%.1f,\"expansions_per_second\":%.1f,"
           "\"bytes_per_second\":%.1f,\"known_cells\":%llu,\"orders_ended\":{",
           (unsigned long long)watch->world, (unsigned long long)watch->view->team,
           (unsigned long long)newest_tick(watch), pulse->ticks_per_second,
           fm_pulse_tick_ms(pulse, 500), fm_pulse_tick_ms(pulse, 990),
           fm_pulse_tick_ms(pulse, 1000), watch->view->agent_count, pulse->moves_per_second,
           pulse->expansions_per_second, pulse->bytes_per_second,
           (unsigned long long)watch->view->known_count);
    for (uint32_t i = 0; i < FM_COUNT_OF(end_names); i++) {
        printf("%s\"%s\":%llu", i == 0 ? "" : ",", end_names[i],
               (unsigned long long)watch->view->ended[i]);
    }
    puts("}}");
    fflush(stdout);
}

static void print_line(const struct watch *watch)
{
    const fm_pulse *pulse = &watch->pulse;
    printf("tick %-8s %5.1f/s", fm_report_grouped(newest_tick(watch)), pulse->ticks_per_second);
    if (pulse->tick_count > 0) {
        printf("   p50 %.2f p99 %.2f max %.2f ms   %s moves/s   %s expansions/s",
               fm_pulse_tick_ms(pulse, 500), fm_pulse_tick_ms(pulse, 990),
               fm_pulse_tick_ms(pulse, 1000), fm_report_grouped((uint64_t)pulse->moves_per_second),
               fm_report_grouped((uint64_t)pulse->expansions_per_second));
    }
    printf("   %u agents", watch->view->agent_count);
    if (watch->view->team != 0) {
        printf("   %.1f %% known", known_percent(watch->view));
    }
    printf("   %s/s in\n", fm_report_size((uint64_t)pulse->bytes_per_second));
    fflush(stdout);
}

// ---- the loop
// ------------------------------------------------------------------------------------

static bool is_over(const struct watch *watch)
{
    return fm_terminal_is_stopped() || watch->view->over ||
           (watch->end_ms != 0 && fm_pulse_clock_ms() >= watch->end_ms);
}

// Ends the period and shows it where there is no screen.
static void turn_period(struct watch *watch, bool screen)
{
    fm_pulse_turn(&watch->pulse, newest_tick(watch),
                  fm_client_traffic_get(watch->cli->client).bytes_in);
    if (!screen && watch->cli->json) {
        print_json_line(watch);
    } else if (!screen) {
        print_line(watch);
    }
}

static void follow(struct watch *watch, bool screen)
{
    uint64_t next_frame_ms = fm_pulse_clock_ms();
    while (!is_over(watch)) {
        uint64_t now_ms = fm_pulse_clock_ms();
        if (screen && now_ms >= next_frame_ms) {
            draw(watch);
            next_frame_ms = now_ms + FRAME_MS;
        }
        if (now_ms - watch->pulse.begin_ms >= PERIOD_MS) {
            turn_period(watch, screen);
            ask_info(watch);
        }
        if (fm_client_wait(watch->cli->client, FRAME_MS / 4) != FM_OK && !watch->views.going_down) {
            fm_cli_die_of_client(watch->cli);
        }
        fm_views_check(watch->cli, &watch->views);
    }
}

static int run_watch(fm_cli *cli)
{
    static struct watch watch; // too large for some stacks
    watch.cli = cli;
    bool screen = fm_terminal_is_screen() && !cli->json && fm_cli_value(cli, "lines") == NULL;
    double seconds = fm_cli_real(cli, "seconds", 0.1, 1e9, 0);
    fm_cli_connect(cli);
    watch.world = fm_cli_world_option(cli);
    read_info(&watch);
    subscribe(&watch, screen && fm_cli_value(cli, "no-fog") == NULL);
    watch.end_ms = seconds > 0 ? fm_pulse_clock_ms() + (uint64_t)(seconds * 1000) : 0;
    fm_terminal_catch_stops();
    if (screen) {
        watch.canvas.colours = fm_terminal_colours();
        fm_terminal_enter();
    }
    follow(&watch, screen);
    fm_terminal_leave();
    if (watch.view->over) {
        fprintf(stderr, "fogmarch watch: the world was destroyed\n");
    }
    fm_canvas_fini(&watch.canvas);
    fm_views_fini(cli, &watch.views);
    return 0;
}

static const fm_cli_option options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "N", "as team N sees it; everything", 0},
    {"rect", 'r', FM_CLI_TEXT, "X,Y,W,H", "this part of the map", 0},
    {"every", 'e', FM_CLI_UINT, "N", "a picture each N ticks at most; 1", 0},
    {"seconds", 's', FM_CLI_REAL, "N", "end after so many seconds", 0},
    {"no-fog", 0, FM_CLI_FLAG, NULL, "do not darken what no team has seen", 0},
    {"lines", 'l', FM_CLI_FLAG, NULL, "a line each second, also on a terminal", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_watch = {
    .name = "watch",
    .arguments = "",
    .summary = "show a world as it lives",
    .details =
        "On a terminal, draws the map with all agents until Ctrl-C; what no team has seen lies\n"
        "in fog. Elsewhere, or with --lines or --json, prints a line each second: tick, ticks\n"
        "per second, how long the last 128 ticks took, moves and expansions per second.",
    .examples = "fogmarch watch --team 1\n"
                "fogmarch watch --world arena --json --seconds 10",
    .options = options,
    .run = run_watch,
};
