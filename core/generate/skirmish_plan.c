// core/generate/skirmish_plan.c: see skirmish_plan.h.
//
// Sites are thrown at random and kept where none is too near (Poisson disc sampling). Roads begin
// as the sites' Gabriel graph: two sites are joined when no third lies in the circle over their
// connection. That graph is connected and its edges cross the border of their two regions and no
// other. Then roads are closed at random as long as all sites stay joined, which makes dead ends,
// choke points and detours.
//
// Each statement draws at most one random number: the order in which a compiler evaluates arguments
// and initializers is its own, and the map must not depend on it.

#include "core/generate/skirmish_plan.h"

#include <math.h>

#define SITE_TRIES 20000

// A number in min..max.
static int64_t random_between(fm_random *random, int64_t min, int64_t max)
{
    return max <= min ? min : min + fm_random_below(random, (uint32_t)(max - min + 1));
}

static bool chance(fm_random *random, uint32_t percent)
{
    return fm_random_below(random, 100) < percent;
}

static int64_t cells(int64_t count)
{
    return count * FM_POINT_UNIT;
}

static int64_t at_least(int64_t number, int64_t min)
{
    return number > min ? number : min;
}

static int64_t distance_squared(fm_point a, fm_point b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

int64_t fm_point_distance(fm_point a, fm_point b)
{
    return (int64_t)sqrt((double)distance_squared(a, b));
}

static int64_t blend(int64_t from, int64_t bend, int64_t to, int64_t step, int64_t step_count)
{
    int64_t rest = step_count - step;
    return (from * rest * rest + 2 * bend * rest * step + to * step * step) /
           (step_count * step_count);
}

fm_point fm_skirmish_plan_curve(const fm_skirmish_plan *plan, const fm_road *road, int64_t step,
                                int64_t step_count)
{
    fm_point from = plan->sites[road->from].at, to = plan->sites[road->to].at;
    return (fm_point){blend(from.x, road->bend.x, to.x, step, step_count),
                      blend(from.y, road->bend.y, to.y, step, step_count)};
}

int64_t fm_skirmish_plan_depth(const fm_skirmish_plan *plan, fm_point point)
{
    if (!plan->symmetry.exact) {
        return plan->land_radius - fm_point_distance(point, (fm_point){0, 0});
    }
    int64_t x = plan->half_x - (point.x < 0 ? -point.x : point.x);
    int64_t y = plan->half_y - (point.y < 0 ? -point.y : point.y);
    return x < y ? x : y;
}

// Neighbouring regions lie a sixth of the map apart, but not much farther than a screen is wide,
// and never so near that there would be more than FM_SITES_MAX: a plane has room for fewer than
// 1.16 sites on region_cells^2.
static void choose_scale(fm_skirmish_plan *plan)
{
    uint32_t side = plan->width < plan->height ? plan->width : plan->height;
    uint32_t region = side / 6 < 120 ? side / 6 : 120;
    while ((uint64_t)region * region * 800 < (uint64_t)plan->width * plan->height) {
        region += 1;
    }
    plan->region_cells = region;
    plan->half_x = cells(plan->width) / 2;
    plan->half_y = cells(plan->height) / 2;
    plan->land_radius = cells(side) / 2 - cells(1);
    int64_t base_cells = side / 28 < 18 ? side / 28 : 18;
    plan->base_radius = cells(at_least(base_cells, 4));
    plan->noise_amplitude = cells(region) * 2 / 5;
    plan->noise_shift = 8; // 4 cells
    while ((cells(region) / 2) >> (plan->noise_shift + 1) > 0) {
        plan->noise_shift += 1;
    }
}

// Adds a site and all its images.
static void add_orbit(fm_skirmish_plan *plan, fm_random *random, fm_point at)
{
    uint32_t orbit = (plan->site_count - 1) / plan->symmetry.count + 1;
    uint32_t noise_seed = (uint32_t)fm_random_next(random);
    for (uint32_t k = 0; k < plan->symmetry.count; k++) {
        plan->sites[plan->site_count++] = (fm_site){
            .at = fm_matrix_apply(&plan->symmetry.image[k], at),
            .orbit = orbit,
            .image = k,
            .noise_seed = noise_seed,
        };
    }
}

static fm_point random_point(const fm_skirmish_plan *plan, fm_random *random)
{
    uint32_t x = fm_random_below(random, plan->width);
    uint32_t y = fm_random_below(random, plan->height);
    return fm_point_of_cell(x, y, plan->width, plan->height);
}

// Whether a point is far from all sites and from its own images.
static bool has_room(const fm_skirmish_plan *plan, fm_point point, int64_t room)
{
    for (uint32_t i = 0; i < plan->site_count; i++) {
        if (distance_squared(point, plan->sites[i].at) < room * room) {
            return false;
        }
    }
    for (uint32_t k = 1; k < plan->symmetry.count; k++) {
        fm_point image = fm_matrix_apply(&plan->symmetry.image[k], point);
        if (distance_squared(point, image) < room * room) {
            return false;
        }
    }
    return true;
}

static uint32_t permille_cell(fm_random *random, uint32_t side, uint32_t min, uint32_t max)
{
    return (uint32_t)((uint64_t)side * (uint64_t)random_between(random, min, max) / 1000);
}

// The first player's base, the centre of a cell: in a corner's neighbourhood, or, where eight share
// a square or the land is a disc, where the neighbours on both sides are equally far.
static fm_point choose_base(const fm_skirmish_plan *plan, fm_random *random)
{
    if (!plan->symmetry.exact) {
        fm_point point;
        int64_t depth;
        do {
            point = random_point(plan, random);
            depth = fm_skirmish_plan_depth(plan, point);
        } while (depth < plan->land_radius * 22 / 100 || depth > plan->land_radius * 30 / 100);
        return point;
    }
    uint32_t x_min = 130, x_max = 200, y_min = 130, y_max = 200;
    if (plan->symmetry.count == 2) {
        y_max = 350;
    } else if (plan->symmetry.count == 8) {
        x_min = 100, x_max = 120, y_min = 320, y_max = 340;
    }
    uint32_t x = permille_cell(random, plan->width, x_min, x_max);
    uint32_t y = permille_cell(random, plan->height, y_min, y_max);
    return fm_point_of_cell(x, y, plan->width, plan->height);
}

static void place_sites(fm_skirmish_plan *plan, fm_random *random)
{
    plan->sites[plan->site_count++] = (fm_site){.noise_seed = 0};
    add_orbit(plan, random, choose_base(plan, random));

    int64_t room = cells(plan->region_cells);
    for (uint32_t i = 0; i < SITE_TRIES; i++) {
        fm_point point = random_point(plan, random);
        if (plan->site_count + plan->symmetry.count <= FM_SITES_MAX &&
            fm_skirmish_plan_depth(plan, point) > room * 2 / 5 && has_room(plan, point, room)) {
            add_orbit(plan, random, point);
        }
    }
}

static bool is_gabriel_edge(const fm_skirmish_plan *plan, uint32_t a, uint32_t b)
{
    fm_point at = plan->sites[a].at, bt = plan->sites[b].at;
    int64_t length_squared = distance_squared(at, bt);
    for (uint32_t c = 0; c < plan->site_count; c++) {
        fm_point ct = plan->sites[c].at;
        if (c != a && c != b &&
            distance_squared(at, ct) + distance_squared(bt, ct) < length_squared) {
            return false;
        }
    }
    return true;
}

static uint32_t inverse_image(const fm_symmetry *symmetry, uint32_t k)
{
    uint32_t inverse = 0;
    while (symmetry->product[k][inverse] != 0) {
        inverse += 1;
    }
    return inverse;
}

// Of all images of a pair of sites exactly one is the original: the one whose site of the lower
// orbit is an original, or, within an orbit, whose second image number is not above its inverse.
static bool is_original_pair(const fm_skirmish_plan *plan, uint32_t a, uint32_t b)
{
    const fm_site *from = &plan->sites[a], *to = &plan->sites[b];
    if (a == 0) {
        return b != 0 && to->image == 0;
    }
    if (from->image != 0 || from->orbit > to->orbit || b == 0 || a == b) {
        return false;
    }
    return from->orbit < to->orbit || to->image <= inverse_image(&plan->symmetry, to->image);
}

// A pair that some image turns round must not bend: its curve would differ from its own image.
static bool is_turned_round(const fm_skirmish_plan *plan, uint32_t a, uint32_t b)
{
    const fm_site *from = &plan->sites[a], *to = &plan->sites[b];
    return from->orbit == to->orbit && inverse_image(&plan->symmetry, to->image) == to->image;
}

static fm_road make_road(const fm_skirmish_plan *plan, fm_random *random, uint32_t a, uint32_t b)
{
    fm_point from = plan->sites[a].at, to = plan->sites[b].at;
    int64_t bend_percent = random_between(random, -35, 35);
    int64_t region = plan->region_cells;
    int64_t radius_min = at_least(cells(region) / 26, cells(2));
    int64_t radius = random_between(random, radius_min, at_least(cells(region) / 11, cells(3)));
    fm_point middle = {(from.x + to.x) / 2, (from.y + to.y) / 2};
    fm_point bend = {middle.x + (from.y - to.y) * bend_percent / 100,
                     middle.y + (to.x - from.x) * bend_percent / 100};
    // The control point stays on the land, and with it the whole curve.
    if (is_turned_round(plan, a, b) || fm_skirmish_plan_depth(plan, bend) < radius) {
        bend = middle;
    }
    fm_road road = {.from = a, .to = b, .bend = bend, .radius = radius};
    for (uint32_t i = 0; i < FM_ROAD_SAMPLES; i++) {
        road.samples[i] = fm_skirmish_plan_curve(plan, &road, i, FM_ROAD_SAMPLES - 1);
    }
    return road;
}

// A Gabriel graph is planar, so it has fewer than three roads to a site, and there is at most one
// road more to the centre.
static void add_road(fm_skirmish_plan *plan, fm_random *random, uint32_t a, uint32_t b)
{
    FM_ASSERT(plan->road_count < FM_ROADS_MAX);
    plan->roads[plan->road_count++] = make_road(plan, random, a, b);
}

static uint32_t find_group(uint16_t *groups, uint32_t site)
{
    while (groups[site] != site) {
        groups[site] = groups[groups[site]];
        site = groups[site];
    }
    return site;
}

// Whether the roads that are not closed join all sites.
static bool roads_join_all(const fm_skirmish_plan *plan)
{
    uint16_t groups[FM_SITES_MAX];
    uint32_t group_count = plan->site_count;
    for (uint32_t i = 0; i < plan->site_count; i++) {
        groups[i] = (uint16_t)i;
    }
    for (uint32_t i = 0; i < plan->road_count; i++) {
        for (uint32_t g = 0; g < plan->symmetry.count && !plan->roads[i].closed; g++) {
            uint32_t a = fm_skirmish_plan_image(plan, g, plan->roads[i].from);
            uint32_t b = fm_skirmish_plan_image(plan, g, plan->roads[i].to);
            a = find_group(groups, a);
            b = find_group(groups, b);
            group_count -= a != b;
            groups[a] = (uint16_t)b;
        }
    }
    return group_count == 1;
}

static void close_some_roads(fm_skirmish_plan *plan, fm_random *random)
{
    for (uint32_t i = 0; i < plan->road_count; i++) {
        plan->roads[i].closed = chance(random, 40);
        plan->roads[i].closed = plan->roads[i].closed && roads_join_all(plan);
    }
}

static void lay_roads(fm_skirmish_plan *plan, fm_random *random)
{
    int64_t length_max = cells(plan->region_cells) * 3;
    for (uint32_t a = 0; a < plan->site_count; a++) {
        for (uint32_t b = 0; b < plan->site_count; b++) {
            if (is_original_pair(plan, a, b) &&
                distance_squared(plan->sites[a].at, plan->sites[b].at) < length_max * length_max &&
                is_gabriel_edge(plan, a, b)) {
                add_road(plan, random, a, b);
            }
        }
    }
    // Sites far apart, or images that rounding has moved across a circle, can leave a gap. Roads to
    // the centre close any.
    for (uint32_t b = 1; b < plan->site_count && !roads_join_all(plan); b++) {
        if (plan->sites[b].image == 0) {
            add_road(plan, random, 0, b);
        }
    }
    FM_ASSERT(roads_join_all(plan));
    close_some_roads(plan, random);
}

static fm_border random_border(const fm_skirmish_plan *plan, fm_random *random)
{
    int64_t region = plan->region_cells;
    int64_t half_width = random_between(random, at_least(region / 30, 1), at_least(region / 13, 2));
    uint32_t kind = fm_random_below(random, 100);
    fm_terrain terrain = kind < 74   ? FM_TERRAIN_WALL
                         : kind < 88 ? FM_TERRAIN_WATER
                                     : FM_TERRAIN_TREES;
    return (fm_border){.terrain = (uint8_t)terrain, .half_width = (uint8_t)half_width};
}

static void set_border(fm_skirmish_plan *plan, uint32_t a, uint32_t b, fm_border border)
{
    for (uint32_t g = 0; g < plan->symmetry.count; g++) {
        uint32_t ga = fm_skirmish_plan_image(plan, g, a), gb = fm_skirmish_plan_image(plan, g, b);
        plan->borders[(size_t)ga * plan->site_count + gb] = border;
        plan->borders[(size_t)gb * plan->site_count + ga] = border;
    }
}

// Along the axis of a mirror a border would be as straight as a ruler.
static bool lies_on_mirror(const fm_skirmish_plan *plan, uint32_t a, uint32_t b)
{
    const fm_site *from = &plan->sites[a], *to = &plan->sites[b];
    const fm_matrix *image = &plan->symmetry.image[to->image];
    return from->orbit == to->orbit && image->xx * image->yy - image->xy * image->yx < 0;
}

static void raise_borders(fm_skirmish_plan *plan, fm_random *random)
{
    const fm_border open = {.terrain = FM_TERRAIN_GROUND, .half_width = 0};
    for (uint32_t a = 0; a < plan->site_count; a++) {
        for (uint32_t b = 0; b < plan->site_count; b++) {
            if (is_original_pair(plan, a, b)) {
                fm_border border = random_border(plan, random);
                set_border(plan, a, b, lies_on_mirror(plan, a, b) ? open : border);
            }
        }
    }
    for (uint32_t i = 0; i < plan->road_count; i++) {
        if (!plan->roads[i].closed && chance(random, 20)) {
            set_border(plan, plan->roads[i].from, plan->roads[i].to, open);
        }
    }
}

// Squared distance to the nearest of a few points on the roads.
static int64_t distance_from_roads(const fm_skirmish_plan *plan, fm_point point)
{
    int64_t least = INT64_MAX;
    for (uint32_t g = 0; g < plan->symmetry.count; g++) {
        fm_point own = fm_matrix_undo(&plan->symmetry.image[g], point);
        for (uint32_t i = 0; i < plan->road_count; i++) {
            for (uint32_t j = 0; j < FM_ROAD_SAMPLES && !plan->roads[i].closed; j++) {
                int64_t distance = distance_squared(own, plan->roads[i].samples[j]);
                least = distance < least ? distance : least;
            }
        }
    }
    return least;
}

// Of several random places the one that is least in the way. One that must not lie half off the
// land is kept as far from its edge as from the roads.
static fm_point blob_place(const fm_skirmish_plan *plan, fm_random *random, uint32_t tries,
                           bool inland)
{
    fm_point best = {0, 0};
    int64_t best_distance = -1;
    for (uint32_t i = 0; i < tries; i++) {
        fm_point point = random_point(plan, random);
        int64_t distance = distance_from_roads(plan, point);
        int64_t depth = fm_skirmish_plan_depth(plan, point);
        distance = inland && depth * depth < distance ? depth * depth : distance;
        if (depth > 0 && distance > best_distance) {
            best = point;
            best_distance = distance;
        }
    }
    return best;
}

// About four blobs to a region. Every map has some of each kind, and a lake that is not small.
static void scatter_blobs(fm_skirmish_plan *plan, fm_random *random)
{
    static const fm_terrain kinds[] = {FM_TERRAIN_WATER, FM_TERRAIN_TREES, FM_TERRAIN_TREES,
                                       FM_TERRAIN_WALL};
    uint32_t count = plan->site_count * 4 / plan->symmetry.count + FM_COUNT_OF(kinds);
    int64_t region = cells(plan->region_cells);
    for (uint32_t i = 0; i < count && i < FM_BLOBS_MAX; i++) {
        fm_terrain terrain = kinds[i % FM_COUNT_OF(kinds)];
        int64_t radius_min = i == 0 ? region / 5 : region / 12;
        int64_t radius_max = terrain == FM_TERRAIN_WALL ? region / 7 : region * 2 / 7;
        fm_blob *blob = &plan->blobs[plan->blob_count++];
        blob->terrain = terrain;
        blob->at = blob_place(plan, random, i == 0 ? 16 : 4, i == 0);
        blob->radius = random_between(random, radius_min, radius_max);
        blob->noise_seed = (uint32_t)fm_random_next(random);
    }
}

fm_status fm_skirmish_plan_create(uint32_t players, uint32_t width, uint32_t height,
                                  fm_random *random, const fm_memory *memory,
                                  fm_skirmish_plan **out)
{
    fm_skirmish_plan *plan = fm_memory_allocate_zeroed(memory, 1, sizeof *plan);
    if (plan == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    plan->symmetry = fm_symmetry_for(players, width, height);
    plan->width = width;
    plan->height = height;
    plan->memory = memory;
    choose_scale(plan);
    place_sites(plan, random);
    lay_roads(plan, random);

    size_t pair_count = (size_t)plan->site_count * plan->site_count;
    plan->borders = fm_memory_allocate_zeroed(memory, pair_count, sizeof(fm_border));
    if (plan->borders == NULL) {
        fm_skirmish_plan_destroy(plan);
        return FM_ERR_NO_MEMORY;
    }
    raise_borders(plan, random);
    scatter_blobs(plan, random);
    *out = plan;
    return FM_OK;
}

void fm_skirmish_plan_destroy(fm_skirmish_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    size_t pair_count = (size_t)plan->site_count * plan->site_count;
    fm_memory_release(plan->memory, plan->borders, pair_count * sizeof(fm_border));
    fm_memory_release(plan->memory, plan, sizeof *plan);
}
