// clients/cli/base/json.c: see json.h.

#include "clients/cli/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void fm_json_print_text(const char *text, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte < 0x20) {
            printf("\\u%04x", byte);
        } else {
            putchar(byte);
        }
    }
    putchar('"');
}

void fm_json_print_member(const char *name, const char *text)
{
    printf(",\"%s\":", name);
    fm_json_print_text(text, strlen(text));
}

static void print_real(double real)
{
    if (isfinite(real)) {
        printf("%.10g", real);
    } else {
        fputs("null", stdout); // JSON has no NaN
    }
}

static void print_value(const msgpack_object *value);

static void print_map(const msgpack_object_map *map)
{
    putchar('{');
    for (uint32_t i = 0; i < map->size; i++) {
        const msgpack_object *key = &map->ptr[i].key;
        fputs(i == 0 ? "" : ",", stdout);
        if (key->type == MSGPACK_OBJECT_STR) {
            print_value(key);
        } else {
            putchar('"'); // keys of JSON are texts
            print_value(key);
            putchar('"');
        }
        putchar(':');
        print_value(&map->ptr[i].val);
    }
    putchar('}');
}

// Any msgpack value as JSON, without a line end.
static void print_value(const msgpack_object *value)
{
    switch ((int)value->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        fputs(value->via.boolean ? "true" : "false", stdout);
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        printf("%llu", (unsigned long long)value->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        printf("%lld", (long long)value->via.i64);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        print_real(value->via.f64);
        break;
    case MSGPACK_OBJECT_STR:
        fm_json_print_text(value->via.str.ptr, value->via.str.size);
        break;
    case MSGPACK_OBJECT_ARRAY:
        putchar('[');
        for (uint32_t i = 0; i < value->via.array.size; i++) {
            fputs(i == 0 ? "" : ",", stdout);
            print_value(&value->via.array.ptr[i]);
        }
        putchar(']');
        break;
    case MSGPACK_OBJECT_MAP:
        print_map(&value->via.map);
        break;
    default:
        fputs("null", stdout);
        break;
    }
}

bool fm_cli_print_json(const fm_cli *cli, const msgpack_object *result)
{
    if (cli->json) {
        print_value(result);
        putchar('\n');
    }
    return cli->json;
}
