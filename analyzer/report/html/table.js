// SPDX-License-Identifier: Apache-2.0
// Tables: sorted by any column, filtered by words, copied as csv. A few rows are shown, the others
// on request, so that a large table costs nothing.
import {make, makeButton, replaceContent} from './dom.js';
import {say} from './language.js';
import {count} from './format.js';
import {download, makeDownload} from './download.js';

const rowsAtOnce = 50;

function csvCell(value) {
    const text = value === null || value === undefined ? '' : String(value);
    // A leading = + - @ would be a formula in a spreadsheet, unless it is a number.
    const safe = /^[=+\-@\t\r]/.test(text) && typeof value !== 'number' ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns, rows) {
    const lines = [columns.map(column => csvCell(column.key))];
    for (const row of rows)
        lines.push(columns.map(column => {
            const value = column.value(row);
            return csvCell(Array.isArray(value) ? value.join(' ') :
                value === Infinity ? '' : value);
        }));
    return lines.map(cells => cells.join(',') + '\n').join('');
}

async function copyText(text, button) {
    let isCopied = false;
    try {
        await navigator.clipboard.writeText(text);
        isCopied = true;
    } catch {
        const area = make('textarea', {value: text, class: 'offscreen'});
        document.body.append(area);
        area.select();
        isCopied = document.execCommand('copy');
        area.remove();
    }
    const before = button.textContent;
    button.textContent = isCopied ? say('Copied') : say('Clipboard blocked: select the table and press Ctrl+C');
    setTimeout(() => { button.textContent = before; }, 1500);
}

function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number')
        return a - b;
    if (a === null || a === undefined)
        return b === null || b === undefined ? 0 : -1;
    if (b === null || b === undefined)
        return 1;
    return String(a).localeCompare(String(b));
}

class Table {
    // columns: {key, title, value(row), show(value, row), more(row): beside the link of the first, isNumber,
    // isWide, isInFileOnly}
    // options: {caption, sort: key, isAscending, onSort(key, isAscending), onRow(row), total: row, rowsAtOnce}
    constructor(columns, rows, options) {
        this.columns = columns;
        this.rows = rows;
        this.options = options;
        this.sortKey = options.sort || null;
        this.isAscending = options.isAscending || false;
        this.words = '';
        this.shown = options.rowsAtOnce || rowsAtOnce;
        this.head = make('tr', null);
        this.body = make('tbody', null);
        this.foot = make('p', {class: 'table-foot', 'aria-live': 'polite'});
        this.element = make('div', {class: 'table-box'},
            make('div', {class: 'table-tools'}, ...this.makeTools()),
            make('div', {class: 'table-scroll', tabindex: 0, role: 'region',
                'aria-label': options.caption},
                make('table', null, make('caption', {class: 'offscreen'}, options.caption),
                    make('thead', null, this.head), this.body)),
            this.foot);
        this.draw();
    }

    makeTools() {
        const copy = makeButton(say('Copy as csv'),
            () => copyText(csvOf(this.columns, this.sorted()), copy));
        const save = makeDownload('csv', this.options.caption, () =>
            download(`${this.options.caption.replace(/[^\p{L}\p{N}]+/gu, '-')}.csv`, csvOf(this.columns, this.sorted()),
                'text/csv'));
        if (this.rows.length < 6)
            return [save, copy];
        const filter = make('input', {type: 'search', placeholder: say('Filter …'),
            'aria-label': `${say('Filter')}: ${this.options.caption}`,
            oninput: () => { this.words = filter.value.toLowerCase(); this.draw(); }});
        return [filter, save, copy];
    }

    sorted() {
        const column = this.columns.find(each => each.key === this.sortKey);
        let rows = this.rows;
        if (this.words)
            rows = rows.filter(row => this.columns.some(each => !each.isNumber &&
                String(each.value(row) ?? '').toLowerCase().includes(this.words)));
        if (!column)
            return rows;
        const sign = this.isAscending ? 1 : -1;
        return [...rows].sort((a, b) => sign * compare(column.value(a), column.value(b)));
    }

    sortBy(column) {
        this.isAscending = this.sortKey === column.key ? !this.isAscending : !column.isNumber;
        this.sortKey = column.key;
        this.options.onSort?.(this.sortKey, this.isAscending);
        this.draw();
        this.head.children[this.shownColumns.indexOf(column)].firstChild.focus();
    }

    get shownColumns() {
        return this.columns.filter(column => !column.isInFileOnly);
    }

    drawHead() {
        replaceContent(this.head, this.shownColumns.map(column => {
            const isSorted = column.key === this.sortKey;
            return make('th', {scope: 'col', class: column.isNumber ? 'number' : null,
                'aria-sort': isSorted ? (this.isAscending ? 'ascending' : 'descending') : null,
                title: column.meaning},
                makeButton(column.title + (isSorted ? (this.isAscending ? ' ▲' : ' ▼') : ''),
                    () => this.sortBy(column), {class: 'sort'}));
        }));
    }

    makeRow(row, isTotal) {
        const {onRow} = this.options;
        const cells = this.shownColumns.map((column, i) => {
            const value = column.value(row);
            const shown = column.show ? column.show(value, row) : value;
            const content = i === 0 && onRow && !isTotal ?
                [makeButton(shown === '' ? say('(none)') : shown, () => onRow(row), {class: 'link'}),
                    column.more && column.more(row)] :
                shown;
            return make('td', {class: column.isNumber ? 'number' : (column.isWide ? 'wide' : null),
                title: column.title_of ? column.title_of(row) :
                    (!column.isNumber && typeof value === 'string' ? value : null)}, content);
        });
        return make('tr', {class: isTotal ? 'total' : null}, cells);
    }

    draw() {
        const rows = this.sorted();
        this.drawHead();
        replaceContent(this.body, this.options.total && this.makeRow(this.options.total, true),
            rows.slice(0, this.shown).map(row => this.makeRow(row, false)));
        const more = rows.length - this.shown;
        replaceContent(this.foot,
            rows.length < this.rows.length &&
                say('{0} of {1} rows match. ', count(rows.length), count(this.rows.length)),
            more > 0 && makeButton(say('Show {0} more rows', count(Math.min(more, 500))),
                () => { this.shown += 500; this.draw(); }));
    }
}

export function makeTable(columns, rows, options) {
    return new Table(columns, rows, options).element;
}
