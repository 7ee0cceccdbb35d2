// server/streams/sight_pack.c: see sight_pack.h.
//
// A reader that knows the tick before the last change gets the flipped cells, any other one all
// visible cells: these take a few bytes per edge, so older changes need not be remembered.

#include "server/streams/sight_pack.h"

#include "proto/dense.h"
#include "proto/pack.h"
#include "server/streams/sight_bits.h"

#include <stdlib.h>

static bool cut(const fm_scene *scene, const uint64_t *rows, const fm_rect *rect,
                fm_sight_bits *bits)
{
    return fm_sight_bits_cut(rows, scene->host->width, rect, bits);
}

static void begin_entry(const char *name, msgpack_packer *packer, uint32_t *entries)
{
    fm_pack_text(packer, name);
    *entries += 1;
}

// ---- keyframes ---------------------------------------------------------------------------------

static size_t count_runs(const fm_sight_bits *bits, bool value)
{
    size_t count = 0, begin = 0, length;
    while ((length = fm_sight_bits_run(bits, value, &begin)) > 0) {
        begin += length;
        count++;
    }
    return count;
}

static void pack_counts(const fm_sight_bits *bits, msgpack_packer *packer)
{
    size_t count = 2 * count_runs(bits, true), end = 0, begin = 0, length;
    bool ends_visible = bits->words[(bits->count - 1) / 64] >> (bits->count - 1) % 64 & 1;
    msgpack_pack_array(packer, count + !ends_visible);
    while ((length = fm_sight_bits_run(bits, true, &begin)) > 0) {
        msgpack_pack_uint64(packer, begin - end);
        msgpack_pack_uint64(packer, length);
        end = begin += length;
    }
    if (!ends_visible) {
        msgpack_pack_uint64(packer, bits->count - end);
    }
}

bool fm_sight_pack_keyframe(const fm_scene *scene, const fm_rect *rect, msgpack_packer *packer,
                            uint32_t *entries)
{
    fm_sight_bits bits;
    if (!cut(scene, scene->visible, rect, &bits)) {
        return false;
    }
    begin_entry("visible", packer, entries);
    pack_counts(&bits, packer);
    fm_sight_bits_fini(&bits);
    return true;
}

// ---- plain deltas ------------------------------------------------------------------------------

static void pack_runs(const fm_sight_bits *bits, bool value, bool visible, const fm_rect *rect,
                      msgpack_packer *packer)
{
    size_t length;
    for (size_t begin = 0; (length = fm_sight_bits_run(bits, value, &begin)) > 0; begin += length) {
        msgpack_pack_uint64(packer, rect->x + begin % rect->width);
        msgpack_pack_uint64(packer, rect->y + begin / rect->width);
        msgpack_pack_uint64(packer, length);
        msgpack_pack_uint64(packer, visible);
    }
}

static bool pack_whole(const fm_scene *scene, const fm_rect *rect, msgpack_packer *packer)
{
    fm_sight_bits now;
    if (!cut(scene, scene->visible, rect, &now)) {
        return false;
    }
    msgpack_pack_array(packer, 4 * (count_runs(&now, true) + count_runs(&now, false)));
    pack_runs(&now, true, true, rect, packer);
    pack_runs(&now, false, false, rect, packer);
    fm_sight_bits_fini(&now);
    return true;
}

static bool pack_flips(const fm_scene *scene, const fm_rect *rect, msgpack_packer *packer)
{
    fm_sight_bits now = {0}, gained = {0}, lost = {0};
    bool made = cut(scene, scene->visible, rect, &now) &&
                cut(scene, scene->flipped, rect, &gained) &&
                cut(scene, scene->flipped, rect, &lost);
    if (made) {
        fm_sight_bits_and(&gained, &now, true);
        fm_sight_bits_and(&lost, &now, false);
        msgpack_pack_array(packer, 4 * (count_runs(&gained, true) + count_runs(&lost, true)));
        pack_runs(&gained, true, true, rect, packer);
        pack_runs(&lost, true, false, rect, packer);
    }
    fm_sight_bits_fini(&now);
    fm_sight_bits_fini(&gained);
    fm_sight_bits_fini(&lost);
    return made;
}

// ---- dense deltas ------------------------------------------------------------------------------

static size_t make_bytes(const fm_scene *scene, const uint64_t *rows, const fm_rect *rect,
                         uint8_t kind, uint8_t **bytes)
{
    fm_sight_bits bits;
    if (!cut(scene, rows, rect, &bits)) {
        return 0;
    }
    size_t size = fm_sight_bits_pack(&bits, kind, bytes);
    fm_sight_bits_fini(&bits);
    return size;
}

static void pack_bytes(const uint8_t *bytes, size_t size, msgpack_packer *packer)
{
    msgpack_pack_bin(packer, size);
    msgpack_pack_bin_body(packer, bytes, size);
}

// Where many units move, all that is visible often takes fewer bytes than what has flipped.
static bool pack_dense(const fm_scene *scene, const fm_rect *rect, bool has_flips,
                       msgpack_packer *packer)
{
    uint8_t *whole = NULL, *flips = NULL;
    size_t whole_size = make_bytes(scene, scene->visible, rect, FM_DENSE_SIGHT_WHOLE, &whole);
    size_t flips_size =
        has_flips ? make_bytes(scene, scene->flipped, rect, FM_DENSE_SIGHT_FLIPS, &flips) : 0;
    bool made = whole_size > 0 && (!has_flips || flips_size > 0);
    if (made && has_flips && flips_size <= whole_size) {
        pack_bytes(flips, flips_size, packer);
    } else if (made) {
        pack_bytes(whole, whole_size, packer);
    }
    free(whole);
    free(flips);
    return made;
}

// ---- either ------------------------------------------------------------------------------------

static bool is_flipped_inside(const fm_scene *scene, const fm_rect *rect, bool *inside)
{
    fm_sight_bits bits;
    size_t begin = 0;
    if (!cut(scene, scene->flipped, rect, &bits)) {
        return false;
    }
    *inside = fm_sight_bits_run(&bits, true, &begin) > 0;
    fm_sight_bits_fini(&bits);
    return true;
}

bool fm_sight_pack_delta(const fm_scene *scene, const fm_rect *rect, uint64_t since, bool dense,
                         msgpack_packer *packer, uint32_t *entries)
{
    bool elsewhere = since == FM_SIGHT_ELSEWHERE, inside = true;
    bool flips = !elsewhere && since >= scene->sight_from;
    if (!elsewhere && since >= scene->sight_tick) {
        return true;
    }
    if (flips && !is_flipped_inside(scene, rect, &inside)) {
        return false;
    }
    if (!inside) {
        return true;
    }
    begin_entry(dense ? "sight" : "visible", packer, entries);
    if (dense) {
        return pack_dense(scene, rect, flips, packer);
    }
    return flips ? pack_flips(scene, rect, packer) : pack_whole(scene, rect, packer);
}
