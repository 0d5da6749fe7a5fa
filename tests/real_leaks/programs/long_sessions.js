/* sessions.js for so long that V8 collects its whole heap several times. */
process.env.REAL_LEAKS_TURNS = 1000;
require("./sessions");
