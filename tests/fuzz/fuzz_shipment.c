// fuzz_shipment.c: what a standby reads from the server that it follows
// (server/journal/shipment.h).
//
// What must hold: any bytes are refused or are a shipment, with rows, tokens or places that could
// have been packed; packed again a shipment is the same.

#include "server/journal/shipment.h"
#include "tests/fuzz/fuzz.h"

static void check_ledger(fm_reader *reader, const fm_shipment *shipment)
{
    fm_grant grant;
    for (uint32_t i = 0; i < shipment->grant_count; i++) {
        if (fm_shipment_take_grant(reader, &grant) != FM_OK) {
            return;
        }
        FM_ASSERT(grant.number != 0 && grant.role >= FM_ROLE_PLAYER && grant.role <= FM_ROLE_ADMIN);
    }
}

static void check_rows(const fm_shipment *shipment)
{
    fm_reader rows = fm_reader_init(shipment->bytes, shipment->size, NULL);
    fm_journal_row row;
    size_t size = 0;
    while (fm_journal_rows_take(&rows, &row)) {
        FM_ASSERT(row.kind >= FM_JOURNAL_COMMAND && row.kind <= FM_JOURNAL_GAP);
        size += row.size;
    }
    FM_ASSERT(size <= shipment->size);
}

static void check_again(const fm_shipment *shipment, const uint8_t *bytes, size_t size)
{
    fm_writer writer = fm_writer_init(&fm_memory_libc);
    fm_shipment_put(&writer, shipment);
    FM_ASSERT(writer.size == size && memcmp(writer.data, bytes, size) == 0);
    fm_writer_fini(&writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_bytes_error error;
    fm_reader reader = fm_reader_init(bytes, size, &error);
    fm_shipment shipment;
    fm_shipment_place place;
    if (fm_shipment_take(&reader, &shipment) == FM_OK) {
        if (shipment.kind == FM_SHIPMENT_LEDGER) {
            check_ledger(&reader, &shipment);
        } else {
            check_again(&shipment, bytes, size);
        }
        if (shipment.kind == FM_SHIPMENT_ROWS) {
            check_rows(&shipment);
        }
    }
    reader = fm_reader_init(bytes, size, NULL);
    while (fm_shipment_take_place(&reader, &place)) {
        FM_ASSERT(place.world != 0 && place.position != 0);
    }
    return 0;
}
