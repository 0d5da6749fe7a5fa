// SPDX-License-Identifier: Apache-2.0
// The verdict's three numbers, and what is known to be missing. Its sentences are in the page
// already, as text that needs no script; here their names become links.
import {say} from './language.js';
import {make, makeButton, byId, replaceContent} from './dom.js';
import {rowsNamed} from './tables.js';
import {leaksOf} from './recording.js';
import {goToLedger, goToSite, isSite, makeLinked} from './places.js';
import {size, sizeChange, moment, count, duration, blockCount} from './format.js';

// Of what is named; older memory and the like has no name.
function largestHolder(report, ledger) {
    const holder = rowsNamed(report, 'held_at_peak', ledger).find(row => row.site !== '(unknown)' && isSite(row.site));
    return holder && say('{0} ({1} %) by {2}', size(holder.held_bytes), holder.share_percent, holder.site);
}

function peakNumber(report) {
    const row = rowsNamed(report, 'peaks')[0];
    if (!row)
        return null;
    const step = row.peak_step === null ? '' :
        (row.peak_step ? say(', in step {0}', row.peak_step) : say(', before the first step'));
    const counted = row.counted_peak_bytes > row.peak_bytes ? row.counted_peak_bytes : null;
    const place = say('{0}, at {1}{2}', row.ledger, moment(row.peak_ns, 1e6), step);
    const parts = [counted ? say('{0}; {1} of it in the recording', place, size(row.peak_bytes)) : place, largestHolder(report, row.ledger)];
    return {number: size(counted ?? row.peak_bytes), title: say('highest point'), text: parts.filter(Boolean).join('; '),
        go: () => goToLedger(row.ledger, 'peak')};
}

/* Marked loops have no turns; of others the turns may not be known. */
export function leakRate(leak) {
    if (leak.growth_bytes_per_step === null)
        return sizeChange(leak.overdue_bytes);
    const rate = sizeChange(leak.growth_bytes_per_step);
    return leak.turn_count === undefined ? say('{0} per step', rate) : say('{0} per turn', rate);
}

function whyNotJudged(report, doubt) {
    const window = rowsNamed(report, 'window')[0];
    if (window && window.net_growth_bytes !== null)
        return say('{0}: net growth of {1} in the window, {2} not released, {3} of older blocks released', window.ledger,
            sizeChange(window.net_growth_bytes), size(window.unreleased_bytes), size(window.older_released_bytes));
    return doubt?.sentence ?? report.verdict[0];
}

export function growthNumber(report) {
    const leak = leaksOf(report)[0];
    if (leak)
        return {number: leakRate(leak),
        title: say('largest leak'), text: `${leak.site}, ${leak.ledger}`, isBad: true,
        go: () => (isSite(leak.site) ? goToSite(leak.site, leak.ledger) : goToLedger(leak.ledger))};
    if (!report.tables.some(table => table.name === 'doubts')) /* nobody asked for leaks */
        return null;
    const doubt = rowsNamed(report, 'doubts')[0];
    if (doubt || report.outcome === 'no_data')
        return {number: say('not judged'), title: say('leaks'), hint: doubt?.sentence ?? report.verdict[0], text: whyNotJudged(report, doubt)};
    return {number: '0 B', title: say('growth per step'), text: say('no site grows from step to step')};
}

function endNumber(report) {
    const rows = rowsNamed(report, 'totals');
    const name = rowsNamed(report, 'peaks')[0]?.ledger;
    const row = rows.find(each => each.ledger === name) || rows[0];
    const counted = rowsNamed(report, 'window').find(each => each.ledger === row?.ledger)?.end_bytes;
    const isMore = counted > row?.alive_bytes;
    return row ? {number: size(isMore ? counted : row.alive_bytes), title: say('alive at the end'),
        text: isMore ? say('{0}; {1} of it in the recording', row.ledger, size(row.alive_bytes)) :
            `${row.ledger}, ${blockCount(row.alive_count)}`,
        go: () => goToLedger(row.ledger, 'flame', {m: 'end', z: ''})} : null;
}

function makeCard(card) {
    const content = [make('span', {class: 'card-title'}, card.title),
        make('span', {class: 'card-number'}, card.number), make('span', {class: 'card-text'}, card.text)];
    const look = {class: card.isBad ? 'card bad' : 'card', title: card.hint};
    return card.go ? makeButton('', card.go, look, content) : make('div', look, content);
}

// What the sentence says; where it fell, the first ledger, as the pool counts it where it does.
function changeNumber(report, what, kind, title) {
    const row = rowsNamed(report, 'ledger_changes')[0];
    const of = key => row[key.replace(what, `counted_${what}`)] ?? row[key];
    const moved = report.findings.find(each => each.kind === kind) ?? (row && {ledger: row.ledger,
        change_bytes: of(`${what}_change_bytes`), bytes: of(`${what}_bytes`), base_bytes: of(`base_${what}_bytes`)});
    return moved && {number: sizeChange(moved.change_bytes), title, isBad: moved.change_bytes > 0,
        text: say('{0}: {1}, was {2}', moved.ledger, size(moved.bytes), size(moved.base_bytes))};
}

// Of a comparison: what peak and end did, and how many operators changed.
function differenceNumbers(report) {
    const operators = rowsNamed(report, 'operator_changes');
    const counted = kind => count(operators.filter(each => each.change === kind).length);
    return [changeNumber(report, 'peak', 'peak_growth', say('highest point')),
        changeNumber(report, 'end', 'kept_growth', say('alive at the end')),
        operators.length > 0 && {number: say('{0} new, {1} gone', counted('new'), counted('gone')),
            title: say('operators'), text: say('{0} grown, {1} shrunk', counted('grown'), counted('shrunk'))}];
}

const narrow = matchMedia('(max-width: 700px)');
let sentences = null; /* as the file has them */

// As many as leave room for the chart, the others on request.
function drawSentences() {
    const box = byId('verdict-sentences');
    sentences ??= [...box.querySelectorAll('p')].map(each => each.textContent);
    const firstMost = narrow.matches ? 1 : 3;
    const paragraphs = sentences.map(sentence => make('p', null, makeLinked(sentence)));
    const others = paragraphs.slice(firstMost);
    const isOpen = box.querySelector('details')?.open;
    replaceContent(box, paragraphs.slice(0, firstMost), others.length > 0 && make('details', {open: isOpen},
        make('summary', null, others.length === 1 ? say('1 more sentence') : say('{0} more sentences', others.length)),
        others));
}

narrow.addEventListener('change', () => sentences && drawSentences());

export function drawVerdict(report) {
    const cards = (report.command === 'diff' ? differenceNumbers(report) :
        [peakNumber(report), growthNumber(report), endNumber(report)]).filter(Boolean);
    byId('verdict-title').textContent = say('Verdict');
    byId('verdict').classList.toggle('is-bad', report.outcome === 'found');
    drawSentences();
    replaceContent(byId('numbers'), make('div', {class: 'cards'}, cards.map(makeCard)),
        report.notes.length > 0 && make('details', null,
            make('summary', null, report.notes.length === 1 ? say('Data quality: 1 note') :
                say('Data quality: {0} notes', report.notes.length)),
            make('ul', null, report.notes.map(note =>
                make('li', null, note.count ? `${count(note.count)}: ` : '', note.sentence)))));
    const facts = report.facts;
    replaceContent(byId('about'), [facts.program, facts.source_kind,
        facts.recorded_ns ? duration(facts.recorded_ns) : null,
        facts.event_count ? say('{0} events', count(facts.event_count)) : null,
        facts.step_count ? say('{0} steps', count(facts.step_count)) : null].filter(Boolean).join(' · '));
}
