// SPDX-License-Identifier: Apache-2.0
// Calls as a tree of sizes: who called whom, and how much memory was asked for below.
//
// A node: {name, place, file, kind, source, value, base, own, count, stackCount, children, parent, key}. key is a number
// made of the names on the way from the root: it stands in the address.
import {placeOf} from './stack.js';
import {say} from './language.js';
import {count} from './format.js';

export const KIND_PYTHON = 'python';
export const KIND_NATIVE = 'native';
export const KIND_PLUMBING = 'plumbing';
export const KIND_ORIGIN = 'origin';
export const KIND_JOINED = 'joined';
const KIND_ROOT = 'root';

function keyOf(parentKey, text) {
    let hash = parentKey;
    for (let i = 0; i < text.length; i++)
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
    return Math.imul(hash ^ 0x2f, 0x01000193) >>> 0;
}

function makeNode(parent, step) {
    const isFrame = step.function !== undefined;
    const place = isFrame ? placeOf(step) : '';
    const name = isFrame ? step.function || say('(no name)') : step.name;
    return {name, place, file: isFrame ? step.file || step.module : '', kind: isFrame ? kindOf(step) : step.kind, source: isFrame ? step.source : '',
        value: 0, base: 0, own: 0, count: 0, stackCount: 0, children: new Map(), parent,
        key: parent ? keyOf(parent.key, `${name} ${place}`) : 0x811c9dc5};
}

function kindOf(frame) {
    if (frame.is_plumbing)
        return KIND_PLUMBING;
    return frame.is_python ? KIND_PYTHON : KIND_NATIVE;
}

function stepName(step) {
    return step.function === undefined ? `${step.kind} ${step.name}` :
        `${step.function}\n${step.file || step.module}\n${step.line}`;
}

function childOf(node, step) {
    const name = stepName(step);
    let child = node.children.get(name);
    if (!child) {
        child = makeNode(node, step);
        node.children.set(name, child);
    }
    return child;
}

// The owner is outside of all frames.
function ownerSteps({groups, names}, group) {
    return names[groups.owner[group]].split('@').filter(Boolean).map(name => ({name, kind: KIND_ORIGIN}));
}

// The operator is inside of the code that called it.
function operatorSteps({groups, names}, group) {
    const name = names[groups.operator[group]];
    return name ? [{name, kind: KIND_ORIGIN}] : [];
}

const ownOf = new WeakMap(); /* frames -> those of the program */

// Steps from the outermost to the innermost. Allocators, frameworks and interpreters are left out,
// unless there is nothing else. A group without any is its label.
function pathOf(recording, group, hasPlumbing) {
    const frames = recording.framesOf(group) || [];
    const wanted = hasPlumbing ? frames : ownFrames(frames);
    const path = ownerSteps(recording, group);
    for (let i = wanted.length - 1; i >= 0; i--)
        path.push(wanted[i]);
    path.push(...operatorSteps(recording, group));
    if (!path.length)
        path.push({name: recording.names[recording.groups.label[group]] || say('(none)'), kind: KIND_ORIGIN});
    return path;
}

function ownFrames(frames) {
    if (!ownOf.has(frames)) {
        const own = frames.filter(frame => !frame.is_plumbing);
        ownOf.set(frames, own.length ? own : frames);
    }
    return ownOf.get(frames);
}

// What a group has itself is its innermost frame's, wherever that stands.
function addPath(root, path, amount, isInverted) {
    let node = root, first = root;
    const add = each => {
        each.value += amount.value;
        each.base += amount.base;
        each.count += amount.count;
    };
    add(root);
    for (const step of path) {
        node = childOf(node, step);
        node.stackCount += step.stackCount || 0;
        first = first === root ? node : first;
        add(node);
    }
    (isInverted ? first : node).own += amount.value;
}

// stacks: [{frames, name, amount}]; name: where there are no frames
export function addStacks(root, stacks, {hasPlumbing, isInverted}) {
    for (const {frames, name, amount} of stacks) {
        const wanted = hasPlumbing || !frames ? frames ?? [] : ownFrames(frames);
        const path = wanted.length ? [...wanted].reverse() : [{name, kind: KIND_ORIGIN}];
        addPath(root, isInverted ? path.reverse() : path, amount, isInverted);
    }
}

// amountOf: f(group) -> {value, base, count}, or null for a group that is left out
// options: {hasPlumbing, isInverted}
export function addGroups(root, recording, amountOf, options) {
    const {groups} = recording;
    for (let group = 1; group < groups.count; group++) {
        const amount = amountOf(group);
        if (!amount)
            continue;
        const path = pathOf(recording, group, options.hasPlumbing);
        if (groups.groupCount[group] > 1)
            path.push({name: 'joined', kind: KIND_JOINED, stackCount: groups.groupCount[group]});
        if (options.isInverted)
            path.reverse();
        addPath(root, path, amount, options.isInverted);
    }
    return root;
}

// Of stacks that were joined in one place it says how many; recordings that are compared join each their own.
export function nameOfNode(node, isOfSeveral) {
    if (node.kind !== KIND_JOINED)
        return node.name;
    return isOfSeveral ? say('stacks of little memory, joined') :
        say('{0} stacks of this part', count(node.stackCount));
}

export function makeRoot(name) {
    return makeNode(null, {name, kind: KIND_ROOT});
}

export function nodeOfKey(root, key) {
    const open = [root];
    while (open.length) {
        const node = open.pop();
        if (node.key === key)
            return node;
        open.push(...node.children.values());
    }
    return null;
}

// Each function once, with all that was asked for below it; a function that calls itself counts once.
export function functionsOf(root) {
    const rows = new Map();
    const open = new Set();
    const visit = node => {
        const name = `${node.name} ${node.file} ${node.kind}`;
        const row = rows.get(name) || {name: node.name, place: node.place, kind: node.kind, own: 0, value: 0,
            base: 0, count: 0};
        rows.set(name, row);
        const isFirst = !open.has(name);
        row.own += node.own;
        if (isFirst) {
            open.add(name);
            row.value += node.value;
            row.base += node.base;
            row.count += node.count;
        }
        for (const child of node.children.values())
            visit(child);
        if (isFirst)
            open.delete(name);
    };
    for (const child of root.children.values())
        visit(child);
    return [...rows.values()];
}
