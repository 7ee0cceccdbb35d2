// server/methods/request.h: what the methods share: the session, world, team and fields of a
// request, and how it becomes a job.
//
// Only here numbers become cells and ids: what lies outside the map is refused with the entry's
// position.
//
// A method has up to two halves. `take` runs when the request comes in, with fields that were
// checked against proto/protocol.def: it answers at once, or turns the request into a job. `answer`
// packs the result of that job when it comes back. In between the session may have gone.
//
// Threads: the event loop.

#pragma once

#include "proto/pack.h"
#include "server/sessions/session.h"

#define FM_AGENTS_PER_REQUEST 65536u // as in proto/protocol.def
#define FM_CELLS_PER_REQUEST  65536u // the same; each is two numbers

/// What `take` returns when another text than the status's own shall be sent: the text
/// goes into `error`, which has room for FM_ERROR_TEXT_SIZE and is empty at first.
typedef fm_status fm_take_fn(fm_session *session, const fm_request *request, char *error);

/// Packs the result of a job that was done.
typedef void fm_answer_fn(msgpack_packer *packer, const fm_job *job);

/// Answers the request of a job that was done, where packing its result is not enough. The job
/// stays the caller's.
typedef void fm_reply_fn(fm_session *session, fm_job *job);

// ---- who asks, for what ------------------------------------------------------------------------

/// Whose share of a world's time a session uses: players of a team are one holder, and so are all
/// sessions of another token. @return not 0
uint64_t fm_request_holder(const fm_session *session);

/// Whether a session may know where a world of the cluster is.
bool fm_request_may_locate(const fm_session *session, const fm_node_world *world);

/// The world that field `world` names. A player has only one.
/// @return FM_OK, FM_ERR_NO_WORLD or FM_ERR_MOVED: another node has it
FM_CHECKED fm_status fm_request_host(fm_session *session, const fm_request *request, fm_host **out);

/// Whether another node may have a world that is here: this one's lease may be over. What waits for
/// the world's journal waits for that as well; what is answered at once must ask.
bool fm_request_is_in_doubt(const fm_session *session, const fm_host *host);

/// The error for a world that is not here. @return FM_ERR_NO_WORLD, or FM_ERR_MOVED: another node
/// has it
FM_CHECKED fm_status fm_request_missing(const fm_session *session, uint64_t number);

/// The team that field `team` names: FM_ALL_TEAMS, everything, when it is absent. A player's is
/// that of its seat, whether it is named or not.
/// @return FM_OK, or FM_ERR_DENIED: a player named another team, which may exist or not
FM_CHECKED fm_status fm_request_team(const fm_session *session, const fm_request *request,
                                     uint32_t *team);

/// Whether a session may know of this world. A player knows only one.
bool fm_request_may_know(const fm_session *session, const fm_host *host);

/// The world of a player's seat. NULL while there is none
fm_host *fm_request_seat_host(const fm_session *session);

// ---- handlers ----------------------------------------------------------------------------------

/// Calls a method's handler. Here and not beside the table, so that the simulation can check before
/// and after (tests/sim/unchanged.h) that a refused request has changed nothing.
FM_CHECKED fm_status fm_request_take(fm_take_fn *take, fm_session *session,
                                     const fm_request *request, char *error);

// ---- answers and jobs --------------------------------------------------------------------------

/// Answers with an error, unless the request is a notification.
void fm_request_refuse(fm_session *session, const fm_request *request, fm_status status,
                       const char *error);

/// Answers with an empty map, unless the request is a notification.
void fm_request_done(fm_session *session, const fm_request *request);

/// Makes a job that will be answered to this request. NULL when out of memory.
fm_job *fm_request_make_job(fm_session *session, const fm_request *request, fm_job_kind kind,
                            fm_host *host);

/// Hands a job over. Takes it in any case.
/// @return FM_OK or FM_ERR_BUSY
FM_CHECKED fm_status fm_request_post(fm_session *session, fm_job *job);

/// Fills in a command, whose kind and team are set, from the fields of its method.
/// @return FM_OK, or why it is refused
typedef fm_status fm_fill_fn(const fm_request *request, fm_job *job, char *error);

/// Makes a command for the session's world and team, and gives it to the conductor.
FM_CHECKED fm_status fm_request_post_command(fm_session *session, const fm_request *request,
                                             fm_command_kind kind, fm_fill_fn *fill, char *error);

// ---- fields ------------------------------------------------------------------------------------

/// Field `rect`, or the whole map. @return FM_OK or FM_ERR_OFF_GRID
FM_CHECKED fm_status fm_request_rect(const fm_host *host, const fm_request *request, fm_rect *rect,
                                     char *error);

/// The cells of a field with x, y of each; room for all of them. @return FM_OK or FM_ERR_OFF_GRID
FM_CHECKED fm_status fm_request_cells(const fm_host *host, const fm_request *request,
                                      fm_field field, fm_cell *cells, char *error);

/// Field `class`, or the world's first. @return FM_OK or FM_ERR_NO_CLASS
FM_CHECKED fm_status fm_request_class(const fm_host *host, const fm_request *request,
                                      uint32_t *class_index, char *error);

/// Field `planner`; ops NULL when it is absent. @return FM_OK, FM_ERR_NO_PLANNER or
/// FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_request_planner(const fm_request *request, fm_planner_spec *spec,
                                        char *error);

/// Whether a TEXT value is this word.
bool fm_value_is(const fm_value *value, const char *word);

/// Index of a TEXT value in a list of names.
///
/// @param index  receives it; left alone when the value is absent
/// @return FM_OK or FM_ERR_BAD_VALUE, with a sentence that lists the names
FM_CHECKED fm_status fm_request_choose(const fm_request *request, fm_field field,
                                       const char *const *names, uint32_t name_count,
                                       uint32_t *index, char *error);
