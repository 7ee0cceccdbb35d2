// clients/c/call.c: a call that waits for its answer, and hello. See fogmarch/connection.h.

#include "clients/c/client.h"
#include "clients/c/connect.h"

#include <fogmarch/object.h>

#define MESSAGE_SIZE_MIN 1024u // bytes that any server accepts

struct call {
    fm_client *client;
    bool done;
    bool failed;
    fm_client_error error;
    msgpack_object message; // the whole answer, in reply_bytes and reply_zone
};

// Keeps a copy of the answer, since reading continues in the buffer that it lies in.
static void on_call_reply(void *context, uint64_t id, const fm_client_error *error,
                          const msgpack_object *result)
{
    (void)id;
    (void)result;
    struct call *call = context;
    fm_client *client = call->client;
    call->done = true;
    call->failed = error != NULL;
    if (error != NULL) {
        call->error = *error;
        return;
    }
    size_t offset = 0;
    msgpack_sbuffer_clear(&client->reply_bytes);
    msgpack_zone_clear(&client->reply_zone);
    if (msgpack_sbuffer_write(&client->reply_bytes, (const char *)client->message,
                              client->message_size) != 0 ||
        msgpack_unpack(client->reply_bytes.data, client->reply_bytes.size, &offset,
                       &client->reply_zone, &call->message) != MSGPACK_UNPACK_SUCCESS) {
        call->failed = true;
        fm_client_error_set(&call->error, FM_ERR_NO_MEMORY, "%s", fm_status_text(FM_ERR_NO_MEMORY));
    } else if (client->hooks != NULL) {
        client->hooks->rename(client, &call->message.via.array.ptr[3]);
    }
}

fm_status fm_client_call(fm_client *client, fm_method method, const fm_params *params,
                         const msgpack_object **result)
{
    FM_ASSERT(!client->delivering);
    struct call call = {.client = client};
    fm_status status = fm_client_send(client, method, params, on_call_reply, &call, NULL);
    if (status != FM_OK) {
        return status;
    }
    while (!call.done) {
        (void)!fm_client_wait(client, -1); // a broken connection answers the call
    }
    if (call.failed) {
        client->error = call.error;
        return call.error.status;
    }
    if (result != NULL) {
        // The object lives in the zone, unlike `call`.
        *result = &call.message.via.array.ptr[3];
    }
    return FM_OK;
}

static fm_status say_hello(fm_client *client, const msgpack_object **result)
{
    fm_params params;
    fm_params_init(&params);
    fm_params_uint(&params, FM_FIELD_PROTOCOL, FM_PROTOCOL_NUMBER);
    fm_params_text(&params, FM_FIELD_CLIENT, client->name);
    if (client->token[0] != '\0') {
        fm_params_text(&params, FM_FIELD_TOKEN, client->token);
    }
    if (client->resume[0] != '\0') {
        fm_params_text(&params, FM_FIELD_RESUME, client->resume);
    }
    if (client->ticket[0] != '\0') {
        fm_params_text(&params, FM_FIELD_TICKET, client->ticket);
    }
    fm_status status = fm_client_call(client, FM_METHOD_HELLO, &params, result);
    fm_params_fini(&params);
    return status;
}

fm_status fm_client_hello(fm_client *client, fm_client_welcome *welcome)
{
    const msgpack_object *result;
    fm_status status = say_hello(client, &result);
    while (status == FM_ERR_IO && !client->is_strange && client->hooks != NULL &&
           client->hooks->start_elsewhere(client)) {
        status = say_hello(client, &result);
    }
    if (status != FM_OK) {
        return status;
    }
    const msgpack_object *limits = fm_object_get(result, "limits");
    uint64_t size_max = fm_object_uint(limits, "message_size", client->message_size_max);
    client->message_size_max = size_max > MESSAGE_SIZE_MIN ? size_max : MESSAGE_SIZE_MIN;
    if (welcome != NULL) {
        fm_object_text(result, "server", welcome->server, sizeof welcome->server);
        fm_object_text(result, "node", welcome->node, sizeof welcome->node);
        fm_object_text(result, "role", welcome->role, sizeof welcome->role);
        welcome->protocol = fm_object_uint(result, "protocol", 0);
        welcome->session = fm_object_uint(result, "session", 0);
        fm_object_text(result, "resume", welcome->resume, sizeof welcome->resume);
        welcome->resumed = fm_object_bool(result, "resumed", false);
        welcome->message_size = client->message_size_max;
        welcome->agents_max = fm_object_uint(limits, "agents", 65536);
        welcome->cells_max = fm_object_uint(limits, "cells", 65536);
    }
    if (client->hooks != NULL) {
        client->hooks->greeted(client, result);
    }
    return FM_OK;
}
