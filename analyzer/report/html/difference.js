// SPDX-License-Identifier: Apache-2.0
// What changed: base and current on one scale, each from its own start, and what is new, gone, grown.
import {say} from './language.js';
import {make, makeSvg, makeSection} from './dom.js';
import {size, sizeChange, duration} from './format.js';
import {CURVE_LIVE, curvesOf} from './recording.js';
import {envelope} from './envelope.js';
import {makeReportTable, tablesNamed} from './tables.js';

const columns = 300, width = 640, height = 150, pairMost = 12;

function makeCurve(curve, endNs, scale, className) {
    const {low, high} = envelope(curve, 0, endNs, columns);
    const points = [];
    const shownWidth = width * endNs / scale.endNs;
    for (let i = 0; i < columns; i++)
        if (!Number.isNaN(high[i]))
            for (const value of [low[i], high[i]])
                points.push(`${(i / columns * shownWidth).toFixed(1)},` +
                    `${(height - 2 - value / scale.bytes * (height - 8)).toFixed(1)}`);
    return makeSvg('polyline', {class: className, points: points.join(' ')});
}

function makePair(recording, base, ledger, other) {
    const scale = {endNs: Math.max(recording.endNs, base.endNs),
        bytes: Math.max(ledger.peakBytes, other.peakBytes, 1)};
    const words = say('base {0}, current {1}: {2}', size(other.wholePeakBytes), size(ledger.wholePeakBytes),
        sizeChange(ledger.wholePeakBytes - other.wholePeakBytes));
    const now = curvesOf(recording, CURVE_LIVE, ledger.index)[0];
    const before = curvesOf(base, CURVE_LIVE, other.index)[0];
    return make('figure', {class: 'multiple'},
        make('figcaption', null, make('strong', null, ledger.name), make('span', null, `${say('peak')}: ${words}`)),
        makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': words},
            before && makeCurve(before, base.endNs, scale, 'line base'),
            now && makeCurve(now, recording.endNs, scale, 'line')),
        make('p', {class: 'remark'}, say('dashed: base, {0}; solid: current, {1}', duration(base.endNs),
            duration(recording.endNs))));
}

export function makeDifferenceView(recording) {
    const {report, base} = recording;
    const {section, body} = makeSection('difference', say('What changed'),
        report.facts.base ? say('Base: {0}. Current: {1}.', report.facts.base, report.facts.current) : null);
    if (base) {
        const others = new Map(base.ledgers.map(ledger => [ledger.name, ledger]));
        const change = ledger => Math.abs(ledger.wholePeakBytes - others.get(ledger.name).wholePeakBytes);
        const pairs = recording.ledgerOrder.filter(ledger => others.has(ledger.name))
            .sort((a, b) => change(b) - change(a)).slice(0, pairMost);
        body.append(make('div', {class: 'multiples pairs'}, pairs.map(ledger =>
            makePair(recording, base, ledger, others.get(ledger.name)))));
    }
    body.append(...tablesNamed(report, /_changes$|_order$|change/).map(table => makeReportTable(report, table)));
    return section;
}
