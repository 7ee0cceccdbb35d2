// server/process/warnings.c: see warnings.h.

#include "server/process/warnings.h"

#include "server/base/log.h"
#include "server/process/options.h"

#include <unistd.h>

static void warn_of_token_file(const fm_config *config)
{
    const char *warning = fm_options_token_file_warning(config);
    if (warning != NULL) {
        fm_log(FM_LOG_WARNING, "token file is open to others",
               fm_log_text("file", config->token_file), fm_log_text("reason", warning));
    }
    if (fm_options_token_file_is_passed_over(config)) {
        fm_log(FM_LOG_WARNING, "token file is not read", fm_log_text("file", config->token_file),
               fm_log_text("reason", "FOGMARCH_TOKEN or FOGMARCH_TOKENS takes its place"));
    }
}

void fm_warn_of_settings(const fm_config *config)
{
    if (config->cluster_endpoints[0] != '\0' && config->cluster_name[0] == '\0') {
        fm_log(FM_LOG_WARNING, "cluster_endpoints is set, cluster_name is not: in no cluster");
    }
    warn_of_token_file(config);
}

void fm_warn_of_root(void)
{
    if (geteuid() == 0) {
        fm_log(FM_LOG_WARNING, "runs as root, which it never needs");
    }
}
