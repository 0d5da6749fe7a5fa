// SPDX-License-Identifier: Apache-2.0
// What a stretch of time holds: which blocks meet it, and what they add up to.
//
// A block lives in [born, end); it meets [from, to] if born <= to and end > from. Kept blocks are
// exact. The rest is known by stretches of time only, and is told apart from them.
import {keyNumbers, sizeClassOf} from './recording.js';
import {groupsOf, visitChanges} from './changes.js';

// Indexes of the kept blocks that meet the selection and pass its filters.
export function blocksMeeting(recording, selection) {
    const {blocks, groups, names} = recording;
    const isWanted = groupsOf(recording, selection.ledger);
    const {fromNs, toNs, isOnlyChanged, leastBytes = 0, mostBytes = Infinity} = selection;
    const words = (selection.text || '').toLowerCase();
    const isNamed = words ? groupsNamed(groups, names, words) : null;
    const found = [];
    for (let i = 0; i < blocks.count && blocks.born[i] <= toNs; i++) {
        const group = blocks.group[i];
        if (blocks.end[i] <= fromNs || !isWanted[group])
            continue;
        if (blocks.size[i] < leastBytes || blocks.size[i] > mostBytes || (isNamed && !isNamed[group]))
            continue;
        if (isOnlyChanged && blocks.born[i] < fromNs && blocks.end[i] > toNs)
            continue;
        found.push(i);
    }
    return found;
}

// Which groups have the words in their site, operator or owner.
function groupsNamed(groups, names, words) {
    const hasWords = new Map();
    const test = number => {
        if (!hasWords.has(number))
            hasWords.set(number, names[number].toLowerCase().includes(words));
        return hasWords.get(number);
    };
    return Array.from({length: groups.count}, (_, g) =>
        test(groups.label[g]) || test(groups.operator[g]) || test(groups.owner[g]));
}

// When the kept blocks together were highest in the selection: {timeNs, bytes}.
export function highestMoment(recording, {ledger, fromNs, toNs}) {
    const highest = {timeNs: fromNs, bytes: 0};
    let bytes = 0;
    visitChanges(recording, ledger, fromNs, toNs, false, (timeNs, group, sizeClass, change) => {
        bytes += change;
        if (bytes > highest.bytes)
            Object.assign(highest, {timeNs, bytes});
    });
    return highest;
}

function emptySum(name) {
    return {name, metBytes: 0, metCount: 0, highBytes: 0, bornBytes: 0, bornCount: 0,
        withinBytes: 0, withinCount: 0, survivedBytes: 0, survivedCount: 0, endedBytes: 0,
        endedCount: 0, throughBytes: 0, throughCount: 0};
}

const kindKeys = ['within', 'survived', 'ended', 'through'].map(kind =>
    ({bytes: `${kind}Bytes`, count: `${kind}Count`}));

function addBlock(sum, size, isBorn, isEnded, isAtHigh) {
    sum.metBytes += size;
    sum.metCount++;
    if (isAtHigh)
        sum.highBytes += size;
    if (isBorn) {
        sum.bornBytes += size;
        sum.bornCount++;
    }
    const keys = kindKeys[(isBorn ? 0 : 2) + (isEnded ? 0 : 1)];
    sum[keys.bytes] += size;
    sum[keys.count]++;
}

// One row for each name in the dimension, largest at the highest moment first, and their total.
export function sumBy(recording, found, selection, dimension, highNs) {
    const {blocks} = recording;
    const keys = keyNumbers(recording, dimension);
    const sums = new Map();
    const total = emptySum('');
    for (const i of found) {
        const key = keys.numberOf(blocks.group[i], sizeClassOf(blocks.size[i]), i);
        if (!sums.has(key))
            sums.set(key, emptySum(keys.nameOf(key)));
        const isBorn = blocks.born[i] >= selection.fromNs;
        const isEnded = blocks.end[i] <= selection.toNs;
        const isAtHigh = blocks.born[i] <= highNs && blocks.end[i] > highNs;
        addBlock(sums.get(key), blocks.size[i], isBorn, isEnded, isAtHigh);
        addBlock(total, blocks.size[i], isBorn, isEnded, isAtHigh);
    }
    const rows = [...sums.values()].sort((a, b) => b.highBytes - a.highBytes || b.metBytes - a.metBytes);
    return {rows, total};
}

// The rest in the selection, widened to whole stretches: alive before, born, freed.
export function restIn(recording, selection) {
    const {rest, groups} = recording;
    const first = Math.floor(selection.fromNs / rest.stretchNs);
    const last = Math.floor(selection.toNs / rest.stretchNs);
    const sum = {aliveBytes: 0, bornBytes: 0, bornCount: 0, freedBytes: 0, freedCount: 0};
    for (let i = 0; i < rest.rows && rest.stretch[i] <= last; i++) {
        if (groups.ledger[rest.group[i]] !== selection.ledger)
            continue;
        if (rest.stretch[i] < first) {
            sum.aliveBytes += rest.bornBytes[i] - rest.freedBytes[i];
            continue;
        }
        sum.bornBytes += rest.bornBytes[i];
        sum.bornCount += rest.bornCount[i];
        sum.freedBytes += rest.freedBytes[i];
        sum.freedCount += rest.freedCount[i];
    }
    return sum;
}
