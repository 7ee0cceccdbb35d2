// core/generate/generate_skirmish.c: paints a skirmish map from its plan (skirmish_plan.h).
//
// Order: borders between regions and the map's rim, cell by cell; blobs on what is still open;
// roads and bases, which clear whatever is there; last, what no base can reach is filled up.
//
// Why the result is symmetric: a cell's terrain depends on distances to sites, which turns and
// mirrors do not change, and on noise, which is computed in the own frame of each site and of each
// image of a blob. Frames meet along borders only. Ties between sites have no winner: every nearest
// site counts.

#include "core/generate/generate_skirmish.h"

#include "core/base/noise.h"
#include "core/generate/skirmish_plan.h"

#define TILE_SIDE       32u // cells
#define NOISE_SHIFT_LOW 8u  // shortest wavelength: 4 cells
#define RIM_MIN         (FM_POINT_UNIT * 3 / 2)

struct painter {
    const fm_skirmish_plan *plan;
    fm_grid *grid;
    int64_t border_width; // of the widest
    uint32_t near_count;  // sites that matter in the current tile
    uint16_t near[FM_SITES_MAX];
};

static void paint(fm_grid *grid, uint32_t x, uint32_t y, fm_terrain terrain)
{
    fm_grid_set(grid, fm_cell_at(x, y), terrain, FM_COST_FLOOR);
}

static bool is_ground(const fm_grid *grid, uint32_t x, uint32_t y)
{
    return !fm_grid_is_blocked(grid, fm_cell_at(x, y));
}

static fm_point point_of(const fm_skirmish_plan *plan, uint32_t x, uint32_t y)
{
    return fm_point_of_cell(x, y, plan->width, plan->height);
}

// Borders and rim

static void choose_near_sites(struct painter *painter, uint32_t tile_x, uint32_t tile_y)
{
    const fm_skirmish_plan *plan = painter->plan;
    fm_point middle = point_of(plan, tile_x + TILE_SIDE / 2, tile_y + TILE_SIDE / 2);
    int64_t nearest = INT64_MAX;
    for (uint32_t i = 0; i < plan->site_count; i++) {
        int64_t distance = fm_point_distance(middle, plan->sites[i].at);
        nearest = distance < nearest ? distance : nearest;
    }
    // From the middle to a corner it is less than TILE_SIDE * 3 / 4; it counts for both sites.
    int64_t reach = 2 * plan->noise_amplitude + painter->border_width +
                    (int64_t)TILE_SIDE * FM_POINT_UNIT * 3 / 2;
    painter->near_count = 0;
    for (uint32_t i = 0; i < plan->site_count; i++) {
        if (fm_point_distance(middle, plan->sites[i].at) <= nearest + reach) {
            painter->near[painter->near_count++] = (uint16_t)i;
        }
    }
}

struct candidate {
    uint32_t site;
    int64_t distance; // with noise
    int64_t noise;
    fm_point own; // the point in the frame of the site's image
};

static int64_t least_distance(const struct candidate *candidates, uint32_t count)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        least = candidates[i].distance < least ? candidates[i].distance : least;
    }
    return least;
}

// Keeps the candidates that are at most `margin` farther than the nearest.
static uint32_t keep_near(struct candidate *candidates, uint32_t count, int64_t reach)
{
    int64_t limit = least_distance(candidates, count) + reach;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].distance <= limit) {
            candidates[kept++] = candidates[i];
        }
    }
    return kept;
}

// The sites that may be nearest to a point or have a border there, before noise.
static uint32_t gather(const struct painter *painter, fm_point point, struct candidate *candidates)
{
    const fm_skirmish_plan *plan = painter->plan;
    for (uint32_t i = 0; i < painter->near_count; i++) {
        const fm_site *site = &plan->sites[painter->near[i]];
        candidates[i].site = painter->near[i];
        candidates[i].distance = fm_point_distance(point, site->at);
        candidates[i].noise = 0;
    }
    uint32_t reach = keep_near(candidates, painter->near_count,
                               2 * plan->noise_amplitude + painter->border_width);
    for (uint32_t i = 0; i < reach; i++) {
        uint32_t image = plan->sites[candidates[i].site].image;
        candidates[i].own = fm_matrix_undo(&plan->symmetry.image[image], point);
    }
    return reach;
}

static void add_octave(const fm_skirmish_plan *plan, struct candidate *candidate, uint32_t shift,
                       int64_t amplitude)
{
    const fm_site *site = &plan->sites[candidate->site];
    if (site->orbit == 0) {
        return; // all images of the centre are the same site, so it has no frame and no noise
    }
    int64_t noise =
        fm_noise_at(site->noise_seed + shift, candidate->own.x, candidate->own.y, shift);
    candidate->noise += noise * amplitude / FM_NOISE_ONE;
    candidate->distance += noise * amplitude / FM_NOISE_ONE;
}

// Adds the noise, one octave after the other. After each, all octaves to come add less than it did,
// and candidates that they cannot bring near again are dropped, which saves half of the octaves
// (counted on 512 x 512 and on 4096 x 4096 cells, the latter in about 4 s).
//
// @param alone_suffices  stop when one candidate is left, even if not all noise was added
static uint32_t disturb(const struct painter *painter, struct candidate *candidates, uint32_t count,
                        bool alone_suffices)
{
    const fm_skirmish_plan *plan = painter->plan;
    int64_t amplitude = plan->noise_amplitude;
    for (uint32_t shift = plan->noise_shift; shift >= NOISE_SHIFT_LOW; shift--) {
        if (count == 1 && alone_suffices) {
            break;
        }
        amplitude /= 2;
        for (uint32_t i = 0; i < count; i++) {
            add_octave(plan, &candidates[i], shift, amplitude);
        }
        count = keep_near(candidates, count, 2 * amplitude + painter->border_width);
    }
    return count;
}

// The terrain of the border that a point lies in most deeply; ground outside of all.
static fm_terrain border_at(const fm_skirmish_plan *plan, const struct candidate *candidates,
                            uint32_t count, int64_t least)
{
    fm_terrain terrain = FM_TERRAIN_GROUND;
    int64_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count && candidates[i].distance == least; j++) {
            if (i == j) {
                continue;
            }
            fm_border border =
                plan->borders[(size_t)candidates[i].site * plan->site_count + candidates[j].site];
            int64_t width = 2 * FM_POINT_UNIT * (int64_t)border.half_width;
            int64_t depth = width - (candidates[j].distance - least);
            if (depth > deepest || (depth == deepest && depth > 0 && border.terrain > terrain)) {
                deepest = depth;
                terrain = (fm_terrain)border.terrain;
            }
        }
    }
    return terrain;
}

static bool is_rim(const fm_skirmish_plan *plan, const struct candidate *candidates, uint32_t count,
                   int64_t least, int64_t depth)
{
    int64_t noise = plan->noise_amplitude;
    for (uint32_t i = 0; i < count; i++) {
        if (candidates[i].distance == least && candidates[i].noise < noise) {
            noise = candidates[i].noise;
        }
    }
    return depth < RIM_MIN + (noise + plan->noise_amplitude) / 6;
}

static void paint_cell(struct painter *painter, uint32_t x, uint32_t y)
{
    const fm_skirmish_plan *plan = painter->plan;
    fm_point point = point_of(plan, x, y);
    int64_t depth = fm_skirmish_plan_depth(plan, point);
    fm_terrain outside = plan->symmetry.exact ? FM_TERRAIN_WALL : FM_TERRAIN_WATER;
    if (depth < 0) {
        paint(painter->grid, x, y, outside);
        return;
    }
    struct candidate candidates[FM_SITES_MAX];
    bool beyond_rim = depth >= RIM_MIN + plan->noise_amplitude / 3;
    uint32_t count = gather(painter, point, candidates);
    count = disturb(painter, candidates, count, beyond_rim);
    if (count == 1 && beyond_rim) {
        return; // in the middle of a region
    }
    int64_t least = least_distance(candidates, count);
    fm_terrain terrain = is_rim(plan, candidates, count, least, depth)
                             ? outside
                             : border_at(plan, candidates, count, least);
    if (terrain != FM_TERRAIN_GROUND) {
        paint(painter->grid, x, y, terrain);
    }
}

static void paint_regions(struct painter *painter)
{
    const fm_grid *grid = painter->grid;
    for (uint32_t top = 0; top < grid->height; top += TILE_SIDE) {
        for (uint32_t left = 0; left < grid->width; left += TILE_SIDE) {
            choose_near_sites(painter, left, top);
            for (uint32_t y = top; y < top + TILE_SIDE && y < grid->height; y++) {
                for (uint32_t x = left; x < left + TILE_SIDE && x < grid->width; x++) {
                    paint_cell(painter, x, y);
                }
            }
        }
    }
}

// Blobs, roads and bases

// Cells x0..x1 - 1, y0..y1 - 1.
struct box {
    uint32_t x0, y0, x1, y1;
};

static uint32_t clamp(int64_t number, uint32_t max)
{
    return number < 0 ? 0 : number > max ? max : (uint32_t)number;
}

// The cells of the map that lie within `radius` of a point, and some more.
static struct box box_around(const fm_grid *grid, fm_point at, int64_t radius)
{
    return (struct box){
        .x0 = clamp(fm_point_column(at.x - radius, grid->width), grid->width),
        .y0 = clamp(fm_point_column(at.y - radius, grid->height), grid->height),
        .x1 = clamp(fm_point_column(at.x + radius, grid->width) + 1, grid->width),
        .y1 = clamp(fm_point_column(at.y + radius, grid->height) + 1, grid->height),
    };
}

// A disc whose edge noise moves by up to one and a half radii. Each octave is followed by less than
// it could be itself, so the first ones often decide.
static bool lies_in_blob(const fm_blob *blob, fm_point own, uint32_t noise_shift)
{
    int64_t depth = blob->radius - fm_point_distance(own, blob->at);
    int64_t amplitude = blob->radius * 3 / 2;
    for (uint32_t shift = noise_shift; shift >= NOISE_SHIFT_LOW; shift--) {
        if (depth > amplitude || depth < -amplitude) {
            break;
        }
        amplitude /= 2;
        depth -=
            fm_noise_at(blob->noise_seed + shift, own.x, own.y, shift) * amplitude / FM_NOISE_ONE;
    }
    return depth > 0;
}

// Forests have clearings.
static bool blob_covers(const fm_blob *blob, fm_point own, uint32_t noise_shift)
{
    return lies_in_blob(blob, own, noise_shift) &&
           (blob->terrain != FM_TERRAIN_TREES ||
            fm_noise_at(~blob->noise_seed, own.x, own.y, NOISE_SHIFT_LOW) < FM_NOISE_ONE / 4);
}

static void paint_blob(const struct painter *painter, const fm_blob *blob, const fm_matrix *image)
{
    fm_point at = fm_matrix_apply(image, blob->at);
    struct box box = box_around(painter->grid, at, 5 * blob->radius / 2);
    for (uint32_t y = box.y0; y < box.y1; y++) {
        for (uint32_t x = box.x0; x < box.x1; x++) {
            fm_point own = fm_matrix_undo(image, point_of(painter->plan, x, y));
            if (is_ground(painter->grid, x, y) &&
                blob_covers(blob, own, painter->plan->noise_shift)) {
                paint(painter->grid, x, y, blob->terrain);
            }
        }
    }
}

static void clear_disc(const struct painter *painter, fm_point at, int64_t radius)
{
    struct box box = box_around(painter->grid, at, radius);
    for (uint32_t y = box.y0; y < box.y1; y++) {
        for (uint32_t x = box.x0; x < box.x1; x++) {
            fm_point point = point_of(painter->plan, x, y);
            int64_t dx = point.x - at.x, dy = point.y - at.y;
            if (dx * dx + dy * dy <= radius * radius) {
                paint(painter->grid, x, y, FM_TERRAIN_GROUND);
            }
        }
    }
}

// Discs of at least two cells' radius, about a cell apart, overlap enough for straight steps.
static void clear_road(const struct painter *painter, const fm_road *road)
{
    const fm_skirmish_plan *plan = painter->plan;
    int64_t length = fm_point_distance(plan->sites[road->from].at, road->bend) +
                     fm_point_distance(road->bend, plan->sites[road->to].at);
    int64_t step_count = length / FM_POINT_UNIT + 1;
    for (int64_t step = 0; step <= step_count; step++) {
        fm_point at = fm_skirmish_plan_curve(plan, road, step, step_count);
        for (uint32_t g = 0; g < plan->symmetry.count; g++) {
            clear_disc(painter, fm_matrix_apply(&plan->symmetry.image[g], at), road->radius);
        }
    }
}

static void paint_things(const struct painter *painter)
{
    const fm_skirmish_plan *plan = painter->plan;
    for (uint32_t i = 0; i < plan->blob_count; i++) {
        for (uint32_t g = 0; g < plan->symmetry.count; g++) {
            paint_blob(painter, &plan->blobs[i], &plan->symmetry.image[g]);
        }
    }
    for (uint32_t i = 0; i < plan->road_count; i++) {
        if (!plan->roads[i].closed) {
            clear_road(painter, &plan->roads[i]);
        }
    }
    for (uint32_t i = 0; i <= plan->symmetry.count; i++) {
        clear_disc(painter, plan->sites[i].at, plan->base_radius);
    }
}

// Pockets

struct fill {
    const fm_grid *grid;
    fm_bitmap reached;
    fm_cell *stack;
    size_t stack_count, stack_room;
};

// Open, but not reached so far; after a flood: part of a pocket.
static bool is_unreached(const struct fill *fill, uint32_t x, uint32_t y)
{
    fm_cell cell = fm_cell_at(x, y);
    return !fm_grid_is_blocked(fill->grid, cell) && !fm_bitmap_get(&fill->reached, cell);
}

static fm_status push(struct fill *fill, uint32_t x, uint32_t y)
{
    if (fill->stack_count == fill->stack_room) {
        size_t room = fill->stack_room == 0 ? 1024 : 2 * fill->stack_room;
        fm_cell *grown = fm_memory_resize(fill->grid->memory, fill->stack, fill->stack_room, room,
                                          sizeof(fm_cell));
        if (grown == NULL) {
            return FM_ERR_NO_MEMORY;
        }
        fill->stack = grown;
        fill->stack_room = room;
    }
    fill->stack[fill->stack_count++] = fm_cell_at(x, y);
    return FM_OK;
}

// Pushes the first cell of each new run in columns x0..x1 of a row.
static fm_status push_runs(struct fill *fill, uint32_t x0, uint32_t x1, uint32_t y)
{
    for (uint32_t x = x0; x <= x1; x++) {
        if (is_unreached(fill, x, y) && (x == x0 || !is_unreached(fill, x - 1, y))) {
            fm_status status = push(fill, x, y);
            if (status != FM_OK) {
                return status;
            }
        }
    }
    return FM_OK;
}

// Marks the whole run of open cells around a cell and pushes the runs that touch it.
static fm_status reach_run(struct fill *fill, uint32_t x, uint32_t y)
{
    uint32_t x0 = x, x1 = x;
    while (x0 > 0 && is_unreached(fill, x0 - 1, y)) {
        x0 -= 1;
    }
    while (x1 + 1 < fill->grid->width && is_unreached(fill, x1 + 1, y)) {
        x1 += 1;
    }
    for (uint32_t i = x0; i <= x1; i++) {
        fm_bitmap_set(&fill->reached, fm_cell_at(i, y));
    }
    fm_status status = y > 0 ? push_runs(fill, x0, x1, y - 1) : FM_OK;
    if (status == FM_OK && y + 1 < fill->grid->height) {
        status = push_runs(fill, x0, x1, y + 1);
    }
    return status;
}

// Marks all cells that straight steps reach from one.
static fm_status flood(struct fill *fill, fm_cell from)
{
    fm_status status = push(fill, fm_cell_x(from), fm_cell_y(from));
    while (status == FM_OK && fill->stack_count > 0) {
        fm_cell cell = fill->stack[--fill->stack_count];
        if (!fm_bitmap_get(&fill->reached, cell)) {
            status = reach_run(fill, fm_cell_x(cell), fm_cell_y(cell));
        }
    }
    return status;
}

// Fills a pocket with what fits around it: a wood on a ridge, an island in a lake, a clearing's
// end.
static void close_pockets(const struct fill *fill, fm_grid *grid)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            if (is_unreached(fill, x, y)) {
                paint(grid, x, y, FM_TERRAIN_TREES);
            }
        }
    }
}

// Cells first..last of a row or a column. A cell touches a point on its edge, and one just past it.
// Counted from cells' middles, because which of two cells a point between them belongs to has no
// mirror image in the middle of the map.
struct span {
    int64_t first, last;
};

static struct span cells_that_touch(int64_t at, uint32_t side)
{
    const int64_t reach = FM_POINT_UNIT / 2 + 1;
    int64_t column = fm_point_column(at, side);
    int64_t middle = FM_POINT_UNIT / 2 * (2 * column + 1 - (int64_t)side);
    return (struct span){.first = column - (middle - at >= FM_POINT_UNIT - reach),
                         .last = column + (at - middle >= FM_POINT_UNIT - reach)};
}

// Closes the cells that touch a point. For a point between cells these are all of them, because
// choosing one would favour one side of the map.
static void close_around(const struct fill *fill, fm_point at, fm_grid *grid)
{
    struct span columns = cells_that_touch(at.x, grid->width);
    struct span rows = cells_that_touch(at.y, grid->height);
    for (int64_t y = rows.first; y <= rows.last; y++) {
        for (int64_t x = columns.first; x <= columns.last; x++) {
            if (fm_grid_contains(grid, x, y) &&
                fm_bitmap_get(&fill->reached, fm_cell_at((uint32_t)x, (uint32_t)y))) {
                paint(grid, (uint32_t)x, (uint32_t)y, FM_TERRAIN_TREES);
            }
        }
    }
}

// Rasterizing may leave a gap of one cell in one image and not in another, so that a pocket is open
// to one player only. What is closed to one is closed to all. A road loses no more than the
// outermost cells of its edge by this, which leaves it whole.
static void close_images_of_pockets(const struct fill *fill, const fm_skirmish_plan *plan,
                                    fm_grid *grid)
{
    for (uint32_t y = 0; y < grid->height; y++) {
        for (uint32_t x = 0; x < grid->width; x++) {
            for (uint32_t g = 1; g < plan->symmetry.count && is_unreached(fill, x, y); g++) {
                fm_point point = point_of(plan, x, y);
                close_around(fill, fm_matrix_apply(&plan->symmetry.image[g], point), grid);
            }
        }
    }
}

static fm_status find_and_close_pockets(struct fill *fill, const fm_skirmish_plan *plan,
                                        fm_grid *grid, const fm_cell *bases)
{
    fm_status status = flood(fill, bases[0]);
    if (status == FM_OK && !plan->symmetry.exact) {
        close_images_of_pockets(fill, plan, grid);
        fm_bitmap_clear(&fill->reached);
        status = flood(fill, bases[0]);
    }
    if (status != FM_OK) {
        return status;
    }
    for (uint32_t i = 0; i < plan->symmetry.count; i++) {
        FM_ASSERT(fm_bitmap_get(&fill->reached, bases[i]));
    }
    close_pockets(fill, grid);
    return FM_OK;
}

static fm_status leave_no_pockets(const struct painter *painter, const fm_cell *bases)
{
    fm_grid *grid = painter->grid;
    struct fill fill = {.grid = grid};
    fm_status status =
        fm_bitmap_init(&fill.reached, grid->width, grid->height, false, grid->memory);
    if (status != FM_OK) {
        return status;
    }
    status = find_and_close_pockets(&fill, painter->plan, grid, bases);
    fm_memory_release(grid->memory, fill.stack, fill.stack_room * sizeof(fm_cell));
    fm_bitmap_fini(&fill.reached, grid->memory);
    return status;
}

static void locate_bases(const fm_skirmish_plan *plan, fm_cell *bases)
{
    for (uint32_t i = 0; i < plan->symmetry.count; i++) {
        fm_point at = plan->sites[1 + i].at;
        bases[i] = fm_cell_at((uint32_t)fm_point_column(at.x, plan->width),
                              (uint32_t)fm_point_column(at.y, plan->height));
    }
}

static int64_t widest_border(const fm_skirmish_plan *plan)
{
    uint8_t half_width = 0;
    for (size_t i = 0; i < (size_t)plan->site_count * plan->site_count; i++) {
        uint8_t other = plan->borders[i].half_width;
        half_width = other > half_width ? other : half_width;
    }
    return 2 * FM_POINT_UNIT * (int64_t)half_width;
}

fm_status fm_generate_skirmish(uint32_t players, fm_random *random, fm_grid *grid, fm_cell *bases)
{
    FM_ASSERT(players >= FM_GENERATE_PLAYERS_MIN && players <= FM_GENERATE_PLAYERS_MAX);
    FM_ASSERT(grid->width >= FM_SKIRMISH_SIDE_MIN && grid->height >= FM_SKIRMISH_SIDE_MIN);
    fm_skirmish_plan *plan;
    fm_status status =
        fm_skirmish_plan_create(players, grid->width, grid->height, random, grid->memory, &plan);
    if (status != FM_OK) {
        return status;
    }
    struct painter painter = {.plan = plan, .grid = grid, .border_width = widest_border(plan)};
    locate_bases(plan, bases);
    paint_regions(&painter);
    paint_things(&painter);
    status = leave_no_pockets(&painter, bases);
    fm_skirmish_plan_destroy(plan);
    return status;
}
