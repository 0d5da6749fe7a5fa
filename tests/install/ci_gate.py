#!/usr/bin/env python3
"""The samples' GitHub action and GitLab component: their shell lines, run step by step.

    ci_gate.py BUILD WORK

What a runner would do is done here: inputs and contexts are put in, GITHUB_ENV, GITHUB_PATH and GITHUB_OUTPUT are
obeyed, conditions are judged. The wheel is that of this build. The comment in the pull request goes to a script that
keeps its words. Exit status 77: no YAML reader, no virtual environments, or no wheel of this build here.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import wheel

try:
    import yaml
except ImportError:
    print("no module yaml here (package python3-yaml)")
    sys.exit(77)

SAMPLE = os.path.join(wheel.ROOT, "samples", "ci_gate")
LEAKY = "cc -g -O1 -DFORGET_METRICS=1 -o train train.c -ldl"
CLEAN = "cc -g -O1 -o train train.c -ldl"
KEEPER = """#!/bin/sh
printf '%s\\n' "$*" >"$KEPT"
for word; do file="$word"; done
cat "$file" >>"$KEPT"
"""


def expect(true, what):
    if not true:
        sys.exit("not so: " + what)


class Runner:
    """One job of GitHub's, in a folder of its own."""

    def __init__(self, folder, inputs):
        self.folder, self.outputs, self.status = folder, {}, 0
        shutil.copytree(SAMPLE, folder)
        temporary = os.path.join(folder, "temporary")
        bin_folder = os.path.join(temporary, "bin")
        os.makedirs(bin_folder)
        with open(os.path.join(bin_folder, "gh"), "w") as file:
            file.write(KEEPER)
        os.chmod(file.name, 0o755)
        self.files = {name: os.path.join(temporary, name) for name in
                      ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "KEPT")}
        for path in self.files.values():
            open(path, "w").close()
        self.environment = dict(os.environ, RUNNER_TEMP=temporary, GITHUB_ACTION_PATH=os.path.join(folder, "action"),
                                PATH=bin_folder + ":" + os.environ["PATH"], **self.files)
        self.environment.pop("LD_PRELOAD", None)
        self.contexts = {"github.token": "token", "github.event_name": "pull_request",
                         "github.event.pull_request.number": "12"}
        self.contexts.update({"inputs." + name: value for name, value in inputs.items()})

    def text(self, name):
        with open(self.files[name]) as file:
            return file.read()

    def put_in(self, text):
        return re.sub(r"\$\{\{ *([^ }]+) *\}\}", lambda found: self.contexts[found.group(1)], text)

    def is_wanted(self, condition):
        """`A == 'B' && C != ''`, which is all that the action uses."""
        for part in condition.split("&&"):
            name, sign, value = re.fullmatch(r"\s*(\S+) (==|!=) '([^']*)'\s*", part).groups()
            if (self.contexts[name] == value) != (sign == "=="):
                return False
        return True

    def step(self, step):
        expect(step["shell"] == "bash" and set(step) <= {"name", "id", "if", "env", "run", "shell"}, str(step))
        if "if" in step and not self.is_wanted(step["if"]):
            return
        environment = dict(self.environment)
        environment.update({name: self.put_in(value) for name, value in step.get("env", {}).items()})
        # As the runner calls bash.
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.put_in(step["run"])],
                              cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        print(done.stdout)
        self.status = done.returncode
        self.outputs[step["name"]] = done.stdout
        self.obey(step.get("id"))

    def obey(self, step_id):
        for line in self.text("GITHUB_ENV").splitlines():
            name, value = line.split("=", 1)
            self.environment[name] = value
        for line in self.text("GITHUB_PATH").splitlines():
            self.environment["PATH"] = line + ":" + self.environment["PATH"]
        for line in self.text("GITHUB_OUTPUT").splitlines():
            name, value = line.split("=", 1)
            self.contexts["steps.{}.outputs.{}".format(step_id, name)] = value
        for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT"):
            open(self.files[name], "w").close()

    def run(self, action):
        for step in action["runs"]["steps"]:
            self.step(step)
            if self.status:
                return


def matches(text, matchers):
    """(file, line) of what the problem matchers find."""
    found, lines = [], text.splitlines()
    for matcher in matchers:
        first, second = matcher["pattern"]
        for one, next_one in zip(lines, lines[1:]):
            place = re.search(second["regexp"], next_one)
            if re.search(first["regexp"], one) and place:
                found.append((place.group(second["file"]), int(place.group(second["line"]))))
    return sorted(found)


def github(work, package):
    with open(os.path.join(SAMPLE, "action", "action.yml")) as file:
        action = yaml.safe_load(file)
    with open(os.path.join(SAMPLE, "github-workflow.yml")) as file:
        used = yaml.safe_load(file)["jobs"]["gate"]["steps"][1]["with"]
    with open(os.path.join(SAMPLE, "action", "problem-matcher.json")) as file:
        matchers = json.load(file)["problemMatcher"]
    expect(set(used) <= set(action["inputs"]), "the workflow names inputs of the action")
    defaults = {name: one["default"] for name, one in action["inputs"].items() if "default" in one}
    for build, status, failed in ((used["build"], 0, 0), (LEAKY, 1, 3)):
        job = Runner(os.path.join(work, "github {}".format(status)), dict(defaults, **dict(used, package=package)))
        job.contexts["inputs.build"] = build
        job.run(action)
        judged = job.outputs["Judge"]
        expect(job.status == status, "exit status {} of the action".format(job.status))
        expect(len(re.findall("^FAILED", judged, re.M)) == failed, "{} failed checks".format(failed))
        expect(len(matches(judged, matchers)) == failed, "a place for each of them: {}".format(matches(judged, matchers)))
        expect(not failed or ("train.c", 62) in matches(judged, matchers), "the line of the leak")
        expect("Memory gate" in job.text("GITHUB_STEP_SUMMARY"), "the table on the job's page")
        expect(job.text("KEPT").startswith("pr comment 12 ") and "Memory gate" in job.text("KEPT"), "the comment")
        print("github, exit status {}: ok".format(status))


def gitlab(work, package):
    with open(os.path.join(SAMPLE, "gitlab-component.yml")) as file:
        spec, jobs = list(yaml.safe_load_all(file))
    for build, status in ((CLEAN, 0), (LEAKY, 1)):
        inputs = {name: (one or {}).get("default") for name, one in spec["spec"]["inputs"].items()}
        inputs.update(build=build, program="./train", package=package)
        folder = os.path.join(work, "gitlab {}".format(status))
        shutil.copytree(SAMPLE, folder)
        lines = [re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda found: inputs[found.group(1)], line)
                 for line in jobs["memory"]["script"]]
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(lines)], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        print(done.stdout)
        expect(done.returncode == status, "exit status {} of the component".format(done.returncode))
        for report in jobs["memory"]["artifacts"]["reports"].values():
            expect(os.path.getsize(os.path.join(folder, report)) > 0, report)
        print("gitlab, exit status {}: ok".format(status))


def main():
    wheels, work = wheel.wheels_of_arguments()
    package = next(path for path in wheels if os.path.basename(path).startswith("leaktide-"))
    github(work, package)
    gitlab(work, package)


main()
