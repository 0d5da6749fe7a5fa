// SPDX-License-Identifier: Apache-2.0
// Where blocks lie at one moment: addresses from left to right and downwards, as in a text. What no
// block ever used is cut out, and a line stands there. A slider moves the moment.
import {say} from './language.js';
import {make, makeSection, makeButton, makeKey, replaceContent} from './dom.js';
import {size, moment, count, percent, blockCount, wholeNs} from './format.js';
import {layerColourAt, restColour, onTopColours, styleColour} from './colours.js';
import {state, update, listen} from './view_state.js';
import {goToSite, isSite, makeSiteLink} from './places.js';
import {makeDownload, downloadCanvas} from './download.js';

const rowHeight = 14, rowMost = 48, gapMost = 2 ** 21, sliderSteps = 1000, namesMost = 9;

// Blocks of a ledger by address, and the stretches of addresses that they ever covered.
function layOut(recording, ledger) {
    const {blocks, groups} = recording;
    const order = [];
    for (let i = 0; i < blocks.count; i++)
        if (blocks.address[i] && groups.ledger[blocks.group[i]] === ledger)
            order.push(i);
    order.sort((a, b) => blocks.address[a] - blocks.address[b]);
    const places = new Float64Array(order.length); /* of each, from 0, without the gaps */
    const cuts = [];
    let place = 0, end = -Infinity;
    order.forEach((block, k) => {
        const address = blocks.address[block];
        if (address - end > gapMost) {
            if (k)
                cuts.push(place);
            end = address;
        }
        places[k] = place + address - end;
        if (address + blocks.size[block] > end) {
            place += address + blocks.size[block] - end;
            end = address + blocks.size[block];
        }
    });
    return {order, places, cuts, span: place, colours: coloursOf(recording, order)};
}

// The sites with most bytes get a colour each, the others share one.
function coloursOf({blocks, groups, names}, order) {
    const bytes = new Map();
    for (const block of order) {
        const label = groups.label[blocks.group[block]];
        bytes.set(label, (bytes.get(label) || 0) + blocks.size[block]);
    }
    const largest = [...bytes.keys()].sort((a, b) => bytes.get(b) - bytes.get(a)).slice(0, namesMost);
    return new Map(largest.map((label, i) => [names[label], layerColourAt(i)]));
}

const makeSize = bytes => make('span', {class: 'unbroken'}, size(bytes));

class AddressMap {
    constructor(recording) {
        this.recording = recording;
        this.canvas = make('canvas', {role: 'img', tabindex: 0, onmousemove: event => this.onPoint(event),
            onclick: event => this.onClick(event)});
        this.readout = make('p', {class: 'readout', 'aria-live': 'polite'});
        this.legend = make('div', {class: 'legend'});
        this.words = make('p', {class: 'summary'});
        this.slider = make('input', {type: 'range', min: 0, max: sliderSteps, class: 'moment',
            'aria-label': say('Moment'), oninput: () => update(recording,
                {at: (this.slider.value / sliderSteps * recording.endNs / 1e9).toFixed(9).replace(/\.?0+$/, '')})});
        this.box = make('div', {class: 'addresses'}, this.canvas);
        listen(keys => keys.some(key => ['ledger', 'at', 'site'].includes(key)) && this.draw());
        new ResizeObserver(() => this.drawnWidth !== this.box.clientWidth && this.draw()).observe(this.box);
    }

    get ledger() {
        return this.recording.ledgers[state.ledger];
    }

    get atNs() {
        const wanted = wholeNs(state.at);
        return state.at && wanted >= 0 ? Math.min(wanted, this.recording.endNs) : this.ledger.peakNs;
    }

    colourOf(name) {
        return name === state.site ? onTopColours[0] : this.map.colours.get(name) ?? restColour;
    }

    draw() {
        if (!this.ledger)
            return;
        if (this.laidOut !== state.ledger) {
            this.map = layOut(this.recording, state.ledger);
            this.laidOut = state.ledger;
        }
        const width = this.drawnWidth = this.box.clientWidth;
        this.section.hidden = !this.map.order.length;
        if (!this.map.order.length || !width)
            return;
        this.slider.value = this.atNs / this.recording.endNs * sliderSteps;
        this.rowBytes = Math.max(4096, 2 ** Math.ceil(Math.log2(this.map.span / rowMost)));
        this.rows = Math.ceil(this.map.span / this.rowBytes);
        const pixels = devicePixelRatio;
        Object.assign(this.canvas, {width: width * pixels, height: this.rows * rowHeight * pixels});
        this.paint(this.canvas.getContext('2d'), pixels);
    }

    // f(row, left, width) for each part of a stretch that a row has; in shares of a row.
    parts(place, bytes, visit) {
        for (let row = Math.floor(place / this.rowBytes); row * this.rowBytes < place + bytes; row++) {
            const from = Math.max(place, row * this.rowBytes);
            const to = Math.min(place + bytes, (row + 1) * this.rowBytes);
            visit(row, from / this.rowBytes - row, (to - from) / this.rowBytes);
        }
    }

    paint(context, pixels) {
        const {blocks, groups, names} = this.recording;
        const {order, places, cuts, span} = this.map;
        const {width} = this.canvas, height = rowHeight * pixels, {atNs} = this;
        const sums = new Map();
        const fill = (place, bytes, colour) => {
            context.fillStyle = colour;
            this.parts(place, bytes, (row, left, share) => context.fillRect(left * width, row * height,
                Math.max(pixels * 0.7, share * width), height - 2 * pixels));
        };
        fill(0, span, styleColour('--grid'));
        let alive = 0, aliveCount = 0;
        order.forEach((block, k) => {
            if (blocks.born[block] > atNs || blocks.end[block] <= atNs)
                return;
            const name = names[groups.label[blocks.group[block]]];
            fill(places[k], blocks.size[block], this.colourOf(name));
            sums.set(name, (sums.get(name) || 0) + blocks.size[block]);
            alive += blocks.size[block];
            aliveCount++;
        });
        for (const cut of cuts)
            fill(cut, 0, styleColour('--text'));
        this.drawWords(sums, alive, aliveCount);
    }

    drawWords(sums, alive, aliveCount) {
        const {ledger, map} = this;
        this.words.textContent = say('{0} at {1}: {2} in {3}, on {4} of addresses that it ever used ({5}). A row is {6}.',
            ledger.name, moment(this.atNs), size(alive), blockCount(aliveCount), size(map.span),
            percent(alive, map.span), size(this.rowBytes));
        this.canvas.setAttribute('aria-label', this.words.textContent);
        const named = [...sums.keys()].filter(name => this.colourOf(name) !== restColour)
            .sort((a, b) => sums.get(b) - sums.get(a));
        const others = alive - named.reduce((sum, name) => sum + sums.get(name), 0);
        replaceContent(this.legend, named.map(name => makeKey(this.colourOf(name),
            isSite(name) ? makeSiteLink(name, ledger.name) : name, ' ', makeSize(sums.get(name)))),
        others > 0 && makeKey(restColour, say('{0} others', count(sums.size - named.length)), ' ', makeSize(others)));
    }

    // The block under the pointer that is alive.
    blockAt(event) {
        const bounds = this.canvas.getBoundingClientRect();
        const row = Math.floor((event.clientY - bounds.top) / rowHeight);
        const place = (row + (event.clientX - bounds.left) / bounds.width) * this.rowBytes;
        const {blocks} = this.recording;
        const {order, places} = this.map;
        const slack = this.rowBytes / bounds.width;
        return order.find((block, k) => blocks.born[block] <= this.atNs && blocks.end[block] > this.atNs &&
            places[k] - slack <= place && place < places[k] + blocks.size[block] + slack);
    }

    onPoint(event) {
        const block = this.blockAt(event);
        const {blocks, groups, names} = this.recording;
        this.readout.textContent = block === undefined ? '\u00a0' : [names[groups.label[blocks.group[block]]],
            `0x${blocks.address[block].toString(16)}`, size(blocks.size[block]),
            say('allocated at {0}', moment(blocks.born[block])), blocks.end[block] === Infinity ? say('never released') :
                say('released at {0}', moment(blocks.end[block]))].join(' · ');
    }

    onClick(event) {
        const block = this.blockAt(event);
        const {blocks, groups, names} = this.recording;
        if (block !== undefined)
            goToSite(names[groups.label[blocks.group[block]]], this.ledger.name);
    }

    makeView() {
        const {section, body} = makeSection('addresses', say('Address map'),
            say('A colour is a site, what is empty is free. What no block ever used is cut out, and a line stands there.'));
        this.section = section;
        const {recording} = this;
        body.append(make('div', {class: 'controls'}, make('label', {class: 'control wide'},
            make('span', null, say('Moment')), this.slider),
        makeButton(say('Peak'), () => update(recording, {at: ''})),
        makeDownload('png', say('Address map'), () => downloadCanvas('addresses', this.canvas))),
        this.words, this.legend, this.box, this.readout);
        this.draw();
        return section;
    }
}

// Null where no block has an address.
export function makeAddressMap(recording) {
    return recording.blocks.address.some(each => each) ? new AddressMap(recording).makeView() : null;
}
