#!/usr/bin/env bash
# Going round analyzer/base/outlet.h does not compile.
#
# usage: outlets.sh COMPILER BASE_FOLDER
set -u
compiler="$1"
base="$2"
failed=0

# compiles CODE: as the body of a function of a source that writes for others
compiles() {
    printf 'void put(struct outlet *out, const char *name, FILE *file);\n%s{%s}\n' \
        'void put(struct outlet *out, const char *name, FILE *file)' \
        "(void)out, (void)name, (void)file; $1" |
        "$compiler" -std=gnu11 -Wall -Werror -fsyntax-only -I"$base" \
            -include "$base/outlets_only.h" -x c - >/dev/null 2>&1
}

right=(
    'outlet_add(out, "words");'
    'outlet_add_either(out, name, "a", "b");'
    'outlet_format(out, "%s", name);'
    'outlet_words(out, name);'
    'outlet_print(file, "%s", name);'
)
wrong=(
    'outlet_add(out, name);'
    'outlet_add_either(out, name, name, "b");'
    'outlet_format(out, name);'
    'outlet_format(out, "%d", name);'
    'outlet_print(file, name);'
    'fprintf(file, "%s", name);'
    'fputs(name, file);'
    'fputc(*name, file);'
    'fwrite(name, 1, 1, file);'
    'printf("%s", name);'
    'puts(name);'
    'out->text = 0;'
)
for code in "${right[@]}"; do
    compiles "$code" || { echo "does not compile: $code" && failed=1; }
done
for code in "${wrong[@]}"; do
    compiles "$code" && echo "compiles: $code" && failed=1
done
exit "$failed"
