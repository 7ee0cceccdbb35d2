// loadtest/cluster_kills.h: fogmarch-load --cluster N: nodes of a cluster that are killed under
// load.
//
// The work is done by a script, kills.py, whose clients follow their world from node to node; those
// of this program measure one server. Here it is found and started.

#pragma once

#include <stdbool.h>

/// Whether the command line asks for it: it has --cluster.
bool fm_cluster_kills_is_meant(int argc, char **argv);

/// Becomes the script, with the flags of the command line.
///
/// @return only when that fails: the exit code, after a line on standard error
int fm_cluster_kills_become(int argc, char **argv);
