// tests/sim/faults.h: the list of faults, and how often each has happened.

#pragma once

#include <stdint.h>

// X(name, text)
#define SIM_FAULTS(X)                                                                              \
    X(PREEMPTED, "threads that lost their turn")                                                   \
    X(STALLED, "threads that slept for up to half a second")                                       \
    X(WOKEN, "condition variables that woke somebody for nothing")                                 \
    X(PARTIAL_READ, "reads of a part of what had arrived")                                         \
    X(PARTIAL_WRITE, "writes of a part of what was to be sent")                                    \
    X(HUNG_UP, "clients that disconnected")                                                        \
    X(RESET, "connections reset")                                                                  \
    X(VANISHED, "clients that vanished without a word")                                            \
    X(STOPPED_READING, "clients that stopped reading")                                             \
    X(SPOILT, "bytes sent that are no message")                                                    \
    X(SPOILT_FRAME, "frames of WebSockets that are none")                                          \
    X(SPOILT_RECORD, "TLS records that are damaged or none")                                       \
    X(STRANGER, "handshakes of TLS that were cut off, damaged, too weak or none")                  \
    X(HALF_REQUEST, "HTTP requests that were half, slow or nonsense")                              \
    X(NOT_ACCEPTED, "failures of accept")                                                          \
    X(NO_MEMORY, "allocations failed")                                                             \
    X(STOPPED, "servers told to stop in the middle of everything")                                 \
    X(DISK_FULL, "writes to a full disk")                                                          \
    X(SHORT_WRITE, "writes to the disk that broke off")                                            \
    X(SYNC_FAILED, "syncs that failed")                                                            \
    X(SLOW_SYNC, "syncs that took up to a quarter of a second")                                    \
    X(REQUEST_LOST, "requests to etcd that were lost")                                             \
    X(ANSWER_LOST, "answers of etcd that were lost")                                               \
    X(REQUEST_LATE, "requests to etcd that were carried out up to 2.5 s late")                     \
    X(UNAVAILABLE, "requests to etcd, done or not, that were answered by an error")                \
    X(FROZEN, "times that etcd was frozen")                                                        \
    X(CUT_OFF, "times that the node did not reach etcd")                                           \
    X(MEMBER_GONE, "members of etcd that were gone for a while")                                   \
    X(ETCD_FULL, "times that etcd was full")                                                       \
    X(COMPACTED, "times that etcd forgot past revisions")                                          \
    X(TAKEN, "worlds that another node took")                                                      \
    X(MOVED, "worlds that were moved to another node")                                             \
    X(GIVEN, "worlds that another node moved here")                                                \
    X(KILLED, "servers killed")                                                                    \
    X(POWER_LOST, "power failures")

typedef enum sim_fault {
#define X(name, text) SIM_FAULT_##name,
    SIM_FAULTS(X)
#undef X
    SIM_FAULT_COUNT,
} sim_fault;

/// How often each fault happened in this process.
extern uint64_t sim_fault_counts[SIM_FAULT_COUNT];

static inline void sim_note_fault(sim_fault fault)
{
    sim_fault_counts[fault]++;
}
