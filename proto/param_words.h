// proto/param_words.h: what protocol.def says of a parameter, for the files that expand it. The
// names are bare because they stand so in the list.

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
