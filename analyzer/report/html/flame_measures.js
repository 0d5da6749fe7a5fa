// SPDX-License-Identifier: Apache-2.0
// What a flame graph can be wide by. Each measure says how much of it a group has.
import {say} from './language.js';
import {size, count} from './format.js';
import {leaksOf, leakingStacksOf} from './recording.js';

// {bytes, count}: Float64Array by group, of all blocks of the recording.
function allocatedBy(recording) {
    const {blocks, rest, groups} = recording;
    const bytes = new Float64Array(groups.count), counts = new Float64Array(groups.count);
    for (let i = 0; i < blocks.count; i++) {
        bytes[blocks.group[i]] += blocks.size[i];
        counts[blocks.group[i]]++;
    }
    for (let i = 0; i < rest.rows; i++) {
        bytes[rest.group[i]] += rest.bornBytes[i];
        counts[rest.group[i]] += rest.bornCount[i];
    }
    return {bytes, counts};
}

function allocated(recording) {
    recording.allocated ??= allocatedBy(recording);
    return recording.allocated;
}

const growthOf = finding => finding.growth_bytes_per_step ?? 0;

// Of a loop that was not marked, what stays, stack by stack.
function leakedStacksOf(recording, ledger) {
    return leakingStacksOf(recording.report).filter(row => row.ledger === recording.ledgers[ledger].name)
        .map(row => ({frames: recording.report.framesOf(row.stack), name: row.site,
            amount: {value: row.overdue_bytes, count: row.overdue_count, base: 0}}));
}

// By group. Where a site has several stacks, its growth is divided as what is alive at the end.
function leakedBy(recording) {
    const {groups, names, ledgers} = recording;
    const leaked = new Float64Array(groups.count);
    for (const leak of leaksOf(recording.report)) {
        const members = [];
        for (let group = 1; group < groups.count; group++)
            if (names[groups.label[group]] === leak.site && ledgers[groups.ledger[group]].name === leak.ledger)
                members.push(group);
        const whole = members.reduce((sum, group) => sum + groups.endBytes[group], 0);
        for (const group of members)
            leaked[group] += growthOf(leak) * (whole ? groups.endBytes[group] / whole : 1 / members.length);
    }
    return leaked;
}

// {key, title(recording), show(value), amountOf(recording) -> f(group) -> {value, count} or null}
// stacksOf(recording, ledger) -> [{frames, name, amount}]: where there are any, they stand for the groups
export const measures = [
    {key: 'peak', title: () => say('bytes at the peak'), show: size,
        amountOf: ({groups}) => group => groups.peakBytes[group] > 0 &&
            {value: groups.peakBytes[group], count: groups.peakCount[group]}},
    {key: 'end', title: () => say('bytes alive at the end'), show: size,
        amountOf: ({groups}) => group => groups.endBytes[group] > 0 && {value: groups.endBytes[group], count: 0}},
    {key: 'leaked', title: ({report}) => (leakingStacksOf(report).length ? say('bytes leaked') : say('bytes leaked per step')),
        show: size, stacksOf: leakedStacksOf, amountOf: recording => {
        recording.leaked ??= leakedBy(recording);
        return group => recording.leaked[group] > 0 && {value: recording.leaked[group], count: 0};
    }},
    {key: 'allocated', title: () => say('bytes allocated in all'), show: size, amountOf: recording => {
        const {bytes, counts} = allocated(recording);
        return group => bytes[group] > 0 && {value: bytes[group], count: counts[group]};
    }},
    {key: 'blocks', title: () => say('blocks allocated'), show: count, amountOf: recording => {
        const {counts} = allocated(recording);
        return group => counts[group] > 0 && {value: counts[group], count: counts[group]};
    }},
];

// Those of which a ledger has something.
export function measuresOf(recording, ledger) {
    return measures.filter(measure => {
        if (measure.stacksOf?.(recording, ledger).length)
            return true;
        const amountOf = measure.amountOf(recording);
        for (let group = 1; group < recording.groups.count; group++)
            if (recording.groups.ledger[group] === ledger && amountOf(group))
                return true;
        return false;
    });
}
