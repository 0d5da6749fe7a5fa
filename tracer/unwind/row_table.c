/* SPDX-License-Identifier: Apache-2.0 */
#include "row_table.h"

#include "leaktide/invariant.h"

/*
 * The generation in a word has 8 bits, so after 256 generations old words would fit again: all are
 * wiped twice before that. A writer who slept over it takes his word back.
 */
void row_table_put(struct row_table *table, uint64_t pc, uint64_t generation, uint32_t row)
{
    uint64_t word = row_tag(pc, generation) | row;
    uint64_t *place = &table->words[row_place(pc)];

    MT_ASSERT(!(pc >> ROW_PC_BITS));
    MT_ASSERT(!(row >> ROW_BITS));
    if (row_table_generation(table) != generation)
        return;
    __atomic_store_n(place, word, __ATOMIC_SEQ_CST);
    if (row_table_generation(table) != generation)
        __atomic_compare_exchange_n(place, &word, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void row_table_next_generation(struct row_table *table)
{
    uint64_t generation = __atomic_add_fetch(&table->generation, 1, __ATOMIC_SEQ_CST);

    if (generation % (ROW_GENERATIONS / 2) != ROW_GENERATIONS / 2 - 1)
        return;
    for (uint64_t i = 0; i < UINT64_C(1) << ROW_PLACE_BITS; i++)
        __atomic_store_n(&table->words[i], 0, __ATOMIC_RELAXED);
}
