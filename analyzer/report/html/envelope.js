// SPDX-License-Identifier: Apache-2.0
// The lowest and highest value of a curve in each column of a picture. No peak is lost.
import {lowerBound} from './search.js';

// Index of the last point at or before the time, or -1. Times are whole nanoseconds.
export function lastAtOrBefore(times, timeNs) {
    return lowerBound(times.length, i => times[i], Math.floor(timeNs) + 1) - 1;
}

// When the stretch of a point ends: until then its lowest and highest may have been anywhere.
function stretchEnd(curve, at) {
    return curve.stretchNs ? (Math.floor(curve.times[at] / curve.stretchNs) + 1) * curve.stretchNs : 0;
}

// A curve holds its last value until the next point; before its first there is nothing.
// Returns {low, high}: Float64Array(columns), NaN where nothing is known.
export function envelope(curve, fromNs, toNs, columns) {
    const low = new Float64Array(columns).fill(NaN);
    const high = new Float64Array(columns).fill(NaN);
    const {times, last, below, above} = curve;
    const widthNs = (toNs - fromNs) / columns;
    let at = lastAtOrBefore(times, fromNs); /* the newest point, whose value holds */
    let untilNs = at >= 0 ? stretchEnd(curve, at) : 0;
    for (let column = 0; column < columns; column++) {
        const beginNs = fromNs + column * widthNs;
        if (at >= 0) {
            const isInside = beginNs < untilNs;
            low[column] = last[at] - (isInside ? below[at] : 0);
            high[column] = last[at] + (isInside ? above[at] : 0);
        }
        for (; at + 1 < times.length && times[at + 1] < beginNs + widthNs; at++) {
            const lowest = last[at + 1] - below[at + 1];
            const highest = last[at + 1] + above[at + 1];
            if (!(low[column] <= lowest))
                low[column] = lowest;
            if (!(high[column] >= highest))
                high[column] = highest;
        }
        untilNs = at >= 0 ? stretchEnd(curve, at) : 0;
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
