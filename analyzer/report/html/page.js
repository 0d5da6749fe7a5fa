// SPDX-License-Identifier: Apache-2.0
// Puts the views on the page: first what can be drawn from curves, then what needs blocks.
import {say, language, setLanguage, languages} from './language.js';
import {make, makeButton, byId, replaceContent} from './dom.js';
import {readFirstPart, readSecondPart, CURVE_LIVE, curvesOf} from './recording.js';
import {stretchAbove} from './envelope.js';
import {state, readAddress, tellAll, forgetListeners} from './view_state.js';
import {setPlaces, showSection} from './places.js';
import {download, makeDownload} from './download.js';
import {leaksOf, stretchOfLeak} from './recording.js';
import {makeFlameView} from './flame.js';
import {makeSiteView} from './site.js';
import {makeAddressMap} from './address_map.js';
import {makeTimeline} from './timeline.js';
import {makeSelectionView} from './selection.js';
import {drawVerdict} from './verdict.js';
import {makePeakView} from './peak.js';
import {makeStepsView} from './steps.js';
import {makeCountersView} from './counters.js';
import {makeFragmentationView} from './fragmentation.js';
import {makeRanksView, titleOfRanks} from './ranks.js';
import {makeRankHeat} from './rank_heat.js';
import {countTimesInEvents} from './format.js';
import {makeOtherTables, rowsNamed, setTitles} from './tables.js';
import {makeDifferenceView} from './difference.js';

const nearPeakShare = 0.95;
const themes = ['auto', 'light', 'dark'];

// Where the ledger stays within a margin of its peak.
function nearPeak(recording) {
    const ledger = recording.ledgers[state.ledger];
    const curve = ledger && curvesOf(recording, CURVE_LIVE, ledger.index)[0];
    if (!curve)
        return null;
    const stretch = stretchAbove(curve, ledger.peakNs, ledger.peakBytes * nearPeakShare, recording.endNs);
    if (stretch.toNs > stretch.fromNs)
        return stretch;
    return {fromNs: Math.max(0, stretch.fromNs - recording.endNs / 200), toNs: recording.endNs};
}

function drawNavigation(sections) {
    replaceContent(byId('nav'), sections.map(section => makeButton(
        section.querySelector('h2').textContent, () => showSection(section.id))));
}

function remember(key, value) {
    try {
        localStorage.setItem(`leaktide.${key}`, value);
    } catch {
        // A page from a file may have no storage: then it is chosen again next time.
    }
}

function remembered(key) {
    try {
        return localStorage.getItem(`leaktide.${key}`);
    } catch {
        return null;
    }
}

function setTheme(theme) {
    const wanted = themes.includes(theme) ? theme : 'auto';
    document.documentElement.dataset.theme = wanted;
    return wanted;
}

// A view that cannot be drawn says so, and leaves the others alone. May return null.
function makeView(name, makeIt) {
    try {
        return makeIt();
    } catch (error) {
        console.error(error);
        return make('section', null, make('h2', null, name),
            make('p', {class: 'error'}, say('This view cannot be drawn: {0}', error.message)));
    }
}

class Page {
    constructor(recording) {
        this.recording = recording;
        if (recording.report.facts.times_are_events)
            countTimesInEvents();
        this.theme = setTheme(remembered('theme'));
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
            () => this.timeline?.onTheme());
        matchMedia('print').addEventListener('change', () => this.timeline?.onTheme());
    }

    drawSettings() {
        const themeNames = {auto: say('theme: as the system'), light: say('theme: light'),
            dark: say('theme: dark')};
        const theme = makeButton(themeNames[this.theme], () => {
            this.theme = setTheme(themes[(themes.indexOf(this.theme) + 1) % themes.length]);
            remember('theme', this.theme);
            theme.textContent = themeNames[this.theme];
            this.timeline?.onTheme();
        }, {id: 'theme'});
        const others = Object.entries(languages).filter(([code]) => code !== language());
        replaceContent(byId('settings'), others.map(([code, name]) => makeButton(name, () => {
            setLanguage(code);
            remember('language', code);
            this.drawAll();
        }, {lang: code, id: 'language'})), theme, makeButton(say('Print'), () => window.print()),
        makeDownload('json', say('Verdict, findings and tables'), () =>
            download('report.json', JSON.stringify(this.recording.report, null, 1), 'application/json')));
    }

    drawFirst() {
        const {recording} = this;
        document.documentElement.lang = language();
        drawVerdict(recording.report);
        this.drawSettings();
        replaceContent(byId('views'));
        forgetListeners();
        if (recording.report.command === 'diff')
            byId('views').append(makeDifferenceView(recording));
        if (!recording.hasPictures)
            return;
        this.timeline = makeTimeline(recording);
        byId('views').append(this.timeline.makeView());
        this.timeline.draw();
    }

    drawSecond() {
        const {recording} = this;
        const views = byId('views');
        if (recording.hasPictures) {
            setPlaces(recording);
            drawVerdict(recording.report);
            this.timeline.drawControls();
            if (state.stackBy !== 'none')
                this.timeline.draw();
            views.append(...[
                makeSiteView(recording),
                makeView(say('Flame graph'), () => makeFlameView(recording)),
                makeView(say('In the selection'), () => makeSelectionView(recording)),
                makeView(say('At the peak'), () => makePeakView(recording)),
                makeView(say('Steps'), () => makeStepsView(recording)),
                makeView(say('Modules and ledger'), () => makeCountersView(recording)),
                makeView(say('Fragmentation'), () => makeFragmentationView(recording)),
                makeView(say('Address map'), () => makeAddressMap(recording)),
                makeView(titleOfRanks(recording), () => makeRanksView(recording)),
            ].filter(Boolean));
        }
        const heat = makeView(say('Ranks beside their peers'), () => makeRankHeat(recording));
        if (heat)
            views.append(heat);
        views.append(makeOtherTables(recording.report));
        drawNavigation([...document.querySelectorAll('main section:not([hidden])')]);
        document.documentElement.dataset.ready = 'whole';
    }

    drawAll() {
        this.drawFirst();
        this.drawSecond();
    }
}

const longStretch = 0.5, smallLeak = 0.05;

// A loop behind a long start is looked at alone.
function showLeak(recording, leak, ledger) {
    const stretch = stretchOfLeak(recording, leak, ledger);
    const stays = leak.overdue_bytes ?? 0;
    Object.assign(state, {stackBy: 'site', site: leak.site, m: 'leaked',
        only: stays < ledger.peakBytes * smallLeak ? '1' : ''});
    if (!stretch || stretch.toNs - stretch.fromNs > recording.shownEndNs * longStretch)
        return;
    const margin = Math.max((stretch.toNs - stretch.fromNs) * 0.15, recording.shownEndNs / 10000);
    state.viewFromNs = Math.max(0, stretch.fromNs - margin);
    state.viewToNs = Math.min(recording.shownEndNs, stretch.toNs + margin);
}

// Without an address, what the verdict says: the leak on top of its ledger, or the ledger of the peak. Of a comparison the
// ledger whose leaks changed, or what changed most.
function lookAtVerdict(recording) {
    const {report} = recording;
    const leak = leaksOf(report)[0];
    const rows = report.command === 'diff' ? [...report.findings, ...rowsNamed(report, 'ledger_changes')] :
        rowsNamed(report, 'peaks');
    const name = (leak ?? rows[0])?.ledger;
    const ledger = recording.ledgers.find(each => each.name === name);
    if (ledger)
        state.ledger = ledger.index;
    if (leak && ledger)
        showLeak(recording, leak, ledger);
}

function openAddress(recording) {
    const {isEmpty, hasSelection} = readAddress(recording);
    if (isEmpty)
        lookAtVerdict(recording);
    if (!hasSelection)
        state.selection = nearPeak(recording);
}

/* Sentences and titles are in the language that the command spoke; the page's own words go with them. */
function writtenLanguage() {
    return byId('verdict-sentences').querySelector('[lang]')?.lang;
}

async function start() {
    setLanguage(remembered('language') || writtenLanguage() || (navigator.language || 'en').split('-')[0]);
    if (typeof DecompressionStream === 'undefined') {
        byId('numbers').textContent = say('This browser is too old for the pictures and tables: Firefox 113, Chromium 80 or Safari 16.4 can show them.');
        return;
    }
    const recording = await readFirstPart();
    setTitles(recording.report, recording.titles, recording.columnTitles);
    if (recording.hasPictures)
        openAddress(recording);
    const page = new Page(recording);
    page.drawFirst();
    await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    performance.mark('first picture');
    if (recording.hasPictures)
        await readSecondPart(recording);
    page.drawSecond();
    performance.mark('whole page');
    window.addEventListener('popstate', () => {
        openAddress(recording);
        tellAll();
    });
}

start().catch(error => {
    byId('numbers').append(make('p', {class: 'error'},
        say('The data of this page cannot be read: {0}', error.message)));
    console.error(error);
});
