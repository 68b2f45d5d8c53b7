"""Knowledge branches: what sources bring, merged into the main branch."""
