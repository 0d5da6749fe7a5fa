"""Archives in memory, written and read."""
import io
import zipfile

from loop import turns

for turn in turns(60):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(10):
            archive.writestr("row%d.txt" % n, "turn %d, row %d\n" % (turn, n) * 100)
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            archive.read(name)
