// clients/c/repeats.h: which requests a client may send again, to another node.

#pragma once

#include <fogmarch/words.h>

#include <stdbool.h>

/// Whether a method takes a command_id, by the list of the protocol: with one it is carried out
/// once.
bool fm_takes_command_id(fm_method method);

/// Whether a request may be sent again when it may have been carried out. Without a command_id some
/// could be done twice, or refer to something that only one node has.
bool fm_may_repeat(fm_method method);
