// SPDX-License-Identifier: Apache-2.0
// The verdict's three numbers, and what is known to be missing. Its sentences are in the page
// already, as text that needs no script.
import {say} from './language.js';
import {make, byId, replaceContent} from './dom.js';
import {size, sizeChange, moment, count, duration} from './format.js';

function peakNumber(report) {
    const row = report.tables.peaks?.[0];
    if (!row)
        return null;
    const step = row.peak_step === null ? '' : say(', in step {0}', row.peak_step);
    return {number: size(row.peak_bytes), title: say('highest point'),
        text: say('{0}, at {1}{2}', row.ledger, moment(row.peak_ns), step)};
}

function growthNumber(report) {
    const leak = report.findings.find(finding => finding.kind === 'leak');
    if (leak)
        return {number: say('{0} per step', sizeChange(leak.growth_bytes_per_step)),
            title: say('largest leak'), text: `${leak.site}, ${leak.ledger}`, isBad: true};
    const window = report.tables.window?.[0];
    if (window)
        return {number: sizeChange(window.net_growth_bytes), title: say('net growth in the window'),
            text: say('{0}: {1} not released, {2} of older blocks released', window.ledger,
                size(window.unreleased_bytes), size(window.older_released_bytes))};
    return {number: '0 B', title: say('growth per step'), text: say('no site grows from step to step')};
}

function endNumber(report) {
    const rows = report.tables.totals || [];
    const name = report.tables.peaks?.[0]?.ledger;
    const row = rows.find(each => each.ledger === name) || rows[0];
    return row ? {number: size(row.alive_bytes), title: say('alive at the end'),
        text: say('{0}, {1} blocks', row.ledger, count(row.alive_count))} : null;
}

function makeCard(card) {
    return make('div', {class: card.isBad ? 'card bad' : 'card'},
        make('div', {class: 'card-title'}, card.title), make('div', {class: 'card-number'}, card.number),
        make('div', {class: 'card-text'}, card.text));
}

export function drawVerdict(report) {
    const cards = [peakNumber(report), growthNumber(report), endNumber(report)].filter(Boolean);
    byId('verdict-title').textContent = say('Verdict');
    byId('verdict').classList.toggle('is-bad', report.outcome === 'found');
    replaceContent(byId('numbers'), make('div', {class: 'cards'}, cards.map(makeCard)),
        report.notes.length > 0 && make('details', {open: report.notes.some(note => note.count > 0)},
            make('summary', null, say('Lost, skipped or guessed: {0} notes', report.notes.length)),
            make('ul', null, report.notes.map(note =>
                make('li', null, note.count ? `${count(note.count)}: ` : '', note.sentence)))));
    const facts = report.facts;
    replaceContent(byId('about'), [facts.program, facts.source_kind,
        facts.recorded_ns ? duration(facts.recorded_ns) : null, say('{0} events', count(facts.event_count || 0)),
        say('{0} steps', count(facts.step_count || 0))].filter(Boolean).join(' · '));
}
