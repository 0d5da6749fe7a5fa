// SPDX-License-Identifier: Apache-2.0
// Live bytes over time in layers: by operator, site, owner, module or size class.
//
// Each column of the picture shows the moment in it at which the layers together are highest, so
// the outline of the stack is that of the total.
import {keyNumbers, sizeClassOf} from './recording.js';

// Indexes of the blocks by their end; never freed ones are left out. Radix sort on 32-bit times.
function orderOfEnds(blocks, endNs) {
    const scale = 4294967295 / Math.max(endNs, 1);
    let order = new Uint32Array(blocks.count);
    let count = 0;
    for (let i = 0; i < blocks.count; i++)
        if (blocks.end[i] !== Infinity)
            order[count++] = i;
    order = order.subarray(0, count);
    const keys = new Uint32Array(blocks.count);
    for (let i = 0; i < count; i++)
        keys[order[i]] = Math.min(4294967295, blocks.end[order[i]] * scale);
    let other = new Uint32Array(count);
    for (let shift = 0; shift < 33; shift += 11) {
        const starts = new Uint32Array(2049);
        for (let i = 0; i < count; i++)
            starts[((keys[order[i]] >>> shift) & 2047) + 1]++;
        for (let i = 0; i < 2048; i++)
            starts[i + 1] += starts[i];
        for (let i = 0; i < count; i++)
            other[starts[(keys[order[i]] >>> shift) & 2047]++] = order[i];
        [order, other] = [other, order];
    }
    return order;
}

export function endsOf(recording) {
    if (!recording.endOrder)
        recording.endOrder = orderOfEnds(recording.blocks, recording.endNs);
    return recording.endOrder;
}

// Layer of each key: the heaviest ones get their own, the others share the last.
function chooseLayers(recording, ledger, fromNs, toNs, keys, layerMost) {
    const {blocks, groups, rest} = recording;
    const weights = new Float64Array(keys.most);
    for (let i = 0; i < blocks.count && blocks.born[i] <= toNs; i++)
        if (groups.ledger[blocks.group[i]] === ledger && blocks.end[i] > fromNs)
            weights[keys.numberOf(blocks.group[i], sizeClassOf(blocks.size[i]))] += blocks.size[i] *
                (Math.min(blocks.end[i], toNs) - Math.max(blocks.born[i], fromNs) + 1);
    for (let i = 0; i < rest.rows; i++)
        if (groups.ledger[rest.group[i]] === ledger)
            weights[keys.numberOf(rest.group[i], rest.sizeClass[i])] += rest.bornBytes[i];
    const heavy = [];
    for (let key = 0; key < keys.most; key++)
        if (weights[key] > 0)
            heavy.push(key);
    heavy.sort((a, b) => weights[b] - weights[a]);
    const layerOf = new Int16Array(keys.most).fill(Math.min(layerMost, heavy.length));
    heavy.slice(0, layerMost).forEach((key, layer) => { layerOf[key] = layer; });
    const names = heavy.slice(0, layerMost).map(keys.nameOf);
    return {layerOf, names, hasOthers: heavy.length > layerMost, othersCount: heavy.length - layerMost};
}

// Births and ends of kept blocks and of the rest, in order of time, as {timeNs, layer, bytes}.
function* changesOf(recording, ledger, layerAt) {
    const {blocks, groups, rest} = recording;
    const ends = endsOf(recording);
    let born = 0, end = 0, row = 0;
    const change = {timeNs: 0, layer: 0, bytes: 0};
    for (;;) {
        const bornNs = born < blocks.count ? blocks.born[born] : Infinity;
        const endNs = end < ends.length ? blocks.end[ends[end]] : Infinity;
        const rowNs = row < rest.rows ? rest.stretch[row] * rest.stretchNs : Infinity;
        if (bornNs === Infinity && endNs === Infinity && rowNs === Infinity)
            return;
        if (rowNs <= bornNs && rowNs <= endNs) {
            const group = rest.group[row];
            change.timeNs = rowNs;
            change.bytes = rest.bornBytes[row] - rest.freedBytes[row];
            change.layer = groups.ledger[group] === ledger ? layerAt(group, rest.sizeClass[row]) : -1;
            row++;
        } else {
            const isEnd = endNs <= bornNs;
            const block = isEnd ? ends[end++] : born++;
            const group = blocks.group[block];
            change.timeNs = isEnd ? endNs : bornNs;
            change.bytes = isEnd ? -blocks.size[block] : blocks.size[block];
            change.layer = groups.ledger[group] === ledger ?
                layerAt(group, sizeClassOf(blocks.size[block])) : -1;
        }
        if (change.layer >= 0)
            yield change;
    }
}

// {names, values: one Float64Array(columns) per layer}; the last layer holds all others.
export function layersOf(recording, ledger, dimension, fromNs, toNs, columns, layerMost) {
    const keys = keyNumbers(recording, dimension);
    const chosen = chooseLayers(recording, ledger, fromNs, toNs, keys, layerMost);
    const layerCount = chosen.names.length + (chosen.hasOthers ? 1 : 0);
    const layerAt = (group, sizeClass) => chosen.layerOf[keys.numberOf(group, sizeClass)];
    const now = new Float64Array(layerCount + 1);
    const values = Array.from({length: layerCount}, () => new Float64Array(columns));
    const widthNs = (toNs - fromNs) / columns;
    let total = 0, highest = -1, column = -1;
    const keep = () => {
        highest = total;
        for (let layer = 0; layer < layerCount; layer++)
            values[layer][column] = now[layer];
    };
    const moveTo = wanted => {
        while (column < wanted && column < columns - 1) {
            column++;
            keep();
        }
    };
    for (const change of changesOf(recording, ledger, layerAt)) {
        if (change.timeNs >= toNs)
            break;
        if (change.timeNs >= fromNs)
            moveTo(Math.floor((change.timeNs - fromNs) / widthNs));
        now[change.layer] += change.bytes;
        total += change.bytes;
        if (column >= 0 && total > highest)
            keep();
    }
    moveTo(columns - 1);
    return {names: chosen.names, values, hasOthers: chosen.hasOthers, othersCount: chosen.othersCount};
}
