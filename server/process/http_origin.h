// server/process/http_origin.h: which web pages may open a WebSocket.
//
// Browsers say which page a script belongs to. Other programs leave it out; they could send
// anything. A page of this server may connect. But where no token is needed, its host must be an
// address or localhost: the owner of a DNS name can point it here after his page was loaded (DNS
// rebinding).

#pragma once

#include "server/wire/http_request.h"

/// Whether a request comes from a page that may.
///
/// @param origins      what http_origins lists
/// @param needs_token  clients need a token
/// Whether the Host of a request names a machine by itself: a number, or localhost. With DNS
/// rebinding the Host is the attacker's name.
bool fm_http_host_is_fixed(const fm_http_request *request);

bool fm_http_origin_is_welcome(const fm_http_request *request, const char *origins,
                               bool needs_token);
