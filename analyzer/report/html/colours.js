// SPDX-License-Identifier: Apache-2.0
// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), never the only
// way to tell: every colour has a name next to it.

const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a500',
    '#7b61a8', '#8c564b', '#5f7f3f'];

export const restColour = '#9a9a9a';

export function colourAt(index) {
    return palette[index % palette.length];
}

// Of what a verdict points at, the worst first.
export const onTopColours = ['#c62d1f', '#e2695c', '#f0a69d'];

// Beside those: none of the palette's reds.
export function layerColourAt(index) {
    const others = palette.filter(colour => colour !== '#d55e00');
    return others[index % others.length];
}

export function withAlpha(colour, alpha) {
    return colour + Math.round(alpha * 255).toString(16).padStart(2, '0');
}

export function styleColour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The same name always gets the same colour.
export function colourOfName(name) {
    let hash = 0;
    for (let i = 0; i < name.length; i++)
        hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
    return colourAt(hash);
}
