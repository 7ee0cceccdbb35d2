// server/methods/failure.h: the sentence of an error answer: what was refused, and why.

#pragma once

#include "server/worlds/host.h"

/// Says which part of a job was refused, and why.
///
/// @param job    whose status is not FM_OK
/// @param error  receives it; room for FM_ERROR_TEXT_SIZE; left alone when the status says it all
void fm_failure_describe(const fm_job *job, char *error);

/// "agent 17: there is no such agent", for whatever `status` is about.
///
/// @param what   world, team, agent or building
/// @param error  as above
void fm_failure_name(char *error, const char *what, uint64_t number, fm_status status);
