// server/process/syscall_filter.c: see syscall_filter.h.
//
// The list was found by strace under all tests over the wire, and by reading what else glibc,
// jemalloc, libuv, OpenSSL and SQLite may call in the same places. Dangerous calls are allowed with
// certain arguments only.
//
// A refused call raises SIGSYS, whose handler counts it and has it fail with EPERM. Only the
// handler knows the number of the call, and it may only count: the log is written later.

#include "server/process/syscall_filter.h"

#ifndef FOGMARCH_SECCOMP

#include <stdio.h>

fm_status fm_syscall_filter_enter(fm_syscall_filter mode, bool connects, char *error)
{
    (void)connects;
    if (mode == FM_SYSCALL_FILTER_NONE) {
        return FM_OK;
    }
    snprintf(error, FM_SYSCALL_FILTER_ERROR_SIZE,
             "this server was built without libseccomp (Debian package libseccomp-dev)");
    return FM_ERR_BAD_VALUE;
}

uint64_t fm_syscall_filter_refusals(void)
{
    return 0;
}

void fm_syscall_filter_report(void)
{
}

#else

#include "server/base/log.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#define NUMBERS_MAX 1024u // system calls have smaller numbers; others are counted as this one

// Names that an architecture does not have are left out there.
// clang-format off
static const char *const allowed[] = {
    // bytes in and out
    "close", "dup", "dup2", "dup3", "fcntl", "fcntl64", "lseek", "_llseek", "pread64", "preadv",
    "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readv", "write", "writev",
    // connections
    "accept", "accept4", "getpeername", "getsockname", "getsockopt", "recv", "recvfrom", "recvmmsg",
    "recvmsg", "send", "sendfile", "sendfile64", "sendmmsg", "sendmsg", "sendto", "setsockopt",
    "shutdown",
    // waiting
    "clock_nanosleep", "clock_nanosleep_time64", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "nanosleep", "pipe",
    "pipe2", "poll", "ppoll", "ppoll_time64", "pselect6", "pselect6_time64", "select",
    // files: journals, saved worlds, certificates, tokens, the web client
    "access", "chmod", "faccessat", "faccessat2", "fallocate", "fchmod", "fchmodat", "fchown",
    "fdatasync", "flock", "fstat", "fstat64", "fstatat64", "fstatfs", "fstatfs64", "fsync",
    "ftruncate", "ftruncate64", "getcwd", "getdents", "getdents64", "lstat", "lstat64", "mkdir",
    "link", "linkat", "mkdirat", "newfstatat", "open", "openat", "readlink", "readlinkat", "rename", "renameat",
    "renameat2", "rmdir", "stat", "stat64", "statfs", "statfs64", "statx", "umask", "unlink",
    "unlinkat", "utimensat",
    // memory
    "brk", "madvise", "membarrier", "mincore", "mremap", "munmap",
    // threads
    "exit", "exit_group", "futex", "futex_time64", "futex_waitv", "get_robust_list", "getcpu",
    "getpriority", "gettid", "restart_syscall", "rseq", "sched_getaffinity", "sched_getattr",
    "sched_getparam", "sched_getscheduler", "sched_yield", "set_robust_list", "set_tid_address",
    "setpriority",
    // signals
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sigreturn",
    // time, randomness, and the process itself
    "clock_getres", "clock_gettime", "clock_gettime64", "getegid", "geteuid", "getgid", "getpid",
    "getppid", "getrandom", "getrlimit", "getrusage", "gettimeofday", "getuid", "sysinfo",
    "time", "times", "ugetrlimit", "uname",
};
// clang-format on

// Allowed when the argument, under the mask, is this value.
static const struct {
    const char *name;
    unsigned argument;
    uint64_t mask, value;
} conditional[] = {
    {"clone", 0, CLONE_THREAD, CLONE_THREAD}, // a thread, never a process
    {"mmap", 2, PROT_EXEC, 0},                // no new code
    {"mmap2", 2, PROT_EXEC, 0},
    {"mprotect", 2, PROT_EXEC, 0},
    {"prlimit64", 0, UINT32_MAX, 0}, // its own
    {"ioctl", 1, UINT32_MAX, FIONBIO},
    {"ioctl", 1, UINT32_MAX, FIONREAD},
    {"prctl", 0, UINT32_MAX, PR_SET_NAME}, // of a thread
    {"prctl", 0, UINT32_MAX, PR_GET_NAME},
    {"socket", 0, UINT32_MAX, AF_UNIX}, // to systemd
};

// What a standby, a relay or a node of a cluster needs besides, to find other servers and connect
// to them. bind() is for the C library, which asks the kernel for this machine's addresses; nobody
// can listen.
static const struct {
    const char *name;
    uint64_t family; // of socket(); 0: any argument
} connecting[] = {
    {"connect", 0}, {"bind", 0}, {"socket", AF_INET}, {"socket", AF_INET6}, {"socket", AF_NETLINK},
};

static _Atomic uint32_t refused[NUMBERS_MAX + 1]; // by number, ever
static uint32_t reported[NUMBERS_MAX + 1];

// ---- refusals -----------------------------------------------------------------------------------

// @return false where it is not known how: such calls then fail without being counted
static bool can_refuse_here(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

static void set_result(ucontext_t *context, int result)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
    context->uc_mcontext.regs[0] = (unsigned long long)result;
#else
    (void)context;
    (void)result;
#endif
}

static void on_refusal(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    uint32_t number = (uint32_t)info->si_syscall;
    atomic_fetch_add(&refused[number < NUMBERS_MAX ? number : NUMBERS_MAX], 1);
    set_result(context, -EPERM);
}

static bool watch_refusals(void)
{
    struct sigaction action = {.sa_sigaction = on_refusal, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSYS, &action, NULL) == 0;
}

uint64_t fm_syscall_filter_refusals(void)
{
    uint64_t sum = 0;
    for (uint32_t number = 0; number <= NUMBERS_MAX; number++) {
        sum += atomic_load_explicit(&refused[number], memory_order_relaxed);
    }
    return sum;
}

static void report(uint32_t number, uint32_t count)
{
    static fm_log_site site;
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
    fm_log_limited(&site, FM_LOG_ERROR, "system call refused",
                   fm_log_text("call", name == NULL ? "unknown" : name),
                   fm_log_uint("number", number), fm_log_uint("count", count));
    free(name);
}

void fm_syscall_filter_report(void)
{
    for (uint32_t number = 0; number <= NUMBERS_MAX; number++) {
        uint32_t count = atomic_load_explicit(&refused[number], memory_order_relaxed);
        if (count != reported[number]) {
            report(number, count - reported[number]);
            reported[number] = count;
        }
    }
}

// ---- the filter ---------------------------------------------------------------------------------

// Names that this architecture does not have are skipped.
static int allow(scmp_filter_ctx filter, const char *name, unsigned count, struct scmp_arg_cmp is)
{
    int number = seccomp_syscall_resolve_name(name);
    return number < 0 ? 0 : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, count, &is);
}

// @return the first error, or 0
static int add_rules(scmp_filter_ctx filter, bool connects)
{
    int result = 0;
    for (size_t i = 0; i < FM_COUNT_OF(allowed) && result == 0; i++) {
        result = allow(filter, allowed[i], 0, (struct scmp_arg_cmp){0});
    }
    for (size_t i = 0; i < FM_COUNT_OF(conditional) && result == 0; i++) {
        result = allow(filter, conditional[i].name, 1,
                       SCMP_CMP(conditional[i].argument, SCMP_CMP_MASKED_EQ, conditional[i].mask,
                                conditional[i].value));
    }
    for (size_t i = 0; connects && i < FM_COUNT_OF(connecting) && result == 0; i++) {
        result = allow(filter, connecting[i].name, connecting[i].family != 0,
                       SCMP_CMP(0, SCMP_CMP_MASKED_EQ, UINT32_MAX, connecting[i].family));
    }
    if (result == 0) { // abort()
        result = allow(filter, "tgkill", 1, SCMP_CMP(0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    }
    // Its flags are in memory, which the kernel's filter cannot read: the C library then uses
    // clone.
    return result != 0 ? result
                       : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int load(scmp_filter_ctx filter, bool connects)
{
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1); // all threads
    if (result == 0) {
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1); // an old kernel cannot
        result = add_rules(filter, connects);
    }
    return result != 0 ? result : seccomp_load(filter);
}

static uint32_t action_of(fm_syscall_filter mode)
{
    return mode == FM_SYSCALL_FILTER_KILL ? SCMP_ACT_KILL_PROCESS
           : can_refuse_here()            ? SCMP_ACT_TRAP
                                          : SCMP_ACT_ERRNO(EPERM);
}

fm_status fm_syscall_filter_enter(fm_syscall_filter mode, bool connects, char *error)
{
    if (mode == FM_SYSCALL_FILTER_NONE) {
        return FM_OK;
    }
    scmp_filter_ctx filter = seccomp_init(action_of(mode));
    if (filter == NULL || !watch_refusals()) {
        seccomp_release(filter);
        snprintf(error, FM_SYSCALL_FILTER_ERROR_SIZE, "out of memory");
        return FM_ERR_NO_MEMORY;
    }
    int result = load(filter, connects);
    seccomp_release(filter);
    if (result != 0) {
        snprintf(error, FM_SYSCALL_FILTER_ERROR_SIZE, "the kernel refuses the filter: %s",
                 strerror(-result));
        return FM_ERR_IO;
    }
    return FM_OK;
}

#endif
