# A text file becomes a C string: cmake -DINPUT=file -DOUTPUT=file.c -DNAME=name -P EmbedText.cmake
file(READ "${INPUT}" text HEX)
string(REGEX REPLACE "(................................)" "\\1\n" text "${text}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " text "${text}")
file(WRITE "${OUTPUT}"
  "/* Made of ${INPUT}. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${text}0};\n")
