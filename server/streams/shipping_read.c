// server/streams/shipping_read.c: see shipping_read.h.

#include "server/streams/shipping_read.h"

#include <stdio.h>
#include <stdlib.h>

// ---- parcels -----------------------------------------------------------------------------------

bool fm_parcels_put(fm_parcels *parcels, fm_writer *bytes, const fm_parcel *about)
{
    fm_parcel *parcel = bytes->failed || parcels->failed ? NULL : calloc(1, sizeof *parcel);
    if (parcel == NULL) {
        parcels->failed = true;
        fm_writer_fini(bytes);
        return false;
    }
    *parcel = *about;
    parcel->next = NULL;
    parcel->bytes = *bytes;
    if (parcels->first == NULL) {
        parcels->first = parcel;
    } else {
        parcels->last->next = parcel;
    }
    parcels->last = parcel;
    parcels->size += bytes->size;
    return true;
}

void fm_parcels_fini(fm_parcels *parcels)
{
    while (parcels->first != NULL) {
        fm_parcel *parcel = parcels->first;
        parcels->first = parcel->next;
        fm_writer_fini(&parcel->bytes);
        free(parcel);
    }
}

static void put(fm_parcels *parcels, const fm_shipment *shipment, const fm_parcel *about)
{
    fm_writer bytes = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&bytes, shipment);
    (void)fm_parcels_put(parcels, &bytes, about);
}

// ---- the journal -------------------------------------------------------------------------------

static void let_go(fm_shipper *shipper)
{
    fm_journal_reader_close(shipper->reader);
    shipper->reader = NULL;
    free(shipper->bytes);
    shipper->bytes = NULL;
}

// What was sent of it is void: the standby gets it again.
static void give_up(fm_shipper *shipper)
{
    let_go(shipper);
    shipper->is_broken = true;
    shipper->has_begun = shipper->is_claimed = false;
}

static bool open_journal(fm_shipper *shipper)
{
    let_go(shipper);
    return fm_journal_reader_open(shipper->path, &shipper->reader, shipper->error) == FM_OK;
}

// ---- where it begins ---------------------------------------------------------------------------

static fm_shipment_keyframe describe(const fm_journal_keyframe *keyframe, size_t size)
{
    return (fm_shipment_keyframe){
        .tick = keyframe->tick, .digest = keyframe->digest, .size = size, .pace = keyframe->pace};
}

static void put_world(fm_shipper *shipper, const fm_journal_keyframe *keyframe,
                      const fm_journal_link *link, fm_parcels *parcels)
{
    const fm_journal_info *info = fm_journal_reader_info(shipper->reader);
    fm_shipment shipment = {
        .kind = FM_SHIPMENT_WORLD,
        .place = {.world = shipper->world, .position = keyframe->position, .link = *link},
        .keyframe = describe(keyframe, shipper->size),
        .overload = info->overload,
        .timeline = info->timeline,
        .base_count = info->base_count,
    };
    memcpy(shipment.name, info->name, sizeof shipment.name);
    memcpy(shipment.bases, info->bases, sizeof shipment.bases);
    put(parcels, &shipment, &(fm_parcel){.world = shipper->world});
}

// From the newest keyframe on. One without a link, of an older program, cannot be copied: the next
// has one.
static bool begin_anew(fm_shipper *shipper, fm_parcels *parcels)
{
    uint32_t count;
    fm_journal_link link;
    if (!open_journal(shipper)) {
        return false;
    }
    const fm_journal_keyframe *keyframe =
        fm_journal_reader_keyframes(shipper->reader, &count) + count - 1;
    if (fm_journal_reader_load(shipper->reader, keyframe, &shipper->bytes, &shipper->size,
                               shipper->error) != FM_OK ||
        fm_journal_reader_seek(shipper->reader, keyframe->position, shipper->error) != FM_OK) {
        return false;
    }
    if (!fm_journal_reader_link_here(shipper->reader, &link)) {
        snprintf(shipper->error, sizeof shipper->error,
                 "%.300s: has no keyframe of the present format yet", shipper->path);
        return false;
    }
    shipper->offset = 0;
    shipper->position = keyframe->position;
    shipper->tick = keyframe->tick;
    shipper->has_begun = true;
    put_world(shipper, keyframe, &link, parcels);
    return true;
}

// Where the standby says it is, if that is a place in this journal.
static void check_claim(fm_shipper *shipper, fm_parcels *parcels)
{
    const fm_shipment_place *claim = &shipper->claim;
    bool holds = false;
    shipper->is_claimed = false;
    if (!open_journal(shipper) ||
        fm_journal_reader_holds(shipper->reader, claim->position, &claim->link, &holds,
                                shipper->error) != FM_OK ||
        !holds ||
        fm_journal_reader_seek(shipper->reader, claim->position, shipper->error) != FM_OK) {
        return;
    }
    shipper->has_begun = true;
    shipper->position = claim->position;
    fm_writer nothing = fm_writer_init(&fm_memory_libc);
    (void)fm_parcels_put(
        parcels, &nothing,
        &(fm_parcel){.world = shipper->world, .position = claim->position, .tick = 0});
}

// ---- going on ----------------------------------------------------------------------------------

static void put_part(fm_shipper *shipper, fm_parcels *parcels)
{
    size_t left = shipper->size - shipper->offset;
    bool is_last = left <= FM_SHIPMENT_PART_SIZE;
    const fm_shipment shipment = {.kind = FM_SHIPMENT_PART,
                                  .place.world = shipper->world,
                                  .offset = shipper->offset,
                                  .bytes = shipper->bytes + shipper->offset,
                                  .size = is_last ? left : FM_SHIPMENT_PART_SIZE};
    put(parcels, &shipment,
        &(fm_parcel){.world = shipper->world,
                     .position = is_last ? shipper->position : 0,
                     .tick = shipper->tick});
    shipper->offset += shipment.size;
    if (is_last) {
        free(shipper->bytes);
        shipper->bytes = NULL;
    }
}

// The reader knows the keyframes that were there when it was opened.
static bool load_keyframe(fm_shipper *shipper, fm_shipment_keyframe *about)
{
    fm_journal_reader *reader;
    uint32_t count;
    if (fm_journal_reader_open(shipper->path, &reader, shipper->error) != FM_OK) {
        return false;
    }
    const fm_journal_keyframe *keyframes = fm_journal_reader_keyframes(reader, &count);
    while (count > 0 && keyframes[count - 1].position != shipper->position) {
        count--;
    }
    bool loaded =
        count > 0 && fm_journal_reader_load(reader, &keyframes[count - 1], &shipper->bytes,
                                            &shipper->size, shipper->error) == FM_OK;
    if (loaded) {
        *about = describe(&keyframes[count - 1], shipper->size);
        shipper->offset = 0;
    }
    fm_journal_reader_close(reader);
    return loaded;
}

static bool put_keyframe(fm_shipper *shipper, fm_parcels *parcels)
{
    fm_shipment shipment = {.kind = FM_SHIPMENT_KEYFRAME,
                            .place = {.world = shipper->world, .position = shipper->position}};
    if (!fm_journal_reader_link_here(shipper->reader, &shipment.place.link) ||
        !load_keyframe(shipper, &shipment.keyframe)) {
        return false;
    }
    put(parcels, &shipment, &(fm_parcel){.world = shipper->world});
    return true;
}

static void put_rows(const fm_shipper *shipper, const fm_writer *rows, const fm_journal_link *link,
                     fm_parcels *parcels)
{
    const fm_shipment shipment = {
        .kind = FM_SHIPMENT_ROWS,
        .place = {.world = shipper->world, .position = shipper->position, .link = *link},
        .bytes = rows->data,
        .size = rows->size};
    put(parcels, &shipment,
        &(fm_parcel){
            .world = shipper->world, .position = shipper->position, .tick = shipper->tick});
}

// Rows up to a keyframe, the end, or as many as go into one shipment.
//
// @param more  receives whether there may be more
static bool take_rows(fm_shipper *shipper, fm_parcels *parcels, bool *more)
{
    fm_writer rows = fm_writer_init(&fm_memory_libc);
    fm_journal_row row = {.kind = FM_JOURNAL_COMMAND};
    fm_journal_link link = {{0}};
    bool is_keyframe = false;
    fm_status status = FM_OK;
    while (*more && !is_keyframe && rows.size < FM_SHIPMENT_ROWS_SIZE && !rows.failed) {
        status = fm_journal_reader_next(shipper->reader, &row, more, shipper->error);
        if (status != FM_OK || !*more) {
            break;
        }
        is_keyframe = row.kind == FM_JOURNAL_KEYFRAME;
        if (is_keyframe && rows.size > 0) {
            put_rows(shipper, &rows, &link, parcels);
        }
        shipper->position = row.position;
        shipper->tick = fm_journal_ticks_at(row.kind, row.tick);
        if (!is_keyframe) {
            fm_journal_rows_put(&rows, row.kind, row.tick, row.bytes, row.size);
            (void)fm_journal_reader_link_here(shipper->reader, &link);
        }
    }
    if (status == FM_OK && !is_keyframe && rows.size > 0) {
        put_rows(shipper, &rows, &link, parcels);
    }
    parcels->failed |= rows.failed;
    fm_writer_fini(&rows);
    return status == FM_OK && (!is_keyframe || put_keyframe(shipper, parcels));
}

void fm_shipper_read(fm_shipper *shipper, fm_parcels *parcels, size_t size_max)
{
    size_t begin = parcels->size;
    bool good = true, more = true;
    shipper->error[0] = '\0';
    if (shipper->is_claimed) {
        check_claim(shipper, parcels);
    }
    if (!shipper->has_begun) {
        good = begin_anew(shipper, parcels);
    }
    while (good && more && !parcels->failed && parcels->size - begin < size_max) {
        if (shipper->bytes != NULL) {
            put_part(shipper, parcels);
        } else {
            good = take_rows(shipper, parcels, &more);
        }
    }
    if (!good || parcels->failed) {
        give_up(shipper);
    } else {
        fm_journal_reader_rest(shipper->reader);
    }
}

void fm_shipper_destroy(fm_shipper *shipper)
{
    if (shipper != NULL) {
        let_go(shipper);
        free(shipper);
    }
}
