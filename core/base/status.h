// core/base/status.h: the one list of how a call can fail.
//
// A status says whether a call did its work; it never carries an answer. "There is no path" is
// an answer (see fm_plan_state), so it is not listed here. Bugs are not listed either: they end
// the process through FM_ASSERT. The number and the name go over the wire (proto/PROTOCOL.md), so
// entries are only ever added, at the end.

#pragma once

// X(enumerator, name on the wire, text for logs and people)
#define FM_STATUS_LIST(X)                                                                          \
    X(FM_OK, "ok", "ok")                                                                           \
    X(FM_ERR_NO_MEMORY, "no_memory", "not enough memory")                                          \
    X(FM_ERR_LIMIT, "limit", "a fixed limit was reached")                                          \
    X(FM_ERR_BAD_SIZE, "bad_size", "map sides must be 1..4096 cells")                              \
    X(FM_ERR_BAD_FORMAT, "bad_format", "the text does not follow its format")                      \
    X(FM_ERR_BAD_VALUE, "bad_value", "a value is outside its range")                               \
    X(FM_ERR_OFF_GRID, "off_grid", "cell lies outside the map")                                    \
    X(FM_ERR_BLOCKED_CELL, "blocked_cell", "cell cannot be entered")                               \
    X(FM_ERR_NO_TEAM, "no_team", "there is no such team")                                          \
    X(FM_ERR_NO_AGENT, "no_agent", "there is no such agent")                                       \
    X(FM_ERR_NO_WORLD, "no_world", "there is no such world")                                       \
    X(FM_ERR_NO_PLANNER, "no_planner", "there is no such planner")                                 \
    X(FM_ERR_BAD_MESSAGE, "bad_message", "message does not follow the protocol")                   \
    X(FM_ERR_NO_METHOD, "no_method", "there is no such method")                                    \
    X(FM_ERR_BAD_FIELD, "bad_field", "a field is missing, unknown in type, or out of range")       \
    X(FM_ERR_TOO_LARGE, "too_large", "message is larger than the limits that hello announced")     \
    X(FM_ERR_DENIED, "denied", "the session's role may not do this")                               \
    X(FM_ERR_NOT_READY, "not_ready", "the state of the world does not allow this now")             \
    X(FM_ERR_BUSY, "busy", "too much is waiting already, try again later")                         \
    X(FM_ERR_EXISTS, "exists", "that name is taken")                                               \
    X(FM_ERR_GOING_DOWN, "going_down", "the server is shutting down")                              \
    X(FM_ERR_IO, "io", "reading or writing failed")                                                \
    X(FM_ERR_NO_CLASS, "no_class", "there is no such movement class")                              \
    X(FM_ERR_OCCUPIED_CELL, "occupied_cell", "a unit stands there already")                        \
    X(FM_ERR_NO_TARGET, "no_target", "the target is not there, or is not seen")                    \
    X(FM_ERR_BUILDING, "building", "a building stands there already")                              \
    X(FM_ERR_NO_BUILDING, "no_building", "there is no such building")                              \
    X(FM_ERR_NO_JOURNAL, "no_journal", "there is no such journal")                                 \
    X(FM_ERR_READ_ONLY, "read_only", "the world is a replay, which cannot be changed")             \
    X(FM_ERR_MOVED, "moved", "the world is on another node: world.locate says where")              \
    X(FM_ERR_NO_ORDER, "no_order", "the agent has no such order, or no longer")                    \
    X(FM_ERR_CARRIED, "carried", "the agent is carried by another one, or carries others")         \
    X(FM_ERR_NOT_CARRIED, "not_carried", "nobody carries the agent")                               \
    X(FM_ERR_TOO_FAR, "too_far", "the agent is too far away from the carrier")

typedef enum fm_status {
#define X(enumerator, name, text) enumerator,
    FM_STATUS_LIST(X)
#undef X
} fm_status;

/// Text for logs and people. Static storage, never NULL.
const char *fm_status_text(fm_status status);

/// Name on the wire, such as "off_grid". Static storage, never NULL.
const char *fm_status_name(fm_status status);
