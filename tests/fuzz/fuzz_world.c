// tests/fuzz/fuzz_world.c: any bytes as a saved world: refused with a sentence, or a world that is
// the same when it is saved and loaded again. Both worlds are played and have the same digest after
// every tick. Memory is small and may run out at any time; then nothing is left behind.
//
// Byte 0: 0xff leaves the file as it is; otherwise the checksums of its sections are corrected
// first, because mutations do not find them. Byte 1: after how many allocations memory runs out; 0:
// never.

#include "core/commands/create.h"
#include "tests/fuzz/fuzz.h"

#include "core/saves/world_load.h"
#include "core/saves/world_save.h"
#include "core/tick/tick.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX   ((size_t)8 << 20) // bytes of one world
#define TICKS        4u
#define BUDGET       300u // expansions of a tick
#define HEAD_SIZE    12u  // "FMWORLD\n", version
#define SECTION_HEAD 9u   // which, size

// ---- memory ------------------------------------------------------------------------------------

struct memory {
    fm_memory memory; // first
    size_t held, left;
    uint64_t blocks_left;
};

static void *allocate(void *context, size_t size)
{
    struct memory *memory = context;
    if (size > memory->left || memory->blocks_left == 0) {
        return NULL;
    }
    void *block = malloc(size);
    if (block != NULL) {
        memory->held += size;
        memory->left -= size;
        memory->blocks_left--;
    }
    return block;
}

static void release(void *context, void *block, size_t size)
{
    struct memory *memory = context;
    FM_ASSERT(memory->held >= size);
    memory->held -= size;
    memory->left += size;
    free(block);
}

static void memory_init(struct memory *memory, uint64_t blocks)
{
    *memory = (struct memory){.memory = {.allocate = allocate, .release = release},
                              .left = MEMORY_MAX,
                              .blocks_left = blocks};
    memory->memory.context = memory;
}

// ---- files -------------------------------------------------------------------------------------

static void repair_checksums(uint8_t *bytes, size_t size)
{
    for (size_t at = HEAD_SIZE; at < size && size - at >= SECTION_HEAD;) {
        uint64_t section;
        memcpy(&section, bytes + at + 1, sizeof section);
        at += SECTION_HEAD;
        if (section > size - at || size - at - section < sizeof(uint64_t)) {
            return;
        }
        uint64_t sum = fm_bytes_checksum(bytes + at, section);
        memcpy(bytes + at + section, &sum, sizeof sum);
        at += section + sizeof sum;
    }
}

static fm_world *load(const uint8_t *bytes, size_t size, struct memory *memory)
{
    fm_world *world = NULL;
    fm_bytes_error error = {.message = ""};
    fm_status status = fm_world_load(bytes, size, &memory->memory, &world, &error);
    if (status != FM_OK) {
        FM_ASSERT(status == FM_ERR_BAD_FORMAT || status == FM_ERR_NO_MEMORY);
        FM_ASSERT(world == NULL && memory->held == 0);
        FM_ASSERT(error.message[0] != '\0' && error.offset <= size);
    }
    return world;
}

// Loads a second world from the first one's saved bytes.
static fm_world *load_again(const fm_world *world, struct memory *memory)
{
    fm_writer once = fm_writer_init(&fm_memory_libc), twice = fm_writer_init(&fm_memory_libc);
    fm_status status = fm_world_save(world, &once);
    FM_ASSERT(status == FM_OK);
    fm_world *again = load(once.data, once.size, memory);
    FM_ASSERT(again != NULL);
    status = fm_world_save(again, &twice);
    FM_ASSERT(status == FM_OK);
    FM_ASSERT(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    fm_writer_fini(&once);
    fm_writer_fini(&twice);
    return again;
}

static void play(fm_world *first, fm_world *second)
{
    for (uint32_t i = 0; i < TICKS; i++) {
        fm_tick_report report, replayed;
        fm_tick_run(first, NULL, BUDGET, NULL, &report);
        fm_tick_replay(second, NULL, &report.record, &replayed);
        FM_ASSERT(report.record.digest == replayed.record.digest);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2) {
        return 0;
    }
    bool repaired = bytes[0] != 0xff;
    uint64_t blocks = bytes[1] == 0 ? UINT64_MAX : bytes[1];
    struct memory first_memory, second_memory;
    memory_init(&first_memory, blocks);
    memory_init(&second_memory, UINT64_MAX);
    uint8_t *file = (uint8_t *)fm_fuzz_text(bytes + 2, size - 2);
    if (repaired) {
        repair_checksums(file, size - 2);
    }
    fm_world *first = load(file, size - 2, &first_memory);
    free(file);
    if (first == NULL) {
        return 0;
    }
    fm_world *second = load_again(first, &second_memory);
    if (blocks == UINT64_MAX) {
        play(first, second); // not if memory may run out: that changes a world
    }
    fm_world_destroy(first);
    fm_world_destroy(second);
    FM_ASSERT(first_memory.held == 0 && second_memory.held == 0);
    return 0;
}
