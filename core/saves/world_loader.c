// core/saves/world_loader.c: see world_loader.h.

#include "core/saves/world_loader.h"

fm_cell fm_loader_take_cell(fm_world_loader *loader, const char *what)
{
    fm_cell cell = (fm_cell)fm_reader_take_bounded(&loader->reader, FM_CELL_NONE - 1, what);
    if (fm_cell_x(cell) >= loader->width || fm_cell_y(cell) >= loader->height) {
        fm_reader_fail(&loader->reader, "%s: (%u, %u) lies outside the map.", what, fm_cell_x(cell),
                       fm_cell_y(cell));
        return 0;
    }
    return cell;
}

fm_rect fm_loader_take_rect(fm_world_loader *loader)
{
    fm_reader *reader = &loader->reader;
    fm_rect rect;
    rect.x = (uint32_t)fm_reader_take_bounded(reader, loader->width - 1, "x of a building");
    rect.y = (uint32_t)fm_reader_take_bounded(reader, loader->height - 1, "y of a building");
    rect.width = (uint32_t)fm_reader_take_bounded(reader, loader->width - rect.x, "its width");
    rect.height = (uint32_t)fm_reader_take_bounded(reader, loader->height - rect.y, "its height");
    uint32_t cell_count = rect.width * rect.height;
    if (cell_count == 0 || cell_count > FM_BUILDING_CELLS_MAX) {
        fm_reader_fail(reader, "A building has %u cells, which must be 1..%u.", cell_count,
                       FM_BUILDING_CELLS_MAX);
        return (fm_rect){.width = 1, .height = 1};
    }
    return rect;
}

void fm_loader_take_spec(fm_world_loader *loader, fm_planner_spec *spec)
{
    char text[FM_PLANNER_SPEC_SIZE], error[120];
    fm_reader_take_text(&loader->reader, text, sizeof text, "planner");
    if (!loader->reader.failed && fm_planner_spec_parse(text, spec, error, sizeof error) != FM_OK) {
        fm_reader_fail(&loader->reader, "planner: %s", error);
    }
}

uint32_t fm_loader_take_team(fm_world_loader *loader, bool may_be_none, const char *what)
{
    uint32_t team = (uint32_t)fm_reader_take_bounded(&loader->reader, loader->team_count, what);
    if (team == 0 && !may_be_none) {
        fm_reader_fail(&loader->reader, "%s: teams count from 1.", what);
    }
    return team;
}
