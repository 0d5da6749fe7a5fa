/* Hashes of buffers. */
const { xxh64 } = require("@node-rs/xxhash");
const { turns } = require("./loop");

const bytes = Buffer.alloc(1000, 7);

turns(60, function () {
    for (let n = 0; n < 500; n++)
        xxh64(bytes);
});
