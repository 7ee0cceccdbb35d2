// server/process/http_files.c: see http_files.h.

#include "server/process/http_files.h"

#include "server/base/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX      1024u
#define FILES_SIZE_MAX ((size_t)64 << 20)
#define DEPTH_MAX      8u
#define PATH_SIZE      1024u

struct file {
    char *path; // owned; as a request has it
    const char *type;
    char etag[FM_HTTP_ETAG_SIZE];
    fm_frame *body;
};

struct fm_http_files {
    struct file files[FILES_MAX];
    uint32_t count;
    size_t size;
    bool is_cut; // there were more
};

static const char *type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".map", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".webp", "image/webp"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".wasm", "application/wasm"},
        {".txt", "text/plain; charset=utf-8"},
    };
    size_t size = strlen(name);
    for (uint32_t i = 0; i < FM_COUNT_OF(types); i++) {
        size_t ending_size = strlen(types[i].ending);
        if (size > ending_size && strcmp(name + size - ending_size, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

// ---- reading -----------------------------------------------------------------------------------

static fm_frame *read_body(const char *path, size_t size)
{
    char *bytes = malloc(size + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fm_frame *frame = NULL;
    if (bytes != NULL && fd >= 0 && read(fd, bytes, size + 1) == (ssize_t)size) {
        frame = fm_frame_copy(bytes, size);
    }
    if (fd >= 0) {
        close(fd);
    }
    free(bytes);
    return frame;
}

static void make_etag(struct file *file)
{
    uint8_t hash[crypto_generichash_BYTES_MIN];
    crypto_generichash(hash, sizeof hash, (const uint8_t *)file->body->bytes, file->body->size,
                       NULL, 0);
    uint64_t number;
    memcpy(&number, hash, sizeof number);
    snprintf(file->etag, sizeof file->etag, "\"%016llx\"", (unsigned long long)number);
}

// A file that cannot be read is left out.
static void add_file(fm_http_files *files, const char *path, const char *shown, size_t size)
{
    if (files->count == FILES_MAX || size > FILES_SIZE_MAX - files->size) {
        files->is_cut = true;
        return;
    }
    struct file *file = &files->files[files->count];
    *file = (struct file){.path = strdup(shown), .type = type_of(shown)};
    file->body = file->path == NULL ? NULL : read_body(path, size);
    if (file->body == NULL) {
        free(file->path);
        return;
    }
    make_etag(file);
    files->count++;
    files->size += size;
}

// @param shown  where in `path` the request's path begins
static void add_folder(fm_http_files *files, const char *path, size_t shown, uint32_t depth)
{
    DIR *entries = opendir(path);
    if (entries == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char child[PATH_SIZE];
        struct stat status;
        int size = snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || size >= (int)sizeof child || stat(child, &status) != 0) {
            continue;
        }
        if (S_ISREG(status.st_mode)) {
            add_file(files, child, child + shown, (size_t)status.st_size);
        } else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
            add_folder(files, child, shown, depth + 1);
        }
    }
    closedir(entries);
}

static const struct file *find(const fm_http_files *files, fm_http_text path)
{
    for (uint32_t i = 0; i < files->count; i++) {
        if (fm_http_text_is(path, files->files[i].path)) {
            return &files->files[i];
        }
    }
    return NULL;
}

static const fm_http_text index_page = {.bytes = "/index.html", .size = 11};

fm_http_files *fm_http_files_read(const char *folder)
{
    char path[PATH_SIZE];
    struct stat status;
    int size = snprintf(path, sizeof path, "%s/index.html", folder);
    if (size >= (int)sizeof path || stat(path, &status) != 0) {
        return NULL;
    }
    fm_http_files *files = calloc(1, sizeof *files);
    if (files == NULL) {
        return NULL;
    }
    add_folder(files, folder, strlen(folder), 0);
    if (files->is_cut) {
        fm_log(FM_LOG_WARNING, "not all files of the web client are served",
               fm_log_text("folder", folder), fm_log_uint("served", files->count));
    }
    if (find(files, index_page) == NULL) {
        fm_http_files_destroy(files);
        return NULL;
    }
    return files;
}

void fm_http_files_destroy(fm_http_files *files)
{
    if (files == NULL) {
        return;
    }
    for (uint32_t i = 0; i < files->count; i++) {
        free(files->files[i].path);
        fm_frame_drop(files->files[i].body);
    }
    free(files);
}

// ---- answers -----------------------------------------------------------------------------------

bool fm_http_files_answer(const fm_http_files *files, const fm_http_request *request,
                          fm_http_answer *answer)
{
    fm_http_text path = fm_http_text_is(request->path, "/") ? index_page : request->path;
    const struct file *file = files == NULL ? NULL : find(files, path);
    if (file == NULL) {
        return false;
    }
    bool is_known = fm_http_list_has(request->if_none_match, file->etag, false);
    *answer = (fm_http_answer){.status = is_known ? 304 : 200, .type = file->type};
    memcpy(answer->etag, file->etag, sizeof answer->etag);
    answer->body = is_known ? NULL : fm_frame_hold(file->body);
    return true;
}
