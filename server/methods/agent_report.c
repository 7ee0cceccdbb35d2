// server/methods/agent_report.c: see agent_report.h. Players know units, orders and blocking units
// by aliases; other roles by ids.

#include "server/methods/agent_report.h"

#include "core/world/words.h"
#include "server/worlds/inspection.h"

#include <stdlib.h>

#define CELLS_DEFAULT 32u

fm_status fm_take_agent_report(fm_session *session, const fm_request *request, char *error)
{
    (void)error;
    fm_host *host;
    fm_status status = fm_request_host(session, request, &host);
    if (status != FM_OK) {
        return status;
    }
    fm_job *job = fm_request_make_job(session, request, FM_JOB_UNITS, host);
    if (job == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    const fm_value *agents = &request->values[FM_FIELD_AGENTS];
    const fm_value *cells_max = &request->values[FM_FIELD_CELLS_MAX];
    job->units.agents = malloc(agents->count * sizeof *job->units.agents);
    if (job->units.agents == NULL) {
        fm_job_destroy(job);
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < agents->count; i++) {
        job->units.agents[i] = fm_agent_id_unpack(fm_value_at(agents, i));
    }
    job->units.count = agents->count;
    job->units.cells_max = cells_max->present ? (uint32_t)cells_max->number : CELLS_DEFAULT;
    job->units.by_name = session->role == FM_ROLE_PLAYER;
    job->units.team = job->units.by_name ? session->seat.team : FM_ALL_TEAMS;
    return fm_request_post(session, job);
}

static void pack_orders(msgpack_packer *packer, const fm_unit_report *report, bool by_name)
{
    fm_pack_text(packer, "orders");
    msgpack_pack_array(packer, report->order_count);
    for (uint32_t i = 0; i < report->order_count; i++) {
        const fm_unit_order *order = &report->orders[i];
        msgpack_pack_map(packer, 4);
        fm_pack_key_uint(packer, "order", by_name ? order->number : order->id);
        fm_pack_key_text(packer, "kind", fm_order_kind_names[order->kind]);
        fm_pack_key_cells(packer, "goal", &order->goal, order->goal != FM_CELL_NONE);
        fm_pack_key_uint(packer, "ticks_left", order->ticks_left);
    }
    fm_pack_key_bool(packer, "waits_for_turn", !report->has_order && report->order_count > 0);
}

static void pack_passengers(msgpack_packer *packer, const fm_unit_report *report, bool by_name)
{
    fm_pack_text(packer, "passengers");
    msgpack_pack_array(packer, report->passenger_count);
    for (uint32_t i = 0; i < report->passenger_count; i++) {
        fm_agent_id id = by_name ? report->passenger_names[i] : report->passengers[i];
        msgpack_pack_uint64(packer, fm_agent_id_pack(id));
    }
}

static void pack_unit(msgpack_packer *packer, const fm_job *job, uint32_t i)
{
    static const char *const why_names[] = {
#define X(enumerator, name) name,
        FM_WHY_LIST(X)
#undef X
    };
    const fm_unit_report *report = &job->units.reports[i];
    bool by_name = job->units.by_name;
    msgpack_pack_map(packer, 19);
    fm_pack_key_uint(packer, "agent", fm_agent_id_pack(by_name ? report->name : report->agent));
    fm_pack_key_cells(packer, "cell", &report->cell, 1);
    fm_pack_key_text(packer, "state", fm_agent_state_names[report->state]);
    fm_pack_key_text(packer, "class", job->host->rules.classes[report->class_index].name);
    fm_pack_key_real(packer, "speed", report->speed / 1000.0);
    fm_pack_key_bool(packer, "frozen", report->frozen);
    fm_pack_key_uint(packer, "sight", report->sight);
    fm_pack_key_bool(packer, "alerted", report->is_alerted);
    fm_pack_key_uint(packer, "carrier",
                     fm_agent_id_pack(by_name ? report->carrier_name : report->carrier));
    pack_passengers(packer, report, by_name);
    pack_orders(packer, report, by_name); // two entries
    fm_pack_key_cells(packer, "substitute", &report->substitute,
                      report->substitute != FM_CELL_NONE);
    fm_pack_key_uint(packer, "target",
                     fm_agent_id_pack(by_name ? report->target_name : report->target));
    fm_pack_key_cells(packer, "path",
                      &job->units.cells[(size_t)i * (job->units.cells_max + FM_UNIT_CELLS_MORE)],
                      report->path_count);
    fm_pack_key_text(packer, "why", why_names[report->why]);
    fm_pack_key_uint(packer, "waits_ticks", report->waits_ticks);
    fm_pack_key_uint(packer, "blocker",
                     fm_agent_id_pack(by_name ? report->blocker_name : report->blocker));
    fm_pack_key_cells(packer, "blocked_at", &report->blocked_at,
                      report->blocked_at != FM_CELL_NONE);
}

void fm_answer_agent_report(msgpack_packer *packer, const fm_job *job)
{
    msgpack_pack_map(packer, 2);
    fm_pack_key_uint(packer, "tick", job->tick);
    fm_pack_text(packer, "agents");
    msgpack_pack_array(packer, job->units.count);
    for (uint32_t i = 0; i < job->units.count; i++) {
        pack_unit(packer, job, i);
    }
}
