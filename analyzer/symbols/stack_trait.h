/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the frames of a stack say about the time in which it allocates.
 */
#ifndef LEAKTIDE_STACK_TRAIT_H
#define LEAKTIDE_STACK_TRAIT_H

enum stack_trait {
    STACK_IS_PYTHON = 1,  /* there is a Python frame in it */
    STACK_IS_ENDING = 2,  /* the program's work is over: the interpreter is taken down, or exit() */
    STACK_IS_CLEARED = 4, /* ... and modules are taken down: the last collection is over */
    STACK_IS_IMPORT = 8,  /* a line of the program loads a module, which stays by design */
    STACK_IS_POOLED = 32, /* an allocator of the interpreter hands small objects out itself */
    STACK_IS_PATTERN = 64, /* compiled for the cache of Python's module re */
    STACK_IS_BOUNDED = 16, /* a cache that says how much it holds at most */
    STACK_IS_COLLECTED =
        128, /* what it makes lives until a collector finds that nobody reaches it */
    STACK_IS_COLLECTING = 256, /* that collector begins to look at all of its heap */
    STACK_IS_CLEANUP = 512, /* a runtime takes itself down: until then nothing was freed for that */
    STACK_IS_FLUSHING = 1024,   /* an interpreter's threads and exit handlers are over */
    STACK_IS_SWEEPING = 2048,   /* its collector runs */
    STACK_IS_SWEPT = 8192,      /* the program told it to, and may have been answered */
    STACK_IS_PLAIN = 4096,      /* what it makes refers to nothing, so no cycle is of such alone */
    STACK_IS_CONTAINER = 32768, /* what it makes is an object that the collector counts */
    STACK_IS_UNNAMED = 16384 /* a function of the interpreter in it may be any that rules look for:
                                what the others do not say of it is not knowable */
};

/* Any of these tells something of how an interpreter ends. */
enum {
    STACK_TELLS_END =
        STACK_IS_ENDING | STACK_IS_CLEARED | STACK_IS_FLUSHING | STACK_IS_SWEEPING | STACK_IS_SWEPT
};

#endif
