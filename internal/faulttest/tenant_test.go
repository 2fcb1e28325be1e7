package faulttest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// hostileIDs are session ids that somebody may hope to be read as another's.
var hostileIDs = []string{
	"same", "*", "../same", "..%2fsame", "same\u00a0", "same\x00", "same%00x", `same"`, "same'--", "sk-test-0", "s\u0430me", // the a is Cyrillic
	"SAME", "%", "{}", "$(id)", "\u202esame", "sa\u00adme", strings.Repeat("i", 200), strings.Repeat("same/", 2048),
}

// TestI6_HostileSessionIDs: two tenants use the same ids, whatever these are.
// Nothing of one tenant's reaches the other, no two ids are one session, and an
// id that cannot be taken is refused.
func TestI6_HostileSessionIDs(t *testing.T) {
	st := newStage(t)
	p := st.start()
	owner := map[string]string{} // of each opener: tenant, way and id
	for way, place := range map[string]func(s *session, id string){
		"header": func(s *session, id string) { s.id = id },
		"path":   func(s *session, id string) { s.form = under("/s/"+url.PathEscape(id), s.form) },
	} {
		for _, id := range hostileIDs {
			for _, key := range []string{"sk-tenant-a", "sk-tenant-b"} {
				s := newSession(forms[0], "", false)
				s.key = key
				place(s, id)
				who := fmt.Sprintf("%s %s %q", key, way, id)
				for range 2 {
					st.mine(p, s, who, owner)
				}
			}
		}
	}
	if len(owner) < 4*len(hostileIDs)/2 {
		t.Errorf("only %d of %d sessions were served", len(owner), 4*len(hostileIDs))
	}
	p.stop()
	st.verify(false)
	st.noCrossing()
}

// under is a form whose path is below another.
func under(path string, f *form) *form {
	c := *f
	c.path, c.idHeader = path+f.path, "x-nothing"
	return &c
}

// mine sends a turn and checks that its opener is nobody else's.
func (st *stage) mine(p *child, s *session, who string, owner map[string]string) {
	st.t.Helper()
	try := s.newTry(1)
	c := talk(st.t, p.agents, try.text("connection", "close"))
	answer := readAll(c)
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		if !strings.HasPrefix(answer, "HTTP/1.1 4") {
			st.t.Errorf("%.80s was answered %.200q", who, answer)
		}
		return
	}
	all := st.up.Received()
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		st.t.Fatal(err)
	}
	opener := string(body.Messages[0])
	if !strings.Contains(opener, "Opener ") {
		st.t.Errorf("%.80s begins with %q", who, opener)
	}
	// A path and a header that name the same session are one by design.
	same := strings.Replace(who, " path ", " header ", 1)
	if had, ok := owner[opener]; ok && had != same {
		st.t.Errorf("I6: %.80s got the opener of %.80s", who, had)
	}
	owner[opener] = same
}

// noCrossing checks that the log's sessions of two tenants share nothing.
func (st *stage) noCrossing() {
	st.t.Helper()
	prefixes := map[string]string{}
	for _, r := range st.records() {
		if q := r.Request; q != nil {
			a, err := st.anchorOf(q.Key)
			if err != nil {
				st.t.Error(err)
				continue
			}
			if t, ok := prefixes[a.Prefix]; ok && t != q.Tenant {
				st.t.Errorf("I6: two tenants have the prefix %s", a.Prefix)
			}
			prefixes[a.Prefix] = q.Tenant
		}
	}
}

func (st *stage) anchorOf(k logsink.Key) (*logsink.Anchor, error) {
	r := st.openLog()
	defer r.Close()
	list, err := r.Anchors(st.t.Context(), k)
	if err != nil {
		return nil, err
	}
	return list[len(list)-1], nil
}
