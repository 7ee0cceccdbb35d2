// loadtest/drive/beside.h: files that belong to this program, found from where the program lies:
// the server in the same folder, the scenarios in ../share/fogmarch, in build trees and
// installations.

#pragma once

#include "core/base/base.h"

/// The path of what lies at `relative` from the folder of this program.
/// @param path  receives it; whether anything is there is not looked at
/// @return false when the program's own path is not known, or `size` bytes are too few
bool fm_beside_program(const char *relative, char *path, size_t size);
