// clients/maps/input.h: the input of map readers, and their errors.
//
// A reader sees bytes, never a path that it could open: files beside the map (tilesets, legends)
// come through fm_map_files. An error is one sentence that begins with the place, such as
// "forest.tmx:12: ...".

#pragma once

#include "core/map/grid.h"

#define FM_MAP_FILE_MAX   ((size_t)128 << 20) // bytes of a file; longer ones are refused unread
#define FM_MAP_FAULT_SIZE 1024u               // of a text with what is wrong
#define FM_MAP_PLACE_SIZE 512u                // of a text that names a place

// Files beside a map.
typedef struct fm_map_files {
    /// Whether a file of that name exists.
    bool (*exists)(void *context, const char *name);
    /// Reads a whole file.
    ///
    /// @param name   relative to the map's folder
    /// @param bytes  receives the bytes, to be released with free(), and `size` their number
    /// @param why    receives a few words when it cannot be read; room for FM_MAP_PLACE_SIZE
    /// @return FM_OK, FM_ERR_IO (not there, no file, not readable), FM_ERR_LIMIT (longer than
    ///         FM_MAP_FILE_MAX) or FM_ERR_NO_MEMORY
    fm_status (*read)(void *context, const char *name, char **bytes, size_t *size, char *why);
    void *context;
} fm_map_files;

typedef struct fm_map_input {
    const char *name; // for messages: the path that was asked for
    const char *bytes;
    size_t size;
    const fm_map_files *files;
    const fm_memory *memory; // of the grid
    char *fault;             // room for FM_MAP_FAULT_SIZE
} fm_map_input;

/// Makes the text "PLACE: SENTENCE". @return `status`
fm_status fm_map_refuse(const fm_map_input *input, fm_status status, const char *place,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/// "NAME:LINE:COLUMN"; a column or line that is 0 is left out. `place` has room for
/// FM_MAP_PLACE_SIZE. @return `place`
const char *fm_map_place_line(char *place, const char *name, uint64_t line, uint64_t column);

/// "NAME: pixel 3,4" or another `what`. @return `place`
const char *fm_map_place_cell(char *place, const char *name, const char *what, uint64_t x,
                              uint64_t y);

/// Refuses sides that no map may have, before anything is allocated for them.
///
/// @return FM_OK or FM_ERR_BAD_SIZE
fm_status fm_map_check_sides(const fm_map_input *input, const char *place, uint64_t width,
                             uint64_t height);

/// Makes the grid, or reports out of memory. @return FM_OK or FM_ERR_NO_MEMORY
fm_status fm_map_make_grid(const fm_map_input *input, uint32_t width, uint32_t height,
                           fm_grid **grid);

/// The last part of a path. Points into `path`.
const char *fm_map_base_name(const char *path);

/// Reports out of memory. @return FM_ERR_NO_MEMORY
fm_status fm_map_refuse_memory(const fm_map_input *input);

/// Reads the file beside a map that has its name and more: FILE.yaml.
///
/// @param place   room for FM_MAP_PLACE_SIZE: the file's name, which `beside` points to
/// @param bytes   receives the bytes, to be released with free(); NULL when there is no such file
/// @param beside  receives an input of these bytes, when there are some
/// @return FM_OK, or why it cannot be read, which input->fault says
fm_status fm_map_read_beside(const fm_map_input *input, const char *suffix, char *place,
                             char **bytes, fm_map_input *beside);
