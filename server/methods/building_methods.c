// server/methods/building_methods.c: see building_methods.h.

#include "server/methods/building_methods.h"

#include <stdlib.h>

// A player's building pushes no units away: see core/commands/permit.h.
static fm_status read_on_units(const fm_request *request, bool is_player, fm_on_units *on_units,
                               char *error)
{
    static const char *const names[] = {
#define X(enumerator, name) name,
        FM_ON_UNITS_LIST(X)
#undef X
    };
    const fm_value *value = &request->values[FM_FIELD_ON_UNITS];
    uint32_t index = is_player ? FM_UNITS_REFUSE : FM_UNITS_PUSH;
    if (is_player && value->present && fm_value_is(value, names[FM_UNITS_PUSH])) {
        snprintf(error, FM_ERROR_TEXT_SIZE, "on_units: a player's building pushes nobody: refuse");
        return FM_ERR_BAD_VALUE;
    }
    fm_status status =
        fm_request_choose(request, FM_FIELD_ON_UNITS, names, FM_COUNT_OF(names), &index, error);
    *on_units = (fm_on_units)index;
    return status;
}

static fm_status fill_place(const fm_request *request, fm_job *job, char *error)
{
    fm_command *command = &job->command.command;
    fm_status status = read_on_units(request, job->command.by_name, &command->on_units, error);
    if (status != FM_OK) {
        return status;
    }
    job->command.rects = malloc(sizeof *job->command.rects);
    if (job->command.rects == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    command->rects = job->command.rects;
    command->rect_count = 1;
    return fm_request_rect(job->host, request, job->command.rects, error);
}

fm_status fm_take_building_place(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_BUILD, fill_place, error);
}

static fm_status fill_remove(const fm_request *request, fm_job *job, char *error)
{
    (void)error;
    job->command.command.building = (uint32_t)request->values[FM_FIELD_BUILDING].number;
    return FM_OK;
}

fm_status fm_take_building_remove(fm_session *session, const fm_request *request, char *error)
{
    return fm_request_post_command(session, request, FM_COMMAND_DEMOLISH, fill_remove, error);
}

void fm_answer_building_place(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 2);
    fm_pack_key_uint(packer, "building", job->command.result.building);
    fm_pack_key_uint(packer, "pushed", job->command.result.changed_count);
}

void fm_answer_building_remove(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 1);
    fm_pack_key_uint(packer, "changed", job->command.result.changed_count);
}
