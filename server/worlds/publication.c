// server/worlds/publication.c: see publication.h.

#include "server/worlds/publication.h"

#include "server/worlds/host.h"

#include <stdlib.h>

void fm_publication_destroy(fm_publication *publication)
{
    atomic_fetch_sub(&publication->host->published_unread_size, publication->size);
    free(publication->looks);
    free(publication->sight);
    free(publication);
}
