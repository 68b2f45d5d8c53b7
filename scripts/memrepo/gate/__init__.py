"""The gate: every rule brought to bear on files, on a layout, and on a change."""
