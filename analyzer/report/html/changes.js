// SPDX-License-Identifier: Apache-2.0
// Births and ends of blocks in order of time, from any moment on: what is alive then comes first.
import {sizeClassOf} from './recording.js';
import {lowerBound} from './search.js';

// By 32 bits of the time, in three rounds; what these bits cannot tell apart is put right at last.
function orderOfEnds(blocks, endNs) {
    const scale = 4294967295 / Math.max(endNs, 1);
    let order = Uint32Array.from({length: blocks.count}, (_, i) => i)
        .filter(i => blocks.end[i] !== Infinity);
    let other = new Uint32Array(order.length);
    const keys = new Uint32Array(blocks.count);
    for (const i of order)
        keys[i] = Math.min(4294967295, blocks.end[i] * scale);
    for (let shift = 0; shift < 33; shift += 11) {
        const starts = new Uint32Array(2049);
        for (const i of order)
            starts[((keys[i] >>> shift) & 2047) + 1]++;
        for (let digit = 0; digit < 2048; digit++)
            starts[digit + 1] += starts[digit];
        for (const i of order)
            other[starts[(keys[i] >>> shift) & 2047]++] = i;
        [order, other] = [other, order];
    }
    for (let i = 1; i < order.length; i++)
        for (let j = i; j > 0 && blocks.end[order[j - 1]] > blocks.end[order[j]]; j--)
            [order[j - 1], order[j]] = [order[j], order[j - 1]];
    return order;
}

function endsOf(recording) {
    if (!recording.endOrder)
        recording.endOrder = orderOfEnds(recording.blocks, recording.endNs);
    return recording.endOrder;
}

// 1 for each group of the ledger.
export function groupsOf(recording, ledger) {
    return Uint8Array.from(recording.groups.ledger, each => (each === ledger ? 1 : 0));
}

// visit(timeNs, group, sizeClass, bytes, block), block -1 for a part of the rest: first what is alive when the stretch begins, with its
// beginning as time, then every change in it. The rest counts at the begin of its stretches.
export function visitChanges(recording, ledger, fromNs, toNs, hasRest, visit) {
    const {blocks, rest} = recording;
    const isWanted = groupsOf(recording, ledger);
    const ends = endsOf(recording);
    const rows = hasRest ? rest.rows : 0;
    const firstBorn = lowerBound(blocks.count, i => blocks.born[i], fromNs);
    for (let i = 0; i < firstBorn; i++)
        if (blocks.end[i] >= fromNs && isWanted[blocks.group[i]])
            visit(fromNs, blocks.group[i], sizeClassOf(blocks.size[i]), blocks.size[i], i);
    let row = 0;
    for (; row < rows && rest.stretch[row] * rest.stretchNs < fromNs; row++)
        if (isWanted[rest.group[row]])
            visit(fromNs, rest.group[row], rest.sizeClass[row],
                rest.bornBytes[row] - rest.freedBytes[row], -1);
    let born = firstBorn;
    let end = lowerBound(ends.length, i => blocks.end[ends[i]], fromNs);
    for (;;) {
        const bornNs = born < blocks.count ? blocks.born[born] : Infinity;
        const endNs = end < ends.length ? blocks.end[ends[end]] : Infinity;
        const rowNs = row < rows ? rest.stretch[row] * rest.stretchNs : Infinity;
        const timeNs = Math.min(bornNs, endNs, rowNs);
        if (timeNs > toNs || timeNs === Infinity)
            return;
        if (rowNs === timeNs) {
            if (isWanted[rest.group[row]])
                visit(timeNs, rest.group[row], rest.sizeClass[row],
                    rest.bornBytes[row] - rest.freedBytes[row], -1);
            row++;
            continue;
        }
        const isEnd = endNs === timeNs; /* an end comes before a birth of the same moment */
        const block = isEnd ? ends[end++] : born++;
        if (isWanted[blocks.group[block]])
            visit(timeNs, blocks.group[block], sizeClassOf(blocks.size[block]),
                isEnd ? -blocks.size[block] : blocks.size[block], block);
    }
}
