// fogmarch/mirror.h: a copy of a subscribed view, kept up to date by keyframes and deltas.
//
// A mirror belongs to one subscription. fm_mirror_apply() takes each notification as it comes; what
// the mirror holds between two of them is the view as of `tick`. A delta that does not fit what the
// mirror holds (an agent that moves but never came in) is refused as FM_ERR_BAD_MESSAGE: the two
// sides are out of step, and only a keyframe helps, that is, a new subscription.
//
// Memory   two bytes per cell of the rectangle, three with `sight`, 20 to 30 per agent, 24 more
//          with `motion` and 65 where agents have tags; within the protocol's limits.
// Threads  one at a time.

#pragma once

#include <fogmarch/object.h>
#include <fogmarch/words.h>

#ifdef __cplusplus
extern "C" {
#endif

// An agent as the view shows it.
typedef struct fm_mirror_agent {
    uint64_t id;
    uint32_t team;
    fm_cell cell;
    fm_agent_state state;
    uint32_t class_index; // movement class, in the order of the world's rules
} fm_mirror_agent;

#define FM_MIRROR_WAYPOINTS_MAX   4u
#define FM_MIRROR_HEADING_UNKNOWN 8u

// A place between cells, in half cells: the middle of cell x, y is 2 x + 1, 2 y + 1.
typedef struct fm_mirror_waypoint {
    uint16_t x2, y2;
} fm_mirror_waypoint;

// How an agent moves, in a view with `motion`; see PROTOCOL.md, Motion.
typedef struct fm_mirror_motion {
    uint32_t speed;  // of its last step, thousandths of a cell a tick; 0: not known
    uint8_t heading; // of that: 0 east, 1 south-east ... 7; FM_MIRROR_HEADING_UNKNOWN
    uint8_t waypoint_count;
    fm_mirror_waypoint waypoints[FM_MIRROR_WAYPOINTS_MAX]; // of own agents: where its middle goes
} fm_mirror_motion;

// An agent's tag (agent.set), as far as the view may know it.
typedef struct fm_mirror_tag {
    uint8_t size; // bytes; 0: nothing
    uint8_t bytes[FM_TAG_SIZE_MAX];
} fm_mirror_tag;

// The entry `load` of a delta. All zero for roles that do not get it.
typedef struct fm_mirror_load {
    uint64_t tick_us;   // microseconds the tick took
    uint64_t search_us; // microseconds of its search stage
    uint64_t expansions;
    uint64_t moved;  // agents that moved
    uint64_t agents; // alive
} fm_mirror_load;

// An order that ended.
typedef struct fm_mirror_ended {
    uint64_t order;
    uint64_t agent;
    // From FM_END_COUNT on: one of a newer server, which this library cannot name.
    fm_order_end reason;
    fm_cell cell; // where the agent stood
} fm_mirror_ended;

// A unit of the view that stopped for an enemy.
typedef struct fm_mirror_alert {
    uint64_t order;
    uint64_t agent;
    uint64_t enemy; // 0: out of sight again
    fm_cell cell;   // where that stood
} fm_mirror_alert;

struct fm_mirror;

// Callbacks while a notification is applied. All members may be NULL; they must not change the
// mirror.
typedef struct fm_mirror_ops {
    /// An agent in view moved or changed state; `agent` is as it is now.
    void (*moved)(void *context, const fm_mirror_agent *agent, fm_cell from);
    /// An order of the view ended.
    void (*ended)(void *context, const fm_mirror_ended *ended);
    /// A keyframe or delta has been applied as a whole.
    void (*updated)(void *context, const struct fm_mirror *mirror, fm_notification notification);
    /// A unit of the view stopped for an enemy; agent.resume lets it continue.
    void (*alerted)(void *context, const fm_mirror_alert *alert);
    /// An agent of the view died while another one carried it; it had left the view before.
    void (*died)(void *context, uint64_t agent);
    /// More orders ended, or more alerts came, than the server keeps for a view: in one tick, or
    /// while this client did not read. Those that were kept are told next, by `ended` and
    /// `alerted`; the others are told by nothing. agent.report tells which orders units still have.
    void (*untold)(void *context);
} fm_mirror_ops;

// Readers may look at every field; only mirror.c writes.
typedef struct fm_mirror {
    const fm_mirror_ops *ops; // may be NULL
    void *context;

    uint64_t subscription; // 0 takes the first one that comes
    uint64_t world;
    uint64_t team; // 0: everything
    uint64_t tick; // ticks completed
    fm_rect rect;  // the part of the map that is shown; width 0 before the first keyframe

    uint16_t *looks;      // rect.width * rect.height, row by row: fm_look_pack() of each cell
    uint64_t known_count; // cells that are not unknown

    fm_building_look *buildings; // that the view believes in, each with `id` as the server sent it
    uint32_t building_count;

    fm_mirror_agent *agents; // in no order
    uint32_t agent_count;
    uint32_t agent_capacity;
    uint32_t *slots; // by index1 of the id: position in `agents` plus one, 0 for none
    uint32_t slot_capacity;

    uint64_t keyframes; // counts since fm_mirror_init()
    uint64_t deltas;
    uint64_t moves;               // entries of `moved`
    uint64_t ended[FM_END_COUNT]; // orders that ended, by reason that has a name
    fm_mirror_load load;          // of the last delta that had one
    bool over;                    // world_ended or moved came
    bool has_moved;               // it was moved: the world goes on, but not in this view
    uint8_t *visible; // as `looks`: 1 where the team sees now; NULL unless subscribed with `sight`
    fm_mirror_motion *motions; // beside `agents`: use fm_mirror_motion_of(); NULL until one came
    uint32_t motion_capacity;

    fm_mirror_tag *tags; // of `agents`, see fm_mirror_tag_of(); NULL until there was one
    uint32_t tag_capacity;

    uint64_t untold; // count of keyframes before which ends of orders or alerts were not told
} fm_mirror;

/// @param subscription  as the subscribe request answered; 0: adopt that of the first keyframe
/// @param ops           outlives the mirror; may be NULL
void fm_mirror_init(fm_mirror *mirror, uint64_t subscription, const fm_mirror_ops *ops,
                    void *context);

void fm_mirror_fini(fm_mirror *mirror);

/// Continues with another subscription, as after a lost connection: subscribe again with `stream`
/// as the first one was answered, `since` = tick and `rect`. The mirror keeps its contents, until a
/// keyframe comes if the answer was not `resumed`. To be called in the callback of the answer, so
/// that no delta is missed.
///
/// @param subscription  as the request was answered
void fm_mirror_resume(fm_mirror *mirror, uint64_t subscription);

/// Whether a notification is meant for this mirror. Keyframes come before the subscribe answer
/// does, or after; either is served by a mirror with subscription 0.
bool fm_mirror_wants(const fm_mirror *mirror, fm_notification notification,
                     const msgpack_object *params);

/// Takes a keyframe, delta or world_ended; ignores what fm_mirror_wants() rejects.
///
/// @return FM_OK, FM_ERR_BAD_MESSAGE (does not fit: stop using the mirror) or FM_ERR_NO_MEMORY
FM_CHECKED fm_status fm_mirror_apply(fm_mirror *mirror, fm_notification notification,
                                     const msgpack_object *params);

/// The look of a cell: 0 unknown, else (cost - 1) << 4 | terrain. 0 outside the rectangle.
static inline uint32_t fm_mirror_look(const fm_mirror *mirror, uint32_t x, uint32_t y)
{
    uint32_t column = x - mirror->rect.x, row = y - mirror->rect.y;
    return column < mirror->rect.width && row < mirror->rect.height
               ? mirror->looks[(size_t)row * mirror->rect.width + column]
               : 0;
}

/// Whether the team sees a cell now. Where the view was subscribed without `sight`: whether it is
/// known. False outside the rectangle.
static inline bool fm_mirror_sees(const fm_mirror *mirror, uint32_t x, uint32_t y)
{
    uint32_t column = x - mirror->rect.x, row = y - mirror->rect.y;
    size_t at = (size_t)row * mirror->rect.width + column;
    return column < mirror->rect.width && row < mirror->rect.height &&
           (mirror->visible == NULL ? mirror->looks[at] != 0 : mirror->visible[at] != 0);
}

/// The terrain in a look.
static inline fm_terrain fm_look_terrain(uint32_t look)
{
    return (fm_terrain)(look & 15);
}

/// How many times the cost of open floor, 1..250, the cell of a look has that is not 0.
static inline uint32_t fm_look_cost(uint32_t look)
{
    return (look >> 4) + 1;
}

/// Whether a look is one that an agent can stand on.
static inline bool fm_look_is_free(uint32_t look)
{
    return fm_look_terrain(look) == FM_TERRAIN_GROUND;
}

/// The tag of an agent of the mirror, which the next fm_mirror_apply() may change.
///
/// @param size  receives its bytes
/// @return NULL, and size 0, when it has none
const uint8_t *fm_mirror_tag_of(const fm_mirror *mirror, const fm_mirror_agent *agent,
                                uint32_t *size);

/// @return NULL when no such agent is in view; good until the next fm_mirror_apply()
const fm_mirror_agent *fm_mirror_find(const fm_mirror *mirror, uint64_t id);

/// How an agent in view moves, as far as known; with `motion` only.
///
/// @return NULL: nothing is known; good until the next fm_mirror_apply()
static inline const fm_mirror_motion *fm_mirror_motion_of(const fm_mirror *mirror, uint64_t id)
{
    const fm_mirror_agent *agent = fm_mirror_find(mirror, id);
    uint32_t index = agent == NULL ? mirror->motion_capacity : (uint32_t)(agent - mirror->agents);
    const fm_mirror_motion *motion =
        index < mirror->motion_capacity ? &mirror->motions[index] : NULL;
    bool is_known = motion != NULL &&
                    (motion->heading < FM_MIRROR_HEADING_UNKNOWN || motion->waypoint_count > 0);
    return is_known ? motion : NULL;
}

#ifdef __cplusplus
}
#endif
