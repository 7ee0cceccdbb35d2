// clients/maps/readers.h: one reader for each format. All take the whole file, check it before they
// allocate what it asks for, and leave nothing behind when they refuse.
//
// Statuses of each: FM_OK, FM_ERR_BAD_FORMAT (does not follow the format), FM_ERR_BAD_VALUE
// (follows it, but is no usable map), FM_ERR_BAD_SIZE, FM_ERR_LIMIT, FM_ERR_IO (a file beside it),
// FM_ERR_NO_MEMORY; `out` is left alone then, and input->fault says why.

#pragma once

#include "clients/maps/input.h"

/// MovingAI: type octile, tile or weighted. Letters beyond the format's come from FILE.yaml, or
/// their costs from FILE.cost ("LETTER COST" on each line; 0: cannot be entered).
FM_CHECKED fm_status fm_read_moving_ai(const fm_map_input *input, fm_grid **out);

/// Rows of letters and nothing else. Short rows are filled up with what a blank means.
FM_CHECKED fm_status fm_read_ascii(const fm_map_input *input, fm_grid **out);

/// PNG: of any kind.
FM_CHECKED fm_status fm_read_png(const fm_map_input *input, fm_grid **out);

/// PGM and PPM: P2, P3, P5 and P6.
FM_CHECKED fm_status fm_read_pnm(const fm_map_input *input, fm_grid **out);

/// Tiled's .tmj (JSON).
FM_CHECKED fm_status fm_read_tiled_json(const fm_map_input *input, fm_grid **out);

/// Tiled's .tmx (XML).
FM_CHECKED fm_status fm_read_tiled_xml(const fm_map_input *input, fm_grid **out);
