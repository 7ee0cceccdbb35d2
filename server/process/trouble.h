// server/process/trouble.h: what is wrong with the server as a whole, for /healthz and systemd.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/hub.h"

#define FM_TROUBLE_SIZE 320u // bytes of a reason, NUL included

// word, in /healthz   what is wrong
// as the cluster's    of a cluster, see fm_cluster_state_name()
// not_relayed         a relay lacks a server of relay_of
// not_following       a standby lacks the server of follow
// journal_failing     of a world
// blocked             nothing is sent to anybody before a standby is there
// degraded            durability replica is wished for, and no standby is in step
typedef struct fm_trouble {
    const char *word;             // static; "ok": nothing is wrong
    char reason[FM_TROUBLE_SIZE]; // what, and where; UTF-8 or not: texts of other servers are in it
} fm_trouble;

/// The first of these that holds.
fm_trouble fm_trouble_find(const fm_hub *hub);
