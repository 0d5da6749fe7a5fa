/* Streams through a cipher and a hash. */
const crypto = require("crypto");
const { turns } = require("./loop");

const key = Buffer.alloc(32, 1), start = Buffer.alloc(16, 2);

turns(60, function (turn) {
    const cipher = crypto.createCipheriv("aes-256-cbc", key, start);
    const hash = crypto.createHash("sha256");

    for (let n = 0; n < 50; n++)
        hash.update(cipher.update(Buffer.alloc(2000, turn)));
    hash.update(cipher.final());
    hash.digest("hex");
});
