// SPDX-License-Identifier: Apache-2.0
// Words of the page. The English sentence is the key; {0}, {1} … are filled in.

export const languages = {en: 'English', zh: '中文'};

const chinese = {
};

let current = 'en';

export function setLanguage(code) {
    current = Object.hasOwn(languages, code) ? code : 'en';
}

export function language() {
    return current;
}

export function say(text, ...values) {
    const found = current === 'zh' && Object.hasOwn(chinese, text) ? chinese[text] : text;
    return found.replace(/\{(\d)\}/g, (_, i) => values[i]);
}
