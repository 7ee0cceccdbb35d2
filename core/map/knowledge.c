// core/map/knowledge.c: see knowledge.h.
//
// Sensing compares whole words of the true map with whole words of belief; a word in which nothing
// is new costs a few loads. Only cells that turn out new or different are handled one by one.

#include "core/map/knowledge.h"

#include "core/base/random.h"
#include "core/map/line_of_sight.h"
#include "core/map/news.h"

static void set_blocked(fm_knowledge *knowledge, fm_cell cell, bool blocked);

// Once, for an omniscient team; afterwards it sees every edit.
static void learn_everything(fm_knowledge *knowledge)
{
    const fm_grid *truth = knowledge->truth;
    for (uint32_t y = 0; y < truth->height; y++) {
        for (uint32_t x = 0; x < truth->width; x++) {
            fm_cell cell = fm_cell_at(x, y);
            fm_bitmap_set(&knowledge->known, cell);
            if (fm_grid_is_blocked(truth, cell)) {
                set_blocked(knowledge, cell, true);
            }
        }
    }
    if (knowledge->weights != NULL) {
        memcpy(knowledge->weights, truth->cost, (size_t)truth->width * truth->height);
    }
    knowledge->known_count = (uint64_t)truth->width * truth->height;
}

fm_status fm_knowledge_create(const fm_grid *truth, const fm_line_of_sight *sight,
                              fm_connectivity connectivity, fm_step_costs steps, bool omniscient,
                              const fm_memory *memory, fm_knowledge **out)
{
    fm_knowledge *knowledge = fm_memory_allocate_zeroed(memory, 1, sizeof *knowledge);
    if (knowledge == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    knowledge->truth = truth;
    knowledge->sight = sight;
    knowledge->memory = memory;
    knowledge->steps = steps;
    knowledge->omniscient = omniscient;
    uint32_t width = truth->width, height = truth->height;
    bool transposed = connectivity == FM_CONNECT_8;
    if (fm_bitmap_init(&knowledge->known, width, height, false, memory) != FM_OK ||
        fm_bitmap_init(&knowledge->blocked, width, height, true, memory) != FM_OK ||
        (transposed &&
         fm_bitmap_init(&knowledge->blocked_transposed, height, width, true, memory) != FM_OK) ||
        (truth->weighted && fm_knowledge_prepare_for_weights(knowledge) != FM_OK)) {
        fm_knowledge_destroy(knowledge);
        return FM_ERR_NO_MEMORY;
    }
    knowledge->view = (fm_view){
        .blocked = &knowledge->blocked,
        .blocked_transposed = transposed ? &knowledge->blocked_transposed : NULL,
        .weights = omniscient ? knowledge->weights : NULL,
        .width = width,
        .height = height,
    };
    fm_view_set_rules(&knowledge->view, connectivity, steps);
    if (omniscient) {
        learn_everything(knowledge);
    }
    *out = knowledge;
    return FM_OK;
}

void fm_knowledge_destroy(fm_knowledge *knowledge)
{
    if (knowledge == NULL) {
        return;
    }
    const fm_memory *memory = knowledge->memory;
    size_t cell_count = (size_t)knowledge->truth->width * knowledge->truth->height;
    fm_bitmap_fini(&knowledge->known, memory);
    fm_bitmap_fini(&knowledge->blocked, memory);
    fm_bitmap_fini(&knowledge->blocked_transposed, memory);
    fm_stale_fini(&knowledge->stale, memory);
    fm_bitmap_fini(&knowledge->sensed_from, memory);
    fm_memory_release(memory, knowledge->weights, cell_count);
    fm_cost_layer_fini(&knowledge->layer, memory);
    fm_buildings_seen_fini(&knowledge->buildings_seen, memory);
    fm_change_log_fini(&knowledge->log, memory);
    fm_tile_map_fini(&knowledge->tiles, memory);
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        fm_class_map_destroy(knowledge->classes[i]);
    }
    fm_memory_release(memory, knowledge->learned,
                      knowledge->learned_capacity * sizeof *knowledge->learned);
    fm_memory_release(memory, knowledge, sizeof *knowledge);
}

// ---- lists --------------------------------------------------------------------------------------

static void note_learned(fm_knowledge *knowledge, fm_learned learned)
{
    uint64_t fact = (uint64_t)learned.cell << 16 | (uint32_t)learned.terrain << 8 | learned.cost;
    knowledge->digest = fm_mix64(knowledge->digest ^ (fact + 0x9e3779b97f4a7c15u));
    if (!knowledge->keep_learned) {
        return;
    }
    if (!FM_RESERVE_FROM(knowledge->memory, knowledge->learned, knowledge->learned_capacity,
                         knowledge->learned_count + 1)) {
        knowledge->learned_lost = true;
        return;
    }
    knowledge->learned[knowledge->learned_count++] = learned;
}

void fm_knowledge_forget_learned(fm_knowledge *knowledge)
{
    FM_SHRINK_EMPTY(knowledge->memory, knowledge->learned, knowledge->learned_capacity,
                    knowledge->learned_count);
    knowledge->learned_count = 0;
    knowledge->learned_lost = false;
    knowledge->buildings_seen.changed = false;
}

// ---- learning -----------------------------------------------------------------------------------

static void set_blocked(fm_knowledge *knowledge, fm_cell cell, bool blocked)
{
    bool transposed = knowledge->blocked_transposed.words != NULL;
    fm_cell mirrored = fm_cell_at(fm_cell_y(cell), fm_cell_x(cell));
    if (blocked) {
        fm_bitmap_set(&knowledge->blocked, cell);
        if (transposed) {
            fm_bitmap_set(&knowledge->blocked_transposed, mirrored);
        }
    } else {
        fm_bitmap_reset(&knowledge->blocked, cell);
        if (transposed) {
            fm_bitmap_reset(&knowledge->blocked_transposed, mirrored);
        }
    }
}

// What a cell of a look weighs for a class, with what the game adds.
static uint32_t class_weight(const fm_knowledge *knowledge, const fm_movement_class *movement,
                             fm_cell cell, fm_terrain terrain, uint8_t cost)
{
    return fm_cost_layer_weigh(&knowledge->layer, fm_grid_index(knowledge->truth, cell),
                               fm_movement_weight(movement, terrain, cost));
}

// The classes' views follow the knowledge.
static void tell_classes(fm_knowledge *knowledge, fm_cell cell, fm_terrain terrain, uint8_t cost,
                         bool was_known)
{
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        fm_class_map *map = knowledge->classes[i];
        if (map != NULL) {
            uint64_t version = map->log.version;
            fm_class_map_set(map, cell,
                             class_weight(knowledge, map->movement, cell, terrain, cost));
            if (was_known && map->log.version != version) {
                map->log.edited = map->log.version;
            }
        }
    }
}

// Planners on the view of "ground" are told of a cell that is not what it was.
static void note_change(fm_knowledge *knowledge, fm_change change, bool was_known)
{
    fm_change_log_add(&knowledge->log, change, knowledge->memory);
    if (knowledge->view.tiles != NULL) {
        fm_tile_map_note(&knowledge->tiles, &knowledge->view, change.cell, change.cheaper);
    }
    knowledge->log.edited = was_known ? knowledge->log.version : knowledge->log.edited;
}

static uint8_t seen_weight(const fm_knowledge *knowledge, size_t i)
{
    return knowledge->weights == NULL ? FM_COST_FLOOR : knowledge->weights[i];
}

// What was known of a cell changes only when that is edited.
static void learn_cell(fm_knowledge *knowledge, fm_cell cell, bool was_known)
{
    const fm_grid *truth = knowledge->truth;
    size_t i = fm_grid_index(truth, cell);
    bool was_blocked = fm_bitmap_get(&knowledge->blocked, cell);
    bool is_blocked = fm_bitmap_get(&truth->blocked, cell);
    uint8_t cost = truth->cost[i];
    uint32_t weight_before = fm_cost_layer_weigh(&knowledge->layer, i, seen_weight(knowledge, i));
    uint32_t weight_after = fm_cost_layer_weigh(&knowledge->layer, i, cost);

    if (was_blocked != is_blocked) {
        set_blocked(knowledge, cell, is_blocked);
    }
    if (knowledge->weights != NULL) {
        knowledge->weights[i] = cost;
    }
    if (knowledge->layer.weights != NULL) {
        knowledge->layer.weights[i] = (uint8_t)weight_after;
    }
    if (cost != FM_COST_FLOOR && knowledge->view.weights == NULL) {
        knowledge->wants_weights = true;
    }
    note_learned(knowledge, (fm_learned){.cell = cell, .terrain = truth->terrain[i], .cost = cost});
    if (was_blocked != is_blocked || (!is_blocked && weight_before != weight_after)) {
        fm_change change = {
            .cell = cell,
            .blocked = is_blocked,
            .cheaper = !is_blocked && (was_blocked || weight_after < weight_before),
            .costlier = is_blocked || (!was_blocked && weight_after > weight_before),
        };
        note_change(knowledge, change, was_known);
    }
    if (knowledge->buildings != NULL && knowledge->buildings->placed > 0 &&
        fm_buildings_seen_concerns(&knowledge->buildings_seen, knowledge->buildings, cell)) {
        fm_buildings_seen_note(&knowledge->buildings_seen, knowledge->buildings, cell);
    }
    if (knowledge->has_class_maps) {
        tell_classes(knowledge, cell, (fm_terrain)truth->terrain[i], cost, was_known);
    }
}

// Looks at the cells of one word of one row that `mask` names.
static inline void learn_word(fm_knowledge *knowledge, uint32_t y, uint32_t word, uint64_t mask)
{
    uint64_t *known = &fm_bitmap_row(&knowledge->known, (int32_t)y)[word];
    uint64_t fresh = mask & ~*known, stale = mask & fm_stale_word(&knowledge->stale, y, word);
    uint64_t changed = fresh | stale;
    if (changed == 0) {
        return;
    }
    *known |= fresh;
    if (stale != 0) {
        fm_stale_forget(&knowledge->stale, y, word, stale, knowledge->memory);
    }
    knowledge->known_count += (uint64_t)__builtin_popcountll(fresh);
    for (; changed != 0; changed &= changed - 1) {
        uint32_t x = word * 64 + (uint32_t)__builtin_ctzll(changed);
        learn_cell(knowledge, fm_cell_at(x, y), (fresh & changed & -changed) == 0);
    }
}

// Of some cells of a word of a row, those that look otherwise than the team knows, or may.
static inline uint64_t news_in(const fm_knowledge *knowledge, uint32_t y, uint32_t word,
                               uint64_t cells)
{
    uint64_t known = fm_bitmap_row(&knowledge->known, (int32_t)y)[word];
    return cells & (~known | fm_stale_word(&knowledge->stale, y, word));
}

// Learns, or marks, cells by line of sight one by one, in the order of the rays.
static void learn_cells(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    fm_cell cells[FM_SIGHT_RAYS_MAX];
    uint32_t count = fm_line_of_sight_visible(sight, &knowledge->truth->blocked, cell, cells);
    for (uint32_t i = 0; i < count; i++) {
        fm_knowledge_learn(knowledge, cells[i]);
    }
}

static void mark_cells(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                       fm_bitmap *visible)
{
    fm_cell cells[FM_SIGHT_RAYS_MAX];
    uint32_t count = fm_line_of_sight_visible(sight, &knowledge->truth->blocked, cell, cells);
    for (uint32_t i = 0; i < count; i++) {
        fm_bitmap_set(visible, cells[i]);
    }
}

// The bits of a row of a window that lie in the word that it begins in, and in the next one.
static inline uint64_t bits_of_first_word(uint64_t bits, int32_t left)
{
    return bits << (left & 63);
}

static inline uint64_t bits_of_next_word(uint64_t bits, int32_t left)
{
    return (left & 63) == 0 ? 0 : bits >> (64 - (left & 63));
}

static uint64_t news_in_row(const fm_knowledge *knowledge, const fm_sight_window *window,
                            uint32_t i)
{
    uint32_t y = (uint32_t)(window->top + (int32_t)i);
    int32_t word = window->left >> 6;
    uint32_t shift = (uint32_t)window->left & 63;
    uint64_t first = bits_of_first_word(window->rows[i], window->left);
    uint64_t next = bits_of_next_word(window->rows[i], window->left), news = 0;
    if (first != 0) {
        news = news_in(knowledge, y, (uint32_t)word, first) >> shift;
    }
    if (next != 0) {
        news |= news_in(knowledge, y, (uint32_t)(word + 1), next) << (64 - shift);
    }
    return news;
}

// Learns the cells of a window in the order of the rays: the digest depends on it.
static void learn_in_order(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                           const fm_sight_window *window)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    for (uint32_t i = 0; i < sight->ray_count; i++) {
        int32_t cx = x + sight->rays[i].dx, cy = y + sight->rays[i].dy;
        if ((window->rows[cy - window->top] >> (cx - window->left) & 1) != 0) {
            fm_knowledge_learn(knowledge, fm_cell_at((uint32_t)cx, (uint32_t)cy));
        }
    }
}

// Most units see nothing new: where walls are, they have unknown cells within reach all the time.
static void learn_window(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    fm_sight_window window;
    fm_line_of_sight_window(sight, knowledge->truth, cell, &window);
    uint64_t any = 0;
    for (uint32_t i = 0; i < window.side; i++) {
        if (window.rows[i] != 0) {
            window.rows[i] = news_in_row(knowledge, &window, i);
            any |= window.rows[i];
        }
    }
    if (any != 0) {
        learn_in_order(knowledge, sight, cell, &window);
    }
}

static void learn_shape(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    int32_t radius = (int32_t)sight->rules.radius;
    for (int32_t dy = -radius; dy <= radius; dy++) {
        struct fm_sight_span span;
        if (!fm_sight_span_of(sight, knowledge->truth, cell, dy, &span)) {
            continue;
        }
        for (uint32_t word = span.x_first >> 6; word <= span.x_last >> 6; word++) {
            learn_word(knowledge, span.y, word, fm_bitmap_span(word, span.x_first, span.x_last));
        }
    }
}

static void mark_shape(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                       fm_bitmap *visible)
{
    int32_t radius = (int32_t)sight->rules.radius;
    for (int32_t dy = -radius; dy <= radius; dy++) {
        struct fm_sight_span span;
        if (fm_sight_span_of(sight, knowledge->truth, cell, dy, &span)) {
            uint32_t width = span.x_last - span.x_first + 1;
            fm_bitmap_fill(visible, (fm_rect){span.x_first, span.y, width, 1}, true);
        }
    }
}

static const fm_line_of_sight *sight_or_rules(const fm_knowledge *knowledge,
                                              const fm_line_of_sight *sight)
{
    return sight == NULL ? knowledge->sight : sight;
}

// ---- sensing ------------------------------------------------------------------------------------

void fm_knowledge_sense(fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell)
{
    if (!knowledge->omniscient) {
        sight = sight_or_rules(knowledge, sight);
        if (!sight->rules.line_of_sight) {
            learn_shape(knowledge, sight, cell);
        } else if (sight->rules.radius <= FM_SIGHT_WINDOW_RADIUS_MAX) {
            learn_window(knowledge, sight, cell);
        } else {
            learn_cells(knowledge, sight, cell);
        }
        fm_news_note_sensed(knowledge, sight, cell);
    }
}

void fm_knowledge_use_buildings(fm_knowledge *knowledge, const fm_buildings *buildings)
{
    knowledge->buildings = buildings;
    for (uint32_t i = 0; knowledge->omniscient && i < buildings->count; i++) {
        const fm_rect *rect = &buildings->list[i].rect;
        fm_buildings_seen_note(&knowledge->buildings_seen, buildings, fm_cell_at(rect->x, rect->y));
    }
}

void fm_knowledge_learn(fm_knowledge *knowledge, fm_cell cell)
{
    uint32_t x = fm_cell_x(cell);
    learn_word(knowledge, fm_cell_y(cell), x >> 6, (uint64_t)1 << (x & 63));
}

void fm_knowledge_look(const fm_knowledge *knowledge, const fm_line_of_sight *sight, fm_cell cell,
                       fm_bitmap *visible)
{
    sight = sight_or_rules(knowledge, sight);
    if (!sight->rules.line_of_sight) {
        mark_shape(knowledge, sight, cell, visible);
    } else if (sight->rules.radius <= FM_SIGHT_WINDOW_RADIUS_MAX) {
        fm_sight_window window;
        fm_line_of_sight_window(sight, knowledge->truth, cell, &window);
        fm_sight_window_mark(&window, visible);
    } else {
        mark_cells(knowledge, sight, cell, visible);
    }
}

// ---- edits of the true map ----------------------------------------------------------------------

static uint64_t known_in(const fm_knowledge *knowledge, const fm_edited_word *word)
{
    return word->mask & fm_bitmap_row(&knowledge->known, (int32_t)word->y)[word->word];
}

fm_status fm_knowledge_prepare_for_edits(fm_knowledge *knowledge, const fm_edited_word *words,
                                         uint32_t count)
{
    const fm_grid *truth = knowledge->truth;
    fm_status status = FM_OK;
    for (uint32_t i = 0; i < count && status == FM_OK; i++) {
        if (known_in(knowledge, &words[i]) != 0) {
            status = fm_stale_reserve(&knowledge->stale, truth->width, truth->height, words[i].y,
                                      words[i].word, knowledge->memory);
        }
    }
    return status;
}

static fm_status prepare_classes_for_weights(fm_knowledge *knowledge)
{
    fm_status status = FM_OK;
    for (uint32_t i = 0; status == FM_OK && i < FM_CLASSES_MAX; i++) {
        if (knowledge->classes[i] != NULL) {
            status = fm_class_map_prepare_for_weights(knowledge->classes[i]);
        }
    }
    return status;
}

fm_status fm_knowledge_prepare_for_weights(fm_knowledge *knowledge)
{
    if (knowledge->weights != NULL) {
        return prepare_classes_for_weights(knowledge);
    }
    size_t cell_count = (size_t)knowledge->truth->width * knowledge->truth->height;
    uint8_t *weights = fm_memory_allocate(knowledge->memory, cell_count);
    if (weights == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    memset(weights, FM_COST_FLOOR, cell_count);
    knowledge->weights = weights;
    return prepare_classes_for_weights(knowledge);
}

// From now on planners reckon with these weights.
static void reckon_with(fm_knowledge *knowledge, const uint8_t *weights)
{
    knowledge->wants_weights = false;
    knowledge->view.weights = weights;
    fm_view_set_rules(&knowledge->view, knowledge->view.connectivity, knowledge->steps);
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        if (knowledge->classes[i] != NULL) {
            fm_class_map_use_weights(knowledge->classes[i]);
        }
    }
}

void fm_knowledge_use_weights(fm_knowledge *knowledge)
{
    FM_ASSERT(knowledge->weights != NULL);
    reckon_with(knowledge, knowledge->weights);
}

// ---- what the game adds -------------------------------------------------------------------------

fm_status fm_knowledge_prepare_layer(fm_knowledge *knowledge)
{
    if (knowledge->layer.added != NULL) {
        return FM_OK;
    }
    fm_status status = prepare_classes_for_weights(knowledge);
    size_t cell_count = (size_t)knowledge->truth->width * knowledge->truth->height;
    return status == FM_OK ? fm_cost_layer_init(&knowledge->layer, knowledge->weights, cell_count,
                                                knowledge->memory)
                           : status;
}

bool fm_knowledge_use_layer(fm_knowledge *knowledge)
{
    FM_ASSERT(knowledge->layer.weights != NULL);
    bool rescales = knowledge->view.weights == NULL;
    if (knowledge->view.weights != knowledge->layer.weights) {
        reckon_with(knowledge, knowledge->layer.weights);
    }
    return rescales;
}

bool fm_knowledge_add_cost(fm_knowledge *knowledge, fm_cell cell, uint32_t added)
{
    FM_ASSERT(added <= FM_ADDED_COST_MAX && knowledge->view.weights == knowledge->layer.weights);
    fm_cost_layer *layer = &knowledge->layer;
    size_t i = fm_grid_index(knowledge->truth, cell);
    if (layer->added[i] == added) {
        return false;
    }
    uint32_t weight_before = layer->weights[i];
    layer->added[i] = (uint8_t)added;
    uint32_t weight_after = fm_cost_layer_weigh(layer, i, seen_weight(knowledge, i));
    layer->weights[i] = (uint8_t)weight_after;
    uint64_t fact = (uint64_t)cell << 16 | UINT64_C(0xff00) | added; // no terrain has that number
    knowledge->digest = fm_mix64(knowledge->digest ^ (fact + 0x9e3779b97f4a7c15u));
    if (weight_before != weight_after && !fm_bitmap_get(&knowledge->blocked, cell)) {
        fm_change change = {
            .cell = cell,
            .cheaper = weight_after<weight_before, .costlier = weight_after> weight_before};
        note_change(knowledge, change, true);
    }
    if (knowledge->has_class_maps) {
        fm_learned look = fm_knowledge_look_up(knowledge, cell);
        tell_classes(knowledge, cell, (fm_terrain)look.terrain, look.cost, true);
    }
    return true;
}

void fm_knowledge_note_edits(fm_knowledge *knowledge, const fm_edited_word *words, uint32_t count)
{
    FM_ASSERT(!knowledge->omniscient);
    for (uint32_t i = 0; i < count; i++) {
        fm_news_expect(knowledge, &words[i]);
        uint64_t known = known_in(knowledge, &words[i]);
        if (known != 0) {
            fm_stale_note(&knowledge->stale, &words[i], known);
        }
    }
}

void fm_knowledge_see_edit(fm_knowledge *knowledge, fm_cell cell)
{
    FM_ASSERT(knowledge->omniscient);
    learn_cell(knowledge, cell, true);
}

void fm_knowledge_recall_word(fm_knowledge *knowledge, uint32_t y, uint32_t word, uint64_t cells)
{
    FM_ASSERT(knowledge->view.tiles == NULL);
    const fm_grid *truth = knowledge->truth;
    uint64_t blocked = cells & fm_bitmap_row(&truth->blocked, (int32_t)y)[word];
    fm_bitmap_row(&knowledge->known, (int32_t)y)[word] |= cells;
    knowledge->known_count += (uint64_t)__builtin_popcountll(cells);
    for (; blocked != 0; blocked &= blocked - 1) {
        uint32_t x = word * 64 + (uint32_t)__builtin_ctzll(blocked);
        set_blocked(knowledge, fm_cell_at(x, y), true);
    }
    for (uint64_t left = knowledge->weights == NULL ? 0 : cells; left != 0; left &= left - 1) {
        size_t i = (size_t)y * truth->width + word * 64 + (uint32_t)__builtin_ctzll(left);
        knowledge->weights[i] = truth->cost[i];
    }
}

fm_status fm_knowledge_recall_stale(fm_knowledge *knowledge, fm_learned look)
{
    FM_ASSERT(knowledge->view.tiles == NULL);
    const fm_grid *truth = knowledge->truth;
    uint32_t x = fm_cell_x(look.cell), y = fm_cell_y(look.cell);
    fm_edited_word edited = {.y = y, .word = x / 64, .mask = UINT64_C(1) << x % 64};
    edited.terrain_before[x % 64] = look.terrain;
    fm_status status = fm_stale_reserve(&knowledge->stale, truth->width, truth->height, y,
                                        edited.word, knowledge->memory);
    if (status != FM_OK) {
        return status;
    }
    fm_stale_note(&knowledge->stale, &edited, edited.mask);
    fm_bitmap_set(&knowledge->known, look.cell);
    knowledge->known_count += 1;
    if (look.terrain != FM_TERRAIN_GROUND) {
        set_blocked(knowledge, look.cell, true);
    }
    if (knowledge->weights != NULL) {
        knowledge->weights[fm_grid_index(truth, look.cell)] = look.cost;
    }
    return FM_OK;
}

fm_learned fm_knowledge_look_up(const fm_knowledge *knowledge, fm_cell cell)
{
    const fm_grid *truth = knowledge->truth;
    size_t i = fm_grid_index(truth, cell);
    if (!fm_bitmap_get(&knowledge->known, cell)) {
        return (fm_learned){.cell = cell, .terrain = FM_TERRAIN_UNKNOWN};
    }
    uint64_t stale = fm_stale_word(&knowledge->stale, fm_cell_y(cell), fm_cell_x(cell) / 64);
    bool is_stale = (stale >> fm_cell_x(cell) % 64 & 1) != 0;
    return (fm_learned){
        .cell = cell,
        .terrain = is_stale ? fm_stale_terrain(&knowledge->stale, cell) : truth->terrain[i],
        .cost = knowledge->weights != NULL ? knowledge->weights[i] : FM_COST_FLOOR,
    };
}

// ---- movement classes ---------------------------------------------------------------------------

// An empty map. From now on it is notified of what is learned, like the others.
static fm_status begin_class(fm_knowledge *knowledge, uint32_t class_index,
                             const fm_movement_class *movement)
{
    const fm_grid *truth = knowledge->truth;
    fm_class_map *map;
    bool weighted = knowledge->view.weights != NULL;
    if (fm_class_map_create(movement, truth->width, truth->height, weighted,
                            knowledge->view.connectivity, knowledge->steps, knowledge->memory,
                            &map) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    bool has_weights = knowledge->weights != NULL || knowledge->layer.added != NULL;
    if (has_weights && fm_class_map_prepare_for_weights(map) != FM_OK) {
        fm_class_map_destroy(map);
        return FM_ERR_NO_MEMORY;
    }
    knowledge->classes[class_index] = map;
    knowledge->has_class_maps = true;
    return FM_OK;
}

static void fill_row(const fm_knowledge *knowledge, fm_class_map *map, uint32_t y)
{
    for (uint32_t x = 0; x < knowledge->truth->width; x++) {
        fm_learned look = fm_knowledge_look_up(knowledge, fm_cell_at(x, y));
        fm_class_map_set(
            map, look.cell,
            class_weight(knowledge, map->movement, look.cell, (fm_terrain)look.terrain, look.cost));
    }
}

fm_status fm_knowledge_prepare_class(fm_knowledge *knowledge, uint32_t class_index,
                                     const fm_movement_class *movement, uint32_t rows_max)
{
    FM_ASSERT(class_index < FM_CLASSES_MAX);
    if (knowledge->classes_ready >> class_index & 1) {
        return FM_OK;
    }
    if (!fm_movement_class_is_ground(movement)) {
        if (knowledge->classes[class_index] == NULL &&
            begin_class(knowledge, class_index, movement) != FM_OK) {
            return FM_ERR_NO_MEMORY;
        }
        fm_class_map *map = knowledge->classes[class_index];
        uint32_t left = map->view.height - map->filled;
        for (uint32_t rows = left < rows_max ? left : rows_max; rows > 0; rows--) {
            fill_row(knowledge, map, map->filled++);
        }
        if (map->filled < map->view.height) {
            return FM_OK;
        }
        map->log_wanted = true;
    }
    knowledge->classes_ready |= 1u << class_index;
    return FM_OK;
}

fm_status fm_knowledge_prepare_tiles(fm_knowledge *knowledge, uint32_t class_index)
{
    FM_ASSERT(class_index < FM_CLASSES_MAX && knowledge->classes_ready >> class_index & 1);
    if (knowledge->classes[class_index] != NULL) {
        return fm_class_map_prepare_tiles(knowledge->classes[class_index]);
    }
    if (knowledge->view.tiles == NULL &&
        fm_tile_map_init(&knowledge->tiles, &knowledge->view, knowledge->memory) != FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    knowledge->view.tiles = &knowledge->tiles;
    return FM_OK;
}

static const fm_class_map *class_map_of(const fm_knowledge *knowledge, uint32_t class_index)
{
    return knowledge->has_class_maps ? knowledge->classes[class_index] : NULL;
}

const fm_view *fm_knowledge_view(const fm_knowledge *knowledge, uint32_t class_index)
{
    FM_ASSERT(class_index < FM_CLASSES_MAX);
    if (!(knowledge->classes_ready >> class_index & 1)) {
        return NULL;
    }
    const fm_class_map *map = class_map_of(knowledge, class_index);
    return map == NULL ? &knowledge->view : &map->view;
}

void fm_knowledge_hang_tables(fm_knowledge *knowledge, uint32_t class_index,
                              const struct fm_heuristic_tables *tables)
{
    FM_ASSERT(class_index < FM_CLASSES_MAX && knowledge->classes_ready >> class_index & 1);
    fm_class_map *map = knowledge->classes[class_index];
    (map == NULL ? &knowledge->view : &map->view)->tables = tables;
}

const fm_change_log *fm_knowledge_log(const fm_knowledge *knowledge, uint32_t class_index)
{
    FM_ASSERT(class_index < FM_CLASSES_MAX && knowledge->classes_ready >> class_index & 1);
    const fm_class_map *map = class_map_of(knowledge, class_index);
    return map == NULL ? &knowledge->log : &map->log;
}

static void for_all_logs(fm_knowledge *knowledge, void (*fn)(fm_change_log *log))
{
    fn(&knowledge->log);
    for (uint32_t i = 0; knowledge->has_class_maps && i < FM_CLASSES_MAX; i++) {
        if (knowledge->classes[i] != NULL) {
            fn(&knowledge->classes[i]->log);
        }
    }
}

void fm_knowledge_trim_logs(fm_knowledge *knowledge)
{
    for_all_logs(knowledge, fm_change_log_trim);
}

void fm_knowledge_settle_logs(fm_knowledge *knowledge)
{
    for_all_logs(knowledge, fm_change_log_settle);
}

bool fm_knowledge_stamp_logs(fm_knowledge *knowledge)
{
    fm_change_log_stamp(&knowledge->log);
    bool cheaper = fm_change_log_has_cheaper(&knowledge->log);
    for (uint32_t i = 0; knowledge->has_class_maps && i < FM_CLASSES_MAX; i++) {
        if (knowledge->classes[i] != NULL) {
            fm_change_log_stamp(&knowledge->classes[i]->log);
            cheaper |= fm_change_log_has_cheaper(&knowledge->classes[i]->log);
        }
    }
    return cheaper;
}

size_t fm_knowledge_bytes(const fm_knowledge *knowledge)
{
    size_t cell_count = (size_t)knowledge->truth->width * knowledge->truth->height;
    size_t classes = 0;
    for (uint32_t i = 0; i < FM_CLASSES_MAX; i++) {
        classes += knowledge->classes[i] == NULL ? 0 : fm_class_map_bytes(knowledge->classes[i]);
    }
    return sizeof *knowledge + classes + knowledge->known.size + knowledge->blocked.size +
           knowledge->blocked_transposed.size + fm_stale_bytes(&knowledge->stale) +
           knowledge->sensed_from.size + (knowledge->weights != NULL ? cell_count : 0) +
           fm_cost_layer_bytes(&knowledge->layer) + fm_change_log_bytes(&knowledge->log) +
           fm_tile_map_bytes(&knowledge->tiles) +
           fm_buildings_seen_bytes(&knowledge->buildings_seen) +
           knowledge->learned_capacity * sizeof *knowledge->learned;
}
