/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer sleeps at wake_count. Who wakes it moves the count first and looks at is_asleep
 * then; who sleeps says so first and looks at the count then. So one of the two sees the other.
 */
#include "rings_file.h"

void rings_file_wake_consumer(struct rings_file *file)
{
    __atomic_fetch_add(&file->header->wake_count, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&file->header->is_asleep, __ATOMIC_SEQ_CST))
        shared_wake(&file->header->wake_count);
}

void rings_file_sleep(struct rings_file *file, uint32_t seen, uint64_t timeout_ns)
{
    struct mt_rings_header *header = file->header;

    __atomic_store_n(&header->is_asleep, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&header->wake_count, __ATOMIC_SEQ_CST) == seen)
        shared_wait(&header->wake_count, seen, timeout_ns);
    __atomic_store_n(&header->is_asleep, 0, __ATOMIC_SEQ_CST);
}
