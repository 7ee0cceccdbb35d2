// server/worlds/save_file.c: see save_file.h.

#include "server/worlds/save_file.h"

#include "core/saves/world_save.h"

#include <ctype.h>

#define MAGIC         "FMSAVED\n"
#define WORLD_MAGIC   "FMWORLD\n" // of core/saves/world_file.h
#define MAGIC_SIZE    8u
#define HEAD_SIZE_MAX 1024u

// ---- writing -----------------------------------------------------------------------------------

static void put_real(fm_writer *writer, double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    fm_writer_put_u64(writer, bits);
}

static void put_head(const fm_host *host, fm_writer *writer)
{
    fm_writer_put_text(writer, host->name);
    put_real(writer, host->tick_hz);
    put_real(writer, host->budget_ms);
    fm_writer_put_varint(writer, host->overload);
    fm_writer_put_varint(writer, host->paused);
    fm_writer_put_u64(writer, host->digest);
    fm_writer_put_varint(writer, host->base_count);
    for (uint32_t i = 0; i < host->base_count; i++) {
        fm_writer_put_varint(writer, host->bases[i]);
    }
}

fm_status fm_save_write(const fm_host *host, fm_writer *writer)
{
    fm_writer head = fm_writer_init(writer->memory);
    put_head(host, &head);
    FM_ASSERT(head.size <= HEAD_SIZE_MAX);
    fm_writer_put_bytes(writer, MAGIC, MAGIC_SIZE);
    fm_writer_put_u32(writer, FM_SAVE_VERSION);
    fm_writer_put_u32(writer, (uint32_t)head.size);
    fm_writer_put_bytes(writer, head.data, head.size);
    fm_writer_put_u64(writer, fm_bytes_checksum(head.data, head.size));
    bool failed = head.failed;
    fm_writer_fini(&head);
    return failed ? FM_ERR_NO_MEMORY : fm_world_save(host->world, writer);
}

// ---- reading -----------------------------------------------------------------------------------

static double take_real(fm_reader *reader, double first, double last, const char *what)
{
    uint64_t bits = fm_reader_take_u64(reader);
    double real;
    memcpy(&real, &bits, sizeof real);
    if (!(real >= first && real <= last)) { // nor NaN
        fm_reader_fail(reader, "%s is not in %g..%g.", what, first, last);
        return first;
    }
    return real;
}

static void take_name(fm_reader *reader, fm_save_head *head)
{
    fm_reader_take_text(reader, head->name, sizeof head->name, "name of the world");
    bool fits = head->name[0] != '\0';
    for (const char *letter = head->name; *letter != '\0'; letter++) {
        fits = fits && (isalnum((unsigned char)*letter) || strchr("._-", *letter) != NULL);
    }
    if (!fits) {
        fm_reader_fail(reader, "The name of the world is not one.");
    }
}

static void take_head(fm_reader *reader, fm_save_head *head)
{
    take_name(reader, head);
    head->tick_hz = take_real(reader, 0.1, 1000, "tick_hz");
    head->budget_ms = take_real(reader, 0.05, 10000, "budget_ms");
    head->overload = (fm_overload)fm_reader_take_bounded(reader, FM_OVERLOAD_DEGRADE, "overload");
    head->paused = fm_reader_take_bool(reader, "paused");
    head->digest = fm_reader_take_u64(reader);
    head->base_count = fm_reader_take_count(reader, FM_GENERATE_PLAYERS_MAX, 1, "bases");
    for (uint32_t i = 0; i < head->base_count; i++) {
        head->bases[i] = (fm_cell)fm_reader_take_bounded(
            reader, fm_cell_at(FM_SIDE_MAX - 1, FM_SIDE_MAX - 1), "base");
    }
}

fm_status fm_save_read(const void *bytes, size_t size, fm_save_head *head, size_t *world,
                       fm_bytes_error *error)
{
    *head = (fm_save_head){0};
    fm_reader reader = fm_reader_init(bytes, size, error);
    const uint8_t *magic = fm_reader_take_bytes(&reader, MAGIC_SIZE, "the first line");
    if (magic != NULL && memcmp(magic, WORLD_MAGIC, MAGIC_SIZE) == 0) {
        *world = 0;
        return FM_OK;
    }
    if (magic != NULL && memcmp(magic, MAGIC, MAGIC_SIZE) != 0) {
        reader.offset = 0;
        fm_reader_fail(&reader, "This is no saved world: it does not begin with \"FMSAVED\".");
    }
    uint32_t version = fm_reader_take_u32(&reader), head_size = fm_reader_take_u32(&reader);
    if (version < 1 || version > FM_SAVE_VERSION) {
        fm_reader_fail(&reader, "Version %u is unknown; this program knows 1 to %u.", version,
                       FM_SAVE_VERSION);
    }
    if (head_size > HEAD_SIZE_MAX) {
        fm_reader_fail(&reader, "The head has %u bytes, more than %u.", head_size, HEAD_SIZE_MAX);
    }
    size_t begin = reader.offset;
    const uint8_t *head_bytes = fm_reader_take_bytes(&reader, head_size, "the head");
    if (fm_reader_take_u64(&reader) !=
            (head_bytes == NULL ? 0 : fm_bytes_checksum(head_bytes, head_size)) ||
        reader.failed) {
        fm_reader_fail(&reader, "The head is damaged: its checksum is another.");
        return FM_ERR_BAD_FORMAT;
    }
    *world = reader.offset;
    reader.offset = begin;
    reader.size = begin + head_size;
    take_head(&reader, head);
    return fm_reader_finish(&reader);
}
