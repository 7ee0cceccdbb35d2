// core/search/heuristic.c: see heuristic.h. Whole numbers only: the square root of the Euclidean
// distance is taken bit by bit.

#include "core/search/heuristic.h"

#include <string.h>

static const char *const names[] = {
#define X(enumerator, name) name,
    FM_HEURISTIC_LIST(X)
#undef X
};

const char *fm_heuristic_name(fm_heuristic_kind kind)
{
    return names[kind];
}

bool fm_heuristic_by_name(const char *name, fm_heuristic_kind *kind)
{
    for (uint32_t i = 0; i < FM_COUNT_OF(names); i++) {
        if (strcmp(names[i], name) == 0) {
            *kind = (fm_heuristic_kind)i;
            return true;
        }
    }
    return false;
}

// Whether a kind is never too high (by new tables) under these rules.
static bool is_admissible(fm_heuristic_kind kind, fm_connectivity connectivity)
{
    return kind != FM_HEURISTIC_MANHATTAN || connectivity == FM_CONNECT_4;
}

bool fm_heuristic_kind_is_consistent(fm_heuristic_kind kind, fm_connectivity connectivity)
{
    return kind != FM_HEURISTIC_CLUSTER && is_admissible(kind, connectivity);
}

// ---- distances ----------------------------------------------------------------------------------

static uint32_t root_of(uint64_t square)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= square) {
            root += bit;
        }
    }
    return (uint32_t)root;
}

// A diagonal step of 14 is shorter than ten times the square root of 2, so the unit of length is
// what makes both kinds of step long enough.
static uint32_t euclidean(const fm_view *view, uint32_t dx, uint32_t dy)
{
    uint64_t straight = view->step[0], diagonal = view->step[1];
    uint64_t twice_unit_squared = 2 * straight * straight;
    if (view->connectivity != FM_CONNECT_4 && diagonal * diagonal < twice_unit_squared) {
        twice_unit_squared = diagonal * diagonal;
    }
    return root_of(twice_unit_squared * ((uint64_t)dx * dx + (uint64_t)dy * dy) / 2);
}

// ---- tables -------------------------------------------------------------------------------------

static size_t index_of(const fm_view *view, fm_cell cell)
{
    return (size_t)fm_cell_y(cell) * view->width + fm_cell_x(cell);
}

static uint32_t cluster_of(const fm_cluster_table *clusters, fm_cell cell)
{
    return fm_cell_y(cell) / clusters->side * clusters->columns + fm_cell_x(cell) / clusters->side;
}

static uint32_t by_clusters(const fm_heuristic *heuristic, fm_cell cell)
{
    const fm_cluster_table *clusters = &heuristic->view->tables->clusters;
    uint32_t from = cluster_of(clusters, cell), to = cluster_of(clusters, heuristic->target);
    uint32_t cost = clusters->costs[from * clusters->count + to];
    return cost < FM_COST_INFINITE ? cost : 0;
}

// Where either cost is unknown a landmark gives no bound.
static uint32_t by_landmarks(const fm_heuristic *heuristic, fm_cell cell)
{
    const fm_landmark_table *landmarks = &heuristic->view->tables->landmarks;
    size_t index = index_of(heuristic->view, cell);
    uint32_t best = 0;
    for (uint32_t i = 0; i < landmarks->count; i++) {
        uint32_t there = heuristic->target_costs[i], here = landmarks->costs[i][index];
        uint32_t difference = there > here ? there - here : here - there;
        if (there < FM_COST_INFINITE && here < FM_COST_INFINITE && difference > best) {
            best = difference;
        }
    }
    return best;
}

static uint32_t generation_of(const fm_view *view, fm_heuristic_kind kind)
{
    const fm_heuristic_tables *tables = view->tables;
    if (tables == NULL) {
        return 0;
    }
    return kind == FM_HEURISTIC_LANDMARKS ? tables->landmarks.generation
           : kind == FM_HEURISTIC_CLUSTER ? tables->clusters.generation
                                          : 0;
}

// Whether there is a table, and it is never too high.
static bool has_table(const fm_view *view, fm_heuristic_kind kind, bool *stale)
{
    const fm_heuristic_tables *tables = view->tables;
    *stale = false;
    if (tables == NULL) {
        return false;
    }
    if (kind == FM_HEURISTIC_LANDMARKS) {
        *stale = tables->landmarks.stale;
        return tables->landmarks.count > 0;
    }
    *stale = tables->clusters.stale;
    return tables->clusters.costs != NULL;
}

static bool reads_table(fm_heuristic_kind kind)
{
    return kind == FM_HEURISTIC_LANDMARKS || kind == FM_HEURISTIC_CLUSTER;
}

// ---- interface ----------------------------------------------------------------------------------

fm_heuristic fm_heuristic_towards(const fm_view *view, fm_heuristic_kind kind, fm_cell target,
                                  bool must_be_consistent)
{
    fm_heuristic heuristic = {
        .view = view, .target = target, .wanted = kind, .generation = generation_of(view, kind)};
    bool stale = false;
    bool usable = !reads_table(kind) || has_table(view, kind, &stale);
    if (stale) {
        usable = usable && view->tables->allow_stale && !must_be_consistent;
    }
    if (must_be_consistent) {
        usable = usable && fm_heuristic_kind_is_consistent(kind, view->connectivity);
    }
    heuristic.kind = usable ? kind : FM_HEURISTIC_DEFAULT;
    stale = stale && usable;
    heuristic.consistent =
        !stale && fm_heuristic_kind_is_consistent(heuristic.kind, view->connectivity);
    heuristic.admissible = !stale && is_admissible(heuristic.kind, view->connectivity);
    // Each root is rounded down by itself; and a landmark may know only two of three cells.
    heuristic.metric = heuristic.kind != FM_HEURISTIC_EUCLIDEAN && !reads_table(heuristic.kind);
    if (heuristic.kind == FM_HEURISTIC_LANDMARKS) {
        const fm_landmark_table *landmarks = &view->tables->landmarks;
        for (uint32_t i = 0; i < landmarks->count; i++) {
            heuristic.target_costs[i] = landmarks->costs[i][index_of(view, target)];
        }
    }
    return heuristic;
}

bool fm_heuristic_is_current(const fm_heuristic *heuristic)
{
    return !reads_table(heuristic->wanted) ||
           generation_of(heuristic->view, heuristic->wanted) == heuristic->generation;
}

uint32_t fm_heuristic_look_up(const fm_heuristic *heuristic, fm_cell cell)
{
    const fm_view *view = heuristic->view;
    uint32_t dx = fm_cell_dx(cell, heuristic->target), dy = fm_cell_dy(cell, heuristic->target);
    uint32_t low = dx < dy ? dx : dy, high = dx < dy ? dy : dx;
    uint32_t distance = fm_view_distance(view, cell, heuristic->target), looked_up = 0;
    switch (heuristic->kind) {
    case FM_HEURISTIC_DEFAULT:
        return distance;
    case FM_HEURISTIC_ZERO:
        return 0;
    case FM_HEURISTIC_MANHATTAN:
        return view->step[0] * (dx + dy);
    case FM_HEURISTIC_OCTILE:
        return view->step[0] * (high - low) + view->step[1] * low;
    case FM_HEURISTIC_CHEBYSHEV:
        return view->step[0] * high;
    case FM_HEURISTIC_EUCLIDEAN:
        return euclidean(view, dx, dy);
    case FM_HEURISTIC_CLUSTER:
    case FM_HEURISTIC_LANDMARKS:
        if (fm_heuristic_is_current(heuristic)) {
            looked_up = heuristic->kind == FM_HEURISTIC_CLUSTER ? by_clusters(heuristic, cell)
                                                                : by_landmarks(heuristic, cell);
        }
        return looked_up > distance ? looked_up : distance;
    }
    FM_UNREACHABLE();
}
