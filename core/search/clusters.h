// core/search/clusters.h: measures the least cost between any two tiles of the map, for the cluster
// heuristic, in the background like core/search/landmarks.h.
//
// The map is cut into at most FM_CLUSTERS_MAX tiles. The least cost between cells of two tiles is
// never more than that between two given ones, so the heuristic is admissible; but it jumps at the
// borders of tiles, so it is not consistent, and inside the goal's tile it says nothing.
//
// Threads: advance() on one worker; the rest in serial stages.

#pragma once

#include "core/search/distance_field.h"

#define FM_CLUSTERS_MAX 64u

typedef struct fm_clusters {
    const fm_view *view;
    const fm_memory *memory;
    uint32_t side, columns, count; // as in fm_cluster_table
    uint32_t *live, *next;         // count * count each, or NULL
    bool busy, ready;              // `next` is being measured, or waits to be published
    bool scanning;                 // the measured costs are being scanned
    uint32_t tile;                 // measured from
    uint32_t cursor;               // of the scan
    fm_distance_field field;
} fm_clusters;

/// Sets up clusters that hold no memory yet. View and memory outlive them.
void fm_clusters_init(fm_clusters *clusters, const fm_view *view, const fm_memory *memory);
void fm_clusters_fini(fm_clusters *clusters);

/// Starts a new table and drops any unfinished one. When out of memory, does nothing.
void fm_clusters_begin(fm_clusters *clusters);

/// Drops the unfinished table. The table in use stays.
void fm_clusters_abandon(fm_clusters *clusters);

/// Continues. When out of memory, drops the unfinished table.
void fm_clusters_advance(fm_clusters *clusters, fm_work *work, uint32_t expansions_at_start);

/// Replaces the table in use if a new one is ready.
void fm_clusters_publish(fm_clusters *clusters, fm_cluster_table *table);

/// Bytes held, the struct itself left out.
size_t fm_clusters_bytes(const fm_clusters *clusters);
