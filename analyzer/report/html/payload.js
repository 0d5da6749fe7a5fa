// SPDX-License-Identifier: Apache-2.0
// Reads what payload.c wrote: base64 -> zlib -> header and columns.

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The text in the page goes when it has been read: the page must not hold everything twice.
async function takeBytes(name) {
    const element = document.getElementById(`data-${name}`);
    if (!element)
        return null;
    const text = element.textContent;
    element.remove();
    return inflate(bytesOfBase64(text));
}

// Numbers above 2^53 lose their lowest bits; no size or time comes near.
function readVarints(bytes, rows) {
    const numbers = new Float64Array(rows);
    let at = 0;
    for (let i = 0; i < rows; i++) {
        let byte = bytes[at++];
        let number = byte & 0x7f;
        let scale = 128;
        while (byte & 0x80) {
            byte = bytes[at++];
            number += (byte & 0x7f) * scale;
            scale *= 128;
        }
        numbers[i] = number;
    }
    return numbers;
}

function addUpDifferences(numbers) {
    let before = 0;
    for (let i = 0; i < numbers.length; i++) {
        const zigzag = numbers[i];
        before += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
        numbers[i] = before;
    }
    return numbers;
}

function readColumn(column, bytes) {
    if (column.kind === 'text')
        return new TextDecoder().decode(bytes).split('\0').slice(0, column.rows);
    const numbers = readVarints(bytes, column.rows);
    return column.kind === 'delta' ? addUpDifferences(numbers) : numbers;
}

// {key: Float64Array or array of texts}, or null when the page has no such dataset.
export async function takeDataset(name) {
    const bytes = await takeBytes(name);
    if (!bytes)
        return null;
    const headerEnd = bytes.indexOf(10);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, headerEnd)));
    const dataset = {};
    let at = headerEnd + 1;
    for (const column of header.columns) {
        dataset[column.key] = readColumn(column, bytes.subarray(at, at + column.bytes));
        at += column.bytes;
    }
    return dataset;
}

export async function takeReport() {
    const bytes = await takeBytes('report');
    return JSON.parse(new TextDecoder().decode(bytes));
}
