// tests/fuzz/fuzz_scen.c: any bytes as a .scen file: refused with a line and a sentence, or
// problems that lie on maps of the size that they claim.

#include "tests/fuzz/fuzz.h"

#include "core/map/map_file.h"

#include <math.h>

static void check_problem(const fm_problem *problem)
{
    FM_ASSERT(problem->map_width >= 1 && problem->map_width <= FM_SIDE_MAX);
    FM_ASSERT(problem->map_height >= 1 && problem->map_height <= FM_SIDE_MAX);
    FM_ASSERT(fm_cell_x(problem->start) < problem->map_width);
    FM_ASSERT(fm_cell_y(problem->start) < problem->map_height);
    FM_ASSERT(fm_cell_x(problem->goal) < problem->map_width);
    FM_ASSERT(fm_cell_y(problem->goal) < problem->map_height);
    FM_ASSERT(isfinite(problem->optimal_length) && problem->optimal_length >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_problem *problems = NULL;
    uint32_t count = 0;
    fm_text_error error = {0};
    fm_status status =
        fm_scen_read((const char *)bytes, size, &fm_memory_libc, &problems, &count, &error);
    if (status != FM_OK) {
        FM_ASSERT(problems == NULL && count == 0);
        FM_ASSERT(error.line > 0 && error.message[0] != '\0');
        return 0;
    }
    FM_ASSERT((problems == NULL) == (count == 0));
    for (uint32_t i = 0; i < count; i++) {
        check_problem(&problems[i]);
    }
    fm_memory_release(&fm_memory_libc, problems, count * sizeof(fm_problem));
    return 0;
}
