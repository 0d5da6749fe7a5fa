// SPDX-License-Identifier: Apache-2.0
// Finding in what is sorted.

// First index whose key is not below the wanted one; count if there is none.
export function lowerBound(count, keyAt, wanted) {
    let low = 0;
    let high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (keyAt(middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
