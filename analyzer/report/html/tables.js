// SPDX-License-Identifier: Apache-2.0
// Any table of the report, as a table of the page. A column's unit is the end of its key.
import {say} from './language.js';
import {make, makeSection, makeSvg} from './dom.js';
import {byKey, count} from './format.js';
import {makeTable} from './table.js';
import {stackColumn} from './stack.js';
import {siteCell} from './places.js';

const drawn = new Set();
let titles = new Map();
let columnTitles = new Map();

// What people call tables and columns, as the analyzer writes it, in the order of the report.
export function setTitles(report, tables, columns) {
    titles = new Map(report.tables.map((table, i) =>
        [table, {title: tables.title[i], remark: tables.remark[i]}]));
    columnTitles = new Map(columns.table.map((table, i) =>
        [`${table}\n${columns.key[i]}`, columns.title[i]]));
}

function titleOfTable(table) {
    return say(titles.get(table)?.title || table.name);
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

function columnsOf(report, {name, ledger, rows}) {
    const keys = [...new Set(rows.flatMap(row => Object.keys(row)))];
    return keys.filter(key => rows.some(row => row[key] !== null)).map(key => {
        if (/(^|_)stack$/.test(key))
            return stackColumn(row => report.framesOf(row[key]), titleOf(name, key));
        if (key === 'site')
            return {key, title: titleOf(name, key), isWide: true, value: row => row.site,
                show: (site, row) => siteCell(site, row.ledger ?? ledger)};
        const isNumber = rows.some(row => typeof row[key] === 'number');
        const isSeries = rows.some(row => Array.isArray(row[key]));
        return {key, title: titleOf(name, key), isNumber, isWide: /site|operator|name/.test(key),
            value: row => row[key], show: (value, row) => (isSeries && Array.isArray(row[key]) ?
                makeSpark(row[key]) : byKey(key, value))};
    });
}

// Those with rows.
export function tablesNamed(report, pattern) {
    return report.tables.filter(table => pattern.test(table.name) && table.rows.length);
}

export function tablesOf(report, ledgerName, pattern) {
    return tablesNamed(report, pattern).filter(table => table.ledger === ledgerName);
}

// ledger: null for a table that is of none.
export function rowsNamed(report, name, ledger = null) {
    return report.tables.find(table => table.name === name && table.ledger === ledger)?.rows || [];
}

export function makeReportTable(report, table) {
    drawn.add(table);
    const remark = titles.get(table)?.remark;
    const left = table.row_count - table.rows.length;
    return make('div', {class: 'report-table'}, make('h3', null, titleOfTable(table)),
        makeTable(columnsOf(report, table), table.rows, {caption: titleOfTable(table), rowsAtOnce: 12}),
        left > 0 && make('p', {class: 'remark'}, say('{0} more rows: leaktide report --format json.', count(left))),
        remark && make('p', {class: 'remark'}, remark));
}

// Those that no view has shown.
export function makeOtherTables(report) {
    const {section, body} = makeSection('tables', say('All other tables'),
        say('The same as in the json report: leaktide report --format json.'));
    const others = report.tables.filter(table => !drawn.has(table) && table.rows.length);
    body.append(...others.map(table => make('details', null, make('summary', null,
        `${titleOfTable(table)} (${count(table.row_count)})`), makeReportTable(report, table))));
    if (report.findings.length)
        body.prepend(make('ul', null, report.findings.map(finding => make('li', null, finding.sentence))));
    return section;
}
