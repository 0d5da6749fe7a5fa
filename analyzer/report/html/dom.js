// SPDX-License-Identifier: Apache-2.0
// Elements. Every text goes in as text: names come from strangers, and none of them is ever markup.

const svgNamespace = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else if (name === 'value' || name === 'checked')
            element[name] = value;
        else
            element.setAttribute(name, value === true ? '' : String(value));
    }
    for (const child of children.flat())
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    return element;
}

export function make(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes, ...children) {
    return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

export function byId(id) {
    return document.getElementById(id);
}

export function replaceContent(element, ...children) {
    element.replaceChildren();
    return fill(element, null, children);
}

// options: [value, text] pairs
export function makeSelect(label, options, chosen, onChange) {
    const select = make('select', {onchange: () => onChange(select.value)},
        options.map(([value, text]) => make('option', {value, selected: value === chosen}, text)));
    return make('label', {class: 'control'}, make('span', null, label), select);
}

export function makeButton(text, onClick, attributes, ...children) {
    return make('button', {type: 'button', onclick: onClick, ...attributes}, text, ...children);
}

// A square of a colour, before the name it belongs to.
export function makeSwatch(colour) {
    const swatch = make('span', {class: 'swatch', 'aria-hidden': 'true'});
    swatch.style.background = colour;
    return swatch;
}

// words: after the colour they belong to, on its line
export function makeKey(colour, ...words) {
    return make('span', {class: 'key'}, makeSwatch(colour), make('span', null, words));
}

export function makeSection(id, title, remark) {
    const body = make('div', {class: 'body'});
    const section = make('section', {id, 'aria-labelledby': `${id}-title`},
        make('h2', {id: `${id}-title`, tabindex: -1}, title),
        remark && make('p', {class: 'remark'}, remark), body);
    return {section, body};
}
