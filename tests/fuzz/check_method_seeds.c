// tests/fuzz/check_method_seeds.c: every method has a seed in which it succeeds.
//
//   check_method_seeds FOLDER...
//
// Runs all seeds of fuzz_methods.c in these folders as the fuzzer does, and prints the methods that
// only returned errors: from such seeds mutations do not get past the method's first check.

#include "tests/fuzz/live.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define SEED_MAX 65536u

static void run_seed(const char *folder, const char *name)
{
    static uint8_t bytes[SEED_MAX];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "check_method_seeds: %s: %m\n", path);
        exit(1);
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
}

static void run_seeds(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        fprintf(stderr, "check_method_seeds: %s: %m\n", path);
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            run_seed(path, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}

// Methods that are always refused here, without a second server and without journals.
static bool needs_more(fm_method method)
{
    return method == FM_METHOD_JOURNAL_FOLLOW || method == FM_METHOD_STANDBY_PROMOTE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: check_method_seeds FOLDER...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        run_seeds(argv[i]);
    }
    int status = 0;
    for (fm_method method = 0; method < FM_METHOD_COUNT; method++) {
        if (fm_live_answered(method) == 0 && !needs_more(method)) {
            fprintf(stderr, "no seed gets an answer from %s that is no error\n",
                    fm_method_name(method));
            status = 1;
        }
    }
    return status;
}
