// SPDX-License-Identifier: Apache-2.0
// Rank by step and rank by site: how far each rank is from the middle of its peers. Where a row is of several ranks, or a
// column of several steps, the cell is the one that is farthest away. A click chooses a rank, and leads to its own page.
import {say} from './language.js';
import {make, makeSection, makeButton, makeKey, replaceContent} from './dom.js';
import {size, sizeChange, count} from './format.js';
import {styleColour, withAlpha} from './colours.js';
import {makeDownload, downloadCanvas} from './download.js';

const rowsHigh = 640, rowMost = 22, nearPixels = 4;
const moreColour = '#c62d1f', lessColour = '#0072b2';

// {columns, at(row, column) -> {rank, bytes, median} or null}
function makeGrid(data, cells, titles) {
    const columns = titles.length;
    const at = (row, column) => {
        const i = row * columns + column;
        if (row < 0 || column < 0 || column >= columns || !cells.rank[i])
            return null;
        return {rank: row * data.perRow + cells.rank[i] - 1, bytes: cells.bytes[i], median: cells.median_bytes[i]};
    };
    let most = 1;
    for (let i = 0; i < cells.rank.length; i++)
        most = Math.max(most, Math.abs(cells.bytes[i] - cells.median_bytes[i]));
    return {columns, titles, at, most};
}

class Picture {
    constructor(view, name, grid) {
        Object.assign(this, {view, name, grid, row: -1, column: -1});
        this.canvas = make('canvas', {role: 'img', tabindex: 0, 'aria-label': name, onmousemove: event => this.onPoint(event),
            onmouseleave: () => view.tell(this), onclick: event => this.onClick(event), onkeydown: event => this.onKey(event)});
        this.box = make('div', {class: 'heat'}, this.canvas);
        new ResizeObserver(() => this.drawnWidth !== this.box.clientWidth && this.draw()).observe(this.box);
    }

    get rowHeight() {
        return Math.max(1, Math.min(rowMost, Math.floor(rowsHigh / this.view.data.rowCount)));
    }

    // As the comparison: what is less than its share of the median, or of its least size, is no difference.
    isDifferent({bytes, median}) {
        const {share, least} = this.view.data, distance = Math.abs(bytes - median);
        return distance > least && distance * share > median;
    }

    colourOf({bytes, median}) {
        return withAlpha(bytes > median ? moreColour : lessColour, 0.25 + 0.75 * Math.abs(bytes - median) / this.grid.most);
    }

    draw() {
        const {grid, rowHeight, view: {data, chosen}} = this;
        const width = this.drawnWidth = this.box.clientWidth;
        if (!width)
            return;
        const pixels = devicePixelRatio, height = data.rowCount * rowHeight;
        Object.assign(this.canvas, {width: width * pixels, height: height * pixels});
        this.canvas.style.height = `${height}px`;
        const context = this.canvas.getContext('2d');
        context.scale(pixels, pixels);
        const wide = width / grid.columns;
        const fill = (visit, high) => {
            for (let row = 0; row < data.rowCount; row++)
                for (let column = 0; column < grid.columns; column++) {
                    const cell = grid.at(row, column);
                    if (cell && visit(cell))
                        context.fillRect(column * wide, row * rowHeight, wide + 0.5, high);
                }
        };
        context.fillStyle = styleColour('--grid');
        fill(() => true, rowHeight);
        fill(cell => {
            context.fillStyle = this.colourOf(cell);
            return this.isDifferent(cell);
        }, Math.max(2, rowHeight)); // a line of one pixel is not seen
        if (chosen !== null) {
            context.strokeStyle = styleColour('--text');
            context.strokeRect(0.5, Math.floor(chosen / data.perRow) * rowHeight + 0.5, width - 1, Math.max(2, rowHeight - 1));
        }
    }

    placeOf(event) {
        const box = this.canvas.getBoundingClientRect();
        return {row: Math.floor((event.clientY - box.top) / this.rowHeight),
            column: Math.min(this.grid.columns - 1, Math.floor((event.clientX - box.left) / box.width * this.grid.columns))};
    }

    // Rows may be a pixel high: of those so near, the one that is farthest from its peers.
    nearest({row, column}) {
        const reach = Math.floor(nearPixels / this.rowHeight);
        let found = null;
        for (let near = row - reach; near <= row + reach; near++) {
            const cell = this.grid.at(near, column);
            if (cell && (!found || Math.abs(cell.bytes - cell.median) > Math.abs(found.bytes - found.median)))
                found = {...cell, row: near, column};
        }
        return found;
    }

    onPoint(event) {
        Object.assign(this, this.placeOf(event));
        this.view.tell(this, this.nearest(this));
    }

    onClick(event) {
        Object.assign(this, this.placeOf(event));
        const cell = this.nearest(this);
        if (cell)
            this.view.choose(cell.rank);
    }

    onKey(event) {
        const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
        const move = moves[event.key];
        if (!move && event.key !== 'Enter')
            return;
        event.preventDefault();
        const limit = (value, end) => Math.max(0, Math.min(end - 1, value));
        if (move)
            Object.assign(this, {row: limit(this.row + move[0], this.view.data.rowCount),
                column: limit(this.column + move[1], this.grid.columns)});
        const cell = this.grid.at(this.row, this.column);
        if (cell)
            this.view.tell(this, {...cell, column: this.column});
        if (cell && event.key === 'Enter')
            this.view.choose(cell.rank);
    }
}

function stepTitles(columns) {
    return Array.from(columns.first, (first, i) => (first === columns.last[i] ? say('step {0}', count(first)) :
        say('steps {0} to {1}', count(first), count(columns.last[i]))));
}

const inShell = text => `'${text.replaceAll("'", "'\\''")}'`;

class RankHeat {
    constructor(data) {
        this.data = data;
        this.chosen = null;
        this.readout = make('p', {class: 'readout', 'aria-live': 'polite'});
        this.about = make('div', {class: 'rank-chosen', 'aria-live': 'polite'});
        this.pictures = [];
        if (data.stepCells)
            this.pictures.push(new Picture(this, say('At the end of each step'),
                makeGrid(data, data.stepCells, stepTitles(data.stepColumns))));
        if (data.siteCells)
            this.pictures.push(new Picture(this, say('At the peak, by site; what differs most comes first'),
                makeGrid(data, data.siteCells, data.siteColumns.site)));
    }

    tell(picture, cell) {
        const {rows} = this.data;
        this.readout.textContent = !cell ? '' : say('{0}, {1}: {2}, {3} beside the middle of its peers', rows.name[cell.rank],
            picture.grid.titles[cell.column], size(cell.bytes), sizeChange(cell.bytes - cell.median));
    }

    choose(rank) {
        const {rows} = this.data;
        this.chosen = rank;
        const command = `leaktide report -f html -o rank.html ${inShell(rows.source[rank])}`;
        replaceContent(this.about, make('strong', null, rows.name[rank]),
            make('span', null, say('peak {0} of {1}', size(rows.peak_bytes[rank]), rows.pool[rank])),
            rows.host_name[rank] && make('span', null, say('on host {0}', rows.host_name[rank])),
            rows.page[rank] && make('a', {href: encodeURI(rows.page[rank]).replaceAll('#', '%23').replaceAll('?', '%3F')},
                say('its own page')),
            rows.source[rank] && !rows.page[rank] && make('span', null, say('its own page, where it was recorded:'), ' ',
                make('code', null, command), ' ',
                makeButton(say('Copy'), () => navigator.clipboard?.writeText(command))));
        this.pictures.forEach(picture => picture.draw());
    }

    makeView() {
        const {rows, rowCount, perRow, share, least} = this.data;
        const {section, body} = makeSection('heat', say('Ranks beside their peers'),
            say('Each row is a rank, the lowest number on top; a click chooses one. Arrows move, Enter chooses.'));
        if (perRow > 1)
            body.append(make('p', {class: 'remark'}, say('{0} ranks in {1} rows of {2}: a cell is the rank that is farthest from its peers.',
                count(rows.name.length), count(rowCount), count(perRow))));
        body.append(make('div', {class: 'legend'},
            makeKey(moreColour, say('more than the middle of the peers: from 1/{0} and {1} on', count(share), size(least))),
            makeKey(lessColour, say('less')),
            make('span', null, say('what is empty was not recorded'))), this.readout, this.about);
        for (const picture of this.pictures)
            body.append(make('h3', null, picture.name), picture.box,
                makeDownload('png', picture.name, () => downloadCanvas('ranks', picture.canvas)));
        return section;
    }
}

// Null where no ranks are compared.
export function makeRankHeat(recording) {
    const {rows, stepColumns, stepCells, siteColumns, siteCells} = recording.rankHeat;
    if (!rows || !(stepCells || siteCells))
        return null;
    const perRow = rows.ranks_per_row[0];
    return new RankHeat({rows, perRow, share: rows.share[0], least: rows.least_bytes[0], rowCount: Math.ceil(rows.name.length / perRow), stepColumns, stepCells, siteColumns,
        siteCells}).makeView();
}
