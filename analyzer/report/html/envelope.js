// SPDX-License-Identifier: Apache-2.0
// The lowest and highest value of a curve in each column of a picture. No peak is lost.

// Index of the last point at or before the time, or -1.
export function lastAtOrBefore(times, timeNs) {
    let low = 0;
    let high = times.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= timeNs)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

// A curve holds its last value until the next point; before its first there is nothing.
// Returns {low, high}: Float64Array(columns), NaN where nothing is known.
export function envelope(curve, fromNs, toNs, columns) {
    const low = new Float64Array(columns).fill(NaN);
    const high = new Float64Array(columns).fill(NaN);
    const {times, last, below, above} = curve;
    const widthNs = (toNs - fromNs) / columns;
    let at = lastAtOrBefore(times, fromNs);
    let value = at >= 0 ? last[at] : NaN;
    at++;
    for (let column = 0; column < columns; column++) {
        const endNs = fromNs + (column + 1) * widthNs;
        low[column] = high[column] = value;
        for (; at < times.length && times[at] < endNs; at++) {
            const lowest = last[at] - below[at];
            const highest = last[at] + above[at];
            if (!(low[column] <= lowest))
                low[column] = lowest;
            if (!(high[column] >= highest))
                high[column] = highest;
            value = last[at];
        }
    }
    return {low, high};
}

// Where two curves tell of the same, the one that knows every change wins.
export function envelopeOf(curve, detail, fromNs, toNs, columns) {
    const whole = envelope(curve, fromNs, toNs, columns);
    if (!detail || !detail.times.length)
        return whole;
    const fine = envelope(detail, fromNs, toNs, columns);
    const widthNs = (toNs - fromNs) / columns;
    const firstNs = detail.times[0];
    const lastNs = detail.times[detail.times.length - 1];
    for (let column = 0; column < columns; column++) {
        if (fromNs + column * widthNs < firstNs || fromNs + (column + 1) * widthNs > lastNs)
            continue;
        whole.low[column] = fine.low[column];
        whole.high[column] = fine.high[column];
    }
    return whole;
}

export function valueAt(curve, timeNs) {
    const at = lastAtOrBefore(curve.times, timeNs);
    return at < 0 ? NaN : curve.last[at];
}

// The stretch around a moment in which the curve stays at or above a level.
export function stretchAbove(curve, momentNs, level, endNs) {
    const {times, last, above} = curve;
    let first = lastAtOrBefore(times, momentNs);
    let behind = first + 1;
    while (first > 0 && last[first - 1] + above[first - 1] >= level)
        first--;
    while (behind < times.length && last[behind] + above[behind] >= level)
        behind++;
    return {fromNs: first >= 0 ? times[first] : 0, toNs: behind < times.length ? times[behind] : endNs};
}
