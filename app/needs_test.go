package app_test

import (
	"os"
	"os/exec"
	"testing"
)

// needs skips a test on a machine without a program; in CI that is a failure.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("CI has no %s", program)
	}
	t.Skipf("this machine has no %s", program)
}
