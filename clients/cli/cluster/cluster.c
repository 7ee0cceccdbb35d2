// clients/cli/cluster/cluster.c: `cluster`: the state of a cluster, and where its worlds run.

#include "clients/cli/cluster/cluster.h"

#include "clients/cli/base/json.h"
#include "clients/cli/base/report.h"

#include <stdio.h>
#include <string.h>

// ---- status -------------------------------------------------------------------------------------

// @param is_known  etcd answers: what is listed is so now
static void print_nodes(fm_numbers nodes, const char *here, bool is_known)
{
    printf("\n%-20s %-22s %-16s %7s %10s %6s  %s\n", "NODE", "ADDRESS", "VERSION", "WORLDS",
           "AGENTS", "LOAD", "STATE");
    for (uint32_t i = 0; i < nodes.count; i++) {
        const msgpack_object *node = &nodes.elements[i];
        char name[65], tcp[256], version[32], load[16] = "-";
        fm_object_text(node, "node", name, sizeof name);
        fm_object_text(node, "tcp", tcp, sizeof tcp);
        fm_object_text(node, "version", version, sizeof version);
        if (fm_object_get(node, "load") != NULL) {
            snprintf(load, sizeof load, "%.0f%%", (double)fm_object_uint(node, "load", 0) / 10);
        }
        printf("%-20s %-22s %-16s %7llu %10s %6s  %s%s\n", name, tcp, version,
               (unsigned long long)fm_object_uint(node, "worlds", 0),
               fm_report_grouped(fm_object_uint(node, "agents", 0)), load,
               !is_known                                 ? "as last read"
               : fm_object_bool(node, "draining", false) ? "draining"
                                                         : "takes worlds",
               strcmp(name, here) == 0 ? ", answers this" : "");
    }
}

// Advice about a world that does not simply run. "": none.
static const fm_report_meaning world_states[] = {
    {"running", ""},
    {"moving", "on its way; it ticks on"},
    {"waiting", "its node is gone; another one takes it within seconds"},
    {"damaged", "see the logs of the nodes; its log in etcd stays as it is"},
    {"halted", "it stands still until etcd takes its writes again"},
    {"unknown", "etcd does not answer this node; NODE is as last read"},
};

static void print_worlds(fm_numbers worlds)
{
    if (worlds.count == 0) {
        puts("\nThere is no world yet; 'fogmarch create' makes one.");
        return;
    }
    printf("\n%8s  %-20s %-20s %6s  %s\n", "WORLD", "NAME", "NODE", "EPOCH", "STATE");
    for (uint32_t i = 0; i < worlds.count; i++) {
        const msgpack_object *world = &worlds.elements[i];
        char name[65], node[65], to[65], state[32];
        fm_object_text(world, "name", name, sizeof name);
        fm_object_text(world, "node", node, sizeof node);
        fm_object_text(world, "to", to, sizeof to);
        fm_object_text(world, "state", state, sizeof state);
        bool is_moving = strcmp(state, "moving") == 0 && to[0] != '\0';
        const char *what = fm_report_meaning_of(world_states, FM_COUNT_OF(world_states), state);
        printf("%8llu  %-20s %-20s %6llu  %s%s%s%s%s\n",
               (unsigned long long)fm_object_uint(world, "world", 0), name, node,
               (unsigned long long)fm_object_uint(world, "epoch", 0), state,
               is_moving ? " to " : "", is_moving ? to : "", what[0] == '\0' ? "" : ": ", what);
    }
}

// Prints what is wrong with the cluster as a whole, and what to do.
static void print_state(const msgpack_object *status)
{
    char error[FM_ERROR_TEXT_SIZE], cluster[65], node[65], state[32];
    fm_object_text(status, "error", error, sizeof error);
    fm_object_text(status, "cluster", cluster, sizeof cluster);
    fm_object_text(status, "node", node, sizeof node);
    fm_object_text(status, "state", state, sizeof state);
    printf("Cluster %s, as node %s sees it.\n", cluster, node);
    if (strcmp(state, "refused") == 0) {
        printf("etcd refuses what this node asks: %s.\n"
               "  Its worlds stand still, and others take them when its lease is over. Look at\n"
               "  cluster_user, the file of its password, and 'etcdctl user get' and 'role get'.\n",
               error);
    } else if (error[0] != '\0') {
        printf("etcd does not answer: %s.\n"
               "  Worlds stand still until a majority of its members answers. Look at them with\n"
               "  'etcdctl endpoint status'; with the quota full, compact and defragment them.\n",
               error);
    } else if (strcmp(state, "quota_full") == 0) {
        puts("etcd's database is full.\n"
             "  Worlds stand still until it takes writes again: compact and defragment all of its\n"
             "  members, or raise their quota, then 'etcdctl alarm disarm'.");
    }
    if (!fm_object_bool(status, "member", false)) {
        puts("This node's lease is over: others may take its worlds.\n"
             "  Where only this one says so, it is cut off from etcd: look at its network.");
    }
}

static int print_status(fm_cli *cli)
{
    const msgpack_object *status = fm_cli_call(cli, FM_METHOD_CLUSTER_STATUS);
    char cluster[65], node[65], state[32];
    if (fm_cli_print_json(cli, status)) {
        return 0;
    }
    fm_object_text(status, "cluster", cluster, sizeof cluster);
    if (cluster[0] == '\0') {
        puts("This server is not in a cluster (cluster_name is not set).");
        return 0;
    }
    fm_object_text(status, "node", node, sizeof node);
    print_state(status);
    fm_object_text(status, "state", state, sizeof state);
    print_nodes(fm_object_numbers(status, "nodes"), node,
                strcmp(state, "no_majority") != 0 && strcmp(state, "refused") != 0);
    print_worlds(fm_object_numbers(status, "worlds"));
    const msgpack_object *appends = fm_object_get(status, "appends");
    printf("\nNode %s: %s appends, %.1f ms each, %.1f at most; %s without an answer in time, %s "
           "refused; worlds taken over: %s\n",
           node, fm_report_grouped(fm_object_uint(appends, "count", 0)),
           fm_object_real(appends, "mean_ms", 0), fm_object_real(appends, "max_ms", 0),
           fm_report_grouped(fm_object_uint(appends, "unknown", 0)),
           fm_report_grouped(fm_object_uint(appends, "fenced", 0)),
           fm_report_grouped(fm_object_uint(appends, "taken", 0)));
    return 0;
}

// ---- move, drain, undrain ----------------------------------------------------------------------

static void print_move(uint64_t world, const char *node, bool is_there)
{
    printf("World %llu ", (unsigned long long)world);
    if (node[0] == '\0') {
        puts("stays: this server is not in a cluster (cluster_name is not set).");
    } else if (is_there) {
        printf("is on node %s already.\n", node);
    } else {
        printf("goes to node %s; 'fogmarch cluster status' says when it is there.\n", node);
    }
}

static int move(fm_cli *cli, const char *given, const char *node)
{
    uint64_t world = fm_cli_world(cli, given);
    fm_params_uint(&cli->params, FM_FIELD_WORLD, world);
    if (node != NULL) {
        fm_params_text(&cli->params, FM_FIELD_NODE, node);
    }
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_CLUSTER_MOVE);
    if (!fm_cli_print_json(cli, result)) {
        char where[65];
        fm_object_text(result, "node", where, sizeof where);
        print_move(world, where, fm_object_bool(result, "there", false));
    }
    return 0;
}

static int drain(fm_cli *cli, const char *node)
{
    fm_params_text(&cli->params, FM_FIELD_NODE, node);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_CLUSTER_DRAIN);
    if (!fm_cli_print_json(cli, result)) {
        printf("Node %s gives its worlds (%llu) to the others, two at a time, and takes no more "
               "until\n"
               "'cluster undrain', or until it is started again; 'fogmarch cluster status' says\n"
               "when it has none.\n",
               node, (unsigned long long)fm_object_uint(result, "worlds", 0));
    }
    return 0;
}

static int undrain(fm_cli *cli, const char *node)
{
    fm_params_text(&cli->params, FM_FIELD_NODE, node);
    const msgpack_object *result = fm_cli_call(cli, FM_METHOD_CLUSTER_UNDRAIN);
    if (!fm_cli_print_json(cli, result)) {
        printf(
            "Node %s takes worlds again and keeps those that it has (%llu), but for at most two\n"
            "that are on their way.\n",
            node, (unsigned long long)fm_object_uint(result, "worlds", 0));
    }
    return 0;
}

static int run_cluster(fm_cli *cli)
{
    const char *action = cli->arguments[0];
    if (strcmp(action, "restore") == 0 && cli->argument_count >= 2) {
        return fm_cluster_restore(cli);
    }
    fm_cli_connect(cli);
    if (strcmp(action, "status") == 0 && cli->argument_count == 1) {
        return print_status(cli);
    }
    if (strcmp(action, "move") == 0 && cli->argument_count >= 2) {
        return move(cli, cli->arguments[1], cli->argument_count > 2 ? cli->arguments[2] : NULL);
    }
    if (strcmp(action, "drain") == 0 && cli->argument_count == 2) {
        return drain(cli, cli->arguments[1]);
    }
    if (strcmp(action, "undrain") == 0 && cli->argument_count == 2) {
        return undrain(cli, cli->arguments[1]);
    }
    fm_cli_usage_error(cli, "'%s' with %d more words is none of: %s", action,
                       cli->argument_count - 1, cli->command->arguments);
}

static const fm_cli_option options[] = {
    {"dry-run", 'n', FM_CLI_FLAG, NULL, "restore: say what can be restored, ask no server", 0},
    {"workers", 0, FM_CLI_UINT, "N", "restore: threads that replay; one per processor", 0},
    {.name = NULL},
};

const fm_cli_command fm_cli_cluster = {
    .name = "cluster",
    .arguments = "status | move WORLD | [un]drain NODE | restore DIR",
    .summary = "show a cluster's nodes and worlds, move them",
    .details =
        "status            nodes with their load, worlds with the node that has each, and how\n"
        "                  often that has changed (epoch); what is wrong, and what to do\n"
        "move WORLD NODE   moves a world, which goes on with its searches, orders and views;\n"
        "                  without NODE to the one with the most capacity left. On NODE\n"
        "                  already: says so, exit status 0\n"
        "drain NODE        a node gives its worlds to the others and takes no more, as before\n"
        "                  an upgrade; until undrain, or until it is started again\n"
        "undrain NODE      it takes worlds again; those that have gone do not come back\n"
        "restore DIR ...   etcd is lost for good: brings all worlds back, into a cluster with a\n"
        "                  new etcd, each from its longest sound journal in the old nodes'\n"
        "                  journal folders, and says what is lost; exit status 1 when something\n"
        "                  is. Worlds keep number and name; those that are there are left alone\n"
        "\n"
        "Any node can be asked. NODE is a name of cluster_node.",
    .examples = "fogmarch cluster status\n"
                "fogmarch cluster move arena node2\n"
                "fogmarch cluster drain node1\n"
                "fogmarch cluster undrain node1\n"
                "fogmarch cluster restore node1/journals node2/journals --dry-run",
    .options = options,
    .arguments_min = 1,
    .arguments_max = 64,
    .run = run_cluster,
};
