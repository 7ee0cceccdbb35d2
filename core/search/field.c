// core/search/field.c: see field.h.

#include "core/search/field.h"

static uint32_t g_at(const fm_field *field, const fm_page *page, uint32_t position)
{
    const void *node = page->nodes + (size_t)position * field->pages->node_size;
    return *(const uint32_t *)node;
}

fm_cell fm_field_step(const fm_field *field, fm_cell cell, fm_step_choice choice)
{
    const fm_page *page = fm_pages_find(field->pages, cell);
    return page == NULL ? FM_CELL_NONE : fm_field_step_from(field, page, cell, choice);
}

fm_cell fm_field_step_from(const fm_field *field, const fm_page *page, fm_cell cell,
                           fm_step_choice choice)
{
    fm_cell best = FM_CELL_NONE;
    uint32_t best_cost = FM_COST_INFINITE, best_square = 0;
    for (uint32_t moves = fm_view_moves(field->view, cell); moves != 0; moves &= moves - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(moves);
        fm_page_step step = fm_page_steps[fm_page_position(cell)][i];
        uint32_t g = g_at(field, page->near[step.page], step.position);
        if (g >= FM_COST_INFINITE) {
            continue;
        }
        fm_cell next = fm_cell_step(cell, i);
        uint32_t cost = fm_view_cost(field->view, cell, i, next) + g;
        uint32_t dx = fm_cell_dx(next, field->goal), dy = fm_cell_dy(next, field->goal);
        uint32_t square = dx * dx + dy * dy;
        if (cost < best_cost ||
            (cost == best_cost && square < best_square && choice == FM_STEP_NEAREST)) {
            best = next;
            best_cost = cost;
            best_square = square;
        }
    }
    return best;
}

// Between an edit and the tick in which the search handles it, its distances are those of another
// map, and following them could lead in a circle. So each step must go strictly down.
uint32_t fm_field_path(const fm_field *field, fm_cell start, fm_step_choice choice, fm_cell *cells,
                       uint32_t capacity)
{
    uint32_t length = 0, g_before = FM_COST_INFINITE;
    for (fm_cell cell = start; cell != FM_CELL_NONE; cell = fm_field_step(field, cell, choice)) {
        if (cell != start) {
            uint32_t g = *(const uint32_t *)fm_pages_node(field->pages, cell);
            if (g >= g_before) {
                return 0;
            }
            g_before = g;
        }
        if (length < capacity) {
            cells[length] = cell;
        }
        length += 1;
        if (cell == field->goal) {
            return length;
        }
    }
    return 0;
}
