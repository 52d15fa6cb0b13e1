package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/phero-agent/agent/tools/file"
)

// signInError says that a server wants to know who the person is.
type signInError struct{ name string }

func (e *signInError) Error() string {
	return fmt.Sprintf("it wants you to sign in: agent mcp login %s", e.name)
}

// tokenFile is the file with what a server at an address gave the person at signing
// in. It is found by the address, so that no other server gets it.
type tokenFile struct{ path, url string }

// signed is the content of the file.
type signed struct {
	URL    string        `json:"url"`
	Config oauth2.Config `json:"config"`
	Token  *oauth2.Token `json:"token"`
}

func (v *server) tokenFile() tokenFile {
	sum := sha256.Sum256([]byte(v.def.URL))
	return tokenFile{path: filepath.Join(v.all.opts.StateDir, "mcp", hex.EncodeToString(sum[:8])+".json"), url: v.def.URL}
}

// read is what the file holds for the address; without a Token: nothing.
func (f tokenFile) read() (s signed, err error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return signed{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil || s.URL != f.url {
		return signed{}, err
	}
	return s, nil
}

// write writes the file in one piece, readable for its owner alone.
func (f tokenFile) write(s signed) error {
	s.URL = f.url
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return file.WriteFileAtomic(f.path, append(data, '\n'), 0o600)
}

// keptToken authorizes the requests of a connection that asks nobody.
type keptToken struct {
	name   string
	source *keeping // nil: the person never signed in
}

// keptToken is the handler of a connection with the token of the file.
func (v *server) keptToken() (*keptToken, error) {
	h := &keptToken{name: v.def.Name}
	f := v.tokenFile()
	s, err := f.read()
	if err != nil {
		return nil, fmt.Errorf("the token cannot be read: %w; agent mcp login %s makes a new one", err, v.def.Name)
	}
	if s.Token != nil {
		h.source = f.source(v.def.Name, s)
	}
	return h, nil
}

// TokenSource implements auth.OAuthHandler.
func (k *keptToken) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if k.source == nil {
		return nil, nil
	}
	return k.source, nil
}

// Authorize implements auth.OAuthHandler: what a server refuses is renewed. Signing
// in is the person's own act.
func (k *keptToken) Authorize(_ context.Context, req *http.Request, resp *http.Response) error {
	resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden && !slices.ContainsFunc(resp.Header.Values("WWW-Authenticate"), func(s string) bool { return strings.Contains(s, "insufficient_scope") }) {
		return nil // it is sent again, and the server says what it does not like
	}
	if refused, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok && k.source != nil && resp.StatusCode == http.StatusUnauthorized {
		return k.source.renew(refused)
	}
	return &signInError{k.name}
}

// keeping gives the token, renewed when it is old, and keeps what was renewed in
// the file, also for other sessions of this program.
type keeping struct {
	file tokenFile
	name string // of the server

	mu  sync.Mutex
	now signed
}

func (f tokenFile) source(name string, s signed) *keeping {
	return &keeping{file: f, name: name, now: s}
}

// Token implements oauth2.TokenSource.
func (k *keeping) Token() (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.now.Token.Valid() {
		if err := k.another(); err != nil {
			return nil, err
		}
	}
	return k.now.Token, nil
}

// renew takes another token in the place of one that was refused.
func (k *keeping) renew(refused string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.Token.AccessToken != refused {
		return nil
	}
	return k.another()
}

// another takes the token that another session got meanwhile, or renews ours.
func (k *keeping) another() error {
	if s, err := k.file.read(); err == nil && s.Token != nil && s.Token.AccessToken != k.now.Token.AccessToken {
		if k.now = s; s.Token.Valid() {
			return nil
		}
	}
	if k.now.Token.RefreshToken == "" {
		return &signInError{k.name}
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, oauthClient())
	token, err := k.now.Config.TokenSource(ctx, &oauth2.Token{RefreshToken: k.now.Token.RefreshToken}).Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && (refused.Response == nil || refused.Response.StatusCode < http.StatusInternalServerError) {
		return &signInError{k.name}
	}
	if err != nil {
		return fmt.Errorf("the token cannot be renewed: %w", err)
	}
	k.now.Token = token
	if err := k.file.write(k.now); err != nil {
		slog.Error("a token is not kept", "server", k.name, "error", err)
	}
	return nil
}

// oauthClient bounds the requests to who gives the tokens.
func oauthClient() *http.Client {
	return &http.Client{Transport: &headed{next: plainTransport(), to: &url.URL{}, pace: newPace()}, Timeout: 30 * time.Second}
}

// Logout forgets the token of a server; false where there was none.
func (s *Servers) Logout(name string) (bool, error) {
	v, err := s.find(name)
	if err != nil {
		return false, err
	}
	err = os.Remove(v.tokenFile().path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
