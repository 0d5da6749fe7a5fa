// SPDX-License-Identifier: Apache-2.0
// A flame graph: callers on top, as wide as what was asked for below them; inverted, the other way
// round. Beside it is each function as a row. Zoom, words and measure stand in the address.
import {say} from './language.js';
import {make, makeSvg, makeButton, makeSelect, makeSection, makeKey, replaceContent} from './dom.js';
import {percent, sizeChange, countChange, blockCount} from './format.js';
import {styleColour, withAlpha} from './colours.js';
import {state, update, go, listen} from './view_state.js';
import {measuresOf} from './flame_measures.js';
import {makeSource} from './stack.js';
import {makeRoot, addGroups, addStacks, nameOfNode, nodeOfKey, functionsOf, KIND_PYTHON, KIND_NATIVE, KIND_PLUMBING, KIND_ORIGIN,
    KIND_JOINED} from './flame_tree.js';
import {makeDownload, downloadSvg, downloadPng} from './download.js';
import {makeTable} from './table.js';

const leastWidth = 1.5, boxMost = 5000;

const kinds = [
    [KIND_PYTHON, () => say('Python')], [KIND_NATIVE, () => say('native')],
    [KIND_PLUMBING, () => say('allocator, framework, interpreter')],
    [KIND_ORIGIN, () => say('owner, operator, or a site without a stack')],
    [KIND_JOINED, () => say('stacks of little memory, joined')],
];

function layOut(top, widthOf, width) {
    const boxes = [], above = [];
    for (let node = top.parent; node; node = node.parent)
        above.unshift(node);
    above.forEach((node, depth) => boxes.push({node, left: 0, width, depth, isAbove: true}));
    const place = (node, left, itsWidth, depth) => {
        boxes.push({node, left, width: itsWidth, depth});
        const children = [...node.children.values()].sort((a, b) => widthOf(b) - widthOf(a));
        for (const child of children) {
            const childWidth = itsWidth * widthOf(child) / widthOf(node);
            if (childWidth < leastWidth || boxes.length >= boxMost)
                return;
            place(child, left, childWidth, depth + 1);
            left += childWidth;
        }
    };
    place(top, 0, width, above.length);
    return boxes;
}

function fitted(text, width) {
    const letters = Math.floor((width - 8) / 7.1);
    if (letters < 4)
        return '';
    return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

class Flame {
    // base: the other recording of a comparison, or null
    constructor(recording, base) {
        this.recording = recording;
        this.base = base;
        this.controls = make('div', {class: 'controls'});
        this.path = make('p', {class: 'crumbs'});
        this.box = make('div', {class: 'flame'});
        this.readout = make('p', {class: 'readout', 'aria-live': 'polite'});
        this.source = make('p', {class: 'readout', hidden: !recording.hasSources});
        this.legend = make('div', {class: 'legend'});
        this.tableBox = make('div', {class: 'flame-table'});
        this.remark = make('p', {class: 'remark'});
        this.rowHeight = matchMedia('(pointer: coarse)').matches ? 26 : 19;
        listen(keys => this.onState(keys));
        new ResizeObserver(() => {
            if (this.drawnWidth !== this.box.clientWidth)
                this.draw();
        }).observe(this.box);
    }

    get ledger() {
        return this.recording.ledgers[state.ledger];
    }

    onState(keys) {
        if (keys.some(key => ['ledger', 'm', 'inv', 'plumbing'].includes(key)))
            this.build();
        else if (keys.some(key => ['z', 'q'].includes(key)))
            this.draw();
    }

    // ---- the tree

    addRecording(root, recording, isBase) {
        const ledger = isBase ? recording.ledgers.find(each => each.name === this.ledger.name) : this.ledger;
        if (!ledger)
            return;
        const options = {hasPlumbing: state.plumbing !== '', isInverted: state.inv !== ''};
        const stacks = this.measure.stacksOf?.(recording, ledger.index) ?? [];
        if (stacks.length)
            return addStacks(root, stacks, options);
        const amountOf = this.measure.amountOf(recording);
        addGroups(root, recording, group => {
            const amount = recording.groups.ledger[group] === ledger.index && amountOf(group);
            if (!amount)
                return null;
            return isBase ? {value: 0, base: amount.value, count: 0} : {...amount, base: 0};
        }, options);
    }

    build() {
        if (!this.recording.isWhole || !this.ledger)
            return;
        const all = measuresOf(this.recording, state.ledger)
            .filter(each => !this.base || each.key !== 'leaked');
        this.measure = all.find(each => each.key === state.m) || all[0];
        this.root = makeRoot(this.ledger.name);
        if (this.measure) {
            this.addRecording(this.root, this.recording, false);
            if (this.base)
                this.addRecording(this.root, this.base, true);
        }
        this.drawControls(all);
        this.draw();
        this.drawTable();
    }

    // ---- controls

    drawControls(all) {
        const {recording} = this;
        const checkbox = (key, text) => make('label', {class: 'control'}, make('input', {type: 'checkbox',
            id: `flame-${key}`, checked: state[key] !== '',
            onchange: event => go(recording, {[key]: event.target.checked ? '1' : '', z: ''})}), text);
        this.search = make('input', {type: 'search', id: 'flame-search', value: state.q,
            placeholder: say('Function or file …'), 'aria-label': say('Find in the flame graph'),
            oninput: () => update(recording, {q: this.search.value})});
        const ledgers = recording.ledgerOrder.map(each => [String(each.index), each.name]);
        replaceContent(this.controls,
            ledgers.length > 1 && makeSelect(say('Ledger'), ledgers, String(state.ledger),
                value => go(recording, {ledger: Number(value), z: ''})),
            all.length > 0 && makeSelect(say('Wide by'), all.map(each => [each.key, each.title(recording)]),
                this.measure.key, value => go(recording, {m: value})),
            checkbox('inv', say('inverted: innermost on top')),
            checkbox('plumbing', say('also allocators, frameworks, interpreters')),
            this.search,
            makeButton(say('Whole graph'), () => this.zoomTo(this.root)),
            make('span', {class: 'buttons'},
                makeDownload('svg', say('Flame graph'), () => downloadSvg('flame', this.svg)),
                makeDownload('png', say('Flame graph'), () => downloadPng('flame', this.svg))));
        this.drawLegend();
    }

    drawLegend() {
        if (this.base) {
            replaceContent(this.legend, makeKey(styleColour('--more'), say('more than in the base')),
                makeKey(styleColour('--less'), say('less than in the base')),
                makeKey(styleColour('--joined'), say('unchanged; width: both recordings together')));
            return;
        }
        const seen = new Set(functionsOf(this.root).map(row => row.kind));
        replaceContent(this.legend, kinds.filter(([kind]) => seen.has(kind)).map(([kind, name]) =>
            makeKey(styleColour(`--${kind}`), name())));
    }

    // ---- the picture

    // What a box says in one line.
    labelOf(node) {
        const name = nameOfNode(node, this.base !== null);
        return node.place && !name.includes(node.place) ? `${name} (${node.place})` : name;
    }

    widthOf = node => (this.base ? node.value + node.base : node.value);

    isFound(node) {
        const words = state.q.toLowerCase();
        return words !== '' && (node.name.toLowerCase().includes(words) ||
            `${node.file} ${node.place} ${node.source || ''}`.toLowerCase().includes(words));
    }

    colourOf(node) {
        if (!this.base)
            return styleColour(`--${node.kind}`);
        const change = node.value - node.base;
        if (!change)
            return styleColour('--joined');
        const share = Math.min(1, Math.abs(change) / (this.mostChange || 1));
        return withAlpha(styleColour(change > 0 ? '--more' : '--less'), 0.25 + 0.75 * share);
    }

    wordsOf(node) {
        const {show} = this.measure;
        const change = this.measure.key === 'blocks' ? countChange : sizeChange;
        return [this.labelOf(node), node.kind === KIND_PYTHON ? say('Python') : null,
            this.base ? say('{0}, was {1}: {2}', show(node.value), show(node.base), change(node.value - node.base)) :
                show(node.value), percent(this.widthOf(node), this.widthOf(this.root)),
            node.count && this.measure.key !== 'blocks' ? blockCount(node.count) : null].filter(Boolean).join(' · ');
    }

    describe(node) {
        this.readout.textContent = this.wordsOf(node);
        replaceContent(this.source, makeSource(node));
    }

    makeBox(box, i) {
        const {node, left, width, depth, isAbove} = box;
        const words = this.wordsOf(node);
        const isMatch = this.isFound(node);
        const fill = isMatch ? styleColour('--found') : this.colours.get(node.kind) ?? this.colourOf(node);
        const y = depth * this.rowHeight;
        return makeSvg('g', {role: 'treeitem', tabindex: -1, 'data-box': i, 'aria-label': words,
            'aria-level': depth + 1, 'aria-selected': String(node === this.top),
            class: isAbove || (state.q && !isMatch) ? 'faint' : isMatch ? 'found' : null},
        makeSvg('rect', {x: left.toFixed(1), y, width: Math.max(0.8, width - 1).toFixed(1),
            height: this.rowHeight - 1, rx: 2, fill}));
    }

    // For eyes: the boxes have their words as labels.
    makeTexts() {
        return makeSvg('g', {'aria-hidden': 'true'}, this.boxes.map(({node, left, width, depth}) => {
            const text = fitted(this.labelOf(node), width);
            return text && makeSvg('text', {x: (left + 4).toFixed(1), y: (depth + 1) * this.rowHeight - 5.5}, text);
        }).filter(Boolean));
    }

    draw() {
        const width = this.drawnWidth = this.box.clientWidth;
        if (!this.root || !width)
            return;
        if (!this.widthOf(this.root)) {
            replaceContent(this.box, make('p', null, say('Nothing was recorded of this.')));
            return;
        }
        this.top = (state.z && nodeOfKey(this.root, parseInt(state.z, 36))) || this.root;
        this.mostChange = Math.abs(this.root.value - this.root.base) ||
            Math.max(...[...this.root.children.values()].map(node => Math.abs(node.value - node.base)), 1);
        this.boxes = layOut(this.top, this.widthOf, width);
        this.colours = new Map(this.base ? [] : [...kinds, ['root']].map(([kind]) => [kind, styleColour(`--${kind}`)]));
        const height = (this.boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1) * this.rowHeight;
        const shapes = this.boxes.map((box, i) => this.makeBox(box, i));
        this.svg = makeSvg('svg', {width, height, role: 'tree', 'aria-label': say('Flame graph of {0}, {1}',
            this.ledger.name, this.measure.title(this.recording)), onclick: event => this.onClick(event),
        onkeydown: event => this.onKey(event), onmousemove: event => this.onPoint(event),
        onfocusin: event => this.onPoint(event)}, shapes, this.makeTexts());
        replaceContent(this.box, this.svg);
        this.at = this.boxes.findIndex(box => box.node === this.top);
        shapes[this.at].setAttribute('tabindex', 0);
        this.drawWords();
    }

    // Where the zoom is, and how much of the whole was found.
    drawWords() {
        const path = [];
        for (let node = this.top; node; node = node.parent)
            path.unshift(node);
        const shown = path.length > 5 ? [path[0], null, ...path.slice(-3)] : path;
        replaceContent(this.path, shown.map((node, i) => [i > 0 && ' › ', node === null ? '…' :
            node === this.top ? make('strong', null, this.labelOf(node)) :
                makeButton(this.labelOf(node), () => this.zoomTo(node), {class: 'link'})]).flat());
        this.describe(this.top);
        if (state.q) {
            const found = this.foundBelow(this.root);
            this.readout.textContent = say('“{0}”: {1}, {2} of the whole', state.q,
                this.measure.show(found), percent(found, this.widthOf(this.root)));
        }
        const hidden = this.boxes.length >= boxMost ? say('Boxes too narrow to be seen appear when their caller is opened.') : '';
        this.remark.textContent = [this.measure.key === 'leaked' && !this.measure.stacksOf(this.recording, state.ledger).length ?
            say('Where a site has several stacks, its growth is divided as what is alive at the end.') : '', hidden]
            .filter(Boolean).join(' ');
    }

    foundBelow(node) {
        if (this.isFound(node))
            return this.widthOf(node);
        let sum = 0;
        for (const child of node.children.values())
            sum += this.foundBelow(child);
        return sum;
    }

    // ---- moving about

    zoomTo(node) {
        go(this.recording, {z: node === this.root ? '' : node.key.toString(36)});
        this.focusBox(this.boxes.findIndex(box => box.node === node));
    }

    boxOf(event) {
        const shape = event.target.closest?.('[data-box]');
        return shape ? Number(shape.getAttribute('data-box')) : -1;
    }

    onClick(event) {
        const i = this.boxOf(event);
        if (i < 0)
            return;
        const {node} = this.boxes[i];
        this.zoomTo(node === this.top && node.parent ? node.parent : node);
    }

    onPoint(event) {
        const i = this.boxOf(event);
        if (i >= 0)
            this.describe(this.boxes[i].node);
    }

    focusBox(i) {
        if (i < 0 || !this.boxes[i])
            return;
        this.svg.querySelector(`[data-box="${this.at}"]`)?.setAttribute('tabindex', -1);
        this.at = i;
        const shape = this.svg.querySelector(`[data-box="${i}"]`);
        shape.setAttribute('tabindex', 0);
        shape.focus();
    }

    // Left and right along a row, up to the caller, down to the largest callee.
    neighbour(key) {
        const {node, depth} = this.boxes[this.at];
        if (key === 'ArrowUp')
            return this.boxes.findIndex(box => box.node === node.parent);
        if (key === 'ArrowDown')
            return this.boxes.findIndex(box => box.depth === depth + 1 && (box.node.parent === node));
        const row = this.boxes.map((box, i) => ({...box, i})).filter(box => box.depth === depth)
            .sort((a, b) => a.left - b.left);
        const place = row.findIndex(box => box.i === this.at) + (key === 'ArrowRight' ? 1 : -1);
        return row[place]?.i ?? -1;
    }

    onKey(event) {
        const {key} = event;
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (key.startsWith('Arrow'))
            this.focusBox(this.neighbour(key));
        else if (key === 'Enter' || key === ' ')
            this.zoomTo(this.boxes[this.at].node);
        else if (key === 'Escape' || key === 'Backspace')
            this.zoomTo(this.top.parent || this.root);
        else if (key === '/')
            this.search.focus();
        else
            return;
        event.preventDefault();
    }

    // ---- the table beside it

    drawTable() {
        const rows = functionsOf(this.root);
        const whole = this.widthOf(this.root);
        const {show} = this.measure || {show: String};
        const change = this.measure?.key === 'blocks' ? countChange : sizeChange;
        const number = (key, title, value, shown = show) => ({key, title, isNumber: true, value, show: shown});
        const columns = [
            {key: 'function', title: say('function'), isWide: true,
                value: row => nameOfNode(row, true),
                more: row => make('span', {class: 'place'}, ` ${row.place}`)},
            {key: 'place', value: row => row.place, isInFileOnly: true},
            ...(this.base ? [number('change', say('change'), row => row.value - row.base, change)] :
                [number('own', say('itself'), row => row.own)]),
            number('total', say('with all below'), row => row.value),
            number('share_percent', '%', row => row.value, value => percent(value, whole)),
        ];
        replaceContent(this.tableBox, makeTable(columns, rows, {caption: say('Functions of {0}, {1}',
            this.ledger.name, this.measure?.title(this.recording) ?? ''), sort: this.base ? 'change' : 'total', rowsAtOnce: 14,
        onRow: row => {
            update(this.recording, {q: row.name});
            this.search.value = row.name;
        }}));
    }

    makeView() {
        const {section, body} = makeSection('flame', this.base ? say('Flame graph of the difference') : say('Flame graph'),
            say('Click or Enter opens a box, Escape closes it, arrows move, / finds.'));
        body.append(this.controls, this.legend, this.path, this.readout, this.source, make('div', {class: 'flame-and-table'},
            make('div', null, this.box, this.remark), this.tableBox));
        this.build();
        return section;
    }
}

// Null without a ledger.
export function makeFlameView(recording) {
    return recording.ledgers[state.ledger] ? new Flame(recording, recording.base).makeView() : null;
}
