// tests/support/counted_work.c: see counted_work.h.

#include "tests/support/counted_work.h"

#include <stddef.h>
#include <stdlib.h>

#ifndef WORK_IS_COUNTED

uint64_t counted_work(void)
{
    return 0;
}

#else

#define BULK_BYTES 32u // that count like a basic block

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void *__wrap_memset(void *to, int value, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int value, size_t size);
void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);

void __sanitizer_cov_trace_pc(void)
{
    work += 1;
}

void *__wrap_memset(void *to, int value, size_t size)
{
    work += size / BULK_BYTES;
    return __real_memset(to, value, size);
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    work += size / BULK_BYTES;
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size)
{
    work += size / BULK_BYTES;
    return __real_memmove(to, from, size);
}

uint64_t counted_work(void)
{
    if (work == 0) { // every bound would hold
        abort();
    }
    return work;
}

#endif
