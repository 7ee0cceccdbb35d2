// tests/sim/etcd/etcd_ask.h: the simulated etcd without a simulation: answers requests that it
// reads, so that they can be compared with the answers of etcd itself
// (tests/cluster/cluster_model.py).
//
//   stdin:   PATH JSON           such as  kv/range {"key":"YQ=="}
//   stdout:  STATUS JSON

#pragma once

/// Until stdin ends. @return an exit code
int sim_etcd_ask(void);
