/* Each request listens for a word that comes once for all. */
const { EventEmitter } = require("events");
const { turns } = require("./loop");

const leaky = process.env.REAL_LEAKS_VARIANT === "leaky";
const words = new EventEmitter();
words.setMaxListeners(0);

function handle(request) {
    const answer = { request, rows: new Array(200).fill(request) };
    const on_word = () => answer.rows.length;

    words.on("reload", on_word);
    if (!leaky)
        words.off("reload", on_word);
}

turns(60, function (turn) {
    for (let n = 0; n < 200; n++)
        handle(turn * 200 + n);
});
