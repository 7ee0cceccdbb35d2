// tests/server/methods/growth_worlds.c: see growth_worlds.h.

#include "tests/server/methods/growth_worlds.h"

#include "tests/support/support.h"

#include <dirent.h>
#include <unistd.h>

#define PIECE      4096u // of an upload
#define TICKS_EACH 10u   // of a journal, at scale 1

// ---- sessions, tokens, uploads ------------------------------------------------------------------

static void nobody(void)
{
    fm_live_begin(&scene.config, &scene.config);
}

static void say_hello(void)
{
    for (uint32_t i = 0; i < CLIENTS * scene.scale; i++) {
        come(i);
    }
    all_are_answered(FM_METHOD_HELLO);
}

static void ping(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        ask_as(ADMIN, FM_METHOD_PING);
    }
    all_are_answered(FM_METHOD_PING);
}

static void create_tokens(void)
{
    for (uint32_t i = 0; i < MANY * scene.scale; i++) {
        put_text(FM_FIELD_ROLE, "observer");
        ask_as(ADMIN, FM_METHOD_TOKEN_CREATE);
    }
    all_are_answered(FM_METHOD_TOKEN_CREATE);
}

static void tokens(void)
{
    start();
    create_tokens();
}

static void list_tokens(void)
{
    ask(FM_METHOD_TOKEN_LIST);
}

static void revoke_tokens(void)
{
    for (uint32_t i = 1; i <= MANY; i++) {
        put_uint(FM_FIELD_NUMBER, i);
        ask_as(ADMIN, FM_METHOD_TOKEN_REVOKE);
    }
    all_are_answered(FM_METHOD_TOKEN_REVOKE);
}

static void upload(void)
{
    static const char piece[PIECE];
    uint32_t count = MANY * scene.scale;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0) {
            put_uint(FM_FIELD_TOTAL, (uint64_t)count * PIECE);
        } else {
            put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
        }
        put_uint(FM_FIELD_OFFSET, (uint64_t)i * PIECE);
        put_bytes(FM_FIELD_DATA, piece, PIECE);
        ask_as(ADMIN, FM_METHOD_MAP_UPLOAD);
        fm_live_settle();
    }
    all_are_answered(FM_METHOD_MAP_UPLOAD);
}

// ---- worlds -------------------------------------------------------------------------------------

static void create_worlds(void)
{
    for (uint32_t i = 0; i < MANY / 4 * scene.scale; i++) {
        char name[16];
        snprintf(name, sizeof name, "world%u", i);
        make_named(name);
        fm_live_settle();
    }
    all_are_answered(FM_METHOD_WORLD_CREATE);
}

static void worlds(void)
{
    start();
    create_worlds();
}

static void list_worlds(void)
{
    ask(FM_METHOD_WORLD_LIST);
}

static void ask_each_world(fm_method method)
{
    for (uint32_t i = 0; i < MANY / 4 * scene.scale; i++) {
        put_uint(FM_FIELD_WORLD, fm_live_known(FM_KNOWN_WORLD, i));
        ask_as(ADMIN, method);
    }
    all_are_answered(method);
}

static void tell_of_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_INFO);
}

static void destroy_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_DESTROY);
}

static void pause_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_PAUSE);
}

static void resume_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_RESUME);
}

static void locate_worlds(void)
{
    ask_each_world(FM_METHOD_WORLD_LOCATE);
}

static void ask_for_the_cluster(void)
{
    ask(FM_METHOD_CLUSTER_STATUS);
}

static void follow(void)
{
    put_uint(FM_FIELD_EPOCH, 0);
    ask(FM_METHOD_JOURNAL_FOLLOW);
}

static void have(void)
{
    for (uint32_t i = 1; i <= MANY * scene.scale; i++) {
        put_uint(FM_FIELD_NUMBER, i);
        ask(FM_METHOD_JOURNAL_HAVE);
    }
}

static void ask_for_the_standby(void)
{
    ask(FM_METHOD_STANDBY_STATUS);
}

static void promote(void)
{
    ask_in_vain(FM_METHOD_STANDBY_PROMOTE); // the server is no standby
}

static void save(void)
{
    put_world();
    ask(FM_METHOD_WORLD_SAVE);
}

static void move_worlds(void)
{
    ask_each_world(FM_METHOD_CLUSTER_MOVE);
}

static void drain(void)
{
    ask(FM_METHOD_CLUSTER_DRAIN);
}

static void undrain(void)
{
    ask(FM_METHOD_CLUSTER_UNDRAIN);
}

static void saved_units(void)
{
    marching_units();
    save();
}

static uint64_t download_piece(uint64_t offset)
{
    size_t size;
    put_uint(FM_FIELD_SAVE, fm_live_known(FM_KNOWN_SAVE, 0));
    put_uint(FM_FIELD_OFFSET, offset);
    put_uint(FM_FIELD_SIZE, PIECE);
    ask(FM_METHOD_SAVE_DOWNLOAD);
    (void)fm_live_file(&size);
    return size;
}

static void download(void)
{
    uint64_t offset = 0, size;
    do {
        size = download_piece(offset);
        offset += size;
    } while (size == PIECE);
}

static void uploaded_units(void)
{
    saved_units();
    uint64_t offset = 0, size, total = fm_live_known(FM_KNOWN_TOTAL, 0);
    do {
        size = download_piece(offset);
        if (offset == 0) {
            put_uint(FM_FIELD_TOTAL, total);
        } else {
            put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
        }
        size_t piece;
        const void *bytes = fm_live_file(&piece);
        put_uint(FM_FIELD_OFFSET, offset);
        put_bytes(FM_FIELD_DATA, bytes, piece);
        ask(FM_METHOD_MAP_UPLOAD);
        offset += size;
    } while (size == PIECE);
}

static void load(void)
{
    put_uint(FM_FIELD_UPLOAD, fm_live_known(FM_KNOWN_UPLOAD, 0));
    put_text(FM_FIELD_NAME, "again");
    put_true(FM_FIELD_PAUSED);
    ask(FM_METHOD_WORLD_LOAD);
}

// ---- replays ------------------------------------------------------------------------------------

// The folder's journals: deletes them, or names the last one.
static const char *find_journal(bool deletes)
{
    static char name[256];
    DIR *entries = opendir(fm_fuzz_folder());
    assert_non_null(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (deletes) {
            unlinkat(dirfd(entries), entry->d_name, 0); // "." and ".." stay
        } else if (dot != NULL && strcmp(dot, ".ended") == 0) {
            snprintf(name, sizeof name, "%s", entry->d_name);
        }
    }
    closedir(entries);
    return name;
}

static void journal(void)
{
    find_journal(true);
    snprintf(scene.config.journal_dir, sizeof scene.config.journal_dir, "%s", fm_fuzz_folder());
    scene.config.journal_keep = true; // keep the journal after the world's end
    some_marching_units();
    step_ticks(TICKS_EACH * scene.scale);
    fm_live_end();
    start();
}

static void list_journals(void)
{
    ask(FM_METHOD_REPLAY_LIST);
}

static void open_replay(void)
{
    put_text(FM_FIELD_FILE, find_journal(false));
    ask(FM_METHOD_REPLAY_OPEN);
    scene.first_world = fm_live_known(FM_KNOWN_WORLD, 0);
}

static void replay(void)
{
    journal();
    open_replay();
}

static void seek(void)
{
    put_world();
    put_uint(FM_FIELD_TICK, TICKS_EACH * scene.scale);
    ask(FM_METHOD_REPLAY_SEEK);
}

static void play(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_PLAY);
    fm_live_sleep(100 * TICKS_EACH * scene.scale);
}

static void pause_replay(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_PAUSE);
}

static void close_replay(void)
{
    put_world();
    ask(FM_METHOD_REPLAY_CLOSE);
}

// ---- all of them --------------------------------------------------------------------------------

const struct deed deeds_of_worlds[] = {
    {FM_METHOD_HELLO, "sessions", nobody, say_hello},
    {FM_METHOD_PING, "requests", start, ping},
    {FM_METHOD_TOKEN_CREATE, "tokens", start, create_tokens},
    {FM_METHOD_TOKEN_LIST, "tokens", tokens, list_tokens},
    {FM_METHOD_TOKEN_REVOKE, "tokens", tokens, revoke_tokens},
    {FM_METHOD_MAP_UPLOAD, "bytes", start, upload},
    {FM_METHOD_WORLD_CREATE, "worlds", start, create_worlds},
    {FM_METHOD_WORLD_LIST, "worlds", worlds, list_worlds},
    {FM_METHOD_WORLD_INFO, "worlds", worlds, tell_of_worlds},
    {FM_METHOD_WORLD_DESTROY, "worlds", worlds, destroy_worlds},
    {FM_METHOD_WORLD_PAUSE, "worlds", worlds, pause_worlds},
    {FM_METHOD_WORLD_RESUME, "worlds", worlds, resume_worlds},
    {FM_METHOD_WORLD_LOCATE, "worlds", worlds, locate_worlds},
    {FM_METHOD_CLUSTER_STATUS, "worlds", worlds, ask_for_the_cluster},
    {FM_METHOD_CLUSTER_MOVE, "worlds", worlds, move_worlds},
    {FM_METHOD_CLUSTER_DRAIN, "worlds", worlds, drain},
    {FM_METHOD_CLUSTER_UNDRAIN, "worlds", worlds, undrain},
    {FM_METHOD_JOURNAL_FOLLOW, "ticks", journal, follow},
    {FM_METHOD_JOURNAL_HAVE, "requests", start, have},
    {FM_METHOD_STANDBY_STATUS, "worlds", worlds, ask_for_the_standby},
    {FM_METHOD_STANDBY_PROMOTE, "worlds", worlds, promote},
    {FM_METHOD_WORLD_SAVE, "agents", marching_units, save},
    {FM_METHOD_SAVE_DOWNLOAD, "agents", saved_units, download},
    {FM_METHOD_WORLD_LOAD, "agents", uploaded_units, load},
    {FM_METHOD_REPLAY_LIST, "ticks", journal, list_journals},
    {FM_METHOD_REPLAY_OPEN, "ticks", journal, open_replay},
    {FM_METHOD_REPLAY_SEEK, "ticks", replay, seek},
    {FM_METHOD_REPLAY_PLAY, "ticks", replay, play},
    {FM_METHOD_REPLAY_PAUSE, "ticks", replay, pause_replay},
    {FM_METHOD_REPLAY_CLOSE, "ticks", replay, close_replay},
};

const uint32_t deeds_of_worlds_count = FM_COUNT_OF(deeds_of_worlds);
