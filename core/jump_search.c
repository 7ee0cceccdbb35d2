// core/jump_search.c: jump-point search on bitmaps, with intermediate points left out.
//
// Scanning      A straight jump stops at the first cell beside which a wall has just ended (a turn
//               is forced there, because no diagonal could have been made earlier), or at a wall.
//               In the rows of the bitmap both are simple patterns: `row & ~(row << 1)` shifted by
//               one, for the row on either side, and the row itself. So three words and a count of
//               trailing zeros see 56 cells at a time. Columns are rows of the transposed copy.
// Diagonals     A diagonal jump looks along its row and its column after every step. What it finds
//               there goes on the open list directly; the point in between, where the path bends,
//               is no node at all. Long diagonals are cut into pieces of DIAGONAL_MAX steps, which
//               bounds the work of one expansion and leaves pieces that lead away unexplored.
// Nodes         A jump point keeps its best g and the set of directions it was reached from at that
//               g: where two shortest paths meet, each allows other turns, and both count.
// Goal          Never on the open list. `best` is the cost of the best path found so far; nothing
//               that could not be cheaper is remembered, and the search ends when the smallest f
//               is no longer below it.
//
// Without corner cutting there is no forced turn at a diagonal, and straight forced turns come one
// cell later than in the usual drawings: when the agent is beside the free cell, not before it.
//
// Sources: D. Harabor, A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps", AAAI 2011;
// "Improving Jump Point Search", ICAPS 2014 (block scanning, intermediate pruning); N. Sturtevant,
// S. Rabin, "Canonical Orderings on Grids", IJCAI 2016.

#include "core/jump_search.h"

#define DIAGONAL_MAX   64u   // steps of one diagonal jump
#define NODES_AT_FIRST 1024u // places in the table when a search begins, a power of two
#define NODES_MAX      (1u << 25)
#define OPEN_AT_FIRST  1024u

// A jump point. 16 bytes, four to a cache line.
struct node {
    uint32_t search; // that reached it; an older one: the place is empty
    uint32_t g;
    uint32_t cell : 24;
    uint32_t arrivals : 8; // directions it was reached from and not expanded for
    uint32_t parent : 24;  // jump point before it; the start's is itself
    uint32_t expanded : 8; // directions it was reached from and expanded for
};

struct fm_jump_search {
    const fm_memory *memory;
    const fm_view *view;
    fm_cell start, goal;
    int32_t goal_x, goal_y;

    struct node *store; // room for tables of NODES_AT_FIRST, twice, four times ... places in a row
    uint32_t store_capacity;
    struct node *nodes; // the table in use: by hash of the cell, open addressing, mask + 1 places
    uint32_t mask;
    uint32_t shift; // of the hash, so that it gives mask + 1 places
    uint32_t node_count;
    uint32_t search; // number of this search

    uint64_t *open; // 4-ary heap of f << 34 | h >> h_shift << 24 | cell
    uint32_t open_count, open_capacity;
    uint32_t h_shift;

    uint32_t best;       // cost of the best path found, or the bound
    fm_cell goal_parent; // jump point before the goal on it; FM_CELL_NONE while there is none
    bool exhausted;
};

_Static_assert(sizeof(struct node) == 16, "nodes are packed");

// ---- table of nodes -----------------------------------------------------------------------------

FM_INLINE uint32_t place_of(const fm_jump_search *s, fm_cell cell)
{
    return (uint32_t)(cell * 0x9e3779b1u) >> s->shift;
}

// The node of a cell, or the empty place where it belongs.
FM_INLINE struct node *find(const fm_jump_search *s, fm_cell cell)
{
    uint32_t place = place_of(s, cell);
    for (;;) {
        struct node *node = &s->nodes[place];
        if (node->search != s->search || node->cell == cell) {
            return node;
        }
        place = (place + 1) & s->mask;
    }
}

static void use_table(fm_jump_search *s, uint32_t count)
{
    s->nodes = s->store + (count - NODES_AT_FIRST);
    s->mask = count - 1;
    s->shift = (uint32_t)__builtin_clz(count) + 1;
}

// Moves all nodes to a table of twice the size. Every size has a place of its own in the store,
// where older searches have left nothing but old stamps, so a store once large enough is never
// cleared.
static bool grow_table(fm_jump_search *s)
{
    uint32_t count = s->mask + 1;
    if (count * 2 > NODES_MAX) {
        return false;
    }
    const struct node *old = s->nodes;
    struct node *outgrown = NULL;
    uint32_t outgrown_capacity = s->store_capacity;
    if (s->store_capacity < count * 4 - NODES_AT_FIRST) {
        uint32_t capacity = count * 4 - NODES_AT_FIRST;
        struct node *store = fm_memory_allocate_zeroed(s->memory, capacity, sizeof *store);
        if (store == NULL) {
            return false;
        }
        outgrown = s->store;
        s->store = store;
        s->store_capacity = capacity;
    }
    use_table(s, count * 2);
    for (uint32_t i = 0; i < count; i++) {
        if (old[i].search == s->search) {
            *find(s, old[i].cell) = old[i];
        }
    }
    fm_memory_release(s->memory, outgrown, outgrown_capacity * sizeof *outgrown);
    return true;
}

// ---- open list ----------------------------------------------------------------------------------

static bool grow_open(fm_jump_search *s)
{
    uint32_t capacity = s->open_capacity * 2;
    uint64_t *open = fm_memory_resize(s->memory, s->open, s->open_capacity, capacity, sizeof *open);
    if (open == NULL) {
        return false;
    }
    s->open = open;
    s->open_capacity = capacity;
    return true;
}

FM_INLINE void push(fm_jump_search *s, uint64_t key)
{
    if (__builtin_expect(s->open_count == s->open_capacity, 0) && !grow_open(s)) {
        s->exhausted = true;
        return;
    }
    uint32_t at = s->open_count++;
    while (at > 0) {
        uint32_t above = (at - 1) / 4;
        if (s->open[above] <= key) {
            break;
        }
        s->open[at] = s->open[above];
        at = above;
    }
    s->open[at] = key;
}

static void pop(fm_jump_search *s)
{
    uint64_t *open = s->open;
    uint32_t count = --s->open_count;
    uint64_t last = open[count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 4 * at + 1;
        if (child >= count) {
            break;
        }
        uint32_t end = child + 4 < count ? child + 4 : count;
        uint32_t least = child;
        for (uint32_t i = child + 1; i < end; i++) {
            least = open[i] < open[least] ? i : least;
        }
        if (open[least] >= last) {
            break;
        }
        open[at] = open[least];
        at = least;
    }
    open[at] = last;
}

// ---- generating ---------------------------------------------------------------------------------

// A way of cost g to `cell`, arriving in direction d.
static void reach(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t d, fm_cell parent)
{
    uint32_t h = fm_view_distance(s->view, cell, s->goal);
    if (g + h >= s->best) {
        return;
    }
    struct node *node = find(s, cell);
    uint8_t arrival = (uint8_t)(1u << d);
    if (node->search != s->search) {
        *node = (struct node){
            .search = s->search, .g = g, .cell = cell, .arrivals = arrival, .parent = parent};
        s->node_count += 1;
        if (__builtin_expect(s->node_count * 2 > s->mask, 0) && !grow_table(s)) {
            s->exhausted = true;
        }
    } else if (g < node->g) {
        node->g = g;
        node->parent = parent;
        node->arrivals = arrival;
        node->expanded = 0;
    } else if (g == node->g) {
        bool queued = node->arrivals != 0;
        node->arrivals |= arrival & ~node->expanded;
        if (queued || node->arrivals == 0) {
            return;
        }
    } else {
        return;
    }
    push(s, (uint64_t)(g + h) << 34 | (uint64_t)(h >> s->h_shift) << 24 | cell);
}

static void reach_goal(fm_jump_search *s, uint32_t g, fm_cell parent)
{
    if (g < s->best) {
        s->best = g;
        s->goal_parent = parent;
    }
}

// ---- scanning -----------------------------------------------------------------------------------

struct stop {
    int32_t at; // first cell of interest; -1 is the margin
    bool wall;  // it is blocked; else a turn is forced there
};

FM_INLINE uint64_t load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// Toward higher x. A load begins at the byte of the current cell, so it sees 56 cells beyond it;
// the margin stops every scan.
FM_INLINE struct stop scan_up(const fm_bitmap *blocked, int32_t line, int32_t at)
{
    size_t pitch = (size_t)blocked->pitch * sizeof(uint64_t);
    const uint8_t *row = (const uint8_t *)fm_bitmap_row(blocked, line) + (at >> 3);
    uint32_t seen = ((uint32_t)at & 7) + 1; // bits up to the current cell
    for (;;) {
        uint64_t before = load(row - pitch), here = load(row), after = load(row + pitch);
        uint64_t stops = here | (before << 1 & ~before) | (after << 1 & ~after);
        stops >>= seen;
        if (stops != 0) {
            int32_t n = __builtin_ctzll(stops);
            return (struct stop){.at = at + 1 + n, .wall = here >> seen >> n & 1};
        }
        at += 56;
        row += 7;
    }
}

// Toward lower x. A load ends with the byte of the current cell.
FM_INLINE struct stop scan_down(const fm_bitmap *blocked, int32_t line, int32_t at)
{
    size_t pitch = (size_t)blocked->pitch * sizeof(uint64_t);
    const uint8_t *row = (const uint8_t *)fm_bitmap_row(blocked, line) + (at >> 3) - 7;
    uint32_t seen = 8 - ((uint32_t)at & 7);
    for (;;) {
        uint64_t before = load(row - pitch), here = load(row), after = load(row + pitch);
        uint64_t stops = here | (before >> 1 & ~before) | (after >> 1 & ~after);
        stops <<= seen;
        if (stops != 0) {
            int32_t n = __builtin_clzll(stops);
            return (struct stop){.at = at - 1 - n, .wall = here << seen << n >> 63};
        }
        at -= 56;
        row -= 7;
    }
}

// ---- jumping ------------------------------------------------------------------------------------

// From (x, y), reached at cost g, in straight direction d.
FM_INLINE void jump_straight(fm_jump_search *s, uint32_t x, uint32_t y, uint32_t g, uint32_t d,
                             fm_cell parent)
{
    bool vertical = d == FM_NORTH || d == FM_SOUTH;
    bool up = d == FM_EAST || d == FM_SOUTH;
    int32_t line = (int32_t)(vertical ? x : y), at = (int32_t)(vertical ? y : x);
    const fm_bitmap *blocked = vertical ? s->view->blocked_transposed : s->view->blocked;
    struct stop stop = up ? scan_up(blocked, line, at) : scan_down(blocked, line, at);

    if (__builtin_expect(line == (vertical ? s->goal_x : s->goal_y), 0)) {
        int32_t goal = vertical ? s->goal_y : s->goal_x;
        bool passed = up ? goal > at && goal < stop.at + !stop.wall
                         : goal < at && goal > stop.at - !stop.wall;
        if (passed) {
            reach_goal(s, g + s->view->step[0] * (uint32_t)(up ? goal - at : at - goal), parent);
            return;
        }
    }
    if (!stop.wall) {
        uint32_t steps = (uint32_t)(up ? stop.at - at : at - stop.at);
        fm_cell cell =
            vertical ? fm_cell_at(x, (uint32_t)stop.at) : fm_cell_at((uint32_t)stop.at, y);
        reach(s, cell, g + s->view->step[0] * steps, d, parent);
    }
}

// Bits of fm_bitmap_window() that must be free for a diagonal step.
FM_INLINE uint32_t corner_mask(uint32_t d)
{
    bool east = d == FM_NORTH_EAST || d == FM_SOUTH_EAST;
    bool south = d == FM_SOUTH_EAST || d == FM_SOUTH_WEST;
    uint32_t beside_x = east ? 5 : 3, beside_y = south ? 7 : 1;
    return 1u << beside_x | 1u << beside_y | 1u << (beside_x + beside_y - 4);
}

FM_INLINE void jump_diagonal(fm_jump_search *s, uint32_t x, uint32_t y, uint32_t g, uint32_t d,
                             fm_cell parent)
{
    for (uint32_t steps = 0; steps < DIAGONAL_MAX; steps++) {
        if (fm_bitmap_window(s->view->blocked, fm_cell_at(x, y)) & corner_mask(d)) {
            return;
        }
        x += d == FM_NORTH_EAST || d == FM_SOUTH_EAST ? 1u : UINT32_MAX;
        y += d == FM_SOUTH_EAST || d == FM_SOUTH_WEST ? 1u : UINT32_MAX;
        g += s->view->step[1];
        if (__builtin_expect(fm_cell_at(x, y) == s->goal, 0)) {
            reach_goal(s, g, parent);
            return;
        }
        jump_straight(s, x, y, g, (d - 1) & 7, parent);
        jump_straight(s, x, y, g, (d + 1) & 7, parent);
    }
    reach(s, fm_cell_at(x, y), g, d, parent);
}

// Directions in which a path that arrives in direction d may leave, as a set of bits. `around` has
// bit i set where the neighbour in direction i is blocked.
static uint32_t leaving(uint32_t around, uint32_t d)
{
    if (d & 1) {
        return 1u << d; // a piece of a diagonal; its row and column have been looked at
    }
    // Turned so that the path arrives going north.
    uint32_t turned = (around >> d | around << (8 - d)) & 0xff;
    uint32_t set = 1u << FM_NORTH;
    if ((turned >> FM_SOUTH_EAST & 1) && !(turned >> FM_EAST & 1)) {
        set |= 1u << FM_EAST | 1u << FM_NORTH_EAST;
    }
    if ((turned >> FM_SOUTH_WEST & 1) && !(turned >> FM_WEST & 1)) {
        set |= 1u << FM_WEST | 1u << FM_NORTH_WEST;
    }
    return (set << d | set >> (8 - d)) & 0xff;
}

static uint32_t leaving_any(uint32_t around, uint32_t arrivals)
{
    uint32_t set = 0;
    for (; arrivals != 0; arrivals &= arrivals - 1) {
        set |= leaving(around, (uint32_t)__builtin_ctz(arrivals));
    }
    return set;
}

static uint32_t blocked_around(const fm_view *view, fm_cell cell)
{
    static const uint8_t bits[FM_DIRECTION_COUNT] = {1, 2, 5, 8, 7, 6, 3, 0};
    uint32_t window = fm_bitmap_window(view->blocked, cell), around = 0;
    for (uint32_t d = 0; d < FM_DIRECTION_COUNT; d++) {
        around |= (window >> bits[d] & 1) << d;
    }
    return around;
}

static void expand(fm_jump_search *s, struct node *node)
{
    fm_cell cell = node->cell;
    uint32_t g = node->g, x = fm_cell_x(cell), y = fm_cell_y(cell);
    uint32_t set = 0xff;
    if (cell != s->start) {
        uint32_t around = blocked_around(s->view, cell);
        set = leaving_any(around, node->arrivals) & ~leaving_any(around, node->expanded);
    }
    node->expanded |= node->arrivals;
    node->arrivals = 0;
    for (; set != 0; set &= set - 1) {
        switch ((fm_direction)__builtin_ctz(set)) {
        case FM_NORTH:
            jump_straight(s, x, y, g, FM_NORTH, cell);
            break;
        case FM_NORTH_EAST:
            jump_diagonal(s, x, y, g, FM_NORTH_EAST, cell);
            break;
        case FM_EAST:
            jump_straight(s, x, y, g, FM_EAST, cell);
            break;
        case FM_SOUTH_EAST:
            jump_diagonal(s, x, y, g, FM_SOUTH_EAST, cell);
            break;
        case FM_SOUTH:
            jump_straight(s, x, y, g, FM_SOUTH, cell);
            break;
        case FM_SOUTH_WEST:
            jump_diagonal(s, x, y, g, FM_SOUTH_WEST, cell);
            break;
        case FM_WEST:
            jump_straight(s, x, y, g, FM_WEST, cell);
            break;
        case FM_NORTH_WEST:
            jump_diagonal(s, x, y, g, FM_NORTH_WEST, cell);
            break;
        case FM_DIRECTION_COUNT:
            FM_UNREACHABLE();
        }
    }
}

// ---- interface ----------------------------------------------------------------------------------

fm_status fm_jump_search_create(const fm_memory *memory, fm_jump_search **out)
{
    fm_jump_search *s = fm_memory_allocate_zeroed(memory, 1, sizeof *s);
    if (s == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    s->memory = memory;
    s->store_capacity = NODES_AT_FIRST;
    s->open_capacity = OPEN_AT_FIRST;
    s->store = fm_memory_allocate_zeroed(memory, s->store_capacity, sizeof *s->store);
    s->open = fm_memory_allocate(memory, s->open_capacity * sizeof *s->open);
    if (s->store == NULL || s->open == NULL) {
        fm_jump_search_destroy(s);
        return FM_ERR_NO_MEMORY;
    }
    *out = s;
    return FM_OK;
}

void fm_jump_search_destroy(fm_jump_search *search)
{
    if (search == NULL) {
        return;
    }
    const fm_memory *memory = search->memory;
    fm_memory_release(memory, search->store, search->store_capacity * sizeof *search->store);
    fm_memory_release(memory, search->open, search->open_capacity * sizeof *search->open);
    fm_memory_release(memory, search, sizeof *search);
}

void fm_jump_search_begin(fm_jump_search *search, const fm_view *view, fm_cell start, fm_cell goal,
                          uint32_t cost_bound)
{
    fm_jump_search *s = search;
    FM_ASSERT(fm_jump_search_applies(view));
    s->view = view;
    s->start = start;
    s->goal = goal;
    s->goal_x = (int32_t)fm_cell_x(goal);
    s->goal_y = (int32_t)fm_cell_y(goal);
    if (++s->search == 0) { // once in 2^32 searches a stamp would look new
        memset(s->store, 0, s->store_capacity * sizeof *s->store);
        s->search = 1;
    }
    use_table(s, NODES_AT_FIRST);
    s->node_count = 0;
    s->open_count = 0;
    s->best = cost_bound;
    s->goal_parent = FM_CELL_NONE;
    s->exhausted = false;

    // Ten bits of h are left in a key.
    uint32_t h_max = fm_view_distance(view, 0, fm_cell_at(view->width - 1, view->height - 1));
    uint32_t h_bits = h_max == 0 ? 0 : 32 - (uint32_t)__builtin_clz(h_max);
    s->h_shift = h_bits > 10 ? h_bits - 10 : 0;

    if (start == goal) {
        reach_goal(s, 0, start);
    } else if (!fm_view_is_blocked(view, start)) {
        reach(s, start, 0, FM_NORTH, start);
    }
}

fm_jump_state fm_jump_search_advance(fm_jump_search *search, fm_work *work)
{
    fm_jump_search *s = search;
    uint32_t expansions_at_start = work->expansions;
    while (!s->exhausted) {
        if (s->open_count == 0 || s->open[0] >> 34 >= s->best) {
            return s->goal_parent != FM_CELL_NONE ? FM_JUMP_FOUND : FM_JUMP_UNREACHABLE;
        }
        struct node *node = find(s, s->open[0] & 0xffffff);
        if (node->arrivals == 0) { // left over from before its g improved
            pop(s);
            continue;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return FM_JUMP_RUNNING;
        }
        pop(s);
        expand(s, node);
        work->expansions += 1;
    }
    return FM_JUMP_EXHAUSTED;
}

uint32_t fm_jump_search_cost(const fm_jump_search *search)
{
    return search->best;
}

// The points of the path from the goal back to the start: jump points, and the bends between
// them. A jump is a diagonal part first, then a straight one; either may be empty.
static fm_cell point_before(const fm_jump_search *s, fm_cell point, fm_cell *parent)
{
    uint32_t dx = fm_cell_dx(point, *parent), dy = fm_cell_dy(point, *parent);
    if (dx != dy && dx != 0 && dy != 0) {
        uint32_t steps = dx > dy ? dx - dy : dy - dx;
        fm_cell back = dx > dy ? fm_cell_at(fm_cell_x(*parent), fm_cell_y(point))
                               : fm_cell_at(fm_cell_x(point), fm_cell_y(*parent));
        uint32_t d = fm_turn_direction(point, back);
        return point + steps * (uint32_t)(fm_direction_dy[d] * 4096 + fm_direction_dx[d]);
    }
    fm_cell before = *parent;
    *parent = find(s, before)->parent;
    return before;
}

uint32_t fm_jump_search_turns(const fm_jump_search *search, fm_cell *cells, uint32_t capacity)
{
    FM_ASSERT(search->goal_parent != FM_CELL_NONE);
    uint32_t count = 0;
    // The path is known from its end: once to count, once to fill in.
    for (uint32_t total = 0, pass = 0; pass < 2; pass++, total = count) {
        fm_cell point = search->goal, parent = search->goal_parent;
        uint32_t last = FM_DIRECTION_COUNT;
        count = 0;
        for (;;) {
            fm_cell before = point == search->start ? point : point_before(search, point, &parent);
            uint32_t d = point == before ? FM_DIRECTION_COUNT : fm_turn_direction(before, point);
            if (count == 0 || d != last) {
                if (pass == 1 && total - 1 - count < capacity) {
                    cells[total - 1 - count] = point;
                }
                count += 1;
            }
            if (point == before) {
                break;
            }
            last = d;
            point = before;
        }
    }
    return count;
}

void fm_jump_search_inspect(const fm_jump_search *search, fm_inspect_fn *visit, void *context)
{
    for (uint32_t i = 0; i <= search->mask; i++) {
        const struct node *node = &search->nodes[i];
        if (node->search != search->search) {
            continue;
        }
        uint32_t h = fm_view_distance(search->view, node->cell, search->goal);
        fm_inspection cell = {
            .cell = node->cell,
            .open = node->arrivals != 0,
            .closed = node->arrivals == 0,
            .g = node->g,
            .h = h,
            .rhs = FM_COST_INFINITE,
            .key = node->g + h,
            .parent = node->cell == search->start ? FM_CELL_NONE : node->parent,
        };
        visit(&cell, context);
    }
}

size_t fm_jump_search_bytes(const fm_jump_search *search)
{
    return sizeof *search + search->store_capacity * sizeof *search->store +
           search->open_capacity * sizeof *search->open;
}
