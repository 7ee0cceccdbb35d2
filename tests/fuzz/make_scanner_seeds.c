// tests/fuzz/make_scanner_seeds.c: writes the seeds of fuzz_scanner.c: one good request for
// each method, with all its fields, and the headers that must be refused.
//
//   make_scanner_seeds FOLDER

#include "tests/support/params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTE 6 // cuts a seed into pieces of 7 bytes, see fuzz_scanner.c

static void write_seed(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputc(PIECE_BYTE, file) == EOF || fwrite(bytes, 1, size, file) != size ||
        fclose(file) != 0) {
        fprintf(stderr, "make_scanner_seeds: %s: %s\n", path, strerror(errno));
        exit(1);
    }
}

static void pack_value(msgpack_packer *packer, const struct param *param)
{
    static const char letters[] = "abcdefgh";
    size_t amount = (size_t)param->minimum;
    switch (param->type) {
    case UINT:
        msgpack_pack_uint64(packer, amount);
        break;
    case REAL:
        msgpack_pack_double(packer, param->minimum);
        break;
    case BOOL:
        msgpack_pack_true(packer);
        break;
    case TEXT:
        msgpack_pack_str_with_body(packer, letters, amount);
        break;
    case BYTES:
        msgpack_pack_bin_with_body(packer, letters, amount);
        break;
    case UINTS:
        msgpack_pack_array(packer, amount);
        for (size_t i = 0; i < amount; i++) {
            msgpack_pack_uint64(packer, 100 * i);
        }
        break;
    }
}

static void write_request(const char *folder, fm_method method)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    const struct param *params = params_of[method];
    uint32_t count = 0;
    while (is_param(&params[count])) {
        count++;
    }
    bool is_packed = fm_pack_request(&packer, method, method);
    FM_ASSERT(is_packed);
    msgpack_pack_map(&packer, count);
    for (uint32_t i = 0; i < count; i++) {
        is_packed = fm_pack_text(&packer, fm_field_name(params[i].field));
        FM_ASSERT(is_packed);
        pack_value(&packer, &params[i]);
    }
    write_seed(folder, fm_method_name(method), buffer.data, buffer.size);
    msgpack_sbuffer_destroy(&buffer);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_scanner_seeds FOLDER\n");
        return 2;
    }
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        write_request(argv[1], method);
    }
    write_seed(argv[1], "array-of-4-billion", "\xdd\xff\xff\xff\xff\xc0", 6);
    write_seed(argv[1], "map-of-4-billion", "\xdf\xff\xff\xff\xff\xc0", 6);
    write_seed(argv[1], "text-of-1-gib",
               "\xdb\x40\x00\x00\x00"
               "a",
               6);
    write_seed(argv[1], "extension-of-4-gib", "\xc9\xff\xff\xff\xff\x01", 6);
    write_seed(argv[1], "not-msgpack", "\x92\x00\xc1", 3);
    char nest[100];
    memset(nest, 0x91, sizeof(nest));
    write_seed(argv[1], "nest-of-100", nest, sizeof(nest));
    return 0;
}
