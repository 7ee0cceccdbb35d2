// core/map/look_all.h: what many see at once.
//
// Threads: readers may share the knowledge; `visible` has one owner.

#pragma once

#include "core/map/knowledge.h"

/// Adds 1 bits to `visible` for every cell that somebody sees now who stands on one of `eyes`: the
/// same as fm_knowledge_look() from each of them.
///
/// @param eyes  of the shape of the map
void fm_look_all(const fm_knowledge *knowledge, const fm_bitmap *eyes, fm_bitmap *visible);
