// tests/sim/disk.c: see disk.h. SQLite's own structure of a file comes first in memory; its methods
// are a copy of SQLite's, except for those that write.

#include "tests/sim/disk.h"

#include "tests/sim/memory.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PENDING_MAX 1024u // of a file; the system has written older ones back by itself
#define FILES_MAX   64u   // open at a time
#define SECTOR_SIZE 512u
#define NAME_SIZE   512u

// A write that was not synced.
struct pending {
    sqlite3_int64 offset;
    int size;
    uint8_t *before, *after; // owned; `before` has zeros where the file had no bytes
};

// What follows SQLite's structure of an open file in memory.
struct file {
    const sqlite3_io_methods *real; // SQLite's; `methods` is a copy with some replaced
    sqlite3_io_methods methods;
    char name[NAME_SIZE];
    struct pending *pending; // owned; room for PENDING_MAX
    uint32_t pending_count;
    sqlite3_int64 kept_size; // at the last sync
};

sim_disk_roughness sim_disk_rough;

int __wrap_fsync(int fd);

static sqlite3_vfs disk;
static sqlite3_vfs *real_disk;
static struct file *open_files[FILES_MAX];

ssize_t __real_write(int file, const void *bytes, size_t size);

static struct file *behind(sqlite3_file *base)
{
    return (struct file *)(void *)((char *)base + (size_t)real_disk->szOsFile);
}

// ---- what is pending ---------------------------------------------------------------------------

static void forget(struct file *file, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_own_release(file->pending[i].before);
        sim_own_release(file->pending[i].after);
    }
    file->pending_count -= count;
    memmove(file->pending, file->pending + count, file->pending_count * sizeof *file->pending);
}

static void remember(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset)
{
    struct file *file = behind(base);
    if (file->pending_count == PENDING_MAX) {
        forget(file, PENDING_MAX / 2);
    }
    struct pending *write = &file->pending[file->pending_count++];
    *write = (struct pending){.offset = offset,
                              .size = size,
                              .before = sim_own_allocate((size_t)size),
                              .after = sim_own_allocate((size_t)size)};
    memset(write->before, 0, (size_t)size);
    (void)file->real->xRead(base, write->before, size, offset); // fills up with zeros
    memcpy(write->after, bytes, (size_t)size);
}

// ---- writing -----------------------------------------------------------------------------------

static bool fails(uint32_t permille, sim_fault fault)
{
    bool failed = sim_task_current() != NULL && sim_chance(permille);
    if (failed) {
        sim_note_fault(fault);
        sim_trace("the disk fails: %d", (int)fault);
    }
    return failed;
}

static int write_bytes(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset)
{
    if (fails(sim_disk_rough.full_permille, SIM_FAULT_DISK_FULL)) {
        return SQLITE_FULL;
    }
    bool is_short = fails(sim_disk_rough.short_permille, SIM_FAULT_SHORT_WRITE);
    int done = is_short ? (int)sim_below((uint32_t)size) : size;
    if (done > 0) {
        remember(base, bytes, done, offset);
        int code = behind(base)->real->xWrite(base, bytes, done, offset);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return is_short ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

// The server syncs folders itself. That takes seconds on a busy machine, and no power really fails.
int __wrap_fsync(int fd)
{
    (void)fd;
    return 0;
}

static int sync_bytes(sqlite3_file *base, int flags)
{
    (void)flags;
    static const char nothing;
    struct file *file = behind(base);
    if (sim_task_current() != NULL && sim_chance(sim_disk_rough.slow_permille)) {
        sim_note_fault(SIM_FAULT_SLOW_SYNC);
        const char *base_name = strrchr(file->name, '/'); // the folder's name differs between runs
        sim_trace("the disk is slow: %s", base_name == NULL ? file->name : base_name + 1);
        sim_wait(&nothing, sim_now_ns() + sim_between(1, sim_disk_rough.slow_max_us) * SIM_NS_US);
    }
    if (fails(sim_disk_rough.sync_permille, SIM_FAULT_SYNC_FAILED)) {
        return SQLITE_IOERR_FSYNC;
    }
    if (sim_bug_planted == SIM_BUG_LYING_SYNC) {
        return SQLITE_OK;
    }
    forget(file, file->pending_count);
    return file->real->xFileSize(base, &file->kept_size);
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    struct file *file = behind(base);
    forget(file, file->pending_count); // as if the system had written them all back
    file->kept_size = size;
    return file->real->xTruncate(base, size);
}

// ---- open files --------------------------------------------------------------------------------

static int close_file(sqlite3_file *base)
{
    struct file *file = behind(base);
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        open_files[i] = open_files[i] == file ? NULL : open_files[i];
    }
    forget(file, file->pending_count);
    sim_own_release(file->pending);
    return file->real->xClose(base);
}

static void add_file(sqlite3_file *base, const char *name)
{
    struct file *file = behind(base);
    uint32_t i = 0;
    while (i < FILES_MAX && open_files[i] != NULL) {
        i++;
    }
    FM_ASSERT(i < FILES_MAX);
    *file = (struct file){.real = base->pMethods,
                          .pending = sim_own_allocate(PENDING_MAX * sizeof *file->pending)};
    snprintf(file->name, sizeof file->name, "%s", name == NULL ? "" : name);
    open_files[i] = file;
    file->real->xFileSize(base, &file->kept_size);
    file->methods = *file->real;
    file->methods.xWrite = write_bytes;
    file->methods.xSync = sync_bytes;
    file->methods.xTruncate = truncate_file;
    file->methods.xClose = close_file;
    base->pMethods = &file->methods;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *out_flags)
{
    (void)vfs;
    int code = real_disk->xOpen(real_disk, name, base, flags, out_flags);
    if (code == SQLITE_OK) {
        add_file(base, name);
    }
    return code;
}

// ---- the machine -------------------------------------------------------------------------------

static int draw_bytes(sqlite3_vfs *vfs, int size, char *bytes)
{
    (void)vfs;
    for (int i = 0; i < size; i++) {
        bytes[i] = (char)sim_below(256);
    }
    return size;
}

static int tell_time(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds)
{
    (void)vfs;
    *milliseconds = 210866760000000 + 1735689600000 + (sqlite3_int64)(sim_now_ns() / SIM_NS_MS);
    return SQLITE_OK;
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    static const char nothing;
    if (sim_task_current() != NULL) {
        sim_wait(&nothing, sim_now_ns() + (uint64_t)microseconds * SIM_NS_US);
    }
    return microseconds;
}

void sim_disk_install(void)
{
    sqlite3_initialize();
    real_disk = sqlite3_vfs_find(NULL);
    disk = *real_disk;
    disk.zName = "sim";
    disk.szOsFile = real_disk->szOsFile + (int)sizeof(struct file);
    disk.xOpen = open_file;
    disk.xRandomness = draw_bytes;
    disk.xCurrentTimeInt64 = tell_time;
    disk.xSleep = sleep_for;
    sqlite3_vfs_register(&disk, 1);
}

static void put_back(int fd, const struct pending *write, const uint8_t *bytes, size_t size)
{
    ssize_t put = pwrite(fd, bytes, size, (off_t)write->offset);
    FM_ASSERT(put == (ssize_t)size);
}

// First restores the state at the last sync, then repeats each write as far as it got.
static void lose_pending(const struct file *file)
{
    int fd = open(file->name, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return; // removed meanwhile
    }
    for (uint32_t i = file->pending_count; i-- > 0;) {
        put_back(fd, &file->pending[i], file->pending[i].before, (size_t)file->pending[i].size);
    }
    int cut = ftruncate(fd, (off_t)file->kept_size);
    FM_ASSERT(cut == 0);
    for (uint32_t i = 0; i < file->pending_count; i++) {
        size_t size = (size_t)file->pending[i].size;
        uint32_t sectors = (uint32_t)(size / SECTOR_SIZE);
        switch (sim_below(3)) {
        case 0:
            put_back(fd, &file->pending[i], file->pending[i].after, size);
            break;
        case 1:
            size = sectors == 0 ? 0 : SECTOR_SIZE * sim_below(sectors);
            put_back(fd, &file->pending[i], file->pending[i].after, size);
            break;
        default:
            break;
        }
    }
    close(fd);
}

bool sim_disk_has_failed(void)
{
    return sim_fault_counts[SIM_FAULT_DISK_FULL] + sim_fault_counts[SIM_FAULT_SHORT_WRITE] +
               sim_fault_counts[SIM_FAULT_SYNC_FAILED] >
           0;
}

void sim_disk_lose_power(void)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        if (open_files[i] != NULL && open_files[i]->pending_count > 0) {
            lose_pending(open_files[i]);
        }
    }
}
