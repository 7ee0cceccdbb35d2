// tests/sim/etcd/etcd_ask.c: see etcd_ask.h.

#include "tests/sim/etcd/etcd_ask.h"

#include "tests/sim/etcd/etcd_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_SIZE (1u << 20)

static void forget_put(const sim_etcd_key *key)
{
    (void)key;
}

static void forget_removal(const char *name)
{
    (void)name;
}

static int answer(const char *path, const char *body)
{
    int code;
    json_t *request = json_loads(body, 0, NULL);
    if (request == NULL) {
        return 2;
    }
    json_t *result = sim_etcd_answer(path, request, false, &code);
    char *text = json_dumps(result, JSON_COMPACT);
    printf("%d %s\n", code, text);
    fflush(stdout);
    free(text);
    json_decref(result);
    json_decref(request);
    return 0;
}

int sim_etcd_ask(void)
{
    static char line[LINE_SIZE];
    int status = 0;
    sim_kernel_start(1, false);
    sim_etcd = mmap(NULL, sizeof *sim_etcd, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sim_etcd == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    sim_etcd->revision = 1; // that of a new etcd
    sim_etcd_on_put = forget_put;
    sim_etcd_on_remove = forget_removal;
    while (status == 0 && fgets(line, sizeof line, stdin) != NULL) {
        char *space = strchr(line, ' ');
        status = space == NULL ? 2 : 0;
        if (status == 0) {
            *space = '\0';
            status = answer(line, space + 1);
        }
    }
    return status;
}
