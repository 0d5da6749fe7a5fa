// SPDX-License-Identifier: Apache-2.0
// Files that the reader takes away: made here, nothing is asked of a network.
import {make, makeButton} from './dom.js';
import {say} from './language.js';
import {styleColour} from './colours.js';

export function download(name, content, type) {
    const blob = content instanceof Blob ? content : new Blob([content], {type});
    const address = URL.createObjectURL(blob);
    const link = make('a', {href: address, download: `leaktide-${name}`});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function makeDownload(format, title, getContent) {
    return makeButton(format, getContent, {title: say('Download as {0}: {1}', format, title), class: 'download'});
}

// A copy that needs no style sheet. Nothing in a picture of ours is a reference to the outside.
function standAlone(svg) {
    const copy = svg.cloneNode(true);
    const [text, back] = [styleColour('--text'), styleColour('--back')];
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('font-family', 'system-ui, sans-serif');
    copy.setAttribute('font-size', '12');
    for (const each of copy.querySelectorAll('text'))
        each.setAttribute('fill', text);
    const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    for (const [name, value] of Object.entries({width: '100%', height: '100%', fill: back}))
        ground.setAttribute(name, value);
    copy.prepend(ground);
    return new XMLSerializer().serializeToString(copy);
}

export function downloadSvg(name, svg) {
    download(`${name}.svg`, standAlone(svg), 'image/svg+xml');
}

export async function downloadPng(name, svg) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standAlone(svg))}`;
    await image.decode();
    const canvas = make('canvas', {width: image.width * 2, height: image.height * 2});
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => download(`${name}.png`, blob));
}

// The picture on a canvas, with a ground.
export function downloadCanvas(name, source) {
    const canvas = make('canvas', {width: source.width, height: source.height});
    const context = canvas.getContext('2d');
    context.fillStyle = styleColour('--back');
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 0);
    canvas.toBlob(blob => download(`${name}.png`, blob));
}
