// server/methods/save_methods.h: world.save, save.download and world.load.
//
//   world.save   conductor: settle, write ──> the session's file ── save.download, pieces ──> gone
//   map.upload   the session's upload ── world.load ──> thread pool: read, check ──> a world
//
// Bounds: a session has one save under way or one file, all of them FM_SAVES_WAITING_MAX saves
// under way; files count with the uploads, and go with their sessions.

#pragma once

#include "server/methods/request.h"

fm_take_fn fm_take_world_save, fm_take_save_download, fm_take_world_load;

/// Answers world.save: the session keeps what the job has saved.
fm_reply_fn fm_reply_world_save;

/// A job that saves a world has come back. @param session  NULL: it has gone
void fm_save_end(fm_hub *hub, fm_session *session);
