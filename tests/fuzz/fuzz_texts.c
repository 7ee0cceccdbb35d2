// tests/fuzz/fuzz_texts.c: any bytes as the small languages inside of messages, files and flags:
// planners, movement classes, addresses. What is read is written and read again as the same.

#include "tests/fuzz/fuzz.h"

#include "core/map/movement.h"
#include "server/base/config.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_SIZE 200u

static void check_planner(const char *text)
{
    fm_planner_spec spec, again;
    char error[ERROR_SIZE] = "", once[FM_PLANNER_SPEC_SIZE], twice[FM_PLANNER_SPEC_SIZE];
    if (fm_planner_spec_parse(text, &spec, error, sizeof error) != FM_OK) {
        FM_ASSERT(error[0] != '\0');
        return;
    }
    fm_planner_spec_format(&spec, once, sizeof once);
    FM_ASSERT(fm_planner_spec_parse(once, &again, error, sizeof error) == FM_OK);
    fm_planner_spec_format(&again, twice, sizeof twice);
    FM_ASSERT(strcmp(once, twice) == 0);
}

static void check_classes(const char *text)
{
    fm_movement_class classes[FM_CLASSES_MAX], again;
    uint32_t count = 0;
    char error[ERROR_SIZE] = "";
    if (fm_movement_classes_parse(text, classes, &count, error, sizeof error) != FM_OK) {
        FM_ASSERT(error[0] != '\0');
        return;
    }
    FM_ASSERT(count >= 1 && count <= FM_CLASSES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        char once[FM_CLASS_TEXT_SIZE], twice[FM_CLASS_TEXT_SIZE];
        FM_ASSERT(fm_movement_class_is_valid(&classes[i]));
        fm_movement_class_format(&classes[i], once, sizeof once);
        FM_ASSERT(fm_movement_class_parse(once, &again, error, sizeof error) == FM_OK);
        fm_movement_class_format(&again, twice, sizeof twice);
        FM_ASSERT(strcmp(once, twice) == 0);
    }
}

static void check_address(const char *text)
{
    char address[FM_CONFIG_TEXT_MAX + 1];
    uint16_t port;
    bool is_loopback;
    if (fm_listen_parse(text, address, &port, &is_loopback) == FM_OK) {
        FM_ASSERT(address[0] != '\0' && strlen(address) < strlen(text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1) {
        return 0;
    }
    char *text = fm_fuzz_text(bytes + 1, size - 1);
    switch (bytes[0] % 3) {
    case 0:
        check_planner(text);
        break;
    case 1:
        check_classes(text);
        break;
    case 2:
        check_address(text);
        break;
    }
    free(text);
    return 0;
}
