// SPDX-License-Identifier: Apache-2.0
// The driver's account: memory by module over time, counters, and how the ledgers add up to it.
import {say} from './language.js';
import {make, makeSection, makeSvg, makeKey, replaceContent} from './dom.js';
import {size, moment} from './format.js';
import {CURVE_SAMPLE} from './recording.js';
import {envelope} from './envelope.js';
import {colourAt, restColour} from './colours.js';
import {makeReportTable, tablesNamed} from './tables.js';

const columns = 300, height = 200, layerMost = 8;

// Counters that are shares of one whole: "module HCCL reserved".
function moduleCurves(recording) {
    return recording.curves.filter(curve => curve.of === CURVE_SAMPLE &&
        /^module .* reserved$/.test(recording.samples[curve.subject].name) &&
        curve.last.some(value => value > 0));
}

function highest(values) {
    return values.reduce((a, b) => Math.max(a, b), 0);
}

function layersOfModules(recording, curves, process) {
    const layers = curves.filter(curve => recording.samples[curve.subject].process === process)
        .map(curve => ({name: recording.samples[curve.subject].name.replace(/^module | reserved$/g, ''),
            values: envelope(curve, 0, recording.endNs, columns).high.map(value => value || 0)}))
        .sort((a, b) => highest(b.values) - highest(a.values));
    if (layers.length <= layerMost)
        return layers;
    const others = layers.slice(layerMost);
    const values = new Float64Array(columns);
    others.forEach(layer => layer.values.forEach((value, i) => { values[i] += value; }));
    return [...layers.slice(0, layerMost), {name: say('{0} others', others.length), values, isOthers: true}];
}

function makeAreas(layers, width) {
    const sum = new Float64Array(columns);
    const tops = layers.map(layer => layer.values.map((value, i) => { sum[i] += value; return sum[i]; }));
    const most = Math.max(1, highest(sum));
    const x = i => (i / (columns - 1) * width).toFixed(1);
    const y = value => (height - value / most * (height - 14)).toFixed(1);
    const shapes = layers.map((layer, l) => {
        const top = Array.from(tops[l], (value, i) => `${x(i)},${y(value)}`);
        const bottom = Array.from({length: columns}, (_, i) => columns - 1 - i)
            .map(i => `${x(i)},${y(l ? tops[l - 1][i] : 0)}`);
        return makeSvg('polygon', {points: [...top, ...bottom].join(' '), 'fill-opacity': 0.8,
            fill: layer.isOthers ? restColour : colourAt(l)}, makeSvg('title', null, layer.name));
    });
    return makeSvg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
        class: 'areas', preserveAspectRatio: 'none',
        'aria-label': say('Modules over time, together at most {0}', size(most))}, shapes);
}

function makeModulePicture(recording, curves, process) {
    const layers = layersOfModules(recording, curves, process);
    if (!layers.length)
        return null;
    const keys = layers.map((layer, l) => makeKey(layer.isOthers ? restColour : colourAt(l),
        `${layer.name} ${size(highest(layer.values))}`));
    return make('figure', {class: 'modules'},
        make('figcaption', null, say('Memory by module of the driver, {0}, 0 to {1}; together at most {2}.',
            recording.processes[process].name, moment(recording.endNs),
            size(layers.reduce((sum, layer) => sum + highest(layer.values), 0)))),
        makeAreas(layers, 1000), make('div', {class: 'legend'}, keys));
}

export function makeCountersView(recording) {
    const {section, body} = makeSection('counters', say('Modules and ledger'),
        say('What the driver and the pools themselves counted, beside what was traced.'));
    const curves = moduleCurves(recording);
    const processes = [...new Set(curves.map(curve => recording.samples[curve.subject].process))];
    const {report} = recording;
    replaceContent(body, processes.slice(0, 8).map(process => makeModulePicture(recording, curves, process)),
        tablesNamed(report, /^(device_account|process_account|components|modules|totals|window|samples)$/)
            .map(table => makeReportTable(report, table)));
    if (!body.childElementCount)
        body.append(make('p', null, say('The recording has no counters of modules.')));
    return section;
}
