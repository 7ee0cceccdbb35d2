// server/process/variables.h: the environment variables that begin with FOGMARCH_.
//
// Every key of config.def is one: tick_hz is FOGMARCH_TICK_HZ. The environment is shared with other
// programs, so a name that nobody reads does not keep a server from starting: the log names it. A
// mistyped one would be ignored otherwise.

#pragma once

#include "server/base/config.h"

#define FM_VARIABLE_NAME_SIZE 64u // bytes of a key's variable, NUL included

/// The variable of a key. @param name  room for FM_VARIABLE_NAME_SIZE
void fm_variable_name(const fm_config_key *key, char *name);

/// Calls `tell` for each variable that begins with FOGMARCH_ and that neither the server, nor the
/// clients, nor the tests read. Left out are those that Kubernetes and Docker set for a service
/// called fogmarch (FOGMARCH_PORT, FOGMARCH_SERVICE_HOST ...).
///
/// @param environment  "NAME=value", NULL at the end; as environ
/// @param tell         receives the name, cut to 255 bytes, and a name that was perhaps meant, or
///                     NULL; both are good during the call only
void fm_variables_find_unknown(const char *const *environment,
                               void (*tell)(void *context, const char *name, const char *meant),
                               void *context);
