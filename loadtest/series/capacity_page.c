// loadtest/series/capacity_page.c: a capacity report as one HTML page. The frame and uPlot are
// files that come with the program; the page is the frame with three marks replaced.

#include "loadtest/series/capacity.h"

#include "loadtest/drive/beside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../share/fogmarch/report"

// A whole file, NUL-terminated; NULL when it cannot be read.
static char *read_text(const char *name)
{
    char path[PATH_MAX], relative[128], *text = NULL;
    size_t size = 0;
    snprintf(relative, sizeof relative, FOLDER "/%s", name);
    FILE *file = fm_beside_program(relative, path, sizeof path) ? fopen(path, "r") : NULL;
    FILE *memory = file == NULL ? NULL : open_memstream(&text, &size);
    if (memory != NULL) {
        char bytes[4096];
        size_t count;
        while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) {
            fwrite(bytes, 1, count, memory);
        }
        bool failed = ferror(file) != 0;
        if (fclose(memory) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static void put_file(const char *name, FILE *out)
{
    char *text = read_text(name);
    fputs(text == NULL ? "" : text, out);
    free(text);
}

static void put_mark(const char *mark, const fm_capacity *capacity, FILE *out)
{
    if (strncmp(mark, "@DATA@", 6) == 0) {
        fm_capacity_print_json(capacity, out);
    } else if (strncmp(mark, "@CODE@", 6) == 0) {
        put_file("uPlot.iife.min.js", out);
    } else {
        put_file("uPlot.min.css", out);
    }
}

static const char *next_mark(const char *text)
{
    static const char *const marks[] = {"@DATA@", "@CODE@", "@LOOK@"};
    const char *first = NULL;
    for (size_t i = 0; i < FM_COUNT_OF(marks); i++) {
        const char *found = strstr(text, marks[i]);
        first = found != NULL && (first == NULL || found < first) ? found : first;
    }
    return first;
}

fm_status fm_capacity_print_page(const fm_capacity *capacity, FILE *out, char *error)
{
    char *frame = read_text("capacity.html");
    if (frame == NULL) {
        snprintf(error, FM_RUN_ERROR_SIZE, FOLDER "/capacity.html cannot be read");
        return FM_ERR_IO;
    }
    const char *text = frame;
    for (const char *mark; (mark = next_mark(text)) != NULL; text = mark + 6) {
        fwrite(text, 1, (size_t)(mark - text), out);
        put_mark(mark, capacity, out);
    }
    fputs(text, out);
    free(frame);
    return FM_OK;
}
