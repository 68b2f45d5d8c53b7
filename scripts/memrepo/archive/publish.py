"""One release: a draft, its files, proof that they arrived, and only then made public.

A draft is found again by the key in its text, so that a run that was killed goes on where it
was. What is public is never touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from memrepo.archive.adopt import is_tag_of, key_of
from memrepo.archive.proof import Proven, Sent, check_sent, on_disk, prove, read_manifest
from memrepo.archive.stage import Staged, write_manifest
from memrepo.archive.summary import release_body
from memrepo.archive.values import Tell
from memrepo.errors import BadInput, RemoteFailed, UsageError
from memrepo.forge.releases import Release, Releases
from memrepo.shards.manifest import MANIFEST, SUMS, Manifest, manifest_of
from memrepo.shards.plan import release_tag
from memrepo.shards.values import Plan

_MOST_TAGS = 20


class Names(msgspec.Struct, frozen=True):
    """How a release is called: what its tag begins with, when it is made, and its tag.

    ``tag`` "" is the first free one of the week; where it is given no other is taken, and
    only drafts of that tag are this run's to clear away. ``known`` are the tags that the index
    names, each with the SHA-256 of its shards: none of them is given a second time, not even
    where its release was lost.
    """

    prefix: str
    when: datetime
    tag: str = ""
    known: Mapping[str, Collection[str]] = {}


def publish(
    releases: Releases,
    listed: Iterable[Release],
    plan: Plan,
    staged: Iterator[Staged],
    names: Names,
    folder: Path,
    tell: Tell,
    *,
    manifest: Manifest | None = None,
) -> Proven:
    """Publish the shards of ``plan`` as one release, or take an equal one as done.

    ``listed`` are the forge's releases; ``staged`` is only drawn from when there is something
    to send; ``manifest`` is the one to publish where it was written before. Raises
    RemoteFailed when the forge does not have what was sent; nothing is public then.
    """
    listed = list(listed)
    done = _published(releases, listed, plan.key, names, folder, tell)
    if done is not None:
        return done
    draft = _draft(releases, listed, plan, names)
    try:
        return _filled(releases, draft, plan, staged, folder, tell, manifest)
    except UsageError as error:
        # Another run works on the same draft: it made it public, or cleared it away.
        now = releases.list_releases()
        if any(one.id == draft.id and one.draft for one in now):
            raise
        done = _published(releases, now, plan.key, names, folder, tell)
        if done is not None:
            return done
        raise RemoteFailed(
            f"another run changed the release {draft.tag} meanwhile: {error.message}",
            "nothing was removed from the repository; run it again",
        ) from None


def _filled(
    releases: Releases,
    draft: Release,
    plan: Plan,
    staged: Iterator[Staged],
    folder: Path,
    tell: Tell,
    manifest: Manifest | None,
) -> Proven:
    """The draft with all its files, made public."""
    sent: dict[str, Sent] = {}
    packed = []
    for one in staged:
        packed.append(one.packed)
        _send(releases, draft, one.path, one.packed.sha256, sent)
        tell("uploaded", len(packed), len(plan.shards))
    made = manifest or manifest_of(plan, packed)
    sha256, sums = write_manifest(made, folder)
    _send(releases, draft, folder / MANIFEST, sha256, sent)
    _send(releases, draft, folder / SUMS, hashlib.sha256(sums).hexdigest(), sent)
    draft = _without_strangers(releases, draft, sent)
    check_sent(releases, draft, sent, folder)
    public = releases.get_release(_made_public(releases, draft).id)
    _check_public(public, sent)
    return Proven(public, made, sums)


def _published(
    releases: Releases, listed: list[Release], key: str, names: Names, folder: Path, tell: Tell
) -> Proven | None:
    """The public release of these very snapshots, where there is one already."""
    for release in listed:
        if release.draft or not is_tag_of(names.prefix, release.tag):
            continue
        if key_of(release) == key or release.tag == names.tag:
            try:
                manifest, sums = read_manifest(releases, release, folder)
                if manifest.key == key and not _stands_for_another(names, release, manifest):
                    return prove(releases, release, manifest, sums, folder, tell)
            except BadInput:
                pass  # damaged: it stands for nothing, and these go into another release
        if release.tag == names.tag:
            raise UsageError(
                f"the release {names.tag} exists and holds something else",
                "make a new plan: it takes a tag that is free",
            )
    return None


def _stands_for_another(names: Names, release: Release, manifest: Manifest) -> bool:
    """Whether the index knows this tag for other shards, of a release that was lost."""
    known = names.known.get(release.tag)
    return known is not None and not {one.sha256 for one in manifest.shards} <= set(known)


def _draft(releases: Releases, listed: list[Release], plan: Plan, names: Names) -> Release:
    """The draft of this plan: the one a killed run left, or a new one.

    Drafts of other plans were left by runs that never came to an end; they go.
    """
    public = {release.tag for release in listed if not release.draft}
    found = None
    for release in listed:
        mine = is_tag_of(names.prefix, release.tag) and names.tag in ("", release.tag)
        if not release.draft or not mine or not key_of(release):
            continue
        free = release.tag not in public and release.tag not in names.known
        if found is None and key_of(release) == plan.key and free:
            found = release
        else:
            releases.delete_release(release)
    if found is not None:
        return releases.get_release(found.id)
    taken = public | {release.tag for release in listed if not key_of(release)} | names.known.keys()
    for _ in range(_MOST_TAGS):
        tag = names.tag or release_tag(names.prefix, names.when, taken)
        try:
            return releases.create_release(
                tag=tag, commit=plan.commit, name=_title(plan, tag), body=release_body(plan, tag)
            )
        except UsageError:
            # The tag is there without a release: one that was deleted, or a plain Git tag.
            if names.tag:
                raise
            taken.add(tag)
    raise RemoteFailed(
        f"no free tag was found in {_MOST_TAGS} tries, the last was {tag}",
        "remove tags that no release uses, or set another archive.tag_prefix in the policy",
    )


def _title(plan: Plan, tag: str) -> str:
    first, last = plan.shards[0].name, plan.shards[-1].name
    return f"{tag}: {first if first == last else f'{first} to {last}'}"


def _send(
    releases: Releases, draft: Release, path: Path, sha256: str, sent: dict[str, Sent]
) -> None:
    with on_disk(path.parent):
        size = path.stat().st_size
    releases.upload_asset(draft, path, path.name, sha256)
    sent[path.name] = Sent(size, sha256)


def _without_strangers(releases: Releases, draft: Release, sent: dict[str, Sent]) -> Release:
    """The draft as it is now, without files that are not of this plan."""
    draft = releases.get_release(draft.id)
    strangers = [asset for asset in draft.assets if asset.name not in sent]
    for asset in strangers:
        releases.delete_asset(draft, asset)
    return releases.get_release(draft.id) if strangers else draft


def _made_public(releases: Releases, draft: Release) -> Release:
    try:
        return releases.publish_release(draft)
    except UsageError as error:
        # The tag came to be meanwhile; the next run takes another for the same snapshots.
        releases.delete_release(draft)
        raise RemoteFailed(
            f"{draft.tag} could not be made public: {error.message}",
            "nothing was removed from the repository; run it again, it takes another tag",
        ) from None


def _check_public(public: Release, sent: dict[str, Sent]) -> None:
    """Whether what became public is still what was proven: nothing is deleted on a guess."""
    there = {asset.name: asset for asset in public.assets}
    same = there.keys() == sent.keys() and all(
        there[name].size == one.size and there[name].sha256 in ("", one.sha256)
        for name, one in sent.items()
    )
    if public.draft or not same:
        raise RemoteFailed(
            f"the release {public.tag} changed while it was made public",
            "nothing was removed from the repository; look at the release, then run it again",
        )
