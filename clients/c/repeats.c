// clients/c/repeats.c: see repeats.h.

#include "clients/c/repeats.h"

bool fm_takes_command_id(fm_method method)
{
#define FM_METHOD(enumerator, name, role, text, fields) [enumerator] = (0 fields) != 0,
#define PARAM(field, ...)                               +((field) == FM_FIELD_COMMAND_ID)
#define RESULT(...)
    static const bool commands[FM_METHOD_COUNT] = {
#include "proto/protocol.def"
    };
#undef FM_METHOD
#undef PARAM
#undef RESULT
    return commands[method];
}

bool fm_may_repeat(fm_method method)
{
    switch ((int)method) { // all others may
    case FM_METHOD_HELLO:
    case FM_METHOD_TOKEN_CREATE:
    case FM_METHOD_TOKEN_REVOKE:
    case FM_METHOD_MAP_UPLOAD:
    case FM_METHOD_WORLD_CREATE:
    case FM_METHOD_WORLD_DESTROY:
    case FM_METHOD_WORLD_LOAD:
    case FM_METHOD_WORLD_SAVE:
    case FM_METHOD_SAVE_DOWNLOAD:
    case FM_METHOD_WORLD_STEP:
    case FM_METHOD_SUBSCRIPTION_MOVE:
    case FM_METHOD_UNSUBSCRIBE:
    case FM_METHOD_DEBUG_UNSUBSCRIBE:
    case FM_METHOD_REPLAY_OPEN:
    case FM_METHOD_REPLAY_SEEK:
    case FM_METHOD_REPLAY_PLAY:
    case FM_METHOD_REPLAY_PAUSE:
    case FM_METHOD_REPLAY_CLOSE:
        return false;
    default:
        return true;
    }
}
