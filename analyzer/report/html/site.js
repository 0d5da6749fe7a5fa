// SPDX-License-Identifier: Apache-2.0
// One site, where links lead: what it holds from step to step, its blocks, its stacks.
import {say} from './language.js';
import {make, makeButton, makeSection, replaceContent} from './dom.js';
import {size, sizeChange, moment, duration, count, percent, blockCount} from './format.js';
import {state, update, go, listen} from './view_state.js';
import {makeStack} from './stack.js';
import {makeStepCurve, stepRowOf} from './steps.js';
import {makeWay} from './places.js';
import {makeTable} from './table.js';
import {leaksOf, leakingStacksOf} from './recording.js';
import {leakRate} from './verdict.js';

const stackMost = 5;

function groupsOfSite(recording, name, ledger) {
    const {groups, names} = recording;
    const found = [];
    for (let group = 1; group < groups.count; group++)
        if (groups.ledger[group] === ledger && names[groups.label[group]] === name)
            found.push(group);
    return found;
}

function sumOf(column, members) {
    return members.reduce((sum, group) => sum + column[group], 0);
}

class SiteView {
    constructor(recording) {
        this.recording = recording;
        this.result = make('div', null);
        listen(keys => keys.some(key => ['site', 'ledger'].includes(key)) && this.draw());
    }

    makeFacts(members) {
        const {groups, ledgers} = this.recording;
        const ledger = ledgers[state.ledger];
        const peak = sumOf(groups.peakBytes, members);
        const step = stepRowOf(this.recording, state.site, ledger.name);
        const leak = leaksOf(this.recording.report).find(each => each.site === state.site && each.ledger === ledger.name);
        return make('p', null, [
            say('{0} at the peak of {1} ({2} of it)', size(peak), ledger.name, percent(peak, ledger.wholePeakBytes)),
            say('{0} at the end', size(sumOf(groups.endBytes, members))),
            step?.growthBytes ? say('{0} per step', sizeChange(step.growthBytes)) : leak && leakRate(leak),
            step?.births ? say('{0} steps left blocks behind', step.births) : null,
        ].filter(Boolean).join(' · '));
    }

    // Of a leak, those that leave blocks: what the verdict counts.
    makeLeakingStacks() {
        const {report, ledgers} = this.recording;
        const rows = leakingStacksOf(report).filter(row => row.site === state.site && row.ledger === ledgers[state.ledger].name);
        if (!rows.length)
            return null;
        return this.listStacks('site-leaking-stacks', say('Stacks that leak'), rows.map(row => ({
            words: say('{0} stay, {1}', size(row.overdue_bytes), blockCount(row.overdue_count)),
            frames: report.framesOf(row.stack), stackCount: 1})));
    }

    // stacks: {words, frames, stackCount}
    listStacks(id, title, stacks) {
        const rows = stacks.slice(0, stackMost).map(({words, frames, stackCount}, i) => {
            const details = makeStack(frames, stackCount);
            if (details)
                details.open = i === 0;
            return make('li', null, `${words} `, details);
        });
        const left = stacks.length - rows.length;
        return make('div', {id}, make('h3', null, title), make('ol', {class: 'stacks'}, rows),
            left > 0 && make('p', {class: 'remark'}, say('{0} more stacks are in the flame graph.', count(left))));
    }

    makeStacks(members) {
        const {groups} = this.recording;
        const weight = group => groups.endBytes[group] + groups.peakBytes[group];
        const stacks = members.filter(group => this.recording.framesOf(group))
            .sort((a, b) => weight(b) - weight(a));
        if (!stacks.length)
            return null;
        return this.listStacks('site-stacks', say('Stacks'), stacks.map(group => ({
            words: say('{0} at the end, {1} at the peak', size(groups.endBytes[group]), size(groups.peakBytes[group])),
            frames: this.recording.framesOf(group), stackCount: groups.groupCount[group]})));
    }

    makeBlocks(members) {
        const {blocks, endNs} = this.recording;
        const isMember = new Set(members);
        const found = [];
        for (let i = 0; i < blocks.count; i++)
            if (isMember.has(blocks.group[i]))
                found.push(i);
        if (!found.length)
            return null;
        const number = (key, title, value, show) => ({key, title, isNumber: true, value, show});
        const columns = [
            number('size_bytes', say('size'), i => blocks.size[i], size),
            number('born_ns', say('allocated at'), i => blocks.born[i], value => moment(value)),
            number('freed_ns', say('released at'), i => blocks.end[i],
                value => (value === Infinity ? say('never') : moment(value))),
            number('life_ns', say('life'), i => Math.min(blocks.end[i], endNs) - blocks.born[i], duration),
        ];
        return make('div', {id: 'site-blocks'}, make('h3', null, say('Blocks')),
            makeTable(columns, found, {caption: say('Blocks of {0}', state.site), sort: 'life_ns', rowsAtOnce: 8,
                onRow: i => update(this.recording, {shownBlock: {born: blocks.born[i], end: blocks.end[i],
                    size: blocks.size[i], name: state.site}})}));
    }

    draw() {
        const members = this.recording.isWhole && state.site ?
            groupsOfSite(this.recording, state.site, state.ledger) : [];
        this.section.hidden = !members.length;
        if (!members.length)
            return;
        this.section.querySelector('h2').textContent = state.site;
        const step = stepRowOf(this.recording, state.site, this.recording.ledgers[state.ledger].name);
        replaceContent(this.result, this.makeFacts(members),
            make('p', {class: 'buttons'}, makeWay(say('Curve'), 'timeline'),
                makeButton(say('In the flame graph'), () => {
                    const frame = (this.recording.framesOf(members[0]) || []).find(each => !each.is_plumbing);
                    go(this.recording, {q: frame ? frame.function : state.site, z: ''});
                    document.getElementById('flame')?.scrollIntoView();
                }, {class: 'link'}),
                makeButton(say('Close'), () => go(this.recording, {site: ''}), {class: 'link'})),
            make('div', {class: 'site-parts'}, step && make('div', null, make('h3', null,
                say('Alive at the end of each step')), makeStepCurve(step)), this.makeLeakingStacks() ?? this.makeStacks(members),
            this.makeBlocks(members)));
    }

    makeView() {
        const {section, body} = makeSection('site', '');
        this.section = section;
        body.append(this.result);
        this.draw();
        return section;
    }
}

export function makeSiteView(recording) {
    return new SiteView(recording).makeView();
}
