#!/bin/bash
# The usual weekly archive, as it goes from one repository to the next. It is here to show what
# goes wrong with it (tests/git/archive/test_naive_faults.py); nothing else may ever run it.
#
# naive-archive.sh WORKTREE RELEASES [--git-dates] [--push]
cd "$1" || exit 1
releases=$2
if [[ $* == *--git-dates* ]]; then
  find history -name '*.json' | while read -r file; do
    touch -d "@$(git log -1 --format=%ct -- "$file")" "$file"
  done
fi
archive=$(mktemp -d)/history-$(date -u +%Y-%m-%d).tar.gz
find history -name '*.json' -mtime +90 | xargs tar -czf "$archive"
find history -name '*.json' -mtime +90 -delete
if [[ $* == *--push* ]]; then
  git add -A
  git commit -q -m "archive old history"
  git push -q || git push -q -f
fi
cp "$archive" "$releases/"
