// server/sessions/secret.c: see secret.h.

#include "server/sessions/secret.h"

#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SECRET_MIN    16u
#define SECRET_MAX    256u
#define FILE_SIZE_MAX 2048u

static bool is_good(const char *line)
{
    size_t size = strlen(line);
    for (size_t i = 0; i < size; i++) {
        if (line[i] <= ' ' || line[i] > '~') {
            return false;
        }
    }
    return size >= SECRET_MIN && size <= SECRET_MAX;
}

static void make_key(const uint8_t hash[FM_SECRET_KEY_SIZE], const char *purpose,
                     uint8_t key[FM_SECRET_KEY_SIZE])
{
    crypto_generichash(key, FM_SECRET_KEY_SIZE, (const unsigned char *)purpose, strlen(purpose),
                       hash, FM_SECRET_KEY_SIZE);
}

static void make_keys(const char *line, fm_secret_keys *keys)
{
    uint8_t hash[FM_SECRET_KEY_SIZE];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)line, strlen(line), NULL, 0);
    make_key(hash, "fogmarch resume", keys->resume);
    make_key(hash, "fogmarch ticket", keys->ticket);
    sodium_memzero(hash, sizeof hash);
}

fm_status fm_secrets_parse(char *text, fm_secrets *secrets, char *error)
{
    fm_secrets found = {.count = 0};
    char *rest = NULL;
    bool good = true;
    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL && good;
         line = strtok_r(NULL, "\r\n", &rest)) {
        if (line[0] == '#') {
            continue;
        }
        good = is_good(line) && found.count < FM_SECRETS_MAX;
        if (good) {
            make_keys(line, &found.keys[found.count++]);
        }
    }
    if (!good || found.count == 0) {
        snprintf(error, FM_SECRET_ERROR_SIZE,
                 "cluster_secret_file: one or two lines are wanted, each of %u to %u printable "
                 "characters without spaces",
                 SECRET_MIN, SECRET_MAX);
        sodium_memzero(&found, sizeof found);
        return FM_ERR_BAD_VALUE;
    }
    *secrets = found;
    sodium_memzero(&found, sizeof found);
    return FM_OK;
}

fm_status fm_secrets_read(const char *path, fm_secrets *secrets, char *error)
{
    char text[FILE_SIZE_MAX + 1];
    FILE *file = fopen(path, "re");
    size_t size = file == NULL ? 0 : fread(text, 1, FILE_SIZE_MAX, file);
    if (file == NULL || ferror(file)) {
        snprintf(error, FM_SECRET_ERROR_SIZE, "cluster_secret_file: '%.150s': %.60s", path,
                 strerror(errno));
        if (file != NULL) {
            (void)fclose(file);
        }
        return FM_ERR_IO;
    }
    (void)fclose(file);
    text[size] = '\0';
    fm_status status = fm_secrets_parse(text, secrets, error);
    sodium_memzero(text, sizeof text);
    return status;
}
