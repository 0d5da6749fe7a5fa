// SPDX-License-Identifier: Apache-2.0
// An icicle: a tree of sizes, wide as they are large, outermost on top. Each box can be reached and
// opened by keyboard; what is too narrow to see is in the table beside it.
import {say} from './language.js';
import {makeSvg, make, makeButton, replaceContent} from './dom.js';
import {size, percent, blockCount} from './format.js';
import {colourOfName, withAlpha} from './colours.js';

const rowHeight = 20;
const leastWidth = 2;
const boxMost = 1500;

// paths: {names: outermost first, bytes, count}
export function treeOf(name, paths) {
    const root = {name, bytes: 0, count: 0, children: new Map(), parent: null};
    for (const path of paths) {
        let node = root;
        node.bytes += path.bytes;
        node.count += path.count;
        for (const step of path.names) {
            if (!node.children.has(step))
                node.children.set(step, {name: step, bytes: 0, count: 0, children: new Map(), parent: node});
            node = node.children.get(step);
            node.bytes += path.bytes;
            node.count += path.count;
        }
    }
    return root;
}

function layOut(node, left, width, depth, boxes) {
    if (width < leastWidth || boxes.length >= boxMost)
        return;
    boxes.push({node, left, width, depth});
    const children = [...node.children.values()].sort((a, b) => b.bytes - a.bytes);
    for (const child of children) {
        const childWidth = width * child.bytes / node.bytes;
        layOut(child, left, childWidth, depth + 1, boxes);
        left += childWidth;
    }
}

function fitted(text, width) {
    const letters = Math.floor((width - 6) / 6.6);
    if (letters < 3)
        return '';
    return text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;
}

class Icicle {
    constructor(root) {
        this.root = root;
        this.node = root;
        this.path = make('p', {class: 'crumbs', 'aria-live': 'polite'});
        this.svgBox = make('div', {class: 'icicle'});
        this.element = make('div', null, this.path, this.svgBox);
        new ResizeObserver(() => this.draw()).observe(this.svgBox);
    }

    open(node) {
        this.node = node;
        this.draw();
        this.svgBox.querySelector('[tabindex]')?.focus();
    }

    drawPath() {
        const path = [];
        for (let node = this.node; node; node = node.parent)
            path.unshift(node);
        replaceContent(this.path, path.map((node, i) => [i > 0 && ' › ',
            i < path.length - 1 ? makeButton(node.name, () => this.open(node), {class: 'link'}) :
                make('strong', null, node.name)]).flat(),
        ` ${size(this.node.bytes)}, ${percent(this.node.bytes, this.root.bytes)}`);
    }

    makeBox({node, left, width, depth}) {
        const words = `${node.name}: ${size(node.bytes)}, ${percent(node.bytes, this.root.bytes)}, ` +
            blockCount(node.count);
        const open = () => this.open(node === this.node && node.parent ? node.parent : node);
        const colour = depth ? colourOfName(node.name) : '#9a9a9a';
        return makeSvg('g', {tabindex: 0, role: 'button', 'aria-label': words, onclick: open,
            onkeydown: event => {
                if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    open();
                }
            }},
        makeSvg('title', null, words),
        makeSvg('rect', {x: left, y: depth * rowHeight, width: Math.max(1, width - 1),
            height: rowHeight - 1, fill: withAlpha(colour, 0.45), stroke: colour}),
        makeSvg('text', {x: left + 4, y: depth * rowHeight + 14}, fitted(node.name, width)));
    }

    draw() {
        const width = this.svgBox.clientWidth;
        if (!width || !this.root.bytes)
            return;
        const boxes = [];
        layOut(this.node, 0, width, 0, boxes);
        const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
        this.drawPath();
        replaceContent(this.svgBox, makeSvg('svg', {width, height: depth * rowHeight, role: 'group',
            'aria-label': say('Icicle of {0}', this.root.name)}, boxes.map(box => this.makeBox(box))));
    }
}

export function makeIcicle(root) {
    return new Icicle(root).element;
}
