// server/cluster/etcd_token.c: see etcd_token.h.

#include "server/cluster/etcd_token.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

struct fm_etcd_token {
    uv_mutex_t lock;
    char text[FM_ETCD_TOKEN_SIZE];
};

fm_status fm_etcd_token_create(fm_etcd_token **out)
{
    fm_etcd_token *token = calloc(1, sizeof *token);
    if (token != NULL && uv_mutex_init(&token->lock) < 0) {
        free(token);
        token = NULL;
    }
    *out = token;
    return token == NULL ? FM_ERR_NO_MEMORY : FM_OK;
}

void fm_etcd_token_destroy(fm_etcd_token *token)
{
    if (token != NULL) {
        uv_mutex_destroy(&token->lock);
        sodium_memzero(token->text, sizeof token->text);
        free(token);
    }
}

void fm_etcd_token_share(fm_etcd_token *shared, const char *token)
{
    uv_mutex_lock(&shared->lock);
    snprintf(shared->text, sizeof shared->text, "%s", token);
    uv_mutex_unlock(&shared->lock);
}

bool fm_etcd_token_take(fm_etcd_token *shared, char *token)
{
    uv_mutex_lock(&shared->lock);
    bool is_other = strcmp(shared->text, token) != 0 && shared->text[0] != '\0';
    if (is_other) {
        snprintf(token, FM_ETCD_TOKEN_SIZE, "%s", shared->text);
    } else {
        shared->text[0] = '\0';
    }
    uv_mutex_unlock(&shared->lock);
    return is_other;
}
