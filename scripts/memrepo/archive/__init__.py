"""The weekly archive: old snapshots into releases, and back."""
