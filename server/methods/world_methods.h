// server/methods/world_methods.h: map.upload and world.*: making, listing, pacing and ending
// worlds.
//
// Reading or generating a map, and dropping a world's memory, are slow: both run on libuv's thread
// pool. A name is taken from the moment world.create comes in.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_world_create, fm_take_world_list, fm_take_world_info, fm_take_world_destroy,
    fm_take_world_pause, fm_take_world_resume, fm_take_world_step, fm_take_map_upload;
fm_answer_fn fm_answer_tick, fm_answer_step;

/// Field `overload`, where it is there. @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_request_overload(const fm_request *request, fm_overload *overload,
                                         char *error);

/// Whether a new world may have a name of up to FM_WORLD_NAME_MAX bytes.
///
/// @param name  receives it, with a NUL; may be `bytes`
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_EXISTS
FM_CHECKED fm_status fm_request_new_name(const fm_session *session, const char *bytes, size_t size,
                                         char *name, char *error);

/// Whether there may be one more world. @return FM_OK or FM_ERR_LIMIT
FM_CHECKED fm_status fm_request_new_world(const fm_session *session, char *error);

/// Takes the session's finished upload that field `upload` names. Its bytes are the caller's then.
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_request_take_upload(fm_session *session, const fm_request *request,
                                            char **bytes, size_t *size, char *error);
