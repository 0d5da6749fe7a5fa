# cmake -DCATALOGUE=FILE.po -DOUTPUT=FILE.inc -P table.cmake
#
# Rows {"English", "other"} of a C table, from a catalogue in which each text stands in one line. The
# message without English is the catalogue's own head. %<PRIu64> is the macro of inttypes.h.
file(READ ${CATALOGUE} text)
string(REGEX REPLACE "msgid \"\"\nmsgstr \"[^\n]*\n" "" text "${text}")
string(REGEX REPLACE "\n#[^\n]*" "" text "\n${text}")
string(REGEX REPLACE "%([-+0-9$.*]*)<(PRI[a-zA-Z0-9]+)>" "%\\1\" \\2 \"" text "${text}")
string(REGEX REPLACE "msgid (\"[^\n]*)\nmsgstr (\"[^\n]*)" "    {\\1, \\2}," text "${text}")
file(WRITE ${OUTPUT} "${text}\n")
