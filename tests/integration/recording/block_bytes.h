/* SPDX-License-Identifier: Apache-2.0 */
/* A size that nothing else in these programs asks for: such blocks are the test's own. */
#ifndef LEAKTIDE_TEST_BLOCK_BYTES_H
#define LEAKTIDE_TEST_BLOCK_BYTES_H

enum { BLOCK_BYTES = 12347 };

#endif
