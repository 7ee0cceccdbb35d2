// clients/cli/base/files.c: see files.h.

#include "clients/cli/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_CAPACITY ((size_t)1 << 20) // bytes

// ---- reading -----------------------------------------------------------------------------------

// Reads to the end of the file, or one byte more than allowed. The size of a pipe is not known.
static char *read_to_the_end(const fm_cli *cli, FILE *file, size_t size_max, size_t *size)
{
    size_t capacity = FIRST_CAPACITY < size_max + 1 ? FIRST_CAPACITY : size_max + 1;
    char *bytes = fm_cli_need(cli, malloc(capacity));
    *size = fread(bytes, 1, capacity, file);
    while (*size == capacity && capacity <= size_max) {
        capacity = capacity * 2 < size_max + 1 ? capacity * 2 : size_max + 1;
        bytes = fm_cli_need(cli, realloc(bytes, capacity));
        *size += fread(bytes + *size, 1, capacity - *size, file);
    }
    return bytes;
}

// Reads a whole file, or dies.
// @param size_max  bytes; a larger one is refused
// @return the bytes, to be released with free()
static char *read_file(const fm_cli *cli, const char *path, size_t size_max, size_t *size)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) {
        fm_cli_die(cli, "%s: %s", path, strerror(errno));
    }
    errno = 0;
    char *bytes = read_to_the_end(cli, file, size_max, size);
    if (ferror(file)) {
        fm_cli_die(cli, "%s: %s", path, strerror(errno));
    }
    if (*size > size_max) {
        fm_cli_die(cli, "%s: more than %zu MiB", path, size_max >> 20);
    }
    if (file != stdin) {
        fclose(file);
    }
    return bytes;
}

void fm_cli_upload_bytes(fm_cli *cli, const char *bytes, size_t size)
{
    uint64_t upload;
    if (fm_client_upload(cli->client, bytes, size, &upload) != FM_OK) {
        fm_cli_die_of_client(cli);
    }
    fm_params_uint(&cli->params, FM_FIELD_UPLOAD, upload);
}

void fm_cli_upload(fm_cli *cli, const char *path, size_t size_max)
{
    size_t size;
    char *bytes = read_file(cli, path, size_max, &size);
    fm_cli_upload_bytes(cli, bytes, size);
    free(bytes);
}

// ---- writing -----------------------------------------------------------------------------------

static _Noreturn void die_of_part(const fm_cli *cli, const char *path, const char *part)
{
    int error = errno;
    unlink(part);
    fm_cli_die(cli, "%s: %s", path, strerror(error));
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        size_t count = written < 0 ? 0 : (size_t)written;
        bytes += count;
        size -= count;
    }
    return true;
}

// mkstemp() makes files private to their owner; this one gets the usual mode.
static void set_usual_mode(int file)
{
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(file, 0666 & ~mask);
}

// The new name is durable when its folder is synced. Where folders cannot be synced it comes later.
static void sync_folder(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)!fsync(folder);
        close(folder);
    }
}

// Beside the file, because rename is atomic only within a file system.
static void replace_file(const fm_cli *cli, const char *path, const char *bytes, size_t size)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.XXXXXX", path) >= (int)sizeof part) {
        fm_cli_die(cli, "%s: %s", path, strerror(ENAMETOOLONG));
    }
    int file = mkstemp(part);
    if (file < 0) {
        fm_cli_die(cli, "%s: %s", path, strerror(errno));
    }
    set_usual_mode(file);
    if (!write_all(file, bytes, size) || fsync(file) != 0) {
        die_of_part(cli, path, part);
    }
    if (close(file) != 0 || rename(part, path) != 0) {
        die_of_part(cli, path, part);
    }
    sync_folder(path);
}

// A pipe or a device is written directly, not replaced by a file.
static bool is_something_else(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode);
}

static void write_into(const fm_cli *cli, const char *path, const char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || !write_all(file, bytes, size) || close(file) != 0) {
        fm_cli_die(cli, "%s: %s", path, strerror(errno));
    }
}

void fm_cli_write_file(const fm_cli *cli, const char *path, const char *bytes, size_t size)
{
    if (strcmp(path, "-") == 0) {
        if (!write_all(STDOUT_FILENO, bytes, size)) {
            fm_cli_die(cli, "standard output: %s", strerror(errno));
        }
    } else if (is_something_else(path)) {
        write_into(cli, path, bytes, size);
    } else {
        replace_file(cli, path, bytes, size);
    }
}

// ---- streams -----------------------------------------------------------------------------------

FILE *fm_cli_create_file(const fm_cli *cli, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (file == NULL) {
        fm_cli_die(cli, "%s: %s", path, strerror(errno));
    }
    return file;
}

void fm_cli_close_file(const fm_cli *cli, FILE *file, const char *path)
{
    bool failed = ferror(file) != 0;
    failed = (file == stdout ? fflush(file) : fclose(file)) != 0 || failed;
    if (failed) {
        fm_cli_die(cli, "%s: cannot be written", path);
    }
}
