/* Checksums of buffers. */
const { crc32 } = require("@node-rs/crc32");
const { turns } = require("./loop");

const bytes = Buffer.alloc(1000, 7);

turns(60, function () {
    for (let n = 0; n < 500; n++)
        crc32(bytes);
});
