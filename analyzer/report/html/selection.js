// SPDX-License-Identifier: Apache-2.0
// The selected stretch of time: what was alive in it, what was born and died in it, what survived,
// by operator, site, owner, module or size class, and block by block.
import {say} from './language.js';
import {make, makeButton, makeSection, makeSelect, replaceContent} from './dom.js';
import {size, sizeExact, moment, duration, count, percent, blockCount} from './format.js';
import {dimensions, hasDimension} from './recording.js';
import {blocksMeeting, highestMoment, sumBy, restIn} from './selected_blocks.js';
import {state, update, go, listen} from './view_state.js';
import {stackColumn} from './stack.js';
import {makeTable} from './table.js';

const units = [['1', 'B'], ['1024', 'KiB'], ['1048576', 'MiB'], ['1073741824', 'GiB']];

function bytesColumn(key, title, meaning) {
    return {key, title, meaning, isNumber: true, value: row => row[key.replace('_bytes', 'Bytes')],
        show: value => (value ? size(value) : '–')};
}

function countColumn(key, title, meaning) {
    return {key, title, meaning, isNumber: true, value: row => row[key.replace('_count', 'Count')],
        show: value => (value ? count(value) : '–')};
}

const dimensionTitles = {
    operator: () => say('operator'), site: () => say('site'), owner: () => say('owner'),
    purpose: () => say('what for'), thread: () => say('thread'), stream: () => say('stream'), module: () => say('module'),
    size: () => say('size class'),
};

class SelectionView {
    constructor(recording) {
        this.recording = recording;
        this.filter = {text: state.f, least: '', most: '', unit: '1048576', isOnlyChanged: false};
        this.kept = make('div', {'aria-live': 'polite'});
        this.result = make('div', null);
        listen(keys => {
            if (keys.includes('f') && state.f !== this.filter.text) {
                this.filter.text = state.f;
                this.drawFilter();
            }
            if (keys.some(key => ['selection', 'ledger', 'tab', 'f'].includes(key)))
                this.draw();
        });
    }

    get tabs() {
        return [...dimensions.filter(each => hasDimension(this.recording, each)), 'blocks'];
    }

    // By operator, if operators explain at least half of the ledger's peak.
    firstTab() {
        const {groups} = this.recording;
        let known = 0, all = 0;
        for (let group = 1; group < groups.count; group++) {
            if (groups.ledger[group] !== state.ledger || !groups.peakCount[group])
                continue;
            all += groups.peakBytes[group];
            known += groups.operator[group] ? groups.peakBytes[group] : 0;
        }
        return known * 2 >= all && this.tabs.includes('operator') ? 'operator' : 'site';
    }

    query() {
        const {text, least, most, unit, isOnlyChanged} = this.filter;
        return {...state.selection, ledger: state.ledger, text, isOnlyChanged,
            leastBytes: Number(least) * Number(unit) || 0,
            mostBytes: most === '' ? Infinity : Number(most) * Number(unit)};
    }

    makeFilter() {
        const set = (key, value) => {
            this.filter[key] = value;
            if (key === 'text')
                update(this.recording, {f: value});
            this.draw();
        };
        const number = (key, label) => make('label', {class: 'control'}, make('span', null, label),
            make('input', {type: 'number', min: 0, step: 'any', class: 'size', value: this.filter[key],
                oninput: event => set(key, event.target.value)}));
        return make('div', {class: 'controls'},
            make('input', {type: 'search', id: 'selection-filter', value: this.filter.text,
                placeholder: say('Name of operator, site or owner …'), 'aria-label': say('Filter by name'),
                oninput: event => set('text', event.target.value)}),
            number('least', say('size from')), number('most', say('to')),
            makeSelect(say('in'), units, this.filter.unit, value => set('unit', value)),
            make('label', {class: 'control'}, make('input', {type: 'checkbox', id: 'only-changed',
                checked: this.filter.isOnlyChanged,
                onchange: event => set('isOnlyChanged', event.target.checked)}),
            say('only allocated or released in it')));
    }

    makeTabs() {
        const tabs = this.tabs;
        const buttons = tabs.map((tab, i) => makeButton(
            tab === 'blocks' ? say('block by block') : say('by {0}', dimensionTitles[tab]()),
            () => this.choose(tab), {role: 'tab', id: `tab-${tab}`,
                'aria-selected': String(tab === this.tab), tabindex: tab === this.tab ? 0 : -1,
                'aria-controls': 'selection-table',
                onkeydown: event => {
                    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
                    if (step) {
                        this.choose(tabs[(i + step + tabs.length) % tabs.length]);
                        document.getElementById(`tab-${this.tab}`).focus();
                    }
                }}));
        return make('div', {role: 'tablist', class: 'tabs', 'aria-label': say('Sum up by')}, buttons);
    }

    choose(tab) {
        go(this.recording, {tab, sort: ''});
    }

    // How the table is sorted, as the address has it: -size_bytes is downwards.
    sortedBy(key) {
        const sort = state.sort || `-${key}`;
        return {sort: sort.replace(/^-/, ''), isAscending: !sort.startsWith('-'),
            onSort: (chosen, isAscending) => update(this.recording, {sort: `${isAscending ? '' : '-'}${chosen}`})};
    }

    makeSentence(total, high) {
        const {fromNs, toNs} = state.selection;
        const ledger = this.recording.ledgers[state.ledger];
        const apartNs = (toNs - fromNs) / 1000;
        const parts = [
            say('{0}, {1} to {2} ({3}): {4} alive at some time, {5} in all; at its highest, at {6}, {7}.',
                ledger.name, moment(fromNs, apartNs), moment(toNs, apartNs), duration(toNs - fromNs),
                blockCount(total.metCount), size(total.metBytes), moment(high.timeNs, apartNs),
                sizeExact(total.highBytes)),
            say('Born in it: {0}; of that {1} died in it and {2} survived it. Older blocks that ended in it: {3}; that outlived it: {4}.',
                size(total.bornBytes), size(total.withinBytes), size(total.survivedBytes),
                size(total.endedBytes), size(total.throughBytes))];
        return make('p', {id: 'selection-summary'}, parts.join(' '));
    }

    makeRestSentence() {
        const {rest} = this.recording;
        if (!rest.count)
            return null;
        const sum = restIn(this.recording, {...state.selection, ledger: state.ledger});
        if (!sum.aliveBytes && !sum.bornBytes && !sum.freedBytes)
            return null;
        return make('p', {class: 'remark'}, say(
            'Not in this table: the {0} smallest blocks of the run, of at most {1}, kept as sums for each {2} only. Around the selection they held {3} before it, {4} were born, {5} freed.',
            count(rest.count), size(rest.sizeMostBytes), duration(rest.stretchNs), size(sum.aliveBytes),
            size(sum.bornBytes), size(sum.freedBytes)));
    }

    sumColumns() {
        return [
            {key: this.tab, title: dimensionTitles[this.tab](), value: row => row.name, isWide: true,
                show: value => value || say('(none)')},
            bytesColumn('high_bytes', say('at its highest'), say('alive when the ledger was highest in the selection')),
            {key: 'share_percent', title: '%', isNumber: true, value: row => row.highBytes,
                show: value => percent(value, this.total.highBytes)},
            bytesColumn('met_bytes', say('alive in it'), say('of all blocks that were alive at some time in it')),
            countColumn('met_count', say('blocks')),
            bytesColumn('born_bytes', say('born in it')),
            bytesColumn('within_bytes', say('born and died in it')),
            bytesColumn('survived_bytes', say('born in it, survived')),
            bytesColumn('ended_bytes', say('older, died in it')),
            bytesColumn('through_bytes', say('older, survived')),
        ];
    }

    makeSumTable(rows, total) {
        this.total = total;
        return makeTable(this.sumColumns(), rows, {caption: say('Selected: by {0}',
            dimensionTitles[this.tab]()), ...this.sortedBy('high_bytes'), total: {...total, name: say('total')},
        onRow: row => this.showBlocksOf(row.name)});
    }

    showBlocksOf(name) {
        go(this.recording, {tab: 'blocks', sort: '',
            f: ['operator', 'site', 'owner'].includes(this.tab) ? name : state.f});
    }

    makeBlockTable(found) {
        const {blocks, groups, names, endNs} = this.recording;
        const name = i => names[groups.label[blocks.group[i]]];
        const widthNs = state.selection.toNs - state.selection.fromNs;
        const columns = [
            {key: 'name', title: say('site or operator'), value: name, isWide: true},
            {key: 'size_bytes', title: say('size'), isNumber: true, value: i => blocks.size[i], show: size,
                title_of: i => sizeExact(blocks.size[i])},
            {key: 'born_ns', title: say('allocated at'), isNumber: true, value: i => blocks.born[i],
                show: value => moment(value, widthNs / 1000)},
            {key: 'freed_ns', title: say('released at'), isNumber: true, value: i => blocks.end[i],
                show: value => (value === Infinity ? say('never') : moment(value, widthNs / 1000))},
            {key: 'life_ns', title: say('life'), isNumber: true,
                value: i => Math.min(blocks.end[i], endNs) - blocks.born[i], show: duration},
            {key: 'operator', title: say('operator'), value: i => names[groups.operator[blocks.group[i]]]},
            {key: 'owner', title: say('owner'), value: i => names[groups.owner[blocks.group[i]]]},
            stackColumn(i => this.recording.framesOf(blocks.group[i]), say('stack'),
                i => groups.groupCount[blocks.group[i]]),
        ].filter(column => !['operator', 'owner'].includes(column.key) ||
            hasDimension(this.recording, column.key));
        return makeTable(columns, found, {caption: say('Selected blocks'), ...this.sortedBy('size_bytes'),
            onRow: i => update(this.recording, {shownBlock:
                {born: blocks.born[i], end: blocks.end[i], size: blocks.size[i], name: name(i)}})});
    }

    drawFilter() {
        replaceContent(this.kept, this.makeFilter());
    }

    draw() {
        if (!this.recording.isWhole)
            return;
        this.tab = this.tabs.includes(state.tab) ? state.tab : this.firstTab();
        if (!state.selection) {
            replaceContent(this.result, make('p', null, say('Nothing is selected: drag over the timeline.')));
            return;
        }
        const query = this.query();
        const found = blocksMeeting(this.recording, query);
        const high = highestMoment(this.recording, query);
        const dimension = this.tab === 'blocks' ? 'size' : this.tab;
        const {rows, total} = sumBy(this.recording, found, state.selection, dimension, high.timeNs);
        const table = this.tab === 'blocks' ? this.makeBlockTable(found) : this.makeSumTable(rows, total);
        replaceContent(this.result, this.makeSentence(total, high), this.makeRestSentence(),
            this.makeTabs(), make('div', {id: 'selection-table', role: 'tabpanel',
                'aria-labelledby': `tab-${this.tab}`}, table));
    }

    makeView() {
        const {section, body} = makeSection('selection', say('In the selection'));
        this.drawFilter();
        body.append(this.kept, this.result);
        this.draw();
        return section;
    }
}

export function makeSelectionView(recording) {
    return new SelectionView(recording).makeView();
}
