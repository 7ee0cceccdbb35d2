// fogmarch/words.h: the words of the protocol: statuses, methods, fields, states, limits.
//
// Made by clients/c/generate.py from the lists that the server is built from. proto/PROTOCOL.md
// says what each method does and which fields it takes. Names keep their meaning; the next minor
// version, whose library has another soname, may number them differently.

#pragma once

#ifdef FOGMARCH_TREE // programs of the project itself know the lists that this file is made from

#include "proto/protocol.h"
#include "proto/scanner.h"

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The caller must look at the returned fm_status.
#if defined(__GNUC__)
#define FM_CHECKED __attribute__((warn_unused_result))
#else
#define FM_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off

#define FM_PROTOCOL_NUMBER    1u
#define FM_UINT_MAX           UINT64_C(9007199254740991) // 2^53 - 1: every client can hold it exactly
#define FM_ERROR_TEXT_SIZE    240u         // bytes of an error's message, NUL included
#define FM_SIDE_MAX  4096u
#define FM_CELL_NONE UINT32_MAX
#define FM_AGENTS_MAX           (1u << 20) // agents of one world, whatever its rules say
#define FM_TEAMS_MAX            (1u << 16) // teams of one world
#define FM_CLASSES_MAX     8u         // of one world
#define FM_TAG_SIZE_MAX     64u // bytes of an agent's tag
#define FM_SCANNER_DEPTH_MAX 32u

// Whether a request was done, and why not.
typedef enum fm_status {
    FM_OK, // ok: ok
    FM_ERR_NO_MEMORY, // no_memory: not enough memory
    FM_ERR_LIMIT, // limit: a fixed limit was reached
    FM_ERR_BAD_SIZE, // bad_size: map sides must be 1..4096 cells
    FM_ERR_BAD_FORMAT, // bad_format: the text does not follow its format
    FM_ERR_BAD_VALUE, // bad_value: a value is outside its range
    FM_ERR_OFF_GRID, // off_grid: cell lies outside the map
    FM_ERR_BLOCKED_CELL, // blocked_cell: cell cannot be entered
    FM_ERR_NO_TEAM, // no_team: there is no such team
    FM_ERR_NO_AGENT, // no_agent: there is no such agent
    FM_ERR_NO_WORLD, // no_world: there is no such world
    FM_ERR_NO_PLANNER, // no_planner: there is no such planner
    FM_ERR_BAD_MESSAGE, // bad_message: message does not follow the protocol
    FM_ERR_NO_METHOD, // no_method: there is no such method
    FM_ERR_BAD_FIELD, // bad_field: a field is missing, unknown in type, or out of range
    FM_ERR_TOO_LARGE, // too_large: message is larger than the limits that hello announced
    FM_ERR_DENIED, // denied: the session's role may not do this
    FM_ERR_NOT_READY, // not_ready: the state of the world does not allow this now
    FM_ERR_BUSY, // busy: too much is waiting already, try again later
    FM_ERR_EXISTS, // exists: that name is taken
    FM_ERR_GOING_DOWN, // going_down: the server is shutting down
    FM_ERR_IO, // io: reading or writing failed
    FM_ERR_NO_CLASS, // no_class: there is no such movement class
    FM_ERR_OCCUPIED_CELL, // occupied_cell: a unit stands there already
    FM_ERR_NO_TARGET, // no_target: the target is not there, or is not seen
    FM_ERR_BUILDING, // building: a building stands there already
    FM_ERR_NO_BUILDING, // no_building: there is no such building
    FM_ERR_NO_JOURNAL, // no_journal: there is no such journal
    FM_ERR_READ_ONLY, // read_only: the world is a replay, which cannot be changed
    FM_ERR_MOVED, // moved: the world is on another node: world.locate says where
    FM_ERR_NO_ORDER, // no_order: the agent has no such order, or no longer
    FM_ERR_CARRIED, // carried: the agent is carried by another one, or carries others
    FM_ERR_NOT_CARRIED, // not_carried: nobody carries the agent
    FM_ERR_TOO_FAR, // too_far: the agent is too far away from the carrier
} fm_status;

/// Text for logs and people. Static storage, never NULL.
const char *fm_status_text(fm_status status);

/// Name on the wire, such as "off_grid". Static storage, never NULL.
const char *fm_status_name(fm_status status);

// A cell: y << 12 | x. x grows eastward, y southward, (0, 0) is the north-west corner.
typedef uint32_t fm_cell;

static inline fm_cell fm_cell_at(uint32_t x, uint32_t y)
{
    return y << 12 | x;
}

static inline uint32_t fm_cell_x(fm_cell cell)
{
    return cell & 0xfffu;
}

static inline uint32_t fm_cell_y(fm_cell cell)
{
    return cell >> 12;
}

// A rectangle of cells.
typedef struct fm_rect {
    uint32_t x, y;          // north-west corner
    uint32_t width, height; // cells, at least 1
} fm_rect;

typedef enum fm_terrain {
    FM_TERRAIN_UNKNOWN, // unknown
    FM_TERRAIN_GROUND, // ground
    FM_TERRAIN_OUT, // out_of_bounds
    FM_TERRAIN_TREES, // trees
    FM_TERRAIN_SWAMP, // swamp
    FM_TERRAIN_WATER, // water
    FM_TERRAIN_WALL, // wall
    FM_TERRAIN_BUILDING, // building
    FM_TERRAIN_COUNT,
} fm_terrain;

typedef enum fm_agent_state {
    FM_AGENT_IDLE, // idle
    FM_AGENT_MOVING, // moving
    FM_AGENT_WAITING, // waiting
    FM_AGENT_BLOCKED, // blocked
    FM_AGENT_HOLDING, // holding
    FM_AGENT_CARRIED, // carried
    FM_AGENT_STATE_COUNT,
} fm_agent_state;

// How an order ended.
typedef enum fm_order_end {
    FM_END_ARRIVED, // arrived
    FM_END_NEAREST, // nearest_reached
    FM_END_UNREACHABLE, // unreachable
    FM_END_REPLACED, // replaced
    FM_END_CANCELLED, // cancelled
    FM_END_DIED, // died
    FM_END_EXHAUSTED, // out_of_memory
    FM_END_TARGET_LOST, // target_lost
    FM_END_TARGET_DIED, // target_died
    FM_END_EXPLORED, // explored
    FM_END_CROWDED, // crowded
    FM_END_DEADLINE, // deadline
    FM_END_BOARDED, // boarded
    FM_END_COUNT,
} fm_order_end;

// A building as a view shows it.
typedef struct fm_building_look {
    uint32_t id;
    uint32_t name; // alias: counts those that the view has shown
    uint32_t team;
    fm_rect rect;
} fm_building_look;

typedef struct fm_scan_limits {
    uint32_t size_max;     // bytes of a message
    uint32_t depth_max;    // arrays and maps inside each other, 1..FM_SCANNER_DEPTH_MAX
    uint32_t elements_max; // values of all arrays and maps (a map entry counts 2)
} fm_scan_limits;

// Requests.
typedef enum fm_method {
    FM_METHOD_HELLO, // "hello"
    FM_METHOD_PING, // "ping"
    FM_METHOD_TOKEN_CREATE, // "token.create"
    FM_METHOD_TOKEN_REVOKE, // "token.revoke"
    FM_METHOD_MAP_UPLOAD, // "map.upload"
    FM_METHOD_WORLD_CREATE, // "world.create"
    FM_METHOD_WORLD_LIST, // "world.list"
    FM_METHOD_WORLD_INFO, // "world.info"
    FM_METHOD_WORLD_DESTROY, // "world.destroy"
    FM_METHOD_WORLD_PAUSE, // "world.pause"
    FM_METHOD_WORLD_RESUME, // "world.resume"
    FM_METHOD_WORLD_STEP, // "world.step"
    FM_METHOD_TEAM_CREATE, // "team.create"
    FM_METHOD_TEAM_COST, // "team.cost"
    FM_METHOD_AGENT_SPAWN, // "agent.spawn"
    FM_METHOD_AGENT_REMOVE, // "agent.remove"
    FM_METHOD_AGENT_ORDER, // "agent.order"
    FM_METHOD_AGENT_CANCEL, // "agent.cancel"
    FM_METHOD_AGENT_RESUME, // "agent.resume"
    FM_METHOD_AGENT_PLANNER, // "agent.planner"
    FM_METHOD_AGENT_SET, // "agent.set"
    FM_METHOD_AGENT_PLACE, // "agent.place"
    FM_METHOD_AGENT_BOARD, // "agent.board"
    FM_METHOD_AGENT_UNBOARD, // "agent.unboard"
    FM_METHOD_AGENT_REPORT, // "agent.report"
    FM_METHOD_TERRAIN_SET, // "terrain.set"
    FM_METHOD_BUILDING_PLACE, // "building.place"
    FM_METHOD_BUILDING_REMOVE, // "building.remove"
    FM_METHOD_PATH_QUERY, // "path.query"
    FM_METHOD_PATH_DISTANCE, // "path.distance"
    FM_METHOD_PATH_REACHABLE, // "path.reachable"
    FM_METHOD_PATH_NEAREST, // "path.nearest"
    FM_METHOD_PATH_FIELD, // "path.field"
    FM_METHOD_SUBSCRIBE, // "subscribe"
    FM_METHOD_SUBSCRIPTION_MOVE, // "subscription.move"
    FM_METHOD_UNSUBSCRIBE, // "unsubscribe"
    FM_METHOD_STATS, // "stats"
    FM_METHOD_DEBUG_INSPECT, // "debug.inspect"
    FM_METHOD_DEBUG_SUBSCRIBE, // "debug.subscribe"
    FM_METHOD_DEBUG_UNSUBSCRIBE, // "debug.unsubscribe"
    FM_METHOD_DEBUG_EXPLAIN, // "debug.explain"
    FM_METHOD_DEBUG_COMPARE, // "debug.compare"
    FM_METHOD_DEBUG_TOP, // "debug.top"
    FM_METHOD_DEBUG_JAMS, // "debug.jams"
    FM_METHOD_WORLD_SAVE, // "world.save"
    FM_METHOD_SAVE_DOWNLOAD, // "save.download"
    FM_METHOD_WORLD_LOAD, // "world.load"
    FM_METHOD_REPLAY_LIST, // "replay.list"
    FM_METHOD_REPLAY_OPEN, // "replay.open"
    FM_METHOD_REPLAY_SEEK, // "replay.seek"
    FM_METHOD_REPLAY_PLAY, // "replay.play"
    FM_METHOD_REPLAY_PAUSE, // "replay.pause"
    FM_METHOD_REPLAY_CLOSE, // "replay.close"
    FM_METHOD_WORLD_LOCATE, // "world.locate"
    FM_METHOD_CLUSTER_STATUS, // "cluster.status"
    FM_METHOD_TOKEN_LIST, // "token.list"
    FM_METHOD_CLUSTER_MOVE, // "cluster.move"
    FM_METHOD_CLUSTER_DRAIN, // "cluster.drain"
    FM_METHOD_CLUSTER_UNDRAIN, // "cluster.undrain"
    FM_METHOD_JOURNAL_FOLLOW, // "journal.follow"
    FM_METHOD_JOURNAL_HAVE, // "journal.have"
    FM_METHOD_STANDBY_STATUS, // "standby.status"
    FM_METHOD_STANDBY_PROMOTE, // "standby.promote"
    FM_METHOD_COUNT,
} fm_method;

// Their parameters.
typedef enum fm_field {
    FM_FIELD_PROTOCOL, // "protocol"
    FM_FIELD_CLIENT, // "client"
    FM_FIELD_TOKEN, // "token"
    FM_FIELD_TIME, // "time"
    FM_FIELD_UPLOAD, // "upload"
    FM_FIELD_TOTAL, // "total"
    FM_FIELD_OFFSET, // "offset"
    FM_FIELD_DATA, // "data"
    FM_FIELD_NAME, // "name"
    FM_FIELD_MAP, // "map"
    FM_FIELD_GENERATOR, // "generator"
    FM_FIELD_WIDTH, // "width"
    FM_FIELD_HEIGHT, // "height"
    FM_FIELD_SEED, // "seed"
    FM_FIELD_PLAYERS, // "players"
    FM_FIELD_WALLS_REMOVED, // "walls_removed"
    FM_FIELD_ROOM_SIDE, // "room_side"
    FM_FIELD_BLOCKED_PERMILLE, // "blocked_permille"
    FM_FIELD_NEIGHBOURS, // "neighbours"
    FM_FIELD_CORNER_CUTTING, // "corner_cutting"
    FM_FIELD_STEP_COSTS, // "step_costs"
    FM_FIELD_SENSE_RADIUS, // "sense_radius"
    FM_FIELD_SENSE_SHAPE, // "sense_shape"
    FM_FIELD_LINE_OF_SIGHT, // "line_of_sight"
    FM_FIELD_OMNISCIENT, // "omniscient"
    FM_FIELD_OCCUPANCY, // "occupancy"
    FM_FIELD_PUSHED_STAY, // "pushed_stay"
    FM_FIELD_BLOCKED_TICKS, // "blocked_ticks"
    FM_FIELD_PLANNER, // "planner"
    FM_FIELD_PLANNERS, // "planners"
    FM_FIELD_PLAYERS_BUILD, // "players_build"
    FM_FIELD_CHANNELS, // "channels"
    FM_FIELD_AGENTS_MAX, // "agents_max"
    FM_FIELD_TEAMS_MAX, // "teams_max"
    FM_FIELD_TICK_HZ, // "tick_hz"
    FM_FIELD_BUDGET_MS, // "budget_ms"
    FM_FIELD_OVERLOAD, // "overload"
    FM_FIELD_PAUSED, // "paused"
    FM_FIELD_WORLD, // "world"
    FM_FIELD_TICKS, // "ticks"
    FM_FIELD_TEAM, // "team"
    FM_FIELD_CELLS, // "cells"
    FM_FIELD_AGENTS, // "agents"
    FM_FIELD_SPEED, // "speed"
    FM_FIELD_MAX_DETOUR, // "max_detour"
    FM_FIELD_PLACE, // "place"
    FM_FIELD_AGENT, // "agent"
    FM_FIELD_KIND, // "kind"
    FM_FIELD_GOAL, // "goal"
    FM_FIELD_GOALS, // "goals"
    FM_FIELD_ON_UNREACHABLE, // "on_unreachable"
    FM_FIELD_RECTS, // "rects"
    FM_FIELD_SET, // "set"
    FM_FIELD_COST, // "cost"
    FM_FIELD_FROM, // "from"
    FM_FIELD_TO, // "to"
    FM_FIELD_EXPANSIONS_MAX, // "expansions_max"
    FM_FIELD_RECT, // "rect"
    FM_FIELD_EVERY, // "every"
    FM_FIELD_SUBSCRIPTION, // "subscription"
    FM_FIELD_RESET, // "reset"
    FM_FIELD_SAVED_TICKS, // "saved_ticks"
    FM_FIELD_WEIGHT, // "weight"
    FM_FIELD_TEAMS, // "teams"
    FM_FIELD_PAIRS, // "pairs"
    FM_FIELD_CLASSES, // "classes"
    FM_FIELD_CLASS, // "class"
    FM_FIELD_BUILDING, // "building"
    FM_FIELD_ON_UNITS, // "on_units"
    FM_FIELD_ROLE, // "role"
    FM_FIELD_NUMBER, // "number"
    FM_FIELD_FOLLOW, // "follow"
    FM_FIELD_TARGET, // "target"
    FM_FIELD_COMMAND_ID, // "command_id"
    FM_FIELD_RADIUS, // "radius"
    FM_FIELD_QUEUE, // "queue"
    FM_FIELD_LOOP, // "loop"
    FM_FIELD_SPREAD, // "spread"
    FM_FIELD_FORMATION, // "formation"
    FM_FIELD_COMMON_SPEED, // "common_speed"
    FM_FIELD_LANDMARKS, // "landmarks"
    FM_FIELD_LANDMARK_PLACEMENT, // "landmark_placement"
    FM_FIELD_LANDMARKS_MOVE, // "landmarks_move"
    FM_FIELD_STALE, // "stale"
    FM_FIELD_BY, // "by"
    FM_FIELD_ROWS, // "rows"
    FM_FIELD_SAVE, // "save"
    FM_FIELD_SIZE, // "size"
    FM_FIELD_RESUME, // "resume"
    FM_FIELD_STREAM, // "stream"
    FM_FIELD_SINCE, // "since"
    FM_FIELD_FILE, // "file"
    FM_FIELD_TICK, // "tick"
    FM_FIELD_ENCODING, // "encoding"
    FM_FIELD_EXPIRES_S, // "expires_s"
    FM_FIELD_FROZEN, // "frozen"
    FM_FIELD_TAG, // "tag"
    FM_FIELD_TAG_SHOWN, // "tag_shown"
    FM_FIELD_CELLS_MAX, // "cells_max"
    FM_FIELD_NODE, // "node"
    FM_FIELD_SIGHT, // "sight"
    FM_FIELD_MOTION, // "motion"
    FM_FIELD_TICKET, // "ticket"
    FM_FIELD_ORDERS, // "orders"
    FM_FIELD_AT, // "at"
    FM_FIELD_BEFORE, // "before"
    FM_FIELD_REPLACES, // "replaces"
    FM_FIELD_DEADLINE, // "deadline"
    FM_FIELD_EPOCH, // "epoch"
    FM_FIELD_ALERT, // "alert"
    FM_FIELD_ONCE, // "once"
    FM_FIELD_CARRIER, // "carrier"
    FM_FIELD_COUNT,
} fm_field;

// What the server says unasked.
typedef enum fm_notification {
    FM_NOTIFY_KEYFRAME, // "keyframe"
    FM_NOTIFY_DELTA, // "delta"
    FM_NOTIFY_DEBUG, // "debug"
    FM_NOTIFY_WORLD_ENDED, // "world_ended"
    FM_NOTIFY_IDLE, // "idle"
    FM_NOTIFY_GOING_DOWN, // "going_down"
    FM_NOTIFY_MOVED, // "moved"
    FM_NOTIFY_SHIPMENT, // "shipment"
    FM_NOTIFICATION_COUNT,
} fm_notification;

// Names on the wire. Static storage.
const char *fm_method_name(fm_method method);

const char *fm_field_name(fm_field field);

const char *fm_notification_name(fm_notification notification);

// clang-format on

#ifdef __cplusplus
}
#endif

#endif
