package main

import (
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// optional is a flag that says nothing unless it is given.
type optional[T any] struct {
	to    **T
	parse func(string) (T, error)
	kind  string
}

func (o optional[T]) Type() string { return o.kind }

func (o optional[T]) String() string { return "" }

func (o optional[T]) Set(text string) error {
	v, err := o.parse(text)
	if err == nil {
		*o.to = &v
	}
	return err
}

func durationFlag(f *pflag.FlagSet, to **time.Duration, name, use string) {
	f.Var(optional[time.Duration]{to, time.ParseDuration, "duration"}, name, use)
}

func intFlag(f *pflag.FlagSet, to **int, name, use string) {
	f.Var(optional[int]{to, strconv.Atoi, "int"}, name, use)
}

func boolFlag(f *pflag.FlagSet, to **bool, name, use string) {
	f.Var(optional[bool]{to, strconv.ParseBool, "bool"}, name, use)
	f.Lookup(name).NoOptDefVal = "true"
}
