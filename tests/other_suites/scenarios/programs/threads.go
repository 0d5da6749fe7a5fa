// Goroutines on many threads that allocate in C and in Go.
package main

/*
#include <stdlib.h>
#include <string.h>
static unsigned sum(unsigned size)
{
    unsigned char *bytes = malloc(size);
    unsigned total = 0;
    memset(bytes, 3, size);
    for (unsigned i = 0; i < size; i++)
        total += bytes[i];
    free(bytes);
    return total;
}
*/
import "C"

import (
	"fmt"
	"os/exec"
	"sync"
)

func main() {
	var group sync.WaitGroup
	totals := make([]uint64, 100)
	for index := range totals {
		group.Add(1)
		go func(own int) {
			defer group.Done()
			for round := 0; round < 200; round++ {
				totals[own] += uint64(C.sum(C.uint(round + own)))
				totals[own] += uint64(len(make([]byte, round*10)))
			}
		}(index)
	}
	group.Wait()
	fmt.Println(totals)
	output, err := exec.Command("echo", "child").Output()
	fmt.Println(string(output), err)
}
