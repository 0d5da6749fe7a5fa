// SPDX-License-Identifier: Apache-2.0
// Any table of the report, as a table of the page. A column's unit is the end of its key.
import {say} from './language.js';
import {make, makeSection, makeSvg} from './dom.js';
import {byKey} from './format.js';
import {makeTable} from './table.js';
import {stackColumn} from './stack.js';

const drawn = new Set();
let titles = new Map();
let columnTitles = new Map();

// What people call tables and columns, as the analyzer writes it.
export function setTitles(tables, columns) {
    titles = new Map(tables.name.map((name, i) =>
        [name, {title: tables.title[i], remark: tables.remark[i]}]));
    columnTitles = new Map(columns.table.map((table, i) =>
        [`${table}\n${columns.key[i]}`, columns.title[i]]));
}

export function titleOfTable(name) {
    return say(titles.get(name)?.title || name);
}

function titleOf(table, key) {
    return say(columnTitles.get(`${table}\n${key}`) || key.replaceAll('_', ' '));
}

function makeSpark(numbers) {
    const width = 90, height = 18;
    const highest = numbers.reduce((a, b) => Math.max(a, b), 1);
    const points = numbers.map((number, i) =>
        `${(i / Math.max(1, numbers.length - 1) * width).toFixed(1)},${(height - 1 - number / highest * (height - 2)).toFixed(1)}`);
    return makeSvg('svg', {width, height, role: 'img', 'aria-label': `${numbers.length} ${say('values')}`},
        makeSvg('polyline', {class: 'line', points: points.join(' ')}));
}

function columnsOf(name, rows) {
    const keys = [...new Set(rows.flatMap(row => Object.keys(row)))];
    return keys.filter(key => rows.some(row => row[key] !== null)).map(key => {
        if (key === 'stack')
            return stackColumn(row => row.stack, titleOf(name, key));
        const isNumber = rows.some(row => typeof row[key] === 'number');
        const isSeries = rows.some(row => Array.isArray(row[key]));
        return {key, title: titleOf(name, key), isNumber, isWide: /site|operator|name/.test(key),
            value: row => row[key], show: (value, row) => (isSeries && Array.isArray(row[key]) ?
                makeSpark(row[key]) : byKey(key, value))};
    });
}

export function tablesNamed(report, pattern) {
    return Object.keys(report.tables).filter(name => pattern.test(name) && report.tables[name].length);
}

// Tables about one ledger end with its name.
export function tablesOf(report, ledgerName, pattern) {
    return tablesNamed(report, pattern).filter(name => name.endsWith(` ${ledgerName}`));
}

export function makeReportTable(report, name) {
    drawn.add(name);
    const rows = report.tables[name];
    const remark = titles.get(name)?.remark;
    return make('div', {class: 'report-table'}, make('h3', null, titleOfTable(name)),
        makeTable(columnsOf(name, rows), rows, {caption: titleOfTable(name), rowsAtOnce: 12}),
        remark && make('p', {class: 'remark'}, remark));
}

// Those that no view has shown.
export function makeOtherTables(report) {
    const {section, body} = makeSection('tables', say('All other tables'),
        say('The same as in the json report: leaktide report --format json.'));
    const names = Object.keys(report.tables).filter(name => !drawn.has(name) && report.tables[name].length);
    body.append(...names.map(name => make('details', null, make('summary', null,
        `${titleOfTable(name)} (${report.tables[name].length})`), makeReportTable(report, name))));
    if (report.findings.length)
        body.prepend(make('ul', null, report.findings.map(finding => make('li', null, finding.sentence))));
    return section;
}
