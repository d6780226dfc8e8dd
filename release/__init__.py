"""Release artifacts: `make dist` builds them, `docs/distribution.md` describes where they are published."""
