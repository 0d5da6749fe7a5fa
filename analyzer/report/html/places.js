// SPDX-License-Identifier: Apache-2.0
// Ways from a name to what it means: a site leads to its curve, its blocks and its stacks, a ledger to
// its curve.
import {make, makeButton, byId} from './dom.js';
import {say} from './language.js';
import {state, go} from './view_state.js';
import {leaksOf} from './recording.js';

const leastSite = 4; /* letters: a shorter name would be found inside of words */

let recording = null;
let ledgersOfSites = new Map(); /* name of a site -> numbers of ledgers, largest peak first */

// Once all groups are read.
export function setPlaces(wanted) {
    recording = wanted;
    ledgersOfSites = new Map();
    const {groups, names} = wanted;
    const peaks = new Map();
    for (let group = 1; group < groups.count; group++) {
        const name = names[groups.label[group]];
        const ledgers = peaks.get(name) || peaks.set(name, new Map()).get(name);
        const ledger = groups.ledger[group];
        ledgers.set(ledger, (ledgers.get(ledger) || 0) + groups.peakBytes[group] + groups.endBytes[group]);
    }
    for (const [name, ledgers] of peaks)
        ledgersOfSites.set(name, [...ledgers.keys()].sort((a, b) => ledgers.get(b) - ledgers.get(a)));
}

export function showSection(id) {
    const section = byId(id);
    section?.scrollIntoView();
    section?.querySelector('h2')?.focus({preventScroll: true});
}

function ledgerNamed(name) {
    return recording?.ledgers.find(ledger => ledger.name === name);
}

export function isSite(name) {
    return ledgersOfSites.has(name);
}

// In the ledger that is named; else in that of its leak, else where it has most.
function placeOfSite(name, ledgerName) {
    const ledgers = ledgersOfSites.get(name);
    const leak = leaksOf(recording.report).find(each => each.site === name);
    const wanted = ledgerNamed(ledgerName || leak?.ledger)?.index;
    return {site: name, stackBy: 'site', ledger: ledgers.includes(wanted) ? wanted : ledgers[0]};
}

export function goToSite(name, ledgerName) {
    go(recording, placeOfSite(name, ledgerName));
    showSection('site');
}

export function goToLedger(name, sectionId = 'timeline', changes = {}) {
    const ledger = ledgerNamed(name);
    go(recording, {...changes, ledger: ledger ? ledger.index : state.ledger});
    showSection(sectionId);
}

// An address of its own, so that it can be opened beside; a line breaks inside of it.
function makeLink(text, parameters, onClick) {
    return make('a', {class: 'link', href: `#${new URLSearchParams(parameters)}`, onclick: event => {
        if (event.ctrlKey || event.metaKey || event.shiftKey)
            return;
        event.preventDefault();
        onClick();
    }}, text);
}

export function makeSiteLink(name, ledgerName) {
    const {ledger} = placeOfSite(name, ledgerName);
    return makeLink(name, {l: recording.ledgers[ledger].name, by: 'site', site: name},
        () => goToSite(name, ledgerName));
}

// The names in a sentence that can be gone to, longest first.
function namesIn(text) {
    const found = [];
    for (const name of ledgersOfSites.keys())
        if (name.length >= leastSite && text.includes(name))
            found.push({name, isSite: true});
    for (const ledger of recording?.ledgerOrder || [])
        if (text.includes(ledger.name))
            found.push({name: ledger.name, isSite: false});
    return found.sort((a, b) => b.name.length - a.name.length);
}

const isLetter = letter => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

function placeIn(text, name) {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
        if (!isLetter(text[at - 1]) && !isLetter(text[at + name.length]))
            return at;
    return -1;
}

// A sentence, its names as buttons. A site is that of the ledger that the sentence names.
export function makeLinked(text) {
    const ledgerName = recording?.ledgerOrder.find(ledger => placeIn(text, ledger.name) >= 0)?.name;
    const split = (part, names) => {
        for (let i = 0; i < names.length; i++) {
            const {name, isSite: leadsToSite} = names[i];
            const at = placeIn(part, name);
            if (at < 0)
                continue;
            const link = leadsToSite ? makeSiteLink(name, ledgerName) :
                makeLink(name, {l: name}, () => goToLedger(name));
            return [...split(part.slice(0, at), names.slice(i)), link,
                ...split(part.slice(at + name.length), names.slice(i))];
        }
        return part ? [part] : [];
    };
    return split(text, namesIn(text));
}

// A way that a title shows: "curve", "blocks", "stacks".
export function makeWay(text, sectionId) {
    return makeButton(text, () => showSection(sectionId), {class: 'link'});
}

// The site of a cell, as a link where there is something to see.
export function siteCell(name, ledgerName) {
    if (!name)
        return '';
    return isSite(name) ? makeSiteLink(name, ledgerName) : make('span', null, say(name));
}
