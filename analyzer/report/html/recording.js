// SPDX-License-Identifier: Apache-2.0
// The recording as the page knows it. Times are nanoseconds since the start of the picture.
//
// Read in two parts: what the first picture needs, then blocks and stacks.
import {takeDataset, takeReport} from './payload.js';
import {lowerBound} from './search.js';
import {say} from './language.js';

// What a curve is of; numbered as in picture_datasets.c.
export const CURVE_LIVE = 0;
export const CURVE_RESERVED = 1;
export const CURVE_SAMPLE = 2;
export const CURVE_PEAK_DETAIL = 3;
export const CURVE_ACCOUNT = 4;

function shift(times, startNs) {
    for (let i = 0; i < times.length; i++)
        times[i] -= startNs;
    return times;
}

function rowsOf(dataset, make) {
    const keys = Object.keys(dataset);
    const count = keys.length ? dataset[keys[0]].length : 0;
    return Array.from({length: count}, (_, i) => make(i));
}

function readCurves(curves, points, startNs) {
    const times = shift(points.time_ns, startNs);
    let first = 0;
    return rowsOf(curves, i => {
        const end = first + curves.point_count[i];
        const curve = {of: curves.of[i], subject: curves.subject[i],
            stretchNs: curves.stretch_ns[i], times: times.subarray(first, end),
            last: points.last_bytes.subarray(first, end),
            below: points.below_bytes.subarray(first, end),
            above: points.above_bytes.subarray(first, end)};
        first = end;
        return curve;
    });
}

function readLedgers(data, names, startNs) {
    return rowsOf(data, i => ({index: i, name: names[data.name[i]], process: data.process[i],
        pool: names[data.pool[i]], device: data.device_next[i] - 1, kind: data.kind[i],
        peakBytes: data.peak_bytes[i], peakNs: data.peak_ns[i] - startNs,
        peakCount: data.peak_count[i], allocCount: data.alloc_count[i],
        endBytes: data.end_bytes[i], wholePeakBytes: data.peak_bytes[i] + data.unseen_peak_bytes[i]}));
}

// Memory of devices first, then by peak: the order of the verdict.
function ledgerOrder(ledgers) {
    return ledgers.filter(ledger => ledger.allocCount || ledger.peakBytes)
        .sort((a, b) => (a.kind - b.kind) || ((b.device >= 0) - (a.device >= 0)) ||
            (b.peakBytes - a.peakBytes));
}

function readPhases(data, names, startNs) {
    return rowsOf(data, i => ({process: data.process[i], name: names[data.name[i]],
        beginNs: data.begin_ns[i] - startNs, endNs: data.end_ns[i] - startNs}));
}

async function takeNamed(names, prefix = '') {
    const datasets = await Promise.all(names.map(name => takeDataset(prefix + name)));
    return Object.fromEntries(names.map((name, i) => [name, datasets[i]]));
}

// prefix: 'base-' for the other recording of a comparison.
async function readPicture(prefix) {
    const data = await takeNamed(['picture', 'names', 'processes', 'ledgers', 'samples', 'curves',
        'points', 'steps', 'phases', 'failures', 'accounts',
        'operators'], prefix);
    if (!data.picture)
        return {hasPictures: false};
    const names = data.names.text;
    const startNs = data.picture.start_ns[0];
    const recording = {
        hasPictures: true, names, startNs,
        endNs: data.picture.end_ns[0] - startNs,
        rest: {stretchNs: data.picture.rest_stretch_ns[0], bytes: data.picture.rest_bytes[0],
            count: data.picture.rest_count[0],
            sizeMostBytes: data.picture.rest_size_most_bytes[0]},
        phasesLeftOut: data.picture.phases_left_out[0],
        processes: rowsOf(data.processes, i => ({name: names[data.processes.name[i]],
            startNs: data.processes.start_ns[i] - startNs,
            endNs: data.processes.end_ns[i] - startNs,
            rank: data.processes.is_rank[i] ? data.processes.rank[i] : null})),
        ledgers: readLedgers(data.ledgers, names, startNs),
        samples: rowsOf(data.samples, i => ({name: names[data.samples.counter[i]],
            process: data.samples.process[i], device: data.samples.device_next[i] - 1})),
        accounts: rowsOf(data.accounts, i => ({name: names[data.accounts.part[i]],
            process: data.accounts.process[i]})),
        curves: readCurves(data.curves, data.points, startNs),
        steps: rowsOf(data.steps, i => ({process: data.steps.process[i],
            index: data.steps.index[i], number: data.steps.number[i],
            beginNs: data.steps.begin_ns[i] - startNs, endNs: data.steps.end_ns[i] - startNs})),
        phases: readPhases(data.phases, names, startNs),
        operators: readPhases(data.operators, names, startNs),
        failures: rowsOf(data.failures, i => ({timeNs: data.failures.time_ns[i] - startNs,
            sizeBytes: data.failures.size_bytes[i], liveBytes: data.failures.live_bytes[i],
            ledger: data.failures.ledger[i], site: names[data.failures.site_name[i]]})),
    };
    recording.ledgerOrder = ledgerOrder(recording.ledgers);
    return recording;
}

const wordKeys = ['verdict', 'category', 'event', 'moment', 'kind', 'rule', 'change', 'measure'];

// Words of fixed lists are keys in the JSON; a site that is not known is null there.
function withWordsOfPeople(report) {
    for (const row of report.tables.flatMap(table => table.rows)) {
        for (const key of wordKeys)
            if (row[key])
                row[key] = row[key].replaceAll('_', ' ');
        if (row.site === null)
            row.site = '(unknown)';
    }
    return report;
}

// sourceOf(file, line): the text of a line of a source file; '' where the page has none, null where the file is younger than
// the recording.
async function readSources() {
    const data = await takeDataset('source-lines');
    const texts = new Map();
    for (let i = 0; data && i < data.line.length; i++)
        texts.set(`${data.file[i]}:${data.line[i]}`, data.text[i]);
    const sourceOf = (file, line) => (texts.has(`${file}:0`) ? null : texts.get(`${file}:${line}`) ?? '');
    return {hasSources: data !== null, sourceOf};
}

// f(node) -> its frames, innermost first; each list is made once, when it is first asked for.
// names: of the numbers in the columns of texts; null: they are texts
function readStacks(frames, nodes, names, sourceOf) {
    const stacks = new Map(), made = [];
    const text = each => (names ? names[each] : each);
    const makeFrame = i => ({number: i, function: text(frames.function[i]), file: text(frames.file[i]),
        line: frames.line[i], module: text(frames.module[i]), is_inlined: (frames.flags[i] & 1) !== 0,
        is_plumbing: (frames.flags[i] & 2) !== 0, is_python: (frames.flags[i] & 4) !== 0});
    const frameAt = i => {
        if (!made[i]) {
            made[i] = makeFrame(i);
            made[i].source = sourceOf(made[i].file, made[i].line);
        }
        return made[i];
    };
    const make = node => {
        const stack = [];
        for (let at = node; at; at = nodes.outer[at])
            stack.push(frameAt(nodes.frame[at]));
        return stack;
    };
    return node => {
        if (!node)
            return undefined;
        if (!stacks.has(node))
            stacks.set(node, make(node));
        return stacks.get(node);
    };
}

// The stack of a row or a finding is a node of its own tree: report.framesOf(node) is the frames.
async function readReport(sourceOf) {
    const report = withWordsOfPeople(await takeReport());
    const frames = await takeDataset('report-frames'), nodes = await takeDataset('report-nodes');
    report.framesOf = readStacks(frames, nodes, null, sourceOf);
    return report;
}

export function leaksOf(report) {
    return (report.findings || []).filter(finding => finding.kind === 'leak');
}

// What leaks, stack by stack, where the loop was not marked: rows with what stays of it, and when it was born.
export function leakingStacksOf(report) {
    return report.tables.find(table => table.name === 'leaking_stacks')?.rows ?? [];
}

// When the leak's blocks were born; null: it is not known.
export function stretchOfLeak(recording, leak, ledger) {
    const rows = leakingStacksOf(recording.report).filter(row => row.site === leak.site);
    if (rows.length)
        return {fromNs: Math.min(...rows.map(row => row.first_ns)) - recording.startNs,
            toNs: Math.max(...rows.map(row => row.last_ns)) - recording.startNs};
    const steps = recording.steps.filter(step => step.process === ledger.process && step.number >= leak.first_step);
    return steps.length ? {fromNs: steps[0].beginNs, toNs: steps[steps.length - 1].endNs} : null;
}

async function readRankHeat() {
    const keys = ['rows', 'stepColumns', 'stepCells', 'siteColumns', 'siteCells'];
    const datasets = await Promise.all(['rank-rows', 'rank-step-columns', 'rank-step-cells', 'rank-site-columns', 'rank-site-cells']
        .map(name => takeDataset(name)));
    return Object.fromEntries(keys.map((key, i) => [key, datasets[i]]));
}

// The browser inflates them side by side.
export async function readFirstPart() {
    const sources = readSources();
    const [{hasSources, sourceOf}, report, titles, columnTitles, recording, base, rankHeat] = await Promise.all([sources,
        sources.then(read => readReport(read.sourceOf)), takeDataset('titles'), takeDataset('column-titles'),
        readPicture(''), readPicture('base-'), readRankHeat()]);
    return Object.assign(recording, {report, rankHeat, hasSources, sourceOf, titles, columnTitles, base: base.hasPictures ? base : null,
        shownEndNs: Math.max(recording.endNs, base.hasPictures ? base.endNs : 0)}); /* of both */
}

function readBlocks(data, startNs) {
    const born = shift(data.born_ns, startNs);
    const end = data.life_ns_next;
    for (let i = 0; i < end.length; i++)
        end[i] = end[i] ? born[i] + end[i] - 1 : Infinity;
    return {count: born.length, born, end, size: data.size_bytes, group: Uint32Array.from(data.group),
        thread: Uint32Array.from(data.thread), stream: Uint32Array.from(data.stream), address: data.address};
}

function readStepSeries(data, names) {
    const series = new Map();
    for (let i = 0; i < data.ledger.length; i++) {
        const key = `${data.ledger[i]} ${data.name[i]}`;
        if (!series.has(key))
            series.set(key, {ledger: data.ledger[i], name: names[data.name[i]], steps: [], bytes: [],
                counts: []});
        const row = series.get(key);
        row.steps.push(data.step_index[i]);
        row.bytes.push(data.alive_bytes[i]);
        row.counts.push(data.alive_count[i]);
    }
    return [...series.values()];
}

async function readGroups(recording, prefix, sourceOf) {
    const {names} = recording;
    const {groups, frames, stack_nodes: nodes} = await takeNamed(['groups', 'frames', 'stack_nodes'], prefix);
    recording.groups = {count: groups.ledger.length, ledger: Uint16Array.from(groups.ledger),
        stack: Uint32Array.from(groups.stack), label: Uint32Array.from(groups.label),
        operator: Uint32Array.from(groups.operator), owner: Uint32Array.from(groups.owner),
        module: Uint16Array.from(groups.module), peakBytes: groups.peak_bytes,
        purpose: Uint32Array.from(groups.category), peakCount: groups.peak_count, endBytes: groups.end_bytes, groupCount: groups.group_count};
    const stackOf = readStacks(frames, nodes, names, sourceOf);
    recording.framesOf = group => stackOf(recording.groups.stack[group]);
}

async function readBlocksAndRest(recording, prefix) {
    const {blocks, rest, threads} = await takeNamed(['blocks', 'rest', 'threads'], prefix);
    recording.threads = Array.from(threads.name, each => recording.names[each]);
    recording.blocks = readBlocks(blocks, recording.startNs);
    Object.assign(recording.rest, {rows: rest.stretch.length,
        stretch: Uint32Array.from(rest.stretch), group: Uint32Array.from(rest.group),
        sizeClass: Uint8Array.from(rest.size_class), bornBytes: rest.born_bytes,
        bornCount: rest.born_count, freedBytes: rest.freed_bytes, freedCount: rest.freed_count});
}

export async function readSecondPart(recording) {
    await readGroups(recording, '', recording.sourceOf);
    await readBlocksAndRest(recording, '');
    if (recording.base) {
        await readGroups(recording.base, 'base-', () => '');
        await readBlocksAndRest(recording.base, 'base-');
    }
    const {segments, segment_blocks: segmentBlocks, step_series: series} =
        await takeNamed(['segments', 'segment_blocks', 'step_series']);
    Object.assign(recording, {segments, segmentBlocks, stepSeries: readStepSeries(series, recording.names),
        isWhole: true});
}

// What blocks can be summed up by: the number of a group's key in `names`, or a text of its own.
export const dimensions = ['operator', 'site', 'owner', 'purpose', 'thread', 'stream', 'module', 'size'];

const isMixed = column => column.some(each => each !== column[0]);

export function hasDimension(recording, dimension) {
    if (dimension === 'size' || dimension === 'site')
        return true;
    if (dimension === 'thread')
        return isMixed(recording.blocks.thread);
    if (dimension === 'stream')
        return isMixed(recording.blocks.stream);
    if (dimension === 'purpose')
        return recording.groups.purpose.some((each, i) => i && recording.names[each] !== 'unknown');
    return recording.groups[dimension].some((value, i) => i && value);
}

const classNames = new Map();

function sizeClassName(sizeClass) {
    if (!classNames.has(sizeClass)) {
        const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
        const text = bits => `${2 ** (bits % 10)} ${units[Math.floor(bits / 10)]}`;
        classNames.set(sizeClass, `${text(sizeClass)} – ${text(sizeClass + 1)}`);
    }
    return classNames.get(sizeClass);
}

export function sizeClassOf(bytes) {
    return bytes >= 1 ? Math.floor(Math.log2(bytes)) : 0;
}

// Returns f(group, sizeClass, block) -> a small integer, and the names of these integers. The block is
// -1 for what is known as a sum only.
export function keyNumbers(recording, dimension) {
    const {groups, names} = recording;
    if (dimension === 'size')
        return {numberOf: (group, sizeClass) => sizeClass, nameOf: sizeClassName, most: 64};
    if (dimension === 'module')
        return {numberOf: group => groups.module[group],
            nameOf: number => number ? `module ${number - 1}` : '', most: 65537};
    if (dimension === 'thread') {
        const {threads, blocks} = recording;
        return {numberOf: (group, sizeClass, block) => (block < 0 ? threads.length : blocks.thread[block]),
            nameOf: number => threads[number] ?? say('small blocks, of any thread'), most: threads.length + 1};
    }
    if (dimension === 'stream') {
        const {blocks} = recording;
        return {numberOf: (group, sizeClass, block) => (block < 0 ? names.length : blocks.stream[block]),
            nameOf: number => (number === names.length ? say('small blocks, of any stream') :
                names[number] && say('stream {0}', names[number])), most: names.length + 1};
    }
    const column = dimension === 'site' ? groups.label : groups[dimension];
    return {numberOf: group => column[group], nameOf: number => names[number], most: names.length};
}

export function curvesOf(recording, of, subject) {
    return recording.curves.filter(curve => curve.of === of && curve.subject === subject);
}

function groupByProcess(rows) {
    const groups = new Map();
    for (const row of rows) {
        if (!groups.has(row.process))
            groups.set(row.process, []);
        groups.get(row.process).push(row);
    }
    return groups;
}

// Steps of a process follow each other, so those of a stretch of time stand together.
export function stepsBetween(recording, process, fromNs, toNs) {
    recording.stepsOf ??= groupByProcess(recording.steps);
    const steps = recording.stepsOf.get(process) || [];
    const first = lowerBound(steps.length, i => steps[i].endNs, fromNs);
    const behind = lowerBound(steps.length, i => steps[i].beginNs, toNs + 1);
    return steps.slice(first, Math.max(first, behind));
}

export function stepAt(recording, process, timeNs) {
    return stepsBetween(recording, process, timeNs, timeNs).find(step => timeNs < step.endNs);
}
