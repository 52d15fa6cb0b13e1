package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/phero-agent/agent/app"
)

func TestRetries(t *testing.T) {
	srv := play(t, failure500(), failure500(), answer("Hello"))
	c, waits := newTestClient(t, Config{BaseURL: srv.URL})
	var seen deltas
	got, err := c.Stream(context.Background(), userSays("go"), seen.take(t))
	if err != nil || got.Message.Text != "Hello" || got.Message.Model != "m" {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(seen.retries) != 2 || seen.retries[0].Attempt != 2 || seen.retries[1].Attempt != 3 {
		t.Fatalf("retries %+v", seen.retries)
	}
	for i, r := range seen.retries {
		if !strings.Contains(r.Reason, "engine fell over") || !strings.Contains(r.Reason, "500") || r.Wait != (*waits)[i] {
			t.Errorf("retry %d: %+v, waited %v", i, r, (*waits)[i])
		}
	}
	if (*waits)[0] < firstWait/2 || (*waits)[0] > firstWait || (*waits)[1] < firstWait || (*waits)[1] > 2*firstWait {
		t.Errorf("waits %v", *waits)
	}
}

func TestRetriesEnd(t *testing.T) {
	for name, row := range map[string]struct {
		step step
		want int
	}{
		"server error":       {failure500(), 8},
		"bad call":           {step{Status: 500, Body: `{"error":"error parsing tool call: raw='{'"}`}, 3},
		"wish too long":      {step{Status: 429, Headers: map[string]string{"Retry-After": "3600"}, Body: `{}`}, 1},
		"quota":              {step{Status: 429, Body: `{"error":{"message":"x","code":"insufficient_quota"}}`}, 1},
		"payment":            {step{Status: 402, Body: `{"error":{"message":"Insufficient Balance"}}`}, 1},
		"server says no":     {step{Status: 500, Headers: map[string]string{"x-should-retry": "false"}, Body: `{}`}, 1},
		"empty body":         {step{Status: 200, Headers: map[string]string{"Content-Type": "text/event-stream"}}, 4},
		"more than a minute": {step{Status: 429, Body: `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000."}}`}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, row.step)
			c, _ := newTestClient(t, Config{BaseURL: srv.URL})
			_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
			if pe := providerError(t, err); pe.Next == "" || pe.Host != strings.TrimPrefix(srv.URL, "http://") {
				t.Errorf("%+v", pe)
			}
			if n := srv.requests(); n != row.want {
				t.Errorf("%d requests, want %d", n, row.want)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	date := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	for name, row := range map[string]struct {
		headers  map[string]string
		body     string
		min, max time.Duration
	}{
		"seconds":      {map[string]string{"Retry-After": "2"}, `{}`, 2 * time.Second, 2 * time.Second},
		"milliseconds": {map[string]string{"Retry-After": "2", "retry-after-ms": "150"}, `{}`, 150 * time.Millisecond, 150 * time.Millisecond},
		"reset":        {map[string]string{"X-RateLimit-Reset": fmt.Sprint(time.Now().Add(90 * time.Second).UnixMilli())}, `{}`, 80 * time.Second, 90 * time.Second},
		"date":         {map[string]string{"Retry-After": date}, `{}`, 80 * time.Second, 90 * time.Second},
		"gemini": {nil, `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
			"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, 34 * time.Second, 34 * time.Second},
		"words":            {nil, `{"error":{"message":"Rate limit reached. Please try again in 7.66s. Visit x"}}`, 7660 * time.Millisecond, 7660 * time.Millisecond},
		"seconds in words": {nil, `{"error":{"message":"Please retry after 20 seconds."}}`, 20 * time.Second, 20 * time.Second},
		"nothing":          {nil, `{}`, firstWait / 2, firstWait},
	} {
		t.Run(name, func(t *testing.T) {
			srv := play(t, step{Status: 429, Headers: row.headers, Body: row.body}, answer("x"))
			c, waits := newTestClient(t, Config{BaseURL: srv.URL})
			if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil {
				t.Fatal(err)
			}
			if w := (*waits)[0]; w < row.min || w > row.max {
				t.Errorf("waited %v, want %v to %v", w, row.min, row.max)
			}
		})
	}
}

func TestWaitCanBeCancelled(t *testing.T) {
	srv := play(t, step{Status: 429, Headers: map[string]string{"Retry-After": "240"}, Body: `{}`})
	c, err := New(Config{BaseURL: srv.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = c.Stream(ctx, userSays("go"), func(d app.Delta) {
		if d.Retry != nil && d.Retry.Wait == 240*time.Second {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || srv.requests() != 1 {
		t.Errorf("%v after %d requests", err, srv.requests())
	}
}

func TestBadKeyNamesTheVariable(t *testing.T) {
	srv := play(t, step{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-very-secret."}}`})
	for _, key := range []string{"sk-very-secret", ""} {
		c, _ := newTestClient(t, Config{BaseURL: srv.URL, APIKey: key, KeyName: "DEEPSEEK_API_KEY"})
		_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
		pe := providerError(t, err)
		if pe.Kind != app.ErrAuth || !strings.Contains(pe.Error(), "set ") || !strings.Contains(pe.Error(), "DEEPSEEK_API_KEY") ||
			!strings.Contains(pe.Error(), "401") || key != "" && strings.Contains(pe.Error(), key) {
			t.Errorf("%v", pe)
		}
	}
	if srv.requests() != 2 {
		t.Errorf("%d requests", srv.requests())
	}
}

func TestLearnsOnce(t *testing.T) {
	refusal := step{Status: 400, Body: `{"error":{"message":"Unknown parameter: 'stream_options'."}}`}
	without := answer("x")
	without.Request.JSON = []check{{Path: "stream_options", Absent: true}}
	srv := play(t, refusal, without, without)
	c, waits := newTestClient(t, Config{BaseURL: srv.URL})
	for range 2 {
		var seen deltas
		if _, err := c.Stream(context.Background(), userSays("go"), seen.take(t)); err != nil || len(seen.retries) != 0 {
			t.Fatalf("%v, %+v", err, seen.retries)
		}
	}
	if srv.requests() != 3 || len(*waits) != 0 || !c.Profile().NoStreamOptions {
		t.Errorf("%d requests, waits %v, %+v", srv.requests(), *waits, c.Profile())
	}
	// A new client that is given the profile knows it too.
	c, _ = newTestClient(t, Config{BaseURL: srv.URL, Profile: c.Profile()})
	if _, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {}); err != nil || srv.requests() != 4 {
		t.Errorf("%v, %d requests", err, srv.requests())
	}
}

func TestLearningEnds(t *testing.T) {
	srv := play(t, step{Status: 400, Body: `{"error":{"message":"Unsupported: max_tokens, max_completion_tokens, stream_options, reasoning_effort, image_url"}}`})
	c, _ := newTestClient(t, Config{BaseURL: srv.URL, MaxTokens: 5})
	_, err := c.Stream(context.Background(), userSays("go"), func(app.Delta) {})
	if pe := providerError(t, err); pe.Retryable || srv.requests() > 8 {
		t.Errorf("%v after %d requests", pe, srv.requests())
	}
}
