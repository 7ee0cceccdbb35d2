// clients/c/client.h: what the library's other files know of a client. Not for programs.

#pragma once

#include <fogmarch/connection.h>

/// Where fm_client_error_last() looks.
fm_client_error *fm_client_error_of(fm_client *client);

/// Bytes of the largest message that the server takes.
size_t fm_client_message_size_max(const fm_client *client);
