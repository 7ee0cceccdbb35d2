// clients/cli/watch/watch.c: the subcommand `watch`: a world as it lives.
//
// On a terminal: the map, drawn up to ten times a second, with a few lines of numbers around it,
// and keys. Anywhere else: one line each second. The view is a mirror; watch only reads it.

#include "clients/cli/watch/watch.h"

#include "clients/cli/base/report.h"
#include "clients/cli/base/terminal.h"
#include "clients/cli/watch/keys.h"
#include "clients/cli/watch/screen.h"
#include "clients/cli/watch/selection.h"
#include "clients/cli/watch/teams.h"
#include "core/world/words.h"

#include <stdio.h>

#define FRAME_MS  100u
#define PERIOD_MS 1000u
#define AGENT_MS  250u // between questions about the selected agent

// ---- lines --------------------------------------------------------------------------------------

static void print_json_line(const fm_watch *watch)
{
    const fm_pulse *pulse = &watch->pulse;
    printf("{\"world\":%llu,\"team\":%llu,\"tick\":%llu,\"ticks_per_second\":%.2f,"
           "\"tick_ms\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f},"
           "\"agents\":%u,\"moves_per_second\":%.1f,\"expansions_per_second\":%.1f,"
           "\"bytes_per_second\":%.1f,\"known_cells\":%llu,\"orders_ended\":{",
           (unsigned long long)watch->world, (unsigned long long)watch->view->team,
           (unsigned long long)fm_watch_newest_tick(watch), pulse->ticks_per_second,
           fm_pulse_tick_ms(pulse, 500), fm_pulse_tick_ms(pulse, 990),
           fm_pulse_tick_ms(pulse, 1000), watch->view->agent_count, pulse->moves_per_second,
           pulse->expansions_per_second, pulse->bytes_per_second,
           (unsigned long long)watch->view->known_count);
    for (uint32_t i = 0; i < FM_COUNT_OF(fm_order_end_names); i++) {
        printf("%s\"%s\":%llu", i == 0 ? "" : ",", fm_order_end_names[i],
               (unsigned long long)watch->view->ended[i]);
    }
    printf("},\"untold\":%llu}\n", (unsigned long long)watch->view->untold);
    fflush(stdout);
}

static void print_line(const fm_watch *watch)
{
    const fm_pulse *pulse = &watch->pulse;
    printf("tick %-8s %5.1f/s", fm_report_grouped(fm_watch_newest_tick(watch)),
           pulse->ticks_per_second);
    if (pulse->tick_count > 0) {
        printf("   p50 %.2f p99 %.2f max %.2f ms   %s moves/s   %s expansions/s",
               fm_pulse_tick_ms(pulse, 500), fm_pulse_tick_ms(pulse, 990),
               fm_pulse_tick_ms(pulse, 1000), fm_report_grouped((uint64_t)pulse->moves_per_second),
               fm_report_grouped((uint64_t)pulse->expansions_per_second));
    }
    printf("   %u agents", watch->view->agent_count);
    if (watch->view->team != 0) {
        printf("   %.1f %% known", fm_watch_known_percent(watch->view));
    }
    printf("   %s/s in\n", fm_report_size((uint64_t)pulse->bytes_per_second));
    fflush(stdout);
}

// ---- the loop -----------------------------------------------------------------------------------

static bool is_over(const fm_watch *watch)
{
    return fm_terminal_is_stopped() || watch->finished || watch->view->over ||
           (watch->end_ms != 0 && fm_pulse_clock_ms() >= watch->end_ms);
}

// Ends the period and shows it where there is no screen.
static void turn_period(fm_watch *watch, bool screen)
{
    fm_pulse_turn(&watch->pulse, fm_watch_newest_tick(watch),
                  fm_client_traffic_get(watch->cli->client).bytes_in);
    if (!screen && watch->cli->json) {
        print_json_line(watch);
    } else if (!screen) {
        print_line(watch);
    }
}

static void follow(fm_watch *watch, bool screen)
{
    uint64_t next_frame_ms = fm_pulse_clock_ms(), next_agent_ms = next_frame_ms;
    while (!is_over(watch)) {
        uint64_t now_ms = fm_pulse_clock_ms();
        if (screen) {
            fm_watch_take_keys(watch);
        }
        if (screen && now_ms >= next_frame_ms) {
            fm_watch_draw(watch);
            next_frame_ms = now_ms + FRAME_MS;
        }
        if (now_ms >= next_agent_ms) {
            fm_watch_ask_agent(watch);
            next_agent_ms = now_ms + AGENT_MS;
        }
        if (now_ms - watch->pulse.begin_ms >= PERIOD_MS) {
            turn_period(watch, screen);
            fm_watch_ask_info(watch);
        }
        if (fm_client_wait(watch->cli->client, FRAME_MS / 4) != FM_OK && !watch->views.going_down) {
            fm_cli_die_of_client(watch->cli);
        }
        fm_views_check(watch->cli, &watch->views);
    }
}

static void enter_screen(fm_watch *watch)
{
    if (!fm_terminal_enter()) {
        fm_cli_die(watch->cli, "the terminal cannot be used; --plain prints lines");
    }
    watch->colours = fm_terminal_colours();
    watch->canvas.colours = watch->colours;
    watch->viewport.whole = true;
    watch->may_inspect = true;
}

static int run_watch(fm_cli *cli)
{
    static fm_watch watch; // too large for some stacks
    watch.cli = cli;
    bool plain = fm_cli_value(cli, "plain") != NULL || fm_cli_value(cli, "lines") != NULL;
    bool screen = !cli->json && !plain && fm_terminal_is_screen();
    double seconds = fm_cli_real(cli, "seconds", 0.1, 1e9, 0);
    fm_cli_connect(cli);
    watch.world = fm_cli_world_option(cli);
    fm_watch_read_info(&watch);
    watch.fog = screen && fm_cli_value(cli, "no-fog") == NULL;
    fm_watch_subscribe(&watch);
    watch.end_ms = seconds > 0 ? fm_pulse_clock_ms() + (uint64_t)(seconds * 1000) : 0;
    fm_terminal_catch_stops();
    if (screen) {
        enter_screen(&watch);
    }
    follow(&watch, screen);
    fm_terminal_leave();
    if (watch.view->over) {
        fprintf(stderr, "fogmarch watch: the world %s\n",
                watch.view->has_moved ? "went to another node" : "was destroyed");
    }
    fm_canvas_fini(&watch.canvas);
    fm_views_fini(cli, &watch.views);
    return 0;
}

static const fm_cli_option options[] = {
    FM_CLI_OPTION_WORLD,
    {"team", 't', FM_CLI_UINT, "N", "as team N sees it; everything", 0},
    {"rect", 'r', FM_CLI_TEXT, "X,Y,W,H", "this part of the map; X,Y is its north-west cell", 0},
    {"every", 'e', FM_CLI_UINT, "N", "a picture each N ticks at most; 1", 0},
    {"seconds", 's', FM_CLI_REAL, "N", "end after so many seconds", 0},
    {"no-fog", 0, FM_CLI_FLAG, NULL, "do not darken what no team has seen", 0},
    {"plain", 'l', FM_CLI_FLAG, NULL, "a line each second, also on a terminal", 0},
    {"lines", 0, FM_CLI_FLAG, NULL, "the same", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_watch = {
    .name = "watch",
    .arguments = "",
    .summary = "show a world as it lives",
    .details =
        "On a terminal, draws the map with all agents; what no team has seen lies in fog. Keys\n"
        "move and scale the map, select an agent and follow it, change the team, pause and step\n"
        "the world; ? lists them, q or Ctrl-C ends. Elsewhere, or with --plain or --json, prints\n"
        "a line each second: tick, ticks per second, how long the last 128 ticks took, moves and\n"
        "expansions per second.",
    .examples = "fogmarch watch --team 1\n"
                "fogmarch watch --world arena --json --seconds 10",
    .options = options,
    .run = run_watch,
};
