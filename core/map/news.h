// core/map/news.h: the inside of fm_knowledge_has_news(), for knowledge.c: the cells from which
// nothing is left to learn.
//
// Threads: those of knowledge.h.

#pragma once

#include "core/map/line_of_sight.h"

/// A unit with this sight has looked around from a cell, or sees nothing new there. Several threads
/// may call it at once.
void fm_news_note_sensed(const fm_knowledge *knowledge, const fm_line_of_sight *sight,
                         fm_cell cell);

/// From around edited cells there is something to learn again: the cells, and what they hid.
void fm_news_expect(fm_knowledge *knowledge, const fm_edited_word *edited);
