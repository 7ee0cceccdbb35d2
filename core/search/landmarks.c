// core/search/landmarks.c: see landmarks.h.

#include "core/search/landmarks.h"

#include <string.h>

#define ROOTS_MAX             8u         // tried to find the largest connected part
#define ERRANDS_BETWEEN_MOVES 16u        // of the adaptive rule
#define HOLDS_LANDMARK        UINT64_MAX // mark of a branch that already has a landmark
#define WALK_STRIDE           8u         // cells walked over for one unit of work

static const char *const placement_names[] = {
#define X(enumerator, name) [enumerator] = name,
    FM_PLACEMENT_LIST(X)
#undef X
};

const char *fm_placement_name(fm_placement placement)
{
    return placement_names[placement];
}

bool fm_placement_by_name(const char *name, fm_placement *placement)
{
    for (uint32_t i = 0; i < FM_COUNT_OF(placement_names); i++) {
        if (strcmp(placement_names[i], name) == 0) {
            *placement = (fm_placement)i;
            return true;
        }
    }
    return false;
}

// ---- sets ---------------------------------------------------------------------------------------

static size_t cell_count(const fm_landmarks *l)
{
    return (size_t)l->view->width * l->view->height;
}

static void release_set(fm_landmarks *l, fm_landmark *set, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++) {
        fm_memory_release(l->memory, set[i].costs, fm_distance_field_costs_size(l->view));
        set[i] = (fm_landmark){0};
    }
    *count = 0;
}

void fm_landmarks_init(fm_landmarks *l, const fm_view *view, fm_landmark_rules rules, uint64_t seed,
                       const fm_memory *memory)
{
    *l = (fm_landmarks){.view = view,
                        .memory = memory,
                        .rules = rules,
                        .random = fm_random_seed(seed),
                        .phase = FM_LANDMARKS_IDLE};
    size_t most = FM_LANDMARK_VALUES_MAX / cell_count(l);
    l->rules.count = rules.count < most ? rules.count : (uint32_t)most;
    fm_distance_field_init(&l->field, view, memory);
}

// What is needed only while a set is made.
static void release_workshop(fm_landmarks *l)
{
    fm_distance_field_fini(&l->field);
    fm_memory_release(l->memory, l->marks, cell_count(l) * sizeof *l->marks);
    l->marks = NULL;
}

void fm_landmarks_abandon(fm_landmarks *l)
{
    release_workshop(l);
    release_set(l, l->next, &l->next_count);
    l->phase = FM_LANDMARKS_IDLE;
}

void fm_landmarks_fini(fm_landmarks *l)
{
    fm_landmarks_abandon(l);
    release_set(l, l->live, &l->live_count);
}

size_t fm_landmarks_bytes(const fm_landmarks *l)
{
    size_t bytes = fm_distance_field_bytes(&l->field);
    bytes += l->marks == NULL ? 0 : cell_count(l) * sizeof *l->marks;
    return bytes + (l->live_count + l->next_count) * fm_distance_field_costs_size(l->view);
}

void fm_landmarks_publish(fm_landmarks *l, fm_landmark_table *table)
{
    if (l->phase != FM_LANDMARKS_READY) {
        return;
    }
    if (l->moving < l->live_count) {
        fm_landmark *moved = &l->live[l->moving];
        fm_memory_release(l->memory, moved->costs, fm_distance_field_costs_size(l->view));
        l->next[0].used = moved->used;
        *moved = l->next[0];
    } else {
        release_set(l, l->live, &l->live_count);
        memcpy(l->live, l->next, sizeof l->live);
        l->live_count = l->next_count;
    }
    l->next_count = 0;
    l->phase = FM_LANDMARKS_IDLE;
    release_workshop(l);
    *table = (fm_landmark_table){.count = l->live_count, .generation = table->generation + 1};
    for (uint32_t i = 0; i < l->live_count; i++) {
        table->costs[i] = l->live[i].costs;
    }
}

// ---- choosing a place ---------------------------------------------------------------------------

static size_t index_of(const fm_landmarks *l, fm_cell cell)
{
    return fm_distance_field_index(&l->field, cell);
}

static uint64_t count_free_cells(const fm_landmarks *l)
{
    return cell_count(l) - fm_bitmap_count(l->view->blocked);
}

// A free cell, or after many tries a blocked one, from which nothing can be reached.
static fm_cell random_cell(fm_landmarks *l)
{
    fm_cell cell = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        // One after the other: in a call, compilers differ in which comes first.
        uint32_t y = fm_random_below(&l->random, l->view->height);
        cell = fm_cell_at(fm_random_below(&l->random, l->view->width), y);
        if (!fm_view_is_blocked(l->view, cell)) {
            break;
        }
    }
    return cell;
}

static fm_cell parent_of(const fm_landmarks *l, fm_cell cell)
{
    uint32_t d = l->field.parents[index_of(l, cell)];
    return d == FM_DIRECTION_COUNT ? FM_CELL_NONE : fm_cell_step(cell, d);
}

// The bound that the landmarks chosen so far give for the path from the root.
static uint32_t estimate_from_root(const fm_landmarks *l, fm_cell cell)
{
    uint32_t best = fm_view_distance(l->view, l->root, cell);
    for (uint32_t i = 0; i < l->next_count; i++) {
        uint32_t here = l->next[i].costs[index_of(l, cell)];
        uint32_t there = l->next[i].costs[index_of(l, l->root)];
        uint32_t difference = here > there ? here - there : there - here;
        if (here < FM_COST_INFINITE && there < FM_COST_INFINITE && difference > best) {
            best = difference;
        }
    }
    return best;
}

static bool is_landmark(const fm_landmarks *l, fm_cell cell)
{
    for (uint32_t i = 0; i < l->next_count; i++) {
        if (l->next[i].cell == cell) {
            return true;
        }
    }
    return false;
}

// avoid, on the walk back from the farthest cell: errors add up towards the root, and a branch that
// holds a landmark counts for nothing.
static void sum_branch(fm_landmarks *l, fm_cell cell)
{
    uint64_t *mark = &l->marks[index_of(l, cell)];
    uint32_t cost = l->field.costs[index_of(l, cell)], estimate = estimate_from_root(l, cell);
    if (*mark != HOLDS_LANDMARK) {
        *mark =
            is_landmark(l, cell) ? HOLDS_LANDMARK : *mark + (cost > estimate ? cost - estimate : 0);
    }
    fm_cell parent = parent_of(l, cell);
    if (parent != FM_CELL_NONE) {
        uint64_t *above = &l->marks[index_of(l, parent)];
        *above =
            *mark == HOLDS_LANDMARK || *above == HOLDS_LANDMARK ? HOLDS_LANDMARK : *above + *mark;
    }
    uint64_t best = l->marks[index_of(l, l->chosen)];
    if (*mark != HOLDS_LANDMARK && (best == HOLDS_LANDMARK || *mark > best)) {
        l->chosen = cell;
    }
}

// avoid: one step from the branch with the largest error towards its end, by the larger part each
// time. Returns false at the end.
static bool descend(fm_landmarks *l)
{
    fm_cell next = FM_CELL_NONE;
    for (uint32_t moves = fm_view_moves(l->view, l->chosen); moves != 0; moves &= moves - 1) {
        fm_cell child = fm_cell_step(l->chosen, (uint32_t)__builtin_ctz(moves));
        if (l->field.costs[index_of(l, child)] < FM_COST_INFINITE &&
            parent_of(l, child) == l->chosen &&
            (next == FM_CELL_NONE || l->marks[index_of(l, child)] > l->marks[index_of(l, next)])) {
            next = child;
        }
    }
    if (next == FM_CELL_NONE) {
        return false;
    }
    l->chosen = next;
    return true;
}

// past-the-goal, on the walk towards the farthest cell: which paths lead through the goal?
static void follow_through_goal(fm_landmarks *l, fm_cell cell, fm_cell goal)
{
    fm_cell parent = parent_of(l, cell);
    bool through = cell == goal || (parent != FM_CELL_NONE && l->marks[index_of(l, parent)] == 1);
    l->marks[index_of(l, cell)] = through;
    if (through) {
        l->chosen = cell;
    }
}

static const fm_errand *errand_for(const fm_landmarks *l, uint32_t i)
{
    uint32_t kept =
        l->errand_count < FM_LANDMARK_ERRANDS_MAX ? l->errand_count : FM_LANDMARK_ERRANDS_MAX;
    return kept == 0 ? NULL
                     : &l->errands[(l->errand_count - 1 - i % kept) % FM_LANDMARK_ERRANDS_MAX];
}

// ---- phases -------------------------------------------------------------------------------------

static void begin_root(fm_landmarks *l, fm_cell root)
{
    l->root = root;
    l->phase = FM_LANDMARKS_ROOT;
    if (fm_distance_field_begin(&l->field, root, root) != FM_OK) {
        fm_landmarks_abandon(l);
    }
}

static void begin_measuring(fm_landmarks *l)
{
    l->phase = FM_LANDMARKS_MEASURING;
    if (fm_distance_field_begin(&l->field, l->chosen, l->chosen) != FM_OK) {
        fm_landmarks_abandon(l);
    }
}

static void begin_walk(fm_landmarks *l, fm_landmarks_phase phase)
{
    l->phase = phase;
    l->cursor = 0;
    l->pass = 0;
}

void fm_landmarks_begin(fm_landmarks *l)
{
    fm_landmarks_abandon(l);
    if (l->rules.count == 0) {
        return;
    }
    l->marks = fm_memory_allocate(l->memory, cell_count(l) * sizeof *l->marks);
    if (l->marks == NULL) {
        return;
    }
    l->wanted = l->rules.count;
    l->moving = FM_LANDMARKS_MAX;
    l->tries = 0;
    l->rooted = false;
    l->best_settled_count = 0;
    begin_root(l, random_cell(l));
}

static fm_cell random_settled_cell(fm_landmarks *l)
{
    return l->field.order[fm_random_below(&l->random, l->field.settled_count)];
}

// Chooses where the next landmark stands, or from where to look for that. `chosen` is the farthest
// cell.
static void begin_next(fm_landmarks *l)
{
    const fm_errand *errand = errand_for(l, l->next_count);
    switch (l->rules.placement) {
    case FM_PLACE_RANDOM:
        l->chosen = random_settled_cell(l);
        begin_measuring(l);
        return;
    case FM_PLACE_FARTHEST:
        begin_measuring(l);
        return;
    case FM_PLACE_AVOID:
        begin_root(l, random_settled_cell(l));
        return;
    case FM_PLACE_PAST_THE_GOAL:
        begin_root(l, errand != NULL && !fm_view_is_blocked(l->view, errand->start)
                          ? errand->start
                          : random_settled_cell(l));
        return;
    }
    FM_UNREACHABLE();
}

// The first roots are for finding the largest connected part of the map.
static void choose_part(fm_landmarks *l)
{
    uint32_t settled = l->field.settled_count;
    l->tries += 1;
    if (settled > l->best_settled_count) {
        l->best_settled_count = settled;
        l->best_root = l->root;
    }
    bool enough = settled >= count_free_cells(l) / 2 || l->tries >= ROOTS_MAX;
    bool best = l->best_settled_count == 0 || l->root == l->best_root;
    if (enough && best && settled == 0) {
        fm_landmarks_abandon(l); // no free cell here, or it has been walled in since
    } else if (enough && best) {
        l->rooted = true;
        l->chosen = l->field.order[settled - 1];
        begin_next(l);
    } else {
        begin_root(l, enough ? l->best_root : random_cell(l));
    }
}

static void end_root(fm_landmarks *l)
{
    if (!l->rooted) {
        choose_part(l);
        return;
    }
    if (l->field.settled_count == 0) {
        fm_landmarks_abandon(l); // it has been walled in since
        return;
    }
    // Where nothing better is found.
    l->chosen = l->field.order[l->field.settled_count - 1];
    begin_walk(l, FM_LANDMARKS_PLACING);
}

// One cell of the walks by which `avoid` chooses: clear the marks, sum them up, go down the best
// branch. Returns false at the end.
static bool avoid_cell(fm_landmarks *l)
{
    const fm_distance_field *field = &l->field;
    if (l->pass < 2 && l->cursor == field->settled_count) {
        l->pass += 1;
        l->cursor = 0;
    }
    uint32_t i = l->cursor++;
    switch (l->pass) {
    case 0:
        l->marks[index_of(l, field->order[i])] = 0;
        return true;
    case 1:
        sum_branch(l, field->order[field->settled_count - 1 - i]);
        return true;
    default:
        return descend(l);
    }
}

// The same, of the one walk of `past-the-goal`.
static bool past_cell(fm_landmarks *l)
{
    const fm_distance_field *field = &l->field;
    const fm_errand *errand = errand_for(l, l->next_count);
    if (l->cursor == field->settled_count) {
        return false;
    }
    follow_through_goal(l, field->order[l->cursor],
                        errand == NULL ? field->order[field->settled_count / 2] : errand->goal);
    l->cursor += 1;
    return true;
}

static void end_measuring(fm_landmarks *l)
{
    begin_walk(l, FM_LANDMARKS_MERGING);
    if (l->field.settled_count == 0) {
        fm_landmarks_abandon(l); // it has been walled in since
    }
}

// farthest: how far is each cell from the nearest landmark? The farthest is the next.
static bool merge_cell(fm_landmarks *l)
{
    if (l->cursor == l->field.settled_count) {
        return false;
    }
    fm_cell cell = l->field.order[l->cursor++];
    uint64_t *mark = &l->marks[index_of(l, cell)];
    uint32_t cost = l->field.costs[index_of(l, cell)];
    *mark = l->next_count == 0 || cost < *mark ? cost : *mark;
    if (*mark > l->marks[index_of(l, l->chosen)]) {
        l->chosen = cell;
    }
    return true;
}

static void end_merging(fm_landmarks *l)
{
    l->next[l->next_count++] =
        (fm_landmark){.cell = l->field.order[0], .costs = fm_distance_field_take_costs(&l->field)};
    if (l->next_count == l->wanted) {
        l->phase = FM_LANDMARKS_READY;
    } else {
        begin_next(l);
    }
}

// Walks on, WALK_STRIDE cells for a unit of work. Returns false when the grant is used up first.
static bool walk(fm_landmarks *l, fm_work *work, uint32_t expansions_at_start,
                 bool (*visit)(fm_landmarks *l))
{
    while (!fm_work_must_stop(work, expansions_at_start)) {
        work->expansions += 1;
        for (uint32_t i = 0; i < WALK_STRIDE; i++) {
            if (!visit(l)) {
                return true;
            }
        }
    }
    return false;
}

// Measures on. Returns true when that is done, false also when out of memory.
static bool measure(fm_landmarks *l, fm_work *work, uint32_t expansions_at_start)
{
    switch (fm_distance_field_advance(&l->field, work, expansions_at_start)) {
    case FM_FIELD_RUNNING:
        return false;
    case FM_FIELD_DONE:
        return true;
    case FM_FIELD_NO_MEMORY:
        fm_landmarks_abandon(l);
        return false;
    }
    FM_UNREACHABLE();
}

// Continues within one phase, and into the next. Returns false when the grant is used up.
static bool advance_phase(fm_landmarks *l, fm_work *work, uint32_t expansions_at_start)
{
    switch (l->phase) {
    case FM_LANDMARKS_IDLE:
    case FM_LANDMARKS_READY:
        return false;
    case FM_LANDMARKS_ROOT:
        if (measure(l, work, expansions_at_start)) {
            end_root(l);
            return true;
        }
        return false;
    case FM_LANDMARKS_PLACING:
        if (walk(l, work, expansions_at_start,
                 l->rules.placement == FM_PLACE_AVOID ? avoid_cell : past_cell)) {
            begin_measuring(l);
            return true;
        }
        return false;
    case FM_LANDMARKS_MEASURING:
        if (measure(l, work, expansions_at_start)) {
            end_measuring(l);
            return true;
        }
        return false;
    case FM_LANDMARKS_MERGING:
        if (l->rules.placement != FM_PLACE_FARTHEST || l->wanted == 1 ||
            walk(l, work, expansions_at_start, merge_cell)) {
            end_merging(l);
            return true;
        }
        return false;
    }
    FM_UNREACHABLE();
}

void fm_landmarks_advance(fm_landmarks *l, fm_work *work, uint32_t expansions_at_start)
{
    while (advance_phase(l, work, expansions_at_start)) {
    }
}

// ---- the adaptive rule --------------------------------------------------------------------------

// The live landmark with the best bound for the path, FM_LANDMARKS_MAX when none has one.
static uint32_t best_for(const fm_landmarks *l, fm_cell start, fm_cell goal)
{
    uint32_t best = FM_LANDMARKS_MAX, best_difference = 0;
    for (uint32_t i = 0; i < l->live_count; i++) {
        uint32_t here = l->live[i].costs[index_of(l, start)];
        uint32_t there = l->live[i].costs[index_of(l, goal)];
        uint32_t difference = here > there ? here - there : there - here;
        if (here < FM_COST_INFINITE && there < FM_COST_INFINITE && difference > best_difference) {
            best = i;
            best_difference = difference;
        }
    }
    return best;
}

void fm_landmarks_note_errand(fm_landmarks *l, fm_cell start, fm_cell goal)
{
    l->errands[l->errand_count % FM_LANDMARK_ERRANDS_MAX] = (fm_errand){start, goal};
    l->errand_count += 1;
    l->errands_since_move += 1;
    uint32_t best = best_for(l, start, goal);
    if (best < FM_LANDMARKS_MAX) {
        l->live[best].used += 1;
    }
}

void fm_landmarks_adapt(fm_landmarks *l)
{
    if (!l->rules.adaptive || l->phase != FM_LANDMARKS_IDLE || l->live_count == 0 ||
        l->errands_since_move < ERRANDS_BETWEEN_MOVES) {
        return;
    }
    l->errands_since_move = 0;
    uint32_t least = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->live_count; i++) {
        least = l->live[i].used < l->live[least].used ? i : least;
        sum += l->live[i].used;
    }
    fm_cell goal = errand_for(l, fm_random_below(&l->random, FM_LANDMARK_ERRANDS_MAX))->goal;
    bool taken = fm_view_is_blocked(l->view, goal);
    for (uint32_t i = 0; i < l->live_count; i++) {
        taken = taken || l->live[i].cell == goal;
        // Old merits count for half; the one that moves starts with the mean, to get a chance.
        l->live[i].used = i == least ? (uint32_t)(sum / (2 * l->live_count)) : l->live[i].used / 2;
    }
    if (!taken) {
        l->wanted = 1;
        l->moving = least;
        l->chosen = goal;
        begin_measuring(l);
    }
}
