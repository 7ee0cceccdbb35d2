// server/cluster/etcd_access.c: see etcd_access.h.

#include "server/cluster/etcd_access.h"

#include "server/base/first_line.h"
#include "server/base/settings_read.h"
#include "server/cluster/etcd.h"
#include "server/cluster/etcd_token.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// OpenSSL's words for its first error; the system's for an error of the system.
static fm_status fail(char *error, const char *key, const char *file)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code == 0                ? NULL
                         : ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                                                  : ERR_reason_error_string(code);
    snprintf(error, FM_ETCD_ERROR_SIZE, "%s: '%.120s' cannot be used: %.80s", key, file,
             reason == NULL ? "it cannot be read" : reason);
    ERR_clear_error();
    return FM_ERR_BAD_VALUE;
}

static fm_status use_key(SSL_CTX *context, const char *file, char *error)
{
    if (SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM) != 1) {
        // Of the wrong key it says so; of a file without one, "unsupported" or "PEM lib".
        bool is_read =
            !ERR_SYSTEM_ERROR(ERR_peek_error()) && ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509;
        fm_status status = fail(error, "cluster_key", file);
        if (is_read) {
            snprintf(error, FM_ETCD_ERROR_SIZE,
                     "cluster_key: '%.120s' has no private key that can be read without a password",
                     file);
        }
        return status;
    }
    return SSL_CTX_check_private_key(context) == 1 ? FM_OK : fail(error, "cluster_key", file);
}

// OpenSSL would wait for the writer of a named pipe.
static bool are_regular(const fm_etcd_settings *settings, char *error)
{
    const struct {
        const char *key, *file;
    } files[] = {
        {settings->ca_key == NULL ? "cluster_ca_file" : settings->ca_key, settings->ca_file},
        {"cluster_certificate", settings->certificate},
        {"cluster_key", settings->key == NULL ? "" : settings->key},
    };
    for (size_t i = 0; i < FM_COUNT_OF(files); i++) {
        bool is_file = files[i].file[0] != '\0' && strcmp(files[i].file, "system") != 0;
        const char *wrong = is_file ? fm_settings_check_regular(files[i].file) : NULL;
        if (wrong != NULL) {
            snprintf(error, FM_ETCD_ERROR_SIZE, "%s: '%.120s' cannot be used: %.60s", files[i].key,
                     files[i].file, wrong);
            return false;
        }
    }
    return true;
}

static fm_status make_context(const fm_etcd_settings *settings, SSL_CTX **out, char *error)
{
    if (!are_regular(settings, error)) {
        return FM_ERR_BAD_VALUE;
    }
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    *out = context;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    bool is_system = strcmp(settings->ca_file, "system") == 0;
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        (is_system ? SSL_CTX_set_default_verify_paths(context)
                   : SSL_CTX_load_verify_file(context, settings->ca_file)) != 1) {
        return fail(error, settings->ca_key == NULL ? "cluster_ca_file" : settings->ca_key,
                    settings->ca_file);
    }
    if (settings->certificate[0] == '\0') {
        return FM_OK;
    }
    const char *key = settings->key[0] == '\0' ? settings->certificate : settings->key;
    if (SSL_CTX_use_certificate_chain_file(context, settings->certificate) != 1) {
        return fail(error, "cluster_certificate", settings->certificate);
    }
    return use_key(context, key, error);
}

static const char *what_lacks(const fm_etcd_settings *settings)
{
    if (settings->ca_file[0] == '\0' && settings->certificate[0] != '\0') {
        return "cluster_certificate needs cluster_ca_file";
    }
    if (settings->certificate[0] == '\0' && settings->key[0] != '\0') {
        return "cluster_key needs cluster_certificate";
    }
    if ((settings->user[0] == '\0') != (settings->password_file[0] == '\0')) {
        return "cluster_user and cluster_password_file need each other";
    }
    return NULL;
}

fm_status fm_etcd_access_init(const fm_etcd_settings *settings, fm_etcd_access *access, char *error)
{
    fm_etcd_silence *silence = calloc(1, sizeof *silence);
    if (silence == NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    *access =
        (fm_etcd_access){.members = settings->members, .user = settings->user, .silence = silence};
    const char *lacks = what_lacks(settings);
    if (lacks != NULL) {
        snprintf(error, FM_ETCD_ERROR_SIZE, "%s", lacks);
        fm_etcd_access_fini(access);
        return FM_ERR_BAD_VALUE;
    }
    fm_status status = FM_OK;
    if (!fm_etcd_members_check(settings->members, error)) {
        status = FM_ERR_BAD_VALUE;
    }
    if (status == FM_OK && settings->ca_file[0] != '\0') {
        status = make_context(settings, &access->tls, error);
    }
    if (status == FM_OK && settings->user[0] != '\0') {
        status =
            fm_first_line_read("cluster_password_file", settings->password_file, access->password,
                               FM_ETCD_PASSWORD_SIZE, error, FM_ETCD_ERROR_SIZE);
    }
    if (status == FM_OK && settings->user[0] != '\0') {
        status = fm_etcd_token_create(&access->token);
        snprintf(error, FM_ETCD_ERROR_SIZE, "%s", status == FM_OK ? "" : "out of memory");
    }
    if (status != FM_OK) {
        fm_etcd_access_fini(access);
    }
    return status;
}

fm_status fm_etcd_ca_check(const char *key, const char *file, char *error)
{
    SSL_CTX *context = NULL;
    fm_status status = make_context(
        &(fm_etcd_settings){.ca_key = key, .ca_file = file, .certificate = ""}, &context, error);
    SSL_CTX_free(context);
    return status;
}

void fm_etcd_access_fini(fm_etcd_access *access)
{
    SSL_CTX_free(access->tls);
    free(access->silence);
    fm_etcd_token_destroy(access->token);
    sodium_memzero(access->password, sizeof access->password);
    *access = (fm_etcd_access){0};
}
