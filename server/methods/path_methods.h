// server/methods/path_methods.h: path.*: questions about paths on what a team knows, or on the
// true map. server/worlds/queries.h says how they are answered.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_path_query, fm_take_path_distance, fm_take_path_reachable, fm_take_path_nearest,
    fm_take_path_field;
fm_answer_fn fm_answer_path, fm_answer_reachable, fm_answer_nearest, fm_answer_field;

/// Reads a question's own fields, besides world, team, class and expansions_max.
typedef fm_status fm_read_fn(const fm_request *request, fm_job *job, char *error);

/// Takes in a question and posts it. @return FM_OK, FM_ERR_BUSY, or what is wrong with it
FM_CHECKED fm_status fm_path_ask(fm_session *session, const fm_request *request, fm_ask_kind kind,
                                 fm_read_fn *read, char *error);

/// Nobody waits for the questions of this session any more.
void fm_path_end_session(fm_session *session);

/// How a question that is not running ended, as a word on the wire.
const char *fm_query_reason(fm_query_state state);
