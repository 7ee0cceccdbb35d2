// tests/fuzz/fuzz_scenario.c: any bytes as a scenario file of the load generator: refused with the
// file's name, or a scenario; keys that contradict each other are refused with a sentence.

#include "tests/fuzz/fuzz.h"

#include "loadtest/drive/scenario.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static fm_scenario scenario;
    char error[FM_SCENARIO_ERROR_SIZE] = "";
    const char *path = fm_fuzz_file(bytes, size);
    scenario = fm_scenario_default();
    if (fm_scenario_read(path, &scenario, error) != FM_OK) {
        FM_ASSERT(strncmp(error, path, strlen(path)) == 0);
        return 0;
    }
    if (fm_scenario_check(&scenario, error) != FM_OK) {
        FM_ASSERT(error[0] != '\0');
    }
    return 0;
}
