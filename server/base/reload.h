// server/base/reload.h: the settings that can change while the server runs.
//
// On SIGHUP flags, environment and file are read again, by the same rules as at the start. When
// anything in them is wrong, nothing changes. What can change is taken over: limits, rates and
// time-outs, also for open sessions, the log level, and the defaults of worlds that are made from
// then on. What cannot, such as an address, is named in the log.
//
// Threads: the event loop, which alone reads the keys that can change.

#pragma once

#include "server/base/config.h"

/// Whether a change of this key takes effect without a restart.
bool fm_reload_is_possible(const fm_config_key *key);

/// Takes over what can change.
///
/// @param config     the settings in use
/// @param fresh      what was read
/// @param on_change  called for each key that differs, with its new value as text, and whether it
///                   was taken over
/// @return how many keys changed
uint32_t fm_reload_take(fm_config *config, const fm_config *fresh,
                        void (*on_change)(const fm_config_key *key, const char *text, bool taken));
