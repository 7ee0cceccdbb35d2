// clients/cli/watch/keys.h: what keys do in `watch`.

#pragma once

#include "clients/cli/watch/state.h"

/// Does what the keys ask for that were pressed since.
void fm_watch_take_keys(fm_watch *watch);
