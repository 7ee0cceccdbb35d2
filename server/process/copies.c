// server/process/copies.c: see copies.h.

#include "server/process/copies.h"

#include "server/base/log.h"
#include "server/journal/journal_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- one copy ----------------------------------------------------------------------------------

fm_copy *fm_copy_create(const fm_copies *copies, uint64_t world, const char *path)
{
    fm_copy *copy = calloc(1, sizeof *copy);
    if (copy != NULL) {
        copy->followed.world = world;
        copy->followed.journals = copies->journals;
        snprintf(copy->followed.path, sizeof copy->followed.path, "%s", path);
    }
    return copy;
}

void fm_copy_destroy(fm_copy *copy)
{
    fm_journal_file_close(copy->file);
    free(copy->bytes);
    free(copy);
}

static void forget_keyframe(fm_copy *copy)
{
    free(copy->bytes);
    copy->bytes = NULL;
    copy->head = (fm_shipment){.kind = FM_SHIPMENT_BEAT};
    copy->size = 0;
}

static fm_copy *find(const fm_copies *copies, uint64_t world)
{
    fm_copy *copy = copies->first;
    while (copy != NULL && copy->followed.world != world) {
        copy = copy->next;
    }
    return copy;
}

static void end_world(const fm_copies *copies, fm_copy *copy)
{
    if (copy->has_world) {
        copy->has_world = false;
        copies->gone(copies->context, copy);
    }
}

static void unlink_copy(fm_copies *copies, const fm_copy *copy)
{
    fm_copy **link = &copies->first;
    while (*link != copy) {
        link = &(*link)->next;
    }
    *link = copy->next;
}

// It is no longer used, but kept for people.
static void drop(fm_copies *copies, fm_copy *copy)
{
    bool has_file = copy->file != NULL;
    end_world(copies, copy);
    fm_journal_file_close(copy->file);
    copy->file = NULL;
    if (has_file && !fm_journal_file_set_aside(copy->followed.path, "former")) {
        fm_log(FM_LOG_WARNING, "copy of a journal not renamed",
               fm_log_text("file", copy->followed.path));
    }
    unlink_copy(copies, copy);
    fm_copy_destroy(copy);
}

__attribute__((format(printf, 3, 4))) static fm_status unfit(const fm_shipment *shipment,
                                                             char *error, const char *format, ...)
{
    char text[FM_JOURNAL_ERROR_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(error, FM_JOURNAL_ERROR_SIZE, "world %llu: %s",
             (unsigned long long)shipment->place.world, text);
    return FM_ERR_BAD_FORMAT;
}

fm_copy *fm_copies_add(fm_copies *copies, fm_copy *copy, const fm_journal_tail *tail, char *error)
{
    if (fm_journal_file_open(copy->followed.path, FM_DURABILITY_TICK, tail, &copy->file, error) !=
        FM_OK) {
        return NULL;
    }
    copy->has_world = true;
    copy->next = copies->first;
    copies->first = copy;
    return copy;
}

// ---- keyframes ---------------------------------------------------------------------------------

static fm_status begin_keyframe(fm_copy *copy, const fm_shipment *shipment, char *error)
{
    forget_keyframe(copy);
    copy->bytes = malloc(shipment->keyframe.size);
    if (copy->bytes == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    copy->head = *shipment;
    return FM_OK;
}

static fm_status take_world(fm_copies *copies, const fm_shipment *shipment, char *error)
{
    char path[FM_FOLLOWED_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%llu-%s" FM_JOURNAL_SUFFIX, copies->folder,
                          (unsigned long long)shipment->place.world, shipment->name);
    fm_copy *copy = find(copies, shipment->place.world);
    if (copy != NULL) {
        drop(copies, copy);
    }
    if (length < 0 || (size_t)length >= sizeof path) {
        return unfit(shipment, error, "its name is too long");
    }
    if (access(path, F_OK) == 0) {
        (void)fm_journal_file_set_aside(path, "former");
    }
    copy = fm_copy_create(copies, shipment->place.world, path);
    if (copy == NULL) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    copy->next = copies->first;
    copies->first = copy;
    return begin_keyframe(copy, shipment, error);
}

static fm_journal_world world_of(const fm_copy *copy)
{
    const fm_shipment_keyframe *keyframe = &copy->head.keyframe;
    return (fm_journal_world){.tick = keyframe->tick,
                              .digest = keyframe->digest,
                              .pace = keyframe->pace,
                              .bytes = copy->bytes,
                              .size = keyframe->size};
}

static fm_status begin_journal(fm_copies *copies, fm_copy *copy, char *error)
{
    const fm_shipment *shipment = &copy->head;
    const fm_journal_head head = {.name = shipment->name,
                                  .number = shipment->place.world,
                                  .overload = shipment->overload,
                                  .timeline = shipment->timeline,
                                  .bases = shipment->bases,
                                  .base_count = shipment->base_count};
    const fm_journal_world world = world_of(copy);
    const fm_journal_mark start = {.position = shipment->place.position,
                                   .link = shipment->place.link};
    fm_status status =
        fm_journal_file_copy(copy->followed.path, &head, &world, &start, &copy->file, error);
    if (status == FM_OK) {
        status = copies->come(copies->context, copy, error);
        copy->has_world = status == FM_OK;
    }
    return status;
}

// ---- rows --------------------------------------------------------------------------------------

// Whether what was added, and is not committed yet, ends in the row that was sent.
static bool is_in_place(const fm_copy *copy, const fm_shipment_place *place)
{
    fm_journal_mark next = fm_journal_file_next_mark(copy->file);
    return next.position == place->position && fm_journal_link_equal(&next.link, &place->link);
}

static fm_status commit(const fm_copies *copies, fm_copy *copy, const fm_shipment *shipment,
                        fm_status status, char *error)
{
    if (status == FM_OK && !is_in_place(copy, &shipment->place)) {
        status = unfit(shipment, error, "its rows do not follow those that are here");
    }
    if (status == FM_OK) {
        status = fm_journal_file_commit(copy->file, error);
    }
    if (status != FM_OK) {
        fm_journal_file_give_up(copy->file);
        return status;
    }
    atomic_store(&copy->followed.position, shipment->place.position);
    copies->grown(copies->context);
    return FM_OK;
}

static fm_status add_keyframe(const fm_copies *copies, fm_copy *copy, char *error)
{
    const fm_journal_world world = world_of(copy);
    fm_status status = fm_journal_file_begin(copy->file, error);
    if (status == FM_OK) {
        status = fm_journal_file_add_keyframe(copy->file, &world, error);
    }
    return commit(copies, copy, &copy->head, status, error);
}

static fm_status add_row(fm_copy *copy, const fm_shipment *shipment, const fm_journal_row *row,
                         char *error)
{
    if (row->kind == FM_JOURNAL_KEYFRAME) {
        return unfit(shipment, error, "a keyframe among rows");
    }
    fm_status status =
        fm_journal_file_add(copy->file, row->kind, row->tick, row->bytes, row->size, error);
    if (status == FM_OK && row->kind == FM_JOURNAL_GAP && row->size == 0) {
        status = fm_journal_file_next_timeline(copy->file, error);
    }
    return status;
}

static fm_status take_rows(const fm_copies *copies, fm_copy *copy, const fm_shipment *shipment,
                           char *error)
{
    fm_reader rows = fm_reader_init(shipment->bytes, shipment->size, NULL);
    fm_journal_row row;
    fm_status status = fm_journal_file_begin(copy->file, error);
    while (status == FM_OK && fm_journal_rows_take(&rows, &row)) {
        status = add_row(copy, shipment, &row, error);
    }
    if (status == FM_OK && rows.failed) {
        status = unfit(shipment, error, "a row is damaged");
    }
    return commit(copies, copy, shipment, status, error);
}

static fm_status take_part(fm_copies *copies, fm_copy *copy, const fm_shipment *shipment,
                           char *error)
{
    if (copy->bytes == NULL || shipment->offset != copy->size ||
        shipment->size > copy->head.keyframe.size - copy->size) {
        return unfit(shipment, error, "a part of a keyframe that is not on its way");
    }
    memcpy(copy->bytes + copy->size, shipment->bytes, shipment->size);
    copy->size += shipment->size;
    if (copy->size < copy->head.keyframe.size) {
        return FM_OK;
    }
    fm_status status = copy->head.kind == FM_SHIPMENT_WORLD ? begin_journal(copies, copy, error)
                                                            : add_keyframe(copies, copy, error);
    forget_keyframe(copy);
    return status;
}

static void take_end(fm_copies *copies, fm_copy *copy, bool is_kept)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    end_world(copies, copy);
    if (copy->file != NULL && fm_journal_file_end(copy->file, is_kept, error) != FM_OK) {
        fm_log(FM_LOG_ERROR, "copy of a journal not removed", fm_log_text("reason", error));
    }
    copy->file = NULL;
    unlink_copy(copies, copy);
    fm_copy_destroy(copy);
}

static fm_status take(fm_copies *copies, fm_copy *copy, const fm_shipment *shipment, char *error)
{
    bool is_rows = shipment->kind == FM_SHIPMENT_ROWS || shipment->kind == FM_SHIPMENT_KEYFRAME;
    if (is_rows && (copy->file == NULL || copy->bytes != NULL)) {
        return unfit(shipment, error, "rows in the middle of a keyframe");
    }
    if (shipment->kind == FM_SHIPMENT_ROWS) {
        return take_rows(copies, copy, shipment, error);
    }
    return shipment->kind == FM_SHIPMENT_KEYFRAME ? begin_keyframe(copy, shipment, error)
                                                  : take_part(copies, copy, shipment, error);
}

fm_status fm_copies_take(fm_copies *copies, const fm_shipment *shipment, char *error)
{
    fm_copy *copy = find(copies, shipment->place.world);
    if (shipment->kind == FM_SHIPMENT_WORLD) {
        return take_world(copies, shipment, error);
    }
    if (shipment->kind == FM_SHIPMENT_END) {
        if (copy != NULL) {
            take_end(copies, copy, shipment->is_kept);
        }
        return FM_OK;
    }
    if (copy == NULL) {
        return unfit(shipment, error, "there is no copy of it");
    }
    fm_status status = take(copies, copy, shipment, error);
    if (status == FM_ERR_BAD_FORMAT) {
        drop(copies, copy);
    }
    return status;
}

// ---- all of them -------------------------------------------------------------------------------

bool fm_copies_drop_stuck(fm_copies *copies)
{
    bool any = false;
    for (fm_copy *copy = copies->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        if (atomic_load(&copy->followed.is_stuck)) {
            drop(copies, copy);
            any = true;
        }
    }
    return any;
}

// One without a world was not finished.
void fm_copies_put_places(fm_copies *copies, fm_writer *writer)
{
    for (fm_copy *copy = copies->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        forget_keyframe(copy);
        if (!copy->has_world) {
            drop(copies, copy);
            continue;
        }
        fm_journal_mark end = fm_journal_file_end_mark(copy->file);
        fm_shipment_put_place(writer, &(fm_shipment_place){.world = copy->followed.world,
                                                           .position = end.position,
                                                           .link = end.link});
    }
}

void fm_copies_close(fm_copies *copies)
{
    for (fm_copy *copy = copies->first; copy != NULL; copy = copy->next) {
        forget_keyframe(copy);
        fm_journal_file_close(copy->file);
        copy->file = NULL;
    }
}

void fm_copies_fini(fm_copies *copies)
{
    while (copies->first != NULL) {
        fm_copy *copy = copies->first;
        copies->first = copy->next;
        fm_copy_destroy(copy);
    }
}
