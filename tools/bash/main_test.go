package bash

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeHelper()
	os.Exit(m.Run())
}
