// clients/maps/picture.c: see picture.h.

#include "clients/maps/picture.h"

fm_status fm_colouring_begin(fm_colouring *colouring, const fm_map_input *input, uint64_t width,
                             uint64_t height)
{
    colouring->input = input;
    colouring->grid = NULL;
    fm_status status = fm_map_check_sides(input, input->name, width, height);
    if (status == FM_OK) {
        status = fm_legend_find(input, &(fm_map_letters){.cost = {0}}, &colouring->legend);
    }
    if (status == FM_OK) {
        status = fm_map_make_grid(input, (uint32_t)width, (uint32_t)height, &colouring->grid);
    }
    return status;
}

static fm_status refuse_pixel(const fm_colouring *colouring, uint32_t x, uint32_t y, fm_pixel pixel)
{
    const fm_map_input *input = colouring->input;
    char place[FM_MAP_PLACE_SIZE];
    fm_map_place_cell(place, input->name, "pixel", x, y);
    if (colouring->legend.band_count > 0) {
        return fm_map_refuse(input, FM_ERR_BAD_VALUE, place,
                             "its height of %u is above all heights of %.100s.yaml", pixel.height,
                             fm_map_base_name(input->name));
    }
    return fm_map_refuse(input, FM_ERR_BAD_VALUE, place,
                         "#%02x%02x%02x is the colour of no terrain; %.100s.yaml may say which it "
                         "is, under colours, heights or other",
                         pixel.red, pixel.green, pixel.blue, fm_map_base_name(input->name));
}

fm_status fm_colouring_set(fm_colouring *colouring, uint32_t x, uint32_t y, fm_pixel pixel)
{
    const fm_legend *legend = &colouring->legend;
    fm_map_look look = legend->transparent;
    uint32_t rgb = (uint32_t)pixel.red << 16 | (uint32_t)pixel.green << 8 | pixel.blue;
    bool known = pixel.transparent ||
                 (legend->band_count > 0 ? fm_legend_find_height(legend, pixel.height, &look)
                                         : fm_legend_find_colour(legend, rgb, &look));
    if (!known) {
        return refuse_pixel(colouring, x, y, pixel);
    }
    if (look.terrain != FM_TERRAIN_GROUND || look.cost != FM_COST_FLOOR) {
        fm_grid_set(colouring->grid, fm_cell_at(x, y), (fm_terrain)look.terrain, look.cost);
    }
    return FM_OK;
}
