#!/usr/bin/env bash
# What a browser makes of a page is the same.   browser.sh chromium|firefox
set -u
cat >"$WORK/page.html" <<'END'
<!DOCTYPE html><html><head><title>page</title>
<style>body { font: 20px sans-serif; background: linear-gradient(red, blue); }</style></head>
<body><canvas id="canvas" width="300" height="200"></canvas><p id="answer">none</p><script>
const blocks = [];
for (let i = 0; i < 20000; i++) blocks.push({ index: i, text: "block " + i });
const sum = blocks.filter(b => b.index % 3).map(b => b.text.length).reduce((a, b) => a + b, 0);
document.getElementById("answer").textContent = "sum " + sum;
const pen = document.getElementById("canvas").getContext("2d");
for (let i = 0; i < 50; i++) { pen.fillStyle = `rgb(${i * 5},100,200)`; pen.fillRect(i * 6, 0, 6, 200); }
</script></body></html>
END

verdict() { # NUMBER NAME STATUS FILE
    local word="not ok"
    [ "$3" -eq 0 ] && [ -s "$4" ] && word=ok
    echo "$word $1 - $2 # $(sha256sum <"$4" | cut -c 1-16), status $3"
}

cd "$WORK" || exit 1
touch dom shot.png
case "$1" in
chromium)
    options=(--headless --disable-gpu --disable-dev-shm-usage --no-first-run --disable-crash-reporter
        --user-data-dir="$WORK/profile" '--window-size=800,600' --hide-scrollbars)
    # Its own sandbox, where this system lets it have one.
    if [ "$(id -u)" -eq 0 ] || ! unshare --user true 2>/dev/null; then
        options+=(--no-sandbox)
    fi
    chromium "${options[@]}" --dump-dom "file://$WORK/page.html" >dom 2>dom.log
    verdict 1 "the page as text" $? dom
    chromium "${options[@]}" --screenshot="$WORK/shot.png" "file://$WORK/page.html" >shot.log 2>&1
    verdict 2 "the page as a picture" $? shot.png
    ;;
firefox)
    mkdir "$WORK/profile"
    MOZ_HEADLESS=1 firefox --no-remote --profile "$WORK/profile" --window-size 800,600 \
        --screenshot "$WORK/shot.png" "file://$WORK/page.html" >shot.log 2>&1
    verdict 1 "the page as a picture" $? shot.png
    ;;
esac
