// server/worlds/publish.c: see publish.h.

#include "server/worlds/publish.h"

#include "core/views/view_delta.h"
#include "server/worlds/outbox.h"

#include "core/world/terrain_block.h"

#include <stdlib.h>
#include <string.h>

#define UNTOLD_MAX (1u << 16) // orders that ended, of a view

// ---- blocks ------------------------------------------------------------------------------------

// Sizes are multiples of 8, so that arrays that follow each other are aligned.
static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static void *copy_array(char **cursor, const void *array, size_t count, size_t size)
{
    void *copy = *cursor;
    if (count > 0) {
        memcpy(copy, array, count * size);
    }
    *cursor += padded(count * size);
    return copy;
}

static fm_publication *block_create(const fm_host *host, const fm_host_watch *watch,
                                    size_t arrays_size)
{
    size_t size = padded(sizeof(fm_publication)) + arrays_size;
    fm_publication *block = malloc(size);
    if (block != NULL) {
        *block = (fm_publication){
            .event = {.kind = FM_EVENT_PUBLICATION},
            .host = (fm_host *)host,
            .team = watch->team,
            .serial = watch->serial,
            .tick = host->tick,
            .size = size,
        };
    }
    return block;
}

static char *block_arrays(fm_publication *block)
{
    return (char *)block + padded(sizeof *block);
}

// All of them, when one has come or gone.
static uint32_t changed_buildings(const fm_changes *changes)
{
    return changes->buildings_changed ? changes->building_count : 0;
}

// Room for the courses of agents that came or changed.
static uint32_t course_room(const fm_host_watch *watch, uint32_t agent_count)
{
    uint32_t most = agent_count < FM_COURSES_MAX ? agent_count : FM_COURSES_MAX;
    return watch->motion ? most : 0;
}

static void add_courses(const fm_host *host, fm_publication *block, const fm_agent_look *looks,
                        uint32_t look_count, uint32_t room)
{
    block->course_count +=
        fm_world_courses(host->world, block->team, looks, look_count,
                         block->courses + block->course_count, room - block->course_count);
}

// How many looks have a new tag.
static uint32_t count_tags(const fm_host *host, const fm_agent_look *looks, uint32_t look_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < look_count && fm_world_has_tags(host->world); i++) {
        count += looks[i].tells_tag;
    }
    return count;
}

// @param room  tags that the block has room for
static void add_tags(const fm_host *host, fm_publication *block, const fm_agent_look *looks,
                     uint32_t look_count, uint32_t room)
{
    for (uint32_t i = 0; i < look_count && block->tag_count < room; i++) {
        if (looks[i].tells_tag) {
            uint32_t size;
            const uint8_t *bytes = fm_world_tag(host->world, block->team, looks[i].id, &size);
            fm_tag_look *tag = &block->tags[block->tag_count++];
            *tag = (fm_tag_look){.name = looks[i].name, .size = (uint8_t)size};
            if (size > 0) {
                memcpy(tag->bytes, bytes, size);
            }
        }
    }
}

static fm_publication *block_of_changes(const fm_host *host, const fm_host_watch *watch,
                                        const fm_changes *changes)
{
    size_t size = padded(changes->entered_count * sizeof *changes->entered) +
                  padded(changes->changed_count * sizeof *changes->changed) +
                  padded(changes->left_count * sizeof *changes->left) +
                  padded(changes->cell_count * sizeof *changes->cells) +
                  padded(changes->ended_count * sizeof *changes->ended) +
                  padded(changes->alert_count * sizeof *changes->alerts) +
                  padded(changes->sight_count * sizeof *changes->sight) +
                  padded(changed_buildings(changes) * sizeof *changes->buildings);
    uint32_t room = course_room(watch, changes->entered_count + changes->changed_count);
    uint32_t tags = count_tags(host, changes->entered, changes->entered_count) +
                    count_tags(host, changes->changed, changes->changed_count);
    fm_publication *block = block_create(
        host, watch, size + padded(room * sizeof *block->courses) + tags * sizeof *block->tags);
    if (block == NULL) {
        return NULL;
    }
    char *cursor = block_arrays(block);
    fm_changes *copy = &block->changes;
    *copy = *changes;
    copy->entered =
        copy_array(&cursor, changes->entered, changes->entered_count, sizeof *changes->entered);
    copy->changed =
        copy_array(&cursor, changes->changed, changes->changed_count, sizeof *changes->changed);
    copy->left = copy_array(&cursor, changes->left, changes->left_count, sizeof *changes->left);
    copy->cells = copy_array(&cursor, changes->cells, changes->cell_count, sizeof *changes->cells);
    copy->ended = copy_array(&cursor, changes->ended, changes->ended_count, sizeof *changes->ended);
    copy->alerts =
        copy_array(&cursor, changes->alerts, changes->alert_count, sizeof *changes->alerts);
    copy->sight = copy_array(&cursor, changes->sight, changes->sight_count, sizeof *changes->sight);
    copy->building_count = changed_buildings(changes);
    copy->buildings =
        copy_array(&cursor, changes->buildings, copy->building_count, sizeof *changes->buildings);
    block->courses = (fm_course *)(void *)cursor;
    add_courses(host, block, copy->entered, copy->entered_count, room);
    add_courses(host, block, copy->changed, copy->changed_count, room);
    block->tags = (fm_tag_look *)(void *)(cursor + padded(room * sizeof *block->courses));
    add_tags(host, block, copy->entered, copy->entered_count, tags);
    add_tags(host, block, copy->changed, copy->changed_count, tags);
    return block;
}

// The looks of a snapshot are memory of their own, which the scene takes over.
static bool take_looks(const fm_host *host, fm_publication *block)
{
    size_t size = (size_t)host->width * host->height * sizeof *block->looks;
    block->looks = malloc(size);
    block->size += size;
    block->is_snapshot = true;
    return block->looks != NULL;
}

// The same for visible cells, if wanted. A team that does not exist sees nothing.
static bool take_sight(const fm_host *host, const fm_host_watch *watch, fm_publication *block)
{
    if (!watch->sight) {
        return true;
    }
    size_t count = (size_t)fm_sight_pitch(host->width) * host->height;
    block->sight = calloc(count, sizeof *block->sight);
    block->size += count * sizeof *block->sight;
    if (block->sight != NULL && !watch->absent) {
        fm_world_sight(host->world, watch->team, block->sight);
    }
    return block->sight != NULL;
}

static void drop_block(fm_publication *block)
{
    if (block != NULL) {
        free(block->looks);
        free(block);
    }
}

static void pack_block(const fm_terrain_block *from, uint16_t to[FM_TERRAIN_BLOCK_CELLS])
{
    for (uint32_t i = 0; i < FM_TERRAIN_BLOCK_CELLS; i++) {
        to[i] = (uint16_t)fm_look_pack(
            (fm_learned){.terrain = from->terrain[i], .cost = from->cost[i]});
    }
}

static void copy_looks(const fm_host *host, uint32_t team, uint16_t *looks)
{
    for (uint32_t y = 0; y < host->height; y++) {
        for (uint32_t x = 0; x < host->width; x += FM_TERRAIN_BLOCK_CELLS) {
            fm_terrain_block block;
            uint16_t packed[FM_TERRAIN_BLOCK_CELLS];
            uint32_t count = fm_world_look_up_block(host->world, team, x, y, &block);
            pack_block(&block, packed);
            memcpy(looks, packed, count * sizeof *looks);
            looks += count;
        }
    }
}

// A team that does not exist knows nothing and has nothing.
static fm_publication *block_of_nothing(const fm_host *host, const fm_host_watch *watch)
{
    fm_publication *block = block_create(host, watch, 0);
    if (block == NULL || !take_looks(host, block) || !take_sight(host, watch, block)) {
        drop_block(block);
        return NULL;
    }
    memset(block->looks, 0, (size_t)host->width * host->height * sizeof *block->looks);
    block->changes.buildings_changed = true;
    return block;
}

static fm_publication *block_of_snapshot(const fm_host *host, const fm_host_watch *watch)
{
    if (watch->absent) {
        return block_of_nothing(host, watch);
    }
    uint32_t agent_count = fm_world_agents_in_view(host->world, watch->team, NULL, 0);
    uint32_t tag_room = fm_world_has_tags(host->world) ? agent_count : 0;
    size_t agents_size = padded(agent_count * sizeof(fm_agent_look));
    size_t ended_size = padded(watch->unsent_count * sizeof *watch->unsent) +
                        padded(watch->unsent_alert_count * sizeof *watch->unsent_alerts);
    uint32_t building_count;
    const fm_building_look *buildings =
        fm_world_buildings(host->world, watch->team, &building_count);
    uint32_t room = course_room(watch, agent_count);
    fm_publication *block =
        block_create(host, watch,
                     agents_size + ended_size + padded(building_count * sizeof *buildings) +
                         padded(room * sizeof *block->courses) + tag_room * sizeof *block->tags);
    if (block == NULL || !take_looks(host, block) || !take_sight(host, watch, block)) {
        drop_block(block);
        return NULL;
    }
    fm_agent_look *agents = (fm_agent_look *)block_arrays(block);
    fm_world_agents_in_view(host->world, watch->team, agents, agent_count);
    block->changes.entered = agents;
    block->changes.entered_count = agent_count;
    copy_looks(host, watch->team, block->looks);
    char *cursor = block_arrays(block) + agents_size;
    block->changes.ended =
        copy_array(&cursor, watch->unsent, watch->unsent_count, sizeof *watch->unsent);
    block->changes.ended_count = watch->unsent_count;
    block->changes.alerts = copy_array(&cursor, watch->unsent_alerts, watch->unsent_alert_count,
                                       sizeof *watch->unsent_alerts);
    block->changes.alert_count = watch->unsent_alert_count;
    block->ended_lost = watch->unsent_lost;
    block->changes.buildings = copy_array(&cursor, buildings, building_count, sizeof *buildings);
    block->changes.building_count = building_count;
    block->changes.buildings_changed = true;
    block->courses = (fm_course *)(void *)cursor;
    add_courses(host, block, agents, agent_count, room);
    block->tags = (fm_tag_look *)(void *)(cursor + padded(room * sizeof *block->courses));
    add_tags(host, block, agents, agent_count, tag_room);
    return block;
}

// ---- orders that ended in what was left out ----------------------------------------------------

static void forget_unsent(fm_host_watch *watch)
{
    free(watch->unsent);
    free(watch->unsent_alerts);
    watch->unsent = NULL;
    watch->unsent_alerts = NULL;
    watch->unsent_count = watch->unsent_capacity = 0;
    watch->unsent_alert_count = watch->unsent_alert_capacity = 0;
    watch->unsent_lost = false;
}

static bool keep_unsent(fm_host_watch *watch, const fm_changes *changes)
{
    uint32_t count = watch->unsent_count + changes->ended_count;
    uint32_t alert_count = watch->unsent_alert_count + changes->alert_count;
    if (count > UNTOLD_MAX || alert_count > UNTOLD_MAX) {
        return false;
    }
    if (!FM_RESERVE_FROM(&fm_memory_libc, watch->unsent, watch->unsent_capacity, count) ||
        !FM_RESERVE_FROM(&fm_memory_libc, watch->unsent_alerts, watch->unsent_alert_capacity,
                         alert_count)) {
        return false;
    }
    if (changes->alert_count > 0) {
        memcpy(watch->unsent_alerts + watch->unsent_alert_count, changes->alerts,
               changes->alert_count * sizeof *changes->alerts);
    }
    watch->unsent_alert_count = alert_count;
    if (changes->ended_count > 0) {
        memcpy(watch->unsent + watch->unsent_count, changes->ended,
               changes->ended_count * sizeof *changes->ended);
    }
    watch->unsent_count = count;
    return true;
}

// The snapshot that replaces them lacks the ended orders and alerts, which are added to it, and who
// died aboard.
static void leave_out(fm_host_watch *watch, const fm_changes *changes)
{
    watch->lost = true;
    watch->unsent_lost |= !keep_unsent(watch, changes);
}

static void emit(fm_mailbox *mailbox, fm_host *host, fm_publication *block)
{
    atomic_fetch_add(&host->published_unread_size, block->size);
    fm_outbox_emit(mailbox, host, &block->event);
}

// ---- ticks -------------------------------------------------------------------------------------

static bool is_empty(const fm_changes *changes)
{
    return changes->entered_count == 0 && changes->changed_count == 0 && changes->left_count == 0 &&
           changes->cell_count == 0 && changes->ended_count == 0 && changes->alert_count == 0 &&
           !changes->buildings_changed && changes->sight_count == 0;
}

static void stop_watching(fm_host *host, const fm_host_watch *watch)
{
    if (host->world != NULL) {
        fm_status ignored = fm_world_watch(host->world, watch->team, false);
        (void)ignored; // cannot fail for a team that exists
    }
}

static fm_status begin_watch(fm_host *host, fm_host_watch *watch)
{
    fm_status status = fm_world_watch(host->world, watch->team, true);
    if (status == FM_OK && watch->sight) {
        status = fm_world_watch_sight(host->world, watch->team);
        if (status != FM_OK) {
            stop_watching(host, watch);
        }
    }
    return status;
}

// When the loop is behind, or out of memory, the view continues with a snapshot later: blocks must
// not pile up.
//
// @param caught_up  whether the loop has taken in all that was published in the ticks before.
//                   Publications of other views in this tick must not stop a view
static void publish_watch(fm_mailbox *mailbox, fm_host *host, fm_host_watch *watch,
                          const fm_load *load, bool caught_up)
{
    if (watch->absent) {
        watch->absent = begin_watch(host, watch) != FM_OK;
        watch->lost |= !watch->absent; // all of it is new
    }
    if (watch->absent) {
        return;
    }
    fm_changes changes = fm_world_changes(host->world, watch->team);
    if (watch->lost || changes.incomplete) {
        leave_out(watch, &changes);
    } else if (is_empty(&changes)) {
        return;
    }
    if (watch->lost && (changes.incomplete || !caught_up)) {
        return; // after an incomplete tick nobody is in view before the next one
    }
    fm_publication *block = NULL;
    if (atomic_load(&host->published_unread_size) < FM_PUBLISHED_UNREAD_MAX) {
        block =
            watch->lost ? block_of_snapshot(host, watch) : block_of_changes(host, watch, &changes);
    }
    if (block != NULL) {
        watch->lost = false;
        forget_unsent(watch);
        block->load = *load;
        emit(mailbox, host, block);
    } else if (!watch->lost) {
        leave_out(watch, &changes);
    }
}

void fm_publish_tick(fm_mailbox *mailbox, fm_host *host, const fm_load *load)
{
    bool caught_up = atomic_load(&host->published_unread_size) == 0;
    for (uint32_t i = 0; i < host->watches.count; i++) {
        publish_watch(mailbox, host, &host->watches.items[i], load, caught_up);
    }
}

// ---- replays -----------------------------------------------------------------------------------

static fm_status publish_cut(fm_mailbox *mailbox, fm_host *host, fm_host_watch *watch)
{
    if (atomic_load(&host->published_unread_size) >= FM_PUBLISHED_UNREAD_MAX) {
        return FM_ERR_BUSY;
    }
    fm_publication *block = block_of_snapshot(host, watch);
    if (block == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    block->is_cut = true;
    watch->lost = false;
    forget_unsent(watch);
    emit(mailbox, host, block);
    return FM_OK;
}

fm_status fm_publish_cut(fm_mailbox *mailbox, fm_host *host)
{
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < host->watches.count; i++) {
        fm_host_watch *watch = &host->watches.items[i];
        if (watch->absent) {
            watch->absent = begin_watch(host, watch) != FM_OK;
        }
    }
    for (uint32_t i = 0; i < host->watches.count && status == FM_OK; i++) {
        status = publish_cut(mailbox, host, &host->watches.items[i]);
    }
    return status;
}

// ---- watching ----------------------------------------------------------------------------------

static fm_status reserve(fm_host *host)
{
    if (host->watches.count == FM_WATCHES_MAX) {
        return FM_ERR_LIMIT;
    }
    fm_host_watches *watches = &host->watches;
    return fm_reserve(&fm_memory_libc, (void **)&watches->items, &watches->capacity,
                      watches->count + 1, sizeof *watches->items)
               ? FM_OK
               : FM_ERR_NO_MEMORY;
}

static fm_host_watch *find_watch(const fm_host *host, uint32_t team, uint64_t serial)
{
    for (uint32_t i = 0; i < host->watches.count; i++) {
        fm_host_watch *watch = &host->watches.items[i];
        if (watch->team == team && watch->serial == serial) {
            return watch;
        }
    }
    return NULL;
}

// A view that has been left out for a while gets it with its next snapshot.
static fm_status begin_sight(fm_mailbox *mailbox, fm_host *host, fm_host_watch *watch)
{
    fm_status status = watch->absent ? FM_OK : fm_world_watch_sight(host->world, watch->team);
    if (status != FM_OK || watch->lost) {
        watch->sight |= status == FM_OK;
        return status;
    }
    bool had_sight = watch->sight;
    watch->sight = true;
    fm_publication *block = block_create(host, watch, 0);
    if (block == NULL || !take_sight(host, watch, block)) {
        watch->sight = had_sight;
        free(block);
        return FM_ERR_NO_MEMORY;
    }
    emit(mailbox, host, block);
    return FM_OK;
}

fm_status fm_publish_watch(fm_mailbox *mailbox, fm_host *host, uint32_t team, uint64_t serial,
                           bool sight, bool motion)
{
    fm_host_watch *watched = find_watch(host, team, serial);
    if (watched != NULL) {
        watched->motion |= motion;
        return sight ? begin_sight(mailbox, host, watched) : FM_OK;
    }
    fm_status status = reserve(host);
    if (status != FM_OK) {
        return status;
    }
    fm_host_watch watch = {.team = team, .serial = serial, .sight = sight, .motion = motion};
    status = begin_watch(host, &watch);
    // In a replay it may exist at another tick.
    watch.absent = status == FM_ERR_NO_TEAM && fm_host_is_replay(host);
    if (status != FM_OK && !watch.absent) {
        return status;
    }
    fm_publication *block = block_of_snapshot(host, &watch);
    if (block == NULL) {
        if (!watch.absent) {
            stop_watching(host, &watch);
        }
        return FM_ERR_NO_MEMORY;
    }
    host->watches.items[host->watches.count++] = watch;
    emit(mailbox, host, block);
    return FM_OK;
}

void fm_publish_unwatch(fm_host *host, uint32_t team, uint64_t serial)
{
    fm_host_watch *watch = find_watch(host, team, serial);
    if (watch != NULL) {
        if (!watch->absent) {
            stop_watching(host, watch);
        }
        forget_unsent(watch);
        *watch = host->watches.items[--host->watches.count];
    }
}
