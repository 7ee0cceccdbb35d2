// core/world/receipts.c: see receipts.h.
//
// Ids are searched one by one, the newest first: clients that send again do so soon.

#include "core/world/receipts.h"

#define CAPACITY_FIRST 16u

static fm_receipt_seat *seat_of(const fm_receipts *receipts, uint32_t seat)
{
    for (uint32_t i = 0; i < receipts->count; i++) {
        if (receipts->seats[i].seat == seat) {
            return &receipts->seats[i];
        }
    }
    return NULL;
}

const fm_receipt *fm_receipt_at(const fm_receipt_seat *seat, uint32_t age)
{
    FM_ASSERT(age < seat->count);
    return &seat->entries[(seat->first + seat->count - 1 - age) % seat->capacity];
}

static const fm_receipt *find_in(const fm_receipt *entries, uint32_t count, uint64_t id)
{
    while (count > 0) {
        if (entries[--count].id == id) {
            return &entries[count];
        }
    }
    return NULL;
}

// Nearly all commands are new, so all receipts are gone through: the ring is two pieces, of which
// the newer one begins at 0.
const fm_receipt *fm_receipts_find(const fm_receipts *receipts, uint32_t seat, uint64_t id)
{
    const fm_receipt_seat *own = seat_of(receipts, seat);
    if (own == NULL || own->count == 0) {
        return NULL;
    }
    uint32_t older = fm_min(own->count, own->capacity - own->first);
    const fm_receipt *found = find_in(own->entries, own->count - older, id);
    return found != NULL ? found : find_in(own->entries + own->first, older, id);
}

// ---- room ---------------------------------------------------------------------------------------

static void release_agents(const fm_memory *memory, fm_receipt *receipt)
{
    fm_memory_release(memory, receipt->agents, receipt->agent_count * sizeof *receipt->agents);
    receipt->agents = NULL;
}

static void drop_oldest(fm_receipt_seat *seat, const fm_memory *memory)
{
    fm_receipt *oldest = &seat->entries[seat->first];
    seat->agent_count -= oldest->agent_count;
    release_agents(memory, oldest);
    seat->first = (seat->first + 1) % seat->capacity;
    seat->count--;
}

static void end_seat(fm_receipt_seat *seat, const fm_memory *memory)
{
    while (seat->count > 0) {
        drop_oldest(seat, memory);
    }
    fm_memory_release(memory, seat->entries, seat->capacity * sizeof *seat->entries);
    *seat = (fm_receipt_seat){0};
}

// A seat whose command was refused stays empty until it is needed: a refused command must not evict
// another seat, because it is in no journal.
static fm_receipt_seat *make_seat(fm_receipts *receipts, const fm_memory *memory, uint32_t seat)
{
    for (uint32_t i = 0; i < receipts->count; i++) {
        if (receipts->seats[i].count == 0) {
            receipts->seats[i].seat = seat;
            return &receipts->seats[i];
        }
    }
    if (!FM_RESERVE_FROM(memory, receipts->seats, receipts->capacity, receipts->count + 1)) {
        return NULL;
    }
    fm_receipt_seat *made = &receipts->seats[receipts->count++];
    *made = (fm_receipt_seat){.seat = seat};
    return made;
}

// A ring is at its largest, or nothing has left it yet: then it begins at 0.
static bool reserve_entry(fm_receipt_seat *seat, const fm_memory *memory)
{
    if (seat->count < seat->capacity || seat->capacity == FM_RECEIPTS_OF_SEAT) {
        return true;
    }
    uint32_t capacity = seat->capacity == 0 ? CAPACITY_FIRST : 2 * seat->capacity;
    fm_receipt *entries = fm_memory_allocate(memory, capacity * sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < seat->count; i++) {
        entries[i] = seat->entries[(seat->first + i) % seat->capacity];
    }
    fm_memory_release(memory, seat->entries, seat->capacity * sizeof *seat->entries);
    seat->entries = entries;
    seat->capacity = capacity;
    seat->first = 0;
    return true;
}

fm_status fm_receipts_reserve(fm_receipts *receipts, const fm_memory *memory, uint32_t seat,
                              uint32_t agent_count, fm_receipt_agent **agents)
{
    fm_receipt_agent *made = NULL;
    fm_receipt_seat *own = seat_of(receipts, seat);
    own = own == NULL ? make_seat(receipts, memory, seat) : own;
    if (own == NULL || !reserve_entry(own, memory)) {
        return FM_ERR_NO_MEMORY;
    }
    if (agent_count > 0) {
        made = fm_memory_allocate_zeroed(memory, agent_count, sizeof *made);
        if (made == NULL) {
            return FM_ERR_NO_MEMORY;
        }
    }
    *agents = made;
    return FM_OK;
}

// ---- keeping ------------------------------------------------------------------------------------

static void drop_most_silent(fm_receipts *receipts, const fm_memory *memory)
{
    fm_receipt_seat *found = &receipts->seats[0];
    for (uint32_t i = 1; i < receipts->count; i++) {
        found = receipts->seats[i].used < found->used ? &receipts->seats[i] : found;
    }
    end_seat(found, memory);
    *found = receipts->seats[--receipts->count];
}

void fm_receipts_add(fm_receipts *receipts, const fm_memory *memory, uint32_t seat,
                     const fm_receipt *receipt)
{
    fm_receipt_seat *own = seat_of(receipts, seat);
    FM_ASSERT(own != NULL);
    while (own->count > 0 && (own->count == FM_RECEIPTS_OF_SEAT ||
                              own->agent_count + receipt->agent_count > FM_RECEIPTS_AGENTS_MAX)) {
        drop_oldest(own, memory);
    }
    FM_ASSERT(own->count < own->capacity);
    own->entries[(own->first + own->count++) % own->capacity] = *receipt;
    own->agent_count += receipt->agent_count;
    own->used = ++receipts->written;
    if (receipts->count > FM_RECEIPTS_SEATS_MAX) {
        drop_most_silent(receipts, memory);
    }
}

void fm_receipts_fini(fm_receipts *receipts, const fm_memory *memory)
{
    for (uint32_t i = 0; i < receipts->count; i++) {
        end_seat(&receipts->seats[i], memory);
    }
    fm_memory_release(memory, receipts->seats, receipts->capacity * sizeof *receipts->seats);
    *receipts = (fm_receipts){0};
}
