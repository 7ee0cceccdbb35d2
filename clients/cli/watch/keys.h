// clients/cli/watch/keys.h: what keys do in `watch`.

#pragma once

#include "clients/cli/watch/state.h"

/// Handles the keys that were pressed since the last call.
void fm_watch_take_keys(fm_watch *watch);
