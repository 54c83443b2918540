"""Sessions of other programs, read where those keep them: never written, forked into ours."""
