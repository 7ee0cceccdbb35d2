// core/generate/symmetry.c: see symmetry.h.

#include "core/generate/symmetry.h"

static const fm_matrix identity = {FM_MATRIX_ONE, 0, 0, FM_MATRIX_ONE};
static const fm_matrix half_turn = {-FM_MATRIX_ONE, 0, 0, -FM_MATRIX_ONE};
static const fm_matrix quarter_turn = {0, -FM_MATRIX_ONE, FM_MATRIX_ONE, 0};
static const fm_matrix mirror_x = {-FM_MATRIX_ONE, 0, 0, FM_MATRIX_ONE};
static const fm_matrix mirror_y = {FM_MATRIX_ONE, 0, 0, -FM_MATRIX_ONE};

static fm_matrix multiply(const fm_matrix *a, const fm_matrix *b)
{
    return (fm_matrix){.xx = fm_matrix_round(a->xx * b->xx + a->xy * b->yx),
                       .xy = fm_matrix_round(a->xx * b->xy + a->xy * b->yy),
                       .yx = fm_matrix_round(a->yx * b->xx + a->yy * b->yx),
                       .yy = fm_matrix_round(a->yx * b->xy + a->yy * b->yy)};
}

// The turn by 360 / count degrees. Written out, because the last bit of cos() is not the same on
// every machine.
static fm_matrix turn_of(uint32_t count)
{
    static const int64_t cos_sin[FM_SYMMETRY_IMAGES_MAX + 1][2] = {
        [3] = {-536870912, 929887697}, [5] = {331804471, 1021189159}, [6] = {536870912, 929887697},
        [7] = {669467077, 839485162},  [8] = {759250125, 759250125},
    };
    int64_t cosine = cos_sin[count][0], sine = cos_sin[count][1];
    FM_ASSERT(sine != 0);
    return (fm_matrix){cosine, -sine, sine, cosine};
}

// Powers of one turn. In the second half of an even number they are the first half's opposites, to
// the last bit.
static void fill_turns(fm_symmetry *symmetry, fm_matrix turn)
{
    uint32_t half = symmetry->count % 2 == 0 ? symmetry->count / 2 : symmetry->count;
    symmetry->image[0] = identity;
    for (uint32_t k = 1; k < symmetry->count; k++) {
        symmetry->image[k] = k < half ? multiply(&turn, &symmetry->image[k - 1])
                                      : multiply(&half_turn, &symmetry->image[k - half]);
    }
}

static int64_t difference(const fm_matrix *a, const fm_matrix *b)
{
    int64_t xx = a->xx - b->xx, xy = a->xy - b->xy, yx = a->yx - b->yx, yy = a->yy - b->yy;
    return (xx < 0 ? -xx : xx) + (xy < 0 ? -xy : xy) + (yx < 0 ? -yx : yx) + (yy < 0 ? -yy : yy);
}

static uint8_t closest_image(const fm_symmetry *symmetry, const fm_matrix *wanted)
{
    uint8_t closest = 0;
    for (uint8_t k = 1; k < symmetry->count; k++) {
        if (difference(&symmetry->image[k], wanted) <
            difference(&symmetry->image[closest], wanted)) {
            closest = k;
        }
    }
    return closest;
}

fm_symmetry fm_symmetry_for(uint32_t players, uint32_t width, uint32_t height)
{
    FM_ASSERT(players >= 2 && players <= FM_SYMMETRY_IMAGES_MAX);
    bool square = width == height;
    fm_symmetry symmetry = {.count = players, .exact = true};
    if (players == 2) {
        fill_turns(&symmetry, half_turn);
    } else if (players == 4 && square) {
        fill_turns(&symmetry, quarter_turn);
    } else if (players == 4) {
        fm_matrix images[4] = {identity, mirror_x, half_turn, mirror_y};
        for (uint32_t k = 0; k < 4; k++) {
            symmetry.image[k] = images[k];
        }
    } else if (players == 8 && square) {
        symmetry.count = 4;
        fill_turns(&symmetry, quarter_turn);
        symmetry.count = 8;
        for (uint32_t k = 0; k < 4; k++) {
            symmetry.image[4 + k] = multiply(&symmetry.image[k], &mirror_y);
        }
    } else {
        symmetry.exact = false;
        fill_turns(&symmetry, turn_of(players));
    }
    for (uint32_t a = 0; a < players; a++) {
        for (uint32_t b = 0; b < players; b++) {
            fm_matrix product = multiply(&symmetry.image[a], &symmetry.image[b]);
            symmetry.product[a][b] = closest_image(&symmetry, &product);
        }
    }
    return symmetry;
}
