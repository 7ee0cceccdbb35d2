// clients/c/mirror_motion.h: the motion of agents in a mirror.

#pragma once

#include <fogmarch/mirror.h>

/// Takes the entry `motion` of a keyframe or delta.
///
/// @return FM_OK, FM_ERR_BAD_MESSAGE or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_mirror_set_motions(fm_mirror *mirror, fm_numbers numbers);

/// Nothing is known of the agent that has come to position `index` of `agents`.
void fm_mirror_forget_motion(fm_mirror *mirror, uint32_t index);

/// The agent at position `from` of `agents` goes to position `to`.
void fm_mirror_carry_motion(fm_mirror *mirror, uint32_t to, uint32_t from);
