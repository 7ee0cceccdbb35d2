// tests/sim/unchanged.c: see unchanged.h.

#include "tests/sim/unchanged.h"

#include "core/base/random.h"
#include "server/methods/request.h"
#include "server/sessions/ledger.h"
#include "server/sessions/session.h"
#include "tests/sim/kernel.h"

#include <inttypes.h>
#include <string.h>

#define WRITTEN_MAX (2 * FM_TOKENS_CREATED_MAX)

fm_status __real_fm_request_take(fm_take_fn *take, fm_session *session, const fm_request *request,
                                 char *error);
fm_status __wrap_fm_request_take(fm_take_fn *take, fm_session *session, const fm_request *request,
                                 char *error);
fm_status __real_fm_ledger_read(fm_ledger *ledger, fm_tokens *tokens, char *error);
fm_status __wrap_fm_ledger_read(fm_ledger *ledger, fm_tokens *tokens, char *error);
fm_status __real_fm_ledger_add(fm_ledger *ledger, const fm_grant *grant, char *error);
fm_status __wrap_fm_ledger_add(fm_ledger *ledger, const fm_grant *grant, char *error);
fm_status __real_fm_ledger_remove(fm_ledger *ledger, uint64_t number, char *error);
fm_status __wrap_fm_ledger_remove(fm_ledger *ledger, uint64_t number, char *error);
fm_status __real_fm_ledger_remove_world(fm_ledger *ledger, uint64_t world, char *error);
fm_status __wrap_fm_ledger_remove_world(fm_ledger *ledger, uint64_t world, char *error);

// What the tokens' ledger must hold, from the results of its writes.
static struct {
    fm_tokens *tokens; // NULL: there is no ledger
    const fm_hub *hub; // NULL: no request has come yet
    uint64_t numbers[WRITTEN_MAX], worlds[WRITTEN_MAX];
    uint32_t count;
} written;

// ---- requests ----------------------------------------------------------------------------------

static uint64_t mix(uint64_t sum, uint64_t number)
{
    return fm_mix64(sum ^ number) + 0x9e3779b97f4a7c15u;
}

static uint64_t mix_bytes(uint64_t sum, const void *bytes, size_t size)
{
    return mix(sum, fm_bytes_checksum(bytes, size));
}

// The order of tokens does not matter.
static uint64_t digest_tokens(const fm_tokens *tokens)
{
    uint64_t sum = tokens->created_count;
    for (uint32_t i = 0; i < tokens->created_count; i++) {
        const fm_grant *grant = &tokens->created[i];
        uint64_t one = mix_bytes(grant->number, grant->hash, sizeof grant->hash);
        sum += mix(mix(mix(one, grant->role), grant->seat.number), grant->expires_s);
    }
    return sum;
}

static uint64_t digest_session(uint64_t sum, const fm_session *session)
{
    sum = mix(mix(mix(sum, session->number), session->state), session->role);
    sum = mix(mix(sum, session->seat.number), session->seat.team);
    sum = mix(mix(sum, session->subscription_count), session->queries_waiting);
    sum =
        mix(mix(mix(sum, session->upload.number), session->upload.total), session->upload.received);
    sum = mix(mix(sum, session->download.number), session->download.total);
    return mix_bytes(mix(sum, session->saving), session->token_hash, sizeof session->token_hash);
}

static uint64_t digest_hub(const fm_hub *hub)
{
    uint64_t sum = digest_tokens(&hub->tokens);
    for (uint32_t i = 0; i < hub->session_count; i++) {
        sum = digest_session(sum, hub->sessions[i]);
    }
    for (uint32_t i = 0; i < hub->host_count; i++) {
        const fm_host *host = hub->hosts[i];
        sum = mix_bytes(mix(mix(sum, host->number), host->state), host->name, strlen(host->name));
    }
    sum = mix(mix(mix(sum, hub->creation_count), hub->replay_count), hub->opening_count);
    return mix(mix(mix(sum, hub->listing_count), hub->saves_waiting), hub->uploads_size);
}

fm_status __wrap_fm_request_take(fm_take_fn *take, fm_session *session, const fm_request *request,
                                 char *error)
{
    fm_hub *hub = session->hub;
    written.hub = hub;
    uint64_t before = digest_hub(hub);
    fm_status status = __real_fm_request_take(take, session, request, error);
    if (status != FM_OK && hub->tokens.created_count > 0 && sim_bug_shows(SIM_BUG_HALF_DONE, 20)) {
        (void)fm_tokens_revoke(&hub->tokens, hub->tokens.created[0].number);
    }
    if (status != FM_OK && digest_hub(hub) != before) {
        sim_fail("%s was refused with %s and changed something", fm_method_name(request->method),
                 fm_status_name(status));
    }
    return status;
}

// ---- the ledger --------------------------------------------------------------------------------

static void note(const fm_grant *grant)
{
    FM_ASSERT(written.count < WRITTEN_MAX);
    written.numbers[written.count] = grant->number;
    written.worlds[written.count++] = grant->seat.number;
}

static void strike(uint32_t index)
{
    written.count--;
    written.numbers[index] = written.numbers[written.count];
    written.worlds[index] = written.worlds[written.count];
}

fm_status __wrap_fm_ledger_read(fm_ledger *ledger, fm_tokens *tokens, char *error)
{
    fm_status status = __real_fm_ledger_read(ledger, tokens, error);
    if (sim_node() != 0) { // its tokens are etcd's
        return status;
    }
    written.tokens = status == FM_OK ? tokens : NULL;
    written.hub = NULL;
    written.count = 0;
    for (uint32_t i = 0; status == FM_OK && i < tokens->created_count; i++) {
        note(&tokens->created[i]);
    }
    return status;
}

fm_status __wrap_fm_ledger_add(fm_ledger *ledger, const fm_grant *grant, char *error)
{
    fm_status status = __real_fm_ledger_add(ledger, grant, error);
    if (status == FM_OK) {
        note(grant);
    }
    return status;
}

fm_status __wrap_fm_ledger_remove(fm_ledger *ledger, uint64_t number, char *error)
{
    if (sim_bug_planted == SIM_BUG_EARLY_REVOKE) {
        (void)fm_tokens_revoke(written.tokens, number); // revokes before it has written
    }
    fm_status status = __real_fm_ledger_remove(ledger, number, error);
    for (uint32_t i = written.count; status == FM_OK && i-- > 0;) {
        if (written.numbers[i] == number) {
            strike(i);
        }
    }
    return status;
}

fm_status __wrap_fm_ledger_remove_world(fm_ledger *ledger, uint64_t world, char *error)
{
    fm_status status = __real_fm_ledger_remove_world(ledger, world, error);
    for (uint32_t i = written.count; status == FM_OK && i-- > 0;) {
        if (written.worlds[i] == world) {
            strike(i);
        }
    }
    return status;
}

static bool is_written(uint64_t number)
{
    for (uint32_t i = 0; i < written.count; i++) {
        if (written.numbers[i] == number) {
            return true;
        }
    }
    return false;
}

// Seats of worlds that have ended may still be in the ledger: the next start removes them.
void sim_unchanged_audit(void)
{
    if (written.tokens == NULL || written.hub == NULL) {
        return;
    }
    for (uint32_t i = 0; i < written.tokens->created_count; i++) {
        if (!is_written(written.tokens->created[i].number)) {
            sim_fail("token %" PRIu64 " is good but not in the ledger",
                     written.tokens->created[i].number);
        }
    }
    for (uint32_t i = 0; i < written.count; i++) {
        uint64_t world = written.worlds[i];
        bool ended = world != 0 && fm_hub_find_host(written.hub, world) == NULL;
        if (!ended && !fm_tokens_have_number(written.tokens, written.numbers[i])) {
            sim_fail("token %" PRIu64 " is not good any more, and comes back with a restart",
                     written.numbers[i]);
        }
    }
}
