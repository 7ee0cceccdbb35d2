// proto/param_words.h: the words that protocol.def uses for parameters, for files that expand it.
// They have no prefix because the list uses them bare.

#pragma once

enum param_type {
    UINT,
    REAL,
    BOOL,
    TEXT,
    BYTES,
    UINTS,
};

enum need {
    MAY,
    MUST,
};
