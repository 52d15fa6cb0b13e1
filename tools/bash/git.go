package bash

// gitGuard protects the repository of the workspace.
type gitGuard struct{}

func (g *gitGuard) mounts() []Mount   { return nil }
func (g *gitGuard) restore() []string { return nil }

// WithGitProtection keeps commands from planting programs that git would run.
func WithGitProtection() BubblewrapOption {
	return func(r *BubblewrapRunner) { r.git = &gitGuard{} }
}
