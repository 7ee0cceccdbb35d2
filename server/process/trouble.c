// server/process/trouble.c: see trouble.h.

#include "server/process/trouble.h"

#include "server/cluster/node.h"
#include "server/relay/relay.h"
#include "server/streams/shipping.h"
#include "server/worlds/conductor.h"

#include <stdio.h>
#include <string.h>

static bool is_cluster_unwell(const fm_hub *hub, fm_trouble *trouble)
{
    fm_cluster_state state = hub->node == NULL ? FM_CLUSTER_GOOD : fm_node_state(hub->node);
    trouble->word = fm_cluster_state_name(state);
    snprintf(trouble->reason, sizeof trouble->reason, "%s", fm_cluster_state_advice(state));
    return state != FM_CLUSTER_GOOD;
}

static bool is_server_missing(const fm_hub *hub, fm_trouble *trouble)
{
    fm_relay_describe_missing(hub->relay, trouble->reason);
    trouble->word = "not_relayed";
    return trouble->reason[0] != '\0';
}

static bool is_standby_unwell(const fm_hub *hub, fm_trouble *trouble)
{
    fm_standby_report report = {.peer = ""};
    if (hub->standby != NULL) {
        hub->standby_calls->report(hub->standby, &report);
    }
    snprintf(trouble->reason, sizeof trouble->reason, "%.64s: %.239s", report.peer, report.error);
    trouble->word = "not_following";
    return report.error[0] != '\0';
}

static bool is_journal_failing(const fm_hub *hub, fm_trouble *trouble)
{
    trouble->word = "journal_failing";
    for (uint32_t i = 0; i < hub->host_count; i++) {
        fm_host_summary summary = fm_conductor_summary(hub->conductor, hub->hosts[i]);
        bool is_paused = summary.journal == FM_HOST_JOURNAL_PAUSED;
        if (is_paused || summary.journal == FM_HOST_JOURNAL_READ_ONLY) {
            snprintf(trouble->reason, sizeof trouble->reason, "world %llu, %.64s: %s",
                     (unsigned long long)hub->hosts[i]->number, hub->hosts[i]->name,
                     is_paused ? summary.halted : "its journal cannot be written");
            return true;
        }
    }
    return false;
}

static bool is_standby_missing(const fm_hub *hub, fm_trouble *trouble)
{
    if (hub->standby != NULL) { // a standby has none of its own
        return false;
    }
    const fm_shipping_report shipped = fm_shipping_report_get(hub);
    bool is_blocked = strcmp(shipped.durability, "blocked") == 0;
    bool is_none = shipped.state == FM_SHIPPING_NONE;
    trouble->word = is_blocked ? "blocked" : "degraded";
    snprintf(trouble->reason, sizeof trouble->reason, "%s%.64s%s%s",
             is_none ? "no standby is connected" : "its standby ", is_none ? "" : shipped.peer,
             is_none ? "" : " is ", is_none ? "" : fm_shipping_state_name(shipped.state));
    return is_blocked || strcmp(shipped.durability, "degraded") == 0;
}

fm_trouble fm_trouble_find(const fm_hub *hub)
{
    fm_trouble trouble;
    bool is_found = is_cluster_unwell(hub, &trouble) || is_server_missing(hub, &trouble) ||
                    is_standby_unwell(hub, &trouble) || is_journal_failing(hub, &trouble) ||
                    is_standby_missing(hub, &trouble);
    return is_found ? trouble : (fm_trouble){.word = "ok"};
}
