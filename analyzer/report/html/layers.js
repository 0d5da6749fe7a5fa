// SPDX-License-Identifier: Apache-2.0
// Live bytes over time in layers: by operator, site, owner, module or size class.
//
// Each column of the picture shows the moment in it at which the layers together are highest, so
// the outline of the stack is that of the total.
import {keyNumbers, sizeClassOf} from './recording.js';
import {groupsOf, visitChanges} from './changes.js';

// Layer of each key: the heaviest ones get their own, the others share the last.
function chooseLayers(recording, ledger, fromNs, toNs, keys, layerMost) {
    const {blocks, rest} = recording;
    const isWanted = groupsOf(recording, ledger);
    const weights = new Float64Array(keys.most);
    for (let i = 0; i < blocks.count && blocks.born[i] <= toNs; i++)
        if (blocks.end[i] > fromNs && isWanted[blocks.group[i]])
            weights[keys.numberOf(blocks.group[i], sizeClassOf(blocks.size[i]))] += blocks.size[i] *
                (Math.min(blocks.end[i], toNs) - Math.max(blocks.born[i], fromNs) + 1);
    for (let i = 0; i < rest.rows; i++)
        if (isWanted[rest.group[i]])
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

// {names, values: one Float64Array(columns) per layer}; the last layer holds all others.
export function layersOf(recording, ledger, dimension, fromNs, toNs, columns, layerMost) {
    const keys = keyNumbers(recording, dimension);
    const chosen = chooseLayers(recording, ledger, fromNs, toNs, keys, layerMost);
    const layerCount = chosen.names.length + (chosen.hasOthers ? 1 : 0);
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
    visitChanges(recording, ledger, fromNs, toNs, true, (timeNs, group, sizeClass, bytes) => {
        moveTo(Math.floor((timeNs - fromNs) / widthNs));
        now[chosen.layerOf[keys.numberOf(group, sizeClass)]] += bytes;
        total += bytes;
        if (total > highest)
            keep();
    });
    moveTo(columns - 1);
    return {names: chosen.names, values, hasOthers: chosen.hasOthers, othersCount: chosen.othersCount};
}
