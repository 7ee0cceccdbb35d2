// params.h: the parameters of all methods, as tests know them: protocol.def, expanded
// without the decoder that is tested.
//
// Threads: constants only.

#pragma once

#include "proto/param_words.h"
#include "proto/protocol.h"

struct param {
    fm_field field; // FM_FIELD_COUNT ends the list
    enum param_type type;
    enum need need;
    double minimum, maximum; // of the number, the size in bytes or the count of elements
};

static const struct param *const params_of[FM_METHOD_COUNT] = {
#define PARAM(field, type, need, minimum, maximum, text) {field, type, need, minimum, maximum},
#define RESULT(name, type, text)
#define FM_METHOD(enumerator, name, role, text, fields)                                            \
    [enumerator] = (const struct param[]){fields{.field = FM_FIELD_COUNT}},
#include "proto/protocol.def"
#undef FM_METHOD
#undef RESULT
#undef PARAM
};

static inline bool is_param(const struct param *param)
{
    return param->field != FM_FIELD_COUNT;
}
