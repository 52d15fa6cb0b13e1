package bash

// NewWorkspaceRunner makes the sandbox that the application uses for a
// workspace: a [BubblewrapRunner] with [WithGitProtection] and [WithToolchains],
// and then opts.
func NewWorkspaceRunner(workspace string, opts ...BubblewrapOption) (*BubblewrapRunner, error) {
	return NewBubblewrapRunner(workspace, append([]BubblewrapOption{WithGitProtection(), WithToolchains()}, opts...)...)
}
