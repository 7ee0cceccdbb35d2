// server/journal/shipment.c: see shipment.h. A standby trusts the server that it follows, but not
// the network: everything is checked before it is used.

#include "server/journal/shipment.h"

#include "server/base/config.h"
#include "server/journal/journal_reader_file.h"

#define OVERLOAD_MAX FM_OVERLOAD_DEGRADE

// ---- parts -------------------------------------------------------------------------------------

static void put_real(fm_writer *writer, double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    fm_writer_put_u64(writer, bits);
}

static double take_real(fm_reader *reader)
{
    uint64_t bits = fm_reader_take_u64(reader);
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

void fm_shipment_put_place(fm_writer *writer, const fm_shipment_place *place)
{
    fm_writer_put_u64(writer, place->world);
    fm_writer_put_u64(writer, place->position);
    fm_writer_put_bytes(writer, place->link.bytes, sizeof place->link.bytes);
}

static void take_place(fm_reader *reader, fm_shipment_place *place)
{
    place->world = fm_reader_take_u64(reader);
    place->position = fm_reader_take_u64(reader);
    const uint8_t *link = fm_reader_take_bytes(reader, sizeof place->link.bytes, "link");
    if (link != NULL) {
        memcpy(place->link.bytes, link, sizeof place->link.bytes);
    }
    if (place->world == 0 || place->world > INT64_MAX || place->position == 0 ||
        place->position > INT64_MAX) {
        fm_reader_fail(reader, "there is no such world or position");
    }
}

bool fm_shipment_take_place(fm_reader *reader, fm_shipment_place *place)
{
    if (fm_reader_left(reader) == 0) {
        return false;
    }
    take_place(reader, place);
    return !reader->failed;
}

// In the form of a place, of the world 0.
#define CLAIM_FOLLOWS    1u
#define CLAIM_TAKES_OVER 2u
#define CLAIM_SIZE       (2 * sizeof(uint64_t) + sizeof(fm_journal_link))

void fm_shipment_put_claim(fm_writer *writer, const fm_shipment_claim *claim)
{
    fm_shipment_put_place(writer,
                          &(fm_shipment_place){
                              .position = claim->has_taken_over ? CLAIM_TAKES_OVER : CLAIM_FOLLOWS,
                              .link = claim->ledger,
                          });
}

bool fm_shipment_take_claim(const uint8_t **bytes, size_t *size, fm_shipment_claim *claim)
{
    fm_reader reader = fm_reader_init(*bytes, *size, NULL);
    if (*size < CLAIM_SIZE || fm_reader_take_u64(&reader) != 0) {
        return false;
    }
    claim->has_taken_over = fm_reader_take_u64(&reader) == CLAIM_TAKES_OVER;
    memcpy(&claim->ledger, fm_reader_take_bytes(&reader, sizeof claim->ledger, "ledger"),
           sizeof claim->ledger);
    *bytes += CLAIM_SIZE;
    *size -= CLAIM_SIZE;
    return true;
}

static void put_keyframe(fm_writer *writer, const fm_shipment_keyframe *keyframe)
{
    fm_writer_put_u64(writer, keyframe->tick);
    fm_writer_put_u64(writer, keyframe->digest);
    fm_writer_put_u64(writer, keyframe->size);
    fm_writer_put_u8(writer, keyframe->pace.paused);
    put_real(writer, keyframe->pace.tick_hz);
    put_real(writer, keyframe->pace.budget_ms);
}

static void take_keyframe(fm_reader *reader, fm_shipment_keyframe *keyframe)
{
    keyframe->tick = fm_reader_take_u64(reader);
    keyframe->digest = fm_reader_take_u64(reader);
    keyframe->size = fm_reader_take_u64(reader);
    keyframe->pace.paused = fm_reader_take_bool(reader, "paused");
    keyframe->pace.tick_hz = take_real(reader);
    keyframe->pace.budget_ms = take_real(reader);
    if (keyframe->tick > INT64_MAX || keyframe->size == 0 ||
        keyframe->size > FM_JOURNAL_WORLD_MAX || !fm_journal_pace_is_sane(&keyframe->pace)) {
        fm_reader_fail(reader, "a keyframe cannot be like that");
    }
}

static void put_head(fm_writer *writer, const fm_shipment *shipment)
{
    fm_writer_put_text(writer, shipment->name);
    fm_writer_put_u32(writer, shipment->overload);
    fm_writer_put_u64(writer, shipment->timeline);
    fm_writer_put_varint(writer, shipment->base_count);
    for (uint32_t i = 0; i < shipment->base_count; i++) {
        fm_writer_put_u32(writer, shipment->bases[i]);
    }
}

// The name becomes a part of a file's.
static bool is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

static void take_head(fm_reader *reader, fm_shipment *shipment)
{
    fm_reader_take_text(reader, shipment->name, sizeof shipment->name, "name");
    shipment->overload = fm_reader_take_u32(reader);
    shipment->timeline = fm_reader_take_u64(reader);
    shipment->base_count = fm_reader_take_count(reader, FM_JOURNAL_BASES_MAX, 4, "bases");
    for (uint32_t i = 0; i < shipment->base_count; i++) {
        shipment->bases[i] = fm_reader_take_u32(reader);
    }
    if (!is_name(shipment->name) || shipment->overload > OVERLOAD_MAX ||
        shipment->timeline > INT64_MAX) {
        fm_reader_fail(reader, "no world has such a head");
    }
}

static void put_ledger(fm_writer *writer, const fm_shipment *shipment)
{
    fm_writer_put_u64(writer, shipment->epoch);
    fm_writer_put_bytes(writer, shipment->key, sizeof shipment->key);
    fm_writer_put_u64(writer, shipment->world_last);
    fm_writer_put_u64(writer, shipment->token_last);
    fm_writer_put_varint(writer, shipment->grant_count);
}

static void take_ledger(fm_reader *reader, fm_shipment *shipment)
{
    shipment->epoch = fm_reader_take_u64(reader);
    const uint8_t *key = fm_reader_take_bytes(reader, sizeof shipment->key, "key");
    if (key != NULL) {
        memcpy(shipment->key, key, sizeof shipment->key);
    }
    shipment->world_last = fm_reader_take_u64(reader);
    shipment->token_last = fm_reader_take_u64(reader);
    shipment->grant_count =
        fm_reader_take_count(reader, FM_TOKENS_CREATED_MAX, FM_TOKEN_HASH_SIZE, "tokens");
    if (shipment->epoch > INT64_MAX || shipment->world_last > INT64_MAX ||
        shipment->token_last > INT64_MAX) {
        fm_reader_fail(reader, "no ledger has such numbers");
    }
}

// ---- tokens ------------------------------------------------------------------------------------

void fm_shipment_put_grant(fm_writer *writer, const fm_grant *grant)
{
    fm_writer_put_bytes(writer, grant->hash, sizeof grant->hash);
    fm_writer_put_u8(writer, (uint8_t)grant->role);
    fm_writer_put_varint(writer, grant->number);
    fm_writer_put_varint(writer, grant->seat.number);
    fm_writer_put_varint(writer, grant->seat.team);
    fm_writer_put_varint(writer, grant->expires_s);
    fm_writer_put_varint(writer, grant->used_s);
}

fm_status fm_shipment_take_grant(fm_reader *reader, fm_grant *grant)
{
    *grant = (fm_grant){.number = 0};
    const uint8_t *hash = fm_reader_take_bytes(reader, sizeof grant->hash, "hash");
    if (hash != NULL) {
        memcpy(grant->hash, hash, sizeof grant->hash);
    }
    uint8_t role = fm_reader_take_u8(reader);
    grant->number = fm_reader_take_bounded(reader, INT64_MAX, "number of a token");
    grant->seat.number = fm_reader_take_bounded(reader, INT64_MAX, "world of a seat");
    grant->seat.team = (uint32_t)fm_reader_take_bounded(reader, UINT32_MAX, "team of a seat");
    grant->expires_s = fm_reader_take_bounded(reader, INT64_MAX, "end of a token");
    grant->used_s = fm_reader_take_bounded(reader, INT64_MAX, "use of a token");
    bool has_seat = grant->seat.number > 0 && grant->seat.team > 0;
    if (grant->number == 0 || role < FM_ROLE_PLAYER || role > FM_ROLE_ADMIN ||
        has_seat != (role == FM_ROLE_PLAYER)) {
        fm_reader_fail(reader, "no token is like that");
    }
    grant->role = reader->failed ? FM_ROLE_NONE : (fm_role)role;
    return reader->failed ? FM_ERR_BAD_FORMAT : FM_OK;
}

// ---- the whole ---------------------------------------------------------------------------------

void fm_shipment_put(fm_writer *writer, const fm_shipment *shipment)
{
    fm_writer_put_u8(writer, (uint8_t)shipment->kind);
    switch (shipment->kind) {
    case FM_SHIPMENT_LEDGER:
        put_ledger(writer, shipment);
        return;
    case FM_SHIPMENT_WORLD:
        fm_shipment_put_place(writer, &shipment->place);
        put_keyframe(writer, &shipment->keyframe);
        put_head(writer, shipment);
        return;
    case FM_SHIPMENT_KEYFRAME:
        fm_shipment_put_place(writer, &shipment->place);
        put_keyframe(writer, &shipment->keyframe);
        return;
    case FM_SHIPMENT_PART:
        fm_writer_put_u64(writer, shipment->place.world);
        fm_writer_put_u64(writer, shipment->offset);
        fm_writer_put_bytes(writer, shipment->bytes, shipment->size);
        return;
    case FM_SHIPMENT_ROWS:
        fm_shipment_put_place(writer, &shipment->place);
        fm_writer_put_bytes(writer, shipment->bytes, shipment->size);
        return;
    case FM_SHIPMENT_END:
        fm_writer_put_u64(writer, shipment->place.world);
        fm_writer_put_u8(writer, shipment->is_kept);
        return;
    case FM_SHIPMENT_BEAT:
        return;
    }
    FM_UNREACHABLE();
}

static void take_rest(fm_reader *reader, fm_shipment *shipment)
{
    shipment->size = fm_reader_left(reader);
    shipment->bytes = fm_reader_take_bytes(reader, shipment->size, "bytes");
    if (shipment->size == 0) {
        fm_reader_fail(reader, "there is nothing in it");
    }
}

fm_status fm_shipment_take(fm_reader *reader, fm_shipment *shipment)
{
    uint8_t kind = fm_reader_take_u8(reader);
    *shipment = (fm_shipment){.kind = (fm_shipment_kind)kind};
    switch (kind) {
    case FM_SHIPMENT_LEDGER:
        take_ledger(reader, shipment);
        return reader->failed ? FM_ERR_BAD_FORMAT : FM_OK;
    case FM_SHIPMENT_WORLD:
        take_place(reader, &shipment->place);
        take_keyframe(reader, &shipment->keyframe);
        take_head(reader, shipment);
        break;
    case FM_SHIPMENT_KEYFRAME:
        take_place(reader, &shipment->place);
        take_keyframe(reader, &shipment->keyframe);
        break;
    case FM_SHIPMENT_PART:
        shipment->place.world = fm_reader_take_u64(reader);
        shipment->offset = fm_reader_take_u64(reader);
        take_rest(reader, shipment);
        break;
    case FM_SHIPMENT_ROWS:
        take_place(reader, &shipment->place);
        take_rest(reader, shipment);
        break;
    case FM_SHIPMENT_END:
        shipment->place.world = fm_reader_take_u64(reader);
        shipment->is_kept = fm_reader_take_bool(reader, "kept");
        break;
    case FM_SHIPMENT_BEAT:
        break;
    default:
        fm_reader_fail(reader, "there is no such kind");
    }
    return fm_reader_finish(reader);
}

uint64_t fm_shipment_sum(const void *bytes, size_t size)
{
    return fm_bytes_checksum(bytes, size);
}

bool fm_shipment_is_whole(const uint8_t *bytes, size_t *size)
{
    if (*size < sizeof(uint64_t)) {
        return false;
    }
    *size -= sizeof(uint64_t);
    return fm_bytes_get_u64(bytes + *size) == fm_shipment_sum(bytes, *size);
}
