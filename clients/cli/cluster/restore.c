// clients/cli/cluster/restore.c: `cluster restore`: for when etcd is lost for good, and with it the
// worlds' logs. The nodes' disks hold prefixes of those logs: whatever a client was sent, the node
// that had the world then has also written to its own disk. So the longest valid journal of a world
// is the best copy, and with all folders at hand nothing is missing that a client has seen.
//
//   all journals of all folders ── by world, the longest first ── replayed to its end ──>
//   world.load
//                                         ^                              │
//                                         └──── damaged: the next ───────┘
//
// Worlds keep names and numbers. A world that the cluster has already is left alone: after an etcd
// snapshot was restored, it has the snapshot's state, and the output says which of the two is
// further.

#include "clients/cli/cluster/cluster.h"

#include "clients/cli/base/files.h"
#include "clients/cli/replay/journals.h"
#include "core/saves/settle.h"
#include "core/saves/world_save.h"
#include "server/base/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096u

// A journal that was found.
struct candidate {
    char path[PATH_SIZE];
    fm_journal_info info;
};

struct search {
    fm_cli *cli;
    struct candidate *found;
    uint32_t count, capacity;
    fm_workers *workers;
    bool is_dry;
    uint32_t restored, left_alone, failed;
};

// ---- finding -----------------------------------------------------------------------------------

// NUMBER-NAME.journal, also of worlds that have left the node, or came again: .ended, .former.
static bool is_journal(const char *name)
{
    static const char *const endings[] = {"", ".ended", ".former"};
    const char *suffix = strstr(name, FM_JOURNAL_SUFFIX);
    for (uint32_t i = 0; suffix != NULL && i < FM_COUNT_OF(endings); i++) {
        if (strcmp(suffix + strlen(FM_JOURNAL_SUFFIX), endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void add_journal(struct search *search, const char *folder, const char *name)
{
    char error[FM_JOURNAL_ERROR_SIZE];
    struct candidate one;
    fm_journal_reader *reader;
    int size = snprintf(one.path, sizeof one.path, "%s/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof one.path) {
        return;
    }
    if (fm_journal_reader_open(one.path, &reader, error) != FM_OK) {
        printf("not readable: %s\n", error);
        search->failed++;
        return;
    }
    one.info = *fm_journal_reader_info(reader);
    fm_journal_reader_close(reader);
    fm_cli_reserve(search->cli, (void **)&search->found, &search->capacity, search->count + 1,
                   sizeof *search->found);
    search->found[search->count++] = one;
}

static void look_into(struct search *search, const char *folder)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        fm_cli_die(search->cli, "'%s' cannot be read: %s", folder, strerror(errno));
    }
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (is_journal(entry->d_name)) {
            add_journal(search, folder, entry->d_name);
        }
    }
    closedir(directory);
}

// By world, the longest first.
static int compare(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;
    if (one->info.number != other->info.number) {
        return one->info.number < other->info.number ? -1 : 1;
    }
    if (one->info.last_tick != other->info.last_tick) {
        return one->info.last_tick > other->info.last_tick ? -1 : 1;
    }
    return strcmp(one->path, other->path);
}

// ---- reading -----------------------------------------------------------------------------------

// Replays to the last row: what was accepted after the last tick counts, too.
static fm_status read_to_the_end(const struct search *search, fm_replay *replay, char *error)
{
    fm_replay_step step;
    bool more = true;
    fm_status status = fm_replay_seek(replay, fm_replay_info(replay)->last_tick, search->workers,
                                      NULL, NULL, error);
    while (status == FM_OK && more) {
        status = fm_replay_step_next(replay, search->workers, &step, &more, error);
    }
    fm_replay_verdict verdict = fm_replay_verdict_get(replay);
    if (status == FM_OK && verdict.differences > 0) {
        snprintf(error, FM_JOURNAL_ERROR_SIZE, "the digest of tick %llu is not the recorded one",
                 (unsigned long long)verdict.first_difference);
        status = FM_ERR_BAD_FORMAT;
    }
    return status;
}

// The world at the end of a journal, as bytes. @return false: it is damaged, and that was said
static bool read_world(const struct search *search, const struct candidate *one, fm_writer *bytes,
                       fm_journal_pace *pace)
{
    char error[FM_JOURNAL_ERROR_SIZE] = "";
    fm_replay *replay;
    fm_status status = fm_replay_open(one->path, &fm_memory_libc, &replay, error);
    if (status == FM_OK) {
        status = read_to_the_end(search, replay, error);
        if (status == FM_OK) {
            fm_world *world = fm_replay_world(replay);
            *pace = fm_replay_pace(replay);
            fm_world_settle(world);
            status = fm_world_save(world, bytes);
        }
        fm_replay_close(replay);
    }
    if (status != FM_OK) {
        printf("  %s, to tick %llu: cannot be used: %s\n", one->path,
               (unsigned long long)one->info.last_tick,
               error[0] == '\0' ? fm_status_text(status) : error);
    }
    return status == FM_OK;
}

// ---- the cluster -------------------------------------------------------------------------------

// Whether the cluster has a world of this name.
static bool is_there(struct search *search, const char *name)
{
    fm_cli *cli = search->cli;
    fm_params_clear(&cli->params);
    fm_params_text(&cli->params, FM_FIELD_NAME, name);
    fm_status status = fm_client_call(cli->client, FM_METHOD_WORLD_LOCATE, &cli->params, NULL);
    fm_params_clear(&cli->params);
    if (status == FM_ERR_IO) {
        fm_cli_die_of_client(cli);
    }
    return status != FM_ERR_NO_WORLD;
}

static const char *overload_name(uint32_t overload)
{
#define X(enumerator, name) name,
    static const char *const names[] = {FM_OVERLOAD_LIST(X)};
#undef X
    return names[overload < FM_COUNT_OF(names) ? overload : 0];
}

// @return false: it was refused, and that was said
static bool load(struct search *search, const struct candidate *one, const fm_writer *bytes,
                 const fm_journal_pace *pace)
{
    fm_cli *cli = search->cli;
    fm_params_clear(&cli->params);
    fm_cli_upload_bytes(cli, (const char *)bytes->data, bytes->size);
    fm_params_text(&cli->params, FM_FIELD_NAME, one->info.name);
    fm_params_uint(&cli->params, FM_FIELD_NUMBER, one->info.number);
    fm_params_real(&cli->params, FM_FIELD_TICK_HZ, pace->tick_hz);
    fm_params_real(&cli->params, FM_FIELD_BUDGET_MS, pace->budget_ms);
    fm_params_text(&cli->params, FM_FIELD_OVERLOAD, overload_name(one->info.overload));
    fm_params_bool(&cli->params, FM_FIELD_PAUSED, pace->paused);
    fm_status status = fm_client_call(cli->client, FM_METHOD_WORLD_LOAD, &cli->params, NULL);
    fm_params_clear(&cli->params);
    if (status == FM_ERR_IO) {
        fm_cli_die_of_client(cli);
    }
    if (status != FM_OK) {
        printf("  refused: %s\n", fm_client_error_last(cli->client)->message);
    }
    return status == FM_OK;
}

// ---- a world -----------------------------------------------------------------------------------

// Says what may be missing after the end of a journal.
static void tell_end(const struct candidate *one, uint64_t longest)
{
    printf("  to tick %llu of %s\n", (unsigned long long)one->info.last_tick, one->path);
    if (one->info.last_tick < longest) {
        printf("  lost: ticks %llu to %llu, which a damaged journal had\n",
               (unsigned long long)one->info.last_tick + 1, (unsigned long long)longest);
    }
    switch (one->info.end) {
    case FM_JOURNAL_END_KNOWN:
        puts("  it ends where it was written to: nothing is lost that this node has told anybody");
        break;
    case FM_JOURNAL_END_UNKNOWN:
        puts("  perhaps lost: what came after it; the mark of its end is missing");
        break;
    case FM_JOURNAL_END_SHORTER:
    case FM_JOURNAL_END_OTHER:
        printf("  lost: what came after it; it was written to tick %llu\n",
               (unsigned long long)one->info.mark.tick);
        break;
    }
    if (one->info.base_count > 0) {
        puts("  lost: its players' bases, for 'spawn --base'");
    }
}

static void restore_world(struct search *search, const struct candidate *first, uint32_t count)
{
    const fm_journal_info *info = &first->info;
    printf("world %llu, %s\n", (unsigned long long)info->number, info->name);
    if (!search->is_dry && is_there(search, info->name)) {
        printf("  left alone: the cluster has one of this name. Its longest journal here goes to "
               "tick %llu, %s\n",
               (unsigned long long)info->last_tick, first->path);
        search->left_alone++;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        fm_writer bytes = fm_writer_init(&fm_memory_libc);
        fm_journal_pace pace = {.paused = false};
        bool good = read_world(search, &first[i], &bytes, &pace);
        if (good) {
            tell_end(&first[i], info->last_tick);
            good = search->is_dry || load(search, &first[i], &bytes, &pace);
            search->restored += good;
            search->failed += !good || i > 0;
            fm_writer_fini(&bytes);
            return;
        }
        fm_writer_fini(&bytes);
    }
    puts("  lost: no journal of it is sound");
    search->failed++;
}

int fm_cluster_restore(fm_cli *cli)
{
    struct search search = {.cli = cli, .is_dry = fm_cli_value(cli, "dry-run") != NULL};
    for (int i = 1; i < cli->argument_count; i++) {
        look_into(&search, cli->arguments[i]);
    }
    if (search.count == 0) {
        fm_cli_die(cli, "there is no journal in these folders");
    }
    qsort(search.found, search.count, sizeof *search.found, compare);
    if (!search.is_dry) {
        fm_cli_connect(cli);
    }
    search.workers = fm_replay_workers(cli);
    for (uint32_t i = 0, end; i < search.count; i = end) {
        for (end = i + 1;
             end < search.count && search.found[end].info.number == search.found[i].info.number;) {
            end++;
        }
        restore_world(&search, &search.found[i], end - i);
    }
    fm_workers_destroy(search.workers);
    free(search.found);
    printf("\n%u worlds %s, %u left alone, %u with losses or lost. A world that another node has "
           "had last\ngoes on from what these folders hold. Tokens that were created are gone.\n",
           search.restored, search.is_dry ? "can be restored" : "restored", search.left_alone,
           search.failed);
    return search.failed > 0 ? 1 : 0;
}
