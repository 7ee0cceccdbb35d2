// tests/fuzz/fuzz_methods.c: any requests of any role, in any order, to a live world: every one is
// answered once, with whole messages of the protocol, and when all clients have disconnected
// nothing is left.
//
// An input is a small program, so that most mutations are still programs:
//
//   byte 0   which world to begin with (setups, below)
//   then     steps: what to do, size of what follows, so many bytes; a cut step still runs
//            0x00..0x7f   the request of the method of that number, with fields from the bytes
//            0x80..0xff   other things that happen: enum step
//
// A request's bytes are: which client sends it and how (see send_request); then for each field of
// the method, in the order of proto/protocol.def, one byte that says how its value is chosen, and
// the bytes that this needs. Missing bytes count as 0, so old inputs leave out optional fields that
// were added later and keep their meaning.
//
// Most values let the request get far: numbers from answers, words that the handler knows, cells of
// the map. Worlds and numbers of ticks are small: large ones take long and find no more bugs.

#include "tests/fuzz/live.h"
#include "tests/support/params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX       48u
#define MAP_SIDE_MAX    48u // cells, of worlds that requests make
#define TICKS_ASKED_MAX 24u
#define ELEMENTS_MAX    64u
#define SLEEP_MAX_MS    12000u // in one input: longer than every time-out
#define AGENTS_MAX      64u    // of the first world; making room for more takes time
#define TEAMS_MAX       8u

enum step {
    STEP_BYTES = 0x80, // client, then bytes as they are
    STEP_SLEEP,        // so many times 50 ms
    STEP_STALL,        // client, whether it reads
    STEP_HANG_UP,      // client; another one takes its place
    STEP_SETTLE,       // the server does all due work
    STEP_TOKEN,        // client: connects again with the latest token
    STEP_COUNT,
};

// The clients. Each comes when a step first names it: most inputs name few, and the hellos of all
// took about a quarter of the time of an input that does nothing.
enum client {
    CLIENT_ADMIN,
    CLIENT_PLAYER_1,
    CLIENT_PLAYER_2,
    CLIENT_OBSERVER,
    CLIENT_DEBUG,
    CLIENT_NOBODY, // has not sent hello
    CLIENT_ADMIN_2,
    CLIENT_GUEST, // uses a token from token.create, after STEP_TOKEN
};

static bool has_come[FM_LIVE_CLIENTS_MAX];

static const char grants[] = "admin aaaaaaaaaaaaaaaa\n"
                             "player arena 1 bbbbbbbbbbbbbbbb\n"
                             "player arena 2 cccccccccccccccc\n"
                             "observer dddddddddddddddd\n"
                             "debug eeeeeeeeeeeeeeee\n";

static const char *const tokens[FM_LIVE_CLIENTS_MAX] = {
    [CLIENT_ADMIN] = "aaaaaaaaaaaaaaaa",    [CLIENT_PLAYER_1] = "bbbbbbbbbbbbbbbb",
    [CLIENT_PLAYER_2] = "cccccccccccccccc", [CLIENT_OBSERVER] = "dddddddddddddddd",
    [CLIENT_DEBUG] = "eeeeeeeeeeeeeeee",    [CLIENT_ADMIN_2] = "aaaaaaaaaaaaaaaa",
};

static const char map[] = "type octile\nheight 12\nwidth 20\nmap\n"
                          "....................\n"
                          "..@@@@@.....SSSS....\n"
                          "..@...@.....SSSS....\n"
                          "..@...@..T..........\n"
                          "..@.......T....WWWW.\n"
                          "..@...@....T...W..W.\n"
                          "..@@@@@.....T..WWWW.\n"
                          "....................\n"
                          "OOOOOOOO.OOOOOOOOOOO\n"
                          "....................\n"
                          "....................\n"
                          "..............@@@@@@\n";

// The worlds that the first byte chooses from. Texts are values of world.create.
struct setup {
    const char *occupancy, *planner, *classes;
    uint32_t neighbours;
    bool line_of_sight, omniscient, ticking;
};

static const struct setup setups[] = {
    {"none", "dstar-lite", "ground", 8, false, false, false},
    {"exclusive", "dstar-lite", "ground;tank:size=2", 8, false, false, false},
    {"exclusive", "auto", "ground;boat:water=1;wader:ground=1,swamp=3", 8, true, false, true},
    {"none", "lss-lrta-star:lookahead=8", "ground", 4, false, false, false},
    {"none", "repeated-jps", "ground", 8, false, true, false},
    {"exclusive", "astar:heuristic=landmarks", "ground:trees=4", 4, true, false, true},
    {"none", "mpgaa-star", "big:size=4;ground", 8, false, false, true},
    {"exclusive", "rtaa-star", "ground", 8, false, true, true},
};

// ---- bytes to values ---------------------------------------------------------------------------

struct reader {
    const uint8_t *bytes;
    size_t size, at;
};

static uint8_t next(struct reader *reader)
{
    return reader->at < reader->size ? reader->bytes[reader->at++] : 0;
}

static uint64_t next_uint(struct reader *reader, uint32_t byte_count)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < byte_count; i++) {
        number = number << 8 | next(reader);
    }
    return number;
}

static const char *const words[] = {
    "",
    "arena",
    "second",
    "open",
    "maze",
    "rooms",
    "random",
    "skirmish",
    "1",
    "10/14",
    "70/99",
    "square",
    "diamond",
    "disc",
    "none",
    "exclusive",
    "farthest",
    "avoid",
    "past-the-goal",
    "refuse",
    "allow",
    "slip",
    "skip",
    "degrade",
    "ground",
    "tank",
    "boat",
    "exact",
    "nearest",
    "move",
    "stop",
    "patrol",
    "hold",
    "follow",
    "guard",
    "explore",
    "flee",
    "keep_distance",
    "scatter",
    "fail",
    "wait",
    "keep",
    "line",
    "box",
    "blocked",
    "free",
    "cost",
    "trees",
    "swamp",
    "water",
    "wall",
    "out_of_bounds",
    "building",
    "push",
    "player",
    "observer",
    "debug",
    "admin",
    "agents",
    "planners",
    "teams",
    "edits",
    "dstar-lite",
    "astar",
    "auto",
    "repeated-jps",
    "dijkstra",
    "tba-star",
    "adaptive-astar",
    "astar:heuristic=landmarks",
    "astar:heuristic=cluster",
    "dstar-extra-lite",
    "alss-lrta-star:lookahead=3",
    "tbaa-star",
    "dartaa-star",
    "ground;a:size=4;b:water=1",
    "wader",
    "big",
    "aaaaaaaaaaaaaaaa",
    "bbbbbbbbbbbbbbbb",
    "nobody",
    "report",
    "path search",
    "report path search details",
    "repeated-jps astar dijkstra tba-star",
    "1-arena.journal.ended",
    "2-arena.journal",
};

// The words in the list above that a field takes: first and count.
static const struct {
    fm_field field;
    const char *first, *last;
} words_of[] = {
    {FM_FIELD_NAME, "arena", "second"},
    {FM_FIELD_GENERATOR, "open", "skirmish"},
    {FM_FIELD_STEP_COSTS, "1", "70/99"},
    {FM_FIELD_SENSE_SHAPE, "square", "disc"},
    {FM_FIELD_OCCUPANCY, "none", "exclusive"},
    {FM_FIELD_LANDMARK_PLACEMENT, "farthest", "past-the-goal"},
    {FM_FIELD_STALE, "refuse", "allow"},
    {FM_FIELD_OVERLOAD, "slip", "degrade"},
    {FM_FIELD_CLASS, "ground", "boat"},
    {FM_FIELD_PLACE, "exact", "nearest"},
    {FM_FIELD_KIND, "move", "flee"},
    {FM_FIELD_ON_UNREACHABLE, "nearest", "nearest"},
    {FM_FIELD_FORMATION, "keep", "box"},
    {FM_FIELD_SET, "ground", "ground"},
    {FM_FIELD_SET, "blocked", "out_of_bounds"},
    {FM_FIELD_ON_UNITS, "push", "push"},
    {FM_FIELD_ROLE, "player", "admin"},
    {FM_FIELD_BY, "agents", "edits"},
    {FM_FIELD_PLANNER, "dstar-lite", "dartaa-star"},
    {FM_FIELD_CLASSES, "ground;a:size=4;b:water=1", "ground;a:size=4;b:water=1"},
    {FM_FIELD_TOKEN, "aaaaaaaaaaaaaaaa", "nobody"},
    {FM_FIELD_CHANNELS, "report", "report path search details"},
    {FM_FIELD_PLANNERS, "repeated-jps astar dijkstra tba-star",
     "repeated-jps astar dijkstra tba-star"},
    {FM_FIELD_FILE, "1-arena.journal.ended", "2-arena.journal"},
};

static uint32_t word_index(const char *word)
{
    uint32_t i = 0;
    while (strcmp(words[i], word) != 0) {
        i++;
        FM_ASSERT(i < FM_COUNT_OF(words));
    }
    return i;
}

static const char *choose_word(fm_field field, uint8_t choice)
{
    uint32_t first = 0, count = FM_COUNT_OF(words);
    for (uint32_t i = 0; i < FM_COUNT_OF(words_of); i++) {
        if (words_of[i].field == field && choice < 0xe0) {
            first = word_index(words_of[i].first);
            count = word_index(words_of[i].last) + 1 - first;
        }
    }
    return words[first + choice % count];
}

// Which kind of numbers from answers a field takes; FM_KNOWN_COUNT: none.
static fm_known_kind known_of(fm_field field, bool by_name)
{
    switch (field) {
    case FM_FIELD_WORLD:
        return FM_KNOWN_WORLD;
    case FM_FIELD_TEAM:
        return FM_KNOWN_TEAM;
    case FM_FIELD_AGENT:
    case FM_FIELD_AGENTS:
    case FM_FIELD_TARGET:
    case FM_FIELD_FOLLOW:
    case FM_FIELD_CARRIER:
        return by_name ? FM_KNOWN_NAME : FM_KNOWN_AGENT;
    case FM_FIELD_BUILDING:
        return FM_KNOWN_BUILDING;
    case FM_FIELD_SUBSCRIPTION:
        return FM_KNOWN_SUBSCRIPTION;
    case FM_FIELD_UPLOAD:
        return FM_KNOWN_UPLOAD;
    case FM_FIELD_SAVE:
        return FM_KNOWN_SAVE;
    case FM_FIELD_TOTAL:
        return FM_KNOWN_TOTAL;
    case FM_FIELD_NUMBER:
        return FM_KNOWN_NUMBER;
    default:
        return FM_KNOWN_COUNT;
    }
}

// Values that are too large for the method stay too large, so that it refuses them.
static uint64_t keep_small(const struct param *param, uint64_t number)
{
    bool is_side = param->field == FM_FIELD_WIDTH || param->field == FM_FIELD_HEIGHT;
    uint64_t most = is_side                          ? MAP_SIDE_MAX
                    : param->field == FM_FIELD_TICKS ? TICKS_ASKED_MAX
                                                     : UINT64_MAX;
    return number > most && number <= (uint64_t)param->maximum ? 1 + number % most : number;
}

static uint64_t edge_of(const struct param *param, uint8_t which)
{
    uint64_t edges[] = {(uint64_t)param->minimum, (uint64_t)param->maximum,
                        (uint64_t)param->minimum - 1, (uint64_t)param->maximum + 1};
    return edges[which % FM_COUNT_OF(edges)];
}

static uint64_t choose_uint(struct reader *reader, const struct param *param, bool by_name)
{
    uint8_t mode = next(reader);
    fm_known_kind kind = known_of(param->field, by_name);
    if (kind != FM_KNOWN_COUNT && mode < 0xe0) {
        return fm_live_known(kind, mode);
    }
    switch (mode % 4) {
    case 0:
    case 1:
        return (uint64_t)param->minimum + next(reader);
    case 2:
        return edge_of(param, next(reader));
    default:
        return next_uint(reader, 8);
    }
}

// ---- values to messages ------------------------------------------------------------------------

static void pack_uint(struct reader *reader, msgpack_packer *packer, const struct param *param,
                      bool by_name)
{
    msgpack_pack_uint64(packer, keep_small(param, choose_uint(reader, param, by_name)));
}

static void pack_real(struct reader *reader, msgpack_packer *packer, const struct param *param)
{
    uint8_t mode = next(reader);
    if (mode < 0x80) {
        msgpack_pack_double(packer, param->minimum + (double)next_uint(reader, 2) / 256);
    } else if (mode < 0xc0) {
        msgpack_pack_uint64(packer, next(reader));
    } else {
        uint64_t bits = next_uint(reader, 8);
        double real;
        memcpy(&real, &bits, sizeof real);
        msgpack_pack_double(packer, real);
    }
}

static void pack_text(struct reader *reader, msgpack_packer *packer, const struct param *param)
{
    uint8_t mode = next(reader);
    char text[32];
    if (mode < 0xf0) {
        fm_pack_text(packer, choose_word(param->field, mode));
        return;
    }
    size_t size = next(reader) % sizeof text;
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)next(reader);
    }
    msgpack_pack_str_with_body(packer, text, size);
}

// The map and pieces of it, or a saved world, so that uploads become worlds.
static void pack_bytes(struct reader *reader, msgpack_packer *packer)
{
    uint8_t mode = next(reader);
    size_t file_size;
    const void *file = fm_live_file(&file_size);
    if (mode >= 0x60 && mode < 0x80 && file != NULL) {
        msgpack_pack_bin_with_body(packer, file, file_size);
    } else if (mode < 0x80) {
        msgpack_pack_bin_with_body(packer, map, sizeof map - 1);
    } else if (mode < 0xc0) {
        size_t begin = next_uint(reader, 2) % sizeof map, size = next_uint(reader, 2);
        size = size < sizeof map - 1 - begin ? size : sizeof map - 1 - begin;
        msgpack_pack_bin_with_body(packer, map + begin, size);
    } else {
        char bytes[64];
        size_t size = next(reader) % sizeof bytes;
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)next(reader);
        }
        msgpack_pack_bin_with_body(packer, bytes, size);
    }
}

static void pack_uints(struct reader *reader, msgpack_packer *packer, const struct param *param,
                       bool by_name)
{
    uint8_t mode = next(reader);
    uint32_t count = param->maximum < 5 ? (uint32_t)param->minimum : mode % ELEMENTS_MAX;
    count = mode < 0xf0 && param->maximum > 4 ? (count + 1) & ~1u : count;
    fm_known_kind kind = known_of(param->field, by_name);
    msgpack_pack_array(packer, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t choice = next(reader);
        if (choice == 0xff) {
            msgpack_pack_uint64(packer, next_uint(reader, 4));
        } else if (kind != FM_KNOWN_COUNT) {
            msgpack_pack_uint64(packer, fm_live_known(kind, choice));
        } else {
            msgpack_pack_uint64(packer, choice % (i % 2 == 0 ? 21 : 13)); // or beside the map
        }
    }
}

static void pack_value(struct reader *reader, msgpack_packer *packer, const struct param *param,
                       bool by_name)
{
    switch (param->type) {
    case UINT:
        pack_uint(reader, packer, param, by_name);
        break;
    case REAL:
        pack_real(reader, packer, param);
        break;
    case BOOL:
        if (next(reader) % 2 == 0) {
            msgpack_pack_true(packer);
        } else {
            msgpack_pack_false(packer);
        }
        break;
    case TEXT:
        pack_text(reader, packer, param);
        break;
    case BYTES:
        pack_bytes(reader, packer);
        break;
    case UINTS:
        pack_uints(reader, packer, param, by_name);
        break;
    }
}

// An optional field is present if its first byte is odd, a required one unless that byte is 0xff.
static uint32_t pack_fields(struct reader *reader, msgpack_packer *packer, fm_method method,
                            bool by_name)
{
    uint32_t count = 0;
    for (const struct param *param = params_of[method]; is_param(param); param++) {
        uint8_t presence = next(reader);
        if (param->need == MUST ? presence != 0xff : presence % 2 == 1) {
            fm_pack_text(packer, fm_field_name(param->field));
            pack_value(reader, packer, param, by_name);
            count++;
        }
    }
    return count;
}

// ---- steps -------------------------------------------------------------------------------------

static void send_fields(fm_method method, uint32_t client, bool notify, size_t piece,
                        const msgpack_sbuffer *fields, uint32_t count)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    if (notify) {
        msgpack_pack_array(&packer, 3);
        msgpack_pack_uint64(&packer, FM_MESSAGE_NOTIFICATION);
        fm_pack_text(&packer, fm_method_name(method));
        msgpack_pack_array(&packer, 1);
    } else {
        fm_pack_request(&packer, fm_live_ask(client, method), method);
    }
    msgpack_pack_map(&packer, count);
    msgpack_sbuffer_write(&buffer, fields->data, fields->size);
    fm_live_send(client, buffer.data, buffer.size, piece);
    msgpack_sbuffer_destroy(&buffer);
}

static void say_hello(uint32_t client, const char *token)
{
    msgpack_sbuffer fields;
    msgpack_packer packer;
    msgpack_sbuffer_init(&fields);
    msgpack_packer_init(&packer, &fields, msgpack_sbuffer_write);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_PROTOCOL));
    msgpack_pack_uint64(&packer, FM_PROTOCOL_NUMBER);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_TOKEN));
    fm_pack_text(&packer, token);
    send_fields(FM_METHOD_HELLO, client, false, SIZE_MAX, &fields, 2);
    msgpack_sbuffer_destroy(&fields);
}

static void come(uint32_t client, const char *token)
{
    has_come[client] = true;
    fm_live_connect(client);
    if (token != NULL && fm_live_is_connected(client)) {
        say_hello(client, token);
    }
}

static void come_back(uint32_t client, const char *token)
{
    come(client, token);
    fm_live_settle();
}

// Work that is under way stays so.
static void come_once(uint32_t client)
{
    if (!has_come[client]) {
        come(client, tokens[client]);
    }
}

// First byte: bits 0 to 2: the client; bit 3: a notification; bit 4: the next step follows at once;
// bit 5: in small pieces.
static void send_request(struct reader *reader, fm_method method)
{
    uint8_t how = next(reader);
    uint32_t client = how % FM_LIVE_CLIENTS_MAX;
    bool by_name = client == CLIENT_PLAYER_1 || client == CLIENT_PLAYER_2;
    come_once(client);
    if (!fm_live_is_connected(client)) {
        return;
    }
    msgpack_sbuffer fields;
    msgpack_packer packer;
    msgpack_sbuffer_init(&fields);
    msgpack_packer_init(&packer, &fields, msgpack_sbuffer_write);
    uint32_t count = pack_fields(reader, &packer, method, by_name);
    send_fields(method, client, (how & 8) != 0, (how & 32) != 0 ? 7 : SIZE_MAX, &fields, count);
    msgpack_sbuffer_destroy(&fields);
    if ((how & 16) == 0) {
        fm_live_settle();
    }
}

static void sleep_a_while(uint64_t ms, uint64_t *slept_ms)
{
    if (*slept_ms + ms <= SLEEP_MAX_MS) {
        *slept_ms += ms;
        fm_live_sleep(ms);
    }
}

static void other_step(struct reader *reader, enum step step, uint64_t *slept_ms)
{
    uint32_t client =
        step == STEP_SLEEP || step == STEP_SETTLE ? 0 : next(reader) % FM_LIVE_CLIENTS_MAX;
    if (step == STEP_BYTES || step == STEP_STALL) {
        come_once(client);
    }
    switch (step) {
    case STEP_BYTES:
        if (fm_live_is_connected(client)) {
            fm_live_run_wild(client);
            fm_live_send(client, reader->bytes + reader->at, reader->size - reader->at, SIZE_MAX);
            fm_live_settle();
        }
        break;
    case STEP_SLEEP:
        sleep_a_while(50 * (uint64_t)next(reader), slept_ms);
        break;
    case STEP_STALL:
        fm_live_stall(client, next(reader) % 2 == 1);
        break;
    case STEP_HANG_UP:
        come_back(client, tokens[client]);
        break;
    case STEP_TOKEN:
        come_back(client, fm_live_token());
        break;
    case STEP_SETTLE:
    case STEP_COUNT:
        fm_live_settle();
        break;
    }
}

static void run_steps(struct reader *program)
{
    uint64_t slept_ms = 0;
    for (uint32_t i = 0; i < STEPS_MAX && program->at < program->size; i++) {
        uint8_t what = next(program);
        size_t size = next(program), left = program->size - program->at;
        struct reader step = {program->bytes + program->at, size < left ? size : left, 0};
        program->at += step.size;
        if (what < STEP_BYTES) {
            send_request(&step, (fm_method)(what % FM_METHOD_COUNT));
        } else {
            other_step(&step, STEP_BYTES + (what - STEP_BYTES) % (STEP_COUNT - STEP_BYTES),
                       &slept_ms);
        }
    }
}

// ---- the world to begin with -------------------------------------------------------------------

static void pack_pair(msgpack_packer *packer, fm_field field, const char *text)
{
    fm_pack_text(packer, fm_field_name(field));
    fm_pack_text(packer, text);
}

static void pack_flag(msgpack_packer *packer, fm_field field, bool flag)
{
    fm_pack_text(packer, fm_field_name(field));
    if (flag) {
        msgpack_pack_true(packer);
    } else {
        msgpack_pack_false(packer);
    }
}

static void make_world(const struct setup *setup)
{
    msgpack_sbuffer fields;
    msgpack_packer packer;
    msgpack_sbuffer_init(&fields);
    msgpack_packer_init(&packer, &fields, msgpack_sbuffer_write);
    pack_pair(&packer, FM_FIELD_NAME, "arena");
    pack_pair(&packer, FM_FIELD_OCCUPANCY, setup->occupancy);
    pack_pair(&packer, FM_FIELD_PLANNER, setup->planner);
    pack_pair(&packer, FM_FIELD_CLASSES, setup->classes);
    pack_pair(&packer, FM_FIELD_MAP, map);
    pack_flag(&packer, FM_FIELD_LINE_OF_SIGHT, setup->line_of_sight);
    pack_flag(&packer, FM_FIELD_OMNISCIENT, setup->omniscient);
    pack_flag(&packer, FM_FIELD_PAUSED, !setup->ticking);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_NEIGHBOURS));
    msgpack_pack_uint64(&packer, setup->neighbours);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_AGENTS_MAX));
    msgpack_pack_uint64(&packer, AGENTS_MAX);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_TEAMS_MAX));
    msgpack_pack_uint64(&packer, TEAMS_MAX);
    send_fields(FM_METHOD_WORLD_CREATE, CLIENT_ADMIN, false, SIZE_MAX, &fields, 11);
    msgpack_sbuffer_destroy(&fields);
    fm_live_settle();
    FM_ASSERT(fm_live_known_count(FM_KNOWN_WORLD) > 0);
}

static void make_team(uint32_t team, uint32_t x, uint32_t y)
{
    msgpack_sbuffer fields;
    msgpack_packer packer;
    msgpack_sbuffer_init(&fields);
    msgpack_packer_init(&packer, &fields, msgpack_sbuffer_write);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_WORLD));
    msgpack_pack_uint64(&packer, 1);
    send_fields(FM_METHOD_TEAM_CREATE, CLIENT_ADMIN, false, SIZE_MAX, &fields, 1);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_TEAM));
    msgpack_pack_uint64(&packer, team);
    fm_pack_text(&packer, fm_field_name(FM_FIELD_CELLS));
    msgpack_pack_array(&packer, 6);
    for (uint32_t i = 0; i < 3; i++) {
        msgpack_pack_uint64(&packer, x + 2 * i);
        msgpack_pack_uint64(&packer, y);
    }
    pack_pair(&packer, FM_FIELD_PLACE, "nearest");
    send_fields(FM_METHOD_AGENT_SPAWN, CLIENT_ADMIN, false, SIZE_MAX, &fields, 4);
    msgpack_sbuffer_destroy(&fields);
}

static const fm_config *make_config(void)
{
    static fm_config config;
    if (config.workers != 0) {
        return &config;
    }
    config = fm_config_default();
    config.workers = 1;
    config.worlds_max = 3;
    config.world_memory_max = (size_t)16 << 20;
    config.message_size_max = 64u << 10;
    config.session_unsent_max = 64u << 10;
    config.uploads_max_bytes = 64u << 10;
    config.inbox_commands_max = 16;
    config.session_queries_max = 4;
    config.hello_timeout_s = 3;
    config.message_timeout_s = 2;
    config.slow_reader_timeout_s = 4;
    config.idle_timeout_s = 10;
    config.query_budget_ms = 0.05;
    config.auth_failures_per_minute = 4;
    config.rate_edits = 200;
    char error[FM_ERROR_TEXT_SIZE];
    FM_ASSERT(fm_tokens_start());
    fm_status status =
        fm_grants_parse(&config.grants, grants, sizeof grants - 1, '\n', error, sizeof error);
    FM_ASSERT(status == FM_OK);
    fm_log_start(&(fm_log_options){.level = FM_LOG_ERROR, .file = -1});
    return &config;
}

// Starts the server with an admin and a world, before the steps.
static void begin(const struct setup *setup, const fm_config *config, const fm_config *worlds)
{
    fm_live_begin(config, worlds);
    fm_live_know(FM_KNOWN_TOTAL, sizeof map - 1);
    memset(has_come, 0, sizeof has_come);
    come_back(CLIENT_ADMIN, tokens[CLIENT_ADMIN]);
    make_world(setup);
    make_team(1, 1, 9);
    make_team(2, 8, 0);
    fm_live_settle();
}

// Makes a journal that replays can open: of a world that ran for a second, before the first input.
static const fm_config *make_journal(const fm_config *worlds)
{
    static fm_config config;
    if (config.workers == 0) {
        config = *worlds;
        snprintf(config.journal_dir, sizeof config.journal_dir, "%s", fm_fuzz_folder());
        config.journal_keep = true; // also when its world has ended
        const struct setup setup = {"exclusive", "dstar-lite", "ground", 8, true, false, true};
        begin(&setup, &config, &config);
        fm_live_sleep(1000);
        fm_live_end();
    }
    return &config;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct reader program = {bytes, size, 0};
    const struct setup *setup = &setups[next(&program) % FM_COUNT_OF(setups)];
    const fm_config *worlds = make_config();
    begin(setup, make_journal(worlds), worlds);
    run_steps(&program);
    fm_live_end();
    return 0;
}
