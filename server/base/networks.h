// server/base/networks.h: lists of addresses and networks, such as "10.0.0.0/8, ::1".
//
// Threads: any; nothing is shared.

#pragma once

#include "core/base/base.h"

/// Whether an address is in a list of addresses and networks, separated by commas.
///
/// @param peer  as text; NULL: only checks that the list can be read
/// @return with NULL, whether the list can be read
bool fm_networks_have(const char *list, const char *peer);
