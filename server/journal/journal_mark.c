// server/journal/journal_mark.c: see journal_mark.h. A slot is 64 bytes and lies in one sector:
//
//   number  position  tick  link (16)  boot  checksum  0         each 8 bytes but for the link
//
// The valid slot with the largest number counts.

#include "server/journal/journal_mark.h"

#include "core/base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE     4200u
#define SLOT_SIZE     64u
#define SLOT_USED     56u // used bytes of it, the checksum last
#define FILE_SIZE     (FM_JOURNAL_MARK_SLOTS * SLOT_SIZE)
#define SYNCED_WRITES (FM_JOURNAL_MARK_SLOTS / 2) // so that a synced slot is always there
#define BOOT_FILE     "/proc/sys/kernel/random/boot_id"

_Static_assert(sizeof(fm_journal_link) == crypto_generichash_BYTES_MIN, "a link is a hash");

struct fm_journal_marker {
    char path[PATH_SIZE];
    sqlite3_file *file; // owned
    bool synced;
    uint64_t number;   // of the slot written last
    uint32_t unsynced; // writes
};

// ---- the chain ---------------------------------------------------------------------------------

fm_journal_link fm_journal_link_first(const char *name, uint64_t number)
{
    fm_journal_link link;
    uint8_t key[crypto_generichash_KEYBYTES] = {0};
    fm_bytes_put_u64(key, number);
    crypto_generichash(link.bytes, sizeof link.bytes, (const unsigned char *)name, strlen(name),
                       key, sizeof key);
    return link;
}

fm_journal_link fm_journal_link_next(const fm_journal_link *before, uint64_t position,
                                     uint64_t tick, unsigned kind, const void *bytes, size_t size)
{
    fm_journal_link link;
    uint8_t head[sizeof link.bytes + 32];
    crypto_generichash_state state;
    memcpy(head, before->bytes, sizeof before->bytes);
    fm_bytes_put_u64(head + sizeof before->bytes, position);
    fm_bytes_put_u64(head + sizeof before->bytes + 8, tick);
    fm_bytes_put_u64(head + sizeof before->bytes + 16, kind);
    fm_bytes_put_u64(head + sizeof before->bytes + 24, size);
    crypto_generichash_init(&state, NULL, 0, sizeof link.bytes);
    crypto_generichash_update(&state, head, sizeof head);
    if (size > 0) {
        crypto_generichash_update(&state, bytes, size);
    }
    crypto_generichash_final(&state, link.bytes, sizeof link.bytes);
    return link;
}

fm_journal_link fm_journal_seal(const fm_journal_link *link, uint64_t digest,
                                const fm_journal_pace *pace, uint64_t size, uint64_t checksum)
{
    uint8_t bytes[24];
    uint64_t tick_hz, budget_ms;
    memcpy(&tick_hz, &pace->tick_hz, sizeof tick_hz);
    memcpy(&budget_ms, &pace->budget_ms, sizeof budget_ms);
    fm_bytes_put_u64(bytes, tick_hz);
    fm_bytes_put_u64(bytes + 8, budget_ms);
    fm_bytes_put_u64(bytes + 16, size);
    return fm_journal_link_next(link, digest, checksum, pace->paused, bytes, sizeof bytes);
}

bool fm_journal_link_equal(const fm_journal_link *a, const fm_journal_link *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

// ---- slots -------------------------------------------------------------------------------------

uint64_t fm_journal_boot(void)
{
    char text[64];
    int fd = open(BOOT_FILE, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0) {
        close(fd);
    }
    return size <= 0 ? 0 : fm_bytes_checksum(text, (size_t)size);
}

static void pack_slot(uint8_t slot[SLOT_SIZE], uint64_t number, const fm_journal_mark *mark)
{
    memset(slot, 0, SLOT_SIZE);
    fm_bytes_put_u64(slot, number);
    fm_bytes_put_u64(slot + 8, mark->position);
    fm_bytes_put_u64(slot + 16, mark->tick);
    memcpy(slot + 24, mark->link.bytes, sizeof mark->link.bytes);
    fm_bytes_put_u64(slot + 40, mark->boot);
    fm_bytes_put_u64(slot + SLOT_USED - 8, fm_bytes_checksum(slot, SLOT_USED - 8));
}

// @return its number; 0: not valid
static uint64_t unpack_slot(const uint8_t slot[SLOT_SIZE], fm_journal_mark *mark)
{
    if (fm_bytes_get_u64(slot + SLOT_USED - 8) != fm_bytes_checksum(slot, SLOT_USED - 8)) {
        return 0;
    }
    mark->position = fm_bytes_get_u64(slot + 8);
    mark->tick = fm_bytes_get_u64(slot + 16);
    memcpy(mark->link.bytes, slot + 24, sizeof mark->link.bytes);
    mark->boot = fm_bytes_get_u64(slot + 40);
    return fm_bytes_get_u64(slot);
}

// @return the number of the newest slot; 0: there is none
static uint64_t read_slots(const char *path, fm_journal_mark *mark)
{
    uint8_t bytes[FILE_SIZE] = {0};
    uint64_t newest = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t size = fd < 0 ? 0 : pread(fd, bytes, sizeof bytes, 0);
    for (size_t i = 0; size > 0 && i < FM_JOURNAL_MARK_SLOTS; i++) {
        fm_journal_mark found;
        uint64_t number = unpack_slot(bytes + i * SLOT_SIZE, &found);
        if (number > newest) {
            newest = number;
            *mark = found;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return newest;
}

static void path_of(const char *journal, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s" FM_JOURNAL_MARK_SUFFIX, journal);
}

bool fm_journal_mark_read(const char *journal, fm_journal_mark *mark)
{
    char path[PATH_SIZE];
    path_of(journal, path);
    return read_slots(path, mark) > 0;
}

// ---- writing -----------------------------------------------------------------------------------

static fm_status complain(const fm_journal_marker *marker, const char *doing, char *error)
{
    return fm_journal_complain(marker->path, error, FM_ERR_IO, "%s: %s", doing,
                               errno == 0 ? "the disk failed" : strerror(errno));
}

static fm_status put_bytes(fm_journal_marker *marker, const void *bytes, int size,
                           sqlite3_int64 offset, char *error)
{
    errno = 0;
    int code = marker->file->pMethods->xWrite(marker->file, bytes, size, offset);
    return code == SQLITE_OK ? FM_OK : complain(marker, "writing", error);
}

static fm_status sync_file(fm_journal_marker *marker, char *error)
{
    errno = 0;
    if (marker->synced &&
        marker->file->pMethods->xSync(marker->file, SQLITE_SYNC_NORMAL) != SQLITE_OK) {
        return complain(marker, "syncing", error);
    }
    marker->unsynced = 0;
    return FM_OK;
}

static void destroy(fm_journal_marker *marker)
{
    if (marker->file != NULL && marker->file->pMethods != NULL) {
        marker->file->pMethods->xClose(marker->file);
    }
    free(marker->file);
    free(marker);
}

// The file is made here and not by SQLite, so that no other user can ever read it.
static fm_status open_file(fm_journal_marker *marker, int flags, char *error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int fd = open(marker->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0) {
        return complain(marker, "opening", error);
    }
    close(fd);
    marker->file = calloc(1, (size_t)vfs->szOsFile);
    if (marker->file == NULL) {
        return fm_journal_complain(marker->path, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    errno = 0;
    int code = vfs->xOpen(vfs, marker->path, marker->file,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_SUPER_JOURNAL, NULL);
    return code == SQLITE_OK ? FM_OK : complain(marker, "opening", error);
}

static fm_status marker_init(const char *journal, bool synced, int flags, fm_journal_marker **out,
                             char *error)
{
    sqlite3_initialize();
    fm_journal_marker *marker = calloc(1, sizeof *marker);
    if (marker == NULL) {
        return fm_journal_complain(journal, error, FM_ERR_NO_MEMORY, "out of memory");
    }
    path_of(journal, marker->path);
    marker->synced = synced;
    fm_status status = open_file(marker, flags, error);
    if (status != FM_OK) {
        destroy(marker);
        return status;
    }
    *out = marker;
    return FM_OK;
}

fm_status fm_journal_marker_create(const char *journal, bool synced, const fm_journal_mark *mark,
                                   fm_journal_marker **out, char *error)
{
    fm_journal_marker *marker;
    fm_status status = marker_init(journal, synced, O_CREAT, &marker, error);
    if (status != FM_OK) {
        return status;
    }
    // The number continues from an existing mark, so that no older slot counts if this one is torn.
    uint8_t bytes[FILE_SIZE] = {0};
    fm_journal_mark before;
    marker->number = read_slots(marker->path, &before) + 1;
    pack_slot(bytes + marker->number % FM_JOURNAL_MARK_SLOTS * SLOT_SIZE, marker->number, mark);
    status = put_bytes(marker, bytes, (int)sizeof bytes, 0, error);
    if (status == FM_OK) {
        status = sync_file(marker, error);
    }
    if (status != FM_OK) {
        destroy(marker);
        return status;
    }
    *out = marker;
    return FM_OK;
}

fm_status fm_journal_marker_open(const char *journal, bool synced, fm_journal_marker **out,
                                 char *error)
{
    fm_journal_marker *marker;
    fm_journal_mark mark;
    fm_status status = marker_init(journal, synced, 0, &marker, error);
    if (status == FM_OK) {
        marker->number = read_slots(marker->path, &mark);
        *out = marker;
    }
    return status;
}

fm_status fm_journal_marker_write(fm_journal_marker *marker, const fm_journal_mark *mark,
                                  char *error)
{
    uint8_t slot[SLOT_SIZE];
    uint64_t number = marker->number + 1;
    pack_slot(slot, number, mark);
    fm_status status =
        put_bytes(marker, slot, (int)sizeof slot,
                  (sqlite3_int64)(number % FM_JOURNAL_MARK_SLOTS * SLOT_SIZE), error);
    if (status != FM_OK) {
        return status; // next time the same slot again
    }
    marker->number = number;
    marker->unsynced++;
    return marker->unsynced < SYNCED_WRITES ? FM_OK : sync_file(marker, error);
}

void fm_journal_marker_close(fm_journal_marker *marker)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    if (marker != NULL) {
        if (marker->unsynced > 0) {
            (void)sync_file(marker, error);
        }
        destroy(marker);
    }
}
