// core/orders/retreat.c: see retreat.h.

#include "core/orders/retreat.h"

#define CLEARANCE_MIN 2u // cells from dangers that are passed

struct search {
    const fm_retreat *retreat;
    const fm_memory *memory;
    fm_cell from;
    uint32_t threat_used; // cells
    // By place in the queue of the unit's wave.
    uint16_t parents[FM_RETREAT_CELLS]; // from which the wave came
    bool covered[FM_RETREAT_CELLS];
    // The best cell so far.
    fm_cell best;
    bool leads_on;  // it lies at the end of the reach
    uint32_t steps; // of dangers to it; UINT32_MAX: farther than their wave
    int64_t gain;   // how directly it lies away
};

// ---- distances ----------------------------------------------------------------------------------

uint32_t fm_retreat_distance(const fm_retreat *retreat, fm_cell cell)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < retreat->danger_count; i++) {
        uint32_t distance = fm_view_distance(retreat->view, retreat->dangers[i], cell);
        least = distance < least ? distance : least;
    }
    return least;
}

// Steps that the nearest danger takes at least.
static uint32_t steps_at_least(const fm_retreat *retreat, fm_cell cell)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < retreat->danger_count; i++) {
        uint32_t dx = fm_cell_dx(retreat->dangers[i], cell);
        uint32_t dy = fm_cell_dy(retreat->dangers[i], cell);
        uint32_t longer = dx > dy ? dx : dy;
        uint32_t steps = retreat->view->connectivity == FM_CONNECT_4 ? dx + dy : longer;
        least = steps < least ? steps : least;
    }
    return least;
}

// ---- waves --------------------------------------------------------------------------------------

static bool has_next_ring(const fm_wave *wave)
{
    return wave->head == wave->ring_end && wave->head < wave->tail;
}

static uint32_t next_depth(const fm_wave *wave)
{
    return wave->depth + (wave->head == wave->ring_end);
}

// Steps of the wave of the dangers to the cell taken; FM_CELL_NONE when it is over.
static fm_cell take_threat(struct search *search)
{
    fm_wave *threat = search->retreat->threat;
    if (search->threat_used == search->retreat->cells_max) {
        return FM_CELL_NONE;
    }
    fm_cell cell = fm_wave_take(threat);
    if (cell != FM_CELL_NONE) {
        search->threat_used += 1;
        fm_wave_spread(threat, cell, search->memory);
    }
    return cell;
}

// Lets the dangers' wave reach all cells that are `depth` steps away.
static void advance_threat(struct search *search, uint32_t depth)
{
    const fm_wave *threat = search->retreat->threat;
    while (threat->head < threat->tail && next_depth(threat) < depth &&
           take_threat(search) != FM_CELL_NONE) {
    }
}

// Whether the unit is at a cell, `depth` steps away, before any danger can be.
static bool is_covered(const struct search *search, fm_cell cell, uint32_t depth)
{
    bool is_cut = search->threat_used == search->retreat->cells_max;
    return !fm_bitmap_get(&search->retreat->threat->reached, cell) &&
           (!is_cut || steps_at_least(search->retreat, cell) > depth);
}

// Lets the unit's wave continue from the cell taken last.
static void spread(struct search *search)
{
    fm_wave *own = search->retreat->own;
    uint32_t first = own->tail, at = own->head - 1;
    fm_wave_spread(own, own->queue[at], search->memory);
    for (uint32_t i = first; i < own->tail && i < FM_RETREAT_CELLS; i++) {
        search->parents[i] = (uint16_t)at;
    }
}

// Afterwards the wave's cells, but for those not covered, are the unit's cover, and only these are
// marked as reached. Returns where those of the last ring begin, or the end of the queue where the
// cover is closed.
static uint32_t find_cover(struct search *search, uint32_t *used)
{
    fm_wave *own = search->retreat->own;
    uint32_t ring = 0;
    while (own->head < own->tail) {
        if (own->head == 0 || has_next_ring(own)) {
            if (own->tail > search->retreat->cells_max) {
                break;
            }
            ring = own->head;
            advance_threat(search, next_depth(own));
        }
        fm_cell cell = fm_wave_take(own);
        bool covered = cell == search->from || is_covered(search, cell, own->depth);
        search->covered[own->head - 1] = covered;
        if (covered) {
            spread(search);
        }
    }
    *used += own->head;
    bool is_closed = own->head == own->tail;
    for (uint32_t i = 0; i < own->tail; i++) {
        if (i >= own->head || !search->covered[i]) {
            fm_bitmap_reset(&own->reached, own->queue[i]);
        }
    }
    own->tail = own->head;
    return is_closed ? own->tail : ring;
}

// ---- the best cell ------------------------------------------------------------------------------

static void consider(struct search *search, fm_cell cell, bool leads_on, uint32_t steps)
{
    const fm_retreat *retreat = search->retreat;
    int64_t gain = (int64_t)fm_retreat_distance(retreat, cell) -
                   fm_view_distance(retreat->view, search->from, cell);
    bool is_better = search->best == FM_CELL_NONE || (leads_on && !search->leads_on);
    if (!is_better && leads_on == search->leads_on) {
        is_better = steps > search->steps || (steps == search->steps && gain > search->gain);
    }
    if (is_better) {
        search->best = cell;
        search->leads_on = leads_on;
        search->steps = steps;
        search->gain = gain;
    }
}

static bool is_in(const fm_wave *wave, fm_cell cell)
{
    return fm_bitmap_get(&wave->reached, cell);
}

// Of the cover; a cell that dangers reach counts when their wave takes it.
static void choose(struct search *search, uint32_t last_ring)
{
    const fm_wave *own = search->retreat->own, *threat = search->retreat->threat;
    bool is_closed = last_ring == own->tail;
    if (is_closed) {
        for (;;) {
            fm_cell cell = take_threat(search);
            if (cell == FM_CELL_NONE) {
                break;
            }
            if (is_in(own, cell)) {
                consider(search, cell, false, threat->depth);
            }
        }
    }
    for (uint32_t i = is_closed ? 0 : last_ring; i < own->tail; i++) {
        if (search->covered[i] && (!is_closed || !is_in(threat, own->queue[i]))) {
            consider(search, own->queue[i], !is_closed, UINT32_MAX);
        }
    }
}

// Whether some cell of the cover is far enough.
static bool has_far(const struct search *search)
{
    const fm_wave *own = search->retreat->own;
    for (uint32_t i = 0; i < own->tail; i++) {
        if (search->covered[i] &&
            fm_retreat_distance(search->retreat, own->queue[i]) >= search->retreat->enough) {
            return true;
        }
    }
    return false;
}

// ---- the first part of the way ------------------------------------------------------------------

static uint32_t place_of(const fm_wave *wave, fm_cell cell)
{
    uint32_t i = 0;
    while (wave->queue[i] != cell) {
        i += 1;
    }
    return i;
}

// The unit's own search for a path may take a shorter way, out of its cover. There is only one
// shortest path along a straight line, so it goes by one straight part of the way after the other.
static fm_cell first_turn(const struct search *search, fm_cell to)
{
    const fm_wave *own = search->retreat->own;
    fm_cell turn = to;
    uint32_t at = place_of(own, to), after = FM_DIRECTION_COUNT;
    while (at != 0) {
        uint32_t before = search->parents[at];
        uint32_t d = fm_cell_direction(own->queue[before], own->queue[at]);
        turn = d == after ? turn : own->queue[at];
        after = d;
        at = before;
    }
    return turn;
}

// ---- past dangers that stay ---------------------------------------------------------------------

// Returns the first cell of the way to one that is far enough, or FM_CELL_NONE.
static fm_cell pass_by(struct search *search, uint32_t *used)
{
    const fm_retreat *retreat = search->retreat;
    uint32_t here = fm_retreat_distance(retreat, search->from);
    uint32_t least = CLEARANCE_MIN * retreat->view->step[0];
    least = here / 2 > least ? here / 2 : least;
    if (fm_wave_begin(retreat->own, retreat->view, search->from, search->memory) != FM_OK) {
        return FM_CELL_NONE;
    }
    for (uint32_t i = 0; i < retreat->cells_max; i++) {
        fm_cell cell = fm_wave_take(retreat->own);
        if (cell == FM_CELL_NONE) {
            break;
        }
        *used += 1;
        uint32_t distance = fm_retreat_distance(retreat, cell);
        if (cell != search->from && distance < least) {
            continue;
        }
        if (distance >= retreat->enough) {
            return first_turn(search, cell);
        }
        spread(search);
    }
    return FM_CELL_NONE;
}

// ---- the search ---------------------------------------------------------------------------------

static fm_status begin(const struct search *search)
{
    const fm_retreat *retreat = search->retreat;
    if (fm_wave_begin(retreat->own, retreat->view, search->from, search->memory) != FM_OK ||
        fm_wave_begin(retreat->threat, retreat->view, retreat->dangers[0], search->memory) !=
            FM_OK) {
        return FM_ERR_NO_MEMORY;
    }
    for (uint32_t i = 1; i < retreat->danger_count; i++) {
        fm_wave_begin_also(retreat->threat, retreat->dangers[i], search->memory);
    }
    return FM_OK;
}

fm_status fm_retreat_search(const fm_retreat *retreat, fm_cell from, uint32_t *cells_used,
                            fm_cell *found, const fm_memory *memory)
{
    FM_ASSERT(retreat->danger_count > 0 && retreat->cells_max <= FM_RETREAT_CELLS);
    struct search search = {
        .retreat = retreat, .memory = memory, .from = from, .best = FM_CELL_NONE};
    fm_status status = begin(&search);
    if (status != FM_OK) {
        return status;
    }
    choose(&search, find_cover(&search, cells_used));
    *cells_used += search.threat_used;
    *found = search.best == FM_CELL_NONE || search.best == from ? FM_CELL_NONE
                                                                : first_turn(&search, search.best);
    if (!search.leads_on && !has_far(&search)) {
        fm_cell past = pass_by(&search, cells_used);
        *found = past == FM_CELL_NONE ? *found : past;
    }
    bool exhausted = retreat->own->exhausted || retreat->threat->exhausted;
    return exhausted ? FM_ERR_NO_MEMORY : FM_OK;
}
