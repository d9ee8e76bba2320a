"""What `benchmarks/reconciliation.py` is made of: sets, rules beside ours, figures."""
