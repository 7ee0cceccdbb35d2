// server/process/http_origin.h: which web pages may open a WebSocket.
//
// Browsers say which page a script belongs to. Programs that are not browsers leave it out: they
// could say what they like anyway. A page that came from here may come back, but where everybody is
// admin not under any name: the owner of a name can have it lead here once his page is loaded.

#pragma once

#include "server/wire/http_request.h"

/// Whether a request comes from a page that may.
///
/// @param origins      what http_origins lists
/// @param needs_token  nobody is let in without a token
/// Whether the Host of a request names a machine by itself: a number, or localhost. A page of
/// somebody else's whose name leads here once it is loaded (DNS rebinding) has its own name there.
bool fm_http_host_is_fixed(const fm_http_request *request);

bool fm_http_origin_is_welcome(const fm_http_request *request, const char *origins,
                               bool needs_token);
