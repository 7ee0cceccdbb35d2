// failing_disk.c: see failing_disk.h.

#include "tests/support/failing_disk.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct file {
    sqlite3_file base; // first
    sqlite3_file *real;
};

static sqlite3_vfs disk;
static sqlite3_vfs *real_disk;
static sqlite3_io_methods methods;
static atomic_uint_fast64_t writes_left = UINT64_MAX, syncs_left = UINT64_MAX, asked;
static atomic_uint_fast64_t writes_to_live = UINT64_MAX;

void fm_failing_disk_set(uint64_t writes)
{
    atomic_store(&writes_left, writes);
}

void fm_failing_disk_set_syncs(uint64_t syncs)
{
    atomic_store(&syncs_left, syncs);
}

void fm_failing_disk_die_after(uint64_t writes)
{
    atomic_store(&writes_to_live, writes);
}

uint64_t fm_failing_disk_count(void)
{
    return atomic_load(&asked);
}

// Takes one of the writes or syncs that are left.
static bool take(atomic_uint_fast64_t *left)
{
    uint64_t value = atomic_load(left);
    if (value == UINT64_MAX) {
        return true;
    }
    if (value == 0) {
        return false;
    }
    atomic_store(left, value - 1);
    return true;
}

static bool may_write(void)
{
    atomic_fetch_add(&asked, 1);
    if (!take(&writes_to_live)) {
        _exit(7);
    }
    return take(&writes_left);
}

static sqlite3_file *real_of(sqlite3_file *base)
{
    return ((struct file *)base)->real;
}

// ---- what may fail -----------------------------------------------------------------------------

static int write_bytes(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 offset)
{
    if (!may_write()) {
        return SQLITE_FULL;
    }
    return real_of(base)->pMethods->xWrite(real_of(base), bytes, size, offset);
}

static int sync_bytes(sqlite3_file *base, int flags)
{
    if (!may_write() || !take(&syncs_left)) {
        return SQLITE_IOERR_FSYNC;
    }
    return real_of(base)->pMethods->xSync(real_of(base), flags);
}

// ---- what is passed on -------------------------------------------------------------------------

static int close_file(sqlite3_file *base)
{
    return real_of(base)->pMethods->xClose(real_of(base));
}

static int read_bytes(sqlite3_file *base, void *bytes, int size, sqlite3_int64 offset)
{
    return real_of(base)->pMethods->xRead(real_of(base), bytes, size, offset);
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    return real_of(base)->pMethods->xTruncate(real_of(base), size);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    return real_of(base)->pMethods->xFileSize(real_of(base), size);
}

static int lock(sqlite3_file *base, int level)
{
    return real_of(base)->pMethods->xLock(real_of(base), level);
}

static int unlock(sqlite3_file *base, int level)
{
    return real_of(base)->pMethods->xUnlock(real_of(base), level);
}

static int check_lock(sqlite3_file *base, int *out)
{
    return real_of(base)->pMethods->xCheckReservedLock(real_of(base), out);
}

static int control(sqlite3_file *base, int operation, void *argument)
{
    return real_of(base)->pMethods->xFileControl(real_of(base), operation, argument);
}

static int sector_size(sqlite3_file *base)
{
    return real_of(base)->pMethods->xSectorSize(real_of(base));
}

static int characteristics(sqlite3_file *base)
{
    return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}

static int map_shared(sqlite3_file *base, int page, int size, int extend, void volatile **out)
{
    return real_of(base)->pMethods->xShmMap(real_of(base), page, size, extend, out);
}

static int lock_shared(sqlite3_file *base, int offset, int count, int flags)
{
    return real_of(base)->pMethods->xShmLock(real_of(base), offset, count, flags);
}

static void barrier(sqlite3_file *base)
{
    real_of(base)->pMethods->xShmBarrier(real_of(base));
}

static int unmap_shared(sqlite3_file *base, int remove)
{
    return real_of(base)->pMethods->xShmUnmap(real_of(base), remove);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
                     int *out_flags)
{
    (void)vfs;
    struct file *file = (struct file *)base;
    file->real = (sqlite3_file *)(file + 1);
    int code = real_disk->xOpen(real_disk, name, file->real, flags, out_flags);
    base->pMethods = code == SQLITE_OK ? &methods : NULL;
    return code;
}

void fm_failing_disk_install(void)
{
    sqlite3_initialize();
    real_disk = sqlite3_vfs_find(NULL);
    disk = *real_disk;
    disk.zName = "failing";
    disk.szOsFile = (int)sizeof(struct file) + real_disk->szOsFile;
    disk.xOpen = open_file;
    methods = (sqlite3_io_methods){
        .iVersion = 2,
        .xClose = close_file,
        .xRead = read_bytes,
        .xWrite = write_bytes,
        .xTruncate = truncate_file,
        .xSync = sync_bytes,
        .xFileSize = file_size,
        .xLock = lock,
        .xUnlock = unlock,
        .xCheckReservedLock = check_lock,
        .xFileControl = control,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = characteristics,
        .xShmMap = map_shared,
        .xShmLock = lock_shared,
        .xShmBarrier = barrier,
        .xShmUnmap = unmap_shared,
    };
    sqlite3_vfs_register(&disk, 1);
}
