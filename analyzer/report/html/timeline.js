// SPDX-License-Identifier: Apache-2.0
// The timeline: totals over time, or one ledger in layers; steps, phases, peaks and failures; zoom,
// pan and selection by mouse, by keyboard and by numbers.
import {say} from './language.js';
import {make, makeButton, makeSelect, makeSection, makeKey, makeSwatch, replaceContent} from './dom.js';
import {size, moment, duration, count, axisMoments, wholeNs} from './format.js';
import {colourAt, layerColourAt, onTopColours, restColour, styleColour, withAlpha} from './colours.js';
import {CURVE_LIVE, CURVE_RESERVED, CURVE_SAMPLE, CURVE_PEAK_DETAIL, CURVE_ACCOUNT, curvesOf, dimensions,
    hasDimension, stepAt, stepsBetween} from './recording.js';
import {envelopeOf, envelope} from './envelope.js';
import {layersOf} from './layers.js';
import {accountLayers, hasAccount} from './account_layers.js';
import {state, update, go, listen} from './view_state.js';
import {makeSiteLink, isSite} from './places.js';
import {leaksOf} from './recording.js';
import {download, downloadCanvas, makeDownload} from './download.js';
import {makeTable, csvOf} from './table.js';

const layerMost = 9;
const legendMost = 12;
const leastViewNs = 10;
const chartHeight = () => (innerWidth < 700 ? 240 : 330);
const stripHeight = 15; /* of steps, of phases */
const phaseRowMost = 3, operatorRowMost = 2;

const dimensionNames = {
    none: () => say('total'), operator: () => say('operator'), site: () => say('site'),
    owner: () => say('owner'), purpose: () => say('what for'), thread: () => say('thread'), stream: () => say('stream'),
    module: () => say('module'), size: () => say('size class'),
    account: () => say('account of the process'),
};

function curveName(recording, curve) {
    if (curve.of === CURVE_SAMPLE) {
        const sample = recording.samples[curve.subject];
        const process = recording.processes.length > 1 ?
            `, ${recording.processes[sample.process].name}` : '';
        return `${sample.name}${process}`;
    }
    const {name} = recording.ledgers[curve.subject];
    return curve.of === CURVE_RESERVED ? say('{0}: reserved', name) : say('{0}: allocated', name);
}

function isConstantZero(curve) {
    return curve.last.every(value => value === 0) && curve.above.every(value => value === 0);
}

// What is worth seeing first: the ledger, what its pool holds, and the pool's own counters.
function isShownFirst(recording, curve, ledger) {
    if (curve.of !== CURVE_SAMPLE)
        return curve.subject === ledger.index;
    const sample = recording.samples[curve.subject];
    const hasReserved = curvesOf(recording, CURVE_RESERVED, ledger.index).length > 0;
    const words = hasReserved ? ['allocated', 'active'] : ['allocated', 'active', 'reserved'];
    return sample.process === ledger.process && !isConstantZero(curve) &&
        words.some(word => sample.name.toLowerCase() === `${ledger.pool} ${word}`);
}

// Phases inside of others get rows below them; marks, which have no length, get none.
function placePhases(phases) {
    const open = new Map();
    const inOrder = [...phases].sort((a, b) => a.beginNs - b.beginNs || b.endNs - a.endNs);
    for (const phase of inOrder) {
        const around = (open.get(phase.process) || []).filter(other => other.endNs > phase.beginNs);
        const taken = new Set(around.map(other => other.row));
        phase.row = phase.endNs > phase.beginNs ? 0 : Infinity;
        while (taken.has(phase.row))
            phase.row++;
        open.set(phase.process, phase.row === Infinity ? around : [...around, phase]);
    }
}

class Timeline {
    constructor(recording) {
        this.recording = recording;
        this.curves = recording.curves.filter(curve => ![CURVE_PEAK_DETAIL, CURVE_ACCOUNT].includes(curve.of));
        this.curves.forEach((curve, i) => {
            curve.name = curveName(recording, curve);
            curve.colour = colourAt(i);
        });
        this.chartBox = make('div', {class: 'chart', tabindex: 0, role: 'application',
            'aria-describedby': 'timeline-summary', 'aria-label': say('Timeline'),
            onkeydown: event => this.onKey(event)});
        this.readout = make('p', {class: 'readout'});
        this.legend = make('div', {class: 'legend'});
        this.summary = make('p', {id: 'timeline-summary', class: 'summary'});
        this.tableBox = make('div', null);
        this.controls = make('div', {class: 'controls'});
        this.moreControls = make('div', {class: 'controls'});
        placePhases(recording.phases);
        placePhases(recording.operators);
        this.chooseCurves();
        listen(keys => this.onState(keys));
        new ResizeObserver(() => this.onResize()).observe(this.chartBox);
    }

    // Lanes from the top: phases, then operators; as many rows as this process needs.
    lanes() {
        const process = this.ledger?.process ?? 0;
        const lane = (stretches, rowMost, colours) => {
            const shown = stretches.filter(each => each.process === process && each.row < rowMost);
            return {shown, colours, rows: shown.reduce((most, each) => Math.max(most, each.row + 1), 0)};
        };
        return [lane(this.recording.phases, phaseRowMost, ['--phase-a', '--phase-b']),
            lane(this.recording.operators, operatorRowMost, ['--operator-a', '--operator-b'])];
    }

    laneRows() {
        return this.lanes().reduce((sum, lane) => sum + lane.rows, 0);
    }

    get ledger() {
        return this.recording.ledgers[state.ledger];
    }

    chooseCurves() {
        this.shown = new Set(this.curves.filter(curve =>
            this.ledger && isShownFirst(this.recording, curve, this.ledger)));
        if (!this.shown.size)
            this.curves.slice(0, 4).forEach(curve => this.shown.add(curve));
    }

    // ---- controls

    drawControls() {
        const {recording} = this;
        const ledgers = recording.ledgerOrder.map(each => [String(each.index), each.name]);
        const stackable = recording.isWhole ?
            dimensions.filter(each => hasDimension(recording, each)) : [];
        if (recording.isWhole && hasAccount(recording, this.ledger?.process))
            stackable.push('account');
        if (recording.isWhole && !stackable.includes(state.stackBy))
            state.stackBy = 'none'; // an address of another page
        this.fromInput = this.makeTimeInput(say('From'));
        this.toInput = this.makeTimeInput(say('to'));
        replaceContent(this.controls,
            ledgers.length > 0 && makeSelect(say('Ledger'), ledgers, String(state.ledger),
                value => go(recording, {ledger: Number(value), site: ''})),
            makeSelect(say('Stacked by'), ['none', ...stackable].map(each =>
                [each, dimensionNames[each]()]), state.stackBy,
                value => go(recording, {stackBy: value})),
            state.stackBy === 'site' && this.ledger && this.sitesOnTop().length > 0 && this.makeOnly());
        replaceContent(this.moreControls,
            make('span', {class: 'buttons', role: 'group', 'aria-label': say('Zoom')},
                makeButton('+', () => this.zoom(0.5), {title: say('Zoom in')}),
                makeButton('−', () => this.zoom(2), {title: say('Zoom out')}),
                makeButton('◀', () => this.pan(-0.25), {title: say('Earlier')}),
                makeButton('▶', () => this.pan(0.25), {title: say('Later')}),
                makeButton(say('Whole run'), () => this.showWhole()),
                makeButton(say('Selection'), () => this.showSelection()),
                makeButton(say('Peak'), () => this.showPeak()),
                makeDownload('png', say('Timeline'), () => downloadCanvas('timeline', this.chart.ctx.canvas)),
                makeDownload('csv', say('Timeline'), () => this.downloadCurves())),
            make('form', {class: 'range', onsubmit: event => {
                event.preventDefault();
                this.selectNumbers();
            }}, this.fromInput.label, this.toInput.label, makeButton(say('Select'), null,
                {type: 'submit'})),
            this.makeStepChooser());
        this.showNumbers();
    }

    // A leak that is small beside the rest is seen alone.
    makeOnly() {
        return make('label', {class: 'control tick'}, make('input', {type: 'checkbox', id: 'timeline-only', checked: state.only !== '',
            onchange: event => go(this.recording, {only: event.target.checked ? '1' : ''})}), say('only what is red'));
    }

    // What is seen, as many rows as the picture has columns.
    downloadCurves() {
        const columns = this.columnsWide();
        const widthNs = (state.viewToNs - state.viewFromNs) / columns;
        const number = value => (Number.isNaN(value) ? '' : value);
        const shown = this.series.flatMap(each => (each.isLayer ?
            [{key: each.name, value: i => number(each.values[i])}] :
            [{key: `${each.name} lowest_bytes`, value: i => number(each.low[i])},
                {key: `${each.name} highest_bytes`, value: i => number(each.high[i])}]));
        download('timeline.csv', csvOf([{key: 'from_ns', value: i => Math.round(state.viewFromNs + i * widthNs)},
            ...shown], Array.from({length: columns}, (_, i) => i)), 'text/csv');
    }

    makeTimeInput(text) {
        const input = make('input', {type: 'number', step: 'any', min: 0, class: 'time'});
        return {input, label: make('label', {class: 'control'}, make('span', null, text), input,
            ' s')};
    }

    makeStepChooser() {
        const steps = stepsBetween(this.recording, this.ledger?.process, 0, this.recording.endNs);
        if (!steps.length)
            return null;
        const input = make('input', {type: 'number', class: 'time', min: 0,
            value: String(steps[steps.length - 1].number)});
        return make('form', {class: 'range', onsubmit: event => {
            event.preventDefault();
            const step = steps.find(each => each.number === Number(input.value));
            if (step)
                this.select(step.beginNs, step.endNs);
        }}, make('label', {class: 'control'}, make('span', null, say('Step')), input),
            makeButton(say('Select step'), null, {type: 'submit'}));
    }

    showNumbers() {
        if (!this.fromInput || !state.selection)
            return;
        this.fromInput.input.value = (state.selection.fromNs / 1e9).toFixed(9);
        this.toInput.input.value = (state.selection.toNs / 1e9).toFixed(9);
    }

    selectNumbers() {
        this.select(wholeNs(this.fromInput.input.value), wholeNs(this.toInput.input.value));
    }

    // ---- moving about

    select(fromNs, toNs) {
        const from = Math.max(0, Math.min(fromNs, toNs));
        const to = Math.min(this.recording.endNs, Math.max(fromNs, toNs));
        if (to > from)
            update(this.recording, {selection: {fromNs: from, toNs: to}, shownBlock: null});
    }

    showStretch(fromNs, toNs) {
        const endNs = this.recording.shownEndNs;
        const width = Math.min(endNs, Math.max(leastViewNs, toNs - fromNs));
        const from = Math.max(0, Math.min(fromNs, endNs - width));
        update(this.recording, {viewFromNs: from, viewToNs: from + width});
    }

    showWhole() {
        this.showStretch(0, this.recording.shownEndNs);
    }

    showSelection() {
        if (state.selection) {
            const {fromNs, toNs} = state.selection;
            this.showStretch(fromNs - (toNs - fromNs) * 0.1, toNs + (toNs - fromNs) * 0.1);
        }
    }

    showPeak() {
        const width = (state.viewToNs - state.viewFromNs) / 4;
        this.showStretch(this.ledger.peakNs - width / 2, this.ledger.peakNs + width / 2);
    }

    zoom(factor, aroundNs = (state.viewFromNs + state.viewToNs) / 2) {
        this.showStretch(aroundNs - (aroundNs - state.viewFromNs) * factor,
            aroundNs + (state.viewToNs - aroundNs) * factor);
    }

    pan(share) {
        const by = (state.viewToNs - state.viewFromNs) * share;
        this.showStretch(state.viewFromNs + by, state.viewToNs + by);
    }

    // Moves one edge of the selection; a selection that is not there begins in the middle.
    moveEdge(edge, share) {
        const width = state.viewToNs - state.viewFromNs;
        const middle = state.viewFromNs + width / 2;
        const {fromNs, toNs} = state.selection || {fromNs: middle, toNs: middle + width * 0.05};
        if (edge === 'to')
            this.select(fromNs, Math.max(fromNs + 1, toNs + width * share));
        else
            this.select(Math.min(toNs - 1, fromNs + width * share), toNs);
    }

    onKey(event) {
        const moves = {
            ArrowLeft: () => (event.shiftKey ? this.moveEdge(event.altKey ? 'from' : 'to', -0.02) :
                this.pan(-0.1)),
            ArrowRight: () => (event.shiftKey ? this.moveEdge(event.altKey ? 'from' : 'to', 0.02) :
                this.pan(0.1)),
            '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
            0: () => this.showWhole(), p: () => this.showPeak(), s: () => this.showSelection(),
            Escape: () => update(this.recording, {shownBlock: null}),
        };
        if (event.ctrlKey || event.metaKey || !moves[event.key])
            return;
        event.preventDefault();
        moves[event.key]();
    }

    onWheel(event) {
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.chartBox)
            return;
        event.preventDefault();
        const aroundNs = this.chart.posToVal(event.offsetX, 'x') * 1e9;
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, aroundNs);
    }

    onDown(event) {
        this.chartBox.focus({preventScroll: true});
        if (!event.shiftKey)
            return;
        event.stopImmediatePropagation();
        event.preventDefault();
        let lastX = event.clientX;
        const move = moved => {
            const share = (lastX - moved.clientX) / this.chart.over.clientWidth;
            lastX = moved.clientX;
            this.pan(share);
        };
        const up = () => {
            document.removeEventListener('mousemove', move);
            document.removeEventListener('mouseup', up);
        };
        document.addEventListener('mousemove', move);
        document.addEventListener('mouseup', up);
    }

    // One finger moves, two zoom about the middle between them.
    listenToFingers(over) {
        const fingers = new Map();
        const middleOf = () => [...fingers.values()].reduce((sum, x) => sum + x, 0) / fingers.size;
        const widthOf = () => Math.max(...fingers.values()) - Math.min(...fingers.values());
        const isFinger = event => event.pointerType === 'touch';
        over.addEventListener('pointerdown', event => {
            if (isFinger(event))
                fingers.set(event.pointerId, event.clientX);
        });
        over.addEventListener('pointermove', event => {
            if (!fingers.has(event.pointerId))
                return;
            const [middle, width] = [middleOf(), widthOf()];
            fingers.set(event.pointerId, event.clientX);
            const {left, width: whole} = over.getBoundingClientRect();
            if (fingers.size > 1 && widthOf() > 10 && width > 10)
                this.zoom(width / widthOf(), state.viewFromNs + (middleOf() - left) / whole *
                    (state.viewToNs - state.viewFromNs));
            this.pan((middle - middleOf()) / whole);
        });
        for (const kind of ['pointerup', 'pointercancel', 'pointerleave'])
            over.addEventListener(kind, event => fingers.delete(event.pointerId));
    }

    // ---- the picture

    columnsWide() {
        return Math.max(100, Math.min(2000, Math.floor(this.chartBox.clientWidth - 90)));
    }

    totalsOf(columns) {
        const {recording} = this;
        return [...this.baseCurves(columns), ...this.curves.filter(curve => this.shown.has(curve)).map(curve => {
            const detail = curve.of === CURVE_LIVE ?
                curvesOf(recording, CURVE_PEAK_DETAIL, curve.subject)[0] : null;
            const {low, high} = this.cutAfter(recording.endNs, envelopeOf(curve, detail, state.viewFromNs, state.viewToNs, columns));
            return {name: curve.name, colour: curve.colour, low, high,
                isFilled: curve.of === CURVE_LIVE, isDashed: curve.of === CURVE_RESERVED};
        })];
    }

    // What is after the end of a recording is not known.
    cutAfter(endNs, {low, high}) {
        const share = (endNs - state.viewFromNs) / (state.viewToNs - state.viewFromNs);
        for (const values of [low, high])
            values.fill(NaN, Math.max(0, Math.ceil(share * values.length)));
        return {low, high};
    }

    // In a comparison: the same ledger in the base, from its own start.
    baseCurves(columns) {
        const {base} = this.recording;
        const other = base && this.ledger && base.ledgers.find(each => each.name === this.ledger.name);
        const curve = other && curvesOf(base, CURVE_LIVE, other.index)[0];
        if (!curve)
            return [];
        const {low, high} = this.cutAfter(base.endNs, envelope(curve, state.viewFromNs, state.viewToNs, columns));
        return [{name: say('{0}: base', other.name), colour: styleColour('--soft'), low, high, isDashed: true}];
    }

    // Drawn from the top of the stack down, so that each layer covers what is below it.
    layers(columns) {
        const onTop = state.stackBy === 'site' ? this.sitesOnTop() : [];
        const wanted = {fromNs: state.viewFromNs, toNs: state.viewToNs, columns, layerMost};
        const layers = state.stackBy === 'account' ?
            accountLayers(this.recording, {...wanted, process: this.ledger.process}) :
            this.onlyWanted(layersOf(this.recording, {...wanted, ledger: state.ledger, dimension: state.stackBy, onTop}));
        const sum = new Float64Array(columns);
        const series = layers.map(({name, othersCount, isOnTop, values}, i) => {
            const high = new Float64Array(columns);
            for (let column = 0; column < columns; column++)
                high[column] = sum[column] += values[column];
            const colour = isOnTop ? onTopColours[Math.min(layers.length - 1 - i, onTopColours.length - 1)] :
                othersCount ? restColour : layerColourAt(i);
            return {name: othersCount ? say('{0} others', count(othersCount)) : name || say('(none)'), colour,
                low: high, high, values, isFilled: true, isLayer: true, isOnTop, isOthers: Boolean(othersCount)};
        });
        return series.reverse();
    }

    isRedAlone() {
        return state.only !== '' && state.stackBy === 'site' && this.recording.isWhole && this.sitesOnTop().length > 0;
    }

    onlyWanted(layers) {
        const red = this.isRedAlone() ? layers.filter(layer => layer.isOnTop) : [];
        return red.length ? red : layers;
    }

    // The site that is looked at, then the leaks of this ledger.
    sitesOnTop() {
        const leaks = leaksOf(this.recording.report).filter(leak => leak.ledger === this.ledger.name)
            .map(leak => leak.site);
        return [...new Set([...(state.site ? [state.site] : []), ...leaks])];
    }

    // Two points for each column, in the order that makes the line go on from the one before.
    dataOf(series, columns) {
        const width = (state.viewToNs - state.viewFromNs) / columns;
        const xs = new Float64Array(columns * 2);
        for (let i = 0; i < columns; i++)
            xs[2 * i] = xs[2 * i + 1] = (state.viewFromNs + (i + 0.5) * width) / 1e9;
        const ys = series.map(({low, high}) => {
            const values = new Array(columns * 2);
            let before = 0;
            for (let i = 0; i < columns; i++) {
                const isUp = Math.abs(low[i] - before) <= Math.abs(high[i] - before);
                const first = isUp ? low[i] : high[i];
                before = isUp ? high[i] : low[i];
                values[2 * i] = Number.isNaN(first) ? null : first;
                values[2 * i + 1] = Number.isNaN(before) ? null : before;
            }
            return values;
        });
        return [xs, ...ys];
    }

    uPlotSeries(each) {
        return {label: each.name, stroke: each.colour, width: each.isLayer ? 1 : 1.5,
            fill: each.isLayer ? each.colour :
                (each.isFilled ? withAlpha(each.colour, 0.18) : undefined),
            dash: each.isDashed ? [6, 4] : undefined, points: {show: false}};
    }

    optionsOf(series) {
        const text = styleColour('--text');
        const grid = {stroke: styleColour('--grid'), width: 1};
        const axis = {stroke: text, grid, ticks: grid, font: '12px system-ui, sans-serif'};
        return {
            width: Math.max(200, this.chartBox.clientWidth), height: chartHeight(),
            padding: [(1 + this.laneRows()) * stripHeight + 6, 26, 0, 0],
            legend: {show: false},
            scales: {x: {time: false, range: () => [state.viewFromNs / 1e9, state.viewToNs / 1e9]},
                y: {range: (chart, low, high) => [0, high > 0 ? high * 1.06 : 1]}},
            axes: [{...axis, space: 90, size: 34,
                values: (chart, splits) => axisMoments(splits.map(at => at * 1e9))},
            {...axis, size: 78, incrs: Array.from({length: 60}, (_, i) => 2 ** i),
                values: (chart, splits) => splits.map(size)}],
            cursor: {drag: {x: true, y: false, setScale: false}, points: {show: false},
                bind: {dblclick: () => () => { this.showWhole(); return null; }}},
            series: [{}, ...series.map(each => this.uPlotSeries(each))],
            hooks: {drawClear: [chart => this.drawSteps(chart)],
                draw: [chart => this.drawMarks(chart)],
                setSelect: [chart => this.onDrag(chart)],
                setCursor: [chart => this.onCursor(chart)]},
        };
    }

    onDrag(chart) {
        const {left, width} = chart.select;
        if (width < 2)
            return;
        this.select(chart.posToVal(left, 'x') * 1e9, chart.posToVal(left + width, 'x') * 1e9);
        chart.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    }

    draw() {
        const columns = this.columnsWide();
        const isStacked = state.stackBy !== 'none' && this.recording.isWhole;
        this.series = isStacked ? this.layers(columns) : this.totalsOf(columns);
        const data = this.dataOf(this.series, columns);
        const key = this.series.map(each => each.name + each.colour).join('\n') + isStacked;
        if (this.chart && this.drawnKey === key) {
            this.chart.setData(data, true);
        } else {
            this.chart?.destroy();
            this.chart = new uPlot(this.optionsOf(this.series), data, this.chartBox);
            this.chart.over.addEventListener('wheel', event => this.onWheel(event), {passive: false});
            this.chart.over.addEventListener('mousedown', event => this.onDown(event), true);
            this.listenToFingers(this.chart.over);
            this.chart.ctx.canvas.setAttribute('role', 'img');
            this.chart.ctx.canvas.setAttribute('aria-label', say('Timeline'));
            this.drawnKey = key;
            this.drawLegend(isStacked);
        }
        this.drawSummary(columns);
    }

    // x of a moment on the canvas
    canvasX(chart, ns) {
        return chart.valToPos(ns / 1e9, 'x', true);
    }

    drawStrip(chart, stretches, top, colours) {
        const {ctx, bbox} = chart;
        const pixels = devicePixelRatio;
        let lastRight = -Infinity;
        ctx.font = `${10 * pixels}px system-ui, sans-serif`;
        ctx.textBaseline = 'middle';
        stretches.forEach((stretch, i) => {
            const left = Math.max(bbox.left, this.canvasX(chart, stretch.beginNs));
            const right = Math.min(bbox.left + bbox.width, this.canvasX(chart, stretch.endNs));
            if (right < bbox.left || left > bbox.left + bbox.width)
                return;
            ctx.fillStyle = colours[i % 2];
            ctx.fillRect(left, top, Math.max(pixels, right - left), (stripHeight - 2) * pixels);
            const width = ctx.measureText(stretch.label).width + 6 * pixels;
            if (width < right - left && left > lastRight) {
                ctx.fillStyle = styleColour('--text');
                ctx.fillText(stretch.label, left + 3 * pixels, top + stripHeight / 2 * pixels);
                lastRight = left + width;
            }
        });
    }

    // Too many to be told apart are one stretch that says how many.
    stepsSeen(process, width) {
        const steps = stepsBetween(this.recording, process, state.viewFromNs, state.viewToNs);
        if (steps.length <= width / 4)
            return steps.map(step => ({...step, label: say('step {0}', step.number)}));
        const first = steps[0], last = steps[steps.length - 1];
        return [{beginNs: first.beginNs, endNs: last.endNs,
            label: say('{0} steps: {1} to {2}', count(steps.length), first.number, last.number)}];
    }

    drawSteps(chart) {
        const {ctx, bbox} = chart;
        const steps = this.stepsSeen(this.ledger?.process ?? 0, bbox.width);
        let above = 1 + this.laneRows();
        ctx.save();
        for (const {shown, rows, colours} of this.lanes())
            for (let row = 0; row < rows; row++, above--)
                this.drawStrip(chart, shown.filter(each => each.row === row && each.endNs >= state.viewFromNs &&
                    each.beginNs <= state.viewToNs).map(each => ({...each, label: each.name})),
                bbox.top - above * stripHeight * devicePixelRatio, colours.map(styleColour));
        this.drawStrip(chart, steps, bbox.top - stripHeight * devicePixelRatio,
            [styleColour('--step-a'), styleColour('--step-b')]);
        if (steps.length > 1)
            steps.forEach((step, i) => {
                const left = Math.max(bbox.left, this.canvasX(chart, step.beginNs));
                const right = Math.min(bbox.left + bbox.width, this.canvasX(chart, step.endNs));
                ctx.fillStyle = styleColour(i % 2 ? '--band-b' : '--band-a');
                ctx.fillRect(left, bbox.top, Math.max(0, right - left), bbox.height);
            });
        ctx.restore();
    }

    drawMarks(chart) {
        const {ctx, bbox} = chart;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
        ctx.clip();
        this.drawSelection(chart);
        if (this.ledger && state.stackBy !== 'account' && !this.isRedAlone())
            this.drawLabel(chart, this.ledger.peakNs, `▼ ${say('peak')} ${this.peakText()}`,
                styleColour('--mark'));
        for (const failure of this.recording.failures)
            if (failure.ledger === state.ledger)
                this.drawLabel(chart, failure.timeNs, `✖ ${say('out of memory')}`,
                    styleColour('--bad'));
        this.drawBlock(chart);
        ctx.restore();
    }

    // What the pool counted, where it did, and what was seen of it.
    peakText() {
        const {peakBytes, wholePeakBytes} = this.ledger;
        return wholePeakBytes > peakBytes ?
            say('{0}, of it {1} recorded', size(wholePeakBytes), size(peakBytes)) : size(peakBytes);
    }

    drawLabel(chart, ns, text, colour) {
        if (ns < state.viewFromNs || ns > state.viewToNs)
            return;
        const {ctx, bbox} = chart;
        const pixels = devicePixelRatio;
        const x = this.canvasX(chart, ns);
        ctx.strokeStyle = ctx.fillStyle = colour;
        ctx.lineWidth = pixels;
        ctx.setLineDash([3 * pixels, 3 * pixels]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.setLineDash([]);
        ctx.font = `bold ${11 * pixels}px system-ui, sans-serif`;
        ctx.textBaseline = 'top';
        const width = ctx.measureText(text).width, gap = 4 * pixels;
        const isRight = x + gap + width + gap > bbox.left + bbox.width;
        const left = isRight ? x - gap - width : x + gap;
        ctx.textAlign = 'left';
        ctx.strokeStyle = styleColour('--back'); // curves run behind it
        ctx.lineWidth = 4 * pixels;
        ctx.lineJoin = 'round';
        ctx.strokeText(text, Math.max(bbox.left + gap, left), bbox.top + 3 * pixels);
        ctx.fillText(text, Math.max(bbox.left + gap, left), bbox.top + 3 * pixels);
    }

    drawSelection(chart) {
        if (!state.selection)
            return;
        const {ctx, bbox} = chart;
        const left = this.canvasX(chart, state.selection.fromNs);
        const right = this.canvasX(chart, state.selection.toNs);
        ctx.setLineDash([]);
        ctx.fillStyle = styleColour('--selection');
        ctx.fillRect(left, bbox.top, Math.max(devicePixelRatio, right - left), bbox.height);
        ctx.strokeStyle = styleColour('--selection-edge');
        ctx.lineWidth = devicePixelRatio;
        ctx.strokeRect(left, bbox.top, Math.max(devicePixelRatio, right - left), bbox.height);
    }

    // A block's life: a bar from its birth to its end, and its name.
    drawBlock(chart) {
        const block = state.shownBlock;
        if (!block)
            return;
        const {ctx, bbox} = chart;
        const pixels = devicePixelRatio;
        const left = this.canvasX(chart, block.born);
        const right = block.end === Infinity ? bbox.left + bbox.width :
            Math.max(left + 2 * pixels, this.canvasX(chart, block.end));
        const top = bbox.top + bbox.height - 34 * pixels;
        ctx.fillStyle = styleColour('--mark');
        ctx.fillRect(left, top, right - left, 10 * pixels);
        ctx.strokeStyle = styleColour('--text');
        ctx.strokeRect(left, top, right - left, 10 * pixels);
        ctx.fillStyle = styleColour('--text');
        ctx.font = `bold ${11 * pixels}px system-ui, sans-serif`;
        ctx.textBaseline = 'top';
        ctx.fillText(`${size(block.size)} ${block.name}${block.end === Infinity ? ' …' : ''}`,
            Math.max(left, bbox.left + 4 * pixels), top + 13 * pixels);
    }

    // ---- words beside the picture

    onCursor(chart) {
        const {left} = chart.cursor;
        if (left === undefined || left < 0) {
            this.readout.textContent = '\u00a0';
            return;
        }
        const atNs = chart.posToVal(left, 'x') * 1e9;
        const column = Math.floor(left / chart.over.clientWidth * (this.series[0]?.high.length || 1));
        const step = stepAt(this.recording, this.ledger?.process, atNs);
        const parts = [moment(atNs, (state.viewToNs - state.viewFromNs) / 1000)];
        if (step)
            parts.push(say('step {0}', step.number));
        for (const {shown} of this.lanes())
            parts.push(...shown.filter(each => each.beginNs <= atNs && atNs < each.endNs).map(each => each.name));
        for (const each of this.series.filter(one => one.high[column] >= 0).slice(-6))
            parts.push(`${each.name} ${size((each.values || each.high)[column])}`);
        this.readout.textContent = parts.join(' · ');
    }

    drawLegend(isStacked) {
        if (isStacked) {
            replaceContent(this.legend, this.series.map(each => {
                const key = makeKey(each.colour, state.stackBy === 'site' && isSite(each.name) ?
                    makeSiteLink(each.name, this.ledger.name) : each.name);
                key.classList.toggle('on-top', each.isOnTop === true);
                return key;
            }));
            return;
        }
        const boxes = this.curves.map(curve => {
            const box = make('input', {type: 'checkbox', checked: this.shown.has(curve), onchange: () => {
                if (box.checked)
                    this.shown.add(curve);
                else
                    this.shown.delete(curve);
                this.drawnKey = null;
                this.draw();
            }});
            return make('label', {class: 'key'}, box, makeSwatch(curve.colour), make('span', null, curve.name));
        });
        const totals = this.curves.filter(curve => curve.of !== CURVE_SAMPLE);
        const base = this.series.filter(each => !this.curves.some(curve => curve.name === each.name))
            .map(each => makeKey(each.colour, each.name));
        const isFirst = curve => this.shown.has(curve) ||
            (totals.length <= legendMost && curve.of !== CURVE_SAMPLE);
        const others = boxes.filter((_, i) => !isFirst(this.curves[i]));
        const first = boxes.filter((_, i) => isFirst(this.curves[i]));
        replaceContent(this.legend, first, base, others.length > 0 && make('details', null,
            make('summary', null, others.length === 1 ? say('1 more curve') : say('{0} more curves', others.length)), others));
    }

    drawSummary(columns) {
        const apartNs = (state.viewToNs - state.viewFromNs) / 1000;
        const parts = [...this.series].reverse().slice(0, 10).map(each => {
            const values = (each.values || each.high).filter(value => !Number.isNaN(value));
            return values.length ? say('{0}: at most {1}', each.name,
                size(values.reduce((a, b) => Math.max(a, b), 0))) : null;
        });
        this.summary.textContent = say('{0} from {1} to {2} ({3}). ', this.ledger?.name ?? '',
            moment(state.viewFromNs, apartNs), moment(state.viewToNs, apartNs),
            duration(state.viewToNs - state.viewFromNs)) + parts.filter(Boolean).join('; ') + '.';
        if (this.details?.open)
            this.drawTable();
    }

    // The same as the picture, as numbers: twenty stretches of what is seen.
    drawTable() {
        const rowCount = 20;
        const widthNs = (state.viewToNs - state.viewFromNs) / rowCount;
        const shown = this.curves.filter(curve => this.shown.has(curve));
        const envelopes = shown.map(curve => envelope(curve, state.viewFromNs, state.viewToNs, rowCount));
        const rows = Array.from({length: rowCount}, (_, i) => i);
        const bytes = value => (Number.isNaN(value) ? '' : size(value));
        const columns = [{key: 'from_ns', title: say('from'), isNumber: true,
            value: i => Math.round(state.viewFromNs + i * widthNs), show: value => moment(value, widthNs)},
        ...shown.flatMap((curve, c) => [
            {key: `${curve.name} lowest_bytes`, title: `${curve.name}, ${say('lowest')}`,
                isNumber: true, value: i => envelopes[c].low[i], show: bytes},
            {key: `${curve.name} highest_bytes`, title: `${curve.name}, ${say('highest')}`,
                isNumber: true, value: i => envelopes[c].high[i], show: bytes}])];
        replaceContent(this.tableBox, makeTable(columns, rows, {caption: say('The timeline as a table'),
            sort: 'from_ns', isAscending: true}));
    }

    onState(keys) {
        if (keys.includes('ledger')) {
            this.chooseCurves();
            this.drawnKey = null;
        }
        if (keys.some(key => ['ledger', 'stackBy', 'site', 'only'].includes(key)))
            this.drawControls();
        if (keys.includes('selection'))
            this.showNumbers();
        if (keys.some(key => ['viewFromNs', 'ledger', 'stackBy', 'site', 'only'].includes(key)))
            this.draw();
        else
            this.chart?.redraw(false);
    }

    onResize() {
        if (this.chart && this.chart.width !== this.chartBox.clientWidth) {
            this.drawnKey = null;
            this.draw();
        }
    }

    onTheme() {
        this.drawnKey = null;
        this.draw();
    }

    makeView() {
        const {section, body} = makeSection('timeline', say('Timeline'));
        const help = make('p', {class: 'remark'}, say('Drag to select a stretch of time; shift and drag to move; ctrl and wheel to zoom. ' +
                'Keys: arrows move, + and − zoom, 0 shows all, p the peak, shift and arrows select. On a screen to touch: one finger moves, two zoom.'));
        this.details = make('details', {ontoggle: () => this.details.open && this.drawTable()},
            make('summary', null, say('The timeline as a table')), this.tableBox);
        this.drawControls();
        body.append(this.controls, this.chartBox, this.readout, this.legend, this.moreControls, help, this.summary,
            this.details);
        return section;
    }
}

export function makeTimeline(recording) {
    return new Timeline(recording);
}

