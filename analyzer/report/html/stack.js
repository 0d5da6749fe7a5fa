// SPDX-License-Identifier: Apache-2.0
// A call stack in a cell: how many frames, and on request which, innermost first.
import {make, makeButton} from './dom.js';
import {say} from './language.js';
import {count} from './format.js';

function baseName(path) {
    return path.slice(path.lastIndexOf('/') + 1);
}

export function placeOf(frame) {
    if (frame.file)
        return frame.line ? `${baseName(frame.file)}:${frame.line}` : baseName(frame.file);
    return frame.module ? baseName(frame.module) : '';
}

// What the frame's line says, where the page has sources; else nothing.
export function makeSource(frame) {
    if (frame.source === null)
        return make('span', {class: 'source'}, say('the file was written after the recording'));
    return frame.source && make('code', {class: 'source'}, frame.source);
}

function makeFrame(frame, number) {
    const place = placeOf(frame);
    return make('li', {value: number, class: frame.is_plumbing ? 'plumbing' : null, title: frame.file || frame.module || null},
        frame.function || say('(no name)'), place && make('span', null, ` ${place}`),
        frame.is_inlined && make('span', null, ` ${say('inlined')}`), makeSource(frame));
}

const runMost = 2; /* frames of plumbing that follow each other, before they are folded */

// Allocators and interpreters are folded: a button shows them in their place.
function makeFrames(frames) {
    const items = [];
    for (let i = 0; i < frames.length;) {
        let end = i;
        while (end < frames.length && frames[end].is_plumbing)
            end++;
        if (end - i <= runMost) {
            items.push(makeFrame(frames[i], ++i));
            continue;
        }
        const first = i;
        const item = make('li', {value: first + 1, class: 'plumbing'},
            makeButton(say('{0} frames of allocators, frameworks, interpreters', end - first), () =>
                item.replaceWith(...frames.slice(first, end).map((frame, k) => makeFrame(frame, first + k + 1)))));
        items.push(item);
        i = end;
    }
    return items;
}

const texts = new WeakMap();

// As one text, for csv and for the filter; many rows share one stack.
function stackText(frames) {
    if (!frames)
        return '';
    if (!texts.has(frames))
        texts.set(frames, frames.map(frame => frame.function).join(';'));
    return texts.get(frames);
}

function titleOf(frames, stackCount) {
    const title = frames.length === 1 ? say('1 frame') : say('{0} frames', count(frames.length));
    return stackCount > 1 ? say('{0}, shared by {1} stacks', title, count(stackCount)) : title;
}

export function makeStack(frames, stackCount) {
    if (!frames || !frames.length)
        return '';
    const details = make('details', {class: 'stack'}, make('summary', null, titleOf(frames, stackCount)));
    // Most are never looked at: the frames are made when they are.
    details.addEventListener('toggle', () => {
        if (details.open && !details.querySelector('ol'))
            details.append(make('ol', null, makeFrames(frames)));
    });
    return details;
}

// framesOf(row): as in the json report, innermost first; undefined when there are none.
// countOf(row): how many stacks have these frames in common
export function stackColumn(framesOf, title, countOf = () => 1) {
    return {key: 'stack', title, value: row => stackText(framesOf(row)), title_of: () => null,
        show: (text, row) => makeStack(framesOf(row), countOf(row))};
}
