// server/streams/scenes.h: the scenes of all worlds: opened when a session subscribes to a view,
// closed when none shows it.
//
// All scenes together have FM_SCENES_SIZE_MAX bytes of cells. Scenes without readers, kept for
// readers that may come back, are closed for new ones; first the one that has waited longest.
//
// Scenes go to another node with their world. There a scene begins with a snapshot of the world
// before its next tick: a client that was sent everything up to there continues with the same
// stream; others get a keyframe.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/session.h"
#include "server/streams/scene.h"

#define FM_SCENES_TEXT_SIZE 4096u

/// The scene of a team's view of a world, or of everything (FM_ALL_TEAMS). NULL: there is none.
fm_scene *fm_scenes_find(const fm_host *host, uint32_t team);

/// Opens the scene of a view and asks the conductor to watch it.
///
/// @param session  that waits for it: the job counts as one of its own; NULL: none
/// @param sight    whether the view says which cells are visible
/// @return FM_OK, FM_ERR_LIMIT (too many bytes of scenes that are in use), FM_ERR_NO_MEMORY or
///         FM_ERR_MOVED: the world goes to another node
FM_CHECKED fm_status fm_scenes_open(fm_hub *hub, fm_session *session, fm_host *host, uint32_t team,
                                    bool sight, fm_scene **out);

/// Asks for the visible cells of a scene without them; does nothing when it has them.
/// @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_scenes_ask_for_sight(fm_session *session, fm_scene *scene);

/// The same for how agents move.
///
/// @param session  NULL: none waits for it
FM_CHECKED fm_status fm_scenes_ask_for_motion(fm_hub *hub, fm_session *session, fm_scene *scene);

/// Closes a scene without subscriptions, and ends the conductor's watch.
void fm_scenes_close(fm_hub *hub, fm_scene *scene);

/// A number for a scene's stream, unique also across restarts. Its two low bits are 0.
uint64_t fm_scenes_make_stream(void);

// ---- from node to node -------------------------------------------------------------------------

/// Writes the scenes of a world that goes to another node as text. @return bytes, without the NUL
size_t fm_scenes_describe(const fm_host *host, char *text, size_t size);

/// Makes those of a world that has just come, as far as `text` is what fm_scenes_describe() writes.
/// They close if no reader comes back.
///
/// @return jobs for the conductor, one behind the other (event.next), which are to follow the one
///         that adds the world before its first tick; NULL: none
fm_job *fm_scenes_expect(fm_hub *hub, fm_host *host, const char *text);

/// Takes that back: the world could not be added.
void fm_scenes_forget(fm_hub *hub, fm_host *host, fm_job *jobs);
