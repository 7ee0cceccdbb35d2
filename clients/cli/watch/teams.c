// clients/cli/watch/teams.c: see teams.h.

#include "clients/cli/watch/teams.h"

#include "clients/cli/base/parse.h"

#define FOG_TEAMS (FM_VIEWS_MAX - 2)
#define FOG_CELLS                                                                                  \
    (4u << 20) // cells of the largest map that gets fog: each team's view costs memory

static void on_updated(void *context, const fm_mirror *view, fm_notification notification)
{
    fm_watch *watch = context;
    if (notification == FM_NOTIFY_DELTA && view->load.tick_us > 0) {
        fm_pulse_note(&watch->pulse, &view->load);
        watch->load = view->load;
    }
}

static const fm_mirror_ops view_ops = {.updated = on_updated};

// Views of the first teams, for fog over the view of everything.
static void subscribe_to_fog(fm_watch *watch)
{
    const fm_rect *part = watch->part.width == 0 ? NULL : &watch->part;
    bool fog = watch->fog && watch->view->team == 0 &&
               (uint64_t)watch->view->rect.width * watch->view->rect.height <= FOG_CELLS;
    for (uint32_t i = 1; fog && i <= watch->known_teams && i <= FOG_TEAMS; i++) {
        // Fog may be some ticks late; that saves most of what these views would cost.
        fm_views_add(watch->cli, &watch->views, watch->world, i, part,
                     watch->every < 3 ? 3 : watch->every, NULL, NULL);
    }
}

void fm_watch_subscribe(fm_watch *watch)
{
    fm_cli *cli = watch->cli;
    const char *rect_text = fm_cli_value(cli, "rect");
    if (rect_text != NULL && !fm_parse_rect(rect_text, &watch->part)) {
        fm_cli_usage_error(cli, "--rect: '%s' is not of the form X,Y,WIDTH,HEIGHT", rect_text);
    }
    uint64_t team = fm_cli_uint(cli, "team", 1, FM_TEAMS_MAX, 0);
    watch->every = fm_cli_uint(cli, "every", 1, 1000, 1);
    fm_views_init(cli, &watch->views);
    watch->views.sight = true;
    watch->view =
        fm_views_add(cli, &watch->views, watch->world, team,
                     rect_text == NULL ? NULL : &watch->part, watch->every, &view_ops, watch);
    subscribe_to_fog(watch);
    fm_pulse_init(&watch->pulse, fm_watch_newest_tick(watch),
                  fm_client_traffic_get(cli->client).bytes_in);
}

void fm_watch_set_team(fm_watch *watch, uint64_t team)
{
    fm_mirror *mirror;
    uint32_t count = watch->views.count;
    fm_status status = fm_views_try(watch->cli, &watch->views, watch->world, team,
                                    watch->part.width == 0 ? NULL : &watch->part, watch->every,
                                    &view_ops, watch, &mirror);
    if (status == FM_ERR_IO) {
        fm_cli_die_of_client(watch->cli);
    }
    if (status != FM_OK) {
        const fm_client_error *error = fm_client_error_last(watch->cli->client);
        fm_watch_say(watch, "%s (%s)", error->message, error->name);
        return;
    }
    fm_views_drop(watch->cli, &watch->views, count);
    watch->view = &watch->views.mirrors[0];
    subscribe_to_fog(watch);
}
