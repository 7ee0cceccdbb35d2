// server/main.c: fogmarchd, from the command line to the exit code. What the server does begins in
// server/process/server.h.

#include "server/base/log.h"
#include "server/commit.h"
#include "server/process/options.h"
#include "server/process/server.h"
#include "server/process/variables.h"

#include <unistd.h>

static void warn_of_variable(void *context, const char *name, const char *meant)
{
    (void)context;
    fm_log(FM_LOG_WARNING, "there is no such variable", fm_log_text("name", name),
           fm_log_text("perhaps", meant == NULL ? "" : meant));
}

int main(int argc, char **argv)
{
    fm_config config;
    int exit_code;
    (void)argc;
    if (!fm_tokens_start()) {
        fprintf(stderr, "fogmarchd: libsodium cannot be used\n");
        return FM_EXIT_FAILURE;
    }
    if (!fm_options_read((const char *const *)argv + 1, (const char *const *)environ, &config,
                         stdout, stderr, &exit_code)) {
        return exit_code;
    }
    fm_log_start(&(fm_log_options){
        .level = config.log_level,
        .format = config.log_format,
        .file = STDERR_FILENO,
    });
    fm_log(FM_LOG_INFO, "fogmarchd starts", fm_log_text("version", FOGMARCH_VERSION),
           fm_log_uint("pid", (uint64_t)getpid()), fm_log_text("listen", config.listen));
    fm_variables_find_unknown((const char *const *)environ, warn_of_variable, NULL);
    exit_code = fm_server_run(&config, (const char *const *)argv + 1, (const char *const *)environ,
                              FOGMARCH_COMMIT);
    fm_log(FM_LOG_INFO, "fogmarchd ends", fm_log_int("exit_code", exit_code));
    fm_log_stop();
    return exit_code;
}
