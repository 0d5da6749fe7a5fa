/* What visitors brought, packed, by a number that is never forgotten. */
const zlib = require("zlib");
const { turns } = require("./loop");

const leaky = process.env.REAL_LEAKS_VARIANT === "leaky";
const sessions = new Map();

turns(+process.env.REAL_LEAKS_TURNS || 60, function (turn) {
    for (let n = 0; n < 20; n++) {
        sessions.set(turn * 20 + n, zlib.gzipSync(JSON.stringify({ turn, n, text: "leaktide ".repeat(400) })));
        if (!leaky)
            sessions.delete(turn * 20 + n);
    }
});
