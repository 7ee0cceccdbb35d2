// server/process/syscall_filter.h: which system calls the process may make from now on.
//
// It allows what the server and its libraries need while it serves. The kernel refuses everything
// else (seccomp), such as running a program, making a process, listening on another port or reading
// other processes, in all threads and for good.
//
//   REFUSE  the call fails with EPERM, is counted, and the log and a metric say so
//   KILL    the process ends with SIGSYS; the kernel's log has the number of the call
//
// Built without libseccomp (FOGMARCH_SECCOMP), there is no filter to enter.
//
// Threads: fm_syscall_filter_enter() once, from any; the others from one thread.

#pragma once

#include "core/base/base.h"
#include "core/base/status.h"
#include "server/base/config.h"

#define FM_SYSCALL_FILTER_ERROR_SIZE 160u

/// Puts all threads of the process under the filter; there is no way back.
///
/// @param mode      FM_SYSCALL_FILTER_NONE does nothing
/// @param connects  it will open connections to other servers, and look up their names
/// @param error     receives the reason; room for FM_SYSCALL_FILTER_ERROR_SIZE
/// @return FM_OK, FM_ERR_NO_MEMORY, FM_ERR_BAD_VALUE (built without) or FM_ERR_IO (the kernel)
FM_CHECKED fm_status fm_syscall_filter_enter(fm_syscall_filter mode, bool connects, char *error);

/// Number of refused calls so far.
uint64_t fm_syscall_filter_refusals(void);

/// Logs calls that were refused since the last time.
void fm_syscall_filter_report(void);
