package main

import (
	"flag"

	_ "github.com/phero-agent/agent/ui/uitest" // has the flag
)

// updating tells whether what tests compare with is written anew: the flag
// -update of package uitest is set.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }
