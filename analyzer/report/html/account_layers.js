// SPDX-License-Identifier: Apache-2.0
// The resident memory of a process in layers: what its accounts say it is made of.
import {CURVE_ACCOUNT} from './recording.js';
import {lastAtOrBefore} from './envelope.js';

function curvesOfProcess(recording, process) {
    return recording.curves.filter(curve => curve.of === CURVE_ACCOUNT &&
        recording.accounts[curve.subject].process === process);
}

export function hasAccount(recording, process) {
    return curvesOfProcess(recording, process).some(curve => curve.times.length > 1);
}

const sumOf = values => values.reduce((sum, value) => sum + value, 0);

// An account holds until the next one. As layersOf(): from the bottom, the largest first.
export function accountLayers(recording, {process, fromNs, toNs, columns, layerMost}) {
    const widthNs = (toNs - fromNs) / columns;
    const layers = curvesOfProcess(recording, process).map(curve => ({
        name: recording.accounts[curve.subject].name, isOnTop: false,
        values: Float64Array.from({length: columns}, (_, i) => {
            const at = lastAtOrBefore(curve.times, fromNs + (i + 1) * widthNs);
            return at < 0 ? 0 : curve.last[at];
        }),
    })).sort((a, b) => sumOf(b.values) - sumOf(a.values));
    const others = layers.slice(layerMost);
    if (!others.length)
        return layers;
    return [...layers.slice(0, layerMost), {othersCount: others.length, isOnTop: false,
        values: others[0].values.map((_, i) => others.reduce((sum, each) => sum + each.values[i], 0))}];
}
