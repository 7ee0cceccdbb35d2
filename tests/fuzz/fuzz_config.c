// tests/fuzz/fuzz_config.c: any bytes as the server's YAML file: refused with the file's name and a
// sentence, or texts of keys; each text is refused with a sentence or is a value that reads back
// the same from how it is written.

#include "tests/fuzz/fuzz.h"

#include "server/base/config_file.h"

#include <string.h>

static void check_value(const fm_config_key *key, const char *text)
{
    char error[FM_CONFIG_ERROR_SIZE] = "";
    fm_config config = fm_config_default();
    if (fm_config_set(&config, key, text, error) != FM_OK) {
        FM_ASSERT(error[0] != '\0');
        return;
    }
    char once[FM_CONFIG_TEXT_MAX + 1], twice[FM_CONFIG_TEXT_MAX + 1];
    fm_config_format(&config, key, once, sizeof once);
    FM_ASSERT(fm_config_set(&config, key, once, error) == FM_OK);
    fm_config_format(&config, key, twice, sizeof twice);
    FM_ASSERT(strcmp(once, twice) == 0);
}

struct faults {
    const char *path;
    uint32_t count;
};

static void on_fault(void *context, const char *error)
{
    struct faults *faults = context;
    FM_ASSERT(strncmp(error, faults->path, strlen(faults->path)) == 0);
    faults->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_config_entry entries[FM_CONFIG_KEY_COUNT] = {0};
    struct faults faults = {fm_fuzz_file(bytes, size), 0};
    fm_status status = fm_config_file_read(faults.path, entries, on_fault, &faults);
    FM_ASSERT((status == FM_OK) == (faults.count == 0));
    for (uint32_t i = 0; i < FM_CONFIG_KEY_COUNT; i++) {
        if (entries[i].text != NULL) {
            FM_ASSERT(entries[i].line > 0);
            check_value(&fm_config_keys[i], entries[i].text);
        }
    }
    fm_config_entries_fini(entries);
    return 0;
}
