// SPDX-License-Identifier: Apache-2.0
// Processes and ranks side by side: the same pool of each, on one scale.
import {say} from './language.js';
import {make, makeSvg, makeSection, makeButton} from './dom.js';
import {size, moment, count} from './format.js';
import {CURVE_LIVE, curvesOf} from './recording.js';
import {envelope} from './envelope.js';
import {update} from './view_state.js';
import {makeReportTable, tablesNamed} from './tables.js';

const columns = 200, width = 420, height = 70;
const cardMost = 64, smallShare = 0.01; /* of the highest peak: what is below it has no card */

function makeLine(curve, endNs, mostBytes) {
    const {low, high} = envelope(curve, 0, endNs, columns);
    const points = [];
    for (let i = 0; i < columns; i++)
        if (!Number.isNaN(high[i]))
            for (const value of [low[i], high[i]])
                points.push(`${(i / columns * width).toFixed(1)},${(height - 2 - value / mostBytes * (height - 6)).toFixed(1)}`);
    return makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': say('at most {0}', size(mostBytes))},
        makeSvg('polyline', {class: 'line', points: points.join(' ')}));
}

// The pool with the highest peak, as each process has it.
function ledgersSideBySide(recording) {
    const main = recording.ledgerOrder[0];
    const rows = recording.ledgerOrder.filter(each => main && each.pool === main.pool && each.kind === main.kind);
    return new Set(rows.map(each => each.process)).size > 1 ? rows : [];
}

// Helpers of a job would hide its own processes; ranks are all shown.
function areWorthACard(recording, rows, most) {
    const isRank = row => recording.processes[row.process].rank !== null;
    return rows.filter(row => isRank(row) || row.peakBytes >= most * smallShare).slice(0, cardMost);
}

export function titleOfRanks(recording) {
    return recording.processes.some(process => process.rank !== null) ? say('Ranks side by side') : say('Processes side by side');
}

// Null when there is only one process.
export function makeRanksView(recording) {
    const rows = ledgersSideBySide(recording);
    const tables = tablesNamed(recording.report, /^(rank\w*|processes)$/);
    if (!rows.length && !tables.some(table => table.rows.length > 1))
        return null;
    const {section, body} = makeSection('ranks', titleOfRanks(recording), say('All on one scale.'));
    const most = rows.reduce((a, row) => Math.max(a, row.peakBytes), 1);
    const box = make('div', {class: 'multiples wide'});
    const shown = areWorthACard(recording, rows, most);
    const others = rows.filter(row => !shown.includes(row));
    for (const row of shown) {
        const curve = curvesOf(recording, CURVE_LIVE, row.index)[0];
        box.append(make('figure', {class: 'multiple'},
            make('figcaption', null, makeButton(row.name, () => {
                update(recording, {ledger: row.index});
                document.getElementById('timeline').scrollIntoView();
            }, {class: 'link'}), make('span', null, say('peak {0} at {1}', size(row.wholePeakBytes), moment(row.peakNs)))),
            curve && makeLine(curve, recording.endNs, most)));
    }
    body.append(box);
    if (others.length)
        body.append(make('p', {class: 'remark'}, say('And {0} more, of at most {1} each.', count(others.length),
            size(others.reduce((a, row) => Math.max(a, row.peakBytes), 0)))));
    body.append(...tables.map(table => makeReportTable(recording.report, table)));
    return section;
}
