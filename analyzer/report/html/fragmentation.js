// SPDX-License-Identifier: Apache-2.0
// What pools reserve and nobody uses: over time, and, where segments are known, where the blocks lay
// when most was unused.
import {say} from './language.js';
import {make, makeSvg, makeSection, makeKey, makeButton, replaceContent} from './dom.js';
import {size, moment, count, blockCount, percent} from './format.js';
import {colourOfName} from './colours.js';
import {makeReportTable, rowsNamed, tablesNamed} from './tables.js';

const width = 1000, overTimeHeight = 150, rowHeight = 16, segmentsAtOnce = 40, namesMost = 10;

// Steps of a line: the value holds until the moment of its row.
function stepPoints(rows, key, scale) {
    let fromNs = 0;
    return rows.flatMap(row => {
        const y = (overTimeHeight - 2 - row[key] / scale.bytes * (overTimeHeight - 8)).toFixed(1);
        const points = [fromNs, row.time_ns].map(ns => `${(ns / scale.ns * width).toFixed(1)},${y}`);
        fromNs = row.time_ns;
        return points;
    });
}

function makeOverTime(rows) {
    const scale = {ns: rows[rows.length - 1].time_ns || 1,
        bytes: rows.reduce((most, row) => Math.max(most, row.reserved_bytes), 1)};
    const most = rows.reduce((a, b) => (b.most_unused_bytes > a.most_unused_bytes ? b : a));
    const words = say('most unused: {0} of {1}, before {2}', size(most.most_unused_bytes),
        size(most.reserved_bytes), moment(most.time_ns));
    const active = stepPoints(rows, 'active_bytes', scale).join(' ');
    return make('figure', {class: 'modules'},
        make('figcaption', null, say('Line: reserved, up to {0}. Area: in blocks. Between them: unused; {1}.',
            size(scale.bytes), words)),
        makeSvg('svg', {class: 'areas', width, height: overTimeHeight, preserveAspectRatio: 'none',
            viewBox: `0 0 ${width} ${overTimeHeight}`, role: 'img', 'aria-label': words},
        makeSvg('polygon', {class: 'area', points: `0,${overTimeHeight} ${active} ${width},${overTimeHeight}`}),
        makeSvg('polyline', {class: 'line', points: stepPoints(rows, 'reserved_bytes', scale).join(' ')})));
}

function segmentsOf(recording, ledger) {
    const {segments, segmentBlocks} = recording;
    const rows = [];
    let first = 0;
    for (let i = 0; i < segments.ledger.length; i++) {
        const behind = first + segments.block_count[i];
        if (segments.ledger[i] === ledger) {
            const found = [];
            for (let b = first; b < behind; b++)
                found.push({offset: segmentBlocks.offset_bytes[b], size: segmentBlocks.size_bytes[b],
                    group: segmentBlocks.group[b], isWaiting: segmentBlocks.is_waiting[b] === 1});
            rows.push({address: segments.address[i], size: segments.size_bytes[i], blocks: found,
                liveBytes: segments.live_bytes[i], holeBytes: segments.hole_bytes[i],
                timeNs: segments.time_ns[i], ofCount: segments.segment_count[i]});
        }
        first = behind;
    }
    return rows;
}

// Neighbours of one name that are too narrow to be told apart are one box.
function joinNarrow(recording, segment, scale) {
    const {groups, names} = recording;
    const boxes = [];
    for (const block of segment.blocks) {
        const name = names[groups.label[block.group]];
        const last = boxes[boxes.length - 1];
        const left = block.offset * scale;
        if (last && last.name === name && left - last.right < 0.5 && last.right - last.left < 2) {
            last.right = Math.max(last.right, left + block.size * scale);
            last.bytes += block.size;
            last.count++;
        } else {
            boxes.push({name, left, right: left + block.size * scale, bytes: block.size, count: 1,
                isWaiting: block.isWaiting});
        }
    }
    return boxes;
}

function makeSegment(recording, segment, scale) {
    const words = say('segment of {0} at {1}: {2} in {3}, {4} in holes ({5})', size(segment.size),
        `0x${segment.address.toString(16)}`, size(segment.liveBytes), blockCount(segment.blocks.length),
        size(segment.holeBytes), percent(segment.holeBytes, segment.size));
    const boxes = joinNarrow(recording, segment, scale).map(box =>
        makeSvg('rect', {x: box.left.toFixed(2), y: 1, height: rowHeight - 4,
            width: Math.max(0.6, box.right - box.left).toFixed(2), fill: colourOfName(box.name),
            'fill-opacity': box.isWaiting ? 0.4 : 0.9},
        makeSvg('title', null, `${box.name}: ${size(box.bytes)}, ${blockCount(box.count)}` +
            `${box.isWaiting ? `, ${say('waits for a stream')}` : ''}`)));
    return makeSvg('svg', {class: 'segment', width: '100%', height: rowHeight, role: 'img',
        viewBox: `0 0 ${width} ${rowHeight}`, preserveAspectRatio: 'none', 'aria-label': words},
    makeSvg('title', null, words),
    makeSvg('rect', {class: 'hole', x: 0, y: 0.5, width: Math.max(1, segment.size * scale).toFixed(2),
        height: rowHeight - 3}), boxes);
}

// The sites with the most bytes in these segments.
function largestNames(recording, segments) {
    const {groups, names} = recording;
    const bytes = new Map();
    for (const segment of segments)
        for (const block of segment.blocks) {
            const name = names[groups.label[block.group]];
            bytes.set(name, (bytes.get(name) || 0) + block.size);
        }
    return [...bytes.keys()].sort((a, b) => bytes.get(b) - bytes.get(a)).slice(0, namesMost);
}

function makeMap(recording, ledger) {
    const segments = segmentsOf(recording, ledger.index);
    if (!segments.length)
        return null;
    const largest = segments.reduce((most, segment) => Math.max(most, segment.size), 1);
    const scale = width / largest;
    const box = make('div', {class: 'segments'});
    const more = makeButton('', () => show());
    let shown = 0;
    const show = () => {
        box.append(...segments.slice(shown, shown + segmentsAtOnce)
            .map(segment => makeSegment(recording, segment, scale)));
        shown += segmentsAtOnce;
        more.textContent = say('Show more of {0} segments', count(segments.length));
        more.hidden = shown >= segments.length;
    };
    show();
    const keys = largestNames(recording, segments).map(name => makeKey(colourOfName(name), name));
    const leftOut = segments[0].ofCount - segments.length;
    return make('div', null, make('h3', null, say('Segments of {0} at {1}, when most was unused; by address',
        ledger.name, moment(segments[0].timeNs - recording.startNs))),
    make('p', {class: 'remark'}, say('A row is a segment, up to {0}; a colour is a site; what is empty is a hole.', size(largest)),
        leftOut > 0 && say(' {0} segments are not shown.', count(leftOut))), make('div', {class: 'legend'}, keys), box, more);
}

// Null when no pool tells what it reserves.
export function makeFragmentationView(recording) {
    const {report} = recording;
    const tables = tablesNamed(report, /^(fragmentation|reserved_over_time|pinned_segments|pins)$/);
    if (!tables.length)
        return null;
    const {section, body} = makeSection('fragmentation', say('Fragmentation'),
        say('What pools hold and nobody uses: rounding, holes beside blocks, segments without a block.'));
    for (const ledger of recording.ledgerOrder) {
        const rows = rowsNamed(report, 'reserved_over_time', ledger.name);
        replaceContent(body, ...body.childNodes, rows.length > 1 && make('h3', null, ledger.name),
            rows.length > 1 && makeOverTime(rows), recording.segments && makeMap(recording, ledger));
    }
    body.append(...tables.map(table => makeReportTable(report, table)));
    return section;
}
