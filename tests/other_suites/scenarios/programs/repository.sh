#!/usr/bin/env bash
# Commits, branches, a merge, a packed and checked repository.
set -eu
mkdir "$WORK/repository"
cd "$WORK/repository"
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git() { command git -c user.name=tester -c user.email=tester@example.org -c init.defaultBranch=main "$@"; }
git init -q .
for ((i = 0; i < 20; i++)); do
    seq "$i" 2000 >"file$((i % 5))"
    git add .
    git commit -q -m "commit $i"
done
git checkout -q -b side HEAD~3
echo side >other
git add other
git commit -q -m side
git merge -q -m merged main
git gc -q --aggressive
git fsck --full --strict 2>/dev/null
git log --format=%H
