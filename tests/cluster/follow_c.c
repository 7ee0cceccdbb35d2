// tests/cluster/follow_c.c: a follower on the C library, see cluster_follow.py.
//
//   follow_c ADDRESS WORLD AGENT
//
// Waiting calls and queued requests take turns, so that both are tried when the node dies.

#include <fogmarch/fogmarch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE 5 // orders
#define AFTER  10

static int answers, refused;

static void on_reply(void *context, uint64_t id, const fm_client_error *error,
                     const msgpack_object *result)
{
    (void)context;
    (void)id;
    (void)result;
    answers += error == NULL;
    refused += error != NULL;
    if (error != NULL) {
        fprintf(stderr, "refused: %s\n", error->message);
    }
}

static void on_notification(void *context, fm_notification notification,
                            const msgpack_object *params)
{
    if (fm_mirror_apply(context, notification, params) != FM_OK) {
        fprintf(stderr, "the mirror is out of step\n");
        exit(1);
    }
}

static void fail(const fm_client_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void order(fm_client *client, uint64_t world, uint64_t agent, fm_params *params)
{
    const fm_cell goal = fm_cell_at((uint32_t)answers % 60, (uint32_t)answers * 7 % 60);
    fm_params_clear(params);
    fm_params_uint(params, FM_FIELD_WORLD, world);
    fm_params_uints(params, FM_FIELD_AGENTS, &agent, 1);
    fm_params_text(params, FM_FIELD_KIND, "move");
    fm_params_cells(params, FM_FIELD_GOAL, &goal, 1);
    if (fm_client_send(client, FM_METHOD_AGENT_ORDER, params, on_reply, NULL, NULL) != FM_OK) {
        fail(fm_client_error_last(client));
    }
    if (fm_client_call(client, FM_METHOD_AGENT_ORDER, params, NULL) != FM_OK) {
        fail(fm_client_error_last(client));
    }
    answers++;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    const uint64_t world = strtoull(argv[2], NULL, 10), agent = strtoull(argv[3], NULL, 10);
    fm_client_options options = fm_client_options_default();
    options.name = "follow-c";
    options.follow_ms = 30000;
    fm_client *client;
    fm_client_error error;
    if (fm_client_connect(argv[1], &options, &client, &error) != FM_OK) {
        fail(&error);
    }
    fm_mirror mirror;
    fm_mirror_init(&mirror, 0, NULL, NULL);
    fm_client_on_notification(client, on_notification, &mirror);
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_WORLD, world);
    const msgpack_object *result;
    if (fm_client_hello(client, NULL) != FM_OK ||
        fm_client_call(client, FM_METHOD_SUBSCRIBE, &params, &result) != FM_OK) {
        fail(fm_client_error_last(client));
    }
    const uint64_t subscription = fm_object_uint(result, "subscription", 0);
    char here[256] = "";
    int moves = 0; // after its world's move, and after its node died
    bool is_ready = false;
    for (int left = AFTER; left > 0;) {
        order(client, world, agent, &params);
        if (!is_ready && answers >= 2 * BEFORE) {
            is_ready = true;
            puts("{\"ready\": true}");
            fflush(stdout);
        }
        if (strcmp(here, fm_client_address(client)) != 0) {
            moves += here[0] != '\0'; // the first redirect does not count
            snprintf(here, sizeof here, "%s", fm_client_address(client));
            if (moves == 1) {
                puts("{\"moved\": true}");
                fflush(stdout);
            }
        }
        left -= moves == 2;
        if (fm_client_wait(client, 20) != FM_OK) {
            fail(fm_client_error_last(client));
        }
    }
    while (fm_client_in_flight(client) > 0) {
        if (fm_client_wait(client, 100) != FM_OK) {
            fail(fm_client_error_last(client));
        }
    }
    puts("{\"done\": true}");
    fflush(stdout);
    unsigned long long paused_at;
    if (scanf("%llu", &paused_at) != 1) {
        return 1;
    }
    while (mirror.tick < paused_at) {
        if (fm_client_wait(client, 1000) != FM_OK) {
            fail(fm_client_error_last(client));
        }
    }
    const fm_mirror_agent *shown = fm_mirror_find(&mirror, agent);
    printf("{\"answers\": %d, \"address\": \"%s\", \"tick\": %llu, \"cell\": [%u, %u]}\n", answers,
           fm_client_address(client), (unsigned long long)mirror.tick,
           shown == NULL ? 0 : fm_cell_x(shown->cell), shown == NULL ? 0 : fm_cell_y(shown->cell));
    bool good = refused == 0 && shown != NULL && mirror.subscription == subscription;
    // By the number that the program was given; on the present node it has another one.
    fm_params_clear(&params);
    fm_params_uint(&params, FM_FIELD_SUBSCRIPTION, subscription);
    good = good && fm_client_call(client, FM_METHOD_UNSUBSCRIBE, &params, NULL) == FM_OK;
    fm_params_fini(&params);
    fm_mirror_fini(&mirror);
    fm_client_destroy(client);
    return good ? 0 : 1;
}
