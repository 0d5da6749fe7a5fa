/* What a compiler is given to do, and what must run then. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *sum(void *argument)
{
    unsigned long total = 0;

    for (unsigned long i = 1; i < 20000; i++) {
        unsigned char *bytes = malloc(i % 500 + 1);
        bytes[0] = (unsigned char)i;
        total += bytes[0] + *(unsigned *)argument;
        free(bytes);
    }
    return (void *)total;
}

int main(void)
{
    pthread_t threads[4];
    unsigned indices[4];
    void *total;

    for (unsigned i = 0; i < 4; i++) {
        indices[i] = i;
        pthread_create(&threads[i], NULL, sum, &indices[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], &total);
        printf("%lu\n", (unsigned long)total);
    }
    return 0;
}
