"""`make dist` builds the files of a release; `docs/distribution.md` explains each of them."""
