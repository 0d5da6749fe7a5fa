// SPDX-License-Identifier: Apache-2.0
// What is alive at the end of each step, a small picture for each site, growth first.
import {say} from './language.js';
import {make, makeSvg, makeSection, makeButton} from './dom.js';
import {size, sizeChange, count} from './format.js';
import {makeReportTable, rowsNamed, tablesNamed} from './tables.js';
import {siteCell} from './places.js';

const width = 220, height = 64, atOnce = 24;

// By name as the analyzer writes it, worst first.
const verdictOrder = ['leak', 'growing cache', 'sawtooth', 'cannot say', 'step-temporary', 'stable'];

function orderOf(verdict) {
    const at = verdictOrder.findIndex(each => (verdict || 'stable').startsWith(each));
    return at < 0 ? verdictOrder.length : at;
}

function readRows(recording) {
    const judged = new Map(rowsNamed(recording.report, 'leaks').map(row =>
        [`${row.ledger}\n${row.site}`, row]));
    const known = new Set();
    const rows = recording.stepSeries.map(series => {
        const key = `${recording.ledgers[series.ledger].name}\n${series.name}`;
        const row = judged.get(key);
        known.add(key);
        return {name: series.name, ledger: recording.ledgers[series.ledger].name, steps: series.steps,
            bytes: series.bytes, verdict: row?.verdict ?? null,
            growthBytes: row?.growth_bytes_per_step ?? 0, births: row?.birth_steps ?? ''};
    });
    for (const [key, row] of judged)
        if (!known.has(key) && Array.isArray(row.alive_bytes_by_step))
            rows.push({name: row.site, ledger: row.ledger, steps: row.alive_bytes_by_step.map((_, i) => i),
                bytes: row.alive_bytes_by_step, verdict: row.verdict,
                growthBytes: row.growth_bytes_per_step, births: row.birth_steps});
    const last = row => row.bytes[row.bytes.length - 1] || 0;
    return rows.sort((a, b) => orderOf(a.verdict) - orderOf(b.verdict) ||
        b.growthBytes - a.growthBytes || last(b) - last(a));
}

function rowsOf(recording) {
    recording.stepRows ??= recording.isWhole ? readRows(recording) : [];
    return recording.stepRows;
}

export function stepRowOf(recording, site, ledgerName) {
    return rowsOf(recording).find(row => row.name === site && row.ledger === ledgerName);
}

export function makeStepCurve(row) {
    const highest = row.bytes.reduce((a, b) => Math.max(a, b), 1);
    const first = row.steps[0], last = row.steps[row.steps.length - 1];
    const x = step => (last > first ? (step - first) / (last - first) * (width - 4) : width / 2) + 2;
    const y = bytes => height - 3 - bytes / highest * (height - 8);
    const points = row.bytes.map((bytes, i) => `${x(row.steps[i]).toFixed(1)},${y(bytes).toFixed(1)}`);
    return makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img',
        'aria-label': say('from {0} to {1}', size(row.bytes[0]), size(row.bytes[row.bytes.length - 1]))},
    makeSvg('polygon', {class: 'area', points: `${x(first)},${height - 3} ${points.join(' ')} ${x(last)},${height - 3}`}),
    makeSvg('polyline', {class: 'line', points: points.join(' ')}));
}

function makeCard(row, isJudged) {
    const isLeak = orderOf(row.verdict) === 0;
    const facts = [row.verdict ? say(row.verdict) : (isJudged ? say('stable or temporary') : say('not judged')),
        row.growthBytes ? say('{0} per step', sizeChange(row.growthBytes)) : null,
        row.births ? say('{0} steps left blocks behind', row.births) : null];
    return make('figure', {class: isLeak ? 'multiple bad' : 'multiple'},
        make('figcaption', null, make('strong', {title: row.name}, siteCell(row.name, row.ledger)), make('span', null, row.ledger)),
        makeStepCurve(row),
        make('p', null, facts.filter(Boolean).join(' · ')),
        make('p', {class: 'remark'}, say('{0} after the first step shown, {1} after the last',
            size(row.bytes[0]), size(row.bytes[row.bytes.length - 1]))));
}

export function makeStepsView(recording) {
    const {section, body} = makeSection('steps', say('Steps'),
        say('Alive at the end of each step, by site; what grows comes first. Each picture has its own scale, from 0.'));
    const rows = rowsOf(recording);
    if (!rows.length) {
        body.append(make('p', null, say('The recording has no steps. Mark them, and this view shows what grows from step to step.')));
        return section;
    }
    // A comparison does not judge, nor does a recording of a few steps.
    const isJudged = recording.report.tables.some(table => table.name === 'leaks') &&
        recording.report.outcome !== 'no_data';
    const box = make('div', {class: 'multiples'});
    let shown = 0;
    const more = makeButton('', () => showMore());
    const showMore = () => {
        box.append(...rows.slice(shown, shown + atOnce).map(row => makeCard(row, isJudged)));
        shown += atOnce;
        more.textContent = say('Show more of {0} sites', count(rows.length));
        more.hidden = shown >= rows.length;
    };
    showMore();
    body.append(box, more);
    body.append(...tablesNamed(recording.report, /^(leaks|ledger_growth|steps|peaks_by_step)$/).map(table => makeReportTable(recording.report, table)));
    return section;
}
