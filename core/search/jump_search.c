// core/search/jump_search.c: jump-point search on bitmaps, with intermediate points left out.
//
// Scanning      A straight jump stops at the first cell beside which a wall has just ended (a turn
//               is forced there, because no diagonal could have been made earlier), or at a wall.
//               In the bitmap both are simple patterns: `row << 1 & ~row` of the rows on either
//               side, and the row itself. So three words and a count of trailing zeros see 56 cells
//               at a time. Columns are rows of the transposed copy.
// Diagonals     A diagonal jump looks along its row and its column after every step. What it finds
//               there goes on the open list directly; the point in between, where the path bends,
//               is no node at all. A diagonal's lines follow each other, so one word is loaded
//               for each new line and serves three scans (a sweep).
// Pieces        Long diagonals are cut into pieces of DIAGONAL_MAX steps, which bounds the work of
//               one expansion. The start looks in all directions, most of them wrong: there a piece
//               that leads away from the goal ends with its first sweep. In missions through fog,
//               where most searches end after a few expansions, that saves an eighth of the time.
// Nodes         A jump point keeps its best g and the set of directions it was reached from at that
//               g: where two shortest paths meet, each allows other turns, and both count.
// Goal          Never on the open list. `best` is the cost of the best path found so far; nothing
//               that cannot be cheaper is remembered, and the search ends when the smallest f
//               is no longer below it.
//
// Without corner cutting there is no forced turn at a diagonal, and straight forced turns come one
// cell later than in the usual drawings: when the agent is beside the free cell, not before it.
//
// Sources: D. Harabor, A. Grastien, "Online Graph Pruning for Pathfinding on Grid Maps", AAAI 2011;
// "Improving Jump Point Search", ICAPS 2014 (block scanning, intermediate pruning); N. Sturtevant,
// S. Rabin, "Canonical Orderings on Grids", IJCAI 2016.

#include "core/search/jump_search.h"

#define DIAGONAL_MAX   32u   // steps of one diagonal jump
#define SWEEP_STEPS    16u   // after which a sweep loads its words again
#define NODES_AT_FIRST 4096u // places in the table when a search begins, a power of two
#define NODES_MAX      (1u << 25)
#define HEAP_AT_FIRST  1024u
#define HEAP_PADDING   4u         // so that four children can always be compared
#define KEY_NONE       UINT64_MAX // larger than any key

// A jump point. 16 bytes, four to a cache line.
struct node {
    uint32_t search; // that reached it; an older one: the place is empty
    uint32_t g;
    uint32_t cell : 24;
    uint32_t arrivals : 8; // directions it was reached from and not expanded for
    uint32_t parent : 24;  // jump point before it; the start's is itself
    uint32_t expanded : 8; // directions it was reached from and expanded for
};

struct lines {
    const uint8_t *first; // line 0
    ptrdiff_t pitch;      // bytes from a line to the next
};

struct fm_jump_search {
    const fm_memory *memory;
    const fm_view *view;
    fm_cell start, goal;
    int32_t goal_x, goal_y;
    struct lines rows, columns; // of the view

    struct node *store; // room for tables of NODES_AT_FIRST, twice, four times ... places in a row
    uint32_t store_capacity;
    struct node *nodes; // the table in use: by hash of the cell, open addressing, mask + 1 places
    uint32_t mask;
    uint32_t shift; // of the hash, so that it gives mask + 1 places
    uint32_t node_count;
    uint32_t search; // number of this search

    // Open list: keys f << 34 | h >> h_shift << 24 | cell in a 4-ary heap, but for one kept before
    // it: what an expansion adds is often expanded next.
    uint64_t first; // KEY_NONE: it is in the heap
    uint64_t *heap; // heap_capacity + HEAP_PADDING places; those that are not in use hold KEY_NONE
    uint32_t heap_count, heap_capacity;
    uint32_t h_shift;

    uint32_t best;       // cost of the best path found, or the bound
    fm_cell goal_parent; // jump point before the goal on it; FM_CELL_NONE while there is none
    uint32_t f_patient;  // a diagonal whose f is larger waits after each sweep
    bool exhausted;

    int32_t left, right, top, bottom; // of the cells that were expanded; none: left > right
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

static uint64_t *allocate_heap(const fm_memory *memory, uint32_t capacity)
{
    uint64_t *heap = fm_memory_allocate(memory, (capacity + HEAP_PADDING) * sizeof *heap);
    if (heap != NULL) {
        memset(heap, 0xff, (capacity + HEAP_PADDING) * sizeof *heap); // KEY_NONE
    }
    return heap;
}

static void release_heap(fm_jump_search *s)
{
    fm_memory_release(s->memory, s->heap, (s->heap_capacity + HEAP_PADDING) * sizeof *s->heap);
}

static bool grow_heap(fm_jump_search *s)
{
    uint64_t *heap = allocate_heap(s->memory, s->heap_capacity * 2);
    if (heap == NULL) {
        return false;
    }
    memcpy(heap, s->heap, s->heap_count * sizeof *heap);
    release_heap(s);
    s->heap = heap;
    s->heap_capacity *= 2;
    return true;
}

FM_INLINE void heap_push(fm_jump_search *s, uint64_t key)
{
    if (__builtin_expect(s->heap_count == s->heap_capacity, 0) && !grow_heap(s)) {
        s->exhausted = true;
        return;
    }
    uint32_t at = s->heap_count++;
    while (at > 0) {
        uint32_t above = (at - 1) / 4;
        if (s->heap[above] <= key) {
            break;
        }
        s->heap[at] = s->heap[above];
        at = above;
    }
    s->heap[at] = key;
}

// Which of two places holds the smaller key, without a branch that nobody could predict.
FM_INLINE uint32_t smaller(const uint64_t *heap, uint32_t a, uint32_t b)
{
    return a ^ ((a ^ b) & -(uint32_t)(heap[b] < heap[a]));
}

static void heap_pop(fm_jump_search *s)
{
    uint64_t *heap = s->heap;
    uint32_t count = --s->heap_count;
    uint64_t last = heap[count];
    uint32_t at = 0;
    heap[count] = KEY_NONE;
    for (uint32_t child = 1; child < count; child = 4 * at + 1) {
        uint32_t least =
            smaller(heap, smaller(heap, child, child + 1), smaller(heap, child + 2, child + 3));
        if (heap[least] >= last) {
            break;
        }
        heap[at] = heap[least];
        at = least;
    }
    if (count > 0) {
        heap[at] = last;
    }
}

FM_INLINE void push(fm_jump_search *s, uint64_t key)
{
    uint64_t larger = key < s->first ? s->first : key;
    s->first = key < s->first ? key : s->first;
    if (larger != KEY_NONE) {
        heap_push(s, larger);
    }
}

// The smallest key; KEY_NONE when there is none.
FM_INLINE uint64_t top(const fm_jump_search *s)
{
    return s->first < s->heap[0] ? s->first : s->heap[0];
}

FM_INLINE void pop(fm_jump_search *s)
{
    if (s->first < s->heap[0]) {
        s->first = KEY_NONE;
    } else {
        heap_pop(s);
    }
}

static void clear_open(fm_jump_search *s)
{
    memset(s->heap, 0xff, s->heap_count * sizeof *s->heap); // KEY_NONE
    s->heap_count = 0;
    s->first = KEY_NONE;
}

// ---- generating ---------------------------------------------------------------------------------

// A path of cost g to `cell`, arriving in direction d.
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

// ---- scanning -----------------------------------------------------------------------------------

// Rows of a bitmap, or of its transposed copy, as bytes: a word of cells may then begin at any
// eighth cell.
FM_INLINE struct lines lines_of(const fm_bitmap *blocked)
{
    return (struct lines){.first = (const uint8_t *)fm_bitmap_row(blocked, 0),
                          .pitch = (ptrdiff_t)(blocked->pitch * sizeof(uint64_t))};
}

FM_INLINE uint64_t load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// The word in which a scan from cell `at` begins. Toward higher x (`up`) it starts with the byte of
// that cell, toward lower x it ends with it, so it shows at least 56 cells beyond it.
FM_INLINE const uint8_t *word_at(const struct lines *lines, int32_t line, int32_t at, bool up)
{
    return lines->first + line * lines->pitch + (at >> 3) - (up ? 0 : 7);
}

// Bits of that word to drop: the cell itself, and those behind it.
FM_INLINE uint32_t bits_behind(int32_t at, bool up)
{
    uint32_t bit = (uint32_t)at & 7;
    return up ? bit + 1 : 8 - bit;
}

// The cells just past the end of a wall. The first cell of a word is never one: what lies before it
// is not known, and it is behind the scan anyway.
FM_INLINE uint64_t wall_ends(uint64_t word, bool up)
{
    return (up ? word << 1 : word >> 1) & ~word;
}

FM_INLINE uint64_t drop(uint64_t word, uint32_t count, bool up)
{
    return up ? word >> count : word << count;
}

FM_INLINE uint32_t first_bit(uint64_t word, bool up)
{
    return (uint32_t)(up ? __builtin_ctzll(word) : __builtin_clzll(word));
}

struct stop {
    uint32_t steps; // to the first cell of interest
    bool wall;      // it is blocked; else a turn is forced there
};

FM_INLINE struct stop stop_in(uint64_t stops, uint64_t here, bool up)
{
    uint32_t n = first_bit(stops, up);
    bool wall = up ? here >> n & 1 : here << n >> 63;
    return (struct stop){.steps = n + 1, .wall = wall};
}

// The first stop in a line, `behind` bits into a word. The margin stops every scan.
FM_INLINE struct stop scan_from(const uint8_t *word, ptrdiff_t pitch, uint32_t behind, bool up)
{
    for (uint32_t passed = 0;; passed += 56, word += up ? 7 : -7) {
        uint64_t here = load(word);
        uint64_t ends = wall_ends(load(word - pitch), up) | wall_ends(load(word + pitch), up);
        uint64_t stops = drop(here | ends, behind, up);
        if (stops != 0) {
            struct stop stop = stop_in(stops, drop(here, behind, up), up);
            stop.steps += passed;
            return stop;
        }
    }
}

// The same, where there is no stop in the rest of the word.
static FM_CLONES __attribute__((noinline)) struct stop scan_on(const uint8_t *word, ptrdiff_t pitch,
                                                               uint32_t behind, bool up)
{
    uint32_t bytes = (behind - 1) / 8;
    word += up ? bytes : -(ptrdiff_t)bytes;
    behind -= bytes * 8;
    return up ? scan_from(word, pitch, behind, true) : scan_from(word, pitch, behind, false);
}

FM_INLINE struct stop scan(const struct lines *lines, int32_t line, int32_t at, bool up)
{
    return scan_from(word_at(lines, line, at, up), lines->pitch, bits_behind(at, up), up);
}

// ---- jumping ------------------------------------------------------------------------------------

// The cell so many steps from another, which may be beyond the margin as long as nobody looks at
// it.
FM_INLINE fm_cell cell_along(fm_cell cell, uint32_t d, uint32_t steps)
{
    return cell + steps * (uint32_t)(fm_direction_dy[d] * 4096 + fm_direction_dx[d]);
}

// Looks for the goal in straight direction d from a cell on its row or column, up to the first
// stop: from a forced turn on, the search continues from there.
static void look_for_goal(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t d, fm_cell parent)
{
    const bool vertical = d == FM_NORTH || d == FM_SOUTH, up = d == FM_EAST || d == FM_SOUTH;
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    int32_t distance = vertical ? s->goal_y - y : s->goal_x - x;
    uint32_t steps = (uint32_t)(up ? distance : -distance);
    struct stop stop = vertical ? scan(&s->columns, x, y, up) : scan(&s->rows, y, x, up);
    if (steps < stop.steps + !stop.wall && g + steps * s->view->step[0] < s->best) {
        s->best = g + steps * s->view->step[0];
        s->goal_parent = parent;
    }
}

FM_INLINE void jump_straight(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t d)
{
    const bool vertical = d == FM_NORTH || d == FM_SOUTH, up = d == FM_EAST || d == FM_SOUTH;
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    if (vertical ? x == s->goal_x : y == s->goal_y) {
        look_for_goal(s, cell, g, d, cell);
    }
    struct stop stop = vertical ? scan(&s->columns, x, y, up) : scan(&s->rows, y, x, up);
    if (!stop.wall) {
        reach(s, cell_along(cell, d, stop.steps), g + s->view->step[0] * stop.steps, d, cell);
    }
}

// The scans to one side of a diagonal. They begin one cell farther on each next line, so each
// line's word is loaded once and serves three of them.
struct sweep {
    const uint8_t *word; // of the line in `here`
    ptrdiff_t pitch;     // to the next line
    uint64_t here, ahead;
    uint64_t ends_behind, ends_here;
    uint32_t behind;
    uint32_t count;
    struct {
        uint32_t from;    // steps on the diagonal
        uint32_t steps;   // and then on the line
    } found[SWEEP_STEPS]; // where a turn is forced
};

FM_INLINE void sweep_begin(struct sweep *sweep, const struct lines *lines, int32_t line, int32_t at,
                           bool up, bool forward)
{
    sweep->word = word_at(lines, line, at, up);
    sweep->pitch = forward ? lines->pitch : -lines->pitch;
    sweep->behind = bits_behind(at, up);
    sweep->here = load(sweep->word);
    sweep->ahead = load(sweep->word + sweep->pitch);
    sweep->ends_here = wall_ends(sweep->here, up);
    sweep->count = 0;
}

// Whether the cell next on the line and the two beside the path's on the next line are free.
FM_INLINE bool sweep_may_step(const struct sweep *sweep, bool up)
{
    uint64_t next = sweep->here | sweep->ahead;
    uint64_t any = up ? next >> sweep->behind | sweep->ahead >> (sweep->behind - 1)
                      : next << sweep->behind | sweep->ahead << (sweep->behind - 1);
    return !(up ? any & 1 : any >> 63);
}

// A step on the diagonal, and a look along the new line.
FM_INLINE void sweep_step(struct sweep *sweep, uint32_t from, bool up)
{
    sweep->word += sweep->pitch;
    sweep->ends_behind = sweep->ends_here;
    sweep->here = sweep->ahead;
    sweep->ends_here = wall_ends(sweep->here, up);
    sweep->ahead = load(sweep->word + sweep->pitch);
    sweep->behind += 1;

    uint64_t ends = sweep->ends_behind | wall_ends(sweep->ahead, up);
    uint64_t here = drop(sweep->here, sweep->behind, up);
    uint64_t stops = here | drop(ends, sweep->behind, up);
    struct stop stop;
    if (__builtin_expect(stops != 0, 1)) {
        stop = stop_in(stops, here, up);
    } else {
        stop = scan_on(sweep->word, sweep->pitch, sweep->behind, up);
    }
    sweep->found[sweep->count].from = from;
    sweep->found[sweep->count].steps = stop.steps;
    sweep->count += !stop.wall; // without a branch: half of them would be guessed wrong
}

FM_INLINE void jump_diagonal(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t d)
{
    const bool east = d == FM_NORTH_EAST || d == FM_SOUTH_EAST;
    const bool south = d == FM_SOUTH_EAST || d == FM_SOUTH_WEST;
    const uint32_t horizontal = east ? FM_EAST : FM_WEST, vertical = south ? FM_SOUTH : FM_NORTH;
    const fm_cell parent = cell;
    const uint32_t diagonal_cost = s->view->step[1], straight_cost = s->view->step[0];

    for (uint32_t piece = 0; piece < DIAGONAL_MAX / SWEEP_STEPS; piece++) {
        int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
        struct sweep across, along;
        sweep_begin(&across, &s->rows, y, x, east, south);
        sweep_begin(&along, &s->columns, x, y, south, east);
        uint32_t steps = 0;
        while (steps < SWEEP_STEPS && sweep_may_step(&across, east)) {
            steps += 1;
            sweep_step(&across, steps, east);
            sweep_step(&along, steps, south);
        }

        int32_t to_row = south ? s->goal_y - y : y - s->goal_y;
        int32_t to_column = east ? s->goal_x - x : x - s->goal_x;
        int32_t nearer = to_row < to_column ? to_row : to_column;
        if (nearer > 0 && nearer <= (int32_t)steps) {
            look_for_goal(s, cell_along(cell, d, (uint32_t)nearer),
                          g + (uint32_t)nearer * diagonal_cost,
                          nearer == to_row ? horizontal : vertical, parent);
        }
        for (uint32_t i = 0; i < across.count; i++) {
            uint32_t from = across.found[i].from, on = across.found[i].steps;
            reach(s, cell_along(cell_along(cell, d, from), horizontal, on),
                  g + from * diagonal_cost + on * straight_cost, horizontal, parent);
        }
        for (uint32_t i = 0; i < along.count; i++) {
            uint32_t from = along.found[i].from, on = along.found[i].steps;
            reach(s, cell_along(cell_along(cell, d, from), vertical, on),
                  g + from * diagonal_cost + on * straight_cost, vertical, parent);
        }
        if (steps < SWEEP_STEPS) {
            return;
        }
        cell = cell_along(cell, d, steps);
        g += steps * diagonal_cost;
        if (g + fm_view_distance(s->view, cell, s->goal) > s->f_patient) {
            break;
        }
    }
    reach(s, cell, g, d, parent);
}

typedef void diagonal_fn(fm_jump_search *s, fm_cell cell, uint32_t g);

static FM_CLONES void jump_north_east(fm_jump_search *s, fm_cell cell, uint32_t g)
{
    jump_diagonal(s, cell, g, FM_NORTH_EAST);
}

static FM_CLONES void jump_south_east(fm_jump_search *s, fm_cell cell, uint32_t g)
{
    jump_diagonal(s, cell, g, FM_SOUTH_EAST);
}

static FM_CLONES void jump_south_west(fm_jump_search *s, fm_cell cell, uint32_t g)
{
    jump_diagonal(s, cell, g, FM_SOUTH_WEST);
}

static FM_CLONES void jump_north_west(fm_jump_search *s, fm_cell cell, uint32_t g)
{
    jump_diagonal(s, cell, g, FM_NORTH_WEST);
}

// Whether a turn is forced to `side`: the cell there is free, and the one behind it is not.
FM_INLINE bool is_forced(uint32_t around, uint32_t side, uint32_t behind)
{
    return (around >> behind & ~(around >> side) & 1) != 0;
}

// Directions in which a path that arrives in direction d may leave, as a set of bits. `around` has
// bit i set where the neighbour in direction i is blocked.
static uint32_t leaving(uint32_t around, uint32_t d)
{
    if (d & 1) {
        return 1u << d; // a piece of a diagonal; its row and column have been looked at
    }
    uint32_t set = 1u << d, right = (d + 2) & 7, left = (d + 6) & 7;
    if (is_forced(around, right, (d + 3) & 7)) {
        set |= 1u << right | 1u << ((d + 1) & 7);
    }
    if (is_forced(around, left, (d + 5) & 7)) {
        set |= 1u << left | 1u << ((d + 7) & 7);
    }
    return set;
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
    // The window's bits row by row; a ring of eight from them, north first, clockwise.
    uint32_t window = fm_bitmap_window(view->blocked, cell);
    return (window >> 1 & 3) | (window >> 5 & 1) << 2 | (window >> 8 & 1) << 3 |
           (window >> 7 & 1) << 4 | (window >> 6 & 1) << 5 | (window >> 3 & 1) << 6 |
           (window & 1) << 7;
}

// For fm_jump_search_may_have_seen().
static inline void note_expanded(fm_jump_search *s, fm_cell cell)
{
    int32_t x = (int32_t)fm_cell_x(cell), y = (int32_t)fm_cell_y(cell);
    s->left = x < s->left ? x : s->left;
    s->right = x > s->right ? x : s->right;
    s->top = y < s->top ? y : s->top;
    s->bottom = y > s->bottom ? y : s->bottom;
}

// Jumps in each direction of a set.
static void jump_all(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t set)
{
    for (; set != 0; set &= set - 1) {
        switch ((fm_direction)__builtin_ctz(set)) {
        case FM_NORTH:
            jump_straight(s, cell, g, FM_NORTH);
            break;
        case FM_NORTH_EAST:
            jump_north_east(s, cell, g);
            break;
        case FM_EAST:
            jump_straight(s, cell, g, FM_EAST);
            break;
        case FM_SOUTH_EAST:
            jump_south_east(s, cell, g);
            break;
        case FM_SOUTH:
            jump_straight(s, cell, g, FM_SOUTH);
            break;
        case FM_SOUTH_WEST:
            jump_south_west(s, cell, g);
            break;
        case FM_WEST:
            jump_straight(s, cell, g, FM_WEST);
            break;
        case FM_NORTH_WEST:
            jump_north_west(s, cell, g);
            break;
        case FM_DIRECTION_COUNT:
            FM_UNREACHABLE();
        }
    }
}

// Jumps in a straight direction and in those that are forced to either side of it. Nearly all jump
// points are expanded so, and nobody could predict which direction a set of them names next.
FM_INLINE void jump_onward(fm_jump_search *s, fm_cell cell, uint32_t g, uint32_t around, uint32_t d,
                           diagonal_fn *jump_left, diagonal_fn *jump_right)
{
    const uint32_t left = (d + 6) & 7, right = (d + 2) & 7;
    jump_straight(s, cell, g, d);
    if (is_forced(around, right, (d + 3) & 7)) {
        jump_right(s, cell, g);
        jump_straight(s, cell, g, right);
    }
    if (is_forced(around, left, (d + 5) & 7)) {
        jump_left(s, cell, g);
        jump_straight(s, cell, g, left);
    }
}

static FM_CLONES void expand(fm_jump_search *s, struct node *node)
{
    fm_cell cell = node->cell;
    uint32_t g = node->g, arrivals = node->arrivals, expanded = node->expanded;
    note_expanded(s, cell);
    node->expanded |= node->arrivals;
    node->arrivals = 0;
    if (cell == s->start) {
        jump_all(s, cell, g, 0xff);
        return;
    }
    uint32_t around = blocked_around(s->view, cell);
    if (expanded != 0) {
        jump_all(s, cell, g, leaving_any(around, arrivals) & ~leaving_any(around, expanded));
        return;
    }
    switch (arrivals) {
    case 1u << FM_NORTH:
        jump_onward(s, cell, g, around, FM_NORTH, jump_north_west, jump_north_east);
        break;
    case 1u << FM_EAST:
        jump_onward(s, cell, g, around, FM_EAST, jump_north_east, jump_south_east);
        break;
    case 1u << FM_SOUTH:
        jump_onward(s, cell, g, around, FM_SOUTH, jump_south_east, jump_south_west);
        break;
    case 1u << FM_WEST:
        jump_onward(s, cell, g, around, FM_WEST, jump_south_west, jump_north_west);
        break;
    default:
        jump_all(s, cell, g, leaving_any(around, arrivals));
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
    s->heap_capacity = HEAP_AT_FIRST;
    s->first = KEY_NONE;
    s->store = fm_memory_allocate_zeroed(memory, s->store_capacity, sizeof *s->store);
    s->heap = allocate_heap(memory, s->heap_capacity);
    if (s->store == NULL || s->heap == NULL) {
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
    release_heap(search);
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
    if (++s->search == 0) { // once in 2^32 searches an old stamp would look new
        memset(s->store, 0, s->store_capacity * sizeof *s->store);
        s->search = 1;
    }
    use_table(s, NODES_AT_FIRST);
    s->node_count = 0;
    clear_open(s);
    s->best = cost_bound;
    s->goal_parent = FM_CELL_NONE;
    s->exhausted = false;
    s->left = s->top = INT32_MAX;
    s->right = s->bottom = -1;

    // Ten bits of h are left in a key.
    uint32_t h_max = fm_view_distance(view, 0, fm_cell_at(view->width - 1, view->height - 1));
    uint32_t h_bits = h_max == 0 ? 0 : 32 - (uint32_t)__builtin_clz(h_max);
    s->h_shift = h_bits > 10 ? h_bits - 10 : 0;

    if (start == goal && cost_bound > 0) {
        s->best = 0;
        s->goal_parent = start;
    } else if (!fm_view_is_blocked(view, start)) {
        reach(s, start, 0, FM_NORTH, start);
    }
}

fm_jump_state fm_jump_search_advance(fm_jump_search *search, fm_work *work)
{
    fm_jump_search *s = search;
    uint32_t expansions_at_start = work->expansions;
    s->rows = lines_of(s->view->blocked);
    s->columns = lines_of(s->view->blocked_transposed);
    while (!s->exhausted) {
        uint64_t key = top(s);
        if (key >> 34 >= s->best) { // as is KEY_NONE's f
            return s->goal_parent != FM_CELL_NONE ? FM_JUMP_FOUND : FM_JUMP_UNREACHABLE;
        }
        struct node *node = find(s, key & 0xffffff);
        if (node->arrivals == 0) { // left over from before its g improved
            pop(s);
            continue;
        }
        if (fm_work_must_stop(work, expansions_at_start)) {
            return FM_JUMP_RUNNING;
        }
        s->f_patient = node->cell == s->start ? (uint32_t)(key >> 34) : FM_COST_INFINITE;
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

bool fm_jump_search_may_have_seen(const fm_jump_search *search, const fm_change *changes,
                                  uint32_t count)
{
    // From each of these lines a scan may have gone to the end of the map.
    const int32_t beyond = DIAGONAL_MAX + 1;
    for (uint32_t i = 0; i < count; i++) {
        int32_t x = (int32_t)fm_cell_x(changes[i].cell), y = (int32_t)fm_cell_y(changes[i].cell);
        if ((x >= search->left - beyond && x <= search->right + beyond) ||
            (y >= search->top - beyond && y <= search->bottom + beyond)) {
            return true;
        }
    }
    return false;
}

// The cell from which a path steps onto a jump point.
static fm_cell cell_before(const fm_jump_search *s, const struct node *node)
{
    if (node->cell == s->start) {
        return FM_CELL_NONE;
    }
    fm_cell parent = node->parent, before = point_before(s, node->cell, &parent);
    return fm_cell_step(node->cell, fm_turn_direction(node->cell, before));
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
            .parent = cell_before(search, node),
        };
        visit(&cell, context);
    }
}

size_t fm_jump_search_bytes(const fm_jump_search *search)
{
    return sizeof *search + search->store_capacity * sizeof *search->store +
           (search->heap_capacity + HEAP_PADDING) * sizeof *search->heap;
}

uint32_t fm_turns_expand(const fm_cell *turns, uint32_t count, fm_cell *cells, uint32_t capacity)
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t steps = i + 1 < count ? fm_turn_steps(turns[i], turns[i + 1]) : 1;
        uint32_t d = i + 1 < count ? fm_turn_direction(turns[i], turns[i + 1]) : FM_NORTH;
        uint32_t room = length < capacity ? capacity - length : 0;
        fm_cell cell = turns[i], step = cell_along(0, d, 1);
        for (uint32_t j = 0; j < steps && j < room; j++, cell += step) {
            cells[length + j] = cell;
        }
        length += steps;
    }
    return length;
}
