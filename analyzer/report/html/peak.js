// SPDX-License-Identifier: Apache-2.0
// The peak of a ledger: who held the memory, as a table, and what would lower it.
import {say} from './language.js';
import {make, makeSection, replaceContent} from './dom.js';
import {size, moment, count, percent, blockCount} from './format.js';
import {state, listen} from './view_state.js';
import {stackColumn} from './stack.js';
import {makeTable} from './table.js';
import {makeReportTable, tablesNamed, tablesOf} from './tables.js';
import {siteCell} from './places.js';

function heldAtPeak(recording, ledger) {
    const {groups} = recording;
    const held = [];
    for (let group = 1; group < groups.count; group++)
        if (groups.ledger[group] === ledger && groups.peakBytes[group] > 0)
            held.push(group);
    return held;
}

// Groups of one name, operator and owner are one row, with the stack of one of them.
function holdersOf(recording, held) {
    const {groups, names} = recording;
    const rows = new Map();
    for (const group of held) {
        const texts = ['label', 'operator', 'owner'].map(column => groups[column][group]);
        const key = texts.join(' ');
        if (!rows.has(key))
            rows.set(key, {site: names[texts[0]], operator: names[texts[1]], owner: names[texts[2]],
                frames: recording.framesOf(group), bytes: 0, count: 0});
        const row = rows.get(key);
        row.bytes += groups.peakBytes[group];
        row.count += groups.peakCount[group];
    }
    return [...rows.values()];
}

function holderColumns(wholeBytes, ledgerName) {
    const text = (key, title) => ({key, title, value: row => row[key]});
    return [
        {...text('site', say('site or operator')), isWide: true, show: name => siteCell(name, ledgerName)},
        {key: 'held_bytes', title: say('held'), isNumber: true, value: row => row.bytes, show: size},
        {key: 'share_percent', title: '%', isNumber: true, value: row => row.bytes,
            show: value => percent(value, wholeBytes)},
        {key: 'block_count', title: say('blocks'), isNumber: true, value: row => row.count, show: count},
        text('operator', say('operator')), text('owner', say('owner')),
        stackColumn(row => row.frames, say('stack')),
    ];
}

// As in profiles, where an operator is all that is known: a column of its own would say it twice.
function isNamedByOperator(row) {
    return !row.operator || row.site.endsWith(` ${row.operator}`);
}

class PeakView {
    constructor(recording) {
        this.recording = recording;
        this.result = make('div', null);
        listen(keys => keys.includes('ledger') && this.draw());
    }

    draw() {
        const {recording} = this;
        const ledger = recording.ledgers[state.ledger];
        if (!recording.isWhole || !ledger)
            return;
        const held = heldAtPeak(recording, ledger.index);
        const holders = holdersOf(recording, held);
        const columns = holderColumns(ledger.wholePeakBytes, ledger.name)
            .filter(column => column.isNumber || holders.some(column.value))
            .filter(column => column.key !== 'operator' || !holders.every(isNamedByOperator));
        replaceContent(this.result,
            make('p', null, say('{0} was highest at {1}: {2} in {3}.', ledger.name,
                moment(ledger.peakNs), size(ledger.wholePeakBytes), blockCount(ledger.peakCount))),
            makeTable(columns, holders, {caption: say('Held at the peak of {0}', ledger.name),
                sort: 'held_bytes'}),
            [...tablesOf(recording.report, ledger.name, /^(lowering_peak|sites_to_lower_peak|peak_by_owner|peak_by_module)$/),
                ...tablesNamed(recording.report, /^(peaks|near_peak|categories|owner_tree)$/)].map(table => makeReportTable(recording.report, table)));
    }

    makeView() {
        const {section, body} = makeSection('peak', say('At the peak'));
        body.append(this.result);
        this.draw();
        return section;
    }
}

export function makePeakView(recording) {
    return new PeakView(recording).makeView();
}
