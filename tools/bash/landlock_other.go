//go:build !linux

package bash

func landlockVersion() int { return 0 }

// MaybeHelper does nothing here: there is no Landlock.
func MaybeHelper() {}
