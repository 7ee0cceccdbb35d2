// core/map/look_all.h: what many units see, in one call.
//
// Threads: readers may share the knowledge; `visible` has one owner.

#pragma once

#include "core/map/knowledge.h"

/// Sets the bit in `visible` for every cell that is seen from any of `eyes`: the same as
/// fm_knowledge_look() from each of them.
///
/// @param eyes  of the shape of the map
void fm_look_all(const fm_knowledge *knowledge, const fm_bitmap *eyes, fm_bitmap *visible);
