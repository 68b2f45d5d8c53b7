"""What memrepo's speed is measured against. One module a question; ``bench/run`` runs all."""
