// core/base/status.c: texts for statuses, and what FM_ASSERT calls.

#include "core/base/status.h"

#include "core/base/base.h"

#include <stdio.h>
#include <stdlib.h>

const char *fm_status_text(fm_status status)
{
    switch (status) {
#define X(enumerator, name, text)                                                                  \
    case enumerator:                                                                               \
        return text;
        FM_STATUS_LIST(X)
#undef X
    }
    FM_UNREACHABLE();
}

const char *fm_status_name(fm_status status)
{
    switch (status) {
#define X(enumerator, name, text)                                                                  \
    case enumerator:                                                                               \
        return name;
        FM_STATUS_LIST(X)
#undef X
    }
    FM_UNREACHABLE();
}

_Noreturn void fm_panic(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    abort();
}
