# Leaves HEAD, branches, refs and depth as actions/checkout does.
set -euo pipefail

folder=$GITHUB_WORKSPACE/$FOLDER
mkdir -p "$folder"
cd "$folder"
find . -mindepth 1 -delete
git init --quiet --initial-branch=main .
git remote add origin "$GITHUB_SERVER_URL/$REPOSITORY"
login=$(printf 'x-access-token:%s' "$TOKEN" | base64 --wrap=0)
header=http.$GITHUB_SERVER_URL/.extraheader
git config "$header" "AUTHORIZATION: basic $login"

ref=$REF
commit=
if [ -z "$REF" ] && [ "$REPOSITORY" = "$GITHUB_REPOSITORY" ]; then
    ref=$EVENT_REF
    commit=$EVENT_SHA
elif [[ $REF =~ ^[0-9a-f]{40}$ ]]; then
    ref=
    commit=$REF
elif [ -z "$REF" ]; then
    ref=$(git ls-remote --symref origin HEAD | sed -n 's/^ref: \(.*\)\tHEAD$/\1/p')
elif [[ $REF != refs/* ]]; then
    ref=refs/heads/$REF
    git ls-remote --quiet --exit-code origin "$ref" >/dev/null || ref=refs/tags/$REF
fi

# Where the fetched commit is kept, and how HEAD comes to it.
case $ref in
refs/heads/*)
    kept=refs/remotes/origin/${ref#refs/heads/}
    how=(-B "${ref#refs/heads/}" "$kept")
    ;;
refs/pull/*)
    kept=refs/remotes/pull/${ref#refs/pull/}
    how=(--detach "$kept")
    ;;
refs/*)
    kept=$ref
    how=(--detach "$kept")
    ;;
*)
    kept=
    how=(--detach "$commit")
    ;;
esac

if [ "$DEPTH" = 0 ]; then
    git fetch --quiet --prune origin '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*'
    depth=()
else
    depth=(--depth "$DEPTH")
fi
tags=--no-tags
[ "$TAGS" != true ] || tags=--tags
if [ "$DEPTH" != 0 ] || [[ $ref == refs/pull/* ]]; then
    git fetch --quiet "$tags" "${depth[@]}" origin "${kept:++}${commit:-$ref}${kept:+:$kept}"
fi
git checkout --quiet --force "${how[@]}"
[ "$PERSIST" = true ] || git config --unset-all "$header"
{
    echo "ref=$REF"
    echo "commit=$(git rev-parse HEAD)"
} >>"$GITHUB_OUTPUT"
