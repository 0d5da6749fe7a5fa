// SPDX-License-Identifier: Apache-2.0
// Where the reader is: zoom, selection, ledger, stacking. Kept in the fragment of the address, so
// that a copied address opens the same view:  #t=0.1-0.4&s=0.15-0.2&l=pta%20device%200&by=operator
//
// Times there are seconds since the start of the recording. Whoever changes the state says so with
// update(); whoever shows it listens.

const listeners = [];

export const state = {
    viewFromNs: 0, viewToNs: 0, /* what the timeline shows */
    selection: null,            /* {fromNs, toNs} */
    ledger: 0,
    stackBy: 'none',
    shownBlock: null, /* {born, end, size, name}: drawn on the chart */
};

export function listen(listener) {
    listeners.push(listener);
}

// The views are about to be made anew.
export function forgetListeners() {
    listeners.length = 0;
}

const seconds = ns => (ns / 1e9).toFixed(9).replace(/\.?0+$/, '');

function fragment(recording) {
    const parameters = new URLSearchParams();
    if (state.viewFromNs > 0 || state.viewToNs < recording.endNs)
        parameters.set('t', `${seconds(state.viewFromNs)}-${seconds(state.viewToNs)}`);
    if (state.selection)
        parameters.set('s', `${seconds(state.selection.fromNs)}-${seconds(state.selection.toNs)}`);
    if (recording.ledgers[state.ledger])
        parameters.set('l', recording.ledgers[state.ledger].name);
    if (state.stackBy !== 'none')
        parameters.set('by', state.stackBy);
    return `#${parameters}`;
}

function readStretch(text, endNs) {
    const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text || '');
    if (!match)
        return null;
    const fromNs = Math.min(endNs, Number(match[1]) * 1e9);
    const toNs = Math.min(endNs, Number(match[2]) * 1e9);
    return toNs > fromNs ? {fromNs, toNs} : null;
}

// What the address asks for; parts that make no sense are passed over.
export function readAddress(recording) {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const view = readStretch(parameters.get('t'), recording.endNs);
    const ledger = recording.ledgers.find(each => each.name === parameters.get('l'));
    state.viewFromNs = view ? view.fromNs : 0;
    state.viewToNs = view ? view.toNs : recording.endNs;
    state.selection = readStretch(parameters.get('s'), recording.endNs);
    state.ledger = (ledger || recording.ledgerOrder[0] || {index: 0}).index;
    state.stackBy = ['operator', 'site', 'owner', 'module', 'size'].includes(parameters.get('by')) ?
        parameters.get('by') : 'none';
    return {hasView: view !== null, hasSelection: state.selection !== null};
}

let isWaiting = false;

export function update(recording, changes) {
    Object.assign(state, changes);
    for (const listener of listeners)
        listener(Object.keys(changes));
    if (isWaiting)
        return;
    isWaiting = true; /* browsers allow only so many changes of the address in a second */
    setTimeout(() => {
        isWaiting = false;
        history.replaceState(null, '', fragment(recording));
    }, 250);
}
