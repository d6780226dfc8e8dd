"""What goes to other people: `make dist` builds it, `docs/distribution.md` says where each file goes."""
