// server/streams/scene.h: what one view of a world (a team's, or everything) shows, kept on the
// event loop.
//
// A scene is built from publications and answers two questions about any rectangle: what is there
// (keyframe), and what is different since tick t (delta). For the second it remembers, for the last
// many changes, how each agent was before: the first entry after t that names an agent says what a
// reader at t still shows, and the scene says what it should show. The difference is the delta,
// whether the reader is one tick behind or fifty, with a rectangle or without.
//
//   AWAITED ── snapshot ──> LIVE ── snapshot (after a loss) ──> LIVE
//
// Answers are packed once and kept until the next tick, so that all readers at the same tick with
// the same rectangle share one frame.
//
// Agents and orders have two numbers: the world's ids, and the names of core/world/names.h that a
// player may know. A scene distinguishes agents by name; a veiled answer, for a player, has names
// only.
//
// Threads: the event loop.

#pragma once

#include "server/base/frame.h"
#include "server/base/tick_log.h"
#include "server/worlds/host.h"

#define FM_SCENE_CACHE_MAX 32u // packed answers

typedef struct fm_subscription fm_subscription;

// How a reader wants its answers.
typedef struct fm_form {
    bool veiled; // with names for numbers: a player
    bool dense;  // deltas with steps and runs (proto/dense.h)
    bool sight;  // with what is visible
    bool motion; // with `motion`; of a scene that keeps it
} fm_form;

// The part of a keyframe or delta that follows the subscription's number.
typedef struct fm_body {
    fm_frame *frame;   // NULL: empty or, with entries, out of memory
    uint32_t entries;  // of the map, without those before and after
    size_t sight_size; // bytes of them that say what is visible
} fm_body;

typedef struct fm_scene_agent {
    uint64_t name; // of the agent seen last in this slot; 0 for none
    uint64_t id;   // the same, for those who may know it
    uint32_t team;
    fm_cell cell;
    uint8_t state; // fm_agent_state
    uint8_t class_index;
    bool in_view;
    uint8_t left_reason; // fm_leave_reason, when it was in view before
    // Which delta has dealt with this slot's agent already, and with which agent.
    uint32_t stamp;
    uint64_t stamp_name;
} fm_scene_agent;

// How an agent moves, as far as the view has seen it.
typedef struct fm_scene_motion {
    uint64_t changed_tick; // when it was another one last
    uint64_t stepped_tick; // of its last step; 0: none was seen
    uint32_t speed;        // of that, in thousandths of a cell a tick; 0: not known
    uint8_t heading;       // of that, a direction; FM_DIRECTION_COUNT: not known
    uint8_t point_count;
    fm_waypoint points[FM_COURSE_POINTS_MAX]; // of own agents: where it goes
} fm_scene_motion;

// A game's tag on an agent.
typedef struct fm_scene_tag {
    uint64_t changed_tick; // when it was another one last
    uint8_t size;          // bytes; 0: none
    uint8_t bytes[FM_TAG_SIZE_MAX];
} fm_scene_tag;

typedef struct fm_cached_body {
    bool is_keyframe;
    fm_form form;
    uint64_t since; // of a delta
    fm_rect rect;
    fm_body body;
} fm_cached_body;

struct fm_scene {
    fm_scene *next, **link; // of the host; what points to this one
    fm_scene *next_of_team; // with the same head
    fm_host *host;
    uint32_t team;
    uint64_t serial;
    uint64_t stream;  // identifies this history for clients that come back; random, even
    uint64_t idle_ns; // since when nobody is subscribed; 0: somebody is
    bool is_kept;     // kept without subscribers, until the world or the server ends
    bool live;
    uint64_t tick; // of the newest publication
    fm_load load;
    fm_subscription *subscriptions;

    uint16_t *looks;          // owned; row by row
    uint32_t sight_pitch;     // words of a row of the next two
    uint64_t *visible;        // owned; as fm_world_sight() gives it; NULL: not wanted
    uint64_t *flipped;        // owned; in the same way: what differed before `sight_tick`
    uint64_t sight_tick;      // when any of it last changed
    uint64_t sight_from;      // `flipped` leads from this tick, and those between, to now
    bool sight_asked;         // the conductor was asked for it
    fm_scene_agent *agents;   // owned; by slot of the name
    fm_scene_motion *motions; // owned; the same; NULL unless `keeps_motion`
    uint32_t motion_count;    // at least slot_count
    fm_scene_tag *tags;       // owned; by slot; NULL until there was one
    uint32_t tag_count;       // slots that have room for one
    bool keeps_motion;
    bool motion_asked; // the conductor was asked for it
    uint32_t slot_count;
    uint32_t stamp;
    fm_building_look *buildings; // owned
    uint32_t building_count, building_capacity;
    uint64_t buildings_tick; // when any last came or went
    fm_tick_log agent_log;   // struct before, see scene.c
    fm_tick_log cell_log;    // fm_cell
    fm_tick_log ended_log;   // fm_order_ended
    fm_tick_log alert_log;   // fm_alert
    fm_tick_log died_log;    // fm_agent_left: those that died while they were carried

    fm_cached_body cache[FM_SCENE_CACHE_MAX];
    uint64_t cached_count; // ever since the last publication; the newest ones are kept
    fm_body load_body;
};

/// @return NULL when out of memory
fm_scene *fm_scene_create(fm_host *host, uint32_t team, uint64_t serial);

/// Keeps how agents move from now on. @return FM_OK or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_scene_keep_motion(fm_scene *scene);

/// Without subscriptions (asserted). NULL is allowed.
void fm_scene_destroy(fm_scene *scene);

/// Takes in the changes of a tick, or a snapshot, which takes over the scene's old looks.
/// @return FM_OK, or FM_ERR_NO_MEMORY: the scene is broken then
FM_CHECKED fm_status fm_scene_apply(fm_scene *scene, fm_publication *publication);

/// Whether a delta since that tick can be made.
bool fm_scene_reaches(const fm_scene *scene, uint64_t since);

/// The body of a keyframe. The scene owns the frame; add a reference to keep it.
fm_body fm_scene_keyframe(fm_scene *scene, const fm_rect *rect, fm_form form);

/// The rest of a delta. Empty when nothing in the rectangle is different.
fm_body fm_scene_delta(fm_scene *scene, const fm_rect *rect, uint64_t since, fm_form form);

/// The rest of a delta for a reader whose view has moved from one rectangle to another. The caller
/// owns the frame.
fm_body fm_scene_shift(fm_scene *scene, const fm_rect *from, const fm_rect *to, uint64_t since,
                       fm_form form);

/// The agent in view with an id, or of that name with `veiled`. NULL when there is none
const fm_scene_agent *fm_scene_find(const fm_scene *scene, uint64_t number, bool veiled);

/// Whether orders that ended or alerts since that tick are no longer kept: too many came since.
bool fm_scene_has_lost_ends(const fm_scene *scene, uint64_t since);

/// A delta with only the ended orders and the alerts after a tick, up to another one, as far as
/// they are remembered: these are not in a keyframe. The caller owns the frame.
fm_body fm_scene_ended(fm_scene *scene, uint64_t since, uint64_t until, fm_form form);

/// A keyframe's entry `untold` alone. The caller owns the frame.
fm_body fm_scene_untold(void);

/// The entry `load` alone.
fm_body fm_scene_load(fm_scene *scene);

/// Bytes that a scene of this world takes for its cells.
size_t fm_scene_size(const fm_host *host);
