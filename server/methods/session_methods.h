// server/methods/session_methods.h: hello, ping, and token.*.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_hello, fm_take_ping, fm_take_token_create, fm_take_token_revoke,
    fm_take_token_list;
