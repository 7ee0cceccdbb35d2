// proto/protocol.h: the lists of protocol.def as enums and tables, and the checks that come from
// them. What a handler gets has been checked against its method's table: the required fields are
// there, every field has its type and lies in its range.
//
// Messages (MessagePack-RPC):
//   request       [0, id, method, [params]]     params is a map; an empty array stands for {}
//   response      [1, id, error, result]        error: nil, or {code, name, message}
//   notification  [2, method, [params]]
//
// A cell's look is one number: 0 unknown, else (cost - 1) << 4 | terrain (core/map/grid.h: 1
// ground, 2 out of bounds, 3 trees, 4 swamp, 5 water, 6 wall, 7 building).

#pragma once

#include "core/world/world.h"

#include <msgpack.h>

#define FM_PROTOCOL_NUMBER    1u
#define FM_UINT_MAX           UINT64_C(9007199254740991) // 2^53 - 1: every client can hold it exactly
#define FM_MAP_BYTES_MAX      (17u << 20)  // bytes of a .map file: 4096 x 4096 and its line ends
#define FM_UPLOAD_BYTES_MAX   (256u << 20) // bytes of a file that comes or goes in pieces
#define FM_DOWNLOAD_PIECE_MAX (1u << 20)   // bytes of one piece that goes
#define FM_ERROR_TEXT_SIZE    240u         // bytes of an error's message, NUL included

typedef enum fm_role {
#define FM_ROLE(enumerator, name, text) enumerator,
#include "proto/protocol.def"
#undef FM_ROLE
    FM_ROLE_COUNT,
} fm_role;

typedef enum fm_field {
#define FM_FIELD(enumerator, name) enumerator,
#include "proto/protocol.def"
#undef FM_FIELD
    FM_FIELD_COUNT,
} fm_field;

typedef enum fm_method {
#define FM_METHOD(enumerator, name, role, text, fields) enumerator,
#include "proto/protocol.def"
#undef FM_METHOD
    FM_METHOD_COUNT,
} fm_method;

typedef enum fm_notification {
#define FM_NOTIFICATION(enumerator, name, text, fields) enumerator,
#include "proto/protocol.def"
#undef FM_NOTIFICATION
    FM_NOTIFICATION_COUNT,
} fm_notification;

// One parameter as received. Text, bytes and arrays point into the message.
typedef struct fm_value {
    bool present;
    uint64_t number;                // UINT; BOOL as 0 or 1
    double real;                    // REAL (integers are taken too)
    const char *bytes;              // TEXT (UTF-8, no NUL inside, not NUL-terminated) and BYTES
    uint32_t size;                  // of `bytes`
    const msgpack_object *elements; // UINTS: each checked to be a number below 2^53
    uint32_t count;                 // of `elements`
} fm_value;

typedef enum fm_message_kind {
    FM_MESSAGE_REQUEST,
    FM_MESSAGE_RESPONSE,
    FM_MESSAGE_NOTIFICATION,
} fm_message_kind;

typedef struct fm_request {
    bool is_notification; // no answer is wanted
    uint64_t id;          // 0..2^32 - 1
    fm_method method;
    fm_value values[FM_FIELD_COUNT];
} fm_request;

/// Checks an unpacked message against the table of its method.
///
/// @param message  any msgpack value; `request` points into it
/// @param request  on failure id is set when the message had one, so that it can be answered
/// @param error    receives a sentence, such as
///                 "agent.order: field 'goal': 2 numbers wanted, got 3";
///                 room for FM_ERROR_TEXT_SIZE
/// @return FM_OK; FM_ERR_BAD_MESSAGE (neither request nor notification: disconnect);
///         FM_ERR_NO_METHOD or FM_ERR_BAD_FIELD (answer with an error)
FM_CHECKED fm_status fm_request_check(const msgpack_object *message, fm_request *request,
                                      char *error);

/// Number `index` of a UINTS value (asserted to be in range).
static inline uint64_t fm_value_at(const fm_value *value, uint32_t index)
{
    FM_ASSERT(index < value->count);
    return value->elements[index].via.u64;
}

const char *fm_method_name(fm_method method);
fm_role fm_method_role(fm_method method); // lowest role that may call it

/// Whether a role may call a method: from its lowest role on, but observer and debug only read and
/// may not give orders.
bool fm_role_may(fm_role role, fm_method method);
const char *fm_notification_name(fm_notification notification);
const char *fm_field_name(fm_field field);
const char *fm_role_name(fm_role role);

/// Finds a role by name. @return true when there is one
/// For clients: `hello` answers a name. The simulation of tests/sim uses it.
bool fm_role_by_name(const char *name, fm_role *role);

// ---- writing; all append to a msgpack_sbuffer and cannot fail but for memory (returns false) ----

/// [0, id, method, [ -- the caller packs one map after it.
bool fm_pack_request(msgpack_packer *packer, uint64_t id, fm_method method);

/// [1, id, nil, -- the caller packs the result after it.
bool fm_pack_result(msgpack_packer *packer, uint64_t id);

/// [1, id, {code, name, message}, nil]; message NULL: the status's own text.
bool fm_pack_error(msgpack_packer *packer, uint64_t id, fm_status status, const char *message);

/// The same with room for `more` entries of the map, which the caller packs after it, and then nil.
bool fm_pack_error_and(msgpack_packer *packer, uint64_t id, fm_status status, const char *message,
                       uint32_t more);

/// [2, method, [ -- the caller packs one map after it.
bool fm_pack_notification(msgpack_packer *packer, fm_notification notification);

/// A text as msgpack str.
bool fm_pack_text(msgpack_packer *packer, const char *text);

// ---- looks of cells -----------------------------------------------------------------------------

static inline uint32_t fm_look_pack(fm_learned learned)
{
    return learned.terrain == FM_TERRAIN_UNKNOWN
               ? 0
               : ((uint32_t)learned.cost - 1) << 4 | learned.terrain;
}
