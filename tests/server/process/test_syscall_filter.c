// test_syscall_filter.c: which system calls the filter allows.
//
// Goal: the filter refuses to start programs and processes, to make code executable and to open
// other kinds of sockets, also in threads that were started before it; it allows files, threads and
// memory. A refused call is counted, logged and fails, or ends the process.
// tests/e2e/e2e_filter.py tests the server itself. Method: each case runs in its own process,
// because a filter cannot be removed. Without libseccomp only the error is tested that says so.

#include "tests/support/support.h"

#include "server/base/log.h"
#include "server/process/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FOGMARCH_SECCOMP

// Runs it in another process. Returns the status from waitpid().
static int status_of(void (*run)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// cmocka does not report failed assertions in the child, so this prints their line.
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);               \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void enter(fm_syscall_filter mode)
{
    char error[FM_SYSCALL_FILTER_ERROR_SIZE] = "";
    if (fm_syscall_filter_enter(mode, false, error) != FM_OK) {
        fprintf(stderr, "%s\n", error);
        _exit(1);
    }
}

static int run_a_program(void)
{
    char name[] = "true", *const arguments[] = {name, NULL}, *const environment[] = {NULL};
    return execve("/bin/true", arguments, environment);
}

static void *try_to_run_a_program(void *context)
{
    pthread_mutex_t *gate = context;
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    MUST(run_a_program() == -1 && errno == EPERM);
    return NULL;
}

static void refuse(void)
{
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t before, after;
    pthread_mutex_lock(&gate);
    MUST(pthread_create(&before, NULL, try_to_run_a_program, &gate) == 0);
    enter(FM_SYSCALL_FILTER_REFUSE);
    pthread_mutex_unlock(&gate);
    MUST(pthread_create(&after, NULL, try_to_run_a_program, &gate) == 0);
    MUST(pthread_join(before, NULL) == 0 && pthread_join(after, NULL) == 0);

    MUST(fm_syscall_filter_refusals() == 2);
    MUST(fork() == -1 && errno == EPERM);
    MUST(socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM);
    MUST(kill(getppid(), 0) == -1 && errno == EPERM);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    MUST(mprotect(page, 4096, PROT_READ | PROT_EXEC) == -1 && errno == EPERM);
    MUST(fm_syscall_filter_refusals() == 6);

    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    char text[4096] = "";
    MUST(file >= 0 && read(file, text, sizeof text - 1) > 0 && close(file) == 0);
    MUST(strstr(text, "Seccomp:\t2\n") != NULL);
    char *block = malloc(64u << 20);
    MUST(block != NULL);
    memset(block, 1, 64u << 20);
    free(block);
    MUST(fm_syscall_filter_refusals() == 6);
}

static void test_refused(void **state)
{
    (void)state;
    assert_int_equal(status_of(refuse), 0);
}

static void refuse_and_report(void)
{
    enter(FM_SYSCALL_FILTER_REFUSE);
    MUST(run_a_program() == -1);
    MUST(run_a_program() == -1);
    int pipes[2];
    MUST(pipe(pipes) == 0);
    fm_log_start(&(fm_log_options){.level = FM_LOG_INFO, .file = pipes[1]});
    fm_syscall_filter_report();
    fm_syscall_filter_report(); // nothing new: no line
    fm_log_stop();
    close(pipes[1]);
    char text[4096] = "";
    bool has_read = read(pipes[0], text, sizeof text - 1) > 0;
    _exit(has_read && strstr(text, "system call refused") != NULL &&
                  strstr(text, "call=execve") != NULL && strstr(text, "count=2") != NULL &&
                  strchr(text, '\n') == strrchr(text, '\n')
              ? 0
              : 1);
}

static void test_the_log_names_the_call(void **state)
{
    (void)state;
    assert_int_equal(status_of(refuse_and_report), 0);
}

static void be_killed(void)
{
    enter(FM_SYSCALL_FILTER_KILL);
    close(open("/dev/null", O_RDONLY | O_CLOEXEC));
    run_a_program();
}

static void test_killed(void **state)
{
    (void)state;
    int status = status_of(be_killed);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void do_as_ever(void)
{
    enter(FM_SYSCALL_FILTER_NONE);
    run_a_program();
    _exit(1);
}

static void connect_to_others(void)
{
    char error[FM_SYSCALL_FILTER_ERROR_SIZE];
    MUST(fm_syscall_filter_enter(FM_SYSCALL_FILTER_REFUSE, true, error) == FM_OK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(fd >= 0);
    MUST(fm_syscall_filter_refusals() == 0);
    MUST(listen(fd, 1) == -1 && errno == EPERM);
    MUST(socket(AF_PACKET, SOCK_RAW, 0) == -1 && errno == EPERM);
    MUST(run_a_program() == -1 && errno == EPERM);
    MUST(fm_syscall_filter_refusals() == 3);
}

static void test_connecting(void **state)
{
    (void)state;
    assert_int_equal(status_of(connect_to_others), 0);
}

static void test_none(void **state)
{
    (void)state;
    assert_int_equal(status_of(do_as_ever), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_connecting), cmocka_unit_test(test_the_log_names_the_call),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void test_built_without(void **state)
{
    (void)state;
    char error[FM_SYSCALL_FILTER_ERROR_SIZE] = "";
    assert_int_equal(fm_syscall_filter_enter(FM_SYSCALL_FILTER_NONE, false, error), FM_OK);
    assert_int_equal(fm_syscall_filter_enter(FM_SYSCALL_FILTER_KILL, true, error),
                     FM_ERR_BAD_VALUE);
    assert_non_null(strstr(error, "built without libseccomp"));
    assert_int_equal(fm_syscall_filter_refusals(), 0);
    fm_syscall_filter_report();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_built_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
