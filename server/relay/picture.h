// server/relay/picture.h: turns what upstream sends of a view (keyframes, dense deltas) into
// publications, as a scene gets them from a conductor on the world's own server. So everything
// behind the scene (rectangles, merged deltas, packing once for all) works as it does there.
//
// Upstream knows agents by the world's ids, because a relay comes as an observer. The scene takes
// these as aliases, too: only players see aliases, and a relay has none.
//
// Input is checked: a message is taken whole or refused.
//
// Threads: the event loop; nothing is kept between calls.

#pragma once

#include "server/streams/scene.h"

#include <fogmarch/object.h>

/// Makes a publication of a keyframe of the whole map. One that is not later than what the scene
/// shows replaces what its readers know (is_cut): upstream may have gone back in time. Orders that
/// ended before a later one come with the delta of the same tick that follows it, if any did.
///
/// @param params  of the notification
/// @param out     receives it; left alone on failure
/// @return FM_OK, FM_ERR_BAD_MESSAGE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_picture_of_keyframe(const fm_scene *scene, const msgpack_object *params,
                                            fm_publication **out);

/// Makes a publication of a dense delta that follows what the scene shows.
///
/// @return as above; FM_ERR_BAD_MESSAGE also when it does not follow
FM_CHECKED fm_status fm_picture_of_delta(const fm_scene *scene, const msgpack_object *params,
                                         fm_publication **out);
