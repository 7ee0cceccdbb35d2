// server/process/descriptors.c: see descriptors.h.

#include "server/process/descriptors.h"

#include "server/base/log.h"

#include <sys/resource.h>

void fm_descriptors_reserve(const fm_config *config)
{
    struct rlimit limit;
    rlim_t needed = FM_DESCRIPTORS_SPARE + config->sessions_max +
                    config->worlds_max * FM_DESCRIPTORS_PER_WORLD +
                    (config->http[0] == '\0' ? 0 : config->http_connections_max) +
                    (config->metrics_listen[0] == '\0' ? 0 : config->http_connections_max);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed) {
        return;
    }
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < needed) {
        fm_log(FM_LOG_WARNING, "fewer descriptors than the settings may need (ulimit -n)",
               fm_log_uint("limit", limit.rlim_cur), fm_log_uint("needed", needed));
    }
}
