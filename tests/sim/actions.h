// tests/sim/actions.h: one thing that a client does, drawn at random: sensible commands, commands
// that are refused, fields of the wrong kind, and bytes that are no message at all.

#pragma once

#include "tests/sim/book.h"

/// Does one thing that the client's role may or may not allow.
///
/// @param hostile  may also send what is no message
void sim_act(sim_client *client, bool hostile);

/// Makes a world. @param name  unique
void sim_act_create(sim_client *client, const char *name, bool sound);
