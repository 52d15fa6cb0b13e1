package syntax

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/phero-agent/agent/ui/text"
)

// Everybody can read the colours: 4.5 to 1 on the backgrounds they are for.
func TestContrast(t *testing.T) {
	for name, c := range map[string]struct {
		theme Theme
		backs [][3]float64
	}{
		"dark":  {Dark(), [][3]float64{{0, 0, 0}, {40, 44, 52}, {20, 52, 34}, {67, 26, 30}}},
		"light": {Light(), [][3]float64{{255, 255, 255}, {218, 251, 225}, {255, 235, 233}}},
	} {
		v := reflect.ValueOf(c.theme)
		for i := range v.NumField() {
			style := v.Field(i).Interface().(text.Style)
			_, rgb, ok := strings.Cut(string(style), "38;2;")
			if !ok {
				t.Fatalf("%s %s has no colour: %q", name, v.Type().Field(i).Name, style)
			}
			var fg [3]float64
			for k, s := range strings.Split(rgb, ";") {
				n, err := strconv.Atoi(s)
				if err != nil {
					t.Fatal(err)
				}
				fg[k] = float64(n)
			}
			for _, back := range c.backs {
				if got := contrast(fg, back); got < 4.5 {
					t.Errorf("%s %s on %v: contrast %.2f", name, v.Type().Field(i).Name, back, got)
				}
			}
		}
	}
}

// contrast is the ratio of WCAG 2.
func contrast(a, b [3]float64) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(c [3]float64) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := c[i] / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
