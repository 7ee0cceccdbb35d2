// tests/support/one_thread.c: for tests without the label `threads`: a thread that the test or a
// library starts ends the test. Such tests do not run under ThreadSanitizer (../CMakeLists.txt),
// and nobody would notice that one which begins to use threads is missing there.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context)
{
    (void)thread, (void)attributes, (void)run, (void)context;
    fputs("this test starts a thread: give it the label threads (tests/CMakeLists.txt)\n", stderr);
    abort();
}
