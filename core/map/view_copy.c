// core/map/view_copy.c: see view_copy.h.

#include "core/map/view_copy.h"

static size_t weights_size(const fm_view_copy *copy)
{
    return (size_t)copy->view.width * copy->view.height;
}

void fm_view_copy_destroy(fm_view_copy *copy)
{
    if (copy == NULL) {
        return;
    }
    const fm_memory *memory = copy->memory;
    fm_bitmap_fini(&copy->blocked, memory);
    fm_bitmap_fini(&copy->blocked_transposed, memory);
    fm_memory_release(memory, copy->weights, weights_size(copy));
    fm_memory_release(memory, copy, sizeof *copy);
}

static bool copy_bitmap(fm_bitmap *to, const fm_bitmap *from, const fm_memory *memory)
{
    if (fm_bitmap_init(to, from->width, from->height, true, memory) != FM_OK) {
        return false;
    }
    fm_bitmap_copy(to, from);
    return true;
}

static bool copy_weights(fm_view_copy *copy, const uint8_t *weights)
{
    copy->weights = fm_memory_allocate(copy->memory, weights_size(copy));
    if (copy->weights == NULL) {
        return false;
    }
    memcpy(copy->weights, weights, weights_size(copy));
    return true;
}

fm_status fm_view_copy_create(const fm_view *view, const fm_memory *memory, fm_view_copy **out)
{
    fm_view_copy *copy = fm_memory_allocate_zeroed(memory, 1, sizeof *copy);
    if (copy == NULL) {
        return FM_ERR_NO_MEMORY;
    }
    copy->view = *view;
    copy->memory = memory;
    if (!copy_bitmap(&copy->blocked, view->blocked, memory) ||
        (view->blocked_transposed != NULL &&
         !copy_bitmap(&copy->blocked_transposed, view->blocked_transposed, memory)) ||
        (view->weights != NULL && !copy_weights(copy, view->weights))) {
        fm_view_copy_destroy(copy);
        return FM_ERR_NO_MEMORY;
    }
    copy->view.blocked = &copy->blocked;
    copy->view.blocked_transposed =
        view->blocked_transposed == NULL ? NULL : &copy->blocked_transposed;
    copy->view.weights = copy->weights;
    copy->view.tables = NULL; // they change with the world; searches that used them restart without
    copy->view.tiles = NULL;  // the same
    *out = copy;
    return FM_OK;
}
