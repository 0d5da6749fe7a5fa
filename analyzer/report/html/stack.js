// SPDX-License-Identifier: Apache-2.0
// A call stack in a cell: how many frames, and on request which, innermost first.
import {make} from './dom.js';
import {say} from './language.js';
import {count} from './format.js';

const baseOf = path => path.slice(path.lastIndexOf('/') + 1);

function placeOf(frame) {
    if (frame.file)
        return frame.line ? `${baseOf(frame.file)}:${frame.line}` : baseOf(frame.file);
    return frame.module ? baseOf(frame.module) : '';
}

function makeFrame(frame) {
    const place = placeOf(frame);
    return make('li', {class: frame.is_plumbing ? 'plumbing' : null, title: frame.file || frame.module || null},
        frame.function || say('(no name)'), place && make('span', null, ` ${place}`),
        frame.is_inlined && make('span', null, ` ${say('inlined')}`));
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

function makeStack(frames, stackCount) {
    if (!frames || !frames.length)
        return '';
    const details = make('details', {class: 'stack'}, make('summary', null, titleOf(frames, stackCount)));
    // Most are never looked at: the frames are made when they are.
    details.addEventListener('toggle', () => {
        if (details.open && !details.querySelector('ol'))
            details.append(make('ol', null, frames.map(makeFrame)));
    });
    return details;
}

// framesOf(row): as in the json report, innermost first; undefined when there are none.
// countOf(row): how many stacks have these frames in common
export function stackColumn(framesOf, title, countOf = () => 1) {
    return {key: 'stack', title, value: row => stackText(framesOf(row)), title_of: () => null,
        show: (text, row) => makeStack(framesOf(row), countOf(row))};
}
