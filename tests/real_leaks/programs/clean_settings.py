"""Settings are read and written."""
import yaml

from loop import turns

for turn in turns(60):
    settings = yaml.safe_load("name: job %d\nsteps: [1, 2, 3]\nlimits: {memory: %d}\n" % (turn, turn * 1000))
    yaml.safe_dump(settings)
