"""The numbers behind a loss: how δ(ε) and ε(δ) are had from K, near-exactly and certified. Nothing of it is public."""
