// core/saves/world_file_state.c: see world_file_state.h.

#include "core/saves/world_file_state.h"

const char *fm_world_section_name(fm_world_section section)
{
    switch (section) {
#define X(enumerator, name)                                                                        \
    case enumerator:                                                                               \
        return name;
        FM_WORLD_SECTION_LIST(X)
#undef X
    case FM_SECTION_COUNT:
        break;
    }
    FM_UNREACHABLE();
}
