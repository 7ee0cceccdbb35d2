// loadtest/drive/beside.h: files that belong to this program, found relative to the program: the
// server in the same folder, the scenarios in ../share/fogmarch, in build trees and installations.

#pragma once

#include "core/base/base.h"

/// The path at `relative` from the folder of this program.
/// @return false when the program's own path is not known, or `size` bytes are too few
bool fm_beside_program(const char *relative, char *path, size_t size);
