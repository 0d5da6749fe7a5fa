/* What the programs of node share: the turns of the loop. */
exports.turns = function (count, turn) {
    for (let n = 0; n < count; n++)
        turn(n);
};
