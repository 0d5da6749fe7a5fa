// SPDX-License-Identifier: Apache-2.0
// Where the reader is, kept in the fragment of the address, so that a copied address opens the same
// view and the browser's back leads back:  #t=0.1-0.4&s=0.15-0.2&l=pta%20device%200&by=operator
//
// Times there are seconds since the start of the recording. Whoever changes the state says so with
// update(), or with go() where back should lead to what was before; whoever shows it listens.

import {wholeNs} from './format.js';
import {dimensions} from './recording.js';

const listeners = [];

export const state = {
    viewFromNs: 0, viewToNs: 0, /* what the timeline shows */
    selection: null,            /* {fromNs, toNs} */
    ledger: 0,
    stackBy: 'none',
    site: '',         /* the one that is looked at: its name */
    shownBlock: null, /* {born, end, size, name}: drawn on the chart */
};

// Of the other views: key of the address -> what holds when the address has none.
const texts = {site: '', only: '', tab: '', f: '', sort: '', m: '', inv: '', plumbing: '', z: '', q: '', at: ''};
Object.assign(state, texts);

const stackings = ['none', ...dimensions, 'account'];

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
    if (state.viewFromNs > 0 || state.viewToNs < recording.shownEndNs)
        parameters.set('t', `${seconds(state.viewFromNs)}-${seconds(state.viewToNs)}`);
    if (state.selection)
        parameters.set('s', `${seconds(state.selection.fromNs)}-${seconds(state.selection.toNs)}`);
    if (recording.ledgers[state.ledger])
        parameters.set('l', recording.ledgers[state.ledger].name);
    if (state.stackBy !== 'none')
        parameters.set('by', state.stackBy);
    for (const key of Object.keys(texts))
        if (state[key])
            parameters.set(key, state[key]);
    return `#${parameters}`;
}

function readStretch(text, endNs) {
    const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text || '');
    if (!match)
        return null;
    const fromNs = Math.min(endNs, wholeNs(match[1]));
    const toNs = Math.min(endNs, wholeNs(match[2]));
    return toNs > fromNs ? {fromNs, toNs} : null;
}

// What the address asks for; parts that make no sense are passed over.
export function readAddress(recording) {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const view = readStretch(parameters.get('t'), recording.shownEndNs);
    const ledger = recording.ledgers.find(each => each.name === parameters.get('l'));
    state.viewFromNs = view ? view.fromNs : 0;
    state.viewToNs = view ? view.toNs : recording.shownEndNs;
    state.selection = readStretch(parameters.get('s'), recording.endNs);
    state.ledger = (ledger || recording.ledgerOrder[0] || {index: 0}).index;
    state.stackBy = stackings.includes(parameters.get('by')) ? parameters.get('by') : 'none';
    for (const key of Object.keys(texts))
        state[key] = parameters.get(key) || '';
    return {isEmpty: !location.hash.slice(1), hasSelection: state.selection !== null};
}

export function tellAll() {
    for (const listener of listeners)
        listener(Object.keys(state));
}

function apply(changes) {
    Object.assign(state, changes);
    for (const listener of listeners)
        listener(Object.keys(changes));
}

let isWaiting = false;

export function update(recording, changes) {
    apply(changes);
    if (isWaiting)
        return;
    isWaiting = true; /* browsers allow only so many changes of the address in a second */
    setTimeout(() => {
        isWaiting = false;
        history.replaceState(null, '', fragment(recording));
    }, 250);
}

export function go(recording, changes) {
    history.replaceState(null, '', fragment(recording));
    apply(changes);
    history.pushState(null, '', fragment(recording));
}
