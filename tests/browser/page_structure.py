# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the looks of a page, as a browser has laid it out: faults_of(page) -> sentences, none if it is well."""

import time

DRAWING_SECONDS = 10
NOT_DRAWN = "nothing is drawn in a picture"

SCRIPT = r"""(() => {
    const faults = [];
    const isSeen = each => each.checkVisibility({visibilityProperty: true});
    const nameOf = each => `${each.tagName.toLowerCase()} "${(each.getAttribute('aria-label') || each.textContent || '').trim().slice(0, 50)}"`;
    const sectionOf = each => each.closest('section')?.id || 'top';
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > wide)
        faults.push(`the page is ${document.documentElement.scrollWidth} wide, the window ${wide}`);

    // What cuts off, scrolls, or lies outside on purpose.
    const cutter = each => {
        for (let at = each; at && at !== document.body; at = at.parentElement)
            if (getComputedStyle(at).overflowX !== 'visible' || getComputedStyle(at).position === 'absolute')
                return at;
        return null;
    };
    const texts = [...document.querySelectorAll('main *, header *, nav *')].filter(each => !each.closest('svg') && !each.closest('.chart') &&
        isSeen(each) && (['BUTTON', 'SELECT', 'INPUT'].includes(each.tagName) ||
            [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim())));
    // Of its words, which may be wider than the element.
    const wordsBox = each => {
        const range = document.createRange();
        range.selectNodeContents(each);
        const words = range.getBoundingClientRect(), own = each.getBoundingClientRect();
        return {left: Math.min(own.left, words.left || own.left), right: Math.max(own.right, words.right)};
    };
    for (const each of texts) {
        const box = wordsBox(each);
        if (!cutter(each) && (box.right > wide + 1 || box.left < -1) && getComputedStyle(each).position !== 'absolute')
            faults.push(`${sectionOf(each)}: ${nameOf(each)} leaves the window: ${Math.round(box.left)} to ${Math.round(box.right)}`);
        if (each.tagName === 'BUTTON' && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).textOverflow !== 'ellipsis' && getComputedStyle(each).display !== 'inline')
            faults.push(`${sectionOf(each)}: ${nameOf(each)} is wider than its button`);
    }

    // No two that stand for themselves on one another.
    for (const section of document.querySelectorAll('header, main section')) {
        const boxes = texts.filter(each => section.contains(each)).flatMap(each =>
            (getComputedStyle(each).display === 'inline' ? [] : [{each, box: each.getBoundingClientRect()}]))
            .filter(({each, box}) => box.width && box.height && !cutter(each.parentElement)).slice(0, 800);
        for (let i = 0; i < boxes.length; i++)
            for (let k = i + 1; k < boxes.length; k++) {
                const [a, b] = [boxes[i], boxes[k]];
                if (a.each.contains(b.each) || b.each.contains(a.each))
                    continue;
                const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
                const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
                if (across > 1 && down > 1)
                    faults.push(`${section.id || 'header'}: ${nameOf(a.each)} lies on ${nameOf(b.each)}`);
            }
    }

    // Words of a picture stay in their boxes.
    for (const text of document.querySelectorAll('svg g > text')) {
        const rect = text.parentElement.querySelector('rect');
        if (rect && isSeen(text) && text.textContent && text.getBoundingClientRect().right > rect.getBoundingClientRect().right + 1)
            faults.push(`${sectionOf(text)}: "${text.textContent}" is wider than its box`);
    }

    // What belongs to words stands on their line; of the words the first line counts.
    const firstLine = each => {
        const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT, node => (node.data.trim() ? 1 : 2));
        const range = document.createRange();
        return walker.nextNode() && (range.selectNodeContents(walker.currentNode), range.getClientRects()[0]);
    };
    for (const mark of document.querySelectorAll('main .swatch, main label > input[type="checkbox"]')) {
        const words = isSeen(mark) && firstLine(mark.parentElement), box = mark.getBoundingClientRect();
        if (words && (words.top >= box.bottom || words.bottom <= box.top))
            faults.push(`${sectionOf(mark)}: ${mark.tagName === 'INPUT' ? 'a tick' : 'a colour'} is not on the line of "${mark.parentElement.textContent.trim().slice(0, 50)}"`);
    }

    // Few columns need no scrolling.
    for (const table of document.querySelectorAll('main table'))
        if (isSeen(table) && table.querySelectorAll('thead th').length <= 4 && table.scrollWidth > table.parentElement.clientWidth + 1)
            faults.push(`${sectionOf(table)}: a table of few columns is ${table.scrollWidth} wide, its place ${table.parentElement.clientWidth}`);

    for (const svg of document.querySelectorAll('main svg'))
        if (isSeen(svg) && !svg.hasAttribute('viewBox') && svg.width.baseVal.value > svg.getBoundingClientRect().width + 1)
            faults.push(`${sectionOf(svg)}: the right end of a picture is cut off`);

    // Nothing is empty, and nothing says what a program says to itself.
    for (const section of document.querySelectorAll('main section')) {
        if (!isSeen(section))
            continue;
        if (!section.querySelector('h2')?.textContent.trim())
            faults.push(`${section.id}: it has no heading`);
        const words = [...section.querySelectorAll(':scope > *')].filter(each => each.tagName !== 'H2').map(each => each.textContent).join('').trim();
        if (!words && !section.querySelector('canvas, svg'))
            faults.push(`${section.id}: it is empty`);
        const odd = /\b(undefined|NaN|Infinity|\[object \w+\])/.exec(section.innerText);
        if (odd)
            faults.push(`${section.id}: it says ${odd[1]}`);
    }
    for (const table of document.querySelectorAll('main table'))
        if (isSeen(table) && !table.querySelector('tbody tr'))
            faults.push(`${sectionOf(table)}: a table without rows`);
    for (const canvas of document.querySelectorAll('main canvas')) {
        if (!isSeen(canvas) || !canvas.width || !canvas.height)
            continue;
        // As large as it is: a few thin lines would be lost in a smaller copy.
        const {width, height} = canvas;
        const copy = Object.assign(document.createElement('canvas'), {width, height});
        const context = copy.getContext('2d');
        context.drawImage(canvas, 0, 0);
        const {data} = context.getImageData(0, 0, width, height);
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4)
            colours.add(data[i] << 24 | data[i + 1] << 16 | data[i + 2] << 8 | data[i + 3]);
        if (colours.size < 2)
            faults.push(`${sectionOf(canvas)}: NOT_DRAWN`);
    }
    return [...new Set(faults)];
})()""".replace("NOT_DRAWN", NOT_DRAWN)


def faults_of(page):
    """Pictures are drawn when their data is unpacked: on a busy machine that takes a while."""
    deadline = time.monotonic() + DRAWING_SECONDS
    while True:
        faults = page.evaluate(SCRIPT)
        if time.monotonic() > deadline or not any(each.endswith(NOT_DRAWN) for each in faults):
            return faults
        time.sleep(0.1)
