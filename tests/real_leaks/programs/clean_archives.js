/* Texts are packed and unpacked, and told as JSON. */
const zlib = require("zlib");
const { turns } = require("./loop");

turns(60, function (turn) {
    for (let n = 0; n < 20; n++) {
        const packed = zlib.gzipSync(JSON.stringify({ turn, n, text: "leaktide ".repeat(200) }));
        JSON.parse(zlib.gunzipSync(packed).toString());
    }
});
