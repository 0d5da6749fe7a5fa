// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: three digits and a unit that fits. Exact values are in titles.
import {say} from './language.js';

const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

function threeDigits(number) {
    if (number >= 99.95)
        return number.toFixed(0);
    return number >= 9.995 ? number.toFixed(1) : number.toFixed(2);
}

export function size(bytes) {
    const sign = bytes < 0 ? '-' : '';
    let left = Math.abs(bytes);
    let unit = 0;

    while (left >= 1023.5 && unit < sizeUnits.length - 1) {
        left /= 1024;
        unit++;
    }
    return `${sign}${unit || !Number.isInteger(left) ? threeDigits(left) : left} ${sizeUnits[unit]}`;
}

export function count(number) {
    return Math.round(number).toLocaleString('en-US');
}

export function sizeExact(bytes) {
    return Math.abs(bytes) < 1024 ? size(bytes) : `${size(bytes)} (${count(bytes)} B)`;
}

export function sizeChange(bytes) {
    return (bytes > 0 ? '+' : '') + size(bytes);
}

export function countChange(number) {
    return (number > 0 ? '+' : '') + count(number);
}

export function percent(part, whole) {
    if (!whole)
        return '0 %';
    const share = part / whole * 100;
    return share > 0 && share < 1 ? '<1 %' : `${share.toFixed(0)} %`;
}

const durationUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

let timesAreEvents = false;

// A source that tells no times: numbers of events stand for them.
export function countTimesInEvents() {
    timesAreEvents = true;
}

export function duration(ns) {
    if (timesAreEvents)
        return say('{0} events', count(ns));
    for (const [scale, unit] of durationUnits)
        if (Math.abs(ns) >= scale)
            return `${threeDigits(ns / scale)} ${unit}`;
    return '0 s';
}

// "1 block", "2 blocks"
export function blockCount(number) {
    return say(number === 1 ? '{0} block' : '{0} blocks', count(number));
}

// Moments next to each other on an axis: all in the unit that fits the last.
export function axisMoments(moments) {
    if (timesAreEvents)
        return moments.map(count);
    const last = Math.abs(moments[moments.length - 1] || 0);
    const apart = moments.length > 1 ? Math.abs(moments[1] - moments[0]) : last;
    const [scale, unit] = durationUnits.find(([each]) => last >= each) || [1e9, 's'];
    const isWhole = number => Math.abs(number - Math.round(number)) < 1e-6;
    let digits = 0;
    while (digits < 9 && !isWhole(apart / scale * 10 ** digits))
        digits++;
    return moments.map(ns => `${(ns / scale).toFixed(digits)} ${unit}`);
}

// Of a text of seconds. Events stand at whole ones, and a block born then is alive.
export function wholeNs(seconds) {
    return Math.round(Number(seconds) * 1e9);
}

// A moment: seconds with as many digits as are needed to tell moments this far apart, cut off as in
// the sentences of the verdict.
export function moment(ns, apartNs = 1000) {
    if (timesAreEvents)
        return say('event {0}', count(ns));
    const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(apartNs, 1)))));
    const unit = 10 ** (9 - digits);
    return `${(Math.trunc(ns / unit) / 10 ** digits).toFixed(digits)} s`;
}

// By the end of a key, as in the JSON report.
export function byKey(key, value) {
    if (value === null || value === undefined)
        return '';
    if (typeof value === 'boolean')
        return value ? say('yes') : say('no');
    if (typeof value !== 'number')
        return Array.isArray(value) ? '' : String(value);
    if (/(growth|change|difference|delta)_bytes/.test(key) || /_bytes_change$/.test(key))
        return sizeChange(value);
    if (/_bytes(_per_step)?$/.test(key))
        return size(value);
    if (/(recorded|duration|life|age|length)_ns$/.test(key))
        return duration(value);
    if (/_ns$/.test(key))
        return moment(value, value && value < 1e4 ? 1 : 1000);
    if (/_percent$/.test(key))
        return `${value} %`;
    return /_id$|^(device|rank|row|address)$|step$|number$/.test(key) ? String(value) : count(value);
}
