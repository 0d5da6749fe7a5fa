// SPDX-License-Identifier: Apache-2.0
// Processes and ranks side by side: the same pool of each, on one scale.
import {say} from './language.js';
import {make, makeSvg, makeSection, makeButton} from './dom.js';
import {size, moment} from './format.js';
import {CURVE_LIVE, curvesOf} from './recording.js';
import {envelope} from './envelope.js';
import {update} from './view_state.js';
import {makeReportTable, tablesNamed} from './tables.js';

const columns = 200, width = 420, height = 70;

function makeLine(curve, endNs, mostBytes) {
    const {low, high} = envelope(curve, 0, endNs, columns);
    const points = [];
    for (let i = 0; i < columns; i++)
        if (!Number.isNaN(high[i]))
            for (const value of [low[i], high[i]])
                points.push(`${(i / columns * width).toFixed(1)},${(height - 2 - value / mostBytes * (height - 6)).toFixed(1)}`);
    return makeSvg('svg', {width, height, role: 'img', 'aria-label': say('at most {0}', size(mostBytes))},
        makeSvg('polyline', {class: 'line', points: points.join(' ')}));
}

// The pool with the highest peak, as each process has it.
function ledgersSideBySide(recording) {
    const main = recording.ledgerOrder[0];
    const rows = recording.ledgerOrder.filter(each => main && each.pool === main.pool && each.kind === main.kind);
    return new Set(rows.map(each => each.process)).size > 1 ? rows : [];
}

// Null when there is only one process.
export function makeRanksView(recording) {
    const rows = ledgersSideBySide(recording);
    const tables = tablesNamed(recording.report, /^(rank\w*|processes)$/);
    if (!rows.length && !tables.some(table => table.rows.length > 1))
        return null;
    const {section, body} = makeSection('ranks', say('Ranks side by side'), say('All on one scale.'));
    const most = rows.reduce((a, row) => Math.max(a, row.peakBytes), 1);
    const box = make('div', {class: 'multiples wide'});
    for (const row of rows.slice(0, 64)) {
        const curve = curvesOf(recording, CURVE_LIVE, row.index)[0];
        box.append(make('figure', {class: 'multiple'},
            make('figcaption', null, makeButton(row.name, () => {
                update(recording, {ledger: row.index});
                document.getElementById('timeline').scrollIntoView();
            }, {class: 'link'}), make('span', null, say('peak {0} at {1}', size(row.peakBytes), moment(row.peakNs)))),
            curve && makeLine(curve, recording.endNs, most)));
    }
    body.append(box, ...tables.map(table => makeReportTable(recording.report, table)));
    return section;
}
