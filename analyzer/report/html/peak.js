// SPDX-License-Identifier: Apache-2.0
// The peak of a ledger: who held the memory, as an icicle and as a table, and what would lower it.
import {say} from './language.js';
import {make, makeSection, makeSelect, replaceContent} from './dom.js';
import {size, moment, count, percent} from './format.js';
import {state, listen} from './view_state.js';
import {makeIcicle, treeOf} from './icicle.js';
import {makeTable} from './table.js';
import {makeReportTable, tablesNamed} from './tables.js';

// Names from the outside in: owner, then stack or operator.
function pathOf(recording, group, kind) {
    const {groups, names, stacks} = recording;
    const owner = names[groups.owner[group]].split('@').filter(Boolean);
    const operator = names[groups.operator[group]];
    const frames = (stacks.get(groups.site[group]) || []).map(frame => frame.function).reverse();
    if (kind === 'stack')
        return frames.length ? frames : [names[groups.label[group]]];
    const inside = [...owner, ...(operator ? [operator] : []), ...frames];
    return inside.length ? inside : [names[groups.label[group]]];
}

function heldAtPeak(recording, ledger) {
    const {groups} = recording;
    const held = [];
    for (let group = 1; group < groups.count; group++)
        if (groups.ledger[group] === ledger && groups.peakBytes[group] > 0)
            held.push(group);
    return held;
}

function holderColumns(recording, wholeBytes) {
    const {groups, names} = recording;
    const text = (key, title, column) => ({key, title, isWide: key === 'site',
        value: group => names[groups[column][group]]});
    return [
        text('site', say('site or operator'), 'label'),
        {key: 'held_bytes', title: say('held'), isNumber: true, value: group => groups.peakBytes[group],
            show: size},
        {key: 'share_percent', title: '%', isNumber: true, value: group => groups.peakBytes[group],
            show: value => percent(value, wholeBytes)},
        {key: 'block_count', title: say('blocks'), isNumber: true, value: group => groups.peakCount[group],
            show: count},
        text('operator', say('operator'), 'operator'), text('owner', say('owner'), 'owner'),
    ];
}

class PeakView {
    constructor(recording) {
        this.recording = recording;
        this.kind = 'owner';
        this.result = make('div', null);
        listen(keys => keys.includes('ledger') && this.draw());
    }

    draw() {
        const {recording} = this;
        const ledger = recording.ledgers[state.ledger];
        if (!recording.isWhole || !ledger)
            return;
        const held = heldAtPeak(recording, ledger.index);
        const {groups} = recording;
        const paths = held.map(group => ({names: pathOf(recording, group, this.kind),
            bytes: groups.peakBytes[group], count: groups.peakCount[group]}));
        const columns = holderColumns(recording, ledger.peakBytes)
            .filter(column => column.key !== 'owner' || held.some(column.value));
        const hasStacks = held.some(group => (recording.stacks.get(groups.site[group]) || []).length > 1);
        replaceContent(this.result,
            make('p', null, say('{0} was highest at {1}: {2} in {3} blocks.', ledger.name,
                moment(ledger.peakNs), size(ledger.peakBytes), count(ledger.peakCount))),
            hasStacks && makeSelect(say('Outermost'), [['owner', say('owner, operator, stack')],
                ['stack', say('stack')]], this.kind, value => { this.kind = value; this.draw(); }),
            makeIcicle(treeOf(ledger.name, paths)),
            makeTable(columns, held, {caption: say('Held at the peak of {0}', ledger.name),
                sort: 'held_bytes'}),
            tablesNamed(recording.report, /candidate|lower the peak|would lower/).map(name =>
                makeReportTable(recording.report, name)));
    }

    makeView() {
        const {section, body} = makeSection('peak', say('At the peak'));
        body.append(this.result);
        return section;
    }
}

export function makePeakView(recording) {
    return new PeakView(recording);
}
