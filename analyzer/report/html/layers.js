// SPDX-License-Identifier: Apache-2.0
// Live bytes over time in layers: by operator, site, owner, purpose, thread, stream, module or size class.
//
// Each column of the picture shows the moment in it at which the layers together are highest, so
// the outline of the stack is that of the total.
import {keyNumbers, sizeClassOf} from './recording.js';
import {groupsOf, visitChanges} from './changes.js';

// Layer of each key, from the bottom: the heaviest ones, one that all others share, those wanted on top.
function chooseLayers(recording, {ledger, fromNs, toNs, layerMost, onTop}, keys) {
    const {blocks, rest} = recording;
    const isWanted = groupsOf(recording, ledger);
    const weights = new Float64Array(keys.most);
    for (let i = 0; i < blocks.count && blocks.born[i] <= toNs; i++)
        if (blocks.end[i] > fromNs && isWanted[blocks.group[i]])
            weights[keys.numberOf(blocks.group[i], sizeClassOf(blocks.size[i]), i)] += blocks.size[i] *
                (Math.min(blocks.end[i], toNs) - Math.max(blocks.born[i], fromNs) + 1);
    for (let i = 0; i < rest.rows; i++)
        if (isWanted[rest.group[i]])
            weights[keys.numberOf(rest.group[i], rest.sizeClass[i], -1)] += rest.bornBytes[i];
    const heavy = [];
    for (let key = 0; key < keys.most; key++)
        if (weights[key] > 0)
            heavy.push(key);
    const top = heavy.filter(key => onTop.includes(keys.nameOf(key)))
        .sort((a, b) => onTop.indexOf(keys.nameOf(b)) - onTop.indexOf(keys.nameOf(a)));
    const below = heavy.filter(key => !top.includes(key)).sort((a, b) => weights[b] - weights[a]);
    const own = below.slice(0, Math.max(0, layerMost - top.length));
    const othersCount = below.length - own.length;
    const layers = [...own.map(key => ({name: keys.nameOf(key), isOnTop: false})),
        ...(othersCount ? [{othersCount, isOnTop: false}] : []),
        ...top.map(key => ({name: keys.nameOf(key), isOnTop: true}))];
    const layerOf = new Int16Array(keys.most).fill(othersCount ? own.length : layers.length);
    own.forEach((key, layer) => { layerOf[key] = layer; });
    top.forEach((key, i) => { layerOf[key] = layers.length - top.length + i; });
    return {layerOf, layers};
}

// wanted: {ledger, dimension, fromNs, toNs, columns, layerMost, onTop: names that stand on top, first highest}
// Layers from the bottom: {name, isOnTop, values: Float64Array(columns)}; that of all others has no
// name, and othersCount.
export function layersOf(recording, wanted) {
    const {ledger, dimension, fromNs, toNs, columns} = wanted;
    const keys = keyNumbers(recording, dimension);
    const chosen = chooseLayers(recording, wanted, keys);
    const layerCount = chosen.layers.length;
    const now = new Float64Array(layerCount + 1);
    const values = Array.from({length: layerCount}, () => new Float64Array(columns));
    const widthNs = (toNs - fromNs) / columns;
    let total = 0, highest = 0, column = 0;
    const keep = () => {
        highest = total;
        for (let layer = 0; layer < layerCount; layer++)
            values[layer][column] = now[layer];
    };
    const moveTo = wanted => {
        while (column < Math.min(wanted, columns - 1)) {
            column++;
            keep();
        }
    };
    visitChanges(recording, ledger, fromNs, toNs, true, (timeNs, group, sizeClass, bytes, block) => {
        moveTo(Math.floor((timeNs - fromNs) / widthNs));
        now[chosen.layerOf[keys.numberOf(group, sizeClass, block)]] += bytes;
        total += bytes;
        if (total > highest)
            keep();
    });
    moveTo(columns - 1);
    return chosen.layers.map((layer, i) => ({...layer, values: values[i]}));
}
