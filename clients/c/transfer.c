// clients/c/transfer.c: sends and receives files in pieces: maps and saved worlds. See
// fogmarch/connection.h.
//
// Pieces are much smaller than the server's message limit, so that it serves others between two of
// them. Where it limits a client's bytes per second, it refuses pieces with `busy`, and they are
// sent again a little later.

#include "clients/c/client.h"
#include "clients/c/connect.h"

#include <fogmarch/object.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_SIZE_MAX   ((size_t)256 << 10) // bytes
#define WAIT_SHORTEST_MS 20u
#define WAIT_LONGEST_MS  1000u
#define PATIENCE_MS      60000u // after which a piece that is still refused fails

// The client does not read meanwhile, which is fine for a second.
static void sleep_ms(uint32_t ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

fm_status fm_client_call_patiently(fm_client *client, fm_method method, const fm_params *params,
                                   const msgpack_object **result)
{
    fm_status status = fm_client_call(client, method, params, result);
    uint32_t wait_ms = WAIT_SHORTEST_MS;
    for (uint32_t waited_ms = 0; status == FM_ERR_BUSY && waited_ms < PATIENCE_MS;) {
        sleep_ms(wait_ms);
        waited_ms += wait_ms;
        wait_ms = wait_ms * 2 < WAIT_LONGEST_MS ? wait_ms * 2 : WAIT_LONGEST_MS;
        status = fm_client_call(client, method, params, result);
    }
    return status;
}

// ---- to the server -----------------------------------------------------------------------------

fm_status fm_client_upload(fm_client *client, const char *bytes, size_t size, uint64_t *upload)
{
    if (size == 0) {
        return fm_client_error_set(fm_client_error_of(client), FM_ERR_BAD_VALUE,
                                   "the file is empty");
    }
    size_t piece_max = fm_client_message_size_max(client) / 2;
    piece_max = piece_max < PIECE_SIZE_MAX ? piece_max : PIECE_SIZE_MAX;
    fm_params params;
    fm_params_init(&params);
    fm_status status = FM_OK;
    uint64_t number = 0;
    for (size_t offset = 0; offset < size && status == FM_OK;) {
        size_t piece = size - offset < piece_max ? size - offset : piece_max;
        fm_params_clear(&params);
        if (offset == 0) {
            fm_params_uint(&params, FM_FIELD_TOTAL, size);
        } else {
            fm_params_uint(&params, FM_FIELD_UPLOAD, number);
        }
        fm_params_uint(&params, FM_FIELD_OFFSET, offset);
        fm_params_bytes(&params, FM_FIELD_DATA, bytes + offset, piece);
        const msgpack_object *result;
        status = fm_client_call_patiently(client, FM_METHOD_MAP_UPLOAD, &params, &result);
        if (status == FM_OK) {
            number = fm_object_uint(result, "upload", number);
            offset += piece;
        }
    }
    fm_params_fini(&params);
    if (status == FM_OK) {
        *upload = number;
    }
    return status;
}

// ---- from the server ---------------------------------------------------------------------------

// Asks for one piece. @return FM_OK, or why the answer is none
static fm_status fetch_piece(fm_client *client, fm_params *params, uint64_t save, size_t offset,
                             char *bytes, size_t left, size_t *size)
{
    const msgpack_object *result;
    fm_params_clear(params);
    fm_params_uint(params, FM_FIELD_SAVE, save);
    fm_params_uint(params, FM_FIELD_OFFSET, offset);
    fm_status status = fm_client_call_patiently(client, FM_METHOD_SAVE_DOWNLOAD, params, &result);
    if (status != FM_OK) {
        return status;
    }
    const msgpack_object *data = fm_object_get(result, "data");
    if (data == NULL || data->type != MSGPACK_OBJECT_BIN || data->via.bin.size == 0 ||
        data->via.bin.size > left) {
        return fm_client_error_set(fm_client_error_of(client), FM_ERR_BAD_MESSAGE,
                                   "save.download: a piece of 1 to %zu bytes was expected", left);
    }
    *size = data->via.bin.size;
    memcpy(bytes, data->via.bin.ptr, *size);
    return FM_OK;
}

fm_status fm_client_download(fm_client *client, uint64_t save, size_t total, char **bytes)
{
    char *block = malloc(total + (total == 0));
    if (block == NULL) {
        return fm_client_error_set(fm_client_error_of(client), FM_ERR_NO_MEMORY, "%zu bytes",
                                   total);
    }
    fm_params params;
    fm_params_init(&params);
    fm_status status = FM_OK;
    for (size_t offset = 0; offset < total && status == FM_OK;) {
        size_t size = 0;
        status = fetch_piece(client, &params, save, offset, block + offset, total - offset, &size);
        offset += size;
    }
    fm_params_fini(&params);
    if (status != FM_OK) {
        free(block);
        return status;
    }
    *bytes = block;
    return FM_OK;
}
