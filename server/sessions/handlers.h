// server/sessions/handlers.h: what each method does, as one table indexed by fm_method.
//
// A method has up to two halves. `take` runs when the request comes in, with fields that were
// checked against proto/protocol.def: it answers at once, or turns the request into a job. `answer`
// packs the result of that job when it comes back. In between the session may have gone.
//
// Threads: the event loop.

#pragma once

#include "server/sessions/session.h"

#define FM_AGENTS_PER_REQUEST 65536u // as in proto/protocol.def
#define FM_CELLS_PER_REQUEST  65536u // likewise; each is two numbers

/// Handles one unpacked message.
void fm_handlers_receive(fm_session *session, const msgpack_object *message);

/// Answers the request that a job was made for, and releases the job.
void fm_handlers_job_done(fm_hub *hub, fm_job *job);

/// Asserts that every method has its handler.
void fm_handlers_check(void);

// ---- for server/handlers*.c only ---------------------------------------------------------------

/// What `take` returns when something else than the status's own text should be said: the text
/// goes into `error`, which has room for FM_ERROR_TEXT_SIZE and is empty at first.
typedef fm_status fm_take_fn(fm_session *session, const fm_request *request, char *error);

/// Packs the result of a job that was done.
typedef void fm_answer_fn(msgpack_packer *packer, const fm_job *job);

// Which worlds a method is for.
typedef enum fm_handler_worlds {
    FM_WORLDS_LIVE, // not for replays, which cannot be changed
    FM_WORLDS_ALL,
    FM_WORLDS_REPLAYS,
} fm_handler_worlds;

typedef struct fm_handler {
    fm_take_fn *take;
    fm_answer_fn *answer; // NULL: `take` answers
    /// How much it takes from `meter`, besides a message and its bytes; NULL: nothing.
    uint64_t (*amount)(const fm_request *request);
    fm_meter_kind meter;
    fm_handler_worlds worlds; // field `world`
} fm_handler;

/// The handlers of what concerns the session itself.
fm_take_fn fm_take_hello, fm_take_ping, fm_take_token_create, fm_take_token_revoke;

/// The handlers of world.*, and of team.*, agent.*, terrain.*, path.* and debug.*.
fm_take_fn fm_take_world_create, fm_take_world_list, fm_take_world_info, fm_take_world_destroy,
    fm_take_world_pause, fm_take_world_resume, fm_take_world_step, fm_take_map_upload;
fm_answer_fn fm_answer_tick, fm_answer_step;
fm_take_fn fm_take_team_create, fm_take_agent_spawn, fm_take_agent_remove, fm_take_agent_order,
    fm_take_agent_planner, fm_take_terrain_set, fm_take_building_place, fm_take_building_remove,
    fm_take_debug_inspect;
fm_answer_fn fm_answer_team_create, fm_answer_agent_spawn, fm_answer_agent_remove,
    fm_answer_agent_order, fm_answer_agent_planner, fm_answer_terrain_set, fm_answer_building_place,
    fm_answer_building_remove, fm_answer_debug_inspect;
fm_take_fn fm_take_path_query, fm_take_path_distance, fm_take_path_reachable, fm_take_path_nearest,
    fm_take_path_field;
fm_answer_fn fm_answer_path, fm_answer_reachable, fm_answer_nearest, fm_answer_field;

/// The world that field `world` names. For a player there is but one.
/// @return FM_OK or FM_ERR_NO_WORLD
FM_CHECKED fm_status fm_handlers_host(fm_session *session, const fm_request *request,
                                      fm_host **out);

/// The team that field `team` names: FM_ALL_TEAMS, everything, when it is absent. A player's is
/// that of its seat, whether it is named or not.
/// @return FM_OK, or FM_ERR_DENIED: a player named another team, which may exist or not
FM_CHECKED fm_status fm_handlers_team(const fm_session *session, const fm_request *request,
                                      uint32_t *team);

/// Whether a session may know that there is this world. For players there is but one.
bool fm_handlers_may_know(const fm_session *session, const fm_host *host);

/// The world of a player's seat. NULL while there is none
fm_host *fm_handlers_seat_host(const fm_session *session);

/// Answers with an error, unless the request is a notification.
void fm_handlers_refuse(fm_session *session, const fm_request *request, fm_status status,
                        const char *error);

/// Makes a job that will be answered to this request. NULL when memory is out.
fm_job *fm_handlers_make_job(fm_session *session, const fm_request *request, fm_job_kind kind,
                             fm_host *host);

/// Hands a job over. Takes it in any case.
/// @return FM_OK or FM_ERR_BUSY
FM_CHECKED fm_status fm_handlers_post(fm_session *session, fm_job *job);

/// Field `rect`, or the whole map. @return FM_OK or FM_ERR_OFF_GRID
FM_CHECKED fm_status fm_handlers_rect(const fm_host *host, const fm_request *request, fm_rect *rect,
                                      char *error);

/// The cells of a field with x, y of each; room for all of them. @return FM_OK or FM_ERR_OFF_GRID
FM_CHECKED fm_status fm_handlers_cells(const fm_host *host, const fm_request *request,
                                       fm_field field, fm_cell *cells, char *error);

/// Field `class`, or the world's first. @return FM_OK or FM_ERR_NO_CLASS
FM_CHECKED fm_status fm_handlers_class(const fm_host *host, const fm_request *request,
                                       uint32_t *class_index, char *error);

/// Field `planner`; ops NULL when it is absent. @return FM_OK, FM_ERR_NO_PLANNER or
/// FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_handlers_planner(const fm_request *request, fm_planner_spec *spec,
                                         char *error);

// server/sessions/handlers_query.c: reads what a question wants to know, beside world, team, class
// and expansions_max.
typedef fm_status fm_read_fn(const fm_request *request, fm_job *job, char *error);

/// Takes in a question and posts it. @return FM_OK, FM_ERR_BUSY, or what is wrong with it
FM_CHECKED fm_status fm_handlers_ask(fm_session *session, const fm_request *request,
                                     fm_ask_kind kind, fm_read_fn *read, char *error);

/// How a question that is not running ended, as a word on the wire.
const char *fm_query_reason(fm_query_state state);

// server/sessions/handlers_debug.c
fm_take_fn fm_take_debug_subscribe, fm_take_debug_unsubscribe, fm_take_debug_explain,
    fm_take_debug_top, fm_take_debug_compare;
fm_answer_fn fm_answer_debug_subscribe, fm_answer_debug_unsubscribe, fm_answer_debug_explain,
    fm_answer_debug_top, fm_answer_debug_compare;

// server/sessions/handlers_replay.c
fm_take_fn fm_take_replay_list, fm_take_replay_open, fm_take_replay_seek, fm_take_replay_play,
    fm_take_replay_pause, fm_take_replay_close;
fm_answer_fn fm_answer_replay_seek;

// server/sessions/handlers_agent.c

/// Fills in a command, of which kind and team are there, from the fields of its method.
/// @return FM_OK, or why it is refused
typedef fm_status fm_fill_fn(const fm_request *request, fm_job *job, char *error);

/// Makes a command for the session's world and team, and gives it to the conductor.
FM_CHECKED fm_status fm_handlers_post_command(fm_session *session, const fm_request *request,
                                              fm_command_kind kind, fm_fill_fn *fill, char *error);

// server/sessions/handlers_save.c
fm_take_fn fm_take_world_save, fm_take_save_download, fm_take_world_load;

/// A job that saves a world has come back. @param session  NULL: it has gone
void fm_handlers_end_save(fm_hub *hub, fm_session *session);

/// Answers world.save: the session keeps what the job has saved.
void fm_handlers_keep_save(fm_session *session, fm_job *job);

// server/sessions/handlers_world.c

/// Packs the key `digest` and 16 hexadecimal digits.
void fm_handlers_pack_digest(msgpack_packer *packer, uint64_t digest);

/// Field `overload`, where it is there. @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_handlers_overload(const fm_request *request, fm_overload *overload,
                                          char *error);

/// Whether a new world may have a name of up to FM_WORLD_NAME_MAX bytes.
///
/// @param name  receives it, with a NUL; may be `bytes`
/// @return FM_OK, FM_ERR_BAD_VALUE or FM_ERR_EXISTS
FM_CHECKED fm_status fm_handlers_new_name(const fm_session *session, const char *bytes, size_t size,
                                          char *name, char *error);

/// Whether there may be one more world. @return FM_OK or FM_ERR_LIMIT
FM_CHECKED fm_status fm_handlers_new_world(const fm_session *session, char *error);

/// Takes the session's finished upload that field `upload` names. Its bytes are the caller's then.
/// @return FM_OK or FM_ERR_BAD_VALUE
FM_CHECKED fm_status fm_handlers_take_upload(fm_session *session, const fm_request *request,
                                             char **bytes, size_t *size, char *error);

/// What a tick brought to an agent that the session follows with debug.subscribe.
void fm_handlers_send_trace(fm_session *session, const fm_job *job);

/// Packing of what many results have.
void fm_pack_key_uint(msgpack_packer *packer, const char *key, uint64_t number);
void fm_pack_key_text(msgpack_packer *packer, const char *key, const char *text);
void fm_pack_key_bool(msgpack_packer *packer, const char *key, bool flag);
void fm_pack_key_real(msgpack_packer *packer, const char *key, double real);

/// An array of x, y.
void fm_pack_key_cells(msgpack_packer *packer, const char *key, const fm_cell *cells,
                       uint32_t count);

/// Whether a TEXT value is this word.
bool fm_value_is(const fm_value *value, const char *word);

/// Where a TEXT value stands in a list of names.
///
/// @param index  receives it; left alone when the value is absent
/// @return FM_OK or FM_ERR_BAD_VALUE, with a sentence that lists the names
FM_CHECKED fm_status fm_handlers_choose(const fm_request *request, fm_field field,
                                        const char *const *names, uint32_t name_count,
                                        uint32_t *index, char *error);
