package main

import (
	"errors"
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
	f.Var(optional[time.Duration]{to, parseDuration, "duration"}, name, use)
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("write it as 90s, 30m or 1h30m")
	}
	return d, nil
}

func parseInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, errors.New("it must be a whole number")
	}
	return n, nil
}

func intFlag(f *pflag.FlagSet, to **int, name, use string) {
	f.Var(optional[int]{to, parseInt, "int"}, name, use)
}

func boolFlag(f *pflag.FlagSet, to **bool, name, use string) {
	f.Var(optional[bool]{to, strconv.ParseBool, "bool"}, name, use)
	f.Lookup(name).NoOptDefVal = "true"
}
